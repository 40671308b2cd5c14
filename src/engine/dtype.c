#include "dtype.h"

/* clang-format off */
const struct dtype_info dtype_table[DTYPE_COUNT] = {
	[DTYPE_AUTO] = { "auto", "as the framework profile keeps it",            0 },
	[DTYPE_NONE] = { "none", "no copy of its own",                           0 },
	[DTYPE_FP32] = { "fp32", "IEEE single precision",                        4 },
	[DTYPE_BF16] = { "bf16", "8-bit exponent of fp32, 7-bit mantissa",       2 },
	[DTYPE_FP16] = { "fp16", "IEEE half precision, needs loss scaling",      2 },
	[DTYPE_FP8]  = { "fp8",  "8-bit formats e4m3 and e5m2 with scales",      1 },
};
/* clang-format on */
