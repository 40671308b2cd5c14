/* The laboratory: which lab, its parameters, and the player of a run. */
#include "labs.h"

#include "app_internal.h"
#include "lab_report.h"
#include "num.h"
#include "ui_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SINGLE_STEPS = 16 }; /* whole numbers below it change by one, above by doubling and halving */

static const char *translated_count(const char *one, const char *many, unsigned long n)
{
	return ngettext(one, many, n);
}

/* Translations of the labs' sentences. */
static const struct lab_words words = { ui_text, translated_count };

const struct lab_param *labs_param(const struct app *a)
{
	return &lab_table[a->labs.focus]->params[a->labs.param];
}

char *labs_format(const struct lab_param *p, double value, char *buf, size_t cap)
{
	if (p->type == LAB_PARAM_WORD || p->type == LAB_PARAM_FLAG)
		return lab_param_format(p, value, buf, cap);
	return lab_format(p->type == LAB_PARAM_INT ? LAB_COUNT : LAB_REAL, value, buf, cap);
}

size_t labs_count(void)
{
	size_t n = 0;
	while (lab_table[n] != NULL)
		n++;
	return n;
}

void labs_default(struct app *a)
{
	lab_input_init(&a->labs.input, lab_table[a->labs.focus], &a->draft.s);
	a->labs.input.words = &words;
}

void labs_move(struct app *a, int64_t by)
{
	struct labs *l = &a->labs;
	const size_t before = l->focus;
	if (l->on_params) {
		l->param = app_moved(l->param, by, lab_table[l->focus]->n_params);
		return;
	}
	l->focus = app_moved(l->focus, by, labs_count());
	if (l->focus == before)
		return;
	l->param = 0;
	labs_default(a);
}

void labs_next_pane(struct app *a, int by)
{
	(void)by;
	a->labs.on_params = !a->labs.on_params;
}

/* Flags and words go round. */
static double next_word(const struct lab_param *p, double value, bool up)
{
	const double next = value + (up ? 1 : -1);
	return next > p->max ? p->min : next < p->min ? p->max : next;
}

static double next_number(const struct lab_param *p, double value, bool up)
{
	const bool whole = p->type == LAB_PARAM_INT;
	if (whole && (value < SINGLE_STEPS || (value == SINGLE_STEPS && !up)))
		return value + (up ? 1 : -1);
	if (up)
		return value == 0 ? p->max / 1024 : 2 * value;
	return whole ? floor(value / 2) : value / 2;
}

/* The value some steps on. */
static double stepped(const struct lab_param *p, double value, int by)
{
	if (p->type == LAB_PARAM_FLAG || p->type == LAB_PARAM_WORD)
		return next_word(p, value, by > 0);
	for (int i = abs(by); i > 0; i--)
		value = next_number(p, value, by > 0);
	return fmin(fmax(value, p->min), p->max);
}

/* Sets it; rules between parameters are only said, as the other one may be changed next. */
static void put(struct app *a, const struct lab_param *p, double value)
{
	struct err e = { 0 };
	lab_input_put(&a->labs.input, p, value);
	if (lab_input_check(&a->labs.input, &e) != ERR_OK)
		app_say(a, "%s", e.msg);
}

void labs_change(struct app *a, int by)
{
	struct labs *l = &a->labs;
	const struct lab_param *p = labs_param(a);
	const double before = l->input.value[l->param], after = stepped(p, before, by);
	if (!l->on_params)
		app_say(a, "%s", _("Tab goes to the parameters; there h and l change one."));
	else if (after == before)
		app_say(a, _("%s goes from %.6g to %.6g."), p->key, p->min, p->max);
	else
		put(a, p, after);
}

static void free_play(struct lab_play *p)
{
	if (p != NULL)
		free(p->workspace);
	free(p);
}

/* Runs it into fresh memory; NULL, and why, when it cannot be. */
static struct lab_play *run_lab(const struct lab_input *input, const struct scenario *s, struct err *e)
{
	struct lab_size size;
	struct lab_input in = *input;
	struct lab_play *p = calloc(1, sizeof(*p));
	if (p == NULL) {
		(void)err_set(e, ERR_RANGE, "", "%s", _("There is no memory for this run."));
		return NULL;
	}
	p->scenario = *s;
	in.scenario = &p->scenario;
	if (lab_workspace_size(&in, &size, e) == ERR_OK) {
		p->workspace = malloc((size_t)size.bytes);
		if (p->workspace == NULL)
			(void)err_set(e, ERR_RANGE, "", _("There are no %.3g MiB of memory for these sizes."),
				(double)size.bytes / 1048576);
		else if (lab_run(&in, p->workspace, size.bytes, &p->run, e) == ERR_OK)
			return p;
	}
	free_play(p);
	return NULL;
}

static int64_t longest_step(const struct lab_run *run)
{
	int64_t rows = 0;
	for (int64_t k = 0; k < run->steps; k++) {
		struct lab_step step;
		lab_step(run, k, &step);
		rows = num_max(rows, step.rows);
	}
	return rows;
}

/* Takes over a run; it starts at step `at`. */
static void show(struct app *a, struct lab_play *p, int64_t at)
{
	struct labs *l = &a->labs;
	free_play(l->play);
	l->play = p;
	p->rows = longest_step(&p->run);
	l->at = at;
	l->playing = false;
	a->scroll[VIEW_LAB] = 0;
}

