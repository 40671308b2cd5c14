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

/* explain_memory.c: paths of the verdict and of memory. A member of a stage: ERR_UNKNOWN when there is none of that name. */
enum err_code explain_stage(
	const struct draft *d, const struct plan *p, int64_t stage, const char *member, struct explanation *x, struct err *e);
void explain_need(const struct draft *d, const struct plan *p, struct explanation *x);
void explain_have(const struct draft *d, const struct plan *p, struct explanation *x);
void explain_headroom(const struct draft *d, const struct plan *p, struct explanation *x);
void explain_host(const struct draft *d, const struct plan *p, struct explanation *x);
void explain_nvme(const struct draft *d, const struct plan *p, struct explanation *x);
void explain_phase(const struct draft *d, const struct plan *p, int phase, struct explanation *x);
/* Components of memory.bytes_per_param. */
enum { EXPLAIN_COMPONENTS = 5 };
const char *explain_component_key(size_t i);
void explain_component(const struct draft *d, const struct plan *p, size_t i, struct explanation *x);
/* Micro-batches or chunks in flight on a rank. */
void explain_in_flight(const struct plan *p, int64_t stage, double in_flight, struct explanation *x);

/* explain_speed.c: paths of time, throughput, communication and cost. False: none of them, or the speed is not known. */
bool explain_speed(const struct draft *d, const struct plan *p, const char *path, struct explanation *x);
void explain_speed_paths(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx);

#endif
