/* meshplan pipeline --compare: every schedule on the same ranks, micro-batches and model. */
#include "config.h"

#include "pipeline.h"

#include "draw.h"
#include "help.h"
#include "i18n.h"
#include "num.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLS = 17 };

struct comparison {
	struct pipeline base;
	const struct pipeline_times *times;
	struct schedule_comparison row[SCHEDULE_COUNT + 1];
	int rows;
};

static double in_units(const struct pipeline_times *t, const struct schedule_comparison *c, int64_t ticks)
{
	return (double)ticks / ((double)t->scale * (double)c->scale);
}

static const char *name_of(const struct schedule_comparison *c)
{
	return c->schedule == SCHEDULE_COUNT ? "imported" : schedule_table[c->schedule].key;
}

static void print_row(const struct pipeline_times *t, const struct schedule_comparison *c, struct sink *out)
{
	const char *key = name_of(c);

	if (c->why.code != ERR_OK) {
		sink_printf(out, "%-*s%s\n", (int)NAME_COLS, key, _("not with this shape, see below"));
		return;
	}
	sink_printf(out, "%-*s%3" PRId64 " %11.7g%7.2f %%%9.2f %%%11.5g%8.5g%8.5g\n", (int)NAME_COLS, key, c->pl.v,
		in_units(t, c, c->result.makespan), 100 * c->result.bubble_of_step, 100 * c->result.bubble_over_ideal,
		in_units(t, c, c->result.span_bubble), c->peak_micro_batches, (double)c->peak_at_input / (double)c->pl.v);
}

/* The reason without the key that it may begin with. */
static void print_reason(const struct schedule_comparison *c, struct sink *out)
{
	const char *key = name_of(c), *why = c->why.msg;
	size_t len = strlen(key);

	if (strncmp(why, key, len) == 0 && why[len] == ':')
		why += len + 1 + (why[len + 1] == ' ');
	sink_printf(out, "%-*s", (int)NAME_COLS - 1, key);
	help_wrapped(why, num_max(NAME_COLS - 1, (int64_t)len), NAME_COLS, out);
}

static void print_times(const struct pipeline_times *t, struct sink *out)
{
	char buf[400];
	struct sink text;

	sink_init(&text, buf, sizeof buf, NULL, NULL);
	if (t->stages > 0)
		sink_printf(&text, _("times of %" PRId64 " parts of the model: "), t->stages);
	else
		sink_puts(&text, _("times of a rank's whole share: "));
	pipeline_times_text(t, &text);
	sink_puts(&text,
		t->stages > 0 ? _("; a stage of several takes what they take together") : _("; each of v chunks takes 1/v"));
	help_wrapped(buf, 0, 0, out);
	sink_puts(out, "\n");
}

static void print_table(const struct comparison *c, struct sink *out)
{
	const struct pipeline *pl = &c->base;

	sink_printf(out,
		ngettext("every schedule on %" PRId64 " rank", "every schedule on %" PRId64 " ranks", (unsigned long)pl->p),
		pl->p);
	sink_printf(out, ngettext(" with %" PRId64 " micro-batch\n", " with %" PRId64 " micro-batches\n", (unsigned long)pl->m),
		pl->m);
	print_times(c->times, out);
	sink_printf(out, "%-*s%3s%12s%9s%11s%11s%8s%8s\n", (int)NAME_COLS, _("schedule"), "v", _("makespan"), _("of step"),
		_("over ideal"), _("span"), _("peak W"), _("peak I"));
	for (int i = 0; i < c->rows; i++)
		print_row(c->times, &c->row[i], out);
	sink_puts(out,
		_("\nbubble: of step is idle / (ranks x makespan), over ideal is idle / busy, span is\n"
		  "the most idle time between a rank's own first and last action.\n"
		  "peak: micro-batches of a rank's whole share in flight on the fullest rank, until\n"
		  "the end of B or W, and of B or I. dualpipe holds the parameters of two shares.\n"));
	for (int i = 0; i < c->rows; i++)
		if (c->row[i].why.code != ERR_OK)
			print_reason(&c->row[i], out);
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

	sink_printf(out, "    { \"schedule\": \"%s\", \"v\": %" PRId64, name_of(c), c->pl.v);
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

static void print_json(const struct comparison *c, struct sink *out)
{
	sink_printf(out,
		"{\n  \"meshplan\": \"%s\",\n  \"schema\": %d,\n  \"p\": %" PRId64 ", \"m\": %" PRId64 ",\n  \"comparison\": [\n",
		PACKAGE_VERSION, MESHPLAN_SCHEMA, c->base.p, c->base.m);
	for (int i = 0; i < c->rows; i++) {
		json_row(c->times, &c->row[i], out);
		sink_puts(out, i + 1 < c->rows ? ",\n" : "\n");
	}
	sink_puts(out, "  ],\n  \"diagnostics\": []\n}\n");
}

/* Before anything runs: nobody should wait for an answer that cannot come. */
static enum err_code check_size(const struct pipeline *base, struct err *e)
{
	bool good = base->m <= DRAW_ACTIONS_MAX / 3 / num_max(2, base->v) / base->p;

	for (int32_t s = 0; s < SCHEDULE_COUNT && good; s++) {
		int64_t bytes = schedule_compare_bytes(s, base);

		good = bytes >= 0 && bytes <= DRAW_BYTES_MAX;
	}
	return good ? ERR_OK
		    : err_set(e, ERR_RANGE, "microbatches", _("%lld ranks with %lld micro-batches are too many to compare"),
			      (long long)base->p, (long long)base->m);
}

/* Adds a row: of a schedule, whose shape is its own and may be larger than base; without an order of its own, else of that. */
static enum err_code add_row(struct comparison *c, int32_t schedule, const struct order *o, struct err *e)
{
	const struct compared_times times = { c->times->ticks, c->times->stages };
	struct schedule_comparison *row = &c->row[c->rows];
	void *workspace =
		draw_alloc(&c->base, o != NULL ? order_compare_bytes(o) : schedule_compare_bytes(schedule, &c->base), e);
	enum err_code code;

	if (workspace == NULL)
		return e->code;
	code = o != NULL ? order_compare(o, &c->base, &times, workspace, row, e)
			 : schedule_compare(schedule, &c->base, &times, workspace, row, e);
	free(workspace);
	c->rows++;
	return code;
}

enum err_code pipeline_compare(
	struct cli *cli, const struct pipeline *base, const struct order *imported, const struct pipeline_times *t, struct err *e)
{
	struct comparison *c = cli_alloc(sizeof *c);
	enum err_code code = check_size(base, e);

	*c = (struct comparison){ .base = *base, .times = t };
	if (code == ERR_OK && imported != NULL)
		code = add_row(c, SCHEDULE_COUNT, imported, e);
	for (int32_t s = 0; s < SCHEDULE_COUNT && code == ERR_OK; s++)
		code = add_row(c, s, NULL, e);
	if (code == ERR_OK && args_option(&cli->args, OPTION_JSON) != NULL)
		print_json(c, cli->out);
	else if (code == ERR_OK)
		print_table(c, cli->out);
	free(c);
	return code;
}
