/* The table, and reading and writing one value. Everything about drafts - rules that fill, repair and step - is in draft.c. */
#include "knobs.h"

#include "dtype.h"
#include "i18n_mark.h"
#include "memory.h"
#include "num.h"
#include "schedule.h"
#include "sink.h"
#include "text.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const knob_group_names[KNOB_GROUP_COUNT] = { N_("model"), N_("cluster"), N_("layout"), N_("training"), N_("cost") };
const char *const knob_origin_names[ORIGIN_COUNT] = { N_("default"), N_("preset"), N_("automatic"), N_("file"), N_("given") };

/* Names of enum values, each taken from the table that defines them. */
#define NAMES(fn, table, count)                                                                                                  \
	static const char *fn##_name(int64_t v)                                                                                  \
	{                                                                                                                        \
		return v >= 0 && v < (count) ? table[v].key : NULL;                                                              \
	}                                                                                                                        \
	static const char *fn##_help(int64_t v)                                                                                  \
	{                                                                                                                        \
		return v >= 0 && v < (count) ? table[v].help : NULL;                                                             \
	}
#define PLAIN_NAMES(fn, table, count)                                                                                            \
	static const char *fn##_name(int64_t v)                                                                                  \
	{                                                                                                                        \
		return v >= 0 && v < (count) ? table[v] : NULL;                                                                  \
	}

NAMES(framework, framework_choices, FRAMEWORK_COUNT)
NAMES(precision, precision_choices, PRECISION_COUNT)
NAMES(optimizer, optimizer_table, OPTIMIZER_COUNT)
NAMES(dtype, dtype_table, DTYPE_COUNT)
NAMES(recompute, recompute_choices, RECOMPUTE_COUNT)
NAMES(kernel, attention_kernel_choices, ATTENTION_KERNEL_COUNT)
NAMES(loss, loss_choices, LOSS_COUNT)
NAMES(offload, offload_choices, OFFLOAD_COUNT)
NAMES(adapter, adapter_choices, ADAPTER_COUNT)
NAMES(targets, lora_targets_choices, LORA_TARGETS_COUNT)
NAMES(split, pp_split_choices, PP_SPLIT_COUNT)
NAMES(flops, flops_convention_choices, FLOPS_CONVENTION_COUNT)
NAMES(schedule, schedule_table, SCHEDULE_COUNT)
PLAIN_NAMES(attention_type, attention_type_names, ATTENTION_TYPE_COUNT)
PLAIN_NAMES(norm, norm_type_names, NORM_TYPE_COUNT)
PLAIN_NAMES(qk_norm, qk_norm_names, QK_NORM_COUNT)

/* The member of struct scenario that a row edits, its type checked at compile time. */
#define AT(member, T) (offsetof(struct scenario, member) + 0 * sizeof(char[_Generic(((struct scenario *)0)->member, T : 1)]))
#define I64(member) AT(member, int64_t)
#define I32(member) AT(member, int32_t)
#define F64(member) AT(member, double)

#define ROW(k_, alias_, label_, unit_, group_, type_, flags_, offset_, min_, max_, step_, preset_, dflt_, name_, help_at_,       \
	help_, cite_)                                                                                                            \
	{                                                                                                                        \
		.key = k_, .alias = alias_, .label = label_, .unit = unit_, .group = KNOB_GROUP_##group_, .type = KNOB_##type_,  \
		.flags = flags_, .offset = offset_, .min = min_, .max = max_, .step = step_, .preset = preset_, .dflt = dflt_,   \
		.name_at = name_, .help_at = help_at_, .help = help_, .cite = cite_                                              \
	}
#define SHAPE_FROM(k, label, member, min, max, step, help)                                                                       \
	ROW(k, NULL, label, "", MODEL, INT, KNOB_F_SHAPE, I64(model.member), min, max, step, PRESET_NONE, NULL, NULL, NULL,      \
		help, "")
#define SHAPE(k, label, member, max, step, help)      SHAPE_FROM(k, label, member, 0, max, step, help)
#define SHAPE_SOME(k, label, member, max, step, help) SHAPE_FROM(k, label, member, 1, max, step, help)
#define SHAPE_ANY(k, label, member, help)                                                                                        \
	ROW(k, NULL, label, "", MODEL, INT, KNOB_F_SHAPE, I64(model.member), -1e15, 1e15, 1, PRESET_NONE, NULL, NULL, NULL,      \
		help, "")
#define SHAPE_FLAG(k, label, member, help)                                                                                       \
	ROW(k, NULL, label, "", MODEL, FLAG, KNOB_F_SHAPE, I32(model.member), 0, 1, 1, PRESET_NONE, NULL, NULL, NULL, help, "")
#define SHAPE_ENUM(k, label, member, fn, count, help)                                                                            \
	ROW(k, NULL, label, "", MODEL, ENUM, KNOB_F_SHAPE, I32(model.member), 0, (count)-1, 1, PRESET_NONE, NULL, fn##_name,     \
		NULL, help, "")
#define NAME(k, alias, label, group, flags, what, help)                                                                          \
	ROW(k, alias, label, "", group, PRESET, flags, 0, 0, 0, 1, what, NULL, NULL, NULL, help, "")
#define COUNT(k, alias, label, unit, group, flags, member, min, max, dflt, help, cite)                                           \
	ROW(k, alias, label, unit, group, INT, flags, I64(member), min, max, 1, PRESET_NONE, dflt, NULL, NULL, help, cite)
#define BYTES(k, label, member, help)                                                                                            \
	ROW(k, NULL, label, "", CLUSTER, BYTES, 0, I64(member), 0, 1e18, 1, PRESET_NONE, NULL, NULL, NULL, help, "")
#define ENUM(k, alias, label, group, flags, member, fn, count, dflt, help, cite)                                                 \
	ROW(k, alias, label, "", group, ENUM, flags, I32(member), 0, (count)-1, 1, PRESET_NONE, dflt, fn##_name, fn##_help,      \
		help, cite)
