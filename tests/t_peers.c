/* Faults of other planners that concern memory: ours does it right, or refuses with a reason that names the knob. */
#include "support.h"

#include "memory.h"
#include "model.h"
#include "num.h"
#include "plan.h"
#include "rules.h"
#include "search.h"
#include "throughput.h"
#include "units.h"

#include <math.h>
#include <string.h>

static double gib(double bytes)
{
	return bytes / UNITS_GIB;
}

#define LLAMA "model=llama3-8b;gpu=H100;framework=megatron;zero=0;seq=4096;micro-batch=1;"
#define MIXTRAL "model=mixtral-8x7b;gpu=H100;framework=megatron;zero=1;seq=4096;micro-batch=1;"

/* Each of these is accepted, or dies without a word, in at least one of Calculon, llm-analysis, EleutherAI's cookbook,
 * DeepSpeed's and Megatron-LM's estimators. */
static const struct refusal {
	const char *knobs, *where;
} refusals[] = {
	{ LLAMA "gpus=7;tp=7;global-batch=7", "tp" },    /* 7 of 32 heads */
	{ LLAMA "gpus=8;tp=64;global-batch=8", "tp" },   /* more ranks than GPUs */
	{ LLAMA "gpus=64;pp=64;global-batch=64", "pp" }, /* 64 stages of 32 layers */
	{ LLAMA "gpus=8;pp=4;vpp=33;schedule=interleaved;global-batch=8", "vpp" },
	{ LLAMA "gpus=8;pp=8;vpp=3;schedule=interleaved;global-batch=4",
		"micro-batch" },                              /* interleaving needs groups of pp micro-batches */
	{ LLAMA "gpus=8;ep=8;global-batch=8", "ep" },         /* experts of a dense model */
	{ MIXTRAL "gpus=9;ep=3;etp=1;global-batch=9", "ep" }, /* 3 does not divide 8 experts */
	{ MIXTRAL "gpus=9;ep=9;etp=1;global-batch=9", "ep" },
	{ MIXTRAL "gpus=8;ep=16;etp=1;global-batch=8", "ep" },
	{ LLAMA "gpus=8;layers=0;global-batch=8", "layers" },
	{ LLAMA "gpus=8;layers=-80;global-batch=8", "layers" },
	{ LLAMA "gpus=8;heads=0;global-batch=8", "heads" },
	{ LLAMA "gpus=8;heads=3.5;global-batch=8", "heads" },
	{ LLAMA "gpus=8;kv-heads=7;global-batch=8", "kv-heads" }, /* 7 groups of 32 heads */
	{ LLAMA "gpus=0;global-batch=8", "gpus" },
	{ LLAMA "gpus=-8;global-batch=8", "gpus" },
	{ LLAMA "gpus=2.5;global-batch=8", "gpus" },
	{ LLAMA "gpus=8;tp=0;global-batch=8", "tp" },
	{ LLAMA "gpus=8;global-batch=0", "global-batch" }, /* no micro-batch */
	{ LLAMA "gpus=8;global-batch=8;micro-batch=0", "micro-batch" },
	{ LLAMA "gpus=8;global-batch=8;micro-batch=-1", "micro-batch" },
	{ LLAMA "gpus=8;global-batch=12", "global-batch" }, /* not a multiple of dp */
	{ LLAMA "gpus=8;global-batch=8;params=-7B", "params" },
	{ LLAMA "gpus=8;global-batch=8;seq=0", "seq" },
	{ "model=llama3-8b;gpu=H100;gpus=8;framework=deepspeed;zero=3;global-batch=8;offload-params=cpu",
		"offload-params" }, /* without offload */
	{ "model=llama3-8b;gpu=H100;gpus=8;framework=deepspeed;zero=2;global-batch=8;offload=cpu;offload-params=cpu",
		"offload-params" }, /* ZeRO-2 has every parameter on every GPU */
	{ "model=llama1-33b;gpu=H100;gpus=13;framework=megatron;tp=13;zero=0;global-batch=13",
		"tp" }, /* 13 divides 52 heads, not the MLP of 17920 */
	{ "model=llama3-8b;gpu=H100;gpus=8;framework=deepspeed;zero=2;pp=2;global-batch=8",
		"zero" }, /* pipelines exclude ZeRO-2 */
	{ "model=llama3-8b;gpu=H100;gpus=8;framework=deepspeed;zero=2;global-batch=8;offload=nvme", "offload" },
	{ "model=llama3-8b;gpu=H100;gpus=8;framework=ddp;tp=2;zero=0;global-batch=8", "tp" },
	{ "model=llama3-8b;gpu=A100;gpus=8;framework=megatron;zero=0;global-batch=8;precision=fp8", "precision" },
};

