/* Scenario files: { "meshplan": version, "schema": 1, "scenario": { knob: value, ... } }. A plan document, which has the same
 * members and more, is read too. Values are applied in the order of the knob table, not of the file. */
#ifndef MESHPLAN_SCENARIO_FILE_H
#define MESHPLAN_SCENARIO_FILE_H

#include "catalog.h"
#include "err.h"
#include "knobs.h"
#include "sink.h"

#include <stddef.h>

/* Applies a scenario to *d, each value with ORIGIN_FILE. A model that the catalog lacks ("custom") is rebuilt from the keys of
 * its shape, which must then all be there. On error *d is unchanged and the error names file:pointer. Harmony of the whole is
 * scenario_check's business. */
enum err_code scenario_file_parse(
	const char *name, const char *text, size_t len, const struct catalog *c, struct draft *d, struct err *e) NODISCARD;
enum err_code scenario_file_read(const char *path, const struct catalog *c, struct draft *d, struct err *e) NODISCARD;

/* Every knob with its resolved value. */
void scenario_file_print(const struct draft *d, const char *version, struct sink *out);
/* The same into a file, atomically. */
enum err_code scenario_file_write(const char *path, const struct draft *d, const char *version, struct err *e) NODISCARD;

#endif
