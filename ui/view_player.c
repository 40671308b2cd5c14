/* The tick player of the pipeline view: what runs, waits and is held at one tick; found by executing the order. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { SQUARES_MAX = 8, COUNT_W = 10, GIB_W = 13, NARROW_W = 80 };

/* One letter in idle cells, a few words in the table, one where it is narrow. */
static const struct {
	char letter;
	const char *words, *brief;
} reasons[IDLE_REASON_COUNT] = {
	[IDLE_NONE] = { ' ', N_("not idle"), N_("not idle") },
	[IDLE_FILL] = { 'f', N_("fill"), N_("fill") },
	[IDLE_INPUT] = { 'i', N_("waiting for input"), N_("input") },
	[IDLE_GRADIENT] = { 'g', N_("waiting for gradient"), N_("gradient") },
	[IDLE_COMM] = { 'c', N_("communication"), N_("latency") },
	[IDLE_DRAIN] = { 'd', N_("drain"), N_("drain") },
};

/* Row of a rank in the drawing, -1: it has none. */
static int row_of(const struct strip *s, int64_t rank)
{
	if (s->g == NULL)
		return rank >= s->first && rank < s->first + s->cells.h ? (int)(rank - s->first) : -1;
	for (int64_t row = 0; row < s->g->rows; row++) {
		if (s->g->rank[row] == rank)
			return (int)row;
	}
	return -1;
}

/* The column in which a tick begins; one that is left out is at the cut. */
static int64_t col_of(const struct strip *s, int64_t tick)
{
	if (s->g == NULL)
		return num_max(0, (tick - s->tick) * s->scale);
	const int64_t col = gantt_col_at(s->g, tick);
	return col < 0 ? s->g->head_cols : col;
}

/* Writes a reason into the idle cells of [from, to). */
static void write_reason(struct canvas *c, const struct strip *s, int64_t rank, int64_t from, int64_t to, int32_t reason)
{
	const int row = from < to ? row_of(s, rank) : -1;
	if (row < 0)
		return;
	const int64_t end = num_min(s->cells.w, reason == IDLE_DRAIN && s->g != NULL ? s->g->cols : col_of(s, to));
	for (int64_t col = col_of(s, from); col < end; col++) {
		if (s->g == NULL || s->g->cell[row][col].mark == GANTT_IDLE)
			canvas_put(c, s->cells.x + (int)col, s->cells.y + row, ROLE_IDLE,
				(uint32_t)(unsigned char)reasons[reason].letter);
	}
}

struct watch {
	const struct view *v;
	const struct pipeline *pl;
	const struct strip *s;
	struct rank_now *ranks;
	int64_t now;
};

/* Between ready_at and start lies the latency, before the first action of a rank the fill. */
static int32_t late_reason(const struct timed_action *t)
{
	return t->index == 0 ? IDLE_FILL : IDLE_COMM;
}

/* From the start of F to the end of B a chunk holds a micro-batch whole, or to the end of I, and from there a part of it to the
 * end of W. */
static void hold(struct chunk_peak *held, const struct timed_action *t, int64_t now)
{
	const bool forward = t->action.kind == ACTION_FORWARD;
	if (forward ? t->start > now : t->end > now)
		return;
	held->whole += forward ? 1 : t->action.kind == ACTION_WEIGHT ? 0 : -1;
	held->pending += t->action.kind == ACTION_INPUT ? 1 : t->action.kind == ACTION_WEIGHT ? -1 : 0;
}

static void watch_action(void *ctx, const struct timed_action *t)
{
	const struct watch *w = ctx;
	struct rank_now *r = &w->ranks[t->rank];
	hold(&r->held[pipeline_chunk_at(w->pl, t->rank, t->action.stage)], t, w->now);
	r->last_end = num_max(r->last_end, t->end);
	if (r->next && t->start == r->at.start && t->action.overlap) {
		r->other = t->action;
	} else if (t->free_at <= w->now && w->now < t->end) {
		r->at = *t;
		r->next = true;
		r->busy = t->start <= w->now;
		r->reason = r->busy ? IDLE_NONE : w->now < t->ready_at ? t->reason : late_reason(t);
	}
	if (w->v->a->player.reasons) {
		write_reason(w->v->c, w->s, t->rank, t->free_at, t->ready_at, t->reason);
		write_reason(w->v->c, w->s, t->rank, t->ready_at, t->start, late_reason(t));
	}
}

