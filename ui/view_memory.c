/* The memory ledger: the bars at full width, then every part of every stage, the bytes per parameter, the phases. */
#include "view_speed.h"

#include "num.h"
#include "ui_text.h"

#include <stdio.h>
#include <string.h>

enum { NAME_W = 15, COLUMN_W = 8, SHARE_W = 7, RIGHT_W = 24, TABLE_H = 1 + MEMORY_CATEGORY_COUNT + 3 };

/* The columns of the table. */
struct columns {
	size_t first, n; /* stages */
	int share_x;     /* column of the share of the focused stage */
};

static struct columns choose_columns(const struct app *a, int w)
{
	const size_t room = (size_t)num_max(1, (w - NAME_W - SHARE_W) / COLUMN_W);
	struct columns c = { 0, a->n_stages < room ? a->n_stages : room, 0 };
	if (a->figure_stage >= c.n)
		c.first = a->figure_stage - c.n + 1;
	c.share_x = NAME_W + (int)c.n * COLUMN_W;
	return c;
}

static int column_x(struct rect r, size_t column)
{
	return r.x + NAME_W + (int)column * COLUMN_W;
}

/* The last column: the share of the focused stage, or with a pin its difference. */
static void draw_share(const struct view *v, struct rect r, const struct columns *c, int row, int category)
{
	const struct app *a = v->a;
	const struct stage_memory *focused = &a->stages[a->figure_stage];
	char text[32];
	if (a->pin.set) {
		view_difference(v, r.x + c->share_x, r.y + row, SHARE_W, a->figure_stage, category);
		return;
	}
	if (category == MEMORY_CATEGORY_COUNT)
		return;
	const double share = (double)focused->category[category] / (double)num_max(1, focused->need_bytes);
	(void)canvas_text_right(v->c, r.x + c->share_x, r.y + row, SHARE_W, ROLE_DIM, view_percent(share, text, sizeof(text)));
}

static bool row_focused(const struct app *a, const char *member)
{
	const char *dot = strstr(a->figure, "].");
	return !a->ledger && strncmp(a->figure, "memory.stages[", 14) == 0 && dot != NULL && strcmp(dot + 2, member) == 0;
}

static void draw_category(const struct view *v, struct rect r, const struct columns *c, int place)
{
	const struct app *a = v->a;
	const enum memory_category k = view_category(place);
	const struct memory_category_info *info = &memory_category_table[k];
	const int row = 1 + place;
	char text[32], path[FIGURE_PATH_CAP];
	if (row >= r.h)
		return;
	if (row_focused(a, info->key))
		canvas_glyph(v->c, r.x, r.y + row, ROLE_ACCENT, GLYPH_FOCUS);
	canvas_letter(v->c, r.x + 1, r.y + row, category_looks[k].role, info->letter);
	(void)canvas_text(v->c, r.x + 3, r.y + row, NAME_W - 3, ROLE_DIM, _(category_looks[k].name));
	for (size_t i = 0; i < c->n; i++)
		view_figure(v, column_x(r, i), r.y + row, COLUMN_W,
			view_gib(a->stages[c->first + i].category[k], a->plan.worst.need_bytes, text, sizeof(text)),
			view_stage_path(c->first + i, info->key, path));
	draw_share(v, r, c, row, (int)k);
}

enum total { TOTAL_PEAK, TOTAL_FREE, TOTAL_IN_FLIGHT, TOTAL_COUNT };

/* A figure below the categories; what is free has no path of its own. */
static void draw_total(const struct view *v, int x, int y, size_t stage, enum total which)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[stage];
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	char text[32], path[FIGURE_PATH_CAP];
	if (which == TOTAL_PEAK) {
		(void)view_gib(s->need_bytes, a->plan.worst.need_bytes, text, sizeof(text));
		view_figure(v, x, y, COLUMN_W, text, view_stage_path(stage, "total", path));
	} else if (which == TOTAL_IN_FLIGHT) {
		(void)snprintf(text, sizeof(text), "%.4g", s->in_flight);
		view_figure(v, x, y, COLUMN_W, text, view_stage_path(stage, "in_flight", path));
	} else {
		(void)canvas_text_right(v->c, x, y, COLUMN_W, ROLE_TEXT,
			limit > 0 ? view_gib(limit - s->need_bytes, a->plan.worst.need_bytes, text, sizeof(text)) : "?");
	}
}

/* Below the categories, as far as there are rows: peak, what is free, micro-batches in flight. */
static void draw_totals(const struct view *v, struct rect r, const struct columns *c)
{
	static const struct {
		const char *name, *member;
	} totals[TOTAL_COUNT] = { { N_("peak"), "total" }, { N_("free"), "" }, { N_("in flight"), "in_flight" } };
	for (int i = 0; i < TOTAL_COUNT && 1 + MEMORY_CATEGORY_COUNT + i < r.h; i++) {
		const int y = r.y + 1 + MEMORY_CATEGORY_COUNT + i;
		(void)canvas_text(v->c, r.x + 3, y, NAME_W - 3, ROLE_HEAD, _(totals[i].name));
		if (row_focused(v->a, totals[i].member))
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		for (size_t k = 0; k < c->n; k++)
			draw_total(v, column_x(r, k), y, c->first + k, (enum total)i);
	}
	if (1 + MEMORY_CATEGORY_COUNT < r.h)
		draw_share(v, r, c, 1 + MEMORY_CATEGORY_COUNT, MEMORY_CATEGORY_COUNT);
}

