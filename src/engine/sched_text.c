/* PyTorch's CSV of orders (torch/distributed/pipelining/schedules.py _dump_csv, _load_csv): one line per rank, one field per
 * action. */
#include "schedule.h"

#include "num.h"
#include "sched_internal.h"
#include "sink.h"

#include <stdio.h>
#include <string.h>

enum { RANKS_MAX = 65536, STAGE_MAX = 67108863, MICRO_BATCH_MAX = 16777215, SHOWN = 40 };

/* Actions of PyTorch's runtime that are not computation. */
static const char *const skipped_names[] = { "REDUCE_GRAD", "UNSHARD", "RESHARD", "SEND_F", "RECV_F", "SEND_B", "RECV_B" };

struct reader {
	const struct order_text *t;
	const char *at, *end;         /* of the text */
	int64_t line, rank, position; /* 1-based line; of what is read now */
	int64_t *first;
	struct action *list;
	int64_t n;
	int32_t stages, micro_batches; /* largest seen + 1 */
	struct err *e;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What a text can hold at most: each action has a letter behind a digit. */
static void count_text(const struct order_text *t, int64_t *actions, int64_t *lines)
{
	*actions = 0;
	*lines = 1;
	for (size_t i = 0; i < t->len; i++) {
		char c = t->text[i];

		*lines += c == '\n' && *lines <= RANKS_MAX;
		*actions += i > 0 && (c == 'F' || c == 'B' || c == 'I' || c == 'W') && is_digit(t->text[i - 1]);
	}
}

/* Positions, list, and a byte per (stage, micro-batch): more of those than actions cannot be complete. */
int64_t order_parse_bytes(const struct order_text *t)
{
	int64_t actions, lines;

	count_text(t, &actions, &lines);
	return (lines + 2) * (int64_t)sizeof(int64_t) + (actions + 1) * (int64_t)(sizeof(struct action) + 1);
}

static enum err_code refuse(const struct reader *r, const char *field, size_t len, const char *why)
{
	char where[ERR_WHERE_CAP], shown[SHOWN + 4];
	size_t n = len < SHOWN ? len : SHOWN;

	for (size_t i = 0; i < n; i++)
		shown[i] = field[i] >= ' ' && field[i] < 127 ? field[i] : '?';
	(void)snprintf(shown + n, sizeof shown - n, "%s", len > n ? "..." : "");
	(void)snprintf(where, sizeof where, "%.100s:%lld", r->t->name, (long long)r->line);
	return err_set(r->e, ERR_ILLEGAL, where, "rank %lld, position %lld: \"%s\": %s", (long long)r->rank,
		(long long)r->position, shown, why);
}

/* Digits; -1 when there are none or they are more than `most`. */
static int64_t read_number(const char **at, const char *end, int64_t most)
{
	const char *begin = *at;
	int64_t n = 0;

	for (; *at < end && is_digit(**at); (*at)++) {
		n = n * 10 + (**at - '0');
		if (n > most)
			return -1;
	}
	return *at > begin ? n : -1;
}

/* "3B12" up to `end`. */
static bool read_action(const char **at, const char *end, struct action *a)
{
	int64_t stage = read_number(at, end, STAGE_MAX), micro_batch;
	const char *letter;

	if (stage < 0 || *at == end || **at == '\0')
		return false;
	letter = strchr(action_letters, **at);
	if (letter == NULL)
		return false;
	(*at)++;
	micro_batch = read_number(at, end, MICRO_BATCH_MAX);
	*a = (struct action){
		.kind = (uint8_t)(letter - action_letters), .stage = (int32_t)stage, .micro_batch = (int32_t)micro_batch
	};
	return micro_batch >= 0;
}

static void append(struct reader *r, struct action a)
{
	r->list[r->n++] = a;
	r->position++;
	r->stages = a.stage >= r->stages ? a.stage + 1 : r->stages;
	r->micro_batches = a.micro_batch >= r->micro_batches ? a.micro_batch + 1 : r->micro_batches;
}

static bool is_skipped(const char *field, const char *end)
{
	while (field < end && is_digit(*field))
		field++;
	for (size_t i = 0; i < sizeof skipped_names / sizeof skipped_names[0]; i++) {
		size_t n = strlen(skipped_names[i]);

		if ((size_t)(end - field) >= n && memcmp(field, skipped_names[i], n) == 0)
			return true;
	}
	return (size_t)(end - field) == 4 && memcmp(field, "None", 4) == 0;
}

static enum err_code read_block(struct reader *r, const char *field, const char *end)
{
	static const char tail[] = ")OVERLAP_F_B";
	const char *at = field + 1;
	struct action f, b;

