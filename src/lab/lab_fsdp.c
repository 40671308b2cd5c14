/* lab fsdp: ZeRO stages 0 to 3 on one network, each trained with Adam from the same start on the same data.
 *
 *   stage 0  everything on every GPU; gradients all-reduced
 *   stage 1  optimizer states cut over the GPUs: gradients reduce-scattered, each GPU updates its part, weights all-gathered
 *   stage 2  gradients cut as well: each layer's are reduce-scattered as soon as its backward is done
 *   stage 3  weights cut as well: each layer is all-gathered before its forward, discarded, gathered again for its backward
 * (Rajbhandari 2020, sec. 5; stage 3 = FSDP, Zhao 2023.) Sums over GPUs are taken in rank order in every stage, so the weights
 * agree bit by bit. A discarded layer is filled with NaN: if anything used it, it would show.
 *
 * Bytes are those of mixed precision: weights and gradients 2, optimizer 12 (fp32 master copy, two moments), activations 2. Sent
 * by all GPUs: an all-gather or reduce-scatter of S moves (N-1) S, an all-reduce 2(N-1) S. */
#include "comm.h"
#include "compute.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GPUS, BATCH, INPUTS, WIDTH, OUTPUTS, LAYERS, ITERATIONS, RATE, ZERO, PREFETCH, SEED, PARAMS };
enum { STAGES = 4, WAY_PREFETCH = STAGES, WAYS, GPUS_MAX = 128, LAYERS_MAX = 64 };
enum { WEIGHT_BYTES = 2, GRADIENT_BYTES = 2, OPTIMIZER_BYTES = 12, ACTIVATION_BYTES = 2 };
/* Categories of what a GPU holds, in the order of the columns. */
enum held { HELD_WEIGHTS, HELD_GATHERED, HELD_GRADIENTS, HELD_OPTIMIZER, HELD_ACTIVATIONS, HELD_COUNT };

