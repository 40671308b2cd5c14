/* One explainer per family of paths. Each fills symbol, formula, the numbers put in with where they come from, and the result,
 * which equals the figure of the plan document: both read the same struct. */
#include "explain.h"

#include "explain_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_value(struct explanation *x, const char *symbol, double number, const char *unit, const char *from, ...)
{
	struct explain_value *v;
	va_list ap;

	if (x->n_values == EXPLAIN_VALUES_MAX)
		return;
	v = &x->values[x->n_values++];
	v->value = number;
	(void)snprintf(v->symbol, sizeof v->symbol, "%s", symbol);
	(void)snprintf(v->unit, sizeof v->unit, "%s", unit);
	va_start(ap, from);
	(void)vsnprintf(v->from, sizeof v->from, from, ap);
	va_end(ap);
}

void put_note(struct explanation *x, const char *fmt, ...)
{
	va_list ap;

	if (x->n_notes == EXPLAIN_NOTES_MAX)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(x->notes[x->n_notes++], sizeof x->notes[0], fmt, ap);
	va_end(ap);
}

void put_result(
	struct explanation *x, const char *symbol, double number, const char *unit, const char *formula, const char *source)
{
	x->result = number;
	(void)snprintf(x->symbol, sizeof x->symbol, "%s", symbol);
	(void)snprintf(x->unit, sizeof x->unit, "%s", unit);
	(void)snprintf(x->formula, sizeof x->formula, "%s", formula);
	(void)snprintf(x->source, sizeof x->source, "%s", source);
}

/* Reals are handled in millionths. */
static double knob_number(const struct draft *d, const struct knob *k)
{
	return (double)knob_get(k, &d->s) / (k->type == KNOB_REAL || k->type == KNOB_DROPOUT ? KNOB_REAL_SCALE : 1);
}

void put_knob(struct explanation *x, const struct draft *d, const char *symbol, const char *key)
{
	const struct knob *k = knob_find(key);

	put_value(x, symbol, knob_number(d, k), k->unit, "--%s (%s)", key, knob_origin_names[d->origin[knob_index(k)]]);
}

/* The textbook forms where makespan - busy is (p - 1) s; else from the makespan. */
static const char *bubble_formula(const struct pipeline *pl, bool of_step)
{
	bool exact;
	int64_t idle = pipeline_makespan(pl, 1, 1, 1, 0, &exact) - 3 * pl->m * pl->v;

	if (pl->schedule == SCHEDULE_NAIVE)
		return of_step ? "1 - 1/p" : "p - 1";
	if (exact && idle == 3 * (pl->p - 1))
		return of_step ? "(p - 1) / (m v + p - 1)" : "(p - 1) / (m v)";
	return of_step ? "1 - m v s / makespan" : "makespan / (m v s) - 1";
}

static void explain_bubble(const struct plan *p, bool of_step, struct explanation *x)
{
	const struct pipeline *pl = &p->pipeline;

	put_result(x, "bubble", of_step ? p->bubble_of_step : p->bubble_over_ideal, "ratio", bubble_formula(pl, of_step),
		"Huang 2019; Narayanan 2021 sec. 2.2; schedule closed forms");
	put_value(x, "p", (double)pl->p, "ranks", "--pp");
	put_value(x, "m", (double)pl->m, "micro-batches", "global-batch / (dp micro-batch)");
	put_value(x, "v", (double)pl->v, "chunks", "--vpp");
	put_note(x, "%s",
		of_step ? "Idle time over the whole step; over ideal = step / (1 - step)."
			: "Idle time over busy time, the (N-1)/M of textbooks; of step = ideal / (1 + ideal).");
	if (schedule_table[pl->schedule].placement != PLACEMENT_LOOP || schedule_table[pl->schedule].splits)
		put_note(x, "Makespan of %s: %s (%s); s = F + I + W of a chunk, F = I = W here.",
			schedule_table[pl->schedule].key, schedule_table[pl->schedule].makespan_formula,
			schedule_table[pl->schedule].cite);
	put_note(x,
		"1F1B does not shrink the bubble of GPipe, only its memory; with latency between stages it is slower than "
		"GPipe.");
}

