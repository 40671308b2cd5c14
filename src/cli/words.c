#include "config.h"

#include "words.h"

#include "i18n.h"
#include "knobs.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_MAX = 64, TEXT_CAP = 1024, SIZE_CAP = 32, NODES_DIGITS = 7, NODES_MAX = 9999999 };

struct reader {
	const struct catalog *c;
	struct words *w;
	struct err *e;
	char text[TEXT_CAP]; /* the tokens point into it */
	char *token[TOKEN_MAX];
	size_t n, at;
	bool on;       /* "on" was seen: what follows is hardware */
	int64_t nodes; /* 0: not said */
};

static bool is_gpu(const struct reader *r, const char *name)
{
	const struct gpu *g;

	return catalog_gpu(r->c, name, &g, NULL) == ERR_OK;
}

static bool is_hardware(const struct reader *r, const char *name)
{
	const struct node *n;

	return is_gpu(r, name) || catalog_node(r->c, name, &n, NULL) == ERR_OK;
}

static bool is_model(const struct reader *r, const char *name)
{
	const struct model *m;

	return catalog_model(r->c, name, &m, NULL) == ERR_OK;
}

static size_t digits(const char *t)
{
	return strspn(t, "0123456789");
}

/* "70B", "1.5T", "500M": digits, at most one point, one letter. */
static bool is_size(const char *t)
{
	size_t len = strspn(t, "0123456789.,_");

	return len > 0 && isdigit((unsigned char)t[0]) && t[len] != '\0' && strchr("kKmMbBtT", t[len]) != NULL &&
		t[len + 1] == '\0';
}

/* Appends `word` to a name, the parts joined by '-'. */
static enum err_code append(struct reader *r, char name[WORDS_TEXT_CAP], const char *word)
{
	size_t len = strlen(name);
	int n = snprintf(name + len, WORDS_TEXT_CAP - len, "%s%s", len > 0 ? "-" : "", word);

	if (n < 0 || (size_t)n >= WORDS_TEXT_CAP - len)
		return err_set(
			r->e, ERR_USAGE, "", _("a name of more than %d characters: %.40s..."), (int)WORDS_TEXT_CAP - 1, name);
	return ERR_OK;
}

static enum err_code set_count(struct reader *r, const char *number, size_t len, const char *gpu)
{
	if (r->w->gpus[0] != '\0')
		return err_set(r->e, ERR_USAGE, "gpus", _("given twice: %s and %.*s"), r->w->gpus, (int)len, number);
	if (len >= sizeof r->w->gpus)
		return err_set(r->e, ERR_USAGE, "gpus", _("%.20s... is too large"), number);
	(void)snprintf(r->w->gpus, sizeof r->w->gpus, "%.*s", (int)len, number);
	r->on = true;
	return append(r, r->w->gpu, gpu);
}

/* "2.5xA100" */
static bool is_part_of_gpu(const struct reader *r, const char *t)
{
	size_t len = strspn(t, "0123456789.");

	return memchr(t, '.', len) != NULL && (t[len] == 'x' || t[len] == 'X') && is_gpu(r, t + len + 1);
}

static bool is_times(const char *t)
{
	return t != NULL && (t[0] == 'x' || t[0] == 'X');
}

static bool is_node_word(const char *t)
{
	return t != NULL && (strcasecmp(t, "node") == 0 || strcasecmp(t, "nodes") == 0);
}

static bool is_filler(const char *t)
{
	return strcasecmp(t, "of") == 0 || strcasecmp(t, "with") == 0 || strcasecmp(t, "x") == 0 || strcasecmp(t, "each") == 0;
}

static enum err_code set_nodes(struct reader *r, const char *number, size_t len)
{
	if (r->nodes > 0)
		return err_set(
			r->e, ERR_USAGE, "gpus", _("two numbers of nodes: %lld and %.*s"), (long long)r->nodes, (int)len, number);
	if (len > NODES_DIGITS || strtoll(number, NULL, 10) == 0)
		return err_set(r->e, ERR_USAGE, "gpus", _("%.*s nodes: 1 .. %d"), (int)(len < 20 ? len : 20), number, NODES_MAX);
	r->nodes = strtoll(number, NULL, 10);
	r->on = true;
	return ERR_OK;
}

