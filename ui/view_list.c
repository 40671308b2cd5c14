/* All values of a setting: what each would need, or why it is refused. */
#include "view_internal.h"

#include "ui_text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_X = 1, NEED_W = 9, WORD_W = 13 };

/* What a value would lead to: "48.9", "FITS"; or the reason against it. */
static void draw_outcome(const struct view *v, int x, int y, int w, const struct knob *k, const struct knob_stop *stop)
{
	const struct app *a = v->a;
	struct draft next = a->draft;
	struct knob_moves moves = { 0 };
	struct plan plan;
	struct err e = { 0 };
	char need[32], help[256], reason[ERR_MSG_CAP];
	struct preview p = { 0 };
	if (draft_put(&next, a->catalog, k, stop->value, &moves, &e) != ERR_OK || plan_evaluate(&next.s, &plan, &e) != ERR_OK) {
		(void)snprintf(p.reason, sizeof(p.reason), "%s", e.msg);
		(void)canvas_printf(
			v->c, x + 3, y, w - 3, ROLE_DIM, _("refused: %s"), view_reason(&p, k, reason, sizeof(reason)));
		return;
	}
	(void)canvas_text_right(v->c, x, y, NEED_W, ROLE_TEXT, view_gib3(plan.worst.need_bytes, need, sizeof(need)));
	(void)canvas_text(v->c, x + NEED_W + 2, y, WORD_W, ROLE_TEXT, _(verdict_word(&plan.verdict)));
	(void)canvas_text(v->c, x + NEED_W + WORD_W + 3, y, w - NEED_W - WORD_W - 3, ROLE_DIM,
		settings_stop_help(k, a->catalog, stop->value, help, sizeof(help)));
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

void view_list(const struct view *v)
{
	const struct app *a = v->a;
	const struct value_list *l = &a->list;
	const struct knob *k = knob_at(l->knob);
	const struct rect body = view_body(v);
	const size_t height = (size_t)(body.h - 2), top = l->focus >= height ? l->focus - height + 1 : 0;
	const int value_w = value_width(v, k), x = body.x + VALUE_X + value_w + 1;
	char text[512];
	const int used = canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, k->key);
	(void)canvas_printf(v->c, body.x + used + 2, body.y, body.w - used - 14, ROLE_TEXT, "%s", ui_text(k->help));
	(void)snprintf(text, sizeof(text), _("%zu of %zu"), l->n == 0 ? 0 : l->focus + 1, l->n);
	(void)canvas_text_right(v->c, body.x + body.w - 12, body.y, 12, ROLE_DIM, text);
	(void)canvas_text_right(v->c, x, body.y + 1, NEED_W, ROLE_DIM, _("peak GiB"));
	view_prompt_or(v, NULL);
	if (l->n == 0)
		(void)canvas_printf(v->c, body.x + 1, body.y + 2, body.w - 1, ROLE_TEXT, _("No value holds \"%s\"."), l->filter);
	for (size_t i = top; i < l->n && i < top + height; i++) {
		const struct knob_stop *stop = &l->stops[l->match[i]];
		const int y = body.y + 2 + (int)(i - top);
		const bool focus = i == l->focus;
		if (focus)
			canvas_glyph(v->c, body.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, body.x + VALUE_X, y, value_w,
			focus                 ? ROLE_FOCUS
				: stop->legal ? ROLE_TEXT
					      : ROLE_DIM,
			settings_stop_text(k, a->catalog, &a->draft, stop->value, text, sizeof(text)));
		if (focus && a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, body.x + VALUE_X, y, false);
		draw_outcome(v, x, y, body.w - x, k, stop);
	}
}
