/* V-Half, V-Min and 1F1B-V: patterns on a grid of unit slots, squeezed (Qi 2024, arXiv 2405.15362; sail-sg/zero-bubble
 * zbv_greedy.py, v1f1b.py).
 *
 * All start from a building block that repeats every 6 slots; F of rank i's two chunks and I of both sit at fixed offsets that
 * keep the wanted number of chunks alive. What costs the actions have does not enter.
 *
 * v-half, v-min: W goes into free slots; then every element in the fill and in the drain moves to the earliest slot where its
 * inputs are there and the rank's memory stays below the peak of the block (twice: with W as elements, then with W as what frees
 * memory in free slots), and the grid is squeezed to unit times after each round. Only the order of the slots survives. */
#include "sched_internal.h"

#include "num.h"

#include <stdlib.h>
#include <string.h>

/* Elements: F of chunk A = stage i, f of Z = 2p-1-i, I of Z, I of A, W (of both in turn, or of Z and of A). */
enum { TYPE_F, TYPE_FZ, TYPE_IZ, TYPE_IA, TYPE_W, TYPE_WA, TYPES };
enum { FREE = -1 };

struct cell {
	int32_t type, index;
};

struct profile_cell {
	int32_t mem, pending; /* after the slot; pending: implicit W not yet placed */
};

struct grid {
	struct pipeline pl;
	struct action *list;
	int64_t pass, at;      /* of the passes below; rank or slot that is next */
	int64_t p, m, slots;   /* slots: capacity of a rank's row */
	int64_t longest;       /* of the lengths */
	int phase;             /* 0 the fill until the first I of A on rank 0, 1 the steady part until a last F, 2 the drain */
	int32_t *slot[TYPES];  /* [rank * n + index], n = m or 2 m for TYPE_W */
	struct cell *original; /* [rank * slots + slot] */
	int8_t *current;       /* type in a slot, FREE */
	uint8_t *done;
	struct profile_cell *profile;
	int64_t *length; /* [rank]: used slots */
	int64_t *last;   /* [rank] */
	bool with_w;
	int32_t limit;
};

static int32_t *slot_of(const struct grid *g, int type, int64_t rank, int64_t index)
{
	return &g->slot[type][rank * (type == TYPE_W ? 2 * g->m : g->m) + index];
}

/* Slots of micro-batch 0 on rank i; micro-batch k is 6 k later. */
static int64_t block_slot(const struct pipeline *pl, int type, int64_t i)
{
	int64_t p = pl->p, d = pl->schedule == SCHEDULE_V_MIN ? (p % 3 == 0 ? 2 : 0) : (p % 2 == 0 ? 3 : 0);
	const int64_t least[] = { i, 2 * p - 1 - i, 2 * p + d + i, 4 * p + d - 1 - i };
	const int64_t half[] = { 2 * i, 3 * p - 2 - i, 3 * p + d - 1 + 2 * i, 6 * p + d - 2 - i };

	return pl->schedule == SCHEDULE_V_MIN ? least[type] : half[type];
}

/* Writes the elements of a rank into its row of cells; types 0 .. n - 1. */
static void lay_out(struct grid *g, int64_t rank, int types)
{
	struct cell *row = g->original + rank * g->slots;

	g->length[rank] = 0;
	for (int64_t t = 0; t < g->slots; t++)
		row[t].type = FREE;
	for (int type = 0; type < types; type++) {
		int64_t n = type == TYPE_W && types == TYPE_W + 1 ? 2 * g->m : g->m;

		for (int64_t k = 0; k < n; k++) {
			int64_t t = *slot_of(g, type, rank, k);

			row[t] = (struct cell){ type, (int32_t)k };
			g->length[rank] = num_max(g->length[rank], t + 1);
		}
	}
}

