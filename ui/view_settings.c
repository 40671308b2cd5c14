#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One row of the settings pane in the making. */
struct row {
	const struct knob *k;
	int x, y, w;
	bool focus;
	uint8_t track_style;
};

/* Unordered values: a dot each, the thumb on the present one. Returns the columns used. */
static int draw_choice(const struct view *v, int x, int y, uint8_t style, const struct knob_stop *stops, size_t n, size_t at)
{
	for (size_t i = 0; i < n; i++) {
		if (i == at)
			canvas_glyph(v->c, x + (int)i, y, style, GLYPH_THUMB);
		else if (stops[i].legal)
			canvas_glyph(v->c, x + (int)i, y, style, GLYPH_CHOICE);
		else
			canvas_put(v->c, x + (int)i, y, style, 'x');
	}
	return (int)n;
}

/* Ordered values, each at its own column; a road joins neighbours that are both legal. */
static int draw_stops(
	const struct view *v, int x, int y, uint8_t style, const struct knob_stop *stops, size_t n, size_t at, int spacing)
{
	/* Blanks between stops have the style of the track: one run of one colour. */
	for (int i = 0; i < (int)(n - 1) * spacing; i++)
		canvas_put(v->c, x + i, y, style, ' ');
	for (size_t i = 0; i < n; i++) {
		const int column = x + (int)i * spacing;
		const bool joined = i > 0 && stops[i].legal && stops[i - 1].legal;
		for (int j = 1; joined && j < spacing; j++)
			canvas_glyph(v->c, column - spacing + j, y, style, GLYPH_ROAD);
		if (i == at)
			canvas_glyph(v->c, column, y, style, GLYPH_THUMB);
		else if (stops[i].legal)
			canvas_glyph(v->c, column, y, style, GLYPH_STOP);
		else
			canvas_put(v->c, column, y, style, 'x');
	}
	return (int)(n - 1) * spacing + 1;
}

/* More stops than columns: the thumb stands at its rank among them. */
static int draw_road(const struct view *v, int x, int y, int w, uint8_t style, size_t n, size_t at)
{
	const int thumb = n < 2 ? 0 : (int)num_round((double)at * (w - 1) / (double)(n - 1));
	for (int i = 0; i < w; i++)
		canvas_glyph(v->c, x + i, y, style, i == thumb ? GLYPH_THUMB : GLYPH_ROAD);
	return w;
}

/* dp: the division that gives it, without blanks where room is short, or not at all. */
static int draw_formula(const struct view *v, int x, int y, int w)
{
	const struct layout *l = &v->a->draft.s.layout;
	const int64_t gpus = v->a->draft.s.cluster.gpus;
	for (int tight = 0; tight <= 1; tight++) {
		const char *gap = tight ? "" : " ";
		char text[160], cp[48] = "";
		if (l->cp > 1)
			(void)snprintf(cp, sizeof(cp), "%sx%s%" PRId64, gap, gap, l->cp);
		(void)snprintf(text, sizeof(text), "%" PRId64 "%s/%s(%" PRId64 "%sx%s%" PRId64 "%s)", gpus, gap, gap, l->tp, gap,
			gap, l->pp, cp);
		if (canvas_text_width(text) <= w)
			return canvas_text(v->c, x, y, w, ROLE_DIM, text);
	}
	return 0;
}

/* The track of a setting, at most w columns; one that needs more leaves its place to the value. Returns the columns used. */
static int draw_track(const struct view *v, const struct row *row, int x, int w)
{
	struct knob_stop stops[LIST_STOPS_MAX];
	const struct knob *k = row->k;
	size_t at = 0;
	if (k->type == KNOB_STAGES)
		return 0;
	if (k->type == KNOB_DP)
		return draw_formula(v, x, row->y, w);
	const size_t n = knob_stops(k, v->a->catalog, &v->a->draft, stops, LIST_STOPS_MAX, &at);
	const bool unordered =
		k->type == KNOB_PRESET || k->type == KNOB_FLAG || (k->type == KNOB_ENUM && !(k->flags & KNOB_F_ORDERED));
	if (n == 0 || w < 1)
		return 0;
	if (unordered && (int)n > num_min(w, 10))
		return canvas_printf(v->c, x, row->y, w, row->track_style, "%zu/%zu", at + 1, n);
	if (unordered)
		return draw_choice(v, x, row->y, row->track_style, stops, n, at);
	const int spacing = n < 2 ? 3 : (v->l.track_w - 1) / (int)(n - 1);
	if (spacing < 2)
		return draw_road(v, x, row->y, w, row->track_style, n, at);
	return draw_stops(v, x, row->y, row->track_style, stops, n, at, spacing > 3 ? 3 : spacing);
}

