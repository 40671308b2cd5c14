/* Framework profiles: what one dated version of a training framework keeps in memory, as labelled constants with a source.
 * A new version is a new preset file; the formulas in memory.c never name a framework. Bytes "per parameter" count the parameters
 * a rank holds after tensor, pipeline and expert parallelism; u = micro-batch * seq / cp * hidden elements. */
#ifndef MESHPLAN_PROFILE_H
#define MESHPLAN_PROFILE_H

#include "field.h"

#include <stdint.h>

/* In order of preference of the automatic choice; auto is resolved before planning. */
enum framework {
	FRAMEWORK_AUTO,
	FRAMEWORK_MEGATRON,
	FRAMEWORK_FSDP,
	FRAMEWORK_DEEPSPEED,
	FRAMEWORK_DDP,
	FRAMEWORK_LESSON,
	FRAMEWORK_ZERO_PAPER,
	FRAMEWORK_COUNT
};
extern const char *const framework_names[FRAMEWORK_COUNT + 1];

/* What --recompute selective means: Megatron recomputes core attention; torchtitan keeps every other matrix multiply; HAI-LLM
 * recomputes norms, up-projections of latent attention and the activation of the MLP, and under 8-bit precision keeps the inputs
 * of that activation in 8 bit, the attention output in 12. */
enum selective_kind { SELECTIVE_CORE_ATTENTION, SELECTIVE_PER_OP, SELECTIVE_NORMS, SELECTIVE_KIND_COUNT };
/* When a 16-bit temporary for the weight gradient of the largest matrix exists. */
enum temporary_when { TEMPORARY_NEVER, TEMPORARY_IN_RECOMPUTE, TEMPORARY_ALWAYS, TEMPORARY_WHEN_COUNT };
/* Which GPU memory figure the verdict compares with. */
enum capacity_kind { CAPACITY_CUDA, CAPACITY_NOMINAL, CAPACITY_KIND_COUNT };

/* Pipeline schedules: those in the framework itself, or also those of its zero-bubble and DualPipe forks. */
enum schedules_kind { SCHEDULES_CORE, SCHEDULES_FORKS, SCHEDULES_KIND_COUNT };

enum { PROFILE_ID_CAP = 40 };

struct profile {
	char id[PROFILE_ID_CAP], label[80], date[16], source[240];
	int32_t framework;  /* enum framework */
	int32_t is_default; /* the profile that --framework alone means */
	int32_t schedules;  /* enum schedules_kind */
	/* State ledger, bytes per parameter under 16-bit mixed precision. */
	double weight_bytes, grad_bytes, grad_bytes_fp16, grad_accum_bytes, grad_copy_bytes, master_bytes,
		moment_bytes; /* both moments of AdamW; 0: fp32 */
	int64_t weights_sharded_from, grads_sharded_from, accum_sharded_from; /* ZeRO stage; 4: never. Optimizer states: 1 */
	double fp8_weight_copy_bytes;
	int32_t models_activations; /* 0: an estimator of states only */
	int32_t qlora_sharded;      /* a 4-bit base is sharded like the rest */
	/* Copies that live while a step runs. */
	double second_backward_bytes;         /* per parameter, from the second micro-batch on */
	double cast_cache_bytes;              /* per parameter */
	double bucket_bytes, bucket_elements; /* bytes per element; most elements; only with dp > 1 */
	double zero2_buffer_bytes;
	double step_flat_bytes_zero0, step_flat_bytes_zero1, step_flat_bytes_zero2, step_flat_elements;
	double init_leftover_bytes;
	double live_elements, reduce_elements; /* ZeRO-3 gathered parameters and reduce buffer, 2 bytes each */
	double units_in_flight,
		unit_gradient_bytes;       /* FSDP: gathered 16-bit layers; bytes per parameter of the layer in backward */
	double pipeline_weight_bytes;      /* FSDP under PP: unsharded weights kept through the step */
	double accumulated_gradient_bytes; /* FSDP with accumulation or PP: unsharded gradients */
	int32_t reduces_every_micro_batch; /* without PP there are none */
	/* Saved activations and the working set of one layer. */
	int32_t selective, sac_saves_fc2, fp8_saves_inputs;
	double pending_weight_bytes; /* per u and layer between I and W: inputs and output gradients of the matrix multiplies */
	double hidden_extra_single, hidden_extra_pipeline; /* extra 16-bit hidden tensors per in-flight micro-batch */
	int32_t embedding_mask;          /* the dropout mask of the embedding is kept per micro-batch in flight */
	double mask_bytes;               /* per s * s element and in-flight micro-batch under full recompute */
	int32_t drop_in_second_backward; /* the peak is the backward of the second micro-batch: one micro-batch is done by then */
	double work_hidden, work_hidden_split, work_qkv, work_out, work_mlp, work_scores, work_scores_full;
	int32_t work_table_full;
	double work_expert_hidden, work_expert_mlp;
	int32_t work_weight_gradient; /* enum temporary_when */
	/* Loss, head, embedding. */
	double loss_bytes, loss_bytes_tp, loss_chunks, loss_hidden, loss_hidden_split, loss_hidden_gathered, mtp_loss_factor;
	int32_t head_gradient, embedding_gradient; /* enum temporary_when; flag */
	int64_t vocab_multiple;                    /* vocabulary padded to a multiple of this times tp; 1: not padded */
	/* Overheads. */
	int64_t workspace_bytes, context_bytes_volta, context_bytes;
	double reserved_ratio, dynamic_slack, margin;
	int32_t step_adds; /* step buffers add to the activation peak instead of alternating with it */
	int32_t capacity;  /* enum capacity_kind */
	/* Step time: see step.c. Coefficients by name (enum coefficient). */
	int32_t level, level_hopper, level_blackwell; /* framework level of matrix multiplies; the two last: one = as level */
	int32_t elementwise, launch;
	double eager_factor;      /* bytes of elementwise operations in true eager mode over compiled; 0: 1 */
	int32_t attention_hopper; /* fused attention rate on Hopper; one = as the family */
	int32_t rowwise_fp8;
	int64_t comm_multiprocessors; /* kept from computation by expert traffic under overlapped blocks */
	int32_t tp_rate, tp_hidden;                            /* collective rate; share hidden by buffers; one = neither */
	int32_t tp_broadcasts_batch;                           /* Megatron-LM megatron/training/utils.py */
	int32_t pp_split_over_tp, pp_overlap, pp_gathers_once; /* transfers divided by tp; interleaved overlap; FSDP under PP */
	int32_t post_validation; /* ranks step without waiting for the norm of all; Qi 2023 sec. 4 */
	int32_t dp_overlap;
	double reduce_bytes, gather_bytes, gather_bytes_fp8; /* per parameter on the wire */
	int32_t gathers_experts_fp8;                         /* gather-bytes-fp8 holds for routed experts too */
	int32_t fsdp_contention;
	int32_t zero3_unoverlapped; /* DeepSpeed ZeRO-3 of 2021 */
	int32_t cp_unbalanced;
	int32_t dispatch_per_node; /* a token crosses once per distinct node (DeepEP, HybridEP), not once per expert */
	double dispatch_factor;    /* bytes of expert dispatch over 16 bit */
	int32_t moe_graphs, ep_overlap,
		moe_recomputes; /* captured graphs; 1F1B-style overlap; norms and expert activation recomputed */
	/* Offload. */
	double host_factor, host_grad_bytes; /* pinned copies; gradient bytes per parameter on the host below ZeRO-3 */
	int32_t offload_moves_all;           /* FSDP CPUOffloadPolicy: parameters and gradients go too */
};

extern const struct field_table profile_fields;

#endif
