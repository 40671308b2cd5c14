/* The critical path: from the last action back, always to what made the action start when it did. Along it time has no holes. */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"

#include <string.h>

/* What an action waited for. */
enum winner { WON_RANK, WON_FORWARD, WON_GRADIENT };

struct walk {
	const struct order *o;
	const struct schedule_times *t;
	int64_t *first; /* [rank]: where its actions begin in won */
	int64_t *at;    /* [rank]: the path is not behind this index any more */
	struct rank_result *ranks;
	uint8_t *won;
};

static void record(void *ctx, const struct timed_action *a)
{
	struct walk *w = ctx;
	uint8_t won = a->start == a->free_at ? WON_RANK : a->reason == IDLE_GRADIENT ? WON_GRADIENT : WON_FORWARD;

	w->won[w->first[a->rank] + a->index] = won;
}

int64_t order_critical_bytes(const struct order *o)
{
	int64_t run = order_run_bytes(o), actions = 0, bytes;

	for (int64_t rank = 0; rank < o->pl.p; rank++)
		actions += order_count(o, rank);
	if (run < 0 ||
		!num_add(num_round_up(run, 8), actions + o->pl.p * (int64_t)(2 * sizeof(int64_t) + sizeof(struct rank_result)),
			&bytes))
		return -1;
	return bytes;
}

/* The index of an action on its rank, searched from where the path left that rank: it visits a rank ever earlier. */
static int64_t search(struct walk *w, int64_t rank, const struct action *a)
{
	for (int64_t i = w->at[rank]; i >= 0; i--) {
		struct action x = order_at(w->o, rank, i);
		bool backward = x.kind == ACTION_BACKWARD || x.kind == ACTION_INPUT;

		if (x.stage == a->stage && x.micro_batch == a->micro_batch &&
			(a->kind == ACTION_FORWARD ? x.kind == ACTION_FORWARD : backward))
			return i;
	}
	return -1;
}

/* Duration of action i of a rank; *i moves to the first half when it is the second of a block, *second tells of one. */
static int64_t block_duration(const struct walk *w, int64_t rank, int64_t *i, struct action *head, struct action *second)
{
	int64_t d;

	*head = order_at(w->o, rank, *i);
	if (head->overlap && head->kind != ACTION_FORWARD)
		*head = order_at(w->o, rank, --*i);
	d = schedule_duration(w->t, head->kind, head->stage);
	*second = *head;
	if (!head->overlap)
		return d;
	*second = order_at(w->o, rank, *i + 1);
	return w->t->overlap > 0 ? w->t->overlap : d + schedule_duration(w->t, second->kind, second->stage);
}

/* The producer that the action waited for: rank and index of it; false at the beginning of the path. */
static bool step_back(struct walk *w, int64_t *rank, int64_t *i, int64_t *end, const struct action *head,
	const struct action *second, struct critical_path *out)
{
	uint8_t won = w->won[w->first[*rank] + *i];
	struct action from = won == WON_GRADIENT ? *second : *head;
	int64_t source;

	if (won == WON_RANK) {
		w->at[*rank] = --*i;
		return *i >= 0;
	}
	from.stage += from.kind == ACTION_FORWARD ? -1 : 1;
	source = pipeline_rank_of(&w->o->pl, from.stage, from.micro_batch);
	w->at[*rank] = *i - 1;
	if (source != *rank) {
		out->comm_hops++;
		out->comm += w->t->comm;
		*end -= w->t->comm;
	}
	*rank = source;
	*i = search(w, source, &from);
	return *i >= 0;
}

static void walk_back(struct walk *w, int64_t rank, int64_t end, schedule_emit *emit, void *ctx, struct critical_path *out)
{
	int64_t i = order_count(w->o, rank) - 1;
	struct action head, second;

	do {
		int64_t d = block_duration(w, rank, &i, &head, &second);
		struct timed_action x = { .rank = rank,
			.index = i,
			.action = head,
			.start = end - d,
			.end = end,
			.free_at = end - d,
			.ready_at = end - d };

		if (emit != NULL)
			emit(ctx, &x);
		out->actions++;
		out->busy += d;
		end -= d;
	} while (step_back(w, &rank, &i, &end, &head, &second, out));
}

enum err_code order_critical(const struct order *o, const struct schedule_times *t, void *workspace, schedule_emit *emit,
	void *ctx, struct critical_path *out, struct err *e)
{
	struct walk w = { .o = o, .t = t };
	struct schedule_result result;
	enum err_code code;
	int64_t last = 0;

	*out = (struct critical_path){ 0 };
	w.first = (int64_t *)((char *)workspace + num_round_up(order_run_bytes(o), 8));
	w.at = w.first + o->pl.p;
	w.ranks = (struct rank_result *)(w.at + o->pl.p);
	w.won = (uint8_t *)(w.ranks + o->pl.p);
	for (int64_t rank = 0; rank < o->pl.p; rank++) {
		w.first[rank] = rank > 0 ? w.first[rank - 1] + order_count(o, rank - 1) : 0;
		w.at[rank] = order_count(o, rank) - 1;
	}
	code = order_run(o, t, workspace, record, &w, w.ranks, &result, e);
	if (code != ERR_OK)
		return code;
	for (int64_t rank = 1; rank < o->pl.p; rank++)
		if (w.ranks[rank].last_end > w.ranks[last].last_end)
			last = rank;
	walk_back(&w, last, result.makespan, emit, ctx, out);
	return ERR_OK;
}
