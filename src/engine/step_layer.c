/* One layer: matrix multiplies, attention core, memory-bound operations, exposed communication, recompute; dense and MoE.
 * T tokens per rank and micro-batch, h hidden, a heads, kv key-value heads, d head size, t tp; bytes are of 16-bit tensors unless
 * said. */
#include "step_internal.h"

#include "dtype.h"

#include <math.h>

/* Bytes per element of memory-bound operations, forward and backward. Src: reads and writes of each kernel. */
#define NORM_FORWARD 20 /* two norms, two residual adds with dropout */
#define NORM_BACKWARD 24
#define ROPE 4
#define ACT_FORWARD 4 /* one input, one output */
#define ACT_BACKWARD 6
#define GATED_FORWARD 6
#define GATED_BACKWARD 10
#define SCORES_FORWARD 13 /* unfused attention: scale, mask, softmax, dropout */
#define SCORES_BACKWARD 17
/* The unfused batched matrix multiplies reach this share of the curve's second point. ASSUMPTION of the fitted model. */
#define BATCHED_RATE 0.75
/* Fused attention backward does 2.5 times the FLOPs. Src: FlashAttention-2, Dao 2023 (five products against two). */
#define FLASH_BACKWARD_FLOPS 2.5
/* Kernels of a layer, and 8-bit casts on top. ASSUMPTION, a count: it binds only tiny layers, published runs cannot tell it. */
#define KERNELS_FORWARD 26
#define KERNELS_BACKWARD 52
#define KERNELS_CASTS 8
/* The extra all-gather for the weight gradient is exposed to this share at most. ASSUMPTION of the fitted model. */
#define TP_EXTRA_EXPOSED 0.1
/* Seconds per hop of the context-parallel ring, and the share of attention that hides it. ASSUMPTIONS: no published run is bound
 * by them. */
#define RING_HOP_S 20e-6
#define RING_HIDDEN 0.9

/* Experts. Bytes of routing and permutation: per routed byte, per hidden element, per logit; the forward's share of the host's
 * work; what moe-recomputes repeats of the memory-bound operations (one norm of two norms and two residuals) and bytes per
 * element of the activation. ASSUMPTIONS of the fitted model; the bytes times moe-bytes. */
#define ROUTED_BYTES 4
#define PERMUTE_BYTES 6
#define ROUTER_BYTES 16
#define HOST_FORWARD (1.0 / 3)
#define NORMS_REPEATED 0.3
#define ACT_REPEATED 6

static void add(struct gemm_times *sum, struct gemm_times t)
{
	sum->forward += t.forward;
	sum->input += t.input;
	sum->weight += t.weight;
}

/* A 4-bit matrix is read and written again in full for each use, and multiplied then. Src: bitsandbytes autograd/_functions.py,
 * MatMul4Bit. ASSUMPTION: at the rate of other memory-bound operations. */
static void dequantise(const struct step_model *m, double elements, struct gemm_times *t)
{
	double once = compute_bytes_s(&m->device, (2 * DTYPE_NF4_BYTES / m->element + 2) * elements);

	if (m->s->training.adapter != ADAPTER_QLORA)
		return;
	t->forward += once;
	t->input += once;
}

/* A matrix k -> n. A frozen one has no weight gradient. Src: Hu 2021 (LoRA). */
static struct gemm_times linear(const struct step_model *m, double tokens, double n, double k)
{
	struct gemm_times t = compute_linear(&m->device, m->kind, tokens, n, k);

	if (m->s->training.adapter == ADAPTER_NONE)
		return t;
	t.weight = 0;
	dequantise(m, n * k, &t);
	return t;
}

/* Beside a matrix k -> n that is a target run its adapter's two, k -> r and r -> n, in 16 bit. */
static void add_adapter(const struct step_model *m, struct gemm_times *sum, double tokens, double n, double k)
{
	double r = (double)m->s->training.lora_rank;

	if (m->s->training.adapter == ADAPTER_NONE)
		return;
	add(sum, compute_linear(&m->device, GEMM_16, tokens, r, k));
	add(sum, compute_linear(&m->device, GEMM_16, tokens, n, r));
}

