#include "gantt.h"

#include "num.h"
#include "text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SHARE_FULL = 10000, SHARE_IDLE = 6000, SHARE_BOTH = 1500 };

/* The first pass: when the pipeline is full and when it begins to drain. */
struct bounds {
	int64_t first_backward; /* the latest first backward of any rank */
	int64_t last_forward;   /* the earliest last forward of any rank */
};

struct survey {
	const struct pipeline *pl;
	struct bounds b;
};

/* The backward of micro-batch 0 through the last chunk ends the fill of a rank; the first rank to run its last forward begins the
 * drain. With both directions each half of the micro-batches has its own chunk. */
static void survey_action(void *ctx, const struct timed_action *a)
{
	struct survey *s = ctx;
	bool both = pipeline_placement(s->pl) == PLACEMENT_BIDIRECTIONAL;
	bool last_chunk = both || a->action.stage == pipeline_stage_of(s->pl, a->rank, pipeline_chunks_held(s->pl) - 1);
	int64_t i = a->action.micro_batch, m = s->pl->m, half = m / 2;
	bool first = i == 0 || (both && i == half), last = i == m - 1 || (both && i == half - 1);

	if (a->action.kind == ACTION_BACKWARD || a->action.kind == ACTION_INPUT) {
		if (first && last_chunk)
			s->b.first_backward = num_max(s->b.first_backward, a->start);
	} else if (a->action.kind == ACTION_FORWARD && last && last_chunk) {
		if (s->b.last_forward < 0 || a->end < s->b.last_forward)
			s->b.last_forward = a->end;
	}
}

/* Ranks to draw: those given, all, or the first, the middle and the last with rows that stand for the rest. */
static void choose_rows(struct gantt *g, int64_t rows, const int64_t *given)
{
	int64_t head, tail, at = 0;

	g->rows = num_min(g->p, rows);
	if (given != NULL || g->p <= rows) {
		for (int64_t i = 0; i < g->rows; i++)
			g->rank[i] = given != NULL ? given[i] : i;
		return;
	}
	if (rows < 5) {
		head = rows <= 2 ? 1 : rows - 2;
		tail = rows >= 2 ? 1 : 0;
	} else {
		head = (rows - 2) / 2;
		tail = rows - 3 - head;
	}
	for (int64_t i = 0; i < head; i++)
		g->rank[at++] = i;
	if (rows >= 3)
		g->rank[at++] = -1;
	if (rows >= 5) {
		g->rank[at++] = g->p / 2;
		g->rank[at++] = -1;
	}
	for (int64_t i = g->p - tail; i < g->p; i++)
		g->rank[at++] = i;
	g->rows = at;
}

static int64_t row_of(const struct gantt *g, int64_t rank)
{
	for (int64_t i = 0; i < g->rows; i++)
		if (g->rank[i] == rank)
			return i;
	return -1;
}

/* Columns of the whole drawing at the chosen scale, before anything is cut. */
static int64_t whole_cols(const struct gantt *g)
{
	return num_ceil_div(g->result.makespan * g->scale, g->unit);
}

static bool try_abridged(struct gantt *g, const struct bounds *b, int64_t period, int64_t cols)
{
	int64_t fill = num_ceil_div((b->first_backward + period) * g->scale, g->unit);
	int64_t drain = num_ceil_div((g->result.makespan - b->last_forward) * g->scale, g->unit);
	int64_t step = num_max(1, period * g->scale / g->unit), tail;

	cols -= (cols - 1) % g->scale;
	if (b->last_forward < 0 || fill + 1 + drain > cols)
		return false;
	tail = num_max(drain, (cols - 1) / 2 / step * step);
	tail = num_min(tail, cols - 1 - fill);
	tail -= tail % g->scale;
	g->mode = GANTT_ABRIDGED;
	g->cols = cols;
	g->head_cols = cols - 1 - tail;
	g->cut_cols = whole_cols(g) - g->head_cols - tail;
	return g->cut_cols > 0;
}

