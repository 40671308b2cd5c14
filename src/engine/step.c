/* The step:
 *   step = (m max_i t_i + bubble + send + exposed data parallel + optimizer + offload + fixed) straggler
 * with t_i the time of one micro-batch on stage i: its layers forward, backward and recompute, embedding on the first, head and
 * loss on the last. The slowest stage is the clock. Bubble by schedule: (sum - max) / v for 1F1B, GPipe and interleaved, all of
 * the others for naive. */
#include "step.h"

#include "i18n_mark.h"
#include "memory.h"
#include "num.h"
#include "rules.h"
#include "schedule.h"
#include "step_internal.h"

#include <math.h>
#include <string.h>

/* Bytes per element of embedding (forward, backward) and of logits and loss together. */
#define EMBEDDING_FORWARD 6
#define EMBEDDING_BACKWARD 10
#define LOSS_BYTES 18
/* The straggler factor counts nodes of 8 GPUs. */
#define STRAGGLER_NODE 8

/* clang-format off */
const struct step_part_info step_part_table[STEP_PART_COUNT] = {
	[STEP_COMPUTE]   = { "compute_s",           N_("compute"),   'c', N_("matrix multiplies, attention, memory-bound operations, fixed cost") },
	[STEP_RECOMPUTE] = { "recompute_s",         N_("recompute"), 'r', N_("forward work done again") },
	[STEP_TP]        = { "tp_exposed_s",        N_("tp"),        't', N_("tensor-parallel traffic that nothing hides") },
	[STEP_CP]        = { "cp_exposed_s",        N_("cp"),        'x', N_("context-parallel traffic that nothing hides") },
	[STEP_EP]        = { "ep_exposed_s",        N_("ep"),        'e', N_("expert all-to-all that nothing hides") },
	[STEP_DP]        = { "dp_exposed_s",        N_("dp"),        'd', N_("gradient and weight traffic that nothing hides") },
	[STEP_PP]        = { "pp_exposed_s",        N_("pp"),        'p', N_("stage-to-stage transfers that nothing hides") },
	[STEP_OPTIMIZER] = { "optimizer_s",         N_("optimizer"), 'o', N_("optimizer step and gradient norm") },
	[STEP_OFFLOAD]   = { "offload_exposed_s",   N_("offload"),   'f', N_("states over PCIe") },
	[STEP_BUBBLE]    = { "bubble_s",            N_("idle"),      'i', N_("waiting for other stages") },
};

const char *const traffic_names[TRAFFIC_COUNT] = {
	[TRAFFIC_TP] = "all-gather, reduce-scatter", [TRAFFIC_CP] = "ring send", [TRAFFIC_EP] = "all-to-all", [TRAFFIC_PP] = "send/recv",
	[TRAFFIC_DP_REDUCE] = "reduce-scatter", [TRAFFIC_DP_GATHER] = "all-gather",
};
const char *const traffic_groups[TRAFFIC_COUNT] = {
	[TRAFFIC_TP] = "tp", [TRAFFIC_CP] = "cp", [TRAFFIC_EP] = "ep", [TRAFFIC_PP] = "pp", [TRAFFIC_DP_REDUCE] = "dp", [TRAFFIC_DP_GATHER] = "dp",
};
/* clang-format on */

static void prepare(const struct scenario *s, struct step_model *m)
{
	const struct model *y = &s->model;

	memset(m, 0, sizeof *m);
	m->s = s;
	m->device = compute_device(s);
	m->links = comm_links(s);
	m->tokens = (double)s->training.micro_batch * (double)s->training.seq / (double)s->layout.cp;
	m->hidden = (double)y->hidden;
	m->tp = (double)s->layout.tp;
	m->sp_tp = s->layout.sequence_parallel ? m->tp : 1;
	m->head_size = y->attention_type == ATTENTION_MLA ? (double)y->hidden / (double)y->heads : (double)y->head_dim;
	m->dp_ranks = (double)(scenario_dp(s) * s->layout.cp);
	m->micro_batches = (double)scenario_micro_batches(s);
	/* Every framework's head is padded to full tiles of the multiply, whatever it pads in memory. */
	m->padded_vocab = (double)num_round_up(y->vocab, 128 * s->layout.tp);
	m->kind = compute_gemm_kind(s, false);
	m->grouped_kind = compute_gemm_kind(s, true);
}

