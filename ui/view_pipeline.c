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
enum { FLIGHT_W = 11, ACT_W = 8, IDLE_W = 9, AXIS_STEP = 10, TABLE_W = 100, LABEL_W = 9, STATE_W = 28 };

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

/* Ticks in which a rank works; equal stages. */
static int64_t busy_ticks(const struct app *a)
{
	return a->plan.pipeline.m * num_max(1, a->plan.pipeline.v) * 3;
}

static void draw_margin(const struct view *v, const struct drawn_order *d, int y, int64_t rank)
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
	(void)snprintf(text, sizeof(text), "%.1f %%", 100 - 100 * (double)busy_ticks(v->a) / (double)num_max(1, d->whole.n));
	(void)canvas_text_right(v->c, v->c->w - IDLE_W, y, IDLE_W, ROLE_TEXT, text);
}

/* What is left out, below the drawing, and how far the exact order is. */
static void draw_caption(const struct view *v, const struct strip *s, int64_t drawn_m, int y)
{
	const struct app *a = v->a;
	const int64_t m = a->plan.pipeline.m;
	char caption[160] = "", few[120] = "";
	if (drawn_m < m && a->exact.workspace != NULL)
		(void)snprintf(few, sizeof(few),
			_("generating %d %%, so far drawn with %" PRId64 " of %" PRId64 " micro-batches"),
			(int)(100 * order_share(&a->exact.build)), drawn_m, m);
	else if (drawn_m < m)
		(void)snprintf(few, sizeof(few), _("drawn with %" PRId64 " of %" PRId64 " micro-batches"), drawn_m, m);
	if (s->g == NULL)
		(void)snprintf(caption, sizeof(caption), _("from tick %" PRId64 " of %" PRId64 "; columns per tick: %d"), a->tick,
			a->player.ticks, a->zoom);
	else if (s->g->mode == GANTT_DENSITY && drawn_m == m)
		(void)snprintf(caption, sizeof(caption), "%s", _("too fine for single actions, + zooms in at the tick"));
	else
		(void)gantt_caption(s->g, caption, sizeof(caption));
	(void)canvas_printf(v->c, s->cells.x, y, v->c->w - s->cells.x, ROLE_DIM, "%s%s%s", few,
		few[0] != '\0' && caption[0] != '\0' ? "; " : "", caption);
}

static void draw_fit(const struct view *v, const struct drawn_order *d, const struct gantt *g, const struct strip *s)
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
		draw_margin(v, d, y, g->rank[row]);
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
		draw_margin(v, d, s->cells.y + row, s->first + row);
	}
}

/* What the letters and marks of the drawing are. */
static void draw_legend(const struct view *v, int y)
{
	static const struct {
		enum action_kind kind;
		uint8_t role;
		const char *name;
	} kinds[] = { { ACTION_FORWARD, ROLE_FORWARD, N_("forward") }, { ACTION_BACKWARD, ROLE_BACKWARD, N_("backward") },
		{ ACTION_INPUT, ROLE_INPUT, N_("input") }, { ACTION_WEIGHT, ROLE_WEIGHT, N_("weight") } };
	const struct schedule_info *info = &schedule_table[v->a->plan.pipeline.schedule];
	const size_t n_kinds = info->splits ? sizeof(kinds) / sizeof(kinds[0]) : 2;
	/* With blocks all of it just fits into 80 columns. */
	const int gap = info->overlaps ? 2 : 3;
	int x = 0;
	for (size_t i = 0; i < n_kinds; i++) {
		canvas_put(v->c, x, y, kinds[i].role, (uint32_t)(unsigned char)action_letters[kinds[i].kind]);
		x += 2 + canvas_text(v->c, x + 2, y, v->c->w - x, ROLE_DIM, _(kinds[i].name)) + gap;
	}
	if (info->overlaps)
		x += canvas_text(v->c, x, y, v->c->w - x, ROLE_DIM, _("F+B at once")) + gap;
	canvas_glyph(v->c, x, y, ROLE_TEXT, GLYPH_MEDIUM);
	x += 2 + canvas_text(v->c, x + 2, y, v->c->w - x, ROLE_DIM, _("both in turn")) + gap;
	canvas_glyph(v->c, x, y, ROLE_IDLE, GLYPH_IDLE);
	(void)canvas_text(v->c, x + 2, y, v->c->w - x, ROLE_DIM, _("idle"));
}

/* The bubble in numbers, of the drawing where all of it is drawn; then that of the step, whose stages differ. */
static void draw_bubble(const struct view *v, const struct drawn_order *d, int y)
{
	const struct app *a = v->a;
	const int64_t p = a->plan.pipeline.p, all = d->whole.n * p, busy = busy_ticks(a) * p;
	char share[32], text[160], brief[128];
	(void)canvas_text(v->c, 0, y, LABEL_W, ROLE_HEAD, _("BUBBLE"));
	(void)units_format_f4(100 * (double)(all - busy) / (double)num_max(1, all), share, sizeof(share));
	(void)snprintf(brief, sizeof(brief),
		d->whole.exact ? _("%" PRId64 " of %" PRId64 " rank-ticks are idle: %s %% of step")
			       : _("about %" PRId64 " of %" PRId64 " rank-ticks are idle: %s %% of step"),
		all - busy, all, share);
	(void)snprintf(text, sizeof(text), _("%s as drawn (equal stages)"), brief);
	const char *fitting = canvas_fitting(v->c->w - LABEL_W, text, brief);
	view_figure(v, LABEL_W, y, canvas_text_width(fitting), fitting, "pipeline.bubble_of_step");
	(void)units_format_f4(100 * (double)(all - busy) / (double)num_max(1, busy), share, sizeof(share));
	(void)snprintf(text, sizeof(text), _("%s %% of ideal, the time of a step without it"), share);
	view_figure(v, LABEL_W, y + 1, canvas_text_width(text), text, "pipeline.bubble_over_ideal");
	const int x = LABEL_W + canvas_text_width(text);
	if (!a->plan.step.known)
		return;
	view_timed_bubble(&a->plan, share, sizeof(share));
	(void)snprintf(text, sizeof(text), _("; as timed %s %% of step"), share);
	(void)canvas_text(v->c, x, y + 1, canvas_text_width(text) > v->c->w - x ? 0 : v->c->w - x, ROLE_TEXT, text);
}

