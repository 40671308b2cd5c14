/* The peak of a stage.
 *
 *   allocated = persistent + max over instants of transient + workspace
 *   needed    = (allocated + context) (1 + margin)            the verdict compares this
 *   reserved  = ratio (persistent + leftover + step buffers + (1 + slack) dynamic + workspace)
 *
 * Instants that can win, each with its own sum (memory_instant_choices): all micro-batches in flight and one layer's working set;
 * the loss; the weight gradient of the head; the dense gradient of the embedding with one micro-batch fewer; the end of a chunk's
 * first backward under FSDP with pipelines; the optimizer step. Alternatives are never added. Worst stage, never the average.
 * Ignored: rounding of allocator blocks, ring buffers of context parallelism, imbalance of experts (routing is taken as
 * balanced), what a layer for multi-token prediction saves (three published runs with one are predicted at +1, +8 and -2 %
 * without it, at +4, +12 and +4 % with it). */
#include "memory.h"

#include "i18n_mark.h"
#include "memory_internal.h"
#include "num.h"
#include "rules.h"
#include "units.h"

#include <math.h>
#include <string.h>

/* clang-format off */
const struct memory_category_info memory_category_table[MEMORY_CATEGORY_COUNT] = {
	[MEMORY_WEIGHTS]        = { "weights",        N_("weights"),        'W', 0, N_("parameters as the forward pass reads them"), "ZeRO sec. 3" },
	[MEMORY_MASTER_WEIGHTS] = { "master_weights", N_("master weights"), 'M', 1, N_("fp32 copy that the optimizer updates"), "Micikevicius 2018" },
	[MEMORY_GRADIENTS]      = { "gradients",      N_("gradients"),      'G', 2, N_("gradient buffers, accumulation included"), "ZeRO sec. 3" },
	[MEMORY_OPTIMIZER]      = { "optimizer",      N_("optimizer"),      'O', 3, N_("moments"), "ZeRO sec. 3" },
	[MEMORY_ACTIVATIONS]    = { "activations",    N_("activations"),    'A', 7, N_("tensors saved for the backward, all micro-batches in flight"), "Korthikanti 2022" },
	[MEMORY_LOGITS]         = { "logits",         N_("logits"),         'L', 6, N_("logits and loss of the last stage"), "meshplan-model(7)" },
	[MEMORY_TRANSIENT]      = { "transient",      N_("transient"),      'T', 5, N_("working set of one layer, gathered weights, buckets, temporaries"), "meshplan-model(7)" },
	[MEMORY_RESERVED]       = { "reserved",       N_("reserved"),       'R', 4, N_("library workspaces, CUDA context, NCCL, margin for fragmentation"), "meshplan-model(7)" },
};

const struct choice_info memory_phase_choices[PHASE_COUNT] = {
	[PHASE_LOAD]     = { "load",     N_("weights on the card, nothing else yet") },
	[PHASE_INIT]     = { "init",     N_("all states allocated") },
	[PHASE_FORWARD]  = { "forward",  N_("most micro-batches in flight, no backward yet; the loss on the last stage") },
	[PHASE_BACKWARD] = { "backward", N_("the largest of the backward instants") },
	[PHASE_STEP]     = { "step",     N_("optimizer step with its buffers") },
	[PHASE_SAVE]     = { "save",     N_("sharded checkpoint: states and one gathered tensor") },
};

const struct choice_info memory_instant_choices[INSTANT_COUNT] = {
	[INSTANT_FULL_IN_FLIGHT]     = { "full-in-flight",     N_("start of the first backward, all micro-batches in flight") },
	[INSTANT_EMBEDDING_BACKWARD] = { "embedding-backward", N_("gradient of the embedding") },
	[INSTANT_LOSS]               = { "loss",               N_("logits and loss") },
	[INSTANT_HEAD_GRADIENT]      = { "head-gradient",      N_("weight gradient of the head") },
	[INSTANT_CHUNK_END]          = { "chunk-end",          N_("end of the first backward, unsharded gradients complete") },
	[INSTANT_STEP]               = { "step",               N_("optimizer step") },
	[INSTANT_STATES]             = { "states",             N_("model states alone") },
};

