/* One explainer per family of paths. Each fills symbol, formula, the numbers put in with where they come from, and the result,
 * which equals the figure of the plan document: both read the same struct. */
#include "explain.h"

#include "estimators.h"
#include "explain_internal.h"
#include "num.h"
#include "units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_value(struct explanation *x, const char *symbol, double number, const char *unit, const char *from, ...)
{
	struct explain_value *v;
	va_list ap;

	if (x->n_values == EXPLAIN_VALUES_MAX)
		return;
	v = &x->values[x->n_values++];
	v->value = number;
	(void)snprintf(v->symbol, sizeof v->symbol, "%s", symbol);
	(void)snprintf(v->unit, sizeof v->unit, "%s", unit);
	va_start(ap, from);
	(void)vsnprintf(v->from, sizeof v->from, from, ap);
	va_end(ap);
}

void put_note(struct explanation *x, const char *fmt, ...)
{
	va_list ap;

	if (x->n_notes == EXPLAIN_NOTES_MAX)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(x->notes[x->n_notes++], sizeof x->notes[0], fmt, ap);
	va_end(ap);
}

void put_result(
	struct explanation *x, const char *symbol, double number, const char *unit, const char *formula, const char *source)
{
	x->result = number;
	(void)snprintf(x->symbol, sizeof x->symbol, "%s", symbol);
	(void)snprintf(x->unit, sizeof x->unit, "%s", unit);
	(void)snprintf(x->formula, sizeof x->formula, "%s", formula);
	(void)snprintf(x->source, sizeof x->source, "%s", source);
}

/* Reals are handled in millionths. */
static double knob_number(const struct draft *d, const struct knob *k)
{
	return (double)knob_get(k, &d->s) / (k->type == KNOB_REAL || k->type == KNOB_DROPOUT ? KNOB_REAL_SCALE : 1);
}

void put_knob(struct explanation *x, const struct draft *d, const char *symbol, const char *key)
{
	const struct knob *k = knob_find(key);

	put_value(x, symbol, knob_number(d, k), k->unit, "--%s (%s)", key, knob_origin_names[d->origin[knob_index(k)]]);
}

/* What others print */

static void note_deepspeed(struct explanation *x, const struct draft *d, const struct plan *p)
{
	const struct scenario *s = &d->s;
	int64_t per_node = num_min(p->gpus_per_node, s->cluster.gpus);
	bool offload = s->training.offload != OFFLOAD_NONE, params = s->training.offload_params != OFFLOAD_NONE;
	struct estimate est;

	if (s->profile.framework != FRAMEWORK_DEEPSPEED || s->layout.zero < 2)
		return;
	est = s->layout.zero == 2 ? estimator_deepspeed_zero2((double)p->params, per_node, p->nodes, offload)
				  : estimator_deepspeed_zero3((double)p->params, (double)estimator_largest_matrix(&s->model),
					    per_node, p->nodes, offload, params, true);
	put_note(x,
		"DeepSpeed's estimator prints %.2f GiB per GPU and %.2f GiB of host memory per node; ours differs because it "
		"leaves out activations, "
		"logits, communication buckets, the CUDA context and tensor parallelism.",
		est.gpu_bytes / UNITS_GIB, est.host_bytes / UNITS_GIB);
}

static void note_lesson(struct explanation *x, const struct draft *d)
{
	if (d->s.profile.framework != FRAMEWORK_LESSON)
		return;
	put_note(x,
		"Under lesson, activations, logits, transient and reserved are not in the calculator: they are 0. GB = 1e9, the "
		"card is %.0f GB.",
		(double)d->s.cluster.gpu.mem_nominal_bytes / UNITS_GB);
	put_note(x,
		"The lesson's 56 GB for 7B is another ledger: 2 bytes of weights, 2 of gradients, 4 for both moments in 16 bit; "
		"its calculator gives 84 GB.");
	put_note(x,
		"Its 84 GB for mixed precision leaves out the fp32 master copy that the text names: with it 7B needs 112 GB, as "
		"in fp32.");
	put_note(x,
		"Its 4x (ZeRO-1) and 8x (ZeRO-2) savings are the ZeRO paper's 2+2+12 ledger; with 2+2+8 the limits are 3x and "
		"6x.");
	put_note(x,
		"Its 64 MB per layer (seq 2048, hidden 4096) is 8 bytes per s h; an unfused layer without recompute keeps 34 and "
		"more.");
	put_note(x,
		"\"16 cards\" for 70B under zero 3: 840 GB / 80 GB is 10.5, so 11 suffice by this ledger; 16 is the next power "
		"of two.");
	if (d->s.training.offload != OFFLOAD_NONE)
		put_note(x,
			"Exercise 5: the moments of 70B are 560 GB, 48 GB more than the 512 GB of one node; NVMe or two nodes "
			"hold them.");
}

