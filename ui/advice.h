/* What would help: single changes of one setting with everything else as it is, known recipes of two, and the fewest GPUs;
 * ranked. Worked out in slices, so that a key never waits for it. */
#ifndef MESHPLAN_ADVICE_H
#define MESHPLAN_ADVICE_H

#include "catalog.h"
#include "knobs.h"
#include "plan.h"
#include "search.h"

#include <stdbool.h>

/* In this order on the screen. */
enum advice_group { ADVICE_SAME, ADVICE_CHANGES, ADVICE_LAYOUT, ADVICE_HARDWARE, ADVICE_NOT_ENOUGH, ADVICE_GROUP_COUNT };

struct advice_row {
	enum advice_group group;
	char what[72], from[32], to[48]; /* "micro-batch", "4", "1"; of a new layout "adapter lora", "", "in a new layout" */
	int64_t need_bytes, headroom_bytes;
	bool tight;
	double step_s, tokens_per_s, usd; /* 0: not known */
	struct draft draft;               /* complete */
};

enum { ADVICE_MAX = 40 };

struct advice {
	struct advice_row row[ADVICE_MAX];
	size_t n;
	size_t done; /* slices */
	int64_t gpus;
	bool complete;
};

/* Starts anew, with nothing known. */
void advice_start(struct advice *a);
/* Does one slice for the draft, whose plan is p. */
void advice_step(struct advice *a, const struct draft *d, const struct plan *p, const struct catalog *c);
/* Share of the slices that is done, 0 to 1. */
double advice_progress(const struct advice *a);
/* The cheapest way out: of the single changes of the same training run the one that loses least speed, else that run in a layout
 * chosen anew, else of what changes the run, alone or in a new layout, else more GPUs. NULL as long as it is not known. */
const struct advice_row *advice_best(const struct advice *a);

#endif
