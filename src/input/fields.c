#include "fields.h"

#include "catalog.h"
#include "units.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* The keys of a table followed by the other known ones, for "nearest" lists. */
struct key_list {
	const struct field_table *t;
	const char *const *also;
};

static size_t count_names(const char *const *names)
{
	size_t n = 0;

	while (names != NULL && names[n] != NULL)
		n++;
	return n;
}

static const char *key_at(const void *ctx, size_t i)
{
	const struct key_list *list = ctx;

	return i < list->t->n ? list->t->rows[i].key : list->also[i - list->t->n];
}

static const char *name_at(const void *ctx, size_t i)
{
	const char *const *names = ctx;

	return names[i];
}

static enum err_code unknown_key(const cJSON *item, const struct json_place *p, const struct key_list *list, struct err *e)
{
	char near[160];

	catalog_nearest(item->string, list->t->n + count_names(list->also), key_at, list, near, sizeof near);
	return json_error(
		p, item->string, ERR_FILE, e, "a %s has no key '%.60s'; nearest: %s", list->t->what, item->string, near);
}

static void store(void *out, const struct field *f, const void *value)
{
	memcpy((char *)out + f->offset, value, f->size);
}

static enum err_code read_text(const cJSON *item, const struct json_place *p, const struct field *f, void *out, struct err *e)
{
	const char *text = NULL;
	enum err_code code = json_string(item, p, &text, e);
	size_t len;

	if (code != ERR_OK)
		return code;
	len = strlen(text);
	if (len >= f->size)
		return json_error(p, f->key, ERR_FILE, e, "the text has %zu bytes; at most %zu fit", len, f->size - 1);
	if (strpbrk(text, "\t\n\r") != NULL)
		return json_error(p, f->key, ERR_FILE, e, "a line break or tab in a text of one line");
	memcpy((char *)out + f->offset, text, len + 1);
	return ERR_OK;
}

static enum err_code read_bytes(const cJSON *item, const struct json_place *p, const struct field *f, void *out, struct err *e)
{
	int64_t bytes = 0;
	enum err_code code;

	if (cJSON_IsString(item)) {
		struct err inner;

		code = units_parse_bytes(item->valuestring, f->key, &bytes, &inner);
		if (code != ERR_OK)
			return json_error(p, f->key, ERR_FILE, e, "%s", inner.msg);
		if ((double)bytes < f->min || (double)bytes > f->max)
			return json_error(p, f->key, ERR_FILE, e, "\"%.40s\" is out of range; legal: %g to %g bytes",
				item->valuestring, f->min, f->max);
	} else if (cJSON_IsNumber(item)) {
		code = json_integer(item, p, (int64_t)f->min, (int64_t)f->max, &bytes, e);
		if (code != ERR_OK)
			return code;
	} else {
		return json_refuse(item, p, e, "is not a size; write it like \"80GB\" or \"79.15GiB\"");
	}
	if (bytes > 0 && bytes < UNITS_LEAST_MEMORY_BYTES)
		return json_error(p, f->key, ERR_FILE, e, "%lld is less than a megabyte; write it like \"80GB\" or \"79.15GiB\"",
			(long long)bytes);
	store(out, f, &bytes);
	return ERR_OK;
}

static enum err_code read_name(const cJSON *item, const struct json_place *p, const struct field *f, void *out, struct err *e)
{
	const char *text = NULL;
	char near[160];
	enum err_code code = json_string(item, p, &text, e);

	if (code != ERR_OK)
		return code;
	for (int32_t i = 0; f->names[i] != NULL; i++) {
		if (strcmp(f->names[i], text) == 0) {
			store(out, f, &i);
			return ERR_OK;
		}
	}
	catalog_nearest(text, count_names(f->names), name_at, f->names, near, sizeof near);
	return json_error(p, f->key, ERR_FILE, e, "there is no '%.60s'; nearest: %s", text, near);
}

static enum err_code read_field(const cJSON *item, const struct json_place *p, const struct field *f, void *out, struct err *e)
{
	enum err_code code = ERR_OK;
	int64_t whole = 0;
	double real = 0;
	bool on = false;
	int32_t flag;

	switch (f->type) {
	case FIELD_TEXT:
		return read_text(item, p, f, out, e);
	case FIELD_BYTES:
		return read_bytes(item, p, f, out, e);
	case FIELD_NAME:
		return read_name(item, p, f, out, e);
	case FIELD_INT:
		code = json_integer(item, p, (int64_t)f->min, (int64_t)f->max, &whole, e);
		if (code == ERR_OK)
			store(out, f, &whole);
		break;
	case FIELD_REAL:
		code = json_real(item, p, f->min, f->max, &real, e);
		real *= field_unit_scale(f->unit);
		if (code == ERR_OK)
			store(out, f, &real);
		break;
	case FIELD_FLAG:
		code = json_flag(item, p, &on, e);
		flag = on ? 1 : 0;
		if (code == ERR_OK)
			store(out, f, &flag);
		break;
	}
	return code;
}

static bool listed(const char *const *names, const char *key)
{
	for (size_t i = 0; names != NULL && names[i] != NULL; i++)
		if (strcmp(names[i], key) == 0)
			return true;
	return false;
}

/* Row of a key, t->n if there is none. Files mostly keep the order of the table, so the search starts at `from`. */
static size_t find_row(const struct field_table *t, const char *key, size_t from)
{
	for (size_t k = 0; k < t->n; k++) {
		size_t i = (from + k) % t->n;

		if (strcmp(t->rows[i].key, key) == 0)
			return i;
	}
	return t->n;
}

