#include "advice.h"

#include "cost.h"
#include "num.h"
#include "settings.h"
#include "sink.h"
#include "ui_text.h"
#include "ways.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Settings worth trying, those that leave the training run as it is first. One slice each. */
static const struct {
	const char *key;
	enum advice_group group;
} tried[] = {
	{ "micro-batch", ADVICE_SAME },
	{ "recompute", ADVICE_SAME },
	{ "tp", ADVICE_SAME },
	{ "pp", ADVICE_SAME },
	{ "cp", ADVICE_SAME },
	{ "zero", ADVICE_SAME },
	{ "sequence-parallel", ADVICE_SAME },
	{ "framework", ADVICE_SAME },
	{ "loss", ADVICE_SAME },
	{ "attention", ADVICE_SAME },
	{ "offload", ADVICE_SAME },
	{ "optimizer", ADVICE_CHANGES },
	{ "precision", ADVICE_CHANGES },
	{ "seq", ADVICE_CHANGES },
	{ "adapter", ADVICE_CHANGES },
};

enum { N_TRIED = (int)(sizeof(tried) / sizeof(tried[0])), GPUS_MAX = 16384, STOPS_CAP = 512 };

/* One candidate of a setting. */
struct trial {
	struct draft draft;
	struct plan plan;
	bool found, fits;
	size_t distance;
	int64_t value;
};

void advice_start(struct advice *a)
{
	a->n = a->done = 0;
	a->gpus = 0;
	a->complete = false;
}

double advice_progress(const struct advice *a)
{
	const size_t all = N_TRIED + 1 + WAY_MAX + 1;
	return a->complete ? 1 : (double)(a->done < all ? a->done : all) / (double)all;
}

/* Group by group; in a group a new layout behind changes of one setting, then least lost speed first, where it is known, then
 * more room. */
static bool comes_before(const struct advice_row *x, const struct advice_row *y)
{
	const bool single = x->from[0] != '\0';
	if (x->group != y->group)
		return x->group < y->group;
	if (single != (y->from[0] != '\0'))
		return single;
	const bool timed = x->group < ADVICE_HARDWARE && x->tokens_per_s > 0 && y->tokens_per_s > 0;
	if (timed && (x->tokens_per_s < y->tokens_per_s || x->tokens_per_s > y->tokens_per_s))
		return x->tokens_per_s > y->tokens_per_s;
	return x->headroom_bytes > y->headroom_bytes;
}

static void insert(struct advice *a, const struct advice_row *row)
{
	size_t at = a->n;
	if (a->n == ADVICE_MAX)
		return;
	while (at > 0 && comes_before(row, &a->row[at - 1]))
		at--;
	memmove(&a->row[at + 1], &a->row[at], (a->n - at) * sizeof(a->row[0]));
	a->row[at] = *row;
	a->n++;
}

static void fill_outcome(struct advice_row *row, const struct draft *d, const struct plan *p, enum advice_group group)
{
	row->group = p->verdict.fits ? group : ADVICE_NOT_ENOUGH;
	row->need_bytes = p->worst.need_bytes;
	row->headroom_bytes = p->verdict.headroom_bytes;
	row->tight = p->verdict.tight;
	row->step_s = p->step.known ? p->step.step_s : 0;
	row->tokens_per_s = p->step.known ? p->throughput.tokens_per_s : 0;
	row->usd = p->step.known ? cost_of(&d->s, &p->step).usd : 0;
	row->draft = *d;
}

/* The nearest value that fits; of those that do not, the one with the smallest need. */
static void consider(struct trial *best, const struct draft *d, const struct plan *p, size_t distance, int64_t value)
{
	const bool better = !best->found || (p->verdict.fits && !best->fits) ||
		(p->verdict.fits == best->fits && p->verdict.fits && distance < best->distance) ||
		(!p->verdict.fits && !best->fits && p->worst.need_bytes < best->plan.worst.need_bytes);
	if (better)
		*best = (struct trial){ *d, *p, true, p->verdict.fits, distance, value };
}

/* Nothing is trained without an optimizer, or with an estimator of states only. */
static bool is_real(const struct knob *k, int64_t value)
{
	if (strcmp(k->key, "optimizer") == 0)
		return value != OPTIMIZER_NONE;
	return strcmp(k->key, "framework") != 0 || (value > FRAMEWORK_AUTO && value < FRAMEWORK_LESSON);
}

