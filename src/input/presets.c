#include "presets_internal.h"

#include "fields.h"
#include "file.h"
#include "json.h"
#include "model_file.h"
#include "preset_keys.h"
#include "presets_data.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const preset_kind_names[PRESET_KIND_COUNT + 1] = { "models", "gpus", "nodes", "frameworks", "families",
	"coefficients", NULL };

static const char built_in[] = "built in";

/* One preset with its file. The value is the struct of its kind. */
struct entry {
	const char *id; /* inside value */
	void *value;
	const char *text;
	size_t len;
	char *owned_text, *path; /* NULL for built-in files */
	int64_t order;
	size_t sequence;
	bool is_default;          /* profiles */
	struct gpu_price *prices; /* GPUs */
	size_t n_prices;
};

struct shelf {
	struct entry *entries;
	size_t n, cap;
	void *values; /* the catalog's array */
};

struct preset_store {
	struct shelf shelves[PRESET_KIND_COUNT];
	struct gpu_price *prices; /* the catalog's array */
	struct catalog catalog;
	size_t sequence;
};

const struct field_table *const preset_kind_fields[PRESET_KIND_COUNT] = {
	[PRESET_KIND_MODEL] = &model_fields,
	[PRESET_KIND_GPU] = &gpu_fields,
	[PRESET_KIND_NODE] = &node_fields,
	[PRESET_KIND_PROFILE] = &profile_fields,
	[PRESET_KIND_FAMILY] = &gpu_family_fields,
	[PRESET_KIND_COEFFICIENTS] = &coefficients_fields,
};

/* The id is the first member of each of the structs. */
_Static_assert(offsetof(struct model, id) == 0 && offsetof(struct gpu, id) == 0 && offsetof(struct node, id) == 0 &&
		offsetof(struct profile, id) == 0 && offsetof(struct gpu_family, id) == 0 &&
		offsetof(struct coefficients, id) == 0,
	"presets start with their id");

static void entry_clear(struct entry *en)
{
	free(en->value);
	free(en->prices);
	free(en->owned_text);
	free(en->path);
}

void preset_store_free(struct preset_store *store)
{
	if (store == NULL)
		return;
	for (size_t k = 0; k < PRESET_KIND_COUNT; k++) {
		for (size_t i = 0; i < store->shelves[k].n; i++)
			entry_clear(&store->shelves[k].entries[i]);
		free(store->shelves[k].entries);
		free(store->shelves[k].values);
	}
	free(store->prices);
	free(store);
}

/* Ids are typed on command lines and split at '-'. */
static enum err_code check_id(const char *id, const struct json_place *p, struct err *e)
{
	size_t good = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789.-");

	if (id[0] == '\0' || id[good] != '\0')
		return json_error(p, "id", ERR_FILE, e, "'%s' is not an id; legal: small letters, digits, '.' and '-'", id);
	return ERR_OK;
}

static struct entry *shelf_slot(struct shelf *shelf, const char *id)
{
	struct entry *grown;

	for (size_t i = 0; i < shelf->n; i++)
		if (strcmp(shelf->entries[i].id, id) == 0)
			return &shelf->entries[i];
	if (shelf->n == shelf->cap) {
		size_t cap = shelf->cap == 0 ? 64 : 2 * shelf->cap;

		grown = realloc(shelf->entries, cap * sizeof *grown);
		if (grown == NULL)
			return NULL;
		shelf->entries = grown;
		shelf->cap = cap;
	}
	shelf->entries[shelf->n] = (struct entry){ .id = NULL };
	return &shelf->entries[shelf->n++];
}

/* Puts `en` on the shelf, in the place of an older one with its id; takes over what it owns. */
static bool shelf_put(struct shelf *shelf, struct entry *en)
{
	struct entry *slot = shelf_slot(shelf, en->id);

	if (slot == NULL)
		return false;
	if (slot->value != NULL) {
		/* Who replaces a preset without saying where it belongs takes its place. */
		if (en->order == INT64_MAX)
			en->order = slot->order;
		entry_clear(slot);
	}
	*slot = *en;
	return true;
}

static bool flag_is_set(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key)) != 0;
}

