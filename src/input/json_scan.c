/* The strict grammar of JSON, checked before cJSON sees a text: it takes more than the standard does, and says less about what is
 * wrong. */
#include "json.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cJSON reads at most 63 characters of a number. */
enum { NUMBER_LENGTH_MAX = 60 };

struct scan {
	const char *name;
	const unsigned char *start, *p, *end;
	struct err *e;
};

static enum err_code scan_fail(const struct scan *s, const unsigned char *at, const char *what)
{
	size_t line = 1, column = 1;
	char where[ERR_WHERE_CAP];

	for (const unsigned char *p = s->start; p < at; p++) {
		column++;
		if (*p == '\n') {
			line++;
			column = 1;
		}
	}
	(void)snprintf(where, sizeof where, "%.120s:%zu:%zu", s->name, line, column);
	return err_set(s->e, ERR_FILE, where, "is not valid JSON: %s", what);
}

static bool is_hex(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A NUL would cut the string in C, and a terminal obeys the others; breaks and tabs are legal in JSON. */
static bool is_control_escape(const unsigned char *digits)
{
	char hex[5];
	unsigned long code;

	memcpy(hex, digits, 4);
	hex[4] = '\0';
	code = strtoul(hex, NULL, 16);
	return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7F && code < 0xA0);
}

static enum err_code scan_escape(struct scan *s)
{
	const unsigned char *at = s->p;

	if (s->end - at < 2)
		return scan_fail(s, s->end, "it ends inside a string");
	if (at[1] != 'u') {
		if (strchr("\"\\/nrt", at[1]) == NULL || at[1] == '\0')
			return scan_fail(s, at, "unknown escape in a string");
		s->p += 2;
		return ERR_OK;
	}
	if (s->end - at < 6 || !is_hex(at[2]) || !is_hex(at[3]) || !is_hex(at[4]) || !is_hex(at[5]))
		return scan_fail(s, at, "\\u needs four hexadecimal digits");
	if (is_control_escape(at + 2))
		return scan_fail(s, at, "control character in a string");
	s->p += 6;
	return ERR_OK;
}

static enum err_code scan_string(struct scan *s)
{
	s->p++;
	while (s->p < s->end && *s->p != '"') {
		size_t n;

		if (*s->p == '\\') {
			enum err_code code = scan_escape(s);

			if (code != ERR_OK)
				return code;
			continue;
		}
		n = text_utf8_length(s->p, (size_t)(s->end - s->p));
		if (n == 0)
			return scan_fail(s, s->p, "invalid UTF-8");
		if (text_is_control(s->p))
			return scan_fail(s, s->p, "control character in a string");
		s->p += n;
	}
	if (s->p == s->end)
		return scan_fail(s, s->end, "it ends inside a string");
	s->p++;
	return ERR_OK;
}

static size_t scan_digits(struct scan *s)
{
	const unsigned char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return (size_t)(s->p - from);
}

static bool scan_take(struct scan *s, unsigned char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static enum err_code scan_number(struct scan *s)
{
	const unsigned char *at = s->p, *digits;
	bool good;

	(void)scan_take(s, '-');
	digits = s->p;
	good = scan_digits(s) > 0 && (*digits != '0' || s->p == digits + 1);
	if (good && scan_take(s, '.'))
		good = scan_digits(s) > 0;
	if (good && (scan_take(s, 'e') || scan_take(s, 'E'))) {
		if (!scan_take(s, '-'))
			(void)scan_take(s, '+');
		good = scan_digits(s) > 0;
	}
	if (!good)
		return scan_fail(s, at, "malformed number");
	if (s->p - at > NUMBER_LENGTH_MAX)
		return scan_fail(s, at, "number of more than 60 characters");
	return ERR_OK;
}

static enum err_code scan_scalar(struct scan *s)
{
	static const char *const words[] = { "true", "false", "null" };

	if (*s->p == '"')
		return scan_string(s);
	if (*s->p == '-' || (*s->p >= '0' && *s->p <= '9'))
		return scan_number(s);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(s->end - s->p) >= n && memcmp(s->p, words[i], n) == 0) {
			s->p += n;
			return ERR_OK;
		}
	}
	if (*s->p == 'N' || *s->p == 'I' || *s->p == 'n' || *s->p == 'i')
		return scan_fail(s, s->p, "a value is expected; NaN and Infinity are none");
	return scan_fail(s, s->p, "a value is expected");
}

