/* How long the slowest rank waits for the others: the makespan of the pipeline's order, with what a micro-batch really costs on
 * every stage, less the rank's own work. Transfers are counted apart.
 *
 * The executor (sched_run.c) takes some 15 ns per action: too long for what every key press and every candidate of the search
 * evaluates. So:
 *   naive, gpipe, gpipe-lifo, 1f1b   formulas, exact for any stages
 *   zb-h1, zb-h2, zb-2p              a path formula: their orders are greedy, too dear to generate
 *   other closed-form orders         the executor, as far as its budget goes: whole rounds that do not fit count as the slowest
 *                                    rank's work; a pipeline of which not one round fits takes the closed form at the mean times
 *                                    of the ranks that are waited for
 *   greedy orders on a V             generated and run for some micro-batches, of which each further one takes as long as the
 *                                    last; more than RANKS_MOST ranks are folded
 * t_bubble compares all of them with the executor over random stages and plans, and holds the bounds. */
#include "num.h"
#include "step_internal.h"

#include <math.h>

/* Actions that are run at most, and the workspace for them: 7 us where chunks are alike and the closed form is within 1 %, 30 us
 * where they are not, 60 us for orders that split the backward, which no automatic choice tries. */
enum { ACTIONS_EVEN = 512, ACTIONS_UNEVEN = 2048, ACTIONS_SPLIT = 4096, WORKSPACE_WORDS = 8192 };
/* The executor's tick, and what a rank may take so that sums stay far from INT64_MAX. */
#define TICK_S 1e-12
#define LONGEST_S 100.0
/* Ticks of the longest part of a chunk in a closed form, and micro-batches per rank from which on no bubble grows. */
#define CHUNK_TICKS 1e12
#define ROUNDS_THAT_MATTER 4
/* Ranks of a greedy order that is generated (30 us at 4, up to 0.2 ms at 8, in which no automatic choice tries it), and slots of
 * a micro-batch in it. */
enum { RANKS_MOST = 8, SLOTS = 6 };

static double naive(const struct step_model *m, const struct stage_costs *c)
{
	double sum = 0;

	for (int32_t i = 0; i < c->n; i++)
		sum += step_cost_total(&c->stage[i]);
	return m->micro_batches * sum;
}

static double backward_s(const struct stage_cost *x)
{
	return x->input_s + x->weight_s;
}

static void add_share(struct stage_cost *sum, double share, const struct stage_cost *x)
{
	sum->forward_s += share * x->forward_s;
	sum->input_s += share * x->input_s;
	sum->weight_s += share * x->weight_s;
}

/* Forwards are a flow shop of equal jobs, backwards another one after it. */
static double gpipe(const struct step_model *m, const struct stage_costs *c)
{
	double sum = 0, most_forward = 0, most_backward = 0;

	for (int32_t i = 0; i < c->n; i++) {
		sum += step_cost_total(&c->stage[i]);
		most_forward = fmax(most_forward, c->stage[i].forward_s);
		most_backward = fmax(most_backward, backward_s(&c->stage[i]));
	}
	return sum + (m->micro_batches - 1) * (most_forward + most_backward);
}

/* Longest path through the order of 1F1B, w(k) = min(p - 1 - k, m - 1) forwards ahead on rank k. A path goes down to a rank D >=
 * k, either straight or with its w(D) warm-up forwards on the slowest rank it meets, comes back up to k, alternates F and B there
 * m - 1 - w(k) times, and leaves in the same way through the drain:
 *   max over k of  S(k) + (m - 1 - w(k)) t_k + fill(k) + drain(k),   S(k) = sum of t_0 ... t_k
 *   fill(k) = max over D >= k of  S(D) - S(k) + w(D) max(f_0 ... f_D)   drain(k) the same with b
 * A rank that never alternates (w = m - 1) has D = k alone. Two passes: sums on the way down, maxima on the way up. */
static double one_f_one_b(const struct step_model *m, const struct stage_costs *c)
{
	double sum[STAGE_LIST_MAX], slowest_f[STAGE_LIST_MAX], slowest_b[STAGE_LIST_MAX], best = 0, fill = 0, drain = 0,
											  m1 = m->micro_batches - 1;

	for (int32_t i = 0; i < c->n; i++) {
		double f = c->stage[i].forward_s, b = backward_s(&c->stage[i]);

		sum[i] = f + b + (i > 0 ? sum[i - 1] : 0);
		slowest_f[i] = i > 0 ? fmax(slowest_f[i - 1], f) : f;
		slowest_b[i] = i > 0 ? fmax(slowest_b[i - 1], b) : b;
	}
	for (int32_t k = c->n - 1; k >= 0; k--) {
		double ahead = fmin(c->n - 1 - k, m1);
		double own_fill = sum[k] + ahead * slowest_f[k], own_drain = sum[k] + ahead * slowest_b[k];
		bool alternates = c->n - 1 - k <= m1;

		fill = alternates ? fmax(fill, own_fill) : own_fill;
		drain = alternates ? fmax(drain, own_drain) : own_drain;
		best = fmax(best, (m1 - ahead) * step_cost_total(&c->stage[k]) + fill + drain - sum[k]);
	}
	return best;
}

