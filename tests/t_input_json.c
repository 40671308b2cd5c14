/* Files that cannot be used, each refused with a reason: the reader of JSON under everything in src/input. */
#define _POSIX_C_SOURCE 200809L

#include "file.h"
#include "json.h"
#include "support.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
static const struct {
	const char *text, *where, *says;
} bad_texts[] = {
	{ "   \n ", "f.json:2:2", "only blanks" },
	{ "[]", "f.json:1:1", "an object is expected" },
	{ "3", "f.json:1:1", "an object is expected" },
	{ "{", "f.json:1:2", "truncated" },
	{ "{\"a\": 1", "f.json:1:8", "truncated" },
	{ "{\"a\": [1, 2", "f.json:1:12", "truncated" },
	{ "{\"a", "f.json:1:4", "ends inside a string" },
	{ "{\"a\"", "f.json:1:5", "':' is expected" },
	{ "{\"a\": 1,}", "f.json:1:9", "a key in double quotes" },
	{ "{\"a\": [1,]}", "f.json:1:10", "a value is expected" },
	{ "{\"a\": 1]", "f.json:1:8", "',' or '}'" },
	{ "{\"a\" 1}", "f.json:1:6", "':' is expected" },
	{ "{a: 1}", "f.json:1:2", "a key in double quotes" },
	{ "{'a': 1}", "f.json:1:2", "a key in double quotes" },
	{ "{\"a\": 1} {}", "f.json:1:10", "more text" },
	{ "{\"a\": NaN}", "f.json:1:7", "NaN and Infinity" },
	{ "{\"a\": Infinity}", "f.json:1:7", "NaN and Infinity" },
	{ "{\"a\": -Infinity}", "f.json:1:7", "malformed number" },
	{ "{\"a\": 01}", "f.json:1:7", "malformed number" },
	{ "{\"a\": +1}", "f.json:1:7", "a value is expected" },
	{ "{\"a\": 1.}", "f.json:1:7", "malformed number" },
	{ "{\"a\": .5}", "f.json:1:7", "a value is expected" },
	{ "{\"a\": 1e}", "f.json:1:7", "malformed number" },
	{ "{\"a\": 0x10}", "f.json:1:8", "',' or '}'" },
	{ "{\"a\": 1e400}", "f.json:/a", "too large" },
	{ "{\"a\": {\"b\": [0, -1e999]}}", "f.json:/a/b/1", "too large" },
	{ "{\"a\": 11111111111111111111111111111111111111111111111111111111111111}", "f.json:1:7", "more than 60 characters" },
	{ "{\"a\": tru}", "f.json:1:7", "a value is expected" },
	{ "{\"a\": \"\x80\"}", "f.json:1:8", "invalid UTF-8" },
	{ "{\"a\": \"\xc0\xaf\"}", "f.json:1:8", "invalid UTF-8" },
	{ "{\"a\": \"\xed\xa0\x80\"}", "f.json:1:8", "invalid UTF-8" },
	{ "{\"a\": \"\xf5\x80\x80\x80\"}", "f.json:1:8", "invalid UTF-8" },
	{ "{\"\xff\": 1}", "f.json:1:3", "invalid UTF-8" },
	{ "\xef\xbb\xbf{}", "f.json:1:1", "an object is expected" },
	{ "{\"a\": \"x\ny\"}", "f.json:1:9", "control character" },
	{ "{\"a\": \"\x7f\"}", "f.json:1:8", "control character" },
	{ "{\"a\": \"\xc2\x9b\"}", "f.json:1:8", "control character" },
	{ "{\"a\": \"x\\u001b[m\"}", "f.json:1:9", "control character" },
	{ "{\"a\": \"\\u009B\"}", "f.json:1:8", "control character" },
	{ "{\"a\": \"\\b\"}", "f.json:1:8", "unknown escape" },
	{ "{\"a\": \"\\q\"}", "f.json:1:8", "unknown escape" },
	{ "{\"a\": \"\\u12\"}", "f.json:1:8", "four hexadecimal" },
	{ "{\"t\\u0000p\": 1}", "f.json:1:4", "control character" },
	{ "{\"a\": 1, \"b\": 2, \"a\": 3}", "f.json:/a", "stands here twice" },
	{ "{\"x\": [{\"a\": 1, \"a\": 3}]}", "f.json:/x/0/a", "stands here twice" },
	{ "{\"x/y\": {\"m~n\": 1, \"m~n\": 3}}", "f.json:/x~1y/m~0n", "stands here twice" },
};
/* clang-format on */

START_TEST(broken_text_is_refused_with_its_place)
{
	cJSON *root = NULL;
	struct err e = { .code = ERR_OK };
	enum err_code code = json_parse("f.json", bad_texts[_i].text, strlen(bad_texts[_i].text), &root, &e);

	ck_assert_int_eq(code, ERR_FILE);
	ck_assert_ptr_null(root);
	ck_assert_str_eq(e.where, bad_texts[_i].where);
	ck_assert_msg(strstr(e.msg, bad_texts[_i].says) != NULL, "%s", e.msg);
}
END_TEST

