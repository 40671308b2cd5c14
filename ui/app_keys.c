/* What each key does: one row per action, one small function per kind of thing that actions do. What depends on the view asks its
 * view_kind. */
#include "app_internal.h"

#include "labs.h"
#include "ui_text.h"
#include "view.h"

#include <stdio.h>

enum { LEAP = 10, FAR = 10000, FOREVER = 1 << 30, ZOOM_MAX = 3 };

static void find(struct app *a)
{
	if (view_kinds[a->view]->search != NULL)
		prompt_open(a, PROMPT_FIND, "");
	else
		app_say(a, "%s",
			_("Nothing to search here: / finds a setting, a value in a list, a preset, a line of the help."));
}

static void find_again(struct app *a, int direction)
{
	const struct view_search *search = view_kinds[a->view]->search;
	if (search == NULL || search->again == NULL)
		app_say(a, "%s", _("n and N go through the settings of the main screen and the lines of the help."));
	else if (a->found[0] == '\0')
		app_say(a, "%s", _("Nothing was searched for yet: / finds a setting, a line of the help."));
	else
		search->again(a, direction);
}

static void switch_view(struct app *a, int view)
{
	app_switch_view(a, (enum view_id)view);
}

static void push_view(struct app *a, int view)
{
	app_push_view(a, (enum view_id)view);
}

static void type(struct app *a, const char *text)
{
	if (view_kinds[a->view]->type != NULL)
		view_kinds[a->view]->type(a, text);
	else
		prompt_open(a, PROMPT_VALUE, text);
}

static void type_value(struct app *a)
{
	type(a, "");
}

static void open_prompt(struct app *a, int kind)
{
	prompt_open(a, (enum prompt_kind)kind, kind == PROMPT_SAVE ? a->name : "");
}

static void move(struct app *a, int by)
{
	app_move(a, by);
}

/* g and G: the first and the last line, or what plays to its first and its last step. */
static void go_to_end(struct app *a, int direction)
{
	const struct view_clock *clock = view_kinds[a->view]->clock;
	if (clock != NULL)
		clock->go(a, (int64_t)direction * FOREVER);
	else
		app_move(a, (int64_t)direction * FAR);
}

static void turn_page(struct app *a, int by)
{
	if (view_kinds[a->view]->page != NULL)
		view_kinds[a->view]->page(a, by);
	else
		app_move(a, (int64_t)by * (a->h > 6 ? a->h - 6 : 1));
}

static void move_sideways(struct app *a, int by)
{
	if (view_kinds[a->view]->sideways != NULL)
		view_kinds[a->view]->sideways(a, by);
	else
		(void)figure_move(a, by, 0);
}

static void next_pane(struct app *a, int by)
{
	if (view_kinds[a->view]->next_pane != NULL)
		view_kinds[a->view]->next_pane(a, by);
}

static void go_back(struct app *a)
{
	if (a->view != VIEW_EXPLAIN || !explain_back(a))
		app_pop_view(a);
}

