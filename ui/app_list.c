#include "app_internal.h"

#include "ui_text.h"

#include <stdio.h>

void list_filter(struct app *a)
{
	struct value_list *l = &a->list;
	const struct knob *k = knob_at(l->knob);
	const size_t before = l->focus < l->n ? l->match[l->focus] : 0;
	l->n = 0;
	l->focus = 0;
	for (size_t i = 0; i < l->n_stops; i++) {
		char text[512];
		(void)settings_stop_text(k, a->catalog, &a->draft, l->stops[i].value, text, sizeof(text));
		if (!browser_words_match(text, l->filter))
			continue;
		if (i <= before)
			l->focus = l->n;
		l->match[l->n++] = i;
	}
}

void list_open(struct app *a, size_t knob)
{
	struct value_list *l = &a->list;
	size_t at = 0;
	if (!change_has_stops(a, knob_at(knob)))
		return;
	*l = (struct value_list){ .knob = knob };
	l->n_stops = knob_stops(knob_at(knob), a->catalog, &a->draft, l->stops, LIST_STOPS_MAX, &at);
	if (l->n_stops == 0) {
		app_say(a, _("%s has no list of values: = types one."), knob_at(knob)->key);
		return;
	}
	l->n = 1;
	l->match[0] = at;
	list_filter(a);
	app_push_view(a, VIEW_LIST);
}

void list_move(struct app *a, int64_t by)
{
	struct value_list *l = &a->list;
	const int64_t to = (int64_t)l->focus + by;
	if (l->n > 0)
		l->focus = to < 0 ? 0 : to >= (int64_t)l->n ? l->n - 1 : (size_t)to;
}

void list_take(struct app *a)
{
	const struct value_list *l = &a->list;
	const size_t at = a->history.at, first = a->history.first;
	if (l->n == 0)
		return;
	change_put(a, knob_at(l->knob), l->stops[l->match[l->focus]].value);
	/* A refused value leaves the list open, with the reason above it. */
	if (at != a->history.at || first != a->history.first)
		app_pop_view(a);
}

/* A preset fills what it describes and keeps the rest, as its setting would; a scenario replaces everything. */
void presets_take(struct app *a)
{
	static const char *const keys[BROWSER_SCENARIOS] = { "model", "gpu", "node", "profile" };
	const struct browser *b = &a->browser;
	const size_t at = a->history.at, first = a->history.first;
	if (b->focus >= b->n) {
		app_say(a, "%s", _("Nothing to load: no name matches."));
	} else if (b->kind == BROWSER_SCENARIOS) {
		a->effect = (struct effect){ .kind = EFFECT_OPEN };
		(void)snprintf(a->effect.path, sizeof(a->effect.path), "%s", browser_focused(b, a->catalog));
	} else {
		change_put(a, knob_find(keys[b->kind]), (int64_t)b->match[b->focus]);
		if (at != a->history.at || first != a->history.first)
			app_switch_view(a, VIEW_MAIN);
	}
}

void advice_take(struct app *a)
{
	const struct knob_moves none = { 0 };
	struct err e = { 0 };
	if (a->advice_focus >= a->advice.n)
		return;
	const struct advice_row row = a->advice.row[a->advice_focus];
	if (change_adopt(a, &row.draft, &none, &e) != ERR_OK) {
		app_say(a, "%s", e.msg);
		return;
	}
	app_switch_view(a, VIEW_MAIN);
	app_say(a, _("%s %s taken. u goes back."), row.what, row.to);
}

void space_take(struct app *a)
{
	const struct knob_moves none = { 0 };
	struct draft next;
	struct err e = { 0 };
	if (a->space_focus >= a->space.n)
		return;
	const struct space_row row = a->space.row[a->space_focus];
	space_draft(&a->draft, a->catalog, &row, &next);
	if (change_adopt(a, &next, &none, &e) != ERR_OK) {
		app_say(a, "%s", e.msg);
		return;
	}
	app_switch_view(a, VIEW_MAIN);
	app_say(a, _("tp %d, pp %d, dp %d, micro-batch %d taken. u goes back."), (int)row.tp, (int)row.pp, (int)row.dp,
		(int)row.micro_batch);
}
