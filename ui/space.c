#include "space.h"

#include "cost.h"
#include "num.h"
#include "rules.h"
#include "search.h"

#include <stdlib.h>
#include <string.h>

/* Shorter pieces of a sequence have not been timed by anyone: the automatic choice leaves them out as well. */
enum { CP_PIECE_LEAST = 4096, PP_MOST = 128 };

/* Fitting before not; then faster, where both speeds are known; then smaller. */
static int by_speed(const void *a, const void *b)
{
	const struct space_row *x = a, *y = b;
	if (x->fits != y->fits)
		return x->fits ? -1 : 1;
	if (x->tokens_per_s > y->tokens_per_s || x->tokens_per_s < y->tokens_per_s)
		return x->tokens_per_s > y->tokens_per_s ? -1 : 1;
	return (x->need_bytes > y->need_bytes) - (x->need_bytes < y->need_bytes);
}

static int by_memory(const void *a, const void *b)
{
	const struct space_row *x = a, *y = b;
	if (x->need_bytes != y->need_bytes)
		return x->need_bytes < y->need_bytes ? -1 : 1;
	return (x->tokens_per_s < y->tokens_per_s) - (x->tokens_per_s > y->tokens_per_s);
}

static int (*const orders[SPACE_ORDER_COUNT])(const void *a, const void *b) = {
	[SPACE_BY_SPEED] = by_speed,
	[SPACE_BY_MEMORY] = by_memory,
};

void space_start(struct space *s)
{
	s->n = s->legal = s->fit = s->done = 0;
	s->started = s->complete = false;
}

void space_set_order(struct space *s, enum space_order order)
{
	s->order = order;
	qsort(s->row, s->n, sizeof(s->row[0]), orders[order]);
}

/* Adds a row where it belongs; the last one falls out when there are too many. */
static void insert(struct space *s, const struct space_row *row)
{
	size_t at = s->n;
	while (at > 0 && orders[s->order](row, &s->row[at - 1]) < 0)
		at--;
	if (at == SPACE_MAX)
		return;
	const size_t behind = (s->n < SPACE_MAX ? s->n : SPACE_MAX - 1) - at;
	memmove(&s->row[at + 1], &s->row[at], behind * sizeof(s->row[0]));
	s->row[at] = *row;
	s->n += s->n < SPACE_MAX;
}

/* The divisors of n up to `most`. */
static size_t divisors(int64_t n, int64_t most, int64_t out[SPACE_DEGREES])
{
	size_t count = 0;
	for (int64_t i = 1; i <= num_min(n, most) && count < SPACE_DEGREES; i++) {
		if (n % i == 0)
			out[count++] = i;
	}
	return count;
}

/* What can be tried on this cluster. */
static void list_degrees(struct space *s, const struct draft *d)
{
	const struct scenario *x = &d->s;
	s->n_tp = divisors(x->cluster.gpus, x->cluster.gpus_per_node, s->tp);
	s->n_pp = divisors(x->cluster.gpus, num_min(x->model.layers, PP_MOST), s->pp);
	s->n_cp = 0;
	for (int64_t cp = 1; s->n_cp < SPACE_DEGREES && x->cluster.gpus % cp == 0; cp *= 2) {
		if (cp == 1 || x->training.seq / cp >= CP_PIECE_LEAST)
			s->cp[s->n_cp++] = cp;
	}
	const bool expert_parallel = model_is_moe(&x->model) && framework_rules_table[x->profile.framework].can & CAN_EP;
	s->n_ep = 0;
	for (int64_t ep = 1; s->n_ep < SPACE_DEGREES && ep <= num_min(x->cluster.gpus, num_max(1, x->model.experts)); ep *= 2) {
		if (ep == 1 || (expert_parallel && x->model.experts % ep == 0))
			s->ep[s->n_ep++] = ep;
	}
	s->started = true;
}

static size_t slices(const struct space *s)
{
	return s->n_tp * s->n_pp * s->n_cp * s->n_ep * RECOMPUTE_COUNT;
}

double space_progress(const struct space *s)
{
	return s->complete ? 1 : s->started ? (double)s->done / (double)slices(s) : 0;
}

