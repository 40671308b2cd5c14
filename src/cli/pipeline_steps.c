/* meshplan pipeline --steps: a line per step of one action, a column per rank. */
#include "config.h"

#include "pipeline.h"

#include "i18n.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STEPS_MAX_RANKS = 64, CELLS_MAX = 16777216 };

/* Every action takes one step, whatever its kind. */
struct grid {
	int64_t p, steps;
	struct grid_cell {
		struct action action;
		bool used;
	} * cell; /* [step * p + rank] */
};

static void place_action(void *ctx, const struct timed_action *a)
{
	struct grid *g = ctx;

	/* The backward of a block is the second of its two steps. */
	g->cell[(a->action.kind == ACTION_FORWARD ? a->start : a->end - 1) * g->p + a->rank] =
		(struct grid_cell){ a->action, true };
}

static void print_grid(const struct grid *g, struct sink *out)
{
	sink_printf(out, "%9s", "");
	for (int64_t r = 0; r < g->p; r++)
		sink_printf(out, r + 1 < g->p ? " r%-7" PRId64 : " r%" PRId64, r);
	for (int64_t s = 0; s < g->steps; s++) {
		sink_printf(out, "\nstep %-4" PRId64, s);
		for (int64_t r = 0; r < g->p; r++) {
			const struct grid_cell *cell = &g->cell[s * g->p + r];
			char text[48] = "";

			if (cell->used)
				(void)action_format(&cell->action, text, sizeof text);
			sink_printf(out, r + 1 < g->p ? " %-8s" : " %s", text);
		}
	}
	sink_puts(out, "\n");
}

int pipeline_steps(struct cli *cli, const struct pipeline_job *job)
{
	struct schedule_times unit = { .forward = 1, .backward = 1, .input = 1, .weight = 1 };
	struct grid g = { .p = job->order.pl.p };
	struct schedule_result result;
	struct err e = { .code = ERR_OK };
	enum err_code code;

	if (g.p > STEPS_MAX_RANKS)
		return cli_fail_usage("steps", _("has one column per rank and takes at most %d ranks; here are %lld"),
			(int)STEPS_MAX_RANKS, (long long)g.p);
	code = order_run(&job->order, &unit, job->workspace, NULL, NULL, NULL, &result, &e);
	if (code != ERR_OK)
		return cli_fail(&e);
	g.steps = result.makespan;
	if (g.steps > CELLS_MAX / g.p)
		return cli_fail_usage("steps", _("%lld steps are too many to list; at most %lld on %lld ranks"),
			(long long)g.steps, (long long)(CELLS_MAX / g.p), (long long)g.p);
	g.cell = cli_alloc((size_t)(g.steps * g.p) * sizeof g.cell[0]);
	code = order_run(&job->order, &unit, job->workspace, place_action, &g, NULL, &result, &e);
	if (code == ERR_OK)
		print_grid(&g, cli->out);
	free(g.cell);
	return code == ERR_OK ? EXIT_YES : cli_fail(&e);
}
