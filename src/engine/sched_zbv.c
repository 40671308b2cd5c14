/* zb-v-sail: ZB-V as its authors generate it, greedy and from measured costs (Qi 2023 sec. 6; sail-sg/zero-bubble zbv.py
 * PipelineGraph).
 *
 * Rank r holds stages r and 2p-1-r. The chunk of an action counts in the direction of travel: chunk 0 goes from rank 0 to p-1,
 * chunk 1 back; so chunk 0 of F is stage r, chunk 0 of I and W is stage 2p-1-r. F takes two units of memory, I and W free one
 * each, 4p units at most. After the fill: per round one I and at most one F on every rank, W in the gaps. A pass may let ranks
 * wait as long as the ranks of the pass before it did; passes go on while the largest bubble shrinks, in four variants (whether W
 * may delay F, I). */
#include "sched_internal.h"

#include "num.h"

#include <stdlib.h>
#include <string.h>

enum { CAT_F, CAT_I, CAT_W };
enum { VARIANTS = 4, DONE = VARIANTS + 1 };

struct zbv_rank {
	int64_t clock, bubble, approved;
	int32_t mem, out;
	int32_t count[2][2]; /* [category][chunk] */
	int32_t pending_head, pending_tail;
};

struct zbv {
	int64_t p, m, largest_bubble, approved_max;
	int64_t pass, round; /* of this variant, of this pass */
	int64_t best, chosen_pass;
	int variant, chosen; /* VARIANTS: the chosen one once more, for its list */
	int64_t last_w;      /* end of the last W of the turning rank: stands for an input that does not exist, -1 before */
	int64_t cost[3], comm;
	bool w_before_f, w_before_i, approves;
	struct zbv_rank *rank;
	int64_t *end;     /* [((category * 2 + chunk) * p + rank) * m + micro-batch], -1 while not placed */
	int32_t *pending; /* [rank * 2 m + position]: micro-batch * 2 + chunk */
	uint8_t *input;   /* [rank]: whose chunk's I runs in this round */
	struct action *list;
};

static int64_t *end_of(const struct zbv *z, int category, int chunk, int64_t rank, int64_t micro_batch)
{
	return &z->end[(((int64_t)category * 2 + chunk) * z->p + rank) * z->m + micro_batch];
}

static int64_t slack(const struct zbv *z, const struct zbv_rank *k)
{
	int64_t allowed = z->approves ? z->approved_max - k->approved : 0;

	return num_max(z->largest_bubble, allowed) - k->bubble;
}

static void zbv_emit(struct zbv *z, int64_t i, int category, int chunk, int64_t micro_batch)
{
	static const uint8_t kinds[] = { ACTION_FORWARD, ACTION_INPUT, ACTION_WEIGHT };
	bool near = (category == CAT_F) == (chunk == 0);

	z->list[i * 6 * z->m + z->rank[i].out++] = (struct action){
		.kind = kinds[category], .stage = (int32_t)(near ? i : 2 * z->p - 1 - i), .micro_batch = (int32_t)micro_batch
	};
}

static bool has_w(const struct zbv_rank *k)
{
	return k->pending_head < k->pending_tail;
}

static void put_w(struct zbv *z, int64_t i)
{
	struct zbv_rank *k = &z->rank[i];
	int32_t item = z->pending[i * 2 * z->m + k->pending_head++];

	k->clock += z->cost[CAT_W];
	k->mem--;
	if (i == z->p - 1 && item == 2 * (z->m - 1) + 1)
		z->last_w = k->clock;
	zbv_emit(z, i, CAT_W, item % 2, item / 2);
}

/* End of what the next F or I of a chunk waits for; -1: no such producer, *exists tells (it may also be not placed yet). */
static int64_t producer_end(const struct zbv *z, int category, int chunk, int64_t i, bool *exists)
{
	int64_t from = chunk == 0 ? i - 1 : i + 1;

	*exists = from >= 0 && from < z->p;
	return *exists ? *end_of(z, category, chunk, from, z->rank[i].count[category][chunk]) : -1;
}

