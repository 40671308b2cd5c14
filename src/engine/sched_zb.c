/* Zero bubble schedules on the loop placement.
 *
 * zb1p-interleaved in PyTorch's closed form (ScheduleInterleavedZeroBubble): N = m v virtual micro-batches, w = min(N, (v-1) g +
 * (p-1-r)) forwards first (factor 1, not the 2 of interleaved 1F1B), then F I, and W of a virtual micro-batch r slots after its
 * I, so that every rank holds (v-1) g + p chunks. One chunk is ZB-H1 as PyTorch builds it.
 *
 * zb-h1, zb-h2, zb-2p: greedy (Qi 2023; sail-sg/zero-bubble zb.py, manual_order). Micro-batch by micro-batch, first one F on
 * every rank down the pipeline where the memory limit (p, 2p-1, 2p chunks between F and W) allows it, then one I on every rank
 * up; waiting time before either is filled with pending W. Eight variants of three choices are tried, the one with the shortest
 * longest rank wins. */
#include "sched_internal.h"

#include "num.h"

#include <stdlib.h>
#include <string.h>

void sched_zb1p(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	enum { F, I, W };
	static const uint8_t f[] = { OP(F, ACTION_FORWARD, 0) }, fi[] = { OP(F, ACTION_FORWARD, 0), OP(I, ACTION_INPUT, 0) };
	static const uint8_t fiw[] = { OP(F, ACTION_FORWARD, 0), OP(I, ACTION_INPUT, 0), OP(W, ACTION_WEIGHT, 0) };
	static const uint8_t i[] = { OP(I, ACTION_INPUT, 0) }, iw[] = { OP(I, ACTION_INPUT, 0), OP(W, ACTION_WEIGHT, 0) };
	static const uint8_t w[] = { OP(W, ACTION_WEIGHT, 0) };
	int64_t group = pipeline_group(pl), n = pl->m * pl->v, warm = num_min(n, (pl->v - 1) * group + pl->p - 1 - rank);
	int64_t steady = n - warm, without_w = num_min(rank, steady), bare = num_min(num_max(rank - steady, 0), warm);

	sched_program_init(g);
	sched_stream_groups(g, F, rank, pl->p, pl->v, group, pl->m, 1);
	sched_stream_groups(g, I, (pl->v - 1) * pl->p + rank, -pl->p, pl->v, group, pl->m, 1);
	sched_stream_groups(g, W, (pl->v - 1) * pl->p + rank, -pl->p, pl->v, group, pl->m, 1);
	sched_segment_add(g, warm, 1, f);
	sched_segment_add(g, 2 * without_w, 2, fi);
	sched_segment_add(g, 3 * (steady - without_w), 3, fiw);
	sched_segment_add(g, bare, 1, i);
	sched_segment_add(g, 2 * (warm - bare), 2, iw);
	sched_segment_add(g, num_min(rank, n), 1, w);
}

enum { VARIANTS = 8, DONE = VARIANTS + 1 };

/* One run of the greedy. Per rank: clock, counts, memory, bubble; the bubble of a rank never shrinks, so the largest is one
 * number. */
struct zb_rank {
	int64_t clock, first_start, last_w;
	int32_t f, b, w, mem, wanted, out;
	int64_t bubble;
};

struct zb {
	int64_t p, m, limit, largest_bubble;
	int64_t round; /* of this variant; m: the variant is done */
	int64_t best;
	int variant, chosen; /* VARIANTS: the chosen one once more, for its list */
	struct order_costs cost;
	bool fill_late, lead,
		eager; /* allow the last warm-up F to be late; hold F back for the next rank; W even where it delays */
	struct zb_rank *rank;
	int64_t *f_end, *b_end, *w_end; /* [rank * m + micro-batch] */
	struct action *list;            /* [rank * 3 m + position] */
};

static void zb_emit(struct zb *z, int64_t j, enum action_kind kind, int32_t micro_batch)
{
	z->list[j * 3 * z->m + z->rank[j].out++] =
		(struct action){ .kind = (uint8_t)kind, .stage = (int32_t)j, .micro_batch = micro_batch };
}

/* Waiting counts as bubble once the rank has begun. */
static void zb_advance(struct zb *z, struct zb_rank *k, int64_t free_end, int64_t end)
{
	if (k->f > 0) {
		k->bubble += end - free_end;
		z->largest_bubble = num_max(z->largest_bubble, k->bubble);
	}
	k->clock = end;
}

