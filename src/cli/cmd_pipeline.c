/* meshplan pipeline: what each rank does when. The executor times the schedule; picture, list and figures come from its output.
 */
#include "config.h"

#include "cli.h"

#include "draw.h"
#include "i18n.h"
#include "num.h"
#include "report.h"
#include "request.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEFAULT_RANKS = 4,
	DEFAULT_MICROBATCHES = 8,
	DEFAULT_COLS = 80,
	STEPS_MAX_RANKS = 64,
	TIME_DECIMALS = 6,
	MARGIN_COLS = 11
};

/* Times as exact ticks: the given decimals times `scale`, a power of ten. */
struct times {
	int64_t forward, input, weight, backward, comm;
	int64_t scale;
};

/* What the executor says of one rank. */
struct rank_figures {
	int64_t busy, alive, peak;
};

struct figures {
	struct rank_figures *rank;
	struct schedule_result result;
};

/* Reads one non-negative decimal with at most six decimals into millionths; *text moves behind it. */
static bool read_time(const char **text, int64_t *millionths)
{
	const char *p = *text;
	int64_t value = 0;
	int decimals = -1, digits = 0;

	for (; (*p >= '0' && *p <= '9') || (*p == '.' && decimals < 0); p++) {
		if (*p == '.') {
			decimals = 0;
			continue;
		}
		if (++digits > 12 || decimals == TIME_DECIMALS)
			return false;
		decimals += decimals >= 0;
		value = value * 10 + (*p - '0');
	}
	if (digits == 0)
		return false;
	for (int i = decimals < 0 ? 0 : decimals; i < TIME_DECIMALS; i++)
		value *= 10;
	*text = p;
	*millionths = value;
	return true;
}

/* Reads up to `most` times, separated by commas. Returns how many, 0 when the text is none. */
static int read_times(const char *text, int64_t *values, int most)
{
	int n = 0;

	for (;;) {
		if (n == most || !read_time(&text, &values[n]))
			return 0;
		n++;
		if (*text == '\0')
			return n;
		if (*text != ',')
			return 0;
		text++;
	}
}

/* Divides everything by the largest power of ten that leaves whole ticks. */
static void shrink(struct times *t)
{
	while (t->scale > 1 && (t->forward % 10 | t->input % 10 | t->weight % 10 | t->backward % 10 | t->comm % 10) == 0) {
		t->forward /= 10;
		t->input /= 10;
		t->weight /= 10;
		t->backward /= 10;
		t->comm /= 10;
		t->scale /= 10;
	}
}

static enum err_code times_from_args(const struct args *a, struct times *t, struct err *e)
{
	const char *times = args_option(a, OPTION_TIMES), *comm = args_option(a, OPTION_COMM);
	int64_t v[3] = { 1000000, 1000000, 1000000 };
	int n = times != NULL ? read_times(times, v, 3) : 3;

	*t = (struct times){ .scale = 10000000 };
	if (n < 2)
		return err_set(e, ERR_USAGE, "times",
			_("\"%.60s\": wanted are F,B or F,I,W: non-negative decimals with at most 6 decimals, such as 1,2"),
			times);
	if (comm != NULL && read_times(comm, &t->comm, 1) != 1)
		return err_set(e, ERR_USAGE, "comm",
			_("\"%.60s\": wanted is a non-negative decimal with at most 6 decimals, such as 0.1"), comm);
	/* One digit more than was read: half of a B may need it. */
	t->comm *= 10;
	t->forward = v[0] * 10;
	t->input = n == 3 ? v[1] * 10 : v[1] * 5;
	t->weight = n == 3 ? v[2] * 10 : v[1] * 5;
	t->backward = t->input + t->weight;
	shrink(t);
	return ERR_OK;
}

static enum err_code count_option(
	const struct args *a, enum option_id id, int64_t least, int64_t most, int64_t *value, struct err *e)
{
	const char *text = args_option(a, id);
	enum err_code code;

	if (text == NULL)
		return ERR_OK;
	code = units_parse_count(text, option_table[id].key, 1000, value, e);
	if (code == ERR_OK && (*value < least || *value > most))
		code = err_set(
			e, ERR_RANGE, option_table[id].key, _("%.40s: legal here: %" PRId64 " .. %" PRId64), text, least, most);
	return code;
}

/* Without a SCENARIO: the layout knobs alone. */
static enum err_code pipeline_from_flags(struct cli *cli, struct pipeline *pl, struct err *e)
{
	static const char *const keys[] = { "schedule", "pp", "vpp", "group" };
	struct draft d;
	bool schedule = args_knob(&cli->args, "schedule") != NULL, interleaved;