/* W into the free slots of a laid-out row, as soon as an I is there; the rest behind. split: Z and A apart, Z first. */
static void add_w(struct grid *g, int64_t rank, bool split)
{
	struct cell *row = g->original + rank * g->slots;
	int64_t pending[2] = { 0 }, count[2] = { 0 }, t = 0;

	lay_out(g, rank, TYPE_W);
	for (; t < g->length[rank] || pending[0] + pending[1] > 0; t++) {
		int which = pending[0] > 0 ? 0 : 1;

		if (t < g->length[rank] && row[t].type >= TYPE_IZ)
			pending[split ? row[t].type - TYPE_IZ : 0]++;
		if ((t < g->length[rank] && row[t].type != FREE) || pending[which] == 0)
			continue;
		/* Split lists use the same array: Z in the first half, A in the second. */
		g->slot[TYPE_W][rank * 2 * g->m + which * g->m + count[which]++] = (int32_t)t;
		pending[which]--;
	}
}

/* The slot before which an element must not start, less one: its inputs and its predecessor of the same type. */
static int64_t ready_slot(const struct grid *g, int64_t rank, int type, int64_t k)
{
	int64_t d = -1, from = type == TYPE_F || type == TYPE_IZ ? rank - 1 : rank + 1;

	if (type < TYPE_W && from >= 0 && from < g->p)
		d = num_max(d, *slot_of(g, type, from, k));
	if (type > TYPE_F && type < TYPE_W)
		d = num_max(d, *slot_of(g, type - 1, rank, k));
	if (k > 0)
		d = num_max(d, *slot_of(g, type, rank, k - 1));
	return d;
}

/* Lays out a rank for a pass over the slots of all. */
static void lay_out_rank(struct grid *g, int64_t i, int types)
{
	lay_out(g, i, types);
	g->longest = num_max(i > 0 ? g->longest : 0, g->length[i]);
	g->last[i] = -1;
}

static void start_squeeze(struct grid *g, int64_t i)
{
	lay_out_rank(g, i, TYPE_W + 1);
}

/* Unit times, no latency: every element to its earliest slot in the given order. With ready_slot, as slots are ends less one. */
static void squeeze_slot(struct grid *g, int64_t t)
{
	for (int64_t i = 0; i < g->p; i++) {
		struct cell c = g->original[i * g->slots + t];
		int64_t at;

		if (t >= g->length[i] || c.type == FREE)
			continue;
		at = num_max(g->last[i], ready_slot(g, i, c.type, c.index)) + 1;
		*slot_of(g, c.type, i, c.index) = (int32_t)at;
		g->last[i] = at;
	}
}

/* Memory after slot t of a rank, from that before it. */
static struct profile_cell profile_step(const struct grid *g, int8_t type, struct profile_cell c)
{
	static const int32_t change[] = { 1, 1, 0, 0, -1 };

	if (type != FREE) {
		c.mem += change[type];
		c.pending += !g->with_w && (type == TYPE_IZ || type == TYPE_IA);
	} else if (c.pending > 0) {
		c.mem--;
		c.pending--;
	}
	return c;
}

static void profile_rank(struct grid *g, int64_t i)
{
	struct profile_cell c = { 0 };

	for (int64_t t = 0; t < g->slots; t++) {
		g->current[i * g->slots + t] = (int8_t)(t < g->length[i] ? g->original[i * g->slots + t].type : FREE);
		if (t < g->length[i])
			c = profile_step(g, g->current[i * g->slots + t], c);
		g->profile[i * g->slots + t] = c;
		g->limit = c.mem > g->limit ? c.mem : g->limit;
	}
	memset(g->done + i * g->slots, 0, (size_t)g->slots);
}

/* Moves the element of slot t to x if the rank's memory stays within the limit: the profile is walked from x until it meets the
 * old one. The walk is done twice, so that a refused move has written nothing. */
