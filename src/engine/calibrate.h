/* Learning from measurements of one cluster: a level from step times, a constant from peak memory, rates from micro-benchmarks.
 * Each keeps the weight of what was known before. Pure: files are the business of the caller. */
#ifndef MESHPLAN_CALIBRATE_H
#define MESHPLAN_CALIBRATE_H

#include "err.h"
#include "plan.h"

#include <stddef.h>
#include <stdint.h>

/* One measured step. */
struct measured_step {
	const struct scenario *s;
	double step_s;
	double before_s, after_s; /* predicted; calibrate_level fills them in */
};

/* The level of matrix multiplies that measured steps imply. */
struct calibrated_level {
	int32_t level;           /* enum coefficient */
	double before, after;    /* its value */
	double sd;               /* log standard deviation that is left */
	struct coefficients set; /* the scenarios', with the level in it, marked as calibrated */
};

/* Sets the one level that the scenarios of all n >= 1 steps share (GPU and precision; their coefficients are the same) so that
 *   (ln(after / before) / 0.14)^2 + sum (ln(predicted / measured) / 0.05)^2
 * is least: 0.14 is the spread of levels over published clusters, 0.05 that of steps of one run; a level that was calibrated
 * before has the spread that was left of it. ERR_ILLEGAL: speed not known, scenarios of several levels, or no single level
 * explains a step (more than a factor of two). */
enum err_code calibrate_level(struct measured_step *steps, size_t n, struct calibrated_level *out, struct err *e) NODISCARD;

/* reserved_ratio and margin of the scenario's profile so that the peak moves toward the measured one: what the allocator of the
 * fullest GPU reserved (torch max_memory_reserved). The verdict then counts that and the CUDA context. *predicted_bytes: before.
 * ERR_ILLEGAL: the profile has no such figure, or they differ by more than half. */
enum err_code calibrate_memory(
	const struct scenario *s, int64_t reserved_bytes, struct profile *out, int64_t *predicted_bytes, struct err *e) NODISCARD;

/* Measured matrix multiplies, ascending sizes. Puts them into the efficiency curve of the precision; outside their range the
 * curve is scaled by the ratio at the end. ERR_RANGE: a rate above the peak. */
struct matmul_point {
	double gflop, flops; /* size; rate per second */
};
enum err_code calibrate_matmul(const struct scenario *s, const struct matmul_point *points, size_t n, struct gpu_family *family,
	struct err *e) NODISCARD;

/* One measured collective: latency and bus bandwidth. */
struct collective_rate {
	enum collective op;
	double latency_s, rate_bps;
	int64_t ranks, hosts; /* hosts > 1: it crossed the network */
};
/* Puts a rate into the family (inside the link domain), or into the network coefficient of *set (across hosts). */
enum err_code calibrate_collective(const struct scenario *s, const struct collective_rate *r, struct gpu_family *family,
	struct coefficients *set, struct err *e) NODISCARD;

#endif
