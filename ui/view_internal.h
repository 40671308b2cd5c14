/* Pieces that several views draw, and what their keys do. Only the view*.c files include this. */
#ifndef MESHPLAN_VIEW_INTERNAL_H
#define MESHPLAN_VIEW_INTERNAL_H

#include "app_internal.h"
#include "gantt.h"
#include "view.h"

/* One frame in the making. */
struct view {
	const struct app *a;
	struct canvas *c;
	struct screen_layout l;
	struct figure_list *figures; /* NULL: not collected */
};

/* Figures that are being collected. */
struct figure_list {
	struct figure *out;
	size_t n, cap;
};

/* Neighbours that share a row because nothing differs. */
struct stage_span {
	size_t first, last;
};

/* view.c: the verdict, and figures. */
/* "FITS   27.4 GiB to spare on stage 0". Returns the columns used. */
int view_verdict(const struct view *v, int x, int y, int w);
/* "h100-sxm-80gb" as people say it: "H100". */
void view_gpu_name(const struct gpu *g, char *buf, size_t cap);
uint8_t view_verdict_role(const struct verdict *verdict);
/* "27.4 GiB to spare on stage 0". Returns the columns used. */
int view_verdict_amount(const struct view *v, int x, int y, int w);
/* A figure, right-aligned in w columns; the one with the focus takes its look and the cursor. */
void view_figure(const struct view *v, int x, int y, int w, const char *text, const char *path);
/* The same in a style of its own. */
void view_figure_in(const struct view *v, struct rect r, uint8_t style, const char *text, const char *path);
/* "memory.stages[2].optimizer". Returns buf. */
char *view_stage_path(size_t stage, const char *member, char buf[FIGURE_PATH_CAP]);
/* The area between the message and the prompt of a full-width view. */
struct rect view_body(const struct view *v);

/* view_rows.c: the rows around every view. */
/* The gravest diagnostic that is more than a note: the message line has it. NULL if there is none. */
const struct diagnostic *view_gravest(const struct plan *p);
/* What there is to say; answers_only: where the row holds something else. */
void view_message(const struct view *v, bool answers_only);
/* The prompt, or what a view has in its row: NULL: nothing. */
void view_prompt_or(const struct view *v, void (*otherwise)(const struct view *v));
void view_footer(const struct view *v);
/* Key and label of an action at *x, unless they would pass `end`; moves *x behind it. */
bool view_footer_item(const struct view *v, enum context context, enum ui_action action, int *x, int end, int y);

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
/* A stacked bar as large as r; letters in its first row. */
void view_bar(struct canvas *c, struct rect r, const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes);
/* The stages to show in `rows` rows: all, equal neighbours in one row; else worst, first, last, the one in focus, then the next
 * worst; in stage order. Returns how many rows. */
size_t view_choose_stages(const struct app *a, size_t rows, struct stage_span out[STAGE_LIST_MAX]);
/* "s3", "s1-s6". */
void view_stage_label(const struct view *v, int x, int y, char letter, struct stage_span span);
/* Heading and one bar per row. */
void view_memory_bars(
	const struct view *v, struct rect r, const struct stage_span *rows, size_t n, int bar_w, int value_w, bool two_decimals);
/* "+0.34", "-12.3", "=", "new": what became of the pinned figure. "" without a pin. Returns buf. */
char *view_difference_text(const struct app *a, size_t stage, int category, char *buf, size_t cap);
/* That, right-aligned in w columns. */
void view_difference(const struct view *v, int x, int y, int w, size_t stage, int category);
/* GiB with a number of decimals chosen for the largest value of its column; "-" for zero. Returns buf. */
char *view_gib(int64_t bytes, int64_t largest_bytes, char *buf, size_t cap);
/* GiB with three significant digits, without the unit. */
char *view_gib3(int64_t bytes, char *buf, size_t cap);
/* Peak of each phase as bars, below a heading. */
void view_phases(const struct view *v, struct rect r);
/* "HOST 135 of 1,907 GiB per node"; nothing when nothing is offloaded. */
void view_host(const struct view *v, struct rect r);

/* view_ledger.c: bytes per parameter and by how much each is divided. r: six rows, or none. */
void view_ledger(const struct view *v, struct rect r);
/* Its rows, one for each of app_ledger_keys. */
struct ledger_row {
	enum memory_category k;
	double bytes;
	int64_t shards;
};
void view_ledger_rows(const struct plan *p, struct ledger_row rows[APP_LEDGER_ROWS]);

/* view_why.c: "Stage 0 needs most: it holds 4 micro-batches in flight, stage 3 holds 1."; and "why: 4 micro-batches in flight, s3
 * has 1", "" where all stages need the same, with fewer words where w columns do not hold it. Return buf. */
char *view_why(const struct app *a, size_t stage, char *buf, size_t cap);
char *view_why_brief(const struct app *a, size_t stage, int w, char *buf, size_t cap);

