/* The 34 kinds of bugs that users of terminal programs report most, one row each: a test here, or where it is tested, or why it
 * cannot happen. */
#include "config.h"
#include "support.h"

#include "ui_screen.h"

#include <sys/wait.h>
#include <time.h>

static struct fixture *f;

static void frame(void)
{
	if (canvas.w != f->app.w || canvas.h != f->app.h)
		ck_assert(canvas_resize(&canvas, f->app.w, f->app.h));
	view_frame(&f->app, &canvas);
}

static char *dump(void)
{
	static char text[4 * 1024 * 1024];
	struct sink to;
	frame();
	sink_init(&to, text, sizeof(text), NULL, NULL);
	canvas_dump(&canvas, &to);
	return text;
}

static const char all_views[] = "mpt$dab?ye";

static void every_view(void (*check)(void))
{
	for (const char *view = all_views; *view != '\0'; view++) {
		(void)fixture_key(f, (uint32_t)(unsigned char)*view);
		check();
		for (int i = 0; i < 3; i++)
			(void)fixture_key(f, INPUT_ESCAPE);
	}
	check();
}

static void check_small(void)
{
	for (int w = 1; w <= 40; w++) {
		for (int h = 1; h <= 12; h++) {
			fixture_resize(f, w, h);
			frame();
		}
	}
}

static void narrow_or_short(void)
{
	every_view(check_small);
}

static void comes_back(void)
{
	char *first = strdup(dump());
	fixture_resize(f, 20, 5);
	ck_assert_ptr_nonnull(strstr(dump(), "need 60x16"));
	fixture_resize(f, 80, 24);
	ck_assert_str_eq(dump(), first);
	free(first);
}

static void check_large(void)
{
	static const int sizes[][2] = { { 300, 70 }, { 500, 200 }, { 1000, 1000 } };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fixture_resize(f, sizes[i][0], sizes[i][1]);
		frame();
	}
}

static void very_large(void)
{
	every_view(check_large);
}

static void live_resize(void)
{
	for (int i = 0; i < 200; i++) {
		fixture_resize(f, 1 + (i * 37) % 200, 1 + (i * 23) % 60);
		(void)fixture_key(f, (uint32_t)(unsigned char)"hjklmpdabTBc"[i % 12]);
		frame();
	}
}

static void no_action_needs_an_f_key(void)
{
	for (size_t i = 0; i < n_bindings; i++) {
		const struct binding *b = &binding_table[i];
		bool other = b->key != INPUT_F1 && b->key != INPUT_F10;
		for (size_t k = 0; k < n_bindings && !other; k++)
			other = binding_table[k].action == b->action && binding_table[k].key < 0x80;
		ck_assert(other);
	}
}

static void f1_in_both_forms(void)
{
	static const char *const forms[] = { "\033OP", "\033[11~", "\033[[A" };
	if (!open_screen("vt220", NULL))
		return;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		send_bytes(forms[i]);
		ck_assert_uint_eq(read_key(), INPUT_F1);
	}
	send_bytes("\033[99~q");
	ck_assert_uint_eq(read_key(), 'q');
	term_close();
}

static void the_footer_names_letters(void)
{
	for (int context = 0; context < CONTEXT_COUNT; context++) {
		for (const enum ui_action *a = input_footer((enum context)context); *a != UI_NONE; a++) {
			char keys[64];
			(void)input_keys_of((enum context)context, *a, keys, sizeof(keys));
			ck_assert_msg(keys[0] != 'F' || keys[1] < '0' || keys[1] > '9', "%s", keys);
		}
	}
}

static const char *const terminals[] = { "xterm-256color", "xterm", "screen-256color", "tmux-256color", "linux", "vt100", "vt220",
	"ansi", "rxvt-unicode-256color" };

static void every_terminal(void)
{
	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		if (!open_screen(terminals[i], NULL))
			continue;
		ck_assert(canvas_resize(&canvas, 80, 24));
		canvas.ascii = term_ascii();
		const long full = present(f).both;
		ck_assert_msg(full > 1000 && full < 3 * 80 * 24, "%s: %ld bytes", terminals[i], full);
		ck_assert_int_eq(present(f).both, 0);
		send_bytes("\033x");
		ck_assert_uint_eq(read_key(), INPUT_ESCAPE);
		ck_assert_uint_eq(read_key(), 'x');
		term_close();
	}
}