	draft_init_blank(&d, cli->catalog);
	d.s.layout.pp = DEFAULT_RANKS;
	d.s.layout.schedule = SCHEDULE_1F1B;
	for (size_t i = 0; i < cli->args.n; i++) {
		const struct arg *x = &cli->args.arg[i];
		bool known = false;
		enum err_code code;

		if (x->knob == NULL)
			continue;
		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
			known = known || strcmp(keys[k], x->knob->key) == 0;
		if (!known)
			return err_set(e, ERR_USAGE, x->knob->key,
				_("needs a SCENARIO; without one, pipeline takes --schedule, --pp, --vpp and --group"));
		code = knob_parse(x->knob, cli->catalog, x->value, &d.s, e);
		if (code != ERR_OK)
			return code;
	}
	if (!schedule && d.s.layout.vpp > 1)
		d.s.layout.schedule = SCHEDULE_INTERLEAVED;
	interleaved = schedule_table[d.s.layout.schedule].needs_v;
	if (interleaved && args_knob(&cli->args, "vpp") == NULL)
		d.s.layout.vpp = 2;
	*pl = (struct pipeline){ .schedule = d.s.layout.schedule,
		.p = d.s.layout.pp,
		.m = DEFAULT_MICROBATCHES,
		.v = d.s.layout.vpp,
		.group = d.s.layout.group };
	return ERR_OK;
}

/* The interleaved group when none is given: p, else the smallest that the schedule takes. */
static void choose_group(struct pipeline *pl)
{
	struct pipeline trial = *pl;

	if (!schedule_table[pl->schedule].needs_v || pl->group > 0)
		return;
	for (trial.group = pl->p; trial.group <= pl->m; trial.group++) {
		if (pipeline_check(&trial, NULL) == ERR_OK) {
			pl->group = trial.group;
			return;
		}
	}
}

static enum err_code pipeline_from_args(struct cli *cli, struct pipeline *pl, struct err *e)
{
	bool scenario = cli->args.n_words > 0 || args_option(&cli->args, OPTION_LOAD) != NULL ||
		args_knob(&cli->args, "model") != NULL || args_knob(&cli->args, "params") != NULL;
	enum err_code code;

	if (scenario) {
		struct draft d;
		struct plan p;

		code = request_plan(cli, 0, false, &d, &p, e);
		if (code == ERR_OK)
			*pl = p.pipeline;
	} else {
		code = pipeline_from_flags(cli, pl, e);
	}
	if (code == ERR_OK)
		code = count_option(&cli->args, OPTION_MICROBATCHES, 1, 16777216, &pl->m, e);
	if (code != ERR_OK)
		return code;
	if (pl->group > 0 && !schedule_table[pl->schedule].needs_v)
		return err_set(e, ERR_USAGE, "group", _("only the interleaved schedule has groups; this is %s"),
			schedule_table[pl->schedule].key);
	choose_group(pl);
	return pipeline_check(pl, e);
}

/* Chunks alive on a rank: a forward starts one, the end of its backward frees it. Actions of a rank come in order. */
static void count_action(void *ctx, const struct timed_action *a)
{
	struct figures *f = ctx;
	struct rank_figures *r = &f->rank[a->rank];

	r->busy += a->end - a->start;
	r->alive += a->action.kind == ACTION_FORWARD ? 1 : -1;
	r->peak = num_max(r->peak, r->alive);
}

static enum err_code run(const struct pipeline *pl, const struct times *t, struct figures *f, struct err *e)
{
	struct schedule_times ticks = { .forward = t->forward, .backward = t->backward, .comm = t->comm };
	void *workspace = NULL;
	enum err_code code = draw_workspace(pl, &workspace, e);

	if (code != ERR_OK)
		return code;
	f->rank = cli_alloc((size_t)pl->p * sizeof f->rank[0]);
	code = schedule_run(pl, &ticks, workspace, count_action, f, &f->result, e);
	free(workspace);
	return code;
}

static double in_units(const struct times *t, int64_t ticks)
{
	return (double)ticks / (double)t->scale;
}

static void json_pair(struct sink *out, const char *before, const char *key, double value)
{
	sink_printf(out, "%s\"%s\": ", before, key);
	sink_json_double(out, value);
}

static void json_actions(const struct pipeline *pl, struct sink *out)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];
	char text[48];

	sink_puts(out, "\"actions\": [");
	for (int64_t rank = 0; rank < pl->p; rank++) {
		int64_t n = info->count(pl, rank);

		sink_puts(out, rank > 0 ? ",\n    [" : "\n    [");
		for (int64_t i = 0; i < n; i++) {
			struct action a = info->at(pl, rank, i);

			sink_printf(out, "%s\"%s\"", i > 0 ? "," : "", action_format(&a, text, sizeof text));
		}
		sink_puts(out, "]");
	}
	sink_puts(out, "\n    ]");
}

