/* Stacked bars of memory: in which order the categories stand, how many cells each gets, and the bar as text. */
#include "report_internal.h"

#include "num.h"

#include <string.h>

void report_draw_order(enum memory_category order[MEMORY_CATEGORY_COUNT])
{
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		int place = 0;

		for (int k = 0; k < MEMORY_CATEGORY_COUNT; k++)
			place += memory_category_table[k].draw_order < memory_category_table[i].draw_order;
		order[place] = (enum memory_category)i;
	}
}

/* Hands out what rounding down left over, or takes back what "at least one cell" gave too much. */
static void settle_cells(const double want[MEMORY_CATEGORY_COUNT], const enum memory_category order[MEMORY_CATEGORY_COUNT],
	int64_t n, int64_t cells[MEMORY_CATEGORY_COUNT])
{
	int64_t sum = 0;

	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		sum += cells[i];
	while (sum != n) {
		int best = -1;
		double most = 0;

		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			int c = (int)order[i];
			double gap = sum < n ? want[c] - (double)cells[c] : (double)cells[c] - want[c];
			bool may = sum < n ? want[c] > 0 : cells[c] > 1;

			if (may && (best < 0 || gap > most)) {
				best = c;
				most = gap;
			}
		}
		if (best < 0)
			return;
		cells[best] += sum < n ? 1 : -1;
		sum += sum < n ? 1 : -1;
	}
}

int64_t report_bar_cells(
	const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes, int64_t cap, int64_t cells[MEMORY_CATEGORY_COUNT])
{
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	double want[MEMORY_CATEGORY_COUNT] = { 0 }, sum = 0;
	int64_t n, nonzero = 0;

	memset(cells, 0, MEMORY_CATEGORY_COUNT * sizeof cells[0]);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		sum += (double)bytes[i];
		nonzero += bytes[i] > 0;
	}
	if (nonzero == 0)
		return 0;
	n = limit_bytes > 0 ? num_round(sum * (double)cap / (double)limit_bytes) : cap;
	if (limit_bytes > 0 && sum > (double)limit_bytes)
		n = num_max(n, cap + 1);
	else
		n = num_min(n, cap);
	n = num_max(n, nonzero);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		if (bytes[i] <= 0)
			continue;
		want[i] = (double)bytes[i] * (double)n / sum;
		cells[i] = num_max(1, (int64_t)want[i]);
	}
	report_draw_order(order);
	settle_cells(want, order, n, cells);
	return n;
}

static const char *fill_of(enum memory_category c, bool ascii)
{
	static const char *const fills[MEMORY_CATEGORY_COUNT][2] = {
		[MEMORY_WEIGHTS] = { "█", "#" },
		[MEMORY_MASTER_WEIGHTS] = { "▓", "=" },
		[MEMORY_GRADIENTS] = { "█", "#" },
		[MEMORY_OPTIMIZER] = { "▓", "=" },
		[MEMORY_ACTIVATIONS] = { "▒", "+" },
		[MEMORY_LOGITS] = { "░", "-" },
		[MEMORY_TRANSIENT] = { "▒", "+" },
		[MEMORY_RESERVED] = { "░", "-" },
	};

	return fills[c][ascii];
}

int64_t report_bar_capacity(int64_t most_bytes, int64_t limit_bytes)
{
	if (limit_bytes <= 0 || most_bytes <= limit_bytes)
		return REPORT_BAR_COLS - 6;
	return num_max(1, (int64_t)((double)(REPORT_BAR_COLS - 1) * (double)limit_bytes / (double)most_bytes));
}

/* A bar being written: which cell comes next, and where the limit stands. */
struct bar {
	struct sink *out;
	int64_t at, cap;
	bool limited, ascii;
};

static void bar_limit(struct bar *b)
{
	if (b->limited && b->at == b->cap) {
		sink_puts(b->out, b->ascii ? "|" : "│");
		b->at++;
	}
}

/* One segment: its letter, then its fill; behind the limit the fill says "beyond". */
static void bar_segment(struct bar *b, enum memory_category c, int64_t cells)
{
	for (int64_t k = 0; k < cells && b->at < REPORT_BAR_COLS; k++) {
		bar_limit(b);
		if (k == 0)
			sink_write(b->out, &memory_category_table[c].letter, 1);
		else if (b->limited && b->at > b->cap)
			sink_puts(b->out, b->ascii ? "!" : "»");
		else
			sink_puts(b->out, fill_of(c, b->ascii));
		b->at++;
	}
}

void report_bar_write(const int64_t bytes[MEMORY_CATEGORY_COUNT], int64_t limit_bytes, int64_t cap, bool ascii, struct sink *out)
{
	struct bar b = { .out = out, .cap = cap, .limited = limit_bytes > 0, .ascii = ascii };
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	int64_t cells[MEMORY_CATEGORY_COUNT];

	report_draw_order(order);
	(void)report_bar_cells(bytes, limit_bytes, cap, cells);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		bar_segment(&b, order[i], cells[order[i]]);
	if (b.limited && b.at <= cap) {
		sink_repeat(out, " ", cap - b.at);
		b.at = cap;
		bar_limit(&b);
	}
	sink_repeat(out, " ", REPORT_BAR_COLS - b.at);
}
