/* meshplan pipeline --trace: Chrome's trace events, for chrome://tracing and Perfetto. A process per rank, one slice per action,
 * an arrow from every producer to its consumer on another rank. One unit of the times is a millisecond there. */
#include "config.h"

#include "pipeline.h"

#include <inttypes.h>

enum { MICROSECONDS = 1000 };

struct trace {
	const struct pipeline_job *job;
	struct sink *out;
};

static double microseconds(const struct trace *t, double ticks)
{
	return ticks * MICROSECONDS / (double)t->job->times.scale;
}

/* What runs at the second half of a block is drawn in a thread of its own. */
static int thread_of(const struct timed_action *a)
{
	return a->action.overlap && a->action.kind != ACTION_FORWARD;
}

static void slice(const struct trace *t, const struct timed_action *a)
{
	static const char *const colours[ACTION_KIND_COUNT] = { "rail_response", "rail_idle", "thread_state_runnable",
		"rail_load" };
	static const char *const kinds[ACTION_KIND_COUNT] = { "forward", "backward", "input gradient", "weight gradient" };
	char name[48];

	sink_printf(t->out,
		",\n{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"cname\": \"%s\", \"pid\": %" PRId64 ", \"tid\": %d",
		action_format(&a->action, name, sizeof name), kinds[a->action.kind], colours[a->action.kind], a->rank,
		thread_of(a));
	sink_puts(t->out, ", \"ts\": ");
	sink_json_double(t->out, microseconds(t, (double)a->start));
	sink_puts(t->out, ", \"dur\": ");
	sink_json_double(t->out, microseconds(t, (double)(a->end - a->start)));
	sink_printf(t->out, ", \"args\": {\"stage\": %d, \"micro_batch\": %d, \"idle_before\": \"%s\"}}", (int)a->action.stage,
		(int)a->action.micro_batch, idle_reason_choices[a->start > a->free_at ? a->reason : IDLE_NONE].key);
}

/* One end of the arrow that leaves `stage` as a forward or as a gradient. A start within the slice, just before its end, binds to
 * that slice and not to the next. */
static void arrow(const struct trace *t, const struct timed_action *a, bool begins, int64_t stage, bool gradient)
{
	double ts = begins ? (double)a->end - 0.01 * (double)(a->end - a->start) : (double)a->start;
	int64_t id = 2 * (stage * t->job->order.pl.m + a->action.micro_batch) + gradient;

	sink_printf(t->out,
		",\n{\"ph\": \"%s, \"name\": \"%s\", \"cat\": \"flow\", \"id\": %" PRId64 ", \"pid\": %" PRId64
		", \"tid\": %d, \"ts\": ",
		begins ? "s\"" : "f\", \"bp\": \"e\"", gradient ? "gradient" : "activation", id, a->rank, thread_of(a));
	sink_json_double(t->out, microseconds(t, ts));
	sink_puts(t->out, "}");
}

static void event(void *ctx, const struct timed_action *a)
{
	const struct trace *t = ctx;
	const struct pipeline *pl = &t->job->order.pl;
	bool gradient = a->action.kind != ACTION_FORWARD;
	int64_t stage = a->action.stage, from = gradient ? stage + 1 : stage - 1, to = gradient ? stage - 1 : stage + 1;
	int64_t last = pipeline_stages(pl) - 1;

	slice(t, a);
	if (a->action.kind == ACTION_WEIGHT)
		return;
	if (from >= 0 && from <= last && pipeline_rank_of(pl, from, a->action.micro_batch) != a->rank)
		arrow(t, a, false, from, gradient);
	if (to >= 0 && to <= last && pipeline_rank_of(pl, to, a->action.micro_batch) != a->rank)
		arrow(t, a, true, stage, gradient);
}

void pipeline_trace(const struct pipeline_job *job, struct sink *out)
{
	struct trace t = { .job = job, .out = out };
	const struct pipeline *pl = &job->order.pl;
	struct schedule_result result;

	sink_printf(out,
		"{\"displayTimeUnit\": \"ms\", \"otherData\": {\"schedule\": \"%s\", \"p\": %" PRId64 ", \"m\": %" PRId64
		", \"v\": %" PRId64 ", \"unit\": \"1 ms is one unit of the times\"},\n\"traceEvents\": [",
		job->name, pl->p, pl->m, pl->v);
	for (int64_t r = 0; r < pl->p; r++)
		sink_printf(out,
			"%s\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %" PRId64
			", \"args\": {\"name\": \"rank %" PRId64 "\"}},"
			"\n{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %" PRId64
			", \"args\": {\"sort_index\": %" PRId64 "}}",
			r > 0 ? "," : "", r, r, r, r);
	/* The same run that succeeded before. */
	if (order_run(&job->order, &job->times.ticks, job->workspace, event, &t, NULL, &result, NULL) != ERR_OK)
		out->failed = true;
	sink_puts(out, "\n]}\n");
}
