/* The fitted numbers of the step-time model: few, physical, named. A set of them is a preset file (presets/coefficients) that
 * says what it was fitted on; profiles and GPU families refer to members by name. */
#ifndef MESHPLAN_COEFFICIENTS_H
#define MESHPLAN_COEFFICIENTS_H

#include "field.h"

#include <stdint.h>

enum coefficient {
	COEF_ONE, /* always 1: the reference */
	COEF_GEMM_V100,
	COEF_GEMM_A100,
	COEF_GEMM_H100,
	COEF_GEMM_B200,
	COEF_GEMM_B300,
	COEF_GEMM8_H100,
	COEF_GEMM8_B200,
	COEF_GEMM8_B300,
	COEF_GEMM8_GROUPED,
	COEF_GEMM4_B200,
	COEF_GEMM4_B300,
	COEF_F_COMPOSER_PURE,
	COEF_F_COMPOSER,
	COEF_F_COMPOSER_H100,
	COEF_F_MEGATRON_DEEPSPEED,
	COEF_F_NEOX,
	COEF_F_MEGATRON_2023,
	COEF_F_TITAN,
	COEF_F_AUTOMODEL,
	COEF_F_MEGASCALE,
	COEF_F_MAXTEXT,
	COEF_F_NEMO_BLACKWELL,
	COEF_F_TITAN_BLACKWELL,
	COEF_F_DEEPSPEED_ZERO3,
	COEF_HBM,
	COEF_ELEMENTWISE_EAGER,
	COEF_ELEMENTWISE_FUSED,
	COEF_ATTENTION_S0,
	COEF_ATTENTION_V100,
	COEF_ATTENTION_A100,
	COEF_ATTENTION_H100,
	COEF_ATTENTION_H100_FLASH12,
	COEF_ATTENTION_H100_SDPA,
	COEF_ATTENTION_B200,
	COEF_ATTENTION_B300,
	COEF_ATTENTION_BACKWARD,
	COEF_UNALIGNED_ATTENTION,
	COEF_UNALIGNED_GEMM,
	COEF_UNFUSED_BYTES,
	COEF_ROWWISE_FP8,
	COEF_CAST_BYTES,
	COEF_LAUNCH_EAGER,
	COEF_LAUNCH_FUSED,
	COEF_TP_RATE,
	COEF_TP_RATE_DEEPSPEED,
	COEF_TP_HIDDEN,
	COEF_TP_HIDDEN_ASYNC,
	COEF_TP_BACKWARD_HIDDEN,
	COEF_CP_IMBALANCE,
	COEF_SAC_SHARE,
	COEF_NIC,
	COEF_NIC_OMNIPATH,
	COEF_LATENCY_NODE,
	COEF_LATENCY_RANK,
	COEF_DP_LAST,
	COEF_DP_CONTENTION,
	COEF_FSDP_CONTENTION,
	COEF_FSDP_CONTENTION_COMPOSER,
	COEF_ZERO3_RATE,
	COEF_PP_EXPOSED,
	COEF_PP_HIDDEN,
	COEF_EP_EXPOSED,
	COEF_EP_EXPOSED_OVERLAP,
	COEF_MOE_GEMM,
	COEF_MOE_BYTES,
	COEF_MOE_HOST,
	COEF_MOE_HOST_EXPERT,
	COEF_MOE_GRAPHS,
	COEF_STEP_FIXED,
	COEF_STRAGGLER,
	COEF_COUNT
};

struct coefficient_info {
	const char *key, *unit, *help;
	double prior, prior_sd; /* log standard deviation that the fit was pulled with; 0: fixed */
};
extern const struct coefficient_info coefficient_table[COEF_COUNT];
/* The keys in order, NULL-terminated: the names a field of another preset may take. */
extern const char *const coefficient_names[COEF_COUNT + 1];

struct coefficients {
	char id[40], label[80], date[16], source[240];
	int32_t is_default; /* the set that ships for planning */
	int32_t calibrated; /* enum coefficient: the level that measured steps of one cluster set; COEF_ONE: none */
	double level_sd;    /* log standard deviation that is left of that level */
	double v[COEF_COUNT];
};
extern const struct field_table coefficients_fields;

#endif
