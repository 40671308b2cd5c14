/* Worked examples: peaks of published runs term by term, and the activation formulas of Korthikanti 2022. */
#include "support.h"

#include "memory.h"
#include "num.h"
#include "rules.h"
#include "units.h"

#include <math.h>
#include <string.h>

#define MIB 1048576.0

/* The scenario of a row of memory_rows.csv. */
static void row_draft(const char *id, struct draft *d)
{
	struct csv c;
	bool found = false;

	csv_open(&c, "memory_rows.csv");
	while (csv_next(&c))
		if (strcmp(csv_text(&c, "id"), id) == 0) {
			test_draft(d, csv_text(&c, "knobs"));
			found = true;
		}
	ck_assert_msg(found, "no row %s", id);
}

static struct stage_memory stage_of(const struct scenario *s, int64_t stage)
{
	struct stage_memory m;
	struct err e;

	ck_assert_msg(scenario_check(s, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_msg(memory_stage(s, stage, &m, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	return m;
}

enum figure { ALLOCATED, RESERVED, SMI, PERSISTENT, TERMS };

/* Figures of runs as worked out by hand. TERMS is the sum of two terms, or one of them given twice. */
static const struct worked {
	const char *row;
	int64_t stage;
	enum figure figure;
	enum memory_term term[2];
	double unit, expected;
} worked_cases[] = {
	/* BLOOM-176B, 384 A100: P = 4.010e9 on stage 0 (5 layers and the embedding); (8 + 12/8) P; 12 x (5 + 2) x 112 MiB of
	   checkpoints. */
	{ "bloom-prequel-134", 0, SMI, { 0 }, UNITS_GIB, 61.6 },
	{ "bloom-prequel-134", 0, PERSISTENT, { 0 }, UNITS_GIB, 35.5 },
	{ "bloom-prequel-134", 0, TERMS, { TERM_SAVED, TERM_STAGE_HIDDEN }, UNITS_GIB, 9.2 },
	{ "bloom-prequel-134", 0, TERMS, { TERM_RECOMPUTED_LAYER, TERM_WORKING_SET }, UNITS_GIB, 2.8 },
	/* Its fp16 sibling: P = 2.329e9 at 7 bytes; and data parallel 1: 16 + 6 bytes. */
	{ "bloom-prequel-031", 0, SMI, { 0 }, UNITS_GIB, 29.7 },
	{ "bloom-prequel-031", 0, PERSISTENT, { 0 }, UNITS_GIB, 15.2 },
	{ "bloom-prequel-031", 0, TERMS, { TERM_SAVED, TERM_STAGE_HIDDEN }, UNITS_GIB, 5.25 },
	{ "bloom-prequel-002", 0, SMI, { 0 }, UNITS_GIB, 70.6 },
	{ "bloom-prequel-002", 0, PERSISTENT, { 0 }, UNITS_GIB, 44.3 },
	{ "bloom-prequel-002", 0, TERMS, { TERM_STEP_FLATS, TERM_BUCKETS }, UNITS_GIB, 16.6 },
	/* Llama 3.1 8B, torchtitan, 8 H100, eager: 16 x 8.03e9 / 8; 63.6 kB x 16384 tokens x 32 layers; 2.10e9 logits x 12 bytes.
	 */
	{ "torchtitan-001", 0, RESERVED, { 0 }, UNITS_GIB, 83.0 },
	{ "torchtitan-001", 0, ALLOCATED, { 0 }, UNITS_GIB, 71.5 },
	{ "torchtitan-001", 0, PERSISTENT, { 0 }, UNITS_GIB, 15.0 },
	{ "torchtitan-001", 0, TERMS, { TERM_UNSHARDED_WEIGHTS, TERM_UNSHARDED_WEIGHTS }, UNITS_GIB, 1.8 },
	{ "torchtitan-001", 0, TERMS, { TERM_SAVED, TERM_SAVED }, UNITS_GIB, 31.1 },
	{ "torchtitan-001", 0, TERMS, { TERM_LOGITS, TERM_LOGITS }, UNITS_GIB, 23.5 },
	{ "torchtitan-001", 0, TERMS, { TERM_LOSS_HIDDEN, TERM_LOSS_HIDDEN }, UNITS_GIB, 0.25 },
	{ "torchtitan-005", 0, RESERVED, { 0 }, UNITS_GIB,
		62.1 }, /* 128 GPUs, compiled: the outputs of the last matrix are gone */
	{ "torchtitan-005", 0, TERMS, { TERM_SAVED, TERM_SAVED }, UNITS_GIB, 27.1 },
	{ "torchtitan-008", 0, RESERVED, { 0 }, UNITS_GIB, 83.8 }, /* context parallel */
	{ "torchtitan-008", 0, TERMS, { TERM_LOGITS, TERM_LOGITS }, UNITS_GIB, 47.0 },
	/* Llama 3.1 405B, FSDP 8, tp 8, pp 8: stage 0 has 15 layers and the embedding; the peak is the end of its first backward.
	 */
	{ "torchtitan-013", 0, RESERVED, { 0 }, UNITS_GIB, 75.5 },
	{ "torchtitan-013", 0, PERSISTENT, { 0 }, UNITS_GIB, 11.6 },
	{ "torchtitan-013", 0, TERMS, { TERM_UNSHARDED_WEIGHTS, TERM_UNSHARDED_WEIGHTS }, UNITS_GIB, 11.6 },
	{ "torchtitan-013", 0, TERMS, { TERM_ACCUMULATED_GRADIENTS, TERM_ACCUMULATED_GRADIENTS }, UNITS_GIB, 23.2 },
	{ "torchtitan-013", 0, TERMS, { TERM_SAVED, TERM_SAVED }, UNITS_GIB, 13.1 },
	{ "torchtitan-013", 0, TERMS, { TERM_WORKING_SET, TERM_WORKING_SET }, UNITS_GIB, 5.4 },
	{ "torchtitan-014", 1, RESERVED, { 0 }, UNITS_GIB, 65.0 }, /* interleaved: gradients of one chunk at a time */
	/* 28.3B on 32 stages: stage 1, 2 layers, 31 in flight x 2 x 444 MiB; interleaved: 93 chunks of one layer, 40.3. */
	{ "zero-bubble-034", 1, RESERVED, { 0 }, UNITS_GIB, 43.6 },
	{ "zero-bubble-034", 1, ALLOCATED, { 0 }, UNITS_GIB, 40.9 },
	{ "zero-bubble-034", 1, PERSISTENT, { 0 }, UNITS_GIB, 13.5 },
	{ "zero-bubble-034", 1, TERMS, { TERM_SAVED, TERM_SAVED }, UNITS_GIB, 26.9 },
	{ "zero-bubble-046", 1, RESERVED, { 0 }, UNITS_GIB, 58.0 },
	{ "zero-bubble-046", 1, TERMS, { TERM_SAVED, TERM_SAVED }, UNITS_GIB, 40.3 },
	/* Vocabulary of 256,000: at s = 2048 the dense embedding gradient wins (7 in flight + 1500 MiB), at 4096 all 8 in flight
	   do. */
	{ "vocab-parallel-005", 0, ALLOCATED, { 0 }, UNITS_GIB, 25.74 },
	{ "vocab-parallel-005", 0, PERSISTENT, { 0 }, UNITS_GIB, 18.57 },
	{ "vocab-parallel-011", 0, ALLOCATED, { 0 }, UNITS_GIB, 31.82 },
	{ "vocab-parallel-011", 0, TERMS, { TERM_SAVED, TERM_WORKING_SET }, UNITS_GIB, 13.1 },
	/* Megatron's CI: 7B t4 b2 s8192; the last of 4 stages with 8 chunks each; toys of h = 512; Mixtral 8x7B t2 p4 e4. */
	{ "megatron-ci-004", 0, ALLOCATED, { 0 }, UNITS_GIB, 53.1 },
	{ "megatron-ci-004", 0, PERSISTENT, { 0 }, UNITS_GIB, 19.15 },
	{ "megatron-ci-004", 0, TERMS, { TERM_SAVED, TERM_EMBEDDING_MASK }, UNITS_GIB, 30.6 },
	{ "megatron-ci-004", 0, TERMS, { TERM_LOGITS, TERM_LOGITS }, UNITS_GIB, 3.0 },
	{ "megatron-ci-002", 3, ALLOCATED, { 0 }, UNITS_GIB, 56.1 },
	{ "megatron-ci-017", 0, ALLOCATED, { 0 }, UNITS_GIB, 2.36 },
	{ "megatron-ci-016", 0, ALLOCATED, { 0 }, UNITS_GIB, 4.36 },
	{ "megatron-ci-024", 3, ALLOCATED, { 0 }, UNITS_GIB, 2.50 },
	{ "megatron-ci-009", 3, ALLOCATED, { 0 }, UNITS_GIB, 23.8 },
	/* 1.3B without recompute, p2 D4: 0.712e9 x 7 bytes; 2 in flight x (12 layers x 456 MiB + 16). */
	{ "bigscience-1b3-013", 0, SMI, { 0 }, UNITS_GIB, 21.2 },
	{ "bigscience-1b3-013", 0, PERSISTENT, { 0 }, UNITS_GIB, 4.6 },
	{ "bigscience-1b3-013", 0, TERMS, { TERM_SAVED, TERM_STAGE_HIDDEN }, UNITS_GIB, 10.7 },
	/* Korthikanti 175B, sequence parallel and selective: 12.3516 + 18 x 12 L h h / 64. */
	{ "korthikanti2022-018", 0, ALLOCATED, { 0 }, UNITS_GIB, 57.914 },
	/* NeMo, Llama 3.1 8B, cp 2: (2 + 2 + 12/8) 8.03e9 = 41.1 GiB; Nemotron-4 15B. Printed in GB. */
	{ "dgxc-210", 0, ALLOCATED, { 0 }, UNITS_GB, 70.76 },
	{ "dgxc-210", 0, PERSISTENT, { 0 }, UNITS_GIB, 41.1 },
	{ "dgxc-211", 0, ALLOCATED, { 0 }, UNITS_GB, 73.10 },
};

static double figure_of(const struct worked *w, const struct stage_memory *m)
{
	switch (w->figure) {
	case ALLOCATED:
		return (double)m->allocated_bytes;
	case RESERVED:
		return (double)m->reserved_bytes;
	case SMI:
		return (double)m->smi_bytes;
	case PERSISTENT:
		return (double)m->persistent_bytes;
	case TERMS:
		break;
	}
	return m->term[w->term[0]] + (w->term[1] != w->term[0] ? m->term[w->term[1]] : 0);
}

START_TEST(worked_example_is_within_two_percent)
{
	const struct worked *w = &worked_cases[_i];
	struct draft d;
	struct stage_memory m;
	double ours;

	row_draft(w->row, &d);
	m = stage_of(&d.s, w->stage);
	ours = figure_of(w, &m) / w->unit;
	ck_assert_msg(fabs(ours / w->expected - 1) <= 0.02, "%s stage %lld figure %d: %.3f, worked out as %.3f", w->row,
		(long long)w->stage, (int)w->figure, ours, w->expected);
}
END_TEST

/* What stays allocated between steps: the ledger without the second backward's gradients. */
static double between_steps(const struct stage_memory *m)
{
	return m->term[TERM_WEIGHTS] + m->term[TERM_MASTER] + m->term[TERM_GRADIENTS] + m->term[TERM_GRADIENT_COPIES] +
		m->term[TERM_MOMENTS];
}

/* GPT-2 18.8B, t4 p4, 4 micro-batches: 20 bytes per parameter, to 0.01 MiB. The log adds to it hidden tensors of 12 MiB and a
 * mask of 1 MiB that stay from the step before: 23215.09, 21633.09, 21633.09, 23121.32. */
START_TEST(persistent_bytes_of_the_18b_log_are_exact)
{
	static const double ledger[] = { 23214.08, 21609.08, 21609.08, 23094.32 },
			    log[] = { 23215.09, 21633.09, 21633.09, 23121.32 };
	static const double left_over[] = { 1, 2 * 12, 2 * 12, 2 * 12 + 3 };
	struct draft d;
	struct stage_memory m;
	double ours;

	row_draft("bigscience-gpt2-logs-001", &d);
	m = stage_of(&d.s, _i);
	ours = between_steps(&m) / MIB;
	ck_assert_double_eq_tol(ours, ledger[_i], 0.006);
	ck_assert_double_eq_tol(ours + left_over[_i], log[_i], 0.1);
}
END_TEST

/* Peaks of the same log: the backward of the second micro-batch; 22 bytes per parameter and at most 3 micro-batches in flight. */
START_TEST(peaks_of_the_18b_log_are_within_a_tenth_of_a_percent)
{
	static const double log[] = { 26204.6, 24432.01, 24299.01 };
	struct draft d;
	struct stage_memory m;

	row_draft("bigscience-gpt2-logs-001", &d);
	m = stage_of(&d.s, _i);
	ck_assert_msg(fabs((double)m.allocated_bytes / MIB / log[_i] - 1) <= 0.001, "stage %d: %.2f MiB, log %.2f", _i,
		(double)m.allocated_bytes / MIB, log[_i]);
}
END_TEST

/* The logs of 30B (p8) and 117B (p32): largest rank, GiB. */
START_TEST(peaks_of_the_larger_logs_are_within_two_tenths_of_a_percent)
{
	static const struct {
		const char *row;
		double log;
	} logs[] = { { "bigscience-gpt2-logs-002", 21.595 }, { "bigscience-gpt2-logs-004", 22.857 } };
	struct draft d;
	int64_t most = 0;

	row_draft(logs[_i].row, &d);
	for (int64_t k = 0; k < d.s.layout.pp; k++)
		most = num_max(most, stage_of(&d.s, k).allocated_bytes);
	ck_assert_double_eq_tol((double)most / UNITS_GIB, logs[_i].log, 0.002 * logs[_i].log);
}
END_TEST

/* Korthikanti 2022, section 4: s 2048, tp 8. */
static const struct {
	const char *model, *b;
	double s, h, a, micro_batch;
} korthikanti[] = {
	{ "megatron-22b", "4", 2048, 6144, 64, 4 },
	{ "megatron-175b", "1", 2048, 12288, 96, 1 },
	{ "megatron-530b", "1", 2048, 20480, 128, 1 },
	{ "megatron-1t", "1", 2048, 25600, 160, 1 },
};

/* Bytes that one layer keeps per micro-batch: the rows of the saved-tensor table that this recompute mode keeps. */
static double kept_bytes(int model, const char *tp, bool sequence_parallel, const char *recompute)
{
	struct saved_tensor rows[SAVED_TENSOR_MAX];
	char knobs[400];
	struct draft d;
	double sum = 0;
	size_t n;

	(void)snprintf(knobs, sizeof knobs,
		"model=%s;gpu=A100;gpus=8;profile=megatron-2022;tp=%s;sequence-parallel=%s;precision=fp16;seq=2048;"
		"micro-batch=%s;global-batch=32;recompute=%s;attention=unfused;dropout=0.1",
		korthikanti[model].model, tp, sequence_parallel ? "on" : "off", korthikanti[model].b, recompute);
	test_draft(&d, knobs);
	n = memory_saved_tensors(&d.s, false, rows, SAVED_TENSOR_MAX);
	for (size_t i = 0; i < n; i++)
		sum += rows[i].kept ? (double)rows[i].elements * rows[i].bytes_per_element : 0;
	return sum;
}

START_TEST(korthikanti_table_2_is_exact)
{
	double s = korthikanti[_i].s, h = korthikanti[_i].h, a = korthikanti[_i].a, sbh = s * korthikanti[_i].micro_batch * h,
	       t = 8;
	double scores = 5 * a * s * s * korthikanti[_i].micro_batch; /* s b h x 5 a s / h */

	ck_assert_double_eq(kept_bytes(_i, "1", false, "none"), sbh * 34 + scores);
	ck_assert_double_eq(kept_bytes(_i, "8", false, "none"), sbh * (10 + 24 / t) + scores / t);
	ck_assert_double_eq(kept_bytes(_i, "8", true, "none"), (sbh * 34 + scores) / t);
	ck_assert_double_eq(kept_bytes(_i, "8", false, "selective"), sbh * (10 + 24 / t));
	ck_assert_double_eq(kept_bytes(_i, "8", true, "selective"), sbh * 34 / t);
	ck_assert_double_eq(kept_bytes(_i, "8", false, "full"), sbh * 2);
}
END_TEST

/* Korthikanti 2022, figure 7, read off the plot: percent of tensor parallel without recompute. */
START_TEST(korthikanti_figure_7_is_within_two_tenths_of_a_point)
{
	static const double percent[4][4] = {
		{ 66.84, 49.42, 16.18, 7.64 },
		{ 62.04, 56.53, 18.49, 8.71 },
		{ 58.31, 62.04, 20.27, 9.42 },
		{ 58.31, 62.04, 20.27, 9.42 },
	};
	double all = kept_bytes(_i, "8", false, "none");

	ck_assert_double_eq_tol(100 * kept_bytes(_i, "8", true, "none") / all, percent[_i][0], 0.2);
	ck_assert_double_eq_tol(100 * kept_bytes(_i, "8", false, "selective") / all, percent[_i][1], 0.2);
	ck_assert_double_eq_tol(100 * kept_bytes(_i, "8", true, "selective") / all, percent[_i][2], 0.2);
	ck_assert_double_eq_tol(100 * kept_bytes(_i, "8", false, "full") / all, percent[_i][3], 0.2);
}
END_TEST

/* Korthikanti 2022, figure 1: activations of the first stage, L (1 + (p - 1) / (p v)) layers with the interleaved schedule. */
START_TEST(korthikanti_figure_1_activations_are_exact)
{
	static const struct {
		const char *row, *gib;
	} bars[] = {
		{ "korthikanti2022-015", "59.25" },
		{ "korthikanti2022-018", "12.3516" },
		{ "korthikanti2022-019", "114.023" },
		{ "korthikanti2022-020", "23.0762" },
		{ "korthikanti2022-021", "131.25" },
	};
	struct draft d;
	struct stage_memory m;
	char text[32];

	row_draft(bars[_i].row, &d);
	m = stage_of(&d.s, 0);
	(void)snprintf(text, sizeof text, "%.6g", m.term[TERM_SAVED] / UNITS_GIB);
	ck_assert_str_eq(text, bars[_i].gib);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memory_worked");
	TCase *t = tcase_create("worked");

	tcase_add_loop_test(t, worked_example_is_within_two_percent, 0, (int)(sizeof worked_cases / sizeof worked_cases[0]));
	tcase_add_loop_test(t, persistent_bytes_of_the_18b_log_are_exact, 0, 4);
	tcase_add_loop_test(t, peaks_of_the_18b_log_are_within_a_tenth_of_a_percent, 0, 3);
	tcase_add_loop_test(t, peaks_of_the_larger_logs_are_within_two_tenths_of_a_percent, 0, 2);
	tcase_add_loop_test(t, korthikanti_table_2_is_exact, 0, 4);
	tcase_add_loop_test(t, korthikanti_figure_7_is_within_two_tenths_of_a_point, 0, 4);
	tcase_add_loop_test(t, korthikanti_figure_1_activations_are_exact, 0, 5);
	suite_add_tcase(s, t);
	return test_run(s);
}
