/* Remarks on a plan: what is worth a word beside its figures. */
#include "plan.h"

#include "text.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const diagnostic_level_names[DIAGNOSTIC_LEVEL_COUNT] = { "note", "warning", "error" };

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

static void diagnose_pipeline(struct plan *p)
{
	const char *key = schedule_table[p->pipeline.schedule].key;

	if (p->pipeline.p == 1)
		return;
	if (schedule_table[p->pipeline.schedule].greedy != NULL)
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

void plan_diagnose(const struct scenario *s, struct plan *p)
{
	diagnose_places(s, p);
	diagnose_speed(s, p);
	diagnose_sharding(s, p);
	diagnose_model(s, p);
	diagnose_pipeline(p);
}
