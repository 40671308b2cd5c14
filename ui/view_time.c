/* The step, part by part: what computes, what waits, what is sent and how much of that is hidden; then throughput by a named
 * convention. */
#include "view_speed.h"

#include "num.h"
#include "report.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BAR_MAX_W = 120, NAME_W = 24, SECONDS_W = 10, SHARE_W = 10, HIDDEN_W = 11, GB_W = 10, LINK_W = 14, BLOCK_W = 40 };
enum { THROUGHPUT_H = 6, LAYERS_H = 4 };

/* The part of the step that a kind of traffic is exposed in. */
static const enum step_part traffic_part[TRAFFIC_COUNT] = {
	[TRAFFIC_TP] = STEP_TP,
	[TRAFFIC_CP] = STEP_CP,
	[TRAFFIC_EP] = STEP_EP,
	[TRAFFIC_PP] = STEP_PP,
	[TRAFFIC_DP_REDUCE] = STEP_DP,
	[TRAFFIC_DP_GATHER] = STEP_DP,
};

/* Seconds or milliseconds, with as many decimals for the whole column as its largest value asks for. */
static void time_text(const struct plan *p, double seconds, char *buf, size_t cap)
{
	const double unit = p->step.step_s < 1 ? 1e-3 : 1, largest = p->step.step_s / unit, value = seconds / unit;
	const int decimals = largest < 100 ? 2 : largest < 1000 ? 1 : 0;
	if (seconds <= 0)
		(void)snprintf(buf, cap, "-");
	else if (value < (decimals == 2 ? 0.005 : decimals == 1 ? 0.05 : 0.5))
		(void)snprintf(buf, cap, "%s", decimals == 2 ? "<0.01" : decimals == 1 ? "<0.1" : "<1");
	else
		(void)snprintf(buf, cap, "%.*f", decimals, value);
}

/* "s" or "ms": the unit of the columns. */
static const char *time_unit(const struct plan *p)
{
	return p->step.step_s < 1 ? _("ms") : _("s");
}

/* "NVLink4+NVSwitch" to "NVLink4". */
static void link_name(const char *link, char *buf, size_t cap)
{
	(void)snprintf(buf, cap, "%.*s", (int)num_min((int64_t)strcspn(link, "+/("), LINK_W - 1), link);
}

/* The difference to the pinned plan, right-aligned in w columns. */
static void draw_difference(const struct view *v, int x, int y, int w, double before, double now)
{
	const double change = now - before, unit = v->a->plan.step.step_s < 1 ? 1e-3 : 1, size = change < 0 ? -change : change;
	char number[32], text[40];
	if (!v->a->pin.set || !v->a->pin.plan.step.known)
		return;
	(void)snprintf(text, sizeof(text), "%c%s", change < 0 ? '-' : '+', units_format_f4(size / unit, number, sizeof(number)));
	(void)canvas_text_right(v->c, x, y, w, ROLE_PIN, size / unit < 0.005 ? "=" : text);
}

/* Columns of the table of parts, from the left edge of the screen. */
static const struct {
	const char *name; /* N_(); NULL: the unit of time */
	int x, w;
} columns[] = {
	{ NULL, NAME_W, SECONDS_W },
	{ N_("of step"), NAME_W + SECONDS_W, SHARE_W },
	{ N_("hidden"), NAME_W + SECONDS_W + SHARE_W, HIDDEN_W },
	{ N_("GB"), NAME_W + SECONDS_W + SHARE_W + HIDDEN_W, GB_W },
};

static int table_w(void)
{
	return NAME_W + SECONDS_W + SHARE_W + HIDDEN_W + GB_W;
}

static void draw_head(const struct view *v, int x, int y)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		(void)canvas_text_right(v->c, x + columns[i].x, y, columns[i].w, ROLE_DIM,
			columns[i].name != NULL ? _(columns[i].name) : time_unit(&v->a->plan));
	if (v->a->pin.set)
		(void)canvas_text_right(v->c, x + table_w(), y, LINK_W - 4, ROLE_PIN, _("vs A"));
	else
		(void)canvas_text(v->c, x + table_w() + 2, y, LINK_W, ROLE_DIM, _("over"));
}

