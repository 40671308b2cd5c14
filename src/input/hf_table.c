#include "hf_table.h"

#include <string.h>

/* Absent keys mean what transformers' configuration classes say (src/transformers/models/X/configuration_X.py); layer shapes are
 * those of modeling_X.py, or of the modeling file in the model's own repository where transformers has none. */

/* clang-format off */
#define M(field) offsetof(struct hf_raw, m.field)
#define R(field) offsetof(struct hf_raw, field)
#define NEED(k, at) { k, HF_INT, at, 1, NULL, NULL }
#define INT(k, at) { k, HF_INT, at, 0, NULL, NULL }
#define FLAG(k, at) { k, HF_FLAG, at, 0, NULL, NULL }
#define NOT(k, at) { k, HF_NOT, at, 0, NULL, NULL }
#define WORD(k, at, list) { k, HF_WORD, at, 0, list, NULL }
#define ZERO(k) { k, HF_ZERO, 0, 0, NULL, NULL }
#define NOTHING(k) { k, HF_NOTHING, 0, 0, NULL, NULL }
#define ONE(k) { k, HF_ONE, 0, 0, NULL, NULL }
#define INSIDE(k, set) { k, HF_INSIDE, 0, 0, NULL, set }
#define MOE_LAYERS(k) { k, HF_MOE_LAYERS, 0, 0, NULL, NULL }
#define END { NULL, HF_END, 0, 0, NULL, NULL }

#define COMMON_KEYS \
	NEED("vocab_size", M(vocab)), FLAG("tie_word_embeddings", M(tied_embeddings)), \
	ZERO("is_encoder_decoder"), ZERO("add_cross_attention"), ZERO("cross_attention_hidden_size"), ZERO("pruned_heads"), \
	ZERO("tie_encoder_decoder")
#define SHAPE_KEYS \
	NEED("hidden_size", M(hidden)), NEED("num_hidden_layers", M(layers)), NEED("num_attention_heads", M(heads)), \
	INT("max_position_embeddings", M(max_seq))

/* What every object that transformers writes may hold; inside another object it says nothing. */
#define INNER_KEYS \
	NOTHING("tie_word_embeddings"), NOTHING("is_encoder_decoder"), NOTHING("add_cross_attention"), \
	NOTHING("cross_attention_hidden_size"), NOTHING("pruned_heads"), NOTHING("tie_encoder_decoder")

