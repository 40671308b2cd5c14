#include "config.h"

#include "loop.h"

#include "app.h"
#include "effect.h"
#include "plain.h"
#include "script.h"
#include "term.h"
#include "ui_text.h"
#include "view.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Keys that go by without a drawing while more of them wait. A flood then costs no frames that nobody can see and tears none, yet
 * whoever holds a key sees where it leads. */
enum { UNDRAWN_MAX = 32, PROGRESS_MS = 100 };

/* Draws the state at the size that the terminal has, in two presents: what a key changes first in the eye of the reader, then the
 * rest, unless a key waits and the frame need not be whole. False when there is no memory. */
static bool draw(const struct app *a, struct canvas *c, bool whole)
{
	if ((c->w != a->w || c->h != a->h) && !canvas_resize(c, a->w, a->h))
		return false;
	view_frame(a, c);
	struct rect urgent[VIEW_URGENT_MAX];
	const size_t n = view_urgent(a, urgent);
	if (n > 0)
		term_present_parts(c, urgent, n);
	if (n == 0 || whole || !term_waiting())
		term_present(c);
	return true;
}

/* Everything that an update asks for but drawing. */
static void settle(struct app *a, struct canvas *c, const struct effect_env *env, unsigned dirty)
{
	if (dirty & APP_SUSPEND) {
		struct event resized = { .kind = EVENT_RESIZE };
		term_suspend();
		term_size(&resized.w, &resized.h);
		(void)app_update(a, &resized);
	}
	if (dirty & APP_EFFECT)
		effect_run(a, env);
	if (dirty & APP_LOOK)
		term_set_theme(a->theme);
	if (dirty & APP_REPAINT)
		term_repaint();
	c->ascii = a->ascii;
}

static int64_t now_ms(void)
{
	struct timespec t = { 0 };
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Work that nobody waits for, until a key comes or there is none left; what it found is drawn now and then, and at the end. False
 * when there is no memory. */
static bool idle(struct app *a, struct canvas *c)
{
	int64_t drawn_ms = now_ms();
	bool news = false;
	while (app_busy(a) && !term_waiting()) {
		news = app_work(a) || news;
		if (!news || now_ms() - drawn_ms < PROGRESS_MS)
			continue;
		if (!draw(a, c, false))
			return false;
		news = false;
		drawn_ms = now_ms();
	}
	return !news || draw(a, c, false);
}

/* Input, update, draw; nothing happens without input but the ticks of the player. A frame that is owed is drawn before anything
 * is waited for: what seemed to wait may have been no key. */
static int run(struct app *a, struct canvas *c, const struct effect_env *env)
{
	int undrawn = 0;
	for (bool alive = draw(a, c, true); alive && idle(a, c);) {
		const struct event ev = term_read(undrawn > 0 ? 0 : app_wait_ms(a));
		const bool owed = undrawn > 0 && ev.kind == EVENT_TICK;
		const unsigned dirty = owed ? 0 : app_update(a, &ev);
		if (dirty & APP_QUIT)
			return 0;
		settle(a, c, env, dirty);
		undrawn += (dirty & (APP_DRAW | APP_SUSPEND)) != 0;
		if (undrawn == 0 || (!owed && undrawn < UNDRAWN_MAX && term_waiting()))
			continue;
		alive = draw(a, c, undrawn == UNDRAWN_MAX);
		undrawn = 0;
	}
	return 3;
}

/* What the state has to know of the terminal. */
static void introduce(struct app *a, const struct ui_options *o)
{
	struct event size = { .kind = EVENT_RESIZE };
	a->colors = term_colors();
	a->theme = term_theme();
	a->theme_chosen = o->theme != NULL;
	a->ascii = term_ascii();
	a->glyphs = o->ascii;
	term_size(&size.w, &size.h);
	(void)app_update(a, &size);
}

int ui_run(const struct ui_options *o)
{
	const struct term_options terminal = { .theme = o->theme, .no_color = o->no_color, .ascii = o->ascii, .signals = true };
	const struct effect_env env = { o->config_dir, o->data_dir, o->version };
	struct canvas canvas = { 0 };
	struct err e = { 0 };
	int code = 2;
	if (o->script != NULL)
		return ui_script(o);
	if (o->plain)
		return ui_plain(o);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		(void)fprintf(stderr, "meshplan: %s\n",
			_("the terminal UI needs a terminal. Without one: meshplan plan, meshplan fit, meshplan --help."));
		return 2;
	}
	struct app *app = malloc(sizeof(*app));
	if (app == NULL)
		return 3;
	if (app_init(app, o->catalog, o->draft, LAYOUT_MIN_W, LAYOUT_MIN_H, &e) == ERR_OK && term_open(&terminal, &e) == ERR_OK) {
		app->texts = o->texts;
		app->big = o->big;
		introduce(app, o);
		canvas.ascii = app->ascii;
		code = run(app, &canvas, &env);
		app_close(app);
		term_close();
	} else {
		(void)fprintf(stderr, "meshplan: %s\n", e.msg);
	}
	canvas_free(&canvas);
	free(app);
	if (term_signal() != 0)
		(void)raise(term_signal());
	return code;
}
