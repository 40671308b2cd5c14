/* The pipeline view: the player steps, plays and stops; what it shows at a tick is what the executor says; no key takes long. */
#include "support.h"
#include "ui_shows.h"

#include <inttypes.h>
#include <stdio.h>

static void setup(void)
{
	ui_open();
	(void)fixture_key(f, 'p');
}

static void set(const char *flags)
{
	fixture_text(f, ":");
	fixture_text(f, flags);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_msg(f->app.prompt.kind == PROMPT_NONE, "%s: %s", flags, f->app.prompt.note);
	(void)fixture_key(f, 'p');
}

static unsigned tick(void)
{
	const struct event ev = { .kind = EVENT_TICK };
	return app_update(&f->app, &ev);
}

START_TEST(keys_move_the_tick)
{
	const int64_t last = f->app.player.ticks - 1;
	bool exact;
	ck_assert_int_eq(f->app.player.now, 0);
	ck_assert_int_eq(last + 1, pipeline_makespan(&f->app.plan.pipeline, 1, 1, 1, 0, &exact));
	(void)fixture_key(f, ',');
	ck_assert_int_eq(f->app.player.now, 0);
	fixture_text(f, "...,");
	ck_assert_int_eq(f->app.player.now, 2);
	(void)fixture_key(f, 'G');
	ck_assert_int_eq(f->app.player.now, last);
	(void)fixture_key(f, '.');
	ck_assert_int_eq(f->app.player.now, last);
	(void)fixture_key(f, INPUT_HOME);
	ck_assert_int_eq(f->app.player.now, 0);
}
END_TEST

START_TEST(playing_waits_for_ticks_only_and_ends)
{
	ck_assert_int_eq(app_wait_ms(&f->app), -1);
	ck_assert_uint_eq(tick(), 0);
	ck_assert_int_eq(f->app.player.now, 0);
	fixture_text(f, "1 ");
	ck_assert_int_eq(app_wait_ms(&f->app), 1000);
	fixture_text(f, "9");
	ck_assert_int_eq(app_wait_ms(&f->app), 20);
	ck_assert_uint_eq(tick(), APP_DRAW);
	ck_assert_int_eq(f->app.player.now, 1);
	shows("playing, ticks a second: 50");
	(void)fixture_key(f, '?');
	ck_assert_int_eq(app_wait_ms(&f->app), -1);
	(void)fixture_key(f, INPUT_ESCAPE);
	ck_assert_int_eq(app_wait_ms(&f->app), 20);
	int64_t n = 1;
	for (; app_wait_ms(&f->app) >= 0; n++)
		(void)tick();
	ck_assert_int_eq(n, f->app.player.ticks - 1);
	(void)fixture_key(f, ' ');
	ck_assert_int_eq(f->app.player.now, 0);
	(void)fixture_key(f, '0');
	ck_assert_int_eq(app_wait_ms(&f->app), -1);
}
END_TEST

/* Chunks in flight by definition: from the start of F to the end of B. */
struct held {
	int64_t now, n[8];
};

static void count_held(void *ctx, const struct timed_action *t)
{
	struct held *h = ctx;
	if (t->action.kind == ACTION_FORWARD && t->start <= h->now)
		h->n[t->rank]++;
	if (t->action.kind != ACTION_FORWARD && t->action.kind != ACTION_INPUT && t->end <= h->now)
		h->n[t->rank]--;
}

