/* What the screens say where there is little room: whole words, and the word that matters. */
#include "config.h"

#include "support.h"
#include "ui_shows.h"

#include <stdio.h>

/* One row of the screen, without its trailing blanks. */
static const char *row_of(int y)
{
	static char row[1024];
	const char *at = screen();
	for (; y > 0; y--)
		at = strchr(at, '\n') + 1;
	(void)snprintf(row, sizeof(row), "%.*s", (int)strcspn(at, "\n"), at);
	for (size_t n = strlen(row); n > 0 && row[n - 1] == ' '; n--)
		row[n - 1] = '\0';
	return row;
}

static void type_flags(const char *flags)
{
	fixture_text(f, ":");
	fixture_text(f, flags);
	(void)fixture_key(f, INPUT_ENTER);
}

START_TEST(the_header_never_loses_the_layout)
{
	static const struct {
		int w;
		const char *title;
	} cases[] = { { 60, "DeepSeek-V3 671B on 256 H100, pp16 ep8 dp16" }, { 80, "DeepSeek-V3 671B, pp16 ep8 dp16" } };
	type_flags("model deepseek-v3 gpus 256 tp 1 pp 16 ep 8");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_resize(f, cases[i].w, 24);
		ck_assert_msg(strncmp(row_of(0), cases[i].title, strlen(cases[i].title)) == 0, "%s", row_of(0));
	}
	type_flags("gpus 2048 tp 2 pp 16 ep 64 cp 2");
	fixture_resize(f, 80, 24);
	ck_assert_msg(strncmp(row_of(0), "DeepSeek-V3, tp2 pp16 cp2 ep64 dp32", 35) == 0, "%s", row_of(0));
}
END_TEST

/* A lone "~" behind a word is a cut; "~0" is a number. */
static bool is_cut(const char *row)
{
	for (const char *at = strchr(row, '~'); at != NULL; at = strchr(at + 1, '~')) {
		if (at[1] == ' ' || at[1] == '\0')
			return true;
	}
	return false;
}

/* Rows of the screen that begin with a text. */
static int rows_with(const char *start)
{
	int n = 0;
	for (int y = 0; y < f->app.h; y++)
		n += strncmp(row_of(y), start, strlen(start)) == 0;
	return n;
}

START_TEST(big_mode_uses_the_room_it_has)
{
	static const struct {
		int w, h, blank_max;
		const char *pp;
		bool step;
	} cases[] = { { 80, 24, 8, "4", false }, { 80, 24, 8, "2", true }, { 120, 40, 14, "4", true },
		{ 160, 45, 14, "4", true } };
	(void)fixture_key(f, 'B');
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char flags[16];
		(void)snprintf(flags, sizeof(flags), "pp %s", cases[i].pp);
		type_flags(flags);
		fixture_resize(f, cases[i].w, cases[i].h);
		int blank = 0;
		for (int y = 0; y < f->app.h; y++)
			blank += row_of(y)[0] == '\0';
		ck_assert_msg(blank <= cases[i].blank_max, "%d blank rows in\n%s", blank, screen());
		ck_assert_int_eq(rows_with("  step  c"), cases[i].step);
		ck_assert_int_eq(strstr(screen(), "c compute ") != NULL, cases[i].step && cases[i].w > 80);
	}
}
END_TEST

START_TEST(big_mode_always_says_how_to_leave_it)
{
	(void)fixture_key(f, 'B');
	fixture_resize(f, LAYOUT_MIN_W, LAYOUT_MIN_H);
	ck_assert_str_eq(row_of(LAYOUT_MIN_H - 1), "  h/l change  j/k move  p pipeline  ? help  B normal size");
}
END_TEST

START_TEST(the_heading_of_the_bars_is_whole_or_not_there)
{
	type_flags("pp 8 tp 4");
	(void)fixture_key(f, 'c');
	fixture_resize(f, 80, 24);
	ck_assert_msg(strstr(row_of(2), "GiB  4 79.2") == NULL, "%s", row_of(2));
	fixture_resize(f, 120, 24);
	ck_assert_msg(strstr(row_of(2), "GiB  4 of 8 stages ") != NULL, "%s", row_of(2));
}
END_TEST

