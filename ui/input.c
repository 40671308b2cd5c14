#include "input.h"

#include "glyphs.h"
#include "ui_text.h"
#include "view_kind.h"

#include <stdio.h>
#include <string.h>

const char *const action_group_names[GROUP_COUNT] = {
	[GROUP_MOVE] = N_("MOVE"),
	[GROUP_CHANGE] = N_("CHANGE"),
	[GROUP_VIEWS] = N_("VIEWS"),
	[GROUP_ASK] = N_("ASK"),
	[GROUP_FILES] = N_("FILES"),
	[GROUP_SCREEN] = N_("SCREEN"),
	[GROUP_PROMPT] = N_("PROMPT"),
};

/* Of every view that a key opens. */
#define NO_ROW(...)
#define ACTION_ROW(id, name, title, key, label, help, group) [UI_##id] = { #name, label, help, group, UI_NONE },
#define BINDING_ROW(id, name, title, key, ...) { CONTEXT_ALL, key, UI_##id },

/* clang-format off */
const struct ui_action_info ui_action_table[UI_ACTION_COUNT] = {
	[UI_NONE] = {"none", NULL, N_("does nothing"), GROUP_SCREEN, UI_NONE},
	[UI_DOWN] = {"down", NULL, N_("down"), GROUP_MOVE, UI_NONE},
	[UI_UP] = {"up", N_("move"), N_("up"), GROUP_MOVE, UI_DOWN},
	[UI_FIRST] = {"first", NULL, N_("first"), GROUP_MOVE, UI_NONE},
	[UI_LAST] = {"last", NULL, N_("last"), GROUP_MOVE, UI_NONE},
	[UI_PAGE_DOWN] = {"page-down", NULL, N_("one page down"), GROUP_MOVE, UI_NONE},
	[UI_PAGE_UP] = {"page-up", NULL, N_("one page up"), GROUP_MOVE, UI_NONE},
	[UI_NEXT_PANE] = {"next-pane", N_("pane"), N_("next pane, kind or term"), GROUP_MOVE, UI_NONE},
	[UI_PREVIOUS_PANE] = {"previous-pane", NULL, N_("the other way round"), GROUP_MOVE, UI_NONE},
	[UI_FIND] = {"find", N_("find"), N_("find in what is shown"), GROUP_MOVE, UI_NONE},
	[UI_FIND_NEXT] = {"find-next", NULL, N_("next hit"), GROUP_MOVE, UI_NONE},
	[UI_FIND_PREVIOUS] = {"find-previous", NULL, N_("previous hit"), GROUP_MOVE, UI_NONE},
	[UI_STEP_DOWN] = {"step-down", NULL, N_("one legal step down"), GROUP_CHANGE, UI_NONE},
	[UI_STEP_UP] = {"step-up", N_("change"), N_("one legal step up"), GROUP_CHANGE, UI_STEP_DOWN},
	[UI_LEAP_DOWN] = {"leap-down", NULL, N_("ten steps down"), GROUP_CHANGE, UI_NONE},
	[UI_LEAP_UP] = {"leap-up", N_("leap"), N_("ten steps up"), GROUP_CHANGE, UI_LEAP_DOWN},
	[UI_TYPE] = {"type", N_("type"), N_("type a value, such as 70B"), GROUP_CHANGE, UI_NONE},
	[UI_TYPE_DIGIT] = {"type-digit", NULL, N_("the same, with this digit"), GROUP_CHANGE, UI_NONE},
	[UI_OPEN] = {"open", N_("open"), N_("values; take; open"), GROUP_CHANGE, UI_NONE},
	[UI_DEFAULT] = {"default", NULL, N_("back to the default"), GROUP_CHANGE, UI_NONE},
	[UI_UNDO] = {"undo", N_("undo"), N_("undo"), GROUP_CHANGE, UI_NONE},
	[UI_REDO] = {"redo", NULL, N_("redo"), GROUP_CHANGE, UI_NONE},
	[UI_FLAGS] = {"flags", N_("flags"), N_("type flags: tp 4 seq 16k"), GROUP_CHANGE, UI_NONE},
	VIEW_TABLE(ACTION_ROW, NO_ROW)
	[UI_VIEW_NUMBER] = {"view-number", NULL, N_("view by number"), GROUP_VIEWS, UI_NONE},
	[UI_BACK] = {"back", N_("back"), N_("back one level"), GROUP_VIEWS, UI_NONE},
	[UI_EXPLAIN] = {"explain", N_("explain"), N_("explain the figure"), GROUP_ASK, UI_NONE},
	[UI_PIN] = {"pin", N_("pin"), N_("pin the plan to compare"), GROUP_ASK, UI_NONE},
	[UI_UNPIN] = {"unpin", N_("drop pin"), N_("drop the pin"), GROUP_ASK, UI_NONE},
	[UI_SWAP] = {"swap", N_("swap"), N_("swap with the pin"), GROUP_ASK, UI_NONE},
	[UI_WRITE] = {"write", N_("write"), N_("write this view to a file"), GROUP_FILES, UI_NONE},
	[UI_SAVE] = {"save", N_("save"), N_("save the scenario"), GROUP_FILES, UI_NONE},
	[UI_OPEN_SCENARIO] = {"open-scenario", N_("open"), N_("open a scenario"), GROUP_FILES, UI_NONE},
	[UI_IMPORT] = {"import", N_("import"), N_("import a config.json"), GROUP_FILES, UI_NONE},
	[UI_COMMAND] = {"command", N_("command"), N_("command line of the plan"), GROUP_ASK, UI_NONE},
	[UI_LEFT] = {"left", NULL, N_("to the left"), GROUP_MOVE, UI_NONE},
	[UI_RIGHT] = {"right", N_("across"), N_("to the right"), GROUP_MOVE, UI_LEFT},
	[UI_ZOOM_IN] = {"zoom-in", NULL, N_("zoom in"), GROUP_CHANGE, UI_NONE},
	[UI_ZOOM_OUT] = {"zoom-out", N_("zoom"), N_("zoom out"), GROUP_CHANGE, UI_ZOOM_IN},
	[UI_ZOOM_FIT] = {"zoom-fit", N_("fit"), N_("fit the whole drawing"), GROUP_CHANGE, UI_NONE},
	[UI_SCHEDULE] = {"schedule", N_("schedule"), N_("next legal schedule"), GROUP_CHANGE, UI_NONE},
	[UI_PLAY] = {"play", N_("play"), N_("play, pause"), GROUP_MOVE, UI_NONE},
	[UI_TICK_BACK] = {"tick-back", NULL, N_("one tick back"), GROUP_MOVE, UI_NONE},
	[UI_TICK_ON] = {"tick-on", N_("tick"), N_("one tick on"), GROUP_MOVE, UI_TICK_BACK},
	[UI_SPEED] = {"speed", NULL, N_("speed 1 to 9; 0 stops"), GROUP_MOVE, UI_NONE},
	[UI_PREDICT] = {"predict", N_("predict"), N_("answer the question"), GROUP_ASK, UI_NONE},
	[UI_FUTURE] = {"future", N_("future"), N_("hide or show what comes"), GROUP_SCREEN, UI_NONE},
	[UI_REASONS] = {"reasons", N_("why idle"), N_("idle gaps by reason"), GROUP_SCREEN, UI_NONE},
	[UI_CONVENTION] = {"convention", N_("convention"), N_("next convention of MFU"), GROUP_CHANGE, UI_NONE},
	[UI_ORDER] = {"order", N_("order"), N_("next order of the list"), GROUP_SCREEN, UI_NONE},
	[UI_HELP] = {"help", N_("help"), N_("help for this view"), GROUP_SCREEN, UI_NONE},
	[UI_MORE] = {"more", N_("more"), N_("more or fewer settings"), GROUP_SCREEN, UI_NONE},
	[UI_BIG] = {"big", N_("normal size"), N_("big mode"), GROUP_SCREEN, UI_NONE},
	[UI_THEME] = {"theme", NULL, N_("next theme"), GROUP_SCREEN, UI_NONE},
	[UI_REPAINT] = {"repaint", NULL, N_("draw again"), GROUP_SCREEN, UI_NONE},
	[UI_SUSPEND] = {"suspend", NULL, N_("suspend"), GROUP_SCREEN, UI_NONE},
	[UI_QUIT] = {"quit", N_("quit"), N_("quit"), GROUP_SCREEN, UI_NONE},
	[UI_ACCEPT] = {"accept", N_("accept"), N_("accept the text"), GROUP_PROMPT, UI_NONE},
	[UI_CANCEL] = {"cancel", N_("cancel"), N_("keep the old value"), GROUP_PROMPT, UI_NONE},
	[UI_CLEAR] = {"clear", N_("clear"), N_("clear the text"), GROUP_PROMPT, UI_NONE},
	[UI_COMPLETE] = {"complete", NULL, N_("complete the name"), GROUP_PROMPT, UI_NONE},
	[UI_ERASE] = {"erase", NULL, N_("erase to the left"), GROUP_PROMPT, UI_NONE},
	[UI_ERASE_NEXT] = {"erase-next", NULL, N_("erase to the right"), GROUP_PROMPT, UI_NONE},
	[UI_CURSOR_LEFT] = {"cursor-left", NULL, N_("cursor left"), GROUP_PROMPT, UI_NONE},
	[UI_CURSOR_RIGHT] = {"cursor-right", NULL, N_("cursor right"), GROUP_PROMPT, UI_NONE},
	[UI_CURSOR_START] = {"cursor-start", NULL, N_("cursor to the start"), GROUP_PROMPT, UI_NONE},
	[UI_CURSOR_END] = {"cursor-end", NULL, N_("cursor to the end"), GROUP_PROMPT, UI_NONE},
};
/* clang-format on */

