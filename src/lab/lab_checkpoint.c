/* lab checkpoint: activation checkpointing. A chain of blocks y = x + W2 relu(W1 x); a block leaves behind its input (width
 * numbers) and its inside (ffn numbers). Stored everything, or only the input of every K-th block: then the backward first
 * recomputes the K blocks of a segment.
 *
 *   peak memory     everything: L (w + f);  every K-th: ceil(L/K) w for the kept inputs + (K - 1) w + K f for the largest segment
 *   extra compute   one forward more, of 1 forward + 2 backward: 33.3 %, for any K
 *   best K          about sqrt(L w / (w + f)): kept inputs and one segment in balance (Chen 2016, sec. 3)
 * The same operations in the same order give the same gradients, bit by bit. The curve of the real model comes from
 * plan_evaluate. */
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"
#include "plan.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LAYERS, EVERY, WIDTH, FFN, BATCH, SEED, PARAMS };
enum { LAYERS_MAX = 128, MODEL_ROWS = 12 };

/* Of the gradient against the slope of the loss. */
#define SLOPE_TOLERANCE 1e-3

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[LAYERS] = { "layers", N_("blocks"), LAB_PARAM_INT, 1, LAYERS_MAX, 16, NULL },
	[EVERY] = { "every", N_("K: keep the input of every K-th block; 0: keep everything"), LAB_PARAM_INT, 0,
		LAYERS_MAX, 4, NULL },
	[WIDTH] = { "width", N_("width between the blocks"), LAB_PARAM_INT, 1, 512, 8, NULL },
	[FFN] = { "ffn", N_("width inside a block"), LAB_PARAM_INT, 1, 2048, 16, NULL },
	[BATCH] = { "batch", N_("samples"), LAB_PARAM_INT, 1, 1024, 4, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

enum event_kind { EVENT_FORWARD, EVENT_RECOMPUTE, EVENT_BACKWARD };
static const char *const event_texts[] = { N_("forward of"), N_("recompute"), N_("backward of") };

struct event {
	enum event_kind kind;
	int64_t block, held; /* numbers stored after it */
};

struct outcome {
	int64_t peak, work; /* numbers; forwards of a block, a backward counts 2 */
	double difference;  /* of the gradients against storing everything */
};

/* One setting of the real model. */
struct model_row {
	int64_t every; /* 0: no recompute */
	int64_t activation_bytes, need_bytes;
	double step_s; /* NaN: not known */
	bool legal;
};

struct checkpoint {
	int64_t layers, every, width, ffn, batch, block; /* block: weights of one */
	double *w, *g, *reference, *target;
	double *input, *inside; /* [block][batch][width], [block][batch][ffn]; what is not held is NaN */
	double *y, *dy, *dx, *dh;
	struct event *events;
	bool *kept; /* [event][block][2]: input, inside */
	int64_t n_events, events_max;
	struct outcome *outcome; /* [K], 0 .. layers */
	struct model_row model[MODEL_ROWS];
	int64_t n_model, best;
	double slope_error; /* of the gradient against a central difference, relative */
};

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct checkpoint *place = lab_take(a, 1, sizeof *place),
			  c = { .layers = lab_int(in, LAYERS), .every = lab_int(in, EVERY) };
	int64_t row;

	c.width = lab_int(in, WIDTH);
	c.ffn = lab_int(in, FFN);
	c.batch = lab_int(in, BATCH);
	c.block = 2 * c.width * c.ffn;
	row = c.batch * c.width;
	c.events_max = 3 * c.layers;
	c.w = lab_take(a, c.layers * c.block, sizeof(double));
	c.g = lab_take(a, c.layers * c.block, sizeof(double));
	c.reference = lab_take(a, c.layers * c.block, sizeof(double));
	c.target = lab_take(a, row, sizeof(double));
	c.input = lab_take(a, (c.layers + 1) * row, sizeof(double));
	c.inside = lab_take(a, c.layers * c.batch * c.ffn, sizeof(double));
	c.y = lab_take(a, row, sizeof(double));
	c.dy = lab_take(a, row, sizeof(double));
	c.dx = lab_take(a, row, sizeof(double));
	c.dh = lab_take(a, c.batch * c.ffn, sizeof(double));
	c.events = lab_take(a, c.events_max, sizeof(struct event));
	c.kept = lab_take(a, c.events_max * c.layers * 2, sizeof(bool));
	c.outcome = lab_take(a, c.layers + 1, sizeof(struct outcome));
	lab_work(work, (c.layers + 1) * c.layers, 4 * c.batch, c.block);
	if (place != NULL)
		*place = c;
	return place;
}

