/* The laboratory on the screen: every lab runs, can be stepped both ways, shows what the engine computed, and leaves no memory.
 */
#include "support.h"
#include "ui_shows.h"

#include "lab.h"
#include "lab_report.h"
#include "labs.h"

#include <stdio.h>

static char before[256 * 1024];

/* Opens lab i with its default parameters. */
static void run_lab_at(size_t i)
{
	fixture_text(f, "Eg");
	for (size_t k = 0; k < i; k++)
		(void)fixture_key(f, 'j');
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_msg(f->app.view == VIEW_LAB, "%s: %s", lab_table[i]->id, f->app.message);
}

START_TEST(the_menu_lists_every_lab)
{
	(void)fixture_key(f, 'E');
	ck_assert_int_eq(f->app.view, VIEW_LABS);
	for (size_t i = 0; lab_table[i] != NULL; i++)
		shows(lab_table[i]->label);
	fixture_resize(f, LAYOUT_MIN_W, LAYOUT_MIN_H);
	for (size_t i = 0; lab_table[i] != NULL; i++)
		shows(lab_table[i]->label);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
}
END_TEST

/* Row of the screen that holds a text; -1: none. */
static int row_with(const char *what)
{
	const char *end = strstr(screen(), what);
	int y = 0;
	for (const char *at = text; end != NULL && at < end; at++)
		y += *at == '\n';
	return end != NULL ? y : -1;
}

START_TEST(the_list_of_steps_shows_where_one_stands)
{
	static const int heights[] = { 24, 45 };
	for (size_t h = 0; h < sizeof(heights) / sizeof(heights[0]); h++) {
		fixture_resize(f, 80, heights[h]);
		run_lab_at(0);
		const int heading = row_with("STEPS"), first = row_with("►   1  iteration 1: forward of the shard");
		ck_assert_int_gt(heading, 0);
		ck_assert_int_eq(first, heading + 1);
		(void)fixture_key(f, '.');
		ck_assert_int_eq(row_with("STEPS"), heading);
		ck_assert_int_eq(row_with("►   2  "), first + 1);
		ck_assert_int_eq(row_with("    1  iteration 1: forward of the shard"), first);
		fixture_text(f, "..........");
		shows("►  12  ");
		shows("   13  what it proved");
		(void)fixture_key(f, INPUT_ESCAPE);
	}
}
END_TEST

START_TEST(a_wide_menu_says_what_each_lab_is_about)
{
	(void)fixture_key(f, 'E');
	fixture_resize(f, 160, 45);
	for (size_t i = 0; lab_table[i] != NULL; i++)
		shows(lab_table[i]->help);
	ck_assert_int_eq(row_with("optimizer states outside the GPU"), row_with("offload to host") + 1);
}
END_TEST

START_TEST(every_lab_runs_and_says_what_it_proved)
{
	run_lab_at((size_t)_i);
	const struct lab_run *run = &f->app.labs.play->run;
	ck_assert(lab_proven(run));
	(void)fixture_key(f, 'G');
	ck_assert_int_eq(f->app.labs.at, run->steps);
	shows("what it proved");
	shows("proved");
	(void)fixture_key(f, 'g');
	ck_assert_int_eq(f->app.labs.at, 0);
	shows("step 1 of ");
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_LABS);
	ck_assert_ptr_null(f->app.labs.play);
}
END_TEST

START_TEST(forth_and_back_gives_the_same_screen)
{
	enum { STEPS_MAX = 200 };
	run_lab_at((size_t)_i);
	memcpy(before, screen(), sizeof(before));
	const int64_t steps = f->app.labs.play->run.steps < STEPS_MAX ? f->app.labs.play->run.steps : STEPS_MAX;
	for (int64_t i = 0; i < steps; i++) {
		(void)fixture_key(f, '.');
		(void)screen();
	}
	ck_assert_int_eq(f->app.labs.at, steps);
	for (int64_t i = 0; i < steps; i++) {
		(void)fixture_key(f, ',');
		(void)screen();
	}
	ck_assert_str_eq(screen(), before);
}
END_TEST

START_TEST(playing_stops_at_the_end)
{
	const struct event tick = { .kind = EVENT_TICK };
	run_lab_at(0);
	ck_assert_int_eq(app_wait_ms(&f->app), -1);
	(void)fixture_key(f, ' ');
	ck_assert_int_gt(app_wait_ms(&f->app), 0);
	(void)fixture_key(f, '9');
	for (int i = 0; i < 100000 && app_wait_ms(&f->app) > 0; i++)
		(void)app_update(&f->app, &tick);
	ck_assert_int_eq(app_wait_ms(&f->app), -1);
	ck_assert_int_eq(f->app.labs.at, f->app.labs.play->run.steps);
	(void)fixture_key(f, ' ');
	ck_assert_int_eq(f->app.labs.at, 0);
	(void)fixture_key(f, '0');
	ck_assert_int_eq(app_wait_ms(&f->app), -1);
}
END_TEST

