/* meshplan presets: what is built in or added, where its numbers come from, and import of a model's config.json. */
#include "config.h"

#include "cli.h"

#include "fields.h"
#include "i18n.h"
#include "model_file.h"
#include "presets.h"
#include "report.h"
#include "text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

static void model_row(const void *value, struct sink *out)
{
	const struct model *m = value;
	char params[32], active[32];

	sink_printf(out, "%-28s %8s %8s %7lld %7lld  %s\n", m->id, units_format_count(model_params(m), params, sizeof params),
		units_format_count(model_active_params(m), active, sizeof active), (long long)m->layers, (long long)m->hidden,
		m->label);
}

static void gpu_row(const void *value, struct sink *out)
{
	const struct gpu *g = value;
	char memory[32], compute[32];

	sink_printf(out, "%-24s %6lld %10s %10s  %s\n", g->id, (long long)g->year,
		g->mem_cuda_bytes > 0 ? units_format_gib(g->mem_cuda_bytes, memory, sizeof memory) : "?",
		g->bf16_flops > 0 ? units_format_f4(g->bf16_flops / 1e12, compute, sizeof compute) : "-", g->label);
}

static void node_row(const void *value, struct sink *out)
{
	const struct node *n = value;
	char host[32], nvme[32];

	sink_printf(out, "%-26s %3lld x %-22s %10s %10s\n", n->id, (long long)n->gpus_per_node, n->gpu_id,
		n->host_mem_bytes > 0 ? units_format_gib(n->host_mem_bytes, host, sizeof host) : "?",
		n->nvme_bytes > 0 ? units_format_gib(n->nvme_bytes, nvme, sizeof nvme) : "?");
}

static void profile_row(const void *value, struct sink *out)
{
	const struct profile *p = value;

	sink_printf(out, "%-24s %-12s %-10s %s\n", p->id, framework_names[p->framework], p->date, p->label);
}

static void family_row(const void *value, struct sink *out)
{
	const struct gpu_family *f = value;

	sink_printf(out, "%-24s %-12s %-20s %s\n", f->id, gpu_generation_names[f->generation],
		coefficient_table[f->gemm_level].key, f->label);
}

static void coefficients_row(const void *value, struct sink *out)
{
	const struct coefficients *k = value;

	sink_printf(out, "%-24s %-12s %-20s %s\n", k->id, k->date,
		k->calibrated != COEF_ONE ? coefficient_table[k->calibrated].key : "-", k->label);
}

/* How each kind is listed. */
/* clang-format off */
static const struct {
	const char *title; /* N_() */
	const char *head;
	void (*row)(const void *value, struct sink *out);
} lists[PRESET_KIND_COUNT] = {
	[PRESET_KIND_MODEL] = { N_("models"), "id                             params   active  layers  hidden  name", model_row },
	[PRESET_KIND_GPU] = { N_("GPUs"), "id                         year     memory bf16 TFLOPS name", gpu_row },
	[PRESET_KIND_NODE] = { N_("nodes"), "id                         GPUs                         host memory       NVMe", node_row },
	[PRESET_KIND_PROFILE] = { N_("frameworks"), "id                       framework    date       what", profile_row },
	[PRESET_KIND_FAMILY] = { N_("GPU families"), "id                       generation   level                what", family_row },
	[PRESET_KIND_COEFFICIENTS] = { N_("coefficients"), "id                       date         calibrated           what", coefficients_row },
};
/* clang-format on */

static void list_text(struct cli *cli, enum preset_kind kind)
{
	sink_printf(cli->out, "%s\n", lists[kind].head);
	for (size_t i = 0; i < preset_store_count(cli->presets, kind); i++)
		lists[kind].row(preset_store_value(cli->presets, kind, i), cli->out);
}

static void json_params(const struct model *m, struct sink *out)
{
	sink_puts(out, ", \"params\": ");
	sink_json_int(out, model_params(m));
	sink_puts(out, ", \"active_params\": ");
	sink_json_int(out, model_active_params(m));
}

