/* meshplan cost: tokens to days, GPU hours, dollars and energy. */
#include "config.h"

#include "cli.h"

#include "i18n.h"
#include "report.h"
#include "request.h"

/* Why there is no step time to price. */
static int cost_unknown(const struct draft *d)
{
	if (!d->s.profile.models_activations)
		return cli_fail_usage("framework",
			_("%s counts memory only; for time and cost take megatron, fsdp, deepspeed or ddp"), d->s.profile.id);
	return cli_fail_usage("gpu",
		_("%s has no efficiency curves, so its step time and cost are not known; see meshplan presets gpus"),
		d->s.cluster.gpu.id);
}

int cmd_cost(struct cli *cli)
{
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };

	if (request_plan(cli, 0, true, &d, &p, &e) != ERR_OK)
		return cli_fail(&e);
	if (!p.step.known)
		return cost_unknown(&d);
	if (args_option(&cli->args, OPTION_JSON) != NULL)
		report_plan_json(&d, cli->catalog, &p, PACKAGE_VERSION, cli->out);
	else if (args_option(&cli->args, OPTION_MARKDOWN) != NULL)
		report_cost_markdown(&d, cli->catalog, &p, cli->out);
	else
		report_cost_text(&d, cli->catalog, &p, cli->out);
	return EXIT_YES;
}
