#include "lab_report.h"

#include "lab_internal.h"
#include "num.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLS = 80, GAP = 2 };

static const char *tr(const struct lab_report_options *o, const char *text)
{
	return o->translate != NULL && *text != '\0' ? o->translate(text) : text;
}

/* The largest unit not above the value. */
static char *format_scaled(double value, const char *const *names, double factor, int n, char *buf, size_t cap)
{
	char digits[40];
	int i = 0;

	while (i < n - 1 && fabs(value) >= factor * 0.9995) {
		value /= factor;
		i++;
	}
	(void)snprintf(buf, cap, "%s %s", units_format_f4(value, digits, sizeof digits), names[i]);
	return buf;
}

static char *format_bytes(double value, double most_in_full, char *buf, size_t cap)
{
	static const char *const names[] = { "kB", "MB", "GB", "TB", "PB" };
	char digits[40];

	if (fabs(value) >= most_in_full)
		return format_scaled(value / 1e3, names, 1000, 5, buf, cap);
	if (value != floor(value))
		(void)snprintf(buf, cap, "%s B", units_format_f4(value, digits, sizeof digits));
	else
		(void)snprintf(buf, cap, "%s B", units_format_commas((int64_t)value, digits, sizeof digits));
	return buf;
}

static char *format_seconds(double value, char *buf, size_t cap)
{
	static const char *const names[] = { "ns", "us", "ms", "s" };

	return format_scaled(value * 1e9, names, 1000, 4, buf, cap);
}

static char *format_count(double value, char *buf, size_t cap)
{
	char digits[40];

	if (value != floor(value))
		return units_format_f4(value, buf, cap);
	if (fabs(value) < 1e7)
		(void)snprintf(buf, cap, "%s", units_format_commas((int64_t)value, digits, sizeof digits));
	else
		(void)snprintf(buf, cap, "%s", units_format_count((int64_t)value, digits, sizeof digits));
	return buf;
}

char *lab_format(enum lab_unit unit, double value, char *buf, size_t cap)
{
	char digits[40];

	if (!isfinite(value) && (isnan(value) || unit != LAB_REAL)) {
		(void)snprintf(buf, cap, "-");
		return buf;
	}
	switch (unit) {
	case LAB_BYTES:
		return format_bytes(value, 1e7, buf, cap);
	case LAB_SECONDS:
		return format_seconds(value, buf, cap);
	case LAB_COUNT:
		return format_count(value, buf, cap);
	case LAB_PERCENT:
		(void)snprintf(buf, cap, "%s %%", units_format_f4(value, digits, sizeof digits));
		return buf;
	case LAB_REAL:
	case LAB_UNIT_COUNT:
		break;
	}
	(void)snprintf(buf, cap, "%.4g", value);
	return buf;
}

char *lab_format_short(enum lab_unit unit, double value, char *buf, size_t cap)
{
	if (unit == LAB_BYTES && isfinite(value))
		return format_bytes(value, 1e5, buf, cap);
	return lab_format(unit, value, buf, cap);
}

static int64_t shown_rows(const struct lab_step *s, const struct lab_report_options *o)
{
	return num_min(s->rows, o->steps ? LAB_ROWS_ALL : LAB_ROWS_SHORT);
}

/* Width of the label column and of each value column. */
static void measure(const struct lab_run *run, int64_t k, const struct lab_step *s, int64_t rows,
	const struct lab_report_options *o, int *width)
{
	char text[64];

	width[0] = 0;
	for (int32_t c = 0; c < s->n_columns; c++)
		width[c + 1] = (int)strlen(tr(o, s->columns[c].label));
	for (int64_t r = 0; r < rows; r++) {
		struct lab_row row;

		lab_row(run, k, r, &row);
		width[0] = (int)num_max(width[0], (int64_t)strlen(row.label));
		for (int32_t c = 0; c < s->n_columns; c++)
			width[c + 1] = (int)num_max(width[c + 1],
				(int64_t)strlen(lab_format_short(s->columns[c].unit, row.value[c], text, sizeof text)));
	}
}