START_TEST(every_truncation_of_a_document_is_refused)
{
	static const char text[] = "{\"a\": [1, -2.5e-3, true, null, \"x\\u00e9\\n\"], \"b\": {\"c\": {}}}";
	cJSON *root = NULL;

	for (size_t len = 0; len + 1 < sizeof text - 1; len++)
		ck_assert_int_eq(json_parse("f.json", text, len, &root, NULL), ERR_FILE);
	ck_assert_int_eq(json_parse("f.json", text, sizeof text - 1, &root, NULL), ERR_OK);
	cJSON_Delete(root);
}
END_TEST

START_TEST(a_nul_byte_is_no_text)
{
	static const char text[] = "{\"a\": 1\0}";
	cJSON *root = NULL;

	ck_assert_int_eq(json_parse("f.json", text, sizeof text - 1, &root, NULL), ERR_FILE);
}
END_TEST

START_TEST(deep_nesting_is_refused_without_recursion)
{
	enum { DEPTH = 1000000 };
	char *text = malloc(2 * DEPTH + 16);
	cJSON *root = NULL;
	struct err e;

	ck_assert_ptr_nonnull(text);
	memcpy(text, "{\"a\":", 5);
	memset(text + 5, '[', DEPTH);
	memset(text + 5 + DEPTH, ']', DEPTH);
	text[5 + 2 * DEPTH] = '}';
	ck_assert_int_eq(json_parse("deep.json", text, 6 + 2 * DEPTH, &root, &e), ERR_FILE);
	ck_assert_ptr_nonnull(strstr(e.msg, "nested too deeply"));
	/* The deepest that is allowed. */
	memset(text + 5, '[', JSON_DEPTH_MAX - 1);
	memset(text + 5 + JSON_DEPTH_MAX - 1, ']', JSON_DEPTH_MAX - 1);
	text[5 + 2 * (JSON_DEPTH_MAX - 1)] = '}';
	ck_assert_int_eq(json_parse("deep.json", text, 6 + 2 * (JSON_DEPTH_MAX - 1), &root, &e), ERR_OK);
	cJSON_Delete(root);
	free(text);
}
END_TEST

START_TEST(many_keys_are_checked_quickly)
{
	enum { KEYS = 100000 };
	char *text = malloc(KEYS * 16 + 16);
	size_t len = 1;
	cJSON *root = NULL;

	ck_assert_ptr_nonnull(text);
	text[0] = '{';
	for (int i = 0; i < KEYS; i++)
		len += (size_t)snprintf(text + len, 17, "%s\"k%d\":%d", i == 0 ? "" : ",", i, i % 10);
	text[len++] = '}';
	ck_assert_int_eq(json_parse("keys.json", text, len, &root, NULL), ERR_OK);
	cJSON_Delete(root);
	free(text);
}
END_TEST

/* ---- files ---- */

static char dir[64];

