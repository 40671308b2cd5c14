/* The laboratory: small exact simulations of distributed training on virtual GPUs, with real numbers.
 *
 * A lab is a row of lab_table: parameters (a table like the knobs), a size, a run, and steps. A run computes everything up front
 * into memory of the caller: lab_workspace_size() says how much and refuses what is above the limits, lab_run() carves it up.
 * Nothing allocates, nothing is global, every random number is a hash of --seed and a position, so the same input gives the same
 * digits.
 *
 * What a run leaves behind can be read in any order, without computing anew: step k of lab_steps() is a small table (rows:
 * virtual GPUs, layers, formats ...) with a title, so that a screen can go forth and back. Only what was computed can be shown.
 * The summary holds
 *   facts      numbers with a unit: bytes, seconds, counts
 *   claims     "these two are equal": both numbers, their difference, the tolerance (0: bit by bit), and whether it holds
 *   question   one, about the next run; the answer of this run is a number that a prediction is compared with
 * lab_report.h makes text and JSON of it; a view of the UI needs lab_step() and lab_row() alone. Texts are English unless the
 * input brings the words of another language; keys, errors and names of parameters always are.
 *
 * Bytes on the wire are counted message by message and compared with the formula; seconds come from comm.h with the links of the
 * scenario. */
#ifndef MESHPLAN_LAB_H
#define MESHPLAN_LAB_H

#include "err.h"
#include "lab_words.h"
#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LAB_PARAMS_MAX = 20,
	LAB_COLUMNS_MAX = 8,
	LAB_FACTS_MAX = 16,
	LAB_CLAIMS_MAX = 12,
	LAB_TEXT_CAP = 160,
	LAB_LABEL_CAP = 64
};

/* Limits of one run: a class does not wait, and a laptop does not swap. */
#define LAB_BYTES_MAX (INT64_C(256) << 20)
#define LAB_WORK_MAX INT64_C(2000000000) /* multiply-adds, counted roughly */

enum lab_unit { LAB_COUNT, LAB_BYTES, LAB_SECONDS, LAB_REAL, LAB_PERCENT, LAB_RATE, LAB_UNIT_COUNT };
extern const char *const lab_unit_names[LAB_UNIT_COUNT]; /* JSON: "", "bytes", "s", "", "%", "bytes/s" */

enum lab_param_type { LAB_PARAM_INT, LAB_PARAM_REAL, LAB_PARAM_FLAG, LAB_PARAM_WORD };

/* One parameter: a flag of the command line, a slider, a key of the JSON document. */
struct lab_param {
	const char *key, *help; /* help: N_() */
	enum lab_param_type type;
	double min, max, dflt;              /* integers and words too: they are exact in a double */
	const char *(*word)(int64_t value); /* LAB_PARAM_WORD: name of a value, NULL past the last */
};

struct lab;

/* What a run starts from: a lab, its parameters, and the cluster (and model) that times and real sizes are taken from. */
struct lab_input {
	const struct lab *lab;
	double value[LAB_PARAMS_MAX];
	bool given[LAB_PARAMS_MAX]; /* typed; else it follows the scenario */
	const struct scenario *scenario;
	const struct lab_words *words; /* NULL: English */
};

struct lab_fact {
	const char *key, *label; /* label: N_() */
	enum lab_unit unit;
	double value;
};

struct lab_claim {
	const char *key, *text; /* text: N_() */
	enum lab_unit unit;
	double got, want;  /* two sides of the equality; NaN: only the difference is known */
	double difference; /* the largest one */
	double tolerance;  /* 0: bit by bit */
	bool holds;
};

struct lab_column {
	const char *key, *label; /* label: N_() */
	enum lab_unit unit;
};

/* One step: a table. `main`: part of the short report as well. */
struct lab_step {
	char title[LAB_TEXT_CAP];
	const struct lab_column *columns;
	int32_t n_columns;
	int64_t rows;
	bool main;
	const struct lab_words *words; /* of the input */
};

/* One row of it. NaN: no value. */
struct lab_row {
	char label[LAB_LABEL_CAP];
	double value[LAB_COLUMNS_MAX];
	char text[LAB_TEXT_CAP];
	const struct lab_words *words; /* of the input */
};