/* What goes over the wire for a part: hidden seconds, bytes, the link; nothing for a part without traffic. */
static void draw_traffic(const struct view *v, int x, int y, enum step_part part)
{
	const struct scenario *s = &v->a->draft.s;
	struct traffic_row rows[TRAFFIC_COUNT];
	const size_t n = report_traffic(s, &v->a->plan, rows);
	double seconds = 0, exposed = 0, bytes = 0;
	char text[48];
	size_t last = n;
	for (size_t i = 0; i < n; i++) {
		if (traffic_part[rows[i].traffic] != part)
			continue;
		seconds += rows[i].time.seconds;
		exposed += rows[i].time.exposed_s;
		bytes += rows[i].time.bytes_per_gpu;
		last = i;
	}
	if (last == n)
		return;
	time_text(&v->a->plan, seconds > exposed ? seconds - exposed : 0, text, sizeof(text));
	(void)canvas_text_right(v->c, x + columns[2].x, y, columns[2].w, ROLE_TEXT, text);
	(void)canvas_text_right(
		v->c, x + columns[3].x, y, columns[3].w, ROLE_TEXT, units_format_f4(bytes / UNITS_GB, text, sizeof(text)));
	link_name(rows[last].link, text, sizeof(text));
	if (!v->a->pin.set)
		(void)canvas_text(v->c, x + table_w() + 2, y, v->c->w - x - table_w() - 2, ROLE_DIM, text);
}

static void draw_part(const struct view *v, int x, int y, enum step_part part)
{
	const struct plan *p = &v->a->plan;
	const double seconds = p->step.part_s[part];
	char text[32], path[FIGURE_PATH_CAP];
	canvas_put(
		v->c, x, y, (uint8_t)(part_looks[part].role | STYLE_BOLD), (uint32_t)(unsigned char)step_part_table[part].letter);
	(void)canvas_text(v->c, x + 2, y, NAME_W - 2, ROLE_DIM, _(part_looks[part].name));
	time_text(p, seconds, text, sizeof(text));
	(void)snprintf(path, sizeof(path), "time.%s", step_part_table[part].key);
	view_figure(v, x + columns[0].x, y, columns[0].w, text, path);
	(void)canvas_text_right(
		v->c, x + columns[1].x, y, columns[1].w, ROLE_TEXT, view_percent(seconds / p->step.step_s, text, sizeof(text)));
	draw_traffic(v, x, y, part);
	draw_difference(v, x + table_w(), y, LINK_W - 4, v->a->pin.plan.step.part_s[part], seconds);
}

/* The parts that are not zero, then as many others as there is room for, in drawing order. */
static int choose_parts(const struct step_time *t, int rows, enum step_part out[STEP_PART_COUNT])
{
	int spare = rows, n = 0;
	for (int i = 0; i < STEP_PART_COUNT; i++)
		spare -= t->part_s[i] > 0;
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		if (t->part_s[i] > 0 || spare-- > 0)
			out[n++] = (enum step_part)i;
	}
	return n;
}

/* Returns the row below. */
static int draw_parts(const struct view *v, struct rect r, int rows)
{
	const struct plan *p = &v->a->plan;
	enum step_part parts[STEP_PART_COUNT];
	const int n = choose_parts(&p->step, rows, parts);
	char text[32];
	int y = r.y;
	draw_head(v, r.x, y++);
	for (int i = 0; i < n; i++)
		draw_part(v, r.x, y++, parts[i]);
	(void)canvas_text(v->c, r.x + 2, y, NAME_W - 2, ROLE_HEAD, _("step"));
	time_text(p, p->step.step_s, text, sizeof(text));
	view_figure(v, r.x + columns[0].x, y, columns[0].w, text, "time.step_s");
	(void)canvas_text_right(v->c, r.x + columns[1].x, y, columns[1].w, ROLE_TEXT, "100 %");
	draw_difference(v, r.x + table_w(), y, LINK_W - 4, v->a->pin.plan.step.step_s, p->step.step_s);
	return y + 1;
}

static void draw_throughput_row(const struct view *v, struct rect r, const char *name, const char *text, const char *path)
{
	if (r.h <= 0)
		return;
	(void)canvas_text(v->c, r.x + 2, r.y, r.w - 2, ROLE_DIM, name);
	view_figure(v, r.x + NAME_W, r.y, SECONDS_W, text, path);
}

