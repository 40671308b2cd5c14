/* Step time: what must hold whatever the coefficients are. Faults that other planners have are tests here. */
#include "support.h"

#include "comm.h"
#include "compute.h"
#include "explain.h"
#include "plan.h"
#include "report.h"
#include "search.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Every framework, precision, schedule and kind of parallelism. */
static const char *const scenarios[] = {
	"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;zero=1;seq=8192;global-batch=128",
	"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;vpp=5;schedule=interleaved;zero=1;seq=8192;global-batch="
	"128",
	"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=4;pp=4;zero=0;recompute=full;sequence-parallel=off;global-batch="
	"128",
	"model=llama3-70b;gpu=H100;gpus=128;framework=megatron;tp=8;pp=2;cp=2;zero=1;seq=16384;recompute=selective;global-batch="
	"64",
	"model=llama3-8b;gpu=H100;gpus=64;framework=fsdp;zero=3;global-batch=128",
	"model=llama3-8b;gpu=H100;gpus=64;framework=fsdp;zero=3;zero-group=8;precision=fp8;global-batch=128",
	"model=llama3-8b;gpu=B200;gpus=16;framework=fsdp;zero=2;recompute=full;global-batch=32",
	"model=gpt2-1.5b;gpu=V100;gpus=32;framework=deepspeed;zero=2;attention=unfused;dropout=0.1;global-batch=256",
	"model=llama2-13b;gpu=A100;gpus=16;framework=deepspeed;zero=3;offload=cpu;offload-params=cpu;global-batch=64",
	"model=llama2-7b;gpu=A100;gpus=8;framework=ddp;zero=0;micro-batch=2;global-batch=64",
	"model=llama2-7b;gpu=A100;gpus=8;framework=fsdp;zero=3;adapter=lora;global-batch=64",
	"model=mixtral-8x7b;gpu=H100;gpus=64;framework=megatron;tp=2;pp=2;ep=8;etp=1;zero=1;global-batch=128",
	"model=deepseek-v3;gpu=h800-sxm-80gb;gpus=256;framework=megatron;pp=16;ep=16;etp=1;zero=1;precision=fp8;global-batch=256",
	"model=bloom-176b;gpu=A100;gpus=384;profile=megatron-core;tp=4;pp=12;zero=1;attention=unfused;recompute=full;global-"
	"batch=2048",
	"model=llama3-8b;gpu=H100;gpus=8;framework=fsdp;tp=2;pp=4;zero=3;global-batch=16",
	"model=dbrx;gpu=rtxa6000-48gb;gpus=4;framework=fsdp;ep=4;zero=3;recompute=full;global-batch=64",
};

enum { N_SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static struct plan plan_with(const char *knobs, const char *more, struct draft *d)
{
	char all[600];
	struct plan p;
	struct err e;

	(void)snprintf(all, sizeof all, "%s;%s", knobs, more);
	test_draft(d, all);
	ck_assert_msg(plan_evaluate(&d->s, &p, &e) == ERR_OK, "%s: %s (in %s)", e.where, e.msg, all);
	ck_assert_msg(p.step.known, "%s", all);
	return p;
}

static double step_with(const char *knobs, const char *more)
{
	struct draft d;

	return plan_with(knobs, more, &d).step.step_s;
}

START_TEST(the_parts_sum_to_the_step)
{
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "", &d);
	double sum = 0;

	for (int i = 0; i < STEP_PART_COUNT; i++) {
		ck_assert_msg(p.step.part_s[i] >= 0, "%s: %s is %g s", scenarios[_i], step_part_table[i].key, p.step.part_s[i]);
		sum += p.step.part_s[i];
	}
	ck_assert_double_eq_tol(sum / p.step.step_s, 1, 1e-12);
	ck_assert_double_gt(p.step.part_s[STEP_COMPUTE], 0);
}
END_TEST

START_TEST(exposed_is_at_most_all)
{
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "", &d);

	for (int i = 0; i < TRAFFIC_COUNT; i++) {
		const struct traffic_time *t = &p.step.traffic[i];

		ck_assert_double_le(t->exposed_s, t->seconds);
		ck_assert_msg((t->calls > 0) == (t->bytes_per_gpu > 0), "%s: %s", scenarios[_i], traffic_names[i]);
		ck_assert_msg(t->calls > 0 || t->exposed_s <= 0, "%s: %s", scenarios[_i], traffic_names[i]);
	}
}
END_TEST