static void json_ranks(const struct pipeline *pl, const struct times *t, const struct figures *f, struct sink *out)
{
	sink_puts(out, ",\n    \"busy\": [");
	for (int64_t r = 0; r < pl->p; r++) {
		sink_puts(out, r > 0 ? ", " : "");
		sink_json_double(out, in_units(t, f->rank[r].busy));
	}
	sink_puts(out, "],\n    \"idle\": [");
	for (int64_t r = 0; r < pl->p; r++) {
		sink_puts(out, r > 0 ? ", " : "");
		sink_json_double(out, in_units(t, f->result.makespan - f->rank[r].busy));
	}
	sink_puts(out, "],\n    \"in_flight\": [");
	for (int64_t r = 0; r < pl->p; r++)
		sink_printf(out, "%s%" PRId64, r > 0 ? ", " : "", f->rank[r].peak);
	sink_puts(out, "],\n    ");
}

static void print_json(const struct pipeline *pl, const struct times *t, const struct figures *f, struct sink *out)
{
	sink_printf(out,
		"{\n  \"meshplan\": \"%s\",\n  \"schema\": %d,\n  \"pipeline\": {\n    \"schedule\": \"%s\", \"p\": %" PRId64
		", \"m\": %" PRId64 ", \"v\": %" PRId64 ", \"group\": %" PRId64 ",\n    \"times\": { ",
		PACKAGE_VERSION, MESHPLAN_SCHEMA, schedule_table[pl->schedule].key, pl->p, pl->m, pl->v, pl->group);
	json_pair(out, "", "F", in_units(t, t->forward));
	json_pair(out, ", ", "I", in_units(t, t->input));
	json_pair(out, ", ", "W", in_units(t, t->weight));
	json_pair(out, ", ", "comm", in_units(t, t->comm));
	json_pair(out, ", ", "overlap", in_units(t, t->forward + t->backward));
	json_pair(out, " },\n    ", "makespan", in_units(t, f->result.makespan));
	json_pair(out, ", ", "bubble_of_step", f->result.bubble_of_step);
	json_pair(out, ", ", "bubble_over_ideal", f->result.bubble_over_ideal);
	json_pair(out, ", ", "bubble_span", in_units(t, f->result.span_bubble));
	json_ranks(pl, t, f, out);
	json_actions(pl, out);
	sink_puts(out, "\n  },\n  \"diagnostics\": []\n}\n");
}

/* Steps of one action each, whatever its kind: step = start when F and B both take one tick. */
struct grid {
	int64_t p, steps;
	int32_t *cell; /* [step * p + rank]: 1 + index in the rank's list, 0: nothing */
};

static void place_action(void *ctx, const struct timed_action *a)
{
	struct grid *g = ctx;

	g->cell[a->start * g->p + a->rank] = (int32_t)a->index + 1;
}

static void print_grid(const struct pipeline *pl, const struct grid *g, struct sink *out)
{
	sink_printf(out, "%9s", "");
	for (int64_t r = 0; r < pl->p; r++)
		sink_printf(out, r + 1 < pl->p ? " r%-7" PRId64 : " r%" PRId64, r);
	for (int64_t s = 0; s < g->steps; s++) {
		sink_printf(out, "\nstep %-4" PRId64, s);
		for (int64_t r = 0; r < pl->p; r++) {
			int32_t cell = g->cell[s * g->p + r];
			struct action a;
			char text[48] = "";

			if (cell > 0) {
				a = schedule_table[pl->schedule].at(pl, r, cell - 1);
				(void)action_format(&a, text, sizeof text);
			}
			sink_printf(out, r + 1 < pl->p ? " %-8s" : " %s", text);
		}
	}
	sink_puts(out, "\n");
}

static int print_steps(struct cli *cli, const struct pipeline *pl)
{
	struct schedule_times unit = { .forward = 1, .backward = 1 };
	struct schedule_result result;
	struct grid g = { .p = pl->p };
	struct err e = { .code = ERR_OK };
	void *workspace = NULL;
	enum err_code code;

	if (pl->p > STEPS_MAX_RANKS)
		return cli_fail_usage("steps", _("has one column per rank and takes at most %d ranks; here are %lld"),
			(int)STEPS_MAX_RANKS, (long long)pl->p);
	if (draw_workspace(pl, &workspace, &e) != ERR_OK)
		return cli_fail(&e);
	code = schedule_run(pl, &unit, workspace, NULL, NULL, &result, &e);
	if (code == ERR_OK) {
		g.steps = result.makespan;
		g.cell = cli_alloc((size_t)(g.steps * g.p) * sizeof g.cell[0]);
		code = schedule_run(pl, &unit, workspace, place_action, &g, &result, &e);
	}
	free(workspace);
	if (code == ERR_OK)
		print_grid(pl, &g, cli->out);
	free(g.cell);
	return code == ERR_OK ? EXIT_YES : cli_fail(&e);
}

