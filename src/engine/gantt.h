/* The drawing of a pipeline as cells: one row per rank, time to the right, to scale. The terminal UI colours the cells, the
 * command line prints them; both get the same picture. Columns are floor(t * scale) of start and end, durations are never
 * rounded. */
#ifndef MESHPLAN_GANTT_H
#define MESHPLAN_GANTT_H

#include "err.h"
#include "schedule.h"
#include "sink.h"

#include <stdbool.h>
#include <stdint.h>

enum gantt_mark {
	GANTT_BLANK, /* beyond the end */
	GANTT_IDLE,
	GANTT_TEXT,   /* `text` is the character: letter or digit */
	GANTT_REST,   /* inside an action, after its text */
	GANTT_BORDER, /* last column of a wide action */
	GANTT_CUT,    /* time is left out here */
	GANTT_BOTH,   /* density: forward and backward in turn; else: an overlapped block of one column */
	GANTT_MARK_COUNT
};

struct gantt_cell {
	uint8_t mark; /* enum gantt_mark */
	uint8_t kind; /* enum action_kind of what runs here; ACTION_KIND_COUNT: nothing */
	char text;
	int32_t forward, backward; /* density: share of the column in 1/10000 */
};

enum gantt_mode {
	GANTT_FULL,     /* every tick */
	GANTT_ABRIDGED, /* beginning, cut, end at the same scale */
	GANTT_DENSITY,  /* one column is more than a tick */
};

enum { GANTT_ROWS_MAX = 32, GANTT_COLS_MAX = 200 };

struct gantt {
	int32_t mode;                /* enum gantt_mode */
	int64_t p, lower;            /* lower: stages from here on are in lower case */
	int64_t rows, cols;          /* used; cols <= what was asked for */
	int64_t unit;                /* time of one tick (one F) in the units of the schedule times */
	int64_t scale;               /* columns per tick; 0 in density mode */
	int64_t head_cols, cut_cols; /* abridged: columns before the cut; columns left out */
	struct schedule_result result;
	int64_t rank[GANTT_ROWS_MAX];      /* -1: a row that stands for the ranks left out */
	int64_t busy[GANTT_ROWS_MAX];      /* time each drawn rank works */
	int64_t in_flight[GANTT_ROWS_MAX]; /* its peak, in chunks */
	struct gantt_cell cell[GANTT_ROWS_MAX][GANTT_COLS_MAX];
};

/* Where to draw: at most rows x cols cells, cut to the maxima above. rank: the rank of every row, each at most once; NULL: all,
 * or of more than rows the first, the middle and the last. */
struct gantt_field {
	int64_t rows, cols;
	const int64_t *rank;
};
/* Draws a pipeline. The first that fits: 3, 2 or 1 columns per tick in full; 2 or 1 abridged; else density. workspace as for
 * schedule_run. Errors are those of schedule_run. */
enum err_code gantt_draw(const struct pipeline *pl, const struct schedule_times *t, struct gantt_field field, void *workspace,
	struct gantt *g, struct err *e) NODISCARD;
/* The same of an order that exists already; workspace of order_run_bytes. */
enum err_code gantt_draw_order(const struct order *o, const struct schedule_times *t, struct gantt_field field, void *workspace,
	struct gantt *g, struct err *e) NODISCARD;

/* Column in which time t (in the units of the schedule times) is drawn, -1 if it is cut out. */
int64_t gantt_col_at(const struct gantt *g, int64_t t);

/* What is written into n columns: of an action letter and micro-batch, "F12", its last digits where there is less room; of an
 * overlapped block "F3+B5", "F+B5", "F+B", "F+" and, of one column, nothing: that is GANTT_BOTH. */
struct gantt_label {
	char text[40];
	int64_t len;   /* columns used, at most n */
	int64_t first; /* columns that are of the first action; what is behind them is of the second */
};
/* second: the backward of a block, else NULL. digits: with micro-batches. Stages from `lower` on are in lower case. n >= 1. */
struct gantt_label gantt_label(const struct action *a, const struct action *second, int64_t n, bool digits, int64_t lower);
/* The stage from which on letters are in lower case: the second chunk where ranks hold two. */
int64_t gantt_lower(const struct pipeline *pl);

/* Glyph of a mark, "" for GANTT_TEXT. */
const char *gantt_glyph(enum gantt_mark mark, bool ascii);
/* One row as text, without its label; blanks at the end are left out. */
void gantt_row_text(const struct gantt *g, int64_t row, bool ascii, struct sink *out);
/* The axis: numbers of ticks, each starting at its column. buf holds at least g->cols + 1. */
void gantt_axis(const struct gantt *g, char *buf, size_t cap);
/* What the drawing leaves out, "169 of 201 ticks cut out at ~"; empty if nothing. Returns buf. */
char *gantt_caption(const struct gantt *g, char *buf, size_t cap);

#endif
