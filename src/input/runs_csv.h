/* Tables of published runs: a CSV whose columns are those of presets/measured/runs.csv (others are ignored), each row mapped to a
 * scenario. The names of the columns are in meshplan(1). A row that cannot be expressed keeps the reason; what was filled in for
 * blanks is listed with it. */
#ifndef MESHPLAN_RUNS_CSV_H
#define MESHPLAN_RUNS_CSV_H

#include "catalog.h"
#include "err.h"
#include "validate.h"

#include <stddef.h>

struct runs {
	size_t n;
	struct validate_case *cases;
};

/* The rows of text[len] (a copy is made); `name` stands for the file in messages. Every scenario gets the coefficients `set`.
 * Rows with the id of a shipped row take its calibration marks where the table has no column for them. ERR_FILE names
 * file:line:column when the table is not CSV, has no column id, or a row has more fields than the header. out is freed with
 * runs_free, also after an error. */
enum err_code runs_parse(const char *name, const char *text, size_t len, const struct catalog *c, const struct coefficients *set,
	struct runs *out, struct err *e) NODISCARD;
enum err_code runs_read(
	const char *path, const struct catalog *c, const struct coefficients *set, struct runs *out, struct err *e) NODISCARD;
/* The rows that are compiled in. */
enum err_code runs_shipped(const struct catalog *c, const struct coefficients *set, struct runs *out, struct err *e) NODISCARD;
void runs_free(struct runs *r);

#endif
