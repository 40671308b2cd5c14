/* Undo and redo: a ring of complete drafts. Plain copies, so nothing can be forgotten. */
#ifndef MESHPLAN_HISTORY_H
#define MESHPLAN_HISTORY_H

#include "knobs.h"

#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_MAX = 64 };

struct history {
	struct draft ring[HISTORY_MAX];
	size_t first, count; /* oldest, and how many */
	size_t at;           /* the present one, counted from the oldest */
};

/* Starts with one state. */
void history_init(struct history *h, const struct draft *d);
/* Adds a state after the present one; what was undone is forgotten, the oldest makes room. */
void history_push(struct history *h, const struct draft *d);
/* One state back, or forward. False, and *d unchanged, when there is none. */
bool history_undo(struct history *h, struct draft *d);
bool history_redo(struct history *h, struct draft *d);
/* What redo would bring back; NULL when nothing was undone. */
const struct draft *history_undone(const struct history *h);

#endif