static enum err_code check(const struct lab_input *in, struct err *e)
{
	if (lab_int(in, EVERY) > lab_int(in, LAYERS))
		return err_set(e, ERR_ILLEGAL, "every",
			"%" PRId64 " is more than the %" PRId64 " blocks there are; legal here: 0 .. %" PRId64,
			lab_int(in, EVERY), lab_int(in, LAYERS), lab_int(in, LAYERS));
	return ERR_OK;
}

/* One pass with one K. */
struct pass {
	struct checkpoint *c;
	int64_t every, held;
	bool input_held[LAYERS_MAX], inside_held[LAYERS_MAX];
	struct outcome *outcome;
};

static void keep(struct pass *p, bool *flag, int64_t numbers)
{
	p->held += *flag ? 0 : numbers * p->c->batch;
	*flag = true;
	p->outcome->peak = num_max(p->outcome->peak, p->held);
}

/* What is dropped becomes NaN, so that a use would show. */
static void drop(struct pass *p, bool *flag, int64_t numbers, double *v)
{
	p->held -= *flag ? numbers * p->c->batch : 0;
	*flag = false;
	for (int64_t i = 0; i < numbers * p->c->batch; i++)
		v[i] = (double)NAN;
}

static double *input_of(const struct checkpoint *c, int64_t l)
{
	return c->input + l * c->batch * c->width;
}

static double *inside_of(const struct checkpoint *c, int64_t l)
{
	return c->inside + l * c->batch * c->ffn;
}

static void happen(struct pass *p, enum event_kind kind, int64_t block)
{
	struct checkpoint *c = p->c;

	p->outcome->work += kind == EVENT_BACKWARD ? 2 : 1;
	if (p->every != c->every)
		return;
	c->events[c->n_events] = (struct event){ .kind = kind, .block = block, .held = p->held };
	for (int64_t l = 0; l < c->layers; l++) {
		c->kept[(c->n_events * c->layers + l) * 2] = p->input_held[l];
		c->kept[(c->n_events * c->layers + l) * 2 + 1] = p->inside_held[l];
	}
	c->n_events++;
}

/* Fills the block's inside and the next block's input. */
static void compute_block(const struct checkpoint *c, int64_t l)
{
	struct matrix x = matrix_of(input_of(c, l), c->batch, c->width), y = matrix_of(input_of(c, l + 1), c->batch, c->width);
	struct matrix h = matrix_of(inside_of(c, l), c->batch, c->ffn);
	struct matrix w1 = matrix_of(c->w + l * c->block, c->width, c->ffn),
		      w2 = matrix_of(c->w + l * c->block + c->width * c->ffn, c->ffn, c->width);

	matrix_zero(h);
	matrix_multiply_add(h, x, w1);
	for (int64_t i = 0; i < c->batch * c->ffn; i++)
		h.v[i] = h.v[i] > 0 ? h.v[i] : 0;
	matrix_copy(y, x);
	matrix_multiply_add(y, h, w2);
}

/* dy becomes the gradient of the block's input. */
static void backward_block(const struct checkpoint *c, int64_t l)
{
	struct matrix x = matrix_of(input_of(c, l), c->batch, c->width), h = matrix_of(inside_of(c, l), c->batch, c->ffn);
	struct matrix dy = matrix_of(c->dy, c->batch, c->width), dx = matrix_of(c->dx, c->batch, c->width),
		      dh = matrix_of(c->dh, c->batch, c->ffn);
	struct matrix w1 = matrix_of(c->w + l * c->block, c->width, c->ffn),
		      w2 = matrix_of(c->w + l * c->block + c->width * c->ffn, c->ffn, c->width);
	struct matrix g1 = matrix_of(c->g + l * c->block, c->width, c->ffn),
		      g2 = matrix_of(c->g + l * c->block + c->width * c->ffn, c->ffn, c->width);

	matrix_multiply_add(g2, matrix_transposed(h), dy);
	matrix_zero(dh);
	matrix_multiply_add(dh, dy, matrix_transposed(w2));
	for (int64_t i = 0; i < c->batch * c->ffn; i++)
		dh.v[i] = h.v[i] > 0 ? dh.v[i] : 0;
	matrix_multiply_add(g1, matrix_transposed(x), dh);
	matrix_copy(dx, dy);
	matrix_multiply_add(dx, dh, matrix_transposed(w1));
	matrix_copy(dy, dx);
}

