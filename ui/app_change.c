#include "app_internal.h"

#include "cost.h"
#include "num.h"
#include "search.h"
#include "ui_text.h"

#include <stdio.h>
#include <string.h>

static void evaluate_stages(struct app *a)
{
	struct memory_shared shared;
	memory_prepare(&a->draft.s, &shared);
	a->n_stages = (size_t)num_max(1, num_min(a->draft.s.layout.pp, STAGE_LIST_MAX));
	for (size_t i = 0; i < a->n_stages; i++)
		memory_stage_of(&a->draft.s, &shared, (int64_t)i, &a->stages[i]);
}

/* The nearest stop in a direction, legal or not: shown when the step itself is refused. */
static void preview_neighbour(const struct app *a, const struct knob *k, int direction, struct preview *p)
{
	struct knob_stop stops[LIST_STOPS_MAX];
	size_t at = 0;
	const size_t n = knob_stops(k, a->catalog, &a->draft, stops, LIST_STOPS_MAX, &at);
	p->value[0] = '\0';
	if (direction < 0 && at > 0 && n > 0)
		(void)settings_stop_text(k, a->catalog, &a->draft, stops[at - 1].value, p->value, sizeof(p->value));
	if (direction > 0 && at + 1 < n)
		(void)settings_stop_text(k, a->catalog, &a->draft, stops[at + 1].value, p->value, sizeof(p->value));
}

/* Where 0 stands for what the engine takes, a step starts from that. */
static void fill_automatic(const struct knob *k, struct draft *d)
{
	if (strcmp(k->key, "price") == 0 && d->s.cost.price <= 0)
		d->s.cost.price = d->s.cluster.gpu.usd_per_hour;
	if (strcmp(k->key, "tokens") == 0 && d->s.cost.tokens == 0)
		d->s.cost.tokens = num_round(cost_tokens(&d->s));
}

void change_remember(struct app *a)
{
	const struct knob *k = app_knob(a);
	if (k->type != KNOB_PRESET && settings_has_stops(k))
		a->typed = (struct typed_stop){ true, a->focus, knob_get(k, &a->draft.s) };
}

/* A step that would pass over the number that was typed stops there. */
static enum err_code step(
	const struct app *a, struct draft *d, const struct knob *k, int steps, struct knob_moves *moves, struct err *e)
{
	const struct typed_stop *t = &a->typed;
	const int64_t from = knob_get(k, &d->s);
	struct draft typed = *d;
	struct knob_moves typed_moves = { 0 };
	struct err ignored;
	const enum err_code code = draft_step(d, a->catalog, k, steps, moves, e);
	const int64_t to = code == ERR_OK ? knob_get(k, &d->s) : steps < 0 ? INT64_MIN : INT64_MAX;
	const bool passed =
		t->set && t->knob == knob_index(k) && (from < t->value) == (t->value < to) && t->value != from && t->value != to;
	if (!passed || (steps != 1 && steps != -1) ||
		draft_put(&typed, a->catalog, k, t->value, &typed_moves, &ignored) != ERR_OK)
		return code;
	*d = typed;
	*moves = typed_moves;
	return ERR_OK;
}

static void preview_one(const struct app *a, int direction, struct preview *p)
{
	const struct knob *k = app_knob(a);
	struct draft next = a->draft;
	struct knob_moves moves = { 0 };
	struct plan plan;
	struct err e = { 0 };
	*p = (struct preview){ 0 };
	if (!settings_has_stops(k))
		return;
	fill_automatic(k, &next);
	if (step(a, &next, k, direction, &moves, &e) != ERR_OK || plan_evaluate(&next.s, &plan, &e) != ERR_OK) {
		preview_neighbour(a, k, direction, p);
		(void)snprintf(p->reason, sizeof(p->reason), "%s", e.msg);
		return;
	}
	p->possible = true;
	p->verdict = plan.verdict;
	if (plan.step.known) {
		p->step_s = plan.step.step_s;
		p->usd = cost_of(&next.s, &plan.step).usd;
	}
	p->change_bytes = plan.worst.need_bytes - a->plan.worst.need_bytes;
	p->same = p->change_bytes == 0 && plan.verdict.headroom_bytes == a->plan.verdict.headroom_bytes;
	(void)knob_format_pretty(k, &next.s, p->value, sizeof(p->value));
}

