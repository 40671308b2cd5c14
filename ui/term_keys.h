/* The keys of the terminal as curses decodes them, and as events. Only term.c includes this. */
#ifndef MESHPLAN_TERM_KEYS_H
#define MESHPLAN_TERM_KEYS_H

#include "input.h"

/* Teaches curses the sequences that terminals send although their terminfo entry names others. */
void term_keys_define(void);
/* The next pending key, or a change of the size that curses has seen (without the size). False when there is none. */
bool term_keys_next(struct event *ev);

#endif
