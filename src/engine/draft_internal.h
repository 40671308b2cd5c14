/* Shared between draft*.c only. */
#ifndef MESHPLAN_DRAFT_INTERNAL_H
#define MESHPLAN_DRAFT_INTERNAL_H

#include "knobs.h"

enum { VALUE_SET_MAX = 160 };

/* A sorted set of values; what exceeds the room is left out. */
struct value_set {
	int64_t v[VALUE_SET_MAX];
	size_t n;
};
void value_set_insert(struct value_set *set, int64_t value);
/* The values that a knob offers here, legal or not. */
void draft_values(const struct knob *k, const struct catalog *c, const struct draft *d, struct value_set *set);

#endif
