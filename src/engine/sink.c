#include "sink.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sink_init(struct sink *s, char *buf, size_t cap, bool (*flush)(void *, const char *, size_t), void *ctx)
{
	*s = (struct sink){ .buf = buf, .cap = cap, .flush = flush, .ctx = ctx };
	buf[0] = '\0';
}

static void sink_drain(struct sink *s)
{
	if (s->flush == NULL || s->len == 0)
		return;
	if (!s->flush(s->ctx, s->buf, s->len))
		s->failed = true;
	s->len = 0;
	s->buf[0] = '\0';
}

bool sink_finish(struct sink *s)
{
	sink_drain(s);
	return !s->failed;
}

void sink_write(struct sink *s, const char *text, size_t len)
{
	while (len > 0) {
		size_t room = s->cap - 1 - s->len;
		size_t n = len < room ? len : room;

		memcpy(s->buf + s->len, text, n);
		s->len += n;
		s->buf[s->len] = '\0';
		text += n;
		len -= n;
		if (len == 0)
			return;
		if (s->flush == NULL) {
			s->failed = true;
			return;
		}
		sink_drain(s);
	}
}

void sink_puts(struct sink *s, const char *text)
{
	sink_write(s, text, strlen(text));
}

/* What is longer than a line, such as a path, goes straight into the buffer, which is emptied before. */
static void print_long(struct sink *s, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

static void print_long(struct sink *s, const char *fmt, va_list ap)
{
	size_t room;

	sink_drain(s);
	room = s->cap - s->len;
	if ((size_t)vsnprintf(s->buf + s->len, room, fmt, ap) >= room)
		s->failed = true;
	s->len += strlen(s->buf + s->len);
}

void sink_printf(struct sink *s, const char *fmt, ...)
{
	char line[1024];
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n < 0)
		s->failed = true;
	else if ((size_t)n < sizeof line)
		sink_write(s, line, (size_t)n);
	else
		print_long(s, fmt, again);
	va_end(again);
}

void sink_repeat(struct sink *s, const char *text, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		sink_puts(s, text);
}

void sink_json_string(struct sink *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	sink_puts(s, "\"");
	while (*p != '\0') {
		size_t n = text_utf8_length(p, 4);

		if (*p == '"' || *p == '\\') {
			sink_printf(s, "\\%c", *p++);
		} else if (*p == '\t' || *p == '\n' || *p == '\r') {
			sink_printf(s, "\\u%04x", (unsigned)*p++);
		} else if (n == 0 || text_is_control(p)) {
			sink_puts(s, "\\ufffd");
			p += n == 0 ? 1 : n;
		} else {
			sink_write(s, (const char *)p, n);
			p += n;
		}
	}
	sink_puts(s, "\"");
}

void sink_json_int(struct sink *s, int64_t value)
{
	sink_printf(s, "%" PRId64, value);
}

void sink_json_double(struct sink *s, double value)
{
	char text[40];

	if (!isfinite(value)) {
		sink_puts(s, "null");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value) /* exact round trip is the point here */
			break;
	}
	sink_puts(s, text);
}
