/* lab pp: pipeline parallelism with numbers flowing through it. The executor of the planner (schedule.h) times each schedule;
 * whenever it emits an action, the lab computes it: F runs the layers of a stage on a micro-batch, B their backward, I and W its
 * two halves. Activations and gradients are handed from stage to stage; what is not there yet is NaN, so an order that used it
 * would show.
 *
 * Every schedule must give the gradients of the network on one GPU, |difference| <= 2 (B + m) u B M (as in lab dp, but of sums
 * and not of means: only the order in which micro-batches add up may differ). Stored micro-batches are counted at every tick and
 * compared with the closed form of the schedule where it is exact. A stage that sits on two ranks (DualPipe) has one gradient
 * here: the sum that the two would exchange. */
#include "comm.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"
#include "schedule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RANKS, MICROBATCHES, SCHEDULE, CHUNKS, MICRO_BATCH, WIDTH, LAYERS, FORWARD, BACKWARD, SEED, PARAMS };
enum { TABLE_SCHEDULES, TABLE_BUBBLE, TABLES };
enum { RANKS_MAX = 64, MICROBATCHES_MAX = 512, CHUNKS_MAX = 16 };

/* Numbers of micro-batches of the table of bubbles. */
static const int64_t bubble_m[] = { 1, 2, 4, 8, 16, 32, 64 };
enum { BUBBLE_ROWS = sizeof bubble_m / sizeof bubble_m[0] };