/* The names that Llama introduced and most later models took over. */
static const struct hf_key llama_shape[] = {
	COMMON_KEYS, SHAPE_KEYS, INT("num_key_value_heads", M(kv_heads)), INT("head_dim", M(head_dim)), END
};
static const struct hf_key dense_ffn[] = { NEED("intermediate_size", M(ffn)), END };
static const struct hf_key expert_ffn[] = {
	NEED("intermediate_size", M(expert_ffn)), NEED("num_experts_per_tok", M(topk)), END
};
static const struct hf_key llama_biases[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), FLAG("mlp_bias", M(mlp_bias)),
	ZERO("qk_layer_norms"), END
};
static const struct hf_key generic_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), FLAG("mlp_bias", M(mlp_bias)),
	NOT("use_qk_norm", R(qk_norm_off)), END
};
static const struct hf_key nemotron_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), FLAG("mlp_bias", M(mlp_bias)),
	INT("kv_channels", M(head_dim)), END
};
static const struct hf_key attention_bias[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), END
};
static const struct hf_key phi3_keys[] = {
	NEED("intermediate_size", M(ffn)), ZERO("attention_bias"), ZERO("lm_head_bias"), ZERO("mlp_bias"), END
};
static const struct hf_word per_layer[] = { { "per_layer", 0 }, { NULL, 0 } };
static const struct hf_key mixtral_keys[] = { NEED("num_local_experts", M(experts)), END };
static const struct hf_key olmoe_keys[] = { NEED("num_experts", M(experts)), FLAG("attention_bias", R(attention_bias)), END };
static const struct hf_key phimoe_keys[] = {
	NEED("num_local_experts", M(experts)), FLAG("attention_bias", R(attention_bias)), FLAG("lm_head_bias", M(head_bias)),
	END
};
static const struct hf_key granite_moe_keys[] = {
	NEED("num_local_experts", M(experts)), FLAG("attention_bias", R(attention_bias)),
	INT("shared_intermediate_size", M(shared_ffn)), END
};
/* The three prediction modules are neither in the released weights nor in transformers. */
static const struct hf_key minimax_m2_keys[] = {
	NEED("num_local_experts", M(experts)), ZERO("shared_intermediate_size"), NOT("use_qk_norm", R(qk_norm_off)),
	FLAG("use_routing_bias", M(router_bias)), ONE("attn_type_list"), WORD("qk_norm_type", R(plain), per_layer),
	NOTHING("use_mtp"), NOTHING("num_mtp_modules"), NOTHING("mtp_transformer_layers"), NOTHING("mlp_intermediate_size"),
	NOTHING("shared_moe_mode"), NOTHING("max_model_len"), ZERO("attention_bias"), END
};
static const struct hf_key grok_keys[] = {
	NEED("num_experts", M(experts)), INT("num_experts_per_token", M(topk)), INT("num_selected_experts", M(topk)), END
};
static const struct hf_key gpt_oss_keys[] = {
	NEED("intermediate_size", M(expert_ffn)), NEED("num_local_experts", M(experts)), NEED("num_experts_per_tok", M(topk)),
	INT("experts_per_token", M(topk)), FLAG("attention_bias", R(attention_bias)),
	INT("sliding_window", M(window)), END
};
static const struct hf_key qwen_moe_keys[] = {
	NEED("intermediate_size", M(ffn)), NEED("num_experts", M(experts)), NEED("num_experts_per_tok", M(topk)),
	NEED("moe_intermediate_size", M(expert_ffn)), INT("decoder_sparse_step", M(moe_stride)), ZERO("mlp_only_layers"), END
};
static const struct hf_key qwen2_moe_keys[] = {
	INT("shared_expert_intermediate_size", M(shared_ffn)), FLAG("qkv_bias", M(qkv_bias)), END
};
static const struct hf_key qwen3_moe_keys[] = {
	FLAG("attention_bias", R(attention_bias)), ZERO("shared_expert_intermediate_size"), ZERO("qkv_bias"),
	ONE("use_qk_norm"), END
};
static const struct hf_key routed_keys[] = {
	NEED("intermediate_size", M(ffn)), NEED("n_routed_experts", M(experts)), INT("n_shared_experts", M(shared_experts)),
	NEED("num_experts_per_tok", M(topk)), NEED("moe_intermediate_size", M(expert_ffn)),
	INT("first_k_dense_replace", M(dense_layers)), ONE("moe_layer_freq"), INT("num_nextn_predict_layers", M(mtp_layers)),
	MOE_LAYERS("mlp_layer_types"), END
};
static const struct hf_key bailing_keys[] = {
	NEED("intermediate_size", M(ffn)), NEED("num_experts", M(experts)), INT("num_shared_experts", M(shared_experts)),
	NEED("num_experts_per_tok", M(topk)), NEED("moe_intermediate_size", M(expert_ffn)),
	INT("moe_shared_expert_intermediate_size", M(shared_ffn)), INT("first_k_dense_replace", M(dense_layers)),
	INT("num_nextn_predict_layers", M(mtp_layers)), FLAG("use_qkv_bias", M(qkv_bias)), FLAG("use_bias", M(out_bias)),
	NOT("use_qk_norm", R(qk_norm_off)), FLAG("moe_router_enable_expert_bias", M(router_bias)), NOTHING("norm_head"),
	NOTHING("norm_softmax"), ONE("use_rmsnorm"), NOTHING("score_function"), NOTHING("router_dtype"),
	NOTHING("mtp_loss_scaling_factor"), NOTHING("multi_gate"), END
};
static const struct hf_key ernie_moe_keys[] = {
	NEED("intermediate_size", M(ffn)), NEED("moe_num_experts", M(experts)), NEED("moe_k", M(topk)),
	NEED("moe_intermediate_size", M(expert_ffn)), INT("moe_num_shared_experts", M(shared_experts)),
	INT("moe_layer_start_index", M(dense_layers)), MOE_LAYERS("moe_layer_end_index"), ONE("moe_layer_interval"),
	INT("num_nextn_predict_layers", M(mtp_layers)), ZERO("use_bias"), NOTHING("moe_capacity"), NOTHING("moe_gate"),
	NOTHING("moe_use_aux_free"), NOTHING("moe_norm_min"), NOTHING("moe_gate_act"), ONE("compression_ratio"), END
};
static const struct hf_key hunyuan_keys[] = {
	NEED("intermediate_size", M(ffn)), INT("attention_head_dim", M(head_dim)), FLAG("attention_bias", R(attention_bias)),
	FLAG("mlp_bias", M(mlp_bias)), NOT("use_qk_norm", R(qk_norm_off)), ZERO("use_cla"), NOTHING("cla_share_factor"),
	ZERO("use_mla"), NOTHING("use_rotary_pos_emb"), NOTHING("org_vocab_size"), NOTHING("norm_type"), END
};
static const struct hf_key hunyuan_moe_keys[] = {
	NEED("num_experts", M(experts)), NEED("moe_topk", M(topk)), INT("num_experts_per_tok", M(topk)),
	INT("moe_intermediate_size", M(expert_ffn)), INT("num_shared_expert", M(shared_experts)),
	INT("moe_layer_num_skipped", M(dense_layers)), ONE("use_mixed_mlp_moe"), NOTHING("moe_drop_tokens"),
	NOTHING("moe_random_routing_dropped_token"), NOTHING("capacity_factor"), NOTHING("group_limited_greedy"), END
};
static const struct hf_key dots1_keys[] = { FLAG("attention_bias", R(attention_bias)), END };
static const struct hf_key mimo_keys[] = {
	NEED("intermediate_size", M(ffn)), INT("num_nextn_predict_layers", M(mtp_layers)), FLAG("attention_bias", M(qkv_bias)), END
};
static const struct hf_key apertus_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), ZERO("mlp_bias"), ONE("qk_norm"),
	ZERO("post_norm"), END
};
static const struct hf_key qwen_keys[] = {
	NEED("intermediate_size", M(ffn)), INT("kv_channels", M(head_dim)), ONE("no_bias"), NOTHING("seq_length"),
	NOTHING("bf16"), NOTHING("fp16"), NOTHING("fp32"), NOTHING("onnx_safe"), NOTHING("softmax_in_fp32"),
	NOTHING("use_flash_attn"), NOTHING("use_cache_kernel"), NOTHING("use_cache_quantization"), END
};
static const struct hf_word topk_methods[] = {
	{ "noaux_tc", 1 }, { "greedy", 0 }, { "gready", 0 }, { "group_limited_greedy", 0 }, { NULL, 0 }
};
static const struct hf_key mla_keys[] = {
	INT("q_lora_rank", M(q_lora_rank)), NEED("kv_lora_rank", M(kv_lora_rank)), NEED("qk_nope_head_dim", M(qk_nope_dim)),
	NEED("qk_rope_head_dim", M(qk_rope_dim)), INT("v_head_dim", M(v_head_dim)),
	WORD("topk_method", M(router_bias), topk_methods), INT("topk_group", M(route_nodes)), ZERO("attention_bias"), END
};
static const struct hf_key minicpm3_keys[] = { NEED("intermediate_size", M(ffn)), END };
static const struct hf_key deepseek1_keys[] = { ZERO("attention_bias"), END };
static const struct hf_key glm_moe_keys[] = { FLAG("attention_bias", M(qkv_bias)), NOT("use_qk_norm", R(qk_norm_off)), END };
static const struct hf_key glm_keys[] = { NEED("intermediate_size", M(ffn)), FLAG("attention_bias", M(qkv_bias)), END };
static const struct hf_key seed_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", M(qkv_bias)), FLAG("attention_out_bias", M(out_bias)),
	FLAG("mlp_bias", M(mlp_bias)), END
};
static const struct hf_key llama4_keys[] = {
	NEED("intermediate_size", M(expert_ffn)), NEED("intermediate_size_mlp", M(ffn)), NEED("num_local_experts", M(experts)),
	NEED("num_experts_per_tok", M(topk)), INT("interleave_moe_layer_step", M(moe_stride)),
	FLAG("attention_bias", R(attention_bias)), MOE_LAYERS("moe_layers"), NOTHING("use_qk_norm"), END
};
static const struct hf_key cohere_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), NOT("use_qk_norm", R(qk_norm_off)),
	ONE("use_gated_activation"), ONE("use_parallel_block"), ONE("use_embedding_sharing"), END
};
static const struct hf_word starcoder2_mlp[] = { { "default", 0 }, { NULL, 0 } };
static const struct hf_key starcoder2_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("use_bias", R(all_bias)), WORD("mlp_type", R(plain), starcoder2_mlp), END
};
static const struct hf_key all_bias_keys[] = { NEED("intermediate_size", M(ffn)), FLAG("use_bias", R(all_bias)), END };
static const struct hf_key internlm_keys[] = { NEED("intermediate_size", M(ffn)), FLAG("bias", R(attention_bias)), END };
static const struct hf_key baichuan_keys[] = { NEED("intermediate_size", M(ffn)), INT("model_max_length", M(max_seq)), END };
static const struct hf_key exaone_keys[] = {
	COMMON_KEYS, NEED("hidden_size", M(hidden)), NEED("num_layers", M(layers)), INT("num_hidden_layers", M(layers)),
	NEED("num_attention_heads", M(heads)), INT("max_position_embeddings", M(max_seq)),
	INT("num_key_value_heads", M(kv_heads)), INT("head_dim", M(head_dim)), NEED("intermediate_size", M(ffn)), END
};
static const struct hf_key stablelm_keys[] = {
	NEED("intermediate_size", M(ffn)), FLAG("use_qkv_bias", M(qkv_bias)), FLAG("use_parallel_residual", R(parallel)),
	ZERO("qk_layernorm"), END
};
static const struct hf_key phi_keys[] = { NEED("intermediate_size", M(ffn)), NOT("qk_layernorm", R(qk_norm_off)), END };
static const struct hf_key neox_keys[] = { NEED("intermediate_size", M(ffn)), FLAG("attention_bias", R(attention_bias)), END };
static const struct hf_key gpt2_keys[] = {
	COMMON_KEYS, NEED("n_embd", M(hidden)), NEED("n_layer", M(layers)), NEED("n_head", M(heads)),
	INT("n_positions", M(max_seq)), INT("n_inner", M(ffn)), END
};
static const struct hf_key bigcode_keys[] = { FLAG("multi_query", R(multi_query)), END };
static const struct hf_key neo_keys[] = {
	COMMON_KEYS, NEED("hidden_size", M(hidden)), NEED("num_layers", M(layers)), NEED("num_heads", M(heads)),
	INT("max_position_embeddings", M(max_seq)), INT("intermediate_size", M(ffn)), END
};
static const struct hf_key opt_keys[] = {
	COMMON_KEYS, SHAPE_KEYS, NEED("ffn_dim", M(ffn)), INT("word_embed_proj_dim", R(embed_width)),
	NOT("do_layer_norm_before", R(post_norm)), NOT("_remove_final_layer_norm", M(final_norm)),
	FLAG("enable_bias", R(all_bias)), ONE("layer_norm_elementwise_affine"), END
};
static const struct hf_key bloom_keys[] = {
	COMMON_KEYS, NEED("hidden_size", M(hidden)), INT("n_embed", M(hidden)), NEED("n_layer", M(layers)),
	INT("num_hidden_layers", M(layers)), NEED("n_head", M(heads)), INT("num_attention_heads", M(heads)),
	INT("seq_length", M(max_seq)), INT("n_inner", M(ffn)), END
};
static const struct hf_key falcon_keys[] = {
	COMMON_KEYS, NEED("hidden_size", M(hidden)), INT("n_embed", M(hidden)), NEED("num_hidden_layers", M(layers)),
	INT("n_layer", M(layers)), NEED("num_attention_heads", M(heads)), INT("n_head", M(heads)),
	INT("num_kv_heads", M(kv_heads)), INT("n_head_kv", M(kv_heads)), INT("max_position_embeddings", M(max_seq)),
	INT("ffn_hidden_size", M(ffn)), FLAG("alibi", R(alibi)), FLAG("new_decoder_architecture", R(new_decoder)),
	FLAG("multi_query", R(multi_query)), FLAG("parallel_attn", R(parallel)),
	INT("num_ln_in_parallel_attn", R(parallel_norms)), FLAG("bias", R(all_bias)), END
};
static const struct hf_word mpt_attention[] = {
	{ "multihead_attention", 0 }, { "multiquery_attention", 1 }, { "grouped_query_attention", 0 }, { NULL, 0 }
};
static const struct hf_word mpt_mlp[] = { { "mptmlp", 0 }, { NULL, 0 } };
static const struct hf_key mpt_attention_keys[] = {
	INNER_KEYS, WORD("attn_type", R(multi_query), mpt_attention), INT("kv_n_heads", M(kv_heads)), FLAG("alibi", R(alibi)),
	NOT("qk_ln", R(qk_norm_off)), ZERO("qk_gn"), ZERO("rope"), END
};
static const struct hf_key mpt_ffn_keys[] = { INNER_KEYS, WORD("ffn_type", R(plain), mpt_mlp), END };
static const struct hf_key mpt_keys[] = {
	COMMON_KEYS, NEED("d_model", M(hidden)), NEED("n_layers", M(layers)), NEED("n_heads", M(heads)),
	INT("max_seq_len", M(max_seq)), INT("expansion_ratio", R(ffn_ratio)), FLAG("learned_pos_emb", R(learned_positions)),
	NOT("no_bias", R(all_bias)), INSIDE("attn_config", mpt_attention_keys), INSIDE("ffn_config", mpt_ffn_keys), END
};
static const struct hf_key dbrx_attention_keys[] = { INNER_KEYS, INT("kv_n_heads", M(kv_heads)), END };
static const struct hf_key dbrx_ffn_keys[] = {
	INNER_KEYS, INT("ffn_hidden_size", M(expert_ffn)), INT("moe_num_experts", M(experts)), INT("moe_top_k", M(topk)), END
};
static const struct hf_key dbrx_keys[] = {
	COMMON_KEYS, NEED("d_model", M(hidden)), NEED("n_layers", M(layers)), NEED("n_heads", M(heads)),
	INT("max_seq_len", M(max_seq)), INSIDE("attn_config", dbrx_attention_keys), INSIDE("ffn_config", dbrx_ffn_keys), END
};
static const struct hf_key chatglm_keys[] = {
	NEED("padded_vocab_size", M(vocab)), INT("vocab_size", M(vocab)), FLAG("tie_word_embeddings", M(tied_embeddings)),
	NEED("hidden_size", M(hidden)), NEED("num_layers", M(layers)), INT("num_hidden_layers", M(layers)),
	NEED("num_attention_heads", M(heads)), NEED("ffn_hidden_size", M(ffn)), INT("kv_channels", M(head_dim)),
	INT("seq_length", M(max_seq)), FLAG("multi_query_attention", R(multi_query)),
	INT("multi_query_group_num", R(query_groups)), FLAG("add_bias_linear", R(all_bias)), FLAG("add_qkv_bias", M(qkv_bias)),
	FLAG("post_layer_norm", M(final_norm)), ONE("rmsnorm"), ZERO("pre_seq_len"), END
};

