#include "measured.h"

#include "file.h"
#include "json.h"
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 24, ROWS_MAX = 128, HOSTS_MAX = 512, HOST_CAP = 64 };

/* Below this largest size the bandwidth is not reached. */
#define NCCL_LEAST_BYTES (16 * 1048576.0)

/* Far above any GPU: beyond are other units. */
#define MATMUL_MOST_TFLOPS 1e6

/* A text line by line, and each line in words; both in place. */
struct lines {
	const char *path;
	char *next;
	int number;
	size_t n;
	char *word[WORDS_MAX];
};

static bool next_line(struct lines *l)
{
	char *line = l->next, *end;

	if (line == NULL || *line == '\0')
		return false;
	end = line + strcspn(line, "\n");
	l->next = *end == '\0' ? NULL : end + 1;
	*end = '\0';
	l->number++;
	l->n = 0;
	while (*line != '\0' && l->n < WORDS_MAX) {
		size_t len;

		line += strspn(line, " \t\r,;");
		len = strcspn(line, " \t\r,;");
		if (len == 0)
			break;
		l->word[l->n++] = line;
		line += len;
		if (*line != '\0')
			*line++ = '\0';
	}
	return true;
}

static enum err_code bad_line(const struct lines *l, struct err *e, const char *fmt, ...) PRINTF_LIKE(3, 4);

static enum err_code bad_line(const struct lines *l, struct err *e, const char *fmt, ...)
{
	char where[ERR_WHERE_CAP], msg[ERR_MSG_CAP];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	(void)snprintf(where, sizeof where, "%.140s:%d", l->path, l->number);
	return err_set(e, ERR_FILE, where, "%s", msg);
}

static bool parse_number(const char *text, double *value)
{
	return units_parse_real(text, "", value, NULL) == ERR_OK && !(*value < 0);
}

/* What a table of nccl-tests says so far. */
struct nccl_table {
	int time, algbw, busbw; /* columns; -1: no heading yet */
	size_t n;
	struct {
		double bytes, time_us, algbw, busbw;
	} row[ROWS_MAX];
	int64_t ranks, hosts;
	char host[HOSTS_MAX][HOST_CAP];
	int op; /* enum collective; -1: not said */
};

static int op_in(const char *text)
{
	static const struct {
		const char *name;
		enum collective op;
	} names[] = {
		{ "all_reduce", COLLECTIVE_ALL_REDUCE },
		{ "allreduce", COLLECTIVE_ALL_REDUCE },
		{ "alltoall", COLLECTIVE_ALL_TO_ALL },
		{ "all_to_all", COLLECTIVE_ALL_TO_ALL },
		{ "all_gather", COLLECTIVE_GATHER },
		{ "allgather", COLLECTIVE_GATHER },
		{ "reduce_scatter", COLLECTIVE_GATHER },
		{ "reducescatter", COLLECTIVE_GATHER },
		{ "broadcast", COLLECTIVE_GATHER },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strstr(text, names[i].name) != NULL)
			return (int)names[i].op;
	return -1;
}

/* "#  Rank  3 Group  0 Pid  57 on  host0 device  3 [0x07] NVIDIA H100": one rank and its host. */
static void read_rank(const struct lines *l, struct nccl_table *t)
{
	for (size_t i = 0; i + 1 < l->n; i++) {
		int64_t k = 0;

		if (strcmp(l->word[i], "on") != 0)
			continue;
		t->ranks++;
		while (k < t->hosts && strcmp(t->host[k], l->word[i + 1]) != 0)
			k++;
		if (k == t->hosts && t->hosts < HOSTS_MAX)
			(void)snprintf(t->host[t->hosts++], HOST_CAP, "%s", l->word[i + 1]);
		return;
	}
}

/* The first of each heading: out of place. */
static void read_heading(const struct lines *l, struct nccl_table *t)
{
	for (size_t i = l->n; i-- > 1;) {
		int column = (int)i - 1;

		if (strcmp(l->word[i], "time") == 0)
			t->time = column;
		else if (strcmp(l->word[i], "algbw") == 0)
			t->algbw = column;
		else if (strcmp(l->word[i], "busbw") == 0)
			t->busbw = column;
	}
}

