/* The laboratory: the list of labs with their parameters, and one step of a run, or behind the last one what it proved. */
#include "view_internal.h"

#include "lab_report.h"
#include "labs.h"
#include "num.h"
#include "ui_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_W = 27, KEY_W = 16, VALUE_W = 11, HELP_MIN_W = 44, ROWS_W = 26 };
enum { MEASURED_ROWS = 64, GAP = 2, HEAD_H = 4, ANY_H = 1 << 20 };

static const char *param_text(const struct lab_param *p, double value, char *buf, size_t cap)
{
	if (p->type == LAB_PARAM_WORD)
		(void)snprintf(buf, cap, "%s", p->word((int64_t)value));
	else if (p->type == LAB_PARAM_FLAG)
		(void)snprintf(buf, cap, "%s", value > 0 ? _("on") : _("off"));
	else
		(void)lab_format(p->type == LAB_PARAM_INT ? LAB_COUNT : LAB_REAL, value, buf, cap);
	return buf;
}

static void draw_params(const struct view *v, struct rect r)
{
	const struct labs *l = &v->a->labs;
	const struct lab *lab = lab_table[l->focus];
	const size_t h = r.h > 1 ? (size_t)r.h - 1 : 0, top = l->param >= h ? l->param - h + 1 : 0;
	const int help_w =
		r.w - KEY_W - VALUE_W - GAP; /* narrower, only the one in focus is explained, in the row of the prompt */
	char text[48];
	(void)canvas_printf(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PARAMETERS of %s"), lab->id);
	for (size_t i = top; i < lab->n_params && i < top + h; i++) {
		const struct lab_param *p = &lab->params[i];
		const int y = r.y + 1 + (int)(i - top);
		const bool focus = l->on_params && i == l->param;
		if (focus)
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, r.x + 1, y, KEY_W - 1, focus ? ROLE_TEXT : ROLE_DIM, p->key);
		(void)canvas_text_right(v->c, r.x + KEY_W, y, VALUE_W, focus ? ROLE_FOCUS : ROLE_TEXT,
			param_text(p, l->input.value[i], text, sizeof(text)));
		if (focus && v->a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, r.x + KEY_W + VALUE_W - 1, y, false);
		if (help_w >= HELP_MIN_W)
			(void)canvas_text(v->c, r.x + r.w - help_w, y, help_w, ROLE_DIM, ui_text(p->help));
	}
}

/* What the focus is on; what is too long loses its last clauses. */
static void draw_help(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	const struct lab *lab = lab_table[l->focus];
	const struct rect r = v->l.area[AREA_PREVIEW];
	char text[256];
	(void)snprintf(text, sizeof(text), "%s", ui_text(l->on_params ? lab->params[l->param].help : lab->help));
	for (char *comma = strrchr(text, ','); canvas_text_width(text) > r.w && comma != NULL; comma = strrchr(text, ','))
		*comma = '\0';
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, text);
}

void view_labs(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	const struct rect body = view_body(v);
	(void)canvas_text(v->c, body.x, body.y, LABEL_W, ROLE_HEAD, _("LABORATORY"));
	for (size_t i = 0; lab_table[i] != NULL && (int)i + 1 < body.h; i++) {
		const int y = body.y + 1 + (int)i;
		const bool focus = !l->on_params && i == l->focus;
		if (i == l->focus)
			canvas_glyph(v->c, body.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, body.x + 1, y, LABEL_W - 2, focus ? ROLE_FOCUS : ROLE_TEXT, ui_text(lab_table[i]->label));
		if (focus && v->a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, body.x + 1, y, false);
	}
	draw_params(v, (struct rect){ body.x + LABEL_W, body.y, body.w - LABEL_W, body.h });
	view_prompt_or(v, draw_help);
}