START_TEST(the_list_of_advice_says_whole_that_it_goes_on)
{
	(void)fixture_key(f, 'a');
	while (app_busy(&f->app))
		(void)app_work(&f->app);
	fixture_resize(f, 60, 16);
	ck_assert_str_eq(row_of(13), "It fits; least lost speed first.               more below: G");
}
END_TEST

START_TEST(each_bubble_says_which_one_it_is)
{
	type_flags("global-batch 16");
	ck_assert_str_eq(row_of(1), "the bubble, as timed, is 26 % of the step: 8 micro-batches for 4 stages");
	shows("bubble 27.3 % as drawn, 25.5 % as timed");
	fixture_resize(f, 120, 40);
	shows("bubble 27.3 % as drawn (equal stages), 25.5 % as timed");
	type_flags("global-batch 128");
	shows("bubble 4.48 % as drawn, 4.26 % as timed; 168 of 201 ticks cut out at ~");
	type_flags("global-batch 16");
	(void)fixture_key(f, 'p');
	shows("27.3 % of step as drawn (equal stages)");
	shows("; as timed 25.5 % of step");
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_resize(f, 60, 16);
	shows(", idle 25.5 %, MFU ");
}
END_TEST

START_TEST(the_preview_of_every_setting_is_whole)
{
	static const int widths[] = { 60, 80, 120 };
	fixture_resize(f, widths[_i], 24);
	for (size_t i = 0; i < knob_count(); i++) {
		if (!settings_apply(&f->app.draft.s, knob_at(i)))
			continue;
		fixture_focus(f, knob_at(i)->key);
		ck_assert_msg(!is_cut(row_of(22)), "%d: %s", widths[_i], row_of(22));
	}
}
END_TEST

START_TEST(no_line_of_the_help_is_cut)
{
	static const int widths[] = { 60, 80, 120 };
	fixture_resize(f, widths[_i], 24);
	(void)fixture_key(f, '?');
	size_t last = SIZE_MAX;
	while (f->app.scroll[VIEW_HELP] != last) {
		last = f->app.scroll[VIEW_HELP];
		(void)screen();
		for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
			ck_assert_msg(!is_cut(line) || strstr(line, "are left out") != NULL, "%s", line);
		(void)fixture_key(f, 'j');
	}
}
END_TEST

START_TEST(a_refusal_names_what_is_not_divided)
{
	fixture_focus(f, "tp");
	shows("16  does not divide 8 kv-heads");
	fixture_resize(f, 60, 16);
	shows("16  refused: 8 kv-heads");
	fixture_focus(f, "zero");
	shows("2  not in megatron");
	fixture_resize(f, 80, 24);
	type_flags("framework deepspeed tp 1 pp 4");
	fixture_focus(f, "zero");
	shows("2  not with pp above 1");
}
END_TEST

START_TEST(a_long_answer_takes_a_second_row)
{
	fixture_resize(f, 60, 16);
	(void)fixture_key(f, 'c');
	ck_assert_str_eq(row_of(6), "Pinned as A: figures show the difference to it. d lists all,");
	ck_assert_str_eq(row_of(7), "C drops it.");
	(void)fixture_key(f, 'j');
	ck_assert_ptr_null(strstr(screen(), "C drops it."));
}
END_TEST

START_TEST(the_bill_of_the_smallest_screen_is_complete)
{
	fixture_resize(f, 60, 16);
	(void)fixture_key(f, '$');
	shows("u useful FLOPs at peak");
	shows("c compute below peak");
	shows("the others");
	shows("sum");
	shows("goodput");
	for (int y = 0; y < 16; y++)
		ck_assert_msg(!is_cut(row_of(y)), "%s", row_of(y));
}
END_TEST

START_TEST(a_list_says_in_full_what_its_focus_is)
{
	fixture_resize(f, 60, 16);
	fixture_focus(f, "framework");
	(void)fixture_key(f, INPUT_ENTER);
	shows("Megatron-LM / Megatron-Core: tp, pp, cp, ep, distributed");
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_focus(f, "zero");
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, 'G');
	shows("zero 3 is not in megatron (it is in fsdp)");
}
END_TEST

static void finish_work(void)
{
	while (app_busy(&f->app))
		(void)app_work(&f->app);
}

