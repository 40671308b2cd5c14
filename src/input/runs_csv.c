#include "runs_csv.h"

#include "csvfile.h"
#include "fields.h"
#include "file.h"
#include "json.h"
#include "knobs.h"
#include "presets_data.h"
#include "runs_row.h"
#include "units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char shipped_path[] = "measured/runs.csv";

/* clang-format off */
/* Which key of a row sets which knob, in order of application: what fills many comes first. */
static const char *const knob_of_key[][2] = {
	{ "preset", "model" }, { "params", "params" }, { "gpu_id", "gpu" }, { "node", "node" }, { "profile", "profile" },
	{ "layers", "layers" }, { "hidden", "hidden" }, { "heads", "heads" }, { "kv_heads", "kv-heads" },
	{ "attention_type", "attention-type" }, { "head_dim", "head-dim" }, { "ffn", "ffn" }, { "vocab", "vocab" },
	{ "gated_mlp", "gated-mlp" }, { "tied_embeddings", "tied-embeddings" }, { "experts", "experts" }, { "topk", "topk" },
	{ "expert_ffn", "expert-ffn" }, { "shared_ffn", "shared-ffn" }, { "dense_layers", "dense-layers" },
	{ "moe_stride", "moe-stride" }, { "mtp_layers", "mtp-layers" }, { "norm", "norm" }, { "q_lora_rank", "q-lora-rank" },
	{ "kv_lora_rank", "kv-lora-rank" }, { "max_seq", "max-seq" }, { "norm_bias", "norm-bias" },
	{ "norms_per_layer", "norms-per-layer" }, { "final_norm", "final-norm" }, { "bias", "bias" },
	{ "positions", "positions" }, { "rope", "rope" }, { "num_gpus", "gpus" }, { "gpus_per_node", "gpus-per-node" },
	{ "gpu_mem", "gpu-mem" }, { "nic_bw", "nic-bw" }, { "tp", "tp" }, { "pp", "pp" }, { "vpp", "vpp" }, { "cp", "cp" },
	{ "ep", "ep" }, { "etp", "etp" }, { "zero_stage", "zero" }, { "zero_group", "zero-group" },
	{ "seq_parallel", "sequence-parallel" }, { "schedule_id", "schedule" }, { "stage_layers", "stage-layers" },
	{ "precision", "precision" }, { "optimizer_id", "optimizer" }, { "seq", "seq" },
	{ "attention_length", "attention-length" }, { "micro_batch", "micro-batch" }, { "global_batch", "global-batch" },
	{ "recompute", "recompute" }, { "attention", "attention" }, { "dropout", "dropout" },
	{ "attention_dropout", "attention-dropout" }, { "loss", "loss" }, { "offload_id", "offload" },
	{ "offload_activations", "offload-activations" },
};
/* clang-format on */
enum { N_KNOB_KEYS = sizeof knob_of_key / sizeof knob_of_key[0] };

static void skip(struct validate_case *out, const char *why)
{
	if (out->skipped[0] == '\0')
		(void)snprintf(out->skipped, sizeof out->skipped, "%.190s", why);
}

/* A profile that is not known is the framework's default one, and the row says so. */
static void settle_profile(struct runs_row *row, const struct catalog *c)
{
	const char *profile = runs_get(row, "profile"), *framework = runs_get(row, "framework");
	struct runs_rule rule = { .when = "", .why = "this profile is not known: the framework's default" };
	char set[80];

	for (size_t i = 0; i < c->n_profiles; i++)
		if (strcmp(c->profiles[i].id, profile) == 0)
			return;
	for (int32_t f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_COUNT; f++) {
		const struct profile *p = catalog_default_profile(c, f);

		if (strcmp(framework_names[f], framework) != 0 || p == NULL)
			continue;
		(void)snprintf(set, sizeof set, "profile=%s", p->id);
		rule.set = set;
		runs_apply(row, &rule);
		return;
	}
	runs_set(row, "skip", "neither framework nor profile is known");
}

