/* What can be combined: each framework's own argument validation, and the arithmetic every layout must obey. */
#ifndef MESHPLAN_RULES_H
#define MESHPLAN_RULES_H

#include "err.h"
#include "scenario.h"
#include "schedule.h"

#include <stdbool.h>

enum framework_can {
	CAN_TP = 1,
	CAN_SP = 2,
	CAN_PP = 4,
	CAN_VPP = 8,
	CAN_CP = 16,
	CAN_EP = 32,
	CAN_ETP = 64,
	CAN_HSDP = 128,
	CAN_OFFLOAD_CPU = 256,
	CAN_OFFLOAD_NVME = 512,
	CAN_OFFLOAD_PARAMS = 1024,
	CAN_LORA = 2048,
	CAN_QLORA = 4096,
	CAN_SELECTIVE = 8192,
};

/* One framework: what its own argument checks accept. */
struct framework_rules {
	int64_t zero_min, zero_max, zero_max_with_pp, zero_default;
	uint32_t can;       /* enum framework_can */
	uint32_t schedules; /* bit per enum schedule_id */
	const char *cite;
};
extern const struct framework_rules framework_rules_table[FRAMEWORK_COUNT];

/* Schedules of the scenario's framework and profile: bit per enum schedule_id. */
uint32_t rules_schedules(const struct scenario *s);
/* "1 2 4 8": the divisors of n up to most, at most 12 of them. Returns buf. */
const char *rules_divisors(int64_t n, int64_t most, char *buf, size_t cap);
/* The pipeline of a scenario, with the group that its framework takes. */
struct pipeline scenario_pipeline(const struct scenario *s);

/* Whether the scenario is legal as a whole. The error names the knob, the value, and the legal values of that knob here.
 * Infeasible (too big for the card) is not an error. */
enum err_code scenario_check(const struct scenario *s, struct err *e) NODISCARD;

#endif