/* The zero-bubble schedules on a loop: while others run F and I of the first and the last micro-batch, rank k runs the weight
 * gradients that it may put off: all of the chunks in flight that the schedule allows but one. Where the optimizer step waits for
 * all ranks, the skew of the first forwards counts too. Src: Qi 2023. */
static double zero_bubble(const struct step_model *m, const struct stage_costs *c)
{
	bool waits = !m->s->profile.post_validation;
	double path = 0, before = 0, best = 0, spare = (double)(pipeline_in_flight(&m->pipeline, 0) - 1);

	for (int32_t i = 0; i < c->n; i++)
		path += c->stage[i].forward_s + c->stage[i].input_s;
	for (int32_t i = 0; i < c->n; i++) {
		const struct stage_cost *x = &c->stage[i];
		double idle = path - x->forward_s - x->input_s - spare * x->weight_s;

		best = fmax(best, m->micro_batches * step_cost_total(x) + fmax(idle, waits ? before : 0));
		before += x->forward_s;
	}
	return best;
}

/* All chunks alike but for the first and the last, which hold the ends of the model. */
static bool is_even(const struct stage_costs *c)
{
	for (int32_t i = 2; i < c->n - 1; i++)
		if (fabs(c->stage[i].dense - c->stage[1].dense) + fabs(c->stage[i].moe - c->stage[1].moe) > 0)
			return false;
	return true;
}

static int64_t actions_most(const struct pipeline *pl, const struct stage_costs *c)
{
	if (schedule_table[pl->schedule].splits)
		return ACTIONS_SPLIT;
	return is_even(c) ? ACTIONS_EVEN : ACTIONS_UNEVEN;
}

/* The executor's makespan of the whole order (where the optimizer step does not wait for all ranks, the longest span of one); 0:
 * the workspace is too small. */
static double run_s(const struct step_model *m, const struct pipeline *pl, const struct stage_costs *c)
{
	int64_t forward[STAGE_LIST_MAX], input[STAGE_LIST_MAX], weight[STAGE_LIST_MAX], backward[STAGE_LIST_MAX];
	int64_t workspace[WORKSPACE_WORDS], bytes;
	struct schedule_times t = {
		.stage_forward = forward, .stage_input = input, .stage_weight = weight, .stage_backward = backward
	};
	struct schedule_result r;
	struct pipeline timed = *pl;

	bytes = schedule_workspace_bytes(pl);
	if (bytes < 0 || bytes > (int64_t)sizeof workspace)
		return 0;
	timed.costs = (struct order_costs){ 0 };
	for (int32_t i = 0; i < c->n; i++) {
		forward[i] = (int64_t)(c->stage[i].forward_s / TICK_S);
		input[i] = (int64_t)(c->stage[i].input_s / TICK_S);
		weight[i] = (int64_t)(c->stage[i].weight_s / TICK_S);
		backward[i] = input[i] + weight[i];
		/* Greedy orders plan with the mean. */
		timed.costs.forward += forward[i] / c->n;
		timed.costs.input += input[i] / c->n;
		timed.costs.weight += weight[i] / c->n;
	}
	if (schedule_run(&timed, &t, workspace, NULL, NULL, &r, NULL) != ERR_OK)
		return 0;
	return (double)(m->s->profile.post_validation ? r.max_span : r.makespan) * TICK_S;
}

/* The same of closed-form orders as far as the budget goes; 0: too many actions. */
static double executed(const struct step_model *m, const struct stage_costs *c, double slowest_s)
{
	struct pipeline few;
	double run;
	int64_t rest;

	if (!pipeline_shorten(&m->pipeline, actions_most(&m->pipeline, c), &few, &rest))
		return 0;
	run = run_s(m, &few, c);
	return run > 0 ? run + (double)rest * slowest_s : 0;
}

/* Greedy orders are generated and run for at most RANKS_MOST ranks. More are folded: neighbours become one rank that takes as
 * long as they do together on average. The order of the slots depends on p modulo 6; so does the number of ranks left. */
static int64_t ranks_left(int64_t p)
{
	int64_t left = p <= RANKS_MOST ? p : RANKS_MOST;

	while (left % SLOTS != p % SLOTS)
		left--;
	return left;
}

static void fold(const struct pipeline *pl, const struct stage_costs *c, const struct pipeline *few, struct stage_costs *out)
{
	int64_t p = pl->p, left = few->p;

	out->n = (int32_t)pipeline_stages(few);
	for (int64_t r = 0; r < left; r++) {
		int64_t first = r * p / left, end = num_ceil_div((r + 1) * p, left);
		double share = (double)p / (double)(left * (end - first));

		for (int64_t k = 0; k < pipeline_chunks_held(pl); k++) {
			struct stage_cost *to = &out->stage[pipeline_stage_of(few, r, k)];

			*to = (struct stage_cost){ 0 };
			for (int64_t i = first; i < end; i++)
				add_share(to, share, &c->stage[pipeline_stage_of(pl, i, k)]);
		}
	}
}

