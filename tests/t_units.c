/* Quantities as text: what is read, what is refused, what is printed. */
#include "support.h"
#include "units.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
	const char *text;
	int64_t bytes;
} good_bytes[] = {
	{ "0", 0 },
	{ "80GB", 80000000000 },
	{ "80 GB", 80000000000 },
	{ " 80gb ", 80000000000 },
	{ "80GiB", 85899345920 },
	{ "79.15GiB", 84986665370 }, /* 79.15 * 2^30 = 84986665369.6 */
	{ "1.5kB", 1500 },
	{ "1KiB", 1024 },
	{ "7.68TB", 7680000000000 },
	{ "2TiB", 2199023255552 },
	{ "81,559 MiB", 85520809984 },
	{ "80B", 80 },
	{ "9223372036854775807", INT64_MAX },
};
/* clang-format on */

START_TEST(sizes_are_read_in_powers_of_1000_and_1024)
{
	int64_t bytes = -1;

	ck_assert_int_eq(units_parse_bytes(good_bytes[_i].text, "gpu-mem", &bytes, NULL), ERR_OK);
	ck_assert_int_eq(bytes, good_bytes[_i].bytes);
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	enum err_code code;
} bad_bytes[] = {
	{ "", ERR_USAGE },
	{ "GB", ERR_USAGE },
	{ "80G", ERR_USAGE },
	{ "80XB", ERR_USAGE },
	{ "80.GB", ERR_USAGE },
	{ ".5GB", ERR_USAGE },
	{ "1,5GB", ERR_USAGE }, /* a comma splits thousands only */
	{ "8e10", ERR_USAGE },
	{ "nan", ERR_USAGE },
	{ "inf", ERR_USAGE },
	{ "80GB80", ERR_USAGE },
	{ "0x10", ERR_USAGE },
	{ "-1", ERR_RANGE },
	{ "-80GB", ERR_RANGE },
	{ "9223372036854775808", ERR_RANGE },
	{ "99999999PB", ERR_RANGE },
	{ "10000PiB", ERR_RANGE },
};
/* clang-format on */

START_TEST(bad_sizes_name_the_knob_and_the_value)
{
	int64_t bytes = -7;
	struct err e = { .code = ERR_OK };

	ck_assert_int_eq(units_parse_bytes(bad_bytes[_i].text, "host-mem", &bytes, &e), bad_bytes[_i].code);
	ck_assert_int_eq(bytes, -7);
	ck_assert_str_eq(e.where, "host-mem");
	ck_assert_ptr_nonnull(strstr(e.msg, bad_bytes[_i].text));
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	int64_t kilo, count;
} good_counts[] = {
	{ "8192", 1000, 8192 },
	{ "8k", 1000, 8000 },
	{ "8k", 1024, 8192 },
	{ "1M", 1024, 1048576 },
	{ "1M", 1000, 1000000 },
	{ "70B", 1000, 70000000000 },
	{ "1.5e12", 1000, 1500000000000 },
	{ "8E3", 1024, 8000 },
	{ "70b", 1000, 70000000000 },
	{ "0.5B", 1000, 500000000 },
	{ "1.5T", 1000, 1500000000000 },
	{ "15G", 1000, 15000000000 },
	{ "387,900", 1000, 387900 },
	{ "1_048_576", 1000, 1048576 },
	{ "2.50k", 1000, 2500 },
	{ "8.0", 1000, 8 },
	{ "-3", 1000, -3 },
	{ "9223372036854775807", 1000, INT64_MAX },
};
/* clang-format on */

