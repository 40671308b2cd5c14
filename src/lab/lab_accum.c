/* lab accum: gradient accumulation on N GPUs. K micro-batches per GPU are added up before one all-reduce; beside it the same with
 * an all-reduce after every micro-batch, and the full batch on one GPU. The three gradients agree but for the order of adding:
 * |difference| <= 2 (B + N K) u M, B samples, M the largest product (as in lab dp).
 *
 * A layer that looks at the whole batch breaks it: batch normalisation of the inputs uses the mean and variance of a micro-batch,
 * and those are not the full batch's. Layer normalisation looks at one sample and changes nothing. */
#include "lab_collective.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GPUS, ACCUMULATE, MICRO_BATCH, INPUTS, WIDTH, OUTPUTS, LAYERS, SEED, PARAMS };
enum norm { NORM_NO, NORM_LAYER, NORM_BATCH, NORMS };
enum { ACCUMULATE_MAX = 1024 };

/* Keeps a variance of 0 apart from a division by 0; as PyTorch's BatchNorm. */
#define VARIANCE_EPSILON 1e-5

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[GPUS] = { "gpus", N_("virtual GPUs"), LAB_PARAM_INT, 1, 64, 4, NULL },
	[ACCUMULATE] = { "accumulate", N_("K, micro-batches before one all-reduce"), LAB_PARAM_INT, 1, ACCUMULATE_MAX, 4, NULL },
	[MICRO_BATCH] = { "micro-batch", N_("samples in a micro-batch"), LAB_PARAM_INT, 1, 1024, 4, NULL },
	[INPUTS] = { "inputs", N_("inputs of the network"), LAB_PARAM_INT, 1, 1024, 8, NULL },
	[WIDTH] = { "width", N_("width of its hidden layers"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[OUTPUTS] = { "outputs", N_("outputs of the network"), LAB_PARAM_INT, 1, 1024, 4, NULL },
	[LAYERS] = { "layers", N_("linear layers"), LAB_PARAM_INT, 1, 64, 3, NULL },
	[SEED] = LAB_SEED_PARAM,
};
static const char *const norm_names[NORMS] = { N_("no normalisation"), N_("layer norm"), N_("batch norm") };
/* clang-format on */

/* GPU r after its i-th micro-batch. */
struct entry {
	double loss, gradient; /* mean of the micro-batch; largest entry of what is added up so far, per sample */
};

struct accum {
	struct mlp net;
	int64_t n, k, size, params, batch;
	double *raw, *x, *t, *w;
	double *g;            /* [gpu][params]: added up locally */
	double *each, *total; /* [gpu][params]: of one micro-batch; sum of those that were reduced one by one */
	double *one;          /* full batch on one GPU */
	double *acts, *grads;
	int64_t *sent;
	struct entry *log; /* [micro-batch][gpu] */
	double magnitude, difference[NORMS], each_difference;
	int64_t sent_once, sent_each; /* elements, all GPUs */
	double once_s, each_s;
};

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct accum *place = lab_take(a, 1, sizeof *place), c = { .n = lab_int(in, GPUS), .k = lab_int(in, ACCUMULATE) };
	int64_t acts;

	c.net = lab_mlp(in, INPUTS);
	c.size = lab_int(in, MICRO_BATCH);
	c.batch = c.n * c.k * c.size;
	c.params = mlp_params(&c.net);
	acts = c.batch * mlp_activations(&c.net);
	c.raw = lab_take(a, c.batch * c.net.inputs, sizeof(double));
	c.x = lab_take(a, c.batch * c.net.inputs, sizeof(double));
	c.t = lab_take(a, c.batch * c.net.outputs, sizeof(double));
	c.w = lab_take(a, c.params, sizeof(double));
	c.g = lab_take(a, c.n * c.params, sizeof(double));
	c.each = lab_take(a, c.n * c.params, sizeof(double));
	c.total = lab_take(a, c.params, sizeof(double));
	c.one = lab_take(a, c.params, sizeof(double));
	c.acts = lab_take(a, acts, sizeof(double));
	c.grads = lab_take(a, acts, sizeof(double));
	c.sent = lab_take(a, c.n, sizeof(int64_t));
	c.log = lab_take(a, c.k * c.n, sizeof(struct entry));
	lab_work(work, (2 * NORMS + 1) * c.batch, mlp_work(&c.net), 1);
	lab_work(work, 4 * c.n * (c.k + 2), c.params, 1);
	if (place != NULL)
		*place = c;
	return place;
}

