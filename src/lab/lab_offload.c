/* lab offload: optimizer states in host memory (ZeRO-Offload, Ren 2021) or on NVMe (ZeRO-Infinity, Rajbhandari 2021), piece by
 * piece: gradient down over PCIe, states read, Adam on the CPU, states written, weights up. With the lesson's ledger: bf16
 * weights and gradients on the GPUs, `state-bytes` per parameter outside (8: two fp32 moments; 12: with an fp32 master copy).
 *
 * A piece passes its stages in order, a stage takes one piece at a time:
 *   no overlap     a piece starts when the one before it is through: n (sum of t)
 *   overlap        start(i, s) = max(end(i, s-1), end(i-1, s)); for equal pieces sum of t + (n-1) max t
 *   in backward    as overlap, and piece i is there after the share (i+1)/n of the backward; only what ends after it is exposed
 * Adam on the CPU is bound by its memory, 6 + 2 state-bytes per parameter (gradient 2, weight 2 + 2, states read and written), or
 * by what has been measured, whichever is slower; on the GPU by HBM. The numbers are real as well: Adam by pieces and Adam at
 * once give the same weights, bit by bit. ASSUMPTION: gradients are not clipped by their global norm, which would have to wait
 * for all of them; links carry both ways at full rate.
 */
#include "lab_internal.h"
#include "lab_math.h"
#include "lab_report.h"
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	SIZE,
	GPUS,
	PER_NODE,
	TARGET,
	STATE_BYTES,
	PIECES,
	TOKENS,
	GPU_GB,
	HOST_GB,
	NVME_GB,
	PCIE_GBS,
	CPU_GBS,
	CPU_ADAM,
	NVME_READ,
	NVME_WRITE,
	HBM_GBS,
	GPU_TFLOPS,
	SEED,
	PARAMS
};
enum stage { STAGE_DOWN, STAGE_READ, STAGE_ADAM, STAGE_WRITE, STAGE_UP, STAGES };
enum way { WAY_SERIAL, WAY_OVERLAP, WAY_BACKWARD, WAYS };
enum { TARGET_CPU, TARGET_NVME };
enum { TABLE_MEMORY, TABLE_RATES, TABLE_WAYS, TABLES };
enum { PIECES_MAX = 1024, SAMPLE = 16, BAR_COLS = 40 }; /* SAMPLE: real parameters in a piece */

#define WEIGHT_BYTES 2.0
#define GRADIENT_BYTES 2.0
/* 6 N D operations: 2 forward, 4 backward. */
#define FLOP_PER_PARAM_TOKEN 6.0
#define BACKWARD_SHARE (2.0 / 3)
#define MATTERS 0.05
/* By how much the lesson says that it slows. */
static const double lesson_shares[] = { 0.5, 0.3 };
enum { LESSON_SHARES = sizeof lesson_shares / sizeof lesson_shares[0] };

static const char *target_word(int64_t i)
{
	static const char *const words[] = { "cpu", "nvme" };

	return i >= 0 && i < 2 ? words[i] : NULL;
}

static double pcie_gbs(const struct scenario *s)
{
	return s->cluster.gpu.pcie_gen > 0 ? hardware_host_bps(s->cluster.gpu.pcie_gen) / 1e9 : 0;
}

static double gpu_gb(const struct scenario *s)
{
	return (double)s->cluster.gpu.mem_nominal_bytes / 1e9;
}

static double nvme_read_gbs(const struct scenario *s)
{
	return s->cluster.node.nvme_read_bps / 1e9;
}

static double nvme_write_gbs(const struct scenario *s)
{
	return s->cluster.node.nvme_write_bps / 1e9;
}

static double hbm_gbs(const struct scenario *s)
{
	return s->cluster.gpu.mem_bw_bps / 1e9;
}

/* ASSUMPTION: 40 % of the dense bf16 peak, which training of large models reaches. */
static double gpu_tflops(const struct scenario *s)
{
	return 0.4 * s->cluster.gpu.bf16_flops / 1e12;
}

