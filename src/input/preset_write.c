/* mkdir */
#define _POSIX_C_SOURCE 200809L

#include "preset_write.h"

#include "fields.h"
#include "file.h"
#include "json.h"
#include "sink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DOCUMENT_CAP = 1 << 16 };

/* Makes every directory of a path; the last part is the file. */
static enum err_code make_directories(char *path, struct err *e)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		int made;

		*slash = '\0';
		made = mkdir(path, 0777);
		if (made != 0 && errno != EEXIST) {
			enum err_code code = err_set(e, ERR_FILE, path, "cannot be made: %s", strerror(errno));

			*slash = '/';
			return code;
		}
		*slash = '/';
	}
	return ERR_OK;
}

static enum err_code place(
	enum preset_kind kind, const char *id, const char *xdg, const char *home, char path[PRESET_PATH_CAP], struct err *e)
{
	char rest[100];

	(void)snprintf(rest, sizeof rest, "/presets/%s/%s.json", preset_kind_names[kind], id);
	if (file_own_path(xdg, home, ".config", rest, path, PRESET_PATH_CAP) != NULL)
		return ERR_OK;
	return err_set(e, ERR_USAGE, "name",
		"neither XDG_CONFIG_HOME nor HOME says where your presets are, in at most %d characters", PRESET_PATH_CAP - 1);
}

enum err_code preset_write(enum preset_kind kind, const void *value, const char *xdg_config_home, const char *home,
	char path[PRESET_PATH_CAP], struct err *e)
{
	enum err_code code = place(kind, value, xdg_config_home, home, path, e);
	char *text = malloc(DOCUMENT_CAP);
	struct sink out;

	if (code == ERR_OK && text == NULL)
		code = err_set(e, ERR_INTERNAL, path, "out of memory");
	if (code == ERR_OK) {
		sink_init(&out, text, DOCUMENT_CAP, NULL, NULL);
		fields_write(preset_kind_fields[kind], value, "{\n  ", ",\n  ", &out);
		sink_puts(&out, "\n}\n");
		/* A file that cannot be read would stop every command from then on. */
		code = out.failed ? err_set(e, ERR_INTERNAL, path, "too long") : preset_text_check(kind, value, text, out.len, e);
	}
	if (code == ERR_OK)
		code = make_directories(path, e);
	if (code == ERR_OK)
		code = file_write(path, text, out.len, e);
	free(text);
	return code;
}
