/* Tables of published runs: the CSV reader, the rules, and what becomes of rows nobody has seen. */
#include "support.h"

#include "csvfile.h"
#include "fields.h"
#include "runs_csv.h"
#include "runs_row.h"

#include <stdlib.h>
#include <string.h>

#define HEADER                                                                                                                   \
	"id,source,framework,profile,gpu_id,num_gpus,layers,hidden,heads,ffn,vocab,seq,gated_mlp,norm,tp,pp,precision,micro_"    \
	"batch,global_batch,"                                                                                                    \
	"measured_step_s,measured_peak_mem_gb,mem_kind,notes\n"
#define ROW "x-1,nobody,fsdp,made-up,h100-sxm-80gb,8,32,4096,32,14336,32000,4096,1,rms,1,1,bf16,1,8,1.5,70.5,allocated,"

static void parse(const char *text, struct runs *out)
{
	const struct coefficients *c = catalog_coefficients(test_catalog(), "third");
	struct err e;

	ck_assert_msg(runs_parse("t.csv", text, strlen(text), test_catalog(), c, out, &e) == ERR_OK, "%s: %s", e.where, e.msg);
}

static void refuse(const char *text, const char *where)
{
	const struct coefficients *c = catalog_coefficients(test_catalog(), "third");
	struct runs out;
	struct err e = { .code = ERR_OK };

	ck_assert_int_eq(runs_parse("t.csv", text, strlen(text), test_catalog(), c, &out, &e), ERR_FILE);
	ck_assert_str_eq(e.where, where);
	runs_free(&out);
}

START_TEST(quotes_and_breaks_are_read)
{
	char text[] = "# note, \"with\" quotes\r\na,\"b \"\"c\"\", d\",\r\n\r\n\"two\nlines\",x\n";
	struct csvfile f;
	struct err e;

	csvfile_start(&f, "t.csv", text, sizeof text - 1);
	ck_assert_int_eq(csvfile_next(&f, &e), ERR_OK);
	ck_assert_uint_eq(f.n, 3);
	ck_assert_str_eq(f.field[0], "a");
	ck_assert_str_eq(f.field[1], "b \"c\", d");
	ck_assert_str_eq(f.field[2], "");
	ck_assert_int_eq(csvfile_next(&f, &e), ERR_OK);
	ck_assert_uint_eq(f.n, 2);
	ck_assert_str_eq(f.field[0], "two\nlines");
	ck_assert_int_eq(csvfile_next(&f, &e), ERR_OK);
	ck_assert_uint_eq(f.n, 0);
}
END_TEST

START_TEST(broken_tables_name_line_and_column)
{
	refuse("name\n1\n", "t.csv");
	refuse("id,source\na,b,c\n", "t.csv:2:1");
	refuse("id\n\"a\"b\n", "t.csv:2:4");
	refuse("id\nab\033[m\n", "t.csv:2:3");
	refuse("id\n\"ab\xc2\x9b\"\n", "t.csv:2:4");
	refuse("id,x\na,\"b\n", "t.csv:2:3");
}
END_TEST

START_TEST(an_unknown_profile_is_the_default_of_its_framework)
{
	struct runs r;

	parse(HEADER ROW "\n", &r);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_str_eq(r.cases[0].skipped, "");
	ck_assert_str_eq(r.cases[0].scenario.profile.id, catalog_default_profile(test_catalog(), FRAMEWORK_FSDP)->id);
	ck_assert_ptr_nonnull(strstr(r.cases[0].assumed, "this profile is not known"));
	ck_assert_ptr_nonnull(strstr(r.cases[0].assumed, "recompute none: not published"));
	ck_assert_double_eq(r.cases[0].measured_step_s, 1.5);
	ck_assert_int_eq(r.cases[0].fit, FIT_YES);
	ck_assert_int_eq(r.cases[0].counter, COUNTER_ALLOCATED);
	runs_free(&r);
}
END_TEST

