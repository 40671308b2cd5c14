/* Every check returns the knob to change, its value, why not, and what is legal instead. The order is fixed: shape, cluster,
 * split of the model over ranks, sharding, schedule, batch, precision, offload and adapters. */
#include "rules.h"

#include "num.h"
#include "schedule.h"
#include "text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BIT(n) (1u << (n))
#define ALL_SCHEDULES (BIT(SCHEDULE_COUNT) - 1)
/* Of Megatron-LM's forks: sail-sg/zero-bubble, deepseek-ai/DualPipe. */
#define FORK_SCHEDULES                                                                                                           \
	(ALL_SCHEDULES & ~(BIT(SCHEDULE_NAIVE) | BIT(SCHEDULE_GPIPE) | BIT(SCHEDULE_GPIPE_LIFO) | BIT(SCHEDULE_LOOPED_BFS)))

/* clang-format off */
const struct framework_rules framework_rules_table[FRAMEWORK_COUNT] = {
	/* Never planned: resolved before. */
	[FRAMEWORK_AUTO] = { 0, 0, 0, 0, 0, 0, "" },
	[FRAMEWORK_MEGATRON] = { 0, 1, 1, 1, CAN_TP | CAN_SP | CAN_PP | CAN_VPP | CAN_CP | CAN_EP | CAN_ETP | CAN_OFFLOAD_CPU | CAN_LORA | CAN_SELECTIVE,
		BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED), "Megatron-LM megatron/training/arguments.py validate_args" },
	[FRAMEWORK_FSDP] = { 2, 3, 3, 3, CAN_TP | CAN_SP | CAN_PP | CAN_VPP | CAN_CP | CAN_EP | CAN_ETP | CAN_HSDP | CAN_OFFLOAD_CPU |
		CAN_OFFLOAD_PARAMS | CAN_LORA | CAN_QLORA | CAN_SELECTIVE,
		BIT(SCHEDULE_1F1B) | BIT(SCHEDULE_INTERLEAVED) | BIT(SCHEDULE_GPIPE) | BIT(SCHEDULE_LOOPED_BFS) | BIT(SCHEDULE_ZB1P_INTERLEAVED) |
		BIT(SCHEDULE_ZB_V) | BIT(SCHEDULE_DUALPIPEV),
		"torchtitan torchtitan/distributed/parallel_dims.py; torch.distributed.pipelining schedules" },
	[FRAMEWORK_DEEPSPEED] = { 0, 3, 1, 3, CAN_TP | CAN_PP | CAN_EP | CAN_OFFLOAD_CPU | CAN_OFFLOAD_NVME | CAN_OFFLOAD_PARAMS | CAN_LORA | CAN_QLORA,
		BIT(SCHEDULE_1F1B), "DeepSpeed deepspeed/runtime/pipe/engine.py (ZeRO-2 and 3 refuse pipelines); zero/config.py" },
	[FRAMEWORK_DDP] = { 0, 0, 0, 0, CAN_LORA | CAN_QLORA, BIT(SCHEDULE_1F1B), "torch.nn.parallel.DistributedDataParallel" },
	[FRAMEWORK_LESSON] = { 0, 3, 3, 0, CAN_TP | CAN_SP | CAN_PP | CAN_VPP | CAN_CP | CAN_EP | CAN_ETP | CAN_HSDP | CAN_OFFLOAD_CPU | CAN_OFFLOAD_NVME |
		CAN_SELECTIVE,
		ALL_SCHEDULES, "the lesson's memory_calculator" },
	[FRAMEWORK_ZERO_PAPER] = { 0, 3, 3, 0, CAN_TP | CAN_SP | CAN_PP | CAN_VPP | CAN_CP | CAN_EP | CAN_ETP | CAN_HSDP | CAN_OFFLOAD_CPU |
		CAN_OFFLOAD_NVME | CAN_SELECTIVE,
		ALL_SCHEDULES, "Rajbhandari 2020, table 1" },
};
/* clang-format on */

/* Estimators of states only: heads, widths and sequences do not enter, so nothing has to divide them. */
static bool states_only(const struct scenario *s)
{
	return s->profile.framework == FRAMEWORK_LESSON || s->profile.framework == FRAMEWORK_ZERO_PAPER;
}

static const char *framework_name(const struct scenario *s)
{
	return framework_names[s->profile.framework];
}

static uint32_t can(const struct scenario *s, uint32_t what)
{
	return framework_rules_table[s->profile.framework].can & what;
}

