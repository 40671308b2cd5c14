#include "effect.h"

#include "file.h"
#include "model_file.h"
#include "report.h"
#include "scenario_file.h"
#include "search.h"
#include "ui_config.h"
#include "ui_text.h"
#include "view.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_NAME_CAP = 1024 };

static bool ends_in(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

static void complain(struct app *a, const struct err *e)
{
	if (e->where[0] != '\0')
		app_say(a, "%s: %s", e->where, e->msg);
	else
		app_say(a, "%s", e->msg);
}

/* Makes a directory and those above it. */
static void make_dirs(const char *path)
{
	char part[FILE_NAME_CAP];
	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)mkdir(part, 0777);
		*at = '/';
	}
	(void)mkdir(part, 0777);
}

/* A bare name is one of the saved scenarios; anything with a slash or an ending is a file. False, with a message, when there is
 * nowhere to keep them. */
static bool scenario_path(struct app *a, const struct effect_env *env, const char *name, char *path, size_t cap)
{
	int n;
	if (strchr(name, '/') != NULL || ends_in(name, ".json")) {
		n = snprintf(path, cap, "%s", name);
	} else if (env->data_dir == NULL) {
		app_say(a, "%s",
			_("There is no data directory: neither XDG_DATA_HOME nor HOME is set. Type a path with a slash."));
		return false;
	} else {
		n = snprintf(path, cap, "%s/scenarios/%s.json", env->data_dir, name);
	}
	if (n < 0 || (size_t)n >= cap) {
		app_say(a, "%s", _("The name is too long."));
		return false;
	}
	return true;
}

/* A path, or the name that was typed where a sentence with the path would need a second row. */
static const char *path_or_name(const struct app *a, const char *path)
{
	enum { SENTENCE_W = 30 };
	return strlen(path) + SENTENCE_W <= (size_t)a->w ? path : a->effect.path;
}

static void save(struct app *a, const struct effect_env *env)
{
	char path[FILE_NAME_CAP], dir[FILE_NAME_CAP];
	struct err e = { 0 };
	if (!scenario_path(a, env, a->effect.path, path, sizeof(path)))
		return;
	if (strchr(a->effect.path, '/') == NULL && env->data_dir != NULL) {
		(void)snprintf(dir, sizeof(dir), "%s/scenarios", env->data_dir);
		make_dirs(dir);
	}
	if (scenario_file_write(path, &a->draft, env->version, &e) != ERR_OK) {
		complain(a, &e);
		return;
	}
	(void)snprintf(a->name, sizeof(a->name), "%s", a->effect.path);
	a->changed = false;
	app_say(a, _("Saved %s. O opens it again."), path_or_name(a, path));
}

static void open_scenario(struct app *a, const struct effect_env *env)
{
	char path[FILE_NAME_CAP];
	struct draft d;
	struct err e = { 0 };
	if (!scenario_path(a, env, a->effect.path, path, sizeof(path)))
		return;
	draft_init_blank(&d, a->catalog);
	enum err_code code = scenario_file_read(path, a->catalog, &d, &e);
	if (code == ERR_OK) {
		draft_settle(&d, a->catalog);
		code = app_load(a, &d, a->effect.path, &e);
	}
	if (code != ERR_OK)
		complain(a, &e);
	else
		app_say(a, _("Opened %s. u goes back."), path_or_name(a, path));
}

/* The layout may not suit the new model: then it is chosen anew. */
static enum err_code adopt_model(struct app *a, const struct model *m, struct err *e)
{
	struct draft d = a->draft;
	struct plan p;
	d.s.model = *m;
	for (size_t i = 0; i < knob_count(); i++) {
		if (knob_at(i)->flags & KNOB_F_SHAPE)
			d.origin[i] = ORIGIN_PRESET;
	}
	draft_settle(&d, a->catalog);
	if (plan_evaluate(&d.s, &p, e) != ERR_OK) {
		for (size_t i = 0; i < knob_count(); i++) {
			if (knob_at(i)->flags & KNOB_F_AUTO)
				d.origin[i] = ORIGIN_AUTO;
		}
		const enum err_code code = search_choose(&d, a->catalog, &p, e);
		if (code != ERR_OK)
			return code;
	}
	return app_load(a, &d, "", e);
}

static void import_model(struct app *a, const struct effect_env *env)
{
	char note[MODEL_FILE_NOTE_CAP];
	struct model m = { .id = "" };
	struct err e = { 0 };
	(void)env;
	if (model_file_read(a->effect.path, &m, note, &e) != ERR_OK || adopt_model(a, &m, &e) != ERR_OK)
		complain(a, &e);
	else
		app_say(a, _("%s: %s. Cluster and layout are kept where they suit it; u goes back."), a->effect.path, note);
}