/* The task of a new user: does it fit, what is the cheapest change, which stage is worst, why. */
START_TEST(a_no_says_how_much_where_why_and_the_cheapest_way_out)
{
	type_flags("gpus 16");
	ck_assert_ptr_null(strstr(screen(), "way out"));
	finish_work();
	shows("DOES NOT FIT   22.7 GiB over on stage 0");
	shows("pp 4 became 2. u undoes it. Way out: offload cpu. All ways: a");
	(void)fixture_key(f, INPUT_ESCAPE);
	shows("Cheapest way out: offload cpu, -50.8 GiB, 8.4 % slower. All ways: a");
	shows("why: 2 micro-batches in flight, s1 has 1");
	(void)fixture_key(f, INPUT_TAB);
	shows("Stage 0 needs most: it holds 2 micro-batches in flight, stage 1 holds 1.");
	(void)fixture_key(f, 'e');
	shows("why         Stage 0 needs most: it holds 2 micro-batches in flight, stage 1");
	shows("formula     W + M + G + O + A + T + Rw + Rc + Rm");
}
END_TEST

START_TEST(words_name_what_a_stage_has_more_of)
{
	(void)fixture_key(f, INPUT_TAB);
	(void)fixture_key(f, 'j');
	shows("Stage 1 needs 7.28 GiB less than stage 0: 3 micro-batches in flight, not 4.");
	type_flags("pp 1 gpus 64");
	shows("Every GPU needs the same; most of it is ");
	type_flags("model llama3-8b seq 512 gpus 8 tp 1 pp 4 micro-batch 1 global-batch 8 vocab 1000000 recompute full");
	(void)fixture_key(f, INPUT_ESCAPE);
	(void)fixture_key(f, INPUT_TAB);
	(void)fixture_key(f, INPUT_TAB);
	shows("Stage 0 needs most: it holds 5.84B parameters, stage 2 holds 1.74B.");
}
END_TEST

/* What costs least speed comes first; the speed stands beside it. */
START_TEST(advice_is_ranked_by_what_it_costs)
{
	type_flags("tp 4");
	(void)fixture_key(f, 'a');
	finish_work();
	const struct advice *a = &f->app.advice;
	for (size_t i = 1; i < a->n; i++) {
		/* A layout chosen anew stands behind changes of one setting. */
		const bool alike = (a->row[i].from[0] == '\0') == (a->row[i - 1].from[0] == '\0');
		if (alike && a->row[i].group == a->row[i - 1].group && a->row[i].group < ADVICE_HARDWARE)
			ck_assert(a->row[i].tokens_per_s <= a->row[i - 1].tokens_per_s);
	}
	shows("tokens/s");
	shows("% slower");
	shows("Enter takes ");
}
END_TEST

/* What no single setting mends, a layout may: it is the way out before anything else is trained. */
START_TEST(a_layout_chosen_anew_is_a_way_out)
{
	type_flags("model deepseek-v3 gpus 2048");
	finish_work();
	shows("out: layout chosen anew, -");
	(void)fixture_key(f, 'a');
	finish_work();
	shows("layout           chosen anew");
	shows("Enter takes layout chosen anew; u goes back.");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert(f->app.plan.verdict.fits);
	ck_assert_int_eq(f->app.draft.s.training.global_batch, 128);
}
END_TEST

/* Twice the time is no percentage. */
START_TEST(large_differences_are_factors)
{
	type_flags("tp 4");
	(void)fixture_key(f, 'a');
	finish_work();
	(void)fixture_key(f, 'G');
	shows(" x slower");
	for (size_t i = 0; i < f->app.advice.n; i++)
		ck_assert(f->app.advice.row[i].group != ADVICE_LAYOUT || strstr(f->app.advice.row[i].what, "--") == NULL);
}
END_TEST

START_TEST(names_are_asked_for_where_names_are_wanted)
{
	fixture_focus(f, "model");
	fixture_text(f, "=");
	shows("Tab completes a name");
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_focus(f, "seq");
	fixture_text(f, "=");
	shows("8k, 8192, 70B, 1.5e12");
}
END_TEST

static const char *completed(const char *typed)
{
	(void)fixture_key(f, INPUT_CTRL_U);
	fixture_text(f, typed);
	(void)fixture_key(f, INPUT_TAB);
	return f->app.prompt.text;
}