#define FLAG(k, alias, label, group, flags, member, dflt, help, cite)                                                            \
	ROW(k, alias, label, "", group, FLAG, flags, I32(member), 0, 1, 1, PRESET_NONE, dflt, NULL, NULL, help, cite)

enum { MAIN = KNOB_F_MAIN, AUTO = KNOB_F_AUTO, LOG = KNOB_F_LOG, RANKS = KNOB_F_RANKS, ORDERED = KNOB_F_ORDERED };

/* clang-format off */
static const struct knob knobs[] = {
	/* Order is the order of application: presets first, then what overrides single members. */
	NAME("model", NULL, N_("model"), MODEL, MAIN, PRESET_MODEL, N_("model preset or config.json; fills every key of this group")),
	ROW("params", NULL, N_("params"), "", MODEL, PARAMS, MAIN | KNOB_F_SHAPE, 0, 1e7, 1e14, 1, PRESET_NONE, NULL, NULL, NULL,
		N_("total parameters; given, a Llama-like shape of that size"), "Llama 3 family"),
	SHAPE_SOME("layers", N_("layers"), layers, 1e4, 1, N_("transformer layers")),
	SHAPE_SOME("hidden", N_("hidden"), hidden, 1e6, 128, N_("hidden size h")),
	SHAPE_SOME("heads", N_("heads"), heads, 1e5, 8, N_("attention heads a")),
	SHAPE_SOME("kv-heads", N_("kv-heads"), kv_heads, 1e5, 1, N_("key and value heads k")),
	SHAPE_SOME("head-dim", N_("head-dim"), head_dim, 65536, 16, N_("size of one head d")),
	SHAPE("ffn", N_("ffn"), ffn, 1e7, 128, N_("width of a dense MLP f")),
	SHAPE_SOME("vocab", N_("vocab"), vocab, 1e8, 128, N_("vocabulary V, unpadded")),
	SHAPE_SOME("max-seq", N_("max-seq"), max_seq, 1e9, 1024, N_("longest sequence the model is made for")),
	SHAPE_FLAG("gated-mlp", N_("gated-mlp"), gated_mlp, N_("SwiGLU or GeGLU: three matrices instead of two")),
	SHAPE_FLAG("tied-embeddings", N_("tied"), tied_embeddings, N_("input and output embedding are one matrix")),
	SHAPE_ENUM("attention-type", N_("attn-type"), attention_type, attention_type, ATTENTION_TYPE_COUNT, N_("how heads share keys and values")),
	SHAPE("q-lora-rank", N_("q-lora-rank"), q_lora_rank, 65536, 128, N_("MLA: rank of the query down-projection, 0 for none")),
	SHAPE("kv-lora-rank", N_("kv-lora-rank"), kv_lora_rank, 65536, 128, N_("MLA: rank of the key and value down-projection")),
	SHAPE("qk-nope-dim", N_("qk-nope-dim"), qk_nope_dim, 65536, 16, N_("MLA: head size without position")),
	SHAPE("qk-rope-dim", N_("qk-rope-dim"), qk_rope_dim, 65536, 16, N_("MLA: head size with rotary position")),
	SHAPE("v-head-dim", N_("v-head-dim"), v_head_dim, 65536, 16, N_("MLA: head size of values")),
	SHAPE("experts", N_("experts"), experts, 65536, 8, N_("routed experts E, 0 for a dense model")),
	SHAPE("topk", N_("topk"), topk, 65536, 1, N_("experts per token K")),
	SHAPE("expert-ffn", N_("expert-ffn"), expert_ffn, 1e7, 128, N_("width of one expert")),
	SHAPE("shared-experts", N_("shared-exp"), shared_experts, 65536, 1, N_("experts that every token visits")),
	SHAPE("shared-ffn", N_("shared-ffn"), shared_ffn, 1e7, 128, N_("width of all shared experts, 0: shared-experts x expert-ffn")),
	SHAPE_FLAG("shared-gate", N_("shared-gate"), shared_gate, N_("a gate on the shared expert")),
	SHAPE("dense-layers", N_("dense-layers"), dense_layers, 1e4, 1, N_("leading layers without experts")),
	SHAPE_SOME("moe-stride", N_("moe-stride"), moe_stride, 1e4, 1, N_("every n-th layer has experts")),
	SHAPE("mtp-layers", N_("mtp-layers"), mtp_layers, 64, 1, N_("multi-token prediction layers, counted apart from params")),
	SHAPE_ENUM("norm", N_("norm"), norm, norm, NORM_TYPE_COUNT, N_("kind of the norms")),
	SHAPE_FLAG("norm-bias", N_("norm-bias"), norm_bias, N_("norms have a bias")),
	SHAPE("norms-per-layer", N_("norms/layer"), norms_per_layer, 16, 1, N_("norms of hidden size in a layer")),
	SHAPE_FLAG("final-norm", N_("final-norm"), final_norm, N_("a norm before the head")),
	SHAPE_FLAG("embed-norm", N_("embed-norm"), embed_norm, N_("a norm after the embedding")),
	SHAPE_ENUM("qk-norm", N_("qk-norm"), qk_norm, qk_norm, QK_NORM_COUNT, N_("norm on queries and keys, of each head or all at once")),
	ROW("bias", NULL, N_("bias"), "", MODEL, BIAS, KNOB_F_SHAPE, 0, 0, 1, 1, PRESET_NONE, NULL, NULL, NULL,
		N_("all linear biases: qkv-bias, out-bias and mlp-bias at once"), ""),
	SHAPE_FLAG("qkv-bias", N_("qkv-bias"), qkv_bias, N_("bias on query, key and value")),
	SHAPE_FLAG("out-bias", N_("out-bias"), out_bias, N_("bias on the attention output")),
	SHAPE_FLAG("mlp-bias", N_("mlp-bias"), mlp_bias, N_("biases in the MLP")),
	SHAPE_FLAG("head-bias", N_("head-bias"), head_bias, N_("bias on the output head")),
	SHAPE_FLAG("router-bias", N_("router-bias"), router_bias, N_("bias on the router")),
	SHAPE_FLAG("expert-bias", N_("expert-bias"), expert_bias, N_("biases in the experts")),
	SHAPE_FLAG("attention-sinks", N_("sinks"), attention_sinks, N_("one learned sink per head")),
	SHAPE("positions", N_("positions"), positions, 1e9, 1024, N_("rows of a learned position table, 0 for none")),
	SHAPE_FLAG("rope", N_("rope"), rope, N_("rotary positions")),
	SHAPE("window", N_("window"), window, 1e9, 128, N_("sliding attention window in tokens, 0 for none")),
	SHAPE("window-stride", N_("win-stride"), window_stride, 1e4, 1, N_("every n-th layer sees the whole sequence, 0: none does")),
	SHAPE("route-nodes", N_("route-nodes"), route_nodes, 65536, 1, N_("most nodes a routed token goes to, 0 for no limit")),
	SHAPE_ANY("mlp-extra-params", N_("mlp-extra"), mlp_extra_params, N_("parameters spread over the MLPs beyond their widths")),
	SHAPE_ANY("extra-params", N_("extra"), extra_params, N_("parameters outside the layers that the shape cannot express")),

	NAME("gpu", NULL, N_("gpu"), CLUSTER, MAIN, PRESET_GPU, N_("GPU preset")),
	COUNT("gpus", NULL, N_("gpus"), N_("GPUs"), CLUSTER, MAIN | LOG, cluster.gpus, 1, 1048576, "1", N_("GPUs in all"), ""),
	NAME("node", NULL, N_("node"), CLUSTER, 0, PRESET_NODE, N_("node preset: GPUs per node, host memory, NVMe")),
	COUNT("gpus-per-node", NULL, N_("gpus/node"), N_("GPUs"), CLUSTER, LOG, cluster.gpus_per_node, 1, 1024, NULL, N_("GPUs in one node"), ""),
	ROW("gpu-mem", NULL, N_("gpu-mem"), "", CLUSTER, CAPACITY, 0, I64(cluster.gpu_mem_bytes), 0, 1e15, 1, PRESET_NONE, NULL, NULL, NULL,
		N_("memory the card hands out; the verdict compares with it"), ""),
	ROW("nic-bw", NULL, N_("nic-bw"), N_("GB/s per GPU"), CLUSTER, REAL, 0, F64(cluster.nic_gbs), 0, 10000, 1, PRESET_NONE, "0", NULL, NULL,
		N_("network, one direction, 0: as the node says"), ""),
	BYTES("host-mem", N_("host-mem"), cluster.node.host_mem_bytes, N_("host memory per node, 0: not known")),
	BYTES("nvme", N_("nvme"), cluster.node.nvme_bytes, N_("NVMe per node, 0: not known")),

	ROW("framework", NULL, N_("framework"), "", LAYOUT, ENUM, MAIN | AUTO, I32(profile.framework), 0, FRAMEWORK_COUNT - 1, 1, PRESET_FRAMEWORK,
		"auto", framework_name, framework_help, N_("training framework: what can be combined, what is kept in memory"), ""),
	NAME("profile", NULL, N_("profile"), LAYOUT, AUTO, PRESET_PROFILE, N_("dated version of the framework: every constant of the memory model")),
	COUNT("tp", NULL, N_("tp"), N_("ranks"), LAYOUT, MAIN | AUTO | LOG | RANKS, layout.tp, 1, 65536, "1", N_("tensor parallel"), "Shoeybi 2019"),
	COUNT("pp", NULL, N_("pp"), N_("ranks"), LAYOUT, MAIN | AUTO | LOG | RANKS, layout.pp, 1, 65536, "1", N_("pipeline parallel"), "Huang 2019"),
	COUNT("vpp", NULL, N_("vpp"), N_("chunks"), LAYOUT, AUTO | LOG, layout.vpp, 1, 1024, "1", N_("chunks per pipeline rank (interleaved)"),
		"Narayanan 2021 sec. 2.2"),
	COUNT("cp", NULL, N_("cp"), N_("ranks"), LAYOUT, MAIN | AUTO | LOG | RANKS, layout.cp, 1, 65536, "1", N_("context parallel"), "Liu 2023"),
	COUNT("ep", NULL, N_("ep"), N_("ranks"), LAYOUT, AUTO | LOG | RANKS, layout.ep, 1, 65536, "1", N_("expert parallel"), "Lepikhin 2020"),
	COUNT("etp", NULL, N_("etp"), N_("ranks"), LAYOUT, AUTO | LOG | RANKS, layout.etp, 1, 65536, NULL, N_("tensor parallel inside experts"),
		"Megatron-LM --expert-tensor-parallel-size"),
	ROW("dp", NULL, N_("dp"), N_("ranks"), LAYOUT, DP, MAIN | KNOB_F_DERIVED, 0, 1, 1048576, 1, PRESET_NONE, NULL, NULL, NULL,
		N_("data parallel: gpus / (tp pp cp); given, it is checked"), ""),
	COUNT("zero", NULL, N_("zero"), "", LAYOUT, MAIN | AUTO | ORDERED, layout.zero, 0, 3, NULL, N_("ZeRO stage: 1 optimizer, 2 + gradients, 3 + weights"),
		"Rajbhandari 2020"),
	COUNT("zero-group", NULL, N_("zero-group"), N_("ranks"), LAYOUT, LOG, layout.zero_group, 0, 1048576, "0",
		N_("ranks that shard together (HSDP), 0 for all"), "torch HSDP"),
	FLAG("sequence-parallel", "sp", N_("seq-parallel"), LAYOUT, AUTO, layout.sequence_parallel, NULL, N_("shard norms and dropout along the sequence"),
		"Korthikanti 2022"),
	ENUM("schedule", NULL, N_("schedule"), LAYOUT, MAIN | AUTO, layout.schedule, schedule, SCHEDULE_COUNT, NULL, N_("pipeline schedule"), ""),
	COUNT("group", NULL, N_("group"), N_("micro-batches"), LAYOUT, LOG, layout.group, 0, 1048576, "0", N_("interleaved: micro-batches per group, 0 for pp"),
		"Megatron-LM --microbatch-group-size-per-virtual-pipeline-stage"),
	ENUM("pp-split", NULL, N_("pp-split"), LAYOUT, 0, layout.pp_split, split, PP_SPLIT_COUNT, "auto", N_("how layers are split over stages"), ""),
	ROW("stage-layers", NULL, N_("stage-layers"), "", LAYOUT, STAGES, 0, 0, 0, 0, 1, PRESET_NONE, "auto", NULL, NULL,
		N_("layers of each stage, \"11,10,10,11\", or auto"), ""),

	ENUM("precision", NULL, N_("precision"), TRAINING, MAIN, training.precision, precision, PRECISION_COUNT, NULL, N_("number formats"),
		"Micikevicius 2018"),
	ENUM("optimizer", NULL, N_("optimizer"), TRAINING, MAIN, training.optimizer, optimizer, OPTIMIZER_COUNT, "adamw", N_("optimizer"), ""),
	ENUM("grad-dtype", NULL, N_("grad-dtype"), TRAINING, 0, training.grad_dtype, dtype, DTYPE_COUNT, "auto", N_("gradient buffer"), ""),
	ENUM("master-dtype", NULL, N_("master-dtype"), TRAINING, 0, training.master_dtype, dtype, DTYPE_COUNT, "auto", N_("master copy of the weights"), ""),
	COUNT("seq", NULL, N_("seq"), N_("tokens"), TRAINING, MAIN | LOG | KNOB_F_TOKENS, training.seq, 1, 1073741824, NULL, N_("tokens in a sequence"), ""),
	COUNT("attention-length", NULL, N_("attn-length"), N_("tokens"), TRAINING, LOG | KNOB_F_TOKENS, training.attention_length, 0, 1073741824, "0",
		N_("packed samples: tokens that attend to each other, 0 for seq"), ""),
	COUNT("micro-batch", "mbs", N_("micro-batch"), N_("sequences"), TRAINING, MAIN | AUTO | LOG, training.micro_batch, 1, 1048576, "1",
		N_("sequences per micro-batch and rank"), ""),
	COUNT("global-batch", "gbs", N_("global-batch"), N_("sequences"), TRAINING, MAIN | LOG, training.global_batch, 1, 1073741824, NULL,
		N_("sequences per step over all ranks"), ""),
	ENUM("recompute", NULL, N_("recompute"), TRAINING, MAIN | AUTO | ORDERED, training.recompute, recompute, RECOMPUTE_COUNT, "none",
		N_("activation recomputation"), "Chen 2016; Korthikanti 2022"),
	COUNT("recompute-every", NULL, N_("recomp-every"), N_("layers"), TRAINING, LOG, training.recompute_every, 1, 10000, "1",
		N_("full recompute: keep the input of every n-th layer"), "Chen 2016"),
	ENUM("attention", NULL, N_("attention"), TRAINING, MAIN, training.attention, kernel, ATTENTION_KERNEL_COUNT, "flash", N_("attention kernel"), "Dao 2022"),
	ROW("dropout", NULL, N_("dropout"), "", TRAINING, DROPOUT, 0, F64(training.dropout), 0, 0.999, 1, PRESET_NONE, "0", NULL, NULL,
		N_("dropout probability, hidden and attention"), ""),
	ROW("attention-dropout", NULL, N_("attn-dropout"), "", TRAINING, REAL, 0, F64(training.attention_dropout), 0, 0.999, 1, PRESET_NONE, "0", NULL,
		NULL, N_("dropout probability of attention scores alone"), ""),
	ENUM("loss", NULL, N_("loss"), TRAINING, MAIN, training.loss, loss, LOSS_COUNT, "full", N_("how logits and loss are computed"), ""),
	ENUM("offload", NULL, N_("offload"), TRAINING, MAIN | ORDERED, training.offload, offload, OFFLOAD_COUNT, "none", N_("where optimizer states live"),
		"Ren 2021; Rajbhandari 2021"),
	ENUM("offload-params", NULL, N_("offl-params"), TRAINING, ORDERED, training.offload_params, offload, OFFLOAD_COUNT, "none",
		N_("where sharded parameters live"), "Rajbhandari 2021"),
	FLAG("offload-activations", NULL, N_("offload-act"), TRAINING, 0, training.offload_activations, "off", N_("recompute checkpoints live in host memory"),
		"DeepSpeed cpu_checkpointing"),
	ENUM("flops", NULL, N_("flops"), TRAINING, 0, training.flops, flops, FLOPS_CONVENTION_COUNT, "full",
		N_("what counts as model FLOPs in TFLOP/s and MFU; changes no time"), "PaLM appendix B; Narayanan 2021 eq. 3"),
	ENUM("adapter", NULL, N_("adapter"), TRAINING, MAIN, training.adapter, adapter, ADAPTER_COUNT, "none", N_("train low-rank adapters instead of the model"),
		"Hu 2021; Dettmers 2023"),
	COUNT("lora-rank", NULL, N_("lora-rank"), "", TRAINING, LOG, training.lora_rank, 1, 65536, "16", N_("rank of the adapters"), "Hu 2021"),
	ENUM("lora-targets", NULL, N_("lora-targets"), TRAINING, 0, training.lora_targets, targets, LORA_TARGETS_COUNT, "all-linear",
		N_("matrices that get an adapter"), "Hu 2021"),

	NAME("coefficients", NULL, N_("coefficients"), TRAINING, 0, PRESET_COEFFICIENTS,
		N_("fitted numbers of the time model: shipped, or what meshplan calibrate wrote")),

	COUNT("tokens", NULL, N_("tokens"), N_("tokens"), COST, LOG, cost.tokens, 0, 1e18, "0", N_("tokens to train on, 0: 20 per active parameter"),
		"Hoffmann 2022"),
	ROW("price", NULL, N_("price"), N_("USD/h"), COST, REAL, 0, F64(cost.price), 0, 100000, 1, PRESET_PRICE, "0", NULL, NULL,
		N_("price of a GPU hour, or whose: Nebius; 0: the GPU preset's"), ""),
	ROW("pue", NULL, N_("pue"), "", COST, REAL, 0, F64(cost.pue), 1, 10, 1, PRESET_NONE, "1.2", NULL, NULL,
		N_("power usage effectiveness of the data centre"), ""),
	ROW("mtbf", NULL, N_("mtbf"), N_("h"), COST, REAL, 0, F64(cost.mtbf_hours), 0, 1e9, 1, PRESET_NONE, "50000", NULL, NULL,
		N_("hours between failures of one GPU, 0: none"), "Llama 3 report: 419 in 54 days on 16,384"),
	ROW("goodput", NULL, N_("goodput"), "", COST, REAL, 0, F64(cost.goodput), 0.01, 1, 1, PRESET_NONE, "0.85", NULL, NULL,
		N_("share of wall time that trains when nothing fails"), "published GPU hours beside published steps"),
};
/* clang-format on */

