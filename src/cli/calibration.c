#include "config.h"

#include "calibration.h"

#include "i18n.h"
#include "units.h"

static double mean_step(const struct calibration *k)
{
	double sum = 0;

	for (size_t i = 0; i < k->n_steps; i++)
		sum += k->steps[i].step_s / (double)k->n_steps;
	return sum;
}

static void print_steps(const struct calibration *k, struct sink *out)
{
	const struct calibrated_level *v = &k->level;

	sink_printf(out, _("level      %s %.4g -> %.4g (%+.1f %%), known to %.1f %%\n"), coefficient_table[v->level].key,
		v->before, v->after, 100 * (v->after / v->before - 1), 100 * v->sd);
	if (k->file == NULL) {
		sink_printf(out, _("step       measured %.4g s, predicted %.4g s before, %.4g s now\n"), mean_step(k),
			k->steps[0].before_s, k->steps[0].after_s);
		return;
	}
	sink_printf(out, _("steps      %zu of %zu rows of %s\n"), k->n_steps, k->runs.n, k->file);
	for (size_t i = 0; i < k->n_steps; i++)
		sink_printf(out, _("  %-24s measured %.4g s, predicted %.4g s before, %.4g s now\n"), k->run[i],
			k->steps[i].step_s, k->steps[i].before_s, k->steps[i].after_s);
}

static void print_use(const struct calibration *k, struct sink *out)
{
	for (size_t i = 0; i < k->n_written; i++)
		sink_printf(out, "%-10s %s\n", i == 0 ? _("wrote") : "", k->written[i]);
	sink_printf(out, "%-10s", _("use"));
	if (k->n_steps > 0 || k->network)
		sink_printf(out, " --coefficients %s", k->name);
	if (k->rates)
		sink_printf(out, " --gpu %s", k->name);
	if (k->memory_bytes > 0)
		sink_printf(out, " --profile %s", k->name);
	sink_puts(out, "\n");
}

void calibration_text(const struct calibration *k, struct sink *out)
{
	sink_printf(out, _("CALIBRATED %s\n\n"), k->name);
	if (k->n_steps > 0)
		print_steps(k, out);
	if (k->memory_bytes > 0)
		sink_printf(out, _("memory     reserved %.3g GiB, predicted %.3g GiB before; ratio %.3f, margin %.3f\n"),
			(double)k->memory_bytes / UNITS_GIB, (double)k->predicted_bytes / UNITS_GIB, k->profile.reserved_ratio,
			k->profile.margin);
	if (k->n_points > 0)
		sink_printf(out, _("matmul     %zu sizes, %.4g to %.4g GFLOP\n"), k->n_points, k->points[0].gflop,
			k->points[k->n_points - 1].gflop);
	if (k->network)
		sink_printf(out, _("network    %.3f of the line rate is reached\n"), k->level.set.v[COEF_NIC]);
	print_use(k, out);
}

static void json_step(double measured_s, const struct measured_step *step, struct sink *out)
{
	sink_puts(out, "\"measured_s\": ");
	sink_json_double(out, measured_s);
	sink_puts(out, ", \"before_s\": ");
	sink_json_double(out, step->before_s);
	sink_puts(out, ", \"after_s\": ");
	sink_json_double(out, step->after_s);
	sink_puts(out, " }");
}

static void json_steps(const struct calibration *k, struct sink *out)
{
	const struct calibrated_level *v = &k->level;

	sink_printf(out, ",\n    \"level\": { \"coefficient\": \"%s\", \"before\": ", coefficient_table[v->level].key);
	sink_json_double(out, v->before);
	sink_puts(out, ", \"after\": ");
	sink_json_double(out, v->after);
	sink_puts(out, ", \"sd\": ");
	sink_json_double(out, v->sd);
	sink_puts(out, " },\n    ");
	if (k->file == NULL) {
		sink_puts(out, "\"step\": { ");
		json_step(mean_step(k), &k->steps[0], out);
		return;
	}
	sink_puts(out, "\"steps\": [");
	for (size_t i = 0; i < k->n_steps; i++) {
		sink_puts(out, i > 0 ? ",\n      { \"id\": " : "\n      { \"id\": ");
		sink_json_string(out, k->run[i]);
		sink_puts(out, ", ");
		json_step(k->steps[i].step_s, &k->steps[i], out);
	}
	sink_puts(out, "\n    ]");
}

static void json_memory(const struct calibration *k, struct sink *out)
{
	sink_puts(out, ",\n    \"memory\": { \"measured_bytes\": ");
	sink_json_int(out, k->memory_bytes);
	sink_puts(out, ", \"before_bytes\": ");
	sink_json_int(out, k->predicted_bytes);
	sink_puts(out, ", \"reserved_ratio\": ");
	sink_json_double(out, k->profile.reserved_ratio);
	sink_puts(out, ", \"margin\": ");
	sink_json_double(out, k->profile.margin);
	sink_puts(out, " }");
}

void calibration_json(const struct calibration *k, struct sink *out)
{
	cli_json_begin(out);
	sink_puts(out, "\n  \"calibration\": { \"name\": ");
	sink_json_string(out, k->name);
	if (k->n_steps > 0)
		json_steps(k, out);
	if (k->memory_bytes > 0)
		json_memory(k, out);
	sink_puts(out, ",\n    \"files\": [");
	for (size_t i = 0; i < k->n_written; i++) {
		sink_puts(out, i > 0 ? ", " : "");
		sink_json_string(out, k->written[i]);
	}
	sink_puts(out, "] } }\n");
}