static void put(struct zbv *z, int category, int chunk, int64_t i)
{
	struct zbv_rank *k = &z->rank[i];
	int32_t micro_batch = k->count[category][chunk];
	int64_t free_end = k->clock + z->cost[category], end = free_end, from;
	bool exists;

	from = producer_end(z, category, chunk, i, &exists);
	if (exists)
		end = num_max(end, from + z->comm + z->cost[category]);
	if (k->count[CAT_F][0] > 0) {
		k->bubble += end - free_end;
		z->largest_bubble = num_max(z->largest_bubble, k->bubble);
	}
	*end_of(z, category, chunk, i, micro_batch) = end;
	k->clock = end;
	k->mem += category == CAT_F ? 2 : -1;
	zbv_emit(z, i, category, chunk, micro_batch);
	if (category == CAT_I)
		z->pending[i * 2 * z->m + k->pending_tail++] = 2 * micro_batch + chunk;
	k->count[category][chunk]++;
}

/* Fills the wait for the input with pending W, then perhaps one that delays, and puts the action. */
static void put_after_w(struct zbv *z, int category, int chunk, int64_t i, bool may_delay)
{
	struct zbv_rank *k = &z->rank[i];
	bool exists;
	int64_t ready = producer_end(z, category, chunk, i, &exists);

	while (has_w(k) && exists && ready + z->comm >= k->clock + z->cost[CAT_W])
		put_w(z, i);
	/* The original reads the end of the turning rank's last W where there is no producer. */
	if (!exists)
		ready = z->last_w;
	if (has_w(k) && ready + z->comm - k->clock > slack(z, k) && may_delay)
		put_w(z, i);
	put(z, category, chunk, i);
}

static void zbv_fill(struct zbv *z)
{
	int chunk = 0;

	for (int64_t i = 0; i < z->p; i++)
		put(z, CAT_F, 0, i);
	for (int64_t i = z->p - 1; i >= 0; i--) {
		const struct zbv_rank *k = &z->rank[i];

		if (i < z->p - 1) {
			int64_t arrival = *end_of(z, CAT_F, 1, i + 1, 0) + z->comm;

			while (k->mem + 2 * (2 + 2 * i) <= 4 * z->p && k->clock + z->cost[CAT_F] <= arrival &&
				k->count[CAT_F][0] < z->m)
				for (int64_t j = 0; j <= i; j++)
					put(z, CAT_F, 0, j);
		}
		put(z, CAT_F, 1, i);
	}
	/* Every rank at least as many forwards as the one before it, and more of chunk 1. */
	for (int64_t i = 1; i < z->p; i++) {
		const int32_t *mine = z->rank[i].count[CAT_F], *before = z->rank[i - 1].count[CAT_F];

		while (mine[0] + mine[1] < before[0] + before[1] || (mine[1] <= before[1] && before[1] < z->m)) {
			for (int64_t j = z->p - 1; j >= i; j--)
				if (z->rank[j].count[CAT_F][chunk] < z->m)
					put(z, CAT_F, chunk, j);
			chunk ^= 1;
		}
	}
}

/* Which chunk's I rank i runs in this round. */
static int input_chunk(const struct zbv *z, int64_t i)
{
	const int32_t *b = z->rank[i].count[CAT_I];

	if (b[1] >= b[0])
		return 0;
	return i == z->p - 1 || b[0] >= z->m || *end_of(z, CAT_I, 1, i + 1, b[1]) >= 0;
}

/* Decides for all ranks first: chunk 1 from the last rank up, then chunk 0 from the first down. */
static void input_round(struct zbv *z)
{
	for (int64_t i = 0; i < z->p; i++)
		z->input[i] = (uint8_t)input_chunk(z, i);
	for (int64_t i = z->p - 1; i >= 0; i--)
		if (z->input[i] == 1)
			put_after_w(z, CAT_I, 1, i, true);
	for (int64_t i = 0; i < z->p; i++)
		if (z->input[i] == 0)
			put_after_w(z, CAT_I, 0, i, z->w_before_i);
}

/* Which chunk's F rank i runs now, -1: none. */
static int forward_chunk(const struct zbv *z, int64_t i)
{
	const int32_t *f = z->rank[i].count[CAT_F];

	if (f[1] >= z->m)
		return -1;
	if (f[1] >= f[0])
		return 0;
	if (i == z->p - 1 || *end_of(z, CAT_F, 1, i + 1, f[1]) >= 0)
		return 1;
	return f[0] < z->m && (i == 0 || *end_of(z, CAT_F, 0, i - 1, f[0]) >= 0) ? 0 : -1;
}