/* A step cannot beat the peak of the matrix units, nor the bytes the optimizer must move. */
START_TEST(no_resource_is_beaten)
{
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "flops=causal", &d);
	double layers_only = throughput_flops_per_token(&d.s) * (double)d.s.training.global_batch * (double)d.s.training.seq;

	ck_assert_double_ge(p.step.step_s, layers_only / ((double)d.s.cluster.gpus * p.throughput.peak_flops));
	ck_assert_double_le(p.throughput.mfu, 1);
	ck_assert_double_le(p.throughput.hfu, 1);
	ck_assert_double_ge(p.throughput.hfu, p.throughput.mfu);
	ck_assert_double_ge(p.step.optimizer_s, 34 * p.step.owned_params / d.s.cluster.gpu.mem_bw_bps);
	ck_assert_double_ge(p.step.step_s, p.step.stage_max_s * (double)p.micro_batches);
	ck_assert_double_ge(p.step.step_s, p.step.stage_sum_s);
	ck_assert_double_eq_tol(
		p.throughput.tokens_per_s_per_gpu * (double)d.s.cluster.gpus / p.throughput.tokens_per_s, 1, 1e-12);
}
END_TEST

/* Slower by `what`, or the same. */
static void ck_not_faster(const struct draft *d, const struct plan *p, const struct scenario *more, const char *what)
{
	struct plan q;
	struct err e;

	if (plan_evaluate(more, &q, &e) != ERR_OK)
		return; /* not every scenario can take every change */
	ck_assert_msg(q.step.step_s >= p->step.step_s * (1 - 1e-12), "%s on %lld %s: %s makes the step %g instead of %g s",
		d->s.model.id, (long long)d->s.cluster.gpus, d->s.cluster.gpu.id, what, q.step.step_s, p->step.step_s);
}

START_TEST(more_work_is_never_faster)
{
	static const struct {
		const char *what;
		size_t member; /* int64_t that is doubled */
	} more[] = {
		{ "twice the batch", offsetof(struct scenario, training.global_batch) },
		{ "twice the sequence", offsetof(struct scenario, training.seq) },
		{ "twice the layers", offsetof(struct scenario, model.layers) },
		{ "twice the vocabulary", offsetof(struct scenario, model.vocab) },
		{ "twice the MLP", offsetof(struct scenario, model.ffn) },
	};
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "", &d);
	struct scenario s = d.s;

	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
		int64_t value;

		s = d.s;
		memcpy(&value, (char *)&s + more[i].member, sizeof value);
		value *= 2;
		memcpy((char *)&s + more[i].member, &value, sizeof value);
		ck_not_faster(&d, &p, &s, more[i].what);
	}
	s = d.s;
	s.training.recompute = RECOMPUTE_FULL;
	ck_not_faster(&d, &p, &s, "full recompute");
}
END_TEST

START_TEST(more_bandwidth_is_never_slower)
{
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "", &d);

	static const struct {
		const char *what;
		size_t member; /* double that is halved */
	} less[] = {
		{ "half the memory bandwidth", offsetof(struct scenario, cluster.gpu.mem_bw_bps) },
		{ "half the link", offsetof(struct scenario, cluster.gpu.link_bps) },
		{ "half the peak", offsetof(struct scenario, cluster.gpu.fp16_flops) },
		{ "half the peak in 8 bit", offsetof(struct scenario, cluster.gpu.fp8_flops) },
		{ "half the network", offsetof(struct scenario, cluster.nic_gbs) },
	};

	for (size_t i = 0; i < sizeof less / sizeof less[0]; i++) {
		struct scenario s = d.s;
		double value;

		s.cluster.nic_gbs = comm_links(&d.s).nic_bps / d.s.coefficients.v[COEF_NIC] / 1e9; /* as the node says */
		memcpy(&value, (char *)&s + less[i].member, sizeof value);
		value /= 2;
		memcpy((char *)&s + less[i].member, &value, sizeof value);
		ck_not_faster(&d, &p, &s, less[i].what);
	}
}
END_TEST

