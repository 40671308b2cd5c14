/* lab allreduce: every GPU ends with the sum of all buffers. The numbers are whole, so every order of adding gives the same bits;
 * the steps keep, for every rank and step, the first number of the piece that moved, before and after.
 *
 * Above HELD_NUMBERS the sums are computed for an even sample of the elements (every piece of the ring has some), the bytes for
 * all.
 *
 *   ring            2(n-1) steps, 2(n-1)/n S per rank
 *   tree            2 ceil(log2 n) steps, 2(n-1) S in all
 *   halving         2 log2 p steps on p = 2^k ranks, 2(p-1)/p S per rank; two steps of S more when n is no power of two
 *   hierarchical    2(g-1) + 2(w-1) steps in w nodes of g, 2(n-1)/n S per rank, of which 2(w-1)/n S leave the node */
#include "lab_collective.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GPUS, ELEMENTS, ALGORITHM, PER_NODE, ELEMENT_BYTES, VALUES, SEED, PARAMS };
enum {
	GPUS_MAX = 1024,
	MATRIX_RANKS = 8,
	MATRIX_RANKS_REAL = 7,
	WIDE_RANKS = 6,
	WIDE_RANKS_REAL = 3,
	HELD_NUMBERS = 1 << 22,
	WHOLE_MOST = 9
};

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[GPUS] = { "gpus", N_("virtual GPUs; every step of each is kept, hence the limit"), LAB_PARAM_INT, 1, GPUS_MAX, 4, NULL },
	[ELEMENTS] = { "elements", N_("numbers in the buffer of each GPU"), LAB_PARAM_INT, 1, 1e9, 16, NULL },
	[ALGORITHM] = { "algorithm", N_("whose steps are shown; all are run"), LAB_PARAM_WORD, 0, ALGORITHM_COUNT - 1,
		ALGORITHM_RING,
		collective_algorithm_key },
	[PER_NODE] = { "gpus-per-node", N_("GPUs joined by the fast link"), LAB_PARAM_INT, 1, GPUS_MAX, 2, NULL },
	[ELEMENT_BYTES] = { "element-bytes", N_("bytes of one number on the wire"), LAB_PARAM_INT, 1, 8, 4, NULL },
	[VALUES] = { "values", N_("whole numbers add up exactly, reals round"), LAB_PARAM_WORD, 0, 1, 0, lab_number_word },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

/* What a rank did in a step. */
struct entry {
	int32_t from, chunk; /* from < 0: received nothing */
	int64_t count, sent; /* elements: received now; sent until now */
	double before, after;
	bool add;
};

struct outcome {
	bool possible;
	struct collective_counts counts;
	double difference; /* largest distance from the sum computed element by element */
	bool replicas;     /* all ranks hold the same bits */
};

struct allreduce {
	struct collective_group group;
	enum collective_algorithm chosen;
	bool whole; /* numbers */
	int64_t held, element_bytes, steps;
	double bound;        /* what rounding explains */
	double *state, *sum; /* [rank][held]; [held] */
	int64_t *sent;       /* [rank] */
	struct entry *log;   /* [step][rank] */
	double *matrix;      /* [step][rank][chunk], up to MATRIX_RANKS ranks */
	struct outcome outcome[ALGORITHM_COUNT];
};

static struct collective_group group_of(const struct lab_input *in)
{
	return (struct collective_group){
		.n = lab_int(in, GPUS), .per_node = lab_int(in, PER_NODE), .elements = lab_int(in, ELEMENTS)
	};
}

static enum err_code check(const struct lab_input *in, struct err *e)
{
	struct collective_group g = group_of(in);

