/* meshplan calibrate: measurements of one cluster become presets of the user's own, and predictions made with them say so. */
#include "config.h"

#include "calibration.h"

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

	k->file = args_option(&cli->args, OPTION_FILE);
	for (size_t i = 0; i < cli->args.n && code == ERR_OK; i++) {
		if (cli->args.arg[i].option != &option_table[OPTION_STEP])
			continue;
		if (k->n_steps == STEPS_MAX)
			return err_set(e, ERR_USAGE, "step", _("more than %d times"), (int)STEPS_MAX);
		k->steps[k->n_steps].s = &k->draft.s;
		code = parse_seconds(cli->args.arg[i].value, &k->steps[k->n_steps++].step_s, e);
	}
	if (code == ERR_OK && memory != NULL)
		code = units_parse_bytes(memory, "memory", &k->memory_bytes, e);
	if (code == ERR_OK && memory != NULL && k->memory_bytes <= 0)
		code = err_set(e, ERR_RANGE, "memory", _("a peak is larger than 0 bytes"));
	if (code == ERR_OK && k->n_steps == 0 && memory == NULL && k->file == NULL &&
		args_option(&cli->args, OPTION_NCCL) == NULL && args_option(&cli->args, OPTION_MATMUL) == NULL)
		code = err_set(e, ERR_USAGE, "", _("nothing was measured: give --step, --file, --memory, --nccl or --matmul"));
	return code;
}

/* With --file the table says what ran: a scenario, or figures of one, beside it would be ignored. */
static enum err_code check_alone(const struct cli *cli, const struct calibration *k, struct err *e)
{
	if (cli->args.n_words > 0)
		return err_set(e, ERR_USAGE, "file", _("the table holds the scenarios; \"%.60s\" beside it is one too many"),
			cli->args.words[0]);
	if (k->n_steps > 0 || k->memory_bytes > 0)
		return err_set(e, ERR_USAGE, "file", _("the table holds the steps; --step and --memory belong to one scenario"));
	for (size_t i = 0; i < cli->args.n; i++)
		if (cli->args.arg[i].option == &option_table[OPTION_LOAD] ||
			(cli->args.arg[i].knob != NULL && strcmp(cli->args.arg[i].knob->key, "coefficients") != 0))
			return err_set(
				e, ERR_USAGE, "file", _("the table holds the scenarios; only --coefficients goes with it"));
	return ERR_OK;
}

/* The steps of a table, each with its scenario; rows without a step, or that cannot be expressed, are left out. */
static enum err_code read_table(struct cli *cli, struct calibration *k, struct err *e)
{
	const struct arg *name = args_knob(&cli->args, "coefficients");
	const struct coefficients *set = cli->catalog->coefficients;
	enum err_code code = check_alone(cli, k, e);

	if (code == ERR_OK && name != NULL)
		code = catalog_find_coefficients(cli->catalog, name->value, &set, e);
	if (code == ERR_OK)
		code = runs_read(k->file, cli->catalog, set, &k->runs, e);
	for (size_t i = 0; code == ERR_OK && i < k->runs.n; i++) {
		const struct validate_case *run = &k->runs.cases[i];
		struct validate_row row;

		validate_run(run, &row);
		if (row.skipped[0] != '\0' || row.predicted_step_s <= 0 || row.measured_step_s <= 0 || run->one_layer)
			continue;
		if (k->n_steps == STEPS_MAX)
			return err_set(e, ERR_RANGE, k->file, _("more than %d steps"), (int)STEPS_MAX);
		k->run[k->n_steps] = run->id;
		k->steps[k->n_steps++] = (struct measured_step){ .s = &run->scenario, .step_s = run->measured_step_s };
	}
	if (code == ERR_OK && k->n_steps == 0)
		return err_set(e, ERR_FILE, k->file,
			_("no row has a step whose scenario can be expressed; meshplan validate --file %.60s "
			  "says why"),
			k->file);
	if (code == ERR_OK)
		k->draft.s = *k->steps[0].s;
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
		struct collective_rate rate = { .hosts = 0 };

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
	for (size_t i = 0; i < k->runs.n; i++)
		if (strcmp(k->runs.cases[i].scenario.cluster.family.id, k->family.id) == 0) {
			k->runs.cases[i].scenario.cluster.family = k->family;
			k->runs.cases[i].scenario.coefficients = k->draft.s.coefficients;
		}
	if (code == ERR_OK && k->n_steps > 0)
		code = calibrate_level(k->steps, k->n_steps, &k->level, e);
	if (code == ERR_OK && k->memory_bytes > 0)
		code = calibrate_memory(&k->draft.s, k->memory_bytes, &k->profile, &k->predicted_bytes, e);
	return code;
}

