/* The scenario: everything a plan depends on, as plain data. Copied with `=`; two of them side by side are two plans.
 * Enums that it stores live here, each with a table of names and meanings. */
#ifndef MESHPLAN_SCENARIO_H
#define MESHPLAN_SCENARIO_H

#include "coefficients.h"
#include "hardware.h"
#include "model.h"
#include "profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value of an enum knob. */
struct choice_info {
	const char *key, *help;
};

enum precision {
	PRECISION_FP32,
	PRECISION_TF32,
	PRECISION_FP16,
	PRECISION_BF16,
	PRECISION_FP8,
	PRECISION_MXFP8,
	PRECISION_NVFP4,
	PRECISION_PURE_BF16,
	PRECISION_COUNT
};
enum optimizer {
	OPTIMIZER_ADAMW,
	OPTIMIZER_ADAM8BIT,
	OPTIMIZER_PAGED_ADAMW,
	OPTIMIZER_PAGED_ADAM8BIT,
	OPTIMIZER_ADAFACTOR,
	OPTIMIZER_LION,
	OPTIMIZER_SGD,
	OPTIMIZER_SGD_MOMENTUM,
	OPTIMIZER_MUON,
	OPTIMIZER_NONE,
	OPTIMIZER_COUNT
};
enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTE_COUNT };
enum attention_kernel { ATTENTION_KERNEL_FLASH, ATTENTION_KERNEL_UNFUSED, ATTENTION_KERNEL_COUNT };
enum loss { LOSS_FULL, LOSS_CHUNKED, LOSS_FUSED, LOSS_COUNT };
enum offload { OFFLOAD_NONE, OFFLOAD_CPU, OFFLOAD_NVME, OFFLOAD_COUNT };
enum adapter { ADAPTER_NONE, ADAPTER_LORA, ADAPTER_QLORA, ADAPTER_COUNT };
enum lora_targets { LORA_TARGETS_ALL_LINEAR, LORA_TARGETS_ATTENTION, LORA_TARGETS_COUNT };
enum pp_split { PP_SPLIT_AUTO, PP_SPLIT_UNIFORM, PP_SPLIT_EMBED_HEAD, PP_SPLIT_COUNT };
/* What is counted as the model's work per token, for TFLOP/s and MFU. */
enum flops_convention { FLOPS_FULL, FLOPS_CAUSAL, FLOPS_6N, FLOPS_MEGATRON, FLOPS_PALM, FLOPS_CONVENTION_COUNT };
enum schedule_id {
	SCHEDULE_NAIVE,
	SCHEDULE_GPIPE,
	SCHEDULE_GPIPE_LIFO,
	SCHEDULE_1F1B,
	SCHEDULE_1F1B_V,
	SCHEDULE_INTERLEAVED,
	SCHEDULE_LOOPED_BFS,
	SCHEDULE_ZB_H1,
	SCHEDULE_ZB_H2,
	SCHEDULE_ZB_2P,
	SCHEDULE_ZB1P_INTERLEAVED,
	SCHEDULE_ZB_V,
	SCHEDULE_ZB_V_SAIL,
	SCHEDULE_V_HALF,
	SCHEDULE_V_MIN,
	SCHEDULE_DUALPIPE,
	SCHEDULE_DUALPIPEV,
	SCHEDULE_COUNT
};

extern const struct choice_info framework_choices[FRAMEWORK_COUNT];
extern const struct choice_info precision_choices[PRECISION_COUNT];
extern const struct choice_info recompute_choices[RECOMPUTE_COUNT];
extern const struct choice_info attention_kernel_choices[ATTENTION_KERNEL_COUNT];
extern const struct choice_info loss_choices[LOSS_COUNT];
extern const struct choice_info offload_choices[OFFLOAD_COUNT];
extern const struct choice_info adapter_choices[ADAPTER_COUNT];
extern const struct choice_info lora_targets_choices[LORA_TARGETS_COUNT];
extern const struct choice_info pp_split_choices[PP_SPLIT_COUNT];
extern const struct choice_info flops_convention_choices[FLOPS_CONVENTION_COUNT];

