/* The state: what each key does, undo, prompts, modes; and a storm of keys that must never break an invariant. */
#include "support.h"
#include "ui_fixture.h"

#include "explain.h"
#include "knobs.h"
#include "report.h"
#include "view.h"

#include <stdio.h>

static struct fixture *f;

static void setup(void)
{
	f = fixture_new(80, 24);
}

static void teardown(void)
{
	free(f);
}

START_TEST(it_starts_on_the_default_scenario_which_fits)
{
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_int_eq(f->app.pane, PANE_SETTINGS);
	ck_assert_str_eq(app_knob(&f->app)->key, "tp");
	ck_assert(f->app.plan.verdict.fits);
	ck_assert_uint_eq(f->app.n_stages, 4);
	ck_assert_str_eq(f->app.message, "");
}
END_TEST

START_TEST(a_step_changes_the_value_the_plan_and_the_stages)
{
	const int64_t before = f->app.plan.worst.need_bytes;
	ck_assert_uint_eq(fixture_key(f, INPUT_LEFT), APP_DRAW);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 4);
	ck_assert_int_gt(f->app.plan.worst.need_bytes, before);
	ck_assert_int_eq(f->app.stages[f->app.plan.verdict.worst_stage].need_bytes, f->app.plan.worst.need_bytes);
	ck_assert_uint_eq(fixture_key(f, 'l'), APP_DRAW);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert_int_eq(f->app.plan.worst.need_bytes, before);
}
END_TEST

START_TEST(a_refused_step_changes_nothing_and_says_why)
{
	(void)fixture_key(f, 'l');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert_ptr_nonnull(strstr(f->app.message, "tp 16"));
	ck_assert_ptr_nonnull(strstr(f->app.message, "1 2 4 8"));
	(void)fixture_key(f, 'k');
	ck_assert_str_eq(f->app.message, "");
}
END_TEST

START_TEST(the_preview_is_what_the_step_then_does)
{
	const struct preview p = f->app.preview[0];
	const int64_t before = f->app.plan.worst.need_bytes;
	ck_assert(p.possible);
	(void)fixture_key(f, 'h');
	ck_assert_int_eq(f->app.plan.worst.need_bytes - before, p.change_bytes);
	ck_assert_int_eq(f->app.plan.verdict.fits, p.verdict.fits);
	ck_assert(!f->app.preview[0].same);
}
END_TEST

START_TEST(undo_and_redo_walk_the_whole_history)
{
	char from[512], to[512];
	for (int i = 0; i < 3; i++)
		(void)fixture_key(f, 'h');
	(void)knob_format(knob_find("tp"), &f->app.draft.s, from, sizeof(from));
	ck_assert_str_eq(from, "1");
	for (int i = 0; i < 3; i++)
		(void)fixture_key(f, 'u');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	(void)fixture_key(f, 'u');
	ck_assert_str_ne(f->app.message, "");
	for (int i = 0; i < 3; i++)
		(void)fixture_key(f, INPUT_CTRL_R);
	(void)knob_format(knob_find("tp"), &f->app.draft.s, to, sizeof(to));
	ck_assert_str_eq(from, to);
	ck_assert_int_eq(f->app.plan.dp, scenario_dp(&f->app.draft.s));
}
END_TEST

START_TEST(a_new_change_forgets_what_was_undone)
{
	(void)fixture_key(f, 'h');
	(void)fixture_key(f, 'u');
	fixture_focus(f, "micro-batch");
	(void)fixture_key(f, 'l');
	(void)fixture_key(f, INPUT_CTRL_R);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert_int_eq(f->app.draft.s.training.micro_batch, 2);
}
END_TEST

START_TEST(history_keeps_the_newest_states_when_it_is_full)
{
	for (int i = 0; i < HISTORY_MAX + 10; i++)
		(void)fixture_key(f, i % 2 == 0 ? 'h' : 'l');
	for (int i = 0; i < HISTORY_MAX + 10; i++)
		(void)fixture_key(f, 'u');
	ck_assert_uint_eq(f->app.history.at, 0);
	ck_assert_uint_eq(f->app.history.count, HISTORY_MAX);
}
END_TEST

START_TEST(a_typed_value_is_read_shown_and_taken)
{
	fixture_focus(f, "seq");
	fixture_text(f, "4k");
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_VALUE);
	ck_assert(f->app.prompt.good);
	ck_assert_ptr_nonnull(strstr(f->app.prompt.note, "4,096"));
	ck_assert_int_eq(f->app.draft.s.training.seq, 8192);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_NONE);
	ck_assert_int_eq(f->app.draft.s.training.seq, 4096);
}
END_TEST