/* clang-format off */
/* What several contexts have alike. */
#define SIDEWAYS_ROWS(context) \
	{context, 'h', UI_LEFT}, {context, INPUT_LEFT, UI_LEFT}, {context, 'l', UI_RIGHT}, {context, INPUT_RIGHT, UI_RIGHT},
#define STEP_ROWS(context) \
	{context, 'h', UI_STEP_DOWN}, {context, INPUT_LEFT, UI_STEP_DOWN}, \
	{context, 'l', UI_STEP_UP}, {context, INPUT_RIGHT, UI_STEP_UP},
#define LEAP_ROWS(context) \
	{context, 'H', UI_LEAP_DOWN}, {context, INPUT_SHIFT_LEFT, UI_LEAP_DOWN}, \
	{context, 'L', UI_LEAP_UP}, {context, INPUT_SHIFT_RIGHT, UI_LEAP_UP},
#define SLIDER_ROWS(context) \
	STEP_ROWS(context) LEAP_ROWS(context) \
	{context, '=', UI_TYPE}, {context, INPUT_DIGIT, UI_TYPE_DIGIT}, {context, 'r', UI_DEFAULT},

/* Letters come before the keys that a keyboard or a multiplexer may lack. No context changes a key of CONTEXT_ALL. */
const struct binding binding_table[] = {
	{CONTEXT_ALL, '?', UI_HELP},
	{CONTEXT_ALL, INPUT_F1, UI_HELP},
	{CONTEXT_ALL, 'q', UI_QUIT},
	{CONTEXT_ALL, INPUT_F10, UI_QUIT},
	{CONTEXT_ALL, INPUT_ESCAPE, UI_BACK},
	{CONTEXT_ALL, INPUT_TAB, UI_NEXT_PANE},
	{CONTEXT_ALL, INPUT_SHIFT_TAB, UI_PREVIOUS_PANE},
	{CONTEXT_ALL, 'j', UI_DOWN},
	{CONTEXT_ALL, INPUT_DOWN, UI_DOWN},
	{CONTEXT_ALL, 'k', UI_UP},
	{CONTEXT_ALL, INPUT_UP, UI_UP},
	{CONTEXT_ALL, 'g', UI_FIRST},
	{CONTEXT_ALL, INPUT_HOME, UI_FIRST},
	{CONTEXT_ALL, 'G', UI_LAST},
	{CONTEXT_ALL, INPUT_END, UI_LAST},
	{CONTEXT_ALL, INPUT_CTRL_F, UI_PAGE_DOWN},
	{CONTEXT_ALL, INPUT_PAGE_DOWN, UI_PAGE_DOWN},
	{CONTEXT_ALL, INPUT_CTRL_B, UI_PAGE_UP},
	{CONTEXT_ALL, INPUT_PAGE_UP, UI_PAGE_UP},
	{CONTEXT_ALL, '/', UI_FIND},
	{CONTEXT_ALL, 'n', UI_FIND_NEXT},
	{CONTEXT_ALL, 'N', UI_FIND_PREVIOUS},
	{CONTEXT_ALL, INPUT_ENTER, UI_OPEN},
	{CONTEXT_ALL, 'e', UI_EXPLAIN},
	{CONTEXT_ALL, 'c', UI_PIN},
	{CONTEXT_ALL, 'C', UI_UNPIN},
	{CONTEXT_ALL, 'x', UI_SWAP},
	{CONTEXT_ALL, 'u', UI_UNDO},
	{CONTEXT_ALL, INPUT_CTRL_R, UI_REDO},
	{CONTEXT_ALL, 'y', UI_COMMAND},
	{CONTEXT_ALL, ':', UI_FLAGS},
	VIEW_TABLE(BINDING_ROW, NO_ROW)
	{CONTEXT_ALL, 'w', UI_WRITE},
	{CONTEXT_ALL, 'S', UI_SAVE},
	{CONTEXT_ALL, 'O', UI_OPEN_SCENARIO},
	{CONTEXT_ALL, 'B', UI_BIG},
	{CONTEXT_ALL, 'T', UI_THEME},
	{CONTEXT_ALL, INPUT_CTRL_L, UI_REPAINT},
	{CONTEXT_ALL, INPUT_CTRL_Z, UI_SUSPEND},
	SLIDER_ROWS(CONTEXT_SETTINGS)
	{CONTEXT_SETTINGS, 'i', UI_MORE},
	SIDEWAYS_ROWS(CONTEXT_FIGURES)
	{CONTEXT_FIGURES, INPUT_DIGIT, UI_VIEW_NUMBER},
	SIDEWAYS_ROWS(CONTEXT_MEMORY)
	SLIDER_ROWS(CONTEXT_LEDGER)
	SIDEWAYS_ROWS(CONTEXT_PIPELINE)
	{CONTEXT_PIPELINE, '+', UI_ZOOM_IN},
	{CONTEXT_PIPELINE, '-', UI_ZOOM_OUT},
	{CONTEXT_PIPELINE, 'z', UI_ZOOM_FIT},
	{CONTEXT_PIPELINE, 's', UI_SCHEDULE},
	{CONTEXT_PIPELINE, ' ', UI_PLAY},
	{CONTEXT_PIPELINE, ',', UI_TICK_BACK},
	{CONTEXT_PIPELINE, '.', UI_TICK_ON},
	{CONTEXT_PIPELINE, INPUT_DIGIT, UI_SPEED},
	{CONTEXT_PIPELINE, 'F', UI_FUTURE},
	{CONTEXT_PIPELINE, 'v', UI_REASONS},
	SIDEWAYS_ROWS(CONTEXT_TIME)
	{CONTEXT_TIME, 'v', UI_CONVENTION},
	{CONTEXT_TIME, INPUT_DIGIT, UI_VIEW_NUMBER},
	SIDEWAYS_ROWS(CONTEXT_COST)
	{CONTEXT_COST, INPUT_DIGIT, UI_VIEW_NUMBER},
	SLIDER_ROWS(CONTEXT_BILL)
	SIDEWAYS_ROWS(CONTEXT_COMPARE)
	{CONTEXT_PRESETS, 'I', UI_IMPORT},
	{CONTEXT_SPACE, 'o', UI_ORDER},
	STEP_ROWS(CONTEXT_LABS)
	{CONTEXT_LABS, 'r', UI_DEFAULT},
	{CONTEXT_LABS, '=', UI_TYPE},
	{CONTEXT_LABS, INPUT_DIGIT, UI_VIEW_NUMBER},
	SLIDER_ROWS(CONTEXT_LAB_PARAMS)
	{CONTEXT_LAB, ' ', UI_PLAY},
	{CONTEXT_LAB, ',', UI_TICK_BACK},
	{CONTEXT_LAB, 'h', UI_TICK_BACK},
	{CONTEXT_LAB, INPUT_LEFT, UI_TICK_BACK},
	{CONTEXT_LAB, '.', UI_TICK_ON},
	{CONTEXT_LAB, 'l', UI_TICK_ON},
	{CONTEXT_LAB, INPUT_RIGHT, UI_TICK_ON},
	LEAP_ROWS(CONTEXT_LAB)
	{CONTEXT_LAB, INPUT_DIGIT, UI_SPEED},
	{CONTEXT_LAB, 'P', UI_PREDICT},
	{CONTEXT_PROMPT, INPUT_ENTER, UI_ACCEPT},
	{CONTEXT_PROMPT, INPUT_ESCAPE, UI_CANCEL},
	{CONTEXT_PROMPT, INPUT_TAB, UI_COMPLETE},
	{CONTEXT_PROMPT, INPUT_CTRL_U, UI_CLEAR},
	{CONTEXT_PROMPT, INPUT_BACKSPACE, UI_ERASE},
	{CONTEXT_PROMPT, INPUT_DELETE, UI_ERASE_NEXT},
	{CONTEXT_PROMPT, INPUT_LEFT, UI_CURSOR_LEFT},
	{CONTEXT_PROMPT, INPUT_RIGHT, UI_CURSOR_RIGHT},
	{CONTEXT_PROMPT, INPUT_HOME, UI_CURSOR_START},
	{CONTEXT_PROMPT, INPUT_END, UI_CURSOR_END},
	{CONTEXT_PROMPT, INPUT_CTRL_L, UI_REPAINT},
	{CONTEXT_PROMPT, INPUT_CTRL_Z, UI_SUSPEND},
};
/* clang-format on */
const size_t n_bindings = sizeof(binding_table) / sizeof(binding_table[0]);

