#include "lab_internal.h"
#include "lab_report.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>

static void json_key(const char *key, bool first, struct sink *out)
{
	sink_json_text(out, first ? "\n" : ",\n", key);
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
	rows = lab_report_rows(&s, o);
	sink_json_text(out, "{ \"title\": ", s.title);
	sink_printf(out, ", \"row_count\": %" PRId64 ", \"rows\": [", s.rows);
	for (int64_t r = 0; r < rows; r++) {
		struct lab_row row;

		lab_row(run, k, r, &row);
		sink_json_text(out, r > 0 ? ",\n  { \"label\": " : "\n  { \"label\": ", row.label);
		for (int32_t c = 0; c < s.n_columns; c++) {
			sink_json_text(out, ", ", s.columns[c].key);
			sink_puts(out, ": ");
			json_value(s.columns[c].unit, row.value[c], out);
		}
		sink_json_text(out, ", \"text\": ", row.text);
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

		sink_json_text(out, i > 0 ? ",\n{ \"id\": " : "\n{ \"id\": ", f->key);
		sink_json_text(out, ", \"label\": ", f->label);
		sink_puts(out, ", \"value\": ");
		json_value(f->unit, f->value, out);
		sink_json_text(out, ", \"unit\": ", lab_unit_names[f->unit]);
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

		sink_json_text(out, i > 0 ? ",\n{ \"id\": " : "\n{ \"id\": ", c->key);
		sink_json_text(out, ", \"text\": ", c->text);
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
	sink_json_text(out, "{ \"label\": ", run->answer_label);
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
	json_key("lesson", false, out);
	sink_json_string(out, run->input.lab->lesson != NULL ? run->input.lab->lesson : "");
	json_key("question", false, out);
	sink_json_string(out, run->question);
	json_key("next", false, out);
	sink_json_string(out, run->next);
	sink_puts(out, "\n");
}
