/* One step of a run of a lab, or behind the last one what it proved. */
#include "view_internal.h"

#include "lab_report.h"
#include "labs.h"
#include "num.h"
#include "ui_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_W = 26, TEXT_MIN_W = 18, NUMBER_W = 6, RUN_MIN_W = 115, SIDE_MAX_W = 85, GAP = 2 };
enum { MEASURED_ROWS = 64, HEAD_H = 4, STEPS_MIN = 3, ANY_H = 1 << 20 };

/* How the rows of a step are laid out: the same for all of them, so that nothing moves while one scrolls. */
struct table {
	struct lab_step step;
	int width[LAB_COLUMNS_MAX + 1]; /* of the labels, of each column with the gap before it */
	int text_x, height;             /* where the text at the end begins; rows of the screen that a row takes */
	bool below;                     /* the text begins in its second row */
};

static int table_width(const struct table *t)
{
	int sum = 0;
	for (int32_t c = 0; c <= t->step.n_columns; c++)
		sum += t->width[c];
	return sum;
}

static void widen(int *width, const char *text)
{
	*width = (int)num_max(*width, canvas_text_width(text));
}

/* Whether a text can be broken at blanks into lines of w columns; a drawing has none. */
static bool is_breakable(const char *text, int w)
{
	char word[LAB_TEXT_CAP];
	for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
		const size_t n = strcspn(text, " ");
		(void)snprintf(word, sizeof(word), "%.*s", (int)n, text);
		if (canvas_text_width(word) > w)
			return false;
		text += n;
	}
	return true;
}

/* A text that does not fit beside the columns is broken at blanks, below them where there is no room. */
static void break_texts(const struct lab_run *run, int64_t k, int w, struct table *t)
{
	struct canvas nowhere = { 0 };
	struct lab_row row;
	int lines = 0;
	t->below = w - t->text_x < TEXT_MIN_W;
	for (int64_t i = 0; i < t->step.rows && i < MEASURED_ROWS; i++) {
		lab_row(run, k, i, &row);
		t->below = t->below || !is_breakable(row.text, w - t->text_x);
	}
	if (t->below)
		t->text_x = GAP;
	for (int64_t i = 0; i < t->step.rows && i < MEASURED_ROWS; i++) {
		lab_row(run, k, i, &row);
		lines = (int)num_max(
			lines, canvas_wrap(&nowhere, (struct rect){ 0, 0, w - t->text_x, 0 }, 0, ROLE_TEXT, row.text));
	}
	t->height = (int)num_max(1, lines + t->below);
}

/* Measures the first rows. */
static void measure(const struct lab_run *run, int64_t k, int w, struct table *t)
{
	char text[64];
	int longest = 0;
	*t = (struct table){ .height = 1 };
	lab_step(run, k, &t->step);
	for (int32_t c = 0; c < t->step.n_columns; c++)
		widen(&t->width[c + 1], ui_text(t->step.columns[c].label));
	for (int64_t i = 0; i < t->step.rows && i < MEASURED_ROWS; i++) {
		struct lab_row row;
		lab_row(run, k, i, &row);
		widen(&t->width[0], row.label);
		widen(&longest, row.text);
		for (int32_t c = 0; c < t->step.n_columns; c++)
			widen(&t->width[c + 1], lab_format_short(t->step.columns[c].unit, row.value[c], text, sizeof(text)));
	}
	const int gap = table_width(t) + GAP * t->step.n_columns <= w ? GAP : 1;
	for (int32_t c = 1; c <= t->step.n_columns; c++)
		t->width[c] += gap;
	t->text_x = table_width(t) + GAP;
	if (t->text_x + longest > w)
		break_texts(run, k, w, t);
}

static void draw_row(const struct view *v, struct rect r, const struct table *t, const struct lab_row *row)
{
	char text[64];
	int x = r.x + t->width[0];
	(void)canvas_text(v->c, r.x, r.y, t->width[0], ROLE_DIM, row->label);
	for (int32_t c = 0; c < t->step.n_columns && x < r.x + r.w; c++) {
		const int w = t->width[c + 1];
		(void)canvas_text_right(v->c, x, r.y, (int)num_min(w, r.x + r.w - x), ROLE_TEXT,
			lab_format_short(t->step.columns[c].unit, row->value[c], text, sizeof(text)));
		x += w;
	}
	if (x > r.x + r.w)
		canvas_glyph(v->c, r.x + r.w - 1, r.y, ROLE_ACCENT, GLYPH_MORE);
	(void)canvas_wrap(
		v->c, (struct rect){ r.x + t->text_x, r.y + t->below, r.w - t->text_x, r.h - t->below }, 0, ROLE_TEXT, row->text);
}