/* A number between two stops of the slider is a stop itself, up and down, for its setting alone. */
START_TEST(a_typed_number_comes_back)
{
	fixture_focus(f, "seq");
	fixture_text(f, "=12k");
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, 'l');
	ck_assert_int_eq(f->app.draft.s.training.seq, 16384);
	ck_assert_str_eq(f->app.preview[0].value, "12,288");
	(void)fixture_key(f, 'h');
	ck_assert_int_eq(f->app.draft.s.training.seq, 12288);
	(void)fixture_key(f, 'h');
	ck_assert_int_eq(f->app.draft.s.training.seq, 8192);
	(void)fixture_key(f, 'l');
	ck_assert_int_eq(f->app.draft.s.training.seq, 12288);
	fixture_focus(f, "max-seq");
	(void)fixture_key(f, 'l');
	ck_assert_int_ne(f->app.draft.s.model.max_seq, 12288);
}
END_TEST

/* Big mode shows one setting and no figures: its keys belong to the setting. */
START_TEST(big_mode_is_about_a_setting)
{
	(void)fixture_key(f, INPUT_TAB);
	ck_assert_int_eq(f->app.pane, PANE_FIGURES);
	(void)fixture_key(f, 'B');
	ck_assert_int_eq(f->app.pane, PANE_SETTINGS);
}
END_TEST

START_TEST(a_text_that_cannot_be_read_stays_in_the_prompt_with_its_reason)
{
	fixture_text(f, "6x");
	ck_assert(!f->app.prompt.good);
	ck_assert_ptr_nonnull(strstr(f->app.prompt.note, "6"));
	ck_assert_str_eq(f->app.prompt.take, "");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_VALUE);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	(void)fixture_key(f, INPUT_CTRL_U);
	fixture_text(f, "4");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 4);
}
END_TEST

START_TEST(enter_on_a_refused_number_takes_the_nearest_legal_one)
{
	fixture_text(f, "5");
	ck_assert(!f->app.prompt.good);
	ck_assert_str_eq(f->app.prompt.take, "4");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_NONE);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 4);
}
END_TEST

START_TEST(a_prompt_takes_text_beyond_ascii_and_erases_whole_characters)
{
	fixture_text(f, "S");
	(void)fixture_key(f, 0x5c42);
	(void)fixture_key(f, 0xe9);
	ck_assert_str_eq(f->app.prompt.text, "\xe5\xb1\x82\xc3\xa9");
	(void)fixture_key(f, INPUT_LEFT);
	(void)fixture_key(f, INPUT_BACKSPACE);
	ck_assert_str_eq(f->app.prompt.text, "\xc3\xa9");
	(void)fixture_key(f, INPUT_DELETE);
	ck_assert_str_eq(f->app.prompt.text, "");
}
END_TEST

START_TEST(a_pin_measures_every_change_and_can_be_swapped_and_dropped)
{
	size_t differ[KNOB_MAX];
	(void)fixture_key(f, 'c');
	ck_assert(f->app.pin.set);
	ck_assert_uint_eq(pin_differences(&f->app, differ, KNOB_MAX), 0);
	(void)fixture_key(f, 'h');
	ck_assert_uint_eq(pin_differences(&f->app, differ, KNOB_MAX), 2);
	ck_assert_str_eq(knob_at(differ[0])->key, "tp");
	ck_assert_str_eq(knob_at(differ[1])->key, "dp");
	(void)fixture_key(f, 'x');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert_int_eq(f->app.pin.draft.s.layout.tp, 4);
	(void)fixture_key(f, 'C');
	ck_assert(!f->app.pin.set);
	(void)fixture_key(f, 'x');
	ck_assert_ptr_nonnull(strstr(f->app.message, "pinned"));
}
END_TEST

static void finish_advice(void)
{
	while (app_busy(&f->app))
		(void)app_work(&f->app);
}

START_TEST(advice_ranks_what_fits_first_and_enter_takes_it)
{
	fixture_text(f, "ha");
	finish_advice();
	const struct advice *a = &f->app.advice;
	ck_assert(a->complete);
	ck_assert_uint_gt(a->n, 3);
	for (size_t i = 1; i < a->n; i++)
		ck_assert_int_ge(a->row[i].group, a->row[i - 1].group);
	for (size_t i = 0; i < a->n; i++) {
		struct plan p;
		struct err e;
		ck_assert(plan_evaluate(&a->row[i].draft.s, &p, &e) == ERR_OK);
		ck_assert_int_eq(p.worst.need_bytes, a->row[i].need_bytes);
		ck_assert_int_eq(p.verdict.fits, a->row[i].group != ADVICE_NOT_ENOUGH);
	}
	const int64_t need = a->row[1].need_bytes;
	(void)fixture_key(f, 'j');
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_int_eq(f->app.plan.worst.need_bytes, need);
	(void)fixture_key(f, 'u');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 4);
}
END_TEST

