/* The command line as data: which subcommand takes which options, and argv split into flags and words. A flag is a row of the
 * option table or a row of the knob table; nothing else is accepted, and a typo gets the nearest names. */
#ifndef MESHPLAN_ARGS_H
#define MESHPLAN_ARGS_H

#include "commands.h"
#include "err.h"
#include "knobs.h"
#include "words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_id {
	OPTION_LOAD,
	OPTION_PRESETS,
	OPTION_JSON,
	OPTION_MARKDOWN,
	OPTION_COMPARE,
	OPTION_MICROBATCHES,
	OPTION_TIMES,
	OPTION_COMM,
	OPTION_OVERLAP_TIME,
	OPTION_STAGE_TIMES,
	OPTION_ORDER_TIMES,
	OPTION_IMPORT,
	OPTION_CSV,
	OPTION_TRACE,
	OPTION_SVG,
	OPTION_STEPS,
	OPTION_WIDTH,
	OPTION_PREDICT,
	OPTION_STEP,
	OPTION_MEMORY,
	OPTION_NCCL,
	OPTION_MATMUL,
	OPTION_NAME,
	OPTION_FILE,
	OPTION_COEFFICIENTS,
	OPTION_SOURCE,
	OPTION_ASCII,
	OPTION_UTF8,
	OPTION_THEME,
	OPTION_BIG,
	OPTION_PLAIN,
	OPTION_SCRIPT,
	OPTION_SIZE,
	OPTION_DUMP_SCREEN,
	OPTION_STYLE,
	OPTION_NO_COLOR,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_COUNT
};

struct option {
	const char *key;
	const char *value; /* what it takes, for help; NULL: nothing */
	const char *help;  /* N_() */
	uint32_t commands; /* enum command_bit */
	bool repeats;
};
extern const struct option option_table[OPTION_COUNT];

struct cli;
struct lab_param;

/* One subcommand. */
struct command {
	const char *name, *synopsis, *help; /* N_() */
	uint32_t bit;                       /* enum command_bit */
	int (*run)(struct cli *);           /* returns the exit code */
};
/* All subcommands, in the order of the help; the last row has name NULL. */
extern const struct command command_table[];

/* One flag of argv: exactly one of option, knob and param is set. Words of the SCENARIO become such rows too. */
struct arg {
	const struct option *option;
	const struct knob *knob;
	const struct lab_param *param; /* of any lab that has this key: `lab` looks up its own */
	const char *text;              /* as typed, for messages: "--tp", or the word */
	const char *value;             /* NULL when the option takes none */
};

enum { ARG_MAX = 192, WORD_MAX = 32 };

struct args {
	size_t n, n_words;
	struct arg arg[ARG_MAX];
	const char *words[WORD_MAX];
	struct words said; /* by the words of the SCENARIO: the rows made of them point into it */
};

/* Splits argv (without program and subcommand). Values are not read yet. Errors name the flag; a flag given twice is an error
 * that names both. The strings belong to argv. */
enum err_code args_scan(const struct command *cmd, int argc, char **argv, struct args *a, struct err *e) NODISCARD;
/* Adds one more knob, as if it had been a flag. */
enum err_code args_add(struct args *a, const struct knob *k, const char *text, const char *value, struct err *e) NODISCARD;
/* The value of an option, NULL if it is not given; "" if it takes none. */
const char *args_option(const struct args *a, enum option_id id);
/* The row of a knob that was given, or NULL. */
const struct arg *args_knob(const struct args *a, const char *key);

const struct command *command_find(const char *name);
char *command_nearest(const char *name, char *buf, size_t cap);

#endif
