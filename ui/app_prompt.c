#include "app_internal.h"

#include "glyphs.h"
#include "labs.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

/* How a typed text was read: "12,288: 60.0 GiB, fits". */
static void note_result(struct prompt *p, const char *value, const struct plan *plan)
{
	char need[32];
	(void)snprintf(p->note, sizeof(p->note), "%s%s%s, %s", value, value[0] != '\0' ? ": " : "",
		units_format_gib(plan->worst.need_bytes, need, sizeof(need)), _(verdict_word(&plan->verdict)));
}

/* Applies a typed value to a copy. */
static bool try_value(const struct app *a, struct draft *next, struct knob_moves *moves, struct prompt *p)
{
	const struct knob *k = app_knob(a);
	struct plan plan;
	struct err e = { 0 };
	char value[64];
	if (draft_type(next, a->catalog, k, p->text, moves, &e) != ERR_OK || plan_evaluate(&next->s, &plan, &e) != ERR_OK) {
		(void)snprintf(p->note, sizeof(p->note), "%s", e.msg);
		return false;
	}
	(void)knob_format_pretty(k, &next->s, value, sizeof(value));
	note_result(p, value, &plan);
	return true;
}

/* Takes the next word, separated by blanks or '='. False at the end. */
static bool next_word(const char **text, char *word, size_t cap)
{
	*text += strspn(*text, " =");
	const size_t len = strcspn(*text, " =");
	(void)snprintf(word, cap, "%.*s", (int)len, *text);
	*text += len;
	return len > 0;
}

/* A word that names no setting is a value, as on the command line: "llama3-8b", "70B", and of "8xH100" the 8; then the text goes
 * on at the GPU. NULL: it is none. */
static const struct knob *setting_of(const struct app *a, const char *word, char *value, size_t cap, const char **text)
{
	const struct model *m;
	const struct gpu *g;
	const size_t digits = strspn(word, "0123456789"), number = strspn(word, "0123456789.,_");
	(void)snprintf(value, cap, "%s", word);
	if (digits > 0 && strlen(word + number) == 1 && strchr("MBTmbt", word[number]) != NULL)
		return knob_find("params");
	if (catalog_model(a->catalog, word, &m, NULL) == ERR_OK)
		return knob_find("model");
	if (catalog_gpu(a->catalog, word, &g, NULL) == ERR_OK)
		return knob_find("gpu");
	if (digits > 0 && word[digits] == 'x' && catalog_gpu(a->catalog, word + digits + 1, &g, NULL) == ERR_OK) {
		(void)snprintf(value, cap, "%.*s", (int)digits, word);
		*text -= strlen(word) - digits - 1;
		return knob_find("gpus");
	}
	return NULL;
}

/* Takes the next setting and its value. NULL at the end, and with a note where there is none. */
static const struct knob *next_setting(const struct app *a, const char **text, char *value, size_t cap, struct prompt *p)
{
	char word[64], near[128];
	const struct knob *k;
	p->note[0] = '\0';
	do {
		if (!next_word(text, word, sizeof(word)))
			return NULL;
	} while (strcmp(word, "on") == 0);
	k = knob_find(word + strspn(word, "-"));
	if (k == NULL) {
		k = setting_of(a, word, value, cap, text);
		if (k == NULL)
			(void)snprintf(p->note, sizeof(p->note), _("No setting \"%s\". Nearest: %s."), word,
				knob_nearest(word, near, sizeof(near)));
		return k;
	}
	if (next_word(text, value, cap))
		return k;
	(void)snprintf(p->note, sizeof(p->note), _("%s wants a value: %s"), k->key, ui_text(k->help));
	return NULL;
}

/* What several changes moved: a setting from where it stood before the first to where the last one left it. */
static void add_moves(struct knob_moves *all, const struct knob_moves *more)
{
	for (size_t i = 0; i < more->n; i++) {
		size_t at = 0;
		while (at < all->n && all->moved[at].knob != more->moved[i].knob)
			at++;
		if (at < all->n)
			(void)snprintf(all->moved[at].to, sizeof(all->moved[at].to), "%s", more->moved[i].to);
		else if (at < KNOB_MOVED_MAX)
			all->moved[all->n++] = more->moved[i];
	}
}

/* Applies every flag of "tp 4 seq 16k" (or "--tp 4") to a copy. stepwise: one after the other, moving other settings as a slider
 * does; else all at once, so that their order does not matter. */
static bool apply_flags(const struct app *a, struct draft *next, struct knob_moves *moves, struct prompt *p, bool stepwise)
{
	const struct knob *k;
	char value[64];
	const char *at = p->text;
	struct err e = { 0 };
	while ((k = next_setting(a, &at, value, sizeof(value), p)) != NULL) {
		struct knob_moves one = { 0 };
		const enum err_code code = stepwise ? draft_type(next, a->catalog, k, value, &one, &e)
						    : draft_set(next, a->catalog, k, value, ORIGIN_FLAG, &e);
		if (code != ERR_OK) {
			(void)snprintf(p->note, sizeof(p->note), "%s", e.msg);
			return false;
		}
		add_moves(moves, &one);
	}
	if (p->note[0] != '\0')
		return false;
	draft_settle(next, a->catalog);
	return true;
}

