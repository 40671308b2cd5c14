/* The validator of orders. It looks at lists only: whether ranks can follow them together is for the executor to find out. */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"
#include "units.h"

#include <string.h>

/* What is done of a (stage, micro-batch). */
enum done { DONE_NOTHING, DONE_FORWARD, DONE_INPUT, DONE_ALL, DONE_COUNT };

/* done[] after an action, -1: not legal there. */
static const int8_t after[DONE_COUNT][ACTION_KIND_COUNT] = {
	[DONE_NOTHING] = { DONE_FORWARD, -1, -1, -1 },
	[DONE_FORWARD] = { -1, DONE_ALL, DONE_INPUT, -1 },
	[DONE_INPUT] = { -1, -1, -1, DONE_ALL },
	[DONE_ALL] = { -1, -1, -1, -1 },
};
static const char *const done_texts[DONE_COUNT] = { "nothing of it has run", "its F has run", "its F and I have run",
	"all of it has run" };
static const char *const legal_texts[DONE_COUNT] = { "F", "B or I", "W", "nothing" };

struct check {
	const struct order *o;
	uint8_t *done; /* [stage * m + micro-batch] */
	int64_t rank, position;
	bool block_open; /* the action before was the forward of a block */
	enum err_code code;
	struct err *e;
};

static enum err_code misplaced(struct check *c, const struct action *a)
{
	const struct pipeline *pl = &c->o->pl;
	char name[32], stages[48], batches[48];

	(void)action_format(a, name, sizeof name);
	if (a->stage < 0 || a->stage >= pipeline_stages(pl) || a->micro_batch < 0 || a->micro_batch >= pl->m)
		return err_set(c->e, ERR_ILLEGAL, "orders",
			"rank %lld, position %lld: %s: legal here: stages %s, micro-batches %s", (long long)c->rank,
			(long long)c->position, name, units_format_range(0, pipeline_stages(pl) - 1, stages, sizeof stages),
			units_format_range(0, pl->m - 1, batches, sizeof batches));
	if (pipeline_rank_of(pl, a->stage, a->micro_batch) != c->rank)
		return err_set(c->e, ERR_ILLEGAL, "orders", "rank %lld, position %lld: %s belongs on rank %lld (placement %s)",
			(long long)c->rank, (long long)c->position, name,
			(long long)pipeline_rank_of(pl, a->stage, a->micro_batch), placement_names[pipeline_placement(pl)]);
	return ERR_OK;
}

static void check_action(void *ctx, const struct action *a)
{
	struct check *c = ctx;
	uint8_t *done;
	char name[32];
	int8_t next;

	if (c->code != ERR_OK)
		return;
	c->code = misplaced(c, a);
	if (c->code != ERR_OK)
		return;
	(void)action_format(a, name, sizeof name);
	done = &c->done[a->stage * c->o->pl.m + a->micro_batch];
	next = after[*done][a->kind];
	if (next < 0)
		c->code = err_set(c->e, ERR_ILLEGAL, "orders",
			"rank %lld, position %lld: %s, but %s; legal here for stage %d, micro-batch %d: %s", (long long)c->rank,
			(long long)c->position, name, done_texts[*done], (int)a->stage, (int)a->micro_batch, legal_texts[*done]);
	else if (c->block_open != (a->overlap && a->kind != ACTION_FORWARD))
		c->code = err_set(c->e, ERR_ILLEGAL, "orders",
			"rank %lld, position %lld: %s: a block is a forward and then a backward", (long long)c->rank,
			(long long)c->position, name);
	else
		*done = (uint8_t)next;
	c->block_open = a->overlap && a->kind == ACTION_FORWARD;
	c->position++;
}

static enum err_code check_all_done(const struct check *c)
{
	const struct pipeline *pl = &c->o->pl;

	for (int64_t stage = 0; stage < pipeline_stages(pl); stage++)
		for (int64_t i = 0; i < pl->m; i++) {
			uint8_t done = c->done[stage * pl->m + i];

			if (done != DONE_ALL)
				return err_set(c->e, ERR_ILLEGAL, "orders",
					"rank %lld ends without %lld%c%lld: %s; wanted are F and then B, or F, I and W",
					(long long)pipeline_rank_of(pl, stage, i), (long long)stage, "FBW"[done], (long long)i,
					done_texts[done]);
		}
	return ERR_OK;
}

int64_t order_check_bytes(const struct pipeline *pl)
{
	int64_t bytes;

	return num_mul(pipeline_stages(pl), pl->m, &bytes) ? bytes : -1;
}

enum err_code order_check(const struct order *o, void *scratch, struct err *e)
{
	struct check c = { .o = o, .done = scratch, .e = e };

	memset(scratch, DONE_NOTHING, (size_t)order_check_bytes(&o->pl));
	for (c.rank = 0; c.rank < o->pl.p && c.code == ERR_OK; c.rank++) {
		c.position = 0;
		order_each(o, c.rank, check_action, &c);
		if (c.code == ERR_OK && c.block_open)
			return err_set(e, ERR_ILLEGAL, "orders", "rank %lld ends in the middle of a block", (long long)c.rank);
	}
	return c.code == ERR_OK ? check_all_done(&c) : c.code;
}
