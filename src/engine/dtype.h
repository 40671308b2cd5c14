/* Number formats a tensor can be stored in. */
#ifndef MESHPLAN_DTYPE_H
#define MESHPLAN_DTYPE_H

#include <stdint.h>

/* Stored in scenarios as int32_t. DTYPE_AUTO means "what the framework profile says". */
enum dtype { DTYPE_AUTO, DTYPE_NONE, DTYPE_FP32, DTYPE_BF16, DTYPE_FP16, DTYPE_FP8, DTYPE_COUNT };

struct dtype_info {
	const char *key, *help;
	double bytes; /* per element; 0 for auto and none */
};

/* NF4 with double quantisation: 4 bits, an 8-bit scale per 64 weights, a 32-bit scale per 256 of those. Src: Dettmers 2023
 * (QLoRA), sec. 3. */
#define DTYPE_NF4_BYTES ((4.0 + 8.0 / 64 + 32.0 / (64.0 * 256.0)) / 8.0)

extern const struct dtype_info dtype_table[DTYPE_COUNT];

#endif
