/* The executor: one set of rules for every order, in O(actions).
 *
 * Between neighbouring stages runs a link per direction (forwards down, gradients up): a ring of end times, -1 where empty. An
 * action takes its input out of one link and puts its end into another. A rank runs until its input is missing, or until the ring
 * it writes to is full; then only the rank that it fed or made room for is woken. The times do not depend on the sequence in
 * which ranks run, so short rings cost nothing but wakes: what matters is that they are not shorter than what the lists
 * themselves need (ring_cells). */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"

#include <stdio.h>
#include <string.h>

enum { RING_CELLS = 32 };

struct link {
	int64_t *cell;
	uint32_t mask;
	int32_t from, to; /* ranks */
	int64_t comm;     /* latency between them */
};

/* An action that is next on its rank, and the cells it takes from and puts into; NULL: none. */
struct next {
	struct action a;
	struct link *in, *out;
	int64_t *in_cell, *out_cell;
};

struct rank_state {
	int64_t clock, busy, first_start, left, index; /* left: actions not done yet, head included */
	struct next head, second;                      /* second: the backward of a block */
	const struct action *list;                     /* behind the head; NULL: cursor */
	struct sched_cursor cursor;
	int64_t idle[IDLE_REASON_COUNT]; /* drain is known at the end only */
};

struct run {
	const struct order *o;
	const struct schedule_times *t;
	int64_t p, stages, half; /* half: micro-batches from here on run in the other direction */
	int64_t uniform[ACTION_KIND_COUNT];
	bool staged;                     /* times differ between stages */
	struct link *forward, *gradient; /* [direction * stages + stage]: what that stage puts out */
	struct rank_state *rank;
	int32_t *waits; /* [rank]: 0 runs or is queued; n + 1: link n is empty; -(n + 1): link n is full; gradients count behind
			   forwards */
	int32_t *queue;
	int64_t head, count, links;
	schedule_emit *emit;
	void *ctx;
};

static int64_t power_of_two(int64_t n)
{
	int64_t x = 1;

	while (x < n)
		x *= 2;
	return x;
}

static int64_t directions(const struct pipeline *pl)
{
	return pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL ? 2 : 1;
}

/* Cells of the link behind or before a stage. Lists may do anything: one cell per micro-batch. In closed forms neighbours differ
 * by a few actions (their warm-ups by 2), except across the wrap of a loop, where a whole group waits for its next chunk. */
static int64_t ring_cells(const struct order *o, bool wraps)
{
	const struct pipeline *pl = &o->pl;

	if (o->list != NULL)
		return power_of_two(pl->m);
	if (!wraps)
		return power_of_two(num_min(pl->m, RING_CELLS));
	return power_of_two(schedule_table[pl->schedule].has_groups ? num_min(pl->m, pipeline_group(pl)) : pl->m);
}

/* Whether a forward leaves the last rank of a loop, or a gradient the first. */
static bool wraps(const struct pipeline *pl, int64_t stage, bool gradient)
{
	return pipeline_placement(pl) == PLACEMENT_LOOP && stage % pl->p == (gradient ? 0 : pl->p - 1);
}

int64_t order_run_bytes(const struct order *o)
{
	const struct pipeline *pl = &o->pl;
	int64_t stages = pipeline_stages(pl), lanes = directions(pl), laps = pipeline_placement(pl) == PLACEMENT_LOOP ? pl->v : 0,
		cells, bytes;

	if (!num_mul(2 * lanes * (stages - laps), ring_cells(o, false), &cells) ||
		!num_mul(2 * laps, ring_cells(o, true), &bytes) || !num_add(cells, bytes, &cells) ||
		!num_mul(cells, (int64_t)sizeof(int64_t), &bytes))
		return -1;
	bytes += 2 * lanes * stages * (int64_t)sizeof(struct link);
	return bytes + pl->p * (int64_t)(sizeof(struct rank_state) + 2 * sizeof(int32_t));
}

