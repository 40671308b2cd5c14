/* Shared between report*.c only. */
#ifndef MESHPLAN_REPORT_INTERNAL_H
#define MESHPLAN_REPORT_INTERNAL_H

#include "cost.h"
#include "report.h"

enum { REPORT_TEXT_COLS = 78, REPORT_LABEL_COLS = 10, REPORT_BAR_COLS = 64 };

/* report_wrap.c: writes words, breaking lines before column REPORT_TEXT_COLS; continued lines start at column `indent`. */
struct wrap {
	struct sink *out;
	int64_t indent, col;
	bool first;
};
void wrap_word(struct wrap *w, const char *word);
/* Breaks at blanks; with `items` only at those behind a comma. */
void wrap_text(struct wrap *w, const char *text, bool items);
/* "LABEL     text": one wrapped entry and a line break. */
void wrap_entry(const char *label, const char *text, bool items, struct sink *out);

/* report_bar.c: one stacked bar, REPORT_BAR_COLS wide: letter and fill of each category, the limit in a cell of its own. */
void report_bar_write(const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes, int64_t cap, bool ascii, struct sink *out);
/* The capacity cells of a bar that shows need in full: a document does not move, so a need beyond the limit scales the bar. */
int64_t report_bar_capacity(int64_t most_bytes, int64_t limit_bytes);

/* report.c: "layout    ...", "training  ..."; behind a blank line and the heading, warnings and notes. */
void report_setup(const struct draft *d, const struct plan *p, struct sink *out);
void report_diagnostics(const struct plan *p, const char *heading, struct sink *out);

/* report_speed.c: communication, step, throughput; nothing where the speed is not known. Text and Markdown. */
void report_speed_line(const struct draft *d, const struct plan *p, struct sink *out); /* "speed     16.1 s per step, ..." */
void report_speed_text(const struct draft *d, const struct plan *p, struct sink *out);
void report_speed_markdown(const struct draft *d, const struct plan *p, struct sink *out);
/* Seconds for people: "35.2 ms", "16.1 s", "4.70 h", "253 days". Returns buf. */
char *report_seconds(double seconds, char *buf, size_t cap);
/* report_cost.c: the paragraph of the plan. */
void report_cost_line(const struct draft *d, const struct plan *p, struct sink *out);
/* c: NULL, without the prices of others. */
void report_cost_table(const struct draft *d, const struct catalog *c, const struct plan *p, struct sink *out);

#endif
