/* The lesson's calculator and table 1 of the ZeRO paper, to the byte. Both count model states only; GB = 1e9. */
#include "support.h"

#include "memory.h"
#include "num.h"
#include "plan.h"
#include "units.h"

#include <math.h>
#include <string.h>

#define GB INT64_C(1000000000)
#define LESSON "gpu=h100-sxm-80gb;framework=lesson;precision=bf16;"

/* 12 bytes per parameter: 2 weights, 2 gradients, 8 moments; fp32: 4 + 4 + 8. */
static const struct state_case {
	const char *knobs;
	int64_t bytes;
	bool fits; /* 80 GB */
} lesson_cases[] = {
	{ LESSON "params=70B;gpus=1;zero=0;global-batch=1", 840 * GB, false },
	{ LESSON "params=70B;gpus=8;zero=0;global-batch=8", 840 * GB, false }, /* data parallelism saves nothing */
	{ LESSON "params=70B;gpus=8;zero=3;global-batch=8", 105 * GB, false },
	{ LESSON "params=70B;gpus=16;zero=3;global-batch=16", 52500000000, true },
	{ LESSON "params=7B;gpus=1;zero=0;global-batch=1", 84 * GB, false },
	{ LESSON "params=7B;gpus=1;zero=0;global-batch=1;precision=fp32", 112 * GB, false },
	{ LESSON "params=70B;gpus=8;zero=1;global-batch=8", 350 * GB, false },     /* 280 + 560/8 */
	{ LESSON "params=70B;gpus=8;zero=2;global-batch=8", 227500000000, false }, /* 140 + 140/8 + 560/8 */
	{ LESSON "params=405B;gpus=60;zero=3;global-batch=60", 81 * GB, false },
	{ LESSON "params=405B;gpus=61;zero=3;global-batch=61", 79672131148, true }, /* 4860 / 61 */
	{ LESSON "params=70B;gpus=10;zero=3;global-batch=10", 84 * GB, false },
	{ LESSON "params=70B;gpus=11;zero=3;global-batch=11", 76363636364, true }, /* so 11 cards suffice, not 16 */
};

START_TEST(the_calculator_counts_twelve_bytes_per_parameter)
{
	const struct state_case *k = &lesson_cases[_i];
	struct plan p = test_plan(k->knobs);

	ck_assert_msg(p.worst.need_bytes == k->bytes, "%s: %lld, not %lld", k->knobs, (long long)p.worst.need_bytes,
		(long long)k->bytes);
	ck_assert_int_eq(p.verdict.have_bytes, 80 * GB);
	ck_assert_int_eq(p.verdict.fits, k->fits);
}
END_TEST

START_TEST(adam_states_of_70b_fill_seven_cards)
{
	struct plan p = test_plan(LESSON "params=70B;gpus=1;zero=0;global-batch=1");

	ck_assert_int_eq(p.worst.category[MEMORY_WEIGHTS], 140 * GB);
	ck_assert_int_eq(p.worst.category[MEMORY_GRADIENTS], 140 * GB);
	ck_assert_int_eq(p.worst.category[MEMORY_OPTIMIZER], 560 * GB);
	ck_assert_int_eq(num_ceil_div(p.worst.category[MEMORY_OPTIMIZER], 80 * GB), 7);
}
END_TEST

START_TEST(state_of_405b_fills_61_cards)
{
	struct plan p = test_plan(LESSON "params=405B;gpus=1;zero=0;global-batch=1");

	ck_assert_int_eq(p.worst.need_bytes, 4860 * GB);
	ck_assert_int_eq(num_ceil_div(p.worst.need_bytes, 80 * GB), 61);
}
END_TEST

START_TEST(the_calculator_has_no_activations_and_says_so)
{
	struct plan p = test_plan(LESSON "params=70B;gpus=8;zero=3;global-batch=8");
	bool said = false;

	ck_assert_int_eq(p.worst.category[MEMORY_ACTIVATIONS], 0);
	ck_assert_int_eq(p.worst.category[MEMORY_LOGITS], 0);
	ck_assert_int_eq(p.worst.category[MEMORY_TRANSIENT], 0);
	ck_assert_int_eq(p.worst.category[MEMORY_RESERVED], 0);
	ck_assert_int_eq(p.worst.category[MEMORY_MASTER_WEIGHTS], 0);
	for (int64_t i = 0; i < p.n_diagnostics; i++)
		said = said || strcmp(p.diagnostics[i].id, "states-only") == 0;
	ck_assert(said);
}
END_TEST

/* Exercise 5: 70B on 4 GPUs with the moments offloaded. On a GPU remain (2 + 2) 70e9 / 4 = 70 GB of 80; 560 GB of moments go to
 * the host. */
#define EXERCISE_5 LESSON "params=70B;gpus=4;zero=3;global-batch=4;"

START_TEST(exercise_5_does_not_fit_without_offload)
{
	struct plan p = test_plan(EXERCISE_5);

	ck_assert_int_eq(p.worst.need_bytes, 210 * GB);
	ck_assert_int_eq(p.verdict.limit, LIMIT_GPU_MEMORY);
}
END_TEST