static enum err_code set_profile_field(const char *key, const char *value, struct draft *d, struct err *e)
{
	return fields_set_text(&profile_fields, key, value, &d->s.profile, e);
}

/* Sets every knob the row has a value for, then single switches of the profile. */
static enum err_code set_knobs(const struct runs_row *row, const struct catalog *c, struct draft *d, struct err *e)
{
	enum err_code code = ERR_OK;

	for (size_t i = 0; i < N_KNOB_KEYS && code == ERR_OK; i++) {
		const char *value = runs_get(row, knob_of_key[i][0]);
		const struct knob *k = knob_find(knob_of_key[i][1]);

		if (value[0] != '\0' && k != NULL)
			code = draft_set(d, c, k, value, ORIGIN_FLAG, e);
	}
	for (size_t i = 0; i < row->n && code == ERR_OK; i++)
		if (strncmp(row->key[i], "profile.", 8) == 0)
			code = set_profile_field(row->key[i] + 8, row->value[i], d, e);
	return code;
}

/* Head size and kind of attention where no preset says them; flash as the knob calls it. */
static void derive(struct runs_row *row)
{
	double hidden = runs_number(row, "hidden", 0), heads = runs_number(row, "heads", 0),
	       kv = runs_number(row, "kv_heads", heads);
	const char *flash = runs_get(row, "flash");
	char text[32];

	runs_set(row, "attention", strcmp(flash, "0") == 0 ? "unfused" : "flash");
	if (runs_get(row, "preset")[0] != '\0')
		return;
	if (runs_get(row, "head_dim")[0] == '\0' && heads > 0) {
		(void)snprintf(text, sizeof text, "%.0f", fmax(1, floor(hidden / heads)));
		runs_set(row, "head_dim", text);
	}
	runs_set(row, "attention_type", kv < heads ? "gqa" : "mha");
}

/* Work per token that a source counts, FLOP: N from params_b. Src: Narayanan 2021 eq. 3; Chowdhery 2022 app. B. */
static double counted_flops(const struct runs_row *row)
{
	double L = runs_number(row, "layers", 0), h = runs_number(row, "hidden", 0), s = runs_number(row, "seq", 0),
	       V = runs_number(row, "vocab", 0);
	double N = runs_number(row, "active_params_b", runs_number(row, "params_b", 0)) * 1e9;
	const char *how = runs_get(row, "counts");

	if (strcmp(how, "narayanan") == 0)
		return 72 * L * h * h * (1 + s / (6 * h) + V / (12 * L * h));
	if (strcmp(how, "narayanan-recompute") == 0)
		return 96 * L * h * h * (1 + s / (6 * h) + V / (16 * L * h));
	return 6 * N + (strcmp(how, "6n-full") == 0 ? 12 : 6) * L * h * s;
}

/* Seconds of a step: as published, or from tokens per second, or from the FLOP/s or utilisation that is all a source prints. */
static double measured_step(const struct runs_row *row, const struct scenario *s)
{
	double step = runs_number(row, "measured_step_s", 0), rate = runs_number(row, "measured_tokens_s_gpu", 0);
	double tokens = runs_number(row, "global_batch_published", 0) * runs_number(row, "seq", 0),
	       gpus = runs_number(row, "num_gpus_published", 0);
	double flops = runs_number(row, "measured_tflops_gpu", 0) * 1e12, share = runs_number(row, "measured_mfu_pct", 0) / 100;

	if (gpus <= 0 || tokens <= 0)
		return 0; /* the time of an unknown amount of work or GPUs says nothing */
	if (step > 0)
		return step;
	if (rate > 0)
		return tokens / (rate * gpus);
	if (flops <= 0)
		flops = share * s->cluster.gpu.bf16_flops;
	return flops > 0 ? counted_flops(row) * tokens / (flops * gpus) : 0;
}

static int32_t index_of(const char *const *names, const char *name)
{
	int32_t i = 0;

	while (names[i] != NULL && strcmp(names[i], name) != 0)
		i++;
	return names[i] != NULL ? i : 0;
}