static void print_row(const struct lab_step *s, const struct lab_row *row, const int *width, struct sink *out)
{
	char line[400];
	int n = snprintf(line, sizeof line, "  %-*s", width[0], row->label);

	for (int32_t c = 0; c < s->n_columns; c++) {
		char text[64];

		n += snprintf(line + n, sizeof line - (size_t)n, "%*s", width[c + 1] + GAP,
			lab_format_short(s->columns[c].unit, row->value[c], text, sizeof text));
	}
	if (row->text[0] != '\0')
		(void)snprintf(line + n, sizeof line - (size_t)n, "  %s", row->text);
	sink_printf(out, "%s\n", line);
}

void lab_report_step(const struct lab_run *run, int64_t k, const struct lab_report_options *o, struct sink *out)
{
	int width[LAB_COLUMNS_MAX + 1];
	struct lab_step s;
	int64_t rows;

	lab_step(run, k, &s);
	rows = shown_rows(&s, o);
	measure(run, k, &s, rows, o, width);
	sink_printf(out, "%s\n", tr(o, s.title));
	if (s.n_columns > 0) {
		sink_printf(out, "  %*s", width[0], "");
		for (int32_t c = 0; c < s.n_columns; c++)
			sink_printf(out, "%*s", width[c + 1] + GAP, tr(o, s.columns[c].label));
		sink_puts(out, "\n");
	}
	for (int64_t r = 0; r < rows; r++) {
		struct lab_row row;

		lab_row(run, k, r, &row);
		print_row(&s, &row, width, out);
	}
	if (rows < s.rows)
		sink_printf(out, "  and %" PRId64 " more\n", s.rows - rows);
}

static char *format_param(const struct lab_param *p, double value, char *buf, size_t cap)
{
	if (p->type == LAB_PARAM_WORD)
		(void)snprintf(buf, cap, "%s", p->word((int64_t)value));
	else if (p->type == LAB_PARAM_FLAG)
		(void)snprintf(buf, cap, "%s", value > 0 ? "on" : "off");
	else
		(void)snprintf(buf, cap, "%.15g", value);
	return buf;
}

static void print_params(const struct lab_run *run, struct sink *out)
{
	size_t at = 0;

	for (size_t i = 0; i < run->input.lab->n_params; i++) {
		const struct lab_param *p = &run->input.lab->params[i];
		char value[40], text[100];
		int n = snprintf(text, sizeof text, "%s %s", p->key, format_param(p, run->input.value[i], value, sizeof value));

		if (at > 0 && at + GAP + (size_t)n > COLS) {
			sink_puts(out, "\n");
			at = 0;
		}
		sink_printf(out, "%s%s", at > 0 ? "  " : "", text);
		at += (at > 0 ? GAP : 0) + (size_t)n;
	}
	sink_puts(out, "\n");
}

static void print_facts(const struct lab_run *run, const struct lab_report_options *o, struct sink *out)
{
	if (run->n_facts > 0)
		sink_printf(out, "\n%s\n", tr(o, N_("NUMBERS")));
	for (int32_t i = 0; i < run->n_facts; i++) {
		const struct lab_fact *f = &run->facts[i];
		char text[64];

		sink_printf(out, "  %-50s %24s\n", tr(o, f->label), lab_format(f->unit, f->value, text, sizeof text));
	}
}

static void print_claim(const struct lab_claim *c, const struct lab_report_options *o, struct sink *out)
{
	char a[64], b[64];

	sink_printf(out, "  %-4s %s\n", tr(o, c->holds ? N_("yes") : N_("NO")), tr(o, c->text));
	sink_puts(out, "       ");
	if (!isnan(c->got)) {
		sink_printf(
			out, "%s and %s, ", lab_format(c->unit, c->got, a, sizeof a), lab_format(c->unit, c->want, b, sizeof b));
	}
	sink_printf(out, "difference %.3g", c->difference);
	if (c->tolerance > 0)
		sink_printf(out, ", rounding allows %.3g", c->tolerance);
	sink_puts(out, "\n");
}

