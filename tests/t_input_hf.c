/* Import of Hugging Face configurations: exact counts for every architecture, and no silent guess. */
#include "catalog.h"
#include "hf_config.h"
#include "hf_table.h"
#include "json.h"
#include "model_file.h"
#include "presets.h"
#include "support.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *top(void)
{
	const char *dir = getenv("top_srcdir");

	return dir != NULL ? dir : ".";
}

static enum err_code parse(const char *text, struct model *m, struct err *e)
{
	struct json_place p = { .file = "c.json" };
	char note[MODEL_FILE_NOTE_CAP];
	cJSON *root = NULL;
	enum err_code code = json_parse("c.json", text, strlen(text), &root, e);

	if (code == ERR_OK)
		code = hf_config_parse(root, &p, m, note, sizeof note, e);
	cJSON_Delete(root);
	return code;
}

START_TEST(every_architecture_counts_to_the_integer)
{
	char path[512], line[256];
	size_t n = 0;
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/tests/data/hf_params.csv", top());
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f) != NULL) {
		char note[MODEL_FILE_NOTE_CAP], *comma = strchr(line, ',');
		struct model m = { .id = "" };
		struct err e = { .msg = "" };
		int64_t total, active;

		if (line[0] == '#' || strncmp(line, "file,", 5) == 0 || comma == NULL)
			continue;
		*comma = '\0';
		total = strtoll(comma + 1, &comma, 10);
		active = strtoll(comma + 1, NULL, 10);
		(void)snprintf(path, sizeof path, "%s/tests/data/hf/%s.json", top(), line);
		ck_assert_msg(model_file_read(path, &m, note, &e) == ERR_OK, "%s: %s", e.where, e.msg);
		ck_assert_msg(model_params(&m) == total, "%s: %" PRId64 ", not %" PRId64, line, model_params(&m), total);
		ck_assert_msg(active == 0 || model_active_params(&m) == active, "%s: %" PRId64 " active", line,
			model_active_params(&m));
		ck_assert_str_eq(m.id, line);
		n++;
	}
	(void)fclose(f);
	ck_assert_uint_ge(n, 50);
}
END_TEST

/* Where a preset of the same name exists, the import must give its shape, not only its count. */
START_TEST(imports_equal_the_presets_member_by_member)
{
	struct preset_store *store = NULL;
	size_t n = 0;

	ck_assert_int_eq(preset_store_new(&store, NULL), ERR_OK);
	for (size_t i = 0; i < preset_store_catalog(store)->n_models; i++) {
		const struct model *preset = &preset_store_catalog(store)->models[i];
		char note[MODEL_FILE_NOTE_CAP], path[512];
		struct model m = { .id = "" };

		(void)snprintf(path, sizeof path, "%s/tests/data/hf/%s.json", top(), preset->id);
		if (model_file_read(path, &m, note, NULL) != ERR_OK)
			continue;
		for (size_t f = 0; f < model_fields.n; f++) {
			const struct field *row = &model_fields.rows[f];

			/* A released configuration may allow longer sequences than the model was made for. */
			if (row->type == FIELD_TEXT || strcmp(row->key, "max-seq") == 0)
				continue;
			ck_assert_msg(memcmp((const char *)&m + row->offset, (const char *)preset + row->offset, row->size) == 0,
				"%s of %s", row->key, preset->id);
		}
		n++;
	}
	preset_store_free(store);
	ck_assert_uint_ge(n, 30);
}
END_TEST

/* clang-format off */
#define SIZES(hidden) \
	"\"hidden_size\": " hidden ", \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 256, " \
	"\"vocab_size\": 1000"
#define OF_TYPE(type) "{\"model_type\": \"" type "\", "
#define LLAMA OF_TYPE("llama") SIZES("64")
#define EXPERTS(count) \
	", \"num_key_value_heads\": 4, \"" count "\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32"
