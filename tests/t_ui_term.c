/* The terminal layer on an off-screen terminal: keys are decoded from bytes, and only what changed is sent. */
#include "config.h"
#include "support.h"

#include "ui_fixture.h"

#include "ui_screen.h"
#include "view.h"

#include <locale.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(keys_are_decoded_from_bytes)
{
	static const struct {
		const char *bytes;
		uint32_t key;
	} keys[] = {
		{ "x", 'x' },
		{ "\033OA", INPUT_UP },
		{ "\033OB", INPUT_DOWN },
		{ "\033OC", INPUT_RIGHT },
		{ "\033OD", INPUT_LEFT },
		{ "\033[1;2D", INPUT_SHIFT_LEFT },
		{ "\033[1;2C", INPUT_SHIFT_RIGHT },
		{ "\033[Z", INPUT_SHIFT_TAB },
		{ "\033[5~", INPUT_PAGE_UP },
		{ "\033[6~", INPUT_PAGE_DOWN },
		{ "\033OH", INPUT_HOME },
		{ "\033OF", INPUT_END },
		{ "\033OP", INPUT_F1 },
		{ "\033[21~", INPUT_F10 },
		{ "\r", INPUT_ENTER },
		{ "\n", INPUT_ENTER },
		{ "\t", INPUT_TAB },
		{ "\x7f", INPUT_BACKSPACE },
		{ "\x12", INPUT_CTRL_R },
		{ "\x15", INPUT_CTRL_U },
		{ "\xe5\xb1\x82", 0x5c42 },
		{ "\033", INPUT_ESCAPE },
	};
	if (!open_screen("xterm-256color", NULL))
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		send_bytes(keys[i].bytes);
		ck_assert_msg(read_key() == keys[i].key, "key %zu", i);
	}
	term_close();
}
END_TEST

START_TEST(waiting_can_end_in_a_tick)
{
	if (!open_screen("xterm-256color", NULL))
		return;
	ck_assert_int_eq(term_read(1).kind, EVENT_TICK);
	send_bytes("x");
	const struct event ev = term_read(1000);
	ck_assert_int_eq(ev.kind, EVENT_KEY);
	ck_assert_uint_eq(ev.key, 'x');
	term_close();
}
END_TEST

START_TEST(the_end_of_the_input_ends_the_program)
{
	if (!open_screen("xterm-256color", NULL))
		return;
	send_bytes("x");
	(void)close(feed[1]);
	ck_assert_uint_eq(read_key(), 'x');
	ck_assert_int_eq(term_read(-1).kind, EVENT_END);
	term_close();
}
END_TEST

/* Whether a terminal type is refused with a message that names it. In a child that ends with _exit: ncurses never frees what it
 * allocated for a terminal that it then does not know. */
