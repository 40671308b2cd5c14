/* Import of Hugging Face configurations. */
#include "fuzz.h"
#include "hf_config.h"
#include "model_file.h"

#include <cjson/cJSON.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_place p = { .file = "config.json" };
	char note[MODEL_FILE_NOTE_CAP];
	struct model m;
	struct err e;
	cJSON *root = NULL;

	if (json_parse("config.json", (const char *)data, size, &root, NULL) != ERR_OK)
		return 0;
	if (hf_config_parse(root, &p, &m, note, sizeof note, &e) == ERR_OK) {
		FUZZ_CHECK(model_params(&m) > 0);
		FUZZ_CHECK(model_active_params(&m) <= model_params(&m));
		(void)model_mtp_params(&m);
	} else {
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
	}
	cJSON_Delete(root);
	return 0;
}
