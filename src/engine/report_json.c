/* The plan document: what `fit --json` and `plan --json` print. Keys come from the tables that also name the columns of the text
 * and the entries of the man page. Bytes are integers; what no model fills yet is absent. */
#include "cost.h"
#include "num.h"
#include "report.h"

#include <math.h>

/* Starts a member: comma and line break unless it is the first, then the key. */
static void member(struct sink *out, bool *first, const char *indent, const char *key)
{
	sink_puts(out, *first ? "\n" : ",\n");
	sink_json_text(out, indent, key);
	sink_puts(out, ": ");
	*first = false;
}

static void pair_int(struct sink *out, const char *before, const char *key, int64_t value)
{
	sink_printf(out, "%s\"%s\": ", before, key);
	sink_json_int(out, value);
}

static void pair_double(struct sink *out, const char *before, const char *key, double value)
{
	sink_printf(out, "%s\"%s\": ", before, key);
	sink_json_double(out, value);
}

static void pair_string(struct sink *out, const char *before, const char *key, const char *value)
{
	sink_printf(out, "%s\"%s\": ", before, key);
	sink_json_string(out, value);
}

static void write_scenario(const struct draft *d, struct sink *out)
{
	bool first = true;

	sink_puts(out, "{");
	for (size_t i = 0; i < knob_count(); i++) {
		member(out, &first, "    ", knob_at(i)->key);
		knob_json(knob_at(i), &d->s, out);
	}
	sink_puts(out, "\n  }");
}

static void write_verdict(const struct verdict *v, struct sink *out)
{
	char text[200];

	sink_printf(out, "{ \"fits\": %s, \"tight\": %s",
		!v->known         ? "null"
			: v->fits ? "true"
				  : "false",
		v->tight ? "true" : "false");
	pair_int(out, ", ", "need_bytes", v->need_bytes);
	pair_int(out, ",\n    ", "have_bytes", v->have_bytes);
	pair_int(out, ", ", "headroom_bytes", v->headroom_bytes);
	pair_int(out, ", ", "worst_stage", v->worst_stage);
	pair_string(out, ",\n    ", "limit", verdict_limit_names[v->limit]);
	pair_string(out, ", ", "text", verdict_text(v, text, sizeof text));
	sink_puts(out, " }");
}

static void write_stage(int64_t rank, const struct stage_memory *s, struct sink *out)
{
	pair_int(out, "{ ", "stage", rank);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		pair_int(out, ", ", memory_category_table[i].key, s->category[i]);
	pair_int(out, ", ", "total", s->need_bytes);
	pair_double(out, ", ", "in_flight", s->in_flight);
	sink_puts(out, " }");
}

static void write_memory(const struct draft *d, const struct plan *p, struct sink *out)
{
	sink_puts(out, "{\n    \"stages\": [");
	for (int64_t rank = 0; rank < p->pipeline.p; rank++) {
		struct stage_memory s;

		if (memory_stage(&d->s, rank, &s, NULL) != ERR_OK)
			continue;
		sink_puts(out, rank > 0 ? ",\n      " : "\n      ");
		write_stage(rank, &s, out);
	}
	sink_puts(out, "\n    ],\n    \"phases\": [");
	for (int i = 0; i < PHASE_COUNT; i++) {
		pair_string(out, i > 0 ? ",\n      { " : "\n      { ", "phase", memory_phase_choices[i].key);
		pair_int(out, ", ", "peak_bytes", p->phase_peak[i]);
		sink_puts(out, " }");
	}
	pair_int(out, "\n    ],\n    ", "host_bytes_per_node", p->host_bytes_per_node);
	pair_int(out, ", ", "nvme_bytes_per_node", p->nvme_bytes_per_node);
	pair_double(out, ",\n    \"bytes_per_param\": { ", memory_category_table[MEMORY_WEIGHTS].key, p->ledger.weights);
	pair_double(out, ", ", memory_category_table[MEMORY_MASTER_WEIGHTS].key, p->ledger.master_weights);
	pair_double(out, ", ", memory_category_table[MEMORY_GRADIENTS].key, p->ledger.gradients);
	pair_double(out, ", ", "gradient_accumulation", p->ledger.gradient_accumulation + p->ledger.gradient_copies);
	pair_double(out, ", ", memory_category_table[MEMORY_OPTIMIZER].key, p->ledger.optimizer);
	sink_puts(out, " }\n  }");
}

static void write_pipeline(const struct plan *p, struct sink *out)
{
	const struct pipeline *pl = &p->pipeline;

	pair_string(out, "{ ", "schedule", schedule_table[pl->schedule].key);
	pair_int(out, ", ", "p", pl->p);
	pair_int(out, ", ", "m", pl->m);
	pair_int(out, ", ", "v", pl->v);
	pair_double(out, ",\n    ", "bubble_of_step", p->bubble_of_step);
	pair_double(out, ", ", "bubble_over_ideal", p->bubble_over_ideal);
	pair_int(out, ", ", "bubble_span", p->bubble_span_ticks);
	sink_puts(out, ",\n    \"in_flight\": [");
	for (int64_t rank = 0; rank < pl->p; rank++) {
		sink_puts(out, rank > 0 ? ", " : "");
		sink_json_int(out, pipeline_in_flight(pl, rank));
	}
	sink_puts(out, "] }");
}

/* Parts in the order of the table; they sum to the step. */
static void write_time(const struct step_time *t, struct sink *out)
{
	pair_double(out, "{ ", "step_s", t->step_s);
	for (int i = 0; i < STEP_PART_COUNT; i++)
		pair_double(out, i % 4 == 0 ? ",\n    " : ", ", step_part_table[i].key, t->part_s[i]);
	sink_puts(out, " }");
}

