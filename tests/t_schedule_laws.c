/* Laws that hold for every schedule and shape: validity, bounds, monotony, closed forms, peaks, deadlocks, refusals. */
#include "schedule_fixture.h"

#include "sched_internal.h"

#include <math.h>

enum { RANDOM_SHAPES = 1000 };

/* Times of every stage, random, some 0. */
struct random_times {
	int64_t forward[STAGES], input[STAGES], weight[STAGES];
	struct schedule_times t;
};

static void fill_times(struct random_times *r, uint64_t *state, bool uniform)
{
	int64_t most = 1 + random_below(state, 20);

	for (int i = 0; i < STAGES; i++) {
		bool copy = uniform && i > 0;

		r->forward[i] = copy ? r->forward[0] : random_below(state, most);
		r->input[i] = copy ? r->input[0] : random_below(state, most);
		r->weight[i] = copy ? r->weight[0] : random_below(state, most);
	}
	r->t = (struct schedule_times){ .comm = random_below(state, 2) * random_below(state, 25),
		.stage_forward = r->forward,
		.stage_input = r->input,
		.stage_weight = r->weight,
		.overlap = random_below(state, 3) == 0 ? 1 + random_below(state, 30) : 0 };
}

struct watcher {
	const struct schedule_times *t;
	int64_t busy, actions;
};

static void watch(void *ctx, const struct timed_action *a)
{
	struct watcher *w = ctx;

	w->busy += timed_action_busy(a);
	w->actions++;
	ck_assert_int_ge(a->start, a->free_at);
	ck_assert(a->ready_at >= a->free_at && a->ready_at <= a->start);
	ck_assert((a->reason == IDLE_NONE) == (a->start == a->free_at));
	if (!a->action.overlap)
		ck_assert_int_eq(a->end - a->start, schedule_duration(w->t, a->action.kind, a->action.stage));
}

/* No micro-batch is through before its F and its gradients have gone all the way. */
static int64_t way(const struct pipeline *pl, const struct schedule_times *t)
{
	int64_t longest = 0;

	for (int64_t lane = 0; lane < 2; lane++) {
		int64_t sum = 0, micro_batch = lane * (pl->m - 1);

		for (int64_t s = 0; s < pipeline_stages(pl); s++) {
			bool hop = s > 0 && pipeline_rank_of(pl, s, micro_batch) != pipeline_rank_of(pl, s - 1, micro_batch);

			sum += schedule_duration(t, ACTION_FORWARD, s) + schedule_duration(t, ACTION_INPUT, s) +
				(hop ? 2 * t->comm : 0);
		}
		longest = num_max(longest, sum);
	}
	return longest;
}

/* Whether a time that grows makes the step shorter: never. */
static void check_monotone(struct held_order *h, struct random_times *r, uint64_t *state, int64_t makespan)
{
	int64_t *const arrays[] = { r->forward, r->input, r->weight };
	int64_t *one = &arrays[random_below(state, 3)][random_below(state, pipeline_stages(&h->o.pl))],
		more = 1 + random_below(state, 9);

	*one += more;
	ck_assert_int_ge(order_time(h, &r->t, NULL, NULL, NULL).makespan, makespan);
	*one -= more;
	r->t.comm += more;
	ck_assert_int_ge(order_time(h, &r->t, NULL, NULL, NULL).makespan, makespan);
	r->t.comm -= more;
}

static void check_critical(struct held_order *h, const struct schedule_times *t, int64_t makespan)
{
	void *workspace = malloc((size_t)order_critical_bytes(&h->o));
	struct critical_path path;
	struct err e;

	ck_assert_msg(order_critical(&h->o, t, workspace, NULL, NULL, &path, &e) == ERR_OK, "%s", e.msg);
	ck_assert_msg(path.busy + path.comm == makespan, "%s: path %lld + %lld of %lld", shape_text(&h->o.pl),
		(long long)path.busy, (long long)path.comm, (long long)makespan);
	ck_assert_int_eq(path.comm, path.comm_hops * t->comm);
	free(workspace);
}

