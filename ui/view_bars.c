#include "view_internal.h"

#include "num.h"
#include "report.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
/* Neighbours in the drawing order alternate between two fills. */
const struct category_look category_looks[MEMORY_CATEGORY_COUNT] = {
	[MEMORY_WEIGHTS] = {ROLE_WEIGHTS, GLYPH_FULL, N_("weights"), N_("weights")},
	[MEMORY_MASTER_WEIGHTS] = {ROLE_MASTER, GLYPH_DARK, N_("master"), N_("master")},
	[MEMORY_GRADIENTS] = {ROLE_GRADIENTS, GLYPH_FULL, N_("grads"), N_("grads")},
	[MEMORY_OPTIMIZER] = {ROLE_OPTIMIZER, GLYPH_DARK, N_("optim"), N_("optim")},
	[MEMORY_ACTIVATIONS] = {ROLE_ACTIVATIONS, GLYPH_MEDIUM, N_("activations"), N_("activ")},
	[MEMORY_LOGITS] = {ROLE_LOGITS, GLYPH_LIGHT, N_("logits"), N_("logits")},
	[MEMORY_TRANSIENT] = {ROLE_TRANSIENT, GLYPH_MEDIUM, N_("temp"), N_("temp")},
	[MEMORY_RESERVED] = {ROLE_RESERVED, GLYPH_LIGHT, N_("rsvd"), N_("rsvd")},
};
/* clang-format on */

enum memory_category view_category(int place)
{
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	report_draw_order(order);
	return order[place < 0 ? 0 : place >= MEMORY_CATEGORY_COUNT ? MEMORY_CATEGORY_COUNT - 1 : place];
}

int view_label_w(const struct app *a)
{
	return a->n_stages > 100 ? 5 : a->n_stages > 10 ? 4 : 3;
}

char *view_gib3(int64_t bytes, char *buf, size_t cap)
{
	if (bytes == 0)
		(void)snprintf(buf, cap, "-");
	else
		(void)units_format_f4((double)bytes / UNITS_GIB, buf, cap);
	return buf;
}

char *view_gib(int64_t bytes, int64_t largest_bytes, char *buf, size_t cap)
{
	const double largest = (double)largest_bytes / UNITS_GIB;
	if (bytes == 0)
		(void)snprintf(buf, cap, "-");
	else
		(void)snprintf(buf, cap, "%.*f", largest < 100 ? 2 : largest < 1000 ? 1 : 0, (double)bytes / UNITS_GIB);
	return buf;
}

/* A cell of a bar: cells at and behind the limit move one column to the right of the limit mark. Cells outside the field become
 * one mark that says that the bar goes on. */
static void bar_cell(struct canvas *c, int x, int y, struct bar_grid g, int64_t cell, uint8_t style, enum glyph fill, char letter)
{
	const bool beyond = cell >= g.capacity;
	const int64_t last = g.capacity + g.beyond - 1;
	const int at = (int)(cell > last ? last : cell) + (beyond ? 1 : 0);
	if (cell > last)
		canvas_glyph(c, x + at, y, ROLE_BAD, GLYPH_MORE);
	else if (letter != '\0')
		canvas_put(c, x + at, y, (uint8_t)((beyond ? ROLE_BAD : style) | STYLE_BOLD), (uint32_t)(unsigned char)letter);
	else
		canvas_glyph(c, x + at, y, beyond ? ROLE_BAD : style, beyond ? GLYPH_BEYOND : fill);
}

int view_bar(struct canvas *c, int x, int y, int width, const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes)
{
	const struct bar_grid g = layout_bar(width);
	int64_t cells[MEMORY_CATEGORY_COUNT], at = 0;
	(void)report_bar_cells(bytes, limit_bytes, g.capacity, cells);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		for (int64_t j = 0; j < cells[k] && at <= g.capacity + g.beyond; j++, at++)
			bar_cell(c, x, y, g, at, category_looks[k].role, category_looks[k].fill,
				j == 0 ? memory_category_table[k].letter : '\0');
	}
	if (limit_bytes > 0)
		canvas_glyph(c, x + g.capacity, y, ROLE_LIMIT, GLYPH_LIMIT);
	return g.capacity;
}

void view_bar_plain(struct canvas *c, int x, int y, int width, uint8_t style, enum glyph fill, int64_t bytes, int64_t limit_bytes)
{
	const struct bar_grid g = layout_bar(width);
	int64_t n = limit_bytes > 0 ? num_round((double)bytes * g.capacity / (double)limit_bytes) : 0;
	n = limit_bytes > 0 && bytes > limit_bytes ? num_max(n, g.capacity + 1) : num_min(n, g.capacity);
	for (int64_t at = 0; at < n && at <= g.capacity + g.beyond; at++)
		bar_cell(c, x, y, g, at, style, fill, '\0');
	canvas_glyph(c, x + g.capacity, y, ROLE_LIMIT, GLYPH_LIMIT);
}