	if (!collective_possible((enum collective_algorithm)lab_int(in, ALGORITHM), &g))
		return err_set(e, ERR_ILLEGAL, "gpus-per-node",
			"%" PRId64 " does not divide %" PRId64
			" GPUs, and hierarchical wants whole nodes; legal here: a divisor, such as %" PRId64,
			g.per_node, g.n, num_gcd(g.per_node, g.n));
	return ERR_OK;
}

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct allreduce x = { .group = group_of(in), .chosen = (enum collective_algorithm)lab_int(in, ALGORITHM) };
	struct allreduce *place = lab_take(a, 1, sizeof *place);
	int64_t n = x.group.n;

	x.held = num_min(x.group.elements, num_max(1, HELD_NUMBERS / n));
	x.element_bytes = lab_int(in, ELEMENT_BYTES);
	x.whole = lab_int(in, VALUES) == 0;
	x.steps = collective_algorithms[x.chosen].steps(&x.group);
	x.state = lab_take(a, n * x.held, sizeof(double));
	x.sum = lab_take(a, x.held, sizeof(double));
	x.sent = lab_take(a, n, sizeof(int64_t));
	x.log = lab_take(a, x.steps * n, sizeof(struct entry));
	if (n <= (x.whole ? MATRIX_RANKS : MATRIX_RANKS_REAL))
		x.matrix = lab_take(a, x.steps * n * n, sizeof(double));
	lab_work(work, n * x.held, 2 * ALGORITHM_COUNT, 2);
	lab_work(work, x.steps * n, 16, ALGORITHM_COUNT);
	if (place != NULL)
		*place = x;
	return place;
}

static double number(const struct lab_input *in, int64_t rank, int64_t i)
{
	if (lab_int(in, VALUES) == 0)
		return lab_whole(lab_seed(in, SEED), (uint64_t)rank, (uint64_t)i, WHOLE_MOST);
	return lab_uniform(lab_seed(in, SEED), (uint64_t)rank, (uint64_t)i);
}

static void fill(const struct lab_input *in, struct allreduce *x)
{
	for (int64_t r = 0; r < x->group.n; r++)
		for (int64_t i = 0; i < x->held; i++)
			x->state[r * x->held + i] = number(in, r, i);
}

static void sum_up(struct allreduce *x)
{
	memset(x->sum, 0, (size_t)x->held * sizeof(double));
	for (int64_t r = 0; r < x->group.n; r++)
		for (int64_t i = 0; i < x->held; i++)
			x->sum[i] += x->state[r * x->held + i];
}

/* The first held number of each of the n pieces of a rank, for the picture. */
static void keep_matrix(struct allreduce *x, int64_t step)
{
	int64_t n = x->group.n;

	for (int64_t r = 0; r < n; r++)
		for (int64_t c = 0; c < n; c++) {
			int64_t from = lab_cut(x->group.elements, n, c), to = lab_cut(x->group.elements, n, c + 1), first;
			int64_t end = collective_held(&x->group, x->held, from, to - from, &first);

			x->matrix[(step * n + r) * n + c] = first < end ? x->state[r * x->held + first] : (double)NAN;
		}
}

static void watch(void *ctx, int64_t step, int64_t to, const struct collective_message *m, double before, double after)
{
	struct allreduce *x = ctx;
	struct entry *at = &x->log[step * x->group.n];

	at[to].from = (int32_t)m->from;
	at[to].chunk = (int32_t)m->chunk;
	at[to].count = m->count;
	at[to].before = before;
	at[to].after = after;
	at[to].add = m->add;
	at[m->from].sent += m->count;
	/* Messages come in rank order: the last receiver of a step completes it. */
	if (x->matrix != NULL)
		keep_matrix(x, step);
}

/* Turns what was sent in each step into what was sent until then. */
static void add_up_sent(struct allreduce *x)
{
	for (int64_t k = 1; k < x->steps; k++)
		for (int64_t r = 0; r < x->group.n; r++)
			x->log[k * x->group.n + r].sent += x->log[(k - 1) * x->group.n + r].sent;
}

static void judge(struct allreduce *x, struct outcome *o)
{
	o->replicas = true;
	for (int64_t r = 0; r < x->group.n; r++) {
		const double *mine = x->state + r * x->held;

		o->difference = lab_max(o->difference, lab_difference(mine, x->sum, x->held));
		o->replicas = o->replicas && memcmp(mine, x->state, (size_t)x->held * sizeof(double)) == 0;
	}
}

static void run_all(const struct lab_input *in, struct allreduce *x, const struct links *k)
{
	struct collective_state state = { .v = x->state, .held = x->held };

	for (int64_t i = 0; i < x->steps * x->group.n; i++)
		x->log[i].from = -1;
	for (int a = 0; a < ALGORITHM_COUNT; a++) {
		bool shown = a == (int)x->chosen;

		x->outcome[a].possible = collective_possible((enum collective_algorithm)a, &x->group);
		if (!x->outcome[a].possible)
			continue;
		fill(in, x);
		x->outcome[a].counts = collective_run(
			(enum collective_algorithm)a, &x->group, &state, x->sent, k, x->element_bytes, shown ? watch : NULL, x);
		judge(x, &x->outcome[a]);
	}
	add_up_sent(x);
}

