#include "config.h"

#include "loop.h"

#include "app.h"
#include "script.h"
#include "term.h"
#include "ui_text.h"
#include "view.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Draws the state at the size that the terminal has. False when there is no memory. */
static bool draw(const struct app *a, struct canvas *c)
{
	if ((c->w != a->w || c->h != a->h) && !canvas_resize(c, a->w, a->h))
		return false;
	view_frame(a, c);
	term_present(c);
	return true;
}

/* Input, update, draw; nothing happens without input. */
static int run(struct app *a, struct canvas *c)
{
	for (bool alive = draw(a, c); alive;) {
		const struct event ev = term_read();
		const unsigned dirty = app_update(a, &ev);
		if (dirty & APP_QUIT)
			return 0;
		if (dirty & APP_SUSPEND) {
			struct event resized = { .kind = EVENT_RESIZE };
			term_suspend();
			term_size(&resized.w, &resized.h);
			(void)app_update(a, &resized);
		}
		if (dirty & APP_REPAINT)
			term_repaint();
		if (dirty & (APP_DRAW | APP_SUSPEND))
			alive = draw(a, c);
	}
	return 3;
}

int ui_run(const struct ui_options *o)
{
	const struct term_options terminal = { .theme = o->theme, .no_color = o->no_color, .ascii = o->ascii, .signals = true };
	struct canvas canvas = { 0 };
	struct err e = { 0 };
	int code = 2, w = 0, h = 0;
	if (o->script != NULL)
		return ui_script(o);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		(void)fprintf(stderr, "meshplan: %s\n",
			_("the terminal UI needs a terminal. Without one: meshplan plan, meshplan fit, meshplan --help."));
		return 2;
	}
	struct app *app = malloc(sizeof(*app));
	if (app == NULL)
		return 3;
	if (app_init(app, o->catalog, o->draft, LAYOUT_MIN_W, LAYOUT_MIN_H, &e) == ERR_OK && term_open(&terminal, &e) == ERR_OK) {
		term_size(&w, &h);
		const struct event size = { .kind = EVENT_RESIZE, .w = w, .h = h };
		(void)app_update(app, &size);
		canvas.ascii = term_ascii();
		code = run(app, &canvas);
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