/* Tries to read a number of nodes at the current token: "2 nodes", or the 2 of "2x8xA100", which then starts at 8. */
static enum err_code read_nodes(struct reader *r, bool *taken)
{
	char *t = r->token[r->at];
	size_t len = digits(t), second = len > 0 && is_times(t + len) ? digits(t + len + 1) : 0;

	*taken = len > 0 && t[len] == '\0' && r->at + 1 < r->n && is_node_word(r->token[r->at + 1]);
	if (*taken) {
		r->at++;
		while (r->at + 1 < r->n && is_filler(r->token[r->at + 1]))
			r->at++;
		return set_nodes(r, t, len);
	}
	if (second == 0 || !is_times(t + len + 1 + second))
		return ERR_OK;
	r->token[r->at] = t + len + 1;
	return set_nodes(r, t, len);
}

/* Tries to read a count of GPUs at the current token: "8xA100", "8x A100", "8 x A100", "8 xA100", "8 A100". */
static enum err_code read_count(struct reader *r, bool *taken)
{
	const char *t = r->token[r->at], *next = r->at + 1 < r->n ? r->token[r->at + 1] : NULL;
	const char *third = r->at + 2 < r->n ? r->token[r->at + 2] : NULL;
	size_t len = digits(t);

	*taken = true;
	if (is_part_of_gpu(r, t))
		return err_set(r->e, ERR_USAGE, "gpus", _("'%.*s' is not a whole number"), (int)strspn(t, "0123456789."), t);
	if (len > 0 && t[len] == '\0') {
		if (is_times(next) && next[1] == '\0' && third != NULL) {
			r->at += 2;
			return set_count(r, t, len, third);
		}
		if (is_times(next) && next[1] != '\0' && is_gpu(r, next + 1)) {
			r->at++;
			return set_count(r, t, len, next + 1);
		}
		if (next != NULL && (r->on || is_hardware(r, next))) {
			r->at++;
			return set_count(r, t, len, next);
		}
	} else if (len > 0 && is_times(t + len)) {
		const char *gpu = t + len + 1;

		if (*gpu == '\0' && next != NULL) {
			r->at++;
			return set_count(r, t, len, next);
		}
		if (*gpu != '\0' && (r->on || is_gpu(r, gpu) || !is_model(r, t)))
			return set_count(r, t, len, gpu);
	}
	*taken = false;
	return ERR_OK;
}

/* "8xA100 lora": settings are flags. */
static enum err_code no_part(const struct reader *r, const char *t, const char *hint)
{
	return err_set(r->e, ERR_USAGE, "", _("\"%.40s\" is no part of a model's or GPU's name; did you mean %s?"), t, hint);
}

/* A word that goes on with the model's name, unless it names hardware and the model is complete without it. */
static enum err_code read_model_word(struct reader *r, const char *t)
{
	char longer[WORDS_TEXT_CAP], hint[80];
	int n = snprintf(longer, sizeof longer, "%s-%s", r->w->model, t);
	bool complete = r->w->params[0] != '\0' || is_model(r, r->w->model);

	if (complete && is_hardware(r, t) && (n < 0 || !is_model(r, longer))) {
		r->on = true;
		return append(r, r->w->gpu, t);
	}
	if (complete && (n < 0 || !is_model(r, longer)) && knob_hint(t, hint, sizeof hint)[0] != '\0')
		return no_part(r, t, hint);
	if (r->w->params[0] != '\0')
		return err_set(r->e, ERR_USAGE, "model", _("two models: %s and %.80s"), r->w->params, t);
	return append(r, r->w->model, t);
}

/* Whether a name begins with this word, or a file of this name can hold one. */
static bool starts_model(const struct reader *r, const char *t)
{
	const struct model *m;

	return is_size(t) || strpbrk(t, "./") != NULL ||
		(isalpha((unsigned char)t[0]) && catalog_model(r->c, t, &m, NULL) != ERR_UNKNOWN);
}

