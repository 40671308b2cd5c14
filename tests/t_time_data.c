/* Data-parallel traffic, optimizer and adapters of a step, by hand. */
#include "support.h"

#include "comm.h"
#include "plan.h"
#include "step.h"

#include <math.h>
#include <string.h>

#define DENSE "model=llama3-8b;gpu=H100;gpus=16;micro-batch=1;global-batch=64;"
#define EXPERTS "model=mixtral-8x7b;gpu=H100;gpus=32;micro-batch=1;global-batch=64;"

static struct plan plan_of(const char *knobs, struct draft *d)
{
	struct plan p;
	struct err e;

	test_draft(d, knobs);
	ck_assert_msg(plan_evaluate(&d->s, &p, &e) == ERR_OK, "%s: %s (in %s)", e.where, e.msg, knobs);
	ck_assert_msg(p.step.known, "%s", knobs);
	return p;
}

/* Seconds on the wire, without the factor for stragglers. */
static double wire_s(const struct plan *p, enum traffic which)
{
	return p->step.traffic[which].seconds / p->step.straggler;
}

START_TEST(zero_0_all_reduces_and_gathers_nothing)
{
	static const char *const frameworks[] = { "framework=ddp", "framework=megatron;zero=0", "framework=deepspeed;zero=0" };
	char knobs[200];
	struct draft d;
	struct plan p;
	struct links k;
	double bytes;

	(void)snprintf(knobs, sizeof knobs, DENSE "%s", frameworks[_i]);
	p = plan_of(knobs, &d);
	k = comm_links(&d.s);
	bytes = d.s.profile.reduce_bytes * p.step.params_per_rank;
	ck_assert_double_eq_tol(p.step.traffic[TRAFFIC_DP_REDUCE].bytes_per_gpu / bytes, 1, 1e-12);
	ck_assert_double_eq_tol(wire_s(&p, TRAFFIC_DP_REDUCE) / comm_all_reduce_s(&k, 16, bytes, 1), 1, 1e-12);
	ck_assert_double_eq(p.step.traffic[TRAFFIC_DP_GATHER].calls, 0);
	ck_assert_str_eq(step_traffic_name(&d.s, TRAFFIC_DP_REDUCE), "all-reduce");
}
END_TEST

START_TEST(collectives_are_named_as_they_are)
{
	static const struct {
		const char *knobs;
		enum traffic which;
		const char *name;
	} cases[] = {
		{ DENSE "framework=megatron;zero=1", TRAFFIC_DP_REDUCE, "reduce-scatter" },
		{ DENSE "framework=deepspeed;zero=2", TRAFFIC_DP_REDUCE, "all-reduce" },
		{ DENSE "framework=fsdp;zero=2", TRAFFIC_DP_REDUCE, "reduce-scatter" },
		{ DENSE "framework=fsdp;zero=3;zero-group=8", TRAFFIC_DP_REDUCE, "reduce-scatter, all-reduce" },
		{ DENSE "framework=megatron;tp=8;sequence-parallel=off", TRAFFIC_TP, "all-reduce" },
		{ DENSE "framework=megatron;tp=8;sequence-parallel=on", TRAFFIC_TP, "all-gather, reduce-scatter" },
	};
	struct draft d;

	test_draft(&d, cases[_i].knobs);
	ck_assert_str_eq(step_traffic_name(&d.s, cases[_i].which), cases[_i].name);
}
END_TEST

/* Layers, and the unit of embedding and head. */
enum { UNITS = 32 + 1 };

/* What the forward gathered is still there in the backward: half the calls of zero 3. */
START_TEST(fsdp_zero_2_gathers_once_per_micro_batch)
{
	struct draft d;
	struct plan two = plan_of(DENSE "framework=fsdp;zero=2", &d), three = plan_of(DENSE "framework=fsdp;zero=3", &d);

	ck_assert_double_eq(two.step.traffic[TRAFFIC_DP_GATHER].calls, 4 * UNITS);
	ck_assert_double_eq(three.step.traffic[TRAFFIC_DP_GATHER].calls, 2 * 4 * UNITS);
	ck_assert_double_le(two.step.step_s, three.step.step_s);
}
END_TEST