/* A GPU whose file does not say what you pay costs the first of its prices. */
static void fill_gpu_price(struct gpu *g, const struct entry *en)
{
	for (size_t i = 0; i < en->n_prices; i++)
		(void)snprintf(en->prices[i].gpu_id, sizeof en->prices[i].gpu_id, "%s", g->id);
	if (g->usd_per_hour > 0 || en->n_prices == 0)
		return;
	g->usd_per_hour = en->prices[0].usd_per_hour;
	(void)snprintf(g->usd_provider, sizeof g->usd_provider, "%s", en->prices[0].provider);
	(void)snprintf(g->usd_date, sizeof g->usd_date, "%s", en->prices[0].date);
}

/* What has no label is called by its id. */
static void fill_label(char *label, size_t cap, const char *id)
{
	if (label[0] == '\0')
		(void)snprintf(label, cap, "%s", id);
}

static enum err_code parse_gpu(const cJSON *root, const struct json_place *place, struct entry *en, struct err *e)
{
	struct gpu *g = en->value;
	enum err_code code = fields_read(root, place, &gpu_fields, preset_keys_gpu, g, e);

	if (code == ERR_OK)
		code = preset_keys_prices(root, place, &en->prices, &en->n_prices, e);
	fill_label(g->label, sizeof g->label, g->id);
	fill_gpu_price(g, en);
	return code;
}

static enum err_code parse_node(const cJSON *root, const struct json_place *place, struct node *n, struct err *e)
{
	enum err_code code = fields_read(root, place, &node_fields, preset_keys_node, n, e);

	fill_label(n->label, sizeof n->label, n->id);
	return code;
}

static enum err_code parse_family(const cJSON *root, const struct json_place *place, struct gpu_family *f, struct err *e)
{
	struct err inner;
	enum err_code code = fields_read(root, place, &gpu_family_fields, preset_keys_profile, f, e);

	if (code == ERR_OK && gpu_family_check(f, &inner) != ERR_OK)
		code = json_error(place, inner.where, ERR_FILE, e, "%s", inner.msg);
	return code;
}

static enum err_code parse_value(
	struct entry *en, enum preset_kind kind, const cJSON *root, const struct json_place *place, struct err *e)
{
	switch (kind) {
	case PRESET_KIND_MODEL:
		return model_file_parse(root, place, preset_keys_model, en->value, e);
	case PRESET_KIND_GPU:
		return parse_gpu(root, place, en, e);
	case PRESET_KIND_NODE:
		return parse_node(root, place, en->value, e);
	case PRESET_KIND_COEFFICIENTS:
		((struct coefficients *)en->value)->v[COEF_ONE] = 1;
		break;
	case PRESET_KIND_FAMILY:
		return parse_family(root, place, en->value, e);
	case PRESET_KIND_PROFILE:
	case PRESET_KIND_COUNT:
		break;
	}
	return fields_read(root, place, preset_kind_fields[kind], preset_keys_profile, en->value, e);
}

/* The value, its prices and the keys beside them; en owns them also after an error. */
static enum err_code entry_parse(
	struct entry *en, enum preset_kind kind, const cJSON *root, const struct json_place *place, struct err *e)
{
	enum err_code code;

	en->value = calloc(1, preset_kind_fields[kind]->struct_size);
	if (en->value == NULL)
		return err_set(e, ERR_INTERNAL, place->file, "out of memory");
	code = parse_value(en, kind, root, place, e);
	return code == ERR_OK ? preset_keys_check(root, place, e) : code;
}

static void entry_free_value(struct entry *en)
{
	free(en->value);
	free(en->prices);
	en->value = NULL;
	en->prices = NULL;
}

/* Reads one preset out of `en->text`; en owns its value unless there was an error. */
static enum err_code entry_read(struct entry *en, enum preset_kind kind, const char *name, struct err *e)
{
	struct json_place place = { .file = name };
	cJSON *root = NULL;
	enum err_code code = json_parse(name, en->text, en->len, &root, e);

	if (code != ERR_OK)
		return code;
	code = entry_parse(en, kind, root, &place, e);
	if (code == ERR_OK) {
		en->id = en->value;
		en->order = preset_keys_order(root);
		en->is_default = flag_is_set(root, "default");
		code = check_id(en->id, &place, e);
	}
	cJSON_Delete(root);
	if (code != ERR_OK)
		entry_free_value(en);
	return code;
}