static void only_seven_bits(const char *locale, int ascii)
{
	if (!open_screen_in("xterm-256color", NULL, locale, ascii))
		return;
	ck_assert(term_ascii());
	(void)snprintf(f->app.draft.s.model.label, sizeof(f->app.draft.s.model.label), "\xe5\xb1\x82\xc3\xa9");
	ck_assert(canvas_resize(&canvas, 80, 24));
	canvas.ascii = term_ascii();
	(void)present(f);
	char *bytes = sent_since(0);
	for (const char *at = bytes; *at != '\0'; at++)
		ck_assert_int_ge(*at, 0);
	free(bytes);
	term_close();
}

static void the_c_locale(void)
{
	only_seven_bits("C", -1);
}

static void ascii_asked_for(void)
{
	only_seven_bits("C.UTF-8", 1);
}

static void a_name_beyond_ascii(void)
{
	(void)snprintf(f->app.draft.s.model.label, sizeof(f->app.draft.s.model.label), "\xe5\xb1\x82");
	if (!open_screen("xterm-256color", NULL))
		return;
	ck_assert(canvas_resize(&canvas, 80, 24));
	(void)present(f);
	char *bytes = sent_since(0);
	ck_assert_ptr_nonnull(strstr(bytes, "\xe5\xb1\x82"));
	free(bytes);
	term_close();
}

static double now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Not a matter of speed: without a setting of its own the library waits a whole second for what follows an Escape. */
static void escape_is_quick(void)
{
	if (!open_screen("xterm-256color", NULL))
		return;
	const double start = now_ms();
	send_bytes("\033");
	ck_assert_uint_eq(read_key(), INPUT_ESCAPE);
	ck_assert(now_ms() - start < 900);
	term_close();
}

/* The first key of an arrow whose rest comes while the program already waits for it. */
static uint32_t first_key_of_a_torn_arrow(void)
{
	const struct timespec pause = { 0, 10000000 };
	int status = 0;
	const pid_t child = fork();
	if (child == 0) {
		send_bytes("\033");
		(void)nanosleep(&pause, NULL);
		send_bytes("OA");
		_exit(0);
	}
	const uint32_t key = read_key();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return key;
}

/* On a busy machine the rest may come too late; not every time. */
static void an_arrow_in_two_parts(void)
{
	enum { TRIES = 50 };
	int n = 0;
	if (!open_screen("xterm-256color", NULL))
		return;
	while (first_key_of_a_torn_arrow() != INPUT_UP) {
		ck_assert_int_lt(++n, TRIES);
		ck_assert_uint_eq(read_key(), 'O');
		ck_assert_uint_eq(read_key(), 'A');
	}
	term_close();
}

static void segments_have_letters(void)
{
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		ck_assert_ptr_nonnull(strchr(dump(), memory_category_table[i].letter));
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(memory_category_table[i].letter, memory_category_table[k].letter);
	}
}

/* Black and white are never put on a background that is not ours; nor is a background set without a foreground. */
static void any_background(void)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		for (int theme = 0; theme < THEME_COUNT; theme++) {
			const struct look *look = &role_table[role].look[theme];
			const bool black_or_white =
				look->fg == 0 || look->fg == 7 || look->fg == 15 || look->fg == 16 || look->fg == 231;
			ck_assert(look->bg >= 0 || !black_or_white);
			ck_assert(look->bg < 0 || look->fg >= 0);
			ck_assert_int_eq(look->attributes & ~(LOOK_BOLD | LOOK_REVERSE | LOOK_UNDERLINE), 0);
		}
	}
}

/* No 24-bit colours, no mouse, no faint text. */
static void nothing_exotic(void)
{
	static const char *const exotic[] = { "38;2;", "48;2;", "?1000h", "?1002h", "?1003h", "?1006h", "\033[2m" };
	for (int theme = 0; theme < THEME_COUNT; theme++) {
		if (!open_screen("xterm-256color", theme_names[theme]))
			return;
		ck_assert(canvas_resize(&canvas, 80, 24));
		(void)fixture_key(f, 'h');
		(void)present(f);
		(void)fixture_key(f, 'u');
		(void)present(f);
		char *bytes = sent_since(0);
		for (size_t i = 0; i < sizeof(exotic) / sizeof(exotic[0]); i++)
			ck_assert_msg(strstr(bytes, exotic[i]) == NULL, "%s sends %s", theme_names[theme], exotic[i]);
		free(bytes);
		term_close();
	}
}