const struct memory_term_info memory_term_table[TERM_COUNT] = {
	[TERM_WEIGHTS]               = { "weights", "W", "w P / Nw", MEMORY_WEIGHTS, "ZeRO, Rajbhandari 2020, sec. 3 and 5" },
	[TERM_FP8_COPIES]            = { "fp8-copies", "W8", "w8 P(matrices)", MEMORY_WEIGHTS, "TransformerEngine module/base.py get_weight_workspace" },
	[TERM_MASTER]                = { "master", "M", "m P / No", MEMORY_MASTER_WEIGHTS, "ZeRO sec. 3; Megatron-LM distrib_optimizer.py" },
	[TERM_GRADIENTS]             = { "gradients", "G", "g P / Ng", MEMORY_GRADIENTS, "ZeRO sec. 5; Megatron-LM param_and_grad_buffer.py" },
	[TERM_GRADIENT_ACCUMULATION] = { "gradient-accumulation", "Ga", "a P / Na", MEMORY_GRADIENTS, "DeepSpeed runtime/bf16_optimizer.py" },
	[TERM_GRADIENT_COPIES]       = { "gradient-copies", "Gc", "c P", MEMORY_GRADIENTS, "Megatron-LM v2 fp16 optimizer" },
	[TERM_MOMENTS]               = { "moments", "O", "o P / No", MEMORY_OPTIMIZER, "ZeRO sec. 3" },
	[TERM_SECOND_BACKWARD]       = { "second-backward", "T2", "g2 P, more than one micro-batch", MEMORY_TRANSIENT, "Megatron-LM v2 logs" },
	[TERM_ACCUMULATED_GRADIENTS] = { "accumulated-gradients", "Tga", "gu P / v", MEMORY_TRANSIENT, "torch FSDP2 gradient accumulation; pipelining runtime" },
	[TERM_SAVED]                 = { "saved", "A", "sum over chunks of in-flight x layers x saved tensors", MEMORY_ACTIVATIONS, "Korthikanti 2022 eq. 1-6; schedule" },
	[TERM_PENDING]               = { "pending", "Aw", "sum over chunks of micro-batches between I and W x layers x k z u / 2 t", MEMORY_ACTIVATIONS, "schedules that split the backward; profile: pending-weight-bytes" },
	[TERM_STAGE_HIDDEN]          = { "stage-hidden", "Ah", "in-flight x (extra z u + mask s s)", MEMORY_ACTIVATIONS, "DeepSpeed runtime/pipe/engine.py" },
	[TERM_EMBEDDING_MASK]        = { "embedding-mask", "Am", "in-flight x u / sp", MEMORY_ACTIVATIONS, "Megatron-LM language_model embedding dropout" },
	[TERM_RECOMPUTED_LAYER]      = { "recomputed-layer", "Ar", "saved tensors of the layer being recomputed", MEMORY_ACTIVATIONS, "Chen 2016" },
	[TERM_WORKING_SET]           = { "working-set", "T", "gradients inside one layer", MEMORY_TRANSIENT, "meshplan-model(7), working set" },
	[TERM_UNSHARDED_WEIGHTS]     = { "unsharded-weights", "Twu", "z x gathered parameters", MEMORY_TRANSIENT, "torchtitan distributed/fsdp.py; DeepSpeed zero/config.py" },
	[TERM_UNIT_GRADIENT]         = { "unit-gradient", "Tgu", "gradient and reduce input of one layer", MEMORY_TRANSIENT, "torch FSDP2; DeepSpeed zero/stage3.py" },
	[TERM_CAST_CACHE]            = { "cast-cache", "Tc", "cast P", MEMORY_TRANSIENT, "torch.autocast weight cache" },
	[TERM_DEQUANTISED]           = { "dequantised", "Tq", "z x largest matrix", MEMORY_TRANSIENT, "bitsandbytes functional dequantize_4bit" },
	[TERM_BUCKETS]               = { "buckets", "Tb", "bucket bytes x min(P, bucket elements)", MEMORY_TRANSIENT, "DeepSpeed runtime/engine.py; torch DDP Reducer" },
	[TERM_STEP_FLATS]            = { "step-flats", "Tf", "flat gradient copies of the step", MEMORY_TRANSIENT, "DeepSpeed zero/stage_1_and_2.py" },
	[TERM_LOGITS]                = { "logits", "L", "bytes per logit x T V / t", MEMORY_LOGITS, "profile: loss implementation" },
	[TERM_LOSS_HIDDEN]           = { "loss-hidden", "Th", "hidden tensors at the loss", MEMORY_TRANSIENT, "Megatron-LM final norm and gather" },
	[TERM_HEAD_GRADIENT]         = { "head-gradient", "Tl", "z V h / t", MEMORY_TRANSIENT, "Megatron-LM tensor_parallel/layers.py" },
	[TERM_EMBEDDING_GRADIENT]    = { "embedding-gradient", "Te", "z V h / t + z u / sp", MEMORY_TRANSIENT, "torch embedding backward (dense)" },
	[TERM_WORKSPACE]             = { "workspace", "Rw", "cuBLAS and library workspaces", MEMORY_RESERVED, "profile: workspace" },
	[TERM_CONTEXT]               = { "context", "Rc", "CUDA context and NCCL", MEMORY_RESERVED, "profile: context" },
	[TERM_MARGIN]                = { "margin", "Rm", "margin x (everything else)", MEMORY_RESERVED, "profile: margin" },
};
/* clang-format on */

