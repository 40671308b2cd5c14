#include "catalog.h"

#include "num.h"

#include <stdio.h>
#include <string.h>

enum {
	WORDS_MAX = 12,
	WORD_CAP = 48,
	NAME_CAP = 80, /* longer names match nothing */
	LISTED_MAX = 8,
	DISTANCE_MAX = 99,
};

/* One kind of preset, as the matcher sees it. */
struct name_list {
	const char *what; /* "GPU" */
	size_t n;
	const char *(*get)(const void *ctx, size_t i);
	const void *ctx;
	const char *(*also)(const void *ctx, size_t i); /* other names of row i, separated by spaces; NULL: there are none */
	const char *const *noise;                       /* words of a published name that say nothing here; NULL: none */
	bool any_order;                                 /* "80gb a100" is a100 80gb */
	const char *instead;                            /* what to give when no name is right; NULL: nothing */
};

struct words {
	size_t n;
	bool scattered;                 /* they may stand in any order */
	char text[WORDS_MAX][WORD_CAP]; /* lower case */
};

/* How well a name fits an id; fewer partial words is better. */
struct fit {
	bool matches;
	int partial;  /* words that are not a whole word of the id */
	size_t first; /* which word of the id the first one met */
};

/* The part that a bare family name means. Of several matches the one in this list wins. */
static const char *const gpu_defaults[] = {
	"a100-sxm-80gb",
	"h100-sxm-80gb",
	"h200-sxm-141gb",
	"b200-180gb",
	"v100-sxm2-32gb",
	"rtx4090-24gb",
	"rtx3090-24gb",
	"rtx5090-32gb",
};

/* How the weights of a model were made, not what shape it has. */
static const char *const weights_words[] = {
	"hf",
	"base",
	"instruct",
	"chat",
	"it",
	"pt",
	"thinking",
	"meta",
	"v0.1",
	"v0.2",
	"v0.3",
	"v1.0",
	"2507",
	NULL,
};
/* What nvidia-smi, rocm-smi and sellers add to the name of a part. */
static const char *const maker_words[] = {
	"nvidia",
	"tesla",
	"geforce",
	"amd",
	"instinct",
	"intel",
	"google",
	"aws",
	"generation",
	"blackwell",
	"edition",
	"workstation",
	"hbm2",
	"hbm2e",
	"hbm3",
	"hbm3e",
	"sxm4",
	"sxm5",
	"nvl72",
	NULL,
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == ' ' || c == '/' || c == '(' || c == ')';
}

