/* Pipeline drawings for the commands that print them: the memory that the executor needs, around gantt_draw. */
#ifndef MESHPLAN_DRAW_H
#define MESHPLAN_DRAW_H

#include "gantt.h"
#include "schedule.h"

/* Half a second of the executor: far beyond what a picture or a list is good for. */
enum { DRAW_ACTIONS_MAX = 33554432, DRAW_BYTES_MAX = 1073741824 };

/* Refuses a shape that is illegal or has more actions than a drawing is good for. */
enum err_code draw_check(const struct pipeline *pl, struct err *e) NODISCARD;
/* Memory for what a drawing needs; NULL, and an error, when `bytes` is not known (-1) or more than that. The caller frees it. */
void *draw_alloc(const struct pipeline *pl, int64_t bytes, struct err *e);

/* Draws into a new struct gantt, NULL on error; the caller frees it. */
struct gantt *draw_pipeline(const struct pipeline *pl, const struct schedule_times *t, int64_t rows, int64_t cols, struct err *e);

#endif
