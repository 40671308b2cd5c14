#include "scenario.h"

#include "i18n_mark.h"

/* clang-format off */
const struct choice_info framework_choices[FRAMEWORK_COUNT] = {
	[FRAMEWORK_AUTO]       = { "auto",       N_("the best of those below that fits") },
	[FRAMEWORK_MEGATRON]   = { "megatron",   N_("Megatron-LM / Megatron-Core: tp, pp, cp, ep, distributed optimizer") },
	[FRAMEWORK_FSDP]       = { "fsdp",       N_("PyTorch FSDP2 (fully_shard), as in torchtitan") },
	[FRAMEWORK_DEEPSPEED]  = { "deepspeed",  N_("DeepSpeed ZeRO 0-3 with offload") },
	[FRAMEWORK_DDP]        = { "ddp",        N_("PyTorch DistributedDataParallel: nothing is sharded") },
	[FRAMEWORK_LESSON]     = { "lesson",     N_("the lesson's memory calculator: 2+2+8 bytes, no activations, GB = 1e9") },
	[FRAMEWORK_ZERO_PAPER] = { "zero-paper", N_("table 1 of the ZeRO paper: 2+2+12 bytes, no activations") },
};

const struct choice_info precision_choices[PRECISION_COUNT] = {
	[PRECISION_FP32]      = { "fp32",      N_("everything in single precision") },
	[PRECISION_TF32]      = { "tf32",      N_("fp32 storage, TF32 tensor cores") },
	[PRECISION_FP16]      = { "fp16",      N_("mixed: fp16 compute, fp32 master weights, loss scaling") },
	[PRECISION_BF16]      = { "bf16",      N_("mixed: bf16 compute, fp32 master weights") },
	[PRECISION_FP8]       = { "fp8",       N_("mixed: matrix multiplies in 8 bit, the rest as bf16") },
	[PRECISION_MXFP8]     = { "mxfp8",     N_("as fp8 with a scale per 32 elements") },
	[PRECISION_NVFP4]     = { "nvfp4",     N_("matrix multiplies in 4 bit with a scale per 16 elements, the rest as bf16") },
	[PRECISION_PURE_BF16] = { "pure-bf16", N_("everything in bf16: no master copy, 16-bit moments") },
};

/* Moments per parameter. Src: AdamW two fp32 (Loshchilov 2019); 8-bit: two of one byte (Dettmers 2022, block-wise scales neglected);
 * Adafactor: factored, rows + columns only, no first moment (Shazeer 2018): below 0.01 byte; Lion and SGD momentum: one; Muon: one
 * momentum (Jordan 2024; its AdamW part for embeddings and norms is charged like the rest). */
const struct optimizer_info optimizer_table[OPTIMIZER_COUNT] = {
	[OPTIMIZER_ADAMW]          = { "adamw",          N_("AdamW: two fp32 moments"),                   8, 4, 1, 0, "Loshchilov 2019" },
	[OPTIMIZER_ADAM8BIT]       = { "adam8bit",       N_("8-bit AdamW: two moments of one byte"),      2, 2, 1, 0, "Dettmers 2022" },
	[OPTIMIZER_PAGED_ADAMW]    = { "paged-adamw",    N_("AdamW with moments in paged host memory"),   8, 4, 1, 1, "bitsandbytes PagedAdamW" },
	[OPTIMIZER_PAGED_ADAM8BIT] = { "paged-adam8bit", N_("8-bit AdamW, moments in paged host memory"), 2, 2, 1, 1, "bitsandbytes PagedAdamW8bit" },
	[OPTIMIZER_ADAFACTOR]      = { "adafactor",      N_("Adafactor: factored second moment"),         0, 0, 1, 0, "Shazeer 2018" },
	[OPTIMIZER_LION]           = { "lion",           N_("Lion: one moment"),                          4, 2, 1, 0, "Chen 2023" },
	[OPTIMIZER_SGD]            = { "sgd",            N_("plain SGD: no state"),                       0, 0, 1, 0, "" },
	[OPTIMIZER_SGD_MOMENTUM]   = { "sgd-momentum",   N_("SGD with momentum: one moment"),             4, 2, 1, 0, "" },
	[OPTIMIZER_MUON]           = { "muon",           N_("Muon: one momentum"),                        4, 2, 1, 0, "Jordan 2024" },
	[OPTIMIZER_NONE]           = { "none",           N_("no optimizer: forward and backward only"),   0, 0, 0, 0, "" },
};

