#include "units.h"

#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most decimals that fit a checked int64_t: 10^18. */
enum { FRACTION_DIGITS = 18 };

/* An unsigned decimal number: whole + fraction / scale, scale = 10^digits, without trailing zeros. */
struct decimal {
	int64_t whole, fraction, scale;
};

struct suffix {
	const char *text; /* lower case */
	int64_t factor;
};

static const struct suffix byte_suffixes[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "kb", 1000 },
	{ "mb", 1000000 },
	{ "gb", 1000000000 },
	{ "tb", 1000000000000 },
	{ "pb", 1000000000000000 },
	{ "kib", INT64_C(1) << 10 },
	{ "mib", INT64_C(1) << 20 },
	{ "gib", INT64_C(1) << 30 },
	{ "tib", INT64_C(1) << 40 },
	{ "pib", INT64_C(1) << 50 },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* A separator is good only where it splits thousands: "1,5" must not become 15. */
static bool groups_thousands(const char *p)
{
	return (*p == ',' || *p == '_') && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]) && !is_digit(p[4]);
}

/* Digits with separators. Returns the end, or NULL when there is no digit or the value overflows (then *overflow). */
static const char *scan_whole(const char *p, int64_t *value, bool *overflow)
{
	int group = 0;

	*value = 0;
	if (!is_digit(*p))
		return NULL;
	while (is_digit(*p) || (group <= 3 && groups_thousands(p))) {
		if (!is_digit(*p)) {
			group = 0;
			p++;
			continue;
		}
		if (!num_mul(*value, 10, value) || !num_add(*value, *p - '0', value)) {
			*overflow = true;
			return NULL;
		}
		group++;
		p++;
	}
	return p;
}

/* The digits behind the point. Returns the end; NULL when more digits matter than fit. */
static const char *scan_fraction(const char *p, struct decimal *d)
{
	const char *last = p;

	d->fraction = 0;
	d->scale = 1;
	for (const char *q = p; is_digit(*q); q++)
		if (*q != '0')
			last = q + 1;
	if (last - p > FRACTION_DIGITS)
		return NULL;
	for (; p < last; p++) {
		d->fraction = d->fraction * 10 + (*p - '0');
		d->scale *= 10;
	}
	while (is_digit(*p))
		p++;
	return p;
}

/* Number at the start of text. Returns where its suffix starts, NULL when it is none. */
static const char *scan_decimal(const char *text, struct decimal *d, bool *overflow)
{
	const char *p = scan_whole(text, &d->whole, overflow);

	if (p == NULL)
		return NULL;
	d->fraction = 0;
	d->scale = 1;
	if (*p == '.') {
		if (!is_digit(p[1]))
			return NULL;
		p = scan_fraction(p + 1, d);
	}
	return p == NULL ? NULL : skip_blanks(p);
}

static bool suffix_is(const char *p, const char *suffix)
{
	while (*suffix != '\0' && lower(*p) == *suffix) {
		p++;
		suffix++;
	}
	return *suffix == '\0' && *skip_blanks(p) == '\0';
}

/* (whole + fraction / scale) * factor, to the nearest integer. */
static bool scale_rounded(const struct decimal *d, int64_t factor, int64_t *value)
{
	int64_t part = num_round((double)d->fraction / (double)d->scale * (double)factor), r;

	if (!num_mul(d->whole, factor, &r) || !num_add(r, part, &r))
		return false;
	*value = r;
	return true;
}

enum err_code units_parse_bytes(const char *text, const char *where, int64_t *bytes, struct err *e)
{
	struct decimal d;
	bool overflow = false;
	const char *start = skip_blanks(text);
	const char *p = scan_decimal(*start == '-' ? start + 1 : start, &d, &overflow);

	if (overflow)
		return err_set(e, ERR_RANGE, where, "'%s' is too large for a size; at most 8191PiB", text);
	for (size_t i = 0; p != NULL && i < sizeof byte_suffixes / sizeof byte_suffixes[0]; i++) {
		if (!suffix_is(p, byte_suffixes[i].text))
			continue;
		if (*start == '-')
			return err_set(e, ERR_RANGE, where, "'%s' is negative; a size is at least 0", text);
		if (!scale_rounded(&d, byte_suffixes[i].factor, bytes))
			return err_set(e, ERR_RANGE, where, "'%s' is too large for a size; at most 8191PiB", text);
		return ERR_OK;
	}
	return err_set(e, ERR_USAGE, where, "'%s' is not a size; write it like 80GB, 79.15GiB or a number of bytes", text);
}

