/* The command line that rebuilds the plan on the screen, broken so that it can be pasted into a shell. */
#include "view_internal.h"

#include "ui_text.h"

#include <string.h>

enum { COMMAND_CAP = 4096, INDENT = 4 };

/* Bytes of the words of `text` that fit into w columns, without the blank behind them; at least one word. */
static size_t words_that_fit(const char *text, size_t w)
{
	size_t fit = 0;
	for (size_t at = 0; text[at] != '\0';) {
		at += strcspn(text + at, " ");
		if (fit > 0 && at > w)
			break;
		fit = at;
		at += strspn(text + at, " ");
	}
	return fit;
}

void view_command(const struct view *v)
{
	char line[COMMAND_CAP];
	struct sink out;
	const struct rect body = view_body(v);
	const size_t width = (size_t)(body.w - INDENT - 2);
	size_t row = 0;
	sink_init(&out, line, sizeof(line), NULL, NULL);
	draft_command_line(&v->a->draft, v->a->catalog, "ui", &out);
	view_prompt_or(v, NULL);
	(void)canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, _("COMMAND LINE that rebuilds this plan"));
	for (const char *at = line; *at != '\0'; row++) {
		const size_t n = words_that_fit(at, width), skip = v->a->scroll[VIEW_COMMAND];
		const char *next = at + n + strspn(at + n, " ");
		const int y = body.y + 2 + (int)row - (int)skip;
		if (row >= skip && y < body.y + body.h - 2)
			(void)canvas_printf(v->c, body.x + (row == 0 ? 0 : INDENT), y, body.w, ROLE_TEXT, "%.*s%s", (int)n, at, *next == '\0' ? "" : " \\");
		at = next;
	}
	(void)canvas_text(v->c, body.x, body.y + body.h - 1, body.w, ROLE_DIM,
		_("fit, plan, pipeline and explain take the same words instead of ui."));
}
