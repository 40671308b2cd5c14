/* Scenario files, on to the plan of what was accepted. */
#include "fuzz.h"
#include "plan.h"
#include "presets.h"
#include "rules.h"
#include "scenario_file.h"

#include <string.h>

/* What was accepted is written, and read back, unchanged. */
static void check_round_trip(const struct draft *d, const struct catalog *c)
{
	static char text[65536];
	struct draft back;
	struct sink out;

	sink_init(&out, text, sizeof text, NULL, NULL);
	scenario_file_print(d, "fuzz", &out);
	FUZZ_CHECK(sink_finish(&out));
	back = *d;
	if (scenario_file_parse("back", text, out.len, c, &back, NULL) != ERR_OK)
		return; /* a scenario that is not legal as a whole may have a model that does not count */
	for (size_t i = 0; i < knob_count(); i++) {
		char x[2048], y[2048];

		(void)knob_format(knob_at(i), &d->s, x, sizeof x);
		(void)knob_format(knob_at(i), &back.s, y, sizeof y);
		FUZZ_CHECK(strcmp(x, y) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct preset_store *store; /* loaded once: the harness runs millions of inputs */
	const struct catalog *c;
	struct draft d;
	struct plan p;
	struct err e;

	if (store == NULL)
		FUZZ_CHECK(preset_store_new(&store, NULL) == ERR_OK);
	c = preset_store_catalog(store);
	FUZZ_CHECK(draft_init(&d, c, NULL) == ERR_OK);
	if (scenario_file_parse("fuzz", (const char *)data, size, c, &d, &e) != ERR_OK) {
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
		return 0;
	}
	if (scenario_check(&d.s, &e) == ERR_OK) {
		FUZZ_CHECK(plan_evaluate(&d.s, &p, &e) == ERR_OK);
		check_round_trip(&d, c);
	}
	return 0;
}
