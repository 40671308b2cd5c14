/* Presets of users: directories of files, one directory per kind. */
/* opendir, stat */
#define _POSIX_C_SOURCE 200809L

#include "presets_internal.h"

#include "file.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* dir/name, malloc'd. */
static char *join_path(const char *dir, const char *name)
{
	size_t size = strlen(dir) + strlen(name) + 2;
	char *path = malloc(size);

	if (path != NULL)
		(void)snprintf(path, size, "%s/%s", dir, name);
	return path;
}

static enum err_code add_file(struct preset_store *store, enum preset_kind kind, const char *dir, const char *name, struct err *e)
{
	char *path = join_path(dir, name);

	return path != NULL ? preset_store_add_file(store, kind, path, e) : err_set(e, ERR_INTERNAL, dir, "out of memory");
}

static bool is_preset_name(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 5 && strcmp(name + len - 5, ".json") == 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The preset files of a directory, sorted, malloc'd. False when memory ran out. */
static bool list_names(DIR *d, char ***names, size_t *n)
{
	const struct dirent *item;
	size_t cap = 0;

	for (item = readdir(d); item != NULL; item = readdir(d)) {
		char *copy;

		if (!is_preset_name(item->d_name))
			continue;
		if (*n == cap) {
			char **grown = realloc(*names, (cap = cap == 0 ? 32 : 2 * cap) * sizeof *grown);

			if (grown == NULL)
				return false;
			*names = grown;
		}
		copy = malloc(strlen(item->d_name) + 1);
		if (copy == NULL)
			return false;
		memcpy(copy, item->d_name, strlen(item->d_name) + 1);
		(*names)[(*n)++] = copy;
	}
	if (*n > 1)
		qsort(*names, *n, sizeof **names, compare_names);
	return true;
}

/* The directory of one kind; *found says whether it is there at all. */
static enum err_code add_kind_dir(struct preset_store *store, enum preset_kind kind, const char *dir, bool *found, struct err *e)
{
	DIR *d = opendir(dir);
	char **names = NULL;
	size_t n = 0;
	enum err_code code = ERR_OK;

	if (d == NULL && errno == ENOENT)
		return ERR_OK;
	*found = true;
	if (d == NULL)
		return err_set(e, ERR_FILE, dir, "cannot be read: %s", strerror(errno));
	if (!list_names(d, &names, &n))
		code = err_set(e, ERR_INTERNAL, dir, "out of memory");
	(void)closedir(d);
	for (size_t i = 0; i < n && code == ERR_OK; i++)
		code = add_file(store, kind, dir, names[i], e);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return code;
}

static enum err_code holds_nothing(const char *dir, struct err *e)
{
	char names[160] = "";

	for (size_t k = 0; k < PRESET_KIND_COUNT; k++)
		text_join(names, sizeof names, ", ", preset_kind_names[k]);
	return err_set(e, ERR_FILE, dir, "holds none of the directories %s", names);
}

enum err_code preset_store_add_dir(struct preset_store *store, const char *dir, struct err *e)
{
	struct stat st;
	bool found = false;
	enum err_code code = ERR_OK, published;

	if (stat(dir, &st) != 0)
		return err_set(e, ERR_FILE, dir, "cannot be read: %s", strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_FILE, dir, "is not a directory");
	for (size_t k = 0; k < PRESET_KIND_COUNT && code == ERR_OK; k++) {
		char *path = join_path(dir, preset_kind_names[k]);

		if (path == NULL)
			return err_set(e, ERR_INTERNAL, dir, "out of memory");
		code = add_kind_dir(store, (enum preset_kind)k, path, &found, e);
		free(path);
	}
	/* The catalog must follow what was read even after an error. */
	published = preset_store_publish(store, code == ERR_OK ? e : NULL);
	if (code == ERR_OK)
		code = published;
	if (code == ERR_OK && !found)
		code = holds_nothing(dir, e);
	if (code == ERR_OK)
		code = preset_store_check(store, e);
	return code;
}

enum err_code preset_store_add_user(struct preset_store *store, const char *xdg_config_home, const char *home, struct err *e)
{
	char path[PRESET_PATH_CAP];
	struct stat st;
	bool there =
		file_own_path(xdg_config_home, home, ".config", "/presets", path, sizeof path) != NULL && stat(path, &st) == 0;

	return there ? preset_store_add_dir(store, path, e) : ERR_OK;
}
