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

/* Whether some neighbours differ in nothing, so that they may share a row. */
static bool has_twins(const struct app *a)
{
	for (size_t i = 1; i < a->n_stages; i++) {
		if (memcmp(a->stages[i].category, a->stages[i - 1].category, sizeof(a->stages[i].category)) == 0)
			return true;
	}
	return false;
}

int view_label_w(const struct app *a)
{
	/* "s3", "s12", "s112"; or "s1-6", "s1-14", "s9-112". */
	const bool spans = a->n_stages > 4 && has_twins(a);
	const int digits = a->n_stages > 100 ? 3 : a->n_stages > 10 ? 2 : 1;
	return spans ? 3 + 2 * digits : 2 + digits;
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
		canvas_letter(c, x + at, y, beyond ? ROLE_BAD : style, letter);
	else
		canvas_glyph(c, x + at, y, beyond ? ROLE_BAD : style, beyond ? GLYPH_BEYOND : fill);
}

static void bar_row(
	struct canvas *c, struct rect r, const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes, bool letters)
{
	const struct bar_grid g = layout_bar(r.w);
	int64_t cells[MEMORY_CATEGORY_COUNT], at = 0;
	(void)report_bar_cells(bytes, limit_bytes, g.capacity, cells);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		for (int64_t j = 0; j < cells[k] && at <= g.capacity + g.beyond; j++, at++)
			bar_cell(c, r.x, r.y, g, at, category_looks[k].role, category_looks[k].fill,
				letters && j == 0 ? memory_category_table[k].letter : '\0');
	}
	if (limit_bytes > 0)
		canvas_glyph(c, r.x + g.capacity, r.y, ROLE_LIMIT, GLYPH_LIMIT);
}

void view_bar(struct canvas *c, struct rect r, const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes)
{
	for (int i = 0; i < r.h; i++)
		bar_row(c, (struct rect){ r.x, r.y + i, r.w, 1 }, bytes, limit_bytes, i == 0);
}

/* A bar of one role, at the same scale. */
static void draw_plain(
	struct canvas *c, int x, int y, int width, uint8_t style, enum glyph fill, int64_t bytes, int64_t limit_bytes)
{
	const struct bar_grid g = layout_bar(width);
	int64_t n = limit_bytes > 0 ? num_round((double)bytes * g.capacity / (double)limit_bytes) : 0;
	n = limit_bytes > 0 && bytes > limit_bytes ? num_max(n, g.capacity + 1) : num_min(n, g.capacity);
	for (int64_t at = 0; at < n && at <= g.capacity + g.beyond; at++)
		bar_cell(c, x, y, g, at, style, fill, '\0');
	canvas_glyph(c, x + g.capacity, y, ROLE_LIMIT, GLYPH_LIMIT);
}

/* Runs of stages between which nothing differs. Returns how many. */
static size_t group_stages(const struct app *a, struct stage_span out[STAGE_LIST_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < a->n_stages; i++) {
		const struct stage_memory *s = &a->stages[i], *before = i > 0 ? &a->stages[i - 1] : NULL;
		if (before != NULL && memcmp(s->category, before->category, sizeof(s->category)) == 0)
			out[n - 1].last = i;
		else
			out[n++] = (struct stage_span){ i, i };
	}
	return n;
}

/* The largest need among the rows that are not chosen yet; n when all are. */
static size_t worst_left(const struct app *a, const struct stage_span *rows, size_t n, const bool *chosen)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++) {
		if (!chosen[i] && (best == n || a->stages[rows[i].first].need_bytes > a->stages[rows[best].first].need_bytes))
			best = i;
	}
	return best;
}

static size_t row_of_stage(const struct stage_span *rows, size_t n, size_t stage)
{
	size_t i = 0;
	while (i + 1 < n && rows[i].last < stage)
		i++;
	return i;
}