/* 10^n of "e9"; 0 when it is none, or more than a count can hold. */
static int64_t power_factor(const char *p)
{
	int64_t factor = 1;
	size_t len = strspn(p + (*p != '\0'), "0123456789");
	long n;

	if ((*p != 'e' && *p != 'E') || len == 0 || len > 2 || *skip_blanks(p + 1 + len) != '\0')
		return 0;
	n = strtol(p + 1, NULL, 10);
	for (long k = 0; k < n && n <= 18; k++)
		factor *= 10;
	return n <= 18 ? factor : 0;
}

/* Value of the suffix at p for counts, 0 if it is none. */
static int64_t count_factor(const char *p, int64_t kilo)
{
	static const struct {
		const char *text;
		int power;
	} suffixes[] = { { "", 0 }, { "k", 1 }, { "m", 2 }, { "g", 3 }, { "b", 3 }, { "t", 4 } };

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		int64_t factor = 1;

		if (!suffix_is(p, suffixes[i].text))
			continue;
		for (int k = 0; k < suffixes[i].power; k++)
			factor *= kilo;
		return factor;
	}
	return power_factor(p);
}

/* The same as scale_rounded, but only when the result is whole. Sets *whole to whether it is. */
static bool scale_exact(const struct decimal *d, int64_t factor, int64_t *value, bool *whole)
{
	int64_t common = num_gcd(d->scale, factor), part = 0, r;

	*whole = d->fraction % (d->scale / common) == 0;
	if (!*whole)
		return true;
	part = d->fraction / (d->scale / common) * (factor / common);
	if (!num_mul(d->whole, factor, &r) || !num_add(r, part, &r))
		return false;
	*value = r;
	return true;
}

enum err_code units_parse_count(const char *text, const char *where, int64_t kilo, int64_t *count, struct err *e)
{
	struct decimal d;
	bool overflow = false, whole = false;
	const char *start = skip_blanks(text);
	bool negative = *start == '-';
	const char *p = scan_decimal(negative ? start + 1 : start, &d, &overflow);
	int64_t factor, value = 0;

	if (overflow)
		return err_set(e, ERR_RANGE, where, "'%s' is too large for a count; at most %" PRId64, text, INT64_MAX);
	if (p == NULL)
		return err_set(e, ERR_USAGE, where, "'%s' is not a count; write it like 8192, 8k, 1.5M or 70B", text);
	factor = count_factor(p, kilo);
	if (factor == 0)
		return err_set(e, ERR_USAGE, where, "'%s' has an unknown suffix; a count takes k, M, B (or G) or T", text);
	if (!scale_exact(&d, factor, &value, &whole))
		return err_set(e, ERR_RANGE, where, "'%s' is too large for a count; at most %" PRId64, text, INT64_MAX);
	if (!whole) {
		value = num_round(((double)d.whole + (double)d.fraction / (double)d.scale) * (double)factor);
		/* What is counted starts at 1 nearly everywhere. */
		*count = value == 0 ? 1 : negative ? -value : value;
		return err_set(e, ERR_USAGE, where, "'%s' is not a whole number; nearest: %" PRId64, text, *count);
	}
	*count = negative ? -value : value;
	return ERR_OK;
}

/* Whether text is a plain decimal number: strtod alone would also take "inf", "nan" and hexadecimals. */
static bool is_real(const char *p)
{
	size_t digits = 0;

	if (*p == '-' || *p == '+')
		p++;
	for (; is_digit(*p); p++)
		digits++;
	if (*p == '.')
		for (p++; is_digit(*p); p++)
			digits++;
	if (digits == 0)
		return false;
	if (*p == 'e' || *p == 'E') {
		p++;
		if (*p == '-' || *p == '+')
			p++;
		if (!is_digit(*p))
			return false;
		while (is_digit(*p))
			p++;
	}
	return *skip_blanks(p) == '\0';
}

enum err_code units_parse_real(const char *text, const char *where, double *value, struct err *e)
{
	const char *start = skip_blanks(text);
	double x;

