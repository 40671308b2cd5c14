/* The space of layouts: every tp, pp, cp, ep, micro-batch and recompute that trains the same run on the same cluster with the
 * same framework, with what each needs and how fast it is. Worked out in slices, so that a key never waits for it. */
#ifndef MESHPLAN_SPACE_H
#define MESHPLAN_SPACE_H

#include "catalog.h"
#include "knobs.h"
#include "plan.h"

#include <stdbool.h>

enum space_order { SPACE_BY_SPEED, SPACE_BY_MEMORY, SPACE_ORDER_COUNT };

/* One layout: what it sets, and what comes of it. */
struct space_row {
	int64_t tp, pp, cp, ep, dp, micro_batch;
	int32_t recompute;
	bool plain; /* 1f1b without chunks: the schedule of the draft is not legal here */
	bool fits, tight;
	int64_t need_bytes, headroom_bytes;
	double step_s, tokens_per_s, mfu, usd; /* 0: not known, or does not fit */
};

enum { SPACE_MAX = 1024, SPACE_DEGREES = 32, SPACE_BEST = 8 };

struct space {
	struct space_row row[SPACE_MAX]; /* the best in this order */
	size_t n, legal, fit;            /* kept; found */
	enum space_order order;
	int64_t tp[SPACE_DEGREES], pp[SPACE_DEGREES], cp[SPACE_DEGREES], ep[SPACE_DEGREES];
	size_t n_tp, n_pp, n_cp, n_ep;
	size_t done; /* slices */
	bool started, complete;
};

/* What the last complete search found first. */
struct space_best {
	struct space_row row[SPACE_BEST];
	size_t n, legal, fit;
	enum space_order order;
	bool cp, ep; /* more than one degree was tried */
};

/* Forgets what was found; the order stays. */
void space_start(struct space *s);
/* Does one slice for a draft. */
void space_step(struct space *s, const struct draft *d, const struct catalog *c);
/* Those that stand first, of a complete search. */
struct space_best space_best_of(const struct space *s);
/* Share of the slices that is done, 0 to 1. */
double space_progress(const struct space *s);
/* Sorts anew. */
void space_set_order(struct space *s, enum space_order order);
/* The draft with the layout of a row. */
void space_draft(const struct draft *d, const struct catalog *c, const struct space_row *row, struct draft *out);
/* Whether a row is the layout of the draft; whether it fits and no other that was kept is both faster and smaller. */
bool space_is_here(const struct draft *d, const struct space_row *row);
bool space_is_front(const struct space *s, size_t i);

#endif