static void check_shape(const struct pipeline *pl, uint64_t *state)
{
	struct random_times r;
	struct held_order h;
	struct schedule_result x;
	struct watcher w = { .t = &r.t };
	struct err e;
	void *scratch = malloc((size_t)order_check_bytes(pl) + 1);
	struct rank_result ranks[RANKS];
	int64_t idle = 0;

	fill_times(&r, state, random_below(state, 4) == 0);
	order_open(&h, pl);
	ck_assert_msg(order_check(&h.o, scratch, &e) == ERR_OK, "%s: %s", shape_text(pl), e.msg);
	x = order_time(&h, &r.t, watch, &w, ranks);
	ck_assert_int_eq(w.actions, pipeline_actions(pl));
	ck_assert_int_eq(w.busy, x.total_busy);
	ck_assert_int_ge(x.makespan, x.max_busy);
	ck_assert(r.t.overlap > 0 || x.makespan >= way(pl, &r.t));
	for (int i = 0; i < IDLE_REASON_COUNT; i++)
		idle += x.idle[i];
	ck_assert_int_eq(idle, pl->p * x.makespan - x.total_busy);
	for (int64_t rank = 0; rank < pl->p; rank++) {
		idle = 0;
		for (int i = 0; i < IDLE_REASON_COUNT; i++) {
			x.idle[i] -= ranks[rank].idle[i];
			idle += ranks[rank].idle[i];
		}
		ck_assert_int_eq(idle, x.makespan - ranks[rank].busy);
	}
	for (int i = 0; i < IDLE_REASON_COUNT; i++)
		ck_assert_int_eq(x.idle[i], 0);
	check_monotone(&h, &r, state, x.makespan);
	check_critical(&h, &r.t, x.makespan);
	order_close(&h);
	free(scratch);
}

START_TEST(random_shapes_and_times_obey_the_laws)
{
	uint64_t state = 4711;

	for (int64_t i = 0; i < test_rounds(RANDOM_SHAPES); i++) {
		struct pipeline pl = random_pipeline(&state, 9);

		check_shape(&pl, &state);
	}
}
END_TEST

/* Calls f for every legal pipeline up to p 8, m 20, v 4 and every legal group. */
static int each_pipeline(bool greedy, void (*f)(const struct pipeline *))
{
	int n = 0;

	for (int32_t s = 0; s < SCHEDULE_COUNT; s++)
		for (int64_t p = 1; p <= 8 && (greedy || schedule_table[s].greedy == NULL); p++)
			for (int64_t m = 1; m <= 20; m++)
				for (int64_t v = 1; v <= 4; v++)
					for (int64_t g = 0; g <= (schedule_table[s].has_groups ? m : 0); g++) {
						struct pipeline pl = { .schedule = s, .p = p, .m = m, .v = v, .group = g };

						if (pipeline_check(&pl, NULL) != ERR_OK)
							continue;
						f(&pl);
						n++;
					}
	return n;
}

static void check_runs(const struct pipeline *pl)
{
	struct schedule_times t = { .forward = 3, .input = 4, .weight = 2, .comm = 1 };
	struct held_order h;

	order_open(&h, pl);
	(void)order_time(&h, &t, NULL, NULL, NULL);
	order_close(&h);
}

START_TEST(every_legal_shape_runs)
{
	ck_assert_int_gt(each_pipeline(true, check_runs), 5000);
}
END_TEST

/* Replays the list of a rank. The peak: most whole ones, of several such instants that with most pending, the first. */
struct replay {
	const struct pipeline *pl;
	int64_t rank, whole[8], pending[8], whole_sum, pending_sum;
	int64_t at_whole[8], at_pending[8], at_whole_sum, at_pending_sum;
	double weighs, most; /* by unequal_weights */
};

static const struct chunk_weight unequal_weights[8] = { { 5, 3 }, { 8, 9 }, { 6, 1 }, { 7, 4 } };

