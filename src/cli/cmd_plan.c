/* meshplan plan: the complete training plan. */
#include "config.h"

#include "cli.h"

#include "draw.h"
#include "report.h"
#include "request.h"

#include <stdlib.h>

enum { PIPELINE_ROWS = 8, PIPELINE_COLS = 74 };

/* The picture is an addition: a pipeline too large to draw leaves it out. */
static void plan_text(struct cli *cli, const struct draft *d, const struct plan *p)
{
	struct schedule_times t = { .forward = 1, .backward = 2 };
	struct gantt *g = p->pipeline.p > 1 ? draw_pipeline(&p->pipeline, &t, PIPELINE_ROWS, PIPELINE_COLS, NULL) : NULL;

	report_plan_text(d, p, g, cli->ascii, cli->out);
	free(g);
}

int cmd_plan(struct cli *cli)
{
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };

	if (request_plan(cli, 0, true, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	if (args_option(&cli->args, OPTION_JSON) != NULL)
		report_plan_json(&d, cli->catalog, &p, PACKAGE_VERSION, cli->out);
	else if (args_option(&cli->args, OPTION_MARKDOWN) != NULL)
		report_plan_markdown(&d, &p, cli->out);
	else
		plan_text(cli, &d, &p);
	return request_exit_code(&p);
}