static void choose_scale(struct gantt *g, const struct bounds *b, int64_t period, int64_t cols)
{
	for (g->scale = 3; g->scale >= 1; g->scale--) {
		if (whole_cols(g) <= cols) {
			g->mode = GANTT_FULL;
			g->cols = whole_cols(g);
			return;
		}
	}
	for (g->scale = 2; g->scale >= 1; g->scale--)
		if (try_abridged(g, b, period, cols))
			return;
	g->mode = GANTT_DENSITY;
	g->scale = 0;
	g->head_cols = 0;
	g->cut_cols = 0;
	g->cols = cols;
}

/* Where column `whole` of the uncut drawing lands; -1 inside the cut. */
static int64_t fold(const struct gantt *g, int64_t whole)
{
	if (g->mode != GANTT_ABRIDGED || whole < g->head_cols)
		return whole;
	if (whole < g->head_cols + g->cut_cols)
		return -1;
	return whole - g->cut_cols + 1;
}

int64_t gantt_lower(const struct pipeline *pl)
{
	return pipeline_chunks_held(pl) == 2 ? pl->p : INT64_MAX;
}

/* Appends "F123" with at most `room` of its last digits. */
static void append(struct gantt_label *l, const struct action *a, int64_t room, int64_t lower)
{
	char number[16], letter = action_letters[a->kind];
	int64_t digits = snprintf(number, sizeof number, "%d", (int)a->micro_batch);

	l->len += snprintf(l->text + l->len, sizeof l->text - (size_t)l->len, "%c%s",
		a->stage >= lower ? text_lower(letter) : letter, number + num_max(0, digits - room));
}

struct gantt_label gantt_label(const struct action *a, const struct action *second, int64_t n, bool digits, int64_t lower)
{
	static const int64_t rooms[][2] = { { 10, 10 }, { 1, 1 }, { 0, 1 }, { 0, 0 } };
	const size_t last = sizeof rooms / sizeof rooms[0] - 1;
	struct gantt_label l = { .first = n };

	if (second == NULL) {
		append(&l, a, digits ? n - 1 : 0, lower);
		return l;
	}
	for (size_t i = digits ? 0 : last; i <= last; i++) {
		l.len = 0;
		append(&l, a, rooms[i][0], lower);
		l.text[l.len++] = '+';
		l.first = l.len;
		append(&l, second, rooms[i][1], lower);
		if (l.len <= n)
			return l;
	}
	l.len = n == 2 ? 2 : 0;
	l.first = l.len;
	return l;
}

/* An action, or an overlapped block, on the columns from its start to its end. */
static void draw_to_scale(struct gantt *g, int64_t row, const struct timed_action *a, const struct action *second)
{
	int64_t first = a->start * g->scale / g->unit, n = a->end * g->scale / g->unit - first;
	struct gantt_label head, tail; /* in the tail digits would only change with m */

	if (n < 1)
		return;
	head = gantt_label(&a->action, second, n, true, g->lower);
	tail = gantt_label(&a->action, second, n, false, g->lower);
	for (int64_t i = 0; i < n; i++) {
		int64_t col = fold(g, first + i);
		const struct gantt_label *l = g->mode == GANTT_FULL || col < g->head_cols ? &head : &tail;
		struct gantt_cell *c;

		if (col < 0 || col >= g->cols)
			continue;
		c = &g->cell[row][col];
		c->mark = l->len == 0 ? GANTT_BOTH : i < l->len ? GANTT_TEXT : n >= 6 && i == n - 1 ? GANTT_BORDER : GANTT_REST;
		c->text = l->text[num_min(i, l->len)];
		c->kind = i < l->first ? a->action.kind : second->kind;
	}
}

/* Adds the action's share of every column it touches. */
static void draw_density(struct gantt *g, int64_t row, const struct timed_action *a)
{
	double per_col = (double)g->result.makespan / (double)g->cols;
	int64_t first = (int64_t)((double)a->start / per_col);

	for (int64_t col = first; col < g->cols; col++) {
		double left = (double)col * per_col, right = left + per_col;
		double from = (double)a->start > left ? (double)a->start : left,
		       to = (double)a->end < right ? (double)a->end : right;
		struct gantt_cell *c = &g->cell[row][col];

		if (to <= from)
			break;
		*(a->action.kind == ACTION_FORWARD ? &c->forward : &c->backward) +=
			(int32_t)((to - from) / per_col * SHARE_FULL + 0.5);
	}
}

