/* Pieces that several views draw. Only the view*.c files include this. */
#ifndef MESHPLAN_VIEW_INTERNAL_H
#define MESHPLAN_VIEW_INTERNAL_H

#include "gantt.h"
#include "view.h"

/* One frame in the making. */
struct view {
	const struct app *a;
	struct canvas *c;
	struct screen_layout l;
};

/* view.c: the rows that every screen has. */
void view_verdict(const struct view *v, int x, int y, int w);
void view_prompt_or(const struct view *v, void (*otherwise)(const struct view *v));
/* The area between the message and the prompt of a full-width view. */
struct rect view_body(const struct view *v);

/* view_settings.c */
void view_settings(const struct view *v);
void view_preview(const struct view *v);
/* "+34.6", "-0.3", "0" in GiB. Returns buf. */
char *view_change(int64_t bytes, char *buf, size_t cap);
/* "now fits", "does not fit", "no change": what a step leads to. */
const char *view_consequence(const struct app *a, const struct preview *p);
/* The reason of a refused step without the "tp 16 " that it begins with, up to the list of legal values (errors of the engine are
 * English everywhere). Returns buf. */
char *view_reason(const struct preview *p, const struct knob *k, char *buf, size_t cap);

/* view_bars.c: stacked memory bars. */
struct category_look {
	uint8_t role; /* enum role */
	enum glyph fill;
	const char *name, *brief; /* N_(): for legends; at most 7 columns, for the head of a column */
};
extern const struct category_look category_looks[MEMORY_CATEGORY_COUNT];
/* Category at a place in the drawing order. */
enum memory_category view_category(int place);
/* Columns of the label of a stage or rank, with its blank. */
int view_label_w(const struct app *a);
/* One stacked bar of `width` columns; returns the column (relative to x) of the limit. */
int view_bar(struct canvas *c, int x, int y, int width, const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes);
/* A bar of one role, at the same scale. */
void view_bar_plain(
	struct canvas *c, int x, int y, int width, uint8_t style, enum glyph fill, int64_t bytes, int64_t limit_bytes);
/* The stages to show in `rows` rows: worst, first, last, then next worst; in stage order. Returns how many. */
size_t view_choose_stages(const struct app *a, size_t rows, size_t *out);
/* Heading and one bar per chosen stage. */
void view_memory_bars(const struct view *v, struct rect r, const size_t *stages, size_t n, int bar_w, bool two_decimals);
/* GiB with a number of decimals chosen for the largest value of its column; "-" for zero. Returns buf. */
char *view_gib(int64_t bytes, int64_t largest_bytes, char *buf, size_t cap);
/* GiB with three significant digits, without the unit. */
char *view_gib3(int64_t bytes, char *buf, size_t cap);
/* Peak of each phase as bars, below a heading. */
void view_phases(const struct view *v, struct rect r);
/* Bytes per parameter and by how much each is divided. */
void view_ledger(const struct view *v, struct rect r);
/* "HOST 135 of 1,907 GiB per node"; nothing when nothing is offloaded. */
void view_host(const struct view *v, struct rect r);

/* view_gantt.c: the pipeline drawing. */
/* Draws the pipeline of the plan to at most rows x cols cells; false when it cannot be drawn. *drawn_m: micro-batches that were
 * drawn. */
bool view_gantt(const struct app *a, int rows, int cols, struct gantt *g, int64_t *drawn_m);
/* The same from a tick on, at `scale` columns per tick, into r; one row per rank from `first` on. */
void view_gantt_zoomed(const struct view *v, struct rect r, int64_t first, int64_t tick, int scale);
void view_gantt_cells(struct canvas *c, int x, int y, const struct gantt *g, int64_t row);
void view_pipeline_block(const struct view *v, struct rect r);
/* "bubble 4.48 % of step, 4.69 % of ideal". Returns buf. */
char *view_bubble(const struct app *a, char *buf, size_t cap);

/* Full screens. */
void view_main(const struct view *v);
void view_memory(const struct view *v);
void view_pipeline(const struct view *v);
void view_help(const struct view *v);
void view_explain(const struct view *v);
void view_list(const struct view *v);
void view_command(const struct view *v);
/* The last useful first row (help: page) of those that scroll. */
size_t view_help_scroll_max(const struct view *v);
size_t view_explain_scroll_max(const struct view *v);
size_t view_command_scroll_max(const struct view *v);

#endif
