/* lab tp: tensor parallelism. Each part of a transformer layer is computed twice, whole and cut over N GPUs, forward and
 * backward, and the two are compared: output, gradient of the input, gradients of the weights. One function computes a shard; the
 * unsplit layer is the shard that holds everything. Partial sums meet in a real ring all-reduce.
 *
 *   column     Y_i = X W_i; outputs side by side (all-gather). Backward: dX = sum of dY_i W_i' (all-reduce)
 *   row        Y = sum of X_i W_i (all-reduce). Backward: dX_i = dY W_i', nothing to send
 *   mlp        column, ReLU, row: one all-reduce forward, one backward (Megatron-LM, Shoeybi 2019, sec. 3)
 *   attention  heads are independent: Q, K, V by columns, the output matrix by rows; the same two all-reduces
 *   vocab      logits by columns of the head; maximum, sum of exponentials and the target's logit are what is exchanged: 3
 * numbers a token
 *
 * Whole numbers: everything is exact, attention without its softmax; the cross entropy alone has exponentials. Reals: |error| <=
 * 2 K u S with K additions in a chain and S the sum of absolute products (Higham 2002, sec. 3.5), S bounded by sizes times
 * largest entries. */
#include "compute.h"
#include "lab_collective.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "lab_tp_layer.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GPUS, TOKENS, HIDDEN, FFN, HEADS, VOCAB, ELEMENT_BYTES, VALUES, SEED, PARAMS };
enum part { PART_COLUMN, PART_ROW, PART_MLP, PART_ATTENTION, PART_VOCAB, PARTS };
enum { VALUES_WHOLE, VALUES_REAL };
enum { TABLE_PARTS, TABLE_LINKS, TABLES };
enum { VOCAB_NUMBERS = 3, GPUS_MAX = 64, LINK_ROWS = 6 };

/* Of the backward against the slope of the forward, reals. */
#define SLOPE_TOLERANCE 1e-4

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[GPUS] = { "gpus", N_("GPUs that share each matrix"), LAB_PARAM_INT, 1, GPUS_MAX, 4, NULL },
	[TOKENS] = { "tokens", N_("tokens in the batch"), LAB_PARAM_INT, 1, 256, 8, NULL },
	[HIDDEN] = { "hidden", N_("hidden size"), LAB_PARAM_INT, 1, 512, 16, NULL },
	[FFN] = { "ffn", N_("width of the MLP"), LAB_PARAM_INT, 1, 2048, 32, NULL },
	[HEADS] = { "heads", N_("attention heads"), LAB_PARAM_INT, 1, 512, 4, NULL },
	[VOCAB] = { "vocab", N_("vocabulary"), LAB_PARAM_INT, 2, 65536, 48, NULL },
	[ELEMENT_BYTES] = { "element-bytes", N_("bytes of one number on the wire"), LAB_PARAM_INT, 1, 8, 2, NULL },
	[VALUES] = { "values", N_("whole numbers (exact) or reals (rounded)"), LAB_PARAM_WORD, 0, 1, VALUES_WHOLE,
		lab_number_word },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

struct outcome {
	int64_t weights;              /* of the part, unsplit */
	int64_t forward, backward;    /* elements sent by all GPUs */
	double difference, tolerance; /* largest of the three comparisons */
	double slope_error;           /* reals: of dX against a central difference, relative */
};

/* A layer of the real model cut over `tp` GPUs, forward and backward. */
struct real_layer {
	int64_t tp, domains;
	double reduce_s, compute_s; /* its four all-reduces; NaN: the speed of the GPU is not known */
};

struct tp {
	struct tp_layer layer;
	int64_t n, element_bytes;
	double *partial, *dpartial; /* [gpu][tokens][hidden] */
	int64_t *sent;
	struct tp_result one, split;
	struct outcome outcome[PARTS];
	double inside_bps, across_bps;
	struct real_layer real[LINK_ROWS];
};

static enum err_code check(const struct lab_input *in, struct err *e)
{
	int64_t hidden = lab_int(in, HIDDEN), heads = lab_int(in, HEADS);

	if (hidden % heads != 0)
		return err_set(e, ERR_ILLEGAL, "heads",
			"%" PRId64 " heads do not divide hidden %" PRId64 "; legal here: a divisor, such as %" PRId64, heads,
			hidden, num_gcd(heads, hidden));
	return ERR_OK;
}