static bool same_step(const struct plan *a, const struct plan *b)
{
	return memcmp(&a->step, &b->step, sizeof a->step) == 0 &&
		memcmp(&a->throughput, &b->throughput, sizeof a->throughput) == 0;
}

START_TEST(two_spellings_give_the_same_bits)
{
	struct draft d;
	struct plan a = plan_with(
		"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;zero=1;seq=8k;global-batch=128", "", &d);
	struct plan b = plan_with(
		"gpus=64;gpu=h100-sxm-80gb;model=llama3 70b;seq=8192;profile=megatron-lm;gbs=128;pp=4;tp=8;zero=1", "", &d);

	ck_assert(same_step(&a, &b));
}
END_TEST

START_TEST(a_group_of_one_sends_nothing)
{
	struct draft d;
	struct plan p = plan_with("model=llama3-8b;gpu=H100;gpus=1;framework=megatron;zero=0;global-batch=8", "", &d);

	for (int i = 0; i < TRAFFIC_COUNT; i++)
		ck_assert_double_eq(p.step.traffic[i].calls + p.step.traffic[i].seconds, 0);
	for (int i = STEP_TP; i <= STEP_PP; i++)
		ck_assert_double_eq(p.step.part_s[i], 0);
	for (int op = 0; op < COLLECTIVE_COUNT; op++) {
		struct links k = comm_links(&d.s);

		ck_assert_double_eq(comm_collective_s(&k, (enum collective)op, 1, 1e9, 1), 0);
	}
}
END_TEST

static double collective(const struct links *k, int which, double n, double bytes, int64_t stride)
{
	switch (which - COLLECTIVE_COUNT) {
	case 0:
		return comm_tree_all_reduce_s(k, n, bytes, stride);
	case 1:
		return comm_all_reduce_s(k, n, bytes, stride);
	case 2:
		return comm_broadcast_s(k, n, bytes, stride);
	default:
		return comm_collective_s(k, (enum collective)which, n, bytes, stride);
	}
}
enum { COLLECTIVES = COLLECTIVE_COUNT + 3 };

static struct links some_links(const char *knobs)
{
	struct draft d;

	(void)plan_with(knobs, "", &d);
	return comm_links(&d.s);
}

/* Nothing to do for one rank; more bytes take longer, so do more ranks, faster links never. */
START_TEST(collectives_grow_with_bytes_and_ranks)
{
	static const int64_t strides[] = { 1, 2, 8, 64 };
	struct links k = some_links(scenarios[_i]), fast = k;

	for (int op = 0; op < COLLECTIVE_COUNT; op++)
		fast.rate_bps[op] *= 2;
	fast.nic_bps *= 2;
	for (int op = 0; op < COLLECTIVES; op++)
		for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
			ck_assert_double_eq(collective(&k, op, 1, 1e9, strides[i]), 0);
			for (double n = 2; n <= 16384; n *= 2) {
				double last = 0;

				for (double bytes = 1; bytes < 1e11; bytes *= 10) {
					double now = collective(&k, op, n, bytes, strides[i]);

					ck_assert_double_gt(now, last);
					ck_assert_double_le(collective(&fast, op, n, bytes, strides[i]), now);
					ck_assert_msg(k.mesh || collective(&k, op, 2 * n, bytes, strides[i]) >= now * (1 - 1e-12),
						"collective %d of %g bytes: %g ranks take longer than twice as many", op, bytes,
						n);
					last = now;
				}
			}
		}
}
END_TEST

/* An all-reduce is a scatter and a gather; NCCL takes the tree where latency counts, the ring where bandwidth does. Inside a
 * domain the measured figures hold. */
