/* The keys, from the binding table: what the view it was called from can do, then the other contexts, then the letters and
 * glyphs. */
#include "view_speed.h"

#include "num.h"
#include "ui_text.h"

#include <stdio.h>

enum { HELP_LINES_MAX = 256, KEYS_W = 13, COLUMN_MIN_W = 40 };

struct help_line {
	char keys[40];
	const char *text; /* translated; NULL: a heading, whose text is in keys */
	uint32_t code;    /* a glyph instead of keys */
	uint8_t style;
	struct help_target target;
};

struct help {
	struct help_line lines[HELP_LINES_MAX];
	size_t n;
};

/* A heading or a blank row: the focus passes over it. */
static bool is_gap(const struct help_line *line)
{
	return line->text == NULL || (line->keys[0] == '\0' && line->code == 0);
}

static struct help_line *add_line(struct help *h, const char *keys, const char *text)
{
	struct help_line *line = &h->lines[h->n < HELP_LINES_MAX - 1 ? h->n++ : h->n];
	*line = (struct help_line){ .text = text, .style = ROLE_KEY };
	(void)snprintf(line->keys, sizeof(line->keys), "%s", keys);
	return line;
}

static void add_blank(struct help *h)
{
	if (h->n > 0)
		(void)add_line(h, "", "");
}

/* The actions of a group that are bound in `context`; those of CONTEXT_ALL too, if `all`. */
static void add_group(struct help *h, enum context context, bool all, enum action_group group)
{
	bool first = true;
	for (int i = 0; i < UI_ACTION_COUNT; i++) {
		char keys[40];
		if (ui_action_table[i].group != group)
			continue;
		(void)input_keys_of(context, (enum ui_action)i, keys, sizeof(keys));
		if (keys[0] == '\0' && all)
			(void)input_keys_of(CONTEXT_ALL, (enum ui_action)i, keys, sizeof(keys));
		if (keys[0] == '\0')
			continue;
		if (first) {
			add_blank(h);
			(void)add_line(h, _(action_group_names[group]), NULL);
		}
		first = false;
		add_line(h, keys, ui_text(ui_action_table[i].help))->target.action = (enum ui_action)i;
	}
}

static void add_context(struct help *h, enum context context)
{
	add_blank(h);
	(void)add_line(h, input_context_name(context), NULL);
	for (int i = 0; i < UI_ACTION_COUNT; i++) {
		char keys[40];
		if (*input_keys_of(context, (enum ui_action)i, keys, sizeof(keys)) != '\0')
			add_line(h, keys, ui_text(ui_action_table[i].help))->target.action = (enum ui_action)i;
	}
}

static void add_glyphs(struct help *h, bool ascii, size_t stage)
{
	add_blank(h);
	(void)add_line(h, _("letters of a bar"), NULL);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const enum memory_category k = view_category(i);
		struct help_line *line = add_line(h, "", ui_text(memory_category_table[k].label));
		line->code = (uint32_t)(unsigned char)memory_category_table[k].letter;
		line->style = (uint8_t)(category_looks[k].role | STYLE_BOLD);
		(void)view_stage_path(stage, memory_category_table[k].key, line->target.path);
	}
	add_blank(h);
	(void)add_line(h, _("letters of the step"), NULL);
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		struct help_line *line = add_line(h, "", _(part_looks[i].name));
		line->code = (uint32_t)(unsigned char)step_part_table[i].letter;
		line->style = (uint8_t)(part_looks[i].role | STYLE_BOLD);
		(void)snprintf(line->target.path, sizeof(line->target.path), "time.%s", step_part_table[i].key);
	}
	add_blank(h);
	(void)add_line(h, _("glyphs"), NULL);
	for (int i = 0; i < GLYPH_COUNT; i++) {
		struct help_line *line = add_line(h, "", ui_text(glyph_table[i].use));
		line->code = glyph_code((enum glyph)i, ascii);
		line->style = ROLE_TEXT;
	}
	struct help_line *line = add_line(h, "", _("stop that is not legal now"));
	line->code = 'x';
	line->style = ROLE_TEXT;
}

static void collect(struct help *h, const struct app *a, bool ascii)
{
	const enum context from = a->help_context;
	h->n = 0;
	for (int group = 0; group < GROUP_COUNT; group++)
		add_group(h, from, true, (enum action_group)group);
	for (int context = CONTEXT_SETTINGS; context < CONTEXT_COUNT; context++) {
		bool any = false;
		for (size_t i = 0; i < n_bindings; i++)
			any = any || binding_table[i].context == (enum context)context;
		if (any && context != (int)from)
			add_context(h, (enum context)context);
	}
	add_glyphs(h, ascii, app_worst_stage(a));
}

/* The n-th line that can have the focus; the last one when there are fewer. */
static size_t line_of(const struct help *h, size_t n)
{
	size_t found = 0;
	for (size_t i = 0; i < h->n; i++) {
		if (is_gap(&h->lines[i]))
			continue;
		found = i;
		if (n-- == 0)
			break;
	}
	return found;
}

static size_t count_lines(const struct help *h)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++)
		n += !is_gap(&h->lines[i]);
	return n;
}

/* Lines from i to the next heading: a section is not broken over two columns when it can be helped. */
static size_t section_length(const struct help *h, size_t i)
{
	size_t n = 1;
	while (i + n < h->n && (h->lines[i + n].text != NULL || h->lines[i + n].code != 0))
		n++;
	return n;
}