/* The band is that of the model: what was not given is written out in the scenario, so a document that is read back says the
 * same. */
static void write_throughput(const struct plan *p, struct sink *out)
{
	const struct throughput *t = &p->throughput;

	pair_double(out, "{ ", "tokens_per_s", t->tokens_per_s);
	pair_double(out, ", ", "tokens_per_s_per_gpu", t->tokens_per_s_per_gpu);
	pair_double(out, ",\n    ", "model_tflops_per_gpu", t->model_flops_per_gpu / 1e12);
	pair_double(out, ", ", "mfu", t->mfu);
	pair_double(out, ", ", "hfu", t->hfu);
	pair_double(out, ", ", "band", p->band);
	sink_puts(out, " }");
}

static void write_communication(const struct scenario *s, const struct plan *p, struct sink *out)
{
	struct traffic_row rows[TRAFFIC_COUNT];
	size_t n = report_traffic(s, p, rows);

	sink_puts(out, "[");
	for (size_t i = 0; i < n; i++) {
		const struct traffic_time *t = &rows[i].time;

		pair_string(out, i > 0 ? ",\n    { " : "\n    { ", "what", rows[i].what);
		pair_string(out, ", ", "group", rows[i].group);
		pair_int(out, ", ", "ranks", num_round(t->ranks));
		pair_string(out, ", ", "link", rows[i].link);
		pair_int(out, ", ", "calls", num_round(t->calls));
		pair_int(out, ",\n      ", "bytes_per_gpu", num_round(t->bytes_per_gpu));
		pair_double(out, ", ", "seconds", t->seconds);
		pair_double(out, ", ", "exposed_s", t->exposed_s);
		sink_puts(out, " }");
	}
	sink_puts(out, n > 0 ? "\n  ]" : "]");
}

/* What others ask for this GPU, and what the run would cost there. */
static void write_prices(const struct catalog *k, const struct scenario *s, double gpu_hours, struct sink *out)
{
	size_t n;
	const struct gpu_price *prices = catalog_prices(k, s->cluster.gpu.id, &n);

	sink_puts(out, "[");
	for (size_t i = 0; i < n; i++) {
		pair_string(out, i > 0 ? ",\n      { " : "\n      { ", "provider", prices[i].provider);
		pair_string(out, ", ", "kind", price_kind_names[prices[i].kind]);
		pair_double(out, ", ", "usd_per_gpu_hour", prices[i].usd_per_hour);
		pair_string(out, ", ", "date", prices[i].date);
		pair_double(out, ", ", "usd", gpu_hours * prices[i].usd_per_hour);
		sink_puts(out, " }");
	}
	sink_puts(out, n > 0 ? "\n    ]" : "]");
}

/* usd is null where no price is known. */
static void write_cost(const struct catalog *k, const struct scenario *s, const struct step_time *t, struct sink *out)
{
	struct cost c = cost_of(s, t);

	pair_int(out, "{ ", "tokens", num_round(c.tokens));
	pair_int(out, ", ", "steps", num_round(c.steps));
	pair_double(out, ", ", "days", c.days);
	pair_double(out, ", ", "gpu_hours", c.gpu_hours);
	pair_double(out, ",\n    ", "usd", c.price_usd_per_hour > 0 ? c.usd : (double)NAN);
	pair_double(out, ", ", "price_usd_per_hour", c.price_usd_per_hour > 0 ? c.price_usd_per_hour : (double)NAN);
	pair_double(out, ", ", "kwh", c.kwh);
	pair_double(out, ",\n    ", "goodput", c.goodput);
	pair_double(out, ", ", "checkpoint_interval_s", c.checkpoint_interval_s);
	sink_puts(out, ",\n    \"prices\": ");
	write_prices(k, s, c.gpu_hours, out);
	sink_puts(out, " }");
}

static void write_diagnostics(const struct plan *p, struct sink *out)
{
	sink_puts(out, "[");
	for (int64_t i = 0; i < p->n_diagnostics; i++) {
		const struct diagnostic *g = &p->diagnostics[i];

		pair_string(out, i > 0 ? ",\n    { " : "\n    { ", "level", diagnostic_level_names[g->level]);
		pair_string(out, ", ", "id", g->id);
		pair_string(out, ", ", "knob", g->knob != NULL ? g->knob : "");
		pair_string(out, ", ", "text", g->text);
		sink_puts(out, " }");
	}
	sink_puts(out, p->n_diagnostics > 0 ? "\n  ]" : "]");
}

void report_plan_json(const struct draft *d, const struct catalog *c, const struct plan *p, const char *version, struct sink *out)
{
	bool first = true;

	sink_puts(out, "{");
	member(out, &first, "  ", "meshplan");
	sink_json_string(out, version);
	member(out, &first, "  ", "schema");
	sink_json_int(out, MESHPLAN_SCHEMA);
	member(out, &first, "  ", "scenario");
	write_scenario(d, out);
	member(out, &first, "  ", "verdict");
	write_verdict(&p->verdict, out);
	member(out, &first, "  ", "memory");
	write_memory(d, p, out);
	if (p->step.known) {
		member(out, &first, "  ", "time");
		write_time(&p->step, out);
		member(out, &first, "  ", "throughput");
		write_throughput(p, out);
	}
	member(out, &first, "  ", "pipeline");
	write_pipeline(p, out);
	if (p->step.known) {
		member(out, &first, "  ", "communication");
		write_communication(&d->s, p, out);
		member(out, &first, "  ", "cost");
		write_cost(c, &d->s, &p->step, out);
	}
	member(out, &first, "  ", "diagnostics");
	write_diagnostics(p, out);
	sink_puts(out, "\n}\n");
}
