#include "app_internal.h"

#include "num.h"
#include "ui_text.h"
#include "view.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LEAP = 10, FAR = 10000, PIPELINE_SCROLL_TICKS = 8, ZOOM_MAX = 3, SCROLL_MARGIN = 2 };

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

/* The focus among the figures starts where the plan is decided. */
static void focus_worst(struct app *a)
{
	a->figure_stage = (size_t)num_max(0, num_min(a->plan.verdict.worst_stage, (int64_t)a->n_stages - 1));
	a->figure_category = FIGURE_TOTAL;
}

/* Leaves all other views and opens this one above the main screen. */
static void switch_view(struct app *a, enum view_id view)
{
	a->depth = 0;
	a->view = VIEW_MAIN;
	if (view == VIEW_MEMORY && a->pane == PANE_SETTINGS)
		focus_worst(a);
	if (view != VIEW_MAIN)
		app_push_view(a, view);
}

const struct knob *app_knob(const struct app *a)
{
	return knob_at(a->focus);
}

size_t app_settings_rows(const struct app *a, struct setting_row rows[SETTING_ROWS_MAX])
{
	struct screen_layout l;
	layout_compute(a->w, a->h, (int)a->n_stages, &l);
	return settings_rows(&a->draft.s, !a->fewer, l.density, a->focus, rows);
}

int64_t app_pipeline_ticks(const struct app *a)
{
	const struct pipeline *pl = &a->plan.pipeline;
	return schedule_table[pl->schedule].makespan(pl, 1, 2);
}

enum context app_context(const struct app *a)
{
	static const enum context of_view[VIEW_COUNT] = {
		[VIEW_MAIN] = CONTEXT_SETTINGS,
		[VIEW_MEMORY] = CONTEXT_MEMORY,
		[VIEW_PIPELINE] = CONTEXT_PIPELINE,
		[VIEW_HELP] = CONTEXT_HELP,
		[VIEW_EXPLAIN] = CONTEXT_EXPLAIN,
		[VIEW_LIST] = CONTEXT_LIST,
		[VIEW_COMMAND] = CONTEXT_COMMAND,
	};
	if (a->prompt.kind != PROMPT_NONE)
		return CONTEXT_PROMPT;
	if (a->view == VIEW_MAIN && a->pane == PANE_FIGURES)
		return CONTEXT_FIGURES;
	return of_view[a->view];
}

/* Keeps the focused setting inside the pane with a little context, below the heading that always stands in its first row. */
static void scroll_settings(struct app *a)
{
	struct setting_row rows[SETTING_ROWS_MAX];
	struct screen_layout l;
	layout_compute(a->w, a->h, (int)a->n_stages, &l);
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

static void set_focus(struct app *a, size_t knob)
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
	set_focus(a, focus);
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
	set_focus(a, best);
	return best_rank > 0 || text[0] == '\0';
}

static void move_figure(struct app *a, int64_t by)
{
	const int64_t to = (int64_t)a->figure_stage + by, last = (int64_t)a->n_stages - 1;
	a->figure_stage = (size_t)(to < 0 ? 0 : to > last ? last : to);
}

static void move_category(struct app *a, int by)
{
	const int to = a->figure_category + by;
	a->figure_category = to < FIGURE_TOTAL ? FIGURE_TOTAL : to >= MEMORY_CATEGORY_COUNT ? MEMORY_CATEGORY_COUNT - 1 : to;
}

static void scroll_view(struct app *a, int64_t by)
{
	const int64_t to = (int64_t)a->scroll[a->view] + by;
	a->scroll[a->view] = to < 0 ? 0 : (size_t)num_min(to, FAR);
}

/* j and k, in every view. */
static void move(struct app *a, int64_t by)
{
	if (a->view == VIEW_LIST)
		list_move(a, by);
	else if (a->view == VIEW_MEMORY)
		move_category(a, (int)num_max(-MEMORY_CATEGORY_COUNT - 1, num_min(by, MEMORY_CATEGORY_COUNT + 1)));
	else if (a->view != VIEW_MAIN)
		scroll_view(a, by);
	else if (a->pane == PANE_FIGURES)
		move_figure(a, by);
	else
		move_setting(a, by);
}

/* h and l outside the settings. */
static void move_sideways(struct app *a, int by)
{
	if (a->view == VIEW_MAIN) {
		move_category(a, by);
	} else if (a->view == VIEW_MEMORY) {
		move_figure(a, by);
	} else if (a->view == VIEW_PIPELINE) {
		if (a->zoom == 0)
			a->zoom = 1;
		a->tick = num_max(0, num_min(a->tick + (int64_t)by * PIPELINE_SCROLL_TICKS, app_pipeline_ticks(a) - 1));
	}
}

