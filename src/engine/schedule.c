/* Four schedules and the executor. Each generator answers "the i-th action of rank r" in O(1), so no list is ever stored.
 *
 *   naive        one micro-batch at a time through the whole pipeline
 *   gpipe        all forwards, then all backwards in the same order (Huang 2019; PyTorch ScheduleGPipe)
 *   1f1b         min(m, p-1-r) forwards, then one forward one backward, then the rest (Narayanan 2021; Megatron-LM schedules.py)
 *   interleaved  the same over v chunks per rank in groups of g micro-batches (Narayanan 2021, sec. 2.2; Megatron-LM
 *                get_schedule_table): warm-up w = min(m v, 2 (p-1-r) + (v-1) g)
 */
#include "schedule.h"

#include "i18n_mark.h"
#include "num.h"

#include <stdio.h>
#include <string.h>

const char action_letters[ACTION_KIND_COUNT + 1] = "FBIW";

static int64_t chunks_of(const struct pipeline *pl)
{
	return pl->schedule == SCHEDULE_INTERLEAVED ? pl->v : 1;
}

static int64_t group_of(const struct pipeline *pl)
{
	return pl->group > 0 ? pl->group : pl->p;
}

static int64_t two_per_chunk(const struct pipeline *pl, int64_t rank)
{
	(void)rank;
	return 2 * pl->m * chunks_of(pl);
}

static struct action make(int32_t kind, int64_t stage, int64_t micro_batch)
{
	return (struct action){ .kind = kind, .stage = (int32_t)stage, .micro_batch = (int32_t)micro_batch };
}

static struct action naive_at(const struct pipeline *pl, int64_t rank, int64_t i)
{
	(void)pl;
	return make(i % 2 == 0 ? ACTION_FORWARD : ACTION_BACKWARD, rank, i / 2);
}

static struct action gpipe_at(const struct pipeline *pl, int64_t rank, int64_t i)
{
	return i < pl->m ? make(ACTION_FORWARD, rank, i) : make(ACTION_BACKWARD, rank, i - pl->m);
}

/* The i-th virtual micro-batch of the interleaved order: groups of g micro-batches, in a group all of chunk 0, then chunk 1 ...;
 * backwards run through the chunks from the last. The last group may be shorter or longer than g. */
static struct action virtual_at(const struct pipeline *pl, int64_t rank, int64_t i, int32_t kind)
{
	int64_t v = chunks_of(pl), g = group_of(pl), round = i / (g * v), first, size, k, micro_batch;

	first = round * g;
	size = num_min(g, pl->m - first);
	k = (i - first * v) / size;
	micro_batch = first + (i - first * v) % size;
	if (kind == ACTION_BACKWARD)
		k = v - 1 - k;
	return make(kind, k * pl->p + rank, micro_batch);
}

static int64_t warm_up(const struct pipeline *pl, int64_t rank)
{
	int64_t v = chunks_of(pl), w;

	w = v == 1 ? pl->p - 1 - rank : 2 * (pl->p - 1 - rank) + (v - 1) * group_of(pl);
	return num_min(w, pl->m * v);
}

/* 1F1B and interleaved: w forwards, then (forward, backward) pairs, then backwards. */
static struct action one_f_one_b_at(const struct pipeline *pl, int64_t rank, int64_t i)
{
	int64_t total = pl->m * chunks_of(pl), w = warm_up(pl, rank), steady = 2 * (total - w);

	if (i < w)
		return virtual_at(pl, rank, i, ACTION_FORWARD);
	if (i >= w + steady)
		return virtual_at(pl, rank, i - total, ACTION_BACKWARD);
	if ((i - w) % 2 == 0)
		return virtual_at(pl, rank, w + (i - w) / 2, ACTION_FORWARD);
	return virtual_at(pl, rank, (i - w) / 2, ACTION_BACKWARD);
}

static int64_t naive_makespan(const struct pipeline *pl, int64_t f, int64_t b)
{
	return pl->m * pl->p * (f + b);
}

static int64_t flush_makespan(const struct pipeline *pl, int64_t f, int64_t b)
{
	return (pl->m * chunks_of(pl) + pl->p - 1) * (f + b);
}

