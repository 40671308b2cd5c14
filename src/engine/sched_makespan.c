/* Makespans with equal stages: F, I, W ticks of one chunk (a whole backward lasts I + W), c latency between ranks, s = F + I + W.
 * *exact tells where the value is what the executor finds (the tests compare); elsewhere it is an estimate, for the greedy
 * schedules from their orders at F = I = W, scaled. Src: the papers of each schedule, and where a term is not published
 * (latency), the critical path of the order. */
#include "sched_internal.h"

#include "num.h"

/* m times down and up the whole pipeline. */
SCHED_MAKESPAN(naive)
{
	*exact = true;
	return pl->m * pl->p * (f + i + w) + 2 * pl->m * (pl->p - 1) * c;
}

/* Both orders of the backwards. */
SCHED_MAKESPAN(gpipe)
{
	*exact = true;
	return (pl->m + pl->p - 1) * (f + i + w) + 2 * (pl->p - 1) * c;
}

/* Every lap but the last takes as long as its micro-batches, or as the way round where they are too few to hide it. */
SCHED_MAKESPAN(looped_bfs)
{
	int64_t b = i + w, m = pl->m, p = pl->p, laps = pl->v - 1, hop = p > 1 ? c : 0;

	*exact = true;
	return laps * (num_max(m * f, p * (f + hop)) + num_max(m * b, p * (b + hop))) + (m + p - 1) * (f + b) + 2 * (p - 1) * c;
}

/* Steady 1F1B exposes the latency of one round trip per p micro-batches less. */
SCHED_MAKESPAN(1f1b)
{
	int64_t m = pl->m, p = pl->p;

	*exact = true;
	return (m + p - 1) * (f + i + w) + (p > 1 ? 2 * c * (p - 1 + m - 1 - num_ceil_div(m - 1, p)) : 0);
}

SCHED_MAKESPAN(interleaved)
{
	int64_t m = pl->m, p = pl->p, v = pl->v, s = f + i + w;

	if (v == 1)
		return makespan_1f1b(pl, f, i, w, c, exact);
	*exact = c == 0 || p == 1 || (pipeline_group(pl) == p && m % p == 0 && c <= num_min(f, i + w));
	/* Fewer micro-batches than ranks: every lap takes the way round. */
	if (m < p && pipeline_group(pl) >= m)
		return (p * v + m - 1) * s + 2 * (p * v - 1) * c;
	return (m * v + p - 1) * s + (p > 1 ? 2 * (p * v - 1) * c : 0);
}

/* ZB-H1 and its interleaved form: what is left of the bubble is F + I - W per rank before the last. */
SCHED_MAKESPAN(zb1p)
{
	int64_t m = pl->m, p = pl->p, v = pl->v, bubble = (p - 1) * (f + i - w);

	*exact = p == 1 || (m >= p && c == 0 && w <= num_min(f, i) && (v == 1 || m % p == 0));
	if (w > num_min(f, i))
		bubble = (p - 1) * num_max(f, i);
	if (m < p)
		bubble += v == 1 ? (p - m) * num_min(w, i) : (p - m) * (v - 1) * (f + i + w) + (p - m) * w;
	return m * v * (f + i + w) + bubble + 2 * (p - 1) * c;
}

/* ZB-H2 and ZB-2p: only the skew of the first forwards is left, from m = p on. */
SCHED_MAKESPAN(zb2)
{
	int64_t m = pl->m, p = pl->p, short_of = num_max(0, p - m);

	*exact = p == 1;
	return m * (f + i + w) + (p - 1) * f + short_of * w + 2 * (p - 1) * c;
}

SCHED_MAKESPAN(zb_v)
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

SCHED_MAKESPAN(v_half)
{
	int64_t p = pl->p, steady = p % 2 == 0 ? num_max(1, 3 * p - 7) : 3 * p - 4;

	*exact = p == 1;
	return with_slots(pl, f + i + w, c, num_max(steady, 4 * (p - 1) - 2 * (pl->m - 1)));
}

SCHED_MAKESPAN(v_min)
{
	*exact = pl->p == 1;
	return with_slots(pl, f + i + w, c, pl->p % 3 == 0 ? 4 * pl->p - 7 : 4 * pl->p - 5);
}

SCHED_MAKESPAN(1f1b_v)
{
	int64_t p = pl->p, steady = p % 3 == 1 ? 5 * p - 5 : p % 3 == 2 ? num_max(4, 5 * p - 7) : num_max(8, 5 * p - 8);

	*exact = p == 1;
	return with_slots(pl, f + i + w, c, num_max(steady, 6 * (p - 1) - 2 * (pl->m - 1)));
}

/* DeepSeek's bubble (PP/2 - 1)(F&B + B - 3 W) is the idle time of the middle ranks (the last one of DualPipeV), exact for F = I
 * >= W; the last W of the ranks at the ends go beyond them. Blocks that save no time. */
SCHED_MAKESPAN(dualpipe)
{
	bool both = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL;
	int64_t s = f + i + w, turns = both ? pl->p / 2 - 1 : pl->p - 1;

	*exact = pl->p == 1 || (c == 0 && f == i && i >= w);
	return (both ? 1 : 2) * pl->m * s + turns * (s + i - 2 * w) + 2 * turns * c;
}

/* Actions that are run for an order without a formula, 8 us, and the workspace for them. */
enum { ACTIONS_MOST = 512, WORKSPACE_WORDS = 8192 };

/* The order as far as it is cheap to run, what is left out at the pace of its work; where not even that fits, with the bubble of
 * 1F1B. */
SCHED_MAKESPAN(run)
{
	struct schedule_times t = { .forward = f, .backward = i + w, .input = i, .weight = w, .comm = c };
	int64_t workspace[WORKSPACE_WORDS], s = f + i + w, rest;
	struct schedule_result r;
	struct pipeline few;

	*exact = pipeline_shorten(pl, ACTIONS_MOST, &few, &rest) && schedule_workspace_bytes(&few) <= (int64_t)sizeof workspace &&
		schedule_run(&few, &t, workspace, NULL, NULL, &r, NULL) == ERR_OK;
	if (!*exact)
		return (pl->m * pl->v + pl->p - 1) * s + 2 * (pl->p - 1) * c;
	*exact = rest == 0;
	return r.makespan + rest * pl->v * s;
}

int64_t pipeline_makespan(const struct pipeline *pl, int64_t f, int64_t i, int64_t w, int64_t c, bool *exact)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];

	return (info->makespan != NULL ? info->makespan : makespan_run)(pl, f, i, w, c, exact);
}
