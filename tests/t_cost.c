/* What runs cost: the arithmetic, the lesson's two bills, and published GPU hours beside predicted ones. */
#include "support.h"

#include "cost.h"
#include "plan.h"
#include "search.h"

#include <math.h>
#include <string.h>

static void plan_of(const char *knobs, struct draft *d, struct plan *p)
{
	struct err e;

	test_draft(d, knobs);
	ck_assert_msg(plan_evaluate(&d->s, p, &e) == ERR_OK, "%s: %s (in %s)", e.where, e.msg, knobs);
}

static struct cost cost_with(const char *knobs)
{
	struct draft d;
	struct plan p;
	char all[400];

	(void)snprintf(
		all, sizeof all, "model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;global-batch=128;%s", knobs);
	plan_of(all, &d, &p);
	ck_assert(p.step.known);
	return cost_of(&d.s, &p.step);
}

START_TEST(the_figures_follow_from_each_other)
{
	struct draft d;
	struct plan p;
	struct cost c;

	plan_of("model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;global-batch=128;tokens=1000000000000;price=2.5",
		&d, &p);
	c = cost_of(&d.s, &p.step);
	ck_assert_double_eq_tol(c.steps, ceil(1e12 / (128.0 * (double)d.s.training.seq)), 0.5);
	ck_assert_double_eq_tol(c.step_days * 86400 / (c.steps * p.step.step_s), 1, 1e-12);
	ck_assert_double_eq_tol(c.days * c.goodput / c.step_days, 1, 1e-12);
	ck_assert_double_eq_tol(c.gpu_hours / (c.days * 24 * 64), 1, 1e-12);
	ck_assert_double_eq_tol(c.usd / (c.gpu_hours * 2.5), 1, 1e-12);
	ck_assert_double_lt(c.goodput, d.s.cost.goodput);
}
END_TEST

/* 30.84 M h x $3.5 = $108 M; 2.788 M h x $2 = $5.58 M: the default prices of the GPU presets. */
START_TEST(the_lessons_bills_come_out)
{
	struct draft d;
	struct plan p;
	struct cost c;

	plan_of("model=llama3.1-405b;gpu=h100-sxm-80gb;gpus=1024;framework=megatron;tp=8;pp=16;global-batch=1024", &d, &p);
	c = cost_of(&d.s, &p.step);
	ck_assert_double_eq_tol(c.usd / c.gpu_hours * 30.84e6, 108e6, 0.1e6);
	plan_of("model=deepseek-v3;gpu=h800-sxm-80gb;gpus=256;framework=megatron;pp=16;ep=16;global-batch=256", &d, &p);
	c = cost_of(&d.s, &p.step);
	ck_assert_double_eq_tol(c.usd / c.gpu_hours * 2.788e6, 5.576e6, 1e3);
}
END_TEST

/* sqrt(2 w M): the loss is the same a little to either side. Src: Young 1974. */
START_TEST(the_checkpoint_interval_is_the_best_one)
{
	struct cost c = cost_with("mtbf=50000");
	double loss[3], at[3] = { 0.9, 1, 1.1 };

	for (int i = 0; i < 3; i++)
		loss[i] = c.checkpoint_s / (at[i] * c.checkpoint_interval_s) +
			at[i] * c.checkpoint_interval_s / 2 / c.cluster_mtbf_s;
	ck_assert_double_lt(loss[1], loss[0]);
	ck_assert_double_lt(loss[1], loss[2]);
	ck_assert_double_eq_tol(cost_with("mtbf=0").goodput, 0.85, 1e-12);
	ck_assert_double_lt(cost_with("mtbf=1000").goodput, c.goodput);
}
END_TEST

/* One in 33 days on 64 GPUs. Src: Llama 3 report, 419 interruptions in 54 days on 16,384 GPUs. */
START_TEST(failures_are_those_of_the_llama_3_report)
{
	struct cost c = cost_with("mtbf=50000");
	double published_hours = 54.0 * 24 * 16384 / 419;

	ck_assert_double_eq_tol(c.cluster_mtbf_s / 3600 * 64 / published_hours, 1, 0.02);
}
END_TEST

