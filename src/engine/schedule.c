/* The table of schedules, what shapes they take, and where stages sit. Generators: sched_*.c. */
#include "schedule.h"

#include "i18n_mark.h"
#include "num.h"
#include "sched_internal.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

const char action_letters[ACTION_KIND_COUNT + 1] = "FBIW";
const char *const placement_names[PLACEMENT_COUNT + 1] = { "loop", "V", "both directions", NULL };

const struct choice_info idle_reason_choices[IDLE_REASON_COUNT] = {
	[IDLE_NONE] = { "none", N_("not idle") },
	[IDLE_FILL] = { "fill", N_("the pipeline fills: nothing has arrived yet") },
	[IDLE_INPUT] = { "input", N_("waits for a forward of the stage before") },
	[IDLE_GRADIENT] = { "gradient", N_("waits for a gradient of the stage behind") },
	[IDLE_COMM] = { "communication", N_("the input is computed and on its way") },
	[IDLE_DRAIN] = { "drain", N_("this rank is done, others are not") },
};

static const struct schedule_info *info_of(const struct pipeline *pl)
{
	return &schedule_table[pl->schedule];
}

int32_t pipeline_placement(const struct pipeline *pl)
{
	return pl->schedule == SCHEDULE_COUNT ? pl->imported : info_of(pl)->placement;
}

int64_t pipeline_stages(const struct pipeline *pl)
{
	int32_t placement = pipeline_placement(pl);

	return placement == PLACEMENT_V ? 2 * pl->p : placement == PLACEMENT_BIDIRECTIONAL ? pl->p : pl->p * pl->v;
}

int64_t pipeline_chunks_held(const struct pipeline *pl)
{
	return pipeline_placement(pl) == PLACEMENT_LOOP ? pl->v : 2;
}

int64_t pipeline_stage_of(const struct pipeline *pl, int64_t rank, int64_t k)
{
	int32_t placement = pipeline_placement(pl);

	if (placement == PLACEMENT_LOOP || k == 0)
		return k * pl->p + rank;
	return placement == PLACEMENT_V ? 2 * pl->p - 1 - rank : pl->p - 1 - rank;
}

int64_t pipeline_chunk_at(const struct pipeline *pl, int64_t rank, int64_t stage)
{
	if (pipeline_placement(pl) == PLACEMENT_LOOP)
		return stage % pl->p == rank ? stage / pl->p : -1;
	return stage == rank ? 0 : stage == pipeline_stage_of(pl, rank, 1) ? 1 : -1;
}

int64_t pipeline_rank_of(const struct pipeline *pl, int64_t stage, int64_t micro_batch)
{
	int32_t placement = pipeline_placement(pl);

	if (placement == PLACEMENT_LOOP)
		return stage % pl->p;
	if (placement == PLACEMENT_V)
		return stage < pl->p ? stage : 2 * pl->p - 1 - stage;
	return micro_batch < pl->m / 2 ? stage : pl->p - 1 - stage;
}

int64_t pipeline_count(const struct pipeline *pl, int64_t rank)
{
	const struct schedule_info *info = info_of(pl);
	struct sched_program g;

	if (info->greedy != NULL)
		return pl->m * pipeline_chunks_held(pl) * info->passes;
	info->program(pl, rank, &g);
	return sched_program_count(&g);
}

int64_t pipeline_actions(const struct pipeline *pl)
{
	int64_t sum = 0;

	for (int64_t rank = 0; rank < pl->p; rank++)
		sum += pipeline_count(pl, rank);
	return sum;
}

#define ANY_SHAPE N_("any ranks, any micro-batches, one chunk per rank")
#define V_SHAPE N_("exactly two chunks per rank: a V has two legs")
/* clang-format off */
#define GROUP_SHAPE \
	N_("groups of at least p micro-batches (fewer cannot keep p ranks busy for one lap: the next chunk's first input is not back at rank " \
	   "0 when its turn comes), the last group 0 or at least p; or one group")