enum err_code preset_text_check(enum preset_kind kind, const char *name, const char *text, size_t len, struct err *e)
{
	struct entry en = { .text = text, .len = len };
	enum err_code code = entry_read(&en, kind, name, e);

	entry_free_value(&en);
	return code;
}

/* Files the preset in `en->text`. On success the store owns what `en` owned, on error the caller still does. */
static enum err_code store_add(
	struct preset_store *store, enum preset_kind kind, const char *name, struct entry *en, struct err *e)
{
	enum err_code code = entry_read(en, kind, name, e);

	if (code != ERR_OK)
		return code;
	en->sequence = store->sequence++;
	if (shelf_put(&store->shelves[kind], en))
		return ERR_OK;
	entry_free_value(en);
	return err_set(e, ERR_INTERNAL, name, "out of memory");
}

/* A user's default profile wins over the built-in one, that over the rest. */
static int default_rank(const struct entry *en)
{
	if (!en->is_default)
		return 2;
	return en->path != NULL ? 0 : 1;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (default_rank(x) != default_rank(y))
		return default_rank(x) - default_rank(y);
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->sequence < y->sequence ? -1 : 1;
}

/* The prices of all GPUs behind each other, in the order of the GPUs. */
static enum err_code publish_prices(struct preset_store *store, struct err *e)
{
	const struct shelf *gpus = &store->shelves[PRESET_KIND_GPU];
	struct gpu_price *all;
	size_t n = 0;

	for (size_t i = 0; i < gpus->n; i++)
		n += gpus->entries[i].n_prices;
	all = realloc(store->prices, (n + 1) * sizeof *all);
	if (all == NULL)
		return err_set(e, ERR_INTERNAL, "presets", "out of memory");
	store->prices = all;
	for (size_t i = 0; i < gpus->n; i++) {
		const struct entry *en = &gpus->entries[i];

		if (en->n_prices > 0)
			memcpy(all, en->prices, en->n_prices * sizeof *all);
		all += en->n_prices;
	}
	store->catalog.prices = store->prices;
	store->catalog.n_prices = n;
	return ERR_OK;
}

/* Where a user's default stands before the built-in one, only the first is what --framework alone means. */
static void keep_one_default(struct profile *profiles, size_t n)
{
	bool taken[FRAMEWORK_COUNT] = { false };

	for (size_t i = 0; i < n; i++) {
		struct profile *p = &profiles[i];

		p->is_default = p->is_default && !taken[p->framework];
		taken[p->framework] = taken[p->framework] || p->is_default;
	}
}

enum err_code preset_store_publish(struct preset_store *store, struct err *e)
{
	struct catalog *c = &store->catalog;

	for (size_t k = 0; k < PRESET_KIND_COUNT; k++) {
		struct shelf *shelf = &store->shelves[k];
		size_t size = preset_kind_fields[k]->struct_size;
		char *values;

		if (shelf->n == 0)
			continue;
		values = realloc(shelf->values, shelf->n * size);
		if (values == NULL)
			return err_set(e, ERR_INTERNAL, "presets", "out of memory");
		shelf->values = values;
		qsort(shelf->entries, shelf->n, sizeof *shelf->entries, compare_entries);
		for (size_t i = 0; i < shelf->n; i++)
			memcpy(values + i * size, shelf->entries[i].value, size);
	}
	keep_one_default(store->shelves[PRESET_KIND_PROFILE].values, store->shelves[PRESET_KIND_PROFILE].n);
	*c = (struct catalog){
		.models = store->shelves[PRESET_KIND_MODEL].values,
		.n_models = store->shelves[PRESET_KIND_MODEL].n,
		.gpus = store->shelves[PRESET_KIND_GPU].values,
		.n_gpus = store->shelves[PRESET_KIND_GPU].n,
		.nodes = store->shelves[PRESET_KIND_NODE].values,
		.n_nodes = store->shelves[PRESET_KIND_NODE].n,
		.profiles = store->shelves[PRESET_KIND_PROFILE].values,
		.n_profiles = store->shelves[PRESET_KIND_PROFILE].n,
		.families = store->shelves[PRESET_KIND_FAMILY].values,
		.n_families = store->shelves[PRESET_KIND_FAMILY].n,
		.coefficients = store->shelves[PRESET_KIND_COEFFICIENTS].values,
		.n_coefficients = store->shelves[PRESET_KIND_COEFFICIENTS].n,
	};
	return publish_prices(store, e);
}

