/* meshplan ui: the terminal UI, on a terminal or driven by a script. */
#include "config.h"

#include "cli.h"

#include "i18n.h"
#include "loop.h"
#include "request.h"
#include "theme.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_W = 80, DEFAULT_H = 24, SIZE_MAX_CELLS = 1000 };

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
	char names[120];
	size_t len = (size_t)snprintf(names, sizeof names, "auto");

	if (theme == NULL || known_theme(theme))
		return EXIT_YES;
	for (size_t i = 0; theme_names[i] != NULL && len < sizeof names; i++)
		len += (size_t)snprintf(names + len, sizeof names - len, ", %s", theme_names[i]);
	return cli_fail_usage("theme", _("there is no theme \"%.40s\"; there are: %s"), theme, names);
}

int cmd_ui(struct cli *cli)
{
	const struct args *a = &cli->args;
	const char *no_color = getenv("NO_COLOR"), *size = args_option(a, OPTION_SIZE), *theme = args_option(a, OPTION_THEME);
	struct ui_options o = { .script = args_option(a, OPTION_SCRIPT),
		.dump = args_option(a, OPTION_DUMP_SCREEN),
		.w = DEFAULT_W,
		.h = DEFAULT_H };
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };

	if (size != NULL && !read_size(size, &o.w, &o.h))
		return cli_fail_usage("size", _("\"%.40s\": wanted is WIDTHxHEIGHT, such as 80x24, each at most %d"), size,
			(int)SIZE_MAX_CELLS);
	if (o.script == NULL && (size != NULL || o.dump != NULL || args_option(a, OPTION_STYLE) != NULL))
		return cli_fail_usage("script", _("--size, --dump-screen and --style need --script FILE"));
	if (check_theme(theme) != EXIT_YES)
		return EXIT_USAGE;
	if (o.script == NULL && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return cli_fail_usage("",
			_("the UI needs a terminal; meshplan fit 70B on 8xA100 prints an answer, meshplan --help lists the "
			  "rest"));
	if (request_plan(cli, 0, true, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	o.catalog = cli->catalog;
	o.draft = &d;
	o.theme = theme != NULL && strcmp(theme, "auto") == 0 ? NULL : theme;
	o.no_color = args_option(a, OPTION_NO_COLOR) != NULL || (no_color != NULL && *no_color != '\0');
	o.ascii = args_option(a, OPTION_ASCII) != NULL ? 1 : args_option(a, OPTION_UTF8) != NULL ? 0 : -1;
	if (o.script != NULL && o.dump == NULL)
		o.dump = "-";
	o.style = args_option(a, OPTION_STYLE) != NULL;
	return ui_run(&o);
}