static void conclude(struct lab_run *run, const struct allreduce *x, const struct links *k)
{
	const struct outcome *o = &x->outcome[x->chosen], *ring = &x->outcome[ALGORITHM_RING];
	double n = (double)x->group.n, bytes = (double)(x->group.elements * x->element_bytes), most = 0;
	bool replicas = true;
	int64_t next;

	for (int a = 0; a < ALGORITHM_COUNT; a++) {
		most = lab_max(most, x->outcome[a].difference);
		replicas = replicas && (!x->outcome[a].possible || x->outcome[a].replicas);
	}
	lab_add_fact(run, "buffer_bytes", N_("buffer on each GPU, S"), LAB_BYTES, bytes);
	lab_add_fact(run, "held", N_("elements whose sums are computed"), LAB_COUNT, (double)x->held);
	lab_add_fact(run, "steps", N_("steps"), LAB_COUNT, (double)x->steps);
	lab_add_fact(run, "sent_bytes", N_("sent by one GPU, at most"), LAB_BYTES,
		(double)(o->counts.most_sent_elements * x->element_bytes));
	lab_add_fact(run, "message_s", N_("time, message by message"), LAB_SECONDS, o->counts.seconds);
	lab_add_fact(run, "comm_s", N_("time by the model of the planner"), LAB_SECONDS,
		comm_collective_s(k, COLLECTIVE_ALL_REDUCE, n, bytes, 1));
	lab_claim_same(run, "sum", N_("every algorithm gives the sum"), most, x->bound);
	lab_claim_equal(run, "replicas", N_("every GPU holds the same bits"), LAB_COUNT, replicas, 1);
	lab_claim_equal(run, "ring_bytes", N_("ring, all GPUs: 2(N-1) S"), LAB_BYTES,
		(double)(ring->counts.sent_elements * x->element_bytes), 2 * (n - 1) * bytes);
	lab_claim_equal(run, "ring_steps", N_("ring: 2(N-1) steps"), LAB_COUNT, (double)ring->counts.steps, 2 * (n - 1));
	lab_claim_equal(run, "tree_bytes", N_("tree, all GPUs: 2(N-1) S as well"), LAB_BYTES,
		(double)(x->outcome[ALGORITHM_TREE].counts.sent_elements * x->element_bytes), 2 * (n - 1) * bytes);
	/* Every node receives each number once on the way to the sum, and sends it on once after. */
	if (x->outcome[ALGORITHM_HIERARCHICAL].possible)
		lab_claim_equal(run, "across", N_("hierarchical, between w nodes: 2(w-1) S"), LAB_BYTES,
			(double)(x->outcome[ALGORITHM_HIERARCHICAL].counts.across_elements * x->element_bytes),
			2 * (n / (double)x->group.per_node - 1) * bytes);
	lab_set_answer(run, N_("bytes that the busiest GPU sends"), LAB_BYTES,
		(double)(o->counts.most_sent_elements * x->element_bytes));
	next = lab_next(run, GPUS);
	lab_ask(run,
		NN_("With %1 GPU, how many bytes does the busiest one send?",
			"With %1 GPUs, how many bytes does the busiest one send?"),
		LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(
		run->next, sizeof run->next, "--gpus %" PRId64 " --algorithm %s", next, collective_algorithms[x->chosen].key);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct allreduce *x = state;
	struct links k = comm_links(run->input.scenario);

	(void)e;
	k.domain = x->group.per_node;
	k.mesh = false;
	fill(&run->input, x);
	sum_up(x);
	/* Adding n numbers of at most 1 in two orders: each errs by at most (n - 1) u n. Src: Higham 2002 sec. 4.2. */
	x->bound = x->whole ? 0 : 2 * (double)(x->group.n * x->group.n) * LAB_ROUNDOFF;
	run_all(&run->input, x, &k);
	run->steps = x->steps + 1;
	conclude(run, x, &k);
	return ERR_OK;
}

static const struct lab_column step_columns[] = {
	{ "received", N_("received"), LAB_BYTES },
	{ "sent_total", N_("sent"), LAB_BYTES },
	{ "before", N_("had"), LAB_REAL },
	{ "after", N_("has"), LAB_REAL },
};

static const struct lab_column table_columns[] = {
	{ "steps", N_("steps"), LAB_COUNT },
	{ "sent", N_("one GPU"), LAB_BYTES },
	{ "total", N_("all"), LAB_BYTES },
	{ "across", N_("across"), LAB_BYTES },
	{ "seconds", N_("time"), LAB_SECONDS },
	{ "difference", N_("difference"), LAB_REAL },
};

/* Step 0 is the table of algorithms, step k + 1 is step k of the chosen one. */
static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct allreduce *x = run->state;

	if (k == 0) {
		LAB_STEP(out, N_("the algorithms side by side; bytes sent by the busiest GPU, by all, across nodes"),
			table_columns, ALGORITHM_COUNT, true);
		return;
	}
	LAB_STEP(out, "", step_columns, x->group.n, x->matrix != NULL);
	/* The picture of many ranks shows the sums anyway, and takes their columns. */
	if (x->matrix != NULL && x->group.n > (x->whole ? WIDE_RANKS : WIDE_RANKS_REAL))
		out->n_columns = 2;
	lab_title(out, N_("%1, step %2 of %3"),
		LAB_ARGS(LAB_NAME(collective_algorithms[x->chosen].key), LAB_NUMBER(k), LAB_NUMBER(x->steps)));
}