/* Keeps `want` of n rows, in their order. */
static size_t choose_rows(const struct app *a, size_t want, struct stage_span *rows, size_t n)
{
	bool chosen[STAGE_LIST_MAX] = { false };
	const size_t first[] = { worst_left(a, rows, n, chosen), 0, n - 1, row_of_stage(rows, n, a->figure_stage) };
	size_t kept = 0;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]) && kept < want; i++) {
		kept += !chosen[first[i]];
		chosen[first[i]] = true;
	}
	for (; kept < want; kept++)
		chosen[worst_left(a, rows, n, chosen)] = true;
	kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (chosen[i])
			rows[kept++] = rows[i];
	}
	return kept;
}

size_t view_choose_stages(const struct app *a, size_t rows, struct stage_span out[STAGE_LIST_MAX])
{
	if (a->n_stages <= rows) {
		for (size_t i = 0; i < a->n_stages; i++)
			out[i] = (struct stage_span){ i, i };
		return a->n_stages;
	}
	const size_t n = group_stages(a, out);
	return n <= rows ? n : choose_rows(a, rows, out, n);
}

void view_stage_label(const struct view *v, int x, int y, char letter, struct stage_span span)
{
	const int w = view_label_w(v->a);
	if (span.first == span.last)
		(void)canvas_printf(v->c, x, y, w, ROLE_TEXT, "%c%zu", letter, span.first);
	else
		(void)canvas_printf(v->c, x, y, w - 1, ROLE_TEXT, "%c%zu-%zu", letter, span.first, span.last);
}

/* The bytes of the pinned plan for a stage and a category (MEMORY_CATEGORY_COUNT: all); false without a pin or such a stage. */
static bool pinned_bytes(const struct app *a, size_t stage, int category, int64_t *bytes)
{
	const struct pin *p = &a->pin;
	if (!p->set || stage >= p->n_stages)
		return false;
	*bytes = category < MEMORY_CATEGORY_COUNT ? p->stages[stage].category[category] : p->stages[stage].need_bytes;
	return true;
}

char *view_difference_text(const struct app *a, size_t stage, int category, char *buf, size_t cap)
{
	const struct stage_memory *s = &a->stages[stage];
	int64_t before = 0;
	buf[0] = '\0';
	if (!a->pin.set)
		return buf;
	const bool known = pinned_bytes(a, stage, category, &before);
	const int64_t change = (category < MEMORY_CATEGORY_COUNT ? s->category[category] : s->need_bytes) - before;
	if (!known || change == 0)
		(void)snprintf(buf, cap, "%s", known ? "=" : _("new"));
	else
		(void)view_change(change, buf, cap);
	return buf;
}

void view_difference(const struct view *v, int x, int y, int w, size_t stage, int category)
{
	char text[32];
	(void)canvas_text_right(v->c, x, y, w, ROLE_PIN, view_difference_text(v->a, stage, category, text, sizeof(text)));
}

static void bars_heading(const struct view *v, struct rect r, int limit_x, size_t n, int value_w)
{
	char text[64];
	const int64_t limit = memory_capacity_bytes(&v->a->draft.s);
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("MEMORY per GPU, GiB"));
	if (n < v->a->n_stages) {
		const int room = limit_x - r.x - used - 4;
		char brief[32];
		(void)snprintf(text, sizeof(text), _("%zu of %zu stages"), n, v->a->n_stages);
		(void)snprintf(brief, sizeof(brief), _("%zu of %zu"), n, v->a->n_stages);
		(void)canvas_text(
			v->c, r.x + used + 2, r.y, room, ROLE_DIM, canvas_fitting(room, text, canvas_fitting(room, brief, "")));
	}
	if (limit > 0)
		view_figure(v, limit_x - 1, r.y, 4, units_format_f4((double)limit / UNITS_GIB, text, sizeof(text)),
			"verdict.have_bytes");
	(void)canvas_text_right(v->c, r.x + r.w - value_w, r.y, 7, ROLE_DIM, _("peak"));
	if (v->a->pin.set)
		(void)canvas_text_right(v->c, r.x + r.w - 6, r.y, 6, ROLE_PIN, _("vs A"));
}

