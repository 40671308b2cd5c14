#include "view_internal.h"

#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint8_t verdict_role(const struct verdict *v)
{
	if (!v->known)
		return ROLE_WARN;
	return !v->fits ? ROLE_BAD : v->tight ? ROLE_WARN : ROLE_GOOD;
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

void view_verdict(const struct view *v, int x, int y, int w)
{
	char word[64], amount[128];
	(void)snprintf(word, sizeof(word), " %s ", _(verdict_word(&v->a->plan.verdict)));
	verdict_amount(v->a, amount, sizeof(amount));
	const int used = canvas_text(v->c, x, y, w, verdict_role(&v->a->plan.verdict), word);
	(void)canvas_text(v->c, x + used + 2, y, w - used - 2, ROLE_TEXT, amount);
}

/* "h100-sxm-80gb" as people say it: "H100". */
static void gpu_name(const struct gpu *g, char *buf, size_t cap)
{
	size_t n = 0;
	for (; g->id[n] != '\0' && g->id[n] != '-' && n + 1 < cap; n++)
		buf[n] = g->id[n] >= 'a' && g->id[n] <= 'z' ? (char)(g->id[n] - 'a' + 'A') : g->id[n];
	buf[n] = '\0';
}

/* "64 H100, tp8 pp4 dp2": only degrees above one, but always dp. */
static void write_layout(const struct app *a, struct sink *out)
{
	const struct scenario *s = &a->draft.s;
	const struct {
		const char *key;
		int64_t degree;
	} degrees[] = { { "tp", s->layout.tp }, { "pp", s->layout.pp }, { "cp", s->layout.cp }, { "ep", s->layout.ep } };
	char gpu[HARDWARE_ID_CAP];
	gpu_name(&s->cluster.gpu, gpu, sizeof(gpu));
	sink_printf(out, "%" PRId64 " %s,", s->cluster.gpus, gpu);
	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
		if (degrees[i].degree > 1)
			sink_printf(out, " %s%" PRId64, degrees[i].key, degrees[i].degree);
	}
	sink_printf(out, " dp%" PRId64, a->plan.dp);
}

/* "Llama 3 70B on 64 H100, tp8 pp4 dp2"; what is too long loses whole words at its end. */
static void draw_title(const struct view *v, int w)
{
	const struct model *m = &v->a->draft.s.model;
	char layout[160], title[256];
	struct sink out;
	sink_init(&out, layout, sizeof(layout), NULL, NULL);
	write_layout(v->a, &out);
	(void)snprintf(title, sizeof(title), _("%s on %s"), m->label[0] != '\0' ? m->label : m->id, layout);
	for (char *blank = strrchr(title, ' '); canvas_text_width(title) > w && blank != NULL; blank = strrchr(title, ' '))
		*blank = '\0';
	(void)canvas_text(v->c, 0, 0, w, ROLE_HEAD, title);
}

static void draw_header(const struct view *v)
{
	draw_title(v, v->l.narrow ? v->c->w : v->l.split_x);
	if (!v->l.narrow)
		view_verdict(v, v->l.split_x, 0, v->c->w - v->l.split_x);
}

/* The answer to the last key; else the gravest diagnostic, unless it is a mere note. */
static void draw_message(const struct view *v)
{
	const struct rect r = v->l.area[AREA_MESSAGE];
	const struct plan *p = &v->a->plan;
	const struct diagnostic *gravest = NULL;
	if (v->a->message[0] != '\0') {
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, v->a->message);
		return;
	}
	for (int64_t i = 0; i < p->n_diagnostics; i++) {
		if (p->diagnostics[i].level > DIAGNOSTIC_NOTE && (gravest == NULL || p->diagnostics[i].level > gravest->level))
			gravest = &p->diagnostics[i];
	}
	if (gravest != NULL)
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_ALERT, gravest->text);
}

