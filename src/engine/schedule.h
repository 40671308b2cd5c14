/* Pipeline schedules: per rank an ordered list of actions. A schedule is a row of a table with one small generator; ONE executor
 * times any list. Nothing here knows about memory or seconds: times are integer ticks.
 *
 * Stages and ranks. Loop: stage s sits on rank s mod p, chunk k of rank r is stage k p + r. V: 2p stages, rank r holds r and
 * 2p-1-r. Both directions (DualPipe): p stages, rank r holds r and p-1-r; the first half of the micro-batches runs down the
 * ranks, the second half up. */
#ifndef MESHPLAN_SCHEDULE_H
#define MESHPLAN_SCHEDULE_H

#include "err.h"
#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum action_kind { ACTION_FORWARD, ACTION_BACKWARD, ACTION_INPUT, ACTION_WEIGHT, ACTION_KIND_COUNT };
extern const char action_letters[ACTION_KIND_COUNT + 1]; /* "FBIW": B whole backward, I input gradient, W weight gradient */

/* One action. `overlap` is set on the forward and on the backward that follows it at once when both run as one block. */
struct action {
	uint8_t kind; /* enum action_kind */
	uint8_t overlap;
	int32_t stage, micro_batch;
};

/* What greedy generators plan with, in any unit; all 0: 1, 1, 1, 0. v-half, v-min and 1f1b-v plan in slots and do not look at it.
 */
struct order_costs {
	int64_t forward, input, weight, comm;
};

/* A pipeline: the shape that a generator needs. */
struct pipeline {
	int32_t schedule;       /* enum schedule_id; SCHEDULE_COUNT: an imported order with the placement below */
	int64_t p, m, v, group; /* ranks, micro-batches, chunks per rank, micro-batches per round (0: the schedule's default) */
	struct order_costs costs;
	int32_t imported; /* enum placement of an imported order */
};

enum placement { PLACEMENT_LOOP, PLACEMENT_V, PLACEMENT_BIDIRECTIONAL, PLACEMENT_COUNT };
extern const char *const placement_names[PLACEMENT_COUNT + 1];

/* Chunks of one stage on a rank at its peak: `whole` micro-batches between F and the end of I (or B) keep all saved tensors,
 * `pending` ones between I and W keep the inputs and output gradients of their matrix multiplies. */
struct chunk_peak {
	int64_t whole, pending;
};

/* An order that is made greedily: fills a list (all ranks in turn) bit by bit, its state and scratch in as many bytes. step does
 * a bit of it and says how much, about one for an action, 0 when the list is complete; share how much of all is done, 0 .. 1. */
struct greedy_order {
	int64_t (*scratch_bytes)(const struct pipeline *pl);
	void (*begin)(const struct pipeline *pl, void *scratch, struct action *list);
	int64_t (*step)(void *scratch);
	double (*share)(const void *scratch);
};

struct sched_program;
struct schedule_info {
	const char *key, *label, *help, *cite;
	const char *rule;                            /* what the shape must be, and why */
	const char *peak_formula, *makespan_formula; /* in the symbols of meshplan-model(7); s = F + I + W of a chunk */
	int32_t placement;                           /* enum placement */
	int64_t v_min, v_max;                        /* legal chunks per rank */
	int64_t passes;   /* actions per chunk and micro-batch on a rank: 2 or 3; more where some are blocks */
	bool has_groups;  /* micro-batches run in groups */
	bool splits;      /* the backward is split into I and W */
	bool overlaps;    /* has overlapped F&B blocks */
	bool zero_bubble; /* at F = I = W no rank idles between its actions once there are 2p - 1 micro-batches */
	/* The order, one of two: what a rank's program is made of, or a generator of lists that depend on costs. */
	void (*program)(const struct pipeline *pl, int64_t rank, struct sched_program *out);
	const struct greedy_order *greedy;
	/* What the order says, without making it: pipeline_makespan and the peak of chunk k. A program needs neither, they save
	 * time; of a greedy order they are stated figures, exact only where *exact and pipeline_is_exact say so. */
	int64_t (*makespan)(const struct pipeline *pl, int64_t f, int64_t i, int64_t w, int64_t c, bool *exact);
	struct chunk_peak (*peak)(const struct pipeline *pl, int64_t rank, int64_t k);
};
extern const struct schedule_info schedule_table[SCHEDULE_COUNT];

