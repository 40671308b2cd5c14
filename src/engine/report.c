/* The plan as text. Widths: 78 columns and a margin of two, so that a line can be quoted in a mail. Numbers are rounded for
 * reading, each from exact bytes; the exact bytes are in the JSON document (report_json.c). */
#include "report.h"

#include "num.h"
#include "report_internal.h"
#include "text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

enum { STAGES_SHOWN = 16, WAYS_SHOWN = 8 };

/* What memory is counted in: GiB, or GB of 10^9 bytes in the ledgers that count so. */
struct unit {
	double bytes;
	const char *name;
};

static struct unit unit_of(const struct plan *p)
{
	return p->verdict.decimal ? (struct unit){ UNITS_GB, "GB" } : (struct unit){ UNITS_GIB, "GiB" };
}

/* Bytes in a unit with three significant digits, without the unit. */
static const char *amount(struct unit u, int64_t bytes, char buf[32])
{
	return units_format_f4((double)bytes / u.bytes, buf, 32);
}

/* Place of the verdict: a stage, or every GPU when there is one stage. */
static const char *place_of(const struct plan *p, char buf[32])
{
	if (p->pipeline.p == 1)
		return "on every GPU";
	(void)snprintf(buf, 32, "on stage %lld", (long long)p->verdict.worst_stage);
	return buf;
}

static void write_answer(const struct plan *p, struct unit u, struct sink *out)
{
	const struct verdict *v = &p->verdict;
	char need[32], have[32], rest[32], place[32];
	bool host = v->limit == LIMIT_HOST_MEMORY, nvme = v->limit == LIMIT_NVME;
	const char *what = host ? "of host memory per node" : nvme ? "of NVMe per node" : "per GPU";

	(void)amount(u, v->need_bytes, need);
	if (!v->known) {
		sink_printf(out, "CANNOT TELL: needs %s %s %s; how much there is, is not known. Give --%s.", need, u.name, what,
			host           ? "host-mem"
				: nvme ? "nvme"
				       : "gpu-mem");
		return;
	}
	(void)amount(u, v->have_bytes, have);
	(void)amount(u, v->headroom_bytes < 0 ? -v->headroom_bytes : v->headroom_bytes, rest);
	sink_printf(out, "%s: needs %s %s %s, has %s; %s %s %s %s.", verdict_word(v), need, u.name, what, have, rest, u.name,
		v->fits ? "to spare" : "over", host || nvme ? "on each node" : place_of(p, place));
}

/* The first line of every text: the answer, an amount, a place. "FITS: needs 48.9 GiB per GPU, has 79.6; 30.7 GiB to spare on
 * stage 0." */
static void put_answer(const struct plan *p, struct sink *out)
{
	write_answer(p, unit_of(p), out);
	sink_puts(out, "\n");
}

/* The same in GiB, as cards and tools count, under a ledger that counts in GB. */
static void write_binary(const struct plan *p, struct sink *out)
{
	const struct unit u = { UNITS_GIB, "GiB" };
	const struct verdict *v = &p->verdict;
	char need[32], have[32], rest[32];

	if (!v->decimal || !v->known)
		return;
	sink_printf(out, "GB are 10^9 bytes. In GiB: needs %s, has %s; %s %s.\n", amount(u, v->need_bytes, need),
		amount(u, v->have_bytes, have), amount(u, v->headroom_bytes < 0 ? -v->headroom_bytes : v->headroom_bytes, rest),
		v->fits ? "to spare" : "over");
}

/* A knob's value as text for people. */
static const char *value_of(const struct draft *d, const char *key, char buf[64])
{
	const struct knob *k = knob_find(key);

	buf[0] = '\0';
	if (k != NULL)
		(void)knob_format_pretty(k, &d->s, buf, 64);
	return buf;
}

