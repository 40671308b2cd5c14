/* The pipeline drawing: cells against pictures drawn by hand from the rules, and invariants over many pipelines. */
#include "gantt.h"
#include "num.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static struct gantt g;

static void draw(int32_t schedule, int64_t p, int64_t m, int64_t v, int64_t rows, int64_t cols)
{
	struct pipeline pl = { .schedule = schedule, .p = p, .m = m, .v = v };
	struct schedule_times t = { .forward = 1, .backward = 2 };
	struct err e = { .code = ERR_OK };
	void *workspace = malloc((size_t)schedule_workspace_bytes(&pl));

	ck_assert_ptr_nonnull(workspace);
	ck_assert_msg(gantt_draw(&pl, &t, (struct gantt_field){ rows, cols, NULL }, workspace, &g, &e) == ERR_OK, "%s", e.msg);
	free(workspace);
}

static void ck_row(int64_t row, const char *want)
{
	char buf[1024];
	struct sink s;

	sink_init(&s, buf, sizeof buf, NULL, NULL);
	gantt_row_text(&g, row, true, &s);
	ck_assert_str_eq(buf, want);
}

START_TEST(one_f_one_b_at_two_columns_per_tick)
{
	draw(SCHEDULE_1F1B, 4, 8, 1, 8, 66);
	ck_assert_int_eq(g.mode, GANTT_FULL);
	ck_assert_int_eq(g.scale, 2);
	ck_row(0, "F0F1F2F3............B0--F4B1--F5B2--F6B3--F7B4--..B5--..B6--..B7--");
	ck_row(3, "......F0B0--F1B1--F2B2--F3B3--F4B4--F5B5--F6B6--F7B7--............");
	ck_assert_int_eq(g.in_flight[0], 4);
	ck_assert_int_eq(g.busy[3], 24);
}
END_TEST

START_TEST(three_columns_show_number_and_border)
{
	draw(SCHEDULE_GPIPE, 2, 2, 1, 8, 66);
	ck_assert_int_eq(g.scale, 3);
	ck_row(0, "F0-F1-.........B0---|B1---|");
	ck_row(1, "...F0-F1-B0---|B1---|......");
}
END_TEST

START_TEST(second_chunk_is_lower_case)
{
	draw(SCHEDULE_INTERLEAVED, 4, 8, 2, 8, 66);
	ck_assert_int_eq(g.scale, 1);
	ck_row(3, "...FFFFfb0fb1fb2fb3FB0FB1FB2FB3fb4fb5fb6fb7B4B5B6B7......");
}
END_TEST

/* A block of three ticks: both letters, numbers as far as there is room; in one column a mark of its own. */
START_TEST(an_overlapped_block_is_one_cell)
{
	const struct action f = { .kind = ACTION_FORWARD, .stage = 1, .micro_batch = 12, .overlap = 1 },
			    b = { .kind = ACTION_BACKWARD, .stage = 5, .micro_batch = 7, .overlap = 1 };
	static const char *const labels[] = { "", "F+", "F+b", "F+b7", "F2+b7", "F12+b7" };

	draw(SCHEDULE_DUALPIPE, 2, 4, 1, 4, 66);
	ck_assert_int_eq(g.scale, 3);
	ck_row(0, "F0-F2-F1-B2---|F3+B0---|B3---|I1-W1-");
	draw(SCHEDULE_DUALPIPE, 2, 4, 1, 4, 24);
	ck_row(0, "F0F2F1B2--F3+B0|B3--I1W1");
	draw(SCHEDULE_DUALPIPE, 2, 4, 1, 4, 12);
	ck_row(0, "FFFB2F+BB3IW");
	ck_assert_int_eq(g.cell[0][5].kind, ACTION_FORWARD);
	ck_assert_int_eq(g.cell[0][7].kind, ACTION_BACKWARD);
	for (int64_t n = 1; n <= 6; n++) {
		const struct gantt_label l = gantt_label(&f, &b, n, true, 4);

		ck_assert_int_eq(l.len, (int64_t)strlen(labels[n - 1]));
		ck_assert_msg(strncmp(l.text, labels[n - 1], (size_t)l.len) == 0, "%s", l.text);
		ck_assert(l.len == 0 || l.text[l.first - 1] == '+');
	}
}
END_TEST

START_TEST(long_pipelines_are_abridged_and_say_so)
{
	char caption[80];

	draw(SCHEDULE_1F1B, 4, 64, 1, 8, 73);
	ck_assert_int_eq(g.mode, GANTT_ABRIDGED);
	ck_row(3, "......F0B0--F1B1--F2B2--F3B3--F4B4--~F-B---F-B---F-B---F-B---............");
	ck_assert_str_eq(gantt_caption(&g, caption, sizeof caption), "165 of 201 ticks cut out at ~");
}
END_TEST