static const char *schedule_word(int64_t i)
{
	return i >= 0 && i < SCHEDULE_COUNT ? schedule_table[i].key : NULL;
}

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[RANKS] = { "pp", N_("virtual GPUs, one behind the other"), LAB_PARAM_INT, 1, RANKS_MAX, 4, NULL },
	[MICROBATCHES] = { "microbatches", N_("micro-batches per step"), LAB_PARAM_INT, 1, MICROBATCHES_MAX, 8, NULL },
	[SCHEDULE] = { "schedule", N_("whose ticks are shown; all are run"), LAB_PARAM_WORD, 0, SCHEDULE_COUNT - 1,
		SCHEDULE_1F1B, schedule_word },
	[CHUNKS] = { "vpp", N_("chunks per GPU of schedules that have them"), LAB_PARAM_INT, 2, CHUNKS_MAX, 2, NULL },
	[MICRO_BATCH] = { "micro-batch", N_("samples in a micro-batch"), LAB_PARAM_INT, 1, 1024, 2, NULL },
	[WIDTH] = { "width", N_("width of every layer"), LAB_PARAM_INT, 1, 512, 8, NULL },
	[LAYERS] = { "layers", N_("layers, cut over the stages"), LAB_PARAM_INT, 1, 256, 8, NULL },
	[FORWARD] = { "forward", N_("ticks of the forward of a stage"), LAB_PARAM_INT, 1, 16, 1, NULL },
	[BACKWARD] = { "backward", N_("ticks of its backward"), LAB_PARAM_INT, 1, 16, 2, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

/* A timed action and how many micro-batches (chunks) its rank stores while it runs. */
struct entry {
	struct timed_action timed;
	int64_t stored;
};

struct outcome {
	bool possible;
	struct schedule_result result;
	int64_t peak;                /* chunks stored at most, on the rank that stores most */
	int64_t wrong_peak;          /* ranks that differ from the closed form, where that is exact */
	int64_t messages, crossings; /* sent; micro-batches times boundaries between ranks */
	double difference;
};

/* The chosen schedule with another number of micro-batches, timed only. */
struct bubble {
	bool possible;
	struct schedule_result result;
	double stored; /* NaN: there is no closed form */
};

struct pp {
	struct mlp net;
	int64_t p, m, size;
	int32_t chosen;
	struct schedule_times times;
	int64_t stride; /* numbers of one micro-batch */
	double *w, *g, *one, *x, *t;
	double *acts, *grads;   /* [micro-batch][stride] */
	int64_t *stored, *peak; /* [rank] */
	void *workspace;
	int64_t most_actions; /* per rank, chosen schedule */
	struct entry *log;    /* [rank][action] */
	struct outcome outcome[SCHEDULE_COUNT];
	struct bubble bubble[BUBBLE_ROWS];
	double magnitude, send_s;
};

static struct pipeline pipeline_of(const struct lab_input *in, int32_t schedule)
{
	return (struct pipeline){ .schedule = schedule,
		.p = lab_int(in, RANKS),
		.m = lab_int(in, MICROBATCHES),
		.v = num_max(schedule_table[schedule].v_min, num_min(lab_int(in, CHUNKS), schedule_table[schedule].v_max)) };
}

/* The chosen schedule with the micro-batches of a row. False: it does not exist. */
static bool bubble_pipeline(const struct lab_input *in, int row, struct pipeline *pl)
{
	*pl = pipeline_of(in, (int32_t)lab_int(in, SCHEDULE));
	pl->m = bubble_m[row];
	return pipeline_check(pl, NULL) == ERR_OK;
}

static enum err_code check(const struct lab_input *in, struct err *e)
{
	struct pipeline pl = pipeline_of(in, (int32_t)lab_int(in, SCHEDULE));

	enum err_code code = pipeline_check(&pl, e);

	/* The planner would change its micro-batch size; here the number of micro-batches is the parameter. */
	if (code != ERR_OK && e != NULL && strcmp(e->where, "micro-batch") == 0)
		(void)snprintf(e->where, sizeof e->where, "microbatches");
	return code;
}

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct pp *place = lab_take(a, 1, sizeof *place), x = { .p = lab_int(in, RANKS), .m = lab_int(in, MICROBATCHES) };
	int64_t width = lab_int(in, WIDTH), workspace = 0, parameters;
	struct pipeline chosen;

	x.net = (struct mlp){ .layers = lab_int(in, LAYERS), .inputs = width, .width = width, .outputs = width };
	x.size = lab_int(in, MICRO_BATCH);
	x.chosen = (int32_t)lab_int(in, SCHEDULE);
	x.times = (struct schedule_times){ .forward = lab_int(in, FORWARD), .backward = lab_int(in, BACKWARD) };
	x.stride = x.size * mlp_activations(&x.net);
	parameters = mlp_params(&x.net);
	chosen = pipeline_of(in, x.chosen);
	for (int64_t r = 0; r < x.p; r++)
		x.most_actions = num_max(x.most_actions, pipeline_count(&chosen, r));
	for (int32_t i = 0; i < SCHEDULE_COUNT; i++) {
		struct pipeline pl = pipeline_of(in, i);

		if (pipeline_check(&pl, NULL) != ERR_OK)
			continue;
		workspace = num_max(workspace, schedule_workspace_bytes(&pl));
		lab_work(work, x.m * x.size, mlp_work(&x.net), 1);
		lab_work(work, 3 * x.p, pl.m * pl.v, 50);
	}
	for (int i = 0; i < BUBBLE_ROWS; i++) {
		struct pipeline pl;

		if (!bubble_pipeline(in, i, &pl))
			continue;
		workspace = num_max(workspace, schedule_workspace_bytes(&pl));
		lab_work(work, 3 * x.p, pl.m * pl.v, 50);
	}
	x.w = lab_take(a, parameters, sizeof(double));
	x.g = lab_take(a, parameters, sizeof(double));
	x.one = lab_take(a, parameters, sizeof(double));
	x.x = lab_take(a, x.m * x.size * width, sizeof(double));
	x.t = lab_take(a, x.m * x.size * width, sizeof(double));
	x.acts = lab_take(a, x.m * x.stride, sizeof(double));
	x.grads = lab_take(a, x.m * x.stride, sizeof(double));
	x.stored = lab_take(a, x.p, sizeof(int64_t));
	x.peak = lab_take(a, x.p, sizeof(int64_t));
	x.workspace = lab_take(a, workspace, 1);
	x.log = lab_take(a, x.p * x.most_actions, sizeof(struct entry));
	if (place != NULL)
		*place = x;
	return place;
}

