/* Seconds of one training step: layers, stages, pipeline, communication by who hides it, optimizer. Closed formulas, no
 * allocation. Everything is per GPU; times per layer are per micro-batch. */
#ifndef MESHPLAN_STEP_H
#define MESHPLAN_STEP_H

#include "comm.h"
#include "compute.h"
#include "scenario.h"
#include "schedule.h"

#include <stdbool.h>

/* One layer. */
struct layer_time {
	double forward_s, input_s, weight_s, recompute_s; /* exposed communication included; input: with attention backward */
	double tp_s, cp_s, ep_s;                          /* of these: exposed communication, recompute's share included */
	double offload_s;                                 /* of forward and input: waiting for offloaded activations */
	double host_s;                                    /* work of the host for a MoE layer, forward and backward */
};

/* Parts of the step, in drawing order. They sum to the step. */
enum step_part {
	STEP_COMPUTE,
	STEP_RECOMPUTE,
	STEP_TP,
	STEP_CP,
	STEP_EP,
	STEP_DP,
	STEP_PP,
	STEP_OPTIMIZER,
	STEP_OFFLOAD,
	STEP_BUBBLE,
	STEP_PART_COUNT
};
struct step_part_info {
	const char *key, *label; /* JSON key; N_() */
	char letter;
	const char *help;
};
extern const struct step_part_info step_part_table[STEP_PART_COUNT];

/* One kind of communication, for the plan's table. */
enum traffic { TRAFFIC_TP, TRAFFIC_CP, TRAFFIC_EP, TRAFFIC_PP, TRAFFIC_DP_REDUCE, TRAFFIC_DP_GATHER, TRAFFIC_COUNT };
struct traffic_time {
	double calls, bytes_per_gpu; /* per step */
	double seconds, exposed_s;   /* per step; 0 calls: none */
	double ranks;
	bool across; /* crosses link domains */
};
extern const char *const traffic_names[TRAFFIC_COUNT], *const traffic_groups[TRAFFIC_COUNT];
/* The collectives of one kind as this scenario has them: an all-reduce where others scatter and gather. */
const char *step_traffic_name(const struct scenario *s, enum traffic which);

/* What one direction of PCIe sustains for offloaded states. Src: ZeRO-Offload, Ren 2021 (PCIe 3.0 x16). */
#define STEP_OFFLOAD_BPS 12e9
/* Seconds per step for the states of so many parameters that a CPU updates. */
double step_offload_states(const struct scenario *s, double owned);

struct step_time {
	bool known; /* false: the GPU has no rates; nothing else is set */
	double step_s;
	double part_s[STEP_PART_COUNT];
	struct layer_time dense, moe;
	double head_s, embedding_s;      /* forward and backward of one micro-batch */
	double stage_max_s, stage_sum_s; /* one micro-batch on the slowest pipeline rank; on all */
	int64_t slowest_stage;           /* that rank */
	double bubble_s, send_s, data_parallel_s, optimizer_s, offload_s, fixed_s, straggler; /* before the straggler factor */
	double norm_s;                              /* of the optimizer: the sum of gradient norms over all ranks */
	double params_per_rank, owned_params;       /* matrices on a rank; of these the optimizer updates here */
	double dense_layers, moe_layers;            /* of the slowest rank, prediction layers included */
	double window_forward_s, window_backward_s; /* one micro-batch on the fullest rank: what hides data-parallel traffic */
	struct traffic_time traffic[TRAFFIC_COUNT];
};

/* One stage of the pipeline, or what a rank does of one micro-batch: its layers, embedding on the first, head and loss on the
 * last. Stages as in schedule.h. */
struct stage_cost {
	double dense, moe;                   /* layers */
	double forward_s, input_s, weight_s; /* input: recompute included */
};
struct stage_costs {
	int32_t n;
	struct stage_cost stage[STAGE_LIST_MAX];
};
/* What one micro-batch costs on every stage. .n = 0 when the GPU's speed is not known. The scenario has passed scenario_check. */
void step_stage_costs(const struct scenario *s, struct stage_costs *out);

/* Times one step. The scenario has passed scenario_check. Never fails; .known = false when the GPU's speed is not known.
 * Src: meshplan-model(7), step time. */
void step_evaluate(const struct scenario *s, struct step_time *out);

#endif