static bool same_text(const char *a, const char *b)
{
	while (*a != '\0' && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return *a == '\0' && *b == '\0';
}

/* Equal but for separators: "h100 sxm 80gb", "H100_SXM-80GB". */
static bool same_squashed(const char *a, const char *b)
{
	for (;;) {
		while (is_separator(*a))
			a++;
		while (is_separator(*b))
			b++;
		if (lower(*a) != lower(*b))
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

/* False when there are too many words, or too long ones, to be a name. */
static bool words_split(const char *text, struct words *w)
{
	*w = (struct words){ .n = 0 };
	while (*text != '\0') {
		size_t len = 0;

		while (is_separator(*text))
			text++;
		if (*text == '\0')
			break;
		if (w->n == WORDS_MAX)
			return false;
		while (text[len] != '\0' && !is_separator(text[len])) {
			if (len + 1 >= WORD_CAP)
				return false;
			w->text[w->n][len] = lower(text[len]);
			len++;
		}
		w->text[w->n][len] = '\0';
		w->n++;
		text += len;
	}
	return w->n > 0;
}

/* Where in an id the next word of a name may go on. */
struct place {
	size_t word, at;
};

/* Tries to lay `word` on the id at `p`; on success moves p behind it and notes how well it lay there. */
static bool fit_word_at(const struct words *id, const char *word, struct place *p, struct fit *f)
{
	const char *rest = id->text[p->word] + p->at;
	size_t len = strlen(word);

	if (len == 0 || strncmp(rest, word, len) != 0)
		return false;
	/* 16 is no beginning of 160m, h10 none of h100. */
	if (is_digit(word[len - 1]) && is_digit(rest[len]))
		return false;
	if (rest[len] != '\0' || p->at > 0)
		f->partial++;
	p->at += len;
	return true;
}

/* The brand in front of a part number may be left out: "4090" means rtx4090. */
static size_t brand_length(const char *word)
{
	return strncmp(word, "rtx", 3) == 0 ? 3 : 0;
}

/* Lays one word of a name on the first word of the id, at or behind p, that starts with it (or goes on with it). */
static bool fit_word(const struct words *id, const char *word, struct place *p, struct fit *f)
{
	for (struct place q = *p; q.word < id->n; q = (struct place){ .word = q.word + 1 }) {
		size_t brand = q.at == 0 ? brand_length(id->text[q.word]) : 0;

		if (fit_word_at(id, word, &q, f)) {
			*p = q;
			return true;
		}
		if (brand > 0) {
			q.at = brand;
			if (fit_word_at(id, word, &q, f)) {
				*p = q;
				return true;
			}
		}
	}
	return false;
}

/* The same words cut where letters and digits meet, but for the first letters and their number: "h100sxm80" is h100, sxm, 80. */
static bool words_cut(const struct words *w, struct words *out)
{
	*out = (struct words){ .n = 0 };
	for (size_t i = 0; i < w->n; i++) {
		const char *p = w->text[i];

		while (*p != '\0') {
			size_t len = 1;

			while (p[len] != '\0' && is_digit(p[len]) == is_digit(p[0]))
				len++;
			while (out->n == 0 && is_digit(p[len]))
				len++;
			if (out->n == WORDS_MAX)
				return false;
			memcpy(out->text[out->n], p, len);
			out->text[out->n++][len] = '\0';
			p += len;
		}
	}
	return true;
}

static struct fit fit_name(const struct words *name, const char *id_text)
{
	struct fit f = { .matches = false };
	struct place p = { .word = 0 };
	struct words id;

	if (!words_split(id_text, &id))
		return f;
	for (size_t i = 0; i < name->n; i++) {
		if (name->scattered)
			p = (struct place){ .word = 0 };
		if (!fit_word(&id, name->text[i], &p, &f))
			return f;
		if (i == 0)
			f.first = p.word;
	}
	f.matches = true;
	return f;
}

/* Negative when a is the better fit. */
static int fit_compare(const struct fit *a, const struct fit *b)
{
	return a->partial - b->partial;
}

/* Whether two ids start with the same words up to and including `last`: h100-sxm and h100-nvl do, a100 and a10g do not. */
static bool same_family(const char *a, const char *b, size_t last)
{
	struct words x, y;

	if (!words_split(a, &x) || !words_split(b, &y) || x.n <= last || y.n <= last)
		return false;
	for (size_t i = 0; i <= last; i++)
		if (strcmp(x.text[i], y.text[i]) != 0)
			return false;
	return true;
}

/* What a name may mean. */
struct matches {
	size_t n, best;
	bool tie;   /* no preference between best and another */
	bool mixed; /* several families */
	struct fit fit;
};

/* Preference between two ids that fit equally well: negative, a; 0, none. */
typedef int preference(const void *ctx, size_t a, size_t b);

static int prefer_none(const void *ctx, size_t a, size_t b)
{
	(void)ctx;
	(void)a;
	(void)b;
	return 0;
}

static struct matches match_words(const struct name_list *list, const struct words *name, preference *prefer)
{
	struct matches m = { .n = 0 };

	for (size_t i = 0; i < list->n; i++) {
		struct fit f = fit_name(name, list->get(list->ctx, i));
		int order;

		if (!f.matches)
			continue;
		order = m.n == 0 ? -1 : fit_compare(&f, &m.fit);
		if (order < 0) {
			m = (struct matches){ .n = 1, .best = i, .fit = f };
		} else if (order == 0) {
			int p = prefer(list->ctx, i, m.best);

			m.n++;
			m.mixed = m.mixed || !same_family(list->get(list->ctx, i), list->get(list->ctx, m.best), f.first);
			m.tie = p == 0 || (p > 0 && m.tie);
			if (p < 0)
				m.best = i;
		}
	}
	return m;
}

static enum err_code ambiguous(
	const struct name_list *list, const char *name, const struct words *words, const struct fit *fit, struct err *e)
{
	char text[ERR_MSG_CAP];
	size_t len = 0, n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->n; i++) {
		struct fit f = fit_name(words, list->get(list->ctx, i));
		int w;

		if (!f.matches || fit_compare(&f, fit) != 0)
			continue;
		n++;
		if (n > LISTED_MAX)
			continue;
		w = snprintf(text + len, sizeof text - len, "%s%s", n == 1 ? "" : ", ", list->get(list->ctx, i));
		if (w > 0)
			len = len + (size_t)w < sizeof text ? len + (size_t)w : sizeof text - 1;
	}
	if (n > LISTED_MAX)
		(void)snprintf(text + len, sizeof text - len, " and %zu more", n - LISTED_MAX);
	return err_set(e, ERR_USAGE, list->what, "'%.60s' may be one of: %s", name, text);
}

/* `plain` is what the nearest are sought for: `name`, or what is left of it without its noise. */
static enum err_code unknown(const struct name_list *list, const char *name, const char *plain, struct err *e)
{
	char near[200];

	catalog_nearest(plain, list->n, list->get, list->ctx, near, sizeof near);
	return err_set(e, ERR_UNKNOWN, list->what, "there is no %s '%.60s'%s%s%s%s", list->what, name,
		near[0] != '\0' ? "; nearest: " : "", near, list->instead != NULL ? "; " : "",
		list->instead != NULL ? list->instead : "");
}

/* Whether `name` is one of the words of `also`. */
static bool is_also(const char *also, const char *name)
{
	while (*also != '\0') {
		char word[NAME_CAP];
		size_t len = strcspn(also, " ");

		(void)snprintf(word, sizeof word, "%.*s", (int)len, also);
		if (len > 0 && same_squashed(word, name))
			return true;
		also += len;
		also += strspn(also, " ");
	}
	return false;
}

/* The row that has exactly this name, but for case and separators: an id, or else another name of it. */
static bool find_exact(const struct name_list *list, const char *name, size_t *index)
{
	for (*index = 0; *index < list->n; ++*index)
		if (same_text(name, list->get(list->ctx, *index)))
			return true;
	for (*index = 0; *index < list->n; ++*index)
		if (same_squashed(name, list->get(list->ctx, *index)))
			return true;
	for (*index = 0; list->also != NULL && *index < list->n; ++*index)
		if (is_also(list->also(list->ctx, *index), name))
			return true;
	return false;
}

/* The rows that `words` fit. Where none does, the words are cut where letters and digits meet, and stay so. */
static struct matches match_name(const struct name_list *list, struct words *words, preference *prefer)
{
	struct matches m = match_words(list, words, prefer);
	struct words cut;

	if (m.n > 0 || !words_cut(words, &cut))
		return m;
	m = match_words(list, &cut, prefer);
	if (m.n > 0)
		*words = cut;
	return m;
}

static bool is_noise(const struct name_list *list, const char *word)
{
	for (const char *const *w = list->noise; w != NULL && *w != NULL; w++)
		if (strcmp(word, *w) == 0)
			return true;
	return false;
}

/* A published name without its owner and without the words that say nothing here. False when nothing is left. */
static bool plain_name(const struct name_list *list, const char *name, char plain[NAME_CAP])
{
	const char *slash = strrchr(name, '/');
	struct words words;
	size_t len = 0;

	plain[0] = '\0';
	if (strlen(name) >= NAME_CAP || !words_split(slash != NULL ? slash + 1 : name, &words))
		return false;
	for (size_t i = 0; i < words.n; i++)
		if (!is_noise(list, words.text[i]))
			len += (size_t)snprintf(plain + len, NAME_CAP - len, "%s%s", len > 0 ? "-" : "", words.text[i]);
	return len > 0;
}

static enum err_code resolve(const struct name_list *list, const char *name, preference *prefer, size_t *index, struct err *e)
{
	char plain[NAME_CAP] = "";
	struct words words;
	struct matches m;

	if (find_exact(list, name, index))
		return ERR_OK;
	if (strlen(name) >= NAME_CAP || !words_split(name, &words))
		return unknown(list, name, name, e);
	m = match_name(list, &words, prefer);
	if (m.n == 0 && plain_name(list, name, plain)) {
		if (find_exact(list, plain, index))
			return ERR_OK;
		(void)words_split(plain, &words);
		m = match_name(list, &words, prefer);
	}
	if (m.n == 0 && list->any_order) {
		words.scattered = true;
		m = match_words(list, &words, prefer);
	}
	if (m.n == 0)
		return unknown(list, name, plain[0] != '\0' ? plain : name, e);
	if (m.tie || m.mixed)
		return ambiguous(list, name, &words, &m.fit, e);
	*index = m.best;
	return ERR_OK;
}

static const char *model_name(const void *ctx, size_t i)
{
	return ((const struct catalog *)ctx)->models[i].id;
}

static const char *gpu_name(const void *ctx, size_t i)
{
	return ((const struct catalog *)ctx)->gpus[i].id;
}

static const char *node_name(const void *ctx, size_t i)
{
	return ((const struct catalog *)ctx)->nodes[i].id;
}

static const char *profile_name(const void *ctx, size_t i)
{
	return ((const struct catalog *)ctx)->profiles[i].id;
}

static bool gpu_is_default(const struct gpu *g)
{
	for (size_t i = 0; i < sizeof gpu_defaults / sizeof gpu_defaults[0]; i++)
		if (strcmp(g->id, gpu_defaults[i]) == 0)
			return true;
	return false;
}

static bool gpu_is_module(const struct gpu *g)
{
	return g->form == GPU_FORM_SXM || g->form == GPU_FORM_OAM;
}

static int prefer_gpu(const void *ctx, size_t a, size_t b)
{
	const struct catalog *c = ctx;
	const struct gpu *x = &c->gpus[a], *y = &c->gpus[b];

	if (gpu_is_default(x) != gpu_is_default(y))
		return gpu_is_default(x) ? -1 : 1;
	if (gpu_is_module(x) != gpu_is_module(y))
		return gpu_is_module(x) ? -1 : 1;
	if (x->year != y->year)
		return x->year > y->year ? -1 : 1;
	if (x->mem_nominal_bytes != y->mem_nominal_bytes)
		return x->mem_nominal_bytes > y->mem_nominal_bytes ? -1 : 1;
	return 0;
}

/* Profiles of one framework are listed in order of preference. */
static int prefer_profile(const void *ctx, size_t a, size_t b)
{
	const struct catalog *c = ctx;

	if (c->profiles[a].framework != c->profiles[b].framework)
		return 0;
	return a < b ? -1 : 1;
}

static const char *model_also(const void *ctx, size_t i)
{
	return ((const struct catalog *)ctx)->models[i].also;
}

enum err_code catalog_model(const struct catalog *c, const char *name, const struct model **out, struct err *e)
{
	struct name_list list = {
		.what = "model", .n = c->n_models, .get = model_name, .ctx = c, .also = model_also, .noise = weights_words,
		.instead = "or its size (params 70B), or a config.json"
	};
	size_t i = 0;
	enum err_code code = resolve(&list, name, prefer_none, &i, e);

	if (code == ERR_OK)
		*out = &c->models[i];
	return code;
}

enum err_code catalog_gpu(const struct catalog *c, const char *name, const struct gpu **out, struct err *e)
{
	struct name_list list = {
		.what = "gpu", .n = c->n_gpus, .get = gpu_name, .ctx = c, .noise = maker_words, .any_order = true
	};
	size_t i = 0;
	enum err_code code = resolve(&list, name, prefer_gpu, &i, e);

	if (code == ERR_OK)
		*out = &c->gpus[i];
	return code;
}

enum err_code catalog_node(const struct catalog *c, const char *name, const struct node **out, struct err *e)
{
	struct name_list list = { .what = "node", .n = c->n_nodes, .get = node_name, .ctx = c };
	size_t i = 0;
	enum err_code code = resolve(&list, name, prefer_none, &i, e);

	if (code == ERR_OK)
		*out = &c->nodes[i];
	return code;
}

enum err_code catalog_profile(const struct catalog *c, const char *name, const struct profile **out, struct err *e)
{
	struct name_list list = { .what = "profile", .n = c->n_profiles, .get = profile_name, .ctx = c };
	size_t i = 0;
	enum err_code code = resolve(&list, name, prefer_profile, &i, e);

	if (code == ERR_OK)
		*out = &c->profiles[i];
	return code;
}

static const char *coefficients_name(const void *ctx, size_t i)
{
	return ((const struct catalog *)ctx)->coefficients[i].id;
}

enum err_code catalog_find_coefficients(const struct catalog *c, const char *name, const struct coefficients **out, struct err *e)
{
	struct name_list list = { .what = "coefficients", .n = c->n_coefficients, .get = coefficients_name, .ctx = c };
	size_t i = 0;
	enum err_code code = resolve(&list, name, prefer_none, &i, e);

	if (code == ERR_OK)
		*out = &c->coefficients[i];
	return code;
}

/* The prices of one GPU. */
struct price_list {
	const struct gpu_price *rows;
	size_t n;
};

static const char *price_name(const void *ctx, size_t i)
{
	return ((const struct price_list *)ctx)->rows[i].name;
}

static int prefer_price(const void *ctx, size_t a, size_t b)
{
	const struct gpu_price *rows = ((const struct price_list *)ctx)->rows;

	if (rows[a].kind != rows[b].kind)
		return rows[a].kind < rows[b].kind ? -1 : 1;
	return a < b ? -1 : 1;
}

const struct gpu_price *catalog_prices(const struct catalog *c, const char *gpu_id, size_t *n)
{
	size_t first = 0;

	*n = 0;
	while (first < c->n_prices && strcmp(c->prices[first].gpu_id, gpu_id) != 0)
		first++;
	while (first + *n < c->n_prices && strcmp(c->prices[first + *n].gpu_id, gpu_id) == 0)
		(*n)++;
	return *n > 0 ? &c->prices[first] : NULL;
}

enum err_code catalog_price(
	const struct catalog *c, const char *gpu_id, const char *name, const struct gpu_price **out, struct err *e)
{
	struct price_list prices = { .rows = NULL };
	struct name_list list = { .what = "price", .get = price_name, .ctx = &prices };
	size_t i = 0;
	enum err_code code;

	prices.rows = catalog_prices(c, gpu_id, &prices.n);
	list.n = prices.n;
	if (list.n == 0)
		return err_set(e, ERR_UNKNOWN, list.what,
			"price '%.40s' is no number, and no provider's price of %s is known; legal: USD per GPU hour, like 2.5",
			name, gpu_id);
	code = resolve(&list, name, prefer_price, &i, e);
	if (code == ERR_OK)
		*out = &prices.rows[i];
	return code;
}

/* Of two nodes of a GPU the one that people mean who have `gpus` of them: the smaller that holds all, else the larger. */
static const struct node *better_node(const struct node *a, const struct node *b, int64_t gpus)
{
	if (a == NULL || a->gpus_per_node == b->gpus_per_node)
		return a == NULL ? b : a;
	return (b->gpus_per_node < a->gpus_per_node) == (num_min(a->gpus_per_node, b->gpus_per_node) >= gpus) ? b : a;
}

const struct node *catalog_default_node(const struct catalog *c, const char *gpu_id, int64_t gpus)
{
	static const char *const families[] = { "dgx", "hgx" };
	const struct node *best = NULL;

	for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
		for (size_t i = 0; i < c->n_nodes; i++)
			if (strcmp(c->nodes[i].gpu_id, gpu_id) == 0 &&
				strncmp(c->nodes[i].id, families[f], strlen(families[f])) == 0)
				return &c->nodes[i];
	for (size_t i = 0; i < c->n_nodes; i++)
		if (strcmp(c->nodes[i].gpu_id, gpu_id) == 0)
			best = better_node(best, &c->nodes[i], gpus);
	return best;
}

const struct profile *catalog_default_profile(const struct catalog *c, int32_t framework)
{
	for (size_t i = 0; i < c->n_profiles; i++)
		if (c->profiles[i].framework == framework)
			return &c->profiles[i];
	return NULL;
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

int catalog_distance(const char *a, const char *b)
{
	int rows[3][NAME_CAP + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NAME_CAP || lb > NAME_CAP)
		return DISTANCE_MAX;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= la; i++) {
		const int *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
		int *row = rows[i % 3];

		row[0] = (int)i;
		for (size_t j = 1; j <= lb; j++) {
			int change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;

			row[j] = min_int(above[j - 1] + change, min_int(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = min_int(row[j], two_above[j - 2] + 1);
		}
	}
	return min_int(rows[la % 3][lb], DISTANCE_MAX);
}

/* Distance that forgives what is missing at the end: "llama4" is near "llama4-scout". */
static int distance_as_prefix(const char *name, const char *id)
{
	char head[NAME_CAP + 1];
	size_t len = strlen(name);
	int whole = catalog_distance(name, id);

	if (len > NAME_CAP || strlen(id) <= len)
		return whole;
	memcpy(head, id, len);
	head[len] = '\0';
	return min_int(whole, catalog_distance(name, head) + 1);
}

char *catalog_nearest(
	const char *name, size_t n, const char *(*get)(const void *ctx, size_t i), const void *ctx, char *buf, size_t cap)
{
	enum { SHOWN = 3 };
	struct {
		size_t i;
		int distance;
	} best[SHOWN];
	size_t found = 0, len = 0;

	for (size_t i = 0; i < n; i++) {
		int d = distance_as_prefix(name, get(ctx, i));
		size_t at = found;

		while (at > 0 && best[at - 1].distance > d)
			at--;
		if (at == SHOWN)
			continue;
		if (found < SHOWN)
			found++;
		for (size_t k = found - 1; k > at; k--)
			best[k] = best[k - 1];
		best[at].i = i;
		best[at].distance = d;
	}
	buf[0] = '\0';
	for (size_t k = 0; k < found && len + 1 < cap; k++) {
		int w = snprintf(buf + len, cap - len, "%s%s", k == 0 ? "" : ", ", get(ctx, best[k].i));

		if (w > 0)
			len += (size_t)w;
	}
	return buf;
}

const struct gpu_family *catalog_family(const struct catalog *c, const char *id)
{
	for (size_t i = 0; i < c->n_families; i++)
		if (strcmp(c->families[i].id, id) == 0)
			return &c->families[i];
	return NULL;
}

const struct coefficients *catalog_coefficients(const struct catalog *c, const char *id)
{
	for (size_t i = 0; i < c->n_coefficients; i++)
		if (strcmp(c->coefficients[i].id, id) == 0)
			return &c->coefficients[i];
	return NULL;
}