static void check_columns(void)
{
	fixture_resize(f, 80, 24);
	for (const char *line = dump(); *line != '\0'; line += strcspn(line, "\n") + 1) {
		char row[1024];
		(void)snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
		ck_assert_msg(canvas_text_width(row) == 80, "%d columns: %s", canvas_text_width(row), row);
	}
}

static void names_of_any_width(void)
{
	static const char *const names[] = { "\xe5\xb1\x82\xe6\x95\xb0 70B", "e\xcc\x81t\xc3\xa9", "\xf0\x9f\x98\x80 model",
		"\xc2\xb1\xe2\x80\xa6\xe2\x84\xa2", "\xe2\x80\x8bzero", "\xff\xfe broken" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(f->app.draft.s.model.label, sizeof(f->app.draft.s.model.label), "%s", names[i]);
		(void)snprintf(f->models[0].label, sizeof(f->models[0].label), "%s", names[i]);
		every_view(check_columns);
	}
}

static void idle_is_silent(void)
{
	if (!open_screen("xterm-256color", NULL))
		return;
	ck_assert(canvas_resize(&canvas, 80, 24));
	(void)present(f);
	ck_assert(!app_busy(&f->app));
	ck_assert(!term_waiting());
	ck_assert_int_eq(present(f).both, 0);
	term_close();
}

/* Every drawing character is in code page 437, which the Linux console has. */
static void glyphs_of_the_console(void)
{
	static const uint32_t cp437[] = { 0x2588, 0x2593, 0x2592, 0x2591, 0x2502, 0x00bb, 0x25ba, 0x253c, 0x2500, 0x25a0, 0x00b7,
		0x25c4, 0x25bc, 0x25b2, '~' };
	for (int i = 0; i < GLYPH_COUNT; i++) {
		bool there = false;
		for (size_t k = 0; k < sizeof(cp437) / sizeof(cp437[0]); k++)
			there = there || glyph_table[i].unicode == cp437[k];
		ck_assert_msg(there, "%s", glyph_table[i].use);
	}
}

static void names_that_are_formats(void)
{
	struct model *m = &f->app.draft.s.model;
	(void)snprintf(m->label, sizeof(m->label), "%%n%%s%%d");
	(void)snprintf(m->id, sizeof(m->id), "%%n%%s");
	ck_assert_ptr_nonnull(strstr(dump(), "%n%s%d"));
	every_view(frame);
	memset(m->label, 'x', sizeof(m->label) - 1);
	every_view(check_columns);
}

static void check_no_escape(void)
{
	ck_assert_ptr_null(strchr(dump(), '\033'));
}

static void text_without_escapes(void)
{
	every_view(check_no_escape);
}

/* One row: a test, or the place of one ("FILE: NAME", which must be there), or a reason. */
struct kind {
	int number;
	const char *what;
	void (*test)(void);
	const char *elsewhere, *reason;
};