static int64_t part_weights(const struct tp *t, enum part p)
{
	const int64_t count[PARTS] = {
		[PART_COLUMN] = t->layer.hidden * t->layer.ffn,
		[PART_ROW] = t->layer.ffn * t->layer.hidden,
		[PART_MLP] = 2 * t->layer.hidden * t->layer.ffn,
		[PART_ATTENTION] = 4 * t->layer.hidden * t->layer.hidden,
		[PART_VOCAB] = t->layer.hidden * t->layer.vocab,
	};

	return count[p];
}

static void take_result(struct lab_arena *a, const struct tp *t, int64_t wide, int64_t weights, struct tp_result *r)
{
	r->y.v = lab_take(a, t->layer.tokens * wide, sizeof(double));
	r->dx.v = lab_take(a, t->layer.tokens * wide, sizeof(double));
	r->dw = lab_take(a, weights, sizeof(double));
}

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct tp *place = lab_take(a, 1, sizeof *place), t = { .n = lab_int(in, GPUS), .layer.tokens = lab_int(in, TOKENS) };
	int64_t wide, weights = 0;
	double **const scratch[] = { &t.layer.q, &t.layer.k, &t.layer.v, &t.layer.o, &t.layer.dq, &t.layer.dk, &t.layer.dv,
		&t.layer.dout };

	t.layer.hidden = lab_int(in, HIDDEN);
	t.layer.ffn = lab_int(in, FFN);
	t.layer.heads = lab_int(in, HEADS);
	t.layer.head = t.layer.hidden / t.layer.heads;
	t.layer.vocab = lab_int(in, VOCAB);
	t.element_bytes = lab_int(in, ELEMENT_BYTES);
	t.layer.whole = lab_int(in, VALUES) == VALUES_WHOLE;
	wide = num_max(t.layer.hidden, num_max(t.layer.ffn, t.layer.vocab));
	for (int p = 0; p < PARTS; p++) {
		weights = num_max(weights, part_weights(&t, (enum part)p));
		lab_work(work, (t.layer.whole ? 6 : 15) * t.layer.tokens, part_weights(&t, (enum part)p), 1);
	}
	lab_work(work, (t.layer.whole ? 12 : 30) * t.layer.tokens, t.layer.tokens, t.layer.hidden);
	t.layer.x = lab_take(a, t.layer.tokens * wide, sizeof(double));
	t.layer.a = lab_take(a, t.layer.tokens * wide, sizeof(double));
	t.layer.dy = lab_take(a, t.layer.tokens * wide, sizeof(double));
	t.layer.w = lab_take(a, weights, sizeof(double));
	t.layer.target = lab_take(a, t.layer.tokens, sizeof(int64_t));
	for (size_t i = 0; i < sizeof scratch / sizeof scratch[0]; i++)
		*scratch[i] = lab_take(a, t.layer.tokens * wide, sizeof(double));
	t.layer.score = lab_take(a, t.layer.tokens * t.layer.tokens, sizeof(double));
	t.layer.dscore = lab_take(a, t.layer.tokens * t.layer.tokens, sizeof(double));
	t.partial = lab_take(a, t.n * t.layer.tokens * t.layer.hidden, sizeof(double));
	t.dpartial = lab_take(a, t.n * t.layer.tokens * t.layer.hidden, sizeof(double));
	t.layer.most = lab_take(a, t.layer.tokens, sizeof(double));
	t.layer.sum = lab_take(a, t.layer.tokens, sizeof(double));
	t.sent = lab_take(a, t.n, sizeof(int64_t));
	take_result(a, &t, wide, weights, &t.one);
	take_result(a, &t, wide, weights, &t.split);
	if (place != NULL)
		*place = t;
	return place;
}

static double number(const struct lab_input *in, uint64_t stream, int64_t i)
{
	if (lab_int(in, VALUES) == VALUES_WHOLE)
		return lab_whole(lab_seed(in, SEED), stream, (uint64_t)i, 1);
	return lab_uniform(lab_seed(in, SEED), stream, (uint64_t)i);
}

static void draw(const struct lab_input *in, uint64_t stream, double *v, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = number(in, stream, i);
}

/* How a part is cut, and what its GPUs exchange. */
struct part_info {
	const char *id, *forward, *backward; /* N_(): what each GPU computes */
	const char *claim, *span;            /* N_(); "heads %1 to %2" of a GPU */
	void (*shard)(
		struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r); /* NULL: the three passes of the vocabulary */
	bool sums_y, sums_dx; /* all-reduce of the output; of the gradient of the input */
};