/* memory.stages[i].* */

static void state_values(
	struct explanation *x, const struct draft *d, const struct plan *p, const struct stage_memory *m, int category)
{
	const struct memory_ledger *l = &p->ledger;
	double bytes = category == MEMORY_WEIGHTS   ? l->weights
		: category == MEMORY_MASTER_WEIGHTS ? l->master_weights
		: category == MEMORY_GRADIENTS      ? l->gradients
						    : l->optimizer;
	bool sharded = category == MEMORY_WEIGHTS ? l->weights_sharded
		: category == MEMORY_GRADIENTS    ? l->gradients_sharded
						  : l->optimizer_sharded;
	bool adapter = d->s.training.adapter != ADAPTER_NONE;

	put_value(x,
		category == MEMORY_WEIGHTS                  ? "w"
			: category == MEMORY_MASTER_WEIGHTS ? "m"
			: category == MEMORY_GRADIENTS      ? "g"
							    : "o",
		bytes, "B/param", "profile %s, --precision %s, --optimizer %s", d->s.profile.id,
		precision_choices[d->s.training.precision].key, optimizer_table[d->s.training.optimizer].key);
	if (adapter)
		put_value(x, "P", m->trainable_params, "params", "adapters on this rank, --lora-rank %" PRId64,
			d->s.training.lora_rank);
	else
		put_value(x, "P", m->dense_params, "params",
			"dense parameters of %" PRId64 " layers and the embeddings on this rank", m->layers);
	if (m->expert_params > 0 && !adapter)
		put_value(x, "Px", m->expert_params, "params", "routed experts on this rank, 1/(ep etp) of %" PRId64 " layers",
			m->moe_layers);
	put_value(x, "N", sharded ? (double)l->shards : 1, "ranks",
		sharded ? "zero %" PRId64 " shards this over dp cp" : "zero %" PRId64 " does not shard this", d->s.layout.zero);
	if (m->expert_params > 0 && !adapter)
		put_value(x, "Nx", sharded ? (double)l->expert_shards : 1, "ranks", "for experts: dp cp tp / (ep etp)");
	if (adapter && category == MEMORY_WEIGHTS)
		put_value(x, "frozen", m->dense_params + m->expert_params, "params", "frozen base in %s",
			d->s.training.adapter == ADAPTER_QLORA ? "NF4 (4.127 bits) for linear layers, 16 bit for the rest"
							       : "16 bit");
}

static void activation_values(struct explanation *x, const struct draft *d, const struct stage_memory *m)
{
	const struct training *t = &d->s.training;

	put_knob(x, d, "b", "micro-batch");
	put_knob(x, d, "s", "seq");
	put_value(x, "h", (double)d->s.model.hidden, "", "model %s", d->s.model.id);
	put_knob(x, d, "c", "cp");
	put_knob(x, d, "t", "tp");
	put_value(x, "layers", (double)m->layers, "", "on this rank");
	put_value(x, "in flight", m->in_flight, "micro-batches", "schedule %s, in units of this rank's layers",
		schedule_table[d->s.layout.schedule].key);
	put_value(x, "recompute", (double)t->recompute, "", "--recompute %s", recompute_choices[t->recompute].key);
	x->saved_tensors = true;
}