void player_ranks(const struct view *v, const struct drawn_order *d, const struct strip *s, struct rank_now *ranks)
{
	struct watch w = { v, &d->order.pl, s, ranks, v->a->player.now };
	struct schedule_result result = { 0 };
	for (int64_t rank = 0; rank < s->p; rank++)
		ranks[rank] = (struct rank_now){ .reason = IDLE_DRAIN, .held = ranks[rank].held };
	if (!drawn_run(d, watch_action, &w, &result) || !v->a->player.reasons)
		return;
	for (int64_t rank = 0; rank < s->p; rank++)
		write_reason(v->c, s, rank, ranks[rank].last_end, result.makespan, IDLE_DRAIN);
}

static void blank_future(const struct view *v, const struct strip *s)
{
	const int64_t now = v->a->player.now, here = s->g != NULL ? col_of(s, now) + 1 : 0;
	for (int64_t col = num_max(here, col_of(s, now + 1)); col < s->cells.w; col++) {
		for (int row = 0; row < s->cells.h; row++)
			canvas_put(v->c, s->cells.x + (int)col, s->cells.y + row, ROLE_TEXT, ' ');
	}
}

void player_mark(const struct view *v, const struct strip *s, int above, int below)
{
	const int64_t now = v->a->player.now, col = col_of(s, now);
	if (v->a->player.hide_future)
		blank_future(v, s);
	if (col >= s->cells.w || (s->g == NULL && now < s->tick))
		return;
	canvas_glyph(v->c, s->cells.x + (int)col, above, ROLE_ACCENT, GLYPH_NOW_ABOVE);
	if (below >= 0)
		canvas_glyph(v->c, s->cells.x + (int)col, below, ROLE_ACCENT, GLYPH_NOW_BELOW);
}

/* "F3", "B12+F4", with the chunk where a rank holds several: "F3 of stage 5". */
static char *action_text(const struct app *a, const struct rank_now *r, char *buf, size_t cap)
{
	const struct action *x = &r->at.action;
	int used = snprintf(buf, cap, "%c%" PRId32, action_letters[x->kind], x->micro_batch);
	if (x->overlap && r->other.overlap)
		used += snprintf(
			buf + used, cap - (size_t)used, "+%c%" PRId32, action_letters[r->other.kind], r->other.micro_batch);
	if (pipeline_chunks_held(&a->plan.pipeline) > 1)
		(void)snprintf(buf + used, cap - (size_t)used, _(" of stage %" PRId32), x->stage);
	return buf;
}

/* Why a rank is idle, in w columns. */
static char *idling(const struct rank_now *r, const char *action, int w, char buf[80])
{
	const char *words[] = { _(reasons[r->reason].words), _(reasons[r->reason].brief) };
	for (int i = 0; i < 2; i++) {
		if (r->next)
			(void)snprintf(buf, 80, _("idle: %s, then %s"), words[i], action);
		else
			(void)snprintf(buf, 80, _("idle: %s"), words[i]);
		if (canvas_text_width(buf) <= w)
			break;
	}
	return buf;
}

/* What a rank does, in w columns if that is possible, at most 80 bytes. */
static char *doing(const struct app *a, const struct rank_now *r, int w, char buf[80])
{
	static const char *const names[ACTION_KIND_COUNT] = {
		[ACTION_FORWARD] = N_("forward"),
		[ACTION_BACKWARD] = N_("backward"),
		[ACTION_INPUT] = N_("input gradient"),
		[ACTION_WEIGHT] = N_("weight gradient"),
	};
	char action[40] = "";
	if (r->next)
		(void)action_text(a, r, action, sizeof(action));
	if (r->busy && r->at.action.overlap)
		(void)snprintf(buf, 80, "%s", action);
	else if (r->busy)
		(void)snprintf(buf, 80, "%s %s", action, _(names[r->at.action.kind]));
	else
		(void)idling(r, action, w, buf);
	return buf;
}

static void draw_squares(const struct view *v, int x, int y, int64_t n, int64_t peak)
{
	const int64_t most = num_max(1, num_max(n, peak));
	const int64_t squares = most <= SQUARES_MAX ? n : (n * SQUARES_MAX + most - 1) / most;
	for (int i = 0; i < (int)squares; i++)
		canvas_glyph(v->c, x + i, y, ROLE_ACTIVATIONS, GLYPH_THUMB);
}