void change_preview(struct app *a)
{
	preview_one(a, -1, &a->preview[0]);
	preview_one(a, +1, &a->preview[1]);
}

void change_refresh(struct app *a)
{
	struct err e;
	if (plan_evaluate(&a->draft.s, &a->plan, &e) != ERR_OK)
		app_say(a, "%s", e.msg);
	evaluate_stages(a);
	change_preview(a);
	advice_start(&a->advice);
	space_start(&a->space);
	a->space_focus = 0;
	a->changed = true;
}

/* "pp 4 became 1, tp 8 became 4. u undoes all." */
static void say_moves(struct app *a, const struct knob_moves *moves)
{
	char text[APP_MESSAGE_CAP];
	size_t len = 0;
	for (size_t i = 0; i < moves->n && i < KNOB_MOVED_MAX; i++) {
		const int n = snprintf(text + len, sizeof(text) - len, _("%s%s %s became %s"), i == 0 ? "" : ", ",
			knob_at(moves->moved[i].knob)->key, moves->moved[i].from, moves->moved[i].to);
		if (n < 0 || (size_t)n >= sizeof(text) - len)
			break;
		len += (size_t)n;
	}
	if (len > 0)
		app_say(a, _("%s. u undoes it."), text);
}

enum err_code change_adopt(struct app *a, const struct draft *d, const struct knob_moves *moves, struct err *e)
{
	struct plan plan;
	const enum err_code code = plan_evaluate(&d->s, &plan, e);
	if (code != ERR_OK)
		return code;
	a->draft = *d;
	history_push(&a->history, d);
	change_refresh(a);
	say_moves(a, moves);
	return ERR_OK;
}

bool change_take(struct app *a, enum err_code code, const struct draft *d, const struct knob_moves *moves, struct err *e)
{
	if (code == ERR_OK)
		code = change_adopt(a, d, moves, e);
	if (code != ERR_OK)
		app_say(a, "%s", e->msg);
	return code == ERR_OK;
}

bool change_has_stops(struct app *a, const struct knob *k)
{
	if (k->flags & KNOB_F_DERIVED)
		app_say(a, _("%s is derived: it follows from gpus, tp, pp and cp."), k->key);
	else if (!settings_has_stops(k))
		app_say(a, _("%s has no steps: = types a value."), k->key);
	return settings_has_stops(k);
}

void change_step(struct app *a, int steps)
{
	const struct knob *k = app_knob(a);
	struct draft next = a->draft;
	struct knob_moves moves = { 0 };
	struct err e = { 0 };
	if (!change_has_stops(a, k))
		return;
	fill_automatic(k, &next);
	const enum err_code code = step(a, &next, k, steps, &moves, &e);
	(void)change_take(a, code, &next, &moves, &e);
}

void change_put(struct app *a, const struct knob *k, int64_t value)
{
	struct draft next = a->draft;
	struct knob_moves moves = { 0 };
	struct err e = { 0 };
	if (!change_has_stops(a, k))
		return;
	const enum err_code code = draft_put(&next, a->catalog, k, value, &moves, &e);
	(void)change_take(a, code, &next, &moves, &e);
}

/* Sets a knob to its default: the table's; for one that is chosen automatically the choice with everything else fixed; for one
 * that a preset or a rule fills the value it has when the program starts. */
static enum err_code set_default(
	const struct app *a, const struct knob *k, struct draft *d, struct knob_moves *moves, struct err *e)
{
	char text[512];
	struct draft start;
	struct plan plan;
	const size_t at = knob_index(k);
	if (k->flags & KNOB_F_AUTO) {
		for (size_t i = 0; i < knob_count(); i++)
			d->origin[i] = i == at ? ORIGIN_DEFAULT : ORIGIN_FLAG;
		const enum err_code code = search_choose(d, a->catalog, &plan, e);
		memcpy(d->origin, a->draft.origin, sizeof(d->origin));
		d->origin[at] = ORIGIN_AUTO;
		return code;
	}
	if (k->dflt != NULL)
		return draft_type(d, a->catalog, k, k->dflt, moves, e);
	const enum err_code code = draft_init(&start, a->catalog, e);
	if (code != ERR_OK)
		return code;
	(void)knob_format(k, &start.s, text, sizeof(text));
	return draft_type(d, a->catalog, k, text, moves, e);
}