	if (!read_action(&at, end, &f) || at == end || *at++ != ';' || !read_action(&at, end, &b) ||
		(size_t)(end - at) != sizeof tail - 1 || memcmp(at, tail, sizeof tail - 1) != 0)
		return refuse(r, field, (size_t)(end - field), "a block looks like (0F3;3B9)OVERLAP_F_B");
	if (f.kind != ACTION_FORWARD || (b.kind != ACTION_BACKWARD && b.kind != ACTION_INPUT))
		return refuse(r, field, (size_t)(end - field), "a block is an F and then a B or I");
	f.overlap = b.overlap = 1;
	append(r, f);
	append(r, b);
	return ERR_OK;
}

static enum err_code read_field(struct reader *r, const char *field, const char *end)
{
	const char *at;
	struct action a;

	while (field < end && (*field == ' ' || *field == '\t'))
		field++;
	while (end > field && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	if (field == end || is_skipped(field, end))
		return ERR_OK;
	if (*field == '(')
		return read_block(r, field, end);
	at = field;
	if (read_action(&at, end, &a) && at == end) {
		append(r, a);
		return ERR_OK;
	}
	return refuse(r, field, (size_t)(end - field),
		"wanted is stage, F, B, I or W, micro-batch (below 16777216), such as 0F0; or (0F3;3B9)OVERLAP_F_B; or "
		"nothing");
}

static enum err_code read_line(struct reader *r, const char *line, const char *end)
{
	const char *field = line;

	r->position = 0;
	if (r->rank == RANKS_MAX)
		return refuse(r, line, (size_t)(end - line), "more than 65536 lines of actions: there is one per rank");
	r->first[r->rank] = r->n;
	for (const char *p = line; p <= end; p++) {
		enum err_code code;

		if (p < end && *p != ',')
			continue;
		code = read_field(r, field, p);
		if (code != ERR_OK)
			return code;
		field = p + 1;
	}
	r->first[++r->rank] = r->n;
	return ERR_OK;
}

static bool is_blank(const char *line, const char *end)
{
	while (line < end && (*line == ' ' || *line == '\t' || *line == '\r'))
		line++;
	return line == end || *line == '#';
}

static enum err_code read_lines(struct reader *r)
{
	while (r->at < r->end) {
		const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
		enum err_code code = ERR_OK;

		end = end != NULL ? end : r->end;
		if (!is_blank(r->at, end))
			code = read_line(r, r->at, end);
		if (code != ERR_OK)
			return code;
		r->at = end + 1;
		r->line++;
	}
	return ERR_OK;
}

/* Actions that are not where a placement wants them; -1: the placement does not have that many stages. */
static int64_t strays(const struct order *o, int32_t stages)
{
	int64_t n = 0;

	if (pipeline_stages(&o->pl) != stages)
		return -1;
	for (int64_t rank = 0; rank < o->pl.p; rank++)
		for (int64_t i = o->first[rank]; i < o->first[rank + 1]; i++)
			n += pipeline_rank_of(&o->pl, o->list[i].stage, o->list[i].micro_batch) != rank;
	return n;
}

/* The placement that most actions agree with; the loop for want of a better one. */
static void find_placement(struct order *o, int32_t stages)
{
	struct order best = *o;
	int64_t fewest = -1;

	for (int32_t placement = PLACEMENT_LOOP; placement < PLACEMENT_COUNT; placement++) {
		int64_t n;

		o->pl.imported = placement;
		o->pl.v = placement == PLACEMENT_LOOP ? num_ceil_div(stages, o->pl.p) : placement == PLACEMENT_V ? 2 : 1;
		n = strays(o, stages);
		if (n >= 0 && (fewest < 0 || n < fewest)) {
			fewest = n;
			best = *o;
		}
	}
	if (fewest < 0) {
		best.pl.imported = PLACEMENT_LOOP;
		best.pl.v = num_ceil_div(stages, o->pl.p);
	}
	*o = best;
}

enum err_code order_parse(const struct order_text *t, void *workspace, struct order *out, struct err *e)
{
	struct reader r = { .t = t, .at = t->text, .end = t->text + t->len, .line = 1, .e = e };
	int64_t actions, lines;
	enum err_code code;

