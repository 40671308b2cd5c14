/* The answer of validate as text, JSON and Markdown. */
#include "validate.h"

#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORST = 10, SOURCES_MAX = 64 };

/* Distinct sources in order of appearance. */
static size_t list_sources(const struct validate_report *r, const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		size_t k = 0;

		if (r->source != NULL && strcmp(r->source, r->rows[i].source) != 0)
			continue;
		while (k < n && strcmp(names[k], r->rows[i].source) != 0)
			k++;
		if (k == n && n < SOURCES_MAX)
			names[n++] = r->rows[i].source;
	}
	return n;
}

/* "4.3" of 0.043; blank without rows. */
static const char *percent(double share, int64_t rows, bool sign, char *buf, size_t cap)
{
	if (rows > 0)
		(void)snprintf(buf, cap, sign ? "%+.1f" : "%.1f", 100 * share);
	else
		(void)snprintf(buf, cap, "-");
	return buf;
}

struct cells {
	char rows[2][16], median[2][16], p90[2][16], bias[2][16], fit[24];
};

static void fill_cells(const struct validate_summary *s, struct cells *c)
{
	const struct validate_stats *q[2] = { &s->time, &s->memory };

	for (int i = 0; i < 2; i++) {
		(void)snprintf(c->rows[i], sizeof c->rows[i], "%" PRId64, q[i]->rows);
		(void)percent(q[i]->median, q[i]->rows, false, c->median[i], sizeof c->median[i]);
		(void)percent(q[i]->p90, q[i]->rows, false, c->p90[i], sizeof c->p90[i]);
		(void)percent(q[i]->bias, q[i]->rows, true, c->bias[i], sizeof c->bias[i]);
	}
	if (s->fit_rows > 0)
		(void)snprintf(c->fit, sizeof c->fit, "%" PRId64 "/%" PRId64, s->fit_right, s->fit_rows);
	else
		(void)snprintf(c->fit, sizeof c->fit, "-");
}

static void text_line(const char *name, const struct validate_summary *s, struct sink *out)
{
	struct cells c;

	fill_cells(s, &c);
	sink_printf(out, "%-22.22s %4s %6s %6s %6s   %4s %6s %6s %6s   %7s\n", name, c.rows[0], c.median[0], c.p90[0], c.bias[0],
		c.rows[1], c.median[1], c.p90[1], c.bias[1], c.fit);
}

/* Flagged rows, wrapped. */
static void text_flagged(const struct validate_report *r, struct sink *out)
{
	size_t column = 0;
	const char *lead = "flagged:";

	for (size_t i = 0; i < r->n; i++) {
		const struct validate_row *w = &r->rows[i];

		if (w->flag[0] == '\0' || w->skipped[0] != '\0' || (r->source != NULL && strcmp(r->source, w->source) != 0))
			continue;
		if (column == 0 || column + strlen(w->id) + 1 > 78) {
			sink_printf(out, "%s%s", column == 0 ? "" : "\n", column == 0 ? lead : "        ");
			column = 8;
		}
		sink_printf(out, " %s", w->id);
		column += strlen(w->id) + 1;
	}
	if (column > 0)
		sink_puts(out, "\n");
}

static void text_worst(const struct validate_report *r, bool memory, struct sink *out)
{
	size_t index[WORST], n = validate_worst(r->rows, r->n, r->source, memory, index, WORST);
	char predicted[32], measured[32];

	for (size_t i = 0; i < n; i++) {
		const struct validate_row *w = &r->rows[index[i]];
		const char *why = w->flag[0] != '\0' ? w->flag : w->assumed[0] != '\0' ? w->assumed : "reason not known";

		if (i == 0)
			sink_printf(out, "\nWorst rows, %s\n%-22s %10s %10s %7s  %s\n", memory ? "peak memory" : "step time",
				"row", "predicted", "measured", "error", "known about it");
		if (memory) {
			(void)units_format_gib(w->predicted_bytes, predicted, sizeof predicted);
			(void)units_format_gib(w->measured_bytes, measured, sizeof measured);
		} else {
			(void)snprintf(predicted, sizeof predicted, "%.3f s", w->predicted_step_s);
			(void)snprintf(measured, sizeof measured, "%.3f s", w->measured_step_s);
		}
		sink_printf(out, "%-22s %10s %10s %+6.1f%%  %.*s\n", w->id, predicted, measured,
			100 * (memory ? w->memory_error : w->step_error), (int)strcspn(why, "\n"), why);
	}
}