START_TEST(advice_on_a_plan_that_fits_gives_more_room_in_every_row)
{
	fixture_text(f, "a");
	finish_advice();
	const struct advice *a = &f->app.advice;
	ck_assert(f->app.plan.verdict.fits);
	ck_assert_uint_gt(a->n, 3);
	for (size_t i = 0; i < a->n; i++) {
		if (a->row[i].group <= ADVICE_LAYOUT)
			ck_assert_msg(a->row[i].headroom_bytes > f->app.plan.verdict.headroom_bytes, "%s %s", a->row[i].what,
				a->row[i].to);
	}
}
END_TEST

START_TEST(after_a_no_the_work_stops_as_soon_as_there_is_a_way_out)
{
	ck_assert(!app_busy(&f->app));
	(void)fixture_key(f, 'h');
	ck_assert(app_busy(&f->app));
	finish_advice();
	ck_assert_ptr_nonnull(advice_best(&f->app.advice));
	ck_assert(advice_best(&f->app.advice)->headroom_bytes > 0);
}
END_TEST

START_TEST(the_browser_filters_changes_kind_and_loads)
{
	ck_assert_uint_eq(fixture_key(f, 'b') & APP_EFFECT, APP_EFFECT);
	ck_assert_int_eq(f->app.effect.kind, EFFECT_LIST);
	fixture_text(f, "/8b llama");
	ck_assert_uint_eq(f->app.browser.n, 1);
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_str_eq(f->app.draft.s.model.id, "llama3-8b");
	(void)fixture_key(f, 'b');
	(void)fixture_key(f, INPUT_TAB);
	ck_assert_int_eq(f->app.browser.kind, BROWSER_GPUS);
	fixture_text(f, "/nothing like it");
	ck_assert_uint_eq(f->app.browser.n, 0);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_uint_eq(f->app.browser.n, f->catalog.n_gpus);
}
END_TEST

START_TEST(the_ledger_is_edited_in_place)
{
	fixture_text(f, "m");
	(void)fixture_key(f, INPUT_TAB);
	ck_assert_int_eq(app_context(&f->app), CONTEXT_LEDGER);
	fixture_text(f, "jj");
	ck_assert_str_eq(app_knob(&f->app)->key, "grad-dtype");
	const int64_t before = f->app.plan.worst.need_bytes;
	fixture_text(f, "=bf16");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MEMORY);
	ck_assert_int_lt(f->app.plan.worst.need_bytes, before);
	(void)fixture_key(f, 'u');
	ck_assert_int_eq(f->app.plan.worst.need_bytes, before);
}
END_TEST

START_TEST(an_explanation_leads_to_its_terms_and_back)
{
	fixture_text(f, "m");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_str_eq(f->app.path, "memory.stages[0].total");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_ptr_nonnull(strstr(f->app.path, "memory.stages[0]."));
	ck_assert_str_ne(f->app.path, "memory.stages[0].total");
	ck_assert_uint_eq(f->app.n_trail, 1);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_str_eq(f->app.path, "memory.stages[0].total");
	ck_assert_int_eq(f->app.view, VIEW_EXPLAIN);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_MEMORY);
}
END_TEST

START_TEST(n_repeats_a_search_both_ways)
{
	(void)fixture_key(f, 'n');
	ck_assert_ptr_nonnull(strstr(f->app.message, "searched"));
	fixture_text(f, "/batch");
	(void)fixture_key(f, INPUT_ENTER);
	const size_t first = f->app.focus;
	(void)fixture_key(f, 'n');
	ck_assert_uint_ne(f->app.focus, first);
	ck_assert_ptr_nonnull(strstr(app_knob(&f->app)->key, "batch"));
	(void)fixture_key(f, 'N');
	ck_assert_uint_eq(f->app.focus, first);
}
END_TEST

START_TEST(quitting_asks_only_when_a_named_scenario_has_changed)
{
	(void)snprintf(f->app.name, sizeof(f->app.name), "mine");
	f->app.changed = false;
	ck_assert(fixture_key(f, 'q') & APP_QUIT);
	(void)fixture_key(f, 'h');
	ck_assert(!(fixture_key(f, 'q') & APP_QUIT));
	ck_assert_ptr_nonnull(strstr(f->app.message, "mine"));
	(void)fixture_key(f, 'j');
	ck_assert(!(fixture_key(f, 'q') & APP_QUIT));
	ck_assert(fixture_key(f, 'q') & APP_QUIT);
}
END_TEST

