/* The transformer: a shape, and what follows from it - parameters part by part, total, active, per pipeline stage.
 * Dense, mixture-of-experts and multi-head latent attention (MLA) share one struct; zeros switch parts off. */
#ifndef MESHPLAN_MODEL_H
#define MESHPLAN_MODEL_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>

enum attention_type { ATTENTION_MHA, ATTENTION_GQA, ATTENTION_MQA, ATTENTION_MLA, ATTENTION_TYPE_COUNT };
enum norm_type { NORM_RMS, NORM_LAYERNORM, NORM_TYPE_COUNT };
enum qk_norm { QK_NORM_NONE, QK_NORM_HEAD, QK_NORM_FULL, QK_NORM_COUNT };

extern const char *const attention_type_names[ATTENTION_TYPE_COUNT + 1];
extern const char *const norm_type_names[NORM_TYPE_COUNT + 1];
extern const char *const qk_norm_names[QK_NORM_COUNT + 1]; /* none, head (one weight per head_dim), full (projected width) */

enum { MODEL_ID_CAP = 64, MODEL_LABEL_CAP = 64, MODEL_ALSO_CAP = 160, MODEL_TRAINED_CAP = 96 };

struct model {
	char id[MODEL_ID_CAP]; /* preset id, "custom", or a file name */
	char label[MODEL_LABEL_CAP];
	char also[MODEL_ALSO_CAP];            /* other names it goes by, separated by spaces */
	char trained_with[MODEL_TRAINED_CAP]; /* flags of its makers' run, "--profile hai-llm --precision fp8"; "": not known */
	int64_t layers, hidden, heads, kv_heads, head_dim;
	int64_t ffn; /* width of a dense MLP (of the dense layers, in a MoE model) */
	int64_t vocab, max_seq;
	int32_t gated_mlp, tied_embeddings;
	int32_t attention_type;                                                  /* enum attention_type */
	int64_t q_lora_rank, kv_lora_rank, qk_nope_dim, qk_rope_dim, v_head_dim; /* MLA; q_lora_rank 0: q is projected directly */
	int64_t experts, topk, expert_ffn;                                       /* experts 0: dense model */
	int64_t shared_experts, shared_ffn; /* shared_ffn: width of all shared experts together; 0: shared_experts * expert_ffn */
	int64_t dense_layers;               /* leading layers with a dense MLP */
	int64_t moe_stride;                 /* every moe_stride-th of the others has experts (1: all) */
	int32_t shared_gate;                /* Qwen2-MoE: a [hidden] gate on the shared expert */
	int32_t norm, norm_bias, qk_norm, final_norm, embed_norm; /* enum norm_type; flags; enum qk_norm */
	int64_t norms_per_layer;
	int32_t qkv_bias, out_bias, mlp_bias, head_bias, router_bias, expert_bias, attention_sinks;
	int64_t positions;             /* rows of a learned position table, 0: none */
	int64_t window, window_stride; /* sliding window in tokens; every window_stride-th layer sees everything (0: none does) */
	int64_t route_nodes;           /* most nodes a routed token goes to, 0: no limit (DeepSeek-V3: 4) */
	int32_t rope;             /* rotary positions: rotated copies of q and k exist; off with learned positions and ALiBi */
	int64_t mtp_layers;       /* multi-token prediction layers: counted apart from params */
	int64_t mlp_extra_params; /* spread over the MLPs of all layers: what `--params 70B` adds to reach the number exactly */
	int64_t extra_params;     /* outside the layers: what the shape cannot express (OPT-350M: projections, may be negative) */
};

/* Parameters of one layer, by how tensor and expert parallelism treat them. */
struct layer_params {
	int64_t attention_split;      /* divided by tp */
	int64_t attention_whole;      /* on every tp rank: MLA down-projections and their norms, qk-norm, output bias, sinks */
	int64_t mlp_split, mlp_whole; /* dense MLP or shared expert; whole: output bias, shared gate */
	int64_t router;               /* whole */
	int64_t experts;              /* all routed experts together; divided by ep * etp */
	int64_t norms;                /* whole */
};

bool model_is_moe(const struct model *m);
/* Whether layer i (0-based) has routed experts: i >= dense_layers and the stride hits it. Src: DeepSeek-V3 first_k_dense_replace;
 * Llama 4 interleave_moe_layer_step (the last layer of each group of moe_stride is the one with experts). */
bool model_layer_is_moe(const struct model *m, int64_t layer);
/* Number of MoE layers among [first, first + n). */
int64_t model_moe_layers(const struct model *m, int64_t first, int64_t n);
/* Width of all shared experts together. */
int64_t model_shared_ffn(const struct model *m);
/* Width of the query projection (heads * head_dim, or the MLA equivalent), of K and V together, and of the attention output. */
int64_t model_q_width(const struct model *m);
int64_t model_kv_width(const struct model *m);
int64_t model_context_width(const struct model *m);

/* Parameters of a layer without (moe = false) or with (true) routed experts. Exact. Excludes mlp_extra_params. */
struct layer_params model_layer_params(const struct model *m, bool moe);
int64_t layer_params_total(const struct layer_params *p);
/* Share of mlp_extra_params that the first n layers carry: whole numbers, as even as possible. */
int64_t model_extra_before(const struct model *m, int64_t n);

int64_t model_embedding_params(const struct model *m); /* token table, learned positions, embedding norm, extra_params */
int64_t model_head_params(const struct model *m);      /* output matrix unless tied, its bias */
int64_t model_final_norm_params(const struct model *m);
/* Parameters of the MTP layers: per layer one transformer layer, two norms and a 2h -> h projection; embedding and head shared.
 */
int64_t model_mtp_params(const struct model *m);
/* Total trainable parameters without MTP. Exact to the integer. */
int64_t model_params(const struct model *m);
/* Parameters that touch one token: routed experts count topk of experts. Embedding and head included. */
int64_t model_active_params(const struct model *m);

/* A Llama-like dense shape with exactly `params` parameters. Src: shapes of the Llama 3 family (1B, 3B, 8B, 70B, 405B), layers
 * and width interpolated in log(params); the rounding rest is charged to the layers' MLPs. ERR_RANGE outside 10M .. 100T. */
enum err_code model_from_params(int64_t params, struct model *m, struct err *e) NODISCARD;

/* Checks the shape by itself: positive sizes, kv_heads divides heads, topk <= experts, no overflow of the counts. `where` of the
 * error is a knob key. */
enum err_code model_check(const struct model *m, struct err *e) NODISCARD;

#endif
