/* meshplan pipeline: times on the command line and in a file, as exact ticks. */
#include "config.h"

#include "pipeline.h"

#include "file.h"
#include "i18n.h"
#include "num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIME_DECIMALS = 6,
	TIME_DIGITS = 9,
	MILLIONTHS = 1000000,
	FULL_SCALE = 10 * MILLIONTHS,
	PER_STAGE = 4,
	PARTS_MAX = 1024,
	SHOWN = 40
};

/* Reads one non-negative decimal, at most nine digits before the point and six behind it, into millionths; *text moves behind it.
 */
static bool read_time(const char **text, const char *end, int64_t *millionths)
{
	const char *p = *text;
	int64_t value = 0;
	int decimals = -1, digits = 0;

	for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && decimals < 0)); p++) {
		if (*p == '.') {
			decimals = 0;
			continue;
		}
		if (decimals < 0 ? ++digits > TIME_DIGITS : ++decimals > TIME_DECIMALS)
			return false;
		value = value * 10 + (*p - '0');
	}
	if (digits == 0 && decimals < 1)
		return false;
	for (int i = decimals < 0 ? 0 : decimals; i < TIME_DECIMALS; i++)
		value *= 10;
	*text = p;
	*millionths = value;
	return true;
}

/* Reads up to `most` times, separated by commas. Returns how many, 0 when the text is something else. */
static int read_times(const char *text, const char *end, int64_t *values, int most)
{
	for (int n = 0; n < most && read_time(&text, end, &values[n]);) {
		n++;
		if (text == end)
			return n;
		if (*text++ != ',')
			return 0;
	}
	return 0;
}

/* F,B or F,I,W in ticks of a ten-millionth: half of a B may need one digit more than was read. */
static void set_times(const int64_t *v, int n, int64_t *f, int64_t *i, int64_t *w, int64_t *b)
{
	*f = v[0] * 10;
	*i = n == 3 ? v[1] * 10 : v[1] * 5;
	*w = n == 3 ? v[2] * 10 : v[1] * 5;
	*b = *i + *w;
}

/* The i-th of all times, NULL behind the last. */
static int64_t *time_at(struct pipeline_times *t, int64_t i)
{
	int64_t *const uniform[] = { &t->ticks.forward, &t->ticks.backward, &t->ticks.input, &t->ticks.weight, &t->ticks.comm,
		&t->ticks.overlap };
	const int64_t n = sizeof uniform / sizeof uniform[0];

	if (i < n)
		return uniform[i];
	return t->stage != NULL && i - n < PER_STAGE * t->stages ? &t->stage[i - n] : NULL;
}

/* Divides everything by the largest power of ten that leaves whole ticks. */
static void shrink(struct pipeline_times *t)
{
	while (t->scale > 1) {
		int64_t *x;

		for (int64_t i = 0; (x = time_at(t, i)) != NULL; i++)
			if (*x % 10 != 0)
				return;
		for (int64_t i = 0; (x = time_at(t, i)) != NULL; i++)
			*x /= 10;
		t->scale /= 10;
	}
}

/* One time, in ticks of a ten-millionth; absent: left as it is. */
static enum err_code read_option(const struct args *a, enum option_id id, int64_t *ticks, struct err *e)
{
	const char *text = args_option(a, id);
	int64_t v;

	if (text == NULL)
		return ERR_OK;
	if (read_times(text, text + strlen(text), &v, 1) != 1)
		return err_set(e, ERR_USAGE, option_table[id].key,
			_("\"%.60s\": wanted is a non-negative decimal below 10^9 with at most 6 decimals, such as 0.1"), text);
	*ticks = v * 10;
	return ERR_OK;
}

enum err_code pipeline_times_read(const struct args *a, struct pipeline_times *t, struct err *e)
{
	const char *times = args_option(a, OPTION_TIMES);
	struct schedule_times *s = &t->ticks;
	int64_t v[3] = { MILLIONTHS, MILLIONTHS, MILLIONTHS };
	int n = times != NULL ? read_times(times, times + strlen(times), v, 3) : 3;
	enum err_code code;

