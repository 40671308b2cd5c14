#include "calibrate.h"

#include "comm.h"
#include "compute.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>

/* Log standard deviations. Src: spread of fitted levels over sources of published runs; of steps within one run. */
#define LEVEL_PRIOR_SD 0.14
#define STEP_SD 0.05
/* Of reserved memory: of the model over published runs; of one measurement. */
#define MEMORY_PRIOR_SD 0.08
#define MEMORY_SD 0.02
/* Beyond this factor something else than the level is wrong. */
#define LEVEL_FACTOR_MOST 2.0
#define MEMORY_FACTOR_MOST 1.5
/* Golden section: 60 rounds shrink any interval below the last digit. */
#define GOLDEN 0.6180339887498949
#define GOLDEN_ROUNDS 60
/* Curves hold medians, measurements single runs: a rate may pass the nominal peak by a boost clock. */
#define PEAK_TOLERANCE 1.1

/* What the level is chosen by; x: its log over the value before. */
struct level_problem {
	struct scenario s; /* the one that is evaluated */
	int32_t level;
	double before, prior_sd;
	const struct measured_step *steps;
	size_t n;
};

static double log_step(struct level_problem *p, size_t i, double x)
{
	struct step_time t;

	/* Neighbours are often the same scenario. */
	if (i == 0 || p->steps[i].s != p->steps[i - 1].s)
		p->s = *p->steps[i].s;
	p->s.coefficients.v[p->level] = p->before * exp(x);
	step_evaluate(&p->s, &t);
	return log(t.step_s);
}

static double misfit(struct level_problem *p, double x)
{
	double sum = x / p->prior_sd * (x / p->prior_sd);

	for (size_t i = 0; i < p->n; i++) {
		double d = (log_step(p, i, x) - log(p->steps[i].step_s)) / STEP_SD;

		sum += d * d;
	}
	return sum;
}

/* The minimum between -most and most: the misfit has one, since each step falls with the level, nearly as a power of it. */
static double best_log(struct level_problem *p, double most)
{
	double low = -most, high = most, a = high - GOLDEN * (high - low), b = low + GOLDEN * (high - low), fa = misfit(p, a),
	       fb = misfit(p, b);

	for (int i = 0; i < GOLDEN_ROUNDS; i++)
		if (fa < fb) {
			high = b;
			b = a;
			fb = fa;
			a = high - GOLDEN * (high - low);
			fa = misfit(p, a);
		} else {
			low = a;
			a = b;
			fa = fb;
			b = low + GOLDEN * (high - low);
			fb = misfit(p, b);
		}
	return (low + high) / 2;
}

/* Inverse variance of what is left: of the prior, and of each step by how much the level moves it. */
static double information(struct level_problem *p, double x)
{
	const double epsilon = 1e-4;
	double sum = 1 / (p->prior_sd * p->prior_sd);

	for (size_t i = 0; i < p->n; i++) {
		double slope = (log_step(p, i, x + epsilon) - log_step(p, i, x - epsilon)) / (2 * epsilon);

		sum += slope * slope / (STEP_SD * STEP_SD);
	}
	return sum;
}

static enum err_code check_step(const struct level_problem *p, const struct scenario *s, struct err *e)
{
	if (!s->profile.models_activations)
		return err_set(e, ERR_ILLEGAL, "framework", "framework %s counts memory only: it predicts no step",
			framework_names[s->profile.framework]);
	if (!compute_known(s) || compute_level(s) == COEF_ONE)
		return err_set(e, ERR_ILLEGAL, "gpu", "%s has no efficiency curves in %s: there is no level to set",
			s->cluster.gpu.id, precision_choices[s->training.precision].key);
	if (compute_level(s) != p->level)
		return err_set(e, ERR_ILLEGAL, "step",
			"%s in %s has level %s, the first step %s: one GPU and precision at a time", s->cluster.gpu.id,
			precision_choices[s->training.precision].key, coefficient_table[compute_level(s)].key,
			coefficient_table[p->level].key);
	return ERR_OK;
}

/* Every step has to be near what is predicted for it. */
static enum err_code check_steps(struct level_problem *p, struct measured_step *steps, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		enum err_code code = check_step(p, steps[i].s, e);
		double ratio;

		if (code != ERR_OK)
			return code;
		steps[i].before_s = exp(log_step(p, i, 0));
		ratio = steps[i].step_s / steps[i].before_s;
		if (!(ratio > 1 / LEVEL_FACTOR_MOST && ratio < LEVEL_FACTOR_MOST))
			return err_set(e, ERR_ILLEGAL, "step",
				"the measured %.4g s is %.3g times the predicted %.3g s: no one level explains that; look at the "
				"scenario (batch, sequence, recompute, layout) and at the network first",
				steps[i].step_s, ratio, steps[i].before_s);
	}
	return ERR_OK;
}

enum err_code calibrate_level(struct measured_step *steps, size_t n, struct calibrated_level *out, struct err *e)
{
	const struct scenario *first = steps[0].s;
	struct level_problem p = { .level = compute_level(first), .steps = steps, .n = n };
	enum err_code code;
	double x;

	p.before = first->coefficients.v[p.level];
	p.prior_sd = plan_is_calibrated(first) ? first->coefficients.level_sd : LEVEL_PRIOR_SD;
	code = check_steps(&p, steps, e);
	if (code != ERR_OK)
		return code;
	x = best_log(&p, log(2 * LEVEL_FACTOR_MOST));
	*out = (struct calibrated_level){ .level = p.level,
		.before = p.before,
		.after = p.before * exp(x),
		.sd = 1 / sqrt(information(&p, x)),
		.set = first->coefficients };
	for (size_t i = 0; i < n; i++)
		steps[i].after_s = exp(log_step(&p, i, x));
	out->set.v[p.level] = out->after;
	out->set.is_default = 0;
	out->set.calibrated = p.level;
	out->set.level_sd = out->sd;
	return ERR_OK;
}