static bool try_flags(const struct app *a, struct draft *next, struct knob_moves *moves, struct prompt *p)
{
	struct plan plan;
	struct err e = { 0 };
	if (!apply_flags(a, next, moves, p, false))
		return false;
	if (plan_evaluate(&next->s, &plan, &e) != ERR_OK) {
		*next = a->draft;
		if (!apply_flags(a, next, moves, p, true))
			return false;
		if (plan_evaluate(&next->s, &plan, &e) != ERR_OK) {
			(void)snprintf(p->note, sizeof(p->note), "%s", e.msg);
			return false;
		}
	}
	note_result(p, "", &plan);
	return true;
}

/* The legal value nearest to a number that is refused. */
static void nearest_legal(const struct app *a, struct prompt *p)
{
	const struct knob *k = app_knob(a);
	struct knob_stop stops[LIST_STOPS_MAX];
	int64_t value = 0, best = -1;
	size_t at = 0;
	struct err e;
	p->take[0] = '\0';
	if (k->type == KNOB_PRESET || k->type == KNOB_STAGES || k->type == KNOB_ENUM ||
		knob_parse_value(k, p->text, &value, &e) != ERR_OK)
		return;
	const size_t n = knob_stops(k, a->catalog, &a->draft, stops, LIST_STOPS_MAX, &at);
	for (size_t i = 0; i < n; i++) {
		const int64_t distance = stops[i].value > value ? stops[i].value - value : value - stops[i].value;
		if (!stops[i].legal || (best >= 0 && distance >= best))
			continue;
		best = distance;
		(void)knob_format_value(k, stops[i].value, false, p->take, sizeof(p->take));
	}
}

/* Reads the text as it stands: what it means, and what it would do. */
static bool prompt_try(const struct app *a, struct draft *next, struct knob_moves *moves, struct prompt *p)
{
	*next = a->draft;
	*moves = (struct knob_moves){ 0 };
	p->note[0] = p->take[0] = '\0';
	if (p->len == 0)
		return false;
	return p->kind == PROMPT_FLAGS ? try_flags(a, next, moves, p) : try_value(a, next, moves, p);
}

static const char *const file_notes[PROMPT_COUNT] = {
	[PROMPT_WRITE] = N_("a file: .md Markdown, .json JSON, else text"),
	[PROMPT_SAVE] = N_("a name, or a path with a slash"),
	[PROMPT_OPEN] = N_("a name, or a path with a slash"),
	[PROMPT_IMPORT] = N_("path of a config.json"),
};

static bool is_of_labs(const struct prompt *p)
{
	return p->kind == PROMPT_PARAM || p->kind == PROMPT_PREDICT;
}

void prompt_read(struct app *a)
{
	struct prompt *p = &a->prompt;
	struct draft next;
	struct knob_moves moves;
	if (is_of_labs(p)) {
		labs_read_prompt(a, p);
		return;
	}
	if (p->kind == PROMPT_VALUE || p->kind == PROMPT_FLAGS) {
		p->good = prompt_try(a, &next, &moves, p);
		if (!p->good && p->kind == PROMPT_VALUE)
			nearest_legal(a, p);
		return;
	}
	p->note[0] = '\0';
	if (p->kind == PROMPT_FIND) {
		view_kinds[a->view]->search->read(a, p);
		return;
	}
	p->good = p->len > 0;
	(void)snprintf(p->note, sizeof(p->note), "%s", _(file_notes[p->kind]));
}

void prompt_open(struct app *a, enum prompt_kind kind, const char *text)
{
	const struct knob *k = app_knob(a);
	if (kind == PROMPT_VALUE && (k->flags & KNOB_F_DERIVED)) {
		app_say(a, _("%s is derived: it follows from gpus, tp, pp and cp."), k->key);
		return;
	}
	a->prompt = (struct prompt){ .kind = kind };
	(void)snprintf(a->prompt.text, sizeof(a->prompt.text), "%s", text);
	a->prompt.len = a->prompt.cursor = strlen(a->prompt.text);
	if (kind == PROMPT_FIND && view_kinds[a->view]->search->begin != NULL)
		view_kinds[a->view]->search->begin(a);
	prompt_read(a);
}

/* Bytes of the character that begins at `at`, or ends before it. */
static size_t bytes_at(const struct prompt *p, size_t at)
{
	const char *text = p->text + at;
	(void)glyph_decode(&text);
	return (size_t)(text - (p->text + at));
}

static size_t bytes_before(const struct prompt *p, size_t at)
{
	size_t n = 1;
	while (n < at && ((unsigned char)p->text[at - n] & 0xc0U) == 0x80U)
		n++;
	return n;
}

