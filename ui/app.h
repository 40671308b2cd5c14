/* The whole state of the user interface, and the one function that changes it. No curses, no files, no clock: the same events
 * always lead to the same state, whether they come from a keyboard, a script or a test. */
#ifndef MESHPLAN_APP_H
#define MESHPLAN_APP_H

#include "catalog.h"
#include "history.h"
#include "input.h"
#include "knobs.h"
#include "layout.h"
#include "plan.h"
#include "settings.h"

#include <stdbool.h>

/* What the caller of app_update has to do. */
enum app_dirty { APP_DRAW = 1, APP_REPAINT = 2, APP_SUSPEND = 4, APP_QUIT = 8 };

enum view_id { VIEW_MAIN, VIEW_MEMORY, VIEW_PIPELINE, VIEW_HELP, VIEW_EXPLAIN, VIEW_LIST, VIEW_COMMAND, VIEW_COUNT };
enum pane { PANE_SETTINGS, PANE_FIGURES };
enum prompt_kind { PROMPT_NONE, PROMPT_VALUE, PROMPT_FLAGS, PROMPT_FIND };

/* What one step of the focused setting would do. */
struct preview {
	bool possible, same;      /* same: neither the need nor the room to spare would change */
	char value[48];           /* where the step leads; "" at the end of the range */
	char reason[ERR_MSG_CAP]; /* why not */
	int64_t change_bytes;
	struct verdict verdict;
};

struct prompt {
	enum prompt_kind kind;
	char text[96];
	size_t len, cursor;     /* bytes; the text is ASCII */
	bool good;              /* Enter would accept */
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

enum { FIGURE_TOTAL = -1, APP_DEPTH_MAX = 8, APP_MESSAGE_CAP = ERR_MSG_CAP };

struct app {
	const struct catalog *catalog;
	int w, h;

	struct draft draft; /* always legal */
	struct plan plan;   /* plan_evaluate(draft) */
	struct stage_memory stages[STAGE_LIST_MAX];
	size_t n_stages;
	struct preview preview[2]; /* one step down, one step up */
	struct history history;

	enum view_id view, below[APP_DEPTH_MAX]; /* Esc returns to the view below */
	size_t depth;
	enum pane pane;
	size_t focus;              /* index in the knob table */
	size_t settings_top;       /* first row of the pane */
	bool fewer;                /* only the main settings */
	size_t figure_stage;       /* focus among the figures */
	int figure_category;       /* enum memory_category in drawing order, FIGURE_TOTAL */
	size_t scroll[VIEW_COUNT]; /* first row of a view that scrolls */
	int zoom;                  /* pipeline view: columns per tick, 0: fit */
	int64_t tick;              /* pipeline view: first tick shown when zoomed */
	char path[64];             /* explain view: the figure; "" explains the focused setting */
	enum context help_context; /* help view: where it was called from */

	struct prompt prompt;
	struct value_list list;
	size_t find_from;              /* focus before a search */
	char message[APP_MESSAGE_CAP]; /* answer to the last key, "" if none */
};

/* Starts on the main screen with a draft that plan_evaluate accepts. */
enum err_code app_init(struct app *a, const struct catalog *c, const struct draft *d, int w, int h, struct err *e) NODISCARD;
/* Applies one event. Returns enum app_dirty bits. */
unsigned app_update(struct app *a, const struct event *ev);

/* The setting that has the focus. */
const struct knob *app_knob(const struct app *a);
/* Which bindings are in force. */
enum context app_context(const struct app *a);
/* Rows of the settings pane as they are now. */
size_t app_settings_rows(const struct app *a, struct setting_row rows[SETTING_ROWS_MAX]);
/* Ticks of the whole pipeline, for scrolling. */
int64_t app_pipeline_ticks(const struct app *a);

#endif