static void figure_path(struct app *a)
{
	const char *what = a->figure_category == FIGURE_TOTAL ? "total" : "";
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		if (memory_category_table[i].draw_order == a->figure_category)
			what = memory_category_table[i].key;
	}
	(void)snprintf(a->path, sizeof(a->path), "memory.stages[%zu].%s", a->figure_stage, what);
}

static void explain(struct app *a)
{
	if (a->view == VIEW_PIPELINE)
		(void)snprintf(a->path, sizeof(a->path), "pipeline.bubble_of_step");
	else if (a->view == VIEW_MEMORY || (a->view == VIEW_MAIN && a->pane == PANE_FIGURES))
		figure_path(a);
	else if (a->view == VIEW_MAIN)
		a->path[0] = '\0';
	else
		return;
	app_push_view(a, VIEW_EXPLAIN);
}

static void open_focused(struct app *a)
{
	if (a->view == VIEW_LIST)
		list_take(a);
	else if (a->view == VIEW_MAIN && a->pane == PANE_SETTINGS)
		list_open(a, a->focus);
	else
		explain(a);
}

static void toggle_pane(struct app *a)
{
	if (a->view != VIEW_MAIN)
		return;
	a->pane = a->pane == PANE_SETTINGS ? PANE_FIGURES : PANE_SETTINGS;
	if (a->pane == PANE_FIGURES)
		focus_worst(a);
}

static void toggle_fewer(struct app *a)
{
	a->fewer = !a->fewer;
	for (size_t i = 0; a->fewer && !(app_knob(a)->flags & KNOB_F_MAIN) && i < knob_count(); i++) {
		if (knob_at(i)->flags & KNOB_F_MAIN)
			set_focus(a, i);
	}
	app_say(a, "%s", a->fewer ? _("Only the main settings. i shows all.") : _("All settings. i shows the main ones only."));
}

static void zoom(struct app *a, int by)
{
	const int to = a->zoom + by;
	a->zoom = to < 0 ? 0 : to > ZOOM_MAX ? ZOOM_MAX : to;
	if (a->zoom == 0)
		a->tick = 0;
}

/* A key press: what was pressed, and which bindings were in force. */
struct press {
	uint32_t key;
	enum context context;
};

static void do_help(struct app *a, int arg, const struct press *p)
{
	(void)arg;
	if (a->view == VIEW_HELP)
		return;
	a->help_context = p->context;
	app_push_view(a, VIEW_HELP);
}

static void do_find(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (a->view == VIEW_MAIN)
		a->pane = PANE_SETTINGS;
	if (a->view == VIEW_MAIN || a->view == VIEW_LIST)
		prompt_open(a, PROMPT_FIND, "");
	else
		app_say(a, "%s", _("Nothing to search here: / finds a setting on the main screen, a value in a list."));
}

static void do_view_number(struct app *a, int arg, const struct press *p)
{
	static const enum view_id numbered[] = { VIEW_MAIN, VIEW_MEMORY, VIEW_PIPELINE };
	const size_t i = p->key - '1';
	(void)arg;
	if (p->key >= '1' && i < sizeof(numbered) / sizeof(numbered[0]))
		switch_view(a, numbered[i]);
	else
		app_say(a, "%s", _("Views by number: 1 main, 2 memory, 3 pipeline."));
}

static void do_type(struct app *a, int digit, const struct press *p)
{
	const char text[2] = { digit ? (char)p->key : '\0', '\0' };
	prompt_open(a, PROMPT_VALUE, text);
}

static void do_move(struct app *a, int by, const struct press *p)
{
	(void)p;
	move(a, by);
}

static void do_page(struct app *a, int by, const struct press *p)
{
	(void)p;
	move(a, (int64_t)by * (a->h > 6 ? a->h - 6 : 1));
}

static void do_sideways(struct app *a, int by, const struct press *p)
{
	(void)p;
	move_sideways(a, by);
}

static void do_pane(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	toggle_pane(a);
}

static void do_switch(struct app *a, int view, const struct press *p)
{
	(void)p;
	switch_view(a, (enum view_id)view);
}

static void do_back(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	app_pop_view(a);
}

static void do_explain(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	explain(a);
}

static void do_command(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	app_push_view(a, VIEW_COMMAND);
}