START_TEST(escape_leaves_a_prompt_with_the_old_value_and_q_is_text_in_it)
{
	fixture_text(f, "=4q");
	ck_assert_str_eq(f->app.prompt.text, "4q");
	ck_assert_uint_eq(fixture_key(f, INPUT_ESCAPE), APP_DRAW);
	ck_assert_int_eq(f->app.prompt.kind, PROMPT_NONE);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
}
END_TEST

START_TEST(a_prompt_can_be_edited_in_the_middle)
{
	fixture_text(f, "=13");
	(void)fixture_key(f, INPUT_LEFT);
	fixture_text(f, "2");
	ck_assert_str_eq(f->app.prompt.text, "123");
	(void)fixture_key(f, INPUT_HOME);
	(void)fixture_key(f, INPUT_DELETE);
	ck_assert_str_eq(f->app.prompt.text, "23");
	(void)fixture_key(f, INPUT_END);
	(void)fixture_key(f, INPUT_BACKSPACE);
	ck_assert_str_eq(f->app.prompt.text, "2");
	(void)fixture_key(f, INPUT_CTRL_U);
	ck_assert_str_eq(f->app.prompt.text, "");
	for (int i = 0; i < 300; i++)
		fixture_text(f, "9");
	ck_assert_uint_lt(strlen(f->app.prompt.text), sizeof(f->app.prompt.text));
}
END_TEST

START_TEST(flags_change_several_settings_as_one_step)
{
	fixture_text(f, ":tp 4 --seq 16k recompute=full");
	ck_assert_msg(f->app.prompt.good, "%s", f->app.prompt.note);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 4);
	ck_assert_int_eq(f->app.draft.s.training.seq, 16384);
	ck_assert_int_eq(f->app.draft.s.training.recompute, RECOMPUTE_FULL);
	(void)fixture_key(f, 'u');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert_int_eq(f->app.draft.s.training.seq, 8192);
	fixture_text(f, ":tq 4");
	ck_assert(!f->app.prompt.good);
	ck_assert_ptr_nonnull(strstr(f->app.prompt.note, "tp"));
}
END_TEST

START_TEST(the_default_key_restores_the_start_value)
{
	fixture_focus(f, "recompute");
	(void)fixture_key(f, 'l');
	ck_assert_int_ne(f->app.draft.s.training.recompute, RECOMPUTE_NONE);
	(void)fixture_key(f, 'r');
	ck_assert_int_eq(f->app.draft.s.training.recompute, RECOMPUTE_NONE);
	(void)fixture_key(f, 'r');
	ck_assert_ptr_nonnull(strstr(f->app.message, "default"));
}
END_TEST

START_TEST(a_list_shows_all_values_filters_and_takes_one)
{
	fixture_focus(f, "model");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_LIST);
	ck_assert_uint_eq(f->app.list.n, f->catalog.n_models);
	fixture_text(f, "/8b llama");
	ck_assert_uint_eq(f->app.list.n, 1);
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_str_eq(f->app.draft.s.model.id, "llama3-8b");
}
END_TEST

START_TEST(a_refused_value_of_a_list_keeps_it_open)
{
	(void)fixture_key(f, INPUT_ENTER);
	(void)fixture_key(f, 'G');
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_LIST);
	ck_assert_str_ne(f->app.message, "");
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
}
END_TEST

START_TEST(escape_goes_back_one_level_and_never_quits)
{
	(void)fixture_key(f, 'm');
	(void)fixture_key(f, 'e');
	(void)fixture_key(f, '?');
	ck_assert_int_eq(f->app.view, VIEW_HELP);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_EXPLAIN);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_MEMORY);
	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(fixture_key(f, INPUT_ESCAPE) & APP_QUIT, 0);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_uint_ne(fixture_key(f, 'q') & APP_QUIT, 0);
}
END_TEST

START_TEST(the_derived_setting_is_explained_not_moved)
{
	const int64_t dp = f->app.plan.dp;
	fixture_focus(f, "dp");
	(void)fixture_key(f, 'l');
	ck_assert_int_eq(f->app.plan.dp, dp);
	ck_assert_ptr_nonnull(strstr(f->app.message, "dp"));
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
}
END_TEST

START_TEST(a_change_that_moves_other_settings_says_which)
{
	fixture_focus(f, "gpus");
	fixture_text(f, "8");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.draft.s.cluster.gpus, 8);
	ck_assert_int_eq(f->app.draft.s.layout.tp * f->app.draft.s.layout.pp * f->app.draft.s.layout.cp * f->app.plan.dp, 8);
	ck_assert_ptr_nonnull(strstr(f->app.message, "became"));
}
END_TEST

