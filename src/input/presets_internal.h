/* Shared between presets*.c only. */
#ifndef MESHPLAN_PRESETS_INTERNAL_H
#define MESHPLAN_PRESETS_INTERNAL_H

#include "presets.h"

/* Files one preset; takes over `path`, which was malloc'd, also on error. The catalog follows with preset_store_publish. */
enum err_code preset_store_add_file(struct preset_store *store, enum preset_kind kind, char *path, struct err *e) NODISCARD;
/* Sorts the presets and lays their values out as the arrays of the catalog. */
enum err_code preset_store_publish(struct preset_store *store, struct err *e) NODISCARD;
/* Every node must name a GPU that exists. */
enum err_code preset_store_check(const struct preset_store *store, struct err *e) NODISCARD;

#endif