/* The view of a context and which of its panes; NULL for those of no view. */
static const struct view_kind *kind_of(enum context context, int *pane)
{
	const int place = (int)context - (int)CONTEXT_MAIN;
	*pane = place % 2;
	return place >= 0 && place / 2 < VIEW_COUNT ? view_kinds[place / 2] : NULL;
}

#define TITLE_ROW(id, name, title, ...) [VIEW_##id] = title,
#define INNER_TITLE_ROW(id, name, title) [VIEW_##id] = title,

const char *input_context_name(enum context context)
{
	static const char *const titles[VIEW_COUNT] = { VIEW_TABLE(TITLE_ROW, INNER_TITLE_ROW) };
	int pane;
	const struct view_kind *kind = kind_of(context, &pane);
	if (kind != NULL)
		return ui_text(pane > 0 ? kind->second : titles[((int)context - (int)CONTEXT_MAIN) / 2]);
	return context == CONTEXT_PROMPT ? _("prompt") : _("everywhere");
}

const enum ui_action *input_footer(enum context context)
{
	static const enum ui_action none[] = { UI_NONE }, prompt[] = { UI_ACCEPT, UI_CANCEL, UI_CLEAR, UI_NONE };
	int pane;
	const struct view_kind *kind = kind_of(context, &pane);
	return kind != NULL ? kind->footer[pane] : context == CONTEXT_PROMPT ? prompt : none;
}

