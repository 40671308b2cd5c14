#include "lab_collective.h"

#include "i18n_mark.h"
#include "lab_internal.h"
#include "num.h"

#include <math.h>
#include <string.h>

static const struct collective_message nothing = { .from = -1 };

/* x mod n for x > -n. */
static int64_t wrap(int64_t x, int64_t n)
{
	return (x + n) % n;
}

/* The piece of a ring of n that position i receives in a step: reduce-scatter for n - 1 steps, then all-gather. */
static int64_t ring_chunk(int64_t n, int64_t step, int64_t i, bool *add)
{
	*add = step < n - 1;
	return *add ? wrap(i - step - 1, n) : wrap(i - (step - (n - 1)), n);
}

static int64_t ring_steps(const struct collective_group *g)
{
	return 2 * (g->n - 1);
}

static struct collective_message ring_receive(const struct collective_group *g, int64_t step, int64_t rank)
{
	struct collective_message m = { .from = wrap(rank - 1, g->n) };

	m.chunk = ring_chunk(g->n, step, rank, &m.add);
	m.first = lab_cut(g->elements, g->n, m.chunk);
	m.count = lab_cut(g->elements, g->n, m.chunk + 1) - m.first;
	return m;
}

static int64_t log2_ceil(int64_t n)
{
	int64_t k = 0;

	while ((INT64_C(1) << k) < n)
		k++;
	return k;
}

static int64_t log2_floor(int64_t n)
{
	int64_t k = 0;

	while ((INT64_C(2) << k) <= n)
		k++;
	return k;
}

static int64_t tree_steps(const struct collective_group *g)
{
	return 2 * log2_ceil(g->n);
}

/* Binomial tree: rank r adds up r + 1, r + 2, r + 4 ... while they are its children; the sums go back the same way. */
static struct collective_message tree_receive(const struct collective_group *g, int64_t step, int64_t rank)
{
	int64_t depth = log2_ceil(g->n);
	bool up = step < depth;
	int64_t d = INT64_C(1) << (up ? step : 2 * depth - 1 - step);
	struct collective_message m = { .first = 0, .count = g->elements, .add = up };

	if (rank % (2 * d) != (up ? 0 : d) || (up && rank + d >= g->n))
		return nothing;
	m.from = up ? rank + d : rank - d;
	return m;
}

/* Recursive halving-doubling works on a power of two; of n ranks the first 2 (n - p) pair up before and after. */
static int64_t halving_steps(const struct collective_group *g)
{
	int64_t k = log2_floor(g->n);

	return 2 * k + ((INT64_C(1) << k) < g->n ? 2 : 0);
}

/* Whole buffer between the pair (2i, 2i + 1), i < rest: added to the even one before, put back into the odd one after. */
static struct collective_message halving_pair(const struct collective_group *g, int64_t rest, int64_t rank, bool before)
{
	if (rank >= 2 * rest || rank % 2 != (before ? 0 : 1))
		return nothing;
	return (struct collective_message){
		.from = before ? rank + 1 : rank - 1, .first = 0, .count = g->elements, .add = before
	};
}

static struct collective_message halving_receive(const struct collective_group *g, int64_t step, int64_t rank)
{
	int64_t k = log2_floor(g->n), p = INT64_C(1) << k, rest = g->n - p, j, d, partner;
	struct collective_message m;

	if (rest > 0 && (step == 0 || step == 2 * k + 1))
		return halving_pair(g, rest, rank, step == 0);
	step -= rest > 0;
	if (rank < 2 * rest && rank % 2 == 1)
		return nothing;
	j = rank < 2 * rest ? rank / 2 : rank - rest;
	m.add = step < k;
	d = m.add ? p >> (step + 1) : INT64_C(1) << (step - k);
	partner = j ^ d;
	m.from = partner < rest ? 2 * partner : partner + rest;
	/* Chunks of p: halving keeps the half that holds chunk j, doubling takes the partner's. */
	m.chunk = (m.add ? j : partner) & ~(d - 1);
	m.first = lab_cut(g->elements, p, m.chunk);
	m.count = lab_cut(g->elements, p, m.chunk + d) - m.first;
	return m;
}

static int64_t hierarchical_steps(const struct collective_group *g)
{
	return 2 * (g->per_node - 1) + 2 * (g->n / g->per_node - 1);
}

/* Reduce-scatter inside the node, ring all-reduce of each rank's piece across nodes, all-gather inside the node. */
static struct collective_message hierarchical_receive(const struct collective_group *g, int64_t step, int64_t rank)
{
	int64_t w = g->per_node, nodes = g->n / w, node = rank / w, i = rank % w, across = 2 * (nodes - 1), from, to, piece;
	struct collective_message m;
	bool inside = step < w - 1 || step >= w - 1 + across;

