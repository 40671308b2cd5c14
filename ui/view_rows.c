/* The rows around every view: what there is to say, the prompt, the keys. */
#include "view_internal.h"

#include "labs.h"
#include "num.h"
#include "ui_text.h"

#include <stdio.h>
#include <string.h>

const struct diagnostic *view_gravest(const struct plan *p)
{
	const struct diagnostic *gravest = NULL;
	for (int64_t i = 0; i < p->n_diagnostics; i++) {
		if (p->diagnostics[i].level > DIAGNOSTIC_NOTE && (gravest == NULL || p->diagnostics[i].level > gravest->level))
			gravest = &p->diagnostics[i];
	}
	return gravest;
}

/* After a no: the cheapest way out, as soon as it is known; behind the answer to the last key, if there is one and both fit. */
static bool message_advice(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	const struct advice_row *best = advice_best(&a->advice);
	char change[32], speed[32], text[256], brief[192];
	if (a->plan.verdict.fits || best == NULL || a->view == VIEW_ADVICE)
		return false;
	if (a->message[0] != '\0') {
		const int used = canvas_text_width(a->message) + 1;
		(void)snprintf(brief, sizeof(brief), _("Way out: %s %s. All ways: a"), best->what, best->to);
		if (used + canvas_text_width(brief) > r.w)
			return false;
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, a->message);
		(void)canvas_text(v->c, r.x + used, r.y, r.w - used, ROLE_TEXT, brief);
		return true;
	}
	(void)view_change(best->need_bytes - a->plan.worst.need_bytes, change, sizeof(change));
	(void)view_speed_gain(a, best->tokens_per_s, speed, sizeof(speed));
	(void)snprintf(
		text, sizeof(text), _("Cheapest way out: %s %s, %s GiB, %s. All ways: a"), best->what, best->to, change, speed);
	(void)snprintf(brief, sizeof(brief), _("Way out: %s %s, %s GiB. All ways: a"), best->what, best->to, change);
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, speed[0] == '\0' ? brief : canvas_fitting(r.w, text, brief));
	return true;
}

/* While something is pinned. */
static bool message_pin(const struct view *v, struct rect r)
{
	const struct app *a = v->a;
	char need[32], room[32], differ[40], text[160], brief[112];
	if (!a->pin.set)
		return false;
	const size_t n = pin_differences(a, NULL, 0);
	(void)view_change(a->plan.worst.need_bytes - a->pin.plan.worst.need_bytes, need, sizeof(need));
	(void)view_change(a->plan.verdict.headroom_bytes - a->pin.plan.verdict.headroom_bytes, room, sizeof(room));
	(void)snprintf(differ, sizeof(differ), n == 1 ? _("%zu setting differs: d") : _("%zu settings differ: d"), n);
	(void)snprintf(text, sizeof(text), _("against A: peak %s GiB, room %s GiB; %s"), need, room, differ);
	(void)snprintf(brief, sizeof(brief), _("against A: peak %s GiB; %s"), need, differ);
	(void)canvas_text(
		v->c, r.x, r.y, r.w, ROLE_PIN, n == 0 ? _("against A: the same plan") : canvas_fitting(r.w, text, brief));
	return true;
}

static const char *prompt_label(const struct app *a)
{
	static const char *const labels[PROMPT_COUNT] = {
		[PROMPT_NONE] = "",
		[PROMPT_VALUE] = "",
		[PROMPT_PARAM] = "",
		[PROMPT_PREDICT] = N_("your answer"),
		[PROMPT_FLAGS] = N_("flags"),
		[PROMPT_FIND] = N_("find"),
		[PROMPT_WRITE] = N_("write to"),
		[PROMPT_SAVE] = N_("save as"),
		[PROMPT_OPEN] = N_("open"),
		[PROMPT_IMPORT] = N_("import"),
	};
	if (a->prompt.kind == PROMPT_PARAM)
		return labs_param(a)->key;
	return a->prompt.kind == PROMPT_VALUE ? knob_at(a->focus)->key : ui_text(labels[a->prompt.kind]);
}