static void print_prediction(const struct lab_run *run, const struct lab_report_options *o, struct sink *out)
{
	char a[64], b[64], off[40];
	double d = o->prediction - run->answer;

	sink_printf(out, "\n%s\n", tr(o, N_("PREDICTION")));
	sink_printf(out, "  %s\n", tr(o, run->answer_label));
	sink_printf(out, "  you said %s, it is %s: ", lab_format(run->answer_unit, o->prediction, a, sizeof a),
		lab_format(run->answer_unit, run->answer, b, sizeof b));
	if (d == 0)
		sink_puts(out, "exactly right\n");
	else if (run->answer != 0)
		sink_printf(out, "%s %% too %s\n", units_format_f4(100 * fabs(d / run->answer), off, sizeof off),
			d > 0 ? "high" : "low");
	else
		sink_printf(out, "off by %s\n", lab_format(run->answer_unit, fabs(d), off, sizeof off));
}

void lab_report_text(const struct lab_run *run, const struct lab_report_options *o, struct sink *out)
{
	int64_t shown = num_min(run->steps, LAB_STEPS_ALL), hidden = 0;

	sink_printf(out, "lab %s: %s\n", run->input.lab->id, tr(o, run->input.lab->help));
	print_params(run, out);
	for (int64_t k = 0; k < shown; k++) {
		struct lab_step s;

		lab_step(run, k, &s);
		hidden += !o->steps && !s.main;
		if (!o->steps && !s.main)
			continue;
		sink_puts(out, "\n");
		lab_report_step(run, k, o, out);
	}
	if (hidden > 0)
		sink_printf(out, "\n%" PRId64 " of %" PRId64 " steps are left out; --steps shows them\n",
			run->steps - (shown - hidden), run->steps);
	if (o->steps && shown < run->steps)
		sink_printf(out, "\nand %" PRId64 " more steps\n", run->steps - shown);
	print_facts(run, o, out);
	sink_printf(out, "\n%s\n", tr(o, lab_proven(run) ? N_("PROVED") : N_("NOT PROVED")));
	for (int32_t i = 0; i < run->n_claims; i++)
		print_claim(&run->claims[i], o, out);
	if (o->predicted)
		print_prediction(run, o, out);
	sink_printf(out, "\n%s\n  %s\n  meshplan lab %s %s --predict VALUE\n", tr(o, N_("NEXT")), run->question,
		run->input.lab->id, run->next);
}

static void json_key(const char *key, bool first, struct sink *out)
{
	sink_puts(out, first ? "\n" : ",\n");
	sink_json_string(out, key);
	sink_puts(out, ": ");
}

static void json_value(enum lab_unit unit, double value, struct sink *out)
{
	if ((unit == LAB_BYTES || unit == LAB_COUNT) && fabs(value) < 9e15 && value == floor(value))
		sink_json_int(out, (int64_t)value);
	else
		sink_json_double(out, value);
}

static void json_params(const struct lab_run *run, struct sink *out)
{
	json_key("parameters", false, out);
	sink_puts(out, "{");
	for (size_t i = 0; i < run->input.lab->n_params; i++) {
		const struct lab_param *p = &run->input.lab->params[i];
		double v = run->input.value[i];

		json_key(p->key, i == 0, out);
		if (p->type == LAB_PARAM_WORD)
			sink_json_string(out, p->word((int64_t)v));
		else if (p->type == LAB_PARAM_FLAG)
			sink_puts(out, v > 0 ? "true" : "false");
		else
			json_value(p->type == LAB_PARAM_INT ? LAB_COUNT : LAB_REAL, v, out);
	}
	sink_puts(out, " }");
}

static void json_step(const struct lab_run *run, int64_t k, const struct lab_report_options *o, struct sink *out)
{
	struct lab_step s;
	int64_t rows;

	lab_step(run, k, &s);
	rows = shown_rows(&s, o);
	sink_puts(out, "{ \"title\": ");
	sink_json_string(out, s.title);
	sink_printf(out, ", \"row_count\": %" PRId64 ", \"rows\": [", s.rows);
	for (int64_t r = 0; r < rows; r++) {
		struct lab_row row;

		lab_row(run, k, r, &row);
		sink_puts(out, r > 0 ? ",\n  { \"label\": " : "\n  { \"label\": ");
		sink_json_string(out, row.label);
		for (int32_t c = 0; c < s.n_columns; c++) {
			sink_puts(out, ", ");
			sink_json_string(out, s.columns[c].key);
			sink_puts(out, ": ");
			json_value(s.columns[c].unit, row.value[c], out);
		}
		sink_puts(out, ", \"text\": ");
		sink_json_string(out, row.text);
		sink_puts(out, " }");
	}
	sink_puts(out, " ] }");
}

