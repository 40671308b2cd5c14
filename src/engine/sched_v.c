/* ZB-V in PyTorch's closed form (ScheduleZBVZeroBubble): rank r holds A = r and Z = 2p-1-r; for n >= 2p-1 micro-batches
 *
 *   2(p-r)-1      FA               p-r-1   IA WA FZ IZ WZ        r   WZ
 *   r             FZ FA            r       IA IZ                 r   WA
 *   p-r           FZ IZ WZ         p-r     IA WA
 *   n-2p+1+r      FA IA WA FZ IZ WZ
 *
 * With fewer micro-batches PyTorch generates 2p-1 and leaves out what there is not; that changes the result, so it is kept. */
#include "sched_internal.h"

#include "num.h"

enum { FA, FZ, IA, IZ, WA, WZ };

#define F(c) OP(F##c, ACTION_FORWARD, 0)
#define I(c) OP(I##c, ACTION_INPUT, 0)
#define W(c) OP(W##c, ACTION_WEIGHT, 0)

void sched_zb_v(const struct pipeline *pl, int64_t rank, struct sched_program *g)
{
	static const uint8_t fill[] = { F(A) }, turn[] = { F(Z), F(A) }, first[] = { F(Z), I(Z), W(Z) };
	static const uint8_t steady[] = { F(A), I(A), W(A), F(Z), I(Z), W(Z) }, last[] = { I(A), W(A), F(Z), I(Z), W(Z) };
	static const uint8_t inputs[] = { I(A), I(Z) }, drain[] = { I(A), W(A) }, weight_z[] = { W(Z) }, weight_a[] = { W(A) };
	int64_t p = pl->p, n = num_max(pl->m, 2 * p - 1);

	sched_program_init(g);
	if (pl->m < n)
		g->keep = (int32_t)pl->m;
	for (int s = FA; s <= WZ; s++)
		sched_stream_plain(g, s, s % 2 == 0 ? rank : 2 * p - 1 - rank, 0);
	sched_segment_add(g, 2 * (p - rank) - 1, 1, fill);
	sched_segment_add(g, 2 * rank, 2, turn);
	sched_segment_add(g, 3 * (p - rank), 3, first);
	sched_segment_add(g, 6 * (n - 2 * p + 1 + rank), 6, steady);
	sched_segment_add(g, 5 * (p - rank - 1), 5, last);
	sched_segment_add(g, 2 * rank, 2, inputs);
	sched_segment_add(g, 2 * (p - rank), 2, drain);
	sched_segment_add(g, rank, 1, weight_z);
	sched_segment_add(g, rank, 1, weight_a);
}