START_TEST(the_faster_algorithm_is_taken)
{
	struct links k = some_links(scenarios[0]);
	double ring = comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, 16384, 4, 1), tree = comm_tree_all_reduce_s(&k, 16384, 4, 1);

	ck_assert_double_gt(ring, 20 * tree);
	ck_assert_double_lt(tree, 1e-3);
	ck_assert_double_eq(comm_all_reduce_s(&k, 16384, 4, 1), tree);
	ring = comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, 64, 1e10, 1);
	ck_assert_double_eq(comm_all_reduce_s(&k, 64, 1e10, 1), ring);
	ck_assert_double_gt(comm_tree_all_reduce_s(&k, 64, 1e10, 1), ring);
	ck_assert_double_eq(comm_all_reduce_s(&k, 8, 4, 1), comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, 8, 4, 1));
	/* Bandwidth alone: a broadcast moves n / (n - 1) of what a gather of the same buffer does. */
	k.node_latency_s = k.rank_latency_s = 0;
	memset(k.latency_s, 0, sizeof k.latency_s);
	ck_assert_double_eq_tol(
		comm_broadcast_s(&k, 64, 1e9, 1) / comm_collective_s(&k, COLLECTIVE_GATHER, 64, 1e9, 1), 64.0 / 63, 1e-12);
	ck_assert_double_eq_tol(comm_tree_all_reduce_s(&k, 64, 1e9, 1) / comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, 64, 1e9, 1),
		64.0 / 63 / 0.92, 1e-12);
}
END_TEST

/* The dispatch that full recompute repeats is communication, counted once: what is left is the forward alone. */
START_TEST(recomputed_dispatch_is_communication)
{
	const char *base = "model=mixtral-8x7b;gpu=H100;gpus=64;framework=megatron;ep=8;zero=1;recompute=full;global-batch=512";
	struct draft d;
	struct plan p = plan_with(base, "", &d);
	const struct layer_time *y = &p.step.moe;
	double once = y->recompute_s - y->ep_s / 3, layers = (double)p.micro_batches * p.step.moe_layers * p.step.straggler;

	ck_assert_double_gt(y->ep_s, 0);
	ck_assert_double_eq_tol(p.step.part_s[STEP_RECOMPUTE] / (layers * once), 1, 1e-9);
}
END_TEST

/* Faults of other planners. Src: their own trees, run. */

/* llm-analysis charges selective recompute 80 times; full recompute is one forward more, not seven. */
START_TEST(selective_recompute_is_never_dearer_than_full)
{
	const char *base = "model=llama2-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=2;zero=1;global-batch=64";
	struct draft d;
	struct plan full = plan_with(base, "recompute=full", &d);
	double none = step_with(base, "recompute=none"), selective = step_with(base, "recompute=selective");

	ck_assert_double_lt(none, selective);
	ck_assert_double_lt(selective, full.step.step_s);
	ck_assert_double_eq_tol(full.step.dense.recompute_s / full.step.dense.forward_s, 1, 1e-12);
}
END_TEST

/* llm-analysis charges ZeRO-0 and ZeRO-1 the all-gather of ZeRO-3. */
START_TEST(replicated_weights_are_not_gathered_per_layer)
{
	const char *base = "model=llama3-8b;gpu=H100;gpus=16;framework=deepspeed;global-batch=64;micro-batch=1";
	struct draft d;

	for (int zero = 0; zero <= 3; zero++) {
		char knob[24];
		struct plan p;

		(void)snprintf(knob, sizeof knob, "zero=%d", zero);
		p = plan_with(base, knob, &d);
		if (zero < 3)
			ck_assert_double_le(p.step.traffic[TRAFFIC_DP_GATHER].calls, 1);
		else
			ck_assert_double_ge(p.step.traffic[TRAFFIC_DP_GATHER].calls, 2 * 32);
	}
}
END_TEST

/* llm-analysis ignores topk in the FLOPs of experts. */
START_TEST(moe_work_follows_topk)
{
	const char *base = "model=mixtral-8x7b;gpu=H100;gpus=64;framework=megatron;tp=1;ep=8;zero=1;global-batch=512";
	struct draft one, two;
	struct plan p1 = plan_with(base, "topk=1", &one), p2 = plan_with(base, "topk=2", &two);
	double expert = 6.0 * 3 * 4096 * 14336 * 32;

	ck_assert_double_lt(p1.step.part_s[STEP_COMPUTE], p2.step.part_s[STEP_COMPUTE]);
	ck_assert_double_eq_tol((throughput_flops_per_token(&two.s) - throughput_flops_per_token(&one.s)) / expert, 1, 1e-9);
}
END_TEST

/* llm-analysis has no bubble: eight stages with one micro-batch use one GPU of eight. */
START_TEST(a_pipeline_with_one_micro_batch_is_mostly_bubble)
{
	const char *base = "model=llama2-70b;gpu=H100;gpus=8;framework=megatron;pp=8;zero=0;schedule=1f1b";
	double one = step_with(base, "global-batch=1"), many = step_with(base, "global-batch=64") / 64;

	ck_assert_double_gt(one, 6 * many);
	ck_assert_double_lt(one, 9 * many);
}
END_TEST

