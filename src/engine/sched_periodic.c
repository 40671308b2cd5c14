/* Exact results for many micro-batches from runs with few.
 *
 * The lists of 1F1B, interleaved, zb1p, zb-v, DualPipe and naive are: a fill, one pattern repeated, a drain. More micro-batches
 * only mean more repetitions. Cut the repeated part of every rank into windows of the same number of repetitions (at least as
 * many as micro-batches lie between an output and its use on another rank). An action of a window depends on actions of its own
 * window and of the one before it only, always the same ones relative to its place. So if all ends of a window are those of the
 * window before plus one constant c, the same for all ranks, then by induction the next window's are too, and so on up to the
 * drain, which then is shifted as a whole: the makespan for one window more is c more, exactly. Comparing two neighbouring
 * windows inside one run is therefore a proof, not an extrapolation from totals, which a slow rank may overtake later.
 *
 * Ends are compared by checksum: a sum of the ends within the window, each times a pseudo-random odd number of its place, modulo
 * 2^64. */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"

#include <string.h>

enum { WINDOWS = 6, TRIES = 3 };

/* The windows of one rank. */
struct windows {
	int64_t from, len; /* index of the first window; actions in one */
	int64_t last;      /* end of the last action seen */
	int64_t start[2];  /* of the window before and of the last one: the end of the action before it */
	uint64_t sum[2];
	int64_t seen;                          /* windows closed */
	int64_t busy, idle[IDLE_REASON_COUNT]; /* in the last one */
};

static uint64_t weight(uint64_t x)
{
	/* splitmix64, Steele 2014. */
	x = (x + 1) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return (x ^ x >> 31) | 1;
}

static void open_window(struct windows *w)
{
	w->start[0] = w->start[1];
	w->start[1] = w->last;
	w->sum[0] = w->sum[1];
	w->sum[1] = 0;
	w->busy = 0;
	memset(w->idle, 0, sizeof w->idle);
}

static void watch(void *ctx, const struct timed_action *a)
{
	struct windows *w = (struct windows *)ctx + a->rank;
	int64_t at = a->index - w->from;

	if (at >= 0 && at < WINDOWS * w->len) {
		if (at % w->len == 0)
			open_window(w);
		w->sum[1] += weight((uint64_t)(at % w->len)) * (uint64_t)(a->end - w->start[1]);
		w->seen += at % w->len == w->len - 1;
		w->busy += timed_action_busy(a);
		if (!a->action.overlap || a->action.kind == ACTION_FORWARD) {
			w->idle[a->reason] += a->ready_at - a->free_at;
			w->idle[IDLE_COMM] += a->start - a->ready_at;
		}
	}
	w->last = a->end;
}

/* The repeated segment of a rank's program and its first index: the longest one, as it alone grows. */
static struct sched_segment steady(const struct sched_program *g, int64_t *from)
{
	struct sched_segment longest = g->segment[0];
	int64_t at = 0;

	*from = 0;
	for (int32_t i = 0; i < g->segments; i++) {
		if (g->segment[i].n > longest.n) {
			longest = g->segment[i];
			*from = at;
		}
		at += g->segment[i].n;
	}
	return longest;
}

/* Micro-batches by which a window is longer, so that the order repeats and outputs are used within a window. */
static int64_t window_micro_batches(const struct pipeline *pl)
{
	int64_t g = schedule_table[pl->schedule].has_groups && pl->v > 1 ? pipeline_group(pl) : pl->p;

	return pl->schedule == SCHEDULE_DUALPIPE ? 2 * pl->p : g;
}

/* Chunk actions per micro-batch in the repeated part: how many of its actions one micro-batch more adds. */
static int64_t actions_per_micro_batch(const struct pipeline *pl)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];

	return info->passes * (info->placement == PLACEMENT_V ? 2 : pl->v);
}

/* A pipeline with the same order and fewer micro-batches: enough for the fill and the windows, equal to m modulo the window. */
static bool shorten(const struct pipeline *pl, int64_t windows, struct pipeline *few)
{
	int64_t step = window_micro_batches(pl), least = 4 * pl->p + 2 * step + windows * step;

	*few = *pl;
	few->group = schedule_table[pl->schedule].has_groups ? pipeline_group(pl) : 0;
	few->m = pl->m - num_max(0, pl->m - least) / step * step;
	return few->m < pl->m;
}