const char *input_label(enum context context, enum ui_action action)
{
	int pane;
	const struct view_kind *kind = kind_of(context, &pane);
	return action == UI_OPEN && kind != NULL && kind->open_label != NULL ? _(kind->open_label)
									     : _(ui_action_table[action].label);
}

/* clang-format off */
static const struct {
	uint32_t key;
	const char *name;
} key_names[] = {
	{INPUT_CTRL_B, "Ctrl-B"}, {INPUT_CTRL_F, "Ctrl-F"}, {INPUT_BACKSPACE, "Backspace"}, {INPUT_TAB, "Tab"}, {INPUT_ENTER,
	"Enter"},
	{INPUT_CTRL_L, "Ctrl-L"}, {INPUT_CTRL_R, "Ctrl-R"}, {INPUT_CTRL_U, "Ctrl-U"}, {INPUT_CTRL_Z, "Ctrl-Z"}, {INPUT_ESCAPE,
	"Esc"},
	{' ', "Space"}, {INPUT_UP, "Up"}, {INPUT_DOWN, "Down"}, {INPUT_LEFT, "Left"}, {INPUT_RIGHT, "Right"},
	{INPUT_SHIFT_LEFT, "Shift-Left"}, {INPUT_SHIFT_RIGHT, "Shift-Right"}, {INPUT_HOME, "Home"}, {INPUT_END, "End"},
	{INPUT_PAGE_UP, "PgUp"}, {INPUT_PAGE_DOWN, "PgDn"}, {INPUT_SHIFT_TAB, "Shift-Tab"}, {INPUT_DELETE, "Del"}, {INPUT_F1,
	"F1"},
	{INPUT_F10, "F10"}, {INPUT_DIGIT, "0-9"},
};
/* clang-format on */

