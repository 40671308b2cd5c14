/* What is behind a figure: the formula, the numbers put in, the source; or behind a setting: its meaning, origin and legal
 * values. */
#include "view_internal.h"

#include "explain.h"
#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "8,192", "0.125", "22,502,440,960": exact where it is a whole number, to the next one where it is large. */
static void value_text(double value, char *buf, size_t cap)
{
	const bool large = value >= 1e6 || value <= -1e6;
	if (value < 9e15 && value > -9e15 && (large || value == (double)(int64_t)value))
		(void)units_format_commas(num_round(value), buf, cap);
	else
		(void)snprintf(buf, cap, "%.6g", value);
}

static void result_text(const struct explanation *x, char *buf, size_t cap)
{
	char value[48], gib[32];
	value_text(x->result, value, sizeof(value));
	if (strcmp(x->unit, "bytes") == 0 && x->result > 1e6)
		(void)snprintf(buf, cap, "%s %s = %s = %.2f GB", value, x->unit,
			units_format_gib((int64_t)x->result, gib, sizeof(gib)), x->result / 1e9);
	else
		(void)snprintf(buf, cap, "%s %s", value, x->unit);
}

enum { SYMBOL_W = 8, VALUE_W = 16, UNIT_W = 10 };

/* One number that was put in: symbol, value, unit, and where it comes from, wrapped in its own column. One that leads to another
 * explanation is marked; Enter follows the one with the focus. */
static void pen_value(struct pen *p, const char *label, const struct explain_value *x, bool leads, bool focus)
{
	char value[48];
	const int from_x = PEN_LABEL_W + SYMBOL_W + VALUE_W + 1 + UNIT_W;
	const int top = p->row - p->skip, y = p->r.y + top;
	const struct rect from = { p->r.x + from_x, p->r.y + (top > 0 ? top : 0), p->r.w - from_x, p->r.h - (top > 0 ? top : 0) };
	if (top >= 0 && top < p->r.h) {
		value_text(x->value, value, sizeof(value));
		(void)canvas_text(p->c, p->r.x, y, PEN_LABEL_W - 1, ROLE_DIM, label);
		(void)canvas_text(p->c, p->r.x + PEN_LABEL_W, y, SYMBOL_W, ROLE_TEXT, x->symbol);
		(void)canvas_text_right(p->c, p->r.x + PEN_LABEL_W + SYMBOL_W, y, VALUE_W, focus ? ROLE_FOCUS : ROLE_TEXT, value);
		if (leads)
			canvas_glyph(p->c, p->r.x + PEN_LABEL_W - 1, y, focus ? ROLE_ACCENT : ROLE_DIM, GLYPH_NEXT);
		if (focus)
			canvas_cursor(p->c, p->r.x + PEN_LABEL_W + SYMBOL_W + VALUE_W - 1, y, false);
		(void)canvas_text(p->c, p->r.x + from_x - UNIT_W, y, UNIT_W - 1, ROLE_DIM, x->unit);
	}
	const int rows = canvas_wrap(p->c, from, top < 0 ? -top : 0, ROLE_DIM, x->from);
	p->row += rows > 0 ? rows : 1;
}

/* The numbers that were put in. */
static void write_values_in(const struct app *a, struct pen *p, const struct explanation *x)
{
	char target[FIGURE_PATH_CAP];
	size_t leading = 0;
	for (size_t i = 0; i < x->n_values; i++) {
		const bool leads = explain_target(a, &x->values[i], target);
		pen_value(p, i == 0 ? _("numbers") : "", &x->values[i], leads, leads && leading == a->term);
		leading += leads;
	}
}

/* What one layer keeps for its backward, where the explanation is about that. */
static void write_saved_tensors(const struct app *a, struct pen *p)
{
	struct saved_tensor rows[SAVED_TENSOR_MAX];
	const size_t n = memory_saved_tensors(&a->draft.s, model_is_moe(&a->draft.s.model), rows, SAVED_TENSOR_MAX);
	char text[200], bytes[32];
	pen_gap(p);
	for (size_t i = 0; i < n; i++) {
		const double all = (double)rows[i].elements * rows[i].bytes_per_element;
		(void)snprintf(text, sizeof(text), _("%-22.22s %-18.18s %16s B  / %.8s%s"), rows[i].name, rows[i].shape,
			units_format_commas((int64_t)all, bytes, sizeof(bytes)), rows[i].divided_by,
			rows[i].kept ? "" : _("  dropped"));
		pen_text(p, i == 0 ? _("per layer") : "", rows[i].kept ? ROLE_TEXT : ROLE_DIM, text);
	}
}

/* Words first: why this stage needs so much. */
static void write_why(const struct app *a, struct pen *p)
{
	static const char head[] = "memory.stages[";
	char text[400], *end = NULL;
	if (strncmp(a->path, head, sizeof(head) - 1) != 0)
		return;
	const size_t stage = (size_t)strtoul(a->path + sizeof(head) - 1, &end, 10);
	if (strcmp(end, "].total") != 0 || stage >= a->n_stages)
		return;
	pen_text(p, _("why"), ROLE_HEAD, view_why(a, stage, text, sizeof(text)));
	pen_gap(p);
}