static void replay_action(void *ctx, const struct action *a)
{
	struct replay *r = ctx;
	int64_t k = pipeline_chunk_at(r->pl, r->rank, a->stage);
	static const int64_t whole_step[] = { 1, -1, -1, 0 }, pending_step[] = { 0, 0, 1, -1 };

	r->whole[k] += whole_step[a->kind];
	r->whole_sum += whole_step[a->kind];
	r->pending[k] += pending_step[a->kind];
	r->pending_sum += pending_step[a->kind];
	r->weighs += (double)whole_step[a->kind] * unequal_weights[k].whole +
		(double)pending_step[a->kind] * unequal_weights[k].pending;
	r->most = fmax(r->most, r->weighs);
	if (r->whole_sum > r->at_whole_sum || (r->whole_sum == r->at_whole_sum && r->pending_sum > r->at_pending_sum)) {
		memcpy(r->at_whole, r->whole, sizeof r->whole);
		memcpy(r->at_pending, r->pending, sizeof r->pending);
		r->at_whole_sum = r->whole_sum;
		r->at_pending_sum = r->pending_sum;
	}
}

static void check_peaks(const struct pipeline *pl)
{
	struct order o = { .pl = *pl };

	if (!pipeline_is_exact(pl))
		return;
	for (int64_t rank = 0; rank < pl->p; rank++) {
		struct replay r = { .pl = pl, .rank = rank };
		struct order_peaks peaks = order_peaks(&o, rank);
		struct chunk_peak held[8];
		int64_t whole = 0, pending = 0;
		double weighs = 0;

		order_each(&o, rank, replay_action, &r);
		pipeline_peak(pl, rank, NULL, held);
		for (int64_t k = 0; k < pipeline_chunks_held(pl); k++) {
			struct chunk_peak c = held[k];

			ck_assert_msg(c.whole == r.at_whole[k] && c.pending == r.at_pending[k],
				"%s: rank %lld chunk %lld: %lld + %lld, really %lld + %lld", shape_text(pl), (long long)rank,
				(long long)k, (long long)c.whole, (long long)c.pending, (long long)r.at_whole[k],
				(long long)r.at_pending[k]);
			whole += c.whole;
			pending += c.pending;
		}
		ck_assert_int_eq(whole, peaks.at_input);
		ck_assert_int_eq(whole + pending, pipeline_in_flight(pl, rank));
		pipeline_peak(pl, rank, unequal_weights, held);
		for (int64_t k = 0; k < pipeline_chunks_held(pl); k++)
			weighs += (double)held[k].whole * unequal_weights[k].whole +
				(double)held[k].pending * unequal_weights[k].pending;
		ck_assert_msg(weighs >= r.most && weighs <= r.most, "%s: rank %lld weighs %g, really %g", shape_text(pl),
			(long long)rank, weighs, r.most);
		ck_assert_int_le(whole + pending, peaks.at_weight);
	}
}

START_TEST(peaks_equal_a_replay_of_the_order)
{
	ck_assert_int_gt(each_pipeline(false, check_peaks), 4000);
}
END_TEST

static void check_closed(const struct pipeline *pl)
{
	static const int64_t times[][4] = { { 1, 1, 1, 0 }, { 10, 12, 9, 0 }, { 7, 3, 2, 0 }, { 2, 2, 1, 0 }, { 5, 5, 5, 2 },
		{ 10, 12, 9, 40 }, { 3, 0, 1, 7 } };
	struct held_order h;

	order_open(&h, pl);
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		const int64_t *x = times[i];
		struct schedule_times t = { .forward = x[0], .input = x[1], .weight = x[2], .comm = x[3] };
		bool exact;
		int64_t stated = pipeline_makespan(pl, x[0], x[1], x[2], x[3], &exact), real;

		if (!exact)
			continue;
		real = order_time(&h, &t, NULL, NULL, NULL).makespan;
		ck_assert_msg(stated == real, "%s, times %lld %lld %lld %lld: stated %lld, really %lld", shape_text(pl),
			(long long)x[0], (long long)x[1], (long long)x[2], (long long)x[3], (long long)stated, (long long)real);
	}
	order_close(&h);
}

