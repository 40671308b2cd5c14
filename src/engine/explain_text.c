/* Explanations as text and JSON, the saved-tensor table, and the comparison with other calculators. */
#include "explain.h"

#include "estimators.h"
#include "num.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

static char *format_value(double number, const char *unit, char *buf, size_t cap)
{
	char gib[32];

	if (strcmp(unit, "bytes") == 0) {
		(void)units_format_gib(num_round(number), gib, sizeof gib);
		(void)snprintf(buf, cap, "%s = %.2f GB", gib, number / UNITS_GB);
	} else if (number == (double)num_round(number)) {
		char commas[40], noun[40];

		(void)snprintf(buf, cap, "%s %s", units_format_commas(num_round(number), commas, sizeof commas),
			units_noun(number, unit, noun, sizeof noun));
	} else {
		(void)snprintf(buf, cap, "%.6g %s", number, unit);
	}
	return buf;
}

static void saved_table(const struct draft *d, bool moe, struct sink *out)
{
	struct saved_tensor t[SAVED_TENSOR_MAX];
	size_t n = memory_saved_tensors(&d->s, moe, t, SAVED_TENSOR_MAX);
	double kept = 0, all = 0;

	sink_printf(out, "Saved tensors of one %s layer per micro-batch on a rank, MiB\n", moe ? "MoE" : "dense");
	sink_printf(out, "  %-40s %-20s %2s %9s  %-4s %s\n", "tensor", "elements", "B", "MiB", "by", "dropped by recompute");
	for (size_t i = 0; i < n; i++) {
		double bytes = (double)t[i].elements * t[i].bytes_per_element;

		all += bytes;
		kept += t[i].kept ? bytes : 0;
		sink_printf(out, "%s %-40s %-20s %2g %9.2f  %-4s %s\n", t[i].kept ? " " : "-", t[i].name, t[i].shape,
			t[i].bytes_per_element, bytes / 1048576.0, t[i].divided_by, t[i].dropped_by);
	}
	if (kept < all)
		sink_printf(out, "  kept %.2f MiB of %.2f MiB: --recompute %s drops the rows with a - in front\n",
			kept / 1048576.0, all / 1048576.0, recompute_choices[d->s.training.recompute].key);
	else
		sink_printf(out, "  kept %.2f MiB: all of them, --recompute %s drops none\n", all / 1048576.0,
			recompute_choices[d->s.training.recompute].key);
}

static void saved_tables(const struct draft *d, struct sink *out)
{
	int64_t moe = model_moe_layers(&d->s.model, 0, d->s.model.layers);

	if (!d->s.profile.models_activations)
		return;
	if (moe < d->s.model.layers)
		saved_table(d, false, out);
	if (moe > 0)
		saved_table(d, true, out);
}

void explain_text(const struct draft *d, const struct explanation *x, struct sink *out)
{
	char text[80];

	sink_printf(out, "%s\n\n", x->quantity);
	sink_printf(out, "  %s = %s\n", x->symbol, x->formula);
	for (size_t i = 0; i < x->n_values; i++) {
		const struct explain_value *v = &x->values[i];

		sink_printf(out, "    %-16s %-26s %s\n", v->symbol, format_value(v->value, v->unit, text, sizeof text), v->from);
	}
	sink_printf(out, "  %s = %s\n", x->symbol, format_value(x->result, x->unit, text, sizeof text));
	if (x->source[0] != '\0')
		sink_printf(out, "  source: %s\n", x->source);
	for (size_t i = 0; i < x->n_notes; i++)
		sink_printf(out, "  note: %s\n", x->notes[i]);
	if (x->saved_tensors) {
		sink_puts(out, "\n");
		saved_tables(d, out);
	}
}

/* The members of an explanation. */
static void put_members(const struct explanation *x, struct sink *out)
{
	sink_json_text(out, "\"quantity\": ", x->quantity);
	sink_json_text(out, ", \"symbol\": ", x->symbol);
	sink_json_text(out, ",\n  \"formula\": ", x->formula);
	sink_puts(out, ",\n  \"values\": [");
	for (size_t i = 0; i < x->n_values; i++) {
		const struct explain_value *v = &x->values[i];

		sink_json_text(out, i > 0 ? ",\n    { \"symbol\": " : "\n    { \"symbol\": ", v->symbol);
		sink_puts(out, ", \"value\": ");
		sink_json_double(out, v->value);
		sink_json_text(out, ", \"unit\": ", v->unit);
		sink_json_text(out, ", \"from\": ", v->from);
		sink_puts(out, " }");
	}
	sink_puts(out, "],\n  \"result\": ");
	sink_json_double(out, x->result);
	sink_json_text(out, ", \"unit\": ", x->unit);
	sink_json_text(out, ",\n  \"source\": ", x->source);
	sink_puts(out, ",\n  \"notes\": [");
	for (size_t i = 0; i < x->n_notes; i++) {
		sink_json_text(out, i > 0 ? ",\n    " : "\n    ", x->notes[i]);
	}
	sink_puts(out, "]");
}