enum { N_KNOBS = sizeof knobs / sizeof knobs[0] };
_Static_assert((int)N_KNOBS <= (int)KNOB_MAX, "raise KNOB_MAX");

size_t knob_count(void)
{
	return N_KNOBS;
}

const struct knob *knob_at(size_t i)
{
	return i < N_KNOBS ? &knobs[i] : NULL;
}

size_t knob_index(const struct knob *k)
{
	return (size_t)(k - knobs);
}

const struct knob *knob_find(const char *key)
{
	for (size_t i = 0; i < N_KNOBS; i++)
		if (text_same(knobs[i].key, key) || (knobs[i].alias != NULL && text_same(knobs[i].alias, key)))
			return &knobs[i];
	return NULL;
}

size_t knob_of_member(size_t offset)
{
	size_t i = 0;

	/* Rows without a member of their own have offset 0, which no edited member has. */
	while (i < N_KNOBS - 1 && knobs[i].offset != offset)
		i++;
	return i;
}

static const char *key_at(const void *ctx, size_t i)
{
	(void)ctx;
	return knobs[i].key;
}

char *knob_nearest(const char *key, char *buf, size_t cap)
{
	return catalog_nearest(key, N_KNOBS, key_at, NULL, buf, cap);
}

/* Values that many knobs share mean nothing alone. */
static bool is_common_value(const char *word)
{
	static const char *const common[] = { "auto", "none", "full", "cpu", "nvme", "fp32", "naive" };

	for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
		if (text_same(common[i], word))
			return true;
	return false;
}

