/* open, fstat, fsync, realpath, O_CLOEXEC */
#define _POSIX_C_SOURCE 200809L
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err_code read_all(int fd, const char *path, char *text, size_t cap, size_t *len, struct err *e)
{
	*len = 0;
	while (*len < cap) {
		ssize_t n = read(fd, text + *len, cap - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_FILE, path, "cannot be read: %s", strerror(errno));
		if (n == 0)
			return ERR_OK;
		*len += (size_t)n;
	}
	return ERR_OK;
}

static enum err_code check_regular(int fd, const char *path, size_t most, size_t *size, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set(e, ERR_FILE, path, "cannot be read: %s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_FILE, path, "is a directory; a file is needed");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FILE, path, "is not a regular file");
	if (st.st_size == 0)
		return err_set(e, ERR_FILE, path, "is empty");
	if ((uintmax_t)st.st_size > most)
		return err_set(e, ERR_FILE, path, "has %jd bytes; at most %zu are read", (intmax_t)st.st_size, most);
	*size = (size_t)st.st_size;
	return ERR_OK;
}

/* Editors of one family put a byte order mark before UTF-8; no reader needs it. */
static void drop_mark(char *text, size_t *len)
{
	static const char mark[] = "\xEF\xBB\xBF";
	const size_t n = sizeof mark - 1;

	if (*len >= n && memcmp(text, mark, n) == 0)
		memmove(text, text + n, *len -= n);
}

static enum err_code read_open_file(int fd, const char *path, size_t most, char **text, size_t *len, struct err *e)
{
	size_t size = 0;
	enum err_code code = check_regular(fd, path, most, &size, e);
	char *buf;

	if (code != ERR_OK)
		return code;
	/* Room for one byte more tells whether the file grew meanwhile, and for the NUL. */
	buf = malloc(size + 2);
	if (buf == NULL)
		return err_set(e, ERR_INTERNAL, path, "out of memory");
	code = read_all(fd, path, buf, size + 1, len, e);
	if (code == ERR_OK && *len != size)
		code = err_set(e, ERR_FILE, path, "changed while it was read");
	if (code == ERR_OK && memchr(buf, '\0', size) != NULL)
		code = err_set(e, ERR_FILE, path, "is not a text: byte %zu is NUL",
			(size_t)((const char *)memchr(buf, '\0', size) - buf) + 1);
	if (code != ERR_OK) {
		free(buf);
		return code;
	}
	drop_mark(buf, len);
	buf[*len] = '\0';
	*text = buf;
	return ERR_OK;
}

enum err_code file_read(const char *path, size_t most, char **text, size_t *len, struct err *e)
{
	/* O_NONBLOCK: a FIFO must not hang us before it is refused. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	enum err_code code;

	if (fd < 0)
		return err_set(e, ERR_FILE, path, "cannot be opened: %s", strerror(errno));
	code = read_open_file(fd, path, most, text, len, e);
	(void)close(fd);
	return code;
}

static bool write_all(void *ctx, const char *text, size_t len)
{
	const int fd = *(const int *)ctx;

	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

/* A device or a pipe is no file that another could replace. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static bool print_into(int fd, bool synced, file_printer *print, const void *ctx)
{
	char buf[8192];
	struct sink out;
	bool written;

	sink_init(&out, buf, sizeof buf, write_all, &fd);
	print(ctx, &out);
	written = sink_finish(&out) && (!synced || fsync(fd) == 0);
	return close(fd) == 0 && written;
}

/* Writes beside `path`, then puts the new file in its place. The name is one of this process, so two that save at once do not
 * write into one file. */
static bool print_beside(const char *path, file_printer *print, const void *ctx)
{
	const size_t size = strlen(path) + 32;
	char *name = malloc(size);
	bool written;
	int fd;

	if (name == NULL)
		return false;
	(void)snprintf(name, size, "%s.%ld.tmp", path, (long)getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	written = fd >= 0 && print_into(fd, true, print, ctx) && rename(name, path) == 0;
	if (fd >= 0 && !written) {
		const int reason = errno;

		(void)unlink(name);
		errno = reason;
	}
	free(name);
	return written;
}

static bool print_special(const char *path, file_printer *print, const void *ctx)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && print_into(fd, false, print, ctx);
}

enum err_code file_print(const char *path, file_printer *print, const void *ctx, struct err *e)
{
	/* Of a symbolic link the file that it names is replaced. */
	char *real = realpath(path, NULL);
	const char *target = real != NULL ? real : path;
	const bool written = is_special(target) ? print_special(target, print, ctx) : print_beside(target, print, ctx);

	if (!written)
		(void)err_set(e, ERR_FILE, path, "cannot be written: %s", strerror(errno));
	free(real);
	return written ? ERR_OK : ERR_FILE;
}

struct text {
	const char *at;
	size_t len;
};

static void print_text(const void *ctx, struct sink *out)
{
	const struct text *text = ctx;

	sink_write(out, text->at, text->len);
}

enum err_code file_write(const char *path, const char *text, size_t len, struct err *e)
{
	return file_print(path, print_text, &(struct text){ text, len }, e);
}

const char *file_own_path(const char *xdg, const char *home, const char *fallback, const char *rest, char *buf, size_t cap)
{
	bool given = xdg != NULL && xdg[0] == '/';
	int n;

	if (!given && (home == NULL || home[0] == '\0'))
		return NULL;
	n = snprintf(buf, cap, "%s/%s%smeshplan%s", given ? xdg : home, given ? "" : fallback, given ? "" : "/", rest);
	return n > 0 && (size_t)n < cap ? buf : NULL;
}