/* The first byte to show of a text so that its cursor has at most `room` columns before it; *columns: how many those are. */
static size_t scrolled(const struct prompt *p, int room, int *columns)
{
	const char *end = p->text, *start = p->text;
	*columns = 0;
	while (end < p->text + p->cursor)
		*columns += glyph_width(glyph_decode(&end));
	while (*columns > room)
		*columns -= glyph_width(glyph_decode(&start));
	return (size_t)(start - p->text);
}

enum { PROMPT_X = 16, NOTE_W = 33, MESSAGE_ROWS = 2 };

/* Where the text of the prompt begins. */
static int prompt_column(const struct app *a)
{
	return (int)num_max(PROMPT_X, canvas_text_width(prompt_label(a)) + 3);
}

/* Where its note stands: behind the text, at a fixed column when it can; -1 when it has no room there. */
static int note_column(const struct app *a, int w)
{
	const struct prompt *p = &a->prompt;
	const int note_w = canvas_text_width(p->note), behind = prompt_column(a) + canvas_text_width(p->text) + 3;
	if (behind + note_w > w)
		return -1;
	return w - NOTE_W > behind && note_w <= NOTE_W ? w - NOTE_W : behind;
}

static uint8_t note_role(const struct prompt *p)
{
	return p->good || p->kind == PROMPT_FIND ? ROLE_TEXT : ROLE_ALERT;
}

static bool has_long_note(const struct view *v)
{
	return v->a->prompt.kind != PROMPT_NONE && note_column(v->a, v->l.area[AREA_PREVIEW].w) < 0;
}

/* "seq           = 12k                 12,288: 60.0 GiB, FITS". A note without room here stands in the message row. */
static void draw_prompt(const struct view *v)
{
	static const char signs[PROMPT_COUNT] = "\0===:/>>>>";
	const struct prompt *p = &v->a->prompt;
	const struct rect r = v->l.area[AREA_PREVIEW];
	const int text_x = prompt_column(v->a), room = r.w - text_x - 1, note_x = note_column(v->a, r.w);
	int cursor = 0;
	(void)canvas_text(v->c, 0, r.y, text_x - 3, ROLE_HEAD, prompt_label(v->a));
	(void)canvas_printf(v->c, text_x - 2, r.y, 2, ROLE_ACCENT, "%c", signs[p->kind]);
	const size_t start = scrolled(p, room, &cursor);
	(void)canvas_clip(v->c, text_x, r.y, room, ROLE_TEXT, p->text + start);
	if (note_x >= 0)
		(void)canvas_text(v->c, note_x, r.y, r.w - note_x, note_role(p), p->note);
	canvas_cursor(v->c, text_x + cursor, r.y, true);
}

/* A text that is read once may take the row below as well, over what stands there. */
static void draw_answer(const struct view *v, uint8_t style, const char *text)
{
	struct rect r = v->l.area[AREA_MESSAGE];
	const int rows = canvas_wrap(v->c, (struct rect){ 0, 0, r.w, 0 }, 0, style, text);
	for (r.h = 0; r.h < rows && r.h < MESSAGE_ROWS; r.h++)
		(void)canvas_printf(v->c, r.x, r.y + r.h, r.w, ROLE_TEXT, "%*s", r.w, "");
	(void)canvas_wrap(v->c, r, 0, style, text);
}

/* A sentence that stays, in one row: what is too long ends behind a clause. All of it stands among the notes. */
static void draw_gist(const struct view *v, struct rect r, const char *text)
{
	size_t end = strlen(text);
	for (size_t i = 0; canvas_text_width(text) > r.w && i + 1 < (size_t)r.w; i++) {
		if (strchr(",;:", text[i]) != NULL && text[i + 1] == ' ')
			end = i;
	}
	(void)canvas_printf(v->c, r.x, r.y, r.w, ROLE_ALERT, end < strlen(text) ? "%.*s~" : "%.*s", (int)end, text);
}

