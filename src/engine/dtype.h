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

extern const struct dtype_info dtype_table[DTYPE_COUNT];

#endif
