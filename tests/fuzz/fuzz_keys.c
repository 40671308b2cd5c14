/* Key streams: each byte is an event (a key of the binding table, text, a resize, a slice of work). After each one the state is
 * sound, the plan is that of the scenario, the screen is drawn on a canvas of its size, and Esc still leads back. */
#include "fuzz.h"

#include "app.h"
#include "presets.h"
#include "view.h"

#include <string.h>

enum { EVENTS_MAX = 400, WIDTHS = 7, BACK_MAX = APP_DEPTH_MAX + APP_TRAIL_MAX + 2 };

static struct event event_of(uint8_t byte, uint8_t next)
{
	static const int sizes[WIDTHS][2] = { { 1, 1 }, { 20, 5 }, { 60, 16 }, { 80, 24 }, { 120, 40 }, { 160, 45 },
		{ 300, 100 } };
	static const char text[] = "0123456789kMGB.,-= abtpseqxz/%";
	struct event ev = { .kind = EVENT_KEY };
	if (byte < 160) {
		ev.key = binding_table[((size_t)byte * 256 + next) % n_bindings].key;
		if (ev.key == INPUT_DIGIT)
			ev.key = '0' + next % 10U;
	} else if (byte < 240) {
		ev.key = (uint32_t)(unsigned char)text[byte % (sizeof(text) - 1)];
	} else if (byte < 250) {
		ev = (struct event){ .kind = EVENT_RESIZE, .w = sizes[next % WIDTHS][0], .h = sizes[next % WIDTHS][1] };
	} else {
		ev.key = (uint32_t)byte << 8 | next;
	}
	return ev;
}

static void check_state(const struct app *a)
{
	struct setting_row rows[SETTING_ROWS_MAX];
	struct plan plan;
	struct err e;
	FUZZ_CHECK(plan_evaluate(&a->draft.s, &plan, &e) == ERR_OK);
	FUZZ_CHECK(plan.worst.need_bytes == a->plan.worst.need_bytes);
	FUZZ_CHECK(plan.verdict.headroom_bytes == a->plan.verdict.headroom_bytes);
	FUZZ_CHECK(plan.dp == a->plan.dp && plan.n_diagnostics == a->plan.n_diagnostics);
	FUZZ_CHECK(a->n_stages == (size_t)a->draft.s.layout.pp);
	FUZZ_CHECK(a->focus < knob_count() && a->figure_stage < a->n_stages);
	FUZZ_CHECK(a->depth <= APP_DEPTH_MAX && a->n_trail <= APP_TRAIL_MAX);
	FUZZ_CHECK(a->prompt.cursor <= a->prompt.len && a->prompt.len == strlen(a->prompt.text));
	FUZZ_CHECK(a->list.n == 0 || a->list.focus < a->list.n);
	FUZZ_CHECK(a->browser.n == 0 || a->browser.focus < a->browser.n);
	FUZZ_CHECK(app_settings_rows(a, rows) < SETTING_ROWS_MAX);
}

static void check_screen(const struct app *a, struct canvas *c)
{
	if (c->w != a->w || c->h != a->h)
		FUZZ_CHECK(canvas_resize(c, a->w, a->h));
	view_frame(a, c);
	for (int i = 0; i < c->w * c->h; i++)
		FUZZ_CHECK(c->cells[i].width <= 2 && (c->cells[i].style & ~STYLE_BOLD) < ROLE_COUNT);
	FUZZ_CHECK(c->cursor_x >= 0 && c->cursor_x < c->w && c->cursor_y >= 0 && c->cursor_y < c->h);
}

/* From anywhere a few Esc lead to the main screen, where q ends (or asks, once). */
static void check_way_out(struct app *a)
{
	const struct event escape = { .kind = EVENT_KEY, .key = INPUT_ESCAPE }, quit = { .kind = EVENT_KEY, .key = 'q' };
	for (int i = 0; i < BACK_MAX; i++)
		FUZZ_CHECK(!(app_update(a, &escape) & APP_QUIT));
	FUZZ_CHECK(a->view == VIEW_MAIN && a->prompt.kind == PROMPT_NONE);
	FUZZ_CHECK((app_update(a, &quit) & APP_QUIT) || (app_update(a, &quit) & APP_QUIT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct preset_store *store; /* loaded once: the harness runs millions of inputs */
	static struct draft start;
	static struct app app;
	struct canvas c = { 0 };
	if (store == NULL) {
		FUZZ_CHECK(preset_store_new(&store, NULL) == ERR_OK);
		FUZZ_CHECK(draft_init(&start, preset_store_catalog(store), NULL) == ERR_OK);
	}
	FUZZ_CHECK(app_init(&app, preset_store_catalog(store), &start, 80, 24, NULL) == ERR_OK);
	for (size_t i = 0; i + 1 < size && i < EVENTS_MAX; i += 2) {
		const struct event ev = event_of(data[i], data[i + 1]);
		(void)app_update(&app, &ev);
		app.effect.kind = EFFECT_NONE; /* files are left alone */
		if (app_busy(&app))
			(void)app_work(&app);
		check_state(&app);
		check_screen(&app, &c);
	}
	check_way_out(&app);
	canvas_free(&c);
	return 0;
}
