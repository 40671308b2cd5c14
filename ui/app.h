/* The whole state of the user interface, and the one function that changes it. No curses, no files, no clock: the same events
 * always lead to the same state, whether they come from a keyboard, a script or a test. */
#ifndef MESHPLAN_APP_H
#define MESHPLAN_APP_H

#include "advice.h"
#include "browser.h"
#include "catalog.h"
#include "history.h"
#include "input.h"
#include "knobs.h"
#include "lab.h"
#include "layout.h"
#include "plan.h"
#include "settings.h"
#include "space.h"
#include "theme.h"

#include <stdbool.h>

/* What the caller of app_update has to do. APP_EFFECT: run a->effect (effect.h), then draw. */
enum app_dirty { APP_DRAW = 1, APP_REPAINT = 2, APP_SUSPEND = 4, APP_QUIT = 8, APP_EFFECT = 16, APP_LOOK = 32 };

enum pane { PANE_SETTINGS, PANE_FIGURES };
enum prompt_kind {
	PROMPT_NONE,
	PROMPT_VALUE,
	PROMPT_PARAM,   /* of a lab */
	PROMPT_PREDICT, /* the answer to its question */
	PROMPT_FLAGS,
	PROMPT_FIND,
	PROMPT_WRITE,
	PROMPT_SAVE,
	PROMPT_OPEN,
	PROMPT_IMPORT,
	PROMPT_COUNT
};

/* What touches files is only asked for here: the loop does it. */
enum effect_kind { EFFECT_NONE, EFFECT_WRITE, EFFECT_SAVE, EFFECT_OPEN, EFFECT_IMPORT, EFFECT_LIST, EFFECT_CONFIG };
enum { APP_PATH_CAP = 256, FIGURE_PATH_CAP = 64 };
struct effect {
	enum effect_kind kind;
	char path[APP_PATH_CAP]; /* as typed */
};

/* What one step of the focused setting would do. */
struct preview {
	bool possible, same;      /* same: neither the need nor the room to spare would change */
	char value[48];           /* where the step leads; "" at the end of the range */
	char reason[ERR_MSG_CAP]; /* why not */
	int64_t change_bytes;
	double step_s, usd; /* 0: not known */
	struct verdict verdict;
};

struct prompt {
	enum prompt_kind kind;
	char text[APP_PATH_CAP];
	size_t len, cursor;     /* bytes, between characters */
	bool good;              /* Enter would accept */
	char take[48];          /* else Enter would take this, the nearest legal value; "" if there is none */
	char note[ERR_MSG_CAP]; /* how it was read, or why not */
};

enum { LIST_STOPS_MAX = 512 };

/* The list of values of a setting. */
struct value_list {
	size_t knob;
	struct knob_stop stops[LIST_STOPS_MAX];
	size_t n_stops;
	size_t match[LIST_STOPS_MAX], n; /* stops that the filter lets through */
	size_t focus;                    /* index into match */
	char filter[32];
};

/* The last number that was typed for a setting: a stop of its slider, wherever it stands. */
struct typed_stop {
	bool set;
	size_t knob;
	int64_t value;
};

/* A plan to compare with. */
struct pin {
	bool set;
	struct draft draft;
	struct plan plan;
	struct stage_memory stages[STAGE_LIST_MAX];
	size_t n_stages;
};

/* The tick player of the pipeline view. */
struct player {
	bool playing, hide_future, reasons; /* reasons: idle gaps show why */
	int speed;                          /* 1 .. 9 */
	int64_t now, ticks;                 /* 0 <= now < ticks, those of the pipeline as drawn */
	struct pipeline of;                 /* what ticks belongs to */
};

/* The order of a greedy schedule that takes too long to be generated while a key waits: made in slices for the pipeline view. */
struct exact_order {
	void *workspace; /* owned; NULL: not begun, or not wanted */
	struct order_build build;
};

/* The laboratory. */
struct lab_play; /* labs.h */
struct labs {
	size_t focus, param;    /* in lab_table, among its parameters */
	bool on_params;         /* the focus is on the parameter */
	struct lab_input input; /* of the lab in focus */
	struct lab_play *play;  /* owned; NULL: nothing was run */
	int64_t at;             /* step of the player; behind the last one: what was proved */
	bool playing;
};

enum { APP_DEPTH_MAX = 8, APP_TRAIL_MAX = 8, APP_MESSAGE_CAP = ERR_MSG_CAP };

