#include "lab_words.h"

#include "num.h"
#include "sink.h"
#include "units.h"

#include <stdbool.h>

const char *lab_word(const struct lab_words *w, const char *text)
{
	return w != NULL && *text != '\0' ? w->text(text) : text;
}

static void put_arg(const struct lab_words *w, const struct lab_arg *x, struct sink *out)
{
	char digits[40];

	if (x->text != NULL)
		sink_puts(out, lab_word(w, x->text));
	else
		sink_puts(out, x->name != NULL ? x->name : units_format_commas(x->number, digits, sizeof digits));
}

static bool is_gap(const char *at)
{
	return at[0] == '%' && at[1] >= '1' && at[1] <= '9';
}

/* The highest gap of a text: a translation with more must not read past the arguments. */
static int count_gaps(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		if (is_gap(text) && text[1] - '0' > n)
			n = text[1] - '0';
	return n;
}

char *lab_say(const struct lab_words *w, char *buf, size_t cap, const char *one, const char *many, const struct lab_arg *args)
{
	const char *at = one;
	const int gaps = count_gaps(many != NULL ? many : one);
	struct sink out;

	sink_init(&out, buf, cap, NULL, NULL);
	if (many == NULL)
		at = lab_word(w, one);
	else if (w != NULL)
		at = w->count(one, many, (unsigned long)num_max(0, args[0].number));
	else if (args[0].number != 1)
		at = many;
	for (; *at != '\0'; at++)
		if (!is_gap(at))
			sink_write(&out, at, 1);
		else if (*++at - '0' <= gaps)
			put_arg(w, &args[*at - '1'], &out);
	return buf;
}