static void draw_throughput(const struct view *v, struct rect r)
{
	const struct throughput *t = &v->a->plan.throughput;
	const bool again = v->a->draft.s.training.recompute != RECOMPUTE_NONE;
	const struct {
		const char *name, *path;
		double value;
		bool percent;
	} rows[] = {
		{ _("tokens/s"), "throughput.tokens_per_s", t->tokens_per_s, false },
		{ _("tokens/s per GPU"), "throughput.tokens_per_s_per_gpu", t->tokens_per_s_per_gpu, false },
		{ _("MFU"), "throughput.mfu", t->mfu, true },
		{ _("model TFLOP/s per GPU"), "throughput.model_tflops_per_gpu", t->model_flops_per_gpu / 1e12, false },
		{ again ? _("HFU") : _("HFU, no recompute"), "throughput.hfu", t->hfu, true },
	};
	char text[32];
	if (r.h <= 0)
		return;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("THROUGHPUT"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].percent)
			(void)snprintf(text, sizeof(text), "%.1f %%", 100 * rows[i].value);
		else if (rows[i].value < 1000)
			(void)units_format_f4(rows[i].value, text, sizeof(text));
		else
			(void)units_format_commas(num_round(rows[i].value), text, sizeof(text));
		draw_throughput_row(
			v, (struct rect){ r.x, r.y + 1 + (int)i, r.w, r.h - 1 - (int)i }, rows[i].name, text, rows[i].path);
	}
}

/* What MFU counts: the formula, its FLOPs, and what the next convention would print for the same speed. */
static void draw_convention(const struct view *v, struct rect r)
{
	const struct scenario *s = &v->a->draft.s;
	const struct throughput *t = &v->a->plan.throughput;
	struct scenario other = *s;
	char text[160], flops[32];
	if (r.h <= 1)
		return;
	const double now = throughput_flops_per_token(s);
	other.training.flops = (s->training.flops + 1) % FLOPS_CONVENTION_COUNT;
	const double next = throughput_flops_per_token(&other);
	const int used = canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("CONVENTION"));
	(void)canvas_text(v->c, r.x + used + 2, r.y, r.w - used - 2, ROLE_TEXT, flops_convention_choices[s->training.flops].key);
	int y = r.y + 1;
	y += canvas_wrap(
		v->c, (struct rect){ r.x, y, r.w, 2 }, 0, ROLE_TEXT, ui_text(flops_convention_choices[s->training.flops].help));
	(void)snprintf(text, sizeof(text), _("= %s GFLOP/token; peak %.4g TFLOP/s"),
		units_format_f4(now / 1e9, flops, sizeof(flops)), t->peak_flops / 1e12);
	if (y < r.y + r.h)
		(void)canvas_text(v->c, r.x, y++, r.w, ROLE_TEXT, text);
	if (y < r.y + r.h && now > 0)
		(void)canvas_printf(v->c, r.x, y, r.w, ROLE_DIM, _("v: %s would print MFU %.1f %%"),
			flops_convention_choices[other.training.flops].key, 100 * t->mfu * next / now);
}

enum { WHAT_W = 34, RANKS_W = 6, CALLS_W = 11 };