START_TEST(counts_are_read_with_suffixes)
{
	int64_t count = -1;

	ck_assert_int_eq(units_parse_count(good_counts[_i].text, "seq", good_counts[_i].kilo, &count, NULL), ERR_OK);
	ck_assert_int_eq(count, good_counts[_i].count);
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	enum err_code code;
} bad_counts[] = {
	{ "", ERR_USAGE }, { "k", ERR_USAGE }, { "eight", ERR_USAGE }, { "8q", ERR_USAGE },
	{ "12,34", ERR_USAGE }, { "1234,567", ERR_USAGE }, { "1,,000", ERR_USAGE }, { "1e", ERR_USAGE }, { "1e99", ERR_USAGE }, { "1e-3", ERR_USAGE }, { "8 192", ERR_USAGE },
	{ "0.1234567890123456789", ERR_USAGE }, { "9223372036854775808", ERR_RANGE }, { "10000000T", ERR_RANGE },
};
/* clang-format on */

START_TEST(bad_counts_are_refused)
{
	int64_t count = -7;
	struct err e = { .code = ERR_OK };

	ck_assert_int_eq(units_parse_count(bad_counts[_i].text, "tp", 1000, &count, &e), bad_counts[_i].code);
	ck_assert_int_eq(count, -7);
	ck_assert_str_eq(e.where, "tp");
}
END_TEST

START_TEST(a_broken_count_gets_its_nearest_whole_number)
{
	static const struct {
		const char *text;
		int64_t nearest;
	} broken[] = { { "8.6", 9 }, { "0.0000001", 1 }, { "-2.4", -2 }, { "1.0005k", 1001 } };

	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		int64_t count = -7;
		char want[80];
		struct err e;

		(void)snprintf(
			want, sizeof want, "'%s' is not a whole number; nearest: %" PRId64, broken[i].text, broken[i].nearest);
		ck_assert_int_eq(units_parse_count(broken[i].text, "tp", 1000, &count, &e), ERR_USAGE);
		ck_assert_str_eq(e.msg, want);
		ck_assert_int_eq(count, broken[i].nearest);
	}
}
END_TEST

START_TEST(one_is_singular_and_a_range_of_one_is_a_number)
{
	char buf[48];

	ck_assert_str_eq(units_noun(1, "micro-batches", buf, sizeof buf), "micro-batch");
	ck_assert_str_eq(units_noun(1, "ranks", buf, sizeof buf), "rank");
	ck_assert_str_eq(units_noun(2, "ranks", buf, sizeof buf), "ranks");
	ck_assert_str_eq(units_noun(1, "GB/s", buf, sizeof buf), "GB/s");
	ck_assert_str_eq(units_noun(1, "s", buf, sizeof buf), "s");
	ck_assert_str_eq(units_format_range(1, 8, buf, sizeof buf), "1 .. 8");
	ck_assert_str_eq(units_format_range(1, 1, buf, sizeof buf), "1");
}
END_TEST

START_TEST(reals_are_plain_decimals_with_a_point)
{
	static const char *const bad[] = { "", "x", "1,5", "nan", "inf", "0x1p3", "1e", "--1", "1 2", "." };
	double x = 0;
	struct err e;

	ck_assert_int_eq(units_parse_real("0.1", "dropout", &x, NULL), ERR_OK);
	ck_assert_double_eq(x, 0.1);
	ck_assert_int_eq(units_parse_real(" -2.5e3 ", "dropout", &x, NULL), ERR_OK);
	ck_assert_double_eq(x, -2500);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_int_eq(units_parse_real(bad[i], "dropout", &x, &e), ERR_USAGE);
	ck_assert_int_eq(units_parse_real("1e400", "dropout", &x, &e), ERR_RANGE);
	ck_assert_double_eq(x, -2500);
}
END_TEST

/* clang-format off */
static const struct {
	double value;
	const char *text;
} figures[] = {
	{ 0, "0" }, { 0.36, "0.36" }, { 7.357, "7.36" }, { 9.994, "9.99" }, { 9.996, "10.0" }, { 48.94, "48.9" }, { 99.96,
		"100" },
	{ 115.2, "115" }, { 1907.4, "1,907" }, { 1e9, "1,000,000,000" }, { -3.5, "-3.50" }, { -48.9, "-48.9" },
};
/* clang-format on */

