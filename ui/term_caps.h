/* The strings of a terminal, read from terminfo once curses has opened it. Only term.c includes this. */
#ifndef MESHPLAN_TERM_CAPS_H
#define MESHPLAN_TERM_CAPS_H

#include "paint.h"

/* Colours of the terminal; 0: none. */
int term_caps_colors(void);
/* Fills what does not depend on the theme. */
void term_caps_read(struct paint_caps *caps);
/* Fills looks and colour strings for a theme. */
void term_caps_theme(struct paint_caps *caps, enum theme theme);
/* Appends a string of the terminal without its padding to buf of `cap` bytes, of which *len are used. */
void term_caps_append(const char *name, char *buf, size_t cap, size_t *len);

#endif