#define DIMS(vocab_, hidden_, ffn_, layers_, heads_, kv_, seq_) .vocab = vocab_, .hidden = hidden_, .ffn = ffn_, \
	.layers = layers_, \
	.heads = heads_, .kv_heads = kv_, .max_seq = seq_
#define BASE(norms, kind, bias) .final_norm = 1, .moe_stride = 1, .norms_per_layer = norms, .norm = kind, .norm_bias = bias
#define GATED(norms, kind, bias) BASE(norms, kind, bias), .gated_mlp = 1, .rope = 1
#define LLAMA_TRAITS GATED(2, NORM_RMS, 0)
#define GPT_TRAITS BASE(2, NORM_LAYERNORM, 1)
#define TABLE(set) { set, NULL, NULL }

const struct hf_arch hf_archs[] = {
	{ { "llama", "Yi", "yi", "xverse", "skywork", "aquila" }, { llama_shape, llama_biases },
	  { .m = { DIMS(32000, 4096, 11008, 32, 32, 0, 2048), LLAMA_TRAITS } }, "transformers llama" },
	{ { "mistral", "ministral", "ministral3" }, { llama_shape, dense_ffn }, { .m = { DIMS(32000, 4096, 14336, 32, 32, 8, 131072),
	  LLAMA_TRAITS } }, "transformers mistral" },
	{ { "mixtral" }, { llama_shape, expert_ffn, mixtral_keys }, { .m = { DIMS(32000, 4096, 0, 32, 32, 8, 131072),
	  .expert_ffn = 14336, .experts = 8, .topk = 2, LLAMA_TRAITS } }, "transformers mixtral" },
	{ { "qwen2", "qwen2_vl", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_vl_text" }, { llama_shape, dense_ffn },
	  { .m = { DIMS(151936, 4096, 22016, 32, 32, 32, 32768), LLAMA_TRAITS, .qkv_bias = 1 } }, "transformers qwen2" },
	{ { "qwen2_moe" }, { llama_shape, qwen_moe_keys, qwen2_moe_keys }, { .m = { DIMS(151936, 2048, 5632, 24, 16, 16, 32768),
	  LLAMA_TRAITS, .qkv_bias = 1, .experts = 60, .topk = 4, .expert_ffn = 1408, .shared_ffn = 5632, .shared_experts = 1,
	  .shared_gate = 1 }, .shared_by_width = 1 }, "transformers qwen2_moe" },
	{ { "qwen3", "qwen3_vl_text" }, { llama_shape, attention_bias }, { .m = { DIMS(151936, 4096, 22016, 32, 32, 32, 32768),
	  LLAMA_TRAITS, .head_dim = 128, .qk_norm = QK_NORM_HEAD } }, "transformers qwen3" },
	{ { "qwen3_moe", "qwen3_vl_moe_text" }, { llama_shape, qwen_moe_keys, qwen3_moe_keys },
	  { .m = { DIMS(151936, 2048, 6144, 24, 32, 4, 32768), LLAMA_TRAITS, .qk_norm = QK_NORM_HEAD, .experts = 128, .topk = 8,
	  .expert_ffn = 768 } }, "transformers qwen3_moe" },
	{ { "qwen" }, { llama_shape, qwen_keys }, { .m = { DIMS(151936, 4096, 22016, 32, 32, 0, 8192), LLAMA_TRAITS,
	  .qkv_bias = 1 }, .ffn_parts = 2 }, "Qwen/Qwen-7B modeling_qwen.py: intermediate_size is gate and up together" },
	{ { "mimo" }, { llama_shape, mimo_keys }, { .m = { DIMS(151680, 4096, 11008, 36, 32, 8, 32768), LLAMA_TRAITS,
	  .qkv_bias = 1 } }, "XiaomiMiMo/MiMo-7B-Base modeling_mimo.py" },
	{ { "gemma" }, { llama_shape, attention_bias }, { .m = { DIMS(256000, 3072, 24576, 28, 16, 16, 8192), LLAMA_TRAITS,
	  .head_dim = 256, .tied_embeddings = 1 } }, "transformers gemma" },
	{ { "gemma2" }, { llama_shape, attention_bias }, { .m = { DIMS(256000, 2304, 9216, 26, 8, 4, 8192),
	  GATED(4, NORM_RMS, 0), .head_dim = 256, .tied_embeddings = 1 } }, "transformers gemma2" },
	{ { "gemma3_text" }, { llama_shape, attention_bias }, { .m = { DIMS(262208, 2304, 9216, 26, 8, 4, 131072),
	  GATED(4, NORM_RMS, 0), .head_dim = 256, .tied_embeddings = 1, .qk_norm = QK_NORM_HEAD } }, "transformers gemma3" },
	{ { "gpt2", "gpt-sw3" }, TABLE(gpt2_keys), { .m = { DIMS(50257, 768, 0, 12, 12, 0, 1024), GPT_TRAITS, .tied_embeddings = 1 },
	  .ffn_ratio = 4, .all_bias = 1, .learned_positions = 1 }, "transformers gpt2" },
	{ { "gpt_bigcode" }, { gpt2_keys, bigcode_keys }, { .m = { DIMS(50257, 768, 0, 12, 12, 0, 1024), GPT_TRAITS,
	  .tied_embeddings = 1 }, .ffn_ratio = 4, .all_bias = 1, .multi_query = 1, .learned_positions = 1 },
	  "transformers gpt_bigcode" },
	{ { "gpt_neo" }, TABLE(neo_keys), { .m = { DIMS(50257, 2048, 0, 24, 16, 0, 2048), GPT_TRAITS, .tied_embeddings = 1,
	  .out_bias = 1, .mlp_bias = 1 }, .ffn_ratio = 4, .learned_positions = 1 }, "transformers gpt_neo" },
	{ { "gpt_neox" }, { llama_shape, neox_keys }, { .m = { DIMS(50432, 6144, 24576, 44, 64, 0, 2048), GPT_TRAITS, .rope = 1,
	  .mlp_bias = 1 }, .attention_bias = 1 }, "transformers gpt_neox" },
	{ { "gptj", "codegen" }, TABLE(gpt2_keys), { .m = { DIMS(50400, 4096, 0, 28, 16, 0, 2048), BASE(1, NORM_LAYERNORM, 1),
	  .rope = 1, .mlp_bias = 1, .head_bias = 1 }, .ffn_ratio = 4 }, "transformers gptj" },
	{ { "opt" }, TABLE(opt_keys), { .m = { DIMS(50272, 768, 3072, 12, 12, 0, 2048), GPT_TRAITS, .tied_embeddings = 1 },
	  .all_bias = 1, .learned_positions = 1, .position_offset = 2 }, "transformers opt" },
	{ { "bloom" }, TABLE(bloom_keys), { .m = { DIMS(250880, 64, 0, 2, 8, 0, 2048), GPT_TRAITS, .tied_embeddings = 1,
	  .embed_norm = 1 }, .ffn_ratio = 4, .all_bias = 1, .alibi = 1 }, "transformers bloom" },
	{ { "falcon", "RefinedWeb", "RefinedWebModel" }, TABLE(falcon_keys), { .m = { DIMS(65024, 4544, 0, 32, 71, 0, 2048),
	  GPT_TRAITS, .rope = 1, .tied_embeddings = 1 }, .ffn_ratio = 4, .multi_query = 1, .parallel = 1 },
	  "transformers falcon" },
	{ { "mpt" }, TABLE(mpt_keys), { .m = { DIMS(50368, 2048, 0, 24, 16, 0, 2048), BASE(2, NORM_LAYERNORM, 0),
	  .tied_embeddings = 1, .qk_norm = QK_NORM_FULL }, .ffn_ratio = 4, .bias_in_norms = 1, .alibi = 1,
	  .learned_positions = 1, .qk_norm_off = 1 }, "transformers mpt, llm-foundry" },
	{ { "dbrx" }, TABLE(dbrx_keys), { .m = { DIMS(32000, 2048, 0, 24, 16, 0, 2048), GATED(2, NORM_LAYERNORM, 0) } },
	  "transformers dbrx" },
	{ { "deepseek" }, { llama_shape, routed_keys, deepseek1_keys }, { .m = { DIMS(102400, 4096, 11008, 30, 32, 32, 2048),
	  LLAMA_TRAITS } }, "deepseek-ai/deepseek-moe-16b-base modeling_deepseek.py" },
	{ { "deepseek_v2" }, { llama_shape, routed_keys, mla_keys }, { .m = { DIMS(102400, 4096, 11008, 30, 32, 32, 2048),
	  LLAMA_TRAITS, .v_head_dim = 128 } }, "transformers deepseek_v2" },
	{ { "deepseek_v3", "kimi_k2" }, { llama_shape, routed_keys, mla_keys },
	  { .m = { DIMS(129280, 7168, 18432, 61, 128, 128, 4096), LLAMA_TRAITS, .q_lora_rank = 1536, .kv_lora_rank = 512,
	  .qk_nope_dim = 128, .qk_rope_dim = 64, .v_head_dim = 128, .experts = 256, .shared_experts = 1, .topk = 8,
	  .expert_ffn = 2048, .dense_layers = 3, .router_bias = 1 } }, "transformers deepseek_v3" },
	{ { "dots1" }, { llama_shape, routed_keys, dots1_keys }, { .m = { DIMS(152064, 4608, 10944, 62, 32, 32, 2048),
	  LLAMA_TRAITS, .qk_norm = QK_NORM_HEAD, .router_bias = 1 } }, "transformers dots1" },
	{ { "bailing_moe_v2" }, { llama_shape, bailing_keys }, { .m = { DIMS(157184, 2048, 5120, 20, 16, 4, 32768),
	  LLAMA_TRAITS, .qk_norm = QK_NORM_HEAD, .shared_experts = 1, .dense_layers = 1, .router_bias = 1 } },
	  "inclusionAI/Ling-mini-2.0 modeling_bailing_moe_v2.py" },
	{ { "bailing_moe" }, { llama_shape, bailing_keys }, { .m = { DIMS(30592, 1024, 0, 24, 16, 0, 16384), LLAMA_TRAITS,
	  .qk_norm = QK_NORM_HEAD, .out_bias = 1 }, .qk_norm_off = 1 }, "inclusionAI/Ling-lite modeling_bailing_moe.py" },
	{ { "minicpm3" }, { llama_shape, minicpm3_keys, mla_keys }, { .m = { DIMS(73448, 2560, 6400, 62, 40, 40, 32768),
	  LLAMA_TRAITS, .tied_embeddings = 1, .q_lora_rank = 768 } }, "openbmb/MiniCPM3-4B modeling_minicpm.py" },
	{ { "minicpm" }, { llama_shape, attention_bias }, { .m = { DIMS(32000, 4096, 11008, 32, 32, 0, 2048), LLAMA_TRAITS,
	  .tied_embeddings = 1 } }, "openbmb/MiniCPM-2B-sft-bf16 modeling_minicpm.py" },
	{ { "glm4_moe" }, { llama_shape, routed_keys, glm_moe_keys }, { .m = { DIMS(151552, 4096, 10944, 46, 96, 8, 131072),
	  LLAMA_TRAITS, .head_dim = 128, .qk_norm = QK_NORM_HEAD, .experts = 128, .topk = 8, .shared_experts = 1,
	  .expert_ffn = 1408, .dense_layers = 1, .router_bias = 1 }, .qk_norm_off = 1 }, "transformers glm4_moe" },
	{ { "glm4v_moe_text" }, { llama_shape, routed_keys, glm_moe_keys },
	  { .m = { DIMS(151424, 4096, 10944, 46, 96, 8, 65536), LLAMA_TRAITS, .qkv_bias = 1, .experts = 128, .topk = 8,
	  .shared_experts = 1, .expert_ffn = 1408, .dense_layers = 1, .router_bias = 1 }, .qk_norm_off = 1 },
	  "transformers glm4v_moe" },
	{ { "glm4_moe_lite" }, { llama_shape, routed_keys, mla_keys }, { .m = { DIMS(154880, 2048, 10240, 47, 20, 20, 202752),
	  LLAMA_TRAITS, .q_lora_rank = 768, .kv_lora_rank = 512, .qk_nope_dim = 192, .qk_rope_dim = 64, .v_head_dim = 256,
	  .experts = 64, .shared_experts = 1, .topk = 4, .expert_ffn = 1536, .dense_layers = 1, .router_bias = 1 } },
	  "transformers glm4_moe_lite" },
	{ { "glm" }, { llama_shape, glm_keys }, { .m = { DIMS(151552, 4096, 13696, 40, 32, 2, 131072), LLAMA_TRAITS,
	  .head_dim = 128, .qkv_bias = 1 } }, "transformers glm" },
	{ { "glm4", "glm4v_text" }, { llama_shape, glm_keys }, { .m = { DIMS(151552, 4096, 13696, 40, 32, 2, 131072),
	  GATED(4, NORM_RMS, 0), .head_dim = 128, .qkv_bias = 1 } }, "transformers glm4" },
	{ { "chatglm" }, TABLE(chatglm_keys), { .m = { DIMS(65024, 4096, 13696, 28, 32, 0, 2048), LLAMA_TRAITS,
	  .head_dim = 128 } }, "THUDM/chatglm2-6b modeling_chatglm.py" },
	{ { "gpt_oss" }, { llama_shape, gpt_oss_keys }, { .m = { DIMS(201088, 2880, 0, 36, 64, 8, 131072), LLAMA_TRAITS,
	  .head_dim = 64, .experts = 128, .topk = 4, .expert_ffn = 2880, .router_bias = 1, .expert_bias = 1,
	  .attention_sinks = 1, .window = 128, .window_stride = 2 }, .attention_bias = 1 }, "transformers gpt_oss" },
	{ { "olmo" }, { llama_shape, attention_bias }, { .m = { DIMS(50304, 4096, 11008, 32, 32, 0, 2048), .gated_mlp = 1,
	  .rope = 1, .norm = NORM_LAYERNORM, .moe_stride = 1 } }, "transformers olmo: its norms have no weights" },
	{ { "olmo2", "olmo3" }, { llama_shape, attention_bias }, { .m = { DIMS(50304, 4096, 11008, 32, 32, 0, 2048),
	  LLAMA_TRAITS, .qk_norm = QK_NORM_FULL } }, "transformers olmo2" },
	{ { "olmoe", "flex_olmo" }, { llama_shape, expert_ffn, olmoe_keys }, { .m = { DIMS(50304, 2048, 0, 16, 16, 0, 4096), LLAMA_TRAITS,
	  .expert_ffn = 2048, .experts = 64, .topk = 8, .qk_norm = QK_NORM_FULL } }, "transformers olmoe" },
	{ { "phi" }, { llama_shape, phi_keys }, { .m = { DIMS(51200, 2048, 8192, 24, 32, 0, 2048), BASE(1, NORM_LAYERNORM, 1),
	  .rope = 1, .head_bias = 1, .qk_norm = QK_NORM_HEAD }, .all_bias = 1, .qk_norm_off = 1 }, "transformers phi" },
	{ { "persimmon" }, { llama_shape, phi_keys }, { .m = { DIMS(262144, 4096, 16384, 36, 64, 0, 16384), GPT_TRAITS,
	  .rope = 1, .qk_norm = QK_NORM_HEAD }, .all_bias = 1 }, "transformers persimmon" },
	{ { "phi3", "phi3_v" }, { llama_shape, phi3_keys }, { .m = { DIMS(32064, 3072, 8192, 32, 32, 0, 4096), LLAMA_TRAITS } },
	  "transformers phi3" },
	{ { "phimoe" }, { llama_shape, expert_ffn, phimoe_keys }, { .m = { DIMS(32064, 4096, 0, 32, 32, 8, 131072),
	  GATED(2, NORM_LAYERNORM, 1), .expert_ffn = 6400, .experts = 16, .topk = 2 } }, "transformers phimoe" },
	{ { "starcoder2" }, { llama_shape, starcoder2_keys }, { .m = { DIMS(49152, 3072, 12288, 30, 24, 2, 4096), GPT_TRAITS,
	  .rope = 1, .tied_embeddings = 1 }, .all_bias = 1 }, "transformers starcoder2" },
	{ { "ernie4_5" }, { llama_shape, all_bias_keys }, { .m = { DIMS(103424, 1024, 3072, 18, 16, 2, 131072), LLAMA_TRAITS,
	  .head_dim = 128, .tied_embeddings = 1 } }, "transformers ernie4_5" },
	{ { "ernie4_5_moe" }, { llama_shape, ernie_moe_keys }, { .m = { DIMS(103424, 2560, 12288, 28, 20, 4, 131072),
	  LLAMA_TRAITS, .tied_embeddings = 1, .experts = 64, .shared_experts = 2, .topk = 6, .expert_ffn = 1536,
	  .dense_layers = 1, .router_bias = 1 } }, "transformers ernie4_5_moe" },
	{ { "hunyuan_v1_dense" }, { llama_shape, hunyuan_keys }, { .m = { DIMS(290943, 4096, 11008, 32, 32, 0, 2048),
	  LLAMA_TRAITS, .qk_norm = QK_NORM_HEAD } }, "transformers hunyuan_v1_dense" },
	{ { "hunyuan_v1_moe" }, { llama_shape, hunyuan_keys, hunyuan_moe_keys }, { .m = { DIMS(290943, 4096, 11008, 32, 32, 0,
	  2048), LLAMA_TRAITS, .qk_norm = QK_NORM_HEAD, .shared_experts = 1 } }, "transformers hunyuan_v1_moe" },
	{ { "minimax_m2" }, { llama_shape, expert_ffn, minimax_m2_keys }, { .m = { DIMS(200064, 3072, 0, 62, 48, 8, 196608),
	  LLAMA_TRAITS, .head_dim = 128, .expert_ffn = 1536, .experts = 256, .topk = 8, .qk_norm = QK_NORM_FULL,
	  .router_bias = 1 } }, "transformers minimax_m2" },
	{ { "apertus" }, { llama_shape, apertus_keys }, { .m = { DIMS(131072, 4096, 14336, 32, 32, 0, 65536),
	  BASE(2, NORM_RMS, 0), .rope = 1, .qk_norm = QK_NORM_HEAD }, .activation_params = 2 },
	  "transformers apertus; two parameters in each activation" },
	{ { "helium" }, { llama_shape, llama_biases }, { .m = { DIMS(48000, 2560, 7040, 24, 20, 20, 4096), LLAMA_TRAITS,
	  .head_dim = 128 } }, "transformers helium" },
	{ { "smollm3" }, { llama_shape, llama_biases }, { .m = { DIMS(128256, 2048, 11008, 36, 16, 4, 32768), LLAMA_TRAITS,
	  .tied_embeddings = 1 } }, "transformers smollm3" },
	{ { "cohere", "cohere2" }, { llama_shape, cohere_keys }, { .m = { DIMS(256000, 8192, 22528, 40, 64, 0, 8192),
	  GATED(1, NORM_LAYERNORM, 0), .tied_embeddings = 1, .qk_norm = QK_NORM_FULL }, .qk_norm_off = 1 },
	  "transformers cohere" },
	{ { "llama4_text" }, { llama_shape, llama4_keys }, { .m = { DIMS(202048, 5120, 16384, 48, 40, 8, 131072), LLAMA_TRAITS,
	  .head_dim = 128, .expert_ffn = 8192, .experts = 16, .topk = 1, .shared_experts = 1 } },
	  "transformers llama4; its qk-norm has no weights" },
	{ { "grok-1", "grok_1", "grok" }, { llama_shape, expert_ffn, grok_keys },
	  { .m = { DIMS(131072, 6144, 0, 64, 48, 8, 8192), GATED(4, NORM_RMS, 0), .expert_ffn = 32768, .experts = 8, .topk = 2,
	  .tied_embeddings = 1 } }, "xai-org/grok-1 model.py" },
	{ { "nemotron" }, { llama_shape, nemotron_keys }, { .m = { DIMS(256000, 6144, 24576, 32, 48, 0, 4096), GPT_TRAITS,
	  .rope = 1 } }, "transformers nemotron" },
	{ { "arcee" }, { llama_shape, llama_biases }, { .m = { DIMS(32000, 2560, 18432, 32, 32, 0, 4096), BASE(2, NORM_RMS, 0),
	  .rope = 1 } }, "transformers arcee" },
	{ { "granite" }, { llama_shape, llama_biases }, { .m = { DIMS(32000, 4096, 11008, 32, 32, 0, 2048), LLAMA_TRAITS } },
	  "transformers granite" },
	{ { "granitemoe", "granitemoeshared" }, { llama_shape, expert_ffn, granite_moe_keys },
	  { .m = { DIMS(32000, 4096, 0, 32, 32, 0, 2048), LLAMA_TRAITS, .expert_ffn = 11008, .experts = 8, .topk = 2,
	  .shared_experts = 1 }, .shared_by_width = 1 }, "transformers granitemoe" },
	{ { "internlm2" }, { llama_shape, internlm_keys }, { .m = { DIMS(103168, 4096, 11008, 32, 32, 0, 2048), LLAMA_TRAITS },
	  .attention_bias = 1 }, "internlm/internlm2-7b modeling_internlm2.py" },
	{ { "internlm" }, { llama_shape, internlm_keys }, { .m = { DIMS(103168, 4096, 11008, 32, 32, 0, 2048), LLAMA_TRAITS },
	  .attention_bias = 1 }, "internlm/internlm-7b modeling_internlm.py" },
	{ { "baichuan" }, { llama_shape, baichuan_keys }, { .m = { DIMS(64000, 4096, 11008, 32, 32, 0, 4096), LLAMA_TRAITS } },
	  "baichuan-inc/Baichuan2-7B-Base modeling_baichuan.py" },
	{ { "exaone" }, TABLE(exaone_keys), { .m = { DIMS(102400, 2048, 0, 32, 32, 0, 2048), LLAMA_TRAITS } },
	  "LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct modeling_exaone.py" },
	{ { "exaone4" }, { llama_shape, dense_ffn }, { .m = { DIMS(102400, 4096, 16384, 32, 32, 32, 2048), LLAMA_TRAITS,
	  .qk_norm = QK_NORM_HEAD } }, "transformers exaone4" },
	{ { "orion" }, { llama_shape, dense_ffn }, { .m = { DIMS(84608, 4096, 15360, 40, 40, 40, 4096),
	  GATED(2, NORM_LAYERNORM, 1) } }, "OrionStarAI/Orion-14B-Base modeling_orion.py" },
	{ { "seed_oss" }, { llama_shape, seed_keys }, { .m = { DIMS(155136, 4096, 27648, 64, 80, 8, 524288), LLAMA_TRAITS,
	  .head_dim = 128, .qkv_bias = 1 } }, "transformers seed_oss" },
	{ { "stablelm", "stablelm_epoch" }, { llama_shape, stablelm_keys }, { .m = { DIMS(50304, 2560, 6912, 32, 32, 32, 4096),
	  GATED(2, NORM_LAYERNORM, 1) } }, "transformers stablelm" },
	/* Last: what is not known by name but names every key itself. */
	{ { NULL }, { llama_shape, generic_keys }, { .m = { LLAMA_TRAITS, .qk_norm = QK_NORM_HEAD }, .qk_norm_off = 1 },
	  "keys of llama" },
};
/* clang-format on */

const size_t hf_archs_n = sizeof hf_archs / sizeof hf_archs[0];

#define RECURRENT "its layers are recurrences, not attention"
#define HYBRID "some of its layers are recurrences or linear attention"
#define UNEVEN "its layers are not all of one shape"
#define ENCODER "it is or has an encoder"

const struct hf_refused hf_refused[] = {
	{ "mamba", RECURRENT },
	{ "mamba2", RECURRENT },
	{ "falcon_mamba", RECURRENT },
	{ "rwkv", RECURRENT },
	{ "xlstm", RECURRENT },
	{ "jamba", HYBRID },
	{ "bamba", HYBRID },
	{ "zamba", HYBRID },
	{ "zamba2", HYBRID },
	{ "nemotron_h", HYBRID },
	{ "falcon_h1", HYBRID },
	{ "granitemoehybrid", HYBRID },
	{ "recurrent_gemma", HYBRID },
	{ "qwen3_next", HYBRID },
	{ "qwen3_5_text", HYBRID },
	{ "qwen3_5_moe_text", HYBRID },
	{ "kimi_linear", HYBRID },
	{ "minimax", HYBRID },
	{ "minimax_text_01", HYBRID },
	{ "bailing_moe_v2_5", HYBRID },
	{ "lfm2", HYBRID },
	{ "lfm2_moe", HYBRID },
	{ "openelm", UNEVEN },
	{ "deci", UNEVEN },
	{ "nemotron-nas", UNEVEN },
	{ "gemma3n_text", UNEVEN },
	{ "mllama_text_model", "some of its layers are cross-attention" },
	{ "deepseek_v32", "its attention has an indexer" },
	{ "glm_moe_dsa", "its attention has an indexer" },
	{ "longcat_flash", "a layer has two attentions and experts that do nothing" },
	{ "arctic", "a layer has a dense MLP beside its experts" },
	{ "t5", ENCODER },
	{ "bart", ENCODER },
	{ "bert", ENCODER },
	{ "roberta", ENCODER },
	{ "modernbert", ENCODER },
	{ "whisper", ENCODER },
	{ NULL, NULL },
};

const char *const hf_explicit_keys[] = { "num_key_value_heads", "tie_word_embeddings", "attention_bias", "mlp_bias",
	"use_qk_norm", NULL };

/* Positions, dropout, tokens, generation, precision, kernels, bookkeeping: nothing of this is a parameter. */
static const char *const ignored_keys[] = { "act_fn", "activation", "activation_function", "afn", "alibi_bias_max",
	"apply_query_key_layer_scaling", "apply_residual_connection_post_layernorm", "architectures", "attention_chunk_size",
	"attention_layers", "attention_multiplier", "attention_softmax_in_fp32", "attention_types", "attention_window_size",
	"attn_impl", "attn_implementation", "attn_logit_softcapping", "attn_output_multiplier", "attn_scale",
	"attn_temperature_tuning", "attn_uses_sequence_id", "audio_config", "auto_map", "aux_loss_alpha", "bad_words_ids",
	"begin_suppress_tokens", "bias_dropout_fusion", "bos_token", "cache_implementation", "chunk_size_feed_forward",
	"clip_qkv", "compression_config", "dim_head", "dim_model_base", "diversity_penalty", "do_sample", "dtype",
	"early_stopping", "embd_layer", "embedding_fraction", "embedding_multiplier_scale", "encoder_no_repeat_ngram_size",
	"eos_token", "ep_size", "exponential_decay_length_penalty", "fc_type", "ffn_act_fn", "final_logit_softcapping",
	"finetuning_task", "flash_attn", "flash_rotary", "floor_scale", "for_llm_compressor", "fp32_residual_connection",
	"full_attn_mod", "fuse_cross_entropy", "fused_mlp", "gradient_checkpointing", "hidden_act", "hidden_activation",
	"hidden_dropout_prob", "id2label", "ignore_index", "image_size", "img_processor", "inference_runner", "init_config",
	"init_device", "init_method", "init_std", "initial_context_length", "initializer_factor", "initializer_range",
	"input_jitter_noise", "interleaved_qkv", "interpolate_factor", "is_causal", "is_composition", "is_decoder",
	"is_llama_config", "label2id", "layer_switch", "layer_types", "layerdrop", "length_penalty", "lm_head", "logit_scale",
	"logits_scaling", "logits_soft_cap", "masked_softmax_fusion", "max_attn_value", "max_length", "max_sequence_length",
	"max_window_layers", "min_length", "mlp_hidden_act", "model_max_length", "model_type", "moe_jitter_eps",
	"moe_loss_weight", "moe_normalize_expert_weights", "mscale", "multi_query_group", "mup_denominator", "n_ctx", "n_group",
	"n_special", "neftune_noise_alpha", "no_repeat_ngram_size", "no_rope_layer_interval", "no_rope_layers",
	"nope_layer_interval", "norm_topk_prob", "norm_topk_weights", "norm_type", "num_beam_groups", "num_beams",
	"num_image_tokens", "num_labels", "num_logits_to_keep", "num_return_sequences", "offset_alibi",
	"order_of_interleaved_layers", "original_max_position_embeddings", "original_rope", "output_attentions",
	"output_hidden_states", "output_multiplier_scale", "output_past", "output_router_logits", "output_scores", "pad_token",
	"partial_rotary_factor", "pixel_shuffle_factor", "position_embedding_type", "predict_special_tokens", "prefix",
	"prefix_lm", "prefix_projection", "pretraining_tp", "problem_type", "quantization", "quantization_bit",
	"quantization_config", "query_pre_attn_scalar", "remove_invalid_values", "reorder_and_upcast_attn", "repetition_penalty",
	"rescale_prenorm_residual", "resid_pdrop", "return_dict", "return_dict_in_generate", "rm_head", "rotary", "rotary_dim",
	"rotary_emb_base", "rotary_embedding_base", "rotary_pct", "routed_scaling_factor", "router_aux_loss_coef",
	"router_jitter_noise", "scale_attention_softmax_in_fp32", "scale_attn_by_inverse_layer_idx", "scale_attn_weights",
	"scale_depth", "scale_emb", "scoring_func", "seq_aux", "skip_bias_add", "skip_bias_add_qkv", "sliding_window",
	"sliding_window_pattern", "sliding_window_size", "slow_but_exact", "softmax_scale", "suppress_tokens", "swiglu_limit",
	"task_specific_params", "temperature", "tf_legacy_loss", "tokenizer_class", "tokenizer_name", "tokenizer_type", "top_k",
	"top_p", "topk_group", "torch_dtype", "torchscript", "tp_parallel_size", "transformers_version", "typical_p",
	"uniform_expert_assignment", "unsloth_fixed", "unsloth_version", "use_bfloat16", "use_bidirectional_attention",
	"use_cache", "use_dynamic_ntk", "use_flash_attention", "use_kernel", "use_logn_attn", "use_mla", "use_mrope",
	"use_pad_tok_in_ffn", "use_parallel_embedding", "use_parallel_residual", "use_parallel_residual_in_mlp", "use_resampler",
	"use_return_dict", "use_rotary", "use_sliding_window", "verbose", "vision_config", "window_size", "z_loss_weight", NULL };

static const char *const ignored_prefixes[] = { "rope_", "layernorm_", "_", "summary_", "transformers.", "yarn_", "vision_",
	"image_", "video_", "audio_", "quantization_", NULL };
static const char *const ignored_suffixes[] = { "_token_id", "_token_ids", "_token_index", "_dropout", "_pdrop", "_dropout_prob",
	"_eps", "_epsilon", "_loss_coef", "_loss_coeff", "_multiplier", "_rope_theta", "_rope_scaling", "_local_base_freq",
	NULL };

int hf_key_is_ignored(const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; ignored_keys[i] != NULL; i++)
		if (strcmp(key, ignored_keys[i]) == 0)
			return 1;
	for (size_t i = 0; ignored_prefixes[i] != NULL; i++)
		if (strncmp(key, ignored_prefixes[i], strlen(ignored_prefixes[i])) == 0)
			return 1;
	for (size_t i = 0; ignored_suffixes[i] != NULL; i++) {
		size_t n = strlen(ignored_suffixes[i]);

		if (len > n && strcmp(key + len - n, ignored_suffixes[i]) == 0)
			return 1;
	}
	return 0;
}
