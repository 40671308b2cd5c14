/* Orchestration: check, every stage's memory, the worst of them, host and NVMe per node, verdict, pipeline, diagnostics. */
#include "plan.h"

#include "compute.h"
#include "i18n_mark.h"
#include "knobs.h"
#include "num.h"
#include "rules.h"
#include "text.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const verdict_limit_names[LIMIT_COUNT] = { "none", "gpu_memory", "host_memory", "nvme", "unknown" };
const char *const diagnostic_level_names[DIAGNOSTIC_LEVEL_COUNT] = { "note", "warning", "error" };

/* A card with less headroom than this share is tight. ASSUMPTION: the size of run-to-run spread of the same job in published
 * logs. */
#define TIGHT_SHARE 0.05

static void diagnose(struct plan *p, int32_t level, const char *id, const char *knob, const char *fmt, ...) PRINTF_LIKE(5, 6);

static void diagnose(struct plan *p, int32_t level, const char *id, const char *knob, const char *fmt, ...)
{
	struct diagnostic *d;
	va_list ap;

	if (p->n_diagnostics == PLAN_DIAGNOSTICS_MAX)
		return;
	d = &p->diagnostics[p->n_diagnostics++];
	*d = (struct diagnostic){ .level = level, .id = id, .knob = knob };
	va_start(ap, fmt);
	(void)vsnprintf(d->text, sizeof d->text, fmt, ap);
	va_end(ap);
}

/* Host and NVMe bytes of the fullest node. Ranks are laid out tp, cp, ep, dp, pp (innermost first), so a node holds gpus_per_node
 * ranks of one stage, or of several consecutive ones. */
static void add_places(const struct scenario *s, const int64_t *host, const int64_t *nvme, struct plan *p)
{
	int64_t pp = s->layout.pp, per_stage = s->cluster.gpus / pp, on_node = num_min(p->gpus_per_node, s->cluster.gpus);
	/* When stages are whole nodes, one node of each stage says it all. */
	int64_t stride = per_stage % on_node == 0 ? per_stage : on_node;

	for (int64_t first = 0; first < s->cluster.gpus; first += stride) {
		int64_t h = 0, n = 0, last = num_min(first + on_node, s->cluster.gpus);

		for (int64_t stage = first / per_stage; stage < pp && stage * per_stage < last; stage++) {
			int64_t ranks = num_min(last, (stage + 1) * per_stage) - num_max(first, stage * per_stage);

			h += ranks * host[stage];
			n += ranks * nvme[stage];
		}
		p->host_bytes_per_node = num_max(p->host_bytes_per_node, h);
		p->nvme_bytes_per_node = num_max(p->nvme_bytes_per_node, n);
	}
}

static void sum_stages(const struct scenario *s, const struct memory_shared *sh, struct plan *p)
{
	int64_t host[STAGE_LIST_MAX], nvme[STAGE_LIST_MAX], most_host = 0;

	for (int64_t i = 0; i < s->layout.pp; i++) {
		struct stage_memory m;

		memory_stage_of(s, sh, i, &m);
		host[i] = m.host_bytes;
		nvme[i] = m.nvme_bytes;
		most_host = num_max(most_host, num_max(m.host_bytes, m.nvme_bytes));
		for (int ph = 0; ph < PHASE_COUNT; ph++)
			p->phase_peak[ph] = num_max(p->phase_peak[ph], m.phase[ph]);
		if (i == 0 || m.need_bytes > p->worst.need_bytes) {
			p->worst = m;
			p->verdict.worst_stage = i;
		}
	}
	if (most_host > 0)
		add_places(s, host, nvme, p);
}

