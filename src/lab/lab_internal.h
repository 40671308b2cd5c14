/* What the labs share: carving memory, reading parameters, stating facts and claims. */
#ifndef MESHPLAN_LAB_INTERNAL_H
#define MESHPLAN_LAB_INTERNAL_H

#include "i18n_mark.h"
#include "lab.h"
#include "lab_math.h"

#include <stdio.h>

/* Memory of the caller, handed out from the front. base NULL: nothing is handed out, `used` counts; it saturates at INT64_MAX. */
struct lab_arena {
	unsigned char *base;
	int64_t used;
};

/* n zeroed objects of `size` bytes, aligned for any type; NULL while counting. n >= 0. */
void *lab_take(struct lab_arena *a, int64_t n, size_t size);
/* *total += a * b * c, saturating: for counts of work. All >= 0. */
void lab_work(int64_t *total, int64_t a, int64_t b, int64_t c);

/* Parameters by index into the lab's table. */
static inline int64_t lab_int(const struct lab_input *in, size_t i)
{
	return (int64_t)in->value[i];
}

static inline uint64_t lab_seed(const struct lab_input *in, size_t i)
{
	return (uint64_t)in->value[i];
}

/* The network of a lab whose parameters `first` .. `first` + 3 are inputs, width, outputs, layers. */
static inline struct mlp lab_mlp(const struct lab_input *in, size_t first)
{
	return (struct mlp){ .inputs = lab_int(in, first),
		.width = lab_int(in, first + 1),
		.outputs = lab_int(in, first + 2),
		.layers = lab_int(in, first + 3) };
}

/* The row that every lab has. */
#define LAB_SEED_PARAM                                                                                                           \
	{                                                                                                                        \
		"seed", N_("seed of all random numbers"), LAB_PARAM_INT, 0, 4294967295.0, 1, NULL                                \
	}

/* "whole", "real": which numbers a lab draws. */
const char *lab_number_word(int64_t value);

/* Part i of n elements cut into `parts`: from lab_cut(n, parts, i) to lab_cut(n, parts, i + 1). Sizes differ by at most one. */
static inline int64_t lab_cut(int64_t n, int64_t parts, int64_t i)
{
	return i * (n / parts) + (i < n % parts ? i : n % parts);
}

void lab_add_fact(struct lab_run *run, const char *key, const char *label, enum lab_unit unit, double value);
/* got and want are equal to the bit. */
void lab_claim_equal(struct lab_run *run, const char *key, const char *text, enum lab_unit unit, double got, double want);
/* |got - want| <= tolerance. */
void lab_claim_close(
	struct lab_run *run, const char *key, const char *text, enum lab_unit unit, double got, double want, double tolerance);
/* The largest difference of many numbers is at most tolerance. */
void lab_claim_same(struct lab_run *run, const char *key, const char *text, double difference, double tolerance);
void lab_set_answer(struct lab_run *run, const char *label, enum lab_unit unit, double answer);

/* Sentences with gaps, see lab_words.h: of a step its title, of a row its label and the text at its end, the question. args:
 * NULL where there are no gaps. */
void lab_title(struct lab_step *out, const char *text, const struct lab_arg *args);
void lab_label(struct lab_row *out, const char *text, const struct lab_arg *args);
void lab_note(struct lab_row *out, const char *text, const struct lab_arg *args);
/* For the question: another value of a whole parameter with which the lab runs, if there is one: twice, half, one more, one less.
 */
int64_t lab_next(const struct lab_run *run, size_t param);
void lab_ask(struct lab_run *run, const char *one, const char *many, const struct lab_arg *args);

/* A step as a table under a heading. */
#define LAB_STEP(out, heading, cols, row_count, is_main)                                                                         \
	((out)->columns = (cols), (out)->n_columns = (int32_t)(sizeof(cols) / sizeof((cols)[0])), (out)->rows = (row_count),     \
		(out)->main = (is_main), lab_title(out, heading, NULL))

/* The labs, in the order of the lesson: lab_dp stands at the end of lab_dp.c. */
#define LAB_TABLE(ROW)                                                                                                           \
	ROW(dp) ROW(allreduce) ROW(tp) ROW(fsdp) ROW(pp) ROW(accum) ROW(checkpoint) ROW(precision) ROW(moe) ROW(offload)
#define LAB_DECLARATION(id) extern const struct lab lab_##id;
LAB_TABLE(LAB_DECLARATION)
#undef LAB_DECLARATION

#endif