/* What the executor's callback works on. */
struct flow {
	struct pp *x;
	struct pipeline pl;
	struct outcome *outcome;
	bool shown;
};

static double *at(const struct pp *x, double *v, int64_t micro_batch, int64_t layer)
{
	return v + micro_batch * x->stride + mlp_activation_offset(&x->net, layer, x->size);
}

static int64_t first_layer(const struct flow *f, int64_t stage)
{
	return lab_cut(f->x->net.layers, pipeline_stages(&f->pl), stage);
}

/* The layers of a stage on a micro-batch; the last stage ends with the loss. */
static void forward(struct flow *f, int64_t stage, int64_t i)
{
	struct pp *x = f->x;
	int64_t samples = x->size * x->net.width;

	if (stage == 0)
		memcpy(at(x, x->acts, i, 0), x->x + i * samples, (size_t)samples * sizeof(double));
	for (int64_t l = first_layer(f, stage); l < first_layer(f, stage + 1); l++)
		mlp_layer_forward(
			&x->net, l, x->w + mlp_offset(&x->net, l), at(x, x->acts, i, l), at(x, x->acts, i, l + 1), x->size);
	if (stage == pipeline_stages(&f->pl) - 1)
		(void)mlp_loss(at(x, x->acts, i, x->net.layers), x->t + i * samples, at(x, x->grads, i, x->net.layers), samples);
}

static void backward(struct flow *f, int64_t stage, int64_t i, bool input, bool weight)
{
	struct pp *x = f->x;

	for (int64_t l = first_layer(f, stage + 1) - 1; l >= first_layer(f, stage); l--)
		mlp_layer_backward(&x->net, l, x->w + mlp_offset(&x->net, l), at(x, x->acts, i, l), at(x, x->acts, i, l + 1),
			at(x, x->grads, i, l + 1), input && l > 0 ? at(x, x->grads, i, l) : NULL,
			weight ? x->g + mlp_offset(&x->net, l) : NULL, x->size);
}

static bool releases(enum action_kind kind)
{
	return kind == ACTION_BACKWARD || kind == ACTION_WEIGHT;
}

/* One message if the neighbour is another rank. */
static void send(struct flow *f, const struct timed_action *a, int64_t to)
{
	if (to >= 0 && to < pipeline_stages(&f->pl) && pipeline_rank_of(&f->pl, to, a->action.micro_batch) != a->rank)
		f->outcome->messages++;
}

static void emit(void *ctx, const struct timed_action *a)
{
	struct flow *f = ctx;
	struct pp *x = f->x;
	enum action_kind kind = (enum action_kind)a->action.kind;
	int64_t stage = a->action.stage;

	if (kind == ACTION_FORWARD) {
		forward(f, stage, a->action.micro_batch);
		send(f, a, stage + 1);
		x->stored[a->rank]++;
		x->peak[a->rank] = num_max(x->peak[a->rank], x->stored[a->rank]);
	} else {
		backward(f, stage, a->action.micro_batch, kind != ACTION_WEIGHT, kind != ACTION_INPUT);
		if (kind != ACTION_WEIGHT)
			send(f, a, stage - 1);
	}
	if (f->shown)
		x->log[a->rank * x->most_actions + a->index] = (struct entry){ .timed = *a, .stored = x->stored[a->rank] };
	x->stored[a->rank] -= releases(kind);
}

/* How often a micro-batch passes from one rank to another on its way down. */
static int64_t count_crossings(const struct pipeline *pl)
{
	int64_t n = 0;

	for (int64_t i = 0; i < pl->m; i++)
		for (int64_t s = 0; s + 1 < pipeline_stages(pl); s++)
			n += pipeline_rank_of(pl, s, i) != pipeline_rank_of(pl, s + 1, i);
	return n;
}

static enum err_code run_schedule(const struct lab_input *in, struct pp *x, int32_t schedule, struct err *e)
{
	struct flow f = {
		.x = x, .pl = pipeline_of(in, schedule), .outcome = &x->outcome[schedule], .shown = schedule == x->chosen
	};
	enum err_code code;

