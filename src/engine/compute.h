/* Seconds of single operations on one GPU: matrix multiplies by size, fused and unfused attention, memory-bound operations. */
#ifndef MESHPLAN_COMPUTE_H
#define MESHPLAN_COMPUTE_H

#include "scenario.h"

#include <stdbool.h>

enum gemm_kind { GEMM_16, GEMM_8, GEMM_8_GROUPED, GEMM_4, GEMM_4_GROUPED, GEMM_KIND_COUNT };

/* One GPU as operations see it: peaks and fitted levels. */
struct device {
	const struct gpu_family *family;
	double peak_flops[GEMM_KIND_COUNT];                       /* dense, per second */
	double level[GEMM_KIND_COUNT];                            /* framework level times family level */
	double hbm_bps;                                           /* reached */
	double attention_flops, attention_backward, attention_s0; /* peak times rate; backward over forward rate; tokens */
	double unaligned_gemm, unaligned_attention, unfused_bytes, cast_bytes, grouped;
	double elementwise; /* bytes over ideal */
};

/* Forward, input gradient and weight gradient, seconds. */
struct gemm_times {
	double forward, input, weight;
};

/* Whether speed is known for this scenario's GPU: a family with curves and a 16-bit peak. */
bool compute_known(const struct scenario *s);
/* The GPU level (enum coefficient) of dense matrix multiplies in the precision: what a calibration sets. COEF_ONE: none. */
int32_t compute_level(const struct scenario *s);
struct device compute_device(const struct scenario *s);
/* Dense peak of one kind of matrix multiply, FLOP/s; what is 16 bit elsewhere runs in fp32 or TF32 where the precision says so.
 */
double compute_peak_flops(const struct scenario *s, enum gemm_kind kind);
/* Share of peak of a multiply of `gflop` GFLOP (above 0): linear in the logarithm of the size between the points of a curve of
 * CURVE_POINTS, level above the last, below the first falling with a power of the size. */
double compute_curve_share(const double *curve, double gflop);
/* How the precision runs dense and expert matrix multiplies. */
enum gemm_kind compute_gemm_kind(const struct scenario *s, bool grouped);

/* One matrix multiply M x K by K x N:
 *   t = max(2MNK / (peak E level) q, bytes / hbm)
 * E: measured share of peak at that size, interpolated in log(FLOP); q: tile and wave quantisation against what the curve
 * contains; a dimension N or K that is no multiple of 8 divides the rate. Src: facts of NVIDIA micro-benchmarks;
 * meshplan-model(7). */
double compute_gemm_s(const struct device *d, enum gemm_kind kind, double m, double n, double k);
/* The three of a linear layer, with the casts of 8-bit formats: forward (M,N,K), input gradient (M,K,N), weight gradient (K,N,M).
 */
struct gemm_times compute_linear(const struct device *d, enum gemm_kind kind, double m, double n, double k);
/* The same for `groups` experts of m tokens each: the grouped rate, no alignment test (token counts are what they are). */
struct gemm_times compute_grouped(const struct device *d, enum gemm_kind kind, double m, double n, double k, double groups);
/* A memory-bound operation over so many bytes. */
double compute_bytes_s(const struct device *d, double bytes);

#endif
