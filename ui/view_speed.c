/* What the views of time and cost share: bars of shares, seconds and dollars as text; and the rows STEP and COST of the main
 * screen. */
#include "view_speed.h"

#include "num.h"
#include "report.h"
#include "ui_text.h"
#include "units.h"

#include <math.h>
#include <stdio.h>

/* clang-format off */
const struct part_look part_looks[STEP_PART_COUNT] = {
	[STEP_COMPUTE] = {ROLE_WEIGHTS, GLYPH_FULL, N_("compute")},
	[STEP_RECOMPUTE] = {ROLE_MASTER, GLYPH_DARK, N_("recompute")},
	[STEP_TP] = {ROLE_ACTIVATIONS, GLYPH_MEDIUM, N_("tp collectives")},
	[STEP_CP] = {ROLE_TRANSIENT, GLYPH_LIGHT, N_("cp ring")},
	[STEP_EP] = {ROLE_ACTIVATIONS, GLYPH_MEDIUM, N_("ep all-to-all")},
	[STEP_DP] = {ROLE_TRANSIENT, GLYPH_LIGHT, N_("dp reduce, gather")},
	[STEP_PP] = {ROLE_LOGITS, GLYPH_MEDIUM, N_("pp send, receive")},
	[STEP_OPTIMIZER] = {ROLE_LOGITS, GLYPH_DARK, N_("optimizer step")},
	[STEP_OFFLOAD] = {ROLE_RESERVED, GLYPH_LIGHT, N_("offload")},
	[STEP_BUBBLE] = {ROLE_IDLE, GLYPH_IDLE, N_("idle in the bubble")},
};
/* clang-format on */

/* The segment that should give a cell back: the longest surplus among those with more than one cell. n: there is none. */
static size_t richest(const double *exact, const int *cells, size_t n)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++) {
		if (cells[i] > 1 && (best == n || cells[i] - exact[i] > cells[best] - exact[best]))
			best = i;
	}
	return best;
}

static size_t poorest(const double *exact, const int *cells, size_t n)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++) {
		if (cells[i] > 0 && (best == n || exact[i] - cells[i] > exact[best] - cells[best]))
			best = i;
	}
	return best;
}

int view_share_cells(const struct segment *s, size_t n, int width, int cells[SEGMENTS_MAX])
{
	double exact[SEGMENTS_MAX] = { 0 }, sum = 0;
	int used = 0;
	for (size_t i = 0; i < n; i++)
		sum += s[i].value > 0 ? s[i].value : 0;
	for (size_t i = 0; i < n; i++) {
		exact[i] = sum > 0 && s[i].value > 0 ? s[i].value * width / sum : 0;
		cells[i] = exact[i] > 0 ? (int)num_max(1, (int64_t)floor(exact[i])) : 0;
		used += cells[i];
	}
	for (size_t i = poorest(exact, cells, n); used < width && i < n; i = poorest(exact, cells, n), used++)
		cells[i]++;
	for (size_t i = richest(exact, cells, n); used > width && i < n; i = richest(exact, cells, n), used--)
		cells[i]--;
	return used;
}

void view_segments(struct canvas *c, struct rect r, const struct segment *s, size_t n)
{
	int cells[SEGMENTS_MAX], at = 0;
	(void)view_share_cells(s, n, r.w, cells);
	for (size_t i = 0; i < n; i++) {
		for (int j = 0; j < cells[i] && at < r.w; j++, at++) {
			for (int y = r.y; y < r.y + r.h; y++)
				canvas_glyph(c, r.x + at, y, s[i].role, s[i].fill);
			if (j == 0)
				canvas_put(c, r.x + at, r.y, (uint8_t)(s[i].role | STYLE_BOLD),
					(uint32_t)(unsigned char)s[i].letter);
		}
	}
}

void view_step_bar(const struct view *v, struct rect r)
{
	struct segment s[STEP_PART_COUNT];
	for (int i = 0; i < STEP_PART_COUNT; i++)
		s[i] = (struct segment){ step_part_table[i].letter, part_looks[i].role, part_looks[i].fill,
			v->a->plan.step.part_s[i] };
	view_segments(v->c, r, s, STEP_PART_COUNT);
}

