/* Bytes per parameter: what is kept, by how much it is divided, what is left on each GPU. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void view_ledger_rows(const struct plan *p, struct ledger_row rows[APP_LEDGER_ROWS])
{
	const struct memory_ledger *l = &p->ledger;
	rows[0] = (struct ledger_row){ MEMORY_WEIGHTS, l->weights, l->weights_sharded ? l->shards : 1 };
	rows[1] = (struct ledger_row){ MEMORY_MASTER_WEIGHTS, l->master_weights, l->optimizer_sharded ? l->shards : 1 };
	rows[2] = (struct ledger_row){ MEMORY_GRADIENTS, l->gradients + l->gradient_accumulation + l->gradient_copies,
		l->gradients_sharded ? l->shards : 1 };
	rows[3] = (struct ledger_row){ MEMORY_OPTIMIZER, l->optimizer, l->optimizer_sharded ? l->shards : 1 };
}

/* In the memory view a row is a setting that can have the focus. */
static void draw_focus(const struct view *v, int x, int y, int row)
{
	const struct app *a = v->a;
	if (a->view != VIEW_MEMORY || !a->ledger || strcmp(app_knob(a)->key, app_ledger_keys[row]) != 0)
		return;
	canvas_glyph(v->c, x - 1, y, ROLE_ACCENT, GLYPH_FOCUS);
	if (a->prompt.kind == PROMPT_NONE)
		canvas_cursor(v->c, x, y, false);
}

/* One row at r.y. Returns what is left on each GPU. */
static double draw_row(const struct view *v, struct rect r, const struct ledger_row *row)
{
	const double left = row->bytes / (double)num_max(1, row->shards);
	const int left_w = r.w < 32 ? 5 : 7, shards_w = r.w < 32 ? 6 : 8, bytes_w = r.w < 32 ? 4 : 6;
	const int bytes_x = r.x + r.w - left_w - shards_w - bytes_w;
	char text[32], path[FIGURE_PATH_CAP];
	canvas_letter(v->c, r.x, r.y, category_looks[row->k].role, memory_category_table[row->k].letter);
	(void)canvas_text(v->c, r.x + 2, r.y, bytes_x - r.x - 2, ROLE_DIM, _(category_looks[row->k].name));
	(void)snprintf(text, sizeof(text), "%.4g", row->bytes);
	(void)canvas_text_right(v->c, bytes_x, r.y, bytes_w, ROLE_TEXT, text);
	if (row->shards > 1)
		(void)canvas_printf(v->c, bytes_x + bytes_w + 1, r.y, shards_w - 1, ROLE_DIM,
			r.w < 32 ? "/%" PRId64 : "/ %" PRId64, row->shards);
	(void)snprintf(text, sizeof(text), "%.3g", left);
	(void)snprintf(path, sizeof(path), "memory.bytes_per_param.%s", memory_category_table[row->k].key);
	view_figure(v, r.x + r.w - left_w, r.y, left_w, text, path);
	return left;
}

void view_ledger(const struct view *v, struct rect r)
{
	struct ledger_row rows[APP_LEDGER_ROWS];
	char text[32];
	double sum = 0;
	if (r.h == 0)
		return;
	view_ledger_rows(&v->a->plan, rows);
	(void)canvas_text(v->c, r.x, r.y, r.w, ROLE_HEAD, _("BYTES PER PARAMETER"));
	if (r.w >= 32)
		(void)canvas_text_right(
			v->c, r.x + 20, r.y, r.w - 20, ROLE_DIM, framework_names[v->a->draft.s.profile.framework]);
	for (int i = 0; i < APP_LEDGER_ROWS; i++) {
		sum += draw_row(v, (struct rect){ r.x, r.y + 1 + i, r.w, 1 }, &rows[i]);
		draw_focus(v, r.x, r.y + 1 + i, i);
	}
	(void)canvas_text(v->c, r.x + 2, r.y + 1 + APP_LEDGER_ROWS, 18, ROLE_DIM, _("on each GPU"));
	(void)snprintf(text, sizeof(text), "%.3g", sum);
	(void)canvas_text_right(v->c, r.x + r.w - 7, r.y + 1 + APP_LEDGER_ROWS, 7, ROLE_HEAD, text);
}