/* A place that overflows decides; of several the GPU first, it is the one that every layout fights for. */
static void judge(const struct scenario *s, struct plan *p)
{
	struct verdict *v = &p->verdict;
	const struct {
		int32_t limit;
		int64_t need, have;
	} places[] = {
		{ LIMIT_GPU_MEMORY, p->worst.need_bytes, memory_capacity_bytes(s) },
		{ LIMIT_HOST_MEMORY, p->host_bytes_per_node, s->cluster.node.host_mem_bytes },
		{ LIMIT_NVME, p->nvme_bytes_per_node, s->cluster.node.nvme_bytes },
	};

	v->decimal = !s->profile.models_activations;
	v->need_bytes = places[0].need;
	v->have_bytes = places[0].have;
	v->headroom_bytes = v->have_bytes - v->need_bytes;
	if (v->have_bytes <= 0) {
		v->limit = LIMIT_UNKNOWN;
		v->headroom_bytes = 0;
		return;
	}
	v->known = v->fits = true;
	for (size_t i = 0; i < sizeof places / sizeof places[0] && v->fits; i++) {
		/* Host and NVMe sizes are often not known: then they do not decide, and a diagnostic says so. */
		if (places[i].need == 0 || places[i].have <= 0 || places[i].need <= places[i].have)
			continue;
		v->fits = false;
		v->limit = places[i].limit;
		v->need_bytes = places[i].need;
		v->have_bytes = places[i].have;
		v->headroom_bytes = v->have_bytes - v->need_bytes;
	}
	v->tight = v->fits && (double)v->headroom_bytes < TIGHT_SHARE * (double)v->have_bytes;
}

static bool fills_its_spans(const struct pipeline *pl)
{
	return schedule_table[pl->schedule].wait == WAIT_ZERO && pl->m >= 2 * pl->p - 1;
}

static void fill_pipeline(const struct memory_shared *sh, struct plan *p)
{
	struct pipeline *pl = &p->pipeline;
	int64_t makespan, busy;
	bool exact = true;

	*pl = sh->pipeline;
	/* Ticks of a chunk: F = 1, whole backward = 2, its halves 1 each. Src: sched_closed.c. */
	busy = 3 * pl->m * pl->v;
	makespan = pl->p == 1 ? busy : schedule_table[pl->schedule].closed(pl, 1, 1, 1, 0, &exact);
	p->bubble_of_step = (double)(makespan - busy) / (double)makespan;
	p->bubble_over_ideal = (double)(makespan - busy) / (double)busy;
	p->bubble_is_stated = !exact;
	/* Rank 0 has the first forward and the last backward, so its span is the makespan. */
	p->bubble_span_ticks = fills_its_spans(pl) ? 0 : makespan - busy;
}

static void diagnose_pipeline(struct plan *p)
{
	const char *key = schedule_table[p->pipeline.schedule].key;

	if (p->pipeline.p == 1)
		return;
	if (schedule_table[p->pipeline.schedule].greedy)
		diagnose(p, DIAGNOSTIC_NOTE, "schedule-stated", "schedule",
			"%s is ordered by the times of its actions: bubble and in-flight counts here are "
			"stated estimates; the pipeline view runs the order itself",
			key);
	else if (p->bubble_is_stated)
		diagnose(p, DIAGNOSTIC_NOTE, "bubble-stated", "schedule",
			"the bubble of %s is an estimate for %" PRId64 " %s; the pipeline view runs "
			"the order itself",
			key, p->pipeline.m, text_plural(p->pipeline.m, "micro-batch", "micro-batches"));
}

/* Published runs scatter by so much around the model. Src: validation against published runs. */
#define BAND_DENSE 0.10
#define BAND_MOE 0.30
/* A measured step removes the larger half of the error of an unseen cluster; what its level leaves open comes back. Src: the same
 * runs, a level per source fitted on one of its rows. */
#define BAND_CALIBRATED 0.5
/* ASSUMPTION: what each knob that decides on speed adds, in quadrature, when nobody gave it. */
#define BAND_OF_DEFAULT 0.03

bool plan_is_calibrated(const struct scenario *s)
{
	return s->coefficients.calibrated != COEF_ONE && s->coefficients.calibrated == compute_level(s);
}

static double band_of(const struct scenario *s)
{
	double band = model_is_moe(&s->model) ? BAND_MOE : BAND_DENSE;

	return plan_is_calibrated(s) ? fmin(band, hypot(BAND_CALIBRATED * band, s->coefficients.level_sd)) : band;
}

double plan_band(const struct draft *d, const struct plan *p)
{
	static const char *const keys[] = { "node", "precision", "attention", "seq", "global-batch", "profile" };
	double band = p->band;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0] && band > 0; i++) {
		uint8_t origin = d->origin[knob_index(knob_find(keys[i]))];

		if (origin == ORIGIN_DEFAULT || (origin == ORIGIN_AUTO && strcmp(keys[i], "profile") == 0))
			band = hypot(band, BAND_OF_DEFAULT);
	}
	return band;
}