static void put_f(struct zb *z, int64_t j)
{
	struct zb_rank *k = &z->rank[j];
	int64_t free_end = k->clock + z->cost.forward, end = free_end;

	if (j > 0)
		end = num_max(end, z->f_end[(j - 1) * z->m + k->f] + z->cost.comm + z->cost.forward);
	zb_advance(z, k, free_end, end);
	if (k->f == 0)
		k->first_start = end - z->cost.forward;
	z->f_end[j * z->m + k->f] = end;
	zb_emit(z, j, ACTION_FORWARD, k->f);
	k->f++;
	k->mem++;
}

static void put_i(struct zb *z, int64_t j)
{
	struct zb_rank *k = &z->rank[j];
	int64_t free_end = k->clock + z->cost.input, end = free_end;

	if (j < z->p - 1)
		end = num_max(end, z->b_end[(j + 1) * z->m + k->b] + z->cost.comm + z->cost.input);
	zb_advance(z, k, free_end, end);
	z->b_end[j * z->m + k->b] = end;
	zb_emit(z, j, ACTION_INPUT, k->b);
	k->b++;
}

static void put_w(struct zb *z, int64_t j)
{
	struct zb_rank *k = &z->rank[j];

	k->clock += z->cost.weight;
	z->w_end[j * z->m + k->w] = k->clock;
	zb_emit(z, j, ACTION_WEIGHT, k->w);
	k->w++;
	k->mem--;
}

/* Pending W while they end before `ready`, then perhaps one that delays. */
static void fill_with_w(struct zb *z, int64_t j, int64_t ready)
{
	struct zb_rank *k = &z->rank[j];

	while (k->w < k->b && k->clock + z->cost.weight <= ready)
		put_w(z, j);
	if (k->w < k->b && k->clock < ready && (z->eager || ready - k->clock > z->largest_bubble - k->bubble))
		put_w(z, j);
}

/* Micro-batch 0, and as many forwards more as fit before its gradient arrives, strictly fewer on each later rank. */
static void zb_warm_up(struct zb *z)
{
	int64_t last;

	for (int64_t j = 0; j < z->p; j++)
		put_f(z, j);
	last = z->f_end[(z->p - 1) * z->m] + z->cost.input;
	for (int64_t j = z->p - 1; j >= 0; j--) {
		struct zb_rank *k = &z->rank[j];
		int64_t clock = k->clock, arrival = last + z->cost.comm;

		k->wanted = 0;
		if (j == z->p - 1)
			continue;
		while (k->f + k->wanted < z->m && k->mem + k->wanted + 1 <= z->limit &&
			!(z->fill_late ? clock + z->cost.forward > arrival : clock >= arrival)) {
			clock += z->cost.forward;
			k->wanted++;
		}
		last = num_max(clock, arrival) + z->cost.input;
	}
	for (int64_t j = 1; j < z->p; j++)
		while (z->rank[j].wanted > 0 && z->rank[j].wanted >= z->rank[j - 1].wanted &&
			z->rank[j].f + z->rank[j].wanted < z->m)
			z->rank[j].wanted--;
	for (int64_t j = 0; j < z->p; j++)
		for (int32_t n = z->rank[j].wanted; n > 0; n--)
			put_f(z, j);
	for (int64_t j = z->p - 1; j >= 0; j--)
		put_i(z, j);
}

/* Whether rank j asks for a forward in this round. */
static bool wants_f(const struct zb *z, int64_t j)
{
	const struct zb_rank *k = &z->rank[j], *next = k + 1;
	int64_t arrival, needed = 0;

	if (k->f >= z->m)
		return false;
	if (!z->lead || j + 1 >= z->p || k->f < next->f + 2)
		return true;
	/* When the next rank's gradient could be here if it ran F and I now. */
	arrival = next->clock + z->cost.forward + z->cost.input + z->cost.comm;
	if (k->clock >= arrival)
		return false;
	while (k->mem + 1 - needed > z->limit && k->w + needed < k->b)
		needed++;
	return k->clock + z->cost.forward + needed * z->cost.weight <= arrival ||
		arrival - k->clock > z->largest_bubble - k->bubble;
}

static void zb_round(struct zb *z, int64_t i)
{
	for (int64_t j = 0; j < z->p; j++)
		z->rank[j].wanted = wants_f(z, j);
	/* A rank runs ahead only if all later ranks take a forward too. */
	for (int64_t j = z->p - 2; j >= 0; j--)
		z->rank[j].wanted = z->rank[j].wanted < z->rank[j + 1].wanted ? z->rank[j].wanted : z->rank[j + 1].wanted;
	for (int64_t j = 0; j < z->p; j++) {
		if (!z->rank[j].wanted)
			continue;
		while (z->rank[j].mem + 1 > z->limit && z->rank[j].w < z->rank[j].b)
			put_w(z, j);
		if (j > 0)
			fill_with_w(z, j, z->f_end[(j - 1) * z->m + z->rank[j].f] + z->cost.comm);
		put_f(z, j);
	}
	for (int64_t j = z->p - 1; j >= 0; j--) {
		if (j + 1 < z->p)
			fill_with_w(z, j, z->b_end[(j + 1) * z->m + i] + z->cost.comm);
		/* Rank 0 has nobody to feed: once its forwards are done it empties its list of W. */
		if (j == 0 && z->rank[0].f == z->m)
			while (z->rank[0].w < z->rank[0].b)
				put_w(z, 0);
		put_i(z, j);
	}
}

