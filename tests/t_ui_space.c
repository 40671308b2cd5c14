/* The space of layouts: every row is a legal plan with the figures that it has, none is missing, one can be taken. */
#include "config.h"

#include "ui_shows.h"

#include "cost.h"
#include "support.h"

static const struct space *search(void)
{
	(void)fixture_key(f, 'f');
	while (app_busy(&f->app))
		(void)app_work(&f->app);
	return &f->app.space;
}

START_TEST(every_row_is_a_plan_of_the_same_run)
{
	const struct space *s = search();
	ck_assert(s->complete);
	ck_assert_uint_gt(s->n, 50);
	ck_assert_uint_eq(s->n, s->legal);
	for (size_t i = 0; i < s->n; i++) {
		const struct space_row *row = &s->row[i];
		struct draft d;
		struct plan p;
		struct err e;
		space_draft(&f->app.draft, &f->catalog, row, &d);
		ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
		ck_assert_int_eq(p.worst.need_bytes, row->need_bytes);
		ck_assert_int_eq(p.dp, row->dp);
		ck_assert_int_eq(p.verdict.fits, row->fits);
		ck_assert_int_eq(d.s.training.global_batch, f->app.draft.s.training.global_batch);
		ck_assert_int_eq(d.s.cluster.gpus, f->app.draft.s.cluster.gpus);
		ck_assert(!row->fits || p.step.step_s == row->step_s);
		ck_assert(!row->fits || cost_of(&d.s, &p.step).usd == row->usd);
	}
}
END_TEST

START_TEST(the_present_plan_is_among_them_once)
{
	const struct space *s = search();
	size_t here = 0;
	for (size_t i = 0; i < s->n; i++)
		here += space_is_here(&f->app.draft, &s->row[i]);
	ck_assert_uint_eq(here, 1);
}
END_TEST

START_TEST(both_orders_are_sorted_and_hold_the_same)
{
	const struct space *s = search();
	const size_t n = s->n;
	for (size_t i = 1; i < n; i++)
		ck_assert(!s->row[i].fits || (s->row[i - 1].fits && s->row[i].tokens_per_s <= s->row[i - 1].tokens_per_s));
	(void)fixture_key(f, 'o');
	ck_assert_uint_eq(s->n, n);
	for (size_t i = 1; i < n; i++)
		ck_assert_int_ge(s->row[i].need_bytes, s->row[i - 1].need_bytes);
	shows("by memory");
}
END_TEST

/* Of the front nothing is faster and smaller; of all others something is. */
START_TEST(the_front_is_what_nothing_beats)
{
	const struct space *s = search();
	size_t front = 0;
	for (size_t i = 0; i < s->n; i++) {
		bool beaten = !s->row[i].fits;
		for (size_t j = 0; j < s->n; j++)
			beaten = beaten ||
				(s->row[j].fits && s->row[j].tokens_per_s > s->row[i].tokens_per_s &&
					s->row[j].need_bytes < s->row[i].need_bytes);
		ck_assert(!space_is_front(s, i) || !beaten);
		front += space_is_front(s, i);
	}
	ck_assert_uint_gt(front, 1);
	ck_assert(space_is_front(s, 0));
}
END_TEST

START_TEST(enter_takes_a_layout_and_u_goes_back)
{
	const struct space_row first = search()->row[0];
	const double before = f->app.plan.throughput.tokens_per_s;
	shows("LAYOUTS");
	shows("Enter takes it");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_int_eq(f->app.plan.worst.need_bytes, first.need_bytes);
	ck_assert(f->app.plan.throughput.tokens_per_s == first.tokens_per_s);
	ck_assert(first.tokens_per_s > before);
	shows("taken. u goes back.");
	(void)fixture_key(f, 'u');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
}
END_TEST

START_TEST(a_change_starts_the_search_anew)
{
	(void)search();
	(void)fixture_key(f, INPUT_ESCAPE);
	(void)fixture_key(f, 'h');
	ck_assert_uint_eq(f->app.space.n, 0);
	ck_assert(!f->app.space.complete);
	(void)fixture_key(f, 'f');
	shows("searching, 0 %");
}
END_TEST

START_TEST(the_focus_is_on_a_row_after_a_change)
{
	const size_t n = search()->n;
	(void)fixture_key(f, 'G');
	ck_assert_uint_eq(f->app.space_focus, n - 1);
	fixture_text(f, ":gpus 8");
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_SPACE);
	while (app_busy(&f->app))
		(void)app_work(&f->app);
	ck_assert_uint_lt(f->app.space.n, n);
	ck_assert_uint_lt(f->app.space_focus, f->app.space.n);
	shows("over");
}
END_TEST