struct rect view_body(const struct view *v)
{
	return (struct rect){ 0, 2, v->c->w, v->c->h - 4 };
}

static const char *prompt_label(const struct app *a)
{
	static const char *const labels[] = {
		[PROMPT_NONE] = "",
		[PROMPT_VALUE] = "",
		[PROMPT_FLAGS] = N_("flags"),
		[PROMPT_FIND] = N_("find"),
	};
	return a->prompt.kind == PROMPT_VALUE ? knob_at(a->focus)->key : _(labels[a->prompt.kind]);
}

/* "seq           = 12k                 12,288: 60.0 GiB, FITS". What does not fit beside the text goes to the message row. */
static void draw_prompt(const struct view *v)
{
	static const char signs[] = { [PROMPT_NONE] = ' ', [PROMPT_VALUE] = '=', [PROMPT_FLAGS] = ':', [PROMPT_FIND] = '/' };
	const struct prompt *p = &v->a->prompt;
	const struct rect r = v->l.area[AREA_PREVIEW], m = v->l.area[AREA_MESSAGE];
	const int text_x = 16, note_w = canvas_text_width(p->note);
	const uint8_t style = p->good || p->kind == PROMPT_FIND ? ROLE_TEXT : ROLE_ALERT;
	(void)canvas_text(v->c, 0, r.y, 13, ROLE_HEAD, prompt_label(v->a));
	(void)canvas_printf(v->c, 14, r.y, 2, ROLE_ACCENT, "%c", signs[p->kind]);
	const int room = r.w - text_x - 1, start = (int)p->cursor > room ? (int)p->cursor - room : 0;
	const int used = canvas_text(v->c, text_x, r.y, room, ROLE_TEXT, p->text + start);
	int note_x = text_x + used + 3;
	if (note_x + note_w <= r.w) {
		if (r.w - 33 > note_x && note_w <= 33)
			note_x = r.w - 33;
		(void)canvas_text(v->c, note_x, r.y, r.w - note_x, style, p->note);
	} else {
		(void)canvas_printf(v->c, m.x, m.y, m.w, ROLE_TEXT, "%*s", m.w, "");
		(void)canvas_text(v->c, m.x, m.y, m.w, style, p->note);
	}
	canvas_cursor(v->c, text_x + (int)p->cursor - start, r.y, true);
}

void view_prompt_or(const struct view *v, void (*otherwise)(const struct view *v))
{
	if (v->a->prompt.kind != PROMPT_NONE)
		draw_prompt(v);
	else if (otherwise != NULL)
		otherwise(v);
}

/* The first key of an action, as the footer writes it; "" when it has none here. */
static void first_key(enum context context, enum ui_action action, char *buf, size_t cap)
{
	char keys[64];
	buf[0] = '\0';
	if (action == UI_NONE)
		return;
	(void)input_keys_of(context, action, keys, sizeof(keys));
	if (keys[0] == '\0' && context != CONTEXT_PROMPT)
		(void)input_keys_of(CONTEXT_ALL, action, keys, sizeof(keys));
	keys[strcspn(keys, " ")] = '\0';
	(void)snprintf(buf, cap, "%.20s", keys);
}

/* Key and label of an action at *x, unless they would pass `end`. */
static bool footer_item(const struct view *v, enum context context, enum ui_action action, int *x, int end)
{
	char key[24], pair[24], keys[64];
	const char *label = _(ui_action_table[action].label);
	const int y = v->l.area[AREA_FOOTER].y;
	first_key(context, action, key, sizeof(key));
	first_key(context, ui_action_table[action].pair, pair, sizeof(pair));
	(void)snprintf(keys, sizeof(keys), "%s%s%s", pair, pair[0] != '\0' ? "/" : "", key);
	const int width = canvas_text_width(keys) + 1 + canvas_text_width(label);
	if (key[0] == '\0' || *x + width > end)
		return false;
	*x += canvas_text(v->c, *x, y, end - *x, ROLE_KEY, keys);
	*x += 1 + canvas_text(v->c, *x + 1, y, end - *x, ROLE_TEXT, label) + 2;
	return true;
}

