/* meshplan pipeline: the documents that programs read. */
#include "config.h"

#include "pipeline.h"

#include "report.h"

#include <inttypes.h>

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

static void json_ranks(const struct pipeline_job *job, struct sink *out)
{
	const int64_t p = job->order.pl.p;

	sink_puts(out, ",\n    \"busy\": [");
	for (int64_t r = 0; r < p; r++) {
		sink_puts(out, r > 0 ? ", " : "");
		sink_json_double(out, pipeline_units(&job->times, job->ranks[r].busy));
	}
	sink_puts(out, "],\n    \"idle\": [");
	for (int64_t r = 0; r < p; r++) {
		sink_puts(out, r > 0 ? ", " : "");
		sink_json_double(out, pipeline_units(&job->times, job->result.makespan - job->ranks[r].busy));
	}
	sink_puts(out, "],\n    \"in_flight\": [");
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

void pipeline_csv(const struct pipeline_job *job, struct sink *out)
{
	order_format(&job->order, out);
}