int64_t schedule_workspace_bytes(const struct pipeline *pl)
{
	static const struct action some = { 0 };
	struct order o = { .pl = *pl, .list = schedule_table[pl->schedule].greedy != NULL ? &some : NULL };
	int64_t run = order_run_bytes(&o), order = order_workspace_bytes(pl), bytes;

	return run < 0 || order < 0 || !num_add(run, num_round_up(order, 8), &bytes) ? -1 : bytes;
}

int64_t schedule_duration(const struct schedule_times *t, int32_t kind, int64_t stage)
{
	bool halves = t->stage_input == NULL && t->stage_weight == NULL && t->input == 0 && t->weight == 0;
	int64_t backward = t->stage_backward != NULL ? t->stage_backward[stage] : t->backward, input, weight;

	if (kind == ACTION_FORWARD)
		return t->stage_forward != NULL ? t->stage_forward[stage] : t->forward;
	input = halves ? backward - backward / 2 : t->stage_input != NULL ? t->stage_input[stage] : t->input;
	weight = halves ? backward / 2 : t->stage_weight != NULL ? t->stage_weight[stage] : t->weight;
	if (kind == ACTION_BACKWARD)
		return t->stage_backward != NULL || t->backward > 0 ? backward : input + weight;
	return kind == ACTION_INPUT ? input : weight;
}

static bool is_staged(const struct schedule_times *t)
{
	return t->stage_forward != NULL || t->stage_backward != NULL || t->stage_input != NULL || t->stage_weight != NULL;
}

static inline int64_t duration(const struct run *r, const struct action *a)
{
	return r->staged ? schedule_duration(r->t, a->kind, a->stage) : r->uniform[a->kind];
}

/* The longest conceivable run must fit. */
static enum err_code check_times(const struct run *r, struct err *e)
{
	const struct schedule_times *t = r->t;
	int64_t longest = num_max(t->comm, t->overlap), actions = r->stages * r->o->pl.m * 3, product;

	if (t->comm < 0 || t->overlap < 0)
		return err_set(e, ERR_RANGE, t->comm < 0 ? "comm" : "overlap-time", "a negative time; legal here: 0 or more");
	for (int64_t s = 0; s < (is_staged(t) ? r->stages : 1); s++)
		for (int32_t kind = 0; kind < ACTION_KIND_COUNT; kind++) {
			int64_t d = schedule_duration(t, kind, s);

			if (d < 0)
				return err_set(e, ERR_RANGE, "times", "%c of stage %lld takes %lld; legal here: 0 or more",
					action_letters[kind], (long long)s, (long long)d);
			longest = num_max(longest, d);
		}
	if (longest > INT64_MAX / 4 || !num_mul(2 * longest, actions + r->p, &product) || !num_mul(product, 2, &product))
		return err_set(e, ERR_RANGE, "times", "times of %lld ticks for %lld actions are too long to add up",
			(long long)longest, (long long)actions);
	return ERR_OK;
}

static void link_init(struct run *r, struct link *l, int64_t lane, int64_t stage, bool gradient, int64_t **cells)
{
	const struct pipeline *pl = &r->o->pl;
	int64_t micro_batch = lane * r->half, n = ring_cells(r->o, wraps(pl, stage, gradient)),
		to = gradient ? stage - 1 : stage + 1;

	l->cell = *cells;
	l->mask = (uint32_t)(n - 1);
	*cells += n;
	l->from = l->to = (int32_t)pipeline_rank_of(pl, stage, micro_batch);
	if (to >= 0 && to < r->stages)
		l->to = (int32_t)pipeline_rank_of(pl, to, micro_batch);
	l->comm = l->from != l->to ? r->t->comm : 0;
}

