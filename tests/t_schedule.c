/* Generators against the orders of the original code, the executor against times computed elsewhere, closed forms against both. */
#include "support.h"

#include "num.h"
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 64, STAGES = 256 };

static int32_t schedule_of(const char *key)
{
	for (int32_t i = 0; i < SCHEDULE_COUNT; i++)
		if (strcmp(schedule_table[i].key, key) == 0)
			return i;
	ck_abort_msg("no schedule %s", key);
	return -1;
}

static struct pipeline pipeline_of(const struct csv *c)
{
	return (struct pipeline){ .schedule = schedule_of(csv_text(c, "schedule")), .p = csv_int(c, "p"), .m = csv_int(c, "m"), .v = csv_int(c, "v"),
		.group = csv_int(c, "group") };
}

/* What the executor emitted, per rank. */
struct recorder {
	int64_t busy[RANKS], end[RANKS];
	int64_t rank; /* whose actions go to text */
	char text[8192];
	size_t len;
};

static void record(void *ctx, const struct timed_action *a)
{
	struct recorder *r = ctx;
	char name[32];

	r->busy[a->rank] += a->end - a->start;
	r->end[a->rank] = a->end;
	if (a->rank != r->rank)
		return;
	r->len += (size_t)snprintf(r->text + r->len, sizeof r->text - r->len, "%s%lld-%lld:%s", r->len > 0 ? " " : "", (long long)a->start,
		(long long)a->end, action_format(&a->action, name, sizeof name));
	ck_assert_uint_lt(r->len, sizeof r->text);
}

static struct schedule_result run(const struct pipeline *pl, const struct schedule_times *t, struct recorder *r)
{
	void *workspace = malloc((size_t)schedule_workspace_bytes(pl));
	struct schedule_result out;
	struct err e;
	enum err_code code;

	ck_assert_ptr_nonnull(workspace);
	code = schedule_run(pl, t, workspace, r != NULL ? record : NULL, r, &out, &e);
	free(workspace);
	ck_assert_msg(code == ERR_OK, "%s p %lld m %lld v %lld g %lld: %s", schedule_table[pl->schedule].key, (long long)pl->p, (long long)pl->m,
		(long long)pl->v, (long long)pl->group, e.msg);
	return out;
}

/* "3 17 4": numbers of a field, returns how many. */
static int64_t numbers(const char *text, int64_t *out, int64_t cap)
{
	int64_t n = 0;
	char *end;

	for (const char *p = text; *p != '\0' && n < cap; p = end) {
		out[n++] = strtoll(p, &end, 10);
		ck_assert(end != p);
		end += strspn(end, " ");
	}
	return n;
}

START_TEST(orders_equal_the_original_code_action_for_action)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_orders.csv");
	for (; csv_next(&c); rows++) {
		struct pipeline pl = pipeline_of(&c);
		const struct schedule_info *info = &schedule_table[pl.schedule];
		int64_t rank = csv_int(&c, "rank"), n = info->count(&pl, rank);
		char text[8192] = "", name[32];
		size_t len = 0;

		for (int64_t i = 0; i < n; i++) {
			struct action a = info->at(&pl, rank, i);

			len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? " " : "", action_format(&a, name, sizeof name));
			ck_assert_uint_lt(len, sizeof text);
		}
		ck_assert_msg(strcmp(text, csv_text(&c, "actions")) == 0, "line %d: ours is %s", c.line, text);
	}
	ck_assert_int_eq(rows, 232);
}
END_TEST

static void check_ranks(const struct csv *c, const char *column, const int64_t *ours, int64_t n)
{
	int64_t theirs[RANKS];

	ck_assert_int_eq(numbers(csv_text(c, column), theirs, RANKS), n);
	for (int64_t i = 0; i < n; i++)
		ck_assert_msg(ours[i] == theirs[i], "line %d: %s of rank %lld is %lld", c->line, column, (long long)i, (long long)ours[i]);
}

