#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The stage whose parts are shown: the worst, or the focused one. */
static size_t parts_stage(const struct app *a)
{
	const size_t worst = (size_t)num_max(0, num_min(a->plan.verdict.worst_stage, (int64_t)a->n_stages - 1));
	return a->pane == PANE_FIGURES ? a->figure_stage : worst;
}

static bool figure_focused(const struct app *a, size_t stage, int place)
{
	return a->pane == PANE_FIGURES && a->figure_stage == stage && a->figure_category == place;
}

/* "G grads 8.46" in w columns; the word goes first when it is too long. */
static void draw_part(const struct view *v, int x, int y, int w, size_t stage, int place)
{
	const enum memory_category k = view_category(place);
	const char *name = place == 2 || place == 3 || place == MEMORY_CATEGORY_COUNT - 1 ? _(category_looks[k].name) : "";
	const bool focus = figure_focused(v->a, stage, place);
	char value[32];
	(void)view_gib3(v->a->stages[stage].category[k], value, sizeof(value));
	canvas_put(v->c, x, y, (uint8_t)(category_looks[k].role | STYLE_BOLD),
		(uint32_t)(unsigned char)memory_category_table[k].letter);
	int used = 2;
	if (name[0] != '\0' && 2 + canvas_text_width(name) + 1 + canvas_text_width(value) <= w)
		used += 1 + canvas_text(v->c, x + used, y, w - used, ROLE_DIM, name);
	used += canvas_text(v->c, x + used, y, w - used, focus ? ROLE_FOCUS : ROLE_TEXT, value);
	if (focus)
		canvas_cursor(v->c, x + used - 1, y, false);
}

/* The categories of one stage in two rows at fixed columns. */
static void draw_parts(const struct view *v, struct rect r)
{
	static const struct {
		int row, x, w;
	} places[MEMORY_CATEGORY_COUNT] = { { 0, 3, 8 }, { 0, 11, 8 }, { 0, 19, 13 }, { 0, 32, 12 }, { 1, 3, 8 }, { 1, 11, 8 },
		{ 1, 19, 7 }, { 1, 26, 18 } };
	enum { PARTS_W = 44 };
	const size_t stage = parts_stage(v->a);
	const int shift = view_label_w(v->a) - 3;
	(void)canvas_printf(v->c, r.x, r.y, 3 + shift, ROLE_DIM, "s%zu", stage);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		draw_part(v, r.x + places[i].x + shift, r.y + places[i].row,
			places[i].w - (places[i].x + places[i].w == PARTS_W ? shift : 0), stage, i);
}

enum { TABLE_COLUMN_W = 9 };

static void draw_table_row(const struct view *v, struct rect r, int y, size_t stage)
{
	char value[32];
	const struct app *a = v->a;
	(void)canvas_printf(v->c, r.x, y, view_label_w(a), ROLE_DIM, "s%zu", stage);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		const bool focus = figure_focused(a, stage, i);
		const int x = r.x + 3 + i * TABLE_COLUMN_W;
		(void)view_gib(a->stages[stage].category[k], a->plan.worst.need_bytes, value, sizeof(value));
		(void)canvas_text_right(v->c, x, y, TABLE_COLUMN_W, focus ? ROLE_FOCUS : ROLE_TEXT, value);
		if (focus)
			canvas_cursor(v->c, x + TABLE_COLUMN_W - 1, y, false);
	}
}

/* The categories of every stage shown. */
static void draw_table(const struct view *v, struct rect r, const size_t *stages, size_t n)
{
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		const char *name = _(category_looks[k].brief);
		const int end = r.x + 3 + (i + 1) * TABLE_COLUMN_W, width = canvas_text_width(name);
		(void)canvas_text(v->c, end - width, r.y, width, ROLE_DIM, name);
		canvas_put(v->c, end - width - 2, r.y, (uint8_t)(category_looks[k].role | STYLE_BOLD),
			(uint32_t)(unsigned char)memory_category_table[k].letter);
	}
	for (size_t i = 0; i < n; i++)
		draw_table_row(v, r, r.y + 1 + (int)i, stages[i]);
}