/* clang-format off */
static const struct lab_param params[PARAMS] = {
	[SIZE] = { "size", N_("parameters of the model; a scenario gives only the rates"), LAB_PARAM_INT, 1, 1e14, 70e9, NULL },
	[GPUS] = { "gpus", N_("GPUs that share weights, gradients and states"), LAB_PARAM_INT, 1, 65536, 4, NULL },
	[PER_NODE] = { "gpus-per-node", N_("GPUs that share one host"), LAB_PARAM_INT, 1, 1024, 4, NULL },
	[TARGET] = { "target", N_("where the optimizer states are"), LAB_PARAM_WORD, 0, 1, TARGET_CPU, target_word },
	[STATE_BYTES] = { "state-bytes", N_("optimizer bytes per parameter: 8, or 12 with a master copy"),
		LAB_PARAM_INT, 1, 16, 8, NULL },
	[PIECES] = { "pieces", N_("pieces that the parameters are moved in"), LAB_PARAM_INT, 1, PIECES_MAX, 16, NULL },
	[TOKENS] = { "tokens", N_("tokens per GPU and step"), LAB_PARAM_INT, 1, 1e9, 4096, NULL },
	[GPU_GB] = { "gpu-gb", N_("memory of a GPU, GB"), LAB_PARAM_REAL, 0.001, 1e6, 80, NULL },
	[HOST_GB] = { "host-gb", N_("host memory of a node, GB"), LAB_PARAM_REAL, 0.001, 1e6, 512, NULL },
	[NVME_GB] = { "nvme-gb", N_("NVMe of a node, GB"), LAB_PARAM_REAL, 0.001, 1e9, 2000, NULL },
	[PCIE_GBS] = { "pcie-gbs", N_("PCIe per GPU and direction, GB/s"), LAB_PARAM_REAL, 0.001, 1e6, 25, NULL },
	[CPU_GBS] = { "cpu-gbs", N_("memory rate of a host, GB/s"), LAB_PARAM_REAL, 0.001, 1e6, 200, NULL },
	[CPU_ADAM] = { "cpu-adam", N_("Adam on the CPUs of a host, 10^9 parameters a second"), LAB_PARAM_REAL, 0.001, 1e6, 3.9, NULL },
	[NVME_READ] = { "nvme-read-gbs", N_("NVMe of a node, reading, GB/s"), LAB_PARAM_REAL, 0.001, 1e6, 12, NULL },
	[NVME_WRITE] = { "nvme-write-gbs", N_("NVMe of a node, writing, GB/s"), LAB_PARAM_REAL, 0.001, 1e6, 6, NULL },
	[HBM_GBS] = { "hbm-gbs", N_("memory rate of a GPU, GB/s"), LAB_PARAM_REAL, 0.001, 1e6, 2039, NULL },
	[GPU_TFLOPS] = { "gpu-tflops", N_("what a GPU reaches in training, TFLOP/s"), LAB_PARAM_REAL, 0.001, 1e6, 125, NULL },
	[SEED] = LAB_SEED_PARAM,
};
/* What a rate is where nobody gave it. `from`: by the GPU or node of the scenario, 0: it does not say. */
struct rate_source {
	size_t param;
	double (*from)(const struct scenario *s);
	const char *preset, *assumed; /* N_(); %1: the GPU, %2: the node */
};
static const struct rate_source rate_sources[] = {
	{ GPU_GB, gpu_gb, N_("%1, as sold"), N_("A100 or H100, as sold") },
	{ HOST_GB, NULL, NULL, N_("exercise 5 of the lesson") },
	{ NVME_GB, NULL, NULL, N_("exercise 5 of the lesson") },
	{ PCIE_GBS, pcie_gbs, N_("%1: 80 % of PCIe x16"), N_("80 % of PCIe 4 x16") },
	{ CPU_GBS, NULL, NULL, N_("assumed: half the peak of 16 channels DDR4") },
	{ CPU_ADAM, NULL, NULL, N_("two Xeon 8168, ZeRO-Offload 2021, table 4") },
	{ NVME_READ, nvme_read_gbs, N_("%2"), N_("assumed: 4 drives; no preset says") },
	{ NVME_WRITE, nvme_write_gbs, N_("%2"), N_("assumed: half of reading") },
	{ HBM_GBS, hbm_gbs, N_("%1"), N_("A100 80 GB") },
	{ GPU_TFLOPS, gpu_tflops, N_("%1: 40 % of its bf16 peak"), N_("40 % of A100") },
};
enum { RATE_ROWS = sizeof rate_sources / sizeof rate_sources[0] };

static const char *const stage_names[STAGES] = { N_("gradient down"), N_("NVMe read"), N_("CPU Adam"),
	N_("NVMe write"), N_("weights up") };
static const char *const way_names[WAYS] = { N_("no overlap"), N_("overlap"), N_("in backward") };
/* clang-format on */

