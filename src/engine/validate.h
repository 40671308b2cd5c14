/* Predictions beside published measurements: one case per published run, and what the errors of many cases sum up to. */
#ifndef MESHPLAN_VALIDATE_H
#define MESHPLAN_VALIDATE_H

#include "scenario.h"
#include "sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VALIDATE_ID_CAP = 48, VALIDATE_TEXT_CAP = 200, VALIDATE_ASSUMED_CAP = 900 };

/* Which memory counter a source read, on which pipeline ranks. */
enum validate_counter { COUNTER_ALLOCATED, COUNTER_RESERVED, COUNTER_SMI, COUNTER_STATES, COUNTER_COUNT };
enum validate_ranks { RANKS_MAX, RANKS_FIRST, RANKS_LAST, RANKS_ENDS, RANKS_COUNT };
extern const char *const validate_counter_names[COUNTER_COUNT + 1], *const validate_ranks_names[RANKS_COUNT + 1];
/* What a source says about the card. */
enum validate_fit { FIT_UNKNOWN, FIT_YES, FIT_NO };

/* One published run. */
struct validate_case {
	char id[VALIDATE_ID_CAP], source[VALIDATE_ID_CAP], mem_kind[16];
	char assumed[VALIDATE_ASSUMED_CAP];        /* one assumption a line */
	char skipped[VALIDATE_TEXT_CAP];           /* why it cannot be expressed; "": it can */
	char flag[VALIDATE_TEXT_CAP];              /* what is known to be odd about it; "": nothing */
	bool calibration_time, calibration_memory; /* the coefficients were fitted on it */
	bool unfused_memory;                       /* the memory is compared with unfused attention, whatever the scenario says */
	bool one_layer;                            /* the step is one layer forward and backward */
	double measured_step_s;                    /* 0: none */
	int64_t measured_bytes;                    /* 0: none */
	int32_t counter, ranks;                    /* enums above */
	int32_t fit;                               /* enum validate_fit; a measured peak is a yes */
	struct scenario scenario;
};

/* What came out. Errors are predicted / measured - 1. */
struct validate_row {
	char id[VALIDATE_ID_CAP], source[VALIDATE_ID_CAP], mem_kind[16];
	char assumed[VALIDATE_ASSUMED_CAP], skipped[VALIDATE_TEXT_CAP], flag[VALIDATE_TEXT_CAP];
	bool calibration_time, calibration_memory, moe;
	char model[MODEL_ID_CAP], gpu[HARDWARE_ID_CAP];
	int64_t gpus;
	double measured_step_s, predicted_step_s, step_error; /* 0 in measured or predicted: none */
	int64_t measured_bytes, predicted_bytes;
	double memory_error;
	int32_t fit_measured, fit_predicted; /* enum validate_fit */
};

/* Error of one quantity over some rows. */
struct validate_stats {
	int64_t rows;
	double median, p90; /* of the absolute error */
	double bias;        /* median of the signed error */
};

struct validate_summary {
	struct validate_stats time, memory;
	int64_t fit_rows, fit_right;
	int64_t calibration_time, calibration_memory, skipped;
};

/* Which rows a summary takes. */
struct validate_filter {
	const char *source; /* NULL: all */
	bool with_calibration, without_flagged;
};

/* Predicts one case. Pure; the case's scenario need not have passed scenario_check: what it says becomes the reason to skip. */
void validate_run(const struct validate_case *in, struct validate_row *out);
/* Sums rows up. scratch: n doubles. */
struct validate_summary validate_sum(
	const struct validate_row *rows, size_t n, const struct validate_filter *filter, double *scratch);
/* Indices of the rows with the largest absolute error of step time (memory = false) or peak memory, largest first; calibration
 * rows left out, and other sources than `source` unless it is NULL. Returns how many, at most cap. */
size_t validate_worst(const struct validate_row *rows, size_t n, const char *source, bool memory, size_t *index, size_t cap);

/* The whole answer as text and as the JSON document. `set` is the coefficients' id and label. */
struct validate_report {
	const struct validate_row *rows;
	size_t n;
	double *scratch;                         /* n doubles */
	const char *set_id, *set_label, *source; /* source: only this one, or NULL */
};
void validate_text(const struct validate_report *r, struct sink *out);
void validate_json(const struct validate_report *r, const char *version, struct sink *out);
/* The summary per source as a Markdown table: what README.md holds. */
void validate_markdown(const struct validate_report *r, struct sink *out);

#endif
