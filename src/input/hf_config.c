#include "hf_config.h"

#include "catalog.h"
#include "hf_table.h"
#include "model_file.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SEEN_MAX = 64, NAMED_MAX = 5, NAMES_CAP = 240 };

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
	size_t len = strlen(list);

	if (*n < NAMED_MAX)
		(void)snprintf(list + len, NAMES_CAP - len, "%s%.40s", *n == 0 ? "" : ", ", key);
	else if (*n == NAMED_MAX)
		(void)snprintf(list + len, NAMES_CAP - len, ", ...");
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

/* What is not set says nothing, whatever it is. */
static bool is_unset(const cJSON *item)
{
	return cJSON_IsNull(item) || ((cJSON_IsArray(item) || cJSON_IsObject(item)) && item->child == NULL);
}

static bool is_nothing(const cJSON *item)
{
	return is_unset(item) || cJSON_IsFalse(item) ||
		(cJSON_IsNumber(item) && item->valuedouble <= 0 && item->valuedouble >= 0);
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
		size_t len = strlen(legal);

		if (strcmp(k->words[i].text, text) == 0)
			return put(r, p, k, k->words[i].value);
		(void)snprintf(legal + len, sizeof legal - len, "%s%s", i == 0 ? "" : ", ", k->words[i].text);
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
	char text[JSON_VALUE_CAP];
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
			return json_error(p, k->key, ERR_FILE, r->e, "%s cannot be expressed for a %s; only 0, false or null can",
				json_describe(item, text, sizeof text), r->raw.m.label);
		return ERR_OK;
	case HF_ONE:
		if (!is_one(item))
			return json_error(p, k->key, ERR_FILE, r->e, "%s cannot be expressed for a %s; only 1 or true can",
				json_describe(item, text, sizeof text), r->raw.m.label);
		return ERR_OK;
	case HF_INSIDE:
		if (cJSON_IsNull(item))
			return ERR_OK;
		if (!cJSON_IsObject(item))
			return json_error(
				p, k->key, ERR_FILE, r->e, "%s is not an object", json_describe(item, text, sizeof text));
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
			if (!hf_key_is_ignored(item->string) && !is_unset(item))
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

static void finish_attention(struct hf_raw *raw)
{
	struct model *m = &raw->m;

	if (raw->new_decoder == 0 && raw->multi_query)
		m->kv_heads = raw->query_groups > 0 ? raw->query_groups : 1;
	if (m->kv_heads == 0 || m->kv_lora_rank > 0)
		m->kv_heads = m->heads;
	if (m->kv_lora_rank > 0) {
		m->head_dim = m->qk_nope_dim + m->qk_rope_dim;
		m->attention_type = ATTENTION_MLA;
		if (m->v_head_dim == 0 && m->heads > 0)
			m->v_head_dim = m->hidden / m->heads;
		return;
	}
	m->q_lora_rank = m->qk_nope_dim = m->qk_rope_dim = m->v_head_dim = 0;
	if (m->head_dim == 0 && m->heads > 0)
		m->head_dim = m->hidden / m->heads;
	m->attention_type = m->kv_heads == m->heads ? ATTENTION_MHA : m->kv_heads == 1 ? ATTENTION_MQA : ATTENTION_GQA;
}

static void finish_biases(struct hf_raw *raw)
{
	struct model *m = &raw->m;

	if (raw->attention_bias || raw->all_bias)
		m->qkv_bias = m->out_bias = 1;
	if (raw->all_bias)
		m->mlp_bias = 1;
	if (raw->all_bias && raw->bias_in_norms)
		m->norm_bias = 1;
}

static void finish_norms_and_positions(struct hf_raw *raw)
{
	struct model *m = &raw->m;

	if (raw->qk_norm_off)
		m->qk_norm = QK_NORM_NONE;
	if (raw->new_decoder)
		m->norms_per_layer = raw->parallel_norms > 0 ? raw->parallel_norms : 2;
	else if (raw->parallel)
		m->norms_per_layer = 1;
	if (raw->post_norm)
		m->final_norm = 0;
	if (raw->learned_positions && !raw->alibi)
		m->positions = m->max_seq + raw->position_offset;
	if (raw->learned_positions || raw->alibi)
		m->rope = 0;
	/* OPT-350M: a narrower token table, and projections in and out. */
	if (raw->embed_width > 0)
		m->extra_params = m->vocab * (raw->embed_width - m->hidden) +
			(raw->embed_width != m->hidden ? 2 * raw->embed_width * m->hidden : 0);
}

static void finish_experts(struct hf_raw *raw)
{
	struct model *m = &raw->m;

	if (m->moe_stride < 1)
		m->moe_stride = 1;
	/* One group of experts is no limit. */
	if (m->route_nodes <= 1)
		m->route_nodes = 0;
	if (m->experts == 0) {
		m->topk = m->expert_ffn = m->shared_experts = m->shared_ffn = m->dense_layers = 0;
		m->moe_stride = 1;
		m->shared_gate = m->router_bias = 0;
		return;
	}
	if (m->shared_ffn == 0 && raw->shared_by_width)
		m->shared_experts = 0;
	if (m->shared_experts == 0)
		m->shared_gate = 0;
	if (m->shared_ffn == m->shared_experts * m->expert_ffn)
		m->shared_ffn = 0;
	if (model_moe_layers(m, 0, m->layers) == m->layers)
		m->ffn = 0;
}

/* Whether entry i of a list of layers with experts says so: the number of one of them, or a word per layer. */
static bool lists_moe_layer(const struct model *m, const cJSON *entry, int64_t i)
{
	if (cJSON_IsString(entry))
		return i < m->layers && (strcmp(entry->valuestring, "sparse") == 0) == model_layer_is_moe(m, i);
	return cJSON_IsNumber(entry) && entry->valuedouble >= 0 && entry->valuedouble < (double)m->layers &&
		model_layer_is_moe(m, (int64_t)entry->valuedouble);
}

/* The list, or the last layer with experts, must be what the other keys make of it. */
static enum err_code check_moe_layers(const struct reader *r)
{
	const struct model *m = &r->raw.m;
	const cJSON *entry, *list = r->moe_layers;
	int64_t n = 0;
	bool agrees = true;

	if (list == NULL || cJSON_IsNull(list))
		return ERR_OK;
	if (cJSON_IsNumber(list)) {
		agrees = list->valuedouble < 0 || list->valuedouble >= (double)(m->layers - 1);
	} else {
		cJSON_ArrayForEach (entry, list)
			agrees = agrees && lists_moe_layer(m, entry, n++);
		agrees = agrees &&
			n == (list->child != NULL && cJSON_IsString(list->child) ? m->layers : model_moe_layers(m, 0, m->layers));
	}
	if (agrees)
		return ERR_OK;
	return json_error(&r->place, r->moe_layers_key, ERR_FILE, r->e,
		"only every %" PRId64 ". layer after the first %" PRId64 " dense ones can have experts, to the last one",
		m->moe_stride, m->dense_layers);
}

/* Whole numbers keep to the ranges of a model preset. */
static enum err_code check_ranges(const struct reader *r)
{
	for (size_t i = 0; i < model_fields.n; i++) {
		const struct field *f = &model_fields.rows[i];
		int64_t value;

		if (f->type != FIELD_INT)
			continue;
		memcpy(&value, (const char *)&r->raw.m + f->offset, sizeof value);
		if (value != 0 && ((double)value < f->min || (double)value > f->max))
			return json_error(&r->place, NULL, ERR_FILE, r->e, "%s %" PRId64 " is out of range; legal: %g to %g",
				f->key, value, f->min, f->max);
	}
	return ERR_OK;
}

/* The values that follow from several keys, and the checks of the whole. */
static enum err_code finish(struct reader *r)
{
	struct hf_raw *raw = &r->raw;
	struct model *m = &raw->m;
	enum err_code code;
	struct err inner;

	if (m->ffn == 0 && m->expert_ffn == 0)
		m->ffn = raw->ffn_ratio * m->hidden;
	if (raw->ffn_parts > 1)
		m->ffn /= raw->ffn_parts;
	m->mlp_extra_params = raw->activation_params * m->layers;
	if (m->heads > 0 && m->hidden % m->heads != 0 && m->head_dim == 0 && m->kv_lora_rank == 0)
		return json_error(&r->place, NULL, ERR_FILE, r->e,
			"hidden size %" PRId64 " is not a multiple of %" PRId64 " heads", m->hidden, m->heads);
	if (raw->embed_width > 0 && raw->embed_width != m->hidden && !m->tied_embeddings)
		return json_error(
			&r->place, NULL, ERR_FILE, r->e, "word_embed_proj_dim can be expressed with tied embeddings only");
	finish_attention(raw);
	finish_biases(raw);
	finish_norms_and_positions(raw);
	finish_experts(raw);
	code = check_ranges(r);
	if (code != ERR_OK)
		return code;
	if (model_check(m, &inner) != ERR_OK)
		return json_error(&r->place, NULL, ERR_FILE, r->e, "%s", inner.msg);
	return check_moe_layers(r);
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
		char a, b;

		if (*type == '_' || *type == '-')
			continue;
		if (i >= len)
			return false;
		a = class_name[i];
		b = *type;
		a = a >= 'A' && a <= 'Z' ? (char)(a - 'A' + 'a') : a;
		b = b >= 'A' && b <= 'Z' ? (char)(b - 'A' + 'a') : b;
		if (a != b)
			return false;
		i++;
	}
	return i == len;
}