static bool is_refused(const char *type, const char *named)
{
	int status = 0;
	const pid_t child = fork();
	if (child == 0) {
		struct err e = { 0 };
		const struct term_options o = { .type = type, .ascii = -1 };
		_exit(term_open(&o, &e) == ERR_USAGE && strstr(e.msg, named) != NULL ? 0 : 1);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(a_terminal_that_cannot_be_used_is_refused)
{
	ck_assert(is_refused("dumb", "dumb"));
	ck_assert(is_refused("no-such-terminal", "no-such-terminal"));
	(void)unsetenv("TERM");
	ck_assert(is_refused(NULL, "TERM"));
}
END_TEST

static int compare_long(const void *a, const void *b)
{
	const long *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static long median(long *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), compare_long);
	return values[n / 2];
}

/* Bytes at 80x24. A terminal with 8 colours or none may not take more than one with 256. */
enum { FIRST_MEDIAN = 200, BOTH_MEDIAN = 700, BOTH_MOST = 1400, STEPS_MAX = 256 };

struct costs {
	long first[STEPS_MAX], both[STEPS_MAX];
	size_t n;
};

/* One step of the focused setting; it counts when it changed something. Showing the same frame again costs nothing. */
static void measure_step(struct fixture *f, uint32_t key, struct costs *costs)
{
	const size_t at = f->app.history.at;
	(void)fixture_key(f, key);
	const struct cost c = present(f);
	if (f->app.history.at != at && costs->n < STEPS_MAX) {
		costs->first[costs->n] = c.first;
		costs->both[costs->n++] = c.both;
		if (getenv("UI_COSTS") != NULL)
			printf("%-16s %c first %4ld both %4ld\n", app_knob(&f->app)->key, (char)key, c.first, c.both);
	}
	ck_assert_int_eq(present(f).both, 0);
}

/* Every main setting one step up and down. */
static void measure(const char *type, const char *theme)
{
	struct costs costs = { .n = 0 };
	struct fixture *f = fixture_new(80, 24);
	if (!open_screen(type, theme))
		return;
	ck_assert(canvas_resize(&canvas, 80, 24));
	canvas.ascii = term_ascii();
	const long full = present(f).both;
	ck_assert_int_eq(present(f).both, 0);
	(void)fixture_key(f, 'g');
	(void)present(f);
	for (size_t i = 0; i < knob_count(); i++) {
		const bool main = (app_knob(&f->app)->flags & KNOB_F_MAIN) != 0;
		if (main)
			measure_step(f, 'l', &costs);
		if (main)
			measure_step(f, 'h', &costs);
		(void)fixture_key(f, 'j');
		(void)present(f);
	}
	ck_assert_uint_gt(costs.n, 10);
	const long first = median(costs.first, costs.n), both = median(costs.both, costs.n), most = costs.both[costs.n - 1];
	printf("%s %s: full %ld bytes; %zu steps: first part median %ld, both median %ld, most %ld\n", type, theme, full, costs.n,
		first, both, most);
	ck_assert_int_le(first, FIRST_MEDIAN);
	ck_assert_int_le(both, BOTH_MEDIAN);
	ck_assert_int_le(most, BOTH_MOST);
	ck_assert_int_le(full, 3 * 80 * 24);
	term_close();
	canvas_free(&canvas);
	free(f);
}

START_TEST(only_what_changed_is_sent)
{
	static const struct {
		const char *type, *theme;
	} terminals[] = { { "xterm-256color", "256" }, { "tmux-256color", "256" }, { "xterm", "dark" }, { "vt100", "mono" } };
	measure(terminals[_i].type, terminals[_i].theme);
}
END_TEST

/* A signal may come between the two: the screen is to be sent anew and is not yet. */
START_TEST(the_cursor_is_shown_again_whatever_is_known_of_the_screen)
{
	struct fixture *f = fixture_new(80, 24);
	if (!open_screen("xterm-256color", NULL))
		return;
	ck_assert(canvas_resize(&canvas, 80, 24));
	view_frame(&f->app, &canvas);
	canvas.cursor_shown = false;
	term_present(&canvas);
	if (_i > 0)
		term_repaint();
	const long start = sent();
	term_close();
	char *text = sent_since(start);
	ck_assert_msg(strstr(text, "\033[?25h") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "\033[24;1H\033[K") != NULL || strstr(text, "\033[24d\033[K") != NULL, "%s", text);
	free(text);
	canvas_free(&canvas);
	free(f);
}
END_TEST

int main(void)
{
	(void)unsetenv("LINES");
	(void)unsetenv("COLUMNS");
	Suite *s = suite_create("ui_term");
	TCase *c = tcase_create("term");
	tcase_add_test(c, keys_are_decoded_from_bytes);
	tcase_add_test(c, waiting_can_end_in_a_tick);
	tcase_add_test(c, the_end_of_the_input_ends_the_program);
	tcase_add_test(c, a_terminal_that_cannot_be_used_is_refused);
	tcase_add_loop_test(c, only_what_changed_is_sent, 0, 4);
	tcase_add_loop_test(c, the_cursor_is_shown_again_whatever_is_known_of_the_screen, 0, 2);
	suite_add_tcase(s, c);
	return test_run(s);
}
