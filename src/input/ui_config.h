/* What the terminal UI keeps between runs: DIR/config.json, { "theme": "auto", "glyphs": "auto", "mode": "normal" }. */
#ifndef MESHPLAN_UI_CONFIG_H
#define MESHPLAN_UI_CONFIG_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>

struct ui_config {
	char theme[24]; /* "auto" or the name of a theme, which the caller checks */
	int glyphs;     /* 1 ASCII, 0 UTF-8, -1 by the locale */
	bool big;
};

extern const struct ui_config ui_config_default;

/* Reads a file. A file that does not exist gives the defaults. Else errors name file:pointer, the value and the legal ones. */
enum err_code ui_config_read(const char *path, struct ui_config *out, struct err *e) NODISCARD;
/* The same of a text; `name` stands for the file in messages. */
enum err_code ui_config_parse(const char *name, const char *text, size_t len, struct ui_config *out, struct err *e) NODISCARD;
/* Writes it atomically. Its directory must exist. */
enum err_code ui_config_write(const char *path, const struct ui_config *c, struct err *e) NODISCARD;

#endif
