/* Checked 64-bit integers. Bytes, counts and dimensions are int64_t and never wrap. */
#ifndef MESHPLAN_NUM_H
#define MESHPLAN_NUM_H

#include <stdbool.h>
#include <stdint.h>

/* *r = a + b. Returns false, and leaves *r alone, when the sum does not fit. */
bool num_add(int64_t a, int64_t b, int64_t *r);
/* *r = a * b. Returns false, and leaves *r alone, when the product does not fit. */
bool num_mul(int64_t a, int64_t b, int64_t *r);

/* ceil(a / b) for a >= 0, b > 0. */
static inline int64_t num_ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

/* Smallest multiple of b (> 0) that is >= a (>= 0). */
static inline int64_t num_round_up(int64_t a, int64_t b)
{
	return num_ceil_div(a, b) * b;
}

static inline int64_t num_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t num_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Greatest common divisor of a, b >= 0; gcd(0, 0) = 0. */
int64_t num_gcd(int64_t a, int64_t b);

/* x rounded half away from zero, saturated to the range of int64_t; NaN becomes 0. */
int64_t num_round(double x);

#endif