char *knob_hint(const char *word, char *buf, size_t cap)
{
	size_t head = strcspn(word, "0123456789");

	buf[0] = '\0';
	for (size_t i = 0; i < N_KNOBS && !is_common_value(word); i++) {
		const struct knob *k = &knobs[i];

		for (int64_t v = 0; k->name_at != NULL && k->name_at(v) != NULL; v++)
			if (text_same(k->name_at(v), word)) {
				(void)snprintf(buf, cap, "--%s %s", k->key, k->name_at(v));
				return buf;
			}
		if (k->type == KNOB_INT && strlen(k->key) == head && word[head] != '\0' && strncmp(word, k->key, head) == 0 &&
			word[head + strspn(word + head, "0123456789")] == '\0') {
			(void)snprintf(buf, cap, "--%s %s", k->key, word + head);
			return buf;
		}
	}
	return buf;
}

static void *member(const struct knob *k, struct scenario *s)
{
	return (char *)s + k->offset;
}

int64_t knob_get(const struct knob *k, const struct scenario *s)
{
	const char *at = (const char *)s + k->offset;
	int64_t wide;
	int32_t narrow;
	double real;

	switch (k->type) {
	case KNOB_INT:
	case KNOB_BYTES:
		memcpy(&wide, at, sizeof wide);
		return wide;
	case KNOB_FLAG:
	case KNOB_ENUM:
		memcpy(&narrow, at, sizeof narrow);
		return narrow;
	case KNOB_REAL:
	case KNOB_DROPOUT:
		memcpy(&real, at, sizeof real);
		return num_round(real * KNOB_REAL_SCALE);
	case KNOB_CAPACITY:
		return memory_capacity_bytes(s);
	case KNOB_PARAMS:
		return model_params(&s->model);
	case KNOB_DP:
		return scenario_dp(s);
	case KNOB_BIAS:
		return s->model.qkv_bias && s->model.out_bias && s->model.mlp_bias;
	case KNOB_STAGES:
		return s->layout.stage_layers.n;
	case KNOB_PRESET:
		break;
	}
	return -1;
}