START_TEST(what_others_accept_silently_is_refused_by_name)
{
	struct draft d;
	struct err e = { .code = ERR_OK };
	enum err_code code = test_try_draft(&d, refusals[_i].knobs, &e);

	if (code == ERR_OK) {
		draft_settle(&d, test_catalog());
		code = scenario_check(&d.s, &e);
	}
	ck_assert_msg(code != ERR_OK, "accepted: %s", refusals[_i].knobs);
	ck_assert_msg(strcmp(e.where, refusals[_i].where) == 0, "%s blames %s: %s", refusals[_i].knobs, e.where, e.msg);
	ck_assert_msg(strstr(e.msg, "legal") != NULL || strstr(e.msg, "..") != NULL || strstr(e.msg, "nearest") != NULL ||
			code == ERR_USAGE,
		"%s does not say what is legal", e.msg);
}
END_TEST

/* llm-analysis takes the maximum of gradients and activations, accelerate the maximum over phases: what coexists is added. */
START_TEST(the_peak_is_the_sum_of_what_coexists)
{
	struct plan p =
		test_plan("model=llama2-70b;gpu=H100;gpus=8;framework=deepspeed;zero=1;seq=4096;micro-batch=1;global-batch="
			  "8;recompute=none");
	int64_t sum = 0;

	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		sum += p.worst.category[i];
	ck_assert_int_eq(sum, p.worst.need_bytes);
	ck_assert_int_gt(p.worst.category[MEMORY_GRADIENTS], 0);
	ck_assert_int_gt(p.worst.category[MEMORY_ACTIVATIONS], 0);
	ck_assert_int_ge(p.worst.need_bytes, p.worst.persistent_bytes + p.worst.category[MEMORY_ACTIVATIONS]);
}
END_TEST

/* Cookbook: 2,626 GiB for GPT-3 on tp 8 pp 8, because gradients and optimizer stay whole. Megatron's
 * estimator says 46.9 GiB; 0.42 are the positions that it does not count: 2048 x 12288 x 18 bytes. */
START_TEST(all_states_are_divided_by_tp_and_pp)
{
	struct plan p = test_plan(
		"model=gpt3-175b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=8;zero=0;seq=2048;micro-batch=1;global-batch=64");

	ck_assert_double_eq_tol(gib((double)p.worst.persistent_bytes), 46.9 + 0.42, 0.02);
}
END_TEST

/* Cookbook divides by the number of GPUs, twice for some. 8 tensor x 8 data-parallel ranks hold 1/64 of 16 bytes; norms are on
 * every tensor rank. */
START_TEST(zero_divides_by_data_parallel_ranks_only)
{
	struct plan p =
		test_plan("params=70B;gpu=H100;gpus=64;framework=deepspeed;tp=8;zero=3;seq=4096;micro-batch=1;global-batch=64");
	struct plan one =
		test_plan("params=70B;gpu=H100;gpus=8;framework=deepspeed;tp=8;zero=3;seq=4096;micro-batch=1;global-batch=8");

	ck_assert_double_eq_tol((double)p.worst.persistent_bytes, 16 * 70e9 / 64, 2e-4 * 16 * 70e9 / 64);
	ck_assert_int_eq(p.ledger.shards, 8);
	ck_assert_int_eq(one.ledger.shards, 1);
	ck_assert_double_eq_tol((double)one.worst.persistent_bytes, 8 * (double)p.worst.persistent_bytes, 10);
}
END_TEST

