/* Screens as text, made by the script mode, against the files in tests/golden/ui. UPDATE_GOLDEN=1 writes them anew: review the
 * difference. */
#include "config.h"

#include "ui_fixture.h"

#include "script.h"

#include <stdio.h>
#include <unistd.h>

static const struct {
	const char *script;
	int w, h;
	bool ascii;
} goldens[] = {
	{ "main", 60, 16, false },
	{ "main", 80, 24, false },
	{ "main", 120, 40, false },
	{ "main", 200, 60, false },
	{ "views", 60, 16, false },
	{ "views", 80, 24, false },
	{ "views", 120, 40, false },
	{ "views", 200, 60, false },
	{ "tools", 60, 16, false },
	{ "tools", 80, 24, false },
	{ "tools", 120, 40, false },
	{ "tools", 200, 60, false },
	{ "main", 60, 16, true },
	{ "main", 80, 24, true },
	{ "main", 120, 40, true },
	{ "main", 200, 60, true },
	{ "views", 60, 16, true },
	{ "views", 80, 24, true },
	{ "tools", 80, 24, true },
	{ "main", 160, 45, false },
	{ "speed", 60, 16, false },
	{ "speed", 80, 24, false },
	{ "speed", 160, 45, false },
	{ "speed", 80, 24, true },
	{ "lab", 60, 16, false },
	{ "lab", 80, 24, false },
	{ "lab", 80, 24, true },
	{ "pipeline", 60, 16, false },
	{ "pipeline", 80, 24, false },
	{ "pipeline", 160, 45, false },
	{ "pipeline", 80, 24, true },
};

/* The whole file, NUL-terminated, freed by the caller; NULL when it cannot be read. */
static char *read_file(const char *name)
{
	FILE *file = fopen(name, "rb");
	if (file == NULL)
		return NULL;
	(void)fseek(file, 0, SEEK_END);
	const long size = ftell(file);
	(void)fseek(file, 0, SEEK_SET);
	char *text = calloc(1, (size_t)size + 1);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
	(void)fclose(file);
	return text;
}

/* The first line that differs, for the message. */
static void report_difference(const char *name, const char *want, const char *have)
{
	int line = 1;
	while (*want != '\0' && *have != '\0') {
		const size_t n = strcspn(want, "\n"), m = strcspn(have, "\n");
		if (n != m || strncmp(want, have, n) != 0)
			break;
		want += n + (want[n] != '\0');
		have += m + (have[m] != '\0');
		line++;
	}
	ck_abort_msg("%s:%d\nwant: %.*s\nhave: %.*s\nUPDATE_GOLDEN=1 accepts the new screen", name, line,
		(int)strcspn(want, "\n"), want, (int)strcspn(have, "\n"), have);
}

START_TEST(screens_are_as_committed)
{
	char golden[512], script[512], made[64];
	const char *top = getenv("top_srcdir") != NULL ? getenv("top_srcdir") : ".";
	const bool update = getenv("UPDATE_GOLDEN") != NULL;
	struct fixture *f = fixture_new(goldens[_i].w, goldens[_i].h);
	(void)snprintf(script, sizeof(script), "%s/tests/golden/ui/%s.script", top, goldens[_i].script);
	(void)snprintf(golden, sizeof(golden), "%s/tests/golden/ui/%s-%dx%d%s.txt", top, goldens[_i].script, goldens[_i].w,
		goldens[_i].h, goldens[_i].ascii ? "-ascii" : "");
	(void)snprintf(made, sizeof(made), "ui-golden-%d.tmp", _i);
	const struct ui_options o = { .catalog = &f->catalog,
		.draft = &f->draft,
		.ascii = goldens[_i].ascii,
		.script = script,
		.dump = update ? golden : made,
		.w = goldens[_i].w,
		.h = goldens[_i].h,
		.style = !goldens[_i].ascii && goldens[_i].w < 200 };
	ck_assert_int_eq(ui_script(&o), 0);
	free(f);
	if (update)
		return;
	char *have = read_file(made), *want = read_file(golden);
	(void)unlink(made);
	ck_assert_ptr_nonnull(have);
	ck_assert_msg(want != NULL, "%s is missing: UPDATE_GOLDEN=1 writes it", golden);
	if (strcmp(have, want) != 0)
		report_difference(golden, want, have);
	free(have);
	free(want);
}
END_TEST

/* Writes a script, runs it with its messages thrown away, returns the exit code. */
static int run_text(const char *text)
{
	struct fixture *f = fixture_new(80, 24);
	FILE *file = fopen("ui-golden-bad.tmp", "w");
	ck_assert_ptr_nonnull(file);
	(void)fputs(text, file);
	(void)fclose(file);
	const struct ui_options o = {
		.catalog = &f->catalog, .draft = &f->draft, .script = "ui-golden-bad.tmp", .dump = "/dev/null", .w = 80, .h = 24
	};
	(void)freopen("/dev/null", "w", stderr);
	const int code = ui_script(&o);
	(void)unlink("ui-golden-bad.tmp");
	free(f);
	return code;
}

START_TEST(a_bad_script_is_refused)
{
	ck_assert_int_eq(run_text("key Left\n\n# comment\ntext 4\nresize 100x30\ndump x\n"), 0);
	ck_assert_int_eq(run_text("key Nonsense\n"), 2);
	ck_assert_int_eq(run_text("jump 3\n"), 2);
	ck_assert_int_eq(run_text("resize 80\n"), 2);
	ck_assert_int_eq(run_text("resize 0x24\n"), 2);
	ck_assert_int_eq(run_text("resize 99999x24\n"), 2);
	ck_assert_int_eq(run_text("key q\nkey Nonsense\n"), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_golden");
	TCase *c = tcase_create("golden");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, screens_are_as_committed, 0, (int)(sizeof(goldens) / sizeof(goldens[0])));
	tcase_add_test(c, a_bad_script_is_refused);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	const int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