static void dump_view(const struct app *a, bool fenced, struct sink *out)
{
	struct canvas c = { .ascii = a->ascii };
	if (!canvas_resize(&c, a->w, a->h)) {
		out->failed = true;
		return;
	}
	view_frame(a, &c);
	sink_puts(out, fenced ? "```\n" : "");
	canvas_dump(&c, out);
	sink_puts(out, fenced ? "```\n" : "");
	canvas_free(&c);
}

/* A view on its way into a file. */
struct written_view {
	const struct app *a;
	const char *version, *path;
};

/* The name says the format: .json the plan document, .md Markdown, anything else the screen as text. */
static void print_view(const void *ctx, struct sink *out)
{
	const struct written_view *v = ctx;
	const struct app *a = v->a;
	if (ends_in(v->path, ".json"))
		report_plan_json(&a->draft, a->catalog, &a->plan, v->version, out);
	else if (ends_in(v->path, ".md") && a->view == VIEW_MAIN)
		report_plan_markdown(&a->draft, &a->plan, out);
	else
		dump_view(a, ends_in(v->path, ".md"), out);
}

/* Never over a file that is there, unless the name ends in "!". */
static void write_view(struct app *a, const struct effect_env *env)
{
	char path[APP_PATH_CAP];
	struct err e = { 0 };
	(void)snprintf(path, sizeof(path), "%s", a->effect.path);
	const size_t len = strlen(path);
	const bool replace = len > 1 && path[len - 1] == '!';
	if (replace)
		path[len - 1] = '\0';
	if (!replace && access(path, F_OK) == 0) {
		app_say(a, _("%s is there already: %s! replaces it."), path, path);
		return;
	}
	if (file_print(path, print_view, &(struct written_view){ a, env->version, path }, &e) != ERR_OK)
		complain(a, &e);
	else
		app_say(a, _("Wrote %s. Names ending in .md and .json give Markdown and JSON."), path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Names of the saved scenarios for the browser. */
static void list_scenarios(struct app *a, const struct effect_env *env)
{
	char path[FILE_NAME_CAP];
	struct browser *b = &a->browser;
	b->n_scenarios = 0;
	if (env->data_dir == NULL)
		return;
	(void)snprintf(path, sizeof(path), "%s/scenarios", env->data_dir);
	DIR *dir = opendir(path);
	for (struct dirent *entry = dir == NULL ? NULL : readdir(dir); entry != NULL && b->n_scenarios < BROWSER_SCENARIOS_MAX;
		entry = readdir(dir)) {
		const size_t len = strlen(entry->d_name);
		if (!ends_in(entry->d_name, ".json") || len - 5 >= BROWSER_NAME_CAP)
			continue;
		(void)snprintf(b->scenarios[b->n_scenarios++], BROWSER_NAME_CAP, "%.*s", (int)(len - 5), entry->d_name);
	}
	if (dir != NULL)
		(void)closedir(dir);
	qsort(b->scenarios, b->n_scenarios, sizeof(b->scenarios[0]), by_name);
	browser_filter(b, a->catalog);
}

static void keep_config(struct app *a, const struct effect_env *env)
{
	char path[FILE_NAME_CAP];
	struct ui_config c = { .glyphs = a->glyphs, .big = a->big };
	struct err e = { 0 };
	if (env->config_dir == NULL)
		return;
	make_dirs(env->config_dir);
	(void)snprintf(path, sizeof(path), "%s/config.json", env->config_dir);
	(void)snprintf(c.theme, sizeof(c.theme), "%s", a->theme_chosen ? theme_names[a->theme] : "auto");
	if (ui_config_write(path, &c, &e) != ERR_OK)
		complain(a, &e);
}

void effect_run(struct app *a, const struct effect_env *env)
{
	static void (*const effects[])(struct app * a, const struct effect_env *env) = {
		[EFFECT_WRITE] = write_view,
		[EFFECT_SAVE] = save,
		[EFFECT_OPEN] = open_scenario,
		[EFFECT_IMPORT] = import_model,
		[EFFECT_LIST] = list_scenarios,
		[EFFECT_CONFIG] = keep_config,
	};
	const enum effect_kind kind = a->effect.kind;
	a->effect.kind = EFFECT_NONE;
	if (kind != EFFECT_NONE)
		effects[kind](a, env);
}
