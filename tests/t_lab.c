/* The laboratory as a whole: the table, parameters and their errors, limits, steps in any order, the report. */
#include "lab_fixture.h"

#include "lab_math.h"

#include <cjson/cJSON.h>
#include <math.h>

enum { REPORT_CAP = 4 << 20 };

static char *render(const struct lab_run *run, bool steps, bool json)
{
	struct lab_report_options o = { .steps = steps, .predicted = true, .prediction = 1 };
	char *text = malloc(REPORT_CAP);
	struct sink s;

	ck_assert_ptr_nonnull(text);
	sink_init(&s, text, REPORT_CAP, NULL, NULL);
	if (json) {
		sink_puts(&s, "{");
		lab_report_json(run, &o, &s);
		sink_puts(&s, "}");
	} else {
		lab_report_text(run, &o, &s);
	}
	ck_assert(sink_finish(&s));
	return text;
}

static void render_step(const struct lab_run *run, int64_t k, char *buf, size_t cap)
{
	struct lab_report_options o = { .steps = true };
	struct sink s;

	sink_init(&s, buf, cap, NULL, NULL);
	lab_report_step(run, k, &o, &s);
	ck_assert(sink_finish(&s));
}

/* At most 80 columns, and every number is one. */
static void check_text(const struct lab_run *run, const char *settings)
{
	for (int steps = 0; steps < 2; steps++) {
		char *text = render(run, steps != 0, false), *line;

		for (line = text; *line != '\0'; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
			ck_assert_msg(strcspn(line, "\n") <= 80, "%s: %.*s", settings, (int)strcspn(line, "\n"), line);
		ck_assert_msg(strstr(text, " nan") == NULL && strstr(text, "-nan") == NULL, "%s", text);
		free(text);
	}
}

/* The run that the question is about exists, and is another one. */
static void check_question(const struct lab_run *run, const char *settings)
{
	struct lab_input next;
	struct lab_size size;
	struct err e = { .code = ERR_OK };

	ck_assert_str_ne(run->question, "");
	ck_assert_msg(lab_input_next(run, &next, &e) == ERR_OK, "%s: %s: %s", settings, e.where, e.msg);
	ck_assert_msg(lab_workspace_size(&next, &size, &e) == ERR_OK, "%s: %s: %s", settings, e.where, e.msg);
	ck_assert_msg(memcmp(next.value, run->input.value, sizeof next.value) != 0, "%s: %s", settings, run->next);
}

static void check_width(const char *id, const char *settings)
{
	struct lab_fixture f;

	lab_fixture_run(&f, id, settings);
	check_text(&f.run, settings);
	check_question(&f.run, settings);
	lab_fixture_free(&f);
}

static size_t count_words(const struct lab_param *p)
{
	size_t n = 0;

	while (p->word((int64_t)n) != NULL)
		n++;
	return n;
}

START_TEST(every_lab_is_complete)
{
	const struct lab *lab = lab_table[_i];

	ck_assert_ptr_eq(lab_find(lab->id), lab);
	ck_assert_msg(strlen(lab->help) <= 62, "%s", lab->help);
	ck_assert_uint_gt(lab->n_params, 0);
	ck_assert_uint_le(lab->n_params, LAB_PARAMS_MAX);
	ck_assert_ptr_nonnull(lab_param_find(lab, "seed"));
	for (size_t i = 0; i < lab->n_params; i++) {
		const struct lab_param *p = &lab->params[i];

		ck_assert_msg(lab_param_find(lab, p->key) == p, "lab %s: %s twice", lab->id, p->key);
		ck_assert(p->dflt >= p->min && p->dflt <= p->max);
		ck_assert_uint_le(strlen(p->help), 72);
		if (p->type == LAB_PARAM_WORD)
			ck_assert_uint_eq(count_words(p), (size_t)p->max + 1);
	}
}
END_TEST

START_TEST(defaults_prove_their_claims_for_many_seeds)
{
	for (int seed = 0; seed < 20; seed++) {
		char setting[40];

		(void)snprintf(setting, sizeof setting, "seed=%d", seed);
		lab_fixture_prove(lab_table[_i]->id, setting);
	}
}
END_TEST

START_TEST(steps_can_be_read_in_any_order)
{
	struct lab_fixture f;
	char *forth = malloc(REPORT_CAP), back[16384];

	lab_fixture_run(&f, lab_table[_i]->id, "");
	ck_assert_int_gt(f.run.steps, 1);
	ck_assert_int_lt(f.run.steps, 200);
	for (int64_t k = 0; k < f.run.steps; k++)
		render_step(&f.run, k, forth + k * (int64_t)sizeof back, sizeof back);
	for (int64_t k = f.run.steps - 1; k >= 0; k--) {
		render_step(&f.run, k, back, sizeof back);
		ck_assert_str_eq(back, forth + k * (int64_t)sizeof back);
	}
	free(forth);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(the_same_input_gives_the_same_report)
{
	struct lab_fixture a, b;
	char *x, *y;

	lab_fixture_run(&a, lab_table[_i]->id, "seed=7");
	lab_fixture_run(&b, lab_table[_i]->id, "seed=7");
	x = render(&a.run, true, true);
	y = render(&b.run, true, true);
	ck_assert_str_eq(x, y);
	free(x);
	free(y);
	lab_fixture_free(&a);
	lab_fixture_free(&b);
}
END_TEST

START_TEST(lines_fit_eighty_columns)
{
	check_width(lab_table[_i]->id, "");
}
END_TEST

START_TEST(lines_fit_with_large_numbers_too)
{
	static const struct {
		const char *id, *settings;
	} cases[] = {
		{ "allreduce", "gpus=4;elements=1000000000;element-bytes=8;algorithm=tree;values=real" },
		{ "allreduce", "gpus=64;elements=100000" },
		{ "dp", "gpus=64;width=200;iterations=1" },
		{ "tp", "gpus=64;tokens=16;hidden=256;heads=64;ffn=1024;vocab=1000" },
		{ "fsdp", "gpus=8;width=200;iterations=1;layers=6" },
		{ "pp", "pp=16;microbatches=32;width=64;schedule=dualpipe" },
		{ "accum", "gpus=4;accumulate=16;width=256" },
		{ "checkpoint", "layers=24;width=32;ffn=128;batch=8" },
		{ "moe", "experts=64;topk=8;tokens=1024;ep=32" },
		{ "offload", "size=1000000000000;gpus=512;pieces=64;target=nvme" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_width(cases[i].id, cases[i].settings);
}
END_TEST

static const char *one_word(const char *text)
{
	ck_assert_str_ne(text, "");
	return "mot %1";
}

static const char *one_count(const char *one, const char *many, unsigned long n)
{
	ck_assert_str_ne(one, "");
	ck_assert_str_ne(many, "");
	return n == 1 ? "un" : "beaucoup";
}

START_TEST(sentences_are_translated_as_a_whole)
{
	static const struct lab_words words = { one_word, one_count };
	struct lab_fixture f;
	char text[200];

	lab_fixture_run(&f, lab_table[_i]->id, "");
	f.run.input.words = &words;
	for (int64_t k = 0; k < f.run.steps; k++) {
		struct lab_step s;

		lab_step(&f.run, k, &s);
		ck_assert_msg(strncmp(s.title, "mot ", 4) == 0, "step %d: %s", (int)k, s.title);
	}
	ck_assert_int_eq(strncmp(lab_answer_judge(&f.run, 1, text, sizeof text), "mot ", 4), 0);
	ck_assert_int_eq(strncmp(lab_claim_format(&f.run, &f.run.claims[0], text, sizeof text), "mot ", 4), 0);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(gaps_may_change_places_and_counts_choose)
{
	static const struct lab_words words = { one_word, one_count };
	char buf[40];

	ck_assert_str_eq(lab_say(NULL, buf, sizeof buf, "%2 of %1 is 5 %", NULL, LAB_ARGS(LAB_NUMBER(12345), LAB_NAME("%1"))),
		"%1 of 12,345 is 5 %");
	ck_assert_str_eq(lab_say(NULL, buf, sizeof buf, "%1 step", "%1 steps", LAB_ARGS(LAB_NUMBER(1))), "1 step");
	ck_assert_str_eq(lab_say(NULL, buf, sizeof buf, "%1 step", "%1 steps", LAB_ARGS(LAB_NUMBER(0))), "0 steps");
	ck_assert_str_eq(lab_say(&words, buf, sizeof buf, "%1 step", "%1 steps", LAB_ARGS(LAB_NUMBER(2))), "beaucoup");
	ck_assert_str_eq(lab_say(&words, buf, sizeof buf, "x", NULL, NULL), "mot ");
	ck_assert_str_eq(lab_say(&words, buf, sizeof buf, "%1", NULL, LAB_ARGS(LAB_TEXT("y"))), "mot mot %1");
	ck_assert_str_eq(lab_say(NULL, buf, 5, "%1%1", NULL, LAB_ARGS(LAB_NAME("abc"))), "abca");
}
END_TEST

START_TEST(json_is_json_with_the_promised_keys)
{
	static const char *const keys[] = { "lab", "parameters", "step_count", "steps", "facts", "claims", "proven", "answer",
		"prediction", "question", "next" };
	struct lab_fixture f;
	char *text;
	cJSON *doc;

	lab_fixture_run(&f, lab_table[_i]->id, "");
	text = render(&f.run, true, true);
	doc = cJSON_Parse(text);
	ck_assert_msg(doc != NULL, "%s", text);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		ck_assert_msg(cJSON_GetObjectItemCaseSensitive(doc, keys[i]) != NULL, "no %s", keys[i]);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(doc, "steps")), (int)f.run.steps);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(doc, "parameters")), (int)f.input.lab->n_params);
	cJSON_Delete(doc);
	free(text);
	lab_fixture_free(&f);
}
END_TEST

/* Every whole or real parameter of every lab, with values that are none or lie outside. */
START_TEST(bad_values_are_refused_with_the_legal_ones)
{
	static const char *const bad[] = { "", "x", "nan", "NaN", "inf", "-inf", "-1000000", "1e400", "99999999999999999999999",
		"1.2.3", "--", "0x" };
	const struct lab *lab = lab_table[_i];
	struct lab_fixture f;
	struct err e;

	ck_assert(lab_fixture_input(&f, lab->id, "", &e) == ERR_OK);
	for (size_t i = 0; i < lab->n_params; i++)
		for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
			e = (struct err){ .code = ERR_OK };
			ck_assert_msg(lab_input_set(&f.input, &lab->params[i], bad[k], &e) != ERR_OK, "%s %s \"%s\"", lab->id,
				lab->params[i].key, bad[k]);
			ck_assert_str_eq(e.where, lab->params[i].key);
			ck_assert_str_ne(e.msg, "");
		}
	ck_assert(lab_input_check(&f.input, &e) == ERR_OK);
}
END_TEST

