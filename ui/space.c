#include "space.h"

#include "cost.h"
#include "num.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>

/* Shorter pieces of a sequence have not been timed by anyone: the automatic choice leaves them out as well. */
enum { CP_PIECE_LEAST = 4096, PP_MOST = 128, MICRO_BATCH_MOST = 16 };

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
	s->started = true;
}

static size_t slices(const struct space *s)
{
	return s->n_tp * s->n_pp * s->n_cp * RECOMPUTE_COUNT;
}

double space_progress(const struct space *s)
{
	return s->complete ? 1 : s->started ? (double)s->done / (double)slices(s) : 0;
}

void space_draft(const struct draft *d, const struct catalog *c, const struct space_row *row, struct draft *out)
{
	static const char *const set[] = { "tp", "pp", "cp", "ep", "micro-batch", "recompute", "schedule", "vpp" };
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

/* Evaluates a row; fewer experts per rank, and a plain schedule, where the draft's are not legal. False when nothing is. */
static bool evaluate(struct space_row *row, const struct draft *d, const struct catalog *c)
{
	struct draft next;
	struct plan p;
	struct err e;
	bool legal = false;
	for (int64_t ep = d->s.layout.ep; !legal && ep >= 1; ep /= 2) {
		for (int plain = 0; !legal && plain <= 1; plain++) {
			row->ep = ep;
			row->plain = plain == 1;
			space_draft(d, c, row, &next);
			legal = plan_evaluate_memory(&next.s, &p, &e) == ERR_OK;
		}
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

/* One tp, pp, cp and recompute: micro-batches 1, 2, 4 ... while they fit and divide the global batch. */
static void try_layout(struct space *s, struct space_row row, const struct draft *d, const struct catalog *c)
{
	for (row.micro_batch = 1; row.micro_batch <= MICRO_BATCH_MOST; row.micro_batch *= 2) {
		if (d->s.training.global_batch % (row.dp * row.micro_batch) != 0 || !evaluate(&row, d, c))
			return;
		s->legal++;
		s->fit += row.fits;
		insert(s, &row);
		if (!row.fits)
			return;
	}
}

void space_step(struct space *s, const struct draft *d, const struct catalog *c)
{
	if (!s->started)
		list_degrees(s, d);
	size_t i = s->done++;
	struct space_row row = { .recompute = (int32_t)(i % RECOMPUTE_COUNT) };
	i /= RECOMPUTE_COUNT;
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