/* DeepSpeed's estimators: 20 bytes per parameter for ZeRO-2 and 18 for ZeRO-3 on one GPU. The states are the same 16. */
START_TEST(zero_2_and_zero_3_hold_the_same_on_one_gpu)
{
	struct plan two =
		test_plan("params=70B;gpu=H100;gpus=1;framework=deepspeed;zero=2;seq=4096;micro-batch=1;global-batch=1");
	struct plan three =
		test_plan("params=70B;gpu=H100;gpus=1;framework=deepspeed;zero=3;seq=4096;micro-batch=1;global-batch=1");

	ck_assert_int_eq(two.worst.persistent_bytes, 1120000000000);
	ck_assert_int_eq(three.worst.persistent_bytes, 1120000000000);
}
END_TEST

/* DeepSpeed's ZeRO-2 estimator multiplies host memory by all GPUs of the cluster: 24,668 GiB per node for 70B on 8 nodes. */
START_TEST(host_memory_per_node_shrinks_with_nodes)
{
	struct plan one = test_plan(
		"params=70B;gpu=H100;gpus=8;framework=deepspeed;zero=2;offload=cpu;seq=4096;micro-batch=1;global-batch=64");
	struct plan eight = test_plan(
		"params=70B;gpu=H100;gpus=64;framework=deepspeed;zero=2;offload=cpu;seq=4096;micro-batch=1;global-batch=64");

	ck_assert_int_eq(eight.nodes, 8);
	ck_assert_double_eq_tol((double)eight.host_bytes_per_node, (double)one.host_bytes_per_node / 8, 100);
	/* 1.5 x (12 of states + 4 of gradients) x 70e9 */
	ck_assert_double_eq_tol((double)one.host_bytes_per_node, 1.5 * 16 * 70e9, 100);
}
END_TEST

/* States are not all: buckets, activations, logits, context. Estimators of states say that 16 bytes / 8 x 35B fits 79 GiB with
 * room. */
START_TEST(activations_buckets_and_context_are_on_top_of_states)
{
	struct plan p = test_plan(
		"params=13B;gpu=A100;gpus=8;framework=deepspeed;zero=2;seq=4096;micro-batch=2;global-batch=16;recompute=full");

	ck_assert_int_gt(p.worst.category[MEMORY_ACTIVATIONS], 0);
	ck_assert_int_gt(p.worst.category[MEMORY_TRANSIENT] + p.worst.category[MEMORY_LOGITS], 0);
	ck_assert_double_ge(p.worst.term[TERM_CONTEXT], 1.5 * UNITS_GIB);
	ck_assert_double_gt(p.worst.term[TERM_MARGIN], 0);
}
END_TEST

/* Calculon leaves out embedding and head, llm-analysis charges the whole embedding to every stage: 128256 x 4096 parameters of 18
 * bytes are on the first and on the last of 4 stages. */
START_TEST(embedding_is_on_the_first_stage_and_head_on_the_last)
{
	struct draft d;
	struct stage_memory m[4];
	struct err e;
	double table = 128256.0 * 4096;

	test_draft(&d, LLAMA "gpus=4;pp=4;global-batch=4;profile.vocab-multiple=1");
	for (int64_t i = 0; i < 4; i++)
		ck_assert(memory_stage(&d.s, i, &m[i], &e) == ERR_OK);
	ck_assert_double_eq(m[0].dense_params - m[1].dense_params, table);
	ck_assert_double_eq(m[3].dense_params - m[1].dense_params, table + 4096); /* and the final norm */
	ck_assert_double_eq(m[1].dense_params, m[2].dense_params);
	ck_assert_double_eq_tol((double)(m[0].persistent_bytes - m[1].persistent_bytes), 18 * table, 2);
}
END_TEST

