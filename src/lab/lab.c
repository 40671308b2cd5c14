#include "lab.h"

#include "catalog.h"
#include "lab_internal.h"
#include "num.h"
#include "sink.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const lab_unit_names[LAB_UNIT_COUNT] = {
	[LAB_COUNT] = "",
	[LAB_BYTES] = "bytes",
	[LAB_SECONDS] = "s",
	[LAB_REAL] = "",
	[LAB_PERCENT] = "%",
	[LAB_RATE] = "bytes/s",
};

#define LAB_ROW(id) &lab_##id,
const struct lab *const lab_table[] = { LAB_TABLE(LAB_ROW) NULL };

const struct lab *lab_find(const char *id)
{
	for (size_t i = 0; lab_table[i] != NULL; i++)
		if (strcmp(lab_table[i]->id, id) == 0)
			return lab_table[i];
	return NULL;
}

const struct lab_param *lab_param_find(const struct lab *lab, const char *key)
{
	for (size_t i = 0; i < lab->n_params; i++)
		if (strcmp(lab->params[i].key, key) == 0)
			return &lab->params[i];
	return NULL;
}

static double default_of(const struct lab *lab, size_t i, const struct scenario *s)
{
	const struct lab_param *p = &lab->params[i];
	double value = lab->preset != NULL ? lab->preset(s, i) : (double)NAN;

	return value >= p->min && value <= p->max ? value : p->dflt;
}

void lab_input_init(struct lab_input *in, const struct lab *lab, const struct scenario *s)
{
	*in = (struct lab_input){ .lab = lab };
	lab_input_follow(in, s);
}

void lab_input_follow(struct lab_input *in, const struct scenario *s)
{
	in->scenario = s;
	for (size_t i = 0; i < in->lab->n_params; i++)
		if (!in->given[i])
			in->value[i] = default_of(in->lab, i, s);
}

void lab_input_put(struct lab_input *in, const struct lab_param *p, double value)
{
	in->value[p - in->lab->params] = value;
	in->given[p - in->lab->params] = true;
}

char *lab_param_legal(const struct lab_param *p, char *buf, size_t cap)
{
	struct sink out;

	sink_init(&out, buf, cap, NULL, NULL);
	if (p->type == LAB_PARAM_FLAG)
		sink_puts(&out, "on, off");
	else if (p->type == LAB_PARAM_INT)
		sink_printf(&out, "%.0f .. %.0f", p->min, p->max);
	else if (p->type == LAB_PARAM_REAL)
		sink_printf(&out, "%.10g .. %.10g", p->min, p->max);
	for (int64_t i = 0; p->type == LAB_PARAM_WORD && p->word(i) != NULL; i++)
		sink_printf(&out, "%s%s", i > 0 ? ", " : "", p->word(i));
	return buf;
}

char *lab_param_format(const struct lab_param *p, double value, char *buf, size_t cap)
{
	if (p->type == LAB_PARAM_WORD)
		(void)snprintf(buf, cap, "%s", p->word((int64_t)value));
	else if (p->type == LAB_PARAM_FLAG)
		(void)snprintf(buf, cap, "%s", value > 0 ? "on" : "off");
	else
		(void)snprintf(buf, cap, "%.15g", value);
	return buf;
}

static enum err_code refuse(const struct lab_param *p, enum err_code code, const char *text, struct err *e)
{
	char legal[300];

	return err_set(e, code, p->key, code == ERR_USAGE ? "\"%.40s\": legal here: %s" : "%.40s: legal here: %s", text,
		lab_param_legal(p, legal, sizeof legal));
}

/* Words and flags alike: value i is the i-th of the names. */
static enum err_code parse_name(const struct lab_param *p, const char *text, double *value, struct err *e)
{
	for (int64_t i = 0; i <= (int64_t)p->max; i++) {
		char name[40];

		if (strcmp(lab_param_format(p, (double)i, name, sizeof name), text) == 0) {
			*value = (double)i;
			return ERR_OK;
		}
	}
	return refuse(p, ERR_USAGE, text, e);
}

static enum err_code parse_number(const struct lab_param *p, const char *text, double *value, struct err *e)
{
	int64_t count = 0;
	enum err_code code;

	if (p->type == LAB_PARAM_REAL)
		return units_parse_real(text, p->key, value, e);
	code = units_parse_count(text, p->key, 1000, &count, e);
	if (code == ERR_OK)
		*value = (double)count;
	return code;
}

static enum err_code check_range(const struct lab_param *p, double value, const char *text, struct err *e)
{
	/* Written so that a NaN is outside as well. */
	return value >= p->min && value <= p->max ? ERR_OK : refuse(p, ERR_RANGE, text, e);
}