static bool is_checkpoint(const struct pass *p, int64_t l)
{
	return p->every == 0 || l % p->every == 0;
}

/* The output of block l becomes the input of block l + 1, which is stored if it must be. */
static void step_block(struct pass *p, int64_t l, bool store, enum event_kind kind)
{
	struct checkpoint *c = p->c;

	compute_block(c, l);
	if (store)
		keep(p, &p->inside_held[l], c->ffn);
	if (l + 1 < c->layers && (store || is_checkpoint(p, l + 1)))
		keep(p, &p->input_held[l + 1], c->width);
	happen(p, kind, l);
}

static void forward(struct pass *p)
{
	struct checkpoint *c = p->c;

	keep(p, &p->input_held[0], c->width);
	for (int64_t l = 0; l < c->layers; l++) {
		step_block(p, l, p->every == 0, EVENT_FORWARD);
		if (p->every == 0)
			continue;
		drop(p, &p->inside_held[l], c->ffn, inside_of(c, l));
		if (!is_checkpoint(p, l))
			drop(p, &p->input_held[l], c->width, input_of(c, l));
	}
}

/* Recomputes blocks from .. to - 1 from the kept input of the first; the input of `to` belongs to the next segment and stays. */
static void recompute(struct pass *p, int64_t from, int64_t to)
{
	struct checkpoint *c = p->c;

	for (int64_t l = from; l < to; l++) {
		bool last = l + 1 == to;

		compute_block(c, l);
		keep(p, &p->inside_held[l], c->ffn);
		if (!last)
			keep(p, &p->input_held[l + 1], c->width);
		happen(p, EVENT_RECOMPUTE, l);
	}
}

static void backward(struct pass *p)
{
	struct checkpoint *c = p->c;
	int64_t segment = p->every == 0 ? c->layers : p->every;

	for (int64_t i = 0; i < c->batch * c->width; i++)
		c->dy[i] = input_of(c, c->layers)[i] - c->target[i];
	for (int64_t from = (c->layers - 1) / segment * segment; from >= 0; from -= segment) {
		int64_t to = num_min(from + segment, c->layers);

		if (p->every > 0)
			recompute(p, from, to);
		for (int64_t l = to - 1; l >= from; l--) {
			backward_block(c, l);
			happen(p, EVENT_BACKWARD, l);
			drop(p, &p->inside_held[l], c->ffn, inside_of(c, l));
			drop(p, &p->input_held[l], c->width, input_of(c, l));
		}
	}
}

static void run_pass(const struct lab_input *in, struct checkpoint *c, int64_t every)
{
	struct pass p = { .c = c, .every = every, .outcome = &c->outcome[every] };

	lab_fill(c->input, c->batch * c->width, lab_seed(in, SEED), 1, 1);
	memset(c->g, 0, (size_t)(c->layers * c->block) * sizeof(double));
	forward(&p);
	backward(&p);
	if (every == 0)
		memcpy(c->reference, c->g, (size_t)(c->layers * c->block) * sizeof(double));
	p.outcome->difference = lab_difference(c->g, c->reference, c->layers * c->block);
}

/* A network whose weights move. */
struct moving {
	const struct lab_input *in;
	struct checkpoint *c;
};

static double loss(void *ctx)
{
	const struct moving *m = ctx;
	const struct checkpoint *c = m->c;
	double sum = 0;

	lab_fill(c->input, c->batch * c->width, lab_seed(m->in, SEED), 1, 1);
	for (int64_t l = 0; l < c->layers; l++)
		compute_block(c, l);
	for (int64_t i = 0; i < c->batch * c->width; i++) {
		double d = input_of(c, c->layers)[i] - c->target[i];

		sum += 0.5 * d * d;
	}
	return sum;
}

static void measure_slope(const struct lab_input *in, struct checkpoint *c)
{
	struct moving m = { in, c };

	c->slope_error = lab_slope_error(&(struct lab_slope){ .v = c->w,
		.gradient = c->reference,
		.n = c->layers * c->block,
		.seed = lab_seed(in, SEED),
		.stream = 4,
		.value = loss,
		.ctx = &m,
		.enough = SLOPE_TOLERANCE });
}

