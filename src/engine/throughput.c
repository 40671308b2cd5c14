#include "throughput.h"

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

static double megatron_flops(const struct scenario *s)
{
	double L = (double)s->model.layers, h = (double)s->model.hidden, seq = (double)s->training.seq,
	       V = (double)s->model.vocab;

	return 72 * L * h * h * (1 + seq / (6 * h) + V / (12 * L * h));
}

double throughput_flops_per_token(const struct scenario *s)
{
	double weights = 6 * multiplied_params(&s->model), attention = attention_flops(s);

	switch ((enum flops_convention)s->training.flops) {
	case FLOPS_CAUSAL:
		return weights + attention / 2;
	case FLOPS_6N:
		return weights;
	case FLOPS_MEGATRON:
		return megatron_flops(s);
	case FLOPS_PALM:
		return 6 * (double)model_active_params(&s->model) + attention;
	case FLOPS_FULL:
	case FLOPS_CONVENTION_COUNT:
		break;
	}
	return weights + attention;
}

/* Full recomputation repeats the forward of the layers: a third more of their part. Selective repeats the attention core. */
static double recomputed_flops(const struct scenario *s)
{
	const struct model *m = &s->model;
	double attention = s->training.flops == FLOPS_CAUSAL ? attention_flops(s) / 2 : attention_flops(s);
	double outside = (double)m->vocab * (double)m->hidden;

	/* PaLM's convention counts what is outside the layers as well. */
	if (s->training.flops == FLOPS_PALM)
		outside = (double)model_embedding_params(m) + (m->tied_embeddings ? 0 : outside);
	if (s->training.recompute == RECOMPUTE_FULL)
		return (throughput_flops_per_token(s) - 6 * outside) / 3;
	return s->training.recompute == RECOMPUTE_SELECTIVE ? attention / 3 : 0;
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
