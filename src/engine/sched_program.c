/* Programs of closed-form schedules: building them, and random access. */
#include "sched_internal.h"

#include "num.h"

#include <string.h>

void sched_program_init(struct sched_program *g)
{
	g->segments = 0;
	g->keep = INT32_MAX;
}

static void start_chunk(struct sched_stream *s)
{
	int32_t size = s->group < s->end - s->first ? s->group : s->end - s->first;

	s->left = size;
	s->micro_batch = s->step > 0 ? s->first : s->first + size - 1;
}

void sched_stream_plain(struct sched_program *g, int s, int64_t stage, int64_t first)
{
	g->stream[s] = (struct sched_stream){
		.stage = (int32_t)stage, .step = 1, .chunks = 1, .group = INT32_MAX, .first = (int32_t)first, .end = INT32_MAX
	};
	start_chunk(&g->stream[s]);
}

void sched_stream_groups(
	struct sched_program *g, int s, int64_t stage, int64_t stage_step, int64_t chunks, int64_t group, int64_t m, int step)
{
	g->stream[s] = (struct sched_stream){ .stage = (int32_t)stage,
		.step = step,
		.chunks = (int32_t)chunks,
		.stage_step = (int32_t)stage_step,
		.group = (int32_t)group,
		.end = (int32_t)m };
	start_chunk(&g->stream[s]);
}

void sched_segment_add(struct sched_program *g, int64_t n, int len, const uint8_t *op)
{
	struct sched_segment *s = &g->segment[g->segments];

	if (n <= 0)
		return;
	s->n = n;
	s->len = (uint8_t)len;
	memcpy(s->op, op, (size_t)len);
	g->segments++;
}

void sched_stream_turn(struct sched_stream *s)
{
	if (++s->chunk == s->chunks) {
		s->chunk = 0;
		s->stage -= (s->chunks - 1) * s->stage_step;
		s->first += s->group < s->end - s->first ? s->group : s->end - s->first;
	} else {
		s->stage += s->stage_step;
	}
	start_chunk(s);
}

/* The x-th value of a stream in its first state. */
static void stream_at(const struct sched_stream *s, int64_t x, struct action *a)
{
	int64_t round = x / ((int64_t)s->group * s->chunks), first = s->first + round * s->group,
		size = num_min(s->group, s->end - first);
	int64_t y = x - round * s->group * s->chunks, chunk = y / size, i = y % size;

	a->stage = (int32_t)(s->stage + chunk * s->stage_step);
	a->micro_batch = (int32_t)(first + (s->step > 0 ? i : size - 1 - i));
}

/* How often the first n operations of a segment take from a stream. */
static int64_t taken(const struct sched_segment *g, int64_t n, int stream)
{
	int64_t whole = 0, rest = 0;

	for (int i = 0; i < g->len; i++) {
		bool here = (g->op[i] & OP_STREAM) == stream;

		whole += here;
		rest += here && i < n % g->len;
	}
	return n / g->len * whole + rest;
}

/* How often the first n actions of a program take from a stream. */
static int64_t taken_before(const struct sched_program *g, int64_t n, int stream)
{
	int64_t sum = 0;

	for (int32_t k = 0; k < g->segments && n > 0; k++) {
		sum += taken(&g->segment[k], num_min(n, g->segment[k].n), stream);
		n -= g->segment[k].n;
	}
	return sum;
}

/* Of the first n actions those that are kept: each stream counts its micro-batches up from 0. */
static int64_t kept_before(const struct sched_program *g, int64_t n)
{
	int64_t sum = 0;

	for (int s = 0; s < PROGRAM_STREAMS; s++)
		sum += num_min(g->keep, taken_before(g, n, s));
	return sum;
}

static int64_t length(const struct sched_program *g)
{
	int64_t sum = 0;

	for (int32_t k = 0; k < g->segments; k++)
		sum += g->segment[k].n;
	return sum;
}

int64_t sched_program_count(const struct sched_program *g)
{
	return g->keep == INT32_MAX ? length(g) : kept_before(g, length(g));
}

/* Position of the i-th kept action. */
static int64_t kept_position(const struct sched_program *g, int64_t i)
{
	int64_t low = i, high = length(g);

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (kept_before(g, middle + 1) > i)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct action sched_program_at(const struct sched_program *g, int64_t i)
{
	struct action a = { 0 };
	int64_t in_segment;
	int32_t at = 0;
	uint8_t op;

	if (g->keep != INT32_MAX)
		i = kept_position(g, i);
	for (in_segment = i; at < g->segments - 1 && in_segment >= g->segment[at].n; at++)
		in_segment -= g->segment[at].n;
	op = g->segment[at].op[in_segment % g->segment[at].len];
	stream_at(&g->stream[op & OP_STREAM], taken_before(g, i, op & OP_STREAM), &a);
	a.kind = (uint8_t)(op >> OP_KIND_SHIFT & OP_KIND);
	a.overlap = (uint8_t)(op >> OP_OVERLAP_SHIFT);
	return a;
}
