/* Draws the whole screen from the state. Pure: the same state and canvas size give the same cells. */
#ifndef MESHPLAN_VIEW_H
#define MESHPLAN_VIEW_H

#include "app.h"
#include "canvas.h"

/* Draws `a` on every cell of c. The canvas should have the size that the state knows (a->w x a->h); any other is safe. */
void view_frame(const struct app *a, struct canvas *c);

/* How far the present view can be scrolled at its present size: the most that a->scroll may hold. */
size_t view_scroll_max(const struct app *a);

#endif
