/* Tokens to steps, days, GPU hours, dollars, energy; failures and checkpoints in between. */
#ifndef MESHPLAN_COST_H
#define MESHPLAN_COST_H

#include "scenario.h"
#include "step.h"

/* ASSUMPTION: seconds to detect a failure, restart and reload. */
#define COST_RESTART_S 900.0
/* ASSUMPTION: boards draw this share of TDP while training. Src: BLOOM carbon paper (Luccioni 2022) assumes full TDP; measured
 * racks less. */
#define COST_POWER_UTILISATION 0.85

struct cost {
	double tokens, steps;
	double step_days;                 /* the steps alone */
	double days, gpu_hours, usd, kwh; /* wall clock: goodput included */
	double goodput;                   /* share of wall time that trains: the given base times what failures leave */
	double failure_loss;              /* share of time lost to failures, restarts and checkpoints */
	double cluster_mtbf_s;            /* mean time between failures of the whole cluster */
	double checkpoint_bytes, checkpoint_s, checkpoint_interval_s;
	double price_usd_per_hour;
};

/* What the run costs. step->known must hold; price 0 (no default known): usd is 0.
 *   steps = tokens / (global batch x seq);  gpu hours = steps x step x gpus / 3600 / goodput
 *   best checkpoint interval sqrt(2 w M) (Young 1974; Daly 2006), loss = w / interval + (interval / 2 + restart) / M
 *   energy = TDP x utilisation x PUE x gpu hours. */
struct cost cost_of(const struct scenario *s, const struct step_time *step);
/* Tokens to train on: as given, or 20 per parameter (Hoffmann 2022). */
double cost_tokens(const struct scenario *s);

#endif