/* The row of a rate, NULL for the other parameters. */
static const struct rate_source *source_of(size_t param)
{
	for (size_t i = 0; i < RATE_ROWS; i++)
		if (rate_sources[i].param == param)
			return &rate_sources[i];
	return NULL;
}

static double preset(const struct scenario *s, size_t param)
{
	const struct rate_source *r = source_of(param);
	double value = r != NULL && r->from != NULL ? r->from(s) : 0;

	return value > 0 ? value : (double)NAN;
}

struct interval {
	double start, end;
};

struct hosted {
	int64_t pieces, gpus, nodes;
	double share, node_share; /* parameters of a GPU; of a node */
	double stage_s[STAGES];   /* one piece */
	double compute_s, gpu_adam_s;
	struct interval *timeline; /* [way][piece][stage] */
	double end[WAYS], exposed[WAYS],
		tokens[WAYS]; /* optimizer until its end; after the backward; tokens from which it is below MATTERS */
	double lesson_tokens[LESSON_SHARES];
	double need[3], have[3]; /* GPU, host, NVMe: bytes */
	double moved;            /* bytes over PCIe of one GPU */
	double *w, *m, *v, *w2, *m2, *v2, *g;
	double difference;
};

static void *layout(struct lab_arena *a, const struct lab_input *in, int64_t *work)
{
	struct hosted *place = lab_take(a, 1, sizeof *place), o = { .pieces = lab_int(in, PIECES), .gpus = lab_int(in, GPUS) };
	double **const arrays[] = { &o.w, &o.m, &o.v, &o.w2, &o.m2, &o.v2, &o.g };

	o.nodes = num_ceil_div(o.gpus, lab_int(in, PER_NODE));
	o.timeline = lab_take(a, WAYS * o.pieces * STAGES, sizeof(struct interval));
	for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
		*arrays[i] = lab_take(a, o.pieces * SAMPLE, sizeof(double));
	lab_work(work, o.pieces, 100 * STAGES, WAYS);
	if (place != NULL)
		*place = o;
	return place;
}

static double rate(const struct lab_input *in, size_t param)
{
	return in->value[param] * 1e9;
}

static void set_times(const struct lab_input *in, struct hosted *o)
{
	double states = (double)lab_int(in, STATE_BYTES), touched = GRADIENT_BYTES + 2 * WEIGHT_BYTES + 2 * states,
	       n = (double)o->pieces;
	bool nvme = lab_int(in, TARGET) == TARGET_NVME;

	o->share = (double)lab_int(in, SIZE) / (double)o->gpus;
	o->node_share = o->share * (double)num_min(o->gpus, lab_int(in, PER_NODE));
	o->stage_s[STAGE_DOWN] = o->share * GRADIENT_BYTES / rate(in, PCIE_GBS) / n;
	o->stage_s[STAGE_READ] = nvme ? o->node_share * states / rate(in, NVME_READ) / n : 0;
	o->stage_s[STAGE_ADAM] = o->node_share * fmax(touched / rate(in, CPU_GBS), 1 / rate(in, CPU_ADAM)) / n;
	o->stage_s[STAGE_WRITE] = nvme ? o->node_share * states / rate(in, NVME_WRITE) / n : 0;
	o->stage_s[STAGE_UP] = o->share * WEIGHT_BYTES / rate(in, PCIE_GBS) / n;
	o->gpu_adam_s = o->share * touched / rate(in, HBM_GBS);
	o->compute_s =
		FLOP_PER_PARAM_TOKEN * (double)lab_int(in, SIZE) * (double)lab_int(in, TOKENS) / (in->value[GPU_TFLOPS] * 1e12);
	o->need[0] = o->share * (WEIGHT_BYTES + GRADIENT_BYTES);
	o->need[1] = nvme ? 0 : o->node_share * states;
	o->need[2] = nvme ? o->node_share * states : 0;
	o->have[0] = rate(in, GPU_GB);
	o->have[1] = rate(in, HOST_GB);
	o->have[2] = rate(in, NVME_GB);
}

