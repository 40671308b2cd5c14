/* What meshplan-model(7) says and what the engine computes are the same: figures that another program recomputed from the page,
 * and the terms that were wrong once, each by the difference it makes. */
#include "support.h"

#include "cost.h"
#include "memory.h"
#include "num.h"
#include "plan.h"
#include "rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct stage_memory stage_of(const char *knobs, int64_t rank)
{
	struct stage_memory m;
	struct draft d;
	struct err e;

	test_draft(&d, knobs);
	ck_assert_msg(scenario_check(&d.s, &e) == ERR_OK, "%s: %s (in %s)", e.where, e.msg, knobs);
	ck_assert_msg(memory_stage(&d.s, rank, &m, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	return m;
}

/* Half a byte per term is lost in rounding, on every rank of a node. */
static void same_bytes(const struct csv *c, const char *column, int64_t ours)
{
	double page = csv_real(c, column);

	ck_assert_msg(fabs((double)ours - page) <= 64 + 2e-9 * page, "%s:%d: %s: %lld here, %.0f by the page", c->path, c->line,
		column, (long long)ours, page);
}

START_TEST(thirty_scenarios_are_as_the_page_says)
{
	static const char *const phases[PHASE_COUNT] = {
		[PHASE_INIT] = "init", [PHASE_FORWARD] = "forward", [PHASE_STEP] = "step"
	};
	struct csv c;
	int rows = 0;

	csv_open(&c, "model_page.csv");
	for (; csv_next(&c); rows++) {
		struct stage_memory m = stage_of(csv_text(&c, "knobs"), csv_int(&c, "stage"));
		struct plan p = test_plan(csv_text(&c, "knobs"));

		ck_assert_int_eq(p.params, csv_int(&c, "params"));
		ck_assert_int_eq(p.active_params, csv_int(&c, "active"));
		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
			same_bytes(&c, memory_category_table[i].key, m.category[i]);
		for (int i = 0; i < PHASE_COUNT; i++)
			if (phases[i] != NULL)
				same_bytes(&c, phases[i], p.phase_peak[i]);
		same_bytes(&c, "host", p.host_bytes_per_node);
		same_bytes(&c, "nvme", p.nvme_bytes_per_node);
		ck_assert_double_eq_tol(m.in_flight, csv_real(&c, "in_flight"), 1e-4 * m.in_flight);
	}
	ck_assert_int_eq(rows, 30);
}
END_TEST

/* Within a millionth of `scale`: both compute in double precision, the file holds ten digits. */
static void same_real(const struct csv *c, const char *column, double ours, double scale)
{
	double page = csv_real(c, column);

	ck_assert_msg(fabs(ours - page) <= 1e-6 * fabs(scale), "%s:%d: %s: %.9g here, %.9g by the page", c->path, c->line, column,
		ours, page);
}

static void same(const struct csv *c, const char *column, double ours)
{
	same_real(c, column, ours, csv_real(c, column));
}

static void same_traffic(const struct csv *c, const char *group, const struct traffic_time *x)
{
	static const char *const parts[] = { "calls", "bytes", "seconds" };
	const double ours[] = { round(x->calls), x->bytes_per_gpu, x->seconds };
	char column[40];

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(column, sizeof column, "%s_%s", group, parts[i]);
		same(c, column, ours[i]);
	}
}

static void same_cost(const struct csv *c, const struct cost *x)
{
	same(c, "tokens", x->tokens);
	same(c, "steps", x->steps);
	same(c, "days", x->days);
	same(c, "gpu_hours", x->gpu_hours);
	same(c, "usd", x->usd);
	same(c, "kwh", x->kwh);
	same(c, "goodput", x->goodput);
	same(c, "checkpoint_interval_s", x->checkpoint_interval_s);
}

START_TEST(times_and_costs_are_as_the_page_says)
{
	static const char *const groups[TRAFFIC_COUNT] = { [TRAFFIC_TP] = "tp",
		[TRAFFIC_CP] = "cp",
		[TRAFFIC_EP] = "ep",
		[TRAFFIC_PP] = "pp",
		[TRAFFIC_DP_REDUCE] = "reduce",
		[TRAFFIC_DP_GATHER] = "gather" };
	struct csv c;
	int rows = 0;

	csv_open(&c, "time_page.csv");
	for (; csv_next(&c); rows++) {
		struct draft d;
		struct plan p;
		struct cost cost;
		struct err e;

		test_draft(&d, csv_text(&c, "knobs"));
		ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "%s:%d: %s: %s", c.path, c.line, e.where, e.msg);
		same(&c, "step_s", p.step.step_s);
		for (int i = 0; i < STEP_PART_COUNT; i++)
			same_real(&c, step_part_table[i].key, p.step.part_s[i], p.step.step_s);
		same(&c, "tokens_per_s", p.throughput.tokens_per_s);
		same(&c, "model_tflops_per_gpu", p.throughput.model_flops_per_gpu / 1e12);
		same(&c, "mfu", p.throughput.mfu);
		same(&c, "hfu", p.throughput.hfu);
		for (int i = 0; i < TRAFFIC_COUNT; i++)
			same_traffic(&c, groups[i], &p.step.traffic[i]);
		cost = cost_of(&d.s, &p.step);
		same_cost(&c, &cost);
	}
	ck_assert_int_eq(rows, 40);
}
END_TEST

