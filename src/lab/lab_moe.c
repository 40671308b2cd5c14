/* lab moe: a layer of experts. A router scores every token, the best topk experts take it, an expert takes at most its capacity
 * C = ceil(factor T topk / E) in token order (GShard, Lepikhin 2020, sec. 3.2), the rest is dropped. The layer is computed once
 * on one GPU and once with experts spread over ep ranks: tokens are sent to the ranks of their experts, computed there in
 * batches, sent back and weighted.
 *
 *   all-to-all, one way, balanced      T topk (ep - 1)/ep hidden bytes, over all ranks
 *   experts cut over etp ranks         the input reaches etp - 1 more ranks, the output is summed over them: 2 (etp - 1) hidden
 *                                      per kept choice
 *   imbalance                          largest load / mean load: how much longer the busiest expert takes
 * Cut experts add their parts in another order: |difference| <= 4 (h + f) u S, S bounded by the sizes times the largest entries.
 */
#include "comm.h"
#include "lab_internal.h"
#include "lab_math.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TOKENS, EXPERTS, TOPK, CAPACITY, SKEW, EP, ETP, HIDDEN, FFN, ELEMENT_BYTES, SEED, PARAMS };
enum { TABLE_EXPERTS, TABLE_CAPACITY, TABLE_RANKS, TABLE_SPLITS, TABLES };
enum { EXPERTS_MAX = 512, CAPACITY_FACTOR_MAX = 1000, CAPACITY_ROWS = 6, SPLIT_ROWS = 7 };

/* DeepSeek-V3 (technical report, sec. 4.2): 61 layers, the first 3 dense, hidden 7168, 256 experts of width 2048, 8 per token,
 * 671B in all. */