static void term_values(struct explanation *x, const struct stage_memory *m, int category)
{
	for (int i = 0; i < TERM_COUNT; i++) {
		const struct memory_term_info *t = &memory_term_table[i];

		if (m->term[i] > 0 && (category == MEMORY_CATEGORY_COUNT || t->category == category))
			put_value(x, t->symbol, m->term[i], "bytes", "%s = %s", t->key, t->formula);
	}
}

/* "Mw + Aw": the symbols of the terms that are present. */
static void sum_formula(const struct stage_memory *m, int category, char *buf, size_t cap)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < TERM_COUNT; i++) {
		const struct memory_term_info *t = &memory_term_table[i];
		int n;

		if (m->term[i] <= 0 || (category != MEMORY_CATEGORY_COUNT && t->category != category))
			continue;
		n = snprintf(buf + len, cap - len, "%s%s", len > 0 ? " + " : "",
			category == MEMORY_CATEGORY_COUNT ? t->symbol : t->formula);
		len = (size_t)num_min((int64_t)len + n, (int64_t)cap - 1);
	}
	if (len == 0)
		(void)snprintf(buf, cap, "0: nothing of this kind is kept here");
}

static const char *category_source(const struct stage_memory *m, int category)
{
	const char *source = "meshplan-model(7)";
	double most = 0;

	for (int i = 0; i < TERM_COUNT; i++)
		if (memory_term_table[i].category == category && m->term[i] > most) {
			most = m->term[i];
			source = memory_term_table[i].source;
		}
	return source;
}

static void explain_category(
	const struct draft *d, const struct plan *p, const struct stage_memory *m, int category, struct explanation *x)
{
	char formula[sizeof x->formula], source[sizeof x->source];
	char symbol[2] = { memory_category_table[category].letter, '\0' };

	sum_formula(m, category, formula, sizeof formula);
	(void)snprintf(source, sizeof source, "%s; profile %s", category_source(m, category), d->s.profile.id);
	put_result(x, symbol, (double)m->category[category], "bytes", formula, source);
	if (category <= MEMORY_OPTIMIZER)
		state_values(x, d, p, m, category);
	else if (category == MEMORY_ACTIVATIONS)
		activation_values(x, d, m);
	else if (category == MEMORY_LOGITS) {
		put_value(x, "T", (double)d->s.training.micro_batch * (double)d->s.training.seq / (double)d->s.layout.cp,
			"tokens", "b s / c");
		put_value(x, "V", (double)p->padded_vocab, "", "vocabulary as the framework pads it");
		put_value(x, "B",
			d->s.layout.tp > 1 && d->s.profile.loss_bytes_tp > 0 ? d->s.profile.loss_bytes_tp
									     : d->s.profile.loss_bytes,
			"B/logit", "profile %s, --loss %s", d->s.profile.id, loss_choices[d->s.training.loss].key);
		put_knob(x, d, "t", "tp");
	}
	term_values(x, m, category);
	put_note(x, "At the instant this stage peaks: %s (%s).", memory_instant_choices[m->instant].key,
		memory_instant_choices[m->instant].help);
	if (category <= MEMORY_OPTIMIZER)
		note_deepspeed(x, d, p);
	note_lesson(x, d);
}

static void explain_total(const struct draft *d, const struct plan *p, const struct stage_memory *m, struct explanation *x)
{
	char formula[sizeof x->formula];

	sum_formula(m, MEMORY_CATEGORY_COUNT, formula, sizeof formula);
	put_result(x, "need", (double)m->need_bytes, "bytes", formula,
		"meshplan-model(7): persistent + max over instants + overheads");
	term_values(x, m, MEMORY_CATEGORY_COUNT);
	put_note(x, "The instant: %s (%s). Phases that alternate are never added.", memory_instant_choices[m->instant].key,
		memory_instant_choices[m->instant].help);
	if (d->s.profile.models_activations)
		put_note(x, "Counters of such a run: allocated %.2f GiB, reserved %.2f GiB, nvidia-smi %.2f GiB.",
			(double)m->allocated_bytes / UNITS_GIB, (double)m->reserved_bytes / UNITS_GIB,
			(double)m->smi_bytes / UNITS_GIB);
	note_deepspeed(x, d, p);
	note_lesson(x, d);
}