START_TEST(the_table_agrees_with_the_executor)
{
	const struct schedule_times times = { .forward = 1, .backward = 2 };
	set("global-batch 16");
	const struct pipeline pl = f->app.plan.pipeline;
	void *workspace = malloc((size_t)schedule_workspace_bytes(&pl) + 1);
	ck_assert_int_eq(pl.p, 4);
	for (int64_t now = 0; now < f->app.player.ticks; now++) {
		struct held h = { .now = now };
		struct schedule_result result;
		struct err e;
		ck_assert_int_eq(schedule_run(&pl, &times, workspace, count_held, &h, &result, &e), ERR_OK);
		ck_assert_int_eq(result.makespan, f->app.player.ticks);
		const char *row = strstr(screen(), "TICK ");
		for (int64_t rank = 0; rank < pl.p; rank++) {
			char want[64];
			(void)snprintf(
				want, sizeof(want), " %" PRId64 " of %" PRId64 " ", h.n[rank], pipeline_in_flight(&pl, rank));
			row = strchr(row, '\n') + 1;
			const char *found = strstr(row, want);
			ck_assert_msg(found != NULL && found < strchr(row, '\n'), "tick %" PRId64 " rank %" PRId64 ":%s\n%s", now,
				rank, want, text);
		}
		(void)fixture_key(f, '.');
	}
	free(workspace);
}
END_TEST

START_TEST(memory_grows_with_what_is_in_flight)
{
	char gib[32];
	set("global-batch 16");
	shows("0 of 1            -");
	fixture_text(f, "...");
	(void)snprintf(gib, sizeof(gib), "4 of 4         %.1f",
		(double)f->app.stages[0].category[MEMORY_ACTIVATIONS] / (1024.0 * 1024 * 1024));
	shows(gib);
}
END_TEST

START_TEST(idle_gaps_say_why)
{
	set("global-batch 16");
	shows("idle: fill, then F0");
	fixture_text(f, "....");
	shows("idle: waiting for gradient, then B0");
	(void)fixture_key(f, 'G');
	shows("idle: drain");
	fixture_resize(f, 100, 30);
	ck_assert_ptr_null(strstr(screen(), "ffF0"));
	(void)fixture_key(f, 'v');
	shows("r2 ffffF0F1ggggB0");
	shows("F3gggggggggggg");
	shows("B7\u2500\u2500dddd");
	shows("f fill  i input  g gradient");
	fixture_text(f, "++");
	shows("from tick");
	shows("dddd");
	(void)fixture_key(f, 'v');
	ck_assert_ptr_null(strstr(screen(), "dddd"));
}
END_TEST

START_TEST(the_future_can_be_hidden)
{
	set("global-batch 16");
	fixture_resize(f, 100, 30);
	(void)fixture_key(f, 'F');
	ck_assert_ptr_null(strstr(screen(), "F0F1"));
	fixture_text(f, "...");
	shows("r0 F0F1F2F3  ");
	shows("what comes is hidden");
	(void)fixture_key(f, 'F');
	shows("r0 F0F1F2F3\u00b7");
}
END_TEST

START_TEST(a_zoomed_drawing_follows_the_tick)
{
	fixture_text(f, "++G");
	ck_assert_int_gt(f->app.tick, 0);
	ck_assert_int_lt(f->app.player.now, f->app.tick + view_pipeline_span(&f->app));
	shows("\u25bc");
	shows("\u25b2");
	(void)fixture_key(f, 'g');
	ck_assert_int_eq(f->app.tick, 0);
	fixture_text(f, "lll");
	ck_assert_int_eq(f->app.tick, 24);
	ck_assert_ptr_null(strstr(screen(), "\u25bc"));
	(void)fixture_key(f, '.');
	ck_assert_int_eq(f->app.tick, 0);
}
END_TEST

START_TEST(s_goes_round_and_keeps_ranks_and_micro_batches)
{
	const struct pipeline before = f->app.plan.pipeline;
	bool passed_over = false;
	int n = 0;
	do {
		(void)fixture_key(f, 's');
		passed_over = passed_over || strstr(f->app.message, "Passed over: ") != NULL;
		ck_assert_int_eq(f->app.view, VIEW_PIPELINE);
		ck_assert_int_eq(f->app.plan.pipeline.p, before.p);
		ck_assert_int_eq(f->app.plan.pipeline.m, before.m);
		ck_assert_int_lt(f->app.player.now, f->app.player.ticks);
		shows("TICK ");
		n++;
	} while (f->app.plan.pipeline.schedule != before.schedule && n < SCHEDULE_COUNT);
	ck_assert_int_gt(n, 1);
	ck_assert_int_lt(n, SCHEDULE_COUNT);
	ck_assert(passed_over);
}
END_TEST