#define DSV3_MOE_LAYERS 58
#define DSV3_EXPERT_PARAMS (3.0 * 7168 * 2048)
#define DSV3_EXPERTS 256
#define DSV3_TOPK 8
#define DSV3_PARAMS 671e9

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[TOKENS] = { "tokens", N_("tokens, on all GPUs together"), LAB_PARAM_INT, 1, 65536, 64, NULL },
	[EXPERTS] = { "experts", N_("experts"), LAB_PARAM_INT, 1, EXPERTS_MAX, 8, NULL },
	[TOPK] = { "topk", N_("experts per token"), LAB_PARAM_INT, 1, EXPERTS_MAX, 2, NULL },
	[CAPACITY] = { "capacity", N_("capacity factor; 0: no limit, nothing is dropped"), LAB_PARAM_REAL, 0, CAPACITY_FACTOR_MAX, 1.25, NULL },
	[SKEW] = { "skew", N_("how much the router prefers some experts"), LAB_PARAM_REAL, 0, 100, 1, NULL },
	[EP] = { "ep", N_("ranks that share the experts"), LAB_PARAM_INT, 1, EXPERTS_MAX, 4, NULL },
	[ETP] = { "etp", N_("ranks that each expert is cut over"), LAB_PARAM_INT, 1, 64, 1, NULL },
	[HIDDEN] = { "hidden", N_("hidden size"), LAB_PARAM_INT, 1, 512, 8, NULL },
	[FFN] = { "ffn", N_("width of an expert"), LAB_PARAM_INT, 1, 1024, 16, NULL },
	[ELEMENT_BYTES] = { "element-bytes", N_("bytes of one number on the wire"), LAB_PARAM_INT, 1, 8, 2, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* clang-format on */

/* One choice of a token. */
struct choice {
	int32_t expert;
	int32_t slot; /* place in the expert's queue, dropped when at or above the capacity */
	double score, gate;
};

struct expert {
	int64_t load, kept;
};

struct rank {
	int64_t tokens, sent, received, kept; /* choices that leave and arrive; choices computed here */
};

struct capacity_row {
	double factor;
	int64_t capacity, dropped;
};

/* The same number of ranks, shared out otherwise. */
struct split {
	int64_t ep, etp, crossing;
};

struct moe {
	int64_t tokens, experts, topk, capacity, ep, etp, hidden, ffn, element_bytes;
	double *x, *router, *w1, *w2,
		*bias;         /* [token][hidden]; [hidden][expert]; [expert][hidden][ffn]; [expert][ffn][hidden]; [expert] */
	double *scores;        /* [expert] of one token */
	struct choice *choice; /* [token][topk] */
	struct expert *expert;
	struct rank *rank;
	double *one, *spread;       /* [token][hidden]: output */
	double *inbox, *outbox, *h; /* one expert's batch, its outputs, its inside */
	double *back;               /* [token][topk][hidden]: what came back */
	int64_t dropped, crossing, balanced_crossing;
	bool balanced; /* the sizes allow perfect balance */
	double largest, difference;
	struct capacity_row rows[CAPACITY_ROWS];
	struct split splits[SPLIT_ROWS];
	int64_t n_splits;
};

static enum err_code check(const struct lab_input *in, struct err *e)
{
	int64_t experts = lab_int(in, EXPERTS), ep = lab_int(in, EP), ffn = lab_int(in, FFN), etp = lab_int(in, ETP);

	if (lab_int(in, TOPK) > experts)
		return err_set(e, ERR_ILLEGAL, "topk", "%" PRId64 " of %" PRId64 " experts: legal here: 1 .. %" PRId64,
			lab_int(in, TOPK), experts, experts);
	if (experts % ep != 0)
		return err_set(e, ERR_ILLEGAL, "ep",
			"%" PRId64 " ranks do not divide %" PRId64 " experts; legal here: a divisor, such as %" PRId64, ep,
			experts, num_gcd(ep, experts));
	if (ffn % etp != 0)
		return err_set(e, ERR_ILLEGAL, "etp",
			"%" PRId64 " ranks do not divide ffn %" PRId64 "; legal here: a divisor, such as %" PRId64, etp, ffn,
			num_gcd(etp, ffn));
	return ERR_OK;
}

/* ceil(factor T topk / E); factor 0: all tokens. A token chooses an expert at most once. */
static int64_t capacity_of(const struct moe *m, double factor)
{
	double even = (double)(m->tokens * m->topk) / (double)m->experts;

	return factor > 0 ? (int64_t)fmin(ceil(factor * even), (double)m->tokens) : m->tokens;
}

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct moe *place = lab_take(a, 1, sizeof *place), m = { .tokens = lab_int(in, TOKENS), .experts = lab_int(in, EXPERTS) };

	m.topk = lab_int(in, TOPK);
	m.ep = lab_int(in, EP);
	m.etp = lab_int(in, ETP);
	m.hidden = lab_int(in, HIDDEN);
	m.ffn = lab_int(in, FFN);
	m.element_bytes = lab_int(in, ELEMENT_BYTES);
	m.capacity = capacity_of(&m, in->value[CAPACITY]);
	m.x = lab_take(a, m.tokens * m.hidden, sizeof(double));
	m.router = lab_take(a, m.hidden * m.experts, sizeof(double));
	m.w1 = lab_take(a, m.experts * m.hidden * m.ffn, sizeof(double));
	m.w2 = lab_take(a, m.experts * m.hidden * m.ffn, sizeof(double));
	m.bias = lab_take(a, m.experts, sizeof(double));
	m.scores = lab_take(a, m.experts, sizeof(double));
	m.choice = lab_take(a, m.tokens * m.topk, sizeof(struct choice));
	m.expert = lab_take(a, m.experts, sizeof(struct expert));
	m.rank = lab_take(a, m.ep, sizeof(struct rank));
	m.one = lab_take(a, m.tokens * m.hidden, sizeof(double));
	m.spread = lab_take(a, m.tokens * m.hidden, sizeof(double));
	m.inbox = lab_take(a, m.tokens * m.hidden, sizeof(double));
	m.outbox = lab_take(a, m.tokens * m.hidden, sizeof(double));
	m.h = lab_take(a, m.tokens * m.ffn, sizeof(double));
	m.back = lab_take(a, m.tokens * m.topk * m.hidden, sizeof(double));
	lab_work(work, m.tokens, m.experts, m.hidden + 4 * m.topk);
	lab_work(work, 4 * m.tokens * m.topk, m.hidden, m.ffn);
	lab_work(work, m.tokens * m.topk, m.experts + 4 * SPLIT_ROWS, 1);
	if (place != NULL)
		*place = m;
	return place;
}

