#include "csvfile.h"

#include "text.h"

#include <stdio.h>
#include <string.h>

static const char control[] = "a control character";

void csvfile_start(struct csvfile *c, const char *name, char *text, size_t len)
{
	memset(c, 0, sizeof *c);
	c->name = name;
	c->at = text;
	c->end = text + len;
	c->line = 1;
}

static enum err_code refuse(const struct csvfile *c, const char *line_start, const char *where, const char *why, struct err *e)
{
	char place[ERR_WHERE_CAP];

	(void)snprintf(place, sizeof place, "%.100s:%lld:%lld", c->name, (long long)c->line, (long long)(where - line_start) + 1);
	return err_set(e, ERR_FILE, place, "%s", why);
}

/* Whether a line break begins here; *p moves behind it. */
static int skip_break(const struct csvfile *c, char **p)
{
	if (*p < c->end && **p == '\r' && *p + 1 < c->end && (*p)[1] == '\n')
		++*p;
	if (*p >= c->end || (**p != '\n' && **p != '\r'))
		return 0;
	++*p;
	return 1;
}

/* What no table holds, and a terminal would obey. */
static bool is_control(const struct csvfile *c, const char *p)
{
	const unsigned char *at = (const unsigned char *)p;

	return *p != '\t' && *p != '\n' && *p != '\r' && text_utf8_length(at, (size_t)(c->end - p)) > 0 && text_is_control(at);
}

/* Unquotes in place. *p stands behind the opening quote and ends behind the closing one. */
static enum err_code read_quoted(struct csvfile *c, char **p, char **line_start, struct err *e)
{
	char *out = *p, *opened = *p - 1, *opened_line = *line_start;
	int64_t opened_at = c->line;

	for (; *p < c->end; ++*p) {
		if (**p == '"' && *p + 1 < c->end && (*p)[1] == '"')
			++*p;
		else if (**p == '"')
			break;
		if (is_control(c, *p))
			return refuse(c, *line_start, *p, control, e);
		if (**p == '\n') {
			c->line++;
			*line_start = *p + 1;
		}
		*out++ = **p;
	}
	if (*p >= c->end) {
		c->line = opened_at;
		return refuse(c, opened_line, opened, "this quote is not closed", e);
	}
	++*p;
	*out = '\0';
	return ERR_OK;
}

static enum err_code read_record(struct csvfile *c, struct err *e)
{
	char *p = c->at, *line_start = c->at;

	for (c->n = 0;;) {
		enum err_code code = ERR_OK;
		char *mark;

		if (c->n == CSVFILE_FIELDS)
			return refuse(c, line_start, p, "more than 128 fields", e);
		if (p < c->end && *p == '"') {
			c->field[c->n++] = ++p;
			code = read_quoted(c, &p, &line_start, e);
		} else {
			c->field[c->n++] = p;
			while (p < c->end && *p != ',' && *p != '\n' && *p != '\r' && !is_control(c, p))
				p++;
		}
		if (code != ERR_OK)
			return code;
		mark = p;
		if (p < c->end && *p == ',') {
			p++;
			*mark = '\0';
			continue;
		}
		if (p < c->end && !skip_break(c, &p))
			return refuse(c, line_start, p,
				is_control(c, p) ? control : "text behind a closing quote; a comma is missing", e);
		*mark = '\0';
		c->at = p;
		c->line++;
		return ERR_OK;
	}
}

enum err_code csvfile_next(struct csvfile *c, struct err *e)
{
	for (c->n = 0; c->at < c->end;) {
		if (skip_break(c, &c->at)) {
			c->line++;
			continue;
		}
		if (*c->at == '#') {
			while (c->at < c->end && *c->at != '\n')
				c->at++;
			continue;
		}
		c->row_line = c->line;
		return read_record(c, e);
	}
	return ERR_OK;
}
