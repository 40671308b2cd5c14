/* Presets of the user's own: XDG_CONFIG_HOME/meshplan/presets, else HOME/.config/meshplan/presets. */
#ifndef MESHPLAN_PRESET_WRITE_H
#define MESHPLAN_PRESET_WRITE_H

#include "err.h"
#include "presets.h"

#include <stddef.h>

/* Writes *value, the struct of its kind, as DIR/KIND/ID.json, atomically; makes the directories. path gets the name of the file.
 * ERR_FILE when it cannot be written or no store would read it back, ERR_USAGE without a home. */
enum err_code preset_write(enum preset_kind kind, const void *value, const char *xdg_config_home, const char *home,
	char path[PRESET_PATH_CAP], struct err *e) NODISCARD;

#endif
