/* Explanations of time, throughput, communication and cost. Every formula can be worked out from the numbers put in; a test does
 * so. */
#include "explain_internal.h"

#include "comm.h"
#include "compute.h"
#include "cost.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char step_source[] = "meshplan-model(7), step time";

static void put_coefficient(struct explanation *x, const struct scenario *s, const char *symbol, int32_t which)
{
	put_value(x, symbol, s->coefficients.v[which], coefficient_table[which].unit, "coefficients %s: %s", s->coefficients.id,
		coefficient_table[which].key);
}

static void put_micro_batches(struct explanation *x, const struct scenario *s)
{
	put_value(x, "m", (double)scenario_micro_batches(s), "micro-batches", "global-batch / (dp micro-batch)");
}

static void put_straggler(struct explanation *x, const struct step_time *t)
{
	put_value(x, "k", t->straggler, "", "1 + straggler log2(nodes of 8)");
}

static void put_shares(struct explanation *x, const struct step_time *t)
{
	put_value(x, "L_dense", t->dense_layers, "layers", "on the slowest stage, stage %" PRId64, t->slowest_stage);
	put_value(x, "L_moe", t->moe_layers, "layers", "on the same stage, with experts");
}

/* time.* */

static void explain_step(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct step_time *t = &p->step;

	put_result(x, "step", t->step_s, "s", "(m t_max + bubble + send + data + optimizer + offload + fixed) k", step_source);
	put_micro_batches(x, &d->s);
	put_value(x, "t_max", t->stage_max_s, "s", "one micro-batch, forward and backward, on stage %" PRId64, t->slowest_stage);
	put_value(x, "bubble", t->bubble_s, "s", "waiting for other stages");
	put_value(x, "send", t->send_s, "s", "exposed transfers between stages");
	put_value(x, "data", t->data_parallel_s, "s", "exposed gradient and weight traffic");
	put_value(x, "optimizer", t->optimizer_s, "s", "optimizer step and gradient norm");
	put_value(x, "offload", t->offload_s, "s", "what is offloaded, over PCIe");
	put_value(x, "fixed", t->fixed_s, "s", "coefficients %s: logging, data, synchronisation", d->s.coefficients.id);
	put_straggler(x, t);
	put_note(x,
		"Good to about %.0f %%: 10 %% dense, 30 %% MoE, wider for each knob that was not given, narrower after meshplan "
		"calibrate.",
		100 * plan_band(d, p));
}

static void explain_compute(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct step_time *t = &p->step;
	struct device device = compute_device(&d->s);
	int32_t level = compute_level(&d->s);

	put_result(x, "c", t->part_s[STEP_COMPUTE], "s", "k (m t_max + fixed) - recompute - tp - cp - ep - copies", step_source);
	put_straggler(x, t);
	put_micro_batches(x, &d->s);
	put_value(x, "t_max", t->stage_max_s, "s", "layers, embedding or head of stage %" PRId64 ", one micro-batch",
		t->slowest_stage);
	put_value(x, "fixed", t->fixed_s, "s", "coefficients %s", d->s.coefficients.id);
	for (int i = STEP_RECOMPUTE; i <= STEP_EP; i++)
		put_value(x, step_part_table[i].label, t->part_s[i], "s", "time.%s: inside t_max", step_part_table[i].key);
	put_value(x, "copies", t->part_s[STEP_OFFLOAD] - t->straggler * t->offload_s, "s",
		"waiting for offloaded activations: inside t_max");
	put_value(x, "layer forward", t->moe_layers > 0 ? t->moe.forward_s : t->dense.forward_s, "s",
		"communication included; goes into t_max");
	put_value(x, "layer input", t->moe_layers > 0 ? t->moe.input_s : t->dense.input_s, "s", "gradient of the input");
	put_value(x, "layer weight", t->moe_layers > 0 ? t->moe.weight_s : t->dense.weight_s, "s", "gradient of the weights");
	put_value(x, "head", t->head_s, "s", "head and loss, forward and backward");
	put_value(x, "embedding", t->embedding_s, "s", "forward and backward");
	put_value(x, "peak", device.peak_flops[compute_gemm_kind(&d->s, false)] / 1e12, "TFLOP/s", "%s, dense, %s",
		d->s.cluster.gpu.id, precision_choices[d->s.training.precision].key);
	put_coefficient(x, &d->s, "level", level);
	put_note(x,
		"A matrix multiply takes max(2 M N K / (peak E level) q, bytes / hbm), E the measured share of peak at its size "
		"(family %s), q tiles "
		"and waves.",
		d->s.cluster.family.id);
	if (plan_is_calibrated(&d->s))
		put_note(x, "Calibrated with %s.", d->s.coefficients.id);
}

