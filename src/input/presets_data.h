/* The preset files, compiled in: presets_gen.sh makes presets_data.c from them. */
#ifndef MESHPLAN_PRESETS_DATA_H
#define MESHPLAN_PRESETS_DATA_H

#include <stddef.h>

struct presets_data_file {
	const char *path;    /* "models/llama3-70b.json" */
	size_t offset, size; /* in presets_data_bytes */
};

extern const unsigned char presets_data_bytes[];
extern const struct presets_data_file presets_data_files[];
extern const size_t presets_data_n;

#endif
