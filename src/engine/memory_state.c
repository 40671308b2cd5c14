/* Model states: who holds how many parameters, and how many bytes each costs on the GPU, in the host and on NVMe.
 *
 *   bytes = (w/Nw + g/Ng + a/Na + (m + o)/No) P        N: ranks of the sharding group, or 1 where the ZeRO stage does not shard
 *
 * for dense parameters P with N = dp cp (or zero-group) and for routed experts with N = dp cp tp / (ep etp) (Megatron-LM
 * distrib_optimizer.py, expert data parallel group). Src: ZeRO, Rajbhandari 2020, sec. 5; the profile says what each framework
 * keeps. */
#include "memory.h"

#include "dtype.h"
#include "memory_internal.h"
#include "num.h"

int64_t memory_padded_vocab(const struct scenario *s)
{
	int64_t multiple = s->profile.vocab_multiple;

	return multiple <= 1 ? s->model.vocab : num_round_up(s->model.vocab, multiple * s->layout.tp);
}

int64_t memory_capacity_bytes(const struct scenario *s)
{
	if (s->cluster.gpu_mem_bytes > 0)
		return s->cluster.gpu_mem_bytes;
	return s->profile.capacity == CAPACITY_NOMINAL ? s->cluster.gpu.mem_nominal_bytes : s->cluster.gpu.mem_cuda_bytes;
}

/* The profile's ledger is for 16-bit mixed precision; the other precisions replace it. */
static void ledger_bytes(const struct scenario *s, struct memory_ledger *l)
{
	const struct profile *p = &s->profile;
	const struct optimizer_info *o = &optimizer_table[s->training.optimizer];

	l->weights = p->weight_bytes;
	l->gradients = s->training.precision == PRECISION_FP16 && p->grad_bytes_fp16 > 0 ? p->grad_bytes_fp16 : p->grad_bytes;
	l->gradient_accumulation = p->grad_accum_bytes;
	l->gradient_copies = p->grad_copy_bytes;
	l->master_weights = o->needs_master ? p->master_bytes : 0;
	l->optimizer = s->training.optimizer == OPTIMIZER_ADAMW && p->moment_bytes > 0 ? p->moment_bytes : o->moment_bytes;
	if (scenario_full_precision(s)) {
		l->optimizer = o->moment_bytes;
		l->weights = l->gradients = 4;
		l->gradient_accumulation = l->gradient_copies = l->master_weights = 0;
	} else if (s->training.precision == PRECISION_PURE_BF16) {
		l->weights = l->gradients = 2;
		l->gradient_accumulation = l->gradient_copies = l->master_weights = 0;
		l->optimizer = o->pure_bf16_moment_bytes;
	}
	if (s->training.grad_dtype != DTYPE_AUTO) {
		l->gradients = dtype_table[s->training.grad_dtype].bytes;
		l->gradient_accumulation = l->gradient_copies = 0;
	}
	if (s->training.master_dtype != DTYPE_AUTO)
		l->master_weights = dtype_table[s->training.master_dtype].bytes;
}

struct memory_ledger memory_ledger_of(const struct scenario *s)
{
	const struct profile *p = &s->profile;
	const struct layout *y = &s->layout;
	struct memory_ledger l = { 0 };
	int64_t ranks = scenario_dp(s) * y->cp, expert_ranks;

	ledger_bytes(s, &l);
	l.shards = y->zero_group > 0 ? y->zero_group : ranks;
	expert_ranks = num_max(1, ranks * y->tp / (y->ep * y->etp));
	l.expert_shards = y->zero_group > 0 ? num_min(y->zero_group, expert_ranks) : expert_ranks;
	l.weights_sharded = y->zero >= p->weights_sharded_from;
	l.gradients_sharded = y->zero >= p->grads_sharded_from;
	l.accumulation_sharded = y->zero >= p->accum_sharded_from;
	l.optimizer_sharded = y->zero >= 1;
	l.transient = s->training.adapter != ADAPTER_NONE || scenario_micro_batches(s) < 2 ? 0 : p->second_backward_bytes;
	l.transient += scenario_accumulated_bytes(s);
	return l;
}

