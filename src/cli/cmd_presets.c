/* meshplan presets: what is built in or added, where its numbers come from, and import of a model's config.json. */
#include "config.h"

#include "cli.h"

#include "fields.h"
#include "i18n.h"
#include "model_file.h"
#include "presets.h"
#include "report.h"
#include "units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* One kind of preset: how to list it, and the table that describes its members. */
struct kind {
	enum preset_kind kind;
	const char *title; /* N_() */
	const char *head;
	void (*row)(const struct catalog *c, size_t i, struct sink *out);
	const struct field_table *fields;
	const void *(*at)(const struct catalog *c, size_t i);
	/* The id that a shortened name means; NULL: exact ids only. */
	enum err_code (*find)(const struct catalog *c, const char *name, const char **id, struct err *e);
};

static void model_row(const struct catalog *c, size_t i, struct sink *out)
{
	const struct model *m = &c->models[i];
	char params[32], active[32];

	sink_printf(out, "%-28s %8s %8s %7lld %7lld  %s\n", m->id, units_format_count(model_params(m), params, sizeof params),
		units_format_count(model_active_params(m), active, sizeof active), (long long)m->layers, (long long)m->hidden,
		m->label);
}

static void gpu_row(const struct catalog *c, size_t i, struct sink *out)
{
	const struct gpu *g = &c->gpus[i];
	char memory[32], compute[32];

	sink_printf(out, "%-24s %6lld %10s %10s  %s\n", g->id, (long long)g->year,
		g->mem_cuda_bytes > 0 ? units_format_gib(g->mem_cuda_bytes, memory, sizeof memory) : "?",
		g->bf16_flops > 0 ? units_format_f4(g->bf16_flops / 1e12, compute, sizeof compute) : "-", g->label);
}

static void node_row(const struct catalog *c, size_t i, struct sink *out)
{
	const struct node *n = &c->nodes[i];
	char host[32], nvme[32];

	sink_printf(out, "%-26s %3lld x %-22s %10s %10s\n", n->id, (long long)n->gpus_per_node, n->gpu_id,
		n->host_mem_bytes > 0 ? units_format_gib(n->host_mem_bytes, host, sizeof host) : "?",
		n->nvme_bytes > 0 ? units_format_gib(n->nvme_bytes, nvme, sizeof nvme) : "?");
}

static void profile_row(const struct catalog *c, size_t i, struct sink *out)
{
	const struct profile *p = &c->profiles[i];

	sink_printf(out, "%-24s %-12s %-10s %s\n", p->id, framework_names[p->framework], p->date, p->label);
}

static void family_row(const struct catalog *c, size_t i, struct sink *out)
{
	const struct gpu_family *f = &c->families[i];

	sink_printf(out, "%-24s %-12s %-20s %s\n", f->id, gpu_generation_names[f->generation],
		coefficient_table[f->gemm_level].key, f->label);
}

static void coefficients_row(const struct catalog *c, size_t i, struct sink *out)
{
	const struct coefficients *k = &c->coefficients[i];

	sink_printf(out, "%-24s %-12s %-20s %s\n", k->id, k->date,
		k->calibrated != COEF_ONE ? coefficient_table[k->calibrated].key : "-", k->label);
}

static const void *model_at(const struct catalog *c, size_t i)
{
	return &c->models[i];
}

static const void *gpu_at(const struct catalog *c, size_t i)
{
	return &c->gpus[i];
}

static const void *node_at(const struct catalog *c, size_t i)
{
	return &c->nodes[i];
}

static const void *profile_at(const struct catalog *c, size_t i)
{
	return &c->profiles[i];
}

static const void *family_at(const struct catalog *c, size_t i)
{
	return &c->families[i];
}

static const void *coefficients_at(const struct catalog *c, size_t i)
{
	return &c->coefficients[i];
}

static enum err_code model_find(const struct catalog *c, const char *name, const char **id, struct err *e)
{
	const struct model *found = NULL;
	enum err_code code = catalog_model(c, name, &found, e);

	*id = code == ERR_OK ? found->id : NULL;
	return code;
}

static enum err_code gpu_find(const struct catalog *c, const char *name, const char **id, struct err *e)
{
	const struct gpu *found = NULL;
	enum err_code code = catalog_gpu(c, name, &found, e);

	*id = code == ERR_OK ? found->id : NULL;
	return code;
}

static enum err_code node_find(const struct catalog *c, const char *name, const char **id, struct err *e)
{
	const struct node *found = NULL;
	enum err_code code = catalog_node(c, name, &found, e);

	*id = code == ERR_OK ? found->id : NULL;
	return code;
}

static enum err_code profile_find(const struct catalog *c, const char *name, const char **id, struct err *e)
{
	const struct profile *found = NULL;
	enum err_code code = catalog_profile(c, name, &found, e);

	*id = code == ERR_OK ? found->id : NULL;
	return code;
}

