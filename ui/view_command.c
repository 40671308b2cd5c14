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

/* Draws the rows of the command that fit; returns how many there are. */
static size_t draw_command(const struct view *v, struct rect r, size_t skip)
{
	char line[COMMAND_CAP];
	struct sink out;
	size_t row = 0;
	sink_init(&out, line, sizeof(line), NULL, NULL);
	draft_command_line(&v->a->draft, v->a->catalog, "ui", &out);
	for (const char *at = line; *at != '\0'; row++) {
		const size_t n = words_that_fit(at, (size_t)(r.w - INDENT - 2));
		const char *next = at + n + strspn(at + n, " ");
		if (row >= skip && row - skip < (size_t)r.h)
			(void)canvas_printf(v->c, r.x + (row == 0 ? 0 : INDENT), r.y + (int)(row - skip), r.w, ROLE_TEXT,
				"%.*s%s", (int)n, at, *next == '\0' ? "" : " \\");
		at = next;
	}
	return row;
}

/* Heading and a blank row above, a blank row and a hint below. */
static struct rect command_rect(const struct view *v)
{
	const struct rect body = view_body(v);
	return (struct rect){ body.x, body.y + 2, body.w, body.h - 4 };
}

static size_t scroll_max(const struct view *v)
{
	struct rect r = command_rect(v);
	const size_t h = (size_t)r.h;
	r.h = 0;
	const size_t rows = draw_command(v, r, 0);
	return rows > h ? rows - h : 0;
}

static void draw(const struct view *v)
{
	const struct rect body = view_body(v);
	view_prompt_or(v, NULL);
	(void)canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, _("COMMAND LINE that rebuilds this plan"));
	(void)draw_command(v, command_rect(v), v->a->scroll[VIEW_COMMAND]);
	(void)canvas_text(v->c, body.x, body.y + body.h - 1, body.w, ROLE_DIM,
		canvas_fitting(body.w, _("fit, plan, pipeline and explain take the same words instead of ui."),
			_("fit, plan, pipeline and explain take the same words.")));
}

const struct view_kind view_command = {
	.footer = { { UI_UP, UI_UNDO } },
	.draw = draw,
	.scroll_max = scroll_max,
};
