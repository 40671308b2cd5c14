/* lab dp: data parallelism. N replicas of a small network; the batch is cut into N shards, also when N does not divide it;
 * gradients are summed by a real ring all-reduce over the replicas' buffers and divided by the batch; every replica makes the
 * same step.
 *
 * Rounding: a gradient is a sum of B products x delta, each the same number on one GPU and on N. Two orders of adding B numbers
 * of at most M differ by at most 2 (B + N) u M after the division by B (Higham 2002, sec. 4.2), u = 2^-53. M is measured during
 * the run. The mean of the shards' means is another number when the shards differ in size; the lab shows by how much. */
#include "lab_collective.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GPUS, BATCH, INPUTS, WIDTH, OUTPUTS, LAYERS, ITERATIONS, RATE, SEED, PARAMS };
enum { PHASE_FORWARD, PHASE_BACKWARD, PHASE_REDUCE, PHASE_UPDATE, PHASES };
enum { GPUS_MAX = 256 };

/* The lesson's ledger: bf16 weights and gradients, fp32 Adam moments; and its example. */
#define LESSON_BYTES_PER_PARAM 12
#define LESSON_PARAMS 70e9

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[GPUS] = { "gpus", N_("virtual GPUs, each with a replica"), LAB_PARAM_INT, 1, GPUS_MAX, 4, NULL },
	[BATCH] = { "batch", N_("samples per step, on all GPUs together"), LAB_PARAM_INT, 1, 65536, 32, NULL },
	[INPUTS] = { "inputs", N_("inputs of the network"), LAB_PARAM_INT, 1, 1024, 8, NULL },
	[WIDTH] = { "width", N_("width of its hidden layers"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[OUTPUTS] = { "outputs", N_("outputs of the network"), LAB_PARAM_INT, 1, 1024, 4, NULL },
	[LAYERS] = { "layers", N_("linear layers"), LAB_PARAM_INT, 1, 64, 3, NULL },
	[ITERATIONS] = { "iterations", N_("training steps"), LAB_PARAM_INT, 1, 64, 3, NULL },
	[RATE] = { "rate", N_("learning rate"), LAB_PARAM_REAL, 0, 1, 0.05, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

/* What a GPU had in an iteration. */
struct entry {
	double loss, local, averaged; /* mean loss of its shard; largest gradient before and after the all-reduce */
	double weight;                /* its first weight after the update */
	int64_t sent;                 /* elements, in this iteration */
	bool same;                    /* its weights are those of GPU 0, bit by bit */
};

struct dp {
	struct mlp net;
	int64_t n, batch, iterations, params;
	double rate;
	double *x, *t;         /* the batch */
	double *w, *g;         /* [gpu][params] */
	double *one_w, *one_g; /* the single GPU */
	double *means;         /* mean of the shards' means */
	double *acts, *grads;
	int64_t *sent;
	struct entry *log;                                 /* [iteration][gpu] */
	double comm_s, real_s, magnitude, first_magnitude; /* largest |x| |delta|: so far; of the first iteration */
	double gradient_difference, weight_difference, means_difference;
	int64_t sent_elements; /* one iteration, all GPUs */
	bool identical;
};

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct dp *place = lab_take(a, 1, sizeof *place), d = { .net = lab_mlp(in, INPUTS) };
	int64_t acts;

	d.n = lab_int(in, GPUS);
	d.batch = lab_int(in, BATCH);
	d.iterations = lab_int(in, ITERATIONS);
	d.rate = in->value[RATE];
	d.params = mlp_params(&d.net);
	acts = d.batch * mlp_activations(&d.net);
	d.x = lab_take(a, d.batch * d.net.inputs, sizeof(double));
	d.t = lab_take(a, d.batch * d.net.outputs, sizeof(double));
	d.w = lab_take(a, d.n * d.params, sizeof(double));
	d.g = lab_take(a, d.n * d.params, sizeof(double));
	d.one_w = lab_take(a, d.params, sizeof(double));
	d.one_g = lab_take(a, d.params, sizeof(double));
	d.means = lab_take(a, d.params, sizeof(double));
	d.acts = lab_take(a, acts, sizeof(double));
	d.grads = lab_take(a, acts, sizeof(double));
	d.sent = lab_take(a, d.n, sizeof(int64_t));
	d.log = lab_take(a, d.iterations * d.n, sizeof(struct entry));
	lab_work(work, d.iterations, 2 * d.batch, mlp_work(&d.net));
	lab_work(work, d.iterations, 6 * d.n, d.params);
	if (place != NULL)
		*place = d;
	return place;
}

static void start(const struct lab_input *in, struct dp *d)
{
	lab_fill(d->x, d->batch * d->net.inputs, lab_seed(in, SEED), 1, 1);
	lab_fill(d->t, d->batch * d->net.outputs, lab_seed(in, SEED), 2, 1);
	mlp_init(&d->net, d->one_w, lab_seed(in, SEED));
	for (int64_t r = 0; r < d->n; r++)
		memcpy(d->w + r * d->params, d->one_w, (size_t)d->params * sizeof(double));
	d->identical = true;
}

/* Forward and backward of one shard on its replica; adds its mean gradient to the mean of means. */
static void run_shard(struct dp *d, int64_t r, struct entry *log)
{
	int64_t from = lab_cut(d->batch, d->n, r), samples = lab_cut(d->batch, d->n, r + 1) - from;
	double *g = d->g + r * d->params;

	memset(g, 0, (size_t)d->params * sizeof(double));
	if (samples == 0)
		return;
	log->loss = mlp_gradient(&d->net, d->w + r * d->params, d->x + from * d->net.inputs, d->t + from * d->net.outputs,
			    samples, d->acts, d->grads, g, &d->magnitude) /
		(double)samples;
	log->local = lab_largest(g, d->params) / (double)samples;
	for (int64_t i = 0; i < d->params; i++)
		d->means[i] += g[i] / (double)samples / (double)num_min(d->n, d->batch);
}

static void update(struct dp *d, double *w, const double *summed)
{
	for (int64_t i = 0; i < d->params; i++)
		w[i] -= d->rate * (summed[i] / (double)d->batch);
}

/* The single GPU: the full batch at once, from its own weights. Compared with the replicas before either moves. */
static void run_one(struct dp *d)
{
	memset(d->one_g, 0, (size_t)d->params * sizeof(double));
	(void)mlp_gradient(&d->net, d->one_w, d->x, d->t, d->batch, d->acts, d->grads, d->one_g, &d->magnitude);
}

static void compare(struct dp *d, int64_t iteration)
{
	double batch = (double)d->batch;

	/* Only in the first iteration are the weights, and so all products, the same on both sides. */
	for (int64_t r = 0; r < d->n && iteration == 0; r++)
		d->gradient_difference =
			lab_max(d->gradient_difference, lab_difference(d->g + r * d->params, d->one_g, d->params) / batch);
	if (iteration == 0)
		d->first_magnitude = d->magnitude;
	for (int64_t i = 0; i < d->params && iteration == 0; i++)
		d->means_difference = lab_max(d->means_difference, fabs(d->means[i] - d->one_g[i] / batch));
}

static void iterate(struct dp *d, int64_t iteration)
{
	struct collective_group group = { .n = d->n, .per_node = d->n, .elements = d->params };
	struct collective_state state = { .v = d->g, .held = d->params };
	struct entry *log = &d->log[iteration * d->n];

	memset(d->means, 0, (size_t)d->params * sizeof(double));
	for (int64_t r = 0; r < d->n; r++)
		run_shard(d, r, &log[r]);
	d->sent_elements = collective_run(ALGORITHM_RING, &group, &state, d->sent, NULL, 1, NULL, NULL).sent_elements;
	run_one(d);
	compare(d, iteration);
	update(d, d->one_w, d->one_g);
	for (int64_t r = 0; r < d->n; r++) {
		double *w = d->w + r * d->params;

		log[r].averaged = lab_largest(d->g + r * d->params, d->params) / (double)d->batch;
		log[r].sent = d->sent[r];
		update(d, w, d->g + r * d->params);
		log[r].weight = w[0];
		log[r].same = memcmp(w, d->w, (size_t)d->params * sizeof(double)) == 0;
		d->identical = d->identical && log[r].same;
		d->weight_difference = lab_max(d->weight_difference, lab_difference(w, d->one_w, d->params));
	}
}

static void conclude(struct lab_run *run, const struct dp *d)
{
	double n = (double)d->n, gradient = (double)(d->params * (int64_t)sizeof(double)),
	       sent = (double)d->sent_elements * sizeof(double);
	int64_t next = lab_next(run, GPUS);

	lab_add_fact(run, "params", N_("parameters"), LAB_COUNT, (double)d->params);
	lab_add_fact(run, "gradient_bytes", N_("gradient D, doubles"), LAB_BYTES, gradient);
	lab_add_fact(run, "effective_batch", N_("effective batch: samples per GPU x N"), LAB_COUNT, (double)d->batch);
	lab_add_fact(run, "state_bytes", N_("weights and gradient on each GPU, for any N"), LAB_BYTES, 2 * gradient);
	lab_add_fact(run, "sent_bytes", N_("sent per GPU and step, on average"), LAB_BYTES, sent / n);
	lab_add_fact(run, "comm_s", N_("time of this all-reduce"), LAB_SECONDS, d->comm_s);
	lab_add_fact(run, "real_s", N_("the same for a real model's 16-bit gradients"), LAB_SECONDS, d->real_s);
	lab_add_fact(run, "means_difference", N_("error if shard means were averaged"), LAB_REAL, d->means_difference);
	lab_add_fact(run, "lesson_bytes", N_("70B at 12 bytes per parameter, each GPU"), LAB_BYTES,
		LESSON_BYTES_PER_PARAM * LESSON_PARAMS);
	lab_claim_same(run, "gradient", N_("averaged gradient = full-batch gradient"), d->gradient_difference,
		2 * (double)(d->batch + d->n) * LAB_ROUNDOFF * d->first_magnitude);
	lab_claim_equal(run, "replicas", N_("replicas are identical, bit by bit"), LAB_COUNT, d->identical, 1);
	lab_claim_equal(run, "bytes", N_("bytes sent by all GPUs: 2(N-1) D"), LAB_BYTES, sent, 2 * (n - 1) * gradient);
	lab_set_answer(run, N_("bytes sent per GPU and step"), LAB_BYTES, sent / n);
	lab_ask(run,
		NN_("With %1 GPU, how many bytes does it send per step?",
			"With %1 GPUs, how many bytes does each send per step?"),
		LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(run->next, sizeof run->next, "--gpus %" PRId64, next);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct dp *d = state;
	struct links k = comm_links(run->input.scenario);

	(void)e;
	start(&run->input, d);
	for (int64_t i = 0; i < d->iterations; i++)
		iterate(d, i);
	d->comm_s = comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, (double)d->n, (double)d->params * sizeof(double), 1);
	d->real_s = comm_collective_s(
		&k, COLLECTIVE_ALL_REDUCE, (double)d->n, 2 * (double)model_params(&run->input.scenario->model), 1);
	run->steps = PHASES * d->iterations;
	conclude(run, d);
	return ERR_OK;
}

static const struct lab_column forward_columns[] = { { "samples", N_("samples"), LAB_COUNT },
	{ "loss", N_("mean loss"), LAB_REAL } };
static const struct lab_column backward_columns[] = { { "samples", N_("samples"), LAB_COUNT },
	{ "gradient", N_("|gradient|"), LAB_REAL } };
static const struct lab_column reduce_columns[] = { { "gradient", N_("|average|"), LAB_REAL },
	{ "sent", N_("sent"), LAB_BYTES } };
static const struct lab_column update_columns[] = { { "weight", N_("weight 0"), LAB_REAL } };

static const struct {
	const char *title;
	const struct lab_column *columns;
	int32_t n;
} phases[PHASES] = {
	[PHASE_FORWARD] = { N_("forward of the shard"), forward_columns, 2 },
	[PHASE_BACKWARD] = { N_("backward: the shard's own gradient"), backward_columns, 2 },
	[PHASE_REDUCE] = { N_("ring all-reduce of the gradients"), reduce_columns, 2 },
	[PHASE_UPDATE] = { N_("the same update everywhere"), update_columns, 1 },
};

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct dp *d = run->state;

	out->columns = phases[k % PHASES].columns;
	out->n_columns = phases[k % PHASES].n;
	out->rows = d->n;
	out->main = k < PHASES;
	lab_title(out, N_("iteration %1: %2"), LAB_ARGS(LAB_NUMBER(k / PHASES + 1), LAB_TEXT(phases[k % PHASES].title)));
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct dp *d = run->state;
	const struct entry *en = &d->log[k / PHASES * d->n + r];
	int64_t from = lab_cut(d->batch, d->n, r), samples = lab_cut(d->batch, d->n, r + 1) - from;

	lab_label(out, N_("gpu %1"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[0] = (double)samples;
	switch (k % PHASES) {
	case PHASE_FORWARD:
		out->value[1] = en->loss;
		if (samples > 0)
			lab_note(out, N_("samples %1 to %2"), LAB_ARGS(LAB_NUMBER(from), LAB_NUMBER(from + samples - 1)));
		else
			lab_note(out, N_("nothing to do: fewer samples than GPUs"), NULL);
		break;
	case PHASE_BACKWARD:
		out->value[1] = en->local;
		break;
	case PHASE_REDUCE:
		out->value[0] = en->averaged;
		out->value[1] = (double)en->sent * sizeof(double);
		break;
	default:
		out->value[0] = en->weight;
		lab_note(out, en->same ? N_("same bits as gpu 0") : N_("differs from gpu 0"), NULL);
	}
}

static const char lesson[] =
	N_("840 GB per GPU for 70B is right at the lesson's 12 bytes per parameter; with an fp32 master copy, as "
	   "most frameworks keep one, it is 16 bytes and 1,120 GB. Its code leaves out the samples that N does "
	   "not divide, and averages the means of the shards: here all samples count, and gradients are summed "
	   "first.");

const struct lab lab_dp = { "dp", N_("data parallelism"), N_("replicas, shards of the batch, one all-reduce of the gradients"),
	params, PARAMS, NULL, layout, run, step, row, false, lesson, NULL };