/* The note of a prompt or the answer to the last key; else the way out, the difference to the pin, the gravest diagnostic unless
 * it is a mere note. */
static void draw_message(const struct view *v)
{
	const struct rect r = v->l.area[AREA_MESSAGE];
	const struct prompt *p = &v->a->prompt;
	const struct diagnostic *gravest = view_gravest(&v->a->plan);
	if (has_long_note(v))
		draw_answer(v, note_role(p), p->note);
	else if (message_advice(v, r))
		return;
	else if (v->a->message[0] != '\0')
		draw_answer(v, ROLE_TEXT, v->a->message);
	else if (!message_pin(v, r) && gravest != NULL)
		draw_gist(v, r, gravest->text);
}

void view_message(const struct view *v, bool answers_only)
{
	if (!answers_only || v->a->message[0] != '\0' || has_long_note(v))
		draw_message(v);
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

bool view_footer_item(const struct view *v, enum context context, enum ui_action action, int *x, int end, int y)
{
	char key[24], pair[24], keys[64];
	const char *label = input_label(context, action);
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

static bool takes_names(const struct knob *k)
{
	return k->type == KNOB_FLAG || k->type == KNOB_ENUM || k->type == KNOB_PRESET;
}

/* Behind the keys of a prompt: what Enter would take, or what can be typed. */
static void draw_prompt_hint(const struct view *v, int x, int w)
{
	const struct prompt *p = &v->a->prompt;
	const int y = v->l.area[AREA_FOOTER].y;
	char text[128], brief[64], legal[256];
	if (!p->good && p->take[0] != '\0') {
		(void)snprintf(text, sizeof(text), _("Enter takes %s, the nearest that is legal"), p->take);
		(void)snprintf(brief, sizeof(brief), _("Enter takes %s"), p->take);
		(void)canvas_text(v->c, x, y, w, ROLE_TEXT, canvas_fitting(w, text, brief));
	} else if (p->kind == PROMPT_VALUE && takes_names(app_knob(v->a))) {
		(void)canvas_text(v->c, x, y, w, ROLE_DIM,
			canvas_fitting(w, _("Tab completes a name; Esc, then Enter lists them"), _("Tab completes a name")));
	} else if (p->kind == PROMPT_FLAGS) {
		(void)canvas_text(v->c, x, y, w, ROLE_DIM,
			canvas_fitting(w, _("Tab completes; 8k, 70B, 1.5e12, 80GB"), _("Tab completes")));
	} else if (p->kind == PROMPT_VALUE) {
		(void)canvas_text(
			v->c, x, y, w, ROLE_DIM, canvas_fitting(w, "8k, 8192, 70B, 1.5e12, 80GB, 64GiB", "8k, 70B, 64GiB"));
	} else if (p->kind == PROMPT_PARAM) {
		(void)canvas_text(v->c, x, y, w, ROLE_DIM, lab_param_legal(labs_param(v->a), legal, sizeof(legal)));
	}
}

/* What the focus is on, how to leave: those two are never cut. */
void view_footer(const struct view *v)
{
	const enum context context = app_context(v->a);
	const bool prompt = context == CONTEXT_PROMPT, top = v->a->view == VIEW_MAIN;
	const enum ui_action leave = top ? UI_QUIT : UI_BACK;
	const int w = v->l.area[AREA_FOOTER].w, y = v->l.area[AREA_FOOTER].y;
	char key[24];
	first_key(context, leave, key, sizeof(key));
	const int leave_w = prompt ? 0 : canvas_text_width(key) + 1 + canvas_text_width(_(ui_action_table[leave].label)) + 2;
	int x = 0;
	if (!prompt)
		(void)view_footer_item(v, context, UI_HELP, &x, w - leave_w, y);
	for (const enum ui_action *action = input_footer(context); *action != UI_NONE; action++) {
		if (!view_footer_item(v, context, *action, &x, w - leave_w, y))
			break;
	}
	if (!prompt)
		(void)view_footer_item(v, context, leave, &x, w, y);
	else
		draw_prompt_hint(v, x + 1, w - x - 1);
}
