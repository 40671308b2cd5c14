/* ASCII text, independent of locale. */
#ifndef MESHPLAN_TEXT_H
#define MESHPLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lower case of A..Z; everything else unchanged. */
char text_lower(char c);
/* Equal apart from case. */
bool text_same(const char *a, const char *b);

/* `one` for 1, else `many`: "micro-batch", "micro-batches". For English texts of the engine; cli and ui have ngettext. */
const char *text_plural(int64_t n, const char *one, const char *many);

#endif