const char *rules_divisors(int64_t n, int64_t most, char *buf, size_t cap)
{
	size_t len = 0, listed = 0;

	buf[0] = '\0';
	for (int64_t d = 1; d <= most && d <= n && listed < 12; d++) {
		int got;

		if (n % d != 0)
			continue;
		got = snprintf(buf + len, cap - len, "%s%" PRId64, len > 0 ? " " : "", d);
		if (got < 0 || (size_t)got >= cap - len)
			break;
		len += (size_t)got;
		listed++;
	}
	return buf;
}

static enum err_code refuse(struct err *e, const char *knob, int64_t value, const char *why, const char *legal)
{
	return err_set(e, ERR_ILLEGAL, knob, "%s %" PRId64 " %s; legal here: %s", knob, value, why, legal);
}

/* Bits of the frameworks that train, not estimate, and can do something. */
static uint32_t frameworks_that_can(uint32_t need)
{
	uint32_t bits = 0;

	for (int f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_LESSON; f++)
		bits |= framework_rules_table[f].can & need ? BIT(f) : 0;
	return bits;
}

/* What a framework does not have, with those that do: "zero 3 is not in megatron (it is in fsdp)". */
static enum err_code absent(
	const struct scenario *s, struct err *e, const char *knob, const char *what, uint32_t having, const char *legal)
{
	char names[64] = "";
	size_t len = 0;

	for (int f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_LESSON; f++)
		if (having & BIT(f))
			len += (size_t)snprintf(names + len, sizeof names - len, " %s", framework_names[f]);
	return err_set(e, ERR_ILLEGAL, knob, "%s is not in %s%s%s%s; legal here: %s", what, framework_name(s),
		len > 0 ? " (it is in" : "", names, len > 0 ? ")" : "", legal);
}

static enum err_code only_one(const struct scenario *s, uint32_t need, const char *knob, int64_t value, struct err *e)
{
	char what[48];

	if (value == 1 || can(s, need))
		return ERR_OK;
	(void)snprintf(what, sizeof what, "%s %" PRId64, knob, value);
	return absent(s, e, knob, what, frameworks_that_can(need), "1");
}

/* 3 values of a struct, one loop: everything that counts ranks or sequences starts at 1. */
static enum err_code check_positive(const struct scenario *s, struct err *e)
{
	const struct {
		const char *knob;
		int64_t value, most;
	} counts[] = {
		{ "gpus", s->cluster.gpus, 1 << 20 },
		{ "gpus-per-node", s->cluster.gpus_per_node, 1024 },
		{ "tp", s->layout.tp, 1 << 16 },
		{ "pp", s->layout.pp, 1 << 16 },
		{ "vpp", s->layout.vpp, 1024 },
		{ "cp", s->layout.cp, 1 << 16 },
		{ "ep", s->layout.ep, 1 << 16 },
		{ "etp", s->layout.etp, 1 << 16 },
		{ "seq", s->training.seq, 1 << 30 },
		{ "micro-batch", s->training.micro_batch, 1 << 20 },
		{ "global-batch", s->training.global_batch, 1 << 30 },
		{ "recompute-every", s->training.recompute_every, 10000 },
		{ "lora-rank", s->training.lora_rank, 65536 },
	};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		if (counts[i].value < 1 || counts[i].value > counts[i].most)
			return err_set(e, ERR_RANGE, counts[i].knob, "%s %" PRId64 " is outside 1 .. %" PRId64, counts[i].knob,
				counts[i].value, counts[i].most);
	return ERR_OK;
}

static enum err_code check_ranks(const struct scenario *s, struct err *e)
{
	const struct layout *l = &s->layout;
	char legal[128], why[160];
	enum err_code code = only_one(s, CAN_TP, "tp", l->tp, e);

