/* The plan beside the pinned one: the figures that differ, the worst bars above each other, the settings that differ. */
#include "view_internal.h"

#include "cost.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

/* Columns of the table of figures; third: what was undone last has one. */
struct columns {
	int label, column, better, third;
};

/* The plan that was undone last, beside the other two where there is room. */
struct undone {
	const struct draft *draft; /* NULL: none, or no room */
	struct plan plan;
};

static struct columns columns_of(const struct view *v)
{
	return v->c->w < 76 ? (struct columns){ 22, 10, 8, 0 } : (struct columns){ 28, 12, 10, 14 };
}

static void find_undone(const struct view *v, struct undone *u)
{
	const struct columns c = columns_of(v);
	struct err e;
	u->draft = v->c->w < c.label + 3 * c.column + c.better + c.third ? NULL : history_undone(&v->a->history);
	if (u->draft != NULL && plan_evaluate(&u->draft->s, &u->plan, &e) != ERR_OK)
		u->draft = NULL;
}

/* One figure of both plans. sign: +1 more is better, -1 less is, 0 neither. */
struct compared {
	const char *label, *path; /* label: N_() */
	double scale;
	int sign;
	double (*of)(const struct draft *d, const struct plan *p);
};

static double need(const struct draft *d, const struct plan *p)
{
	(void)d;
	return (double)p->worst.need_bytes;
}

static double room(const struct draft *d, const struct plan *p)
{
	(void)d;
	return (double)p->verdict.headroom_bytes;
}

static double host(const struct draft *d, const struct plan *p)
{
	(void)d;
	return (double)p->host_bytes_per_node;
}

static double bubble(const struct draft *d, const struct plan *p)
{
	(void)d;
	return p->bubble_of_step;
}

static double step(const struct draft *d, const struct plan *p)
{
	(void)d;
	return p->step.step_s;
}

static double tokens_per_s(const struct draft *d, const struct plan *p)
{
	(void)d;
	return p->throughput.tokens_per_s;
}

static double mfu(const struct draft *d, const struct plan *p)
{
	(void)d;
	return p->throughput.mfu;
}

static double usd(const struct draft *d, const struct plan *p)
{
	return p->step.known ? cost_of(&d->s, &p->step).usd : 0;
}

static double micro_batches(const struct draft *d, const struct plan *p)
{
	(void)d;
	return (double)p->micro_batches;
}

static double dp(const struct draft *d, const struct plan *p)
{
	(void)d;
	return (double)p->dp;
}

static double gpus(const struct draft *d, const struct plan *p)
{
	(void)p;
	return (double)d->s.cluster.gpus;
}

/* clang-format off */
static const struct compared figures[] = {
	{ N_("peak, worst stage, GiB"), "verdict.need_bytes", 1 / UNITS_GIB, -1, need },
	{ N_("to spare, GiB"), "verdict.headroom_bytes", 1 / UNITS_GIB, 1, room },
	{ N_("step, s"), "time.step_s", 1, -1, step },
	{ N_("tokens/s"), "throughput.tokens_per_s", 1, 1, tokens_per_s },
	{ N_("MFU, %"), "throughput.mfu", 100, 1, mfu },
	{ N_("cost, USD"), "cost.usd", 1, -1, usd },
	{ N_("bubble as drawn, %"), "pipeline.bubble_of_step", 100, -1, bubble },
	{ N_("host RAM per node, GiB"), "memory.host_bytes_per_node", 1 / UNITS_GIB, -1, host },
	{ N_("micro-batches"), "scenario.micro-batch", 1, 0, micro_batches },
	{ N_("data parallel"), "scenario.dp", 1, 0, dp },
	{ N_("GPUs"), "scenario.gpus", 1, -1, gpus },
};
/* clang-format on */

enum { N_FIGURES = (int)(sizeof(figures) / sizeof(figures[0])), SETTINGS_MIN_H = 3 };

/* Counts in full, the rest with three digits. */
static void number(double value, char *buf, size_t cap)
{
	const double size = value < 0 ? -value : value;
	char amount[32];
	if (size < 1e12 && size == (double)(int64_t)size)
		(void)units_format_count((int64_t)size, amount, sizeof(amount));
	else
		(void)units_format_f4(size, amount, sizeof(amount));
	(void)snprintf(buf, cap, "%s%s", value < 0 ? "-" : "", amount);
}

