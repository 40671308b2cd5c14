/* The run as a purchase: what the money is spent on, what the run takes, the settings behind it, failures, prices of other GPUs.
 */
#include "view_speed.h"

#include "num.h"
#include "report.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BAR_MAX_W = 120, NAME_W = 24, AMOUNT_W = 10, SHARE_W = 10, RUN_X = 50, RUN_W = 30, PRICES_X = 84, PRICES_W = 44 };
enum { LABEL_W = 13, VALUE_W = 9, SETTINGS_H = 6 };

/* What the money is spent on. */
enum purpose { COST_USEFUL, COST_BELOW_PEAK, COST_RECOMPUTE, COST_TRAFFIC, COST_OPTIMIZER, COST_IDLE, COST_LOST, COST_PURPOSES };

/* clang-format off */
static const struct {
	char letter;
	uint8_t role; /* enum role */
	enum glyph fill;
	const char *name; /* N_() */
} purposes[COST_PURPOSES] = {
	[COST_USEFUL] = {'u', ROLE_WEIGHTS, GLYPH_FULL, N_("useful FLOPs at peak")},
	[COST_BELOW_PEAK] = {'c', ROLE_MASTER, GLYPH_DARK, N_("compute below peak")},
	[COST_RECOMPUTE] = {'r', ROLE_GRADIENTS, GLYPH_FULL, N_("recompute")},
	[COST_TRAFFIC] = {'t', ROLE_ACTIVATIONS, GLYPH_MEDIUM, N_("exposed traffic")},
	[COST_OPTIMIZER] = {'o', ROLE_LOGITS, GLYPH_LIGHT, N_("optimizer, offload")},
	[COST_IDLE] = {'i', ROLE_IDLE, GLYPH_IDLE, N_("idle in the bubble")},
	[COST_LOST] = {'f', ROLE_RESERVED, GLYPH_LIGHT, N_("not training")},
};
/* clang-format on */

/* Shares of the whole; they sum to one. */
static void split(const struct plan *p, const struct cost *c, struct segment out[COST_PURPOSES])
{
	const struct step_time *t = &p->step;
	const double each = c->goodput / t->step_s;
	const double compute = t->part_s[STEP_COMPUTE] * each, peak = p->throughput.mfu * c->goodput;
	const double useful = peak < compute ? peak : compute;
	const double values[COST_PURPOSES] = {
		[COST_USEFUL] = useful,
		[COST_BELOW_PEAK] = compute - useful,
		[COST_RECOMPUTE] = t->part_s[STEP_RECOMPUTE] * each,
		[COST_TRAFFIC] =
			(t->part_s[STEP_TP] + t->part_s[STEP_CP] + t->part_s[STEP_EP] + t->part_s[STEP_DP] + t->part_s[STEP_PP]) *
			each,
		[COST_OPTIMIZER] = (t->part_s[STEP_OPTIMIZER] + t->part_s[STEP_OFFLOAD]) * each,
		[COST_IDLE] = t->part_s[STEP_BUBBLE] * each,
		[COST_LOST] = 1 - c->goodput,
	};
	for (int i = 0; i < COST_PURPOSES; i++)
		out[i] = (struct segment){ purposes[i].letter, purposes[i].role, purposes[i].fill, values[i] };
}

/* Dollars; GPU hours where no price is known. */
static char *amount(const struct cost *c, double share, char *buf, size_t cap)
{
	if (share <= 0)
		(void)snprintf(buf, cap, "-");
	else if (c->price_usd_per_hour > 0)
		(void)report_usd(share * c->usd, buf, cap);
	else
		(void)view_rate(share * c->gpu_hours, buf, cap);
	return buf;
}

/* All purposes when there are not more than `rows`, else the largest and a row for the others. Returns the rows. */
static int choose_purposes(const struct segment *s, int rows, bool chosen[COST_PURPOSES])
{
	int n = 0, all = 0;
	for (int i = 0; i < COST_PURPOSES; i++)
		all += s[i].value > 0;
	for (; n < (all > rows ? rows - 1 : rows) && n < COST_PURPOSES; n++) {
		int best = -1;
		for (int i = 0; i < COST_PURPOSES; i++) {
			if (!chosen[i] && s[i].value > 0 && (best < 0 || s[i].value > s[best].value))
				best = i;
		}
		if (best < 0)
			break;
		chosen[best] = true;
	}
	return n + (all > rows);
}

