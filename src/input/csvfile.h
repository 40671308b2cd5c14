/* Comma-separated values, in place: quoted fields, doubled quotes, line breaks inside quotes, CR LF. */
#ifndef MESHPLAN_CSVFILE_H
#define MESHPLAN_CSVFILE_H

#include "err.h"

#include <stddef.h>
#include <stdint.h>

enum { CSVFILE_FIELDS = 128 };

struct csvfile {
	const char *name; /* for messages: file:line:column */
	char *at, *end;
	int64_t line, row_line; /* next to read; where the last record began */
	size_t n;
	char *field[CSVFILE_FIELDS]; /* of the last record, NUL-terminated */
};

/* Starts reading text[len], which must have a NUL behind it and is changed. */
void csvfile_start(struct csvfile *c, const char *name, char *text, size_t len);
/* Reads the next record that is neither empty nor a comment (#); c->n becomes 0 at the end. ERR_FILE names file:line:column when
 * a quote is not closed, text follows a closing quote, a byte is NUL, or there are more than CSVFILE_FIELDS fields. */
enum err_code csvfile_next(struct csvfile *c, struct err *e) NODISCARD;

#endif
