/* `make bench`: how long the engine takes. Times of single calls, so that the worst is seen too. A figure over its budget is
 * printed, not failed: machines differ. */
#include "config.h"

#include "lab_fixture.h"
#include "support.h"

#include "plan.h"
#include "presets.h"
#include "search.h"
#include "ways.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 2000, ROUNDS = 25, SCENARIOS_MAX = 64 };

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof values[0], by_value);
	return values[n / 2];
}

/* Median of one scenario; *worst grows to the longest single call. */
static double time_scenario(const struct csv *c, double *worst)
{
	static double times[CALLS];
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };
	double typical;

	test_draft(&d, csv_text(c, "knobs"));
	for (int i = 0; i < CALLS; i++) {
		double start = now_us();
		enum err_code code = plan_evaluate(&d.s, &p, &e);

		times[i] = now_us() - start;
		if (code != ERR_OK)
			ck_abort_msg("%s: %s: %s", csv_text(c, "name"), e.where, e.msg);
	}
	typical = median(times, CALLS);
	*worst = times[CALLS - 1] > *worst ? times[CALLS - 1] : *worst;
	printf("  %-18s median %7.2f us  p99 %7.2f us  worst %8.2f us\n", csv_text(c, "name"), typical, times[CALLS * 99 / 100],
		times[CALLS - 1]);
	return typical;
}

START_TEST(evaluate)
{
	double medians[SCENARIOS_MAX], worst = 0, typical;
	struct csv c;
	size_t n = 0;

	printf("plan_evaluate, %d calls each\n", CALLS);
	csv_open(&c, "bench_scenarios.csv");
	for (; csv_next(&c) && n < SCENARIOS_MAX; n++)
		medians[n] = time_scenario(&c, &worst);
	typical = median(medians, n);
	printf("plan_evaluate      median %7.2f us  (budget 20)\n", typical);
	printf("plan_evaluate      slowest scenario %7.2f us, longest single call %.2f us  (budget 400)\n", medians[n - 1],
		worst);
}
END_TEST

START_TEST(choose)
{
	double times[ROUNDS], typical;

	for (int i = 0; i < ROUNDS; i++) {
		struct draft d;
		struct plan p;
		struct err e;
		double start;

		test_draft(&d, "params=70B;gpu=A100;gpus=8");
		start = now_us();
		ck_assert(search_choose(&d, test_catalog(), &p, &e) == ERR_OK);
		times[i] = (now_us() - start) / 1e3;
	}
	typical = median(times, ROUNDS);
	printf("search_choose      median %7.2f ms  worst %.2f ms  (70B on 8xA100)\n", typical, times[ROUNDS - 1]);
}
END_TEST

/* All that `fit` computes after a no: the fewest GPUs and the ways out. */
START_TEST(answer_a_no)
{
	static struct way_out ways[WAY_MAX];
	static struct draft best;
	double times[ROUNDS], typical;

	for (int i = 0; i < ROUNDS; i++) {
		struct draft d;
		struct plan p;
		double start;

		test_draft(&d, "params=70B;gpu=A100;gpus=8");
		start = now_us();
		(void)ways_fewest_gpus(&d, test_catalog(), 4096, &best, &p);
		(void)ways_all(&d, test_catalog(), ways, WAY_MAX);
		times[i] = (now_us() - start) / 1e3;
	}
	typical = median(times, ROUNDS);
	printf("fewest + ways out  median %7.2f ms  worst %.2f ms  (70B on 8xA100; budget of the whole fit 50)\n", typical,
		times[ROUNDS - 1]);
}
END_TEST

START_TEST(load_presets)
{
	double times[ROUNDS], typical;

	for (int i = 0; i < ROUNDS; i++) {
		struct preset_store *store;
		struct err e;
		double start = now_us();

		ck_assert(preset_store_new(&store, &e) == ERR_OK);
		times[i] = (now_us() - start) / 1e3;
		preset_store_free(store);
	}
	typical = median(times, ROUNDS);
	printf("preset load        median %7.2f ms  worst %.2f ms  (budget of the first frame 30)\n", typical, times[ROUNDS - 1]);
}
END_TEST

/* Every lab with its defaults, every step of it forth and back, and the largest all-reduce. */
START_TEST(every_lab)
{
	for (size_t i = 0; lab_table[i] != NULL; i++) {
		double times[ROUNDS], step = 0, typical;
		struct lab_fixture f;

		for (int k = 0; k < ROUNDS; k++) {
			double start = now_us();

			lab_fixture_run(&f, lab_table[i]->id, "");
			times[k] = (now_us() - start) / 1e3;
			for (int64_t s = 0; s < f.run.steps; s++) {
				char text[16384];
				struct sink out;

				start = now_us();
				sink_init(&out, text, sizeof text, NULL, NULL);
				lab_report_step(&f.run, s, &(struct lab_report_options){ .steps = true }, &out);
				step = fmax(step, (now_us() - start) / 1e3);
			}
			lab_fixture_free(&f);
		}
		typical = median(times, ROUNDS);
		printf("lab %-14s median %7.2f ms  worst %.2f ms  (budget 20)  step %.3f ms at most  (budget 2)\n",
			lab_table[i]->id, typical, times[ROUNDS - 1], step);
	}
}
END_TEST

START_TEST(large_allreduce)
{
	double start = now_us();
	struct lab_fixture f;

	lab_fixture_run(&f, "allreduce", "gpus=1024;elements=10000000;gpus-per-node=8");
	printf("lab allreduce      1,024 ranks, 10 million elements: %.0f ms, %.0f MB  (budget 1000 ms, 256 MB)\n",
		(now_us() - start) / 1e3, (double)f.size.bytes / 1e6);
	lab_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bench");
	TCase *t = tcase_create("bench");

	tcase_set_timeout(t, 0);
	tcase_add_test(t, evaluate);
	tcase_add_test(t, choose);
	tcase_add_test(t, answer_a_no);
	tcase_add_test(t, load_presets);
	tcase_add_test(t, every_lab);
	tcase_add_test(t, large_allreduce);
	suite_add_tcase(s, t);
	return test_run(s);
}
