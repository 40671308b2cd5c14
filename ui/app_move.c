#include "app_internal.h"

#include "num.h"
#include "ui_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { FAR = 10000 };

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

/* Puts the focus on the setting whose key is `text`, begins with it or holds it, in that order, the nearest after `from`. False
 * when there is none. */
static bool find_setting(struct app *a, const char *text, size_t from)
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

static void settings_begin(struct app *a)
{
	a->pane = PANE_SETTINGS;
	a->find_from = a->focus;
}

static void settings_read(struct app *a, struct prompt *p)
{
	p->good = find_setting(a, p->text, a->find_from);
	if (!p->good)
		(void)snprintf(p->note, sizeof(p->note), _("No setting holds \"%s\"."), p->text);
}

static void settings_cancel(struct app *a)
{
	app_set_focus(a, a->find_from);
}

static void settings_again(struct app *a, int direction)
{
	const size_t n = knob_count();
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

const struct view_search settings_search = { settings_begin, settings_read, settings_cancel, settings_again };

void app_scroll(struct app *a, int64_t by)
{
	const int64_t to = (int64_t)a->scroll[a->view] + by;
	a->scroll[a->view] = to < 0 ? 0 : (size_t)num_min(to, FAR);
}

void app_move(struct app *a, int64_t by)
{
	if (view_kinds[a->view]->move != NULL)
		view_kinds[a->view]->move(a, by);
	else
		app_scroll(a, by);
}

size_t app_moved(size_t at, int64_t by, size_t n)
{
	const int64_t to = (int64_t)at + by;
	return to < 0 || n == 0 ? 0 : to >= (int64_t)n ? n - 1 : (size_t)to;
}

void app_explains_setting(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(void)snprintf(path, FIGURE_PATH_CAP, "scenario.%s", app_knob(a)->key);
}

void main_move(struct app *a, int64_t by)
{
	if (a->pane == PANE_FIGURES)
		(void)figure_move(a, 0, by);
	else
		move_setting(a, by);
}

void main_next_pane(struct app *a, int by)
{
	(void)by;
	a->pane = a->pane == PANE_SETTINGS ? PANE_FIGURES : PANE_SETTINGS;
	if (a->pane == PANE_FIGURES)
		figure_worst(a);
}

const char *const app_ledger_keys[APP_LEDGER_ROWS] = { "precision", "master-dtype", "grad-dtype", "optimizer" };

void ledger_move(struct app *a, int64_t by)
{
	size_t at = 0;
	for (size_t i = 0; i < APP_LEDGER_ROWS; i++) {
		if (strcmp(app_knob(a)->key, app_ledger_keys[i]) == 0)
			at = i;
	}
	app_set_focus(a, knob_index(knob_find(app_ledger_keys[app_moved(at, by, APP_LEDGER_ROWS)])));
}

void ledger_next_pane(struct app *a, int by)
{
	(void)by;
	a->ledger = !a->ledger;
	if (a->ledger)
		ledger_move(a, 0);
}
