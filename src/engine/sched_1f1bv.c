/* 1f1b-v: 1F1B on the V placement with whole backwards (Qi 2024, arXiv 2405.15362; sail-sg/zero-bubble v1f1b.py). Slots of half a
 * backward: a block of residues modulo 6 repeats per micro-batch, each backward takes two slots (B, then W that its neighbour
 * waits for), then every element moves to the earliest slot that its inputs, and for F the memory of the block, allow. Only the
 * order of the slots survives. */
#include "sched_internal.h"

#include "num.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_F, TYPE_FZ, TYPE_BZ, TYPE_BA, TYPE_WZ, TYPE_WA, TYPES };
enum { FREE = -1, PERIOD = 6 };

struct vgrid {
	struct action *list;
	int64_t at; /* slot whose elements move next, behind them the rank that is written next */
	int64_t p, m, slots;
	int8_t *type;     /* [rank * slots + slot] */
	int32_t *mem;     /* the same: chunks alive after the slot */
	int32_t *place;   /* [(rank * TYPES + type) * m + micro-batch] */
	int32_t *count;   /* [rank * TYPES + type] */
	int32_t *residue; /* [rank * 4 + type] */
	int32_t peak;
};

static int32_t *place_of(const struct vgrid *g, int64_t rank, int type, int64_t k)
{
	return &g->place[(rank * TYPES + type) * g->m + k];
}

/* F down the ranks, F back up, B down, B up; every third backward the pattern skips. */
static void residues(struct vgrid *g)
{
	int64_t now = 0, cycle = (3 - (g->p + 2) % 3) % 3;

	for (int64_t i = 0; i < g->p; i++)
		g->residue[i * 4 + TYPE_F] = (int32_t)++now;
	for (int64_t i = g->p - 1; i >= 0; i--)
		g->residue[i * 4 + TYPE_FZ] = (int32_t)++now;
	now += 1 + (g->p % 3 == 0 ? 3 : 0);
	for (int64_t n = 0; n < 2 * g->p; n++) {
		int64_t i = n < g->p ? n : 2 * g->p - 1 - n;

		g->residue[i * 4 + (n < g->p ? TYPE_BZ : TYPE_BA)] = (int32_t)now;
		now += 2;
		if (++cycle == 3) {
			cycle = 0;
			now += 3;
		}
	}
}

static int64_t next_with_residue(int64_t from, int64_t residue)
{
	int64_t behind = (residue - from) % PERIOD;

	return from + (behind < 0 ? behind + PERIOD : behind);
}

static void repeat(struct vgrid *g, int64_t rank, int type, int64_t first)
{
	for (int64_t k = 0; k < g->m && first + PERIOD * k < g->slots - 2; k++)
		g->type[rank * g->slots + first + PERIOD * k] = (int8_t)type;
}

static void fill_block(struct vgrid *g)
{
	int64_t x = PERIOD;

	memset(g->type, 0xFF, (size_t)(g->p * g->slots));
	for (int type = TYPE_F; type <= TYPE_BA; type++)
		for (int64_t n = 0; n < g->p; n++) {
			int64_t i = type % 2 == 0 ? n : g->p - 1 - n;

			x = next_with_residue(x, g->residue[i * 4 + type]);
			repeat(g, i, type, x);
			x++;
			if (type >= TYPE_BZ)
				repeat(g, i, type + 2, next_with_residue(x, g->residue[i * 4 + type] + 1));
		}
	for (int64_t i = 0; i < g->p; i++) {
		int32_t mem = 0;

		for (int64_t t = 0; t < g->slots; t++) {
			int8_t type = g->type[i * g->slots + t];

			mem += type == TYPE_F || type == TYPE_FZ ? 1 : type >= TYPE_WZ ? -1 : 0;
			g->mem[i * g->slots + t] = mem;
			g->peak = mem > g->peak ? mem : g->peak;
		}
	}
}

/* First slot that the inputs of an element allow. A backward waits for both slots of its neighbour's. */
static int64_t ready(const struct vgrid *g, int64_t i, int type, int64_t k)
{
	int64_t q = k > 0 ? *place_of(g, i, type, k - 1) : -1;

	switch (type) {
	case TYPE_F:
		return 1 + (i > 0 ? num_max(q, *place_of(g, i - 1, TYPE_F, k)) : q);
	case TYPE_FZ:
		return 1 + num_max(q, i < g->p - 1 ? *place_of(g, i + 1, TYPE_FZ, k) : *place_of(g, i, TYPE_F, k));
	case TYPE_BZ:
		return 1 + num_max(q, i > 0 ? *place_of(g, i - 1, TYPE_WZ, k) : *place_of(g, i, TYPE_FZ, k));
	case TYPE_BA:
		return 1 + num_max(q, i < g->p - 1 ? *place_of(g, i + 1, TYPE_WA, k) : *place_of(g, i, TYPE_WZ, k));
	default:
		return 1 + num_max(q, *place_of(g, i, type - 2, k));
	}
}

