/* Pipeline schedules: per rank an ordered list of actions. A schedule is a row of a table with a closed-form generator; ONE executor times
 * any list. Nothing here knows about memory or seconds: times are integer ticks.
 * Stage s of p * v: chunk k of rank r is stage k * p + r. */
#ifndef MESHPLAN_SCHEDULE_H
#define MESHPLAN_SCHEDULE_H

#include "err.h"
#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum action_kind { ACTION_FORWARD, ACTION_BACKWARD, ACTION_INPUT, ACTION_WEIGHT, ACTION_KIND_COUNT };
extern const char action_letters[ACTION_KIND_COUNT + 1]; /* "FBIW": B whole backward, I input gradient, W weight gradient */

struct action {
	int32_t kind; /* enum action_kind */
	int32_t stage, micro_batch;
};

/* A pipeline: the shape that a generator needs. */
struct pipeline {
	int32_t schedule; /* enum schedule_id */
	int64_t p, m, v, group; /* ranks, micro-batches, chunks per rank, interleaved group (0: p) */
};

struct schedule_info {
	const char *key, *label, *help, *cite;
	bool needs_v; /* v >= 2 */
	/* Number of actions of a rank, and the i-th of them (0-based); O(1). */
	int64_t (*count)(const struct pipeline *pl, int64_t rank);
	struct action (*at)(const struct pipeline *pl, int64_t rank, int64_t i);
	/* Makespan in ticks with equal stages and no latency; F and B per chunk. */
	int64_t (*makespan)(const struct pipeline *pl, int64_t f, int64_t b);
	/* Most chunks of chunk index k alive on `rank` at its peak instant (forwards started minus backwards finished), as counted at the
	 * instant when the sum over k is first at its maximum. */
	int64_t (*in_flight)(const struct pipeline *pl, int64_t rank, int64_t k);
};
extern const struct schedule_info schedule_table[SCHEDULE_COUNT];

/* Constraints of the schedule: m >= 1, v, the interleaved group rule (p <= g <= m and (m % g = 0 or m % g >= p); Megatron-LM
 * get_schedule_table). `where` is a knob key. */
enum err_code pipeline_check(const struct pipeline *pl, struct err *e) NODISCARD;
/* Peak chunks in flight on a rank, released at the end of the whole backward. */
int64_t pipeline_in_flight(const struct pipeline *pl, int64_t rank);

/* Times of the executor, in ticks, >= 0. `comm` is added between a producer and a consumer on different ranks; it occupies neither. */
struct schedule_times {
	int64_t forward, backward, comm;
	const int64_t *stage_forward, *stage_backward; /* per stage (p * v), or NULL for the uniform ones */
};

/* One timed action, as the executor emits it (per rank in order; ranks interleave). */
struct timed_action {
	int64_t rank, index; /* index in the rank's list */
	struct action action;
	int64_t start, end;
};

struct schedule_result {
	int64_t makespan, total_busy, max_busy;
	int64_t span_bubble;      /* max over ranks of (last end - first start - busy) */
	double bubble_of_step;    /* sum of idle / (p * makespan) */
	double bubble_over_ideal; /* sum of idle / sum of busy */
};

/* Bytes of workspace that schedule_run needs for this pipeline, or -1 on overflow. */
int64_t schedule_workspace_bytes(const struct pipeline *pl);
/* Executes the pipeline. Dependencies: F(s,i) <- F(s-1,i); B(s,i) <- F(s,i), B(s+1,i); plus list order; start = when the rank is free and
 * the inputs are there. emit may be NULL. ERR_ILLEGAL when no rank can advance; the message names each blocked rank, its action and the
 * missing input. workspace is caller-owned, at least schedule_workspace_bytes. */
enum err_code schedule_run(const struct pipeline *pl, const struct schedule_times *t, void *workspace,
	void (*emit)(void *ctx, const struct timed_action *a), void *ctx, struct schedule_result *out, struct err *e) NODISCARD;

/* "0F0", "3B12": stage, letter, micro-batch. Returns buf. */
char *action_format(const struct action *a, char *buf, size_t cap);

#endif
