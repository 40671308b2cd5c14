/* One entry for libFuzzer and for replay.c, which runs the committed corpus inside `make check`. */
#ifndef MESHPLAN_FUZZ_H
#define MESHPLAN_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise, not a bad input. */
/* clang-format off */
#define FUZZ_CHECK(condition) \
	do {                  \
		if (!(condition)) \
			abort();  \
	} while (0)
/* clang-format on */

/* Splits data into at most `most` lines, copied into text[cap]; what does not fit is left out. Returns how many. */
static inline size_t fuzz_lines(const uint8_t *data, size_t size, char *text, size_t cap, char **lines, size_t most)
{
	size_t n = 0, len = size < cap - 1 ? size : cap - 1;

	if (len > 0)
		memcpy(text, data, len);
	text[len] = '\0';
	while (n < most && *text != '\0') {
		size_t line = strcspn(text, "\n");

		lines[n++] = text;
		text += line;
		if (*text != '\0')
			*text++ = '\0';
	}
	return n;
}

#endif