static int64_t naive_in_flight(const struct pipeline *pl, int64_t rank, int64_t k)
{
	(void)pl;
	(void)rank;
	(void)k;
	return 1;
}

static int64_t gpipe_in_flight(const struct pipeline *pl, int64_t rank, int64_t k)
{
	(void)rank;
	(void)k;
	return pl->m;
}

/* The peak is the forward that ends the warm-up plus one: w + 1 virtual forwards have started (or all of them), none of their
 * backwards has finished. */
static int64_t one_f_one_b_in_flight(const struct pipeline *pl, int64_t rank, int64_t k)
{
	int64_t v = chunks_of(pl), g = group_of(pl), started = num_min(warm_up(pl, rank) + 1, pl->m * v), count, rest, size;

	if (v == 1)
		return started;
	count = started / (g * v) * g;
	rest = started % (g * v);
	size = num_min(g, pl->m - count);
	return count + num_min(size, num_max(0, rest - k * size));
}

/* clang-format off */
const struct schedule_info schedule_table[SCHEDULE_COUNT] = {
	[SCHEDULE_NAIVE] = { "naive", N_("naive"), N_("one micro-batch at a time: p - 1 of p ranks idle"),
		"definition", false, two_per_chunk, naive_at, naive_makespan, naive_in_flight },
	[SCHEDULE_GPIPE] = { "gpipe", N_("GPipe"), N_("all forwards, then all backwards: m micro-batches in flight"),
		"Huang 2019; PyTorch ScheduleGPipe", false, two_per_chunk, gpipe_at, flush_makespan, gpipe_in_flight },
	[SCHEDULE_1F1B] = { "1f1b", N_("1F1B"), N_("the bubble of GPipe with at most p micro-batches in flight"),
		"Narayanan 2021; Megatron-LM schedules.py", false, two_per_chunk, one_f_one_b_at, flush_makespan, one_f_one_b_in_flight },
	[SCHEDULE_INTERLEAVED] = { "interleaved", N_("interleaved 1F1B"), N_("v chunks per rank: bubble 1/v, more in flight"),
		"Narayanan 2021 sec. 2.2; Megatron-LM get_schedule_table", true, two_per_chunk, one_f_one_b_at, flush_makespan,
		one_f_one_b_in_flight },
};
/* clang-format on */

enum err_code pipeline_check(const struct pipeline *pl, struct err *e)
{
	int64_t g = group_of(pl), tail, actions;
	bool interleaved;

	if (pl->schedule < 0 || pl->schedule >= SCHEDULE_COUNT)
		return err_set(e, ERR_INTERNAL, "schedule", "no schedule number %d", (int)pl->schedule);
	if (pl->p < 1 || pl->p > 65536)
		return err_set(e, ERR_RANGE, "pp", "pp %lld: legal here: 1 .. 65536", (long long)pl->p);
	if (pl->m < 1 || pl->m > 16777216)
		return err_set(e, ERR_RANGE, "microbatches", "%lld micro-batches: legal here: 1 .. 16777216", (long long)pl->m);
	if (pl->v < 1 || pl->v > 1024)
		return err_set(e, ERR_RANGE, "vpp", "vpp %lld: legal here: 1 .. 1024", (long long)pl->v);
	interleaved = schedule_table[pl->schedule].needs_v;
	if (!interleaved && pl->v != 1)
		return err_set(e, ERR_ILLEGAL, "vpp", "vpp %lld needs --schedule interleaved; %s has one chunk per rank", (long long)pl->v,
			schedule_table[pl->schedule].key);
	if (interleaved && pl->p > 1 && pl->v < 2)
		return err_set(e, ERR_ILLEGAL, "vpp", "schedule interleaved needs vpp of at least 2");
	if (!num_mul(pl->p * pl->v, pl->m, &actions) || actions > INT32_MAX)
		return err_set(e, ERR_RANGE, "microbatches", "p * v * m is %.3g: at most 2147483647", (double)pl->p * (double)pl->v * (double)pl->m);
	if (!interleaved || pl->p == 1)
		return ERR_OK;
	if (g < pl->p || g > pl->m)
		return err_set(e, ERR_ILLEGAL, pl->group > 0 ? "group" : "micro-batch",
			"interleaved groups of %lld micro-batches: legal here: %lld (pp) .. %lld (micro-batches per step)", (long long)g,
			(long long)pl->p, (long long)pl->m);
	tail = pl->m % g;
	if (tail != 0 && tail < pl->p)
		return err_set(e, ERR_ILLEGAL, pl->group > 0 ? "group" : "micro-batch",
			"interleaved: %lld micro-batches in groups of %lld leave a last group of %lld; it must be 0 or at least pp = %lld",
			(long long)pl->m, (long long)g, (long long)tail, (long long)pl->p);
	return ERR_OK;
}

