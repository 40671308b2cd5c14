#include "estimators.h"

#include "memory.h"
#include "num.h"

#include <math.h>

/* "additional_buffer_factor" of both DeepSpeed estimators. */
#define DEEPSPEED_HOST_FACTOR 1.5

struct estimate estimator_deepspeed_zero2(double params, int64_t gpus_per_node, int64_t nodes, bool cpu_offload)
{
	double gpus = (double)(gpus_per_node * nodes);

	if (cpu_offload)
		return (struct estimate){ 2 * params, params * fmax(4 * gpus, 16) * DEEPSPEED_HOST_FACTOR };
	return (struct estimate){ 2 * params + floor(18 * params / gpus),
		params * 4 * (double)gpus_per_node * DEEPSPEED_HOST_FACTOR };
}

struct estimate estimator_deepspeed_zero3(double params, double largest_layer_params, int64_t gpus_per_node, int64_t nodes,
	bool cpu_offload, bool cpu_offload_params, bool zero_init)
{
	double gpus = (double)(gpus_per_node * nodes), per_node = (double)gpus_per_node, share = 1.0 / (double)nodes;
	double largest = 4 * largest_layer_params, host;

	if (cpu_offload) {
		double states = (cpu_offload_params ? 18 : 16) * share;

		host = params * (zero_init ? states : fmax(4 * per_node, states));
		return (struct estimate){ largest + (cpu_offload_params ? 0 : floor(2 * params / gpus)),
			host * DEEPSPEED_HOST_FACTOR };
	}
	host = (zero_init ? largest_layer_params : params) * 4 * per_node;
	return (struct estimate){ largest + floor(18 * params / gpus), host * DEEPSPEED_HOST_FACTOR };
}

int64_t estimator_largest_matrix(const struct model *m)
{
	int64_t widest = num_max(m->vocab, num_max(m->ffn, num_max(m->expert_ffn, model_q_width(m))));

	return widest * m->hidden;
}

/* Parameters of attention: no biases, no q/k norms; the norms of MLA have the shape of the others. */
static double megatron_attention(const struct model *m, double norm)
{
	double h = (double)m->hidden, a = (double)m->heads, d = (double)m->head_dim;
	double q = (double)m->q_lora_rank, kv = (double)m->kv_lora_rank, rope = (double)m->qk_rope_dim,
	       nope = (double)m->qk_nope_dim, v = (double)m->v_head_dim;

	if (m->attention_type != ATTENTION_MLA)
		return 2 * h * d * (a + (double)m->kv_heads);
	return (q > 0 ? q * (h + a * (nope + rope) + norm) : h * a * (nope + rope)) + kv * (h + a * (nope + v) + norm) +
		h * rope + a * v * h;
}

/* What one tensor-parallel, one data-parallel and one expert shard of some layers holds. */
struct megatron_shard {
	double split, whole, experts;
};

static void add_layers(const struct model *m, double layers, bool moe, struct megatron_shard *sum)
{
	double h = (double)m->hidden, matrices = m->gated_mlp ? 3 : 2, norm = m->norm == NORM_RMS ? 1 : 2;

	sum->split += layers * (megatron_attention(m, norm) + matrices * h * (double)(moe ? model_shared_ffn(m) : m->ffn));
	sum->whole += layers * 2 * norm * h;
	if (!moe)
		return;
	sum->whole += layers * h * ((double)m->experts + (m->shared_gate ? 1 : 0));
	sum->experts += layers * matrices * h * (double)(m->expert_ffn * m->experts);
}

double estimator_megatron_state(const struct scenario *s)
{
	const struct model *m = &s->model;
	double t = (double)s->layout.tp, p = (double)s->layout.pp, shared = (double)(s->layout.ep * s->layout.etp);
	double table = (double)memory_padded_vocab(s) * (double)m->hidden, moe = (double)model_moe_layers(m, 0, m->layers);
	double dp = (double)scenario_dp(s), expert_dp = floor((double)s->cluster.gpus / (shared * p));
	bool sharded = s->layout.zero >= 1, last_is_moe = model_layer_is_moe(m, m->layers - 1);
	struct megatron_shard x = { .whole = (double)m->hidden * (m->norm == NORM_RMS ? 1 : 2) }; /* the final norm */

	add_layers(m, (double)m->layers - moe, false, &x);
	add_layers(m, moe, true, &x);
	x = (struct megatron_shard){ x.split / p + table, x.whole / p, x.experts / p };
	add_layers(m, (double)m->mtp_layers, last_is_moe, &x);
	if (!m->tied_embeddings && s->layout.pp == 1)
		x.split += table;
	return (x.split / t + x.whole) * (sharded ? 6 + 12 / dp : 18) + x.experts / shared * (sharded ? 6 + 12 / expert_dp : 18);
}

double estimator_accelerate_adam(double params, double dtype_bytes)
{
	return 4 * dtype_bytes * params;
}

double estimator_lesson(double params, double precision_bytes, int64_t gpus, int64_t zero)
{
	double n = (double)gpus;
	double weights = precision_bytes * params / (zero >= 3 ? n : 1),
	       gradients = precision_bytes * params / (zero >= 2 ? n : 1);

	return weights + gradients + 8 * params / (zero >= 1 ? n : 1);
}

double estimator_zero_paper(double params, int64_t dp, int64_t zero)
{
	double n = (double)dp;

	return params * (2 / (zero >= 3 ? n : 1) + 2 / (zero >= 2 ? n : 1) + 12 / (zero >= 1 ? n : 1));
}
