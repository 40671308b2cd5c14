/* Communication, step time and throughput for people. */
#include "i18n_mark.h"
#include "num.h"
#include "report_internal.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A part of the step below this share goes to "rest". */
#define REST_SHARE 0.002

static const char *link_of(const struct scenario *s, bool across)
{
	if (!across)
		return s->cluster.gpu.link[0] != '\0' ? s->cluster.gpu.link : "link";
	return s->cluster.node.fabric[0] != '\0' ? s->cluster.node.fabric : "network";
}

size_t report_traffic(const struct scenario *s, const struct plan *p, struct traffic_row rows[TRAFFIC_COUNT])
{
	size_t n = 0;

	for (int i = 0; i < TRAFFIC_COUNT && p->step.known; i++) {
		const struct traffic_time *t = &p->step.traffic[i];

		if (t->calls > 0)
			rows[n++] = (struct traffic_row){ .traffic = (enum traffic)i,
				.what = step_traffic_name(s, (enum traffic)i),
				.group = traffic_groups[i],
				.link = link_of(s, t->across),
				.time = *t };
	}
	return n;
}

char *report_seconds(double seconds, char *buf, size_t cap)
{
	static const struct {
		double least, divisor;
		const char *unit;
	} units[] = { { 2 * 86400.0, 86400, "days" }, { 2 * 3600.0, 3600, "h" }, { 120, 60, "min" }, { 1, 1, "s" },
		{ 0, 1e-3, "ms" } };
	char number[32];
	size_t i = 0;

	while (seconds < units[i].least && units[i].least > 0)
		i++;
	(void)snprintf(buf, cap, "%s %s", units_format_f4(seconds / units[i].divisor, number, sizeof number), units[i].unit);
	return buf;
}

/* Part of the step without its unit, by its short name. */
static void add_part(struct wrap *w, const char *label, double seconds, bool first)
{
	char text[64], number[32];

	(void)snprintf(text, sizeof text, "%s %s %s", first ? "=" : "+", label, units_format_f4(seconds, number, sizeof number));
	wrap_word(w, text);
}

/* "STEP      16.1 s = compute 13.2 + tp 2.00 + ... + rest 0.05". */
static void write_step(const struct step_time *t, struct sink *out)
{
	struct wrap w = { .out = out, .indent = REPORT_LABEL_COLS, .col = REPORT_LABEL_COLS, .first = true };
	char text[64];
	double rest = 0, unit = t->step_s < 1 ? 1e-3 : 1;
	bool first = true;

	sink_printf(out, "%-*s", (int)REPORT_LABEL_COLS, "STEP");
	(void)units_format_f4(t->step_s / unit, text, sizeof text - 4);
	(void)snprintf(text + strlen(text), 4, "%s", unit < 1 ? " ms" : " s");
	wrap_word(&w, text);
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		if (t->part_s[i] < REST_SHARE * t->step_s) {
			rest += t->part_s[i];
			continue;
		}
		add_part(&w, step_part_table[i].label, t->part_s[i] / unit, first);
		first = false;
	}
	if (rest / unit >= 0.005)
		add_part(&w, "rest", rest / unit, first);
	sink_puts(out, "\n");
}

/* "1,017 tokens/s per GPU; 457 TFLOP/s per GPU, MFU 46.2 %": how fast, by which convention, how well known. */
static void describe_speed(const struct draft *d, const struct plan *p, char *buf, size_t cap)
{
	const struct throughput *t = &p->throughput;
	char tokens[32], one[32], flops[32], mfu[32], hfu[32] = "";
	int n;

	if (d->s.training.recompute != RECOMPUTE_NONE)
		(void)snprintf(hfu, sizeof hfu, ", HFU %.1f %%", 100 * t->hfu);
	(void)snprintf(mfu, sizeof mfu, "%.1f", 100 * t->mfu);
	n = snprintf(buf, cap,
		"%s tokens/s, %s per GPU; %s TFLOP/s per GPU, MFU %s %%%s of %.4g peak (convention %s); +- %.0f %%",
		units_format_commas(num_round(t->tokens_per_s), tokens, sizeof tokens),
		units_format_commas(num_round(t->tokens_per_s_per_gpu), one, sizeof one),
		units_format_f4(t->model_flops_per_gpu / 1e12, flops, sizeof flops), mfu, hfu, t->peak_flops / 1e12,
		flops_convention_choices[d->s.training.flops].key, 100 * plan_band(d, p));
	if (plan_is_calibrated(&d->s) && n > 0 && (size_t)n < cap)
		(void)snprintf(buf + n, cap - (size_t)n, ", calibrated with %s", d->s.coefficients.id);
}