START_TEST(executor_equals_published_times_to_the_tick)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_bubble.csv");
	for (; csv_next(&c); rows++) {
		struct pipeline pl = pipeline_of(&c);
		struct schedule_times t = { .forward = csv_int(&c, "forward"), .backward = csv_int(&c, "backward"), .comm = csv_int(&c, "comm") };
		struct recorder r = { .rank = -1 };
		struct schedule_result x = run(&pl, &t, &r);
		int64_t idle[RANKS], in_flight[RANKS];

		for (int64_t i = 0; i < pl.p; i++) {
			idle[i] = x.makespan - r.busy[i];
			in_flight[i] = pipeline_in_flight(&pl, i);
		}
		ck_assert_msg(x.makespan == csv_int(&c, "makespan"), "line %d: makespan %lld", c.line, (long long)x.makespan);
		ck_assert_msg(x.span_bubble == csv_int(&c, "span_bubble"), "line %d: span bubble %lld", c.line, (long long)x.span_bubble);
		ck_assert_double_eq_tol(x.bubble_of_step, csv_real(&c, "bubble_of_step"), 1e-9);
		ck_assert_double_eq_tol(x.bubble_over_ideal, csv_real(&c, "bubble_over_ideal"), 1e-9);
		check_ranks(&c, "busy", r.busy, pl.p);
		check_ranks(&c, "idle", idle, pl.p);
		check_ranks(&c, "in_flight", in_flight, pl.p);
	}
	ck_assert_int_eq(rows, 236);
}
END_TEST

START_TEST(executor_equals_published_times_of_unequal_stages)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_nonuniform.csv");
	for (; csv_next(&c); rows++) {
		struct pipeline pl = pipeline_of(&c);
		int64_t forward[STAGES], backward[STAGES], idle[RANKS];
		struct schedule_times t = { .comm = csv_int(&c, "comm"), .stage_forward = forward, .stage_backward = backward };
		struct recorder r = { .rank = -1 };
		struct schedule_result x;

		ck_assert_int_eq(numbers(csv_text(&c, "forward"), forward, STAGES), pl.p * pl.v);
		ck_assert_int_eq(numbers(csv_text(&c, "backward"), backward, STAGES), pl.p * pl.v);
		x = run(&pl, &t, &r);
		for (int64_t i = 0; i < pl.p; i++)
			idle[i] = x.makespan - r.busy[i];
		ck_assert_msg(x.makespan == csv_int(&c, "makespan"), "line %d: makespan %lld", c.line, (long long)x.makespan);
		check_ranks(&c, "busy", r.busy, pl.p);
		check_ranks(&c, "idle", idle, pl.p);
	}
	ck_assert_int_eq(rows, 88);
}
END_TEST

START_TEST(executor_starts_and_ends_every_action_at_the_published_tick)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_timelines.csv");
	for (; csv_next(&c); rows++) {
		struct pipeline pl = pipeline_of(&c);
		struct schedule_times t = { .forward = csv_int(&c, "forward"), .backward = csv_int(&c, "backward"), .comm = csv_int(&c, "comm") };
		struct recorder r = { .rank = csv_int(&c, "rank") };

		(void)run(&pl, &t, &r);
		ck_assert_msg(strcmp(r.text, csv_text(&c, "actions")) == 0, "line %d: ours is %s", c.line, r.text);
	}
	ck_assert_int_eq(rows, 64);
}
END_TEST

/* Calls f for every legal pipeline up to p 8, m 20, v 4 and every legal group. */
static int each_pipeline(void (*f)(const struct pipeline *))
{
	int n = 0;

	for (int32_t s = 0; s < SCHEDULE_COUNT; s++)
		for (int64_t p = 1; p <= 8; p++)
			for (int64_t m = 1; m <= 20; m++)
				for (int64_t v = 1; v <= 4; v++)
					for (int64_t g = 0; g <= (schedule_table[s].needs_v ? m : 0); g++) {
						struct pipeline pl = { .schedule = s, .p = p, .m = m, .v = v, .group = g };

						if (pipeline_check(&pl, NULL) != ERR_OK)
							continue;
						f(&pl);
						n++;
					}
	return n;
}

static void check_complete(const struct pipeline *pl)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];

	for (int64_t rank = 0; rank < pl->p; rank++) {
		unsigned char done[STAGES][32] = { { 0 } }; /* 1: forward seen, 3: backward too */
		int64_t n = info->count(pl, rank);

		ck_assert_int_eq(n, 2 * pl->m * pl->v);
		for (int64_t i = 0; i < n; i++) {
			struct action a = info->at(pl, rank, i);
			unsigned char *cell = &done[a.stage][a.micro_batch];

			ck_assert_int_eq(a.stage % pl->p, rank);
			ck_assert(a.stage < pl->p * pl->v && a.micro_batch < pl->m);
			ck_assert_int_eq(*cell, a.kind == ACTION_FORWARD ? 0 : 1);
			*cell = a.kind == ACTION_FORWARD ? 1 : 3;
		}
	}
}

START_TEST(every_order_has_each_forward_once_and_its_backward_after_it)
{
	ck_assert_int_gt(each_pipeline(check_complete), 1000);
}
END_TEST