static void table_row(const struct allreduce *x, int64_t row, struct lab_row *out)
{
	const struct outcome *o = &x->outcome[row];

	(void)snprintf(out->label, sizeof out->label, "%s", collective_algorithms[row].key);
	if (!o->possible) {
		lab_note(out, N_("wants whole nodes of %1"), LAB_ARGS(LAB_NUMBER(x->group.per_node)));
		return;
	}
	out->value[0] = (double)o->counts.steps;
	out->value[1] = (double)(o->counts.most_sent_elements * x->element_bytes);
	out->value[2] = (double)(o->counts.sent_elements * x->element_bytes);
	out->value[3] = (double)(o->counts.across_elements * x->element_bytes);
	out->value[4] = o->counts.seconds;
	out->value[5] = o->difference;
}

/* "adds 2 from 3   1   5  -3   7": the message, then the first number of each piece. */
static void describe(const struct allreduce *x, int64_t k, int64_t rank, struct lab_row *out)
{
	const struct entry *en = &x->log[k * x->group.n + rank];
	char what[40] = "";
	int n;

	if (en->from >= 0)
		(void)lab_say(out->words, what, sizeof what, en->add ? N_("adds %1 from %2") : N_("gets %1 from %2"), NULL,
			LAB_ARGS(LAB_NUMBER(en->chunk), LAB_NUMBER(en->from)));
	n = snprintf(out->text, sizeof out->text, x->matrix != NULL ? "%-13s" : "%s", what);
	for (int64_t c = 0; x->matrix != NULL && c < x->group.n && n >= 0 && (size_t)n < sizeof out->text; c++) {
		double first = x->matrix[(k * x->group.n + rank) * x->group.n + c];
		char digits[8] = "-";

		/* Fewer elements than pieces: some are empty. */
		if (!isnan(first))
			(void)snprintf(digits, sizeof digits, x->whole ? "%.0f" : "%.1f", first);
		n += snprintf(out->text + n, sizeof out->text - (size_t)n, x->whole ? " %3s" : " %4s", digits);
	}
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct allreduce *x = run->state;
	const struct entry *en;

	if (k == 0) {
		table_row(x, r, out);
		return;
	}
	en = &x->log[(k - 1) * x->group.n + r];
	lab_label(out, N_("gpu %1"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[1] = (double)(en->sent * x->element_bytes);
	if (en->from >= 0) {
		out->value[0] = (double)(en->count * x->element_bytes);
		out->value[2] = en->before;
		out->value[3] = en->after;
	}
	describe(x, k - 1, r, out);
}

const struct lab lab_allreduce = { "allreduce", N_("all-reduce"), N_("the sum of all buffers on every GPU, piece by piece"),
	params, PARAMS, check, layout, run, step, row, false, NULL, NULL };
