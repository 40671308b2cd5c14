/* Shared between step*.c only. */
#ifndef MESHPLAN_STEP_INTERNAL_H
#define MESHPLAN_STEP_INTERNAL_H

#include "step.h"

/* The scenario as the time model reads it, once per evaluation. */
struct step_model {
	const struct scenario *s;
	struct pipeline pipeline;
	struct device device;
	struct links links;
	double tokens, hidden; /* T, h */
	double element;        /* bytes of a value on the wire */
	double tp, sp_tp;      /* degree; what sequence parallelism divides by */
	double head_size;      /* d, with MLA the mean of its query and value heads */
	double dp_ranks;       /* dp cp */
	double micro_batches;
	double padded_vocab;
	enum gemm_kind kind, grouped_kind;
	/* Parts of a layer that several formulas need. */
	struct gemm_times attention;
	double core_forward_s, core_backward_s, elementwise_forward_s, elementwise_backward_s, tp_forward_s, tp_backward_s,
		cp_forward_s, latent_forward_s; /* the last: up-projections of latent attention, of m->attention */
	double tp_all_s, cp_all_s;              /* communication of a layer and its backward, hidden or not, recompute apart */
	double dispatch_s;
};

/* step_layer.c: fills the layer parts of *m and the two layer times of *out. */
void step_layers(struct step_model *m, struct step_time *out);
/* One exchange of the hidden tensor over tp: a gather or scatter with sequence parallelism, else an all-reduce. */
double step_tp_exchange_s(const struct step_model *m);
static inline double step_cost_total(const struct stage_cost *c)
{
	return c->forward_s + c->input_s + c->weight_s;
}

/* step_stage.c: times every stage and finds the slowest rank. */
void step_stages(const struct step_model *m, struct stage_costs *c, struct step_time *out);
/* The rank that takes longest for one micro-batch, its layers, the sum of all, and the first rank, into *out. */
void step_find_slowest(const struct pipeline *pl, const struct stage_costs *c, struct step_time *out);
/* A rank as the step sees it: all its stages; of both directions half the micro-batches each. */
struct stage_cost step_rank_cost(const struct pipeline *pl, const struct stage_costs *c, int64_t rank);
/* step_bubble.c: idle time of the slowest rank. */
double step_bubble(const struct step_model *m, const struct stage_costs *c, const struct step_time *out);

/* Parameters that data-parallel groups keep alike: all but routed experts; of these the matrices of layers; routed experts. */
struct held_params {
	double dense, matrices, expert;
};
/* The fullest rank as traffic and optimizer see it. */
enum { LAYER_KINDS = 2 }; /* dense, MoE */
struct layer_group {
	double layers;
	struct held_params one; /* of one layer, as the times are */
	double forward_s, backward_s;
	/* With the traffic that the layer does not hide: forward, backward, and that of the `reduced` micro-batches which reduce.
	 */
	double busy_forward_s, busy_backward_s, busy_reducing_s, reduced;
};
struct rank_load {
	struct held_params all;
	double ends; /* of all.dense, what no layer holds: tables, positions, the last norm */
	struct layer_group group[LAYER_KINDS];
};
/* step_data.c: exposed data-parallel traffic of the step; sets what is busy of the groups of *t. */
double step_data_parallel(const struct step_model *m, struct rank_load *t, struct step_time *out);
/* The embedding and head unit of FSDP has little to hide behind. ASSUMPTION of the fitted model. */
#define STEP_UNIT_EXPOSED 0.5
/* Whether the profile shards weights at this ZeRO stage; whether what is gathered stays until the end of the step. */
bool step_shards_weights(const struct scenario *s);
bool step_gathers_once(const struct scenario *s);
/* Bytes, as they are gathered, of the part of these weights that the rank itself holds. */
double step_owned_weights(const struct step_model *m, const struct held_params *x);
/* The optimizer step; sets owned_params and norm_s of *out and adds to offload_s. */
double step_optimizer(const struct step_model *m, const struct rank_load *t, struct step_time *out);
/* step_offload.c: lets the layer wait for the copies of what it saves, both ways; exposed copies of weights per step. */
void step_offload_activations(const struct scenario *s, double saved_bytes, struct layer_time *y);
double step_offload_weights(const struct step_model *m, const struct rank_load *t);

#endif