char *view_seconds(double seconds, char *buf, size_t cap)
{
	static const struct {
		double least, divisor;
		const char *unit;
	} units[] = { { 2 * 86400.0, 86400, N_("days") }, { 2 * 3600.0, 3600, N_("h") }, { 120, 60, N_("min") },
		{ 1, 1, N_("s") }, { 0, 1e-3, N_("ms") } };
	char number[32];
	size_t i = 0;
	while (seconds < units[i].least && units[i].least > 0)
		i++;
	(void)snprintf(buf, cap, "%s %s", units_format_f4(seconds / units[i].divisor, number, sizeof(number)), _(units[i].unit));
	return buf;
}

char *view_percent(double share, char *buf, size_t cap)
{
	if (share <= 0)
		(void)snprintf(buf, cap, "-");
	else if (share < 0.0005)
		(void)snprintf(buf, cap, "<0.1 %%");
	else
		(void)snprintf(buf, cap, "%.1f %%", 100 * share);
	return buf;
}

char *view_rate(double per_second, char *buf, size_t cap)
{
	char number[32];
	if (per_second < 1e4)
		(void)units_format_f4(per_second, buf, cap);
	else if (per_second < 1e6)
		(void)snprintf(buf, cap, "%.*fk", per_second < 1e5 ? 1 : 0, per_second / 1e3);
	else
		(void)snprintf(buf, cap, "%sM", units_format_f4(per_second / 1e6, number, sizeof(number)));
	return buf;
}

void view_timed_bubble(const struct plan *p, char *buf, size_t cap)
{
	(void)units_format_f4(100 * p->step.part_s[STEP_BUBBLE] / p->step.step_s, buf, cap);
}

void view_speed_unknown(const struct view *v, int x, int y, int w)
{
	const struct scenario *s = &v->a->draft.s;
	(void)canvas_printf(v->c, x, y, w, ROLE_ALERT, _("not known: %s has no rate for %s"), s->cluster.gpu.id,
		precision_choices[s->training.precision].key);
}

/* "4.2 % faster", "2.7 x slower" for a speed that is `rate` times the present one. False when that is not worth a word. */
static bool write_gain(double rate, char *buf, size_t cap)
{
	const double factor = rate < 1 ? 1 / rate : rate, share = 100 * (factor - 1);
	if (factor >= 2)
		(void)snprintf(buf, cap, rate < 1 ? _("%.*f x slower") : _("%.*f x faster"), factor < 10 ? 1 : 0, factor);
	else if (share >= 0.05)
		(void)snprintf(buf, cap, rate < 1 ? _("%.*f %% slower") : _("%.*f %% faster"), share < 10 ? 1 : 0, share);
	return share >= 0.05;
}

char *view_speed_gain(const struct app *a, double tokens_per_s, char *buf, size_t cap)
{
	const double now = a->plan.step.known ? a->plan.throughput.tokens_per_s : 0;
	buf[0] = '\0';
	if (now > 0 && tokens_per_s > 0 && !write_gain(tokens_per_s / now, buf, cap))
		(void)snprintf(buf, cap, "%s", _("same speed"));
	return buf;
}

char *view_speed_change(const struct app *a, const struct preview *p, char *buf, size_t cap)
{
	const double now = a->plan.step.known ? a->plan.step.step_s : 0,
		     usd = now > 0 ? cost_of(&a->draft.s, &a->plan.step).usd : 0;
	const bool timed = now > 0 && p->step_s > 0;
	const double change = timed ? p->usd - usd : 0;
	char money[32];
	if (timed && write_gain(now / p->step_s, buf, cap))
		return buf;
	if (change > 0.5 || change < -0.5)
		(void)snprintf(buf, cap, "%c%s", change < 0 ? '-' : '+',
			report_usd(change < 0 ? -change : change, money, sizeof(money)));
	else
		(void)snprintf(buf, cap, "%s", _("no change"));
	return buf;
}

/* Columns of a part in the legend of the main screen, and of what is left. */
enum { SLOT_W = 16, REST_W = 7 };

