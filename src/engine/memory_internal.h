/* Shared between memory*.c only. */
#ifndef MESHPLAN_MEMORY_INTERNAL_H
#define MESHPLAN_MEMORY_INTERNAL_H

#include "memory.h"

/* Tokens per rank and micro-batch: b s / c. */
static inline double memory_tokens(const struct scenario *s)
{
	return (double)s->training.micro_batch * (double)s->training.seq / (double)s->layout.cp;
}

/* What sequence parallelism divides by: tp, or 1 when off. */
static inline double memory_sp(const struct scenario *s)
{
	return s->layout.sequence_parallel ? (double)s->layout.tp : 1;
}

/* Bytes that one layer keeps per micro-batch under this scenario's recompute mode, and its whole table. */
void memory_layer_activations(const struct scenario *s, bool moe, double *kept_bytes, double *table_bytes);

/* memory_state.c: parameters of one layer on a rank, in the fields dense, expert, linear, adapter, matrices of *out. */
void memory_layer_state(const struct scenario *s, bool moe, struct memory_layer *out);

/* Parameters of a rank: what state is charged for. */
struct rank_params {
	double dense, expert;           /* held */
	double trained, trained_expert; /* with gradients and optimizer states */
	double quantised;               /* of dense + expert, stored in 4 bit (qlora) */
	double matrices;
	int64_t layers, moe_layers;
	bool first, last;
};
void memory_rank_params(const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct rank_params *out);
/* Fills the state terms (weights ... moments) of *out, host and NVMe bytes, from the rank's parameters. */
void memory_rank_state(
	const struct scenario *s, const struct memory_shared *sh, const struct rank_params *rp, struct stage_memory *out);

#endif