static bool chosen(const struct choice *c, int64_t n, int64_t expert)
{
	for (int64_t i = 0; i < n; i++)
		if (c[i].expert == expert)
			return true;
	return false;
}

/* The topk best experts of a token, best first, of equals the first; gates: softmax over the chosen. */
static void route(struct moe *m, int64_t token)
{
	struct choice *c = &m->choice[token * m->topk];
	struct matrix scores = matrix_of(m->scores, 1, m->experts);
	double sum = 0;

	memcpy(m->scores, m->bias, (size_t)m->experts * sizeof(double));
	matrix_multiply_add(
		scores, matrix_of(m->x + token * m->hidden, 1, m->hidden), matrix_of(m->router, m->hidden, m->experts));
	for (int64_t i = 0; i < m->topk; i++) {
		c[i] = (struct choice){ .expert = -1 };
		for (int64_t ex = 0; ex < m->experts; ex++)
			if (!chosen(c, i, ex) && (c[i].expert < 0 || m->scores[ex] > c[i].score)) {
				c[i].expert = (int32_t)ex;
				c[i].score = m->scores[ex];
			}
	}
	for (int64_t i = 0; i < m->topk; i++)
		sum += exp(c[i].score - c[0].score);
	for (int64_t i = 0; i < m->topk; i++)
		c[i].gate = exp(c[i].score - c[0].score) / sum;
}

/* With tokens and experts spread over `ep` ranks. */
static int64_t home_of(const struct moe *m, int64_t ep, int64_t token)
{
	int64_t q = m->tokens / ep, rest = m->tokens % ep, wide = rest * (q + 1);

	return token < wide ? token / (q + 1) : rest + (token - wide) / q;
}

static int64_t rank_of_token(const struct moe *m, int64_t token)
{
	return home_of(m, m->ep, token);
}

static int64_t rank_of_expert(const struct moe *m, int64_t expert)
{
	return expert / (m->experts / m->ep);
}

static bool kept(const struct moe *m, const struct choice *c)
{
	return c->slot < m->capacity;
}

/* Queues in token order; what leaves its rank is counted. */
static void dispatch(struct moe *m)
{
	for (int64_t t = 0; t < m->tokens; t++) {
		struct rank *home = &m->rank[rank_of_token(m, t)];

		home->tokens++;
		for (int64_t i = 0; i < m->topk; i++) {
			struct choice *c = &m->choice[t * m->topk + i];
			struct rank *there = &m->rank[rank_of_expert(m, c->expert)];

			c->slot = (int32_t)m->expert[c->expert].load++;
			if (!kept(m, c)) {
				m->dropped++;
				continue;
			}
			m->expert[c->expert].kept++;
			there->kept++;
			if (there != home) {
				home->sent++;
				there->received++;
				m->crossing++;
			}
		}
	}
}

/* Rows of out += relu(x W1) W2 for the columns from .. to of W1 and rows of W2. */
static void run_expert(struct moe *m, int64_t expert, const double *x, double *out, int64_t rows, int64_t from, int64_t to)
{
	struct matrix in = { .rows = rows, .cols = m->hidden, .row = m->hidden, .col = 1 };
	struct matrix h = matrix_of(m->h, rows, to - from);
	struct matrix w1 = matrix_columns(matrix_of(m->w1 + expert * m->hidden * m->ffn, m->hidden, m->ffn), from, to);
	struct matrix w2 = matrix_rows(matrix_of(m->w2 + expert * m->hidden * m->ffn, m->ffn, m->hidden), from, to);

	memcpy(m->inbox, x, (size_t)(rows * m->hidden) * sizeof(double));
	in.v = m->inbox;
	matrix_zero(h);
	matrix_multiply_add(h, in, w1);
	for (int64_t i = 0; i < rows * (to - from); i++)
		h.v[i] = h.v[i] > 0 ? h.v[i] : 0;
	matrix_multiply_add(matrix_of(out, rows, m->hidden), h, w2);
}