/* Whole gradients take another micro-batch, sharded ones have to be reduced before. */
START_TEST(sharded_gradients_are_reduced_every_micro_batch)
{
	static const struct {
		const char *knobs;
		double calls;
	} cases[] = {
		{ DENSE "profile=fsdp2;zero=3", UNITS },
		{ DENSE "profile=torchtitan-2026;zero=3", 4 * UNITS },
		{ DENSE "profile=fsdp-sharded-accumulation;zero=3", 4 * UNITS },
		{ DENSE "profile=composer-fsdp1;zero=3", 4 * UNITS },
		{ DENSE "framework=deepspeed;zero=1", 1 },
		{ DENSE "framework=deepspeed;zero=2", 4 },
		{ DENSE "framework=megatron;zero=1", 1 },
	};
	struct draft d;
	struct plan p = plan_of(cases[_i].knobs, &d);

	ck_assert_double_eq(p.step.traffic[TRAFFIC_DP_REDUCE].calls, cases[_i].calls);
}
END_TEST

/* 32 GPUs, 8 experts over ep 8 (and etp): the ranks that hold the same experts are 32 tp / (ep etp). */
START_TEST(experts_have_their_own_group)
{
	static const char *const layouts[] = { "framework=fsdp;zero=3;ep=8;etp=1", "framework=megatron;tp=2;zero=1;ep=8;etp=2",
		"framework=megatron;tp=4;zero=1;ep=4;etp=2" };
	static const double copies[] = { 4, 2, 4 };
	char knobs[200];
	struct draft d;
	struct plan p;
	double dense, expert;

	(void)snprintf(knobs, sizeof knobs, EXPERTS "%s", layouts[_i]);
	p = plan_of(knobs, &d);
	dense = p.worst.dense_params / (double)(p.dp * d.s.layout.cp);
	expert = p.worst.expert_params / copies[_i];
	ck_assert_double_eq_tol(p.step.owned_params / (dense + expert), 1, 1e-12);
	ck_assert_double_eq_tol(p.step.params_per_rank / (p.worst.dense_params + p.worst.expert_params), 1, 1e-12);
}
END_TEST

START_TEST(fully_sharded_experts_that_no_other_rank_holds_are_not_sent)
{
	struct draft d;
	struct plan p = plan_of("model=mixtral-8x7b;gpu=H100;gpus=8;framework=fsdp;zero=3;ep=8;etp=1;global-batch=8", &d);
	struct links k = comm_links(&d.s);
	struct layer_params y = model_layer_params(&d.s.model, true);
	double dense = (double)(y.attention_split + y.attention_whole + y.router + y.norms + y.mlp_split + y.mlp_whole);

	double ends = 2.0 * (double)d.s.model.vocab * (double)d.s.model.hidden + (double)d.s.model.hidden;

	ck_assert_double_eq_tol(wire_s(&p, TRAFFIC_DP_GATHER) /
			(2 * 32 * comm_collective_s(&k, COLLECTIVE_GATHER, 8, 2 * dense, 1) +
				2 * comm_collective_s(&k, COLLECTIVE_GATHER, 8, 2 * ends, 1)),
		1, 1e-9);
}
END_TEST

/* Every kind of traffic carries 4-byte values then; gradients were 4 bytes before. */
START_TEST(fp32_values_are_twice_as_wide_on_the_wire)
{
	static const char base[] = "model=mixtral-8x7b;gpu=H100;gpus=128;framework=megatron;tp=2;pp=2;cp=2;ep=4;etp=1;zero=1;"
				   "recompute=full;global-batch=128;precision=";
	static const char *const precisions[] = { "fp32", "tf32" };
	char knobs[300];
	struct draft d;
	struct plan half, full;

	(void)snprintf(knobs, sizeof knobs, "%sbf16", base);
	half = plan_of(knobs, &d);
	(void)snprintf(knobs, sizeof knobs, "%s%s", base, precisions[_i]);
	full = plan_of(knobs, &d);
	for (int i = 0; i < TRAFFIC_COUNT; i++) {
		ck_assert_double_gt(half.step.traffic[i].bytes_per_gpu, 0);
		ck_assert_double_eq_tol(full.step.traffic[i].bytes_per_gpu / half.step.traffic[i].bytes_per_gpu,
			i == TRAFFIC_DP_REDUCE ? 1 : 2, 1e-12);
	}
	ck_assert_double_eq_tol(full.step.optimizer_s / half.step.optimizer_s, 1, 1e-12);
}
END_TEST