void plan_evaluate_time(const struct scenario *s, struct plan *p)
{
	step_evaluate(s, &p->step);
	if (!p->step.known)
		return;
	p->throughput = throughput_of(s, &p->step);
	p->band = band_of(s);
}

/* Rates of a matrix multiply halve where a dimension on a rank is no multiple of 8. Src: NVIDIA tensor core alignment; BigScience
 * 104B. */
static void diagnose_alignment(const struct scenario *s, struct plan *p)
{
	const struct model *m = &s->model;
	const struct layout *y = &s->layout;
	bool experts = model_is_moe(m), mla = m->attention_type == ATTENTION_MLA,
	     dense = !experts || model_moe_layers(m, 0, m->layers) < m->layers;
	const struct {
		bool applies;
		int64_t whole, by;
		const char *knob, *by_knob;
	} sides[] = {
		{ true, m->hidden, 1, "hidden", "" },
		{ !mla, m->heads * m->head_dim, y->tp, "heads x head-dim", "tp" },
		{ dense && m->ffn > 0, m->ffn, y->tp, "ffn", "tp" },
		{ experts, m->expert_ffn, y->etp, "expert-ffn", "etp" },
	};

	if (!mla && m->head_dim % 8 != 0)
		diagnose(p, DIAGNOSTIC_WARNING, "head-dim-unaligned", "head-dim",
			"head-dim %" PRId64 " is no multiple of 8: attention runs at a fraction of its rate", m->head_dim);
	for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
		if (!sides[i].applies || sides[i].whole % sides[i].by != 0 || sides[i].whole / sides[i].by % 8 == 0)
			continue;
		if (sides[i].by > 1)
			diagnose(p, DIAGNOSTIC_WARNING, "unaligned", sides[i].by_knob,
				"%s %" PRId64 " / %s %" PRId64 " is no multiple of 8: its multiplies run at about half rate",
				sides[i].knob, sides[i].whole, sides[i].by_knob, sides[i].by);
		else
			diagnose(p, DIAGNOSTIC_WARNING, "unaligned",
				i == 0           ? "hidden"
					: i == 1 ? "heads"
						 : sides[i].knob,
				"%s %" PRId64 " is no multiple of 8: its multiplies run at about half rate", sides[i].knob,
				sides[i].whole);
	}
}

/* Host time of a dropless MoE layer, against all of the layer. */
static double moe_host_share(const struct step_time *t)
{
	double layer = t->moe.forward_s + t->moe.input_s + t->moe.weight_s;

	return layer > 0 ? t->moe.host_s / layer : 0;
}

/* Shares of a layer or a step that are worth a word. */
#define HOST_BOUND 0.5
#define BUBBLE_LARGE 0.15
#define TRAFFIC_LARGE 0.15

static void diagnose_speed(const struct scenario *s, struct plan *p)
{
	const struct step_time *t = &p->step;

	if (!t->known) {
		if (s->profile.models_activations && s->cluster.gpu.id[0] != '\0')
			diagnose(p, DIAGNOSTIC_NOTE, "speed-unknown", "gpu",
				"%s has no efficiency curves: step time, throughput and cost are not known", s->cluster.gpu.id);
		return;
	}
	diagnose_alignment(s, p);
	if (t->part_s[STEP_BUBBLE] > BUBBLE_LARGE * t->step_s)
		diagnose(p, DIAGNOSTIC_WARNING, "bubble", s->layout.vpp > 1 ? "global-batch" : "vpp",
			"the bubble, as timed, is %.0f %% of the step: %" PRId64 " %s for %" PRId64 " stages",
			100 * t->part_s[STEP_BUBBLE] / t->step_s, p->micro_batches,
			text_plural(p->micro_batches, "micro-batch", "micro-batches"), s->layout.pp);
	if (t->part_s[STEP_DP] > TRAFFIC_LARGE * t->step_s)
		diagnose(p, DIAGNOSTIC_WARNING, "dp-exposed", "global-batch",
			"%.0f %% of the step waits for gradients and weights: a larger batch hides more",
			100 * t->part_s[STEP_DP] / t->step_s);
	if (fmax(p->throughput.mfu, p->throughput.hfu) > 1)
		diagnose(p, DIAGNOSTIC_NOTE, "mfu-above-one", "flops",
			"convention %s counts work that this model does not do, so its utilisation passes 100 %%; others: "
			"--flops",
			flops_convention_choices[s->training.flops].key);
	if (moe_host_share(t) > HOST_BOUND)
		diagnose(p, DIAGNOSTIC_NOTE, "moe-host", "micro-batch",
			"MoE layers wait for the host (%.0f %% of their time): a larger micro-batch costs "
			"little",
			100 * fmin(1, moe_host_share(t)));
}

