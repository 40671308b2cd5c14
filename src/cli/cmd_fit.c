/* meshplan fit: the verdict in one screen, and after a no what would help. */
#include "config.h"

#include "cli.h"

#include "report.h"
#include "request.h"
#include "ways.h"

#include <stdlib.h>

enum { FEWEST_MAX_GPUS = 65536 };

/* What would help, each through the same evaluation as the verdict itself. */
struct help {
	struct way_out ways[WAY_MAX];
	struct draft fewest;
	struct plan fewest_plan;
};

static void fit_no(struct cli *cli, const struct draft *d, const struct plan *p)
{
	struct help *h = cli_alloc(sizeof *h);
	struct fit_extra x = { .ways = h->ways, .fewest = &h->fewest, .fewest_plan = &h->fewest_plan };

	x.n_ways = ways_all(d, cli->catalog, h->ways, WAY_MAX);
	x.fewest_gpus = ways_fewest_gpus(d, cli->catalog, FEWEST_MAX_GPUS, &h->fewest, &h->fewest_plan);
	report_fit(d, p, &x, cli->ascii, cli->out);
	free(h);
}

int cmd_fit(struct cli *cli)
{
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };

	if (request_plan(cli, 0, false, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	if (args_option(&cli->args, OPTION_JSON) != NULL)
		report_plan_json(&d, cli->catalog, &p, PACKAGE_VERSION, cli->out);
	else if (p.verdict.known && !p.verdict.fits)
		fit_no(cli, &d, &p);
	else
		report_fit(&d, &p, NULL, cli->ascii, cli->out);
	return request_exit_code(&p);
}
