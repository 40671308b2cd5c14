/* What each key does: one row per action, one small function per kind of thing that actions do. What depends on the view asks its
 * view_kind. */
#include "app_internal.h"

#include "labs.h"
#include "ui_text.h"
#include "view.h"

#include <stdio.h>

enum { LEAP = 10, FAR = 10000, FOREVER = 1 << 30, ZOOM_MAX = 3 };

static void toggle_fewer(struct app *a)
{
	a->fewer = !a->fewer;
	for (size_t i = 0; a->fewer && !(app_knob(a)->flags & KNOB_F_MAIN) && i < knob_count(); i++) {
		if (knob_at(i)->flags & KNOB_F_MAIN)
			app_set_focus(a, i);
	}
	app_say(a, "%s", a->fewer ? _("Only the main settings. i shows all.") : _("All settings. i shows the main ones only."));
}

static void zoom(struct app *a, int by)
{
	const int to = a->zoom + by;
	a->zoom = to < 0 ? 0 : to > ZOOM_MAX ? ZOOM_MAX : to;
	if (a->zoom == 0)
		a->tick = 0;
	else
		player_follow(a);
}

/* A key press: what was pressed, and which bindings were in force. */
struct press {
	uint32_t key;
	enum context context;
};
static unsigned open_help_line(struct app *a);

/* Each handler returns enum app_dirty bits beyond APP_DRAW. */
static unsigned do_help(struct app *a, int arg, const struct press *p)
{
	(void)arg;
	if (a->view != VIEW_HELP) {
		a->help_context = p->context;
		app_push_view(a, VIEW_HELP);
	}
	return 0;
}

static unsigned do_find(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (view_kinds[a->view]->search != NULL)
		prompt_open(a, PROMPT_FIND, "");
	else
		app_say(a, "%s",
			_("Nothing to search here: / finds a setting, a value in a list, a preset, a line of the help."));
	return 0;
}

static unsigned do_find_again(struct app *a, int direction, const struct press *p)
{
	const struct view_search *search = view_kinds[a->view]->search;
	(void)p;
	if (search == NULL || search->again == NULL)
		app_say(a, "%s", _("n and N go through the settings of the main screen and the lines of the help."));
	else if (a->found[0] == '\0')
		app_say(a, "%s", _("Nothing was searched for yet: / finds a setting, a line of the help."));
	else
		search->again(a, direction);
	return 0;
}

/* What a view has asked for. */
static unsigned asked_effect(const struct app *a)
{
	return a->effect.kind == EFFECT_NONE ? 0 : APP_EFFECT;
}

static unsigned do_switch(struct app *a, int view, const struct press *p)
{
	(void)p;
	app_switch_view(a, (enum view_id)view);
	return asked_effect(a);
}

/* Of every view that a key opens. */
#define NO_ROW(...)
#define LABEL_ROW(id, name, title, key, label, ...) [VIEW_##id] = label,
#define SWITCH_ROW(id, ...) [UI_##id] = { do_switch, VIEW_##id },

/* "Views by number: 1 main, 2 memory, ..." */
static void say_numbers(struct app *a)
{
	static const char *const labels[VIEW_COUNT] = { [VIEW_MAIN] = N_("main"), VIEW_TABLE(LABEL_ROW, NO_ROW) };
	struct sink out;
	sink_init(&out, a->message, sizeof(a->message), NULL, NULL);
	sink_puts(&out, _("Views by number:"));
	for (int digit = '1'; digit <= '9'; digit++) {
		for (int view = 0; view < VIEW_COUNT; view++) {
			if (view_kinds[view]->digit == digit)
				sink_printf(&out, "%s %c %s", digit > '1' ? "," : "", digit, _(labels[view]));
		}
	}
	sink_puts(&out, ".");
}

static unsigned do_view_number(struct app *a, int arg, const struct press *p)
{
	(void)arg;
	for (int view = 0; view < VIEW_COUNT; view++) {
		if ((uint32_t)view_kinds[view]->digit == p->key)
			return do_switch(a, view, p);
	}
	say_numbers(a);
	return 0;
}

static unsigned do_type(struct app *a, int digit, const struct press *p)
{
	const char text[2] = { digit ? (char)p->key : '\0', '\0' };
	if (view_kinds[a->view]->type != NULL)
		view_kinds[a->view]->type(a, text);
	else
		prompt_open(a, PROMPT_VALUE, text);
	return 0;
}

static unsigned do_prompt(struct app *a, int kind, const struct press *p)
{
	(void)p;
	prompt_open(a, (enum prompt_kind)kind, kind == PROMPT_SAVE ? a->name : "");
	return 0;
}

static unsigned do_move(struct app *a, int by, const struct press *p)
{
	(void)p;
	app_move(a, by);
	return 0;
}

/* g and G: the first and the last line, or what plays to its first and its last step. */
static unsigned do_end(struct app *a, int direction, const struct press *p)
{
	const struct view_clock *clock = view_kinds[a->view]->clock;
	(void)p;
	if (clock != NULL)
		clock->go(a, (int64_t)direction * FOREVER);
	else
		app_move(a, (int64_t)direction * FAR);
	return 0;
}

