#include "scenario_file.h"

#include "file.h"
#include "json.h"
#include "report.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The longest value is a list of stages: 256 numbers of up to five digits. */
enum { VALUE_CAP = 2048 };

struct loader {
	const struct catalog *c;
	const cJSON *scenario;
	struct json_place place;
	struct draft d;
	struct err *e;
};

static bool is_shape(const struct knob *k)
{
	return (k->flags & KNOB_F_SHAPE) != 0;
}

/* params and bias stand for several members at once; where those are given one by one, they only sum them up. */
static bool is_summary(const struct knob *k)
{
	return k->type == KNOB_PARAMS || k->type == KNOB_BIAS;
}

static const cJSON *value_of(const struct loader *l, const struct knob *k)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(l->scenario, k->key);

	return item == NULL || cJSON_IsNull(item) ? NULL : item;
}

static bool has_key(const struct loader *l, const char *key)
{
	const struct knob *k = knob_find(key);

	return k != NULL && value_of(l, k) != NULL;
}

/* A list of whole numbers as "11,10,10,11". */
static enum err_code list_text(const struct loader *l, const struct knob *k, const cJSON *list, char *text, size_t cap)
{
	struct json_place inside = json_inside(&l->place, k->key);
	const cJSON *item;
	size_t len = 0, i = 0;

	text[0] = '\0';
	cJSON_ArrayForEach (item, list) {
		char index[24];
		struct json_place at;
		int64_t layers;
		enum err_code code;
		int n;

		(void)snprintf(index, sizeof index, "%zu", i++);
		at = json_inside(&inside, index);
		code = json_integer(item, &at, 0, 1000000, &layers, l->e);
		if (code != ERR_OK)
			return code;
		n = snprintf(text + len, cap - len, "%s%" PRId64, len == 0 ? "" : ",", layers);
		if (n < 0 || len + (size_t)n >= cap)
			return json_error(&l->place, k->key, ERR_FILE, l->e, "the list is too long");
		len += (size_t)n;
	}
	return ERR_OK;
}

/* The text that knob_parse takes for a JSON value. */
static enum err_code value_text(const struct loader *l, const struct knob *k, const cJSON *item, char *text, size_t cap)
{
	bool flag = k->type == KNOB_FLAG || k->type == KNOB_BIAS;
	struct sink out;

	if (cJSON_IsBool(item) && flag) {
		(void)snprintf(text, cap, "%s", cJSON_IsTrue(item) ? "on" : "off");
		return ERR_OK;
	}
	if (cJSON_IsString(item)) {
		if ((size_t)snprintf(text, cap, "%s", item->valuestring) >= cap)
			return json_error(&l->place, k->key, ERR_FILE, l->e, "the text is too long");
		return ERR_OK;
	}
	if (cJSON_IsArray(item) && k->type == KNOB_STAGES)
		return list_text(l, k, item, text, cap);
	if (cJSON_IsNumber(item) && !flag && k->type != KNOB_ENUM && k->type != KNOB_PRESET && k->type != KNOB_STAGES) {
		/* Integers up to 2^63 in full: the shortest double could have an exponent. */
		if (item->valuedouble > -9e15 && item->valuedouble < 9e15 &&
			!(item->valuedouble > (double)(int64_t)item->valuedouble) &&
			!(item->valuedouble < (double)(int64_t)item->valuedouble)) {
			(void)snprintf(text, cap, "%" PRId64, (int64_t)item->valuedouble);
			return ERR_OK;
		}
		sink_init(&out, text, cap, NULL, NULL);
		sink_json_double(&out, item->valuedouble);
		return ERR_OK;
	}
	return json_refuse(item, &l->place, l->e, "is not a value for %s%s", k->key, flag ? "; legal: true, false" : "");
}

static enum err_code apply_text(struct loader *l, const struct knob *k, const char *text)
{
	struct err inner;
	enum err_code code = draft_set(&l->d, l->c, k, text, ORIGIN_FILE, &inner);