static void diagnose_sharding(const struct scenario *s, struct plan *p)
{
	const struct layout *y = &s->layout;

	if (y->zero > 0 && p->ledger.shards == 1 && s->profile.framework != FRAMEWORK_FSDP)
		diagnose(p, DIAGNOSTIC_WARNING, "zero-dp1", "zero",
			"zero %" PRId64 " shards nothing: gpus / (tp pp cp) leaves one data-parallel rank", y->zero);
	if (y->tp > p->gpus_per_node)
		diagnose(p, DIAGNOSTIC_WARNING, "tp-crosses-nodes", "tp",
			"tp %" PRId64 " crosses nodes of %" PRId64 " GPUs: every layer waits for the network", y->tp,
			p->gpus_per_node);
	if (scenario_accumulated_bytes(s) > 0 && y->pp == 1)
		diagnose(p, DIAGNOSTIC_NOTE, "fsdp-accumulation", "micro-batch",
			"%" PRId64
			" micro-batches accumulate: FSDP keeps unsharded gradients of %g bytes per parameter between them",
			p->micro_batches, scenario_accumulated_bytes(s));
	if (p->worst.term[TERM_BUCKETS] > 0.25 * (double)p->worst.allocated_bytes)
		diagnose(p, DIAGNOSTIC_NOTE, "buckets-dominate", "zero",
			"communication buckets take a quarter of the memory: below 1B parameters ZeRO saves little");
	if (s->training.adapter == ADAPTER_QLORA && !s->profile.qlora_sharded && y->zero > 0 && p->dp > 1)
		diagnose(p, DIAGNOSTIC_WARNING, "qlora-unsharded", "adapter",
			"the frozen 4-bit base is not partitioned by zero %" PRId64 ": each GPU holds all of it", y->zero);
}

/* Whether the model's makers are known to have trained it with another profile. */
static bool trained_otherwise(const struct scenario *s)
{
	static const char first[] = "--profile ";
	const char *with = s->model.trained_with, *profile = with + sizeof first - 1;
	size_t len = strlen(s->profile.id);

	if (strncmp(with, first, sizeof first - 1) != 0 || s->training.adapter != ADAPTER_NONE || !s->profile.models_activations)
		return false;
	return strcspn(profile, " ") != len || strncmp(profile, s->profile.id, len) != 0;
}

static void diagnose_model(const struct scenario *s, struct plan *p)
{
	const struct training *t = &s->training;

	if (s->model.max_seq > 0 && t->seq > s->model.max_seq)
		diagnose(p, DIAGNOSTIC_WARNING, "seq-beyond-model", "seq",
			"seq %" PRId64 " is beyond the %" PRId64 " tokens the model is made for", t->seq, s->model.max_seq);
	if ((t->precision == PRECISION_BF16 || t->precision == PRECISION_PURE_BF16) && s->cluster.gpu.id[0] != '\0' &&
		s->cluster.gpu.bf16_flops <= 0 && s->cluster.gpu.fp16_flops > 0)
		diagnose(p, DIAGNOSTIC_WARNING, "no-bf16", "precision",
			"%s has no bf16 tensor cores: bf16 runs, slowly; fp16 is its 16-bit format", s->cluster.gpu.id);
	if (trained_otherwise(s))
		diagnose(p, DIAGNOSTIC_NOTE, "trained-with", "profile", "its makers trained it with %s", s->model.trained_with);
	if (!s->profile.models_activations)
		diagnose(p, DIAGNOSTIC_NOTE, "states-only", "framework",
			"framework %s counts model states only: activations, logits, transient and reserved are not in its "
			"calculator and are 0 here",
			framework_names[s->profile.framework]);
	if (model_is_moe(&s->model) && s->profile.models_activations)
		diagnose(p, DIAGNOSTIC_NOTE, "moe-balanced", "topk", "routing is taken as balanced: a hot expert needs more");
	if (p->split_is_uneven)
		diagnose(p, DIAGNOSTIC_NOTE, "uneven-stages", "pp-split", "%" PRId64 " layers over %" PRId64 " stages: %s",
			s->model.layers, s->layout.pp * s->layout.vpp,
			p->pp_split_used == PP_SPLIT_EMBED_HEAD ? "embedding and head count as one layer each"
								: "as even as possible, short stages at the ends");
}