/* Head, loss and embedding of one micro-batch. */
struct ends {
	double head_s, head_forward_s, embedding_s, embedding_forward_s;
};

static struct ends time_ends(const struct step_model *m)
{
	double T = m->tokens, h = m->hidden, t = m->tp, gathered, statistics;
	struct gemm_times head = compute_linear(&m->device, GEMM_16, T, m->padded_vocab / t, h);
	bool sp = m->s->layout.sequence_parallel;
	struct ends x = {
		.head_s = head.forward + head.input + head.weight +
			compute_bytes_s(&m->device, LOSS_BYTES * T * m->padded_vocab / t),
		.head_forward_s = head.forward + compute_bytes_s(&m->device, LOSS_BYTES / 2.0 * T * m->padded_vocab / t),
		.embedding_s = compute_bytes_s(&m->device, (EMBEDDING_FORWARD + EMBEDDING_BACKWARD) * T * h),
		.embedding_forward_s = compute_bytes_s(&m->device, EMBEDDING_FORWARD * T * h),
	};

	if (t <= 1)
		return x;
	gathered = comm_collective_s(&m->links, sp ? COLLECTIVE_GATHER : COLLECTIVE_ALL_REDUCE, t, 2 * T * h, 1);
	statistics = comm_collective_s(&m->links, COLLECTIVE_ALL_REDUCE, t, 4 * T, 1);
	x.embedding_s += gathered;
	x.embedding_forward_s += gathered;
	x.head_s += (sp ? 2 : 1) * gathered + statistics;
	x.head_forward_s += (sp ? gathered : 0) + statistics;
	return x;
}

static double layer_total(const struct layer_time *y)
{
	return y->forward_s + y->input_s + y->weight_s + y->recompute_s;
}

/* Parameters on a rank as traffic and optimizer see them: matrices only, embedding once per stage that has it. */
static void count_params(const struct step_model *m, struct stage_times *t)
{
	const struct model *y = &m->s->model;
	struct layer_params dense = model_layer_params(y, false), moe = model_layer_params(y, true);
	double n_moe = (double)model_moe_layers(y, 0, y->layers), n_dense = (double)y->layers - n_moe,
	       pp = (double)m->s->layout.pp;
	double expert = (double)moe.experts / ((double)m->s->layout.ep * (double)m->s->layout.etp);
	double dense_one = (double)(dense.attention_split + dense.attention_whole + dense.mlp_split) / m->tp;
	double moe_one = (double)(moe.attention_split + moe.attention_whole + moe.mlp_split + moe.router) / m->tp;

	t->dense_params = (n_dense * dense_one + n_moe * moe_one + (double)y->mlp_extra_params / m->tp) / pp;
	t->expert_params = n_moe * expert / pp;
	t->embedding_params = (double)y->vocab * m->hidden / m->tp * (m->s->layout.pp == 1 && !y->tied_embeddings ? 2 : 1);
	t->layer_params = n_moe > 0 ? moe_one + expert : dense_one;
}

/* Layers of each pipeline rank for one micro-batch. With both directions a rank holds two chunks and each micro-batch runs one of
 * them. */
static void layers_per_rank(const struct scenario *s, const struct pipeline *pl, double *layers)
{
	struct stage_list list;
	bool both = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL;

	(void)memory_stage_layers(s, &list);
	for (int64_t r = 0; r < s->layout.pp; r++)
		layers[r] = 0;
	for (int32_t i = 0; i < list.n; i++)
		layers[both ? i : pipeline_rank_of(pl, i, 0)] += list.layers[i];
}

/* Share of the time of the other stages that stays idle when B and W fill most of it: the greedy and the V schedules in published
 * runs. DualPipe: share of a stage per pair of ranks. Src: fitted on the tables of Qi 2024 (arXiv:2401.10241, 2405.15362);
 * DeepSeek-V3 table 2. */