const struct choice_info recompute_choices[RECOMPUTE_COUNT] = {
	[RECOMPUTE_NONE]      = { "none",      N_("keep everything the backward needs") },
	[RECOMPUTE_SELECTIVE] = { "selective", N_("megatron: recompute core attention; fsdp: keep every other matrix multiply; hai-llm: norms and up-projections") },
	[RECOMPUTE_FULL]      = { "full",      N_("keep layer inputs only: about a third more compute") },
};

const struct choice_info attention_kernel_choices[ATTENTION_KERNEL_COUNT] = {
	[ATTENTION_KERNEL_FLASH]   = { "flash",   N_("fused: no score matrix in memory") },
	[ATTENTION_KERNEL_UNFUSED] = { "unfused", N_("score matrix of seq x seq per head is stored") },
};

const struct choice_info loss_choices[LOSS_COUNT] = {
	[LOSS_FULL]    = { "full",    N_("logits of the whole micro-batch at once, as the profile computes them") },
	[LOSS_CHUNKED] = { "chunked", N_("logits in chunks of the sequence") },
	[LOSS_FUSED]   = { "fused",   N_("head and loss in one kernel: no logits in memory") },
};

const struct choice_info offload_choices[OFFLOAD_COUNT] = {
	[OFFLOAD_NONE] = { "none", N_("stays on the GPU") },
	[OFFLOAD_CPU]  = { "cpu",  N_("in host memory") },
	[OFFLOAD_NVME] = { "nvme", N_("on NVMe") },
};

const struct choice_info adapter_choices[ADAPTER_COUNT] = {
	[ADAPTER_NONE]  = { "none",  N_("train every parameter") },
	[ADAPTER_LORA]  = { "lora",  N_("frozen 16-bit base, low-rank adapters") },
	[ADAPTER_QLORA] = { "qlora", N_("frozen 4-bit (NF4) base, low-rank adapters") },
};

const struct choice_info lora_targets_choices[LORA_TARGETS_COUNT] = {
	[LORA_TARGETS_ALL_LINEAR] = { "all-linear", N_("adapters on every linear layer of the blocks") },
	[LORA_TARGETS_ATTENTION]  = { "attention",  N_("adapters on the attention projections only") },
};

const struct choice_info pp_split_choices[PP_SPLIT_COUNT] = {
	[PP_SPLIT_AUTO]       = { "auto",       N_("uniform if it divides, else embed-head, else as even as possible") },
	[PP_SPLIT_UNIFORM]    = { "uniform",    N_("the same number of layers on every stage") },
	[PP_SPLIT_EMBED_HEAD] = { "embed-head", N_("embedding and head count as one layer each") },
};
const struct choice_info flops_convention_choices[FLOPS_CONVENTION_COUNT] = {
	[FLOPS_FULL]     = { "full",     N_("6 N + 12 L a d s: attention over the whole square") },
	[FLOPS_CAUSAL]   = { "causal",   N_("6 N + 6 L a d s: the causal half that kernels compute") },
	[FLOPS_6N]       = { "6n",       N_("6 N: no attention") },
	[FLOPS_MEGATRON] = { "megatron", N_("72 L h h (1 + s/6h + V/12Lh): Narayanan 2021 without recompute") },
	[FLOPS_PALM]     = { "palm",     N_("6 N + 12 L a d s with N of all parameters: PaLM appendix B") },
};
/* clang-format on */

int64_t scenario_dp(const struct scenario *s)
{
	int64_t ranks = s->layout.tp * s->layout.pp * s->layout.cp;

	return ranks > 0 && s->cluster.gpus % ranks == 0 ? s->cluster.gpus / ranks : 0;
}

int64_t scenario_micro_batches(const struct scenario *s)
{
	int64_t per_round = scenario_dp(s) * s->training.micro_batch;

	return per_round > 0 && s->training.global_batch % per_round == 0 ? s->training.global_batch / per_round : 0;
}

bool scenario_full_precision(const struct scenario *s)
{
	return s->training.precision == PRECISION_FP32 || s->training.precision == PRECISION_TF32;
}

double scenario_element_bytes(const struct scenario *s)
{
	return scenario_full_precision(s) ? 4 : 2;
}

double scenario_accumulated_bytes(const struct scenario *s)
{
	const struct profile *p = &s->profile;
	bool keeps = s->layout.pp > 1 || (scenario_micro_batches(s) > 1 && !p->reduces_every_micro_batch);

	if (!keeps)
		return 0;
	return s->training.precision == PRECISION_PURE_BF16 && p->accumulated_gradient_bytes > 2 ? 2
												 : p->accumulated_gradient_bytes;
}