/* (v - mean) / sqrt(variance + epsilon) over n numbers, `stride` apart. */
static void normalize(const double *from, double *to, int64_t n, int64_t stride)
{
	double mean = 0, variance = 0;

	for (int64_t i = 0; i < n; i++)
		mean += from[i * stride] / (double)n;
	for (int64_t i = 0; i < n; i++)
		variance += (from[i * stride] - mean) * (from[i * stride] - mean) / (double)n;
	for (int64_t i = 0; i < n; i++)
		to[i * stride] = (from[i * stride] - mean) / sqrt(variance + VARIANCE_EPSILON);
}

/* Inputs of `samples` samples from `first`, normalised together. */
static void prepare(struct accum *c, enum norm norm, int64_t first, int64_t samples)
{
	const double *from = c->raw + first * c->net.inputs;
	double *to = c->x + first * c->net.inputs;

	if (norm == NORM_NO)
		memcpy(to, from, (size_t)(samples * c->net.inputs) * sizeof(double));
	for (int64_t s = 0; s < samples && norm == NORM_LAYER; s++)
		normalize(from + s * c->net.inputs, to + s * c->net.inputs, c->net.inputs, 1);
	for (int64_t j = 0; j < c->net.inputs && norm == NORM_BATCH; j++)
		normalize(from + j, to + j, samples, c->net.inputs);
}

static double gradient(struct accum *c, enum norm norm, int64_t first, int64_t samples, double *g)
{
	prepare(c, norm, first, samples);
	return mlp_gradient(&c->net, c->w, c->x + first * c->net.inputs, c->t + first * c->net.outputs, samples, c->acts,
		c->grads, g, &c->magnitude);
}

/* The i-th micro-batch of GPU r. */
static int64_t first_of(const struct accum *c, int64_t r, int64_t i)
{
	return (r * c->k + i) * c->size;
}

static int64_t all_reduce(struct accum *c, double *buffers)
{
	struct collective_group g = { .n = c->n, .per_node = c->n, .elements = c->params };
	struct collective_state state = { .v = buffers, .held = c->params };

	return collective_run(ALGORITHM_RING, &g, &state, c->sent, NULL, 1, NULL, NULL).sent_elements;
}

static void accumulate(struct accum *c, enum norm norm)
{
	memset(c->g, 0, (size_t)(c->n * c->params) * sizeof(double));
	for (int64_t i = 0; i < c->k; i++)
		for (int64_t r = 0; r < c->n; r++) {
			struct entry *en = &c->log[i * c->n + r];
			double loss = gradient(c, norm, first_of(c, r, i), c->size, c->g + r * c->params);

			/* The timeline shows the network as it is. */
			if (norm != NORM_NO)
				continue;
			en->loss = loss / (double)c->size;
			en->gradient = lab_largest(c->g + r * c->params, c->params) / (double)((i + 1) * c->size);
		}
	c->sent_once = all_reduce(c, c->g);
}

/* An all-reduce after every micro-batch. */
static void reduce_each(struct accum *c)
{
	memset(c->total, 0, (size_t)c->params * sizeof(double));
	for (int64_t i = 0; i < c->k; i++) {
		memset(c->each, 0, (size_t)(c->n * c->params) * sizeof(double));
		for (int64_t r = 0; r < c->n; r++)
			(void)gradient(c, NORM_NO, first_of(c, r, i), c->size, c->each + r * c->params);
		c->sent_each += all_reduce(c, c->each);
		for (int64_t p = 0; p < c->params; p++)
			c->total[p] += c->each[p];
	}
}

static double full_batch_difference(struct accum *c, enum norm norm)
{
	memset(c->one, 0, (size_t)c->params * sizeof(double));
	(void)gradient(c, norm, 0, c->batch, c->one);
	return lab_difference(c->g, c->one, c->params) / (double)c->batch;
}

