#include "draw.h"

#include "cli.h"
#include "i18n.h"

#include <stdlib.h>

/* A workspace for gantt_draw; an error when the pipeline is larger than a drawing can use. */
static enum err_code draw_workspace(const struct pipeline *pl, void **workspace, struct err *e)
{
	enum err_code code = pipeline_check(pl, e);
	int64_t bytes;

	if (code != ERR_OK)
		return code;
	bytes = schedule_workspace_bytes(pl);
	if (bytes < 0 || bytes > DRAW_BYTES_MAX || pipeline_actions(pl) > DRAW_ACTIONS_MAX)
		return err_set(e, ERR_RANGE, "microbatches",
			_("%lld ranks with %lld micro-batches of %lld chunks are too many to draw"), (long long)pl->p,
			(long long)pl->m, (long long)pl->v);
	*workspace = cli_alloc((size_t)bytes);
	return ERR_OK;
}

struct gantt *draw_pipeline(const struct pipeline *pl, const struct schedule_times *t, int64_t rows, int64_t cols, struct err *e)
{
	void *workspace = NULL;
	struct gantt *g;

	if (draw_workspace(pl, &workspace, e) != ERR_OK)
		return NULL;
	g = cli_alloc(sizeof *g);
	if (gantt_draw(pl, t, rows, cols, workspace, g, e) != ERR_OK) {
		free(g);
		g = NULL;
	}
	free(workspace);
	return g;
}
