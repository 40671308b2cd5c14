/* Orders: a pipeline's lists, generated or closed form, and what follows from the lists alone. */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"

#include <string.h>

/* Workspace of a greedy order: positions, list, scratch of the generator. */
int64_t order_workspace_bytes(const struct pipeline *pl)
{
	const struct schedule_info *info = &schedule_table[pl->schedule];

	if (info->greedy == NULL)
		return 0;
	/* Shapes whose generators would not fit into 2^40 bytes are refused before anything is multiplied. */
	if (pl->p > INT32_MAX || pl->m > INT32_MAX || (double)pl->p * (double)(pl->m + pl->p) > 4e9)
		return -1;
	return (pl->p + 1) * (int64_t)sizeof(int64_t) + num_round_up(pipeline_actions(pl) * (int64_t)sizeof(struct action), 8) +
		info->greedy->scratch_bytes(pl);
}

/* Costs that add up over all actions of a rank, waiting included. */
static enum err_code check_costs(const struct pipeline *pl, struct err *e)
{
	const int64_t costs[] = { pl->costs.forward, pl->costs.input, pl->costs.weight, pl->costs.comm };
	int64_t sum;

	for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++)
		if (costs[i] < 0 || !num_mul(costs[i], 16 * (pl->m + pl->p), &sum) || !num_mul(sum, 16, &sum))
			return err_set(e, ERR_RANGE, "order-times",
				"order-times: %lld: legal here: 0 or more, and small enough to add up", (long long)costs[i]);
	return ERR_OK;
}

enum err_code order_begin(const struct pipeline *pl, void *workspace, struct order_build *b, struct err *e)
{
	const struct greedy_order *greedy;
	enum err_code code = pipeline_check(pl, e);
	struct action *list;
	int64_t *first;

	*b = (struct order_build){ .order.pl = *pl };
	if (code != ERR_OK)
		return code;
	greedy = schedule_table[pl->schedule].greedy;
	if (greedy == NULL)
		return ERR_OK;
	code = check_costs(pl, e);
	if (code != ERR_OK)
		return code;
	first = workspace;
	first[0] = 0;
	for (int64_t rank = 0; rank < pl->p; rank++)
		first[rank + 1] = first[rank] + pipeline_count(pl, rank);
	list = (struct action *)(first + pl->p + 1);
	b->order.list = list;
	b->order.first = first;
	b->scratch = (char *)list + num_round_up(first[pl->p] * (int64_t)sizeof(struct action), 8);
	greedy->begin(pl, b->scratch, list);
	return ERR_OK;
}

bool order_step(struct order_build *b, int64_t budget)
{
	while (b->scratch != NULL && budget > 0) {
		int64_t work = schedule_table[b->order.pl.schedule].greedy->step(b->scratch);

		budget -= work;
		if (work == 0)
			b->scratch = NULL;
	}
	return b->scratch == NULL;
}

double order_share(const struct order_build *b)
{
	return b->scratch == NULL ? 1 : schedule_table[b->order.pl.schedule].greedy->share(b->scratch);
}

enum err_code order_generate(const struct pipeline *pl, void *workspace, struct order *out, struct err *e)
{
	struct order_build b;
	enum err_code code = order_begin(pl, workspace, &b, e);

	while (code == ERR_OK && !order_step(&b, INT64_MAX))
		;
	*out = b.order;
	return code;
}

int64_t order_count(const struct order *o, int64_t rank)
{
	return o->list != NULL ? o->first[rank + 1] - o->first[rank] : pipeline_count(&o->pl, rank);
}

struct action order_at(const struct order *o, int64_t rank, int64_t i)
{
	struct sched_program g;

	if (o->list != NULL)
		return o->list[o->first[rank] + i];
	schedule_table[o->pl.schedule].program(&o->pl, rank, &g);
	return sched_program_at(&g, i);
}

void order_each(const struct order *o, int64_t rank, void (*f)(void *ctx, const struct action *a), void *ctx)
{
	int64_t n = order_count(o, rank);
	struct sched_cursor c;

	if (o->list == NULL) {
		schedule_table[o->pl.schedule].program(&o->pl, rank, &c.program);
		sched_cursor_init(&c);
	}
	for (int64_t i = 0; i < n; i++) {
		struct action a = o->list != NULL ? o->list[o->first[rank] + i] : sched_cursor_next(&c);

		f(ctx, &a);
	}
}

struct peak_count {
	int64_t held, whole;
	struct order_peaks most;
};

static void count_peaks(void *ctx, const struct action *a)
{
	struct peak_count *c = ctx;

	c->held += a->kind == ACTION_FORWARD ? 1 : a->kind == ACTION_INPUT ? 0 : -1;
	c->whole += a->kind == ACTION_FORWARD ? 1 : a->kind == ACTION_WEIGHT ? 0 : -1;
	c->most.at_weight = num_max(c->most.at_weight, c->held);
	c->most.at_input = num_max(c->most.at_input, c->whole);
}

struct order_peaks order_peaks(const struct order *o, int64_t rank)
{
	struct peak_count c = { 0 };

	order_each(o, rank, count_peaks, &c);
	return c.most;
}