void report_title(const struct draft *d, const struct plan *p, struct sink *out)
{
	const struct layout *l = &d->s.layout;
	char params[32], custom[64];

	(void)snprintf(custom, sizeof custom, "A model of %s", units_format_count(p->params, params, sizeof params));
	sink_printf(out, "%s on %lld x %s, tp%lld pp%lld dp%lld", d->s.model.label[0] != '\0' ? d->s.model.label : custom,
		(long long)d->s.cluster.gpus, d->s.cluster.gpu.label, (long long)l->tp, (long long)l->pp, (long long)p->dp);
}

static void write_model(const struct draft *d, const struct plan *p, struct sink *out)
{
	const struct model *m = &d->s.model;
	char params[32], active[32], hidden[32];

	sink_printf(out, "%s: %lld layers, hidden %s, %lld heads, %lld kv-heads", m->id, (long long)m->layers,
		units_format_commas(m->hidden, hidden, sizeof hidden), (long long)m->heads, (long long)m->kv_heads);
	sink_printf(out, ", %s", units_format_count(p->params, params, sizeof params));
	if (p->active_params != p->params)
		sink_printf(out, " (%s active)", units_format_count(p->active_params, active, sizeof active));
}

static void write_cluster(const struct draft *d, const struct plan *p, struct sink *out)
{
	const struct cluster *c = &d->s.cluster;

	sink_printf(out, "%lld x %s (%s)", (long long)c->gpus, c->gpu.label, c->gpu.id);
	if (p->nodes > 1)
		sink_printf(out, " in %lld nodes of %lld", (long long)p->nodes, (long long)p->gpus_per_node);
	if (c->node.id[0] != '\0')
		sink_printf(out, ", %s", c->node.id);
	else
		sink_puts(out, ", node not known");
}

static void write_layout(const struct draft *d, const struct plan *p, struct sink *out)
{
	const struct layout *l = &d->s.layout;

	sink_printf(out, "%s, tp %lld x pp %lld", d->s.profile.id, (long long)l->tp, (long long)l->pp);
	if (l->cp > 1)
		sink_printf(out, " x cp %lld", (long long)l->cp);
	sink_printf(out, " x dp %lld, zero %lld", (long long)p->dp, (long long)l->zero);
	if (l->zero_group > 0)
		sink_printf(out, " in groups of %lld", (long long)l->zero_group);
	if (l->ep > 1)
		sink_printf(out, ", ep %lld x etp %lld", (long long)l->ep, (long long)l->etp);
	if (l->sequence_parallel)
		sink_puts(out, ", sequence-parallel");
	if (l->pp > 1)
		sink_printf(out, ", %s", schedule_table[l->schedule].key);
	if (l->vpp > 1)
		sink_printf(out, " vpp %lld", (long long)l->vpp);
}

static void write_training(const struct draft *d, const struct plan *p, struct sink *out)
{
	const struct training *t = &d->s.training;
	char seq[32], batch[32];

	(void)p;
	sink_printf(out, "%s, %s, seq %s, micro-batch %lld, global-batch %s", precision_choices[t->precision].key,
		optimizer_table[t->optimizer].key, units_format_commas(t->seq, seq, sizeof seq), (long long)t->micro_batch,
		units_format_commas(t->global_batch, batch, sizeof batch));
	sink_printf(out, ", recompute %s", recompute_choices[t->recompute].key);
	if (t->offload != OFFLOAD_NONE)
		sink_printf(out, ", offload %s", offload_choices[t->offload].key);
	if (t->adapter != ADAPTER_NONE)
		sink_printf(out, ", %s rank %lld", adapter_choices[t->adapter].key, (long long)t->lora_rank);
}

/* "model     llama3-70b: 80 layers, ...": what `write` makes of the draft, behind a label, wrapped. */
static void write_labelled(const char *label, void (*write)(const struct draft *, const struct plan *, struct sink *),
	const struct draft *d, const struct plan *p, struct sink *out)
{
	char buf[600];
	struct sink text;

	sink_init(&text, buf, sizeof buf, NULL, NULL);
	write(d, p, &text);
	wrap_entry(label, buf, true, out);
}

