/* Big mode, for projecting: bars of the stages and of the step, as high as there is room for, their largest parts, one setting
 * with its stops in numbers, five keys. */
#include "view_speed.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>

enum { MARGIN = 2, VALUE_W = 8, LABEL_W = 6, ABOVE_H = 5, BELOW_H = 7, TRACK_X = 14, WIDE_KEYS_W = 70 };
/* Rows of a bar with the blank one below it. */
enum { BAR_MIN_H = 3, BAR_MAX_H = 7 };

/* "F I T S" */
static void spaced(const char *word, char *buf, size_t cap)
{
	size_t n = 0;
	for (; *word != '\0' && n + 3 < cap; word++) {
		buf[n++] = *word;
		buf[n++] = ' ';
	}
	buf[n > 0 ? n - 1 : 0] = '\0';
}

static void draw_top(const struct view *v)
{
	const struct scenario *s = &v->a->draft.s;
	const struct verdict *verdict = &v->a->plan.verdict;
	char word[64], padded[72], gpu[HARDWARE_ID_CAP];
	view_gpu_name(&s->cluster.gpu, gpu, sizeof(gpu));
	(void)canvas_printf(v->c, MARGIN, 1, v->c->w - MARGIN, ROLE_HEAD, _("%s      %d %s      tp %d   pp %d   dp %d"),
		s->model.label[0] != '\0' ? s->model.label : s->model.id, (int)s->cluster.gpus, gpu, (int)s->layout.tp,
		(int)s->layout.pp, (int)v->a->plan.dp);
	spaced(_(verdict_word(verdict)), word, sizeof(word));
	(void)snprintf(padded, sizeof(padded), "  %s  ", word);
	const int used = canvas_text(v->c, MARGIN, 3, v->c->w - MARGIN, view_verdict_role(verdict), padded);
	(void)view_verdict_amount(v, MARGIN + used + 3, 3, v->c->w - MARGIN - used - 3);
}

/* Where the bars stand: the first row, the rows of each with the blank one, columns without label and value. */
struct grid {
	int y, h, w;
};

static void draw_stage(const struct view *v, struct grid g, struct stage_span span)
{
	const struct stage_memory *s = &v->a->stages[span.first];
	const int64_t limit = memory_capacity_bytes(&v->a->draft.s);
	const int x = MARGIN + LABEL_W;
	char text[32];
	view_stage_label(v, MARGIN, g.y, 's', span);
	view_bar(v->c, (struct rect){ x, g.y, g.w, g.h - 1 }, s->category, limit);
	(void)canvas_text_right(v->c, x + g.w, g.y, VALUE_W, ROLE_HEAD, view_gib3(s->need_bytes, text, sizeof(text)));
}

static void draw_step(const struct view *v, struct grid g)
{
	const int x = MARGIN + LABEL_W;
	char text[32];
	(void)canvas_text(v->c, MARGIN, g.y, LABEL_W, ROLE_TEXT, _("step"));
	view_step_bar(v, (struct rect){ x, g.y, g.w, g.h - 1 });
	(void)canvas_text_right(v->c, x + g.w, g.y, VALUE_W, ROLE_HEAD, view_seconds(v->a->plan.step.step_s, text, sizeof(text)));
}

/* One part of a bar, "A activations 22.4", unless it would pass the edge. Returns the column behind it. */
static int draw_name(const struct view *v, int x, int y, uint8_t role, char letter, const char *name, const char *value)
{
	const int w = 2 + canvas_text_width(name) + 1 + canvas_text_width(value);
	if (x + w > v->c->w - MARGIN)
		return v->c->w;
	canvas_letter(v->c, x, y, role, letter);
	(void)canvas_printf(v->c, x + 2, y, w - 2, ROLE_TEXT, "%s %s", name, value);
	return x + w + 4;
}

/* The three largest parts of the worst stage; of the step the two largest, where it is shown. */
static void draw_largest(const struct view *v, int y, bool step)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[app_worst_stage(a)];
	const double *seconds = a->plan.step.part_s;
	double bytes[MEMORY_CATEGORY_COUNT];
	bool shown[MEMORY_CATEGORY_COUNT] = { false }, named[STEP_PART_COUNT] = { false };
	int x = MARGIN + LABEL_W;
	char text[32];
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		bytes[i] = (double)s->category[i];
	for (int i = 0; i < 3; i++) {
		const int k = view_largest(bytes, shown, MEMORY_CATEGORY_COUNT);
		if (k == MEMORY_CATEGORY_COUNT)
			break;
		shown[k] = true;
		x = draw_name(v, x, y, category_looks[k].role, memory_category_table[k].letter, ui_text(category_looks[k].name),
			view_gib3(s->category[k], text, sizeof(text)));
	}
	for (int i = 0; i < 2 && step; i++) {
		const int k = view_largest(seconds, named, STEP_PART_COUNT);
		if (k == STEP_PART_COUNT)
			break;
		named[k] = true;
		x = draw_name(v, x, y, part_looks[k].role, step_part_table[k].letter, ui_text(step_part_table[k].label),
			view_seconds(seconds[k], text, sizeof(text)));
	}
}

