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

/* Length of the valid UTF-8 sequence at p (1 to 4), reading at most `most` bytes and none behind a NUL; 0: none. Rejects overlong
 * forms, surrogates and > U+10FFFF. */
size_t text_utf8_length(const unsigned char *p, size_t most);
/* `one` for 1, else `many`: "micro-batch", "micro-batches". For English texts of the engine; cli and ui have ngettext. */
const char *text_plural(int64_t n, const char *one, const char *many);

#endif