static const struct kind kinds[] = {
	{ 1, "crash when narrow or short", narrow_or_short, NULL, NULL },
	{ 2, "does not come back after too small", comes_back, NULL, NULL },
	{ 3, "crash when very large", very_large, NULL, NULL },
	{ 4, "crash on live resize", live_resize, "tests/tui/run.sh: resize storm", NULL },
	{ 5, "F keys taken by the terminal", no_action_needs_an_f_key, NULL, NULL },
	{ 6, "F1 in two forms, unknown sequences", f1_in_both_forms, NULL, NULL },
	{ 7, "the footer shows keys that a keyboard lacks", the_footer_names_letters, NULL, NULL },
	{ 8, "Alt needed, keys of one terminal only", every_terminal, NULL, NULL },
	{ 9, "unknown TERM aborts", NULL, "tests/tui/run.sh: no-such-terminal", NULL },
	{ 10, "initscr exits the process", NULL, "tests/t_ui_term.c: a_terminal_that_cannot_be_used_is_refused", NULL },
	{ 11, "garbage in the C locale", the_c_locale, "tests/tui/run.sh: locale that is not installed", NULL },
	{ 12, "letters for lines", ascii_asked_for, NULL, NULL },
	{ 13, "setlocale never called", a_name_beyond_ascii, "tests/tui/run.sh: holds \"PIPELINE 1f1b\"", NULL },
	{ 14, "terminal left raw after a crash", NULL,
		"tests/tui/run.sh: for signal in TERM HUP INT QUIT PIPE ALRM USR1 USR2 SEGV ABRT BUS FPE", NULL },
	{ 15, "an error hidden by the alternate screen", NULL, "tests/tui/run.sh: bad preset file", NULL },
	{ 16, "one failed restore step skips the rest", NULL, "tests/tui/run.sh: terminal gone while quitting", NULL },
	{ 17, "busy after the terminal closes", NULL, "tests/tui/run.sh: terminal gone", NULL },
	{ 18, "lives on with the end of stdin", NULL, "tests/tui/run.sh: no terminal", NULL },
	{ 19, "Esc takes a second", escape_is_quick, NULL, NULL },
	{ 20, "too small an Esc delay breaks arrows", an_arrow_in_two_parts, NULL, NULL },
	{ 21, "red and green the only difference", segments_have_letters, NULL, NULL },
	{ 22, "unreadable on a light background", any_background, NULL, NULL },
	{ 23, "black hard-coded, faint text", any_background, NULL, NULL },
	{ 24, "24-bit colour where it is not supported", nothing_exotic, NULL, NULL },
	{ 25, "blank or stale after Ctrl-Z and fg", NULL, "tests/tui/run.sh: suspend", NULL },
	{ 26, "mouse capture blocks copying", nothing_exotic, NULL, NULL },
	{ 27, "wide and combining characters shift columns", names_of_any_width, NULL, NULL },
	{ 28, "flicker and lag on slow links", idle_is_silent, "tests/t_ui_term.c: only_what_changed_is_sent", NULL },
	{ 29, "idle animation", idle_is_silent, NULL, NULL },
	{ 30, "glyphs missing on the console", glyphs_of_the_console, NULL, NULL },
	{ 31, "format strings and overflow", names_that_are_formats, NULL, NULL },
	{ 32, "escape codes in pipes", text_without_escapes, "tests/tui/run.sh: plain", NULL },
	{ 33, "decimal comma", NULL, NULL, "LC_NUMERIC is never set: main calls setlocale for LC_CTYPE and LC_MESSAGES only" },
	{ 34, "ncursesw not found, two curses linked", NULL, NULL, "a matter of building: pkg-config names the one library" },
};

enum { N_KINDS = (int)(sizeof(kinds) / sizeof(kinds[0])) };

/* Whether "FILE: TEXT" is so. */
static bool is_there(const char *place)
{
	char path[512], text[200], line[1024];
	const char *top = getenv("top_srcdir") != NULL ? getenv("top_srcdir") : ".", *colon = strstr(place, ": ");
	bool found = false;
	(void)snprintf(path, sizeof(path), "%s/%.*s", top, (int)(colon - place), place);
	(void)snprintf(text, sizeof(text), "%s", colon + 2);
	FILE *file = fopen(path, "r");
	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
		found = strstr(line, text) != NULL;
	if (file != NULL)
		(void)fclose(file);
	return found;
}

START_TEST(the_kind_does_not_occur)
{
	const struct kind *k = &kinds[_i];
	ck_assert_int_eq(k->number, _i + 1);
	ck_assert_msg(k->test != NULL || k->elsewhere != NULL || k->reason != NULL, "%s", k->what);
	ck_assert_msg(k->elsewhere == NULL || is_there(k->elsewhere), "%s: not there: %s", k->what, k->elsewhere);
	if (k->test == NULL)
		return;
	f = fixture_new(80, 24);
	k->test();
	free(f);
	canvas_free(&canvas);
}
END_TEST

int main(void)
{
	(void)unsetenv("LINES");
	(void)unsetenv("COLUMNS");
	Suite *s = suite_create("ui_kinds");
	TCase *c = tcase_create("kinds");
	tcase_add_loop_test(c, the_kind_does_not_occur, 0, N_KINDS);
	suite_add_tcase(s, c);
	return test_run(s);
}