/* A setting, a word of it, a preset; what several have in common, and then which they are. */
START_TEST(tab_completes_settings_and_their_values)
{
	fixture_text(f, ":");
	ck_assert_str_eq(completed("fr"), "framework ");
	ck_assert_str_eq(completed("tp 4 --framework me"), "tp 4 --framework megatron ");
	ck_assert_str_eq(completed("model=LLAMA3.1"), "model=llama3.1-405b ");
	ck_assert_str_eq(completed("sequence-parallel of"), "sequence-parallel off ");
	ck_assert_str_eq(completed("optimizer paged"), "optimizer paged-adam");
	shows("paged-adamw paged-adam8bit");
	ck_assert_str_eq(completed("optimizer nothing"), "optimizer nothing");
	ck_assert_str_eq(completed("seq 8"), "seq 8");
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_focus(f, "gpu");
	fixture_text(f, "=");
	ck_assert_str_eq(completed("h2"), "h200-sxm-141gb");
}
END_TEST

/* As on the command line. */
START_TEST(a_model_and_a_number_of_gpus_need_no_names)
{
	type_flags("llama3-8b on 8xA100 seq 8k");
	ck_assert_str_eq(f->app.draft.s.model.id, "llama3-8b");
	ck_assert_str_eq(f->app.draft.s.cluster.gpu.id, "a100-sxm-80gb");
	ck_assert_int_eq(f->app.draft.s.cluster.gpus, 8);
	ck_assert_int_eq(f->app.draft.s.training.seq, 8192);
	type_flags("70B");
	ck_assert_int_eq(f->app.plan.params, INT64_C(70000000000));
	fixture_text(f, ":nonsense");
	shows("No setting \"nonsense\". Nearest:");
}
END_TEST

START_TEST(what_each_of_several_flags_moved_is_said)
{
	type_flags("gpus 8 framework fsdp");
	shows("pp 4 became 1, zero 1 became 2. u undoes it.");
}
END_TEST

/* The name in the heading is what changed. */
START_TEST(the_next_schedule_leaves_its_heading_in_sight)
{
	(void)fixture_key(f, 'p');
	(void)fixture_key(f, 's');
	shows("interleaved  4 ranks");
	shows("Passed over: schedule 1f1b-v is not in megatron.");
	type_flags("global-batch 16");
	(void)fixture_key(f, 's');
	ck_assert_str_eq(row_of(2), "megatron.");
}
END_TEST

START_TEST(presets_say_which_list_holds_a_name)
{
	fixture_text(f, "b/h100");
	shows("Elsewhere: gpus 1,");
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, INPUT_TAB);
	ck_assert_str_eq(browser_focused(&f->app.browser, &f->catalog), "h100-sxm-80gb");
}
END_TEST

START_TEST(help_is_searched_and_its_lines_are_opened)
{
	(void)fixture_key(f, '?');
	fixture_text(f, "/gradients");
	(void)fixture_key(f, INPUT_ENTER);
	shows("G  gradients");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_EXPLAIN);
	ck_assert_str_eq(f->app.path, "memory.stages[0].gradients");
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_HELP);
	const size_t first = f->app.scroll[VIEW_HELP];
	(void)fixture_key(f, 'n');
	ck_assert_uint_ne(f->app.scroll[VIEW_HELP], first);
	(void)fixture_key(f, 'N');
	ck_assert_uint_eq(f->app.scroll[VIEW_HELP], first);
	fixture_text(f, "/nosuchword");
	shows("No line holds \"nosuchword\".");
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_uint_eq(f->app.scroll[VIEW_HELP], first);
	fixture_text(f, "/memory ledger");
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MEMORY);
}
END_TEST

START_TEST(a_key_of_another_view_is_not_pressed_by_the_help)
{
	(void)fixture_key(f, '?');
	fixture_text(f, "/zoom in");
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_HELP);
	shows("That key has no meaning where the help was called.");
}
END_TEST

