/* ASCII text, independent of locale. */
#ifndef MESHPLAN_TEXT_H
#define MESHPLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Lower case of A..Z; everything else unchanged. */
char text_lower(char c);
/* Equal apart from case. */
bool text_same(const char *a, const char *b);

#endif