START_TEST(rows_that_cannot_be_expressed_say_why)
{
	static const char table[] = "id,source,framework,profile,num_gpus,tp,pp,schedule,schedule_id,global_batch,layers,hidden,"
				    "heads,seq,gpu_id,measured_step_s\n"
				    "a,n,jax,maxtext,8,1,1,,,8,8,1024,8,1024,h100-sxm-80gb,1\n"
				    "b,n,megatron,,8,,,,,8,8,1024,8,1024,h100-sxm-80gb,1\n"
				    "c,n,megatron,,8,1,4,odd,,8,8,1024,8,1024,h100-sxm-80gb,1\n"
				    "d,n,megatron,,,1,4,,,8,8,1024,8,1024,h100-sxm-80gb,1\n"
				    "e,n,megatron,,8,1,3,,,8,8,1024,8,1024,h100-sxm-80gb,1\n"
				    "f,n,,,8,1,1,,,8,8,1024,8,1024,h100-sxm-80gb,1\n"
				    "g,n,fsdp,,8,1,1,,,8,8,1024,8,1024,h100-sxm-80gb,\n";
	struct runs r;

	parse(table, &r);
	ck_assert_uint_eq(r.n, 7);
	for (size_t i = 0; i < r.n; i++) {
		struct validate_row row;

		validate_run(&r.cases[i], &row);
		ck_assert_msg(row.skipped[0] != '\0' && row.predicted_step_s == 0, "row %s is not skipped", row.id);
	}
	runs_free(&r);
}
END_TEST

START_TEST(every_rule_is_valid_and_names_what_exists)
{
	const struct catalog *c = test_catalog();

	for (size_t i = 0; i < runs_rules_n; i++) {
		struct runs_row row = { .n = 0 };
		struct runs_rule always = runs_rules[i];
		const char *profile, *gpu;
		bool found = false;

		ck_assert_msg(runs_rule_is_valid(&runs_rules[i]), "rule %zu: %s -> %s", i, runs_rules[i].when, runs_rules[i].set);
		always.when = "";
		runs_apply(&row, &always);
		profile = runs_get(&row, "profile");
		gpu = runs_get(&row, "gpu_id");
		for (size_t k = 0; k < c->n_profiles; k++)
			found = found || strcmp(c->profiles[k].id, profile) == 0;
		for (size_t k = 0; k < c->n_gpus; k++)
			found = found || strcmp(c->gpus[k].id, gpu) == 0;
		ck_assert_msg(found || (profile[0] == '\0' && gpu[0] == '\0'), "rule %zu names '%s%s', which is no preset", i,
			profile, gpu);
	}
}
END_TEST

START_TEST(rules_match_and_compute)
{
	static const struct runs_rule rules[] = {
		{ "a=x|y*; n<=8; b!=", "c=@n*3; d?=7; e=@missing*2", "because" },
		{ "c=24; note~one|two", "f=yes", NULL },
		{ "blank=", "g=@divisor:5", NULL },
	};
	static const char *const no_numbers[] = { "", "0x10", "inf", "nan", "1e999", "8 GPUs" };
	struct runs_row row = { .n = 0 };

	runs_set(&row, "a", "yes");
	runs_set(&row, "n", "8");
	runs_set(&row, "b", "1");
	runs_set(&row, "d", "6");
	runs_set(&row, "note", "number two");
	runs_set(&row, "layers", "24");
	runs_set(&row, "pp", "2");
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		runs_apply(&row, &rules[i]);
	ck_assert_str_eq(runs_get(&row, "c"), "24");
	ck_assert_str_eq(runs_get(&row, "d"), "6");
	ck_assert_str_eq(runs_get(&row, "e"), "");
	ck_assert_str_eq(runs_get(&row, "f"), "yes");
	ck_assert_str_eq(runs_get(&row, "g"), "4");
	ck_assert_str_eq(row.assumed, "c 24: because");
	runs_set(&row, "n", "1e3");
	ck_assert_double_eq(runs_number(&row, "n", -1), 1000);
	for (size_t i = 0; i < sizeof no_numbers / sizeof no_numbers[0]; i++) {
		runs_set(&row, "n", no_numbers[i]);
		ck_assert_msg(runs_number(&row, "n", -1) == -1, "%s", no_numbers[i]);
	}
}
END_TEST