/* Fills the timeline of a way, from the end of the backward at 0 (in backward: from its start at -backward). */
static void schedule(struct hosted *o, enum way way, double backward_s)
{
	struct interval *t = &o->timeline[way * o->pieces * STAGES];

	for (int64_t i = 0; i < o->pieces; i++)
		for (int s = 0; s < STAGES; s++) {
			struct interval *now = &t[i * STAGES + s];
			double start = way == WAY_BACKWARD ? backward_s * ((double)(i + 1) / (double)o->pieces - 1) : 0;

			if (s > 0)
				start = now[-1].end;
			if (i > 0)
				start = fmax(start, way == WAY_SERIAL ? t[(i - 1) * STAGES + STAGES - 1].end : now[-STAGES].end);
			*now = (struct interval){ start, start + o->stage_s[s] };
		}
	o->end[way] = t[o->pieces * STAGES - 1].end;
	o->exposed[way] = fmax(0, o->end[way]);
}

/* Tokens per GPU from which the exposed part is at most a share of the compute: bisection, the exposed part falls with the
 * tokens. */
static double tokens_until(struct hosted *o, enum way way, double tokens, double share)
{
	double per_token = o->compute_s / tokens, low = 0, high = 1;

	for (int i = 0; i < 80; i++) {
		schedule(o, way, BACKWARD_SHARE * per_token * high);
		if (o->exposed[way] <= share * per_token * high)
			break;
		low = high;
		high *= 2;
	}
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		schedule(o, way, BACKWARD_SHARE * per_token * middle);
		*(o->exposed[way] <= share * per_token * middle ? &high : &low) = middle;
	}
	return ceil(high);
}

/* Kingma 2015, one step of a fresh state's third iteration. */
static void adam(double *w, double *m, double *v, const double *g, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		m[i] = 0.9 * m[i] + (1 - 0.9) * g[i];
		v[i] = 0.999 * v[i] + (1 - 0.999) * g[i] * g[i];
		w[i] -= 0.001 * (m[i] / (1 - 0.9 * 0.9 * 0.9)) / (sqrt(v[i] / (1 - 0.999 * 0.999 * 0.999)) + 1e-8);
	}
}

/* The same update at once on the GPU, and piece by piece on the CPU. */
static void compare(const struct lab_input *in, struct hosted *o)
{
	int64_t n = o->pieces * SAMPLE;
	uint64_t seed = lab_seed(in, SEED);

	lab_fill(o->w, n, seed, 1, 1);
	lab_fill(o->m, n, seed, 2, 0.01);
	lab_fill(o->g, n, seed, 4, 0.01);
	for (int64_t i = 0; i < n; i++)
		o->v[i] = fabs(lab_uniform(seed, 3, (uint64_t)i)) * 1e-4;
	memcpy(o->w2, o->w, (size_t)n * sizeof(double));
	memcpy(o->m2, o->m, (size_t)n * sizeof(double));
	memcpy(o->v2, o->v, (size_t)n * sizeof(double));
	adam(o->w, o->m, o->v, o->g, n);
	for (int64_t i = o->pieces - 1; i >= 0; i--) {
		adam(o->w2 + i * SAMPLE, o->m2 + i * SAMPLE, o->v2 + i * SAMPLE, o->g + i * SAMPLE, SAMPLE);
		o->moved += o->share / (double)o->pieces * (GRADIENT_BYTES + WEIGHT_BYTES);
	}
	o->difference = lab_difference(o->w, o->w2, n);
}

static double sum_s(const struct hosted *o)
{
	double sum = 0;

	for (int s = 0; s < STAGES; s++)
		sum += o->stage_s[s];
	return sum;
}

static double slowest_s(const struct hosted *o)
{
	double most = 0;

	for (int s = 0; s < STAGES; s++)
		most = fmax(most, o->stage_s[s]);
	return most;
}

static double slower(const struct hosted *o, enum way way)
{
	return 100 * ((o->compute_s + o->exposed[way]) / (o->compute_s + o->gpu_adam_s) - 1);
}