static void scan_blanks(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

enum expected { EXPECT_VALUE, EXPECT_FIRST_VALUE, EXPECT_KEY, EXPECT_FIRST_KEY, EXPECT_NEXT };

/* Where the scan stands: the brackets that are open, and what may come. */
struct nesting {
	char open[JSON_DEPTH_MAX];
	size_t depth;
	enum expected expected;
};

static enum err_code scan_open(struct scan *s, struct nesting *n)
{
	if (n->depth == JSON_DEPTH_MAX)
		return scan_fail(s, s->p, "nested too deeply (more than 48 levels)");
	n->open[n->depth++] = (char)*s->p;
	n->expected = *s->p == '{' ? EXPECT_FIRST_KEY : EXPECT_FIRST_VALUE;
	s->p++;
	return ERR_OK;
}

static bool scan_closes(const struct scan *s, const struct nesting *n)
{
	return n->depth > 0 && *s->p == (n->open[n->depth - 1] == '{' ? '}' : ']');
}

static enum err_code scan_key(struct scan *s, struct nesting *n)
{
	enum err_code code;

	if (*s->p != '"')
		return scan_fail(s, s->p, "a key in double quotes is expected");
	code = scan_string(s);
	if (code != ERR_OK)
		return code;
	scan_blanks(s);
	if (!scan_take(s, ':'))
		return scan_fail(s, s->p, "':' is expected after a key");
	n->expected = EXPECT_VALUE;
	return ERR_OK;
}

static enum err_code scan_step(struct scan *s, struct nesting *n)
{
	enum err_code code;

	if ((n->expected == EXPECT_NEXT || n->expected == EXPECT_FIRST_KEY || n->expected == EXPECT_FIRST_VALUE) &&
		scan_closes(s, n)) {
		n->depth--;
		n->expected = EXPECT_NEXT;
		s->p++;
		return ERR_OK;
	}
	if (n->expected == EXPECT_NEXT) {
		if (!scan_take(s, ','))
			return scan_fail(
				s, s->p, n->open[n->depth - 1] == '{' ? "',' or '}' is expected" : "',' or ']' is expected");
		n->expected = n->open[n->depth - 1] == '{' ? EXPECT_KEY : EXPECT_VALUE;
		return ERR_OK;
	}
	if (n->expected == EXPECT_KEY || n->expected == EXPECT_FIRST_KEY)
		return scan_key(s, n);
	if (*s->p == '{' || *s->p == '[')
		return scan_open(s, n);
	code = scan_scalar(s);
	n->expected = EXPECT_NEXT;
	return code;
}

/* The whole text, without recursion. */
static enum err_code scan_document(struct scan *s)
{
	struct nesting n = { .depth = 0, .expected = EXPECT_VALUE };

	scan_blanks(s);
	if (s->p == s->end)
		return scan_fail(s, s->p, "it holds only blanks");
	if (*s->p != '{')
		return scan_fail(s, s->p, "an object is expected, starting with '{'");
	do {
		enum err_code code = scan_step(s, &n);

		if (code != ERR_OK)
			return code;
		scan_blanks(s);
		if (s->p == s->end && n.depth > 0)
			return scan_fail(s, s->end, "it ends too early; is it truncated?");
	} while (n.depth > 0);
	if (s->p != s->end)
		return scan_fail(s, s->p, "more text after the end of the object");
	return ERR_OK;
}

enum err_code json_scan(const char *name, const char *text, size_t len, struct err *e)
{
	const unsigned char *start = (const unsigned char *)text;
	struct scan s = { .name = name, .start = start, .p = start, .end = start + len, .e = e };

	return scan_document(&s);
}
