/* Entry of the terminal user interface. */
#ifndef MESHPLAN_LOOP_H
#define MESHPLAN_LOOP_H

#include "catalog.h"
#include "knobs.h"

#include <stdbool.h>

struct preset_texts;

struct ui_options {
	const struct catalog *catalog;
	const struct preset_texts *texts; /* NULL: the browser shows no files */
	const struct draft *draft;        /* what to show first; must pass plan_evaluate */
	const char *theme;                /* a name of theme_names; NULL: by the terminal */
	bool no_color, big;
	int ascii;                         /* 1 ASCII, 0 UTF-8, -1 by the locale */
	const char *config_dir, *data_dir; /* where settings and scenarios are kept; NULL: nowhere */
	const char *version;
	bool plain; /* lines instead of a screen (plain.h) */
	/* Script mode (script.h), when `script` is given. */
	const char *script, *dump; /* files; "-" is standard input and output */
	int w, h;                  /* size of the screen */
	bool style;                /* the dump holds style maps too; of the looks of `theme`, if that is given */
};

/* Runs until the user quits; with `script` or `plain`, runs that instead. Needs a terminal on stdin and stdout and LC_CTYPE set.
 * Returns the exit code: 0; 2 with a message on stderr when there is no usable terminal; 3 when out of memory. When a signal
 * asked to stop, the terminal is restored and the signal raised again. */
int ui_run(const struct ui_options *o);

#endif
