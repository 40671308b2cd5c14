/* The pipeline at full width: every rank, to scale; computed by executing the schedule, never painted. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Right of the drawing: in flight, activations, idle. */
enum { FLIGHT_W = 11, ACT_W = 8, IDLE_W = 9, AXIS_STEP = 10, TABLE_W = 100 };

static int margin_w(const struct view *v)
{
	return FLIGHT_W + IDLE_W + (v->c->w >= 100 ? ACT_W : 0);
}

static void draw_margin_head(const struct view *v, int y)
{
	int x = v->c->w - margin_w(v);
	(void)canvas_text_right(v->c, x, y, FLIGHT_W, ROLE_DIM, _("in flight"));
	x += FLIGHT_W;
	if (v->c->w >= 100)
		(void)canvas_text_right(v->c, x, y, ACT_W, ROLE_DIM, _("A GiB"));
	(void)canvas_text_right(v->c, v->c->w - IDLE_W, y, IDLE_W, ROLE_DIM, _("idle"));
}

/* Share of the makespan in which each rank does nothing; equal stages. */
static double idle_share(const struct app *a)
{
	const struct pipeline *pl = &a->plan.pipeline;
	const int64_t ticks = app_pipeline_ticks(a);
	return ticks <= 0 ? 0 : 1 - (double)(pl->m * num_max(1, pl->v) * 3) / (double)ticks;
}

static void draw_margin(const struct view *v, int y, int64_t rank)
{
	const struct stage_memory *s = &v->a->stages[rank];
	char text[32], path[FIGURE_PATH_CAP];
	int x = v->c->w - margin_w(v);
	(void)snprintf(text, sizeof(text), "%.4g", s->in_flight);
	(void)snprintf(path, sizeof(path), "pipeline.in_flight[%" PRId64 "]", rank);
	view_figure(v, x, y, FLIGHT_W, text, path);
	x += FLIGHT_W;
	if (v->c->w >= 100)
		view_figure(v, x, y, ACT_W, view_gib3(s->category[MEMORY_ACTIVATIONS], text, sizeof(text)),
			view_stage_path((size_t)rank, "activations", path));
	(void)snprintf(text, sizeof(text), "%.1f %%", 100 * idle_share(v->a));
	(void)canvas_text_right(v->c, v->c->w - IDLE_W, y, IDLE_W, ROLE_TEXT, text);
}

/* What is left out, below the drawing. */
static void draw_caption(const struct view *v, const struct strip *s, int64_t drawn_m, int64_t ticks, int y)
{
	const struct app *a = v->a;
	const int64_t m = a->plan.pipeline.m;
	char caption[160] = "", few[80] = "";
	if (drawn_m < m)
		(void)snprintf(few, sizeof(few), _("drawn with %" PRId64 " of %" PRId64 " micro-batches"), drawn_m, m);
	if (s->g == NULL)
		(void)snprintf(caption, sizeof(caption), _("from tick %" PRId64 " of %" PRId64 "; columns per tick: %d"), a->tick,
			ticks, a->zoom);
	else if (s->g->mode == GANTT_DENSITY && drawn_m == m)
		(void)snprintf(caption, sizeof(caption), "%s", _("too fine for single actions, + zooms in at the tick"));
	else
		(void)gantt_caption(s->g, caption, sizeof(caption));
	(void)canvas_printf(v->c, s->cells.x, y, v->c->w - s->cells.x, ROLE_DIM, "%s%s%s", few,
		few[0] != '\0' && caption[0] != '\0' ? "; " : "", caption);
}

static void draw_fit(const struct view *v, const struct gantt *g, const struct strip *s)
{
	char axis[GANTT_COLS_MAX + 1];
	gantt_axis(g, axis, sizeof(axis));
	(void)canvas_clip(v->c, s->cells.x, s->cells.y - 1, s->cells.w, ROLE_DIM, axis);
	for (int64_t row = 0; row < g->rows; row++) {
		const int y = s->cells.y + (int)row;
		if (g->rank[row] < 0) {
			(void)canvas_text(v->c, 0, y, s->cells.x, ROLE_DIM, ":");
			continue;
		}
		(void)canvas_printf(v->c, 0, y, s->cells.x, ROLE_DIM, "r%" PRId64, g->rank[row]);
		view_gantt_cells(v->c, s->cells.x, y, g, row);
		draw_margin(v, y, g->rank[row]);
	}
}

