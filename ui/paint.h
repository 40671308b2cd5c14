/* The difference between a canvas and what the terminal shows, as bytes. Knows the terminal only by its capability strings. Why
 * not through curses: between two colours it names foreground and background anew, and it resets all attributes on the way to
 * plain text; measured on the same steps at 80x24 that is 10 to 20 % more bytes, and the budget of a step (tests/t_ui_term.c) has
 * no room for them. */
#ifndef MESHPLAN_PAINT_H
#define MESHPLAN_PAINT_H

#include "canvas.h"

#include <stdbool.h>
#include <stddef.h>

enum { PAINT_CAP_MAX = 32 };

/* Strings of the terminal, without padding; "" for what it cannot do. */
struct paint_caps {
	char reset[PAINT_CAP_MAX], bold[PAINT_CAP_MAX], reverse[PAINT_CAP_MAX], underline[PAINT_CAP_MAX];
	char foreground_off[PAINT_CAP_MAX], background_off[PAINT_CAP_MAX]; /* one without the other */
	char clear[PAINT_CAP_MAX], clear_line[PAINT_CAP_MAX];              /* clear_line: to its end */
	char hide_cursor[PAINT_CAP_MAX], show_cursor[PAINT_CAP_MAX];
	struct look look[ROLE_COUNT]; /* of the theme */
	char foreground[ROLE_COUNT][PAINT_CAP_MAX], background[ROLE_COUNT][PAINT_CAP_MAX];
	bool letters_bold; /* STYLE_BOLD shows */
	bool ascii;        /* nothing but 7 bits */
	bool last_cell;    /* the cell in the lower right corner can be written without scrolling */
	/* Writes the shortest string that moves the cursor from (from_x, from_y), from_x < 0 where that is not known, to (x, y).
	 * Returns its length, at most cap. */
	size_t (*move)(char *buf, size_t cap, int from_x, int from_y, int x, int y);
	void (*write)(const char *bytes, size_t n);
};

struct painter {
	const struct paint_caps *caps;
	struct cell *shown; /* what the terminal shows; owned */
	int w, h;
	bool known; /* false: the next rectangle clears the screen first */
	int x, y;   /* the cursor; x < 0: not known */
	bool cursor_shown;
	struct look pen; /* what is in force */
	char buf[4096];
	size_t len, pen_end; /* pen_end: where a string for the pen ended last, 0: none */
};

/* Starts (*p zeroed before first use) for a screen of w x h cells of which nothing is known. False when there is no memory. */
bool paint_start(struct painter *p, const struct paint_caps *caps, int w, int h) NODISCARD;
void paint_free(struct painter *p);
/* The terminal may show anything: all is sent again. */
void paint_forget(struct painter *p);
/* Sends the cells of a rectangle that differ from what is shown. */
void paint_rect(struct painter *p, const struct canvas *c, struct rect r);
/* Hands over what is buffered. */
void paint_flush(struct painter *p);
/* Puts the cursor where the canvas wants it, and hands over what is buffered. */
void paint_finish(struct painter *p, const struct canvas *c);
/* Plain attributes, a last row that is free for the prompt of the shell (not every terminal has a screen of its own for
 * programs), and a shown cursor in the upper left corner, where curses believes it to be; whatever the terminal shows now. */
void paint_leave(struct painter *p);

#endif
