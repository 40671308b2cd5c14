#include "ui_config.h"

#include "file.h"
#include "json.h"
#include "sink.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct ui_config ui_config_default = { .theme = "auto", .glyphs = -1 };

static const char *const glyph_words[] = { "auto", "utf8", "ascii" }; /* -1, 0, 1 */
static const char *const mode_words[] = { "normal", "big" };

/* Index of a word of a list; on error a message with the list. */
static enum err_code pick(
	const cJSON *item, const struct json_place *place, const char *const *words, size_t n, size_t *out, struct err *e)
{
	char list[80] = "";
	const char *text;
	enum err_code code = json_string(item, place, &text, e);

	if (code != ERR_OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, words[i]) == 0) {
			*out = i;
			return ERR_OK;
		}
		text_join(list, sizeof list, ", ", words[i]);
	}
	return json_error(place, item->string, ERR_FILE, e, "there is no \"%.40s\"; legal: %s", text, list);
}

static enum err_code read_member(const cJSON *item, const struct json_place *place, struct ui_config *out, struct err *e)
{
	const char *text;
	size_t i = 0;
	enum err_code code;

	if (strcmp(item->string, "theme") == 0) {
		code = json_string(item, place, &text, e);
		if (code == ERR_OK && (size_t)snprintf(out->theme, sizeof out->theme, "%s", text) >= sizeof out->theme)
			return json_error(place, "theme", ERR_FILE, e, "the name is too long");
		return code;
	}
	if (strcmp(item->string, "glyphs") == 0) {
		code = pick(item, place, glyph_words, sizeof glyph_words / sizeof glyph_words[0], &i, e);
		out->glyphs = (int)i - 1;
		return code;
	}
	if (strcmp(item->string, "mode") == 0) {
		code = pick(item, place, mode_words, sizeof mode_words / sizeof mode_words[0], &i, e);
		out->big = i == 1;
		return code;
	}
	return json_error(place, item->string, ERR_FILE, e, "is not a setting of the UI; there are theme, glyphs, mode");
}

enum err_code ui_config_parse(const char *name, const char *text, size_t len, struct ui_config *out, struct err *e)
{
	const struct json_place place = { .file = name };
	const cJSON *item;
	cJSON *root = NULL;
	enum err_code code = json_parse(name, text, len, &root, e);

	*out = ui_config_default;
	if (code != ERR_OK)
		return code;
	cJSON_ArrayForEach (item, root) {
		code = read_member(item, &place, out, e);
		if (code != ERR_OK)
			break;
	}
	cJSON_Delete(root);
	return code;
}

enum err_code ui_config_read(const char *path, struct ui_config *out, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	enum err_code code;

	*out = ui_config_default;
	if (access(path, F_OK) != 0)
		return ERR_OK;
	code = file_read(path, JSON_SIZE_MAX, &text, &len, e);
	if (code == ERR_OK)
		code = ui_config_parse(path, text, len, out, e);
	free(text);
	return code;
}

enum err_code ui_config_write(const char *path, const struct ui_config *c, struct err *e)
{
	char buf[256];
	struct sink text;

	sink_init(&text, buf, sizeof buf, NULL, NULL);
	sink_puts(&text, "{\n  \"theme\": ");
	sink_json_string(&text, c->theme);
	sink_printf(&text, ",\n  \"glyphs\": \"%s\",\n  \"mode\": \"%s\"\n}\n", glyph_words[c->glyphs + 1],
		mode_words[c->big ? 1 : 0]);
	return file_write(path, buf, text.len, e);
}
