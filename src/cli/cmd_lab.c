/* meshplan lab: a simulation with real numbers, its steps, what it proved. The words behind the name are a SCENARIO: its cluster
 * gives the links, its model the real sizes. */
#include "config.h"

#include "cli.h"

#include "i18n.h"
#include "lab.h"
#include "lab_report.h"
#include "request.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const char *lab_name(const void *ctx, size_t i)
{
	(void)ctx;
	return lab_table[i]->id;
}

/* Names of all labs. */
static char *list_labs(char *buf, size_t cap)
{
	buf[0] = '\0';
	for (size_t i = 0; lab_table[i] != NULL; i++)
		text_join(buf, cap, ", ", lab_table[i]->id);
	return buf;
}

static enum err_code find_lab(const struct args *a, const struct lab **lab, struct err *e)
{
	char names[200], near[100];
	size_t n = 0;

	while (lab_table[n] != NULL)
		n++;
	*lab = lab_find(a->words[0]);
	if (*lab == NULL)
		return err_set(e, ERR_UNKNOWN, "", _("there is no lab \"%.40s\"; nearest: %s; all: %s"), a->words[0],
			catalog_nearest(a->words[0], n, lab_name, NULL, near, sizeof near), list_labs(names, sizeof names));
	return ERR_OK;
}

/* Without a name: what there is. */
static int show_labs(struct cli *cli)
{
	bool json = args_option(&cli->args, OPTION_JSON) != NULL;

	if (json)
		sink_puts(cli->out, "{ \"labs\": [");
	else
		sink_printf(cli->out, "%s\n", _("meshplan lab NAME [SCENARIO], where NAME is one of:"));
	for (size_t i = 0; lab_table[i] != NULL; i++) {
		if (json)
			sink_printf(cli->out, "%s\n  \"%s\"", i > 0 ? "," : "", lab_table[i]->id);
		else
			sink_printf(cli->out, "  %-11s %s\n", lab_table[i]->id, _(lab_table[i]->help));
	}
	if (json)
		sink_puts(cli->out, "\n] }\n");
	return EXIT_YES;
}

/* "gpus, batch, ..." of a lab. */
static char *list_params(const struct lab *lab, char *buf, size_t cap)
{
	buf[0] = '\0';
	for (size_t i = 0; i < lab->n_params; i++)
		text_join(buf, cap, ", ", lab->params[i].key);
	return buf;
}

/* A setting of the scenario that this lab looks at. */
static bool is_seen(const struct lab *lab, const struct knob *k)
{
	return k != NULL && (lab->uses_layout || (k->group != KNOB_GROUP_LAYOUT && k->group != KNOB_GROUP_COST));
}

/* A flag that some lab has, but not this one, may still be a setting of the scenario. */
static enum err_code settle_flags(struct args *a, const struct lab *lab, struct err *e)
{
	char names[300];

	for (size_t i = 0; i < a->n; i++) {
		struct arg *x = &a->arg[i];
		const char *key;

		if (x->option != NULL)
			continue;
		key = x->param != NULL ? x->param->key : x->knob->key;
		x->param = x->param != NULL ? lab_param_find(lab, key) : NULL;
		x->knob = x->param == NULL ? knob_find(key) : NULL;
		if (x->param == NULL && !is_seen(lab, x->knob))
			return err_set(e, ERR_USAGE, "", _("lab %s has no --%s; it takes: %s"), lab->id, key,
				list_params(lab, names, sizeof names));
	}
	return ERR_OK;
}

static enum err_code read_params(const struct args *a, struct lab_input *in, struct err *e)
{
	enum err_code code = ERR_OK;

	for (size_t i = 0; i < a->n && code == ERR_OK; i++)
		if (a->arg[i].param != NULL)
			code = lab_input_set(in, a->arg[i].param, a->arg[i].value, e);
	return code;
}

static const char *translated(const char *text)
{
	return gettext(text);
}

static const char *translated_count(const char *one, const char *many, unsigned long n)
{
	return ngettext(one, many, n);
}

/* JSON is for programs: English everywhere. */
static const struct lab_words *words_for(const struct args *a)
{
	static const struct lab_words words = { translated, translated_count };

	return args_option(a, OPTION_JSON) == NULL ? &words : NULL;
}

static void print(struct cli *cli, const struct lab_run *run, const struct lab_report_options *o)
{
	if (args_option(&cli->args, OPTION_JSON) == NULL) {
		lab_report_text(run, o, cli->out);
		return;
	}
	cli_json_begin(cli->out);
	lab_report_json(run, o, cli->out);
	sink_puts(cli->out, "}\n");
}

static int report(struct cli *cli, const struct lab_run *run)
{
	struct lab_report_options o = { .steps = args_option(&cli->args, OPTION_STEPS) != NULL };
	const char *prediction = args_option(&cli->args, OPTION_PREDICT);
	struct err e;

	o.predicted = prediction != NULL;
	if (o.predicted && lab_answer_parse(run, prediction, &o.prediction, &e) != ERR_OK)
		return cli_fail(&e);
	print(cli, run, &o);
	return lab_proven(run) ? EXIT_YES : EXIT_INTERNAL;
}

int cmd_lab(struct cli *cli)
{
	const struct lab *lab = NULL;
	struct draft d;
	struct plan p;
	struct lab_input in;
	struct lab_size size;
	struct lab_run run;
	struct err e = { .code = ERR_OK };
	void *workspace;
	int status;

	if (cli->args.n_words == 0)
		return show_labs(cli);
	if (find_lab(&cli->args, &lab, &e) != ERR_OK || settle_flags(&cli->args, lab, &e) != ERR_OK ||
		request_plan(cli, 1, true, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	lab_input_init(&in, lab, &d.s);
	in.words = words_for(&cli->args);
	if (read_params(&cli->args, &in, &e) != ERR_OK || lab_workspace_size(&in, &size, &e) != ERR_OK)
		return cli_fail(&e);
	workspace = malloc((size_t)size.bytes);
	if (workspace == NULL)
		return cli_fail_usage(
			"", _("lab %s: there are no %.3g MiB of memory for these sizes"), lab->id, (double)size.bytes / 1048576);
	status = lab_run(&in, workspace, size.bytes, &run, &e) == ERR_OK ? report(cli, &run) : cli_fail(&e);
	free(workspace);
	return status;
}