static unsigned do_page(struct app *a, int by, const struct press *p)
{
	(void)p;
	if (view_kinds[a->view]->page != NULL)
		view_kinds[a->view]->page(a, by);
	else
		app_move(a, (int64_t)by * (a->h > 6 ? a->h - 6 : 1));
	return 0;
}

static unsigned do_sideways(struct app *a, int by, const struct press *p)
{
	(void)p;
	if (view_kinds[a->view]->sideways != NULL)
		view_kinds[a->view]->sideways(a, by);
	else
		(void)figure_move(a, by, 0);
	return 0;
}

static unsigned do_pane(struct app *a, int by, const struct press *p)
{
	(void)p;
	if (view_kinds[a->view]->next_pane != NULL)
		view_kinds[a->view]->next_pane(a, by);
	return 0;
}

static unsigned do_back(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (a->view != VIEW_EXPLAIN || !explain_back(a))
		app_pop_view(a);
	return 0;
}

static unsigned do_explain(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (a->view == VIEW_EXPLAIN)
		explain_follow(a);
	else
		explain_focus(a);
	return 0;
}

static unsigned do_push(struct app *a, int view, const struct press *p)
{
	(void)p;
	app_push_view(a, (enum view_id)view);
	return 0;
}

static unsigned do_pin(struct app *a, int what, const struct press *p)
{
	static void (*const pins[])(struct app * a) = { pin_set, pin_drop, pin_swap };
	(void)p;
	pins[what](a);
	return 0;
}

static unsigned do_zoom(struct app *a, int by, const struct press *p)
{
	(void)p;
	zoom(a, by);
	return 0;
}

static unsigned do_step(struct app *a, int by, const struct press *p)
{
	const struct view_kind *kind = view_kinds[a->view];
	(void)p;
	if (kind->step != NULL)
		kind->step(a, by);
	else if (kind->clock != NULL)
		kind->clock->go(a, by);
	else
		change_step(a, by);
	return 0;
}

static unsigned do_open(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (a->view == VIEW_HELP)
		return open_help_line(a);
	if (view_kinds[a->view]->open != NULL)
		view_kinds[a->view]->open(a);
	else
		explain_focus(a);
	return asked_effect(a);
}

static unsigned do_default(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (view_kinds[a->view]->reset != NULL)
		view_kinds[a->view]->reset(a);
	else
		change_default(a);
	return 0;
}

static unsigned do_undo(struct app *a, int redo, const struct press *p)
{
	(void)p;
	if (redo)
		change_redo(a);
	else
		change_undo(a);
	return 0;
}

static unsigned do_schedule(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	change_schedule(a);
	return 0;
}

static unsigned do_play(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	view_kinds[a->view]->clock->play(a);
	return 0;
}

static unsigned do_tick(struct app *a, int by, const struct press *p)
{
	(void)p;
	view_kinds[a->view]->clock->go(a, by);
	return 0;
}

static unsigned do_predict(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	labs_predict(a);
	return 0;
}

static unsigned do_speed(struct app *a, int arg, const struct press *p)
{
	(void)arg;
	player_set_speed(a, (int)p->key - '0');
	a->labs.playing = a->labs.playing && p->key != '0';
	return 0;
}

static unsigned do_future(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	a->player.hide_future = !a->player.hide_future;
	return 0;
}

static unsigned do_reasons(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	a->player.reasons = !a->player.reasons;
	return 0;
}

static unsigned do_convention(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	change_convention(a);
	return 0;
}

static unsigned do_order(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	space_set_order(&a->space, (enum space_order)((a->space.order + 1) % SPACE_ORDER_COUNT));
	a->space_focus = 0;
	return 0;
}

static unsigned do_more(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	toggle_fewer(a);
	return 0;
}

static unsigned keep_config(struct app *a)
{
	a->effect = (struct effect){ .kind = EFFECT_CONFIG };
	return APP_EFFECT;
}

static unsigned do_big(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	a->big = !a->big;
	/* It shows one setting and no figures to go through. */
	if (a->big && a->view == VIEW_MAIN)
		a->pane = PANE_SETTINGS;
	return keep_config(a);
}

static unsigned do_theme(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (a->colors < 8) {
		app_say(a, "%s", _("Only the mono theme: the terminal has no colours, or NO_COLOR is set."));
		return 0;
	}
	do
		a->theme = (enum theme)(((int)a->theme + 1) % THEME_COUNT);
	while (!theme_possible(a->theme, a->colors));
	a->theme_chosen = true;
	app_say(a, _("Theme %s."), theme_names[a->theme]);
	return APP_LOOK | keep_config(a);
}

