/* The presets: the list on the left; on the right what the one in focus is, and its file with the source of every number. */
#include "view_internal.h"

#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST_W = 34, GAP = 2, FIGURE_W = 8, LINE_CAP = 400 };

/* Writes the details downwards. */
struct page {
	const struct view *v;
	struct pen pen;
};

static void row(struct page *p, const char *label, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void row(struct page *p, const char *label, const char *fmt, ...)
{
	char text[LINE_CAP];
	va_list args;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pen_text(&p->pen, label, ROLE_TEXT, text);
}

/* The parameters part by part. */
static void model_shares(struct page *p, const struct model *m, int64_t all)
{
	const struct {
		const char *label;
		int64_t params;
	} parts[] = {
		{ N_("layers"), all - 2 * m->vocab * m->hidden },
		{ N_("embedding"), m->vocab * m->hidden },
		{ N_("head"), m->vocab * m->hidden },
	};
	char text[32];
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !m->tied_embeddings && all > 0; i++)
		row(p, ui_text(parts[i].label), "%18s  %4.1f %%", units_format_commas(parts[i].params, text, sizeof(text)),
			100.0 * (double)parts[i].params / (double)all);
}

static void model_details(struct page *p, const struct catalog *c, size_t i)
{
	const struct model *m = &c->models[i];
	const int64_t all = model_params(m), active = model_active_params(m);
	char text[32], second[32];
	pen_text(&p->pen, "", ROLE_HEAD, m->label);
	row(p, _("parameters"), "%s", units_format_commas(all, text, sizeof(text)));
	if (active != all)
		row(p, _("active"), "%s", units_format_commas(active, text, sizeof(text)));
	row(p, _("layers"), _("%" PRId64 ", hidden %s"), m->layers, units_format_commas(m->hidden, text, sizeof(text)));
	row(p, _("heads"), _("%" PRId64 ", kv-heads %" PRId64 ", head-dim %" PRId64), m->heads, m->kv_heads, m->head_dim);
	row(p, _("ffn, vocab"), "%s, %s", units_format_commas(m->ffn, text, sizeof(text)),
		units_format_commas(m->vocab, second, sizeof(second)));
	if (m->experts > 0)
		row(p, _("experts"), _("%" PRId64 ", %" PRId64 " for a token"), m->experts, m->topk);
	row(p, _("longest seq"), "%s", units_format_commas(m->max_seq, text, sizeof(text)));
	pen_gap(&p->pen);
	model_shares(p, m, all);
}

static void gpu_details(struct page *p, const struct catalog *c, size_t i)
{
	const struct gpu *g = &c->gpus[i];
	char text[32];
	pen_text(&p->pen, "", ROLE_HEAD, g->label);
	row(p, _("memory"), _("%s for a program"), units_format_gib(g->mem_cuda_bytes, text, sizeof(text)));
	row(p, _("nvidia-smi"), "%s", units_format_gib(g->mem_smi_bytes, text, sizeof(text)));
	row(p, _("on the box"), "%.0f GB", (double)g->mem_nominal_bytes / UNITS_GB);
	if (g->bf16_flops > 0)
		row(p, _("bf16 peak"), "%s TFLOPS", units_format_f4(g->bf16_flops / 1e12, text, sizeof(text)));
	row(p, _("year"), "%" PRId64, (int64_t)g->year);
}

static void node_details(struct page *p, const struct catalog *c, size_t i)
{
	const struct node *n = &c->nodes[i];
	char text[32];
	pen_text(&p->pen, "", ROLE_HEAD, n->id);
	row(p, _("GPUs"), "%" PRId64 " x %s", n->gpus_per_node, n->gpu_id);
	row(p, _("host RAM"), "%s", n->host_mem_bytes > 0 ? units_format_gib(n->host_mem_bytes, text, sizeof(text)) : "?");
	row(p, _("NVMe"), "%s", n->nvme_bytes > 0 ? units_format_gib(n->nvme_bytes, text, sizeof(text)) : "?");
}

