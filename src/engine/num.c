#include "num.h"

#include <math.h>

bool num_add(int64_t a, int64_t b, int64_t *r)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*r = sum;
	return true;
}

bool num_mul(int64_t a, int64_t b, int64_t *r)
{
	int64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*r = product;
	return true;
}

int64_t num_gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int64_t num_round(double x)
{
	/* 2^63 is exact in a double; INT64_MAX is not. */
	const double limit = 9223372036854775808.0;

	if (isnan(x))
		return 0;
	if (x >= limit)
		return INT64_MAX;
	if (x <= -limit)
		return INT64_MIN;
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}