/* Experts bound the data-parallel degree; a single stage has no chunks. */
START_TEST(experts_and_chunks_give_way)
{
	fixture_text(f, ":model mixtral-8x7b gpus 16 tp 2 pp 2 ep 4 schedule interleaved vpp 2");
	(void)fixture_key(f, INPUT_ENTER);
	const struct space *s = search();
	bool single = false, narrow = false;
	for (size_t i = 0; i < s->n; i++) {
		single = single || s->row[i].pp == 1;
		narrow = narrow || s->row[i].ep < 4;
	}
	ck_assert(single);
	ck_assert(narrow);
}
END_TEST

/* Wider expert parallelism than the present one is found as well, and has a column. */
START_TEST(expert_parallelism_is_searched)
{
	fixture_text(f, ":model mixtral-8x7b gpus 64 tp 2 pp 2 ep 2");
	(void)fixture_key(f, INPUT_ENTER);
	const struct space *s = search();
	bool wide = false;
	for (size_t i = 0; i < s->n; i++)
		wide = wide || s->row[i].ep == 8;
	ck_assert(wide);
	shows("ep   dp mb");
}
END_TEST

/* A batch that nobody gave stays: tokens a second of different batches cannot be compared. */
START_TEST(an_open_batch_does_not_follow_the_layout)
{
	const size_t batch = knob_index(knob_find("global-batch"));
	struct draft d = f->app.draft;
	struct err e;
	d.origin[batch] = ORIGIN_DEFAULT;
	d.s.training.global_batch = 4096;
	ck_assert(app_load(&f->app, &d, "", &e) == ERR_OK);
	const struct space *s = search();
	ck_assert_uint_gt(s->n, 0);
	for (size_t i = 0; i < s->n; i++) {
		struct draft taken;
		space_draft(&f->app.draft, &f->catalog, &s->row[i], &taken);
		ck_assert_int_eq(taken.s.training.global_batch, 4096);
	}
	(void)fixture_key(f, INPUT_ESCAPE);
	(void)fixture_key(f, 'h');
	ck_assert_int_eq(f->app.draft.s.training.global_batch, 4096);
}
END_TEST

/* The best of them stand on a main screen that has room, and what nobody looks at costs nothing. */
START_TEST(a_wide_main_screen_shows_the_best_layouts)
{
	ck_assert(!app_busy(&f->app));
	fixture_resize(f, 160, 45);
	ck_assert(app_busy(&f->app));
	while (app_busy(&f->app))
		(void)app_work(&f->app);
	ck_assert_uint_eq(f->app.best.n, SPACE_BEST);
	ck_assert_int_eq(f->app.best.row[0].need_bytes, f->app.space.row[0].need_bytes);
	shows("fit: f");
	(void)fixture_key(f, 'h');
	shows("searching");
}
END_TEST

START_TEST(nothing_that_fits_shows_the_nearest_misses)
{
	fixture_text(f, ":gpus 8");
	(void)fixture_key(f, INPUT_ENTER);
	const struct space *s = search();
	ck_assert_uint_eq(s->fit, 0);
	ck_assert_uint_gt(s->n, 0);
	shows("over");
	for (size_t i = 1; i < s->n; i++)
		ck_assert_int_ge(s->row[i].need_bytes, s->row[i - 1].need_bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_space");
	TCase *c = tcase_create("space");
	tcase_add_checked_fixture(c, ui_open, ui_close);
	tcase_add_test(c, every_row_is_a_plan_of_the_same_run);
	tcase_add_test(c, the_present_plan_is_among_them_once);
	tcase_add_test(c, both_orders_are_sorted_and_hold_the_same);
	tcase_add_test(c, the_front_is_what_nothing_beats);
	tcase_add_test(c, enter_takes_a_layout_and_u_goes_back);
	tcase_add_test(c, a_change_starts_the_search_anew);
	tcase_add_test(c, the_focus_is_on_a_row_after_a_change);
	tcase_add_test(c, experts_and_chunks_give_way);
	tcase_add_test(c, expert_parallelism_is_searched);
	tcase_add_test(c, an_open_batch_does_not_follow_the_layout);
	tcase_add_test(c, a_wide_main_screen_shows_the_best_layouts);
	tcase_add_test(c, nothing_that_fits_shows_the_nearest_misses);
	suite_add_tcase(s, c);
	return test_run(s);
}
