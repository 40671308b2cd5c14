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

double estimator_megatron_state(const struct scenario *s)
{
	const struct model *m = &s->model;
	double t = (double)s->layout.tp, p = (double)s->layout.pp;
	double embedding = (double)memory_padded_vocab(s) * (double)m->hidden;
	double layers = (double)(model_params(m) - model_embedding_params(m) - model_head_params(m));
	double shard = layers / (p * t) + embedding / t * (!m->tied_embeddings && s->layout.pp == 1 ? 2 : 1);

	return shard * (s->layout.zero >= 1 ? 6 + 12 / (double)scenario_dp(s) : 18);
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
