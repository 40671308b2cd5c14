/* The terminal: the only module that knows ncurses. It turns bytes and signals into events, and a canvas into the difference to
 * what is on the screen. Whatever way the program ends, term_close puts the terminal back as it was. */
#ifndef MESHPLAN_TERM_H
#define MESHPLAN_TERM_H

#include "canvas.h"
#include "input.h"

#include <stdio.h>

struct term_options {
	const char *type;  /* terminfo name; NULL: TERM */
	FILE *out, *in;    /* NULL: stdout, stdin */
	const char *theme; /* name; NULL or "auto": to choose */
	bool no_color;     /* NO_COLOR counts as well */
	int ascii;         /* 1 ASCII glyphs, 0 UTF-8, -1 what the locale can show */
	bool signals;      /* catch signals; false in tests */
};

/* Takes over the terminal. ERR_USAGE with a message and a hint when there is none that can be used. */
enum err_code term_open(const struct term_options *o, struct err *e) NODISCARD;
/* Gives it back; harmless when it is not open. */
void term_close(void);
/* Size of the screen in cells, and which glyphs it can show. */
void term_size(int *w, int *h);
bool term_ascii(void);
/* Colours that may be used: 0 without any, or where NO_COLOR is set. */
int term_colors(void);
enum theme term_theme(void);
/* Other colours from the next frame on. */
void term_set_theme(enum theme theme);
/* Waits for the next event, at most timeout_ms (-1: for ever), after which it is EVENT_TICK. EVENT_END when the input is at its
 * end, the terminal is gone, or a signal asks to stop. */
struct event term_read(int timeout_ms);
/* The signal that asked to stop, 0 if none. */
int term_signal(void);
/* Whether input or a signal waits. */
bool term_waiting(void);
/* Shows a canvas. Only what changed is sent. */
void term_present(const struct canvas *c);
/* Shows some rectangles of a canvas; the rest of the screen, and the cursor, wait for term_present. */
void term_present_parts(const struct canvas *c, const struct rect *parts, size_t n);
/* The next term_present sends every cell. */
void term_repaint(void);
/* Restores the shell's screen, stops the process, and takes over again when it continues. */
void term_suspend(void);

#endif