START_TEST(a_parameter_is_changed_and_refused)
{
	(void)fixture_key(f, 'E');
	(void)fixture_key(f, 'l');
	ck_assert_ptr_nonnull(strstr(f->app.message, "Tab"));
	(void)fixture_key(f, INPUT_TAB);
	const double dflt = f->app.labs.input.value[0];
	(void)fixture_key(f, 'l');
	ck_assert(f->app.labs.input.value[0] == dflt + 1);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_LAB);
	ck_assert(f->app.labs.play->run.input.value[0] == dflt + 1);
	(void)fixture_key(f, INPUT_ESCAPE);
	(void)fixture_key(f, 'r');
	ck_assert(f->app.labs.input.value[0] == dflt);
	for (int i = 0; i < 40; i++)
		fixture_text(f, "H");
	ck_assert(f->app.labs.input.value[0] == lab_table[0]->params[0].min);
	ck_assert_ptr_nonnull(strstr(f->app.message, lab_table[0]->params[0].key));
}
END_TEST

static double param(void)
{
	return f->app.labs.input.value[f->app.labs.param];
}

START_TEST(a_parameter_is_typed)
{
	(void)fixture_key(f, 'E');
	(void)fixture_key(f, '=');
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_NONE);
	ck_assert_ptr_nonnull(strstr(f->app.message, "Tab"));
	(void)fixture_key(f, INPUT_TAB);
	fixture_text(f, "12");
	shows("gpus          = 12");
	shows("1 .. 256");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_NONE);
	ck_assert(param() == 12);
	fixture_text(f, "=7");
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert(param() == 12);
	fixture_text(f, "=1000");
	shows("1000: legal here: 1 .. 256");
	shows("Enter takes 256");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert(param() == 256);
	fixture_text(f, "=nan");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_PARAM);
	ck_assert_str_ne(f->app.prompt.note, "");
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert(param() == 256);
}
END_TEST

START_TEST(words_flags_and_negative_numbers_are_typed_too)
{
	static const struct {
		const char *lab, *key, *text, *bad;
		double value;
	} cases[] = {
		{ "allreduce", "algorithm", "halving", "ring, tree, halving, hierarchical", 2 },
		{ "fsdp", "prefetch", "on", "on, off", 1 },
		{ "precision", "loss-exponent", "-30", "legal", -30 },
		{ "precision", "dynamic-exponent", "12", "dynamic-exponent = x", 12 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lab *lab = lab_find(cases[i].lab);
		(void)fixture_key(f, 'E');
		f->app.labs.on_params = false;
		fixture_text(f, "g");
		while (lab_table[f->app.labs.focus] != lab)
			(void)fixture_key(f, 'j');
		(void)fixture_key(f, INPUT_TAB);
		while (strcmp(lab->params[f->app.labs.param].key, cases[i].key) != 0)
			(void)fixture_key(f, 'j');
		(void)fixture_key(f, '=');
		fixture_text(f, cases[i].text);
		(void)fixture_key(f, INPUT_ENTER);
		ck_assert_msg(param() == cases[i].value, "%s: %g", cases[i].key, param());
		fixture_text(f, "=x");
		if (i != 2)
			shows(cases[i].bad);
		(void)fixture_key(f, INPUT_ESCAPE);
		(void)fixture_key(f, INPUT_ESCAPE);
	}
}
END_TEST

/* Whether every word of a text stands on the screen, in order. */
static bool has_words(const char *at, const char *words)
{
	char word[LAB_TEXT_CAP];
	for (;;) {
		words += strspn(words, " ");
		const size_t n = strcspn(words, " ");
		if (n == 0)
			return true;
		(void)snprintf(word, sizeof(word), "%.*s", (int)n, words);
		at = strstr(at, word);
		if (at == NULL)
			return false;
		words += n;
	}
}

START_TEST(the_question_is_answered_and_run)
{
	run_lab_at((size_t)_i);
	const struct lab_input first = f->app.labs.play->run.input;
	char judged[256];
	fixture_text(f, "Gjj");
	fixture_resize(f, LAYOUT_MIN_W, LAYOUT_MIN_H);
	(void)fixture_key(f, 'P');
	ck_assert_msg(has_words(screen(), f->app.labs.play->run.question), "%s", text);
	fixture_resize(f, 80, 24);
	shows("your answer");
	fixture_text(f, "x");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_PREDICT);
	(void)fixture_key(f, INPUT_CTRL_U);
	fixture_text(f, "12");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_msg(f->app.prompt.kind == PROMPT_NONE && f->app.labs.play->predicted, "%s", f->app.message);
	const struct lab_run *run = &f->app.labs.play->run;
	ck_assert(memcmp(first.value, run->input.value, sizeof(first.value)) != 0);
	ck_assert(memcmp(f->app.labs.input.value, run->input.value, sizeof(first.value)) == 0);
	ck_assert_int_eq(f->app.labs.at, run->steps);
	(void)lab_answer_judge(run, 12, judged, sizeof(judged));
	judged[40] = '\0';
	shows("you said 12");
	shows(judged);
	(void)fixture_key(f, 'P');
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_LAB);
}
END_TEST