/* clang-format off */
static const struct part_info part_table[PARTS] = {
	[PART_COLUMN] = { "column", N_("Y_i = X W_i, all-gather"), N_("dX = sum of dY_i W_i', all-reduce"),
		N_("column parallel = unsplit, forward and backward"), N_("columns %1 to %2"), tp_column_shard, false, true },
	[PART_ROW] = { "row", N_("Y = sum of X_i W_i, all-reduce"), N_("dX_i = dY W_i', nothing sent"),
		N_("row parallel = unsplit, forward and backward"), N_("rows %1 to %2"), tp_row_shard, true, false },
	[PART_MLP] = { "mlp", N_("column, ReLU, row: one all-reduce"), N_("one all-reduce, of dX"),
		N_("MLP with one all-reduce each way = unsplit"), N_("columns %1 to %2"), tp_mlp_shard, true, true },
	[PART_ATTENTION] = { "attention", N_("own heads, output by rows: one all-reduce"), N_("one all-reduce, of dX"),
		N_("attention cut by heads = unsplit"), N_("heads %1 to %2"), tp_attention_shard, true, true },
	[PART_VOCAB] = { "vocab", N_("own logits; max, sum, target: 3 per token"), N_("own logits' gradient; all-reduce of dX"),
		N_("vocabulary-parallel cross entropy = unsplit"), N_("words %1 to %2"), NULL, false, true },
};
/* clang-format on */

/* Units that a part is cut along. */
static int64_t part_units(const struct tp *t, enum part p)
{
	const int64_t units[PARTS] = { t->layer.ffn, t->layer.ffn, t->layer.ffn, t->layer.heads, t->layer.vocab };

	return units[p];
}

/* Widths of a part's input and output. */
static void part_shape(const struct tp *t, enum part p, int64_t *in, int64_t *out)
{
	*in = p == PART_ROW ? t->layer.ffn : t->layer.hidden;
	*out = p == PART_COLUMN ? t->layer.ffn : p == PART_VOCAB ? t->layer.vocab : t->layer.hidden;
}

static void clear_result(struct tp *t, enum part p, struct tp_result *r)
{
	int64_t in, out;

	part_shape(t, p, &in, &out);
	r->y = matrix_fresh(r->y.v, t->layer.tokens, out);
	r->dx = matrix_fresh(r->dx.v, t->layer.tokens, in);
	memset(r->dw, 0, (size_t)part_weights(t, p) * sizeof(double));
	r->loss = 0;
	for (int64_t i = 0; i < t->layer.tokens; i++) {
		t->layer.most[i] = -(double)INFINITY;
		t->layer.sum[i] = 0;
	}
}

/* One GPU's shard. Sums that other GPUs add to go to its own buffer. */
static void run_shard(struct tp *t, enum part p, int64_t gpu, int64_t gpus, struct tp_result *r,
	void (*shard)(struct tp_layer *, int64_t, int64_t, struct tp_result *))
{
	const struct part_info *info = &part_table[p];
	int64_t units = part_units(t, p), size = t->layer.tokens * t->layer.hidden;
	struct tp_result own = *r;

	if (gpus > 1 && info->sums_y)
		own.y = matrix_of(t->partial + gpu * size, t->layer.tokens, t->layer.hidden);
	if (gpus > 1 && info->sums_dx)
		own.dx = matrix_of(t->dpartial + gpu * size, t->layer.tokens, t->layer.hidden);
	shard(&t->layer, lab_cut(units, gpus, gpu), lab_cut(units, gpus, gpu + 1), &own);
	r->loss = own.loss;
}

static void run_shards(struct tp *t, enum part p, int64_t gpus, struct tp_result *r)
{
	static void (*const passes[])(
		struct tp_layer *, int64_t, int64_t, struct tp_result *) = { tp_vocab_logits, tp_vocab_sums, tp_vocab_backward };

	clear_result(t, p, r);
	memset(t->partial, 0, (size_t)(t->n * t->layer.tokens * t->layer.hidden) * sizeof(double));
	memset(t->dpartial, 0, (size_t)(t->n * t->layer.tokens * t->layer.hidden) * sizeof(double));
	for (int pass = 0; pass < (p == PART_VOCAB ? 3 : 1); pass++)
		for (int64_t gpu = 0; gpu < gpus; gpu++)
			run_shard(t, p, gpu, gpus, r, p == PART_VOCAB ? passes[pass] : part_table[p].shard);
}

