#include "model_file.h"

#include "fields.h"
#include "hf_config.h"
#include "preset_keys.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A flag or name that the file may leave to a rule. */
enum { UNSET = -1 };

/* clang-format off */
#define AT(m, T) .offset = offsetof(struct model, m) + FIELD_SAME(model, m, T), .size = sizeof(((struct model *)0)->m)
#define TEXT(k, m, need, h) \
	{ .key = k, .type = FIELD_TEXT, .offset = offsetof(struct model, m), .size = sizeof(((struct model *)0)->m), \
		.required = need, .help = h }
#define SIZE(k, m, need, lo, hi, h) \
	{ .key = k, .type = FIELD_INT, AT(m, int64_t), .required = need, .min = lo, .max = hi, .help = h }
#define FLAG(k, m, h) { .key = k, .type = FIELD_FLAG, AT(m, int32_t), .max = 1, .help = h }
#define NAME(k, m, table, h) { .key = k, .type = FIELD_NAME, AT(m, int32_t), .names = table, .help = h }
#define SIGNED(k, m, h) { .key = k, .type = FIELD_INT, AT(m, int64_t), .min = -1e15, .max = 1e15, .help = h }

static const struct field model_rows[] = {
	TEXT("id", id, true, "name on the command line"),
	TEXT("label", label, false, "name for people"),
	TEXT("also", also, false, "other names it goes by, separated by spaces"),
	TEXT("trained-with", trained_with, false, "settings of its makers' run, as flags, the profile first"),
	SIZE("layers", layers, true, 1, 1e4, "transformer layers"),
	SIZE("hidden", hidden, true, 1, 1e6, "width of the residual stream"),
	SIZE("heads", heads, true, 1, 1e5, "attention heads"),
	SIZE("kv-heads", kv_heads, false, 1, 1e5, "key and value heads; absent: as heads"),
	SIZE("head-dim", head_dim, false, 1, 65536, "width of one head; absent: hidden / heads (mla: qk-nope-dim + qk-rope-dim)"),
	SIZE("ffn", ffn, false, 0, 1e7, "width of a dense MLP; in a MoE model that of its dense layers"),
	SIZE("vocab", vocab, true, 1, 1e8, "rows of the token table"),
	SIZE("max-seq", max_seq, true, 1, 1e9, "longest sequence the model was made for"),
	FLAG("gated-mlp", gated_mlp, "MLP of three matrices (SwiGLU, GeGLU) instead of two"),
	FLAG("tied-embeddings", tied_embeddings, "the output matrix is the token table"),
	NAME("attention-type", attention_type, attention_type_names, "absent: from kv-heads and kv-lora-rank"),
	SIZE("q-lora-rank", q_lora_rank, false, 0, 65536, "mla: rank of the query; 0: projected directly"),
	SIZE("kv-lora-rank", kv_lora_rank, false, 0, 65536, "mla: rank of key and value"),
	SIZE("qk-nope-dim", qk_nope_dim, false, 0, 65536, "mla: part of a query head without rotary positions"),
	SIZE("qk-rope-dim", qk_rope_dim, false, 0, 65536, "mla: part with them"),
	SIZE("v-head-dim", v_head_dim, false, 0, 65536, "mla: width of a value head"),
	SIZE("experts", experts, false, 0, 65536, "routed experts; 0: dense model"),
	SIZE("topk", topk, false, 0, 65536, "routed experts per token"),
	SIZE("expert-ffn", expert_ffn, false, 0, 1e7, "width of one routed expert"),
	SIZE("shared-experts", shared_experts, false, 0, 65536, "experts that every token passes"),
	SIZE("shared-ffn", shared_ffn, false, 0, 1e7, "their width together; absent: shared-experts * expert-ffn"),
	FLAG("shared-gate", shared_gate, "a gate on the shared expert (Qwen2-MoE)"),
	SIZE("dense-layers", dense_layers, false, 0, 1e4, "leading layers with a dense MLP"),
	SIZE("moe-stride", moe_stride, false, 1, 1e4, "every so many layers one has experts; absent: 1"),
	NAME("norm", norm, norm_type_names, "absent: rms"),
	FLAG("norm-bias", norm_bias, "norms have a bias"),
	SIZE("norms-per-layer", norms_per_layer, false, 0, 16, "absent: 2"),
	NAME("qk-norm", qk_norm, qk_norm_names, "norm of query and key; absent: none"),
	FLAG("final-norm", final_norm, "norm before the output matrix; absent: true"),
	FLAG("embed-norm", embed_norm, "norm after the token table"),
	FLAG("qkv-bias", qkv_bias, "query, key and value projections have a bias"),
	FLAG("out-bias", out_bias, "the attention output projection has a bias"),
	FLAG("mlp-bias", mlp_bias, "dense MLPs have biases"),
	FLAG("head-bias", head_bias, "the output matrix has a bias"),
	FLAG("router-bias", router_bias, "the router has a bias"),
	FLAG("expert-bias", expert_bias, "experts have biases"),
	FLAG("attention-sinks", attention_sinks, "one learned sink per head (gpt-oss)"),
	SIZE("positions", positions, false, 0, 1e9, "rows of a learned position table"),
	FLAG("rope", rope, "rotary positions; absent: unless there is a learned position table"),
	SIZE("mtp-layers", mtp_layers, false, 0, 64, "multi-token prediction layers, counted apart"),
	SIZE("window", window, false, 0, 1e9, "sliding attention window in tokens"),
	SIZE("window-stride", window_stride, false, 0, 1e4, "every so many layers one sees the whole sequence; absent: none does"),
	SIZE("route-nodes", route_nodes, false, 0, 65536, "most nodes a routed token goes to"),
	SIGNED("mlp-extra-params", mlp_extra_params, "parameters spread over the MLPs of all layers"),
	SIGNED("extra-params", extra_params, "parameters outside the layers that the shape cannot express"),
};
/* clang-format on */

