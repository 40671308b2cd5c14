/* DualPipe and DualPipeV: two directions on every rank, forwards and backwards of opposite directions overlapped.
 *
 * Src: deepseek-ai/DualPipe dualpipe/dualpipe.py and dualpipev.py step(); PyTorch ScheduleDualPipeV. H ranks from the end to the
 * turn, M micro-batches per direction, q = distance of the rank from the end: DualPipe H = p/2, M = m/2, q = min(r, p-1-r);
 * DualPipeV H = p, M = m, q = r. Direction 0 is the stage that the rank has nearer to the input (stage q), direction 1 the other
 * (stage S-1-q):
 *
 *   1  2 (H-q-1)       F0                    5  H-q-1     B1 [F1 B0]
 *   2  q+1             F0 F1                 6  q+1       B1 B0, of the 2 (q+1) the second half I instead of B
 *   3  H-q-1           I1 W1 F1              7  H-q-1     W I0
 *   4  M-2H+q+1        [F0 B1] [F1 B0]       8  q+1       W
 *
 * [..] is an overlapped block; on the turning rank (q = H-1) the very first pair of step 4 runs as two actions. The W of steps 7
 * and 8 take the pending I first in, first out across both directions: those of step 6 in turn, then those of step 7. */
#include "sched_internal.h"

#include "num.h"

enum { F0, F1, X0, X1, V1, U0, U1 }; /* X: I and B of a direction; V1: W of step 3; U: W of steps 7 and 8 */

#define F(d) OP(d ? F1 : F0, ACTION_FORWARD, 0)
#define B(d) OP(d ? X1 : X0, ACTION_BACKWARD, 0)
#define I(d) OP(d ? X1 : X0, ACTION_INPUT, 0)
#define W(d) OP(d ? U1 : U0, ACTION_WEIGHT, 0)
#define BLOCK(d) OP(d ? F1 : F0, ACTION_FORWARD, 1), OP(d ? X0 : X1, ACTION_BACKWARD, 1)

struct shape {
	int64_t h, m, q;
};

static void fill_and_steady(const struct shape *x, struct sched_program *g)
{
	static const uint8_t step1[] = { F(0) }, step2[] = { F(0), F(1) };
	static const uint8_t step3[] = { I(1), OP(V1, ACTION_WEIGHT, 0), F(1) };
	static const uint8_t first[] = { F(0), B(1) }, second[] = { BLOCK(1) }, step4[] = { BLOCK(0), BLOCK(1) };
	int64_t n3 = x->h - x->q - 1, n4 = x->m - 2 * x->h + x->q + 1;

	sched_segment_add(g, 2 * n3, 1, step1);
	sched_segment_add(g, 2 * (x->q + 1), 2, step2);
	sched_segment_add(g, 3 * n3, 3, step3);
	if (n3 == 0) {
		sched_segment_add(g, 2, 2, first);
		sched_segment_add(g, 2, 2, second);
		n4--;
	}
	sched_segment_add(g, 4 * n4, 4, step4);
}

/* Steps 6 to 8: item y of step 6 is direction 1 when y is even. */
static void drain(const struct shape *x, struct sched_program *g)
{
	static const uint8_t step5[] = { B(1), BLOCK(1) };
	static const uint8_t backwards[] = { B(1), B(0) };
	static const uint8_t inputs[2][2] = { { I(1), I(0) }, { I(0), I(1) } };
	static const uint8_t weights_inputs[2][4] = { { W(1), I(0), W(0), I(0) }, { W(0), I(0), W(1), I(0) } };
	static const uint8_t weights[2][2] = { { W(1), W(0) }, { W(0), W(1) } };
	static const uint8_t step7[] = { W(0), I(0) }, step8[] = { W(0) };
	int64_t n3 = x->h - x->q - 1, turn = x->q + 1, taken = num_min(n3, turn);

	sched_segment_add(g, 3 * n3, 3, step5);
	sched_segment_add(g, turn, 2, backwards);
	sched_segment_add(g, turn, 2, inputs[turn % 2]);
	sched_segment_add(g, 2 * taken, 4, weights_inputs[turn % 2]);
	sched_segment_add(g, 2 * (n3 - taken), 2, step7);
	sched_segment_add(g, turn - taken, 2, weights[(turn + taken) % 2]);
	sched_segment_add(g, taken, 1, step8);
}

void sched_dualpipe(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	bool both = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL;
	struct shape x = {
		.h = both ? pl->p / 2 : pl->p, .m = both ? pl->m / 2 : pl->m, .q = both ? num_min(rank, pl->p - 1 - rank) : rank
	};
	int64_t stage0 = x.q, stage1 = pipeline_stages(pl) - 1 - x.q;
	/* Ranks of the second half run the first direction's stages with the second half of the micro-batches. */
	int64_t base0 = both && rank >= pl->p / 2 ? x.m : 0, base1 = both && rank < pl->p / 2 ? x.m : 0;
	int64_t even = (x.q + 2) / 2 * 2, odd = (x.q + 1) / 2 * 2 + 1; /* first items of step 6 from q+1 on */

	sched_program_init(g);
	sched_stream_plain(g, F0, stage0, base0);
	sched_stream_plain(g, F1, stage1, base1);
	sched_stream_plain(g, X0, stage0, base0);
	sched_stream_plain(g, X1, stage1, base1);
	sched_stream_plain(g, V1, stage1, base1);
	sched_stream_plain(g, U0, stage0, base0 + x.m - x.h + odd / 2);
	sched_stream_plain(g, U1, stage1, base1 + x.m - x.q - 1 + even / 2);
	fill_and_steady(&x, g);
	drain(&x, g);
}
