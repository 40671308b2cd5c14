#include "lab.h"

#include "catalog.h"
#include "lab_internal.h"
#include "num.h"
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
};

const struct lab *const lab_table[] = { &lab_dp, &lab_allreduce, &lab_tp, &lab_fsdp, &lab_pp, &lab_accum, &lab_checkpoint,
	&lab_precision, &lab_moe, &lab_offload, NULL };

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

void lab_input_init(struct lab_input *in, const struct lab *lab, const struct scenario *s)
{
	*in = (struct lab_input){ .lab = lab, .scenario = s };
	for (size_t i = 0; i < lab->n_params; i++)
		in->value[i] = lab->params[i].dflt;
}

/* "ring, tree". Returns buf. */
static char *list_words(const struct lab_param *p, char *buf, size_t cap)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int64_t i = 0; p->word(i) != NULL && len < cap; i++) {
		int n = snprintf(buf + len, cap - len, "%s%s", i > 0 ? ", " : "", p->word(i));

		len += n > 0 ? (size_t)n : 0;
	}
	return buf;
}

static enum err_code parse_word(const struct lab_param *p, const char *text, double *value, struct err *e)
{
	char names[200];

	for (int64_t i = 0; p->word(i) != NULL; i++)
		if (strcmp(p->word(i), text) == 0) {
			*value = (double)i;
			return ERR_OK;
		}
	return err_set(e, ERR_USAGE, p->key, "\"%.40s\": legal here: %s", text, list_words(p, names, sizeof names));
}

static enum err_code parse_flag(const struct lab_param *p, const char *text, double *value, struct err *e)
{
	bool on = strcmp(text, "on") == 0;

	if (!on && strcmp(text, "off") != 0)
		return err_set(e, ERR_USAGE, p->key, "\"%.40s\": legal here: on, off", text);
	*value = on ? 1 : 0;
	return ERR_OK;
}

static enum err_code check_range(const struct lab_param *p, double value, const char *text, struct err *e)
{
	/* Written so that a NaN is outside as well. */
	if (value >= p->min && value <= p->max)
		return ERR_OK;
	return err_set(e, ERR_RANGE, p->key, "%.40s: legal here: %.10g .. %.10g", text, p->min, p->max);
}

enum err_code lab_input_set(struct lab_input *in, const struct lab_param *p, const char *text, struct err *e)
{
	int64_t count = 0;
	double value = 0;
	enum err_code code = ERR_OK;

	switch (p->type) {
	case LAB_PARAM_INT:
		code = units_parse_count(text, p->key, 1000, &count, e);
		value = (double)count;
		break;
	case LAB_PARAM_REAL:
		code = units_parse_real(text, p->key, &value, e);
		break;
	case LAB_PARAM_FLAG:
		code = parse_flag(p, text, &value, e);
		break;
	case LAB_PARAM_WORD:
		code = parse_word(p, text, &value, e);
		break;
	}
	if (code == ERR_OK)
		code = check_range(p, value, text, e);
	if (code == ERR_OK)
		in->value[p - in->lab->params] = value;
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

bool lab_proven(const struct lab_run *run)
{
	for (int32_t i = 0; i < run->n_claims; i++)
		if (!run->claims[i].holds)
			return false;
	return true;
}

void lab_step(const struct lab_run *run, int64_t k, struct lab_step *out)
{
	*out = (struct lab_step){ .rows = 0 };
	run->input.lab->step(run, k, out);
}

void lab_row(const struct lab_run *run, int64_t k, int64_t row, struct lab_row *out)
{
	*out = (struct lab_row){ .label = "" };
	for (size_t i = 0; i < LAB_COLUMNS_MAX; i++)
		out->value[i] = (double)NAN;
	run->input.lab->row(run, k, row, out);
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