/* Peak by formula, in numbers per sample. The last segment may be shorter, and its checkpoints are all held when it runs. */
static int64_t formula(const struct checkpoint *c, int64_t every)
{
	int64_t most = 0;

	if (every == 0)
		return c->layers * (c->width + c->ffn);
	for (int64_t from = 0; from < c->layers; from += every) {
		int64_t size = num_min(every, c->layers - from);

		most = num_max(most, (from / every + 1) * c->width + (size - 1) * c->width + size * c->ffn);
	}
	return most;
}

/* The model of the scenario with recompute full and every K-th layer kept, K = 1, 2, 3, 4, 6, 8, ...; layout and batch stay. */
static void evaluate_model(const struct scenario *base, struct checkpoint *c)
{
	static const int16_t every[MODEL_ROWS] = { 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20 };

	for (int i = 0; i < MODEL_ROWS; i++) {
		struct scenario s = *base;
		struct plan plan;
		struct model_row *r = &c->model[c->n_model];

		s.training.recompute = every[i] == 0 ? RECOMPUTE_NONE : RECOMPUTE_FULL;
		s.training.recompute_every = num_max(1, every[i]);
		*r = (struct model_row){ .every = every[i], .step_s = (double)NAN };
		if (plan_evaluate(&s, &plan, NULL) != ERR_OK)
			continue;
		r->activation_bytes = plan.worst.category[MEMORY_ACTIVATIONS];
		r->need_bytes = plan.worst.need_bytes;
		r->step_s = plan.step.known ? plan.step.step_s : (double)NAN;
		r->legal = true;
		c->n_model++;
	}
}

static void conclude(struct lab_run *run, const struct checkpoint *c)
{
	const struct outcome *o = &c->outcome[c->every], *all = &c->outcome[0];
	double most = 0, extra = 100 * (double)(o->work - all->work) / (double)all->work;
	int64_t wrong = 0, next = lab_next(run, EVERY);

	for (int64_t k = 0; k <= c->layers; k++) {
		most = lab_max(most, c->outcome[k].difference);
		wrong += c->outcome[k].peak != formula(c, k) * c->batch;
	}
	lab_claim_same(run, "gradient", N_("gradients are the same for every K, bit by bit"), most, 0);
	lab_claim_same(run, "slope", N_("the gradient is the slope of the loss"), c->slope_error, SLOPE_TOLERANCE);
	lab_claim_equal(run, "peak", N_("peak memory follows the formula; exceptions"), LAB_COUNT, (double)wrong, 0);
	if (c->every > 0)
		lab_claim_close(
			run, "extra", N_("extra compute: one forward of three units"), LAB_PERCENT, extra, 100.0 / 3, 1e-9);
	lab_add_fact(run, "all_bytes", N_("activations, everything kept"), LAB_BYTES, (double)all->peak * sizeof(double));
	lab_add_fact(run, "peak_bytes", N_("activations at the peak, this K"), LAB_BYTES, (double)o->peak * sizeof(double));
	lab_add_fact(run, "saved", N_("saved"), LAB_PERCENT, 100 * (1 - (double)o->peak / (double)all->peak));
	lab_add_fact(run, "extra", N_("extra compute"), LAB_PERCENT, extra);
	lab_add_fact(run, "best", N_("best K in the table"), LAB_COUNT, (double)c->best);
	lab_add_fact(run, "root", N_("sqrt(L w / (w + f))"), LAB_REAL,
		sqrt((double)(c->layers * c->width) / (double)(c->width + c->ffn)));
	lab_set_answer(run, N_("bytes of activations at the peak"), LAB_BYTES, (double)o->peak * sizeof(double));
	lab_ask(run, N_("With K = %1, how many bytes of activations at the peak?"), NULL, LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(run->next, sizeof run->next, "--every %" PRId64, next);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct checkpoint *c = state;
	uint64_t seed = lab_seed(&run->input, SEED);

	(void)e;
	lab_fill(c->w, c->layers * c->block, seed, 2, 1 / sqrt((double)num_max(c->width, c->ffn)));
	lab_fill(c->target, c->batch * c->width, seed, 3, 1);
	c->best = 1;
	for (int64_t k = 0; k <= c->layers; k++) {
		run_pass(&run->input, c, k);
		if (k > 0 && c->outcome[k].peak < c->outcome[c->best].peak)
			c->best = k;
	}
	measure_slope(&run->input, c);
	evaluate_model(run->input.scenario, c);
	run->steps = 2 + c->n_events;
	conclude(run, c);
	return ERR_OK;
}

static const struct lab_column curve_columns[] = {
	{ "peak", N_("peak"), LAB_BYTES },
	{ "saved", N_("saved"), LAB_PERCENT },
	{ "extra", N_("extra"), LAB_PERCENT },
	{ "difference", N_("difference"), LAB_REAL },
};
static const struct lab_column model_columns[] = {
	{ "activations", N_("activations"), LAB_BYTES },
	{ "need", N_("needs"), LAB_BYTES },
	{ "step", N_("step"), LAB_SECONDS },
	{ "extra", N_("extra"), LAB_PERCENT },
};
static const struct lab_column event_columns[] = { { "input", N_("input"), LAB_BYTES }, { "inside", N_("inside"), LAB_BYTES } };

/* A model made from a size has no name. */
static void title_model(const struct model *m, struct lab_step *out)
{
	char count[40];

	lab_title(out, N_("the same for %1: worst stage at its peak"),
		LAB_ARGS(LAB_NAME(m->label[0] != '\0' ? m->label : units_format_count(model_params(m), count, sizeof count))));
}

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct checkpoint *c = run->state;
	const struct event *ev;

	if (k == 0) {
		LAB_STEP(out, N_("memory and extra compute over K"), curve_columns, c->layers + 1, true);
		return;
	}
	if (k == 1) {
		LAB_STEP(out, "", model_columns, c->n_model, true);
		title_model(&run->input.scenario->model, out);
		return;
	}
	ev = &c->events[k - 2];
	LAB_STEP(out, "", event_columns, c->layers, false);
	lab_title(out, N_("%1 of %2: %3 block %4; %5 bytes held"),
		LAB_ARGS(LAB_NUMBER(k - 1), LAB_NUMBER(c->n_events), LAB_TEXT(event_texts[ev->kind]), LAB_NUMBER(ev->block),
			LAB_NUMBER(ev->held * (int64_t)sizeof(double))));
}