/* A matrix of each of `local` experts, `fused` of n / fused columns beside each other, each with its adapter. */
static void add_grouped(const struct step_model *m, struct gemm_times *sum, double per_expert, double n, double k, double local,
	int fused)
{
	const struct device *d = &m->device;
	struct gemm_times t = compute_grouped(d, m->grouped_kind, per_expert, n, k, local);
	double r = (double)m->s->training.lora_rank;
	bool frozen = m->s->training.adapter != ADAPTER_NONE;

	if (frozen) {
		t.weight = 0;
		dequantise(m, local * n * k, &t);
	}
	add(sum, t);
	for (int i = 0; frozen && m->s->training.lora_targets == LORA_TARGETS_ALL_LINEAR && i < fused; i++) {
		add(sum, compute_grouped(d, GEMM_16, per_expert, r, k, local));
		add(sum, compute_grouped(d, GEMM_16, per_expert, n / fused, r, local));
	}
}

/* Down to the latents as one, up for queries and for keys and values. */
static void latent_gemms(struct step_model *m)
{
	const struct model *y = &m->s->model;
	double T = m->tokens, h = m->hidden, q_rank = (double)y->q_lora_rank, kv_rank = (double)y->kv_lora_rank,
	       kv_down = kv_rank + (double)y->qk_rope_dim;
	double q_in = q_rank > 0 ? q_rank : h, q = (double)model_q_width(y) / m->tp, kv = (double)model_kv_width(y) / m->tp;
	struct gemm_times up = { 0 };

	add(&m->attention, linear(m, T, q_rank + kv_down, h));
	if (q_rank > 0)
		add_adapter(m, &m->attention, T, q_rank, h);
	add_adapter(m, &m->attention, T, kv_down, h);
	add(&up, linear(m, T, q, q_in));
	add_adapter(m, &up, T, q, q_in);
	add(&up, linear(m, T, kv, kv_rank));
	add_adapter(m, &up, T, kv, kv_rank);
	add(&m->attention, up);
	m->latent_forward_s = up.forward;
}

static void attention_gemms(struct step_model *m)
{
	const struct model *y = &m->s->model;
	double T = m->tokens, h = m->hidden, q = (double)y->heads * (double)y->head_dim / m->tp,
	       kv = (double)y->kv_heads * (double)y->head_dim / m->tp, context = (double)model_context_width(y) / m->tp;

	if (y->attention_type == ATTENTION_MLA) {
		latent_gemms(m);
	} else {
		add(&m->attention, linear(m, T, q + 2 * kv, h));
		add_adapter(m, &m->attention, T, q, h);
		add_adapter(m, &m->attention, T, kv, h);
		add_adapter(m, &m->attention, T, kv, h);
	}
	add(&m->attention, linear(m, T, h, context));
	add_adapter(m, &m->attention, T, h, context);
}

/* Of an MLP, dense or of experts: matrix multiplies, and the activation function between them. */
struct mlp_time {
	struct gemm_times gemm;
	double activation_forward_s, activation_backward_s;
};

static void add_activation(const struct step_model *m, struct mlp_time *t, double elements)
{
	bool gated = m->s->model.gated_mlp;
	double bytes = elements * m->device.elementwise;

	t->activation_forward_s += compute_bytes_s(&m->device, (gated ? GATED_FORWARD : ACT_FORWARD) * bytes);
	t->activation_backward_s += compute_bytes_s(&m->device, (gated ? GATED_BACKWARD : ACT_BACKWARD) * bytes);
}

/* A gated or plain MLP of this width for every token. */
static void add_mlp(const struct step_model *m, struct mlp_time *t, double width)
{
	int fused = m->s->model.gated_mlp ? 2 : 1;
	double T = m->tokens, h = m->hidden;

	if (width <= 0)
		return;
	add(&t->gemm, linear(m, T, fused * width, h));
	add(&t->gemm, linear(m, T, h, width));
	if (m->s->training.lora_targets == LORA_TARGETS_ALL_LINEAR) {
		for (int i = 0; i < fused; i++)
			add_adapter(m, &t->gemm, T, width, h);
		add_adapter(m, &t->gemm, T, h, width);
	}
	add_activation(m, t, T * width);
}

