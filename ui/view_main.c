#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>

/* The stage whose parts are shown: the worst, or the focused one. */
static size_t parts_stage(const struct app *a)
{
	const size_t worst = (size_t)num_max(0, num_min(a->plan.verdict.worst_stage, (int64_t)a->n_stages - 1));
	return a->pane == PANE_FIGURES ? a->figure_stage : worst;
}

/* "G grads 8.46" in w columns; the word goes first when it is too long. With a pin "G 8.46 +0.12". */
static void draw_part(const struct view *v, int x, int y, int w, size_t stage, int place)
{
	const enum memory_category k = view_category(place);
	const bool named = place == 2 || place == 3 || place == MEMORY_CATEGORY_COUNT - 1;
	const char *name = named && !v->a->pin.set ? _(category_looks[k].name) : "";
	char value[32], path[FIGURE_PATH_CAP];
	(void)view_gib3(v->a->stages[stage].category[k], value, sizeof(value));
	canvas_put(v->c, x, y, (uint8_t)(category_looks[k].role | STYLE_BOLD),
		(uint32_t)(unsigned char)memory_category_table[k].letter);
	int used = 2;
	if (name[0] != '\0' && 2 + canvas_text_width(name) + 1 + canvas_text_width(value) <= w)
		used += 1 + canvas_text(v->c, x + used, y, w - used, ROLE_DIM, name);
	view_figure(v, x + used, y, canvas_text_width(value), value, view_stage_path(stage, memory_category_table[k].key, path));
	if (v->a->pin.set)
		view_difference(v, x + 6, y, 6, stage, (int)k);
}

/* The categories of one stage at fixed columns: in two rows, or with differences in three. */
static void draw_parts(const struct view *v, struct rect r)
{
	static const struct {
		int row, x, w;
	} places[2][MEMORY_CATEGORY_COUNT] = {
		{ { 0, 3, 8 }, { 0, 11, 8 }, { 0, 19, 13 }, { 0, 32, 12 }, { 1, 3, 8 }, { 1, 11, 8 }, { 1, 19, 7 },
			{ 1, 26, 18 } },
		{ { 0, 3, 13 }, { 0, 16, 13 }, { 0, 29, 13 }, { 1, 3, 13 }, { 1, 16, 13 }, { 1, 29, 13 }, { 2, 3, 13 },
			{ 2, 16, 13 } },
	};
	enum { PARTS_W = 44 };
	const size_t stage = parts_stage(v->a);
	const int pinned = v->a->pin.set ? 1 : 0, shift = view_label_w(v->a) - 3;
	view_stage_label(v, r.x, r.y, 's', (struct stage_span){ stage, stage });
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const int end = places[pinned][i].x + places[pinned][i].w;
		draw_part(v, r.x + places[pinned][i].x + shift, r.y + places[pinned][i].row,
			places[pinned][i].w - (end == PARTS_W ? shift : 0), stage, i);
	}
	if (pinned && v->a->plan.host_bytes_per_node > 0) {
		char host[32];
		(void)canvas_printf(v->c, r.x + 29 + shift, r.y + 2, 13, ROLE_DIM, _("host %s"),
			view_gib3(v->a->plan.host_bytes_per_node, host, sizeof(host)));
	}
}

enum { TABLE_COLUMN_W = 9 };

/* With a pin the cells hold the differences; the memory view has the values. */
static void draw_table_row(const struct view *v, struct rect r, int y, struct stage_span span)
{
	char value[32], path[FIGURE_PATH_CAP];
	const struct app *a = v->a;
	view_stage_label(v, r.x, y, 's', span);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		const struct rect cell = { r.x + 3 + i * TABLE_COLUMN_W + 2, y, TABLE_COLUMN_W - 2, 1 };
		if (a->pin.set)
			(void)view_difference_text(a, span.first, (int)k, value, sizeof(value));
		else
			(void)view_gib(a->stages[span.first].category[k], a->plan.worst.need_bytes, value, sizeof(value));
		view_figure_in(v, cell, a->pin.set ? ROLE_PIN : ROLE_TEXT, value,
			view_stage_path(span.first, memory_category_table[k].key, path));
	}
}

/* The categories of every stage shown. */
static void draw_table(const struct view *v, struct rect r, const struct stage_span *rows, size_t n)
{
	if (v->a->pin.set)
		(void)canvas_text(v->c, r.x, r.y, 2, ROLE_PIN, "-A");
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		const char *name = _(category_looks[k].brief);
		const int end = r.x + 3 + (i + 1) * TABLE_COLUMN_W, width = canvas_text_width(name);
		(void)canvas_text(v->c, end - width, r.y, width, ROLE_DIM, name);
		canvas_put(v->c, end - width - 2, r.y, (uint8_t)(category_looks[k].role | STYLE_BOLD),
			(uint32_t)(unsigned char)memory_category_table[k].letter);
	}
	for (size_t i = 0; i < n; i++)
		draw_table_row(v, r, r.y + 1 + (int)i, rows[i]);
}

/* Diagnostics of one level but for the one in the message line, from row y on. A note that would be cut is left out, unless it is
 * the first. Returns the row below.
 */
static int draw_level(const struct view *v, struct rect r, int y, int level)
{
	const struct plan *p = &v->a->plan;
	for (int64_t i = 0; i < p->n_diagnostics; i++) {
		const struct diagnostic *d = &p->diagnostics[i];
		const struct rect line = { r.x + 2, y, r.w - 2, r.y + r.h - y };
		if (d->level != level || line.h <= 0 || d == view_gravest(p))
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
		char path[FIGURE_PATH_CAP];
		(void)snprintf(path, sizeof(path), "memory.phases[%d].peak_bytes", i);
		(void)view_gib3(v->a->plan.phase_peak[i], text, sizeof(text));
		const int value_w = (int)num_min(canvas_text_width(text), r.x + r.w - x);
		view_figure(v, x, r.y + 1, value_w, text, path);
		x += value_w + 1;
	}
}

