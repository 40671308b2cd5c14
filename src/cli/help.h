/* --help, generated from the command, option and knob tables: it lists only what works. */
#ifndef MESHPLAN_HELP_H
#define MESHPLAN_HELP_H

#include "args.h"
#include "sink.h"

/* meshplan --help: the subcommands and the exit codes. */
void help_all(struct sink *out);
/* meshplan COMMAND --help: its options and knobs. */
void help_command(const struct command *cmd, struct sink *out);
/* What a knob takes: "N", "SIZE", "on|off", "none, selective, full". Returns buf. */
char *help_knob_value(const struct knob *k, char *buf, size_t cap);

#endif
