/* Ways out of a no: more GPUs, or a change of what the automatic choice leaves alone. */
#include "ways.h"

#include "i18n_mark.h"
#include "num.h"
#include "search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of model states that any framework must spread over the cards: a lower bound on GPUs. */
static double least_state_bytes(const struct draft *d, const struct catalog *c)
{
	double least = HUGE_VAL;

	for (int32_t f = FRAMEWORK_MEGATRON; f < FRAMEWORK_LESSON; f++) {
		struct scenario s = d->s;
		const struct profile *p = catalog_default_profile(c, f);
		struct memory_ledger l;

		if (!draft_given(d, KNOB_OF(profile.framework)) && p != NULL)
			s.profile = *p;
		l = memory_ledger_of(&s);
		least = fmin(least,
			l.weights +
				(s.training.adapter != ADAPTER_NONE ? 0
								    : l.gradients + l.gradient_accumulation +
							(s.training.offload == OFFLOAD_NONE ? l.master_weights + l.optimizer
											    : 0)));
	}
	if (d->s.training.adapter != ADAPTER_NONE || d->s.training.offload != OFFLOAD_NONE ||
		d->s.training.optimizer == OPTIMIZER_PAGED_ADAMW || d->s.training.optimizer == OPTIMIZER_PAGED_ADAM8BIT)
		return 0;
	return least * (double)model_params(&d->s.model);
}

/* The next cluster size after n: powers of two in a node, whole nodes above, ever larger steps far out. */
static int64_t next_size(int64_t n, int64_t per_node)
{
	if (n < per_node)
		return num_min(2 * n, per_node);
	return n + (n < 32 * per_node ? per_node : n / per_node / 16 * per_node);
}

int64_t ways_next_size(const struct draft *d, int64_t gpus)
{
	return gpus < 1 ? 1 : next_size(gpus, num_max(1, d->s.cluster.gpus_per_node));
}

bool ways_size_fits(const struct draft *d, const struct catalog *c, int64_t gpus, struct draft *best, struct plan *p)
{
	struct draft trial = *d;
	struct err e;

	if ((double)gpus < least_state_bytes(d, c) / fmax(1, (double)memory_capacity_bytes(&d->s)))
		return false;
	trial.s.cluster.gpus = gpus;
	draft_settle(&trial, c);
	if (search_choose(&trial, c, p, &e) != ERR_OK || !p->verdict.fits)
		return false;
	*best = trial;
	return true;
}

int64_t ways_fewest_gpus(const struct draft *d, const struct catalog *c, int64_t max_gpus, struct draft *best, struct plan *p)
{
	for (int64_t n = ways_next_size(d, 0); n <= max_gpus; n = ways_next_size(d, n)) {
		if (ways_size_fits(d, c, n, best, p))
			return n;
	}
	return 0;
}

/* Single changes, and known recipes of two, cheapest first. */
static const struct recipe {
	const char *knob[2], *value[2];
	const char *text;
} recipes[] = {
	{ { "recompute" }, { "full" }, N_("recompute everything: about a third more compute") },
	{ { "loss" }, { "fused" }, N_("head and loss in one kernel: no logits in memory") },
	{ { "micro-batch" }, { "1" }, N_("smallest micro-batch") },
	{ { "profile" }, { "fsdp-sharded-accumulation" }, N_("FSDP that reduces every micro-batch") },
	{ { "optimizer" }, { "adam8bit" }, N_("8-bit Adam") },
	{ { "precision" }, { "pure-bf16" }, N_("pure bf16: no fp32 master, 16-bit moments") },
	{ { "precision", "optimizer" }, { "pure-bf16", "adam8bit" }, N_("pure bf16 with 8-bit Adam") },
	{ { "offload" }, { "cpu" }, N_("CPU offload of optimizer states") },
	{ { "offload", "offload-params" }, { "cpu", "cpu" }, N_("CPU offload of optimizer states and parameters") },
	{ { "offload" }, { "nvme" }, N_("NVMe offload of optimizer states") },
	{ { "adapter" }, { "lora" }, N_("LoRA: frozen 16-bit base, adapters of rank 16") },
	{ { "adapter" }, { "qlora" }, N_("QLoRA: frozen 4-bit base, adapters of rank 16") },
};

_Static_assert(sizeof recipes / sizeof recipes[0] <= WAY_MAX, "raise WAY_MAX");

static bool try_recipe(const struct draft *d, const struct catalog *c, const struct recipe *r, struct way_out *way)
{
	struct plan p;
	struct err e;
	size_t len = 0;
	bool changes = false;

	*way = (struct way_out){ .draft = *d };
	for (int i = 0; i < 2 && r->knob[i] != NULL; i++) {
		const struct knob *k = knob_find(r->knob[i]);
		char now[64];

		(void)knob_format(k, &d->s, now, sizeof now);
		changes = changes ||
			(strcmp(now, r->value[i]) != 0 &&
				(!(k->flags & KNOB_F_AUTO) || draft_given(d, knob_index(k)) || k->preset == PRESET_PROFILE));
		if (draft_set(&way->draft, c, k, r->value[i], ORIGIN_FLAG, &e) != ERR_OK)
			return false;
		len += (size_t)snprintf(
			way->change + len, sizeof way->change - len, "%s--%s %s", i > 0 ? " " : "", k->key, r->value[i]);
	}
	/* A profile of another framework is no change of this one. */
	if (!changes || (draft_given(d, KNOB_OF(profile.framework)) && way->draft.s.profile.framework != d->s.profile.framework))
		return false;
	if (search_choose(&way->draft, c, &p, &e) != ERR_OK || !p.verdict.known)
		return false;
	(void)snprintf(way->text, sizeof way->text, "%s", r->text);
	way->fits = p.verdict.fits;
	way->tight = p.verdict.tight;
	way->need_bytes = p.worst.need_bytes;
	way->have_bytes = memory_capacity_bytes(&way->draft.s);
	way->host_bytes_per_node = p.host_bytes_per_node;
	way->limit = p.verdict.limit;
	return true;
}

bool ways_at(const struct draft *d, const struct catalog *c, size_t i, struct way_out *way)
{
	return i < sizeof recipes / sizeof recipes[0] && try_recipe(d, c, &recipes[i], way);
}

size_t ways_all(const struct draft *d, const struct catalog *c, struct way_out *ways, size_t cap)
{
	size_t n = 0, fitting = 0;

	for (size_t i = 0; i < sizeof recipes / sizeof recipes[0] && n < cap; i++) {
		struct way_out way;

		if (!try_recipe(d, c, &recipes[i], &way))
			continue;
		/* Those that fit first, each half in the order of the table. */
		if (way.fits) {
			memmove(&ways[fitting + 1], &ways[fitting], (n - fitting) * sizeof ways[0]);
			ways[fitting++] = way;
		} else {
			ways[n] = way;
		}
		n++;
	}
	return n;
}
