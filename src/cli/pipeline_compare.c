/* meshplan pipeline --compare: every schedule on the same ranks, micro-batches and model. */
#include "config.h"

#include "pipeline.h"

#include "draw.h"
#include "i18n.h"
#include "num.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static double in_units(const struct pipeline_times *t, const struct schedule_comparison *c, int64_t ticks)
{
	return (double)ticks / ((double)t->scale * (double)c->scale);
}

static void print_row(const struct pipeline_times *t, const struct schedule_comparison *c, struct sink *out)
{
	const char *key = schedule_table[c->schedule].key;

	if (c->why.code != ERR_OK) {
		sink_printf(out, "%-18s %s\n", key, _("not with this shape, see below"));
		return;
	}
	sink_printf(out, "%-18s%3" PRId64 "%11.7g%9.2f %%%9.2f %%%10.6g%8.5g%8.5g\n", key, c->pl.v,
		in_units(t, c, c->result.makespan), 100 * c->result.bubble_of_step, 100 * c->result.bubble_over_ideal,
		in_units(t, c, c->result.span_bubble), c->peak_micro_batches, (double)c->peak_at_input / (double)c->pl.v);
}

static void print_table(
	const struct pipeline *base, const struct pipeline_times *t, const struct schedule_comparison *all, struct sink *out)
{
	sink_printf(out,
		ngettext("every schedule on %" PRId64 " rank", "every schedule on %" PRId64 " ranks", (unsigned long)base->p),
		base->p);
	sink_printf(out, ngettext(" with %" PRId64 " micro-batch\n", " with %" PRId64 " micro-batches\n", (unsigned long)base->m),
		base->m);
	sink_puts(out, _("times of a rank's whole share: "));
	pipeline_times_text(t, out);
	sink_puts(out, _("; each of v chunks takes 1/v\n\n"));
	sink_printf(out, "%-18s%3s%11s%11s%11s%10s%8s%8s\n", _("schedule"), "v", _("makespan"), _("of step"), _("over ideal"),
		_("span"), _("peak W"), _("peak I"));
	for (int32_t s = 0; s < SCHEDULE_COUNT; s++)
		print_row(t, &all[s], out);
	sink_puts(out,
		_("\nbubble: of step is idle / (ranks x makespan), over ideal is idle / busy, span is\n"
		  "the most idle time between a rank's own first and last action.\n"
		  "peak: micro-batches of a rank's whole share in flight on the fullest rank, until\n"
		  "the end of B or W, and of B or I. dualpipe holds the parameters of two shares.\n"));
	for (int32_t s = 0; s < SCHEDULE_COUNT; s++)
		if (all[s].why.code != ERR_OK)
			sink_printf(out, "%s: %s\n", schedule_table[s].key, all[s].why.msg);
}

static void json_row(const struct pipeline_times *t, const struct schedule_comparison *c, struct sink *out)
{
	const struct {
		const char *key;
		double value;
	} pairs[] = {
		{ "makespan", in_units(t, c, c->result.makespan) },
		{ "bubble_of_step", c->result.bubble_of_step },
		{ "bubble_over_ideal", c->result.bubble_over_ideal },
		{ "bubble_span", in_units(t, c, c->result.span_bubble) },
		{ "peak_micro_batches", c->peak_micro_batches },
		{ "peak_micro_batches_at_input", (double)c->peak_at_input / (double)c->pl.v },
	};

	sink_printf(out, "    { \"schedule\": \"%s\", \"v\": %" PRId64, schedule_table[c->schedule].key, c->pl.v);
	if (c->why.code != ERR_OK) {
		sink_puts(out, ", \"illegal\": ");
		sink_json_string(out, c->why.msg);
	}
	for (size_t i = 0; c->why.code == ERR_OK && i < sizeof pairs / sizeof pairs[0]; i++) {
		sink_printf(out, ", \"%s\": ", pairs[i].key);
		sink_json_double(out, pairs[i].value);
	}
	sink_puts(out, " }");
}

static void print_json(
	const struct pipeline *base, const struct pipeline_times *t, const struct schedule_comparison *all, struct sink *out)
{
	sink_printf(out,
		"{\n  \"meshplan\": \"%s\",\n  \"schema\": %d,\n  \"p\": %" PRId64 ", \"m\": %" PRId64 ",\n  \"comparison\": [\n",
		PACKAGE_VERSION, MESHPLAN_SCHEMA, base->p, base->m);
	for (int32_t s = 0; s < SCHEDULE_COUNT; s++) {
		json_row(t, &all[s], out);
		sink_puts(out, s + 1 < SCHEDULE_COUNT ? ",\n" : "\n");
	}
	sink_puts(out, "  ],\n  \"diagnostics\": []\n}\n");
}

/* Runs one schedule; the shape is that of its own row, which may be larger than base. */
static enum err_code compare_one(int32_t schedule, const struct pipeline *base, const struct pipeline_times *t,
	struct schedule_comparison *out, struct err *e)
{
	int64_t bytes = schedule_compare_bytes(schedule, base);
	void *workspace;
	enum err_code code;

	if (bytes < 0 || bytes > DRAW_BYTES_MAX)
		return err_set(e, ERR_RANGE, "microbatches", _("%lld ranks with %lld micro-batches are too many to compare"),
			(long long)base->p, (long long)base->m);
	workspace = cli_alloc((size_t)bytes);
	code = schedule_compare(schedule, base, &t->ticks, workspace, out, e);
	free(workspace);
	return code;
}

int pipeline_compare(struct cli *cli, const struct pipeline *base, const struct pipeline_times *t)
{
	struct schedule_comparison *all = cli_alloc(SCHEDULE_COUNT * sizeof *all);
	struct err e = { .code = ERR_OK };
	enum err_code code = ERR_OK;

	if (base->m > DRAW_ACTIONS_MAX / 3 / num_max(2, base->v) / base->p)
		code = err_set(&e, ERR_RANGE, "microbatches", _("%lld ranks with %lld micro-batches are too many to compare"),
			(long long)base->p, (long long)base->m);
	for (int32_t s = 0; s < SCHEDULE_COUNT && code == ERR_OK; s++)
		code = compare_one(s, base, t, &all[s], &e);
	if (code == ERR_OK && args_option(&cli->args, OPTION_JSON) != NULL)
		print_json(base, t, all, cli->out);
	else if (code == ERR_OK)
		print_table(base, t, all, cli->out);
	free(all);
	return code == ERR_OK ? EXIT_YES : cli_fail(&e);
}
