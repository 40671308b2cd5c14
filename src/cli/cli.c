/* gmtime_r */
#define _POSIX_C_SOURCE 200809L

#include "config.h"

#include "cli.h"

#include "i18n.h"
#include "lab.h"
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND_ROW(ID, name, takes, synopsis, help) { #name, synopsis, help, COMMAND_##ID, cmd_##name },
const struct command command_table[] = { COMMAND_TABLE(COMMAND_ROW){ NULL, NULL, NULL, 0, NULL } };

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

void cli_json_begin(struct sink *out)
{
	sink_printf(out, "{ \"meshplan\": \"" PACKAGE_VERSION "\", \"schema\": %d,", MESHPLAN_SCHEMA);
}

void cli_today(char date[CLI_DATE_CAP])
{
	time_t now = time(NULL);
	struct tm day;

	if (gmtime_r(&now, &day) == NULL || strftime(date, CLI_DATE_CAP, "%Y-%m-%d", &day) == 0)
		date[0] = '\0';
}
