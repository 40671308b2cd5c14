/* Calibration: what a measured step teaches, how much of it is believed, and the files that measurements come from. */
#include "support.h"

#include "calibrate.h"
#include "comm.h"
#include "compute.h"
#include "measured.h"
#include "preset_write.h"
#include "presets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char base[] = "model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;seq=8192;global-batch=128";

static double step_of(const struct scenario *s)
{
	struct step_time t;

	step_evaluate(s, &t);
	ck_assert(t.known);
	return t.step_s;
}

/* calibrate_level of n measured times of one scenario. */
static enum err_code calibrate(
	const struct scenario *s, const double *step_s, size_t n, struct calibrated_level *out, struct err *e)
{
	struct measured_step steps[32];

	for (size_t i = 0; i < n; i++)
		steps[i] = (struct measured_step){ .s = s, .step_s = step_s[i] };
	return calibrate_level(steps, n, out, e);
}

static const char *data_path(const char *name)
{
	static char path[400];
	const char *top = getenv("top_srcdir");

	(void)snprintf(path, sizeof path, "%s/tests/data/nccl/%s", top != NULL ? top : ".", name);
	return path;
}

static const char *temporary(const char *name, const char *text)
{
	static char path[400];
	FILE *f;

	(void)snprintf(path, sizeof path, "calibrate-%ld-%s", (long)getpid(), name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
	return path;
}

/* A cluster whose true level is 10 % lower: one step moves there most of the way, many move there. */
START_TEST(steps_move_the_level_toward_the_truth)
{
	struct draft d;
	struct scenario truth;
	struct calibrated_level one, many;
	struct err e;
	double step_s[20], log_truth = log(0.9);

	test_draft(&d, base);
	truth = d.s;
	truth.coefficients.v[COEF_GEMM_H100] *= 0.9;
	for (int i = 0; i < 20; i++)
		step_s[i] = step_of(&truth);
	ck_assert(calibrate(&d.s, step_s, 1, &one, &e) == ERR_OK);
	ck_assert(calibrate(&d.s, step_s, 20, &many, &e) == ERR_OK);
	ck_assert_int_eq(one.level, COEF_GEMM_H100);
	ck_assert_double_gt(log(one.after / one.before) / log_truth, 0.5);
	ck_assert_double_lt(log(one.after / one.before) / log_truth, 0.95);
	ck_assert_double_gt(log(many.after / many.before) / log_truth, 0.95);
	ck_assert_double_lt(many.sd, one.sd);
	ck_assert_double_lt(one.sd, 0.14);
}
END_TEST

START_TEST(a_step_as_predicted_changes_nothing_but_the_band)
{
	struct draft d;
	struct plan p;
	struct calibrated_level v;
	struct err e;
	double step_s, band;

	test_draft(&d, base);
	step_s = step_of(&d.s);
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	band = plan_band(&d, &p);
	ck_assert(!plan_is_calibrated(&d.s));
	ck_assert(calibrate(&d.s, &step_s, 1, &v, &e) == ERR_OK);
	ck_assert_double_eq_tol(v.after / v.before, 1, 1e-6);
	d.s.coefficients = v.set;
	ck_assert(plan_is_calibrated(&d.s));
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	ck_assert_double_lt(plan_band(&d, &p), band);
	/* The level of one precision says nothing about another. */
	d.s.training.precision = PRECISION_FP8;
	ck_assert(!plan_is_calibrated(&d.s));
}
END_TEST

START_TEST(a_second_calibration_starts_from_the_first)
{
	struct draft d;
	struct calibrated_level first, second;
	struct err e;
	double step_s;

	test_draft(&d, base);
	step_s = 1.1 * step_of(&d.s);
	ck_assert(calibrate(&d.s, &step_s, 1, &first, &e) == ERR_OK);
	d.s.coefficients = first.set;
	ck_assert(calibrate(&d.s, &step_s, 1, &second, &e) == ERR_OK);
	ck_assert_double_lt(second.sd, first.sd);
	ck_assert_double_lt(second.after, first.after);
}
END_TEST

START_TEST(steps_that_no_level_explains_are_refused)
{
	struct draft d;
	struct calibrated_level v;
	struct err e;
	double step_s;

	test_draft(&d, base);
	step_s = 3 * step_of(&d.s);
	ck_assert(calibrate(&d.s, &step_s, 1, &v, &e) == ERR_ILLEGAL);
	ck_assert_str_eq(e.where, "step");
	test_draft(&d, "model=llama3-8b;gpu=mi300x-192gb;gpus=8;framework=fsdp;zero=3");
	ck_assert(calibrate(&d.s, &step_s, 1, &v, &e) == ERR_ILLEGAL);
	ck_assert_str_eq(e.where, "gpu");
}
END_TEST

static const char *const joint_runs[] = {
	"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;seq=8192;global-batch=128",
	"model=llama3-8b;gpu=H100;gpus=8;framework=fsdp;zero=3;seq=8192;global-batch=64;recompute=full",
	"model=llama3-70b;gpu=H100;gpus=256;framework=megatron;tp=8;pp=8;seq=4096;global-batch=64"
};
static const double joint_ratios[] = { 1.2, 0.95, 1.1, 1.15 };
enum { JOINT_SCENARIOS = 3, JOINT_STEPS = 4 };

/* The documented misfit at a log level x, with the prior's weight. */
static double joint_misfit(const struct measured_step *steps, const double *before_s, double x)
{
	double sum = x / 0.14 * (x / 0.14);

	for (int i = 0; i < JOINT_STEPS; i++) {
		struct scenario s = *steps[i].s;
		double d;

		s.coefficients.v[COEF_GEMM_H100] *= exp(x);
		d = log(step_of(&s) / (joint_ratios[i] * before_s[i])) / 0.05;
		sum += d * d;
	}
	return sum;
}

/* Steps of several scenarios in one run: the level where the sum over all of them and the prior is least, in any order. */
START_TEST(several_scenarios_are_weighed_jointly)
{
	struct draft d[JOINT_SCENARIOS];
	struct measured_step steps[JOINT_STEPS], turned[JOINT_STEPS];
	struct calibrated_level all, again, part;
	double before_s[JOINT_STEPS], x;
	struct err e;

	for (int i = 0; i < JOINT_STEPS; i++) {
		if (i < JOINT_SCENARIOS)
			test_draft(&d[i], joint_runs[i]);
		before_s[i] = step_of(&d[i % JOINT_SCENARIOS].s);
		steps[i] = (struct measured_step){ .s = &d[i % JOINT_SCENARIOS].s, .step_s = joint_ratios[i] * before_s[i] };
		turned[JOINT_STEPS - 1 - i] = steps[i];
	}
	ck_assert_msg(calibrate_level(steps, JOINT_STEPS, &all, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	x = log(all.after / all.before);
	ck_assert_double_lt(joint_misfit(steps, before_s, x), joint_misfit(steps, before_s, x - 1e-4));
	ck_assert_double_lt(joint_misfit(steps, before_s, x), joint_misfit(steps, before_s, x + 1e-4));
	ck_assert(calibrate_level(turned, JOINT_STEPS, &again, &e) == ERR_OK);
	ck_assert_double_eq_tol(again.after / all.after, 1, 1e-6);
	/* Every step counts: without the last the level is another, and less is known. */
	ck_assert(calibrate_level(steps, JOINT_STEPS - 1, &part, &e) == ERR_OK);
	ck_assert_double_gt(fabs(log(part.after / all.after)), 0.003);
	ck_assert_double_gt(part.sd, all.sd);
	ck_assert_double_eq_tol(steps[0].before_s / before_s[0], 1, 1e-12);
	ck_assert_double_gt(steps[0].after_s, steps[0].before_s);
}
END_TEST

START_TEST(steps_of_two_levels_are_refused)
{
	struct draft h, a;
	struct measured_step steps[2];
	struct calibrated_level v;
	struct err e;

	test_draft(&h, base);
	test_draft(&a, "model=llama3-8b;gpu=A100;gpus=8;framework=fsdp;zero=3");
	steps[0] = (struct measured_step){ .s = &h.s, .step_s = step_of(&h.s) };
	steps[1] = (struct measured_step){ .s = &a.s, .step_s = step_of(&a.s) };
	ck_assert(calibrate_level(steps, 2, &v, &e) == ERR_ILLEGAL);
	ck_assert_ptr_nonnull(strstr(e.msg, "one GPU and precision at a time"));
}
END_TEST

START_TEST(a_measured_peak_moves_the_verdict)
{
	struct draft d;
	struct plan p, q;
	struct profile learned;
	struct err e;
	int64_t predicted = 0;

	test_draft(&d, base);
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	ck_assert(calibrate_memory(&d.s, p.worst.reserved_bytes * 6 / 5, &learned, &predicted, &e) == ERR_OK);
	ck_assert_int_eq(predicted, p.worst.reserved_bytes);
	d.s.profile = learned;
	ck_assert(plan_evaluate(&d.s, &q, &e) == ERR_OK);
	ck_assert_double_eq_tol((double)q.worst.reserved_bytes / (double)p.worst.reserved_bytes, 1.2, 0.02);
	ck_assert_double_eq_tol((double)q.worst.need_bytes / (double)q.worst.smi_bytes, 1, 0.001);
	ck_assert(calibrate_memory(&d.s, 3 * p.worst.reserved_bytes, &learned, &predicted, &e) == ERR_ILLEGAL);
	ck_assert_str_eq(e.where, "memory");
}
END_TEST

/* The files of tests/data/nccl were made from t = a + S f / B. */
static const struct nccl_case {
	const char *file;
	enum collective op;
	double latency_us, rate_gbs;
	int64_t ranks, hosts;
} nccl_cases[] = {
	{ "all_reduce_8.txt", COLLECTIVE_ALL_REDUCE, 25, 400, 8, 1 },
	{ "run_gather.txt", COLLECTIVE_GATHER, 18, 320, 8, 1 }, /* the name stands in the output */
	{ "alltoall_8.txt", COLLECTIVE_ALL_TO_ALL, 15, 300, 8, 1 },
	{ "all_reduce_2nodes.txt", COLLECTIVE_ALL_REDUCE, 60, 320, 16, 2 },
};

START_TEST(tables_of_nccl_tests_are_read)
{
	const struct nccl_case *k = &nccl_cases[_i];
	struct collective_rate r;
	struct err e;

	ck_assert_msg(measured_nccl(data_path(k->file), &r, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_int_eq(r.op, k->op);
	ck_assert_double_eq_tol(r.latency_s * 1e6, k->latency_us, 0.1);
	ck_assert_double_eq_tol(r.rate_bps / 1e9 / k->rate_gbs, 1, 0.01);
	ck_assert_int_eq(r.ranks, k->ranks);
	ck_assert_int_eq(r.hosts, k->hosts);
}
END_TEST

START_TEST(measured_links_time_collectives)
{
	struct collective_rate r;
	struct gpu_family family;
	struct coefficients set;
	struct draft d;
	struct links k;
	struct err e;

	test_draft(&d, base);
	family = d.s.cluster.family;
	set = d.s.coefficients;
	ck_assert(measured_nccl(data_path("all_reduce_8.txt"), &r, &e) == ERR_OK);
	ck_assert(calibrate_collective(&d.s, &r, &family, &set, &e) == ERR_OK);
	ck_assert(measured_nccl(data_path("all_reduce_2nodes.txt"), &r, &e) == ERR_OK);
	ck_assert(calibrate_collective(&d.s, &r, &family, &set, &e) == ERR_OK);
	d.s.cluster.family = family;
	d.s.coefficients = set;
	k = comm_links(&d.s);
	/* 1 GiB over 8 ranks: what the table says. */
	ck_assert_double_eq_tol(
		comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, 8, 1073741824.0, 1) / (25e-6 + 1073741824.0 * 1.75 / 400e9), 1,
		0.01);
	ck_assert_double_eq_tol(k.nic_bps / 40e9, 1, 0.01);
}
END_TEST

START_TEST(matrix_multiplies_set_the_curve)
{
	struct matmul_point points[MATMUL_POINTS_MAX];
	struct gpu_family family;
	struct draft d;
	struct err e;
	size_t n;
	double ratio;

	test_draft(&d, base);
	family = d.s.cluster.family;
	ck_assert_msg(measured_matmul(data_path("matmul.txt"), points, &n, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_uint_eq(n, 5);
	ck_assert_double_eq_tol(points[0].gflop, 2.147, 0.001);
	ck_assert(calibrate_matmul(&d.s, points, n, &family, &e) == ERR_OK);
	/* 128 GFLOP lies just below 4096^3 (137): 650 of 989. */
	ck_assert_double_eq_tol(family.bf16_curve[3], 650 / 989.4, 0.01);
	/* Beyond the largest the old shape goes on. */
	ratio = 690 / 989.4 / (0.762 + (0.739 - 0.762) * log(4398.0 / 2048) / log(4.0));
	ck_assert_double_eq_tol(family.bf16_curve[6], 0.739 * ratio, 0.001);
	ck_assert_double_eq_tol(family.fp8_curve[6], 0.658, 1e-12);
	points[4].flops = 1200e12;
	ck_assert(calibrate_matmul(&d.s, points, n, &family, &e) == ERR_RANGE);
}
END_TEST

static const struct bad_file {
	bool nccl;
	const char *text, *where, *says;
} bad_files[] = {
	{ true, "", "", "empty" },
	{ true, "hello\n", "", "holds no row" },
	{ true, "1048576 262144 float sum -1 34 30 53 0\n", ":1", "no heading" },
	{ true, "# size count type time algbw busbw\n1048576 262144 float 34 fast 53\n", ":2", "lacks a number" },
	{ true, "# size count type time algbw busbw\n1048576 262144 float 34 30 53\n", "", "goes up to" },
	{ true, "# size count type time algbw busbw\n1073741824 268435456 float 3400 300 530\n", "", "lists 0 ranks" },
	{ false, "# nothing\n", "", "holds no row" },
	{ false, "4096x4096 600\n", ":1", "neither a size" },
	{ false, "512 600\n1024x1024x1024\n", ":2", "a rate in TFLOP/s" },
	{ false, "512 600\n1024 -3\n", ":2", "a rate in TFLOP/s" },
	{ true, "# size count type time algbw busbw\n1048576 262144 float 0x22 30 53\n", ":2", "lacks a number" },
	{ true, "# size count type time algbw busbw\n1048576 262144 float 34 30 -53\n", ":2", "lacks a number" },
	{ false, "0x200 600\n", ":1", "neither a size" },
	{ false, "1024x0x10x1024 600\n", ":1", "neither a size" },
	{ false, "512 0x258\n", ":1", "a rate in TFLOP/s" },
	{ false, "512 nan\n", ":1", "a rate in TFLOP/s" },
};

START_TEST(bad_files_are_named_with_the_line)
{
	const struct bad_file *k = &bad_files[_i];
	const char *path = temporary("bad", k->text);
	struct matmul_point points[MATMUL_POINTS_MAX];
	struct collective_rate r;
	struct err e = { .code = ERR_OK };
	size_t n;
	enum err_code code = k->nccl ? measured_nccl(path, &r, &e) : measured_matmul(path, points, &n, &e);

	(void)unlink(path);
	ck_assert_int_eq(code, ERR_FILE);
	ck_assert_msg(strstr(e.where, k->where) != NULL && strstr(e.where, path) != NULL, "%s", e.where);
	ck_assert_msg(strstr(e.msg, k->says) != NULL, "%s", e.msg);
}
END_TEST

/* What calibrate writes is what the presets read back. */
START_TEST(written_coefficients_are_read_back)
{
	struct draft d;
	struct calibrated_level v;
	struct preset_store *store;
	const struct coefficients *read;
	char dir[300], path[PRESET_PATH_CAP];
	struct err e;
	double step_s;

	test_draft(&d, base);
	step_s = 1.1 * step_of(&d.s);
	ck_assert(calibrate(&d.s, &step_s, 1, &v, &e) == ERR_OK);
	(void)snprintf(v.set.id, sizeof v.set.id, "written");
	ck_assert_ptr_nonnull(getcwd(dir, sizeof dir - 40));
	(void)snprintf(dir + strlen(dir), 40, "/calibrate-%ld", (long)getpid());
	ck_assert_msg(preset_write(PRESET_KIND_COEFFICIENTS, &v.set, dir, NULL, path, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert(preset_store_new(&store, &e) == ERR_OK);
	ck_assert_msg(preset_store_add_user(store, dir, NULL, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	read = catalog_coefficients(preset_store_catalog(store), "written");
	ck_assert_ptr_nonnull(read);
	ck_assert_int_eq(read->calibrated, COEF_GEMM_H100);
	ck_assert_double_eq(read->level_sd, v.sd);
	ck_assert_int_eq(memcmp(read->v, v.set.v, sizeof read->v), 0);
	/* The shipped set stays the default. */
	ck_assert_str_eq(preset_store_catalog(store)->coefficients[0].id, "shipped");
	preset_store_free(store);
	(void)unlink(path);
	for (int i = 0; i < 4; i++) {
		*strrchr(path, '/') = '\0';
		(void)rmdir(path);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calibrate");
	TCase *t = tcase_create("calibrate");

	tcase_add_test(t, steps_move_the_level_toward_the_truth);
	tcase_add_test(t, a_step_as_predicted_changes_nothing_but_the_band);
	tcase_add_test(t, a_second_calibration_starts_from_the_first);
	tcase_add_test(t, steps_that_no_level_explains_are_refused);
	tcase_add_test(t, several_scenarios_are_weighed_jointly);
	tcase_add_test(t, steps_of_two_levels_are_refused);
	tcase_add_test(t, a_measured_peak_moves_the_verdict);
	tcase_add_loop_test(t, tables_of_nccl_tests_are_read, 0, sizeof nccl_cases / sizeof nccl_cases[0]);
	tcase_add_test(t, measured_links_time_collectives);
	tcase_add_test(t, matrix_multiplies_set_the_curve);
	tcase_add_loop_test(t, bad_files_are_named_with_the_line, 0, sizeof bad_files / sizeof bad_files[0]);
	tcase_add_test(t, written_coefficients_are_read_back);
	suite_add_tcase(s, t);
	return test_run(s);
}