static void profile_details(struct page *p, const struct catalog *c, size_t i)
{
	const struct profile *f = &c->profiles[i];
	pen_text(&p->pen, "", ROLE_HEAD, f->label);
	row(p, _("framework"), "%s", framework_names[f->framework]);
	row(p, _("date"), "%s", f->date);
	row(p, _("bytes/param"), _("weights %g, gradients %g, master %g"), f->weight_bytes, f->grad_bytes + f->grad_accum_bytes,
		f->master_bytes);
}

/* The file as it stands: every number with its source. */
static void file_text(struct page *p, enum browser_kind kind, const char *id)
{
	const struct preset_texts *texts = p->v->a->texts;
	const char *from = "", *text;
	char line[LINE_CAP];
	size_t len = 0;
	text = texts == NULL ? NULL : texts->get(texts->ctx, kind, id, &len, &from);
	if (text == NULL)
		return;
	pen_gap(&p->pen);
	pen_text(&p->pen, _("FILE"), ROLE_DIM, from);
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		const size_t n = end == NULL ? len : (size_t)(end - text);
		(void)snprintf(line, sizeof(line), "%.*s", (int)(n < LINE_CAP - 1 ? n : LINE_CAP - 1), text);
		/* The file keeps its own indentation, so it starts at the edge of the pane. */
		struct rect r = p->pen.r;
		const int top = p->pen.row - p->pen.skip;
		r.y += top > 0 ? top : 0;
		r.h = top > 0 ? r.h - top : r.h;
		p->pen.row += canvas_wrap(p->v->c, r, top < 0 ? -top : 0, ROLE_TEXT, line);
		text += end == NULL ? len : n + 1;
		len -= end == NULL ? len : n + 1;
	}
}

static void write_details(struct page *p)
{
	static void (*const details[BROWSER_KIND_COUNT])(struct page * p, const struct catalog *c, size_t i) = {
		[BROWSER_MODELS] = model_details,
		[BROWSER_GPUS] = gpu_details,
		[BROWSER_NODES] = node_details,
		[BROWSER_FRAMEWORKS] = profile_details,
	};
	const struct app *a = p->v->a;
	const struct browser *b = &a->browser;
	if (b->focus >= b->n)
		return;
	if (details[b->kind] != NULL) {
		details[b->kind](p, a->catalog, b->match[b->focus]);
		file_text(p, b->kind, browser_focused(b, a->catalog));
	} else {
		row(p, "", _("A scenario saved with S. Enter opens it; u goes back."));
	}
}

static struct page new_page(const struct view *v)
{
	const struct rect body = view_body(v);
	const int x = body.w < 80 ? LIST_W - 6 : LIST_W + GAP;
	const int w = body.w - x < 100 ? body.w - x : 100;
	return (struct page){ v, { v->c, { body.x + x, body.y + 2, w, body.h - 3 }, 0, 0 } };
}

static size_t scroll_max(const struct view *v)
{
	struct page p = new_page(v);
	const int h = p.pen.r.h;
	p.pen.r.h = 0;
	write_details(&p);
	return p.pen.row > h ? (size_t)(p.pen.row - h) : 0;
}

/* What stands behind a name in the list. */
static void list_figure(const struct app *a, size_t i, char *buf, size_t cap)
{
	const struct catalog *c = a->catalog;
	buf[0] = '\0';
	if (a->browser.kind == BROWSER_MODELS)
		(void)units_format_count(model_params(&c->models[i]), buf, cap);
	else if (a->browser.kind == BROWSER_GPUS)
		(void)units_format_gib(c->gpus[i].mem_cuda_bytes, buf, cap);
	else if (a->browser.kind == BROWSER_NODES)
		(void)snprintf(buf, cap, "%" PRId64, c->nodes[i].gpus_per_node);
}

static void draw_list(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct browser *b = &a->browser;
	const size_t height = (size_t)(r.h > 0 ? r.h : 0), top = b->focus >= height ? b->focus - height + 1 : 0;
	char figure[32];
	for (size_t i = top; i < b->n && i < top + height; i++) {
		const int y = r.y + (int)(i - top);
		const bool focus = i == b->focus;
		if (focus)
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, r.x + 1, y, r.w - 2 - FIGURE_W, focus ? ROLE_FOCUS : ROLE_TEXT,
			browser_id(b, a->catalog, b->kind, b->match[i]));
		list_figure(a, b->match[i], figure, sizeof(figure));
		(void)canvas_text_right(v->c, r.x + r.w - FIGURE_W, y, FIGURE_W, ROLE_DIM, figure);
		if (focus && a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, r.x + 1, y, false);
	}
}