static enum err_code write_one(struct calibration *k, enum preset_kind kind, const void *value, struct err *e)
{
	return preset_write(kind, value, getenv("XDG_CONFIG_HOME"), getenv("HOME"), k->written[k->n_written++], e);
}

static enum err_code write_coefficients(struct calibration *k, struct err *e)
{
	struct coefficients *set = &k->level.set;
	char base[sizeof set->id], source[300];
	struct sink text;

	(void)snprintf(base, sizeof base, "%s", set->id);
	(void)snprintf(set->id, sizeof set->id, "%s", k->name);
	(void)snprintf(set->label, sizeof set->label, "calibrated from %s", base);
	cli_today(set->date);
	sink_init(&text, source, sizeof source, NULL, NULL);
	sink_printf(
		&text, "%zu measured step%s%s of ", k->n_steps, k->n_steps == 1 ? "" : "s", k->network ? " and nccl-tests" : "");
	if (k->file != NULL)
		sink_puts(&text, k->file);
	else
		report_title(&k->draft, &k->plan, &text);
	(void)snprintf(set->source, sizeof set->source, "%.*s", (int)sizeof set->source - 1, source);
	return write_one(k, PRESET_KIND_COEFFICIENTS, set, e);
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
	code = write_one(k, PRESET_KIND_FAMILY, &k->family, e);
	if (code == ERR_OK)
		code = write_one(k, PRESET_KIND_GPU, &k->gpu, e);
	if (code == ERR_OK && c->node.id[0] != '\0')
		code = write_one(k, PRESET_KIND_NODE, &k->node, e);
	return code;
}

static enum err_code write_profile(struct calibration *k, struct err *e)
{
	(void)snprintf(k->profile.id, sizeof k->profile.id, "%s", k->name);
	(void)snprintf(k->profile.label, sizeof k->profile.label, "%.50s, peak measured", k->draft.s.profile.id);
	cli_today(k->profile.date);
	return write_one(k, PRESET_KIND_PROFILE, &k->profile, e);
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

int cmd_calibrate(struct cli *cli)
{
	struct calibration *k = cli_alloc(sizeof *k);
	struct err e = { .code = ERR_OK };
	enum err_code code = read_values(cli, k, &e);

	/* Micro-benchmarks need no model: then the default scenario stands for it. */
	if (code == ERR_OK && k->file != NULL)
		code = read_table(cli, k, &e);
	else if (code == ERR_OK)
		code = request_plan(cli, 0, k->n_steps == 0 && k->memory_bytes == 0, &k->draft, &k->plan, &e);
	if (code == ERR_OK)
		code = learn(cli, k, &e);
	if (code == ERR_OK)
		code = write_all(k, &e);
	if (code == ERR_OK && args_option(&cli->args, OPTION_JSON) != NULL)
		calibration_json(k, cli->out);
	else if (code == ERR_OK)
		calibration_text(k, cli->out);
	runs_free(&k->runs);
	free(k);
	return code == ERR_OK ? EXIT_YES : cli_fail(&e);
}
