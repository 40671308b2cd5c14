/* The automatic choice: fills what the user left open (framework, layout, micro-batch, recompute) so that the run fits if any
 * legal choice does. Everything goes through plan_evaluate. */
#ifndef MESHPLAN_SEARCH_H
#define MESHPLAN_SEARCH_H

#include "catalog.h"
#include "err.h"
#include "knobs.h"
#include "plan.h"

#include <stdbool.h>

/* Chooses every layout knob of *d whose origin is below ORIGIN_FILE, and the framework when it is auto or not given. Order of
 * preference: fits with room; fits; predicted throughput (a larger tp*pp*cp must win by 1 %); where the speed is not known less
 * recompute, smaller tp*pp*cp, more headroom, framework table order. If nothing fits: smallest need. Marks what it set as
 * ORIGIN_AUTO. ERR_ILLEGAL when no legal layout exists with what is fixed. */
enum err_code search_choose(struct draft *d, const struct catalog *c, struct plan *p, struct err *e) NODISCARD;

/* The micro-batch to try after `b`, whether that fitted or not: 1, 2, 4 .. 16 while they fit; else the batch of a rank in one
 * piece, which needs no gradients beside those of a step. 0: none. */
int64_t search_next_micro_batch(const struct scenario *s, int64_t b, bool fitted);

#endif
