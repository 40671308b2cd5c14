/* All schedules on the same ranks, micro-batches and model: chunk times are the rank's times divided by the chunks that share its
 * layers. */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"

#include <string.h>

static struct pipeline compared_pipeline(int32_t schedule, const struct pipeline *base)
{
	const struct schedule_info *info = &schedule_table[schedule];
	struct pipeline pl = { .schedule = schedule, .p = base->p, .m = base->m, .costs = base->costs };

	pl.v = info->v_max == 1 ? 1 : info->v_max == 2 ? 2 : num_max(2, base->v);
	/* A group is given for the schedule that base is of. */
	if (schedule == base->schedule)
		pl.group = base->group;
	return pl;
}

int64_t schedule_compare_bytes(int32_t schedule, const struct pipeline *base)
{
	struct pipeline pl = compared_pipeline(schedule, base);

	if (pipeline_check(&pl, NULL) != ERR_OK)
		return 0;
	return schedule_workspace_bytes(&pl);
}

/* Everything times the least common denominator. Both stages of a DualPipe rank are whole ones: it holds parameters twice, not
 * half the layers. */
static bool scale_times(const struct schedule_times *t, int64_t scale, int64_t chunks, struct schedule_times *out)
{
	int64_t *const values[] = { &out->forward, &out->backward, &out->input, &out->weight, &out->overlap, &out->comm };

	*out = *t;
	out->stage_forward = out->stage_backward = out->stage_input = out->stage_weight = NULL;
	/* Halves first: they are of whole ticks before the scale, of any after it. */
	out->input = schedule_duration(t, ACTION_INPUT, 0);
	out->weight = schedule_duration(t, ACTION_WEIGHT, 0);
	out->backward = schedule_duration(t, ACTION_BACKWARD, 0);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		if (!num_mul(*values[i], i == 5 ? scale : scale / chunks, values[i]))
			return false;
	return true;
}

enum err_code schedule_compare(int32_t schedule, const struct pipeline *base, const struct schedule_times *t, void *workspace,
	struct schedule_comparison *out, struct err *e)
{
	struct schedule_times scaled;
	struct order o;
	enum err_code code;

	memset(out, 0, sizeof *out);
	out->schedule = schedule;
	out->pl = compared_pipeline(schedule, base);
	if (pipeline_check(&out->pl, &out->why) != ERR_OK)
		return ERR_OK;
	out->scale = 2 * num_max(2, base->v);
	if (!scale_times(t, out->scale, out->pl.v, &scaled))
		return err_set(e, ERR_RANGE, "times", "the times are too long to compare");
	code = order_generate(&out->pl, workspace, &o, e);
	if (code == ERR_OK)
		code = order_run(&o, &scaled, (char *)workspace + num_round_up(order_workspace_bytes(&out->pl), 8), NULL, NULL,
			NULL, &out->result, e);
	if (code != ERR_OK)
		return code;
	for (int64_t rank = 0; rank < base->p; rank++) {
		struct order_peaks peaks = order_peaks(&o, rank);

		out->peak_at_weight = num_max(out->peak_at_weight, peaks.at_weight);
		out->peak_at_input = num_max(out->peak_at_input, peaks.at_input);
	}
	out->peak_micro_batches = (double)out->peak_at_weight / (double)out->pl.v;
	return ERR_OK;
}