/* Widths of the labels and of each column, from the first rows: they stay the same while one scrolls. */
static void measure(const struct lab_run *run, int64_t k, const struct lab_step *s, int width[LAB_COLUMNS_MAX + 1])
{
	char text[64];
	width[0] = 0;
	for (int32_t c = 0; c < s->n_columns; c++)
		width[c + 1] = canvas_text_width(ui_text(s->columns[c].label));
	for (int64_t i = 0; i < s->rows && i < MEASURED_ROWS; i++) {
		struct lab_row row;
		lab_row(run, k, i, &row);
		width[0] = (int)num_max(width[0], canvas_text_width(row.label));
		for (int32_t c = 0; c < s->n_columns; c++)
			width[c + 1] = (int)num_max(width[c + 1],
				canvas_text_width(lab_format_short(s->columns[c].unit, row.value[c], text, sizeof(text))));
	}
}

static void draw_row(const struct view *v, struct rect r, const struct lab_step *s, const struct lab_row *row, const int *width)
{
	char text[64];
	int x = r.x + width[0];
	(void)canvas_text(v->c, r.x, r.y, width[0], ROLE_DIM, row->label);
	for (int32_t c = 0; c < s->n_columns && x < r.x + r.w; c++) {
		const int w = width[c + 1] + GAP;
		(void)canvas_text_right(v->c, x, r.y, (int)num_min(w, r.x + r.w - x), ROLE_TEXT,
			lab_format_short(s->columns[c].unit, row->value[c], text, sizeof(text)));
		x += w;
	}
	if (x + GAP < r.x + r.w)
		(void)canvas_text(v->c, x + GAP, r.y, r.x + r.w - x - GAP, ROLE_TEXT, row->text);
	if (x > r.x + r.w || x + GAP + canvas_text_width(row->text) > r.x + r.w)
		canvas_glyph(v->c, r.x + r.w - 1, r.y, ROLE_ACCENT, GLYPH_MORE);
}

static void draw_step(const struct view *v, struct rect r)
{
	const struct lab_run *run = &v->a->labs.play->run;
	const int64_t k = v->a->labs.at, top = (int64_t)v->a->scroll[VIEW_LAB];
	int width[LAB_COLUMNS_MAX + 1];
	struct lab_step s;
	lab_step(run, k, &s);
	measure(run, k, &s, width);
	(void)canvas_wrap(v->c, (struct rect){ r.x, r.y + 1, r.w, 2 }, 0, ROLE_TEXT, s.title);
	int x = r.x + width[0];
	for (int32_t c = 0; c < s.n_columns && x < r.x + r.w; c++) {
		(void)canvas_text_right(
			v->c, x, r.y + 3, (int)num_min(width[c + 1] + GAP, r.x + r.w - x), ROLE_DIM, ui_text(s.columns[c].label));
		x += width[c + 1] + GAP;
	}
	for (int64_t i = top; i < s.rows && i - top < r.h - HEAD_H; i++) {
		struct lab_row row;
		lab_row(run, k, i, &row);
		draw_row(v, (struct rect){ r.x, r.y + HEAD_H + (int)(i - top), r.w, 1 }, &s, &row, width);
	}
}

static void write_claim(struct pen *p, const struct lab_claim *c)
{
	char a[64], b[64], text[256], allowed[64] = "";
	pen_text(p, c->holds ? _("proved") : _("NOT PROVED"), c->holds ? ROLE_TEXT : ROLE_ALERT, ui_text(c->text));
	if (c->tolerance > 0)
		(void)snprintf(allowed, sizeof(allowed), _(", rounding allows %.3g"), c->tolerance);
	if (isnan(c->got))
		(void)snprintf(text, sizeof(text), _("difference %.3g%s"), c->difference, allowed);
	else
		(void)snprintf(text, sizeof(text), _("%s and %s, difference %.3g%s"), lab_format(c->unit, c->got, a, sizeof(a)),
			lab_format(c->unit, c->want, b, sizeof(b)), c->difference, allowed);
	pen_text(p, "", ROLE_DIM, text);
}