static void explain_of_step(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	explain_bubble(p, true, x);
}

static void explain_over_ideal(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	explain_bubble(p, false, x);
}

static void explain_span(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)d;
	put_result(x, "span", (double)p->bubble_span_ticks, "ticks",
		"largest (last end - first start - busy) of a rank, F = 1, B = 2", "Qi 2023 (Zero Bubble)");
	put_value(x, "p", (double)p->pipeline.p, "ranks", "--pp");
	put_value(x, "m", (double)p->pipeline.m, "micro-batches", "global-batch / (dp micro-batch)");
}

static void model_values(struct explanation *x, const struct model *m, bool active)
{
	struct layer_params dense = model_layer_params(m, false), moe = model_layer_params(m, true);
	int64_t n_moe = model_moe_layers(m, 0, m->layers);

	put_value(x, "dense layers", (double)(m->layers - n_moe), "", "layers without experts");
	put_value(x, "per dense layer", (double)layer_params_total(&dense), "params", "attention + MLP + norms");
	if (n_moe > 0) {
		put_value(x, "MoE layers", (double)n_moe, "", "layers with experts");
		put_value(x, "per MoE layer", (double)(layer_params_total(&moe) - moe.experts), "params",
			"attention + router + shared experts + norms");
		put_value(x, "experts", (double)(active ? moe.experts / m->experts * m->topk : moe.experts), "params",
			active ? "topk of them per token" : "all routed experts of a layer");
	}
	if (m->mlp_extra_params != 0)
		put_value(x, "rounding", (double)m->mlp_extra_params, "params", "charged to the MLPs so that --params is exact");
	put_value(x, "embedding", (double)model_embedding_params(m), "params", "V h, learned positions, embedding norm");
	put_value(x, "head", (double)model_head_params(m), "params", m->tied_embeddings ? "tied to the embedding" : "V h");
	put_value(x, "final norm", (double)model_final_norm_params(m), "params", "h, twice with a bias");
	if (m->mtp_layers > 0)
		put_note(x, "%" PRId64 " multi-token prediction layer adds %" PRId64 " parameters, counted apart.", m->mtp_layers,
			model_mtp_params(m));
}

static void explain_params(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "P", (double)p->params, "params", "sum over layers + embedding + head + final norm",
		"every tensor of the model; meshplan-model(7)");
	model_values(x, &d->s.model, false);
}

static void explain_active(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "Pa", (double)p->active_params, "params",
		"as params, with topk of the routed experts; embedding and head included",
		"every tensor that touches a token; meshplan-model(7)");
	model_values(x, &d->s.model, true);
}

