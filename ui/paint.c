#include "paint.h"

#include <stdlib.h>
#include <string.h>

enum { CLEAR_MIN = 5, UTF8_MAX = 4 };

static const struct look plain = { -1, -1, 0 };
static const struct cell blank = { ' ', ROLE_TEXT, 1 };

void paint_flush(struct painter *p)
{
	if (p->len > 0)
		p->caps->write(p->buf, p->len);
	p->len = p->pen_end = 0;
}

static void put(struct painter *p, const char *bytes, size_t n)
{
	if (p->len + n > sizeof(p->buf))
		paint_flush(p);
	memcpy(p->buf + p->len, bytes, n);
	p->len += n;
}

static void put_text(struct painter *p, const char *text)
{
	put(p, text, strlen(text));
}

/* A string for the pen. Two of the common form ESC [ ... m that follow each other become one. */
static void put_pen(struct painter *p, const char *text)
{
	const size_t n = strlen(text);
	const bool sgr = n >= 3 && text[0] == '\033' && text[1] == '[' && text[n - 1] == 'm';
	if (sgr && p->len > 3 && p->len == p->pen_end) {
		const bool bare = p->buf[p->len - 2] == '[';
		p->len--;
		put_text(p, bare ? "0;" : ";");
		put(p, text + 2, n - 2);
	} else {
		put(p, text, n);
	}
	p->pen_end = sgr ? p->len : 0;
}

static struct cell *shown_at(const struct painter *p, int x, int y)
{
	return &p->shown[(size_t)y * (size_t)p->w + (size_t)x];
}

