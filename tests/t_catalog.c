/* Names: what a word on the command line means. Runs on the compiled-in presets. */
#include "catalog.h"
#include "support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct catalog *c;

static void setup(void)
{
	c = test_catalog();
}

/* clang-format off */
static const struct {
	const char *name, *id; /* id NULL: an error */
	const char *says;      /* part of its message */
} gpu_names[] = {
	{ "A100", "a100-sxm-80gb", NULL },
	{ "H100", "h100-sxm-80gb", NULL },
	{ "V100", "v100-sxm2-32gb", NULL },
	{ "4090", "rtx4090-24gb", NULL },
	{ "rtx4090", "rtx4090-24gb", NULL },
	{ "RTX 4090", "rtx4090-24gb", NULL },
	{ "3090", "rtx3090-24gb", NULL },
	{ "a6000", "rtxa6000-48gb", NULL },
	{ "h100-sxm", "h100-sxm-80gb", NULL },
	{ "H100_SXM", "h100-sxm-80gb", NULL },
	{ "h100sxm", "h100-sxm-80gb", NULL },
	{ "h100-96", "h100-sxm-96gb", NULL },
	{ "h100-nvl", "h100-nvl-94gb", NULL },
	{ "h100 pcie", "h100-pcie-80gb", NULL },
	{ "a100-40", "a100-sxm-40gb", NULL },
	{ "a100-pcie", "a100-pcie-80gb", NULL },
	{ "a100-pcie-40", "a100-pcie-40gb", NULL },
	{ "v100-16", "v100-sxm2-16gb", NULL },
	{ "h200", "h200-sxm-141gb", NULL },
	{ "b200", "b200-180gb", NULL },
	{ "gb200", "gb200-186gb", NULL },
	{ "gh200", "gh200-144gb", NULL },  /* the newest */
	{ "a10", "a10g-24gb", NULL },      /* not a100 */
	{ "l4", "l4-24gb", NULL },         /* not l40s */
	{ "l40", "l40s-48gb", NULL },
	{ "mi300", "mi300x-192gb", NULL },
	{ "H100-SXM-80GB", "h100-sxm-80gb", NULL },
	{ "rtxpro6000", NULL, "rtxpro6000-ws-96gb, rtxpro6000-server-96gb" },
	{ "trainium", NULL, "trainium1, trainium2" },
	{ "NVIDIA H100 80GB HBM3", "h100-sxm-80gb", NULL },
	{ "NVIDIA A100-SXM4-80GB", "a100-sxm-80gb", NULL },
	{ "NVIDIA A100 80GB PCIe", "a100-pcie-80gb", NULL },
	{ "Tesla V100-SXM2-32GB", "v100-sxm2-32gb", NULL },
	{ "NVIDIA RTX 6000 Ada Generation", "rtx6000ada-48gb", NULL },
	{ "AMD Instinct MI300X", "mi300x-192gb", NULL },
	{ "A100-80G-SXM", "a100-sxm-80gb", NULL },
	{ "NVIDIA H1000", NULL, "there is no gpu 'NVIDIA H1000'; nearest: h100" },
	{ "h10", NULL, "there is no gpu 'h10'; nearest: h100-pcie-80gb" },
	{ "H1", NULL, "there is no gpu 'H1'" },
	{ "A40", NULL, "there is no gpu 'A40'" }, /* a part of its own, not the A100 of 40 GB */
	{ "MI25", NULL, "there is no gpu 'MI25'" },
	{ "h100pcie80", "h100-pcie-80gb", NULL },
	{ "h1000", NULL, "nearest: h100-pcie-80gb, h100-sxm-80gb" },
	{ "h100-sxm-40gb", NULL, "nearest" },
	{ "hopper", NULL, "there is no gpu 'hopper'" },
	{ "", NULL, "there is no gpu ''" },
	{ "---", NULL, "there is no gpu '---'" },
};
/* clang-format on */

