#include "validate.h"

#include "memory.h"
#include "num.h"
#include "rules.h"
#include "step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const validate_counter_names[COUNTER_COUNT + 1] = { "allocated", "reserved", "smi", "states", NULL };
const char *const validate_ranks_names[RANKS_COUNT + 1] = { "max", "first", "last", "ends", NULL };

/* Prediction */

static int64_t counter_bytes(int32_t counter, const struct stage_memory *m)
{
	const int64_t bytes[COUNTER_COUNT] = {
		[COUNTER_ALLOCATED] = m->allocated_bytes,
		[COUNTER_RESERVED] = m->reserved_bytes,
		[COUNTER_SMI] = m->smi_bytes,
		[COUNTER_STATES] = m->persistent_bytes,
	};

	return bytes[counter];
}

static bool was_read(int32_t ranks, int64_t rank, int64_t pp)
{
	bool first = rank == 0, last = rank == pp - 1;
	const bool read[RANKS_COUNT] = {
		[RANKS_MAX] = true, [RANKS_FIRST] = first, [RANKS_LAST] = last, [RANKS_ENDS] = first || last
	};

	return read[ranks];
}

/* The counter of the fullest rank that was read, and whether the fullest of all fits. A full card shows its size, unless more
 * than that is needed: the allocator keeps what it can and gives it back under pressure. */
static void predict_memory(const struct validate_case *in, struct validate_row *out)
{
	struct scenario changed = in->scenario;
	const struct scenario *s = &changed;
	struct memory_shared shared;
	int64_t usable = memory_capacity_bytes(s), need = 0, needed_there = 0;
	bool clamps = in->counter == COUNTER_RESERVED || in->counter == COUNTER_SMI;

	if (in->unfused_memory)
		changed.training.attention = ATTENTION_KERNEL_UNFUSED;
	memory_prepare(s, &shared);
	for (int64_t i = 0; i < s->layout.pp; i++) {
		struct stage_memory m;

		memory_stage_of(s, &shared, i, &m);
		need = num_max(need, m.need_bytes);
		if (!was_read(in->ranks, i, s->layout.pp) || counter_bytes(in->counter, &m) <= out->predicted_bytes)
			continue;
		out->predicted_bytes = counter_bytes(in->counter, &m);
		needed_there = m.allocated_bytes + num_round(m.term[TERM_CONTEXT]);
	}
	if (usable > 0 && clamps)
		out->predicted_bytes =
			num_max(num_min(out->predicted_bytes, usable), num_min(needed_there, out->predicted_bytes));
	if (usable > 0 && in->fit != FIT_UNKNOWN)
		out->fit_predicted = need <= usable ? FIT_YES : FIT_NO;
	if (in->measured_bytes > 0)
		out->memory_error = (double)out->predicted_bytes / (double)in->measured_bytes - 1;
}

static void predict_time(const struct validate_case *in, struct validate_row *out)
{
	struct step_time t;

	step_evaluate(&in->scenario, &t);
	if (!t.known)
		return;
	out->predicted_step_s =
		in->one_layer ? t.dense.forward_s + t.dense.input_s + t.dense.weight_s + t.dense.recompute_s : t.step_s;
	if (in->measured_step_s > 0)
		out->step_error = out->predicted_step_s / in->measured_step_s - 1;
}

void validate_run(const struct validate_case *in, struct validate_row *out)
{
	struct err e;

	memset(out, 0, sizeof *out);
	memcpy(out->id, in->id, sizeof out->id);
	memcpy(out->source, in->source, sizeof out->source);
	memcpy(out->mem_kind, in->mem_kind, sizeof out->mem_kind);
	memcpy(out->assumed, in->assumed, sizeof out->assumed);
	memcpy(out->skipped, in->skipped, sizeof out->skipped);
	memcpy(out->flag, in->flag, sizeof out->flag);
	memcpy(out->gpu, in->scenario.cluster.gpu.id, sizeof out->gpu);
	out->calibration_time = in->calibration_time;
	out->calibration_memory = in->calibration_memory;
	out->moe = model_is_moe(&in->scenario.model);
	out->gpus = in->scenario.cluster.gpus;
	out->measured_step_s = in->measured_step_s;
	out->measured_bytes = in->measured_bytes;
	out->fit_measured = in->fit;
	if (out->skipped[0] != '\0')
		return;
	if (scenario_check(&in->scenario, &e) != ERR_OK) {
		(void)snprintf(out->skipped, sizeof out->skipped, "%.190s", e.msg);
		return;
	}
	predict_time(in, out);
	if (in->fit != FIT_UNKNOWN || in->measured_bytes > 0)
		predict_memory(in, out);
}