/* Columns that the track of a setting has beside its value. */
static int track_room(const struct view *v, const struct row *row, int value_w)
{
	const int left = row->w - 1 - v->l.label_w - 1 - 1 - value_w;
	const bool word = row->k->type == KNOB_PRESET || row->k->type == KNOB_ENUM || row->k->type == KNOB_FLAG;
	if (!word && left < v->l.track_w)
		return row->k->type == KNOB_DP && left > 0 ? left : left >= 7 ? left : 0;
	return left < 0 ? 0 : left < v->l.track_w ? left : v->l.track_w;
}

static void draw_setting(const struct view *v, const struct row *row)
{
	char value[64];
	const struct app *a = v->a;
	const bool derived = (row->k->flags & KNOB_F_DERIVED) != 0;
	const int track_x = row->x + 1 + v->l.label_w + 1;
	const uint8_t value_style = row->focus ? ROLE_FOCUS : derived ? ROLE_DIM : ROLE_TEXT;
	(void)knob_format_pretty(row->k, &a->draft.s, value, sizeof(value));
	const int most = row->w - 1 - v->l.label_w - 1;
	const int value_w = (int)num_min(canvas_text_width(value), most);
	if (row->focus)
		canvas_glyph(v->c, row->x, row->y, ROLE_ACCENT, GLYPH_FOCUS);
	(void)canvas_text(v->c, row->x + 1, row->y, v->l.label_w, row->focus ? ROLE_HEAD : ROLE_TEXT, ui_text(row->k->label));
	(void)draw_track(v, row, track_x, track_room(v, row, value_w));
	(void)canvas_text(v->c, row->x + row->w - value_w, row->y, value_w, value_style, value);
	if (row->focus && a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, row->x + row->w - 1, row->y, false);
}

static void draw_heading(const struct view *v, struct rect r, const struct setting_row *row, size_t shown, size_t all)
{
	char name[64], text[80];
	(void)snprintf(name, sizeof(name), "%s", _(knob_group_names[row->group]));
	for (char *at = name; *at != '\0'; at++)
		*at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
	(void)snprintf(text, sizeof(text), row->more ? _("MORE %s") : "%s", name);
	(void)canvas_text(v->c, r.x + 1, r.y, r.w - 1, ROLE_HEAD, text);
	if (shown < all) {
		(void)snprintf(text, sizeof(text), _("%zu of %zu"), shown, all);
		(void)canvas_text_right(v->c, r.x + 16, r.y, r.w - 16, ROLE_DIM, text);
	}
}

static size_t count_knobs(const struct setting_row *rows, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += rows[i].kind == SETTING_KNOB;
	return count;
}

/* The first row is always a heading: that of the group whose settings follow. Beside it, the place of the focus when not all fit.
 */
void view_settings(const struct view *v)
{
	struct setting_row rows[SETTING_ROWS_MAX];
	const struct app *a = v->a;
	const struct rect r = v->l.area[AREA_SETTINGS];
	const size_t n = settings_rows(&a->draft.s, !a->fewer, v->l.density, a->focus, rows), all = count_knobs(rows, n);
	const bool scrolls = n > (size_t)r.h;
	const size_t here = count_knobs(rows, settings_row_of(rows, n, a->focus) + 1);
	for (int i = 0; i < r.h && a->settings_top + (size_t)i < n; i++) {
		const struct setting_row *row = &rows[a->settings_top + (size_t)i];
		const struct rect line = { r.x, r.y + i, r.w, 1 };
		const bool focus = row->kind == SETTING_KNOB && row->knob == a->focus;
		if (i == 0 && v->l.density != DENSITY_PLAIN)
			draw_heading(v, line, row, scrolls ? here : all, all);
		else if (row->kind == SETTING_HEADING)
			draw_heading(v, line, row, all, all);
		else if (row->kind == SETTING_KNOB)
			draw_setting(v,
				&(struct row){ knob_at(row->knob), line.x, line.y, line.w, focus && a->pane == PANE_SETTINGS,
					focus && a->pane == PANE_SETTINGS ? ROLE_ACCENT : ROLE_DIM });
	}
}

