/* Scenario files: what is written reads back, what is bad is refused whole. */
#define _POSIX_C_SOURCE 200809L

#include "json.h"
#include "knobs.h"
#include "scenario_file.h"
#include "sink.h"
#include "support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct catalog *c;

static void setup(void)
{
	c = test_catalog();
}

static void start(struct draft *d)
{
	struct err e;

	ck_assert_msg(draft_init(d, c, &e) == ERR_OK, "%s: %s", e.where, e.msg);
}

static void set(struct draft *d, const char *key, const char *text)
{
	const struct knob *k = knob_find(key);
	struct err e;

	ck_assert_ptr_nonnull(k);
	ck_assert_msg(draft_set(d, c, k, text, ORIGIN_FLAG, &e) == ERR_OK, "%s: %s", e.where, e.msg);
}

static void expect_same_values(const struct draft *a, const struct draft *b)
{
	for (size_t i = 0; i < knob_count(); i++) {
		char x[2048], y[2048];

		(void)knob_format(knob_at(i), &a->s, x, sizeof x);
		(void)knob_format(knob_at(i), &b->s, y, sizeof y);
		ck_assert_msg(strcmp(x, y) == 0, "%s: %s, read back as %s", knob_at(i)->key, x, y);
	}
}

/* Prints *d, reads it into a blank draft, compares every knob. */
static void expect_round_trip(const struct draft *d)
{
	static char text[65536];
	struct draft back;
	struct sink out;
	struct err e = { .msg = "" };

	sink_init(&out, text, sizeof text, NULL, NULL);
	scenario_file_print(d, "test", &out);
	ck_assert(sink_finish(&out));
	draft_init_blank(&back, c);
	ck_assert_msg(scenario_file_parse("s.json", text, out.len, c, &back, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	expect_same_values(d, &back);
}

START_TEST(the_default_scenario_reads_back)
{
	struct draft d;

	start(&d);
	expect_round_trip(&d);
}
END_TEST

START_TEST(every_model_reads_back)
{
	for (size_t i = 0; i < c->n_models; i++) {
		struct draft d;

		start(&d);
		set(&d, "model", c->models[i].id);
		expect_round_trip(&d);
	}
}
END_TEST

START_TEST(a_custom_model_is_rebuilt_from_its_shape)
{
	struct draft d;

	start(&d);
	set(&d, "params", "70B");
	ck_assert_str_eq(d.s.model.id, "custom");
	ck_assert_int_eq(model_params(&d.s.model), 70000000000);
	expect_round_trip(&d);
	set(&d, "model", "opt-350m");
	set(&d, "layers", "23");
	expect_round_trip(&d);
}
END_TEST

START_TEST(reading_marks_what_the_file_gave)
{
	static const char text[] =
		"{\"meshplan\": \"1\", \"schema\": 1, \"scenario\": {\"tp\": 4, \"seq\": \"8k\", \"recompute\": \"full\", "
		"\"sequence-parallel\": false, \"model\": \"llama2-7b\"}}";
	struct draft d;
	struct err e = { .msg = "" };

	start(&d);
	ck_assert_msg(scenario_file_parse("s.json", text, sizeof text - 1, c, &d, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_str_eq(d.s.model.id, "llama2-7b");
	ck_assert_int_eq(d.s.layout.tp, 4);
	ck_assert_int_eq(d.s.training.seq, 8192);
	ck_assert_int_eq(d.s.layout.sequence_parallel, 0);
	ck_assert_uint_eq(d.origin[knob_index(knob_find("tp"))], ORIGIN_FILE);
	ck_assert_uint_ne(d.origin[knob_index(knob_find("pp"))], ORIGIN_FILE);
}
END_TEST

START_TEST(a_plan_document_lends_its_scenario)
{
	static const char text[] =
		"{\"meshplan\": \"1\", \"schema\": 1, \"scenario\": {\"pp\": 2}, \"verdict\": {\"fits\": true}, \"memory\": {}, "
		"\"future\": [1]}";
	struct draft d;
	struct err e = { .msg = "" };

	start(&d);
	ck_assert_msg(scenario_file_parse("s.json", text, sizeof text - 1, c, &d, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_int_eq(d.s.layout.pp, 2);
}
END_TEST

/* clang-format off */
#define HEAD "{\"meshplan\": \"1\", \"schema\": 1, \"scenario\": "

static const struct {
	const char *text, *where, *says;
} bad[] = {
	{ "{}", "s.json:/scenario", "missing" },
	{ "{\"schema\": 1, \"scenario\": []}", "s.json:/scenario", "missing" },
	{ "{\"scenario\": {}}", "s.json:/schema", "missing" },
	{ "{\"schema\": 2, \"scenario\": {}}", "s.json:/schema", "2 is not known; this program reads schema 1" },
	{ "{\"schema\": \"1\", \"scenario\": {}}", "s.json:/schema", "not a number" },
	{ "{\"meshplan\": 1, \"schema\": 1, \"scenario\": {}}", "s.json:/meshplan", "not a text" },
	{ "{\"schema\": 1, \"scenario\": {}, \"extra\": 1}", "s.json:/extra", "legal: meshplan, schema, scenario" },
	{ HEAD "{\"tp\": 2, \"tp\": 4}}", "s.json:/scenario/tp", "twice" },
	{ HEAD "{\"zreo\": 2}}", "s.json:/scenario/zreo", "nearest: zero" },
	{ HEAD "{\"mbs\": 2}}", "s.json:/scenario/mbs", "nearest: micro-batch" },
	{ HEAD "{\"TP\": 2}}", "s.json:/scenario/TP", "nearest: tp" },
	{ HEAD "{\"tp\": 2.5}}", "s.json:/scenario/tp", "nearest: 3" },
	{ HEAD "{\"tp\": -2}}", "s.json:/scenario/tp", "-2" },
	{ HEAD "{\"tp\": 1e400}}", "s.json:/scenario/tp", "too large" },
	{ HEAD "{\"tp\": true}}", "s.json:/scenario/tp", "true is not a value for tp" },
	{ HEAD "{\"tp\": [2]}}", "s.json:/scenario/tp", "an array is not a value for tp" },
	{ HEAD "{\"tp\": {}}}", "s.json:/scenario/tp", "an object is not a value for tp" },
	{ HEAD "{\"tp\": \"two\"}}", "s.json:/scenario/tp", "'two'" },
	{ HEAD "{\"precision\": 16}}", "s.json:/scenario/precision", "16 is not a value for precision" },
	{ HEAD "{\"precision\": \"bf17\"}}", "s.json:/scenario/precision", "bf16" },
	{ HEAD "{\"sequence-parallel\": 1}}", "s.json:/scenario/sequence-parallel", "legal: true, false" },
	{ HEAD "{\"stage-layers\": [10, 2.5]}}", "s.json:/scenario/stage-layers/1", "whole number" },
	{ HEAD "{\"stage-layers\": [10, \"2\"]}}", "s.json:/scenario/stage-layers/1", "whole number" },
	{ HEAD "{\"model\": \"no-such-model\"}}", "s.json:/scenario/model", "nearest" },
	{ HEAD "{\"model\": \"custom\", \"layers\": 2, \"hidden\": 64}}", "s.json:/scenario/model", "missing: heads, kv-heads" },
	{ HEAD "{\"gpu\": \"h900\"}}", "s.json:/scenario/gpu", "nearest" },
	{ HEAD "{\"model\": \"llama2-7b\", \"layers\": 31, \"params\": 6738415616}}", "s.json:/scenario/params",
		"not the total of the given shape" },
};
/* clang-format on */

START_TEST(a_bad_scenario_is_refused_whole)
{
	struct draft d, before;
	struct err e = { .msg = "" };

	start(&d);
	before = d;
	ck_assert_int_eq(scenario_file_parse("s.json", bad[_i].text, strlen(bad[_i].text), c, &d, &e), ERR_FILE);
	ck_assert_msg(strcmp(e.where, bad[_i].where) == 0, "%s: %s", e.where, e.msg);
	ck_assert_msg(strstr(e.msg, bad[_i].says) != NULL, "%s: %s", e.where, e.msg);
	ck_assert_mem_eq(&d, &before, sizeof d);
}
END_TEST

START_TEST(a_saved_file_reads_back)
{
	const char *path = "t_input_scenario.tmp.json";
	struct draft d, back;
	struct err e = { .msg = "" };

	start(&d);
	set(&d, "model", "deepseek-v3");
	ck_assert_int_eq(scenario_file_write(path, &d, "test", &e), ERR_OK);
	draft_init_blank(&back, c);
	ck_assert_msg(scenario_file_read(path, c, &back, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	expect_same_values(&d, &back);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(scenario_file_read(path, c, &back, &e), ERR_FILE);
	ck_assert_str_eq(e.where, path);
	ck_assert_int_eq(scenario_file_write("no/such/dir.json", &d, "test", &e), ERR_FILE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("input: scenario files");
	TCase *t = tcase_create("scenario files");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, the_default_scenario_reads_back);
	tcase_add_test(t, every_model_reads_back);
	tcase_add_test(t, a_custom_model_is_rebuilt_from_its_shape);
	tcase_add_test(t, reading_marks_what_the_file_gave);
	tcase_add_test(t, a_plan_document_lends_its_scenario);
	tcase_add_loop_test(t, a_bad_scenario_is_refused_whole, 0, (int)(sizeof bad / sizeof bad[0]));
	tcase_add_test(t, a_saved_file_reads_back);
	suite_add_tcase(s, t);
	return test_run(s);
}