/* clang-format on */
#define LOOP(v_min_, v_max_, passes_)                                                                                            \
	.placement = PLACEMENT_LOOP, .v_min = v_min_, .v_max = v_max_, .passes = passes_, .splits = passes_ == 3
#define VEE(passes_) .placement = PLACEMENT_V, .v_min = 2, .v_max = 2, .passes = passes_, .splits = passes_ == 3

/* clang-format off */
const struct schedule_info schedule_table[SCHEDULE_COUNT] = {
	[SCHEDULE_NAIVE] = { "naive", N_("naive"), N_("one micro-batch at a time: p - 1 of p ranks idle"), "definition", ANY_SHAPE,
		"1", "m p s",
		LOOP(1, 1, 2), .program = sched_naive, .makespan = makespan_naive },
	[SCHEDULE_GPIPE] = { "gpipe", N_("GPipe"), N_("all forwards, then all backwards: m micro-batches in flight"),
		"Huang 2019; PyTorch ScheduleGPipe", ANY_SHAPE,
		"m", "(m + p - 1) s",
		LOOP(1, 1, 2), .program = sched_gpipe, .makespan = makespan_gpipe },
	[SCHEDULE_GPIPE_LIFO] = { "gpipe-lifo", N_("GPipe, reversed"), N_("GPipe with its backwards in reverse order"),
		"Huang 2019; PyTorch ScheduleLoopedBFS with one chunk", ANY_SHAPE,
		"m", "(m + p - 1) s",
		LOOP(1, 1, 2), .program = sched_looped_bfs, .makespan = makespan_gpipe },
	[SCHEDULE_1F1B] = { "1f1b", N_("1F1B"), N_("the bubble of GPipe with at most p micro-batches in flight"),
		"Narayanan 2021; Megatron-LM schedules.py", ANY_SHAPE,
		"min(p - r, m)", "(m + p - 1) s",
		LOOP(1, 1, 2), .program = sched_interleaved, .makespan = makespan_1f1b, .peak = peak_interleaved },
	[SCHEDULE_1F1B_V] = { "1f1b-v", N_("1F1B-V"), N_("1F1B on a V: two thirds of its memory, whole backwards"),
		"Qi 2024, arXiv 2405.15362; sail-sg/zero-bubble v1f1b.py", V_SHAPE,
		"2 (floor(2 p / 3) + 1) chunks, stated", "2 m s + 5 p s / 3 about, stated",
		VEE(2), .greedy = &sched_1f1bv, .makespan = makespan_1f1b_v, .peak = peak_v_even },
	[SCHEDULE_INTERLEAVED] = { "interleaved", N_("interleaved 1F1B"), N_("v chunks per rank: bubble 1/v, more in flight"),
		"Narayanan 2021 sec. 2.2; Megatron-LM get_schedule_table", GROUP_SHAPE,
		"min(2 (p - 1 - r) + (v - 1) g + 1, m v) chunks / v, handed out in groups of g", "(m v + p - 1) s",
		LOOP(2, CHUNKS_MAX, 2), .has_groups = true,
		.program = sched_interleaved, .makespan = makespan_interleaved, .peak = peak_interleaved },
	[SCHEDULE_LOOPED_BFS] = { "looped-bfs", N_("looped BFS"), N_("v chunks per rank, all micro-batches of one chunk at a time"),
		"Lamy-Poirier 2022, arXiv 2211.05953; PyTorch ScheduleLoopedBFS", N_("any ranks, micro-batches and chunks"),
		"m", "(m v + p - 1) s for m of at least p",
		LOOP(2, CHUNKS_MAX, 2),
		.program = sched_looped_bfs, .makespan = makespan_looped_bfs },
	[SCHEDULE_ZB_H1] = { "zb-h1", N_("ZB-H1"), N_("backward split in two, a third of the bubble at the memory of 1F1B"),
		"Qi 2023, arXiv 2401.10241; sail-sg/zero-bubble zb.py, limit p", ANY_SHAPE,
		"min(m, p - r) whole, r between I and W", "m s + (p - 1) (F + I - W)",
		LOOP(1, 1, 3), .greedy = &sched_zb, .makespan = makespan_zb1p, .peak = peak_zb_h1 },
	[SCHEDULE_ZB_H2] = { "zb-h2", N_("ZB-H2"), N_("no bubble between a rank's first and last action, twice the memory"),
		"Qi 2023; sail-sg/zero-bubble zb.py, limit 2p-1", ANY_SHAPE,
		"min(m, 2 p - 1 - r), stated", "m s + (p - 1) F, stated",
		LOOP(1, 1, 3), .zero_bubble = true, .greedy = &sched_zb, .makespan = makespan_zb2, .peak = peak_zb2 },
	[SCHEDULE_ZB_2P] = { "zb-2p", N_("ZB-2p"), N_("zero bubble with at most 2p micro-batches between F and W"),
		"Qi 2023; sail-sg/zero-bubble zb.py, limit 2p", ANY_SHAPE,
		"min(m, 2 p - r), stated", "m s + (p - 1) F, stated",
		LOOP(1, 1, 3), .zero_bubble = true, .greedy = &sched_zb, .makespan = makespan_zb2, .peak = peak_zb2 },
	[SCHEDULE_ZB1P_INTERLEAVED] = { "zb1p-interleaved", N_("interleaved ZB-1p"), N_("ZB-H1 over v chunks per rank"),
		"PyTorch ScheduleInterleavedZeroBubble", GROUP_SHAPE,
		"((v - 1) g + p - r) / v whole, r / v between I and W", "m v s + (p - 1) (F + I - W)",
		LOOP(2, CHUNKS_MAX, 3), .has_groups = true,
		.program = sched_zb1p, .makespan = makespan_zb1p },
	[SCHEDULE_ZB_V] = { "zb-v", N_("ZB-V"), N_("zero bubble on a V at the memory of 1F1B"), "Qi 2023 sec. 6; PyTorch ScheduleZBVZeroBubble", V_SHAPE,
		"2 p - 1 - r chunks of the first leg, r + 1 of the second", "2 m s + (p - 1) F for m of at least 2 p - 1",
		VEE(3), .zero_bubble = true, .program = sched_zb_v, .makespan = makespan_zb_v, .peak = peak_zb_v },
	[SCHEDULE_ZB_V_SAIL] = { "zb-v-sail", N_("ZB-V, greedy"), N_("ZB-V ordered by the times of its actions"),
		"Qi 2023 sec. 6; sail-sg/zero-bubble zbv.py", V_SHAPE,
		"2 p - 1 - r chunks of the first leg, r + 1 of the second, stated", "2 m s + (p - 1) F, stated",
		VEE(3), .zero_bubble = true, .greedy = &sched_zbv, .makespan = makespan_zb_v, .peak = peak_zb_v },
	[SCHEDULE_V_HALF] = { "v-half", N_("V-Half"), N_("half the memory of 1F1B"), "Qi 2024, arXiv 2405.15362; sail-sg/zero-bubble zbv_greedy.py", V_SHAPE,
		"floor((p + 2) / 2), stated", "2 m s + (3 p - 7) s / 3 (p odd: 3 p - 4), stated",
		VEE(3), .greedy = &sched_vslots, .makespan = makespan_v_half, .peak = peak_v_even },
	[SCHEDULE_V_MIN] = { "v-min", N_("V-Min"), N_("a third of the memory of 1F1B"), "Qi 2024, arXiv 2405.15362; sail-sg/zero-bubble zbv_greedy.py", V_SHAPE,
		"floor((p + 4) / 3), stated", "2 m s + (4 p - 5) s / 3 (3 divides p: 4 p - 7), stated",
		VEE(3), .greedy = &sched_vslots, .makespan = makespan_v_min, .peak = peak_v_even },
	[SCHEDULE_DUALPIPE] = { "dualpipe", N_("DualPipe"), N_("micro-batches from both ends, F and B overlapped, parameters twice"),
		"DeepSeek-V3 2024; deepseek-ai/DualPipe dualpipe.py", N_("even p, even m of at least 2p: each direction needs p micro-batches"),
		"p - q of the near stage, q + 1 of the far one; q = min(r, p - 1 - r)", "m s + (p / 2 - 1) (F&B + B - 3 W)",
		.placement = PLACEMENT_BIDIRECTIONAL, .v_min = 1, .v_max = 1, .passes = 2, .splits = true, .overlaps = true,
		.program = sched_dualpipe, .makespan = makespan_dualpipe, .peak = peak_dualpipe },
	[SCHEDULE_DUALPIPEV] = { "dualpipev", N_("DualPipeV"), N_("DualPipe folded into a V: each parameter once"),
		"deepseek-ai/DualPipe dualpipev.py; PyTorch ScheduleDualPipeV", N_("exactly two chunks per rank, m of at least 2p"),
		"2 p - r chunks of the first leg, r + 1 of the second", "2 m s + (p - 1) (F&B + B - 3 W)",
		.placement = PLACEMENT_V,
		.v_min = 2, .v_max = 2, .passes = 2, .splits = true, .overlaps = true, .program = sched_dualpipe, .makespan = makespan_dualpipe, .peak = peak_dualpipe },
};
/* clang-format on */

