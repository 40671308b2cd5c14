/* Whole files in, and files out that appear whole or not at all. */
#ifndef MESHPLAN_FILE_H
#define MESHPLAN_FILE_H

#include "err.h"
#include "sink.h"

#include <stddef.h>

/* Reads a regular file whole into *text (malloc'd, NUL-terminated; the caller frees), without the byte order mark that may stand
 * before it. ERR_FILE with the reason when it cannot be read, is not a regular file, is empty, larger than `most` bytes or
 * holds a NUL. */
enum err_code file_read(const char *path, size_t most, char **text, size_t *len, struct err *e) NODISCARD;
/* Lets `print` write a file that appears whole or not at all: PATH.PID.tmp, which is then renamed; a device or a pipe is written
 * to as it stands. ERR_FILE when that fails; the old file is then untouched. */
typedef void file_printer(const void *ctx, struct sink *out);
enum err_code file_print(const char *path, file_printer *print, const void *ctx, struct err *e) NODISCARD;
/* The same with a finished text. */
enum err_code file_write(const char *path, const char *text, size_t len, struct err *e) NODISCARD;

/* What belongs to the user: XDG/meshplan REST where the variable `xdg` holds a path from the root, else HOME/FALLBACK/meshplan
 * REST; REST is "" or begins with a slash. Returns buf; NULL when neither is known or it does not fit. */
const char *file_own_path(const char *xdg, const char *home, const char *fallback, const char *rest, char *buf, size_t cap);

#endif
