/* Parts of app_update, by concern. The app*.c files include this, and the views, whose rows name what their keys do. */
#ifndef MESHPLAN_APP_INTERNAL_H
#define MESHPLAN_APP_INTERNAL_H

#include "explain.h"
#include "view_kind.h"

/* app_keys.c: does what a key is bound to. Returns enum app_dirty bits. */
unsigned keys_press(struct app *a, uint32_t key);

/* app_change.c: everything that changes the draft. Each adopts a legal draft only, and says in a->message what happened. */
enum err_code change_adopt(struct app *a, const struct draft *d, const struct knob_moves *moves, struct err *e) NODISCARD;
/* The same, said in a->message when it cannot be; code: how the making of the draft ended. False then. */
bool change_take(struct app *a, enum err_code code, const struct draft *d, const struct knob_moves *moves, struct err *e);
void change_refresh(struct app *a); /* plan, stages and preview of the present draft */
void change_preview(struct app *a);
/* False, with a message, for a knob that cannot be stepped. */
bool change_has_stops(struct app *a, const struct knob *k);
void change_step(struct app *a, int steps);
void change_remember(struct app *a); /* the value in focus was typed */
void change_put(struct app *a, const struct knob *k, int64_t value);
void change_default(struct app *a);
void change_undo(struct app *a);
void change_redo(struct app *a);
void change_schedule(struct app *a);
void change_convention(struct app *a);

/* app_prompt.c: a line of text at the bottom. */
void prompt_open(struct app *a, enum prompt_kind kind, const char *text);
/* Returns enum app_dirty bits beyond APP_DRAW. */
unsigned prompt_update(struct app *a, uint32_t key);
/* Reads the text of the prompt as it stands. */
void prompt_read(struct app *a);
/* app_complete.c: Tab. */
void prompt_complete(struct app *a);

/* app_list.c: the values of the focused setting. */
void list_open(struct app *a);
void list_move(struct app *a, int64_t by);
void list_take(struct app *a);
extern const struct view_search list_search;

/* app_take.c: presets, advice, layouts: the line in focus, and what Enter does with it. */
void presets_opened(struct app *a);
void presets_move(struct app *a, int64_t by);
void presets_page(struct app *a, int by);
void presets_next_kind(struct app *a, int by);
void presets_take(struct app *a);
extern const struct view_search presets_search;
void advice_opened(struct app *a);
void advice_move(struct app *a, int64_t by);
void advice_take(struct app *a);
void space_opened(struct app *a);
void space_move(struct app *a, int64_t by);
void space_take(struct app *a);

/* app_move.c: the focus among settings. */
enum { APP_LEDGER_ROWS = 4 };
extern const char *const app_ledger_keys[APP_LEDGER_ROWS]; /* settings behind weights, master, gradients, optimizer */
extern const struct view_search settings_search;
void app_set_focus(struct app *a, size_t knob);
/* A place moved by `by` among n, as far as it goes. */
size_t app_moved(size_t at, int64_t by, size_t n);
void app_scroll(struct app *a, int64_t by); /* first row of the view */
void app_move(struct app *a, int64_t by);   /* j and k, in every view */
void app_explains_setting(const struct app *a, char path[FIGURE_PATH_CAP]);
void main_move(struct app *a, int64_t by);
void main_next_pane(struct app *a, int by);
void ledger_move(struct app *a, int64_t by);
void ledger_next_pane(struct app *a, int by);

/* app_figure.c */
/* Whether the focus of the cost view is on a setting. */
bool figure_is_setting(const struct app *a);
void figure_focus(struct app *a, const char *path);
void figure_explains(const struct app *a, char path[FIGURE_PATH_CAP]); /* the focus */
void figure_worst(struct app *a);                                      /* where the plan is decided */
void figure_check(struct app *a);                                      /* after a change of the plan */
/* To the nearest figure in a direction. False when there is none. */
bool figure_move(struct app *a, int dx, int64_t dy);
void figure_move_lines(struct app *a, int64_t by);
void figure_next(struct app *a, int by); /* in the order in which they are drawn */

/* app_compare.c */
void pin_set(struct app *a);
void pin_drop(struct app *a);
void pin_swap(struct app *a);

/* app_player.c: the tick player of the pipeline view. */
extern const struct view_clock player_clock;
void player_sideways(struct app *a, int by);
void player_set_speed(struct app *a, int speed);
void player_check(struct app *a);  /* after a change of the plan */
void player_follow(struct app *a); /* scrolls to the tick where it is outside a zoomed drawing */

/* app_exact.c: the exact order of a long greedy schedule, while nobody waits. */
void exact_drop(struct app *a);
bool exact_is_wanted(const struct app *a); /* and not there yet */
bool exact_work(struct app *a);            /* true: what is shown of it changed */

/* app_explain.c */
void explain_open(struct app *a, const char *path);
void explain_focus(struct app *a); /* what the view in front explains, else says that there is nothing */
void explain_next_term(struct app *a, int by);
void explain_follow(struct app *a);
bool explain_back(struct app *a); /* false: this was the first */

/* app.c */
void app_push_view(struct app *a, enum view_id view);
void app_pop_view(struct app *a);
/* Leaves all other views and opens this one above the main screen. */
void app_switch_view(struct app *a, enum view_id view);

#endif
