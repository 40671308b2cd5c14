#include "lab_report.h"

#include "lab_internal.h"
#include "num.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLS = 80, GAP = 2, FACT_COLS = 74 };

static const char *tr(const struct lab_run *run, const char *text)
{
	return lab_word(run->input.words, text);
}

/* A sentence with gaps; see lab_say. */
static void say(const struct lab_run *run, struct sink *out, const char *one, const char *many, const struct lab_arg *args)
{
	char text[2 * LAB_TEXT_CAP];

	sink_puts(out, lab_say(run->input.words, text, sizeof text, one, many, args));
}

/* The largest unit not above the value. */
static char *format_scaled(double value, const char *const *names, double factor, int n, char *buf, size_t cap)
{
	char digits[40];
	int i = 0;

	while (i < n - 1 && fabs(value) >= factor * 0.9995) {
		value /= factor;
		i++;
	}
	(void)snprintf(buf, cap, "%s %s", units_format_f4(value, digits, sizeof digits), names[i]);
	return buf;
}

static char *format_bytes(double value, double most_in_full, char *buf, size_t cap)
{
	static const char *const names[] = { "kB", "MB", "GB", "TB", "PB" };
	char digits[40];

	if (fabs(value) >= most_in_full)
		return format_scaled(value / 1e3, names, 1000, 5, buf, cap);
	if (value != floor(value))
		(void)snprintf(buf, cap, "%s B", units_format_f4(value, digits, sizeof digits));
	else
		(void)snprintf(buf, cap, "%s B", units_format_commas((int64_t)value, digits, sizeof digits));
	return buf;
}

static char *format_seconds(double value, char *buf, size_t cap)
{
	static const char *const names[] = { "ns", "us", "ms", "s" };

	return format_scaled(value * 1e9, names, 1000, 4, buf, cap);
}

static char *format_count(double value, char *buf, size_t cap)
{
	char digits[40];

	if (value != floor(value))
		return units_format_f4(value, buf, cap);
	if (fabs(value) < 1e7)
		(void)snprintf(buf, cap, "%s", units_format_commas((int64_t)value, digits, sizeof digits));
	else
		(void)snprintf(buf, cap, "%s", units_format_count((int64_t)value, digits, sizeof digits));
	return buf;
}

char *lab_format(enum lab_unit unit, double value, char *buf, size_t cap)
{
	char digits[40];

	if (!isfinite(value) && (isnan(value) || unit != LAB_REAL)) {
		(void)snprintf(buf, cap, "-");
		return buf;
	}
	switch (unit) {
	case LAB_BYTES:
		return format_bytes(value, 1e7, buf, cap);
	case LAB_SECONDS:
		return format_seconds(value, buf, cap);
	case LAB_COUNT:
		return format_count(value, buf, cap);
	case LAB_PERCENT:
		(void)snprintf(buf, cap, "%s %%", units_format_f4(value, digits, sizeof digits));
		return buf;
	case LAB_RATE:
		(void)snprintf(buf, cap, "%s/s", format_bytes(value, 1e5, digits, sizeof digits));
		return buf;
	case LAB_REAL:
	case LAB_UNIT_COUNT:
		break;
	}
	(void)snprintf(buf, cap, "%.4g", value);
	return buf;
}

char *lab_format_short(enum lab_unit unit, double value, char *buf, size_t cap)
{
	if (unit == LAB_BYTES && isfinite(value))
		return format_bytes(value, 1e5, buf, cap);
	return lab_format(unit, value, buf, cap);
}

int64_t lab_report_rows(const struct lab_step *s, const struct lab_report_options *o)
{
	return num_min(s->rows, o->steps ? LAB_ROWS_ALL : LAB_ROWS_SHORT);
}

/* Columns of a UTF-8 text. ASSUMPTION: one a character; a language of wide ones loses the alignment, nothing else. */
static int columns(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0U) != 0x80U;
	return n;
}

/* Width of the label column, and of each value column with the gap before it. */
static void measure(const struct lab_run *run, int64_t k, const struct lab_step *s, int64_t rows, int *width)
{
	char text[64];
	int all = 0;

	width[0] = 0;
	for (int32_t c = 0; c < s->n_columns; c++)
		width[c + 1] = columns(tr(run, s->columns[c].label));
	for (int64_t r = 0; r < rows; r++) {
		struct lab_row row;

		lab_row(run, k, r, &row);
		width[0] = (int)num_max(width[0], columns(row.label));
		for (int32_t c = 0; c < s->n_columns; c++)
			width[c + 1] = (int)num_max(
				width[c + 1], columns(lab_format_short(s->columns[c].unit, row.value[c], text, sizeof text)));
	}
	for (int32_t c = 0; c <= s->n_columns; c++)
		all += width[c];
	for (int32_t c = 1; c <= s->n_columns; c++)
		width[c] += GAP + all + GAP * s->n_columns <= COLS ? GAP : 1;
}