enum err_code lab_param_parse(const struct lab_param *p, const char *text, double *value, struct err *e)
{
	enum err_code code;

	*value = (double)NAN;
	if (p->type == LAB_PARAM_WORD || p->type == LAB_PARAM_FLAG)
		return parse_name(p, text, value, e);
	code = parse_number(p, text, value, e);
	return code == ERR_OK ? check_range(p, *value, text, e) : code;
}

enum err_code lab_input_set(struct lab_input *in, const struct lab_param *p, const char *text, struct err *e)
{
	double value;
	enum err_code code = lab_param_parse(p, text, &value, e);

	if (code == ERR_OK)
		lab_input_put(in, p, value);
	return code;
}

/* Takes "key value" of "--key value --key value". False at the end. */
static bool next_flag(const char **text, char key[LAB_LABEL_CAP], char value[LAB_LABEL_CAP])
{
	char *const to[] = { key, value };

	*text += strspn(*text, " -");
	for (int i = 0; i < 2; i++) {
		size_t len = strcspn(*text, " ");

		(void)snprintf(to[i], LAB_LABEL_CAP, "%.*s", (int)len, *text);
		*text += len + ((*text)[len] == ' ');
	}
	return *key != '\0';
}

enum err_code lab_input_next(const struct lab_run *run, struct lab_input *next, struct err *e)
{
	const char *at = run->next;
	char key[LAB_LABEL_CAP], value[LAB_LABEL_CAP];
	enum err_code code = ERR_OK;

	*next = run->input;
	while (code == ERR_OK && next_flag(&at, key, value)) {
		const struct lab_param *p = lab_param_find(next->lab, key);

		code = p != NULL ? lab_input_set(next, p, value, e)
				 : err_set(e, ERR_INTERNAL, key, "asked for by lab %s", next->lab->id);
	}
	return code;
}

enum err_code lab_input_check(const struct lab_input *in, struct err *e)
{
	for (size_t i = 0; i < in->lab->n_params; i++) {
		const struct lab_param *p = &in->lab->params[i];
		char text[40];
		enum err_code code;

		(void)snprintf(text, sizeof text, "%.10g", in->value[i]);
		code = check_range(p, in->value[i], text, e);
		if (code != ERR_OK)
			return code;
		if (p->type != LAB_PARAM_REAL && in->value[i] != floor(in->value[i]))
			return err_set(e, ERR_RANGE, p->key, "%s: a whole number is wanted", text);
	}
	return in->lab->check != NULL ? in->lab->check(in, e) : ERR_OK;
}

void *lab_take(struct lab_arena *a, int64_t n, size_t size)
{
	const int64_t align = (int64_t)sizeof(max_align_t);
	int64_t bytes, at = a->used;

	if (!num_mul(n, (int64_t)size, &bytes) || bytes > INT64_MAX / 4 || !num_add(at, num_round_up(bytes, align), &a->used)) {
		a->used = INT64_MAX;
		return NULL;
	}
	if (a->base == NULL)
		return NULL;
	memset(a->base + at, 0, (size_t)bytes);
	return a->base + at;
}

void lab_work(int64_t *total, int64_t a, int64_t b, int64_t c)
{
	int64_t product;

	if (!num_mul(a, b, &product) || !num_mul(product, c, &product) || !num_add(*total, product, total))
		*total = INT64_MAX;
}

enum err_code lab_workspace_size(const struct lab_input *in, struct lab_size *size, struct err *e)
{
	struct lab_arena a = { .base = NULL };
	enum err_code code = lab_input_check(in, e);

	if (code != ERR_OK)
		return code;
	*size = (struct lab_size){ 0 };
	(void)in->lab->layout(&a, in, &size->work);
	size->bytes = a.used;
	if (size->bytes > LAB_BYTES_MAX)
		return err_set(e, ERR_RANGE, "",
			"lab %s: these sizes need %.3g MiB; the limit is %" PRId64
			" MiB, so that a run fits beside other work: lower one of the sizes",
			in->lab->id, (double)size->bytes / 1048576, LAB_BYTES_MAX / 1048576);
	if (size->work > LAB_WORK_MAX)
		return err_set(e, ERR_RANGE, "",
			"lab %s: these sizes need %.3g multiply-adds; the limit is %.3g, a few seconds: lower one of the sizes",
			in->lab->id, (double)size->work, (double)LAB_WORK_MAX);
	return ERR_OK;
}

enum err_code lab_run(const struct lab_input *in, void *workspace, int64_t bytes, struct lab_run *run, struct err *e)
{
	struct lab_arena a = { .base = workspace };
	struct lab_size size;
	enum err_code code = lab_workspace_size(in, &size, e);
	int64_t work = 0;
	void *state;

