/* What other calculators answer, reproduced to the byte where their outputs are public. */
#include "support.h"

#include "estimators.h"
#include "explain.h"
#include "plan.h"

#include <math.h>
#include <string.h>

START_TEST(deepspeed_estimators_are_reproduced_to_the_byte)
{
	struct csv c;
	int rows = 0;

	csv_open(&c, "deepspeed_estimator.csv");
	while (csv_next(&c)) {
		double params = (double)csv_int(&c, "params");
		struct estimate x = csv_int(&c, "stage") == 2
			? estimator_deepspeed_zero2(
				  params, csv_int(&c, "gpus_per_node"), csv_int(&c, "nodes"), csv_int(&c, "cpu_offload") != 0)
			: estimator_deepspeed_zero3(params, (double)csv_int(&c, "largest_layer"), csv_int(&c, "gpus_per_node"),
				  csv_int(&c, "nodes"), csv_int(&c, "cpu_offload") != 0, csv_int(&c, "cpu_offload_params") != 0,
				  csv_int(&c, "zero_init") != 0);

		/* The estimators truncate at several places: a byte of the total is the tolerance. */
		ck_assert_msg(fabs(x.gpu_bytes - (double)csv_int(&c, "gpu_bytes")) <= 1, "%s: GPU %.0f, theirs %s",
			csv_text(&c, "case"), x.gpu_bytes, csv_text(&c, "gpu_bytes"));
		ck_assert_msg(fabs(x.host_bytes - (double)csv_int(&c, "cpu_bytes")) <= 1, "%s: host %.0f, theirs %s",
			csv_text(&c, "case"), x.host_bytes, csv_text(&c, "cpu_bytes"));
		rows++;
	}
	ck_assert_int_gt(rows, 100);
}
END_TEST

START_TEST(explain_shows_deepspeeds_figure_beside_ours)
{
	struct draft d;
	struct plan p;
	struct explanation x;
	struct err e;

	test_draft(&d, "model=llama3-8b;gpu=a100;gpus=8;framework=deepspeed;zero=3");
	ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "%s", e.msg);
	ck_assert_int_eq(explain_quantity(&d, &p, "memory.stages[0].total", &x, &e), ERR_OK);
	for (size_t i = 0; i < x.n_notes; i++)
		if (strstr(x.notes[i], "DeepSpeed's estimator prints") != NULL && strstr(x.notes[i], "leaves out") != NULL)
			return;
	ck_abort_msg("no note names DeepSpeed's own estimate");
}
END_TEST

/* 7e9 x 4 x 2 bytes: what accelerate prints as training with Adam in 16 bit, and the lesson's 84 GB. */
START_TEST(the_short_ones_by_hand)
{
	ck_assert_double_eq(estimator_accelerate_adam(7e9, 2), 56e9);
	ck_assert_double_eq(estimator_lesson(7e9, 2, 1, 0), 84e9);
	ck_assert_double_eq(estimator_lesson(70e9, 2, 8, 3), 105e9);
	ck_assert_double_eq(estimator_zero_paper(7.5e9, 64, 0), 120e9);
	ck_assert_double_eq_tol(estimator_zero_paper(7.5e9, 64, 1), 31.4e9, 0.05e9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("estimators");
	TCase *t = tcase_create("peers");

	tcase_add_test(t, deepspeed_estimators_are_reproduced_to_the_byte);
	tcase_add_test(t, explain_shows_deepspeeds_figure_beside_ours);
	tcase_add_test(t, the_short_ones_by_hand);
	suite_add_tcase(s, t);
	return test_run(s);
}