/* Ring all-reduce over the GPUs' own buffers; the sum goes to `to`. Returns the elements sent by all. */
static int64_t meet(struct tp *t, double *buffers, struct matrix to)
{
	struct collective_group g = { .n = t->n, .per_node = t->n, .elements = t->layer.tokens * t->layer.hidden };
	struct collective_state state = { .v = buffers, .held = g.elements };
	int64_t sent = collective_run(ALGORITHM_RING, &g, &state, t->sent, NULL, 1, NULL, NULL).sent_elements;

	matrix_copy(to, matrix_of(buffers, t->layer.tokens, t->layer.hidden));
	return sent;
}

/* Largest error that rounding explains: a chain of K additions of terms whose absolute sum is at most S. */
static double tolerance(const struct tp *t, enum part p)
{
	double h = (double)t->layer.hidden, f = (double)t->layer.ffn, v = (double)t->layer.vocab, n = (double)t->layer.tokens,
	       chain = h + f + v + n + (double)t->n;
	const double size[PARTS] = {
		[PART_COLUMN] = h + f + n,
		[PART_ROW] = h + f + n,
		[PART_MLP] = h * f + h * n + f * n,
		/* Probabilities sum to 1; every matrix product multiplies the largest entry by at most its inner dimension. */
		[PART_ATTENTION] = 16 * h * h * h * n,
		[PART_VOCAB] = 16 * h * (v + n),
	};

	if (t->layer.whole && p != PART_VOCAB)
		return 0;
	return 4 * chain * LAB_ROUNDOFF * size[p];
}

/* A part whose input moves. */
struct moving {
	struct tp *t;
	enum part p;
};

/* What the upstream gradient differentiates: <dY, Y>, of the vocabulary the loss. */
static double functional(void *ctx)
{
	const struct moving *m = ctx;
	struct tp *t = m->t;
	double sum = 0;

	/* The row layer reads its input as `a`, the others as `x`. */
	memcpy(t->layer.a, t->layer.x, (size_t)(t->layer.tokens * t->one.dx.cols) * sizeof(double));
	run_shards(t, m->p, 1, &t->split);
	for (int64_t i = 0; i < t->layer.tokens * t->split.y.cols && m->p != PART_VOCAB; i++)
		sum += t->layer.dy[i] * t->split.y.v[i];
	return m->p == PART_VOCAB ? t->split.loss : sum;
}

static double slope_error(const struct lab_input *in, struct tp *t, enum part p)
{
	struct moving m = { t, p };

	return lab_slope_error(&(struct lab_slope){ .v = t->layer.x,
		.gradient = t->one.dx.v,
		.n = t->layer.tokens * t->one.dx.cols,
		.seed = lab_seed(in, SEED),
		.stream = 41,
		.value = functional,
		.ctx = &m,
		.enough = SLOPE_TOLERANCE });
}

static void run_part(const struct lab_input *in, struct tp *t, enum part p)
{
	struct outcome *o = &t->outcome[p];
	int64_t in_width, out_width, weights = part_weights(t, p);

	part_shape(t, p, &in_width, &out_width);
	draw(in, 10 + (uint64_t)p, t->layer.x, t->layer.tokens * in_width);
	memcpy(t->layer.a, t->layer.x, (size_t)(t->layer.tokens * in_width) * sizeof(double));
	draw(in, 20 + (uint64_t)p, t->layer.dy, t->layer.tokens * out_width);
	draw(in, 30 + (uint64_t)p, t->layer.w, weights);
	for (int64_t i = 0; i < t->layer.tokens; i++)
		t->layer.target[i] = (int64_t)(lab_hash(lab_seed(in, SEED), 40, (uint64_t)i) % (uint64_t)t->layer.vocab);
	run_shards(t, p, 1, &t->one);
	if (!t->layer.whole) {
		o->slope_error = slope_error(in, t, p);
		memcpy(t->layer.a, t->layer.x, (size_t)(t->layer.tokens * in_width) * sizeof(double));
		run_shards(t, p, 1, &t->one);
	}
	run_shards(t, p, t->n, &t->split);
	o->weights = weights;
	if (t->n > 1 && part_table[p].sums_y)
		o->forward = meet(t, t->partial, t->split.y);
	else if (p == PART_COLUMN)
		o->forward = (t->n - 1) * t->layer.tokens * t->layer.ffn;
	else if (p == PART_VOCAB)
		o->forward = 2 * (t->n - 1) * t->layer.tokens * VOCAB_NUMBERS;
	if (t->n > 1 && part_table[p].sums_dx)
		o->backward = meet(t, t->dpartial, t->split.dx);
	o->difference = lab_max(matrix_difference(t->one.y, t->split.y), matrix_difference(t->one.dx, t->split.dx));
	o->difference = lab_max(o->difference, lab_difference(t->one.dw, t->split.dw, weights));
	o->difference = lab_max(o->difference, fabs(t->one.loss - t->split.loss));
	o->tolerance = tolerance(t, p);
}