static void list_json(struct cli *cli, enum preset_kind kind)
{
	sink_printf(cli->out, "\"%s\": [", preset_kind_names[kind]);
	for (size_t i = 0; i < preset_store_count(cli->presets, kind); i++) {
		const void *value = preset_store_value(cli->presets, kind, i);

		sink_puts(cli->out, i > 0 ? ",\n  { \"id\": " : "\n  { \"id\": ");
		sink_json_string(cli->out, preset_store_id(cli->presets, kind, i));
		if (kind == PRESET_KIND_MODEL)
			json_params(value, cli->out);
		sink_puts(cli->out, ", \"preset\": {");
		fields_write(preset_kind_fields[kind], value, " ", ", ", cli->out);
		sink_puts(cli->out, " } }");
	}
	sink_puts(cli->out, "\n]");
}

/* Of one kind, or of all. */
static int list(struct cli *cli, size_t first, size_t n)
{
	bool json = args_option(&cli->args, OPTION_JSON) != NULL;

	if (json)
		cli_json_begin(cli->out);
	for (size_t i = first; i < first + n; i++) {
		enum preset_kind kind = (enum preset_kind)i;

		if (json) {
			sink_puts(cli->out, i > first ? ",\n" : " ");
			list_json(cli, kind);
		} else {
			if (n > 1)
				sink_printf(cli->out, "%s%s (%zu)\n", i > first ? "\n" : "", _(lists[kind].title),
					preset_store_count(cli->presets, kind));
			list_text(cli, kind);
		}
	}
	sink_puts(cli->out, json ? " }\n" : "");
	return EXIT_YES;
}

/* The index of an id in its kind; the count if it is not there. */
static size_t find_exact(const struct cli *cli, enum preset_kind kind, const char *id)
{
	size_t n = preset_store_count(cli->presets, kind);

	for (size_t i = 0; i < n; i++)
		if (strcmp(preset_store_id(cli->presets, kind, i), id) == 0)
			return i;
	return n;
}

static bool is_there(const struct cli *cli, enum preset_kind kind, const char *id)
{
	return find_exact(cli, kind, id) < preset_store_count(cli->presets, kind);
}

/* The id that a shortened name means; kinds that are not named in scenarios have exact ids only. */
static enum err_code find_short(const struct catalog *c, enum preset_kind kind, const char *name, const char **id, struct err *e)
{
	const struct model *m = NULL;
	const struct gpu *g = NULL;
	const struct node *n = NULL;
	const struct profile *p = NULL;
	enum err_code code = ERR_UNKNOWN;

	switch (kind) {
	case PRESET_KIND_MODEL:
		code = catalog_model(c, name, &m, e);
		*id = m != NULL ? m->id : NULL;
		break;
	case PRESET_KIND_GPU:
		code = catalog_gpu(c, name, &g, e);
		*id = g != NULL ? g->id : NULL;
		break;
	case PRESET_KIND_NODE:
		code = catalog_node(c, name, &n, e);
		*id = n != NULL ? n->id : NULL;
		break;
	case PRESET_KIND_PROFILE:
		code = catalog_profile(c, name, &p, e);
		*id = p != NULL ? p->id : NULL;
		break;
	case PRESET_KIND_FAMILY:
	case PRESET_KIND_COEFFICIENTS:
	case PRESET_KIND_COUNT:
		break;
	}
	return code;
}

/* The id that a name means, of any kind: KIND/ID, exact ids, then what the catalog understands: the first kind that knows the
 * name, even if it may be one of several there. */
static enum err_code resolve(const struct cli *cli, const char *name, enum preset_kind *kind, const char **id, struct err *e)
{
	const char *slash = strchr(name, '/');
	enum err_code code;

	*id = slash != NULL ? slash + 1 : name;
	if (slash != NULL && preset_kind_of(name, kind) && is_there(cli, *kind, *id))
		return ERR_OK;
	*id = name;
	for (int k = 0; k < PRESET_KIND_COUNT; k++) {
		*kind = (enum preset_kind)k;
		/* Families have the names of GPUs: "h100" is the card, "families/h100" the family. */
		if (k != PRESET_KIND_FAMILY && is_there(cli, *kind, name))
			return ERR_OK;
	}
	for (int k = 0; k < PRESET_KIND_COUNT; k++) {
		*kind = (enum preset_kind)k;
		code = find_short(cli->catalog, *kind, name, id, e);
		if (code != ERR_UNKNOWN)
			return code;
	}
	return ERR_UNKNOWN;
}

