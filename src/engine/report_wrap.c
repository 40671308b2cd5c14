/* Lines of text that keep to their width. */
#include "num.h"
#include "report_internal.h"

#include <stdio.h>
#include <string.h>

void wrap_word(struct wrap *w, const char *word)
{
	int64_t len = (int64_t)strlen(word);

	if (!w->first && w->col + 1 + len > REPORT_TEXT_COLS) {
		sink_puts(w->out, "\n");
		sink_repeat(w->out, " ", w->indent);
		w->col = w->indent;
	} else if (!w->first) {
		sink_puts(w->out, " ");
		w->col++;
	}
	sink_puts(w->out, word);
	w->col += len;
	w->first = false;
}

void wrap_text(struct wrap *w, const char *text, bool items)
{
	char word[128];

	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		while (items && text[len] == ' ' && len > 0 && text[len - 1] != ',')
			len += 1 + strcspn(text + len + 1, " ");
		(void)snprintf(word, sizeof word, "%.*s", (int)num_min((int64_t)len, (int64_t)sizeof word - 1), text);
		if (len > 0)
			wrap_word(w, word);
		text += len + (text[len] == ' ');
	}
}

void wrap_entry(const char *label, const char *text, bool items, struct sink *out)
{
	struct wrap w = { .out = out, .indent = REPORT_LABEL_COLS, .col = REPORT_LABEL_COLS, .first = true };

	sink_printf(out, "%-*s", (int)REPORT_LABEL_COLS, label);
	wrap_text(&w, text, items);
	sink_puts(out, "\n");
}
