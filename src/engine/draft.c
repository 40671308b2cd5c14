/* Drafts: a scenario with the origin of each value. Rules that fill what is not given, and the repair of other knobs that a
 * change makes illegal. Legality has one home, scenario_check; everything here asks it. */
#include "draft_internal.h"

#include "num.h"
#include "rules.h"
#include "schedule.h"

#include <stdio.h>
#include <string.h>

static size_t index_of(const char *key)
{
	return knob_index(knob_find(key));
}

bool draft_given(const struct draft *d, size_t knob)
{
	return d->origin[knob] >= ORIGIN_FILE;
}

/* Part of a preset, chosen by the search, read from a file or given: not a rule's business. */
static bool decided(const struct draft *d, size_t knob)
{
	return d->origin[knob] != ORIGIN_DEFAULT;
}

void draft_init_blank(struct draft *d, const struct catalog *c)
{
	struct scenario *s = &d->s;

	memset(d, 0, sizeof *d);
	/* What no row states: rules fill it in, once there is a model, a GPU, a framework. */
	s->cluster.gpus_per_node = 8;
	s->layout.etp = 1;
	s->layout.schedule = SCHEDULE_1F1B;
	s->training.precision = PRECISION_BF16;
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		/* A default always is a value of its row: t_knobs. */
		enum err_code code = k->dflt != NULL ? knob_parse(k, c, k->dflt, s, NULL) : ERR_OK;

		(void)code;
	}
	if (c->n_coefficients > 0)
		s->coefficients = c->coefficients[0];
	draft_settle(d, c);
}

enum err_code draft_init(struct draft *d, const struct catalog *c, struct err *e)
{
	/* The scenario of a bare `meshplan`: it fits, and shows stages and a pipeline. */
	static const char *const values[][2] = {
		{ "model", "llama3-70b" },
		{ "gpu", "h100-sxm-80gb" },
		{ "gpus", "64" },
		{ "framework", "megatron" },
		{ "tp", "8" },
		{ "pp", "4" },
		{ "zero", "1" },
		{ "seq", "8192" },
		{ "micro-batch", "1" },
		{ "global-batch", "128" },
		{ "recompute", "none" },
	};

	draft_init_blank(d, c);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		enum err_code code = draft_set(d, c, knob_find(values[i][0]), values[i][1], ORIGIN_FLAG, e);

		if (code != ERR_OK)
			return code;
	}
	draft_settle(d, c);
	for (size_t i = 0; i < knob_count(); i++)
		if (d->origin[i] == ORIGIN_FLAG)
			d->origin[i] = ORIGIN_PRESET;
	return scenario_check(&d->s, e);
}

/* What a preset fills takes its origin, unless the user said otherwise before. */
static void mark_filled(struct draft *d, const struct knob *k)
{
	static const struct {
		enum knob_preset preset;
		const char *key;
	} filled[] = {
		{ PRESET_GPU, "gpu-mem" },
		{ PRESET_NODE, "gpus-per-node" },
		{ PRESET_NODE, "host-mem" },
		{ PRESET_NODE, "nvme" },
		{ PRESET_FRAMEWORK, "profile" },
		{ PRESET_PROFILE, "framework" },
	};

	for (size_t i = 0; i < sizeof filled / sizeof filled[0]; i++)
		if (filled[i].preset == k->preset)
			d->origin[index_of(filled[i].key)] =
				k->preset == PRESET_PROFILE ? d->origin[knob_index(k)] : ORIGIN_PRESET;
	if (k->preset != PRESET_MODEL && k->type != KNOB_PARAMS)
		return;
	for (size_t i = 0; i < knob_count(); i++)
		if ((knob_at(i)->flags & KNOB_F_SHAPE) && knob_at(i) != k)
			d->origin[i] = ORIGIN_PRESET;
}

enum err_code draft_set(
	struct draft *d, const struct catalog *c, const struct knob *k, const char *text, enum knob_origin origin, struct err *e)
{
	enum err_code code;

	/* dp follows from the rest, which may not be chosen yet: search_choose checks it. */
	code = k->type == KNOB_DP ? knob_parse_value(k, text, &d->dp_given, e) : knob_parse(k, c, text, &d->s, e);
	if (code != ERR_OK)
		return code;
	d->origin[knob_index(k)] = (uint8_t)origin;
	if (k->preset == PRESET_FRAMEWORK && d->s.profile.framework == FRAMEWORK_AUTO)
		d->origin[knob_index(k)] = ORIGIN_DEFAULT;
	mark_filled(d, k);
	return ERR_OK;
}

/* Rules for what is not given */

/* The node of the lesson's own ledger: 512 GB of host memory, 2 TB of NVMe. */
static const char lesson_node[] = "lesson-default";