/* view_gantt.c: the pipeline drawing. */
/* Ticks of the whole pipeline, equal stages: those of a drawing with all micro-batches, else by the closed form, which may be an
 * estimate. */
struct pipeline_ticks {
	int64_t n;
	bool exact;
};
/* The order that is drawn, generated once per frame or, by a->exact, before. */
struct drawn_order {
	struct order order;
	struct pipeline_ticks whole;
	void *list, *workspace; /* owned */
};
/* Most chunks in flight on a rank: of the order where that is the whole, else as stated. */
int64_t drawn_peak(const struct app *a, const struct drawn_order *d, int64_t rank);
/* False, with nothing to close, when it cannot be executed. */
bool drawn_open(const struct app *a, struct drawn_order *d, struct err *e);
void drawn_close(struct drawn_order *d);
/* Executes it with one tick for a forward, two for a backward. */
bool drawn_run(const struct drawn_order *d, schedule_emit *emit, void *ctx, struct schedule_result *result);
bool drawn_gantt(const struct drawn_order *d, int rows, int cols, struct gantt *g);
/* Draws it from a tick on, at `scale` columns per tick, into r; one row per rank from `first` on. */
void view_gantt_zoomed(struct canvas *c, const struct drawn_order *d, struct rect r, int64_t first, int64_t tick, int scale);
void view_gantt_cells(struct canvas *c, int x, int y, const struct gantt *g, int64_t row);
void view_pipeline_block(const struct view *v, struct rect r);

/* view_player.c: what happens at the tick of the player. */
/* A drawing on the screen: cells, and which tick and rank they stand for. */
struct strip {
	struct rect cells;
	const struct gantt *g; /* NULL: zoomed, from `tick` and rank `first` on */
	int64_t first, tick, p;
	int scale;
};
/* What a rank does at the tick. */
struct rank_now {
	bool busy;
	int32_t reason;          /* enum idle_reason, when not busy */
	struct timed_action at;  /* what runs, or what it waits for */
	bool next;               /* `at` is set */
	struct action other;     /* second half of an overlapped block */
	struct chunk_peak *held; /* [chunk of the rank]: micro-batches in flight; memory of the caller, all 0 */
	int64_t last_end;
};
/* Executes the order up to the end and fills p ranks; with the player's reasons also writes them into idle cells. */
void player_ranks(const struct view *v, const struct drawn_order *d, const struct strip *s, struct rank_now *ranks);
/* Marks the tick in rows above and below (below: -1 for none), and blanks what comes after it where that is hidden. */
void player_mark(const struct view *v, const struct strip *s, int above, int below);
/* One row per rank from `first` on below a heading. */
void player_table(const struct view *v, struct rect r, const struct drawn_order *d, const struct rank_now *ranks, int64_t first);
/* view_same.c: "SAME p m", other schedules beside the present one, in one row from a column on; as many as it holds. */
void view_same(const struct view *v, int x, int y);
/* "paused, 4 ticks a second" in the row of the prompt. */
void player_state(const struct view *v);

/* view_speed.c: rows STEP and COST of the main screen; one line of both below 80 columns. */
void view_speed_block(const struct view *v, struct rect r);
void view_speed_line(const struct view *v, struct rect r);
/* "4.26": what a step waits in the pipeline, in percent of it, with the time that each stage takes. The step is known. */
void view_timed_bubble(const struct plan *p, char *buf, size_t cap);
/* "4.2 % faster", "-$39.2k", "no change": what a step does to time, else to the price; at most 12 columns. Returns buf. */
char *view_speed_change(const struct app *a, const struct preview *p, char *buf, size_t cap);

/* "4.2 % faster", "same speed" against the present plan; "" when a speed is not known. Returns buf. */
char *view_speed_gain(const struct app *a, double tokens_per_s, char *buf, size_t cap);

/* view_space.c: the best layouts on the main screen; while others are searched for, those of before. */
void view_space_block(const struct view *v, struct rect r);

/* view_text.c: labelled, wrapped texts below each other. */
struct pen {
	struct canvas *c;
	struct rect r;
	int row, skip; /* the first `skip` rows are scrolled away */
};
enum { PEN_LABEL_W = 12 };
void pen_text(struct pen *p, const char *label, uint8_t style, const char *text);
void pen_gap(struct pen *p);

/* view_labs.c: the parameters of a lab; from VIEW_PARAMS_TOLD_W columns with what they mean. `at` has the focus, SIZE_MAX: none.
 */
enum { VIEW_PARAMS_W = 27, VIEW_PARAMS_TOLD_W = 73 };
void view_params(const struct view *v, struct rect r, const struct lab_input *in, size_t at);

/* view_big.c: instead of the main view. */
void view_big(const struct view *v);

#endif