static const struct path_row {
	const char *path;
	void (*explain)(const struct draft *, const struct plan *, struct explanation *);
} rows[] = {
	{ "verdict.need_bytes", explain_need },
	{ "verdict.have_bytes", explain_have },
	{ "verdict.headroom_bytes", explain_headroom },
	{ "memory.host_bytes_per_node", explain_host },
	{ "memory.nvme_bytes_per_node", explain_nvme },
	{ "pipeline.bubble_of_step", explain_of_step },
	{ "pipeline.bubble_over_ideal", explain_over_ideal },
	{ "pipeline.bubble_span", explain_span },
	{ "model.params", explain_params },
	{ "model.active_params", explain_active },
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void explain_knob(const struct draft *d, const struct knob *k, struct explanation *x)
{
	char text[160];

	(void)knob_format_pretty(k, &d->s, text, sizeof text);
	put_result(x, k->key, knob_number(d, k), k->unit, k->help, k->cite);
	put_note(x, "%s: %s (%s).", k->key, text, knob_origin_names[d->origin[knob_index(k)]]);
	if (k->type == KNOB_DP) {
		put_knob(x, d, "gpus", "gpus");
		put_knob(x, d, "t", "tp");
		put_knob(x, d, "p", "pp");
		put_knob(x, d, "c", "cp");
	}
}

/* "memory.stages[3].optimizer" -> 3, "optimizer". Returns false when the text has another form. */
static bool split_index(const char *path, const char *head, int64_t *index, const char **rest)
{
	size_t n = strlen(head);
	char *end;

	if (strncmp(path, head, n) != 0 || path[n] < '0' || path[n] > '9')
		return false;
	*index = (int64_t)strtoll(path + n, &end, 10);
	if (*end != ']')
		return false;
	*rest = end[1] == '.' ? end + 2 : end + 1;
	return true;
}

struct path_list {
	const char *wanted;
	int best;
	size_t holding; /* paths that hold the wanted text */
	char near[64], holders[120];
};

static void keep_nearest(void *ctx, const char *path)
{
	struct path_list *l = ctx;
	const char *last = strrchr(path, '.') != NULL ? strrchr(path, '.') + 1 : path;
	int distance = catalog_distance(l->wanted, path), of_last = catalog_distance(l->wanted, last);
	size_t len = strlen(l->holders);

	if (strstr(path, l->wanted) != NULL && l->holding++ < 3)
		(void)snprintf(l->holders + len, sizeof l->holders - len, "%s%s", len > 0 ? ", " : "", path);
	if (distance < l->best || of_last < l->best) {
		l->best = distance < of_last ? distance : of_last;
		(void)snprintf(l->near, sizeof l->near, "%s", path);
	}
}

/* Parts of the plan document, first those that are known without the speed of the GPU. */
static const char *const parts[] = { "scenario", "model", "verdict", "memory", "pipeline", "time", "throughput", "cost",
	"communication" };
enum { N_PARTS = sizeof parts / sizeof parts[0], FIRST_OF_SPEED = 5 };

static size_t part_of(const char *path)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		size_t n = strlen(parts[i]);

		if (strncmp(path, parts[i], n) == 0 && (path[n] == '.' || path[n] == '['))
			return i;
	}
	return N_PARTS;
}

bool explain_is_path(const char *word)
{
	return part_of(word) < N_PARTS;
}

static bool is_of_speed(const char *path)
{
	return explain_is_path(path) && part_of(path) >= FIRST_OF_SPEED;
}

/* Whatever is closer than half the text is worth naming. */
static enum err_code unknown_path(const struct draft *d, const struct plan *p, const char *path, struct err *e)
{
	struct path_list l = { .wanted = path, .best = (int)strlen(path) / 2 + 1 };

	if (!p->step.known && is_of_speed(path) && !d->s.profile.models_activations)
		return err_set(e, ERR_UNKNOWN, "explain", "'%.60s' is not known: profile %s counts model states only", path,
			d->s.profile.id);
	if (!p->step.known && is_of_speed(path))
		return err_set(e, ERR_UNKNOWN, "explain", "'%.60s' is not known: %s has no efficiency curves", path,
			d->s.cluster.gpu.id);
	explain_paths(p, keep_nearest, &l);
	if (l.holding == 0 && l.near[0] == '\0')
		return err_set(e, ERR_UNKNOWN, "explain",
			"'%.60s' is not a quantity of the plan; explain alone lists them, explain mfu 70B 8xH100 takes one",
			path);
	return err_set(e, ERR_UNKNOWN, "explain", "'%.60s' is not a quantity of the plan; nearest: %s", path,
		l.holding > 0 ? l.holders : l.near);
}

static bool explain_member(const struct draft *d, const struct plan *p, const char *path, struct explanation *x)
{
	static const char per_param[] = "memory.bytes_per_param.", scenario[] = "scenario.", phases[] = "memory.phases.";

	for (size_t i = 0; i < N_ROWS; i++)
		if (strcmp(path, rows[i].path) == 0) {
			rows[i].explain(d, p, x);
			return true;
		}
	if (strncmp(path, per_param, sizeof per_param - 1) == 0)
		for (size_t i = 0; i < EXPLAIN_COMPONENTS; i++)
			if (strcmp(path + sizeof per_param - 1, explain_component_key(i)) == 0) {
				explain_component(d, p, i, x);
				return true;
			}
	if (strncmp(path, phases, sizeof phases - 1) == 0)
		for (int i = 0; i < PHASE_COUNT; i++)
			if (strcmp(path + sizeof phases - 1, memory_phase_choices[i].key) == 0) {
				explain_phase(d, p, i, x);
				return true;
			}
	if (strncmp(path, scenario, sizeof scenario - 1) == 0 && knob_find(path + sizeof scenario - 1) != NULL) {
		explain_knob(d, knob_find(path + sizeof scenario - 1), x);
		return true;
	}
	return false;
}