/* Knobs of one origin, by key, with their values unless the lines above say them; nothing if there are none. */
static void write_origin(const struct draft *d, const char *label, enum knob_origin origin, bool values, struct sink *out)
{
	struct wrap w = { .out = out, .indent = REPORT_LABEL_COLS, .col = REPORT_LABEL_COLS, .first = true };

	for (size_t i = 0; i < knob_count(); i++) {
		char item[128], value[64];

		if (d->origin[i] != origin)
			continue;
		if (w.first)
			sink_printf(out, "%-*s", (int)REPORT_LABEL_COLS, label);
		(void)snprintf(item, sizeof item, "%s%s%s", knob_at(i)->key, values ? "=" : "",
			values ? value_of(d, knob_at(i)->key, value) : "");
		wrap_word(&w, item);
	}
	if (!w.first)
		sink_puts(out, "\n");
}

void report_setup(const struct draft *d, const struct plan *p, struct sink *out)
{
	write_labelled("layout", write_layout, d, p, out);
	write_labelled("training", write_training, d, p, out);
}

static void write_head(const struct draft *d, const struct plan *p, struct sink *out)
{
	write_labelled("model", write_model, d, p, out);
	write_labelled("cluster", write_cluster, d, p, out);
	report_setup(d, p, out);
	write_origin(d, "given", ORIGIN_FLAG, true, out);
	write_origin(d, "from file", ORIGIN_FILE, true, out);
	write_origin(d, "chosen", ORIGIN_AUTO, false, out);
}

void report_diagnostics(const struct plan *p, const char *heading, struct sink *out)
{
	if (p->n_diagnostics > 0)
		sink_printf(out, "\n%s", heading);
	for (int64_t i = 0; i < p->n_diagnostics; i++)
		wrap_entry(diagnostic_level_names[p->diagnostics[i].level], p->diagnostics[i].text, false, out);
}

/* Decimals of a column from its largest value. */
static int decimals_for(struct unit u, int64_t most_bytes)
{
	double most = (double)most_bytes / u.bytes;

	return most < 99.995 ? 2 : most < 999.95 ? 1 : 0;
}

static void write_cell(struct unit u, int64_t bytes, int decimals, int width, struct sink *out)
{
	double value = (double)bytes / u.bytes, half = decimals == 2 ? 0.005 : decimals == 1 ? 0.05 : 0.5;

	if (bytes == 0)
		sink_printf(out, "%*s", width, "-");
	else if (value < half)
		sink_printf(out, "%*s", width, decimals == 2 ? "<0.01" : decimals == 1 ? "<0.1" : "<1");
	else
		sink_printf(out, "%*.*f", width, decimals, value);
}

/* "W weights 16.3  M master 32.6 ..." in drawing order, zeros left out. */
static void write_parts(const struct stage_memory *s, struct unit u, struct sink *out)
{
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	struct wrap w = { .out = out, .indent = 0, .col = 0, .first = true };

	report_draw_order(order);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const struct memory_category_info *info = &memory_category_table[order[i]];
		char text[80], value[32];
		int len;

		if (s->category[order[i]] == 0)
			continue;
		len = snprintf(text, sizeof text, "%c %s %s", info->letter, info->label, amount(u, s->category[order[i]], value));
		if (!w.first && w.col + 2 + len <= REPORT_TEXT_COLS) {
			sink_puts(out, " ");
			w.col++;
		}
		wrap_word(&w, text);
	}
	sink_puts(out, "\n");
}

/* Heading of the bars: the limit stands above its mark, or behind the text where there is no room. */
static void write_bar_head(
	const char *what, struct unit u, int64_t indent, int64_t limit_bytes, int64_t cap, bool ascii, struct sink *out)
{
	char number[32] = "?", text[48];
	int64_t len, at, room;

	(void)snprintf(text, sizeof text, "%s, %s", what, u.name);
	room = (int64_t)strlen(text) + 2;
	if (limit_bytes > 0)
		(void)amount(u, limit_bytes, number);
	len = (int64_t)strlen(number);
	at = indent + cap - len / 2;
	if (at >= room)
		sink_printf(out, "%-*s%s\n", (int)at, text, number);
	else
		sink_printf(out, "%s; the card has %s, at %s\n", text, number, ascii ? "|" : "│");
}

