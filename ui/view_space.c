/* Layouts: a ranked table of what the same run on the same cluster could use, and the space as a picture: right is more memory,
 * up is faster, the limit at the right. */
#include "view_speed.h"

#include "num.h"
#include "report.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
	MARK_W = 3,
	WIDE_W = 76,
	PICTURE_MIN_H = 9,
	PICTURE_MAX_H = 24,
	TABLE_MIN_H = 7,
	TABLE_W = 100,
	AXIS_W = 8,
	CELL_CAP = 32
};

static char *recompute_text(const struct space_row *r, char buf[CELL_CAP])
{
	(void)snprintf(buf, CELL_CAP, "%s", recompute_choices[r->recompute].key);
	return buf;
}

static char *need_text(const struct space_row *r, char buf[CELL_CAP])
{
	return view_gib3(r->need_bytes, buf, CELL_CAP);
}

static char *step_text(const struct space_row *r, char buf[CELL_CAP])
{
	return units_format_f4(r->step_s, buf, CELL_CAP);
}

static char *speed_text(const struct space_row *r, char buf[CELL_CAP])
{
	return view_rate(r->tokens_per_s, buf, CELL_CAP);
}

static char *mfu_text(const struct space_row *r, char buf[CELL_CAP])
{
	(void)snprintf(buf, CELL_CAP, "%.1f", 100 * r->mfu);
	return buf;
}

static char *cost_text(const struct space_row *r, char buf[CELL_CAP])
{
	if (r->usd > 0)
		return report_usd(r->usd, buf, CELL_CAP);
	(void)snprintf(buf, CELL_CAP, "?");
	return buf;
}

/* clang-format off */
/* The columns: a number of the row, or what a function makes of it. timed: needs a step time, so a row that does not fit has
 * none. */
static const struct column {
	const char *name; /* N_() */
	int w;
	bool wide, timed;
	size_t number; /* offset of an int64_t, where there is no text */
	char *(*text)(const struct space_row *r, char buf[CELL_CAP]);
} columns[] = {
	{ "tp", 4, false, false, offsetof(struct space_row, tp), NULL },
	{ "pp", 4, false, false, offsetof(struct space_row, pp), NULL },
	{ "cp", 4, false, false, offsetof(struct space_row, cp), NULL },
	{ "ep", 4, false, false, offsetof(struct space_row, ep), NULL },
	{ "dp", 5, false, false, offsetof(struct space_row, dp), NULL },
	{ "mb", 3, false, false, offsetof(struct space_row, micro_batch), NULL },
	{ N_("recompute"), 10, false, false, 0, recompute_text },
	{ N_("peak GiB"), 9, false, false, 0, need_text },
	{ N_("step s"), 8, false, true, 0, step_text },
	{ N_("tokens/s"), 9, true, true, 0, speed_text },
	{ N_("MFU %"), 6, true, true, 0, mfu_text },
	{ N_("cost"), 8, false, true, 0, cost_text },
};
/* clang-format on */

static char *cell_text(const struct column *col, const struct space_row *r, char buf[CELL_CAP])
{
	int64_t number;
	if (col->text != NULL)
		return col->text(r, buf);
	memcpy(&number, (const char *)r + col->number, sizeof(number));
	(void)snprintf(buf, CELL_CAP, "%" PRId64, number);
	return buf;
}

/* Which columns a table of w columns has. */
struct table {
	struct rect r;
	bool cp, ep;
};

static bool is_shown(const struct column *col, const struct table *t)
{
	return (!col->wide || t->r.w >= WIDE_W) && (col->number != offsetof(struct space_row, cp) || t->cp) &&
		(col->number != offsetof(struct space_row, ep) || t->ep);
}

static void draw_names(const struct view *v, const struct table *t, int y)
{
	int x = t->r.x + MARK_W;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (!is_shown(&columns[i], t))
			continue;
		(void)canvas_text_right(v->c, x, y, columns[i].w, ROLE_DIM, ui_text(columns[i].name));
		x += columns[i].w;
	}
}

/* A row without its marks; the need of the one in focus has the cursor. */
static void draw_row(const struct view *v, const struct table *t, int y, const struct space_row *row, bool focus)
{
	char text[CELL_CAP];
	int x = t->r.x + MARK_W;
	if (space_is_here(&v->a->draft, row))
		canvas_put(v->c, t->r.x + 1, y, ROLE_HEAD, '@');
	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
		if (!is_shown(&columns[k], t))
			continue;
		const bool known = !columns[k].timed || row->step_s > 0;
		const uint8_t style = focus && columns[k].text == need_text ? ROLE_FOCUS : row->fits ? ROLE_TEXT : ROLE_DIM;
		(void)canvas_text_right(v->c, x, y, columns[k].w, style,
			known               ? cell_text(&columns[k], row, text)
				: row->fits ? "?"
					    : "-");
		x += columns[k].w;
		if (focus && columns[k].text == need_text && v->a->prompt.kind == PROMPT_NONE)
			canvas_cursor(v->c, x - 1, y, false);
	}
	const char *flag = !row->fits ? _("over") : row->tight ? _("tight") : "";
	const int room = t->r.x + t->r.w - x - 1;
	(void)canvas_text(v->c, x + 1, y, room, ROLE_ALERT, canvas_fitting(room, flag, "!"));
}

