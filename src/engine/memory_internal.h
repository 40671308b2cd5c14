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

/* Tokens that the experts of one rank see per micro-batch, balanced: K T. Without tensor parallelism inside experts but with
 * sequence parallelism each rank routes its own share. */
static inline double memory_routed_tokens(const struct scenario *s)
{
	return (double)s->model.topk * memory_tokens(s) / (s->layout.etp == 1 ? memory_sp(s) : 1);
}

/* Bytes that one layer keeps per micro-batch under this scenario's recompute mode, and its whole table. */
void memory_layer_activations(const struct scenario *s, bool moe, double *kept_bytes, double *table_bytes);

/* memory_state.c: parameters of one layer on a rank, in the fields dense, expert, linear, adapter, expert_adapter of *out. */
void memory_layer_state(const struct scenario *s, bool moe, struct memory_layer *out);

/* Fills the state terms (weights ... moments) of *out, host and NVMe bytes, from the rank's parameters. */
void memory_rank_state(
	const struct scenario *s, const struct memory_shared *sh, const struct rank_params *rp, struct stage_memory *out);

#endif
