/* Software-rounded formats: every code of 8 and 16 bits, every midpoint, against the compiler's own types and bit tricks where it
 * has them; and what the precision lab shows with them. */
#include "lab_fixture.h"

#include "lab_float.h"
#include "lab_math.h"

#include <math.h>

static double round_to(enum float_kind k, double x)
{
	return float_round(&float_formats[k], x, false);
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* IEEE 754 table 3.5, the bf16 and tf32 of the hardware, OCP OFP8 table 1. */
START_TEST(ranges_are_the_published_ones)
{
	static const struct {
		enum float_kind k;
		int32_t bits;
		double largest, normal, smallest, epsilon;
	} rows[] = {
		{ FLOAT_FP32, 32, 3.40282346638528859812e38, 0x1p-126, 0x1p-149, 0x1p-23 },
		{ FLOAT_TF32, 19, 0x1.ffcp127, 0x1p-126, 0x1p-136, 0x1p-10 },
		{ FLOAT_BF16, 16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7 },
		{ FLOAT_FP16, 16, 65504, 0x1p-14, 0x1p-24, 0x1p-10 },
		{ FLOAT_E5M2, 8, 57344, 0x1p-14, 0x1p-16, 0x1p-2 },
		{ FLOAT_E4M3, 8, 448, 0x1p-6, 0x1p-9, 0x1p-3 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct float_format *f = &float_formats[rows[i].k];

		ck_assert_int_eq(float_bits(f), rows[i].bits);
		ck_assert(float_largest(f) == rows[i].largest && float_smallest_normal(f) == rows[i].normal);
		ck_assert(float_smallest(f) == rows[i].smallest && float_epsilon(f) == rows[i].epsilon);
	}
}
END_TEST

/* Every value of a format rounds to itself and comes back as its code. */
START_TEST(every_code_of_8_and_16_bits_comes_back)
{
	for (int k = 0; k < FLOAT_COUNT; k++) {
		const struct float_format *f = &float_formats[k];
		uint32_t count = UINT32_C(1) << float_bits(f) % 32;

		for (uint32_t code = 0; float_bits(f) <= 19 && code < count; code++) {
			double v = float_decode(f, code);

			if (!isnan(v))
				CHECK_MSG(float_encode(f, float_round(f, v, false)) == code, "%s code %x", f->key, code);
			CHECK(same(float_decode(f, float_encode(f, v)), v) || isnan(v));
		}
	}
}
END_TEST

/* Between neighbours: just below the middle goes down, just above up, the middle to the even code. Exhaustive up to 19 bits. */
START_TEST(ties_go_to_even_and_the_rest_to_the_nearest)
{
	for (int k = 0; k < FLOAT_COUNT; k++) {
		const struct float_format *f = &float_formats[k];
		uint32_t count = UINT32_C(1) << (float_bits(f) - 1) % 32;

		for (uint32_t code = 0; float_bits(f) <= 19 && code + 1 < count; code++) {
			double a = float_decode(f, code), b = float_decode(f, code + 1), middle = a + (b - a) / 2,
			       even = code % 2 == 0 ? a : b;

			if (!isfinite(a) || !isfinite(b))
				continue;
			CHECK(same(float_round(f, middle, false), even) && same(float_round(f, -middle, false), -even));
			CHECK(same(float_round(f, nextafter(middle, a), false), a));
			CHECK(same(float_round(f, nextafter(middle, b), false), b));
		}
	}
}
END_TEST

START_TEST(too_large_follows_the_rule_of_the_format)
{
	for (int k = 0; k < FLOAT_COUNT; k++) {
		const struct float_format *f = &float_formats[k];
		double most = float_largest(f), step = most - float_decode(f, float_encode(f, most) - 1),
		       middle = most + step / 2;
		/* The largest code of e4m3 is even (mantissa 110): its middle comes back; with infinities it is odd and does not.
		 */
		double at_middle = f->infinity ? (double)INFINITY : most;

		ck_assert(float_round(f, nextafter(middle, 0), false) == most);
		ck_assert(same(float_round(f, middle, false), at_middle));
		ck_assert(f->infinity ? isinf(float_round(f, most * 4, false)) : isnan(float_round(f, most * 4, false)));
		ck_assert(float_round(f, most * 4, true) == most && float_round(f, -most * 4, true) == -most);
		ck_assert(float_round(f, (double)INFINITY, true) == most);
		ck_assert(isnan(float_round(f, (double)NAN, true)));
		ck_assert(f->infinity ? isinf(float_round(f, (double)INFINITY, false))
				      : isnan(float_round(f, (double)INFINITY, false)));
		ck_assert(signbit(float_round(f, -0.0, false)) && float_round(f, 0x1p-1074, false) == 0);
	}
}
END_TEST

/* A double with random bits in every exponent. */
static double any_double(uint64_t i)
{
	double v;
	uint64_t bits = lab_hash(77, 1, i);

	/* Half of them near the range of the small formats. */
	if (i % 2 == 0)
		bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (1023 - 40 + bits % 64) << 52;
	memcpy(&v, &bits, sizeof v);
	return v;
}

START_TEST(fp32_equals_the_compilers_float)
{
	for (uint64_t i = 0; i < 400000; i++) {
		double x = any_double(i), want;

		if (i % 4 == 1) {
			/* A float, and the middle to the next one: ties. */
			float a = (float)ldexp(
				1 + (double)(lab_hash(1, 2, i) % 8388608) / 8388608, (int)(lab_hash(1, 3, i) % 250) - 149);

			x = ((double)a + (double)nextafterf(a, 1e38f)) / 2;
		}
		want = (double)(float)x;
		CHECK_MSG(same(round_to(FLOAT_FP32, x), want), "%a", x);
	}
}
END_TEST

/* bf16 from a float: add half of what is cut, one less where the kept part is even. */
static double bf16_reference(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
	memcpy(&x, &bits, sizeof x);
	return (double)x;
}

START_TEST(bf16_equals_the_bit_trick)
{
	for (uint64_t i = 0; i < 400000; i++) {
		float x = (float)any_double(i);

		if (isfinite(x))
			CHECK_MSG(same(round_to(FLOAT_BF16, (double)x), bf16_reference(x)), "%a", (double)x);
	}
}
END_TEST

#ifdef __FLT16_MANT_DIG__
__extension__ typedef _Float16 half;

START_TEST(fp16_equals_the_compilers_own)
{
	for (uint64_t i = 0; i < 400000; i++) {
		double x = any_double(i);

		CHECK_MSG(same(round_to(FLOAT_FP16, x), (double)(half)x), "%a", x);
	}
	for (uint32_t code = 0; code < 65536; code++) {
		uint16_t bits = (uint16_t)code;
		half h;

		memcpy(&h, &bits, sizeof h);
		CHECK_MSG(same(float_decode(&float_formats[FLOAT_FP16], code), (double)h), "%x", code);
	}
}
END_TEST
#endif

/* OCP OFP8, annex: a few codes of both formats. */
START_TEST(fp8_codes_are_the_standards)
{
	static const struct {
		enum float_kind k;
		uint32_t code;
		double value;
	} rows[] = {
		{ FLOAT_E4M3, 0x7e, 448 },
		{ FLOAT_E4M3, 0x7f, (double)NAN },
		{ FLOAT_E4M3, 0x01, 0x1p-9 },
		{ FLOAT_E4M3, 0x08, 0x1p-6 },
		{ FLOAT_E4M3, 0x38, 1 },
		{ FLOAT_E5M2, 0x7b, 57344 },
		{ FLOAT_E5M2, 0x7c, (double)INFINITY },
		{ FLOAT_E5M2, 0x7d, (double)NAN },
		{ FLOAT_E5M2, 0x01, 0x1p-16 },
		{ FLOAT_E5M2, 0x3c, 1 },
		{ FLOAT_E5M2, 0xbc, -1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ck_assert(same(float_decode(&float_formats[rows[i].k], rows[i].code), rows[i].value));
}
END_TEST

START_TEST(precision_in_every_format)
{
	for (int k = 0; k < FLOAT_COUNT; k++)
		for (int seed = 0; seed < 5; seed++) {
			char settings[100];

			(void)snprintf(settings, sizeof settings, "format=%s;seed=%d;saturate=%s", float_formats[k].key, seed,
				seed % 2 == 0 ? "off" : "on");
			lab_fixture_prove("precision", settings);
		}
}
END_TEST

START_TEST(master_weights_and_loss_scaling_rescue_training)
{
	for (int seed = 0; seed < 10; seed++) {
		struct lab_fixture f;
		char settings[40];

		(void)snprintf(settings, sizeof settings, "seed=%d", seed);
		lab_fixture_run(&f, "precision", settings);
		ck_assert(lab_fixture_fact(&f, "loss_bf16_master") < lab_fixture_fact(&f, "loss_bf16"));
		ck_assert(fabs(lab_fixture_fact(&f, "loss_bf16_master") - lab_fixture_fact(&f, "loss_double")) <
			0.2 * lab_fixture_fact(&f, "loss_double") + 1e-3);
		ck_assert(lab_fixture_fact(&f, "lost") > 20 && lab_fixture_fact(&f, "scaled_lost") < 1);
		/* From 2^44 down to what fp16 holds, and one more after each doubling. */
		ck_assert(lab_fixture_fact(&f, "skipped") >= 2);
		lab_fixture_free(&f);
	}
}
END_TEST

/* The lesson: 112 and 84 GB for 7B; with the master copy 112 again, with fp32 gradients 126. */
START_TEST(the_ledger_is_the_lessons)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "precision", "iterations=1");
	ck_assert(lab_fixture_fact(&f, "fp32_bytes") == 112e9 && lab_fixture_fact(&f, "mixed_bytes") == 84e9);
	ck_assert(lab_fixture_fact(&f, "master_bytes") == 112e9 && lab_fixture_fact(&f, "gradient_bytes") == 126e9);
	lab_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lab_float");
	TCase *t = tcase_create("lab_float");

	tcase_add_test(t, ranges_are_the_published_ones);
	tcase_add_test(t, every_code_of_8_and_16_bits_comes_back);
	tcase_add_test(t, ties_go_to_even_and_the_rest_to_the_nearest);
	tcase_add_test(t, too_large_follows_the_rule_of_the_format);
	tcase_add_test(t, fp32_equals_the_compilers_float);
	tcase_add_test(t, bf16_equals_the_bit_trick);
#ifdef __FLT16_MANT_DIG__
	tcase_add_test(t, fp16_equals_the_compilers_own);
#endif
	tcase_add_test(t, fp8_codes_are_the_standards);
	tcase_add_test(t, precision_in_every_format);
	tcase_add_test(t, master_weights_and_loss_scaling_rescue_training);
	tcase_add_test(t, the_ledger_is_the_lessons);
	suite_add_tcase(s, t);
	return test_run(s);
}
