#include "model.h"

#include "num.h"
#include "units.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const attention_type_names[ATTENTION_TYPE_COUNT + 1] = { "mha", "gqa", "mqa", "mla", NULL };
const char *const norm_type_names[NORM_TYPE_COUNT + 1] = { "rms", "layernorm", NULL };
const char *const qk_norm_names[QK_NORM_COUNT + 1] = { "none", "head", "full", NULL };

bool model_is_moe(const struct model *m)
{
	return m->experts > 0;
}

bool model_layer_is_moe(const struct model *m, int64_t layer)
{
	if (!model_is_moe(m) || layer < m->dense_layers)
		return false;
	return m->moe_stride <= 1 || (layer - m->dense_layers) % m->moe_stride == m->moe_stride - 1;
}

/* MoE layers among the first n. */
static int64_t moe_layers_before(const struct model *m, int64_t n)
{
	int64_t beyond = n - m->dense_layers;

	if (!model_is_moe(m) || beyond <= 0)
		return 0;
	return m->moe_stride <= 1 ? beyond : beyond / m->moe_stride;
}

int64_t model_moe_layers(const struct model *m, int64_t first, int64_t n)
{
	return moe_layers_before(m, first + n) - moe_layers_before(m, first);
}

int64_t model_shared_ffn(const struct model *m)
{
	return m->shared_ffn > 0 ? m->shared_ffn : m->shared_experts * m->expert_ffn;
}

int64_t model_q_width(const struct model *m)
{
	if (m->attention_type == ATTENTION_MLA)
		return m->heads * (m->qk_nope_dim + m->qk_rope_dim);
	return m->heads * m->head_dim;
}

int64_t model_kv_width(const struct model *m)
{
	if (m->attention_type == ATTENTION_MLA)
		return m->heads * (m->qk_nope_dim + m->v_head_dim);
	return 2 * m->kv_heads * m->head_dim;
}

int64_t model_context_width(const struct model *m)
{
	if (m->attention_type == ATTENTION_MLA)
		return m->heads * m->v_head_dim;
	return m->heads * m->head_dim;
}

static int64_t norm_params(const struct model *m, int64_t width)
{
	return m->norm_bias ? 2 * width : width;
}

static void attention_params(const struct model *m, struct layer_params *p)
{
	int64_t q = model_q_width(m), kv = model_kv_width(m);

	if (m->attention_type == ATTENTION_MLA) {
		/* Down-projections and their norms are on every tp rank; up-projections are split by heads. Src: DeepSeek-V2,
		 * sec. 2.1; Megatron-LM megatron/core/transformer/multi_latent_attention.py. */
		int64_t q_in = m->q_lora_rank > 0 ? m->q_lora_rank : m->hidden;

		p->attention_whole = m->hidden * (m->kv_lora_rank + m->qk_rope_dim) + m->kv_lora_rank;
		if (m->q_lora_rank > 0)
			p->attention_whole += m->hidden * m->q_lora_rank + m->q_lora_rank;
		p->attention_split = q_in * q + m->kv_lora_rank * kv;
	} else {
		p->attention_split = m->hidden * (q + kv);
		if (m->qkv_bias)
			p->attention_split += q + kv;
		if (m->qk_norm == QK_NORM_HEAD)
			p->attention_whole += norm_params(m, 2 * m->head_dim);
		else if (m->qk_norm == QK_NORM_FULL)
			p->attention_whole += norm_params(m, q + kv / 2);
	}
	p->attention_split += model_context_width(m) * m->hidden;
	if (m->out_bias)
		p->attention_whole += m->hidden;
	if (m->attention_sinks)
		p->attention_split += m->heads;
}

struct layer_params model_layer_params(const struct model *m, bool moe)
{
	struct layer_params p = { 0 };
	int64_t matrices = m->gated_mlp ? 3 : 2, inner = m->gated_mlp ? 2 : 1;
	int64_t dense_width = moe ? model_shared_ffn(m) : m->ffn;

	attention_params(m, &p);
	p.mlp_split = matrices * m->hidden * dense_width;
	if (m->mlp_bias && dense_width > 0) {
		p.mlp_split += inner * dense_width;
		p.mlp_whole += m->hidden;
	}
	if (moe) {
		p.experts = m->experts * matrices * m->hidden * m->expert_ffn;
		p.router = m->experts * m->hidden;
		if (m->expert_bias)
			p.experts += m->experts * (inner * m->expert_ffn + m->hidden);
		if (m->router_bias)
			p.router += m->experts;
		if (m->shared_gate)
			p.mlp_whole += m->hidden;
	}
	p.norms = m->norms_per_layer * norm_params(m, m->hidden);
	return p;
}

