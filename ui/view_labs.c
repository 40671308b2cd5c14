/* The laboratory: the list of labs with their parameters. */
#include "view_internal.h"

#include "labs.h"
#include "ui_text.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_W = 27, TOLD_W = 66, KEY_W = 16, VALUE_W = VIEW_PARAMS_W - KEY_W, GAP = 2 };

void view_params(const struct view *v, struct rect r, const struct lab_input *in, size_t at)
{
	const struct lab *lab = in->lab;
	const size_t h = r.h > 1 ? (size_t)r.h - 1 : 0, top = at < lab->n_params && at >= h ? at - h + 1 : 0;
	const int help_w = r.w - VIEW_PARAMS_W - GAP; /* narrower, only the one in focus is explained, in the row of the prompt */
	char text[48];
	(void)canvas_printf(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PARAMETERS of %s"), lab->id);
	for (size_t i = top; i < lab->n_params && i < top + h; i++) {
		const struct lab_param *p = &lab->params[i];
		const int y = r.y + 1 + (int)(i - top);
		const bool focus = i == at;
		if (focus)
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, r.x + 1, y, KEY_W - 1, focus ? ROLE_TEXT : ROLE_DIM, p->key);
		(void)canvas_text_right(v->c, r.x + KEY_W, y, VALUE_W, focus ? ROLE_FOCUS : ROLE_TEXT,
			labs_format(p, in->value[i], text, sizeof(text)));
		if (focus && v->a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, r.x + KEY_W + VALUE_W - 1, y, false);
		if (r.w >= VIEW_PARAMS_TOLD_W)
			(void)canvas_text(v->c, r.x + r.w - help_w, y, help_w, ROLE_DIM, ui_text(p->help));
	}
}

/* Rows that a lab takes in the list: one, or two and more where its help stands below its name. */
static int rows_each(struct rect body)
{
	const int rows = (body.h - 1) / (int)labs_count();
	return body.w < TOLD_W + VIEW_PARAMS_TOLD_W || rows < 2 ? 1 : rows < 3 ? 2 : 3;
}

/* What the focus is on, unless the list says it; what is too long loses its last clauses. */
static void draw_help(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	if (!l->on_params && rows_each(view_body(v)) > 1)
		return;
	const struct lab *lab = lab_table[l->focus];
	const struct rect r = v->l.area[AREA_PREVIEW];
	char text[256];
	(void)snprintf(text, sizeof(text), "%s", ui_text(l->on_params ? lab->params[l->param].help : lab->help));
	for (char *comma = strrchr(text, ','); canvas_text_width(text) > r.w && comma != NULL; comma = strrchr(text, ','))
		*comma = '\0';
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, text);
}

static void draw_list(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	const struct rect body = view_body(v);
	const int each = rows_each(body), w = each > 1 ? TOLD_W : LABEL_W;
	(void)canvas_text(v->c, body.x, body.y, w, ROLE_HEAD, _("LABORATORY"));
	for (size_t i = 0; lab_table[i] != NULL && (int)i + 1 < body.h; i++) {
		const int y = body.y + 1 + (int)i * each;
		const bool focus = !l->on_params && i == l->focus;
		if (i == l->focus)
			canvas_glyph(v->c, body.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, body.x + 1, y, w - 2, focus ? ROLE_FOCUS : ROLE_TEXT, ui_text(lab_table[i]->label));
		if (each > 1)
			(void)canvas_text(v->c, body.x + 3, y + 1, w - 4, ROLE_DIM, ui_text(lab_table[i]->help));
		if (focus && v->a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, body.x + 1, y, false);
	}
	view_params(v, (struct rect){ body.x + w, body.y, body.w - w, body.h }, &l->input, l->on_params ? l->param : SIZE_MAX);
	view_prompt_or(v, draw_help);
}

static bool in_params(const struct app *a)
{
	return a->labs.on_params;
}

const struct view_kind view_labs = {
	.second = N_("parameters of a lab"),
	.digit = '9',
	.footer = { { UI_OPEN, UI_UP, UI_NEXT_PANE, UI_WRITE }, { UI_STEP_UP, UI_TYPE, UI_OPEN, UI_UP, UI_NEXT_PANE, UI_WRITE } },
	.draw = draw_list,
	.in_second = in_params,
	.move = labs_move,
	.next_pane = labs_next_pane,
	.open = labs_open,
	.step = labs_change,
	.reset = labs_default,
	.type = labs_type,
};