/* "8xA100 70B", "8xA100 for llama3-70b": behind hardware that is complete comes the model. */
static bool ends_hardware(const struct reader *r, const char *t)
{
	char longer[WORDS_TEXT_CAP];
	int n = snprintf(longer, sizeof longer, "%s-%s", r->w->gpu, t);

	return r->w->model[0] == '\0' && r->w->params[0] == '\0' && is_hardware(r, r->w->gpu) && starts_model(r, t) &&
		(n < 0 || !is_hardware(r, longer));
}

static enum err_code read_token(struct reader *r)
{
	const char *t = r->token[r->at], *next = r->at + 1 < r->n ? r->token[r->at + 1] : "";
	char hint[80];
	bool taken;
	enum err_code code;

	if (strcasecmp(t, "on") == 0) {
		r->on = true;
		return ERR_OK;
	}
	if (is_size(t) && (strcasecmp(next, "tokens") == 0 || strcasecmp(next, "token") == 0)) {
		(void)snprintf(hint, sizeof hint, "--tokens %.40s", t);
		return no_part(r, t, hint);
	}
	if (r->on && (strcasecmp(t, "gpus") == 0 || strcasecmp(t, "gpu") == 0))
		return ERR_OK;
	code = read_nodes(r, &taken);
	if (code == ERR_OK && !taken)
		code = read_count(r, &taken);
	if (code != ERR_OK || taken)
		return code;
	if (r->on && knob_hint(t, hint, sizeof hint)[0] != '\0')
		return no_part(r, t, hint);
	if (r->on && is_size(t) && strchr("kK", t[strlen(t) - 1]) != NULL) {
		(void)snprintf(hint, sizeof hint, "--seq %.40s", t);
		return no_part(r, t, hint);
	}
	if (r->on && strcasecmp(t, "for") == 0) {
		r->on = false;
		return ERR_OK;
	}
	r->on = r->on && !ends_hardware(r, t);
	if (r->on)
		return append(r, r->w->gpu, t);
	if (is_size(t) && r->w->model[0] == '\0') {
		if (r->w->params[0] != '\0')
			return err_set(r->e, ERR_USAGE, "params", _("given twice: %s and %.40s"), r->w->params, t);
		if (strlen(t) >= sizeof r->w->params)
			return err_set(r->e, ERR_USAGE, "params", _("%.20s... is too long for a number"), t);
		(void)snprintf(r->w->params, sizeof r->w->params, "%s", t);
		return ERR_OK;
	}
	return read_model_word(r, t);
}

/* Joins the words, with a multiplication sign read as x, and splits them at blanks: "8 × A100" may be one word of argv or three.
 */
static enum err_code split(struct reader *r, const char *const *words, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		for (const char *p = words[i]; *p != '\0'; p++) {
			if (len + 2 >= sizeof r->text)
				return err_set(r->e, ERR_USAGE, "", _("the scenario has more than %d characters"),
					(int)sizeof r->text - 2);
			if (p[0] == '\xC3' && p[1] == '\x97') {
				r->text[len++] = 'x';
				p++;
			} else {
				r->text[len++] = isspace((unsigned char)*p) ? ' ' : *p;
			}
		}
		r->text[len++] = ' ';
	}
	r->text[len] = '\0';
	for (char *p = r->text; *p != '\0';) {
		size_t token = strcspn(p, " ");

		if (token > 0) {
			if (r->n == TOKEN_MAX)
				return err_set(r->e, ERR_USAGE, "", _("the scenario has more than %d words"), (int)TOKEN_MAX);
			r->token[r->n++] = p;
		}
		p += token;
		if (*p == ' ')
			*p++ = '\0';
	}
	return ERR_OK;
}

/* Where a node type stands for the GPU: its GPU, and the count is one of nodes. */
static enum err_code take_node_type(struct reader *r)
{
	struct words *w = r->w;
	const struct node *n;