static void combine(const struct moe *m, double *out, const struct choice *c, const double *y)
{
	for (int64_t j = 0; j < m->hidden; j++)
		out[j] += c->gate * y[j];
}

/* One GPU: token after token. */
static void run_one(struct moe *m)
{
	for (int64_t t = 0; t < m->tokens; t++)
		for (int64_t i = 0; i < m->topk; i++) {
			const struct choice *c = &m->choice[t * m->topk + i];

			if (!kept(m, c))
				continue;
			memset(m->outbox, 0, (size_t)m->hidden * sizeof(double));
			run_expert(m, c->expert, m->x + t * m->hidden, m->outbox, 1, 0, m->ffn);
			combine(m, m->one + t * m->hidden, c, m->outbox);
		}
}

/* The batch of one expert: gathered from all ranks, computed in etp pieces whose outputs are summed, sent back. */
static void run_batch(struct moe *m, int64_t expert)
{
	double *in = m->spread; /* not used as output yet */
	int64_t rows = 0;

	for (int64_t i = 0; i < m->tokens * m->topk; i++)
		if (m->choice[i].expert == expert && kept(m, &m->choice[i]))
			memcpy(in + rows++ * m->hidden, m->x + i / m->topk * m->hidden, (size_t)m->hidden * sizeof(double));
	memset(m->outbox, 0, (size_t)(rows * m->hidden) * sizeof(double));
	for (int64_t part = 0; part < m->etp; part++)
		run_expert(m, expert, in, m->outbox, rows, lab_cut(m->ffn, m->etp, part), lab_cut(m->ffn, m->etp, part + 1));
	rows = 0;
	for (int64_t i = 0; i < m->tokens * m->topk; i++)
		if (m->choice[i].expert == expert && kept(m, &m->choice[i]))
			memcpy(m->back + i * m->hidden, m->outbox + rows++ * m->hidden, (size_t)m->hidden * sizeof(double));
}

static void run_spread(struct moe *m)
{
	for (int64_t ex = 0; ex < m->experts; ex++)
		run_batch(m, ex);
	memset(m->spread, 0, (size_t)(m->tokens * m->hidden) * sizeof(double));
	for (int64_t i = 0; i < m->tokens * m->topk; i++)
		if (kept(m, &m->choice[i]))
			combine(m, m->spread + i / m->topk * m->hidden, &m->choice[i], m->back + i * m->hidden);
}

/* A router in perfect balance: choice i goes to expert i mod E. Counts what crosses. */
static void count_balanced(struct moe *m)
{
	int64_t per_rank = m->tokens / m->ep * m->topk;

	m->balanced = m->tokens % m->ep == 0 && per_rank % m->experts == 0;
	for (int64_t i = 0; i < m->tokens * m->topk; i++)
		m->balanced_crossing += rank_of_token(m, i / m->topk) != rank_of_expert(m, i % m->experts);
}

/* ep times etp ranks, etp = 1, 2, 4 ...: fewer choices leave their rank, more is exchanged inside an expert. */
static void try_splits(struct moe *m)
{
	for (int64_t etp = 1, ranks = m->ep * m->etp; etp <= ranks && m->n_splits < SPLIT_ROWS; etp *= 2) {
		struct split *p = &m->splits[m->n_splits];

		if (ranks % etp != 0 || m->ffn % etp != 0 || m->experts % (ranks / etp) != 0)
			continue;
		*p = (struct split){ .ep = ranks / etp, .etp = etp };
		for (int64_t i = 0; i < m->tokens * m->topk; i++)
			p->crossing += kept(m, &m->choice[i]) &&
				home_of(m, p->ep, i / m->topk) != m->choice[i].expert / (m->experts / p->ep);
		m->n_splits++;
	}
}