/* Reasons for skipping, each with how many rows have it. */
static void text_skipped(const struct validate_report *r, struct sink *out)
{
	bool first = true;

	for (size_t i = 0; i < r->n; i++) {
		int64_t same = 0;
		size_t before = 0;

		if (r->rows[i].skipped[0] == '\0' || (r->source != NULL && strcmp(r->source, r->rows[i].source) != 0))
			continue;
		while (before < i && strcmp(r->rows[before].skipped, r->rows[i].skipped) != 0)
			before++;
		if (before < i)
			continue;
		for (size_t k = i; k < r->n; k++)
			same += strcmp(r->rows[k].skipped, r->rows[i].skipped) == 0 &&
				(r->source == NULL || strcmp(r->source, r->rows[k].source) == 0);
		sink_printf(out, "%s%5" PRId64 "  %s (%s%s)\n", first ? "\nNot expressed\n" : "", same, r->rows[i].skipped,
			r->rows[i].id, same > 1 ? ", ..." : "");
		first = false;
	}
}

static struct validate_summary sum(const struct validate_report *r, const char *source, bool without_flagged)
{
	struct validate_filter f = { .source = source, .without_flagged = without_flagged };

	return validate_sum(r->rows, r->n, &f, r->scratch);
}

void validate_text(const struct validate_report *r, struct sink *out)
{
	const char *names[SOURCES_MAX];
	size_t n = list_sources(r, names);
	struct validate_summary all = sum(r, r->source, false), most = sum(r, r->source, true);

	sink_printf(out,
		"Predictions beside published measurements; errors in per cent, predicted / measured - 1\n"
		"coefficients %s: %s\n"
		"rows that constants were fitted on are left out: %" PRId64 " of time, %" PRId64 " of memory\n\n",
		r->set_id, r->set_label, all.calibration_time, all.calibration_memory);
	sink_printf(out, "%-22s %s   %s   %7s\n", "", "---- step time ----------", "---- peak memory --------", "fits");
	sink_printf(out, "%-22s %4s %6s %6s %6s   %4s %6s %6s %6s   %7s\n", "source", "rows", "median", "p90", "bias", "rows",
		"median", "p90", "bias", "right");
	for (size_t i = 0; i < n; i++) {
		struct validate_summary s = sum(r, names[i], false);

		text_line(names[i], &s, out);
	}
	text_line("all", &all, out);
	text_line("all but flagged rows", &most, out);
	text_flagged(r, out);
	text_worst(r, false, out);
	text_worst(r, true, out);
	text_skipped(r, out);
}

/* JSON */

static void json_stats(const char *name, const struct validate_stats *s, struct sink *out)
{
	sink_printf(out, "\"%s\": {\"rows\": %" PRId64 ", \"median_abs_error\": ", name, s->rows);
	sink_json_double(out, s->rows > 0 ? s->median : (double)NAN);
	sink_puts(out, ", \"p90_abs_error\": ");
	sink_json_double(out, s->rows > 0 ? s->p90 : (double)NAN);
	sink_puts(out, ", \"bias\": ");
	sink_json_double(out, s->rows > 0 ? s->bias : (double)NAN);
	sink_puts(out, "}");
}

static void json_summary(const struct validate_summary *s, struct sink *out)
{
	sink_puts(out, "{");
	json_stats("throughput", &s->time, out);
	sink_puts(out, ", ");
	json_stats("memory", &s->memory, out);
	sink_printf(out,
		", \"fit\": {\"rows\": %" PRId64 ", \"right\": %" PRId64 "}, \"calibration_rows\": {\"time\": %" PRId64
		", \"memory\": %" PRId64 "}, \"skipped_rows\": %" PRId64 "}",
		s->fit_rows, s->fit_right, s->calibration_time, s->calibration_memory, s->skipped);
}

static void json_number(const char *key, double value, bool there, struct sink *out)
{
	sink_printf(out, ", \"%s\": ", key);
	sink_json_double(out, there ? value : (double)NAN);
}

static void json_bytes(const char *key, int64_t value, struct sink *out)
{
	sink_printf(out, ", \"%s\": ", key);
	if (value > 0)
		sink_json_int(out, value);
	else
		sink_puts(out, "null");
}

static const char *fit_word(int32_t fit)
{
	return fit == FIT_YES ? "true" : fit == FIT_NO ? "false" : "null";
}

static void json_lines(const char *key, const char *text, struct sink *out)
{
	sink_printf(out, ", \"%s\": [", key);
	for (const char *p = text; *p != '\0';) {
		char line[VALIDATE_ASSUMED_CAP];
		size_t len = strcspn(p, "\n");

		(void)snprintf(line, sizeof line, "%.*s", (int)len, p);
		sink_json_text(out, p == text ? "" : ", ", line);
		p += len + (p[len] == '\n');
	}
	sink_puts(out, "]");
}

