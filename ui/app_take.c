/* Views that list what could be taken instead: presets and scenarios, single changes, whole layouts. */
#include "app_internal.h"

#include "num.h"
#include "ui_text.h"

#include <stdio.h>

/* Also asks for the list of saved scenarios. */
void presets_opened(struct app *a)
{
	browser_filter(&a->browser, a->catalog);
	a->effect = (struct effect){ .kind = EFFECT_LIST };
}

void presets_move(struct app *a, int64_t by)
{
	a->browser.focus = app_moved(a->browser.focus, by, a->browser.n);
}

/* The list moves by lines, the page of details by pages. */
void presets_page(struct app *a, int by)
{
	const int64_t page = a->h > 8 ? a->h - 8 : 1;
	a->scroll[VIEW_PRESETS] = (size_t)num_max(0, (int64_t)a->scroll[VIEW_PRESETS] + by * page);
}

void presets_next_kind(struct app *a, int by)
{
	struct browser *b = &a->browser;
	b->kind = (enum browser_kind)(((int)b->kind + by + BROWSER_KIND_COUNT) % BROWSER_KIND_COUNT);
	b->focus = 0;
	b->n = 0;
	if (browser_matches(b, a->catalog, b->kind) == 0)
		b->filter[0] = '\0';
	a->scroll[VIEW_PRESETS] = 0;
	browser_filter(b, a->catalog);
}

static void read_filter(struct app *a, struct prompt *p)
{
	struct browser *b = &a->browser;
	(void)snprintf(b->filter, sizeof(b->filter), "%.31s", p->text);
	browser_filter(b, a->catalog);
	p->good = b->n > 0;
	(void)snprintf(p->note, sizeof(p->note), _("%zu of %zu"), b->n, browser_count(b, a->catalog, b->kind));
}

static void drop_filter(struct app *a)
{
	a->browser.filter[0] = '\0';
	browser_filter(&a->browser, a->catalog);
}

const struct view_search presets_search = { NULL, read_filter, drop_filter, NULL };

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

void advice_opened(struct app *a)
{
	a->advice_focus = 0;
}

void advice_move(struct app *a, int64_t by)
{
	a->advice_focus = app_moved(a->advice_focus, by, a->advice.n);
}

void advice_take(struct app *a)
{
	const struct knob_moves none = { 0 };
	struct err e = { 0 };
	if (a->advice_focus >= a->advice.n)
		return;
	const struct advice_row row = a->advice.row[a->advice_focus];
	if (!change_take(a, ERR_OK, &row.draft, &none, &e))
		return;
	app_switch_view(a, VIEW_MAIN);
	app_say(a, _("%s %s taken. u goes back."), row.what, row.to);
}

void space_opened(struct app *a)
{
	a->space_focus = 0;
}

void space_move(struct app *a, int64_t by)
{
	a->space_focus = app_moved(a->space_focus, by, a->space.n);
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
	if (!change_take(a, ERR_OK, &next, &none, &e))
		return;
	app_switch_view(a, VIEW_MAIN);
	app_say(a, _("tp %d, pp %d, dp %d, micro-batch %d taken. u goes back."), (int)row.tp, (int)row.pp, (int)row.dp,
		(int)row.micro_batch);
}