	if (!is_real(start))
		return err_set(e, ERR_USAGE, where, "'%s' is not a number; write it like 0.1, with a point", text);
	x = strtod(start, NULL);
	if (!isfinite(x))
		return err_set(e, ERR_RANGE, where, "'%s' is too large for a number; at most 1.7e308", text);
	*value = x;
	return ERR_OK;
}

char *units_format_range(int64_t low, int64_t high, char *buf, size_t cap)
{
	if (high <= low)
		(void)snprintf(buf, cap, "%" PRId64, low);
	else
		(void)snprintf(buf, cap, "%" PRId64 " .. %" PRId64, low, high);
	return buf;
}

char *units_noun(double amount, const char *unit, char *buf, size_t cap)
{
	size_t len = strlen(unit), cut = 0;

	/* "GB/s" and "s" are no plurals. */
	if (amount >= 1 && amount <= 1 && len > 2 && unit[len - 1] == 's' && unit[len - 2] != '/')
		cut = len > 4 && strcmp(unit + len - 4, "ches") == 0 ? 2 : 1;
	(void)snprintf(buf, cap, "%.*s", (int)(len - cut), unit);
	return buf;
}

char *units_format_commas(int64_t count, char *buf, size_t cap)
{
	char plain[24], grouped[32];
	size_t len, out = 0;

	(void)snprintf(plain, sizeof plain, "%" PRId64, count);
	len = strlen(plain);
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && is_digit(plain[i - 1]) && (len - i) % 3 == 0)
			grouped[out++] = ',';
		grouped[out++] = plain[i];
	}
	grouped[out] = '\0';
	(void)snprintf(buf, cap, "%s", grouped);
	return buf;
}

char *units_format_f4(double value, char *buf, size_t cap)
{
	double size = fabs(value);

	if (!isfinite(value))
		(void)snprintf(buf, cap, "?");
	else if (size < 1e-300)
		(void)snprintf(buf, cap, "0");
	else if (size < 9.995)
		(void)snprintf(buf, cap, "%.2f", value);
	else if (size < 99.95)
		(void)snprintf(buf, cap, "%.1f", value);
	else
		(void)units_format_commas(num_round(value), buf, cap);
	return buf;
}

char *units_format_gib(int64_t bytes, char *buf, size_t cap)
{
	char number[32];

	(void)snprintf(buf, cap, "%s GiB", units_format_f4((double)bytes / UNITS_GIB, number, sizeof number));
	return buf;
}

char *units_format_bytes_exact(int64_t bytes, char *buf, size_t cap)
{
	/* Where two texts are equally short the earlier unit wins. */
	static const struct suffix units[] = {
		{ "GB", 1000000000 },
		{ "GiB", INT64_C(1) << 30 },
		{ "TB", 1000000000000 },
		{ "TiB", INT64_C(1) << 40 },
		{ "MB", 1000000 },
		{ "MiB", INT64_C(1) << 20 },
		{ "kB", 1000 },
		{ "KiB", 1024 },
	};
	char best[32], text[48];

	(void)snprintf(best, sizeof best, "%" PRId64, bytes);
	for (size_t i = 0; bytes > 0 && i < sizeof units / sizeof units[0]; i++) {
		for (int decimals = 0; decimals <= 3; decimals++) {
			int64_t back = -1;
			int n = snprintf(
				text, sizeof text, "%.*f%s", decimals, (double)bytes / (double)units[i].factor, units[i].text);

			if (n < 0 || (size_t)n >= strlen(best))
				continue;
			if (units_parse_bytes(text, "", &back, NULL) == ERR_OK && back == bytes)
				(void)snprintf(best, sizeof best, "%.31s", text);
		}
	}
	(void)snprintf(buf, cap, "%s", best);
	return buf;
}

char *units_format_count(int64_t count, char *buf, size_t cap)
{
	static const struct {
		double factor;
		const char *suffix;
	} units[] = { { 1e6, "M" }, { 1e9, "B" }, { 1e12, "T" } };
	const size_t n_units = sizeof units / sizeof units[0];
	double size = fabs((double)count);
	char number[32];
	size_t i = 0;

	if (size < 1e7)
		return units_format_commas(count, buf, cap);
	/* 999.5M and up reads 1.00B, not 1,000M. */
	while (i + 1 < n_units && size >= 999.5 * units[i].factor)
		i++;
	(void)snprintf(
		buf, cap, "%s%s", units_format_f4((double)count / units[i].factor, number, sizeof number), units[i].suffix);
	return buf;
}