/* What is drawn, and the forward of a block: its second half is emitted next. */
struct painter {
	struct gantt *g;
	struct action forward;
};

/* A density takes a third of a block for its forward. */
static void draw_action(void *ctx, const struct timed_action *a)
{
	struct painter *p = ctx;
	struct gantt *g = p->g;
	int64_t row = row_of(g, a->rank), third = (a->end - a->start) / 3;
	struct timed_action part = *a;
	bool begins = a->action.overlap && a->action.kind == ACTION_FORWARD, ends = a->action.overlap && !begins;

	if (row < 0)
		return;
	g->busy[row] += timed_action_busy(a);
	if (g->mode == GANTT_DENSITY) {
		part.start += ends ? third : 0;
		part.end = begins ? a->start + third : a->end;
		draw_density(g, row, &part);
	} else if (begins) {
		p->forward = a->action;
	} else {
		part.action = ends ? p->forward : a->action;
		draw_to_scale(g, row, &part, ends ? &a->action : NULL);
	}
}

static void settle_density(struct gantt_cell *c)
{
	bool both = c->forward > SHARE_BOTH && c->backward > SHARE_BOTH;

	if (c->forward + c->backward < SHARE_FULL - SHARE_IDLE)
		return;
	c->mark = both ? GANTT_BOTH : GANTT_TEXT;
	c->kind = c->forward > c->backward ? ACTION_FORWARD : ACTION_BACKWARD;
	c->text = action_letters[c->kind];
}

static void clear_cells(struct gantt *g)
{
	for (int64_t row = 0; row < g->rows; row++)
		for (int64_t col = 0; col < g->cols; col++)
			g->cell[row][col] = (struct gantt_cell){ .mark = g->rank[row] < 0 ? GANTT_BLANK : GANTT_IDLE,
				.kind = ACTION_KIND_COUNT };
}

static void mark_cut(struct gantt *g)
{
	for (int64_t row = 0; row < g->rows; row++)
		if (g->rank[row] >= 0)
			g->cell[row][g->head_cols] = (struct gantt_cell){ .mark = GANTT_CUT, .kind = ACTION_KIND_COUNT };
}

/* Peak of a rank: of lists counted, else the closed form. */
static int64_t peak_of(const struct order *o, int64_t rank)
{
	return o->list != NULL ? order_peaks(o, rank).at_weight : pipeline_in_flight(&o->pl, rank);
}

enum err_code gantt_draw_order(const struct order *o, const struct schedule_times *t, struct gantt_field field, void *workspace,
	struct gantt *g, struct err *e)
{
	const struct pipeline *pl = &o->pl;
	struct survey s = { .pl = pl, .b = { .first_backward = 0, .last_forward = -1 } };
	struct painter painter = { .g = g };
	enum err_code code;

	memset(g, 0, offsetof(struct gantt, cell));
	code = order_run(o, t, workspace, survey_action, &s, NULL, &g->result, e);
	if (code != ERR_OK)
		return code;
	g->p = pl->p;
	g->lower = gantt_lower(pl);
	g->unit = num_max(1, t->forward > 0 ? t->forward : t->backward);
	choose_rows(g, num_max(1, num_min(field.rows, GANTT_ROWS_MAX)), field.rank);
	choose_scale(
		g, &s.b, (t->forward + t->backward) * pipeline_chunks_held(pl), num_max(1, num_min(field.cols, GANTT_COLS_MAX)));
	clear_cells(g);
	code = order_run(o, t, workspace, draw_action, &painter, NULL, &g->result, e);
	if (code != ERR_OK)
		return code;
	for (int64_t row = 0; row < g->rows; row++) {
		if (g->rank[row] < 0)
			continue;
		g->in_flight[row] = peak_of(o, g->rank[row]);
		for (int64_t col = 0; g->mode == GANTT_DENSITY && col < g->cols; col++)
			settle_density(&g->cell[row][col]);
	}
	if (g->mode == GANTT_ABRIDGED)
		mark_cut(g);
	return ERR_OK;
}