/* What the last stage of a model with multi-token prediction carries besides its layers, in layers: the head one, every
 * prediction layer one and one for its head. Src: Megatron-Bridge recipes/deepseek/deepseek_v3.py, pipeline layouts (61 layers on
 * 16 stages: 4 each, the last 1). */
#define LAYERS_OF_HEAD 1
#define LAYERS_PER_PREDICTION 2

static void even_split(int64_t layers, int64_t chunks, struct stage_list *out)
{
	int64_t base = layers / chunks, longer = layers % chunks, first = (chunks - longer + 1) / 2;

	/* Short stages first and last: the ends carry embedding and head. */
	for (int64_t i = 0; i < chunks; i++)
		out->layers[i] = (int16_t)(base + (i >= first && i < first + longer));
}

int32_t memory_stage_layers(const struct scenario *s, struct stage_list *out)
{
	int64_t chunks = s->layout.pp * s->layout.vpp, layers = s->model.layers, last;
	int64_t predicted = s->model.mtp_layers > 0 ? LAYERS_OF_HEAD + LAYERS_PER_PREDICTION * s->model.mtp_layers : 0;
	int32_t split = s->layout.pp_split;

	if (s->layout.stage_layers.n > 0) {
		*out = s->layout.stage_layers;
		return PP_SPLIT_AUTO;
	}
	out->n = (int32_t)chunks;
	if (split == PP_SPLIT_AUTO)
		split = layers % chunks == 0                           ? PP_SPLIT_UNIFORM
			: predicted == 0 && (layers + 2) % chunks == 0 ? PP_SPLIT_EMBED_HEAD
								       : PP_SPLIT_AUTO;
	if (split == PP_SPLIT_EMBED_HEAD) {
		for (int64_t i = 0; i < chunks; i++)
			out->layers[i] = (int16_t)((layers + 2) / chunks);
		out->layers[0]--;
		out->layers[chunks - 1]--;
	} else if (split == PP_SPLIT_AUTO && predicted > 0) {
		last = num_max(0, num_ceil_div(layers + predicted, chunks) - predicted);
		even_split(layers - last, chunks - 1, out);
		out->layers[chunks - 1] = (int16_t)last;
	} else {
		even_split(layers, chunks, out);
	}
	return split;
}

/* The widest matrix of one layer on a rank, in elements: attention output, MLP, or one expert. */
static double largest_matrix(const struct scenario *s, bool moe)
{
	const struct model *m = &s->model;
	double t = (double)s->layout.tp, width = (double)num_max(model_context_width(m), moe ? model_shared_ffn(m) : m->ffn) / t;

	return (double)m->hidden * (moe ? fmax(width, (double)m->expert_ffn / (double)s->layout.etp) : width);
}

/* Working set of one layer's backward, with the weight-gradient temporary of its largest matrix. */
static double working_set(const struct scenario *s, const struct memory_shared *sh, bool moe)
{
	const struct profile *p = &s->profile;
	const struct model *m = &s->model;
	double t = (double)s->layout.tp, T = sh->tokens, h = (double)m->hidden;
	double f = (double)(moe ? model_shared_ffn(m) : m->ffn);
	bool full = s->training.recompute == RECOMPUTE_FULL;
	double w = p->work_hidden * sh->hidden_elements + p->work_hidden_split * sh->hidden_elements / sh->sp;

	w += p->work_qkv * T * (double)((m->heads + 2 * m->kv_heads) * m->head_dim) / t;
	w += p->work_out * T * h / t + p->work_mlp * T * f * (m->gated_mlp ? 2 : 1) / t;
	if (moe)
		w += memory_routed_tokens(s) *
			(p->work_expert_hidden * h + p->work_expert_mlp * (double)m->expert_ffn / (double)s->layout.etp);
	if (s->training.attention == ATTENTION_KERNEL_UNFUSED)
		w += (full ? p->work_scores_full : p->work_scores) * sh->scores;
	if (p->work_weight_gradient == TEMPORARY_ALWAYS || (p->work_weight_gradient == TEMPORARY_IN_RECOMPUTE && full))
		w += 2 * largest_matrix(s, moe);
	return w * sh->element / 2;
}