/* The tail that a group size leaves must keep the ranks busy as a group does. */
static bool group_is_legal(const struct pipeline *pl, int64_t g)
{
	return pl->m <= g || (g >= pl->p && (pl->m % g == 0 || pl->m % g >= pl->p));
}

int64_t pipeline_group(const struct pipeline *pl)
{
	int64_t rounds = num_max(1, pl->m / pl->p);

	if (pl->group > 0)
		return pl->group;
	if (pl->m <= pl->p)
		return pl->m;
	return pl->schedule == SCHEDULE_ZB1P_INTERLEAVED && pl->m % rounds == 0 ? pl->m / rounds : pl->p;
}

static enum err_code check_groups(const struct pipeline *pl, struct err *e)
{
	int64_t g = pipeline_group(pl), legal = pl->p;
	const char *where = pl->group > 0 ? "group" : "micro-batch", *key = info_of(pl)->key;

	if (pl->p == 1 || group_is_legal(pl, g))
		return ERR_OK;
	while (!group_is_legal(pl, legal))
		legal++;
	if (g < pl->p)
		return err_set(e, ERR_ILLEGAL, where,
			"%s: a group of %lld %s cannot keep %lld ranks busy for one lap; legal here: %lld (pp) or "
			"more, such as --group %lld",
			key, (long long)g, text_plural(g, "micro-batch", "micro-batches"), (long long)pl->p, (long long)pl->p,
			(long long)legal);
	return err_set(e, ERR_ILLEGAL, where,
		"%s: %lld %s in groups of %lld leave a last group of %lld; it must be 0 or at least pp = %lld: "
		"for example --group %lld",
		key, (long long)pl->m, text_plural(pl->m, "micro-batch", "micro-batches"), (long long)g, (long long)(pl->m % g),
		(long long)pl->p, (long long)legal);
}