/* Diagnostics of one level, from row y on. A note that would be cut is left out, unless it is the first. Returns the row below.
 */
static int draw_level(const struct view *v, struct rect r, int y, int level)
{
	const struct plan *p = &v->a->plan;
	for (int64_t i = 0; i < p->n_diagnostics; i++) {
		const struct diagnostic *d = &p->diagnostics[i];
		const struct rect line = { r.x + 2, y, r.w - 2, r.y + r.h - y };
		if (d->level != level || line.h <= 0)
			continue;
		if (canvas_wrap(v->c, (struct rect){ 0, 0, line.w, 0 }, 0, ROLE_TEXT, d->text) > line.h && y > r.y + 1)
			continue;
		if (level > DIAGNOSTIC_NOTE)
			(void)canvas_text(v->c, r.x, y, 1, ROLE_ALERT, "!");
		y += canvas_wrap(v->c, line, 0, ROLE_TEXT, d->text);
	}
	return y;
}

/* One part of the ledger line: "M 4/2". Returns the columns used. */
static int draw_share(const struct view *v, int x, int y, int w, enum memory_category k, double bytes, bool sharded)
{
	char text[48];
	const int64_t shards = v->a->plan.ledger.shards;
	if (bytes <= 0 || w < 3)
		return 0;
	if (sharded && shards > 1)
		(void)snprintf(text, sizeof(text), "%.3g/%" PRId64, bytes, shards);
	else
		(void)snprintf(text, sizeof(text), "%.3g", bytes);
	canvas_put(v->c, x, y, (uint8_t)(category_looks[k].role | STYLE_BOLD),
		(uint32_t)(unsigned char)memory_category_table[k].letter);
	return 2 + canvas_text(v->c, x + 2, y, w - 2, ROLE_TEXT, text) + 2;
}

/* What is left below the notes on a small screen: the ledger and the phases, in one line each. */
static void draw_brief(const struct view *v, struct rect r)
{
	const struct memory_ledger *l = &v->a->plan.ledger;
	char text[32];
	int x = r.x + canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("bytes/param ")) + 1;
	x += draw_share(v, x, r.y, r.x + r.w - x, MEMORY_WEIGHTS, l->weights, l->weights_sharded);
	x += draw_share(v, x, r.y, r.x + r.w - x, MEMORY_MASTER_WEIGHTS, l->master_weights, l->optimizer_sharded);
	x += draw_share(v, x, r.y, r.x + r.w - x, MEMORY_GRADIENTS, l->gradients + l->gradient_accumulation + l->gradient_copies,
		l->gradients_sharded);
	(void)draw_share(v, x, r.y, r.x + r.w - x, MEMORY_OPTIMIZER, l->optimizer, l->optimizer_sharded);
	x = r.x;
	for (int i = 0; i < PHASE_COUNT; i++) {
		if (i == PHASE_FORWARD || i == PHASE_SAVE)
			continue;
		x += canvas_printf(v->c, x, r.y + 1, r.x + r.w - x, ROLE_DIM, "%s ", memory_phase_choices[i].key);
		x += canvas_printf(v->c, x, r.y + 1, r.x + r.w - x, ROLE_TEXT, "%s ",
			view_gib3(v->a->plan.phase_peak[i], text, sizeof(text)));
	}
}

/* What the plan has to say, gravest first; "!" marks warnings. */
static void draw_notes(const struct view *v, struct rect r)
{
	int y = r.y;
	if (r.h == 0)
		return;
	if (v->a->plan.n_diagnostics > 0) {
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("NOTES"));
		y++;
	}
	for (int level = DIAGNOSTIC_LEVEL_COUNT - 1; level >= 0; level--)
		y = draw_level(v, r, y, level);
	const int rows = v->l.area[AREA_PHASES].h > 0 ? 0 : r.y + r.h - y;
	if (rows >= 2)
		draw_brief(v, (struct rect){ r.x, r.y + r.h - 2, r.w, 2 });
}