static const char *repeated_work(const struct scenario *s)
{
	static const char *const selective[SELECTIVE_KIND_COUNT] = { [SELECTIVE_CORE_ATTENTION] = "the attention core once more",
		[SELECTIVE_PER_OP] = "sac-share of the matrix multiplies and all memory-bound operations once more",
		[SELECTIVE_NORMS] = "up-projections of latents, norms, rotary and the MLP's activation once more" };

	switch ((enum recompute)s->training.recompute) {
	case RECOMPUTE_FULL:
		return "the forward of every layer once more, without its communication";
	case RECOMPUTE_SELECTIVE:
		return selective[s->profile.selective];
	case RECOMPUTE_NONE:
	case RECOMPUTE_COUNT:
		break;
	}
	return s->profile.moe_recomputes ? "a norm and the activation of experts once more" : "0";
}

static void explain_recompute(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct step_time *t = &p->step;

	put_result(
		x, "r", t->part_s[STEP_RECOMPUTE], "s", repeated_work(&d->s), "Chen 2016; Korthikanti 2022; meshplan-model(7)");
	put_micro_batches(x, &d->s);
	put_shares(x, t);
	put_value(x, "r_dense", t->dense.recompute_s, "s", "a dense layer, communication included");
	put_value(x, "r_moe", t->moe.recompute_s, "s", "a MoE layer, communication included");
	put_straggler(x, t);
	put_note(x, "--recompute %s. Communication that is repeated counts as communication.",
		recompute_choices[d->s.training.recompute].key);
}

/* tp, cp and ep: a share of every layer. */
static void explain_layer_traffic(const struct draft *d, const struct plan *p, int part, struct explanation *x)
{
	const struct step_time *t = &p->step;
	double dense = part == STEP_TP ? t->dense.tp_s : part == STEP_CP ? t->dense.cp_s : 0;
	double moe = part == STEP_TP ? t->moe.tp_s : part == STEP_CP ? t->moe.cp_s : t->moe.ep_s;
	static const char *const sources[STEP_PART_COUNT] = {
		[STEP_TP] = "Shoeybi 2019; Korthikanti 2022; meshplan-model(7)",
		[STEP_CP] = "Liu 2023 (ring attention); meshplan-model(7)",
		[STEP_EP] = "DeepSeek-V3 sec. 3.2; meshplan-model(7)",
	};

	put_result(x, step_part_table[part].label, t->part_s[part], "s", "k m (L_dense x_dense + L_moe x_moe)", sources[part]);
	put_straggler(x, t);
	put_micro_batches(x, &d->s);
	put_shares(x, t);
	put_value(x, "x_dense", dense, "s", "exposed in a dense layer, forward, backward and recompute");
	put_value(x, "x_moe", moe, "s", "exposed in a MoE layer");
	put_knob(x, d,
		part == STEP_TP           ? "t"
			: part == STEP_CP ? "c"
					  : "ep",
		part == STEP_TP           ? "tp"
			: part == STEP_CP ? "cp"
					  : "ep");
	put_note(x, "Exposed is what no computation hides; communication[i].seconds holds all of it.");
}