	if (code != ERR_OK)
		return json_error(&l->place, k->key, code == ERR_INTERNAL ? code : ERR_FILE, l->e, "%s", inner.msg);
	return ERR_OK;
}

/* The shape of a model that is not in the catalog starts from nothing, so every key must be there. */
static enum err_code start_custom(struct loader *l, const char *id)
{
	char missing[200] = "";

	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);

		if (is_shape(k) && !is_summary(k) && value_of(l, k) == NULL)
			text_join(missing, sizeof missing, ", ", k->key);
	}
	if (missing[0] != '\0')
		return json_error(&l->place, "model", ERR_FILE, l->e,
			"'%.60s' is not a preset here, so every key of its shape must be given; missing: %s", id, missing);
	l->d.s.model = (struct model){ .norms_per_layer = 2, .moe_stride = 1 };
	return ERR_OK;
}

/* Sets the model preset, if it is one; else *custom is its name. */
static enum err_code apply_model(struct loader *l, const struct knob *k, const cJSON *item, const char **custom)
{
	const struct model *preset = NULL;
	char text[VALUE_CAP];
	struct err inner;
	enum err_code code = value_text(l, k, item, text, sizeof text);

	if (code != ERR_OK)
		return code;
	if (catalog_model(l->c, text, &preset, &inner) == ERR_OK)
		return apply_text(l, k, preset->id);
	/* Without a shape it is just a name that is not known. */
	if (!has_key(l, "layers") || !has_key(l, "hidden"))
		return json_error(&l->place, k->key, ERR_FILE, l->e, "%s", inner.msg);
	*custom = item->valuestring;
	return start_custom(l, item->valuestring);
}

static bool knob_is(const struct knob *k, const char *key)
{
	return strcmp(k->key, key) == 0;
}

/* A total beside a complete shape must be the total of that shape. */
static enum err_code check_params(const struct loader *l, const struct knob *k)
{
	const cJSON *item = value_of(l, k);
	int64_t given = 0, counted;
	enum err_code code;

	if (item == NULL || !has_key(l, "layers"))
		return ERR_OK;
	if (model_check(&l->d.s.model, l->e) != ERR_OK)
		return json_error(&l->place, NULL, ERR_FILE, l->e, "the shape of the model is not possible: check its keys");
	code = json_integer(item, &l->place, 0, INT64_C(100000000000000000), &given, l->e);
	counted = model_params(&l->d.s.model);
	if (code == ERR_OK && given != counted)
		code = json_error(&l->place, k->key, ERR_FILE, l->e,
			"%" PRId64 " is not the total of the given shape, %" PRId64 "; leave one of the two out", given, counted);
	return code;
}

static enum err_code apply_all(struct loader *l)
{
	const char *custom = NULL;
	enum err_code code = ERR_OK;

	for (size_t i = 0; i < knob_count() && code == ERR_OK; i++) {
		const struct knob *k = knob_at(i);
		const cJSON *item = value_of(l, k);
		char text[VALUE_CAP];

		if (item == NULL)
			continue;
		if (knob_is(k, "model")) {
			code = apply_model(l, k, item, &custom);
			continue;
		}
		if ((k->type == KNOB_PARAMS && has_key(l, "layers")) || (k->type == KNOB_BIAS && has_key(l, "qkv-bias")))
			continue;
		code = value_text(l, k, item, text, sizeof text);
		if (code == ERR_OK)
			code = apply_text(l, k, text);
	}
	if (code == ERR_OK)
		code = check_params(l, knob_find("params"));
	if (code == ERR_OK && custom != NULL) {
		(void)snprintf(l->d.s.model.id, sizeof l->d.s.model.id, "%.63s", custom);
		(void)snprintf(l->d.s.model.label, sizeof l->d.s.model.label, "%.63s", custom);
	}
	return code;
}

static enum err_code check_keys(const struct loader *l)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, l->scenario) {
		const struct knob *k = knob_find(item->string);
		char near[160];

