/* Hugging Face config.json -> struct model. Recognised by model_type (or architectures); each row of a table says which keys mean
 * what and what an absent key means, as in transformers' configuration classes. A key that is not known, and that might change a
 * parameter count, is an error: nothing is guessed. */
#ifndef MESHPLAN_HF_CONFIG_H
#define MESHPLAN_HF_CONFIG_H

#include "err.h"
#include "json.h"
#include "model.h"

#include <stddef.h>

struct cJSON;

/* Fills *m (id and label: the model type) from a parsed config.json. Of a multimodal configuration the text model is read. `note`
 * says what was read. ERR_UNKNOWN: architecture not known; ERR_FILE: a key is missing, unknown or has a value that cannot be
 * expressed. */
enum err_code hf_config_parse(const struct cJSON *root, const struct json_place *p, struct model *m, char *note, size_t note_cap,
	struct err *e) NODISCARD;

/* The model types that are known, in table order; NULL past the last. */
const char *hf_config_type(size_t i);

#endif
