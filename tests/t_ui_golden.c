/* Screens as text, made by the script mode, against the files in tests/golden/ui. UPDATE_GOLDEN=1 writes them anew: review the
 * difference. */
#include "config.h"
#include "support.h"

#include "ui_fixture.h"

#include "script.h"

#include <stdio.h>
#include <unistd.h>

static const struct {
	const char *script;
	int w, h;
	const char *variant; /* "", "ascii", or a theme whose looks are dumped instead of the roles */
} goldens[] = {
	{ "main", 60, 16, "" },
	{ "main", 80, 24, "" },
	{ "main", 120, 40, "" },
	{ "main", 200, 60, "" },
	{ "views", 60, 16, "" },
	{ "views", 80, 24, "" },
	{ "views", 120, 40, "" },
	{ "views", 200, 60, "" },
	{ "tools", 60, 16, "" },
	{ "tools", 80, 24, "" },
	{ "tools", 120, 40, "" },
	{ "tools", 200, 60, "" },
	{ "main", 60, 16, "ascii" },
	{ "main", 80, 24, "ascii" },
	{ "main", 120, 40, "ascii" },
	{ "main", 200, 60, "ascii" },
	{ "views", 60, 16, "ascii" },
	{ "views", 80, 24, "ascii" },
	{ "tools", 80, 24, "ascii" },
	{ "letters", 60, 16, "ascii" },
	{ "letters", 120, 40, "ascii" },
	{ "letters", 200, 60, "ascii" },
	{ "letters", 60, 16, "mono" },
	{ "letters", 80, 24, "mono" },
	{ "letters", 120, 40, "mono" },
	{ "letters", 200, 60, "mono" },
	{ "letters", 80, 24, "high-contrast" },
	{ "main", 160, 45, "" },
	{ "space", 60, 16, "" },
	{ "space", 80, 24, "" },
	{ "space", 120, 40, "" },
	{ "space", 200, 60, "" },
	{ "speed", 60, 16, "" },
	{ "speed", 80, 24, "" },
	{ "speed", 120, 40, "" },
	{ "speed", 160, 45, "" },
	{ "speed", 200, 60, "" },
	{ "speed", 80, 24, "ascii" },
	{ "lab", 60, 16, "" },
	{ "lab", 80, 24, "" },
	{ "lab", 80, 24, "ascii" },
	{ "lab", 160, 45, "" },
	{ "pipeline", 60, 16, "" },
	{ "pipeline", 80, 24, "" },
	{ "pipeline", 160, 45, "" },
	{ "pipeline", 80, 24, "ascii" },
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
	const char *variant = goldens[_i].variant;
	const bool update = getenv("UPDATE_GOLDEN") != NULL, ascii = strcmp(variant, "ascii") == 0;
	struct fixture *f = fixture_new(goldens[_i].w, goldens[_i].h);
	(void)snprintf(script, sizeof(script), "%s/tests/golden/ui/%s.script", top, goldens[_i].script);
	(void)snprintf(golden, sizeof(golden), "%s/tests/golden/ui/%s-%dx%d%s%s.txt", top, goldens[_i].script, goldens[_i].w,
		goldens[_i].h, variant[0] != '\0' ? "-" : "", variant);
	(void)snprintf(made, sizeof(made), "ui-golden-%d.tmp", _i);
	const struct ui_options o = { .catalog = &f->catalog,
		.draft = &f->draft,
		.ascii = ascii,
		.theme = ascii || variant[0] == '\0' ? NULL : variant,
		.script = script,
		.dump = update ? golden : made,
		.w = goldens[_i].w,
		.h = goldens[_i].h,
		.style = !ascii && goldens[_i].w < 200 };
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
	tcase_add_loop_test(c, screens_are_as_committed, 0, (int)(sizeof(goldens) / sizeof(goldens[0])));
	tcase_add_test(c, a_bad_script_is_refused);
	suite_add_tcase(s, c);
	return test_run(s);
}