static void settle_node(struct draft *d, const struct catalog *c)
{
	struct cluster *k = &d->s.cluster;
	const struct node *n;
	int64_t per_node = k->gpus_per_node, host = k->node.host_mem_bytes, nvme = k->node.nvme_bytes;

	/* A node of this GPU is right already: searches settle in their inner loop. */
	if (k->gpu.id[0] == '\0' ||
		(strcmp(k->node.gpu_id, k->gpu.id) == 0 && d->s.profile.framework != FRAMEWORK_LESSON &&
			strcmp(k->node.id, lesson_node) != 0))
		return;
	if (draft_given(d, index_of("node")))
		return;
	n = catalog_default_node(c, k->gpu.id, k->gpus);
	if (d->s.profile.framework == FRAMEWORK_LESSON)
		for (size_t i = 0; i < c->n_nodes; i++)
			if (strcmp(c->nodes[i].id, lesson_node) == 0)
				n = &c->nodes[i];
	if (n == NULL || strcmp(n->id, k->node.id) == 0)
		return;
	k->node = *n;
	k->gpus_per_node = draft_given(d, KNOB_OF(cluster.gpus_per_node)) ? per_node : n->gpus_per_node;
	if (draft_given(d, KNOB_OF(cluster.node.host_mem_bytes)))
		k->node.host_mem_bytes = host;
	if (draft_given(d, KNOB_OF(cluster.node.nvme_bytes)))
		k->node.nvme_bytes = nvme;
}

static void settle_training(struct draft *d)
{
	struct training *t = &d->s.training;
	const struct gpu *g = &d->s.cluster.gpu;

	if (!decided(d, KNOB_OF(training.precision)) && g->id[0] != '\0')
		t->precision = g->bf16_flops > 0 || g->fp16_flops <= 0 ? PRECISION_BF16 : PRECISION_FP16;
	if (!decided(d, KNOB_OF(training.seq)))
		t->seq = d->s.model.max_seq > 0 ? num_min(4096, d->s.model.max_seq) : 4096;
	if (!decided(d, KNOB_OF(training.global_batch)))
		t->global_batch = num_round_up(num_max(1, num_ceil_div(4194304, t->seq)), d->s.cluster.gpus);
}

static void settle_layout(struct draft *d)
{
	struct layout *y = &d->s.layout;
	const struct framework_rules *rules = &framework_rules_table[d->s.profile.framework];

	if (d->s.profile.framework == FRAMEWORK_AUTO)
		return;
	if (!decided(d, KNOB_OF(layout.zero)))
		y->zero = y->pp > 1 ? num_min(rules->zero_default, rules->zero_max_with_pp) : rules->zero_default;
	if (!draft_given(d, KNOB_OF(layout.sequence_parallel)))
		y->sequence_parallel = y->tp > 1 && (rules->can & CAN_SP) && d->s.training.seq % (y->tp * y->cp) == 0;
	if (!decided(d, KNOB_OF(layout.schedule)))
		y->schedule = y->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
	if (!decided(d, KNOB_OF(layout.etp)))
		y->etp = model_is_moe(&d->s.model) && (rules->can & CAN_ETP) && d->s.model.expert_ffn % y->tp == 0 &&
				(d->s.cluster.gpus / num_max(1, y->pp)) % (y->tp * y->ep) == 0
			? y->tp
			: 1;
}

void draft_settle(struct draft *d, const struct catalog *c)
{
	settle_node(d, c);
	settle_training(d);
	settle_layout(d);
}

/* Putting a value */

/* A degree of parallelism stays where it is when another layout or training knob changes; the rest gives way. */
static bool may_move(const struct knob *changed, const struct knob *blamed)
{
	if (blamed == NULL || blamed == changed || blamed->type == KNOB_PRESET || blamed->type == KNOB_DP)
		return false;
	if (!(blamed->flags & KNOB_F_RANKS))
		return true;
	return changed->group == KNOB_GROUP_MODEL || changed->group == KNOB_GROUP_CLUSTER ||
		changed->preset == PRESET_FRAMEWORK || changed->preset == PRESET_PROFILE;
}

static void note_move(struct knob_moves *moves, const struct knob *k, const char *from, const char *to)
{
	size_t i;

	if (moves == NULL)
		return;
	for (i = 0; i < moves->n && moves->moved[i].knob != knob_index(k); i++)
		;
	if (i == KNOB_MOVED_MAX)
		return;
	if (i == moves->n) {
		moves->n++;
		moves->moved[i].knob = knob_index(k);
		(void)snprintf(moves->moved[i].from, sizeof moves->moved[i].from, "%s", from);
	}
	(void)snprintf(moves->moved[i].to, sizeof moves->moved[i].to, "%s", to);
}