/* What the focus is on, how to leave: those two are never cut. */
static void draw_footer(const struct view *v)
{
	const enum context context = app_context(v->a);
	const bool prompt = context == CONTEXT_PROMPT, top = v->a->view == VIEW_MAIN;
	const enum ui_action leave = top ? UI_QUIT : UI_BACK;
	const int w = v->l.area[AREA_FOOTER].w;
	char key[24];
	first_key(context, leave, key, sizeof(key));
	const int leave_w = prompt ? 0 : canvas_text_width(key) + 1 + canvas_text_width(_(ui_action_table[leave].label)) + 2;
	int x = 0;
	if (!prompt)
		(void)footer_item(v, context, UI_HELP, &x, w - leave_w);
	for (const enum ui_action *action = input_footer(context); *action != UI_NONE; action++) {
		if (!footer_item(v, context, *action, &x, w - leave_w))
			break;
	}
	if (!prompt)
		(void)footer_item(v, context, leave, &x, w);
	else if (v->a->prompt.kind != PROMPT_FIND)
		(void)canvas_text(
			v->c, x + 1, v->l.area[AREA_FOOTER].y, w - x - 1, ROLE_DIM, "8k, 8192, 70B, 1.5e12, 80GB, 64GiB");
}

/* Two words in the middle; comes back by itself when the window grows. */
static void draw_too_small(const struct view *v)
{
	char text[64];
	(void)snprintf(text, sizeof(text), _("need %dx%d, have %dx%d"), LAYOUT_MIN_W, LAYOUT_MIN_H, v->c->w, v->c->h);
	const int width = canvas_text_width(text), x = width < v->c->w ? (v->c->w - width) / 2 : 0;
	(void)canvas_text(v->c, x, v->c->h / 2, v->c->w - x, ROLE_TEXT, text);
}

void view_frame(const struct app *a, struct canvas *c)
{
	static void (*const screens[VIEW_COUNT])(const struct view *v) = {
		[VIEW_MAIN] = view_main,
		[VIEW_MEMORY] = view_memory,
		[VIEW_PIPELINE] = view_pipeline,
		[VIEW_HELP] = view_help,
		[VIEW_EXPLAIN] = view_explain,
		[VIEW_LIST] = view_list,
		[VIEW_COMMAND] = view_command,
	};
	struct view v = { .a = a, .c = c };
	canvas_clear(c);
	layout_compute(c->w, c->h, (int)a->n_stages, &v.l);
	if (v.l.too_small) {
		draw_too_small(&v);
		return;
	}
	draw_header(&v);
	draw_footer(&v);
	if (a->view != VIEW_MAIN) {
		/* Full-width views keep the message in row 1 at every width. */
		v.l.area[AREA_MESSAGE] = (struct rect){ 0, 1, c->w, 1 };
		if (v.l.narrow && a->message[0] == '\0')
			view_verdict(&v, 0, 1, c->w);
		else
			draw_message(&v);
	} else {
		draw_message(&v);
	}
	screens[a->view](&v);
}

size_t view_scroll_max(const struct app *a)
{
	struct canvas c = { .w = a->w, .h = a->h }; /* no cells: nothing is drawn on it */
	struct view v = { .a = a, .c = &c };
	layout_compute(a->w, a->h, (int)a->n_stages, &v.l);
	if (v.l.too_small)
		return a->scroll[a->view];
	if (a->view == VIEW_HELP)
		return view_help_scroll_max(&v);
	if (a->view == VIEW_EXPLAIN)
		return view_explain_scroll_max(&v);
	if (a->view == VIEW_COMMAND)
		return view_command_scroll_max(&v);
	return a->view == VIEW_PIPELINE ? a->n_stages - 1 : 0;
}