/* The link an action takes from, and the one it puts into; NULL: none. */
static inline void find_links(const struct run *r, struct next *n)
{
	int64_t at = n->a.stage + (n->a.micro_batch >= r->half ? r->stages : 0);
	bool last = n->a.stage + 1 == r->stages, first = n->a.stage == 0;

	n->in = n->out = NULL;
	if (n->a.kind == ACTION_FORWARD) {
		n->in = first ? NULL : &r->forward[at - 1];
		n->out = last ? NULL : &r->forward[at];
	} else if (n->a.kind != ACTION_WEIGHT) {
		n->in = last ? NULL : &r->gradient[at + 1];
		n->out = first ? NULL : &r->gradient[at];
	}
	n->in_cell = n->in == NULL ? NULL : &n->in->cell[(uint32_t)n->a.micro_batch & n->in->mask];
	n->out_cell = n->out == NULL ? NULL : &n->out->cell[(uint32_t)n->a.micro_batch & n->out->mask];
}

static inline void fetch(const struct run *r, struct rank_state *k, struct next *n)
{
	n->a = k->list != NULL ? *k->list++ : sched_cursor_next(&k->cursor);
	find_links(r, n);
}

static inline void fetch_head(const struct run *r, struct rank_state *k)
{
	fetch(r, k, &k->head);
	if (k->head.a.overlap)
		fetch(r, k, &k->second);
}

static void rank_init(struct run *r, int64_t rank)
{
	struct rank_state *k = &r->rank[rank];

	k->clock = k->busy = k->first_start = k->index = 0;
	memset(k->idle, 0, sizeof k->idle);
	if (r->o->list != NULL) {
		k->list = r->o->list + r->o->first[rank];
		k->left = order_count(r->o, rank);
	} else {
		k->list = NULL;
		schedule_table[r->o->pl.schedule].program(&r->o->pl, rank, &k->cursor.program);
		k->left = sched_program_count(&k->cursor.program);
		sched_cursor_init(&k->cursor);
	}
	if (k->left > 0)
		fetch_head(r, k);
}

static void run_init(struct run *r, const struct order *o, const struct schedule_times *t, void *workspace)
{
	const struct pipeline *pl = &o->pl;
	int64_t lanes = directions(pl), *cells;

	*r = (struct run){
		.o = o, .t = t, .p = pl->p, .stages = pipeline_stages(pl), .half = lanes == 2 ? pl->m / 2 : INT64_MAX
	};
	r->staged = is_staged(t);
	for (int32_t kind = 0; kind < ACTION_KIND_COUNT && !r->staged; kind++)
		r->uniform[kind] = schedule_duration(t, kind, 0);
	r->links = lanes * r->stages;
	r->rank = workspace;
	r->forward = (struct link *)(r->rank + r->p);
	r->gradient = r->forward + r->links;
	cells = (int64_t *)(r->gradient + r->links);
	for (int64_t i = 0; i < 2 * r->links; i++) {
		int64_t n = i % r->links;

		link_init(r, &r->forward[i], n / r->stages, n % r->stages, i >= r->links, &cells);
		memset(r->forward[i].cell, 0xFF, ((size_t)r->forward[i].mask + 1) * sizeof(int64_t));
	}
	r->waits = (int32_t *)cells;
	r->queue = r->waits + r->p;
	for (int64_t rank = 0; rank < r->p; rank++) {
		rank_init(r, rank);
		r->waits[rank] = 0;
		r->queue[rank] = (int32_t)rank;
	}
	r->count = r->p;
}

static inline void wake(struct run *r, int32_t rank, int32_t reason)
{
	int64_t at;

	if (r->waits[rank] != reason)
		return;
	r->waits[rank] = 0;
	at = r->head + r->count++;
	r->queue[at >= r->p ? at - r->p : at] = rank;
}

static inline int32_t link_number(const struct run *r, const struct link *l)
{
	return (int32_t)(l - r->forward) + 1;
}

/* When an action's input was produced (0: no input) and arrives; false when it is missing or its output has no room, and then
 * what for. */
static inline bool is_ready(struct run *r, int64_t rank, const struct next *n, int64_t *produced, int64_t *arrival)
{
	*produced = *arrival = 0;
	if (n->in != NULL) {
		int64_t end = *n->in_cell;

		if (end < 0) {
			r->waits[rank] = link_number(r, n->in);
			return false;
		}
		*produced = end;
		*arrival = end + n->in->comm;
	}
	if (n->out != NULL && *n->out_cell >= 0) {
		r->waits[rank] = -link_number(r, n->out);
		return false;
	}
	return true;
}

