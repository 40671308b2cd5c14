/* Generators against the orders of the original code, and the executor against times computed elsewhere. */
#include "schedule_fixture.h"

#include "sink.h"

#include <math.h>

/* What the executor emitted. */
struct recorder {
	int64_t busy[RANKS];
	int64_t rank; /* whose actions go to text */
	char text[8192];
	size_t len;
};

static void record(void *ctx, const struct timed_action *a)
{
	struct recorder *r = ctx;
	bool second = a->action.overlap && a->action.kind != ACTION_FORWARD, first = a->action.overlap && !second;
	char name[32];

	r->busy[a->rank] += timed_action_busy(a);
	if (a->rank != r->rank)
		return;
	if (second)
		r->len += (size_t)snprintf(
			r->text + r->len, sizeof r->text - r->len, ";%s)", action_format(&a->action, name, sizeof name));
	else
		r->len += (size_t)snprintf(r->text + r->len, sizeof r->text - r->len, "%s%lld-%lld:%s%s", r->len > 0 ? " " : "",
			(long long)a->start, (long long)a->end, first ? "(" : "", action_format(&a->action, name, sizeof name));
	ck_assert_uint_lt(r->len, sizeof r->text);
}

static struct schedule_times times_of(const struct csv *c)
{
	return (struct schedule_times){ .forward = csv_int(c, "forward"),
		.input = csv_int(c, "input"),
		.weight = csv_int(c, "weight"),
		.comm = csv_int(c, "comm"),
		.overlap = csv_int(c, "overlap") };
}

static bool hash_text(void *ctx, const char *text, size_t len)
{
	uint64_t *h = ctx;

	for (size_t i = 0; i < len; i++)
		*h = (*h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return true;
}

static void check_hash(const struct csv *c, const struct order *o)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	char buf[512], hex[20];
	struct sink s;

	sink_init(&s, buf, sizeof buf, hash_text, &h);
	order_format(o, &s);
	ck_assert(sink_finish(&s));
	(void)snprintf(hex, sizeof hex, "%016llx", (unsigned long long)h);
	ck_assert_msg(strcmp(hex, csv_text(c, "hash")) == 0, "line %d: %s", c->line, shape_text(&o->pl));
}

static void check_line(const struct csv *c, const struct order *o)
{
	char buf[4096];
	struct sink s;
	const char *want = csv_text(c, "actions");

	sink_init(&s, buf, sizeof buf, NULL, NULL);
	order_format_rank(o, csv_int(c, "rank"), &s);
	ck_assert(!s.failed);
	/* The table has blanks for commas and leaves OVERLAP_F_B and the line feed out. */
	for (const char *p = buf; *p != '\0'; p++) {
		if (strncmp(p, "OVERLAP_F_B", 11) == 0)
			p += 11;
		if (*p == '\n' || *p == '\0')
			break;
		ck_assert_msg(*want == (*p == ',' ? ' ' : *p), "line %d: ours is %s", c->line, buf);
		want++;
	}
	ck_assert_msg(*want == '\0', "line %d: ours ends early: %s", c->line, buf);
}

START_TEST(orders_equal_the_original_code_action_for_action)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_orders.csv");
	for (; csv_next(&c); rows++) {
		struct held_order h;

		order_of_row(&h, &c);
		if (csv_text(&c, "hash")[0] != '\0')
			check_hash(&c, &h.o);
		else
			check_line(&c, &h.o);
		order_close(&h);
	}
	ck_assert_int_eq(rows, 988);
}
END_TEST

/* at() of closed forms is the iterator's action. */
static void count_equal(void *ctx, const struct action *a)
{
	struct {
		const struct order *o;
		int64_t rank, i;
	} *x = ctx;
	struct action b = order_at(x->o, x->rank, x->i++);

	ck_assert(a->kind == b.kind && a->stage == b.stage && a->micro_batch == b.micro_batch && a->overlap == b.overlap);
}

START_TEST(random_access_equals_the_iterator)
{
	uint64_t state = 11;

	for (int n = 0; n < 1500; n++) {
		struct pipeline pl = random_pipeline(&state, 9);
		struct held_order h;

		order_open(&h, &pl);
		for (int64_t rank = 0; rank < pl.p; rank++) {
			struct {
				const struct order *o;
				int64_t rank, i;
			} x = { &h.o, rank, 0 };

			order_each(&h.o, rank, count_equal, &x);
			ck_assert_int_eq(x.i, order_count(&h.o, rank));
			ck_assert_int_eq(x.i, pipeline_count(&pl, rank));
		}
		order_close(&h);
	}
}
END_TEST

static void check_ranks(const struct csv *c, const char *column, const int64_t *ours, int64_t n)
{
	int64_t theirs[RANKS];

	ck_assert_int_eq(numbers(csv_text(c, column), theirs, RANKS, n), n);
	for (int64_t i = 0; i < n; i++)
		ck_assert_msg(ours[i] == theirs[i], "line %d: %s of rank %lld is %lld", c->line, column, (long long)i,
			(long long)ours[i]);
}