static void draw_line(const struct view *v, int x, int y, int w, const struct help_line *line, bool focus)
{
	if (line->text == NULL) {
		(void)canvas_text(v->c, x, y, w, ROLE_HEAD, line->keys);
		return;
	}
	if (focus) {
		canvas_glyph(v->c, x, y, ROLE_ACCENT, GLYPH_FOCUS);
		canvas_cursor(v->c, x + 1, y, false);
	}
	if (line->code != 0)
		canvas_put(v->c, x + 1, y, line->style, line->code);
	const int used = canvas_text(v->c, x + 1, y, w - 1, line->style, line->keys);
	const int text_x = line->code != 0 ? 4 : 1 + (used >= KEYS_W ? used + 1 : KEYS_W);
	(void)canvas_text(v->c, x + text_x, y, w - text_x, focus ? ROLE_FOCUS : ROLE_TEXT, line->text);
}

/* Lays the lines out over pages of columns and draws one page, SIZE_MAX: none. *focus_page: the page of line `focus`. Returns the
 * number of pages. */
static size_t flow(const struct view *v, const struct help *h, size_t page, size_t focus, size_t *focus_page)
{
	const struct rect body = view_body(v);
	const int columns = body.w >= 120 ? 3 : body.w >= 76 ? 2 : 1, column_w = body.w / columns;
	size_t slot = 0; /* columns filled so far, over all pages */
	int y = 0;
	for (size_t i = 0; i < h->n; i++) {
		const struct help_line *line = &h->lines[i];
		const bool heading = line->text == NULL, blank = !heading && line->keys[0] == '\0' && line->code == 0;
		const size_t length = heading ? section_length(h, i) : 1;
		if (y >= body.h || (y > 0 && y + (int)length > body.h && length <= (size_t)body.h)) {
			slot++;
			y = 0;
		}
		if (y == 0 && blank)
			continue;
		if (i == focus)
			*focus_page = slot / (size_t)columns;
		if (slot / (size_t)columns == page)
			draw_line(
				v, body.x + (int)(slot % (size_t)columns) * column_w, body.y + y, column_w - 1, line, i == focus);
		y++;
	}
	return slot / (size_t)columns + 1;
}

static size_t scroll_max(const struct view *v)
{
	struct help h;
	collect(&h, v->a, false);
	return count_lines(&h) - 1;
}

struct help_target view_help_target(const struct app *a)
{
	struct help h;
	collect(&h, a, false);
	return h.lines[line_of(&h, a->scroll[VIEW_HELP])].target;
}

static bool find(struct app *a, const char *text, size_t from, int direction)
{
	struct help h;
	collect(&h, a, false);
	const size_t n = count_lines(&h);
	for (size_t i = 0; i < n; i++) {
		const size_t step = direction == 0 ? i : i + 1, line = (from + (direction < 0 ? n - step : step)) % n;
		const struct help_line *candidate = &h.lines[line_of(&h, line)];
		char all[256];
		(void)snprintf(all, sizeof(all), "%s %s", candidate->keys, candidate->text);
		if (browser_words_match(all, text)) {
			a->scroll[VIEW_HELP] = line;
			return true;
		}
	}
	return false;
}

/* What Enter does on the line in focus. */
static void draw_hint(const struct view *v)
{
	const struct rect r = v->l.area[AREA_PREVIEW];
	const struct help_target target = view_help_target(v->a);
	if (target.path[0] != '\0')
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("Enter explains it: what it is now, and the formula."));
	else if (target.action != UI_NONE)
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("Enter does it, where it can be done; Esc goes back."));
}

static void draw(const struct view *v)
{
	struct help h;
	char text[64];
	collect(&h, v->a, v->c->ascii);
	const size_t focus = line_of(&h, v->a->scroll[VIEW_HELP]);
	size_t page = 0;
	const size_t pages = flow(v, &h, SIZE_MAX, focus, &page);
	(void)flow(v, &h, page, focus, &page);
	view_prompt_or(v, draw_hint);
	(void)snprintf(text, sizeof(text), _("page %zu of %zu"), page + 1, pages);
	(void)canvas_text_right(v->c, v->c->w - 24, 1, 24, ROLE_DIM, text);
}

static void explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(void)snprintf(path, FIGURE_PATH_CAP, "%s", view_help_target(a).path);
}

static void find_begin(struct app *a)
{
	a->find_from = a->scroll[VIEW_HELP];
}

static void find_read(struct app *a, struct prompt *p)
{
	p->good = p->len == 0 || find(a, p->text, a->find_from, 0);
	if (!p->good)
		(void)snprintf(p->note, sizeof(p->note), _("No line holds \"%s\"."), p->text);
}

static void find_cancel(struct app *a)
{
	a->scroll[VIEW_HELP] = a->find_from;
}

static void find_again(struct app *a, int direction)
{
	if (!find(a, a->found, a->scroll[VIEW_HELP], direction))
		app_say(a, _("No line holds \"%s\"."), a->found);
}

static const struct view_search search = { find_begin, find_read, find_cancel, find_again };

const struct view_kind view_help = {
	.footer = { { UI_UP, UI_OPEN, UI_FIND } },
	.draw = draw,
	.scroll_max = scroll_max,
	.explains = explains,
	.search = &search,
};