struct lab_run {
	struct lab_input input;
	const void *state; /* in the workspace */
	int64_t steps;
	int32_t n_facts, n_claims;
	struct lab_fact facts[LAB_FACTS_MAX];
	struct lab_claim claims[LAB_CLAIMS_MAX];
	const char *answer_label; /* N_(): what --predict predicts */
	enum lab_unit answer_unit;
	double answer;
	char question[LAB_TEXT_CAP]; /* about the next run */
	char next[LAB_TEXT_CAP];     /* its flags */
};

/* What a run will need. */
struct lab_size {
	int64_t bytes, work;
};

struct lab_arena;

struct lab {
	const char *id, *label, *help; /* N_() */
	const struct lab_param *params;
	size_t n_params;
	/* Rules between parameters; NULL: none. */
	enum err_code (*check)(const struct lab_input *in, struct err *e);
	/* Carves the state out of the arena (an arena without memory only counts) and returns it; *work grows by the
	 * multiply-adds. */
	void *(*layout)(struct lab_arena *a, const struct lab_input *in, int64_t *work);
	/* Computes everything; sets steps, facts, claims, answer. */
	enum err_code (*run)(struct lab_run *run, void *state, struct err *e);
	void (*step)(const struct lab_run *run, int64_t k, struct lab_step *out);
	void (*row)(const struct lab_run *run, int64_t k, int64_t row, struct lab_row *out);
	bool uses_layout;   /* the layout of the scenario matters, not only its cluster and model */
	const char *lesson; /* N_(): where the lesson that it follows is short or simple, and what a count says; NULL: nowhere */
	/* What the scenario says about a parameter: its default instead of dflt. NaN: nothing. NULL: it never does. */
	double (*preset)(const struct scenario *s, size_t param);
};

/* All labs, in the order of the lesson; ends with NULL. */
extern const struct lab *const lab_table[];
const struct lab *lab_find(const char *id);
/* The parameter of a lab by key, or NULL. */
const struct lab_param *lab_param_find(const struct lab *lab, const char *key);

/* The value that a text means. Errors name the parameter, the text and what is legal; after ERR_RANGE *value holds the number
 * that was refused. */
enum err_code lab_param_parse(const struct lab_param *p, const char *text, double *value, struct err *e) NODISCARD;
/* What is legal: "1 .. 256", "ring, tree". Returns buf. */
char *lab_param_legal(const struct lab_param *p, char *buf, size_t cap);
/* A value as it is typed. Returns buf. */
char *lab_param_format(const struct lab_param *p, double value, char *buf, size_t cap);

/* Defaults, in English. The scenario is only pointed to. */
void lab_input_init(struct lab_input *in, const struct lab *lab, const struct scenario *s);
/* Another scenario: what was not given follows it. */
void lab_input_follow(struct lab_input *in, const struct scenario *s);
/* Sets a parameter. */
void lab_input_put(struct lab_input *in, const struct lab_param *p, double value);
/* Sets it from text; errors as lab_param_parse. */
enum err_code lab_input_set(struct lab_input *in, const struct lab_param *p, const char *text, struct err *e) NODISCARD;
/* The input that the question of a run asks about: its own with run->next put in. */
enum err_code lab_input_next(const struct lab_run *run, struct lab_input *next, struct err *e) NODISCARD;
/* Every parameter within its range and the rules between them. */
enum err_code lab_input_check(const struct lab_input *in, struct err *e) NODISCARD;
/* Memory and work of a run. ERR_RANGE above LAB_BYTES_MAX or LAB_WORK_MAX. */
enum err_code lab_workspace_size(const struct lab_input *in, struct lab_size *size, struct err *e) NODISCARD;
/* Runs the lab. workspace: lab_workspace_size bytes, aligned as malloc does; it must outlive *run. */
enum err_code lab_run(const struct lab_input *in, void *workspace, int64_t bytes, struct lab_run *run, struct err *e) NODISCARD;
/* A prediction of run->answer as people type it: bytes and counts with their suffixes, the rest as decimals. */
enum err_code lab_answer_parse(const struct lab_run *run, const char *text, double *value, struct err *e) NODISCARD;
/* Whether every claim holds. */
bool lab_proven(const struct lab_run *run);

/* Step k (0 .. steps - 1) and row `row` of it. Nothing is computed anew. */
void lab_step(const struct lab_run *run, int64_t k, struct lab_step *out);
void lab_row(const struct lab_run *run, int64_t k, int64_t row, struct lab_row *out);

#endif
