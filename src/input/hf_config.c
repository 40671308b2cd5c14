#include "hf_config.h"

#include "catalog.h"
#include "hf_table.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SEEN_MAX = 64, NAMED_MAX = 5, NAMES_CAP = 240, KEY_CAP = 41 };

/* What is known while one configuration is read. */
struct reader {
	const struct hf_arch *arch;
	struct json_place place;
	bool nested; /* a text_config: absent keys have the defaults of its class, even those of the shape */
	struct hf_raw raw;
	size_t seen[SEEN_MAX]; /* offsets that a key has set */
	size_t n_seen;
	const cJSON *moe_layers;
	const char *moe_layers_key;
	char unknown[NAMES_CAP], missing[NAMES_CAP];
	size_t n_unknown, n_missing;
	struct err *e;
};

static void name_key(char *list, size_t *n, const char *key)
{
	char name[KEY_CAP];

	(void)snprintf(name, sizeof name, "%s", *n < NAMED_MAX ? key : "...");
	if (*n <= NAMED_MAX)
		text_join(list, NAMES_CAP, ", ", name);
	(*n)++;
}

static bool is_seen(const struct reader *r, size_t offset)
{
	for (size_t i = 0; i < r->n_seen; i++)
		if (r->seen[i] == offset)
			return true;
	return false;
}

static void mark_seen(struct reader *r, size_t offset)
{
	if (r->n_seen < SEEN_MAX && !is_seen(r, offset))
		r->seen[r->n_seen++] = offset;
}

/* Stores a flag or word; two keys for the same thing must agree. */
static enum err_code put(struct reader *r, const struct json_place *p, const struct hf_key *k, int32_t value)
{
	char *at = (char *)&r->raw + k->offset;
	int32_t old;

	memcpy(&old, at, sizeof old);
	if (is_seen(r, k->offset) && old != value)
		return json_error(p, k->key, ERR_FILE, r->e, "another key for the same thing has a different value");
	memcpy(at, &value, sizeof value);
	mark_seen(r, k->offset);
	return ERR_OK;
}

static bool is_nothing(const cJSON *item)
{
	return cJSON_IsNull(item) || cJSON_IsFalse(item) ||
		(cJSON_IsNumber(item) && item->valuedouble <= 0 && item->valuedouble >= 0) ||
		((cJSON_IsArray(item) || cJSON_IsObject(item)) && item->child == NULL);
}

static bool is_one(const cJSON *item)
{
	return cJSON_IsTrue(item) || (cJSON_IsNumber(item) && item->valuedouble <= 1 && item->valuedouble >= 1);
}

/* null is 0, which gives way to what another key for the same thing says. */
static enum err_code read_int(struct reader *r, const struct json_place *p, const struct hf_key *k, const cJSON *item)
{
	char *at = (char *)&r->raw + k->offset;
	int64_t value = 0, old;
	enum err_code code = cJSON_IsNull(item) ? ERR_OK : json_integer(item, p, 0, 1000000000, &value, r->e);

	if (code != ERR_OK)
		return code;
	memcpy(&old, at, sizeof old);
	if (!is_seen(r, k->offset))
		old = 0;
	if (old != 0 && value != 0 && old != value)
		return json_error(p, k->key, ERR_FILE, r->e, "another key for the same thing has a different value");
	if (value == 0)
		value = old;
	memcpy(at, &value, sizeof value);
	mark_seen(r, k->offset);
	return ERR_OK;
}

static enum err_code read_flag(struct reader *r, const struct json_place *p, const struct hf_key *k, const cJSON *item)
{
	bool on = false;
	int32_t value;
	enum err_code code = cJSON_IsNull(item) ? ERR_OK : json_flag(item, p, &on, r->e);

	if (code != ERR_OK)
		return code;
	value = (k->type == HF_NOT) != on;
	return put(r, p, k, value);
}

static enum err_code read_word(struct reader *r, const struct json_place *p, const struct hf_key *k, const cJSON *item)
{
	const char *text = NULL;
	char legal[160] = "";
	enum err_code code = json_string(item, p, &text, r->e);

	if (code != ERR_OK)
		return code;
	for (size_t i = 0; k->words[i].text != NULL; i++) {
		if (strcmp(k->words[i].text, text) == 0)
			return put(r, p, k, k->words[i].value);
		text_join(legal, sizeof legal, ", ", k->words[i].text);
	}
	return json_error(p, k->key, ERR_FILE, r->e, "'%.60s' is not known here; legal: %s", text, legal);
}

/* Some classes take a value per layer: a list of equal numbers says what one of them says. */
static const cJSON *one_of_all_layers(const cJSON *item)
{
	const cJSON *layer;

	if (!cJSON_IsArray(item) || !cJSON_IsNumber(item->child))
		return item;
	cJSON_ArrayForEach (layer, item)
		if (!cJSON_Compare(layer, item->child, true))
			return item;
	return item->child;
}

static enum err_code read_set(
	struct reader *r, const struct json_place *p, const cJSON *object, const struct hf_key *const *sets, size_t n_sets);

static enum err_code read_key(struct reader *r, const struct json_place *p, const struct hf_key *k, const cJSON *item)
{
	struct json_place inside;

