#include "comm.h"

#include <math.h>
#include <string.h>

/* Latencies of a dispatch that crosses domains, in node hops: send, notify, combine, notify. ASSUMPTION of the fitted model. */
#define DISPATCH_HOPS 4
/* Stage-to-stage transfers: one hop each way of the handshake. ASSUMPTION of the fitted model. */
#define SEND_HOPS 2
/* A single send does not fill the links that a gather fills. ASSUMPTION of the fitted model. */
#define SEND_RATE 0.8

/* Bandwidth of NCCL's trees over that of its rings. Src: NCCL src/graph/tuning.cc. */
#define TREE_RATE 0.92

static double nic_line_rate_bps(const struct scenario *s)
{
	const struct node *n = &s->cluster.node;

	if (s->cluster.nic_gbs > 0)
		return s->cluster.nic_gbs * 1e9;
	if (n->nics > 0 && n->nic_bps > 0 && n->gpus_per_node > 0)
		return (double)n->nics * n->nic_bps / (double)n->gpus_per_node;
	return s->cluster.family.nic_bps;
}

struct links comm_links(const struct scenario *s)
{
	const struct gpu_family *f = &s->cluster.family;
	const double *c = s->coefficients.v;
	double scale = s->cluster.gpu.link_bps > 0 && f->link_bps > 0 ? s->cluster.gpu.link_bps / f->link_bps : 1;
	struct links k = { .node_latency_s = c[COEF_LATENCY_NODE], .rank_latency_s = c[COEF_LATENCY_RANK] };

	for (int i = 0; i < COLLECTIVE_COUNT; i++) {
		k.latency_s[i] = f->latency_us[i] * 1e-6;
		k.rate_bps[i] = f->rate_bps[i] * scale;
	}
	k.nic_bps = nic_line_rate_bps(s) * c[COEF_NIC] *
		(strstr(s->cluster.node.fabric, "Omni-Path") != NULL ? c[COEF_NIC_OMNIPATH] : 1);
	k.domain = s->cluster.node.nvlink_domain_gpus > s->cluster.gpus_per_node ? s->cluster.node.nvlink_domain_gpus
										 : s->cluster.gpus_per_node;
	k.mesh = f->link_domain > 0;
	if (k.mesh && f->link_domain < k.domain)
		k.domain = f->link_domain;
	return k;
}

/* How a group lies over the link domains, and the bandwidth that its ranks reach. */
struct shape {
	double domains, inside, rate_bps;
};

static struct shape shape_of(const struct links *k, enum collective op, double n, int64_t stride)
{
	double rate = k->rate_bps[op], inside = fmax(1, fmin(n, (double)(k->domain / stride)));

	if (k->mesh && inside > 1)
		rate *= (inside - 1) / ((double)k->domain - 1);
	return (struct shape){ ceil(n / inside), inside, n > inside ? fmin(rate, inside * k->nic_bps) : rate };
}

/* Steps of a ring through all ranks, once. */
static double ring_s(const struct links *k, const struct shape *x, double n)
{
	return x->domains > 1 ? (x->domains - 1) * k->node_latency_s + (n - 1) * k->rank_latency_s : 0;
}

double comm_collective_s(const struct links *k, enum collective op, double n, double bytes, int64_t stride)
{
	double passes = op == COLLECTIVE_ALL_REDUCE ? 2 : 1;
	struct shape x;

	if (n <= 1)
		return 0;
	x = shape_of(k, op, n, stride);
	return k->latency_s[op] + passes * ring_s(k, &x, n) + bytes * (passes * (n - 1) / n) / x.rate_bps;
}

double comm_tree_all_reduce_s(const struct links *k, double n, double bytes, int64_t stride)
{
	struct shape x;

	if (n <= 1)
		return 0;
	x = shape_of(k, COLLECTIVE_ALL_REDUCE, n, stride);
	return k->latency_s[COLLECTIVE_ALL_REDUCE] +
		2 * (log2(fmax(1, x.domains)) * k->node_latency_s + (x.inside - 1) * k->rank_latency_s) +
		2 * bytes / (TREE_RATE * x.rate_bps);
}

double comm_all_reduce_s(const struct links *k, double n, double bytes, int64_t stride)
{
	double ring = comm_collective_s(k, COLLECTIVE_ALL_REDUCE, n, bytes, stride);

	return n > fmax(1, (double)(k->domain / stride)) ? fmin(ring, comm_tree_all_reduce_s(k, n, bytes, stride)) : ring;
}

double comm_broadcast_s(const struct links *k, double n, double bytes, int64_t stride)
{
	struct shape x;

	if (n <= 1)
		return 0;
	x = shape_of(k, COLLECTIVE_GATHER, n, stride);
	return k->latency_s[COLLECTIVE_GATHER] + ring_s(k, &x, n) + bytes / x.rate_bps;
}

double comm_send_s(const struct links *k, double bytes, bool across)
{
	double rate = across ? k->nic_bps : SEND_RATE * k->rate_bps[COLLECTIVE_GATHER];

	return bytes / rate + SEND_HOPS * k->node_latency_s;
}

/* Distinct places of n that topk balanced choices hit. */
static double distinct(double n, double topk)
{
	return n * (1 - pow(1 - 1 / n, topk));
}

double comm_dispatch_s(
	const struct links *k, double token_bytes, double topk, double ep, int64_t etp, bool per_node, double node_limit)
{
	double inside = fmax(1, fmin(ep, (double)(k->domain / etp))), domains = ceil(ep / inside), copies = topk;

	if (ep <= 1)
		return 0;
	if (domains <= 1) {
		if (per_node)
			copies = distinct(ep, topk);
		return k->latency_s[COLLECTIVE_ALL_TO_ALL] +
			token_bytes * copies * (ep - 1) / ep / k->rate_bps[COLLECTIVE_ALL_TO_ALL];
	}
	if (per_node) {
		copies = distinct(domains, topk);
		if (node_limit > 0)
			copies = fmin(copies, node_limit);
	}
	return k->latency_s[COLLECTIVE_ALL_TO_ALL] + DISPATCH_HOPS * k->node_latency_s +
		token_bytes * copies * (domains - 1) / domains / k->nic_bps;
}
