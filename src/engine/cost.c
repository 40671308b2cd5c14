#include "cost.h"

#include <math.h>

/* Hoffmann 2022 (Chinchilla): about 20 tokens per parameter. */
#define CHINCHILLA_TOKENS 20
/* A checkpoint: 16-bit weights, fp32 master copy and two moments. Src: ledger of mixed-precision AdamW. */
#define CHECKPOINT_BYTES 14
/* ASSUMPTION: what one node writes to storage, bytes per second. */
#define NODE_WRITE_BPS 2e9
#define SECONDS_PER_HOUR 3600.0
#define HOURS_PER_DAY 24.0

double cost_tokens(const struct scenario *s)
{
	return s->cost.tokens > 0 ? (double)s->cost.tokens : CHINCHILLA_TOKENS * (double)model_active_params(&s->model);
}

static void fill_failures(const struct scenario *s, struct cost *c)
{
	double gpus = (double)s->cluster.gpus, nodes = ceil(gpus / (double)s->cluster.gpus_per_node);

	c->checkpoint_bytes = CHECKPOINT_BYTES * (double)model_params(&s->model);
	c->checkpoint_s = c->checkpoint_bytes / (nodes * NODE_WRITE_BPS);
	if (s->cost.mtbf_hours <= 0)
		return;
	c->cluster_mtbf_s = s->cost.mtbf_hours * SECONDS_PER_HOUR / gpus;
	c->checkpoint_interval_s = sqrt(2 * c->checkpoint_s * c->cluster_mtbf_s);
	c->failure_loss =
		c->checkpoint_s / c->checkpoint_interval_s + (c->checkpoint_interval_s / 2 + COST_RESTART_S) / c->cluster_mtbf_s;
	c->failure_loss = fmin(c->failure_loss, 0.99);
}

struct cost cost_of(const struct scenario *s, const struct step_time *step)
{
	double per_step = (double)s->training.global_batch * (double)s->training.seq, gpus = (double)s->cluster.gpus;
	struct cost c = { .tokens = cost_tokens(s),
		.price_usd_per_hour = s->cost.price > 0 ? s->cost.price : s->cluster.gpu.usd_per_hour };

	c.steps = ceil(c.tokens / per_step);
	c.step_days = c.steps * step->step_s / SECONDS_PER_HOUR / HOURS_PER_DAY;
	fill_failures(s, &c);
	c.goodput = s->cost.goodput * (1 - c.failure_loss);
	c.days = c.step_days / c.goodput;
	c.gpu_hours = c.days * HOURS_PER_DAY * gpus;
	c.usd = c.gpu_hours * c.price_usd_per_hour;
	c.kwh = c.gpu_hours * s->cluster.gpu.tdp_w / 1000 * COST_POWER_UTILISATION * s->cost.pue;
	return c;
}