#define LLAMA4 OF_TYPE("llama4_text") SIZES("64") ", \"intermediate_size_mlp\": 256, \"num_local_experts\": 4, " \
	"\"num_experts_per_tok\": 1, \"num_key_value_heads\": 4, \"interleave_moe_layer_step\": 2, \"moe_layers\": "
#define MPT OF_TYPE("mpt") "\"d_model\": 64, \"n_layers\": 2, \"n_heads\": 4, \"vocab_size\": 10, \"attn_config\": "

static const struct {
	const char *text, *where, *says;
	enum err_code code;
} bad[] = {
	{ "{}", "c.json:/model_type", "neither model_type nor architectures", ERR_FILE },
	{ "{\"model_type\": \"llama\"}", "c.json:", "vocab_size, hidden_size, num_hidden_layers, num_attention_heads", ERR_FILE },
	{ LLAMA ", \"hidden_size\": 64}", "c.json:/hidden_size", "twice", ERR_FILE },
	{ LLAMA ", \"mystery_size\": 64}", "c.json:", "mystery_size", ERR_FILE },
	{ LLAMA ", \"num_key_value_heads\": 3}", "c.json:", "does not divide", ERR_FILE },
	{ LLAMA ", \"num_key_value_heads\": -1}", "c.json:/num_key_value_heads", "-1 is out of range", ERR_FILE },
	{ LLAMA ", \"num_key_value_heads\": 2.5}", "c.json:/num_key_value_heads", "nearest: 3", ERR_FILE },
	{ LLAMA ", \"num_key_value_heads\": \"2\"}", "c.json:/num_key_value_heads", "not a number", ERR_FILE },
	{ LLAMA ", \"tie_word_embeddings\": 1}", "c.json:/tie_word_embeddings", "neither true nor false", ERR_FILE },
	{ LLAMA ", \"is_encoder_decoder\": true}", "c.json:/is_encoder_decoder", "cannot be expressed", ERR_FILE },
	{ LLAMA ", \"num_local_experts\": 8}", "c.json:", "num_local_experts", ERR_FILE },
	{ OF_TYPE("llama") SIZES("null") "}", "c.json:", "hidden 0", ERR_FILE },
	{ OF_TYPE("llama") SIZES("65") "}", "c.json:", "65 is not a multiple of 4 heads", ERR_FILE },
	{ OF_TYPE("mistral") SIZES("64") "}", "c.json:", "num_key_value_heads", ERR_FILE },
	{ OF_TYPE("mixtral") SIZES("64") ", \"num_key_value_heads\": 4}", "c.json:", "num_experts_per_tok, num_local_experts",
	  ERR_FILE },
	{ OF_TYPE("deepseek_v2") SIZES("64") EXPERTS("n_routed_experts") "}", "c.json:",
	  "kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim", ERR_FILE },
	{ OF_TYPE("git") SIZES("64") ", \"type_vocab_size\": 2}", "c.json:/model_type", "'git' is not known", ERR_UNKNOWN },
	{ OF_TYPE("git") SIZES("64") ", \"type_vocab_size\": 2}", "c.json:/model_type", "not understood: type_vocab_size", ERR_UNKNOWN },
	{ OF_TYPE("jamba") SIZES("64") "}", "c.json:/model_type", "recurrences or linear attention", ERR_FILE },
	{ OF_TYPE("mamba2") "\"vocab_size\": 10}", "c.json:/model_type", "not attention", ERR_FILE },
	{ "{\"architectures\": [\"MambaForCausalLM\"]}", "c.json:/model_type", "not attention", ERR_FILE },
	{ OF_TYPE("bert") SIZES("64") "}", "c.json:/model_type", "encoder", ERR_FILE },
	{ "{\"model_type\": \"mllama\", \"text_config\": {\"model_type\": \"mllama_text_model\"}}", "c.json:/text_config/model_type",
	  "cross-attention", ERR_FILE },
	{ OF_TYPE("hunyuan_v1_moe") SIZES("64") ", \"num_experts\": [4, 8], \"moe_topk\": 2}", "c.json:/num_experts",
	  "an array is not a number", ERR_FILE },
	{ OF_TYPE("minimax_m2") SIZES("64") ", \"num_key_value_heads\": 2, \"attn_type_list\": [1, 0]}", "c.json:/attn_type_list",
	  "cannot be expressed", ERR_FILE },
	{ OF_TYPE("ernie4_5_moe") SIZES("64") ", \"num_key_value_heads\": 2, \"moe_num_experts\": 4, \"moe_k\": 2, "
	  "\"moe_intermediate_size\": 32, \"moe_layer_end_index\": 0}", "c.json:/moe_layer_end_index", "to the last one", ERR_FILE },
	{ OF_TYPE("dots1") SIZES("64") EXPERTS("n_routed_experts") ", \"mlp_layer_types\": [\"sparse\", \"dense\"]}",
	  "c.json:/mlp_layer_types", "after the first 0 dense", ERR_FILE },
	{ OF_TYPE("lama") SIZES("64") "}", "c.json:/model_type", "nearest: llama", ERR_UNKNOWN },
	{ OF_TYPE("new") SIZES("64") ", \"attention_bias\": false, \"mlp_bias\": false, \"tie_word_embeddings\": false, "
	  "\"num_key_value_heads\": 2}", "c.json:/model_type", "missing: use_qk_norm", ERR_UNKNOWN },
	{ OF_TYPE("qwen3_moe") SIZES("64") EXPERTS("num_experts") ", \"mlp_only_layers\": [0]}", "c.json:/mlp_only_layers",
	  "cannot be expressed", ERR_FILE },
	{ OF_TYPE("deepseek_v3") SIZES("64") EXPERTS("n_routed_experts") ", \"moe_layer_freq\": 2}", "c.json:/moe_layer_freq",
	  "2 cannot be expressed", ERR_FILE },
	{ LLAMA4 "[0]}", "c.json:/moe_layers", "only every 2. layer after the first 0 dense ones", ERR_FILE },
	{ LLAMA4 "[]}", "c.json:/moe_layers", "only every 2. layer", ERR_FILE },
	{ OF_TYPE("llama") "\"hidden_size\": 64, \"num_hidden_layers\": 20000, \"num_attention_heads\": 4, "
	  "\"intermediate_size\": 256, \"vocab_size\": 10}", "c.json:", "layers 20000 is out of range; legal: 1 to 10000", ERR_FILE },
	{ OF_TYPE("opt") "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"ffn_dim\": 256, "
	  "\"vocab_size\": 10, \"word_embed_proj_dim\": 32, \"tie_word_embeddings\": false}", "c.json:",
	  "with tied embeddings only", ERR_FILE },
	{ OF_TYPE("falcon") SIZES("64") ", \"n_embed\": 32}", "c.json:/n_embed", "different value", ERR_FILE },
	{ MPT "{\"attn_type\": \"linear\"}}", "c.json:/attn_config/attn_type", "'linear' is not known", ERR_FILE },
	{ MPT "3}", "c.json:/attn_config", "3 is not an object", ERR_FILE },
	{ "{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"gpt5\"}}", "c.json:/text_config/model_type",
	  "'gpt5' is not known", ERR_UNKNOWN },
	{ OF_TYPE("llama") "\"hidden_size\": 1000000, \"num_hidden_layers\": 10000, \"num_attention_heads\": 64, "
	  "\"intermediate_size\": 10000000, \"vocab_size\": 100000000}", "c.json:", "more than 1e16", ERR_FILE },
};
/* clang-format on */

