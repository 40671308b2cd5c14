/* Traffic of the data-parallel groups and the optimizer step: once per step, or per micro-batch where weights are gathered.
 * D = dp cp ranks share one copy of the states; experts have their own group. */
#include "step_internal.h"

#include <math.h>

/* Bytes the optimizer moves per owned parameter: AdamW reads and writes master, two moments, gradient and weight, and the
 * gradient once more for the norm; and per local parameter for the norm alone. Src: Kingma 2015 with fp32 states and 16-bit
 * weights. */
#define OPTIMIZER_OWNED 34
#define OPTIMIZER_LOCAL 4
/* The squared norm, summed over all ranks before the step. Src: Megatron-LM optimizer/clip_grads.py; torch clip_grad_norm_. */
#define NORM_BYTES 4
/* CPU optimizer: bytes over PCIe per owned parameter. Src: ZeRO-Offload, Ren 2021. */
#define OFFLOAD_BYTES 16
/* The embedding and head unit of FSDP has little to hide behind. ASSUMPTION of the fitted model. */
#define UNIT_EXPOSED 0.5
/* Passes over the parameters of the unoverlapped ZeRO-3. Src: Rajbhandari 2020 sec. 7.2.2 (layers: gather, gather, scatter).
 * ASSUMPTION: half of that for the embedding, which only looks rows up. */
#define ZERO3_EMBEDDING_PASSES 1.5
#define ZERO3_LAYER_PASSES 3

static double expert_ranks(const struct step_model *m)
{
	const struct layout *y = &m->s->layout;

	return fmax(1, m->dp_ranks * m->tp / ((double)y->ep * (double)y->etp));
}

static double shard_ranks(const struct step_model *m)
{
	int64_t group = m->s->layout.zero_group;

	return group > 0 ? fmin((double)group, m->dp_ranks) : m->dp_ranks;
}

double step_optimizer(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	double dense = t->dense_params + t->embedding_params, all = dense + t->expert_params, owned = all;

	if (m->s->layout.zero >= 1)
		owned = m->s->layout.zero >= 2 && m->s->profile.weights_sharded_from <= 3 && m->s->layout.zero == 3
			? all / shard_ranks(m)
			: dense / shard_ranks(m) + t->expert_params / fmax(1, m->dp_ranks * m->tp / (double)m->s->layout.ep);
	if (m->s->training.adapter != ADAPTER_NONE || m->s->training.optimizer == OPTIMIZER_NONE)
		return 0;
	if (m->s->training.offload != OFFLOAD_NONE)
		out->offload_s = OFFLOAD_BYTES * owned / STEP_OFFLOAD_BPS;
	out->owned_params = owned;
	if (!m->s->profile.post_validation)
		out->norm_s = comm_all_reduce_s(&m->links, (double)m->s->cluster.gpus, NORM_BYTES, 1);
	/* Fully sharded parameters are local ones: the norm reads what the optimizer reads. */
	return compute_bytes_s(&m->device, OPTIMIZER_OWNED * owned + (m->s->layout.zero == 3 ? 0 : OPTIMIZER_LOCAL * all)) +
		out->norm_s;
}

static void note_traffic(struct step_time *out, enum traffic which, double calls, double bytes, double ranks, double seconds)
{
	struct traffic_time *x = &out->traffic[which];

	if (bytes <= 0)
		return;
	x->calls += calls;
	x->bytes_per_gpu += bytes;
	x->seconds += seconds;
	x->ranks = ranks;
}

static double gather(const struct step_model *m, double ranks, double bytes, int64_t stride)
{
	return comm_collective_s(&m->links, COLLECTIVE_GATHER, ranks, bytes, stride);
}

static double gather_bytes(const struct step_model *m)
{
	const struct profile *p = &m->s->profile;
	bool eight = m->s->training.precision == PRECISION_FP8;

	return eight && p->gather_bytes_fp8 > 0 ? p->gather_bytes_fp8 : p->gather_bytes;
}

/* Replicated or ZeRO-1/2 weights: one reduce-scatter of the gradients and one gather of the weights per step; zero 0 adds up to
 * an all-reduce. Overlapped, the gather hides behind the first forward and the scatter behind the last backward, apart from the
 * last bucket and contention. Src: Megatron-LM distributed/param_and_grad_buffer.py. */
static double replicated(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	const struct scenario *s = m->s;
	const double *c = s->coefficients.v;
	double ranks = m->dp_ranks, experts = expert_ranks(m), dense = t->dense_params + t->embedding_params, scatter, collect,
	       always;
	double reduce = s->profile.reduce_bytes, weights = gather_bytes(m);
	int64_t stride = s->layout.tp, expert_stride = s->layout.ep * s->layout.etp;

	if (ranks <= 1)
		return 0;
	scatter = s->layout.zero == 2 ? comm_all_reduce_s(&m->links, ranks, reduce * dense, stride)
				      : gather(m, ranks, reduce * dense, stride);
	collect = gather(m, ranks, weights * dense, stride);
	if (t->expert_params > 0 && experts > 1) {
		scatter += gather(m, experts, reduce * t->expert_params, expert_stride);
		collect += gather(m, experts, s->profile.gather_bytes * t->expert_params, expert_stride);
	}
	note_traffic(out, TRAFFIC_DP_REDUCE, 1, reduce * (dense + t->expert_params), ranks, scatter);
	note_traffic(out, TRAFFIC_DP_GATHER, 1, weights * (dense + t->expert_params), ranks, collect);
	if (!s->profile.dp_overlap)
		return scatter + collect;
	always = c[COEF_DP_LAST] / (double)s->layout.vpp + c[COEF_DP_CONTENTION];
	return always * (scatter + collect) + fmax(0, (1 - always) * collect - out->window_forward_s) +
		fmax(0, (1 - always) * scatter - out->window_backward_s);
}