START_TEST(figures_have_a_focus_of_their_own)
{
	(void)fixture_key(f, INPUT_TAB);
	ck_assert_int_eq(app_context(&f->app), CONTEXT_FIGURES);
	ck_assert_str_eq(f->app.figure, "memory.stages[0].total");
	(void)fixture_key(f, 'j');
	ck_assert_str_eq(f->app.figure, "memory.stages[1].total");
	(void)fixture_key(f, 'e');
	ck_assert_int_eq(f->app.view, VIEW_EXPLAIN);
	ck_assert_str_eq(f->app.path, "memory.stages[1].total");
	(void)fixture_key(f, INPUT_ESCAPE);
	(void)fixture_key(f, '2');
	ck_assert_int_eq(f->app.view, VIEW_MEMORY);
}
END_TEST

START_TEST(views_scroll_to_their_end_and_no_further)
{
	static const uint32_t views[] = { '?', 'e', 'y' };
	fixture_resize(f, 60, 16);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		(void)fixture_key(f, views[i]);
		(void)fixture_key(f, 'G');
		const size_t last = f->app.scroll[f->app.view];
		ck_assert_uint_eq(last, view_scroll_max(&f->app));
		(void)fixture_key(f, 'j');
		ck_assert_uint_eq(f->app.scroll[f->app.view], last);
		(void)fixture_key(f, 'k');
		ck_assert_uint_eq(f->app.scroll[f->app.view], last > 0 ? last - 1 : 0);
		(void)fixture_key(f, INPUT_ESCAPE);
	}
	(void)fixture_key(f, '?');
	(void)fixture_key(f, 'G');
	ck_assert_uint_gt(f->app.scroll[VIEW_HELP], 0);
}
END_TEST

/* A focus that is not on the screen comes back to it with the next key. */
static void figure_start(void)
{
	f->app.figure[0] = '\0';
	(void)fixture_key(f, 'j');
	ck_assert_str_ne(f->app.figure, "");
}

/* Marks all figures that keys lead to, from the one in focus on. */
static void walk(const struct figure *figures, size_t n, bool *seen)
{
	static const char ways[] = "hjkl";
	bool grew = true;
	figure_start();
	for (size_t i = 0; i < n; i++)
		seen[i] = strcmp(figures[i].path, f->app.figure) == 0;
	while (grew) {
		grew = false;
		for (size_t from = 0; from < n; from++) {
			for (const char *way = ways; seen[from] && *way != '\0'; way++) {
				memcpy(f->app.figure, figures[from].path, sizeof(f->app.figure));
				f->app.figure_stage = 0;
				(void)fixture_key(f, (uint32_t)(unsigned char)*way);
				for (size_t i = 0; i < n; i++) {
					const bool here = strcmp(figures[i].path, f->app.figure) == 0;
					grew = grew || (here && !seen[i]);
					seen[i] = seen[i] || here;
				}
			}
		}
	}
}

START_TEST(every_figure_on_the_screen_is_reached_and_explained)
{
	static struct figure figures[FIGURES_MAX];
	static const uint32_t views[] = { INPUT_TAB, 'm' };
	for (size_t v = 0; v < sizeof(views) / sizeof(views[0]); v++) {
		bool seen[FIGURES_MAX] = { false };
		(void)fixture_key(f, views[v]);
		const size_t n = view_figures(&f->app, figures, FIGURES_MAX);
		ck_assert_uint_gt(n, 10);
		walk(figures, n, seen);
		for (size_t i = 0; i < n; i++) {
			struct explanation x;
			struct err e = { 0 };
			ck_assert_msg(explain_quantity(&f->app.draft, &f->app.plan, figures[i].path, &x, &e) == ERR_OK, "%s: %s",
				figures[i].path, e.msg);
			ck_assert_msg(seen[i], "no key leads to %s", figures[i].path);
		}
	}
}
END_TEST

START_TEST(tab_goes_through_the_figures_of_pipeline_and_compare)
{
	static const char views[] = "pd";
	static struct figure figures[FIGURES_MAX];
	(void)fixture_key(f, 'c');
	(void)fixture_key(f, 'h');
	for (const char *view = views; *view != '\0'; view++) {
		(void)fixture_key(f, (uint32_t)(unsigned char)*view);
		const size_t n = view_figures(&f->app, figures, FIGURES_MAX);
		ck_assert_uint_gt(n, 4);
		bool seen[FIGURES_MAX] = { false };
		for (size_t i = 0; i < n; i++) {
			struct explanation x;
			struct err e = { 0 };
			(void)fixture_key(f, INPUT_TAB);
			for (size_t k = 0; k < n; k++)
				seen[k] = seen[k] || strcmp(f->app.figure, figures[k].path) == 0;
			ck_assert(explain_quantity(&f->app.draft, &f->app.plan, f->app.figure, &x, &e) == ERR_OK);
		}
		for (size_t i = 0; i < n; i++)
			ck_assert_msg(seen[i], "Tab never comes to %s", figures[i].path);
	}
}
END_TEST