static enum err_code check_chunks(const struct pipeline *pl, struct err *e)
{
	const struct schedule_info *info = info_of(pl);

	if (pl->v < 1 || pl->v > CHUNKS_MAX)
		return err_set(e, ERR_RANGE, "vpp", "vpp %lld: legal here: 1 .. 1024", (long long)pl->v);
	/* On one rank chunks follow each other: any number is as good as the legal ones. */
	if ((pl->v >= info->v_min || (pl->p == 1 && info->v_max == CHUNKS_MAX)) && pl->v <= info->v_max)
		return ERR_OK;
	if (info->v_max == 1)
		return err_set(e, ERR_ILLEGAL, "vpp",
			"vpp %lld: %s has one chunk per rank; legal here: 1 (more need a schedule with chunks, such as "
			"interleaved)",
			(long long)pl->v, info->key);
	if (info->v_max == 2)
		return err_set(e, ERR_ILLEGAL, "vpp", "vpp %lld: schedule %s needs exactly 2: a V has two legs", (long long)pl->v,
			info->key);
	return err_set(e, ERR_ILLEGAL, "vpp", "vpp %lld: schedule %s needs vpp of at least 2", (long long)pl->v, info->key);
}

static enum err_code check_directions(const struct pipeline *pl, struct err *e)
{
	bool both = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL;