/* Summary */

/* Heap sort, ascending: the engine has no qsort. */
static void sift(double *v, size_t root, size_t n)
{
	for (size_t child; (child = 2 * root + 1) < n; root = child) {
		double t = v[root];

		if (child + 1 < n && v[child + 1] > v[child])
			child++;
		if (v[child] <= t)
			return;
		v[root] = v[child];
		v[child] = t;
	}
}

static void sort(double *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(v, i, n);
	for (size_t end = n; end-- > 1;) {
		double t = v[0];

		v[0] = v[end];
		v[end] = t;
		sift(v, 0, end);
	}
}

static double median(const double *sorted, size_t n)
{
	return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* v: signed errors; sorted in place, twice. */
static struct validate_stats stats_of(double *v, size_t n)
{
	struct validate_stats s = { .rows = (int64_t)n };

	if (n == 0)
		return s;
	sort(v, n);
	s.bias = median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i]);
	sort(v, n);
	s.median = median(v, n);
	s.p90 = v[(9 * n + 9) / 10 - 1];
	return s;
}

static bool passes(const struct validate_row *r, const struct validate_filter *f)
{
	return (f->source == NULL || strcmp(f->source, r->source) == 0) && !(f->without_flagged && r->flag[0] != '\0');
}

static bool has_error(const struct validate_row *r, bool memory)
{
	return memory ? r->measured_bytes > 0 && r->predicted_bytes > 0 : r->measured_step_s > 0 && r->predicted_step_s > 0;
}

static struct validate_stats collect(const struct validate_row *rows, size_t n, const struct validate_filter *f, bool memory,
	double *scratch, int64_t *calibration)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const struct validate_row *r = &rows[i];
		bool seen = memory ? r->calibration_memory : r->calibration_time;

		if (!passes(r, f) || !has_error(r, memory))
			continue;
		*calibration += seen;
		if (!seen || f->with_calibration)
			scratch[used++] = memory ? r->memory_error : r->step_error;
	}
	return stats_of(scratch, used);
}

struct validate_summary validate_sum(
	const struct validate_row *rows, size_t n, const struct validate_filter *filter, double *scratch)
{
	struct validate_summary s = { .fit_rows = 0 };

	s.time = collect(rows, n, filter, false, scratch, &s.calibration_time);
	s.memory = collect(rows, n, filter, true, scratch, &s.calibration_memory);
	for (size_t i = 0; i < n; i++) {
		const struct validate_row *r = &rows[i];

		if (!passes(r, filter))
			continue;
		s.skipped += r->skipped[0] != '\0';
		if (r->fit_predicted == FIT_UNKNOWN || (r->calibration_memory && !filter->with_calibration))
			continue;
		s.fit_rows++;
		s.fit_right += r->fit_predicted == r->fit_measured;
	}
	return s;
}

size_t validate_worst(const struct validate_row *rows, size_t n, const char *source, bool memory, size_t *index, size_t cap)
{
	const struct validate_filter filter = { .source = source };
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		double error = fabs(memory ? rows[i].memory_error : rows[i].step_error);
		size_t at = used;

		if (!passes(&rows[i], &filter) || !has_error(&rows[i], memory) ||
			(memory ? rows[i].calibration_memory : rows[i].calibration_time))
			continue;
		while (at > 0 && error > fabs(memory ? rows[index[at - 1]].memory_error : rows[index[at - 1]].step_error))
			at--;
		if (at == cap)
			continue;
		used += used < cap;
		memmove(&index[at + 1], &index[at], (used - at - 1) * sizeof index[0]);
		index[at] = i;
	}
	return used;
}