/* "r0 ", "r10 ": room for the largest rank and a blank. */
static int label_cols(const struct pipeline *pl)
{
	int n = 3;

	for (int64_t most = 10; pl->p > most; most *= 10)
		n++;
	return n;
}

static void print_rows(const struct gantt *g, int label_width, bool ascii, struct sink *out)
{
	for (int64_t i = 0; i < g->rows; i++) {
		char label[24], idle[32];
		double share = g->result.makespan > 0 ? 1 - (double)g->busy[i] / (double)g->result.makespan : 0;

		if (g->rank[i] < 0) {
			sink_puts(out, ":\n");
			continue;
		}
		(void)snprintf(label, sizeof label, "r%" PRId64, g->rank[i]);
		(void)snprintf(idle, sizeof idle, "%.1f %%", 100 * share);
		sink_printf(out, "%-*s", label_width, label);
		gantt_row_text(g, i, ascii, out);
		sink_printf(out, "%7s%4" PRId64 "\n", idle, g->in_flight[i]);
	}
}

static void print_summary(const struct pipeline *pl, const struct times *t, const struct figures *f, struct sink *out)
{
	char step[32], ideal[32];

	sink_printf(out, _("makespan %.15g; bubble %s %% of step, %s %% of ideal\n"), in_units(t, f->result.makespan),
		units_format_f4(100 * f->result.bubble_of_step, step, sizeof step),
		units_format_f4(100 * f->result.bubble_over_ideal, ideal, sizeof ideal));
	sink_printf(out, _("times: F %.15g, B %.15g"), in_units(t, t->forward), in_units(t, t->backward));
	if (t->comm > 0)
		sink_printf(out, _(", between ranks %.15g"), in_units(t, t->comm));
	sink_printf(out, _("; most idle between a rank's first and last action: %.15g\n"), in_units(t, f->result.span_bubble));
	if (schedule_table[pl->schedule].needs_v)
		sink_printf(out,
			_("groups of %" PRId64 " micro-batches; in flight counts chunks, %" PRId64 " per rank and micro-batch\n"),
			pl->group, pl->v);
}

static int print_text(struct cli *cli, const struct pipeline *pl, const struct times *t, const struct figures *f)
{
	struct schedule_times ticks = { .forward = t->forward, .backward = t->backward, .comm = t->comm };
	int64_t cols = DEFAULT_COLS;
	char axis[GANTT_COLS_MAX + 1], caption[80];
	struct err e = { .code = ERR_OK };
	int label = label_cols(pl);
	struct gantt *g;

	if (count_option(&cli->args, OPTION_WIDTH, 40, GANTT_COLS_MAX, &cols, &e) != ERR_OK)
		return cli_fail(&e);
	g = draw_pipeline(pl, &ticks, GANTT_ROWS_MAX, cols - label - MARGIN_COLS, &e);
	if (g == NULL)
		return cli_fail(&e);
	sink_printf(
		cli->out, _("%s  %" PRId64 " ranks, %" PRId64 " micro-batches"), schedule_table[pl->schedule].key, pl->p, pl->m);
	if (pl->v > 1)
		sink_printf(cli->out, _(", %" PRId64 " chunks per rank"), pl->v);
	sink_puts(cli->out, "\n");
	gantt_axis(g, axis, sizeof axis);
	sink_printf(cli->out, "%*s%s%s\n", label, "", axis, _("   idle max"));
	print_rows(g, label, cli->ascii, cli->out);
	if (*gantt_caption(g, caption, sizeof caption) != '\0')
		sink_printf(cli->out, "%*s%s\n", label, "", caption);
	sink_printf(cli->out, "%*s%s\n", label, "",
		cli->ascii ? _("F forward  B backward  . idle  + both in turn; max: chunks in flight at most")
			   : _("F forward  B backward  · idle  ▒ both in turn; max: chunks in flight at most"));
	print_summary(pl, t, f, cli->out);
	free(g);
	return EXIT_YES;
}

int cmd_pipeline(struct cli *cli)
{
	struct pipeline pl;
	struct times t;
	struct figures f = { .rank = NULL };
	struct err e = { .code = ERR_OK };
	int status = EXIT_YES;

	if (pipeline_from_args(cli, &pl, &e) != ERR_OK || times_from_args(&cli->args, &t, &e) != ERR_OK)
		return cli_fail(&e);
	if (args_option(&cli->args, OPTION_STEPS) != NULL)
		return print_steps(cli, &pl);
	if (run(&pl, &t, &f, &e) != ERR_OK)
		status = cli_fail(&e);
	else if (args_option(&cli->args, OPTION_JSON) != NULL)
		print_json(&pl, &t, &f, cli->out);
	else
		status = print_text(cli, &pl, &t, &f);
	free(f.rank);
	return status;
}
