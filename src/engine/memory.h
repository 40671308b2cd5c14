/* Memory: bytes per GPU by category, per host and per NVMe, for each pipeline stage, and the phase peaks.
 * Peak = persistent + max over instants of transient; phases that alternate are never added. Constants are in the framework
 * profile. */
#ifndef MESHPLAN_MEMORY_H
#define MESHPLAN_MEMORY_H

#include "err.h"
#include "scenario.h"
#include "schedule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_category {
	MEMORY_WEIGHTS,
	MEMORY_MASTER_WEIGHTS,
	MEMORY_GRADIENTS,
	MEMORY_OPTIMIZER,
	MEMORY_ACTIVATIONS,
	MEMORY_LOGITS,
	MEMORY_TRANSIENT,
	MEMORY_RESERVED,
	MEMORY_CATEGORY_COUNT
};

struct memory_category_info {
	const char *key;   /* JSON key */
	const char *label; /* N_() */
	char letter;       /* in bars: W M G O A L T R */
	int draw_order;    /* position in a stacked bar */
	const char *help, *cite;
};
extern const struct memory_category_info memory_category_table[MEMORY_CATEGORY_COUNT];

enum memory_phase { PHASE_LOAD, PHASE_INIT, PHASE_FORWARD, PHASE_BACKWARD, PHASE_STEP, PHASE_SAVE, PHASE_COUNT };
extern const struct choice_info memory_phase_choices[PHASE_COUNT];

/* The instant at which a stage peaks. */
enum memory_instant {
	INSTANT_FULL_IN_FLIGHT, /* all in-flight micro-batches saved, first backward starts */
	INSTANT_EMBEDDING_BACKWARD,
	INSTANT_LOSS,
	INSTANT_HEAD_GRADIENT,
	INSTANT_CHUNK_END, /* FSDP under PP: unsharded gradients complete */
	INSTANT_STEP,
	INSTANT_STATES, /* an estimator of states only */
	INSTANT_COUNT
};
extern const struct choice_info memory_instant_choices[INSTANT_COUNT];

/* The terms that a stage's memory is a sum of. explain prints this table; memory.c fills it. */
enum memory_term {
	TERM_WEIGHTS,
	TERM_FP8_COPIES,
	TERM_MASTER,
	TERM_GRADIENTS,
	TERM_GRADIENT_ACCUMULATION,
	TERM_GRADIENT_COPIES,
	TERM_MOMENTS,
	TERM_SECOND_BACKWARD,
	TERM_ACCUMULATED_GRADIENTS,
	TERM_SAVED,
	TERM_PENDING,
	TERM_STAGE_HIDDEN,
	TERM_EMBEDDING_MASK,
	TERM_RECOMPUTED_LAYER,
	TERM_WORKING_SET,
	TERM_UNSHARDED_WEIGHTS,
	TERM_UNIT_GRADIENT,
	TERM_CAST_CACHE,
	TERM_DEQUANTISED,
	TERM_BUCKETS,
	TERM_STEP_FLATS,
	TERM_LOGITS,
	TERM_LOSS_HIDDEN,
	TERM_HEAD_GRADIENT,
	TERM_EMBEDDING_GRADIENT,
	TERM_WORKSPACE,
	TERM_CONTEXT,
	TERM_MARGIN,
	TERM_COUNT
};

struct memory_term_info {
	const char *key, *symbol; /* JSON-like name; short symbol of the formula */
	const char *formula;      /* in the symbols of meshplan-model(7) */
	int32_t category;         /* enum memory_category */
	const char *source;
};
extern const struct memory_term_info memory_term_table[TERM_COUNT];

/* What one pipeline rank holds. */
struct stage_memory {
	int64_t category[MEMORY_CATEGORY_COUNT]; /* bytes at the deciding instant; they sum to need_bytes */
	int64_t need_bytes;                      /* includes the margin: the verdict compares this */
	int64_t allocated_bytes;                 /* what a torch max_memory_allocated counter would show */
	int64_t reserved_bytes;                  /* max_memory_reserved, not clamped to the card */
	int64_t smi_bytes;                       /* nvidia-smi: reserved and the context */
	int64_t persistent_bytes;
	int64_t phase[PHASE_COUNT];
	int32_t instant;         /* enum memory_instant */
	double term[TERM_COUNT]; /* bytes at the deciding instant; 0: not present then */
	double in_flight;        /* micro-batch equivalents of this rank's layers */
	int64_t layers, moe_layers;
	double dense_params, expert_params; /* on this rank, before data-parallel sharding; frozen ones included */
	double trainable_params;            /* of these; with an adapter: the adapters */
	int64_t host_bytes;                 /* this rank's share of the host, pinned copies included */
	int64_t nvme_bytes;
};