/* What is still missing where a change does not suffice. */
static const char *shortfall(const struct way_out *w)
{
	return w->limit == LIMIT_HOST_MEMORY ? "host short" : w->limit == LIMIT_NVME ? "NVMe short" : "not enough";
}

static void write_way(const struct way_out *w, struct unit u, struct sink *out)
{
	char need[32], spare[32], host[32];

	sink_printf(out, "  %-42s %9s %10s %8s%s\n", w->change, amount(u, w->need_bytes, need),
		w->fits ? amount(u, w->have_bytes - w->need_bytes, spare) : shortfall(w),
		w->host_bytes_per_node > 0 ? amount(u, w->host_bytes_per_node, host) : "-", w->tight ? " tight" : "");
}

static void write_ways(const struct draft *d, const struct fit_extra *x, struct unit u, struct sink *out)
{
	long long gpus = d->s.cluster.gpus;
	size_t shown = 0;
	char head[64];

	if (x->n_ways == 0)
		return;
	(void)snprintf(head, sizeof head, "%s %lld GPU%s:",
		!x->ways[0].fits    ? "No single change makes it fit on"
			: gpus == 1 ? "Changes that make it fit on this"
				    : "Changes that make it fit on these",
		gpus, gpus == 1 ? "" : "s");
	sink_printf(out, "\n%-44s %9s %10s %5s%3s\n", head, u.name, "to spare", "host ", u.name);
	for (size_t i = 0; i < x->n_ways; i++)
		if (!x->ways[i].fits || shown++ < WAYS_SHOWN)
			write_way(&x->ways[i], u, out);
}

static void write_fewest(const struct fit_extra *x, struct unit u, struct sink *out)
{
	struct wrap w = { .out = out, .first = true };
	const struct layout *l;
	char text[300], spare[32], nodes[40] = "";

	if (x->fewest_gpus <= 0 || x->fewest == NULL || x->fewest_plan == NULL)
		return;
	l = &x->fewest->s.layout;
	if (x->fewest_plan->nodes > 1)
		(void)snprintf(nodes, sizeof nodes, " (%lld nodes)", (long long)x->fewest_plan->nodes);
	(void)snprintf(text, sizeof text,
		"Fewest GPUs for the whole run as it stands: %lld%s, %s %s to spare%s, with %s, tp %lld x pp %lld x dp %lld, "
		"zero %lld, recompute %s.",
		(long long)x->fewest_gpus, nodes, amount(u, x->fewest_plan->verdict.headroom_bytes, spare), u.name,
		x->fewest_plan->verdict.tight ? ": tight" : "", x->fewest->s.profile.id, (long long)l->tp, (long long)l->pp,
		(long long)x->fewest_plan->dp, (long long)l->zero, recompute_choices[x->fewest->s.training.recompute].key);
	sink_puts(out, "\n");
	wrap_text(&w, text, false);
	sink_puts(out, "\n");
}

static void write_host(const struct draft *d, const struct plan *p, struct sink *out)
{
	const struct node *n = &d->s.cluster.node;
	struct unit u = unit_of(p);
	char need[32], have[32];

	if (p->host_bytes_per_node > 0 && d->s.training.offload != OFFLOAD_NONE)
		sink_printf(out, "host memory per node  %s of %s %s\n", amount(u, p->host_bytes_per_node, need),
			n->host_mem_bytes > 0 ? amount(u, n->host_mem_bytes, have) : "?", u.name);
	if (p->nvme_bytes_per_node > 0)
		sink_printf(out, "NVMe per node         %s of %s %s\n", amount(u, p->nvme_bytes_per_node, need),
			n->nvme_bytes > 0 ? amount(u, n->nvme_bytes, have) : "?", u.name);
}