/* A layer of the real model over 1, 2, 4 ... GPUs: one all-reduce of its output in 16 bits for attention and one for the MLP, in
 * the forward and again in the backward, beside the matrix multiplies that are left to each GPU. Those are timed as one of as
 * many operations, three times. ASSUMPTION. */
static void time_it(const struct scenario *s, struct tp *t)
{
	struct links k = comm_links(s);
	struct device d = compute_device(s);
	struct layer_params p = model_layer_params(&s->model, model_layer_is_moe(&s->model, s->model.layers - 1));
	double size = (double)(layer_params_total(&p) - p.experts), hidden = (double)s->model.hidden,
	       tokens = (double)(s->training.seq * s->training.micro_batch);

	for (int i = 0; i < LINK_ROWS; i++) {
		struct real_layer *r = &t->real[i];

		r->tp = INT64_C(1) << i;
		r->domains = num_ceil_div(r->tp, num_max(1, k.domain));
		r->reduce_s = 4 * comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, (double)r->tp, 2 * tokens * hidden, 1);
		r->compute_s = compute_known(s) ? 3 * compute_gemm_s(&d, GEMM_16, tokens, hidden, size / hidden / (double)r->tp)
						: (double)NAN;
	}
	t->inside_bps = s->cluster.gpu.link_bps;
	t->across_bps = s->cluster.node.gpus_per_node > 0
		? (double)s->cluster.node.nics * s->cluster.node.nic_bps / (double)s->cluster.node.gpus_per_node
		: 0;
}

static void conclude(struct lab_run *run, const struct tp *t)
{
	double mlp = (double)((t->outcome[PART_MLP].forward + t->outcome[PART_MLP].backward) * t->element_bytes);
	double vocab = (double)(t->outcome[PART_VOCAB].forward * t->element_bytes), n = (double)t->n;
	double reduce = 2 * (n - 1) * (double)(t->layer.tokens * t->layer.hidden * t->element_bytes);
	double slope = 0;
	int64_t next = lab_next(run, GPUS);

	for (int p = 0; p < PARTS; p++) {
		slope = lab_max(slope, t->outcome[p].slope_error);
		lab_claim_same(run, part_table[p].id, part_table[p].claim, t->outcome[p].difference, t->outcome[p].tolerance);
	}
	if (!t->layer.whole)
		lab_claim_same(run, "slope", N_("the backward is the slope of the forward, every part"), slope, SLOPE_TOLERANCE);
	lab_claim_equal(run, "bytes", N_("MLP, all GPUs: two all-reduces, 2 x 2(N-1) S"), LAB_BYTES, mlp, 2 * reduce);
	lab_add_fact(run, "mlp_bytes", N_("MLP, forward and backward: sent per GPU"), LAB_BYTES, mlp / n);
	lab_add_fact(run, "vocab_bytes", N_("vocabulary, forward: sent per GPU"), LAB_BYTES, vocab / n);
	lab_add_fact(run, "logits_bytes", N_("if the logits were gathered instead"), LAB_BYTES,
		(n - 1) / n * (double)(t->layer.tokens * t->layer.vocab * t->element_bytes));
	lab_add_fact(run, "link_bps", N_("link in the node, per GPU and direction"), LAB_RATE, t->inside_bps);
	lab_add_fact(run, "network_bps", N_("network, per GPU and direction"), LAB_RATE, t->across_bps);
	lab_set_answer(run, N_("bytes sent per GPU by the MLP, both ways"), LAB_BYTES, mlp / n);
	lab_ask(run,
		NN_("On %1 GPU, how many bytes does it send for the MLP, both ways?",
			"On %1 GPUs, how many bytes does each send for the MLP, both ways?"),
		LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(run->next, sizeof run->next, "--gpus %" PRId64, next);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct tp *t = state;

	(void)e;
	for (int p = 0; p < PARTS; p++)
		run_part(&run->input, t, (enum part)p);
	time_it(run->input.scenario, t);
	run->steps = TABLES + 2 * PARTS;
	conclude(run, t);
	return ERR_OK;
}

static const struct lab_column table_columns[] = {
	{ "weights", N_("weights"), LAB_COUNT },
	{ "per_gpu", N_("per GPU"), LAB_COUNT },
	{ "forward", N_("forward"), LAB_BYTES },
	{ "backward", N_("backward"), LAB_BYTES },
	{ "difference", N_("difference"), LAB_REAL },
};
static const struct lab_column link_columns[] = {
	{ "reduce", N_("all-reduces"), LAB_SECONDS },
	{ "compute", N_("compute"), LAB_SECONDS },
	{ "share", N_("sending"), LAB_PERCENT },
};
static const struct lab_column gpu_columns[] = {
	{ "weights", N_("weights"), LAB_COUNT },
	{ "sent", N_("sent"), LAB_BYTES },
};

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct tp *t = run->state;
	const struct part_info *p = &part_table[(k < TABLES ? 0 : k - TABLES) / 2];
	bool forward = (k - TABLES) % 2 == 0;

	if (k == TABLE_PARTS) {
		LAB_STEP(out, N_("the parts of a layer; bytes sent per GPU"), table_columns, PARTS, true);
		return;
	}
	if (k == TABLE_LINKS) {
		LAB_STEP(out, N_("a real layer, forward and backward, without overlap"), link_columns, LINK_ROWS, true);
		return;
	}
	LAB_STEP(out, "", gpu_columns, t->n, false);
	lab_title(out, forward ? N_("%1, forward: %2") : N_("%1, backward: %2"),
		LAB_ARGS(LAB_NAME(p->id), LAB_TEXT(forward ? p->forward : p->backward)));
}

