#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIND_ROW(id, name, ...) [VIEW_##id] = &view_##name,
const struct view_kind *const view_kinds[VIEW_COUNT] = { VIEW_TABLE(KIND_ROW, KIND_ROW) };

uint8_t view_verdict_role(const struct verdict *verdict)
{
	if (!verdict->known)
		return ROLE_WARN;
	return !verdict->fits ? ROLE_BAD : verdict->tight ? ROLE_WARN : ROLE_GOOD;
}

/* Behind the verdict word: an amount and a place. */
static void verdict_amount(const struct app *a, char *buf, size_t cap)
{
	const struct verdict *v = &a->plan.verdict;
	char amount[32];
	(void)units_format_gib(v->headroom_bytes < 0 ? -v->headroom_bytes : v->headroom_bytes, amount, sizeof(amount));
	if (!v->known)
		(void)snprintf(buf, cap, "%s", _("this GPU has no memory size: type gpu-mem"));
	else if (v->limit == LIMIT_HOST_MEMORY)
		(void)snprintf(buf, cap, _("%s of host memory over on each node"), amount);
	else if (v->limit == LIMIT_NVME)
		(void)snprintf(buf, cap, _("%s of NVMe over on each node"), amount);
	else if (a->n_stages == 1)
		(void)snprintf(buf, cap, v->fits ? _("%s to spare on every GPU") : _("%s over on every GPU"), amount);
	else
		(void)snprintf(
			buf, cap, v->fits ? _("%s to spare on stage %d") : _("%s over on stage %d"), amount, (int)v->worst_stage);
}

int view_verdict_amount(const struct view *v, int x, int y, int w)
{
	char amount[128];
	verdict_amount(v->a, amount, sizeof(amount));
	const int used = (int)num_min(canvas_text_width(amount), w);
	view_figure(v, x, y, used, amount, "verdict.headroom_bytes");
	return used;
}

int view_verdict(const struct view *v, int x, int y, int w)
{
	char word[64];
	(void)snprintf(word, sizeof(word), " %s ", _(verdict_word(&v->a->plan.verdict)));
	const int used = canvas_text(v->c, x, y, w, view_verdict_role(&v->a->plan.verdict), word);
	return used + 2 + view_verdict_amount(v, x + used + 2, y, w - used - 2);
}

void view_figure(const struct view *v, int x, int y, int w, const char *text, const char *path)
{
	view_figure_in(v, (struct rect){ x, y, w, 1 }, ROLE_TEXT, text, path);
}

void view_figure_in(const struct view *v, struct rect r, uint8_t style, const char *text, const char *path)
{
	const struct app *a = v->a;
	const bool focus_here = a->view == VIEW_MEMORY ? !a->ledger : a->view != VIEW_MAIN || a->pane == PANE_FIGURES;
	const bool focus = focus_here && strcmp(a->figure, path) == 0;
	const int used = canvas_text_right(v->c, r.x, r.y, r.w, focus ? ROLE_FOCUS : style, text);
	struct figure_list *f = v->figures;
	if (focus && a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, r.x + r.w - 1, r.y, false);
	if (f == NULL || f->n == f->cap)
		return;
	struct figure *out = &f->out[f->n++];
	out->at = (struct rect){ r.x + r.w - used, r.y, used, 1 };
	(void)snprintf(out->path, sizeof(out->path), "%s", path);
}

char *view_stage_path(size_t stage, const char *member, char buf[FIGURE_PATH_CAP])
{
	(void)snprintf(buf, FIGURE_PATH_CAP, "memory.stages[%zu].%s", stage, member);
	return buf;
}

void view_gpu_name(const struct gpu *g, char *buf, size_t cap)
{
	size_t n = 0;
	for (; g->id[n] != '\0' && g->id[n] != '-' && n + 1 < cap; n++)
		buf[n] = g->id[n] >= 'a' && g->id[n] <= 'z' ? (char)(g->id[n] - 'a' + 'A') : g->id[n];
	buf[n] = '\0';
}

/* "64 H100" */
static void write_cluster(const struct app *a, char *buf, size_t cap)
{
	char gpu[HARDWARE_ID_CAP];
	view_gpu_name(&a->draft.s.cluster.gpu, gpu, sizeof(gpu));
	(void)snprintf(buf, cap, "%" PRId64 " %s", a->draft.s.cluster.gpus, gpu);
}

/* "tp8 pp4 dp2": only degrees above one, but always dp. */
static void write_layout(const struct app *a, char *buf, size_t cap)
{
	const struct layout *l = &a->draft.s.layout;
	const struct {
		const char *key;
		int64_t degree;
	} degrees[] = { { "tp", l->tp }, { "pp", l->pp }, { "cp", l->cp }, { "ep", l->ep } };
	struct sink out;
	sink_init(&out, buf, cap, NULL, NULL);
	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
		if (degrees[i].degree > 1)
			sink_printf(&out, "%s%" PRId64 " ", degrees[i].key, degrees[i].degree);
	}
	sink_printf(&out, "dp%" PRId64, a->plan.dp);
}

/* Shortens a label by its last word. False when it is the only one. */
static bool drop_word(char *label)
{
	char *blank = strrchr(label, ' ');
	if (blank != NULL)
		*blank = '\0';
	return blank != NULL;
}

/* "Llama 3 70B on 64 H100, tp8 pp4 dp2"; where that is too long the cluster goes first, then the last words of the model: how the
 * model is split is what one looks for here. */