	if (k->type == HF_INT || k->type == HF_ONE)
		item = one_of_all_layers(item);
	switch (k->type) {
	case HF_INT:
		return read_int(r, p, k, item);
	case HF_FLAG:
	case HF_NOT:
		return read_flag(r, p, k, item);
	case HF_WORD:
		return read_word(r, p, k, item);
	case HF_ZERO:
		if (!is_nothing(item))
			return json_refuse(
				item, p, r->e, "cannot be expressed for a %s; only 0, false or null can", r->raw.m.label);
		return ERR_OK;
	case HF_ONE:
		if (!is_one(item))
			return json_refuse(item, p, r->e, "cannot be expressed for a %s; only 1 or true can", r->raw.m.label);
		return ERR_OK;
	case HF_INSIDE:
		if (cJSON_IsNull(item))
			return ERR_OK;
		if (!cJSON_IsObject(item))
			return json_refuse(item, p, r->e, "is not an object");
		inside = json_inside(p, k->key);
		return read_set(r, &inside, item, &k->inside, 1);
	case HF_MOE_LAYERS:
		r->moe_layers = item;
		r->moe_layers_key = k->key;
		return ERR_OK;
	case HF_NOTHING:
	case HF_END:
		break;
	}
	return ERR_OK;
}

static const struct hf_key *find_key(const struct hf_key *const *sets, size_t n_sets, const char *key)
{
	for (size_t s = 0; s < n_sets && sets[s] != NULL; s++)
		for (const struct hf_key *k = sets[s]; k->type != HF_END; k++)
			if (strcmp(k->key, key) == 0)
				return k;
	return NULL;
}

static enum err_code read_set(
	struct reader *r, const struct json_place *p, const cJSON *object, const struct hf_key *const *sets, size_t n_sets)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, object) {
		const struct hf_key *k = find_key(sets, n_sets, item->string);
		enum err_code code;

		if (k == NULL) {
			if (!hf_key_is_ignored(item->string))
				name_key(r->unknown, &r->n_unknown, item->string);
			continue;
		}
		code = read_key(r, p, k, item);
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

/* Absent keys that the shape cannot do without. */
static void check_required(struct reader *r)
{
	const size_t kv = offsetof(struct hf_raw, m.kv_heads);

	for (size_t s = 0; s < 3 && r->arch->sets[s] != NULL; s++) {
		for (const struct hf_key *k = r->arch->sets[s]; k->type != HF_END; k++) {
			int64_t dflt = 0;

			/* Where the class has a number of its own for the KV heads, guessing it for another shape would be wrong.
			 */
			if ((!k->required && !(k->offset == kv && r->arch->base.m.kv_heads != 0)) || k->type != HF_INT ||
				is_seen(r, k->offset))
				continue;
			memcpy(&dflt, (const char *)&r->arch->base + k->offset, sizeof dflt);
			if (!r->nested || dflt == 0)
				name_key(r->missing, &r->n_missing, k->key);
			mark_seen(r, k->offset);
		}
	}
}

/* An architecture that is not known by name must leave nothing to a default. */
static void check_explicit(struct reader *r, const cJSON *object)
{
	for (size_t i = 0; hf_explicit_keys[i] != NULL; i++)
		if (cJSON_GetObjectItemCaseSensitive(object, hf_explicit_keys[i]) == NULL)
			name_key(r->missing, &r->n_missing, hf_explicit_keys[i]);
}

/* "Qwen2MoeForCausalLM" names the same as "qwen2_moe". */
static bool names_architecture(const char *class_name, const char *type)
{
	static const char *const endings[] = { "ForCausalLM", "LMHeadModel", "ForConditionalGeneration" };
	size_t len = strlen(class_name), i = 0;

	for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
		size_t n = strlen(endings[k]);

		if (len > n && strcmp(class_name + len - n, endings[k]) == 0) {
			len -= n;
			break;
		}
	}
	for (; *type != '\0'; type++) {
		if (*type == '_' || *type == '-')
			continue;
		if (i >= len || text_lower(class_name[i]) != text_lower(*type))
			return false;
		i++;
	}
	return i == len;
}

/* The i-th model type and its architecture; NULL past the last. The last architecture has no type. */
static const struct hf_arch *arch_at(size_t i, const char **type)
{
	for (const struct hf_arch *arch = hf_archs; arch < hf_archs + hf_archs_n - 1; arch++)
		for (const char *const *t = arch->types; *t != NULL; t++, i--)
			if (i == 0) {
				*type = *t;
				return arch;
			}
	*type = NULL;
	return NULL;
}

static bool is_type(const char *name, bool is_class_name, const char *type)
{
	return is_class_name ? names_architecture(name, type) : strcmp(name, type) == 0;
}

static const struct hf_arch *find_arch(const char *name, bool is_class_name)
{
	const char *type;
	const struct hf_arch *arch = arch_at(0, &type);

	for (size_t i = 1; arch != NULL; arch = arch_at(i++, &type))
		if (is_type(name, is_class_name, type))
			return arch;
	return NULL;
}