const struct field_table model_fields = { "model", sizeof(struct model), model_rows, sizeof model_rows / sizeof model_rows[0] };

static int64_t default_head_dim(const struct model *m)
{
	if (m->kv_lora_rank > 0)
		return m->qk_nope_dim + m->qk_rope_dim;
	return m->heads > 0 && m->hidden % m->heads == 0 ? m->hidden / m->heads : 0;
}

static int32_t default_attention_type(const struct model *m)
{
	if (m->kv_lora_rank > 0)
		return ATTENTION_MLA;
	if (m->kv_heads == m->heads)
		return ATTENTION_MHA;
	return m->kv_heads == 1 ? ATTENTION_MQA : ATTENTION_GQA;
}

static void model_set_base(struct model *m)
{
	*m = (struct model){ .norms_per_layer = 2, .moe_stride = 1, .final_norm = 1, .attention_type = UNSET, .rope = UNSET };
}

static void model_set_defaults(struct model *m)
{
	if (m->label[0] == '\0')
		(void)snprintf(m->label, sizeof m->label, "%s", m->id);
	if (m->kv_heads == 0)
		m->kv_heads = m->heads;
	if (m->head_dim == 0)
		m->head_dim = default_head_dim(m);
	if (m->attention_type == UNSET)
		m->attention_type = default_attention_type(m);
	if (m->rope == UNSET)
		m->rope = m->positions == 0;
}

static enum err_code check_consistency(const struct model *m, const struct json_place *p, struct err *e)
{
	if (m->head_dim == 0)
		return json_error(p, "head-dim", ERR_FILE, e,
			"hidden %" PRId64 " is not a multiple of %" PRId64 " heads; head-dim must be given", m->hidden, m->heads);
	if (m->attention_type != default_attention_type(m))
		return json_error(p, "attention-type", ERR_FILE, e,
			"'%s' does not go with %" PRId64 " kv-heads of %" PRId64 " heads and kv-lora-rank %" PRId64
			"; legal here: %s",
			attention_type_names[m->attention_type], m->kv_heads, m->heads, m->kv_lora_rank,
			attention_type_names[default_attention_type(m)]);
	return ERR_OK;
}

enum err_code model_file_parse(
	const cJSON *object, const struct json_place *p, const char *const *also, struct model *m, struct err *e)
{
	enum err_code code;
	struct err inner;

	model_set_base(m);
	code = fields_read(object, p, &model_fields, also, m, e);
	if (code != ERR_OK)
		return code;
	model_set_defaults(m);
	code = check_consistency(m, p, e);
	if (code != ERR_OK)
		return code;
	if (model_check(m, &inner) != ERR_OK)
		return json_error(p, inner.where, ERR_FILE, e, "%s", inner.msg);
	return ERR_OK;
}

