/* A model in a file: our own preset format (the keys of model_fields), or a Hugging Face config.json. */
#ifndef MESHPLAN_MODEL_FILE_H
#define MESHPLAN_MODEL_FILE_H

#include "err.h"
#include "field.h"
#include "json.h"
#include "model.h"
#include "sink.h"

struct cJSON;

/* Keys of a model preset. */
extern const struct field_table model_fields;

/* Fills *m from a preset object; absent keys get their defaults (kv-heads = heads, head-dim = hidden / heads, ...). Checked with
 * model_check. `also`: keys beside the table that the caller reads. */
enum err_code model_file_parse(const struct cJSON *object, const struct json_place *p, const char *const *also, struct model *m,
	struct err *e) NODISCARD;
/* Reads FILE in either format. *note (cap NOTE_CAP) says what was read: "preset file", "Hugging Face llama". */
enum { MODEL_FILE_NOTE_CAP = 120 };
enum err_code model_file_read(const char *path, struct model *m, char note[MODEL_FILE_NOTE_CAP], struct err *e) NODISCARD;
/* Writes the preset file of *m: only what differs from the defaults. `where`, `kind` and `date` become its source entry. */
void model_file_write(const struct model *m, const char *where, const char *kind, const char *date, struct sink *out);

#endif