/* Constraints of the schedule: p, m, v, the group rule. `where` is a knob key; the message holds the reason and the legal values.
 */
enum err_code pipeline_check(const struct pipeline *pl, struct err *e) NODISCARD;
/* Ticks from the first action to the last with equal stages: F, I, W of a chunk (a whole backward lasts I + W) and the latency c
 * between ranks. *exact: what the executor finds, else an estimate. */
int64_t pipeline_makespan(const struct pipeline *pl, int64_t f, int64_t i, int64_t w, int64_t c, bool *exact);
/* The same order with so few micro-batches that there are at most so many actions; *rest, whole rounds, are left out. False where
 * not even two rounds are left (of groups: one). */
bool pipeline_shorten(const struct pipeline *pl, int64_t actions, struct pipeline *few, int64_t *rest);
/* What one micro-batch of a chunk weighs, in a small unit: fractions are rounded. */
struct chunk_weight {
	double whole, pending;
};
/* What a rank holds of each of its pipeline_chunks_held chunks when they weigh most, the first time. weight: of each chunk;
 * NULL: whole ones count, and where they are equal, pending ones. */
void pipeline_peak(const struct pipeline *pl, int64_t rank, const struct chunk_weight *weight, struct chunk_peak *held);
/* Chunks, whole and pending, that a rank holds at its peak. */
int64_t pipeline_in_flight(const struct pipeline *pl, int64_t rank);
/* Whether these peaks are those of the order, not stated ones. */
bool pipeline_is_exact(const struct pipeline *pl);
/* The group that is used: pl->group, else p where the schedule takes it, else PyTorch's m / max(1, m / p), else the smallest
 * legal one. */
int64_t pipeline_group(const struct pipeline *pl);
/* Stages, chunks (stages) that a rank holds, and where stages sit. p = 1 is plain gradient accumulation on the loop. */
int32_t pipeline_placement(const struct pipeline *pl);
int64_t pipeline_stages(const struct pipeline *pl);
int64_t pipeline_chunks_held(const struct pipeline *pl);
int64_t pipeline_stage_of(const struct pipeline *pl, int64_t rank, int64_t k);
/* Which of the rank's chunks a stage is, -1: it is not there. */
int64_t pipeline_chunk_at(const struct pipeline *pl, int64_t rank, int64_t stage);
int64_t pipeline_rank_of(const struct pipeline *pl, int64_t stage, int64_t micro_batch);
/* Actions of one rank; of all. */
int64_t pipeline_count(const struct pipeline *pl, int64_t rank);
int64_t pipeline_actions(const struct pipeline *pl);

/* An order: who does what in which sequence, closed form or list. Plain data; the list belongs to the caller. */
struct order {
	struct pipeline pl;
	const struct action *list; /* NULL: closed form */
	const int64_t *first;      /* p + 1 positions in the list */
};

/* Bytes of workspace that order_generate needs: 0 for a closed form, -1 on overflow. */
int64_t order_workspace_bytes(const struct pipeline *pl);
/* The order of a pipeline. Greedy schedules are generated into the workspace, which must outlive *out. */
enum err_code order_generate(const struct pipeline *pl, void *workspace, struct order *out, struct err *e) NODISCARD;
/* The same in slices: order_begin, then order_step until it says that the order is complete. The order must not be used before;
 * nothing needs to be done to give it up. */
struct order_build {
	struct order order;
	void *scratch; /* NULL: complete */
};
enum err_code order_begin(const struct pipeline *pl, void *workspace, struct order_build *b, struct err *e) NODISCARD;
/* Goes on for about as many actions as `budget`, of which a generator weighs several for each that it lists. */
bool order_step(struct order_build *b, int64_t budget);
/* How much is done, 0 .. 1; it may end early. */
double order_share(const struct order_build *b);
int64_t order_count(const struct order *o, int64_t rank);
struct action order_at(const struct order *o, int64_t rank, int64_t i);
/* Calls f for every action of a rank in turn; faster than order_at. */
void order_each(const struct order *o, int64_t rank, void (*f)(void *ctx, const struct action *a), void *ctx);