/* What an optimizer keeps per parameter it updates. */
struct optimizer_info {
	const char *key, *help;
	double moment_bytes;           /* all moments together, in their usual precision */
	double pure_bf16_moment_bytes; /* the same under --precision pure-bf16 */
	int32_t needs_master;          /* fp32 master copy under mixed precision */
	int32_t paged;                 /* moments live in pinned host memory and are paged in */
	const char *cite;
};
extern const struct optimizer_info optimizer_table[OPTIMIZER_COUNT];

enum { STAGE_LIST_MAX = 256 };

/* Explicit layers per pipeline chunk, "11,10,10,11"; n = 0: not given. In stage order (chunk k of rank r is k * pp + r). */
struct stage_list {
	int32_t n;
	int16_t layers[STAGE_LIST_MAX];
};

struct cluster {
	struct gpu gpu;
	struct node node;
	struct gpu_family family; /* id empty: speed is not known */
	int64_t gpus, gpus_per_node;
	double nic_gbs;        /* network per GPU, GB/s one direction; 0: as the node says */
	int64_t gpu_mem_bytes; /* 0: as the GPU preset says */
};

struct layout {
	int64_t tp, pp, vpp, cp, ep, etp;
	int64_t zero, zero_group; /* stage 0..3; ranks that shard together, 0: the whole data-parallel group */
	int32_t sequence_parallel;
	int32_t schedule; /* enum schedule_id */
	int64_t group;    /* interleaved: micro-batches per round, 0: pp */
	int32_t pp_split; /* enum pp_split */
	struct stage_list stage_layers;
};

struct training {
	int32_t precision, optimizer, grad_dtype, master_dtype; /* dtypes: DTYPE_AUTO = as the profile */
	int64_t seq, micro_batch, global_batch;                 /* tokens per sequence; sequences; sequences */
	int64_t attention_length;                               /* packed samples: tokens that attend to each other; 0: seq */
	int32_t recompute;
	int64_t recompute_every;           /* full recompute: keep the input of every K-th layer */
	int32_t attention;                 /* enum attention_kernel */
	double dropout, attention_dropout; /* probabilities: hidden (residual, embedding), attention scores */
	int32_t loss;
	int32_t offload, offload_params, offload_activations; /* enum offload; enum offload; flag */
	int32_t flops; /* enum flops_convention: how TFLOP/s are reported; changes no time */
	int32_t adapter, lora_targets;
	int64_t lora_rank;
};

/* The run as a purchase. */
struct economics {
	int64_t tokens; /* 0: 20 per active parameter */
	double price;   /* USD per GPU hour; 0: the GPU preset's */
	double pue;
	double mtbf_hours; /* mean time between failures of one GPU; 0: none fail */
	double goodput;    /* share of wall time that trains when nothing fails */
};

struct scenario {
	struct model model;
	struct cluster cluster;
	struct layout layout;
	struct training training;
	struct profile profile; /* framework = profile.framework */
	struct economics cost;
	struct coefficients coefficients;
};

/* Data-parallel degree gpus / (tp pp cp); 0 when it does not divide. */
int64_t scenario_dp(const struct scenario *s);
/* Micro-batches per step and pipeline: global_batch / (dp * micro_batch); 0 when it does not divide. */
int64_t scenario_micro_batches(const struct scenario *s);
/* Whether every tensor is fp32: fp32 and tf32, which differ in the multiply. */
bool scenario_full_precision(const struct scenario *s);
/* Bytes per parameter of gradients that stay whole while micro-batches accumulate; 0: each micro-batch's are reduced before the
 * next. pure-bf16 has none but 16-bit ones. Src: torch distributed/fsdp set_requires_gradient_sync,
 * distributed/pipelining/stage.py. */
double scenario_accumulated_bytes(const struct scenario *s);
/* Bytes of a value in the precision that layers compute in: activations, gathered weights, temporaries. */
double scenario_element_bytes(const struct scenario *s);

#endif