static void diagnose_places(const struct scenario *s, struct plan *p)
{
	if (s->cluster.gpu.mem_cuda_derived && s->profile.models_activations && s->cluster.gpu_mem_bytes == 0)
		diagnose(p, DIAGNOSTIC_NOTE, "capacity-derived", "gpu-mem",
			"usable memory of %s is nvidia-smi's figure less 0.6 GiB, not a measured one", s->cluster.gpu.id);
	if (p->verdict.limit == LIMIT_UNKNOWN)
		diagnose(p, DIAGNOSTIC_ERROR, "capacity-unknown", "gpu-mem",
			"the memory of this GPU is not known: give --gpu-mem, for example 80GB");
	if (p->host_bytes_per_node > 0 && s->cluster.node.host_mem_bytes <= 0)
		diagnose(p, DIAGNOSTIC_WARNING, "host-unknown", "host-mem",
			"host memory per node is not known: whether %.0f GiB fit is not checked",
			(double)p->host_bytes_per_node / UNITS_GIB);
	if (p->nvme_bytes_per_node > 0 && s->cluster.node.nvme_bytes <= 0)
		diagnose(p, DIAGNOSTIC_WARNING, "nvme-unknown", "nvme",
			"NVMe per node is not known: whether %.0f GB fit is not checked",
			(double)p->nvme_bytes_per_node / UNITS_GB);
}

enum err_code plan_evaluate_memory(const struct scenario *s, struct plan *p, struct err *e)
{
	struct memory_shared sh;
	enum err_code code = scenario_check(s, e);

	if (code != ERR_OK)
		return code;
	memset(p, 0, sizeof *p);
	memory_prepare(s, &sh);
	p->dp = sh.dp;
	p->micro_batches = sh.micro_batches;
	p->gpus_per_node = s->cluster.gpus_per_node;
	p->nodes = num_ceil_div(s->cluster.gpus, s->cluster.gpus_per_node);
	p->params = model_params(&s->model);
	p->active_params = model_active_params(&s->model);
	p->padded_vocab = sh.padded_vocab;
	p->ledger = sh.ledger;
	p->pp_split_used = sh.split_used;
	p->split_is_uneven = s->layout.stage_layers.n == 0 && s->model.layers % sh.split.n != 0;
	sum_stages(s, &sh, p);
	judge(s, p);
	fill_pipeline(&sh, p);
	return ERR_OK;
}

enum err_code plan_evaluate(const struct scenario *s, struct plan *p, struct err *e)
{
	enum err_code code = plan_evaluate_memory(s, p, e);

	if (code != ERR_OK)
		return code;
	plan_evaluate_time(s, p);
	diagnose_places(s, p);
	diagnose_speed(s, p);
	diagnose_sharding(s, p);
	diagnose_model(s, p);
	diagnose_pipeline(p);
	return ERR_OK;
}

const char *verdict_word(const struct verdict *v)
{
	if (!v->known)
		return N_("UNKNOWN");
	if (!v->fits)
		return N_("DOES NOT FIT");
	return v->tight ? N_("TIGHT") : N_("FITS");
}

char *verdict_text(const struct verdict *v, char *buf, size_t cap)
{
	static const char *const places[LIMIT_COUNT] = { "", "", " of host memory per node", " of NVMe per node", "" };
	const char *unit = v->decimal ? "GB" : "GiB";
	char amount[32];

	if (!v->known) {
		(void)snprintf(buf, cap, "memory of the GPU is not known");
		return buf;
	}
	(void)units_format_f4(fabs((double)v->headroom_bytes) / (v->decimal ? UNITS_GB : UNITS_GIB), amount, sizeof amount);
	if (!v->fits && v->limit != LIMIT_GPU_MEMORY)
		(void)snprintf(buf, cap, "%s %s short%s", amount, unit, places[v->limit]);
	else
		(void)snprintf(
			buf, cap, "%s %s %s on stage %" PRId64, amount, unit, v->fits ? "to spare" : "short", v->worst_stage);
	return buf;
}
