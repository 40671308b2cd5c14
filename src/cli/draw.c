#include "draw.h"

#include "cli.h"
#include "i18n.h"

#include <stdlib.h>

static enum err_code too_many(const struct pipeline *pl, struct err *e)
{
	return err_set(e, ERR_RANGE, "microbatches", _("%lld ranks with %lld micro-batches of %lld chunks are too many to draw"),
		(long long)pl->p, (long long)pl->m, (long long)pl->v);
}

enum err_code draw_check(const struct pipeline *pl, struct err *e)
{
	enum err_code code = pipeline_check(pl, e);

	return code == ERR_OK && pipeline_actions(pl) > DRAW_ACTIONS_MAX ? too_many(pl, e) : code;
}

void *draw_alloc(const struct pipeline *pl, int64_t bytes, struct err *e)
{
	if (bytes >= 0 && bytes <= DRAW_BYTES_MAX)
		return cli_alloc((size_t)bytes);
	(void)too_many(pl, e);
	return NULL;
}

struct gantt *draw_pipeline(const struct pipeline *pl, const struct schedule_times *t, int64_t rows, int64_t cols, struct err *e)
{
	void *workspace = draw_check(pl, e) == ERR_OK ? draw_alloc(pl, schedule_workspace_bytes(pl), e) : NULL;
	struct gantt *g;

	if (workspace == NULL)
		return NULL;
	g = cli_alloc(sizeof *g);
	if (gantt_draw(pl, t, (struct gantt_field){ rows, cols, NULL }, workspace, g, e) != ERR_OK) {
		free(g);
		g = NULL;
	}
	free(workspace);
	return g;
}