static const struct cell *canvas_at(const struct canvas *c, int x, int y)
{
	return &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

bool paint_start(struct painter *p, const struct paint_caps *caps, int w, int h)
{
	struct cell *shown = malloc((size_t)w * (size_t)h * sizeof(*shown));
	if (shown == NULL)
		return false;
	free(p->shown);
	*p = (struct painter){ .caps = caps, .shown = shown, .w = w, .h = h, .x = -1 };
	return true;
}

void paint_free(struct painter *p)
{
	free(p->shown);
	p->shown = NULL;
	p->w = p->h = 0;
}

void paint_forget(struct painter *p)
{
	p->known = false;
}

static void clear_screen(struct painter *p)
{
	for (size_t i = 0; i < (size_t)p->w * (size_t)p->h; i++)
		p->shown[i] = blank;
	put_text(p, p->caps->reset);
	put_text(p, p->caps->clear);
	put_text(p, p->caps->show_cursor);
	p->pen = plain;
	p->x = -1;
	p->known = true;
	p->cursor_shown = true;
}

/* What a style looks like on this terminal. */
static struct look look_of(const struct painter *p, uint8_t style)
{
	struct look look = p->caps->look[style & ~STYLE_BOLD];
	if ((style & STYLE_BOLD) != 0 && p->caps->letters_bold)
		look.attributes |= LOOK_BOLD;
	return look;
}

static bool looks_equal(const struct look *a, const struct look *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->attributes == b->attributes;
}

/* Whether the screen would not change. The foreground of a blank does not show. */
static bool cells_equal(const struct painter *p, const struct cell *a, const struct cell *b)
{
	if (a->code != b->code)
		return false;
	if (a->style == b->style)
		return true;
	struct look x = look_of(p, a->style), y = look_of(p, b->style);
	if (a->code == ' ') {
		x.fg = y.fg = -1;
		x.attributes &= (uint8_t)~LOOK_BOLD;
		y.attributes &= (uint8_t)~LOOK_BOLD;
	}
	return looks_equal(&x, &y);
}

static void reset_pen(struct painter *p)
{
	put_pen(p, p->caps->reset);
	p->pen = plain;
}

/* Takes away what the pen has and the wanted look has not. */
static void drop(struct painter *p, const struct look *want)
{
	const bool fg_off = want->fg < 0 && p->pen.fg >= 0, bg_off = want->bg < 0 && p->pen.bg >= 0;
	if ((p->pen.attributes & ~want->attributes) != 0 || looks_equal(want, &plain)) {
		reset_pen(p);
	} else if (fg_off || bg_off) {
		if (p->caps->foreground_off[0] == '\0') {
			reset_pen(p);
			return;
		}
		if (fg_off)
			put_pen(p, p->caps->foreground_off);
		if (bg_off)
			put_pen(p, p->caps->background_off);
		p->pen.fg = fg_off ? -1 : p->pen.fg;
		p->pen.bg = bg_off ? -1 : p->pen.bg;
	}
}

static void set_pen(struct painter *p, uint8_t style)
{
	const struct look want = look_of(p, style);
	const int role = style & ~STYLE_BOLD;
	if (looks_equal(&want, &p->pen))
		return;
	drop(p, &want);
	const uint8_t more = want.attributes & (uint8_t)~p->pen.attributes;
	if (more & LOOK_BOLD)
		put_pen(p, p->caps->bold);
	if (more & LOOK_REVERSE)
		put_pen(p, p->caps->reverse);
	if (more & LOOK_UNDERLINE)
		put_pen(p, p->caps->underline);
	if (want.fg != p->pen.fg)
		put_pen(p, p->caps->foreground[role]);
	if (want.bg != p->pen.bg)
		put_pen(p, p->caps->background[role]);
	p->pen = want;
}

/* Bytes of a cell; nothing but ASCII where the terminal has no more. */
static size_t cell_bytes(const struct painter *p, const struct cell *cell, char out[UTF8_MAX + 1])
{
	if (p->caps->ascii && cell->code > 0x7e) {
		memcpy(out, "? ", 3);
		return cell->width == 2 ? 2 : 1;
	}
	return (size_t)glyph_encode(cell->code, out);
}

/* Whether the pen need not change for a cell: a blank shows only background, reverse and underline. */
static bool pen_will_do(const struct painter *p, const struct cell *cell)
{
	const struct look look = look_of(p, cell->style);
	if (cell->code != ' ')
		return looks_equal(&look, &p->pen);
	return look.bg == p->pen.bg && ((look.attributes | p->pen.attributes) & ~LOOK_BOLD) == 0;
}

static void put_cell(struct painter *p, const struct cell *cell, int x, int y)
{
	char bytes[UTF8_MAX + 1];
	if (x + cell->width >= p->w && y == p->h - 1 && !p->caps->last_cell)
		return;
	if (!pen_will_do(p, cell))
		set_pen(p, cell->style);
	put(p, bytes, cell_bytes(p, cell, bytes));
	p->x = x + cell->width < p->w ? x + cell->width : -1;
	p->y = y;
}

/* Whether writing the cells between the cursor and x again is cheaper than moving there: they are drawn with the pen as it is. */
static bool gap_is_cheap(const struct painter *p, const struct canvas *c, int x, int y, size_t move_bytes)
{
	char bytes[UTF8_MAX + 1];
	size_t n = 0;
	if (p->x < 0 || p->y != y || p->x >= x || (size_t)(x - p->x) > move_bytes)
		return false;
	for (int i = p->x; i < x; i++) {
		const struct cell *cell = canvas_at(c, i, y);
		if (cell->width != 1 || !pen_will_do(p, cell) || cell->code != shown_at(p, i, y)->code)
			return false;
		n += cell_bytes(p, cell, bytes);
	}
	return n <= move_bytes;
}

static void move_to(struct painter *p, const struct canvas *c, int x, int y)
{
	char bytes[PAINT_CAP_MAX];
	if (p->x == x && p->y == y)
		return;
	const size_t n = p->caps->move(bytes, sizeof(bytes), p->x, p->y, x, y);
	if (c != NULL && gap_is_cheap(p, c, x, y, n)) {
		while (p->x >= 0 && p->x < x)
			put_cell(p, canvas_at(c, p->x, y), p->x, y);
		return;
	}
	put(p, bytes, n);
	p->x = x;
	p->y = y;
}

static bool is_blank(const struct painter *p, const struct cell *cell)
{
	return cells_equal(p, cell, &blank);
}

/* From x on the row of the canvas is blank and the screen is not: one short string for all of it. */
static bool clear_rest(struct painter *p, const struct canvas *c, int x, int y)
{
	int worth = 0;
	for (int i = x; i < p->w; i++) {
		if (i < c->w && !is_blank(p, canvas_at(c, i, y)))
			return false;
		worth += !is_blank(p, shown_at(p, i, y));
	}
	if (worth < CLEAR_MIN || p->caps->clear_line[0] == '\0')
		return false;
	move_to(p, c, x, y);
	if (!looks_equal(&p->pen, &plain))
		reset_pen(p);
	put_text(p, p->caps->clear_line);
	for (int i = x; i < p->w; i++)
		*shown_at(p, i, y) = blank;
	return true;
}

void paint_rect(struct painter *p, const struct canvas *c, struct rect r)
{
	const int end_x = r.x + r.w < c->w ? r.x + r.w : c->w, end_y = r.y + r.h < c->h ? r.y + r.h : c->h;
	const int right = end_x < p->w ? end_x : p->w, bottom = end_y < p->h ? end_y : p->h;
	if (!p->known)
		clear_screen(p);
	for (int y = r.y; y < bottom; y++) {
		for (int x = r.x; x < right; x++) {
			const struct cell *cell = canvas_at(c, x, y);
			if (cell->width == 0 || cells_equal(p, cell, shown_at(p, x, y)))
				continue;
			if (cell->code == ' ' && right == p->w && clear_rest(p, c, x, y))
				break;
			move_to(p, c, x, y);
			put_cell(p, cell, x, y);
			*shown_at(p, x, y) = *cell;
			if (cell->width == 2 && x + 1 < p->w)
				*shown_at(p, x + 1, y) = *canvas_at(c, x + 1, y);
		}
	}
}

void paint_finish(struct painter *p, const struct canvas *c)
{
	const int x = c->cursor_x < p->w ? c->cursor_x : p->w - 1, y = c->cursor_y < p->h ? c->cursor_y : p->h - 1;
	if (p->known && (p->x != x || p->y != y))
		move_to(p, NULL, x, y);
	if (p->cursor_shown != c->cursor_shown)
		put_text(p, c->cursor_shown ? p->caps->show_cursor : p->caps->hide_cursor);
	p->cursor_shown = c->cursor_shown;
	paint_flush(p);
}

void paint_leave(struct painter *p)
{
	if (p->shown == NULL)
		return;
	p->x = p->known ? p->x : -1;
	reset_pen(p);
	move_to(p, NULL, 0, p->h - 1);
	put_text(p, p->caps->clear_line);
	move_to(p, NULL, 0, 0);
	put_text(p, p->caps->show_cursor);
	paint_flush(p);
	p->known = false;
}
