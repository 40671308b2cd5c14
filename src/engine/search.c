/* The automatic choice. Order of preference: fits with room, fits tightly, does not; less recompute; smaller tp pp cp; more headroom; framework table order. So the loop runs
 * from little recompute to much and from small products to large ones, and stops at the first product with a choice that fits. Within a
 * product the micro-batch is the smallest legal one, ZeRO the highest legal stage and expert parallelism the widest legal one: each
 * of them only ever adds headroom. */
#include "search.h"

#include "i18n_mark.h"
#include "num.h"
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEGREES_MAX = 32, PP_MOST = 128 };

/* What is open, and the best so far. */
struct search {
	const struct draft *base;
	const struct catalog *c;
	struct draft best;
	struct plan plan;
	bool found;
	int64_t product; /* of the best */
	struct err first; /* why the first candidate was illegal */
};

static bool is_fixed(const struct draft *d, const char *key)
{
	return d->origin[knob_index(knob_find(key))] >= ORIGIN_FILE;
}

/* Degrees to try: the given one, or the divisors of n up to most. */
static size_t degrees(const struct draft *d, const char *key, int64_t value, int64_t n, int64_t most, int64_t *out)
{
	size_t count = 0;

	if (is_fixed(d, key)) {
		out[0] = value;
		return 1;
	}
	for (int64_t i = 1; i <= most && i <= n && count < DEGREES_MAX; i++)
		if (n % i == 0)
			out[count++] = i;
	return count;
}

/* How good a plan is: 2 fits with room, 1 tight, 0 does not fit. */
static int rank_of(const struct plan *p)
{
	if (!p->verdict.known || !p->verdict.fits)
		return 0;
	return p->verdict.tight ? 1 : 2;
}

static int64_t product_of(const struct scenario *s)
{
	return s->layout.tp * s->layout.pp * s->layout.cp;
}

/* Candidates come in order of preference, so an equal one wins only inside the same recompute mode and product, by headroom. */
static bool better(const struct search *sr, const struct draft *d, const struct plan *p)
{
	int rank = rank_of(p), best = rank_of(&sr->plan);

	if (rank != best)
		return rank > best;
	if (rank > 0 && (product_of(&d->s) != sr->product || d->s.training.recompute != sr->best.s.training.recompute))
		return false;
	return p->worst.need_bytes < sr->plan.worst.need_bytes;
}

static void set_smallest_micro_batch(struct draft *d)
{
	int64_t dp = scenario_dp(&d->s);

	if (!is_fixed(d, "micro-batch"))
		d->s.training.micro_batch = 1;
	/* An open global batch follows the data-parallel degree, which need not divide the default. */
	if (dp > 0 && !is_fixed(d, "global-batch"))
		d->s.training.global_batch = num_round_up(d->s.training.global_batch, dp * d->s.training.micro_batch);
}

static int64_t widest_experts(const struct draft *d, int64_t etp)
{
	const struct scenario *s = &d->s;
	uint32_t can = framework_rules_table[s->profile.framework].can;
	int64_t pool = can & CAN_ETP ? s->cluster.gpus / s->layout.pp : scenario_dp(s), widest = 1;

	if (!model_is_moe(&s->model) || !(can & CAN_EP))
		return 1;
	for (int64_t ep = 1; ep <= num_min(s->model.experts, pool); ep++)
		if (s->model.experts % ep == 0 && pool % (ep * etp) == 0)
			widest = ep;
	return widest;
}

static void consider(struct search *sr, const struct draft *candidate)
{
	struct plan p;
	struct err e;

	if (candidate->dp_given > 0 && scenario_dp(&candidate->s) != candidate->dp_given)
		return;
	if (plan_evaluate(&candidate->s, &p, &e) != ERR_OK) {
		if (sr->first.code == ERR_OK)
			sr->first = e;
		return;
	}
	if (sr->found && !better(sr, candidate, &p))
		return;
	sr->found = true;
	sr->product = product_of(&candidate->s);
	sr->best = *candidate;
	sr->plan = p;
}

