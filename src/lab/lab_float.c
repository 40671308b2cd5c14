#include "lab_float.h"

#include <math.h>
#include <stddef.h>

/* clang-format off */
const struct float_format float_formats[FLOAT_COUNT] = {
	[FLOAT_FP32] = { "fp32", "IEEE 754-2019 binary32", 8, 23, true },
	[FLOAT_TF32] = { "tf32", "NVIDIA A100 whitepaper 2020", 8, 10, true },
	[FLOAT_BF16] = { "bf16", "Kalamkar 2019", 8, 7, true },
	[FLOAT_FP16] = { "fp16", "IEEE 754-2019 binary16", 5, 10, true },
	[FLOAT_E5M2] = { "e5m2", "OCP OFP8 1.0; Micikevicius 2022", 5, 2, true },
	[FLOAT_E4M3] = { "e4m3", "OCP OFP8 1.0; Micikevicius 2022", 4, 3, false },
};
/* clang-format on */

const char *float_format_key(int64_t kind)
{
	return kind >= 0 && kind < FLOAT_COUNT ? float_formats[kind].key : NULL;
}

static int bias(const struct float_format *f)
{
	return (1 << (f->exponent_bits - 1)) - 1;
}

/* Exponent of the smallest normal number. */
static int lowest(const struct float_format *f)
{
	return 1 - bias(f);
}

int32_t float_bits(const struct float_format *f)
{
	return 1 + f->exponent_bits + f->mantissa_bits;
}

double float_largest(const struct float_format *f)
{
	/* With infinities the top binade is theirs; without, its last mantissa is NaN. */
	if (f->infinity)
		return ldexp(2 - ldexp(1, -f->mantissa_bits), bias(f));
	return ldexp(2 - ldexp(2, -f->mantissa_bits), bias(f) + 1);
}

double float_smallest_normal(const struct float_format *f)
{
	return ldexp(1, lowest(f));
}

double float_smallest(const struct float_format *f)
{
	return ldexp(1, lowest(f) - f->mantissa_bits);
}

double float_epsilon(const struct float_format *f)
{
	return ldexp(1, -f->mantissa_bits);
}

static double overflow(const struct float_format *f, double x, bool saturate)
{
	double most = saturate ? float_largest(f) : f->infinity ? (double)INFINITY : (double)NAN;

	return copysign(most, x);
}

double float_round(const struct float_format *f, double x, bool saturate)
{
	double size = fabs(x), units, whole, rest;
	int e;

	if (isnan(x) || x == 0)
		return x;
	if (isinf(x))
		return overflow(f, x, saturate);
	(void)frexp(size, &e);
	/* size = m 2^e, m in [1/2, 1): its unit in the last place is 2^(e - 1 - mantissa), below the normal numbers that of the
	 * smallest. */
	e = (e - 1 > lowest(f) ? e - 1 : lowest(f)) - f->mantissa_bits;
	units = ldexp(size, -e);
	whole = floor(units);
	rest = units - whole;
	if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0))
		whole += 1;
	size = ldexp(whole, e);
	return size > float_largest(f) ? overflow(f, x, saturate) : copysign(size, x);
}

uint32_t float_encode(const struct float_format *f, double value)
{
	uint32_t top = (UINT32_C(1) << f->exponent_bits) - 1, ones = (UINT32_C(1) << f->mantissa_bits) - 1, sign, mantissa;
	double size = fabs(value);
	int e;

	sign = (signbit(value) ? UINT32_C(1) : 0) << (f->exponent_bits + f->mantissa_bits);
	if (isnan(value))
		return f->infinity ? top << f->mantissa_bits | (ones + 1) / 2 : top << f->mantissa_bits | ones;
	if (isinf(value))
		return sign | top << f->mantissa_bits;
	if (size < float_smallest_normal(f))
		return sign | (uint32_t)ldexp(size, f->mantissa_bits - lowest(f));
	(void)frexp(size, &e);
	mantissa = (uint32_t)ldexp(size, f->mantissa_bits - (e - 1)) & ones;
	return sign | (uint32_t)(e - 1 + bias(f)) << f->mantissa_bits | mantissa;
}

double float_decode(const struct float_format *f, uint32_t code)
{
	uint32_t top = (UINT32_C(1) << f->exponent_bits) - 1, ones = (UINT32_C(1) << f->mantissa_bits) - 1;
	uint32_t mantissa = code & ones, exponent = code >> f->mantissa_bits & top;
	double sign = (code >> (f->exponent_bits + f->mantissa_bits) & 1) != 0 ? -1 : 1;

	if (exponent == top && f->infinity)
		return mantissa != 0 ? (double)NAN : copysign((double)INFINITY, sign);
	if (exponent == top && mantissa == ones)
		return (double)NAN;
	if (exponent == 0)
		return sign * ldexp((double)mantissa, lowest(f) - f->mantissa_bits);
	return sign * ldexp((double)(mantissa + ones + 1), (int)exponent - bias(f) - f->mantissa_bits);
}
