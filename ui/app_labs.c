/* The laboratory: which lab, its parameters, and the player of a run. */
#include "labs.h"

#include "app_internal.h"
#include "num.h"
#include "ui_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SINGLE_STEPS = 16 }; /* whole numbers below it change by one, above by doubling and halving */

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
}

static size_t moved(size_t at, int64_t by, size_t n)
{
	const int64_t to = (int64_t)at + by;
	return to < 0 ? 0 : (size_t)num_min(to, (int64_t)n - 1);
}

void labs_move(struct app *a, int64_t by)
{
	struct labs *l = &a->labs;
	const size_t before = l->focus;
	if (l->on_params) {
		l->param = moved(l->param, by, lab_table[l->focus]->n_params);
		return;
	}
	l->focus = moved(l->focus, by, labs_count());
	if (l->focus == before)
		return;
	l->param = 0;
	labs_default(a);
}

void labs_next_pane(struct app *a)
{
	a->labs.on_params = !a->labs.on_params;
}

/* The value one step on; flags and words go round. */
static double stepped(const struct lab_param *p, double value, int by)
{
	if (p->type == LAB_PARAM_FLAG || p->type == LAB_PARAM_WORD) {
		const double next = value + (by > 0 ? 1 : -1);
		return next > p->max ? p->min : next < p->min ? p->max : next;
	}
	for (int i = abs(by); i > 0; i--) {
		const bool whole = p->type == LAB_PARAM_INT;
		if (whole && (value < SINGLE_STEPS || (value <= SINGLE_STEPS && by < 0)))
			value += by > 0 ? 1 : -1;
		else if (value == 0)
			value = by > 0 ? p->max / 1024 : 0;
		else
			value = by > 0 ? 2 * value : whole ? floor(value / 2) : value / 2;
	}
	return fmin(fmax(value, p->min), p->max);
}

void labs_change(struct app *a, int by)
{
	struct labs *l = &a->labs;
	const struct lab_param *p = &lab_table[l->focus]->params[l->param];
	const double before = l->input.value[l->param];
	struct err e = { 0 };
	if (!l->on_params) {
		app_say(a, "%s", _("Tab goes to the parameters; there h and l change one."));
		return;
	}
	l->input.value[l->param] = stepped(p, before, by);
	if (l->input.value[l->param] == before)
		app_say(a, _("%s goes from %.6g to %.6g."), p->key, p->min, p->max);
	else if (lab_input_check(&l->input, &e) != ERR_OK)
		app_say(a, "%s", e.msg);
}

static void free_play(struct lab_play *p)
{
	if (p != NULL)
		free(p->workspace);
	free(p);
}

/* Runs it into fresh memory; NULL, and why, when it cannot be. */
static struct lab_play *run_lab(const struct labs *l, const struct scenario *s, struct err *e)
{
	struct lab_size size;
	struct lab_input in = l->input;
	struct lab_play *p = malloc(sizeof(*p));
	if (p == NULL) {
		(void)err_set(e, ERR_RANGE, "", "%s", _("There is no memory for this run."));
		return NULL;
	}
	p->scenario = *s;
	p->workspace = NULL;
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

void labs_open(struct app *a)
{
	struct labs *l = &a->labs;
	struct err e = { 0 };
	struct lab_play *p = run_lab(l, &a->draft.s, &e);
	if (p == NULL) {
		app_say(a, "%s", e.msg);
		return;
	}
	free_play(l->play);
	l->play = p;
	l->at = 0;
	l->playing = false;
	app_push_view(a, VIEW_LAB);
}

static void go(struct labs *l, int64_t by)
{
	l->at = num_max(0, num_min(l->at + by, l->play->run.steps));
}

void labs_go(struct app *a, int64_t by)
{
	a->labs.playing = false;
	a->scroll[VIEW_LAB] = 0;
	go(&a->labs, by);
}

void labs_play(struct app *a)
{
	struct labs *l = &a->labs;
	l->playing = !l->playing;
	if (l->playing && l->at == l->play->run.steps)
		l->at = 0;
}

void labs_tick(struct app *a)
{
	struct labs *l = &a->labs;
	a->scroll[VIEW_LAB] = 0;
	go(l, 1);
	l->playing = l->at < l->play->run.steps;
}

void labs_check(struct app *a)
{
	struct labs *l = &a->labs;
	bool shown = a->view == VIEW_LAB;
	for (size_t i = 0; i < a->depth; i++)
		shown = shown || a->below[i] == VIEW_LAB;
	if (l->input.lab == NULL)
		labs_default(a);
	if (shown || l->play == NULL)
		return;
	free_play(l->play);
	l->play = NULL;
	l->playing = false;
}