/* Replays the list of a rank: forwards started less backwards finished, in total and per chunk when the total is first at its maximum. */
static void check_in_flight(const struct pipeline *pl)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];

	for (int64_t rank = 0; rank < pl->p; rank++) {
		int64_t alive[4] = { 0 }, at_peak[4] = { 0 }, total = 0, peak = 0;

		for (int64_t i = 0; i < info->count(pl, rank); i++) {
			struct action a = info->at(pl, rank, i);
			int step = a.kind == ACTION_FORWARD ? 1 : -1;

			alive[a.stage / pl->p] += step;
			total += step;
			if (total > peak) {
				peak = total;
				memcpy(at_peak, alive, sizeof at_peak);
			}
		}
		ck_assert_int_eq(pipeline_in_flight(pl, rank), peak);
		for (int64_t k = 0; k < pl->v; k++)
			ck_assert_int_eq(info->in_flight(pl, rank, k), at_peak[k]);
	}
}

START_TEST(in_flight_closed_forms_equal_a_replay_of_the_order)
{
	ck_assert_int_gt(each_pipeline(check_in_flight), 1000);
}
END_TEST

static void check_makespan(const struct pipeline *pl)
{
	static const int64_t times[][2] = { { 1, 2 }, { 1, 1 }, { 10, 21 }, { 7, 3 } };

	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		struct schedule_times t = { .forward = times[i][0], .backward = times[i][1] };
		struct schedule_result x = run(pl, &t, NULL);

		ck_assert_msg(schedule_table[pl->schedule].makespan(pl, t.forward, t.backward) == x.makespan, "%s p %lld m %lld v %lld g %lld",
			schedule_table[pl->schedule].key, (long long)pl->p, (long long)pl->m, (long long)pl->v, (long long)pl->group);
		ck_assert_int_eq(x.total_busy, pl->p * pl->m * pl->v * (t.forward + t.backward));
		ck_assert_int_ge(x.makespan, x.max_busy);
	}
}

START_TEST(makespan_closed_forms_equal_the_executor)
{
	ck_assert_int_gt(each_pipeline(check_makespan), 1000);
}
END_TEST

/* The lists of a shape that the check refuses, run without it: true when no rank can go on before the end. */
static bool gets_stuck(const struct pipeline *pl)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];
	bool done[2][STAGES][32] = { { { false } } }, moved = true;
	int64_t next[RANKS] = { 0 }, left = 0, stages = pl->p * pl->v;

	for (int64_t rank = 0; rank < pl->p; rank++)
		left += info->count(pl, rank);
	while (moved) {
		moved = false;
		for (int64_t rank = 0; rank < pl->p; rank++) {
			struct action a;
			bool forward, ready;

			if (next[rank] >= info->count(pl, rank))
				continue;
			a = info->at(pl, rank, next[rank]);
			forward = a.kind == ACTION_FORWARD;
			ready = forward ? a.stage == 0 || done[0][a.stage - 1][a.micro_batch] :
				done[0][a.stage][a.micro_batch] && (a.stage == stages - 1 || done[1][a.stage + 1][a.micro_batch]);
			if (ready) {
				done[!forward][a.stage][a.micro_batch] = true;
				next[rank]++;
				left--;
				moved = true;
			}
		}
	}
	return left > 0;
}

/* Interleaved lists whose last group is shorter than p, and groups smaller than p, deadlock. */
START_TEST(shapes_that_deadlock_are_refused)
{
	static const struct pipeline shapes[] = {
		{ SCHEDULE_INTERLEAVED, 4, 5, 3, 0 }, { SCHEDULE_INTERLEAVED, 4, 9, 3, 0 }, { SCHEDULE_INTERLEAVED, 4, 13, 3, 0 },
		{ SCHEDULE_INTERLEAVED, 8, 10, 2, 0 }, { SCHEDULE_INTERLEAVED, 8, 21, 2, 0 }, { SCHEDULE_INTERLEAVED, 4, 8, 2, 2 },
	};
	const struct pipeline *pl = &shapes[_i];
	struct err e;

	ck_assert(gets_stuck(pl));
	ck_assert(pipeline_check(pl, &e) == ERR_ILLEGAL);
	ck_assert_str_eq(e.where, pl->group > 0 ? "group" : "micro-batch");
}
END_TEST

/* 4 stages, forward 1, backward 2. One micro-batch: 12 ticks of which each rank works 3, so 75 % of the step is idle. 16: 57 ticks of which
 * 48 are work: 3/16 over the ideal, 3/19 of the step. 8: naive 8 x 12 = 96, GPipe and 1F1B (8 + 3) x 3 = 33. */
