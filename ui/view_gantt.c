#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A drawing never executes more actions than this: what it would show is the same beginning and end. */
enum { ACTIONS_MAX = 1 << 17 };

static const struct schedule_times drawing_times = { .forward = 1, .backward = 2 };

/* The pipeline to execute for a drawing: the plan's own, or the same with fewer micro-batches (whole groups of them). */
static struct pipeline drawable(const struct pipeline *pl)
{
	struct pipeline d = *pl;
	const int64_t per_batch = 2 * pl->p * num_max(1, pl->v), group = num_max(pl->p, pl->group);
	if (pl->m > ACTIONS_MAX / per_batch)
		d.m = num_max(2, ACTIONS_MAX / per_batch / group) * group;
	if (d.m > pl->m)
		d.m = pl->m;
	return d;
}

/* Runs `draw` on a workspace for the drawable pipeline. */
static void *new_workspace(const struct pipeline *pl)
{
	const int64_t bytes = schedule_workspace_bytes(pl);
	return bytes < 0 ? NULL : malloc((size_t)bytes + 1);
}

bool view_gantt(const struct app *a, int rows, int cols, struct gantt *g, int64_t *drawn_m)
{
	const struct pipeline pl = drawable(&a->plan.pipeline);
	struct err e;
	void *workspace = new_workspace(&pl);
	*drawn_m = pl.m;
	const bool good = workspace != NULL && gantt_draw(&pl, &drawing_times, rows, cols, workspace, g, &e) == ERR_OK;
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
			canvas_glyph(c, at, y, ROLE_DIM, GLYPH_CUT);
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
	int64_t p;
	bool second_lower; /* v = 2: the second chunk in lower case */
};

/* One action, cut to the window: letter, micro-batch, rest. */
static void window_action(void *ctx, const struct timed_action *t)
{
	const struct window *w = ctx;
	const int64_t row = t->rank - w->first;
	const int64_t start = (t->start - w->tick) * w->scale, n = (t->end - t->start) * w->scale;
	char text[32];
	char letter = action_letters[t->action.kind];
	if (row < 0 || row >= w->r.h || start + n <= 0 || start >= w->r.w)
		return;
	if (w->second_lower && t->action.stage >= w->p)
		letter = (char)(letter - 'A' + 'a');
	const int len = n < 2 ? 1
			      : snprintf(text, sizeof(text), "%c%d", letter,
					(int)(n == 2 ? t->action.micro_batch % 10 : t->action.micro_batch));
	text[0] = letter;
	for (int64_t i = start < 0 ? -start : 0; i < n && start + i < w->r.w; i++) {
		const int x = w->r.x + (int)(start + i), y = w->r.y + (int)row;
		if (i < len)
			canvas_put(w->c, x, y, kind_role(t->action.kind), (uint32_t)(unsigned char)text[i]);
		else
			canvas_glyph(w->c, x, y, kind_role(t->action.kind), n >= 6 && i == n - 1 ? GLYPH_BORDER : GLYPH_REST);
	}
}

void view_gantt_zoomed(const struct view *v, struct rect r, int64_t first, int64_t tick, int scale)
{
	const struct pipeline pl = drawable(&v->a->plan.pipeline);
	const int64_t ticks = schedule_table[pl.schedule].makespan(&pl, 1, 2);
	struct window w = { v->c, r, first, tick, scale, pl.p, pl.v == 2 };
	struct schedule_result result;
	struct err e;
	void *workspace = new_workspace(&pl);
	for (int64_t row = 0; row < r.h && first + row < pl.p; row++) {
		for (int64_t col = 0; col < r.w && tick + col / scale < ticks; col++)
			canvas_glyph(v->c, r.x + (int)col, r.y + (int)row, ROLE_IDLE, GLYPH_IDLE);
	}
	if (workspace != NULL && schedule_run(&pl, &drawing_times, workspace, window_action, &w, &result, &e) != ERR_OK)
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_ALERT, e.msg);
	free(workspace);
}

char *view_bubble(const struct app *a, char *buf, size_t cap)
{
	char step[32], ideal[32];
	(void)units_format_f4(100 * a->plan.bubble_of_step, step, sizeof(step));
	(void)units_format_f4(100 * a->plan.bubble_over_ideal, ideal, sizeof(ideal));
	(void)snprintf(buf, cap, _("bubble %s %% of step, %s %% of ideal"), step, ideal);
	return buf;
}

/* Below the drawing: the bubble, then what is left out as far as it fits. */
static void draw_caption(const struct view *v, int x, int y, int w, const struct gantt *g, int64_t drawn_m)
{
	char text[160], more[160];
	canvas_glyph(v->c, x, y, ROLE_IDLE, GLYPH_IDLE);
	const int used = 2 + canvas_text(v->c, x + 2, y, w - 2, ROLE_TEXT, view_bubble(v->a, text, sizeof(text)));
	if (drawn_m < v->a->plan.pipeline.m)
		(void)snprintf(more, sizeof(more), _("drawn with %" PRId64 " micro-batches"), drawn_m);
	else
		(void)gantt_caption(g, more, sizeof(more));
	if (more[0] != '\0' && used + 2 + canvas_text_width(more) <= w)
		(void)canvas_printf(v->c, x + used, y, w - used, ROLE_DIM, "; %s", more);
}

static void draw_rank(const struct view *v, struct rect r, int label_w, const struct gantt *g, int64_t row)
{
	const int y = r.y + 1 + (int)row;
	const int64_t rank = g->rank[row];
	if (rank < 0) {
		(void)canvas_text(v->c, r.x, y, label_w, ROLE_DIM, ":");
		(void)canvas_text_right(v->c, r.x + r.w - 7, y, 7, ROLE_DIM, ":");
		return;
	}
	(void)canvas_printf(v->c, r.x, y, label_w, ROLE_DIM, "r%" PRId64, rank);
	view_gantt_cells(v->c, r.x + label_w, y, g, row);
	char text[32];
	(void)snprintf(text, sizeof(text), "%.4g", v->a->stages[rank].in_flight);
	(void)canvas_text_right(v->c, r.x + r.w - 7, y, 7, ROLE_TEXT, text);
}

void view_pipeline_block(const struct view *v, struct rect r)
{
	const struct pipeline *pl = &v->a->plan.pipeline;
	const int label_w = view_label_w(v->a), cols = v->l.bar_w - (label_w - 3);
	struct gantt g;
	int64_t drawn_m = 0;
	char axis[GANTT_COLS_MAX + 1];
	if (r.h == 0)
		return;
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PIPELINE "));
	(void)canvas_printf(v->c, r.x + used, r.y, r.w - used - 10, ROLE_HEAD,
		pl->m == 1 ? _("%s, %" PRId64 " micro-batch") : _("%s, %" PRId64 " micro-batches"),
		schedule_table[pl->schedule].key, pl->m);
	(void)canvas_text_right(v->c, r.x + r.w - 10, r.y, 10, ROLE_DIM, _("in flight"));
	if (!view_gantt(v->a, v->l.stages, cols, &g, &drawn_m))
		return;
	for (int64_t row = 0; row < g.rows; row++)
		draw_rank(v, r, label_w, &g, row);
	const int below = r.y + 1 + v->l.stages;
	gantt_axis(&g, axis, sizeof(axis));
	(void)canvas_text(v->c, r.x + label_w, below, cols, ROLE_DIM, axis);
	(void)canvas_text_right(v->c, r.x + r.w - 6, below, 6, ROLE_DIM, _("ticks"));
	draw_caption(v, r.x + label_w, below + 1, r.w - label_w, &g, drawn_m);
}
