/* meshplan validate: predictions beside published measurements, with the errors. */
#include "config.h"

#include "cli.h"

#include "i18n.h"
#include "runs_csv.h"
#include "validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Error figures come from constants that did not see the rows: the set fitted on a third. */
static const char default_set[] = "third";

static bool has_source(const struct runs *runs, const char *source)
{
	for (size_t i = 0; i < runs->n; i++)
		if (strcmp(runs->cases[i].source, source) == 0)
			return true;
	return false;
}

static void report(struct cli *cli, const struct runs *runs, const struct coefficients *set)
{
	struct validate_row *rows = cli_alloc(runs->n * sizeof *rows);
	double *scratch = cli_alloc(runs->n * sizeof *scratch);
	struct validate_report r = { .rows = rows,
		.n = runs->n,
		.scratch = scratch,
		.set_id = set->id,
		.set_label = set->label,
		.source = args_option(&cli->args, OPTION_SOURCE) };

	for (size_t i = 0; i < runs->n; i++)
		validate_run(&runs->cases[i], &rows[i]);
	if (args_option(&cli->args, OPTION_JSON) != NULL)
		validate_json(&r, PACKAGE_VERSION, cli->out);
	else if (args_option(&cli->args, OPTION_MARKDOWN) != NULL)
		validate_markdown(&r, cli->out);
	else
		validate_text(&r, cli->out);
	free(rows);
	free(scratch);
}

int cmd_validate(struct cli *cli)
{
	const char *file = args_option(&cli->args, OPTION_FILE), *source = args_option(&cli->args, OPTION_SOURCE);
	const char *name = args_option(&cli->args, OPTION_COEFFICIENTS);
	const struct coefficients *set = NULL;
	struct runs runs = { 0 };
	struct err e = { .code = ERR_OK };
	enum err_code code = catalog_find_coefficients(cli->catalog, name != NULL ? name : default_set, &set, &e);
	int status = EXIT_YES;

	if (cli->args.n_words > 0)
		return cli_fail_usage("", _("validate takes no scenario: \"%.60s\""), cli->args.words[0]);
	if (code == ERR_OK)
		code = file != NULL ? runs_read(file, cli->catalog, set, &runs, &e) : runs_shipped(cli->catalog, set, &runs, &e);
	if (code == ERR_OK && source != NULL && !has_source(&runs, source))
		code = err_set(&e, ERR_UNKNOWN, "source", _("no row has the source \"%.60s\""), source);
	if (code != ERR_OK)
		status = cli_fail(&e);
	else
		report(cli, &runs, set);
	runs_free(&runs);
	return status;
}
