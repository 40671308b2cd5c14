/* The keys of a preset file beside the values themselves: where they come from, prices, notes, the place in lists. */
#ifndef MESHPLAN_PRESET_KEYS_H
#define MESHPLAN_PRESET_KEYS_H

#include "err.h"
#include "field.h"
#include "hardware.h"
#include "json.h"

#include <stdint.h>

struct cJSON;

/* NULL-terminated lists of them, by kind of preset. */
extern const char *const preset_keys_model[], *const preset_keys_gpu[], *const preset_keys_node[], *const preset_keys_profile[];
/* The objects in "source" and "published". */
extern const struct field_table preset_source_fields, preset_published_fields;

/* Reads "prices" of a GPU, malloc'd, *n of them; gpu_id stays empty. After an error *prices is to be freed too. */
enum err_code preset_keys_prices(
	const struct cJSON *object, const struct json_place *p, struct gpu_price **prices, size_t *n, struct err *e) NODISCARD;
/* Checks all the others that are there. */
enum err_code preset_keys_check(const struct cJSON *object, const struct json_place *p, struct err *e) NODISCARD;
/* "order" of the file, or INT64_MAX when it has none. To be called after the check. */
int64_t preset_keys_order(const struct cJSON *object);

#endif
