/* plan_evaluate(): scenario in, plan out. Orchestration only; pure, reentrant, allocates nothing. */
#ifndef MESHPLAN_PLAN_H
#define MESHPLAN_PLAN_H

#include "err.h"
#include "memory.h"
#include "scenario.h"
#include "schedule.h"
#include "step.h"
#include "throughput.h"

#include <stdbool.h>
#include <stdint.h>

enum verdict_limit { LIMIT_NONE, LIMIT_GPU_MEMORY, LIMIT_HOST_MEMORY, LIMIT_NVME, LIMIT_UNKNOWN, LIMIT_COUNT };
extern const char *const verdict_limit_names[LIMIT_COUNT]; /* JSON values */

struct verdict {
	bool known; /* false: the card's capacity is not known, fits means nothing */
	bool fits, tight;
	bool decimal;                                   /* a ledger that counts in GB of 10^9 bytes: texts do so too */
	int64_t need_bytes, have_bytes, headroom_bytes; /* of the limit that binds; GPU memory if none does */
	int64_t worst_stage;
	int32_t limit; /* enum verdict_limit */
};

enum diagnostic_level { DIAGNOSTIC_NOTE, DIAGNOSTIC_WARNING, DIAGNOSTIC_ERROR, DIAGNOSTIC_LEVEL_COUNT };
extern const char *const diagnostic_level_names[DIAGNOSTIC_LEVEL_COUNT];

struct diagnostic {
	int32_t level;         /* enum diagnostic_level */
	const char *id, *knob; /* "zero-dp1", "zero" */
	char text[200];
};

enum { PLAN_DIAGNOSTICS_MAX = 12 };

struct plan {
	struct verdict verdict;
	int64_t dp, micro_batches, nodes, gpus_per_node;
	int64_t params, active_params; /* of the whole model, MTP apart */
	int64_t padded_vocab;
	bool split_is_uneven;
	int32_t pp_split_used;
	struct stage_memory worst;       /* of verdict.worst_stage */
	int64_t phase_peak[PHASE_COUNT]; /* max over stages */
	int64_t host_bytes_per_node, nvme_bytes_per_node;
	struct memory_ledger ledger;
	struct pipeline pipeline;
	double bubble_of_step, bubble_over_ideal; /* equal stages, F : B = 1 : 2 */
	int64_t bubble_span_ticks;                /* same, ticks of F = 1 */
	struct step_time step;                    /* .known: the GPU has rates */
	struct throughput throughput;
	double band;           /* the prediction is good to about this share */
	bool bubble_is_stated; /* an estimate: the order of this schedule depends on times, or has no closed form for this shape
				*/
	int64_t n_diagnostics;
	struct diagnostic diagnostics[PLAN_DIAGNOSTICS_MAX];
};

/* Evaluates a scenario. ERR_* when it is invalid (scenario_check); too big is a result, not an error. */
enum err_code plan_evaluate(const struct scenario *s, struct plan *p, struct err *e) NODISCARD;

/* The memory part alone: everything of *p but step, throughput, cost and diagnostics. What the search looks at first. */
enum err_code plan_evaluate_memory(const struct scenario *s, struct plan *p, struct err *e) NODISCARD;
/* Adds step, throughput and cost to a plan whose memory part is there. */
void plan_evaluate_time(const struct scenario *s, struct plan *p);

/* plan_diagnose.c: fills the diagnostics of a plan whose other members are there. */
void plan_diagnose(const struct scenario *s, struct plan *p);

/* How far the step time may be off, as a share: p->band, wider for every knob that decides on speed and was not given. 0: speed
 * not known. */
struct draft;
double plan_band(const struct draft *d, const struct plan *p);
/* Whether measured steps of this GPU and precision set the level that the plan uses. */
bool plan_is_calibrated(const struct scenario *s);

/* The verdict in one English line: "DOES NOT FIT  123 GiB short on stage 0". The word alone is verdict_word(). */
const char *verdict_word(const struct verdict *v); /* FITS, TIGHT, DOES NOT FIT, UNKNOWN */
char *verdict_text(const struct verdict *v, char *buf, size_t cap);

#endif