/* The largest need among the stages that are not chosen yet; n_stages when all are. */
static size_t worst_left(const struct app *a, const bool *chosen)
{
	size_t best = a->n_stages;
	for (size_t i = 0; i < a->n_stages; i++) {
		if (!chosen[i] && (best == a->n_stages || a->stages[i].need_bytes > a->stages[best].need_bytes))
			best = i;
	}
	return best;
}

size_t view_choose_stages(const struct app *a, size_t rows, size_t *out)
{
	bool chosen[STAGE_LIST_MAX] = { false };
	const size_t want = rows < a->n_stages ? rows : a->n_stages;
	const size_t first[] = { worst_left(a, chosen), 0, a->n_stages - 1, a->figure_stage };
	size_t n = 0;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]) && n < want; i++) {
		n += !chosen[first[i]];
		chosen[first[i]] = true;
	}
	for (; n < want; n++)
		chosen[worst_left(a, chosen)] = true;
	n = 0;
	for (size_t i = 0; i < a->n_stages; i++) {
		if (chosen[i])
			out[n++] = i;
	}
	return n;
}

/* The value of a bar, in role focus when the focus is on it. */
static void bar_value(const struct view *v, int x, int y, int w, size_t stage, bool two_decimals)
{
	char text[32];
	const struct app *a = v->a;
	const bool focus =
		a->view == VIEW_MAIN && a->pane == PANE_FIGURES && a->figure_stage == stage && a->figure_category == FIGURE_TOTAL;
	if (two_decimals)
		(void)view_gib(a->stages[stage].need_bytes, a->plan.worst.need_bytes, text, sizeof(text));
	else
		(void)view_gib3(a->stages[stage].need_bytes, text, sizeof(text));
	const int used = canvas_text_width(text);
	(void)canvas_text_right(v->c, x, y, w, focus ? ROLE_FOCUS : ROLE_TEXT, text);
	if (focus)
		canvas_glyph(v->c, x + w - used - 1, y, ROLE_ACCENT, GLYPH_FOCUS);
	if (focus && a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, x + w - 1, y, false);
}

void view_memory_bars(const struct view *v, struct rect r, const size_t *stages, size_t n, int bar_w, bool two_decimals)
{
	char text[64];
	const int label_w = view_label_w(v->a), width = bar_w - (label_w - 3);
	const int64_t limit = memory_capacity_bytes(&v->a->draft.s);
	const int limit_x = r.x + label_w + layout_bar(width).capacity;
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("MEMORY per GPU, GiB"));
	if (n < v->a->n_stages) {
		const int room = limit_x - r.x - used - 4;
		(void)snprintf(text, sizeof(text), _("%zu of %zu stages"), n, v->a->n_stages);
		if (canvas_text_width(text) > room)
			(void)snprintf(text, sizeof(text), _("%zu of %zu"), n, v->a->n_stages);
		(void)canvas_text(v->c, r.x + used + 2, r.y, room, ROLE_DIM, text);
	}
	if (limit > 0)
		(void)canvas_text(
			v->c, limit_x - 1, r.y, 7, ROLE_LIMIT, units_format_f4((double)limit / UNITS_GIB, text, sizeof(text)));
	(void)canvas_text_right(v->c, r.x + r.w - 6, r.y, 6, ROLE_DIM, _("peak"));
	for (size_t i = 0; i < n; i++) {
		const int y = r.y + 1 + (int)i;
		(void)canvas_printf(v->c, r.x, y, label_w, ROLE_DIM, "s%zu", stages[i]);
		(void)view_bar(v->c, r.x + label_w, y, width, v->a->stages[stages[i]].category, limit);
		bar_value(v, r.x + r.w - 7, y, 7, stages[i], two_decimals);
	}
}

