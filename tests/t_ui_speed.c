/* Time and cost on the screen: the figures are the engine's, every one can be explained, the settings of the bill can be changed.
 */
#include "support.h"
#include "ui_shows.h"

#include "cost.h"
#include "explain.h"
#include "view_speed.h"

#include <stdio.h>

START_TEST(the_main_screen_has_step_and_cost)
{
	char want[64];
	shows("STEP ");
	shows("COST ");
	shows("tokens/s, MFU ");
	(void)snprintf(want, sizeof(want), "MFU %.1f %%", 100 * f->app.plan.throughput.mfu);
	shows(want);
	fixture_resize(f, 160, 45);
	shows("TFLOP/s per GPU");
	shows(" per GPU hour");
	fixture_resize(f, 60, 16);
	shows("STEP ");
}
END_TEST

START_TEST(a_long_name_in_the_legend_keeps_its_distance)
{
	fixture_resize(f, 200, 60);
	const char *at = strstr(screen(), "o optimizer 0.");
	ck_assert_ptr_nonnull(at);
	at += strlen("o optimizer 0.");
	ck_assert_msg(strncmp(at + strspn(at, "0123456789"), "  i idle ", 9) == 0, "%.40s", at);
}
END_TEST

START_TEST(a_narrow_screen_has_shorter_sentences_not_cut_ones)
{
	fixture_text(f, "t");
	shows("narrower once calibrated");
	fixture_resize(f, 60, 16);
	shows("wider for what was not given");
	ck_assert_ptr_null(strstr(text, "narrower"));
	fixture_text(f, "$");
	shows("cost.usd: Enter explains it ");
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_text(f, "chd");
	shows("WHAT DIFFERS");
	ck_assert_ptr_null(strstr(text, "same:"));
	fixture_resize(f, 80, 24);
	shows("same: the other ");
}
END_TEST

START_TEST(letters_and_digits_open_the_views)
{
	(void)fixture_key(f, 't');
	ck_assert_int_eq(f->app.view, VIEW_TIME);
	ck_assert_str_eq(f->app.figure, "time.step_s");
	(void)fixture_key(f, '5');
	ck_assert_int_eq(f->app.view, VIEW_COST);
	ck_assert_str_eq(f->app.figure, "cost.usd");
	(void)fixture_key(f, '4');
	ck_assert_int_eq(f->app.view, VIEW_TIME);
	(void)fixture_key(f, '$');
	ck_assert_int_eq(f->app.view, VIEW_COST);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
}
END_TEST

/* Every figure that a view shows has an explanation, at every size. */
static void all_explained(const char *keys, size_t least)
{
	static const int sizes[][2] = { { 60, 16 }, { 80, 24 }, { 120, 40 }, { 160, 45 } };
	static struct figure figures[FIGURES_MAX];
	fixture_text(f, keys);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fixture_resize(f, sizes[i][0], sizes[i][1]);
		const size_t n = view_figures(&f->app, figures, FIGURES_MAX);
		ck_assert_uint_ge(n, least);
		for (size_t k = 0; k < n; k++) {
			struct explanation x;
			struct err e = { 0 };
			const struct rect at = figures[k].at;
			ck_assert_msg(at.y >= 0 && at.y < f->app.h && at.x >= 0 && at.x + at.w <= f->app.w, "%s is at %d %d",
				figures[k].path, at.x, at.y);
			ck_assert_msg(explain_quantity(&f->app.draft, &f->app.plan, figures[k].path, &x, &e) == ERR_OK, "%s: %s",
				figures[k].path, e.msg);
		}
	}
}

START_TEST(every_figure_is_explained)
{
	all_explained("t", 8);
	all_explained("$", 3);
	(void)fixture_key(f, INPUT_ESCAPE);
	all_explained("", 4);
	fixture_text(f, ":model deepseek-v3 gpus 256");
	(void)fixture_key(f, INPUT_ENTER);
	all_explained("t", 8);
}
END_TEST

START_TEST(the_focus_moves_and_is_explained)
{
	char path[FIGURE_PATH_CAP];
	(void)fixture_key(f, 't');
	(void)fixture_key(f, 'k');
	ck_assert_str_ne(f->app.figure, "time.step_s");
	memcpy(path, f->app.figure, sizeof(path));
	(void)fixture_key(f, 'e');
	ck_assert_int_eq(f->app.view, VIEW_EXPLAIN);
	ck_assert_str_eq(f->app.path, path);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(f->app.view, VIEW_TIME);
	(void)fixture_key(f, INPUT_TAB);
	ck_assert_str_ne(f->app.figure, path);
}
END_TEST

START_TEST(an_explanation_of_the_step_leads_on)
{
	struct explain_value x = { .from = "throughput.tokens_per_s" };
	char target[FIGURE_PATH_CAP];
	ck_assert(explain_target(&f->app, &x, target));
	ck_assert_str_eq(target, "throughput.tokens_per_s");
	(void)snprintf(x.from, sizeof(x.from), "time.tp_exposed_s: inside t_max");
	ck_assert(explain_target(&f->app, &x, target));
	ck_assert_str_eq(target, "time.tp_exposed_s");
}
END_TEST

START_TEST(v_changes_the_convention_and_no_time)
{
	const double step = f->app.plan.step.step_s, mfu = f->app.plan.throughput.mfu;
	const int32_t before = f->app.draft.s.training.flops;
	(void)fixture_key(f, 't');
	(void)fixture_key(f, 'v');
	ck_assert_int_ne(f->app.draft.s.training.flops, before);
	ck_assert(f->app.plan.step.step_s == step);
	ck_assert(f->app.plan.throughput.mfu != mfu);
	(void)fixture_key(f, 'u');
	ck_assert_int_eq(f->app.draft.s.training.flops, before);
}
END_TEST