int64_t layer_params_total(const struct layer_params *p)
{
	return p->attention_split + p->attention_whole + p->mlp_split + p->mlp_whole + p->router + p->experts + p->norms;
}

int64_t model_extra_before(const struct model *m, int64_t n)
{
	int64_t share = m->mlp_extra_params / m->layers, rest = m->mlp_extra_params % m->layers;

	return share * n + (rest < 0 ? -num_min(n, -rest) : num_min(n, rest));
}

int64_t model_embedding_params(const struct model *m)
{
	int64_t n = (m->vocab + m->positions) * m->hidden + m->extra_params;

	return m->embed_norm ? n + norm_params(m, m->hidden) : n;
}

int64_t model_head_params(const struct model *m)
{
	return (m->tied_embeddings ? 0 : m->vocab * m->hidden) + (m->head_bias ? m->vocab : 0);
}

int64_t model_final_norm_params(const struct model *m)
{
	return m->final_norm ? norm_params(m, m->hidden) : 0;
}

/* acc + n * each, or INT64_MAX: an absurd shape is counted as too many, so that model_check can say so. */
static int64_t add_layers(int64_t acc, int64_t n, int64_t each)
{
	int64_t sum;

	return num_mul(n, each, &sum) && num_add(acc, sum, &sum) ? sum : INT64_MAX;
}

static int64_t layers_params(const struct model *m, int64_t experts_counted)
{
	struct layer_params dense = model_layer_params(m, false), moe = model_layer_params(m, true);
	int64_t n_moe = model_moe_layers(m, 0, m->layers);

	if (model_is_moe(m))
		moe.experts = moe.experts / m->experts * experts_counted;
	return add_layers(
		add_layers(m->mlp_extra_params, m->layers - n_moe, layer_params_total(&dense)), n_moe, layer_params_total(&moe));
}

static int64_t all_params(const struct model *m, int64_t experts_counted)
{
	int64_t outside = model_embedding_params(m) + model_head_params(m) + model_final_norm_params(m);

	return add_layers(layers_params(m, experts_counted), 1, outside);
}

int64_t model_mtp_params(const struct model *m)
{
	struct layer_params layer = model_layer_params(m, model_layer_is_moe(m, m->layers - 1));

	/* Src: DeepSeek-V3, sec. 2.2: RMSNorm of hidden and of embedding, projection M_k of 2h -> h, one layer, its own output
	 * norm. */
	return m->mtp_layers * (layer_params_total(&layer) + 3 * norm_params(m, m->hidden) + 2 * m->hidden * m->hidden);
}

int64_t model_params(const struct model *m)
{
	return all_params(m, m->experts);
}

int64_t model_active_params(const struct model *m)
{
	return all_params(m, m->topk);
}

/* Shapes of the Llama 3 family, which the ladder interpolates. Src: Llama 3.2 1B and 3B, Llama 3 8B, 70B and 405B config.json. */
static const struct rung {
	double params;
	double layers, hidden, ffn_ratio;
} ladder[] = {
	{ 1235814400.0, 16, 2048, 4.0 },
	{ 3212749824.0, 28, 3072, 8192.0 / 3072.0 },
	{ 8030261248.0, 32, 4096, 3.5 },
	{ 70553706496.0, 80, 8192, 3.5 },
	{ 405853388800.0, 126, 16384, 3.25 },
};

enum { LADDER_RUNGS = sizeof ladder / sizeof ladder[0], LADDER_VOCAB = 128256, LADDER_HEAD_DIM = 128, LADDER_KV_HEADS = 8 };

/* Between two rungs (or beyond the ends, with the outer slope) everything moves linearly in log(params), in log space. */
static double ladder_at(double params, double (*value)(const struct rung *))
{
	int i = 0;
	double t, a, b;

	while (i < LADDER_RUNGS - 2 && params > ladder[i + 1].params)
		i++;
	t = log(params / ladder[i].params) / log(ladder[i + 1].params / ladder[i].params);
	a = log(value(&ladder[i]));
	b = log(value(&ladder[i + 1]));
	return exp(a + t * (b - a));
}

static double rung_layers(const struct rung *r)
{
	return r->layers;
}

static double rung_hidden(const struct rung *r)
{
	return r->hidden;
}

static double rung_ratio(const struct rung *r)
{
	return r->ffn_ratio;
}