static void explain_dp(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct scenario *s = &d->s;
	const struct step_time *t = &p->step;
	bool sharded = s->layout.zero >= s->profile.weights_sharded_from && s->profile.weights_sharded_from <= 3;

	put_result(x, "d", t->part_s[STEP_DP], "s", "k data",
		sharded ? "torch fully_shard; ZeRO-3; meshplan-model(7), data parallel"
			: "Megatron-LM param_and_grad_buffer.py; meshplan-model(7), data parallel");
	put_straggler(x, t);
	put_value(x, "data", t->data_parallel_s, "s",
		sharded ? "per layer: what its compute does not hide, and what hidden traffic slows down"
			: "the last bucket, contention, and what the stage that holds most does not hide");
	put_value(x, "reduce", t->traffic[TRAFFIC_DP_REDUCE].seconds, "s", "gradients on the wire, hidden or not");
	put_value(x, "gather", t->traffic[TRAFFIC_DP_GATHER].seconds, "s", "weights on the wire, hidden or not");
	put_value(x, "forward", t->window_forward_s, "s", "one micro-batch on the stage that holds most: hides the gather");
	put_value(x, "backward", t->window_backward_s, "s", "one micro-batch on the stage that holds most: hides the reduction");
	put_coefficient(x, s, "last", COEF_DP_LAST);
	put_coefficient(x, s, "contention", sharded ? s->profile.fsdp_contention : COEF_DP_CONTENTION);
	put_knob(x, d, "zero", "zero");
}

static void explain_pp(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct scenario *s = &d->s;
	const struct traffic_time *t = &p->step.traffic[TRAFFIC_PP];
	struct links links = comm_links(s);
	bool none = t->calls <= 0 || s->profile.pp_gathers_once;

	put_result(x, "p", p->step.part_s[STEP_PP], "s",
		none ? "0: nothing is sent, or the transfers run beside the computation" : "k (calls t share + 2 (p - 1) t)",
		"Narayanan 2021; meshplan-model(7)");
	put_straggler(x, &p->step);
	put_value(x, "calls", t->calls, "", "two per micro-batch and chunk");
	put_value(x, "t", t->calls > 0 ? comm_send_s(&links, t->bytes_per_gpu / t->calls, t->across) : 0, "s",
		"one transfer over %s", t->across ? "the network" : s->cluster.gpu.link);
	put_coefficient(x, s, "share", s->profile.pp_overlap && s->layout.vpp > 1 ? COEF_PP_HIDDEN : COEF_PP_EXPOSED);
	put_knob(x, d, "p", "pp");
}

static void explain_optimizer(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct step_time *t = &p->step;

	put_result(x, "o", t->part_s[STEP_OPTIMIZER], "s", "k ((34 owned + 4 local) / hbm + norm)",
		"AdamW reads and writes; meshplan-model(7)");
	put_straggler(x, t);
	put_value(x, "owned", t->owned_params, "params", "updated by this rank (zero %" PRId64 ")", d->s.layout.zero);
	put_value(x, "local", t->owned_params <= 0 || d->s.layout.zero == 3 ? 0 : t->params_per_rank, "params",
		"held by this rank: the gradient norm reads them");
	put_value(x, "hbm", compute_device(&d->s).hbm_bps * scenario_element_bytes(&d->s) / 2, "B/s",
		"memory bandwidth of %s that is reached", d->s.cluster.gpu.id);
	put_value(x, "norm", t->norm_s, "s", "all-reduce of one number over all ranks");
}

static void explain_offload(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct step_time *t = &p->step;
	double states = step_offload_states(&d->s, t->owned_params);

	put_result(x, "f", t->part_s[STEP_OFFLOAD], "s",
		t->part_s[STEP_OFFLOAD] > 0 ? "k (states + layers)" : "0: nothing is exposed",
		"Ren 2021 (ZeRO-Offload); meshplan-model(7)");
	put_straggler(x, t);
	put_value(x, "states", states, "s", "16 B of each of %.6g parameters that this rank updates, at %.3g GB/s",
		t->owned_params, STEP_OFFLOAD_BPS / 1e9);
	put_value(x, "layers", t->part_s[STEP_OFFLOAD] / t->straggler - states, "s",
		"weights before every gather, activations out and back, that no layer hides");
}

