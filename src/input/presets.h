/* All presets: those that are compiled in, then what user directories add or override. Owns the catalog that the engine sees. */
#ifndef MESHPLAN_PRESETS_H
#define MESHPLAN_PRESETS_H

#include "catalog.h"
#include "err.h"
#include "field.h"

#include <stdbool.h>
#include <stddef.h>

enum preset_kind {
	PRESET_KIND_MODEL,
	PRESET_KIND_GPU,
	PRESET_KIND_NODE,
	PRESET_KIND_PROFILE,
	PRESET_KIND_FAMILY,
	PRESET_KIND_COEFFICIENTS,
	PRESET_KIND_COUNT
};
/* Names of the directories: "models", "gpus", "nodes", "frameworks", "families", "coefficients". */
extern const char *const preset_kind_names[PRESET_KIND_COUNT + 1];
/* The kind whose name a path begins with: "gpus", "gpus/h100-sxm-80gb"; false if there is none. */
bool preset_kind_of(const char *path, enum preset_kind *kind);
/* Their members: the struct that each table describes is the value of a preset. */
extern const struct field_table *const preset_kind_fields[PRESET_KIND_COUNT];

enum { PRESET_PATH_CAP = 1024 };

struct preset_store;

/* Loads the compiled-in presets. *out is freed with preset_store_free. ERR_INTERNAL: out of memory, or a built-in file is bad. */
enum err_code preset_store_new(struct preset_store **out, struct err *e) NODISCARD;
void preset_store_free(struct preset_store *store);

/* Whether a store would take this text as a preset of that kind; `name` stands in the error. */
enum err_code preset_text_check(enum preset_kind kind, const char *name, const char *text, size_t len, struct err *e) NODISCARD;

/* Adds DIR/{models,gpus,nodes,frameworks}/ *.json; a file with a known id replaces that preset. ERR_FILE, naming the file, when
 * one is bad or DIR cannot be read; the store then keeps what it had read before. */
enum err_code preset_store_add_dir(struct preset_store *store, const char *dir, struct err *e) NODISCARD;
/* Adds the user's own directory, if there is one: XDG_CONFIG_HOME/meshplan/presets, or HOME/.config/... (either may be NULL). */
enum err_code preset_store_add_user(
	struct preset_store *store, const char *xdg_config_home, const char *home, struct err *e) NODISCARD;

/* The arrays move when something is added: pointers into them are good until then. */
const struct catalog *preset_store_catalog(const struct preset_store *store);
size_t preset_store_count(const struct preset_store *store, enum preset_kind kind);
/* Id of the i-th preset, in the order of the catalog. */
const char *preset_store_id(const struct preset_store *store, enum preset_kind kind, size_t i);
/* Its value, a struct model, gpu, node ... */
const void *preset_store_value(const struct preset_store *store, enum preset_kind kind, size_t i);
/* Its file as it stands, with sources, prices and notes; *len bytes, not NUL-terminated. *from: "built in" or the path. NULL if
 * unknown. */
const char *preset_store_text(
	const struct preset_store *store, enum preset_kind kind, const char *id, size_t *len, const char **from);

#endif