void memory_prepare(const struct scenario *s, struct memory_shared *sh)
{
	int kinds = model_is_moe(&s->model) ? 2 : 1;

	memset(sh, 0, sizeof *sh);
	sh->ledger = memory_ledger_of(s);
	sh->dp = scenario_dp(s);
	sh->micro_batches = scenario_micro_batches(s);
	sh->padded_vocab = memory_padded_vocab(s);
	sh->element = scenario_element_bytes(s);
	sh->tokens = memory_tokens(s);
	sh->hidden_elements = sh->tokens * (double)s->model.hidden;
	sh->sp = memory_sp(s);
	sh->embedding = (double)sh->padded_vocab * (double)s->model.hidden / (double)s->layout.tp;
	sh->scores = (double)s->model.heads * (double)s->training.seq * (double)s->training.seq *
		(double)s->training.micro_batch / ((double)s->layout.cp * (double)s->layout.tp);
	sh->split_used = memory_stage_layers(s, &sh->split);
	for (int32_t i = 1; i < sh->split.n; i++)
		sh->first_layer[i] = sh->first_layer[i - 1] + sh->split.layers[i - 1];
	sh->pipeline = scenario_pipeline(s);
	for (int moe = 0; moe < kinds; moe++) {
		memory_layer_state(s, moe, &sh->layer[moe]);
		if (s->profile.models_activations) {
			memory_layer_activations(s, moe, &sh->layer[moe].saved, &sh->layer[moe].table);
			sh->layer[moe].working_set = working_set(s, sh, moe);
		}
	}
}

/* What the instants of one stage are made of. */
struct dynamic {
	double saved, saved_one; /* all in flight; one micro-batch of the stage's first chunk */
	double pending;          /* micro-batches whose weight gradients wait */
	double hidden, mask, recomputed, working_set;
	double unsharded, unit_gradient, cast_cache, dequantised;
	double accumulated; /* unsharded gradients, complete */
	double buckets, flats, leftover;
	double reduce_buffers; /* of the buckets, those that exist throughout a backward */
	double logits, loss_hidden, head_logits, head_gradient;
	double chunks_in_flight, layers_in_flight;
	int64_t layers;
	double largest_layer, largest_layer_trained;
};

static double chunk_saved(const struct scenario *s, const struct memory_shared *sh, int64_t first, int64_t n)
{
	int64_t moe = model_moe_layers(&s->model, first, n), every = s->training.recompute_every;
	double bytes = (double)(n - moe) * sh->layer[0].saved + (double)moe * sh->layer[1].saved;

	return every > 1 && n > 0 ? bytes * (double)num_ceil_div(n, every) / (double)n : bytes;
}

/* Micro-batches of chunk k in flight at the peak. */
static struct chunk_peak in_flight(const struct scenario *s, const struct memory_shared *sh, int64_t rank, int64_t k)
{
	const struct pipeline *pl = &sh->pipeline;
	struct chunk_peak n = { 1, 0 };

	if (pl->p == 1)
		return n;
	n = schedule_table[pl->schedule].peak(pl, rank, k);
	if (s->profile.drop_in_second_backward && sh->micro_batches > 1)
		n.whole = num_min(n.whole, sh->micro_batches - 1);
	return n;
}

/* Adds what n micro-batches of chunk k hold. */
static void hold_chunk(
	const struct scenario *s, const struct memory_shared *sh, int64_t rank, int64_t k, struct chunk_peak n, struct dynamic *d)
{
	const struct profile *p = &s->profile;
	int64_t i = pipeline_stage_of(&sh->pipeline, rank, k), layers = sh->split.layers[i];
	double extra = s->layout.pp > 1 ? p->hidden_extra_pipeline : p->hidden_extra_single, held = (double)(n.whole + n.pending);
	double one = chunk_saved(s, sh, sh->first_layer[i], layers);

	if (k == 0)
		d->saved_one = one;
	d->layers += layers;
	d->saved += (double)n.whole * one;
	/* What the four matrix multiplies of a layer keep until their weight gradients are taken. */
	d->pending += (double)(n.pending * layers) * p->pending_weight_bytes * sh->hidden_elements * sh->element / 2 /
		(double)s->layout.tp;
	d->hidden += held * extra * sh->element * sh->hidden_elements;
	if (s->training.recompute == RECOMPUTE_FULL)
		d->hidden += held * p->mask_bytes * (double)s->training.seq * (double)s->training.seq;
	if (i == 0 && p->embedding_mask && s->training.dropout > 0 && s->model.positions > 0)
		d->mask = (double)n.whole * sh->hidden_elements / sh->sp;
	d->chunks_in_flight += held;
	d->layers_in_flight += held * (double)layers;
}