/* Busy, idle, span and both peaks of every rank. */
static void check_rank_columns(
	const struct csv *c, const struct held_order *h, const struct rank_result *ranks, const struct schedule_result *x)
{
	int64_t busy[RANKS], idle[RANKS], span[RANKS], peak_w[RANKS], peak_i[RANKS], p = h->o.pl.p;

	for (int64_t i = 0; i < p; i++) {
		struct order_peaks peaks = order_peaks(&h->o, i);

		busy[i] = ranks[i].busy;
		idle[i] = x->makespan - ranks[i].busy;
		span[i] = ranks[i].last_end - ranks[i].first_start;
		peak_w[i] = peaks.at_weight;
		peak_i[i] = peaks.at_input;
	}
	check_ranks(c, "busy", busy, p);
	check_ranks(c, "idle", idle, p);
	check_ranks(c, "span", span, p);
	check_ranks(c, "peak_w", peak_w, p);
	check_ranks(c, "peak_i", peak_i, p);
}

START_TEST(executor_equals_published_times_to_the_tick)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_bubble.csv");
	for (; csv_next(&c); rows++) {
		struct schedule_times t = times_of(&c);
		struct rank_result ranks[RANKS];
		struct schedule_result x;
		struct held_order h;
		int64_t idle = 0;

		order_of_row(&h, &c);
		x = order_time(&h, &t, NULL, NULL, ranks);
		ck_assert_msg(x.makespan == csv_int(&c, "makespan"), "line %d: makespan %lld", c.line, (long long)x.makespan);
		ck_assert_msg(x.span_bubble == csv_int(&c, "span_bubble"), "line %d: span bubble %lld", c.line,
			(long long)x.span_bubble);
		ck_assert_double_eq_tol(x.bubble_of_step, csv_real(&c, "bubble_of_step"), 1e-9);
		ck_assert_double_eq_tol(x.bubble_over_ideal, csv_real(&c, "bubble_over_ideal"), 1e-9);
		ck_assert_double_eq_tol(x.span_bubble_rate, csv_real(&c, "span_bubble_rate"), 1e-9);
		check_rank_columns(&c, &h, ranks, &x);
		for (int i = 0; i < IDLE_REASON_COUNT; i++)
			idle += x.idle[i];
		ck_assert_int_eq(idle, h.o.pl.p * x.makespan - x.total_busy);
		order_close(&h);
	}
	ck_assert_int_eq(rows, 1045);
}
END_TEST

START_TEST(executor_equals_published_times_of_unequal_stages)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_nonuniform.csv");
	for (; csv_next(&c); rows++) {
		struct pipeline pl = pipeline_of(&c, false);
		int64_t forward[STAGES], input[STAGES], weight[STAGES], busy[RANKS], idle[RANKS], peak[RANKS],
			n = pipeline_stages(&pl);
		struct schedule_times t = {
			.comm = csv_int(&c, "comm"), .stage_forward = forward, .stage_input = input, .stage_weight = weight
		};
		struct rank_result ranks[RANKS];
		struct schedule_result x;
		struct held_order h;

		ck_assert_int_eq(numbers(csv_text(&c, "forward"), forward, STAGES, 0), n);
		ck_assert_int_eq(numbers(csv_text(&c, "input"), input, STAGES, 0), n);
		ck_assert_int_eq(numbers(csv_text(&c, "weight"), weight, STAGES, 0), n);
		order_open(&h, &pl);
		x = order_time(&h, &t, NULL, NULL, ranks);
		for (int64_t i = 0; i < pl.p; i++) {
			busy[i] = ranks[i].busy;
			idle[i] = x.makespan - ranks[i].busy;
			peak[i] = order_peaks(&h.o, i).at_weight;
		}
		ck_assert_msg(x.makespan == csv_int(&c, "makespan"), "line %d: makespan %lld", c.line, (long long)x.makespan);
		ck_assert_double_eq_tol(x.bubble_of_step, csv_real(&c, "bubble_of_step"), 1e-9);
		ck_assert_double_eq_tol(x.bubble_over_ideal, csv_real(&c, "bubble_over_ideal"), 1e-9);
		check_ranks(&c, "busy", busy, pl.p);
		check_ranks(&c, "idle", idle, pl.p);
		check_ranks(&c, "peak_w", peak, pl.p);
		order_close(&h);
	}
	ck_assert_int_eq(rows, 172);
}
END_TEST

START_TEST(executor_starts_and_ends_every_action_at_the_published_tick)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "schedule_timelines.csv");
	for (; csv_next(&c); rows++) {
		struct schedule_times t = times_of(&c);
		struct recorder r = { .rank = csv_int(&c, "rank") };
		struct held_order h;

		order_of_row(&h, &c);
		(void)order_time(&h, &t, record, &r, NULL);
		ck_assert_msg(strcmp(r.text, csv_text(&c, "actions")) == 0, "line %d: ours is %s", c.line, r.text);
		order_close(&h);
	}
	ck_assert_int_eq(rows, 172);
}
END_TEST

