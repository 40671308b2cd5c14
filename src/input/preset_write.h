/* Presets of the user's own: XDG_CONFIG_HOME/meshplan/presets, else HOME/.config/meshplan/presets. */
#ifndef MESHPLAN_PRESET_WRITE_H
#define MESHPLAN_PRESET_WRITE_H

#include "err.h"
#include "field.h"
#include "presets.h"

#include <stddef.h>

/* Writes *value, described by its field table, as DIR/KIND/ID.json, atomically; makes the directories. The id is the first
 * member. path gets the name of the file. ERR_FILE when it cannot be written or no store would read it back, ERR_USAGE without a
 * home. */
enum err_code preset_write(enum preset_kind kind, const struct field_table *t, const void *value, const char *xdg_config_home,
	const char *home, char path[PRESET_PATH_CAP], struct err *e) NODISCARD;

#endif