	if (code != ERR_OK)
		return code;
	if (workspace == NULL || bytes < size.bytes)
		return err_set(e, ERR_INTERNAL, "", "lab %s: a workspace of %" PRId64 " bytes, wanted %" PRId64, in->lab->id,
			bytes, size.bytes);
	*run = (struct lab_run){ .input = *in };
	state = in->lab->layout(&a, in, &work);
	run->state = state;
	return in->lab->run(run, state, e);
}

enum err_code lab_answer_parse(const struct lab_run *run, const char *text, double *value, struct err *e)
{
	const char *where = "predict";
	int64_t whole = 0;
	enum err_code code;

	if (units_parse_real(text, where, value, NULL) == ERR_OK)
		return ERR_OK;
	if (run->answer_unit != LAB_BYTES && run->answer_unit != LAB_COUNT)
		return units_parse_real(text, where, value, e);
	code = run->answer_unit == LAB_BYTES ? units_parse_bytes(text, where, &whole, e)
					     : units_parse_count(text, where, 1000, &whole, e);
	*value = (double)whole;
	return code;
}

bool lab_proven(const struct lab_run *run)
{
	for (int32_t i = 0; i < run->n_claims; i++)
		if (!run->claims[i].holds)
			return false;
	return true;
}

void lab_step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	*out = (struct lab_step){ .words = run->input.words };
	run->input.lab->step(run, k, out);
}

void lab_row(const struct lab_run *run, int64_t k, int64_t row, struct lab_row *out)
{
	*out = (struct lab_row){ .words = run->input.words };
	for (size_t i = 0; i < LAB_COLUMNS_MAX; i++)
		out->value[i] = (double)NAN;
	run->input.lab->row(run, k, row, out);
}

void lab_title(struct lab_step *out, const char *text, const struct lab_arg *args)
{
	(void)lab_say(out->words, out->title, sizeof out->title, text, NULL, args);
}

void lab_label(struct lab_row *out, const char *text, const struct lab_arg *args)
{
	(void)lab_say(out->words, out->label, sizeof out->label, text, NULL, args);
}

void lab_note(struct lab_row *out, const char *text, const struct lab_arg *args)
{
	(void)lab_say(out->words, out->text, sizeof out->text, text, NULL, args);
}

int64_t lab_next(const struct lab_run *run, size_t param)
{
	struct lab_input in = run->input;
	const int64_t now = lab_int(&in, param), others[] = { 2 * now, now / 2, now + 1, now - 1 };
	struct lab_size size;

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		in.value[param] = (double)others[i];
		if (others[i] != now && lab_workspace_size(&in, &size, NULL) == ERR_OK)
			return others[i];
	}
	return now;
}

void lab_ask(struct lab_run *run, const char *one, const char *many, const struct lab_arg *args)
{
	(void)lab_say(run->input.words, run->question, sizeof run->question, one, many, args);
}

const char *lab_number_word(int64_t value)
{
	static const char *const words[] = { "whole", "real" };

	return value >= 0 && value < 2 ? words[value] : NULL;
}

void lab_add_fact(struct lab_run *run, const char *key, const char *label, enum lab_unit unit, double value)
{
	if (run->n_facts < LAB_FACTS_MAX)
		run->facts[run->n_facts++] = (struct lab_fact){ .key = key, .label = label, .unit = unit, .value = value };
}

static void add_claim(struct lab_run *run, const struct lab_claim *c)
{
	if (run->n_claims < LAB_CLAIMS_MAX)
		run->claims[run->n_claims++] = *c;
}

void lab_claim_close(
	struct lab_run *run, const char *key, const char *text, enum lab_unit unit, double got, double want, double tolerance)
{
	double d = fabs(got - want);

	add_claim(run, &(struct lab_claim){ key, text, unit, got, want, d, tolerance, d <= tolerance });
}

void lab_claim_equal(struct lab_run *run, const char *key, const char *text, enum lab_unit unit, double got, double want)
{
	lab_claim_close(run, key, text, unit, got, want, 0);
}

void lab_claim_same(struct lab_run *run, const char *key, const char *text, double difference, double tolerance)
{
	add_claim(run,
		&(struct lab_claim){
			key, text, LAB_REAL, (double)NAN, (double)NAN, difference, tolerance, difference <= tolerance });
}

void lab_set_answer(struct lab_run *run, const char *label, enum lab_unit unit, double answer)
{
	run->answer_label = label;
	run->answer_unit = unit;
	run->answer = answer;
}