enum err_code calibrate_memory(
	const struct scenario *s, int64_t reserved_bytes, struct profile *out, int64_t *predicted_bytes, struct err *e)
{
	const double weight = MEMORY_PRIOR_SD * MEMORY_PRIOR_SD / (MEMORY_PRIOR_SD * MEMORY_PRIOR_SD + MEMORY_SD * MEMORY_SD);
	struct plan p;
	double ratio, context;
	enum err_code code = plan_evaluate_memory(s, &p, e);

	if (code != ERR_OK)
		return code;
	if (s->profile.reserved_ratio <= 0 || p.worst.reserved_bytes <= 0)
		return err_set(e, ERR_ILLEGAL, "memory", "profile %s does not model what the allocator reserves", s->profile.id);
	*predicted_bytes = p.worst.reserved_bytes;
	ratio = (double)reserved_bytes / (double)p.worst.reserved_bytes;
	if (!(ratio > 1 / MEMORY_FACTOR_MOST && ratio < MEMORY_FACTOR_MOST))
		return err_set(e, ERR_ILLEGAL, "memory",
			"the measured peak is %.3g times the predicted %.3g GiB: the allocator does not explain that; "
			"look at the scenario (micro-batch, recompute, zero) first",
			ratio, (double)p.worst.reserved_bytes / 1073741824.0);
	*out = s->profile;
	out->is_default = 0;
	ratio = exp(weight * log(ratio));
	out->reserved_ratio *= ratio;
	context = (double)(p.worst.smi_bytes - p.worst.reserved_bytes);
	out->margin =
		fmax(0, (ratio * (double)p.worst.reserved_bytes + context) / ((double)p.worst.allocated_bytes + context) - 1);
	return ERR_OK;
}

/* Rate of a size inside the measured range, interpolated in the logarithm of the size. */
static double measured_flops(const struct matmul_point *points, size_t n, double gflop)
{
	size_t i = 0;
	double u;

	while (i + 2 < n && points[i + 1].gflop < gflop)
		i++;
	if (n == 1)
		return points[0].flops;
	u = log(gflop / points[i].gflop) / log(points[i + 1].gflop / points[i].gflop);
	return points[i].flops + fmin(1, fmax(0, u)) * (points[i + 1].flops - points[i].flops);
}

enum err_code calibrate_matmul(
	const struct scenario *s, const struct matmul_point *points, size_t n, struct gpu_family *family, struct err *e)
{
	enum gemm_kind kind = compute_gemm_kind(s, false);
	double peak = compute_device(s).peak_flops[kind], old[CURVE_POINTS],
	       *curve = kind == GEMM_16 ? family->bf16_curve : family->fp8_curve;

	if (kind == GEMM_4 || peak <= 0)
		return err_set(e, ERR_ILLEGAL, "precision", "matrix multiply rates are taken in 16 and 8 bit; %s in %s has none",
			s->cluster.gpu.id, precision_choices[s->training.precision].key);
	for (size_t i = 0; i < n; i++)
		if (points[i].flops > PEAK_TOLERANCE * peak)
			return err_set(e, ERR_RANGE, "matmul",
				"%.4g TFLOP/s at %.4g GFLOP is above the dense %s peak of %s, %.4g TFLOP/s",
				points[i].flops / 1e12, points[i].gflop, precision_choices[s->training.precision].key,
				s->cluster.gpu.id, peak / 1e12);
	for (int i = 0; i < CURVE_POINTS; i++)
		old[i] = curve[i];
	for (int i = 0; i < CURVE_POINTS; i++) {
		const struct matmul_point *end = curve_gflop[i] < points[0].gflop ? &points[0] : &points[n - 1];
		double ends = compute_curve_share(old, end->gflop);

		if (curve_gflop[i] >= points[0].gflop && curve_gflop[i] <= points[n - 1].gflop)
			curve[i] = measured_flops(points, n, curve_gflop[i]) / peak;
		else if (ends > 0)
			curve[i] = fmin(1, old[i] * end->flops / peak / ends);
		else
			curve[i] = end->flops / peak;
	}
	return ERR_OK;
}

enum err_code calibrate_collective(const struct scenario *s, const struct collective_rate *r, struct gpu_family *family,
	struct coefficients *set, struct err *e)
{
	struct links k = comm_links(s);
	double line = k.nic_bps / s->coefficients.v[COEF_NIC], share;

	if (r->hosts <= 1) {
		family->latency_us[r->op] = r->latency_s * 1e6;
		family->rate_bps[r->op] = r->rate_bps;
		family->link_bps = s->cluster.gpu.link_bps;
		return ERR_OK;
	}
	/* Across hosts the ranks of one drive its network ports together. */
	share = r->rate_bps / ((double)r->ranks / (double)r->hosts) / line;
	if (!(share > 0.01 && share < 1.2))
		return err_set(e, ERR_RANGE, "nccl",
			"%.4g GB/s of bus bandwidth over %lld hosts is %.3g of the line rate of %.4g GB/s per GPU: give --nic-bw",
			r->rate_bps / 1e9, (long long)r->hosts, share, line / 1e9);
	set->v[COEF_NIC] = share;
	return ERR_OK;
}