START_TEST(every_size_and_ascii)
{
	static const int sizes[][2] = { { 60, 16 }, { 80, 24 }, { 120, 40 }, { 160, 45 }, { 200, 60 } };
	f->app.ascii = true;
	fixture_text(f, "v.......");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fixture_resize(f, sizes[i][0], sizes[i][1]);
		shows("TICK 7");
		shows("r3 ");
		shows("in flight");
		for (const char *at = text; *at != '\0'; at++)
			ck_assert_int_lt((unsigned char)*at, 0x80);
	}
}
END_TEST

/* Every schedule at p = 64, m = 1024: the shape is put where the view reads it, since no framework has them all. How long a key
 * takes is for make bench; here the pipeline that is drawn is small, every key answers, and the frame keeps its caption. */
START_TEST(a_large_pipeline_is_drawn_with_fewer_micro_batches)
{
	struct pipeline *pl = &f->app.plan.pipeline;
	struct err e;
	set("model llama3.1-405b gpus 1024 pp 64 tp 8 pp-split auto global-batch 2048");
	ck_assert_int_eq(pl->p, 64);
	pl->schedule = _i;
	pl->m = 1024;
	pl->v = schedule_table[_i].v_min;
	if (pipeline_check(pl, &e) != ERR_OK)
		return;
	fixture_text(f, "g");
	shows("TICK 0");
	shows("of 1024 micro-batches");
	ck_assert_int_gt(f->app.player.ticks, 64);
	for (const char *key = ".v+jz"; *key != '\0'; key++) {
		(void)fixture_key(f, (uint32_t)(unsigned char)*key);
		shows("of 1024 micro-batches");
	}
}
END_TEST

/* Puts a pipeline where the view reads it, since no framework has all, and lets the view see it. The scenario below it must have
 * no more chunks per rank: its memory is read by chunk. */
static void put(int32_t schedule, int64_t p, int64_t m)
{
	struct pipeline *pl = &f->app.plan.pipeline;
	ck_assert_int_eq(pl->p, p);
	*pl = (struct pipeline){ .schedule = schedule, .p = p, .m = m, .v = schedule_table[schedule].v_min };
	(void)fixture_key(f, 'g');
}

/* A long greedy order: first one with fewer micro-batches, which says so and gives ticks as an estimate; in slices, between which
 * keys answer, the exact one, which the executor agrees with; another schedule in the middle of it gives it up. */
START_TEST(a_greedy_order_is_made_in_slices)
{
	const struct schedule_times times = { .forward = 1, .backward = 2 };
	struct schedule_result result;
	struct err e;
	if (schedule_table[_i].greedy == NULL)
		return;
	set("model llama3.1-405b gpus 1024 pp 64 tp 8 pp-split auto global-batch 1024");
	put(_i, 64, 512);
	bool exact;
	(void)pipeline_makespan(&f->app.plan.pipeline, 1, 1, 1, 0, &exact);
	shows(exact ? "512 micro-batches, 1" : "512 micro-batches, about ");
	shows("drawn with ");
	ck_assert(app_busy(&f->app));
	int slices = 0, last = 0;
	for (; app_busy(&f->app); slices++) {
		(void)app_work(&f->app);
		const char *at = strstr(screen(), "generating ");
		const int share = at != NULL ? atoi(at + strlen("generating ")) : 100;
		ck_assert_int_ge(share, last);
		last = share;
		if (slices == 1) {
			(void)fixture_key(f, '.');
			shows("TICK 1");
			(void)fixture_key(f, 'g');
		}
	}
	ck_assert_int_gt(slices, 3);
	ck_assert_int_eq(last, 100);
	const struct pipeline pl = f->app.plan.pipeline;
	void *workspace = malloc((size_t)schedule_workspace_bytes(&pl));
	ck_assert(schedule_run(&pl, &times, workspace, NULL, NULL, &result, &e) == ERR_OK);
	free(workspace);
	ck_assert_int_eq(f->app.player.ticks, result.makespan);
	(void)fixture_key(f, 'G');
	ck_assert_int_eq(f->app.player.now, result.makespan - 1);
	ck_assert_ptr_null(strstr(screen(), "about "));
	ck_assert_ptr_null(strstr(text, "drawn with"));
	put(_i, 64, 1000);
	ck_assert(app_busy(&f->app));
	(void)app_work(&f->app);
	shows("generating");
	put(SCHEDULE_1F1B, 64, 1000);
	ck_assert(!app_busy(&f->app));
	ck_assert_ptr_null(strstr(screen(), "generating"));
}
END_TEST

