#include "compute.h"

#include "schedule.h"

#include <math.h>

/* Below the first point the rate falls with size to this power. ASSUMPTION: the slope of the curves at their start. */
#define CURVE_TAIL 0.8
/* 8-bit inputs move fewer bytes than 16-bit ones; outputs stay 16 bit. ASSUMPTION: about two thirds of the bytes are inputs. */
#define BYTES_8BIT 0.6
/* What the medians of the curves already contain of tile and wave loss, and the bounds of the correction. ASSUMPTIONS of
 * the fitted model. */
#define TILE_IN_CURVE 1.08
#define TILE_LEAST 0.93
#define TILE_MOST 3.0
#define WAVES_THAT_MATTER 12.0

bool compute_known(const struct scenario *s)
{
	return s->cluster.family.id[0] != '\0' && s->cluster.gpu.fp16_flops > 0 && s->cluster.gpu.mem_bw_bps > 0;
}

static double framework_level(const struct scenario *s)
{
	const struct profile *p = &s->profile;
	int32_t generation = s->cluster.family.generation, level = p->level;

	if (generation == GENERATION_BLACKWELL && p->level_blackwell != COEF_ONE)
		level = p->level_blackwell;
	else if (generation == GENERATION_HOPPER && p->level_hopper != COEF_ONE)
		level = p->level_hopper;
	return s->coefficients.v[level];
}

double compute_peak_flops(const struct scenario *s, enum gemm_kind kind)
{
	const struct gpu *g = &s->cluster.gpu;
	double wide = s->training.precision == PRECISION_FP32 ? g->fp32_flops : g->tf32_flops;
	/* Without bf16 units such products run at the rate of fp32. ASSUMPTION. */
	double narrow = s->training.precision == PRECISION_FP16 ? g->fp16_flops
		: g->bf16_flops > 0                             ? g->bf16_flops
								: g->fp32_flops;

	if (kind == GEMM_4 || kind == GEMM_4_GROUPED)
		return g->fp4_flops;
	if (kind != GEMM_16)
		return g->fp8_flops;
	return scenario_full_precision(s) && wide > 0 ? wide : narrow;
}

/* Share of the multiprocessors that computes. Orders with overlapped blocks exchange tokens of one micro-batch all the time while
 * another computes; at most half is kept, as a profile is made for one GPU and may be used with another. */
static double units_left(const struct scenario *s)
{
	double units = (double)s->cluster.family.multiprocessors;

	if (!schedule_table[s->layout.schedule].overlaps || s->layout.pp == 1 || s->layout.ep == 1)
		return 1;
	return 1 - fmin((double)s->profile.comm_multiprocessors, units / 2) / units;
}

struct device compute_device(const struct scenario *s)
{
	const struct gpu *g = &s->cluster.gpu;
	const struct gpu_family *f = &s->cluster.family;
	const struct profile *p = &s->profile;
	const double *c = s->coefficients.v;
	double framework = framework_level(s);
	bool hopper = f->generation == GENERATION_HOPPER;
	double left = units_left(s);
	struct device d = { .family = f };

	for (int kind = 0; kind < GEMM_KIND_COUNT; kind++)
		d.peak_flops[kind] = left * compute_peak_flops(s, (enum gemm_kind)kind);
	d.level[GEMM_16] = c[f->gemm_level] * framework;
	d.level[GEMM_8] = c[f->gemm8_level] * framework * (p->rowwise_fp8 ? c[COEF_ROWWISE_FP8] : 1);
	d.level[GEMM_8_GROUPED] = c[COEF_GEMM8_GROUPED] * framework;
	d.level[GEMM_4] = c[f->gemm4_level] * framework;
	/* ASSUMPTION: experts in 4 bit are to those in 8 bit as dense multiplies are; no published run has them. */
	d.level[GEMM_4_GROUPED] = d.level[GEMM_8_GROUPED] * c[f->gemm4_level] / c[f->gemm8_level];
	/* Every formula of a layer counts 16-bit tensors; 32-bit ones move twice the bytes. */
	d.hbm_bps = g->mem_bw_bps * c[COEF_HBM] * 2 / scenario_element_bytes(s);
	d.attention_flops =
		d.peak_flops[GEMM_16] * c[hopper && p->attention_hopper != COEF_ONE ? p->attention_hopper : f->attention_rate];
	d.attention_backward = c[COEF_ATTENTION_BACKWARD];
	d.attention_s0 = c[COEF_ATTENTION_S0];
	d.unaligned_gemm = c[COEF_UNALIGNED_GEMM];
	d.unaligned_attention = c[COEF_UNALIGNED_ATTENTION];
	d.unfused_bytes = c[COEF_UNFUSED_BYTES];
	d.cast_bytes = c[COEF_CAST_BYTES];
	d.grouped = c[COEF_MOE_GEMM];
	d.elementwise = c[p->elementwise] * (p->eager_factor > 0 ? p->eager_factor : 1);
	return d;
}