	f.outcome->possible = pipeline_check(&f.pl, NULL) == ERR_OK;
	if (!f.outcome->possible)
		return ERR_OK;
	for (int64_t i = 0; i < x->m * x->stride; i++)
		x->acts[i] = x->grads[i] = (double)NAN;
	memset(x->g, 0, (size_t)mlp_params(&x->net) * sizeof(double));
	memset(x->stored, 0, (size_t)x->p * sizeof(int64_t));
	memset(x->peak, 0, (size_t)x->p * sizeof(int64_t));
	f.outcome->crossings = count_crossings(&f.pl);
	code = schedule_run(&f.pl, &x->times, x->workspace, emit, &f, &f.outcome->result, e);
	for (int64_t r = 0; r < x->p; r++) {
		f.outcome->peak = num_max(f.outcome->peak, x->peak[r]);
		f.outcome->wrong_peak += pipeline_is_exact(&f.pl) && x->peak[r] != pipeline_in_flight(&f.pl, r);
	}
	f.outcome->difference = lab_difference(x->g, x->one, mlp_params(&x->net));
	return code;
}

static enum err_code run_bubbles(const struct lab_input *in, struct pp *x, struct err *e)
{
	enum err_code code = ERR_OK;

	for (int i = 0; i < BUBBLE_ROWS && code == ERR_OK; i++) {
		struct bubble *b = &x->bubble[i];
		struct pipeline pl;

		b->possible = bubble_pipeline(in, i, &pl);
		if (!b->possible)
			continue;
		b->stored = pipeline_is_exact(&pl) ? 0 : (double)NAN;
		for (int64_t r = 0; r < x->p; r++)
			if (pipeline_is_exact(&pl))
				b->stored = fmax(b->stored, (double)pipeline_in_flight(&pl, r));
		code = schedule_run(&pl, &x->times, x->workspace, NULL, NULL, &b->result, e);
	}
	return code;
}

/* The network on one GPU, the whole batch at once. */
static void run_one(struct pp *x)
{
	memset(x->one, 0, (size_t)mlp_params(&x->net) * sizeof(double));
	(void)mlp_gradient(&x->net, x->w, x->x, x->t, x->m * x->size, x->acts, x->grads, x->one, &x->magnitude);
}