/* Most chunks in flight on a rank by its list alone: released at the end of B or W, and of B or I. In a block the forward counts
 * first. */
struct order_peaks {
	int64_t at_weight, at_input;
};
struct order_peaks order_peaks(const struct order *o, int64_t rank);

/* Every (stage, micro-batch) has exactly one F and after it one B, or one I and after that one W, on its rank; blocks are F then
 * B. Closed forms and generated lists always pass; scratch holds order_check_bytes. Errors name rank, position, action and what
 * is legal there. */
int64_t order_check_bytes(const struct pipeline *pl);
enum err_code order_check(const struct order *o, void *scratch, struct err *e) NODISCARD;

/* PyTorch's CSV: one line per rank, "0F0,0F1,,0B0,0I1,0W1,(0F3;3B9)OVERLAP_F_B"; empty fields are bubbles, REDUCE_GRAD fields and
 * lines that start with # are left out. p, m, v and the placement follow from the actions. text is not changed. */
struct order_text {
	const char *name; /* of the file, for messages */
	const char *text;
	size_t len;
};
/* Bytes that order_parse needs at most for a text. */
int64_t order_parse_bytes(const struct order_text *t);
enum err_code order_parse(const struct order_text *t, void *workspace, struct order *out, struct err *e) NODISCARD;
struct sink;
void order_format(const struct order *o, struct sink *out);
void order_format_rank(const struct order *o, int64_t rank, struct sink *out);

/* Times of the executor, in ticks, >= 0. `comm` is added between a producer and a consumer on different ranks; it occupies
 * neither. I and W: input and weight; where both are 0 they share a B (I gets the odd tick). B: backward; where it is 0 it lasts
 * I + W. An overlapped block lasts `overlap`; 0: as long as its halves together. */
struct schedule_times {
	int64_t forward, backward, comm;
	const int64_t *stage_forward, *stage_backward; /* per stage, or NULL for the uniform ones */
	int64_t input, weight, overlap;
	const int64_t *stage_input, *stage_weight;
};
/* Duration of one action (of the halves of a block: their own). */
int64_t schedule_duration(const struct schedule_times *t, int32_t kind, int64_t stage);

/* Why a rank stands idle before an action. */
enum idle_reason { IDLE_NONE, IDLE_FILL, IDLE_INPUT, IDLE_GRADIENT, IDLE_COMM, IDLE_DRAIN, IDLE_REASON_COUNT };
extern const struct choice_info idle_reason_choices[IDLE_REASON_COUNT];

/* One timed action, as the executor emits it (per rank in order; ranks interleave). A block is emitted as two in turn: both have
 * the times of the block, the second (a backward with action.overlap) adds no busy time. The rank was free from free_at on: until
 * ready_at it waited for `reason`, from there to start for the latency (or, at the first action, for the fill). */
struct timed_action {
	int64_t rank, index; /* index in the rank's list */
	struct action action;
	int64_t start, end;
	int64_t free_at, ready_at;
	int32_t reason; /* enum idle_reason of [free_at, ready_at) */
};
/* Ticks that a rank is busy with it: 0 for the second half of a block. */
int64_t timed_action_busy(const struct timed_action *a);

struct schedule_result {
	int64_t makespan, total_busy, max_busy;
	int64_t span_bubble;             /* max over ranks of (last end - first start - busy) */
	double bubble_of_step;           /* sum of idle / (p * makespan) */
	double bubble_over_ideal;        /* sum of idle / sum of busy */
	int64_t max_span;                /* max over ranks of last end - first start */
	double span_bubble_rate;         /* span_bubble / max_span */
	int64_t idle[IDLE_REASON_COUNT]; /* ticks, all ranks; they sum to p * makespan - total_busy */
};

/* What one rank did. */
struct rank_result {
	int64_t busy, first_start, last_end;
	int64_t idle[IDLE_REASON_COUNT]; /* ticks; they sum to makespan - busy */
};

