/* Events, keys, actions, and the one table that binds keys to actions. The help screen, the footer and the manual page iterate
 * the same rows, so that none of them can tell a lie. */
#ifndef MESHPLAN_INPUT_H
#define MESHPLAN_INPUT_H

#include "views.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EVENT_NONE,
	EVENT_KEY,
	EVENT_RESIZE,
	EVENT_TICK, /* nothing came for as long as app_wait_ms says */
	EVENT_END,  /* the terminal is gone, or a signal asks us to stop */
};

/* Keys are code points; the ones without a code point lie above Unicode. */
enum key {
	INPUT_CTRL_B = 2,
	INPUT_CTRL_F = 6,
	INPUT_BACKSPACE = 8,
	INPUT_TAB = 9,
	INPUT_ENTER = 10,
	INPUT_CTRL_L = 12,
	INPUT_CTRL_R = 18,
	INPUT_CTRL_U = 21,
	INPUT_CTRL_Z = 26,
	INPUT_ESCAPE = 27,
	INPUT_UP = 0x110000,
	INPUT_DOWN,
	INPUT_LEFT,
	INPUT_RIGHT,
	INPUT_SHIFT_LEFT,
	INPUT_SHIFT_RIGHT,
	INPUT_HOME,
	INPUT_END,
	INPUT_PAGE_UP,
	INPUT_PAGE_DOWN,
	INPUT_SHIFT_TAB,
	INPUT_DELETE,
	INPUT_F1,
	INPUT_F10,
	INPUT_DIGIT, /* in the binding table: any of 0 to 9 */
};

struct event {
	enum event_kind kind;
	uint32_t key; /* EVENT_KEY */
	int w, h;     /* EVENT_RESIZE */
};

/* Which bindings are in force: those of all, then two for each view, of its first and of its second pane. */
enum context {
	CONTEXT_ALL,
#define CONTEXT_PANES(id, ...) CONTEXT_##id, CONTEXT_##id##_SECOND,
	VIEW_TABLE(CONTEXT_PANES, CONTEXT_PANES)
#undef CONTEXT_PANES
		CONTEXT_PROMPT, /* the only one that does not fall back to CONTEXT_ALL: text goes to the prompt */
	CONTEXT_COUNT,
	CONTEXT_SETTINGS = CONTEXT_MAIN,
	CONTEXT_FIGURES = CONTEXT_MAIN_SECOND,
	CONTEXT_LEDGER = CONTEXT_MEMORY_SECOND,   /* bytes per parameter */
	CONTEXT_BILL = CONTEXT_COST_SECOND,       /* a setting */
	CONTEXT_LAB_PARAMS = CONTEXT_LABS_SECOND, /* a parameter */
};
/* What the help calls the keys of a context, translated. */
const char *input_context_name(enum context context);

enum ui_action {
	UI_NONE,
	/* move */
	UI_DOWN,
	UI_UP,
	UI_FIRST,
	UI_LAST,
	UI_PAGE_DOWN,
	UI_PAGE_UP,
	UI_NEXT_PANE,
	UI_PREVIOUS_PANE,
	UI_FIND,
	UI_FIND_NEXT,
	UI_FIND_PREVIOUS,
	/* change */
	UI_STEP_DOWN,
	UI_STEP_UP,
	UI_LEAP_DOWN,
	UI_LEAP_UP,
	UI_TYPE,
	UI_TYPE_DIGIT,
	UI_OPEN,
	UI_DEFAULT,
	UI_UNDO,
	UI_REDO,
	UI_FLAGS,
	/* views, and what else one can ask for */
	UI_EXPLAIN,
#define OPENING_ACTION(id, ...) UI_##id,
#define NO_ACTION(...)
	VIEW_TABLE(OPENING_ACTION, NO_ACTION)
#undef OPENING_ACTION
#undef NO_ACTION
		UI_VIEW_NUMBER,
	UI_BACK,
	UI_PIN,
	UI_UNPIN,
	UI_SWAP,
	UI_COMMAND,
	/* files */
	UI_WRITE,
	UI_SAVE,
	UI_OPEN_SCENARIO,
	UI_IMPORT,
	/* inside views */
	UI_LEFT,
	UI_RIGHT,
	UI_ZOOM_IN,
	UI_ZOOM_OUT,
	UI_ZOOM_FIT,
	UI_SCHEDULE,
	UI_PLAY,
	UI_TICK_BACK,
	UI_TICK_ON,
	UI_SPEED,
	UI_PREDICT,
	UI_FUTURE,
	UI_REASONS,
	UI_CONVENTION,
	UI_ORDER,
	/* screen */
	UI_HELP,
	UI_MORE,
	UI_BIG,
	UI_THEME,
	UI_REPAINT,
	UI_SUSPEND,
	UI_QUIT,
	/* prompt */
	UI_ACCEPT,
	UI_CANCEL,
	UI_CLEAR,
	UI_COMPLETE,
	UI_ERASE,
	UI_ERASE_NEXT,
	UI_CURSOR_LEFT,
	UI_CURSOR_RIGHT,
	UI_CURSOR_START,
	UI_CURSOR_END,
	UI_ACTION_COUNT
};

enum action_group { GROUP_MOVE, GROUP_CHANGE, GROUP_VIEWS, GROUP_ASK, GROUP_FILES, GROUP_SCREEN, GROUP_PROMPT, GROUP_COUNT };
extern const char *const action_group_names[GROUP_COUNT]; /* N_() */

struct ui_action_info {
	const char *name;  /* stable id */
	const char *label; /* N_(): one or two words for the footer; NULL: never there */
	const char *help;  /* N_(): one line */
	enum action_group group;
	enum ui_action pair; /* the opposite, whose key the footer names first: "h/l change" */
};
extern const struct ui_action_info ui_action_table[UI_ACTION_COUNT];

struct binding {
	enum context context;
	uint32_t key;
	enum ui_action action;
};
extern const struct binding binding_table[];
extern const size_t n_bindings;

/* The action of a key in a context, or UI_NONE. */
enum ui_action input_lookup(enum context context, uint32_t key);
/* What the footer shows in a context: actions, most useful first, ended by UI_NONE. */
const enum ui_action *input_footer(enum context context);
/* What the footer calls an action there. */
const char *input_label(enum context context, enum ui_action action);
/* "Left", "Ctrl-R", "x": the name of a key, as scripts and the help write it. Returns buf. */
char *input_key_name(uint32_t key, char *buf, size_t cap);
/* Reads such a name; 0 if there is none. */
uint32_t input_key_parse(const char *name);
/* The keys of an action in a context (or in all), letters first: "h Left". Returns buf, "" if there is none. */
char *input_keys_of(enum context context, enum ui_action action, char *buf, size_t cap);

#endif
