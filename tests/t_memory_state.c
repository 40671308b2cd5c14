/* Model states against Megatron-LM's own estimator, and the ledgers of the frameworks. */
#include "support.h"

#include "memory.h"
#include "num.h"
#include "plan.h"
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t largest_state(const struct scenario *s)
{
	int64_t most = 0;

	for (int64_t i = 0; i < s->layout.pp; i++) {
		struct stage_memory m;
		struct err e;

		ck_assert(memory_stage(s, i, &m, &e) == ERR_OK);
		most = num_max(most, m.persistent_bytes);
	}
	return most;
}

static void check_refusal(const struct csv *c)
{
	struct draft d;
	struct err e = { .code = ERR_OK };
	enum err_code code = test_try_draft(&d, csv_text(c, "knobs"), &e);

	if (code == ERR_OK) {
		draft_settle(&d, test_catalog());
		code = scenario_check(&d.s, &e);
	}
	ck_assert_msg(code != ERR_OK, "%s: not refused", csv_text(c, "case"));
	ck_assert_msg(strcmp(e.where, csv_text(c, "knob")) == 0, "%s: blames %s: %s", csv_text(c, "case"), e.where, e.msg);
}

static void check_estimate(const struct csv *c)
{
	const char *expect = csv_text(c, "expect");
	struct draft d;
	struct err e;
	double percent;

	test_draft(&d, csv_text(c, "knobs"));
	ck_assert_msg(scenario_check(&d.s, &e) == ERR_OK, "%s: %s: %s", csv_text(c, "case"), e.where, e.msg);
	percent = 100 * ((double)largest_state(&d.s) / csv_real(c, "bytes") - 1);
	if (test_prints_table())
		printf("%-44s %+9.4f %%  %s %s\n", csv_text(c, "case"), percent, expect, csv_text(c, "why"));
	if (strcmp(expect, "equal") == 0)
		ck_assert_msg(fabs(percent) <= 0.01, "%s: %+.4f %%", csv_text(c, "case"), percent);
	else
		ck_assert_msg(fabs(percent) > 0.01, "%s is listed as different but agrees", csv_text(c, "case"));
}

START_TEST(states_equal_megatrons_estimator)
{
	struct csv c;
	int equal = 0, refused = 0, rows = 0;

	csv_open(&c, "megatron_estimator.csv");
	for (; csv_next(&c); rows++) {
		const char *expect = csv_text(&c, "expect");

		ck_assert(strcmp(expect, "equal") == 0 || csv_text(&c, "why")[0] != '\0');
		if (strcmp(expect, "refused") == 0) {
			check_refusal(&c);
			refused++;
		} else if (strcmp(expect, "skipped") != 0) {
			check_estimate(&c);
			equal += strcmp(expect, "equal") == 0;
		}
	}
	ck_assert_int_eq(equal, 18);
	ck_assert_int_eq(refused, 8);
	ck_assert_int_eq(rows, 31);
}
END_TEST

/* Bytes per parameter of a rank, all states together: tp 1, dp 8, no norms or embeddings in the way because all parts cost the
 * same. */
static const struct {
	const char *knobs;
	double bytes;
} ledgers[] = {
	{ "framework=megatron;zero=0", 18 }, { "framework=megatron;zero=1", 6 + 12.0 / 8 }, /* 2 + 4 + 4 + 8 */
	{ "framework=megatron;zero=0;precision=fp16", 16 }, { "framework=megatron;zero=0;grad-dtype=bf16", 16 },
	{ "framework=fsdp;zero=3", 16.0 / 8 }, { "framework=ddp;zero=0", 16 },
	{ "framework=fsdp;zero=3;zero-group=4", 16.0 / 4 }, /* HSDP shards inside the group only */
	{ "framework=deepspeed;zero=0", 16 }, { "framework=deepspeed;zero=1", 4 + 12.0 / 8 },
	{ "framework=deepspeed;zero=2", 2 + 14.0 / 8 }, { "framework=deepspeed;zero=3", 16.0 / 8 },
	{ "profile=deepspeed-bf16opt;zero=1", 2 + 2 + 4 + 12.0 / 8 }, /* fp32 accumulation is not sharded */
	{ "framework=lesson;zero=0", 12 }, { "framework=lesson;zero=0;precision=fp32", 16 },
	{ "framework=zero-paper;zero=0", 16 }, { "framework=megatron;zero=0;precision=pure-bf16", 8 },
	{ "framework=ddp;zero=0;precision=pure-bf16", 8 }, { "framework=megatron;zero=0;precision=fp32", 16 },
	{ "framework=megatron;zero=0;optimizer=adam8bit", 12 }, { "framework=megatron;zero=0;optimizer=lion", 14 },
	{ "framework=megatron;zero=0;optimizer=sgd", 10 }, { "framework=megatron;zero=0;optimizer=sgd-momentum", 14 },
	{ "framework=megatron;zero=0;optimizer=adafactor", 10 }, { "framework=megatron;zero=0;optimizer=muon", 14 },
	{ "framework=ddp;zero=0;precision=pure-bf16;optimizer=adam8bit", 6 },
	{ "framework=megatron;zero=0;master-dtype=none", 14 },
	{ "framework=ddp;zero=0;optimizer=paged-adamw", 8 }, /* moments are paged to the host */
};

START_TEST(ledgers_cost_what_they_say)
{
	char knobs[300];
	struct draft d;
	struct plan p;
	struct err e;

	(void)snprintf(knobs, sizeof knobs, "params=1B;vocab=1024;gpu=H100;gpus=8;seq=1024;micro-batch=1;global-batch=8;%s",
		ledgers[_i].knobs);
	test_draft(&d, knobs);
	ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_msg(fabs((double)p.worst.persistent_bytes / (double)p.params / ledgers[_i].bytes - 1) < 1e-6,
		"%s: %.4f bytes per parameter, not %.4f", ledgers[_i].knobs, (double)p.worst.persistent_bytes / (double)p.params,
		ledgers[_i].bytes);
}
END_TEST

/* 4 bytes per parameter stay whole while micro-batches accumulate, unless each is reduced; under a pipeline, always. */
START_TEST(whole_gradients_are_there_only_while_micro_batches_accumulate)
{
	static const char base[] = "model=llama3-8b;gpu=H100;gpus=8;zero=3;seq=4096;micro-batch=1;schedule=1f1b;profile=";
	static const struct {
		const char *knobs;
		double bytes;
	} cases[] = {
		{ "fsdp2;global-batch=8", 0 },
		{ "fsdp2;global-batch=32", 4 },
		{ "fsdp2;global-batch=32;precision=pure-bf16", 2 },
		{ "torchtitan-2026;global-batch=32", 0 },
		{ "torchtitan-2026;global-batch=32;pp=2", 4 },
		{ "fsdp-sharded-accumulation;global-batch=32;pp=2", 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char knobs[200];

		(void)snprintf(knobs, sizeof knobs, "%s%s", base, cases[i].knobs);
		ck_assert_msg(fabs(test_plan(knobs).ledger.transient - cases[i].bytes) < 1e-12, "%s", cases[i].knobs);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memory_state");
	TCase *t = tcase_create("states");

	tcase_add_test(t, states_equal_megatrons_estimator);
	tcase_add_loop_test(t, ledgers_cost_what_they_say, 0, (int)(sizeof ledgers / sizeof ledgers[0]));
	tcase_add_test(t, whole_gradients_are_there_only_while_micro_batches_accumulate);
	suite_add_tcase(s, t);
	return test_run(s);
}
