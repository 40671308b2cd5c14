/* meshplan pipeline: what each rank does when. The executor times an order, generated or imported; pictures, lists and figures
 * come from its output. */
#include "config.h"

#include "cli.h"

#include "draw.h"
#include "file.h"
#include "i18n.h"
#include "pipeline.h"
#include "request.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RANKS = 4, DEFAULT_MICROBATCHES = 8, DEFAULT_COLS = 80 };

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
	interleaved = schedule_table[d.s.layout.schedule].v_min > 1;
	if (interleaved && args_knob(&cli->args, "vpp") == NULL)
		d.s.layout.vpp = 2;
	*pl = (struct pipeline){ .schedule = d.s.layout.schedule,
		.p = d.s.layout.pp,
		.m = DEFAULT_MICROBATCHES,
		.v = d.s.layout.vpp,
		.group = d.s.layout.group };
	return ERR_OK;
}

static bool has_scenario(const struct args *a)
{
	return a->n_words > 0 || args_option(a, OPTION_LOAD) != NULL || args_knob(a, "model") != NULL ||
		args_knob(a, "params") != NULL;
}

static enum err_code pipeline_from_args(struct cli *cli, struct pipeline *pl, struct err *e)
{
	enum err_code code;

	if (has_scenario(&cli->args)) {
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
	if (code == ERR_OK)
		code = pipeline_costs_read(&cli->args, &pl->costs, e);
	if (code == ERR_OK && pl->group > 0 && !schedule_table[pl->schedule].has_groups)
		return err_set(e, ERR_USAGE, "group", _("only interleaved schedules have groups; this is %s"),
			schedule_table[pl->schedule].key);
	return code;
}

int64_t pipeline_shown_group(const struct pipeline *pl)
{
	return pl->schedule != SCHEDULE_COUNT && schedule_table[pl->schedule].has_groups ? pipeline_group(pl) : 0;
}

static enum err_code generate(struct pipeline_job *job, const struct pipeline *pl, struct err *e)
{
	enum err_code code = draw_check(pl, e);

	if (code != ERR_OK)
		return code;
	job->name = schedule_table[pl->schedule].key;
	job->order_memory = draw_alloc(pl, order_workspace_bytes(pl), e);
	if (job->order_memory == NULL)
		return e->code;
	return order_generate(pl, job->order_memory, &job->order, e);
}

/* What the file decides may not be asked for beside it. */
static enum err_code check_import(const struct args *a, struct err *e)
{
	static const enum option_id ids[] = { OPTION_MICROBATCHES, OPTION_ORDER_TIMES, OPTION_LOAD };

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
		if (args_option(a, ids[i]) != NULL)
			return err_set(e, ERR_USAGE, option_table[ids[i]].key,
				_("not with --import: the file holds ranks, micro-batches and order"));
	for (size_t i = 0; i < a->n; i++)
		if (a->arg[i].knob != NULL)
			return err_set(e, ERR_USAGE, a->arg[i].knob->key,
				_("not with --import: the file holds ranks, micro-batches and order"));
	if (a->n_words > 0)
		return err_set(e, ERR_USAGE, "import", _("takes no SCENARIO beside it, but \"%.40s\" is given"), a->words[0]);
	return ERR_OK;
}

static enum err_code import(struct cli *cli, const char *path, struct pipeline_job *job, struct err *e)
{
	struct order_text t = { .name = path };
	char *text = NULL;
	enum err_code code = check_import(&cli->args, e);

	if (code == ERR_OK)
		code = file_read(path, PIPELINE_FILE_MAX_BYTES, &text, &t.len, e);
	if (code != ERR_OK)
		return code;
	t.text = text;
	job->name = "imported";
	job->order_memory = cli_alloc((size_t)order_parse_bytes(&t));
	code = order_parse(&t, job->order_memory, &job->order, e);
	free(text);
	return code;
}

static void count_kind(void *ctx, const struct timed_action *a)
{
	struct pipeline_job *job = ctx;

	job->has[a->action.kind] = true;
	job->blocks = job->blocks || a->action.overlap;
	job->actions++;
}

/* Times the order. A deadlock is one of the file where there is one. */
static enum err_code run(struct pipeline_job *job, const char *path, struct err *e)
{
	const struct order *o = &job->order;
	enum err_code code;

	job->workspace = draw_alloc(&o->pl, order_run_bytes(o), e);
	if (job->workspace == NULL)
		return e->code;
	job->ranks = cli_alloc((size_t)o->pl.p * sizeof job->ranks[0]);
	job->peaks = cli_alloc((size_t)o->pl.p * sizeof job->peaks[0]);
	code = order_run(o, &job->times.ticks, job->workspace, count_kind, job, job->ranks, &job->result, e);
	if (code == ERR_ILLEGAL && path != NULL)
		(void)snprintf(e->where, sizeof e->where, "%.150s", path);
	for (int64_t r = 0; r < o->pl.p && code == ERR_OK; r++)
		job->peaks[r] = order_peaks(o, r);
	return code;
}

static bool is_standard(const struct args *a, enum option_id id)
{
	const char *value = args_option(a, id);

	return value != NULL && (option_table[id].value == NULL || strcmp(value, "-") == 0);
}

/* Standard output holds one thing. */
static enum err_code check_outputs(const struct args *a, struct err *e)
{
	static const enum option_id ids[] = { OPTION_JSON, OPTION_CSV, OPTION_STEPS, OPTION_TRACE, OPTION_SVG };
	static const enum option_id single[] = { OPTION_CSV, OPTION_STEPS, OPTION_TRACE, OPTION_SVG };
	const char *first = NULL;

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		if (!is_standard(a, ids[i]))
			continue;
		if (first != NULL)
			return err_set(e, ERR_USAGE, option_table[ids[i]].key, _("standard output is taken by --%s"), first);
		first = option_table[ids[i]].key;
	}
	for (size_t i = 0; args_option(a, OPTION_COMPARE) != NULL && i < sizeof single / sizeof single[0]; i++)
		if (args_option(a, single[i]) != NULL)
			return err_set(e, ERR_USAGE, option_table[single[i]].key, _("is for one schedule, not for --compare"));
	return ERR_OK;
}