enum gemm_kind compute_gemm_kind(const struct scenario *s, bool grouped)
{
	switch ((enum precision)s->training.precision) {
	case PRECISION_FP8:
	case PRECISION_MXFP8:
		return grouped ? GEMM_8_GROUPED : GEMM_8;
	case PRECISION_NVFP4:
		return grouped ? GEMM_4_GROUPED : GEMM_4;
	case PRECISION_FP32:
	case PRECISION_TF32:
	case PRECISION_FP16:
	case PRECISION_BF16:
	case PRECISION_PURE_BF16:
	case PRECISION_COUNT:
		break;
	}
	return GEMM_16;
}

int32_t compute_level(const struct scenario *s)
{
	const struct gpu_family *f = &s->cluster.family;
	enum gemm_kind kind = compute_gemm_kind(s, false);

	return kind == GEMM_8 ? f->gemm8_level : kind == GEMM_4 ? f->gemm4_level : f->gemm_level;
}

double compute_curve_share(const double *curve, double gflop)
{
	double u;
	int i;

	if (gflop <= curve_gflop[0])
		return curve[0] * pow(gflop / curve_gflop[0], CURVE_TAIL);
	if (gflop >= curve_gflop[CURVE_POINTS - 1])
		return curve[CURVE_POINTS - 1];
	u = log(gflop / curve_gflop[0]) / log(curve_gflop[1] / curve_gflop[0]);
	i = (int)u < CURVE_POINTS - 2 ? (int)u : CURVE_POINTS - 2;
	return curve[i] + (curve[i + 1] - curve[i]) * (u - i);
}

static double tile_factor(const struct gpu_family *f, double m, double n)
{
	double tiles_m = ceil(m / (double)f->tile_m), tiles_n = ceil(n / (double)f->tile_n);
	double padded = tiles_m * (double)f->tile_m * tiles_n * (double)f->tile_n / (m * n);
	double waves = tiles_m * tiles_n / (double)f->multiprocessors,
	       wave_loss = waves < WAVES_THAT_MATTER ? ceil(waves) / waves : 1;

	return fmax(TILE_LEAST, fmin(TILE_MOST, padded * (1 + 0.5 * (wave_loss - 1))) / TILE_IN_CURVE);
}

static bool is_multiple_of_8(double x)
{
	return fmod(x, 8) == 0; /* dimensions are exact in a double */
}

static bool is_grouped(enum gemm_kind kind)
{
	return kind == GEMM_8_GROUPED || kind == GEMM_4_GROUPED;
}

/* The 8-bit curve contains the quantisation of activations, which experts share: theirs has the shape of the 16-bit one. So has
 * that of a family whose 8-bit multiplies nobody measured. ASSUMPTION. */
static const double *curve_of(const struct gpu_family *f, enum gemm_kind kind)
{
	return kind == GEMM_16 || is_grouped(kind) || f->fp8_curve[0] <= 0 ? f->bf16_curve : f->fp8_curve;
}

/* `factor` slows the multiply, not the memory bound. */
static double gemm_s(const struct device *d, enum gemm_kind kind, double factor, double m, double n, double k)
{
	const struct gpu_family *f = d->family;
	double flop = 2 * m * n * k, gflop = flop / 1e9, bytes = 2 * (m * k + k * n + m * n);
	double share = compute_curve_share(curve_of(f, kind), is_grouped(kind) ? gflop / 2 : gflop);
	double rate = share * d->peak_flops[kind] * d->level[kind] * factor;

	return fmax(flop / rate * tile_factor(f, m, n), compute_bytes_s(d, kind == GEMM_16 ? bytes : BYTES_8BIT * bytes));
}

static double aligned_gemm_s(const struct device *d, enum gemm_kind kind, double m, double n, double k)
{
	return gemm_s(d, kind, is_multiple_of_8(n) && is_multiple_of_8(k) ? 1 : d->unaligned_gemm, m, n, k);
}

double compute_gemm_s(const struct device *d, enum gemm_kind kind, double m, double n, double k)
{
	return gemm_s(d, kind, 1, m, n, k);
}

static void add_casts(const struct device *d, enum gemm_kind kind, double m, double n, double k, struct gemm_times *t)
{
	if (kind == GEMM_16)
		return;
	t->forward += compute_bytes_s(d, d->cast_bytes * (4 * m * k + 2 * k * n));
	t->input += compute_bytes_s(d, d->cast_bytes * 4 * m * n);
}

struct gemm_times compute_linear(const struct device *d, enum gemm_kind kind, double m, double n, double k)
{
	struct gemm_times t = { aligned_gemm_s(d, kind, m, n, k), aligned_gemm_s(d, kind, m, k, n),
		aligned_gemm_s(d, kind, k, n, m) };

	add_casts(d, kind, m, n, k, &t);
	return t;
}

struct gemm_times compute_grouped(const struct device *d, enum gemm_kind kind, double m, double n, double k, double groups)
{
	struct gemm_times t = { gemm_s(d, kind, d->grouped, m, n, k), gemm_s(d, kind, d->grouped, m, k, n),
		gemm_s(d, kind, d->grouped, k, n, m) };

	add_casts(d, kind, m, n, k, &t);
	return (struct gemm_times){ t.forward * groups, t.input * groups, t.weight * groups };
}

double compute_bytes_s(const struct device *d, double bytes)
{
	return bytes / d->hbm_bps;
}