	if (code == ERR_OK)
		code = only_one(s, CAN_PP, "pp", l->pp, e);
	if (code == ERR_OK)
		code = only_one(s, CAN_CP, "cp", l->cp, e);
	if (code != ERR_OK)
		return code;
	if (scenario_dp(s) > 0)
		return ERR_OK;
	(void)snprintf(why, sizeof why, "x pp %" PRId64 " x cp %" PRId64 " does not divide %" PRId64 " GPUs", l->pp, l->cp,
		s->cluster.gpus);
	if (s->cluster.gpus % l->tp != 0)
		return refuse(e, "tp", l->tp, why, rules_divisors(s->cluster.gpus, s->cluster.gpus, legal, sizeof legal));
	(void)snprintf(why, sizeof why, "x tp %" PRId64 " x cp %" PRId64 " does not divide %" PRId64 " GPUs", l->tp, l->cp,
		s->cluster.gpus);
	if (s->cluster.gpus % (l->tp * l->pp) != 0)
		return refuse(e, "pp", l->pp, why, rules_divisors(s->cluster.gpus / l->tp, s->cluster.gpus, legal, sizeof legal));
	(void)snprintf(why, sizeof why, "x tp %" PRId64 " x pp %" PRId64 " does not divide %" PRId64 " GPUs", l->tp, l->pp,
		s->cluster.gpus);
	return refuse(
		e, "cp", l->cp, why, rules_divisors(s->cluster.gpus / (l->tp * l->pp), s->cluster.gpus, legal, sizeof legal));
}

static enum err_code check_tensor_parallel(const struct scenario *s, struct err *e)
{
	const struct model *m = &s->model;
	int64_t tp = s->layout.tp, kv = m->attention_type == ATTENTION_MLA ? m->heads : m->kv_heads;
	int64_t common = num_gcd(m->heads, kv);
	char legal[128], why[96];

	/* Src: Megatron-LM transformer_config.py (heads, query groups, ffn); torch DTensor shards whole heads likewise. */
	if (m->ffn > 0 && model_moe_layers(m, 0, m->layers) < m->layers)
		common = num_gcd(common, m->ffn);
	if (!states_only(s) && common % tp != 0) {
		if (m->heads % tp != 0)
			(void)snprintf(why, sizeof why, "does not divide %" PRId64 " heads", m->heads);
		else if (kv % tp != 0)
			(void)snprintf(why, sizeof why, "does not divide %" PRId64 " kv-heads", kv);
		else
			(void)snprintf(why, sizeof why, "does not divide ffn %" PRId64, m->ffn);
		return refuse(e, "tp", tp, why, rules_divisors(common, s->cluster.gpus, legal, sizeof legal));
	}
	if (!s->layout.sequence_parallel)
		return ERR_OK;
	if (!can(s, CAN_SP))
		return absent(s, e, "sequence-parallel", "sequence-parallel", frameworks_that_can(CAN_SP), "off");
	if (tp == 1)
		return err_set(e, ERR_ILLEGAL, "sequence-parallel", "sequence-parallel needs tp above 1; legal here: off");
	if (!states_only(s) && s->training.seq % (tp * s->layout.cp) != 0)
		return err_set(e, ERR_ILLEGAL, "sequence-parallel",
			"sequence-parallel: tp %" PRId64 " x cp %" PRId64 " does not divide seq %" PRId64 "; legal here: off", tp,
			s->layout.cp, s->training.seq);
	return ERR_OK;
}

static enum err_code check_context_parallel(const struct scenario *s, struct err *e)
{
	int64_t cp = s->layout.cp, pieces = cp > 1 ? 2 * cp : 1;
	char legal[128], why[96];

	/* Two pieces per rank balance the causal mask. Src: Megatron-LM get_batch_on_this_cp_rank. */
	if (states_only(s) || s->training.seq % pieces == 0)
		return ERR_OK;
	(void)snprintf(why, sizeof why, "needs seq %" PRId64 " to be a multiple of 2 cp", s->training.seq);
	return refuse(e, "cp", cp, why, rules_divisors(num_max(1, s->training.seq / 2), s->cluster.gpus, legal, sizeof legal));
}

static enum err_code check_experts(const struct scenario *s, struct err *e)
{
	const struct layout *l = &s->layout;
	int64_t pool = can(s, CAN_ETP) ? s->cluster.gpus / l->pp : scenario_dp(s);
	char legal[128], why[128];

