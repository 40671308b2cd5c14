/* Every way out, ranked: what one change would do with everything else as it is. */
#include "view_internal.h"

#include "ui_text.h"
#include "units.h"

#include <stdio.h>

enum { WHAT_W = 18, FIGURE_W = 9, STEP_W = 7, SPEED_W = 14, TIMED_W = 76 };

/* Columns of the change itself. */
static int change_width(struct rect r)
{
	return r.w - WHAT_W - 2 * FIGURE_W - (r.w >= TIMED_W ? STEP_W + SPEED_W : 0);
}

static const char *const group_titles[ADVICE_GROUP_COUNT] = {
	[ADVICE_SAME] = N_("WHAT MAKES ROOM, the same training run"),
	[ADVICE_CHANGES] = N_("CHANGES WHAT YOU TRAIN, OR HOW"),
	[ADVICE_LAYOUT] = N_("WITH A LAYOUT CHOSEN ANEW"),
	[ADVICE_HARDWARE] = N_("FEWEST GPUS on which a layout fits"),
	[ADVICE_NOT_ENOUGH] = N_("NOT ENOUGH ALONE"),
};

/* Rows of the list: a heading before each group, a blank row before each but the first. */
static int row_of(const struct advice *a, size_t at)
{
	int row = 0;
	for (size_t i = 0; i < a->n; i++) {
		const bool heading = i == 0 || a->row[i].group != a->row[i - 1].group;
		row += heading ? (i == 0 ? 1 : 2) : 0;
		if (i == at)
			return row;
		row++;
	}
	return row;
}

static void draw_heading(const struct view *v, struct rect r, int y, enum advice_group group)
{
	const int x = r.x + WHAT_W + change_width(r);
	(void)canvas_text(v->c, r.x, y, x - r.x, ROLE_HEAD, ui_text(group_titles[group]));
	(void)canvas_text_right(v->c, x, y, FIGURE_W, ROLE_DIM, _("peak GiB"));
	(void)canvas_text_right(v->c, x + FIGURE_W, y, FIGURE_W, ROLE_DIM, _("to spare"));
	if (r.w < TIMED_W)
		return;
	(void)canvas_text_right(v->c, x + 2 * FIGURE_W, y, STEP_W, ROLE_DIM, _("step s"));
	(void)canvas_text_right(v->c, x + 2 * FIGURE_W + STEP_W, y, SPEED_W, ROLE_DIM, _("tokens/s"));
}

/* Step time and what becomes of the speed, where there is room. */
static void draw_speed(const struct view *v, struct rect r, int x, int y, const struct advice_row *row)
{
	char text[32];
	if (r.w < TIMED_W)
		return;
	(void)canvas_text_right(
		v->c, x, y, STEP_W, ROLE_TEXT, row->step_s > 0 ? units_format_f4(row->step_s, text, sizeof(text)) : "?");
	(void)canvas_text_right(
		v->c, x + STEP_W, y, SPEED_W, ROLE_TEXT, view_speed_gain(v->a, row->tokens_per_s, text, sizeof(text)));
}

static void draw_row(const struct view *v, struct rect r, int y, const struct advice_row *row, bool focus)
{
	const int change_w = change_width(r), x = r.x + WHAT_W + change_w;
	char text[128], figure[32];
	if (focus)
		canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
	const bool single = row->group != ADVICE_LAYOUT;
	(void)canvas_text(v->c, r.x + 1, y, single ? WHAT_W - 2 : x - r.x - 2, focus ? ROLE_FOCUS : ROLE_TEXT, row->what);
	(void)snprintf(text, sizeof(text), row->from[0] != '\0' ? _("%s to %s") : "%s%s", row->from, row->to);
	/* A long change begins right behind its name. */
	const int behind = r.x + 1 + canvas_text_width(row->what) + 1;
	const int from_x = canvas_text_width(text) < change_w ? r.x + WHAT_W : behind;
	if (single)
		(void)canvas_text(v->c, from_x, y, x - from_x - 1, ROLE_TEXT, text);
	(void)canvas_text_right(v->c, x, y, FIGURE_W, ROLE_TEXT, view_gib3(row->need_bytes, figure, sizeof(figure)));
	(void)canvas_text_right(v->c, x + FIGURE_W, y, FIGURE_W, row->tight ? ROLE_ALERT : ROLE_TEXT,
		view_change(row->headroom_bytes, figure, sizeof(figure)));
	draw_speed(v, r, x + 2 * FIGURE_W, y, row);
	if (focus && v->a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, r.x + 1, y, false);
}

static void draw_state(const struct view *v, struct rect r)
{
	const struct advice *a = &v->a->advice;
	if (!a->complete)
		(void)canvas_printf(v->c, r.x, r.y, r.w, ROLE_DIM, _("searching, %d %%"), (int)(100 * advice_progress(a)));
	else if (a->n == 0)
		(void)canvas_text(
			v->c, r.x, r.y, r.w, ROLE_TEXT, _("No single change makes room: this plan needs the least already."));
	else if (v->a->plan.verdict.fits)
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM,
			canvas_fitting(r.w, _("The plan fits; these give more room, least lost speed first."),
				_("It fits; least lost speed first.")));
	else
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("One change at a time, least lost speed first."));
}

/* The change in focus in full: its row may not have the room. */
static void draw_taken(const struct view *v)
{
	const struct advice *a = &v->a->advice;
	const struct rect r = v->l.area[AREA_PREVIEW];
	if (v->a->advice_focus < a->n)
		(void)canvas_printf(v->c, r.x, r.y, r.w, ROLE_TEXT, _("Enter takes %s %s; u goes back."),
			a->row[v->a->advice_focus].what, a->row[v->a->advice_focus].to);
}

static void draw(const struct view *v)
{
	const struct advice *a = &v->a->advice;
	const struct rect body = view_body(v);
	const struct rect r = { body.x, body.y, body.w < 100 ? body.w : 100, body.h - 1 };
	const int focus_row = row_of(a, v->a->advice_focus), top = focus_row >= r.h ? focus_row - r.h + 1 : 0;
	view_prompt_or(v, draw_taken);
	for (size_t i = 0; i < a->n; i++) {
		const int y = row_of(a, i) - top;
		const bool heading = i == 0 || a->row[i].group != a->row[i - 1].group;
		if (heading && y - 1 >= 0 && y - 1 < r.h)
			draw_heading(v, r, r.y + y - 1, a->row[i].group);
		if (y >= 0 && y < r.h)
			draw_row(v, r, r.y + y, &a->row[i], i == v->a->advice_focus);
	}
	const bool more = row_of(a, a->n) - top > r.h;
	const int y = body.y + body.h - 1, more_w = more ? canvas_text_width(_("more below: G")) : 0;
	draw_state(v, (struct rect){ r.x, y, r.w - more_w - 2, 1 });
	(void)canvas_text_right(v->c, r.x, y, r.w, ROLE_DIM, more ? _("more below: G") : "");
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	if (a->advice_focus < a->advice.n && knob_find(a->advice.row[a->advice_focus].what) != NULL)
		(void)snprintf(path, FIGURE_PATH_CAP, "scenario.%s", a->advice.row[a->advice_focus].what);
}

const struct view_kind view_advice = {
	.digit = '6',
	.open_label = N_("take"),
	.footer = { { UI_UP, UI_OPEN, UI_SPACE, UI_UNDO, UI_PIN, UI_WRITE } },
	.draw = draw,
	.opened = advice_opened,
	.explains = explains,
	.move = advice_move,
	.open = advice_take,
};