START_TEST(makespans_that_are_called_exact_are)
{
	ck_assert_int_gt(each_pipeline(false, check_closed), 4000);
}
END_TEST

/* A row needs no makespan of its own: short orders are run, long ones are close, whatever does not fit has the bubble of 1F1B. */
START_TEST(orders_without_a_formula_are_run)
{
	int exacts = 0;

	for (int32_t schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
		for (int64_t m = 16;
			m <= 4096 && schedule_table[schedule].program != NULL && schedule_table[schedule].makespan != NULL;
			m *= 16) {
			struct pipeline pl = { .schedule = schedule, .p = 8, .m = m, .v = schedule_table[schedule].v_min };
			bool exact, stated;
			int64_t run = makespan_run(&pl, 2, 2, 2, 0, &exact), want = pipeline_makespan(&pl, 2, 2, 2, 0, &stated);

			exacts += exact;
			ck_assert(stated && (!exact || run == want));
			ck_assert_msg(schedule == SCHEDULE_NAIVE || fabs((double)run / (double)want - 1) < 0.15,
				"%s: %lld, really %lld", shape_text(&pl), (long long)run, (long long)want);
			pl.p = 4096;
			if (pipeline_check(&pl, NULL) == ERR_OK)
				ck_assert_int_eq(makespan_run(&pl, 2, 2, 2, 1, &exact), (m * pl.v + 4095) * 6 + 2 * 4095);
		}
	ck_assert_int_ge(exacts, 7);
}
END_TEST

/* Largest deviation of the stated figures at F = I = W from the exact order, per schedule. */
static const struct {
	int32_t schedule;
	double makespan_percent;
	double in_flight_percent; /* of the fullest rank, released at W */
} stated_bounds[] = {
	{ SCHEDULE_1F1B_V, 3, 30 },
	{ SCHEDULE_ZB_H1, 0.5, 1 },
	{ SCHEDULE_ZB_H2, 0.5, 1 },
	{ SCHEDULE_ZB_2P, 0.5, 1 },
	{ SCHEDULE_ZB_V_SAIL, 0.5, 1 },
	{ SCHEDULE_V_HALF, 3, 1 },
	{ SCHEDULE_V_MIN, 1, 15 },
	{ SCHEDULE_ZB_V, 0.5, 1 },
	{ SCHEDULE_DUALPIPE, 1, 1 },
	{ SCHEDULE_DUALPIPEV, 1, 1 },
};

START_TEST(stated_figures_are_close_to_the_order)
{
	static const int64_t ps[] = { 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16 };

	for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++)
		for (int64_t f = 2; f <= 6; f += 2) {
			struct pipeline pl = { .schedule = stated_bounds[_i].schedule, .p = ps[i], .m = f * ps[i] };
			struct schedule_times t = { .forward = 1, .input = 1, .weight = 1 };
			struct held_order h;
			int64_t stated, real, most = 0, most_stated = 0;
			bool exact;

			pl.v = schedule_table[pl.schedule].v_min;
			if (pipeline_check(&pl, NULL) != ERR_OK)
				continue;
			order_open(&h, &pl);
			stated = pipeline_makespan(&pl, 1, 1, 1, 0, &exact);
			real = order_time(&h, &t, NULL, NULL, NULL).makespan;
			for (int64_t rank = 0; rank < pl.p; rank++) {
				most = num_max(most, order_peaks(&h.o, rank).at_weight);
				most_stated = num_max(most_stated, pipeline_in_flight(&pl, rank));
			}
			if (test_prints_table())
				printf("%s: makespan %lld stated %lld; in flight %lld stated %lld\n", shape_text(&pl),
					(long long)real, (long long)stated, (long long)most, (long long)most_stated);
			ck_assert_msg(fabs((double)stated / (double)real - 1) * 100 <= stated_bounds[_i].makespan_percent,
				"%s: makespan %lld, stated %lld", shape_text(&pl), (long long)real, (long long)stated);
			ck_assert_msg(fabs((double)most_stated / (double)most - 1) * 100 <= stated_bounds[_i].in_flight_percent,
				"%s: in flight %lld, stated %lld", shape_text(&pl), (long long)most, (long long)most_stated);
			order_close(&h);
		}
}
END_TEST

