/* The free-form scenario: which words mean what. */
#include "words.h"

#include "presets.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct row {
	const char *words, *model, *params, *gpus, *gpu;
} rows[] = {
	{ "70B on 8xA100", "", "70B", "8", "A100" },
	{ "70b 8 x a100", "", "70b", "8", "a100" },
	{ "70B on 8x A100", "", "70B", "8", "A100" },
	{ "70B on 8 xA100", "", "70B", "8", "A100" },
	{ "70B on 8 A100 GPUs", "", "70B", "8", "A100" },
	{ "70B on 8 \xC3\x97 A100", "", "70B", "8", "A100" },
	{ "8xA100 70B", "", "70B", "8", "A100" },
	{ "8 A100 SXM 80GB for 70B", "", "70B", "8", "A100-SXM-80GB" },
	{ "64xH100 llama3-70b", "llama3-70b", "", "64", "H100" },
	{ "64xH100 llama 3 70b", "llama-3-70b", "", "64", "H100" },
	{ "2 nodes of 8xH100 dir/config.json", "dir/config.json", "", "16", "H100" },
	{ "on dgx-h100 8B", "", "8B", "8", "h100-sxm-80gb" },
	{ "70B ON A100", "", "70B", "", "A100" },
	{ "1.5T 1024xh100-sxm", "", "1.5T", "1024", "h100-sxm" },
	{ "llama3-70b 16xh100-sxm", "llama3-70b", "", "16", "h100-sxm" },
	{ "llama3 70b on 16xh100", "llama3-70b", "", "16", "h100" },
	{ "Llama 3 70B on 64 H100", "Llama-3-70B", "", "64", "H100" },
	{ "llama3-70b h100", "llama3-70b", "", "", "h100" },
	{ "mixtral 8x7b on 8xh100", "mixtral-8x7b", "", "8", "h100" },
	{ "mixtral-8x7b 2 x 4090", "mixtral-8x7b", "", "2", "4090" },
	{ "a/config.json on 8 x A100 SXM 80GB", "a/config.json", "", "8", "A100-SXM-80GB" },
	{ "  70B  ", "", "70B", "", "" },
	{ "70 B on 8xA100", "", "70B", "8", "A100" },
	{ "Qwen/Qwen2.5-72B-Instruct 8xh200", "Qwen/Qwen2.5-72B-Instruct", "", "8", "h200" },
	{ "8B on 8 x NVIDIA A100-SXM4-80GB", "", "8B", "8", "NVIDIA-A100-SXM4-80GB" },
	{ "8B on 2x8xH100", "", "8B", "16", "H100" },
	{ "8B on 2 nodes of 8xH100", "", "8B", "16", "H100" },
	{ "8B 4 nodes H100", "", "8B", "32", "H100" },
	{ "8B on 4 nodes with 4 x A100", "", "8B", "16", "A100" },
	{ "llama3-8b 4 dgx-h100", "llama3-8b", "", "32", "h100-sxm-80gb" },
	{ "8B on dgx-h100", "", "8B", "8", "h100-sxm-80gb" },
	{ "8B on 4 x dgx-a100-80", "", "8B", "32", "a100-sxm-80gb" },
	{ "8B on 2 aws-p5", "", "8B", "16", "h100-sxm-80gb" },
	{ "", "", "", "", "" },
};
/* clang-format on */

static struct preset_store *store;

static void setup(void)
{
	struct err e;

	ck_assert(preset_store_new(&store, &e) == ERR_OK);
}

static void teardown(void)
{
	preset_store_free(store);
}

START_TEST(words_mean_what_people_mean)
{
	const struct row *r = &rows[_i];
	struct words w;
	struct err e = { .code = ERR_OK };

	ck_assert_msg(words_read(&r->words, 1, preset_store_catalog(store), &w, &e) == ERR_OK, "%s: %s", r->words, e.msg);
	ck_assert_msg(strcmp(w.model, r->model) == 0, "%s: model %s", r->words, w.model);
	ck_assert_msg(strcmp(w.params, r->params) == 0, "%s: params %s", r->words, w.params);
	ck_assert_msg(strcmp(w.gpus, r->gpus) == 0, "%s: gpus %s", r->words, w.gpus);
	ck_assert_msg(strcmp(w.gpu, r->gpu) == 0, "%s: gpu %s", r->words, w.gpu);
}
END_TEST

START_TEST(several_words_of_argv_are_one_text)
{
	const char *argv[] = { "70B", "on", "8", "x", "A100" };
	struct words w;
	struct err e;

	ck_assert(words_read(argv, 5, preset_store_catalog(store), &w, &e) == ERR_OK);
	ck_assert_str_eq(w.gpus, "8");
	ck_assert_str_eq(w.gpu, "A100");
}
END_TEST

START_TEST(contradictions_are_errors)
{
	static const char *const texts[] = { "70B 8B on 8xA100", "70B llama3-70b", "8xA100 8xH100",
		"70B on 99999999999999999999999999999999999xA100", "70B on 2 nodes of 2x8xA100", "70B on 0 nodes of H100",
		"70B on 99999999 nodes of H100", "70B on 2 nodes", "8xA100 70B 8B", "70B on 2.5xA100", "8xA100 70B llama3-8b" };
	struct words w;
	struct err e;

	ck_assert_msg(words_read(&texts[_i], 1, preset_store_catalog(store), &w, &e) == ERR_USAGE, "%s", texts[_i]);
	ck_assert(e.msg[0] != '\0');
}
END_TEST

/* Wherever it stands, a word that is a setting is answered with the flag. */
START_TEST(settings_among_the_words_name_their_flag)
{
	static const struct {
		const char *words, *flag;
	} settings[] = {
		{ "70B on 8xA100 for 1T tokens", "--tokens 1T" },
		{ "70B on 8xA100 1T tokens", "--tokens 1T" },
		{ "70B 300B tokens", "--tokens 300B" },
		{ "8xA100 70B lora", "--adapter lora" },
		{ "8xA100 8k", "--seq 8k" },
	};

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		struct words w;
		struct err e = { .msg = "" };

		ck_assert_msg(words_read(&settings[i].words, 1, preset_store_catalog(store), &w, &e) == ERR_USAGE, "%s",
			settings[i].words);
		ck_assert_msg(strstr(e.msg, settings[i].flag) != NULL, "%s: %s", settings[i].words, e.msg);
	}
}
END_TEST

START_TEST(too_much_text_is_an_error)
{
	char text[4096];
	const char *p = text;
	struct words w;
	struct err e;

	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = '\0';
	ck_assert(words_read(&p, 1, preset_store_catalog(store), &w, &e) == ERR_USAGE);
	text[600] = '\0';
	ck_assert(words_read(&p, 1, preset_store_catalog(store), &w, &e) == ERR_USAGE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("words");
	TCase *c = tcase_create("words");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, words_mean_what_people_mean, 0, (int)(sizeof rows / sizeof rows[0]));
	tcase_add_test(c, several_words_of_argv_are_one_text);
	tcase_add_loop_test(c, contradictions_are_errors, 0, 11);
	tcase_add_test(c, settings_among_the_words_name_their_flag);
	tcase_add_test(c, too_much_text_is_an_error);
	suite_add_tcase(suite, c);
	return test_run(suite);
}