/* Writing */

static void apply_gpu(const struct catalog *c, struct scenario *s, const struct gpu *g)
{
	const struct gpu_family *f = catalog_family(c, g->family);

	s->cluster.gpu = *g;
	s->cluster.family = f != NULL ? *f : (struct gpu_family){ .id = "" };
	s->cluster.gpu_mem_bytes = 0;
}

static void apply_node(struct scenario *s, const struct node *n)
{
	s->cluster.node = *n;
	s->cluster.gpus_per_node = n->gpus_per_node;
}

static enum err_code apply_preset(
	const struct knob *k, const struct catalog *c, const char *text, struct scenario *s, struct err *e)
{
	const struct model *m;
	const struct gpu *g;
	const struct node *n;
	const struct profile *p;
	const struct coefficients *set;
	enum err_code code = ERR_INTERNAL;

	if (k->preset == PRESET_MODEL) {
		if (text_same(text, "custom") || (s->model.id[0] != '\0' && text_same(text, s->model.id)))
			return ERR_OK;
		code = catalog_model(c, text, &m, e);
		if (code == ERR_OK)
			s->model = *m;
	} else if (k->preset == PRESET_GPU) {
		code = catalog_gpu(c, text, &g, e);
		/* The part it already has keeps a changed capacity: parse(format(x)) = x. */
		if (code == ERR_OK && strcmp(g->id, s->cluster.gpu.id) != 0)
			apply_gpu(c, s, g);
	} else if (k->preset == PRESET_NODE) {
		if (text_same(text, "none")) {
			s->cluster.node = (struct node){ .gpus_per_node = s->cluster.gpus_per_node };
			return ERR_OK;
		}
		code = catalog_node(c, text, &n, e);
		if (code == ERR_OK && strcmp(n->id, s->cluster.node.id) != 0)
			apply_node(s, n);
	} else if (k->preset == PRESET_PROFILE) {
		code = catalog_profile(c, text, &p, e);
		if (code == ERR_OK)
			s->profile = *p;
	} else if (k->preset == PRESET_COEFFICIENTS) {
		code = catalog_find_coefficients(c, text, &set, e);
		if (code == ERR_OK)
			s->coefficients = *set;
	}
	if (code != ERR_OK && e != NULL)
		(void)snprintf(e->where, sizeof e->where, "%s", k->key);
	return code;
}

