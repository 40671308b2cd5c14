/* Preset files: the first byte selects the kind, the rest is the file. */
#include "fields.h"
#include "fuzz.h"
#include "hardware.h"
#include "json.h"
#include "model_file.h"
#include "preset_keys.h"
#include "profile.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* What was accepted must be countable, and come back from its own file unchanged. */
static void check_model(const struct model *m)
{
	static const char *const also[] = { "source", NULL };
	const struct json_place p = { .file = "back" };
	struct model back;
	char text[8192];
	struct sink out;
	cJSON *root = NULL;

	FUZZ_CHECK(model_params(m) > 0);
	(void)model_active_params(m);
	(void)model_mtp_params(m);
	sink_init(&out, text, sizeof text, NULL, NULL);
	model_file_write(m, "fuzz", "import", "today", &out);
	FUZZ_CHECK(sink_finish(&out));
	FUZZ_CHECK(json_parse("back", text, out.len, &root, NULL) == ERR_OK);
	FUZZ_CHECK(model_file_parse(root, &p, also, &back, NULL) == ERR_OK);
	cJSON_Delete(root);
	FUZZ_CHECK(model_params(&back) == model_params(m));
	FUZZ_CHECK(strcmp(back.id, m->id) == 0);
}

static void parse_kind(unsigned kind, const cJSON *root)
{
	const struct json_place p = { .file = "fuzz" };
	struct model m;
	struct gpu g = { .id = "" };
	struct gpu_price *prices = NULL;
	size_t n_prices;
	struct node n = { .id = "" };
	struct profile f = { .id = "" };
	struct err e;
	enum err_code code = ERR_OK;

	switch (kind % 4) {
	case 0:
		code = model_file_parse(root, &p, preset_keys_model, &m, &e);
		if (code == ERR_OK)
			check_model(&m);
		break;
	case 1:
		code = fields_read(root, &p, &gpu_fields, preset_keys_gpu, &g, &e);
		if (code == ERR_OK)
			code = preset_keys_prices(root, &p, &prices, &n_prices, &e);
		free(prices);
		break;
	case 2:
		code = fields_read(root, &p, &node_fields, preset_keys_node, &n, &e);
		break;
	default:
		code = fields_read(root, &p, &profile_fields, preset_keys_profile, &f, &e);
		break;
	}
	if (code == ERR_OK)
		code = preset_keys_check(root, &p, &e);
	FUZZ_CHECK(code == ERR_OK || e.msg[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *root = NULL;

	if (size < 1)
		return 0;
	if (json_parse("fuzz", (const char *)data + 1, size - 1, &root, NULL) != ERR_OK)
		return 0;
	parse_kind(data[0], root);
	cJSON_Delete(root);
	return 0;
}
