/* Speed of the schedules: generate and execute, best of several runs. Prints each figure beside its limit; exit status 1 when one
 * is missed. */
#include "knobs.h"
#include "plan.h"
#include "presets.h"
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7, PLAN_BUDGET_US = 50 };

static double now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Best time of generating and executing; workspace in *bytes. */
static double best_s(const struct pipeline *pl, int64_t *bytes)
{
	struct schedule_times t = { .forward = 10, .input = 12, .weight = 9, .comm = 1 };
	struct schedule_result x;
	double best = 1e9;

	*bytes = schedule_workspace_bytes(pl);
	for (int i = 0; i < RUNS; i++) {
		void *workspace = malloc((size_t)*bytes);
		double start = now_s();

		if (workspace == NULL || schedule_run(pl, &t, workspace, NULL, NULL, &x, NULL) != ERR_OK)
			abort();
		best = now_s() - start < best ? now_s() - start : best;
		free(workspace);
	}
	return best;
}

static bool bench_closed(int32_t schedule)
{
	const struct schedule_info *info = &schedule_table[schedule];
	struct pipeline pl = { .schedule = schedule, .p = 64, .m = 4096, .v = info->v_max <= 2 ? info->v_max : 4 };
	int64_t bytes;
	double s = best_s(&pl, &bytes), rate = (double)pipeline_actions(&pl) / s / 1e6;

	printf("%-18s p 64 m 4096 v %lld: %6.1f M actions/s (at least 50), %5.1f ns each\n", info->key, (long long)pl.v, rate,
		1e3 / rate);
	return rate >= 50;
}

static bool bench_greedy(int32_t schedule)
{
	const struct schedule_info *info = &schedule_table[schedule];
	struct pipeline pl = { .schedule = schedule, .p = 64, .m = 512, .v = info->v_min, .costs = { 10, 12, 9, 1 } };
	int64_t bytes;
	double s = best_s(&pl, &bytes);

	printf("%-18s p 64 m 512: %6.1f ms (below 1000), workspace %.1f MB\n", info->key, 1e3 * s, (double)bytes / 1e6);
	return s < 1;
}

static bool bench_large(void)
{
	struct pipeline pl = { .schedule = SCHEDULE_INTERLEAVED, .p = 1024, .m = 4096, .v = 4 };
	int64_t bytes;
	double s = best_s(&pl, &bytes);

	printf("%-18s p 1024 m 4096 v 4: %.3f s (below 1), workspace %.1f MB (below 64)\n", "interleaved", s,
		(double)bytes / 1e6);
	return s < 1 && bytes < 64000000;
}

/* A plan with 64 chunks on 32 ranks. */
static enum err_code make_draft(const struct catalog *c, struct draft *d, struct err *e)
{
	static const char *const knobs[][2] = {
		{ "model", "llama3-70b" },
		{ "gpu", "H100" },
		{ "gpus", "512" },
		{ "framework", "fsdp" },
		{ "tp", "4" },
		{ "zero", "3" },
		{ "pp", "32" },
		{ "vpp", "2" },
		{ "schedule", "zb-v" },
		{ "seq", "4096" },
		{ "global-batch", "1024" },
		{ "micro-batch", "1" },
	};

	draft_init_blank(d, c);
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		if (draft_set(d, c, knob_find(knobs[i][0]), knobs[i][1], ORIGIN_FLAG, e) != ERR_OK)
			return e->code;
	draft_settle(d, c);
	return ERR_OK;
}

static bool bench_plan(void)
{
	struct preset_store *store;
	struct draft d;
	struct plan p;
	struct err e = { .code = ERR_OK };
	double best = 1e9;

	if (preset_store_new(&store, &e) != ERR_OK || make_draft(preset_store_catalog(store), &d, &e) != ERR_OK) {
		printf("%s: %s\n", e.where, e.msg);
		return false;
	}
	for (int run = 0; run < RUNS && e.code == ERR_OK; run++) {
		double start = now_s();

		for (int i = 0; i < 1000 && e.code == ERR_OK; i++)
			e.code = plan_evaluate(&d.s, &p, &e);
		best = now_s() - start < best ? now_s() - start : best;
	}
	preset_store_free(store);
	printf("%-18s zb-v, pp 32: %.2f us (below %d) %s\n", "plan_evaluate", 1e3 * best, PLAN_BUDGET_US, e.msg);
	return 1e3 * best < PLAN_BUDGET_US && e.code == ERR_OK;
}

int main(void)
{
	bool good = true;

	for (int32_t i = 0; i < SCHEDULE_COUNT; i++)
		good = (schedule_table[i].greedy != NULL ? bench_greedy(i) : bench_closed(i)) && good;
	good = bench_large() && good;
	good = bench_plan() && good;
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