	*t = (struct pipeline_times){ .scale = FULL_SCALE };
	if (n < 2)
		return err_set(e, ERR_USAGE, "times",
			_("\"%.60s\": wanted are F,B or F,I,W: non-negative decimals below 10^9 with at most 6 decimals, such as "
			  "1,2"),
			times);
	set_times(v, n, &s->forward, &s->input, &s->weight, &s->backward);
	code = read_option(a, OPTION_COMM, &s->comm, e);
	if (code == ERR_OK)
		code = read_option(a, OPTION_OVERLAP_TIME, &s->overlap, e);
	if (code == ERR_OK && args_option(a, OPTION_OVERLAP_TIME) != NULL && s->overlap == 0)
		return err_set(e, ERR_RANGE, "overlap-time", _("a block that takes no time; legal here: more than 0"));
	shrink(t);
	return code;
}

/* The next line that is neither blank nor a comment, without blanks around it; false at the end. */
static bool next_line(const char **at, const char *end, int64_t *number, const char **line, const char **line_end)
{
	while (*at < end) {
		const char *stop = memchr(*at, '\n', (size_t)(end - *at));

		*line = *at;
		*line_end = stop != NULL ? stop : end;
		*at = stop != NULL ? stop + 1 : end;
		++*number;
		while (*line < *line_end && (**line == ' ' || **line == '\t'))
			++*line;
		while (*line_end > *line && ((*line_end)[-1] == ' ' || (*line_end)[-1] == '\t' || (*line_end)[-1] == '\r'))
			--*line_end;
		if (*line < *line_end && **line != '#')
			return true;
	}
	return false;
}

static enum err_code bad_line(const char *path, int64_t number, const char *line, const char *end, struct err *e)
{
	char where[ERR_WHERE_CAP], shown[SHOWN + 1];
	size_t n = 0;

	for (; line < end && n < SHOWN; line++)
		shown[n++] = *line >= ' ' && *line < 127 ? *line : '?';
	shown[n] = '\0';
	(void)snprintf(where, sizeof where, "%.100s:%lld", path, (long long)number);
	return err_set(e, ERR_USAGE, where,
		_("\"%s\": wanted are F,I,W or F,B of one stage: non-negative decimals below 10^9 with at most 6 decimals"),
		shown);
}

/* Reads all lines, into t->stage where that is there; *n: how many. */
static enum err_code read_stages(
	const char *path, const char *text, size_t len, const struct pipeline_times *t, int64_t *n, struct err *e)
{
	const char *at = text, *end = text + len, *line, *line_end;
	int64_t number = 0, v[3];

	for (*n = 0; next_line(&at, end, &number, &line, &line_end); ++*n) {
		int k = read_times(line, line_end, v, 3);

		if (k < 2)
			return bad_line(path, number, line, line_end, e);
		if (t->stage != NULL)
			set_times(v, k, &t->stage[*n], &t->stage[t->stages + *n], &t->stage[2 * t->stages + *n],
				&t->stage[3 * t->stages + *n]);
	}
	return ERR_OK;
}

static enum err_code check_stages(const char *path, int64_t given, int64_t stages, bool divided, struct err *e)
{
	bool good = divided ? given > 0 && given % stages == 0 && given / stages <= PARTS_MAX : given == stages;

	return good ? ERR_OK
		    : err_set(e, ERR_USAGE, path,
			      divided ? _("times of %lld stages; for a comparison wanted are 1 to 1024 times %lld")
				      : _("times of %lld stages; this pipeline has %lld"),
			      (long long)given, (long long)stages);
}