int64_t pipeline_in_flight(const struct pipeline *pl, int64_t rank)
{
	int64_t sum = 0;

	for (int64_t k = 0; k < chunks_of(pl); k++)
		sum += schedule_table[pl->schedule].in_flight(pl, rank, k);
	return sum;
}

/* The executor. Per (stage, micro-batch) it keeps the end of F and of B, -1 while not done. A rank runs until it blocks; then only the
 * ranks it fed are woken, so the work is O(actions). */
struct run {
	const struct pipeline *pl;
	const struct schedule_info *info;
	const struct schedule_times *t;
	int64_t stages;
	int64_t *forward_end, *backward_end; /* [stage * m + micro_batch] */
	int64_t *next, *free_at, *busy, *first_start; /* [rank] */
	int32_t *queue, *queued;
	int64_t head, count;
	void (*emit)(void *, const struct timed_action *);
	void *ctx;
};

int64_t schedule_workspace_bytes(const struct pipeline *pl)
{
	int64_t cells = pl->p * chunks_of(pl) * pl->m, bytes;

	if (!num_mul(cells, 2 * (int64_t)sizeof(int64_t), &bytes))
		return -1;
	return bytes + pl->p * (int64_t)(4 * sizeof(int64_t) + 2 * sizeof(int32_t));
}

static void run_init(struct run *r, const struct pipeline *pl, const struct schedule_times *t, void *workspace)
{
	int64_t cells = pl->p * chunks_of(pl) * pl->m;
	int64_t *words = workspace;

	*r = (struct run){ .pl = pl, .info = &schedule_table[pl->schedule], .t = t, .stages = pl->p * chunks_of(pl) };
	r->forward_end = words;
	r->backward_end = words + cells;
	r->next = words + 2 * cells;
	r->free_at = r->next + pl->p;
	r->busy = r->free_at + pl->p;
	r->first_start = r->busy + pl->p;
	r->queue = (int32_t *)(r->first_start + pl->p);
	r->queued = r->queue + pl->p;
	memset(r->forward_end, 0xFF, (size_t)(2 * cells) * sizeof(int64_t));
	memset(r->next, 0, (size_t)(4 * pl->p) * sizeof(int64_t));
	memset(r->queued, 0, (size_t)pl->p * sizeof(int32_t));
}

static void wake(struct run *r, int64_t rank)
{
	if (r->queued[rank] || r->next[rank] >= r->info->count(r->pl, rank))
		return;
	r->queued[rank] = 1;
	r->queue[(r->head + r->count) % r->pl->p] = (int32_t)rank;
	r->count++;
}

/* End time of the one input that may come from another rank, plus latency if it does; 0 if there is none; -1 while missing. */
static int64_t arrival(const struct run *r, const struct action *a)
{
	int64_t from, end;

	if (a->kind == ACTION_FORWARD) {
		if (a->stage == 0)
			return 0;
		from = a->stage - 1;
		end = r->forward_end[from * r->pl->m + a->micro_batch];
	} else {
		if (a->stage == r->stages - 1)
			return 0;
		from = a->stage + 1;
		end = r->backward_end[from * r->pl->m + a->micro_batch];
	}
	if (end < 0)
		return -1;
	return from % r->pl->p == a->stage % r->pl->p ? end : end + r->t->comm;
}

static int64_t duration(const struct run *r, const struct action *a)
{
	if (a->kind == ACTION_FORWARD)
		return r->t->stage_forward != NULL ? r->t->stage_forward[a->stage] : r->t->forward;
	return r->t->stage_backward != NULL ? r->t->stage_backward[a->stage] : r->t->backward;
}