START_TEST(a_field_of_the_profile_keeps_to_its_range)
{
	static const struct {
		const char *key, *text;
		enum err_code code;
	} bad[] = {
		{ "margin", "-5", ERR_RANGE },
		{ "margin", "0x1", ERR_USAGE },
		{ "bucket-elements", "1e30", ERR_RANGE },
		{ "rowwise-fp8", "maybe", ERR_USAGE },
		{ "framework", "mxnet", ERR_USAGE },
		{ "nonsense", "1", ERR_UNKNOWN },
	};
	const struct profile before = test_catalog()->profiles[0];
	struct profile p = before;
	struct err e;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		ck_assert_int_eq(fields_set_text(&profile_fields, bad[i].key, bad[i].text, &p, &e), bad[i].code);
		ck_assert_str_eq(e.where, bad[i].key);
		ck_assert_mem_eq(&p, &before, sizeof p);
	}
	ck_assert_int_eq(fields_set_text(&profile_fields, "rowwise-fp8", "on", &p, &e), ERR_OK);
	ck_assert_int_eq(p.rowwise_fp8, 1);
}
END_TEST

START_TEST(layers_that_do_not_divide_are_split_as_the_source_does)
{
	static const char *const expected[][2] = { { "@first-heavy", "4,3,3" }, { "@units", "3,4,3" }, { "@balanced", "5,5,0" } };
	struct runs_row row = { .n = 0 };

	runs_set(&row, "layers", "10");
	runs_set(&row, "pp", "3");
	runs_set(&row, "hidden", "1024");
	runs_set(&row, "seq", "1024");
	runs_set(&row, "vocab", "100000"); /* the head costs about 7 layers */
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		char set[40];
		struct runs_rule rule = { .when = "", .set = set, .why = NULL };

		(void)snprintf(set, sizeof set, "split=%s", expected[i][0]);
		runs_apply(&row, &rule);
		ck_assert_str_eq(runs_get(&row, "split"), expected[i][1]);
	}
}
END_TEST

START_TEST(a_shipped_row_keeps_its_marks_in_any_table)
{
	static const char path[] = "t_input_runs.csv";
	const struct coefficients *c = catalog_coefficients(test_catalog(), "third");
	const struct validate_case *marked;
	struct runs shipped, own;
	struct err e;
	FILE *f = fopen(path, "w");
	enum err_code code;

	ck_assert_int_eq(runs_shipped(test_catalog(), c, &shipped, &e), ERR_OK);
	marked = shipped.cases;
	while (marked < shipped.cases + shipped.n && !marked->calibration_time)
		marked++;
	ck_assert(marked < shipped.cases + shipped.n);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(fprintf(f, "id,source\n%s,x\nmine,x\n", marked->id), 0);
	ck_assert_int_eq(fclose(f), 0);
	code = runs_read(path, test_catalog(), c, &own, &e);
	(void)remove(path);
	ck_assert_msg(code == ERR_OK && own.n == 2, "%s: %s", e.where, e.msg);
	ck_assert(own.cases[0].calibration_time && own.cases[0].calibration_memory == marked->calibration_memory);
	ck_assert(!own.cases[1].calibration_time && !own.cases[1].calibration_memory);
	runs_free(&own);
	runs_free(&shipped);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("input_runs");
	TCase *t = tcase_create("tables of runs");

	tcase_add_test(t, quotes_and_breaks_are_read);
	tcase_add_test(t, broken_tables_name_line_and_column);
	tcase_add_test(t, an_unknown_profile_is_the_default_of_its_framework);
	tcase_add_test(t, rows_that_cannot_be_expressed_say_why);
	tcase_add_test(t, every_rule_is_valid_and_names_what_exists);
	tcase_add_test(t, rules_match_and_compute);
	tcase_add_test(t, a_field_of_the_profile_keeps_to_its_range);
	tcase_add_test(t, layers_that_do_not_divide_are_split_as_the_source_does);
	tcase_add_test(t, a_shipped_row_keeps_its_marks_in_any_table);
	suite_add_tcase(s, t);
	return test_run(s);
}