static void conclude(struct lab_run *run, const struct hosted *o)
{
	const struct lab_input *in = &run->input;
	double n = (double)o->pieces, formula = sum_s(o) + (n - 1) * slowest_s(o), size = (double)lab_int(in, SIZE);
	double all = WEIGHT_BYTES + GRADIENT_BYTES + (double)lab_int(in, STATE_BYTES),
	       moved = o->share * (GRADIENT_BYTES + WEIGHT_BYTES);
	int64_t next = lab_next(run, TOKENS);

	lab_claim_same(run, "adam", N_("Adam by pieces on the CPU = Adam at once"), o->difference, 0);
	lab_claim_close(run, "serial", N_("no overlap takes n (sum of t)"), LAB_SECONDS, o->end[WAY_SERIAL], n * sum_s(o),
		1e-9 * o->end[WAY_SERIAL]);
	lab_claim_close(run, "overlap", N_("overlap takes sum of t + (n - 1) max t"), LAB_SECONDS, o->end[WAY_OVERLAP], formula,
		1e-9 * formula);
	lab_claim_close(run, "moved", N_("PCIe carries 2 + 2 bytes per parameter"), LAB_BYTES, o->moved, moved, 1e-9 * moved);
	lab_add_fact(run, "gpus", N_("GPUs needed without offload, memory alone"), LAB_COUNT, ceil(size * all / o->have[0]));
	lab_add_fact(
		run, "whole_gpus", N_("the same in whole nodes of 8"), LAB_COUNT, 8 * ceil(ceil(size * all / o->have[0]) / 8));
	lab_add_fact(run, "offload_gpus", N_("GPUs needed with offload, memory alone"), LAB_COUNT,
		ceil(size * (WEIGHT_BYTES + GRADIENT_BYTES) / o->have[0]));
	lab_add_fact(run, "compute_s", N_("forward and backward"), LAB_SECONDS, o->compute_s);
	lab_add_fact(run, "gpu_adam_s", N_("optimizer step on the GPU"), LAB_SECONDS, o->gpu_adam_s);
	lab_add_fact(run, "optimizer_ratio", N_("offloaded optimizer step over that, with overlap"), LAB_REAL,
		o->end[WAY_OVERLAP] / o->gpu_adam_s);
	lab_add_fact(run, "slower", N_("whole step slower, with overlap"), LAB_PERCENT, slower(o, WAY_OVERLAP));
	lab_add_fact(
		run, "backward_slower", N_("whole step slower, hidden in the backward"), LAB_PERCENT, slower(o, WAY_BACKWARD));
	lab_add_fact(run, "tokens", N_("tokens per GPU until 5 %, with overlap"), LAB_COUNT, o->tokens[WAY_OVERLAP]);
	lab_add_fact(run, "backward_tokens", N_("tokens per GPU until 5 %, in the backward"), LAB_COUNT, o->tokens[WAY_BACKWARD]);
	lab_add_fact(run, "half_tokens", N_("tokens per GPU until 50 %, with overlap"), LAB_COUNT, o->lesson_tokens[0]);
	lab_add_fact(run, "third_tokens", N_("tokens per GPU until 30 %, with overlap"), LAB_COUNT, o->lesson_tokens[1]);
	lab_set_answer(run, N_("percent that the whole step is slower, with overlap"), LAB_PERCENT, slower(o, WAY_OVERLAP));
	lab_ask(run,
		NN_("With %1 token per GPU, how many percent slower is the step with overlap?",
			"With %1 tokens per GPU, how many percent slower is the step with overlap?"),
		LAB_ARGS(LAB_NUMBER(next)));
	(void)snprintf(run->next, sizeof run->next, "--tokens %" PRId64, next);
}

static enum err_code run(struct lab_run *run, void *state, struct err *e)
{
	struct hosted *o = state;

	(void)e;
	set_times(&run->input, o);
	for (size_t i = 0; i < LESSON_SHARES; i++)
		o->lesson_tokens[i] = tokens_until(o, WAY_OVERLAP, (double)lab_int(&run->input, TOKENS), lesson_shares[i]);
	for (int way = 0; way < WAYS; way++) {
		o->tokens[way] = tokens_until(o, (enum way)way, (double)lab_int(&run->input, TOKENS), MATTERS);
		schedule(o, (enum way)way, BACKWARD_SHARE * o->compute_s);
	}
	compare(&run->input, o);
	run->steps = TABLES + o->pieces;
	conclude(run, o);
	return ERR_OK;
}

static const struct lab_column memory_columns[] = { { "need", N_("needs"), LAB_BYTES }, { "have", N_("has"), LAB_BYTES } };
static const struct lab_column rate_columns[] = { { "value", N_("value"), LAB_REAL } };
static const struct lab_column way_columns[] = {
	{ "optimizer", N_("optimizer"), LAB_SECONDS },
	{ "exposed", N_("exposed"), LAB_SECONDS },
	{ "step", N_("step"), LAB_SECONDS },
	{ "slower", N_("slower"), LAB_PERCENT },
	{ "tokens", N_("5 % at tokens"), LAB_COUNT },
};
static const struct lab_column piece_columns[] = { { "start", N_("start"), LAB_SECONDS }, { "end", N_("end"), LAB_SECONDS } };