/* llm-analysis never counts untied embeddings (68.715 B), imports a false ffn; Bridge counts RMSNorm with a bias (6.7387 B) and
 * reads MLA as GQA (688.16 B); PaLM comes out as 428.6 B in Calculon, GPT-3 as 174.580 B without biases and positions in
 * Megatron-LM. */
START_TEST(published_shapes_count_exactly)
{
	static const struct {
		const char *model;
		int64_t params;
	} counts[] = {
		{ "llama2-7b", 6738415616 },
		{ "llama2-70b", 68976648192 },
		{ "llama3-8b", 8030261248 },
		{ "mixtral-8x7b", 46702792704 },
		{ "deepseek-v3", 671026419200 },
	};
	char knobs[200];

	(void)snprintf(knobs, sizeof knobs, "model=%s;gpu=H100;gpus=8;framework=lesson;zero=3;global-batch=64", counts[_i].model);
	ck_assert_int_eq(test_plan(knobs).params, counts[_i].params);
}
END_TEST

START_TEST(biases_and_positions_count)
{
	struct draft d;
	int64_t with;

	test_draft(&d, "model=gpt3-175b;gpu=H100;gpus=8;framework=lesson;zero=3;global-batch=64");
	with = model_params(&d.s.model);
	test_draft(&d, "model=gpt3-175b;bias=off;positions=0;gpu=H100;gpus=8;framework=lesson;zero=3;global-batch=64");
	/* 96 layers x (12288 x (3 + 1 + 1) + 49152) biases, 2048 positions x 12288 */
	ck_assert_int_eq(with - model_params(&d.s.model), 96 * (12288 * 5 + 49152) + 2048 * 12288);
}
END_TEST

/* The older Megatron formula does not shard experts: 2,374 GB for DeepSeek-V3 at pp 16 ep 64, where 671e9 parameters make
 * some 19. */
START_TEST(experts_are_sharded_by_ep)
{
	struct plan p =
		test_plan("model=deepseek-v3;gpu=H100;gpus=2048;framework=megatron;pp=16;ep=64;etp=1;zero=1;seq=4096;micro-"
			  "batch=1;global-batch=4096;"
			  "recompute=full");
	struct plan whole = test_plan(MIXTRAL "gpus=8;ep=1;etp=1;global-batch=8"),
		    sharded = test_plan(MIXTRAL "gpus=8;ep=8;etp=1;global-batch=8");
	/* 8 experts x 3 x 4096 x 14336 x 32 layers are 45.1e9 parameters. 2 + 4 + 12/8 bytes of all of them, or 18 of an eighth.
	 */
	double experts = 8.0 * 3 * 4096 * 14336 * 32;

	ck_assert_double_lt(gib((double)p.worst.persistent_bytes), 25);
	ck_assert_double_eq_tol(
		(double)(whole.worst.persistent_bytes - sharded.worst.persistent_bytes), 7.5 * experts - 18 * experts / 8, 1e6);
}
END_TEST

/* An expert-tensor-parallel degree that is not given means 1 in one of two estimators and tp in the other. We follow Megatron-LM
 * and show it. */
START_TEST(etp_follows_tp_unless_given)
{
	struct draft d;

	test_draft(&d, MIXTRAL "gpus=8;tp=4;global-batch=8");
	ck_assert_int_eq(d.s.layout.etp, 4);
	test_draft(&d, MIXTRAL "gpus=8;tp=4;etp=1;global-batch=8");
	ck_assert_int_eq(d.s.layout.etp, 1);
}
END_TEST

/* Bytes that one layer keeps for its backward. */
static double kept(const char *knobs, bool moe)
{
	struct saved_tensor rows[SAVED_TENSOR_MAX];
	struct draft d;
	double sum = 0;
	size_t n;

	test_draft(&d, knobs);
	n = memory_saved_tensors(&d.s, moe, rows, SAVED_TENSOR_MAX);
	for (size_t i = 0; i < n; i++)
		sum += rows[i].kept ? (double)rows[i].elements * rows[i].bytes_per_element : 0;
	return sum;
}