START_TEST(the_lessons_pipeline_numbers)
{
	static const struct {
		int32_t schedule;
		int64_t m, makespan;
		double of_step, over_ideal;
	} rows[] = {
		{ SCHEDULE_NAIVE, 1, 12, 0.75, 3 }, { SCHEDULE_GPIPE, 1, 12, 0.75, 3 }, { SCHEDULE_1F1B, 1, 12, 0.75, 3 },
		{ SCHEDULE_GPIPE, 16, 57, 3.0 / 19, 3.0 / 16 }, { SCHEDULE_1F1B, 16, 57, 3.0 / 19, 3.0 / 16 },
		{ SCHEDULE_NAIVE, 8, 96, 0.75, 3 }, { SCHEDULE_GPIPE, 8, 33, 3.0 / 11, 3.0 / 8 }, { SCHEDULE_1F1B, 8, 33, 3.0 / 11, 3.0 / 8 },
	};
	struct pipeline pl = { .schedule = rows[_i].schedule, .p = 4, .m = rows[_i].m, .v = 1 };
	struct schedule_times t = { .forward = 1, .backward = 2 };
	struct schedule_result x = run(&pl, &t, NULL);

	ck_assert_int_eq(x.makespan, rows[_i].makespan);
	ck_assert_double_eq_tol(x.bubble_of_step, rows[_i].of_step, 1e-12);
	ck_assert_double_eq_tol(x.bubble_over_ideal, rows[_i].over_ideal, 1e-12);
}
END_TEST

/* 1F1B does not shrink the bubble of GPipe, only what is in flight: 4 3 2 1 against 8 8 8 8. */
START_TEST(one_f_one_b_holds_p_minus_r_micro_batches)
{
	struct pipeline gpipe = { SCHEDULE_GPIPE, 4, 8, 1, 0 }, one_f_one_b = { SCHEDULE_1F1B, 4, 8, 1, 0 };

	for (int64_t rank = 0; rank < 4; rank++) {
		ck_assert_int_eq(pipeline_in_flight(&gpipe, rank), 8);
		ck_assert_int_eq(pipeline_in_flight(&one_f_one_b, rank), 4 - rank);
	}
}
END_TEST

START_TEST(shapes_that_make_no_sense_are_refused)
{
	static const struct {
		struct pipeline pl;
		const char *where;
	} bad[] = {
		{ { SCHEDULE_1F1B, 0, 1, 1, 0 }, "pp" }, { { SCHEDULE_1F1B, 2, 0, 1, 0 }, "microbatches" }, { { SCHEDULE_1F1B, 2, -4, 1, 0 }, "microbatches" },
		{ { SCHEDULE_INTERLEAVED, 2, 4, 0, 0 }, "vpp" }, { { SCHEDULE_INTERLEAVED, 2, 4, 1, 0 }, "vpp" }, { { SCHEDULE_GPIPE, 2, 4, 2, 0 }, "vpp" },
		{ { SCHEDULE_INTERLEAVED, 4, 2, 2, 0 }, "micro-batch" }, { { SCHEDULE_INTERLEAVED, 2, 4, 2, 5 }, "group" },
		{ { SCHEDULE_1F1B, 65536, 16777216, 1, 0 }, "microbatches" }, { { SCHEDULE_1F1B, INT64_MAX, 1, 1, 0 }, "pp" },
	};
	struct err e = { .code = ERR_OK };

	ck_assert(pipeline_check(&bad[_i].pl, &e) != ERR_OK);
	ck_assert_str_eq(e.where, bad[_i].where);
	ck_assert_str_ne(e.msg, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schedule");
	TCase *t = tcase_create("schedule");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, orders_equal_the_original_code_action_for_action);
	tcase_add_test(t, executor_equals_published_times_to_the_tick);
	tcase_add_test(t, executor_equals_published_times_of_unequal_stages);
	tcase_add_test(t, executor_starts_and_ends_every_action_at_the_published_tick);
	tcase_add_test(t, every_order_has_each_forward_once_and_its_backward_after_it);
	tcase_add_test(t, in_flight_closed_forms_equal_a_replay_of_the_order);
	tcase_add_test(t, makespan_closed_forms_equal_the_executor);
	tcase_add_loop_test(t, shapes_that_deadlock_are_refused, 0, 6);
	tcase_add_loop_test(t, the_lessons_pipeline_numbers, 0, 8);
	tcase_add_test(t, one_f_one_b_holds_p_minus_r_micro_batches);
	tcase_add_loop_test(t, shapes_that_make_no_sense_are_refused, 0, 10);
	suite_add_tcase(s, t);
	return test_run(s);
}