/* llm-analysis has no gradient traffic and no transfers; Calculon no head. */
START_TEST(nothing_is_left_out)
{
	struct draft d;
	struct plan p = plan_with(scenarios[0], "", &d);

	ck_assert_double_gt(p.step.traffic[TRAFFIC_DP_REDUCE].seconds, 0);
	ck_assert_double_gt(p.step.traffic[TRAFFIC_PP].seconds, 0);
	ck_assert_double_gt(p.step.traffic[TRAFFIC_TP].seconds, 0);
	ck_assert_double_gt(p.step.head_s, 0);
	ck_assert_int_eq(p.step.slowest_stage, 3); /* the head makes the last stage the clock */
}
END_TEST

/* Calculon exposes more data-parallel traffic under full recompute, which gives it more compute to hide under. */
START_TEST(more_compute_hides_more_traffic)
{
	const char *base = "model=gpt3-175b;gpu=A100;gpus=512;framework=megatron;tp=8;pp=8;zero=1;global-batch=64";
	struct draft d;
	struct plan selective = plan_with(base, "recompute=selective", &d), full = plan_with(base, "recompute=full", &d);

	ck_assert_double_le(full.step.data_parallel_s, selective.step.data_parallel_s);
}
END_TEST

START_TEST(alignment_is_a_cliff)
{
	struct draft d;
	struct plan p = plan_with(
		"params=100B;hidden=11600;head-dim=145;gpu=A100;gpus=32;profile=megatron-core;tp=4;pp=8;zero=0;attention=unfused;"
		"recompute=full;global-batch=64",
		"heads=80;kv-heads=80", &d);
	bool told = false;

	for (int64_t i = 0; i < p.n_diagnostics; i++)
		told = told || strcmp(p.diagnostics[i].id, "head-dim-unaligned") == 0;
	ck_assert(told);
	ck_assert_double_lt(step_with("params=100B;hidden=11520;head-dim=144;gpu=A100;gpus=32;profile=megatron-core;tp=4;pp=8;"
				      "zero=0;attention=unfused;"
				      "recompute=full;global-batch=64",
				    "heads=80;kv-heads=80"),
		0.9 * p.step.step_s);
}
END_TEST

/* 400 TFLOP/s per GPU, 41 % MFU. Src: Llama 3 report, arXiv 2407.21783 table 4. */
START_TEST(the_405b_run_reaches_its_published_rate)
{
	static const char *const cps[] = { "cp=1", "cp=2" };
	struct draft d;
	struct plan p = plan_with("model=llama3.1-405b;gpu=H100;gpus=16384;framework=megatron;tp=8;pp=16;zero=1;vpp=8;schedule="
				  "interleaved;micro-batch=1;"
				  "global-batch=2048;seq=8192;recompute=none",
		cps[_i], &d);

	ck_assert_double_eq_tol(p.throughput.model_flops_per_gpu / 1e12, 400, 60);
	ck_assert_double_eq_tol(p.throughput.mfu, 0.41, 0.06);
}
END_TEST

/* 180 K GPU hours per 10^12 tokens on 2048 GPUs are 19.9 s for 15,360 sequences of 4,096. Src: arXiv 2412.19437 table 1, sec. 3.2
 * and 4.2. */
START_TEST(the_deepseek_v3_run_takes_its_published_time)
{
	struct draft d;
	struct plan p = plan_with(
		"model=deepseek-v3;gpu=h800-sxm-80gb;gpus=2048;profile=hai-llm;precision=fp8;tp=1;cp=1;pp=16;ep=64;etp=1;"
		"zero=1;schedule=dualpipe;recompute=selective;micro-batch=1;global-batch=15360;seq=4096",
		"mtp-layers=1", &d);

	ck_assert_double_eq_tol(p.step.step_s / 19.91, 1, 0.1);
	ck_assert(p.verdict.known && p.verdict.fits);
	ck_assert_double_gt(p.step.part_s[STEP_RECOMPUTE], 0);
}
END_TEST