static void explain_in_flight(const struct draft *d, const struct plan *p, int64_t stage, double in_flight, struct explanation *x)
{
	const struct schedule_info *info = &schedule_table[p->pipeline.schedule];
	bool one = p->pipeline.p == 1;

	put_result(x, "n", in_flight, "micro-batches", one ? "1: one stage is plain gradient accumulation" : info->peak_formula,
		info->cite);
	put_value(x, "p", (double)p->pipeline.p, "ranks", "--pp");
	put_value(x, "r", (double)stage, "", "this rank");
	put_value(x, "m", (double)p->pipeline.m, "micro-batches", "global-batch / (dp micro-batch)");
	put_value(x, "v", (double)p->pipeline.v, "chunks", "--vpp");
	(void)d;
}

/* Names of the members below memory.stages[i] that are not categories. */
static enum err_code explain_stage(
	const struct draft *d, const struct plan *p, int64_t stage, const char *member, struct explanation *x, struct err *e)
{
	struct stage_memory m;
	enum err_code code = memory_stage(&d->s, stage, &m, e);

	if (code != ERR_OK)
		return code;
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		if (strcmp(member, memory_category_table[i].key) == 0) {
			explain_category(d, p, &m, i, x);
			return ERR_OK;
		}
	if (strcmp(member, "total") == 0)
		explain_total(d, p, &m, x);
	else if (strcmp(member, "in_flight") == 0)
		explain_in_flight(d, p, stage, m.in_flight, x);
	else
		return ERR_UNKNOWN;
	return ERR_OK;
}

/* Everything else, one row per path. */

static void explain_need(const struct draft *d, const struct plan *p, struct explanation *x)
{
	struct stage_memory m;

	if (p->verdict.limit == LIMIT_HOST_MEMORY || p->verdict.limit == LIMIT_NVME) {
		put_result(x, "need", (double)p->verdict.need_bytes, "bytes",
			p->verdict.limit == LIMIT_NVME
				? "offloaded states of the ranks on one node"
				: "host factor x (offloaded states + gradients + parameters) of the ranks on one node",
			"DeepSpeed zero/stage3.py; profile: host-factor");
		put_value(x, "f", d->s.profile.host_factor, "", "profile %s: pinned copies", d->s.profile.id);
		put_value(x, "ranks", (double)num_min(p->gpus_per_node, d->s.cluster.gpus), "", "GPUs on a node");
		note_deepspeed(x, d, p);
		note_lesson(x, d);
		return;
	}
	if (memory_stage(&d->s, p->verdict.worst_stage, &m, NULL) == ERR_OK)
		explain_total(d, p, &m, x);
}

static void explain_have(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct gpu *g = &d->s.cluster.gpu;

	put_result(x, "have", (double)p->verdict.have_bytes, "bytes",
		"what the place offers to one rank (GPU) or one node (host, NVMe)",
		d->s.profile.capacity == CAPACITY_NOMINAL ? "the lesson: 80 GB = 80e9"
							  : "totals in public CUDA out-of-memory messages; GPU preset");
	put_value(x, "nominal", (double)g->mem_nominal_bytes, "bytes", "on the box of %s", g->id);
	put_value(x, "nvidia-smi", (double)g->mem_smi_bytes, "bytes", "as nvidia-smi shows it");
	put_value(x, "cuda", (double)g->mem_cuda_bytes, "bytes",
		g->mem_cuda_derived ? "nvidia-smi less 0.6 GiB (not a measured total)" : "as CUDA hands it out");
}

static void explain_headroom(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	put_result(x, "headroom", (double)p->verdict.headroom_bytes, "bytes",
		"have - need; below 5 % of have the verdict is TIGHT", "meshplan-model(7)");
	put_value(x, "have", (double)p->verdict.have_bytes, "bytes", "verdict.have_bytes");
	put_value(
		x, "need", (double)p->verdict.need_bytes, "bytes", "verdict.need_bytes, stage %" PRId64, p->verdict.worst_stage);
}