static void draw_share(const struct view *v, struct rect r, const struct cost *c, const char *name, double share)
{
	char text[32];
	(void)canvas_text(v->c, r.x + 2, r.y, NAME_W - 2, ROLE_DIM, name);
	(void)canvas_text_right(v->c, r.x + NAME_W, r.y, AMOUNT_W, ROLE_TEXT, amount(c, share, text, sizeof(text)));
	(void)canvas_text_right(v->c, r.x + NAME_W + AMOUNT_W, r.y, SHARE_W, ROLE_TEXT, view_percent(share, text, sizeof(text)));
}

/* Those that were chosen, the others together, the sum; with heads of the columns unless the rows are few. Returns the row below.
 */
static int draw_split(
	const struct view *v, struct rect r, const struct cost *c, const struct segment *s, const bool *chosen, bool few)
{
	char text[32];
	double rest = 0;
	int y = r.y;
	if (!few) {
		(void)canvas_text_right(
			v->c, r.x + NAME_W, y, AMOUNT_W, ROLE_DIM, c->price_usd_per_hour > 0 ? _("dollars") : _("GPU hours"));
		(void)canvas_text_right(v->c, r.x + NAME_W + AMOUNT_W, y++, SHARE_W, ROLE_DIM, _("share"));
	}
	for (int i = 0; i < COST_PURPOSES; i++) {
		if (!chosen[i]) {
			rest += s[i].value;
			continue;
		}
		canvas_put(v->c, r.x, y, (uint8_t)(s[i].role | STYLE_BOLD), (uint32_t)(unsigned char)s[i].letter);
		draw_share(v, (struct rect){ r.x, y++, r.w, 1 }, c, _(purposes[i].name), s[i].value);
	}
	if (rest > 0)
		draw_share(v, (struct rect){ r.x, y++, r.w, 1 }, c, _("the others"), rest);
	(void)canvas_text(v->c, r.x + 2, y, NAME_W - 2, ROLE_HEAD, _("sum"));
	view_figure(v, r.x + NAME_W, y, AMOUNT_W, amount(c, 1, text, sizeof(text)),
		c->price_usd_per_hour > 0 ? "cost.usd" : "cost.gpu_hours");
	(void)canvas_text_right(v->c, r.x + NAME_W + AMOUNT_W, y, SHARE_W, ROLE_TEXT, "100 %");
	return y + 1;
}

static void draw_run(const struct view *v, struct rect r, const struct cost *c)
{
	const struct {
		const char *name, *path;
		double value;
		enum { COUNT, WHOLE, TENTHS, SHARE, DOLLARS } form;
	} rows[] = {
		{ _("tokens"), "cost.tokens", c->tokens, COUNT },
		{ _("steps"), "cost.steps", c->steps, WHOLE },
		{ _("days"), "cost.days", c->days, TENTHS },
		{ _("GPU hours"), "cost.gpu_hours", c->gpu_hours, WHOLE },
		{ _("MWh"), "cost.kwh", c->kwh / 1e3, TENTHS },
		{ _("time training"), "cost.goodput", c->goodput, SHARE },
		{ _("$ per 1M tokens"), "", c->tokens > 0 ? 1e6 * c->usd / c->tokens : 0, DOLLARS },
	};
	char text[32];
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("RUN"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && (int)i + 1 < r.h; i++) {
		const int y = r.y + 1 + (int)i;
		(void)canvas_text(v->c, r.x + 2, y, r.w - 2, ROLE_DIM, rows[i].name);
		if (rows[i].form == COUNT)
			(void)units_format_count(num_round(rows[i].value), text, sizeof(text));
		else if (rows[i].form == WHOLE)
			(void)units_format_commas(num_round(rows[i].value), text, sizeof(text));
		else if (rows[i].form == SHARE)
			(void)snprintf(text, sizeof(text), "%.1f %%", 100 * rows[i].value);
		else
			(void)units_format_f4(rows[i].value, text, sizeof(text));
		if (rows[i].form == DOLLARS)
			(void)canvas_text_right(v->c, r.x + r.w - 12, y, 12, ROLE_TEXT, c->price_usd_per_hour > 0 ? text : "?");
		else
			view_figure(v, r.x + r.w - 12, y, 12, text, rows[i].path);
	}
}