#define ZERO_BUBBLE_LEFT 0.1
#define V_HALF_LEFT 0.5
#define DUALPIPE_LEFT 0.45

/* Idle time of the slowest rank. t_i: a micro-batch on rank i, F + B. 1F1B and GPipe wait for all other stages once, interleaving
 * 1/v of that; ZB-H1 fills the drain with weight gradients: sum over the other stages of t_i - 2 w_i. What has no measured share
 * takes its closed form at F = I = W. Src: Narayanan 2021 sec. 2.2; Qi 2024 table 2. */
static double bubble_s(const struct step_model *m, const struct pipeline *pl, const double *layers, double layer_weight_s,
	const struct step_time *out)
{
	double others = out->stage_sum_s - out->stage_max_s, weights = 0, p = (double)pl->p, ticks;
	bool exact;

	if (pl->p == 1)
		return 0;
	switch (schedule_table[pl->schedule].wait) {
	case WAIT_NAIVE:
		return m->micro_batches * others;
	case WAIT_ONCE:
		return others / (double)pl->v;
	case WAIT_FILLED:
		for (int64_t i = 0; i < pl->p - 1; i++)
			weights += layers[i] * layer_weight_s;
		return fmax(0, out->stage_sum_s - out->last_stage_s - 2 * weights);
	case WAIT_ZERO:
		return ZERO_BUBBLE_LEFT * others;
	case WAIT_HALF:
		return V_HALF_LEFT * others;
	case WAIT_PAIRS:
		return (p / 2 - 1) * DUALPIPE_LEFT * out->stage_max_s;
	case WAIT_STATED:
		break;
	}
	ticks = (double)(schedule_table[pl->schedule].closed(pl, 1, 1, 1, 0, &exact) - 3 * pl->m * pl->v);
	return ticks / (3 * (double)pl->v) * out->stage_max_s;
}

static double send_s(const struct step_model *m, struct step_time *out)
{
	const struct scenario *s = m->s;
	const struct profile *p = &s->profile;
	double bytes = 2 * m->tokens * m->hidden / (p->pp_split_over_tp ? m->tp : 1), one, calls;
	bool across = (double)(s->layout.tp) * m->dp_ranks >= (double)m->links.domain, interleaved = s->layout.vpp > 1;

	if (s->layout.pp == 1)
		return 0;
	one = comm_send_s(&m->links, bytes, across);
	calls = m->micro_batches * 2 * (double)s->layout.vpp;
	out->traffic[TRAFFIC_PP] = (struct traffic_time){ .calls = calls,
		.bytes_per_gpu = calls * bytes,
		.seconds = calls * one,
		.ranks = (double)s->layout.pp,
		.across = across };
	if (p->pp_gathers_once) /* torch pipelining: transfers are asynchronous to the schedule */
		return 0;
	return calls * one * s->coefficients.v[p->pp_overlap && interleaved ? COEF_PP_HIDDEN : COEF_PP_EXPOSED] +
		2 * ((double)s->layout.pp - 1) * one;
}

/* Time of one micro-batch on every stage; mean layer of the model. */
static void time_stages(const struct step_model *m, const struct ends *ends, const double *layers, double mean_layer,
	struct step_time *out, struct stage_times *t)
{
	int64_t pp = m->s->layout.pp;

	for (int64_t i = 0; i < pp; i++) {
		double x = layers[i] * mean_layer + (i == 0 ? ends->embedding_s : 0) + (i == pp - 1 ? ends->head_s : 0);

		if (i == pp - 1 && m->s->model.mtp_layers > 0) {
			const struct layer_time *y = model_is_moe(&m->s->model) ? &out->moe : &out->dense;

			x += (double)m->s->model.mtp_layers * (y->forward_s + y->input_s + y->weight_s + ends->head_s);
		}
		if (i == 0)
			t->first_s = x;
		if (x > out->stage_max_s) {
			out->stage_max_s = x;
			out->slowest_stage = i;
		}
		out->stage_sum_s += x;
		out->last_stage_s = x;
	}
	t->first_forward_s = layers[0] * t->layer_forward_s + ends->embedding_forward_s + (pp == 1 ? ends->head_forward_s : 0);
	t->layers = (double)m->s->model.layers / (double)pp;
	out->slowest_layers = layers[out->slowest_stage];
	out->first_s = t->first_s;
	out->first_forward_s = t->first_forward_s;
}