static void conclude(struct lab_run *run, const struct pp *x)
{
	const struct outcome *o = &x->outcome[x->chosen];
	double most = 0, samples = (double)(x->m * x->size), bytes = (double)(x->size * x->net.width) * sizeof(double);
	int64_t wrong = 0, next = lab_next(run, MICROBATCHES), run_of = 0;

	for (int i = 0; i < SCHEDULE_COUNT; i++) {
		run_of += x->outcome[i].possible;
		wrong += x->outcome[i].wrong_peak;
		most = lab_max(most, x->outcome[i].difference);
	}
	lab_claim_same(run, "gradient", N_("every schedule: gradients of the unsplit network"), most,
		2 * (samples + (double)x->m) * LAB_ROUNDOFF * samples * x->magnitude);
	lab_claim_equal(
		run, "stored", N_("stored micro-batches follow the closed form; exceptions"), LAB_COUNT, (double)wrong, 0);
	lab_claim_equal(run, "messages", N_("messages: one per crossing, down and up"), LAB_COUNT, (double)o->messages,
		2 * (double)o->crossings);
	lab_add_fact(run, "schedules", N_("schedules that this p and m allow"), LAB_COUNT, (double)run_of);
	lab_add_fact(run, "makespan", N_("ticks of a step"), LAB_COUNT, (double)o->result.makespan);
	lab_add_fact(run, "bubble", N_("idle share of the step"), LAB_PERCENT, 100 * o->result.bubble_of_step);
	lab_add_fact(run, "over_busy", N_("idle over busy time: the lesson's (p - 1)/m"), LAB_PERCENT,
		100 * o->result.bubble_over_ideal);
	lab_add_fact(run, "stored", N_("micro-batches stored at most, in chunks"), LAB_COUNT, (double)o->peak);
	lab_add_fact(run, "message_bytes", N_("bytes of a message"), LAB_BYTES, bytes);
	lab_add_fact(run, "send_s", N_("a real model's message to the next node"), LAB_SECONDS, x->send_s);
	lab_set_answer(run, N_("percent of the step that GPUs are idle"), LAB_PERCENT, 100 * o->result.bubble_of_step);
	lab_ask(run,
		NN_("With %1 micro-batch, what percent of the step are GPUs idle?",
			"With %1 micro-batches, what percent of the step are GPUs idle?"),
		LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(
		run->next, sizeof run->next, "--microbatches %" PRId64 " --schedule %s", next, schedule_table[x->chosen].key);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct pp *x = state;
	const struct scenario *s = run->input.scenario;
	struct links k = comm_links(s);
	uint64_t seed = lab_seed(&run->input, SEED);
	enum err_code code = ERR_OK;

	lab_fill(x->x, x->m * x->size * x->net.width, seed, 1, 1);
	lab_fill(x->t, x->m * x->size * x->net.width, seed, 2, 1);
	mlp_init(&x->net, x->w, seed);
	run_one(x);
	/* The chosen one last: what it computed stays to be shown. */
	for (int32_t i = 0; i < SCHEDULE_COUNT && code == ERR_OK; i++)
		if (i != x->chosen)
			code = run_schedule(&run->input, x, i, e);
	if (code == ERR_OK)
		code = run_bubbles(&run->input, x, e);
	if (code == ERR_OK)
		code = run_schedule(&run->input, x, x->chosen, e);
	x->send_s = comm_send_s(&k, 2 * (double)(s->training.seq * s->training.micro_batch * s->model.hidden), true);
	run->steps = TABLES + x->outcome[x->chosen].result.makespan;
	conclude(run, x);
	return code;
}

static const struct lab_column table_columns[] = {
	{ "makespan", N_("ticks"), LAB_COUNT },
	{ "bubble", N_("idle"), LAB_PERCENT },
	{ "stored", N_("stored"), LAB_COUNT },
	{ "messages", N_("messages"), LAB_COUNT },
	{ "difference", N_("difference"), LAB_REAL },
};
static const struct lab_column bubble_columns[] = {
	{ "makespan", N_("ticks"), LAB_COUNT },
	{ "bubble", N_("idle"), LAB_PERCENT },
	{ "over_busy", N_("idle/busy"), LAB_PERCENT },
	{ "stored", N_("stored"), LAB_COUNT },
};
static const struct lab_column tick_columns[] = { { "stored", N_("stored"), LAB_COUNT }, { "value", N_("number 0"), LAB_REAL } };

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct pp *x = run->state;

	if (k == TABLE_SCHEDULES) {
		LAB_STEP(out, "", table_columns, SCHEDULE_COUNT, true);
		lab_title(out, N_("all schedules; where a GPU has %1 chunks, ticks and stored are of chunks"),
			LAB_ARGS(LAB_NUMBER(lab_int(&run->input, CHUNKS))));
		return;
	}
	if (k == TABLE_BUBBLE) {
		LAB_STEP(out, "", bubble_columns, BUBBLE_ROWS, true);
		lab_title(out, N_("%1 with other numbers of micro-batches"), LAB_ARGS(LAB_NAME(schedule_table[x->chosen].key)));
		return;
	}
	k -= TABLES;
	LAB_STEP(out, "", tick_columns, x->p, k == x->p - 1);
	lab_title(out, N_("%1, tick %2 of %3"),
		LAB_ARGS(LAB_NAME(schedule_table[x->chosen].key), LAB_NUMBER(k + 1),
			LAB_NUMBER(x->outcome[x->chosen].result.makespan)));
}

static void table_row(const struct pp *x, int64_t r, struct lab_row *out)
{
	const struct outcome *o = &x->outcome[r];

	(void)snprintf(out->label, sizeof out->label, "%s", schedule_table[r].key);
	if (!o->possible) {
		lab_note(out, N_("not with this p, m and vpp"), NULL);
		return;
	}
	out->value[0] = (double)o->result.makespan;
	out->value[1] = 100 * o->result.bubble_of_step;
	out->value[2] = (double)o->peak;
	out->value[3] = (double)o->messages;
	out->value[4] = o->difference;
}

