#include "support.h"

#include "fields.h"
#include "presets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct catalog *test_catalog(void)
{
	static struct preset_store *store;
	struct err e;

	if (store == NULL && preset_store_new(&store, &e) != ERR_OK)
		ck_abort_msg("%s: %s", e.where, e.msg);
	return preset_store_catalog(store);
}

static enum err_code apply(struct draft *d, const char *key, const char *value, struct err *e)
{
	const struct knob *k;

	if (strncmp(key, "profile.", 8) == 0)
		return fields_set_text(&profile_fields, key + 8, value, &d->s.profile, e);
	k = knob_find(key);
	if (k == NULL)
		return err_set(e, ERR_UNKNOWN, key, "no knob %s", key);
	return draft_set(d, test_catalog(), k, value, ORIGIN_FLAG, e);
}

enum err_code test_try_draft(struct draft *d, const char *knobs, struct err *e)
{
	const char *p = knobs;

	draft_init_blank(d, test_catalog());
	while (*p != '\0') {
		char pair[1200], *equals;
		size_t len = strcspn(p, ";");
		enum err_code code;

		ck_assert_uint_lt(len, sizeof pair);
		memcpy(pair, p, len);
		pair[len] = '\0';
		p += len + (p[len] == ';');
		equals = strchr(pair, '=');
		ck_assert_msg(equals != NULL, "'%s' is not key=value", pair);
		*equals = '\0';
		code = apply(d, pair, equals + 1, e);
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

void test_draft(struct draft *d, const char *knobs)
{
	struct err e;

	if (test_try_draft(d, knobs, &e) != ERR_OK)
		ck_abort_msg("%s: %s (in %s)", e.where, e.msg, knobs);
	draft_settle(d, test_catalog());
}

struct plan test_plan(const char *knobs)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d, knobs);
	ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "%s: %s (in %s)", e.where, e.msg, knobs);
	return p;
}

/* Splits text in place at commas outside double quotes; quotes are taken off. Returns how many fields. */
static size_t split(char *text, const char **field)
{
	size_t n = 0;
	char *p = text;

	for (;;) {
		bool quoted = *p == '"';
		char *end;

		ck_assert_uint_lt(n, CSV_FIELDS);
		p += quoted;
		field[n++] = p;
		end = p + strcspn(p, quoted ? "\"" : ",");
		if (quoted && *end == '"')
			*end++ = '\0';
		if (*end == '\0')
			return n;
		*end = '\0';
		p = end + 1;
	}
}

/* The next line that is neither empty nor a comment, into c->text. */
static bool read_line(struct csv *c)
{
	while (fgets(c->text, sizeof c->text, c->file) != NULL) {
		size_t len = strcspn(c->text, "\r\n");

		c->line++;
		ck_assert_msg(c->text[len] != '\0', "%s:%d: line too long or not ended", c->path, c->line);
		c->text[len] = '\0';
		if (len > 0 && c->text[0] != '#')
			return true;
	}
	(void)fclose(c->file);
	c->file = NULL;
	return false;
}

void csv_open(struct csv *c, const char *name)
{
	const char *top = getenv("top_srcdir");

	memset(c, 0, sizeof *c);
	(void)snprintf(c->path, sizeof c->path, "%s/tests/data/%s", top != NULL ? top : ".", name);
	c->file = fopen(c->path, "r");
	ck_assert_msg(c->file != NULL, "cannot open %s", c->path);
	ck_assert_msg(read_line(c), "%s has no header", c->path);
	ck_assert_uint_lt(strlen(c->text), sizeof c->names);
	memcpy(c->names, c->text, strlen(c->text) + 1);
	c->columns = split(c->names, c->name);
}

bool csv_next(struct csv *c)
{
	if (!read_line(c))
		return false;
	c->fields = split(c->text, c->field);
	ck_assert_msg(c->fields == c->columns, "%s:%d: %zu fields, the header has %zu", c->path, c->line, c->fields, c->columns);
	return true;
}

const char *csv_text(const struct csv *c, const char *column)
{
	for (size_t i = 0; i < c->columns; i++)
		if (strcmp(c->name[i], column) == 0)
			return c->field[i];
	ck_abort_msg("%s has no column %s", c->path, column);
	return "";
}

double csv_real(const struct csv *c, const char *column)
{
	const char *text = csv_text(c, column);
	char *end;
	double value = strtod(text, &end);

	ck_assert_msg(end != text && *end == '\0', "%s:%d: %s '%s' is not a number", c->path, c->line, column, text);
	return value;
}

int64_t csv_int(const struct csv *c, const char *column)
{
	const char *text = csv_text(c, column);
	char *end;
	long long value = strtoll(text, &end, 10);

	ck_assert_msg(end != text && *end == '\0', "%s:%d: %s '%s' is not a whole number", c->path, c->line, column, text);
	return value;
}

bool test_prints_table(void)
{
	return getenv("MESHPLAN_PRINT_TABLE") != NULL;
}

int64_t test_rounds(int64_t n)
{
	const char *times = getenv("MESHPLAN_TEST_ROUNDS");

	return times != NULL ? (int64_t)fmax(1, (double)n * strtod(times, NULL)) : n;
}

int test_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