static void draw_marks(const struct view *v, int x, int y, size_t i)
{
	const struct app *a = v->a;
	if (i == a->space_focus)
		canvas_glyph(v->c, x, y, ROLE_ACCENT, GLYPH_FOCUS);
	if (space_is_front(&a->space, i))
		canvas_glyph(v->c, x + 2, y, ROLE_ACCENT, GLYPH_THUMB);
}

static const char *const order_names[SPACE_ORDER_COUNT] = { N_("by tokens/s"), N_("by memory") };

static void draw_title(const struct view *v, struct rect r)
{
	const struct space *s = &v->a->space;
	char text[96], brief[64];
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("LAYOUTS"));
	const int x = r.x + used + 2 +
		canvas_text(v->c, r.x + used + 2, r.y, r.w - used - 2, ROLE_TEXT, ui_text(order_names[s->order]));
	if (s->complete) {
		(void)snprintf(
			text, sizeof(text), _("%zu of %zu legal ones fit: same run, cluster and framework"), s->fit, s->legal);
		(void)snprintf(brief, sizeof(brief), _("%zu of %zu fit"), s->fit, s->legal);
	} else {
		(void)snprintf(text, sizeof(text), _("searching, %d %%"), (int)(100 * space_progress(s)));
		(void)snprintf(brief, sizeof(brief), "%d %%", (int)(100 * space_progress(s)));
	}
	const int room = r.x + r.w - x - 2;
	(void)canvas_text_right(v->c, x + 2, r.y, room, ROLE_DIM, canvas_fitting(room, text, brief));
}

/* Where a row stands in the picture. */
struct scale {
	struct rect r; /* the cells left of the limit */
	int64_t limit_bytes;
	double least, most; /* tokens a second */
};

static void draw_point(const struct view *v, const struct scale *s, size_t i, uint8_t style, uint32_t code)
{
	const struct space_row *row = &v->a->space.row[i];
	if (!row->fits || row->tokens_per_s <= 0)
		return;
	const double x = (double)row->need_bytes / (double)s->limit_bytes,
		     y = s->most > s->least ? (row->tokens_per_s - s->least) / (s->most - s->least) : 1;
	canvas_put(v->c, s->r.x + (int)(x * (s->r.w - 1)), s->r.y + (int)((1 - y) * (s->r.h - 1) + 0.5), style, code);
}

static void draw_points(const struct view *v, const struct scale *s)
{
	const struct space *all = &v->a->space;
	for (size_t i = 0; i < all->n; i++)
		draw_point(v, s, i, ROLE_DIM, glyph_code(GLYPH_CHOICE, v->c->ascii));
	for (size_t i = 0; i < all->n; i++) {
		if (space_is_front(all, i))
			draw_point(v, s, i, ROLE_ACCENT, glyph_code(GLYPH_THUMB, v->c->ascii));
	}
	for (size_t i = 0; i < all->n; i++) {
		if (space_is_here(&v->a->draft, &all->row[i]))
			draw_point(v, s, i, ROLE_HEAD, '@');
	}
	if (v->a->space_focus < all->n)
		draw_point(v, s, v->a->space_focus, ROLE_FOCUS, glyph_code(GLYPH_FOCUS, v->c->ascii));
}