/* Each kind of traffic for itself. Returns the row below. */
static int draw_communication(const struct view *v, struct rect r)
{
	struct traffic_row rows[TRAFFIC_COUNT];
	const size_t n = report_traffic(&v->a->draft.s, &v->a->plan, rows);
	const struct {
		const char *name, *member;
		int w;
	} heads[] = { { _("ranks"), "ranks", RANKS_W }, { _("calls"), "calls", CALLS_W }, { _("GB"), "bytes_per_gpu", GB_W },
		{ time_unit(&v->a->plan), "seconds", SECONDS_W }, { _("exposed"), "exposed_s", SECONDS_W } };
	char text[48], path[FIGURE_PATH_CAP];
	if (n == 0 || r.h < (int)n + 1)
		return r.y;
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("COMMUNICATION per GPU and step"));
	for (size_t i = 0; i < n; i++) {
		const struct traffic_time *t = &rows[i].time;
		const int y = r.y + 1 + (int)i;
		int x = r.x + WHAT_W;
		(void)canvas_printf(v->c, r.x + 2, y, WHAT_W - 2, ROLE_DIM, "%s %s", rows[i].group, rows[i].what);
		for (size_t k = 0; k < sizeof(heads) / sizeof(heads[0]); k++) {
			if (k == 0)
				(void)snprintf(text, sizeof(text), "%.0f", t->ranks);
			else if (k == 1)
				(void)units_format_commas(num_round(t->calls), text, sizeof(text));
			else if (k == 2)
				(void)units_format_f4(t->bytes_per_gpu / UNITS_GB, text, sizeof(text));
			else
				time_text(&v->a->plan, k == 3 ? t->seconds : t->exposed_s, text, sizeof(text));
			(void)canvas_text_right(v->c, x, r.y, heads[k].w, ROLE_DIM, heads[k].name);
			(void)snprintf(path, sizeof(path), "communication[%zu].%s", i, heads[k].member);
			view_figure(v, x, y, heads[k].w, text, path);
			x += heads[k].w;
		}
		link_name(rows[i].link, text, sizeof(text));
		(void)canvas_text(v->c, x + 2, y, r.x + r.w - x - 2, ROLE_DIM, text);
	}
	return r.y + 1 + (int)n + 1;
}

static void draw_layer(const struct view *v, int x, int y, const char *name, const struct layer_time *l)
{
	const double values[] = { l->forward_s, l->input_s, l->weight_s, l->recompute_s, l->tp_s + l->cp_s + l->ep_s };
	char text[32];
	(void)canvas_text(v->c, x + 2, y, NAME_W - 2, ROLE_DIM, name);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		(void)snprintf(text, sizeof(text), values[i] > 0 ? "%.2f" : "-", 1e3 * values[i]);
		(void)canvas_text_right(v->c, x + NAME_W + (int)i * SECONDS_W, y, SECONDS_W, ROLE_TEXT, text);
	}
}

/* What one micro-batch costs: a layer of each kind, and both ends of the model. */
static void draw_layers(const struct view *v, struct rect r)
{
	const char *const heads[] = { _("forward"), _("input"), _("weight"), _("recompute"), _("exposed") };
	const struct step_time *t = &v->a->plan.step;
	const struct model *model = &v->a->draft.s.model;
	int y = r.y + 1;
	if (r.h < LAYERS_H)
		return;
	(void)canvas_text(v->c, r.x, r.y, NAME_W, ROLE_HEAD, _("ONE MICRO-BATCH, ms"));
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		(void)canvas_text_right(v->c, r.x + NAME_W + (int)i * SECONDS_W, r.y, SECONDS_W, ROLE_DIM, heads[i]);
	if (model_moe_layers(model, 0, model->layers) < model->layers)
		draw_layer(v, r.x, y++, _("dense layer"), &t->dense);
	if (model_is_moe(model))
		draw_layer(v, r.x, y++, _("MoE layer"), &t->moe);
	if (y < r.y + r.h)
		(void)canvas_printf(v->c, r.x + 2, y++, r.w - 2, ROLE_DIM, _("head and loss %.2f, embedding %.2f, both ways"),
			1e3 * t->head_s, 1e3 * t->embedding_s);
	if (y < r.y + r.h)
		(void)canvas_printf(v->c, r.x + 2, y, r.w - 2, ROLE_DIM, _("slowest stage %" PRId64 ": %.2f of %.2f through all"),
			t->slowest_stage, 1e3 * t->stage_max_s, 1e3 * t->stage_sum_s);
}

/* The whole sentence, or what of it fits. */
static void draw_band_reason(const struct view *v, struct rect r)
{
	const bool moe = model_is_moe(&v->a->draft.s.model);
	const char *whole = moe ? _(": MoE; wider for what was not given, narrower once calibrated")
				: _(": dense; wider for what was not given, narrower once calibrated");
	const char *half = moe ? _(": MoE; wider for what was not given") : _(": dense; wider for what was not given");
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_TEXT, canvas_text_width(whole) <= r.w ? whole : half);
}