static const char *any_id(const void *ctx, size_t i)
{
	const struct preset_store *store = ctx;

	for (int k = 0; k < PRESET_KIND_COUNT; k++) {
		size_t n = preset_store_count(store, (enum preset_kind)k);

		if (i < n)
			return preset_store_id(store, (enum preset_kind)k, i);
		i -= n;
	}
	return "";
}

static int unknown(const struct cli *cli, const char *name)
{
	size_t n = 0;
	char near[200];

	for (int k = 0; k < PRESET_KIND_COUNT; k++)
		n += preset_store_count(cli->presets, (enum preset_kind)k);
	return cli_fail_usage("", _("no preset \"%.60s\"; nearest: %s"), name,
		catalog_nearest(name, n, any_id, cli->presets, near, sizeof near));
}

/* "79.15GiB", "450 GB/s": the value without JSON's quotes, and its unit. Returns buf. */
static char *value_text(const struct field *f, const void *in, char *buf, size_t cap)
{
	struct sink s;
	size_t len;

	sink_init(&s, buf, cap, NULL, NULL);
	fields_write_value(f, in, &s);
	len = strlen(buf);
	if (len >= 2 && buf[0] == '"') {
		memmove(buf, buf + 1, len - 2);
		buf[len - 2] = '\0';
	} else if (f->unit != NULL && *f->unit != '\0' && f->type != FIELD_BYTES) {
		(void)snprintf(buf + len, cap - len, " %s", f->unit);
	}
	return buf;
}

static void show_row(const char *key, const char *value, const char *help, struct sink *out)
{
	sink_printf(out, "  %-22s %-20s  %s\n", key, value, help);
}

static void show_text(struct cli *cli, enum preset_kind kind, const void *in, const char *from)
{
	const struct field_table *t = preset_kind_fields[kind];
	const struct model *m = in;
	char text[300];

	sink_printf(cli->out, "%s: %s\n", _(lists[kind].title), from);
	for (size_t i = 0; i < t->n; i++) {
		const struct field *f = &t->rows[i];

		/* A name has no "none": its first value says something. */
		if (!fields_is_zero(f, in) || f->type == FIELD_NAME)
			show_row(f->key, value_text(f, in, text, sizeof text), f->help != NULL ? _(f->help) : "", cli->out);
	}
	if (kind == PRESET_KIND_MODEL) {
		show_row(
			"params", units_format_commas(model_params(m), text, sizeof text), _("counted from the shape"), cli->out);
		show_row("active-params", units_format_commas(model_active_params(m), text, sizeof text),
			_("parameters that one token meets"), cli->out);
	}
}

/* The prices of a GPU, the default first. */
static void show_prices(const struct cli *cli, const char *id)
{
	size_t n;
	const struct gpu_price *prices = catalog_prices(cli->catalog, id, &n);

	if (n > 0)
		sink_printf(cli->out, "\n%s\n", _("prices of one GPU hour, USD; --price takes a provider's name:"));
	for (size_t i = 0; i < n; i++)
		sink_printf(cli->out, "  %7.2f  %-12s %-30s %-18s %s\n", prices[i].usd_per_hour, price_kind_names[prices[i].kind],
			prices[i].provider, prices[i].date, prices[i].source);
}

