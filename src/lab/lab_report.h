/* A finished run as text and as JSON. The one place where numbers of a lab become characters. */
#ifndef MESHPLAN_LAB_REPORT_H
#define MESHPLAN_LAB_REPORT_H

#include "lab.h"
#include "sink.h"

enum { LAB_ROWS_SHORT = 20, LAB_ROWS_ALL = 64, LAB_STEPS_ALL = 4096 };

struct lab_report_options {
	bool steps; /* every step, up to LAB_STEPS_ALL, rows up to LAB_ROWS_ALL; else the main ones, rows up to LAB_ROWS_SHORT */
	bool predicted; /* prediction is set */
	double prediction;
};

/* A value in its unit: "13,248 B", "1.41 GB", "12.3 us", "-" for NaN. Returns buf. */
char *lab_format(enum lab_unit unit, double value, char *buf, size_t cap);
/* The same for tables: bytes in full only below 100,000. Returns buf. */
char *lab_format_short(enum lab_unit unit, double value, char *buf, size_t cap);

/* "6,000 B and 6,776 B, difference 776, rounding allows 0.1". Returns buf. */
char *lab_claim_format(const struct lab_run *run, const struct lab_claim *c, char *buf, size_t cap);
/* "you said 6,000 B, it is 6,776 B: 11.5 % too low". Returns buf. */
char *lab_answer_judge(const struct lab_run *run, double prediction, char *buf, size_t cap);

/* Title, parameters, steps, facts, claims, question; lines of at most 80 columns. */
void lab_report_text(const struct lab_run *run, const struct lab_report_options *o, struct sink *out);
/* How many rows of a step are shown. */
int64_t lab_report_rows(const struct lab_step *s, const struct lab_report_options *o);
/* One step as a table. */
void lab_report_step(const struct lab_run *run, int64_t k, const struct lab_report_options *o, struct sink *out);
/* {"lab", "parameters", "steps", "facts", "claims", "answer", "question", "prediction"}: without braces around, for a document.
 */
void lab_report_json(const struct lab_run *run, const struct lab_report_options *o, struct sink *out);

#endif