static void explain(struct app *a)
{
	if (a->view == VIEW_EXPLAIN)
		explain_follow(a);
	else
		explain_focus(a);
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

static void step(struct app *a, int by)
{
	const struct view_kind *kind = view_kinds[a->view];
	if (kind->step != NULL)
		kind->step(a, by);
	else if (kind->clock != NULL)
		kind->clock->go(a, by);
	else
		change_step(a, by);
}

static void reset(struct app *a)
{
	if (view_kinds[a->view]->reset != NULL)
		view_kinds[a->view]->reset(a);
	else
		change_default(a);
}

static void play(struct app *a)
{
	view_kinds[a->view]->clock->play(a);
}

static void tick(struct app *a, int by)
{
	view_kinds[a->view]->clock->go(a, by);
}

static void toggle_future(struct app *a)
{
	a->player.hide_future = !a->player.hide_future;
}

static void toggle_reasons(struct app *a)
{
	a->player.reasons = !a->player.reasons;
}

static void next_order(struct app *a)
{
	space_set_order(&a->space, (enum space_order)((a->space.order + 1) % SPACE_ORDER_COUNT));
	a->space_focus = 0;
}

static void toggle_fewer(struct app *a)
{
	a->fewer = !a->fewer;
	for (size_t i = 0; a->fewer && !(app_knob(a)->flags & KNOB_F_MAIN) && i < knob_count(); i++) {
		if (knob_at(i)->flags & KNOB_F_MAIN)
			app_set_focus(a, i);
	}
	app_say(a, "%s", a->fewer ? _("Only the main settings. i shows all.") : _("All settings. i shows the main ones only."));
}

static void keep_config(struct app *a)
{
	a->effect = (struct effect){ .kind = EFFECT_CONFIG };
}

static void toggle_big(struct app *a)
{
	a->big = !a->big;
	/* It shows one setting and no figures to go through. */
	if (a->big && a->view == VIEW_MAIN)
		a->pane = PANE_SETTINGS;
	keep_config(a);
}

/* A key press: what was pressed, and which bindings were in force. */
struct press {
	uint32_t key;
	enum context context;
};

/* The handlers from here on look at the key, or return enum app_dirty bits of their own. */
static unsigned open_help(struct app *a, const struct press *p)
{
	if (a->view != VIEW_HELP) {
		a->help_context = p->context;
		app_push_view(a, VIEW_HELP);
	}
	return 0;
}

#define NO_ROW(...)
#define LABEL_ROW(id, name, title, key, label, ...) [VIEW_##id] = label,

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

static unsigned open_number(struct app *a, const struct press *p)
{
	for (int view = 0; view < VIEW_COUNT; view++) {
		if ((uint32_t)view_kinds[view]->digit == p->key) {
			switch_view(a, view);
			return 0;
		}
	}
	say_numbers(a);
	return 0;
}

static unsigned type_digit(struct app *a, const struct press *p)
{
	type(a, (const char[]){ (char)p->key, '\0' });
	return 0;
}

static unsigned set_speed(struct app *a, const struct press *p)
{
	player_set_speed(a, (int)p->key - '0');
	a->labs.playing = a->labs.playing && p->key != '0';
	return 0;
}

static unsigned next_theme(struct app *a, const struct press *p)
{
	(void)p;
	if (a->colors < 8) {
		app_say(a, "%s", _("Only the mono theme: the terminal has no colours, or NO_COLOR is set."));
		return 0;
	}
	do
		a->theme = (enum theme)(((int)a->theme + 1) % THEME_COUNT);
	while (!theme_possible(a->theme, a->colors));
	a->theme_chosen = true;
	app_say(a, _("Theme %s."), theme_names[a->theme]);
	keep_config(a);
	return APP_LOOK;
}

/* A changed scenario that has a name is worth a question; everything else can be rebuilt from the command line (y). */
static unsigned quit(struct app *a, const struct press *p)
{
	(void)p;
	if (a->name[0] == '\0' || !a->changed || a->asked)
		return APP_QUIT;
	a->asked = true;
	app_say(a, _("%.60s has changes that are not saved: S saves them, q again quits."), a->name);
	return 0;
}

static unsigned open_help_line(struct app *a);

static unsigned open_focus(struct app *a, const struct press *p)
{
	(void)p;
	if (a->view == VIEW_HELP)
		return open_help_line(a);
	if (view_kinds[a->view]->open != NULL)
		view_kinds[a->view]->open(a);
	else
		explain_focus(a);
	return 0;
}

/* Of every view that a key opens. */
#define SWITCH_ROW(id, ...) [UI_##id] = { .with = switch_view, .arg = VIEW_##id },

/* clang-format off */
/* What each action does: one of the functions, or no more than the bits. The rows that are missing belong to the prompt. */
static const struct handler {
	void (*run)(struct app *a);
	void (*with)(struct app *a, int arg);
	int arg;
	unsigned (*press)(struct app *a, const struct press *p);
	unsigned bits; /* enum app_dirty */
} handlers[UI_ACTION_COUNT] = {
	[UI_DOWN] = {.with = move, .arg = 1},
	[UI_UP] = {.with = move, .arg = -1},
	[UI_FIRST] = {.with = go_to_end, .arg = -1},
	[UI_LAST] = {.with = go_to_end, .arg = 1},
	[UI_PAGE_DOWN] = {.with = turn_page, .arg = 1},
	[UI_PAGE_UP] = {.with = turn_page, .arg = -1},
	[UI_LEFT] = {.with = move_sideways, .arg = -1},
	[UI_RIGHT] = {.with = move_sideways, .arg = 1},
	[UI_NEXT_PANE] = {.with = next_pane, .arg = 1},
	[UI_PREVIOUS_PANE] = {.with = next_pane, .arg = -1},
	[UI_FIND] = {.run = find},
	[UI_FIND_NEXT] = {.with = find_again, .arg = 1},
	[UI_FIND_PREVIOUS] = {.with = find_again, .arg = -1},
	VIEW_TABLE(SWITCH_ROW, NO_ROW)
	[UI_VIEW_NUMBER] = {.press = open_number},
	[UI_BACK] = {.run = go_back},
	[UI_EXPLAIN] = {.run = explain},
	[UI_PIN] = {.run = pin_set},
	[UI_UNPIN] = {.run = pin_drop},
	[UI_SWAP] = {.run = pin_swap},
	[UI_COMMAND] = {.with = push_view, .arg = VIEW_COMMAND},
	[UI_WRITE] = {.with = open_prompt, .arg = PROMPT_WRITE},
	[UI_SAVE] = {.with = open_prompt, .arg = PROMPT_SAVE},
	[UI_OPEN_SCENARIO] = {.with = open_prompt, .arg = PROMPT_OPEN},
	[UI_IMPORT] = {.with = open_prompt, .arg = PROMPT_IMPORT},
	[UI_FLAGS] = {.with = open_prompt, .arg = PROMPT_FLAGS},
	[UI_HELP] = {.press = open_help},
	[UI_ZOOM_IN] = {.with = zoom, .arg = 1},
	[UI_ZOOM_OUT] = {.with = zoom, .arg = -1},
	[UI_ZOOM_FIT] = {.with = zoom, .arg = -ZOOM_MAX},
	[UI_STEP_DOWN] = {.with = step, .arg = -1},
	[UI_STEP_UP] = {.with = step, .arg = 1},
	[UI_LEAP_DOWN] = {.with = step, .arg = -LEAP},
	[UI_LEAP_UP] = {.with = step, .arg = LEAP},
	[UI_TYPE] = {.run = type_value},
	[UI_TYPE_DIGIT] = {.press = type_digit},
	[UI_OPEN] = {.press = open_focus},
	[UI_DEFAULT] = {.run = reset},
	[UI_UNDO] = {.run = change_undo},
	[UI_REDO] = {.run = change_redo},
	[UI_SCHEDULE] = {.run = change_schedule},
	[UI_PLAY] = {.run = play},
	[UI_TICK_BACK] = {.with = tick, .arg = -1},
	[UI_TICK_ON] = {.with = tick, .arg = 1},
	[UI_SPEED] = {.press = set_speed},
	[UI_PREDICT] = {.run = labs_predict},
	[UI_FUTURE] = {.run = toggle_future},
	[UI_REASONS] = {.run = toggle_reasons},
	[UI_CONVENTION] = {.run = change_convention},
	[UI_ORDER] = {.run = next_order},
	[UI_MORE] = {.run = toggle_fewer},
	[UI_BIG] = {.run = toggle_big},
	[UI_THEME] = {.press = next_theme},
	[UI_QUIT] = {.press = quit},
	[UI_SUSPEND] = {.bits = APP_SUSPEND},
	[UI_REPAINT] = {.bits = APP_REPAINT},
};
/* clang-format on */

static bool is_handled(enum ui_action action)
{
	const struct handler *h = &handlers[action];
	return h->run != NULL || h->with != NULL || h->press != NULL || h->bits != 0;
}

/* Returns enum app_dirty bits; what a handler has to do with files it has left in a->effect. */
static unsigned handle(struct app *a, enum ui_action action, const struct press *p)
{
	const struct handler *h = &handlers[action];
	unsigned dirty = APP_DRAW | h->bits;
	if (h->run != NULL)
		h->run(a);
	if (h->with != NULL)
		h->with(a, h->arg);
	if (h->press != NULL)
		dirty |= h->press(a, p);
	return dirty | (a->effect.kind == EFFECT_NONE ? 0U : APP_EFFECT);
}

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
	if (p.key == 0 || !is_handled(target.action) || target.action == UI_HELP) {
		app_say(a, "%s", _("That key has no meaning where the help was called."));
		return 0;
	}
	app_pop_view(a);
	return handle(a, target.action, &p);
}

unsigned keys_press(struct app *a, uint32_t key)
{
	const struct press p = { key, app_context(a) };
	const enum ui_action action = input_lookup(p.context, key);
	a->message[0] = '\0';
	if (action != UI_QUIT)
		a->asked = false;
	if (p.context == CONTEXT_PROMPT && !is_handled(action))
		return APP_DRAW | prompt_update(a, key);
	return handle(a, action, &p);
}
