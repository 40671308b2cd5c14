/* The idle time of a step against the executor: formulas for whatever stages cost, and plans drawn at random. */
#include "schedule_fixture.h"

#include "plan.h"
#include "step_internal.h"

#include <math.h>

/* What the executor makes of these stages, seconds: all ranks, or the longest span of one. */
static double executed_s(const struct pipeline *pl, const struct stage_costs *c, bool span)
{
	int64_t f[STAGES], i[STAGES], w[STAGES], b[STAGES], tick = 1000000000;
	struct schedule_times t = { .stage_forward = f, .stage_input = i, .stage_weight = w, .stage_backward = b };
	struct schedule_result r;
	struct pipeline q = *pl;
	struct err e;
	void *workspace;

	q.costs = (struct order_costs){ 0 };
	for (int32_t k = 0; k < c->n; k++) {
		f[k] = (int64_t)((double)tick * c->stage[k].forward_s);
		i[k] = (int64_t)((double)tick * c->stage[k].input_s);
		w[k] = (int64_t)((double)tick * c->stage[k].weight_s);
		b[k] = i[k] + w[k];
		q.costs.forward += f[k] / c->n;
		q.costs.input += i[k] / c->n;
		q.costs.weight += w[k] / c->n;
	}
	workspace = malloc((size_t)schedule_workspace_bytes(&q));
	ck_assert_ptr_nonnull(workspace);
	ck_assert_msg(schedule_run(&q, &t, workspace, NULL, NULL, &r, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	free(workspace);
	return (double)(span ? r.max_span : r.makespan) / (double)tick;
}

/* The makespan that the step counts with. */
static double stepped_s(const struct scenario *s, const struct pipeline *pl, const struct stage_costs *c)
{
	struct step_model m = { .s = s, .pipeline = *pl, .micro_batches = (double)pl->m };
	struct step_time t = { 0 };

	step_find_slowest(pl, c, &t);
	return m.micro_batches * t.stage_max_s + step_bubble(&m, c, &t);
}

/* Whole numbers of seconds, so that both add up without rounding. */
START_TEST(formulas_hold_for_any_stages)
{
	static const int32_t schedules[] = { SCHEDULE_NAIVE, SCHEDULE_GPIPE, SCHEDULE_GPIPE_LIFO, SCHEDULE_1F1B };
	uint64_t state = 20 + (uint64_t)_i;
	struct draft d;

	test_draft(&d, "model=llama3-8b;gpu=H100;gpus=8;framework=megatron");
	for (int n = 0; n < 2000; n++) {
		struct pipeline pl = {
			.schedule = schedules[_i], .p = 2 + random_below(&state, 15), .m = 1 + random_below(&state, 40), .v = 1
		};
		struct stage_costs c = { .n = (int32_t)pl.p };
		double expected, got;

		for (int32_t k = 0; k < c.n; k++)
			c.stage[k] = (struct stage_cost){ .dense = k,
				.forward_s = (double)random_below(&state, 9),
				.input_s = (double)random_below(&state, 9),
				.weight_s = 1 + (double)random_below(&state, 9) };
		expected = executed_s(&pl, &c, false);
		got = stepped_s(&d.s, &pl, &c);
		ck_assert_msg(fabs(got - expected) <= 1e-6, "%s p %lld m %lld: %g, the executor says %g",
			schedule_table[pl.schedule].key, (long long)pl.p, (long long)pl.m, got, expected);
	}
}
END_TEST

/* Plans of one schedule, and how far the step's makespan may lie from the executor's, as a share of it: 0 is equal but for ticks.
 * The formulas of the zero-bubble family know no waiting inside the order; long interleaved ones are run in part. Greedy
 * orders on a V are nearly exact to 8 ranks and folded beyond. */
static const struct {
	const char *profile, *schedule;
	bool uneven; /* layers that do not divide */
	double below, above;
} families[] = {
	{ "megatron-lm", "1f1b", true, 0, 0 },
	{ "torchtitan-2026", "gpipe", true, 0, 0 },
	{ "megatron-lm", "interleaved", false, 0.01, 0.01 },
	{ "megatron-lm", "interleaved", true, 0.10, 0.05 },
	{ "torchtitan-2026", "looped-bfs", false, 0.01, 0.01 },
	{ "torchtitan-2026", "looped-bfs", true, 0.20, 0.05 },
	{ "megatron-seaai-fp16", "zb-h1", false, 0.02, 0.08 },
	{ "megatron-seaai-fp16", "zb-h2", false, 0.02, 0.08 },
	{ "megatron-seaai-fp16", "zb-2p", false, 0.02, 0.08 },
	{ "torchtitan-2026", "zb1p-interleaved", false, 0.01, 0.01 },
	{ "torchtitan-2026", "zb1p-interleaved", true, 0.12, 0.05 },
	{ "megatron-seaai-fp16", "zb-v", false, 0, 0.03 },
	{ "megatron-seaai-fp16", "zb-v", true, 0, 0.03 },
	{ "torchtitan-2026", "zb-v", true, 0, 0.03 },
	{ "megatron-seaai-fp16", "zb-v-sail", true, 0.15, 0.05 },
	{ "megatron-seaai-fp16", "1f1b-v", true, 0.2, 0.1 },
	{ "megatron-seaai-fp16", "v-half", true, 0.2, 0.1 },
	{ "megatron-seaai-fp16", "v-min", true, 0.2, 0.1 },
	{ "megatron-seaai-fp16", "dualpipe", false, 0, 0.02 },
	{ "megatron-seaai-fp16", "dualpipe", true, 0, 0.02 },
	{ "megatron-seaai-fp16", "dualpipev", false, 0, 0.02 },
	{ "megatron-seaai-fp16", "dualpipev", true, 0, 0.02 },
};

static bool random_plan(int family, uint64_t *state, struct draft *d, struct plan *p)
{
	static const char *const models[] = { "llama3-8b", "gpt3-175b", "llama3.1-405b", "mixtral-8x7b", "deepseek-v2-lite",
		"gemma2-2b" };
	const struct schedule_info *info = &schedule_table[schedule_of(families[family].schedule)];
	int64_t pp = INT64_C(2) << random_below(state, 4), v = info->v_max <= 2 ? info->v_max : 2 + random_below(state, 3);
	int64_t m = pp * (1 + random_below(state, 6)), chunks = pp * v, seq = INT64_C(1024) << random_below(state, 3);
	int64_t layers = chunks * (1 + random_below(state, 4));
	const char *model = models[random_below(state, 6)],
		   *recompute = !info->splits && random_below(state, 3) == 0 ? "full" : "none";
	char text[400];
	struct err e;

	if (families[family].uneven)
		layers += 1 + random_below(state, chunks - 1);
	(void)snprintf(text, sizeof text,
		"model=%s;layers=%lld;gpu=H100;profile=%s;gpus=%lld;pp=%lld;vpp=%lld;schedule=%s;global-batch=%lld;micro-batch=1;"
		"seq="
		"%lld;recompute=%s",
		model, (long long)layers, families[family].profile, (long long)pp, (long long)pp, (long long)v,
		families[family].schedule, (long long)m, (long long)seq, recompute);
	if (test_try_draft(d, text, &e) != ERR_OK)
		return false;
	draft_settle(d, test_catalog());
	return plan_evaluate(&d->s, p, &e) == ERR_OK && p->step.known;
}

enum { N_PLANS = 100 };

START_TEST(idle_time_of_random_plans_is_that_of_the_executor)
{
	uint64_t state = 77 + (uint64_t)_i;
	double lowest = 0, highest = 0;
	int plans = 0;

	for (int n = 0; n < N_PLANS; n++) {
		struct stage_costs c;
		struct draft d;
		struct plan p;
		double expected, error;

		if (!random_plan(_i, &state, &d, &p))
			continue;
		step_stage_costs(&d.s, &c);
		expected = executed_s(&p.pipeline, &c, d.s.profile.post_validation);
		error = (p.step.stage_max_s * (double)p.micro_batches + p.step.bubble_s) / expected - 1;
		plans++;
		lowest = fmin(lowest, error);
		highest = fmax(highest, error);
	}
	if (test_prints_table())
		printf("%-18s %s: %d plans, %+.2f to %+.2f %% from the executor\n", families[_i].schedule,
			families[_i].uneven ? "uneven" : "even", plans, 100 * lowest, 100 * highest);
	ck_assert_int_ge(plans, N_PLANS / 2);
	ck_assert_msg(lowest >= -families[_i].below - 1e-6 && highest <= families[_i].above + 1e-6, "%s: %+.2f to %+.2f %%",
		families[_i].schedule, 100 * lowest, 100 * highest);
}
END_TEST

/* Greedy orders on a V where forward, input and weight gradients differ and stages as well: within 3 % to 8 ranks, 20 %
 * beyond. The rank with most work bounds the estimate from below. */
START_TEST(orders_in_slots_follow_uneven_times)
{
	static const int32_t schedules[] = { SCHEDULE_1F1B_V, SCHEDULE_ZB_V_SAIL, SCHEDULE_V_HALF, SCHEDULE_V_MIN };
	static const double mixes[][3] = { { 1, 1, 1 }, { 1, 1.5, 0.7 }, { 1, 2, 1 }, { 1, 0.6, 1.4 }, { 1, 1.2, 0.4 } };
	double lowest[2] = { 0 }, highest[2] = { 0 };
	uint64_t state = 31 + (uint64_t)_i;
	struct draft d;

	test_draft(&d, "model=llama3-8b;gpu=H100;gpus=8;framework=megatron");
	for (int n = 0; n < 200; n++) {
		struct pipeline pl = { .schedule = schedules[_i], .p = 2 + random_below(&state, 15), .v = 2 };
		struct stage_costs c = { .n = (int32_t)(2 * pl.p) };
		const double *mix = mixes[n % 5];
		double error, expected;
		int far = pl.p > 8;

		pl.m = pl.p * (1 + random_below(&state, 6));
		for (int32_t k = 0; k < c.n; k++) {
			double size = 1e-3 * (1 + 0.1 * (double)random_below(&state, 5) + (k == c.n - 1 ? 0.4 : 0));

			c.stage[k] = (struct stage_cost){
				.dense = 1, .forward_s = size * mix[0], .input_s = size * mix[1], .weight_s = size * mix[2]
			};
		}
		expected = executed_s(&pl, &c, false);
		error = stepped_s(&d.s, &pl, &c) / expected - 1;
		lowest[far] = fmin(lowest[far], error);
		highest[far] = fmax(highest[far], error);
	}
	if (test_prints_table())
		printf("%-18s to 8 ranks %+.2f to %+.2f %%, beyond %+.2f to %+.2f %%\n", schedule_table[schedules[_i]].key,
			100 * lowest[0], 100 * highest[0], 100 * lowest[1], 100 * highest[1]);
	ck_assert_double_ge(lowest[0], -0.03);
	ck_assert_double_le(highest[0], 0.03);
	ck_assert_double_ge(lowest[1], -0.2);
	ck_assert_double_le(highest[1], 0.2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bubble");
	TCase *t = tcase_create("bubble");

	tcase_add_loop_test(t, formulas_hold_for_any_stages, 0, 4);
	tcase_add_loop_test(t, orders_in_slots_follow_uneven_times, 0, 4);
	tcase_add_loop_test(t, idle_time_of_random_plans_is_that_of_the_executor, 0, sizeof families / sizeof families[0]);
	suite_add_tcase(s, t);
	return test_run(s);
}
