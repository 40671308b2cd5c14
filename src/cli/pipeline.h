/* What the parts of `meshplan pipeline` share: an order of actions, its times, and what the executor said of them. */
#ifndef MESHPLAN_PIPELINE_H
#define MESHPLAN_PIPELINE_H

#include "cli.h"
#include "schedule.h"

/* Times as exact ticks: the given decimals times `scale`, a power of ten. */
struct pipeline_times {
	struct schedule_times ticks;
	int64_t scale;
	int64_t *stage; /* memory of the times per stage, NULL: all stages take the same */
	int64_t stages;
};

struct pipeline_job {
	const char *name; /* key of the schedule, or "imported" */
	struct order order;
	struct pipeline_times times;
	int64_t actions;
	bool has[ACTION_KIND_COUNT]; /* kinds of actions in the order */
	bool blocks;                 /* overlapped ones */
	struct rank_result *ranks;
	struct order_peaks *peaks; /* of each rank */
	struct schedule_result result;
	void *order_memory, *workspace; /* the order's; what order_run needs */
};

/* --times, --comm and --overlap-time; free t->stage in the end. */
enum err_code pipeline_times_read(const struct args *a, struct pipeline_times *t, struct err *e) NODISCARD;
/* --stage-times: one F,I,W or F,B per stage; with `divided` of up to 1024 parts of each stage. */
enum err_code pipeline_times_stages(
	const char *path, int64_t stages, bool divided, struct pipeline_times *t, struct err *e) NODISCARD;
/* The same of a text; `path` stands in errors. */
enum err_code pipeline_times_parse(const char *path, const char *text, size_t len, int64_t stages, bool divided,
	struct pipeline_times *t, struct err *e) NODISCARD;
/* --order-times: what greedy generators plan with. */
enum err_code pipeline_costs_read(const struct args *a, struct order_costs *c, struct err *e) NODISCARD;
/* "F 1, I 1, W 1, between ranks 0.5"; of different stages, their range. */
void pipeline_times_text(const struct pipeline_times *t, struct sink *out);

/* Ticks in the unit of the times. */
double pipeline_units(const struct pipeline_times *t, int64_t ticks);
/* The group where the schedule has groups, else 0. */
int64_t pipeline_shown_group(const struct pipeline *pl);

/* The critical path, and the workspace that order_critical needs to walk it once more; NULL: too long to remember. The caller
 * frees it. */
void *pipeline_critical(const struct pipeline_job *job, struct critical_path *path);

/* Orders and times of stages may be long. */
enum { PIPELINE_FILE_MAX_BYTES = 256 << 20 };

void pipeline_json(const struct pipeline_job *job, struct sink *out);
/* Chrome's trace events: a process per rank, arrows from producers to consumers. */
void pipeline_trace(const struct pipeline_job *job, struct sink *out);
void pipeline_svg(const struct pipeline_job *job, struct sink *out);
enum err_code pipeline_svg_check(const struct pipeline_job *job, struct err *e) NODISCARD;
/* Drawing and figures; a grid of unit steps. Return the exit code. */
int pipeline_text(struct cli *cli, const struct pipeline_job *job, int64_t cols);
int pipeline_steps(struct cli *cli, const struct pipeline_job *job);
/* Prints all schedules on the ranks and micro-batches of `base`; imported: one more row, or NULL. */
enum err_code pipeline_compare(struct cli *cli, const struct pipeline *base, const struct order *imported,
	const struct pipeline_times *t, struct err *e) NODISCARD;

#endif