static void json_steps(const struct lab_run *run, const struct lab_report_options *o, struct sink *out)
{
	bool first = true;

	json_key("step_count", false, out);
	sink_json_int(out, run->steps);
	json_key("steps", false, out);
	sink_puts(out, "[");
	for (int64_t k = 0; k < num_min(run->steps, LAB_STEPS_ALL); k++) {
		struct lab_step s;

		lab_step(run, k, &s);
		if (!o->steps && !s.main)
			continue;
		sink_puts(out, first ? "\n" : ",\n");
		json_step(run, k, o, out);
		first = false;
	}
	sink_puts(out, " ]");
}

static void json_facts(const struct lab_run *run, struct sink *out)
{
	json_key("facts", false, out);
	sink_puts(out, "[");
	for (int32_t i = 0; i < run->n_facts; i++) {
		const struct lab_fact *f = &run->facts[i];

		sink_puts(out, i > 0 ? ",\n{ \"id\": " : "\n{ \"id\": ");
		sink_json_string(out, f->key);
		sink_puts(out, ", \"label\": ");
		sink_json_string(out, f->label);
		sink_puts(out, ", \"value\": ");
		json_value(f->unit, f->value, out);
		sink_puts(out, ", \"unit\": ");
		sink_json_string(out, lab_unit_names[f->unit]);
		sink_puts(out, " }");
	}
	sink_puts(out, " ]");
}

static void json_claims(const struct lab_run *run, struct sink *out)
{
	json_key("claims", false, out);
	sink_puts(out, "[");
	for (int32_t i = 0; i < run->n_claims; i++) {
		const struct lab_claim *c = &run->claims[i];

		sink_puts(out, i > 0 ? ",\n{ \"id\": " : "\n{ \"id\": ");
		sink_json_string(out, c->key);
		sink_puts(out, ", \"text\": ");
		sink_json_string(out, c->text);
		sink_printf(out, ", \"holds\": %s, \"got\": ", c->holds ? "true" : "false");
		json_value(c->unit, c->got, out);
		sink_puts(out, ", \"want\": ");
		json_value(c->unit, c->want, out);
		sink_puts(out, ", \"difference\": ");
		sink_json_double(out, c->difference);
		sink_puts(out, ", \"tolerance\": ");
		sink_json_double(out, c->tolerance);
		sink_puts(out, " }");
	}
	sink_puts(out, " ]");
}

void lab_report_json(const struct lab_run *run, const struct lab_report_options *o, struct sink *out)
{
	json_key("lab", true, out);
	sink_json_string(out, run->input.lab->id);
	json_params(run, out);
	json_steps(run, o, out);
	json_facts(run, out);
	json_claims(run, out);
	json_key("proven", false, out);
	sink_puts(out, lab_proven(run) ? "true" : "false");
	json_key("answer", false, out);
	sink_puts(out, "{ \"label\": ");
	sink_json_string(out, run->answer_label);
	sink_puts(out, ", \"value\": ");
	json_value(run->answer_unit, run->answer, out);
	sink_puts(out, " }");
	if (o->predicted) {
		json_key("prediction", false, out);
		sink_puts(out, "{ \"value\": ");
		json_value(run->answer_unit, o->prediction, out);
		sink_puts(out, ", \"error\": ");
		sink_json_double(out, run->answer != 0 ? o->prediction / run->answer - 1 : o->prediction);
		sink_puts(out, " }");
	}
	json_key("question", false, out);
	sink_json_string(out, run->question);
	json_key("next", false, out);
	sink_json_string(out, run->next);
	sink_puts(out, "\n");
}