enum err_code fields_read(const cJSON *object, const struct json_place *p, const struct field_table *t, const char *const *also,
	void *out, struct err *e)
{
	struct key_list list = { .t = t, .also = also };
	bool seen[FIELDS_MAX] = { false };
	const cJSON *item;
	size_t next = 0;

	if (t->n > FIELDS_MAX)
		return json_error(p, NULL, ERR_INTERNAL, e, "the table of a %s has more than %d rows", t->what, FIELDS_MAX);
	if (!cJSON_IsObject(object))
		return json_error(p, NULL, ERR_FILE, e, "an object is needed");
	cJSON_ArrayForEach (item, object) {
		size_t i = find_row(t, item->string, next);
		enum err_code code;

		if (i == t->n) {
			if (listed(also, item->string))
				continue;
			return unknown_key(item, p, &list, e);
		}
		code = read_field(item, p, &t->rows[i], out, e);
		if (code != ERR_OK)
			return code;
		seen[i] = true;
		next = i + 1;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].required && !seen[i])
			return json_error(p, t->rows[i].key, ERR_FILE, e, "the key is missing; a %s needs it", t->what);
	return ERR_OK;
}

void fields_write_value(const struct field *f, const void *in, struct sink *out)
{
	const char *at = (const char *)in + f->offset;
	int64_t whole = 0;
	int32_t small = 0;
	double real = 0;
	char text[48];

	switch (f->type) {
	case FIELD_TEXT:
		sink_json_string(out, at);
		break;
	case FIELD_INT:
		memcpy(&whole, at, sizeof whole);
		sink_json_int(out, whole);
		break;
	case FIELD_BYTES:
		memcpy(&whole, at, sizeof whole);
		sink_json_string(out, units_format_bytes_exact(whole, text, sizeof text));
		break;
	case FIELD_REAL:
		memcpy(&real, at, sizeof real);
		sink_json_double(out, real / field_unit_scale(f->unit));
		break;
	case FIELD_FLAG:
		memcpy(&small, at, sizeof small);
		sink_puts(out, small != 0 ? "true" : "false");
		break;
	case FIELD_NAME:
		memcpy(&small, at, sizeof small);
		sink_json_string(out, f->names[small]);
		break;
	}
}

bool fields_is_zero(const struct field *f, const void *in)
{
	const char *at = (const char *)in + f->offset;

	if (f->type == FIELD_TEXT)
		return at[0] == '\0';
	for (size_t i = 0; i < f->size; i++)
		if (at[i] != 0)
			return false;
	return true;
}

void fields_write(const struct field_table *t, const void *in, const char *first, const char *next, struct sink *out)
{
	const char *before = first;

	for (size_t i = 0; i < t->n; i++) {
		if (!t->rows[i].required && fields_is_zero(&t->rows[i], in))
			continue;
		sink_puts(out, before);
		sink_json_string(out, t->rows[i].key);
		sink_puts(out, ": ");
		fields_write_value(&t->rows[i], in, out);
		before = next;
	}
}

static enum err_code set_name(const struct field *f, const char *text, int32_t *value, struct err *e)
{
	for (int32_t i = 0; f->names[i] != NULL; i++)
		if (strcmp(f->names[i], text) == 0) {
			*value = i;
			return ERR_OK;
		}
	return err_set(e, ERR_USAGE, f->key, "'%.40s' is no value of %s", text, f->key);
}

/* A number in the unit of the row, as the file would hold it. */
static enum err_code check_text_range(const struct field *f, double value, const char *text, struct err *e)
{
	if (value >= f->min && value <= f->max)
		return ERR_OK;
	return err_set(e, ERR_RANGE, f->key, "%.40s is out of range; legal: %g to %g", text, f->min, f->max);
}

static enum err_code set_whole(const struct field *f, const char *text, void *out, struct err *e)
{
	int64_t value = 0;
	enum err_code code = f->type == FIELD_BYTES ? units_parse_bytes(text, f->key, &value, e)
						    : units_parse_count(text, f->key, 1000, &value, e);

	if (code == ERR_OK)
		code = check_text_range(f, (double)value, text, e);
	if (code == ERR_OK)
		store(out, f, &value);
	return code;
}

static enum err_code set_real(const struct field *f, const char *text, void *out, struct err *e)
{
	double value = 0;
	enum err_code code = units_parse_real(text, f->key, &value, e);

	if (code == ERR_OK)
		code = check_text_range(f, value, text, e);
	value *= field_unit_scale(f->unit);
	if (code == ERR_OK)
		store(out, f, &value);
	return code;
}

static enum err_code set_field(const struct field *f, const char *text, void *out, struct err *e)
{
	int32_t index = strcmp(text, "on") == 0;
	enum err_code code = ERR_OK;

	switch (f->type) {
	case FIELD_TEXT:
		(void)snprintf((char *)out + f->offset, f->size, "%s", text);
		return ERR_OK;
	case FIELD_INT:
	case FIELD_BYTES:
		return set_whole(f, text, out, e);
	case FIELD_REAL:
		return set_real(f, text, out, e);
	case FIELD_NAME:
		code = set_name(f, text, &index, e);
		break;
	case FIELD_FLAG:
		if (index == 0 && strcmp(text, "off") != 0)
			code = err_set(e, ERR_USAGE, f->key, "'%.40s' is neither on nor off", text);
		break;
	}
	if (code == ERR_OK)
		store(out, f, &index);
	return code;
}

enum err_code fields_set_text(const struct field_table *t, const char *key, const char *text, void *out, struct err *e)
{
	size_t i = find_row(t, key, 0);

	return i < t->n ? set_field(&t->rows[i], text, out, e)
			: err_set(e, ERR_UNKNOWN, key, "a %s has no key '%.60s'", t->what, key);
}