/* Tokens a second over memory, of all that fit. Nothing without speeds. */
static void draw_picture(const struct view *v, struct rect r)
{
	const struct space *all = &v->a->space;
	struct scale s = { { r.x + AXIS_W, r.y + 1, r.w - AXIS_W - 1, r.h - 2 }, memory_capacity_bytes(&v->a->draft.s), 0, 0 };
	char text[CELL_CAP];
	for (size_t i = 0; i < all->n; i++) {
		const double speed = all->row[i].tokens_per_s;
		if (speed <= 0)
			continue;
		s.least = s.least <= 0 || speed < s.least ? speed : s.least;
		s.most = speed > s.most ? speed : s.most;
	}
	if (s.most <= 0 || s.limit_bytes <= 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_DIM, _("tokens/s over memory: right is more, up is faster"));
	for (int y = 0; y < s.r.h; y++)
		canvas_glyph(v->c, s.r.x + s.r.w, s.r.y + y, ROLE_LIMIT, GLYPH_LIMIT);
	(void)canvas_text_right(v->c, r.x, s.r.y, AXIS_W - 1, ROLE_DIM, view_rate(s.most, text, sizeof(text)));
	(void)canvas_text_right(v->c, r.x, s.r.y + s.r.h - 1, AXIS_W - 1, ROLE_DIM, view_rate(s.least, text, sizeof(text)));
	draw_points(v, &s);
	const int y = s.r.y + s.r.h;
	(void)canvas_text(v->c, s.r.x, y, 1, ROLE_DIM, "0");
	(void)canvas_printf(v->c, s.r.x + 4, y, s.r.w - 20, ROLE_DIM, _("%s nothing is faster and smaller   @ present plan"),
		v->c->ascii ? "O" : "\xe2\x96\xa0");
	(void)snprintf(text, sizeof(text), _("%.1f GiB"), (double)s.limit_bytes / UNITS_GIB);
	(void)canvas_text_right(v->c, s.r.x + s.r.w - 15, y, 16, ROLE_LIMIT, text);
}

/* What taking the row in focus would change. */
static void draw_outcome(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect r = v->l.area[AREA_PREVIEW];
	char memory[CELL_CAP], speed[CELL_CAP], text[128];
	if (a->space_focus >= a->space.n)
		return;
	const struct space_row *row = &a->space.row[a->space_focus];
	if (space_is_here(&a->draft, row)) {
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, _("@ is the present plan."));
		return;
	}
	const struct preview p = { .step_s = row->step_s, .usd = row->usd };
	(void)view_change(row->need_bytes - a->plan.worst.need_bytes, memory, sizeof(memory));
	(void)snprintf(text, sizeof(text), _("Enter takes it: %s GiB, %s"), memory,
		row->step_s > 0     ? view_speed_change(a, &p, speed, sizeof(speed))
			: row->fits ? _("speed not known")
				    : _("does not fit"));
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, text);
}

static void draw(const struct view *v)
{
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	const int w = (int)num_min(body.w, TABLE_W);
	const int spare = body.h - 2 - TABLE_MIN_H;
	const int picture_h = spare < PICTURE_MIN_H ? 0 : (int)num_min(PICTURE_MAX_H, num_max(PICTURE_MIN_H, body.h / 2));
	const size_t height = (size_t)(body.h - 2 - picture_h), focus = a->space_focus;
	const size_t top = focus >= height ? focus - height + 1 : 0;
	view_prompt_or(v, draw_outcome);
	/* A flag may stand behind the table. */
	const struct table t = { { body.x, body.y, body.w, body.h }, a->space.n_cp > 1, a->space.n_ep > 1 };
	draw_title(v, (struct rect){ body.x, body.y, w, 1 });
	draw_names(v, &t, body.y + 1);
	for (size_t i = top; i < a->space.n && i < top + height; i++) {
		const int y = body.y + 2 + (int)(i - top);
		draw_row(v, &t, y, &a->space.row[i], i == focus);
		draw_marks(v, body.x, y, i);
	}
	if (a->space.complete && a->space.n == 0)
		(void)canvas_text(v->c, body.x, body.y + 2, body.w, ROLE_TEXT, _("No layout is legal with what is set."));
	if (picture_h > 0)
		draw_picture(v, (struct rect){ body.x, body.y + body.h - picture_h, w, picture_h });
}

void view_space_block(const struct view *v, struct rect r)
{
	const struct space_best *b = &v->a->best;
	const struct table t = { r, b->cp, b->ep };
	char text[64];
	if (r.h == 0)
		return;
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("LAYOUTS")) + 2;
	(void)canvas_text(v->c, r.x + used, r.y, r.w - used, ROLE_TEXT, ui_text(order_names[b->order]));
	(void)snprintf(text, sizeof(text), _("%zu of %zu fit: f"), b->fit, b->legal);
	(void)canvas_text_right(v->c, r.x, r.y, r.w, ROLE_DIM, v->a->space.complete ? text : _("searching"));
	if (b->n == 0)
		return;
	draw_names(v, &t, r.y + 1);
	for (size_t i = 0; i < b->n && (int)i + 2 < r.h; i++)
		draw_row(v, &t, r.y + 2 + (int)i, &b->row[i], false);
}

const struct view_kind view_space = {
	.open_label = N_("take"),
	.footer = { { UI_UP, UI_OPEN, UI_ORDER, UI_ADVICE, UI_UNDO, UI_PIN, UI_WRITE } },
	.draw = draw,
	.opened = space_opened,
	.move = space_move,
	.open = space_take,
};