static void explain_bubble_time(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct step_time *t = &p->step;
	double m = (double)scenario_micro_batches(&d->s);

	put_result(x, "i", t->part_s[STEP_BUBBLE], "s", d->s.layout.pp == 1 ? "0: one stage" : "k (makespan - m t_max)",
		schedule_table[d->s.layout.schedule].cite);
	put_straggler(x, t);
	put_value(x, "makespan", m * t->stage_max_s + t->bubble_s, "s", "of %s with the time of every stage, without transfers",
		schedule_table[d->s.layout.schedule].key);
	put_micro_batches(x, &d->s);
	put_value(x, "t_max", t->stage_max_s, "s", "one micro-batch on the slowest stage, stage %" PRId64, t->slowest_stage);
	put_value(x, "t_sum", t->stage_sum_s, "s", "on all stages");
	put_note(x, "pipeline.bubble_of_step takes equal stages and B = 2 F.");
}

static void explain_part(const struct draft *d, const struct plan *p, int part, struct explanation *x)
{
	static void (*const explain[STEP_PART_COUNT])(const struct draft *, const struct plan *, struct explanation *) = {
		[STEP_COMPUTE] = explain_compute,
		[STEP_RECOMPUTE] = explain_recompute,
		[STEP_DP] = explain_dp,
		[STEP_PP] = explain_pp,
		[STEP_OPTIMIZER] = explain_optimizer,
		[STEP_OFFLOAD] = explain_offload,
		[STEP_BUBBLE] = explain_bubble_time,
	};

	if (explain[part] != NULL)
		explain[part](d, p, x);
	else
		explain_layer_traffic(d, p, part, x);
}

/* throughput.* */

static void put_step(struct explanation *x, const struct plan *p)
{
	put_value(x, "step", p->step.step_s, "s", "time.step_s");
}

static void explain_tokens_per_s(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "R", p->throughput.tokens_per_s, "tokens/s", "B s / step", step_source);
	put_knob(x, d, "B", "global-batch");
	put_knob(x, d, "s", "seq");
	put_step(x, p);
}

static void explain_tokens_per_gpu(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "R1", p->throughput.tokens_per_s_per_gpu, "tokens/s", "R / gpus", step_source);
	put_value(x, "R", p->throughput.tokens_per_s, "tokens/s", "throughput.tokens_per_s");
	put_knob(x, d, "gpus", "gpus");
}

static void put_flops(struct explanation *x, const struct draft *d)
{
	put_value(x, "F", throughput_flops_per_token(&d->s) / 1e9, "GFLOP", "per token, --flops %s: %.70s",
		flops_convention_choices[d->s.training.flops].key, flops_convention_choices[d->s.training.flops].help);
}

static void explain_model_flops(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "U", p->throughput.model_flops_per_gpu / 1e12, "TFLOP/s", "R1 F / 1000",
		"Kaplan 2020; Chowdhery 2022 appendix B");
	put_value(x, "R1", p->throughput.tokens_per_s_per_gpu, "tokens/s", "throughput.tokens_per_s_per_gpu");
	put_flops(x, d);
	put_note(x,
		"Forward and backward; recomputed work is not counted. Conventions differ by 10 %% and more: compare tokens/s "
		"first.");
}

static void put_peak(struct explanation *x, const struct draft *d, const struct plan *p)
{
	put_value(x, "peak", p->throughput.peak_flops / 1e12, "TFLOP/s", "dense peak of %s in %s", d->s.cluster.gpu.id,
		precision_choices[d->s.training.precision].key);
}

static void explain_mfu(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "MFU", p->throughput.mfu, "ratio", "U / peak", "Chowdhery 2022 appendix B");
	put_value(x, "U", p->throughput.model_flops_per_gpu / 1e12, "TFLOP/s", "throughput.model_tflops_per_gpu");
	put_peak(x, d, p);
	put_flops(x, d);
}

static void explain_hfu(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "HFU", p->throughput.hfu, "ratio", "H / peak", "Chowdhery 2022 appendix B");
	put_value(x, "H", p->throughput.hardware_flops_per_gpu / 1e12, "TFLOP/s", "model FLOPs and those of --recompute %s",
		recompute_choices[d->s.training.recompute].key);
	put_peak(x, d, p);
}

