/* Tokens per second, model FLOPs and utilisation from a step time. */
#ifndef MESHPLAN_THROUGHPUT_H
#define MESHPLAN_THROUGHPUT_H

#include "scenario.h"
#include "step.h"

struct throughput {
	double tokens_per_s, tokens_per_s_per_gpu;
	double model_flops_per_gpu, hardware_flops_per_gpu; /* per second; hardware: recomputation counted */
	double mfu, hfu;                                    /* over the dense peak of the precision's matrix multiplies */
	double peak_flops;
};

/* Model FLOPs of one token, forward and backward, by the scenario's convention. N: active parameters with the head, without the
 * input embedding. Src: Kaplan 2020 (6N); Chowdhery 2022 (PaLM) appendix B; Narayanan 2021 eq. 3 without recomputation. */
double throughput_flops_per_token(const struct scenario *s);
/* What a step time means. step->known must hold. */
struct throughput throughput_of(const struct scenario *s, const struct step_time *step);

#endif
