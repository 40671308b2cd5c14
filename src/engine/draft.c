/* Drafts: a scenario with the origin of each value. Rules that fill what is not given, sliders' stops, steps, and the repair of
 * other knobs that a change makes illegal. Legality has one home, scenario_check; everything here asks it. */
#include "knobs.h"

#include "memory.h"
#include "num.h"
#include "rules.h"
#include "schedule.h"
#include "sink.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t index_of(const char *key)
{
	return knob_index(knob_find(key));
}

static bool given(const struct draft *d, size_t knob)
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
	s->cluster.gpus = 1;
	s->cluster.gpus_per_node = 8;
	s->layout = (struct layout){ .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .schedule = SCHEDULE_1F1B };
	s->training = (struct training){ .precision = PRECISION_BF16,
		.seq = 4096,
		.micro_batch = 1,
		.global_batch = 1,
		.recompute_every = 1,
		.lora_rank = 16 };
	s->cost = (struct economics){ .pue = 1.2, .mtbf_hours = 50000, .goodput = 0.85 };
	s->profile = (struct profile){ .id = "auto", .framework = FRAMEWORK_AUTO };
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
	if (given(d, index_of("node")))
		return;
	n = catalog_default_node(c, k->gpu.id);
	if (d->s.profile.framework == FRAMEWORK_LESSON)
		for (size_t i = 0; i < c->n_nodes; i++)
			if (strcmp(c->nodes[i].id, lesson_node) == 0)
				n = &c->nodes[i];
	if (n == NULL || strcmp(n->id, k->node.id) == 0)
		return;
	k->node = *n;
	k->gpus_per_node = given(d, KNOB_OF(cluster.gpus_per_node)) ? per_node : n->gpus_per_node;
	if (given(d, KNOB_OF(cluster.node.host_mem_bytes)))
		k->node.host_mem_bytes = host;
	if (given(d, KNOB_OF(cluster.node.nvme_bytes)))
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
	if (!given(d, KNOB_OF(layout.sequence_parallel)))
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

/* Stops */

enum { STOPS_MAX = 160 };

/* A sorted set of values. */
struct value_set {
	int64_t v[STOPS_MAX];
	size_t n;
};

static void set_insert(struct value_set *set, int64_t value)
{
	size_t i = 0;

	while (i < set->n && set->v[i] < value)
		i++;
	if (set->n == STOPS_MAX || (i < set->n && set->v[i] == value))
		return;
	memmove(&set->v[i + 1], &set->v[i], (set->n - i) * sizeof set->v[0]);
	set->v[i] = value;
	set->n++;
}

static void insert_powers(struct value_set *set, int64_t from, int64_t to)
{
	for (int64_t p = 1; p <= to; p *= 2)
		if (p >= from)
			set_insert(set, p);
}

static void insert_divisors(struct value_set *set, int64_t n)
{
	for (int64_t p = 1; p <= num_min(n, 4096) && set->n < 40; p++)
		if (n % p == 0)
			set_insert(set, p);
}

/* Sizes people train, as stops of the params slider. */
static const double params_stops[] = { 0.125e9, 0.35e9, 0.5e9, 0.76e9, 1e9, 1.3e9, 1.7e9, 2e9, 2.7e9, 3e9, 4e9, 5e9, 6.7e9, 7e9,
	8e9, 10e9, 13e9, 15e9, 20e9, 30e9, 34e9, 40e9, 50e9, 65e9, 70e9, 80e9, 100e9, 130e9, 175e9, 200e9, 250e9, 300e9, 405e9,
	500e9, 700e9, 1e12, 1.5e12, 2e12 };
static const int64_t card_gb_stops[] = { 16, 24, 32, 40, 48, 64, 80, 96, 141, 180, 192, 288 };

