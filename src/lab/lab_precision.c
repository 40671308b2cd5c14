/* lab precision: what the formats can hold, which gradients vanish, and why master weights are kept.
 *
 * Training is a least squares fit with Adam, in software-rounded numbers: weights, inputs, outputs and gradients are rounded to
 * the format; sums run in double and are rounded once, as a tensor core accumulates wider than it stores; Adam's moments are
 * fp32. Weights start near 1, where bf16 is 2^-7 apart: an update of half that vanishes, unless an fp32 master copy adds it up.
 * The loss is multiplied by a small power of two, as a mean over many tokens is, so that fp16 gradients underflow; loss scaling
 * multiplies back before rounding and divides after. Dynamic scaling (Micikevicius 2018; PyTorch GradScaler): halve and skip the
 * step on an infinity or NaN, double after `growth` good steps. */
#include "lab_float.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	FORMAT,
	ITERATIONS,
	WEIGHTS,
	SAMPLES,
	RATE,
	LOSS_EXPONENT,
	STATIC_EXPONENT,
	DYNAMIC_EXPONENT,
	GROWTH,
	GRADIENTS,
	SATURATE,
	SEED,
	PARAMS
};
enum mode {
	MODE_DOUBLE,
	MODE_FP32,
	MODE_FP32_SCALED,
	MODE_BF16,
	MODE_BF16_MASTER,
	MODE_PLAIN,
	MODE_MASTER,
	MODE_STATIC,
	MODE_DYNAMIC,
	MODES
};
enum scaling { SCALING_NONE, SCALING_STATIC, SCALING_DYNAMIC };
enum { TABLE_FORMATS, TABLE_UNDERFLOW, TABLE_TRAINING, TABLE_SCALE, TABLE_LEDGER, TABLES };