START_TEST(values_set_directly_are_checked_too)
{
	const struct lab *lab = lab_table[_i];
	struct lab_fixture f;
	struct lab_size size;
	struct err e;

	ck_assert(lab_fixture_input(&f, lab->id, "", &e) == ERR_OK);
	for (size_t i = 0; i < lab->n_params; i++) {
		const double bad[] = { (double)NAN, (double)INFINITY, lab->params[i].min - 1, lab->params[i].max + 1 };
		double good = f.input.value[i];

		for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
			f.input.value[i] = bad[k];
			ck_assert(lab_workspace_size(&f.input, &size, &e) == ERR_RANGE);
			ck_assert_str_eq(e.where, lab->params[i].key);
		}
		f.input.value[i] = good;
	}
}
END_TEST

/* All parameters at their least: the smallest run there is. */
START_TEST(least_values_run)
{
	const struct lab *lab = lab_table[_i];
	char settings[400] = "";

	for (size_t i = 0; i < lab->n_params; i++) {
		const struct lab_param *p = &lab->params[i];
		size_t n = strlen(settings);

		if (p->type == LAB_PARAM_INT)
			(void)snprintf(settings + n, sizeof settings - n, "%s%s=%.0f", n > 0 ? ";" : "", p->key, p->min);
	}
	lab_fixture_prove(lab->id, settings);
}
END_TEST