	if (!model_is_moe(&s->model)) {
		if (l->ep == 1 && l->etp == 1)
			return ERR_OK;
		return refuse(e, l->ep > 1 ? "ep" : "etp", l->ep > 1 ? l->ep : l->etp, "needs a model with experts", "1");
	}
	if (l->ep > 1 && !can(s, CAN_EP))
		return only_one(s, CAN_EP, "ep", l->ep, e);
	if (l->etp > 1 && !can(s, CAN_ETP))
		return only_one(s, CAN_ETP, "etp", l->etp, e);
	/* Src: DeepSpeed deepspeed/runtime/engine.py _configure_zero_optimizer asserts it. */
	if (s->profile.framework == FRAMEWORK_DEEPSPEED && l->ep > 1 && l->zero == 3)
		return refuse(e, "ep", l->ep, "is not available with zero 3 of deepspeed", "1, or zero 0 1 2");
	if (s->model.experts % l->ep != 0) {
		(void)snprintf(why, sizeof why, "does not divide %" PRId64 " experts", s->model.experts);
		return refuse(e, "ep", l->ep, why, rules_divisors(s->model.experts, pool, legal, sizeof legal));
	}
	if (s->model.expert_ffn % l->etp != 0) {
		(void)snprintf(why, sizeof why, "does not divide expert-ffn %" PRId64, s->model.expert_ffn);
		return refuse(e, "etp", l->etp, why, rules_divisors(s->model.expert_ffn, l->tp, legal, sizeof legal));
	}
	if (pool % (l->ep * l->etp) != 0) {
		(void)snprintf(why, sizeof why, "x etp %" PRId64 " does not divide the %" PRId64 " ranks of a pipeline stage",
			l->etp, pool);
		return refuse(e, "ep", l->ep, why,
			rules_divisors(num_gcd(s->model.experts, num_max(1, pool / l->etp)), pool, legal, sizeof legal));
	}
	return ERR_OK;
}

static enum err_code check_stage_list(const struct scenario *s, struct err *e)
{
	const struct stage_list *list = &s->layout.stage_layers;
	int64_t chunks = s->layout.pp * s->layout.vpp, sum = 0;

	if (list->n != chunks)
		return err_set(e, ERR_ILLEGAL, "stage-layers", "stage-layers lists %d stages; pp x vpp is %" PRId64, (int)list->n,
			chunks);
	for (int32_t i = 0; i < list->n; i++)
		sum += list->layers[i];
	if (sum != s->model.layers)
		return err_set(e, ERR_ILLEGAL, "stage-layers",
			"stage-layers sum to %" PRId64 "; the model has %" PRId64 " layers", sum, s->model.layers);
	return ERR_OK;
}

static enum err_code check_stages(const struct scenario *s, struct err *e)
{
	const struct layout *l = &s->layout;
	int64_t chunks = l->pp * l->vpp, units = s->model.layers;
	char legal[128], why[96];
	const char *knob = l->vpp > 1 ? "vpp" : "pp";
	int64_t value = l->vpp > 1 ? l->vpp : l->pp, per = l->vpp > 1 ? l->pp : 1;

	if (chunks > STAGE_LIST_MAX)
		return err_set(e, ERR_RANGE, knob, "pp %" PRId64 " x vpp %" PRId64 " is more than %d chunks", l->pp, l->vpp,
			STAGE_LIST_MAX);
	if (l->stage_layers.n > 0)
		return check_stage_list(s, e);
	if (l->pp_split == PP_SPLIT_UNIFORM && units % chunks != 0) {
		(void)snprintf(
			why, sizeof why, "x %" PRId64 " does not divide %" PRId64 " layers (pp-split uniform)", per, units);
		return refuse(
			e, knob, value, why, rules_divisors(units, num_max(1, s->cluster.gpus / l->tp), legal, sizeof legal));
	}
	if (l->pp_split == PP_SPLIT_EMBED_HEAD && (units + 2) % chunks != 0) {
		(void)snprintf(why, sizeof why, "x %" PRId64 " does not divide %" PRId64 " layers + 2 (pp-split embed-head)", per,
			units);
		return refuse(
			e, knob, value, why, rules_divisors(units + 2, num_max(1, s->cluster.gpus / l->tp), legal, sizeof legal));
	}
	/* With embedding and head counted as a layer each, the first and the last chunk may hold nothing else (Llama 3.1 405B: 16
	 * x 8 chunks). */
	if (chunks > units && (units + 2) % chunks != 0) {
		(void)units_format_range(1, units / per, legal, sizeof legal);
		(void)snprintf(why, sizeof why, "x %" PRId64 " leaves stages without a layer (%" PRId64 " layers)", per, units);
		return refuse(e, knob, value, why, legal);
	}
	return ERR_OK;
}

uint32_t rules_schedules(const struct scenario *s)
{
	const struct framework_rules *rules = &framework_rules_table[s->profile.framework];

	return rules->schedules | (s->profile.schedules == SCHEDULES_FORKS ? FORK_SCHEDULES : 0);
}