/* clang-format off */
static const struct kind kinds[PRESET_KIND_COUNT] = {
	[PRESET_KIND_MODEL] = { PRESET_KIND_MODEL, N_("models"), "id                             params   active  layers  hidden  name", model_row, &model_fields, model_at, model_find },
	[PRESET_KIND_GPU] = { PRESET_KIND_GPU, N_("GPUs"), "id                         year     memory bf16 TFLOPS name", gpu_row, &gpu_fields, gpu_at, gpu_find },
	[PRESET_KIND_NODE] = { PRESET_KIND_NODE, N_("nodes"), "id                         GPUs                         host memory       NVMe", node_row, &node_fields, node_at, node_find },
	[PRESET_KIND_PROFILE] = { PRESET_KIND_PROFILE, N_("frameworks"), "id                       framework    date       what", profile_row, &profile_fields, profile_at, profile_find },
	[PRESET_KIND_FAMILY] = { PRESET_KIND_FAMILY, N_("GPU families"), "id                       generation   level                what", family_row, &gpu_family_fields, family_at, NULL },
	[PRESET_KIND_COEFFICIENTS] = { PRESET_KIND_COEFFICIENTS, N_("coefficients"), "id                       date         calibrated           what", coefficients_row, &coefficients_fields, coefficients_at, NULL },
};
/* clang-format on */

static void list_text(struct cli *cli, const struct kind *k)
{
	size_t n = preset_store_count(cli->presets, k->kind);

	sink_printf(cli->out, "%s\n", k->head);
	for (size_t i = 0; i < n; i++)
		k->row(cli->catalog, i, cli->out);
}

static void json_params(const struct model *m, struct sink *out)
{
	sink_puts(out, ", \"params\": ");
	sink_json_int(out, model_params(m));
	sink_puts(out, ", \"active_params\": ");
	sink_json_int(out, model_active_params(m));
}

/* Every member of the struct that is not zero, by its key. */
static void json_members(const struct kind *k, const void *in, struct sink *out)
{
	bool first = true;

	sink_puts(out, "{");
	for (size_t i = 0; i < k->fields->n; i++) {
		if (fields_is_zero(&k->fields->rows[i], in))
			continue;
		sink_puts(out, first ? " " : ", ");
		sink_json_string(out, k->fields->rows[i].key);
		sink_puts(out, ": ");
		fields_write_value(&k->fields->rows[i], in, out);
		first = false;
	}
	sink_puts(out, " }");
}

static void list_json(struct cli *cli, const struct kind *k)
{
	size_t n = preset_store_count(cli->presets, k->kind);

	sink_printf(cli->out, "\"%s\": [", preset_kind_names[k->kind]);
	for (size_t i = 0; i < n; i++) {
		sink_puts(cli->out, i > 0 ? ",\n  { \"id\": " : "\n  { \"id\": ");
		sink_json_string(cli->out, preset_store_id(cli->presets, k->kind, i));
		if (k->kind == PRESET_KIND_MODEL)
			json_params(&cli->catalog->models[i], cli->out);
		sink_puts(cli->out, ", \"preset\": ");
		json_members(k, k->at(cli->catalog, i), cli->out);
		sink_puts(cli->out, " }");
	}
	sink_puts(cli->out, "\n]");
}

static void json_head(struct sink *out)
{
	sink_printf(out, "{ \"meshplan\": \"%s\", \"schema\": %d, ", PACKAGE_VERSION, MESHPLAN_SCHEMA);
}