static bool try_move(struct grid *g, int64_t rank, int64_t t, int64_t x)
{
	int8_t *current = g->current + rank * g->slots, type = current[t];
	struct profile_cell *profile = g->profile + rank * g->slots, c = x > 0 ? profile[x - 1] : (struct profile_cell){ 0 },
			    start = c;
	int64_t end = x;

	current[t] = FREE;
	current[x] = type;
	for (; end < g->slots; end++) {
		c = profile_step(g, current[end], c);
		if (c.mem > g->limit) {
			current[t] = type;
			current[x] = FREE;
			return false;
		}
		if (end >= t && c.mem == profile[end].mem && c.pending == profile[end].pending)
			break;
	}
	c = start;
	for (int64_t u = x; u < end; u++) {
		c = profile_step(g, current[u], c);
		profile[u] = c;
	}
	return true;
}

/* k-th smallest (from 0) of the slots of both kinds of I on a rank. */
static int64_t kth_input(const struct grid *g, int64_t rank, int64_t k)
{
	const int32_t *a = slot_of(g, TYPE_IZ, rank, 0), *b = slot_of(g, TYPE_IA, rank, 0);
	int64_t low = num_max(0, k - g->m), high = num_min(k, g->m), y;

	while (low < high) {
		int64_t x = (low + high) / 2;

		if (a[x] < b[k - x - 1])
			low = x + 1;
		else
			high = x;
	}
	y = k - low;
	if (low >= g->m)
		return b[y];
	return y >= g->m ? a[low] : num_min(a[low], b[y]);
}

/* Only the fill, and that only with W, and the drain. */
static bool is_movable(struct grid *g, int64_t rank, struct cell c)
{
	if (g->phase == 0 && c.type == TYPE_IA && rank == 0)
		g->phase = 1;
	if (g->phase == 1) {
		if (c.type == TYPE_F && c.index == g->m - 1)
			g->phase = 2;
		return false;
	}
	return g->phase == 2 || g->with_w;
}

static void settle(struct grid *g, int64_t rank, int64_t t, struct cell c)
{
	uint8_t *done = g->done + rank * g->slots;
	int64_t first = ready_slot(g, rank, c.type, c.index), to = t;

	if (c.type == TYPE_W)
		first = num_max(first, kth_input(g, rank, c.index));
	for (int64_t x = first + 1; x < t; x++) {
		if (done[x] || !try_move(g, rank, t, x))
			continue;
		*slot_of(g, c.type, rank, c.index) = (int32_t)x;
		to = x;
		break;
	}
	done[to] = 1;
}

/* A rank before its elements settle: with W as elements, or as what frees memory in free slots. */
static void start_settling(struct grid *g, int64_t i, bool with_w)
{
	if (i == 0) {
		g->limit = 0;
		g->phase = 0;
	}
	g->with_w = with_w;
	if (with_w)
		add_w(g, i, false);
	lay_out_rank(g, i, with_w ? TYPE_W + 1 : TYPE_W);
	profile_rank(g, i);
}

static void start_with_w(struct grid *g, int64_t i)
{
	start_settling(g, i, true);
}

static void start_without_w(struct grid *g, int64_t i)
{
	start_settling(g, i, false);
}

static void settle_slot(struct grid *g, int64_t t)
{
	for (int64_t i = 0; i < g->p; i++) {
		struct cell c = g->original[i * g->slots + t];

		if (t >= g->length[i] || c.type == FREE)
			continue;
		if (is_movable(g, i, c))
			settle(g, i, t, c);
		else
			g->done[i * g->slots + t] = 1;
	}
}

static void place_w(struct grid *g, int64_t i)
{
	add_w(g, i, false);
}

/* Longest row: the block, a slot per W behind, and two squeezes never make it longer. */
static int64_t grid_slots(const struct pipeline *pl)
{
	return 6 * (pl->m + pl->p) + 2 * pl->m + 16;
}