/* The text at the end of a row, `at` columns in: broken at blanks where it would pass the last column. */
static void print_note(const char *text, int at, struct sink *out)
{
	int x = at;

	while (*text != '\0') {
		size_t blanks = strspn(text, " "), len = blanks + strcspn(text + blanks, " ");
		char word[LAB_TEXT_CAP];

		(void)snprintf(word, sizeof word, "%.*s", (int)len, text);
		if (x > at && x + columns(word) > COLS) {
			sink_puts(out, "\n");
			sink_repeat(out, " ", at);
			x = at;
			memmove(word, word + blanks, len - blanks + 1);
		}
		sink_puts(out, word);
		x += columns(word);
		text += len;
	}
}

static int longest_word(const char *text)
{
	int longest = 0;

	for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");
		char word[LAB_TEXT_CAP];

		(void)snprintf(word, sizeof word, "%.*s", (int)len, text);
		longest = (int)num_max(longest, columns(word));
		text += len;
	}
	return longest;
}

static void print_right(const char *text, int width, struct sink *out)
{
	sink_repeat(out, " ", width - columns(text));
	sink_puts(out, text);
}

static void print_row(const struct lab_step *s, const struct lab_row *row, const int *width, struct sink *out)
{
	int at = GAP + width[0];

	sink_printf(out, "  %s", row->label);
	sink_repeat(out, " ", width[0] - columns(row->label));
	for (int32_t c = 0; c < s->n_columns; c++) {
		char text[64];

		print_right(lab_format_short(s->columns[c].unit, row->value[c], text, sizeof text), width[c + 1], out);
		at += width[c + 1];
	}
	/* A drawing that has no room beside the columns goes below them. */
	if (row->text[0] != '\0' && at + GAP + longest_word(row->text) > COLS) {
		sink_puts(out, "\n  ");
		at = GAP;
	}
	if (row->text[0] != '\0') {
		sink_puts(out, "  ");
		print_note(row->text, at + GAP, out);
	}
	sink_puts(out, "\n");
}

void lab_report_step(const struct lab_run *run, int64_t k, const struct lab_report_options *o, struct sink *out)
{
	int width[LAB_COLUMNS_MAX + 1];
	struct lab_step s;
	int64_t rows;

	lab_step(run, k, &s);
	rows = lab_report_rows(&s, o);
	measure(run, k, &s, rows, width);
	print_note(s.title, 0, out);
	sink_puts(out, "\n");
	if (s.n_columns > 0) {
		sink_repeat(out, " ", GAP + width[0]);
		for (int32_t c = 0; c < s.n_columns; c++)
			print_right(tr(run, s.columns[c].label), width[c + 1], out);
		sink_puts(out, "\n");
	}
	for (int64_t r = 0; r < rows; r++) {
		struct lab_row row;

		lab_row(run, k, r, &row);
		print_row(&s, &row, width, out);
	}
	if (rows < s.rows)
		say(run, out, NN_("  and %1 more\n", "  and %1 more\n"), LAB_ARGS(LAB_NUMBER(s.rows - rows)));
}

static void print_params(const struct lab_run *run, struct sink *out)
{
	size_t at = 0;

	for (size_t i = 0; i < run->input.lab->n_params; i++) {
		const struct lab_param *p = &run->input.lab->params[i];
		char value[40], text[100];
		int n = snprintf(
			text, sizeof text, "%s %s", p->key, lab_param_format(p, run->input.value[i], value, sizeof value));

		if (at > 0 && at + GAP + (size_t)n > COLS) {
			sink_puts(out, "\n");
			at = 0;
		}
		sink_printf(out, "%s%s", at > 0 ? "  " : "", text);
		at += (at > 0 ? GAP : 0) + (size_t)n;
	}
	sink_puts(out, "\n");
}

static void print_facts(const struct lab_run *run, struct sink *out)
{
	if (run->n_facts > 0)
		sink_printf(out, "\n%s\n", tr(run, N_("NUMBERS")));
	for (int32_t i = 0; i < run->n_facts; i++) {
		const struct lab_fact *f = &run->facts[i];
		const char *label = tr(run, f->label);
		char text[64];

		sink_printf(out, "  %s ", label);
		print_right(lab_format(f->unit, f->value, text, sizeof text), FACT_COLS - columns(label), out);
		sink_puts(out, "\n");
	}
}