/* A rank's row of the table. */
struct table_row {
	int64_t rank, in_flight, peak, bytes;
};

/* The activations are those of the plan's memory model for what the rank holds. */
static struct table_row row_of_rank(
	const struct app *a, const struct memory_shared *sh, const struct drawn_order *d, const struct rank_now *r, int64_t rank)
{
	const bool backward =
		r->busy && (r->at.action.overlap || r->at.action.kind == ACTION_BACKWARD || r->at.action.kind == ACTION_INPUT);
	struct table_row row = { .rank = rank, .peak = drawn_peak(a, d, rank) };
	for (int64_t k = 0; k < pipeline_chunks_held(&d->order.pl); k++)
		row.in_flight += r->held[k].whole + r->held[k].pending;
	row.bytes = num_round(memory_activations_of(&a->draft.s, sh, rank, r->held, backward));
	return row;
}

static void draw_row(const struct view *v, int y, int w, const struct rank_now *r, const struct table_row *row)
{
	const struct app *a = v->a;
	const int label_w = view_label_w(a), count_x = w - GIB_W - COUNT_W;
	const int squares_w = w >= NARROW_W ? SQUARES_MAX + 1 : 0, doing_w = count_x - squares_w - label_w - 1;
	char text[80];
	(void)canvas_printf(v->c, 0, y, label_w, ROLE_DIM, "r%" PRId64, row->rank);
	(void)canvas_text(v->c, label_w, y, doing_w, r->busy ? ROLE_TEXT : ROLE_DIM, doing(a, r, doing_w, text));
	if (squares_w > 0)
		draw_squares(v, count_x - squares_w, y, row->in_flight, row->peak);
	(void)snprintf(text, sizeof(text), _("%" PRId64 " of %" PRId64), row->in_flight, row->peak);
	(void)canvas_text_right(v->c, count_x, y, COUNT_W, ROLE_TEXT, text);
	(void)canvas_text_right(v->c, w - GIB_W, y, GIB_W, ROLE_TEXT, view_gib3(row->bytes, text, sizeof(text)));
}

void player_table(const struct view *v, struct rect r, const struct drawn_order *d, const struct rank_now *ranks, int64_t first)
{
	const struct app *a = v->a;
	const int count_x = r.w - GIB_W - COUNT_W;
	const bool chunks = pipeline_chunks_held(&a->plan.pipeline) > 1;
	struct memory_shared sh;
	const int used = canvas_printf(v->c, r.x, r.y, count_x, ROLE_HEAD, _("TICK %" PRId64), a->player.now);
	(void)canvas_printf(
		v->c, r.x + used + 1, r.y, count_x - used - 1, ROLE_DIM, _("(0 to %" PRId64 ")"), a->player.ticks - 1);
	(void)canvas_text_right(v->c, count_x - 10, r.y, COUNT_W + 10, ROLE_DIM, chunks ? _("chunks in flight") : _("in flight"));
	(void)canvas_text_right(v->c, r.w - GIB_W, r.y, GIB_W, ROLE_DIM, r.w >= NARROW_W ? _("activ., GiB") : _("A GiB"));
	memory_prepare(&a->draft.s, &sh);
	for (int64_t i = 0; i + 1 < r.h && first + i < (int64_t)a->n_stages; i++) {
		const struct table_row row = row_of_rank(a, &sh, d, &ranks[first + i], first + i);
		draw_row(v, r.y + 1 + (int)i, r.w, &ranks[first + i], &row);
	}
}

void player_state(const struct view *v)
{
	const struct player *p = &v->a->player;
	const int y = v->c->h - 2;
	const char *right = p->reasons ? _("f fill  i input  g gradient  c latency  d drain")
		: p->hide_future       ? _("what comes is hidden")
				       : "";
	const int left_w = v->c->w - canvas_text_width(right) - 1;
	char text[64];
	(void)canvas_text_right(v->c, 0, y, v->c->w, ROLE_DIM, right);
	(void)snprintf(text, sizeof(text), p->playing ? _("playing, ticks a second: %d") : _("paused, ticks a second: %d"),
		app_ticks_per_s(v->a));
	(void)canvas_text(v->c, 0, y, left_w, ROLE_DIM, canvas_fitting(left_w, text, p->playing ? _("playing") : _("paused")));
}