/* One rank is plain gradient accumulation, whatever the schedule is called. PyTorch takes the group from the micro-batches
 * (ScheduleInterleaved1F1B: m / max(1, m / p)); Megatron-LM p unless told otherwise. */
struct pipeline scenario_pipeline(const struct scenario *s)
{
	struct pipeline pl = { .schedule = s->layout.schedule,
		.p = s->layout.pp,
		.m = scenario_micro_batches(s),
		.v = s->layout.vpp,
		.group = s->layout.group };
	int64_t rounds = pl.p > 0 ? num_max(1, pl.m / pl.p) : 1;

	if (pl.group == 0 && s->profile.framework == FRAMEWORK_FSDP && schedule_table[pl.schedule].has_groups && pl.m > 0 &&
		pl.m % rounds == 0)
		pl.group = pl.m / rounds;
	if (pl.p == 1 && pipeline_check(&pl, NULL) != ERR_OK)
		pl.schedule = SCHEDULE_1F1B;
	return pl;
}

/* The micro-batch that makes enough of them, else the batch that does. */
static enum err_code too_few_micro_batches(const struct scenario *s, const struct pipeline *pl, struct err *e)
{
	int64_t dp = scenario_dp(s), per = s->training.global_batch / dp;
	char legal[128];

	if (per < pl->p)
		(void)snprintf(legal, sizeof legal, "global-batch %" PRId64 " and more", pl->p * dp * s->training.micro_batch);
	else
		(void)rules_divisors(per, per / pl->p, legal, sizeof legal);
	return err_set(e, ERR_ILLEGAL, "micro-batch",
		"%s needs at least pp = %" PRId64 " micro-batches per step, here are %" PRId64 "; legal here: %s",
		schedule_table[pl->schedule].key, pl->p, pl->m, legal);
}

/* Megatron-LM refuses groups larger than the micro-batches of a step, which is where fewer of them than ranks end. Src:
 * transformer_config.py microbatch_group_size_per_vp_stage; schedules.py get_schedule_table. */
static enum err_code check_megatron_group(const struct scenario *s, const struct pipeline *pl, struct err *e)
{
	int64_t g = pl->group > 0 ? pl->group : pl->p;

	if (s->profile.framework != FRAMEWORK_MEGATRON || !schedule_table[pl->schedule].has_groups || pl->v == 1 ||
		(g >= pl->p && g <= pl->m))
		return ERR_OK;
	if (pl->m < pl->p)
		return too_few_micro_batches(s, pl, e);
	return err_set(e, ERR_ILLEGAL, pl->group > 0 ? "group" : "micro-batch",
		"%s groups of %" PRId64 " %s: legal here: %" PRId64 " (pp) .. %" PRId64 " (micro-batches per step)",
		schedule_table[pl->schedule].key, g, text_plural(g, "micro-batch", "micro-batches"), pl->p, pl->m);
}

static uint32_t frameworks_with_schedule(const struct scenario *s)
{
	uint32_t bits = 0;

	for (int f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_LESSON; f++)
		bits |= framework_rules_table[f].can & CAN_PP && framework_rules_table[f].schedules & BIT(s->layout.schedule)
			? BIT(f)
			: 0;
	return bits;
}

static enum err_code check_schedule(const struct scenario *s, struct err *e)
{
	struct pipeline pl = scenario_pipeline(s);
	char legal[256] = "", what[48];
	size_t len = 0;
	enum err_code code;

	if (s->layout.pp == 1) {
		/* One stage is plain gradient accumulation, whatever the schedule is called. */
		return s->layout.vpp == 1 ? ERR_OK : refuse(e, "vpp", s->layout.vpp, "needs pp above 1", "1");
	}
	if (rules_schedules(s) & BIT(s->layout.schedule)) {
		code = check_megatron_group(s, &pl, e);
		return code == ERR_OK ? pipeline_check(&pl, e) : code;
	}
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		if (rules_schedules(s) & BIT(i))
			len += (size_t)snprintf(
				legal + len, sizeof legal - len, "%s%s", len > 0 ? " " : "", schedule_table[i].key);
	(void)snprintf(what, sizeof what, "schedule %s", schedule_table[s->layout.schedule].key);
	return absent(s, e, "schedule", what, frameworks_with_schedule(s), legal);
}

