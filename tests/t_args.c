/* The tables of options and subcommands, and argv split by them. */
#include "support.h"

#include "args.h"
#include "cli.h"
#include "lab.h"

#include <string.h>

static bool takes(const struct command *c, const struct option *o)
{
	return (o->commands & c->bit) != 0;
}

START_TEST(every_option_has_a_key_a_help_and_a_command)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &option_table[i];

		ck_assert_msg(o->key != NULL && o->help != NULL && o->help[0] != '\0', "option %zu", i);
		ck_assert_msg((o->commands & COMMAND_ALL) != 0 && (o->commands & ~(uint32_t)COMMAND_ALL) == 0, "--%s", o->key);
		ck_assert_msg(!o->repeats || o->value != NULL, "--%s is repeated for nothing", o->key);
	}
}
END_TEST

/* A flag that meant two things would silently be the first of them. */
START_TEST(no_flag_means_two_things_to_a_command)
{
	const struct command *c = &command_table[_i];

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const char *key = option_table[i].key;

		if (!takes(c, &option_table[i]))
			continue;
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(!takes(c, &option_table[k]) || strcmp(option_table[k].key, key) != 0, "--%s twice", key);
		ck_assert_msg((c->bit & COMMAND_SCENARIO) == 0 || knob_find(key) == NULL, "--%s is a knob", key);
		for (size_t k = 0; c->bit == COMMAND_LAB && lab_table[k] != NULL; k++)
			ck_assert_msg(
				lab_param_find(lab_table[k], key) == NULL, "--%s is a parameter of %s", key, lab_table[k]->id);
	}
}
END_TEST

START_TEST(every_command_is_found_and_has_a_bit_of_its_own)
{
	uint32_t seen = 0;

	for (const struct command *c = command_table; c->name != NULL; c++) {
		ck_assert_ptr_eq(command_find(c->name), c);
		ck_assert_msg((seen & c->bit) == 0 && c->run != NULL && c->help[0] != '\0', "%s", c->name);
		seen |= c->bit;
	}
	ck_assert_uint_eq(seen, COMMAND_ALL);
}
END_TEST

static const struct split {
	const char *argv[6], *word, *option, *knob; /* the last of each kind, with its value */
	enum err_code code;
} splits[] = {
	{ { "70B", "--zero", "3" }, "70B", "", "zero=3", ERR_OK }, { { "--zero=3", "--json" }, "", "json", "zero=3", ERR_OK },
	{ { "--load", "a.json", "on" }, "on", "load=a.json", "", ERR_OK },
	{ { "--sequence-parallel", "--json" }, "", "json", "sequence-parallel=on", ERR_OK },
	{ { "--presets", "a", "--presets", "b" }, "", "presets=b", "", ERR_OK }, { { "--", "--zero" }, "--zero", "", "", ERR_OK },
	{ { "-" }, "-", "", "", ERR_OK }, { { "--zero" }, "", "", "", ERR_USAGE },
	{ { "--zero", "--json" }, "", "", "", ERR_USAGE }, { { "--json=1" }, "", "", "", ERR_USAGE },
	{ { "--zero", "3", "--zero", "2" }, "", "", "", ERR_USAGE }, { { "--json", "--json" }, "", "", "", ERR_USAGE },
	{ { "-z" }, "", "", "", ERR_USAGE }, { { "--steps" }, "", "", "", ERR_USAGE }, /* of other commands */
};

START_TEST(argv_is_split_by_the_tables)
{
	const struct split *s = &splits[_i];
	char text[6][40], *argv[6], option[40] = "", knob[40] = "";
	int argc = 0;
	struct args a;
	struct err e;

	for (; s->argv[argc] != NULL; argc++) {
		(void)snprintf(text[argc], sizeof text[argc], "%s", s->argv[argc]);
		argv[argc] = text[argc];
	}
	ck_assert_int_eq(args_scan(command_find("fit"), argc, argv, &a, &e), s->code);
	for (size_t i = 0; i < a.n && s->code == ERR_OK; i++) {
		const struct arg *x = &a.arg[i];

		if (x->option != NULL)
			(void)snprintf(option, sizeof option, "%s%s%s", x->option->key, x->value != NULL ? "=" : "",
				x->value != NULL ? x->value : "");
		else
			(void)snprintf(knob, sizeof knob, "%s=%s", x->knob->key, x->value);
	}
	if (s->code == ERR_OK) {
		ck_assert_str_eq(option, s->option);
		ck_assert_str_eq(knob, s->knob);
		ck_assert_str_eq(a.n_words > 0 ? a.words[a.n_words - 1] : "", s->word);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("args");
	TCase *t = tcase_create("args");

	tcase_add_test(t, every_option_has_a_key_a_help_and_a_command);
	tcase_add_loop_test(t, no_flag_means_two_things_to_a_command, 0, COMMAND_COUNT);
	tcase_add_test(t, every_command_is_found_and_has_a_bit_of_its_own);
	tcase_add_loop_test(t, argv_is_split_by_the_tables, 0, sizeof splits / sizeof splits[0]);
	suite_add_tcase(s, t);
	return test_run(s);
}
