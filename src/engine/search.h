/* The automatic choice: fills what the user left open (framework, layout, micro-batch, recompute) so that the run fits if any
 * legal choice does; and the reverse questions after a no: fewest GPUs, ways out. Everything goes through plan_evaluate. */
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

/* Fewest GPUs of this kind (1, 2, 4, 8 within a node, whole nodes above, up to max_gpus) on which search_choose fits; 0 if none.
 */
int64_t search_fewest_gpus(const struct draft *d, const struct catalog *c, int64_t max_gpus, struct draft *best, struct plan *p);

/* The same one size at a time: the next size to try after `gpus` (0: the first), and whether search_choose fits on it. */
int64_t search_next_size(const struct draft *d, int64_t gpus);
bool search_size_fits(const struct draft *d, const struct catalog *c, int64_t gpus, struct draft *best, struct plan *p);

enum { WAY_MAX = 12 };
/* One way out of a no: a single change (or a known recipe of two) and what it would need. */
struct way_out {
	char change[64]; /* flags, "--offload cpu" */
	char text[96];   /* "CPU offload of optimizer states" */
	bool fits, tight;
	int64_t need_bytes, have_bytes, host_bytes_per_node;
	int32_t limit;      /* enum verdict_limit: what is in the way when it does not fit */
	struct draft draft; /* the complete scenario */
};
/* The ways out, those that fit first, cheapest first. Returns how many. */
size_t search_ways_out(const struct draft *d, const struct catalog *c, struct way_out *ways, size_t cap);

/* The i-th of them alone, i < WAY_MAX, in the order of the table; false where it does not apply. */
bool search_way_out(const struct draft *d, const struct catalog *c, size_t i, struct way_out *way);

#endif