/* Splits the whole into parts that sum to it exactly: compute takes what the others leave. */
static void split_parts(const struct step_model *m, double dense_share, struct step_time *out)
{
	double moe_share = 1 - dense_share, n = m->micro_batches * out->slowest_layers, rest;
	const struct layer_time *d = &out->dense, *e = &out->moe;
	bool full = m->s->training.recompute == RECOMPUTE_FULL;
	double *part = out->part_s;
	/* Communication inside a recomputed forward counts as communication; experts exchange forward, again, and backward. */
	double repeated = full ? m->tp_forward_s + m->cp_forward_s : 0;
	double repeated_moe = full && moe_share > 0 ? repeated + e->ep_s / 3 : 0;

	part[STEP_TP] = n * (dense_share * d->tp_s + moe_share * e->tp_s);
	part[STEP_CP] = n * (dense_share * d->cp_s + moe_share * e->cp_s);
	part[STEP_EP] = n * moe_share * e->ep_s;
	part[STEP_RECOMPUTE] = n * (dense_share * (d->recompute_s - repeated) + moe_share * (e->recompute_s - repeated_moe));
	part[STEP_DP] = out->data_parallel_s;
	part[STEP_PP] = out->send_s;
	part[STEP_OPTIMIZER] = out->optimizer_s;
	part[STEP_OFFLOAD] = out->offload_s;
	part[STEP_BUBBLE] = out->bubble_s;
	part[STEP_COMPUTE] = 0;
	for (int i = 0; i < STEP_PART_COUNT; i++)
		part[i] *= out->straggler;
	rest = out->step_s;
	for (int i = 0; i < STEP_PART_COUNT; i++)
		rest -= part[i];
	part[STEP_COMPUTE] = rest;
}

/* Traffic of the layers. Full recompute repeats that of the forward. Calls per layer and micro-batch: tensor parallel 4 + 4 + 2
 * with sequence parallelism, else 2 + 2; the ring cp - 1 hops, twice that in the backward; dispatch and combine, and back. */
static void note_layer_traffic(const struct step_model *m, struct step_time *out)
{
	const struct scenario *s = m->s;
	bool sp = s->layout.sequence_parallel, full = s->training.recompute == RECOMPUTE_FULL;
	double n = m->micro_batches * out->slowest_layers, moe_share = out->moe_share, u = 2 * m->tokens * m->hidden;
	double forward = sp ? 4 : 2, tp = sp ? 10 : 4, hops = (double)s->layout.cp - 1;
	double tp_calls = tp + (full ? forward : 0), cp_calls = (full ? 4 : 3) * hops, ep_calls = full ? 6 : 4;

	if (m->tp > 1)
		out->traffic[TRAFFIC_TP] = (struct traffic_time){ .calls = n * tp_calls,
			.bytes_per_gpu = n * tp_calls * u * (sp ? 1 : 2),
			.seconds = n * m->tp_all_s * tp_calls / tp,
			.ranks = m->tp,
			.across = s->layout.tp > m->links.domain };
	if (s->layout.cp > 1)
		out->traffic[TRAFFIC_CP] = (struct traffic_time){ .calls = n * cp_calls,
			.bytes_per_gpu = n * cp_calls * 2 * m->tokens * (double)model_kv_width(&s->model) / m->tp,
			.seconds = n * m->cp_all_s * (full ? 4 : 3) / 3,
			.ranks = (double)s->layout.cp,
			.across = s->layout.tp * s->layout.cp > m->links.domain };
	if (m->dispatch_s > 0)
		out->traffic[TRAFFIC_EP] = (struct traffic_time){ .calls = n * moe_share * ep_calls,
			.bytes_per_gpu = n * moe_share * ep_calls * u / m->tp * (double)s->model.topk,
			.seconds = n * moe_share * ep_calls * m->dispatch_s,
			.ranks = (double)(s->layout.ep * s->layout.etp),
			.across = s->layout.ep * s->layout.etp > m->links.domain };
	out->traffic[TRAFFIC_DP_REDUCE].across = out->traffic[TRAFFIC_DP_GATHER].across =
		m->dp_ranks * m->tp > (double)m->links.domain;
}