static void read_comment(const struct lines *l, struct nccl_table *t)
{
	if (l->n > 2 && strcmp(l->word[1], "Rank") == 0)
		read_rank(l, t);
	else if (l->n > 3 && strcmp(l->word[1], "size") == 0)
		read_heading(l, t);
	for (size_t i = 1; i < l->n && t->op < 0; i++)
		if (strstr(l->word[i], "_perf") != NULL)
			t->op = op_in(l->word[i]);
}

static enum err_code read_row(const struct lines *l, struct nccl_table *t, struct err *e)
{
	const int last = t->busbw > t->algbw ? t->busbw : t->algbw;
	double bytes, time_us, algbw, busbw;

	if (t->time < 0 || t->busbw < 0 || t->algbw < 0)
		return bad_line(l, e,
			"no heading \"# size count type ... time algbw busbw\" stands before \"%.40s\": is this the output of "
			"nccl-tests?",
			l->word[0]);
	if ((int)l->n <= last || !parse_number(l->word[0], &bytes) || !parse_number(l->word[t->time], &time_us) ||
		!parse_number(l->word[t->algbw], &algbw) || !parse_number(l->word[t->busbw], &busbw))
		return bad_line(
			l, e, "the row that begins with \"%.40s\" lacks a number under size, time, algbw or busbw", l->word[0]);
	if (t->n == ROWS_MAX)
		return bad_line(l, e, "more rows than nccl-tests prints, at \"%.40s\"", l->word[0]);
	t->row[t->n].bytes = bytes;
	t->row[t->n].time_us = time_us;
	t->row[t->n].algbw = algbw;
	t->row[t->n++].busbw = busbw;
	return ERR_OK;
}

/* Bus over algorithm bandwidth is 2 (n - 1)/n for an all-reduce, (n - 1)/n for gathers and scatters: above one it is the former.
 */
static enum collective op_of(const struct nccl_table *t, const char *path)
{
	const char *base = strrchr(path, '/');
	int named = t->op >= 0 ? t->op : op_in(base != NULL ? base : path);

	if (named >= 0)
		return (enum collective)named;
	return t->row[t->n - 1].algbw > 0 && t->row[t->n - 1].busbw / t->row[t->n - 1].algbw > 1.001 ? COLLECTIVE_ALL_REDUCE
												     : COLLECTIVE_GATHER;
}

/* Latency: the least time of the small sizes; bandwidth: bytes of the largest over the time beyond the latency. */
static enum err_code fit_rate(const struct nccl_table *t, const char *path, struct collective_rate *out, struct err *e)
{
	size_t last = 0;
	double latency_us = HUGE_VAL, beyond;

	for (size_t i = 0; i < t->n; i++) {
		if (t->row[i].bytes > t->row[last].bytes)
			last = i;
		if (t->row[i].time_us > 0)
			latency_us = fmin(latency_us, t->row[i].time_us);
	}
	if (t->n == 0)
		return err_set(e, ERR_FILE, path,
			"holds no row of nccl-tests; its lines look like \"1048576 262144 float sum -1 34.13 30.7 53.8 0\"");
	if (t->row[last].bytes < NCCL_LEAST_BYTES)
		return err_set(e, ERR_FILE, path, "goes up to %.0f bytes, where the links are not full; run it with -e 1G",
			t->row[last].bytes);
	if (t->ranks < 2)
		return err_set(e, ERR_FILE, path,
			"lists %lld ranks (lines \"#  Rank  0 ... on  host device ...\"); at least 2 are needed",
			(long long)t->ranks);
	beyond = t->row[last].time_us - latency_us;
	*out = (struct collective_rate){
		.op = op_of(t, path), .latency_s = latency_us * 1e-6, .ranks = t->ranks, .hosts = t->hosts
	};
	out->rate_bps = t->row[last].busbw / t->row[last].algbw * t->row[last].bytes / (beyond * 1e-6);
	if (!(out->rate_bps > 0 && isfinite(out->rate_bps)))
		return err_set(e, ERR_FILE, path, "its largest row has no bandwidth");
	return ERR_OK;
}

enum err_code measured_nccl_parse(const char *path, char *text, struct collective_rate *out, struct err *e)
{
	struct nccl_table *t = calloc(1, sizeof *t);
	struct lines l = { .path = path, .next = text };
	enum err_code code = ERR_OK;

