/* Orders as text. The law: what is read and written again reads back to the same text, and runs or is stuck. */
#include "fuzz.h"
#include "schedule.h"
#include "sink.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_CAP = 1 << 16 };

static enum err_code read_text(const char *text, size_t len, struct order *o, void **workspace, struct err *e)
{
	struct order_text t = { .name = "orders", .text = text, .len = len };

	*workspace = malloc((size_t)order_parse_bytes(&t));
	FUZZ_CHECK(*workspace != NULL);
	return order_parse(&t, *workspace, o, e);
}

static size_t write_text(const struct order *o, char *buf)
{
	struct sink s;

	sink_init(&s, buf, TEXT_CAP, NULL, NULL);
	order_format(o, &s);
	FUZZ_CHECK(!s.failed);
	return s.len;
}

static void run(const struct order *o)
{
	struct schedule_times t = { .forward = 1, .backward = 2, .comm = 1 };
	struct schedule_result x;
	struct err e;
	void *workspace = malloc((size_t)order_run_bytes(o));
	enum err_code code;

	FUZZ_CHECK(workspace != NULL);
	code = order_run(o, &t, workspace, NULL, NULL, NULL, &x, &e);
	FUZZ_CHECK(code == ERR_OK || strncmp(e.msg, "deadlock: rank ", 15) == 0);
	free(workspace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char once[TEXT_CAP], twice[TEXT_CAP];
	struct order o;
	struct err e;
	void *workspace;
	size_t len;

	if (size > TEXT_CAP / 16)
		return 0;
	if (read_text((const char *)data, size, &o, &workspace, &e) != ERR_OK) {
		FUZZ_CHECK(e.msg[0] != '\0');
		free(workspace);
		return 0;
	}
	run(&o);
	len = write_text(&o, once);
	free(workspace);
	FUZZ_CHECK(read_text(once, len, &o, &workspace, &e) == ERR_OK);
	FUZZ_CHECK(write_text(&o, twice) == len && memcmp(once, twice, len) == 0);
	free(workspace);
	return 0;
}