static void draw_figure_row(const struct view *v, int x, int y, const struct compared *f, const struct undone *u)
{
	const struct app *a = v->a;
	const struct columns c = columns_of(v);
	const double before = f->of(&a->pin.draft, &a->pin.plan) * f->scale, now = f->of(&a->draft, &a->plan) * f->scale;
	const double change = now - before;
	char text[40];
	(void)canvas_text(v->c, x, y, c.label, ROLE_DIM, ui_text(f->label));
	number(before, text, sizeof(text));
	(void)canvas_text_right(v->c, x + c.label, y, c.column, ROLE_PIN, text);
	number(now, text, sizeof(text));
	view_figure(v, x + c.label + c.column, y, c.column, text, f->path);
	const bool same = change > -1e-9 && change < 1e-9;
	number(change, text + 1, sizeof(text) - 1);
	text[0] = '+';
	/* Too little for its digits, so nothing that is better. */
	const bool slight = !same && strspn(text, "+-0.") == strlen(text);
	(void)canvas_text_right(v->c, x + c.label + 2 * c.column, y, c.column, ROLE_TEXT,
		same                 ? "="
			: slight     ? "~0"
			: change < 0 ? text + 1
				     : text);
	if (!same && !slight && f->sign != 0)
		(void)canvas_text_right(
			v->c, x + c.label + 3 * c.column, y, c.better, ROLE_TEXT, change * f->sign > 0 ? "B" : "A");
	if (u->draft == NULL)
		return;
	number(f->of(u->draft, &u->plan) * f->scale, text, sizeof(text));
	(void)canvas_text_right(v->c, x + c.label + 3 * c.column + c.better, y, c.third, ROLE_DIM, text);
}

static void draw_bar(const struct view *v, struct rect r, const char *label, const struct stage_memory *s, int64_t limit)
{
	char text[32];
	(void)canvas_text(v->c, r.x, r.y, 2, ROLE_HEAD, label);
	view_bar(v->c, (struct rect){ r.x + 3, r.y, r.w - 3 - 7, 1 }, s->category, limit);
	(void)canvas_text_right(v->c, r.x + r.w - 7, r.y, 7, ROLE_TEXT, view_gib3(s->need_bytes, text, sizeof(text)));
}

static void draw_settings(const struct view *v, struct rect r, size_t skip, const struct undone *u)
{
	enum { NAME_W = 24, VALUE_W = 16 };
	const struct app *a = v->a;
	const int a_x = r.x + NAME_W - 6, b_x = a_x + VALUE_W + 2, c_x = b_x + VALUE_W + 2;
	const int rest_x = c_x + (u->draft != NULL ? VALUE_W + 2 : 0);
	size_t differ[KNOB_MAX];
	char x[512], y[512];
	const size_t n = pin_differences(a, differ, KNOB_MAX);
	if (r.h <= 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("WHAT DIFFERS"));
	(void)canvas_text_right(v->c, a_x, r.y, VALUE_W, ROLE_DIM, "A");
	(void)canvas_text_right(v->c, b_x, r.y, VALUE_W, ROLE_DIM, "B");
	if (u->draft != NULL)
		(void)canvas_text_right(v->c, c_x, r.y, VALUE_W, ROLE_DIM, "C");
	for (size_t i = skip; i < n && (int)(i - skip) + 1 < r.h; i++) {
		const int row = r.y + 1 + (int)(i - skip);
		(void)canvas_text(v->c, r.x + 1, row, NAME_W - 6, ROLE_TEXT, knob_at(differ[i])->key);
		(void)knob_format_pretty(knob_at(differ[i]), &a->pin.draft.s, x, sizeof(x));
		(void)knob_format_pretty(knob_at(differ[i]), &a->draft.s, y, sizeof(y));
		(void)canvas_text_right(v->c, a_x, row, VALUE_W, ROLE_PIN, x);
		(void)canvas_text_right(v->c, b_x, row, VALUE_W, ROLE_TEXT, y);
		if (u->draft == NULL)
			continue;
		(void)knob_format_pretty(knob_at(differ[i]), &u->draft->s, x, sizeof(x));
		(void)canvas_text_right(v->c, c_x, row, VALUE_W, ROLE_DIM, x);
	}
	const size_t below = n > skip + (size_t)r.h - 1 ? n - skip - (size_t)r.h + 1 : 0;
	if (below > 0)
		(void)snprintf(x, sizeof(x), _("%zu more: j"), below);
	else
		(void)snprintf(x, sizeof(x), _("same: the other %zu"), knob_count() - n);
	if (below > 0 && rest_x + canvas_text_width(x) > r.x + r.w)
		(void)snprintf(x, sizeof(x), "+%zu: j", below);
	if (rest_x + canvas_text_width(x) <= r.x + r.w)
		(void)canvas_text(v->c, rest_x, r.y, r.x + r.w - rest_x, ROLE_DIM, x);
}

