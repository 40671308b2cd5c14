/* A test program of views: one app, the frame it shows as text, and what must stand in it. Include once. */
#ifndef MESHPLAN_TEST_UI_SHOWS_H
#define MESHPLAN_TEST_UI_SHOWS_H

#include "ui_fixture.h"

#include "canvas.h"
#include "view.h"

static struct fixture *f;
static struct canvas canvas;
static char text[256 * 1024];

static void ui_open(void)
{
	f = fixture_new(80, 24);
}

static void ui_close(void)
{
	app_close(&f->app);
	canvas_free(&canvas);
	free(f);
}

static const char *screen(void)
{
	struct sink to;
	ck_assert(canvas_resize(&canvas, f->app.w, f->app.h));
	canvas.ascii = f->app.ascii;
	view_frame(&f->app, &canvas);
	sink_init(&to, text, sizeof(text), NULL, NULL);
	canvas_dump(&canvas, &to);
	return text;
}

static void shows(const char *what)
{
	ck_assert_msg(strstr(screen(), what) != NULL, "\"%s\" is missing in\n%s", what, text);
}

#endif
