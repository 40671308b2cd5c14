#include "app_internal.h"

#include "num.h"
#include "view.h"

#include <stdlib.h>

/* Orders up to here can be executed several times for a frame; a slice is about a millisecond. */
enum { EXACT_ACTIONS_MAX = 1 << 19, EXACT_BYTES_MAX = 1 << 26, SLICE = 1 << 17 };

void exact_drop(struct app *a)
{
	free(a->exact.workspace);
	a->exact = (struct exact_order){ 0 };
}

bool exact_is_wanted(const struct app *a)
{
	const struct pipeline *pl = &a->plan.pipeline;
	int64_t bytes;
	const bool made = a->exact.workspace != NULL && a->exact.build.scratch == NULL;
	if (a->view != VIEW_PIPELINE || schedule_table[pl->schedule].greedy == NULL || made)
		return false;
	bytes = order_workspace_bytes(pl);
	return bytes >= 0 && bytes <= EXACT_BYTES_MAX && pipeline_actions(pl) <= EXACT_ACTIONS_MAX;
}

static int percent(const struct app *a)
{
	return (int)(100 * order_share(&a->exact.build));
}

bool exact_work(struct app *a)
{
	struct exact_order *x = &a->exact;
	const int before = x->workspace == NULL ? -1 : percent(a);
	struct err e;
	if (x->workspace == NULL) {
		x->workspace = malloc((size_t)order_workspace_bytes(&a->plan.pipeline));
		if (x->workspace == NULL || order_begin(&a->plan.pipeline, x->workspace, &x->build, &e) != ERR_OK) {
			exact_drop(a);
			return false;
		}
	}
	if (order_step(&x->build, SLICE))
		a->player.ticks = num_max(1, view_pipeline_ticks(a));
	return percent(a) != before;
}