static void draw_title(const struct view *v, int w)
{
	const struct model *m = &v->a->draft.s.model;
	char layout[96], cluster[64], label[MODEL_LABEL_CAP], title[256];
	(void)snprintf(label, sizeof(label), "%s", m->label[0] != '\0' ? m->label : m->id);
	write_cluster(v->a, cluster, sizeof(cluster));
	write_layout(v->a, layout, sizeof(layout));
	(void)snprintf(title, sizeof(title), _("%s on %s, %s"), label, cluster, layout);
	do {
		if (canvas_text_width(title) > w)
			(void)snprintf(title, sizeof(title), "%s, %s", label, layout);
	} while (canvas_text_width(title) > w && drop_word(label));
	(void)canvas_text(v->c, 0, 0, w, ROLE_HEAD, canvas_text_width(title) > w ? layout : title);
}

static void draw_header(const struct view *v)
{
	draw_title(v, v->l.narrow ? v->c->w : v->l.split_x);
	if (!v->l.narrow)
		(void)view_verdict(v, v->l.split_x, 0, v->c->w - v->l.split_x);
}

struct rect view_body(const struct view *v)
{
	return (struct rect){ 0, 2, v->c->w, v->c->h - 4 };
}

/* Two words in the middle; comes back by itself when the window grows. */
static void draw_too_small(const struct view *v)
{
	char text[64];
	(void)snprintf(text, sizeof(text), _("need %dx%d, have %dx%d"), LAYOUT_MIN_W, LAYOUT_MIN_H, v->c->w, v->c->h);
	if (canvas_text_width(text) > v->c->w)
		(void)snprintf(text, sizeof(text), _("need %dx%d"), LAYOUT_MIN_W, LAYOUT_MIN_H);
	if (canvas_text_width(text) > v->c->w)
		(void)snprintf(text, sizeof(text), "%dx%d", LAYOUT_MIN_W, LAYOUT_MIN_H);
	const int width = canvas_text_width(text), x = width < v->c->w ? (v->c->w - width) / 2 : 0;
	(void)canvas_text(v->c, x, v->c->h / 2, v->c->w - x, ROLE_TEXT, text);
}

static void draw_screen(struct view *v)
{
	const struct app *a = v->a;
	draw_header(v);
	view_footer(v);
	/* Full-width views keep the message in row 1 at every width. */
	if (a->view != VIEW_MAIN)
		v->l.area[AREA_MESSAGE] = (struct rect){ 0, 1, v->c->w, 1 };
	if (a->view != VIEW_MAIN && v->l.narrow && a->message[0] == '\0')
		(void)view_verdict(v, 0, 1, v->c->w);
	view_kinds[a->view]->draw(v);
	/* Where the row holds something else, only what answers a key. */
	view_message(v, a->view == VIEW_HELP || (a->view != VIEW_MAIN && v->l.narrow));
}

/* Big mode replaces the main screen only. */
static bool is_big(const struct app *a)
{
	return a->big && a->view == VIEW_MAIN;
}

void view_frame(const struct app *a, struct canvas *c)
{
	struct view v = { .a = a, .c = c };
	canvas_clear(c);
	layout_compute(c->w, c->h, (int)a->n_stages, a->pin.set, &v.l);
	if (v.l.too_small)
		draw_too_small(&v);
	else if (is_big(a))
		view_big(&v);
	else
		draw_screen(&v);
}

size_t view_figures(const struct app *a, struct figure *out, size_t cap)
{
	struct canvas c = { .w = a->w, .h = a->h }; /* no cells: nothing is drawn on it */
	struct figure_list list = { out, 0, cap };
	struct view v = { .a = a, .c = &c, .figures = &list };
	app_layout(a, &v.l);
	if (!v.l.too_small && !is_big(a))
		draw_screen(&v);
	return list.n;
}

size_t view_scroll_max(const struct app *a)
{
	struct canvas c = { .w = a->w, .h = a->h }; /* no cells: nothing is drawn on it */
	struct view v = { .a = a, .c = &c };
	app_layout(a, &v.l);
	if (v.l.too_small)
		return a->scroll[a->view];
	return view_kinds[a->view]->scroll_max == NULL ? 0 : view_kinds[a->view]->scroll_max(&v);
}

/* Row of the bar of the worst stage; -1 when it is not on the screen. */
static int worst_row(const struct app *a, const struct screen_layout *l)
{
	struct stage_span rows[STAGE_LIST_MAX];
	const size_t n = view_choose_stages(a, (size_t)l->stages, rows);
	if (l->narrow)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if ((int64_t)rows[i].first <= a->plan.verdict.worst_stage && a->plan.verdict.worst_stage <= (int64_t)rows[i].last)
			return (int)i;
	}
	return -1;
}

size_t view_urgent(const struct app *a, struct rect out[VIEW_URGENT_MAX])
{
	struct screen_layout l;
	app_layout(a, &l);
	if (l.too_small || a->view != VIEW_MAIN || a->big)
		return 0;
	const struct rect memory = l.area[AREA_MEMORY];
	const int row = worst_row(a, &l), verdict_y = l.narrow ? memory.y : 0;
	out[0] = l.area[AREA_SETTINGS];
	out[1] = (struct rect){ l.split_x, verdict_y, a->w - l.split_x, 1 };
	out[2] = (struct rect){ memory.x, memory.y + 1 + row, memory.w, row < 0 ? 0 : 1 };
	return 3;
}