char *view_change(int64_t bytes, char *buf, size_t cap)
{
	char amount[32];
	if (bytes == 0) {
		(void)snprintf(buf, cap, "0");
		return buf;
	}
	const double gib = (double)(bytes < 0 ? -bytes : bytes) / UNITS_GIB;
	if (gib < 0.005) {
		(void)snprintf(buf, cap, "~0");
		return buf;
	}
	(void)units_format_f4(gib, amount, sizeof(amount));
	(void)snprintf(buf, cap, "%c%s", bytes < 0 ? '-' : '+', amount);
	return buf;
}

const char *view_consequence(const struct app *a, const struct preview *p)
{
	const struct verdict *now = &a->plan.verdict;
	if (!p->verdict.known)
		return "";
	if (p->same)
		return _("no change");
	if (p->verdict.fits)
		return now->fits ? _("fits") : _("now fits");
	return now->fits ? _("does not fit") : _("still over");
}

char *view_reason(const struct preview *p, const struct knob *k, char *buf, size_t cap)
{
	static const char absent[] = "is not in ";
	const char *at = p->reason, *division = strstr(p->reason, "does not divide"), *missing = strstr(p->reason, absent);
	const size_t key = strlen(k->key);
	if (missing != NULL && (at = strstr(p->reason, " with ")) != NULL && at < missing) {
		(void)snprintf(buf, cap, _("not %.*s"), (int)(missing - at - 2), at + 1);
		return buf;
	}
	if (missing != NULL) {
		missing += sizeof(absent) - 1;
		(void)snprintf(buf, cap, _("not in %.*s"), (int)strcspn(missing, " ;"), missing);
		return buf;
	}
	if (division != NULL) {
		at = division;
	} else if (strncmp(at, k->key, key) == 0 && at[key] == ' ') {
		at += key + 1;
		const size_t value = strcspn(at, " :,");
		if (at[value] == ' ' || at[value] == ':')
			at += value + 1 + strspn(at + value + 1, " ");
	}
	(void)snprintf(buf, cap, "%.*s", (int)strcspn(at, ";"), at);
	return buf;
}

enum { CHANGE_W = 6 };

/* Why a step is refused, in w columns: "does not divide 8 kv-heads", or shorter "refused: 8 kv-heads". */
static void draw_refusal(const struct view *v, int x, int y, int w, const struct preview *p)
{
	static const char division[] = "does not divide ";
	char reason[ERR_MSG_CAP], brief[ERR_MSG_CAP + 16];
	(void)view_reason(p, app_knob(v->a), reason, sizeof(reason));
	(void)snprintf(brief, sizeof(brief), "%s", reason);
	if (strncmp(reason, division, sizeof(division) - 1) == 0)
		(void)snprintf(brief, sizeof(brief), _("refused: %s"), reason + sizeof(division) - 1);
	(void)canvas_text(v->c, x, y, w, ROLE_DIM, canvas_fitting(w, reason, brief));
}

