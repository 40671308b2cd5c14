#include "runs_row.h"

#include "scenario.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_CAP = 48, VALUE_CAP = 1200 };

static size_t find(const struct runs_row *r, const char *key)
{
	size_t i = 0;

	while (i < r->n && (r->key[i][0] != key[0] || strcmp(r->key[i], key) != 0))
		i++;
	return i;
}

const char *runs_get(const struct runs_row *r, const char *key)
{
	size_t i = find(r, key);

	return i < r->n ? r->value[i] : "";
}

static bool parse(const char *text, double *value)
{
	return units_parse_real(text, "", value, NULL) == ERR_OK;
}

double runs_number(const struct runs_row *r, const char *key, double otherwise)
{
	double value;

	return parse(runs_get(r, key), &value) ? value : otherwise;
}

static const char *keep(struct runs_row *r, const char *text)
{
	size_t len = strlen(text) + 1;
	char *at = r->pool + r->used;

	if (len > sizeof r->pool - r->used) {
		r->full = true;
		return "";
	}
	memcpy(at, text, len);
	r->used += len;
	return at;
}

void runs_set(struct runs_row *r, const char *key, const char *value)
{
	size_t i = find(r, key);

	if (i == r->n) {
		if (r->n == RUNS_KEYS) {
			r->full = true;
			return;
		}
		r->key[r->n++] = keep(r, key);
	}
	r->value[i] = keep(r, value);
}

/* One clause of `when` or `set`. */
struct clause {
	char key[KEY_CAP], op[3], value[VALUE_CAP];
};

/* Reads the clause at *p and moves behind it; false at the end or where it is malformed (then *p stays on text). */
static bool next_clause(const char **p, struct clause *c)
{
	static const char *const ops[] = { "?=", "!=", "!~", "<=", ">=", "=", "~" };
	size_t len = strspn(*p, "abcdefghijklmnopqrstuvwxyz0123456789_.-"), value;
	const char *at = *p + len, *op = NULL;

	if (len == 0 || len >= sizeof c->key)
		return false;
	for (size_t i = 0; i < sizeof ops / sizeof ops[0] && op == NULL; i++)
		if (strncmp(at, ops[i], strlen(ops[i])) == 0)
			op = ops[i];
	if (op == NULL)
		return false;
	at += strlen(op);
	value = strcspn(at, ";");
	if (value >= sizeof c->value)
		return false;
	(void)snprintf(c->key, sizeof c->key, "%.*s", (int)len, *p);
	(void)snprintf(c->op, sizeof c->op, "%s", op);
	(void)snprintf(c->value, sizeof c->value, "%.*s", (int)value, at);
	*p = at + value;
	*p += strspn(*p, "; ");
	return true;
}

/* Whether one of the alternatives a|b|c equals `text`, is a prefix of it (a*), or is contained in it. */
static bool any_of(const char *text, const char *alternatives, bool contained)
{
	char word[VALUE_CAP];

	for (const char *p = alternatives;; p++) {
		size_t len = strcspn(p, "|");
		bool prefix = !contained && len > 0 && p[len - 1] == '*';

		(void)snprintf(word, sizeof word, "%.*s", (int)(prefix ? len - 1 : len), p);
		if (contained ? strstr(text, word) != NULL : prefix ? strncmp(text, word, len - 1) == 0 : strcmp(text, word) == 0)
			return true;
		p += len;
		if (*p == '\0')
			return false;
	}
}

static bool holds(const struct runs_row *r, const struct clause *c)
{
	const char *text = runs_get(r, c->key);
	double value, limit;

	if (c->op[0] == '<' || c->op[0] == '>') {
		if (!parse(text, &value) || !parse(c->value, &limit))
			return false;
		return c->op[0] == '<' ? value <= limit : value >= limit;
	}
	if (c->op[0] == '!')
		return !any_of(text, c->value, c->op[1] == '~');
	return any_of(text, c->value, c->op[0] == '~');
}

/* Whether the clauses hold. */
static bool matches(const struct runs_row *r, const char *when)
{
	struct clause c;

	while (next_clause(&when, &c))
		if (!holds(r, &c))
			return false;
	return *when == '\0';
}

/* Expressions */

static void write_list(const int64_t *layers, int64_t n, char *buf, size_t cap)
{
	size_t len = 0;

	for (int64_t i = 0; i < n && len < cap; i++)
		len += (size_t)snprintf(buf + len, cap - len, "%s%lld", i > 0 ? "," : "", (long long)layers[i]);
}

/* `units` over n stages, what is left over to the first ones. */
static void spread(int64_t units, int64_t n, int64_t *layers)
{
	for (int64_t i = 0; i < n; i++)
		layers[i] = units / n + (i < units % n ? 1 : 0);
}

/* Layers of the last stage that make the slowest stage fastest, where head and loss cost as much as V / (12 h (1 + s / 6h))
 * layers. */
static void balance(const struct runs_row *r, int64_t L, int64_t p, int64_t *layers)
{
	double h = runs_number(r, "hidden", 0),
	       head = runs_number(r, "vocab", 0) / (12 * h * (1 + runs_number(r, "seq", 0) / (6 * h))), best = 0;
	int64_t last = L / p;

	for (int64_t z = L / p; z >= 0; z--) {
		double slowest = fmax((double)z + head, (double)((L - z + p - 2) / (p - 1)));

		if (z == L / p || slowest < best) {
			best = slowest;
			last = z;
		}
	}
	/* What is left over goes to the later stages: they hold fewer micro-batches. */
	for (int64_t i = 0; i < p - 1; i++)
		layers[i] = (L - last + i) / (p - 1);
	layers[p - 1] = last;
}

