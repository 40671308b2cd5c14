#include "app_internal.h"

#include "labs.h"
#include "num.h"
#include "view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SCROLL_MARGIN = 2, PLAYER_SPEED = 4 };

void app_say(struct app *a, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	(void)vsnprintf(a->message, sizeof(a->message), fmt, args);
	va_end(args);
}

void app_push_view(struct app *a, enum view_id view)
{
	if (a->view == view || a->depth == APP_DEPTH_MAX)
		return;
	a->below[a->depth++] = a->view;
	a->view = view;
	a->scroll[view] = 0;
}

void app_pop_view(struct app *a)
{
	if (a->depth > 0)
		a->view = a->below[--a->depth];
}

void app_switch_view(struct app *a, enum view_id view)
{
	a->depth = 0;
	a->view = VIEW_MAIN;
	a->ledger = false;
	app_push_view(a, view);
	if (view_kinds[view]->opened != NULL)
		view_kinds[view]->opened(a);
}

const struct knob *app_knob(const struct app *a)
{
	return knob_at(a->focus);
}

size_t app_worst_stage(const struct app *a)
{
	return (size_t)num_max(0, num_min(a->plan.verdict.worst_stage, (int64_t)a->n_stages - 1));
}

void app_layout(const struct app *a, struct screen_layout *l)
{
	layout_compute(a->w, a->h, (int)a->n_stages, a->pin.set, l);
}

size_t app_settings_rows(const struct app *a, struct setting_row rows[SETTING_ROWS_MAX])
{
	struct screen_layout l;
	app_layout(a, &l);
	return settings_rows(&a->draft.s, !a->fewer, l.density, a->focus, rows);
}

enum context app_context(const struct app *a)
{
	const struct view_kind *kind = view_kinds[a->view];
	if (a->prompt.kind != PROMPT_NONE)
		return CONTEXT_PROMPT;
	const bool second = kind->in_second != NULL && kind->in_second(a);
	return (enum context)((int)CONTEXT_MAIN + 2 * (int)a->view + (second ? 1 : 0));
}

/* Keeps the focused setting inside the pane with a little context, below the heading that always stands in its first row. */
static void scroll_settings(struct app *a)
{
	struct setting_row rows[SETTING_ROWS_MAX];
	struct screen_layout l;
	app_layout(a, &l);
	if (l.too_small)
		return;
	const size_t n = settings_rows(&a->draft.s, !a->fewer, l.density, a->focus, rows);
	const size_t at = settings_row_of(rows, n, a->focus), height = (size_t)l.area[AREA_SETTINGS].h;
	if (a->settings_top + height > n)
		a->settings_top = n > height ? n - height : 0;
	const size_t heading = l.density == DENSITY_PLAIN ? 0 : 1, above = heading + SCROLL_MARGIN;
	if (at < a->settings_top + above)
		a->settings_top = at > above ? at - above : 0;
	if (at + SCROLL_MARGIN >= a->settings_top + height)
		a->settings_top = at + SCROLL_MARGIN + 1 - height;
	if (a->settings_top + height > n)
		a->settings_top = n > height ? n - height : 0;
}

unsigned app_update(struct app *a, const struct event *ev)
{
	unsigned dirty = 0;
	if (ev->kind == EVENT_END)
		return APP_QUIT;
	if (ev->kind == EVENT_RESIZE) {
		a->w = ev->w;
		a->h = ev->h;
		a->settings_top = 0;
		dirty = APP_DRAW;
	} else if (ev->kind == EVENT_KEY) {
		dirty = keys_press(a, ev->key);
	} else if (ev->kind == EVENT_TICK && app_wait_ms(a) >= 0) {
		view_kinds[a->view]->clock->tick(a);
		dirty = APP_DRAW;
	}
	labs_check(a);
	player_check(a);
	figure_check(a);
	scroll_settings(a);
	const size_t most = view_scroll_max(a);
	if (a->scroll[a->view] > most)
		a->scroll[a->view] = most;
	return dirty;
}

void app_close(struct app *a)
{
	app_switch_view(a, VIEW_MAIN);
	labs_check(a);
	exact_drop(a);
}

/* The layouts are needed in their own view, and on a main screen that has room for the best of them. */
static bool space_is_wanted(const struct app *a)
{
	struct screen_layout l;
	app_layout(a, &l);
	return !a->space.complete && (a->view == VIEW_SPACE || (a->view == VIEW_MAIN && !a->big && l.area[AREA_LAYOUTS].h > 0));
}

/* The advice is needed where it is shown: in its own view, and in the message line after a no. */
static bool advice_is_wanted(const struct app *a)
{
	if (a->view == VIEW_SPACE || a->advice.complete)
		return false;
	return a->view == VIEW_ADVICE || (!a->plan.verdict.fits && a->plan.verdict.known && advice_best(&a->advice) == NULL);
}

bool app_busy(const struct app *a)
{
	return exact_is_wanted(a) || advice_is_wanted(a) || space_is_wanted(a);
}

bool app_work(struct app *a)
{
	const size_t n = a->advice.n;
	if (exact_is_wanted(a))
		return exact_work(a);
	if (!advice_is_wanted(a)) {
		space_step(&a->space, &a->draft, a->catalog);
		if (a->space.complete)
			a->best = space_best_of(&a->space);
		return a->space.complete || a->view == VIEW_SPACE;
	}
	advice_step(&a->advice, &a->draft, &a->plan, a->catalog);
	if (a->advice_focus >= a->advice.n)
		a->advice_focus = 0;
	return a->view == VIEW_ADVICE || n != a->advice.n;
}

/* A batch that nobody gave stays as it was found: left open it would follow every change of the layout. */
static void keep_batch(struct draft *d)
{
	uint8_t *origin = &d->origin[knob_index(knob_find("global-batch"))];
	if (*origin == ORIGIN_DEFAULT)
		*origin = ORIGIN_AUTO;
}

enum err_code app_load(struct app *a, const struct draft *d, const char *name, struct err *e)
{
	const struct knob_moves none = { 0 };
	struct draft loaded = *d;
	keep_batch(&loaded);
	const enum err_code code = change_adopt(a, &loaded, &none, e);
	if (code != ERR_OK)
		return code;
	if (name[0] != '\0') {
		(void)snprintf(a->name, sizeof(a->name), "%s", name);
		a->changed = false;
	}
	app_switch_view(a, VIEW_MAIN);
	return ERR_OK;
}

enum err_code app_init(struct app *a, const struct catalog *c, const struct draft *d, int w, int h, struct err *e)
{
	const struct knob *first = knob_find("tp");
	memset(a, 0, sizeof(*a));
	a->catalog = c;
	a->w = w;
	a->h = h;
	a->draft = *d;
	keep_batch(&a->draft);
	a->glyphs = -1;
	a->player.speed = PLAYER_SPEED;
	a->focus = first == NULL ? 0 : knob_index(first);
	const enum err_code code = plan_evaluate(&d->s, &a->plan, e);
	if (code != ERR_OK)
		return code;
	history_init(&a->history, &a->draft);
	change_refresh(a);
	figure_worst(a);
	scroll_settings(a);
	return ERR_OK;
}
