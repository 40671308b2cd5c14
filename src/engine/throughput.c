#include "throughput.h"

#include "memory.h"

/* FLOPs of attention per token over the whole square, forward and backward: 12 L a d s. */
static double attention_flops(const struct scenario *s)
{
	const struct model *m = &s->model;
	double width = ((double)model_q_width(m) + (double)model_context_width(m)) / 2;

	return 12 * (double)m->layers * width * (double)s->training.seq;
}

/* The same matrices without the table that is only looked up. */
static double multiplied_params(const struct model *m)
{
	double head = (double)m->vocab * (double)m->hidden;

	/* A tied table multiplies once, as the head. */
	return (double)model_active_params(m) - (double)model_embedding_params(m) + (m->tied_embeddings ? head : 0);
}

/* What a convention counts per token: parameters that multiply, FLOPs of attention forward and backward. */
struct counted {
	double params, attention;
};

static struct counted counted_by(const struct scenario *s)
{
	const struct model *m = &s->model;
	double attention = attention_flops(s), L = (double)m->layers, h = (double)m->hidden;

	switch ((enum flops_convention)s->training.flops) {
	case FLOPS_CAUSAL:
		return (struct counted){ multiplied_params(m), attention / 2 };
	case FLOPS_6N:
		return (struct counted){ multiplied_params(m), 0 };
	case FLOPS_MEGATRON: /* 72 L h^2 (1 + s / 6h + V / 12 L h) */
		return (struct counted){ 12 * L * h * h + (double)m->vocab * h, 12 * L * h * (double)s->training.seq };
	case FLOPS_PALM:
		return (struct counted){ (double)model_active_params(m), attention };
	case FLOPS_FULL:
	case FLOPS_CONVENTION_COUNT:
		break;
	}
	return (struct counted){ multiplied_params(m), attention };
}

/* 2 per parameter forward, 2 for the gradient of the input and, unless it is frozen, 2 for its own. */
double throughput_flops_per_token(const struct scenario *s)
{
	struct counted c = counted_by(s);
	bool frozen = s->training.adapter != ADAPTER_NONE;

	return (frozen ? 4 : 6) * c.params + 6 * memory_active_adapters(s) + c.attention;
}

/* Matrices that --recompute selective multiplies again: those of the latents, if any. */
static double repeated_params(const struct model *m)
{
	if (m->attention_type != ATTENTION_MLA)
		return 0;
	return (double)(m->layers * (m->q_lora_rank * model_q_width(m) + m->kv_lora_rank * model_kv_width(m)));
}

/* Full recomputation repeats the forward of the layers. Selective repeats the attention core, or what its kind says. */
static double recomputed_flops(const struct scenario *s)
{
	const struct model *m = &s->model;
	double attention = s->training.flops == FLOPS_CAUSAL ? attention_flops(s) / 2 : attention_flops(s);
	double outside = (double)m->vocab * (double)m->hidden;
	struct counted c = counted_by(s);

	/* PaLM's convention counts what is outside the layers as well. */
	if (s->training.flops == FLOPS_PALM)
		outside = (double)model_embedding_params(m) + (m->tied_embeddings ? 0 : outside);
	if (s->training.recompute == RECOMPUTE_FULL)
		return 2 * (c.params - outside + memory_active_adapters(s)) + c.attention / 3;
	if (s->training.recompute != RECOMPUTE_SELECTIVE)
		return 0;
	if (s->profile.selective == SELECTIVE_NORMS)
		return 2 * repeated_params(m);
	if (s->profile.selective == SELECTIVE_PER_OP)
		return 2 * s->coefficients.v[COEF_SAC_SHARE] * (c.params - outside + memory_active_adapters(s));
	return attention / 3;
}

struct throughput throughput_of(const struct scenario *s, const struct step_time *step)
{
	double tokens = (double)s->training.global_batch * (double)s->training.seq, gpus = (double)s->cluster.gpus;
	struct throughput t = { .tokens_per_s = tokens / step->step_s,
		.peak_flops = compute_peak_flops(s, compute_gemm_kind(s, false)) };

	t.tokens_per_s_per_gpu = t.tokens_per_s / gpus;
	t.model_flops_per_gpu = t.tokens_per_s_per_gpu * throughput_flops_per_token(s);
	t.hardware_flops_per_gpu = t.model_flops_per_gpu + t.tokens_per_s_per_gpu * recomputed_flops(s);
	t.mfu = t.peak_flops > 0 ? t.model_flops_per_gpu / t.peak_flops : 0;
	t.hfu = t.peak_flops > 0 ? t.hardware_flops_per_gpu / t.peak_flops : 0;
	return t;
}
