/* An off-screen terminal for tests: bytes go in through a pipe, come out into a file, and are counted. */
#ifndef MESHPLAN_UI_SCREEN_H
#define MESHPLAN_UI_SCREEN_H

#include "ui_fixture.h"

#include "term.h"
#include "view.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

static int feed[2];
static FILE *out;

/* Opens an off-screen terminal. False when this system does not know its type or locale. */
static inline bool open_screen_in(const char *type, const char *theme, const char *locale, int ascii)
{
	struct err e = { 0 };
	/* Curses takes the size from these; a test may have set them. */
	(void)setenv("LINES", "24", 0);
	(void)setenv("COLUMNS", "80", 0);
	(void)unsetenv("NO_COLOR");
	(void)unsetenv("COLORFGBG");
	if (setlocale(LC_CTYPE, locale) == NULL)
		return false;
	ck_assert_int_eq(pipe(feed), 0);
	out = tmpfile();
	ck_assert_ptr_nonnull(out);
	const struct term_options o = { .type = type, .out = out, .in = fdopen(feed[0], "r"), .theme = theme, .ascii = ascii };
	return term_open(&o, &e) == ERR_OK;
}

static inline bool open_screen(const char *type, const char *theme)
{
	return open_screen_in(type, theme, "C.UTF-8", -1);
}

static inline long sent(void)
{
	(void)fflush(out);
	return ftell(out);
}

static inline void send_bytes(const char *bytes)
{
	const size_t n = strlen(bytes);
	ck_assert_int_eq(write(feed[1], bytes, n), (ssize_t)n);
}

static inline uint32_t read_key(void)
{
	const struct event ev = term_read(-1);
	ck_assert_int_eq(ev.kind, EVENT_KEY);
	return ev.key;
}

static struct canvas canvas;

/* What one frame costs: the part that comes first, and all of it. */
struct cost {
	long first, both;
};

static inline struct cost present(struct fixture *f)
{
	struct rect urgent[VIEW_URGENT_MAX];
	const long before = sent();
	view_frame(&f->app, &canvas);
	const size_t n = view_urgent(&f->app, urgent);
	if (n > 0)
		term_present_parts(&canvas, urgent, n);
	const long first = sent() - before;
	term_present(&canvas);
	return (struct cost){ first, sent() - before };
}

/* What was sent from a place on, NUL-terminated, freed by the caller. */
static inline char *sent_since(long start)
{
	const long end = sent();
	char *text = calloc(1, (size_t)(end - start) + 1);
	ck_assert_ptr_nonnull(text);
	(void)fseek(out, start, SEEK_SET);
	ck_assert_uint_eq(fread(text, 1, (size_t)(end - start), out), (size_t)(end - start));
	(void)fseek(out, 0, SEEK_END);
	return text;
}

#endif