static void draw_zoomed(const struct view *v, const struct drawn_order *d, const struct strip *s)
{
	const int64_t tick = s->tick;
	for (int64_t at = num_round_up(tick, AXIS_STEP); (at - tick) * s->scale < s->cells.w - 6; at += AXIS_STEP)
		(void)canvas_printf(
			v->c, s->cells.x + (int)((at - tick) * s->scale), s->cells.y - 1, 8, ROLE_DIM, "%" PRId64, at);
	view_gantt_zoomed(v->c, d, s->cells, s->first, tick, s->scale);
	for (int row = 0; row < s->cells.h; row++) {
		(void)canvas_printf(v->c, 0, s->cells.y + row, s->cells.x, ROLE_DIM, "r%" PRId64, s->first + row);
		draw_margin(v, s->cells.y + row, s->first + row);
	}
}

/* Letters of the drawing and the bubble in numbers. */
static void draw_below(const struct view *v, int y, int bottom)
{
	static const struct {
		enum action_kind kind;
		uint8_t role;
		const char *name;
	} kinds[] = { { ACTION_FORWARD, ROLE_FORWARD, N_("forward") }, { ACTION_BACKWARD, ROLE_BACKWARD, N_("backward") },
		{ ACTION_INPUT, ROLE_INPUT, N_("input") }, { ACTION_WEIGHT, ROLE_WEIGHT, N_("weight") } };
	const struct app *a = v->a;
	const struct pipeline *pl = &a->plan.pipeline;
	const int64_t ticks = app_pipeline_ticks(a), all = ticks * pl->p, busy = 3 * pl->m * num_max(1, pl->v) * pl->p;
	char share[32], text[160];
	int x = 0;
	if (y + 4 > bottom)
		return;
	const size_t n_kinds = schedule_table[pl->schedule].splits ? sizeof(kinds) / sizeof(kinds[0]) : 2;
	for (size_t i = 0; i < n_kinds; i++) {
		canvas_put(v->c, x, y, kinds[i].role, (uint32_t)(unsigned char)action_letters[kinds[i].kind]);
		x += 2 + canvas_text(v->c, x + 2, y, v->c->w - x, ROLE_DIM, _(kinds[i].name)) + 3;
	}
	canvas_glyph(v->c, x, y, ROLE_TEXT, GLYPH_MEDIUM);
	x += 2 + canvas_text(v->c, x + 2, y, v->c->w - x, ROLE_DIM, _("both in turn")) + 3;
	canvas_glyph(v->c, x, y, ROLE_IDLE, GLYPH_IDLE);
	(void)canvas_text(v->c, x + 2, y, v->c->w - x, ROLE_DIM, _("idle"));
	(void)canvas_text(v->c, 0, y + 2, 9, ROLE_HEAD, _("BUBBLE"));
	(void)units_format_f4(100 * a->plan.bubble_of_step, share, sizeof(share));
	(void)snprintf(
		text, sizeof(text), _("%" PRId64 " of %" PRId64 " rank-ticks are idle: %s %% of step"), all - busy, all, share);
	view_figure(v, 9, y + 2, canvas_text_width(text), text, "pipeline.bubble_of_step");
	(void)units_format_f4(100 * a->plan.bubble_over_ideal, share, sizeof(share));
	(void)snprintf(text, sizeof(text), _("%s %% of ideal, the time of a step without it"), share);
	view_figure(v, 9, y + 3, canvas_text_width(text), text, "pipeline.bubble_over_ideal");
	if (y + 5 <= bottom) {
		const int used = canvas_text(v->c, 0, y + 4, v->c->w, ROLE_HEAD, schedule_table[pl->schedule].key);
		const int help_x = used < 9 ? 9 : used + 2;
		const struct rect r = { help_x, y + 4, v->c->w - help_x, bottom - y - 4 };
		(void)canvas_wrap(v->c, r, 0, ROLE_TEXT, ui_text(schedule_table[pl->schedule].help));
	}
}