static void setup(void)
{
	(void)snprintf(dir, sizeof dir, "t_input_json.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	ck_assert_int_eq(rmdir(dir), 0);
}

static const char *path_of(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void expect_refusal(const char *path, const char *says)
{
	char *text = NULL;
	size_t len;
	struct err e = { .code = ERR_OK };

	ck_assert_int_eq(file_read(path, JSON_SIZE_MAX, &text, &len, &e), ERR_FILE);
	ck_assert_ptr_null(text);
	ck_assert_str_eq(e.where, path);
	ck_assert_msg(strstr(e.msg, says) != NULL, "%s", e.msg);
}

START_TEST(files_that_cannot_be_read_say_why)
{
	const char *path;
	FILE *f;

	expect_refusal(path_of("missing.json"), "No such file");
	expect_refusal(dir, "is a directory");
	path = path_of("fifo.json");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refusal(path, "not a regular file");
	ck_assert_int_eq(unlink(path), 0);
	path = path_of("empty.json");
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	(void)fclose(f);
	expect_refusal(path, "is empty");
	ck_assert_int_eq(truncate(path, 100 * 1024 * 1024), 0);
	expect_refusal(path, "104857600 bytes; at most 4194304");
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(a_file_without_permission_is_refused)
{
	const char *path = path_of("secret.json");
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	(void)fputs("{}", f);
	(void)fclose(f);
	ck_assert_int_eq(chmod(path, 0), 0);
	/* Root may read everything. */
	if (geteuid() != 0)
		expect_refusal(path, "Permission denied");
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(writing_replaces_a_file_or_leaves_it_alone)
{
	const char *path = path_of("out.json");
	char *text = NULL;
	size_t len = 0;
	struct err e;

	ck_assert_int_eq(file_write(path, "{\"a\":1}", 7, &e), ERR_OK);
	ck_assert_int_eq(file_write(path, "{\"a\":2}", 7, &e), ERR_OK);
	ck_assert_int_eq(file_read(path, JSON_SIZE_MAX, &text, &len, &e), ERR_OK);
	ck_assert_uint_eq(len, 7);
	ck_assert_str_eq(text, "{\"a\":2}");
	free(text);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(file_write(path_of("no/such/out.json"), "{}", 2, &e), ERR_FILE);
	ck_assert_ptr_nonnull(strstr(e.msg, "cannot be written"));
	/* No temporary file stays: teardown removes the empty directory. */
}
END_TEST

START_TEST(a_pipe_is_written_to_and_stays_one)
{
	const char *path = path_of("pipe");
	struct stat st;
	char text[8] = "";
	struct err e;
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(path, "{}", 2, &e), ERR_OK);
	ck_assert_int_eq(read(fd, text, sizeof text - 1), 2);
	ck_assert_str_eq(text, "{}");
	ck_assert(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
	(void)close(fd);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(a_byte_order_mark_is_no_part_of_a_file)
{
	static const struct {
		const char *written, *read;
	} files[] = { { "\xEF\xBB\xBF{}", "{}" }, { "\xEF\xBB\xBF", "" }, { "\xEF\xBB", "\xEF\xBB" },
		{ "{\xEF\xBB\xBF}", "{\xEF\xBB\xBF}" } };
	const char *path = path_of("mark.json");

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char *text = NULL;
		size_t len = 0;
		struct err e;

		ck_assert_int_eq(file_write(path, files[i].written, strlen(files[i].written), &e), ERR_OK);
		ck_assert_int_eq(file_read(path, JSON_SIZE_MAX, &text, &len, &e), ERR_OK);
		ck_assert_str_eq(text, files[i].read);
		ck_assert_uint_eq(len, strlen(files[i].read));
		free(text);
	}
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(typed_values_name_the_nearest_legal_one)
{
	static const char values[] = "{\"a\": 4096.4, \"b\": -1, \"c\": \"8\", \"d\": 3e20, \"e\": 5}";
	struct json_place p = { .file = "m.json", .pointer = "/model" };
	cJSON *root = NULL;
	int64_t n = -7;
	bool on;
	double x;
	const char *s;
	struct err e;

	ck_assert_int_eq(json_parse("m.json", values, sizeof values - 1, &root, &e), ERR_OK);
	ck_assert_int_eq(json_integer(cJSON_GetObjectItem(root, "a"), &p, 1, 10000, &n, &e), ERR_FILE);
	ck_assert_str_eq(e.where, "m.json:/model/a");
	ck_assert_str_eq(e.msg, "4096.4 is not a whole number; nearest: 4096");
	ck_assert_int_eq(json_integer(cJSON_GetObjectItem(root, "b"), &p, 1, 10000, &n, &e), ERR_FILE);
	ck_assert_str_eq(e.msg, "-1 is out of range; legal: 1 to 10000");
	ck_assert_int_eq(json_integer(cJSON_GetObjectItem(root, "c"), &p, 1, 10000, &n, &e), ERR_FILE);
	ck_assert_str_eq(e.msg, "\"8\" is not a number; a whole number is needed");
	/* Beyond 2^53 a double is no integer any more. */
	ck_assert_int_eq(json_integer(cJSON_GetObjectItem(root, "d"), &p, 0, INT64_MAX, &n, &e), ERR_FILE);
	ck_assert_int_eq(n, -7);
	ck_assert_int_eq(json_flag(cJSON_GetObjectItem(root, "e"), &p, &on, &e), ERR_FILE);
	ck_assert_str_eq(e.msg, "5 is neither true nor false");
	ck_assert_int_eq(json_string(cJSON_GetObjectItem(root, "e"), &p, &s, &e), ERR_FILE);
	ck_assert_int_eq(json_real(cJSON_GetObjectItem(root, "c"), &p, 0, 1, &x, &e), ERR_FILE);
	ck_assert_int_eq(json_real(cJSON_GetObjectItem(root, "e"), &p, 0, 1, &x, &e), ERR_FILE);
	ck_assert_str_eq(e.msg, "5 is out of range; legal: 0 to 1");
	cJSON_Delete(root);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("input: json");
	TCase *text = tcase_create("text"), *files = tcase_create("files");

	tcase_add_loop_test(text, broken_text_is_refused_with_its_place, 0, (int)(sizeof bad_texts / sizeof bad_texts[0]));
	tcase_add_test(text, every_truncation_of_a_document_is_refused);
	tcase_add_test(text, a_nul_byte_is_no_text);
	tcase_add_test(text, deep_nesting_is_refused_without_recursion);
	tcase_add_test(text, many_keys_are_checked_quickly);
	tcase_add_test(text, typed_values_name_the_nearest_legal_one);
	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, files_that_cannot_be_read_say_why);
	tcase_add_test(files, a_file_without_permission_is_refused);
	tcase_add_test(files, writing_replaces_a_file_or_leaves_it_alone);
	tcase_add_test(files, a_pipe_is_written_to_and_stays_one);
	tcase_add_test(files, a_byte_order_mark_is_no_part_of_a_file);
	suite_add_tcase(s, text);
	suite_add_tcase(s, files);
	return test_run(s);
}