static void try_capacities(struct moe *m)
{
	static const double factors[CAPACITY_ROWS] = { 1, 1.25, 1.5, 2, 4, 0 };

	for (int i = 0; i < CAPACITY_ROWS; i++) {
		struct capacity_row *r = &m->rows[i];

		r->factor = factors[i];
		r->capacity = capacity_of(m, factors[i]);
		for (int64_t ex = 0; ex < m->experts; ex++)
			r->dropped += num_max(0, m->expert[ex].load - r->capacity);
	}
}

/* Inputs to the other ranks of a cut expert, and their parts of the outputs summed. */
static double inside_bytes(const struct moe *m, int64_t etp)
{
	return (double)(2 * (m->tokens * m->topk - m->dropped) * (etp - 1) * m->hidden * m->element_bytes);
}

static double imbalance(const struct moe *m)
{
	int64_t most = 0;

	for (int64_t ex = 0; ex < m->experts; ex++)
		most = num_max(most, m->expert[ex].load);
	return (double)most * (double)m->experts / (double)(m->tokens * m->topk);
}

/* Total and active parameters: the scenario's model if it has experts, else the lesson's example. */
static void add_model_facts(struct lab_run *run)
{
	const struct scenario *s = run->input.scenario;
	double routed = DSV3_MOE_LAYERS * DSV3_EXPERT_PARAMS;

	if (model_is_moe(&s->model)) {
		lab_add_fact(run, "total", N_("this model: parameters"), LAB_COUNT, (double)model_params(&s->model));
		lab_add_fact(
			run, "active", N_("this model: active per token"), LAB_COUNT, (double)model_active_params(&s->model));
		return;
	}
	lab_add_fact(run, "total", N_("DeepSeek-V3: parameters"), LAB_COUNT, DSV3_PARAMS);
	lab_add_fact(run, "routed", N_("in routed experts: 58 x 256 x 3 x 7168 x 2048"), LAB_COUNT, DSV3_EXPERTS * routed);
	lab_add_fact(run, "active", N_("active per token: 8 of 256 experts"), LAB_COUNT,
		DSV3_PARAMS - (DSV3_EXPERTS - DSV3_TOPK) * routed);
}

/* Room for more where something was dropped, else for less; 0 has no limit. */
static double next_factor(double factor, bool dropped)
{
	const double more = factor < CAPACITY_FACTOR_MAX / 2 ? 2 * factor : CAPACITY_FACTOR_MAX / 2;

	return factor < 0.01 ? 1 : dropped ? more : factor / 2;
}

