/* meshplan: argv in, exit code out. Everything that a subcommand needs is made here; each subcommand is a file cmd_*.c. */
#include "config.h"

#include "cli.h"

#include "git_id.h"
#include "help.h"
#include "i18n.h"
#include "presets.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_stdout(void *ctx, const char *text, size_t len)
{
	int *reason = ctx;
	bool ok;

	errno = 0;
	ok = fwrite(text, 1, len, stdout) == len;
	if (!ok && *reason == 0)
		*reason = errno;
	return ok;
}

/* A reader that went away ("| head") is no error worth a message. */
static int finish(struct sink *out, const int *write_error, int status)
{
	bool ok = sink_finish(out);

	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout) || fclose(stdout) != 0 || !ok) {
		int reason = *write_error != 0 ? *write_error : errno;

		if (reason != EPIPE)
			fprintf(stderr, "meshplan: %s%s%s\n", _("cannot write standard output"), reason != 0 ? ": " : "",
				reason != 0 ? strerror(reason) : "");
		return EXIT_INTERNAL;
	}
	return status;
}

/* Built in, then the user's own, then those of --presets: a later one replaces an earlier one of the same id. */
static enum err_code load_presets(struct cli *cli, struct err *e)
{
	enum err_code code = preset_store_new(&cli->presets, e);

	if (code == ERR_OK)
		code = preset_store_add_user(cli->presets, getenv("XDG_CONFIG_HOME"), getenv("HOME"), e);
	for (size_t i = 0; i < cli->args.n && code == ERR_OK; i++)
		if (cli->args.arg[i].option == &option_table[OPTION_PRESETS])
			code = preset_store_add_dir(cli->presets, cli->args.arg[i].value, e);
	return code;
}

static int run_command(struct cli *cli, int argc, char **argv)
{
	struct err e = { .code = ERR_OK };
	int status;

	if (args_scan(cli->command, argc, argv, &cli->args, &e) != ERR_OK)
		return cli_fail(&e);
	if (args_option(&cli->args, OPTION_HELP) != NULL) {
		help_command(cli->command, cli->out);
		return EXIT_YES;
	}
	if (args_option(&cli->args, OPTION_VERSION) != NULL) {
		sink_puts(cli->out, GIT_ID[0] != '\0' ? PACKAGE_STRING " (git " GIT_ID ")\n" : PACKAGE_STRING "\n");
		return EXIT_YES;
	}
	if (load_presets(cli, &e) != ERR_OK) {
		preset_store_free(cli->presets);
		return cli_fail(&e);
	}
	cli->catalog = preset_store_catalog(cli->presets);
	cli->ascii = args_option(&cli->args, OPTION_UTF8) == NULL &&
		(args_option(&cli->args, OPTION_ASCII) != NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
	status = cli->command->run(cli);
	preset_store_free(cli->presets);
	return status;
}

/* What others have a command for and we a view. */
static const char *view_key(const char *word)
{
	static const char *const views[][2] = { { "search", "f" }, { "layouts", "f" }, { "layout", "f" },
		{ "compare", "c, then d" }, { "diff", "c, then d" }, { "advice", "a" }, { "why", "e" } };

	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
		if (strcmp(word, views[i][0]) == 0)
			return views[i][1];
	return NULL;
}

/* Finds the subcommand: none, or a flag first, is the UI. */
static int dispatch(struct cli *cli, int argc, char **argv)
{
	char near[160];

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		help_all(cli->out);
		return EXIT_YES;
	}
	if (argc < 2 || argv[1][0] == '-') {
		cli->command = command_find("ui");
		return run_command(cli, argc - 1, argv + 1);
	}
	cli->command = command_find(argv[1]);
	/* "meshplan 70B on 8xA100": no command has a digit. */
	if (cli->command == NULL && strpbrk(argv[1], "0123456789") != NULL)
		return cli_fail_usage(
			"", _("there is no command \"%.60s\"; for a scenario: meshplan fit %.60s ..."), argv[1], argv[1]);
	if (cli->command == NULL && view_key(argv[1]) != NULL)
		return cli_fail_usage(
			"", _("there is no command \"%.60s\": it is a view of meshplan ui, key %s"), argv[1], view_key(argv[1]));
	if (cli->command == NULL)
		return cli_fail_usage("", _("there is no command \"%.60s\"; nearest: %s; all: meshplan --help"), argv[1],
			command_nearest(argv[1], near, sizeof near));
	return run_command(cli, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
	char buf[8192];
	struct sink out;
	struct cli cli = { .out = &out };
	int write_error = 0;

	/* A file that may not grow is a write error with a message, not a signal. */
	(void)signal(SIGXFSZ, SIG_IGN);
	/* Never LC_NUMERIC: numbers are written and read with a point, whatever the locale. */
	(void)setlocale(LC_CTYPE, "");
	(void)setlocale(LC_MESSAGES, "");
	(void)bindtextdomain(PACKAGE, LOCALEDIR);
	(void)textdomain(PACKAGE);
	sink_init(&out, buf, sizeof buf, write_stdout, &write_error);
	return finish(&out, &write_error, dispatch(&cli, argc, argv));
}