START_TEST(what_was_undone_last_is_a_third_column)
{
	fixture_resize(f, 120, 40);
	(void)fixture_key(f, 'c');
	type_flags("recompute full");
	type_flags("micro-batch 2");
	(void)fixture_key(f, 'u');
	(void)fixture_key(f, 'd');
	shows("C undone");
	(void)fixture_key(f, INPUT_CTRL_R);
	ck_assert_ptr_null(strstr(screen(), "C undone"));
	(void)fixture_key(f, 'u');
	fixture_resize(f, 80, 24);
	ck_assert_ptr_null(strstr(screen(), "C undone"));
}
END_TEST

/* A V100 has no price. */
START_TEST(what_is_not_known_is_not_compared_as_zero)
{
	type_flags("gpu v100-sxm2-32gb");
	fixture_text(f, "cd");
	shows("cost, USD                              -           -           -");
}
END_TEST

/* With a pin the cells of the wide table hold differences; they are figures still. */
START_TEST(differences_can_have_the_focus)
{
	fixture_resize(f, 120, 40);
	(void)fixture_key(f, 'c');
	type_flags("tp 4");
	(void)fixture_key(f, INPUT_TAB);
	fixture_text(f, "jjjj");
	ck_assert_ptr_nonnull(strstr(f->app.figure, "memory.stages[0]."));
	ck_assert_ptr_null(strstr(f->app.figure, "total"));
	(void)fixture_key(f, 'e');
	ck_assert_int_eq(f->app.view, VIEW_EXPLAIN);
}
END_TEST

START_TEST(prices_are_listed_at_round_values)
{
	(void)fixture_key(f, '$');
	fixture_text(f, "jj");
	ck_assert_str_eq(app_knob(&f->app)->key, "price");
	(void)fixture_key(f, INPUT_ENTER);
	fixture_text(f, "/3.5");
	(void)fixture_key(f, INPUT_ENTER);
	shows("3.5         $1.87M");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert(f->app.draft.s.cost.price == 3.5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_words");
	TCase *c = tcase_create("words");
	tcase_add_checked_fixture(c, ui_open, ui_close);
	tcase_add_test(c, the_header_never_loses_the_layout);
	tcase_add_test(c, big_mode_uses_the_room_it_has);
	tcase_add_test(c, big_mode_always_says_how_to_leave_it);
	tcase_add_test(c, the_heading_of_the_bars_is_whole_or_not_there);
	tcase_add_test(c, the_list_of_advice_says_whole_that_it_goes_on);
	tcase_add_test(c, each_bubble_says_which_one_it_is);
	tcase_add_loop_test(c, the_preview_of_every_setting_is_whole, 0, 3);
	tcase_add_loop_test(c, no_line_of_the_help_is_cut, 0, 3);
	tcase_add_test(c, a_refusal_names_what_is_not_divided);
	tcase_add_test(c, a_long_answer_takes_a_second_row);
	tcase_add_test(c, the_bill_of_the_smallest_screen_is_complete);
	tcase_add_test(c, a_list_says_in_full_what_its_focus_is);
	tcase_add_test(c, a_no_says_how_much_where_why_and_the_cheapest_way_out);
	tcase_add_test(c, words_name_what_a_stage_has_more_of);
	tcase_add_test(c, advice_is_ranked_by_what_it_costs);
	tcase_add_test(c, a_layout_chosen_anew_is_a_way_out);
	tcase_add_test(c, large_differences_are_factors);
	tcase_add_test(c, names_are_asked_for_where_names_are_wanted);
	tcase_add_test(c, tab_completes_settings_and_their_values);
	tcase_add_test(c, a_model_and_a_number_of_gpus_need_no_names);
	tcase_add_test(c, what_each_of_several_flags_moved_is_said);
	tcase_add_test(c, the_next_schedule_leaves_its_heading_in_sight);
	tcase_add_test(c, presets_say_which_list_holds_a_name);
	tcase_add_test(c, help_is_searched_and_its_lines_are_opened);
	tcase_add_test(c, a_key_of_another_view_is_not_pressed_by_the_help);
	tcase_add_test(c, what_is_not_known_is_not_compared_as_zero);
	tcase_add_test(c, what_was_undone_last_is_a_third_column);
	tcase_add_test(c, differences_can_have_the_focus);
	tcase_add_test(c, prices_are_listed_at_round_values);
	suite_add_tcase(s, c);
	return test_run(s);
}