/* What a backward has recomputed of the layer it is in. */
static double recomputed_bytes(const struct scenario *s, const struct memory_shared *sh, int64_t layers, int64_t moe_layers)
{
	const struct profile *p = &s->profile;

	if (!p->work_table_full)
		return 0;
	if (s->training.recompute == RECOMPUTE_FULL)
		return fmax(moe_layers < layers ? sh->layer[0].table : 0, moe_layers > 0 ? sh->layer[1].table : 0) *
			(double)num_min(s->training.recompute_every, layers);
	if (s->training.recompute == RECOMPUTE_SELECTIVE && p->selective != SELECTIVE_PER_OP)
		return fmax(sh->layer[0].table - sh->layer[0].saved, sh->layer[1].table - sh->layer[1].saved);
	return 0;
}

/* Saved layer inputs move to the host, two stay: the one in use and the one in transfer; returns what moves. Src: DeepSpeed
 * cpu_checkpointing. */
static double offload_saved(const struct scenario *s, struct dynamic *d)
{
	double stays, moves;

	if (!s->training.offload_activations || d->layers == 0)
		return 0;
	stays = fmin(d->saved, 2 * d->saved_one / fmax(1, (double)d->layers / (double)s->layout.vpp));
	moves = d->saved - stays;
	d->saved = stays;
	d->saved_one = fmin(d->saved_one, stays);
	return moves;
}

static void sum_activations(
	const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct dynamic *d, struct stage_memory *out)
{
	for (int64_t k = 0; k < pipeline_chunks_held(&sh->pipeline); k++)
		hold_chunk(s, sh, rank, k, in_flight(s, sh, rank, k), d);
	out->in_flight =
		out->layers > 0 ? d->layers_in_flight / (double)out->layers : d->chunks_in_flight / (double)s->layout.vpp;
	d->recomputed = recomputed_bytes(s, sh, out->layers, out->moe_layers);
	d->working_set = fmax(
		out->moe_layers < out->layers ? sh->layer[0].working_set : 0, out->moe_layers > 0 ? sh->layer[1].working_set : 0);
}

double memory_activations_of(
	const struct scenario *s, const struct memory_shared *sh, int64_t rank, const struct chunk_peak *held, bool backward)
{
	struct rank_params rp;
	struct dynamic d = { 0 };

	if (!s->profile.models_activations)
		return 0;
	for (int64_t k = 0; k < pipeline_chunks_held(&sh->pipeline); k++)
		hold_chunk(s, sh, rank, k, held[k], &d);
	memory_rank_params(s, sh, rank, &rp);
	(void)offload_saved(s, &d);
	return d.saved + d.pending + d.hidden + d.mask + (backward ? recomputed_bytes(s, sh, rp.layers, rp.moe_layers) : 0);
}

static void sum_sharding(
	const struct scenario *s, const struct memory_shared *sh, const struct rank_params *rp, struct dynamic *d)
{
	const struct profile *p = &s->profile;
	double held = rp->dense + rp->expert, trained = rp->trained + rp->trained_expert;
	int64_t zero = s->layout.zero;

	if (p->units_in_flight > 0) {
		/* With pipelines FSDP does not reshard after the forward; zero 2 says the same without them. */
		d->unsharded = s->layout.pp > 1 ? p->pipeline_weight_bytes * sh->element / 2 * held
			: zero == 2             ? sh->element * held
						: sh->element * (p->units_in_flight * d->largest_layer + sh->embedding);
		if (s->layout.pp == 1)
			d->unit_gradient = p->unit_gradient_bytes * d->largest_layer_trained;
	}
	if (zero == 3) {
		d->unsharded += sh->element * fmin(held, p->live_elements);
		d->unit_gradient += sh->element * fmin(trained, p->reduce_elements);
	}
	d->accumulated = scenario_accumulated_bytes(s) * trained / (s->layout.pp > 1 ? (double)s->layout.vpp : 1);
	if (!scenario_full_precision(s) && s->training.precision != PRECISION_PURE_BF16)
		d->cast_cache = p->cast_cache_bytes * trained; /* a frozen base is in 16 bit already */
}

