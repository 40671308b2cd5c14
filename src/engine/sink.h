/* Text sink: every text the engine makes goes into one of these. It writes into a caller's buffer and, when a
 * flush function is given, hands full buffers on; without one it cuts and remembers that it did. */
#ifndef MESHPLAN_SINK_H
#define MESHPLAN_SINK_H

#include "err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink {
	char *buf; /* always NUL-terminated after sink_init */
	size_t cap, len;
	bool (*flush)(void *ctx, const char *text, size_t len); /* NULL: cut at cap */
	void *ctx;
	bool failed; /* cut, or flush said no */
};

/* Starts an empty sink over buf[cap], cap >= 2. flush may be NULL. The sink owns nothing. */
void sink_init(struct sink *s, char *buf, size_t cap, bool (*flush)(void *, const char *, size_t), void *ctx);
/* Hands what is buffered to flush. Returns false if anything was cut or refused so far. */
bool sink_finish(struct sink *s);

void sink_write(struct sink *s, const char *text, size_t len);
void sink_puts(struct sink *s, const char *text);
void sink_printf(struct sink *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* n copies of the string `text` (n <= 0: none). */
void sink_repeat(struct sink *s, const char *text, int64_t n);

/* JSON pieces, independent of locale. Strings are escaped; control characters but tabs and line breaks, and
 * bytes that are not valid UTF-8, become U+FFFD.
 * Doubles print the shortest text that parses back to the same value; NaN and infinities print null. */
void sink_json_string(struct sink *s, const char *text);
/* The same behind `before`, such as the name of a member. */
void sink_json_text(struct sink *s, const char *before, const char *text);
void sink_json_int(struct sink *s, int64_t value);
void sink_json_double(struct sink *s, double value);

#endif
