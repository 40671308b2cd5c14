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
	const char *(*translate)(const char *text); /* NULL: English */
};

/* A value in its unit: "13,248 B", "1.41 GB", "12.3 us", "-" for NaN. Returns buf. */
char *lab_format(enum lab_unit unit, double value, char *buf, size_t cap);
/* The same for tables: bytes in full only below 100,000. Returns buf. */
char *lab_format_short(enum lab_unit unit, double value, char *buf, size_t cap);

/* Title, parameters, steps, facts, claims, question; lines of at most 80 columns. */
void lab_report_text(const struct lab_run *run, const struct lab_report_options *o, struct sink *out);
/* One step as a table. */
void lab_report_step(const struct lab_run *run, int64_t k, const struct lab_report_options *o, struct sink *out);
/* {"lab", "parameters", "steps", "facts", "claims", "answer", "question", "prediction"}: without braces around, for a document.
 */
void lab_report_json(const struct lab_run *run, const struct lab_report_options *o, struct sink *out);

#endif