/* A model that is not in the catalog is called after its file; a plain config.json after the directory it is in. */
static void name_after_file(const char *path, struct model *m)
{
	const char *slash = strrchr(path, '/'), *from = slash == NULL ? path : slash + 1;
	size_t len = strcspn(from, ".");

	if (strlen(from) > 5 && strcmp(from + strlen(from) - 5, ".json") == 0)
		len = strlen(from) - 5;
	if (len == strlen("config") && strncmp(from, "config", len) == 0 && slash != NULL && slash > path) {
		const char *end = slash;

		from = slash;
		while (from > path && from[-1] != '/')
			from--;
		len = (size_t)(end - from);
	}
	if (len == 0 || len >= sizeof m->id || from[0] == '.') {
		(void)snprintf(m->id, sizeof m->id, "custom");
		return;
	}
	/* An id has small letters, digits, '.' and '-' only. */
	for (size_t i = 0; i < len; i++) {
		char c = text_lower(from[i]);

		m->id[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ? c : '-';
	}
	m->id[len] = '\0';
}

enum err_code model_file_read(const char *path, struct model *m, char note[MODEL_FILE_NOTE_CAP], struct err *e)
{
	struct json_place place = { .file = path };
	cJSON *root = NULL;
	enum err_code code = json_load(path, &root, e);

	if (code != ERR_OK)
		return code;
	if (cJSON_GetObjectItemCaseSensitive(root, "layers") != NULL &&
		cJSON_GetObjectItemCaseSensitive(root, "hidden") != NULL) {
		(void)snprintf(note, MODEL_FILE_NOTE_CAP, "preset file");
		code = model_file_parse(root, &place, preset_keys_model, m, e);
		if (code == ERR_OK)
			code = preset_keys_check(root, &place, e);
	} else {
		code = hf_config_parse(root, &place, m, note, MODEL_FILE_NOTE_CAP, e);
		if (code == ERR_OK) {
			name_after_file(path, m);
			(void)snprintf(m->label, sizeof m->label, "%s", m->id);
		}
	}
	cJSON_Delete(root);
	return code;
}

/* Whether a member says no more than the defaults do. */
static bool is_default(const struct field *f, const struct model *m)
{
	struct model base;

	model_set_base(&base);
	base.heads = m->heads;
	base.hidden = m->hidden;
	base.kv_lora_rank = m->kv_lora_rank;
	base.qk_nope_dim = m->qk_nope_dim;
	base.qk_rope_dim = m->qk_rope_dim;
	base.positions = m->positions;
	model_set_defaults(&base);
	base.attention_type = UNSET;
	if (f->required || f->offset == offsetof(struct model, label))
		return false;
	/* These are copied above only to make the other defaults. */
	if (f->offset == offsetof(struct model, kv_lora_rank) || f->offset == offsetof(struct model, qk_nope_dim) ||
		f->offset == offsetof(struct model, qk_rope_dim) || f->offset == offsetof(struct model, positions))
		return fields_is_zero(f, m);
	return memcmp((const char *)m + f->offset, (const char *)&base + f->offset, f->size) == 0;
}

void model_file_write(const struct model *m, const char *where, const char *kind, const char *date, struct sink *out)
{
	sink_puts(out, "{\n");
	for (size_t i = 0; i < model_fields.n; i++) {
		const struct field *f = &model_fields.rows[i];

		if (is_default(f, m))
			continue;
		sink_puts(out, "  ");
		sink_json_string(out, f->key);
		sink_puts(out, ": ");
		fields_write_value(f, m, out);
		sink_puts(out, ",\n");
	}
	sink_puts(out, "  \"source\": [\n    {\"where\": ");
	sink_json_string(out, where);
	sink_puts(out, ", \"kind\": ");
	sink_json_string(out, kind);
	sink_puts(out, ", \"date\": ");
	sink_json_string(out, date);
	sink_puts(out, "}\n  ]\n}\n");
}