START_TEST(settings_that_mean_nothing_are_hidden_until_they_do)
{
	struct setting_row rows[SETTING_ROWS_MAX];
	const size_t etp = knob_index(knob_find("etp"));
	size_t n = app_settings_rows(&f->app, rows), shown = 0;
	for (size_t i = 0; i < n; i++)
		shown += rows[i].kind == SETTING_KNOB && rows[i].knob == etp;
	ck_assert_uint_eq(shown, 0);
	fixture_text(f, ":model mixtral-8x7b");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_str_eq(f->app.draft.s.model.id, "mixtral-8x7b");
	n = app_settings_rows(&f->app, rows);
	for (size_t i = 0; i < n; i++)
		shown += rows[i].kind == SETTING_KNOB && rows[i].knob == etp;
	ck_assert_uint_eq(shown, 1);
}
END_TEST

START_TEST(every_setting_of_the_table_can_be_reached)
{
	size_t seen = 1;
	(void)fixture_key(f, 'g');
	for (size_t last = SIZE_MAX; f->app.focus != last; seen++) {
		last = f->app.focus;
		(void)fixture_key(f, 'j');
		ck_assert_uint_le(seen, knob_count());
	}
	size_t applicable = 0;
	for (size_t i = 0; i < knob_count(); i++)
		applicable += settings_apply(&f->app.draft.s, knob_at(i));
	ck_assert_uint_eq(seen - 1, applicable);
}
END_TEST

START_TEST(labels_fit_the_narrowest_pane)
{
	for (size_t i = 0; i < knob_count(); i++)
		ck_assert_msg(
			canvas_text_width(knob_at(i)->label) <= 12, "label \"%s\" is wider than 12 columns", knob_at(i)->label);
}
END_TEST

/* What must hold after any event. */
static void check_invariants(struct canvas *c)
{
	const struct app *a = &f->app;
	struct plan plan;
	struct err e = { 0 };
	struct setting_row rows[SETTING_ROWS_MAX];
	ck_assert_msg(plan_evaluate(&a->draft.s, &plan, &e) == ERR_OK, "the scenario is not legal: %s", e.msg);
	ck_assert_int_eq(plan.verdict.need_bytes, a->plan.verdict.need_bytes);
	ck_assert_int_eq(plan.verdict.headroom_bytes, a->plan.verdict.headroom_bytes);
	ck_assert_int_eq(plan.worst.need_bytes, a->plan.worst.need_bytes);
	ck_assert_int_eq(plan.dp, a->plan.dp);
	ck_assert_int_eq(plan.n_diagnostics, a->plan.n_diagnostics);
	ck_assert_uint_eq(a->n_stages, (size_t)a->draft.s.layout.pp);
	ck_assert_uint_lt(a->focus, knob_count());
	ck_assert_uint_lt(a->figure_stage, a->n_stages);
	ck_assert_uint_le(a->n_trail, APP_TRAIL_MAX);
	ck_assert(a->browser.n == 0 || a->browser.focus < a->browser.n);
	ck_assert_uint_le(a->advice.n, ADVICE_MAX);
	ck_assert_uint_le(a->depth, APP_DEPTH_MAX);
	ck_assert_uint_lt(app_settings_rows(a, rows), SETTING_ROWS_MAX);
	ck_assert_uint_le(a->prompt.cursor, a->prompt.len);
	ck_assert_uint_eq(a->prompt.len, strlen(a->prompt.text));
	ck_assert(a->list.n == 0 || a->list.focus < a->list.n);
	if (c->w != a->w || c->h != a->h)
		ck_assert(canvas_resize(c, a->w, a->h));
	view_frame(a, c);
	bool sound = true;
	for (int i = 0; i < c->w * c->h; i++)
		sound = sound && c->cells[i].width <= 2 && (c->cells[i].style & ~STYLE_BOLD) < ROLE_COUNT;
	ck_assert(sound);
}

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
	random_state = random_state * 1664525U + 1013904223U;
	return (random_state >> 8) % below;
}

static struct event random_event(void)
{
	static const char typed[] = "0123456789kMGBx.-,= abtpseq";
	struct event ev = { .kind = EVENT_KEY };
	const uint32_t dice = next_random(100);
	if (dice < 3) {
		ev = (struct event){ .kind = EVENT_RESIZE, .w = 1 + (int)next_random(220), .h = 1 + (int)next_random(70) };
	} else if (dice < 85) {
		ev.key = binding_table[next_random((uint32_t)n_bindings)].key;
		if (ev.key == INPUT_DIGIT)
			ev.key = '0' + next_random(10);
	} else if (dice < 97) {
		ev.key = (uint32_t)(unsigned char)typed[next_random(sizeof(typed) - 1)];
	} else {
		ev.key = next_random(0x120000);
	}
	return ev;
}

