/* meshplan calibrate: measurements of one cluster become presets of the user's own, and predictions made with them say so. */
#define _POSIX_C_SOURCE 200809L

#include "config.h"

#include "cli.h"

#include "calibrate.h"
#include "i18n.h"
#include "measured.h"
#include "preset_write.h"
#include "report.h"
#include "request.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { STEPS_MAX = 64, WRITTEN_MAX = 8 };

/* What was asked for, what came out, and which files say so. */
struct calibration {
	const char *name;
	struct draft draft;
	struct plan plan;
	double step_s[STEPS_MAX];
	size_t n_steps, n_points;
	int64_t memory_bytes, predicted_bytes;
	struct calibrated_level level;
	struct profile profile;
	struct gpu gpu;
	struct node node;
	struct gpu_family family;
	bool rates;   /* the family was measured */
	bool network; /* the coefficients hold a measured network */
	struct matmul_point points[MATMUL_POINTS_MAX];
	size_t n_written;
	char written[WRITTEN_MAX][PRESET_PATH_CAP];
};

/* "12.3s", "12.3", "850ms". */
static enum err_code parse_seconds(const char *text, double *seconds, struct err *e)
{
	char number[32];
	size_t len = strcspn(text, " smSM");
	const char *unit = text + len + strspn(text + len, " ");
	double scale = strcasecmp(unit, "ms") == 0 ? 1e-3 : 1;
	enum err_code code;

	if (len >= sizeof number || (*unit != '\0' && strcasecmp(unit, "s") != 0 && strcasecmp(unit, "ms") != 0))
		return err_set(e, ERR_USAGE, "step", _("'%.40s' is not a time; write it like 12.3s or 850ms"), text);
	(void)snprintf(number, sizeof number, "%.*s", (int)len, text);
	code = units_parse_real(number, "step", seconds, e);
	if (code != ERR_OK)
		return code;
	*seconds *= scale;
	if (!(*seconds > 0))
		return err_set(e, ERR_RANGE, "step", _("a step takes longer than 0 s"));
	return ERR_OK;
}

static enum err_code read_name(struct cli *cli, struct calibration *k, struct err *e)
{
	const char *name = args_option(&cli->args, OPTION_NAME);
	size_t len;
	const char *from;

	k->name = name != NULL ? name : "my-cluster";
	if (k->name[strspn(k->name, "abcdefghijklmnopqrstuvwxyz0123456789.-")] != '\0' || k->name[0] == '\0' ||
		k->name[0] == '.' || strlen(k->name) >= HARDWARE_ID_CAP)
		return err_set(e, ERR_USAGE, "name",
			_("'%.60s' is no name of a preset: small letters, digits, '.' and '-', at most %d"), k->name,
			(int)HARDWARE_ID_CAP - 1);
	for (int kind = 0; kind < PRESET_KIND_COUNT; kind++)
		if (preset_store_text(cli->presets, (enum preset_kind)kind, k->name, &len, &from) != NULL &&
			strcmp(from, "built in") == 0)
			return err_set(e, ERR_USAGE, "name", _("%s is built in (%s); take another name"), k->name,
				preset_kind_names[kind]);
	return ERR_OK;
}

static enum err_code read_values(struct cli *cli, struct calibration *k, struct err *e)
{
	const char *memory = args_option(&cli->args, OPTION_MEMORY);
	enum err_code code = read_name(cli, k, e);

	for (size_t i = 0; i < cli->args.n && code == ERR_OK; i++) {
		if (cli->args.arg[i].option != &option_table[OPTION_STEP])
			continue;
		if (k->n_steps == STEPS_MAX)
			return err_set(e, ERR_USAGE, "step", _("more than %d times"), (int)STEPS_MAX);
		code = parse_seconds(cli->args.arg[i].value, &k->step_s[k->n_steps++], e);
	}
	if (code == ERR_OK && memory != NULL)
		code = units_parse_bytes(memory, "memory", &k->memory_bytes, e);
	if (code == ERR_OK && memory != NULL && k->memory_bytes <= 0)
		code = err_set(e, ERR_RANGE, "memory", _("a peak is larger than 0 bytes"));
	if (code == ERR_OK && k->n_steps == 0 && memory == NULL && args_option(&cli->args, OPTION_NCCL) == NULL &&
		args_option(&cli->args, OPTION_MATMUL) == NULL)
		code = err_set(e, ERR_USAGE, "", _("nothing was measured: give --step, --memory, --nccl or --matmul"));
	return code;
}

/* Rates first: the level is what they leave unexplained. */
static enum err_code learn_rates(struct cli *cli, struct calibration *k, struct err *e)
{
	struct scenario *s = &k->draft.s;
	const char *matmul = args_option(&cli->args, OPTION_MATMUL);
	enum err_code code = ERR_OK;