static uint32_t frameworks_with_zero(const struct scenario *s)
{
	uint32_t bits = 0;

	for (int f = FRAMEWORK_AUTO + 1; f < FRAMEWORK_LESSON; f++) {
		const struct framework_rules *r = &framework_rules_table[f];
		const int64_t most = s->layout.pp > 1 ? r->zero_max_with_pp : r->zero_max;

		bits |= s->layout.zero >= r->zero_min && s->layout.zero <= most && (s->layout.pp == 1 || r->can & CAN_PP) ? BIT(f)
															  : 0;
	}
	return bits;
}

static enum err_code check_sharding(const struct scenario *s, struct err *e)
{
	const struct framework_rules *rules = &framework_rules_table[s->profile.framework];
	int64_t most = s->layout.pp > 1 ? rules->zero_max_with_pp : rules->zero_max, zero = s->layout.zero,
		group = s->layout.zero_group;
	int64_t ranks = scenario_dp(s) * s->layout.cp;
	char legal[128], why[128];

	if (zero < rules->zero_min || zero > most) {
		(void)units_format_range(rules->zero_min, most, legal, sizeof legal);
		(void)snprintf(why, sizeof why, "zero %" PRId64 "%s", zero,
			zero <= rules->zero_max && zero >= rules->zero_min ? " with pp above 1" : "");
		return absent(s, e, "zero", why, frameworks_with_zero(s), legal);
	}
	if (group == 0)
		return ERR_OK;
	if (!can(s, CAN_HSDP)) {
		(void)snprintf(why, sizeof why, "zero-group %" PRId64 " (sharding inside a group)", group);
		return absent(s, e, "zero-group", why, frameworks_that_can(CAN_HSDP), "0");
	}
	if (group < 0 || group > ranks || ranks % group != 0) {
		(void)snprintf(why, sizeof why, "does not divide the %" PRId64 " data-parallel ranks", ranks);
		return refuse(e, "zero-group", group, why, rules_divisors(ranks, ranks, legal, sizeof legal));
	}
	return ERR_OK;
}

static enum err_code check_batch(const struct scenario *s, struct err *e)
{
	int64_t dp = scenario_dp(s), batch = s->training.global_batch, per = num_max(1, batch / dp);
	char legal[128], why[128];

	if (scenario_micro_batches(s) > 0)
		return ERR_OK;
	if (batch < dp)
		return err_set(e, ERR_ILLEGAL, "global-batch",
			"global-batch %" PRId64 " is not a multiple of dp %" PRId64 "; nearest: %" PRId64, batch, dp, dp);
	if (batch % dp != 0)
		return err_set(e, ERR_ILLEGAL, "global-batch",
			"global-batch %" PRId64 " is not a multiple of dp %" PRId64 "; nearest: %" PRId64 " or %" PRId64, batch,
			dp, batch / dp * dp, num_round_up(batch, dp));
	(void)snprintf(why, sizeof why, "x dp %" PRId64 " does not divide global-batch %" PRId64, dp, batch);
	return refuse(e, "micro-batch", s->training.micro_batch, why, rules_divisors(per, per, legal, sizeof legal));
}

static enum err_code check_precision(const struct scenario *s, struct err *e)
{
	const struct gpu *g = &s->cluster.gpu;
	bool eight = scenario_eight_bit(s);
	const char *key = precision_choices[s->training.precision].key;

	if (g->id[0] == '\0' || states_only(s))
		return ERR_OK;
	if (eight && g->fp8_flops <= 0)
		return err_set(e, ERR_ILLEGAL, "precision",
			"precision %s: %s has no 8-bit tensor cores; legal here: bf16 fp16 fp32 pure-bf16", key, g->id);
	if (s->training.precision == PRECISION_NVFP4 && g->fp4_flops <= 0)
		return err_set(e, ERR_ILLEGAL, "precision",
			"precision %s: %s has no 4-bit tensor cores; legal here: bf16 fp16 fp32 pure-bf16%s", key, g->id,
			g->fp8_flops > 0 ? " fp8" : "");
	if (s->training.precision == PRECISION_TF32 && g->tf32_flops <= 0)
		return err_set(
			e, ERR_ILLEGAL, "precision", "precision tf32: %s has no TF32 tensor cores; legal here: fp32 fp16", g->id);
	return ERR_OK;
}

static enum err_code check_offload(const struct scenario *s, struct err *e)
{
	const struct training *t = &s->training;
	const bool cpu = can(s, CAN_OFFLOAD_CPU) != 0;