START_TEST(what_is_too_fine_becomes_a_density)
{
	draw(SCHEDULE_1F1B, 16, 64, 1, 16, 56);
	ck_assert_int_eq(g.mode, GANTT_DENSITY);
	ck_assert_int_eq(g.cols, 56);
	ck_assert_int_eq(g.cell[0][0].text, 'F');
	ck_assert_int_eq(g.cell[0][30].mark, GANTT_BOTH);
	ck_assert_int_eq(g.cell[0][55].text, 'B');
	ck_assert_int_eq(g.cell[15][55].mark, GANTT_IDLE);
}
END_TEST

START_TEST(more_ranks_than_rows_show_first_middle_last)
{
	draw(SCHEDULE_1F1B, 64, 64, 1, 9, 60);
	ck_assert_int_eq(g.rows, 9);
	ck_assert_int_eq(g.rank[0], 0);
	ck_assert_int_eq(g.rank[3], -1);
	ck_assert_int_eq(g.rank[4], 32);
	ck_assert_int_eq(g.rank[5], -1);
	ck_assert_int_eq(g.rank[8], 63);
}
END_TEST

START_TEST(the_caller_may_choose_the_ranks)
{
	static const int64_t ranks[] = { 5, 0, 63 };
	struct pipeline pl = { .schedule = SCHEDULE_1F1B, .p = 64, .m = 8, .v = 1 };
	struct schedule_times t = { .forward = 1, .backward = 2 };
	void *workspace = malloc((size_t)schedule_workspace_bytes(&pl));
	struct err e;

	ck_assert(gantt_draw(&pl, &t, (struct gantt_field){ 3, 80, ranks }, workspace, &g, &e) == ERR_OK);
	free(workspace);
	ck_assert_int_eq(g.rows, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(g.rank[i], ranks[i]);
		ck_assert_int_eq(g.busy[i], 24);
		ck_assert_int_eq(g.in_flight[i], num_min(8, 64 - ranks[i]));
	}
}
END_TEST

START_TEST(the_axis_stands_above_its_ticks)
{
	char axis[GANTT_COLS_MAX + 1];

	draw(SCHEDULE_1F1B, 4, 8, 1, 8, 66);
	gantt_axis(&g, axis, sizeof axis);
	ck_assert_int_eq((int)strlen(axis), 66);
	ck_assert_int_eq(axis[0], '0');
	ck_assert(strncmp(axis + 20, "10", 2) == 0);
	ck_assert_int_eq((int)gantt_col_at(&g, 10), 20);
}
END_TEST

/* Whatever the pipeline and the field: no cell outside, all drawn ranks working, the sum of busy time is the work. */
START_TEST(every_pipeline_can_be_drawn_in_every_field)
{
	static const int64_t ms[] = { 1, 2, 4, 7, 16, 100, 512 }, few = 7;
	int32_t schedule = _i;

	for (int64_t p = 1; p <= 40; p += p < 8 ? 1 : 8) {
		for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
			int64_t v = schedule_table[schedule].v_min > 1 ? 2 : 1, m = v == 2 ? num_round_up(ms[i], p) : ms[i];
			struct pipeline pl = { .schedule = schedule, .p = p, .m = m, .v = v };

			if (pipeline_check(&pl, NULL) != ERR_OK || (ms[i] == 512 && p != few))
				continue;
			for (int64_t cols = 1; cols <= 260; cols = cols * 2 + 1) {
				draw(schedule, p, m, v, cols % 40 + 1, cols);
				ck_assert_int_le(g.cols, num_min(cols, GANTT_COLS_MAX));
				ck_assert_int_le(g.rows, cols % 40 + 1);
				for (int64_t r = 0; r < g.rows; r++)
					ck_assert(g.rank[r] < 0 || g.busy[r] == 3 * m * v);
			}
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gantt");
	TCase *pictures = tcase_create("pictures"), *loops = tcase_create("loops");

	tcase_add_test(pictures, one_f_one_b_at_two_columns_per_tick);
	tcase_add_test(pictures, three_columns_show_number_and_border);
	tcase_add_test(pictures, second_chunk_is_lower_case);
	tcase_add_test(pictures, an_overlapped_block_is_one_cell);
	tcase_add_test(pictures, long_pipelines_are_abridged_and_say_so);
	tcase_add_test(pictures, what_is_too_fine_becomes_a_density);
	tcase_add_test(pictures, more_ranks_than_rows_show_first_middle_last);
	tcase_add_test(pictures, the_caller_may_choose_the_ranks);
	tcase_add_test(pictures, the_axis_stands_above_its_ticks);
	tcase_add_loop_test(loops, every_pipeline_can_be_drawn_in_every_field, 0, SCHEDULE_COUNT);
	suite_add_tcase(suite, pictures);
	suite_add_tcase(suite, loops);
	return test_run(suite);
}
