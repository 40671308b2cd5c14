/* From what the keys of a config.json say to a model: values that follow from several of them, and the checks of the whole. */
#include "hf_table.h"
#include "model_file.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

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
static enum err_code check_moe_layers(
	const cJSON *list, const char *key, const struct model *m, const struct json_place *p, struct err *e)
{
	const cJSON *entry;
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
	return json_error(p, key, ERR_FILE, e,
		"only every %" PRId64 ". layer after the first %" PRId64 " dense ones can have experts, to the last one",
		m->moe_stride, m->dense_layers);
}

/* Whole numbers keep to the ranges of a model preset. */
static enum err_code check_ranges(const struct model *m, const struct json_place *p, struct err *e)
{
	for (size_t i = 0; i < model_fields.n; i++) {
		const struct field *f = &model_fields.rows[i];
		int64_t value;

		if (f->type != FIELD_INT)
			continue;
		memcpy(&value, (const char *)m + f->offset, sizeof value);
		if (value != 0 && ((double)value < f->min || (double)value > f->max))
			return json_error(p, NULL, ERR_FILE, e, "%s %" PRId64 " is out of range; legal: %g to %g", f->key, value,
				f->min, f->max);
	}
	return ERR_OK;
}

enum err_code hf_finish(
	struct hf_raw *raw, const cJSON *moe_layers, const char *moe_layers_key, const struct json_place *p, struct err *e)
{
	struct model *m = &raw->m;
	enum err_code code;
	struct err inner;

	if (m->ffn == 0 && m->expert_ffn == 0)
		m->ffn = raw->ffn_ratio * m->hidden;
	if (raw->ffn_parts > 1)
		m->ffn /= raw->ffn_parts;
	m->mlp_extra_params = raw->activation_params * m->layers;
	if (m->heads > 0 && m->hidden % m->heads != 0 && m->head_dim == 0 && m->kv_lora_rank == 0)
		return json_error(p, NULL, ERR_FILE, e, "hidden size %" PRId64 " is not a multiple of %" PRId64 " heads",
			m->hidden, m->heads);
	if (raw->embed_width > 0 && raw->embed_width != m->hidden && !m->tied_embeddings)
		return json_error(p, NULL, ERR_FILE, e, "word_embed_proj_dim can be expressed with tied embeddings only");
	finish_attention(raw);
	finish_biases(raw);
	finish_norms_and_positions(raw);
	finish_experts(raw);
	code = check_ranges(m, p, e);
	if (code != ERR_OK)
		return code;
	if (model_check(m, &inner) != ERR_OK)
		return json_error(p, NULL, ERR_FILE, e, "%s", inner.msg);
	return check_moe_layers(moe_layers, moe_layers_key, m, p, e);
}
