#include "draw.h"

#include "cli.h"

#include <stdlib.h>

/* 256 MiB: 16 million chunks, far beyond what a picture or a list is good for. */
enum { WORKSPACE_MAX_BYTES = 268435456 };

void *draw_workspace(const struct pipeline *pl, struct err *e)
{
	int64_t bytes;

	if (pipeline_check(pl, e) != ERR_OK)
		return NULL;
	bytes = schedule_workspace_bytes(pl);
	if (bytes < 0 || bytes > WORKSPACE_MAX_BYTES) {
		(void)err_set(e, ERR_RANGE, "microbatches", "%lld ranks with %lld micro-batches of %lld chunks are too many to draw", (long long)pl->p,
			(long long)pl->m, (long long)pl->v);
		return NULL;
	}
	return cli_alloc((size_t)bytes);
}

struct gantt *draw_pipeline(const struct pipeline *pl, const struct schedule_times *t, int64_t rows, int64_t cols, struct err *e)
{
	void *workspace = draw_workspace(pl, e);
	struct gantt *g;

	if (workspace == NULL)
		return NULL;
	g = cli_alloc(sizeof *g);
	if (gantt_draw(pl, t, rows, cols, workspace, g, e) != ERR_OK) {
		free(g);
		g = NULL;
	}
	free(workspace);
	return g;
}
