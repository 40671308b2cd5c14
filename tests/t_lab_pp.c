/* The pipeline with numbers: every schedule of the table gives the gradients of the unsplit network, over many shapes; ticks
 * agree with the executor. */
#include "lab_fixture.h"

#include "schedule.h"

START_TEST(every_schedule_gives_the_same_gradients)
{
	static const int ranks[] = { 1, 2, 3, 4, 8 }, micro_batches[] = { 1, 3, 8, 24 };
	int runs = 0;

	for (size_t p = 0; p < sizeof ranks / sizeof ranks[0]; p++)
		for (size_t m = 0; m < sizeof micro_batches / sizeof micro_batches[0]; m++)
			for (int layers = 1; layers < 30; layers += 14) {
				struct lab_fixture f;
				struct lab_size size;
				struct err e;
				char settings[200];

				/* Schedules that a shape does not allow are left out of its table; as the shown one they are an
				 * error. */
				(void)snprintf(settings, sizeof settings,
					"pp=%d;microbatches=%d;schedule=%s;vpp=%d;layers=%d;width=%d;seed=%d", ranks[p],
					micro_batches[m], schedule_table[_i].key, 2 + layers % 2, layers, 1 + layers % 6, layers);
				ck_assert(lab_fixture_input(&f, "pp", settings, &e) == ERR_OK);
				if (lab_workspace_size(&f.input, &size, &e) == ERR_ILLEGAL)
					continue;
				lab_fixture_prove("pp", settings);
				runs++;
			}
	ck_assert_int_gt(runs, 0);
}
END_TEST

/* 1F1B with F = 1, B = 2: (m + p - 1) 3 ticks; idle (p - 1)/(m + p - 1); stored p - r. */
START_TEST(ticks_are_those_of_the_executor)
{
	struct lab_fixture f;
	struct lab_row row;

	lab_fixture_run(&f, "pp", "pp=4;microbatches=8;schedule=1f1b");
	ck_assert(lab_fixture_fact(&f, "makespan") == 33 && lab_fixture_fact(&f, "stored") == 4);
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "bubble"), 300.0 / 11, 1e-9);
	/* The lesson's (N - 1)/M. */
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "over_busy"), 37.5, 1e-9);
	ck_assert_int_eq(f.run.steps, 35);
	/* Tick 1: only GPU 0 works; tick 4: GPU 3 has its first micro-batch. */
	lab_row(&f.run, 2, 0, &row);
	ck_assert_str_eq(row.text, "F0 stage 0");
	lab_row(&f.run, 2, 3, &row);
	ck_assert_str_eq(row.text, "idle");
	lab_row(&f.run, 5, 3, &row);
	ck_assert_str_eq(row.text, "F0 stage 3");
	/* Nothing is stored after the last tick's backward. */
	lab_row(&f.run, 34, 1, &row);
	ck_assert(row.value[0] == 0);
	lab_fixture_free(&f);
}
END_TEST

/* The lesson's step 3: 75 % idle with 1 micro-batch, 3/16 of busy time with 16, stored micro-batches at most the stages. */
START_TEST(bubbles_of_other_numbers_of_micro_batches)
{
	static const struct {
		int64_t m;
		double idle, over_busy, stored;
	} rows[] = { { 0, 75, 300, 1 }, { 2, 300.0 / 7, 75, 4 }, { 4, 300.0 / 19, 18.75, 4 } };
	struct lab_fixture f;
	struct lab_row row;

	lab_fixture_run(&f, "pp", "pp=4");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		lab_row(&f.run, 1, rows[i].m, &row);
		ck_assert_double_eq_tol(row.value[1], rows[i].idle, 1e-9);
		ck_assert_double_eq_tol(row.value[2], rows[i].over_busy, 1e-9);
		ck_assert(row.value[3] == rows[i].stored);
	}
	/* Ticks of the m that the lab computes are the same in both tables. */
	lab_row(&f.run, 1, 3, &row);
	ck_assert(row.value[0] == lab_fixture_fact(&f, "makespan"));
	lab_fixture_free(&f);
	lab_fixture_run(&f, "pp", "pp=4;schedule=dualpipe");
	lab_row(&f.run, 1, 0, &row);
	ck_assert_str_eq(row.text, "not with this p, m and vpp");
	lab_fixture_free(&f);
}
END_TEST

/* Every tick of every rank is either an action or idle, and busy ticks add up to the executor's. */
START_TEST(ticks_add_up)
{
	struct lab_fixture f;
	char settings[100];
	int64_t busy = 0;
	double idle;

	(void)snprintf(settings, sizeof settings, "pp=4;microbatches=8;schedule=%s", schedule_table[_i].key);
	lab_fixture_run(&f, "pp", settings);
	for (int64_t k = 2; k < f.run.steps; k++)
		for (int64_t r = 0; r < 4; r++) {
			struct lab_row row;

			lab_row(&f.run, k, r, &row);
			busy += strcmp(row.text, "idle") != 0;
		}
	idle = 100 * (1 - (double)busy / (4 * (double)(f.run.steps - 2)));
	ck_assert_double_eq_tol(idle, lab_fixture_fact(&f, "bubble"), 1e-9);
	lab_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lab_pp");
	TCase *t = tcase_create("lab_pp");

	tcase_add_loop_test(t, every_schedule_gives_the_same_gradients, 0, SCHEDULE_COUNT);
	tcase_add_test(t, ticks_are_those_of_the_executor);
	tcase_add_test(t, bubbles_of_other_numbers_of_micro_batches);
	tcase_add_loop_test(t, ticks_add_up, 0, SCHEDULE_COUNT);
	suite_add_tcase(s, t);
	return test_run(s);
}