/* clang-format off */
/* The settings that only the bill depends on, and what to say beside those whose value says nothing by itself. */
static const struct {
	const char *key, *note; /* note: N_() */
} bill[] = {
	{"tokens", NULL},
	{"price", NULL},
	{"pue", N_("power of the site over the machines")},
	{"mtbf", N_("hours between failures of one GPU")},
	{"goodput", N_("time that trains when nothing fails")},
};
/* clang-format on */

enum { NOTE_CAP = 160 };

/* Per active parameter, beside what Hoffmann 2022 found optimal. */
static void tokens_note(const struct view *v, const struct cost *c, int w, char note[NOTE_CAP])
{
	const double each = c->tokens / (double)model_active_params(&v->a->draft.s.model);
	(void)snprintf(note, NOTE_CAP, _("%.3g per active parameter; compute-optimal: 20 (Hoffmann)"), each);
	if (canvas_text_width(note) > w)
		(void)snprintf(note, NOTE_CAP, _("%.3g per parameter; optimal is 20"), each);
}

/* Where the price comes from. */
static void price_note(const struct view *v, const struct cost *c, int w, char note[NOTE_CAP])
{
	const struct gpu *g = &v->a->draft.s.cluster.gpu;
	char usd[48], brief[NOTE_CAP];
	if (v->a->draft.s.cost.price > 0) {
		(void)report_usd(g->usd_per_hour, usd, sizeof(usd));
		(void)snprintf(note, NOTE_CAP, _("per GPU hour, as given; the preset says %s"), g->usd_per_hour > 0 ? usd : "?");
		(void)snprintf(brief, NOTE_CAP, _("as given; the preset says %s"), g->usd_per_hour > 0 ? usd : "?");
	} else if (c->price_usd_per_hour > 0) {
		(void)snprintf(note, NOTE_CAP, _("per GPU hour of %s: %s, %s"), g->id, g->usd_provider, g->usd_date);
		(void)snprintf(brief, NOTE_CAP, _("per GPU hour: %s"), g->usd_provider);
	} else {
		(void)snprintf(note, NOTE_CAP, _("no price of %s is known: = types one"), g->id);
		(void)snprintf(brief, NOTE_CAP, "%s", _("not known: = types one"));
	}
	if (canvas_text_width(note) > w)
		(void)snprintf(note, NOTE_CAP, "%s", brief);
}

/* What a setting is worth as it stands, and what that rests on, in w columns. */
static void setting_texts(
	const struct view *v, size_t i, const struct cost *c, int w, char *value, size_t value_cap, char note[NOTE_CAP])
{
	(void)knob_format_pretty(knob_find(bill[i].key), &v->a->draft.s, value, value_cap);
	if (bill[i].note != NULL) {
		(void)snprintf(note, NOTE_CAP, "%s", ui_text(bill[i].note));
	} else if (strcmp(bill[i].key, "tokens") == 0) {
		(void)units_format_count(num_round(c->tokens), value, value_cap);
		tokens_note(v, c, w, note);
	} else {
		(void)snprintf(value, value_cap, c->price_usd_per_hour > 0 ? "$%.2f" : "?", c->price_usd_per_hour);
		price_note(v, c, w, note);
	}
}

/* The settings of the bill; the focused one is changed here. */
static void draw_settings(const struct view *v, struct rect r, const struct cost *c, bool few)
{
	const int note_x = r.x + LABEL_W + VALUE_W + 2, note_w = r.w - LABEL_W - VALUE_W - 2;
	char value[48], note[NOTE_CAP], path[FIGURE_PATH_CAP];
	int y = r.y;
	if (!few && r.h > 1)
		(void)canvas_text(v->c, r.x, y++, r.w, ROLE_HEAD, _("SETTINGS"));
	for (size_t i = 0; i < sizeof(bill) / sizeof(bill[0]) && y < r.y + r.h; i++, y++) {
		setting_texts(v, i, c, note_w, value, sizeof(value), note);
		(void)snprintf(path, sizeof(path), "scenario.%s", bill[i].key);
		if (strcmp(v->a->figure, path) == 0)
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, r.x + 1, y, LABEL_W - 1, ROLE_TEXT, ui_text(knob_find(bill[i].key)->label));
		view_figure(v, r.x + LABEL_W, y, VALUE_W, value, path);
		(void)canvas_text(v->c, note_x, y, note_w, ROLE_DIM, note);
	}
}