/* What the executor and the closed forms say, in ticks of the present schedule's chunk. */
START_TEST(other_schedules_stand_beside_this_one)
{
	set("global-batch 16");
	shows("SAME p m gpipe 33 ticks, 8 in flight;  zb-v 25.5, 4;  v-min about 29.5, 2");
	set("schedule interleaved vpp 2");
	shows("SAME p m gpipe 66 ticks, 8 in flight;  zb-v 51, 4;");
	set("schedule 1f1b vpp 1");
	put(SCHEDULE_GPIPE, 4, 8);
	shows("SAME p m 1f1b 33 ticks, 4 in flight;");
	put(SCHEDULE_ZB_V, 4, 8);
	shows("SAME p m gpipe 66 ticks, 8 in flight;  v-");
	fixture_resize(f, 160, 45);
	shows("SAME p m ");
	fixture_resize(f, 60, 16);
	ck_assert_ptr_null(strstr(screen(), "SAME"));
}
END_TEST

/* " s12 " or " r12 " of a row of the screen; NULL: it has none. */
static const char *label_in(const char *row, char letter)
{
	for (const char *at = row; *at != '\n' && *at != '\0'; at++) {
		if (at[0] == ' ' && at[1] == letter && at[2] >= '0' && at[2] <= '9')
			return at + 2;
	}
	return NULL;
}

/* The bars of the main screen and the drawing below them are of the same ranks. */
START_TEST(drawing_and_bars_show_the_same_ranks)
{
	set("model llama3.1-405b gpus 1024 pp 64 tp 8 pp-split auto global-batch 128");
	(void)fixture_key(f, INPUT_ESCAPE);
	fixture_resize(f, 160, 45);
	const char *bar = strstr(screen(), "MEMORY per GPU"), *rank = strstr(text, "PIPELINE ");
	ck_assert(bar != NULL && rank != NULL);
	int rows = 0;
	for (;; rows++) {
		bar = strchr(bar, '\n') + 1;
		rank = strchr(rank, '\n') + 1;
		const char *s = label_in(bar, 's'), *r = label_in(rank, 'r');
		if (s == NULL)
			break;
		ck_assert_msg(r != NULL && strncmp(s, r, strcspn(s, " ")) == 0, "row %d", rows);
	}
	ck_assert_int_gt(rows, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_pipeline");
	TCase *c = tcase_create("pipeline");
	tcase_add_checked_fixture(c, setup, ui_close);
	tcase_add_test(c, keys_move_the_tick);
	tcase_add_test(c, playing_waits_for_ticks_only_and_ends);
	tcase_add_test(c, the_table_agrees_with_the_executor);
	tcase_add_test(c, memory_grows_with_what_is_in_flight);
	tcase_add_test(c, idle_gaps_say_why);
	tcase_add_test(c, the_future_can_be_hidden);
	tcase_add_test(c, a_zoomed_drawing_follows_the_tick);
	tcase_add_test(c, s_goes_round_and_keeps_ranks_and_micro_batches);
	tcase_add_test(c, every_size_and_ascii);
	tcase_add_loop_test(c, a_large_pipeline_is_drawn_with_fewer_micro_batches, 0, SCHEDULE_COUNT);
	tcase_add_loop_test(c, a_greedy_order_is_made_in_slices, 0, SCHEDULE_COUNT);
	tcase_add_test(c, other_schedules_stand_beside_this_one);
	tcase_add_test(c, drawing_and_bars_show_the_same_ranks);
	suite_add_tcase(s, c);
	return test_run(s);
}