START_TEST(exercise_5_is_48_gb_short_of_one_nodes_host_memory)
{
	struct plan p = test_plan(EXERCISE_5 "offload=cpu");

	ck_assert_int_eq(p.worst.need_bytes, 70 * GB);
	ck_assert_int_eq(p.nodes, 1);
	ck_assert_int_eq(p.host_bytes_per_node, 560 * GB);
	ck_assert(!p.verdict.fits);
	ck_assert_int_eq(p.verdict.limit, LIMIT_HOST_MEMORY);
	ck_assert_int_eq(p.verdict.have_bytes, 512 * GB);
	ck_assert_int_eq(p.verdict.headroom_bytes, -48 * GB);
}
END_TEST

START_TEST(exercise_5_fits_with_nvme)
{
	struct plan p = test_plan(EXERCISE_5 "offload=nvme");

	ck_assert_int_eq(p.worst.need_bytes, 70 * GB);
	ck_assert_int_eq(p.nvme_bytes_per_node, 560 * GB);
	ck_assert_int_eq(p.host_bytes_per_node, 0);
	ck_assert(p.verdict.fits);
}
END_TEST

START_TEST(exercise_5_fits_with_the_gpus_on_two_nodes)
{
	struct plan p = test_plan(EXERCISE_5 "offload=cpu;gpus-per-node=2");

	ck_assert_int_eq(p.nodes, 2);
	ck_assert_int_eq(p.host_bytes_per_node, 280 * GB);
	ck_assert(p.verdict.fits);
}
END_TEST

/* Rajbhandari 2020, table 1: 7.5B, 128B and 1T parameters on 1 to 1024 GPUs; 4 + 12/N, 2 + 14/N and 16/N bytes per parameter. */
START_TEST(zero_paper_table_1_is_exact)
{
	static const double billions[] = { 7.5, 128, 1000 };
	static const int64_t ranks[] = { 1, 4, 16, 64, 256, 1024 };

	for (size_t m = 0; m < 3; m++)
		for (size_t r = 0; r < 6; r++)
			for (int zero = 0; zero <= 3; zero++) {
				double n = (double)ranks[r], whole = zero == 0 ? 16 : zero == 1 ? 4 : zero == 2 ? 2 : 0;
				double expected = billions[m] * 1e9 * (whole + (16 - whole) / n);
				char knobs[200];
				struct plan p;

				(void)snprintf(knobs, sizeof knobs,
					"params=%.1fB;gpus=%lld;framework=zero-paper;precision=fp16;zero=%d;global-batch=%lld",
					billions[m], (long long)ranks[r], zero, (long long)ranks[r]);
				p = test_plan(knobs);
				ck_assert_msg(fabs((double)p.worst.need_bytes - expected) <= 0.5, "%s: %lld, not %.1f", knobs,
					(long long)p.worst.need_bytes, expected);
			}
}
END_TEST

/* The figures of the paper's figure 1 as printed: 7.5B on 64 GPUs. */
START_TEST(zero_paper_figure_1_prints_120_31_4_16_6_1_9)
{
	static const char *const printed[] = { "120.0", "31.4", "16.6", "1.9" };
	char knobs[200], text[32];

	(void)snprintf(
		knobs, sizeof knobs, "params=7.5B;gpus=64;framework=zero-paper;precision=fp16;global-batch=64;zero=%d", _i);
	(void)snprintf(text, sizeof text, "%.1f", (double)test_plan(knobs).worst.need_bytes / UNITS_GB);
	ck_assert_str_eq(text, printed[_i]);
}
END_TEST

/* 4 stages: one micro-batch leaves 75 % of the step idle, 16 leave (N - 1)/M = 18.75 % over the ideal. */
START_TEST(the_bubble_is_75_per_cent_and_then_18_75)
{
	struct plan one, sixteen;

	one = test_plan("params=7B;gpu=A100;gpus=4;framework=lesson;pp=4;zero=0;schedule=gpipe;micro-batch=1;global-batch=1");
	sixteen =
		test_plan("params=7B;gpu=A100;gpus=4;framework=lesson;pp=4;zero=0;schedule=gpipe;micro-batch=1;global-batch=16");
	ck_assert_double_eq_tol(one.bubble_of_step, 0.75, 1e-12);
	ck_assert_double_eq_tol(sixteen.bubble_over_ideal, 0.1875, 1e-12);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lesson");
	TCase *t = tcase_create("lesson");

	tcase_add_loop_test(
		t, the_calculator_counts_twelve_bytes_per_parameter, 0, (int)(sizeof lesson_cases / sizeof lesson_cases[0]));
	tcase_add_test(t, adam_states_of_70b_fill_seven_cards);
	tcase_add_test(t, state_of_405b_fills_61_cards);
	tcase_add_test(t, the_calculator_has_no_activations_and_says_so);
	tcase_add_test(t, exercise_5_does_not_fit_without_offload);
	tcase_add_test(t, exercise_5_is_48_gb_short_of_one_nodes_host_memory);
	tcase_add_test(t, exercise_5_fits_with_nvme);
	tcase_add_test(t, exercise_5_fits_with_the_gpus_on_two_nodes);
	tcase_add_test(t, zero_paper_table_1_is_exact);
	tcase_add_loop_test(t, zero_paper_figure_1_prints_120_31_4_16_6_1_9, 0, 4);
	tcase_add_test(t, the_bubble_is_75_per_cent_and_then_18_75);
	suite_add_tcase(s, t);
	return test_run(s);
}
