#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A drawing never executes more actions than ACTIONS_MAX: what it would show is the same beginning and end. */
enum { ACTIONS_MAX = 1 << 14, GREEDY_MAX = 1 << 13, NARROW_W = 48 };

static const struct schedule_times drawing_times = { .forward = 1, .backward = 2 };

/* An order without closed form has to be generated first, which takes longer: fewer still, where that is legal. */
static struct pipeline drawable_greedy(const struct pipeline *pl, struct pipeline d)
{
	struct pipeline few = d;
	struct err e;
	few.m = num_max(2, GREEDY_MAX / (schedule_table[pl->schedule].passes * pl->p * num_max(1, pl->v)));
	return few.m < d.m && pipeline_check(&few, &e) == ERR_OK ? few : d;
}

/* The pipeline to execute for a drawing: the plan's own, or the same with fewer micro-batches (whole groups of them). */
static struct pipeline drawable(const struct pipeline *pl)
{
	struct pipeline d = *pl;
	const int64_t per_batch = 2 * pl->p * num_max(1, pl->v), group = num_max(pl->p, pl->group);
	if (pl->m > ACTIONS_MAX / per_batch)
		d.m = num_max(2, ACTIONS_MAX / per_batch / group) * group;
	if (d.m > pl->m)
		d.m = pl->m;
	return schedule_table[pl->schedule].greedy ? drawable_greedy(pl, d) : d;
}

/* The exact order, once it is made. */
static const struct order *made_order(const struct app *a)
{
	const struct exact_order *x = &a->exact;
	return x->workspace != NULL && x->build.scratch == NULL ? &x->build.order : NULL;
}

/* The plan's or, of one with too many actions, or of which the exact order is still being made, the same with fewer
 * micro-batches. */
static struct pipeline pipeline_drawn(const struct app *a)
{
	return made_order(a) != NULL ? a->plan.pipeline : drawable(&a->plan.pipeline);
}

static struct pipeline_ticks whole_ticks(const struct app *a, int64_t drawn_m, int64_t drawn_ticks)
{
	const struct pipeline *pl = &a->plan.pipeline;
	struct pipeline_ticks t = { drawn_ticks, true };
	if (drawn_m != pl->m)
		t.n = schedule_table[pl->schedule].closed(pl, 1, 1, 1, 0, &t.exact);
	return t;
}

void drawn_close(struct drawn_order *d)
{
	free(d->list);
	free(d->workspace);
	*d = (struct drawn_order){ 0 };
}

/* The order, made before or now. */
static bool take_order(const struct app *a, struct drawn_order *d, struct err *e)
{
	const struct pipeline pl = pipeline_drawn(a);
	const int64_t bytes = order_workspace_bytes(&pl);
	if (made_order(a) != NULL) {
		d->order = *made_order(a);
		return true;
	}
	d->list = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
	return d->list != NULL && order_generate(&pl, d->list, &d->order, e) == ERR_OK;
}

bool drawn_open(const struct app *a, struct drawn_order *d, struct err *e)
{
	*d = (struct drawn_order){ 0 };
	if (take_order(a, d, e)) {
		const int64_t bytes = order_run_bytes(&d->order);
		d->workspace = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
	}
	if (d->workspace == NULL) {
		drawn_close(d);
		return false;
	}
	d->whole = whole_ticks(a, d->order.pl.m, a->player.ticks);
	return true;
}

bool drawn_run(const struct drawn_order *d, schedule_emit *emit, void *ctx, struct schedule_result *result)
{
	struct err e;
	return order_run(&d->order, &drawing_times, d->workspace, emit, ctx, NULL, result, &e) == ERR_OK;
}

bool drawn_gantt(const struct drawn_order *d, int rows, int cols, struct gantt *g)
{
	struct err e;
	return gantt_draw_order(&d->order, &drawing_times, (struct gantt_field){ rows, cols, NULL }, d->workspace, g, &e) ==
		ERR_OK;
}

int64_t drawn_peak(const struct app *a, const struct drawn_order *d, int64_t rank)
{
	const struct pipeline *pl = &a->plan.pipeline;
	return d->order.list != NULL && d->order.pl.m == pl->m ? order_peaks(&d->order, rank).at_weight
							       : pipeline_in_flight(pl, rank);
}

