#include "profile.h"

#include "coefficients.h"
#include "i18n_mark.h"

const char *const framework_names[FRAMEWORK_COUNT + 1] = { "auto", "megatron", "fsdp", "deepspeed", "ddp", "lesson", "zero-paper",
	NULL };

static const char *const selective_names[] = { "core-attention", "per-op", "norms", NULL };
static const char *const when_names[] = { "never", "in-recompute", "always", NULL };
static const char *const schedules_names[] = { "core", "forks", NULL };
static const char *const capacity_names[] = { "cuda", "nominal", NULL };

#define TEXT(k, m, req, help)                                                                                                    \
	{                                                                                                                        \
		k, FIELD_TEXT, FIELD_AT_TEXT(profile, m), req, 0, 0, NULL, "", help                                              \
	}
#define NAME(k, m, names, help)                                                                                                  \
	{                                                                                                                        \
		k, FIELD_NAME, FIELD_AT(profile, m, int32_t), false, 0, 0, names, "", help                                       \
	}
#define FLAG(k, m, help)                                                                                                         \
	{                                                                                                                        \
		k, FIELD_FLAG, FIELD_AT(profile, m, int32_t), false, 0, 1, NULL, "", help                                        \
	}
#define REAL(k, m, max, unit, help)                                                                                              \
	{                                                                                                                        \
		k, FIELD_REAL, FIELD_AT(profile, m, double), false, 0, max, NULL, unit, help                                     \
	}
#define INT(k, m, max, unit, help)                                                                                               \
	{                                                                                                                        \
		k, FIELD_INT, FIELD_AT(profile, m, int64_t), false, 0, max, NULL, unit, help                                     \
	}
#define COEF(k, m, help)                                                                                                         \
	{                                                                                                                        \
		k, FIELD_NAME, FIELD_AT(profile, m, int32_t), false, 0, 0, coefficient_names, "", help                           \
	}
#define BYTES(k, m, help)                                                                                                        \
	{                                                                                                                        \
		k, FIELD_BYTES, FIELD_AT(profile, m, int64_t), false, 0, 1e12, NULL, "bytes", help                               \
	}