static enum err_code apply_framework(const struct catalog *c, int32_t framework, struct scenario *s, struct err *e)
{
	const struct profile *p;

	if (framework == FRAMEWORK_AUTO) {
		s->profile = (struct profile){ .id = "auto", .framework = FRAMEWORK_AUTO };
		return ERR_OK;
	}
	if (s->profile.framework == framework)
		return ERR_OK;
	p = catalog_default_profile(c, framework);
	if (p == NULL)
		return err_set(e, ERR_UNKNOWN, "framework", "no profile of framework %s is loaded", framework_names[framework]);
	s->profile = *p;
	return ERR_OK;
}

static enum err_code apply_params(int64_t params, struct scenario *s, struct err *e)
{
	struct model m;
	enum err_code code;

	/* The size it already has keeps its shape: parse(format(x)) = x for presets too. */
	if (s->model.layers > 0 && model_params(&s->model) == params)
		return ERR_OK;
	code = model_from_params(params, &m, e);
	if (code == ERR_OK)
		s->model = m;
	return code;
}

/* A shape that was nudged is no longer the preset. */
static void mark_custom(struct scenario *s)
{
	(void)snprintf(s->model.id, sizeof s->model.id, "custom");
}

enum err_code knob_set(const struct knob *k, const struct catalog *c, int64_t value, struct scenario *s, struct err *e)
{
	int32_t narrow = (int32_t)value;
	double real = (double)value / KNOB_REAL_SCALE;
	bool changes;

	/* apply_preset handles presets: a value there is an index into the catalog. */
	if (k->type == KNOB_PRESET) {
		const char *id = knob_preset_id(k, c, (size_t)value);

		return id != NULL ? apply_preset(k, c, id, s, e)
				  : err_set(e, ERR_INTERNAL, k->key, "no preset number %" PRId64, value);
	}
	if (k->preset == PRESET_FRAMEWORK)
		return apply_framework(c, narrow, s, e);
	changes = knob_get(k, s) != value;
	switch (k->type) {
	case KNOB_INT:
	case KNOB_BYTES:
		memcpy(member(k, s), &value, sizeof value);
		break;
	case KNOB_FLAG:
	case KNOB_ENUM:
		memcpy(member(k, s), &narrow, sizeof narrow);
		break;
	case KNOB_REAL:
		memcpy(member(k, s), &real, sizeof real);
		break;
	case KNOB_DROPOUT:
		if (changes)
			s->training.dropout = s->training.attention_dropout = real;
		break;
	case KNOB_CAPACITY:
		if (changes)
			s->cluster.gpu_mem_bytes = value;
		break;
	case KNOB_PARAMS:
		return apply_params(value, s, e);
	case KNOB_BIAS:
		if (changes)
			s->model.qkv_bias = s->model.out_bias = s->model.mlp_bias = narrow;
		break;
	case KNOB_DP:
		if (changes)
			return err_set(e, ERR_ILLEGAL, "dp",
				"dp %" PRId64 ": gpus %" PRId64 " / (tp %" PRId64 " x pp %" PRId64 " x cp %" PRId64
				") is %" PRId64 "; legal here: %" PRId64,
				value, s->cluster.gpus, s->layout.tp, s->layout.pp, s->layout.cp, scenario_dp(s), scenario_dp(s));
		break;
	case KNOB_STAGES:
	case KNOB_PRESET:
		break;
	}
	if (changes && (k->flags & KNOB_F_SHAPE))
		mark_custom(s);
	return ERR_OK;
}

const char *knob_preset_id(const struct knob *k, const struct catalog *c, size_t i)
{
	switch (k->preset) {
	case PRESET_MODEL:
		return i < c->n_models ? c->models[i].id : NULL;
	case PRESET_GPU:
		return i < c->n_gpus ? c->gpus[i].id : NULL;
	case PRESET_NODE:
		return i < c->n_nodes ? c->nodes[i].id : NULL;
	case PRESET_PROFILE:
		return i < c->n_profiles ? c->profiles[i].id : NULL;
	case PRESET_COEFFICIENTS:
		return i < c->n_coefficients ? c->coefficients[i].id : NULL;
	case PRESET_NONE:
	case PRESET_FRAMEWORK:
	case PRESET_PRICE:
		break;
	}
	return NULL;
}

/* Parsing */

static enum err_code parse_named(const struct knob *k, const char *text, int64_t *value, struct err *e)
{
	char list[300] = "";
	size_t len = 0;

