/* Script mode: the user interface without a terminal, for tests, documents and lessons. A script has one event per line:
 *   key NAME        one key: x, Left, Ctrl-R, Enter ...
 *   text WORDS      every character of the rest of the line as a key
 *   resize WxH
 *   dump NAME       write the screen to the dump file
 *   # comment       blank lines too are left out
 * The dump holds frames, each after a line "== NAME WxH": h lines of w columns, blanks at the end kept; with style, a line
 * "== NAME WxH style" and the map of style roles follow. A script without a dump line dumps its last screen as "end". */
#ifndef MESHPLAN_SCRIPT_H
#define MESHPLAN_SCRIPT_H

#include "loop.h"

/* Runs o->script. Returns the exit code: 0; 2 with a message on stderr for a bad script or file; 3 when the dump cannot be
 * written. */
int ui_script(const struct ui_options *o);

#endif