/* What a layer's compute does not hide of its traffic, plus what hidden traffic slows compute down. */
static double not_hidden(double compute, double traffic, double contention)
{
	return fmax(compute + contention * fmin(compute, traffic), traffic) - compute;
}

/* The wire of one fully sharded layer. */
struct unit {
	double weight_bytes, reduce_bytes, collect_s, scatter_s;
};

/* HSDP shards inside zero-group and all-reduces across. */
static struct unit sharded_unit(const struct step_model *m, double params)
{
	const struct scenario *s = m->s;
	const struct profile *p = &s->profile;
	double ranks = shard_ranks(m), replicas = m->dp_ranks / ranks;
	bool eight = s->training.precision == PRECISION_FP8 || s->training.precision == PRECISION_MXFP8;
	struct unit u = { .weight_bytes = (eight && p->gather_bytes_fp8 > 0 ? p->gather_bytes_fp8 : p->gather_bytes) * params,
		.reduce_bytes = p->reduce_bytes * params };

	u.collect_s = gather(m, ranks, u.weight_bytes, s->layout.tp);
	u.scatter_s = gather(m, ranks, u.reduce_bytes, s->layout.tp);
	if (replicas > 1)
		u.scatter_s += comm_all_reduce_s(&m->links, replicas, u.reduce_bytes / ranks, (int64_t)ranks * s->layout.tp);
	return u;
}

/* FSDP: every layer is gathered before its forward and its backward and its gradients are scattered after; under a pipeline once
 * per step. Src: torch fully_shard; torchtitan distributed/fsdp.py. */
static double fully_sharded(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	const struct scenario *s = m->s;
	const struct profile *p = &s->profile;
	bool once = s->layout.pp > 1 && p->pp_gathers_once;
	double ranks = shard_ranks(m), contention = s->coefficients.v[p->fsdp_contention], times = once ? 1 : m->micro_batches,
	       exposed = 0;

	for (int i = 0; i < LAYER_KINDS; i++) {
		const struct layer_group *y = &t->group[i];
		struct unit u = sharded_unit(m, y->params);
		double n = times * y->layers, passes = once ? 1 : 2;

		note_traffic(out, TRAFFIC_DP_GATHER, n * passes, n * passes * u.weight_bytes, ranks, n * passes * u.collect_s);
		note_traffic(out, TRAFFIC_DP_REDUCE, n, n * u.reduce_bytes, ranks, n * u.scatter_s);
		exposed += n *
			(once ? u.collect_s + u.scatter_s
			      : not_hidden(y->forward_s, u.collect_s, contention) +
						not_hidden(y->backward_s, u.collect_s + u.scatter_s, contention));
	}
	if (once)
		return exposed;
	return exposed +
		times * UNIT_EXPOSED *
		(2 * gather(m, ranks, p->gather_bytes * t->embedding_params, s->layout.tp) +
			gather(m, ranks, p->reduce_bytes * t->embedding_params, s->layout.tp));
}

/* DeepSpeed ZeRO-3 of 2021: three passes per layer, no overlap, at a fraction of the rate. Src: Narayanan 2021 table 2. */
static double unoverlapped(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	double exposed = ZERO3_EMBEDDING_PASSES * gather(m, m->dp_ranks, 2 * t->embedding_params, m->s->layout.tp);

	for (int i = 0; i < LAYER_KINDS; i++) {
		const struct layer_group *y = &t->group[i];
		double n = m->micro_batches * y->layers * ZERO3_LAYER_PASSES, bytes = 2 * y->params;
		double one = gather(m, m->dp_ranks, bytes, m->s->layout.tp) / m->s->coefficients.v[COEF_ZERO3_RATE];

		note_traffic(out, TRAFFIC_DP_GATHER, n, n * bytes, m->dp_ranks, n * one);
		exposed += y->layers * ZERO3_LAYER_PASSES * one;
	}
	return m->micro_batches * exposed;
}

double step_data_parallel(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	const struct scenario *s = m->s;
	double exposed;

	if (m->dp_ranks <= 1)
		return 0;
	if (s->layout.zero < s->profile.weights_sharded_from || s->profile.weights_sharded_from > 3)
		exposed = replicated(m, t, out);
	else
		exposed = s->profile.zero3_unoverlapped ? unoverlapped(m, t, out) : fully_sharded(m, t, out);
	if (s->training.adapter == ADAPTER_NONE)
		return exposed;
	/* Frozen weights are gathered, their gradients do not exist; those of the adapters are too few to count. */
	out->traffic[TRAFFIC_DP_REDUCE] = (struct traffic_time){ 0 };
	if (s->layout.zero == 3)
		return exposed;
	out->traffic[TRAFFIC_DP_GATHER] = (struct traffic_time){ 0 };
	return 0;
}
