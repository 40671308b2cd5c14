/* Measurements that others print: tables of nccl-tests, and two columns of matrix multiply rates. */
#ifndef MESHPLAN_MEASURED_H
#define MESHPLAN_MEASURED_H

#include "calibrate.h"
#include "err.h"

#include <stddef.h>

enum { MATMUL_POINTS_MAX = 256 };

/* The output of all_reduce_perf, all_gather_perf, reduce_scatter_perf, alltoall_perf or broadcast_perf, as it was printed. The
 * collective follows from the output, the ratio of its two bandwidths or the name of the file. ERR_FILE names file:line. */
enum err_code measured_nccl(const char *path, struct collective_rate *out, struct err *e) NODISCARD;
/* The same of a text, which it takes apart; `path` stands in errors. */
enum err_code measured_nccl_parse(const char *path, char *text, struct collective_rate *out, struct err *e) NODISCARD;

/* Lines of size and rate: GFLOP or MxNxK, then TFLOP/s; separated by blanks or a comma; # begins a comment, a heading is skipped.
 * Sorted by size, equal sizes averaged. points[MATMUL_POINTS_MAX]. ERR_FILE names file:line. */
enum err_code measured_matmul(const char *path, struct matmul_point *points, size_t *n, struct err *e) NODISCARD;
/* The same of a text, which it takes apart. */
enum err_code measured_matmul_parse(
	const char *path, char *text, struct matmul_point *points, size_t *n, struct err *e) NODISCARD;

#endif