static void explain_band(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "band", p->band, "ratio", plan_is_calibrated(&d->s) ? "sqrt((b / 2)^2 + sd^2)" : "b",
		"published runs beside predictions; meshplan-model(7)");
	put_value(x, "b", model_is_moe(&d->s.model) ? 0.30 : 0.10, "", model_is_moe(&d->s.model) ? "MoE" : "dense");
	put_value(x, "sd", d->s.coefficients.level_sd, "", "of the calibrated level, coefficients %s", d->s.coefficients.id);
	put_note(x,
		"Texts widen it to %.1f %% here: 3 %% in quadrature for each of node, precision, attention, seq, global-batch "
		"and profile that was not "
		"given.",
		100 * plan_band(d, p));
	put_note(x, "About two of three predictions for clusters like the published ones lie inside.");
	if (plan_is_calibrated(&d->s))
		put_note(x, "Calibrated with %s: its level is known to %.1f %%.", d->s.coefficients.id,
			100 * d->s.coefficients.level_sd);
}

/* cost.* */

static void explain_cost_tokens(const struct draft *d, const struct plan *p, struct explanation *x)
{
	(void)p;
	put_result(
		x, "D", cost_tokens(&d->s), "tokens", d->s.cost.tokens > 0 ? "as given" : "20 Pa", "Hoffmann 2022 (Chinchilla)");
	if (d->s.cost.tokens > 0)
		put_knob(x, d, "D", "tokens");
	else
		put_value(x, "Pa", (double)model_active_params(&d->s.model), "params", "model.active_params");
}

static void explain_cost_steps(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "n", cost_of(&d->s, &p->step).steps, "steps", "D / (B s), rounded up", "meshplan-model(7), cost");
	put_value(x, "D", cost_tokens(&d->s), "tokens", "cost.tokens");
	put_knob(x, d, "B", "global-batch");
	put_knob(x, d, "s", "seq");
}

static void explain_cost_days(const struct draft *d, const struct plan *p, struct explanation *x)
{
	struct cost c = cost_of(&d->s, &p->step);

	put_result(x, "days", c.days, "days", "n step / g / 86400", "meshplan-model(7), cost");
	put_value(x, "n", c.steps, "steps", "cost.steps");
	put_step(x, p);
	put_value(x, "g", c.goodput, "", "cost.goodput");
}

static void explain_cost_hours(const struct draft *d, const struct plan *p, struct explanation *x)
{
	struct cost c = cost_of(&d->s, &p->step);

	put_result(x, "H", c.gpu_hours, "GPU h", "24 days gpus", "meshplan-model(7), cost");
	put_value(x, "days", c.days, "days", "cost.days");
	put_knob(x, d, "gpus", "gpus");
}

static void explain_cost_price(const struct draft *d, const struct plan *p, struct explanation *x)
{
	const struct gpu *g = &d->s.cluster.gpu;

	put_result(x, "$", cost_of(&d->s, &p->step).price_usd_per_hour, "USD/h",
		d->s.cost.price > 0 ? "--price" : "the default of the GPU preset",
		d->s.cost.price > 0 ? "given" : g->usd_provider);
	put_value(x, "preset", g->usd_per_hour, "USD/h", "%s, %s %s", g->id,
		g->usd_provider[0] != '\0' ? g->usd_provider : "no price", g->usd_date);
	put_knob(x, d, "given", "price");
	put_note(x,
		"Prices move by a factor of three between providers and years: meshplan presets show %s lists others, and "
		"--price "
		"takes a provider's name.",
		g->id);
}

static void explain_cost_usd(const struct draft *d, const struct plan *p, struct explanation *x)
{
	struct cost c = cost_of(&d->s, &p->step);

	put_result(x, "USD", c.usd, "USD", "H $", "meshplan-model(7), cost");
	put_value(x, "H", c.gpu_hours, "GPU h", "cost.gpu_hours");
	put_value(x, "$", c.price_usd_per_hour, "USD/h", "cost.price_usd_per_hour");
}

static void explain_cost_kwh(const struct draft *d, const struct plan *p, struct explanation *x)
{
	put_result(x, "E", cost_of(&d->s, &p->step).kwh, "kWh", "H tdp u pue / 1000", "Luccioni 2022; meshplan-model(7), cost");
	put_value(x, "H", cost_of(&d->s, &p->step).gpu_hours, "GPU h", "cost.gpu_hours");
	put_value(x, "tdp", d->s.cluster.gpu.tdp_w, "W", "%s", d->s.cluster.gpu.id);
	put_value(x, "u", COST_POWER_UTILISATION, "", "assumed share of the power limit that is drawn");
	put_knob(x, d, "pue", "pue");
}

