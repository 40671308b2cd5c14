/* Schedules on the loop placement with whole backwards.
 *
 *   naive        one micro-batch at a time through the whole pipeline
 *   gpipe        all forwards, then all backwards in the same order (PyTorch ScheduleGPipe)
 *   gpipe-lifo   the same, backwards in reverse order (Huang 2019): looped-bfs with one chunk
 *   looped-bfs   all micro-batches of chunk 0, then of chunk 1 ...; backwards in reverse (Lamy-Poirier 2022; PyTorch
 * ScheduleLoopedBFS) 1f1b         w = min(m, p-1-r) forwards, then one forward one backward, then the rest (Narayanan 2021;
 * Megatron-LM schedules.py) interleaved  the same over v chunks in groups of g micro-batches: w = min(m v, 2 (p-1-r) + (v-1) g)
 * (Narayanan 2021, sec. 2.2; Megatron-LM get_schedule_table; PyTorch ScheduleInterleaved1F1B)
 */
#include "sched_internal.h"

#include "num.h"

enum { STREAM_F, STREAM_B };
static const uint8_t forward_op[] = { OP(STREAM_F, ACTION_FORWARD, 0) };
static const uint8_t backward_op[] = { OP(STREAM_B, ACTION_BACKWARD, 0) };
static const uint8_t pair_op[] = { OP(STREAM_F, ACTION_FORWARD, 0), OP(STREAM_B, ACTION_BACKWARD, 0) };

static void plain_streams(int64_t rank, struct sched_program *g)
{
	sched_program_init(g);
	sched_stream_plain(g, STREAM_F, rank, 0);
	sched_stream_plain(g, STREAM_B, rank, 0);
}

/* F0 B0 F1 B1 ... */
void sched_naive(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	plain_streams(rank, g);
	sched_segment_add(g, 2 * pl->m, 2, pair_op);
}

void sched_gpipe(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	plain_streams(rank, g);
	sched_segment_add(g, pl->m, 1, forward_op);
	sched_segment_add(g, pl->m, 1, backward_op);
}

void sched_looped_bfs(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	int64_t v = pl->v;

	sched_program_init(g);
	sched_stream_groups(g, STREAM_F, rank, pl->p, v, pl->m, pl->m, 1);
	sched_stream_groups(g, STREAM_B, (v - 1) * pl->p + rank, -pl->p, v, pl->m, pl->m, -1);
	sched_segment_add(g, pl->m * v, 1, forward_op);
	sched_segment_add(g, pl->m * v, 1, backward_op);
}

int64_t sched_interleaved_warm_up(const struct pipeline *pl, int64_t rank)
{
	int64_t behind = pl->p - 1 - rank;

	/* One chunk is 1F1B, whose warm-up has no factor 2. */
	return num_min(pl->v == 1 ? behind : 2 * behind + (pl->v - 1) * pipeline_group(pl), pl->m * pl->v);
}

void sched_interleaved(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	int64_t v = pl->v, group = v > 1 ? pipeline_group(pl) : pl->m;
	int64_t n = pl->m * v, w = sched_interleaved_warm_up(pl, rank);

	sched_program_init(g);
	sched_stream_groups(g, STREAM_F, rank, pl->p, v, group, pl->m, 1);
	sched_stream_groups(g, STREAM_B, (v - 1) * pl->p + rank, -pl->p, v, group, pl->m, 1);
	sched_segment_add(g, w, 1, forward_op);
	sched_segment_add(g, 2 * (n - w), 2, pair_op);
	sched_segment_add(g, w, 1, backward_op);
}
