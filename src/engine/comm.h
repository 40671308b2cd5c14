/* Seconds of a collective on a group of ranks: latency plus bytes over bandwidth, on two levels. */
#ifndef MESHPLAN_COMM_H
#define MESHPLAN_COMM_H

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* The links of a cluster as collectives see them. */
struct links {
	double latency_s[COLLECTIVE_COUNT], rate_bps[COLLECTIVE_COUNT]; /* inside the link domain */
	double nic_bps;                                                 /* reached per GPU across domains */
	double node_latency_s, rank_latency_s;
	int64_t domain; /* GPUs joined by the fast link */
	bool mesh;      /* fewer partners share fewer links (V100 hybrid mesh) */
};

/* Reads the links out of a scenario: GPU family rates scaled to this card's link, the node's NICs, fitted efficiencies. */
struct links comm_links(const struct scenario *s);

/* Seconds for one collective of n ranks, `stride` apart in rank order (tp innermost), over a buffer of `bytes` in full
 * (all-to-all: what one rank sends). n <= 1: 0. inside a domain:  a + S f / B                       f = 2(n-1)/n for all-reduce,
 * (n-1)/n otherwise across k domains: a + c((k-1) l_node + (n-1) l_rank) + S f / min(B, g nic)     g ranks per domain, c = 2 for
 * all-reduce Src: alpha-beta (Hockney 1994) with NCCL's measured bus bandwidths; hierarchy as NCCL rings cross nodes. */
double comm_collective_s(const struct links *k, enum collective op, double n, double bytes, int64_t stride);

/* The two algorithms of an all-reduce across k domains of g ranks of the group, same arguments. Ring: comm_collective_s. Double
 * binary tree over domains, a chain inside:
 *   a + 2 (log2(k) l_node + (g - 1) l_rank) + 2 S / (0.92 min(B, g nic))
 * comm_all_reduce_s: the faster one, as NCCL chooses; inside a domain its measured figures contain the choice. Src: NCCL
 * src/graph/tuning.cc. */
double comm_tree_all_reduce_s(const struct links *k, double n, double bytes, int64_t stride);
double comm_all_reduce_s(const struct links *k, double n, double bytes, int64_t stride);

/* One rank's buffer to n - 1 others down a ring, in pieces: a + (k - 1) l_node + (n - 1) l_rank + S / min(B, g nic). n <= 1: 0.
 * Src: the same. */
double comm_broadcast_s(const struct links *k, double n, double bytes, int64_t stride);

/* Seconds to send `bytes` to the next pipeline stage; across: the stages lie in different domains. */
double comm_send_s(const struct links *k, double bytes, bool across);

/* Seconds for one expert all-to-all one way. token_bytes: all local tokens once; topk copies each; ep ranks, etp apart. per_node:
 * a token crosses once per distinct domain, kn (1 - (1 - 1/kn)^topk) of kn, at most `node_limit` (0: no limit). Src: DeepEP;
 * DeepSeek-V3 sec. 3.2.2. */
double comm_dispatch_s(
	const struct links *k, double token_bytes, double topk, double ep, int64_t etp, bool per_node, double node_limit);

#endif
