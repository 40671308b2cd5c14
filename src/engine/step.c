/* The step:
 *   step = (m max_i t_i + bubble + send + exposed data parallel + optimizer + offload + fixed) straggler
 * with t_i the time of one micro-batch on rank i (step_stage.c). The slowest rank is the clock; what it waits for others is the
 * bubble (step_bubble.c). */
#include "step.h"

#include "i18n_mark.h"
#include "memory.h"
#include "num.h"
#include "rules.h"
#include "step_internal.h"

#include <math.h>
#include <string.h>

/* The straggler factor counts nodes of 8 GPUs. ASSUMPTION of the fitted model: linear in the logarithm of nodes. */
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
	m->element = scenario_element_bytes(s);
	m->tp = (double)s->layout.tp;
	m->sp_tp = s->layout.sequence_parallel ? m->tp : 1;
	m->head_size = (double)(model_q_width(y) + model_context_width(y)) / (2 * (double)y->heads);
	m->dp_ranks = (double)(scenario_dp(s) * s->layout.cp);
	m->micro_batches = (double)scenario_micro_batches(s);
	/* Every framework's head is padded to full tiles of the multiply, whatever it pads in memory. */
	m->padded_vocab = (double)num_round_up(y->vocab, 128 * s->layout.tp);
	m->kind = compute_gemm_kind(s, false);
	m->grouped_kind = compute_gemm_kind(s, true);
}

static struct layer_group group(double layers, const struct memory_layer *one, const struct layer_time *y)
{
	return (struct layer_group){ layers, { one->dense, one->linear, one->expert }, y->forward_s,
		y->input_s + y->weight_s + y->recompute_s };
}

static double layer_params_of(const struct memory_shared *sh, const struct stage_cost *x, bool expert)
{
	const struct memory_layer *y = sh->layer;

	return expert ? x->moe * y[1].expert : x->dense * y[0].dense + x->moe * y[1].dense;
}

/* What a rank holds beside its layers: tables, positions, the last norm. `held` stages of full micro-batches. */
static double ends_of(
	const struct step_model *m, const struct memory_shared *sh, const struct stage_costs *c, int64_t rank, double held)
{
	struct stage_cost x = step_rank_cost(&sh->pipeline, c, rank);
	struct rank_params r;

	memory_rank_params(m->s, sh, rank, &r);
	return r.dense - held * layer_params_of(sh, &x, false);
}

/* The rank with most in its layers, of several the first, and the larger end of the model: others wait for this traffic and this
 * optimizer. */
static void load_rank(const struct step_model *m, const struct memory_shared *sh, const struct stage_costs *c,
	struct step_time *out, struct rank_load *t)
{
	const struct pipeline *pl = &sh->pipeline;
	/* With both directions a rank holds two stages, each of which sees half the micro-batches. */
	double held = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL ? 2 : 1, largest = 0;
	struct stage_cost most = { 0 };

	for (int64_t i = 0; i < pl->p; i++) {
		struct stage_cost x = step_rank_cost(pl, c, i);
		double params = layer_params_of(sh, &x, false) + layer_params_of(sh, &x, true);

		if (params > largest) {
			most = x;
			largest = params;
		}
	}
	out->window_forward_s = most.forward_s;
	out->window_backward_s = most.input_s + most.weight_s;
	t->group[0] = group(most.dense, &sh->layer[0], &out->dense);
	t->group[1] = group(most.moe, &sh->layer[1], &out->moe);
	t->ends = fmax(ends_of(m, sh, c, 0, held), ends_of(m, sh, c, pl->p - 1, held));
	t->all.dense = held * layer_params_of(sh, &most, false) + t->ends;
	t->all.matrices = held * (most.dense * sh->layer[0].linear + most.moe * sh->layer[1].linear);
	t->all.expert = held * layer_params_of(sh, &most, true);
	out->params_per_rank = t->all.dense + t->all.expert;
}

/* Share of the hops between stages that leave the link domain. */
static double hops_across(const struct step_model *m)
{
	int64_t p = m->s->layout.pp, inside = m->links.domain / (m->s->layout.tp * (int64_t)m->dp_ranks);
	int64_t domains = num_ceil_div(p, inside > 0 ? inside : 1);

	return p > 1 ? (double)(domains - 1) / (double)(p - 1) : 0;
}