/* Communication buckets, which hold gradients and follow their format, and what the optimizer step flattens: the rank's own
 * share. */
static void sum_buffers(const struct scenario *s, const struct memory_shared *sh, const struct rank_params *rp, struct dynamic *d)
{
	const struct profile *p = &s->profile;
	double trained = rp->trained + rp->trained_expert;
	double owned = rp->trained / (double)sh->ledger.shards + rp->trained_expert / (double)sh->ledger.expert_shards;
	double format = p->grad_bytes > 0 ? sh->ledger.gradients / p->grad_bytes : 1;
	int64_t zero = s->layout.zero;

	if (zero < 3 && sh->dp > 1)
		d->buckets = format * p->bucket_bytes * fmin(trained, p->bucket_elements);
	if (zero == 2) {
		/* Allocated before the backward starts. Src: DeepSpeed zero/stage_1_and_2.py backward. */
		d->reduce_buffers = p->step_adds ? 0 : format * p->zero2_buffer_bytes;
		d->buckets += format * p->zero2_buffer_bytes;
	}
	if (s->training.offload == OFFLOAD_NONE)
		d->flats = zero == 0 ? p->step_flat_bytes_zero0 * trained
			: zero == 1  ? p->step_flat_bytes_zero1 * owned
				     : p->step_flat_bytes_zero2 * fmin(owned, p->step_flat_elements);
	d->leftover = p->init_leftover_bytes * trained;
}

/* fp32 logits and their gradient. ASSUMPTION: the loss constants of profiles are for 16-bit logits; those above this already hold
 * fp32 copies. */
enum { FULL_PRECISION_LOSS_BYTES = 8 };

static void sum_loss(const struct scenario *s, const struct memory_shared *sh, struct dynamic *d)
{
	const struct profile *p = &s->profile;
	double logits = sh->tokens * (double)sh->padded_vocab / (double)s->layout.tp;
	double bytes = s->layout.tp > 1 && p->loss_bytes_tp > 0 ? p->loss_bytes_tp : p->loss_bytes;

	if (s->training.loss == LOSS_CHUNKED)
		logits /= fmax(1, p->loss_chunks);
	else if (s->training.loss == LOSS_FUSED)
		logits = 0;
	if (scenario_full_precision(s))
		bytes = fmax(bytes, FULL_PRECISION_LOSS_BYTES);
	d->logits = bytes * logits * (1 + p->mtp_loss_factor * (double)s->model.mtp_layers);
	d->head_logits = sh->element * logits;
	d->loss_hidden = sh->hidden_elements * sh->element / 2 *
		(p->loss_hidden + p->loss_hidden_split / sh->sp + (s->layout.sequence_parallel ? p->loss_hidden_gathered : 0));
	if (p->head_gradient != TEMPORARY_NEVER && s->training.adapter == ADAPTER_NONE)
		d->head_gradient = sh->element * sh->embedding;
}

/* Terms of one instant, on top of the state terms. */
static void instant_terms(
	int32_t instant, const struct scenario *s, const struct memory_shared *sh, const struct dynamic *d, double *term)
{
	double embedding = s->profile.embedding_gradient ? sh->element * sh->embedding : 0;
	bool pipelined = s->layout.pp > 1;

	term[TERM_STAGE_HIDDEN] = d->hidden;
	term[TERM_EMBEDDING_MASK] = d->mask;
	term[TERM_SAVED] = d->saved;
	term[TERM_PENDING] = d->pending;
	term[TERM_UNSHARDED_WEIGHTS] = d->unsharded;
	term[TERM_CAST_CACHE] = d->cast_cache;
	term[TERM_BUCKETS] = d->reduce_buffers;
	term[TERM_DEQUANTISED] = d->dequantised;
	term[TERM_ACCUMULATED_GRADIENTS] = pipelined ? 0 : d->accumulated;
	if (instant == INSTANT_FULL_IN_FLIGHT || instant == INSTANT_CHUNK_END) {
		term[TERM_WORKING_SET] = d->working_set;
		term[TERM_RECOMPUTED_LAYER] = d->recomputed;
		term[TERM_UNIT_GRADIENT] = d->unit_gradient;
	}
	if (instant == INSTANT_CHUNK_END) {
		term[TERM_SAVED] = d->saved - d->saved_one;
		term[TERM_ACCUMULATED_GRADIENTS] = d->accumulated;
	} else if (instant == INSTANT_EMBEDDING_BACKWARD) {
		term[TERM_SAVED] = d->saved - d->saved_one;
		term[TERM_EMBEDDING_GRADIENT] = embedding + sh->element * sh->hidden_elements / sh->sp;
	} else if (instant == INSTANT_LOSS) {
		term[TERM_LOGITS] = d->logits;
		term[TERM_LOSS_HIDDEN] = d->loss_hidden;
	} else if (instant == INSTANT_HEAD_GRADIENT) {
		term[TERM_LOGITS] = d->head_logits;
		term[TERM_HEAD_GRADIENT] = d->head_gradient;
		term[TERM_LOSS_HIDDEN] = d->loss_hidden;
	}
}