void view_phases(const struct view *v, struct rect r)
{
	char text[32];
	const int label_w = 10, bar_w = r.w < 32 ? 0 : r.w - label_w - 7;
	const int64_t limit = memory_capacity_bytes(&v->a->draft.s);
	if (r.h == 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PEAK OF EACH PHASE, GiB"));
	for (int i = 0; i < PHASE_COUNT && i + 1 < r.h; i++) {
		const int y = r.y + 1 + i;
		(void)canvas_text(v->c, r.x, y, label_w - 1, ROLE_DIM, memory_phase_choices[i].key);
		if (bar_w > 0)
			view_bar_plain(
				v->c, r.x + label_w, y, bar_w, ROLE_ACTIVATIONS, GLYPH_MEDIUM, v->a->plan.phase_peak[i], limit);
		(void)canvas_text_right(
			v->c, r.x + r.w - 7, y, 7, ROLE_TEXT, view_gib3(v->a->plan.phase_peak[i], text, sizeof(text)));
	}
}

/* One row of the ledger: as kept, by how many ranks divided, what is left on each. Returns what is left. */
static double ledger_row(const struct view *v, struct rect r, int row, enum memory_category k, double bytes, bool sharded)
{
	const int64_t shards = sharded ? num_max(1, v->a->plan.ledger.shards) : 1;
	const double left = bytes / (double)shards;
	const int y = r.y + row, left_w = r.w < 32 ? 5 : 7, shards_w = r.w < 32 ? 6 : 8, bytes_w = r.w < 32 ? 4 : 6;
	const int bytes_x = r.x + r.w - left_w - shards_w - bytes_w;
	char text[32];
	if (row >= r.h)
		return left;
	canvas_put(v->c, r.x, y, (uint8_t)(category_looks[k].role | STYLE_BOLD),
		(uint32_t)(unsigned char)memory_category_table[k].letter);
	(void)canvas_text(v->c, r.x + 2, y, bytes_x - r.x - 2, ROLE_DIM, _(category_looks[k].name));
	(void)snprintf(text, sizeof(text), "%.4g", bytes);
	(void)canvas_text_right(v->c, bytes_x, y, bytes_w, ROLE_TEXT, text);
	if (shards > 1)
		(void)canvas_printf(
			v->c, bytes_x + bytes_w + 1, y, shards_w - 1, ROLE_DIM, r.w < 32 ? "/%" PRId64 : "/ %" PRId64, shards);
	(void)snprintf(text, sizeof(text), "%.3g", left);
	(void)canvas_text_right(v->c, r.x + r.w - left_w, y, left_w, ROLE_TEXT, text);
	return left;
}

void view_ledger(const struct view *v, struct rect r)
{
	const struct memory_ledger *l = &v->a->plan.ledger;
	char text[32];
	double sum = 0;
	if (r.h == 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("BYTES PER PARAMETER"));
	if (r.w >= 32)
		(void)canvas_text_right(
			v->c, r.x + 20, r.y, r.w - 20, ROLE_DIM, framework_names[v->a->draft.s.profile.framework]);
	sum += ledger_row(v, r, 1, MEMORY_WEIGHTS, l->weights, l->weights_sharded);
	sum += ledger_row(v, r, 2, MEMORY_MASTER_WEIGHTS, l->master_weights, l->optimizer_sharded);
	sum += ledger_row(
		v, r, 3, MEMORY_GRADIENTS, l->gradients + l->gradient_accumulation + l->gradient_copies, l->gradients_sharded);
	sum += ledger_row(v, r, 4, MEMORY_OPTIMIZER, l->optimizer, l->optimizer_sharded);
	(void)canvas_text(v->c, r.x + 2, r.y + 5, 18, ROLE_DIM, _("on each GPU"));
	(void)snprintf(text, sizeof(text), "%.3g", sum);
	(void)canvas_text_right(v->c, r.x + r.w - 7, r.y + 5, 7, ROLE_HEAD, text);
}

/* "HOST 135 of 1,907 GiB per node". Returns the columns used. */
static int place_text(const struct view *v, int x, int y, int w, const char *name, int64_t need, int64_t have)
{
	char n[32], h[32];
	const bool over = have > 0 && need > have;
	(void)view_gib3(need, n, sizeof(n));
	(void)snprintf(h, sizeof(h), "?");
	if (have > 0)
		(void)view_gib3(have, h, sizeof(h));
	const int used = canvas_text(v->c, x, y, w, ROLE_DIM, name);
	const int value =
		canvas_printf(v->c, x + used + 1, y, w - used - 1, over ? ROLE_BAD : ROLE_TEXT, _("%s of %s GiB per node"), n, h);
	return used + value + 4;
}

void view_host(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct node *node = &a->draft.s.cluster.node;
	int x = r.x;
	if (r.h == 0)
		return;
	if (a->plan.host_bytes_per_node > 0)
		x += place_text(v, x, r.y, r.w, _("HOST"), a->plan.host_bytes_per_node, node->host_mem_bytes);
	if (a->plan.nvme_bytes_per_node > 0)
		(void)place_text(v, x, r.y, r.x + r.w - x, _("NVMe"), a->plan.nvme_bytes_per_node, node->nvme_bytes);
}