void report_fit(const struct draft *d, const struct plan *p, const struct fit_extra *x, bool ascii, struct sink *out)
{
	int64_t limit = memory_capacity_bytes(&d->s), cap = report_bar_capacity(p->worst.need_bytes, limit);
	struct unit u = unit_of(p);
	char need[32];

	put_answer(p, out);
	write_binary(p, out);
	sink_puts(out, "\n");
	write_head(d, p, out);
	sink_puts(out, "\n");
	write_bar_head("memory per GPU", u, 0, limit, cap, ascii, out);
	report_bar_write(p->worst.category, limit, cap, ascii, out);
	sink_printf(out, " %s\n", amount(u, p->worst.need_bytes, need));
	write_parts(&p->worst, u, out);
	write_host(d, p, out);
	if (x != NULL) {
		write_ways(d, x, u, out);
		write_fewest(x, u, out);
	}
	report_speed_line(d, p, out);
	report_diagnostics(p, "", out);
}

/* The ranks to list: all, or the first and last STAGES_SHOWN / 2. */
static bool stage_listed(const struct plan *p, int64_t rank)
{
	return p->pipeline.p <= STAGES_SHOWN || rank < STAGES_SHOWN / 2 || rank >= p->pipeline.p - STAGES_SHOWN / 2 ||
		rank == p->verdict.worst_stage;
}

/* Calls each(ctx, rank, memory) for the listed ranks; memory is NULL once where ranks are left out. */
static void each_stage(
	const struct draft *d, const struct plan *p, void (*each)(void *, int64_t, const struct stage_memory *), void *ctx)
{
	bool gap = false;

	for (int64_t rank = 0; rank < p->pipeline.p; rank++) {
		struct stage_memory s;

		if (!stage_listed(p, rank)) {
			if (!gap)
				each(ctx, rank, NULL);
			gap = true;
			continue;
		}
		gap = false;
		if (memory_stage(&d->s, rank, &s, NULL) == ERR_OK)
			each(ctx, rank, &s);
	}
}

struct stage_rows {
	struct sink *out;
	struct unit unit;
	int64_t limit, cap;
	int decimals;
	bool ascii;
};

static void bar_row(void *ctx, int64_t rank, const struct stage_memory *s)
{
	const struct stage_rows *r = ctx;
	char label[24], need[32];

	if (s == NULL) {
		sink_puts(r->out, ":\n");
		return;
	}
	(void)snprintf(label, sizeof label, "s%lld", (long long)rank);
	sink_printf(r->out, "%-4s", label);
	report_bar_write(s->category, r->limit, r->cap, r->ascii, r->out);
	sink_printf(r->out, " %6s\n", amount(r->unit, s->need_bytes, need));
}

static void table_row(void *ctx, int64_t rank, const struct stage_memory *s)
{
	const struct stage_rows *r = ctx;
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	char label[24];

	if (s == NULL) {
		sink_puts(r->out, ":\n");
		return;
	}
	report_draw_order(order);
	(void)snprintf(label, sizeof label, "s%lld", (long long)rank);
	sink_printf(r->out, "%-4s", label);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		write_cell(r->unit, s->category[order[i]], r->decimals, 8, r->out);
	sink_printf(r->out, " %9.4g\n", s->in_flight);
}

/* Heads of the columns; their first letters are those of the bars. */
static const char *const column_heads[MEMORY_CATEGORY_COUNT] = {
	[MEMORY_WEIGHTS] = "Weights",
	[MEMORY_MASTER_WEIGHTS] = "Master",
	[MEMORY_GRADIENTS] = "Grads",
	[MEMORY_OPTIMIZER] = "Optim",
	[MEMORY_ACTIVATIONS] = "Activ",
	[MEMORY_LOGITS] = "Logits",
	[MEMORY_TRANSIENT] = "Transit",
	[MEMORY_RESERVED] = "Reserv",
};