/* Side pane: what the focused setting is. */
static void draw_about(const struct view *v, struct rect r)
{
	const struct knob *k = app_knob(v->a);
	char range[128];
	if (r.h == 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, ui_text(k->label));
	(void)canvas_text_right(v->c, r.x + r.w - 16, r.y, 16, ROLE_DIM, ui_text(k->unit));
	const int rows = canvas_wrap(v->c, (struct rect){ r.x, r.y + 1, r.w, r.h - 2 }, 0, ROLE_TEXT, ui_text(k->help));
	(void)snprintf(range, sizeof(range), _("from: %s"), _(knob_origin_names[v->a->draft.origin[v->a->focus]]));
	if (rows < r.h - 1)
		(void)canvas_text(v->c, r.x, r.y + 1 + rows, r.w, ROLE_DIM, range);
}

/* Side pane: one neighbour, in three rows. */
static void draw_neighbour(const struct view *v, int x, int y, int w, int side)
{
	const struct preview *p = &v->a->preview[side];
	char text[ERR_MSG_CAP], change[32];
	canvas_glyph(v->c, x, y, ROLE_ACCENT, side == 0 ? GLYPH_PREVIOUS : GLYPH_NEXT);
	if (p->value[0] == '\0') {
		(void)canvas_text(v->c, x + 2, y, w - 2, ROLE_DIM, side == 0 ? _("lowest") : _("highest"));
		return;
	}
	const int used = 2 + canvas_text(v->c, x + 2, y, w - 2, ROLE_TEXT, p->value) + 2;
	if (!p->possible) {
		(void)canvas_text(v->c, x + used, y, w - used, ROLE_DIM, _("refused"));
		(void)canvas_wrap(v->c, (struct rect){ x + 2, y + 1, w - 2, 2 }, 0, ROLE_TEXT,
			view_reason(p, app_knob(v->a), text, sizeof(text)));
		return;
	}
	(void)view_gib3(p->verdict.need_bytes, change, sizeof(change));
	if (p->verdict.limit == LIMIT_NONE || p->verdict.limit == LIMIT_GPU_MEMORY)
		(void)canvas_printf(v->c, x + used, y, w - used, ROLE_TEXT, _("peak %s, %s"), change, view_consequence(v->a, p));
	else
		(void)canvas_text(v->c, x + used, y, w - used, ROLE_TEXT, view_consequence(v->a, p));
	(void)canvas_printf(v->c, x + 2, y + 1, w - 2, ROLE_DIM, _("%s GiB on the worst GPU"),
		view_change(p->change_bytes, change, sizeof(change)));
}

static void draw_side(const struct view *v)
{
	const struct rect step = v->l.area[AREA_STEP];
	if (v->l.area[AREA_HELP].h == 0)
		return;
	draw_about(v, v->l.area[AREA_HELP]);
	if (step.h > 0) {
		(void)canvas_text(v->c, step.x, step.y, step.w, ROLE_HEAD, _("ONE STEP LEFT OR RIGHT"));
		if (app_knob(v->a)->flags & KNOB_F_DERIVED) {
			(void)canvas_text(v->c, step.x, step.y + 1, step.w, ROLE_DIM, _("follows from gpus, tp, pp and cp"));
		} else if (!settings_has_stops(app_knob(v->a))) {
			(void)canvas_text(v->c, step.x, step.y + 1, step.w, ROLE_DIM, _("= types a value"));
		} else {
			draw_neighbour(v, step.x, step.y + 1, step.w, 0);
			draw_neighbour(v, step.x, step.y + 4, step.w, 1);
		}
	}
	view_ledger(v, v->l.area[AREA_LEDGER]);
}