/* The setting in focus, and below its stops what they mean, as far as there is room. */
static void draw_setting(const struct view *v, int y)
{
	enum { STOP_W = 8 };
	const struct app *a = v->a;
	const struct knob *k = app_knob(a);
	struct knob_stop stops[LIST_STOPS_MAX];
	char text[64];
	size_t at = 0;
	const size_t n = settings_has_stops(k) ? knob_stops(k, a->catalog, &a->draft, stops, LIST_STOPS_MAX, &at) : 0;
	const size_t room = (size_t)((v->c->w - TRACK_X - VALUE_W - MARGIN) / STOP_W);
	size_t first = n > room && at > room / 2 ? at - room / 2 : 0;
	if (n > room && first > n - room)
		first = n - room;
	(void)canvas_text(v->c, MARGIN, y, TRACK_X - MARGIN, ROLE_HEAD, k->key);
	(void)knob_format_pretty(k, &a->draft.s, text, sizeof(text));
	(void)canvas_text_right(v->c, v->c->w - MARGIN - 24, y, 24, ROLE_FOCUS, text);
	canvas_cursor(v->c, v->c->w - MARGIN - 1, y, false);
	for (size_t i = 0; i < room && first + i < n; i++) {
		const struct knob_stop *stop = &stops[first + i];
		const int x = TRACK_X + (int)i * STOP_W;
		if (stop->legal)
			canvas_glyph(v->c, x, y + 1, ROLE_ACCENT, first + i == at ? GLYPH_THUMB : GLYPH_STOP);
		else
			canvas_put(v->c, x, y + 1, ROLE_DIM, 'x');
		(void)canvas_text(v->c, x, y + 2, STOP_W - 1, first + i == at ? ROLE_HEAD : ROLE_DIM,
			settings_stop_text(k, a->catalog, &a->draft, stop->value, text, sizeof(text)));
	}
}

static void draw_keys(const struct view *v, int y)
{
	static const enum ui_action shown[] = { UI_STEP_UP, UI_UP, UI_PIPELINE, UI_HELP, UI_BIG };
	const int gap = v->c->w < WIDE_KEYS_W ? 0 : 3;
	int x = MARGIN;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++, x += gap)
		(void)view_footer_item(v, CONTEXT_SETTINGS, shown[i], &x, v->c->w, y);
}

/* Bars of stages, and of the step where there is a row for it, in the middle of the rows between. Returns whether the step is
 * there. */
static bool draw_bars(const struct view *v)
{
	const int64_t limit = memory_capacity_bytes(&v->a->draft.s);
	const int room = v->c->h - ABOVE_H - BELOW_H;
	struct stage_span stages[STAGE_LIST_MAX];
	const int n = (int)view_choose_stages(v->a, (size_t)num_max(1, room / BAR_MIN_H), stages);
	const bool step = v->a->plan.step.known && (n + 1) * BAR_MIN_H <= room;
	const int bars = n + step;
	struct grid g = { .h = (int)num_max(BAR_MIN_H, num_min(room / bars, BAR_MAX_H)),
		.w = v->c->w - 2 * MARGIN - LABEL_W - VALUE_W };
	char text[32];
	g.y = ABOVE_H + (int)num_max(0, (room - bars * g.h) / 2);
	if (limit > 0)
		(void)canvas_text(v->c, MARGIN + LABEL_W + layout_bar(g.w).capacity - 1, g.y - 1, 8, ROLE_LIMIT,
			units_format_f4((double)limit / UNITS_GIB, text, sizeof(text)));
	(void)canvas_text_right(v->c, MARGIN + LABEL_W + g.w, g.y - 1, VALUE_W, ROLE_DIM, "GiB");
	for (int i = 0; i < n; i++, g.y += g.h)
		draw_stage(v, g, stages[i]);
	if (step)
		draw_step(v, g);
	return step;
}

void view_big(const struct view *v)
{
	const struct app *a = v->a;
	const int h = v->c->h;
	draw_top(v);
	draw_largest(v, h - BELOW_H, draw_bars(v));
	draw_setting(v, h - BELOW_H + 1);
	if (a->message[0] != '\0')
		(void)canvas_text(v->c, MARGIN, h - 3, v->c->w - MARGIN, ROLE_TEXT, a->message);
	view_prompt_or(v, view_preview);
	if (a->prompt.kind == PROMPT_NONE)
		draw_keys(v, h - 1);
}
