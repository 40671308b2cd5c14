/* The file of the terminal UI's own settings. */
#include "fuzz.h"
#include "ui_config.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ui_config c;
	struct err e;

	if (ui_config_parse("config.json", (const char *)data, size, &c, &e) != ERR_OK)
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
	else
		FUZZ_CHECK(c.glyphs >= -1 && c.glyphs <= 1 && strlen(c.theme) < sizeof c.theme);
	return 0;
}