START_TEST(conventions_change_no_time)
{
	struct draft d;
	double step = step_with(scenarios[0], "flops=full"), full = 0;

	for (int c = 0; c < FLOPS_CONVENTION_COUNT; c++) {
		char knob[32];
		struct plan p;

		(void)snprintf(knob, sizeof knob, "flops=%s", flops_convention_choices[c].key);
		p = plan_with(scenarios[0], knob, &d);
		ck_assert_double_eq(p.step.step_s, step);
		if (c == FLOPS_FULL)
			full = throughput_flops_per_token(&d.s);
		else if (c == FLOPS_CAUSAL || c == FLOPS_6N)
			ck_assert_double_lt(throughput_flops_per_token(&d.s), full);
	}
	/* 57.9 GFLOP per token for Llama-3 8B at 8,192. Src: NeMo 24.07 performance table. */
	(void)plan_with("model=llama3-8b;gpu=H100;gpus=8;framework=megatron;zero=1;global-batch=8;seq=8192", "flops=full", &d);
	ck_assert_double_eq_tol(throughput_flops_per_token(&d.s) / 1e9, 57.9, 0.1);
	(void)plan_with("model=llama3-8b;gpu=H100;gpus=8;framework=megatron;zero=1;global-batch=8;seq=8192", "flops=causal", &d);
	ck_assert_double_eq_tol(throughput_flops_per_token(&d.s) / 1e9, 51.5, 0.1);
}
END_TEST

START_TEST(the_band_is_wider_for_what_was_not_given)
{
	struct draft d, all;
	struct plan p = plan_with("model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4", "", &d);
	struct plan q = plan_with("model=llama3-70b;gpu=H100;gpus=64;node=dgx-h100;profile=megatron-lm;tp=8;pp=4;seq=8192;global-"
				  "batch=128;precision=bf16;"
				  "attention=flash",
		"", &all);

	ck_assert_double_eq_tol(plan_band(&all, &q), 0.10, 1e-12);
	ck_assert_double_gt(plan_band(&d, &p), 0.10);
	all.s.coefficients.calibrated = COEF_GEMM_H100;
	all.s.coefficients.level_sd = 0.04;
	plan_evaluate_time(&all.s, &q);
	ck_assert_double_lt(plan_band(&all, &q), 0.08);
	p = plan_with(scenarios[11], "", &d);
	ck_assert_double_ge(plan_band(&d, &p), 0.30);
}
END_TEST

START_TEST(unknown_speed_is_said)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d, "model=llama3-8b;gpu=mi300x-192gb;gpus=8;framework=fsdp;zero=3");
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	ck_assert(!p.step.known);
	ck_assert_double_eq(plan_band(&d, &p), 0);
	ck_assert_int_gt(p.n_diagnostics, 0);
}
END_TEST

/* Explanations */

static double value_of(const struct explanation *x, const char *symbol)
{
	for (size_t i = 0; i < x->n_values; i++)
		if (strcmp(x->values[i].symbol, symbol) == 0)
			return x->values[i].value;
	ck_abort_msg("%s does not name %s", x->quantity, symbol);
	return 0;
}

static struct explanation explained(const struct draft *d, const struct plan *p, const char *path)
{
	struct explanation x;
	struct err e;

	ck_assert_msg(explain_quantity(d, p, path, &x, &e) == ERR_OK, "%s: %s", path, e.msg);
	return x;
}

