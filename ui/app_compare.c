/* The pinned plan. */
#include "app_internal.h"

#include "ui_text.h"

#include <string.h>

void pin_set(struct app *a)
{
	struct pin *p = &a->pin;
	p->set = true;
	p->draft = a->draft;
	p->plan = a->plan;
	p->n_stages = a->n_stages;
	memcpy(p->stages, a->stages, a->n_stages * sizeof(a->stages[0]));
	app_say(a, "%s", _("Pinned as A: figures show the difference to it. d lists all, C drops it."));
}

void pin_drop(struct app *a)
{
	if (!a->pin.set) {
		app_say(a, "%s", _("Nothing is pinned. c pins the present plan."));
		return;
	}
	a->pin.set = false;
	app_say(a, "%s", _("The pin is dropped."));
}

void pin_swap(struct app *a)
{
	const struct draft pinned = a->pin.draft;
	struct knob_moves none = { 0 };
	struct err e = { 0 };
	if (!a->pin.set) {
		app_say(a, "%s", _("Nothing is pinned. c pins the present plan."));
		return;
	}
	pin_set(a);
	if (change_take(a, ERR_OK, &pinned, &none, &e))
		app_say(a, "%s", _("Swapped: what was pinned is the plan, what was the plan is pinned."));
}

size_t pin_differences(const struct app *a, size_t *out, size_t cap)
{
	char x[512], y[512];
	size_t n = 0;
	for (size_t i = 0; i < knob_count(); i++) {
		(void)knob_format(knob_at(i), &a->pin.draft.s, x, sizeof(x));
		(void)knob_format(knob_at(i), &a->draft.s, y, sizeof(y));
		if (strcmp(x, y) == 0)
			continue;
		if (n < cap)
			out[n] = i;
		n++;
	}
	return n;
}
