#include "json.h"

#include "file.h"
#include "num.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Integers beyond this are not exact in a double, which is what cJSON stores. */
#define EXACT_MAX 9007199254740992.0

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
	struct json_place place = { .file = name };
	enum err_code code = json_scan(name, text, len, e);

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
	if (fabs(item->valuedouble) > 0 && fabs(item->valuedouble) < JSON_LEAST_REAL)
		return json_refuse(item, p, e, "is smaller than what counts; nearest: 0, %g", JSON_LEAST_REAL);
	*out = fabs(item->valuedouble) > 0 ? item->valuedouble : 0; /* -0 would make rates of minus infinity */
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