struct app {
	const struct catalog *catalog;
	const struct preset_texts *texts; /* NULL: none */
	int w, h;

	struct draft draft; /* always legal */
	struct plan plan;   /* plan_evaluate(draft) */
	struct stage_memory stages[STAGE_LIST_MAX];
	size_t n_stages;
	struct preview preview[2]; /* one step down, one step up */
	struct history history;
	struct pin pin;
	struct advice advice; /* for the present draft; grows while the loop is idle */
	struct space space;   /* the same */
	struct space_best best;

	enum view_id view, below[APP_DEPTH_MAX]; /* Esc returns to the view below */
	size_t depth;
	enum pane pane;
	size_t focus; /* index in the knob table */
	struct typed_stop typed;
	bool ledger;                  /* memory view: the focus is on a row of the ledger, which is a setting */
	size_t settings_top;          /* first row of the pane */
	bool fewer;                   /* only the main settings */
	char figure[FIGURE_PATH_CAP]; /* focus among the figures: a path of the plan document */
	size_t figure_stage;          /* the stage it belongs to, or the last one that did */
	size_t scroll[VIEW_COUNT];    /* first row of a view that scrolls; of the help the line in focus */
	int zoom;                     /* pipeline view: columns per tick, 0: fit */
	int64_t tick;                 /* pipeline view: first tick shown when zoomed */
	struct player player;
	struct exact_order exact;                   /* of player.of */
	enum context help_context;                  /* help view: where it was called from */
	char path[FIGURE_PATH_CAP];                 /* explain view: the figure or setting */
	char trail[APP_TRAIL_MAX][FIGURE_PATH_CAP]; /* the ones it was reached by */
	size_t n_trail, term;                       /* term: the one that Enter follows */
	size_t advice_focus, space_focus;
	struct browser browser;
	struct labs labs;

	struct prompt prompt;
	struct value_list list;
	size_t find_from; /* focus before a search, a setting or a line of the help */
	char found[32];   /* the last search, for n and N */
	struct effect effect;
	char message[APP_MESSAGE_CAP]; /* answer to the last key, "" if none */

	bool big;
	int colors;        /* of the terminal */
	enum theme theme;  /* as shown */
	bool theme_chosen; /* by a key or by name; else it follows the terminal */
	bool ascii;
	int glyphs;              /* as in ui_config: -1 the locale decides */
	char name[APP_PATH_CAP]; /* the scenario that was saved or opened, "" if none */
	bool changed, asked;     /* it changed since; quitting was questioned */
};

/* Starts on the main screen with a draft that plan_evaluate accepts. */
enum err_code app_init(struct app *a, const struct catalog *c, const struct draft *d, int w, int h, struct err *e) NODISCARD;
/* Applies one event. Returns enum app_dirty bits. */
unsigned app_update(struct app *a, const struct event *ev);

/* Frees what app_update allocated. */
void app_close(struct app *a);

/* The setting that has the focus. */
const struct knob *app_knob(const struct app *a);
/* The stage that decides. */
size_t app_worst_stage(const struct app *a);
/* Which bindings are in force. */
enum context app_context(const struct app *a);
/* Rows of the settings pane as they are now. */
size_t app_settings_rows(const struct app *a, struct setting_row rows[SETTING_ROWS_MAX]);
/* Draws what is known at the moment; the rest in slices of about a millisecond: app_work does one and returns whether something
 * changed, app_busy says whether there are more. */
bool app_busy(const struct app *a);
bool app_work(struct app *a);
/* Where everything stands now. */
void app_layout(const struct app *a, struct screen_layout *l);
/* Indices of the settings that differ from the pinned plan, at most cap; returns how many there are. */
size_t pin_differences(const struct app *a, size_t *out, size_t cap);
/* The path that a term of an explanation leads to; false if it leads nowhere. */
struct explain_value;
bool explain_target(const struct app *a, const struct explain_value *x, char out[FIGURE_PATH_CAP]);
/* For the effects: takes over a draft that was read, a name for it; says something in the message line. */
enum err_code app_load(struct app *a, const struct draft *d, const char *name, struct err *e) NODISCARD;
void app_say(struct app *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Milliseconds until EVENT_TICK is due if nothing else comes; -1: never. */
int app_wait_ms(const struct app *a);
/* Ticks a second at the present speed. */
int app_ticks_per_s(const struct app *a);

#endif