static inline void finish(struct run *r, const struct next *n, int64_t end)
{
	if (n->in != NULL) {
		*n->in_cell = -1;
		wake(r, n->in->from, -link_number(r, n->in));
	}
	if (n->out != NULL) {
		*n->out_cell = end;
		wake(r, n->out->to, link_number(r, n->out));
	}
}

/* What is known of the head of a rank when it starts. */
struct start {
	int64_t at, produced; /* produced: end of the input that came last */
	bool gradient;        /* which is a gradient */
};

static bool find_start(struct run *r, int64_t rank, struct start *s)
{
	struct rank_state *k = &r->rank[rank];
	int64_t arrival, second_produced, second_arrival;

	if (!is_ready(r, rank, &k->head, &s->produced, &arrival))
		return false;
	s->gradient = k->head.a.kind != ACTION_FORWARD;
	if (k->head.a.overlap) {
		if (!is_ready(r, rank, &k->second, &second_produced, &second_arrival))
			return false;
		if (second_arrival > arrival) {
			arrival = second_arrival;
			s->produced = second_produced;
			s->gradient = true;
		}
	}
	s->at = num_max(k->clock, arrival);
	return true;
}

/* Cold: a gap, or somebody who listens. */
static void report(struct run *r, int64_t rank, const struct start *s, int64_t end)
{
	struct rank_state *k = &r->rank[rank];
	struct timed_action x = { .rank = rank,
		.index = k->index,
		.action = k->head.a,
		.start = s->at,
		.end = end,
		.free_at = k->clock,
		.ready_at = s->at };

	if (s->at > k->clock) {
		x.reason = k->index == 0 ? IDLE_FILL : s->gradient ? IDLE_GRADIENT : IDLE_INPUT;
		if (k->index > 0)
			x.ready_at = num_max(k->clock, s->produced);
		k->idle[x.reason] += x.ready_at - x.free_at;
		k->idle[IDLE_COMM] += x.start - x.ready_at;
	}
	if (r->emit == NULL)
		return;
	r->emit(r->ctx, &x);
	if (!k->head.a.overlap)
		return;
	x.index++;
	x.action = k->second.a;
	r->emit(r->ctx, &x);
}

int64_t timed_action_busy(const struct timed_action *a)
{
	return a->action.overlap && a->action.kind != ACTION_FORWARD ? 0 : a->end - a->start;
}

/* Runs a rank until it blocks or is done. */
static void advance(struct run *r, int64_t rank)
{
	struct rank_state *k = &r->rank[rank];

	while (k->left > 0) {
		struct start s;
		int64_t end;
		bool block = k->head.a.overlap;

		if (!find_start(r, rank, &s))
			return;
		end = s.at + duration(r, &k->head.a);
		if (block)
			end = r->t->overlap > 0 ? s.at + r->t->overlap : end + duration(r, &k->second.a);
		if (k->index == 0)
			k->first_start = s.at;
		if (s.at > k->clock || r->emit != NULL)
			report(r, rank, &s, end);
		finish(r, &k->head, end);
		if (block)
			finish(r, &k->second, end);
		k->busy += end - s.at;
		k->clock = end;
		k->index += 1 + block;
		k->left -= 1 + block;
		if (k->left > 0)
			fetch_head(r, k);
	}
	r->waits[rank] = INT32_MAX;
}

/* "rank 2 at 2F3 waits for 1F3 of rank 1". Returns the length, 0 when this rank is not stuck. */
static int describe_blocked(const struct run *r, int64_t rank, char *buf, size_t cap)
{
	const struct rank_state *k = &r->rank[rank];
	const struct next *n = &k->head;
	struct action from;
	char name[32], missing[32];

	if (k->left == 0)
		return 0;
	if (k->head.a.overlap && (n->in == NULL || *n->in_cell >= 0))
		n = &k->second;
	if (n->in == NULL || *n->in_cell >= 0)
		return 0;
	from = n->a;
	from.stage += n->a.kind == ACTION_FORWARD ? -1 : 1;
	return snprintf(buf, cap, "rank %lld at %s waits for %s of rank %d", (long long)rank,
		action_format(&k->head.a, name, sizeof name), action_format(&from, missing, sizeof missing), (int)n->in->from);
}