	for (int64_t v = 0; k->name_at(v) != NULL; v++) {
		int n;

		if (text_same(k->name_at(v), text)) {
			*value = v;
			return ERR_OK;
		}
		n = snprintf(list + len, sizeof list - len, "%s%s", len > 0 ? " " : "", k->name_at(v));
		if (n > 0)
			len = (size_t)num_min((int64_t)len + n, (int64_t)sizeof list - 1);
	}
	return err_set(e, ERR_USAGE, k->key, "%s '%.40s' is not known; legal: %s", k->key, text, list);
}

static enum err_code parse_flag(const struct knob *k, const char *text, int64_t *value, struct err *e)
{
	static const char *const words[][2] = { { "off", "on" }, { "no", "yes" }, { "false", "true" }, { "0", "1" } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (int v = 0; v < 2; v++)
			if (text_same(text, words[i][v])) {
				*value = v;
				return ERR_OK;
			}
	return err_set(e, ERR_USAGE, k->key, "%s '%.40s' is neither on nor off", k->key, text);
}

/* Messages about numbers name the unit. */
static const char *unit_of(const struct knob *k)
{
	return k->type == KNOB_BYTES || k->type == KNOB_CAPACITY ? "bytes" : k->type == KNOB_PARAMS ? "parameters" : k->unit;
}

/* Appends "; unit: GB/s per GPU" to a message about a text that is no number. */
static enum err_code add_unit(const struct knob *k, enum err_code code, struct err *e)
{
	size_t len = e != NULL ? strlen(e->msg) : 0;

	if (e != NULL && unit_of(k)[0] != '\0')
		(void)snprintf(e->msg + len, sizeof e->msg - len, "; unit: %s", unit_of(k));
	return code;
}

/* An end of a range: "64", but "10M", which nobody has to count the zeros of. */
static const char *limit_text(double limit, char *buf, size_t cap)
{
	if (limit >= 1e7 && limit < 9e18 && fmod(limit, 1e6) < 0.5)
		return units_format_count((int64_t)limit, buf, cap);
	(void)snprintf(buf, cap, "%.15g", limit);
	return buf;
}

static enum err_code out_of_range(const struct knob *k, double value, struct err *e)
{
	char low[32], high[32];

	return err_set(e, ERR_RANGE, k->key, "%s %.15g is outside %s .. %s%s%s", k->key, value,
		limit_text(k->min, low, sizeof low), limit_text(k->max, high, sizeof high), unit_of(k)[0] != '\0' ? " " : "",
		unit_of(k));
}

static enum err_code parse_real(const struct knob *k, const char *text, int64_t *value, struct err *e)
{
	double real;
	enum err_code code = units_parse_real(text, k->key, &real, e);

	if (code != ERR_OK)
		return add_unit(k, code, e);
	if (!(real >= k->min && real <= k->max))
		return out_of_range(k, real, e);
	*value = num_round(real * KNOB_REAL_SCALE);
	/* 0 often means something else. */
	if (*value != 0 || !(fabs(real) > 0))
		return ERR_OK;
	code = err_set(e, ERR_RANGE, k->key, "'%.40s' is smaller than what counts; nearest: 0, %g", text, 1 / KNOB_REAL_SCALE);
	return add_unit(k, code, e);
}

static enum err_code parse_number(const struct knob *k, const char *text, int64_t *value, struct err *e)
{
	bool bytes = k->type == KNOB_BYTES || k->type == KNOB_CAPACITY;
	enum err_code code;

	*value = INT64_MIN;
	code = bytes ? units_parse_bytes(text, k->key, value, e)
		     : units_parse_count(text, k->key, k->flags & KNOB_F_TOKENS ? 1024 : 1000, value, e);
	if (code == ERR_OK && ((double)*value < k->min || (double)*value > k->max))
		return out_of_range(k, (double)*value, e);
	if (code == ERR_OK && bytes && *value > 0 && *value < UNITS_LEAST_MEMORY_BYTES)
		code = err_set(e, ERR_RANGE, k->key, "'%.40s' is less than a megabyte; write it like 80GB or 79.15GiB", text);
	if (code != ERR_OK && *value != INT64_MIN && !bytes)
		(void)err_set(e, code, k->key, "'%.60s' is not a whole number; nearest: %" PRId64, text,
			num_max((int64_t)k->min, num_min((int64_t)k->max, *value)));
	return code == ERR_OK ? code : add_unit(k, code, e);
}

static enum err_code parse_stages(const char *text, struct scenario *s, struct err *e)
{
	struct stage_list list = { 0 };
	const char *p = text;

	if (text_same(text, "auto")) {
		s->layout.stage_layers = list;
		return ERR_OK;
	}
	for (;;) {
		char *end;
		long n;

		if (!isdigit((unsigned char)*p))
			return err_set(e, ERR_USAGE, "stage-layers",
				"stage-layers '%.60s' is not a list like 11,10,10,11, nor auto", text);
		n = strtol(p, &end, 10);
		if (n > 10000 || list.n >= STAGE_LIST_MAX)
			return err_set(e, ERR_RANGE, "stage-layers", "stage-layers: at most %d stages of at most 10000 layers",
				STAGE_LIST_MAX);
		list.layers[list.n++] = (int16_t)n;
		if (*end == '\0')
			break;
		p = end + (*end == ',');
		if (*end != ',')
			return err_set(e, ERR_USAGE, "stage-layers",
				"stage-layers '%.60s' is not a list like 11,10,10,11, nor auto", text);
	}
	s->layout.stage_layers = list;
	return ERR_OK;
}

enum err_code knob_parse_value(const struct knob *k, const char *text, int64_t *value, struct err *e)
{
	if (k->name_at != NULL)
		return parse_named(k, text, value, e);
	if (k->type == KNOB_FLAG || k->type == KNOB_BIAS)
		return parse_flag(k, text, value, e);
	if (k->type == KNOB_REAL || k->type == KNOB_DROPOUT)
		return parse_real(k, text, value, e);
	return parse_number(k, text, value, e);
}

/* A price by its provider's name: what starts like a number is one. */
static bool names_price(const struct knob *k, const char *text)
{
	return k->preset == PRESET_PRICE && text[strspn(text, " ")] != '\0' &&
		strchr("+-.0123456789", text[strspn(text, " ")]) == NULL;
}

static enum err_code parse_price(const struct catalog *c, const char *text, struct scenario *s, struct err *e)
{
	const struct gpu_price *price;
	enum err_code code = catalog_price(c, s->cluster.gpu.id, text, &price, e);