/* Things that end at a column, from the right to the left. */
struct tail {
	const struct view *v;
	int end, least, y; /* nothing is drawn left of `least` */
};

static void tail_text(struct tail *t, const char *text)
{
	const int w = canvas_text_width(text);
	if (t->end - w < t->least)
		return;
	t->end -= w;
	(void)canvas_text(t->v->c, t->end, t->y, w, ROLE_DIM, text);
}

static bool tail_figure(struct tail *t, const char *text, const char *path, const char *unit)
{
	const int w = canvas_text_width(text);
	if (t->end - w - canvas_text_width(unit) < t->least)
		return false;
	tail_text(t, unit);
	t->end -= w;
	view_figure(t->v, t->end, t->y, w, text, path);
	return true;
}

static void draw_step_row(const struct view *v, struct rect r)
{
	const struct throughput *t = &v->a->plan.throughput;
	char text[32];
	int x = r.x + canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("STEP")) + 1;
	if (!v->a->plan.step.known) {
		view_speed_unknown(v, x, r.y, r.x + r.w - x);
		return;
	}
	(void)view_seconds(v->a->plan.step.step_s, text, sizeof(text));
	view_figure(v, x, r.y, canvas_text_width(text), text, "time.step_s");
	struct tail tail = { v, r.x + r.w, x + canvas_text_width(text) + 2, r.y };
	(void)snprintf(text, sizeof(text), "%.1f %%", 100 * t->mfu);
	(void)tail_figure(&tail, text, "throughput.mfu", "");
	if (r.w >= TAIL_WIDE_W) {
		tail_text(&tail, _("   MFU "));
		(void)tail_figure(&tail, units_format_f4(t->model_flops_per_gpu / 1e12, text, sizeof(text)),
			"throughput.model_tflops_per_gpu", _(" TFLOP/s per GPU"));
		tail_text(&tail, "   ");
		(void)tail_figure(&tail, view_rate(t->tokens_per_s_per_gpu, text, sizeof(text)),
			"throughput.tokens_per_s_per_gpu", _(" per GPU"));
		tail_text(&tail, "   ");
	} else {
		tail_text(&tail, _(", MFU "));
	}
	(void)tail_figure(&tail, view_rate(t->tokens_per_s, text, sizeof(text)), "throughput.tokens_per_s", _(" tokens/s"));
}

/* Index of the next part of the step to name: the largest that is not named yet. STEP_PART_COUNT: none left. */
static int next_part(const struct step_time *t, const bool *named)
{
	int best = STEP_PART_COUNT;
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		if (!named[i] && t->part_s[i] > 0 && (best == STEP_PART_COUNT || t->part_s[i] > t->part_s[best]))
			best = i;
	}
	return best;
}

/* One part in its slot: "c compute 13.2". Returns the columns to the next: a long name takes more than its slot. */
static int draw_slot(const struct view *v, int x, int y, enum step_part part, double unit)
{
	char text[32], path[FIGURE_PATH_CAP];
	canvas_put(
		v->c, x, y, (uint8_t)(part_looks[part].role | STYLE_BOLD), (uint32_t)(unsigned char)step_part_table[part].letter);
	const int used = 3 + canvas_text(v->c, x + 2, y, SLOT_W - 2, ROLE_DIM, _(step_part_table[part].label));
	(void)units_format_f4(v->a->plan.step.part_s[part] / unit, text, sizeof(text));
	(void)snprintf(path, sizeof(path), "time.%s", step_part_table[part].key);
	view_figure(v, x + used, y, canvas_text_width(text), text, path);
	return (int)num_max(SLOT_W, used + canvas_text_width(text) + 2);
}

/* "c compute 13.2  t tp 2.00  + 0.9": the largest parts, in drawing order at fixed columns, and the rest where it
 * costs a slow line no second packet. */
