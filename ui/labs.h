/* A lab that was run from the screen. It owns what it needs, so that the plan can change while one steps through it. */
#ifndef MESHPLAN_LABS_H
#define MESHPLAN_LABS_H

#include "app.h"
#include "lab.h"

struct lab_play {
	struct scenario scenario; /* a copy: the run points to it */
	struct lab_run run;
	void *workspace; /* owned */
	int64_t rows;    /* of its longest step */
	bool predicted;  /* its answer was guessed before it ran */
	double prediction;
};

/* How many labs there are. */
size_t labs_count(void);
/* Runs the lab in focus with its parameters and opens the player; else says why not. */
void labs_open(struct app *a);
/* Puts the focus on another lab, or on another of its parameters. */
void labs_move(struct app *a, int64_t by);
/* From the list of labs to the parameters and back. */
void labs_next_pane(struct app *a, int by);
/* One step of the parameter in focus. */
void labs_change(struct app *a, int by);
/* All parameters back to their defaults. */
void labs_default(struct app *a);
/* Opens a prompt for the parameter in focus, or for the answer to the question of the run; else says why not. */
void labs_type(struct app *a, const char *text);
void labs_predict(struct app *a);
/* The prompts of the laboratory: how the text is read, into note, good and take; and Enter. */
void labs_read_prompt(const struct app *a, struct prompt *p);
void labs_accept_prompt(struct app *a);
/* The parameter in focus. */
const struct lab_param *labs_param(const struct app *a);
/* A value of it for the screen. Returns buf. */
char *labs_format(const struct lab_param *p, double value, char *buf, size_t cap);
/* The player. Behind the last step of a run there is one page more: what it proved. */
extern const struct view_clock labs_clock;
/* Frees the run when no view shows it any more. */
void labs_check(struct app *a);

#endif