static int64_t scratch_bytes(const struct pipeline *pl)
{
	int64_t slots = grid_slots(pl),
		cell = (int64_t)(sizeof(struct cell) + sizeof(struct profile_cell) + sizeof(int8_t) + sizeof(uint8_t));

	return (int64_t)sizeof(struct grid) +
		pl->p * (slots * cell + 6 * pl->m * (int64_t)sizeof(int32_t) + 2 * (int64_t)sizeof(int64_t));
}

static void begin(const struct pipeline *pl, void *scratch, struct action *list)
{
	struct grid *g = scratch;
	int64_t cells;
	int32_t *slot;

	*g = (struct grid){ .pl = *pl, .list = list, .p = pl->p, .m = pl->m, .slots = grid_slots(pl) };
	cells = g->p * g->slots;
	g->length = (int64_t *)(g + 1);
	g->last = g->length + g->p;
	g->original = (struct cell *)(g->last + g->p);
	g->profile = (struct profile_cell *)(g->original + cells);
	slot = (int32_t *)(g->profile + cells);
	for (int type = 0; type <= TYPE_W; type++) {
		g->slot[type] = slot;
		slot += g->p * g->m;
	}
	slot += g->p * g->m;
	g->current = (int8_t *)slot;
	g->done = (uint8_t *)(g->current + cells);
	for (int type = 0; type < TYPE_W; type++)
		for (int64_t i = 0; i < g->p; i++)
			for (int64_t k = 0; k < g->m; k++)
				*slot_of(g, type, i, k) = (int32_t)(block_slot(pl, type, i) + 6 * k);
}

static struct action element(const struct pipeline *pl, int64_t rank, int type, int64_t k)
{
	static const uint8_t kinds[TYPES] = { ACTION_FORWARD, ACTION_FORWARD, ACTION_INPUT, ACTION_INPUT, ACTION_WEIGHT,
		ACTION_WEIGHT };
	bool near = type == TYPE_F || type == TYPE_IA || type == TYPE_WA;

	return (struct action){
		.kind = kinds[type], .stage = (int32_t)(near ? rank : 2 * pl->p - 1 - rank), .micro_batch = (int32_t)k
	};
}

/* The order of the slots. */
static void write_rank(struct grid *g, int64_t i)
{
	struct cell *row = g->original + i * g->slots;
	int64_t out = i * 6 * g->m;

	add_w(g, i, true);
	for (int64_t k = 0; k < 2 * g->m; k++)
		row[g->slot[TYPE_W][i * 2 * g->m + k]] = (struct cell){ k < g->m ? TYPE_W : TYPE_WA, (int32_t)(k % g->m) };
	for (int64_t t = 0; t < g->slots; t++)
		if (row[t].type != FREE)
			g->list[out++] = element(&g->pl, i, row[t].type, row[t].index);
}

/* Over the ranks, or over the slots of all ranks in turn. */
static const struct {
	bool ranks;
	void (*unit)(struct grid *g, int64_t at);
} passes[] = {
	{ true, start_with_w },
	{ false, settle_slot },
	{ true, start_squeeze },
	{ false, squeeze_slot },
	{ true, start_without_w },
	{ false, settle_slot },
	{ true, place_w },
	{ true, start_squeeze },
	{ false, squeeze_slot },
	{ true, write_rank },
};
enum { PASSES = sizeof passes / sizeof passes[0] };

static int64_t step(void *scratch)
{
	struct grid *g = scratch;
	bool ranks;

	if (g->pass == PASSES)
		return 0;
	ranks = passes[g->pass].ranks;
	passes[g->pass].unit(g, g->at);
	if (++g->at == (ranks ? g->p : g->longest)) {
		g->at = 0;
		g->pass++;
	}
	return ranks ? g->slots : g->p;
}

static double share(const void *scratch)
{
	const struct grid *g = scratch;
	int64_t n = g->pass < PASSES && passes[g->pass].ranks ? g->p : num_max(1, g->longest);

	return ((double)g->pass + (double)g->at / (double)n) / PASSES;
}

const struct greedy_order sched_vslots = { scratch_bytes, begin, step, share };