static void erase_at(struct prompt *p, size_t at)
{
	const size_t n = bytes_at(p, at);
	memmove(p->text + at, p->text + at + n, p->len - at - n + 1);
	p->len -= n;
}

static void insert(struct prompt *p, uint32_t code)
{
	char bytes[5];
	const size_t n = (size_t)glyph_encode(code, bytes);
	if (p->len + n >= sizeof(p->text))
		return;
	memmove(p->text + p->cursor + n, p->text + p->cursor, p->len - p->cursor + 1);
	memcpy(p->text + p->cursor, bytes, n);
	p->cursor += n;
	p->len += n;
}

static void prompt_cancel(struct app *a)
{
	if (a->prompt.kind == PROMPT_FIND)
		view_kinds[a->view]->search->cancel(a);
	a->prompt.kind = PROMPT_NONE;
}

/* Hands a file name to whoever may touch files. */
static unsigned accept_file(struct app *a)
{
	static const enum effect_kind effects[PROMPT_COUNT] = {
		[PROMPT_WRITE] = EFFECT_WRITE,
		[PROMPT_SAVE] = EFFECT_SAVE,
		[PROMPT_OPEN] = EFFECT_OPEN,
		[PROMPT_IMPORT] = EFFECT_IMPORT,
	};
	a->effect.kind = effects[a->prompt.kind];
	(void)snprintf(a->effect.path, sizeof(a->effect.path), "%s", a->prompt.text);
	a->prompt.kind = PROMPT_NONE;
	return APP_EFFECT;
}

/* A refused number becomes the nearest legal one; a text that cannot be used leaves the prompt open, its note says why. */
static void accept_value(struct app *a)
{
	struct prompt *p = &a->prompt;
	struct draft next;
	struct knob_moves moves;
	struct err e = { 0 };
	p->good = prompt_try(a, &next, &moves, p);
	if (!p->good && p->kind == PROMPT_VALUE) {
		nearest_legal(a, p);
		if (p->take[0] != '\0') {
			(void)snprintf(p->text, sizeof(p->text), "%s", p->take);
			p->len = p->cursor = strlen(p->text);
			p->good = prompt_try(a, &next, &moves, p);
		}
	}
	if (!p->good)
		return;
	const bool value = p->kind == PROMPT_VALUE;
	p->kind = PROMPT_NONE;
	if (change_adopt(a, &next, &moves, &e) != ERR_OK)
		app_say(a, "%s", e.msg);
	else if (value)
		change_remember(a);
}

static unsigned prompt_accept(struct app *a)
{
	struct prompt *p = &a->prompt;
	if (p->kind == PROMPT_FIND && view_kinds[a->view]->search->again != NULL && p->len > 0)
		(void)snprintf(a->found, sizeof(a->found), "%.31s", p->text);
	if (p->kind == PROMPT_FIND || p->len == 0)
		p->kind = PROMPT_NONE;
	else if (p->kind == PROMPT_VALUE || p->kind == PROMPT_FLAGS)
		accept_value(a);
	else if (is_of_labs(p))
		labs_accept_prompt(a);
	else
		return accept_file(a);
	return 0;
}

/* Editing keys. Returns whether the text may have changed. */
static bool prompt_edit(struct prompt *p, enum ui_action action)
{
	if (action == UI_CLEAR) {
		p->text[0] = '\0';
		p->len = p->cursor = 0;
	} else if (action == UI_ERASE && p->cursor > 0) {
		p->cursor -= bytes_before(p, p->cursor);
		erase_at(p, p->cursor);
	} else if (action == UI_ERASE_NEXT && p->cursor < p->len) {
		erase_at(p, p->cursor);
	} else if (action == UI_CURSOR_LEFT && p->cursor > 0) {
		p->cursor -= bytes_before(p, p->cursor);
	} else if (action == UI_CURSOR_RIGHT && p->cursor < p->len) {
		p->cursor += bytes_at(p, p->cursor);
	} else if (action == UI_CURSOR_START) {
		p->cursor = 0;
	} else if (action == UI_CURSOR_END) {
		p->cursor = p->len;
	}
	return action == UI_CLEAR || action == UI_ERASE || action == UI_ERASE_NEXT;
}

unsigned prompt_update(struct app *a, uint32_t key)
{
	const enum ui_action action = input_lookup(CONTEXT_PROMPT, key);
	if (action == UI_CANCEL) {
		prompt_cancel(a);
	} else if (action == UI_ACCEPT) {
		return prompt_accept(a);
	} else if (action == UI_COMPLETE) {
		prompt_complete(a);
	} else if (action != UI_NONE) {
		if (prompt_edit(&a->prompt, action))
			prompt_read(a);
	} else if (key >= ' ' && key <= 0x10ffff && (key < 0xd800 || key >= 0xe000) && glyph_width(key) > 0) {
		insert(&a->prompt, key);
		prompt_read(a);
	}
	return 0;
}
