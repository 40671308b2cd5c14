/* --help, generated from the command, option and knob tables: it lists only what works. */
#ifndef MESHPLAN_HELP_H
#define MESHPLAN_HELP_H

#include "args.h"
#include "sink.h"

/* meshplan --help: the subcommands and the exit codes. */
void help_all(struct sink *out);
/* meshplan COMMAND --help: its options and knobs. */
void help_command(const struct command *cmd, struct sink *out);
enum { HELP_COLS = 79 };
/* Writes text in lines from column `indent` to HELP_COLS, broken between words, with a line break at the end; `at` is the column
 * now. */
void help_wrapped(const char *text, int64_t at, int64_t indent, struct sink *out);
/* What a knob takes: "N", "SIZE", "on|off", "none, selective, full". Returns buf. */
char *help_knob_value(const struct knob *k, char *buf, size_t cap);

#endif
