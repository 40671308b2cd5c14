#include "json.h"

#include "file.h"
#include "num.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Integers beyond this are not exact in a double, which is what cJSON stores. */
#define EXACT_MAX 9007199254740992.0

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

/* Checks the whole text against the grammar, without recursion. */
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

/* ---- the tree ---- */

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum err_code check_duplicates(const cJSON *object, const struct json_place *p, struct err *e)
{
	const cJSON *child;
	enum err_code code = ERR_OK;
	size_t n = 0;
	const char **keys;

	cJSON_ArrayForEach (child, object)
		n++;
	if (n < 2)
		return ERR_OK;
	keys = malloc(n * sizeof *keys);
	if (keys == NULL)
		return err_set(e, ERR_INTERNAL, p->file, "out of memory");
	n = 0;
	cJSON_ArrayForEach (child, object)
		keys[n++] = child->string;
	qsort(keys, n, sizeof *keys, compare_keys);
	for (size_t i = 1; i < n && code == ERR_OK; i++)
		if (strcmp(keys[i - 1], keys[i]) == 0)
			code = json_error(p, keys[i], ERR_FILE, e, "the key stands here twice; keep one");
	free(keys);
	return code;
}

/* Recursion is bounded by JSON_DEPTH_MAX, which the scan has enforced. */
static enum err_code check_tree(const cJSON *node, const struct json_place *p, struct err *e)
{
	const cJSON *child;
	enum err_code code = cJSON_IsObject(node) ? check_duplicates(node, p, e) : ERR_OK;
	size_t i = 0;

	cJSON_ArrayForEach (child, node) {
		char index[24];
		const char *key = child->string;

		if (code != ERR_OK)
			return code;
		if (key == NULL) {
			(void)snprintf(index, sizeof index, "%zu", i);
			key = index;
		}
		i++;
		if (cJSON_IsNumber(child) && !isfinite(child->valuedouble))
			return json_error(p, key, ERR_FILE, e, "the number is too large; at most 1.7e308");
		if (cJSON_IsObject(child) || cJSON_IsArray(child)) {
			struct json_place inside = json_inside(p, key);

			code = check_tree(child, &inside, e);
		}
	}
	return code;
}

enum err_code json_parse(const char *name, const char *text, size_t len, cJSON **root, struct err *e)
{
	struct scan s = { .name = name, .start = (const unsigned char *)text, .e = e };
	struct json_place place = { .file = name };
	enum err_code code;

	s.p = s.start;
	s.end = s.start + len;
	code = scan_document(&s);
	if (code != ERR_OK)
		return code;
	*root = cJSON_ParseWithLength(text, len);
	if (*root == NULL)
		return err_set(e, ERR_FILE, name, "cannot be parsed");
	code = check_tree(*root, &place, e);
	if (code != ERR_OK) {
		cJSON_Delete(*root);
		*root = NULL;
	}
	return code;
}

enum err_code json_load(const char *path, cJSON **root, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	enum err_code code = file_read(path, JSON_SIZE_MAX, &text, &len, e);

	if (code != ERR_OK)
		return code;
	code = json_parse(path, text, len, root, e);
	free(text);
	return code;
}

/* ---- places and values ---- */

/* Appends /key with the escapes of RFC 6901. */
static void append_pointer(char *buf, size_t cap, const char *key)
{
	size_t n = strlen(buf);

	if (n + 2 < cap)
		buf[n++] = '/';
	for (; *key != '\0' && n + 3 < cap; key++) {
		if (*key == '/' || *key == '~') {
			buf[n++] = '~';
			buf[n++] = *key == '/' ? '1' : '0';
		} else {
			buf[n++] = *key;
		}
	}
	buf[n] = '\0';
}

struct json_place json_inside(const struct json_place *p, const char *key)
{
	struct json_place inside = *p;

	append_pointer(inside.pointer, sizeof inside.pointer, key);
	return inside;
}

enum err_code json_error(const struct json_place *p, const char *key, enum err_code code, struct err *e, const char *fmt, ...)
{
	struct json_place at = key == NULL ? *p : json_inside(p, key);
	size_t file_len = strlen(p->file), room = ERR_WHERE_CAP - 2 - strlen(at.pointer);
	char where[ERR_WHERE_CAP], msg[ERR_MSG_CAP];
	va_list ap;

	/* Of a long path the end says more. */
	(void)snprintf(where, sizeof where, "%s:%s", file_len > room ? p->file + (file_len - room) : p->file, at.pointer);
	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	return err_set(e, code, where, "%s", msg);
}

static const char *describe(const cJSON *item, char *buf, size_t cap)
{
	if (cJSON_IsString(item))
		(void)snprintf(buf, cap, "\"%.40s\"", item->valuestring);
	else if (cJSON_IsNumber(item))
		(void)snprintf(buf, cap, "%.15g", item->valuedouble);
	else if (cJSON_IsBool(item))
		(void)snprintf(buf, cap, "%s", cJSON_IsTrue(item) ? "true" : "false");
	else
		(void)snprintf(buf, cap, "%s", cJSON_IsNull(item) ? "null" : cJSON_IsArray(item) ? "an array" : "an object");
	return buf;
}

enum err_code json_refuse(const cJSON *item, const struct json_place *p, struct err *e, const char *fmt, ...)
{
	char value[64], why[ERR_MSG_CAP];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return json_error(p, item->string, ERR_FILE, e, "%s %s", describe(item, value, sizeof value), why);
}

enum err_code json_integer(const cJSON *item, const struct json_place *p, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	double x = item->valuedouble;

	if (!cJSON_IsNumber(item))
		return json_refuse(item, p, e, "is not a number; a whole number is needed");
	if (x < (double)min || x > (double)max || fabs(x) > EXACT_MAX)
		return json_refuse(item, p, e, "is out of range; legal: %" PRId64 " to %" PRId64, min, max);
	if (floor(x) < x)
		return json_refuse(
			item, p, e, "is not a whole number; nearest: %" PRId64, num_min(num_max(num_round(x), min), max));
	*out = (int64_t)x;
	return ERR_OK;
}

enum err_code json_real(const cJSON *item, const struct json_place *p, double min, double max, double *out, struct err *e)
{
	if (!cJSON_IsNumber(item))
		return json_refuse(item, p, e, "is not a number");
	if (item->valuedouble < min || item->valuedouble > max)
		return json_refuse(item, p, e, "is out of range; legal: %g to %g", min, max);
	*out = item->valuedouble;
	return ERR_OK;
}

enum err_code json_flag(const cJSON *item, const struct json_place *p, bool *out, struct err *e)
{
	if (!cJSON_IsBool(item))
		return json_refuse(item, p, e, "is neither true nor false");
	*out = cJSON_IsTrue(item) != 0;
	return ERR_OK;
}

enum err_code json_string(const cJSON *item, const struct json_place *p, const char **out, struct err *e)
{
	if (!cJSON_IsString(item))
		return json_refuse(item, p, e, "is not a text in double quotes");
	*out = item->valuestring;
	return ERR_OK;
}