/* The slot in [q, t] that the element of slot t moves to. */
static int64_t find_slot(const struct vgrid *g, int64_t i, int type, int64_t q, int64_t t)
{
	const int8_t *row = g->type + i * g->slots;
	const int32_t *mem = g->mem + i * g->slots;
	int64_t z = t;

	while (q < t && row[q] != FREE)
		q++;
	if (type == TYPE_BZ || type == TYPE_BA)
		while (q < t && (row[q] != FREE || row[q + 1] != FREE))
			q++;
	if (q >= t || type > TYPE_FZ)
		return q;
	while (z > q && mem[z - 1] < g->peak)
		z--;
	while (z < t && row[z] != FREE)
		z++;
	return z;
}

static void move(struct vgrid *g, int64_t i, int type, int64_t t)
{
	int64_t k = g->count[i * TYPES + type]++, q = find_slot(g, i, type, ready(g, i, type, k), t);
	int32_t change = type <= TYPE_FZ ? 1 : type >= TYPE_WZ ? -1 : 0;

	if (q < t) {
		g->type[i * g->slots + q] = (int8_t)type;
		g->type[i * g->slots + t] = FREE;
		for (int64_t u = q; change != 0 && u < t; u++)
			g->mem[i * g->slots + u] += change;
	}
	*place_of(g, i, type, k) = (int32_t)q;
}

static int64_t slots_of(const struct pipeline *pl)
{
	return PERIOD * (4 * pl->p + pl->m + 1) + 2;
}

static int64_t scratch_bytes(const struct pipeline *pl)
{
	return (int64_t)sizeof(struct vgrid) +
		pl->p *
		(slots_of(pl) * (int64_t)(sizeof(int32_t) + sizeof(int8_t)) + TYPES * (pl->m + 1) * (int64_t)sizeof(int32_t) +
			4 * (int64_t)sizeof(int32_t));
}

static void begin(const struct pipeline *pl, void *scratch, struct action *list)
{
	struct vgrid *g = scratch;

	*g = (struct vgrid){ .list = list, .p = pl->p, .m = pl->m, .slots = slots_of(pl) };
	g->mem = (int32_t *)(g + 1);
	g->place = g->mem + g->p * g->slots;
	g->count = g->place + g->p * TYPES * g->m;
	g->residue = g->count + g->p * TYPES;
	g->type = (int8_t *)(g->residue + 4 * g->p);
	memset(g->place, 0xFF, (size_t)(g->p * TYPES * g->m) * sizeof *g->place);
	memset(g->count, 0, (size_t)(g->p * TYPES) * sizeof *g->count);
	residues(g);
	fill_block(g);
}

static void move_slot(struct vgrid *g, int64_t t)
{
	for (int64_t i = 0; i < g->p; i++)
		if (g->type[i * g->slots + t] != FREE)
			move(g, i, g->type[i * g->slots + t], t);
}

static void write_rank(struct vgrid *g, int64_t i)
{
	struct action *out = g->list + i * 4 * g->m;
	int32_t count[4] = { 0 };

	for (int64_t t = 0; t < g->slots; t++) {
		int type = g->type[i * g->slots + t];

		if (type < 0 || type > TYPE_BA)
			continue;
		*out++ = (struct action){ .kind = type <= TYPE_FZ ? ACTION_FORWARD : ACTION_BACKWARD,
			.stage = (int32_t)(type == TYPE_F || type == TYPE_BA ? i : 2 * g->p - 1 - i),
			.micro_batch = count[type]++ };
	}
}

static int64_t step(void *scratch)
{
	struct vgrid *g = scratch;
	int64_t moves = g->slots - 2, at = g->at;

	if (at == moves + g->p)
		return 0;
	g->at++;
	if (at < moves)
		move_slot(g, at);
	else
		write_rank(g, at - moves);
	return at < moves ? g->p : g->slots;
}

static double share(const void *scratch)
{
	const struct vgrid *g = scratch;

	return (double)g->at / (double)(g->slots - 2 + g->p);
}

const struct greedy_order sched_1f1bv = { scratch_bytes, begin, step, share };