	if (t->offload == OFFLOAD_NVME && !can(s, CAN_OFFLOAD_NVME))
		return absent(s, e, "offload", "offload nvme", frameworks_that_can(CAN_OFFLOAD_NVME), cpu ? "none cpu" : "none");
	if (t->offload == OFFLOAD_CPU && !cpu)
		return absent(s, e, "offload", "offload cpu", frameworks_that_can(CAN_OFFLOAD_CPU), "none");
	if (t->offload != OFFLOAD_NONE && s->profile.framework == FRAMEWORK_DEEPSPEED && s->layout.zero == 0)
		return err_set(e, ERR_ILLEGAL, "offload", "offload %s needs zero 1 or more with deepspeed; legal here: none",
			offload_choices[t->offload].key);
	if (t->offload == OFFLOAD_NVME && s->profile.framework == FRAMEWORK_DEEPSPEED && s->layout.zero != 3)
		return err_set(e, ERR_ILLEGAL, "offload", "offload nvme needs zero 3 with deepspeed; legal here: none cpu");
	if (t->offload_params == OFFLOAD_NONE)
		return ERR_OK;
	if (!can(s, CAN_OFFLOAD_PARAMS))
		return absent(s, e, "offload-params", "offload-params", frameworks_that_can(CAN_OFFLOAD_PARAMS), "none");
	if (s->layout.zero != 3)
		return err_set(e, ERR_ILLEGAL, "offload-params", "offload-params needs zero 3; legal here: none");
	if (t->offload == OFFLOAD_NONE)
		return err_set(e, ERR_ILLEGAL, "offload-params",
			"offload-params needs the optimizer offloaded too (--offload cpu); legal here: none");
	if (t->offload_params == OFFLOAD_NVME && !can(s, CAN_OFFLOAD_NVME))
		return absent(s, e, "offload-params", "offload-params nvme", frameworks_that_can(CAN_OFFLOAD_NVME), "none cpu");
	return ERR_OK;
}

static enum err_code check_training(const struct scenario *s, struct err *e)
{
	const struct training *t = &s->training;
	char legal[48];

	if (t->recompute == RECOMPUTE_SELECTIVE && !can(s, CAN_SELECTIVE))
		return absent(s, e, "recompute", "recompute selective", frameworks_that_can(CAN_SELECTIVE), "none full");
	if (t->recompute_every > 1 && t->recompute != RECOMPUTE_FULL)
		return err_set(e, ERR_ILLEGAL, "recompute-every",
			"recompute-every %" PRId64 " needs recompute full; legal here: 1", t->recompute_every);
	if (t->recompute_every > s->model.layers)
		return err_set(e, ERR_ILLEGAL, "recompute-every",
			"recompute-every %" PRId64 " is more than the %" PRId64 " layers; legal here: %s", t->recompute_every,
			s->model.layers, units_format_range(1, s->model.layers, legal, sizeof legal));
	if (!(t->dropout >= 0 && t->dropout < 1))
		return err_set(e, ERR_RANGE, "dropout", "dropout %g is outside 0 .. 1", t->dropout);
	if (t->adapter == ADAPTER_LORA && !can(s, CAN_LORA))
		return absent(s, e, "adapter", "adapter lora", frameworks_that_can(CAN_LORA), "none");
	if (t->adapter == ADAPTER_QLORA && !can(s, CAN_QLORA))
		return absent(s, e, "adapter", "adapter qlora", frameworks_that_can(CAN_QLORA),
			can(s, CAN_LORA) ? "none lora" : "none");
	return ERR_OK;
}

enum err_code scenario_check(const struct scenario *s, struct err *e)
{
	static enum err_code (*const checks[])(const struct scenario *, struct err *) = {
		check_positive,
		check_ranks,
		check_tensor_parallel,
		check_context_parallel,
		check_experts,
		check_stages,
		check_sharding,
		check_batch,
		check_schedule,
		check_precision,
		check_offload,
		check_training,
	};
	enum err_code code = model_check(&s->model, e);

	if (code == ERR_OK && (s->profile.framework <= FRAMEWORK_AUTO || s->profile.framework >= FRAMEWORK_COUNT))
		code = err_set(e, ERR_USAGE, "framework", "no framework is chosen yet");
	for (size_t i = 0; code == ERR_OK && i < sizeof checks / sizeof checks[0]; i++)
		code = checks[i](s, e);
	return code;
}