/* One row of the saved-tensor table: what a layer keeps per micro-batch for its backward. */
struct saved_tensor {
	const char *name, *shape; /* "QKV projection", "T (a + 2k) d" */
	int64_t elements;         /* on this rank, per layer and micro-batch, after division */
	double bytes_per_element;
	const char *divided_by; /* "tp", "sp", "-", ... */
	const char *dropped_by; /* recompute modes that drop it: "full", "full, selective" */
	int32_t kept;           /* under this scenario's recompute mode */
	const char *source;
};

enum { SAVED_TENSOR_MAX = 48 };
/* The saved tensors of a dense (moe = false) or MoE layer in this scenario, kept or not. Returns the number of rows (<=
 * SAVED_TENSOR_MAX). */
size_t memory_saved_tensors(const struct scenario *s, bool moe, struct saved_tensor *rows, size_t cap);

/* Layers of each chunk in stage order (pp * vpp entries). Returns which rule applied: PP_SPLIT_UNIFORM, PP_SPLIT_EMBED_HEAD, or
 * PP_SPLIT_AUTO for "as even as possible, short stages at the ends" and for an explicit list. */
int32_t memory_stage_layers(const struct scenario *s, struct stage_list *out);

/* Bytes per parameter and component as the framework keeps them, before sharding, and by how many ranks each is divided (experts
 * by expert_shards where the others are by shards). Overrides by grad-dtype and master-dtype included. */
struct memory_ledger {
	double weights, gradients, gradient_accumulation, gradient_copies, master_weights, optimizer;
	double transient; /* unsharded copies of the whole stage that live through the step */
	bool weights_sharded, gradients_sharded, accumulation_sharded, optimizer_sharded;
	int64_t shards, expert_shards; /* ranks in a data-parallel sharding group */
};

/* Everything that does not depend on the stage, computed once per scenario. Caller-owned, plain data. */
struct memory_layer {
	double dense, expert;           /* parameters of one layer on a rank */
	double linear;                  /* of dense, the matrices: what 8-bit multiplies read and qlora quantises */
	double adapter, expert_adapter; /* adapter parameters of one layer; of its routed experts */
	double saved, table;            /* bytes per micro-batch: kept under this recompute mode; with none */
	double working_set;             /* bytes beside these while the layer runs backward */
};
struct memory_shared {
	struct memory_ledger ledger;
	struct memory_layer layer[2]; /* [moe] */
	struct stage_list split;
	int32_t split_used;
	int32_t first_layer[STAGE_LIST_MAX]; /* of every stage */
	struct pipeline pipeline;
	int64_t dp, micro_batches, padded_vocab;
	double element; /* bytes of a value in the precision of the layers */
	double tokens, hidden_elements, sp, embedding,
		scores; /* T, u, sequence-parallel divisor, V h / t, attention scores per rank */
};
/* The scenario must have passed scenario_check. */
void memory_prepare(const struct scenario *s, struct memory_shared *sh);
/* memory_stage with the shared part given: what plan_evaluate loops over. */
void memory_stage_of(const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct stage_memory *out);

/* Bytes of MEMORY_ACTIVATIONS on a rank that holds held[k] micro-batches of its chunk k at some instant: whole ones from the
 * start of F to the end of I or B, pending ones from there to the end of W. backward: an I or B runs, which recomputes. For the
 * peaks of the schedule and a backward that is what the plan says where INSTANT_FULL_IN_FLIGHT decides. */
double memory_activations_of(
	const struct scenario *s, const struct memory_shared *sh, int64_t rank, const struct chunk_peak *held, bool backward);

/* Memory of pipeline rank `rank` (0 .. pp-1). The scenario must have passed scenario_check. Allocates nothing. */
enum err_code memory_stage(const struct scenario *s, int64_t rank, struct stage_memory *out, struct err *e) NODISCARD;

/* Parameters of a rank: what state is charged for. */
struct rank_params {
	double dense, expert;           /* held */
	double trained, trained_expert; /* with gradients and optimizer states */
	double linear, linear_expert;   /* of the held ones, the matrices of layers: 8-bit multiplies, 4 bit under qlora */
	int64_t layers, moe_layers;
	bool first, last;
};
/* Those of pipeline rank `rank`; where data parallelism shards them, before that. */
void memory_rank_params(const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct rank_params *out);

/* Adapter parameters that one token touches; 0 without an adapter. */
double memory_active_adapters(const struct scenario *s);

/* The ledger of a scenario. */
struct memory_ledger memory_ledger_of(const struct scenario *s);
/* Vocabulary as the framework pads it. */
int64_t memory_padded_vocab(const struct scenario *s);
/* Bytes the card offers to the verdict; 0: not known. */
int64_t memory_capacity_bytes(const struct scenario *s);

#endif