	if (w->gpu[0] == '\0' || is_gpu(r, w->gpu) || catalog_node(r->c, w->gpu, &n, NULL) != ERR_OK)
		return ERR_OK;
	(void)snprintf(w->node, sizeof w->node, "%s", n->id);
	(void)snprintf(w->gpu, sizeof w->gpu, "%s", n->gpu_id);
	if (w->gpus[0] != '\0') {
		enum err_code code = set_nodes(r, w->gpus, strlen(w->gpus));

		w->gpus[0] = '\0';
		return code;
	}
	r->nodes = r->nodes > 0 ? r->nodes : 1;
	return ERR_OK;
}

/* GPUs in one node of the type that was named, else of the type the GPU usually comes in; 0: not known. */
static int64_t usual_gpus_per_node(const struct reader *r)
{
	const struct node *n = NULL;
	const struct gpu *g = NULL;

	if (r->w->node[0] != '\0' ? catalog_node(r->c, r->w->node, &n, NULL) != ERR_OK
				  : catalog_gpu(r->c, r->w->gpu, &g, NULL) != ERR_OK)
		return 0;
	if (g != NULL)
		n = catalog_default_node(r->c, g->id, 1);
	return n != NULL ? n->gpus_per_node : 0;
}

/* From a number of nodes to one of GPUs. */
static enum err_code count_gpus(struct reader *r)
{
	struct words *w = r->w;
	int64_t per_node;

	if (r->nodes == 0)
		return ERR_OK;
	if (w->gpus[0] != '\0') {
		(void)snprintf(w->per_node, sizeof w->per_node, "%s", w->gpus);
		per_node = strlen(w->gpus) <= NODES_DIGITS ? strtoll(w->gpus, NULL, 10) : NODES_MAX;
	} else {
		per_node = usual_gpus_per_node(r);
	}
	if (per_node == 0)
		return err_set(r->e, ERR_USAGE, "gpus", _("%lld nodes of how many GPUs each? say for example 2x8xH100"),
			(long long)r->nodes);
	(void)snprintf(w->gpus, sizeof w->gpus, "%lld", (long long)(r->nodes * per_node));
	return ERR_OK;
}

/* "70 B" is one word. */
static void join_size(struct reader *r)
{
	const char *next = r->at + 1 < r->n ? r->token[r->at + 1] : "";
	char *t = r->token[r->at], joined[SIZE_CAP];
	int n;

	if (r->on || r->w->model[0] != '\0' || next[0] == '\0' || next[1] != '\0')
		return;
	n = snprintf(joined, sizeof joined, "%s%s", t, next);
	/* The two tokens lie side by side, with one NUL or more between them: there is room. */
	if (n > 0 && (size_t)n < sizeof joined && is_size(joined)) {
		memcpy(t, joined, (size_t)n + 1);
		memmove(&r->token[r->at + 1], &r->token[r->at + 2], (r->n - r->at - 2) * sizeof r->token[0]);
		r->n--;
	}
}

enum err_code words_read(const char *const *words, size_t n, const struct catalog *c, struct words *w, struct err *e)
{
	struct reader r = { .c = c, .w = w, .e = e };
	enum err_code code;
	char hint[80];

	*w = (struct words){ .model = "" };
	code = split(&r, words, n);
	for (r.at = 0; code == ERR_OK && r.at < r.n; r.at++) {
		join_size(&r);
		code = read_token(&r);
	}
	if (code == ERR_OK)
		code = take_node_type(&r);
	if (code == ERR_OK)
		code = count_gpus(&r);
	if (code == ERR_OK && w->model[0] != '\0' && knob_hint(w->model, hint, sizeof hint)[0] != '\0' && !is_model(&r, w->model))
		return no_part(&r, w->model, hint);
	if (code == ERR_OK && isdigit((unsigned char)w->model[0]) && strpbrk(w->model, "./") == NULL && !is_model(&r, w->model))
		return err_set(
			e, ERR_USAGE, "model", _("\"%.60s\" is neither a size, such as 70B, nor the name of a model"), w->model);
	return code;
}