static int64_t round_to(double x, int64_t step)
{
	return num_max(step, num_round(x / (double)step) * step);
}

enum err_code model_from_params(int64_t params, struct model *m, struct err *e)
{
	const int64_t least = 10000000, most = 100000000000000;
	double ratio, small = params < 500000000 ? (double)params / 5e8 : 1.0;
	int64_t heads;

	if (params < least || params > most)
		return err_set(
			e, ERR_RANGE, "params", "%lld parameters: the ladder of shapes goes from 10M to 100T", (long long)params);
	*m = (struct model){ .kv_heads = LADDER_KV_HEADS,
		.head_dim = LADDER_HEAD_DIM,
		.max_seq = 131072,
		.gated_mlp = 1,
		.attention_type = ATTENTION_GQA,
		.norm = NORM_RMS,
		.final_norm = 1,
		.norms_per_layer = 2,
		.moe_stride = 1,
		.rope = 1 };
	(void)snprintf(m->id, sizeof m->id, "custom");
	/* Below half a billion the vocabulary alone would outweigh the model: scale it down with the rest. */
	m->vocab = round_to(LADDER_VOCAB * small, 128);
	m->layers = num_max(1, num_round(ladder_at((double)params, rung_layers)));
	/* Multiples of 8 whole heads, so that 8 KV heads always group evenly. */
	heads = round_to(ladder_at((double)params, rung_hidden) / LADDER_HEAD_DIM, LADDER_KV_HEADS);
	m->heads = heads;
	m->hidden = heads * LADDER_HEAD_DIM;
	m->tied_embeddings = params < 5000000000;
	ratio = ladder_at((double)params, rung_ratio);
	m->ffn = round_to((double)m->hidden * ratio, 128);
	for (;;) {
		int64_t per_step = 3 * m->hidden * 128 * m->layers;
		int64_t off = params - model_params(m);

		m->ffn = num_max(128, m->ffn + num_round((double)off / (double)per_step) * 128);
		if (m->ffn > 128 || m->layers == 1 || params >= model_params(m))
			break;
		m->layers--;
	}
	m->mlp_extra_params = params - model_params(m);
	return ERR_OK;
}

/* Products of three dimensions up to these bounds stay below 2^63 with room for sums. */
static const struct bound {
	const char *key;
	size_t offset;
	int64_t min, max;
} bounds[] = {
	{ "layers", offsetof(struct model, layers), 1, 10000 },
	{ "hidden", offsetof(struct model, hidden), 1, 1000000 },
	{ "heads", offsetof(struct model, heads), 1, 100000 },
	{ "kv-heads", offsetof(struct model, kv_heads), 1, 100000 },
	{ "head-dim", offsetof(struct model, head_dim), 1, 65536 },
	{ "ffn", offsetof(struct model, ffn), 0, 10000000 },
	{ "vocab", offsetof(struct model, vocab), 1, 100000000 },
	{ "max-seq", offsetof(struct model, max_seq), 1, 1000000000 },
	{ "experts", offsetof(struct model, experts), 0, 65536 },
	{ "topk", offsetof(struct model, topk), 0, 65536 },
	{ "expert-ffn", offsetof(struct model, expert_ffn), 0, 10000000 },
	{ "shared-experts", offsetof(struct model, shared_experts), 0, 65536 },
	{ "shared-ffn", offsetof(struct model, shared_ffn), 0, 10000000 },
	{ "dense-layers", offsetof(struct model, dense_layers), 0, 10000 },
	{ "moe-stride", offsetof(struct model, moe_stride), 1, 10000 },
	{ "q-lora-rank", offsetof(struct model, q_lora_rank), 0, 65536 },
	{ "kv-lora-rank", offsetof(struct model, kv_lora_rank), 0, 65536 },
	{ "qk-nope-dim", offsetof(struct model, qk_nope_dim), 0, 65536 },
	{ "qk-rope-dim", offsetof(struct model, qk_rope_dim), 0, 65536 },
	{ "v-head-dim", offsetof(struct model, v_head_dim), 0, 65536 },
	{ "norms-per-layer", offsetof(struct model, norms_per_layer), 0, 16 },
	{ "positions", offsetof(struct model, positions), 0, 1000000000 },
	{ "mtp-layers", offsetof(struct model, mtp_layers), 0, 64 },
	{ "mlp-extra-params", offsetof(struct model, mlp_extra_params), -1000000000000000, 1000000000000000 },
	{ "extra-params", offsetof(struct model, extra_params), -1000000000000000, 1000000000000000 },
};