		if (k != NULL && strcmp(k->key, item->string) == 0)
			continue;
		return json_error(&l->place, item->string, ERR_FILE, l->e, "there is no key '%.60s'; nearest: %s", item->string,
			k != NULL ? k->key : knob_nearest(item->string, near, sizeof near));
	}
	return ERR_OK;
}

/* The members around the scenario. A plan document may have any beside. */
static enum err_code check_document(const cJSON *root, const struct json_place *p, struct err *e)
{
	bool is_plan = cJSON_GetObjectItemCaseSensitive(root, "verdict") != NULL;
	const cJSON *item, *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
	const char *text;
	int64_t version = 0;
	enum err_code code = ERR_OK;

	if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "scenario")))
		return json_error(p, "scenario", ERR_FILE, e, "the object with the values is missing");
	cJSON_ArrayForEach (item, root) {
		if (strcmp(item->string, "meshplan") == 0)
			code = json_string(item, p, &text, e);
		else if (strcmp(item->string, "schema") == 0)
			code = json_integer(item, p, 1, 1000000, &version, e);
		else if (strcmp(item->string, "scenario") != 0 && !is_plan)
			code = json_error(p, item->string, ERR_FILE, e,
				"a scenario file has no key '%.60s'; legal: meshplan, schema, scenario", item->string);
		if (code != ERR_OK)
			return code;
	}
	if (schema == NULL)
		return json_error(p, "schema", ERR_FILE, e, "the key is missing; this program reads schema %d", MESHPLAN_SCHEMA);
	if (version != MESHPLAN_SCHEMA)
		return json_error(p, "schema", ERR_FILE, e, "%" PRId64 " is not known; this program reads schema %d", version,
			MESHPLAN_SCHEMA);
	return ERR_OK;
}

static enum err_code load(const cJSON *root, const char *name, const struct catalog *c, struct draft *d, struct err *e)
{
	struct loader l = { .c = c, .place = { .file = name }, .d = *d, .e = e };
	enum err_code code = check_document(root, &l.place, e);

	if (code != ERR_OK)
		return code;
	l.scenario = cJSON_GetObjectItemCaseSensitive(root, "scenario");
	l.place = json_inside(&l.place, "scenario");
	code = check_keys(&l);
	if (code == ERR_OK)
		code = apply_all(&l);
	if (code == ERR_OK)
		*d = l.d;
	return code;
}

enum err_code scenario_file_parse(
	const char *name, const char *text, size_t len, const struct catalog *c, struct draft *d, struct err *e)
{
	cJSON *root = NULL;
	enum err_code code = json_parse(name, text, len, &root, e);

	if (code == ERR_OK)
		code = load(root, name, c, d, e);
	cJSON_Delete(root);
	return code;
}

enum err_code scenario_file_read(const char *path, const struct catalog *c, struct draft *d, struct err *e)
{
	cJSON *root = NULL;
	enum err_code code = json_load(path, &root, e);

	if (code == ERR_OK)
		code = load(root, path, c, d, e);
	cJSON_Delete(root);
	return code;
}

void scenario_file_print(const struct draft *d, const char *version, struct sink *out)
{
	sink_puts(out, "{\n  \"meshplan\": ");
	sink_json_string(out, version);
	sink_printf(out, ",\n  \"schema\": %d,\n  \"scenario\": {", MESHPLAN_SCHEMA);
	for (size_t i = 0; i < knob_count(); i++) {
		sink_puts(out, i == 0 ? "\n    " : ",\n    ");
		sink_json_string(out, knob_at(i)->key);
		sink_puts(out, ": ");
		knob_json(knob_at(i), &d->s, out);
	}
	sink_puts(out, "\n  }\n}\n");
}

struct saved {
	const struct draft *d;
	const char *version;
};

static void print_saved(const void *ctx, struct sink *out)
{
	const struct saved *saved = ctx;

	scenario_file_print(saved->d, saved->version, out);
}

enum err_code scenario_file_write(const char *path, const struct draft *d, const char *version, struct err *e)
{
	return file_print(path, print_saved, &(struct saved){ d, version }, e);
}