/* One parameter at an end of its range, the others at their defaults: a reason, or a run; only small ones are run. */
static void try_bound(const struct lab *lab, size_t i, double value)
{
	struct lab_fixture f;
	struct err e = { .code = ERR_OK };
	char settings[100], typed[60];

	(void)snprintf(settings, sizeof settings, "%s=%s", lab->params[i].key,
		lab_param_format(&lab->params[i], value, typed, sizeof typed));
	ck_assert_msg(lab_fixture_input(&f, lab->id, settings, &e) == ERR_OK, "%s: %s", settings, e.msg);
	ck_assert(f.input.value[i] == value);
	if (lab_workspace_size(&f.input, &f.size, &e) != ERR_OK) {
		ck_assert_str_ne(e.msg, "");
		return;
	}
	if (f.size.work > 20000000)
		return;
	lab_fixture_go(&f, settings);
	lab_fixture_proven(&f, settings);
	check_text(&f.run, settings);
	check_question(&f.run, settings);
	lab_fixture_free(&f);
}

START_TEST(every_parameter_at_its_bounds)
{
	const struct lab *lab = lab_table[_i];

	for (size_t i = 0; i < lab->n_params; i++) {
		try_bound(lab, i, lab->params[i].min);
		try_bound(lab, i, lab->params[i].max);
	}
}
END_TEST