/* A changed scenario that has a name is worth a question; everything else can be rebuilt from the command line (y). */
static unsigned do_quit(struct app *a, int arg, const struct press *p)
{
	(void)arg, (void)p;
	if (a->name[0] == '\0' || !a->changed || a->asked)
		return APP_QUIT;
	a->asked = true;
	app_say(a, _("%.60s has changes that are not saved: S saves them, q again quits."), a->name);
	return 0;
}

static unsigned do_suspend(struct app *a, int arg, const struct press *p)
{
	(void)a, (void)arg, (void)p;
	return APP_SUSPEND;
}

static unsigned do_repaint(struct app *a, int arg, const struct press *p)
{
	(void)a, (void)arg, (void)p;
	return APP_REPAINT;
}

/* clang-format off */
/* What each action does. The rows that are missing belong to the prompt. */
static const struct {
	unsigned (*run)(struct app *a, int arg, const struct press *p);
	int arg;
} handlers[UI_ACTION_COUNT] = {
	[UI_DOWN] = {do_move, 1},
	[UI_UP] = {do_move, -1},
	[UI_FIRST] = {do_end, -1},
	[UI_LAST] = {do_end, 1},
	[UI_PAGE_DOWN] = {do_page, 1},
	[UI_PAGE_UP] = {do_page, -1},
	[UI_LEFT] = {do_sideways, -1},
	[UI_RIGHT] = {do_sideways, 1},
	[UI_NEXT_PANE] = {do_pane, 1},
	[UI_PREVIOUS_PANE] = {do_pane, -1},
	[UI_FIND] = {do_find, 0},
	[UI_FIND_NEXT] = {do_find_again, 1},
	[UI_FIND_PREVIOUS] = {do_find_again, -1},
	VIEW_TABLE(SWITCH_ROW, NO_ROW)
	[UI_VIEW_NUMBER] = {do_view_number, 0},
	[UI_BACK] = {do_back, 0},
	[UI_EXPLAIN] = {do_explain, 0},
	[UI_PIN] = {do_pin, 0},
	[UI_UNPIN] = {do_pin, 1},
	[UI_SWAP] = {do_pin, 2},
	[UI_COMMAND] = {do_push, VIEW_COMMAND},
	[UI_WRITE] = {do_prompt, PROMPT_WRITE},
	[UI_SAVE] = {do_prompt, PROMPT_SAVE},
	[UI_OPEN_SCENARIO] = {do_prompt, PROMPT_OPEN},
	[UI_IMPORT] = {do_prompt, PROMPT_IMPORT},
	[UI_FLAGS] = {do_prompt, PROMPT_FLAGS},
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
	[UI_OPEN] = {do_open, 0},
	[UI_DEFAULT] = {do_default, 0},
	[UI_UNDO] = {do_undo, 0},
	[UI_REDO] = {do_undo, 1},
	[UI_SCHEDULE] = {do_schedule, 0},
	[UI_PLAY] = {do_play, 0},
	[UI_TICK_BACK] = {do_tick, -1},
	[UI_TICK_ON] = {do_tick, 1},
	[UI_SPEED] = {do_speed, 0},
	[UI_PREDICT] = {do_predict, 0},
	[UI_FUTURE] = {do_future, 0},
	[UI_REASONS] = {do_reasons, 0},
	[UI_CONVENTION] = {do_convention, 0},
	[UI_ORDER] = {do_order, 0},
	[UI_MORE] = {do_more, 0},
	[UI_BIG] = {do_big, 0},
	[UI_THEME] = {do_theme, 0},
	[UI_QUIT] = {do_quit, 0},
	[UI_SUSPEND] = {do_suspend, 0},
	[UI_REPAINT] = {do_repaint, 0},
};
/* clang-format on */

/* Enter in the help: explains the figure that the line is about, or does what its key does where the help was called. */
static unsigned open_help_line(struct app *a)
{
	const struct help_target target = view_help_target(a);
	struct press p = { 0, a->help_context };
	if (target.path[0] != '\0') {
		explain_open(a, target.path);
		return 0;
	}
	for (size_t i = 0; i < n_bindings && p.key == 0; i++) {
		const struct binding *b = &binding_table[i];
		if (b->action == target.action && b->key != INPUT_DIGIT && input_lookup(p.context, b->key) == target.action)
			p.key = b->key;
	}
	if (p.key == 0 || handlers[target.action].run == NULL || target.action == UI_HELP) {
		app_say(a, "%s", _("That key has no meaning where the help was called."));
		return 0;
	}
	app_pop_view(a);
	return handlers[target.action].run(a, handlers[target.action].arg, &p);
}

unsigned keys_press(struct app *a, uint32_t key)
{
	const struct press p = { key, app_context(a) };
	const enum ui_action action = input_lookup(p.context, key);
	a->message[0] = '\0';
	if (action != UI_QUIT)
		a->asked = false;
	if (p.context == CONTEXT_PROMPT && handlers[action].run == NULL)
		return APP_DRAW | prompt_update(a, key);
	if (handlers[action].run == NULL)
		return APP_DRAW;
	return APP_DRAW | handlers[action].run(a, handlers[action].arg, &p);
}
