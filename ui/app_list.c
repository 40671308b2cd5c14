#include "app_internal.h"

#include "ui_text.h"

#include <stdio.h>

static void filter(struct app *a)
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

void list_open(struct app *a)
{
	const size_t knob = a->focus;
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
	filter(a);
	app_push_view(a, VIEW_LIST);
}

void list_move(struct app *a, int64_t by)
{
	a->list.focus = app_moved(a->list.focus, by, a->list.n);
}

static void read_filter(struct app *a, struct prompt *p)
{
	struct value_list *l = &a->list;
	(void)snprintf(l->filter, sizeof(l->filter), "%.31s", p->text);
	filter(a);
	p->good = l->n > 0;
	(void)snprintf(p->note, sizeof(p->note), _("%zu of %zu"), l->n, l->n_stops);
}

static void drop_filter(struct app *a)
{
	a->list.filter[0] = '\0';
	filter(a);
}

const struct view_search list_search = { NULL, read_filter, drop_filter, NULL };

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