static void conclude(struct lab_run *run, const struct moe *m)
{
	struct links k = comm_links(run->input.scenario);
	double token = (double)(m->hidden * m->element_bytes), all = (double)(m->tokens * m->topk),
	       dropped = 100 * (double)m->dropped / all;
	int64_t sum = 0;
	char factor[32];

	for (int64_t ex = 0; ex < m->experts; ex++)
		sum += m->expert[ex].load;
	lab_claim_same(run, "output", N_("experts on many ranks = experts on one"), m->difference,
		m->etp == 1 ? 0 : 4 * (double)(m->hidden + m->ffn) * LAB_ROUNDOFF * (double)(m->hidden * m->ffn) * m->largest);
	lab_claim_equal(run, "choices", N_("every choice is kept or dropped: T topk"), LAB_COUNT, (double)sum, all);
	if (m->balanced)
		lab_claim_equal(run, "balanced", N_("balanced all-to-all: T topk (ep - 1)/ep hidden"), LAB_BYTES,
			(double)m->balanced_crossing * token, all * (double)(m->ep - 1) / (double)m->ep * token);
	lab_add_fact(run, "capacity", N_("capacity of an expert, choices"), LAB_COUNT, (double)m->capacity);
	lab_add_fact(run, "dropped", N_("choices dropped"), LAB_PERCENT, dropped);
	lab_add_fact(run, "imbalance", N_("load of the busiest expert over the mean"), LAB_REAL, imbalance(m));
	lab_add_fact(run, "dispatch_bytes", N_("all-to-all, one way, all ranks"), LAB_BYTES, (double)m->crossing * token);
	lab_add_fact(run, "balanced_bytes", N_("the same in perfect balance"), LAB_BYTES, (double)m->balanced_crossing * token);
	lab_add_fact(run, "etp_bytes", N_("exchanged inside cut experts"), LAB_BYTES, inside_bytes(m, m->etp));
	lab_add_fact(run, "dispatch_s", N_("time of a balanced all-to-all, one way"), LAB_SECONDS,
		comm_dispatch_s(&k, (double)m->tokens / (double)m->ep * token, (double)m->topk, (double)m->ep, m->etp, false, 0));
	add_model_facts(run);
	lab_set_answer(run, N_("percent of the choices that are dropped"), LAB_PERCENT, dropped);
	(void)snprintf(factor, sizeof factor, "%.4g", next_factor(run->input.value[CAPACITY], m->dropped > 0));
	lab_ask(run, N_("With a capacity factor of %1, what percent of the choices are dropped?"), NULL,
		LAB_ARGS(LAB_NAME(factor)));
	(void)snprintf(run->next, sizeof run->next, "--capacity %s", factor);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct moe *m = state;
	uint64_t seed = lab_seed(&run->input, SEED);
	int64_t weights = m->experts * m->hidden * m->ffn;

	(void)e;
	lab_fill(m->x, m->tokens * m->hidden, seed, 1, 1);
	lab_fill(m->router, m->hidden * m->experts, seed, 2, 1);
	lab_fill(m->w1, weights, seed, 3, 1);
	lab_fill(m->w2, weights, seed, 4, 1);
	lab_fill(m->bias, m->experts, seed, 5, run->input.value[SKEW]);
	/* Inputs and weights are below 1, gates sum to 1. */
	m->largest = 1;
	for (int64_t t = 0; t < m->tokens; t++)
		route(m, t);
	dispatch(m);
	run_one(m);
	run_spread(m);
	m->difference = lab_difference(m->one, m->spread, m->tokens * m->hidden);
	count_balanced(m);
	try_capacities(m);
	try_splits(m);
	run->steps = TABLES + m->tokens;
	conclude(run, m);
	return ERR_OK;
}

static const struct lab_column expert_columns[] = {
	{ "rank", N_("rank"), LAB_COUNT },
	{ "load", N_("chosen"), LAB_COUNT },
	{ "kept", N_("kept"), LAB_COUNT },
	{ "dropped", N_("dropped"), LAB_COUNT },
};
static const struct lab_column capacity_columns[] = {
	{ "capacity", N_("capacity"), LAB_COUNT },
	{ "dropped", N_("dropped"), LAB_PERCENT },
	{ "empty", N_("empty slots"), LAB_PERCENT },
};
static const struct lab_column rank_columns[] = {
	{ "tokens", N_("tokens"), LAB_COUNT },
	{ "sent", N_("sent"), LAB_BYTES },
	{ "received", N_("received"), LAB_BYTES },
	{ "kept", N_("computes"), LAB_COUNT },
};
static const struct lab_column split_columns[] = {
	{ "dispatch", N_("all-to-all, both ways"), LAB_BYTES },
	{ "inside", N_("inside experts"), LAB_BYTES },
	{ "total", N_("together"), LAB_BYTES },
};
static const struct lab_column choice_columns[] = {
	{ "expert", N_("expert"), LAB_COUNT },
	{ "rank", N_("rank"), LAB_COUNT },
	{ "score", N_("score"), LAB_REAL },
	{ "gate", N_("gate"), LAB_REAL },
	{ "slot", N_("slot"), LAB_COUNT },
};

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct moe *m = run->state;

	switch (k) {
	case TABLE_EXPERTS:
		LAB_STEP(out, N_("load of the experts"), expert_columns, m->experts, true);
		break;
	case TABLE_CAPACITY:
		LAB_STEP(out, N_("the same choices with other capacity factors"), capacity_columns, CAPACITY_ROWS, true);
		break;
	case TABLE_RANKS:
		LAB_STEP(
			out, N_("all-to-all to the ranks of the experts; the way back moves as much"), rank_columns, m->ep, true);
		break;
	case TABLE_SPLITS:
		LAB_STEP(out, N_("the same ranks as ep x etp: bytes sent by all"), split_columns, m->n_splits, true);
		break;
	default:
		LAB_STEP(out, "", choice_columns, m->topk, false);
		lab_title(out, N_("token %1 on rank %2"),
			LAB_ARGS(LAB_NUMBER(k - TABLES), LAB_NUMBER(rank_of_token(m, k - TABLES))));
	}
}

