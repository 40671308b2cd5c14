/* A plan as text for people, as JSON for programs, as Markdown. Writes into a sink; English; no escapes. */
#ifndef MESHPLAN_REPORT_H
#define MESHPLAN_REPORT_H

#include "gantt.h"
#include "knobs.h"
#include "plan.h"
#include "ways.h"
#include "sink.h"

#define MESHPLAN_SCHEMA 1

/* The plan document of the contract (schema MESHPLAN_SCHEMA). Time, throughput, communication and cost are absent where the speed
 * is not known. */
void report_plan_json(
	const struct draft *d, const struct catalog *c, const struct plan *p, const char *version, struct sink *out);
/* One line that names model, cluster and layout: "Llama-3 70B on 64 H100, tp8 pp4 dp2". */
void report_title(const struct draft *d, const struct plan *p, struct sink *out);
/* One screen: verdict, worst stage by category, why, what would help (ways may be NULL). `ascii`: glyphs of the bar. */
struct fit_extra {
	const struct way_out *ways;
	size_t n_ways;
	int64_t fewest_gpus; /* 0: not asked or none */
	const struct draft *fewest;
	const struct plan *fewest_plan;
};
void report_fit(const struct draft *d, const struct plan *p, const struct fit_extra *x, bool ascii, struct sink *out);
/* The training plan: layout, memory, pipeline, communication, step, throughput, cost, what to watch. g: the drawing, NULL: none.
 */
void report_plan_text(const struct draft *d, const struct plan *p, const struct gantt *g, bool ascii, struct sink *out);
void report_plan_markdown(const struct draft *d, const struct plan *p, struct sink *out);

/* What the run costs (step->known must hold): tokens, time, GPU hours, dollars, energy, failures, with what it rests on, and
 * what it would cost at the prices of others. */
void report_cost_text(const struct draft *d, const struct catalog *c, const struct plan *p, struct sink *out);
void report_cost_markdown(const struct draft *d, const struct catalog *c, const struct plan *p, struct sink *out);

/* One row of the communication table. */
struct traffic_row {
	enum traffic traffic;
	const char *what, *group, *link; /* "all-gather, reduce-scatter", "tp", "NVLink4+NVSwitch" */
	struct traffic_time time;
};
/* The kinds of communication that occur in this plan, in the order of the plan document. Returns how many; 0: speed not known. */
size_t report_traffic(const struct scenario *s, const struct plan *p, struct traffic_row rows[TRAFFIC_COUNT]);
/* Dollars for people: "$1.36M", "$39.2k", "$412". Returns buf. */
char *report_usd(double usd, char *buf, size_t cap);

/* Splits a stacked bar among categories by largest remainder: cells[i] for category i, in all round(sum * cap / limit_bytes), so
 * `cap` cells reach the limit. Nobody vanishes, and the bar crosses the limit iff the sum does. limit_bytes <= 0 (not known): cap
 * cells in all. Returns the cells used. */
int64_t report_bar_cells(
	const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes, int64_t cap, int64_t cells[MEMORY_CATEGORY_COUNT]);

/* Categories in the order in which a bar stacks them. */
void report_draw_order(enum memory_category order[MEMORY_CATEGORY_COUNT]);

#endif