/* Interleaved lists whose last group is shorter than p, and groups smaller than p, deadlock; the executor names who waits for
 * what. */
START_TEST(shapes_that_deadlock_are_refused_and_explained)
{
	static const struct pipeline shapes[] = {
		{ .schedule = SCHEDULE_INTERLEAVED, .p = 4, .m = 5, .v = 3 },
		{ .schedule = SCHEDULE_INTERLEAVED, .p = 4, .m = 9, .v = 3 },
		{ .schedule = SCHEDULE_INTERLEAVED, .p = 4, .m = 13, .v = 3 },
		{ .schedule = SCHEDULE_INTERLEAVED, .p = 8, .m = 10, .v = 2 },
		{ .schedule = SCHEDULE_INTERLEAVED, .p = 8, .m = 21, .v = 2 },
		{ .schedule = SCHEDULE_INTERLEAVED, .p = 4, .m = 8, .v = 2, .group = 2 },
	};
	const struct pipeline *pl = &shapes[_i];
	struct order o = { .pl = *pl };
	struct schedule_times t = { .forward = 1, .backward = 2 };
	struct schedule_result x;
	struct err e;
	void *workspace = malloc((size_t)order_run_bytes(&o));

	ck_assert(pipeline_check(pl, &e) == ERR_ILLEGAL);
	ck_assert_str_eq(e.where, pl->group > 0 ? "group" : "micro-batch");
	ck_assert(order_run(&o, &t, workspace, NULL, NULL, NULL, &x, &e) == ERR_ILLEGAL);
	ck_assert_ptr_nonnull(strstr(e.msg, "deadlock: rank 0 at "));
	ck_assert_ptr_nonnull(strstr(e.msg, " waits for "));
	ck_assert_ptr_nonnull(strstr(e.msg, " of rank "));
	free(workspace);
}
END_TEST

START_TEST(shapes_that_make_no_sense_are_refused)
{
	static const struct {
		struct pipeline pl;
		const char *where, *reason;
	} bad[] = {
		{ { .schedule = SCHEDULE_1F1B, .p = 0, .m = 1, .v = 1 }, "pp", "1 .. 65536" },
		{ { .schedule = SCHEDULE_1F1B, .p = 2, .m = 0, .v = 1 }, "microbatches", "1 .. 16777216" },
		{ { .schedule = SCHEDULE_1F1B, .p = 2, .m = -4, .v = 1 }, "microbatches", "1 .. 16777216" },
		{ { .schedule = SCHEDULE_INTERLEAVED, .p = 2, .m = 4, .v = 0 }, "vpp", "1 .. 1024" },
		{ { .schedule = SCHEDULE_INTERLEAVED, .p = 2, .m = 4, .v = 1 }, "vpp", "at least 2" },
		{ { .schedule = SCHEDULE_GPIPE, .p = 2, .m = 4, .v = 2 }, "vpp", "one chunk per rank" },
		{ { .schedule = SCHEDULE_INTERLEAVED, .p = 4, .m = 10, .v = 2 }, "micro-batch", "--group 5" },
		{ { .schedule = SCHEDULE_INTERLEAVED, .p = 4, .m = 9, .v = 2, .group = 3 }, "group", "cannot keep 4 ranks busy" },
		{ { .schedule = SCHEDULE_1F1B, .p = 65536, .m = 16777216, .v = 1 }, "microbatches", "2147483647" },
		{ { .schedule = SCHEDULE_1F1B, .p = INT64_MAX, .m = 1, .v = 1 }, "pp", "1 .. 65536" },
		{ { .schedule = SCHEDULE_ZB_V, .p = 4, .m = 8, .v = 1 }, "vpp", "two legs" },
		{ { .schedule = SCHEDULE_V_MIN, .p = 4, .m = 8, .v = 3 }, "vpp", "two legs" },
		{ { .schedule = SCHEDULE_ZB_H1, .p = 4, .m = 8, .v = 2 }, "vpp", "one chunk per rank" },
		{ { .schedule = SCHEDULE_DUALPIPE, .p = 3, .m = 8, .v = 1 }, "pp", "even numbers" },
		{ { .schedule = SCHEDULE_DUALPIPE, .p = 4, .m = 9, .v = 1 }, "micro-batch", "even numbers of at least 8" },
		{ { .schedule = SCHEDULE_DUALPIPE, .p = 4, .m = 6, .v = 1 }, "micro-batch", "at least 2 pp = 8" },
		{ { .schedule = SCHEDULE_DUALPIPEV, .p = 4, .m = 7, .v = 2 }, "micro-batch", "at least 2 pp = 8" },
		{ { .schedule = SCHEDULE_ZB1P_INTERLEAVED, .p = 4, .m = 9, .v = 2 }, "micro-batch", "--group 5" },
	};
	struct err e = { .code = ERR_OK };

	ck_assert_msg(pipeline_check(&bad[_i].pl, &e) != ERR_OK, "%s", shape_text(&bad[_i].pl));
	ck_assert_str_eq(e.where, bad[_i].where);
	ck_assert_msg(strstr(e.msg, bad[_i].reason) != NULL, "%s", e.msg);
}
END_TEST