static bool is_type(const char *name, bool is_class_name, const char *type)
{
	return is_class_name ? names_architecture(name, type) : strcmp(name, type) == 0;
}

static const struct hf_arch *find_arch(const char *name, bool is_class_name)
{
	for (size_t i = 0; i + 1 < hf_archs_n; i++)
		for (size_t k = 0; k < sizeof hf_archs[i].types / sizeof hf_archs[i].types[0] && hf_archs[i].types[k] != NULL;
			k++)
			if (is_type(name, is_class_name, hf_archs[i].types[k]))
				return &hf_archs[i];
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
	for (size_t a = 0; a + 1 < hf_archs_n; a++) {
		for (size_t k = 0; k < sizeof hf_archs[a].types / sizeof hf_archs[a].types[0] && hf_archs[a].types[k] != NULL;
			k++) {
			if (i == 0)
				return hf_archs[a].types[k];
			i--;
		}
	}
	return NULL;
}

static const char *type_at(const void *ctx, size_t i)
{
	(void)ctx;
	return hf_config_type(i);
}

static const char *string_of(const cJSON *item)
{
	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static const char *class_name_of(const cJSON *object)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "architectures");

	return cJSON_IsArray(list) ? string_of(list->child) : NULL;
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
static enum err_code read_text_model(struct reader *r, const cJSON *object, const cJSON *outer, const char *type, bool known)
{
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
	return finish(r);
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
	const char *type = string_of(cJSON_GetObjectItemCaseSensitive(object, "model_type")), *class_name = class_name_of(object);
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
			"every "
			"layer, or --params with its size",
			type, refused->why);
	if (r.arch != NULL) {
		code = read_text_model(&r, object, inner != NULL ? root : NULL, type, true);
	} else {
		r.arch = &hf_archs[hf_archs_n - 1];
		code = read_text_model(&r, object, inner != NULL ? root : NULL, type, false);
	}
	if (code != ERR_OK)
		return code;
	*m = r.raw.m;
	(void)snprintf(note, note_cap, "Hugging Face %s%s (%s)", r.nested ? "multimodal configuration, text model " : "",
		m->label, r.arch->cite);
	return ERR_OK;
}