static void fill_exposed(struct step_time *out)
{
	double data = out->traffic[TRAFFIC_DP_REDUCE].seconds + out->traffic[TRAFFIC_DP_GATHER].seconds;

	out->traffic[TRAFFIC_TP].exposed_s = out->part_s[STEP_TP];
	out->traffic[TRAFFIC_CP].exposed_s = out->part_s[STEP_CP];
	out->traffic[TRAFFIC_EP].exposed_s = out->part_s[STEP_EP];
	out->traffic[TRAFFIC_PP].exposed_s = out->part_s[STEP_PP];
	for (int i = TRAFFIC_DP_REDUCE; i <= TRAFFIC_DP_GATHER; i++)
		out->traffic[i].exposed_s = data > 0 ? out->part_s[STEP_DP] * out->traffic[i].seconds / data : 0;
	for (int i = 0; i < TRAFFIC_COUNT; i++)
		out->traffic[i].seconds = fmax(out->traffic[i].seconds * out->straggler, out->traffic[i].exposed_s);
}

void step_evaluate(const struct scenario *s, struct step_time *out)
{
	struct step_model m;
	struct stage_times t = { 0 };
	struct pipeline pl;
	struct ends ends;
	double layers[STAGE_LIST_MAX];
	double n_moe = (double)model_moe_layers(&s->model, 0, s->model.layers), dense_share = 1 - n_moe / (double)s->model.layers,
	       mean;
	double nodes = (double)s->cluster.gpus / STRAGGLER_NODE;

	memset(out, 0, sizeof *out);
	if (!compute_known(s) || !s->profile.models_activations)
		return;
	out->known = true;
	out->moe_share = 1 - dense_share;
	prepare(s, &m);
	step_layers(&m, out);
	ends = time_ends(&m);
	out->head_s = ends.head_s;
	out->embedding_s = ends.embedding_s;
	/* Leading dense layers are smeared: a stage is so many mean layers. */
	mean = dense_share * layer_total(&out->dense) + (n_moe > 0 ? (1 - dense_share) * layer_total(&out->moe) : 0);
	t.layer_forward_s = dense_share * out->dense.forward_s + (1 - dense_share) * out->moe.forward_s;
	t.layer_s = mean;
	count_params(&m, &t);
	pl = scenario_pipeline(s);
	layers_per_rank(s, &pl, layers);
	time_stages(&m, &ends, layers, mean, out, &t);
	out->params_per_rank = t.dense_params + t.expert_params + t.embedding_params;
	out->bubble_s = bubble_s(&m, &pl, layers, dense_share * out->dense.weight_s + (1 - dense_share) * out->moe.weight_s, out);
	out->send_s = send_s(&m, out);
	out->data_parallel_s = step_data_parallel(&m, &t, out);
	out->optimizer_s = step_optimizer(&m, &t, out);
	out->fixed_s = s->coefficients.v[COEF_STEP_FIXED];
	out->straggler = nodes > 1 ? 1 + s->coefficients.v[COEF_STRAGGLER] * log2(nodes) : 1;
	out->step_s = (m.micro_batches * out->stage_max_s + out->bubble_s + out->send_s + out->data_parallel_s +
			      out->optimizer_s + out->offload_s + out->fixed_s) *
		out->straggler;
	note_layer_traffic(&m, out);
	split_parts(&m, dense_share, out);
	fill_exposed(out);
}