void view_memory_bars(
	const struct view *v, struct rect r, const struct stage_span *rows, size_t n, int bar_w, int value_w, bool two_decimals)
{
	char text[32], path[FIGURE_PATH_CAP];
	const struct app *a = v->a;
	const int label_w = view_label_w(a), width = bar_w - (label_w - 3);
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	size_t shown = 0;
	for (size_t i = 0; i < n; i++)
		shown += rows[i].last - rows[i].first + 1;
	bars_heading(v, r, r.x + label_w + layout_bar(width).capacity, shown, value_w);
	for (size_t i = 0; i < n; i++) {
		const int y = r.y + 1 + (int)i;
		const size_t stage = rows[i].first;
		view_stage_label(v, r.x, y, 's', rows[i]);
		view_bar(v->c, (struct rect){ r.x + label_w, y, width, 1 }, a->stages[stage].category, limit);
		if (two_decimals)
			(void)view_gib(a->stages[stage].need_bytes, a->plan.worst.need_bytes, text, sizeof(text));
		else
			(void)view_gib3(a->stages[stage].need_bytes, text, sizeof(text));
		view_figure(v, r.x + r.w - value_w, y, 7, text, view_stage_path(stage, "total", path));
		view_difference(v, r.x + r.w - 6, y, 6, stage, MEMORY_CATEGORY_COUNT);
	}
}

void view_phases(const struct view *v, struct rect r)
{
	char text[32], path[FIGURE_PATH_CAP];
	const int label_w = 9, bar_w = r.w - label_w - 7;
	const int64_t limit = memory_capacity_bytes(&v->a->draft.s);
	if (r.h == 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PEAK OF EACH PHASE, GiB"));
	for (int i = 0; i < PHASE_COUNT && i + 1 < r.h; i++) {
		const int y = r.y + 1 + i;
		(void)canvas_text(v->c, r.x, y, label_w - 1, ROLE_DIM, memory_phase_choices[i].key);
		draw_plain(v->c, r.x + label_w, y, bar_w, ROLE_ACTIVATIONS, GLYPH_MEDIUM, v->a->plan.phase_peak[i], limit);
		(void)snprintf(path, sizeof(path), "memory.phases[%d].peak_bytes", i);
		view_figure(v, r.x + r.w - 7, y, 7, view_gib3(v->a->plan.phase_peak[i], text, sizeof(text)), path);
	}
}

/* "HOST RAM 135 of 1,907 GiB per node", with a bar where there is room. Returns the columns used. */
static int draw_place(const struct view *v, int x, int y, int w, const char *name, const char *path, int64_t need, int64_t have)
{
	enum { BAR_MIN_W = 20, TEXT_W = 40 };
	char n[32], h[32] = "?";
	(void)view_gib3(need, n, sizeof(n));
	if (have > 0)
		(void)view_gib3(have, h, sizeof(h));
	int at = x + canvas_text(v->c, x, y, w, ROLE_DIM, name) + 1;
	view_figure(v, at, y, canvas_text_width(n), n, path);
	at += canvas_text_width(n) + 1;
	at += canvas_printf(v->c, at, y, x + w - at, have > 0 && need > have ? ROLE_BAD : ROLE_TEXT, _("of %s GiB per node"), h) +
		3;
	if (have > 0 && w >= TEXT_W + BAR_MIN_W)
		draw_plain(v->c, x + TEXT_W, y, w - TEXT_W, ROLE_MASTER, GLYPH_DARK, need, have);
	return at - x;
}

void view_host(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct node *node = &a->draft.s.cluster.node;
	const bool host = a->plan.host_bytes_per_node > 0, nvme = a->plan.nvme_bytes_per_node > 0;
	int x = r.x, y = r.y;
	if (r.h == 0)
		return;
	/* Each in a row of its own where there are two rows. */
	if (host)
		x += draw_place(v, x, y, r.w, _("HOST RAM"), "memory.host_bytes_per_node", a->plan.host_bytes_per_node,
			node->host_mem_bytes);
	if (host && r.h > 1) {
		x = r.x;
		y++;
	}
	if (nvme)
		(void)draw_place(v, x, y, r.x + r.w - x, _("NVMe"), "memory.nvme_bytes_per_node", a->plan.nvme_bytes_per_node,
			node->nvme_bytes);
}