static const char *id_at(const void *ctx, size_t i)
{
	const struct app *a = ctx;
	return browser_id(&a->browser, a->catalog, a->browser.kind, i);
}

/* "gpus 2, nodes 6": which other lists hold the words of the filter, and how often. False: none. */
static bool write_elsewhere(const struct app *a, char *buf, size_t cap)
{
	struct sink out;
	sink_init(&out, buf, cap, NULL, NULL);
	buf[0] = '\0';
	for (int kind = 0; kind < BROWSER_KIND_COUNT; kind++) {
		const size_t n = browser_matches(&a->browser, a->catalog, (enum browser_kind)kind);
		if (n > 0)
			sink_printf(&out, "%s%s %zu", buf[0] != '\0' ? ", " : "", ui_text(browser_kind_names[kind]), n);
	}
	return buf[0] != '\0';
}

/* Nothing matches: where there is something, else the names that are nearest. */
static void draw_nothing(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct browser *b = &a->browser;
	const size_t all = browser_count(b, a->catalog, b->kind);
	char found[120], near[200], text[256];
	if (all == 0) {
		(void)canvas_wrap(v->c, r, 0, ROLE_TEXT, _("Nothing is saved yet: S saves the scenario on the screen."));
	} else if (b->n == 0) {
		if (write_elsewhere(a, found, sizeof(found)))
			(void)snprintf(text, sizeof(text), _("None here. Elsewhere: %s. Tab goes on."), found);
		else
			(void)snprintf(text, sizeof(text), _("None. Nearest: %s."),
				catalog_nearest(b->filter, all, id_at, a, near, sizeof(near)));
		(void)canvas_wrap(v->c, r, 0, ROLE_TEXT, text);
	}
}

static void draw(const struct view *v)
{
	const struct app *a = v->a;
	const struct browser *b = &a->browser;
	const struct rect body = view_body(v);
	struct page p = new_page(v);
	const struct rect list = { body.x, body.y + 2, p.pen.r.x - GAP, body.h - 3 };
	char count[48];
	int x = body.x + canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, _("PRESETS")) + 3;
	view_prompt_or(v, NULL);
	for (int kind = 0; kind < BROWSER_KIND_COUNT; kind++)
		x += canvas_text(v->c, x, body.y, body.w - x, kind == (int)b->kind ? ROLE_FOCUS : ROLE_TEXT,
			     ui_text(browser_kind_names[kind])) +
			2;
	(void)snprintf(count, sizeof(count), _("%zu of %zu"), b->n == 0 ? 0 : b->focus + 1, b->n);
	if (canvas_text_width(count) > body.w - x)
		(void)snprintf(count, sizeof(count), "%zu/%zu", b->n == 0 ? 0 : b->focus + 1, b->n);
	if (canvas_text_width(count) <= body.w - x)
		(void)canvas_text(v->c, x, body.y, body.w - x, ROLE_DIM, count);
	draw_list(v, list);
	draw_nothing(v, list);
	p.pen.skip = (int)a->scroll[VIEW_PRESETS];
	write_details(&p);
	(void)canvas_text(
		v->c, body.x, body.y + body.h - 1, body.w, ROLE_DIM, _("Enter loads it, the rest stays; Ctrl-F turns the page."));
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(void)a;
	(void)snprintf(path, FIGURE_PATH_CAP, "model.params");
}

const struct view_kind view_presets = {
	.digit = '8',
	.open_label = N_("take"),
	.footer = { { UI_FIND, UI_NEXT_PANE, UI_UP, UI_OPEN, UI_IMPORT, UI_SAVE, UI_OPEN_SCENARIO, UI_UNDO } },
	.draw = draw,
	.scroll_max = scroll_max,
	.opened = presets_opened,
	.explains = explains,
	.move = presets_move,
	.page = presets_page,
	.next_pane = presets_next_kind,
	.open = presets_take,
	.search = &presets_search,
};
