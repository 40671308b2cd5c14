/* Paths of the verdict and of memory: what is needed, what there is, each category of each stage. */
#include "explain_internal.h"

#include "estimators.h"
#include "num.h"
#include "units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
	const struct {
		const char *symbol;
		double bytes;
		bool sharded;
	} states[] = {
		[MEMORY_WEIGHTS] = { "w", l->weights, l->weights_sharded },
		[MEMORY_MASTER_WEIGHTS] = { "m", l->master_weights, l->optimizer_sharded },
		[MEMORY_GRADIENTS] = { "g", l->gradients, l->gradients_sharded },
		[MEMORY_OPTIMIZER] = { "o", l->optimizer, l->optimizer_sharded },
	};
	bool sharded = states[category].sharded;
	bool adapter = d->s.training.adapter != ADAPTER_NONE;

	put_value(x, states[category].symbol, states[category].bytes, "B/param", "profile %s, --precision %s, --optimizer %s",
		d->s.profile.id, precision_choices[d->s.training.precision].key, optimizer_table[d->s.training.optimizer].key);
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

void explain_in_flight(const struct plan *p, int64_t stage, double in_flight, struct explanation *x)
{
	const struct schedule_info *info = &schedule_table[p->pipeline.schedule];
	bool one = p->pipeline.p == 1;

	put_result(x, "n", in_flight, "micro-batches", one ? "1: one stage is plain gradient accumulation" : info->peak_formula,
		info->cite);
	put_value(x, "p", (double)p->pipeline.p, "ranks", "--pp");
	put_value(x, "r", (double)stage, "", "this rank");
	put_value(x, "m", (double)p->pipeline.m, "micro-batches", "global-batch / (dp micro-batch)");
	put_value(x, "v", (double)p->pipeline.v, "chunks", "--vpp");
}

/* Names of the members below memory.stages[i] that are not categories. */
enum err_code explain_stage(
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
		explain_in_flight(p, stage, m.in_flight, x);
	else
		return ERR_UNKNOWN;
	return ERR_OK;
}

void explain_need(const struct draft *d, const struct plan *p, struct explanation *x)
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

void explain_have(const struct draft *d, const struct plan *p, struct explanation *x)
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

void explain_headroom(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	put_result(x, "headroom", (double)p->verdict.headroom_bytes, "bytes",
		"have - need; below 5 % of have the verdict is TIGHT", "meshplan-model(7)");
	put_value(x, "have", (double)p->verdict.have_bytes, "bytes", "verdict.have_bytes");
	put_value(
		x, "need", (double)p->verdict.need_bytes, "bytes", "verdict.need_bytes, stage %" PRId64, p->verdict.worst_stage);
}

void explain_host(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "H", (double)p->host_bytes_per_node, "bytes",
		"sum over the ranks on the fullest node of f x (offloaded states + gradients + parameters)",
		"DeepSpeed zero/stage3.py; Megatron-LM HybridDeviceOptimizer; torch CPUOffloadPolicy");
	put_value(x, "f", d->s.profile.host_factor, "", "profile %s: pinned copies", d->s.profile.id);
	put_value(x, "ranks", (double)num_min(p->gpus_per_node, d->s.cluster.gpus), "", "GPUs on a node");
	put_value(x, "rank", (double)p->worst.host_bytes, "bytes", "share of a rank of stage %" PRId64, p->verdict.worst_stage);
	note_deepspeed(x, d, p);
}

void explain_nvme(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "N", (double)p->nvme_bytes_per_node, "bytes",
		"offloaded master weights, moments and parameters of the ranks on one node", "Rajbhandari 2021 (ZeRO-Infinity)");
	put_value(x, "rank", (double)p->worst.nvme_bytes, "bytes", "share of a rank of stage %" PRId64, p->verdict.worst_stage);
	(void)d;
}

/* Components of memory.bytes_per_param, in the order of the document. */
static const struct {
	const char *key, *what;
	size_t offset;
} components[EXPLAIN_COMPONENTS] = {
	{ "weights", "weights", offsetof(struct memory_ledger, weights) },
	{ "master_weights", "fp32 master copy", offsetof(struct memory_ledger, master_weights) },
	{ "gradients", "gradients", offsetof(struct memory_ledger, gradients) },
	{ "gradient_accumulation", "second gradient buffer for accumulation",
		offsetof(struct memory_ledger, gradient_accumulation) },
	{ "optimizer", "moments", offsetof(struct memory_ledger, optimizer) },
};

const char *explain_component_key(size_t i)
{
	return components[i].key;
}

static double component_bytes(const struct memory_ledger *l, size_t i)
{
	double bytes;

	memcpy(&bytes, (const char *)l + components[i].offset, sizeof bytes);
	return components[i].offset == offsetof(struct memory_ledger, gradient_accumulation) ? bytes + l->gradient_copies : bytes;
}

void explain_component(const struct draft *d, const struct plan *p, size_t i, struct explanation *x)
{
	double sum = 0;

	put_result(x, components[i].key, component_bytes(&p->ledger, i), "B/param", "bytes per parameter before sharding",
		d->s.profile.source);
	for (size_t j = 0; j < EXPLAIN_COMPONENTS; j++) {
		put_value(x, components[j].key, component_bytes(&p->ledger, j), "B/param", "%s", components[j].what);
		sum += component_bytes(&p->ledger, j);
	}
	put_value(x, "sum", sum, "B/param", "profile %s (%s)", d->s.profile.id, d->s.profile.date);
	put_note(x,
		"12, 16, 18 and 20 bytes per parameter are all in use: lesson 2+2+8, ZeRO paper 2+2+4+8, Megatron 2+4+4+8 (fp32 "
		"main gradients), FSDP 4+4+8.");
	note_lesson(x, d);
}

void explain_phase(const struct draft *d, const struct plan *p, int phase, struct explanation *x)
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
