/* The words of a SCENARIO, one a line. The law: what was understood is a sentence that is understood in the same way. */
#include "fuzz.h"
#include "presets.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_CAP = 2048, FUZZ_WORDS_MAX = 40 };

/* Model and hardware, as a user would type them. Node types stand for their GPUs and cannot be told from those any more. */
static void check_again(const struct words *w, const struct catalog *c)
{
	char hardware[2 * WORDS_TEXT_CAP];
	const char *said[4];
	struct words back;
	size_t n = 0;

	if (w->node[0] != '\0' || w->per_node[0] != '\0' || w->gpus[0] == '\0')
		return;
	if (w->params[0] != '\0')
		said[n++] = w->params;
	if (w->model[0] != '\0')
		said[n++] = w->model;
	if (n != 1)
		return;
	(void)snprintf(hardware, sizeof hardware, "%s x %s", w->gpus, w->gpu);
	said[n++] = "on";
	said[n++] = hardware;
	if (words_read(said, n, c, &back, NULL) != ERR_OK)
		return; /* a model of several words may be a sentence of its own when it is one */
	FUZZ_CHECK(strcmp(back.gpus, w->gpus) == 0 && strcmp(back.gpu, w->gpu) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct preset_store *store; /* loaded once: the harness runs millions of inputs */
	char text[TEXT_CAP];
	char *lines[FUZZ_WORDS_MAX];
	struct words w;
	struct err e;
	size_t n;

	if (store == NULL)
		FUZZ_CHECK(preset_store_new(&store, NULL) == ERR_OK);
	n = fuzz_lines(data, size, text, sizeof text, lines, FUZZ_WORDS_MAX);
	if (words_read((const char *const *)lines, n, preset_store_catalog(store), &w, &e) != ERR_OK)
		FUZZ_CHECK(e.msg[0] != '\0');
	else
		check_again(&w, preset_store_catalog(store));
	return 0;
}