/* Tokens that a query sees on average: the whole sequence, or two window widths where that is less. */
static double attended_tokens(const struct scenario *s)
{
	const struct model *y = &s->model;
	double all = (double)(s->training.attention_length > 0 ? s->training.attention_length : s->training.seq), full;

	if (y->window <= 0)
		return all;
	full = y->window_stride > 0 ? (double)(y->layers / y->window_stride) / (double)y->layers : 0;
	return full * all + (1 - full) * fmin(2 * (double)y->window, all);
}

/* Fused: 2 b (s/c) s a d FLOPs forward (both products, causal half), rate saturating with the length of a piece. */
static void flash_core(struct step_model *m)
{
	const struct scenario *s = m->s;
	double cp = (double)s->layout.cp, piece = cp > 1 ? (double)s->training.seq / (2 * cp) : (double)s->training.seq;
	double rate = m->device.attention_flops * (m->head_size < 128 ? m->device.family->small_head_factor : 1);
	double flop = 2 * m->tokens * attended_tokens(s) * (double)s->model.heads * m->head_size / m->tp;

	m->core_forward_s = flop / (rate * piece / (piece + m->device.attention_s0));
	if (s->profile.cp_unbalanced && cp > 1)
		m->core_forward_s *= 1 + s->coefficients.v[COEF_CP_IMBALANCE] * ((2 * cp - 1) / cp - 1);
	m->core_backward_s = FLASH_BACKWARD_FLOPS * m->core_forward_s / m->device.attention_backward;
}

/* Unfused: both products over the whole square, then the passes over the scores. */
static void unfused_core(struct step_model *m)
{
	const struct device *d = &m->device;
	double scores = m->tokens * (double)m->s->training.seq * (double)m->s->model.heads / m->tp;
	double rate = BATCHED_RATE * d->family->bf16_curve[1] * d->level[GEMM_16] * d->peak_flops[GEMM_16];

	if (fmod(m->head_size, 8) != 0)
		rate *= d->unaligned_attention;
	m->core_forward_s = 4 * scores * m->head_size / rate + compute_bytes_s(d, SCORES_FORWARD * scores * d->unfused_bytes);
	m->core_backward_s = 8 * scores * m->head_size / rate + compute_bytes_s(d, SCORES_BACKWARD * scores * d->unfused_bytes);
}

static void elementwise(struct step_model *m)
{
	const struct model *y = &m->s->model;
	bool mla = y->attention_type == ATTENTION_MLA;
	/* Of all query, key and value heads; the keys of MLA are as wide as its queries. */
	double width = mla ? (double)(2 * model_q_width(y) + model_context_width(y))
			   : (double)((y->heads + 2 * y->kv_heads) * y->head_dim);
	double rope = ROPE * m->tokens * width / m->tp, u = m->tokens * m->hidden / m->sp_tp;

	m->elementwise_forward_s = compute_bytes_s(&m->device, (NORM_FORWARD * u + rope) * m->device.elementwise);
	m->elementwise_backward_s = compute_bytes_s(&m->device, (NORM_BACKWARD * u + rope) * m->device.elementwise);
}

double step_tp_exchange_s(const struct step_model *m)
{
	double bytes = m->element * m->tokens * m->hidden;
	double t = m->s->layout.sequence_parallel ? comm_collective_s(&m->links, COLLECTIVE_GATHER, m->tp, bytes, 1)
						  : comm_all_reduce_s(&m->links, m->tp, bytes, 1);

	return t / m->s->coefficients.v[m->s->profile.tp_rate];
}

/* Tensor parallelism: with sequence parallel two gathers and two scatters each way and two gathers for the weight gradient, else
 * two all-reduces each way. Src: Korthikanti 2022 fig. 5; Megatron-LM tensor_parallel/layers.py (backward traffic under the
 * weight gradient). */
static void tensor_parallel(struct step_model *m)
{
	const struct profile *p = &m->s->profile;
	const double *c = m->s->coefficients.v;
	bool sp = m->s->layout.sequence_parallel, buffers = p->tp_hidden != COEF_ONE && sp;
	double one, hidden = buffers ? c[p->tp_hidden] : 0, under_weight = c[COEF_TP_BACKWARD_HIDDEN] / 2;

	if (m->tp <= 1)
		return;
	one = step_tp_exchange_s(m);
	if (buffers) {
		m->tp_forward_s = 4 * one * (1 - hidden);
		m->tp_backward_s = m->tp_forward_s + 2 * one * fmin(TP_EXTRA_EXPOSED, 1 - hidden);
	} else {
		m->tp_forward_s = (sp ? 4 : 2) * one;
		m->tp_backward_s = m->tp_forward_s * (1 - under_weight) + (sp ? 2 * one * TP_EXTRA_EXPOSED : 0);
	}
	m->tp_all_s = (sp ? 10 : 4) * one;
}

