/* What ranks hold in flight at their peaks: followed through the rank's program, or stated by the row. */
#include "sched_internal.h"

#include "num.h"

#include <math.h>
#include <string.h>

/* Chunk k of `started` virtual forwards in groups. */
static int64_t share_of_chunk(const struct pipeline *pl, int64_t started, int64_t k)
{
	int64_t g = pipeline_group(pl), round = g * pl->v, whole = started / round * g, rest = started % round,
		size = num_min(g, pl->m - whole);

	return whole + num_min(size, num_max(0, rest - k * size));
}

/* The peak is the forward that ends the warm-up plus one: w + 1 virtual forwards have started (or all of them), none of their
 * backwards has finished. */
SCHED_PEAK(interleaved)
{
	int64_t started = num_min(sched_interleaved_warm_up(pl, rank) + 1, pl->m * pl->v);

	return (struct chunk_peak){ pl->v == 1 ? started : share_of_chunk(pl, started, k), 0 };
}

SCHED_PEAK(zb_h1)
{
	int64_t whole = num_min(pl->m, pl->p - rank);

	(void)k;
	return (struct chunk_peak){ whole, num_min(rank, pl->m - whole) };
}

/* Rank r of a pipeline with limit L keeps L - r whole ones in published runs (arXiv 2401.10241 table 4), more than the orders at
 * equal times do (L - 1 - 2 r whole, the rest pending). */
SCHED_PEAK(zb2)
{
	int64_t limit = pl->schedule == SCHEDULE_ZB_H2 ? 2 * pl->p - 1 : 2 * pl->p;

	(void)k;
	return (struct chunk_peak){ num_min(pl->m, limit - rank), 0 };
}

/* 2p chunks on every rank: the first leg is ahead by what the rank is away from the turn. */
SCHED_PEAK(zb_v)
{
	return (struct chunk_peak){ num_min(pl->m, k == 0 ? 2 * pl->p - 1 - rank : rank + 1), 0 };
}

/* Both legs alike: floor((p+2)/2), floor((p+4)/3), floor(2p/3) + 1 micro-batches. */
SCHED_PEAK(v_even)
{
	int64_t p = pl->p,
		n = pl->schedule == SCHEDULE_V_HALF ? (p + 2) / 2
		: pl->schedule == SCHEDULE_V_MIN    ? (p + 4) / 3
						    : 2 * p / 3 + 1;

	(void)rank;
	(void)k;
	return (struct chunk_peak){ num_min(pl->m, n), 0 };
}

/* At the first overlapped block: its F counts before its B frees. Chunk 0 of a rank is stage `rank`. */
SCHED_PEAK(dualpipe)
{
	bool both = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL, far = both && rank >= pl->p / 2;
	int64_t q = far ? pl->p - 1 - rank : rank, ahead = both ? pl->p - q : 2 * pl->p - q;

	return (struct chunk_peak){ (k == 0) != far ? ahead : q + 1, 0 };
}

/* A rank on its way through its program. */
struct walk {
	int32_t p; /* ranks of a loop; 0: not on a loop */
	int32_t rank;
	struct sched_cursor cursor;
	struct chunk_weight weight[CHUNKS_MAX]; /* whole numbers, so that equal instants are equal; pending ones always count */
	struct chunk_peak held[CHUNKS_MAX];
	double now, most;
};

/* An operation, so many times. */
static inline void hold(struct walk *w, int kind, int32_t stage, int64_t times)
{
	static const int8_t whole[ACTION_KIND_COUNT] = { 1, -1, -1, 0 }, pending[ACTION_KIND_COUNT] = { 0, 0, 1, -1 };
	int32_t k = w->p > 0 ? stage / w->p : stage != w->rank;

	w->held[k].whole += whole[kind] * times;
	w->held[k].pending += pending[kind] * times;
	w->now += (double)times * (whole[kind] * w->weight[k].whole + pending[kind] * w->weight[k].pending);
}

/* Whole patterns ahead in which no stream turns: each does what the one before it did. */
static int64_t patterns_alike(const struct sched_cursor *c)
{
	const struct sched_segment *g = &c->program.segment[c->segment];
	int64_t n = c->left / g->len;

	if (c->at != 0 || c->program.keep != INT32_MAX)
		return 0;
	for (int i = 0; i < g->len; i++) {
		int32_t left = c->program.stream[g->op[i] & OP_STREAM].left, uses = 0;

		for (int k = 0; k < g->len && left < c->left; k++)
			uses += ((g->op[i] ^ g->op[k]) & OP_STREAM) == 0;
		n = uses > 0 ? num_min(n, left / uses) : n;
	}
	return n;
}