#define DENSE "model=llama3-8b;gpu=H100;gpus=8;seq=4096;micro-batch=1;global-batch=64;"
#define EXPERTS "model=mixtral-8x7b;gpu=H100;gpus=64;seq=4096;micro-batch=1;global-batch=512;"

/* fp32 and tf32 keep fp32 tensors: everything but log-sum-exps, masks and router logits is twice as large. */
START_TEST(tensors_of_fp32_take_four_bytes)
{
	static const char *const wide[] = { "fp32", "tf32" };
	struct stage_memory half = stage_of(DENSE "framework=megatron;zero=1;precision=bf16", 0);

	for (size_t i = 0; i < 2; i++) {
		char knobs[200];
		struct stage_memory m;
		double lse = 32 * 32 * 4096 * 4;

		(void)snprintf(knobs, sizeof knobs, DENSE "framework=megatron;zero=1;precision=%s", wide[i]);
		m = stage_of(knobs, 0);
		ck_assert_double_eq(m.term[TERM_SAVED] - lse, 2 * (half.term[TERM_SAVED] - lse));
		ck_assert_double_eq(m.term[TERM_LOGITS] * 6, 8 * half.term[TERM_LOGITS]); /* 4 + 4 bytes, where 2 + 4 were */
	}
}
END_TEST

START_TEST(gathered_weights_of_fp32_take_four_bytes)
{
	struct stage_memory half = stage_of(DENSE "framework=fsdp;zero=3;precision=bf16", 0),
			    wide = stage_of(DENSE "framework=fsdp;zero=3;precision=fp32", 0);

	ck_assert_double_gt(half.term[TERM_UNSHARDED_WEIGHTS], 0);
	ck_assert_double_eq(wide.term[TERM_UNSHARDED_WEIGHTS], 2 * half.term[TERM_UNSHARDED_WEIGHTS]);
}
END_TEST

/* Autocast caches 16-bit copies; without it there are none. */
START_TEST(only_autocast_has_a_cast_cache)
{
	struct stage_memory m;

	ck_assert_double_gt(stage_of(DENSE "framework=ddp;precision=bf16", 0).term[TERM_CAST_CACHE], 0);
	ck_assert_double_eq(stage_of(DENSE "framework=ddp;precision=fp32", 0).term[TERM_CAST_CACHE], 0);
	ck_assert_double_eq(stage_of(DENSE "framework=ddp;precision=tf32", 0).term[TERM_CAST_CACHE], 0);
	m = stage_of(DENSE "framework=ddp;precision=bf16;adapter=lora", 0); /* the frozen base is in 16 bit already */
	ck_assert_double_eq(m.term[TERM_CAST_CACHE], 2 * m.trainable_params);
}
END_TEST

/* Nothing is fp32 in pure-bf16: gradients that accumulate unsharded take 2 bytes. */
START_TEST(pure_bf16_accumulates_in_two_bytes)
{
	struct stage_memory mixed = stage_of(DENSE "framework=fsdp;zero=3;precision=bf16", 0),
			    pure = stage_of(DENSE "framework=fsdp;zero=3;precision=pure-bf16", 0);

	ck_assert_double_eq(mixed.term[TERM_ACCUMULATED_GRADIENTS], 4 * mixed.dense_params);
	ck_assert_double_eq(pure.term[TERM_ACCUMULATED_GRADIENTS], 2 * pure.dense_params);
}
END_TEST

/* Buckets of DDP are there for the whole run, not in the optimizer step alone: 4 bytes per gradient on top of the peak. */
START_TEST(ddp_buckets_stand_beside_the_activations)
{
	struct stage_memory m = stage_of(DENSE "framework=ddp", 0);

	ck_assert_double_eq(m.term[TERM_BUCKETS], 4 * m.dense_params);
	ck_assert_double_gt(m.term[TERM_SAVED], 0);
	m = stage_of(DENSE "framework=ddp;precision=pure-bf16", 0);
	ck_assert_double_eq(m.term[TERM_BUCKETS], 2 * m.dense_params);
}
END_TEST