START_TEST(gpu_names_resolve_as_documented)
{
	const struct gpu *g = NULL;
	struct err e = { .msg = "" };
	enum err_code code = catalog_gpu(c, gpu_names[_i].name, &g, &e);

	if (gpu_names[_i].id != NULL) {
		ck_assert_msg(code == ERR_OK, "%s: %s", gpu_names[_i].name, e.msg);
		ck_assert_str_eq(g->id, gpu_names[_i].id);
		return;
	}
	ck_assert_str_eq(e.where, "gpu");
	ck_assert_msg(strstr(e.msg, gpu_names[_i].says) != NULL, "%s", e.msg);
	ck_assert_int_eq(code, strstr(e.msg, "may be one of") != NULL ? ERR_USAGE : ERR_UNKNOWN);
}
END_TEST

/* clang-format off */
static const struct {
	const char *name, *id, *says;
} model_names[] = {
	{ "llama3-70b", "llama3-70b", NULL },
	{ "Llama 3 70B", "llama3-70b", NULL },
	{ "llama-3-70b", "llama3-70b", NULL },
	{ "llama3-405b", "llama3.1-405b", NULL },
	{ "mistral7b", "mistral-7b", NULL },
	{ "qwen3-235b", "qwen3-235b-a22b", NULL },
	{ "kimi", "kimi-k2", NULL },
	{ "neox", "gpt-neox-20b", NULL },
	{ "mixtral", NULL, "mixtral-8x7b, mixtral-8x22b" },
	{ "llama-70b", NULL, "llama2-70b, llama3-70b, llama3.1-70b, llama3.3-70b" },
	{ "lama3-70b", NULL, "nearest: llama3-70b" },
	{ "gpt3", NULL, "gpt3-125m" },
	{ "meta-llama/Llama-2-7b-hf", "llama2-7b", NULL },
	{ "meta-llama/Meta-Llama-3.1-8B-Instruct", "llama3.1-8b", NULL },
	{ "mistralai/Mixtral-8x22B-Instruct-v0.1", "mixtral-8x22b", NULL },
	{ "deepseek-ai/DeepSeek-V3-Base", "deepseek-v3", NULL },
	{ "google/gemma-2-9b-it", "gemma2-9b", NULL },
	{ "openai-community/gpt2-xl", "gpt2-1.5b", NULL },
	{ "bigscience/bloom", "bloom-176b", NULL },
	{ "allenai/OLMo-2-1124-7B", "olmo2-7b", NULL },
	{ "nobody/Qwen9-72B", NULL, "there is no model 'nobody/Qwen9-72B'; nearest: qwen3" },
};
/* clang-format on */

START_TEST(model_names_resolve_or_list_what_they_may_mean)
{
	const struct model *m = NULL;
	struct err e = { .msg = "" };
	enum err_code code = catalog_model(c, model_names[_i].name, &m, &e);

	if (model_names[_i].id != NULL) {
		ck_assert_msg(code == ERR_OK, "%s: %s", model_names[_i].name, e.msg);
		ck_assert_str_eq(m->id, model_names[_i].id);
		return;
	}
	ck_assert_msg(strstr(e.msg, model_names[_i].says) != NULL, "%s", e.msg);
	ck_assert_int_eq(code, strstr(e.msg, "may be one of") != NULL ? ERR_USAGE : ERR_UNKNOWN);
}
END_TEST

START_TEST(every_id_resolves_to_itself_in_any_case)
{
	struct err e;

	for (size_t i = 0; i < c->n_models; i++) {
		const struct model *m = NULL;
		char upper[MODEL_ID_CAP];

		for (size_t k = 0; k < sizeof upper; k++)
			upper[k] = c->models[i].id[k] >= 'a' && c->models[i].id[k] <= 'z' ? (char)(c->models[i].id[k] - 32)
											  : c->models[i].id[k];
		ck_assert_int_eq(catalog_model(c, upper, &m, &e), ERR_OK);
		ck_assert_ptr_eq(m, &c->models[i]);
	}
	for (size_t i = 0; i < c->n_gpus; i++) {
		const struct gpu *g = NULL;

		ck_assert_int_eq(catalog_gpu(c, c->gpus[i].id, &g, &e), ERR_OK);
		ck_assert_ptr_eq(g, &c->gpus[i]);
	}
	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct node *n = NULL;

		ck_assert_int_eq(catalog_node(c, c->nodes[i].id, &n, &e), ERR_OK);
		ck_assert_ptr_eq(n, &c->nodes[i]);
	}
	for (size_t i = 0; i < c->n_profiles; i++) {
		const struct profile *p = NULL;

		ck_assert_int_eq(catalog_profile(c, c->profiles[i].id, &p, &e), ERR_OK);
		ck_assert_ptr_eq(p, &c->profiles[i]);
	}
}
END_TEST