/* Adapter parameters of a matrix in x out at rank r: A is in x r, B is r x out; of a column-parallel matrix B is split by tp, of
 * a row-parallel one A is. Src: Hu 2021 (LoRA), sec. 4.1; Megatron-Bridge peft/lora. */
static double column_adapter(double r, double in, double out, double parts)
{
	return r * in + r * out / parts;
}

static double row_adapter(double r, double in, double out, double parts)
{
	return r * in / parts + r * out;
}

static double mlp_adapter(const struct model *m, double r, double width, double parts)
{
	double h = (double)m->hidden;

	return width <= 0 ? 0 : (m->gated_mlp ? 2 : 1) * column_adapter(r, h, width, parts) + row_adapter(r, width, h, parts);
}

static double layer_adapter(const struct scenario *s, bool moe)
{
	const struct model *m = &s->model;
	double r = (double)s->training.lora_rank, h = (double)m->hidden, t = (double)s->layout.tp, kv = (double)model_kv_width(m);
	double q_in = m->attention_type == ATTENTION_MLA && m->q_lora_rank > 0 ? (double)m->q_lora_rank : h;
	double n = column_adapter(r, q_in, (double)model_q_width(m), t) + row_adapter(r, (double)model_context_width(m), h, t);

	if (m->attention_type == ATTENTION_MLA)
		n += column_adapter(r, (double)m->kv_lora_rank, kv, t) + r * (h + (double)(m->kv_lora_rank + m->qk_rope_dim)) +
			(m->q_lora_rank > 0 ? r * (h + q_in) : 0);
	else
		n += 2 * column_adapter(r, h, kv / 2, t);
	if (s->training.lora_targets == LORA_TARGETS_ATTENTION)
		return n;
	return n + mlp_adapter(m, r, (double)(moe ? model_shared_ffn(m) : m->ffn), t);
}

static double expert_adapters(const struct scenario *s)
{
	const struct model *m = &s->model;

	if (s->training.lora_targets == LORA_TARGETS_ATTENTION)
		return 0;
	return (double)(m->experts / s->layout.ep) *
		mlp_adapter(m, (double)s->training.lora_rank, (double)m->expert_ffn, (double)s->layout.etp);
}

double memory_active_adapters(const struct scenario *s)
{
	const struct model *m = &s->model;
	double moe = (double)model_moe_layers(m, 0, m->layers), n, active;
	struct scenario whole = *s;

	if (s->training.adapter == ADAPTER_NONE)
		return 0;
	whole.layout.tp = whole.layout.ep = whole.layout.etp = 1;
	n = ((double)m->layers - moe) * layer_adapter(&whole, false);
	if (moe <= 0)
		return n;
	active = (double)m->topk / (double)m->experts;
	return n + moe * (layer_adapter(&whole, true) + active * expert_adapters(&whole));
}

void memory_layer_state(const struct scenario *s, bool moe, struct memory_layer *out)
{
	struct layer_params p = model_layer_params(&s->model, moe);
	double t = (double)s->layout.tp, experts = (double)p.experts / ((double)s->layout.ep * (double)s->layout.etp);

	out->dense =
		(double)(p.attention_split + p.mlp_split) / t + (double)(p.attention_whole + p.mlp_whole + p.router + p.norms);
	out->expert = experts;
	out->linear = (double)(p.attention_split + p.mlp_split) / t;
	if (s->model.attention_type == ATTENTION_MLA) /* down-projections, without the norms of their latents */
		out->linear += (double)(p.attention_whole - s->model.q_lora_rank - s->model.kv_lora_rank);
	if (s->training.adapter != ADAPTER_NONE) {
		out->adapter = layer_adapter(s, moe);
		out->expert_adapter = moe ? expert_adapters(s) : 0;
	}
}