/* DeepSpeed allocates both reduce buffers before the backward starts. */
START_TEST(zero_2_buffers_are_there_in_the_backward)
{
	struct stage_memory m = stage_of(DENSE "micro-batch=4;framework=deepspeed;zero=2", 0);

	ck_assert_int_ne(m.instant, INSTANT_STEP);
	ck_assert_double_eq(m.term[TERM_BUCKETS], 2e9);
}
END_TEST

/* With all 8 experts of a group on 8 ranks, 8 of 64 ranks share one: a frozen base is divided by 8 there, and by 64 elsewhere. */
START_TEST(frozen_experts_are_sharded_in_their_own_group)
{
	struct stage_memory m = stage_of(EXPERTS "framework=fsdp;zero=3;ep=8;etp=1;adapter=lora;lora-targets=attention", 0);
	double adapters = 4 * m.trainable_params / 64;

	ck_assert_double_eq_tol(m.term[TERM_WEIGHTS] - adapters, 2 * (m.dense_params / 64 + m.expert_params / 8), 1);
}
END_TEST

START_TEST(adapters_of_experts_are_sharded_in_their_own_group)
{
	const char *base = EXPERTS "framework=fsdp;zero=3;ep=8;etp=1;adapter=lora;";
	char knobs[300];
	struct stage_memory all, attention;
	double experts;

	(void)snprintf(knobs, sizeof knobs, "%slora-targets=attention", base);
	attention = stage_of(knobs, 0);
	(void)snprintf(knobs, sizeof knobs, "%slora-targets=all-linear", base);
	all = stage_of(knobs, 0);
	experts = all.trainable_params - attention.trainable_params; /* one expert of three matrices in 32 layers */
	ck_assert_double_eq(experts, 32 * 3 * 16 * (4096 + 14336));
	ck_assert_double_eq_tol(all.term[TERM_MOMENTS] - attention.term[TERM_MOMENTS], 8 * experts / 8, 1);
}
END_TEST

/* Flat copies of the step are of the rank's own share: an eighth of the experts, a 64th of the rest. */
START_TEST(flat_copies_follow_the_groups)
{
	struct stage_memory m = stage_of(EXPERTS "framework=deepspeed;zero=1;ep=8;etp=1;recompute=full;loss=fused", 0);

	ck_assert_int_eq(m.instant, INSTANT_STEP);
	ck_assert_double_eq_tol(m.term[TERM_STEP_FLATS], 6 * (m.dense_params / 64 + m.expert_params / 8), 1);
}
END_TEST

/* A stage of 4 layers recomputes 4 at a time at most. */
START_TEST(no_more_layers_are_recomputed_than_there_are)
{
	const char *base = DENSE "framework=megatron;pp=8;zero=1;schedule=1f1b;recompute=full;recompute-every=";
	char knobs[300];
	double four, sixteen;

	(void)snprintf(knobs, sizeof knobs, "%s4", base);
	four = stage_of(knobs, 1).term[TERM_RECOMPUTED_LAYER];
	(void)snprintf(knobs, sizeof knobs, "%s16", base);
	sixteen = stage_of(knobs, 1).term[TERM_RECOMPUTED_LAYER];
	ck_assert_double_gt(four, 0);
	ck_assert_double_eq(sixteen, four);
}
END_TEST

/* A layer with experts has no dense MLP beside them, and with tensor parallelism a rank sees its share of the tokens. */
START_TEST(the_working_set_is_that_of_one_layer)
{
	struct stage_memory m = stage_of(EXPERTS "framework=megatron;zero=1;ep=8;etp=1;loss=fused", 0),
			    split = stage_of(
				    EXPERTS "framework=megatron;tp=2;sequence-parallel=on;zero=1;ep=8;etp=1;loss=fused", 0);
	double T = 4096, experts = 2 * T * (2 * 4096 + 6 * 14336), hidden = 4 * T * 4096;

	ck_assert_int_eq(m.instant, INSTANT_FULL_IN_FLIGHT);
	ck_assert_double_eq(m.term[TERM_WORKING_SET], hidden + experts);
	ck_assert_double_eq(split.term[TERM_WORKING_SET], (hidden + experts) / 2);
}
END_TEST

/* The layer for multi-token prediction has 8-bit copies of its matrices like any other. */
/* DeepSeek-V3, sec. 3.2.3 and 3.3.3: T = 4096 tokens keep two layer-wide 16-bit tensors, the latents, the attention output in 12
 * bit, log-sum-exps and router in fp32, the input of 8 experts and the inputs of SwiGLU (8 routed, one shared) in 8 bit. */
