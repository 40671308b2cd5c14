/* The automatic choice. Order of preference: fits with room, fits tightly, does not fit; then predicted throughput; where the
 * speed of the GPU is not known: less recompute, smaller tp pp cp, more headroom, framework table order. Every framework,
 * recompute mode, product tp pp cp, ZeRO stage, chunk count and micro-batch that is open is tried; memory is looked at first, and
 * time only where it fits. A larger micro-batch is tried only while the smaller one fits: memory grows with it, but for gradients
 * that are whole while micro-batches accumulate, so the batch in one piece is tried as well. Of expert parallelism the widest
 * legal degrees inside a node, inside four nodes and of all are tried. */
#include "search.h"

#include "compute.h"
#include "num.h"
#include "rules.h"
#include "text.h"

/* Tokens of a piece of the sequence. No published run times smaller ones, so their speed is not known well enough to choose them.
 */
#define CP_PIECE_LEAST 4096
/* A wider split of the model must win by this factor: less is below what the time model can tell, and more ranks are more to go
 * wrong. */
#define NEAR_TIE 1.01

enum { DEGREES_MAX = 32, PP_MOST = 128, MICRO_BATCH_MOST = 16, CHUNKS_MOST = 8, EXPERT_DEGREES = 3 };

/* What is open, and the best so far. */
struct search {
	const struct draft *base;
	const struct catalog *c;
	struct draft best;
	struct plan plan;
	bool found;
	int64_t product;  /* of the best */
	struct err first; /* why the first candidate was illegal */
};