static enum ui_action lookup_exact(enum context context, uint32_t key)
{
	for (size_t i = 0; i < n_bindings; i++) {
		if (binding_table[i].context == context && binding_table[i].key == key)
			return binding_table[i].action;
	}
	return UI_NONE;
}

enum ui_action input_lookup(enum context context, uint32_t key)
{
	enum ui_action action = lookup_exact(context, key);
	if (action == UI_NONE && key >= '0' && key <= '9')
		action = lookup_exact(context, INPUT_DIGIT);
	if (action == UI_NONE && context != CONTEXT_PROMPT)
		action = lookup_exact(CONTEXT_ALL, key);
	return action;
}

char *input_key_name(uint32_t key, char *buf, size_t cap)
{
	char utf8[5];
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++) {
		if (key_names[i].key == key) {
			(void)snprintf(buf, cap, "%s", key_names[i].name);
			return buf;
		}
	}
	(void)glyph_encode(key <= 0x10ffff ? key : '?', utf8);
	(void)snprintf(buf, cap, "%s", utf8);
	return buf;
}

uint32_t input_key_parse(const char *name)
{
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++) {
		if (strcmp(key_names[i].name, name) == 0)
			return key_names[i].key;
	}
	const uint32_t key = glyph_decode(&name);
	return key != 0 && *name == '\0' ? key : 0;
}

char *input_keys_of(enum context context, enum ui_action action, char *buf, size_t cap)
{
	size_t len = 0;
	buf[0] = '\0';
	for (size_t i = 0; i < n_bindings; i++) {
		char name[16];
		const struct binding *b = &binding_table[i];
		if (b->action != action || b->context != context)
			continue;
		(void)input_key_name(b->key, name, sizeof(name));
		const int n = snprintf(buf + len, cap - len, "%s%s", len == 0 ? "" : " ", name);
		if (n < 0 || (size_t)n >= cap - len)
			break;
		len += (size_t)n;
	}
	return buf;
}