START_TEST(selective_of_hai_llm_keeps_what_the_report_says)
{
	static const char knobs[] = "model=deepseek-v3;gpu=h800-sxm-80gb;gpus=2048;profile=hai-llm;precision=fp8;pp=16;ep=64;"
				    "schedule=dualpipe;recompute=selective;micro-batch=1;global-batch=15360;seq=4096";
	double per_token =
		2 * 2 * 7168 + 2 * (1536 + 512 + 64) + 1.5 * 128 * 128 + 4 * 128 + 4 * 2 * 256 + 8 * 7168 + 2 * (8 + 1) * 2048;
	struct saved_tensor rows[SAVED_TENSOR_MAX];
	struct stage_memory m = stage_of(knobs, 0);
	struct draft d;
	double kept = 0;
	size_t n;

	test_draft(&d, knobs);
	n = memory_saved_tensors(&d.s, true, rows, SAVED_TENSOR_MAX);
	for (size_t i = 0; i < n; i++)
		kept += rows[i].kept ? (double)rows[i].elements * rows[i].bytes_per_element : 0;
	ck_assert_double_eq_tol(kept / (4096 * per_token), 1, 1e-12);
	/* Both moments in bf16: as many bytes as the fp32 master. */
	ck_assert_double_eq_tol(m.term[TERM_MOMENTS] / m.term[TERM_MASTER], 1, 1e-12);
}
END_TEST

START_TEST(mtp_layers_have_fp8_copies)
{
	const char *base =
		"model=deepseek-v3;gpu=H100;gpus=2048;framework=megatron;pp=16;ep=64;etp=1;zero=1;seq=4096;micro-batch=1;"
		"global-batch=4096;schedule=1f1b;precision=fp8;stage-layers=3,3,4,4,4,4,4,4,4,4,4,4,4,4,4,3;mtp-layers=";
	char knobs[400];
	struct stage_memory none, one;
	double embedding = 129280.0 * 7168, norms = 3 * 7168, whole;

	(void)snprintf(knobs, sizeof knobs, "%s0", base);
	none = stage_of(knobs, 15);
	(void)snprintf(knobs, sizeof knobs, "%s1", base);
	one = stage_of(knobs, 15);
	whole = one.dense_params + one.expert_params - none.dense_params - none.expert_params;
	/* All of the layer but its two norms, the router with its bias, the embedding and three more norms, 2 bytes each. */
	ck_assert_double_eq(one.term[TERM_FP8_COPIES] - none.term[TERM_FP8_COPIES],
		2 * (whole - embedding - norms - 2 * 7168 - 256 * 7168.0 - 256));
}
END_TEST

/* A ledger of states has micro-batches in flight as well, it only does not count what they save. */
START_TEST(micro_batches_are_in_flight_in_every_ledger)
{
	struct stage_memory m = stage_of(DENSE "framework=lesson;pp=4;zero=0;schedule=1f1b", 0);

	ck_assert_double_eq(m.in_flight, 4);
	ck_assert_int_eq(m.category[MEMORY_ACTIVATIONS], 0);
}
END_TEST

/* PaLM's convention counts the input table too, but nothing recomputes it. */
START_TEST(nothing_recomputes_the_input_table)
{
	static const char *const conventions[] = { "full", "palm" };
	double again[2];

	for (int i = 0; i < 2; i++) {
		char knobs[200];
		struct plan p;

		(void)snprintf(knobs, sizeof knobs, DENSE "framework=megatron;zero=1;recompute=full;flops=%s", conventions[i]);
		p = test_plan(knobs);
		again[i] = p.throughput.hardware_flops_per_gpu - p.throughput.model_flops_per_gpu;
	}
	ck_assert_double_gt(again[0], 0);
	ck_assert_double_eq_tol(again[1] / again[0], 1, 1e-9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_page");
	TCase *t = tcase_create("page");

	tcase_add_test(t, thirty_scenarios_are_as_the_page_says);
	tcase_add_test(t, times_and_costs_are_as_the_page_says);
	tcase_add_test(t, tensors_of_fp32_take_four_bytes);
	tcase_add_test(t, gathered_weights_of_fp32_take_four_bytes);
	tcase_add_test(t, only_autocast_has_a_cast_cache);
	tcase_add_test(t, pure_bf16_accumulates_in_two_bytes);
	tcase_add_test(t, ddp_buckets_stand_beside_the_activations);
	tcase_add_test(t, zero_2_buffers_are_there_in_the_backward);
	tcase_add_test(t, frozen_experts_are_sharded_in_their_own_group);
	tcase_add_test(t, adapters_of_experts_are_sharded_in_their_own_group);
	tcase_add_test(t, flat_copies_follow_the_groups);
	tcase_add_test(t, no_more_layers_are_recomputed_than_there_are);
	tcase_add_test(t, the_working_set_is_that_of_one_layer);
	tcase_add_test(t, selective_of_hai_llm_keeps_what_the_report_says);
	tcase_add_test(t, mtp_layers_have_fp8_copies);
	tcase_add_test(t, micro_batches_are_in_flight_in_every_ledger);
	tcase_add_test(t, nothing_recomputes_the_input_table);
	suite_add_tcase(s, t);
	return test_run(s);
}
