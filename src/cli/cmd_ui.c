/* meshplan ui: the terminal UI, on a terminal or driven by a script. */
#include "config.h"

#include "cli.h"

#include "browser.h"
#include "file.h"
#include "i18n.h"
#include "loop.h"
#include "presets.h"
#include "request.h"
#include "text.h"
#include "theme.h"
#include "ui_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_W = 80, DEFAULT_H = 24, SIZE_MAX_CELLS = 1000, DIR_CAP = 512 };

/* "80x24" */
static bool read_size(const char *text, int *w, int *h)
{
	char *end;
	long a, b;

	errno = 0;
	a = strtol(text, &end, 10);
	if (end == text || *end != 'x')
		return false;
	text = end + 1;
	b = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || a < 1 || b < 1 || a > SIZE_MAX_CELLS || b > SIZE_MAX_CELLS)
		return false;
	*w = (int)a;
	*h = (int)b;
	return true;
}

static bool known_theme(const char *name)
{
	if (strcmp(name, "auto") == 0)
		return true;
	for (size_t i = 0; theme_names[i] != NULL; i++)
		if (strcmp(theme_names[i], name) == 0)
			return true;
	return false;
}

static int check_theme(const char *theme)
{
	char names[120] = "auto";

	if (theme == NULL || known_theme(theme))
		return EXIT_YES;
	for (size_t i = 0; theme_names[i] != NULL; i++)
		text_join(names, sizeof names, ", ", theme_names[i]);
	return cli_fail_usage("theme", _("there is no theme \"%.40s\"; there are: %s"), theme, names);
}

static const char *preset_text(void *ctx, enum browser_kind kind, const char *id, size_t *len, const char **from)
{
	static const enum preset_kind kinds[] = {
		[BROWSER_MODELS] = PRESET_KIND_MODEL,
		[BROWSER_GPUS] = PRESET_KIND_GPU,
		[BROWSER_NODES] = PRESET_KIND_NODE,
		[BROWSER_FRAMEWORKS] = PRESET_KIND_PROFILE,
	};

	return (size_t)kind < sizeof kinds / sizeof kinds[0] ? preset_store_text(ctx, kinds[kind], id, len, from) : NULL;
}

/* What was kept from the last run; a flag wins. Scripts run the same everywhere, so they do not read it. */
static enum err_code use_config(const struct args *a, struct ui_options *o, struct ui_config *c, struct err *e)
{
	char path[DIR_CAP + 16];
	enum err_code code;

	*c = ui_config_default;
	if (o->config_dir == NULL || o->script != NULL)
		return ERR_OK;
	(void)snprintf(path, sizeof path, "%s/config.json", o->config_dir);
	code = ui_config_read(path, c, e);
	if (code == ERR_OK && !known_theme(c->theme))
		code = err_set(
			e, ERR_FILE, path, _("/theme: there is no theme \"%.24s\"; meshplan ui --help lists them"), c->theme);
	if (code != ERR_OK)
		return code;
	if (o->theme == NULL && strcmp(c->theme, "auto") != 0)
		o->theme = c->theme;
	if (o->ascii < 0)
		o->ascii = c->glyphs;
	o->big = o->big || (c->big && args_option(a, OPTION_PLAIN) == NULL);
	return ERR_OK;
}

/* What the flags say, before anything is computed. Returns an exit code. */
static int read_options(const struct args *a, struct ui_options *o)
{
	const char *no_color = getenv("NO_COLOR"), *size = args_option(a, OPTION_SIZE), *theme = args_option(a, OPTION_THEME);

	o->script = args_option(a, OPTION_SCRIPT);
	o->dump = args_option(a, OPTION_DUMP_SCREEN);
	o->style = args_option(a, OPTION_STYLE) != NULL;
	o->plain = args_option(a, OPTION_PLAIN) != NULL;
	o->big = args_option(a, OPTION_BIG) != NULL;
	o->theme = theme != NULL && strcmp(theme, "auto") == 0 ? NULL : theme;
	o->no_color = args_option(a, OPTION_NO_COLOR) != NULL || (no_color != NULL && *no_color != '\0');
	o->ascii = args_option(a, OPTION_ASCII) != NULL ? 1 : args_option(a, OPTION_UTF8) != NULL ? 0 : -1;
	if (size != NULL && !read_size(size, &o->w, &o->h))
		return cli_fail_usage("size", _("\"%.40s\": wanted is WIDTHxHEIGHT, such as 80x24, each at most %d"), size,
			(int)SIZE_MAX_CELLS);
	if (o->script == NULL && (size != NULL || o->dump != NULL || o->style))
		return cli_fail_usage("script", _("--size, --dump-screen and --style need --script FILE"));
	if (o->script != NULL && o->plain)
		return cli_fail_usage("plain", _("--plain reads lines, --script a file: take one of them"));
	return check_theme(theme);
}

int cmd_ui(struct cli *cli)
{
	const struct preset_texts texts = { cli->presets, preset_text };
	const char *home = getenv("HOME");
	char config[DIR_CAP], data[DIR_CAP];
	struct ui_options o = {
		.catalog = cli->catalog, .texts = &texts, .w = DEFAULT_W, .h = DEFAULT_H, .version = PACKAGE_VERSION
	};
	struct ui_config kept;
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };
	int status = read_options(&cli->args, &o);

	if (status != EXIT_YES)
		return status;
	if (o.script == NULL && !o.plain && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return cli_fail_usage("",
			_("the UI needs a terminal; meshplan fit 70B on 8xA100 prints an answer, meshplan ui --plain takes "
			  "lines, "
			  "meshplan --help lists the rest"));
	o.config_dir = file_own_path(getenv("XDG_CONFIG_HOME"), home, ".config", "", config, sizeof config);
	o.data_dir = file_own_path(getenv("XDG_DATA_HOME"), home, ".local/share", "", data, sizeof data);
	if (use_config(&cli->args, &o, &kept, &e) != ERR_OK || request_plan(cli, 0, true, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	o.draft = &d;
	if (o.script != NULL && o.dump == NULL)
		o.dump = "-";
	return ui_run(&o);
}