static void try_setting(struct advice *a, size_t i, const struct draft *d, const struct plan *p, const struct catalog *c)
{
	const struct knob *k = knob_find(tried[i].key);
	struct knob_stop stops[STOPS_CAP];
	struct trial best = { .found = false };
	size_t at = 0;
	const size_t n = k == NULL ? 0 : knob_stops(k, c, d, stops, STOPS_CAP, &at);
	for (size_t s = 0; s < n; s++) {
		struct draft next = *d;
		struct knob_moves moves = { 0 };
		struct plan plan;
		struct err e;
		if (s == at || !stops[s].legal || !is_real(k, stops[s].value) ||
			draft_put(&next, c, k, stops[s].value, &moves, &e) != ERR_OK ||
			plan_evaluate(&next.s, &plan, &e) != ERR_OK)
			continue;
		if (plan.verdict.headroom_bytes > p->verdict.headroom_bytes)
			consider(&best, &next, &plan, s > at ? s - at : at - s, stops[s].value);
	}
	if (!best.found)
		return;
	struct advice_row row = { .group = tried[i].group };
	(void)snprintf(row.what, sizeof(row.what), "%s", k->key);
	(void)knob_format_pretty(k, &d->s, row.from, sizeof(row.from));
	(void)knob_format_pretty(k, &best.draft.s, row.to, sizeof(row.to));
	fill_outcome(&row, &best.draft, &best.plan, tried[i].group);
	insert(a, &row);
}

/* "--precision pure-bf16 --optimizer adam8bit" as the settings pane says it: "precision pure-bf16, optimizer adam8bit". */
static void name_change(const struct way_out *way, char *buf, size_t cap)
{
	struct sink out;
	sink_init(&out, buf, cap, NULL, NULL);
	for (const char *at = way->change; *at != '\0';) {
		const char *flag = strstr(at, "--"), *next = flag == NULL ? NULL : strstr(flag + 2, " --");
		if (flag == NULL)
			break;
		const int len = next == NULL ? (int)strlen(flag + 2) : (int)(next - flag - 2);
		sink_printf(&out, "%s%.*s", at == way->change ? "" : ", ", len, flag + 2);
		at = flag + 2 + len;
	}
}

/* A change for which everything that is open was chosen anew; that choice goes for speed, so it can leave less room than there
 * is. */
static void try_recipe(struct advice *a, size_t i, const struct draft *d, const struct plan *p, const struct catalog *c)
{
	struct way_out way;
	struct plan plan;
	struct err e;
	if (!ways_at(d, c, i, &way) || plan_evaluate(&way.draft.s, &plan, &e) != ERR_OK || !plan.verdict.fits ||
		plan.verdict.headroom_bytes <= p->verdict.headroom_bytes)
		return;
	struct advice_row row = { .what = "" };
	name_change(&way, row.what, sizeof(row.what));
	(void)snprintf(row.to, sizeof(row.to), "%s", _("in a new layout"));
	fill_outcome(&row, &way.draft, &plan, ADVICE_LAYOUT);
	insert(a, &row);
}

/* The same run, with everything that is open in its layout chosen anew. */
static void try_layout(struct advice *a, const struct draft *d, const struct plan *p, const struct catalog *c)
{
	struct draft next = *d;
	struct plan plan;
	struct err e;
	if (search_choose(&next, c, &plan, &e) != ERR_OK || !plan.verdict.fits ||
		plan.verdict.headroom_bytes <= p->verdict.headroom_bytes)
		return;
	struct advice_row row = { .what = "layout" };
	(void)snprintf(row.to, sizeof(row.to), "%s", _("chosen anew"));
	fill_outcome(&row, &next, &plan, ADVICE_SAME);
	insert(a, &row);
}

/* One size of the cluster at a time. Returns whether that was the last. */
static bool try_gpus(struct advice *a, const struct draft *d, const struct catalog *c)
{
	struct draft best;
	struct plan plan;
	a->gpus = ways_next_size(d, a->gpus);
	if (a->gpus > GPUS_MAX)
		return true;
	if (!ways_size_fits(d, c, a->gpus, &best, &plan))
		return false;
	struct advice_row row = { .group = ADVICE_HARDWARE };
	(void)snprintf(row.what, sizeof(row.what), "gpus");
	(void)snprintf(row.from, sizeof(row.from), "%" PRId64, d->s.cluster.gpus);
	(void)snprintf(row.to, sizeof(row.to), "%" PRId64, a->gpus);
	fill_outcome(&row, &best, &plan, ADVICE_HARDWARE);
	insert(a, &row);
	return true;
}

void advice_step(struct advice *a, const struct draft *d, const struct plan *p, const struct catalog *c)
{
	/* The batch would follow a new layout where it is open: speeds can be compared only for the same run. */
	struct draft same = *d;
	same.origin[knob_index(knob_find("global-batch"))] = ORIGIN_FLAG;
	const size_t i = a->done++;
	if (i < N_TRIED)
		try_setting(a, i, d, p, c);
	else if (i == N_TRIED)
		try_layout(a, &same, p, c);
	else if (i <= N_TRIED + WAY_MAX)
		try_recipe(a, i - N_TRIED - 1, &same, p, c);
	else
		a->complete = try_gpus(a, &same, c);
}

const struct advice_row *advice_best(const struct advice *a)
{
	/* A change of one setting comes before a layout chosen anew, that before a change of what is trained. */
	const bool single = a->n > 0 && a->row[0].group == ADVICE_SAME && a->done >= N_TRIED,
		   settled = a->complete || single || (a->n > 0 && a->row[0].group <= ADVICE_CHANGES && a->done > N_TRIED);
	return settled && a->n > 0 && a->row[0].group != ADVICE_NOT_ENOUGH ? &a->row[0] : NULL;
}
