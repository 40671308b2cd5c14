/* The stops of the sliders: the values a knob offers in a draft, which of them are legal there, steps from one to the next. */
#include "draft_internal.h"

#include "num.h"

#include <string.h>

void value_set_insert(struct value_set *set, int64_t value)
{
	size_t i = 0;

	while (i < set->n && set->v[i] < value)
		i++;
	if (set->n == VALUE_SET_MAX || (i < set->n && set->v[i] == value))
		return;
	memmove(&set->v[i + 1], &set->v[i], (set->n - i) * sizeof set->v[0]);
	set->v[i] = value;
	set->n++;
}

static void insert_powers(struct value_set *set, int64_t from, int64_t to)
{
	for (int64_t p = 1; p <= to; p *= 2)
		if (p >= from)
			value_set_insert(set, p);
}

static void insert_divisors(struct value_set *set, int64_t n)
{
	for (int64_t p = 1; p <= num_min(n, 4096) && set->n < 40; p++)
		if (n % p == 0)
			value_set_insert(set, p);
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
			value_set_insert(set, n);
	} else if (strcmp(k->key, "seq") == 0) {
		insert_powers(set, 256, num_max(131072, s->model.max_seq));
	} else if (strcmp(k->key, "micro-batch") == 0) {
		insert_powers(set, 1, num_max(64, num_min(1024, s->training.global_batch / dp)));
	} else if (strcmp(k->key, "global-batch") == 0) {
		insert_powers(set, 1, 65536);
		for (int64_t n = dp * s->training.micro_batch; n <= 65536 && n > 0; n *= 2)
			value_set_insert(set, n);
	} else if (strcmp(k->key, "vpp") == 0) {
		insert_powers(set, 1, 16);
		insert_divisors(set, num_min(64, num_max(1, s->model.layers / num_max(1, s->layout.pp))));
	} else if (strcmp(k->key, "tokens") == 0) {
		value_set_insert(set, 0);
		for (int64_t n = 1000000000; n <= 100000000000000; n *= 10) {
			value_set_insert(set, n);
			value_set_insert(set, 2 * n);
			value_set_insert(set, 5 * n);
		}
	} else {
		insert_powers(set, (int64_t)k->min, num_min((int64_t)k->max, 1024));
		if (k->min <= 0)
			value_set_insert(set, 0);
	}
}

static void linear_stops(const struct knob *k, int64_t at, struct value_set *set)
{
	const int64_t reach = 24;

	if (k->max - k->min <= (double)(2 * reach)) {
		for (int64_t v = (int64_t)k->min; v <= (int64_t)k->max; v += k->step)
			value_set_insert(set, v);
		return;
	}
	for (int64_t i = -reach; i <= reach; i++) {
		int64_t v = (at / k->step + i) * k->step;

		if ((double)v >= k->min && (double)v <= k->max)
			value_set_insert(set, v);
	}
}

static void insert_real(const struct knob *k, double v, struct value_set *set)
{
	if (v >= k->min && v <= k->max)
		value_set_insert(set, num_round(v * KNOB_REAL_SCALE));
}

/* Ratios: twentieths up to two, then halves. Other reals: the round numbers of each power of ten within a factor of thirty of the
 * value. The stops are the same wherever one stands, so a step up and one down end where they began. */
static void real_stops(const struct knob *k, int64_t at, struct value_set *set)
{
	static const double round[] = { 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8 };
	const double now = at > 0 ? (double)at / KNOB_REAL_SCALE : 10, reach = at > 0 ? 30 : 100;
	double power = 0.01;

	insert_real(k, 0, set);
	if (k->max <= 10) {
		for (int i = 1; i <= 40; i++)
			insert_real(k, i / 20.0, set);
		for (int i = 5; i <= 20; i++)
			insert_real(k, i / 2.0, set);
		return;
	}
	while (power <= k->max) {
		for (size_t i = 0; i < sizeof round / sizeof round[0]; i++) {
			if (power * round[i] >= now / reach && power * round[i] <= now * reach)
				insert_real(k, power * round[i], set);
		}
		power *= 10;
	}
}

void draft_values(const struct knob *k, const struct catalog *c, const struct draft *d, struct value_set *set)
{
	int64_t at = knob_get(k, &d->s);

	switch (k->type) {
	case KNOB_PRESET:
		for (size_t i = 0; i < VALUE_SET_MAX && knob_preset_id(k, c, i) != NULL; i++)
			value_set_insert(set, (int64_t)i);
		return;
	case KNOB_ENUM:
		for (int64_t v = k->preset == PRESET_FRAMEWORK; k->name_at(v) != NULL; v++)
			value_set_insert(set, v);
		break;
	case KNOB_FLAG:
	case KNOB_BIAS:
		value_set_insert(set, 0);
		value_set_insert(set, 1);
		break;
	case KNOB_PARAMS:
		for (size_t i = 0; i < sizeof params_stops / sizeof params_stops[0]; i++)
			value_set_insert(set, num_round(params_stops[i]));
		break;
	case KNOB_CAPACITY:
		for (size_t i = 0; i < sizeof card_gb_stops / sizeof card_gb_stops[0]; i++)
			value_set_insert(set, card_gb_stops[i] * 1000000000);
		break;
	case KNOB_BYTES:
		value_set_insert(set, 0);
		for (int64_t gb = 64; gb <= 65536; gb *= 2)
			value_set_insert(set, gb * 1000000000);
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
	value_set_insert(set, at);
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

	draft_values(k, c, d, &set);
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
	draft_values(k, c, d, &set);
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