/* The two stages of a narrow screen: the worst, then the next worst, or the focused one. Returns how many. */
static size_t narrow_stages(const struct app *a, size_t out[2])
{
	const size_t worst = (size_t)num_max(0, num_min(a->plan.verdict.worst_stage, (int64_t)a->n_stages - 1));
	size_t next = a->n_stages;
	for (size_t i = 0; i < a->n_stages; i++) {
		if (i != worst && (next == a->n_stages || a->stages[i].need_bytes > a->stages[next].need_bytes))
			next = i;
	}
	if (a->pane == PANE_FIGURES && a->figure_stage != worst)
		next = a->figure_stage;
	out[0] = worst;
	out[1] = next;
	return next < a->n_stages ? 2 : 1;
}

/* "the other 2 stages 33.6 to 36.5" */
static void draw_others(const struct view *v, int y, const size_t shown[2])
{
	const struct app *a = v->a;
	int64_t least = INT64_MAX, most = 0;
	char high[32], low[32];
	if (a->n_stages <= 2)
		return;
	for (size_t i = 0; i < a->n_stages; i++) {
		if (i != shown[0] && i != shown[1]) {
			least = num_min(least, a->stages[i].need_bytes);
			most = num_max(most, a->stages[i].need_bytes);
		}
	}
	(void)canvas_printf(v->c, 0, y, v->c->w, ROLE_DIM, _("the other %zu stages %s to %s"), a->n_stages - 2,
		view_gib3(least, low, sizeof(low)), view_gib3(most, high, sizeof(high)));
}

/* Below 80 columns: the worst bar, the next, the others in words; then one line of figures. */
static void draw_narrow(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect r = v->l.area[AREA_MEMORY], line = v->l.area[AREA_PIPELINE];
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	const int label_w = view_label_w(a), width = v->l.bar_w - (label_w - 3);
	size_t stages[2];
	char text[64];
	const size_t n = narrow_stages(a, stages);
	view_verdict(v, 0, r.y, 46);
	if (limit > 0)
		(void)canvas_text(v->c, label_w + layout_bar(width).capacity - 1, r.y, 6, ROLE_LIMIT,
			units_format_f4((double)limit / UNITS_GIB, text, sizeof(text)));
	(void)canvas_text_right(v->c, r.w - 6, r.y, 6, ROLE_DIM, _("peak"));
	for (size_t i = 0; i < n; i++) {
		const int y = r.y + 1 + (int)i;
		(void)canvas_printf(v->c, 0, y, label_w, ROLE_DIM, "s%zu", stages[i]);
		(void)view_bar(v->c, label_w, y, width, a->stages[stages[i]].category, limit);
		(void)view_gib3(a->stages[stages[i]].need_bytes, text, sizeof(text));
		(void)canvas_text_right(v->c, r.w - 7, y, 7, ROLE_TEXT, text);
	}
	draw_others(v, r.y + 3, stages);
	(void)units_format_f4(100 * a->plan.bubble_of_step, text, sizeof(text));
	(void)canvas_printf(v->c, 0, line.y, line.w, ROLE_TEXT, _("%s, %" PRId64 " micro-batches, bubble %s %% of step"),
		schedule_table[a->plan.pipeline.schedule].key, a->plan.pipeline.m, text);
}

void view_main(const struct view *v)
{
	size_t stages[STAGE_LIST_MAX];
	view_settings(v);
	view_prompt_or(v, view_preview);
	if (v->l.narrow) {
		draw_narrow(v);
		return;
	}
	const size_t n = view_choose_stages(v->a, (size_t)v->l.stages, stages);
	view_memory_bars(v, v->l.area[AREA_MEMORY], stages, n, v->l.bar_w, false);
	if (v->l.area[AREA_TABLE].h > 0)
		draw_table(v, v->l.area[AREA_TABLE], stages, n);
	else
		draw_parts(v, v->l.area[AREA_PARTS]);
	view_host(v, v->l.area[AREA_HOST]);
	view_pipeline_block(v, v->l.area[AREA_PIPELINE]);
	view_phases(v, v->l.area[AREA_PHASES]);
	draw_notes(v, v->l.area[AREA_NOTES]);
	draw_side(v);
}
