/* The binding table: unambiguous, complete, and every key has a letter form. */
#include "input.h"
#include "support.h"
#include "view_kind.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(uint32_t key)
{
	return key < 0x110000 || key == INPUT_DIGIT;
}

START_TEST(no_key_is_bound_twice_and_none_of_all_is_hidden)
{
	for (size_t i = 0; i < n_bindings; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct binding *a = &binding_table[i], *b = &binding_table[j];
			const bool same = a->context == b->context;
			const bool hides = (a->context == CONTEXT_ALL || b->context == CONTEXT_ALL) &&
				a->context != CONTEXT_PROMPT && b->context != CONTEXT_PROMPT;
			ck_assert_msg(a->key != b->key || !(same || hides), "key %u is bound twice", (unsigned)a->key);
		}
	}
}
END_TEST

START_TEST(every_action_has_a_name_a_help_and_a_key)
{
	for (int i = UI_NONE + 1; i < UI_ACTION_COUNT; i++) {
		bool bound = false;
		ck_assert_msg(ui_action_table[i].name != NULL, "action %d has no row", i);
		ck_assert_uint_gt(strlen(ui_action_table[i].help), 0);
		for (size_t j = 0; j < n_bindings; j++)
			bound = bound || binding_table[j].action == (enum ui_action)i;
		ck_assert_msg(bound, "%s has no key", ui_action_table[i].name);
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(ui_action_table[i].name, ui_action_table[j].name);
	}
}
END_TEST

/* Keys that a keyboard or a multiplexer may lack are only aliases; inside a prompt letters are text. */
START_TEST(every_action_has_a_letter_form)
{
	for (size_t i = 0; i < n_bindings; i++) {
		bool letter = false;
		if (binding_table[i].context == CONTEXT_PROMPT)
			continue;
		for (size_t j = 0; j < n_bindings; j++)
			letter =
				letter || (binding_table[j].action == binding_table[i].action && is_letter(binding_table[j].key));
		ck_assert_msg(letter || binding_table[i].action == UI_PREVIOUS_PANE, "%s has no letter",
			ui_action_table[binding_table[i].action].name);
	}
}
END_TEST

START_TEST(what_the_footer_shows_is_bound_there)
{
	for (int context = CONTEXT_ALL; context < CONTEXT_COUNT; context++) {
		for (const enum ui_action *a = input_footer((enum context)context); *a != UI_NONE; a++) {
			char here[64], all[64];
			ck_assert_ptr_nonnull(ui_action_table[*a].label);
			(void)input_keys_of((enum context)context, *a, here, sizeof(here));
			(void)input_keys_of(CONTEXT_ALL, *a, all, sizeof(all));
			ck_assert_msg(here[0] != '\0' || (all[0] != '\0' && context != CONTEXT_PROMPT),
				"%s is not bound in context %d", ui_action_table[*a].name, context);
		}
	}
}
END_TEST

START_TEST(a_context_falls_back_to_the_keys_of_all_but_a_prompt_does_not)
{
	ck_assert_int_eq(input_lookup(CONTEXT_SETTINGS, 'h'), UI_STEP_DOWN);
	ck_assert_int_eq(input_lookup(CONTEXT_FIGURES, 'h'), UI_LEFT);
	ck_assert_int_eq(input_lookup(CONTEXT_SETTINGS, 'q'), UI_QUIT);
	ck_assert_int_eq(input_lookup(CONTEXT_PROMPT, 'q'), UI_NONE);
	ck_assert_int_eq(input_lookup(CONTEXT_SETTINGS, '7'), UI_TYPE_DIGIT);
	ck_assert_int_eq(input_lookup(CONTEXT_LIST, '7'), UI_NONE);
	ck_assert_int_eq(input_lookup(CONTEXT_SETTINGS, 0x10ffff), UI_NONE);
}
END_TEST

START_TEST(a_key_name_reads_back)
{
	for (size_t i = 0; i < n_bindings; i++) {
		char name[32];
		ck_assert_uint_eq(
			input_key_parse(input_key_name(binding_table[i].key, name, sizeof(name))), binding_table[i].key);
	}
	ck_assert_uint_eq(input_key_parse("Nonsense"), 0);
	ck_assert_uint_eq(input_key_parse(""), 0);
	ck_assert_uint_eq(input_key_parse("x"), 'x');
}
END_TEST

START_TEST(every_view_has_a_title_and_a_footer_and_no_digit_opens_two)
{
	for (int i = 0; i < VIEW_COUNT; i++) {
		const enum context context = (enum context)((int)CONTEXT_MAIN + 2 * i);
		ck_assert(view_kinds[i]->draw != NULL);
		ck_assert_str_ne(input_context_name(context), "");
		ck_assert_int_ne(input_footer(context)[0], UI_NONE);
		for (int j = 0; j < i; j++)
			ck_assert_msg(view_kinds[i]->digit == '\0' || view_kinds[i]->digit != view_kinds[j]->digit,
				"%c opens two views", view_kinds[i]->digit);
	}
}
END_TEST

/* What the table of a view leaves out must not be what its keys need. */
START_TEST(a_view_that_binds_play_has_a_clock)
{
	for (size_t i = 0; i < n_bindings; i++) {
		const struct binding *b = &binding_table[i];
		if (b->action == UI_PLAY || b->action == UI_TICK_ON || b->action == UI_TICK_BACK)
			ck_assert_ptr_nonnull(view_kinds[((int)b->context - (int)CONTEXT_MAIN) / 2]->clock);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_input");
	TCase *c = tcase_create("input");
	tcase_add_test(c, no_key_is_bound_twice_and_none_of_all_is_hidden);
	tcase_add_test(c, every_action_has_a_name_a_help_and_a_key);
	tcase_add_test(c, every_action_has_a_letter_form);
	tcase_add_test(c, what_the_footer_shows_is_bound_there);
	tcase_add_test(c, a_context_falls_back_to_the_keys_of_all_but_a_prompt_does_not);
	tcase_add_test(c, a_key_name_reads_back);
	tcase_add_test(c, every_view_has_a_title_and_a_footer_and_no_digit_opens_two);
	tcase_add_test(c, a_view_that_binds_play_has_a_clock);
	suite_add_tcase(s, c);
	return test_run(s);
}
