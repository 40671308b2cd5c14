/* Makespans with equal stages, and peaks in flight, of every schedule: F, I, W ticks of one chunk (a whole backward lasts I + W),
 * c latency between ranks, s = F + I + W. *exact tells where the value is what the executor finds (the tests compare); elsewhere
 * it is an estimate, for the greedy schedules from their orders at F = I = W, scaled. Src: the papers of each schedule, and where
 * a term is not published (latency), the critical path of the order. */
#include "sched_internal.h"

#include "num.h"

/* m times down and up the whole pipeline. */
SCHED_CLOSED(closed_naive)
{
	*exact = true;
	return pl->m * pl->p * (f + i + w) + 2 * pl->m * (pl->p - 1) * c;
}

/* Both orders of the backwards. */
SCHED_CLOSED(closed_gpipe)
{
	*exact = true;
	return (pl->m + pl->p - 1) * (f + i + w) + 2 * (pl->p - 1) * c;
}

/* Every lap but the last takes as long as its micro-batches, or as the way round where they are too few to hide it. */
SCHED_CLOSED(closed_looped_bfs)
{
	int64_t b = i + w, m = pl->m, p = pl->p, laps = pl->v - 1, hop = p > 1 ? c : 0;

	*exact = true;
	return laps * (num_max(m * f, p * (f + hop)) + num_max(m * b, p * (b + hop))) + (m + p - 1) * (f + b) + 2 * (p - 1) * c;
}

/* Steady 1F1B exposes the latency of one round trip per p micro-batches less. */
SCHED_CLOSED(closed_1f1b)
{
	int64_t m = pl->m, p = pl->p;

	*exact = true;
	return (m + p - 1) * (f + i + w) + (p > 1 ? 2 * c * (p - 1 + m - 1 - num_ceil_div(m - 1, p)) : 0);
}

SCHED_CLOSED(closed_interleaved)
{
	int64_t m = pl->m, p = pl->p, v = pl->v, s = f + i + w;

	if (v == 1)
		return closed_1f1b(pl, f, i, w, c, exact);
	*exact = c == 0 || p == 1 || (pipeline_group(pl) == p && m % p == 0 && c <= num_min(f, i + w));
	/* Fewer micro-batches than ranks: every lap takes the way round. */
	if (m < p && pipeline_group(pl) >= m)
		return (p * v + m - 1) * s + 2 * (p * v - 1) * c;
	return (m * v + p - 1) * s + (p > 1 ? 2 * (p * v - 1) * c : 0);
}

/* ZB-H1 and its interleaved form: what is left of the bubble is F + I - W per rank before the last. */
SCHED_CLOSED(closed_zb1p)
{
	int64_t m = pl->m, p = pl->p, v = pl->schedule == SCHEDULE_ZB1P_INTERLEAVED ? pl->v : 1, bubble = (p - 1) * (f + i - w);

	*exact = p == 1 || (m >= p && c == 0 && w <= num_min(f, i) && (v == 1 || m % p == 0));
	if (w > num_min(f, i))
		bubble = (p - 1) * num_max(f, i);
	if (m < p)
		bubble += v == 1 ? (p - m) * num_min(w, i) : (p - m) * (v - 1) * (f + i + w) + (p - m) * w;
	return m * v * (f + i + w) + bubble + 2 * (p - 1) * c;
}

/* ZB-H2 and ZB-2p: only the skew of the first forwards is left, from m = p on. */
SCHED_CLOSED(closed_zb2)
{
	int64_t m = pl->m, p = pl->p, short_of = num_max(0, p - m);

	*exact = p == 1;
	return m * (f + i + w) + (p - 1) * f + short_of * w + 2 * (p - 1) * c;
}

SCHED_CLOSED(closed_zb_v)
{
	int64_t m = pl->m, p = pl->p, s = f + i + w, ends = (p - 1) * f, few;

	*exact = p == 1;
	if (pl->schedule == SCHEDULE_ZB_V) {
		*exact = *exact || (c == 0 && f == i && i == w);
		few = 2 * (2 * p - 1 - m) * s / 3;
	} else {
		few = m >= p ? ends : ends + num_max(2 * (p - m), 4 * (p - m) - p) * s / 3;
	}
	return 2 * m * s + num_max(ends, few) + 2 * (p - 1) * c;
}

/* What is left is bubble, in slots of a third of s. */
static int64_t with_slots(const struct pipeline *pl, int64_t s, int64_t c, int64_t slots)
{
	return 2 * pl->m * s + (pl->p == 1 ? 0 : (slots * s + 2) / 3 + 4 * (pl->p - 1) * c);
}

SCHED_CLOSED(closed_v_half)
{
	int64_t p = pl->p, steady = p % 2 == 0 ? num_max(1, 3 * p - 7) : 3 * p - 4;

	*exact = p == 1;
	return with_slots(pl, f + i + w, c, num_max(steady, 4 * (p - 1) - 2 * (pl->m - 1)));
}