static void conclude(struct lab_run *run, struct accum *c)
{
	double n = (double)c->n, k = (double)c->k, bytes = (double)c->params * sizeof(double);
	double tolerance = 2 * ((double)c->batch + n * k) * LAB_ROUNDOFF * c->magnitude;
	double sample = (double)mlp_activations(&c->net) * sizeof(double);
	int64_t next = lab_next(run, ACCUMULATE);

	lab_claim_same(run, "gradient", N_("K added up, one all-reduce = the full batch"), c->difference[NORM_NO], tolerance);
	lab_claim_same(run, "each", N_("an all-reduce after each = the full batch"), c->each_difference, tolerance);
	lab_claim_same(run, "layer_norm", N_("still so with layer norm"), c->difference[NORM_LAYER], tolerance);
	lab_claim_equal(run, "sent", N_("all-reduce after each sends K times as much"), LAB_BYTES,
		(double)c->sent_each * sizeof(double), k * (double)c->sent_once * sizeof(double));
	lab_claim_equal(run, "formula", N_("one all-reduce, all GPUs: 2(N-1) D"), LAB_BYTES,
		(double)c->sent_once * sizeof(double), 2 * (n - 1) * bytes);
	lab_add_fact(run, "batch", N_("global batch: micro-batch x K x N"), LAB_COUNT, (double)c->batch);
	lab_add_fact(run, "once_bytes", N_("sent per GPU, one all-reduce"), LAB_BYTES, (double)c->sent_once * sizeof(double) / n);
	lab_add_fact(run, "each_bytes", N_("sent per GPU, one after each"), LAB_BYTES, (double)c->sent_each * sizeof(double) / n);
	lab_add_fact(run, "once_s", N_("time of one all-reduce"), LAB_SECONDS, c->once_s);
	lab_add_fact(run, "each_s", N_("time of K"), LAB_SECONDS, c->each_s);
	lab_add_fact(run, "micro_activations", N_("activations, a micro-batch at a time"), LAB_BYTES, (double)c->size * sample);
	lab_add_fact(run, "whole_activations", N_("activations, all K at once"), LAB_BYTES, k * (double)c->size * sample);
	lab_add_fact(run, "batch_norm", N_("gradient error with batch norm"), LAB_REAL, c->difference[NORM_BATCH]);
	lab_set_answer(run, N_("bytes sent per GPU with one all-reduce after each micro-batch"), LAB_BYTES,
		(double)c->sent_each * sizeof(double) / n);
	lab_ask(run, N_("With K = %1 and an all-reduce after each, how many bytes per GPU?"), NULL, LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(run->next, sizeof run->next, "--accumulate %" PRId64, next);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct accum *c = state;
	struct links k = comm_links(run->input.scenario);
	uint64_t seed = lab_seed(&run->input, SEED);

	(void)e;
	lab_fill(c->raw, c->batch * c->net.inputs, seed, 1, 1);
	lab_fill(c->t, c->batch * c->net.outputs, seed, 2, 1);
	mlp_init(&c->net, c->w, seed);
	for (int norm = NORMS - 1; norm >= 0; norm--) {
		accumulate(c, (enum norm)norm);
		c->difference[norm] = full_batch_difference(c, (enum norm)norm);
	}
	reduce_each(c);
	c->each_difference = lab_difference(c->total, c->one, c->params) / (double)c->batch;
	c->once_s = comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, (double)c->n, (double)c->params * sizeof(double), 1);
	c->each_s = (double)c->k * c->once_s;
	run->steps = c->k + 2;
	conclude(run, c);
	return ERR_OK;
}

static const struct lab_column step_columns[] = {
	{ "loss", N_("mean loss"), LAB_REAL },
	{ "gradient", N_("|sum|/samples"), LAB_REAL },
	{ "sent", N_("sent"), LAB_BYTES },
};
static const struct lab_column table_columns[] = { { "difference", N_("gradient error against the full batch"), LAB_REAL } };

/* Steps 0 .. K - 1 are the micro-batches, step K the all-reduce, the last one the table of normalisations. */
static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct accum *c = run->state;

	if (k > c->k) {
		LAB_STEP(out, N_("what a layer that looks at the batch changes"), table_columns, NORMS, true);
		return;
	}
	LAB_STEP(out, N_("one ring all-reduce of what was added up"), step_columns, c->n, true);
	if (k < c->k) {
		out->main = k == 0 || k == c->k - 1;
		lab_title(out, N_("micro-batch %1 of %2: added up locally, nothing sent"),
			LAB_ARGS(LAB_NUMBER(k + 1), LAB_NUMBER(c->k)));
	}
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct accum *c = run->state;

	if (k > c->k) {
		lab_label(out, norm_names[r], NULL);
		out->value[0] = c->difference[r];
		return;
	}
	lab_label(out, N_("gpu %1"), LAB_ARGS(LAB_NUMBER(r)));
	if (k == c->k) {
		out->value[1] = lab_largest(c->g + r * c->params, c->params) / (double)c->batch;
		out->value[2] = (double)c->sent[r] * sizeof(double);
		return;
	}
	out->value[0] = c->log[k * c->n + r].loss;
	out->value[1] = c->log[k * c->n + r].gradient;
	out->value[2] = 0;
	lab_note(out, N_("samples %1 to %2"),
		LAB_ARGS(LAB_NUMBER(first_of(c, r, k)), LAB_NUMBER(first_of(c, r, k) + c->size - 1)));
}

static const char lesson[] =
	N_("The same gradient is right for layers that look at one sample at a time. With batch normalisation "
	   "each micro-batch has its own mean and variance, and it is another gradient.");

const struct lab lab_accum = { "accum", N_("gradient accumulation"),
	N_("K micro-batches before one all-reduce: the same gradient"), params, PARAMS, NULL, layout, run, step, row, false,
	lesson, NULL };