static enum err_code report_deadlock(const struct run *r, struct err *e)
{
	char text[ERR_MSG_CAP - 40] = "", one[120];
	size_t len = 0;
	int64_t more = 0;

	for (int64_t rank = 0; rank < r->p; rank++) {
		int n = describe_blocked(r, rank, one, sizeof one);

		if (n <= 0)
			continue;
		if (more > 0 || len + (size_t)n + 24 > sizeof text)
			more++;
		else
			len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? "; " : "", one);
	}
	if (more > 0)
		(void)snprintf(text + len, sizeof text - len, "; and %lld more", (long long)more);
	return err_set(e, ERR_ILLEGAL, "schedule", "deadlock: %s", text);
}

static void summarize(struct run *r, struct rank_result *ranks, struct schedule_result *out)
{
	int64_t idle;

	*out = (struct schedule_result){ 0 };
	for (int64_t rank = 0; rank < r->p; rank++) {
		const struct rank_state *k = &r->rank[rank];

		out->makespan = num_max(out->makespan, k->clock);
		out->total_busy += k->busy;
		out->max_busy = num_max(out->max_busy, k->busy);
		out->max_span = num_max(out->max_span, k->clock - k->first_start);
		out->span_bubble = num_max(out->span_bubble, k->clock - k->first_start - k->busy);
	}
	for (int64_t rank = 0; rank < r->p; rank++) {
		struct rank_state *k = &r->rank[rank];

		k->idle[IDLE_DRAIN] = out->makespan - k->clock;
		for (int i = 0; i < IDLE_REASON_COUNT; i++)
			out->idle[i] += k->idle[i];
		if (ranks == NULL)
			continue;
		ranks[rank] = (struct rank_result){ .busy = k->busy, .first_start = k->first_start, .last_end = k->clock };
		memcpy(ranks[rank].idle, k->idle, sizeof k->idle);
	}
	idle = r->p * out->makespan - out->total_busy;
	out->bubble_of_step = out->makespan > 0 ? (double)idle / ((double)r->p * (double)out->makespan) : 0;
	out->bubble_over_ideal = out->total_busy > 0 ? (double)idle / (double)out->total_busy : 0;
	out->span_bubble_rate = out->max_span > 0 ? (double)out->span_bubble / (double)out->max_span : 0;
}

enum err_code order_run(const struct order *o, const struct schedule_times *t, void *workspace, schedule_emit *emit, void *ctx,
	struct rank_result *ranks, struct schedule_result *out, struct err *e)
{
	struct run r;
	enum err_code code;

	run_init(&r, o, t, workspace);
	code = check_times(&r, e);
	if (code != ERR_OK)
		return code;
	r.emit = emit;
	r.ctx = ctx;
	while (r.count > 0) {
		int64_t rank = r.queue[r.head];

		r.head = r.head + 1 == r.p ? 0 : r.head + 1;
		r.count--;
		advance(&r, rank);
	}
	for (int64_t rank = 0; rank < r.p; rank++)
		if (r.rank[rank].left > 0)
			return report_deadlock(&r, e);
	summarize(&r, ranks, out);
	return ERR_OK;
}

enum err_code schedule_run(const struct pipeline *pl, const struct schedule_times *t, void *workspace, schedule_emit *emit,
	void *ctx, struct schedule_result *out, struct err *e)
{
	struct order o;
	enum err_code code = order_generate(pl, workspace, &o, e);

	if (code != ERR_OK)
		return code;
	return order_run(
		&o, t, (char *)workspace + num_round_up(num_max(0, order_workspace_bytes(pl)), 8), emit, ctx, NULL, out, e);
}