static void forward_round(struct zbv *z)
{
	for (int64_t i = 0; i < z->p; i++) {
		int chunk = forward_chunk(z, i);

		if (chunk < 0)
			continue;
		while (z->rank[i].mem + 2 > 4 * z->p && has_w(&z->rank[i]))
			put_w(z, i);
		put_after_w(z, CAT_F, chunk, i, z->w_before_f);
	}
}

/* The beginning of a pass. approves: what the ranks waited in the pass before is in .approved. */
static void zbv_begin_pass(struct zbv *z)
{
	int choices = z->variant == VARIANTS ? z->chosen : z->variant;

	z->w_before_i = !(choices & 2);
	z->w_before_f = !(choices & 1);
	z->largest_bubble = 0;
	z->last_w = -1;
	for (int64_t i = 0; i < z->p; i++)
		z->rank[i] = (struct zbv_rank){ .approved = z->rank[i].approved };
	memset(z->end, 0xFF, (size_t)(4 * z->p * z->m) * sizeof *z->end);
	zbv_fill(z);
}

static void approve(struct zbv *z)
{
	z->approves = true;
	z->approved_max = 0;
	for (int64_t i = 0; i < z->p; i++) {
		z->rank[i].approved = z->rank[i].bubble;
		z->approved_max = num_max(z->approved_max, z->rank[i].bubble);
	}
}

/* Whether the passes of this variant go on: until the bubble no longer shrinks, or up to the chosen one. */
static bool goes_on(const struct zbv *z)
{
	if (z->variant == VARIANTS)
		return z->pass != z->chosen_pass;
	return z->pass == 0 || z->largest_bubble < z->approved_max;
}

/* After a pass: the next one, the next variant, or none where the list is that of the first best pass. */
static void zbv_choose(struct zbv *z)
{
	for (int64_t i = 0; i < z->p; i++)
		while (has_w(&z->rank[i]))
			put_w(z, i);
	if (z->variant < VARIANTS && ((z->variant == 0 && z->pass == 0) || z->largest_bubble < z->best)) {
		z->best = z->largest_bubble;
		z->chosen = z->variant;
		z->chosen_pass = z->pass;
	}
	z->round = 0;
	if (z->best == 0) {
		z->variant = DONE;
	} else if (goes_on(z)) {
		approve(z);
		z->pass++;
	} else {
		z->variant++;
		z->pass = 0;
		z->approves = false;
	}
}

static int64_t scratch_bytes(const struct pipeline *pl)
{
	return (int64_t)sizeof(struct zbv) + pl->p * (int64_t)(sizeof(struct zbv_rank) + 1) +
		pl->p * pl->m * (4 * (int64_t)sizeof(int64_t) + 2 * (int64_t)sizeof(int32_t));
}

static void begin(const struct pipeline *pl, void *scratch, struct action *list)
{
	struct order_costs c = sched_costs(pl);
	struct zbv *z = scratch;

	*z = (struct zbv){ .p = pl->p, .m = pl->m, .cost = { c.forward, c.input, c.weight }, .comm = c.comm, .list = list };
	z->end = (int64_t *)(z + 1);
	z->rank = (struct zbv_rank *)(z->end + 4 * pl->p * pl->m);
	z->pending = (int32_t *)(z->rank + pl->p);
	z->input = (uint8_t *)(z->pending + 2 * pl->p * pl->m);
	memset(z->rank, 0, (size_t)pl->p * sizeof *z->rank);
}

static int64_t step(void *scratch)
{
	struct zbv *z = scratch;

	if (z->variant == DONE)
		return 0;
	if (z->round == 0)
		zbv_begin_pass(z);
	input_round(z);
	forward_round(z);
	if (++z->round == 2 * z->m)
		zbv_choose(z);
	return 3 * z->p;
}

/* How many passes a variant will have is not known: each takes half of what is left. */
static double share(const void *scratch)
{
	const struct zbv *z = scratch;
	double passes = (double)z->pass + (double)z->round / (double)(2 * z->m);

	return (z->variant + 1 - 1 / (1 + passes)) / (VARIANTS + 1);
}

const struct greedy_order sched_zbv = { scratch_bytes, begin, step, share };
