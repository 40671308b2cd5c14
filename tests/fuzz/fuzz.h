/* One entry for libFuzzer and for replay.c, which runs the committed corpus inside `make check`. */
#ifndef MESHPLAN_FUZZ_H
#define MESHPLAN_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise, not a bad input. */
/* clang-format off */
#define FUZZ_CHECK(condition) \
	do {                  \
		if (!(condition)) \
			abort();  \
	} while (0)
/* clang-format on */

#endif