static void explain_cost_goodput(const struct draft *d, const struct plan *p, struct explanation *x)
{
	struct cost c = cost_of(&d->s, &p->step);

	put_result(x, "g", c.goodput, "ratio", "g0 (1 - loss), loss = w / i + (i / 2 + restart) / M", "Young 1974; Daly 2006");
	put_knob(x, d, "g0", "goodput");
	put_value(x, "loss", c.failure_loss, "", "to failures, restarts and checkpoints");
	put_value(x, "w", c.checkpoint_s, "s", "to write a checkpoint of %.0f GB", c.checkpoint_bytes / 1e9);
	put_value(x, "i", c.checkpoint_interval_s, "s", "cost.checkpoint_interval_s");
	put_value(x, "restart", COST_RESTART_S, "s", "assumed: detect, restart, reload");
	put_value(x, "M", c.cluster_mtbf_s, "s", "between failures of the cluster: mtbf / gpus");
}

static void explain_cost_interval(const struct draft *d, const struct plan *p, struct explanation *x)
{
	struct cost c = cost_of(&d->s, &p->step);

	put_result(x, "i", c.checkpoint_interval_s, "s", d->s.cost.mtbf_hours > 0 ? "sqrt(2 w M)" : "0: nothing fails",
		"Young 1974; Daly 2006");
	put_value(x, "w", c.checkpoint_s, "s", "14 bytes per parameter, 2 GB/s per node");
	put_value(x, "M", c.cluster_mtbf_s, "s", "mtbf / gpus");
	put_knob(x, d, "mtbf", "mtbf");
}

static const struct speed_row {
	const char *path;
	void (*explain)(const struct draft *, const struct plan *, struct explanation *);
} speed_rows[] = {
	{ "time.step_s", explain_step },
	{ "throughput.tokens_per_s", explain_tokens_per_s },
	{ "throughput.tokens_per_s_per_gpu", explain_tokens_per_gpu },
	{ "throughput.model_tflops_per_gpu", explain_model_flops },
	{ "throughput.mfu", explain_mfu },
	{ "throughput.hfu", explain_hfu },
	{ "throughput.band", explain_band },
	{ "cost.tokens", explain_cost_tokens },
	{ "cost.steps", explain_cost_steps },
	{ "cost.days", explain_cost_days },
	{ "cost.gpu_hours", explain_cost_hours },
	{ "cost.usd", explain_cost_usd },
	{ "cost.price_usd_per_hour", explain_cost_price },
	{ "cost.kwh", explain_cost_kwh },
	{ "cost.goodput", explain_cost_goodput },
	{ "cost.checkpoint_interval_s", explain_cost_interval },
};

enum { N_SPEED_ROWS = sizeof speed_rows / sizeof speed_rows[0] };

/* communication[i].* */

static const char *const traffic_members[] = { "ranks", "calls", "bytes_per_gpu", "seconds", "exposed_s" };

static const char *collective_formula(enum traffic t)
{
	static const char *const formulas[TRAFFIC_COUNT] = {
		[TRAFFIC_TP] = "k calls (a + S (n - 1)/n / B)",
		[TRAFFIC_CP] = "k calls (S / B + 20 us)",
		[TRAFFIC_EP] = "k calls (a + copies (n - 1)/n / B), by domain where it crosses them",
		[TRAFFIC_PP] = "k calls (S / B + 2 hops)",
		[TRAFFIC_DP_REDUCE] = "k calls (a + S (n - 1)/n / min(B, g nic) + hops)",
		[TRAFFIC_DP_GATHER] = "k calls (a + S (n - 1)/n / min(B, g nic) + hops)",
	};

	return formulas[t];
}

