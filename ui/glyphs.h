/* The drawing characters, each one cell wide, with a twin in ASCII: the two sets map cell by cell, so a layout never depends on
 * which of them is shown. All of them are in CP437, so that the Linux console has them. */
#ifndef MESHPLAN_GLYPHS_H
#define MESHPLAN_GLYPHS_H

#include <stdbool.h>
#include <stdint.h>

enum glyph {
	GLYPH_FULL, /* fills of a bar, darkest first */
	GLYPH_DARK,
	GLYPH_MEDIUM,
	GLYPH_LIGHT,
	GLYPH_LIMIT,
	GLYPH_BEYOND, /* fill behind the limit */
	GLYPH_MORE,   /* goes on outside the field */
	GLYPH_STOP,
	GLYPH_ROAD,
	GLYPH_THUMB,
	GLYPH_CHOICE, /* a stop of an unordered choice */
	GLYPH_FOCUS,
	GLYPH_PREVIOUS,
	GLYPH_NEXT,
	GLYPH_IDLE,
	GLYPH_REST, /* rest of a cell of the pipeline drawing */
	GLYPH_BORDER,
	GLYPH_NOW_ABOVE, /* the tick of the player: its mark above and below the drawing */
	GLYPH_NOW_BELOW,
	GLYPH_CUT, /* where a drawing leaves out time, or a text words */
	GLYPH_COUNT
};

struct glyph_info {
	const char *use;
	uint32_t unicode;
	char ascii;
};
extern const struct glyph_info glyph_table[GLYPH_COUNT];

/* The code point to show. */
uint32_t glyph_code(enum glyph g, bool ascii);
/* Columns that a code point takes on a terminal: 0 (combining, control), 1, or 2 (East Asian wide, emoji). Does not depend on the
 * locale, so that a screen is the same everywhere. */
int glyph_width(uint32_t code);
/* Decodes one code point of UTF-8 at *text and moves *text behind it. Bytes that are not valid give U+FFFD, one byte at a time.
 * Returns 0 at the end of the string. */
uint32_t glyph_decode(const char **text);
/* Encodes `code` to at most 4 bytes and a NUL. Returns the number of bytes. */
int glyph_encode(uint32_t code, char out[5]);

#endif
