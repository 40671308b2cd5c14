/* What crosses PCIe: states of an offloaded optimizer once per step, offloaded weights at every gather, offloaded activations out
 * in the forward and back in the backward. NVMe is taken to be as fast as host memory. */
#include "step_internal.h"

#include <math.h>

/* CPU optimizer: bytes over PCIe per owned parameter. Src: ZeRO-Offload, Ren 2021. */
#define STATE_BYTES 16

/* Copies through pinned memory; where the card's PCIe is not known, generation 3. */
static double host_bps(const struct scenario *s)
{
	return hardware_host_bps(s->cluster.gpu.pcie_gen > 0 ? s->cluster.gpu.pcie_gen : 3);
}

void step_offload_activations(const struct scenario *s, double saved_bytes, struct layer_time *y)
{
	double copy = s->training.offload_activations ? saved_bytes / host_bps(s) : 0;
	double out = fmax(0, copy - y->forward_s), back = fmax(0, copy - y->recompute_s - y->input_s - y->weight_s);

	y->forward_s += out;
	y->input_s += back;
	y->offload_s = out + back;
}

static bool weights_on_host(const struct scenario *s)
{
	const struct training *t = &s->training;

	return step_shards_weights(s) &&
		(t->offload_params != OFFLOAD_NONE || (t->offload != OFFLOAD_NONE && s->profile.offload_moves_all));
}

/* A rank's own part of a layer comes in before the forward and, unless what was gathered stays, before the backward. */
static double layer_s(const struct layer_group *y, double times, double weights, double again)
{
	return times * fmax(0, weights - y->busy_forward_s) + (times - y->reduced) * fmax(0, again - y->busy_backward_s) +
		y->reduced * fmax(0, again - y->busy_reducing_s);
}

double step_offload_weights(const struct step_model *m, const struct rank_load *t)
{
	const struct scenario *s = m->s;
	bool once = step_gathers_once(s);
	double bps = host_bps(s), times = m->micro_batches, again = s->layout.zero == 2 ? 0 : 1, sum;
	struct held_params ends = { .dense = t->ends };

	if (!weights_on_host(s))
		return 0;
	sum = (once ? 1 : STEP_UNIT_EXPOSED * times * (1 + again)) * step_owned_weights(m, &ends) / bps;
	for (int i = 0; i < LAYER_KINDS; i++) {
		const struct layer_group *y = &t->group[i];
		double weights = step_owned_weights(m, &y->one) / bps;

		sum += y->layers * (once ? weights : layer_s(y, times, weights, again * weights));
	}
	return sum;
}

double step_offload_states(const struct scenario *s, double owned)
{
	return s->training.offload != OFFLOAD_NONE ? STATE_BYTES * owned / STEP_OFFLOAD_BPS : 0;
}