static void draw_table(const struct view *v, struct rect r)
{
	const struct columns c = choose_columns(v->a, r.w);
	char text[32];
	for (size_t i = 0; i < c.n; i++) {
		(void)snprintf(text, sizeof(text), "s%zu", c.first + i);
		(void)canvas_text_right(v->c, column_x(r, i), r.y, COLUMN_W, ROLE_DIM, text);
	}
	(void)snprintf(text, sizeof(text), v->a->pin.set ? _("s%zu-A") : _("of s%zu"), v->a->figure_stage);
	(void)canvas_text_right(v->c, r.x + c.share_x, r.y, SHARE_W, v->a->pin.set ? ROLE_PIN : ROLE_DIM, text);
	for (int place = 0; place < MEMORY_CATEGORY_COUNT; place++)
		draw_category(v, r, &c, place);
	draw_totals(v, r, &c);
}

/* What the focused row means; in the ledger, what its setting is and what a step would do. */
static void draw_meaning(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[a->figure_stage];
	char text[256] = "";
	if (r.h <= 0)
		return;
	if (a->ledger) {
		(void)snprintf(
			text, sizeof(text), _("%s: %s. h/l and = change it here."), app_knob(a)->key, ui_text(app_knob(a)->help));
	} else if (row_focused(a, "total")) {
		(void)snprintf(text, sizeof(text), _("Stage %zu peaks when: %s"), a->figure_stage,
			ui_text(memory_instant_choices[s->instant].help));
	} else {
		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			if (row_focused(a, memory_category_table[i].key))
				(void)snprintf(text, sizeof(text), "%s", ui_text(memory_category_table[i].help));
		}
	}
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, text);
}

static void draw_right(const struct view *v, int x, int y, int w, int bottom)
{
	view_ledger(v, (struct rect){ x, y, w, 6 });
	view_phases(v, (struct rect){ x, y + 7, w, (int)num_min(1 + PHASE_COUNT, bottom - y - 7) });
}

static void draw(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	const int spare = body.h - TABLE_H - 3, value_w = v->l.value_w + 1, bars_w = (int)num_min(body.w, 121);
	const int hosts = (a->plan.host_bytes_per_node > 0) + (a->plan.nvme_bytes_per_node > 0);
	struct stage_span rows[STAGE_LIST_MAX];
	const size_t n = view_choose_stages(a, (size_t)num_max(1, num_min(spare - 1, 16)), rows);
	const bool right = body.w >= 80;
	view_prompt_or(v, a->ledger ? view_preview : NULL);
	view_memory_bars(v, (struct rect){ body.x, body.y, bars_w, 1 + (int)n }, rows, n, bars_w - 3 - value_w, value_w, true);
	int y = body.y + 1 + (int)n + (spare > (int)n + 1 ? 1 : 0);
	const int table_w = right ? body.w - RIGHT_W - 2 : body.w, bottom = body.y + body.h - 1;
	const int table_h = (int)num_min(TABLE_H, bottom + 1 - y);
	if (!right && a->ledger)
		draw_right(v, body.x + 1, y, body.w - 1, bottom);
	else
		draw_table(v, (struct rect){ body.x, y, table_w, table_h });
	if (right) {
		const int x = body.x + (int)num_min(table_w, NAME_W + (int64_t)a->n_stages * COLUMN_W + SHARE_W + 10) + 2;
		draw_right(v, x, y, (int)num_min(body.x + body.w - x, 44), bottom);
	}
	y += table_h;
	if (y < bottom)
		view_host(v, (struct rect){ body.x, y, right ? table_w : body.w, hosts > 1 && y + 1 < bottom ? 2 : 1 });
	draw_meaning(v, (struct rect){ body.x, bottom, body.w, bottom >= y ? 1 : 0 });
}

static bool in_ledger(const struct app *a)
{
	return a->ledger;
}

static void opened(struct app *a)
{
	if (a->pane == PANE_SETTINGS)
		figure_worst(a);
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(a->ledger ? app_explains_setting : figure_explains)(a, path);
}

static void move(struct app *a, int64_t by)
{
	(a->ledger ? ledger_move : figure_move_lines)(a, by);
}

static void open_value(struct app *a)
{
	(a->ledger ? list_open : explain_focus)(a);
}

const struct view_kind view_memory = {
	.second = N_("bytes per parameter"),
	.digit = '2',
	.footer = { { UI_UP, UI_RIGHT, UI_EXPLAIN, UI_NEXT_PANE, UI_ADVICE, UI_PIN, UI_PIPELINE, UI_WRITE, UI_UNDO },
		{ UI_STEP_UP, UI_TYPE, UI_OPEN, UI_UP, UI_NEXT_PANE, UI_EXPLAIN, UI_PIN, UI_UNDO } },
	.draw = draw,
	.in_second = in_ledger,
	.opened = opened,
	.explains = explains,
	.move = move,
	.next_pane = ledger_next_pane,
	.open = open_value,
};