/* Runs rank until it blocks or is done. */
static void advance(struct run *r, int64_t rank)
{
	int64_t n = r->info->count(r->pl, rank);

	while (r->next[rank] < n) {
		struct timed_action x = { .rank = rank, .index = r->next[rank], .action = r->info->at(r->pl, rank, r->next[rank]) };
		int64_t ready = arrival(r, &x.action);
		int64_t cell = x.action.stage * r->pl->m + x.action.micro_batch;
		bool forward = x.action.kind == ACTION_FORWARD;

		if (ready < 0 || (!forward && r->forward_end[cell] < 0))
			return;
		x.start = num_max(r->free_at[rank], ready);
		x.end = x.start + duration(r, &x.action);
		(forward ? r->forward_end : r->backward_end)[cell] = x.end;
		if (r->next[rank] == 0)
			r->first_start[rank] = x.start;
		r->free_at[rank] = x.end;
		r->busy[rank] += x.end - x.start;
		r->next[rank]++;
		if (r->emit != NULL)
			r->emit(r->ctx, &x);
		if (forward && x.action.stage + 1 < r->stages)
			wake(r, (x.action.stage + 1) % r->pl->p);
		if (!forward && x.action.stage > 0)
			wake(r, (x.action.stage - 1) % r->pl->p);
	}
}

static enum err_code report_deadlock(const struct run *r, struct err *e)
{
	char text[ERR_MSG_CAP] = "";
	size_t len = 0;

	for (int64_t rank = 0; rank < r->pl->p && len < sizeof text - 1; rank++) {
		struct action a;
		char name[32];
		int n;

		if (r->next[rank] >= r->info->count(r->pl, rank))
			continue;
		a = r->info->at(r->pl, rank, r->next[rank]);
		n = snprintf(text + len, sizeof text - len, "%srank %lld waits for the input of %s", len > 0 ? "; " : "", (long long)rank,
			action_format(&a, name, sizeof name));
		if (n > 0)
			len = (size_t)num_min((int64_t)len + n, (int64_t)sizeof text - 1);
	}
	return err_set(e, ERR_ILLEGAL, "schedule", "deadlock: %s", text);
}

static void summarize(const struct run *r, struct schedule_result *out)
{
	int64_t idle;

	*out = (struct schedule_result){ 0 };
	for (int64_t rank = 0; rank < r->pl->p; rank++) {
		out->makespan = num_max(out->makespan, r->free_at[rank]);
		out->total_busy += r->busy[rank];
		out->max_busy = num_max(out->max_busy, r->busy[rank]);
		out->span_bubble = num_max(out->span_bubble, r->free_at[rank] - r->first_start[rank] - r->busy[rank]);
	}
	idle = r->pl->p * out->makespan - out->total_busy;
	out->bubble_of_step = out->makespan > 0 ? (double)idle / ((double)r->pl->p * (double)out->makespan) : 0;
	out->bubble_over_ideal = out->total_busy > 0 ? (double)idle / (double)out->total_busy : 0;
}

enum err_code schedule_run(const struct pipeline *pl, const struct schedule_times *t, void *workspace,
	void (*emit)(void *ctx, const struct timed_action *a), void *ctx, struct schedule_result *out, struct err *e)
{
	struct run r;
	enum err_code code = pipeline_check(pl, e);

	if (code != ERR_OK)
		return code;
	run_init(&r, pl, t, workspace);
	r.emit = emit;
	r.ctx = ctx;
	for (int64_t rank = 0; rank < pl->p; rank++)
		wake(&r, rank);
	while (r.count > 0) {
		int64_t rank = r.queue[r.head];

		r.head = (r.head + 1) % pl->p;
		r.count--;
		r.queued[rank] = 0;
		advance(&r, rank);
	}
	for (int64_t rank = 0; rank < pl->p; rank++)
		if (r.next[rank] < r.info->count(pl, rank))
			return report_deadlock(&r, e);
	summarize(&r, out);
	return ERR_OK;
}

char *action_format(const struct action *a, char *buf, size_t cap)
{
	(void)snprintf(buf, cap, "%d%c%d", (int)a->stage, action_letters[a->kind], (int)a->micro_batch);
	return buf;
}
