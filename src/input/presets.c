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

static enum err_code parse_model(const cJSON *object, const struct json_place *p, void *out, struct err *e)
{
	return model_file_parse(object, p, preset_keys_model, out, e);
}

static enum err_code parse_gpu(const cJSON *object, const struct json_place *p, void *out, struct err *e)
{
	struct gpu *g = out;
	enum err_code code = fields_read(object, p, &gpu_fields, preset_keys_gpu, g, e);

	if (code == ERR_OK && g->label[0] == '\0')
		(void)snprintf(g->label, sizeof g->label, "%s", g->id);
	return code;
}

static enum err_code parse_node(const cJSON *object, const struct json_place *p, void *out, struct err *e)
{
	struct node *n = out;
	enum err_code code = fields_read(object, p, &node_fields, preset_keys_node, n, e);

	if (code == ERR_OK && n->label[0] == '\0')
		(void)snprintf(n->label, sizeof n->label, "%s", n->id);
	return code;
}

static enum err_code parse_profile(const cJSON *object, const struct json_place *p, void *out, struct err *e)
{
	return fields_read(object, p, &profile_fields, preset_keys_profile, out, e);
}

static enum err_code parse_family(const cJSON *object, const struct json_place *p, void *out, struct err *e)
{
	struct err inner;
	enum err_code code = fields_read(object, p, &gpu_family_fields, preset_keys_profile, out, e);

	if (code == ERR_OK && gpu_family_check(out, &inner) != ERR_OK)
		code = json_error(p, inner.where, ERR_FILE, e, "%s", inner.msg);
	return code;
}

static enum err_code parse_coefficients(const cJSON *object, const struct json_place *p, void *out, struct err *e)
{
	struct coefficients *c = out;

	c->v[COEF_ONE] = 1;
	return fields_read(object, p, &coefficients_fields, preset_keys_profile, c, e);
}

static const struct kind_info {
	size_t size;
	enum err_code (*parse)(const cJSON *object, const struct json_place *p, void *out, struct err *e);
} kinds[PRESET_KIND_COUNT] = {
	[PRESET_KIND_MODEL] = { sizeof(struct model), parse_model },
	[PRESET_KIND_GPU] = { sizeof(struct gpu), parse_gpu },
	[PRESET_KIND_NODE] = { sizeof(struct node), parse_node },
	[PRESET_KIND_PROFILE] = { sizeof(struct profile), parse_profile },
	[PRESET_KIND_FAMILY] = { sizeof(struct gpu_family), parse_family },
	[PRESET_KIND_COEFFICIENTS] = { sizeof(struct coefficients), parse_coefficients },
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

/* The value, its prices and the keys beside them; en owns them also after an error. */
static enum err_code entry_parse(
	struct entry *en, enum preset_kind kind, const cJSON *root, const struct json_place *place, struct err *e)
{
	enum err_code code;

	en->value = calloc(1, kinds[kind].size);
	if (en->value == NULL)
		return err_set(e, ERR_INTERNAL, place->file, "out of memory");
	code = kinds[kind].parse(root, place, en->value, e);
	if (code == ERR_OK)
		code = preset_keys_check(root, place, e);
	if (code == ERR_OK && kind == PRESET_KIND_GPU)
		code = preset_keys_prices(root, place, &en->prices, &en->n_prices, e);
	if (code == ERR_OK && kind == PRESET_KIND_GPU)
		fill_gpu_price(en->value, en);
	return code;
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

enum err_code preset_store_publish(struct preset_store *store, struct err *e)
{
	struct catalog *c = &store->catalog;

	for (size_t k = 0; k < PRESET_KIND_COUNT; k++) {
		struct shelf *shelf = &store->shelves[k];
		size_t size = kinds[k].size;
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

static bool kind_of_path(const char *path, enum preset_kind *kind)
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
		if (!kind_of_path(file->path, &kind))
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