void report_speed_line(const struct draft *d, const struct plan *p, struct sink *out)
{
	char step[40], tokens[32], mfu[32], text[160];

	if (!p->step.known)
		return;
	(void)snprintf(mfu, sizeof mfu, "%.1f", 100 * p->throughput.mfu);
	(void)snprintf(text, sizeof text, "%s per step, %s tokens/s, MFU %s %%; +- %.0f %%",
		report_seconds(p->step.step_s, step, sizeof step),
		units_format_commas(num_round(p->throughput.tokens_per_s), tokens, sizeof tokens), mfu, 100 * plan_band(d, p));
	sink_puts(out, "\n");
	wrap_entry("speed", text, false, out);
}

/* "NVLink4+NVSwitch" to "NVLink4": what fits the column. */
static void write_communication(const struct scenario *s, const struct plan *p, struct sink *out)
{
	struct traffic_row rows[TRAFFIC_COUNT];
	size_t n = report_traffic(s, p, rows);

	if (n == 0)
		return;
	sink_printf(out, "\n%-32s%5s %-10s%9s%8s%7s%8s\n", "COMMUNICATION per GPU and step", "ranks", "link", "calls", "GB", "s",
		"exposed");
	for (size_t i = 0; i < n; i++) {
		const struct traffic_time *t = &rows[i].time;
		char what[48], gb[32], calls[32];

		(void)snprintf(what, sizeof what, "%s %s", rows[i].group, rows[i].what);
		sink_printf(out, "  %-30s%5.0f %-10.*s%9s%8s%7.2f%8.2f\n", what, t->ranks,
			(int)num_min((int64_t)strcspn(rows[i].link, "+/("), 10), rows[i].link,
			units_format_commas(num_round(t->calls), calls, sizeof calls),
			units_format_f4(t->bytes_per_gpu / UNITS_GB, gb, sizeof gb), t->seconds, t->exposed_s);
	}
}

void report_speed_text(const struct draft *d, const struct plan *p, struct sink *out)
{
	char text[240];

	if (!p->step.known)
		return;
	write_communication(&d->s, p, out);
	sink_puts(out, "\n");
	write_step(&p->step, out);
	describe_speed(d, p, text, sizeof text);
	wrap_entry("SPEED", text, true, out);
}

static void communication_markdown(const struct scenario *s, const struct plan *p, struct sink *out)
{
	struct traffic_row rows[TRAFFIC_COUNT];
	size_t n = report_traffic(s, p, rows);

	if (n == 0)
		return;
	sink_puts(out,
		"\n## Communication per GPU and step\n\n| what | group | ranks | link | calls | GB | s | exposed s "
		"|\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		const struct traffic_time *t = &rows[i].time;
		char gb[32], calls[32];

		sink_printf(out, "| %s | %s | %.0f | %s | %s | %s | %.3f | %.3f |\n", rows[i].what, rows[i].group, t->ranks,
			rows[i].link, units_format_commas(num_round(t->calls), calls, sizeof calls),
			units_format_f4(t->bytes_per_gpu / UNITS_GB, gb, sizeof gb), t->seconds, t->exposed_s);
	}
}

static void write_share(const char *label, double seconds, double share, struct sink *out)
{
	sink_printf(out, "| %s | %.3f |", label, seconds);
	if (share < 0.0005)
		sink_puts(out, " <0.1 % |\n");
	else
		sink_printf(out, " %.1f %% |\n", 100 * share);
}

void report_speed_markdown(const struct draft *d, const struct plan *p, struct sink *out)
{
	char text[240];

	if (!p->step.known)
		return;
	communication_markdown(&d->s, p, out);
	sink_puts(out, "\n## Step and throughput\n\n| part | s | of step |\n|---|---|---|\n");
	for (int i = 0; i < STEP_PART_COUNT; i++)
		if (p->step.part_s[i] > 0)
			write_share(step_part_table[i].label, p->step.part_s[i], p->step.part_s[i] / p->step.step_s, out);
	sink_printf(out, "| step | %.3f | 100 %% |\n", p->step.step_s);
	describe_speed(d, p, text, sizeof text);
	sink_printf(out, "\n%s.\n", text);
}