static void curve_row(const struct checkpoint *c, int64_t k, struct lab_row *out)
{
	const struct outcome *o = &c->outcome[k], *all = &c->outcome[0];

	if (k == 0)
		lab_label(out, N_("keep all"), NULL);
	else
		lab_label(out, N_("K = %1"), LAB_ARGS(LAB_NUMBER(k)));
	out->value[0] = (double)o->peak * sizeof(double);
	out->value[1] = 100 * (1 - (double)o->peak / (double)all->peak);
	out->value[2] = 100 * (double)(o->work - all->work) / (double)all->work;
	out->value[3] = o->difference;
	if (k == c->best)
		lab_note(out, N_("least"), NULL);
}

static void model_row(const struct checkpoint *c, int64_t r, struct lab_row *out)
{
	const struct model_row *m = &c->model[r];

	if (m->every == 0)
		lab_label(out, N_("keep all"), NULL);
	else
		lab_label(out, N_("K = %1"), LAB_ARGS(LAB_NUMBER(m->every)));
	out->value[0] = (double)m->activation_bytes;
	out->value[1] = (double)m->need_bytes;
	out->value[2] = m->step_s;
	out->value[3] = c->model[0].every == 0 ? 100 * (m->step_s / c->model[0].step_s - 1) : (double)NAN;
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct checkpoint *c = run->state;
	const bool *kept;

	if (k == 0) {
		curve_row(c, r, out);
		return;
	}
	if (k == 1) {
		model_row(c, r, out);
		return;
	}
	kept = &c->kept[((k - 2) * c->layers + r) * 2];
	lab_label(out, N_("block %1"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[0] = kept[0] ? (double)(c->batch * c->width) * sizeof(double) : 0;
	out->value[1] = kept[1] ? (double)(c->batch * c->ffn) * sizeof(double) : 0;
	(void)snprintf(out->text, sizeof out->text, "%s", r == c->events[k - 2].block ? "<" : "");
}

static const char lesson[] =
	N_("33 % is one forward of the three that a forward and a backward take, for any K. In the planner it is "
	   "more where the forward that is repeated also communicates, and less with selective recompute.");

const struct lab lab_checkpoint = { "checkpoint", N_("activation checkpointing"),
	N_("keep the input of every K-th block, recompute the rest"), params, PARAMS, check, layout, run, step, row, true, lesson,
	NULL };
