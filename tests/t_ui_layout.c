/* The layout at every size: inside the screen, no overlap, usable panes. */
#include "layout.h"
#include "support.h"

#include <check.h>
#include <stdlib.h>

enum { MOST_W = 250, MOST_H = 80 };

static bool overlap(struct rect a, struct rect b)
{
	return a.w > 0 && a.h > 0 && b.w > 0 && b.h > 0 && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h &&
		b.y < a.y + a.h;
}

static void check_layout(int w, int h, int pp)
{
	struct screen_layout l;
	layout_compute(w, h, pp, false, &l);
	ck_assert_int_eq(l.too_small, w < LAYOUT_MIN_W || h < LAYOUT_MIN_H);
	if (l.too_small)
		return;
	for (int i = 0; i < AREA_COUNT; i++) {
		const struct rect a = l.area[i];
		/* An assertion costs libcheck a write; millions of them only when they fail. */
		if (a.x < 0 || a.y < 0 || a.w < 0 || a.h < 0 || a.x + a.w > w || a.y + a.h > h)
			ck_abort_msg("%dx%d pp %d: area %d is outside", w, h, pp, i);
		for (int j = 0; j < i; j++) {
			if (overlap(a, l.area[j]))
				ck_abort_msg("%dx%d pp %d: areas %d and %d overlap", w, h, pp, i, j);
		}
	}
	ck_assert_int_ge(l.area[AREA_SETTINGS].h, 7);
	ck_assert_int_ge(l.area[AREA_SETTINGS].w, 34);
	ck_assert_int_ge(l.stages, 1);
	ck_assert_int_le(l.stages, pp);
	ck_assert_int_ge(l.bar_w, 34);
	ck_assert_int_ge(l.track_w, 13);
}

START_TEST(every_size_is_inside_without_overlap)
{
	static const int depths[] = { 1, 2, 3, 4, 8, 16, 64 };
	for (int w = 1; w <= MOST_W; w++) {
		for (int h = 1; h <= MOST_H; h++) {
			for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
				check_layout(w, h, depths[i]);
		}
	}
	check_layout(1000, 1000, 256);
}
END_TEST

START_TEST(at_80x24_the_grid_is_the_documented_one)
{
	struct screen_layout l;
	layout_compute(80, 24, 4, false, &l);
	ck_assert_int_eq(l.area[AREA_SETTINGS].w, 34);
	ck_assert_int_eq(l.area[AREA_SETTINGS].h, 20);
	ck_assert_int_eq(l.area[AREA_MEMORY].x, 36);
	ck_assert_int_eq(l.bar_w, 34);
	ck_assert_int_eq(l.stages, 4);
	ck_assert_int_eq(layout_bar(l.bar_w).capacity, 28);
	ck_assert_int_eq(layout_bar(l.bar_w).beyond, 5);
	ck_assert_int_eq(l.area[AREA_PIPELINE].y, 10);
}
END_TEST

START_TEST(a_bar_is_capacity_limit_and_beyond)
{
	for (int width = 10; width <= 110; width++) {
		const struct bar_grid g = layout_bar(width);
		ck_assert_int_eq(g.capacity + 1 + g.beyond, width);
		ck_assert_int_ge(g.beyond, width < 20 ? 2 : 5);
	}
}
END_TEST

START_TEST(a_larger_screen_never_shows_fewer_stages)
{
	for (int w = 80; w <= MOST_W; w++) {
		struct screen_layout before, now;
		layout_compute(w, LAYOUT_MIN_H, 16, false, &before);
		for (int h = LAYOUT_MIN_H + 1; h <= MOST_H; h++, before = now) {
			layout_compute(w, h, 16, false, &now);
			if (w < 120 || h < 28)
				ck_assert_int_ge(now.stages, before.stages > 4 ? 4 : before.stages);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_layout");
	TCase *c = tcase_create("layout");
	tcase_add_test(c, every_size_is_inside_without_overlap);
	tcase_add_test(c, at_80x24_the_grid_is_the_documented_one);
	tcase_add_test(c, a_bar_is_capacity_limit_and_beyond);
	tcase_add_test(c, a_larger_screen_never_shows_fewer_stages);
	suite_add_tcase(s, c);
	return test_run(s);
}