/* The layers of a rank, and what adapters train of them. */
static void add_layers(const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct rank_params *out)
{
	const struct model *m = &s->model;

	for (int64_t k = 0; k < pipeline_chunks_held(&sh->pipeline); k++) {
		int64_t i = pipeline_stage_of(&sh->pipeline, rank, k), n = sh->split.layers[i], first = sh->first_layer[i];
		int64_t moe = model_moe_layers(m, first, n), dense = n - moe;
		double extra = (double)(model_extra_before(m, first + n) - model_extra_before(m, first)) / (double)s->layout.tp;

		out->layers += n;
		out->moe_layers += moe;
		out->dense += (double)dense * sh->layer[0].dense + (double)moe * sh->layer[1].dense + extra;
		out->expert += (double)moe * sh->layer[1].expert;
		out->linear += (double)dense * sh->layer[0].linear + (double)moe * sh->layer[1].linear + extra;
		out->trained += (double)dense * sh->layer[0].adapter + (double)moe * sh->layer[1].adapter;
		out->trained_expert += (double)moe * sh->layer[1].expert_adapter;
	}
}

/* Embedding and head of the model. */
static void add_ends(const struct scenario *s, const struct memory_shared *sh, struct rank_params *out)
{
	const struct model *m = &s->model;
	/* What the shape cannot express is a narrower or wider embedding (OPT-350M), which is split like it. */
	double positions = (double)(m->positions * m->hidden) + (double)m->extra_params / (double)s->layout.tp;
	double embed_norm = m->embed_norm ? (double)(m->norm_bias ? 2 * m->hidden : m->hidden) : 0;

	if (out->first)
		out->dense += sh->embedding + positions + embed_norm;
	if (!out->last)
		return;
	/* Tied embeddings on different ranks are two copies. Src: Megatron-LM shared embedding group. */
	if (!m->tied_embeddings || !out->first)
		out->dense += sh->embedding;
	out->dense += (double)model_final_norm_params(m) + (m->head_bias ? (double)sh->padded_vocab / (double)s->layout.tp : 0);
}

/* Layers for multi-token prediction. Src: DeepSeek-V3 sec. 2.2; Megatron-LM multi_token_prediction.py: the MTP stage holds its
 * own copy of the embedding. */
static void add_predictions(const struct scenario *s, const struct memory_shared *sh, struct rank_params *out)
{
	const struct model *m = &s->model;
	bool moe = model_layer_is_moe(m, m->layers - 1);
	double n = (double)m->mtp_layers, projection = 2 * (double)(m->hidden * m->hidden) / (double)s->layout.tp;
	double norms = (double)(3 * (m->norm_bias ? 2 : 1) * m->hidden);

	out->dense += n * (sh->layer[moe].dense + projection + norms) + (out->first ? 0 : sh->embedding);
	out->linear += n * (sh->layer[moe].linear + projection);
	out->expert += n * sh->layer[moe].expert;
}

void memory_rank_params(const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct rank_params *out)
{
	const struct pipeline *pl = &sh->pipeline;

	/* On a V both ends are on rank 0; with both directions on the first and on the last rank. */
	*out = (struct rank_params){ .first = pipeline_chunk_at(pl, rank, 0) >= 0,
		.last = pipeline_chunk_at(pl, rank, pipeline_stages(pl) - 1) >= 0 };
	add_layers(s, sh, rank, out);
	add_ends(s, sh, out);
	if (out->last && s->model.mtp_layers > 0)
		add_predictions(s, sh, out);
	out->linear_expert = out->expert;
	if (s->training.adapter == ADAPTER_NONE) {
		out->trained = out->dense;
		out->trained_expert = out->expert;
	}
}

/* Bytes of one ledger column on this rank. */
static double column(double bytes_per_param, bool sharded, const struct memory_ledger *l, double dense, double expert)
{
	double n = sharded ? (double)l->shards : 1, nx = sharded ? (double)l->expert_shards : 1;

	return bytes_per_param * (dense / n + expert / nx);
}

