/* Strict reading on top of cJSON. A file is checked before cJSON sees it: size, UTF-8, grammar, depth; the tree is checked for
 * duplicate keys and for numbers that do not fit. Every error names file:pointer (file:line:column where the text itself is
 * broken). */
#ifndef MESHPLAN_JSON_H
#define MESHPLAN_JSON_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

enum {
	JSON_SIZE_MAX = 4 << 20, /* bytes of one file */
	JSON_DEPTH_MAX = 48,     /* nested arrays and objects */
	JSON_POINTER_CAP = 120,
};

/* No quantity in any unit of a file is smaller, but not 0: what is divided by it stays finite. */
#define JSON_LEAST_REAL 1e-12

/* An object inside a file: how messages name it. pointer is "" for the root. */
struct json_place {
	const char *file;
	char pointer[JSON_POINTER_CAP];
};

/* Checks a text against the grammar: UTF-8 without control characters, one object, at most JSON_DEPTH_MAX deep. ERR_FILE names
 * file:line:column. */
enum err_code json_scan(const char *name, const char *text, size_t len, struct err *e) NODISCARD;
/* Parses text into *root, which must be an object; cJSON_Delete it. `name` stands for the file in messages. */
enum err_code json_parse(const char *name, const char *text, size_t len, struct cJSON **root, struct err *e) NODISCARD;
/* Reads a file of at most JSON_SIZE_MAX bytes and parses it. */
enum err_code json_load(const char *path, struct cJSON **root, struct err *e) NODISCARD;

/* The place of a member of `p`. Longer pointers are cut. */
struct json_place json_inside(const struct json_place *p, const char *key);
/* err_set with where = file:pointer/key; key NULL: the object itself. */
enum err_code json_error(const struct json_place *p, const char *key, enum err_code code, struct err *e, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
/* json_error about p's member item->string, which begins with its value: "abc", 3.5, an object. ERR_FILE. */
enum err_code json_refuse(const struct cJSON *item, const struct json_place *p, struct err *e, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Typed values; the errors name p's member item->string, the value and the nearest legal one. */
enum err_code json_integer(
	const struct cJSON *item, const struct json_place *p, int64_t min, int64_t max, int64_t *out, struct err *e) NODISCARD;
enum err_code json_real(
	const struct cJSON *item, const struct json_place *p, double min, double max, double *out, struct err *e) NODISCARD;
enum err_code json_flag(const struct cJSON *item, const struct json_place *p, bool *out, struct err *e) NODISCARD;
/* *out points into the tree. */
enum err_code json_string(const struct cJSON *item, const struct json_place *p, const char **out, struct err *e) NODISCARD;

#endif