	k->family = s->cluster.family;
	if (matmul != NULL) {
		code = measured_matmul(matmul, k->points, &k->n_points, e);
		if (code == ERR_OK)
			code = calibrate_matmul(s, k->points, k->n_points, &k->family, e);
		k->rates = true;
	}
	for (size_t i = 0; i < cli->args.n && code == ERR_OK; i++) {
		struct collective_rate rate;

		if (cli->args.arg[i].option != &option_table[OPTION_NCCL])
			continue;
		code = measured_nccl(cli->args.arg[i].value, &rate, e);
		if (code == ERR_OK)
			code = calibrate_collective(s, &rate, &k->family, &s->coefficients, e);
		k->rates = k->rates || rate.hosts <= 1;
		k->network = k->network || rate.hosts > 1;
	}
	if (code == ERR_OK)
		s->cluster.family = k->family;
	return code;
}

static enum err_code learn(struct cli *cli, struct calibration *k, struct err *e)
{
	enum err_code code = ERR_OK;

	if (k->draft.s.cluster.family.id[0] == '\0')
		return err_set(e, ERR_ILLEGAL, "gpu", _("%s has no efficiency curves; see meshplan presets gpus"),
			k->draft.s.cluster.gpu.id);
	code = learn_rates(cli, k, e);
	k->level.set = k->draft.s.coefficients;
	if (code == ERR_OK && k->n_steps > 0)
		code = calibrate_level(&k->draft.s, k->step_s, k->n_steps, &k->level, e);
	if (code == ERR_OK && k->memory_bytes > 0)
		code = calibrate_memory(&k->draft.s, k->memory_bytes, &k->profile, &k->predicted_bytes, e);
	return code;
}

static enum err_code write_one(
	struct calibration *k, enum preset_kind kind, const struct field_table *t, const void *value, struct err *e)
{
	return preset_write(kind, t, value, getenv("XDG_CONFIG_HOME"), getenv("HOME"), k->written[k->n_written++], e);
}

static void today(char *buf, size_t cap)
{
	time_t now = time(NULL);
	struct tm day;

	buf[0] = '\0';
	if (gmtime_r(&now, &day) != NULL && strftime(buf, cap, "%Y-%m-%d", &day) == 0)
		buf[0] = '\0';
}

static enum err_code write_coefficients(struct calibration *k, struct err *e)
{
	struct coefficients *set = &k->level.set;
	char base[sizeof set->id], source[300];
	struct sink text;

	(void)snprintf(base, sizeof base, "%s", set->id);
	(void)snprintf(set->id, sizeof set->id, "%s", k->name);
	(void)snprintf(set->label, sizeof set->label, "calibrated from %s", base);
	today(set->date, sizeof set->date);
	sink_init(&text, source, sizeof source, NULL, NULL);
	sink_printf(
		&text, "%zu measured step%s%s of ", k->n_steps, k->n_steps == 1 ? "" : "s", k->network ? " and nccl-tests" : "");
	report_title(&k->draft, &k->plan, &text);
	(void)snprintf(set->source, sizeof set->source, "%.*s", (int)sizeof set->source - 1, source);
	return write_one(k, PRESET_KIND_COEFFICIENTS, &coefficients_fields, set, e);
}

/* A measured family belongs to a GPU of its own, and that to a node. */
static enum err_code write_rates(struct calibration *k, struct err *e)
{
	const struct cluster *c = &k->draft.s.cluster;
	enum err_code code;

	k->gpu = c->gpu;
	k->node = c->node;
	(void)snprintf(k->family.id, sizeof k->family.id, "%s", k->name);
	(void)snprintf(k->family.source, sizeof k->family.source, "measured on %s with %s", k->name,
		k->n_points > 0 ? "matrix multiplies" : "nccl-tests");
	(void)snprintf(k->gpu.id, sizeof k->gpu.id, "%s", k->name);
	(void)snprintf(k->gpu.family, sizeof k->gpu.family, "%s", k->name);
	(void)snprintf(k->node.id, sizeof k->node.id, "%s", k->name);
	(void)snprintf(k->node.gpu_id, sizeof k->node.gpu_id, "%s", k->name);
	code = write_one(k, PRESET_KIND_FAMILY, &gpu_family_fields, &k->family, e);
	if (code == ERR_OK)
		code = write_one(k, PRESET_KIND_GPU, &gpu_fields, &k->gpu, e);
	if (code == ERR_OK && c->node.id[0] != '\0')
		code = write_one(k, PRESET_KIND_NODE, &node_fields, &k->node, e);
	return code;
}

