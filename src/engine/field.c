#include "field.h"

#include <string.h>

double field_unit_scale(const char *unit)
{
	static const struct {
		const char *unit;
		double scale;
	} scales[] = { { "TFLOP/s", 1e12 }, { "TOP/s", 1e12 }, { "GB/s", 1e9 } };

	for (size_t i = 0; unit != NULL && i < sizeof scales / sizeof scales[0]; i++)
		if (strcmp(unit, scales[i].unit) == 0)
			return scales[i].scale;
	return 1;
}
