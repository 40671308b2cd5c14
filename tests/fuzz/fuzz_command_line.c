/* Command lines: the first line is the subcommand, each other one an argument. What is accepted has a plan without a number that
 * is none, in JSON and in text. */
#include "args.h"
#include "fuzz.h"
#include "presets.h"
#include "report.h"
#include "request.h"

#include <string.h>

enum { TEXT_CAP = 4096, ARGV_MAX = 64, REPORT_CAP = 1 << 18 };

/* No figure is NaN or infinite: neither those words in a text nor a null in a document. */
static void check_figures(const struct cli *cli, const struct draft *d, const struct plan *p)
{
	static char buf[REPORT_CAP];
	struct sink out;

	sink_init(&out, buf, sizeof buf, NULL, NULL);
	report_plan_json(d, cli->catalog, p, "0", &out);
	FUZZ_CHECK(sink_finish(&out) && strstr(buf, ": null") == NULL);
	sink_init(&out, buf, sizeof buf, NULL, NULL);
	report_plan_text(d, p, NULL, true, &out);
	FUZZ_CHECK(
		sink_finish(&out) && strstr(buf, " nan") == NULL && strstr(buf, " inf") == NULL && strstr(buf, " -nan") == NULL);
	FUZZ_CHECK(p->worst.need_bytes >= 0 && p->params >= 0 && p->dp >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct preset_store *store; /* loaded once: the harness runs millions of inputs */
	static struct draft d;
	static struct plan p;
	char text[TEXT_CAP];
	char *lines[ARGV_MAX];
	struct cli cli = { .out = NULL };
	struct err e;
	size_t n = fuzz_lines(data, size, text, sizeof text, lines, ARGV_MAX);

	if (store == NULL)
		FUZZ_CHECK(preset_store_new(&store, NULL) == ERR_OK);
	cli.presets = store;
	cli.catalog = preset_store_catalog(store);
	cli.command = n > 0 ? command_find(lines[0]) : NULL;
	if (cli.command == NULL)
		return 0;
	if (args_scan(cli.command, (int)n - 1, lines + 1, &cli.args, &e) == ERR_OK &&
		(cli.command->bit & COMMAND_SCENARIO) != 0 && request_plan(&cli, 0, true, &d, &p, &e) == ERR_OK)
		check_figures(&cli, &d, &p);
	else
		FUZZ_CHECK((cli.command->bit & COMMAND_SCENARIO) == 0 || e.msg[0] != '\0');
	return 0;
}
