/* Knob values: the first byte selects the knob, the rest is the text. The law: what is formatted parses to the same. */
#include "fuzz.h"
#include "knobs.h"
#include "presets.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct preset_store *store; /* loaded once: the harness runs millions of inputs */
	const struct catalog *c;
	const struct knob *k;
	struct draft d;
	struct scenario again;
	char text[1024], out[2048], back[2048];
	struct err e;

	if (size < 1 || size >= sizeof text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (store == NULL)
		FUZZ_CHECK(preset_store_new(&store, NULL) == ERR_OK);
	c = preset_store_catalog(store);
	FUZZ_CHECK(draft_init(&d, c, NULL) == ERR_OK);
	k = knob_at(data[0] % knob_count());
	if (knob_parse(k, c, text, &d.s, &e) != ERR_OK) {
		FUZZ_CHECK(e.msg[0] != '\0');
		return 0;
	}
	(void)knob_format(k, &d.s, out, sizeof out);
	again = d.s;
	FUZZ_CHECK(knob_parse(k, c, out, &again, &e) == ERR_OK);
	(void)knob_format(k, &again, back, sizeof back);
	FUZZ_CHECK(strcmp(out, back) == 0);
	return 0;
}