/* Ring attention: K and V travel cp - 1 hops under the attention of the piece before. Src: Liu 2023. */
static void context_parallel(struct step_model *m)
{
	const struct scenario *s = m->s;
	double cp = (double)s->layout.cp, rate, ring;

	if (cp <= 1)
		return;
	rate = m->tp * cp <= (double)m->links.domain ? m->links.rate_bps[COLLECTIVE_GATHER] : m->links.nic_bps;
	ring = (cp - 1) * (m->element * m->tokens * (double)model_kv_width(&s->model) / m->tp / rate + RING_HOP_S);
	m->cp_forward_s = fmax(0, ring - RING_HIDDEN * m->core_forward_s);
	m->cp_all_s = 3 * ring;
}

/* What recomputation repeats of a layer whose forward takes `forward`, with these matrix multiplies and memory-bound operations in
 * it; `activated` elements leave the MLP's activation. */
static double recompute_s(const struct step_model *m, double forward, double gemms, double memory, double activated)
{
	const struct scenario *s = m->s;

	if (s->training.recompute == RECOMPUTE_FULL)
		return forward;
	if (s->training.recompute == RECOMPUTE_NONE)
		return 0;
	if (s->profile.selective == SELECTIVE_CORE_ATTENTION)
		return m->core_forward_s;
	if (s->profile.selective == SELECTIVE_NORMS)
		return m->latent_forward_s + m->elementwise_forward_s + compute_bytes_s(&m->device, ACT_REPEATED * activated);
	return s->coefficients.v[COEF_SAC_SHARE] * gemms + memory;
}

static void dense_layer(struct step_model *m, struct layer_time *out)
{
	double per_kernel = m->s->coefficients.v[m->s->profile.launch], casts = m->kind == GEMM_16 ? 0 : KERNELS_CASTS;
	bool full = m->s->training.recompute == RECOMPUTE_FULL;
	double width = (double)m->s->model.ffn / m->tp;
	struct mlp_time x = { 0 };
	double memory;

	add_mlp(m, &x, width);
	memory = m->elementwise_forward_s + x.activation_forward_s;
	out->forward_s = m->attention.forward + x.gemm.forward + memory + m->core_forward_s + m->tp_forward_s + m->cp_forward_s;
	out->input_s = m->attention.input + x.gemm.input + x.activation_backward_s + m->elementwise_backward_s +
		m->core_backward_s + m->tp_backward_s + 2 * m->cp_forward_s;
	out->weight_s = m->attention.weight + x.gemm.weight;
	if (per_kernel < 1) { /* `one` means no launch cost is modelled */
		out->forward_s = fmax(out->forward_s, (KERNELS_FORWARD + casts) * per_kernel);
		out->input_s = fmax(out->input_s, (KERNELS_BACKWARD + casts) * per_kernel - out->weight_s);
	}
	out->recompute_s = recompute_s(m, out->forward_s, m->attention.forward + x.gemm.forward, memory, m->tokens * width);
	out->tp_s = m->tp_forward_s * (full ? 2 : 1) + m->tp_backward_s;
	out->cp_s = m->cp_forward_s * (full ? 4 : 3);
}

/* Experts: grouped matrix multiplies of their balanced share of tokens, shared experts as dense ones. */
static struct mlp_time expert_times(const struct step_model *m, double per_expert, double local)
{
	double width = (double)m->s->model.expert_ffn / (double)m->s->layout.etp;
	int fused = m->s->model.gated_mlp ? 2 : 1;
	struct mlp_time t = { 0 };

	add_grouped(m, &t.gemm, per_expert, fused * width, m->hidden, local, fused);
	add_grouped(m, &t.gemm, per_expert, m->hidden, width, local, 1);
	add_activation(m, &t, per_expert * local * width);
	add_mlp(m, &t, (double)model_shared_ffn(&m->s->model) / m->tp);
	return t;
}