int64_t view_pipeline_ticks(const struct app *a)
{
	struct drawn_order d;
	struct schedule_result result = { 0 };
	struct err e = { 0 };
	if (drawn_open(a, &d, &e) && !drawn_run(&d, NULL, NULL, &result))
		result.makespan = 0;
	drawn_close(&d);
	return result.makespan;
}

/* A workspace for the drawable pipeline. */
static void *new_workspace(const struct pipeline *pl)
{
	const int64_t bytes = schedule_workspace_bytes(pl);
	return bytes < 0 ? NULL : malloc((size_t)bytes + 1);
}

/* Draws the pipeline of the plan, with fewer micro-batches where there are too many actions; false when it cannot be drawn.
 * *drawn_m: micro-batches that were drawn. */
static bool draw_plan(const struct app *a, struct gantt_field field, struct gantt *g, int64_t *drawn_m)
{
	const struct pipeline pl = drawable(&a->plan.pipeline);
	struct err e;
	void *workspace = new_workspace(&pl);
	*drawn_m = pl.m;
	const bool good = workspace != NULL && gantt_draw(&pl, &drawing_times, field, workspace, g, &e) == ERR_OK;
	free(workspace);
	return good;
}

static uint8_t kind_role(int32_t kind)
{
	static const uint8_t roles[ACTION_KIND_COUNT] = {
		[ACTION_FORWARD] = ROLE_FORWARD,
		[ACTION_BACKWARD] = ROLE_BACKWARD,
		[ACTION_INPUT] = ROLE_INPUT,
		[ACTION_WEIGHT] = ROLE_WEIGHT,
	};
	return kind >= 0 && kind < ACTION_KIND_COUNT ? roles[kind] : ROLE_IDLE;
}

void view_gantt_cells(struct canvas *c, int x, int y, const struct gantt *g, int64_t row)
{
	static const enum glyph glyphs[GANTT_MARK_COUNT] = {
		[GANTT_IDLE] = GLYPH_IDLE,
		[GANTT_REST] = GLYPH_REST,
		[GANTT_BORDER] = GLYPH_BORDER,
		[GANTT_CUT] = GLYPH_CUT,
		[GANTT_BOTH] = GLYPH_MEDIUM,
	};
	for (int64_t col = 0; col < g->cols; col++) {
		const struct gantt_cell *cell = &g->cell[row][col];
		const int at = x + (int)col;
		if (cell->mark == GANTT_TEXT)
			canvas_put(c, at, y, kind_role(cell->kind), (uint32_t)(unsigned char)cell->text);
		else if (cell->mark == GANTT_CUT)
			canvas_glyph(c, at, y, ROLE_IDLE, GLYPH_CUT);
		else if (cell->mark == GANTT_BOTH)
			canvas_glyph(c, at, y, ROLE_TEXT, GLYPH_MEDIUM);
		else if (cell->mark != GANTT_BLANK)
			canvas_glyph(c, at, y, kind_role(cell->kind), glyphs[cell->mark]);
	}
}

/* A window on the drawing: which ranks, which ticks. */
struct window {
	struct canvas *c;
	struct rect r;
	int64_t first, tick;
	int scale;
	int64_t lower;         /* stages from here on are in lower case */
	struct action forward; /* of the block whose second half comes next */
};

/* One action, or a block when its second half comes, cut to the window: text, rest. */
static void window_action(void *ctx, const struct timed_action *t)
{
	struct window *w = ctx;
	const int64_t row = t->rank - w->first;
	const int64_t start = (t->start - w->tick) * w->scale, n = (t->end - t->start) * w->scale;
	const bool block = t->action.overlap, ends = block && t->action.kind != ACTION_FORWARD;
	if (row < 0 || row >= w->r.h || start + n <= 0 || start >= w->r.w || n < 1)
		return;
	if (block && !ends) {
		w->forward = t->action;
		return;
	}
	const struct action *first = ends ? &w->forward : &t->action;
	const struct gantt_label l = gantt_label(first, ends ? &t->action : NULL, n, true, w->lower);
	for (int64_t i = start < 0 ? -start : 0; i < n && start + i < w->r.w; i++) {
		const int x = w->r.x + (int)(start + i), y = w->r.y + (int)row;
		const uint8_t role = kind_role(i < l.first ? first->kind : t->action.kind);
		if (i < l.len)
			canvas_put(w->c, x, y, role, (uint32_t)(unsigned char)l.text[i]);
		else
			canvas_glyph(w->c, x, y, role, n >= 6 && i == n - 1 ? GLYPH_BORDER : GLYPH_REST);
	}
}