START_TEST(a_storm_of_keys_never_breaks_an_invariant)
{
	struct canvas c = { 0 };
	const int64_t events = test_rounds(1500);
	random_state = 12345U + (uint32_t)_i * 7919U;
	for (int64_t i = 0; i < events; i++) {
		const struct event ev = random_event();
		(void)app_update(&f->app, &ev);
		c.ascii = next_random(2) == 0;
		check_invariants(&c);
	}
	canvas_free(&c);
}
END_TEST

START_TEST(every_size_can_be_drawn_in_every_view)
{
	static const uint32_t views[] = { INPUT_ESCAPE, 'm', 'p', '?', 'y', 'e', INPUT_ENTER, 'c', 'd', 'a', 'b', 'B' };
	struct canvas c = { 0 };
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		for (int k = 0; k < 3; k++)
			(void)fixture_key(f, INPUT_ESCAPE);
		(void)fixture_key(f, views[i]);
		for (int w = 1; w <= 200; w += w < 100 ? 3 : 17) {
			for (int h = 1; h <= 60; h += h < 30 ? 1 : 7) {
				fixture_resize(f, w, h);
				ck_assert(canvas_resize(&c, w, h));
				view_frame(&f->app, &c);
			}
		}
	}
	canvas_free(&c);
}
END_TEST

/* The last row of the screen. */
static void last_row(const struct canvas *c, char *buf, size_t cap)
{
	size_t n = 0;
	for (int x = 0; x < c->w && n + 5 < cap; x++) {
		const struct cell *cell = &c->cells[(c->h - 1) * c->w + x];
		if (cell->width > 0)
			n += (size_t)glyph_encode(cell->code, buf + n);
	}
	buf[n] = '\0';
}

START_TEST(no_view_draws_over_the_footer)
{
	static const uint32_t views[] = { INPUT_ESCAPE, 'm', 'p', '?', 'y', 'e', 'd', 'a', 'b' };
	struct canvas c = { 0 };
	char row[1024];
	(void)fixture_key(f, 'c');
	(void)fixture_key(f, 'h');
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		for (int k = 0; k < 3; k++)
			(void)fixture_key(f, INPUT_ESCAPE);
		(void)fixture_key(f, views[i]);
		for (int w = 60; w <= 160; w += 7) {
			for (int h = 16; h <= 50; h += 2) {
				fixture_resize(f, w, h);
				ck_assert(canvas_resize(&c, w, h));
				c.ascii = true;
				view_frame(&f->app, &c);
				last_row(&c, row, sizeof(row));
				ck_assert_msg(strncmp(row, "? help  ", 8) == 0, "view %zu at %dx%d: %s", i, w, h, row);
				ck_assert_msg(strstr(row, f->app.view == VIEW_MAIN ? "q quit" : "Esc back") != NULL,
					"view %zu at %dx%d: %s", i, w, h, row);
			}
		}
	}
	canvas_free(&c);
}
END_TEST

static const char *frame_text(int w, int h)
{
	static char text[32768];
	struct canvas c = { 0 };
	struct sink to;
	fixture_resize(f, w, h);
	ck_assert(canvas_resize(&c, w, h));
	view_frame(&f->app, &c);
	sink_init(&to, text, sizeof(text), NULL, NULL);
	canvas_dump(&c, &to);
	canvas_free(&c);
	return text;
}

/* Half a number is another number. */
START_TEST(where_a_number_does_not_fit_it_is_left_out_not_cut)
{
	char want[32];
	fixture_text(f, "b");
	for (int i = 0; i < 3; i++)
		(void)fixture_key(f, INPUT_TAB);
	ck_assert_uint_gt(f->app.browser.n, 9);
	(void)snprintf(want, sizeof(want), "  1/%zu", f->app.browser.n);
	ck_assert_ptr_nonnull(strstr(frame_text(60, 16), want));
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_text(f, ":schedule interleaved vpp 2 global-batch 1024 micro-batch 2");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.plan.pipeline.m, 256);
	ck_assert_ptr_nonnull(strstr(frame_text(80, 24), "interleaved, m 256 "));
	(void)fixture_key(f, 'c');
	ck_assert_ptr_nonnull(strstr(frame_text(80, 24), "PIPELINE interleaved  "));
	ck_assert_ptr_nonnull(strstr(frame_text(30, 5), "need 60x16, have 30x5"));
	ck_assert_ptr_nonnull(strstr(frame_text(20, 5), "need 60x16"));
	ck_assert_ptr_null(strstr(frame_text(20, 5), "have"));
	ck_assert_ptr_nonnull(strstr(frame_text(6, 3), "60x16"));
}
END_TEST