/* Rows of a table that r has room for, at least one. */
static int64_t rows_shown(const struct table *t, struct rect r)
{
	return num_max(1, (r.h - HEAD_H) / t->height);
}

/* Where one stands in the run: its steps. Of more than there are rows those around the present one, moved on by half of them at a
 * time. */
static void draw_steps(const struct view *v, struct rect r)
{
	const struct labs *l = &v->a->labs;
	const struct lab_run *run = &l->play->run;
	const int64_t rows = r.h - 1, n = run->steps + 1;
	if (rows < STEPS_MIN)
		return;
	const int64_t half = rows / 2, top = num_max(0, num_min(l->at / half * half - half / 2, n - rows));
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("STEPS"));
	for (int64_t k = top; k < n && k - top < rows; k++) {
		const int y = r.y + 1 + (int)(k - top);
		const uint8_t role = k == l->at ? ROLE_TEXT : ROLE_DIM;
		struct lab_step step = { 0 };
		if (k == l->at)
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		if (k < run->steps)
			lab_step(run, k, &step);
		(void)canvas_printf(v->c, r.x + 1, y, NUMBER_W, role, "%4" PRId64, k + 1);
		(void)canvas_text(
			v->c, r.x + 1 + NUMBER_W, y, r.w - 1 - NUMBER_W, role, k < run->steps ? step.title : _("what it proved"));
	}
}

static void draw_step(const struct view *v, struct rect r)
{
	const struct lab_run *run = &v->a->labs.play->run;
	const int64_t k = v->a->labs.at, top = (int64_t)v->a->scroll[VIEW_LAB];
	struct table t;
	measure(run, k, r.w, &t);
	(void)canvas_wrap(v->c, (struct rect){ r.x, r.y + 1, r.w, 2 }, 0, ROLE_TEXT, t.step.title);
	int x = r.x + t.width[0];
	for (int32_t c = 0; c < t.step.n_columns && x < r.x + r.w; c++) {
		(void)canvas_text_right(v->c, x, r.y + 3, (int)num_min(t.width[c + 1], r.x + r.w - x), ROLE_DIM,
			ui_text(t.step.columns[c].label));
		x += t.width[c + 1];
	}
	for (int64_t i = top; i < t.step.rows && i - top < rows_shown(&t, r); i++) {
		struct lab_row row;
		const int y = r.y + HEAD_H + (int)(i - top) * t.height;
		lab_row(run, k, i, &row);
		draw_row(v, (struct rect){ r.x, y, r.w, (int)num_min(t.height, r.y + r.h - y) }, &t, &row);
	}
	/* Below the longest table of the run: from step to step nothing moves. */
	const int below = HEAD_H + (int)num_min(v->a->labs.play->rows * t.height, ANY_H) + 1;
	draw_steps(v, (struct rect){ r.x, r.y + below, r.w, r.h - below });
}

static void write_claim(struct pen *p, const struct lab_run *run, const struct lab_claim *c)
{
	char text[256];
	pen_text(p, c->holds ? _("proved") : _("NOT PROVED"), c->holds ? ROLE_TEXT : ROLE_ALERT, ui_text(c->text));
	pen_text(p, "", ROLE_DIM, lab_claim_format(run, c, text, sizeof(text)));
}

static void write_question(struct pen *p, const struct lab_run *run)
{
	pen_text(p, _("question"), ROLE_HEAD, run->question);
	pen_text(p, "", ROLE_DIM, run->next);
	pen_gap(p);
}

/* What the guess was worth, what was proved, the question, the numbers. Returns the rows that all of it takes. */
static int draw_summary(const struct view *v, struct rect r, size_t skip)
{
	const struct lab_play *play = v->a->labs.play;
	const struct lab_run *run = &play->run;
	struct pen p = { v->c, r, 0, (int)skip };
	char value[64], text[256];
	const bool asking = v->a->prompt.kind == PROMPT_PREDICT; /* then the question must be in sight */
	if (asking)
		write_question(&p, run);
	if (play->predicted) {
		pen_text(&p, _("prediction"), ROLE_TEXT, ui_text(run->answer_label));
		pen_text(&p, "", ROLE_HEAD, lab_answer_judge(run, play->prediction, text, sizeof(text)));
		pen_gap(&p);
	}
	for (int32_t i = 0; i < run->n_claims; i++)
		write_claim(&p, run, &run->claims[i]);
	pen_gap(&p);
	if (!asking)
		write_question(&p, run);
	for (int32_t i = 0; i < run->n_facts; i++) {
		const struct lab_fact *f = &run->facts[i];
		(void)snprintf(
			text, sizeof(text), "%s: %s", ui_text(f->label), lab_format(f->unit, f->value, value, sizeof(value)));
		pen_text(&p, i == 0 ? _("numbers") : "", ROLE_TEXT, text);
	}
	if (run->input.lab->lesson != NULL) {
		pen_gap(&p);
		pen_text(&p, _("the lesson"), ROLE_TEXT, ui_text(run->input.lab->lesson));
	}
	return p.row;
}