/* Matrices of layers in 8 bit, tables and norms in 16; mxfp8 is made of gathered 16-bit weights. */
START_TEST(eight_bit_gathers_are_those_of_matrices)
{
	static const char base[] = DENSE "profile=megatron-lm;zero=1;precision=";
	char knobs[200];
	struct draft d;
	struct plan p;
	double matrices, all;

	(void)snprintf(knobs, sizeof knobs, "%sfp8", base);
	p = plan_of(knobs, &d);
	matrices = 32.0 *
		(double)(model_layer_params(&d.s.model, false).attention_split + model_layer_params(&d.s.model, false).mlp_split);
	all = p.step.params_per_rank;
	ck_assert_double_eq_tol(p.step.traffic[TRAFFIC_DP_GATHER].bytes_per_gpu / (2 * all - matrices), 1, 1e-12);
	(void)snprintf(knobs, sizeof knobs, "%smxfp8", base);
	test_draft(&d, knobs);
	p = plan_of(knobs, &d);
	ck_assert_double_eq_tol(p.step.traffic[TRAFFIC_DP_GATHER].bytes_per_gpu / (2 * all), 1, 1e-12);
}
END_TEST

/* 4 N + 6 A: a frozen matrix has a forward and an input gradient, no weight gradient. */
START_TEST(frozen_weights_have_no_gradients)
{
	static const char base[] = "model=llama3-8b;gpu=H100;gpus=8;framework=fsdp;zero=3;global-batch=64;flops=6n;adapter=";
	char knobs[200];
	struct draft d, e;
	struct plan none, lora;
	double multiplied, adapters;

	(void)snprintf(knobs, sizeof knobs, "%snone", base);
	none = plan_of(knobs, &d);
	(void)snprintf(knobs, sizeof knobs, "%slora", base);
	lora = plan_of(knobs, &e);
	multiplied = throughput_flops_per_token(&d.s) / 6;
	/* r (in + out): q, k, v, o, gate, up, down of 32 layers. */
	adapters = 32.0 * (double)e.s.training.lora_rank * (2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336));
	ck_assert_double_eq_tol(throughput_flops_per_token(&e.s) / (4 * multiplied + 6 * adapters), 1, 1e-12);
	ck_assert_double_eq_tol(adapters / lora.worst.trainable_params, 1, 1e-12);
	ck_assert_double_lt(lora.step.dense.weight_s, 0.12 * none.step.dense.weight_s);
	ck_assert_double_gt(lora.step.dense.weight_s, 0);
	ck_assert_double_ge(lora.step.dense.forward_s, none.step.dense.forward_s);
	ck_assert_double_lt(lora.step.step_s, 0.85 * none.step.step_s);
	ck_assert_double_gt(lora.step.step_s, 0.6 * none.step.step_s);
	ck_assert_double_eq(lora.step.traffic[TRAFFIC_DP_REDUCE].calls, 0);
}
END_TEST

/* A stage sends shards of the sequence where sequence parallelism makes them, or where the framework scatters and gathers. */
START_TEST(transfers_between_stages_are_shards_only_where_there_are_some)
{
	static const struct {
		const char *knobs;
		double parts;
	} cases[] = {
		{ "profile=megatron-lm;zero=0;sequence-parallel=on", 4 },
		{ "profile=megatron-lm;zero=0;sequence-parallel=off", 1 },
		{ "profile=megatron-2021;zero=0;sequence-parallel=off", 4 },
		{ "framework=deepspeed;zero=1", 4 },
	};
	char knobs[240];
	struct draft d;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct plan p;
		const struct traffic_time *sent = &p.step.traffic[TRAFFIC_PP];

		(void)snprintf(knobs, sizeof knobs,
			"model=llama3-8b;gpu=A100;gpus=8;tp=4;pp=2;schedule=1f1b;seq=4096;micro-batch=1;global-batch=8;%s",
			cases[i].knobs);
		p = plan_of(knobs, &d);
		ck_assert_double_eq_tol(sent->bytes_per_gpu / sent->calls, 2.0 * 4096 * 4096 / cases[i].parts, 1);
	}
}
END_TEST