/* 4 stages, forward 1, backward 2. One micro-batch: 12 ticks of which each rank works 3, so 75 % of the step is idle. 16: 57
 * ticks of which 48 are work: 3/16 over the ideal, 3/19 of the step. 8: naive 8 x 12 = 96, GPipe and 1F1B (8 + 3) x 3 = 33. */
START_TEST(the_lessons_pipeline_numbers)
{
	static const struct {
		int32_t schedule;
		int64_t m, makespan;
		double of_step, over_ideal;
	} rows[] = {
		{ SCHEDULE_NAIVE, 1, 12, 0.75, 3 },
		{ SCHEDULE_GPIPE, 1, 12, 0.75, 3 },
		{ SCHEDULE_1F1B, 1, 12, 0.75, 3 },
		{ SCHEDULE_GPIPE, 16, 57, 3.0 / 19, 3.0 / 16 },
		{ SCHEDULE_1F1B, 16, 57, 3.0 / 19, 3.0 / 16 },
		{ SCHEDULE_NAIVE, 8, 96, 0.75, 3 },
		{ SCHEDULE_GPIPE, 8, 33, 3.0 / 11, 3.0 / 8 },
		{ SCHEDULE_1F1B, 8, 33, 3.0 / 11, 3.0 / 8 },
	};
	struct pipeline pl = { .schedule = rows[_i].schedule, .p = 4, .m = rows[_i].m, .v = 1 };
	struct schedule_times t = { .forward = 1, .backward = 2 };
	struct held_order h;
	struct schedule_result x;

	order_open(&h, &pl);
	x = order_time(&h, &t, NULL, NULL, NULL);
	ck_assert_int_eq(x.makespan, rows[_i].makespan);
	ck_assert_double_eq_tol(x.bubble_of_step, rows[_i].of_step, 1e-12);
	ck_assert_double_eq_tol(x.bubble_over_ideal, rows[_i].over_ideal, 1e-12);
	order_close(&h);
}
END_TEST

/* 1F1B does not shrink the bubble of GPipe, only what is in flight: 4 3 2 1 against 8 8 8 8. With latency it is slower: 412
 * against 402. */
START_TEST(one_f_one_b_saves_memory_not_time)
{
	struct pipeline gpipe = { .schedule = SCHEDULE_GPIPE, .p = 4, .m = 8, .v = 1 },
			one_f_one_b = { .schedule = SCHEDULE_1F1B, .p = 4, .m = 8, .v = 1 };
	struct schedule_times t = { .forward = 12, .backward = 24, .comm = 1 };
	struct held_order a, b;

	for (int64_t rank = 0; rank < 4; rank++) {
		ck_assert_int_eq(pipeline_in_flight(&gpipe, rank), 8);
		ck_assert_int_eq(pipeline_in_flight(&one_f_one_b, rank), 4 - rank);
	}
	order_open(&a, &gpipe);
	order_open(&b, &one_f_one_b);
	ck_assert_int_eq(order_time(&a, &t, NULL, NULL, NULL).makespan, 402);
	ck_assert_int_eq(order_time(&b, &t, NULL, NULL, NULL).makespan, 412);
	order_close(&a);
	order_close(&b);
}
END_TEST

/* zb-h1, 4 ranks, 8 micro-batches, F = I = W = 1: 27 ticks of which 24 are work. */
START_TEST(the_three_bubbles_of_zb_h1)
{
	struct pipeline pl = { .schedule = SCHEDULE_ZB_H1, .p = 4, .m = 8, .v = 1 };
	struct schedule_times t = { .forward = 1, .input = 1, .weight = 1 };
	struct held_order h;
	struct schedule_result x;

	order_open(&h, &pl);
	x = order_time(&h, &t, NULL, NULL, NULL);
	ck_assert_int_eq(x.makespan, 27);
	ck_assert_double_eq_tol(x.bubble_of_step, 3.0 / 27, 1e-12);
	ck_assert_double_eq_tol(x.bubble_over_ideal, 3.0 / 24, 1e-12);
	ck_assert_int_eq(x.span_bubble, 3);
	order_close(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schedule");
	TCase *t = tcase_create("schedule");

	tcase_add_test(t, orders_equal_the_original_code_action_for_action);
	tcase_add_test(t, random_access_equals_the_iterator);
	tcase_add_test(t, executor_equals_published_times_to_the_tick);
	tcase_add_test(t, executor_equals_published_times_of_unequal_stages);
	tcase_add_test(t, executor_starts_and_ends_every_action_at_the_published_tick);
	tcase_add_loop_test(t, the_lessons_pipeline_numbers, 0, 8);
	tcase_add_test(t, one_f_one_b_saves_memory_not_time);
	tcase_add_test(t, the_three_bubbles_of_zb_h1);
	suite_add_tcase(s, t);
	return test_run(s);
}
