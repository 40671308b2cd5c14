/* Cells: widths, clipping, wrapping; glyph sets; themes. */
#include "canvas.h"
#include "support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dump[4096];

static const char *dumped(const struct canvas *c)
{
	struct sink out;
	sink_init(&out, dump, sizeof(dump), NULL, NULL);
	canvas_dump(c, &out);
	return dump;
}

START_TEST(text_is_clipped_to_its_field_and_to_the_grid)
{
	struct canvas c = { 0 };
	ck_assert(canvas_resize(&c, 6, 2));
	ck_assert_int_eq(canvas_clip(&c, 1, 0, 3, ROLE_TEXT, "abcdef"), 3);
	ck_assert_int_eq(canvas_text(&c, 4, 1, 99, ROLE_TEXT, "xyz"), 3);
	canvas_put(&c, -1, 0, ROLE_TEXT, '!');
	canvas_put(&c, 0, -1, ROLE_TEXT, '!');
	canvas_put(&c, 6, 0, ROLE_TEXT, '!');
	canvas_put(&c, 0, 2, ROLE_TEXT, '!');
	ck_assert_str_eq(dumped(&c), " abc  \n    xy\n");
	canvas_free(&c);
}
END_TEST

START_TEST(right_aligned_text_ends_at_its_field)
{
	struct canvas c = { 0 };
	ck_assert(canvas_resize(&c, 8, 2));
	ck_assert_int_eq(canvas_text_right(&c, 1, 0, 6, ROLE_TEXT, "12.5"), 4);
	ck_assert_int_eq(canvas_text_right(&c, 0, 1, 3, ROLE_TEXT, "12.5"), 3);
	ck_assert_str_eq(dumped(&c), "   12.5 \n12~     \n");
	canvas_free(&c);
}
END_TEST

/* A cut shows; it leaves no half of a word, but for the only word, and no separator behind the last. */
START_TEST(a_text_that_is_too_long_ends_behind_a_word)
{
	static const struct {
		const char *text, *shown;
		int w;
	} cases[] = { { "does not divide 8", "does not divide 8", 17 }, { "does not divide 8", "does not divide~", 16 },
		{ "does not divide 8", "does not~", 15 }, { "first, second", "first~", 12 }, { "a (b) c", "a~", 5 },
		{ "1,234,567", "1,234,~", 7 }, { "  leading", "  lea~", 6 }, { "ab cd", "a", 1 }, { "", "", 3 },
		{ "\xe5\xb1\x82\xe6\x95\xb0 x", "\xe5\xb1\x82\xe6\x95\xb0~", 5 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct canvas c = { 0 };
		char want[64];
		ck_assert(canvas_resize(&c, 24, 1));
		const int used = canvas_text(&c, 0, 0, cases[i].w, ROLE_TEXT, cases[i].text);
		ck_assert_int_eq(used, canvas_text_width(cases[i].shown));
		(void)snprintf(want, sizeof(want), "%s%*s\n", cases[i].shown, 24 - used, "");
		ck_assert_str_eq(dumped(&c), want);
		canvas_free(&c);
	}
	ck_assert_str_eq(canvas_fitting(5, "three", "3"), "three");
	ck_assert_str_eq(canvas_fitting(4, "three", "3"), "3");
}
END_TEST

START_TEST(a_wide_glyph_takes_two_cells_and_is_never_halved)
{
	struct canvas c = { 0 };
	ck_assert(canvas_resize(&c, 5, 1));
	ck_assert_int_eq(canvas_text(&c, 0, 0, 5, ROLE_TEXT, "\xe5\xb1\x82\xe6\x95\xb0"), 4);
	ck_assert_str_eq(dumped(&c), "\xe5\xb1\x82\xe6\x95\xb0 \n");
	canvas_put(&c, 1, 0, ROLE_TEXT, 'x');
	ck_assert_str_eq(dumped(&c), " x\xe6\x95\xb0 \n");
	canvas_put(&c, 2, 0, ROLE_TEXT, 'y');
	ck_assert_str_eq(dumped(&c), " xy  \n");
	canvas_put(&c, 4, 0, ROLE_TEXT, 0x5c42);
	ck_assert_str_eq(dumped(&c), " xy  \n");
	ck_assert_int_eq(canvas_text(&c, 0, 0, 1, ROLE_TEXT, "\xe5\xb1\x82"), 0);
	canvas_free(&c);
}
END_TEST

START_TEST(control_and_combining_characters_are_left_out)
{
	struct canvas c = { 0 };
	ck_assert(canvas_resize(&c, 6, 1));
	ck_assert_int_eq(canvas_text(&c, 0, 0, 6, ROLE_TEXT,
				 "a\x1b[\x07"
				 "e\xcc\x81"
				 "b"),
		4);
	ck_assert_str_eq(dumped(&c), "a[eb  \n");
	canvas_free(&c);
}
END_TEST

START_TEST(bytes_that_are_not_utf8_become_replacement_characters)
{
	const char *text = "\xff"
			   "a\xe5\xb1";
	ck_assert_uint_eq(glyph_decode(&text), 0xfffd);
	ck_assert_uint_eq(glyph_decode(&text), 'a');
	ck_assert_uint_eq(glyph_decode(&text), 0xfffd);
	ck_assert_uint_eq(glyph_decode(&text), 0xfffd);
	ck_assert_uint_eq(glyph_decode(&text), 0);
	const char *overlong = "\xc0\x80";
	ck_assert_uint_eq(glyph_decode(&overlong), 0xfffd);
}
END_TEST

START_TEST(every_code_point_survives_encoding)
{
	for (uint32_t code = 1; code <= 0x10ffff; code += 37) {
		char utf8[5];
		const char *at = utf8;
		if (code >= 0xd800 && code < 0xe000)
			continue;
		(void)glyph_encode(code, utf8);
		ck_assert_uint_eq(glyph_decode(&at), code);
		ck_assert_int_eq(*at, '\0');
	}
}
END_TEST

START_TEST(wrapping_breaks_at_blanks_and_counts_rows)
{
	struct canvas c = { 0 };
	ck_assert(canvas_resize(&c, 8, 3));
	ck_assert_int_eq(canvas_wrap(&c, (struct rect){ 0, 0, 8, 3 }, 0, ROLE_TEXT, "one two three"), 2);
	ck_assert_str_eq(dumped(&c), "one two \nthree   \n        \n");
	canvas_clear(&c);
	ck_assert_int_eq(canvas_wrap(&c, (struct rect){ 0, 0, 4, 3 }, 1, ROLE_TEXT, "abcdefghi jk"), 3);
	ck_assert_str_eq(dumped(&c), "efgh    \ni jk    \n        \n");
	ck_assert_int_eq(canvas_wrap(&c, (struct rect){ 0, 0, 1, 0 }, 0, ROLE_TEXT, "\xe5\xb1\x82"), 1);
	canvas_free(&c);
}
END_TEST

START_TEST(drawing_glyphs_are_one_column_in_both_sets)
{
	for (int i = 0; i < GLYPH_COUNT; i++) {
		ck_assert_int_eq(glyph_width(glyph_table[i].unicode), 1);
		ck_assert_int_ge(glyph_table[i].ascii, ' ');
		ck_assert_int_lt(glyph_table[i].ascii, 0x7f);
		ck_assert_uint_gt(strlen(glyph_table[i].use), 0);
	}
}
END_TEST

START_TEST(style_letters_are_unique_and_looks_are_complete)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		for (int j = 0; j < i; j++) {
			ck_assert_int_ne(role_table[i].letter, role_table[j].letter);
			ck_assert_str_ne(role_table[i].name, role_table[j].name);
		}
		for (int t = 0; t < THEME_COUNT; t++) {
			const struct look *l = &role_table[i].look[t];
			/* Never black or white alone on the terminal's own background. */
			ck_assert(l->bg >= 0 || (l->fg != 0 && l->fg != 7 && l->fg != 15 && l->fg != 16 && l->fg != 231));
			ck_assert_int_lt(l->fg, t == THEME_256 ? 256 : 8);
			ck_assert(t != THEME_MONO || (l->fg < 0 && l->bg < 0));
		}
	}
}
END_TEST