/* One of the documents that may go into a file. */
struct document {
	const struct pipeline_job *job;
	void (*print)(const struct pipeline_job *job, struct sink *out);
};

static void print_document(const void *ctx, struct sink *out)
{
	const struct document *d = ctx;

	d->print(d->job, out);
}

/* "-" is standard output. Output that cannot be written is no fault of the input. */
static enum err_code write_document(struct cli *cli, const char *path, const struct document *d, struct err *e)
{
	if (strcmp(path, "-") == 0) {
		d->print(d->job, cli->out);
	} else if (file_print(path, print_document, d, e) != ERR_OK) {
		e->code = ERR_INTERNAL;
		return ERR_INTERNAL;
	}
	return ERR_OK;
}

/* The files that were asked for; *standard: standard output is used up. */
static enum err_code write_files(struct cli *cli, const struct pipeline_job *job, bool *standard, struct err *e)
{
	const char *trace = args_option(&cli->args, OPTION_TRACE), *svg = args_option(&cli->args, OPTION_SVG);
	enum err_code code = svg != NULL ? pipeline_svg_check(job, e) : ERR_OK;

	if (code == ERR_OK && trace != NULL)
		code = write_document(cli, trace, &(struct document){ job, pipeline_trace }, e);
	if (code == ERR_OK && svg != NULL)
		code = write_document(cli, svg, &(struct document){ job, pipeline_svg }, e);
	*standard = is_standard(&cli->args, OPTION_TRACE) || is_standard(&cli->args, OPTION_SVG);
	return code;
}

static int print(struct cli *cli, const struct pipeline_job *job)
{
	int64_t cols = DEFAULT_COLS;
	struct err e = { .code = ERR_OK };
	bool used = false;

	if (count_option(&cli->args, OPTION_WIDTH, 40, GANTT_COLS_MAX, &cols, &e) != ERR_OK ||
		write_files(cli, job, &used, &e) != ERR_OK)
		return cli_fail(&e);
	if (used)
		return EXIT_YES;
	if (args_option(&cli->args, OPTION_STEPS) != NULL)
		return pipeline_steps(cli, job);
	if (args_option(&cli->args, OPTION_JSON) != NULL)
		pipeline_json(job, cli->out);
	else if (args_option(&cli->args, OPTION_CSV) != NULL)
		order_format(&job->order, cli->out);
	else
		return pipeline_text(cli, job, cols);
	return EXIT_YES;
}

/* The engine blames the batch of a scenario; here the count may be a flag of its own. */
static void blame_count(const struct args *a, struct err *e)
{
	bool counted = args_option(a, OPTION_MICROBATCHES) != NULL || !has_scenario(a);

	if (counted && e->code == ERR_ILLEGAL && strcmp(e->where, "micro-batch") == 0)
		(void)snprintf(e->where, sizeof e->where, "%s", option_table[OPTION_MICROBATCHES].key);
}

/* The order, and the times of its stages; of a comparison an order only where it is imported. */
static enum err_code prepare(struct cli *cli, struct pipeline_job *job, struct pipeline *pl, bool compare, struct err *e)
{
	const char *path = args_option(&cli->args, OPTION_IMPORT), *stages = args_option(&cli->args, OPTION_STAGE_TIMES);
	enum err_code code = path == NULL ? pipeline_from_args(cli, pl, e) : import(cli, path, job, e);

	if (code == ERR_OK && path != NULL)
		*pl = job->order.pl;
	else if (code == ERR_OK && !compare)
		code = generate(job, pl, e);
	if (code == ERR_OK && stages != NULL)
		code = pipeline_times_stages(stages, compare ? pl->p : pipeline_stages(pl), compare, &job->times, e);
	return code;
}

static int show(struct cli *cli, struct pipeline_job *job, struct err *e)
{
	const char *path = args_option(&cli->args, OPTION_IMPORT);
	bool compare = args_option(&cli->args, OPTION_COMPARE) != NULL;
	struct pipeline pl = { 0 };
	enum err_code code = prepare(cli, job, &pl, compare, e);

	if (code == ERR_OK && compare)
		code = pipeline_compare(cli, &pl, path != NULL ? &job->order : NULL, &job->times, e);
	else if (code == ERR_OK)
		code = run(job, path, e);
	if (code == ERR_OK)
		return compare ? EXIT_YES : print(cli, job);
	blame_count(&cli->args, e);
	return cli_fail(e);
}

int cmd_pipeline(struct cli *cli)
{
	struct pipeline_job job = { .name = NULL };
	struct err e = { .code = ERR_OK };
	int status;

	if (check_outputs(&cli->args, &e) != ERR_OK || pipeline_times_read(&cli->args, &job.times, &e) != ERR_OK)
		return cli_fail(&e);
	status = show(cli, &job, &e);
	free(job.times.stage);
	free(job.order_memory);
	free(job.workspace);
	free(job.ranks);
	free(job.peaks);
	return status;
}
