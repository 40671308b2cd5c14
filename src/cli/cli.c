#include "config.h"

#include "cli.h"

#include "i18n.h"
#include "lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct command command_table[] = {
	{ "ui", "[SCENARIO]", N_("the terminal UI: sliders, memory bars, pipeline, verdict"), COMMAND_UI, cmd_ui },
	{ "fit", "SCENARIO", N_("does it fit? the verdict in one screen, and what would help"), COMMAND_FIT, cmd_fit },
	{ "plan", "[SCENARIO]", N_("the training plan: layout, memory, communication, speed, cost"), COMMAND_PLAN, cmd_plan },
	{ "cost", "[SCENARIO]", N_("what the run costs: days, GPU hours, dollars, energy"), COMMAND_COST, cmd_cost },
	{ "pipeline", "[SCENARIO]", N_("what each rank does when: diagram, bubble, in-flight activations"), COMMAND_PIPELINE, cmd_pipeline },
	{ "lab", "[NAME] [SCENARIO]", N_("a simulation with real numbers on virtual GPUs, step by step, with proof"), COMMAND_LAB, cmd_lab },
	{ "explain", "[QUANTITY] [SCENARIO]", N_("the formula behind a number, with the numbers put in"), COMMAND_EXPLAIN, cmd_explain },
	{ "presets", "[models|gpus|nodes|frameworks|...|show ID|import FILE]", N_("what is built in, with its sources"), COMMAND_PRESETS, cmd_presets },
	{ "calibrate", "SCENARIO", N_("learn from measured steps: presets of your own cluster"), COMMAND_CALIBRATE, cmd_calibrate },
	{ "validate", "", N_("predictions beside published measurements, with the errors"), COMMAND_VALIDATE, cmd_validate },
	{ NULL, NULL, NULL, 0, NULL },
};
/* clang-format on */

/* Whether a message is about a flag, and not about a file. */
static bool is_flag(const char *where)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strcmp(option_table[i].key, where) == 0)
			return true;
	for (size_t i = 0; lab_table[i] != NULL; i++)
		if (lab_param_find(lab_table[i], where) != NULL)
			return true;
	return knob_find(where) != NULL;
}

int cli_fail(const struct err *e)
{
	if (e->where[0] == '\0')
		fprintf(stderr, "meshplan: %s\n", e->msg);
	else
		fprintf(stderr, "meshplan: %s%s: %s\n", e->code != ERR_FILE && is_flag(e->where) ? "--" : "", e->where, e->msg);
	return e->code == ERR_INTERNAL ? EXIT_INTERNAL : EXIT_USAGE;
}

int cli_fail_usage(const char *where, const char *fmt, ...)
{
	struct err e;
	char msg[ERR_MSG_CAP];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	(void)err_set(&e, ERR_USAGE, where, "%s", msg);
	return cli_fail(&e);
}

void *cli_alloc(size_t bytes)
{
	void *p = calloc(1, bytes > 0 ? bytes : 1);

	if (p == NULL) {
		fprintf(stderr, "meshplan: %s\n", _("out of memory"));
		exit(EXIT_INTERNAL);
	}
	return p;
}
