/* Coefficients and GPU families: the first byte selects the kind, the rest is the file. What is accepted predicts a step that
 * takes a time. */
#include "fields.h"
#include "fuzz.h"
#include "hardware.h"
#include "json.h"
#include "knobs.h"
#include "plan.h"
#include "preset_keys.h"
#include "presets.h"

#include <cjson/cJSON.h>
#include <math.h>

/* The default scenario with it. */
static void check_step(struct scenario *s, int is_family)
{
	struct plan p;
	struct err e;

	if (plan_evaluate(s, &p, &e) != ERR_OK) {
		FUZZ_CHECK(is_family && e.msg[0] != '\0');
		return;
	}
	FUZZ_CHECK(!p.step.known || (isfinite(p.step.step_s) && p.step.step_s > 0));
	for (int i = 0; p.step.known && i < STEP_PART_COUNT; i++)
		FUZZ_CHECK(isfinite(p.step.part_s[i]) && p.step.part_s[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct preset_store *store; /* loaded once: the harness runs millions of inputs */
	static struct draft start;
	const struct json_place place = { .file = "fuzz" };
	struct scenario s;
	struct err e;
	cJSON *root = NULL;
	int is_family = size > 0 && data[0] % 2 == 1;
	enum err_code code;

	if (store == NULL) {
		FUZZ_CHECK(preset_store_new(&store, NULL) == ERR_OK);
		FUZZ_CHECK(draft_init(&start, preset_store_catalog(store), NULL) == ERR_OK);
	}
	if (size < 1 || json_parse("fuzz", (const char *)data + 1, size - 1, &root, &e) != ERR_OK)
		return 0;
	s = start.s;
	code = is_family ? fields_read(root, &place, &gpu_family_fields, preset_keys_profile, &s.cluster.family, &e)
			 : fields_read(root, &place, &coefficients_fields, preset_keys_profile, &s.coefficients, &e);
	cJSON_Delete(root);
	if (code == ERR_OK && is_family)
		code = gpu_family_check(&s.cluster.family, &e);
	if (code == ERR_OK)
		check_step(&s, is_family);
	else
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
	return 0;
}
