/* Line mode, for screen readers and terminals that cannot move their cursor: one line in, a few lines out, the commands of the
 * screen. A line is the name of a key ("h", "Left", "m", "?"), or settings as on the command line ("tp 4 seq 16k"), or empty to
 * hear the state again. What a view shows is printed once, without what surrounds it. */
#ifndef MESHPLAN_PLAIN_H
#define MESHPLAN_PLAIN_H

#include "loop.h"

/* Reads lines from stdin until q or its end. Returns the exit code: 0; 2 for a scenario that cannot be shown; 3 without memory.
 */
int ui_plain(const struct ui_options *o);

#endif