	if (t == NULL)
		return err_set(e, ERR_INTERNAL, path, "out of memory");
	t->time = t->algbw = t->busbw = t->op = -1;
	while (code == ERR_OK && next_line(&l)) {
		if (l.n > 0 && l.word[0][0] == '#')
			read_comment(&l, t);
		else if (l.n > 0 && isdigit((unsigned char)l.word[0][0]))
			code = read_row(&l, t, e);
	}
	if (code == ERR_OK)
		code = fit_rate(t, path, out, e);
	free(t);
	return code;
}

enum err_code measured_nccl(const char *path, struct collective_rate *out, struct err *e)
{
	char *text = NULL;
	size_t len;
	enum err_code code = file_read(path, JSON_SIZE_MAX, &text, &len, e);

	if (code == ERR_OK)
		code = measured_nccl_parse(path, text, out, e);
	free(text);
	return code;
}

/* "512" GFLOP, or "4096x4096x8192". */
static bool parse_size(const char *text, double *gflop)
{
	double side[3];
	const char *p = text;

	if (parse_number(text, gflop))
		return *gflop > 0;
	for (int i = 0; i < 3; i++) {
		char number[24];
		size_t len = strcspn(p, "xX");

		if ((p[len] == '\0') != (i == 2) || len >= sizeof number)
			return false;
		(void)snprintf(number, sizeof number, "%.*s", (int)len, p);
		if (!parse_number(number, &side[i]))
			return false;
		p += len + 1;
	}
	*gflop = 2 * side[0] * side[1] * side[2] / 1e9;
	return *gflop > 0 && isfinite(*gflop);
}

static int by_size(const void *a, const void *b)
{
	const struct matmul_point *x = a, *y = b;

	return (x->gflop > y->gflop) - (x->gflop < y->gflop);
}

/* Averages what was measured at one size. */
static size_t merge_sizes(struct matmul_point *points, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n;) {
		double sum = 0;
		size_t k = i;

		while (k < n && points[k].gflop <= points[i].gflop)
			sum += points[k++].flops;
		points[out++] = (struct matmul_point){ .gflop = points[i].gflop, .flops = sum / (double)(k - i) };
		i = k;
	}
	return out;
}

static enum err_code read_point(const struct lines *l, struct matmul_point *points, size_t *n, struct err *e)
{
	double gflop, tflops;

	if (!parse_size(l->word[0], &gflop)) {
		/* A heading stands before the first row. */
		if (*n == 0 && !isdigit((unsigned char)l->word[0][0]))
			return ERR_OK;
		return bad_line(l, e, "\"%.40s\" is neither a size in GFLOP nor MxNxK, like 4096x4096x8192", l->word[0]);
	}
	if (l->n < 2 || !parse_number(l->word[1], &tflops) || tflops <= 0 || tflops > MATMUL_MOST_TFLOPS)
		return bad_line(l, e, "behind \"%.40s\" a rate in TFLOP/s is needed, above 0 and at most %g", l->word[0],
			MATMUL_MOST_TFLOPS);
	if (*n == MATMUL_POINTS_MAX)
		return bad_line(l, e, "too many rows, at \"%.40s\"", l->word[0]);
	points[(*n)++] = (struct matmul_point){ .gflop = gflop, .flops = tflops * 1e12 };
	return ERR_OK;
}

enum err_code measured_matmul_parse(const char *path, char *text, struct matmul_point *points, size_t *n, struct err *e)
{
	struct lines l = { .path = path, .next = text };
	enum err_code code = ERR_OK;

	*n = 0;
	while (code == ERR_OK && next_line(&l))
		if (l.n > 0 && l.word[0][0] != '#')
			code = read_point(&l, points, n, e);
	if (code == ERR_OK && *n == 0)
		code = err_set(e, ERR_FILE, path, "holds no row of size and rate, like \"4096x4096x8192 612.5\"");
	if (code == ERR_OK) {
		qsort(points, *n, sizeof points[0], by_size);
		*n = merge_sizes(points, *n);
	}
	return code;
}

enum err_code measured_matmul(const char *path, struct matmul_point *points, size_t *n, struct err *e)
{
	char *text = NULL;
	size_t len;
	enum err_code code = file_read(path, JSON_SIZE_MAX, &text, &len, e);

	if (code == ERR_OK)
		code = measured_matmul_parse(path, text, points, n, e);
	free(text);
	return code;
}