static void explain_host(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "H", (double)p->host_bytes_per_node, "bytes",
		"sum over the ranks on the fullest node of f x (offloaded states + gradients + parameters)",
		"DeepSpeed zero/stage3.py; Megatron-LM HybridDeviceOptimizer; torch CPUOffloadPolicy");
	put_value(x, "f", d->s.profile.host_factor, "", "profile %s: pinned copies", d->s.profile.id);
	put_value(x, "ranks", (double)num_min(p->gpus_per_node, d->s.cluster.gpus), "", "GPUs on a node");
	put_value(x, "rank", (double)p->worst.host_bytes, "bytes", "share of a rank of stage %" PRId64, p->verdict.worst_stage);
	note_deepspeed(x, d, p);
}

static void explain_nvme(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "N", (double)p->nvme_bytes_per_node, "bytes",
		"offloaded master weights, moments and parameters of the ranks on one node", "Rajbhandari 2021 (ZeRO-Infinity)");
	put_value(x, "rank", (double)p->worst.nvme_bytes, "bytes", "share of a rank of stage %" PRId64, p->verdict.worst_stage);
	(void)d;
}

/* The textbook forms where makespan - busy is (p - 1) s; else from the makespan. */
static const char *bubble_formula(const struct pipeline *pl, bool of_step)
{
	enum schedule_wait wait = schedule_table[pl->schedule].wait;

	if (wait == WAIT_NAIVE)
		return of_step ? "1 - 1/p" : "p - 1";
	if (wait == WAIT_ONCE && pl->m >= pl->p)
		return of_step ? "(p - 1) / (m v + p - 1)" : "(p - 1) / (m v)";
	return of_step ? "1 - m v s / makespan" : "makespan / (m v s) - 1";
}

static void explain_bubble(const struct plan *p, bool of_step, struct explanation *x)
{
	const struct pipeline *pl = &p->pipeline;

	put_result(x, "bubble", of_step ? p->bubble_of_step : p->bubble_over_ideal, "ratio", bubble_formula(pl, of_step),
		"Huang 2019; Narayanan 2021 sec. 2.2; schedule closed forms");
	put_value(x, "p", (double)pl->p, "ranks", "--pp");
	put_value(x, "m", (double)pl->m, "micro-batches", "global-batch / (dp micro-batch)");
	put_value(x, "v", (double)pl->v, "chunks", "--vpp");
	put_note(x, "%s",
		of_step ? "Idle time over the whole step; over ideal = step / (1 - step)."
			: "Idle time over busy time, the (N-1)/M of textbooks; of step = ideal / (1 + ideal).");
	if (schedule_table[pl->schedule].placement != PLACEMENT_LOOP || schedule_table[pl->schedule].splits)
		put_note(x, "Makespan of %s: %s (%s); s = F + I + W of a chunk, F = I = W here.",
			schedule_table[pl->schedule].key, schedule_table[pl->schedule].makespan_formula,
			schedule_table[pl->schedule].cite);
	put_note(x,
		"1F1B does not shrink the bubble of GPipe, only its memory; with latency between stages it is slower than "
		"GPipe.");
}

static void explain_of_step(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	explain_bubble(p, true, x);
}

static void explain_over_ideal(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	explain_bubble(p, false, x);
}

static void explain_span(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	put_result(x, "span", (double)p->bubble_span_ticks, "ticks",
		"largest (last end - first start - busy) of a rank, F = 1, B = 2", "Qi 2023 (Zero Bubble)");
	put_value(x, "p", (double)p->pipeline.p, "ranks", "--pp");
	put_value(x, "m", (double)p->pipeline.m, "micro-batches", "global-batch / (dp micro-batch)");
}