/* One framework, recompute, tp, pp, cp: fills the rest. */
static void try_layout(struct search *sr, struct draft *d)
{
	struct layout *y = &d->s.layout;
	const struct framework_rules *rules = &framework_rules_table[d->s.profile.framework];
	int64_t widths[2] = { 1, y->tp };
	size_t n = model_is_moe(&d->s.model) && y->tp > 1 ? 2 : 1;

	if (!is_fixed(d, "zero"))
		y->zero = y->pp > 1 ? rules->zero_max_with_pp : rules->zero_max;
	if (!is_fixed(d, "vpp"))
		y->vpp = is_fixed(d, "schedule") && y->schedule == SCHEDULE_INTERLEAVED && y->pp > 1 ? 2 : 1;
	if (!is_fixed(d, "schedule"))
		y->schedule = y->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
	set_smallest_micro_batch(d);
	if (is_fixed(d, "etp")) {
		widths[0] = y->etp;
		n = 1;
	}
	for (size_t i = 0; i < n; i++) {
		y->etp = widths[i];
		if (!is_fixed(d, "ep"))
			y->ep = widest_experts(d, y->etp);
		draft_settle(d, sr->c);
		y->etp = widths[i];
		set_smallest_micro_batch(d);
		consider(sr, d);
	}
}

/* Every (tp, pp, cp) of one product. */
static void try_product(struct search *sr, const struct draft *d, int64_t product)
{
	int64_t tps[DEGREES_MAX], pps[DEGREES_MAX];
	const struct scenario *s = &d->s;
	size_t n_tp = degrees(d, "tp", s->layout.tp, product, num_min(s->cluster.gpus_per_node, s->cluster.gpus), tps);

	for (size_t i = 0; i < n_tp; i++) {
		size_t n_pp = product % tps[i] == 0 ? degrees(d, "pp", s->layout.pp, product / tps[i], num_min(s->model.layers, PP_MOST), pps) : 0;

		for (size_t j = 0; j < n_pp; j++) {
			int64_t cp = product / (tps[i] * pps[j]);
			struct draft trial;

			if (tps[i] * pps[j] * cp != product || (is_fixed(d, "cp") && cp != s->layout.cp))
				continue;
			/* Pieces below 1024 tokens are not worth a ring. */
			if (!is_fixed(d, "cp") && cp > 1 && ((cp & (cp - 1)) != 0 || s->training.seq / cp < 1024))
				continue;
			trial = *d;
			trial.s.layout.tp = tps[i];
			trial.s.layout.pp = pps[j];
			trial.s.layout.cp = cp;
			try_layout(sr, &trial);
		}
	}
}

static bool fits_with_room(const struct search *sr)
{
	return sr->found && rank_of(&sr->plan) == 2;
}

/* All frameworks at one recompute mode and product. */
static void try_frameworks(struct search *sr, int32_t recompute, int64_t product)
{
	const struct draft *base = sr->base;
	bool fixed = is_fixed(base, "framework") || is_fixed(base, "profile");

	for (int32_t f = FRAMEWORK_MEGATRON; f < FRAMEWORK_LESSON; f++) {
		struct draft trial = *base;
		const struct profile *p = catalog_default_profile(sr->c, f);

		if (fixed && f > FRAMEWORK_MEGATRON)
			return;
		if (!fixed && p == NULL)
			continue;
		if (!fixed)
			trial.s.profile = *p;
		trial.s.training.recompute = recompute;
		draft_settle(&trial, sr->c);
		try_product(sr, &trial, product);
	}
}

/* Records what the search set. */
static void mark_chosen(struct draft *d)
{
	for (size_t i = 0; i < knob_count(); i++)
		if ((knob_at(i)->flags & KNOB_F_AUTO) && d->origin[i] < ORIGIN_FILE)
			d->origin[i] = ORIGIN_AUTO;
}

/* No product of tp, pp and cp was even tried: what is given does not divide the GPUs. */
static enum err_code explain_product(const struct search *sr, struct err *e)
{
	static const char *const keys[] = { "tp", "pp", "cp" };
	const struct layout *y = &sr->base->s.layout;
	const int64_t values[] = { y->tp, y->pp, y->cp };
	int64_t product = 1;
	const char *key = "tp";

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (!is_fixed(sr->base, keys[i]))
			continue;
		product *= values[i];
		if (values[i] > 1)
			key = keys[i];
	}
	return err_set(e, ERR_ILLEGAL, key, "no layout is legal with what is given: tp x pp x cp = %lld of %lld GPUs", (long long)product,
		(long long)sr->base->s.cluster.gpus);
}