/* Adam as everybody sets it. Src: Kingma 2015. */
#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[GPUS] = { "gpus", N_("virtual GPUs"), LAB_PARAM_INT, 1, GPUS_MAX, 4, NULL },
	[BATCH] = { "batch", N_("samples per step, on all GPUs together"), LAB_PARAM_INT, 1, 8192, 16, NULL },
	[INPUTS] = { "inputs", N_("inputs of the network"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[WIDTH] = { "width", N_("width of its hidden layers"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[OUTPUTS] = { "outputs", N_("outputs of the network"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[LAYERS] = { "layers", N_("linear layers"), LAB_PARAM_INT, 1, LAYERS_MAX, 4, NULL },
	[ITERATIONS] = { "iterations", N_("training steps"), LAB_PARAM_INT, 1, 64, 3, NULL },
	[RATE] = { "rate", N_("learning rate"), LAB_PARAM_REAL, 0, 1, 0.01, NULL },
	[ZERO] = { "zero", N_("stage whose timeline is shown; all are run"), LAB_PARAM_INT, 0, STAGES - 1, 3, NULL },
	[PREFETCH] = { "prefetch", N_("stage 3: gather the next layer while one computes"), LAB_PARAM_FLAG, 0, 1, 0, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

enum event_kind {
	EVENT_GATHER,
	EVENT_FORWARD,
	EVENT_DISCARD,
	EVENT_BACKWARD,
	EVENT_REDUCE,
	EVENT_UPDATE,
	EVENT_RETURN,
	EVENT_KINDS
};
static const char *const event_texts[EVENT_KINDS] = {
	[EVENT_GATHER] = N_("all-gather of the weights of"),
	[EVENT_FORWARD] = N_("forward of"),
	[EVENT_DISCARD] = N_("discard what was gathered of"),
	[EVENT_BACKWARD] = N_("backward of"),
	[EVENT_REDUCE] = N_("reduction of the gradients of"),
	[EVENT_UPDATE] = N_("optimizer step on"),
	[EVENT_RETURN] = N_("all-gather of the new weights of"),
};

struct event {
	enum event_kind kind;
	int64_t layer; /* -1: all layers */
	int64_t sent;  /* bytes, all GPUs, this event */
};

struct outcome {
	int64_t sent;        /* bytes of one training step, all GPUs */
	int64_t state, peak; /* bytes on the GPU that holds most: weights, gradients, optimizer at rest; everything, at most */
	double difference, loss; /* of the weights against stage 0; mean of the last step */
};

struct fsdp {
	struct mlp net;
	int64_t n, batch, iterations, params, zero;
	int shown; /* whose timeline is kept */
	double rate;
	double *x, *t, *start;
	double *w, *m, *v;    /* [gpu][params]; of what is cut, row 0 holds the parts of all GPUs side by side */
	double *g, *reduced;  /* [gpu][params]; the sum */
	double *full;         /* stage 3: what is gathered now */
	double *reference;    /* weights of stage 0 in the end */
	double *acts, *grads; /* all samples */
	int64_t *held;        /* [gpu][HELD_COUNT] now */
	struct event *events;
	int64_t *log; /* [event][gpu][HELD_COUNT] */
	int64_t events_max, n_events;
	struct outcome outcome[WAYS]; /* stages, then stage 3 with prefetch */
	double gather_s, compute_s;
	int64_t real_layers;
};

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct fsdp *place = lab_take(a, 1, sizeof *place),
		    f = { .net = lab_mlp(in, INPUTS), .n = lab_int(in, GPUS), .batch = lab_int(in, BATCH) };
	double **const per_gpu[] = { &f.w, &f.m, &f.v, &f.g }, **const single[] = { &f.start, &f.reduced, &f.full, &f.reference };
	int64_t acts = f.batch * mlp_activations(&f.net);

	f.params = mlp_params(&f.net);
	f.iterations = lab_int(in, ITERATIONS);
	f.rate = in->value[RATE];
	f.zero = lab_int(in, ZERO);
	f.shown = f.zero == 3 && lab_int(in, PREFETCH) != 0 ? WAY_PREFETCH : (int)f.zero;
	f.events_max = 7 * f.net.layers + 3;
	f.x = lab_take(a, f.batch * f.net.inputs, sizeof(double));
	f.t = lab_take(a, f.batch * f.net.outputs, sizeof(double));
	for (size_t i = 0; i < sizeof per_gpu / sizeof per_gpu[0]; i++)
		*per_gpu[i] = lab_take(a, f.n * f.params, sizeof(double));
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
		*single[i] = lab_take(a, f.params, sizeof(double));
	f.acts = lab_take(a, acts, sizeof(double));
	f.grads = lab_take(a, acts, sizeof(double));
	f.held = lab_take(a, f.n * HELD_COUNT, sizeof(int64_t));
	f.events = lab_take(a, f.events_max, sizeof(struct event));
	f.log = lab_take(a, f.events_max * f.n * HELD_COUNT, sizeof(int64_t));
	lab_work(work, WAYS * f.iterations, f.batch, mlp_work(&f.net));
	lab_work(work, WAYS * f.iterations, 16 * f.n, f.params);
	if (place != NULL)
		*place = f;
	return place;
}

/* One stage while it runs. */
struct trainer {
	struct fsdp *f;
	int way, zero;
	bool prefetch; /* stage 3: gathers the next layer before it computes this one */
	bool watched;  /* first iteration of a stage: bytes are counted; of the chosen stage also kept */
};

/* Elements of a layer that GPU r owns. */
static int64_t owned(const struct fsdp *f, int64_t layer, int64_t r)
{
	int64_t size = mlp_layer_params(&f->net, layer);

	return lab_cut(size, f->n, r + 1) - lab_cut(size, f->n, r);
}

static int64_t owned_all(const struct fsdp *f, int64_t r)
{
	int64_t sum = 0;

	for (int64_t l = 0; l < f->net.layers; l++)
		sum += owned(f, l, r);
	return sum;
}

static void hold(struct fsdp *f, int64_t r, enum held what, int64_t bytes)
{
	f->held[r * HELD_COUNT + what] += bytes;
}

static int64_t total_held(const struct fsdp *f, int64_t r)
{
	int64_t sum = 0;

	for (int c = 0; c < HELD_COUNT; c++)
		sum += f->held[r * HELD_COUNT + c];
	return sum;
}

/* Books an event: bytes sent, the peak, and for the chosen stage the timeline. */
static void happen(struct trainer *tr, enum event_kind kind, int64_t layer, int64_t sent)
{
	struct fsdp *f = tr->f;
	struct outcome *o = &f->outcome[tr->way];

	if (!tr->watched)
		return;
	o->sent += sent;
	for (int64_t r = 0; r < f->n; r++)
		o->peak = num_max(o->peak, total_held(f, r));
	if (tr->way != f->shown)
		return;
	memcpy(f->log + f->n_events * f->n * HELD_COUNT, f->held, (size_t)(f->n * HELD_COUNT) * sizeof(int64_t));
	f->events[f->n_events++] = (struct event){ .kind = kind, .layer = layer, .sent = sent };
}

static void gather(struct trainer *tr, int64_t layer)
{
	struct fsdp *f = tr->f;
	int64_t at = mlp_offset(&f->net, layer), size = mlp_layer_params(&f->net, layer);

	memcpy(f->full + at, f->w + at, (size_t)size * sizeof(double));
	for (int64_t r = 0; r < f->n; r++)
		hold(f, r, HELD_GATHERED, WEIGHT_BYTES * (size - owned(f, layer, r)));
	happen(tr, EVENT_GATHER, layer, (f->n - 1) * size * WEIGHT_BYTES);
}

static void discard(struct trainer *tr, int64_t layer)
{
	struct fsdp *f = tr->f;
	int64_t at = mlp_offset(&f->net, layer), size = mlp_layer_params(&f->net, layer);

	for (int64_t i = 0; i < size; i++)
		f->full[at + i] = (double)NAN;
	for (int64_t r = 0; r < f->n; r++)
		hold(f, r, HELD_GATHERED, -WEIGHT_BYTES * (size - owned(f, layer, r)));
	happen(tr, EVENT_DISCARD, layer, 0);
}

/* The weights of a layer as GPU r sees them now. */
static const double *weights(const struct trainer *tr, int64_t r, int64_t layer)
{
	const struct fsdp *f = tr->f;

	return (tr->zero == 3 ? f->full : f->w + r * f->params) + mlp_offset(&f->net, layer);
}

/* Samples of GPU r, and where its input or output of a layer lies. */
static int64_t samples_of(const struct fsdp *f, int64_t r)
{
	return lab_cut(f->batch, f->n, r + 1) - lab_cut(f->batch, f->n, r);
}

static int64_t place_of(const struct fsdp *f, int64_t r, int64_t layer)
{
	return lab_cut(f->batch, f->n, r) * mlp_activations(&f->net) + mlp_activation_offset(&f->net, layer, samples_of(f, r));
}

static void forward_layer(struct trainer *tr, int64_t layer)
{
	struct fsdp *f = tr->f;

	for (int64_t r = 0; r < f->n; r++) {
		mlp_layer_forward(&f->net, layer, weights(tr, r, layer), f->acts + place_of(f, r, layer),
			f->acts + place_of(f, r, layer + 1), samples_of(f, r));
		hold(f, r, HELD_ACTIVATIONS, ACTIVATION_BYTES * samples_of(f, r) * mlp_rows(&f->net, layer));
	}
	happen(tr, EVENT_FORWARD, layer, 0);
}

static void backward_layer(struct trainer *tr, int64_t layer)
{
	struct fsdp *f = tr->f;
	int64_t at = mlp_offset(&f->net, layer), size = mlp_layer_params(&f->net, layer);

	for (int64_t r = 0; r < f->n; r++) {
		int64_t in = place_of(f, r, layer), out = place_of(f, r, layer + 1);

		mlp_layer_backward(&f->net, layer, weights(tr, r, layer), f->acts + in, f->acts + out, f->grads + out,
			layer > 0 ? f->grads + in : NULL, f->g + r * f->params + at, samples_of(f, r));
		hold(f, r, HELD_GRADIENTS, GRADIENT_BYTES * size);
	}
	happen(tr, EVENT_BACKWARD, layer, 0);
	for (int64_t r = 0; r < f->n; r++)
		hold(f, r, HELD_ACTIVATIONS, -ACTIVATION_BYTES * samples_of(f, r) * mlp_rows(&f->net, layer));
}

/* Sums over the GPUs, in rank order: a layer's gradients. */
static void sum_gradients(struct fsdp *f, int64_t at, int64_t size)
{
	for (int64_t i = at; i < at + size; i++) {
		double sum = 0;

		for (int64_t r = 0; r < f->n; r++)
			sum += f->g[r * f->params + i];
		f->reduced[i] = sum / (double)f->batch;
	}
}

/* Reduce-scatter of one layer: each GPU keeps its part. */
static void scatter_layer(struct trainer *tr, int64_t layer)
{
	struct fsdp *f = tr->f;
	int64_t size = mlp_layer_params(&f->net, layer);

	sum_gradients(f, mlp_offset(&f->net, layer), size);
	for (int64_t r = 0; r < f->n; r++)
		hold(f, r, HELD_GRADIENTS, -GRADIENT_BYTES * (size - owned(f, layer, r)));
	happen(tr, EVENT_REDUCE, layer, (f->n - 1) * size * GRADIENT_BYTES);
}

static void adam(const struct fsdp *f, double *w, double *m, double *v, int64_t iteration)
{
	double c1 = 1 - pow(BETA1, (double)(iteration + 1)), c2 = 1 - pow(BETA2, (double)(iteration + 1));

	for (int64_t i = 0; i < f->params; i++) {
		double g = f->reduced[i];

		m[i] = BETA1 * m[i] + (1 - BETA1) * g;
		v[i] = BETA2 * v[i] + (1 - BETA2) * g * g;
		w[i] -= f->rate * (m[i] / c1) / (sqrt(v[i] / c2) + EPSILON);
	}
}

/* Stage 0: every GPU updates everything. Above: each its own parts, which lie side by side in row 0; stages 1 and 2 hand them
 * round. */
static void update(struct trainer *tr, int64_t iteration)
{
	struct fsdp *f = tr->f;
	int64_t copies = tr->zero == 0 ? f->n : 1;

	for (int64_t r = 0; r < copies; r++)
		adam(f, f->w + r * f->params, f->m + r * f->params, f->v + r * f->params, iteration);
	happen(tr, EVENT_UPDATE, -1, 0);
	if (tr->zero != 1 && tr->zero != 2)
		return;
	for (int64_t r = 1; r < f->n; r++)
		memcpy(f->w + r * f->params, f->w, (size_t)f->params * sizeof(double));
	happen(tr, EVENT_RETURN, -1, (f->n - 1) * f->params * WEIGHT_BYTES);
}

static void forward(struct trainer *tr)
{
	struct fsdp *f = tr->f;
	int64_t layers = f->net.layers;

	for (int64_t r = 0; r < f->n; r++)
		memcpy(f->acts + place_of(f, r, 0), f->x + lab_cut(f->batch, f->n, r) * f->net.inputs,
			(size_t)(samples_of(f, r) * f->net.inputs) * sizeof(double));
	for (int64_t l = 0; l < layers; l++) {
		if (tr->zero == 3 && (l == 0 || !tr->prefetch))
			gather(tr, l);
		if (tr->zero == 3 && tr->prefetch && l + 1 < layers)
			gather(tr, l + 1);
		forward_layer(tr, l);
		if (tr->zero == 3)
			discard(tr, l);
	}
}

static double loss(struct fsdp *f)
{
	double sum = 0;

	for (int64_t r = 0; r < f->n; r++)
		sum += mlp_loss(f->acts + place_of(f, r, f->net.layers), f->t + lab_cut(f->batch, f->n, r) * f->net.outputs,
			f->grads + place_of(f, r, f->net.layers), samples_of(f, r) * f->net.outputs);
	return sum / (double)f->batch;
}

static void backward(struct trainer *tr)
{
	struct fsdp *f = tr->f;
	int64_t last = f->net.layers - 1;

	memset(f->g, 0, (size_t)(f->n * f->params) * sizeof(double));
	for (int64_t l = last; l >= 0; l--) {
		if (tr->zero == 3 && (l == last || !tr->prefetch))
			gather(tr, l);
		if (tr->zero == 3 && tr->prefetch && l > 0)
			gather(tr, l - 1);
		backward_layer(tr, l);
		if (tr->zero == 3)
			discard(tr, l);
		if (tr->zero >= 2)
			scatter_layer(tr, l);
	}
	if (tr->zero >= 2)
		return;
	sum_gradients(f, 0, f->params);
	for (int64_t r = 0; r < f->n && tr->zero == 1; r++)
		hold(f, r, HELD_GRADIENTS, -GRADIENT_BYTES * (f->params - owned_all(f, r)));
	happen(tr, EVENT_REDUCE, -1, (tr->zero == 0 ? 2 : 1) * (f->n - 1) * f->params * GRADIENT_BYTES);
}

/* What lies on the GPUs before a step. */
static void begin(struct trainer *tr)
{
	struct fsdp *f = tr->f;

	memset(f->held, 0, (size_t)(f->n * HELD_COUNT) * sizeof(int64_t));
	for (int64_t r = 0; r < f->n; r++) {
		hold(f, r, HELD_WEIGHTS, WEIGHT_BYTES * (tr->zero == 3 ? owned_all(f, r) : f->params));
		hold(f, r, HELD_OPTIMIZER, OPTIMIZER_BYTES * (tr->zero >= 1 ? owned_all(f, r) : f->params));
	}
}

static void train(struct fsdp *f, int way)
{
	int zero = way < STAGES ? way : 3;
	struct trainer tr = { .f = f, .way = way, .zero = zero, .prefetch = way == WAY_PREFETCH };
	struct outcome *o = &f->outcome[way];

	for (int64_t r = 0; r < f->n; r++)
		memcpy(f->w + r * f->params, f->start, (size_t)f->params * sizeof(double));
	memset(f->m, 0, (size_t)(f->n * f->params) * sizeof(double));
	memset(f->v, 0, (size_t)(f->n * f->params) * sizeof(double));
	for (int64_t i = 0; i < f->iterations; i++) {
		begin(&tr);
		tr.watched = i == 0;
		forward(&tr);
		o->loss = loss(f);
		backward(&tr);
		update(&tr, i);
	}
	for (int64_t r = 0; r < f->n; r++)
		o->state = num_max(o->state,
			f->held[r * HELD_COUNT + HELD_WEIGHTS] + f->held[r * HELD_COUNT + HELD_GRADIENTS] +
				f->held[r * HELD_COUNT + HELD_OPTIMIZER]);
	if (zero == 0)
		memcpy(f->reference, f->w, (size_t)f->params * sizeof(double));
	for (int64_t r = 0; r < (zero == 3 ? 1 : f->n); r++)
		o->difference = lab_max(o->difference, lab_difference(f->w + r * f->params, f->reference, f->params));
}

/* A layer of the real model, sharded over all of its data-parallel ranks: what prefetch has to hide. A forward is timed as one
 * matrix multiply with as many operations. ASSUMPTION. */
static void time_it(const struct scenario *s, struct fsdp *f)
{
	struct links k = comm_links(s);
	struct device d = compute_device(s);
	struct layer_params p = model_layer_params(&s->model, model_layer_is_moe(&s->model, s->model.layers - 1));
	double size = (double)(layer_params_total(&p) - p.experts), tokens = (double)(s->training.seq * s->training.micro_batch);

	f->real_layers = s->model.layers;
	f->gather_s = comm_collective_s(&k, COLLECTIVE_GATHER, (double)s->cluster.gpus, WEIGHT_BYTES * size, 1);
	f->compute_s = compute_known(s)
		? compute_gemm_s(&d, GEMM_16, tokens, (double)s->model.hidden, size / (double)s->model.hidden)
		: (double)NAN;
}

static void conclude(struct lab_run *run, const struct fsdp *f)
{
	static const char *const keys[] = { "zero0", "zero1", "zero2", "zero3", "prefetch" };
	static const char *const same[] = { N_("stage 0: weights on all GPUs are the same"),
		N_("stage 1: same weights as data parallelism"), N_("stage 2: same weights as data parallelism"),
		N_("stage 3: same weights as data parallelism"), N_("stage 3 with prefetch: the same as well") };
	double all = 2 * (double)(f->n - 1) * (double)(f->params * GRADIENT_BYTES), layers = (double)f->real_layers;
	int64_t next = lab_next(run, GPUS);

	for (int way = 0; way < WAYS; way++)
		lab_claim_same(run, keys[way], same[way], f->outcome[way].difference, 0);
	lab_claim_equal(
		run, "sent1", N_("stage 1 sends what data parallelism sends"), LAB_BYTES, (double)f->outcome[1].sent, all);
	lab_claim_equal(run, "sent2", N_("stage 2 as well"), LAB_BYTES, (double)f->outcome[2].sent, all);
	lab_claim_equal(run, "sent3", N_("stage 3 sends 1.5 times as much"), LAB_BYTES, (double)f->outcome[3].sent, 1.5 * all);
	lab_add_fact(run, "params", N_("parameters"), LAB_COUNT, (double)f->params);
	lab_add_fact(
		run, "dp_state", N_("weights, gradients, optimizer without sharding"), LAB_BYTES, (double)f->outcome[0].state);
	lab_add_fact(
		run, "state", N_("the same in this stage, on the fullest GPU"), LAB_BYTES, (double)f->outcome[f->zero].state);
	lab_add_fact(run, "gather_s", N_("a real layer: all-gather over all GPUs"), LAB_SECONDS, f->gather_s);
	lab_add_fact(run, "compute_s", N_("a real layer: forward"), LAB_SECONDS, f->compute_s);
	lab_add_fact(run, "serial_s", N_("real forward, prefetch off"), LAB_SECONDS, layers * (f->gather_s + f->compute_s));
	lab_add_fact(run, "prefetch_s", N_("real forward, prefetch on"), LAB_SECONDS,
		f->gather_s + (layers - 1) * fmax(f->gather_s, f->compute_s) + f->compute_s);
	lab_set_answer(run, N_("bytes of weights, gradients, optimizer on the fullest GPU"), LAB_BYTES,
		(double)f->outcome[f->zero].state);
	lab_ask(run,
		NN_("On %1 GPU, how many bytes of state does it hold in stage %2?",
			"On %1 GPUs, how many bytes of state does each hold in stage %2?"),
		LAB_ARGS(LAB_NUMBER(next), LAB_NUMBER(f->zero)));
	(void)snprintf(run->next, sizeof run->next, "--gpus %" PRId64 " --zero %" PRId64, next, f->zero);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct fsdp *f = state;
	uint64_t seed = lab_seed(&run->input, SEED);

	(void)e;
	lab_fill(f->x, f->batch * f->net.inputs, seed, 1, 1);
	lab_fill(f->t, f->batch * f->net.outputs, seed, 2, 1);
	mlp_init(&f->net, f->start, seed);
	for (int way = 0; way < WAYS; way++)
		train(f, way);
	time_it(run->input.scenario, f);
	run->steps = 1 + f->n_events;
	conclude(run, f);
	return ERR_OK;
}

static const struct lab_column table_columns[] = {
	{ "state", N_("state"), LAB_BYTES },
	{ "peak", N_("peak"), LAB_BYTES },
	{ "sent", N_("sent/GPU"), LAB_BYTES },
	{ "ratio", N_("x dp"), LAB_REAL },
	{ "loss", N_("loss"), LAB_REAL },
	{ "difference", N_("difference"), LAB_REAL },
};
static const struct lab_column held_columns[] = {
	{ "weights", N_("weights"), LAB_BYTES },
	{ "gathered", N_("gathered"), LAB_BYTES },
	{ "gradients", N_("gradients"), LAB_BYTES },
	{ "optimizer", N_("optimizer"), LAB_BYTES },
	{ "activations", N_("activ."), LAB_BYTES },
	{ "sent", N_("sent"), LAB_BYTES },
};

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct fsdp *f = run->state;
	const struct event *ev = &f->events[k - (k > 0)];
	const struct lab_arg at[] = { LAB_NUMBER(f->zero), LAB_NUMBER(k), LAB_NUMBER(f->n_events),
		LAB_TEXT(event_texts[ev->kind]), LAB_NUMBER(ev->layer) };

	if (k == 0) {
		LAB_STEP(out, N_("the stages after the same training steps; fullest GPU"), table_columns, WAYS, true);
		return;
	}
	LAB_STEP(out, "", held_columns, f->n, false);
	lab_title(out, ev->layer < 0 ? N_("stage %1, %2 of %3: %4 all layers") : N_("stage %1, %2 of %3: %4 layer %5"), at);
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct fsdp *f = run->state;
	const struct outcome *o = &f->outcome[k > 0 ? 0 : r];

	if (k > 0) {
		lab_label(out, N_("gpu %1"), LAB_ARGS(LAB_NUMBER(r)));
		for (int c = 0; c < HELD_COUNT; c++)
			out->value[c] = (double)f->log[((k - 1) * f->n + r) * HELD_COUNT + c];
		out->value[HELD_COUNT] = (double)f->events[k - 1].sent / (double)f->n;
		return;
	}
	lab_label(out, r < STAGES ? N_("zero %1") : N_("3, prefetch"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[0] = (double)o->state;
	out->value[1] = (double)o->peak;
	out->value[2] = (double)o->sent / (double)f->n;
	out->value[3] = f->outcome[0].sent > 0 ? (double)o->sent / (double)f->outcome[0].sent : (double)NAN;
	out->value[4] = o->loss;
	out->value[5] = o->difference;
}

static const char lesson[] =
	N_("About 4x, 8x and Nx are the limits for large N at 16 bytes per parameter; at its own 12 bytes they "
	   "are 3x, 6x and Nx, and for small N less. All of them divide the states only: activations stay whole "
	   "on every GPU.");

const struct lab lab_fsdp = { "fsdp", N_("ZeRO and FSDP"), N_("weights, gradients and optimizer states cut over the GPUs"),
	params, PARAMS, NULL, layout, run, step, row, false, lesson, NULL };