void view_gantt_zoomed(struct canvas *c, const struct drawn_order *d, struct rect r, int64_t first, int64_t tick, int scale)
{
	const struct pipeline *pl = &d->order.pl;
	struct window w = { c, r, first, tick, scale, gantt_lower(pl), { 0 } };
	struct schedule_result result = { 0 };
	if (!drawn_run(d, NULL, NULL, &result))
		return;
	for (int64_t row = 0; row < r.h && first + row < pl->p; row++) {
		for (int64_t col = 0; col < r.w && tick + col / scale < result.makespan; col++)
			canvas_glyph(c, r.x + (int)col, r.y + (int)row, ROLE_IDLE, GLYPH_IDLE);
	}
	(void)drawn_run(d, window_action, &w, &result);
}

enum bubble_words { BUBBLE_BOTH_WHY, BUBBLE_BOTH, BUBBLE_DRAWN };

/* "bubble 4.48 % as drawn (equal stages), 4.26 % as timed", or with fewer words. Returns buf. */
static char *bubble_text(const struct app *a, enum bubble_words words, char *buf, size_t cap)
{
	char drawn[32], timed[32];
	(void)units_format_f4(100 * a->plan.bubble_of_step, drawn, sizeof(drawn));
	if (words == BUBBLE_DRAWN || !a->plan.step.known) {
		(void)snprintf(buf, cap, _("bubble %s %% as drawn"), drawn);
		return buf;
	}
	view_timed_bubble(&a->plan, timed, sizeof(timed));
	(void)snprintf(buf, cap,
		words == BUBBLE_BOTH ? _("bubble %s %% as drawn, %s %% as timed")
				     : _("bubble %s %% as drawn (equal stages), %s %% as timed"),
		drawn, timed);
	return buf;
}

/* Below the drawing: the bubble, and what is left out; the first of these that fits. */
static void draw_caption(const struct view *v, int x, int y, int w, const struct gantt *g, int64_t drawn_m)
{
	static const struct {
		enum bubble_words words;
		bool more;
	} choices[] = { { BUBBLE_BOTH_WHY, true }, { BUBBLE_BOTH, true }, { BUBBLE_BOTH_WHY, false }, { BUBBLE_BOTH, false },
		{ BUBBLE_DRAWN, false } };
	char text[160], more[176] = "";
	const char *tail = "";
	if (drawn_m < v->a->plan.pipeline.m)
		(void)snprintf(more, sizeof(more), _("; drawn with %" PRId64 " micro-batches"), drawn_m);
	else if (gantt_caption(g, text, sizeof(text))[0] != '\0')
		(void)snprintf(more, sizeof(more), "; %s", text);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		tail = choices[i].more ? more : "";
		(void)bubble_text(v->a, choices[i].words, text, sizeof(text));
		if (2 + canvas_text_width(text) + canvas_text_width(tail) <= w)
			break;
	}
	canvas_glyph(v->c, x, y, ROLE_IDLE, GLYPH_IDLE);
	view_figure(v, x + 2, y, canvas_text_width(text), text, "pipeline.bubble_of_step");
	(void)canvas_text(v->c, x + 2 + canvas_text_width(text), y, w, ROLE_DIM, tail);
}

/* Ticks below the drawing: where it is not cut, then how many there are. The numbers behind a cut would all change with m; in a
 * narrow drawing the start alone says enough. */