static void draw_legend(const struct view *v, struct rect r)
{
	const struct step_time *t = &v->a->plan.step;
	const double unit = t->step_s < 1 ? 1e-3 : 1;
	bool named[STEP_PART_COUNT] = { false };
	double rest = t->step_s;
	char text[32];
	int x = r.x;
	for (int slots = (r.w - REST_W) / SLOT_W; slots > 0 && next_part(t, named) < STEP_PART_COUNT; slots--) {
		const int part = next_part(t, named);
		named[part] = true;
		rest -= t->part_s[part];
	}
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		if (!named[i])
			continue;
		x += draw_slot(v, x, r.y, (enum step_part)i, unit);
	}
	if (r.w >= TAIL_WIDE_W - SLOT_W && next_part(t, named) < STEP_PART_COUNT)
		(void)canvas_printf(v->c, x, r.y, (int)num_min(REST_W, r.x + r.w - x), ROLE_TEXT, "+ %s",
			units_format_f4(rest / unit, text, sizeof(text)));
}

static void draw_cost_row(const struct view *v, struct rect r)
{
	char text[48];
	const int x = r.x + canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("COST")) + 1;
	if (!v->a->plan.step.known) {
		(void)canvas_text(v->c, x, r.y, r.x + r.w - x, ROLE_DIM, _("not known: needs the step"));
		return;
	}
	const struct cost c = cost_of(&v->a->draft.s, &v->a->plan.step);
	struct tail tail = { v, r.x + r.w, x, r.y };
	if (c.price_usd_per_hour > 0) {
		if (r.w >= TAIL_WIDE_W) {
			(void)snprintf(text, sizeof(text), "$%.2f", c.price_usd_per_hour);
			(void)tail_figure(&tail, text, "cost.price_usd_per_hour", _(" per GPU hour"));
			tail_text(&tail, _(" at "));
		}
		(void)tail_figure(&tail, report_usd(c.usd, text, sizeof(text)), "cost.usd", "");
		tail_text(&tail, ", ");
	}
	if (r.w >= TAIL_WIDE_W) {
		(void)tail_figure(&tail, view_rate(c.gpu_hours, text, sizeof(text)), "cost.gpu_hours", _(" GPU hours"));
		tail_text(&tail, ", ");
	}
	(void)tail_figure(&tail, view_seconds(c.days * 86400, text, sizeof(text)), "cost.days", "");
	tail_text(&tail, ": ");
	(void)tail_figure(&tail, units_format_count(num_round(c.tokens), text, sizeof(text)), "cost.tokens", _(" tokens"));
}

void view_speed_block(const struct view *v, struct rect r)
{
	const int label_w = view_label_w(v->a);
	const bool known = v->a->plan.step.known;
	if (r.h == 0)
		return;
	draw_step_row(v, (struct rect){ r.x, r.y, r.w, 1 });
	if (r.h >= 3 && known)
		view_step_bar(v, (struct rect){ r.x + label_w, r.y + 1, v->l.bar_w - (label_w - 3), 1 });
	if (r.h >= 4 && known)
		draw_legend(v, (struct rect){ r.x + label_w, r.y + 2, r.w - label_w, 1 });
	if (r.h >= 2)
		draw_cost_row(v, (struct rect){ r.x, r.y + r.h - 1, r.w, 1 });
}

void view_speed_line(const struct view *v, struct rect r)
{
	const struct plan *p = &v->a->plan;
	char bubble[32], time[48], usd[32] = "", step[32];
	int x = r.x + canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("STEP")) + 1;
	if (!p->step.known) {
		view_speed_unknown(v, x, r.y, r.x + r.w - x);
		return;
	}
	const struct cost c = cost_of(&v->a->draft.s, &p->step);
	(void)view_seconds(p->step.step_s, step, sizeof(step));
	view_figure(v, x, r.y, canvas_text_width(step), step, "time.step_s");
	x += canvas_text_width(step);
	view_timed_bubble(p, bubble, sizeof(bubble));
	if (c.price_usd_per_hour > 0)
		(void)report_usd(c.usd, usd, sizeof(usd));
	(void)canvas_printf(v->c, x, r.y, r.x + r.w - x, ROLE_TEXT, _(", idle %s %%, MFU %.1f %%, %s%s%s"), bubble,
		100 * p->throughput.mfu, view_seconds(c.days * 86400, time, sizeof(time)), usd[0] != '\0' ? ", " : "", usd);
}