static void read_measured(const struct runs_row *row, struct validate_case *out)
{
	const char *peak = runs_get(row, "measured_peak_mem_gb");
	bool analytic =
		strcmp(out->mem_kind, "active") == 0 || strcmp(out->mem_kind, "model_states") == 0; /* computed, not seen */
	double bytes = runs_number(row, "measured_peak_mem_gb", 0) *
		(strcmp(runs_get(row, "mem_unit"), "GB") == 0 ? UNITS_GB : UNITS_GIB);

	out->counter = index_of(validate_counter_names, runs_get(row, "counter"));
	out->ranks = index_of(validate_ranks_names, runs_get(row, "ranks"));
	if (bytes > 0 && bytes < 1e15)
		out->measured_bytes = (int64_t)bytes;
	out->unfused_memory = strcmp(runs_get(row, "memory_attention"), "unfused") == 0;
	if (strcmp(peak, "OOM") == 0)
		out->fit = FIT_NO;
	else if (strcmp(peak, "FIT") == 0 || (out->measured_bytes > 0 && !analytic))
		out->fit = FIT_YES;
	out->one_layer = strcmp(runs_get(row, "one_layer"), "1") == 0;
}

/* What a planner cannot do without. */
static const char *missing(const struct runs_row *row)
{
	if (runs_number(row, "num_gpus", 0) < 1)
		return "no number of GPUs is published";
	if (runs_number(row, "global_batch", 0) < 1)
		return "no global batch is published";
	if (runs_number(row, "hidden", 0) < 1 && runs_number(row, "params", 0) < 1 && runs_get(row, "preset")[0] == '\0')
		return "no shape of the model is published";
	return NULL;
}

static void map_row(struct runs_row *row, const struct catalog *c, const struct coefficients *set, struct validate_case *out)
{
	struct draft d;
	struct err e;
	const char *lack;

	runs_set(row, "global_batch_published", runs_get(row, "global_batch"));
	runs_set(row, "num_gpus_published", runs_get(row, "num_gpus"));
	runs_set(row, "micro_batch_published", runs_get(row, "micro_batch"));
	for (size_t i = 0; i < runs_rules_n; i++)
		runs_apply(row, &runs_rules[i]);
	settle_profile(row, c);
	derive(row);
	(void)snprintf(out->id, sizeof out->id, "%s", runs_get(row, "id"));
	(void)snprintf(out->source, sizeof out->source, "%s", runs_get(row, "source"));
	(void)snprintf(out->mem_kind, sizeof out->mem_kind, "%s", runs_get(row, "mem_kind"));
	(void)snprintf(out->flag, sizeof out->flag, "%s", runs_get(row, "flag"));
	(void)snprintf(out->assumed, sizeof out->assumed, "%s", row->assumed);
	out->calibration_time = strstr(runs_get(row, "calibration"), "time") != NULL;
	out->calibration_memory = strstr(runs_get(row, "calibration"), "memory") != NULL;
	read_measured(row, out);
	skip(out, runs_get(row, "skip"));
	lack = missing(row);
	if (lack != NULL)
		skip(out, lack);
	if (row->full)
		skip(out, "the row is too long");
	draft_init_blank(&d, c);
	d.s.coefficients = *set;
	if (set_knobs(row, c, &d, &e) != ERR_OK)
		skip(out, e.msg);
	draft_settle(&d, c);
	out->scenario = d.s;
	out->measured_step_s = measured_step(row, &d.s);
	if (out->measured_step_s <= 0 && out->fit == FIT_UNKNOWN && out->measured_bytes == 0)
		skip(out, "neither step time nor memory is published");
}

/* The table */

struct header {
	size_t n;
	const char *name[CSVFILE_FIELDS];
};

static enum err_code read_header(struct csvfile *f, struct header *h, struct err *e)
{
	enum err_code code = csvfile_next(f, e);
	bool id = false;

