/* meshplan pipeline: the drawing and its figures as text. */
#include "config.h"

#include "pipeline.h"

#include "draw.h"
#include "help.h"
#include "i18n.h"
#include "num.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Right of the drawing: " 27.3 %" and a column for the peak. */
enum { IDLE_COLS = 7, PEAK_COLS = 4, CRITICAL_BYTES_MAX = 268435456 };

static int digits(int64_t n)
{
	int len = 1;

	for (; n >= 10; n /= 10)
		len++;
	return len;
}

/* "r0 ", "r10 ": room for the largest rank and a blank. */
static int label_cols(const struct pipeline *pl)
{
	return 2 + digits(pl->p - 1);
}

static int peak_cols(const struct pipeline_job *job)
{
	int64_t most = 0;

	for (int64_t r = 0; r < job->order.pl.p; r++)
		most = num_max(most, job->peaks[r].at_weight);
	return (int)num_max(PEAK_COLS, 1 + digits(most));
}

static void print_rows(const struct gantt *g, int label_width, int peak_width, bool ascii, struct sink *out)
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
		sink_printf(out, "%*s%*" PRId64 "\n", (int)IDLE_COLS, idle, peak_width, g->in_flight[i]);
	}
}

/* What the letters mean: those that the order has. */
static void print_legend(const struct pipeline_job *job, const struct gantt *g, int indent, bool ascii, struct sink *out)
{
	static const char *const letters[ACTION_KIND_COUNT] = {
		[ACTION_FORWARD] = N_("F forward"),
		[ACTION_BACKWARD] = N_("B backward"),
		[ACTION_INPUT] = N_("I input gradient"),
		[ACTION_WEIGHT] = N_("W weight gradient"),
	};

	bool density = g->mode == GANTT_DENSITY;

	sink_printf(out, "%*s", indent, "");
	for (int kind = 0; kind < ACTION_KIND_COUNT; kind++)
		if (job->has[kind] || (kind == ACTION_BACKWARD && density))
			sink_printf(out, "%s%s", kind > 0 ? "  " : "", _(letters[kind]));
	/* With four letters there is no room for more. */
	if (job->has[ACTION_WEIGHT] && (job->blocks || density))
		sink_printf(out, "\n%*s", indent, "");
	else
		sink_puts(out, "  ");
	if (job->blocks && !density)
		sink_printf(out, _("F+B, in one column %s: both as one block  "), gantt_glyph(GANTT_BOTH, ascii));
	sink_printf(out, _("%s idle"), gantt_glyph(GANTT_IDLE, ascii));
	if (density)
		sink_printf(out, _("  %s both in turn"), gantt_glyph(GANTT_BOTH, ascii));
	sink_puts(out, "\n");
}

static void print_head(const struct pipeline_job *job, struct sink *out)
{
	const struct pipeline *pl = &job->order.pl;

	sink_printf(out, ngettext("%s  %" PRId64 " rank", "%s  %" PRId64 " ranks", (unsigned long)pl->p), job->name, pl->p);
	sink_printf(out, ngettext(", %" PRId64 " micro-batch", ", %" PRId64 " micro-batches", (unsigned long)pl->m), pl->m);
	if (pipeline_chunks_held(pl) > 1)
		sink_printf(out, _(", %" PRId64 " chunks per rank"), pipeline_chunks_held(pl));
	if (pl->schedule == SCHEDULE_COUNT)
		sink_printf(out, _(", placement %s"), placement_names[pipeline_placement(pl)]);
	sink_puts(out, "\n");
}

/* The same idle time by the three conventions in use. */
static void print_bubbles(const struct pipeline_job *job, struct sink *out)
{
	const struct schedule_result *r = &job->result;

	sink_printf(out, _("makespan %.15g; its bubble in three conventions:\n"), pipeline_units(&job->times, r->makespan));
	sink_printf(out, "  %-17s%9.2f %%  %s\n", _("of the step"), 100 * r->bubble_of_step, _("idle / (ranks x makespan)"));
	sink_printf(out, "  %-17s%9.2f %%  %s\n", _("over ideal"), 100 * r->bubble_over_ideal, _("idle / busy"));
	sink_printf(out, "  %-17s%9.2f %%  ", _("within the span"), 100 * r->span_bubble_rate);
	sink_printf(out, _("idle %.8g, a rank's first to last action\n"), pipeline_units(&job->times, r->span_bubble));
	if (r->max_busy > 0 && r->total_busy != job->order.pl.p * r->max_busy)
		sink_printf(out, "  %-17s%9.2f %%  %s\n", _("over the busiest"),
			100 * ((double)r->makespan / (double)r->max_busy - 1), _("ranks differ: makespan / busiest rank - 1"));
}

