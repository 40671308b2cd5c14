/* Orchestration: check, every stage's memory, the worst of them, host and NVMe per node, verdict, pipeline, time. */
#include "plan.h"

#include "compute.h"
#include "i18n_mark.h"
#include "knobs.h"
#include "num.h"
#include "rules.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const verdict_limit_names[LIMIT_COUNT] = { "none", "gpu_memory", "host_memory", "nvme", "unknown" };

/* A card with less headroom than this share is tight. ASSUMPTION: the size of run-to-run spread of the same job in published
 * logs. */
#define TIGHT_SHARE 0.05

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
	return schedule_table[pl->schedule].zero_bubble && pl->m >= 2 * pl->p - 1;
}

static void fill_pipeline(const struct memory_shared *sh, struct plan *p)
{
	struct pipeline *pl = &p->pipeline;
	int64_t makespan, busy;
	bool exact = true;

	*pl = sh->pipeline;
	/* Ticks of a chunk: F = 1, whole backward = 2, its halves 1 each. Src: sched_makespan.c. */
	busy = 3 * pl->m * pl->v;
	makespan = pl->p == 1 ? busy : pipeline_makespan(pl, 1, 1, 1, 0, &exact);
	p->bubble_of_step = (double)(makespan - busy) / (double)makespan;
	p->bubble_over_ideal = (double)(makespan - busy) / (double)busy;
	p->bubble_is_stated = !exact;
	/* Rank 0 has the first forward and the last backward, so its span is the makespan. */
	p->bubble_span_ticks = fills_its_spans(pl) ? 0 : makespan - busy;
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
	plan_diagnose(s, p);
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