static double dispatch_s(const struct step_model *m, double tokens)
{
	const struct scenario *s = m->s;
	double copy = tokens * m->hidden * m->element, topk = (double)s->model.topk, etp = (double)s->layout.etp, t;

	t = comm_dispatch_s(&m->links, copy * (s->profile.dispatch_factor > 0 ? s->profile.dispatch_factor : 1), topk,
		(double)s->layout.ep, s->layout.etp, s->profile.dispatch_per_node, (double)s->model.route_nodes);
	if (etp > 1)
		t += comm_collective_s(&m->links, COLLECTIVE_GATHER, etp, copy * topk * etp, 1);
	return t;
}

/* Dropless routing asks the host per layer, so host work H cannot run ahead: sqrt(gpu^2 + H^2), a third of H in the forward. */
static void moe_layer(struct step_model *m, const struct layer_time *dense, struct layer_time *out)
{
	const struct scenario *s = m->s;
	const double *c = s->coefficients.v;
	double ep = (double)s->layout.ep, etp = (double)s->layout.etp, E = (double)s->model.experts, topk = (double)s->model.topk;
	double tokens = m->tokens / m->tp, local = E / ep, per_expert = tokens * etp * ep * topk / E,
	       routed = tokens * topk * m->hidden * 2;
	struct mlp_time x = expert_times(m, per_expert, local);
	double routing = compute_bytes_s(&m->device,
		c[COEF_MOE_BYTES] *
			(ROUTED_BYTES * routed * etp + PERMUTE_BYTES * tokens * m->hidden + ROUTER_BYTES * tokens * E));
	double host = (c[COEF_MOE_HOST] + c[COEF_MOE_HOST_EXPERT] * local) * (s->profile.moe_graphs ? c[COEF_MOE_GRAPHS] : 1);
	double exposed, gemms, memory, forward, backward, weight_share, activated;

	m->dispatch_s = dispatch_s(m, tokens);
	exposed = 2 * m->dispatch_s * c[s->profile.ep_overlap ? COEF_EP_EXPOSED_OVERLAP : COEF_EP_EXPOSED];
	gemms = m->attention.forward + x.gemm.forward;
	memory = m->elementwise_forward_s + x.activation_forward_s + routing;
	forward = gemms + memory + m->core_forward_s;
	backward = m->attention.input + m->attention.weight + x.gemm.input + x.gemm.weight + m->elementwise_backward_s +
		x.activation_backward_s + routing + m->core_backward_s;
	out->forward_s = hypot(forward + exposed + m->cp_forward_s, HOST_FORWARD * host) + m->tp_forward_s;
	backward += exposed + 2 * m->cp_forward_s;
	/* Where the backward splits, weight gradients take their share of it. */
	weight_share = (m->attention.weight + x.gemm.weight) / backward;
	backward = hypot(backward, (1 - HOST_FORWARD) * host);
	out->weight_s = backward * weight_share;
	out->input_s = backward - out->weight_s + m->tp_backward_s;
	activated = per_expert * local * (double)s->model.expert_ffn / etp;
	out->recompute_s = recompute_s(m, out->forward_s, gemms, memory,
		activated + m->tokens * (double)model_shared_ffn(&s->model) / m->tp);
	if (s->profile.moe_recomputes && s->training.recompute != RECOMPUTE_FULL)
		out->recompute_s +=
			NORMS_REPEATED * m->elementwise_forward_s + compute_bytes_s(&m->device, ACT_REPEATED * activated);
	out->host_s = host;
	out->tp_s = dense->tp_s;
	out->cp_s = dense->cp_s;
	out->ep_s = 2 * exposed * (s->training.recompute == RECOMPUTE_FULL ? 1.5 : 1);
}

void step_layers(struct step_model *m, struct step_time *out)
{
	attention_gemms(m);
	if (m->s->training.attention == ATTENTION_KERNEL_FLASH)
		flash_core(m);
	else
		unfused_core(m);
	elementwise(m);
	tensor_parallel(m);
	context_parallel(m);
	dense_layer(m, &out->dense);
	if (model_is_moe(&m->s->model))
		moe_layer(m, &out->dense, &out->moe);
}