	if (inside) {
		m.chunk = ring_chunk(w, step < w - 1 ? step : step - across, i, &m.add);
		m.from = node * w + wrap(i - 1, w);
		m.first = lab_cut(g->elements, w, m.chunk);
		m.count = lab_cut(g->elements, w, m.chunk + 1) - m.first;
		return m;
	}
	m.chunk = wrap(i + 1 - w, w);
	m.from = wrap(node - 1, nodes) * w + i;
	from = lab_cut(g->elements, w, m.chunk);
	to = lab_cut(g->elements, w, m.chunk + 1);
	piece = ring_chunk(nodes, step - (w - 1), node, &m.add);
	m.first = from + lab_cut(to - from, nodes, piece);
	m.count = lab_cut(to - from, nodes, piece + 1) - (m.first - from);
	return m;
}

/* clang-format off */
const struct collective_algorithm_info collective_algorithms[ALGORITHM_COUNT] = {
	[ALGORITHM_RING] = { "ring", N_("ring: reduce-scatter, all-gather"), "Patarasuk 2009; NCCL ring", ring_steps,
		ring_receive },
	[ALGORITHM_TREE] = { "tree", N_("binomial tree: reduce, broadcast"), "Thakur 2005 sec. 3", tree_steps, tree_receive },
	[ALGORITHM_HALVING] = { "halving", N_("recursive halving, then doubling"),
		"Rabenseifner 2004; Thakur 2005 sec. 4.5", halving_steps,
		halving_receive },
	[ALGORITHM_HIERARCHICAL] = { "hierarchical", N_("in nodes, across nodes, in nodes"),
		"NCCL; Horovod hierarchical all-reduce",
		hierarchical_steps, hierarchical_receive },
};
/* clang-format on */

const char *collective_algorithm_key(int64_t a)
{
	return a >= 0 && a < ALGORITHM_COUNT ? collective_algorithms[a].key : NULL;
}

bool collective_possible(enum collective_algorithm a, const struct collective_group *g)
{
	return a != ALGORITHM_HIERARCHICAL || g->n % g->per_node == 0;
}

/* Held element i stands for element floor(i elements / held). */
int64_t collective_held(const struct collective_group *g, int64_t held, int64_t from, int64_t count, int64_t *first)
{
	if (held == g->elements) {
		*first = from;
		return from + count;
	}
	*first = num_ceil_div(from * held, g->elements);
	return num_ceil_div((from + count) * held, g->elements);
}

static bool is_across(const struct collective_group *g, int64_t from, int64_t to)
{
	return from / g->per_node != to / g->per_node;
}

/* Latency and bytes over rate of the link that a message takes. ASSUMPTION: its latency is what comm.h charges per rank, or per
 * node hop where it leaves the node. */
static double message_s(const struct collective_group *g, const struct links *k, const struct collective_message *m, int64_t to,
	int64_t element_bytes)
{
	bool across = is_across(g, m->from, to);

	return (across ? k->node_latency_s : k->rank_latency_s) +
		(double)(m->count * element_bytes) / (across ? k->nic_bps : k->rate_bps[COLLECTIVE_ALL_REDUCE]);
}

/* Applies a message; reports the first held element before and after. */
static void apply(const struct collective_group *g, const struct collective_state *state, const struct collective_message *m,
	int64_t to, double *before, double *after)
{
	int64_t first, end = collective_held(g, state->held, m->first, m->count, &first);
	double *mine = state->v + to * state->held;
	const double *theirs = state->v + m->from * state->held;

	*before = first < end ? mine[first] : (double)NAN;
	if (m->add)
		for (int64_t i = first; i < end; i++)
			mine[i] += theirs[i];
	else
		memcpy(mine + first, theirs + first, (size_t)(end - first) * sizeof(double));
	*after = first < end ? mine[first] : (double)NAN;
}

struct collective_counts collective_run(enum collective_algorithm a, const struct collective_group *g,
	const struct collective_state *state, int64_t *sent, const struct links *links, int64_t element_bytes,
	collective_watch *watch, void *ctx)
{
	const struct collective_algorithm_info *info = &collective_algorithms[a];
	struct collective_counts c = { .steps = info->steps(g) };

	memset(sent, 0, (size_t)g->n * sizeof *sent);
	for (int64_t step = 0; step < c.steps; step++) {
		double slowest = 0;

		/* What a rank sends in a step it does not change in that step, so ranks may take turns. */
		for (int64_t to = 0; to < g->n; to++) {
			struct collective_message m = info->receive(g, step, to);
			double before, after;

			if (m.from < 0)
				continue;
			apply(g, state, &m, to, &before, &after);
			sent[m.from] += m.count;
			c.sent_elements += m.count;
			c.across_elements += is_across(g, m.from, to) ? m.count : 0;
			if (links != NULL)
				slowest = fmax(slowest, message_s(g, links, &m, to, element_bytes));
			if (watch != NULL)
				watch(ctx, step, to, &m, before, after);
		}
		c.seconds += slowest;
	}
	for (int64_t r = 0; r < g->n; r++)
		c.most_sent_elements = num_max(c.most_sent_elements, sent[r]);
	return c;
}
