/* Stacked bars: the bar crosses the limit iff the number does, nobody vanishes, parts sum to the whole. */
#include "num.h"
#include "report.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* xorshift: the same numbers everywhere. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

START_TEST(bars_keep_their_promises)
{
	uint64_t state = 0x9E3779B97F4A7C15u + (uint64_t)_i;

	for (int trial = 0; trial < 2000; trial++) {
		int64_t bytes[MEMORY_CATEGORY_COUNT], cells[MEMORY_CATEGORY_COUNT], sum = 0, n, total = 0, nonzero = 0;
		int64_t cap = 1 + (int64_t)(next(&state) % 110), limit = 1 + (int64_t)(next(&state) % 100000000000u);

		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			bytes[i] = next(&state) % 4 == 0 ? 0 : (int64_t)(next(&state) % 40000000000u);
			sum += bytes[i];
			nonzero += bytes[i] > 0;
		}
		n = report_bar_cells(bytes, limit, cap, cells);
		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			total += cells[i];
			ck_assert((bytes[i] > 0) == (cells[i] > 0));
		}
		ck_assert_int_eq(total, n);
		if (nonzero <= cap)
			ck_assert((n > cap) == (sum > limit));
	}
}
END_TEST

START_TEST(a_full_card_fills_the_bar)
{
	int64_t bytes[MEMORY_CATEGORY_COUNT] = { 0 }, cells[MEMORY_CATEGORY_COUNT];

	bytes[MEMORY_WEIGHTS] = 30;
	bytes[MEMORY_ACTIVATIONS] = 70;
	ck_assert_int_eq(report_bar_cells(bytes, 100, 10, cells), 10);
	ck_assert_int_eq(cells[MEMORY_WEIGHTS], 3);
	ck_assert_int_eq(cells[MEMORY_ACTIVATIONS], 7);
	bytes[MEMORY_ACTIVATIONS] = 71;
	ck_assert_int_eq(report_bar_cells(bytes, 100, 10, cells), 11);
}
END_TEST

START_TEST(an_unknown_limit_fills_the_field)
{
	int64_t bytes[MEMORY_CATEGORY_COUNT] = { 0 }, cells[MEMORY_CATEGORY_COUNT];

	bytes[MEMORY_WEIGHTS] = 5;
	ck_assert_int_eq(report_bar_cells(bytes, 0, 20, cells), 20);
	bytes[MEMORY_WEIGHTS] = 0;
	ck_assert_int_eq(report_bar_cells(bytes, 0, 20, cells), 0);
}
END_TEST

START_TEST(the_drawing_order_is_a_permutation)
{
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	bool seen[MEMORY_CATEGORY_COUNT] = { false };

	report_draw_order(order);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		ck_assert(!seen[order[i]]);
		seen[order[i]] = true;
	}
	ck_assert_int_eq(order[0], MEMORY_WEIGHTS);
	ck_assert_int_eq(order[MEMORY_CATEGORY_COUNT - 1], MEMORY_ACTIVATIONS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *bars = tcase_create("bars");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(bars, bars_keep_their_promises, 0, 4);
	tcase_add_test(bars, a_full_card_fills_the_bar);
	tcase_add_test(bars, an_unknown_limit_fills_the_field);
	tcase_add_test(bars, the_drawing_order_is_a_permutation);
	suite_add_tcase(suite, bars);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