void labs_open(struct app *a)
{
	struct err e = { 0 };
	struct lab_play *p = run_lab(&a->labs.input, &a->draft.s, &e);
	if (p == NULL) {
		app_say(a, "%s", e.msg);
		return;
	}
	show(a, p, 0);
	app_push_view(a, VIEW_LAB);
}

void labs_type(struct app *a, const char *text)
{
	if (a->labs.on_params)
		prompt_open(a, PROMPT_PARAM, text);
	else
		app_say(a, "%s", _("Tab goes to the parameters; there a value can be typed."));
}

static void move_by(struct labs *l, int64_t by)
{
	l->at = num_max(0, num_min(l->at + by, l->play->run.steps));
}

static void go(struct app *a, int64_t by)
{
	a->labs.playing = false;
	a->scroll[VIEW_LAB] = 0;
	move_by(&a->labs, by);
}

static bool is_playing(const struct app *a)
{
	return a->labs.playing;
}

static void play(struct app *a)
{
	struct labs *l = &a->labs;
	l->playing = !l->playing;
	if (l->playing && l->at == l->play->run.steps)
		l->at = 0;
}

static void tick(struct app *a)
{
	struct labs *l = &a->labs;
	a->scroll[VIEW_LAB] = 0;
	move_by(l, 1);
	l->playing = l->at < l->play->run.steps;
}

const struct view_clock labs_clock = { is_playing, play, go, tick };

void labs_predict(struct app *a)
{
	go(a, a->labs.play->run.steps);
	prompt_open(a, PROMPT_PREDICT, "");
}

/* A number that is refused takes the nearest end of its range. */
static void read_param(const struct app *a, struct prompt *p)
{
	const struct lab_param *param = labs_param(a);
	struct lab_input in = a->labs.input;
	struct lab_size size;
	struct err e = { 0 };
	double value;
	const enum err_code code = lab_param_parse(param, p->text, &value, &e);
	p->good = code == ERR_OK;
	if (!p->good) {
		(void)snprintf(p->note, sizeof(p->note), "%s", e.msg);
		if (code == ERR_RANGE && isfinite(value))
			(void)lab_param_format(param, value < param->min ? param->min : param->max, p->take, sizeof(p->take));
		return;
	}
	char text[48];
	lab_input_put(&in, param, value);
	if (lab_workspace_size(&in, &size, &e) != ERR_OK)
		(void)snprintf(p->note, sizeof(p->note), "%s", e.msg);
	else
		(void)snprintf(p->note, sizeof(p->note), "%s", labs_format(param, value, text, sizeof(text)));
}

static void read_prediction(const struct app *a, struct prompt *p)
{
	const struct lab_run *run = &a->labs.play->run;
	struct err e = { 0 };
	double value = 0;
	char text[64];
	p->good = lab_answer_parse(run, p->text, &value, &e) == ERR_OK;
	(void)snprintf(p->note, sizeof(p->note), "%s", p->good ? lab_format(run->answer_unit, value, text, sizeof(text)) : e.msg);
}

void labs_read_prompt(const struct app *a, struct prompt *p)
{
	p->note[0] = p->take[0] = '\0';
	p->good = false;
	if (p->len == 0)
		return;
	if (p->kind == PROMPT_PARAM)
		read_param(a, p);
	else
		read_prediction(a, p);
}

/* Runs what the question is about, and shows how far off the answer is. */
static void answer(struct app *a, double prediction)
{
	struct labs *l = &a->labs;
	struct lab_input next;
	struct lab_play *p = NULL;
	struct err e = { 0 };
	if (lab_input_next(&l->play->run, &next, &e) == ERR_OK)
		p = run_lab(&next, &l->play->scenario, &e);
	if (p == NULL) {
		app_say(a, "%s", e.msg);
		return;
	}
	p->predicted = true;
	p->prediction = prediction;
	l->input = next;
	l->input.scenario = &a->draft.s;
	show(a, p, p->run.steps);
}

void labs_accept_prompt(struct app *a)
{
	struct prompt *p = &a->prompt;
	struct err e = { 0 };
	double value;
	const char *const typed = p->good || p->take[0] == '\0' ? p->text : p->take;
	const enum prompt_kind kind = p->kind;
	if (!p->good && p->take[0] == '\0')
		return;
	p->kind = PROMPT_NONE;
	if (kind == PROMPT_PARAM && lab_param_parse(labs_param(a), typed, &value, &e) == ERR_OK)
		put(a, labs_param(a), value);
	else if (kind == PROMPT_PREDICT && lab_answer_parse(&a->labs.play->run, typed, &value, &e) == ERR_OK)
		answer(a, value);
}

void labs_check(struct app *a)
{
	struct labs *l = &a->labs;
	bool shown = a->view == VIEW_LAB;
	for (size_t i = 0; i < a->depth; i++)
		shown = shown || a->below[i] == VIEW_LAB;
	if (l->input.lab == NULL)
		labs_default(a);
	lab_input_follow(&l->input, &a->draft.s);
	if (shown || l->play == NULL)
		return;
	free_play(l->play);
	l->play = NULL;
	l->playing = false;
}