/* clang-format off */
static const struct field rows[] = {
	TEXT("id", id, true, N_("name of the profile")),
	TEXT("label", label, true, N_("what it stands for")),
	TEXT("date", date, true, N_("version or date it describes")),
	TEXT("source", source, true, N_("where its constants come from")),
	{ "framework", FIELD_NAME, FIELD_AT(profile, framework, int32_t), true, 0, 0, framework_names, "", N_("the framework it is a version of") },
	FLAG("default", is_default, N_("this is the profile that --framework alone means")),
	NAME("schedules", schedules, schedules_names, N_("pipeline schedules of the framework itself, or also those of its zero-bubble, V and DualPipe forks")),
	REAL("weight-bytes", weight_bytes, 16, "B/param", N_("weights")),
	REAL("grad-bytes", grad_bytes, 16, "B/param", N_("gradients")),
	REAL("grad-bytes-fp16", grad_bytes_fp16, 16, "B/param", N_("gradients when the precision is fp16; absent: as grad-bytes")),
	REAL("grad-accum-bytes", grad_accum_bytes, 16, "B/param", N_("a second, fp32 gradient buffer for accumulation")),
	REAL("grad-copy-bytes", grad_copy_bytes, 16, "B/param", N_("fp32 gradient copies kept after the step")),
	REAL("master-bytes", master_bytes, 16, "B/param", N_("fp32 master copy of the weights")),
	REAL("moment-bytes", moment_bytes, 16, "B/param", N_("both moments of AdamW in mixed precision; absent: fp32")),
	INT("weights-sharded-from", weights_sharded_from, 4, "ZeRO stage", N_("stage from which weights are sharded (4: never)")),
	INT("grads-sharded-from", grads_sharded_from, 4, "ZeRO stage", N_("stage from which gradients are sharded (4: never)")),
	INT("accum-sharded-from", accum_sharded_from, 4, "ZeRO stage", N_("stage from which the accumulation buffer is sharded (4: never)")),
	REAL("fp8-weight-copy-bytes", fp8_weight_copy_bytes, 16, "B/param", N_("cached 8-bit copies of the matrices under fp8")),
	FLAG("models-activations", models_activations, N_("activations, logits, transient and reserved are modelled (off: an estimator of states only)")),
	FLAG("qlora-sharded", qlora_sharded, N_("a frozen 4-bit base is sharded like other weights")),
	REAL("second-backward-bytes", second_backward_bytes, 16, "B/param", N_("fresh gradients beside the accumulated ones, from the second micro-batch on")),
	REAL("cast-cache-bytes", cast_cache_bytes, 16, "B/param", N_("16-bit copies that autocast keeps for one forward and backward")),
	REAL("bucket-bytes", bucket_bytes, 64, "B/element", N_("communication buckets, bytes per bucket element (dp above 1)")),
	REAL("bucket-elements", bucket_elements, 1e15, "elements", N_("most elements in a bucket")),
	REAL("zero2-buffer-bytes", zero2_buffer_bytes, 1e12, "bytes", N_("contiguous gradient buffers of ZeRO-2")),
	REAL("step-flat-bytes-zero0", step_flat_bytes_zero0, 64, "B/param", N_("flat gradient copies during the optimizer step, ZeRO 0")),
	REAL("step-flat-bytes-zero1", step_flat_bytes_zero1, 64, "B/param", N_("the same under ZeRO 1, of the partition")),
	REAL("step-flat-bytes-zero2", step_flat_bytes_zero2, 64, "B/param", N_("the same under ZeRO 2 and 3, of the partition")),
	REAL("step-flat-elements", step_flat_elements, 1e15, "elements", N_("most elements of a ZeRO-3 sub-group in the step")),
	REAL("init-leftover-bytes", init_leftover_bytes, 16, "B/param", N_("cached by the allocator since start-up: in reserved, not in needed")),
	REAL("live-elements", live_elements, 1e15, "elements", N_("most gathered parameters under ZeRO-3, prefetch included, 2 bytes each")),
	REAL("reduce-elements", reduce_elements, 1e15, "elements", N_("reduce buffer under ZeRO-3, 2 bytes each")),
	REAL("units-in-flight", units_in_flight, 16, "layers", N_("gathered 16-bit layers at once (FSDP)")),
	REAL("unit-gradient-bytes", unit_gradient_bytes, 64, "B/param", N_("gradient and reduce input of the layer in backward (FSDP)")),
	REAL("pipeline-weight-bytes", pipeline_weight_bytes, 16, "B/param", N_("unsharded weights kept through the step under pipeline parallelism")),
	REAL("accumulated-gradient-bytes", accumulated_gradient_bytes, 16, "B/param", N_("unsharded gradients while micro-batches accumulate")),
	FLAG("reduces-every-micro-batch", reduces_every_micro_batch, N_("without pipelines a micro-batch's gradients are reduced before the next")),
	NAME("selective", selective, selective_names, N_("what recompute selective means")),
	FLAG("sac-saves-fc2", sac_saves_fc2, N_("per-op selective recompute also caches the output of the last matrix (eager mode)")),
	FLAG("fp8-saves-inputs", fp8_saves_inputs, N_("inputs of matrix multiplies are saved in 8 bit under fp8")),
	REAL("pending-weight-bytes", pending_weight_bytes, 256, "B/u", N_("kept per layer between a split backward's I and its W: inputs (14) and output gradients (18) of the matrix multiplies")),
	REAL("hidden-extra-single", hidden_extra_single, 16, "tensors", N_("extra hidden tensors per micro-batch in flight, one stage")),
	REAL("hidden-extra-pipeline", hidden_extra_pipeline, 16, "tensors", N_("the same with several stages: received input, retained output")),
	FLAG("embedding-mask", embedding_mask, N_("the dropout mask of a learned-position embedding is kept per micro-batch in flight")),
	REAL("mask-bytes", mask_bytes, 16, "B", N_("attention mask per seq x seq element and micro-batch in flight, full recompute")),
	FLAG("drop-in-second-backward", drop_in_second_backward, N_("the peak is the backward of the second micro-batch: one fewer is in flight")),
	REAL("work-hidden", work_hidden, 64, "B/u", N_("working set of one layer: hidden-size tensors, whole")),
	REAL("work-hidden-split", work_hidden_split, 64, "B/u", N_("the same, divided by sequence parallel")),
	REAL("work-qkv", work_qkv, 64, "B", N_("per element of Q, K and V")),
	REAL("work-out", work_out, 64, "B", N_("per element of the attention output")),
	REAL("work-mlp", work_mlp, 64, "B", N_("per element of the MLP's first output")),
	REAL("work-scores", work_scores, 64, "B", N_("per attention score (unfused)")),
	REAL("work-scores-full", work_scores_full, 64, "B", N_("per attention score (unfused) under full recompute")),
	FLAG("work-table-full", work_table_full, N_("full recompute rebuilds one layer's saved tensors")),
	REAL("work-expert-hidden", work_expert_hidden, 64, "B", N_("per element of the routed tokens")),
	REAL("work-expert-mlp", work_expert_mlp, 64, "B", N_("per element of the routed tokens times expert width")),
	NAME("work-weight-gradient", work_weight_gradient, when_names, N_("temporary for the largest weight gradient")),
	REAL("loss-bytes", loss_bytes, 64, "B/logit", N_("logits and loss at the peak")),
	REAL("loss-bytes-tp", loss_bytes_tp, 64, "B/logit", N_("the same with tp above 1; absent: as loss-bytes")),
	REAL("loss-chunks", loss_chunks, 1024, "chunks", N_("chunks of loss chunked")),
	REAL("loss-hidden", loss_hidden, 64, "B/u", N_("hidden tensors at the loss, whole")),
	REAL("loss-hidden-split", loss_hidden_split, 64, "B/u", N_("the same, divided by sequence parallel")),
	REAL("loss-hidden-gathered", loss_hidden_gathered, 64, "B/u", N_("the same, gathered when sequence parallel is on")),
	REAL("mtp-loss-factor", mtp_loss_factor, 4, "", N_("logits of one MTP layer beside the main ones")),
	NAME("head-gradient", head_gradient, when_names, N_("temporary for the weight gradient of the head")),
	FLAG("embedding-gradient", embedding_gradient, N_("dense 16-bit gradient temporary of the embedding")),
	INT("vocab-multiple", vocab_multiple, 65536, "rows", N_("vocabulary is padded to a multiple of this times tp")),
	BYTES("workspace", workspace_bytes, N_("library workspaces inside allocated")),
	BYTES("context-volta", context_bytes_volta, N_("CUDA context and NCCL, GPUs before 2020")),
	BYTES("context", context_bytes, N_("CUDA context and NCCL, GPUs of 2020 and later")),
	REAL("reserved-ratio", reserved_ratio, 4, "", N_("reserved / allocated")),
	REAL("dynamic-slack", dynamic_slack, 4, "", N_("allocator slack on what a step allocates, in reserved")),
	REAL("margin", margin, 1, "", N_("fragmentation margin on what is needed")),
	FLAG("step-adds", step_adds, N_("step buffers add to the activation peak instead of alternating with it")),
	NAME("capacity", capacity, capacity_names, N_("the memory figure of the card that counts")),
	COEF("level", level, N_("step time: level of matrix multiplies in this framework")),
	COEF("level-hopper", level_hopper, N_("the same on Hopper; absent: as level")),
	COEF("level-blackwell", level_blackwell, N_("the same on Blackwell; absent: as level")),
	COEF("elementwise", elementwise, N_("bytes of elementwise operations")),
	COEF("launch", launch, N_("time per kernel")),
	REAL("eager-factor", eager_factor, 100, "", N_("elementwise bytes of true eager mode over compiled; absent: 1")),
	COEF("attention-hopper", attention_hopper, N_("fused attention rate on Hopper; absent: as the family")),
	FLAG("rowwise-fp8", rowwise_fp8, N_("8-bit matrix multiplies are scaled by row")),
	INT("comm-multiprocessors", comm_multiprocessors, 64, "", N_("multiprocessors that expert traffic keeps from computation where blocks overlap, at most half")),
	COEF("tp-rate", tp_rate, N_("collective rate of tensor parallelism")),
	COEF("tp-hidden", tp_hidden, N_("share of tensor-parallel traffic hidden by buffers; absent: none")),
	FLAG("tp-broadcasts-batch", tp_broadcasts_batch, N_("one tensor-parallel rank reads the batch and sends it to the others")),
	FLAG("pp-split-over-tp", pp_split_over_tp, N_("stage-to-stage transfers are divided by tp")),
	FLAG("pp-overlap", pp_overlap, N_("interleaved transfers overlap with compute")),
	FLAG("post-validation", post_validation, N_("the optimizer step waits for no other pipeline rank; a bad step is undone")),
	FLAG("pp-gathers-once", pp_gathers_once, N_("FSDP under pipelines gathers once per step")),
	FLAG("dp-overlap", dp_overlap, N_("gradient reduction under the backward, parameter gather under the forward")),
	REAL("reduce-bytes", reduce_bytes, 16, "B/param", N_("gradient reduction on the wire")),
	REAL("gather-bytes", gather_bytes, 16, "B/param", N_("parameter gather on the wire")),
	REAL("gather-bytes-fp8", gather_bytes_fp8, 16, "B/param", N_("the same of the matrices of layers under fp8; absent: as gather-bytes")),
	FLAG("gathers-experts-fp8", gathers_experts_fp8, N_("gather-bytes-fp8 holds for routed experts too")),
	COEF("fsdp-contention", fsdp_contention, N_("slow-down of compute by hidden FSDP traffic")),
	FLAG("zero3-unoverlapped", zero3_unoverlapped, N_("ZeRO-3 gathers are not overlapped and slow (2021)")),
	FLAG("cp-unbalanced", cp_unbalanced, N_("context parallelism without load balance")),
	FLAG("dispatch-per-node", dispatch_per_node, N_("a routed token crosses once per node, not once per expert")),
	REAL("dispatch-factor", dispatch_factor, 4, "", N_("bytes of expert dispatch over 16 bit; absent: 1")),
	FLAG("moe-graphs", moe_graphs, N_("MoE layers run from captured graphs")),
	FLAG("ep-overlap", ep_overlap, N_("expert all-to-all overlaps with another micro-batch")),
	FLAG("moe-recomputes", moe_recomputes, N_("MoE layers recompute norms and the expert activation")),
	REAL("host-factor", host_factor, 8, "", N_("host bytes per byte offloaded: pinned copies")),
	REAL("host-grad-bytes", host_grad_bytes, 16, "B/param", N_("gradients on the host with an offloaded optimizer, below ZeRO 3")),
	FLAG("offload-moves-all", offload_moves_all, N_("offload takes parameters and gradients too")),
};
/* clang-format on */

const struct field_table profile_fields = { "framework profile", sizeof(struct profile), rows, sizeof rows / sizeof rows[0] };