static void json_text(const char *key, const char *text, struct sink *out)
{
	sink_printf(out, ", \"%s\": ", key);
	if (text[0] != '\0')
		sink_json_string(out, text);
	else
		sink_puts(out, "null");
}

static void json_row(const struct validate_row *w, struct sink *out)
{
	bool timed = w->predicted_step_s > 0, weighed = w->predicted_bytes > 0;

	sink_json_text(out, "    {\"id\": ", w->id);
	json_text("source", w->source, out);
	json_number("predicted_step_s", w->predicted_step_s, timed, out);
	json_number("measured_step_s", w->measured_step_s, w->measured_step_s > 0, out);
	json_number("step_error", w->step_error, timed && w->measured_step_s > 0, out);
	json_bytes("predicted_bytes", w->predicted_bytes, out);
	json_bytes("measured_bytes", w->measured_bytes, out);
	json_text("mem_kind", w->mem_kind, out);
	json_number("memory_error", w->memory_error, weighed && w->measured_bytes > 0, out);
	sink_printf(
		out, ", \"fit\": {\"predicted\": %s, \"measured\": %s}", fit_word(w->fit_predicted), fit_word(w->fit_measured));
	sink_printf(out, ", \"calibration\": {\"time\": %s, \"memory\": %s}", w->calibration_time ? "true" : "false",
		w->calibration_memory ? "true" : "false");
	json_lines("assumed", w->assumed, out);
	json_text("flagged", w->flag, out);
	json_text("skipped", w->skipped, out);
	sink_puts(out, "}");
}

void validate_json(const struct validate_report *r, const char *version, struct sink *out)
{
	const char *names[SOURCES_MAX];
	size_t n = list_sources(r, names);
	struct validate_summary s = sum(r, r->source, false), most = sum(r, r->source, true);
	bool first = true;

	sink_printf(out, "{\n  \"meshplan\": \"%s\",\n  \"schema\": 1,\n  \"coefficients\": {\"id\": ", version);
	sink_json_string(out, r->set_id);
	sink_json_text(out, ", \"label\": ", r->set_label);
	sink_puts(out, "},\n  \"summary\": ");
	json_summary(&s, out);
	sink_printf(out, ",\n  \"calibration_rows\": {\"time\": %" PRId64 ", \"memory\": %" PRId64 "}", s.calibration_time,
		s.calibration_memory);
	sink_puts(out, ",\n  \"summary_without_flagged\": ");
	json_summary(&most, out);
	sink_puts(out, ",\n  \"sources\": {");
	for (size_t i = 0; i < n; i++) {
		s = sum(r, names[i], false);
		sink_printf(out, "%s\n    ", i > 0 ? "," : "");
		sink_json_string(out, names[i]);
		sink_puts(out, ": ");
		json_summary(&s, out);
	}
	sink_puts(out, "\n  },\n  \"rows\": [\n");
	for (size_t i = 0; i < r->n; i++) {
		if (r->source != NULL && strcmp(r->source, r->rows[i].source) != 0)
			continue;
		sink_puts(out, first ? "" : ",\n");
		json_row(&r->rows[i], out);
		first = false;
	}
	sink_puts(out, "\n  ]\n}\n");
}

/* Markdown */

static void markdown_line(const char *name, const struct validate_summary *s, struct sink *out)
{
	struct cells c;

	fill_cells(s, &c);
	sink_printf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, c.rows[0], c.median[0], c.p90[0],
		c.bias[0], c.rows[1], c.median[1], c.p90[1], c.bias[1], c.fit);
}

void validate_markdown(const struct validate_report *r, struct sink *out)
{
	const char *names[SOURCES_MAX];
	size_t n = list_sources(r, names);
	struct validate_summary all = sum(r, NULL, false), most = sum(r, NULL, true);

	sink_puts(out,
		"| source | timed rows | median | p90 | bias | memory rows | median | p90 | bias | fits right |\n"
		"|---|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		struct validate_summary s = sum(r, names[i], false);

		if (s.time.rows + s.memory.rows + s.fit_rows > 0)
			markdown_line(names[i], &s, out);
	}
	markdown_line("**all**", &all, out);
	markdown_line("all but flagged rows", &most, out);
	sink_printf(out,
		"\nCoefficients `%s`: %s. %" PRId64 " timed rows and %" PRId64
		" memory rows were used for fitting and are left out here.\n",
		r->set_id, r->set_label, all.calibration_time, all.calibration_memory);
}