char *lab_claim_format(const struct lab_run *run, const struct lab_claim *c, char *buf, size_t cap)
{
	const struct lab_words *w = run->input.words;
	char a[64], b[64], off[40], allowed[40], rounding[LAB_TEXT_CAP] = "";

	(void)snprintf(off, sizeof off, "%.3g", c->difference);
	(void)snprintf(allowed, sizeof allowed, "%.3g", c->tolerance);
	if (c->tolerance > 0)
		(void)lab_say(w, rounding, sizeof rounding, N_(", rounding allows %1"), NULL, LAB_ARGS(LAB_NAME(allowed)));
	if (isnan(c->got))
		return lab_say(w, buf, cap, N_("difference %1%2"), NULL, LAB_ARGS(LAB_NAME(off), LAB_NAME(rounding)));
	return lab_say(w, buf, cap, N_("%1 and %2, difference %3%4"), NULL,
		LAB_ARGS(LAB_NAME(lab_format(c->unit, c->got, a, sizeof a)), LAB_NAME(lab_format(c->unit, c->want, b, sizeof b)),
			LAB_NAME(off), LAB_NAME(rounding)));
}

static void print_claim(const struct lab_run *run, const struct lab_claim *c, struct sink *out)
{
	char text[2 * LAB_TEXT_CAP];

	sink_printf(out, "  %-4s %s\n", tr(run, c->holds ? N_("yes") : N_("NO")), tr(run, c->text));
	sink_printf(out, "       %s\n", lab_claim_format(run, c, text, sizeof text));
}

char *lab_answer_judge(const struct lab_run *run, double prediction, char *buf, size_t cap)
{
	double d = prediction - run->answer;
	char a[64], b[64], off[64];
	const struct lab_arg args[] = { LAB_NAME(lab_format(run->answer_unit, prediction, a, sizeof a)),
		LAB_NAME(lab_format(run->answer_unit, run->answer, b, sizeof b)), LAB_NAME(off) };

	if (d == 0)
		return lab_say(run->input.words, buf, cap, N_("you said %1, it is %2: exactly right"), NULL, args);
	if (run->answer == 0) {
		(void)lab_format(run->answer_unit, fabs(d), off, sizeof off);
		return lab_say(run->input.words, buf, cap, N_("you said %1, it is %2: off by %3"), NULL, args);
	}
	(void)units_format_f4(100 * fabs(d / run->answer), off, sizeof off);
	return lab_say(run->input.words, buf, cap,
		d > 0 ? N_("you said %1, it is %2: %3 % too high") : N_("you said %1, it is %2: %3 % too low"), NULL, args);
}

static void print_prediction(const struct lab_run *run, double prediction, struct sink *out)
{
	char text[2 * LAB_TEXT_CAP];

	sink_printf(out, "\n%s\n  %s\n  %s\n", tr(run, N_("PREDICTION")), tr(run, run->answer_label),
		lab_answer_judge(run, prediction, text, sizeof text));
}

void lab_report_text(const struct lab_run *run, const struct lab_report_options *o, struct sink *out)
{
	int64_t shown = num_min(run->steps, LAB_STEPS_ALL), hidden = 0;

	sink_printf(out, "lab %s: %s\n", run->input.lab->id, tr(run, run->input.lab->help));
	print_params(run, out);
	for (int64_t k = 0; k < shown; k++) {
		struct lab_step s;

		lab_step(run, k, &s);
		hidden += !o->steps && !s.main;
		if (!o->steps && !s.main)
			continue;
		sink_puts(out, "\n");
		lab_report_step(run, k, o, out);
	}
	if (hidden > 0)
		say(run, out,
			NN_("\n%1 of %2 steps is left out; --steps shows it\n",
				"\n%1 of %2 steps are left out; --steps shows them\n"),
			LAB_ARGS(LAB_NUMBER(run->steps - (shown - hidden)), LAB_NUMBER(run->steps)));
	if (o->steps && shown < run->steps)
		say(run, out, NN_("\nand %1 more step\n", "\nand %1 more steps\n"), LAB_ARGS(LAB_NUMBER(run->steps - shown)));
	print_facts(run, out);
	sink_printf(out, "\n%s\n", tr(run, lab_proven(run) ? N_("PROVED") : N_("NOT PROVED")));
	for (int32_t i = 0; i < run->n_claims; i++)
		print_claim(run, &run->claims[i], out);
	if (o->predicted)
		print_prediction(run, o->prediction, out);
	if (run->input.lab->lesson != NULL) {
		sink_printf(out, "\n%s\n  ", tr(run, N_("THE LESSON")));
		print_note(tr(run, run->input.lab->lesson), GAP, out);
		sink_puts(out, "\n");
	}
	sink_printf(out, "\n%s\n  ", tr(run, N_("NEXT")));
	print_note(run->question, GAP, out);
	sink_printf(out, "\n  meshplan lab %s %s --predict VALUE\n", run->input.lab->id, run->next);
}