/* How far to trust it. */
static void draw_band(const struct view *v)
{
	const struct rect r = v->l.area[AREA_PREVIEW];
	const struct plan *p = &v->a->plan;
	char text[160];
	if (!p->step.known) {
		(void)canvas_text(
			v->c, r.x, r.y, r.w, ROLE_TEXT, _("flops and bandwidth of a GPU stand in its preset file: b shows it."));
		return;
	}
	(void)snprintf(text, sizeof(text), _("+- %.0f %%"), 100 * plan_band(&v->a->draft, p));
	view_figure(v, r.x, r.y, canvas_text_width(text), text, "throughput.band");
	const int x = r.x + canvas_text_width(text);
	if (plan_is_calibrated(&v->a->draft.s))
		(void)canvas_printf(v->c, x, r.y, r.w - x, ROLE_TEXT, _(": calibrated with %s"), v->a->draft.s.coefficients.id);
	else
		draw_band_reason(v, (struct rect){ x, r.y, r.x + r.w - x, 1 });
}

static void draw_title(const struct view *v, struct rect r)
{
	const struct training *t = &v->a->draft.s.training;
	char batch[32], seq[32], all[32], text[128];
	int x = r.x + canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("STEP")) + 1;
	if (!v->a->plan.step.known) {
		view_speed_unknown(v, x, r.y, r.x + r.w - x);
		return;
	}
	(void)view_seconds(v->a->plan.step.step_s, text, sizeof(text));
	x += canvas_text(v->c, x, r.y, r.x + r.w - x, ROLE_HEAD, text) + 2;
	(void)snprintf(text, sizeof(text), _("%s x %s = %s tokens"), units_format_commas(t->global_batch, batch, sizeof(batch)),
		units_format_commas(t->seq, seq, sizeof(seq)), units_format_commas(t->global_batch * t->seq, all, sizeof(all)));
	(void)canvas_text_right(v->c, x, r.y, r.x + r.w - x, ROLE_DIM, text);
}

/* Throughput and its convention side by side, or only the figures where there is no room. Returns the row below. */
static int draw_speed(const struct view *v, struct rect r)
{
	draw_throughput(v, (struct rect){ r.x, r.y, r.w < BLOCK_W ? r.w : BLOCK_W, r.h });
	if (r.w >= 2 * BLOCK_W)
		draw_convention(v, (struct rect){ r.x + BLOCK_W, r.y, (int)num_min(r.w - BLOCK_W, 60), r.h });
	return r.y + THROUGHPUT_H + 1;
}

static void draw(const struct view *v)
{
	const struct rect body = view_body(v);
	const int bar_w = (int)num_min(body.w, BAR_MAX_W), bottom = body.y + body.h;
	const bool airy = body.h >= 20;
	view_prompt_or(v, draw_band);
	draw_title(v, (struct rect){ body.x, body.y, bar_w, 1 });
	if (!v->a->plan.step.known)
		return;
	view_step_bar(v, (struct rect){ body.x, body.y + 1, bar_w, 1 });
	int y = body.y + (airy ? 3 : 2);
	const int rows = bottom - y - 2 - (airy ? 1 : 0) - THROUGHPUT_H;
	y = draw_parts(v, (struct rect){ body.x, y, body.w, bottom - y }, rows) + (airy && rows > 0 ? 1 : 0);
	y = draw_speed(v, (struct rect){ body.x, y, body.w, bottom - y });
	y = draw_communication(v, (struct rect){ body.x, y, bar_w, bottom - y });
	draw_layers(v, (struct rect){ body.x, y, bar_w, bottom - y });
}

static void opened(struct app *a)
{
	if (strncmp(a->figure, "time.", 5) != 0 && strncmp(a->figure, "throughput.", 11) != 0)
		figure_focus(a, "time.step_s");
}

const struct view_kind view_time = {
	.digit = '4',
	.footer = { { UI_EXPLAIN, UI_CONVENTION, UI_UP, UI_PIN, UI_COST, UI_PIPELINE, UI_WRITE, UI_UNDO } },
	.draw = draw,
	.opened = opened,
	.explains = figure_explains,
	.move = figure_move_lines,
	.next_pane = figure_next,
};