/* What the plan has to say, gravest first; "!" marks warnings. */
static void draw_notes(const struct view *v, struct rect r)
{
	int y = r.y;
	if (r.h == 0)
		return;
	if (v->a->plan.n_diagnostics > (view_gravest(&v->a->plan) != NULL ? 1 : 0)) {
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("NOTES"));
		y++;
	}
	for (int level = DIAGNOSTIC_LEVEL_COUNT - 1; level >= 0; level--)
		y = draw_level(v, r, y, level);
	const int rows = v->l.area[AREA_PHASES].h > 0 ? 0 : r.y + r.h - y;
	if (rows >= 2)
		draw_brief(v, (struct rect){ r.x, r.y + r.h - 2, r.w, 2 });
}

/* After a no, together with the way out: why the stage whose parts stand above needs so much, in the row that the host would
 * take. */
static void draw_why(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	char text[128];
	if (r.h == 0 || a->plan.host_bytes_per_node > 0 || a->plan.verdict.fits || !a->plan.verdict.known || app_busy(a))
		return;
	const int x = r.x + view_label_w(a);
	(void)canvas_text(
		v->c, x, r.y, r.x + r.w - x, ROLE_TEXT, view_why_brief(a, parts_stage(a), r.x + r.w - x, text, sizeof(text)));
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
	if (p->step_s > 0)
		(void)canvas_text(v->c, x + 2, y + 2, w - 2, ROLE_DIM, view_speed_change(v->a, p, text, sizeof(text)));
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
	char text[64], path[FIGURE_PATH_CAP];
	const size_t n = narrow_stages(a, stages);
	/* The number above the limit gives way to the verdict. */
	const int limit_x = label_w + layout_bar(width).capacity - 1, used = view_verdict(v, 0, r.y, r.w - v->l.value_w);
	if (limit > 0 && used + 1 < limit_x)
		(void)canvas_text(
			v->c, limit_x, r.y, 6, ROLE_LIMIT, units_format_f4((double)limit / UNITS_GIB, text, sizeof(text)));
	(void)canvas_text_right(v->c, r.w - v->l.value_w + 1, r.y, 6, ROLE_DIM, _("peak"));
	for (size_t i = 0; i < n; i++) {
		const int y = r.y + 1 + (int)i;
		view_stage_label(v, 0, y, 's', (struct stage_span){ stages[i], stages[i] });
		view_bar(v->c, (struct rect){ label_w, y, width, 1 }, a->stages[stages[i]].category, limit);
		(void)view_gib3(a->stages[stages[i]].need_bytes, text, sizeof(text));
		view_figure(v, r.w - v->l.value_w, y, 7, text, view_stage_path(stages[i], "total", path));
		view_difference(v, r.w - 6, y, 6, stages[i], MEMORY_CATEGORY_COUNT);
	}
	draw_others(v, r.y + 3, stages);
	view_speed_line(v, line);
}

static void draw(const struct view *v)
{
	struct stage_span rows[STAGE_LIST_MAX];
	view_settings(v);
	view_prompt_or(v, view_preview);
	if (v->l.narrow) {
		draw_narrow(v);
		return;
	}
	const size_t n = view_choose_stages(v->a, (size_t)v->l.stages, rows);
	view_memory_bars(v, v->l.area[AREA_MEMORY], rows, n, v->l.bar_w, v->l.value_w, false);
	if (v->l.area[AREA_TABLE].h > 0)
		draw_table(v, v->l.area[AREA_TABLE], rows, n);
	else
		draw_parts(v, v->l.area[AREA_PARTS]);
	view_host(v, v->l.area[AREA_HOST]);
	draw_why(v, v->l.area[AREA_HOST]);
	view_pipeline_block(v, v->l.area[AREA_PIPELINE]);
	view_speed_block(v, v->l.area[AREA_SPEED]);
	view_space_block(v, v->l.area[AREA_LAYOUTS]);
	view_phases(v, v->l.area[AREA_PHASES]);
	draw_notes(v, v->l.area[AREA_NOTES]);
	draw_side(v);
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(a->pane == PANE_FIGURES ? figure_explains : app_explains_setting)(a, path);
}

static bool in_figures(const struct app *a)
{
	return a->pane == PANE_FIGURES;
}

static void open_value(struct app *a)
{
	if (a->pane == PANE_FIGURES)
		explain_focus(a);
	else
		list_open(a);
}

const struct view_kind view_main = {
	.second = N_("figures"),
	.digit = '1',
	.footer = { { UI_STEP_UP, UI_TYPE, UI_OPEN, UI_NEXT_PANE, UI_EXPLAIN, UI_ADVICE, UI_SPACE, UI_PIN, UI_MEMORY, UI_PIPELINE,
			    UI_TIME, UI_COST, UI_PRESETS, UI_UNDO, UI_COMMAND, UI_FIND },
		{ UI_UP, UI_RIGHT, UI_EXPLAIN, UI_NEXT_PANE, UI_ADVICE, UI_SPACE, UI_PIN, UI_MEMORY, UI_PIPELINE, UI_TIME,
			UI_COST, UI_PRESETS, UI_UNDO, UI_COMMAND } },
	.draw = draw,
	.in_second = in_figures,
	.explains = explains,
	.move = main_move,
	.next_pane = main_next_pane,
	.open = open_value,
	.search = &settings_search,
};
