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
	double tp, sp_tp;      /* degree; what sequence parallelism divides by */
	double head_size;      /* d */
	double dp_ranks;       /* dp cp */
	double micro_batches;
	double padded_vocab;
	enum gemm_kind kind, grouped_kind;
	/* Parts of a layer that several formulas need. */
	struct gemm_times attention, mlp;
	double core_forward_s, core_backward_s, elementwise_forward_s, elementwise_backward_s, tp_forward_s, tp_backward_s,
		cp_forward_s;
	double tp_all_s, cp_all_s; /* communication of a layer and its backward, hidden or not, recompute apart */
	double dispatch_s;
};

/* step_layer.c: fills the layer parts of *m and the two layer times of *out. */
void step_layers(struct step_model *m, struct step_time *out);
/* step_data.c: exposed data-parallel traffic of the step. */
struct stage_times {
	double first_s, first_forward_s, layer_forward_s, layer_s, layers;  /* first stage; mean layer; layers per stage */
	double dense_params, expert_params, embedding_params, layer_params; /* on a rank */
};
double step_data_parallel(const struct step_model *m, const struct stage_times *t, struct step_time *out);
/* The optimizer step; sets offload_s and owned_params of *out. */
double step_optimizer(const struct step_model *m, const struct stage_times *t, struct step_time *out);

#endif