SCHED_CLOSED(closed_v_min)
{
	*exact = pl->p == 1;
	return with_slots(pl, f + i + w, c, pl->p % 3 == 0 ? 4 * pl->p - 7 : 4 * pl->p - 5);
}

SCHED_CLOSED(closed_1f1b_v)
{
	int64_t p = pl->p, steady = p % 3 == 1 ? 5 * p - 5 : p % 3 == 2 ? num_max(4, 5 * p - 7) : num_max(8, 5 * p - 8);

	*exact = p == 1;
	return with_slots(pl, f + i + w, c, num_max(steady, 6 * (p - 1) - 2 * (pl->m - 1)));
}

/* DeepSeek's bubble (PP/2 - 1)(F&B + B - 3 W) is the idle time of the middle ranks (the last one of DualPipeV), exact for F = I
 * >= W; the last W of the ranks at the ends go beyond them. Blocks that save no time. */
SCHED_CLOSED(closed_dualpipe)
{
	bool both = pl->schedule == SCHEDULE_DUALPIPE;
	int64_t s = f + i + w, turns = both ? pl->p / 2 - 1 : pl->p - 1;

	*exact = pl->p == 1 || (c == 0 && f == i && i >= w);
	return (both ? 1 : 2) * pl->m * s + turns * (s + i - 2 * w) + 2 * turns * c;
}

SCHED_PEAK(peak_naive)
{
	(void)pl;
	(void)rank;
	(void)k;
	return (struct chunk_peak){ 1, 0 };
}

/* GPipe and looped BFS: everything. */
SCHED_PEAK(peak_gpipe)
{
	(void)rank;
	(void)k;
	return (struct chunk_peak){ pl->m, 0 };
}

/* Chunk k of `started` virtual forwards in groups. */
static int64_t share_of_chunk(const struct pipeline *pl, int64_t started, int64_t v, int64_t g, int64_t k)
{
	int64_t whole = started / (g * v) * g, rest = started % (g * v), size = num_min(g, pl->m - whole);

	return whole + num_min(size, num_max(0, rest - k * size));
}

/* The peak is the forward that ends the warm-up plus one: w + 1 virtual forwards have started (or all of them), none of their
 * backwards has finished. */
SCHED_PEAK(peak_interleaved)
{
	int64_t v = pl->schedule == SCHEDULE_INTERLEAVED ? pl->v : 1,
		started = num_min(sched_interleaved_warm_up(pl, rank) + 1, pl->m * v);

	return (struct chunk_peak){ v == 1 ? started : share_of_chunk(pl, started, v, pipeline_group(pl), k), 0 };
}

/* The first steady forward after which every I has r more of them waiting for W: (v-1) g + p - r whole, r pending. Which chunks
 * they belong to is that of the first such instant. */
SCHED_PEAK(peak_zb1p)
{
	int64_t g = pipeline_group(pl), n = pl->m * pl->v, warm = num_min(n, (pl->v - 1) * g + pl->p - 1 - rank);
	int64_t inputs = num_max(0, num_min(rank, n - warm - 1)), started = num_min(warm + 1 + inputs, n);

	return (struct chunk_peak){ share_of_chunk(pl, started, pl->v, g, k) -
			share_of_chunk(pl, inputs, pl->v, g, pl->v - 1 - k),
		share_of_chunk(pl, inputs, pl->v, g, pl->v - 1 - k) };
}

SCHED_PEAK(peak_zb_h1)
{
	int64_t whole = num_min(pl->m, pl->p - rank);

	(void)k;
	return (struct chunk_peak){ whole, num_min(rank, pl->m - whole) };
}

/* Rank r of a pipeline with limit L keeps L - r whole ones in published runs (arXiv 2401.10241 table 4), more than the orders at
 * equal times do (L - 1 - 2 r whole, the rest pending). */
SCHED_PEAK(peak_zb2)
{
	int64_t limit = pl->schedule == SCHEDULE_ZB_H2 ? 2 * pl->p - 1 : 2 * pl->p;

	(void)k;
	return (struct chunk_peak){ num_min(pl->m, limit - rank), 0 };
}

/* 2p chunks on every rank: the first leg is ahead by what the rank is away from the turn. */
SCHED_PEAK(peak_zb_v)
{
	return (struct chunk_peak){ num_min(pl->m, k == 0 ? 2 * pl->p - 1 - rank : rank + 1), 0 };
}

/* Both legs alike: floor((p+2)/2), floor((p+4)/3), floor(2p/3) + 1 micro-batches. */
SCHED_PEAK(peak_v_even)
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
SCHED_PEAK(peak_dualpipe)
{
	bool both = pl->schedule == SCHEDULE_DUALPIPE, far = both && rank >= pl->p / 2;
	int64_t q = far ? pl->p - 1 - rank : rank, ahead = both ? pl->p - q : 2 * pl->p - q;

	return (struct chunk_peak){ (k == 0) != far ? ahead : q + 1, 0 };
}