static void put_links(struct explanation *x, const struct scenario *s, const struct traffic_row *r)
{
	struct links k = comm_links(s);
	enum collective op = r->traffic == TRAFFIC_EP                      ? COLLECTIVE_ALL_TO_ALL
		: r->traffic == TRAFFIC_TP && !s->layout.sequence_parallel ? COLLECTIVE_ALL_REDUCE
									   : COLLECTIVE_GATHER;

	put_value(x, "n", r->time.ranks, "ranks", "--%s%s", r->group,
		r->time.across ? ", across link domains" : ", inside a link domain");
	put_value(x, "S", r->time.bytes_per_gpu / r->time.calls, "bytes", "of one call");
	put_value(x, "a", k.latency_s[op], "s", "family %s, measured with NCCL", s->cluster.family.id);
	put_value(x, "B", k.rate_bps[op], "B/s", "bus bandwidth inside the domain, family %s", s->cluster.family.id);
	put_value(x, "nic", k.nic_bps, "B/s", "network per GPU that is reached");
}

static void explain_traffic(
	const struct draft *d, const struct plan *p, const struct traffic_row *r, int member, struct explanation *x)
{
	const struct traffic_time *t = &r->time;
	const double results[] = { t->ranks, t->calls, t->bytes_per_gpu, t->seconds, t->exposed_s };
	static const char *const units[] = { "ranks", "calls", "bytes", "s", "s" };
	static const char *const formulas[] = { "size of the group", "per step and GPU", "calls S", NULL,
		"what no computation hides" };

	put_result(x, traffic_members[member], results[member], units[member],
		formulas[member] != NULL ? formulas[member] : collective_formula(r->traffic),
		"alpha-beta (Hockney 1994), NCCL bus bandwidths; meshplan-model(7)");
	put_value(x, "calls", t->calls, "", "%s of %s per step", r->what, r->group);
	put_links(x, &d->s, r);
	put_straggler(x, &p->step);
	put_note(x, "Over %s: %.3g s in all, %.3g s exposed.", r->link, t->seconds, t->exposed_s);
}

/* "communication[2].seconds". */
static bool explain_communication(const struct draft *d, const struct plan *p, const char *path, struct explanation *x)
{
	static const char head[] = "communication[";
	struct traffic_row rows[TRAFFIC_COUNT];
	size_t n = report_traffic(&d->s, p, rows);
	const char *digits = path + sizeof head - 1;
	char *end;
	unsigned long i;

	if (strncmp(path, head, sizeof head - 1) != 0 || *digits < '0' || *digits > '9')
		return false;
	i = strtoul(digits, &end, 10);
	if (i >= n || strncmp(end, "].", 2) != 0)
		return false;
	for (size_t m = 0; m < sizeof traffic_members / sizeof traffic_members[0]; m++)
		if (strcmp(end + 2, traffic_members[m]) == 0) {
			explain_traffic(d, p, &rows[i], (int)m, x);
			return true;
		}
	return false;
}

bool explain_speed(const struct draft *d, const struct plan *p, const char *path, struct explanation *x)
{
	if (!p->step.known)
		return false;
	for (size_t i = 0; i < N_SPEED_ROWS; i++)
		if (strcmp(path, speed_rows[i].path) == 0) {
			speed_rows[i].explain(d, p, x);
			return true;
		}
	for (int i = 0; i < STEP_PART_COUNT && strncmp(path, "time.", 5) == 0; i++)
		if (strcmp(path + 5, step_part_table[i].key) == 0) {
			explain_part(d, p, i, x);
			return true;
		}
	return explain_communication(d, p, path, x);
}

void explain_speed_paths(const struct plan *p, void (*each)(void *ctx, const char *path), void *ctx)
{
	char path[64];
	size_t n = 0;

	if (!p->step.known)
		return;
	for (size_t i = 0; i < N_SPEED_ROWS; i++)
		each(ctx, speed_rows[i].path);
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		(void)snprintf(path, sizeof path, "time.%s", step_part_table[i].key);
		each(ctx, path);
	}
	for (int t = 0; t < TRAFFIC_COUNT; t++) {
		if (p->step.traffic[t].calls <= 0)
			continue;
		for (size_t m = 0; m < sizeof traffic_members / sizeof traffic_members[0]; m++) {
			(void)snprintf(path, sizeof path, "communication[%zu].%s", n, traffic_members[m]);
			each(ctx, path);
		}
		n++;
	}
}