void change_default(struct app *a)
{
	const struct knob *k = app_knob(a);
	char before[512], after[512];
	struct draft next = a->draft;
	struct knob_moves moves = { 0 };
	struct err e = { 0 };
	if (k->flags & KNOB_F_DERIVED) {
		(void)change_has_stops(a, k);
		return;
	}
	const enum err_code code = set_default(a, k, &next, &moves, &e);
	(void)knob_format(k, &a->draft.s, before, sizeof(before));
	(void)knob_format(k, &next.s, after, sizeof(after));
	if (code == ERR_OK && strcmp(before, after) == 0)
		app_say(a, _("%s is at its default, %s."), ui_text(k->label), after);
	else
		(void)change_take(a, code, &next, &moves, &e);
}

/* What an undo or redo changed, as "tp 8 to 4", of the first knob that differs. */
static void say_difference(struct app *a, const struct draft *before, const char *what)
{
	char from[512], to[512];
	for (size_t i = 0; i < knob_count(); i++) {
		(void)knob_format(knob_at(i), &before->s, from, sizeof(from));
		(void)knob_format(knob_at(i), &a->draft.s, to, sizeof(to));
		if (strcmp(from, to) != 0) {
			app_say(a, _("%s: %s %.40s to %.40s."), what, knob_at(i)->key, from, to);
			return;
		}
	}
}

static void travel(struct app *a, bool (*go)(struct history *h, struct draft *out), const char *nothing, const char *done)
{
	const struct draft before = a->draft;
	if (!go(&a->history, &a->draft)) {
		app_say(a, "%s", nothing);
		return;
	}
	change_refresh(a);
	say_difference(a, &before, done);
}

void change_undo(struct app *a)
{
	travel(a, history_undo, _("Nothing to undo."), _("Undone"));
}

void change_redo(struct app *a)
{
	travel(a, history_redo, _("Nothing to do again."), _("Done again"));
}

/* Adds to the message why a value was passed over; the list of those that have it would need a second row. */
static void say_skipped(struct app *a, const struct draft *before, const struct knob *k, int64_t value)
{
	struct draft next = *before;
	struct knob_moves moves = { 0 };
	struct plan plan;
	struct err e = { 0 };
	const size_t used = strlen(a->message);
	if (draft_put(&next, a->catalog, k, value, &moves, &e) == ERR_OK && plan_evaluate(&next.s, &plan, &e) == ERR_OK)
		return;
	size_t end = strcspn(e.msg, ";(");
	while (end > 0 && e.msg[end - 1] == ' ')
		end--;
	(void)snprintf(
		a->message + used, sizeof(a->message) - used, _("%sPassed over: %.*s."), used > 0 ? " " : "", (int)end, e.msg);
}

/* The next legal value, round the end; says why the first one on the way was not. */
static void next_value(struct app *a, const struct knob *k)
{
	struct knob_stop stops[LIST_STOPS_MAX];
	size_t at = 0;
	const size_t n = knob_stops(k, a->catalog, &a->draft, stops, LIST_STOPS_MAX, &at);
	for (size_t i = 1; i < n; i++) {
		if (stops[(at + i) % n].legal) {
			const struct draft before = a->draft;
			change_put(a, k, stops[(at + i) % n].value);
			if (i > 1)
				say_skipped(a, &before, k, stops[(at + 1) % n].value);
			return;
		}
	}
	app_say(a, _("No other %s is legal here."), ui_text(k->label));
}

void change_schedule(struct app *a)
{
	next_value(a, knob_find("schedule"));
}

void change_convention(struct app *a)
{
	next_value(a, knob_find("flops"));
}