#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-30 /* gradients are tiny on purpose: the usual 1e-8 would drown them */
#define LESSON_PARAMS 7e9

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[FORMAT] = { "format", N_("format of the last four training runs"), LAB_PARAM_WORD, 0, FLOAT_COUNT - 1,
		FLOAT_FP16, float_format_key },
	[ITERATIONS] = { "iterations", N_("training steps"), LAB_PARAM_INT, 1, 2000, 120, NULL },
	[WEIGHTS] = { "weights", N_("weights of the fit"), LAB_PARAM_INT, 1, 256, 8, NULL },
	[SAMPLES] = { "samples", N_("samples of the fit"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[RATE] = { "rate", N_("learning rate"), LAB_PARAM_REAL, 0, 1, 0.003, NULL },
	[LOSS_EXPONENT] = { "loss-exponent", N_("the loss is multiplied by 2 to this power"), LAB_PARAM_INT, -40, 0, -24, NULL },
	[STATIC_EXPONENT] = { "static-exponent", N_("static loss scale, as a power of 2"), LAB_PARAM_INT, 0, 60, 20, NULL },
	[DYNAMIC_EXPONENT] = { "dynamic-exponent", N_("dynamic loss scale at the start, as a power of 2"),
		LAB_PARAM_INT, 0, 60, 44, NULL },
	[GROWTH] = { "growth", N_("good steps before the dynamic scale doubles"), LAB_PARAM_INT, 1, 10000, 20, NULL },
	[GRADIENTS] = { "gradients", N_("random gradients for the underflow table"), LAB_PARAM_INT, 1, 1000000, 4096, NULL },
	[SATURATE] = { "saturate", N_("too large becomes the largest number, not infinity"), LAB_PARAM_FLAG, 0, 1, 0, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

struct mode_info {
	const char *label; /* N_(); %1: the chosen format */
	int32_t format;    /* enum float_kind; -1: double, FLOAT_COUNT: the chosen one */
	bool master;
	enum scaling scaling;
};

static const struct mode_info modes[MODES] = {
	[MODE_DOUBLE] = { N_("double"), -1, false, SCALING_NONE },
	[MODE_FP32] = { N_("fp32"), FLOAT_FP32, false, SCALING_NONE },
	[MODE_FP32_SCALED] = { N_("fp32, static scale"), FLOAT_FP32, false, SCALING_STATIC },
	[MODE_BF16] = { N_("bf16"), FLOAT_BF16, false, SCALING_NONE },
	[MODE_BF16_MASTER] = { N_("bf16, master"), FLOAT_BF16, true, SCALING_NONE },
	[MODE_PLAIN] = { N_("%1"), FLOAT_COUNT, false, SCALING_NONE },
	[MODE_MASTER] = { N_("%1, master"), FLOAT_COUNT, true, SCALING_NONE },
	[MODE_STATIC] = { N_("%1, master, static"), FLOAT_COUNT, true, SCALING_STATIC },
	[MODE_DYNAMIC] = { N_("%1, master, dynamic"), FLOAT_COUNT, true, SCALING_DYNAMIC },
};

struct entry {
	double loss, scale;
	int32_t zeros; /* gradients that became 0 though they are not */
	int32_t stuck; /* weights that an update did not move */
	bool skipped;
};

struct underflow {
	int64_t zeros, subnormal, scaled_zeros, scaled_overflow;
};

struct numerics {
	int64_t iterations, weights, samples, growth, gradients;
	double rate, loss_factor, static_scale, dynamic_scale;
	bool saturate;
	enum float_kind format;
	double *x, *t;                                   /* the fit */
	double *rx, *y, *dw, *w, *master, *m, *v, *step; /* one run */
	double *final;                                   /* [mode][weights] */
	struct entry *log;                               /* [mode][iteration] */
	struct underflow under[FLOAT_COUNT];
	int64_t skipped[MODES];
	int64_t *changes, n_changes; /* steps of the dynamic run after which its scale is another */
	int64_t codes, wrong_codes;
};

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct numerics *place = lab_take(a, 1, sizeof *place),
			p = { .iterations = lab_int(in, ITERATIONS), .weights = lab_int(in, WEIGHTS) };
	double **const single[] = { &p.dw, &p.w, &p.master, &p.m, &p.v, &p.step };

	p.samples = lab_int(in, SAMPLES);
	p.growth = lab_int(in, GROWTH);
	p.gradients = lab_int(in, GRADIENTS);
	p.rate = in->value[RATE];
	p.loss_factor = ldexp(1, (int)lab_int(in, LOSS_EXPONENT));
	p.static_scale = ldexp(1, (int)lab_int(in, STATIC_EXPONENT));
	p.dynamic_scale = ldexp(1, (int)lab_int(in, DYNAMIC_EXPONENT));
	p.saturate = lab_int(in, SATURATE) != 0;
	p.format = (enum float_kind)lab_int(in, FORMAT);
	p.x = lab_take(a, p.samples * p.weights, sizeof(double));
	p.t = lab_take(a, p.samples, sizeof(double));
	p.rx = lab_take(a, p.samples * p.weights, sizeof(double));
	p.y = lab_take(a, p.samples, sizeof(double));
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
		*single[i] = lab_take(a, p.weights, sizeof(double));
	p.final = lab_take(a, MODES * p.weights, sizeof(double));
	p.log = lab_take(a, MODES * p.iterations, sizeof(struct entry));
	p.changes = lab_take(a, p.iterations, sizeof(int64_t));
	lab_work(work, MODES * p.iterations, p.samples * p.weights, 4);
	lab_work(work, MODES * p.iterations, p.samples + 6 * p.weights, 30);
	lab_work(work, FLOAT_COUNT, p.gradients, 100);
	if (place != NULL)
		*place = p;
	return place;
}

/* ---- the formats ---- */

/* Every code of the 8- and 16-bit formats: its value must round to itself and encode to the code (all NaNs to one). */
static void check_codes(struct numerics *p)
{
	for (int k = 0; k < FLOAT_COUNT; k++) {
		const struct float_format *f = &float_formats[k];
		uint32_t count = float_bits(f) <= 16 ? UINT32_C(1) << float_bits(f) : 0;

		p->codes += count;
		for (uint32_t code = 0; code < count; code++) {
			double v = float_decode(f, code);

			p->wrong_codes += !isnan(v) && float_encode(f, float_round(f, v, false)) != code;
		}
	}
}

/* Gradients as training sees them: magnitudes spread over many binades. Sum of four uniforms: roughly normal, log2 in -46 .. -2.
 */
static double random_gradient(uint64_t seed, int64_t i)
{
	double log2 = -24, sign = lab_uniform(seed, 50, (uint64_t)i);

	for (uint64_t j = 0; j < 4; j++)
		log2 += 5.5 * lab_uniform(seed, 51 + j, (uint64_t)i);
	return copysign(exp2(log2), sign);
}

static void count_underflow(const struct lab_input *in, struct numerics *p)
{
	for (int64_t i = 0; i < p->gradients; i++) {
		double g = random_gradient(lab_seed(in, SEED), i);

		for (int k = 0; k < FLOAT_COUNT; k++) {
			const struct float_format *f = &float_formats[k];
			double r = fabs(float_round(f, g, false)), s = fabs(float_round(f, g * p->static_scale, false));

			p->under[k].zeros += r == 0;
			p->under[k].subnormal += r > 0 && r < float_smallest_normal(f);
			p->under[k].scaled_zeros += s == 0;
			p->under[k].scaled_overflow += !isfinite(s);
		}
	}
}

/* ---- the training runs ---- */

/* One run: its format (NULL: double), and whether too large saturates. */
struct trainer {
	struct numerics *p;
	const struct float_format *f;
	enum mode mode;
	double scale;
	int64_t good; /* steps since the scale changed */
};

static double rounded(const struct trainer *t, double x)
{
	return t->f == NULL ? x : float_round(t->f, x, t->p->saturate);
}

/* fp32, in the run in doubles: nothing. */
static double rounded32(const struct trainer *t, double x)
{
	return t->f == NULL ? x : float_round(&float_formats[FLOAT_FP32], x, false);
}

static void start(const struct lab_input *in, struct trainer *t)
{
	struct numerics *p = t->p;

	t->scale = modes[t->mode].scaling == SCALING_STATIC ? p->static_scale
		: modes[t->mode].scaling == SCALING_DYNAMIC ? p->dynamic_scale
							    : 1;
	for (int64_t i = 0; i < p->samples * p->weights; i++)
		p->rx[i] = rounded(t, p->x[i]);
	for (int64_t i = 0; i < p->weights; i++) {
		p->master[i] = rounded32(t, 1 + 0.25 * lab_uniform(lab_seed(in, SEED), 60, (uint64_t)i));
		p->w[i] = rounded(t, p->master[i]);
		p->m[i] = p->v[i] = 0;
	}
}

/* Loss per sample of the weights as they are, in double. */
static double true_loss(const struct numerics *p)
{
	double loss = 0;

	for (int64_t s = 0; s < p->samples; s++) {
		double y = 0;

		for (int64_t i = 0; i < p->weights; i++)
			y += p->x[s * p->weights + i] * p->w[i];
		loss += 0.5 * (y - p->t[s]) * (y - p->t[s]) / (double)p->samples;
	}
	return loss;
}

/* Scaled gradients of the scaled loss, rounded to the format. Counts those that vanish. */
static bool backward(struct trainer *t, struct entry *en)
{
	struct numerics *p = t->p;
	bool finite = true;

	for (int64_t s = 0; s < p->samples; s++) {
		double y = 0;

		for (int64_t i = 0; i < p->weights; i++)
			y += p->rx[s * p->weights + i] * p->w[i];
		p->y[s] = rounded(t, (rounded(t, y) - p->t[s]) / (double)p->samples * p->loss_factor * t->scale);
	}
	for (int64_t i = 0; i < p->weights; i++) {
		double g = 0;

		for (int64_t s = 0; s < p->samples; s++)
			g += p->rx[s * p->weights + i] * p->y[s];
		p->dw[i] = rounded(t, g);
		en->zeros += p->dw[i] == 0;
		finite = finite && isfinite(p->dw[i]);
	}
	return finite;
}

static void adam(struct trainer *t, int64_t updates, struct entry *en)
{
	struct numerics *p = t->p;
	double c1 = 1 - pow(BETA1, (double)updates), c2 = 1 - pow(BETA2, (double)updates);

	for (int64_t i = 0; i < p->weights; i++) {
		double g = rounded32(t, p->dw[i] / t->scale), before = p->w[i], move;

		p->m[i] = rounded32(t, BETA1 * p->m[i] + (1 - BETA1) * g);
		/* The second moment is kept as its root: g^2 would leave the range of fp32 where g does not. */
		p->v[i] = rounded32(t, sqrt(BETA2 * p->v[i] * p->v[i] + (1 - BETA2) * g * g));
		move = p->rate * (p->m[i] / c1) / (p->v[i] / sqrt(c2) + EPSILON);
		if (modes[t->mode].master) {
			p->master[i] = rounded32(t, p->master[i] - move);
			p->w[i] = rounded(t, p->master[i]);
		} else {
			p->w[i] = rounded(t, p->w[i] - move);
		}
		en->stuck += !modes[t->mode].master && p->w[i] == before;
	}
}

/* Halves after a failure, doubles after `growth` successes; a static scale stays. */
static void rescale(struct trainer *t, bool finite)
{
	if (modes[t->mode].scaling != SCALING_DYNAMIC)
		return;
	t->good = finite ? t->good + 1 : 0;
	if (!finite)
		t->scale = fmax(t->scale / 2, 1);
	if (t->good == t->p->growth) {
		t->scale *= 2;
		t->good = 0;
	}
}

static void train(const struct lab_input *in, struct numerics *p, enum mode mode)
{
	int32_t kind = modes[mode].format == FLOAT_COUNT ? (int32_t)p->format : modes[mode].format;
	struct trainer t = { .p = p, .f = kind < 0 ? NULL : &float_formats[kind], .mode = mode };
	int64_t updates = 0;

	start(in, &t);
	for (int64_t i = 0; i < p->iterations; i++) {
		struct entry *en = &p->log[mode * p->iterations + i];
		bool finite;

		en->scale = t.scale;
		finite = backward(&t, en);
		/* Without dynamic scaling an infinity goes into the weights: that is the lesson. */
		if (finite || modes[mode].scaling != SCALING_DYNAMIC) {
			adam(&t, ++updates, en);
		} else {
			en->skipped = true;
			p->skipped[mode]++;
		}
		rescale(&t, finite);
		if (t.scale != en->scale)
			p->changes[p->n_changes++] = i;
		en->loss = true_loss(p);
	}
	memcpy(p->final + mode * p->weights, p->w, (size_t)p->weights * sizeof(double));
}

static void make_fit(const struct lab_input *in, struct numerics *p)
{
	lab_fill(p->x, p->samples * p->weights, lab_seed(in, SEED), 61, 1);
	for (int64_t s = 0; s < p->samples; s++) {
		p->t[s] = 0;
		for (int64_t i = 0; i < p->weights; i++)
			p->t[s] += p->x[s * p->weights + i] * (1.25 + 0.25 * lab_uniform(lab_seed(in, SEED), 62, (uint64_t)i));
	}
}

static double last_loss(const struct numerics *p, enum mode mode)
{
	return p->log[(mode + 1) * p->iterations - 1].loss;
}

/* ---- the ledger ---- */

struct ledger_row {
	const char *label, *text;                     /* N_() */
	double weights, gradients, optimizer, master; /* bytes per parameter */
};

static const struct ledger_row ledger[] = {
	{ N_("fp32"), N_("no mixing"), 4, 4, 8, 0 },
	{ N_("mixed, lesson"), N_("no master copy"), 2, 2, 8, 0 },
	{ N_("+ fp32 master"), N_("ZeRO paper"), 2, 2, 8, 4 },
	{ N_("+ fp32 gradients"), N_("Megatron-LM"), 2, 4, 8, 4 },
};
enum { LEDGER_ROWS = sizeof ledger / sizeof ledger[0] };

static double ledger_bytes(int row)
{
	return ledger[row].weights + ledger[row].gradients + ledger[row].optimizer + ledger[row].master;
}

static void conclude(struct lab_run *run, const struct numerics *p)
{
	const double *plain = p->final + MODE_FP32 * p->weights, *scaled = p->final + MODE_FP32_SCALED * p->weights;
	const struct underflow *u = &p->under[p->format];
	double count = (double)p->gradients;

	lab_claim_equal(run, "codes", N_("8- and 16-bit codes that do not come back"), LAB_COUNT, (double)p->wrong_codes, 0);
	lab_claim_same(
		run, "power", N_("fp32: scaling by a power of two changes no bit"), lab_difference(plain, scaled, p->weights), 0);
	lab_claim_equal(run, "ledger", N_("mixed precision saves a quarter, not half"), LAB_REAL,
		ledger_bytes(1) / ledger_bytes(0), 0.75);
	lab_add_fact(run, "lost", N_("gradients lost in this format, no scaling"), LAB_PERCENT, 100 * (double)u->zeros / count);
	lab_add_fact(run, "scaled_lost", N_("lost with the static scale"), LAB_PERCENT, 100 * (double)u->scaled_zeros / count);
	lab_add_fact(run, "skipped", N_("steps skipped by dynamic scaling"), LAB_COUNT, (double)p->skipped[MODE_DYNAMIC]);
	lab_add_fact(run, "loss_double", N_("final loss, double"), LAB_REAL, last_loss(p, MODE_DOUBLE));
	lab_add_fact(run, "loss_bf16", N_("final loss, bf16 without master weights"), LAB_REAL, last_loss(p, MODE_BF16));
	lab_add_fact(run, "loss_bf16_master", N_("final loss, bf16 with fp32 master weights"), LAB_REAL,
		last_loss(p, MODE_BF16_MASTER));
	lab_add_fact(run, "fp32_bytes", N_("7B in fp32, without activations"), LAB_BYTES, ledger_bytes(0) * LESSON_PARAMS);
	lab_add_fact(
		run, "mixed_bytes", N_("7B in mixed precision, the lesson's count"), LAB_BYTES, ledger_bytes(1) * LESSON_PARAMS);
	lab_add_fact(run, "master_bytes", N_("7B with the fp32 master copy as well"), LAB_BYTES, ledger_bytes(2) * LESSON_PARAMS);
	lab_add_fact(run, "gradient_bytes", N_("7B with fp32 gradients as well"), LAB_BYTES, ledger_bytes(3) * LESSON_PARAMS);
	lab_set_answer(run, N_("percent of the random gradients that become 0, no scaling"), LAB_PERCENT,
		100 * (double)u->zeros / count);
	lab_ask(run, N_("What percent of the gradients become 0 in %1?"), NULL,
		LAB_ARGS(LAB_NAME(p->format == FLOAT_E5M2 ? "bf16" : "e5m2")));
	(void)snprintf(run->next, sizeof run->next, "--format %s", p->format == FLOAT_E5M2 ? "bf16" : "e5m2");
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct numerics *p = state;

	(void)e;
	check_codes(p);
	count_underflow(&run->input, p);
	make_fit(&run->input, p);
	for (int mode = 0; mode < MODES; mode++)
		train(&run->input, p, (enum mode)mode);
	run->steps = TABLES + p->iterations;
	conclude(run, p);
	return ERR_OK;
}

static const struct lab_column format_columns[] = {
	{ "bits", N_("bits"), LAB_COUNT },
	{ "exponent", N_("exp"), LAB_COUNT },
	{ "mantissa", N_("man"), LAB_COUNT },
	{ "largest", N_("largest"), LAB_REAL },
	{ "normal", N_("normal"), LAB_REAL },
	{ "smallest", N_("smallest"), LAB_REAL },
	{ "epsilon", N_("epsilon"), LAB_REAL },
};
static const struct lab_column under_columns[] = {
	{ "zero", N_("lost"), LAB_PERCENT },
	{ "subnormal", N_("subnormal"), LAB_PERCENT },
	{ "scaled_zero", N_("lost, scaled"), LAB_PERCENT },
	{ "scaled_overflow", N_("too large, scaled"), LAB_PERCENT },
};
static const struct lab_column training_columns[] = {
	{ "first", N_("first"), LAB_REAL },
	{ "last", N_("last"), LAB_REAL },
	{ "zeros", N_("lost"), LAB_PERCENT },
	{ "stuck", N_("stuck"), LAB_PERCENT },
	{ "skipped", N_("skipped"), LAB_COUNT },
};
static const struct lab_column scale_columns[] = {
	{ "step", N_("step"), LAB_COUNT },
	{ "scale", N_("scale"), LAB_REAL },
};
static const struct lab_column ledger_columns[] = {
	{ "weights", N_("weights"), LAB_COUNT },
	{ "gradients", N_("grads"), LAB_COUNT },
	{ "optimizer", N_("Adam"), LAB_COUNT },
	{ "master", N_("master"), LAB_COUNT },
	{ "bytes", N_("7B"), LAB_BYTES },
};
static const struct lab_column step_columns[] = {
	{ "loss", N_("loss"), LAB_REAL },
	{ "scale", N_("scale"), LAB_REAL },
	{ "zeros", N_("lost"), LAB_COUNT },
	{ "stuck", N_("stuck"), LAB_COUNT },
};

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct numerics *p = run->state;

	switch (k) {
	case TABLE_FORMATS:
		LAB_STEP(out, N_("the formats"), format_columns, FLOAT_COUNT, true);
		break;
	case TABLE_UNDERFLOW:
		LAB_STEP(out, N_("random gradients, 2^-46 to 2^-2, in each format"), under_columns, FLOAT_COUNT, true);
		break;
	case TABLE_TRAINING:
		LAB_STEP(out, N_("training: first and last loss; gradients lost, weights an update did not move"),
			training_columns, MODES, true);
		break;
	case TABLE_SCALE:
		LAB_STEP(out, "", scale_columns, p->n_changes, true);
		lab_title(out, N_("%1, dynamic loss scale: where it changes"), LAB_ARGS(LAB_NAME(float_formats[p->format].key)));
		break;
	case TABLE_LEDGER:
		LAB_STEP(out, N_("bytes per parameter"), ledger_columns, LEDGER_ROWS, true);
		break;
	default:
		LAB_STEP(out, "", step_columns, MODES, false);
		lab_title(out, N_("training step %1 of %2"), LAB_ARGS(LAB_NUMBER(k - TABLES + 1), LAB_NUMBER(p->iterations)));
	}
}

static void format_row(int64_t r, struct lab_row *out)
{
	const struct float_format *f = &float_formats[r];

	(void)snprintf(out->label, sizeof out->label, "%s", f->key);
	out->value[0] = float_bits(f);
	out->value[1] = f->exponent_bits;
	out->value[2] = f->mantissa_bits;
	out->value[3] = float_largest(f);
	out->value[4] = float_smallest_normal(f);
	out->value[5] = float_smallest(f);
	out->value[6] = float_epsilon(f);
}

static void under_row(const struct numerics *p, int64_t r, struct lab_row *out)
{
	const struct underflow *u = &p->under[r];
	const int64_t counts[] = { u->zeros, u->subnormal, u->scaled_zeros, u->scaled_overflow };

	(void)snprintf(out->label, sizeof out->label, "%s", float_formats[r].key);
	for (int i = 0; i < 4; i++)
		out->value[i] = 100 * (double)counts[i] / (double)p->gradients;
}

static void mode_label(const struct numerics *p, int64_t r, struct lab_row *out)
{
	lab_label(out, modes[r].label, LAB_ARGS(LAB_NAME(float_formats[p->format].key)));
}

static void training_row(const struct numerics *p, int64_t r, struct lab_row *out)
{
	const struct entry *log = &p->log[r * p->iterations];
	double zeros = 0, stuck = 0, all = (double)(p->iterations * p->weights);

	for (int64_t i = 0; i < p->iterations; i++) {
		zeros += log[i].zeros;
		stuck += log[i].stuck;
	}
	mode_label(p, r, out);
	out->value[0] = log[0].loss;
	out->value[1] = log[p->iterations - 1].loss;
	out->value[2] = 100 * zeros / all;
	out->value[3] = 100 * stuck / all;
	out->value[4] = (double)p->skipped[r];
}

static void scale_row(const struct numerics *p, int64_t r, struct lab_row *out)
{
	const struct entry *en = &p->log[MODE_DYNAMIC * p->iterations + p->changes[r]];

	lab_label(out, N_("change %1"), LAB_ARGS(LAB_NUMBER(r + 1)));
	out->value[0] = (double)(p->changes[r] + 1);
	out->value[1] = en->scale;
	if (en->skipped)
		lab_note(out, N_("not finite: skipped, halved"), NULL);
	else
		lab_note(out, N_("%1 good steps: doubled"), LAB_ARGS(LAB_NUMBER(p->growth)));
}

static void ledger_row(int64_t r, struct lab_row *out)
{
	const struct ledger_row *l = &ledger[r];

	lab_label(out, l->label, NULL);
	lab_note(out, l->text, NULL);
	out->value[0] = l->weights;
	out->value[1] = l->gradients;
	out->value[2] = l->optimizer;
	out->value[3] = l->master;
	out->value[4] = ledger_bytes((int)r) * LESSON_PARAMS;
}

static void iteration_row(const struct numerics *p, int64_t i, int64_t r, struct lab_row *out)
{
	const struct entry *en = &p->log[r * p->iterations + i];

	mode_label(p, r, out);
	out->value[0] = en->loss;
	out->value[1] = en->scale;
	out->value[2] = en->zeros;
	out->value[3] = en->stuck;
	lab_note(out, en->skipped ? N_("skipped: not finite") : "", NULL);
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct numerics *p = run->state;

	switch (k) {
	case TABLE_FORMATS:
		format_row(r, out);
		break;
	case TABLE_UNDERFLOW:
		under_row(p, r, out);
		break;
	case TABLE_TRAINING:
		training_row(p, r, out);
		break;
	case TABLE_SCALE:
		scale_row(p, r, out);
		break;
	case TABLE_LEDGER:
		ledger_row(r, out);
		break;
	default:
		iteration_row(p, k - TABLES, r, out);
	}
}

static const char lesson[] =
	N_("Its 56 GB for 7B counts Adam's moments with 2 bytes each, its 84 GB with 4 and no fp32 master copy, "
	   "although it names one. With it mixed precision is where fp32 was, 112 GB, and with fp32 gradients "
	   "126: what it saves is activations and time.");

const struct lab lab_precision = { "precision", N_("number formats"),
	N_("what fp32, tf32, bf16, fp16 and fp8 hold, and what is lost"), params, PARAMS, NULL, layout, run, step, row, false,
	lesson, NULL };
