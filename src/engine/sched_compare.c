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

enum { KINDS_GIVEN = 4 };

/* Run, and the summed times of the stages. */
int64_t order_compare_bytes(const struct order *o)
{
	int64_t run = order_run_bytes(o), sums, bytes;

	return run < 0 || !num_mul(pipeline_stages(&o->pl), KINDS_GIVEN * (int64_t)sizeof(int64_t), &sums) ||
			!num_add(num_round_up(run, 8), sums, &bytes)
		? -1
		: bytes;
}

int64_t schedule_compare_bytes(int32_t schedule, const struct pipeline *base)
{
	static const struct action some = { 0 };
	struct pipeline pl = compared_pipeline(schedule, base);
	struct order o = { .pl = pl, .list = schedule_table[schedule].greedy != NULL ? &some : NULL };
	int64_t list, rest, bytes;

	if (pipeline_check(&pl, NULL) != ERR_OK)
		return 0;
	list = order_workspace_bytes(&pl);
	rest = order_compare_bytes(&o);
	return list < 0 || rest < 0 || !num_add(num_round_up(list, 8), rest, &bytes) ? -1 : bytes;
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

/* Each stage takes what its parts take, times the scale. */
static bool sum_parts(const struct compared_times *t, int64_t stages, int64_t scale, int64_t *sums, struct schedule_times *out)
{
	static const int32_t kinds[KINDS_GIVEN] = { ACTION_FORWARD, ACTION_BACKWARD, ACTION_INPUT, ACTION_WEIGHT };
	const int64_t **const arrays[KINDS_GIVEN] = { &out->stage_forward, &out->stage_backward, &out->stage_input,
		&out->stage_weight };
	int64_t each = t->parts / stages, d;

	for (int k = 0; k < KINDS_GIVEN; k++) {
		int64_t *sum = sums + k * stages;

		*arrays[k] = sum;
		memset(sum, 0, (size_t)stages * sizeof *sum);
		for (int64_t i = 0; i < t->parts; i++)
			if (!num_mul(schedule_duration(&t->t, kinds[k], i), scale, &d) ||
				!num_add(sum[i / each], d, &sum[i / each]))
				return false;
	}
	return true;
}

enum err_code order_compare(const struct order *o, const struct pipeline *base, const struct compared_times *t, void *workspace,
	struct schedule_comparison *out, struct err *e)
{
	int64_t stages = pipeline_stages(&o->pl), *sums = (int64_t *)((char *)workspace + num_round_up(order_run_bytes(o), 8));
	struct schedule_times scaled;
	enum err_code code;

	*out = (struct schedule_comparison){ .schedule = o->pl.schedule, .pl = o->pl, .scale = 2 * num_max(2, base->v) };
	if (t->parts % stages != 0) {
		(void)err_set(&out->why, ERR_ILLEGAL, "stage-times",
			"has %lld stages; times of %lld are given, which do not tell how those split", (long long)stages,
			(long long)t->parts);
		return ERR_OK;
	}
	if (!scale_times(&t->t, out->scale, o->pl.v, &scaled) ||
		(t->parts > 0 && !sum_parts(t, stages, out->scale, sums, &scaled)))
		return err_set(e, ERR_RANGE, "times", "the times are too long to compare");
	code = order_run(o, &scaled, workspace, NULL, NULL, NULL, &out->result, e);
	for (int64_t rank = 0; rank < o->pl.p && code == ERR_OK; rank++) {
		struct order_peaks peaks = order_peaks(o, rank);

		out->peak_at_weight = num_max(out->peak_at_weight, peaks.at_weight);
		out->peak_at_input = num_max(out->peak_at_input, peaks.at_input);
	}
	out->peak_micro_batches = (double)out->peak_at_weight / (double)o->pl.v;
	return code;
}

enum err_code schedule_compare(int32_t schedule, const struct pipeline *base, const struct compared_times *t, void *workspace,
	struct schedule_comparison *out, struct err *e)
{
	struct pipeline pl = compared_pipeline(schedule, base);
	struct order o;
	enum err_code code;

	*out = (struct schedule_comparison){ .schedule = schedule, .pl = pl };
	if (pipeline_check(&pl, &out->why) != ERR_OK)
		return ERR_OK;
	code = order_generate(&pl, workspace, &o, e);
	return code != ERR_OK
		? code
		: order_compare(&o, base, t, (char *)workspace + num_round_up(order_workspace_bytes(&pl), 8), out, e);
}

bool schedule_estimate(int32_t schedule, const struct pipeline *base, struct schedule_estimate *out)
{
	int64_t peak = 0, ticks;

	*out = (struct schedule_estimate){ .pl = compared_pipeline(schedule, base) };
	if (pipeline_check(&out->pl, NULL) != ERR_OK)
		return false;
	ticks = pipeline_makespan(&out->pl, 1, 1, 1, 0, &out->exact);
	out->exact = out->exact && pipeline_is_exact(&out->pl);
	out->ticks = (double)(ticks * base->v) / (double)out->pl.v;
	for (int64_t rank = 0; rank < base->p; rank++)
		peak = num_max(peak, pipeline_in_flight(&out->pl, rank));
	out->peak_micro_batches = (double)peak / (double)out->pl.v;
	return true;
}