static void expert_row(const struct moe *m, int64_t r, struct lab_row *out)
{
	const struct expert *ex = &m->expert[r];
	int64_t bar = ex->load * 30 / num_max(1, m->tokens);

	lab_label(out, N_("expert %1"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[0] = (double)rank_of_expert(m, r);
	out->value[1] = (double)ex->load;
	out->value[2] = (double)ex->kept;
	out->value[3] = (double)(ex->load - ex->kept);
	for (int64_t i = 0; i < bar; i++)
		out->text[i] = i < ex->kept * 30 / num_max(1, m->tokens) ? '#' : '!';
}

static void capacity_row(const struct moe *m, int64_t r, struct lab_row *out)
{
	const struct capacity_row *c = &m->rows[r];
	int64_t all = m->tokens * m->topk, slots = c->capacity * m->experts;

	if (c->factor > 0)
		(void)snprintf(out->label, sizeof out->label, "%.4g", c->factor);
	else
		lab_label(out, N_("no limit"), NULL);
	out->value[0] = (double)c->capacity;
	out->value[1] = 100 * (double)c->dropped / (double)all;
	out->value[2] = c->factor > 0 ? 100 * (1 - (double)(all - c->dropped) / (double)slots) : (double)NAN;
}

static void rank_row(const struct moe *m, int64_t r, struct lab_row *out)
{
	double token = (double)(m->hidden * m->element_bytes);

	lab_label(out, N_("rank %1"), LAB_ARGS(LAB_NUMBER(r)));
	out->value[0] = (double)m->rank[r].tokens;
	out->value[1] = (double)m->rank[r].sent * token;
	out->value[2] = (double)m->rank[r].received * token;
	out->value[3] = (double)m->rank[r].kept;
}

static void split_row(const struct moe *m, int64_t r, struct lab_row *out)
{
	const struct split *p = &m->splits[r];

	lab_label(out, N_("ep %1, etp %2"), LAB_ARGS(LAB_NUMBER(p->ep), LAB_NUMBER(p->etp)));
	out->value[0] = (double)(2 * p->crossing * m->hidden * m->element_bytes);
	out->value[1] = inside_bytes(m, p->etp);
	out->value[2] = out->value[0] + out->value[1];
}

static void choice_row(const struct moe *m, int64_t token, int64_t r, struct lab_row *out)
{
	const struct choice *c = &m->choice[token * m->topk + r];

	lab_label(out, N_("choice %1"), LAB_ARGS(LAB_NUMBER(r + 1)));
	out->value[0] = c->expert;
	out->value[1] = (double)rank_of_expert(m, c->expert);
	out->value[2] = c->score;
	out->value[3] = c->gate;
	out->value[4] = c->slot;
	lab_note(out, kept(m, c) ? "" : N_("dropped: the expert is full"), NULL);
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct moe *m = run->state;

	switch (k) {
	case TABLE_EXPERTS:
		expert_row(m, r, out);
		break;
	case TABLE_CAPACITY:
		capacity_row(m, r, out);
		break;
	case TABLE_RANKS:
		rank_row(m, r, out);
		break;
	case TABLE_SPLITS:
		split_row(m, r, out);
		break;
	default:
		choice_row(m, k - TABLES, r, out);
	}
}

static const char lesson[] =
	N_("37B of 671B is what a token computes with. Memory, and what an optimizer keeps, follow the 671B.");

const struct lab lab_moe = { "moe", N_("mixture of experts"), N_("routing, capacity, dropped tokens, and the all-to-all"), params,
	PARAMS, check, layout, run, step, row, false, lesson, NULL };
