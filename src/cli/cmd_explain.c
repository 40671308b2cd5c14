/* meshplan explain: the formula behind a number of the plan document, the numbers put in, the source. */
#include "cli.h"

#include "explain.h"
#include "i18n.h"
#include "request.h"

#include <string.h>

struct listing {
	struct sink *out;
	bool json, first;
};

/* Paths that a text lists for one stage or rank, and settings not at all. */
static bool is_repeated(const char *path)
{
	const char *index = strchr(path, '[');

	return strncmp(path, "scenario.", 9) == 0 || (index != NULL && strncmp(index, "[0]", 3) != 0);
}

static void list_path(void *ctx, const char *path)
{
	struct listing *l = ctx;

	if (!l->json) {
		if (!is_repeated(path))
			sink_printf(l->out, "  %s\n", path);
		return;
	}
	sink_puts(l->out, l->first ? "\n  " : ",\n  ");
	sink_json_string(l->out, path);
	l->first = false;
}

/* Without a quantity: what can be explained. */
static void list_paths(struct cli *cli, const struct plan *p, bool json)
{
	struct listing l = { .out = cli->out, .json = json, .first = true };

	if (json)
		sink_puts(cli->out, "{ \"quantities\": [");
	else
		sink_printf(cli->out, "%s\n", _("meshplan explain QUANTITY [SCENARIO], where QUANTITY is one of:"));
	explain_paths(p, list_path, &l);
	if (json)
		sink_puts(cli->out, "\n] }\n");
	else
		sink_printf(cli->out, "%s\n",
			_("or another number in brackets, or a setting, or the last part of a name: activations, mfu, tp"));
}

static void write_explanation(struct cli *cli, const struct draft *d, const struct explanation *x, bool json)
{
	if (json)
		explain_json(x, cli->out);
	else
		explain_text(d, x, cli->out);
}

/* x may be NULL: without a quantity. */
static void write_comparison(struct cli *cli, const struct draft *d, const struct plan *p, const struct explanation *x, bool json)
{
	if (json)
		explain_compare_json(d, p, x, cli->out);
	else
		explain_compare_text(d, p, x, cli->out);
}

int cmd_explain(struct cli *cli)
{
	const struct args *args = &cli->args;
	bool json = args_option(args, OPTION_JSON) != NULL, compare = args_option(args, OPTION_COMPARE) != NULL;
	/* Beside other calculators the quantity is not needed, so a word may be the model. */
	bool quantity = args->n_words > 0 && (!compare || explain_is_path(args->words[0]));
	struct draft d;
	struct plan p;
	struct explanation x;
	struct err e = { .code = ERR_OK };

	if (request_plan(cli, quantity ? 1 : 0, true, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	if (quantity && explain_quantity(&d, &p, args->words[0], &x, &e) != ERR_OK)
		return cli_fail(&e);
	if (compare)
		write_comparison(cli, &d, &p, quantity ? &x : NULL, json);
	else if (quantity)
		write_explanation(cli, &d, &x, json);
	else
		list_paths(cli, &p, json);
	return EXIT_YES;
}