/* A V100 multiplies bf16 without its tensor cores. */
START_TEST(bf16_without_units_runs_at_the_rate_of_fp32)
{
	static const char base[] = "model=gpt2-1.5b;gpu=V100;gpus=8;framework=ddp;zero=0;global-batch=64;precision=";
	char knobs[200];
	struct draft d;
	struct plan half, brain;

	(void)snprintf(knobs, sizeof knobs, "%sfp16", base);
	half = plan_of(knobs, &d);
	(void)snprintf(knobs, sizeof knobs, "%sbf16", base);
	brain = plan_of(knobs, &d);
	ck_assert_double_eq_tol(half.throughput.peak_flops, 125e12, 1);
	ck_assert_double_eq_tol(brain.throughput.peak_flops, 15.7e12, 1);
	ck_assert_double_gt(brain.step.step_s, 3 * half.step.step_s);
}
END_TEST

/* 4.127 bits are read and 2 bytes written per element of a layer's matrices, before each forward and each input gradient; where
 * the 4-bit base is sharded it travels as it is stored, else not at all. */
START_TEST(four_bit_weights_cost_a_pass_of_memory_per_use)
{
	static const char base[] = "model=llama3-8b;gpu=H100;gpus=8;zero=3;global-batch=64;recompute=none;adapter=";
	char knobs[200];
	struct draft d;
	struct plan lora, qlora;
	double nf4 = (4 + 8.0 / 64 + 32.0 / 16384) / 8, matrices = 2.0 * 4096 * (4096 + 1024) + 3.0 * 4096 * 14336, pass, others;

	(void)snprintf(knobs, sizeof knobs, "%slora;framework=fsdp", base);
	lora = plan_of(knobs, &d);
	pass = (nf4 + 2) * matrices / compute_device(&d.s).hbm_bps;
	(void)snprintf(knobs, sizeof knobs, "%sqlora;framework=fsdp", base);
	qlora = plan_of(knobs, &d);
	ck_assert_double_eq_tol((qlora.step.dense.forward_s - lora.step.dense.forward_s) / pass, 1, 1e-9);
	ck_assert_double_eq_tol((qlora.step.dense.input_s - lora.step.dense.input_s) / pass, 1, 1e-9);
	ck_assert_double_eq(qlora.step.dense.weight_s, lora.step.dense.weight_s);
	/* Each layer twice per micro-batch. */
	others = lora.step.traffic[TRAFFIC_DP_GATHER].bytes_per_gpu - qlora.step.traffic[TRAFFIC_DP_GATHER].bytes_per_gpu;
	ck_assert_double_eq_tol(others / (8 * 32 * 2 * (2 - nf4) * matrices), 1, 1e-9);
	(void)snprintf(knobs, sizeof knobs, "%sqlora;framework=deepspeed", base);
	qlora = plan_of(knobs, &d);
	ck_assert_double_eq(qlora.step.traffic[TRAFFIC_DP_GATHER].bytes_per_gpu, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("data-parallel traffic");
	TCase *t = tcase_create("by hand");

	tcase_add_loop_test(t, zero_0_all_reduces_and_gathers_nothing, 0, 3);
	tcase_add_loop_test(t, collectives_are_named_as_they_are, 0, 6);
	tcase_add_test(t, fsdp_zero_2_gathers_once_per_micro_batch);
	tcase_add_loop_test(t, sharded_gradients_are_reduced_every_micro_batch, 0, 7);
	tcase_add_loop_test(t, experts_have_their_own_group, 0, 3);
	tcase_add_test(t, fully_sharded_experts_that_no_other_rank_holds_are_not_sent);
	tcase_add_loop_test(t, fp32_values_are_twice_as_wide_on_the_wire, 0, 2);
	tcase_add_test(t, eight_bit_gathers_are_those_of_matrices);
	tcase_add_test(t, frozen_weights_have_no_gradients);
	tcase_add_test(t, transfers_between_stages_are_shards_only_where_there_are_some);
	tcase_add_test(t, bf16_without_units_runs_at_the_rate_of_fp32);
	tcase_add_test(t, four_bit_weights_cost_a_pass_of_memory_per_use);
	suite_add_tcase(s, t);
	return test_run(s);
}
