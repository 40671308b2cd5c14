/* Pieces of the views of time and cost. Only the view*.c files include this. */
#ifndef MESHPLAN_VIEW_SPEED_H
#define MESHPLAN_VIEW_SPEED_H

#include "cost.h"
#include "view_internal.h"

enum { SEGMENTS_MAX = 16, TAIL_WIDE_W = 76 };

/* How a part of the step is drawn. */
struct part_look {
	uint8_t role; /* enum role */
	enum glyph fill;
	const char *name; /* N_(): as a row of a table */
};
extern const struct part_look part_looks[STEP_PART_COUNT];

/* One segment of a bar whose whole is the sum of its segments. */
struct segment {
	char letter;
	uint8_t role;
	enum glyph fill;
	double value;
};
/* Cells for each segment: none that is not zero vanishes. Returns the cells used: width, or the number of nonzero segments when
 * that is more, or 0. */
int view_share_cells(const struct segment *s, size_t n, int width, int cells[SEGMENTS_MAX]);
/* A bar as large as r: each segment is its letter, in the first row, and its fill. */
void view_segments(struct canvas *c, struct rect r, const struct segment *s, size_t n);
/* The parts of the step. */
void view_step_bar(const struct view *v, struct rect r);

/* These return buf. "35.2 ms", "16.1 s", "253 days". */
char *view_seconds(double seconds, char *buf, size_t cap);
/* "4.5 %", "<0.1 %", "-" for zero. */
char *view_percent(double share, char *buf, size_t cap);
/* "1,017", "65.1k", "388k", "2.10M". */
char *view_rate(double per_second, char *buf, size_t cap);
/* Why there is no step time. */
void view_speed_unknown(const struct view *v, int x, int y, int w);

#endif