/* Formulas of hidden size alone miss the width of the MLP, its gate, grouped queries, experts per token, context parallelism,
 * flash. T = 4096. */
START_TEST(activations_follow_the_shape)
{
	double base = kept(LLAMA "gpus=8;global-batch=8", false), T = 4096;

	ck_assert_double_eq(
		base - kept(LLAMA "ffn=7168;gpus=8;global-batch=8", false), 3 * 2 * T * 7168); /* gate, up, activation */
	ck_assert_double_eq(base - kept(LLAMA "gated-mlp=off;gpus=8;global-batch=8", false), 2 * T * 14336); /* up */
	ck_assert_double_eq(kept(LLAMA "kv-heads=32;attention-type=mha;gpus=8;global-batch=8", false) - base,
		2 * T * 3 * 24 * 128); /* K, V, rotated K */
	ck_assert_double_eq(kept(LLAMA "gpus=8;cp=2;global-batch=8", false), base / 2);
	/* The score matrix: 32 heads x 4096 x 4096 x 2 bytes, instead of a log-sum-exp of 4 bytes per head and token. */
	ck_assert_double_eq(kept(LLAMA "attention=unfused;gpus=8;global-batch=8", false) - base, 2 * 32 * T * T - 4 * 32 * T);
}
END_TEST

START_TEST(activations_grow_with_experts_per_token)
{
	double two = kept(MIXTRAL "gpus=8;etp=1;global-batch=8", true),
	       one = kept(MIXTRAL "topk=1;gpus=8;etp=1;global-batch=8", true);

	/* One more copy of input and output, and three times the expert width. */
	ck_assert_double_eq(two - one, 4096.0 * (2 * 2 * 4096 + 3 * 2 * 14336));
}
END_TEST

START_TEST(mla_keeps_its_down_projections_whole)
{
	const char *tp1 =
		"model=deepseek-v3;gpu=H100;gpus=64;framework=megatron;zero=1;etp=1;ep=64;seq=4096;micro-batch=1;global-batch=64";
	const char *tp2 = "model=deepseek-v3;gpu=H100;gpus=64;framework=megatron;zero=1;tp=2;etp=1;ep=32;seq=4096;micro-batch=1;"
			  "global-batch=64;"
			  "sequence-parallel=off";
	/* 2 bytes x (2 x 1536 + 2 x 512 + 64) per token are on both ranks; the heads are split: 128 x (2 x 192 + 256 + 192 + 128)
	 * of 2 bytes, and the log-sum-exp of 4; so is the MLP of the 3 dense layers, 3 x 18432. */
	double T = 4096, split = 2 * 128 * (2 * 192 + 256 + 192 + 128.0) + 4 * 128 + 2 * 3 * 18432.0;

	ck_assert_double_eq(kept(tp1, false) - kept(tp2, false), T * split / 2);
}
END_TEST

/* Full recompute keeps the layer inputs: 80 x 4096 x 8192 x 2 bytes are 5 GiB, 0.6 with sequence parallelism; others print 34
 * or 85. */
START_TEST(full_recompute_keeps_layer_inputs_only)
{
	ck_assert_double_eq(80 *
			kept("model=llama2-70b;gpu=H100;gpus=8;framework=megatron;zero=0;seq=4096;micro-batch=1;global-batch=8;"
			     "recompute=full",
				false),
		80.0 * 4096 * 8192 * 2);
	ck_assert_double_eq(80 *
			kept("model=llama2-70b;gpu=H100;gpus=8;framework=megatron;tp=8;zero=0;seq=4096;micro-batch=1;global-"
			     "batch=8;recompute=full",
				false),
		80.0 * 4096 * 8192 * 2 / 8);
}
END_TEST

