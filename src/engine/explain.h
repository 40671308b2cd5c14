/* The formula behind every number: symbolic, with the numbers put in, and its source. QUANTITY is a path of the plan document. */
#ifndef MESHPLAN_EXPLAIN_H
#define MESHPLAN_EXPLAIN_H

#include "knobs.h"
#include "plan.h"
#include "sink.h"

#include <stdbool.h>

enum { EXPLAIN_VALUES_MAX = 32, EXPLAIN_NOTES_MAX = 8 };

struct explain_value {
	char symbol[24], unit[16], from[120];
	double value;
};

struct explanation {
	char quantity[64], symbol[32], formula[400], unit[16], source[240];
	double result;
	size_t n_values;
	struct explain_value values[EXPLAIN_VALUES_MAX];
	char notes[EXPLAIN_NOTES_MAX][260]; /* "DeepSpeed's estimator prints ... because it leaves out ..." */
	size_t n_notes;
	bool saved_tensors; /* the saved-tensor table belongs to it */
};

/* Explains one path ("memory.stages[0].optimizer", "verdict.need_bytes", "model.params", ...), or the first one that ends in this
 * name ("optimizer", of the worst stage). ERR_UNKNOWN lists the nearest paths. */
enum err_code explain_quantity(
	const struct draft *d, const struct plan *p, const char *name, struct explanation *x, struct err *e) NODISCARD;
/* Whether a word can only be a path: it begins with a part of the plan document. */
bool explain_is_path(const char *word);
/* Every path that can be explained here, one call each, in document order. */
void explain_paths(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx);
/* As text; with the saved-tensor table where it belongs. */
void explain_text(const struct draft *d, const struct explanation *x, struct sink *out);
void explain_json(const struct explanation *x, struct sink *out);
/* What the lesson, the ZeRO paper, Megatron, DeepSpeed's estimator and accelerate say of the memory of a GPU as a whole, side by
 * side; x is explained before, NULL: nothing is. */
void explain_compare_text(const struct draft *d, const struct plan *p, const struct explanation *x, struct sink *out);
void explain_compare_json(const struct draft *d, const struct plan *p, const struct explanation *x, struct sink *out);

#endif