	if (code == ERR_OK)
		s->cost.price = price->usd_per_hour;
	return code;
}

enum err_code knob_parse(const struct knob *k, const struct catalog *c, const char *text, struct scenario *s, struct err *e)
{
	struct scenario trial = *s;
	int64_t value = 0;
	enum err_code code;

	if (k->type == KNOB_PRESET)
		code = apply_preset(k, c, text, &trial, e);
	else if (k->type == KNOB_STAGES)
		code = parse_stages(text, &trial, e);
	else if (names_price(k, text))
		code = parse_price(c, text, &trial, e);
	else {
		code = knob_parse_value(k, text, &value, e);
		if (code == ERR_OK)
			code = knob_set(k, c, value, &trial, e);
	}
	if (code == ERR_OK)
		*s = trial;
	return code;
}

/* Formatting */

static size_t format_stages(const struct stage_list *list, char *buf, size_t cap)
{
	size_t len = 0;

	if (list->n == 0)
		return (size_t)snprintf(buf, cap, "auto");
	for (int32_t i = 0; i < list->n && len + 1 < cap; i++) {
		int n = snprintf(buf + len, cap - len, "%s%d", i > 0 ? "," : "", list->layers[i]);

		len = (size_t)num_min((int64_t)len + n, (int64_t)cap - 1);
	}
	return len;
}

static const char *preset_name(const struct knob *k, const struct scenario *s)
{
	switch (k->preset) {
	case PRESET_MODEL:
		return s->model.id;
	case PRESET_GPU:
		return s->cluster.gpu.id;
	case PRESET_NODE:
		return s->cluster.node.id[0] != '\0' ? s->cluster.node.id : "none";
	case PRESET_PROFILE:
		return s->profile.id;
	case PRESET_COEFFICIENTS:
		return s->coefficients.id;
	case PRESET_NONE:
	case PRESET_FRAMEWORK:
	case PRESET_PRICE:
		break;
	}
	return "";
}

/* From here on people read a count as "14.8T". */
#define COUNT_WRITTEN_SHORT INT64_C(10000000000)

size_t knob_format_value(const struct knob *k, int64_t value, bool pretty, char *buf, size_t cap)
{
	if (k->name_at != NULL)
		(void)snprintf(buf, cap, "%s", k->name_at(value) != NULL ? k->name_at(value) : "?");
	else if (k->type == KNOB_FLAG || k->type == KNOB_BIAS)
		(void)snprintf(buf, cap, "%s", value ? "on" : "off");
	else if (k->type == KNOB_REAL || k->type == KNOB_DROPOUT)
		(void)snprintf(buf, cap, pretty ? "%.6g" : "%.16g", (double)value / KNOB_REAL_SCALE);
	else if ((k->type == KNOB_BYTES || k->type == KNOB_CAPACITY) && pretty && value == 0)
		(void)snprintf(buf, cap, "unknown");
	else if (k->type == KNOB_BYTES || k->type == KNOB_CAPACITY)
		(void)(pretty ? units_format_gib(value, buf, cap) : units_format_bytes_exact(value, buf, cap));
	else if (pretty && (k->type == KNOB_PARAMS || value >= COUNT_WRITTEN_SHORT))
		(void)units_format_count(value, buf, cap);
	else if (pretty)
		(void)units_format_commas(value, buf, cap);
	else
		(void)snprintf(buf, cap, "%" PRId64, value);
	buf[cap - 1] = '\0';
	return strlen(buf);
}

static size_t format(const struct knob *k, const struct scenario *s, bool pretty, char *buf, size_t cap)
{
	if (k->type == KNOB_PRESET) {
		(void)snprintf(buf, cap, "%s", preset_name(k, s));
		return strlen(buf);
	}
	if (k->type == KNOB_STAGES)
		return format_stages(&s->layout.stage_layers, buf, cap);
	return knob_format_value(k, knob_get(k, s), pretty, buf, cap);
}

size_t knob_format(const struct knob *k, const struct scenario *s, char *buf, size_t cap)
{
	return format(k, s, false, buf, cap);
}

size_t knob_format_pretty(const struct knob *k, const struct scenario *s, char *buf, size_t cap)
{
	return format(k, s, true, buf, cap);
}

void knob_json(const struct knob *k, const struct scenario *s, struct sink *out)
{
	const struct stage_list *list = &s->layout.stage_layers;
	char text[64];

	if (k->type == KNOB_STAGES && list->n > 0) {
		sink_puts(out, "[");
		for (int32_t i = 0; i < list->n; i++)
			sink_printf(out, "%s%d", i > 0 ? ", " : "", list->layers[i]);
		sink_puts(out, "]");
	} else if (k->type == KNOB_PRESET || k->type == KNOB_STAGES || k->name_at != NULL) {
		(void)knob_format(k, s, text, sizeof text);
		sink_json_string(out, text);
	} else if (k->type == KNOB_FLAG || k->type == KNOB_BIAS) {
		sink_puts(out, knob_get(k, s) ? "true" : "false");
	} else if (k->type == KNOB_REAL || k->type == KNOB_DROPOUT) {
		sink_json_double(out, (double)knob_get(k, s) / KNOB_REAL_SCALE);
	} else {
		sink_json_int(out, knob_get(k, s));
	}
}
