/* Shared between explain*.c only: building one explanation. Texts that do not fit are cut, values and notes beyond the room left
 * out. */
#ifndef MESHPLAN_EXPLAIN_INTERNAL_H
#define MESHPLAN_EXPLAIN_INTERNAL_H

#include "explain.h"

/* One number of the formula and where it comes from. */
void put_value(struct explanation *x, const char *symbol, double number, const char *unit, const char *from, ...)
	PRINTF_LIKE(5, 6);
/* A knob as an ingredient: its value and where that came from. */
void put_knob(struct explanation *x, const struct draft *d, const char *symbol, const char *key);
void put_note(struct explanation *x, const char *fmt, ...) PRINTF_LIKE(2, 3);
void put_result(
	struct explanation *x, const char *symbol, double number, const char *unit, const char *formula, const char *source);

/* explain_speed.c: paths of time, throughput, communication and cost. False: none of them, or the speed is not known. */
bool explain_speed(const struct draft *d, const struct plan *p, const char *path, struct explanation *x);
void explain_speed_paths(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx);

#endif