static void model_values(struct explanation *x, const struct model *m, bool active)
{
	struct layer_params dense = model_layer_params(m, false), moe = model_layer_params(m, true);
	int64_t n_moe = model_moe_layers(m, 0, m->layers);

	put_value(x, "dense layers", (double)(m->layers - n_moe), "", "layers without experts");
	put_value(x, "per dense layer", (double)layer_params_total(&dense), "params", "attention + MLP + norms");
	if (n_moe > 0) {
		put_value(x, "MoE layers", (double)n_moe, "", "layers with experts");
		put_value(x, "per MoE layer", (double)(layer_params_total(&moe) - moe.experts), "params",
			"attention + router + shared experts + norms");
		put_value(x, "experts", (double)(active ? moe.experts / m->experts * m->topk : moe.experts), "params",
			active ? "topk of them per token" : "all routed experts of a layer");
	}
	if (m->mlp_extra_params != 0)
		put_value(x, "rounding", (double)m->mlp_extra_params, "params", "charged to the MLPs so that --params is exact");
	put_value(x, "embedding", (double)model_embedding_params(m), "params", "V h, learned positions, embedding norm");
	put_value(x, "head", (double)model_head_params(m), "params", m->tied_embeddings ? "tied to the embedding" : "V h");
	put_value(x, "final norm", (double)model_final_norm_params(m), "params", "h, twice with a bias");
	if (m->mtp_layers > 0)
		put_note(x, "%" PRId64 " multi-token prediction layer adds %" PRId64 " parameters, counted apart.", m->mtp_layers,
			model_mtp_params(m));
}

static void explain_params(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "P", (double)p->params, "params", "sum over layers + embedding + head + final norm",
		"every tensor of the model; meshplan-model(7)");
	model_values(x, &d->s.model, false);
}

static void explain_active(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "Pa", (double)p->active_params, "params",
		"as params, with topk of the routed experts; embedding and head included",
		"every tensor that touches a token; meshplan-model(7)");
	model_values(x, &d->s.model, true);
}