static void write_figure(const struct app *a, struct pen *p, const struct explanation *x)
{
	char text[400];
	write_why(a, p);
	pen_text(p, _("formula"), ROLE_TEXT, x->formula);
	result_text(x, text, sizeof(text));
	pen_text(p, _("result"), ROLE_HEAD, text);
	pen_gap(p);
	write_values_in(a, p, x);
	if (x->saved_tensors)
		write_saved_tensors(a, p);
	pen_gap(p);
	for (size_t i = 0; i < x->n_notes; i++)
		pen_text(p, i == 0 ? _("notes") : "", ROLE_TEXT, x->notes[i]);
	if (x->source[0] != '\0')
		pen_text(p, _("source"), ROLE_TEXT, x->source);
	else
		pen_text(p, _("source"), ROLE_ALERT, _("assumption of meshplan, not measured"));
}

/* Everything the plan has to say, below the peak that it is about. */
static void write_diagnostics(const struct plan *plan, struct pen *p)
{
	for (int level = DIAGNOSTIC_LEVEL_COUNT - 1; level >= 0; level--) {
		for (int64_t i = 0; i < plan->n_diagnostics; i++) {
			if (plan->diagnostics[i].level == level)
				pen_text(p, ui_text(diagnostic_level_names[level]),
					level > DIAGNOSTIC_NOTE ? ROLE_ALERT : ROLE_TEXT, plan->diagnostics[i].text);
		}
	}
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
		(void)snprintf(text, sizeof(text), "%.40s: %s", value,
			settings_stop_help(k, a->catalog, stops[i].value, help, sizeof(help)));
		pen_text(p, i == 0 ? _("values") : "", stops[i].legal ? ROLE_TEXT : ROLE_DIM, text);
	}
}

static void write_setting(const struct app *a, struct pen *p, const struct knob *k)
{
	char text[512], value[128];
	(void)knob_format_pretty(k, &a->draft.s, value, sizeof(value));
	(void)snprintf(text, sizeof(text), "%s  (%s)", value, _(knob_origin_names[a->draft.origin[knob_index(k)]]));
	pen_text(p, _("value"), ROLE_HEAD, text);
	pen_text(p, _("meaning"), ROLE_TEXT, ui_text(k->help));
	if (k->unit != NULL && k->unit[0] != '\0')
		pen_text(p, _("unit"), ROLE_TEXT, ui_text(k->unit));
	(void)snprintf(text, sizeof(text), k->alias == NULL ? "--%s" : "--%s, --%s", k->key, k->alias == NULL ? "" : k->alias);
	pen_text(p, _("flag"), ROLE_TEXT, text);
	pen_gap(p);
	write_values(a, p, k);
	if (k->cite != NULL && k->cite[0] != '\0')
		pen_text(p, _("source"), ROLE_TEXT, k->cite);
}

/* The setting that the path names; NULL for a figure. */
static const struct knob *path_setting(const char *path)
{
	static const char head[] = "scenario.";
	return strncmp(path, head, sizeof(head) - 1) == 0 ? knob_find(path + sizeof(head) - 1) : NULL;
}

/* Writes what there is to say about the focus of the view. */
static void write_page(const struct app *a, struct pen *p)
{
	struct explanation x;
	struct err e = { 0 };
	const struct knob *k = path_setting(a->path);
	if (k != NULL)
		write_setting(a, p, k);
	if (explain_quantity(&a->draft, &a->plan, a->path, &x, &e) != ERR_OK) {
		pen_text(p, "", ROLE_ALERT, e.msg);
		return;
	}
	if (k != NULL) {
		pen_gap(p);
		write_values_in(a, p, &x);
		return;
	}
	write_figure(a, p, &x);
	if (strstr(a->path, "].total") != NULL && a->plan.n_diagnostics > 0) {
		pen_gap(p);
		write_diagnostics(&a->plan, p);
	}
}

enum { PAGE_TOP = 2, PAGE_MAX_W = 110 };

static size_t scroll_max(const struct view *v)
{
	const struct rect body = view_body(v);
	const int w = body.w < PAGE_MAX_W ? body.w : PAGE_MAX_W, h = body.h - PAGE_TOP;
	struct pen p = { v->c, { 0, 0, w, 0 }, 0, 0 };
	write_page(v->a, &p);
	return p.row > h ? (size_t)(p.row - h) : 0;
}

static void draw(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	const struct rect page = { body.x, body.y + PAGE_TOP, body.w < PAGE_MAX_W ? body.w : PAGE_MAX_W, body.h - PAGE_TOP };
	struct pen p = { v->c, page, 0, (int)a->scroll[VIEW_EXPLAIN] };
	const int used = canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, _("EXPLAIN"));
	const struct knob *k = path_setting(a->path);
	const char *what = k != NULL ? k->key : a->path;
	view_prompt_or(v, NULL);
	(void)canvas_text(v->c, body.x + used + 2, body.y, body.w - used - 2, ROLE_TEXT, what);
	write_page(a, &p);
}

const struct view_kind view_explain = {
	.footer = { { UI_UP, UI_NEXT_PANE, UI_OPEN, UI_COMMAND, UI_WRITE } },
	.draw = draw,
	.scroll_max = scroll_max,
	.next_pane = explain_next_term,
	.open = explain_follow,
};