/* Who has four cards of a workstation has one machine. */
START_TEST(a_gpu_without_a_dgx_comes_in_the_node_that_holds_all)
{
	static const struct {
		int64_t gpus;
		const char *node;
	} rows[] = { { 1, "workstation-1x4090" }, { 2, "workstation-2x4090" }, { 3, "workstation-4x4090" },
		{ 4, "workstation-4x4090" }, { 16, "workstation-4x4090" } };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ck_assert_str_eq(catalog_default_node(c, "rtx4090-24gb", rows[i].gpus)->id, rows[i].node);
}
END_TEST

START_TEST(a_gpu_comes_in_its_dgx_then_hgx_then_first_node)
{
	static const char *const pairs[][2] = {
		{ "h100-sxm-80gb", "dgx-h100" },
		{ "a100-sxm-80gb", "dgx-a100-80" },
		{ "v100-sxm2-32gb", "dgx1-v100" },
		{ "mi300x-192gb", "mi300x-oem" },
		{ "a100-pcie-80gb", "azure-nc96ads-a100-v4" },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const struct node *n = catalog_default_node(c, pairs[i][0], 16);

		ck_assert_ptr_nonnull(n);
		ck_assert_str_eq(n->id, pairs[i][1]);
	}
	ck_assert_ptr_null(catalog_default_node(c, "mi100-32gb", 1));
}
END_TEST

START_TEST(every_framework_has_a_default_profile)
{
	for (int32_t f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_COUNT; f++) {
		const struct profile *p = catalog_default_profile(c, f);

		ck_assert_msg(p != NULL, "%s", framework_names[f]);
		ck_assert_msg(p->is_default, "%s", p->id);
	}
	ck_assert_ptr_null(catalog_default_profile(c, FRAMEWORK_AUTO));
}
END_TEST

START_TEST(edit_distance_counts_transpositions_once)
{
	ck_assert_int_eq(catalog_distance("", ""), 0);
	ck_assert_int_eq(catalog_distance("abc", "ABC"), 0);
	ck_assert_int_eq(catalog_distance("zero", "zreo"), 1);
	ck_assert_int_eq(catalog_distance("kitten", "sitting"), 3);
	ck_assert_int_eq(catalog_distance("", "abc"), 3);
	ck_assert_int_eq(catalog_distance("ca", "abc"), 3); /* optimal string alignment */
	ck_assert_int_eq(
		catalog_distance(
			"a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		99);
}
END_TEST

static const char *word_at(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

START_TEST(nearest_lists_three_best_first)
{
	static const char *const words[] = { "recompute", "recompute-every", "micro-batch", "zero", "zero-group" };
	char buf[100];

	ck_assert_str_eq(catalog_nearest("zreo", 5, word_at, words, buf, sizeof buf), "zero, zero-group, recompute");
	ck_assert_str_eq(
		catalog_nearest("recompute-evry", 5, word_at, words, buf, sizeof buf), "recompute-every, recompute, micro-batch");
	ck_assert_str_eq(catalog_nearest("x", 0, word_at, words, buf, sizeof buf), "");
	/* Cut to the buffer, always terminated. */
	ck_assert_uint_lt(strlen(catalog_nearest("zero", 5, word_at, words, buf, 8)), 8);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("catalog");
	TCase *t = tcase_create("catalog");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, gpu_names_resolve_as_documented, 0, (int)(sizeof gpu_names / sizeof gpu_names[0]));
	tcase_add_loop_test(
		t, model_names_resolve_or_list_what_they_may_mean, 0, (int)(sizeof model_names / sizeof model_names[0]));
	tcase_add_test(t, every_id_resolves_to_itself_in_any_case);
	tcase_add_test(t, a_gpu_comes_in_its_dgx_then_hgx_then_first_node);
	tcase_add_test(t, a_gpu_without_a_dgx_comes_in_the_node_that_holds_all);
	tcase_add_test(t, every_framework_has_a_default_profile);
	tcase_add_test(t, edit_distance_counts_transpositions_once);
	tcase_add_test(t, nearest_lists_three_best_first);
	suite_add_tcase(s, t);
	return test_run(s);
}
