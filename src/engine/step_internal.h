/* Shared between step*.c only. */
#ifndef MESHPLAN_STEP_INTERNAL_H
#define MESHPLAN_STEP_INTERNAL_H

#include "step.h"

/* The scenario as the time model reads it, once per evaluation. */
struct step_model {
	const struct scenario *s;
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
void step_stages(const struct step_model *m, const struct pipeline *pl, struct stage_costs *c, struct step_time *out);
/* The rank that takes longest for one micro-batch, its layers, the sum of all, and the first rank, into *out. */
void step_find_slowest(const struct pipeline *pl, const struct stage_costs *c, struct step_time *out);
/* A rank as the step sees it: all its stages; of both directions half the micro-batches each. */
struct stage_cost step_rank_cost(const struct pipeline *pl, const struct stage_costs *c, int64_t rank);
/* step_bubble.c: idle time of the slowest rank. */
double step_bubble(
	const struct step_model *m, const struct pipeline *pl, const struct stage_costs *c, const struct step_time *out);

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
};
struct rank_load {
	struct held_params all;
	double ends; /* of all.dense, what no layer holds: tables, positions, the last norm */
	struct layer_group group[LAYER_KINDS];
};
/* step_data.c: exposed data-parallel traffic of the step. */
double step_data_parallel(const struct step_model *m, const struct rank_load *t, struct step_time *out);
/* The optimizer step; sets offload_s and owned_params of *out. */
double step_optimizer(const struct step_model *m, const struct rank_load *t, struct step_time *out);

#endif
