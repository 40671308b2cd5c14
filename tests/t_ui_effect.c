/* What touches files: saving, opening, importing, writing, listing, keeping the looks; and the messages when that fails. */
#include "config.h"
#include "support.h"

#include "ui_fixture.h"

#include "effect.h"
#include "ui_config.h"
#include "view.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAP = 200 };

static struct fixture *f;
static char dir[PATH_CAP];
static struct effect_env env;

static void setup(void)
{
	f = fixture_new(80, 24);
	(void)snprintf(dir, sizeof(dir), "ui-effect-%ld.tmp", (long)getpid());
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	env = (struct effect_env){ dir, dir, "0" };
}

static void teardown(void)
{
	char command[PATH_CAP + 16];
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
	free(f);
}

/* Keys, with the effects that they ask for. */
static void press(uint32_t key)
{
	if (fixture_key(f, key) & APP_EFFECT)
		effect_run(&f->app, &env);
}

static void type(const char *text)
{
	for (; *text != '\0'; text++)
		press((uint32_t)(unsigned char)*text);
}

static const char *path(const char *name)
{
	static char buf[2 * PATH_CAP];
	(void)snprintf(buf, sizeof(buf), "%s/%s", dir, name);
	return buf;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(path(name), "w");
	ck_assert_ptr_nonnull(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

static char *read_file(const char *name)
{
	static char text[65536];
	FILE *file = fopen(path(name), "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	return text;
}

START_TEST(a_scenario_is_saved_listed_and_opened)
{
	type("hSmine");
	press(INPUT_ENTER);
	ck_assert_int_eq(access(path("scenarios/mine.json"), R_OK), 0);
	ck_assert(!f->app.changed);
	press('l');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert(f->app.changed);
	press('b');
	press(INPUT_SHIFT_TAB);
	ck_assert_int_eq(f->app.browser.kind, BROWSER_SCENARIOS);
	ck_assert_uint_eq(f->app.browser.n, 1);
	press(INPUT_ENTER);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 4);
	press('u');
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
}
END_TEST

START_TEST(a_file_that_cannot_be_opened_changes_nothing_and_is_named)
{
	write_file("bad.json", "{\"scenario\": {\"tp\": \"many\"}}");
	type("O");
	type(path("bad.json"));
	press(INPUT_ENTER);
	ck_assert_int_eq(f->app.draft.s.layout.tp, 8);
	ck_assert_msg(strstr(f->app.message, "bad.json") != NULL, "%s", f->app.message);
	type("Onothing");
	press(INPUT_ENTER);
	ck_assert_ptr_nonnull(strstr(f->app.message, "nothing"));
	env.data_dir = NULL;
	type("Smine");
	press(INPUT_ENTER);
	ck_assert_ptr_nonnull(strstr(f->app.message, "XDG_DATA_HOME"));
}
END_TEST

START_TEST(a_view_is_written_in_three_formats_and_never_over_a_file)
{
	static const char *const names[] = { "a.txt", "a.md", "a.json" };
	static const char *const starts[] = { "Llama", "#", "{" };
	for (size_t i = 0; i < 3; i++) {
		type("w");
		type(path(names[i]));
		press(INPUT_ENTER);
		ck_assert_msg(strncmp(read_file(names[i]), starts[i], strlen(starts[i])) == 0, "%s: %.60s", names[i],
			read_file(names[i]));
	}
	write_file("a.txt", "mine");
	type("w");
	type(path("a.txt"));
	press(INPUT_ENTER);
	ck_assert_str_eq(read_file("a.txt"), "mine");
	type("w");
	type(path("a.txt!"));
	press(INPUT_ENTER);
	ck_assert_str_ne(read_file("a.txt"), "mine");
}
END_TEST

START_TEST(a_config_json_is_imported_and_the_layout_kept_legal)
{
	write_file("config.json",
		"{\"model_type\": \"llama\", \"hidden_size\": 768, \"intermediate_size\": 2048, \"num_attention_heads\": 12,"
		" \"num_key_value_heads\": 12, \"num_hidden_layers\": 12, \"vocab_size\": 32000, \"max_position_embeddings\": "
		"2048,"
		" \"tie_word_embeddings\": false}");
	type("bI");
	type(path("config.json"));
	press(INPUT_ENTER);
	ck_assert_msg(f->app.draft.s.model.layers == 12, "%s", f->app.message);
	ck_assert_int_eq(f->app.view, VIEW_MAIN);
	press('u');
	ck_assert_int_eq(f->app.draft.s.model.layers, 80);
}
END_TEST

START_TEST(the_looks_are_kept_and_read_again)
{
	struct ui_config c;
	struct err e = { 0 };
	f->app.colors = 256;
	f->app.theme = THEME_256;
	type("BT");
	ck_assert(ui_config_read(path("config.json"), &c, &e) == ERR_OK);
	ck_assert(c.big);
	ck_assert_str_eq(c.theme, theme_names[f->app.theme]);
	ck_assert_int_eq(c.glyphs, -1);
	ck_assert(ui_config_read(path("absent.json"), &c, &e) == ERR_OK);
	ck_assert_str_eq(c.theme, "auto");
}
END_TEST

START_TEST(a_bad_config_is_refused_with_file_and_pointer)
{
	static const char *const bad[] = { "{\"mode\": \"huge\"}", "{\"glyphs\": 3}", "{\"colour\": \"red\"}", "[]", "{" };
	static const char *const named[] = { "huge", "glyphs", "colour", "config.json", "config.json" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ui_config c;
		struct err e = { 0 };
		write_file("config.json", bad[i]);
		ck_assert_int_ne(ui_config_read(path("config.json"), &c, &e), ERR_OK);
		ck_assert_msg(strstr(e.where, "config.json") != NULL, "%s: %s", e.where, e.msg);
		ck_assert_msg(strstr(e.where, named[i]) != NULL || strstr(e.msg, named[i]) != NULL, "%s: %s", e.where, e.msg);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ui_effect");
	TCase *c = tcase_create("effect");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_scenario_is_saved_listed_and_opened);
	tcase_add_test(c, a_file_that_cannot_be_opened_changes_nothing_and_is_named);
	tcase_add_test(c, a_view_is_written_in_three_formats_and_never_over_a_file);
	tcase_add_test(c, a_config_json_is_imported_and_the_layout_kept_legal);
	tcase_add_test(c, the_looks_are_kept_and_read_again);
	tcase_add_test(c, a_bad_config_is_refused_with_file_and_pointer);
	suite_add_tcase(s, c);
	return test_run(s);
}