static double send_s(const struct step_model *m, struct step_time *out)
{
	const struct scenario *s = m->s;
	const struct profile *p = &s->profile;
	double bytes = m->element * m->tokens * m->hidden / (p->pp_split_over_tp ? m->tp : 1), share = hops_across(m), one, calls, fill;
	bool across = share == 1, interleaved = s->layout.vpp > 1;

	if (s->layout.pp == 1)
		return 0;
	/* The first and the last micro-batch take every hop. Between them ranks wait for the slowest one, which hides hops that are
	 * slower than most. */
	one = comm_send_s(&m->links, bytes, across);
	fill = 2 * ((double)s->layout.pp - 1) *
		((1 - share) * comm_send_s(&m->links, bytes, false) + share * comm_send_s(&m->links, bytes, true));
	calls = m->micro_batches * 2 * (double)s->layout.vpp;
	out->traffic[TRAFFIC_PP] = (struct traffic_time){ .calls = calls,
		.bytes_per_gpu = calls * bytes,
		.seconds = calls * one,
		.ranks = (double)s->layout.pp,
		.across = across };
	if (p->pp_gathers_once) /* torch pipelining: transfers are asynchronous to the schedule */
		return 0;
	return calls * one * s->coefficients.v[p->pp_overlap && interleaved ? COEF_PP_HIDDEN : COEF_PP_EXPOSED] + fill;
}

/* Splits the whole into parts that sum to it exactly: compute takes what the others leave. */
static void split_parts(const struct step_model *m, struct step_time *out)
{
	double dense = m->micro_batches * out->dense_layers, moe = m->micro_batches * out->moe_layers, rest;
	const struct layer_time *d = &out->dense, *e = &out->moe;
	bool full = m->s->training.recompute == RECOMPUTE_FULL;
	double *part = out->part_s;
	/* Communication inside a recomputed forward counts as communication; experts exchange forward, again, and backward. */
	double repeated = full ? m->tp_forward_s + m->cp_forward_s : 0, repeated_moe = full ? repeated + e->ep_s / 3 : 0;

	part[STEP_TP] = dense * d->tp_s + moe * e->tp_s;
	part[STEP_CP] = dense * d->cp_s + moe * e->cp_s;
	part[STEP_EP] = moe * e->ep_s;
	part[STEP_RECOMPUTE] = dense * (d->recompute_s - repeated) + moe * (e->recompute_s - repeated_moe);
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
	double moe = m->micro_batches * out->moe_layers, n = m->micro_batches * out->dense_layers + moe,
	       u = m->element * m->tokens * m->hidden;
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
			.bytes_per_gpu = n * cp_calls * m->element * m->tokens * (double)model_kv_width(&s->model) / m->tp,
			.seconds = n * m->cp_all_s * (full ? 4 : 3) / 3,
			.ranks = (double)s->layout.cp,
			.across = s->layout.tp * s->layout.cp > m->links.domain };
	if (m->dispatch_s > 0)
		out->traffic[TRAFFIC_EP] = (struct traffic_time){ .calls = moe * ep_calls,
			.bytes_per_gpu = moe * ep_calls * u / m->tp * (double)s->model.topk,
			.seconds = moe * ep_calls * m->dispatch_s,
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

static bool is_known(const struct scenario *s)
{
	return compute_known(s) && s->profile.models_activations;
}

void step_stage_costs(const struct scenario *s, struct stage_costs *out)
{
	struct step_model m;
	struct step_time t = { 0 };
	struct pipeline pl = scenario_pipeline(s);

	out->n = 0;
	if (!is_known(s))
		return;
	prepare(s, &m);
	step_layers(&m, &t);
	step_stages(&m, &pl, out, &t);
}

void step_evaluate(const struct scenario *s, struct step_time *out)
{
	struct step_model m;
	struct rank_load load;
	struct memory_shared shared;
	struct stage_costs costs;
	const struct pipeline *pl = &shared.pipeline;
	double nodes = (double)s->cluster.gpus / STRAGGLER_NODE;

	memset(out, 0, sizeof *out);
	if (!is_known(s))
		return;
	out->known = true;
	prepare(s, &m);
	memory_prepare(s, &shared);
	step_layers(&m, out);
	step_stages(&m, pl, &costs, out);
	load_rank(&m, &shared, &costs, out, &load);
	out->bubble_s = step_bubble(&m, pl, &costs, out);
	out->send_s = send_s(&m, out);
	out->data_parallel_s = step_data_parallel(&m, &load, out);
	out->optimizer_s = step_optimizer(&m, &load, out);
	out->fixed_s = s->coefficients.v[COEF_STEP_FIXED];
	out->straggler = nodes > 1 ? 1 + s->coefficients.v[COEF_STRAGGLER] * log2(nodes) : 1;
	out->step_s = (m.micro_batches * out->stage_max_s + out->bubble_s + out->send_s + out->data_parallel_s +
			      out->optimizer_s + out->offload_s + out->fixed_s) *
		out->straggler;
	note_layer_traffic(&m, out);
	split_parts(&m, out);
	fill_exposed(out);
}