static void draw_axis(const struct view *v, struct rect r, const struct gantt *g, int64_t drawn_m)
{
	char axis[GANTT_COLS_MAX + 1], total[48];
	const struct pipeline_ticks t = whole_ticks(v->a, drawn_m, g->result.makespan);
	(void)snprintf(total, sizeof(total), t.exact ? _("%" PRId64 " ticks") : _("about %" PRId64 " ticks"), t.n);
	const int total_w = canvas_text_width(total);
	const int end = g->mode == GANTT_ABRIDGED ? (int)g->head_cols : (int)g->cols, room = r.w - total_w - 1;
	gantt_axis(g, axis, sizeof(axis));
	(void)canvas_clip(v->c, r.x, r.y, r.w < NARROW_W ? 1 : end < room ? end : room, ROLE_DIM, axis);
	(void)canvas_text_right(v->c, r.x + r.w - total_w, r.y, total_w, ROLE_DIM, total);
}

/* One rank: label, drawing, micro-batches in flight and what became of them since the pin. */
static void draw_rank(const struct view *v, struct rect r, int y, const struct gantt *g, int64_t row, struct stage_span span)
{
	const struct app *a = v->a;
	const double in_flight = a->stages[span.first].in_flight;
	const int value_x = r.x + r.w - v->l.value_w;
	char text[32], path[FIGURE_PATH_CAP];
	view_stage_label(v, r.x, y, 'r', span);
	view_gantt_cells(v->c, r.x + view_label_w(a), y, g, row);
	(void)snprintf(text, sizeof(text), "%.4g", in_flight);
	view_figure(v, value_x, y, 7, text, view_stage_path(span.first, "in_flight", path));
	if (!a->pin.set || span.first >= a->pin.n_stages)
		return;
	const double change = in_flight - a->pin.stages[span.first].in_flight;
	(void)snprintf(text, sizeof(text), "%+.4g", change);
	(void)canvas_text_right(v->c, r.x + r.w - 6, y, 6, ROLE_PIN, change > 0 || change < 0 ? text : "=");
}

void view_pipeline_block(const struct view *v, struct rect r)
{
	const struct pipeline *pl = &v->a->plan.pipeline;
	const int label_w = view_label_w(v->a), cols = v->l.bar_w - (label_w - 3);
	struct gantt g;
	int64_t drawn_m = 0;
	char text[80];
	if (r.h == 0)
		return;
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PIPELINE "));
	const int room = r.w - used - v->l.value_w - 4;
	(void)snprintf(text, sizeof(text), pl->m == 1 ? _("%s, %" PRId64 " micro-batch") : _("%s, %" PRId64 " micro-batches"),
		schedule_table[pl->schedule].key, pl->m);
	if (canvas_text_width(text) > room)
		(void)snprintf(text, sizeof(text), "%s, m %" PRId64, schedule_table[pl->schedule].key, pl->m);
	if (canvas_text_width(text) > room)
		(void)snprintf(text, sizeof(text), "%s", schedule_table[pl->schedule].key);
	(void)canvas_text(v->c, r.x + used, r.y, room, ROLE_TEXT, text);
	(void)canvas_text_right(v->c, r.x + r.w - v->l.value_w - 3, r.y, 10, ROLE_DIM, _("in flight"));
	struct stage_span rows[STAGE_LIST_MAX];
	int64_t ranks[GANTT_ROWS_MAX];
	/* The ranks whose stages have a bar above. */
	const size_t n = view_choose_stages(v->a, (size_t)num_min(v->l.stages, GANTT_ROWS_MAX), rows);
	for (size_t i = 0; i < n; i++)
		ranks[i] = (int64_t)rows[i].first;
	if (!draw_plan(v->a, (struct gantt_field){ (int64_t)n, cols, ranks }, &g, &drawn_m))
		return;
	for (size_t i = 0; i < n; i++)
		draw_rank(v, r, r.y + 1 + (int)i, &g, (int64_t)i, rows[i]);
	const int below = r.y + r.h - 2;
	draw_axis(v, (struct rect){ r.x + label_w, below, r.w - label_w, 1 }, &g, drawn_m);
	draw_caption(v, r.x + label_w, below + 1, r.w - label_w, &g, drawn_m);
}