static bool is_periodic(const struct pipeline *pl)
{
	return !schedule_table[pl->schedule].greedy && !schedule_table[pl->schedule].phased;
}

/* The last windows that fit into every rank's repeated part. */
static void place_windows(const struct pipeline *few, struct windows *w)
{
	int64_t len = window_micro_batches(few) * actions_per_micro_batch(few);

	for (int64_t rank = 0; rank < few->p; rank++) {
		struct sched_program g;
		struct sched_segment s;
		int64_t from;

		schedule_table[few->schedule].program(few, rank, &g);
		s = steady(&g, &from);
		memset(&w[rank], 0, sizeof w[rank]);
		w[rank].len = len;
		w[rank].from = from + num_max(0, s.n - s.n % s.len - WINDOWS * len);
		if (s.n < (WINDOWS + 1) * len)
			w[rank].len = INT64_MAX / WINDOWS;
	}
}

static bool is_proved(const struct pipeline *few, const struct windows *w)
{
	for (int64_t rank = 0; rank < few->p; rank++)
		if (w[rank].seen != WINDOWS || w[rank].sum[0] != w[rank].sum[1] ||
			w[rank].start[1] - w[rank].start[0] != w[0].start[1] - w[0].start[0])
			return false;
	return true;
}

/* The result for pl from that for few: every window more adds the same to all ends, to busy and to idle times. */
static void extend(const struct pipeline *pl, const struct pipeline *few, const struct rank_result *ranks,
	const struct windows *w, const struct schedule_result *short_one, struct schedule_result *out)
{
	int64_t more = (pl->m - few->m) / window_micro_batches(pl), later = more * (w[0].start[1] - w[0].start[0]), idle;

	*out = (struct schedule_result){ .makespan = short_one->makespan + later };
	memcpy(out->idle, short_one->idle, sizeof out->idle);
	for (int64_t rank = 0; rank < pl->p; rank++) {
		int64_t busy = ranks[rank].busy + more * w[rank].busy,
			span = ranks[rank].last_end + later - ranks[rank].first_start;

		out->total_busy += busy;
		out->max_busy = num_max(out->max_busy, busy);
		out->max_span = num_max(out->max_span, span);
		out->span_bubble = num_max(out->span_bubble, span - busy);
		for (int i = 0; i < IDLE_REASON_COUNT; i++)
			out->idle[i] += more * w[rank].idle[i];
	}
	idle = pl->p * out->makespan - out->total_busy;
	out->bubble_of_step = out->makespan > 0 ? (double)idle / ((double)pl->p * (double)out->makespan) : 0;
	out->bubble_over_ideal = out->total_busy > 0 ? (double)idle / (double)out->total_busy : 0;
	out->span_bubble_rate = out->max_span > 0 ? (double)out->span_bubble / (double)out->max_span : 0;
}

int64_t schedule_periodic_bytes(const struct pipeline *pl)
{
	int64_t run = schedule_workspace_bytes(pl);

	return run < 0 ? -1 : num_round_up(run, 8) + pl->p * (int64_t)(sizeof(struct windows) + sizeof(struct rank_result));
}

enum err_code schedule_run_periodic(const struct pipeline *pl, const struct schedule_times *t, void *workspace, bool *proved,
	struct schedule_result *out, struct err *e)
{
	struct windows *w;
	struct rank_result *ranks;
	enum err_code code = pipeline_check(pl, e);

	*proved = false;
	*out = (struct schedule_result){ 0 };
	if (code != ERR_OK || !is_periodic(pl))
		return code;
	w = (struct windows *)((char *)workspace + num_round_up(schedule_workspace_bytes(pl), 8));
	ranks = (struct rank_result *)(w + pl->p);
	for (int64_t windows = WINDOWS; !*proved && windows <= WINDOWS << TRIES; windows *= 2) {
		struct schedule_result short_one;
		struct pipeline few;
		struct order o;
		bool shorter = shorten(pl, windows, &few);

		code = order_generate(&few, NULL, &o, e);
		if (code != ERR_OK)
			return code;
		place_windows(&few, w);
		code = order_run(&o, t, workspace, shorter ? watch : NULL, w, ranks, &short_one, e);
		if (code != ERR_OK)
			return code;
		*proved = !shorter || is_proved(&few, w);
		if (*proved && shorter)
			extend(pl, &few, ranks, w, &short_one, out);
		else if (*proved)
			*out = short_one;
	}
	return ERR_OK;
}
