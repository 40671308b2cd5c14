/* Parts of app_update, by concern. Only the app_*.c files include this. */
#ifndef MESHPLAN_APP_INTERNAL_H
#define MESHPLAN_APP_INTERNAL_H

#include "app.h"

/* app_change.c: everything that changes the draft. Each adopts a legal draft only, and says in a->message what happened. */
enum err_code change_adopt(struct app *a, const struct draft *d, const struct knob_moves *moves, struct err *e) NODISCARD;
void change_refresh(struct app *a); /* plan, stages and preview of the present draft */
void change_preview(struct app *a);
/* False, with a message, for a knob that cannot be stepped. */
bool change_has_stops(struct app *a, const struct knob *k);
void change_step(struct app *a, int steps);
void change_put(struct app *a, const struct knob *k, int64_t value);
void change_default(struct app *a);
void change_undo(struct app *a);
void change_redo(struct app *a);
void change_schedule(struct app *a);

/* app_prompt.c: a line of text at the bottom. */
void prompt_open(struct app *a, enum prompt_kind kind, const char *text);
void prompt_update(struct app *a, uint32_t key);

/* app_list.c: the values of the focused setting. */
void list_open(struct app *a, size_t knob);
void list_filter(struct app *a);
void list_move(struct app *a, int64_t by);
void list_take(struct app *a);

/* app.c */
void app_say(struct app *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void app_push_view(struct app *a, enum view_id view);
void app_pop_view(struct app *a);
/* Puts the focus on the setting whose key is `text`, begins with it or holds it, in that order, the nearest after `from`. False
 * when there is none. */
bool app_find(struct app *a, const char *text, size_t from);

#endif