static void table_row(const struct tp *t, int64_t p, struct lab_row *out)
{
	const struct outcome *o = &t->outcome[p];

	(void)snprintf(out->label, sizeof out->label, "%s", part_table[p].id);
	out->value[0] = (double)o->weights;
	out->value[1] = (double)o->weights / (double)t->n;
	out->value[2] = (double)(o->forward * t->element_bytes) / (double)t->n;
	out->value[3] = (double)(o->backward * t->element_bytes) / (double)t->n;
	out->value[4] = o->difference;
}

static void link_row(const struct tp *t, int64_t r, struct lab_row *out)
{
	const struct real_layer *x = &t->real[r];

	lab_label(out, N_("tp %1"), LAB_ARGS(LAB_NUMBER(x->tp)));
	out->value[0] = x->reduce_s;
	out->value[1] = x->compute_s;
	out->value[2] = 100 * x->reduce_s / (x->reduce_s + x->compute_s);
	if (x->domains > 1)
		lab_note(out, N_("over %1 nodes"), LAB_ARGS(LAB_NUMBER(x->domains)));
}

static void part_row(const struct tp *t, int64_t k, int64_t r, struct lab_row *out)
{
	enum part p = (enum part)(k / 2);
	const struct outcome *o = &t->outcome[p];
	int64_t units, from, to;

	units = part_units(t, p);
	from = lab_cut(units, t->n, r);
	to = lab_cut(units, t->n, r + 1);
	lab_label(out, N_("gpu %1"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[0] = (double)(o->weights / units * (to - from));
	out->value[1] = (double)((k % 2 == 0 ? o->forward : o->backward) * t->element_bytes) / (double)t->n;
	if (from < to)
		lab_note(out, part_table[p].span, LAB_ARGS(LAB_NUMBER(from), LAB_NUMBER(to - 1)));
	else
		lab_note(out, N_("nothing: fewer pieces than GPUs"), NULL);
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct tp *t = run->state;

	if (k == TABLE_PARTS)
		table_row(t, r, out);
	else if (k == TABLE_LINKS)
		link_row(t, r, out);
	else
		part_row(t, k - TABLES, r, out);
}

static const char lesson[] =
	N_("Its 900 GB/s of NVLink counts both directions: 450 one way, and that is what a transfer gets; its 50 "
	   "GB/s is one network card of 400 Gbit/s per GPU. Column then row saves the exchange between the two "
	   "layers, not the one after them; the backward has one as well.");

const struct lab lab_tp = { "tp", N_("tensor parallelism"), N_("one layer cut over GPUs, forward and backward"), params, PARAMS,
	check, layout, run, step, row, false, lesson, NULL };