static void bubble_row(const struct pp *x, int64_t r, struct lab_row *out)
{
	const struct bubble *b = &x->bubble[r];

	lab_label(out, N_("m = %1"), LAB_ARGS(LAB_NUMBER(bubble_m[r])));
	if (!b->possible) {
		lab_note(out, N_("not with this p, m and vpp"), NULL);
		return;
	}
	out->value[0] = (double)b->result.makespan;
	out->value[1] = 100 * b->result.bubble_of_step;
	out->value[2] = 100 * b->result.bubble_over_ideal;
	out->value[3] = b->stored;
}

/* The last action of a rank that has started at a tick; NULL: none has. */
static const struct entry *last_started(const struct pp *x, int64_t rank, int64_t count, int64_t tick)
{
	const struct entry *log = &x->log[rank * x->most_actions];
	int64_t low = 0, high = count;

	while (low < high) {
		int64_t middle = (low + high) / 2;

		if (log[middle].timed.start <= tick)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &log[low - 1] : NULL;
}

/* A number that the action made: of the stage's output, or of the gradient of its input. */
static double made(const struct pp *x, const struct action *a, int64_t stages)
{
	bool forward = a->kind == ACTION_FORWARD;
	int64_t layer = lab_cut(x->net.layers, stages, a->stage + forward);

	if (!forward && layer == 0)
		return (double)NAN;
	return at(x, forward ? x->acts : x->grads, a->micro_batch, layer)[0];
}

/* Appends "F3 stage 0". */
static void describe(const struct action *a, struct lab_row *out)
{
	size_t n = strlen(out->text);
	char name[16];

	(void)snprintf(name, sizeof name, "%c%" PRId32, action_letters[a->kind], a->micro_batch);
	(void)lab_say(out->words, out->text + n, sizeof out->text - n, n > 0 ? N_(", %1 stage %2") : N_("%1 stage %2"), NULL,
		LAB_ARGS(LAB_NAME(name), LAB_NUMBER(a->stage)));
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct pp *x = run->state;
	struct pipeline pl = pipeline_of(&run->input, x->chosen);
	const struct entry *en;

	if (k == TABLE_SCHEDULES) {
		table_row(x, r, out);
		return;
	}
	if (k == TABLE_BUBBLE) {
		bubble_row(x, r, out);
		return;
	}
	k -= TABLES;
	lab_label(out, N_("gpu %1"), LAB_ARGS(LAB_NUMBER(r)));
	en = last_started(x, r, pipeline_count(&pl, r), k);
	if (en == NULL || en->timed.end <= k) {
		out->value[0] = en == NULL ? 0 : (double)(en->stored - releases((enum action_kind)en->timed.action.kind));
		lab_note(out, N_("idle"), NULL);
		return;
	}
	out->value[0] = (double)en->stored;
	out->value[1] = made(x, &en->timed.action, pipeline_stages(&pl));
	/* The backward of an overlapped block comes second; the forward before it runs at the same time. */
	if (en->timed.action.overlap && en->timed.action.kind != ACTION_FORWARD)
		describe(&en[-1].timed.action, out);
	describe(&en->timed.action, out);
}

static const char lesson[] =
	N_("Its (N-1)/M is idle over busy time: 18.75 % for 4 stages and 16 micro-batches; of the step it is "
	   "(N-1)/(M+N-1), 15.8 %. Only with that one does M = 1 give the 75 % it names. 1F1B does not shrink "
	   "the bubble of GPipe, it stores fewer micro-batches; the bubble falls with chunks or a split "
	   "backward.");

const struct lab lab_pp = { "pp", N_("pipeline parallelism"), N_("micro-batches flow through the stages, in every schedule"),
	params, PARAMS, check, layout, run, step, row, false, lesson, NULL };
