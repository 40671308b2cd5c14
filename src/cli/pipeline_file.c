/* meshplan pipeline: whole files in, and files out that appear whole or not at all. */
#include "config.h"

#include "pipeline.h"

#include "file.h"
#include "i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX_BYTES = 256 << 20 };

enum err_code pipeline_file_read(const char *path, char **text, size_t *len, struct err *e)
{
	return file_read(path, READ_MAX_BYTES, text, len, e);
}

static bool write_out(void *ctx, const char *text, size_t len)
{
	return file_write_all(*(const int *)ctx, text, len);
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