START_TEST(what_cannot_be_read_exactly_is_refused_by_name)
{
	struct model m;
	struct err e = { .msg = "" };

	ck_assert_int_eq(parse(bad[_i].text, &m, &e), bad[_i].code);
	ck_assert_msg(strcmp(e.where, bad[_i].where) == 0, "%s: %s", e.where, e.msg);
	ck_assert_msg(strstr(e.msg, bad[_i].says) != NULL, "%s: %s", e.where, e.msg);
}
END_TEST

/* A list of equal numbers is that number; a list of layers with experts, or the last of them, may repeat what other keys say. */
START_TEST(what_is_said_per_layer_is_read_when_it_is_the_same)
{
	struct model one, lists;
	struct err e = { .msg = "" };

	ck_assert_msg(parse(OF_TYPE("dots1") SIZES("64") EXPERTS("n_routed_experts") ", \"first_k_dense_replace\": 1}", &one,
			      &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_msg(parse(OF_TYPE("dots1") SIZES("64") ", \"num_key_value_heads\": 4, \"n_routed_experts\": [4, 4], "
							 "\"num_experts_per_tok\": [2, 2], \"moe_intermediate_size\": [32, 32], "
							 "\"first_k_dense_replace\": 1, "
							 "\"mlp_layer_types\": [\"dense\", \"sparse\"]}",
			      &lists, &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_int_eq(model_params(&one), model_params(&lists));
	ck_assert_int_eq(lists.experts, 4);
}
END_TEST

/* Granite gives the width of its shared expert; where it does not, there is none. */
START_TEST(no_width_of_a_shared_expert_is_no_shared_expert)
{
	struct model m;
	struct err e = { .msg = "" };

	ck_assert_msg(parse(OF_TYPE("granitemoe") SIZES("64") ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2}", &m,
			      &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_int_eq(m.shared_experts, 0);
	ck_assert_msg(parse(OF_TYPE("granitemoeshared") SIZES("64") ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2, "
								    "\"shared_intermediate_size\": 96}",
			      &m, &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_int_eq(model_shared_ffn(&m), 96);
}
END_TEST

START_TEST(an_unknown_type_that_says_everything_is_read)
{
	struct model m;
	struct err e = { .msg = "" };

	ck_assert_msg(
		parse("{\"model_type\": \"new\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
		      "\"intermediate_size\": 256, \"vocab_size\": 10, \"attention_bias\": true, \"mlp_bias\": false, "
		      "\"tie_word_embeddings\": true, "
		      "\"num_key_value_heads\": 2, \"use_qk_norm\": false, \"rope_theta\": 1e6, \"max_position_embeddings\": "
		      "2048}",
			&m, &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_int_eq(m.qkv_bias, 1);
	ck_assert_int_eq(m.out_bias, 1);
	ck_assert_int_eq(m.qk_norm, QK_NORM_NONE);
	/* Per layer: 64 x (64 + 64) + 128 of q, k, v; 64 x 64 + 64; 3 x 64 x 256; 2 x 64. Outside: 10 x 64 + 64. */
	ck_assert_int_eq(model_params(&m), 2 * (64 * 128 + 128 + 64 * 64 + 64 + 3 * 64 * 256 + 128) + 704);
}
END_TEST

START_TEST(the_class_name_stands_in_for_a_missing_type)
{
	static const char *const names[] = { "LlamaForCausalLM", "GPTNeoXForCausalLM", "Qwen2ForCausalLM" };
	char text[400];
	struct model m;
	struct err e = { .msg = "" };

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(text, sizeof text,
			"{\"architectures\": [\"%s\"], \"hidden_size\": 64, \"num_hidden_layers\": 2, "
			"\"num_attention_heads\": 4, \"num_key_value_heads\": 4, \"intermediate_size\": 256, \"vocab_size\": "
			"1000}",
			names[i]);
		ck_assert_msg(parse(text, &m, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	}
	ck_assert_int_eq(m.qkv_bias, 1); /* Qwen2 has it without a key */
}
END_TEST

START_TEST(a_nested_configuration_has_the_defaults_of_its_class)
{
	struct model m;
	struct err e = { .msg = "" };

	/* LLaVA-1.5-7B: the text part is Llama 2 7B with 64 more tokens. 6738415616 + 2 x 64 x 4096. */
	ck_assert_msg(parse("{\"model_type\": \"llava\", \"vision_config\": {\"hidden_size\": 1024}, \"mystery\": 1, "
			    "\"text_config\": {\"model_type\": "
			    "\"llama\", \"max_position_embeddings\": 4096, \"vocab_size\": 32064}}",
			      &m, &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_int_eq(model_params(&m), 6738939904);
	/* Tied one level up. */
	ck_assert_msg(
		parse("{\"model_type\": \"llava\", \"tie_word_embeddings\": true, \"text_config\": {\"model_type\": \"llama\"}}",
			&m, &e) == ERR_OK,
		"%s: %s", e.where, e.msg);
	ck_assert_int_eq(model_params(&m), 6738415616 - 32000 * 4096);
}
END_TEST

START_TEST(rows_of_the_table_are_well_formed)
{
	for (size_t a = 0; a < hf_archs_n; a++) {
		ck_assert_ptr_nonnull(hf_archs[a].cite);
		ck_assert_ptr_nonnull(hf_archs[a].sets[0]);
		for (size_t s = 0; s < 3 && hf_archs[a].sets[s] != NULL; s++) {
			for (const struct hf_key *k = hf_archs[a].sets[s]; k->type != HF_END; k++) {
				ck_assert_ptr_nonnull(k->key);
				ck_assert_msg(k->offset < sizeof(struct hf_raw), "%s", k->key);
				ck_assert_msg(k->type != HF_WORD || k->words != NULL, "%s", k->key);
				ck_assert_msg(k->type != HF_INSIDE || k->inside != NULL, "%s", k->key);
				ck_assert_msg(k->type == HF_INT || !k->required, "%s", k->key);
			}
		}
	}
	/* No type twice. */
	for (size_t i = 0; hf_config_type(i) != NULL; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(hf_config_type(i), hf_config_type(k));
}
END_TEST

START_TEST(keys_that_change_no_count_are_ignored)
{
	static const char *const ignored[] = { "rope_scaling", "torch_dtype", "attention_dropout", "bos_token_id",
		"quantization_config", "rms_norm_eps", "_name_or_path", "initializer_range", "transformers_version",
		"use_cache" };
	static const char *const counted[] = { "n_layer", "num_experts", "attention_bias", "shared_expert_intermediate_size",
		"q_lora_rank", "index_n_heads", "linear_num_key_heads", "altup_num_inputs" };

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		ck_assert_msg(hf_key_is_ignored(ignored[i]), "%s", ignored[i]);
	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		ck_assert_msg(!hf_key_is_ignored(counted[i]), "%s", counted[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("input: config.json");
	TCase *t = tcase_create("config.json");

	tcase_add_test(t, every_architecture_counts_to_the_integer);
	tcase_add_test(t, imports_equal_the_presets_member_by_member);
	tcase_add_loop_test(t, what_cannot_be_read_exactly_is_refused_by_name, 0, (int)(sizeof bad / sizeof bad[0]));
	tcase_add_test(t, what_is_said_per_layer_is_read_when_it_is_the_same);
	tcase_add_test(t, no_width_of_a_shared_expert_is_no_shared_expert);
	tcase_add_test(t, an_unknown_type_that_says_everything_is_read);
	tcase_add_test(t, the_class_name_stands_in_for_a_missing_type);
	tcase_add_test(t, a_nested_configuration_has_the_defaults_of_its_class);
	tcase_add_test(t, rows_of_the_table_are_well_formed);
	tcase_add_test(t, keys_that_change_no_count_are_ignored);
	suite_add_tcase(s, t);
	return test_run(s);
}