static enum err_code explain_failure(const struct search *sr, struct err *e)
{
	if (sr->first.code != ERR_OK) {
		if (e != NULL)
			*e = sr->first;
		return sr->first.code;
	}
	if (sr->base->dp_given > 0)
		return err_set(e, ERR_ILLEGAL, "dp", "dp %lld: no tp, pp and cp give it on %lld GPUs", (long long)sr->base->dp_given,
			(long long)sr->base->s.cluster.gpus);
	return explain_product(sr, e);
}

enum err_code search_choose(struct draft *d, const struct catalog *c, struct plan *p, struct err *e)
{
	struct search sr = { .base = d, .c = c };
	bool recompute_fixed = is_fixed(d, "recompute");
	int32_t first = recompute_fixed ? d->s.training.recompute : RECOMPUTE_NONE, last = recompute_fixed ? first : RECOMPUTE_FULL;
	enum err_code code = model_check(&d->s.model, e);

	if (code != ERR_OK)
		return code;
	for (int32_t r = first; r <= last && !fits_with_room(&sr); r++)
		for (int64_t product = 1; product <= d->s.cluster.gpus && !fits_with_room(&sr); product++)
			if (d->s.cluster.gpus % product == 0 || (is_fixed(d, "tp") && is_fixed(d, "pp")))
				try_frameworks(&sr, r, product);
	if (!sr.found)
		return explain_failure(&sr, e);
	*d = sr.best;
	*p = sr.plan;
	mark_chosen(d);
	return ERR_OK;
}

/* Bytes of model states that any framework must spread over the cards: a lower bound on GPUs. */
static double least_state_bytes(const struct draft *d, const struct catalog *c)
{
	double least = HUGE_VAL;

	for (int32_t f = FRAMEWORK_MEGATRON; f < FRAMEWORK_LESSON; f++) {
		struct scenario s = d->s;
		const struct profile *p = catalog_default_profile(c, f);
		struct memory_ledger l;

		if (!is_fixed(d, "framework") && p != NULL)
			s.profile = *p;
		l = memory_ledger_of(&s);
		least = fmin(least, l.weights + (s.training.adapter != ADAPTER_NONE ? 0 : l.gradients + l.gradient_accumulation +
			(s.training.offload == OFFLOAD_NONE ? l.master_weights + l.optimizer : 0)));
	}
	if (d->s.training.adapter != ADAPTER_NONE || d->s.training.offload != OFFLOAD_NONE || d->s.training.optimizer == OPTIMIZER_PAGED_ADAMW ||
			d->s.training.optimizer == OPTIMIZER_PAGED_ADAM8BIT)
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

int64_t search_fewest_gpus(const struct draft *d, const struct catalog *c, int64_t max_gpus, struct draft *best, struct plan *p)
{
	double bound = least_state_bytes(d, c) / fmax(1, (double)memory_capacity_bytes(&d->s));
	int64_t per_node = num_max(1, d->s.cluster.gpus_per_node);

	for (int64_t n = 1; n <= max_gpus; n = next_size(n, per_node)) {
		struct draft trial = *d;
		struct err e;

		if ((double)n < bound)
			continue;
		trial.s.cluster.gpus = n;
		draft_settle(&trial, c);
		if (search_choose(&trial, c, p, &e) == ERR_OK && p->verdict.fits) {
			*best = trial;
			return n;
		}
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
		changes = changes || (strcmp(now, r->value[i]) != 0 && (!(k->flags & KNOB_F_AUTO) || is_fixed(d, k->key) || k->preset == PRESET_PROFILE));
		if (draft_set(&way->draft, c, k, r->value[i], ORIGIN_FLAG, &e) != ERR_OK)
			return false;
		len += (size_t)snprintf(way->change + len, sizeof way->change - len, "%s--%s %s", i > 0 ? " " : "", k->key, r->value[i]);
	}
	/* A profile of another framework is no change of this one. */
	if (!changes || (is_fixed(d, "framework") && way->draft.s.profile.framework != d->s.profile.framework))
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

size_t search_ways_out(const struct draft *d, const struct catalog *c, struct way_out *ways, size_t cap)
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
