/* From what the keys of a config.json say to a model: values that follow from several of them, and the checks of the whole. */
#include "hf_table.h"
#include "model_file.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
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

static void finish_experts(struct model *m)
{
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
	/* Qwen2-MoE and Granite give the width of the shared expert alone; 0: there is none. */
	if (m->shared_ffn == 0 && m->shared_gate)
		m->shared_experts = 0;
	if (m->shared_experts == 0)
		m->shared_gate = 0;
	if (m->shared_ffn == m->shared_experts * m->expert_ffn)
		m->shared_ffn = 0;
	if (model_moe_layers(m, 0, m->layers) == m->layers)
		m->ffn = 0;
}

static enum err_code check_moe_layers(const cJSON *moe_layers, const struct model *m, const struct json_place *p, struct err *e)
{
	const cJSON *item;
	int64_t n = 0;

	if (moe_layers == NULL || cJSON_IsNull(moe_layers))
		return ERR_OK;
	cJSON_ArrayForEach (item, moe_layers) {
		double layer = cJSON_IsNumber(item) ? item->valuedouble : -1;

		if (layer < 0 || layer >= (double)m->layers || !model_layer_is_moe(m, (int64_t)layer))
			return json_error(p, "moe_layers", ERR_FILE, e,
				"only every interleave_moe_layer_step-th layer (%" PRId64 ") can have experts", m->moe_stride);
		n++;
	}
	if (n != model_moe_layers(m, 0, m->layers))
		return json_error(p, "moe_layers", ERR_FILE, e,
			"%" PRId64 " layers; interleave_moe_layer_step %" PRId64 " makes %" PRId64, n, m->moe_stride,
			model_moe_layers(m, 0, m->layers));
	return ERR_OK;
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

enum err_code hf_finish(struct hf_raw *raw, const cJSON *moe_layers, const struct json_place *p, struct err *e)
{
	struct model *m = &raw->m;
	enum err_code code;
	struct err inner;

	if (m->ffn == 0 && m->expert_ffn == 0)
		m->ffn = raw->ffn_ratio * m->hidden;
	if (m->heads > 0 && m->hidden % m->heads != 0 && m->head_dim == 0 && m->kv_lora_rank == 0)
		return json_error(p, NULL, ERR_FILE, e, "hidden size %" PRId64 " is not a multiple of %" PRId64 " heads",
			m->hidden, m->heads);
	if (raw->embed_width > 0 && raw->embed_width != m->hidden && !m->tied_embeddings)
		return json_error(p, NULL, ERR_FILE, e, "word_embed_proj_dim can be expressed with tied embeddings only");
	finish_attention(raw);
	finish_biases(raw);
	finish_norms_and_positions(raw);
	finish_experts(m);
	code = check_ranges(m, p, e);
	if (code != ERR_OK)
		return code;
	if (model_check(m, &inner) != ERR_OK)
		return json_error(p, NULL, ERR_FILE, e, "%s", inner.msg);
	return check_moe_layers(moe_layers, m, p, e);
}
