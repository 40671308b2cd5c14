/* Whole files in, and files out that appear whole or not at all. */
#ifndef MESHPLAN_FILE_H
#define MESHPLAN_FILE_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a regular file whole into *text (malloc'd, NUL-terminated; the caller frees), without the byte order mark that may stand
 * before it. ERR_FILE with the reason when it cannot be read, is not a regular file, is empty or larger than `most` bytes. */
enum err_code file_read(const char *path, size_t most, char **text, size_t *len, struct err *e) NODISCARD;
/* Replaces a file atomically: writes PATH.tmp, then renames it. ERR_FILE when that fails; the old file is then untouched. */
enum err_code file_write(const char *path, const char *text, size_t len, struct err *e) NODISCARD;
/* Writes all of it to a descriptor, whatever write() takes at a time; false with errno set when that fails. */
bool file_write_all(int fd, const char *text, size_t len);

#endif