/* Moves the blamed knob to the nearest value that scenario_check no longer blames it for. */
static bool move_nearest(struct draft *d, const struct catalog *c, const struct knob *k, struct knob_moves *moves)
{
	struct value_set set = { .n = 0 };
	int64_t at = knob_get(k, &d->s), best = 0, best_distance = INT64_MAX;
	char from[32], to[32];

	if (k->type == KNOB_STAGES) {
		d->s.layout.stage_layers.n = 0;
		d->origin[knob_index(k)] = ORIGIN_DEFAULT;
		note_move(moves, k, "list", "auto");
		return true;
	}
	draft_values(k, c, d, &set);
	if (k->type == KNOB_INT && strcmp(k->key, "global-batch") == 0)
		value_set_insert(&set, num_round_up(at, num_max(1, scenario_dp(&d->s))));
	for (size_t i = 0; i < set.n; i++) {
		struct scenario trial = d->s;
		struct err e;
		int64_t distance = set.v[i] > at ? 2 * (set.v[i] - at) + 1 : 2 * (at - set.v[i]);

		if (set.v[i] == at || distance >= best_distance || knob_set(k, c, set.v[i], &trial, &e) != ERR_OK)
			continue;
		if (scenario_check(&trial, &e) == ERR_OK || strcmp(e.where, k->key) != 0) {
			best = set.v[i];
			best_distance = distance;
		}
	}
	if (best_distance == INT64_MAX)
		return false;
	(void)knob_format_pretty(k, &d->s, from, sizeof from);
	if (knob_set(k, c, best, &d->s, NULL) != ERR_OK)
		return false;
	(void)knob_format_pretty(k, &d->s, to, sizeof to);
	note_move(moves, k, from, to);
	return true;
}

/* The schedule and vpp go together: where one is in the way and cannot move alone, the pair does. */
static bool move_schedule(struct draft *d, const struct knob *changed, const struct knob *blamed, struct knob_moves *moves)
{
	const struct knob *schedule = knob_find("schedule"), *vpp = knob_find("vpp");
	struct draft trial = *d;
	struct err e = { .code = ERR_OK };

	if ((blamed != vpp && blamed != schedule) || changed == schedule)
		return false;
	if (changed != vpp)
		trial.s.layout.vpp = 1;
	trial.s.layout.schedule = trial.s.layout.vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
	if (trial.s.layout.schedule == d->s.layout.schedule ||
		(scenario_check(&trial.s, &e) != ERR_OK && (knob_find(e.where) == vpp || knob_find(e.where) == schedule)))
		return false;
	note_move(moves, schedule, schedule_table[d->s.layout.schedule].key, schedule_table[trial.s.layout.schedule].key);
	if (trial.s.layout.vpp != d->s.layout.vpp) {
		char from[32];

		(void)knob_format_pretty(vpp, &d->s, from, sizeof from);
		note_move(moves, vpp, from, "1");
	}
	*d = trial;
	return true;
}

/* After `changed` got its value: settles, and moves what is in the way until the whole is legal. */
static enum err_code repair(
	struct draft *d, const struct catalog *c, const struct knob *changed, struct knob_moves *moves, struct err *e)
{
	struct err local = { .code = ERR_OK };
	struct err *why = e != NULL ? e : &local;

	for (int round = 0; round < 16; round++) {
		const struct knob *blamed;
		enum err_code code;

		draft_settle(d, c);
		code = scenario_check(&d->s, why);
		if (code == ERR_OK)
			return ERR_OK;
		blamed = knob_find(why->where);
		/* A schedule that follows vpp would follow it back: the pair first. */
		if (blamed != NULL && strcmp(blamed->key, "schedule") == 0) {
			if (move_schedule(d, changed, blamed, moves))
				continue;
			if (!decided(d, KNOB_OF(layout.schedule)))
				return code;
		}
		if ((!may_move(changed, blamed) || !move_nearest(d, c, blamed, moves)) &&
			!move_schedule(d, changed, blamed, moves))
			return code;
	}
	return err_set(e, ERR_ILLEGAL, changed->key, "no legal scenario is near this value of %s", changed->key);
}

/* Enters a typed or stepped value, then repairs. */
static enum err_code finish_put(struct draft *d, const struct draft *trial, const struct catalog *c, const struct knob *k,
	struct knob_moves *moves, struct err *e)
{
	struct draft next = *trial;
	enum err_code code;

	next.origin[knob_index(k)] = ORIGIN_FLAG;
	mark_filled(&next, k);
	code = repair(&next, c, k, moves, e);
	if (code == ERR_OK)
		*d = next;
	return code;
}

enum err_code draft_put(
	struct draft *d, const struct catalog *c, const struct knob *k, int64_t value, struct knob_moves *moves, struct err *e)
{
	struct draft trial = *d;
	enum err_code code;

	if (moves != NULL)
		moves->n = 0;
	code = knob_set(k, c, value, &trial.s, e);
	return code != ERR_OK ? code : finish_put(d, &trial, c, k, moves, e);
}

enum err_code draft_type(
	struct draft *d, const struct catalog *c, const struct knob *k, const char *text, struct knob_moves *moves, struct err *e)
{
	struct draft trial = *d;
	enum err_code code;

	if (moves != NULL)
		moves->n = 0;
	code = knob_parse(k, c, text, &trial.s, e);
	return code != ERR_OK ? code : finish_put(d, &trial, c, k, moves, e);
}
