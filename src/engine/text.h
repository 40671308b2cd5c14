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
/* Whether p begins with a control character (C0, DEL, or C1 in UTF-8), tabs and line breaks included: a terminal obeys those. */
bool text_is_control(const unsigned char *p);
/* Makes a text fit to be shown in one line, in place: '?' for every byte of a control character or of broken UTF-8. */
void text_make_printable(char *text);
/* Appends a word to a list in a buffer, behind `separator` unless the list is empty; what has no room is cut. */
void text_join(char *list, size_t cap, const char *separator, const char *word);
/* `one` for 1, else `many`: "micro-batch", "micro-batches". For English texts of the engine; cli and ui have ngettext. */
const char *text_plural(int64_t n, const char *one, const char *many);

#endif
