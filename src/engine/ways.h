/* What helps after a no: the fewest GPUs on which the automatic choice fits, and changes of what it never touches (precision,
 * optimizer, offload, adapters ...), each chosen anew and evaluated. */
#ifndef MESHPLAN_WAYS_H
#define MESHPLAN_WAYS_H

#include "catalog.h"
#include "knobs.h"
#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fewest GPUs of this kind (1, 2, 4, 8 within a node, whole nodes above, up to max_gpus) on which search_choose fits; 0 if none.
 */
int64_t ways_fewest_gpus(const struct draft *d, const struct catalog *c, int64_t max_gpus, struct draft *best, struct plan *p);

/* The same one size at a time: the next size to try after `gpus` (0: the first), and whether search_choose fits on it. */
int64_t ways_next_size(const struct draft *d, int64_t gpus);
bool ways_size_fits(const struct draft *d, const struct catalog *c, int64_t gpus, struct draft *best, struct plan *p);

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
size_t ways_all(const struct draft *d, const struct catalog *c, struct way_out *ways, size_t cap);

/* The i-th of them alone, i < WAY_MAX, in the order of the table; false where it does not apply. */
bool ways_at(const struct draft *d, const struct catalog *c, size_t i, struct way_out *way);

#endif