/* Legend, bubble, other schedules, what this one is: as far as there are rows. Without any the other schedules stand behind the
 * state of the player, in the row below. */
static void draw_below(const struct view *v, const struct drawn_order *d, int y, int bottom)
{
	const struct schedule_info *info = &schedule_table[v->a->plan.pipeline.schedule];
	const int rows = bottom - y, same = rows >= 5 ? 4 : rows == 2 || rows == 3 ? 1 : -1;
	if (rows >= 2)
		draw_legend(v, y);
	if (rows >= 4)
		draw_bubble(v, d, y + 2);
	if (same > 0)
		view_same(v, 0, y + same);
	else if (rows < 2 && v->a->prompt.kind == PROMPT_NONE && !v->a->player.reasons && !v->a->player.hide_future)
		view_same(v, STATE_W, bottom);
	if (rows < 6)
		return;
	const int used = canvas_text(v->c, 0, y + 5, v->c->w, ROLE_HEAD, info->key);
	const int help_x = used < LABEL_W ? LABEL_W : used + 2;
	const struct rect r = { help_x, y + 5, v->c->w - help_x, bottom - y - 5 };
	(void)canvas_wrap(v->c, r, 0, ROLE_TEXT, ui_text(info->help));
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

static void draw_head(const struct view *v, const struct rect *body, const struct pipeline_ticks *t)
{
	const struct pipeline *pl = &v->a->plan.pipeline;
	const int used = canvas_text(v->c, body->x, body->y, body->w, ROLE_HEAD, schedule_table[pl->schedule].key) + 2;
	char brief[96], text[128];
	(void)snprintf(brief, sizeof(brief),
		t->exact ? _("%" PRId64 " ranks, %" PRId64 " micro-batches, %" PRId64 " ticks")
			 : _("%" PRId64 " ranks, %" PRId64 " micro-batches, about %" PRId64 " ticks"),
		pl->p, pl->m, t->n);
	(void)snprintf(text, sizeof(text), _("%s (forward 1, backward 2)"), brief);
	(void)canvas_text(v->c, body->x + used, body->y, body->w - used, ROLE_TEXT, canvas_fitting(body->w - used, text, brief));
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
		draw_fit(v, d, &g, &s);
	}
	player_ranks(v, d, &s, ranks);
	player_mark(v, &s, body.y + 1, rows.marks ? below : -1);
	draw_caption(v, &s, d->order.pl.m, below + rows.marks);
	player_table(
		v, (struct rect){ 0, below + rows.marks + 1, (int)num_min(body.w, TABLE_W), rows.table + 1 }, d, ranks, first);
	return below + rows.marks + 1 + rows.table + 1;
}

/* Ranks with what each of their chunks holds, in one block; NULL: no memory. */
static struct rank_now *new_ranks(const struct pipeline *pl)
{
	const int64_t chunks = pipeline_chunks_held(pl);
	struct rank_now *ranks = calloc((size_t)pl->p, sizeof(*ranks) + (size_t)chunks * sizeof(*ranks->held));
	for (int64_t i = 0; ranks != NULL && i < pl->p; i++)
		ranks[i].held = (struct chunk_peak *)(ranks + pl->p) + i * chunks;
	return ranks;
}

static void draw(const struct view *v)
{
	const struct rect body = view_body(v);
	struct drawn_order d;
	struct err e = { 0 };
	view_prompt_or(v, player_state);
	struct rank_now *ranks = new_ranks(&v->a->plan.pipeline);
	if (ranks != NULL && drawn_open(v->a, &d, &e)) {
		draw_head(v, &body, &d.whole);
		const int y = draw_order(v, &d, ranks);
		draw_below(v, &d, y + 1, body.y + body.h);
		drawn_close(&d);
	} else {
		(void)canvas_text(v->c, body.x, body.y + 2, body.w, ROLE_ALERT, e.msg);
	}
	free(ranks);
}

static size_t scroll_max(const struct view *v)
{
	return v->a->n_stages - 1;
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	const bool here = strncmp(a->figure, "pipeline.", 9) == 0;
	(void)snprintf(path, FIGURE_PATH_CAP, "%s", here ? a->figure : "pipeline.bubble_of_step");
}

const struct view_kind view_pipeline = {
	.digit = '3',
	.footer = { { UI_PLAY, UI_TICK_ON, UI_SCHEDULE, UI_REASONS, UI_ZOOM_OUT, UI_RIGHT, UI_FUTURE, UI_ZOOM_FIT, UI_EXPLAIN,
		UI_MEMORY, UI_WRITE, UI_UNDO } },
	.draw = draw,
	.scroll_max = scroll_max,
	.explains = explains,
	.sideways = player_sideways,
	.next_pane = figure_next,
	.clock = &player_clock,
};