	if (code != ERR_OK)
		return code;
	h->n = f->n;
	for (size_t i = 0; i < f->n; i++) {
		h->name[i] = f->field[i];
		id = id || strcmp(f->field[i], "id") == 0;
	}
	return id ? ERR_OK : err_set(e, ERR_FILE, f->name, "a table of runs needs a header with the column id");
}

static enum err_code refuse_long(const struct csvfile *f, const struct header *h, struct err *e)
{
	char place[ERR_WHERE_CAP];

	(void)snprintf(place, sizeof place, "%.100s:%lld:1", f->name, (long long)f->row_line);
	return err_set(e, ERR_FILE, place, "%zu fields; the header has %zu", f->n, h->n);
}

static enum err_code read_rows(
	struct csvfile *f, const struct catalog *c, const struct coefficients *set, struct runs *out, struct err *e)
{
	struct header h = { 0 };
	enum err_code code = read_header(f, &h, e);
	size_t cap = 0;

	while (code == ERR_OK) {
		struct runs_row row = { .n = 0 };

		code = csvfile_next(f, e);
		if (code != ERR_OK || f->n == 0)
			break;
		if (f->n > h.n)
			return refuse_long(f, &h, e);
		if (out->n == cap) {
			struct validate_case *more = realloc(out->cases, (cap = cap * 2 + 64) * sizeof *more);

			if (more == NULL)
				return err_set(e, ERR_INTERNAL, f->name, "out of memory");
			out->cases = more;
		}
		for (size_t i = 0; i < f->n; i++)
			if (f->field[i][0] != '\0')
				runs_set(&row, h.name[i], f->field[i]);
		memset(&out->cases[out->n], 0, sizeof out->cases[0]);
		map_row(&row, c, set, &out->cases[out->n++]);
	}
	return code;
}

enum err_code runs_parse(const char *name, const char *text, size_t len, const struct catalog *c, const struct coefficients *set,
	struct runs *out, struct err *e)
{
	char *copy = malloc(len + 1);
	struct csvfile f;
	enum err_code code;

	memset(out, 0, sizeof *out);
	if (copy == NULL)
		return err_set(e, ERR_INTERNAL, name, "out of memory");
	memcpy(copy, text, len);
	copy[len] = '\0';
	csvfile_start(&f, name, copy, len);
	code = read_rows(&f, c, set, out, e);
	free(copy);
	return code;
}

enum err_code runs_shipped(const struct catalog *c, const struct coefficients *set, struct runs *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < presets_data_n; i++)
		if (strcmp(presets_data_files[i].path, shipped_path) == 0)
			return runs_parse(shipped_path, (const char *)presets_data_bytes + presets_data_files[i].offset,
				presets_data_files[i].size, c, set, out, e);
	return err_set(e, ERR_INTERNAL, shipped_path, "is not built in");
}

/* A shipped row keeps its marks in whatever table it stands. */
static void take_marks(const struct runs *shipped, struct runs *out)
{
	for (size_t i = 0; i < out->n; i++)
		for (size_t k = 0; k < shipped->n; k++)
			if (strcmp(out->cases[i].id, shipped->cases[k].id) == 0) {
				out->cases[i].calibration_time = shipped->cases[k].calibration_time;
				out->cases[i].calibration_memory = shipped->cases[k].calibration_memory;
				memcpy(out->cases[i].flag, shipped->cases[k].flag, sizeof out->cases[i].flag);
				break;
			}
}

enum err_code runs_read(
	const char *path, const struct catalog *c, const struct coefficients *set, struct runs *out, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	struct runs shipped;
	enum err_code code = file_read(path, JSON_SIZE_MAX, &text, &len, e);

	memset(out, 0, sizeof *out);
	if (code != ERR_OK)
		return code;
	code = runs_parse(path, text, len, c, set, out, e);
	free(text);
	if (code != ERR_OK)
		return code;
	code = runs_shipped(c, set, &shipped, e);
	if (code == ERR_OK)
		take_marks(&shipped, out);
	runs_free(&shipped);
	return code;
}

void runs_free(struct runs *r)
{
	free(r->cases);
	memset(r, 0, sizeof *r);
}
