/* Pipeline drawings for the commands that print them: the memory that the executor needs, around gantt_draw. */
#ifndef MESHPLAN_DRAW_H
#define MESHPLAN_DRAW_H

#include "gantt.h"
#include "schedule.h"

/* A workspace for schedule_run, which the caller frees; an error when the pipeline is larger than a drawing can use. */
enum err_code draw_workspace(const struct pipeline *pl, void **workspace, struct err *e) NODISCARD;
/* Draws into a new struct gantt, NULL on error; the caller frees it. */
struct gantt *draw_pipeline(const struct pipeline *pl, const struct schedule_times *t, int64_t rows, int64_t cols, struct err *e);

#endif