static int show(struct cli *cli, const char *name)
{
	enum preset_kind kind;
	const char *id, *file, *from;
	struct err e = { .code = ERR_OK };
	enum err_code code = resolve(cli, name, &kind, &id, &e);
	const void *in;
	size_t len;

	if (code != ERR_OK)
		return code == ERR_UNKNOWN ? unknown(cli, name) : cli_fail_usage("", "%s", e.msg);
	in = preset_store_value(cli->presets, kind, find_exact(cli, kind, id));
	file = preset_store_text(cli->presets, kind, id, &len, &from);
	if (file == NULL)
		return unknown(cli, name);
	if (args_option(&cli->args, OPTION_JSON) == NULL) {
		show_text(cli, kind, in, from);
		if (kind == PRESET_KIND_GPU)
			show_prices(cli, id);
		sink_printf(cli->out, "\n%s\n", _("the file:"));
		sink_write(cli->out, file, len);
		return EXIT_YES;
	}
	cli_json_begin(cli->out);
	sink_printf(cli->out, " \"kind\": \"%s\", \"from\": ", preset_kind_names[kind]);
	sink_json_string(cli->out, from);
	if (kind == PRESET_KIND_MODEL)
		json_params(in, cli->out);
	sink_puts(cli->out, ",\n\"preset\": ");
	sink_write(cli->out, file, len);
	sink_puts(cli->out, "}\n");
	return EXIT_YES;
}

/* Standard output is the preset file, ready to be saved; what was recognised goes to standard error. */
static int import(struct cli *cli, const char *path)
{
	static const char kind_of_source[] = "imported";
	char note[MODEL_FILE_NOTE_CAP], date[CLI_DATE_CAP], params[40], active[40];
	struct model m = { .id = "" };
	struct err e = { .code = ERR_OK };

	if (model_file_read(path, &m, note, &e) != ERR_OK)
		return cli_fail(&e);
	cli_today(date);
	if (args_option(&cli->args, OPTION_JSON) == NULL) {
		model_file_write(&m, path, kind_of_source, date, cli->out);
		fprintf(stderr,
			_("meshplan: %s: %s, %s parameters, %s active; save it as presets/models/%s.json in the configuration "
			  "directory\n"),
			path, note, units_format_commas(model_params(&m), params, sizeof params),
			units_format_commas(model_active_params(&m), active, sizeof active), m.id);
		return EXIT_YES;
	}
	cli_json_begin(cli->out);
	sink_puts(cli->out, " \"recognised\": ");
	sink_json_string(cli->out, note);
	json_params(&m, cli->out);
	sink_puts(cli->out, ",\n\"preset\": ");
	model_file_write(&m, path, kind_of_source, date, cli->out);
	sink_puts(cli->out, "}\n");
	return EXIT_YES;
}

static int unknown_verb(const struct cli *cli, const char *verb)
{
	char known[120] = "";
	const char *id;
	enum preset_kind kind;

	if (resolve(cli, verb, &kind, &id, NULL) != ERR_UNKNOWN)
		return cli_fail_usage("", _("presets \"%.60s\": to see one, meshplan presets show %.60s"), verb, verb);
	for (size_t k = 0; k < PRESET_KIND_COUNT; k++)
		text_join(known, sizeof known, ", ", preset_kind_names[k]);
	return cli_fail_usage("", _("presets \"%.60s\": wanted is %s, show ID or import FILE"), verb, known);
}

/* "gpus", and "gpu". */
static bool is_kind(const char *word, const char *plural)
{
	size_t len = strlen(word);

	return strncmp(word, plural, len) == 0 && (plural[len] == '\0' || strcmp(plural + len, "s") == 0);
}

int cmd_presets(struct cli *cli)
{
	const struct args *a = &cli->args;
	const char *verb = a->n_words > 0 ? a->words[0] : "";
	bool is_show = strcmp(verb, "show") == 0, is_import = strcmp(verb, "import") == 0;

	if (a->n_words == 0)
		return list(cli, 0, PRESET_KIND_COUNT);
	if (is_show || is_import) {
		if (a->n_words != 2)
			return cli_fail_usage("", is_show ? _("presets show wants one id") : _("presets import wants one file"));
		return is_show ? show(cli, a->words[1]) : import(cli, a->words[1]);
	}
	for (size_t k = 0; k < PRESET_KIND_COUNT && a->n_words == 1; k++)
		if (is_kind(verb, preset_kind_names[k]))
			return list(cli, (enum preset_kind)k, 1);
	return unknown_verb(cli, verb);
}
