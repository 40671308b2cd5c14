#include "script.h"

#include "app.h"
#include "effect.h"
#include "sink.h"
#include "ui_text.h"
#include "view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_CAP = 1024, DUMP_BUFFER = 8192 };

/* A script that runs. */
struct script {
	struct app *app;
	struct effect_env env;
	struct canvas canvas;
	FILE *out;
	bool style, dumped, quit;
	const char *theme; /* NULL: none was named */
	const char *file;
	int line;
};

static bool write_out(void *ctx, const char *text, size_t len)
{
	return fwrite(text, 1, len, ctx) == len;
}

static int complain(const struct script *s, const char *what, const char *value)
{
	(void)fprintf(stderr, _("meshplan: %s:%d: %s \"%s\"; legal: key NAME, text WORDS, resize WxH, dump NAME, # comment\n"),
		s->file, s->line, what, value);
	return 2;
}

static void press(struct script *s, uint32_t key)
{
	const struct event ev = { .kind = EVENT_KEY, .key = key };
	const unsigned dirty = app_update(s->app, &ev);
	if (dirty & APP_EFFECT)
		effect_run(s->app, &s->env);
	if (dirty & APP_QUIT)
		s->quit = true;
}

static int do_key(struct script *s, const char *name)
{
	const uint32_t key = input_key_parse(name);
	if (key == 0)
		return complain(s, _("no key"), name);
	press(s, key);
	return 0;
}

static int do_text(struct script *s, const char *text)
{
	for (uint32_t code = glyph_decode(&text); code != 0; code = glyph_decode(&text))
		press(s, code);
	return 0;
}

/* "80x24", both 1 .. CANVAS_SIDE_MAX. */
static bool parse_size(const char *text, int *w, int *h)
{
	char *end = NULL;
	const long width = strtol(text, &end, 10);
	if (end == text || *end != 'x')
		return false;
	const char *rest = end + 1;
	const long height = strtol(rest, &end, 10);
	if (end == rest || *end != '\0' || width < 1 || height < 1 || width > CANVAS_SIDE_MAX || height > CANVAS_SIDE_MAX)
		return false;
	*w = (int)width;
	*h = (int)height;
	return true;
}

static int do_resize(struct script *s, const char *size)
{
	struct event ev = { .kind = EVENT_RESIZE };
	if (!parse_size(size, &ev.w, &ev.h))
		return complain(s, _("no size"), size);
	(void)app_update(s->app, &ev);
	return 0;
}

static int do_dump(struct script *s, const char *name)
{
	char buffer[DUMP_BUFFER];
	struct sink out;
	struct app *a = s->app;
	while (app_busy(a))
		(void)app_work(a);
	if ((s->canvas.w != a->w || s->canvas.h != a->h) && !canvas_resize(&s->canvas, a->w, a->h))
		return 3;
	view_frame(a, &s->canvas);
	sink_init(&out, buffer, sizeof(buffer), write_out, s->out);
	sink_printf(&out, "== %s %dx%d\n", name, a->w, a->h);
	canvas_dump(&s->canvas, &out);
	if (s->style && s->theme != NULL) {
		sink_printf(&out, "== %s %dx%d %s\n", name, a->w, a->h, s->theme);
		canvas_dump_looks(&s->canvas, theme_choose(256, s->theme, NULL), &out);
	} else if (s->style) {
		sink_printf(&out, "== %s %dx%d style\n", name, a->w, a->h);
		canvas_dump_styles(&s->canvas, &out);
	}
	s->dumped = true;
	return sink_finish(&out) ? 0 : 3;
}

static const struct {
	const char *word;
	int (*run)(struct script *s, const char *rest);
} statements[] = { { "key", do_key }, { "text", do_text }, { "resize", do_resize }, { "dump", do_dump } };

static int run_line(struct script *s, char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return 0;
	const size_t len = strcspn(line, " \t");
	const char *rest = line[len] == '\0' ? line + len : line + len + 1;
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (strlen(statements[i].word) == len && strncmp(line, statements[i].word, len) == 0)
			return statements[i].run(s, rest);
	}
	line[len] = '\0';
	return complain(s, _("no statement"), line);
}

/* Runs the lines of a file; what comes after quitting can only be dumps. */
static int run_lines(struct script *s, FILE *in)
{
	char line[LINE_CAP];
	int code = 0;
	while (code == 0 && fgets(line, sizeof(line), in) != NULL) {
		s->line++;
		if (strchr(line, '\n') == NULL && !feof(in))
			code = complain(s, _("too long a line"), "...");
		else if (!s->quit)
			code = run_line(s, line);
	}
	if (code == 0 && ferror(in)) {
		(void)fprintf(stderr, _("meshplan: %s cannot be read\n"), s->file);
		code = 2;
	}
	return code == 0 && !s->dumped ? do_dump(s, "end") : code;
}

static FILE *open_or_complain(const char *name, const char *mode, FILE *standard)
{
	FILE *file = strcmp(name, "-") == 0 ? standard : fopen(name, mode);
	if (file == NULL)
		(void)fprintf(stderr, "meshplan: %s: %s\n", name, strerror(errno));
	return file;
}

static int run_script(const struct ui_options *o, struct app *app, FILE *in, FILE *out)
{
	struct script s = { .app = app, .out = out, .style = o->style, .theme = o->theme, .file = o->script };
	struct err e = { 0 };
	int code = 2;
	s.canvas.ascii = o->ascii > 0;
	s.env = (struct effect_env){ o->config_dir, o->data_dir, o->version };
	if (app_init(app, o->catalog, o->draft, o->w, o->h, &e) == ERR_OK) {
		app->texts = o->texts;
		app->big = o->big;
		app->ascii = o->ascii > 0;
		code = run_lines(&s, in);
		app_close(app);
	} else {
		(void)fprintf(stderr, "meshplan: %s\n", e.msg);
	}
	canvas_free(&s.canvas);
	return code;
}

int ui_script(const struct ui_options *o)
{
	const char *dump = o->dump != NULL ? o->dump : "-";
	FILE *in = open_or_complain(o->script, "r", stdin), *out = NULL;
	struct app *app = malloc(sizeof(*app));
	int code = app == NULL ? 3 : 2;
	if (in != NULL && app != NULL)
		out = open_or_complain(dump, "w", stdout);
	if (out != NULL)
		code = run_script(o, app, in, out);
	if (in != NULL && in != stdin)
		(void)fclose(in);
	/* The program's end has the word on standard output. */
	if (out != NULL && out != stdout) {
		const bool written = fflush(out) == 0 && !ferror(out);
		if ((fclose(out) != 0 || !written) && code == 0)
			code = 3;
		if (code == 3)
			(void)fprintf(stderr, _("meshplan: %s cannot be written\n"), dump);
	}
	free(app);
	return code;
}
