/* Traffic of the data-parallel groups and the optimizer step: once per step, or per micro-batch where weights are gathered.
 * D = dp cp ranks share one copy of the states; experts have their own group. */
#include "step_internal.h"

#include "dtype.h"

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

/* Ranks that hold the same parameters, `stride` apart: `ranks` of them share the states, `replicas` such groups add up. */
struct data_group {
	double ranks, replicas;
	int64_t stride;
};

static struct data_group group_of(const struct step_model *m, double ranks, int64_t stride)
{
	double shards = m->s->layout.zero_group > 0 ? fmin((double)m->s->layout.zero_group, ranks) : ranks;

	return (struct data_group){ shards, ranks / shards, stride };
}

static struct data_group dense_group(const struct step_model *m)
{
	return group_of(m, m->dp_ranks, m->s->layout.tp);
}

static struct data_group expert_group(const struct step_model *m)
{
	int64_t apart = m->s->layout.ep * m->s->layout.etp;

	return group_of(m, fmax(1, m->dp_ranks * m->tp / (double)apart), apart);
}

double step_optimizer(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	double all = t->all.dense + t->all.expert, owned = all, bytes;

	if (m->s->layout.zero >= 1)
		owned = t->all.dense / dense_group(m).ranks + t->all.expert / expert_group(m).ranks;
	if (m->s->training.adapter != ADAPTER_NONE || m->s->training.optimizer == OPTIMIZER_NONE)
		return 0;
	if (m->s->training.offload != OFFLOAD_NONE)
		out->offload_s = OFFLOAD_BYTES * owned / STEP_OFFLOAD_BPS;
	out->owned_params = owned;
	if (!m->s->profile.post_validation)
		out->norm_s = comm_all_reduce_s(&m->links, (double)m->s->cluster.gpus, NORM_BYTES, 1);
	/* Fully sharded parameters are local ones: the norm reads what the optimizer reads. */
	bytes = OPTIMIZER_OWNED * owned + (m->s->layout.zero == 3 ? 0 : OPTIMIZER_LOCAL * all);
	/* The states are fp32 whatever the layers compute in. */
	return compute_bytes_s(&m->device, bytes * 2 / scenario_element_bytes(m->s)) + out->norm_s;
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

static bool shards_weights(const struct scenario *s)
{
	return s->profile.weights_sharded_from <= 3 && s->layout.zero >= s->profile.weights_sharded_from;
}

/* Zero 0 adds gradients up everywhere. So does DeepSpeed's ZeRO 2, bucket by bucket, and keeps its part. Src: DeepSpeed
 * zero/stage_1_and_2.py, use_multi_rank_bucket_allreduce. */
static bool all_reduces(const struct scenario *s)
{
	return s->layout.zero == 0 || (s->layout.zero == 2 && !shards_weights(s));
}

/* Reductions per step: sharded gradients cannot take another micro-batch before it is reduced; whole ones can. */
static double reductions(const struct step_model *m)
{
	const struct profile *p = &m->s->profile;
	bool sharded = m->s->layout.zero >= p->grads_sharded_from && p->grads_sharded_from <= 3;

	return sharded && scenario_accumulated_bytes(m->s) <= 0 ? m->micro_batches : 1;
}

const char *step_traffic_name(const struct scenario *s, enum traffic which)
{
	if (which == TRAFFIC_TP)
		return s->layout.sequence_parallel ? "all-gather, reduce-scatter" : "all-reduce";
	if (which == TRAFFIC_DP_REDUCE)
		return all_reduces(s) ? "all-reduce" : s->layout.zero_group > 0 ? "reduce-scatter, all-reduce" : "reduce-scatter";
	return traffic_names[which];
}

/* Bytes per parameter on the wire: those of the profile are for 16-bit mixed precision. */
static double wire_bytes(const struct scenario *s, double bytes)
{
	if (s->training.precision == PRECISION_PURE_BF16)
		return fmin(bytes, 2);
	return scenario_full_precision(s) && bytes > 0 ? 4 : bytes;
}

/* What crosses the wire for some parameters: gathered weights, reduced gradients. */
struct wire {
	double dense, expert; /* bytes */
};

/* In 8 bit where the framework keeps matrices so; mxfp8 is cast from gathered 16-bit weights; a 4-bit base as it is stored, or
 * not at all where it is not sharded. Src: Megatron-LM param_and_grad_buffer.py, reuse_grad_buf_for_mxfp8_param_ag. */
static struct wire weight_wire(const struct step_model *m, const struct held_params *x)
{
	const struct profile *p = &m->s->profile;
	double whole = wire_bytes(m->s, p->gather_bytes), matrix = whole, expert = whole;

	if (m->s->training.precision == PRECISION_FP8 && p->gather_bytes_fp8 > 0) {
		matrix = p->gather_bytes_fp8;
		expert = p->gathers_experts_fp8 ? matrix : whole;
	}
	if (m->s->training.adapter == ADAPTER_QLORA && !p->qlora_sharded)
		return (struct wire){ 0 };
	if (m->s->training.adapter == ADAPTER_QLORA)
		matrix = expert = DTYPE_NF4_BYTES;
	return (struct wire){ whole * (x->dense - x->matrices) + matrix * x->matrices, expert * x->expert };
}

/* Frozen weights have no gradients; those of adapters are too few to count. */
static struct wire gradient_wire(const struct step_model *m, const struct held_params *x)
{
	double bytes = m->s->training.adapter == ADAPTER_NONE ? wire_bytes(m->s, m->s->profile.reduce_bytes) : 0;

	return (struct wire){ bytes * x->dense, bytes * x->expert };
}

static double wire_total(const struct wire *w)
{
	return w->dense + w->expert;
}

/* Seconds of an all-gather or a reduce-scatter, each group its part. */
static double gather_s(const struct step_model *m, const struct wire *w)
{
	struct data_group d = dense_group(m), e = expert_group(m);
	double t = w->dense > 0 ? comm_collective_s(&m->links, COLLECTIVE_GATHER, d.ranks, w->dense, d.stride) : 0;

	return t + (w->expert > 0 ? comm_collective_s(&m->links, COLLECTIVE_GATHER, e.ranks, w->expert, e.stride) : 0);
}

static double reduce_group_s(const struct step_model *m, const struct data_group *g, double bytes)
{
	if (bytes <= 0)
		return 0;
	if (all_reduces(m->s))
		return comm_all_reduce_s(&m->links, g->ranks * g->replicas, bytes, g->stride);
	/* HSDP scatters inside its group and all-reduces across. */
	return comm_collective_s(&m->links, COLLECTIVE_GATHER, g->ranks, bytes, g->stride) +
		comm_all_reduce_s(&m->links, g->replicas, bytes / g->ranks, (int64_t)g->ranks * g->stride);
}

static double reduce_s(const struct step_model *m, const struct wire *w)
{
	struct data_group d = dense_group(m), e = expert_group(m);

	return reduce_group_s(m, &d, w->dense) + reduce_group_s(m, &e, w->expert);
}

/* Replicated or ZeRO-1/2 weights: gradients are reduced after the last micro-batch (sharded ones after each), weights gathered
 * once per step where their owners updated parts of them. Overlapped, the gather hides behind the first forward and the reduction
 * behind its backward, apart from the last bucket and contention. Src: Megatron-LM distributed/param_and_grad_buffer.py. */
static double replicated(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	const struct scenario *s = m->s;
	const double *c = s->coefficients.v;
	struct wire weights = { 0 }, gradients = gradient_wire(m, &t->all);
	double reduce, collect, always, times = reductions(m);

	if (s->layout.zero > 0 && s->training.adapter == ADAPTER_NONE)
		weights = weight_wire(m, &t->all);
	reduce = reduce_s(m, &gradients);
	collect = gather_s(m, &weights);
	note_traffic(out, TRAFFIC_DP_REDUCE, times, times * wire_total(&gradients), m->dp_ranks, times * reduce);
	note_traffic(out, TRAFFIC_DP_GATHER, 1, wire_total(&weights), m->dp_ranks, collect);
	if (!s->profile.dp_overlap)
		return times * reduce + collect;
	always = c[COEF_DP_LAST] / (double)s->layout.vpp + c[COEF_DP_CONTENTION];
	return always * (times * reduce + collect) + fmax(0, (1 - always) * collect - out->window_forward_s) +
		times * fmax(0, (1 - always) * reduce - out->window_backward_s);
}

/* What a layer's compute does not hide of its traffic, plus what hidden traffic slows compute down. */
static double not_hidden(double compute, double traffic, double contention)
{
	return fmax(compute + contention * fmin(compute, traffic), traffic) - compute;
}

/* What is gathered stays until the end of the step. */
static bool gathers_once(const struct scenario *s)
{
	return s->layout.pp > 1 && s->profile.pp_gathers_once;
}

/* Exposed, of one fully sharded layer in a step; `reduced` of `times` micro-batches reduce its gradients. */
static double sharded_layer(
	const struct step_model *m, const struct layer_group *y, double times, double reduced, struct step_time *out)
{
	bool once = gathers_once(m->s);
	double contention = m->s->coefficients.v[m->s->profile.fsdp_contention], n = y->layers;
	struct wire weights = weight_wire(m, &y->one), gradients = gradient_wire(m, &y->one);
	double collect = gather_s(m, &weights), reduce = reduce_s(m, &gradients);
	/* Zero 2 keeps what the forward gathered. */
	double again = once || m->s->layout.zero == 2 ? 0 : collect, gathers = n * times * (again > 0 ? 2 : 1);

	note_traffic(out, TRAFFIC_DP_GATHER, gathers, gathers * wire_total(&weights), dense_group(m).ranks, gathers * collect);
	note_traffic(out, TRAFFIC_DP_REDUCE, n * reduced, n * reduced * wire_total(&gradients), dense_group(m).ranks,
		n * reduced * reduce);
	if (once)
		return n * (collect + reduce);
	return n *
		(times * not_hidden(y->forward_s, collect, contention) +
			(times - reduced) * not_hidden(y->backward_s, again, contention) +
			reduced * not_hidden(y->backward_s, again + reduce, contention));
}

/* The unit of embedding and head: what no layer holds. */
static double sharded_ends(const struct step_model *m, const struct rank_load *t, double times, double reduced, bool once,
	struct step_time *out)
{
	struct held_params ends = { .dense = t->ends };
	struct wire weights = weight_wire(m, &ends), gradients = gradient_wire(m, &ends);
	double gathers = times * (once || m->s->layout.zero == 2 ? 1 : 2), collect = gathers * gather_s(m, &weights),
	       reduce = reduced * reduce_s(m, &gradients), ranks = dense_group(m).ranks;

	note_traffic(out, TRAFFIC_DP_GATHER, gathers, gathers * wire_total(&weights), ranks, collect);
	note_traffic(out, TRAFFIC_DP_REDUCE, reduced, reduced * wire_total(&gradients), ranks, reduce);
	return (once ? 1 : UNIT_EXPOSED) * (collect + reduce);
}

/* FSDP: every layer is gathered before its forward and, unless it was kept, before its backward; under a pipeline once per step.
 * Src: torch fully_shard, reshard_after_forward; torchtitan distributed/fsdp.py. */
static double fully_sharded(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	bool once = gathers_once(m->s);
	double times = once ? 1 : m->micro_batches, reduced = once ? 1 : reductions(m), exposed = 0;

	for (int i = 0; i < LAYER_KINDS; i++)
		exposed += sharded_layer(m, &t->group[i], times, reduced, out);
	return exposed + sharded_ends(m, t, times, reduced, once, out);
}

/* `passes` over the same parameters per micro-batch. */
static double passes_s(const struct step_model *m, double passes, const struct held_params *x, struct step_time *out)
{
	struct wire w = weight_wire(m, x);
	double n = m->micro_batches * passes, t = n * gather_s(m, &w) / m->s->coefficients.v[COEF_ZERO3_RATE];

	note_traffic(out, TRAFFIC_DP_GATHER, n, n * wire_total(&w), m->dp_ranks, t);
	return t;
}

/* DeepSpeed ZeRO-3 of 2021: three passes per layer, no overlap, at a fraction of the rate. Src: Narayanan 2021 table 2. */
static double unoverlapped(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	double exposed = passes_s(m, ZERO3_EMBEDDING_PASSES, &(struct held_params){ .dense = t->ends }, out);

	for (int i = 0; i < LAYER_KINDS; i++)
		exposed += passes_s(m, t->group[i].layers * ZERO3_LAYER_PASSES, &t->group[i].one, out);
	return exposed;
}

double step_data_parallel(const struct step_model *m, const struct rank_load *t, struct step_time *out)
{
	struct data_group experts = expert_group(m);

	if (m->dp_ranks <= 1 && (t->all.expert <= 0 || experts.ranks * experts.replicas <= 1))
		return 0;
	if (!shards_weights(m->s))
		return replicated(m, t, out);
	return m->s->profile.zero3_unoverlapped ? unoverlapped(m, t, out) : fully_sharded(m, t, out);
}