/* Floored or averaged layers: 96 layers on 7 stages are all there, and the fullest stage decides. */
START_TEST(uneven_stages_hold_all_layers_and_the_worst_decides)
{
	struct draft d;
	struct plan p;
	struct err e;
	int64_t layers = 0, worst = 0;

	test_draft(&d,
		"model=gpt3-175b;gpu=H100;gpus=56;framework=megatron;tp=8;pp=7;zero=0;seq=2048;micro-batch=1;global-batch=56");
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	for (int64_t i = 0; i < 7; i++) {
		struct stage_memory m;

		ck_assert(memory_stage(&d.s, i, &m, &e) == ERR_OK);
		ck_assert(m.layers == 13 || m.layers == 14);
		layers += m.layers;
		worst = num_max(worst, m.need_bytes);
	}
	ck_assert_int_eq(layers, 96);
	ck_assert_int_eq(worst, p.verdict.need_bytes);
	ck_assert(p.split_is_uneven);
}
END_TEST

/* Calculon's search stops with an assertion at the first tp that does not divide the MLP: Llama 30B on 13 GPUs. */
START_TEST(search_survives_layouts_that_do_not_divide)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d, "model=llama1-33b;gpu=A100;gpus=13;global-batch=52");
	ck_assert_msg(search_choose(&d, test_catalog(), &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_int_gt(p.worst.need_bytes, 0);
}
END_TEST

/* An optimum that leaves out the embedding and has no reserve need not fit: what is chosen has been judged with both. */
START_TEST(what_the_search_calls_fitting_has_a_reserve)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d, "model=gpt3-175b;gpu=A100;gpus=512");
	ck_assert_msg(search_choose(&d, test_catalog(), &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert(p.verdict.fits);
	ck_assert_int_le(p.worst.need_bytes, p.verdict.have_bytes);
	ck_assert_double_ge(gib((double)p.worst.category[MEMORY_RESERVED]), 1.5);
}
END_TEST

/* llm-analysis answers batch -9 and -882.8 GiB for a model that does not fit. */
START_TEST(a_model_that_does_not_fit_has_no_negative_figures)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d, "params=405B;gpu=4090;gpus=8");
	ck_assert_msg(search_choose(&d, test_catalog(), &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert(!p.verdict.fits);
	ck_assert_int_ge(d.s.training.micro_batch, 1);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		ck_assert_int_ge(p.worst.category[i], 0);
	ck_assert_int_lt(p.verdict.headroom_bytes, 0);
}
END_TEST

/* The averaging estimator was 32 % low on 1, 2, 2, 3 layers. */
START_TEST(an_explicit_split_is_taken_as_it_stands)
{
	struct draft d;
	struct stage_memory m[4];
	struct err e;

	test_draft(&d, LLAMA "layers=8;gpus=4;pp=4;stage-layers=1,2,2,3;global-batch=4");
	for (int64_t i = 0; i < 4; i++)
		ck_assert(memory_stage(&d.s, i, &m[i], &e) == ERR_OK);
	ck_assert_int_eq(m[0].layers, 1);
	ck_assert_int_eq(m[1].layers, 2);
	ck_assert_int_eq(m[3].layers, 3);
	ck_assert_double_gt(
		m[3].dense_params, 1.3 * (m[0].dense_params + m[1].dense_params + m[2].dense_params + m[3].dense_params) / 4);
}
END_TEST

static double flops_of(const char *knobs)
{
	struct draft d;

	test_draft(&d, knobs);
	return throughput_flops_per_token(&d.s);
}

/* The cookbook parses the width of the MLP and never uses it; with experts in every second layer its top-1 equals top-2. */
START_TEST(flops_follow_the_width_and_the_stride)
{
	double wide = flops_of(LLAMA "gpus=8;global-batch=8;flops=6n"),
	       narrow = flops_of(LLAMA "ffn=7168;gpus=8;global-batch=8;flops=6n");
	double one = flops_of(MIXTRAL "moe-stride=2;ffn=14336;topk=1;gpus=8;global-batch=8;flops=6n"),
	       two = flops_of(MIXTRAL "moe-stride=2;ffn=14336;topk=2;gpus=8;global-batch=8;flops=6n");

	ck_assert_double_eq(wide - narrow, 6.0 * 32 * 3 * 4096 * 7168);
	ck_assert_double_eq(two - one, 6.0 * 16 * 3 * 4096 * 14336);
}
END_TEST

/* Megatron-LM's estimator ignores the micro-batches when they are fewer than the ranks of an interleaved pipeline. */
START_TEST(no_more_is_in_flight_than_there_is)
{
	struct plan p =
		test_plan("model=llama2-70b;gpu=H100;gpus=8;framework=fsdp;pp=8;vpp=2;schedule=interleaved;zero=3;seq=4096;"
			  "micro-batch=1;global-batch=4");

	ck_assert_int_eq(p.micro_batches, 4);
	ck_assert_double_eq(p.worst.in_flight, 4);
}
END_TEST

/* llm-analysis counts the tokens of a pipeline once per rank of it: 40,705 per second and device where 2,390 are the peak. Its
 * search and Calculon's compare layouts at different batches. */
START_TEST(tokens_are_those_of_the_batch)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d,
		"model=llama2-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=8;zero=1;seq=4096;micro-batch=1;global-batch=1");
	ck_assert_int_eq(plan_evaluate(&d.s, &p, &e), ERR_OK);
	ck_assert_int_eq(d.s.training.global_batch, 1);
	ck_assert_double_eq_tol(p.throughput.tokens_per_s * p.step.step_s, 4096, 1e-6);
	ck_assert_double_eq_tol(p.throughput.tokens_per_s_per_gpu * 64, p.throughput.tokens_per_s, 1e-6);
	ck_assert_double_lt(p.throughput.mfu, 1.0 / 8); /* one micro-batch keeps one of eight stages busy */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("peers");
	TCase *t = tcase_create("peers");

	tcase_add_loop_test(t, what_others_accept_silently_is_refused_by_name, 0, (int)(sizeof refusals / sizeof refusals[0]));
	tcase_add_test(t, the_peak_is_the_sum_of_what_coexists);
	tcase_add_test(t, all_states_are_divided_by_tp_and_pp);
	tcase_add_test(t, zero_divides_by_data_parallel_ranks_only);
	tcase_add_test(t, zero_2_and_zero_3_hold_the_same_on_one_gpu);
	tcase_add_test(t, host_memory_per_node_shrinks_with_nodes);
	tcase_add_test(t, activations_buckets_and_context_are_on_top_of_states);
	tcase_add_test(t, embedding_is_on_the_first_stage_and_head_on_the_last);
	tcase_add_loop_test(t, published_shapes_count_exactly, 0, 5);
	tcase_add_test(t, biases_and_positions_count);
	tcase_add_test(t, experts_are_sharded_by_ep);
	tcase_add_test(t, etp_follows_tp_unless_given);
	tcase_add_test(t, activations_follow_the_shape);
	tcase_add_test(t, activations_grow_with_experts_per_token);
	tcase_add_test(t, mla_keeps_its_down_projections_whole);
	tcase_add_test(t, full_recompute_keeps_layer_inputs_only);
	tcase_add_test(t, uneven_stages_hold_all_layers_and_the_worst_decides);
	tcase_add_test(t, search_survives_layouts_that_do_not_divide);
	tcase_add_test(t, what_the_search_calls_fitting_has_a_reserve);
	tcase_add_test(t, a_model_that_does_not_fit_has_no_negative_figures);
	tcase_add_test(t, an_explicit_split_is_taken_as_it_stands);
	tcase_add_test(t, flops_follow_the_width_and_the_stride);
	tcase_add_test(t, no_more_is_in_flight_than_there_is);
	tcase_add_test(t, tokens_are_those_of_the_batch);
	suite_add_tcase(s, t);
	return test_run(s);
}
