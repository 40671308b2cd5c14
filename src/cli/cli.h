/* What every subcommand gets, and how it ends. */
#ifndef MESHPLAN_CLI_H
#define MESHPLAN_CLI_H

#include "args.h"
#include "catalog.h"
#include "err.h"
#include "sink.h"

#include <stdbool.h>

/* Exit codes, a promise to scripts. */
enum exit_code {
	EXIT_YES,      /* done; it fits */
	EXIT_NO,       /* fit, plan: it does not fit */
	EXIT_USAGE,    /* usage, or input that cannot be used */
	EXIT_INTERNAL, /* our own fault, or output that cannot be written */
	EXIT_CODE_COUNT
};
/* Meanings, for help and man page. */
extern const char *const exit_code_help[EXIT_CODE_COUNT]; /* N_() */

struct preset_store;

struct cli {
	const struct command *command;
	struct args args;
	struct preset_store *presets;
	const struct catalog *catalog; /* of presets */
	struct sink *out;              /* standard output */
	bool ascii;                    /* draw without UTF-8 */
};

/* Prints an error to standard error, with the flag or the place it names. Returns the exit code that fits it. */
int cli_fail(const struct err *e);
/* cli_fail of a message made here. */
int cli_fail_usage(const char *where, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Memory or a clean end with exit code 3: a planner that cannot get a few kilobytes has nothing to tell. */
void *cli_alloc(size_t bytes);
/* Begins the one JSON document of a command: an object with the version and the schema, up to the comma behind them. */
void cli_json_begin(struct sink *out);
/* The date of today in UTC, YYYY-MM-DD; "" where the clock is beyond a calendar. */
enum { CLI_DATE_CAP = 16 };
void cli_today(char date[CLI_DATE_CAP]);

#define COMMAND_PROTOTYPE(ID, name, ...) int cmd_##name(struct cli *cli);
COMMAND_TABLE(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

#endif
