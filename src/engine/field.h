/* Field tables: one row per member of a preset struct says its JSON key, type, range, unit and meaning. The reader, the
 * presets man page and `presets show` iterate the same rows, so a member is described in one place. */
#ifndef MESHPLAN_FIELD_H
#define MESHPLAN_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
	FIELD_TEXT,  /* char[size] */
	FIELD_INT,   /* int64_t */
	FIELD_BYTES, /* int64_t; JSON text with a unit ("79.15GiB") or a number of bytes */
	FIELD_REAL,  /* double */
	FIELD_FLAG,  /* int32_t, 0 or 1 */
	FIELD_NAME,  /* int32_t, index into names[] */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset, size; /* inside the struct that the table describes */
	bool required;
	double min, max;          /* numbers: inclusive range */
	const char *const *names; /* FIELD_NAME: NULL-terminated */
	const char *unit, *help;  /* FIELD_REAL: the file holds the value in `unit`, the member in the base unit */
};

/* Base units in one `unit`: "TFLOP/s" 1e12, "TOP/s" 1e12, "GB/s" 1e9; 1 for any other text or NULL. */
double field_unit_scale(const char *unit);

struct field_table {
	const char *what; /* "gpu", for messages */
	size_t struct_size;
	const struct field *rows;
	size_t n;
};

/* Typed rows: the type of the member is checked at compile time. */
#define FIELD_SAME(s, m, T) (0 * sizeof(char[_Generic(((struct s *)0)->m, T : 1)]))
#define FIELD_AT(s, m, T) offsetof(struct s, m) + FIELD_SAME(s, m, T), sizeof(((struct s *)0)->m)
#define FIELD_AT_TEXT(s, m) offsetof(struct s, m), sizeof(((struct s *)0)->m)

#endif