/* Leaves out n patterns that are alike; at least one must be left. */
static void skip_patterns(struct walk *w, int64_t n)
{
	struct sched_cursor *c = &w->cursor;
	const struct sched_segment *g = &c->program.segment[c->segment];

	for (int i = 0; i < g->len; i++) {
		struct sched_stream *s = &c->program.stream[g->op[i] & OP_STREAM];

		hold(w, g->op[i] >> OP_KIND_SHIFT & OP_KIND, s->stage, n);
		s->left -= (int32_t)n;
		s->micro_batch += (int32_t)n * s->step;
	}
	c->left -= n * g->len;
}

/* With so many micro-batches the fill, one round of the steady part and the drain are there: more add rounds like that one. */
static struct pipeline with_one_round(const struct pipeline *pl)
{
	struct pipeline few = *pl;
	int64_t g = pipeline_group(pl), least = num_ceil_div(2 * pl->p, pl->v) + 2 * g;

	if (!schedule_table[pl->schedule].has_groups)
		return few;
	few.group = g;
	few.m -= num_max(0, pl->m - least) / g * g;
	return few;
}

/* What is held changes linearly while patterns are alike: their first or their last holds most. */
static void follow(struct walk *w, struct chunk_peak *most, size_t bytes)
{
	for (int64_t left = sched_program_count(&w->cursor.program); left > 0;) {
		int64_t alike = patterns_alike(&w->cursor),
			len = alike > 2 ? w->cursor.program.segment[w->cursor.segment].len : 1;

		for (int64_t i = 0; i < len; i++) {
			struct action a = sched_cursor_next(&w->cursor);

			hold(w, a.kind, a.stage, 1);
			if (w->now > w->most) {
				w->most = w->now;
				memcpy(most, w->held, bytes);
			}
		}
		left -= len;
		if (alike > 2) {
			skip_patterns(w, alike - 2);
			left -= (alike - 2) * len;
		}
	}
}

static void follow_program(const struct pipeline *pl, int64_t rank, const struct chunk_weight *weight, struct chunk_peak *held)
{
	struct walk w;
	int64_t n = pipeline_chunks_held(pl);
	size_t bytes = (size_t)n * sizeof *held;
	struct pipeline few = with_one_round(pl);

	w.p = pipeline_placement(pl) == PLACEMENT_LOOP ? (int32_t)pl->p : 0;
	w.rank = (int32_t)rank;
	w.now = w.most = 0;
	for (int64_t k = 0; k < n; k++)
		w.weight[k] = weight == NULL
			? (struct chunk_weight){ 0x1p21, 1 }
			: (struct chunk_weight){ nearbyint(weight[k].whole), fmax(1, nearbyint(weight[k].pending)) };
	schedule_table[pl->schedule].program(&few, rank, &w.cursor.program);
	sched_cursor_init(&w.cursor);
	memset(w.held, 0, bytes);
	memset(held, 0, bytes);
	follow(&w, held, bytes);
}

/* A program's formula is for chunks that weigh alike, no less before I than behind it, and where a schedule needs so many
 * micro-batches for its order, for that order. */
static bool formula_holds(const struct pipeline *pl, const struct chunk_weight *weight, int64_t n)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];

	if (info->peak == NULL || (info->zero_bubble && pl->m < 2 * pl->p - 1))
		return false;
	for (int64_t k = 0; k < n && weight != NULL; k++)
		if (weight[k].whole < weight[0].whole || weight[k].whole > weight[0].whole ||
			(info->splits && weight[k].pending > weight[k].whole))
			return false;
	return true;
}

void pipeline_peak(const struct pipeline *pl, int64_t rank, const struct chunk_weight *weight, struct chunk_peak *held)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];
	int64_t n = pipeline_chunks_held(pl);

	if (info->greedy == NULL && !formula_holds(pl, weight, n)) {
		follow_program(pl, rank, weight, held);
		return;
	}
	for (int64_t k = 0; k < n; k++)
		held[k] = info->peak(pl, rank, k);
}

int64_t pipeline_in_flight(const struct pipeline *pl, int64_t rank)
{
	struct chunk_peak held[CHUNKS_MAX];
	int64_t sum = 0;

	pipeline_peak(pl, rank, NULL, held);
	for (int64_t k = 0; k < pipeline_chunks_held(pl); k++)
		sum += held[k].whole + held[k].pending;
	return sum;
}

bool pipeline_is_exact(const struct pipeline *pl)
{
	return pl->p == 1 || schedule_table[pl->schedule].greedy == NULL;
}