/* One half of the preview: arrow, value, change in GiB, consequence; at fixed columns, unless the value is too long for them. */
static void draw_half(const struct view *v, int x, int y, int w, int side)
{
	const struct app *a = v->a;
	const struct preview *p = &a->preview[side];
	const int value_w = w - (v->l.narrow ? 26 : 25);
	char change[32], text[64];
	canvas_glyph(v->c, x, y, ROLE_ACCENT, side == 0 ? GLYPH_PREVIOUS : GLYPH_NEXT);
	if (p->value[0] == '\0') {
		(void)canvas_text(v->c, x + 2, y, w - 3, ROLE_DIM, side == 0 ? _("lowest") : _("highest"));
		return;
	}
	if (!p->possible) {
		const int used = canvas_text(v->c, x + 2, y, w - 2, ROLE_TEXT, p->value) + 3;
		draw_refusal(v, x + used + 1, y, w - used - 2, p);
		return;
	}
	(void)view_change(p->change_bytes, change, sizeof(change));
	const char *outcome = p->same ? view_speed_change(a, p, text, sizeof(text)) : view_consequence(a, p);
	/* A long value may use what a short change leaves. */
	if (canvas_text_width(p->value) <= value_w + CHANGE_W - 1 - canvas_text_width(change)) {
		const int end = x + 2 + value_w + CHANGE_W;
		(void)canvas_text(v->c, x + 2, y, w - 2, ROLE_TEXT, p->value);
		(void)canvas_text_right(v->c, end - CHANGE_W, y, CHANGE_W, ROLE_TEXT, change);
		(void)canvas_printf(v->c, end, y, x + w - end, ROLE_TEXT, _(" GiB %s"), outcome);
	} else {
		/* Where it leads says more than by how much. */
		int room = w - 2 - 1 - canvas_text_width(outcome) - 1, change_w = canvas_text_width(change) + 1;
		change_w = p->same || canvas_text_width(p->value) + change_w > room ? 0 : change_w;
		room -= change_w;
		const int at = x + 2 + canvas_text(v->c, x + 2, y, room, ROLE_TEXT, p->value) + 1;
		(void)canvas_text(v->c, at, y, change_w, ROLE_TEXT, change);
		(void)canvas_text(v->c, at + change_w, y, x + w - at - change_w, ROLE_TEXT, outcome);
	}
}

/* The category that a path of a stage ends in; MEMORY_CATEGORY_COUNT if none. */
static int path_category(const char *path)
{
	const char *member = strstr(path, "].");
	int k = 0;
	while (k < MEMORY_CATEGORY_COUNT && (member == NULL || strcmp(member + 2, memory_category_table[k].key) != 0))
		k++;
	return k;
}

/* What the focused figure is: "gradients of stage 0: 8.46 GiB, 16.3 % of its peak; fp32 sums ...", as much of it as fits. */
static void draw_figure(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[a->figure_stage];
	const int k = path_category(a->figure);
	char amount[32], text[512], brief[256];
	if (k < MEMORY_CATEGORY_COUNT) {
		const double share = s->need_bytes > 0 ? 100.0 * (double)s->category[k] / (double)s->need_bytes : 0;
		(void)snprintf(brief, sizeof(brief), _("%s of stage %zu: %s, %.1f %% of its peak"),
			ui_text(memory_category_table[k].label), a->figure_stage,
			units_format_gib(s->category[k], amount, sizeof(amount)), share);
		(void)snprintf(text, sizeof(text), "%s; %s", brief, ui_text(memory_category_table[k].help));
	} else if (strstr(a->figure, "].total") != NULL) {
		(void)view_why(a, a->figure_stage, brief, sizeof(brief));
		(void)snprintf(text, sizeof(text), _("%s Peak: %s."), brief, ui_text(memory_instant_choices[s->instant].help));
	} else {
		(void)snprintf(text, sizeof(text), _("%s: Enter explains it"), a->figure);
		(void)snprintf(brief, sizeof(brief), "%s", a->figure);
	}
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, canvas_fitting(r.w, text, brief));
}

/* "tp           < 4        +34.6 GiB does not fit > 16      8 kv-heads ..." */
void view_preview(const struct view *v)
{
	const struct rect r = v->l.area[AREA_PREVIEW];
	const struct knob *k = app_knob(v->a);
	const int label_w = v->l.narrow ? 0 : 13, gap = v->l.narrow ? 0 : 1, half = (r.w - label_w - gap) / 2;
	if (v->a->pane != PANE_SETTINGS) {
		draw_figure(v, r);
		return;
	}
	(void)canvas_text(v->c, r.x, r.y, label_w, ROLE_HEAD, k->key);
	if (k->flags & KNOB_F_DERIVED) {
		(void)canvas_text(v->c, r.x + label_w, r.y, r.w - label_w, ROLE_DIM, _("follows from gpus, tp, pp and cp"));
		return;
	}
	if (!settings_has_stops(k)) {
		(void)canvas_text(v->c, r.x + label_w, r.y, r.w - label_w, ROLE_DIM, _("= types a value"));
		return;
	}
	draw_half(v, r.x + label_w, r.y, half, 0);
	draw_half(v, r.x + label_w + half + gap, r.y, half, 1);
}