/* Rows of figures: the first ones where there is not room for all. */
static int figure_rows(const struct view *v)
{
	const int room = view_body(v).h - 1 - 1 - SETTINGS_MIN_H;
	return room < N_FIGURES ? room : N_FIGURES;
}

/* On a small screen the settings that differ matter more than the bars. */
static bool has_bars(const struct view *v)
{
	return view_body(v).h >= 1 + N_FIGURES + 1 + 4 + SETTINGS_MIN_H;
}

static struct rect settings_rect(const struct view *v)
{
	const struct rect body = view_body(v);
	const int top = 1 + figure_rows(v) + 1 + (has_bars(v) ? 4 : 0);
	return (struct rect){ body.x, body.y + top, body.w, body.h > top ? body.h - top : 0 };
}

static size_t scroll_max(const struct view *v)
{
	const size_t n = v->a->pin.set ? pin_differences(v->a, NULL, 0) : 0;
	const struct rect r = settings_rect(v);
	const size_t rows = r.h > 1 ? (size_t)r.h - 1 : 0;
	return n > rows ? n - rows : 0;
}

static void draw(const struct view *v)
{
	static const char *const heads[] = { N_("A pinned"), N_("B now"), "B - A" };
	const struct app *a = v->a;
	const struct rect body = view_body(v);
	const int64_t limit = memory_capacity_bytes(&a->draft.s);
	const struct columns c = columns_of(v);
	const int w = body.w < 121 ? body.w : 121;
	struct undone u;
	view_prompt_or(v, NULL);
	(void)canvas_text(v->c, body.x, body.y, c.label, ROLE_HEAD, _("COMPARE"));
	if (!a->pin.set) {
		(void)canvas_text(v->c, body.x, body.y + 2, body.w, ROLE_TEXT, _("Nothing is pinned. c pins the present plan."));
		return;
	}
	for (int i = 0; i < 3; i++)
		(void)canvas_text_right(v->c, body.x + c.label + i * c.column, body.y, c.column, ROLE_DIM, ui_text(heads[i]));
	(void)canvas_text_right(v->c, body.x + c.label + 3 * c.column, body.y, c.better, ROLE_DIM, _("better"));
	find_undone(v, &u);
	if (u.draft != NULL)
		(void)canvas_text_right(
			v->c, body.x + c.label + 3 * c.column + c.better, body.y, c.third, ROLE_DIM, _("C undone"));
	for (int i = 0; i < figure_rows(v); i++)
		draw_figure_row(v, body.x, body.y + 1 + i, &figures[i], &u);
	if (has_bars(v)) {
		const int y = body.y + 1 + N_FIGURES + 1;
		(void)canvas_text(v->c, body.x, y, w, ROLE_HEAD, _("MEMORY of the worst stage, GiB"));
		draw_bar(v, (struct rect){ body.x, y + 1, w, 1 }, "A", &a->pin.plan.worst, limit);
		draw_bar(v, (struct rect){ body.x, y + 2, w, 1 }, "B", &a->plan.worst, limit);
	}
	draw_settings(v, settings_rect(v), a->scroll[VIEW_COMPARE], &u);
}

static void move(struct app *a, int64_t by)
{
	if (figure_move(a, 0, by))
		a->scroll[VIEW_COMPARE] = 0;
	else
		app_scroll(a, by);
}

const struct view_kind view_compare = {
	.digit = '7',
	.footer = { { UI_SWAP, UI_PIN, UI_UNPIN, UI_EXPLAIN, UI_UP, UI_WRITE, UI_UNDO } },
	.draw = draw,
	.scroll_max = scroll_max,
	.explains = figure_explains,
	.move = move,
	.next_pane = figure_next,
};