START_TEST(a_setting_of_the_bill_is_changed_in_its_view)
{
	(void)fixture_key(f, '$');
	for (int i = 0; i < 40 && strcmp(f->app.figure, "scenario.price") != 0; i++)
		(void)fixture_key(f, INPUT_TAB);
	ck_assert_str_eq(f->app.figure, "scenario.price");
	ck_assert_str_eq(app_knob(&f->app)->key, "price");
	ck_assert_int_eq(app_context(&f->app), CONTEXT_BILL);
	fixture_text(f, "=7");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_COST);
	ck_assert(f->app.draft.s.cost.price == 7);
	shows("$7.00");
	shows("as given");
}
END_TEST

START_TEST(a_step_of_the_price_starts_from_the_price_in_force)
{
	const double preset = f->app.draft.s.cluster.gpu.usd_per_hour;
	ck_assert(f->app.draft.s.cost.price == 0);
	(void)fixture_key(f, '$');
	fixture_text(f, "jj");
	ck_assert_str_eq(app_knob(&f->app)->key, "price");
	(void)fixture_key(f, 'l');
	ck_assert(f->app.draft.s.cost.price > preset && f->app.draft.s.cost.price < 1.5 * preset);
	fixture_text(f, "r");
	ck_assert(f->app.draft.s.cost.price == 0);
	fixture_text(f, "kh");
	ck_assert_str_eq(app_knob(&f->app)->key, "tokens");
	ck_assert_int_gt(f->app.draft.s.cost.tokens, 100000000000);
}
END_TEST

START_TEST(every_setting_of_the_bill_is_reached_on_the_smallest_screen)
{
	static const char *const keys[] = { "tokens", "price", "pue", "mtbf", "goodput" };
	fixture_resize(f, LAYOUT_MIN_W, LAYOUT_MIN_H);
	(void)fixture_key(f, '$');
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		(void)fixture_key(f, 'j');
		ck_assert_str_eq(app_knob(&f->app)->key, keys[i]);
	}
}
END_TEST

START_TEST(a_preview_holds_time_and_dollars)
{
	fixture_focus(f, "tp");
	const struct preview *p = &f->app.preview[0];
	const double step = p->step_s, usd = p->usd;
	ck_assert(p->possible);
	ck_assert(step > 0 && usd > 0);
	(void)fixture_key(f, 'h');
	ck_assert(f->app.plan.step.step_s == step);
	ck_assert(cost_of(&f->app.draft.s, &f->app.plan.step).usd == usd);
}
END_TEST

START_TEST(without_rates_the_views_say_so)
{
	f->app.plan.step.known = false;
	shows("not known");
	(void)fixture_key(f, 't');
	f->app.plan.step.known = false;
	shows("has no rate for");
	(void)fixture_key(f, '$');
	f->app.plan.step.known = false;
	shows("has no rate for");
}
END_TEST

START_TEST(shares_fill_the_bar_and_nobody_vanishes)
{
	struct segment s[6] = { { .value = 13.2 }, { .value = 0 }, { .value = 2 }, { .value = 0.001 }, { .value = 0.7 },
		{ .value = 0.04 } };
	int cells[SEGMENTS_MAX];
	for (int width = 5; width <= 120; width++) {
		int sum = 0;
		ck_assert_int_eq(view_share_cells(s, 6, width, cells), width);
		for (int i = 0; i < 6; i++) {
			ck_assert_int_eq(cells[i] > 0, s[i].value > 0);
			sum += cells[i];
		}
		ck_assert_int_eq(sum, width);
		ck_assert_int_ge(cells[0], cells[2]);
	}
	ck_assert_int_eq(view_share_cells(s, 0, 10, cells), 0);
}
END_TEST

START_TEST(ascii_maps_cell_by_cell)
{
	static const char *const keys[] = { "t", "$" };
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		fixture_text(f, keys[i]);
		f->app.ascii = true;
		for (const char *at = screen(); *at != '\0'; at++)
			ck_assert_int_lt((unsigned char)*at, 0x80);
	}
}
END_TEST

START_TEST(compare_holds_time_and_dollars)
{
	fixture_text(f, "c");
	fixture_focus(f, "tp");
	fixture_text(f, "hd");
	shows("step, s");
	shows("cost, USD");
	fixture_resize(f, 60, 16);
	shows("WHAT DIFFERS");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_speed");
	TCase *c = tcase_create("speed");
	tcase_add_checked_fixture(c, ui_open, ui_close);
	tcase_add_test(c, the_main_screen_has_step_and_cost);
	tcase_add_test(c, a_long_name_in_the_legend_keeps_its_distance);
	tcase_add_test(c, a_narrow_screen_has_shorter_sentences_not_cut_ones);
	tcase_add_test(c, letters_and_digits_open_the_views);
	tcase_add_test(c, every_figure_is_explained);
	tcase_add_test(c, the_focus_moves_and_is_explained);
	tcase_add_test(c, an_explanation_of_the_step_leads_on);
	tcase_add_test(c, v_changes_the_convention_and_no_time);
	tcase_add_test(c, a_setting_of_the_bill_is_changed_in_its_view);
	tcase_add_test(c, a_step_of_the_price_starts_from_the_price_in_force);
	tcase_add_test(c, every_setting_of_the_bill_is_reached_on_the_smallest_screen);
	tcase_add_test(c, a_preview_holds_time_and_dollars);
	tcase_add_test(c, without_rates_the_views_say_so);
	tcase_add_test(c, shares_fill_the_bar_and_nobody_vanishes);
	tcase_add_test(c, ascii_maps_cell_by_cell);
	tcase_add_test(c, compare_holds_time_and_dollars);
	suite_add_tcase(s, c);
	return test_run(s);
}
