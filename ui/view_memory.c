/* The memory ledger: the bars at full width, then every part of every stage, the bytes per parameter, the phases. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>

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

static void draw_cell(const struct view *v, struct rect r, int row, size_t column, const char *text, bool focus)
{
	const int x = r.x + NAME_W + (int)column * COLUMN_W;
	(void)canvas_text_right(v->c, x, r.y + row, COLUMN_W, focus ? ROLE_FOCUS : ROLE_TEXT, text);
	if (focus && v->a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, x + COLUMN_W - 1, r.y + row, false);
}

static void draw_category(const struct view *v, struct rect r, const struct columns *c, int place)
{
	const struct app *a = v->a;
	const enum memory_category k = view_category(place);
	const struct stage_memory *focused = &a->stages[a->figure_stage];
	const int row = 1 + place;
	const bool focus = a->figure_category == place;
	char text[32];
	if (focus)
		canvas_glyph(v->c, r.x, r.y + row, ROLE_ACCENT, GLYPH_FOCUS);
	canvas_put(v->c, r.x + 1, r.y + row, (uint8_t)(category_looks[k].role | STYLE_BOLD),
		(uint32_t)(unsigned char)memory_category_table[k].letter);
	(void)canvas_text(v->c, r.x + 3, r.y + row, NAME_W - 3, ROLE_DIM, _(category_looks[k].name));
	for (size_t i = 0; i < c->n; i++)
		draw_cell(v, r, row, i,
			view_gib(a->stages[c->first + i].category[k], a->plan.worst.need_bytes, text, sizeof(text)),
			focus && c->first + i == a->figure_stage);
	const double share = focused->need_bytes > 0 ? 100.0 * (double)focused->category[k] / (double)focused->need_bytes : 0;
	(void)snprintf(text, sizeof(text), focused->category[k] == 0 ? "-" : share < 0.05 ? "<0.1 %%" : "%.1f %%", share);
	(void)canvas_text_right(v->c, r.x + c->share_x, r.y + row, SHARE_W, ROLE_DIM, text);
}

/* Below the categories: peak, what is free, micro-batches in flight. */
static void draw_totals(const struct view *v, struct rect r, const struct columns *c)
{
	static const char *const names[] = { N_("peak"), N_("free"), N_("in flight") };
	const struct app *a = v->a;
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	const bool focus = a->figure_category == FIGURE_TOTAL;
	char text[32];
	for (int i = 0; i < 3; i++)
		(void)canvas_text(v->c, r.x + 3, r.y + 1 + MEMORY_CATEGORY_COUNT + i, NAME_W - 3, ROLE_HEAD, _(names[i]));
	if (focus)
		canvas_glyph(v->c, r.x, r.y + 1 + MEMORY_CATEGORY_COUNT, ROLE_ACCENT, GLYPH_FOCUS);
	for (size_t i = 0; i < c->n; i++) {
		const struct stage_memory *s = &a->stages[c->first + i];
		const int row = 1 + MEMORY_CATEGORY_COUNT;
		draw_cell(v, r, row, i, view_gib(s->need_bytes, a->plan.worst.need_bytes, text, sizeof(text)),
			focus && c->first + i == a->figure_stage);
		(void)snprintf(text, sizeof(text), "?");
		if (limit > 0)
			(void)view_gib(limit - s->need_bytes, a->plan.worst.need_bytes, text, sizeof(text));
		draw_cell(v, r, row + 1, i, text, false);
		(void)snprintf(text, sizeof(text), "%.4g", s->in_flight);
		draw_cell(v, r, row + 2, i, text, false);
	}
}

static void draw_table(const struct view *v, struct rect r)
{
	const struct columns c = choose_columns(v->a, r.w);
	char text[32];
	for (size_t i = 0; i < c.n; i++) {
		(void)snprintf(text, sizeof(text), "s%zu", c.first + i);
		(void)canvas_text_right(v->c, r.x + NAME_W + (int)i * COLUMN_W, r.y, COLUMN_W, ROLE_DIM, text);
	}
	(void)snprintf(text, sizeof(text), _("of s%zu"), v->a->figure_stage);
	(void)canvas_text_right(v->c, r.x + c.share_x, r.y, SHARE_W, ROLE_DIM, text);
	for (int place = 0; place < MEMORY_CATEGORY_COUNT; place++)
		draw_category(v, r, &c, place);
	draw_totals(v, r, &c);
}

/* What the focused row means. */
static void draw_meaning(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[a->figure_stage];
	if (r.h <= 0)
		return;
	if (a->figure_category == FIGURE_TOTAL)
		(void)canvas_printf(v->c, r.x, r.y, r.w, ROLE_TEXT, _("Stage %zu peaks when: %s"), a->figure_stage,
			ui_text(memory_instant_choices[s->instant].help));
	else
		(void)canvas_wrap(v->c, r, 0, ROLE_TEXT, ui_text(memory_category_table[view_category(a->figure_category)].help));
}

void view_memory(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	const int spare = body.h - TABLE_H - 3;
	size_t stages[STAGE_LIST_MAX];
	const size_t n = view_choose_stages(a, (size_t)num_max(1, num_min(spare - 1, 16)), stages);
	const bool right = body.w >= 80;
	view_prompt_or(v, NULL);
	view_memory_bars(v, (struct rect){ body.x, body.y, (int)num_min(body.w, 121), 1 + (int)n }, stages, n,
		(int)num_min(body.w, 121) - 11, true);
	int y = body.y + 1 + (int)n + (spare > (int)n + 1 ? 1 : 0);
	const int table_w = right ? body.w - RIGHT_W - 2 : body.w;
	draw_table(v, (struct rect){ body.x, y, table_w, TABLE_H });
	if (right) {
		const int x = body.x + (int)num_min(table_w, NAME_W + (int64_t)a->n_stages * COLUMN_W + SHARE_W + 10) + 2;
		const int w = (int)num_min(body.x + body.w - x, 44);
		view_ledger(v, (struct rect){ x, y, w, 6 });
		view_phases(v, (struct rect){ x, y + 7, w, (int)num_min(1 + PHASE_COUNT, body.y + body.h - y - 7) });
	}
	y += TABLE_H;
	if (y < body.y + body.h - 1)
		view_host(v, (struct rect){ body.x, y, right ? table_w : body.w, 1 });
	draw_meaning(v, (struct rect){ body.x, body.y + body.h - 1, body.w, body.y + body.h - 1 >= y ? 1 : 0 });
}