static enum err_code write_profile(struct calibration *k, struct err *e)
{
	(void)snprintf(k->profile.id, sizeof k->profile.id, "%s", k->name);
	(void)snprintf(k->profile.label, sizeof k->profile.label, "%.50s, peak measured", k->draft.s.profile.id);
	today(k->profile.date, sizeof k->profile.date);
	return write_one(k, PRESET_KIND_PROFILE, &profile_fields, &k->profile, e);
}

static enum err_code write_all(struct calibration *k, struct err *e)
{
	enum err_code code = ERR_OK;

	if (k->n_steps > 0 || k->network)
		code = write_coefficients(k, e);
	if (code == ERR_OK && k->rates)
		code = write_rates(k, e);
	if (code == ERR_OK && k->memory_bytes > 0)
		code = write_profile(k, e);
	return code;
}

static double mean_step(const struct calibration *k)
{
	double sum = 0;

	for (size_t i = 0; i < k->n_steps; i++)
		sum += k->step_s[i];
	return sum / (double)k->n_steps;
}

static void print_text(const struct calibration *k, struct sink *out)
{
	const struct calibrated_level *v = &k->level;

	sink_printf(out, _("CALIBRATED %s\n\n"), k->name);
	if (k->n_steps > 0) {
		sink_printf(out, _("level      %s %.4g -> %.4g (%+.1f %%), known to %.1f %%\n"), coefficient_table[v->level].key,
			v->before, v->after, 100 * (v->after / v->before - 1), 100 * v->sd);
		sink_printf(out, _("step       measured %.4g s, predicted %.4g s before, %.4g s now\n"), mean_step(k),
			v->predicted_before_s, v->predicted_after_s);
	}
	if (k->memory_bytes > 0)
		sink_printf(out, _("memory     reserved %.3g GiB, predicted %.3g GiB before; ratio %.3f, margin %.3f\n"),
			(double)k->memory_bytes / UNITS_GIB, (double)k->predicted_bytes / UNITS_GIB, k->profile.reserved_ratio,
			k->profile.margin);
	if (k->n_points > 0)
		sink_printf(out, _("matmul     %zu sizes, %.4g to %.4g GFLOP\n"), k->n_points, k->points[0].gflop,
			k->points[k->n_points - 1].gflop);
	if (k->network)
		sink_printf(out, _("network    %.3f of the line rate is reached\n"), k->level.set.v[COEF_NIC]);
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

static void print_json(const struct calibration *k, struct sink *out)
{
	const struct calibrated_level *v = &k->level;

	sink_puts(out, "{ \"meshplan\": \"" PACKAGE_VERSION "\", \"schema\": 1,\n  \"calibration\": { \"name\": ");
	sink_json_string(out, k->name);
	if (k->n_steps > 0) {
		sink_printf(out, ",\n    \"level\": { \"coefficient\": \"%s\", \"before\": ", coefficient_table[v->level].key);
		sink_json_double(out, v->before);
		sink_puts(out, ", \"after\": ");
		sink_json_double(out, v->after);
		sink_puts(out, ", \"sd\": ");
		sink_json_double(out, v->sd);
		sink_puts(out, " },\n    \"step\": { \"measured_s\": ");
		sink_json_double(out, mean_step(k));
		sink_puts(out, ", \"before_s\": ");
		sink_json_double(out, v->predicted_before_s);
		sink_puts(out, ", \"after_s\": ");
		sink_json_double(out, v->predicted_after_s);
		sink_puts(out, " }");
	}
	if (k->memory_bytes > 0) {
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
	sink_puts(out, ",\n    \"files\": [");
	for (size_t i = 0; i < k->n_written; i++) {
		sink_puts(out, i > 0 ? ", " : "");
		sink_json_string(out, k->written[i]);
	}
	sink_puts(out, "] } }\n");
}

int cmd_calibrate(struct cli *cli)
{
	struct calibration *k = cli_alloc(sizeof *k);
	struct err e = { .code = ERR_OK };
	enum err_code code = read_values(cli, k, &e);

	/* Micro-benchmarks need no model: then the default scenario stands for it. */
	if (code == ERR_OK)
		code = request_plan(cli, 0, k->n_steps == 0 && k->memory_bytes == 0, &k->draft, &k->plan, &e);
	if (code == ERR_OK)
		code = learn(cli, k, &e);
	if (code == ERR_OK)
		code = write_all(k, &e);
	if (code == ERR_OK && args_option(&cli->args, OPTION_JSON) != NULL)
		print_json(k, cli->out);
	else if (code == ERR_OK)
		print_text(k, cli->out);
	free(k);
	return code == ERR_OK ? EXIT_YES : cli_fail(&e);
}