void space_draft(const struct draft *d, const struct catalog *c, const struct space_row *row, struct draft *out)
{
	/* With the batch, which would follow the layout where it is open: the run stays the same. */
	static const char *const set[] = { "tp", "pp", "cp", "ep", "micro-batch", "global-batch", "recompute", "schedule",
		"vpp" };
	struct layout *y = &out->s.layout;
	*out = *d;
	out->dp_given = 0;
	y->tp = row->tp;
	y->pp = row->pp;
	y->cp = row->cp;
	y->ep = row->ep;
	out->s.training.micro_batch = row->micro_batch;
	out->s.training.recompute = row->recompute;
	if (row->plain) {
		y->schedule = SCHEDULE_1F1B;
		y->vpp = 1;
	}
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		out->origin[knob_index(knob_find(set[i]))] = ORIGIN_FLAG;
	draft_settle(out, c);
}

/* Evaluates a row, with a plain schedule where the draft's is not legal. False when nothing is. */
static bool evaluate(struct space_row *row, const struct draft *d, const struct catalog *c)
{
	struct draft next;
	struct plan p;
	struct err e;
	bool legal = false;
	for (int plain = 0; !legal && plain <= 1; plain++) {
		row->plain = plain == 1;
		space_draft(d, c, row, &next);
		legal = plan_evaluate_memory(&next.s, &p, &e) == ERR_OK;
	}
	if (!legal)
		return false;
	row->fits = p.verdict.known && p.verdict.fits;
	row->tight = p.verdict.tight;
	row->need_bytes = p.worst.need_bytes;
	row->headroom_bytes = p.verdict.headroom_bytes;
	if (row->fits)
		plan_evaluate_time(&next.s, &p);
	if (row->fits && p.step.known) {
		row->step_s = p.step.step_s;
		row->tokens_per_s = p.throughput.tokens_per_s;
		row->mfu = p.throughput.mfu;
		row->usd = cost_of(&next.s, &p.step).usd;
	}
	return true;
}

/* One tp, pp, cp, ep and recompute. Of the micro-batches that do not fit only the first is kept. */
static void try_layout(struct space *s, struct space_row row, const struct draft *d, const struct catalog *c)
{
	struct scenario x = d->s;
	x.layout.tp = row.tp;
	x.layout.pp = row.pp;
	x.layout.cp = row.cp;
	for (int64_t b = 1, over = 0; b > 0; b = search_next_micro_batch(&x, b, row.fits)) {
		row.micro_batch = b;
		if (x.training.global_batch % (row.dp * b) != 0 || !evaluate(&row, d, c))
			return;
		if (!row.fits && over++ > 0)
			return;
		s->legal++;
		s->fit += row.fits;
		insert(s, &row);
	}
}

void space_step(struct space *s, const struct draft *d, const struct catalog *c)
{
	if (!s->started)
		list_degrees(s, d);
	size_t i = s->done++;
	struct space_row row = { .recompute = (int32_t)(i % RECOMPUTE_COUNT) };
	i /= RECOMPUTE_COUNT;
	row.ep = s->ep[i % s->n_ep];
	i /= s->n_ep;
	row.cp = s->cp[i % s->n_cp];
	i /= s->n_cp;
	row.pp = s->pp[i % s->n_pp];
	i /= s->n_pp;
	row.tp = s->tp[i];
	if (d->s.cluster.gpus % (row.tp * row.pp * row.cp) == 0) {
		row.dp = d->s.cluster.gpus / (row.tp * row.pp * row.cp);
		try_layout(s, row, d, c);
	}
	s->complete = s->done == slices(s);
}

struct space_best space_best_of(const struct space *s)
{
	struct space_best b = { .legal = s->legal, .fit = s->fit, .order = s->order, .cp = s->n_cp > 1, .ep = s->n_ep > 1 };
	for (b.n = 0; b.n < s->n && b.n < SPACE_BEST; b.n++)
		b.row[b.n] = s->row[b.n];
	return b;
}

bool space_is_here(const struct draft *d, const struct space_row *row)
{
	const struct layout *y = &d->s.layout;
	return row->tp == y->tp && row->pp == y->pp && row->cp == y->cp && row->ep == y->ep &&
		row->micro_batch == d->s.training.micro_batch && row->recompute == d->s.training.recompute && !row->plain;
}

bool space_is_front(const struct space *s, size_t i)
{
	const struct space_row *x = &s->row[i];
	if (!x->fits || x->tokens_per_s <= 0)
		return false;
	for (size_t j = 0; j < s->n; j++) {
		const struct space_row *y = &s->row[j];
		const bool better = y->tokens_per_s > x->tokens_per_s || y->need_bytes < x->need_bytes;
		if (better && y->fits && y->tokens_per_s >= x->tokens_per_s && y->need_bytes <= x->need_bytes)
			return false;
	}
	return true;
}
