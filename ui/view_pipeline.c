/* The pipeline at full width: every rank, to scale; computed by executing the schedule, never painted. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Right of the drawing: in flight, activations, idle. */
enum { FLIGHT_W = 11, ACT_W = 8, IDLE_W = 9, BELOW_H = 7, AXIS_STEP = 10 };

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

static void draw_fit(const struct view *v, struct rect r, int label_w)
{
	const int cols = r.w - label_w - margin_w(v);
	struct gantt g;
	int64_t drawn_m = 0;
	char axis[GANTT_COLS_MAX + 1], caption[160];
	if (!view_gantt(v->a, r.h - 1, cols, &g, &drawn_m))
		return;
	gantt_axis(&g, axis, sizeof(axis));
	(void)canvas_text(v->c, r.x + label_w, r.y, cols, ROLE_DIM, axis);
	for (int64_t row = 0; row < g.rows; row++) {
		const int y = r.y + 1 + (int)row;
		if (g.rank[row] < 0) {
			(void)canvas_text(v->c, r.x, y, label_w, ROLE_DIM, ":");
			continue;
		}
		(void)canvas_printf(v->c, r.x, y, label_w, ROLE_DIM, "r%" PRId64, g.rank[row]);
		view_gantt_cells(v->c, r.x + label_w, y, &g, row);
		draw_margin(v, y, g.rank[row]);
	}
	if (drawn_m < v->a->plan.pipeline.m)
		(void)snprintf(caption, sizeof(caption), _("drawn with %" PRId64 " of %" PRId64 " micro-batches"), drawn_m,
			v->a->plan.pipeline.m);
	else
		(void)gantt_caption(&g, caption, sizeof(caption));
	if (g.mode == GANTT_DENSITY && drawn_m == v->a->plan.pipeline.m)
		(void)snprintf(caption + strlen(caption), sizeof(caption) - strlen(caption), "%s",
			_(": too fine for single actions, + zooms in"));
	(void)canvas_text(v->c, r.x + label_w, r.y + 1 + (int)g.rows, r.w - label_w, ROLE_DIM, caption);
}

static void draw_zoomed(const struct view *v, struct rect r, int label_w)
{
	const struct app *a = v->a;
	const int64_t last = num_max(0, (int64_t)a->n_stages - (r.h - 1)),
		      first = num_min((int64_t)a->scroll[VIEW_PIPELINE], last);
	const int cols = r.w - label_w - margin_w(v);
	const int64_t rows = num_min((int64_t)a->n_stages - first, r.h - 1);
	for (int64_t tick = num_round_up(a->tick, AXIS_STEP); (tick - a->tick) * a->zoom < cols - 6; tick += AXIS_STEP)
		(void)canvas_printf(v->c, r.x + label_w + (int)((tick - a->tick) * a->zoom), r.y, 8, ROLE_DIM, "%" PRId64, tick);
	view_gantt_zoomed(v, (struct rect){ r.x + label_w, r.y + 1, cols, (int)rows }, first, a->tick, a->zoom);
	for (int64_t row = 0; row < rows; row++) {
		(void)canvas_printf(v->c, r.x, r.y + 1 + (int)row, label_w, ROLE_DIM, "r%" PRId64, first + row);
		draw_margin(v, r.y + 1 + (int)row, first + row);
	}
	(void)canvas_printf(v->c, r.x + label_w, r.y + 1 + (int)rows, r.w - label_w, ROLE_DIM,
		_("from tick %" PRId64 " of %" PRId64 "; columns per tick: %d"), a->tick, app_pipeline_ticks(a), a->zoom);
}

/* Letters of the drawing and the bubble in numbers. */
static void draw_below(const struct view *v, int y, int bottom)
{
	static const struct {
		enum action_kind kind;
		uint8_t role;
		const char *name;
	} kinds[] = { { ACTION_FORWARD, ROLE_FORWARD, N_("forward") }, { ACTION_BACKWARD, ROLE_BACKWARD, N_("backward") } };
	const struct app *a = v->a;
	const struct pipeline *pl = &a->plan.pipeline;
	const int64_t ticks = app_pipeline_ticks(a), all = ticks * pl->p, busy = 3 * pl->m * num_max(1, pl->v) * pl->p;
	char share[32], text[160];
	int x = 0;
	if (y + 4 > bottom)
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
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

void view_pipeline(const struct view *v)
{
	const struct app *a = v->a;
	const struct pipeline *pl = &a->plan.pipeline;
	const struct rect body = view_body(v);
	const int rows = (int)num_max(1, num_min((int64_t)a->n_stages, num_min(body.h - 3 - BELOW_H, GANTT_ROWS_MAX)));
	const struct rect drawing = { body.x, body.y + 1, body.w, rows + 1 };
	view_prompt_or(v, NULL);
	const int used = canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, schedule_table[pl->schedule].key);
	(void)canvas_printf(v->c, body.x + used + 2, body.y, body.w - used - 2, ROLE_TEXT,
		_("%" PRId64 " ranks, %" PRId64 " micro-batches, %" PRId64 " ticks (forward 1, backward 2)"), pl->p, pl->m,
		app_pipeline_ticks(a));
	draw_margin_head(v, drawing.y);
	if (a->zoom == 0)
		draw_fit(v, drawing, view_label_w(a));
	else
		draw_zoomed(v, drawing, view_label_w(a));
	draw_below(v, drawing.y + rows + 3, body.y + body.h);
}
