/* Runs one fuzz target over the files of its corpus: as replay_TARGET those of tests/fuzz/corpus/TARGET under top_srcdir, or
 * those that are named. */
#define _POSIX_C_SOURCE 200809L

#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { INPUT_CAP = 1 << 20 };

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	size_t n;

	if (f == NULL) {
		perror(path);
		return 1;
	}
	data = malloc(INPUT_CAP);
	if (data == NULL) {
		(void)fclose(f);
		return 1;
	}
	n = fread(data, 1, INPUT_CAP, f);
	(void)fclose(f);
	(void)LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

static int replay_corpus(const char *target)
{
	const char *top = getenv("top_srcdir");
	const struct dirent *item;
	char dir[512], path[1024];
	int failed = 0, n = 0;
	DIR *d;

	(void)snprintf(dir, sizeof dir, "%s/tests/fuzz/corpus/%s", top != NULL ? top : ".", target);
	d = opendir(dir);
	if (d == NULL) {
		perror(dir);
		return 1;
	}
	for (item = readdir(d); item != NULL; item = readdir(d)) {
		if (item->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", dir, item->d_name);
		failed |= replay_file(path);
		n++;
	}
	(void)closedir(d);
	printf("%s: %d inputs replayed\n", target, n);
	return failed != 0 || n == 0;
}

int main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "replay_");
	int failed = 0;

	if (argc < 2)
		return replay_corpus(name != NULL ? name + strlen("replay_") : "");
	for (int i = 1; i < argc; i++)
		failed |= replay_file(argv[i]);
	return failed;
}