START_TEST(times_that_cannot_be_added_up_are_refused)
{
	static const struct schedule_times bad[] = {
		{ .forward = INT64_MAX / 3, .backward = 1 },
		{ .forward = -1, .backward = 1 },
		{ .forward = 1, .backward = 1, .comm = -1 },
		{ .forward = 1, .backward = 1, .overlap = -5 },
		{ .forward = 1, .backward = 1, .comm = INT64_MAX / 8 },
	};
	struct pipeline pl = { .schedule = SCHEDULE_1F1B, .p = 4, .m = 1000, .v = 1 };
	struct schedule_result x;
	struct err e;
	void *workspace = malloc((size_t)schedule_workspace_bytes(&pl));

	ck_assert(schedule_run(&pl, &bad[_i], workspace, NULL, NULL, &x, &e) == ERR_RANGE);
	free(workspace);
}
END_TEST

START_TEST(costs_that_cannot_be_added_up_are_refused)
{
	static const struct order_costs bad[] = { { INT64_MAX / 4, 1, 1, 0 }, { 1, -1, 1, 0 }, { 1, 1, 1, INT64_MAX } };
	static const int32_t greedy[] = { SCHEDULE_ZB_H1, SCHEDULE_ZB_V_SAIL };
	struct pipeline pl = { .schedule = greedy[_i % 2], .p = 2, .m = 4, .v = 1 + _i % 2, .costs = bad[_i / 2] };
	struct order o;
	struct err e;
	void *workspace = malloc((size_t)order_workspace_bytes(&pl));

	ck_assert(order_generate(&pl, workspace, &o, &e) == ERR_RANGE);
	ck_assert_str_eq(e.where, "order-times");
	free(workspace);
}
END_TEST

