/* What a run costs, for people. */
#include "num.h"
#include "report_internal.h"
#include "text.h"
#include "units.h"

#include <stdio.h>

char *report_usd(double usd, char *buf, size_t cap)
{
	static const struct {
		double least;
		const char *suffix;
	} units[] = { { 1e9, "B" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" } };
	char number[32];
	size_t i = 0;

	while (usd < units[i].least && units[i].least > 1)
		i++;
	(void)snprintf(buf, cap, "$%s%s", units_format_f4(usd / units[i].least, number, sizeof number), units[i].suffix);
	return buf;
}

/* Whose price it is: "--price, as Nebius on-demand", "lesson, 2026-11-29". c: NULL, others are not looked up. */
static char *price_origin(const struct draft *d, const struct catalog *c, char *buf, size_t cap)
{
	const struct gpu *g = &d->s.cluster.gpu;
	size_t n = 0, i = 0;
	const struct gpu_price *prices = c != NULL ? catalog_prices(c, g->id, &n) : NULL;

	while (i < n && num_round(prices[i].usd_per_hour * KNOB_REAL_SCALE) != num_round(d->s.cost.price * KNOB_REAL_SCALE))
		i++;
	if (d->s.cost.price > 0)
		(void)snprintf(buf, cap, "--price%s%s%s%s", i < n ? ", as " : "", i < n ? prices[i].name : "", i < n ? ", " : "",
			i < n ? prices[i].date : "");
	else if (g->usd_provider[0] != '\0')
		(void)snprintf(buf, cap, "%s%s%s", g->usd_provider, g->usd_date[0] != '\0' ? ", " : "", g->usd_date);
	else
		(void)snprintf(buf, cap, "preset %s", g->id);
	return buf;
}

/* "1.36M at $3.50 per GPU hour (lesson, 2026-11-29)", or that there is no price. */
static char *describe_price(const struct draft *d, const struct cost *c, char *buf, size_t cap)
{
	char usd[32], origin[80];

	if (c->price_usd_per_hour <= 0)
		(void)snprintf(buf, cap, "no price known: give --price");
	else
		(void)snprintf(buf, cap, "%s at $%.2f per GPU hour (%s)", report_usd(c->usd, usd, sizeof usd),
			c->price_usd_per_hour, price_origin(d, NULL, origin, sizeof origin));
	return buf;
}

static char *describe_energy(double kwh, char *buf, size_t cap)
{
	char number[32];

	(void)snprintf(buf, cap, "%s %s",
		units_format_f4(kwh < 1000  ? kwh
				: kwh < 1e6 ? kwh / 1e3
					    : kwh / 1e6,
			number, sizeof number),
		kwh < 1000          ? "kWh"
			: kwh < 1e6 ? "MWh"
				    : "GWh");
	return buf;
}

void report_cost_line(const struct draft *d, const struct plan *p, struct sink *out)
{
	struct cost c;
	char tokens[32], time[32], hours[32], price[160], energy[40], interval[40] = "none", text[400];

	if (!p->step.known)
		return;
	c = cost_of(&d->s, &p->step);
	if (c.checkpoint_interval_s > 0)
		(void)report_seconds(c.checkpoint_interval_s, interval, sizeof interval);
	(void)snprintf(text, sizeof text, "%s %s: %s, %s GPU hours, %s, %s; goodput %.1f %%, checkpoint every %s",
		units_format_count(num_round(c.tokens), tokens, sizeof tokens),
		text_plural(num_round(c.tokens), "token", "tokens"), report_seconds(c.days * 86400, time, sizeof time),
		units_format_count(num_round(c.gpu_hours), hours, sizeof hours), describe_price(d, &c, price, sizeof price),
		describe_energy(c.kwh, energy, sizeof energy), 100 * c.goodput, interval);
	wrap_entry("COST", text, true, out);
}

/* One figure of the cost: what, how much, what it rests on. */
struct cost_row {
	const char *label;
	char value[48], note[400];
};

enum { COST_ROWS_MAX = 16, NOTE_COL = 24 };

static struct cost_row *add_row(struct cost_row rows[COST_ROWS_MAX], size_t *n, const char *label)
{
	struct cost_row *r = &rows[(*n)++];

	*r = (struct cost_row){ .label = label };
	return r;
}

static void add_run(const struct draft *d, const struct plan *p, const struct cost *c, struct cost_row *rows, size_t *n)
{
	const struct training *t = &d->s.training;
	struct cost_row *r = add_row(rows, n, "tokens");
	char buf[48], step[48];

	(void)units_format_count(num_round(c->tokens), r->value, sizeof r->value);
	(void)snprintf(
		r->note, sizeof r->note, "%s", d->s.cost.tokens > 0 ? "--tokens" : "20 per active parameter (Hoffmann 2022)");
	r = add_row(rows, n, "steps");
	(void)units_format_commas(num_round(c->steps), r->value, sizeof r->value);
	(void)snprintf(r->note, sizeof r->note, "of %s x %lld %s, %s each", units_format_commas(t->global_batch, buf, sizeof buf),
		(long long)t->seq, text_plural(t->seq, "token", "tokens"), report_seconds(p->step.step_s, step, sizeof step));
	r = add_row(rows, n, "time");
	(void)report_seconds(c->days * 86400, r->value, sizeof r->value);
	(void)snprintf(r->note, sizeof r->note, "%s of steps / goodput", report_seconds(c->step_days * 86400, buf, sizeof buf));
	r = add_row(rows, n, "GPU hours");
	(void)units_format_count(num_round(c->gpu_hours), r->value, sizeof r->value);
	(void)snprintf(r->note, sizeof r->note, "on %s %s; +- %.0f %%", units_format_commas(d->s.cluster.gpus, buf, sizeof buf),
		text_plural(d->s.cluster.gpus, "GPU", "GPUs"), 100 * plan_band(d, p));
}

/* "$2.23 (CoreWeave, 2026)". */
static char *describe_quote(const struct gpu_price *q, char *buf, size_t cap)
{
	(void)snprintf(buf, cap, "$%.2f (%s, %s)", q->usd_per_hour, q->provider, q->date);
	return buf;
}

/* What the run costs at the lowest and the highest price of a kind that is known for the GPU. */
static void add_quotes(const struct draft *d, const struct catalog *cat, const struct cost *c, struct cost_row *rows, size_t *n)
{
	size_t count;
	const struct gpu_price *all = catalog_prices(cat, d->s.cluster.gpu.id, &count);

	for (int32_t kind = 0; kind < PRICE_LESSON; kind++) {
		const struct gpu_price *low = NULL, *high = NULL;
		char usd[32], a[160], b[160];
		struct cost_row *r;

		for (const struct gpu_price *q = all; q != all + count; q++) {
			if (q->kind == kind && (low == NULL || q->usd_per_hour < low->usd_per_hour))
				low = q;
			if (q->kind == kind && (high == NULL || q->usd_per_hour > high->usd_per_hour))
				high = q;
		}
		if (low == NULL)
			continue;
		r = add_row(rows, n, price_kind_names[kind]);
		(void)report_usd(c->gpu_hours * low->usd_per_hour, r->value, sizeof r->value);
		if (low == high)
			(void)snprintf(r->note, sizeof r->note, "at %s per GPU hour", describe_quote(low, a, sizeof a));
		else
			(void)snprintf(r->note, sizeof r->note, "to %s, at %s to %s per GPU hour",
				report_usd(c->gpu_hours * high->usd_per_hour, usd, sizeof usd), describe_quote(low, a, sizeof a),
				describe_quote(high, b, sizeof b));
	}
}

static void add_bill(const struct draft *d, const struct catalog *cat, const struct cost *c, struct cost_row *rows, size_t *n)
{
	struct cost_row *r = add_row(rows, n, "price");
	char origin[160];

	if (c->price_usd_per_hour > 0) {
		(void)report_usd(c->usd, r->value, sizeof r->value);
		(void)snprintf(r->note, sizeof r->note, "$%.2f per GPU hour (%s)", c->price_usd_per_hour,
			price_origin(d, cat, origin, sizeof origin));
	} else {
		(void)snprintf(r->value, sizeof r->value, "?");
		(void)snprintf(r->note, sizeof r->note, "no price of %s is known: give --price", d->s.cluster.gpu.id);
	}
	if (cat != NULL)
		add_quotes(d, cat, c, rows, n);
	r = add_row(rows, n, "energy");
	(void)describe_energy(c->kwh, r->value, sizeof r->value);
	(void)snprintf(r->note, sizeof r->note, "%.0f W at %.0f %%, PUE %.3g", d->s.cluster.gpu.tdp_w,
		100 * COST_POWER_UTILISATION, d->s.cost.pue);
}

static void add_failures(const struct draft *d, const struct cost *c, struct cost_row *rows, size_t *n)
{
	struct cost_row *r = add_row(rows, n, "goodput");
	char buf[48], write[48];

	(void)snprintf(r->value, sizeof r->value, "%.1f %%", 100 * c->goodput);
	(void)snprintf(r->note, sizeof r->note, "%.3g %% without failures, less %.2f %% for them", 100 * d->s.cost.goodput,
		100 * c->failure_loss);
	if (c->cluster_mtbf_s <= 0)
		return;
	r = add_row(rows, n, "failures");
	(void)snprintf(r->value, sizeof r->value, "%s", units_format_f4(c->days * 86400 / c->cluster_mtbf_s, buf, sizeof buf));
	(void)snprintf(r->note, sizeof r->note, "one in %s on the whole cluster; restart %s",
		report_seconds(c->cluster_mtbf_s, buf, sizeof buf), report_seconds(COST_RESTART_S, write, sizeof write));
	r = add_row(rows, n, "checkpoint");
	(void)snprintf(r->value, sizeof r->value, "every %s", report_seconds(c->checkpoint_interval_s, buf, sizeof buf));
	(void)snprintf(r->note, sizeof r->note, "%.0f GB in %s; best interval of Young and Daly", c->checkpoint_bytes / UNITS_GB,
		report_seconds(c->checkpoint_s, write, sizeof write));
}

/* cat: NULL, without the prices of others. */
static size_t fill_rows(
	const struct draft *d, const struct catalog *cat, const struct plan *p, struct cost_row rows[COST_ROWS_MAX])
{
	struct cost c = cost_of(&d->s, &p->step);
	size_t n = 0;

	add_run(d, p, &c, rows, &n);
	add_bill(d, cat, &c, rows, &n);
	add_failures(d, &c, rows, &n);
	return n;
}

void report_cost_table(const struct draft *d, const struct catalog *c, const struct plan *p, struct sink *out)
{
	struct cost_row rows[COST_ROWS_MAX];
	size_t n = fill_rows(d, c, p, rows);

	sink_puts(out, "| what | amount | from |\n|---|---|---|\n");
	for (size_t i = 0; i < n; i++)
		sink_printf(out, "| %s | %s | %s |\n", rows[i].label, rows[i].value, rows[i].note);
}

/* "COST of 1.41T tokens: 253 days, $1.36M". */
static void write_title(const struct draft *d, const struct plan *p, struct sink *out)
{
	struct cost c = cost_of(&d->s, &p->step);
	char tokens[32], time[32], usd[32];

	sink_printf(out, "COST of %s %s: %s", units_format_count(num_round(c.tokens), tokens, sizeof tokens),
		text_plural(num_round(c.tokens), "token", "tokens"), report_seconds(c.days * 86400, time, sizeof time));
	if (c.price_usd_per_hour > 0)
		sink_printf(out, ", %s", report_usd(c.usd, usd, sizeof usd));
}

void report_cost_text(const struct draft *d, const struct catalog *c, const struct plan *p, struct sink *out)
{
	struct cost_row rows[COST_ROWS_MAX];
	size_t n = fill_rows(d, c, p, rows);
	char title[300];
	struct sink text;

	write_title(d, p, out);
	sink_puts(out, "\n\n");
	sink_init(&text, title, sizeof title, NULL, NULL);
	report_title(d, p, &text);
	wrap_entry("plan", title, true, out);
	report_setup(d, p, out);
	if (p->verdict.known && !p->verdict.fits)
		wrap_entry("", "it does not fit: see meshplan fit", false, out);
	report_speed_line(d, p, out);
	sink_puts(out, "\n");
	for (size_t i = 0; i < n; i++) {
		struct wrap w = { .out = out, .indent = NOTE_COL, .col = NOTE_COL, .first = true };

		sink_printf(out, "%-12s%10s  ", rows[i].label, rows[i].value);
		wrap_text(&w, rows[i].note, false);
		sink_puts(out, "\n");
	}
	report_diagnostics(p, "", out);
}

void report_cost_markdown(const struct draft *d, const struct catalog *c, const struct plan *p, struct sink *out)
{
	sink_puts(out, "# ");
	report_title(d, p, out);
	sink_puts(out, "\n\n**");
	write_title(d, p, out);
	sink_puts(out, "**\n\n");
	report_cost_table(d, c, p, out);
}