static void draw_failures(const struct view *v, struct rect r, const struct cost *c)
{
	char mtbf[48], restart[48], interval[48], write[48], count[32], size[32];
	if (r.h < 1 || c->cluster_mtbf_s <= 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, LABEL_W, ROLE_HEAD, _("FAILURES"));
	(void)canvas_printf(v->c, r.x + LABEL_W, r.y, r.w - LABEL_W, ROLE_TEXT,
		_("one in %s on %" PRId64 " GPUs, %s expected; restart %s"), view_seconds(c->cluster_mtbf_s, mtbf, sizeof(mtbf)),
		v->a->draft.s.cluster.gpus, units_format_f4(c->days * 86400 / c->cluster_mtbf_s, count, sizeof(count)),
		view_seconds(COST_RESTART_S, restart, sizeof(restart)));
	if (r.h < 2)
		return;
	(void)canvas_text(v->c, r.x, r.y + 1, LABEL_W, ROLE_HEAD, _("CHECKPOINT"));
	(void)view_seconds(c->checkpoint_interval_s, interval, sizeof(interval));
	view_figure(v, r.x + LABEL_W, r.y + 1, canvas_text_width(interval), interval, "cost.checkpoint_interval_s");
	const int x = r.x + LABEL_W + canvas_text_width(interval);
	(void)canvas_printf(v->c, x, r.y + 1, r.x + r.w - x, ROLE_TEXT, _(" is the best interval; %s GB in %s, costs %.2f %%"),
		units_format_commas(num_round(c->checkpoint_bytes / UNITS_GB), size, sizeof(size)),
		view_seconds(c->checkpoint_s, write, sizeof(write)), 100 * c->failure_loss);
}

/* What a GPU hour costs elsewhere: every card of the catalog that has a price. */
static void draw_prices(const struct view *v, struct rect r)
{
	const struct catalog *all = v->a->catalog;
	char text[32];
	int y = r.y + 1;
	if (r.w < PRICES_W || r.h < 3)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("PRICES per GPU hour"));
	for (size_t i = 0; i < all->n_gpus && y < r.y + r.h; i++) {
		const struct gpu *g = &all->gpus[i];
		const bool here = strcmp(g->id, v->a->draft.s.cluster.gpu.id) == 0;
		if (g->usd_per_hour <= 0)
			continue;
		if (here)
			canvas_glyph(v->c, r.x, y, ROLE_ACCENT, GLYPH_FOCUS);
		(void)canvas_text(v->c, r.x + 2, y, 18, here ? ROLE_TEXT : ROLE_DIM, g->id);
		(void)snprintf(text, sizeof(text), "$%.2f", g->usd_per_hour);
		(void)canvas_text_right(v->c, r.x + 20, y, 8, ROLE_TEXT, text);
		(void)canvas_printf(v->c, r.x + 29, y++, r.w - 29, ROLE_DIM, "%s%s%s", g->usd_provider,
			g->usd_date[0] != '\0' ? ", " : "", g->usd_date);
	}
}

/* "< 3.40  -$39.2k": where one step of the focused setting leads. */
static void draw_half(const struct view *v, int x, int y, int w, int side)
{
	const struct preview *p = &v->a->preview[side];
	char text[32];
	canvas_glyph(v->c, x, y, ROLE_ACCENT, side == 0 ? GLYPH_PREVIOUS : GLYPH_NEXT);
	if (p->value[0] == '\0') {
		(void)canvas_text(v->c, x + 2, y, w - 3, ROLE_DIM, side == 0 ? _("lowest") : _("highest"));
		return;
	}
	const int used = canvas_text(v->c, x + 2, y, w - 3, ROLE_TEXT, p->value) + 4;
	if (p->possible)
		(void)canvas_text(v->c, x + used, y, w - used, ROLE_TEXT, view_speed_change(v->a, p, text, sizeof(text)));
}

static void draw_preview(const struct view *v)
{
	const struct rect r = v->l.area[AREA_PREVIEW];
	const struct knob *k = app_knob(v->a);
	const int label_w = v->l.narrow ? 0 : LABEL_W, half = (r.w - label_w) / 2;
	if (strncmp(v->a->figure, "scenario.", 9) != 0) {
		char text[FIGURE_PATH_CAP + 96];
		(void)snprintf(text, sizeof(text), _("%s: Enter explains it; b lists prices of other providers"), v->a->figure);
		if (canvas_text_width(text) > r.w)
			(void)snprintf(text, sizeof(text), _("%s: Enter explains it"), v->a->figure);
		(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, text);
		return;
	}
	(void)canvas_text(v->c, r.x, r.y, label_w, ROLE_HEAD, k->key);
	if (!settings_has_stops(k)) {
		(void)canvas_text(v->c, r.x + label_w, r.y, r.w - label_w, ROLE_DIM, _("= types a value"));
		return;
	}
	draw_half(v, r.x + label_w, r.y, half, 0);
	draw_half(v, r.x + label_w + half, r.y, half, 1);
}