/* All schedules on one model: p 4, m 8, F = I = W = 12 per rank; timed outside of this program. */
START_TEST(the_comparison_of_all_schedules)
{
	static const struct {
		int32_t schedule;
		double makespan, peak;
	} rows[] = {
		{ SCHEDULE_NAIVE, 1152, 1 },
		{ SCHEDULE_GPIPE, 396, 8 },
		{ SCHEDULE_1F1B, 396, 4 },
		{ SCHEDULE_INTERLEAVED, 342, 5.5 },
		{ SCHEDULE_LOOPED_BFS, 342, 8 },
		{ SCHEDULE_ZB_H1, 324, 4 },
		{ SCHEDULE_ZB1P_INTERLEAVED, 306, 4 },
		{ SCHEDULE_ZB_H2, 324, 7 },
		{ SCHEDULE_ZB_V, 306, 4 },
		{ SCHEDULE_V_HALF, 318, 3 },
		{ SCHEDULE_V_MIN, 354, 2 },
		{ SCHEDULE_DUALPIPE, 312, 5 },
		{ SCHEDULE_DUALPIPEV, 324, 4.5 },
	};
	struct pipeline base = { .schedule = SCHEDULE_1F1B, .p = 4, .m = 8, .v = 1 };
	struct compared_times t = { .t = { .forward = 12, .input = 12, .weight = 12 } };
	struct schedule_comparison c;
	struct err e;
	void *workspace = malloc((size_t)schedule_compare_bytes(rows[_i].schedule, &base));

	ck_assert_msg(schedule_compare(rows[_i].schedule, &base, &t, workspace, &c, &e) == ERR_OK, "%s", e.msg);
	ck_assert(c.why.code == ERR_OK);
	ck_assert_double_eq_tol((double)c.result.makespan / (double)c.scale, rows[_i].makespan, 1e-9);
	ck_assert_double_eq_tol(c.peak_micro_batches, rows[_i].peak, 1e-9);
	free(workspace);
	base.m = 3;
	ck_assert(schedule_compare(SCHEDULE_DUALPIPE, &base, &t, NULL, &c, &e) == ERR_OK);
	ck_assert(c.why.code == ERR_ILLEGAL && c.why.msg[0] != '\0');
}
END_TEST

/* Eight parts: of a schedule with four stages each takes the sum of two neighbours, whatever the two are; one with eight takes
 * them as they are; one with twelve cannot. */
START_TEST(the_comparison_takes_times_of_parts)
{
	static const int64_t parts[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, sums[] = { 3, 7, 11, 15 };
	static const struct {
		int32_t schedule;
		const int64_t *stages;
	} rows[] = { { SCHEDULE_1F1B, sums }, { SCHEDULE_ZB_H2, sums }, { SCHEDULE_DUALPIPE, sums }, { SCHEDULE_ZB_V, parts },
		{ SCHEDULE_V_HALF, parts } };
	struct compared_times t = { .t = { .stage_forward = parts, .stage_input = parts, .stage_weight = parts, .comm = 2 },
		.parts = 8 };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct pipeline base = { .schedule = SCHEDULE_1F1B, .p = 4, .m = 8, .v = 1 };
		struct schedule_times own = {
			.stage_forward = rows[i].stages, .stage_input = rows[i].stages, .stage_weight = rows[i].stages, .comm = 2
		};
		void *workspace = malloc((size_t)schedule_compare_bytes(rows[i].schedule, &base));
		struct schedule_comparison c;
		struct held_order h;
		struct err e;

		ck_assert_msg(schedule_compare(rows[i].schedule, &base, &t, workspace, &c, &e) == ERR_OK, "%s", e.msg);
		order_open(&h, &c.pl);
		ck_assert_int_eq(c.result.makespan, c.scale * order_time(&h, &own, NULL, NULL, NULL).makespan);
		order_close(&h);
		free(workspace);
		base.v = 3;
		workspace = malloc((size_t)schedule_compare_bytes(SCHEDULE_LOOPED_BFS, &base));
		ck_assert(schedule_compare(SCHEDULE_LOOPED_BFS, &base, &t, workspace, &c, &e) == ERR_OK);
		ck_assert_ptr_nonnull(strstr(c.why.msg, "12 stages; times of 8"));
		free(workspace);
	}
}
END_TEST