/* A value between the limits of a parameter: whole numbers log-uniform from the least. */
static double any_value(const struct lab_param *p, uint64_t seed, uint64_t i)
{
	double u = (lab_uniform(seed, 90, i) + 1) / 2;

	if (p->type == LAB_PARAM_REAL)
		return p->min + u * u * u * (p->max - p->min);
	return fmin(p->max, floor(p->min - 1 + exp(u * log(p->max - p->min + 2))));
}

/* Whatever the parameters are: refused with a reason, or run and proved. Only small ones are run. */
START_TEST(random_parameters_are_refused_or_proved)
{
	const struct lab *lab = lab_table[_i];
	int runs = 0;

	for (uint64_t seed = 0; seed < 1000 && runs < test_rounds(25); seed++) {
		struct lab_fixture f;
		struct err e = { .code = ERR_OK };
		enum err_code code = lab_fixture_input(&f, lab->id, "", &e);
		char name[40];

		(void)snprintf(name, sizeof name, "random input %d", (int)seed);
		for (size_t i = 0; i < lab->n_params; i++)
			f.input.value[i] = any_value(&lab->params[i], seed, i);
		code = lab_workspace_size(&f.input, &f.size, &e);
		if (code != ERR_OK) {
			ck_assert_str_ne(e.msg, "");
			continue;
		}
		if (f.size.work > 3000000 || f.size.bytes > 8000000)
			continue;
		f.workspace = malloc((size_t)f.size.bytes);
		ck_assert_ptr_nonnull(f.workspace);
		code = lab_run(&f.input, f.workspace, f.size.bytes, &f.run, &e);
		ck_assert_msg(code == ERR_OK, "%s", e.msg);
		lab_fixture_proven(&f, name);
		check_text(&f.run, name);
		check_question(&f.run, name);
		lab_fixture_free(&f);
		runs++;
	}
	ck_assert_int_gt(runs, 0);
}
END_TEST