static const struct path_row {
	const char *path;
	void (*explain)(const struct draft *, const struct plan *, struct explanation *);
} rows[] = {
	{ "verdict.need_bytes", explain_need },
	{ "verdict.have_bytes", explain_have },
	{ "verdict.headroom_bytes", explain_headroom },
	{ "memory.host_bytes_per_node", explain_host },
	{ "memory.nvme_bytes_per_node", explain_nvme },
	{ "pipeline.bubble_of_step", explain_of_step },
	{ "pipeline.bubble_over_ideal", explain_over_ideal },
	{ "pipeline.bubble_span", explain_span },
	{ "model.params", explain_params },
	{ "model.active_params", explain_active },
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* Components of memory.bytes_per_param, in the order of the document. */
static const struct component {
	const char *key, *what;
	size_t offset;
} components[] = {
	{ "weights", "weights", offsetof(struct memory_ledger, weights) },
	{ "master_weights", "fp32 master copy", offsetof(struct memory_ledger, master_weights) },
	{ "gradients", "gradients", offsetof(struct memory_ledger, gradients) },
	{ "gradient_accumulation", "second gradient buffer for accumulation",
		offsetof(struct memory_ledger, gradient_accumulation) },
	{ "optimizer", "moments", offsetof(struct memory_ledger, optimizer) },
};

enum { N_COMPONENTS = sizeof components / sizeof components[0] };

static double component_bytes(const struct memory_ledger *l, size_t i)
{
	double bytes;

	memcpy(&bytes, (const char *)l + components[i].offset, sizeof bytes);
	return components[i].offset == offsetof(struct memory_ledger, gradient_accumulation) ? bytes + l->gradient_copies : bytes;
}

static void explain_component(const struct draft *d, const struct plan *p, size_t i, struct explanation *x)
{
	double sum = 0;

	put_result(x, components[i].key, component_bytes(&p->ledger, i), "B/param", "bytes per parameter before sharding",
		d->s.profile.source);
	for (size_t j = 0; j < N_COMPONENTS; j++) {
		put_value(x, components[j].key, component_bytes(&p->ledger, j), "B/param", "%s", components[j].what);
		sum += component_bytes(&p->ledger, j);
	}
	put_value(x, "sum", sum, "B/param", "profile %s (%s)", d->s.profile.id, d->s.profile.date);
	put_note(x,
		"12, 16, 18 and 20 bytes per parameter are all in use: lesson 2+2+8, ZeRO paper 2+2+4+8, Megatron 2+4+4+8 (fp32 "
		"main gradients), FSDP 4+4+8.");
	note_lesson(x, d);
}

static void explain_phase(const struct draft *d, const struct plan *p, int phase, struct explanation *x)
{
	static const char *const formulas[PHASE_COUNT] = {
		[PHASE_LOAD] = "weights + one gathered tensor + overheads",
		[PHASE_INIT] = "all states + overheads",
		[PHASE_FORWARD] = "states + saved tensors in flight + logits on the last stage + overheads",
		[PHASE_BACKWARD] = "states + largest backward instant + overheads",
		[PHASE_STEP] = "states + step buffers + overheads",
		[PHASE_SAVE] = "states + one gathered tensor + overheads",
	};

	put_result(x, "peak", (double)p->phase_peak[phase], "bytes", formulas[phase], "meshplan-model(7), phases");
	put_value(x, "states", (double)p->worst.persistent_bytes, "bytes", "of the worst stage");
	put_value(x, "margin", d->s.profile.margin, "", "profile %s", d->s.profile.id);
	put_note(x, "The largest over all stages. %s.", memory_phase_choices[phase].help);
}

static void explain_knob(const struct draft *d, const struct knob *k, struct explanation *x)
{
	char text[160];

	(void)knob_format_pretty(k, &d->s, text, sizeof text);
	put_result(x, k->key, knob_number(d, k), k->unit, k->help, k->cite);
	put_note(x, "%s: %s (%s).", k->key, text, knob_origin_names[d->origin[knob_index(k)]]);
	if (k->type == KNOB_DP) {
		put_knob(x, d, "gpus", "gpus");
		put_knob(x, d, "t", "tp");
		put_knob(x, d, "p", "pp");
		put_knob(x, d, "c", "cp");
	}
}

/* "memory.stages[3].optimizer" -> 3, "optimizer". Returns false when the text has another form. */
static bool split_index(const char *path, const char *head, int64_t *index, const char **rest)
{
	size_t n = strlen(head);
	char *end;

	if (strncmp(path, head, n) != 0 || path[n] < '0' || path[n] > '9')
		return false;
	*index = (int64_t)strtoll(path + n, &end, 10);
	if (*end != ']')
		return false;
	*rest = end[1] == '.' ? end + 2 : end + 1;
	return true;
}

struct path_list {
	const char *wanted;
	int best;
	size_t holding; /* paths that hold the wanted text */
	char near[64], holders[120];
};

static void keep_nearest(void *ctx, const char *path)
{
	struct path_list *l = ctx;
	const char *last = strrchr(path, '.') != NULL ? strrchr(path, '.') + 1 : path;
	int distance = catalog_distance(l->wanted, path), of_last = catalog_distance(l->wanted, last);
	size_t len = strlen(l->holders);

	if (strstr(path, l->wanted) != NULL && l->holding++ < 3)
		(void)snprintf(l->holders + len, sizeof l->holders - len, "%s%s", len > 0 ? ", " : "", path);
	if (distance < l->best || of_last < l->best) {
		l->best = distance < of_last ? distance : of_last;
		(void)snprintf(l->near, sizeof l->near, "%s", path);
	}
}

static bool is_of_speed(const char *path)
{
	static const char *const parts[] = { "step.", "throughput.", "cost.", "communication." };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (strncmp(path, parts[i], strlen(parts[i])) == 0)
			return true;
	return false;
}

static enum err_code unknown_path(const struct draft *d, const struct plan *p, const char *path, struct err *e)
{
	struct path_list l = { .wanted = path, .best = 1000, .near = "verdict.need_bytes" };

	if (!p->step.known && is_of_speed(path) && !d->s.profile.models_activations)
		return err_set(e, ERR_UNKNOWN, "explain", "'%.60s' is not known: profile %s counts model states only", path,
			d->s.profile.id);
	if (!p->step.known && is_of_speed(path))
		return err_set(e, ERR_UNKNOWN, "explain", "'%.60s' is not known: %s has no efficiency curves", path,
			d->s.cluster.gpu.id);
	explain_paths(p, keep_nearest, &l);
	return err_set(e, ERR_UNKNOWN, "explain", "'%.60s' is not a quantity of the plan; nearest: %s", path,
		l.holding > 0 ? l.holders : l.near);
}

static bool explain_member(const struct draft *d, const struct plan *p, const char *path, struct explanation *x)
{
	static const char per_param[] = "memory.bytes_per_param.", scenario[] = "scenario.", phases[] = "memory.phases.";

	for (size_t i = 0; i < N_ROWS; i++)
		if (strcmp(path, rows[i].path) == 0) {
			rows[i].explain(d, p, x);
			return true;
		}
	if (strncmp(path, per_param, sizeof per_param - 1) == 0)
		for (size_t i = 0; i < N_COMPONENTS; i++)
			if (strcmp(path + sizeof per_param - 1, components[i].key) == 0) {
				explain_component(d, p, i, x);
				return true;
			}
	if (strncmp(path, phases, sizeof phases - 1) == 0)
		for (int i = 0; i < PHASE_COUNT; i++)
			if (strcmp(path + sizeof phases - 1, memory_phase_choices[i].key) == 0) {
				explain_phase(d, p, i, x);
				return true;
			}
	if (strncmp(path, scenario, sizeof scenario - 1) == 0 && knob_find(path + sizeof scenario - 1) != NULL) {
		explain_knob(d, knob_find(path + sizeof scenario - 1), x);
		return true;
	}
	return false;
}

enum err_code explain_quantity(
	const struct draft *d, const struct plan *p, const char *path, struct explanation *x, struct err *e)
{
	const char *rest;
	int64_t i;
	enum err_code code = ERR_UNKNOWN;

	memset(x, 0, sizeof *x);
	(void)snprintf(x->quantity, sizeof x->quantity, "%s", path);
	if (split_index(path, "memory.stages[", &i, &rest))
		code = explain_stage(d, p, i, rest, x, e);
	else if (split_index(path, "memory.phases[", &i, &rest) && i < PHASE_COUNT && strcmp(rest, "peak_bytes") == 0) {
		explain_phase(d, p, (int)i, x);
		code = ERR_OK;
	} else if (split_index(path, "pipeline.in_flight[", &i, &rest) && i < p->pipeline.p && rest[0] == '\0') {
		explain_in_flight(d, p, i, (double)pipeline_in_flight(&p->pipeline, i), x);
		(void)snprintf(x->unit, sizeof x->unit, "chunks");
		code = ERR_OK;
	} else if (explain_member(d, p, path, x) || explain_speed(d, p, path, x)) {
		code = ERR_OK;
	}
	return code == ERR_UNKNOWN ? unknown_path(d, p, path, e) : code;
}

static void each_stage(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx)
{
	char path[64];

	for (int64_t stage = 0; stage < p->pipeline.p; stage++) {
		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			(void)snprintf(path, sizeof path, "memory.stages[%" PRId64 "].%s", stage, memory_category_table[i].key);
			each(ctx, path);
		}
		(void)snprintf(path, sizeof path, "memory.stages[%" PRId64 "].total", stage);
		each(ctx, path);
		(void)snprintf(path, sizeof path, "memory.stages[%" PRId64 "].in_flight", stage);
		each(ctx, path);
	}
}

void explain_paths(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx)
{
	char path[64];

	for (size_t i = 0; i < N_ROWS; i++)
		each(ctx, rows[i].path);
	each_stage(p, each, ctx);
	for (int i = 0; i < PHASE_COUNT; i++) {
		(void)snprintf(path, sizeof path, "memory.phases[%d].peak_bytes", i);
		each(ctx, path);
	}
	for (size_t i = 0; i < N_COMPONENTS; i++) {
		(void)snprintf(path, sizeof path, "memory.bytes_per_param.%s", components[i].key);
		each(ctx, path);
	}
	for (int64_t r = 0; r < p->pipeline.p; r++) {
		(void)snprintf(path, sizeof path, "pipeline.in_flight[%" PRId64 "]", r);
		each(ctx, path);
	}
	explain_speed_paths(p, each, ctx);
	for (size_t i = 0; i < knob_count(); i++) {
		(void)snprintf(path, sizeof path, "scenario.%s", knob_at(i)->key);
		each(ctx, path);
	}
}
