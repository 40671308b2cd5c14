/* Shared by the tests: the compiled-in presets, scenarios from one line of knobs, tables of published numbers. */
#ifndef MESHPLAN_TESTS_SUPPORT_H
#define MESHPLAN_TESTS_SUPPORT_H

#include "catalog.h"
#include "knobs.h"
#include "plan.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The compiled-in presets, loaded once per process. */
const struct catalog *test_catalog(void);

/* A blank draft with "layers=32;hidden=4096;...;profile.KEY=VALUE" put in from left to right, as flags, then settled. The test
 * fails with the message of a knob that is refused. A name that begins with "profile." is a field of the framework profile. */
void test_draft(struct draft *d, const char *knobs);
/* The plan of such a line. The test fails with the message when there is none. */
struct plan test_plan(const char *knobs);
/* The draft, but a knob that is refused is returned instead. Not settled. */
enum err_code test_try_draft(struct draft *d, const char *knobs, struct err *e);

enum { CSV_FIELDS = 48, CSV_LINE = 8192 };

/* A table in tests/data: comment lines (#), a header, rows; a field with a comma is in double quotes. */
struct csv {
	FILE *file;
	char path[400];
	int line;
	size_t columns, fields;
	char names[1024], text[CSV_LINE];
	const char *name[CSV_FIELDS], *field[CSV_FIELDS];
};

/* Opens tests/data/NAME under $top_srcdir and reads the header; the test fails when it is missing. */
void csv_open(struct csv *c, const char *name);
/* Reads the next row; false at the end, where the file is closed. */
bool csv_next(struct csv *c);
/* The field of a column of this row; the test fails when there is no such column. */
const char *csv_text(const struct csv *c, const char *column);
double csv_real(const struct csv *c, const char *column);
int64_t csv_int(const struct csv *c, const char *column);

/* True when MESHPLAN_PRINT_TABLE is set: tests that compare many rows then print all of them. */
bool test_prints_table(void);

/* ck_assert_msg for inner loops: libcheck writes a note for every assertion that holds. */
#define CHECK_MSG(condition, ...)                                                                                                \
	do {                                                                                                                     \
		if (!(condition))                                                                                                \
			ck_abort_msg(__VA_ARGS__);                                                                               \
	} while (0)
#define CHECK(condition) CHECK_MSG(condition, "%s", #condition)

/* How often a test of random inputs is to draw: n times, or n times $MESHPLAN_TEST_ROUNDS. */
int64_t test_rounds(int64_t n);

/* Runs one suite: the main() of every test program. Returns the exit status. */
int test_run(Suite *suite);

#endif
