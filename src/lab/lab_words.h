/* Sentences of the labs with numbers in them. A translator gets the whole sentence, with gaps that may change places. */
#ifndef MESHPLAN_LAB_WORDS_H
#define MESHPLAN_LAB_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Where translations come from, such as gettext and ngettext. */
struct lab_words {
	const char *(*text)(const char *text); /* never called with "" */
	const char *(*count)(const char *one, const char *many, unsigned long n);
};

/* What goes into a gap: a text, translated first or taken as it is, or a whole number, written with commas. */
struct lab_arg {
	const char *text, *name;
	int64_t number;
};
#define LAB_TEXT(t) ((struct lab_arg){ .text = (t) })
#define LAB_NAME(t) ((struct lab_arg){ .name = (t) })
#define LAB_NUMBER(n) ((struct lab_arg){ .number = (n) })
#define LAB_ARGS(...) ((const struct lab_arg[]){ __VA_ARGS__ })

/* A text in the reader's language. w NULL: as it is. */
const char *lab_word(const struct lab_words *w, const char *text);
/* Writes `one` to buf, cut at cap, with %1 .. %9 replaced by the arguments: it must not name more than there are. many: NULL, or
 * the same sentence for other counts than one; the count is then the first argument. Both N_(). Returns buf. */
char *lab_say(const struct lab_words *w, char *buf, size_t cap, const char *one, const char *many, const struct lab_arg *args);

#endif
