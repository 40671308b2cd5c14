/* Big mode, for projecting: bars two rows high, one setting with its stops in numbers, the three largest parts, five keys. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>

enum { MARGIN = 2, VALUE_W = 8, LABEL_W = 6, ABOVE_H = 5, BELOW_H = 7, BAR_H = 3, TRACK_X = 14 };

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

/* A bar twice: letters in the upper row, fill alone in the lower. */
static void draw_double(const struct view *v, int y, struct stage_span span, int width)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[span.first];
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	const int x = MARGIN + LABEL_W;
	char text[32];
	view_stage_label(v, MARGIN, y, 's', span);
	(void)view_bar(v->c, x, y, width, s->category, limit);
	(void)view_bar_fill(v->c, x, y + 1, width, s->category, limit);
	(void)canvas_text_right(v->c, x + width, y, VALUE_W, ROLE_HEAD, view_gib3(s->need_bytes, text, sizeof(text)));
}

static void draw_largest(const struct view *v, int y)
{
	const struct app *a = v->a;
	const struct stage_memory *s = &a->stages[num_max(0, num_min(a->plan.verdict.worst_stage, (int64_t)a->n_stages - 1))];
	bool taken[MEMORY_CATEGORY_COUNT] = { false };
	int x = MARGIN + LABEL_W;
	for (int i = 0; i < 3; i++) {
		int best = -1;
		char text[32];
		for (int k = 0; k < MEMORY_CATEGORY_COUNT; k++) {
			if (!taken[k] && (best < 0 || s->category[k] > s->category[best]))
				best = k;
		}
		taken[best] = true;
		canvas_put(v->c, x, y, (uint8_t)(category_looks[best].role | STYLE_BOLD),
			(uint32_t)(unsigned char)memory_category_table[best].letter);
		x += 2 +
			canvas_printf(v->c, x + 2, y, v->c->w - x, ROLE_TEXT, "%s %s", ui_text(category_looks[best].name),
				view_gib3(s->category[best], text, sizeof(text))) +
			4;
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
	int x = MARGIN;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		(void)view_footer_item(v, CONTEXT_SETTINGS, shown[i], &x, v->c->w, y);
		x += 3;
	}
}

void view_big(const struct view *v)
{
	const struct app *a = v->a;
	const int h = v->c->h, width = (int)num_min(v->c->w - 2 * MARGIN - LABEL_W - VALUE_W, 160);
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	const int rows = (h - ABOVE_H - BELOW_H) / BAR_H;
	struct stage_span stages[STAGE_LIST_MAX];
	const size_t n = view_choose_stages(a, (size_t)(rows < 1 ? 1 : rows), stages);
	char text[32];
	draw_top(v);
	if (limit > 0)
		(void)canvas_text(v->c, MARGIN + LABEL_W + layout_bar(width).capacity - 1, 4, 8, ROLE_LIMIT,
			units_format_f4((double)limit / UNITS_GIB, text, sizeof(text)));
	(void)canvas_text_right(v->c, MARGIN + LABEL_W + width, 4, VALUE_W, ROLE_DIM, "GiB");
	for (size_t i = 0; i < n; i++)
		draw_double(v, ABOVE_H + (int)i * BAR_H, stages[i], width);
	draw_largest(v, h - BELOW_H);
	draw_setting(v, h - BELOW_H + 1);
	if (a->message[0] != '\0')
		(void)canvas_text(v->c, MARGIN, h - 3, v->c->w - MARGIN, ROLE_TEXT, a->message);
	view_prompt_or(v, view_preview);
	if (a->prompt.kind == PROMPT_NONE)
		draw_keys(v, h - 1);
}