static int list(struct cli *cli, const struct kind *first, size_t n)
{
	bool json = args_option(&cli->args, OPTION_JSON) != NULL;

	if (json)
		json_head(cli->out);
	for (size_t i = 0; i < n; i++) {
		if (json) {
			sink_puts(cli->out, i > 0 ? ",\n" : "");
			list_json(cli, &first[i]);
		} else {
			if (n > 1)
				sink_printf(cli->out, "%s%s (%zu)\n", i > 0 ? "\n" : "", _(first[i].title),
					preset_store_count(cli->presets, first[i].kind));
			list_text(cli, &first[i]);
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

/* The id that a name means, of any kind: KIND/ID, exact ids, then what the catalog understands: the first kind that knows the
 * name, even if it may be one of several there. */
static enum err_code resolve(const struct cli *cli, const char *name, enum preset_kind *kind, const char **id, struct err *e)
{
	const char *slash = strchr(name, '/');
	enum err_code code;

	for (int k = 0; k < PRESET_KIND_COUNT; k++) {
		bool named = slash != NULL && strlen(preset_kind_names[k]) == (size_t)(slash - name) &&
			strncmp(preset_kind_names[k], name, (size_t)(slash - name)) == 0;

		*kind = (enum preset_kind)k;
		*id = named ? slash + 1 : name;
		/* Families have the names of GPUs: "h100" is the card, "families/h100" the family. */
		if ((named || k != PRESET_KIND_FAMILY) && find_exact(cli, *kind, *id) < preset_store_count(cli->presets, *kind))
			return ERR_OK;
	}
	for (int k = 0; k < PRESET_KIND_COUNT; k++) {
		*kind = (enum preset_kind)k;
		code = kinds[k].find != NULL ? kinds[k].find(cli->catalog, name, id, e) : ERR_UNKNOWN;
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

static void show_text(struct cli *cli, const struct kind *k, const void *in, const char *from)
{
	const struct model *m = in;
	char text[300];

	sink_printf(cli->out, "%s: %s\n", _(k->title), from);
	for (size_t i = 0; i < k->fields->n; i++) {
		const struct field *f = &k->fields->rows[i];

		/* A name has no "none": its first value says something. */
		if (!fields_is_zero(f, in) || f->type == FIELD_NAME)
			show_row(f->key, value_text(f, in, text, sizeof text), f->help != NULL ? _(f->help) : "", cli->out);
	}
	if (k->kind == PRESET_KIND_MODEL) {
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
	size_t len, i;
	const void *in;

	if (code != ERR_OK)
		return code == ERR_UNKNOWN ? unknown(cli, name) : cli_fail_usage("", "%s", e.msg);
	i = find_exact(cli, kind, id);
	in = kinds[kind].at(cli->catalog, i);
	file = preset_store_text(cli->presets, kind, id, &len, &from);
	if (file == NULL)
		return unknown(cli, name);
	if (args_option(&cli->args, OPTION_JSON) == NULL) {
		show_text(cli, &kinds[kind], in, from);
		if (kind == PRESET_KIND_GPU)
			show_prices(cli, id);
		sink_printf(cli->out, "\n%s\n", _("the file:"));
		sink_write(cli->out, file, len);
		return EXIT_YES;
	}
	json_head(cli->out);
	sink_printf(cli->out, "\"kind\": \"%s\", \"from\": ", preset_kind_names[kind]);
	sink_json_string(cli->out, from);
	if (kind == PRESET_KIND_MODEL)
		json_params(in, cli->out);
	sink_puts(cli->out, ",\n\"preset\": ");
	sink_write(cli->out, file, len);
	sink_puts(cli->out, "}\n");
	return EXIT_YES;
}

static void today(char buf[16])
{
	time_t now = time(NULL);
	const struct tm *tm = gmtime(&now);

	if (tm == NULL || strftime(buf, 16, "%Y-%m-%d", tm) == 0)
		(void)snprintf(buf, 16, "undated");
}

/* Standard output is the preset file, ready to be saved; what was recognised goes to standard error. */
static int import(struct cli *cli, const char *path)
{
	static const char kind_of_source[] = "imported";
	char note[MODEL_FILE_NOTE_CAP], date[16], params[40], active[40];
	struct model m = { .id = "" };
	struct err e = { .code = ERR_OK };

	if (model_file_read(path, &m, note, &e) != ERR_OK)
		return cli_fail(&e);
	today(date);
	if (args_option(&cli->args, OPTION_JSON) == NULL) {
		model_file_write(&m, path, kind_of_source, date, cli->out);
		fprintf(stderr,
			_("meshplan: %s: %s, %s parameters, %s active; save it as presets/models/%s.json in the configuration "
			  "directory\n"),
			path, note, units_format_commas(model_params(&m), params, sizeof params),
			units_format_commas(model_active_params(&m), active, sizeof active), m.id);
		return EXIT_YES;
	}
	json_head(cli->out);
	sink_puts(cli->out, "\"recognised\": ");
	sink_json_string(cli->out, note);
	json_params(&m, cli->out);
	sink_puts(cli->out, ",\n\"preset\": ");
	model_file_write(&m, path, kind_of_source, date, cli->out);
	sink_puts(cli->out, "}\n");
	return EXIT_YES;
}

static int unknown_verb(const struct cli *cli, const char *verb)
{
	char kinds_known[120] = "";
	const char *id;
	enum preset_kind kind;
	size_t len = 0;

	if (resolve(cli, verb, &kind, &id, NULL) != ERR_UNKNOWN)
		return cli_fail_usage("", _("presets \"%.60s\": to see one, meshplan presets show %.60s"), verb, verb);
	for (size_t k = 0; k < PRESET_KIND_COUNT; k++)
		len += (size_t)snprintf(kinds_known + len, sizeof kinds_known - len, "%s, ", preset_kind_names[k]);
	return cli_fail_usage("", _("presets \"%.60s\": wanted is %sshow ID or import FILE"), verb, kinds_known);
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
		return list(cli, kinds, PRESET_KIND_COUNT);
	if (is_show || is_import) {
		if (a->n_words != 2)
			return cli_fail_usage("", is_show ? _("presets show wants one id") : _("presets import wants one file"));
		return is_show ? show(cli, a->words[1]) : import(cli, a->words[1]);
	}
	for (size_t k = 0; k < PRESET_KIND_COUNT && a->n_words == 1; k++)
		if (is_kind(verb, preset_kind_names[k]))
			return list(cli, &kinds[k], 1);
	return unknown_verb(cli, verb);
}