static enum err_code check_bounds(const struct model *m, struct err *e)
{
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		int64_t value;

		memcpy(&value, (const char *)m + bounds[i].offset, sizeof value);
		if (value < bounds[i].min || value > bounds[i].max)
			return err_set(e, ERR_RANGE, bounds[i].key, "%s %lld is outside %lld .. %lld", bounds[i].key,
				(long long)value, (long long)bounds[i].min, (long long)bounds[i].max);
	}
	return ERR_OK;
}

static enum err_code check_moe(const struct model *m, struct err *e)
{
	char legal[48];

	if (!model_is_moe(m))
		return m->ffn > 0 ? ERR_OK : err_set(e, ERR_RANGE, "ffn", "ffn 0: a dense model needs an MLP width");
	if (m->topk < 1 || m->topk > m->experts)
		return err_set(e, ERR_RANGE, "topk", "topk %lld: legal here: %s (experts)", (long long)m->topk,
			units_format_range(1, m->experts, legal, sizeof legal));
	if (m->expert_ffn < 1)
		return err_set(e, ERR_RANGE, "expert-ffn", "expert-ffn %lld: experts need a width", (long long)m->expert_ffn);
	if (m->dense_layers > m->layers)
		return err_set(e, ERR_RANGE, "dense-layers", "dense-layers %lld: legal here: %s", (long long)m->dense_layers,
			units_format_range(0, m->layers, legal, sizeof legal));
	if (m->ffn < 1 && model_moe_layers(m, 0, m->layers) < m->layers)
		return err_set(e, ERR_RANGE, "ffn", "ffn 0: the dense layers of this model need an MLP width");
	return ERR_OK;
}

static enum err_code check_attention(const struct model *m, struct err *e)
{
	if (m->attention_type != ATTENTION_MLA) {
		int64_t below = num_min(m->kv_heads, m->heads), above = below;

		while (m->heads % below != 0)
			below--;
		while (m->heads % above != 0)
			above++;
		if (m->heads % m->kv_heads != 0 && below == above)
			return err_set(e, ERR_ILLEGAL, "kv-heads",
				"kv-heads %lld does not divide %lld heads; nearest legal: %lld", (long long)m->kv_heads,
				(long long)m->heads, (long long)below);
		if (m->heads % m->kv_heads != 0)
			return err_set(e, ERR_ILLEGAL, "kv-heads",
				"kv-heads %lld does not divide %lld heads; nearest legal: %lld or %lld", (long long)m->kv_heads,
				(long long)m->heads, (long long)below, (long long)above);
		return ERR_OK;
	}
	if (m->kv_lora_rank < 1 || m->qk_nope_dim < 1 || m->v_head_dim < 1)
		return err_set(e, ERR_RANGE,
			m->kv_lora_rank < 1          ? "kv-lora-rank"
				: m->qk_nope_dim < 1 ? "qk-nope-dim"
						     : "v-head-dim",
			"attention-type mla needs kv-lora-rank, qk-nope-dim and v-head-dim of at least 1");
	return ERR_OK;
}

/* Not less than the parameters of all layers; in doubles, to see the size before it is counted in integers. */
static double layers_bound(const struct model *m)
{
	double mlp = 3.0 *
		((double)m->ffn + (double)m->shared_ffn +
			((double)m->experts + (double)m->shared_experts) * (double)m->expert_ffn);
	double attention = (double)m->heads *
		(4.0 * (double)m->head_dim + (double)m->qk_nope_dim + (double)m->qk_rope_dim + (double)m->v_head_dim);
	double ranks = (double)m->q_lora_rank + (double)m->kv_lora_rank + (double)m->qk_rope_dim;

	return (double)m->layers * ((double)m->hidden + ranks) * (mlp + attention + ranks);
}

enum err_code model_check(const struct model *m, struct err *e)
{
	enum err_code code = check_bounds(m, e);

	if (code == ERR_OK)
		code = check_attention(m, e);
	if (code == ERR_OK)
		code = check_moe(m, e);
	/* 1e16 parameters at 20 bytes still fit in 63 bits. */
	if (code == ERR_OK && layers_bound(m) > 1e16)
		code = err_set(e, ERR_RANGE, "layers", "this shape has more than 1e16 parameters");
	if (code == ERR_OK && model_params(m) < 1)
		code = err_set(e, ERR_RANGE, "extra-params",
			"this shape has no parameters left: extra-params or mlp-extra-params is too negative");
	return code;
}
