/* Draws the whole screen from the state. Pure: the same state and canvas size give the same cells. */
#ifndef MESHPLAN_VIEW_H
#define MESHPLAN_VIEW_H

#include "app.h"
#include "canvas.h"

/* Draws `a` on every cell of c. The canvas should have the size that the state knows (a->w x a->h); any other is safe. */
void view_frame(const struct app *a, struct canvas *c);

enum { VIEW_URGENT_MAX = 4 };
/* What a key changes first in the eye of the reader: the settings, the verdict, the worst bar. Shown before the rest, and alone
 * while keys wait. Returns how many rectangles; 0: all at once. */
size_t view_urgent(const struct app *a, struct rect out[VIEW_URGENT_MAX]);

/* A figure on the screen: where it stands and which path of the plan document it shows. */
struct figure {
	char path[FIGURE_PATH_CAP];
	struct rect at;
};
enum { FIGURES_MAX = 640 };
/* The figures that the present view shows, in the order in which they are drawn; at most cap. */
size_t view_figures(const struct app *a, struct figure *out, size_t cap);

/* The pipeline view: ticks of the pipeline that is drawn, how many of them a zoomed drawing shows. */
int64_t view_pipeline_ticks(const struct app *a);
int64_t view_pipeline_span(const struct app *a);

/* What a line of the help view stands for: a key, or a figure. */
struct help_target {
	enum ui_action action;      /* UI_NONE: no key */
	char path[FIGURE_PATH_CAP]; /* "": no figure */
};
/* Of the line in focus, which is a->scroll[VIEW_HELP]. */
struct help_target view_help_target(const struct app *a);

/* How far the present view can be scrolled at its present size: the most that a->scroll may hold. */
size_t view_scroll_max(const struct app *a);

#endif