static double weight_bytes(const struct scenario *s, const struct memory_shared *sh, const struct rank_params *rp)
{
	const struct memory_ledger *l = &sh->ledger;
	double frozen = l->weights, bytes = 0;
	bool sharded = l->weights_sharded;

	if (s->training.adapter == ADAPTER_NONE)
		return column(l->weights, l->weights_sharded, l, rp->dense, rp->expert);
	/* A frozen base is kept in 16 bit whatever the optimizer would want; adapters follow the ledger. */
	if (frozen > 2 && !scenario_full_precision(s))
		frozen = 2;
	if (s->training.adapter == ADAPTER_QLORA) {
		sharded = sharded && s->profile.qlora_sharded;
		bytes = column(DTYPE_NF4_BYTES - frozen, sharded, l, rp->linear, rp->linear_expert);
	}
	bytes += column(frozen, sharded, l, rp->dense, rp->expert);
	return bytes + column(l->weights, l->weights_sharded, l, rp->trained, rp->trained_expert);
}

/* Optimizer offload: moments and master leave the GPU; `factor` pinned copies. Src: DeepSpeed zero/stage_1_and_2.py, stage3.py
 * and its estimators' additional_buffer_factor 1.5; Megatron-LM HybridDeviceOptimizer; torch CPUOffloadPolicy. */
static void offload_state(
	const struct scenario *s, const struct rank_params *rp, const struct memory_ledger *l, struct stage_memory *out)
{
	const struct profile *p = &s->profile;
	double states = out->term[TERM_MASTER] + out->term[TERM_MOMENTS], params = 0, grads = 0;

	if (optimizer_table[s->training.optimizer].paged && s->training.offload == OFFLOAD_NONE) {
		out->host_bytes = num_round(out->term[TERM_MOMENTS]);
		out->term[TERM_MOMENTS] = 0;
		return;
	}
	if (s->training.offload == OFFLOAD_NONE)
		return;
	out->term[TERM_MASTER] = out->term[TERM_MOMENTS] = 0;
	if (p->offload_moves_all || s->training.offload_params != OFFLOAD_NONE) {
		params = out->term[TERM_WEIGHTS];
		out->term[TERM_WEIGHTS] = 0;
	}
	if (p->offload_moves_all) {
		grads = out->term[TERM_GRADIENTS];
		out->term[TERM_GRADIENTS] = 0;
	} else if (s->layout.zero < 3 && p->host_grad_bytes > 0) {
		/* The gradients of the local partition move to the host as fp32. */
		grads = column(p->host_grad_bytes, l->optimizer_sharded, l, rp->trained, rp->trained_expert);
		if (l->gradients_sharded)
			out->term[TERM_GRADIENTS] = 0;
	}
	if (s->training.offload == OFFLOAD_NVME)
		out->nvme_bytes = num_round(states + (s->training.offload_params == OFFLOAD_NVME ? params : 0));
	out->host_bytes = num_round(p->host_factor *
		(grads + (s->training.offload == OFFLOAD_CPU ? states : 0) +
			(s->training.offload_params == OFFLOAD_NVME ? 0 : params)));
}

void memory_rank_state(
	const struct scenario *s, const struct memory_shared *sh, const struct rank_params *rp, struct stage_memory *out)
{
	const struct memory_ledger *l = &sh->ledger;
	bool eight = scenario_eight_bit(s);
	double *term = out->term;

	term[TERM_WEIGHTS] = weight_bytes(s, sh, rp);
	term[TERM_FP8_COPIES] = eight ? s->profile.fp8_weight_copy_bytes * (rp->linear + rp->linear_expert) : 0;
	term[TERM_MASTER] = column(l->master_weights, l->optimizer_sharded, l, rp->trained, rp->trained_expert);
	term[TERM_GRADIENTS] = column(l->gradients, l->gradients_sharded, l, rp->trained, rp->trained_expert);
	term[TERM_GRADIENT_ACCUMULATION] =
		column(l->gradient_accumulation, l->accumulation_sharded, l, rp->trained, rp->trained_expert);
	term[TERM_GRADIENT_COPIES] = column(l->gradient_copies, false, l, rp->trained, rp->trained_expert);
	term[TERM_MOMENTS] = column(l->optimizer, l->optimizer_sharded, l, rp->trained, rp->trained_expert);
	out->layers = rp->layers;
	out->moe_layers = rp->moe_layers;
	out->dense_params = rp->dense;
	out->expert_params = rp->expert;
	out->trainable_params = rp->trained + rp->trained_expert;
	offload_state(s, rp, l, out);
}
