/* meshplan pipeline: the documents that programs read. */
#include "config.h"

#include "pipeline.h"

#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

struct json_list {
	struct sink *out;
	bool begun;
};

static void json_pair(struct sink *out, const char *before, const char *key, double value)
{
	sink_printf(out, "%s\"%s\": ", before, key);
	sink_json_double(out, value);
}

/* A block is one string, as in PyTorch's CSV. */
static void json_action(void *ctx, const struct action *a)
{
	struct json_list *l = ctx;
	bool second = a->overlap && a->kind != ACTION_FORWARD;
	char text[48];

	(void)action_format(a, text, sizeof text);
	sink_puts(l->out, second ? ";" : l->begun ? ",\"" : "\"");
	if (a->overlap)
		sink_printf(l->out, second ? "%s)OVERLAP_F_B\"" : "(%s", text);
	else
		sink_printf(l->out, "%s\"", text);
	l->begun = true;
}

static void json_actions(const struct order *o, struct sink *out)
{
	sink_puts(out, "\"actions\": [");
	for (int64_t rank = 0; rank < o->pl.p; rank++) {
		struct json_list l = { .out = out };

		sink_puts(out, rank > 0 ? ",\n    [" : "\n    [");
		order_each(o, rank, json_action, &l);
		sink_puts(out, "]");
	}
	sink_puts(out, "\n    ]");
}

/* "key": [a time of each rank]. */
static void json_times(const struct pipeline_job *job, const char *before, const char *key,
	int64_t (*ticks)(const struct pipeline_job *job, int64_t rank, int reason), int reason, struct sink *out)
{
	sink_printf(out, "%s\"%s\": [", before, key);
	for (int64_t r = 0; r < job->order.pl.p; r++) {
		sink_puts(out, r > 0 ? ", " : "");
		sink_json_double(out, pipeline_units(&job->times, ticks(job, r, reason)));
	}
	sink_puts(out, "]");
}

static int64_t busy_ticks(const struct pipeline_job *job, int64_t rank, int reason)
{
	(void)reason;
	return job->ranks[rank].busy;
}

static int64_t idle_ticks(const struct pipeline_job *job, int64_t rank, int reason)
{
	return reason == IDLE_NONE ? job->result.makespan - job->ranks[rank].busy : job->ranks[rank].idle[reason];
}

/* Idle time by cause, of all ranks and of each. */
static void json_causes(const struct pipeline_job *job, struct sink *out)
{
	sink_puts(out, ",\n    \"idle_by_cause\": {");
	for (int i = IDLE_FILL; i < IDLE_REASON_COUNT; i++) {
		sink_printf(out, "%s\n      \"%s\": { ", i > IDLE_FILL ? "," : "", idle_reason_choices[i].key);
		json_pair(out, "", "total", pipeline_units(&job->times, job->result.idle[i]));
		json_times(job, ", ", "ranks", idle_ticks, i, out);
		sink_puts(out, " }");
	}
	sink_puts(out, "\n    }");
}

/* The path is walked from its end: the actions are kept to be written from the beginning. */
struct json_path {
	struct timed_action *action;
	int64_t left;
};

static void keep_action(void *ctx, const struct timed_action *a)
{
	struct json_path *p = ctx;

	p->action[--p->left] = *a;
}

/* A block is on the path as a whole. */
static void json_path_actions(const struct order *o, const struct json_path *p, int64_t n, struct sink *out)
{
	sink_puts(out, ", \"actions\": [");
	for (int64_t i = 0; i < n; i++) {
		const struct timed_action *x = &p->action[i];
		struct json_list l = { .out = out };
		struct action second;

		sink_printf(out, "%s{\"rank\": %" PRId64 ", \"action\": ", i > 0 ? ", " : "", x->rank);
		json_action(&l, &x->action);
		if (x->action.overlap) {
			second = order_at(o, x->rank, x->index + 1);
			json_action(&l, &second);
		}
		sink_puts(out, "}");
	}
	sink_puts(out, "]");
}

/* An addition: orders too long to remember leave it out. */
static void json_critical(const struct pipeline_job *job, struct sink *out)
{
	struct critical_path path, again;
	struct json_path kept;
	void *workspace = pipeline_critical(job, &path);

	if (workspace == NULL)
		return;
	kept = (struct json_path){ cli_alloc((size_t)path.actions * sizeof kept.action[0]), path.actions };
	if (order_critical(&job->order, &job->times.ticks, workspace, keep_action, &kept, &again, NULL) == ERR_OK) {
		sink_puts(out, ",\n    \"critical_path\": { ");
		json_pair(out, "", "busy", pipeline_units(&job->times, path.busy));
		json_pair(out, ", ", "communication", pipeline_units(&job->times, path.comm));
		sink_printf(out, ", \"hops\": %" PRId64, path.comm_hops);
		json_path_actions(&job->order, &kept, path.actions, out);
		sink_puts(out, " }");
	}
	free(kept.action);
	free(workspace);
}

static void json_ranks(const struct pipeline_job *job, struct sink *out)
{
	const int64_t p = job->order.pl.p;

	json_times(job, ",\n    ", "busy", busy_ticks, IDLE_NONE, out);
	json_times(job, ",\n    ", "idle", idle_ticks, IDLE_NONE, out);
	json_causes(job, out);
	json_critical(job, out);
	sink_puts(out, ",\n    \"in_flight\": [");
	for (int64_t r = 0; r < p; r++)
		sink_printf(out, "%s%" PRId64, r > 0 ? ", " : "", job->peaks[r].at_weight);
	sink_puts(out, "],\n    ");
}

void pipeline_json(const struct pipeline_job *job, struct sink *out)
{
	const struct schedule_times *t = &job->times.ticks;
	const struct pipeline *pl = &job->order.pl;

	sink_printf(out,
		"{\n  \"meshplan\": \"%s\",\n  \"schema\": %d,\n  \"pipeline\": {\n    \"schedule\": \"%s\", \"p\": %" PRId64
		", \"m\": %" PRId64 ", \"v\": %" PRId64 ", \"group\": %" PRId64 ",\n    \"times\": { ",
		PACKAGE_VERSION, MESHPLAN_SCHEMA, job->name, pl->p, pl->m, pl->v, pipeline_shown_group(pl));
	json_pair(out, "", "F", pipeline_units(&job->times, t->forward));
	json_pair(out, ", ", "I", pipeline_units(&job->times, t->input));
	json_pair(out, ", ", "W", pipeline_units(&job->times, t->weight));
	json_pair(out, ", ", "comm", pipeline_units(&job->times, t->comm));
	json_pair(out, ", ", "overlap", pipeline_units(&job->times, t->overlap > 0 ? t->overlap : t->forward + t->backward));
	json_pair(out, " },\n    ", "makespan", pipeline_units(&job->times, job->result.makespan));
	json_pair(out, ", ", "bubble_of_step", job->result.bubble_of_step);
	json_pair(out, ", ", "bubble_over_ideal", job->result.bubble_over_ideal);
	json_pair(out, ", ", "bubble_span", pipeline_units(&job->times, job->result.span_bubble));
	json_ranks(job, out);
	json_actions(&job->order, out);
	sink_puts(out, "\n  },\n  \"diagnostics\": []\n}\n");
}