START_TEST(no_number_and_no_word_is_cut)
{
	static const struct {
		int w, h;
	} sizes[] = { { 60, 16 }, { 80, 24 }, { 160, 45 } };
	f->app.ascii = true;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		fixture_resize(f, sizes[s].w, sizes[s].h);
		run_lab_at((size_t)_i);
		const struct lab_run *run = &f->app.labs.play->run;
		for (int64_t k = 0; k < run->steps && k < 100; k++) {
			struct lab_step step;
			lab_step(run, k, &step);
			const char *at = strstr(screen(), "step ");
			ck_assert_ptr_nonnull(at);
			ck_assert_msg(strstr(at, ">\n") == NULL, "%s", at);
			ck_assert_msg(has_words(at, step.title), "%s\n%s", step.title, at);
			for (int64_t i = 0; i < step.rows && i < 2; i++) {
				struct lab_row row;
				lab_row(run, k, i, &row);
				ck_assert_msg(has_words(at, row.text), "%s\n%s", row.text, at);
			}
			(void)fixture_key(f, '.');
		}
	}
}
END_TEST

START_TEST(too_large_a_run_is_refused_with_the_reason)
{
	(void)fixture_key(f, 'E');
	(void)fixture_key(f, INPUT_TAB);
	for (size_t i = 0; i < lab_table[0]->n_params; i++) {
		if (lab_table[0]->params[i].type == LAB_PARAM_INT)
			fixture_text(f, "LL");
		(void)fixture_key(f, 'j');
	}
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_LABS);
	ck_assert_str_ne(f->app.message, "");
	ck_assert_ptr_null(f->app.labs.play);
}
END_TEST

START_TEST(small_plain_and_after_a_change_of_the_plan)
{
	for (size_t i = 0; lab_table[i] != NULL; i++) {
		f->app.ascii = true;
		fixture_resize(f, LAYOUT_MIN_W, LAYOUT_MIN_H);
		run_lab_at(i);
		fixture_text(f, "jjG");
		for (const char *at = screen(); *at != '\0'; at++)
			ck_assert_int_lt((unsigned char)*at, 0x80);
		fixture_text(f, ":pp 8");
		(void)fixture_key(f, INPUT_ENTER);
		fixture_text(f, "g.");
		(void)screen();
		fixture_text(f, "m");
		ck_assert_ptr_null(f->app.labs.play);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_lab");
	TCase *c = tcase_create("lab");
	tcase_add_checked_fixture(c, ui_open, ui_close);
	tcase_add_test(c, the_menu_lists_every_lab);
	tcase_add_test(c, the_list_of_steps_shows_where_one_stands);
	tcase_add_test(c, a_wide_menu_says_what_each_lab_is_about);
	tcase_add_loop_test(c, every_lab_runs_and_says_what_it_proved, 0, 10);
	tcase_add_loop_test(c, forth_and_back_gives_the_same_screen, 0, 10);
	tcase_add_test(c, playing_stops_at_the_end);
	tcase_add_test(c, a_parameter_is_changed_and_refused);
	tcase_add_test(c, a_parameter_is_typed);
	tcase_add_test(c, words_flags_and_negative_numbers_are_typed_too);
	tcase_add_loop_test(c, the_question_is_answered_and_run, 0, 10);
	tcase_add_loop_test(c, no_number_and_no_word_is_cut, 0, 10);
	tcase_add_test(c, too_large_a_run_is_refused_with_the_reason);
	tcase_add_test(c, small_plain_and_after_a_change_of_the_plan);
	suite_add_tcase(s, c);
	return test_run(s);
}
