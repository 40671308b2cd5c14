#include "layout.h"

#include "memory.h"

/* Columns beside the bar: the value, and the label with its blank. */
enum { VALUE_W = 7, DIFFERENCE_W = 7, LABEL_W = 3 };
enum { SIDE_W = 37, SIDE_GAP = 3, BAR_MAX_W = 110, NOTES_MIN_H = 3, SPEED_H = 4 };
enum { PHASES_H = 1 + PHASE_COUNT, TABLE_MIN_W = 76, LAYOUTS_MIN_H = 5, LAYOUTS_H = 10 };

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

struct bar_grid layout_bar(int width)
{
	const int beyond = width < 20 ? 2 : max_int(5, width * 14 / 100);
	return (struct bar_grid){ max_int(1, width - 1 - beyond), beyond };
}

/* What the main pane holds. */
struct blocks {
	int stages;
	bool table, phases;
};

/* Rows of the main pane up to step and cost: memory, parts or table, a row for the host, the pipeline. */
static int rows_of(const struct blocks *b)
{
	const int memory = 1 + b->stages;
	const int parts = b->table ? 2 + b->stages : 2;
	const int pipeline = 1 + b->stages + 2;
	return memory + parts + 1 + pipeline + (b->phases ? 1 + PHASES_H : 0);
}

/* The table is chosen by the size alone, as for four stages; then as many stages as there is room for; then the phases. */
static struct blocks choose_blocks(int w, int rows, int pp, bool side)
{
	static const int more[] = { 8, 16 };
	struct blocks b = { 4, false, false };
	const int below = 1 + SPEED_H + (side ? 0 : 1 + NOTES_MIN_H);
	while (b.stages > 1 && rows_of(&b) > rows)
		b.stages--;
	b.table = w >= TABLE_MIN_W;
	b.table = b.table && rows_of(&b) + 1 + SPEED_H <= rows;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		const struct blocks larger = { min_int(pp, more[i]), b.table, false };
		if (larger.stages > b.stages && rows_of(&larger) + below <= rows)
			b.stages = larger.stages;
	}
	b.phases = !side;
	b.phases = b.phases && rows_of(&b) + below <= rows;
	return b;
}

/* Puts an area of h rows at *y and moves *y below it. */
static void place(struct screen_layout *out, enum area a, int x, int *y, int w, int h)
{
	out->area[a] = (struct rect){ x, *y, w, h };
	*y += h;
}

static void place_main(struct screen_layout *out, struct rect main, int pp, bool side, bool pinned)
{
	const struct blocks b = choose_blocks(main.w, main.h, pp, side);
	int y = main.y;
	/* Room for four stages even when there are fewer: a change of pp moves no block. */
	out->stages = min_int(b.stages, pp);
	out->value_w = VALUE_W + (pinned ? DIFFERENCE_W : 0);
	out->bar_w = main.w - LABEL_W - out->value_w;
	place(out, AREA_MEMORY, main.x, &y, main.w, 1 + b.stages);
	if (b.table) {
		y++;
		place(out, AREA_TABLE, main.x, &y, main.w, 1 + b.stages);
	} else {
		place(out, AREA_PARTS, main.x, &y, main.w, pinned ? 3 : 2);
	}
	if (out->area[AREA_PARTS].h < 3)
		place(out, AREA_HOST, main.x, &y, main.w, 1);
	place(out, AREA_PIPELINE, main.x, &y, main.w, 1 + b.stages + 2);
	if (main.y + main.h - y > 1) {
		y++;
		place(out, AREA_SPEED, main.x, &y, main.w, min_int(SPEED_H, main.y + main.h - y));
	}
	if (b.phases) {
		y++;
		place(out, AREA_PHASES, main.x, &y, main.w, PHASES_H);
	}
	y++;
	if (side && main.y + main.h - y >= LAYOUTS_MIN_H)
		place(out, AREA_LAYOUTS, main.x, &y, main.w, min_int(LAYOUTS_H, main.y + main.h - y));
	if (!side && main.y + main.h - y >= 2)
		place(out, AREA_NOTES, main.x, &y, main.w, main.y + main.h - y);
}

static void place_side(struct screen_layout *out, struct rect side)
{
	int y = side.y;
	const int bottom = side.y + side.h;
	static const struct {
		enum area area;
		int h;
	} blocks[] = { { AREA_HELP, 6 }, { AREA_STEP, 7 }, { AREA_LEDGER, 6 }, { AREA_PHASES, PHASES_H } };
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]) && y + blocks[i].h <= bottom; i++) {
		place(out, blocks[i].area, side.x, &y, side.w, blocks[i].h);
		y++;
	}
	if (bottom - y >= 2)
		place(out, AREA_NOTES, side.x, &y, side.w, bottom - y);
}

static void place_two_columns(struct screen_layout *out, int w, int h, int pp, bool pinned)
{
	const bool wide = w >= 120, side = w >= 150;
	const int settings_w = wide ? 40 : 34;
	const int main_x = settings_w + 2;
	const int main_w = min_int(w - main_x - (side ? SIDE_W + SIDE_GAP : 0), BAR_MAX_W + LABEL_W + VALUE_W);
	const int body_h = h - 4;
	out->label_w = wide ? 13 : 12;
	out->track_w = wide ? 19 : 13;
	out->density = h >= 36 ? DENSITY_AIRY : DENSITY_HEADED;
	out->split_x = main_x;
	out->area[AREA_MESSAGE] = (struct rect){ 0, 1, w, 1 };
	out->area[AREA_SETTINGS] = (struct rect){ 0, 2, settings_w, body_h };
	place_main(out, (struct rect){ main_x, 2, main_w, body_h }, pp, side, pinned);
	if (side)
		place_side(out, (struct rect){ main_x + main_w + SIDE_GAP, 2, SIDE_W, body_h });
}

static void place_one_column(struct screen_layout *out, int w, int h, int pp, bool pinned)
{
	out->narrow = true;
	out->density = h >= 24 ? DENSITY_HEADED : DENSITY_PLAIN;
	out->label_w = 12;
	out->track_w = w - 33;
	out->stages = min_int(pp, 2);
	out->value_w = VALUE_W + (pinned ? DIFFERENCE_W : 0);
	out->bar_w = w - 1 - out->value_w;
	out->split_x = 0;
	/* Verdict, two bars, the other stages in words; then one line of figures; the blank row below is the message. */
	out->area[AREA_MEMORY] = (struct rect){ 0, 1, w, 4 };
	out->area[AREA_PIPELINE] = (struct rect){ 0, 5, w, 1 };
	out->area[AREA_MESSAGE] = (struct rect){ 0, 6, w, 1 };
	out->area[AREA_SETTINGS] = (struct rect){ 0, 7, w, h - 9 };
}

void layout_compute(int w, int h, int pp, bool pinned, struct screen_layout *out)
{
	*out = (struct screen_layout){ .too_small = w < LAYOUT_MIN_W || h < LAYOUT_MIN_H };
	if (out->too_small)
		return;
	out->area[AREA_HEADER] = (struct rect){ 0, 0, w, 1 };
	out->area[AREA_PREVIEW] = (struct rect){ 0, h - 2, w, 1 };
	out->area[AREA_FOOTER] = (struct rect){ 0, h - 1, w, 1 };
	if (w < 80)
		place_one_column(out, w, h, pp < 1 ? 1 : pp, pinned);
	else
		place_two_columns(out, w, h, pp < 1 ? 1 : pp, pinned);
}