	count_text(t, &actions, &lines);
	/* A byte order mark, as some editors write it. */
	if (t->len >= 3 && memcmp(t->text, "\xEF\xBB\xBF", 3) == 0)
		r.at += 3;
	r.first = workspace;
	r.list = (struct action *)(r.first + lines + 2);
	r.first[0] = 0;
	*out = (struct order){ .pl = { .schedule = SCHEDULE_COUNT } };
	code = read_lines(&r);
	if (code != ERR_OK)
		return code;
	if (r.n == 0)
		return err_set(e, ERR_ILLEGAL, t->name, "no actions: wanted is one line per rank, such as 0F0,0F1,0B0,0B1");
	*out = (struct order){
		.pl = { .schedule = SCHEDULE_COUNT, .p = r.rank, .m = r.micro_batches, .v = 1 }, .list = r.list, .first = r.first
	};
	if (r.stages < r.rank)
		return err_set(e, ERR_ILLEGAL, t->name, "%lld lines of actions but only %d stages: each rank has at least one",
			(long long)r.rank, (int)r.stages);
	if ((int64_t)r.stages * r.micro_batches > r.n)
		return err_set(e, ERR_ILLEGAL, t->name,
			"stage %d and micro-batch %d are named: %d x %d of them need %lld actions at least; here are %lld",
			(int)r.stages - 1, (int)r.micro_batches - 1, (int)r.stages, (int)r.micro_batches,
			2 * (long long)r.stages * r.micro_batches, (long long)r.n);
	find_placement(out, r.stages);
	if (pipeline_stages(&out->pl) != r.stages)
		return err_set(e, ERR_ILLEGAL, t->name, "%d stages do not spread evenly over %lld ranks", (int)r.stages,
			(long long)r.rank);
	code = order_check(out, r.list + actions + 1, e);
	if (code != ERR_OK && e != NULL)
		(void)snprintf(e->where, sizeof e->where, "%.150s", t->name);
	return code;
}

void order_format_rank(const struct order *o, int64_t rank, struct sink *out)
{
	int64_t n = order_count(o, rank);
	char name[40];

	for (int64_t i = 0; i < n; i++) {
		struct action a = order_at(o, rank, i);

		if (i > 0)
			sink_puts(out, a.overlap && a.kind != ACTION_FORWARD ? ";" : ",");
		if (a.overlap && a.kind == ACTION_FORWARD)
			sink_puts(out, "(");
		sink_puts(out, action_format(&a, name, sizeof name));
		if (a.overlap && a.kind != ACTION_FORWARD)
			sink_puts(out, ")OVERLAP_F_B");
	}
	sink_puts(out, "\n");
}

void order_format(const struct order *o, struct sink *out)
{
	for (int64_t rank = 0; rank < o->pl.p; rank++)
		order_format_rank(o, rank, out);
}
