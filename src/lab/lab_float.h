/* Small floating point formats in software: rounding of a double to the nearest value of a format, ties to even, with subnormals
 * and the format's rule for overflow. Exact; independent of the compiler's own types and of the rounding mode. */
#ifndef MESHPLAN_LAB_FLOAT_H
#define MESHPLAN_LAB_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum float_kind { FLOAT_FP32, FLOAT_TF32, FLOAT_BF16, FLOAT_FP16, FLOAT_E5M2, FLOAT_E4M3, FLOAT_COUNT };

struct float_format {
	const char *key, *cite;
	int32_t exponent_bits, mantissa_bits;
	bool infinity; /* false (e4m3): no infinities, the top binade holds numbers, only the last code is NaN */
};
extern const struct float_format float_formats[FLOAT_COUNT];
/* Key of a format, NULL past the last. */
const char *float_format_key(int64_t kind);

/* Bits of a code: sign, exponent, mantissa (tf32: 19 of the 32 that it is stored in). */
int32_t float_bits(const struct float_format *f);
double float_largest(const struct float_format *f);
double float_smallest_normal(const struct float_format *f);
double float_smallest(const struct float_format *f); /* subnormal */
double float_epsilon(const struct float_format *f);  /* distance of 1 to the next number */

/* The nearest value, ties to even. Too large: infinity, or NaN where there is none; saturate: the largest number. NaN stays NaN.
 */
double float_round(const struct float_format *f, double x, bool saturate);
/* Code of a value of the format (as float_round returns it), and the value of a code. One NaN is made: all exponent and mantissa
 * bits set (e4m3) or the quiet one. */
uint32_t float_encode(const struct float_format *f, double value);
double float_decode(const struct float_format *f, uint32_t code);

#endif
