/* A grid of cells that views draw on. It knows nothing of terminals: the same grid goes to ncurses, to a text dump, to a golden.
 */
#ifndef MESHPLAN_CANVAS_H
#define MESHPLAN_CANVAS_H

#include "err.h"
#include "glyphs.h"
#include "sink.h"
#include "theme.h"

#include <stdbool.h>
#include <stdint.h>

enum { CANVAS_SIDE_MAX = 1000 };

struct cell {
	uint32_t code; /* code point; 0 in the right half of a wide one */
	uint8_t style; /* enum role, STYLE_BOLD */
	uint8_t width; /* 1, 2, or 0 for the right half of a wide one */
};

struct rect {
	int x, y, w, h;
};

struct canvas {
	int w, h;
	struct cell *cells; /* w * h, row by row; owned. NULL: drawing is measured, not done */
	bool ascii;
	int cursor_x, cursor_y;
	bool cursor_shown;
};

/* Gives *c (zeroed before first use) a new size, at most CANVAS_SIDE_MAX each way, all blank. False when there is no memory. */
bool canvas_resize(struct canvas *c, int w, int h) NODISCARD;
void canvas_free(struct canvas *c);
/* Blanks every cell and hides the cursor. */
void canvas_clear(struct canvas *c);
void canvas_cursor(struct canvas *c, int x, int y, bool shown);

/* One code point at (x, y); outside the grid nothing happens. A wide one that would be cut in half becomes a blank; half of a
 * wide one that is overwritten takes the other half with it. */
void canvas_put(struct canvas *c, int x, int y, uint8_t style, uint32_t code);
void canvas_glyph(struct canvas *c, int x, int y, uint8_t style, enum glyph g);
/* The letter that stands for a part, bold. */
void canvas_letter(struct canvas *c, int x, int y, uint8_t style, char letter);
/* UTF-8 text from (x, y), at most `w` columns; a longer one ends behind a word, with GLYPH_CUT. Control and zero-width characters
 * are left out. Returns the columns used. */
int canvas_text(struct canvas *c, int x, int y, int w, uint8_t style, const char *text);
/* The same, cut wherever the columns end, without a mark: a part of what someone types. */
int canvas_clip(struct canvas *c, int x, int y, int w, uint8_t style, const char *text);
/* canvas_text, ending at column x + w - 1. Returns the columns used. */
int canvas_text_right(struct canvas *c, int x, int y, int w, uint8_t style, const char *text);
/* printf, then canvas_text; at most 511 bytes. */
int canvas_printf(struct canvas *c, int x, int y, int w, uint8_t style, const char *fmt, ...) PRINTF_LIKE(6, 7);
/* Text broken at blanks into the rows of r, after leaving out the first `skip` rows. Returns the rows that the whole text takes.
 */
int canvas_wrap(struct canvas *c, struct rect r, int skip, uint8_t style, const char *text);
/* Columns of a text. */
int canvas_text_width(const char *text);
/* The first of two ways to say something if w columns hold it, else the second. */
const char *canvas_fitting(int w, const char *full, const char *brief);

/* Writes h lines of exactly w columns as UTF-8: the text, or one letter per style role. */
void canvas_dump(const struct canvas *c, struct sink *out);
void canvas_dump_styles(const struct canvas *c, struct sink *out);
/* The same as a theme shows it: a digit for a colour (the last one of its index, of the background if it has one), else a letter
 * for the attributes: b bold, r reverse, u underline, upper case with bold as well, "." plain. */
void canvas_dump_looks(const struct canvas *c, enum theme theme, struct sink *out);

#endif