static void do_zoom(struct app *a, int by, const struct press *p)
{
	(void)p;
	zoom(a, by);
}

static void do_step(struct app *a, int by, const struct press *p)
{
	(void)p;
	change_step(a, by);
}

static void do_flags(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	prompt_open(a, PROMPT_FLAGS, "");
}

static void do_open(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	open_focused(a);
}

static void do_default(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	change_default(a);
}

static void do_undo(struct app *a, int redo, const struct press *p)
{
	(void)p;
	if (redo)
		change_redo(a);
	else
		change_undo(a);
}

static void do_schedule(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	change_schedule(a);
}

static void do_more(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	toggle_fewer(a);
}

/* clang-format off */
/* What each action does. The rows that are missing belong to the prompt, or to the caller: quit, suspend, repaint. */
static const struct {
	void (*run)(struct app *a, int arg, const struct press *p);
	int arg;
} handlers[UI_ACTION_COUNT] = {
	[UI_DOWN] = {do_move, 1},
	[UI_UP] = {do_move, -1},
	[UI_FIRST] = {do_move, -FAR},
	[UI_LAST] = {do_move, FAR},
	[UI_PAGE_DOWN] = {do_page, 1},
	[UI_PAGE_UP] = {do_page, -1},
	[UI_LEFT] = {do_sideways, -1},
	[UI_RIGHT] = {do_sideways, 1},
	[UI_NEXT_PANE] = {do_pane, 1},
	[UI_PREVIOUS_PANE] = {do_pane, -1},
	[UI_FIND] = {do_find, 0},
	[UI_MEMORY] = {do_switch, VIEW_MEMORY},
	[UI_PIPELINE] = {do_switch, VIEW_PIPELINE},
	[UI_VIEW_NUMBER] = {do_view_number, 0},
	[UI_BACK] = {do_back, 0},
	[UI_EXPLAIN] = {do_explain, 0},
	[UI_COMMAND] = {do_command, 0},
	[UI_HELP] = {do_help, 0},
	[UI_ZOOM_IN] = {do_zoom, 1},
	[UI_ZOOM_OUT] = {do_zoom, -1},
	[UI_ZOOM_FIT] = {do_zoom, -ZOOM_MAX},
	[UI_STEP_DOWN] = {do_step, -1},
	[UI_STEP_UP] = {do_step, 1},
	[UI_LEAP_DOWN] = {do_step, -LEAP},
	[UI_LEAP_UP] = {do_step, LEAP},
	[UI_TYPE] = {do_type, 0},
	[UI_TYPE_DIGIT] = {do_type, 1},
	[UI_FLAGS] = {do_flags, 0},
	[UI_OPEN] = {do_open, 0},
	[UI_DEFAULT] = {do_default, 0},
	[UI_UNDO] = {do_undo, 0},
	[UI_REDO] = {do_undo, 1},
	[UI_SCHEDULE] = {do_schedule, 0},
	[UI_MORE] = {do_more, 0},
};
/* clang-format on */

static unsigned update_key(struct app *a, uint32_t key)
{
	const struct press p = { key, app_context(a) };
	const enum ui_action action = input_lookup(p.context, key);
	a->message[0] = '\0';
	if (action == UI_QUIT)
		return APP_QUIT;
	if (action == UI_SUSPEND)
		return APP_SUSPEND;
	if (action == UI_REPAINT)
		return APP_DRAW | APP_REPAINT;
	if (p.context == CONTEXT_PROMPT)
		prompt_update(a, key);
	else if (handlers[action].run != NULL)
		handlers[action].run(a, handlers[action].arg, &p);
	return APP_DRAW;
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
		dirty = update_key(a, ev->key);
	}
	scroll_settings(a);
	const size_t most = view_scroll_max(a);
	if (a->scroll[a->view] > most)
		a->scroll[a->view] = most;
	return dirty;
}

enum err_code app_init(struct app *a, const struct catalog *c, const struct draft *d, int w, int h, struct err *e)
{
	const struct knob *first = knob_find("tp");
	memset(a, 0, sizeof(*a));
	a->catalog = c;
	a->w = w;
	a->h = h;
	a->draft = *d;
	a->figure_category = FIGURE_TOTAL;
	a->focus = first == NULL ? 0 : knob_index(first);
	const enum err_code code = plan_evaluate(&d->s, &a->plan, e);
	if (code != ERR_OK)
		return code;
	history_init(&a->history, d);
	change_refresh(a);
	scroll_settings(a);
	return ERR_OK;
}