static void zb_begin_variant(struct zb *z, int choices)
{
	z->fill_late = !(choices & 4);
	z->lead = !(choices & 2);
	z->eager = !(choices & 1);
	z->largest_bubble = 0;
	memset(z->rank, 0, (size_t)z->p * sizeof *z->rank);
	zb_warm_up(z);
}

/* The W that are left. Returns the score of the variant: the longest time of a rank from its first start to its last end. */
static int64_t zb_end_variant(struct zb *z)
{
	int64_t longest = 0;

	for (int64_t j = 0; j < z->p; j++) {
		while (z->rank[j].w < z->m)
			put_w(z, j);
		longest = num_max(longest, z->rank[j].clock - z->rank[j].first_start);
	}
	return longest;
}

/* With an action that takes no time the original order is by end, then F, I, W, then micro-batch. Merges the three rising
 * sequences. */
static void sort_rank(const struct zb *z, int64_t j)
{
	const int64_t *end[] = { z->f_end + j * z->m, z->b_end + j * z->m, z->w_end + j * z->m };
	static const uint8_t kinds[] = { ACTION_FORWARD, ACTION_INPUT, ACTION_WEIGHT };
	int64_t next[3] = { 0 };

	for (int64_t at = 0; at < 3 * z->m; at++) {
		int best = -1;

		for (int k = 0; k < 3; k++)
			if (next[k] < z->m && (best < 0 || end[k][next[k]] < end[best][next[best]]))
				best = k;
		z->list[j * 3 * z->m + at] =
			(struct action){ .kind = kinds[best], .stage = (int32_t)j, .micro_batch = (int32_t)next[best]++ };
	}
}

struct order_costs sched_costs(const struct pipeline *pl)
{
	if (pl->costs.forward == 0 && pl->costs.input == 0 && pl->costs.weight == 0)
		return (struct order_costs){ 1, 1, 1, 0 };
	return pl->costs;
}

static int64_t scratch_bytes(const struct pipeline *pl)
{
	return (int64_t)sizeof(struct zb) + pl->p * (int64_t)sizeof(struct zb_rank) +
		pl->p * pl->m * (3 * (int64_t)sizeof(int64_t));
}

static void begin(const struct pipeline *pl, void *scratch, struct action *list)
{
	struct zb *z = scratch;

	*z = (struct zb){ .p = pl->p, .m = pl->m, .cost = sched_costs(pl), .list = list };
	z->limit = pl->schedule == SCHEDULE_ZB_H1 ? pl->p : pl->schedule == SCHEDULE_ZB_H2 ? 2 * pl->p - 1 : 2 * pl->p;
	z->f_end = (int64_t *)(z + 1);
	z->b_end = z->f_end + pl->p * pl->m;
	z->w_end = z->b_end + pl->p * pl->m;
	z->rank = (struct zb_rank *)(z->w_end + pl->p * pl->m);
}

/* After a variant: the next one, or none where the list is that of the best. No rank can be faster than its work. */
static void zb_choose(struct zb *z)
{
	int64_t score = zb_end_variant(z), least = z->m * (z->cost.forward + z->cost.input + z->cost.weight);

	z->round = 0;
	if (z->variant < VARIANTS && (z->variant == 0 || score < z->best)) {
		z->best = score;
		z->chosen = z->variant;
	}
	if (z->variant == VARIANTS || z->best == least || (z->variant == VARIANTS - 1 && z->chosen == z->variant)) {
		z->variant = DONE;
		for (int64_t j = 0; j < z->p && (z->cost.forward == 0 || z->cost.input == 0 || z->cost.weight == 0); j++)
			sort_rank(z, j);
		return;
	}
	z->variant++;
}

static int64_t step(void *scratch)
{
	struct zb *z = scratch;

	if (z->variant == DONE)
		return 0;
	if (z->round == 0)
		zb_begin_variant(z, z->variant == VARIANTS ? z->chosen : z->variant);
	else
		zb_round(z, z->round);
	if (++z->round == z->m)
		zb_choose(z);
	return 3 * z->p;
}

static double share(const void *scratch)
{
	const struct zb *z = scratch;

	return (z->variant + (double)z->round / (double)z->m) / (VARIANTS + 1);
}

const struct greedy_order sched_zb = { scratch_bytes, begin, step, share };