static void write_table(const struct draft *d, const struct plan *p, struct stage_rows *r)
{
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	int64_t most = 0;

	report_draw_order(order);
	sink_puts(r->out, "    ");
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		most = num_max(most, p->worst.category[order[i]]);
		sink_printf(r->out, "%8s", column_heads[order[i]]);
	}
	sink_puts(r->out, " in flight\n");
	r->decimals = decimals_for(r->unit, most);
	each_stage(d, p, table_row, r);
}

/* Bytes per parameter as the framework keeps them, and by how many ranks each is divided. */
static void write_ledger(const struct plan *p, struct sink *out)
{
	const struct memory_ledger *l = &p->ledger;
	const struct {
		const char *label;
		double bytes;
		bool sharded;
	} rows[] = {
		{ "weights", l->weights, l->weights_sharded },
		{ "master weights", l->master_weights, l->optimizer_sharded },
		{ "gradients", l->gradients, l->gradients_sharded },
		{ "accumulated gradients", l->gradient_accumulation, l->accumulation_sharded },
		{ "gradient copies", l->gradient_copies, false },
		{ "optimizer", l->optimizer, l->optimizer_sharded },
	};
	struct wrap w = { .out = out, .indent = 21, .col = 21, .first = true };
	double whole = 0, held = 0;
	char text[80];

	sink_puts(out, "\nBYTES PER PARAMETER  ");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int64_t shards = rows[i].sharded ? num_max(1, l->shards) : 1;
		int n;

		if (rows[i].bytes <= 0)
			continue;
		n = snprintf(text, sizeof text, "%s%s %.3g", w.first ? "" : "+ ", rows[i].label, rows[i].bytes);
		if (shards > 1 && n > 0 && (size_t)n < sizeof text)
			(void)snprintf(text + n, sizeof text - (size_t)n, "/%lld", (long long)shards);
		wrap_word(&w, text);
		whole += rows[i].bytes;
		held += rows[i].bytes / (double)shards;
	}
	(void)snprintf(text, sizeof text, "= %.4g; unsharded %.4g", held, whole);
	wrap_word(&w, text);
	sink_puts(out, "\n");
}

static void write_phases(const struct plan *p, struct sink *out)
{
	struct unit u = unit_of(p);
	struct wrap w = { .out = out, .indent = 21, .col = 21, .first = true };

	sink_puts(out, "PEAK OF EACH PHASE   ");
	for (int i = 0; i < PHASE_COUNT; i++) {
		char value[32], item[64];
		bool last = i + 1 == PHASE_COUNT;

		(void)snprintf(item, sizeof item, "%s %s%s%s", memory_phase_choices[i].key, amount(u, p->phase_peak[i], value),
			last ? " " : ",", last ? u.name : "");
		wrap_word(&w, item);
	}
	sink_puts(out, "\n");
}

static void write_pipeline(const struct plan *p, const struct gantt *g, bool ascii, struct sink *out)
{
	const struct pipeline *pl = &p->pipeline;
	char caption[80], step[32], ideal[32];

	if (pl->p <= 1)
		return;
	sink_printf(out, "\nPIPELINE  %s, %lld %s; bubble %s %% of step, %s %% of ideal\n", schedule_table[pl->schedule].key,
		(long long)pl->m, text_plural(pl->m, "micro-batch", "micro-batches"),
		units_format_f4(100 * p->bubble_of_step, step, sizeof step),
		units_format_f4(100 * p->bubble_over_ideal, ideal, sizeof ideal));
	if (g == NULL)
		return;
	for (int64_t i = 0; i < g->rows; i++) {
		char label[24] = ":";

		if (g->rank[i] >= 0)
			(void)snprintf(label, sizeof label, "r%lld", (long long)g->rank[i]);
		sink_printf(out, "%s%-*s", "", g->rank[i] >= 0 ? 4 : 0, label);
		gantt_row_text(g, i, ascii, out);
		sink_puts(out, "\n");
	}
	(void)gantt_caption(g, caption, sizeof caption);
	sink_printf(out, "    B = 2 F%s%s\n", *caption != '\0' ? "; " : "", caption);
}