static void print_idle(const struct pipeline_job *job, struct sink *out)
{
	static const char *const names[IDLE_REASON_COUNT] = {
		[IDLE_FILL] = N_("fill"),
		[IDLE_INPUT] = N_("input"),
		[IDLE_GRADIENT] = N_("gradient"),
		[IDLE_COMM] = N_("latency"),
		[IDLE_DRAIN] = N_("drain"),
	};

	char buf[200];
	struct sink text;

	sink_init(&text, buf, sizeof buf, NULL, NULL);
	sink_puts(&text, _("idle time by cause:"));
	for (int i = IDLE_FILL; i < IDLE_REASON_COUNT; i++)
		sink_printf(&text, "%s %s %.10g", i > IDLE_FILL ? "," : "", _(names[i]),
			pipeline_units(&job->times, job->result.idle[i]));
	help_wrapped(buf, 0, 0, out);
}

void *pipeline_critical(const struct pipeline_job *job, struct critical_path *path)
{
	int64_t bytes = order_critical_bytes(&job->order);
	void *workspace;

	if (bytes < 0 || bytes > CRITICAL_BYTES_MAX)
		return NULL;
	workspace = cli_alloc((size_t)bytes);
	if (order_critical(&job->order, &job->times.ticks, workspace, NULL, NULL, path, NULL) == ERR_OK)
		return workspace;
	free(workspace);
	return NULL;
}

/* An addition: orders too long to remember leave it out. */
static void print_critical(const struct pipeline_job *job, struct sink *out)
{
	struct critical_path path;
	void *workspace = pipeline_critical(job, &path);

	if (workspace != NULL)
		sink_printf(out, _("critical path: %" PRId64 " actions, busy %.10g; latency %.10g\n"), path.actions,
			pipeline_units(&job->times, path.busy), pipeline_units(&job->times, path.comm));
	free(workspace);
}

static void print_notes(const struct pipeline_job *job, struct sink *out)
{
	const struct pipeline *pl = &job->order.pl;
	char buf[400];
	struct sink text;

	sink_init(&text, buf, sizeof buf, NULL, NULL);
	sink_puts(&text, _("times of a chunk: "));
	pipeline_times_text(&job->times, &text);
	help_wrapped(buf, 0, 0, out);
	sink_puts(out, _("max: chunks in flight at most, each from its F to the end of its B or W\n"));
	if (pipeline_shown_group(pl) > 0)
		sink_printf(out,
			ngettext("groups of %" PRId64 " micro-batch\n", "groups of %" PRId64 " micro-batches\n",
				(unsigned long)pipeline_shown_group(pl)),
			pipeline_shown_group(pl));
}

int pipeline_text(struct cli *cli, const struct pipeline_job *job, int64_t cols)
{
	char axis[GANTT_COLS_MAX + 1], caption[80];
	struct err e = { .code = ERR_OK };
	int label = label_cols(&job->order.pl), peak = peak_cols(job);
	struct gantt *g = cli_alloc(sizeof *g);
	const struct gantt_field field = { GANTT_ROWS_MAX, cols - label - IDLE_COLS - peak, NULL };
	enum err_code code = gantt_draw_order(&job->order, &job->times.ticks, field, job->workspace, g, &e);

	if (code == ERR_OK) {
		print_head(job, cli->out);
		gantt_axis(g, axis, sizeof axis);
		sink_printf(cli->out, "%*s%s%*s%*s\n", label, "", axis, (int)IDLE_COLS, _("idle"), peak, _("max"));
		print_rows(g, label, peak, cli->ascii, cli->out);
		if (*gantt_caption(g, caption, sizeof caption) != '\0')
			sink_printf(cli->out, "%*s%s\n", label, "", caption);
		if (g->unit != job->times.scale)
			sink_printf(cli->out, _("%*s1 on the axis is %.10g, one forward\n"), label, "",
				pipeline_units(&job->times, g->unit));
		print_legend(job, g, label, cli->ascii, cli->out);
		print_bubbles(job, cli->out);
		print_idle(job, cli->out);
		print_critical(job, cli->out);
		print_notes(job, cli->out);
	}
	free(g);
	return code == ERR_OK ? EXIT_YES : cli_fail(&e);
}