START_TEST(most_values_are_refused_with_the_limit)
{
	static const struct {
		const char *id, *settings, *text;
	} cases[] = {
		{ "dp", "gpus=256;width=1024;layers=64", "the limit is 256 MiB" },
		{ "fsdp", "gpus=128;width=1024;layers=64", "the limit is 256 MiB" },
		{ "accum", "gpus=64;accumulate=1024;micro-batch=1024", "the limit is 256 MiB" },
		{ "dp", "batch=16384;inputs=1;width=256;iterations=64", "multiply-adds" },
		{ "tp", "vocab=65536;tokens=256;hidden=512;heads=8", "the limit is" },
		{ "checkpoint", "layers=128;width=512;ffn=2048;batch=1024", "the limit is" },
		{ "moe", "tokens=65536;hidden=512;ffn=1024", "the limit is" },
		{ "precision", "iterations=2000;weights=256;samples=1024;gradients=1000000", "multiply-adds" },
		{ "pp", "pp=64;microbatches=256;micro-batch=1024;width=512;layers=256", "the limit is" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct lab_fixture f;
		struct lab_size size;
		struct err e = { .code = ERR_OK };

		ck_assert(lab_fixture_input(&f, cases[i].id, cases[i].settings, &e) == ERR_OK);
		ck_assert_msg(lab_workspace_size(&f.input, &size, &e) == ERR_RANGE, "%s %s", cases[i].id, cases[i].settings);
		ck_assert_msg(strstr(e.msg, cases[i].text) != NULL, "%s", e.msg);
	}
}
END_TEST

START_TEST(rules_between_parameters_name_the_nearest_legal_value)
{
	static const struct {
		const char *id, *settings, *where, *text;
	} cases[] = {
		{ "allreduce", "gpus=6;gpus-per-node=4;algorithm=hierarchical", "gpus-per-node", "such as 2" },
		{ "tp", "hidden=16;heads=6", "heads", "such as 2" },
		{ "checkpoint", "layers=4;every=5", "every", "0 .. 4" },
		{ "moe", "experts=4;topk=5;ep=4", "topk", "1 .. 4" },
		{ "moe", "experts=8;ep=6", "ep", "such as 2" },
		{ "moe", "ffn=16;etp=6", "etp", "such as 2" },
		{ "pp", "pp=3;schedule=dualpipe", "pp", "even" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct lab_fixture f;
		struct err e = { .code = ERR_OK };

		ck_assert(lab_fixture_input(&f, cases[i].id, cases[i].settings, &e) == ERR_OK);
		ck_assert_msg(lab_input_check(&f.input, &e) != ERR_OK, "%s %s", cases[i].id, cases[i].settings);
		ck_assert_str_eq(e.where, cases[i].where);
		ck_assert_msg(strstr(e.msg, cases[i].text) != NULL, "%s", e.msg);
	}
}
END_TEST

START_TEST(a_workspace_that_is_too_small_is_our_fault)
{
	struct lab_fixture f;
	struct lab_run run;
	struct err e;

	lab_fixture_run(&f, "dp", "");
	ck_assert(lab_run(&f.input, f.workspace, f.size.bytes - 1, &run, &e) == ERR_INTERNAL);
	ck_assert(lab_run(&f.input, NULL, f.size.bytes, &run, &e) == ERR_INTERNAL);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(values_are_written_with_their_unit)
{
	static const struct {
		enum lab_unit unit;
		double value;
		const char *text;
	} cases[] = {
		{ LAB_BYTES, 13248, "13,248 B" },
		{ LAB_BYTES, 1.41e9, "1.41 GB" },
		{ LAB_BYTES, 560e9, "560 GB" },
		{ LAB_SECONDS, 21.03e-6, "21.0 us" },
		{ LAB_SECONDS, 13.8, "13.8 s" },
		{ LAB_COUNT, 671e9, "671B" },
		{ LAB_PERCENT, 33.333, "33.3 %" },
		{ LAB_REAL, 0.0009765625, "0.0009766" },
		{ LAB_BYTES, (double)NAN, "-" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char buf[64];

		ck_assert_str_eq(lab_format(cases[i].unit, cases[i].value, buf, sizeof buf), cases[i].text);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lab");
	TCase *t = tcase_create("lab");
	int labs = 0;

	while (lab_table[labs] != NULL)
		labs++;
	tcase_add_loop_test(t, every_lab_is_complete, 0, labs);
	tcase_add_loop_test(t, defaults_prove_their_claims_for_many_seeds, 0, labs);
	tcase_add_loop_test(t, steps_can_be_read_in_any_order, 0, labs);
	tcase_add_loop_test(t, the_same_input_gives_the_same_report, 0, labs);
	tcase_add_loop_test(t, lines_fit_eighty_columns, 0, labs);
	tcase_add_test(t, lines_fit_with_large_numbers_too);
	tcase_add_loop_test(t, sentences_are_translated_as_a_whole, 0, labs);
	tcase_add_test(t, gaps_may_change_places_and_counts_choose);
	tcase_add_loop_test(t, json_is_json_with_the_promised_keys, 0, labs);
	tcase_add_loop_test(t, bad_values_are_refused_with_the_legal_ones, 0, labs);
	tcase_add_loop_test(t, values_set_directly_are_checked_too, 0, labs);
	tcase_add_loop_test(t, least_values_run, 0, labs);
	tcase_add_loop_test(t, every_parameter_at_its_bounds, 0, labs);
	tcase_add_loop_test(t, random_parameters_are_refused_or_proved, 0, labs);
	tcase_add_test(t, most_values_are_refused_with_the_limit);
	tcase_add_test(t, rules_between_parameters_name_the_nearest_legal_value);
	tcase_add_test(t, a_workspace_that_is_too_small_is_our_fault);
	tcase_add_test(t, values_are_written_with_their_unit);
	suite_add_tcase(s, t);
	return test_run(s);
}
