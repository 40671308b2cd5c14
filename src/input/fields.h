/* Reads and writes preset structs by their field tables (field.h). */
#ifndef MESHPLAN_FIELDS_H
#define MESHPLAN_FIELDS_H

#include "err.h"
#include "field.h"
#include "json.h"
#include "sink.h"

struct cJSON;

enum { FIELDS_MAX = 128 };

/* Fills *out (zeroed by the caller) from the members of `object`. Keys that are neither in the table nor in `also`
 * (NULL-terminated, read by somebody else) are errors, as are wrong types, values out of range and required keys that are absent.
 */
enum err_code fields_read(const struct cJSON *object, const struct json_place *p, const struct field_table *t,
	const char *const *also, void *out, struct err *e) NODISCARD;
/* Writes one member as a JSON value, in the unit of its row. */
void fields_write_value(const struct field *f, const void *in, struct sink *out);
/* Writes the members as "key": value, the first behind `first`, others behind `next`; what is zero and not required is left out.
 */
void fields_write(const struct field_table *t, const void *in, const char *first, const char *next, struct sink *out);
/* Sets one member from text: a number in the unit of its row, a size, a name, on or off. ERR_UNKNOWN, ERR_USAGE or ERR_RANGE
 * names the key, *out is then unchanged.
 */
enum err_code fields_set_text(const struct field_table *t, const char *key, const char *text, void *out, struct err *e) NODISCARD;
/* Whether the member is zero, empty or off: such members need not be written. */
bool fields_is_zero(const struct field *f, const void *in);

#endif
