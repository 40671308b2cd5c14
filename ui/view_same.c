/* Other schedules on the same ranks and micro-batches: the three that tell most, by closed forms. */
#include "view_internal.h"

#include "ui_text.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>

enum { LABEL_W = 9, SHOWN_MAX = 3 };

/* All schedules that are legal here. */
struct rivals {
	struct schedule_estimate of[SCHEDULE_COUNT];
	bool legal[SCHEDULE_COUNT];
	int32_t shown[SHOWN_MAX];
	int n;
};

/* Below 0: x is better. Of equals the exact one. */
static int compare(double x, double y)
{
	return x < y ? -1 : x > y;
}

static int by_ticks(const struct schedule_estimate *x, const struct schedule_estimate *y)
{
	const int ticks = compare(x->ticks, y->ticks), peak = compare(x->peak_micro_batches, y->peak_micro_batches);
	return ticks != 0 ? ticks : peak != 0 ? peak : (int)y->exact - (int)x->exact;
}

static int by_peak(const struct schedule_estimate *x, const struct schedule_estimate *y)
{
	const int peak = compare(x->peak_micro_batches, y->peak_micro_batches);
	return peak != 0 ? peak : by_ticks(x, y);
}

/* The best of those that take at most `ticks`; of equals the last, which is the newest. */
static int32_t best_of(
	const struct rivals *r, double ticks, int (*order)(const struct schedule_estimate *, const struct schedule_estimate *))
{
	int32_t best = SCHEDULE_1F1B;
	for (int32_t s = 0; s < SCHEDULE_COUNT; s++) {
		if (r->legal[s] && r->of[s].ticks <= ticks && order(&r->of[s], &r->of[best]) <= 0)
			best = s;
	}
	return best;
}

static void add(struct rivals *r, int32_t schedule, int32_t present)
{
	for (int i = 0; i < r->n; i++) {
		if (r->shown[i] == schedule)
			return;
	}
	if (schedule != present)
		r->shown[r->n++] = schedule;
}

/* The plain one, the fastest, and of those no slower than 1F1B the one that holds least. */
static void choose(struct rivals *r, const struct pipeline *pl)
{
	for (int32_t s = 0; s < SCHEDULE_COUNT; s++)
		r->legal[s] = schedule_estimate(s, pl, &r->of[s]);
	add(r, pl->schedule == SCHEDULE_GPIPE ? SCHEDULE_1F1B : SCHEDULE_GPIPE, pl->schedule);
	add(r, best_of(r, DBL_MAX, by_ticks), pl->schedule);
	add(r, best_of(r, r->of[SCHEDULE_1F1B].ticks, by_peak), pl->schedule);
}

static void write_rival(const struct schedule_estimate *x, bool first, char *text, size_t cap)
{
	const char *key = schedule_table[x->pl.schedule].key;
	char name[48];
	if (x->pl.v > 1 && schedule_table[x->pl.schedule].v_max > 2)
		(void)snprintf(name, sizeof(name), "%s x%" PRId64, key, x->pl.v);
	else
		(void)snprintf(name, sizeof(name), "%s", key);
	if (first)
		(void)snprintf(text, cap,
			x->exact ? _("%s %.6g ticks, %.4g in flight") : _("%s about %.6g ticks, %.4g in flight"), name, x->ticks,
			x->peak_micro_batches);
	else
		(void)snprintf(text, cap, x->exact ? _(";  %s %.6g, %.4g") : _(";  %s about %.6g, %.4g"), name, x->ticks,
			x->peak_micro_batches);
}

void view_same(const struct view *v, int x, int y)
{
	struct rivals r = { .n = 0 };
	if (v->a->plan.pipeline.p == 1)
		return;
	choose(&r, &v->a->plan.pipeline);
	x += LABEL_W;
	for (int i = 0; i < r.n; i++) {
		char text[120];
		write_rival(&r.of[r.shown[i]], i == 0, text, sizeof(text));
		if (x + canvas_text_width(text) > v->c->w)
			return;
		if (i == 0)
			(void)canvas_text(v->c, x - LABEL_W, y, LABEL_W, ROLE_HEAD, _("SAME p m"));
		x += canvas_text(v->c, x, y, v->c->w - x, ROLE_TEXT, text);
	}
}