static double run_few_s(const struct step_model *m, const struct pipeline *pl, const struct stage_costs *c, int64_t micro_batches)
{
	struct pipeline few = *pl;

	few.m = micro_batches;
	return run_s(m, &few, c);
}

/* Greedy orders on a V, T(n) of n micro-batches: from some n on each takes x more, at least the slowest rank's work, which
 * zb-v-sail reaches; fewer are run as they are. Folded, T is interpolated, and the slowest rank is m times what it is slower than
 * the mean that it went into. 0: the workspace is too small. */
static double prefix_s(const struct step_model *m, const struct stage_costs *c, double slowest_s)
{
	const struct pipeline *pl = &m->pipeline;
	struct pipeline few = *pl;
	struct stage_costs folded;
	struct step_time slow = { 0 };
	bool filled = schedule_table[pl->schedule].zero_bubble;
	double n, whole, run, more = 0, shrink;
	int64_t steady;

	few.p = ranks_left(pl->p);
	steady = filled ? 2 * few.p : num_ceil_div(3 * few.p, 2) + 2;
	fold(pl, c, &few, &folded);
	step_find_slowest(&few, &folded, &slow);
	shrink = (double)few.p / (double)pl->p;
	n = fmax(1, (double)pl->m * shrink);
	whole = fmin(floor(n), (double)steady);
	run = run_few_s(m, &few, &folded, (int64_t)whole);
	if (run <= 0)
		return 0;
	if (n > whole && (!filled || n < (double)steady))
		more = run_few_s(m, &few, &folded, (int64_t)whole + 1) - run;
	if (n > (double)steady)
		more = fmax(more, slow.stage_max_s);
	return run + (n - whole) * more + (double)pl->m * fmax(0, slowest_s - shrink * fmax(more, slow.stage_max_s));
}

/* The bubble of the schedule's closed form where every chunk costs what the mean chunk of the ranks that are waited for does.
 * Src: sched_makespan.c. */
static double closed_bubble(const struct pipeline *pl, const struct stage_costs *c, int64_t slowest)
{
	struct stage_cost mean = { 0 }, own = step_rank_cost(pl, c, slowest);
	double chunks = (double)c->n / (double)pl->p, n = (double)c->n - chunks, unit;
	struct pipeline few = *pl;
	int64_t f, i, w, ticks;
	bool exact;

	for (int32_t k = 0; k < c->n; k++) {
		mean.forward_s += c->stage[k].forward_s / n;
		mean.input_s += c->stage[k].input_s / n;
		mean.weight_s += c->stage[k].weight_s / n;
	}
	mean.forward_s -= own.forward_s / n;
	mean.input_s -= own.input_s / n;
	mean.weight_s -= own.weight_s / n;
	unit = step_cost_total(&mean) / CHUNK_TICKS;
	if (unit <= 0)
		return 0;
	f = (int64_t)(mean.forward_s / unit);
	i = (int64_t)(mean.input_s / unit);
	w = (int64_t)(mean.weight_s / unit);
	few.group = 0;
	few.m = pl->m < ROUNDS_THAT_MATTER * pl->p ? pl->m : ROUNDS_THAT_MATTER * pl->p;
	ticks = pipeline_makespan(&few, f, i, w, 0, &exact) - few.m * (int64_t)chunks * (f + i + w);
	return fmax(0, (double)ticks * unit);
}

/* Whichever rank has most to do and to wait for. */
static double closed_makespan(const struct pipeline *pl, const struct stage_costs *c)
{
	double longest = 0;

	for (int64_t k = 0; k < pl->p; k++) {
		struct stage_cost own = step_rank_cost(pl, c, k);

		longest = fmax(longest, (double)pl->m * step_cost_total(&own) + closed_bubble(pl, c, k));
	}
	return longest;
}

/* Schedules that are not run. */
static double (*const formulas[SCHEDULE_COUNT])(const struct step_model *, const struct stage_costs *) = {
	[SCHEDULE_NAIVE] = naive,
	[SCHEDULE_GPIPE] = gpipe,
	[SCHEDULE_GPIPE_LIFO] = gpipe,
	[SCHEDULE_1F1B] = one_f_one_b,
	[SCHEDULE_ZB_H1] = zero_bubble,
	[SCHEDULE_ZB_H2] = zero_bubble,
	[SCHEDULE_ZB_2P] = zero_bubble,
};

/* 0: only the closed form is left. */
static double makespan_of(const struct step_model *m, const struct stage_costs *c, double slowest_s)
{
	int32_t schedule = m->pipeline.schedule;

	if (formulas[schedule] != NULL)
		return formulas[schedule](m, c);
	if (slowest_s > LONGEST_S)
		return 0;
	return schedule_table[schedule].greedy != NULL ? prefix_s(m, c, slowest_s) : executed(m, c, slowest_s);
}

double step_bubble(const struct step_model *m, const struct stage_costs *c, const struct step_time *out)
{
	double makespan;

	if (m->pipeline.p == 1)
		return 0;
	makespan = makespan_of(m, c, out->stage_max_s);
	if (makespan <= 0)
		makespan = closed_makespan(&m->pipeline, c);
	return fmax(0, makespan - m->micro_batches * out->stage_max_s);
}