/* What was proved, the numbers, the question. Returns the rows that all of it takes. */
static int draw_summary(const struct view *v, struct rect r, size_t skip)
{
	const struct lab_run *run = &v->a->labs.play->run;
	struct pen p = { v->c, r, 0, (int)skip };
	char value[64], text[256];
	for (int32_t i = 0; i < run->n_claims; i++)
		write_claim(&p, &run->claims[i]);
	pen_gap(&p);
	pen_text(&p, _("question"), ROLE_HEAD, run->question);
	pen_text(&p, "", ROLE_DIM, run->next);
	pen_gap(&p);
	for (int32_t i = 0; i < run->n_facts; i++) {
		const struct lab_fact *f = &run->facts[i];
		(void)snprintf(
			text, sizeof(text), "%s: %s", ui_text(f->label), lab_format(f->unit, f->value, value, sizeof(value)));
		pen_text(&p, i == 0 ? _("numbers") : "", ROLE_TEXT, text);
	}
	return p.row;
}

static struct rect summary_rect(const struct view *v)
{
	const struct rect body = view_body(v);
	return (struct rect){ body.x, body.y + 1, body.w, body.h - 1 };
}

size_t view_lab_scroll_max(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	struct rect r = summary_rect(v);
	struct lab_step s;
	int64_t rows, h = r.h;
	if (l->play == NULL)
		return 0;
	if (l->at == l->play->run.steps) {
		r.h = ANY_H;
		rows = draw_summary(v, r, 0);
	} else {
		lab_step(&l->play->run, l->at, &s);
		rows = s.rows;
		h = view_body(v).h - HEAD_H;
	}
	return rows > h ? (size_t)(rows - h) : 0;
}

/* Playing or not; which rows of a long table. */
static void draw_state(const struct view *v)
{
	const struct rect r = v->l.area[AREA_PREVIEW];
	const struct labs *l = &v->a->labs;
	const int64_t top = (int64_t)v->a->scroll[VIEW_LAB], h = view_body(v).h - HEAD_H;
	struct lab_step s;
	char text[64];
	if (l->at == l->play->run.steps) {
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("Think first; Esc, Tab, then h and l change a parameter."));
		return;
	}
	(void)canvas_printf(v->c, r.x, r.y, r.w - ROWS_W, ROLE_DIM,
		l->playing ? _("playing, %d steps a second") : _("paused, %d steps a second"), app_ticks_per_s(v->a));
	lab_step(&l->play->run, l->at, &s);
	if (s.rows <= h)
		return;
	(void)snprintf(
		text, sizeof(text), _("rows %" PRId64 " to %" PRId64 " of %" PRId64), top + 1, num_min(top + h, s.rows), s.rows);
	(void)canvas_text_right(v->c, r.x + r.w - ROWS_W, r.y, ROWS_W, ROLE_DIM, text);
}

void view_lab(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	const struct rect body = view_body(v);
	char text[64];
	if (l->play == NULL)
		return;
	const struct lab_run *run = &l->play->run;
	const bool last = l->at == run->steps;
	(void)canvas_printf(
		v->c, body.x, body.y, body.w, ROLE_HEAD, "%s: %s", run->input.lab->id, ui_text(run->input.lab->label));
	if (last)
		(void)snprintf(text, sizeof(text), "%s", lab_proven(run) ? _("what it proved") : _("what it did not prove"));
	else
		(void)snprintf(text, sizeof(text), _("step %" PRId64 " of %" PRId64), l->at + 1, run->steps);
	(void)canvas_text_right(v->c, body.x + body.w - 24, body.y, 24, ROLE_HEAD, text);
	if (last)
		(void)draw_summary(v, summary_rect(v), v->a->scroll[VIEW_LAB]);
	else
		draw_step(v, body);
	view_prompt_or(v, draw_state);
}