static bool stage_list(const struct runs_row *r, const char *how, char *buf, size_t cap)
{
	int64_t L = (int64_t)runs_number(r, "layers", 0), p = (int64_t)runs_number(r, "pp", 1), layers[STAGE_LIST_MAX];

	if (p < 2 || p > STAGE_LIST_MAX || L < p)
		return false;
	if (strcmp(how, "@balanced") == 0) {
		balance(r, L, p, layers);
	} else if (strcmp(how, "@units") == 0) {
		spread(L + 2, p, layers);
		layers[0]--;
		layers[p - 1]--;
	} else {
		spread(L, p, layers);
	}
	write_list(layers, p, buf, cap);
	return true;
}

static int64_t ranks(const struct runs_row *r)
{
	double other = runs_number(r, "tp", 1) * runs_number(r, "pp", 1) * runs_number(r, "cp", 1);

	return (int64_t)fmax(1, runs_number(r, "num_gpus", 0) / fmax(1, other));
}

static double largest_divisor(const struct runs_row *r, double most)
{
	int64_t per = (int64_t)(runs_number(r, "layers", 0) / fmax(1, runs_number(r, "pp", 1))), best = 1;

	for (int64_t v = 1; v <= (int64_t)most; v++)
		if (per > 0 && per % v == 0)
			best = v;
	return (double)best;
}

static double nearest_batch(const struct runs_row *r)
{
	double per = (double)ranks(r) * runs_number(r, "micro_batch", 1), batch = runs_number(r, "global_batch", per);

	return fmax(1, nearbyint(batch / per)) * per;
}

static double layout_gpus(const struct runs_row *r)
{
	return runs_number(r, "dp", 0) * runs_number(r, "tp", 1) * runs_number(r, "pp", 1) * runs_number(r, "cp", 1);
}

static double gpt_layers(const struct runs_row *r)
{
	double h = runs_number(r, "hidden", 0), P = runs_number(r, "params_b", 0) * 1e9;

	return h > 0 && P > 0 ? nearbyint((P - runs_number(r, "vocab", 0) * h) / (12 * h * h)) : 0;
}

/* @key, @key*N, @key/N. */
static double from_key(const struct runs_row *r, const char *text)
{
	char key[KEY_CAP];
	size_t len = strcspn(text, "*/");
	double value, other = 1;

	(void)snprintf(key, sizeof key, "%.*s", (int)len, text);
	value = runs_number(r, key, 0);
	if (text[len] != '\0' && !parse(text + len + 1, &other))
		return 0;
	return text[len] == '/' ? floor(value / other) : value * other;
}

static double number_of(const struct runs_row *r, const char *text)
{
	static const struct {
		const char *name;
		double (*of)(const struct runs_row *);
	} plain[] = { { "@layers", gpt_layers }, { "@batch", nearest_batch }, { "@layout", layout_gpus } };
	double per_rank = floor(runs_number(r, "global_batch", 0) / (double)ranks(r)), n;

	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (strcmp(text, plain[i].name) == 0)
			return plain[i].of(r);
	if (strncmp(text, "@divisor:", 9) == 0)
		return parse(text + 9, &n) ? largest_divisor(r, n) : 0;
	if (strncmp(text, "@per-rank:", 10) == 0)
		return parse(text + 10, &n) ? fmin(n, fmax(1, per_rank)) : 0;
	if (strcmp(text, "@local-batch") == 0)
		return floor(per_rank / fmax(1, runs_number(r, "pp", 1)));
	return from_key(r, text + 1);
}

/* The text of a value; false where an expression has nothing to work on. */
static bool evaluate(const struct runs_row *r, const char *text, char *buf, size_t cap)
{
	static const char *const lists[] = { "@first-heavy", "@units", "@balanced" };
	double value;

	if (text[0] != '@') {
		(void)snprintf(buf, cap, "%s", text);
		return true;
	}
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		if (strcmp(text, lists[i]) == 0)
			return stage_list(r, text, buf, cap);
	value = number_of(r, text);
	if (!(value > 0) || value > 1e15)
		return false;
	(void)snprintf(buf, cap, "%.0f", value);
	return true;
}

static void assume(struct runs_row *r, const char *key, const char *value, const char *why)
{
	size_t left = sizeof r->assumed - r->assumed_len;
	int n = snprintf(r->assumed + r->assumed_len, left, "%s%s %s: %s", r->assumed_len > 0 ? "\n" : "", key, value, why);

	if (n < 0 || (size_t)n >= left)
		r->assumed[r->assumed_len] = '\0';
	else
		r->assumed_len += (size_t)n;
}

void runs_apply(struct runs_row *r, const struct runs_rule *rule)
{
	struct clause c;
	const char *set = rule->set;
	char value[VALUE_CAP];

	if (!matches(r, rule->when))
		return;
	while (next_clause(&set, &c)) {
		const char *old = runs_get(r, c.key);

		if ((c.op[0] == '?' && old[0] != '\0') || !evaluate(r, c.value, value, sizeof value) || strcmp(old, value) == 0)
			continue;
		runs_set(r, c.key, value);
		if (rule->why != NULL)
			assume(r, c.key, value, rule->why);
	}
}

bool runs_rule_is_valid(const struct runs_rule *rule)
{
	struct clause c;
	const char *when = rule->when, *set = rule->set;
	bool any = false;

	while (next_clause(&when, &c))
		if (c.op[0] == '?')
			return false;
	while (next_clause(&set, &c)) {
		if (strcmp(c.op, "=") != 0 && strcmp(c.op, "?=") != 0)
			return false;
		any = true;
	}
	return any && *when == '\0' && *set == '\0' && (rule->why == NULL || rule->why[0] != '\0');
}