/* Degrees to try: the given one, or the divisors of n up to most. */
static size_t degrees(const struct draft *d, size_t knob, int64_t value, int64_t n, int64_t most, int64_t *out)
{
	size_t count = 0;

	if (draft_given(d, knob)) {
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

/* Where the speed is not known candidates come in order of preference, so an equal one wins only inside the same recompute mode
 * and product, by headroom. */
static bool better_unknown(const struct search *sr, const struct draft *d, const struct plan *p)
{
	if (product_of(&d->s) != sr->product || d->s.training.recompute != sr->best.s.training.recompute)
		return false;
	return p->worst.need_bytes < sr->plan.worst.need_bytes;
}

static bool better(const struct search *sr, const struct draft *d, const struct plan *p)
{
	int rank = rank_of(p), best = rank_of(&sr->plan);
	double margin;

	if (rank != best)
		return rank > best;
	if (rank == 0)
		return p->worst.need_bytes < sr->plan.worst.need_bytes;
	if (!p->step.known || !sr->plan.step.known)
		return better_unknown(sr, d, p);
	margin = product_of(&d->s) > sr->product ? NEAR_TIE : 1;
	return p->throughput.tokens_per_s > margin * sr->plan.throughput.tokens_per_s;
}

/* Degrees of expert parallelism to try: the widest legal one inside a node, inside a few nodes, and of all. Narrow ones send over
 * fast links and shard little; wide ones the other way round. */
static size_t expert_degrees(const struct draft *d, int64_t etp, int64_t out[EXPERT_DEGREES])
{
	const struct scenario *s = &d->s;
	uint32_t can = framework_rules_table[s->profile.framework].can;
	int64_t pool = can & CAN_ETP ? s->cluster.gpus / s->layout.pp : scenario_dp(s),
		node = num_max(1, s->cluster.gpus_per_node / etp);
	const int64_t most[EXPERT_DEGREES] = { node, 4 * node, s->model.experts };
	size_t n = 0;

	if (!model_is_moe(&s->model) || !(can & CAN_EP) || draft_given(d, KNOB_OF(layout.ep))) {
		out[n++] = s->layout.ep;
		return n;
	}
	for (int i = 0; i < EXPERT_DEGREES; i++) {
		int64_t widest = 1;

		for (int64_t ep = 1; ep <= num_min(num_min(s->model.experts, pool), most[i]); ep++)
			if (s->model.experts % ep == 0 && pool % (ep * etp) == 0)
				widest = ep;
		if (n == 0 || widest != out[n - 1])
			out[n++] = widest;
	}
	return n;
}

/* Evaluates a candidate and keeps it if it is the best; returns whether its memory fits. */
static bool consider(struct search *sr, const struct draft *candidate)
{
	struct plan p;
	struct err e;

	if (candidate->dp_given > 0 && scenario_dp(&candidate->s) != candidate->dp_given)
		return false;
	if (plan_evaluate_memory(&candidate->s, &p, &e) != ERR_OK) {
		if (sr->first.code == ERR_OK)
			sr->first = e;
		return false;
	}
	if (rank_of(&p) > 0 && rank_of(&p) >= rank_of(&sr->plan))
		plan_evaluate_time(&candidate->s, &p);
	if (!sr->found || better(sr, candidate, &p)) {
		sr->found = true;
		sr->product = product_of(&candidate->s);
		sr->best = *candidate;
		sr->plan = p;
	}
	return rank_of(&p) > 0;
}

int64_t search_next_micro_batch(const struct scenario *s, int64_t b, bool fitted)
{
	const int64_t whole = s->training.global_batch / num_max(1, scenario_dp(s)), next = fitted ? 2 * b : whole;

	return next > b && next <= MICRO_BATCH_MOST ? next : 0;
}

static void try_micro_batches(struct search *sr, struct draft *d)
{
	bool fixed = draft_given(d, KNOB_OF(training.micro_batch));
	int64_t b = 1;

	while (b > 0) {
		bool fitted;

		draft_settle(d, sr->c);
		if (!fixed)
			d->s.training.micro_batch = b;
		fitted = consider(sr, d);
		b = fixed ? 0 : search_next_micro_batch(&d->s, b, fitted);
	}
}

/* Dense and expert widths of tensor parallelism, and degrees of expert parallelism. */
static void try_expert_widths(struct search *sr, struct draft *d)
{
	struct layout *y = &d->s.layout;
	bool fixed = draft_given(d, KNOB_OF(layout.etp));
	const int64_t widths[2] = { fixed ? y->etp : 1, y->tp };
	size_t n = !fixed && model_is_moe(&d->s.model) && y->tp > 1 ? 2 : 1;

	if (!fixed)
		d->origin[KNOB_OF(layout.etp)] = ORIGIN_AUTO;
	for (size_t i = 0; i < n; i++) {
		int64_t degrees_of[EXPERT_DEGREES];
		size_t n_degrees;

		y->etp = widths[i];
		n_degrees = expert_degrees(d, y->etp, degrees_of);
		for (size_t k = 0; k < n_degrees; k++) {
			struct draft trial = *d;

			trial.s.layout.ep = degrees_of[k];
			try_micro_batches(sr, &trial);
		}
	}
}

/* Chunk counts: one, two, and the most up to eight that divide the layers. */
static size_t chunk_counts(const struct draft *d, int64_t out[3])
{
	const struct layout *y = &d->s.layout;
	int64_t per_rank = d->s.model.layers / y->pp, most = 1;
	bool interleaved = draft_given(d, KNOB_OF(layout.schedule)) && schedule_table[y->schedule].v_min > 1;
	bool can = (framework_rules_table[d->s.profile.framework].can & CAN_VPP) && y->pp > 1 &&
		(interleaved || !draft_given(d, KNOB_OF(layout.schedule)));
	size_t n = 0;

	if (draft_given(d, KNOB_OF(layout.vpp))) {
		out[n++] = y->vpp;
		return n;
	}
	if (!interleaved || y->pp == 1)
		out[n++] = 1;
	for (int64_t v = 2; can && v <= num_min(CHUNKS_MOST, per_rank); v++)
		if (d->s.model.layers % (y->pp * v) == 0) {
			if (most == 1)
				out[n++] = v;
			most = v;
		}
	if (most > 2 && n < 3 && out[n - 1] != most)
		out[n++] = most;
	return n;
}

/* One framework, recompute, tp, pp, cp: every ZeRO stage and chunk count that is open. */
static void try_layout(struct search *sr, struct draft *d)
{
	struct layout *y = &d->s.layout;
	const struct framework_rules *rules = &framework_rules_table[d->s.profile.framework];
	bool zero_fixed = draft_given(d, KNOB_OF(layout.zero));
	int64_t low = zero_fixed ? y->zero : rules->zero_min,
		high = zero_fixed ? low
		: y->pp > 1       ? rules->zero_max_with_pp
				  : rules->zero_max;
	int64_t chunks[3];
	size_t n = chunk_counts(d, chunks);

	if (!zero_fixed)
		d->origin[KNOB_OF(layout.zero)] = ORIGIN_AUTO; /* settling leaves it alone */
	for (int64_t zero = high; zero >= low; zero--)
		for (size_t i = 0; i < n; i++) {
			struct draft trial = *d;

			trial.s.layout.zero = zero;
			trial.s.layout.vpp = chunks[i];
			if (!draft_given(d, KNOB_OF(layout.schedule)))
				trial.s.layout.schedule = chunks[i] > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
			try_expert_widths(sr, &trial);
		}
}

/* Every (tp, pp, cp) of one product. */
static void try_product(struct search *sr, const struct draft *d, int64_t product)
{
	int64_t tps[DEGREES_MAX], pps[DEGREES_MAX];
	const struct scenario *s = &d->s;
	size_t n_tp =
		degrees(d, KNOB_OF(layout.tp), s->layout.tp, product, num_min(s->cluster.gpus_per_node, s->cluster.gpus), tps);

	for (size_t i = 0; i < n_tp; i++) {
		size_t n_pp = product % tps[i] == 0
			? degrees(d, KNOB_OF(layout.pp), s->layout.pp, product / tps[i], num_min(s->model.layers, PP_MOST), pps)
			: 0;

		for (size_t j = 0; j < n_pp; j++) {
			int64_t cp = product / (tps[i] * pps[j]);
			struct draft trial;

			if (tps[i] * pps[j] * cp != product || (draft_given(d, KNOB_OF(layout.cp)) && cp != s->layout.cp))
				continue;
			if (!draft_given(d, KNOB_OF(layout.cp)) && cp > 1 &&
				((cp & (cp - 1)) != 0 || s->training.seq / cp < CP_PIECE_LEAST))
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
	bool fixed = draft_given(base, KNOB_OF(profile.framework)) || draft_given(base, knob_index(knob_find("profile")));

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

/* No product of tp, pp and cp was even tried: what is given does not divide the GPUs. Names a setting whose change alone helps,
 * if there is one. */
static enum err_code explain_product(const struct search *sr, struct err *e)
{
	static const char *const keys[] = { "tp", "pp", "cp" };
	const struct layout *y = &sr->base->s.layout;
	const int64_t values[] = { y->tp, y->pp, y->cp }, gpus = sr->base->s.cluster.gpus;
	int64_t product = 1, value = 1, free = gpus;
	const char *key = "tp";
	char legal[128];

	for (size_t i = 0; i < 3; i++)
		product *= draft_given(sr->base, knob_index(knob_find(keys[i]))) ? values[i] : 1;
	for (size_t i = 0; i < 3; i++)
		if (draft_given(sr->base, knob_index(knob_find(keys[i]))) && values[i] > 1 &&
			(value == 1 || gpus % (product / values[i]) == 0)) {
			key = keys[i];
			value = values[i];
			free = gpus % (product / value) == 0 ? gpus / (product / value) : gpus;
		}
	return err_set(e, ERR_ILLEGAL, key,
		"no layout is legal: tp x pp x cp = %lld, as given, does not divide %lld %s; legal here: %s", (long long)product,
		(long long)gpus, text_plural(gpus, "GPU", "GPUs"), rules_divisors(free, gpus, legal, sizeof legal));
}

static enum err_code explain_failure(const struct search *sr, struct err *e)
{
	if (sr->first.code != ERR_OK) {
		if (e != NULL)
			*e = sr->first;
		return sr->first.code;
	}
	if (sr->base->dp_given > 0)
		return err_set(e, ERR_ILLEGAL, "dp", "dp %lld: no tp, pp and cp give it on %lld %s",
			(long long)sr->base->dp_given, (long long)sr->base->s.cluster.gpus,
			text_plural(sr->base->s.cluster.gpus, "GPU", "GPUs"));
	return explain_product(sr, e);
}

enum err_code search_choose(struct draft *d, const struct catalog *c, struct plan *p, struct err *e)
{
	struct search sr = { .base = d, .c = c };
	bool known = compute_known(&d->s) && d->s.profile.framework != FRAMEWORK_LESSON &&
		d->s.profile.framework != FRAMEWORK_ZERO_PAPER;
	bool recompute_fixed = draft_given(d, KNOB_OF(training.recompute));
	int32_t first = recompute_fixed ? d->s.training.recompute : RECOMPUTE_NONE,
		last = recompute_fixed ? first : RECOMPUTE_FULL;
	enum err_code code = model_check(&d->s.model, e);

	if (code != ERR_OK)
		return code;
	for (int32_t r = first; r <= last && (known || !fits_with_room(&sr)); r++)
		for (int64_t product = 1; product <= d->s.cluster.gpus && (known || !fits_with_room(&sr)); product++)
			if (d->s.cluster.gpus % product == 0 ||
				(draft_given(d, KNOB_OF(layout.tp)) && draft_given(d, KNOB_OF(layout.pp))))
				try_frameworks(&sr, r, product);
	if (!sr.found)
		return explain_failure(&sr, e);
	*d = sr.best;
	mark_chosen(d);
	return plan_evaluate(&d->s, p, e);
}