START_TEST(growing_back_from_too_small_gives_the_same_screen)
{
	struct canvas c = { 0 };
	static char first[32768], second[32768];
	struct sink out;
	ck_assert(canvas_resize(&c, 80, 24));
	view_frame(&f->app, &c);
	sink_init(&out, first, sizeof(first), NULL, NULL);
	canvas_dump(&c, &out);
	fixture_resize(f, 20, 5);
	ck_assert(canvas_resize(&c, 20, 5));
	view_frame(&f->app, &c);
	fixture_resize(f, 80, 24);
	ck_assert(canvas_resize(&c, 80, 24));
	view_frame(&f->app, &c);
	sink_init(&out, second, sizeof(second), NULL, NULL);
	canvas_dump(&c, &out);
	ck_assert_str_eq(first, second);
	canvas_free(&c);
}
END_TEST

static void add_tests(TCase *c)
{
	tcase_add_test(c, it_starts_on_the_default_scenario_which_fits);
	tcase_add_test(c, a_step_changes_the_value_the_plan_and_the_stages);
	tcase_add_test(c, a_refused_step_changes_nothing_and_says_why);
	tcase_add_test(c, the_preview_is_what_the_step_then_does);
	tcase_add_test(c, undo_and_redo_walk_the_whole_history);
	tcase_add_test(c, a_new_change_forgets_what_was_undone);
	tcase_add_test(c, history_keeps_the_newest_states_when_it_is_full);
	tcase_add_test(c, a_typed_value_is_read_shown_and_taken);
	tcase_add_test(c, a_typed_number_comes_back);
	tcase_add_test(c, big_mode_is_about_a_setting);
	tcase_add_test(c, a_text_that_cannot_be_read_stays_in_the_prompt_with_its_reason);
	tcase_add_test(c, enter_on_a_refused_number_takes_the_nearest_legal_one);
	tcase_add_test(c, a_prompt_takes_text_beyond_ascii_and_erases_whole_characters);
	tcase_add_test(c, a_pin_measures_every_change_and_can_be_swapped_and_dropped);
	tcase_add_test(c, advice_ranks_what_fits_first_and_enter_takes_it);
	tcase_add_test(c, advice_on_a_plan_that_fits_gives_more_room_in_every_row);
	tcase_add_test(c, after_a_no_the_work_stops_as_soon_as_there_is_a_way_out);
	tcase_add_test(c, the_browser_filters_changes_kind_and_loads);
	tcase_add_test(c, the_ledger_is_edited_in_place);
	tcase_add_test(c, an_explanation_leads_to_its_terms_and_back);
	tcase_add_test(c, n_repeats_a_search_both_ways);
	tcase_add_test(c, quitting_asks_only_when_a_named_scenario_has_changed);
	tcase_add_test(c, escape_leaves_a_prompt_with_the_old_value_and_q_is_text_in_it);
	tcase_add_test(c, a_prompt_can_be_edited_in_the_middle);
	tcase_add_test(c, flags_change_several_settings_as_one_step);
	tcase_add_test(c, the_default_key_restores_the_start_value);
	tcase_add_test(c, a_list_shows_all_values_filters_and_takes_one);
	tcase_add_test(c, a_refused_value_of_a_list_keeps_it_open);
	tcase_add_test(c, escape_goes_back_one_level_and_never_quits);
	tcase_add_test(c, the_derived_setting_is_explained_not_moved);
	tcase_add_test(c, a_change_that_moves_other_settings_says_which);
	tcase_add_test(c, figures_have_a_focus_of_their_own);
	tcase_add_test(c, views_scroll_to_their_end_and_no_further);
	tcase_add_test(c, every_figure_on_the_screen_is_reached_and_explained);
	tcase_add_test(c, tab_goes_through_the_figures_of_pipeline_and_compare);
	tcase_add_test(c, settings_that_mean_nothing_are_hidden_until_they_do);
	tcase_add_test(c, every_setting_of_the_table_can_be_reached);
	tcase_add_test(c, labels_fit_the_narrowest_pane);
	tcase_add_test(c, no_view_draws_over_the_footer);
	tcase_add_test(c, where_a_number_does_not_fit_it_is_left_out_not_cut);
	tcase_add_test(c, growing_back_from_too_small_gives_the_same_screen);
	tcase_add_test(c, every_size_can_be_drawn_in_every_view);
	tcase_add_loop_test(c, a_storm_of_keys_never_breaks_an_invariant, 0, 4);
}

int main(void)
{
	Suite *s = suite_create("ui_app");
	TCase *c = tcase_create("app");
	tcase_add_checked_fixture(c, setup, teardown);
	add_tests(c);
	suite_add_tcase(s, c);
	return test_run(s);
}