/* Powers of two up to what makes sense for this knob here, plus the divisors that could be legal. */
static void log_stops(const struct knob *k, const struct draft *d, struct value_set *set)
{
	const struct scenario *s = &d->s;
	int64_t gpus = s->cluster.gpus, dp = num_max(1, scenario_dp(s));

	if (k->flags & KNOB_F_RANKS) {
		insert_powers(set, 1, num_max(64, num_min(gpus, 1024)));
		insert_divisors(set, gpus);
	} else if (strcmp(k->key, "gpus") == 0) {
		insert_powers(set, 1, 65536);
		for (int64_t n = 3 * s->cluster.gpus_per_node; n <= 32768 && n > 0; n *= 2)
			set_insert(set, n);
	} else if (strcmp(k->key, "seq") == 0) {
		insert_powers(set, 256, num_max(131072, s->model.max_seq));
	} else if (strcmp(k->key, "micro-batch") == 0) {
		insert_powers(set, 1, num_max(64, num_min(1024, s->training.global_batch / dp)));
	} else if (strcmp(k->key, "global-batch") == 0) {
		insert_powers(set, 1, 65536);
		for (int64_t n = dp * s->training.micro_batch; n <= 65536 && n > 0; n *= 2)
			set_insert(set, n);
	} else if (strcmp(k->key, "vpp") == 0) {
		insert_powers(set, 1, 16);
		insert_divisors(set, num_min(64, num_max(1, s->model.layers / num_max(1, s->layout.pp))));
	} else if (strcmp(k->key, "tokens") == 0) {
		set_insert(set, 0);
		for (int64_t n = 1000000000; n <= 100000000000000; n *= 10) {
			set_insert(set, n);
			set_insert(set, 2 * n);
			set_insert(set, 5 * n);
		}
	} else {
		insert_powers(set, (int64_t)k->min, num_min((int64_t)k->max, 1024));
		if (k->min <= 0)
			set_insert(set, 0);
	}
}

static void linear_stops(const struct knob *k, int64_t at, struct value_set *set)
{
	const int64_t reach = 24;

	if (k->max - k->min <= (double)(2 * reach)) {
		for (int64_t v = (int64_t)k->min; v <= (int64_t)k->max; v += k->step)
			set_insert(set, v);
		return;
	}
	for (int64_t i = -reach; i <= reach; i++) {
		int64_t v = (at / k->step + i) * k->step;

		if ((double)v >= k->min && (double)v <= k->max)
			set_insert(set, v);
	}
}

static void insert_real(const struct knob *k, double v, struct value_set *set)
{
	if (v >= k->min && v <= k->max)
		set_insert(set, num_round(v * KNOB_REAL_SCALE));
}

/* Ratios: twentieths up to two, then halves. Other reals: the round numbers of each power of ten within a factor of thirty of the
 * value. The stops are the same wherever one stands, so a step up and one down end where they began. */
static void real_stops(const struct knob *k, int64_t at, struct value_set *set)
{
	static const double round[] = { 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8 };
	const double now = at > 0 ? (double)at / KNOB_REAL_SCALE : 10, reach = at > 0 ? 30 : 100;

	insert_real(k, 0, set);
	if (k->max <= 10) {
		for (int i = 1; i <= 40; i++)
			insert_real(k, i / 20.0, set);
		for (int i = 5; i <= 20; i++)
			insert_real(k, i / 2.0, set);
		return;
	}
	for (double power = 0.01; power <= k->max; power *= 10) {
		for (size_t i = 0; i < sizeof round / sizeof round[0]; i++) {
			if (power * round[i] >= now / reach && power * round[i] <= now * reach)
				insert_real(k, power * round[i], set);
		}
	}
}

static void natural_values(const struct knob *k, const struct catalog *c, const struct draft *d, struct value_set *set)
{
	int64_t at = knob_get(k, &d->s);

	switch (k->type) {
	case KNOB_PRESET:
		for (size_t i = 0; i < STOPS_MAX && knob_preset_id(k, c, i) != NULL; i++)
			set_insert(set, (int64_t)i);
		return;
	case KNOB_ENUM:
		for (int64_t v = k->preset == PRESET_FRAMEWORK; k->name_at(v) != NULL; v++)
			set_insert(set, v);
		break;
	case KNOB_FLAG:
	case KNOB_BIAS:
		set_insert(set, 0);
		set_insert(set, 1);
		break;
	case KNOB_PARAMS:
		for (size_t i = 0; i < sizeof params_stops / sizeof params_stops[0]; i++)
			set_insert(set, num_round(params_stops[i]));
		break;
	case KNOB_CAPACITY:
		for (size_t i = 0; i < sizeof card_gb_stops / sizeof card_gb_stops[0]; i++)
			set_insert(set, card_gb_stops[i] * 1000000000);
		break;
	case KNOB_BYTES:
		set_insert(set, 0);
		for (int64_t gb = 64; gb <= 65536; gb *= 2)
			set_insert(set, gb * 1000000000);
		break;
	case KNOB_REAL:
	case KNOB_DROPOUT:
		real_stops(k, at, set);
		if (k == knob_at(KNOB_OF(cost.price)))
			insert_real(k, d->s.cluster.gpu.usd_per_hour, set);
		break;
	case KNOB_INT:
		if (k->flags & KNOB_F_LOG)
			log_stops(k, d, set);
		else
			linear_stops(k, at, set);
		break;
	case KNOB_DP:
	case KNOB_STAGES:
		break;
	}
	set_insert(set, at);
}