enum err_code gantt_draw(const struct pipeline *pl, const struct schedule_times *t, struct gantt_field field, void *workspace,
	struct gantt *g, struct err *e)
{
	struct order o;
	enum err_code code = order_generate(pl, workspace, &o, e);

	if (code != ERR_OK)
		return code;
	return gantt_draw_order(&o, t, field, (char *)workspace + num_round_up(order_workspace_bytes(pl), 8), g, e);
}

int64_t gantt_col_at(const struct gantt *g, int64_t t)
{
	if (g->mode == GANTT_DENSITY)
		return (int64_t)((double)t * (double)g->cols / (double)num_max(1, g->result.makespan));
	return fold(g, t * g->scale / g->unit);
}

const char *gantt_glyph(enum gantt_mark mark, bool ascii)
{
	static const char *const glyphs[GANTT_MARK_COUNT][2] = {
		[GANTT_BLANK] = { " ", " " },
		[GANTT_IDLE] = { "·", "." },
		[GANTT_TEXT] = { "", "" },
		[GANTT_REST] = { "─", "-" },
		[GANTT_BORDER] = { "│", "|" },
		[GANTT_CUT] = { "~", "~" },
		[GANTT_BOTH] = { "▒", "+" },
	};

	return glyphs[mark][ascii];
}

void gantt_row_text(const struct gantt *g, int64_t row, bool ascii, struct sink *out)
{
	for (int64_t col = 0; col < g->cols && g->rank[row] >= 0; col++) {
		const struct gantt_cell *c = &g->cell[row][col];

		if (c->mark == GANTT_TEXT)
			sink_write(out, &c->text, 1);
		else
			sink_puts(out, gantt_glyph((enum gantt_mark)c->mark, ascii));
	}
}

/* Distance of the labels in ticks: 1, 2, 5 times a power of ten, at least 10 columns apart. */
static int64_t axis_step(double cols_per_tick)
{
	static const int64_t steps[] = { 1, 2, 5 };

	for (int64_t decade = 1; decade < INT64_C(1000000000000); decade *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
			if ((double)(steps[i] * decade) * cols_per_tick >= 10)
				return steps[i] * decade;
	return INT64_C(1000000000000);
}

void gantt_axis(const struct gantt *g, char *buf, size_t cap)
{
	double ticks = (double)g->result.makespan / (double)g->unit;
	double cols_per_tick = g->scale > 0 ? (double)g->scale : (double)g->cols / ticks;
	int64_t step = axis_step(cols_per_tick), room = num_min(g->cols, (int64_t)cap - 1), next = 0;

	memset(buf, ' ', (size_t)room);
	buf[room] = '\0';
	for (int64_t tick = 0; (double)tick <= ticks; tick += step) {
		int64_t col = gantt_col_at(g, tick * g->unit);
		char text[24];
		int len = snprintf(text, sizeof text, "%lld", (long long)tick);

		if (col < next || col + len > room ||
			(g->mode == GANTT_ABRIDGED && col < g->head_cols && col + len > g->head_cols))
			continue;
		memcpy(buf + col, text, (size_t)len);
		next = col + len + 1;
	}
}

char *gantt_caption(const struct gantt *g, char *buf, size_t cap)
{
	double ticks = (double)g->result.makespan / (double)g->unit;

	buf[0] = '\0';
	if (g->mode == GANTT_ABRIDGED)
		(void)snprintf(buf, cap, "%.6g of %.6g ticks cut out at ~", (double)g->cut_cols / (double)g->scale, ticks);
	if (g->mode == GANTT_DENSITY)
		(void)snprintf(buf, cap, "1 column = %.3g ticks", ticks / (double)g->cols);
	return buf;
}
