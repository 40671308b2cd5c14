/* meshplan pipeline: whole files in, and files out that appear whole or not at all. */
#include "config.h"

#include "pipeline.h"

#include "i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX_MIB = 256 };

static enum err_code read_all(int fd, const char *path, size_t size, char **text, size_t *len, struct err *e)
{
	char *buf = cli_alloc(size + 1);

	*len = 0;
	while (*len < size) {
		ssize_t n = read(fd, buf + *len, size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(buf);
			return err_set(e, ERR_FILE, path, _("cannot be read: %s"), strerror(errno));
		}
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	*text = buf;
	return ERR_OK;
}

enum err_code pipeline_file_read(const char *path, char **text, size_t *len, struct err *e)
{
	/* O_NONBLOCK: a FIFO must not hang us before it is refused. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	enum err_code code;

	if (fd < 0)
		return err_set(e, ERR_FILE, path, _("cannot be opened: %s"), strerror(errno));
	if (fstat(fd, &st) != 0)
		code = err_set(e, ERR_FILE, path, _("cannot be read: %s"), strerror(errno));
	else if (!S_ISREG(st.st_mode))
		code = err_set(e, ERR_FILE, path, _("is not a regular file"));
	else if (st.st_size > (off_t)READ_MAX_MIB * 1048576)
		code = err_set(e, ERR_FILE, path, _("has more than %d MiB"), (int)READ_MAX_MIB);
	else
		code = read_all(fd, path, (size_t)st.st_size, text, len, e);
	(void)close(fd);
	return code;
}

static bool write_out(void *ctx, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(*(const int *)ctx, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

static enum err_code cannot_write(const char *path, struct err *e)
{
	return err_set(e, ERR_INTERNAL, path, _("cannot be written: %s"), strerror(errno));
}

/* Devices and pipes are written to; everything else is replaced by a finished file. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

enum err_code pipeline_file_write(
	const char *path, pipeline_print *print, const struct pipeline_job *job, struct sink *standard, struct err *e)
{
	char buf[8192], name[4096];
	bool special = is_special(path), written;
	struct sink out;
	int fd;

	if (strcmp(path, "-") == 0) {
		print(job, standard);
		return ERR_OK;
	}
	if (snprintf(name, sizeof name, special ? "%s" : "%s.tmp", path) >= (int)sizeof name)
		return err_set(e, ERR_USAGE, path, _("this name is too long"));
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | (special ? 0 : O_TRUNC), 0666);
	if (fd < 0)
		return cannot_write(path, e);
	sink_init(&out, buf, sizeof buf, write_out, &fd);
	print(job, &out);
	written = sink_finish(&out) && (special || fsync(fd) == 0);
	if (close(fd) != 0)
		written = false;
	if (written && (special || rename(name, path) == 0))
		return ERR_OK;
	(void)cannot_write(path, e);
	if (!special)
		(void)unlink(name);
	return ERR_INTERNAL;
}
