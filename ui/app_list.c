#include "app_internal.h"

#include "ui_text.h"

#include <ctype.h>
#include <string.h>

/* Whether every word of the filter occurs in the text, in any order; letters count alike in both cases. */
static bool words_match(const char *text, const char *filter)
{
	while (*filter != '\0') {
		const size_t len = strcspn(filter, " ");
		bool found = len == 0;
		for (const char *at = text; *at != '\0' && !found; at++) {
			size_t i = 0;
			while (i < len && at[i] != '\0' && tolower((unsigned char)at[i]) == tolower((unsigned char)filter[i]))
				i++;
			found = i == len;
		}
		if (!found)
			return false;
		filter += len;
		filter += strspn(filter, " ");
	}
	return true;
}

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
		if (!words_match(text, l->filter))
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
