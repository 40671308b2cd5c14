/* The presets: those that are built in are complete and exact; those of users are added, or refused with a reason. */
#define _POSIX_C_SOURCE 200809L

#include "fields.h"
#include "json.h"
#include "knobs.h"
#include "model_file.h"
#include "presets.h"
#include "support.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct preset_store *store;
static const struct catalog *c;
static char dir[64];

static void setup(void)
{
	struct err e;

	ck_assert_msg(preset_store_new(&store, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	c = preset_store_catalog(store);
	(void)snprintf(dir, sizeof dir, "t_input_presets.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	preset_store_free(store);
	for (size_t k = 0; k < PRESET_KIND_COUNT; k++) {
		char path[128];

		(void)snprintf(path, sizeof path, "%s/%s/x.json", dir, preset_kind_names[k]);
		(void)unlink(path);
		(void)snprintf(path, sizeof path, "%s/%s", dir, preset_kind_names[k]);
		(void)rmdir(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static FILE *open_data(const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/tests/data/%s", top != NULL ? top : ".", name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	return f;
}

START_TEST(every_model_has_its_exact_total_and_active_parameters)
{
	FILE *f = open_data("model_params.csv");
	char line[1024], id[MODEL_ID_CAP];
	int64_t total, active, with_mtp;
	size_t n = 0;

	while (fgets(line, sizeof line, f) != NULL) {
		const struct model *m = NULL;
		char *comma = strchr(line, ',');

		if (line[0] == '#' || strncmp(line, "id,", 3) == 0 || comma == NULL)
			continue;
		ck_assert_uint_lt((size_t)(comma - line), sizeof id);
		memcpy(id, line, (size_t)(comma - line));
		id[comma - line] = '\0';
		total = strtoll(comma + 1, &comma, 10);
		active = strtoll(comma + 1, &comma, 10);
		with_mtp = strtoll(comma + 1, &comma, 10);
		ck_assert_int_eq(catalog_model(c, id, &m, NULL), ERR_OK);
		ck_assert_str_eq(m->id, id);
		ck_assert_msg(model_params(m) == total, "%s: %" PRId64 ", not %" PRId64, id, model_params(m), total);
		ck_assert_msg(model_active_params(m) == active, "%s: %" PRId64 " active, not %" PRId64, id,
			model_active_params(m), active);
		ck_assert_msg(model_params(m) + model_mtp_params(m) == with_mtp, "%s with MTP", id);
		n++;
	}
	(void)fclose(f);
	ck_assert_uint_ge(n, 128); /* a model that is added later needs no row */
}
END_TEST

START_TEST(the_catalog_is_complete_and_in_order)
{
	ck_assert_uint_ge(c->n_models, 128);
	ck_assert_uint_ge(c->n_gpus, 51);
	ck_assert_uint_ge(c->n_nodes, 62);
	ck_assert_str_eq(c->models[0].id, "gpt2-124m");
	ck_assert_str_eq(c->gpus[0].id, "v100-sxm2-16gb");
	ck_assert_str_eq(c->nodes[0].id, "lesson-default");
	for (size_t k = 0; k < PRESET_KIND_COUNT; k++)
		ck_assert_uint_gt(preset_store_count(store, (enum preset_kind)k), 0);
	for (size_t i = 0; i < c->n_models; i++)
		ck_assert_str_eq(preset_store_id(store, PRESET_KIND_MODEL, i), c->models[i].id);
}
END_TEST

/* Whoever looks into a file must find where its numbers come from. */
START_TEST(every_built_in_preset_names_its_sources)
{
	for (size_t k = 0; k < PRESET_KIND_COUNT; k++) {
		for (size_t i = 0; i < preset_store_count(store, (enum preset_kind)k); i++) {
			const char *id = preset_store_id(store, (enum preset_kind)k, i), *from = NULL, *text;
			cJSON *root = NULL, *source;
			size_t len = 0;

			text = preset_store_text(store, (enum preset_kind)k, id, &len, &from);
			ck_assert_ptr_nonnull(text);
			ck_assert_str_eq(from, "built in");
			ck_assert_int_eq(json_parse(id, text, len, &root, NULL), ERR_OK);
			source = cJSON_GetObjectItemCaseSensitive(root, "source");
			ck_assert_msg(
				(cJSON_IsArray(source) && cJSON_GetArraySize(source) > 0) || cJSON_IsString(source), "%s", id);
			cJSON_Delete(root);
		}
	}
	ck_assert_ptr_null(preset_store_text(store, PRESET_KIND_GPU, "no-such", &(size_t){ 0 }, &(const char *){ NULL }));
}
END_TEST

/* A profile that models more than states has constants that no source gives: it says which, or as whose they are taken. */
START_TEST(every_profile_says_what_it_assumes)
{
	for (size_t i = 0; i < preset_store_count(store, PRESET_KIND_PROFILE); i++) {
		const char *id = preset_store_id(store, PRESET_KIND_PROFILE, i), *from = NULL, *text;
		cJSON *root = NULL, *notes;
		size_t len = 0;

		text = preset_store_text(store, PRESET_KIND_PROFILE, id, &len, &from);
		ck_assert_int_eq(json_parse(id, text, len, &root, NULL), ERR_OK);
		notes = cJSON_GetObjectItemCaseSensitive(root, "notes");
		if (cJSON_GetObjectItemCaseSensitive(root, "models-activations") != NULL)
			ck_assert_msg(cJSON_IsString(notes) && strstr(notes->valuestring, "assumption") != NULL, "%s", id);
		cJSON_Delete(root);
	}
}
END_TEST

START_TEST(gpu_numbers_are_plausible)
{
	for (size_t i = 0; i < c->n_gpus; i++) {
		const struct gpu *g = &c->gpus[i];

		ck_assert_msg(g->mem_nominal_bytes >= 15000000000 && g->mem_nominal_bytes <= 300000000000, "%s", g->id);
		/* CUDA never hands out more than nvidia-smi shows, and takes away less than 1 GiB (B-class parts apart). */
		ck_assert_msg(g->mem_cuda_bytes <= g->mem_smi_bytes || g->mem_smi_bytes == 0, "%s", g->id);
		ck_assert_msg(g->mem_bw_bps >= 100e9 && g->mem_bw_bps <= 10e12, "%s", g->id);
		/* Dense peaks: a sparse number would be twice too large. */
		ck_assert_msg(g->bf16_flops <= 2.6e15 && g->fp8_flops <= 5.1e15, "%s", g->id);
		ck_assert_msg(g->link_bps <= 900e9, "%s: a link counts one direction", g->id);
		ck_assert_msg(g->year >= 2017 && g->gpus_per_node >= 1, "%s", g->id);
	}
}
END_TEST

START_TEST(the_cards_of_the_lesson_have_their_numbers)
{
	const struct gpu *g = NULL;

	ck_assert_int_eq(catalog_gpu(c, "h100", &g, NULL), ERR_OK);
	ck_assert_int_eq(g->mem_nominal_bytes, 80000000000);
	ck_assert_int_eq(g->mem_cuda_bytes, 84986665370); /* 79.15 GiB */
	ck_assert_int_eq(g->mem_cuda_derived, 0);
	ck_assert_double_eq(g->bf16_flops, 989.4e12);
	ck_assert_double_eq(g->link_bps, 450e9);
	ck_assert_double_eq(g->usd_per_hour, 3.5);
	ck_assert_int_eq(catalog_gpu(c, "b200", &g, NULL), ERR_OK);
	ck_assert_int_eq(g->mem_cuda_derived, 1); /* 179.06 - 0.6 GiB */
	ck_assert_int_eq(g->mem_cuda_bytes, 191619965911);
}
END_TEST

/* One place for each fact: what a built-in GPU costs is the first of its prices and stands nowhere else. */
START_TEST(a_built_in_gpu_costs_the_first_of_its_prices)
{
	size_t seen = 0;

	for (size_t i = 0; i < c->n_gpus; i++) {
		size_t n, len = 0;
		const struct gpu_price *prices = catalog_prices(c, c->gpus[i].id, &n);
		const char *from, *file = preset_store_text(store, PRESET_KIND_GPU, c->gpus[i].id, &len, &from);
		char text[1 << 14];

		ck_assert_uint_lt(len, sizeof text);
		memcpy(text, file, len);
		text[len] = '\0';
		ck_assert_msg(strstr(text, "\"usd-per-hour\"") == NULL, "%s", c->gpus[i].id);
		ck_assert_double_eq(c->gpus[i].usd_per_hour, n > 0 ? prices[0].usd_per_hour : 0);
		ck_assert_str_eq(c->gpus[i].usd_provider, n > 0 ? prices[0].provider : "");
		seen += n;
	}
	ck_assert_uint_eq(seen, c->n_prices);
	ck_assert_uint_ge(seen, 80);
}
END_TEST

START_TEST(a_price_is_found_by_provider_and_kind)
{
	const struct gpu_price *p = NULL;
	struct err e = { .code = ERR_OK };

	ck_assert_int_eq(catalog_price(c, "h100-sxm-80gb", "nebius", &p, NULL), ERR_OK);
	ck_assert_double_eq(p->usd_per_hour, 2.95);
	ck_assert_int_eq(p->kind, PRICE_ON_DEMAND);
	ck_assert_int_eq(catalog_price(c, "h100-sxm-80gb", "DataCrunch spot", &p, NULL), ERR_OK);
	ck_assert_double_eq(p->usd_per_hour, 0.8);
	/* On demand before reserved, although the reserved one stands first in the file. */
	ck_assert_int_eq(catalog_price(c, "h100-sxm-80gb", "aws", &p, NULL), ERR_OK);
	ck_assert_str_eq(p->provider, "AWS p5");
	ck_assert_int_eq(catalog_price(c, "h100-sxm-80gb", "spot", &p, &e), ERR_USAGE);
	ck_assert_ptr_nonnull(strstr(e.msg, "Nebius spot, Verda (DataCrunch) spot"));
	ck_assert_int_eq(catalog_price(c, "h100-pcie-80gb", "nebius", &p, &e), ERR_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(e.msg, "legal: USD per GPU hour"));
}
END_TEST

START_TEST(keys_of_a_model_preset_are_knobs)
{
	for (size_t i = 0; i < model_fields.n; i++) {
		const char *key = model_fields.rows[i].key;

		if (model_fields.rows[i].type == FIELD_TEXT) /* names */
			continue;
		ck_assert_msg(knob_find(key) != NULL, "%s", key);
		/* What a preset may say, --KEY may say too. */
		if (model_fields.rows[i].type == FIELD_INT)
			ck_assert_msg(knob_find(key)->max >= model_fields.rows[i].max, "%s", key);
	}
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		size_t f = 0;

		if (!(k->flags & KNOB_F_SHAPE) || k->type == KNOB_PARAMS || k->type == KNOB_BIAS)
			continue;
		while (f < model_fields.n && strcmp(model_fields.rows[f].key, k->key) != 0)
			f++;
		ck_assert_msg(f < model_fields.n, "%s", k->key);
	}
}
END_TEST

START_TEST(a_written_model_reads_back)
{
	for (size_t i = 0; i < c->n_models; i++) {
		const struct json_place place = { .file = "out.json" };
		static const char *const also[] = { "source", NULL };
		struct model back = { .layers = 0 };
		cJSON *root = NULL;
		char text[4096];
		struct sink out;
		struct err e;

		sink_init(&out, text, sizeof text, NULL, NULL);
		model_file_write(&c->models[i], "test", "import", "2026-11-29", &out);
		ck_assert(sink_finish(&out));
		ck_assert_msg(json_parse("out.json", text, out.len, &root, &e) == ERR_OK, "%s %s\n%s", e.where, e.msg, text);
		ck_assert_msg(model_file_parse(root, &place, also, &back, &e) == ERR_OK, "%s %s\n%s", e.where, e.msg, text);
		cJSON_Delete(root);
		for (size_t f = 0; f < model_fields.n; f++) {
			const struct field *row = &model_fields.rows[f];

			ck_assert_msg(row->type == FIELD_TEXT ||
					memcmp((const char *)&back + row->offset, (const char *)&c->models[i] + row->offset,
						row->size) == 0,
				"%s of %s", row->key, c->models[i].id);
		}
		ck_assert_str_eq(back.id, c->models[i].id);
	}
}
END_TEST

/* ---- user files ---- */

static void put_file(const char *kind, const char *text)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", dir, kind);
	(void)mkdir(path, 0700);
	(void)snprintf(path, sizeof path, "%s/%s/x.json", dir, kind);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	(void)fclose(f);
}

/* clang-format off */
#define FAMILY                                                                                                                    \
	"\"label\": \"x\", \"source\": \"x\", \"generation\": \"ampere\", \"bf16-at-2-gflop\": 1, \"bf16-at-8-gflop\": 1, "               \
	"\"bf16-at-32-gflop\": 1, \"bf16-at-128-gflop\": 1, \"bf16-at-512-gflop\": 1, \"bf16-at-2048-gflop\": 1, "                 \
	"\"bf16-at-8192-gflop\": 1, \"tile-m\": 1, \"tile-n\": 1, \"multiprocessors\": 1, \"gather-bw\": 1, \"all-to-all-bw\": 1, " \
	"\"small-head-factor\": 1"
#define SHAPE "\"layers\": 2, \"hidden\": 64, \"heads\": 4, \"ffn\": 256, \"vocab\": 1000, \"max-seq\": 512"
/* clang-format on */

START_TEST(a_user_model_is_added_with_defaults)
{
	const struct model *m = NULL;
	struct err e = { .msg = "" };

	put_file("models", "{\"id\": \"my-model\", " SHAPE "}");
	ck_assert_msg(preset_store_add_dir(store, dir, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	c = preset_store_catalog(store);
	ck_assert_uint_eq(c->n_models, 129);
	ck_assert_int_eq(catalog_model(c, "my-model", &m, &e), ERR_OK);
	ck_assert_ptr_eq(m, &c->models[128]); /* last: it gives no order */
	ck_assert_str_eq(m->label, "my-model");
	ck_assert_int_eq(m->kv_heads, 4);
	ck_assert_int_eq(m->head_dim, 16);
	ck_assert_int_eq(m->attention_type, ATTENTION_MHA);
	ck_assert_int_eq(m->norms_per_layer, 2);
	ck_assert_int_eq(m->final_norm, 1);
	ck_assert_int_eq(m->rope, 1);
}
END_TEST

START_TEST(a_user_gpu_replaces_a_built_in_one_in_its_place)
{
	const struct gpu *g = NULL;
	const char *from = NULL;
	size_t len, before = c->n_gpus;
	struct err e = { .msg = "" };
	ptrdiff_t place;

	ck_assert_int_eq(catalog_gpu(c, "h100", &g, &e), ERR_OK);
	place = g - c->gpus;

	put_file("gpus",
		"{\"id\": \"h100-sxm-80gb\", \"form\": \"sxm\", \"mem-nominal\": \"80GB\", \"mem-cuda\": \"70GiB\", \"tdp\": "
		"500}");
	ck_assert_msg(preset_store_add_dir(store, dir, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	c = preset_store_catalog(store);
	ck_assert_uint_eq(c->n_gpus, before);
	ck_assert_int_eq(catalog_gpu(c, "h100", &g, &e), ERR_OK);
	ck_assert_int_eq(g->mem_cuda_bytes, INT64_C(70) << 30);
	ck_assert_double_eq(g->tdp_w, 500);
	ck_assert_int_eq(g - c->gpus, place);
	ck_assert_ptr_nonnull(preset_store_text(store, PRESET_KIND_GPU, "h100-sxm-80gb", &len, &from));
	ck_assert_ptr_nonnull(strstr(from, "gpus/x.json"));
}
END_TEST

static int defaults_of(int32_t framework)
{
	int n = 0;

	for (size_t i = 0; i < c->n_profiles; i++)
		n += c->profiles[i].framework == framework && c->profiles[i].is_default;
	return n;
}

START_TEST(a_framework_has_one_default_and_the_users_wins)
{
	struct err e = { .msg = "" };

	for (int32_t f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_COUNT; f++)
		ck_assert_msg(defaults_of(f) == 1, "%s", framework_names[f]);
	put_file("frameworks",
		"{\"id\": \"mine\", \"label\": \"mine\", \"date\": \"now\", \"source\": \"me\", \"framework\": \"fsdp\", "
		"\"default\": true}");
	ck_assert_msg(preset_store_add_dir(store, dir, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	c = preset_store_catalog(store);
	ck_assert_str_eq(catalog_default_profile(c, FRAMEWORK_FSDP)->id, "mine");
	ck_assert_int_eq(defaults_of(FRAMEWORK_FSDP), 1);
	ck_assert_int_eq(catalog_default_profile(c, FRAMEWORK_FSDP)->is_default, 1);
}
END_TEST

/* clang-format off */
static const struct {
	const char *kind, *text, *pointer, *says;
} bad_files[] = {
	{ "models", "", "", "is empty" },
	{ "models", "{", "", "truncated" },
	{ "models", "{\"id\": \"x\"}", "/layers", "missing" },
	{ "models", "{\"id\": \"x\", \"layer\": 2}", "/layer", "nearest: layers" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"layers\": 3}", "/layers", "twice" },
	{ "models", "{\"id\": \"x\", \"layers\": \"2\"}", "/layers", "\"2\" is not a number" },
	{ "models", "{\"id\": \"x\", \"layers\": 2.5}", "/layers", "2.5 is not a whole number; nearest: 3" },
	{ "models", "{\"id\": \"x\", \"layers\": -2}", "/layers", "-2 is out of range; legal: 1 to" },
	{ "models", "{\"id\": \"x\", \"layers\": 1e400}", "/layers", "too large" },
	{ "models", "{\"id\": \"x\", \"layers\": null}", "/layers", "null is not a number" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"gated-mlp\": 1}", "/gated-mlp", "1 is neither true nor false" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"norm\": \"rmss\"}", "/norm", "nearest: rms" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"kv-heads\": 3}", "/kv-heads", "does not divide" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"attention-type\": \"mqa\"}", "/attention-type", "legal here: mha" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"experts\": 4}", "/topk", "topk 0" },
	{ "models", "{\"id\": \"My Model\", " SHAPE "}", "/id", "small letters" },
	{ "models", "{\"id\": \"\", " SHAPE "}", "/id", "is not an id" },
	{ "models", "{\"id\": 3, " SHAPE "}", "/id", "not a text" },
	{ "models", "{\"id\": \"x\", \"layers\": 2, \"hidden\": 64, \"heads\": 5, \"ffn\": 256, \"vocab\": 1000, \"max-seq\": "
		"512}", "/head-dim", "not a multiple" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"source\": [{\"where\": \"here\"}]}", "/source/0/kind", "missing" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"source\": {}}", "/source", "array of objects" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"published\": {\"params\": -1}}", "/published/params", "out of range" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"order\": \"first\"}", "/order", "not a number" },
	{ "models", "{\"id\": \"x\", " SHAPE ", \"prices\": []}", "/prices", "no key 'prices'" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\"}", "/mem-nominal", "missing" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": \"80G\"}", "/mem-nominal", "'80G' is not a size" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": -1}", "/mem-nominal", "out of range" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": true}", "/mem-nominal", "true is not a size" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm4\", \"mem-nominal\": \"80GB\"}", "/form", "nearest: sxm" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": \"80GB\", \"bf16-tflops\": \"312\"}", "/bf16-tflops",
		"not a number" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": \"80GB\", \"prices\": [{\"usd_per_gpu_hour\": \"2\"}]}",
	  "/prices/0/usd_per_gpu_hour", "not a number" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": \"80GB\", \"prices\": [{\"usd_per_gpu_hour\": 2, \"kind\": \"gift\"}]}",
	  "/prices/0/kind", "there is no 'gift'" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": \"80GB\", \"prices\": {}}", "/prices", "array of objects" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": \"80GB\", \"bf16-tflops\": 1e-300}", "/bf16-tflops",
		"smaller than what counts; nearest: 0, 1e-12" },
	{ "gpus", "{\"id\": \"x\", \"form\": \"sxm\", \"mem-nominal\": 80}", "/mem-nominal", "less than a megabyte" },
	{ "families", "{\"id\": \"x\", " FAMILY ", \"all-reduce-bw\": 0}", "/all-reduce-bw", "legal: 0.001 to" },
	{ "families", "{\"id\": \"x\", " FAMILY ", \"all-reduce-bw\": 1, \"fp8-at-2-gflop\": 1}", "/fp8-at-2-gflop", "legal: all 7 or none" },
	{ "nodes", "{\"id\": \"x\", \"gpu\": \"h900\", \"gpus-per-node\": 8}", "/gpu", "there is no gpu 'h900'" },
	{ "nodes", "{\"id\": \"x\", \"gpu\": \"h100\", \"gpus-per-node\": 8}", "/gpu", "nearest: h100-sxm-80gb" },
	{ "nodes", "{\"id\": \"x\", \"gpu\": \"h100-sxm-80gb\", \"gpus-per-node\": 0}", "/gpus-per-node",
		"0 is out of range; legal: 1 to 1024" },
	{ "frameworks", "{\"id\": \"x\", \"label\": \"x\", \"date\": \"now\", \"source\": \"me\", \"framework\": \"megatorn\"}",
		"/framework",
	  "nearest: megatron" },
};
/* clang-format on */

START_TEST(a_bad_user_file_is_named_with_its_fault)
{
	char where[200];
	struct err e = { .msg = "" };

	put_file(bad_files[_i].kind, bad_files[_i].text);
	ck_assert_int_eq(preset_store_add_dir(store, dir, &e), ERR_FILE);
	(void)snprintf(where, sizeof where, "%s/%s/x.json", dir, bad_files[_i].kind);
	ck_assert_msg(strncmp(e.where, where, strlen(where)) == 0, "%s", e.where);
	ck_assert_msg(bad_files[_i].pointer[0] == '\0' || strcmp(e.where + strlen(where) + 1, bad_files[_i].pointer) == 0,
		"%s: %s", e.where, e.msg);
	ck_assert_msg(strstr(e.msg, bad_files[_i].says) != NULL, "%s: %s", e.where, e.msg);
}
END_TEST

START_TEST(directories_that_hold_no_presets_are_refused)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(preset_store_add_dir(store, "no/such/dir", &e), ERR_FILE);
	ck_assert_str_eq(e.where, "no/such/dir");
	ck_assert_int_eq(preset_store_add_dir(store, dir, &e), ERR_FILE);
	ck_assert_ptr_nonnull(strstr(e.msg, "none of the directories"));
}
END_TEST

START_TEST(the_users_own_directory_is_optional)
{
	char home[512], path[600], cwd[400];
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
	(void)snprintf(home, sizeof home, "%s/%s", cwd, dir);
	ck_assert_int_eq(preset_store_add_user(store, NULL, NULL, &e), ERR_OK);
	ck_assert_int_eq(preset_store_add_user(store, NULL, home, &e), ERR_OK);
	ck_assert_int_eq(preset_store_add_user(store, "", home, &e), ERR_OK);
	/* A relative XDG_CONFIG_HOME is ignored, as its specification says. */
	ck_assert_int_eq(preset_store_add_user(store, dir, NULL, &e), ERR_OK);
	(void)snprintf(path, sizeof path, "%s/meshplan", home);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	(void)snprintf(path, sizeof path, "%s/meshplan/presets", home);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(preset_store_add_user(store, home, NULL, &e), ERR_FILE);
	ck_assert_str_eq(e.where, path);
	ck_assert_int_eq(rmdir(path), 0);
	(void)snprintf(path, sizeof path, "%s/meshplan", home);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(sizes_and_units_of_the_fields_are_sane)
{
	const struct field_table *const tables[] = { &model_fields, &gpu_fields, &node_fields, &profile_fields };

	for (size_t t = 0; t < 4; t++) {
		ck_assert_uint_le(tables[t]->n, FIELDS_MAX);
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct field *f = &tables[t]->rows[i];

			ck_assert_msg(f->offset + f->size <= tables[t]->struct_size, "%s", f->key);
			ck_assert_msg(f->help != NULL && f->help[0] != '\0', "%s", f->key);
			ck_assert_msg(f->type == FIELD_TEXT || f->type == FIELD_NAME || f->max > f->min, "%s", f->key);
			for (size_t k = 0; k < i; k++)
				ck_assert_str_ne(f->key, tables[t]->rows[k].key);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("input: presets");
	TCase *t = tcase_create("presets");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_model_has_its_exact_total_and_active_parameters);
	tcase_add_test(t, the_catalog_is_complete_and_in_order);
	tcase_add_test(t, every_built_in_preset_names_its_sources);
	tcase_add_test(t, every_profile_says_what_it_assumes);
	tcase_add_test(t, gpu_numbers_are_plausible);
	tcase_add_test(t, the_cards_of_the_lesson_have_their_numbers);
	tcase_add_test(t, a_built_in_gpu_costs_the_first_of_its_prices);
	tcase_add_test(t, a_price_is_found_by_provider_and_kind);
	tcase_add_test(t, keys_of_a_model_preset_are_knobs);
	tcase_add_test(t, a_written_model_reads_back);
	tcase_add_test(t, a_user_model_is_added_with_defaults);
	tcase_add_test(t, a_user_gpu_replaces_a_built_in_one_in_its_place);
	tcase_add_test(t, a_framework_has_one_default_and_the_users_wins);
	tcase_add_loop_test(t, a_bad_user_file_is_named_with_its_fault, 0, (int)(sizeof bad_files / sizeof bad_files[0]));
	tcase_add_test(t, directories_that_hold_no_presets_are_refused);
	tcase_add_test(t, the_users_own_directory_is_optional);
	tcase_add_test(t, sizes_and_units_of_the_fields_are_sane);
	suite_add_tcase(s, t);
	return test_run(s);
}
