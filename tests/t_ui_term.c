/* The terminal layer on an off-screen terminal: keys are decoded from bytes, and only what changed is sent. */
#include "config.h"

#include "ui_fixture.h"

#include "term.h"
#include "view.h"

#include <locale.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int feed[2];
static FILE *out;

/* Opens an off-screen terminal. False when this system does not know its type. */
static bool open_screen(const char *type, const char *theme)
{
	struct err e = { 0 };
	(void)setenv("LINES", "24", 1);
	(void)setenv("COLUMNS", "80", 1);
	(void)unsetenv("NO_COLOR");
	(void)unsetenv("COLORFGBG");
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		return false;
	ck_assert_int_eq(pipe(feed), 0);
	out = tmpfile();
	ck_assert_ptr_nonnull(out);
	const struct term_options o = { .type = type, .out = out, .in = fdopen(feed[0], "r"), .theme = theme, .ascii = -1 };
	return term_open(&o, &e) == ERR_OK;
}

static long sent(void)
{
	(void)fflush(out);
	return ftell(out);
}

static void send_bytes(const char *bytes)
{
	const size_t n = strlen(bytes);
	ck_assert_int_eq(write(feed[1], bytes, n), (ssize_t)n);
}

static uint32_t read_key(void)
{
	const struct event ev = term_read();
	ck_assert_int_eq(ev.kind, EVENT_KEY);
	return ev.key;
}

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

START_TEST(the_end_of_the_input_ends_the_program)
{
	if (!open_screen("xterm-256color", NULL))
		return;
	send_bytes("x");
	(void)close(feed[1]);
	ck_assert_uint_eq(read_key(), 'x');
	ck_assert_int_eq(term_read().kind, EVENT_END);
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

static struct canvas canvas;

static long present(struct fixture *f)
{
	const long before = sent();
	view_frame(&f->app, &canvas);
	term_present(&canvas);
	return sent() - before;
}

static int compare_long(const void *a, const void *b)
{
	const long *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* What a step on the main screen costs, over every setting both ways. */
static void measure(const char *type, const char *theme, long most, long most_median, long most_full)
{
	enum { STEPS_MAX = 256 };
	long cost[STEPS_MAX];
	size_t n = 0;
	struct fixture *f = fixture_new(80, 24);
	if (!open_screen(type, theme))
		return;
	ck_assert(canvas_resize(&canvas, 80, 24));
	canvas.ascii = term_ascii();
	const long full = present(f);
	ck_assert_int_le(full, most_full);
	ck_assert_int_eq(present(f), 0);
	(void)fixture_key(f, 'g');
	(void)present(f);
	for (size_t i = 0; i < knob_count() && n + 2 < STEPS_MAX; i++) {
		const bool main = (app_knob(&f->app)->flags & KNOB_F_MAIN) != 0;
		for (int side = 0; main && side < 2; side++) {
			const size_t at = f->app.history.at;
			(void)fixture_key(f, side == 0 ? 'l' : 'h');
			const long bytes = present(f);
			if (f->app.history.at != at)
				cost[n++] = bytes;
			ck_assert_int_eq(present(f), 0);
		}
		(void)fixture_key(f, 'j');
		(void)present(f);
	}
	qsort(cost, n, sizeof(cost[0]), compare_long);
	ck_assert_uint_gt(n, 10);
	printf("%s %s: first frame %ld bytes, step median %ld, most %ld (%zu steps)\n", type, theme, full, cost[n / 2],
		cost[n - 1], n);
	ck_assert_int_le(cost[n / 2], most_median);
	ck_assert_int_le(cost[n - 1], most);
	term_close();
	canvas_free(&canvas);
	free(f);
}

START_TEST(only_what_changed_is_sent)
{
	static const struct {
		const char *type, *theme;
		long most, median, full;
	} budgets[] = { { "xterm-256color", "256", 3800, 1400, 6500 }, { "xterm", "dark", 2800, 1100, 4600 },
		{ "vt100", "mono", 1800, 800, 3200 } };
	measure(budgets[_i].type, budgets[_i].theme, budgets[_i].most, budgets[_i].median, budgets[_i].full);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_term");
	TCase *c = tcase_create("term");
	tcase_set_timeout(c, 60);
	tcase_add_test(c, keys_are_decoded_from_bytes);
	tcase_add_test(c, the_end_of_the_input_ends_the_program);
	tcase_add_test(c, a_terminal_that_cannot_be_used_is_refused);
	tcase_add_loop_test(c, only_what_changed_is_sent, 0, 3);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	const int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