static double sum_terms(const double *term)
{
	double sum = 0;

	for (int i = 0; i < TERM_COUNT; i++)
		sum += term[i];
	return sum;
}

static bool instant_exists(int32_t instant, const struct scenario *s, const struct rank_params *rp)
{
	bool pipelined = s->layout.pp > 1, frozen = s->training.adapter != ADAPTER_NONE;

	switch (instant) {
	case INSTANT_FULL_IN_FLIGHT:
		return true;
	case INSTANT_EMBEDDING_BACKWARD:
		return rp->first && s->profile.embedding_gradient && !frozen;
	case INSTANT_LOSS:
	case INSTANT_HEAD_GRADIENT:
		return rp->last;
	case INSTANT_CHUNK_END:
		return pipelined && s->profile.accumulated_gradient_bytes > 0;
	default:
		return false;
	}
}

static double context_bytes(const struct scenario *s)
{
	const struct gpu *g = &s->cluster.gpu;
	bool volta = g->year > 0 && g->year < 2020;

	return (double)(volta ? s->profile.context_bytes_volta : s->profile.context_bytes);
}

/* Rounds the terms into categories so that they sum exactly to the rounded total: the largest category takes the rounding. */
static void fill_categories(struct stage_memory *out)
{
	double sums[MEMORY_CATEGORY_COUNT] = { 0 }, total = 0;
	int64_t left;
	int largest = 0;

	for (int i = 0; i < TERM_COUNT; i++)
		sums[memory_term_table[i].category] += out->term[i];
	for (int c = 0; c < MEMORY_CATEGORY_COUNT; c++) {
		total += sums[c];
		out->category[c] = num_round(sums[c]);
		if (sums[c] > sums[largest])
			largest = c;
	}
	out->need_bytes = left = num_round(total);
	for (int c = 0; c < MEMORY_CATEGORY_COUNT; c++)
		left -= out->category[c];
	out->category[largest] += left;
}

/* Peaks per phase; each is what the card must hold then, context and margin included. */
static void fill_phases(const struct scenario *s, const struct memory_shared *sh, const struct dynamic *d,
	const struct rank_params *rp, double persistent, double backward, struct stage_memory *out)
{
	double fixed = out->term[TERM_WORKSPACE] + out->term[TERM_CONTEXT], keep = 1 + s->profile.margin;
	double saved = d->saved + d->pending + d->hidden + d->mask + d->unsharded + d->cast_cache + d->dequantised;
	double gathered = sh->ledger.weights_sharded ? 4 * fmax(d->largest_layer, rp->first || rp->last ? sh->embedding : 0) : 0;

	if (!s->profile.models_activations)
		fixed = saved = gathered = 0;
	if (rp->last)
		saved += d->logits + d->loss_hidden;
	out->phase[PHASE_LOAD] = num_round((out->term[TERM_WEIGHTS] + out->term[TERM_FP8_COPIES] + gathered + fixed) * keep);
	out->phase[PHASE_INIT] = num_round((persistent + fixed) * keep);
	out->phase[PHASE_FORWARD] = num_round((persistent + saved + fixed) * keep);
	out->phase[PHASE_BACKWARD] = num_round((persistent + backward + fixed) * keep);
	out->phase[PHASE_STEP] = num_round((persistent + d->flats + d->buckets + fixed) * keep);
	out->phase[PHASE_SAVE] = num_round((persistent + gathered + fixed) * keep);
}