/* The unit of all times is the smallest that was read. */
static void share_unit(struct pipeline_times *t)
{
	struct schedule_times *s = &t->ticks;
	const int64_t n = t->stages;

	s->comm *= FULL_SCALE / t->scale;
	s->overlap *= FULL_SCALE / t->scale;
	t->scale = FULL_SCALE;
	/* The scale of the drawing: a forward of the first stage. */
	s->forward = t->stage[0];
	s->input = t->stage[n];
	s->weight = t->stage[2 * n];
	s->backward = t->stage[3 * n];
	shrink(t);
	s->stage_forward = t->stage;
	s->stage_input = t->stage + n;
	s->stage_weight = t->stage + 2 * n;
	s->stage_backward = t->stage + 3 * n;
}

enum err_code pipeline_times_parse(
	const char *path, const char *text, size_t len, int64_t stages, bool divided, struct pipeline_times *t, struct err *e)
{
	int64_t n = 0;
	enum err_code code = read_stages(path, text, len, t, &n, e);

	if (code == ERR_OK)
		code = check_stages(path, n, stages, divided, e);
	if (code != ERR_OK)
		return code;
	t->stages = n;
	t->stage = cli_alloc((size_t)(PER_STAGE * n) * sizeof t->stage[0]);
	code = read_stages(path, text, len, t, &n, e);
	share_unit(t);
	return code;
}

enum err_code pipeline_times_stages(const char *path, int64_t stages, bool divided, struct pipeline_times *t, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	enum err_code code = file_read(path, PIPELINE_FILE_MAX_BYTES, &text, &len, e);

	if (code == ERR_OK)
		code = pipeline_times_parse(path, text, len, stages, divided, t, e);
	free(text);
	return code;
}

enum err_code pipeline_costs_read(const struct args *a, struct order_costs *c, struct err *e)
{
	const char *text = args_option(a, OPTION_ORDER_TIMES);
	int64_t v[4] = { 0 }, scale = MILLIONTHS;

	*c = (struct order_costs){ 0 };
	if (text == NULL)
		return ERR_OK;
	if (read_times(text, text + strlen(text), v, 4) != 4)
		return err_set(e, ERR_USAGE, "order-times",
			_("\"%.60s\": wanted are F,I,W,C: four non-negative decimals below 10^9, such as 1,1,1,0"), text);
	while (scale > 1 && v[0] % 10 == 0 && v[1] % 10 == 0 && v[2] % 10 == 0 && v[3] % 10 == 0) {
		scale /= 10;
		for (int i = 0; i < 4; i++)
			v[i] /= 10;
	}
	*c = (struct order_costs){ v[0], v[1], v[2], v[3] };
	return ERR_OK;
}

double pipeline_units(const struct pipeline_times *t, int64_t ticks)
{
	return (double)ticks / (double)t->scale;
}

static void range_text(
	const struct pipeline_times *t, const char *before, const int64_t *stage, int64_t uniform, struct sink *out)
{
	int64_t low = uniform, high = uniform;

	for (int64_t i = 0; stage != NULL && i < t->stages; i++) {
		low = num_min(low, stage[i]);
		high = num_max(high, stage[i]);
	}
	sink_printf(out, "%s%.15g", before, pipeline_units(t, low));
	if (high > low)
		sink_printf(out, " .. %.15g", pipeline_units(t, high));
}

void pipeline_times_text(const struct pipeline_times *t, struct sink *out)
{
	const struct schedule_times *s = &t->ticks;

	range_text(t, "F ", s->stage_forward, s->forward, out);
	range_text(t, ", I ", s->stage_input, s->input, out);
	range_text(t, ", W ", s->stage_weight, s->weight, out);
	range_text(t, ", B ", s->stage_backward, s->backward, out);
	if (s->comm > 0)
		sink_printf(out, _(", between ranks %.15g"), pipeline_units(t, s->comm));
	if (s->overlap > 0)
		sink_printf(out, _(", overlapped block %.15g"), pipeline_units(t, s->overlap));
}
