/* meshplan pipeline --svg: the drawing to scale, a box per action; the two halves of a block lie above each other. */
#include "config.h"

#include "pipeline.h"

#include "i18n.h"
#include "num.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	LEFT = 48,
	TOP = 56,
	ROW = 28,
	BOX = 24,
	FORWARD_WIDTH = 24,
	WIDTH_MAX = 16000,
	RIGHT = 24,
	FOOT = 76,
	BOXES_MAX = 262144,
	TEXT_WIDTH_MIN = 14,
	AXIS_STEP = 80,
	WIDTH_MIN = 640
};

struct svg {
	const struct pipeline_job *job;
	struct sink *out;
	double per_tick; /* width */
};

enum err_code pipeline_svg_check(const struct pipeline_job *job, struct err *e)
{
	if (job->actions <= BOXES_MAX)
		return ERR_OK;
	return err_set(e, ERR_RANGE, "svg", _("%lld actions are too many boxes; at most %d. A trace takes more: --trace FILE"),
		(long long)job->actions, (int)BOXES_MAX);
}

static const char *const colours[ACTION_KIND_COUNT][2] = {
	[ACTION_FORWARD] = { "#4c8bf5", "#a6c5fa" },
	[ACTION_BACKWARD] = { "#f29b38", "#f8cd9b" },
	[ACTION_INPUT] = { "#2ba8a0", "#95d4d0" },
	[ACTION_WEIGHT] = { "#5fae4b", "#afd7a5" },
};

static void box(void *ctx, const struct timed_action *a)
{
	const struct svg *s = ctx;
	const struct pipeline *pl = &s->job->order.pl;
	bool second = a->action.overlap && a->action.kind != ACTION_FORWARD;
	double x = LEFT + (double)a->start * s->per_tick, width = (double)(a->end - a->start) * s->per_tick;
	int height = a->action.overlap ? BOX / 2 : BOX, y = (int)(TOP + a->rank * ROW) + (second ? BOX / 2 : 0);
	char name[48];

	sink_printf(s->out,
		"<rect x=\"%.3f\" y=\"%d\" width=\"%.3f\" height=\"%d\" fill=\"%s\"><title>rank %" PRId64
		": %s, %.10g to %.10g</title></rect>\n",
		x, y, width, height, colours[a->action.kind][pipeline_chunk_at(pl, a->rank, a->action.stage) > 0], a->rank,
		action_format(&a->action, name, sizeof name), pipeline_units(&s->job->times, a->start),
		pipeline_units(&s->job->times, a->end));
	if (width >= TEXT_WIDTH_MIN)
		sink_printf(s->out, "<text x=\"%.3f\" y=\"%d\" font-size=\"%d\">%c%d</text>\n", x + width / 2, y + height / 2 + 4,
			a->action.overlap ? 9 : 10, action_letters[a->action.kind], (int)a->action.micro_batch);
}

/* Distance of the labels, in units: 1, 2, 5 times a power of ten. */
static double axis_step(const struct svg *s)
{
	static const double steps[] = { 1, 2, 5 };
	double per_unit = s->per_tick * (double)s->job->times.scale;

	for (double decade = 1e-6; decade < 1e15; decade *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
			if (steps[i] * decade * per_unit >= AXIS_STEP)
				return steps[i] * decade;
	return 1e15;
}

static void axis(const struct svg *s)
{
	double end = pipeline_units(&s->job->times, s->job->result.makespan), step = axis_step(s);
	double per_unit = s->per_tick * (double)s->job->times.scale;
	int bottom = (int)(TOP + s->job->order.pl.p * ROW);

	for (int64_t i = 0; (double)i * step <= end; i++)
		sink_printf(s->out,
			"<path d=\"M%.3f %dV%d\" stroke=\"#c8c8c8\"/><text x=\"%.3f\" y=\"%d\" font-size=\"10\">%.10g</text>\n",
			LEFT + (double)i * step * per_unit, TOP - 6, bottom, LEFT + (double)i * step * per_unit, TOP - 10,
			(double)i * step);
	for (int64_t r = 0; r < s->job->order.pl.p; r++)
		sink_printf(s->out,
			"<rect x=\"%d\" y=\"%d\" width=\"%.3f\" height=\"%d\" fill=\"#eeeeee\"/><text x=\"24\" y=\"%d\" "
			"font-size=\"12\">r%" PRId64 "</text>\n",
			LEFT, (int)(TOP + r * ROW), (double)s->job->result.makespan * s->per_tick, BOX, (int)(TOP + r * ROW) + 16,
			r);
}

static void legend(const struct svg *s, int y)
{
	static const char *const names[ACTION_KIND_COUNT] = { "F forward", "B backward", "I input gradient",
		"W weight gradient" };
	int x = LEFT;

	for (int kind = 0; kind < ACTION_KIND_COUNT; kind++) {
		if (!s->job->has[kind])
			continue;
		sink_printf(
			s->out, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>", x, y - 10, colours[kind][0]);
		sink_printf(s->out, "<text x=\"%d\" y=\"%d\" font-size=\"12\" text-anchor=\"start\">%s</text>\n", x + 18, y,
			names[kind]);
		x += 140;
	}
}

static void foot(const struct svg *s)
{
	const struct schedule_result *r = &s->job->result;
	int y = (int)(TOP + s->job->order.pl.p * ROW) + 22;

	legend(s, y);
	sink_printf(s->out,
		"<text x=\"%d\" y=\"%d\" font-size=\"12\" text-anchor=\"start\">makespan %.10g; bubble: %.2f %% of the step, "
		"%.2f %% over "
		"ideal, %.10g within the span</text>\n",
		LEFT, y + 20, pipeline_units(&s->job->times, r->makespan), 100 * r->bubble_of_step, 100 * r->bubble_over_ideal,
		pipeline_units(&s->job->times, r->span_bubble));
	sink_printf(s->out, "<text x=\"%d\" y=\"%d\" font-size=\"12\" text-anchor=\"start\">times of a chunk: ", LEFT, y + 40);
	pipeline_times_text(&s->job->times, s->out);
	sink_puts(s->out, "</text>\n</svg>\n");
}

void pipeline_svg(const struct pipeline_job *job, struct sink *out)
{
	struct svg s = { .job = job, .out = out };
	const struct pipeline *pl = &job->order.pl;
	double unit = (double)num_max(1, job->times.ticks.forward > 0 ? job->times.ticks.forward : job->times.ticks.backward);
	double makespan = (double)num_max(1, job->result.makespan);
	struct schedule_result result;
	int64_t width;

	s.per_tick = FORWARD_WIDTH / unit;
	if (makespan * s.per_tick > WIDTH_MAX)
		s.per_tick = WIDTH_MAX / makespan;
	width = num_max(WIDTH_MIN, LEFT + RIGHT + (int64_t)(makespan * s.per_tick));
	sink_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId64 "\" height=\"%" PRId64
		"\" font-family=\"sans-serif\" text-anchor=\"middle\">\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"white\"/>\n",
		width, TOP + FOOT + pl->p * ROW);
	sink_printf(out,
		"<text x=\"%d\" y=\"24\" font-size=\"14\" text-anchor=\"start\">%s: %" PRId64 " ranks, %" PRId64
		" micro-batches, %" PRId64 " chunks per rank</text>\n",
		LEFT, job->name, pl->p, pl->m, pipeline_chunks_held(pl));
	axis(&s);
	/* The same run that succeeded before. */
	if (order_run(&job->order, &job->times.ticks, job->workspace, box, &s, NULL, &result, NULL) != ERR_OK)
		out->failed = true;
	foot(&s);
}
