#include "app_internal.h"

#include "labs.h"
#include "num.h"
#include "ui_text.h"
#include "view.h"

#include <ctype.h>
#include <string.h>

enum { FAR = 10000, PIPELINE_SCROLL_TICKS = 8 };

void app_set_focus(struct app *a, size_t knob)
{
	if (a->focus == knob)
		return;
	a->focus = knob;
	change_preview(a);
}

/* Moves the focus by `by` settings, not counting headings. */
static void move_setting(struct app *a, int64_t by)
{
	struct setting_row rows[SETTING_ROWS_MAX];
	const size_t n = app_settings_rows(a, rows);
	size_t at = settings_row_of(rows, n, a->focus), focus = a->focus;
	while (by != 0) {
		if ((by < 0 && at == 0) || (by > 0 && at + 1 >= n))
			break;
		at = by < 0 ? at - 1 : at + 1;
		if (rows[at].kind != SETTING_KNOB)
			continue;
		focus = rows[at].knob;
		by += by < 0 ? 1 : -1;
	}
	app_set_focus(a, focus);
}

/* How well a key matches: 0 not at all, 1 somewhere, 2 at the start, 3 exactly. */
static int match_rank(const char *key, const char *text)
{
	const size_t len = strlen(text);
	for (size_t at = 0; key[at] != '\0'; at++) {
		size_t i = 0;
		while (i < len && key[at + i] != '\0' && tolower((unsigned char)key[at + i]) == tolower((unsigned char)text[i]))
			i++;
		if (i == len)
			return at > 0 ? 1 : key[len] != '\0' ? 2 : 3;
	}
	return 0;
}

bool app_find(struct app *a, const char *text, size_t from)
{
	const size_t n = knob_count();
	size_t best = from;
	int best_rank = 0;
	for (size_t i = 0; i < n && text[0] != '\0'; i++) {
		const size_t at = (from + i) % n;
		const int rank = match_rank(knob_at(at)->key, text);
		if (rank > best_rank && settings_apply(&a->draft.s, knob_at(at))) {
			best = at;
			best_rank = rank;
		}
	}
	a->fewer = a->fewer && (best_rank == 0 || (knob_at(best)->flags & KNOB_F_MAIN));
	app_set_focus(a, best);
	return best_rank > 0 || text[0] == '\0';
}

void app_find_again(struct app *a, int direction)
{
	const size_t n = knob_count();
	if (a->found[0] == '\0') {
		app_say(a, "%s", _("Nothing was searched for yet: / finds a setting, a line of the help."));
		return;
	}
	if (a->view == VIEW_HELP) {
		if (!view_help_find(a, a->found, a->scroll[VIEW_HELP], direction, &a->scroll[VIEW_HELP]))
			app_say(a, _("No line holds \"%s\"."), a->found);
		return;
	}
	for (size_t step = 1; step <= n; step++) {
		const size_t at = (a->focus + (direction > 0 ? step : n - step)) % n;
		const struct knob *k = knob_at(at);
		if (match_rank(k->key, a->found) > 0 && settings_apply(&a->draft.s, k) &&
			(!a->fewer || (k->flags & KNOB_F_MAIN))) {
			app_set_focus(a, at);
			return;
		}
	}
	app_say(a, _("No setting holds \"%s\"."), a->found);
}

static void scroll_view(struct app *a, int64_t by)
{
	const int64_t to = (int64_t)a->scroll[a->view] + by;
	a->scroll[a->view] = to < 0 ? 0 : (size_t)num_min(to, FAR);
}

static size_t moved(size_t at, int64_t by, size_t n)
{
	const int64_t to = (int64_t)at + by;
	return to < 0 || n == 0 ? 0 : to >= (int64_t)n ? n - 1 : (size_t)to;
}

const char *const app_ledger_keys[APP_LEDGER_ROWS] = { "precision", "master-dtype", "grad-dtype", "optimizer" };

static void move_ledger(struct app *a, int64_t by)
{
	size_t at = 0;
	for (size_t i = 0; i < APP_LEDGER_ROWS; i++) {
		if (strcmp(app_knob(a)->key, app_ledger_keys[i]) == 0)
			at = i;
	}
	app_set_focus(a, knob_index(knob_find(app_ledger_keys[moved(at, by, APP_LEDGER_ROWS)])));
}

void app_move(struct app *a, int64_t by)
{
	if (a->view == VIEW_LIST)
		list_move(a, by);
	else if (a->view == VIEW_ADVICE)
		a->advice_focus = moved(a->advice_focus, by, a->advice.n);
	else if (a->view == VIEW_SPACE)
		a->space_focus = moved(a->space_focus, by, a->space.n);
	else if (a->view == VIEW_PRESETS)
		a->browser.focus = moved(a->browser.focus, by, a->browser.n);
	else if (a->view == VIEW_LABS)
		labs_move(a, by);
	else if (a->view == VIEW_MEMORY && a->ledger)
		move_ledger(a, by);
	else if (a->view == VIEW_MEMORY || a->view == VIEW_TIME || a->view == VIEW_COST ||
		(a->view == VIEW_MAIN && a->pane == PANE_FIGURES))
		(void)figure_move(a, 0, by);
	else if (a->view == VIEW_COMPARE && figure_move(a, 0, by))
		a->scroll[VIEW_COMPARE] = 0;
	else if (a->view != VIEW_MAIN)
		scroll_view(a, by);
	else
		move_setting(a, by);
}

void app_move_sideways(struct app *a, int by)
{
	if (a->view == VIEW_PIPELINE) {
		if (a->zoom == 0)
			a->zoom = 1;
		a->tick = num_max(0, num_min(a->tick + (int64_t)by * PIPELINE_SCROLL_TICKS, a->player.ticks - 1));
	} else {
		(void)figure_move(a, by, 0);
	}
}

static void next_kind(struct app *a, int by)
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

void app_next_pane(struct app *a, int by)
{
	if (a->view == VIEW_PRESETS) {
		next_kind(a, by);
	} else if (a->view == VIEW_MEMORY) {
		a->ledger = !a->ledger;
		if (a->ledger)
			move_ledger(a, 0);
	} else if (a->view == VIEW_LABS) {
		labs_next_pane(a);
	} else if (a->view == VIEW_EXPLAIN) {
		explain_next_term(a, by);
	} else if (a->view == VIEW_PIPELINE || a->view == VIEW_COMPARE || a->view == VIEW_TIME || a->view == VIEW_COST) {
		figure_next(a, by);
	} else if (a->view == VIEW_MAIN) {
		a->pane = a->pane == PANE_SETTINGS ? PANE_FIGURES : PANE_SETTINGS;
		if (a->pane == PANE_FIGURES)
			figure_worst(a);
	}
}