/* Columns for the parameters beside a run: none, or without or with what they mean. */
static int side_width(int w)
{
	const int spare = w - RUN_MIN_W;
	if (spare < VIEW_PARAMS_TOLD_W)
		return spare < VIEW_PARAMS_W ? 0 : VIEW_PARAMS_W;
	return (int)num_min(spare, SIDE_MAX_W);
}

/* Where the steps of a run stand. */
static struct rect run_rect(const struct view *v)
{
	struct rect r = view_body(v);
	r.w -= side_width(r.w);
	return r;
}

static struct rect summary_rect(const struct view *v)
{
	const struct rect r = run_rect(v);
	return (struct rect){ r.x, r.y + 1, r.w, r.h - 1 };
}

static size_t scroll_max(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	struct rect r = summary_rect(v);
	if (l->play == NULL)
		return 0;
	if (l->at < l->play->run.steps) {
		struct table t;
		measure(&l->play->run, l->at, run_rect(v).w, &t);
		return (size_t)num_max(0, t.step.rows - rows_shown(&t, run_rect(v)));
	}
	const int h = r.h;
	r.h = ANY_H;
	return (size_t)num_max(0, draw_summary(v, r, 0) - h);
}

/* Playing or not; which rows of a long table. */
static void draw_state(const struct view *v)
{
	const struct rect r = v->l.area[AREA_PREVIEW];
	const struct labs *l = &v->a->labs;
	const int64_t top = (int64_t)v->a->scroll[VIEW_LAB];
	struct table t;
	char text[64];
	if (l->at == l->play->run.steps) {
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("Think first: P takes your answer, and runs it."));
		return;
	}
	(void)canvas_printf(v->c, r.x, r.y, r.w - ROWS_W, ROLE_DIM,
		l->playing ? _("playing, %d steps a second") : _("paused, %d steps a second"), app_ticks_per_s(v->a));
	measure(&l->play->run, l->at, run_rect(v).w, &t);
	const int64_t shown = rows_shown(&t, run_rect(v));
	if (t.step.rows <= shown)
		return;
	(void)snprintf(text, sizeof(text), _("rows %" PRId64 " to %" PRId64 " of %" PRId64), top + 1,
		num_min(top + shown, t.step.rows), t.step.rows);
	(void)canvas_text_right(v->c, r.x + r.w - ROWS_W, r.y, ROWS_W, ROLE_DIM, text);
}

static void draw_run(const struct view *v)
{
	const struct labs *l = &v->a->labs;
	const struct rect body = view_body(v);
	char text[64];
	if (l->play == NULL)
		return;
	const struct lab_run *run = &l->play->run;
	const bool last = l->at == run->steps;
	(void)canvas_printf(
		v->c, body.x, body.y, body.w, ROLE_HEAD, "%s: %s", run->input.lab->id, ui_text(run->input.lab->label));
	if (last)
		(void)snprintf(text, sizeof(text), "%s", lab_proven(run) ? _("what it proved") : _("what it did not prove"));
	else
		(void)snprintf(text, sizeof(text), _("step %" PRId64 " of %" PRId64), l->at + 1, run->steps);
	(void)canvas_text_right(v->c, body.x + body.w - 24, body.y, 24, ROLE_HEAD, text);
	if (last)
		(void)draw_summary(v, summary_rect(v), v->a->scroll[VIEW_LAB]);
	else
		draw_step(v, run_rect(v));
	if (side_width(body.w) > 0)
		view_params(v,
			(struct rect){ body.x + run_rect(v).w, body.y + HEAD_H - 1, side_width(body.w), body.h - HEAD_H + 1 },
			&run->input, SIZE_MAX);
	view_prompt_or(v, draw_state);
}

const struct view_kind view_lab = {
	.footer = { { UI_TICK_ON, UI_PLAY, UI_PREDICT, UI_LEAP_UP, UI_UP, UI_LABS, UI_WRITE } },
	.draw = draw_run,
	.scroll_max = scroll_max,
	.clock = &labs_clock,
};