START_TEST(the_theme_follows_the_terminal)
{
	ck_assert_int_eq(theme_choose(0, NULL, NULL), THEME_MONO);
	ck_assert_int_eq(theme_choose(0, NULL, NULL), THEME_MONO);
	ck_assert_int_eq(theme_choose(256, NULL, NULL), THEME_256);
	ck_assert_int_eq(theme_choose(8, NULL, NULL), THEME_DARK);
	ck_assert_int_eq(theme_choose(8, NULL, "0;15"), THEME_LIGHT);
	ck_assert_int_eq(theme_choose(8, NULL, "15;0"), THEME_DARK);
	ck_assert_int_eq(theme_choose(8, "256", NULL), THEME_DARK);
	ck_assert_int_eq(theme_choose(256, "light", NULL), THEME_LIGHT);
	ck_assert_int_eq(theme_choose(256, "mono", NULL), THEME_MONO);
}
END_TEST

START_TEST(sizes_are_kept_within_bounds)
{
	struct canvas c = { 0 };
	ck_assert(canvas_resize(&c, 0, -3));
	ck_assert_int_eq(c.w, 1);
	ck_assert_int_eq(c.h, 1);
	ck_assert(canvas_resize(&c, 5000, 2));
	ck_assert_int_eq(c.w, CANVAS_SIDE_MAX);
	canvas_cursor(&c, 99999, -1, true);
	ck_assert_int_eq(c.cursor_x, CANVAS_SIDE_MAX - 1);
	ck_assert_int_eq(c.cursor_y, 0);
	canvas_free(&c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_canvas");
	TCase *c = tcase_create("canvas");
	tcase_add_test(c, text_is_clipped_to_its_field_and_to_the_grid);
	tcase_add_test(c, right_aligned_text_ends_at_its_field);
	tcase_add_test(c, a_text_that_is_too_long_ends_behind_a_word);
	tcase_add_test(c, a_wide_glyph_takes_two_cells_and_is_never_halved);
	tcase_add_test(c, control_and_combining_characters_are_left_out);
	tcase_add_test(c, bytes_that_are_not_utf8_become_replacement_characters);
	tcase_add_test(c, every_code_point_survives_encoding);
	tcase_add_test(c, wrapping_breaks_at_blanks_and_counts_rows);
	tcase_add_test(c, drawing_glyphs_are_one_column_in_both_sets);
	tcase_add_test(c, style_letters_are_unique_and_looks_are_complete);
	tcase_add_test(c, the_theme_follows_the_terminal);
	tcase_add_test(c, sizes_are_kept_within_bounds);
	suite_add_tcase(s, c);
	return test_run(s);
}
