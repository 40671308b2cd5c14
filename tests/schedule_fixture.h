/* Shared by the tests of schedules: shapes from table rows, orders with their workspaces, imported orders. */
#ifndef MESHPLAN_TESTS_SCHEDULE_FIXTURE_H
#define MESHPLAN_TESTS_SCHEDULE_FIXTURE_H

#include "num.h"
#include "schedule.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 64, STAGES = 256 };

static inline int32_t schedule_of(const char *key)
{
	for (int32_t i = 0; i < SCHEDULE_COUNT; i++)
		if (strcmp(schedule_table[i].key, key) == 0)
			return i;
	ck_abort_msg("no schedule %s", key);
	return -1;
}

/* "3 17 4": numbers of a field, returns how many. "3 x": the number `all` times. */
static inline int64_t numbers(const char *text, int64_t *out, int64_t cap, int64_t all)
{
	int64_t n = 0;
	char *end;

	for (const char *p = text; *p != '\0' && n < cap; p = end) {
		if (*p == 'x') {
			for (; n < all && n < cap; n++)
				out[n] = out[0];
			break;
		}
		out[n++] = strtoll(p, &end, 10);
		ck_assert(end != p);
		end += strspn(end, " ");
	}
	return n;
}

/* Shape of a row with the columns schedule, p, m, v and, where the table has them, group and costs. */
static inline struct pipeline pipeline_of(const struct csv *c, bool costs)
{
	struct pipeline pl = {
		.schedule = schedule_of(csv_text(c, "schedule")), .p = csv_int(c, "p"), .m = csv_int(c, "m"), .v = csv_int(c, "v")
	};
	int64_t x[4];

	if (!costs)
		return pl;
	pl.group = csv_int(c, "group");
	if (numbers(csv_text(c, "costs"), x, 4, 0) == 4)
		pl.costs = (struct order_costs){ x[0], x[1], x[2], x[3] };
	return pl;
}

/* An order and the memory it lives in. */
struct held_order {
	struct order o;
	void *order_workspace, *run_workspace;
};

static inline const char *shape_text(const struct pipeline *pl)
{
	static char text[120];

	(void)snprintf(text, sizeof text, "%s p %lld m %lld v %lld g %lld",
		pl->schedule < SCHEDULE_COUNT ? schedule_table[pl->schedule].key : "import", (long long)pl->p, (long long)pl->m,
		(long long)pl->v, (long long)pl->group);
	return text;
}

static inline void order_open(struct held_order *h, const struct pipeline *pl)
{
	struct err e;
	int64_t bytes = order_workspace_bytes(pl);

	ck_assert_int_ge(bytes, 0);
	h->order_workspace = malloc((size_t)bytes + 1);
	ck_assert_msg(order_generate(pl, h->order_workspace, &h->o, &e) == ERR_OK, "%s: %s", shape_text(pl), e.msg);
	h->run_workspace = malloc((size_t)order_run_bytes(&h->o));
	ck_assert_ptr_nonnull(h->run_workspace);
}

/* The order called `name` in schedule_orders.csv, read as text. */
static inline void order_import(struct held_order *h, const char *name)
{
	static char text[65536];
	struct order_text t = { .name = name, .text = text };
	struct csv c;
	struct err e;

	csv_open(&c, "schedule_orders.csv");
	while (csv_next(&c)) {
		if (strcmp(csv_text(&c, "import"), name) != 0)
			continue;
		for (const char *p = csv_text(&c, "actions"); *p != '\0'; p++) {
			ck_assert_uint_lt(t.len + 16, sizeof text);
			text[t.len++] = *p == ' ' ? ',' : *p;
		}
		text[t.len++] = '\n';
	}
	h->order_workspace = malloc((size_t)order_parse_bytes(&t));
	ck_assert_msg(order_parse(&t, h->order_workspace, &h->o, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	h->run_workspace = malloc((size_t)order_run_bytes(&h->o));
	ck_assert_ptr_nonnull(h->run_workspace);
}

static inline void order_close(struct held_order *h)
{
	free(h->order_workspace);
	free(h->run_workspace);
}

/* A row's order: generated, or imported. */
static inline void order_of_row(struct held_order *h, const struct csv *c)
{
	struct pipeline pl;

	if (csv_text(c, "import")[0] != '\0') {
		order_import(h, csv_text(c, "import"));
		return;
	}
	pl = pipeline_of(c, true);
	order_open(h, &pl);
}

static inline struct schedule_result order_time(
	struct held_order *h, const struct schedule_times *t, schedule_emit *emit, void *ctx, struct rank_result *ranks)
{
	struct schedule_result out;
	struct err e;

	ck_assert_msg(order_run(&h->o, t, h->run_workspace, emit, ctx, ranks, &out, &e) == ERR_OK, "%s: %s", shape_text(&h->o.pl),
		e.msg);
	return out;
}

/* Deterministic pseudo-random numbers below n (xorshift64*). */
static inline int64_t random_below(uint64_t *state, int64_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (int64_t)((*state * UINT64_C(2685821657736338717)) >> 33) % n;
}

/* A legal shape with p <= p_most; costs and group random where they mean something. */
static inline struct pipeline random_pipeline(uint64_t *state, int64_t p_most)
{
	for (;;) {
		struct pipeline pl = { .schedule = (int32_t)random_below(state, SCHEDULE_COUNT) };
		const struct schedule_info *info = &schedule_table[pl.schedule];
		int64_t least = random_below(state, 3) == 0 ? 0 : 1;

		pl.p = 1 + random_below(state, p_most);
		pl.m = 1 + random_below(state, 24);
		if (info->overlaps)
			pl.m = 2 * pl.p + random_below(state, 14);
		pl.v = info->v_max <= 2 ? info->v_max : 2 + random_below(state, 3);
		pl.group = info->has_groups ? random_below(state, pl.m + 1) : 0;
		if (info->greedy)
			pl.costs = (struct order_costs){ least + random_below(state, 20), least + random_below(state, 20),
				least + random_below(state, 20), random_below(state, 2) * random_below(state, 30) };
		if (pipeline_check(&pl, NULL) == ERR_OK)
			return pl;
	}
}

#endif