void report_plan_text(const struct draft *d, const struct plan *p, const struct gantt *g, bool ascii, struct sink *out)
{
	int64_t limit = memory_capacity_bytes(&d->s);
	struct stage_rows rows = { .out = out,
		.unit = unit_of(p),
		.limit = limit,
		.cap = report_bar_capacity(p->worst.need_bytes, limit),
		.ascii = ascii };

	put_answer(p, out);
	write_binary(p, out);
	sink_puts(out, "\n");
	write_head(d, p, out);
	sink_puts(out, "\n");
	write_bar_head("MEMORY per GPU", rows.unit, 4, limit, rows.cap, ascii, out);
	each_stage(d, p, bar_row, &rows);
	sink_puts(out, "\n");
	write_table(d, p, &rows);
	write_ledger(p, out);
	write_phases(p, out);
	write_host(d, p, out);
	write_pipeline(p, g, ascii, out);
	report_speed_text(d, p, out);
	report_cost_line(d, p, out);
	report_diagnostics(p, "WATCH\n", out);
}

static void markdown_row(void *ctx, int64_t rank, const struct stage_memory *s)
{
	const struct stage_rows *r = ctx;
	char value[32];

	if (s == NULL) {
		sink_puts(r->out, "| ... |");
		for (int i = 0; i <= MEMORY_CATEGORY_COUNT + 1; i++)
			sink_puts(r->out, " |");
		sink_puts(r->out, "\n");
		return;
	}
	sink_printf(r->out, "| %lld |", (long long)rank);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		sink_printf(r->out, " %s |", s->category[i] > 0 ? amount(r->unit, s->category[i], value) : "-");
	sink_printf(r->out, " %s | %.4g |\n", amount(r->unit, s->need_bytes, value), s->in_flight);
}

void report_plan_markdown(const struct draft *d, const struct plan *p, struct sink *out)
{
	struct stage_rows rows = { .out = out, .unit = unit_of(p) };
	char step[32], ideal[32];

	sink_puts(out, "# ");
	report_title(d, p, out);
	sink_puts(out, "\n\n**");
	write_answer(p, unit_of(p), out);
	sink_puts(out, "**\n\n| setting | value | origin |\n|---|---|---|\n");
	for (size_t i = 0; i < knob_count(); i++) {
		char value[64];

		if (d->origin[i] == ORIGIN_PRESET)
			continue;
		sink_printf(out, "| %s | %s | %s |\n", knob_at(i)->key, value_of(d, knob_at(i)->key, value),
			knob_origin_names[d->origin[i]]);
	}
	sink_printf(out, "\n## Memory per GPU, %s\n\n| stage |", rows.unit.name);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		sink_printf(out, " %s |", memory_category_table[i].label);
	sink_puts(out, " total | in flight |\n|---|");
	for (int i = 0; i < MEMORY_CATEGORY_COUNT + 2; i++)
		sink_puts(out, "---|");
	sink_puts(out, "\n");
	each_stage(d, p, markdown_row, &rows);
	if (p->pipeline.p > 1)
		sink_printf(out, "\nPipeline: %s, %lld ranks, %lld %s, bubble %s %% of the step, %s %% over ideal.\n",
			schedule_table[p->pipeline.schedule].key, (long long)p->pipeline.p, (long long)p->pipeline.m,
			text_plural(p->pipeline.m, "micro-batch", "micro-batches"),
			units_format_f4(100 * p->bubble_of_step, step, sizeof step),
			units_format_f4(100 * p->bubble_over_ideal, ideal, sizeof ideal));
	report_speed_markdown(d, p, out);
	if (p->step.known) {
		sink_puts(out, "\n## Cost\n\n");
		report_cost_table(d, NULL, p, out);
	}
	if (p->n_diagnostics > 0)
		sink_puts(out, "\n## What to watch\n\n");
	for (int64_t i = 0; i < p->n_diagnostics; i++)
		sink_printf(out, "- %s: %s\n", diagnostic_level_names[p->diagnostics[i].level], p->diagnostics[i].text);
}