/* Index of the preset that is set now, or 0. */
static int64_t preset_at(const struct knob *k, const struct catalog *c, const struct draft *d)
{
	char id[64];

	(void)knob_format(k, &d->s, id, sizeof id);
	for (size_t i = 0; knob_preset_id(k, c, i) != NULL; i++)
		if (strcmp(knob_preset_id(k, c, i), id) == 0)
			return (int64_t)i;
	return -1;
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
	natural_values(k, c, d, &set);
	if (k->type == KNOB_INT && strcmp(k->key, "global-batch") == 0)
		set_insert(&set, num_round_up(at, num_max(1, scenario_dp(&d->s))));
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
	struct err local;
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

static bool can_put(const struct draft *d, const struct catalog *c, const struct knob *k, int64_t value)
{
	struct draft trial = *d;

	return draft_put(&trial, c, k, value, NULL, NULL) == ERR_OK;
}

size_t knob_stops(
	const struct knob *k, const struct catalog *c, const struct draft *d, struct knob_stop *stops, size_t cap, size_t *at)
{
	struct value_set set = { .n = 0 };
	int64_t now = k->type == KNOB_PRESET ? preset_at(k, c, d) : knob_get(k, &d->s);
	size_t n;

	natural_values(k, c, d, &set);
	n = (size_t)num_min((int64_t)set.n, (int64_t)cap);
	*at = 0;
	for (size_t i = 0; i < n; i++) {
		/* A preset always applies: the rest gives way. */
		bool legal = k->type == KNOB_PRESET || set.v[i] == now || can_put(d, c, k, set.v[i]);

		stops[i] = (struct knob_stop){ .value = set.v[i], .legal = legal };
		if (set.v[i] == now)
			*at = i;
	}
	return n;
}

enum err_code draft_step(
	struct draft *d, const struct catalog *c, const struct knob *k, int steps, struct knob_moves *moves, struct err *e)
{
	struct value_set set = { .n = 0 };
	int64_t now = k->type == KNOB_PRESET ? preset_at(k, c, d) : knob_get(k, &d->s);
	int dir = steps < 0 ? -1 : 1, left = steps * dir;
	int64_t i = -1, reached = -1;
	struct err first = { .code = ERR_OK };

	if (moves != NULL)
		moves->n = 0;
	natural_values(k, c, d, &set);
	if (k->type == KNOB_DP || k->type == KNOB_STAGES)
		return err_set(e, ERR_ILLEGAL, k->key,
			k->type == KNOB_DP ? "dp follows from gpus, tp, pp and cp"
					   : "stage-layers is typed: a list like 11,10,10,11, or auto");
	for (size_t j = 0; j < set.n; j++)
		if (set.v[j] == now)
			i = (int64_t)j;
	for (i += dir; i >= 0 && i < (int64_t)set.n && left > 0; i += dir) {
		struct draft trial = *d;
		struct err why = { .code = ERR_OK };

		if (draft_put(&trial, c, k, set.v[i], NULL, &why) == ERR_OK) {
			reached = i;
			left--;
		} else if (first.code == ERR_OK) {
			first = why;
		}
	}
	if (reached >= 0)
		return draft_put(d, c, k, set.v[reached], moves, e);
	if (first.code != ERR_OK) {
		if (e != NULL)
			*e = first;
		return first.code;
	}
	return err_set(e, ERR_ILLEGAL, k->key, "%s is at its %s stop", k->key, dir < 0 ? "first" : "last");
}

/* The command line */

static bool auto_is_moot(const struct knob *k, const struct scenario *s)
{
	if (strcmp(k->key, "profile") == 0)
		return s->profile.is_default;
	if (strcmp(k->key, "ep") == 0 || strcmp(k->key, "etp") == 0)
		return !model_is_moe(&s->model);
	if (strcmp(k->key, "vpp") == 0 || strcmp(k->key, "schedule") == 0)
		return s->layout.pp == 1;
	if (strcmp(k->key, "cp") == 0)
		return s->layout.cp == 1 && !(framework_rules_table[s->profile.framework].can & CAN_CP);
	if (strcmp(k->key, "sequence-parallel") == 0)
		return s->layout.tp == 1;
	return false;
}

/* Puts a text into single quotes if the shell would read it. */
static void shell_word(struct sink *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-,/+=:@%";

	if (text[0] != '\0' && strspn(text, plain) == strlen(text)) {
		sink_puts(out, text);
		return;
	}
	sink_puts(out, "'");
	for (; *text != '\0'; text++)
		if (*text == '\'')
			sink_puts(out, "'\\''");
		else
			sink_write(out, text, 1);
	sink_puts(out, "'");
}

static bool chooses_framework(const struct knob *k)
{
	return k->preset == PRESET_FRAMEWORK || k->preset == PRESET_PROFILE;
}

/* One option of the command line, unless *ref, what the line says so far, has that value already. */
static void write_option(
	const struct draft *d, const struct catalog *c, const struct knob *k, struct draft *ref, struct sink *out)
{
	char mine[1200], theirs[1200];

	if (k->type == KNOB_DP || k->preset == PRESET_MODEL || k->preset == PRESET_GPU || k->type == KNOB_PARAMS)
		return;
	(void)knob_format(k, &d->s, mine, sizeof mine);
	(void)knob_format(k, &ref->s, theirs, sizeof theirs);
	if (strcmp(mine, theirs) == 0 && (!(k->flags & KNOB_F_AUTO) || auto_is_moot(k, &d->s)))
		return;
	if ((strcmp(k->key, "profile") == 0 && d->s.profile.is_default) ||
		(k->type == KNOB_CAPACITY && d->s.cluster.gpu_mem_bytes == 0))
		return;
	sink_printf(out, " --%s ", k->key);
	shell_word(out, mine);
	if (draft_set(ref, c, k, mine, ORIGIN_FLAG, NULL) == ERR_OK)
		draft_settle(ref, c);
}

void draft_command_line(const struct draft *d, const struct catalog *c, const char *subcommand, struct sink *out)
{
	struct draft ref;
	bool custom = strcmp(d->s.model.id, "custom") == 0;

	draft_init_blank(&ref, c);
	sink_printf(out, "meshplan %s ", subcommand);
	if (custom) {
		char params[32];
		int64_t n = model_params(&d->s.model);

		(void)snprintf(params, sizeof params, "%" PRId64, n);
		/* A round size is a word of the scenario, "70B"; others are a flag. */
		if (n % 1000000 == 0)
			sink_printf(out, "%.12gB", (double)n / 1e9);
		else
			sink_printf(out, "--params %s", params);
		if (draft_set(&ref, c, knob_find("params"), params, ORIGIN_FLAG, NULL) != ERR_OK)
			ref.s.model = d->s.model;
	} else {
		shell_word(out, d->s.model.id);
		ref.s.model = d->s.model;
	}
	if (d->s.cluster.gpu.id[0] != '\0') {
		sink_printf(out, " %" PRId64 "x", d->s.cluster.gpus);
		shell_word(out, d->s.cluster.gpu.id);
		ref.s.cluster.gpu = d->s.cluster.gpu;
	}
	ref.s.cluster.gpus = d->s.cluster.gpus;
	draft_settle(&ref, c);
	/* The framework decides on the node where none is given: first, so that a node that differs is written. */
	for (size_t i = 0; i < knob_count(); i++)
		if (chooses_framework(knob_at(i)))
			write_option(d, c, knob_at(i), &ref, out);
	for (size_t i = 0; i < knob_count(); i++)
		if (!chooses_framework(knob_at(i)))
			write_option(d, c, knob_at(i), &ref, out);
}
