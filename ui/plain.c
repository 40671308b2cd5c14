#include "plain.h"

#include "app.h"
#include "effect.h"
#include "ui_text.h"
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_W = 100, PLAIN_H = 70, LINE_CAP = 512, TEXT_CAP = PLAIN_W * PLAIN_H * 4 + PLAIN_H + 2 };

/* The screen as lines, without the rows that surround a view and without blank lines in a row. */
static void print_view(const struct app *a, struct canvas *c, char *text)
{
	struct sink out;
	int row = 0;
	bool gap = true;
	view_frame(a, c);
	sink_init(&out, text, TEXT_CAP, NULL, NULL);
	canvas_dump(c, &out);
	for (char *line = text; *line != '\0'; row++) {
		const size_t n = strcspn(line, "\n");
		size_t len = n;
		while (len > 0 && line[len - 1] == ' ')
			len--;
		if (row >= 2 && row < a->h - 2 && (len > 0 || !gap)) {
			(void)printf("%.*s\n", (int)len, line);
			gap = len == 0;
		}
		line += n + (line[n] == '\n' ? 1 : 0);
	}
}

/* The answer to the last line, then "tp 8. FITS: 27.4 GiB to spare on stage 0". */
static void print_state(const struct app *a)
{
	const struct advice_row *best = advice_best(&a->advice);
	char value[64], verdict[160];
	(void)knob_format_pretty(app_knob(a), &a->draft.s, value, sizeof(value));
	if (a->message[0] != '\0')
		(void)printf("%s\n", a->message);
	if (a->prompt.kind != PROMPT_NONE)
		(void)printf("%s %s\n", a->prompt.text, a->prompt.note);
	(void)printf("%s %s. %s: %s\n", app_knob(a)->key, value, _(verdict_word(&a->plan.verdict)),
		verdict_text(&a->plan.verdict, verdict, sizeof(verdict)));
	if (!a->plan.verdict.fits && best != NULL)
		(void)printf(_("Way out: %s %s. a lists all.\n"), best->what, best->to);
}

static unsigned press(struct app *a, const struct effect_env *env, uint32_t key)
{
	const struct event ev = { .kind = EVENT_KEY, .key = key };
	const unsigned dirty = app_update(a, &ev);
	if (dirty & APP_EFFECT)
		effect_run(a, env);
	return dirty;
}

static unsigned type(struct app *a, const struct effect_env *env, const char *text)
{
	unsigned dirty = 0;
	for (uint32_t code = glyph_decode(&text); code != 0; code = glyph_decode(&text))
		dirty |= press(a, env, code);
	return dirty;
}

/* One line: text for an open prompt, the name of a key, or settings. */
static unsigned obey(struct app *a, const struct effect_env *env, const char *line)
{
	const uint32_t key = input_key_parse(line);
	if (a->prompt.kind != PROMPT_NONE)
		return type(a, env, line) | press(a, env, INPUT_ENTER);
	if (key != 0)
		return press(a, env, key);
	if (line[0] == '\0')
		return 0;
	const unsigned dirty = line[0] == ':' || line[0] == '/' ? type(a, env, line) : press(a, env, ':') | type(a, env, line);
	return dirty | press(a, env, INPUT_ENTER);
}

static int converse(struct app *a, const struct effect_env *env, struct canvas *c, char *text)
{
	char line[LINE_CAP];
	(void)printf("%s\n",
		_("meshplan, line mode. A line is a key of the screen, or settings such as: tp 4 seq 16k. ? lists the keys, q "
		  "ends."));
	print_state(a);
	for (;;) {
		const enum view_id before = a->view;
		(void)printf("> ");
		(void)fflush(stdout);
		if (fgets(line, sizeof(line), stdin) == NULL)
			break;
		line[strcspn(line, "\r\n")] = '\0';
		if (obey(a, env, line) & APP_QUIT)
			return 0;
		while (app_busy(a))
			(void)app_work(a);
		if (a->view != VIEW_MAIN && (a->view != before || line[0] != '\0'))
			print_view(a, c, text);
		print_state(a);
	}
	(void)printf("\n");
	return ferror(stdin) ? 2 : 0;
}

int ui_plain(const struct ui_options *o)
{
	const struct effect_env env = { o->config_dir, o->data_dir, o->version };
	struct canvas canvas = { .ascii = true };
	struct err e = { 0 };
	struct app *app = malloc(sizeof(*app));
	char *text = malloc(TEXT_CAP);
	int code = 3;
	if (app != NULL && text != NULL && canvas_resize(&canvas, PLAIN_W, PLAIN_H)) {
		code = 2;
		if (app_init(app, o->catalog, o->draft, PLAIN_W, PLAIN_H, &e) == ERR_OK) {
			app->texts = o->texts;
			app->ascii = true;
			code = converse(app, &env, &canvas, text);
			app_close(app);
		} else {
			(void)fprintf(stderr, "meshplan: %s\n", e.msg);
		}
	}
	canvas_free(&canvas);
	free(text);
	free(app);
	return code;
}
