/* Quantities as text: "80GB", "74.5GiB", "70B", "8k". 1 kB = 1000, 1 KiB = 1024; a bare k after a count of tokens is 1024
 * where the caller says so. All text is independent of locale. */
#ifndef MESHPLAN_UNITS_H
#define MESHPLAN_UNITS_H

#include "err.h"

#include <stddef.h>
#include <stdint.h>

#define UNITS_GIB 1073741824.0
#define UNITS_GB 1e9

/* Less than this is no memory of a machine, but a number that lacks its unit: 80 for 80GB. */
#define UNITS_LEAST_MEMORY_BYTES 1000000

/* Reads bytes: a number with B, kB, MB, GB, TB, PB (powers of 1000) or KiB ... PiB (powers of 1024), or none (bytes).
 * Case of the prefix does not matter. ERR_USAGE when it does not parse, ERR_RANGE when negative or too large. */
enum err_code units_parse_bytes(const char *text, const char *where, int64_t *bytes, struct err *e) NODISCARD;
/* Reads a whole count: digits with optional point, commas or underscores, and a suffix k, M, G or B, T. `kilo` is the value of k
 * (1000 or 1024; M and above are always powers of 1000 unless kilo is 1024, then powers of 1024). Must come out integral; else
 * ERR_USAGE, and *count is the nearest that is not 0. */
enum err_code units_parse_count(const char *text, const char *where, int64_t kilo, int64_t *count, struct err *e) NODISCARD;
/* Reads a finite decimal number, point as separator. */
enum err_code units_parse_real(const char *text, const char *where, double *value, struct err *e) NODISCARD;

/* The writers below return buf, always terminated. */
/* Three significant digits, never an exponent: "48.9", "7.36", "0.36", "115", "1,907". */
char *units_format_f4(double value, char *buf, size_t cap);
/* GiB with three significant digits and the unit: "48.9 GiB", "1,173 GiB". */
char *units_format_gib(int64_t bytes, char *buf, size_t cap);
/* Shortest exact text that units_parse_bytes reads back: "80GB", "79.15GiB" only if exact, else plain bytes. */
char *units_format_bytes_exact(int64_t bytes, char *buf, size_t cap);
/* Count: in full with commas up to 7 digits, then three digits with k, M, B, T: "387,900", "70.6B". */
char *units_format_count(int64_t count, char *buf, size_t cap);
/* "1 .. 8", or "1" where both ends are the same. */
char *units_format_range(int64_t low, int64_t high, char *buf, size_t cap);
/* The unit of an amount: its singular for exactly 1 ("micro-batches": "micro-batch"; "GB/s" stays). */
char *units_noun(double amount, const char *unit, char *buf, size_t cap);
/* Count in full with commas. */
char *units_format_commas(int64_t count, char *buf, size_t cap);

#endif
