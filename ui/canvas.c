#include "canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cell blank = { ' ', ROLE_TEXT, 1 };

static struct cell *cell_at(const struct canvas *c, int x, int y)
{
	return &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

bool canvas_resize(struct canvas *c, int w, int h)
{
	const int width = w < 1 ? 1 : w > CANVAS_SIDE_MAX ? CANVAS_SIDE_MAX : w;
	const int height = h < 1 ? 1 : h > CANVAS_SIDE_MAX ? CANVAS_SIDE_MAX : h;
	struct cell *cells = malloc((size_t)width * (size_t)height * sizeof(*cells));
	if (cells == NULL)
		return false;
	free(c->cells);
	c->cells = cells;
	c->w = width;
	c->h = height;
	canvas_clear(c);
	return true;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	c->cells = NULL;
	c->w = c->h = 0;
}

void canvas_clear(struct canvas *c)
{
	for (size_t i = 0; i < (size_t)c->w * (size_t)c->h; i++)
		c->cells[i] = blank;
	canvas_cursor(c, 0, 0, false);
}

void canvas_cursor(struct canvas *c, int x, int y, bool shown)
{
	c->cursor_x = x < 0 ? 0 : x >= c->w ? c->w - 1 : x;
	c->cursor_y = y < 0 ? 0 : y >= c->h ? c->h - 1 : y;
	c->cursor_shown = shown;
}

/* Frees the cell for a new glyph: the other half of a wide one becomes blank. */
static void detach(struct canvas *c, int x, int y)
{
	if (cell_at(c, x, y)->width == 0 && x > 0)
		*cell_at(c, x - 1, y) = blank;
	else if (cell_at(c, x, y)->width == 2 && x + 1 < c->w)
		*cell_at(c, x + 1, y) = blank;
}

void canvas_put(struct canvas *c, int x, int y, uint8_t style, uint32_t code)
{
	if (c->cells == NULL || x < 0 || y < 0 || x >= c->w || y >= c->h)
		return;
	int width = glyph_width(code);
	const bool fits = width == 1 || (width == 2 && x + 1 < c->w);
	detach(c, x, y);
	if (!fits)
		width = 1;
	if (width == 2) {
		detach(c, x + 1, y);
		*cell_at(c, x + 1, y) = (struct cell){ 0, style, 0 };
	}
	*cell_at(c, x, y) = (struct cell){ fits ? code : ' ', style, (uint8_t)width };
}

void canvas_letter(struct canvas *c, int x, int y, uint8_t style, char letter)
{
	canvas_put(c, x, y, (uint8_t)(style | STYLE_BOLD), (uint32_t)(unsigned char)letter);
}

void canvas_glyph(struct canvas *c, int x, int y, uint8_t style, enum glyph g)
{
	canvas_put(c, x, y, style, glyph_code(g, c->ascii));
}

/* The end of a text without the separators that lead to a next word. */
static const char *trim_end(const char *text, const char *end)
{
	while (end > text && strchr(" ,;:(", end[-1]) != NULL)
		end--;
	return end;
}

/* Where a text of more than w columns has to end so that a mark fits behind it: behind a word, within the only one anywhere. NULL
 * when the whole text fits. */
static const char *cut_of(const char *text, int w)
{
	const char *at = text, *word = text, *last = text;
	int used = 0;
	while (*at != '\0') {
		const char *here = at;
		const uint32_t code = glyph_decode(&at);
		used += glyph_width(code);
		if (used > w)
			return word > text ? word : last;
		if (code == ' ' && trim_end(text, here) > text)
			word = trim_end(text, here);
		if (used < w)
			last = at;
	}
	return NULL;
}

/* Draws the text up to `end`; NULL: all of it. */
static int draw_text(struct canvas *c, int x, int y, int w, uint8_t style, const char *text, const char *end)
{
	int used = 0;
	while (text != end) {
		const uint32_t code = glyph_decode(&text);
		const int width = glyph_width(code);
		if (code == 0 || used + width > w)
			break;
		if (width == 0)
			continue;
		canvas_put(c, x + used, y, style, code);
		used += width;
	}
	return used;
}

int canvas_clip(struct canvas *c, int x, int y, int w, uint8_t style, const char *text)
{
	return draw_text(c, x, y, w, style, text, NULL);
}

int canvas_text(struct canvas *c, int x, int y, int w, uint8_t style, const char *text)
{
	const char *end = w > 1 ? cut_of(text, w) : NULL;
	const int used = draw_text(c, x, y, w, style, text, end);
	if (end == NULL)
		return used;
	canvas_glyph(c, x + used, y, style, GLYPH_CUT);
	return used + 1;
}

int canvas_text_width(const char *text)
{
	int used = 0;
	for (uint32_t code = glyph_decode(&text); code != 0; code = glyph_decode(&text))
		used += glyph_width(code);
	return used;
}

const char *canvas_fitting(int w, const char *full, const char *brief)
{
	return canvas_text_width(full) <= w ? full : brief;
}

int canvas_text_right(struct canvas *c, int x, int y, int w, uint8_t style, const char *text)
{
	const int width = canvas_text_width(text);
	const int pad = width < w ? w - width : 0;
	return canvas_text(c, x + pad, y, w - pad, style, text);
}

int canvas_printf(struct canvas *c, int x, int y, int w, uint8_t style, const char *fmt, ...)
{
	char text[512];
	va_list args;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return canvas_text(c, x, y, w, style, text);
}

/* Bytes of the longest start of `text` that ends before a blank (or at a newline) within w columns; a longer word is cut. */
static size_t line_bytes(const char *text, int w)
{
	const char *at = text, *last_blank = NULL;
	int used = 0;
	while (*at != '\0' && *at != '\n') {
		const char *here = at;
		const uint32_t code = glyph_decode(&at);
		used += glyph_width(code);
		if (used > w)
			return (size_t)((last_blank != NULL && code != ' ' ? last_blank : here > text ? here : at) - text);
		if (code == ' ')
			last_blank = here;
	}
	return (size_t)(at - text);
}

int canvas_wrap(struct canvas *c, struct rect r, int skip, uint8_t style, const char *text)
{
	int row = 0;
	while (*text != '\0' && r.w > 0) {
		const size_t n = line_bytes(text, r.w);
		if (row >= skip && row - skip < r.h)
			(void)canvas_printf(c, r.x, r.y + row - skip, r.w, style, "%.*s", (int)n, text);
		row++;
		text += n;
		if (*text == '\n')
			text++;
		while (*text == ' ')
			text++;
	}
	return row;
}

void canvas_dump(const struct canvas *c, struct sink *out)
{
	for (int y = 0; y < c->h; y++) {
		for (int x = 0; x < c->w; x++) {
			char utf8[5];
			const struct cell *cell = cell_at(c, x, y);
			if (cell->width > 0)
				sink_write(out, utf8, (size_t)glyph_encode(cell->code, utf8));
		}
		sink_puts(out, "\n");
	}
}

static char look_letter(const struct cell *cell, enum theme theme)
{
	static const char letters[] = ".brRuU??"; /* by LOOK_ bits */
	const struct look *look = &role_table[cell->style & ~STYLE_BOLD].look[theme];
	const int colour = look->bg >= 0 ? look->bg : look->fg;
	const bool bold = theme_bolds_letters(theme) && (cell->style & STYLE_BOLD) != 0;
	return colour >= 0 ? (char)('0' + colour % 10) : letters[(look->attributes | (bold ? LOOK_BOLD : 0)) & 7];
}

void canvas_dump_looks(const struct canvas *c, enum theme theme, struct sink *out)
{
	for (int y = 0; y < c->h; y++) {
		for (int x = 0; x < c->w; x++) {
			const char letter = look_letter(cell_at(c, x, y), theme);
			sink_write(out, &letter, 1);
		}
		sink_puts(out, "\n");
	}
}

void canvas_dump_styles(const struct canvas *c, struct sink *out)
{
	for (int y = 0; y < c->h; y++) {
		for (int x = 0; x < c->w; x++)
			sink_write(out, &role_table[cell_at(c, x, y)->style & ~STYLE_BOLD].letter, 1);
		sink_puts(out, "\n");
	}
}
