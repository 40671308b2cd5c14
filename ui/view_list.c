/* All values of a setting: what each would need, or why it is refused. */
#include "view_internal.h"

#include "cost.h"
#include "report.h"
#include "ui_text.h"

#include <stdio.h>

enum { VALUE_X = 1, NEED_W = 9, WORD_W = 13, COUNT_W = 12, HELP_ROWS = 2 };

/* The draft and the plan with a value. False when it is refused, with the reason in *e. */
static bool try_value(const struct app *a, int64_t value, struct draft *next, struct plan *plan, struct err *e)
{
	struct knob_moves moves = { 0 };
	*next = a->draft;
	return draft_put(next, a->catalog, knob_at(a->list.knob), value, &moves, e) == ERR_OK &&
		plan_evaluate(&next->s, plan, e) == ERR_OK;
}

/* Settings that only the bill depends on have the bill instead of the memory. */
static bool is_bill(const struct knob *k)
{
	return k->group == KNOB_GROUP_COST;
}

static char *bill_text(const struct draft *d, const struct plan *plan, char *buf, size_t cap)
{
	const struct cost c = plan->step.known ? cost_of(&d->s, &plan->step) : (struct cost){ .usd = 0 };
	if (c.usd > 0)
		return report_usd(c.usd, buf, cap);
	(void)snprintf(buf, cap, "?");
	return buf;
}

/* What a value would lead to: "48.9", "FITS"; or the reason against it. */
static void draw_outcome(const struct view *v, int x, int y, int w, const struct knob *k, const struct knob_stop *stop)
{
	struct draft next;
	struct plan plan;
	struct err e = { 0 };
	char figure[32], help[256], reason[ERR_MSG_CAP];
	struct preview p = { 0 };
	if (!try_value(v->a, stop->value, &next, &plan, &e)) {
		(void)snprintf(p.reason, sizeof(p.reason), "%s", e.msg);
		(void)canvas_printf(
			v->c, x + 3, y, w - 3, ROLE_DIM, _("refused: %s"), view_reason(&p, k, reason, sizeof(reason)));
		return;
	}
	(void)canvas_text_right(v->c, x, y, NEED_W, ROLE_TEXT,
		is_bill(k) ? bill_text(&next, &plan, figure, sizeof(figure))
			   : view_gib3(plan.worst.need_bytes, figure, sizeof(figure)));
	(void)canvas_text(v->c, x + NEED_W + 2, y, WORD_W, ROLE_TEXT, _(verdict_word(&plan.verdict)));
	(void)canvas_text(v->c, x + NEED_W + WORD_W + 3, y, w - NEED_W - WORD_W - 3, ROLE_DIM,
		settings_stop_help(k, v->a->catalog, stop->value, help, sizeof(help)));
}

static int value_width(const struct view *v, const struct knob *k)
{
	const struct value_list *l = &v->a->list;
	int widest = 8;
	for (size_t i = 0; i < l->n; i++) {
		char text[512];
		const int w = canvas_text_width(
			settings_stop_text(k, v->a->catalog, &v->a->draft, l->stops[l->match[i]].value, text, sizeof(text)));
		widest = w > widest ? w : widest;
	}
	return widest > 28 ? 28 : widest;
}

/* The setting, what it means, which of how many values has the focus, the head of the column at x. Returns the rows. */
static int draw_head(const struct view *v, struct rect r, const struct knob *k, int x)
{
	const struct value_list *l = &v->a->list;
	const int help_x = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, k->key) + 2;
	const struct rect help = { r.x + help_x, r.y, r.w - help_x - COUNT_W, HELP_ROWS };
	char text[32];
	(void)snprintf(text, sizeof(text), _("%zu of %zu"), l->n == 0 ? 0 : l->focus + 1, l->n);
	(void)canvas_text_right(v->c, r.x + r.w - COUNT_W, r.y, COUNT_W, ROLE_DIM, text);
	const int rows = canvas_wrap(v->c, help, 0, ROLE_TEXT, ui_text(k->help)), used = rows < 1 ? 1 : rows;
	(void)canvas_text_right(v->c, x, r.y + used, NEED_W, ROLE_DIM, is_bill(k) ? _("cost") : _("peak GiB"));
	return used + 1;
}

/* What the value in focus is, or why it is refused, in full: its row may not have the room. */
static void draw_about(const struct view *v)
{
	const struct app *a = v->a;
	const struct value_list *l = &a->list;
	const struct rect r = v->l.area[AREA_PREVIEW];
	struct draft next;
	struct plan plan;
	struct err e = { 0 };
	char help[256];
	if (l->n == 0)
		return;
	const int64_t value = l->stops[l->match[l->focus]].value;
	const char *text = try_value(a, value, &next, &plan, &e)
		? settings_stop_help(knob_at(l->knob), a->catalog, value, help, sizeof(help))
		: e.msg;
	const int rows = canvas_wrap(v->c, (struct rect){ 0, 0, r.w, 0 }, 0, ROLE_TEXT, text);
	(void)canvas_wrap(v->c, (struct rect){ r.x, r.y + 1 - (rows > 1 ? 2 : 1), r.w, 2 }, 0, ROLE_TEXT, text);
}

static void draw_value(const struct view *v, struct rect r, const struct knob *k, size_t i, int value_w)
{
	const struct app *a = v->a;
	const struct knob_stop *stop = &a->list.stops[a->list.match[i]];
	const bool focus = i == a->list.focus;
	const int x = VALUE_X + value_w + 1;
	char text[512];
	if (focus)
		canvas_glyph(v->c, r.x, r.y, ROLE_ACCENT, GLYPH_FOCUS);
	(void)canvas_text(v->c, r.x + VALUE_X, r.y, value_w,
		focus                 ? ROLE_FOCUS
			: stop->legal ? ROLE_TEXT
				      : ROLE_DIM,
		settings_stop_text(k, a->catalog, &a->draft, stop->value, text, sizeof(text)));
	if (focus && a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, r.x + VALUE_X, r.y, false);
	draw_outcome(v, r.x + x, r.y, r.w - x, k, stop);
}

static void draw(const struct view *v)
{
	const struct value_list *l = &v->a->list;
	const struct knob *k = knob_at(l->knob);
	const struct rect body = view_body(v);
	const int value_w = value_width(v, k), head = draw_head(v, body, k, body.x + VALUE_X + value_w + 1);
	const size_t height = (size_t)(body.h - head - 1), top = l->focus >= height ? l->focus - height + 1 : 0;
	view_prompt_or(v, draw_about);
	if (l->n == 0)
		(void)canvas_printf(
			v->c, body.x + 1, body.y + head, body.w - 1, ROLE_TEXT, _("No value holds \"%s\"."), l->filter);
	for (size_t i = top; i < l->n && i < top + height; i++)
		draw_value(v, (struct rect){ body.x, body.y + head + (int)(i - top), body.w, 1 }, k, i, value_w);
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(void)snprintf(path, FIGURE_PATH_CAP, "scenario.%s", knob_at(a->list.knob)->key);
}

const struct view_kind view_list = {
	.open_label = N_("take"),
	.footer = { { UI_UP, UI_OPEN, UI_FIND, UI_UNDO } },
	.draw = draw,
	.explains = explains,
	.move = list_move,
	.open = list_take,
	.search = &list_search,
};
