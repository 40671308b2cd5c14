#include "lab_words.h"

#include "num.h"
#include "sink.h"
#include "units.h"

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

char *lab_say(const struct lab_words *w, char *buf, size_t cap, const char *one, const char *many, const struct lab_arg *args)
{
	const char *at = one;
	struct sink out;

	sink_init(&out, buf, cap, NULL, NULL);
	if (many == NULL)
		at = lab_word(w, one);
	else if (w != NULL)
		at = w->count(one, many, (unsigned long)num_max(0, args[0].number));
	else if (args[0].number != 1)
		at = many;
	for (; *at != '\0'; at++)
		if (at[0] == '%' && at[1] >= '1' && at[1] <= '9')
			put_arg(w, &args[*++at - '1'], &out);
		else
			sink_write(&out, at, 1);
	return buf;
}