/* The largest instant; its terms go to best[]. Returns its bytes above the states. */
static double find_peak(const struct scenario *s, const struct memory_shared *sh, const struct dynamic *d,
	const struct rank_params *rp, double best[TERM_COUNT], int32_t *which)
{
	double peak = 0;

	*which = INSTANT_STATES;
	for (int32_t i = 0; i < INSTANT_STEP; i++) {
		double term[TERM_COUNT] = { 0 }, sum;

		if (!instant_exists(i, s, rp))
			continue;
		instant_terms(i, s, sh, d, term);
		sum = sum_terms(term);
		if (sum > peak) {
			peak = sum;
			*which = i;
			memcpy(best, term, sizeof term);
		}
	}
	return peak;
}

static void largest_layer(
	const struct scenario *s, const struct memory_shared *sh, const struct stage_memory *out, struct dynamic *d)
{
	bool lora = s->training.adapter != ADAPTER_NONE;

	for (int moe = 0; moe < 2; moe++) {
		const struct memory_layer *y = &sh->layer[moe];

		if (moe ? out->moe_layers == 0 : out->moe_layers == out->layers)
			continue;
		d->largest_layer = fmax(d->largest_layer, y->dense + y->expert);
		d->largest_layer_trained =
			fmax(d->largest_layer_trained, lora ? y->adapter + y->expert_adapter : y->dense + y->expert);
	}
}

void memory_stage_of(const struct scenario *s, const struct memory_shared *sh, int64_t rank, struct stage_memory *out)
{
	const struct profile *p = &s->profile;
	struct rank_params rp;
	struct dynamic d = { 0 };
	double peak[TERM_COUNT] = { 0 }, states, dynamic, step, transient;

	memset(out, 0, sizeof *out);
	memory_rank_params(s, sh, rank, &rp);
	memory_rank_state(s, sh, &rp, out);
	if (sh->micro_batches > 1 && s->training.adapter == ADAPTER_NONE)
		out->term[TERM_SECOND_BACKWARD] = p->second_backward_bytes * (rp.trained + rp.trained_expert);
	states = sum_terms(out->term);
	out->persistent_bytes = num_round(states);
	out->term[TERM_WORKSPACE] = (double)p->workspace_bytes;
	out->term[TERM_CONTEXT] = context_bytes(s);
	sum_activations(s, sh, rank, &d, out);
	if (p->models_activations) {
		largest_layer(s, sh, out, &d);
		out->host_bytes += num_round(offload_saved(s, &d));
		sum_sharding(s, sh, &rp, &d);
		sum_buffers(s, sh, &rp, &d);
		sum_loss(s, sh, &d);
		if (s->training.adapter == ADAPTER_QLORA)
			d.dequantised = sh->element * fmax(largest_matrix(s, false), largest_matrix(s, true));
	}
	dynamic = find_peak(s, sh, &d, &rp, peak, &out->instant);
	step = d.flats + d.buckets;
	transient = p->step_adds ? step + dynamic : fmax(step, dynamic);
	fill_phases(s, sh, &d, &rp, states, p->step_adds ? transient : dynamic, out);
	if (!p->step_adds && step > dynamic) {
		memset(peak, 0, sizeof peak);
		out->instant = INSTANT_STEP;
	}
	if (p->step_adds || out->instant == INSTANT_STEP) {
		peak[TERM_BUCKETS] = d.buckets;
		peak[TERM_STEP_FLATS] = d.flats;
	}
	for (int i = 0; i < TERM_COUNT; i++)
		out->term[i] += peak[i];
	out->allocated_bytes = num_round(states + transient + out->term[TERM_WORKSPACE]);
	out->reserved_bytes = num_round(
		p->reserved_ratio * (states + d.leftover + step + (1 + p->dynamic_slack) * dynamic + out->term[TERM_WORKSPACE]));
	out->smi_bytes = out->reserved_bytes + num_round(out->term[TERM_CONTEXT]);
	out->term[TERM_MARGIN] = p->margin * sum_terms(out->term);
	fill_categories(out);
}

enum err_code memory_stage(const struct scenario *s, int64_t rank, struct stage_memory *out, struct err *e)
{
	struct memory_shared sh;
	char legal[48];

	if (rank < 0 || rank >= s->layout.pp)
		return err_set(e, ERR_RANGE, "stage", "stage %lld: legal here: %s", (long long)rank,
			units_format_range(0, s->layout.pp - 1, legal, sizeof legal));
	memory_prepare(s, &sh);
	memory_stage_of(s, &sh, rank, out);
	return ERR_OK;
}
