#include "preset_keys.h"

#include "fields.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const preset_keys_model[] = { "family", "order", "published", "source", "notes", NULL };
const char *const preset_keys_gpu[] = { "order", "link-note", "source", "prices", "notes", NULL };
const char *const preset_keys_node[] = { "order", "source", "notes", NULL };
const char *const preset_keys_profile[] = { "order", "notes", NULL };

struct source_entry {
	char what[64], where[480], kind[24], date[32];
};

struct published_entry {
	int64_t params, active_params;
	char note[480], where[320], kind[24];
};

/* clang-format off */
#define TEXT(k, s, m, need, h) \
	{ .key = k, .type = FIELD_TEXT, .offset = offsetof(struct s, m), .size = sizeof(((struct s *)0)->m), .required = need, \
		.help = h }
#define COUNT(k, s, m, h) \
	{ .key = k, .type = FIELD_INT, .offset = offsetof(struct s, m), .size = sizeof(((struct s *)0)->m), .max = 1e16, \
		.help = h }

static const struct field source_rows[] = {
	TEXT("what", source_entry, what, false, "which values of the file it is for; absent: all"),
	TEXT("where", source_entry, where, true, "paper, repository with commit and path, page"),
	TEXT("kind", source_entry, kind, true, "retrieved (read there), mixed, memory (recalled), assumption, derived, lesson, "
		"import"),
	TEXT("date", source_entry, date, true, "when it was gathered, YYYY-MM-DD"),
};

static const struct field published_rows[] = {
	COUNT("params", published_entry, params, "total that its makers or the hub give"),
	COUNT("active-params", published_entry, active_params, "active parameters that its makers give, often rounded"),
	TEXT("note", published_entry, note, false, "why the count of the shape differs"),
	TEXT("where", published_entry, where, false, "where it was read"),
	TEXT("kind", published_entry, kind, false, "retrieved, memory, nominal"),
};
/* clang-format on */

const struct field_table preset_source_fields = { "source", sizeof(struct source_entry), source_rows,
	sizeof source_rows / sizeof source_rows[0] };
const struct field_table preset_published_fields = { "published count", sizeof(struct published_entry), published_rows,
	sizeof published_rows / sizeof published_rows[0] };

/* An array of objects of one kind, `stride` bytes apart in out; stride 0: the values are only checked. */
static enum err_code read_list(
	const cJSON *list, const struct json_place *p, const struct field_table *t, size_t stride, void *out, struct err *e)
{
	struct json_place inside = json_inside(p, list->string);
	const cJSON *entry;
	size_t i = 0;

	if (!cJSON_IsArray(list))
		return json_error(p, list->string, ERR_FILE, e, "an array of objects is needed");
	cJSON_ArrayForEach (entry, list) {
		char index[24];
		struct json_place at;
		enum err_code code;

		(void)snprintf(index, sizeof index, "%zu", i);
		at = json_inside(&inside, index);
		code = fields_read(entry, &at, t, NULL, (char *)out + i++ * stride, e);
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

enum err_code preset_keys_prices(
	const cJSON *object, const struct json_place *p, struct gpu_price **prices, size_t *n, struct err *e)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "prices");
	size_t size = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
	enum err_code code;

	*n = 0;
	*prices = NULL;
	if (list == NULL)
		return ERR_OK;
	*prices = calloc(size + 1, sizeof **prices);
	if (*prices == NULL)
		return json_error(p, "prices", ERR_INTERNAL, e, "out of memory");
	code = read_list(list, p, &gpu_price_fields, sizeof **prices, *prices, e);
	for (size_t i = 0; i < size && code == ERR_OK; i++)
		(void)snprintf((*prices)[i].name, sizeof(*prices)[i].name, "%s%s%s", (*prices)[i].provider,
			(*prices)[i].kind != PRICE_LESSON ? " " : "",
			(*prices)[i].kind != PRICE_LESSON ? price_kind_names[(*prices)[i].kind] : "");
	*n = size;
	return code;
}

enum err_code preset_keys_check(const cJSON *object, const struct json_place *p, struct err *e)
{
	struct source_entry source = { .what = "" };
	struct published_entry published = { .params = 0 };
	enum err_code code = ERR_OK;
	const char *text;
	const cJSON *item;
	int64_t order;

	cJSON_ArrayForEach (item, object) {
		if (strcmp(item->string, "source") == 0 && !cJSON_IsString(item)) {
			code = read_list(item, p, &preset_source_fields, 0, &source, e);
		} else if (strcmp(item->string, "published") == 0) {
			struct json_place inside = json_inside(p, item->string);

			code = fields_read(item, &inside, &preset_published_fields, NULL, &published, e);
		} else if (strcmp(item->string, "order") == 0) {
			code = json_integer(item, p, 0, 1000000, &order, e);
		} else if (strcmp(item->string, "notes") == 0 || strcmp(item->string, "family") == 0 ||
			strcmp(item->string, "link-note") == 0) {
			code = json_string(item, p, &text, e);
		}
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

int64_t preset_keys_order(const cJSON *object)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "order");

	return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : INT64_MAX;
}