/* In slices of any size the list is the same, and the share only grows. Costs of several kinds, with and without a bubble. */
START_TEST(an_order_made_in_slices_is_the_same)
{
	static const struct order_costs costs[] = { { 0 }, { 10, 12, 9, 1 }, { 3, 0, 2, 5 }, { 1, 30, 2, 0 } };
	static const int64_t shapes[][2] = { { 1, 1 }, { 1, 5 }, { 2, 1 }, { 3, 4 }, { 4, 24 }, { 7, 3 }, { 8, 40 } };
	const size_t n_shapes = sizeof shapes / sizeof shapes[0];
	uint64_t state = 7;

	for (size_t i = 0; i < 4 * n_shapes && schedule_table[_i].greedy != NULL; i++) {
		struct pipeline pl = { .schedule = _i,
			.p = shapes[i % n_shapes][0],
			.m = shapes[i % n_shapes][1],
			.v = schedule_table[_i].v_min,
			.costs = costs[i / n_shapes] };
		void *workspace = malloc((size_t)order_workspace_bytes(&pl));
		struct order_build b;
		struct held_order h;
		struct err e;
		double share = 0;
		int64_t slices = 0;

		ck_assert_msg(order_begin(&pl, workspace, &b, &e) == ERR_OK, "%s", e.msg);
		for (; !order_step(&b, 1 + random_below(&state, 200)); slices++) {
			ck_assert(order_share(&b) >= share && order_share(&b) <= 1);
			share = order_share(&b);
		}
		ck_assert(order_share(&b) >= 1 && order_step(&b, 1));
		ck_assert(slices > 3 || pl.p * pl.m < 100);
		order_open(&h, &pl);
		ck_assert_mem_eq(b.order.first, h.o.first, (size_t)(pl.p + 1) * sizeof *h.o.first);
		for (int64_t rank = 0; rank < pl.p; rank++)
			for (int64_t k = 0; k < order_count(&h.o, rank); k++) {
				struct action x = order_at(&h.o, rank, k), y = order_at(&b.order, rank, k);

				ck_assert(x.kind == y.kind && x.stage == y.stage && x.micro_batch == y.micro_batch);
			}
		order_close(&h);
		free(workspace);
	}
}
END_TEST

START_TEST(every_row_of_the_table_is_complete)
{
	const struct schedule_info *info = &schedule_table[_i];

	ck_assert(info->key != NULL && info->label != NULL && info->help != NULL && info->cite != NULL && info->rule != NULL);
	ck_assert(info->peak_formula != NULL && info->makespan_formula != NULL);
	ck_assert((info->program == NULL) == (info->greedy != NULL));
	ck_assert(info->greedy == NULL || (info->makespan != NULL && info->peak != NULL));
	ck_assert(info->v_min >= 1 && info->v_max >= info->v_min);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schedule_laws");
	TCase *t = tcase_create("laws"), *rows = tcase_create("rows");

	tcase_add_test(t, random_shapes_and_times_obey_the_laws);
	tcase_add_test(t, every_legal_shape_runs);
	tcase_add_test(t, peaks_equal_a_replay_of_the_order);
	tcase_add_test(t, orders_without_a_formula_are_run);
	tcase_add_test(t, makespans_that_are_called_exact_are);
	tcase_add_loop_test(t, stated_figures_are_close_to_the_order, 0, sizeof stated_bounds / sizeof stated_bounds[0]);
	tcase_add_loop_test(rows, shapes_that_deadlock_are_refused_and_explained, 0, 6);
	tcase_add_loop_test(rows, shapes_that_make_no_sense_are_refused, 0, 18);
	tcase_add_loop_test(rows, times_that_cannot_be_added_up_are_refused, 0, 5);
	tcase_add_loop_test(rows, costs_that_cannot_be_added_up_are_refused, 0, 6);
	tcase_add_loop_test(rows, the_comparison_of_all_schedules, 0, 13);
	tcase_add_test(rows, the_comparison_takes_times_of_parts);
	tcase_add_loop_test(rows, an_order_made_in_slices_is_the_same, 0, SCHEDULE_COUNT);
	tcase_add_loop_test(rows, every_row_of_the_table_is_complete, 0, SCHEDULE_COUNT);
	suite_add_tcase(s, t);
	suite_add_tcase(s, rows);
	return test_run(s);
}