START_TEST(single_figures_have_three_digits_and_no_exponent)
{
	char buf[40];

	ck_assert_str_eq(units_format_f4(figures[_i].value, buf, sizeof buf), figures[_i].text);
}
END_TEST

START_TEST(counts_are_full_up_to_seven_digits)
{
	char buf[40];

	ck_assert_str_eq(units_format_count(0, buf, sizeof buf), "0");
	ck_assert_str_eq(units_format_count(387900, buf, sizeof buf), "387,900");
	ck_assert_str_eq(units_format_count(9999999, buf, sizeof buf), "9,999,999");
	ck_assert_str_eq(units_format_count(10000000, buf, sizeof buf), "10.0M");
	ck_assert_str_eq(units_format_count(70553706496, buf, sizeof buf), "70.6B");
	ck_assert_str_eq(units_format_count(999600000, buf, sizeof buf), "1.00B");
	ck_assert_str_eq(units_format_count(1026408232448, buf, sizeof buf), "1.03T");
	ck_assert_str_eq(units_format_commas(-1234567, buf, sizeof buf), "-1,234,567");
	ck_assert_str_eq(units_format_commas(INT64_MIN, buf, sizeof buf), "-9,223,372,036,854,775,808");
	ck_assert_str_eq(units_format_gib(52506320077, buf, sizeof buf), "48.9 GiB");
}
END_TEST

START_TEST(exact_sizes_are_short_and_read_back)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} sizes[] = {
		{ 0, "0" },
		{ 80000000000, "80GB" },
		{ 84986665370, "79.15GiB" },
		{ 85899345920, "80GiB" },
		{ 512000000000, "512GB" },
		{ 2000000000000, "2TB" },
		{ 1024, "1024" },
		{ 1048576, "1MiB" },
		{ 84986665371, "84986665371" },
		{ INT64_MAX, "9223372036854775807" },
	};
	char buf[40];

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		int64_t back = -1;

		ck_assert_str_eq(units_format_bytes_exact(sizes[i].bytes, buf, sizeof buf), sizes[i].text);
		ck_assert_int_eq(units_parse_bytes(buf, "", &back, NULL), ERR_OK);
		ck_assert_int_eq(back, sizes[i].bytes);
	}
}
END_TEST

START_TEST(every_size_reads_back_to_itself)
{
	uint64_t state = 88172645463325252u;
	char buf[40];

	for (int i = 0; i < 20000; i++) {
		int64_t bytes, back = -1;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		bytes = (int64_t)((state >> 1) >> (state % 62));
		units_format_bytes_exact(bytes, buf, sizeof buf);
		ck_assert_int_eq(units_parse_bytes(buf, "", &back, NULL), ERR_OK);
		ck_assert_int_eq(back, bytes);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("units");
	TCase *t = tcase_create("units");

	tcase_add_loop_test(t, sizes_are_read_in_powers_of_1000_and_1024, 0, (int)(sizeof good_bytes / sizeof good_bytes[0]));
	tcase_add_loop_test(t, bad_sizes_name_the_knob_and_the_value, 0, (int)(sizeof bad_bytes / sizeof bad_bytes[0]));
	tcase_add_loop_test(t, counts_are_read_with_suffixes, 0, (int)(sizeof good_counts / sizeof good_counts[0]));
	tcase_add_loop_test(t, bad_counts_are_refused, 0, (int)(sizeof bad_counts / sizeof bad_counts[0]));
	tcase_add_test(t, a_broken_count_gets_its_nearest_whole_number);
	tcase_add_test(t, one_is_singular_and_a_range_of_one_is_a_number);
	tcase_add_test(t, reals_are_plain_decimals_with_a_point);
	tcase_add_loop_test(t, single_figures_have_three_digits_and_no_exponent, 0, (int)(sizeof figures / sizeof figures[0]));
	tcase_add_test(t, counts_are_full_up_to_seven_digits);
	tcase_add_test(t, exact_sizes_are_short_and_read_back);
	tcase_add_test(t, every_size_reads_back_to_itself);
	suite_add_tcase(s, t);
	return test_run(s);
}