/* The formulas of time, worked out with the numbers that stand beside them. */
START_TEST(explanations_add_up)
{
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "", &d);
	struct explanation x = explained(&d, &p, "time.step_s");
	double sum = value_of(&x, "m") * value_of(&x, "t_max") + value_of(&x, "bubble") + value_of(&x, "send") +
		value_of(&x, "data") + value_of(&x, "optimizer") + value_of(&x, "offload") + value_of(&x, "fixed");

	ck_assert_double_eq_tol(sum * value_of(&x, "k") / p.step.step_s, 1, 1e-12);
	x = explained(&d, &p, "time.tp_exposed_s");
	sum = value_of(&x, "k") * value_of(&x, "m") *
		(value_of(&x, "L_dense") * value_of(&x, "x_dense") + value_of(&x, "L_moe") * value_of(&x, "x_moe"));
	ck_assert_double_eq_tol(sum, x.result, 1e-9);
	x = explained(&d, &p, "time.bubble_s");
	sum = value_of(&x, "k") * (value_of(&x, "makespan") - value_of(&x, "m") * value_of(&x, "t_max"));
	ck_assert_double_eq_tol(sum, x.result, 1e-9);
	x = explained(&d, &p, "time.optimizer_s");
	sum = value_of(&x, "k") *
		((34 * value_of(&x, "owned") + 4 * value_of(&x, "local")) / value_of(&x, "hbm") + value_of(&x, "norm"));
	ck_assert_double_eq_tol(sum, x.result, 1e-9);
	x = explained(&d, &p, "cost.usd");
	ck_assert_double_eq_tol(value_of(&x, "H") * value_of(&x, "$"), x.result, 1e-6 * (1 + x.result));
	x = explained(&d, &p, "throughput.mfu");
	ck_assert_double_eq_tol(value_of(&x, "U") / value_of(&x, "peak"), p.throughput.mfu, 1e-12);
}
END_TEST

struct paths {
	const struct draft *d;
	const struct plan *p;
	size_t time, communication, cost;
};

static void explain_path(void *ctx, const char *path)
{
	struct paths *k = ctx;
	struct explanation x = explained(k->d, k->p, path);

	ck_assert_msg(isfinite(x.result), "%s", path);
	k->time += strncmp(path, "time.", 5) == 0;
	k->communication += strncmp(path, "communication[", 14) == 0;
	k->cost += strncmp(path, "cost.", 5) == 0;
}

START_TEST(every_listed_path_is_explained)
{
	struct draft d;
	struct plan p = plan_with(scenarios[_i], "", &d);
	struct traffic_row rows[TRAFFIC_COUNT];
	struct paths k = { .d = &d, .p = &p };

	explain_paths(&p, explain_path, &k);
	ck_assert_uint_eq(k.time, STEP_PART_COUNT + 1);
	ck_assert_uint_eq(k.communication, 5 * report_traffic(&d.s, &p, rows));
	ck_assert_uint_eq(k.cost, 9);
}
END_TEST

static void add_looped(TCase *t, const TTest *test)
{
	tcase_add_loop_test(t, test, 0, N_SCENARIOS);
}

static TCase *invariants(void)
{
	TCase *t = tcase_create("invariants");

	add_looped(t, the_parts_sum_to_the_step);
	add_looped(t, exposed_is_at_most_all);
	add_looped(t, no_resource_is_beaten);
	add_looped(t, more_work_is_never_faster);
	add_looped(t, more_bandwidth_is_never_slower);
	tcase_add_test(t, two_spellings_give_the_same_bits);
	tcase_add_test(t, a_group_of_one_sends_nothing);
	add_looped(t, collectives_grow_with_bytes_and_ranks);
	tcase_add_test(t, the_faster_algorithm_is_taken);
	tcase_add_test(t, conventions_change_no_time);
	tcase_add_test(t, the_band_is_wider_for_what_was_not_given);
	tcase_add_test(t, unknown_speed_is_said);
	tcase_add_test(t, recomputed_dispatch_is_communication);
	return t;
}

static TCase *faults_of_others(void)
{
	TCase *t = tcase_create("faults of others");

	tcase_add_test(t, selective_recompute_is_never_dearer_than_full);
	tcase_add_test(t, replicated_weights_are_not_gathered_per_layer);
	tcase_add_test(t, moe_work_follows_topk);
	tcase_add_test(t, a_pipeline_with_one_micro_batch_is_mostly_bubble);
	tcase_add_test(t, nothing_is_left_out);
	tcase_add_test(t, more_compute_hides_more_traffic);
	tcase_add_test(t, alignment_is_a_cliff);
	tcase_add_test(t, the_deepseek_v3_run_takes_its_published_time);
	tcase_add_loop_test(t, the_405b_run_reaches_its_published_rate, 0, 2);
	return t;
}

int main(void)
{
	Suite *s = suite_create("time");
	TCase *t = tcase_create("explanations");

	add_looped(t, explanations_add_up);
	add_looped(t, every_listed_path_is_explained);
	suite_add_tcase(s, invariants());
	suite_add_tcase(s, faults_of_others());
	suite_add_tcase(s, t);
	return test_run(s);
}