void explain_json(const struct explanation *x, struct sink *out)
{
	sink_puts(out, "{ ");
	put_members(x, out);
	sink_puts(out, " }\n");
}

/* Comparison with other calculators */

struct answer {
	const char *who, *counts;
	double gpu_bytes;
};

enum { ANSWERS_MAX = 8 };

static size_t collect_answers(const struct draft *d, const struct plan *p, struct answer *a)
{
	const struct scenario *s = &d->s;
	double params = (double)p->params;
	int64_t per_node = num_min(p->gpus_per_node, s->cluster.gpus), zero = s->layout.zero;
	bool full = scenario_full_precision(s);
	bool offload = s->training.offload != OFFLOAD_NONE, all = s->training.offload_params != OFFLOAD_NONE;
	size_t n = 0;

	a[n++] = (struct answer){ "meshplan", "states, activations, logits, working set, overheads; worst stage",
		(double)p->worst.need_bytes };
	a[n++] = (struct answer){ "lesson", "2+2+8 bytes over all GPUs; no activations, no master copy",
		estimator_lesson(params, full ? 4 : 2, s->cluster.gpus, zero) };
	a[n++] = (struct answer){ "ZeRO paper", "2+2+12 bytes over dp; no activations",
		estimator_zero_paper(params, p->dp, zero) };
	a[n++] = (struct answer){ "Megatron-LM estimator", "18 or 6+12/dp bytes of the fullest shard; states only",
		estimator_megatron_state(s) };
	a[n++] = (struct answer){ "DeepSpeed estimator, ZeRO-2", "states only; no tensor or pipeline parallelism",
		estimator_deepspeed_zero2(params, per_node, p->nodes, offload).gpu_bytes };
	a[n++] = (struct answer){ "DeepSpeed estimator, ZeRO-3", "states and one matrix; no activations",
		estimator_deepspeed_zero3(
			params, (double)estimator_largest_matrix(&s->model), per_node, p->nodes, offload, all, true)
			.gpu_bytes };
	a[n++] = (struct answer){ "accelerate estimate-memory", "4x the weights on one device; its label says training with Adam",
		estimator_accelerate_adam(params, full ? 4 : 2) };
	return n;
}

void explain_compare_text(const struct draft *d, const struct plan *p, const struct explanation *x, struct sink *out)
{
	struct answer a[ANSWERS_MAX];
	size_t n = collect_answers(d, p, a);

	if (x != NULL) {
		explain_text(d, x, out);
		sink_puts(out, "\n");
	}
	sink_puts(out, "Bytes per GPU, the same question asked of several calculators\n\n");
	for (size_t i = 0; i < n; i++)
		sink_printf(out, "  %-27s %9.2f GiB %9.2f GB  %s\n", a[i].who, a[i].gpu_bytes / UNITS_GIB,
			a[i].gpu_bytes / UNITS_GB, a[i].counts);
}

void explain_compare_json(const struct draft *d, const struct plan *p, const struct explanation *x, struct sink *out)
{
	struct answer a[ANSWERS_MAX];
	size_t n = collect_answers(d, p, a);

	sink_puts(out, "{ ");
	if (x != NULL) {
		put_members(x, out);
		sink_puts(out, ",\n  ");
	}
	sink_puts(out, "\"compare\": [");
	for (size_t i = 0; i < n; i++) {
		sink_json_text(out, i > 0 ? ",\n  { \"who\": " : "\n  { \"who\": ", a[i].who);
		sink_puts(out, ", \"gpu_bytes\": ");
		sink_json_int(out, num_round(a[i].gpu_bytes));
		sink_json_text(out, ", \"counts\": ", a[i].counts);
		sink_puts(out, " }");
	}
	sink_puts(out, "\n] }\n");
}
