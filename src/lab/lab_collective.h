/* Algorithms of an all-reduce as data: for each step, what each rank receives from whom. One executor moves the numbers, so bytes
 * and sums come from the same messages. */
#ifndef MESHPLAN_LAB_COLLECTIVE_H
#define MESHPLAN_LAB_COLLECTIVE_H

#include "comm.h"

#include <stdbool.h>
#include <stdint.h>

/* n ranks in nodes of per_node; a buffer of `elements` numbers on each. */
struct collective_group {
	int64_t n, per_node, elements;
};

/* What a rank receives in one step: elements first .. first + count - 1 of rank `from`, added to its own or put in their place.
 * from < 0: nothing. `chunk` numbers the piece for people. */
struct collective_message {
	int64_t from, first, count, chunk;
	bool add;
};

enum collective_algorithm { ALGORITHM_RING, ALGORITHM_TREE, ALGORITHM_HALVING, ALGORITHM_HIERARCHICAL, ALGORITHM_COUNT };

struct collective_algorithm_info {
	const char *key, *label, *cite; /* label: N_() */
	int64_t (*steps)(const struct collective_group *g);
	struct collective_message (*receive)(const struct collective_group *g, int64_t step, int64_t rank);
};
extern const struct collective_algorithm_info collective_algorithms[ALGORITHM_COUNT];
/* Key of an algorithm, NULL past the last. */
const char *collective_algorithm_key(int64_t a);

/* Whether an algorithm exists for a group: hierarchical wants whole nodes. */
bool collective_possible(enum collective_algorithm a, const struct collective_group *g);

/* Numbers that a run moves: `held` of the group's elements per rank, evenly spaced (all of them when held = elements), rank after
 * rank. */
struct collective_state {
	double *v;
	int64_t held;
};

struct collective_counts {
	int64_t steps;
	int64_t sent_elements;      /* by all ranks */
	int64_t across_elements;    /* of these, between nodes */
	int64_t most_sent_elements; /* by one rank */
	double seconds; /* steps one after the other, each as long as its slowest message: latency + bytes / rate of the link it
			   takes */
};

/* Called after a message has been applied: the first held element of the piece before and after (NaN when none is held). */
typedef void collective_watch(
	void *ctx, int64_t step, int64_t to, const struct collective_message *m, double before, double after);

/* The held elements that a piece covers: *first .. returned value - 1. */
int64_t collective_held(const struct collective_group *g, int64_t held, int64_t from, int64_t count, int64_t *first);

/* Runs an algorithm on the state; every rank ends with the sum. sent: n counters, zeroed here. links may be NULL (no seconds);
 * watch too. */
struct collective_counts collective_run(enum collective_algorithm a, const struct collective_group *g,
	const struct collective_state *state, int64_t *sent, const struct links *links, int64_t element_bytes,
	collective_watch *watch, void *ctx);

#endif