/* Rows of the parts: heading, axis, drawing, caption, heading and rows of the table; then, where there is room, marks and the
 * bubble. */
struct rows {
	int drawing, table, marks;
};

static struct rows share_rows(const struct rect *body, int64_t ranks)
{
	const int fixed = 4, room = (int)num_max(2, body->h - fixed), n = (int)num_min(ranks, GANTT_ROWS_MAX);
	struct rows rows = { n, n, 0 };
	if (2 * n > room) {
		rows.drawing = (int)num_min(n, (room + 1) / 2);
		rows.table = room - rows.drawing;
	}
	rows.marks = room - rows.drawing - rows.table >= 1;
	return rows;
}

int64_t view_pipeline_span(const struct app *a)
{
	struct canvas c = { .w = a->w, .h = a->h };
	const struct view v = { .a = a, .c = &c };
	const int cols = a->w - view_label_w(a) - margin_w(&v);
	return a->zoom == 0 || cols < a->zoom ? 1 : cols / a->zoom;
}

static void draw_head(const struct view *v, const struct rect *body)
{
	const struct pipeline *pl = &v->a->plan.pipeline;
	const int used = canvas_text(v->c, body->x, body->y, body->w, ROLE_HEAD, schedule_table[pl->schedule].key);
	(void)canvas_printf(v->c, body->x + used + 2, body->y, body->w - used - 2, ROLE_TEXT,
		_("%" PRId64 " ranks, %" PRId64 " micro-batches, %" PRId64 " ticks (forward 1, backward 2)"), pl->p, pl->m,
		app_pipeline_ticks(v->a));
	draw_margin_head(v, body->y + 1);
}

/* Drawing, marks and table of an order that can be executed. Returns the row below. */
static int draw_order(const struct view *v, const struct drawn_order *d, struct rank_now *ranks)
{
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	const struct rows rows = share_rows(&body, (int64_t)a->n_stages);
	const int label_w = view_label_w(a), below = body.y + 2 + rows.drawing;
	const int64_t n = (int64_t)a->n_stages, first = num_max(0, num_min((int64_t)a->scroll[VIEW_PIPELINE], n - rows.table));
	struct gantt g;
	struct strip s = { .cells = { label_w, body.y + 2, body.w - label_w - margin_w(v), rows.drawing },
		.tick = a->tick,
		.first = num_max(0, num_min((int64_t)a->scroll[VIEW_PIPELINE], n - rows.drawing)),
		.p = d->order.pl.p,
		.scale = a->zoom };
	if (a->zoom > 0) {
		draw_zoomed(v, d, &s);
	} else if (drawn_gantt(d, rows.drawing, s.cells.w, &g)) {
		s.g = &g;
		s.cells.w = (int)g.cols;
		s.cells.h = (int)g.rows;
		draw_fit(v, &g, &s);
	}
	player_ranks(v, d, &s, ranks);
	player_mark(v, &s, body.y + 1, rows.marks ? below : -1);
	draw_caption(v, &s, d->order.pl.m, a->player.ticks, below + rows.marks);
	player_table(v, (struct rect){ 0, below + rows.marks + 1, (int)num_min(body.w, TABLE_W), rows.table + 1 }, ranks, first,
		a->player.ticks);
	return below + rows.marks + 1 + rows.table + 1;
}

void view_pipeline(const struct view *v)
{
	const struct rect body = view_body(v);
	struct drawn_order d;
	struct err e = { 0 };
	view_prompt_or(v, player_state);
	draw_head(v, &body);
	struct rank_now *ranks = calloc((size_t)num_max(v->a->plan.pipeline.p, STAGE_LIST_MAX), sizeof(*ranks));
	if (ranks != NULL && drawn_open(v->a, &d, &e)) {
		const int y = draw_order(v, &d, ranks);
		draw_below(v, y + 1, body.y + body.h);
		drawn_close(&d);
	} else {
		(void)canvas_text(v->c, body.x, body.y + 2, body.w, ROLE_ALERT, e.msg);
	}
	free(ranks);
}