static const struct hf_refused *find_refused(const char *name, bool is_class_name)
{
	for (const struct hf_refused *row = hf_refused; row->type != NULL; row++)
		if (is_type(name, is_class_name, row->type))
			return row;
	return NULL;
}

const char *hf_config_type(size_t i)
{
	const char *type;

	(void)arch_at(i, &type);
	return type;
}

static const char *type_at(const void *ctx, size_t i)
{
	(void)ctx;
	return hf_config_type(i);
}

static const char *class_name_of(const cJSON *object)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "architectures");

	return cJSON_IsArray(list) ? cJSON_GetStringValue(list->child) : NULL;
}

static enum err_code report_unknown_arch(const struct reader *r, const char *type)
{
	char near[120];
	size_t n = 0;

	while (hf_config_type(n) != NULL)
		n++;
	catalog_nearest(type, n, type_at, NULL, near, sizeof near);
	return json_error(&r->place, "model_type", ERR_UNKNOWN, r->e,
		"the architecture '%.40s' is not known (nearest: %s), and it can be read like a Llama only if every key that "
		"changes a count is "
		"there%s%s%s%s",
		type, near, r->n_missing > 0 ? "; missing: " : "", r->missing, r->n_unknown > 0 ? "; not understood: " : "",
		r->unknown);
}

/* Reads one (text) configuration of a known or unknown architecture. */
static enum err_code read_text_model(struct reader *r, const cJSON *object, const cJSON *outer, const char *type)
{
	const bool known = r->arch->types[0] != NULL;
	enum err_code code;

	r->raw = r->arch->base;
	(void)snprintf(r->raw.m.label, sizeof r->raw.m.label, "%.60s", type);
	(void)snprintf(r->raw.m.id, sizeof r->raw.m.id, "custom");
	code = read_set(r, &r->place, object, r->arch->sets, 3);
	/* Multimodal configurations say some things one level up only. */
	for (size_t i = 0; outer != NULL && code == ERR_OK && i < 2; i++) {
		static const char *const shared[] = { "tie_word_embeddings", "vocab_size" };
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(outer, shared[i]);
		const struct hf_key *k = find_key(r->arch->sets, 3, shared[i]);
		struct json_place root = { .file = r->place.file };

		if (item != NULL && k != NULL && !is_seen(r, k->offset))
			code = read_key(r, &root, k, item);
	}
	if (code != ERR_OK)
		return code;
	check_required(r);
	if (!known)
		check_explicit(r, object);
	if (!known && (r->n_missing > 0 || r->n_unknown > 0))
		return report_unknown_arch(r, type);
	if (r->n_missing > 0)
		return json_error(
			&r->place, NULL, ERR_FILE, r->e, "a %s configuration needs %s: missing", r->raw.m.label, r->missing);
	if (r->n_unknown > 0)
		return json_error(&r->place, NULL, ERR_FILE, r->e,
			"not understood for a %s, and may change the parameter count: %s", r->raw.m.label, r->unknown);
	return hf_finish(&r->raw, r->moe_layers, r->moe_layers_key, &r->place, r->e);
}

/* The text model of a multimodal configuration, or NULL. */
static const cJSON *nested_text(const cJSON *root, struct json_place *p)
{
	static const char *const names[] = { "text_config", "llm_config", "language_config" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const cJSON *inner = cJSON_GetObjectItemCaseSensitive(root, names[i]);

		if (cJSON_IsObject(inner)) {
			*p = json_inside(p, names[i]);
			return inner;
		}
	}
	return NULL;
}

enum err_code hf_config_parse(
	const cJSON *root, const struct json_place *p, struct model *m, char *note, size_t note_cap, struct err *e)
{
	struct reader r = { .place = *p, .e = e };
	const cJSON *inner = nested_text(root, &r.place), *object = inner != NULL ? inner : root;
	const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "model_type")),
		   *class_name = class_name_of(object);
	const struct hf_refused *refused;
	enum err_code code;

	r.nested = inner != NULL;
	if (type != NULL)
		r.arch = find_arch(type, false);
	if (r.arch == NULL && class_name != NULL)
		r.arch = find_arch(class_name, true);
	if (type == NULL)
		type = r.arch != NULL ? r.arch->types[0] : class_name;
	if (type == NULL)
		return json_error(&r.place, "model_type", ERR_FILE, e,
			"neither model_type nor architectures is there: is this a config.json of a language model?");
	refused = find_refused(type, type == class_name);
	if (r.arch == NULL && refused != NULL)
		return json_error(&r.place, "model_type", ERR_FILE, e,
			"a %.40s cannot be expressed: %s; what can be planned: decoders of attention and MLP (or experts) in "
			"every layer, or --params with its size",
			type, refused->why);
	if (r.arch == NULL)
		r.arch = &hf_archs[hf_archs_n - 1];
	code = read_text_model(&r, object, inner != NULL ? root : NULL, type);
	if (code != ERR_OK)
		return code;
	*m = r.raw.m;
	(void)snprintf(note, note_cap, "Hugging Face %s%s (%s)", r.nested ? "multimodal configuration, text model " : "",
		m->label, r.arch->cite);
	return ERR_OK;
}