typedef void schedule_emit(void *ctx, const struct timed_action *a);

/* Bytes of workspace that schedule_run needs for this pipeline, or -1 on overflow. */
int64_t schedule_workspace_bytes(const struct pipeline *pl);
/* Executes the pipeline. Dependencies: F(s,i) <- F(s-1,i); B(s,i), I(s,i) <- F(s,i), B or I(s+1,i); W(s,i) <- I(s,i); plus list
 * order; start = when the rank is free and the inputs are there; a block needs both inputs and ends both. emit may be NULL.
 * ERR_ILLEGAL when no rank can advance; the message names blocked ranks, their actions and the missing inputs. workspace is
 * caller-owned, at least schedule_workspace_bytes. */
enum err_code schedule_run(const struct pipeline *pl, const struct schedule_times *t, void *workspace, schedule_emit *emit,
	void *ctx, struct schedule_result *out, struct err *e) NODISCARD;
/* The same for an order that exists already. ranks: p results, or NULL. */
int64_t order_run_bytes(const struct order *o);
enum err_code order_run(const struct order *o, const struct schedule_times *t, void *workspace, schedule_emit *emit, void *ctx,
	struct rank_result *ranks, struct schedule_result *out, struct err *e) NODISCARD;

/* The chain of actions that the makespan consists of. */
struct critical_path {
	int64_t actions, comm_hops; /* on the path */
	int64_t busy, comm;         /* ticks; busy + comm = makespan */
};
int64_t order_critical_bytes(const struct order *o);
/* Emits the path from the last action back to the first; of several equally long ones the one that stays on its rank. */
enum err_code order_critical(const struct order *o, const struct schedule_times *t, void *workspace, schedule_emit *emit,
	void *ctx, struct critical_path *out, struct err *e) NODISCARD;

/* One schedule beside the others on the same ranks and micro-batches. */
struct schedule_comparison {
	int32_t schedule; /* enum schedule_id; SCHEDULE_COUNT: an imported order */
	struct pipeline pl;
	struct err why;                /* code != ERR_OK: not legal here, and the reason */
	struct schedule_result result; /* in ticks of 1 / scale */
	int64_t scale;
	int64_t peak_at_weight, peak_at_input; /* most of any rank, in chunks */
	double peak_micro_batches;             /* the former in micro-batches of the rank's whole share */
};
/* The times of one model, which schedules cut differently. parts = 0: those of a rank's whole share, of which each of v chunks
 * takes its part. Else of `parts` parts of the model, per stage: a schedule with fewer stages runs as many neighbours as one
 * stage. */
struct compared_times {
	struct schedule_times t;
	int64_t parts;
};
int64_t schedule_compare_bytes(int32_t schedule, const struct pipeline *base);
/* Runs `schedule` with p, m, and where it takes chunks v of base (2 where base has 1). A shape that is illegal, or stages that
 * the times do not cover, are a result, not an error. */
enum err_code schedule_compare(int32_t schedule, const struct pipeline *base, const struct compared_times *t, void *workspace,
	struct schedule_comparison *out, struct err *e) NODISCARD;
/* The same for an order that exists already, imported ones included; v is the one of base. */
int64_t order_compare_bytes(const struct order *o);
enum err_code order_compare(const struct order *o, const struct pipeline *base, const struct compared_times *t, void *workspace,
	struct schedule_comparison *out, struct err *e) NODISCARD;

/* What closed forms say of `schedule` on the ranks and micro-batches of base, without running it. */
struct schedule_estimate {
	struct pipeline pl;
	bool exact;                /* else stated */
	double ticks;              /* makespan, F = I = W = 1 for a chunk of base */
	double peak_micro_batches; /* most of any rank, in micro-batches of its whole share */
};
/* False where the shape is not legal. */
bool schedule_estimate(int32_t schedule, const struct pipeline *base, struct schedule_estimate *out);

/* "0F0", "3B12": stage, letter, micro-batch. Returns buf. */
char *action_format(const struct action *a, char *buf, size_t cap);

#endif