static void step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	const struct hosted *o = run->state;

	if (k == TABLE_MEMORY) {
		LAB_STEP(out, N_("memory: each GPU, each node"), memory_columns, 3, true);
	} else if (k == TABLE_RATES) {
		LAB_STEP(out, N_("the rates, and where they are from; a flag of this name changes one"), rate_columns, RATE_ROWS,
			true);
	} else if (k == TABLE_WAYS) {
		LAB_STEP(out, N_("the optimizer step and the whole step"), way_columns, WAYS + 1, true);
	} else {
		LAB_STEP(out, "", piece_columns, STAGES, k == TABLES || k == TABLES + 1);
		lab_title(out, N_("piece %1 of %2, with overlap"), LAB_ARGS(LAB_NUMBER(k - TABLES + 1), LAB_NUMBER(o->pieces)));
	}
}

static void memory_row(const struct hosted *o, int64_t r, struct lab_row *out)
{
	static const char *const names[] = { N_("GPU"), N_("host"), N_("NVMe") };
	char over[40];

	lab_label(out, names[r], NULL);
	out->value[0] = o->need[r];
	out->value[1] = o->have[r];
	if (o->need[r] > o->have[r])
		lab_note(out, N_("over by %1"),
			LAB_ARGS(LAB_NAME(lab_format(LAB_BYTES, o->need[r] - o->have[r], over, sizeof over))));
	else
		lab_note(out, o->need[r] > 0 ? N_("fits") : N_("not used"), NULL);
}

static void rate_row(const struct lab_input *in, int64_t r, struct lab_row *out)
{
	const struct rate_source *source = &rate_sources[r];
	bool known = !isnan(preset(in->scenario, source->param));

	(void)snprintf(out->label, sizeof out->label, "%s", params[source->param].key);
	out->value[0] = in->value[source->param];
	lab_note(out,
		in->given[source->param] ? N_("given")
			: known          ? source->preset
					 : source->assumed,
		LAB_ARGS(LAB_NAME(in->scenario->cluster.gpu.label), LAB_NAME(in->scenario->cluster.node.label)));
}

static void way_row(const struct hosted *o, int64_t r, struct lab_row *out)
{
	enum way way = (enum way)(r - 1);

	lab_label(out, r == 0 ? N_("on the GPU") : way_names[way], NULL);
	out->value[0] = r == 0 ? o->gpu_adam_s : way == WAY_BACKWARD ? o->end[way] + BACKWARD_SHARE * o->compute_s : o->end[way];
	out->value[1] = r == 0 ? o->gpu_adam_s : o->exposed[way];
	out->value[2] = o->compute_s + out->value[1];
	out->value[3] = r == 0 ? 0 : slower(o, way);
	out->value[4] = r == 0 ? (double)NAN : o->tokens[way];
}

/* Where the stage lies between the start and the end of the whole optimizer step. */
static void draw(const struct hosted *o, const struct interval *t, struct lab_row *out)
{
	int64_t from = (int64_t)(t->start / o->end[WAY_OVERLAP] * BAR_COLS),
		to = (int64_t)ceil(t->end / o->end[WAY_OVERLAP] * BAR_COLS);

	for (int64_t i = 0; i < BAR_COLS; i++)
		out->text[i] = i >= from && i < to ? '#' : '.';
}

static void row(const struct lab_run *run, int64_t k, int64_t r, struct lab_row *out)
{
	const struct hosted *o = run->state;
	const struct interval *t;

	if (k == TABLE_MEMORY) {
		memory_row(o, r, out);
		return;
	}
	if (k == TABLE_RATES) {
		rate_row(&run->input, r, out);
		return;
	}
	if (k == TABLE_WAYS) {
		way_row(o, r, out);
		return;
	}
	t = &o->timeline[(WAY_OVERLAP * o->pieces + k - TABLES) * STAGES + r];
	lab_label(out, stage_names[r], NULL);
	out->value[0] = t->start;
	out->value[1] = t->end;
	if (t->end > t->start)
		draw(o, t, out);
}

static const char lesson[] =
	N_("Its 30 to 50 % fits the whole step at enough tokens per GPU, as above; the optimizer step alone is "
	   "many times slower. 4 GPUs hold the weights and gradients of 70B, but the 560 GB of moments are more "
	   "than the 512 GB of its host: NVMe, or two hosts.");

const struct lab lab_offload = { "offload", N_("offload to host and NVMe"),
	N_("optimizer states outside the GPU: what it saves, what it costs"), params, PARAMS, NULL, layout, run, step, row, false,
	lesson, preset };