static void draw_title(const struct view *v, struct rect r, const struct cost *c)
{
	char tokens[32], usd[32], time[48], text[128];
	(void)snprintf(
		text, sizeof(text), _("COST of %s tokens"), units_format_count(num_round(c->tokens), tokens, sizeof(tokens)));
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, text);
	(void)canvas_text(
		v->c, r.x + used + 2, r.y, r.w - used - 2, ROLE_TEXT, view_seconds(c->days * 86400, time, sizeof(time)));
	(void)canvas_text_right(v->c, r.x + r.w - 16, r.y, 16, ROLE_HEAD,
		c->price_usd_per_hour > 0 ? report_usd(c->usd, usd, sizeof(usd)) : _("no price"));
}

static void draw(const struct view *v)
{
	const struct rect body = view_body(v);
	const int bar_w = (int)num_min(body.w, BAR_MAX_W), bottom = body.y + body.h;
	struct segment s[COST_PURPOSES];
	bool chosen[COST_PURPOSES] = { false };
	int y = body.y + 2;
	view_prompt_or(v, draw_preview);
	if (!v->a->plan.step.known) {
		(void)canvas_text(v->c, body.x, body.y, body.w, ROLE_HEAD, _("COST"));
		view_speed_unknown(v, body.x + 6, body.y, body.w - 6);
		return;
	}
	const struct cost c = cost_of(&v->a->draft.s, &v->a->plan.step);
	split(&v->a->plan, &c, s);
	/* With few rows the headings go first. */
	const bool few = body.h - 4 - SETTINGS_H < COST_PURPOSES;
	const int rows = choose_purposes(s, body.h - 4 - SETTINGS_H + (few ? 2 : 0), chosen);
	draw_title(v, (struct rect){ body.x, body.y, bar_w, 1 }, &c);
	view_segments(v->c, (struct rect){ body.x, body.y + 1, bar_w, 1 }, s, COST_PURPOSES);
	const int spare = body.h - 2 - (rows + 2) - SETTINGS_H - 2;
	y += spare >= 2;
	if (body.w >= RUN_X + RUN_W)
		draw_run(v, (struct rect){ body.x + RUN_X, y, RUN_W, rows + 2 }, &c);
	if (body.w >= PRICES_X + PRICES_W)
		draw_prices(v, (struct rect){ body.x + PRICES_X, y, body.w - PRICES_X, bottom - y });
	y = draw_split(v, (struct rect){ body.x, y, RUN_X, rows + 2 }, &c, s, chosen, few);
	y += spare >= 1;
	const int left_w = body.w >= PRICES_X + PRICES_W ? PRICES_X - 2 : body.w;
	draw_settings(v, (struct rect){ body.x, y, left_w, bottom - y }, &c, few);
	y += SETTINGS_H + (spare >= 3);
	draw_failures(v, (struct rect){ body.x, y, left_w, bottom - y }, &c);
}

static void opened(struct app *a)
{
	if (strncmp(a->figure, "cost.", 5) != 0)
		figure_focus(a, "cost.usd");
}

static void open_value(struct app *a)
{
	(figure_is_setting(a) && settings_has_stops(app_knob(a)) ? list_open : explain_focus)(a);
}

const struct view_kind view_cost = {
	.second = N_("settings of the cost"),
	.digit = '5',
	.footer = { { UI_EXPLAIN, UI_UP, UI_NEXT_PANE, UI_PIN, UI_TIME, UI_PRESETS, UI_WRITE, UI_UNDO },
		{ UI_STEP_UP, UI_TYPE, UI_EXPLAIN, UI_UP, UI_NEXT_PANE, UI_PIN, UI_UNDO } },
	.draw = draw,
	.in_second = figure_is_setting,
	.opened = opened,
	.explains = figure_explains,
	.move = figure_move_lines,
	.next_pane = figure_next,
	.open = open_value,
};