/* The first path whose last part is `wanted`; of those of stages, that of the worst. */
struct short_name {
	const char *wanted;
	int64_t stage;
	char path[64];
};

static void keep_short(void *ctx, const char *path)
{
	struct short_name *s = ctx;
	const char *last = strrchr(path, '.'), *rest;
	int64_t stage;

	if (s->path[0] != '\0' || last == NULL || strcmp(last + 1, s->wanted) != 0)
		return;
	if (!split_index(path, "memory.stages[", &stage, &rest) || stage == s->stage)
		(void)snprintf(s->path, sizeof s->path, "%s", path);
}

enum err_code explain_quantity(
	const struct draft *d, const struct plan *p, const char *name, struct explanation *x, struct err *e)
{
	struct short_name s = { .wanted = name, .stage = p->verdict.worst_stage };
	const char *rest, *path = name;
	int64_t i;
	enum err_code code = ERR_UNKNOWN;

	if (strchr(name, '.') == NULL)
		explain_paths(p, keep_short, &s);
	if (s.path[0] != '\0')
		path = s.path;
	memset(x, 0, sizeof *x);
	(void)snprintf(x->quantity, sizeof x->quantity, "%s", path);
	if (split_index(path, "memory.stages[", &i, &rest))
		code = explain_stage(d, p, i, rest, x, e);
	else if (split_index(path, "memory.phases[", &i, &rest) && i < PHASE_COUNT && strcmp(rest, "peak_bytes") == 0) {
		explain_phase(d, p, (int)i, x);
		code = ERR_OK;
	} else if (split_index(path, "pipeline.in_flight[", &i, &rest) && i < p->pipeline.p && rest[0] == '\0') {
		explain_in_flight(p, i, (double)pipeline_in_flight(&p->pipeline, i), x);
		(void)snprintf(x->unit, sizeof x->unit, "chunks");
		code = ERR_OK;
	} else if (explain_member(d, p, path, x) || explain_speed(d, p, path, x)) {
		code = ERR_OK;
	}
	return code == ERR_UNKNOWN ? unknown_path(d, p, path, e) : code;
}

static void each_stage(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx)
{
	char path[64];

	for (int64_t stage = 0; stage < p->pipeline.p; stage++) {
		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			(void)snprintf(path, sizeof path, "memory.stages[%" PRId64 "].%s", stage, memory_category_table[i].key);
			each(ctx, path);
		}
		(void)snprintf(path, sizeof path, "memory.stages[%" PRId64 "].total", stage);
		each(ctx, path);
		(void)snprintf(path, sizeof path, "memory.stages[%" PRId64 "].in_flight", stage);
		each(ctx, path);
	}
}

void explain_paths(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx)
{
	char path[64];

	for (size_t i = 0; i < N_ROWS; i++)
		each(ctx, rows[i].path);
	each_stage(p, each, ctx);
	for (int i = 0; i < PHASE_COUNT; i++) {
		(void)snprintf(path, sizeof path, "memory.phases[%d].peak_bytes", i);
		each(ctx, path);
	}
	for (size_t i = 0; i < EXPLAIN_COMPONENTS; i++) {
		(void)snprintf(path, sizeof path, "memory.bytes_per_param.%s", explain_component_key(i));
		each(ctx, path);
	}
	for (int64_t r = 0; r < p->pipeline.p; r++) {
		(void)snprintf(path, sizeof path, "pipeline.in_flight[%" PRId64 "]", r);
		each(ctx, path);
	}
	explain_speed_paths(p, each, ctx);
	for (size_t i = 0; i < knob_count(); i++) {
		(void)snprintf(path, sizeof path, "scenario.%s", knob_at(i)->key);
		each(ctx, path);
	}
}