	if (both && pl->p % 2 != 0)
		return err_set(e, ERR_ILLEGAL, "pp", "pp %lld: dualpipe pairs ranks from both ends; legal here: even numbers",
			(long long)pl->p);
	if (pl->m < 2 * pl->p)
		return err_set(e, ERR_ILLEGAL, "micro-batch", "%lld %s: %s needs at least 2 pp = %lld (%s)", (long long)pl->m,
			text_plural(pl->m, "micro-batch", "micro-batches"), info_of(pl)->key, 2 * (long long)pl->p,
			both ? "pp in each direction" : "a full V of them");
	if (both && pl->m % 2 != 0)
		return err_set(e, ERR_ILLEGAL, "micro-batch",
			"%lld micro-batches: dualpipe sends half from each end; legal here: even numbers of at least "
			"%lld",
			(long long)pl->m, 2 * (long long)pl->p);
	return ERR_OK;
}

enum err_code pipeline_check(const struct pipeline *pl, struct err *e)
{
	const struct schedule_info *info;
	enum err_code code;
	int64_t actions;

	if (pl->schedule < 0 || pl->schedule >= SCHEDULE_COUNT)
		return err_set(e, ERR_INTERNAL, "schedule", "no schedule number %d", (int)pl->schedule);
	info = info_of(pl);
	if (pl->p < 1 || pl->p > 65536)
		return err_set(e, ERR_RANGE, "pp", "pp %lld: legal here: 1 .. 65536", (long long)pl->p);
	if (pl->m < 1 || pl->m > 16777216)
		return err_set(e, ERR_RANGE, "microbatches", "%lld micro-batches: legal here: 1 .. 16777216", (long long)pl->m);
	code = check_chunks(pl, e);
	if (code != ERR_OK)
		return code;
	if (!num_mul(pl->p * pl->v, pl->m, &actions) || actions > INT32_MAX)
		return err_set(e, ERR_RANGE, "microbatches", "p * v * m is %.3g: at most 2147483647",
			(double)pl->p * (double)pl->v * (double)pl->m);
	if (pl->group < 0 || pl->group > INT32_MAX)
		return err_set(
			e, ERR_RANGE, "group", "group %lld: legal here: 0 .. %lld", (long long)pl->group, (long long)pl->m);
	if (info->has_groups && pl->v > 1)
		return check_groups(pl, e);
	return info->overlaps ? check_directions(pl, e) : ERR_OK;
}

char *action_format(const struct action *a, char *buf, size_t cap)
{
	(void)snprintf(buf, cap, "%d%c%d", (int)a->stage, action_letters[a->kind], (int)a->micro_batch);
	return buf;
}

bool pipeline_shorten(const struct pipeline *pl, int64_t actions, struct pipeline *few, int64_t *rest)
{
	bool groups = schedule_table[pl->schedule].has_groups;
	int64_t step = groups ? pipeline_group(pl) : pl->p, least = groups ? step : 2 * pl->p;
	int64_t most = actions * pl->m / pipeline_actions(pl);

	*few = *pl;
	few->group = groups ? step : 0;
	*rest = pl->m > most ? num_ceil_div(pl->m - most, step) * step : 0;
	few->m = pl->m - *rest;
	return *rest == 0 || few->m >= least;
}
