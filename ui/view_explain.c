/* What is behind a figure: the formula, the numbers put in, the source; or behind a setting: its meaning, origin and legal values. */
#include "view_internal.h"

#include "explain.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_COLUMN_W = 12 };

/* Writes labelled, wrapped texts downwards; the first `skip` rows are scrolled away. */
struct pen {
	struct canvas *c;
	struct rect r;
	int row, skip;
};

static void pen_text(struct pen *p, const char *label, uint8_t style, const char *text)
{
	const int top = p->row - p->skip;
	const int hidden = top < 0 ? -top : 0, room = p->r.h - (top > 0 ? top : 0);
	if (top >= 0 && top < p->r.h)
		(void)canvas_text(p->c, p->r.x, p->r.y + top, LABEL_COLUMN_W - 1, ROLE_DIM, label);
	const struct rect r = {p->r.x + LABEL_COLUMN_W, p->r.y + (top > 0 ? top : 0), p->r.w - LABEL_COLUMN_W, room > 0 ? room : 0};
	const int rows = canvas_wrap(p->c, r, hidden, style, text);
	p->row += rows > 0 ? rows : 1;
}

static void pen_gap(struct pen *p)
{
	p->row++;
}

/* "8,192", "0.125", "22,502,440,960": exact where it is a whole number. */
static void value_text(double value, char *buf, size_t cap)
{
	if (value == (double)(int64_t)value && value < 9e15 && value > -9e15)
		(void)units_format_commas((int64_t)value, buf, cap);
	else
		(void)snprintf(buf, cap, "%.6g", value);
}

static void result_text(const struct explanation *x, char *buf, size_t cap)
{
	char value[48], gib[32];
	value_text(x->result, value, sizeof(value));
	if (strcmp(x->unit, "bytes") == 0 && x->result > 1e6)
		(void)snprintf(buf, cap, "%s %s = %s = %.2f GB", value, x->unit, units_format_gib((int64_t)x->result, gib, sizeof(gib)), x->result / 1e9);
	else
		(void)snprintf(buf, cap, "%s %s", value, x->unit);
}

static void write_figure(struct pen *p, const struct explanation *x)
{
	char text[400], value[48];
	pen_text(p, _("formula"), ROLE_TEXT, x->formula);
	result_text(x, text, sizeof(text));
	pen_text(p, _("result"), ROLE_HEAD, text);
	pen_gap(p);
	for (size_t i = 0; i < x->n_values; i++) {
		const struct explanation *e = x;
		value_text(e->values[i].value, value, sizeof(value));
		(void)snprintf(text, sizeof(text), "%-14s %s %s  %s", e->values[i].symbol, value, e->values[i].unit, e->values[i].from);
		pen_text(p, i == 0 ? _("numbers") : "", ROLE_TEXT, text);
	}
	pen_gap(p);
	for (size_t i = 0; i < x->n_notes; i++)
		pen_text(p, i == 0 ? _("notes") : "", ROLE_TEXT, x->notes[i]);
	if (x->source[0] != '\0')
		pen_text(p, _("source"), ROLE_TEXT, x->source);
	else
		pen_text(p, _("source"), ROLE_ALERT, _("assumption of meshplan, not measured"));
}

static void write_values(const struct app *a, struct pen *p, const struct knob *k)
{
	struct knob_stop stops[LIST_STOPS_MAX];
	char text[1024], value[512], help[256];
	size_t at = 0, len = 0;
	const size_t n = knob_stops(k, a->catalog, &a->draft, stops, LIST_STOPS_MAX, &at);
	text[0] = '\0';
	for (size_t i = 0; i < n && len + 64 < sizeof(text); i++) {
		if (!stops[i].legal)
			continue;
		(void)settings_stop_text(k, a->catalog, &a->draft, stops[i].value, value, sizeof(value));
		const int wrote = snprintf(text + len, sizeof(text) - len, "%s%.60s", len > 0 ? " " : "", value);
		len += wrote > 0 ? (size_t)wrote : 0;
	}
	if (len > 0)
		pen_text(p, _("legal here"), ROLE_TEXT, text);
	for (size_t i = 0; k->name_at != NULL && i < n; i++) {
		(void)settings_stop_text(k, a->catalog, &a->draft, stops[i].value, value, sizeof(value));
		(void)snprintf(text, sizeof(text), "%.40s: %s", value, settings_stop_help(k, a->catalog, stops[i].value, help, sizeof(help)));
		pen_text(p, i == 0 ? _("values") : "", stops[i].legal ? ROLE_TEXT : ROLE_DIM, text);
	}
}

static void write_setting(const struct app *a, struct pen *p)
{
	const struct knob *k = app_knob(a);
	char text[512], value[128];
	(void)knob_format_pretty(k, &a->draft.s, value, sizeof(value));
	(void)snprintf(text, sizeof(text), "%s  (%s)", value, _(knob_origin_names[a->draft.origin[a->focus]]));
	pen_text(p, _("value"), ROLE_HEAD, text);
	pen_text(p, _("meaning"), ROLE_TEXT, _(k->help));
	if (k->unit != NULL && k->unit[0] != '\0')
		pen_text(p, _("unit"), ROLE_TEXT, _(k->unit));
	(void)snprintf(text, sizeof(text), k->alias == NULL ? "--%s" : "--%s, --%s", k->key, k->alias == NULL ? "" : k->alias);
	pen_text(p, _("flag"), ROLE_TEXT, text);
	pen_gap(p);
	write_values(a, p, k);
	if (k->cite != NULL && k->cite[0] != '\0')
		pen_text(p, _("source"), ROLE_TEXT, k->cite);
}

void view_explain(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	struct pen p = {v->c, {body.x, body.y + 2, (int)(body.w < 110 ? body.w : 110), body.h - 2}, 0, (int)a->scroll[VIEW_EXPLAIN]};
	struct explanation x;
	struct err e = {0};
	const int used = canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, _("EXPLAIN"));
	view_prompt_or(v, NULL);
	if (a->path[0] == '\0') {
		(void)canvas_printf(v->c, body.x + used + 2, body.y, body.w - used - 2, ROLE_TEXT, "%s", app_knob(a)->key);
		write_setting(a, &p);
		return;
	}
	(void)canvas_text(v->c, body.x + used + 2, body.y, body.w - used - 2, ROLE_TEXT, a->path);
	if (explain_quantity(&a->draft, &a->plan, a->path, &x, &e) == ERR_OK)
		write_figure(&p, &x);
	else
		pen_text(&p, "", ROLE_ALERT, e.msg);
}