START_TEST(more_tokens_and_dearer_hours_cost_more)
{
	ck_assert_double_lt(cost_with("tokens=1000000000000").usd, cost_with("tokens=1100000000000").usd);
	ck_assert_double_lt(cost_with("price=2").usd, cost_with("price=3").usd);
	ck_assert_double_lt(cost_with("pue=1.1").kwh, cost_with("pue=1.3").kwh);
	/* Nothing given: 20 tokens per parameter. */
	ck_assert_double_eq_tol(cost_with("pue=1.2").tokens / 70.554e9, 20, 0.01);
}
END_TEST

/* Predicted over published GPU hours - 1; NAN: the speed is not known. */
static double hours_error(const struct csv *c, double *predicted)
{
	char knobs[600];
	struct draft d;
	struct plan p;
	struct err e;

	(void)snprintf(knobs, sizeof knobs, "%s;gpu=%s;gpus=%s;tokens=%.0f;%s", csv_text(c, "scenario"), csv_text(c, "gpu_id"),
		csv_text(c, "gpus"), 1e12 * csv_real(c, "tokens_t"), csv_text(c, "knobs"));
	test_draft(&d, knobs);
	ck_assert_msg(search_choose(&d, test_catalog(), &p, &e) == ERR_OK, "%s: %s: %s", csv_text(c, "model"), e.where, e.msg);
	if (!p.step.known)
		return (double)NAN;
	*predicted = cost_of(&d.s, &p.step).gpu_hours;
	return *predicted / csv_real(c, "gpu_hours") - 1;
}

/* The automatic layout at the published GPU count where one is known, else 1,024 GPUs; one goodput for all. */
START_TEST(published_gpu_hours)
{
	struct csv c;
	size_t checked = 0;

	csv_open(&c, "cost.csv");
	printf("%-34s %6s %12s %12s %8s  %s\n", "GPU hours", "GPUs", "published", "predicted", "error", "not asserted because");
	while (csv_next(&c)) {
		double predicted = 0, error = hours_error(&c, &predicted);
		bool asserted = csv_text(&c, "within")[0] != '\0';

		if (isnan(error))
			printf("%-34s %6s %12.0f %12s %8s  %s\n", csv_text(&c, "model"), csv_text(&c, "gpus"),
				csv_real(&c, "gpu_hours"), "-", "-", csv_text(&c, "reason"));
		else
			printf("%-34s %6s %12.0f %12.0f %+7.1f%%  %s\n", csv_text(&c, "model"), csv_text(&c, "gpus"),
				csv_real(&c, "gpu_hours"), predicted, 100 * error, asserted ? "" : csv_text(&c, "reason"));
		ck_assert_msg(asserted || csv_text(&c, "reason")[0] != '\0', "%s: neither a tolerance nor a reason",
			csv_text(&c, "model"));
		if (!asserted)
			continue;
		checked++;
		ck_assert_msg(fabs(error) <= csv_real(&c, "within"), "%s: %.0f GPU hours, published %.0f (%+.1f %%)",
			csv_text(&c, "model"), predicted, csv_real(&c, "gpu_hours"), 100 * error);
	}
	ck_assert_uint_ge(checked, 13);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cost");
	TCase *t = tcase_create("cost");

	tcase_add_test(t, the_figures_follow_from_each_other);
	tcase_add_test(t, the_lessons_bills_come_out);
	tcase_add_test(t, the_checkpoint_interval_is_the_best_one);
	tcase_add_test(t, failures_are_those_of_the_llama_3_report);
	tcase_add_test(t, more_tokens_and_dearer_hours_cost_more);
	tcase_add_test(t, published_gpu_hours);
	suite_add_tcase(s, t);
	return test_run(s);
}