enum err_code preset_store_check(const struct preset_store *store, struct err *e)
{
	const struct catalog *c = &store->catalog;

	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct entry *en = &store->shelves[PRESET_KIND_NODE].entries[i];
		struct json_place place = { .file = en->path != NULL ? en->path : c->nodes[i].id };
		const struct gpu *gpu = NULL;
		struct err inner;

		if (catalog_gpu(c, c->nodes[i].gpu_id, &gpu, &inner) != ERR_OK)
			return json_error(&place, "gpu", ERR_FILE, e, "%s", inner.msg);
		if (strcmp(gpu->id, c->nodes[i].gpu_id) != 0)
			return json_error(
				&place, "gpu", ERR_FILE, e, "'%s' is not an id; nearest: %s", c->nodes[i].gpu_id, gpu->id);
	}
	return ERR_OK;
}

bool preset_kind_of(const char *path, enum preset_kind *kind)
{
	size_t len = strcspn(path, "/");

	for (size_t k = 0; k < PRESET_KIND_COUNT; k++) {
		if (strlen(preset_kind_names[k]) == len && strncmp(path, preset_kind_names[k], len) == 0) {
			*kind = (enum preset_kind)k;
			return true;
		}
	}
	return false;
}

static enum err_code store_add_built_in(struct preset_store *store, struct err *e)
{
	for (size_t i = 0; i < presets_data_n; i++) {
		const struct presets_data_file *file = &presets_data_files[i];
		struct entry en = { .text = (const char *)presets_data_bytes + file->offset, .len = file->size };
		enum preset_kind kind = PRESET_KIND_MODEL;
		enum err_code code;

		if (strncmp(file->path, "measured/", 9) == 0)
			continue; /* runs_csv.c reads those */
		if (!preset_kind_of(file->path, &kind))
			return err_set(e, ERR_INTERNAL, file->path, "is no preset of a known kind");
		code = store_add(store, kind, file->path, &en, e);
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

enum err_code preset_store_new(struct preset_store **out, struct err *e)
{
	struct preset_store *store = calloc(1, sizeof *store);
	enum err_code code;

	if (store == NULL)
		return err_set(e, ERR_INTERNAL, "presets", "out of memory");
	code = store_add_built_in(store, e);
	if (code == ERR_OK)
		code = preset_store_publish(store, e);
	if (code == ERR_OK)
		code = preset_store_check(store, e);
	if (code != ERR_OK) {
		preset_store_free(store);
		return code;
	}
	*out = store;
	return ERR_OK;
}

enum err_code preset_store_add_file(struct preset_store *store, enum preset_kind kind, char *path, struct err *e)
{
	struct entry en = { .path = path };
	enum err_code code = file_read(path, JSON_SIZE_MAX, &en.owned_text, &en.len, e);

	if (code == ERR_OK) {
		en.text = en.owned_text;
		code = store_add(store, kind, path, &en, e);
	}
	if (code != ERR_OK) {
		free(en.owned_text);
		free(en.path);
	}
	return code;
}

const struct catalog *preset_store_catalog(const struct preset_store *store)
{
	return &store->catalog;
}

size_t preset_store_count(const struct preset_store *store, enum preset_kind kind)
{
	return store->shelves[kind].n;
}

const char *preset_store_id(const struct preset_store *store, enum preset_kind kind, size_t i)
{
	return store->shelves[kind].entries[i].id;
}

const void *preset_store_value(const struct preset_store *store, enum preset_kind kind, size_t i)
{
	return store->shelves[kind].entries[i].value;
}

const char *preset_store_text(
	const struct preset_store *store, enum preset_kind kind, const char *id, size_t *len, const char **from)
{
	const struct shelf *shelf = &store->shelves[kind];

	for (size_t i = 0; i < shelf->n; i++) {
		if (strcmp(shelf->entries[i].id, id) != 0)
			continue;
		*len = shelf->entries[i].len;
		*from = shelf->entries[i].path != NULL ? shelf->entries[i].path : built_in;
		return shelf->entries[i].text;
	}
	return NULL;
}
