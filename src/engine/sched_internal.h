/* Shared between schedule.c and sched_*.c only: what a closed-form schedule is made of.
 *
 * A rank's program is a few segments, each a short pattern of operations repeated, fed by counters (streams) of (stage,
 * micro-batch). From one description follow the number of actions, the i-th action, and an iterator with O(1) state that costs a
 * few instructions per action. */
#ifndef MESHPLAN_SCHED_INTERNAL_H
#define MESHPLAN_SCHED_INTERNAL_H

#include "schedule.h"

/* Most chunks of a rank. */
enum { CHUNKS_MAX = 1024 };

enum { PROGRAM_STREAMS = 7, PROGRAM_SEGMENTS = 14, PATTERN_MAX = 6 };

/* A counter of (stage, micro-batch): in groups of `group` micro-batches (the last may be short) it runs through `chunks` chunks,
 * the stage moving by stage_step; inside a group micro-batches go up or, step -1, down. stage, micro_batch and left are the
 * state. */
struct sched_stream {
	int32_t stage, micro_batch, left, step;
	int32_t chunk, chunks, stage_step, group;
	int32_t first, end; /* first micro-batch of this group; micro-batches end here */
};

/* An operation: stream, kind and overlap in one byte. */
#define OP(stream, kind, overlap) ((uint8_t)((stream) | (kind) << 3 | (overlap) << 5))
enum { OP_STREAM = 7, OP_KIND_SHIFT = 3, OP_KIND = 3, OP_OVERLAP_SHIFT = 5 };

struct sched_segment {
	int64_t n; /* actions, not necessarily whole patterns */
	uint8_t len, op[PATTERN_MAX];
};

struct sched_program {
	struct sched_stream stream[PROGRAM_STREAMS];
	struct sched_segment segment[PROGRAM_SEGMENTS];
	int32_t segments;
	int32_t keep; /* actions of micro-batches from here on are left out (zb-v with few micro-batches); INT32_MAX: none */
};

/* Iterator over a program: the program is its state. */
struct sched_cursor {
	struct sched_program program;
	int64_t left; /* of this segment */
	int32_t segment, at;
};

/* Sets up an empty program. */
void sched_program_init(struct sched_program *g);
/* Stream `s` counts micro-batches of one stage from `first` on. */
void sched_stream_plain(struct sched_program *g, int s, int64_t stage, int64_t first);
/* Stream `s` counts virtual micro-batches in groups: chunks from stage on, `stage_step` apart. */
void sched_stream_groups(
	struct sched_program *g, int s, int64_t stage, int64_t stage_step, int64_t chunks, int64_t group, int64_t m, int step);
/* Appends a segment of n actions; nothing when n <= 0. */
void sched_segment_add(struct sched_program *g, int64_t n, int len, const uint8_t *op);

/* How many actions, and the i-th (0-based). */
int64_t sched_program_count(const struct sched_program *g);
struct action sched_program_at(const struct sched_program *g, int64_t i);

/* Next group or next chunk of a stream whose chunk is used up. */
void sched_stream_turn(struct sched_stream *s);

static inline void sched_cursor_init(struct sched_cursor *c)
{
	c->segment = 0;
	c->at = 0;
	c->left = c->program.segments > 0 ? c->program.segment[0].n : 0;
}

/* The next action; the caller knows how many there are. */
static inline struct action sched_cursor_next(struct sched_cursor *c)
{
	for (;;) {
		const struct sched_segment *g = &c->program.segment[c->segment];
		uint8_t op = g->op[c->at];
		struct sched_stream *s = &c->program.stream[op & OP_STREAM];
		struct action a = { .kind = (uint8_t)(op >> OP_KIND_SHIFT & OP_KIND),
			.overlap = (uint8_t)(op >> OP_OVERLAP_SHIFT),
			.stage = s->stage,
			.micro_batch = s->micro_batch };

		s->micro_batch += s->step;
		if (--s->left == 0)
			sched_stream_turn(s);
		if (++c->at == g->len)
			c->at = 0;
		if (--c->left == 0 && c->segment + 1 < c->program.segments) {
			c->left = g[1].n;
			c->segment++;
			c->at = 0;
		}
		if (a.micro_batch < c->program.keep)
			return a;
	}
}

/* Programs: sched_loop.c, sched_zb.c, sched_v.c, sched_dualpipe.c. */
void sched_naive(const struct pipeline *pl, int64_t rank, struct sched_program *g);
void sched_gpipe(const struct pipeline *pl, int64_t rank, struct sched_program *g);
void sched_looped_bfs(const struct pipeline *pl, int64_t rank, struct sched_program *g);
void sched_interleaved(const struct pipeline *pl, int64_t rank, struct sched_program *g);
void sched_zb1p(const struct pipeline *pl, int64_t rank, struct sched_program *g);
void sched_zb_v(const struct pipeline *pl, int64_t rank, struct sched_program *g);
void sched_dualpipe(const struct pipeline *pl, int64_t rank, struct sched_program *g);
/* Forwards before the first backward. */
int64_t sched_interleaved_warm_up(const struct pipeline *pl, int64_t rank);

/* Greedy generators: sched_zb.c, sched_zbv.c, sched_vslots.c, sched_1f1bv.c. */
extern const struct greedy_order sched_zb, sched_zbv, sched_vslots, sched_1f1bv;

/* The costs that greedy generators plan with, defaults put in. */
struct order_costs sched_costs(const struct pipeline *pl);

/* Makespans and peaks of the rows: sched_makespan.c, sched_peak.c. */
#define SCHED_MAKESPAN(name)                                                                                                     \
	int64_t makespan_##name(const struct pipeline *pl, int64_t f, int64_t i, int64_t w, int64_t c, bool *exact)
SCHED_MAKESPAN(naive);
SCHED_MAKESPAN(gpipe);
SCHED_MAKESPAN(looped_bfs);
SCHED_MAKESPAN(1f1b);
SCHED_MAKESPAN(interleaved);
SCHED_MAKESPAN(zb1p);
SCHED_MAKESPAN(zb2);
SCHED_MAKESPAN(zb_v);
SCHED_MAKESPAN(v_half);
SCHED_MAKESPAN(v_min);
SCHED_MAKESPAN(1f1b_v);
SCHED_MAKESPAN(dualpipe);
/* Of a program without a formula. */
SCHED_MAKESPAN(run);
#define SCHED_PEAK(name) struct chunk_peak peak_##name(const struct pipeline *pl, int64_t rank, int64_t k)
SCHED_PEAK(interleaved);
SCHED_PEAK(zb_h1);
SCHED_PEAK(zb2);
SCHED_PEAK(zb_v);
SCHED_PEAK(v_even);
SCHED_PEAK(dualpipe);

#endif
