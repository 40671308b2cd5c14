#include "config.h"

#include "term.h"

#include "paint.h"
#include "term_caps.h"
#include "term_keys.h"
#include "term_signals.h"
#include "theme.h"
#include "ui_text.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { ESCAPE_DELAY_MS = 25 };

/* The state of the one terminal, which is global by nature, as are curses and signals; nothing else in ui/ is. */
static struct {
	SCREEN *screen;
	FILE *out, *in;
	bool news; /* something was shown since the last wait for input */
	struct painter painter;
	struct paint_caps caps;
	int fifo; /* test interface: one byte per frame */
	int stop_signal;
	int w, h, colors;
	enum theme theme;
} term = { .fifo = -1 };

static bool locale_shows_glyphs(void)
{
	if (strcasecmp(nl_langinfo(CODESET), "UTF-8") != 0)
		return false;
	for (int i = 0; i < GLYPH_COUNT; i++) {
		if (wcwidth((wchar_t)glyph_table[i].unicode) != 1)
			return false;
	}
	return true;
}

static void write_bytes(const char *bytes, size_t n)
{
	(void)fwrite(bytes, 1, n, term.out);
	(void)fflush(term.out);
}

/* NO_COLOR and the terminal have the last word on colours. */
static void set_up_looks(const struct term_options *o)
{
	const char *no_color = getenv("NO_COLOR");
	term_caps_read(&term.caps);
	term.caps.write = write_bytes;
	term.caps.ascii = o->ascii >= 0 ? o->ascii > 0 : !locale_shows_glyphs();
	term.colors = o->no_color || (no_color != NULL && no_color[0] != '\0') ? 0 : term_caps_colors();
	term_set_theme(theme_choose(term.colors, o->theme, getenv("COLORFGBG")));
}

static void open_fifo(void)
{
	const char *fifo = getenv("MESHPLAN_FRAME_FIFO");
	if (fifo != NULL && fifo[0] != '\0')
		term.fifo = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static enum err_code refuse(struct err *e, const char *what)
{
	return err_set(e, ERR_USAGE, "TERM", "%s. Without one: meshplan plan, meshplan fit, meshplan --help.", what);
}

/* The name of a terminal that can address its cursor; NULL, with the reason in *e. */
static const char *usable_type(const struct term_options *o, struct err *e)
{
	const char *type = o->type != NULL ? o->type : getenv("TERM");
	if (type == NULL || type[0] == '\0') {
		(void)refuse(e, "TERM is not set: the terminal UI needs a terminal");
		return NULL;
	}
	if (strcmp(type, "dumb") == 0) {
		(void)refuse(e, "TERM is \"dumb\": the terminal UI needs a terminal that can move its cursor");
		return NULL;
	}
	return type;
}

enum err_code term_open(const struct term_options *o, struct err *e)
{
	const char *type = usable_type(o, e);
	if (type == NULL)
		return ERR_USAGE;
	term.out = o->out != NULL ? o->out : stdout;
	term.in = o->in != NULL ? o->in : stdin;
	open_fifo();
	/* Our own handlers come first: ncurses leaves signals alone that are already caught. */
	if (o->signals)
		term_signals_open(fileno(term.in), fileno(term.out));
	term.screen = newterm(type, term.out, term.in);
	if (term.screen == NULL) {
		term_close();
		return err_set(e, ERR_USAGE, "TERM",
			"TERM is \"%.60s\", which terminfo does not know: set TERM to one it does, such as xterm-256color. "
			"Without a terminal: meshplan plan, meshplan fit, meshplan --help.",
			type);
	}
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)intrflush(stdscr, FALSE);
	(void)keypad(stdscr, TRUE);
	term_keys_define();
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_DELAY_MS);
	set_up_looks(o);
	term_signals_prepare();
	/* Whatever curses has to send comes now; from here on the screen belongs to the painter. */
	(void)refresh();
	getmaxyx(stdscr, term.h, term.w);
	return ERR_OK;
}

void term_close(void)
{
	if (term.screen != NULL) {
		paint_leave(&term.painter);
		paint_free(&term.painter);
		(void)endwin();
		delscreen(term.screen);
		term.screen = NULL;
	}
	term_signals_close();
	if (term.fifo >= 0)
		(void)close(term.fifo);
	term.fifo = -1;
}

void term_size(int *w, int *h)
{
	*w = term.w;
	*h = term.h;
}

bool term_ascii(void)
{
	return term.caps.ascii;
}

int term_colors(void)
{
	return term.colors;
}

enum theme term_theme(void)
{
	return term.theme;
}

void term_set_theme(enum theme theme)
{
	term.theme = theme;
	term_caps_theme(&term.caps, theme);
	paint_forget(&term.painter);
}

int term_signal(void)
{
	return term.stop_signal;
}

static struct event resize_event(void)
{
	struct winsize size;
	if (ioctl(fileno(term.out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
		(void)resize_term(size.ws_row, size.ws_col);
	getmaxyx(stdscr, term.h, term.w);
	return (struct event){ .kind = EVENT_RESIZE, .w = term.w, .h = term.h };
}

/* The modes and the screen are ours again, whatever was done with them. */
static void take_over(void)
{
	(void)reset_prog_mode();
	(void)refresh();
	term_repaint();
}

/* A signal as an event. */
static struct event signal_event(int number)
{
	if (number == SIGTSTP) {
		term_suspend();
	} else if (number == SIGCONT) {
		/* Somebody else stopped it, and the screen was left as it was. */
		(void)endwin();
		take_over();
	} else if (number != SIGWINCH) {
		term.stop_signal = number;
		return (struct event){ .kind = EVENT_END };
	}
	return resize_event();
}

/* What waits, without waiting for it. */
static bool next_event(struct event *ev)
{
	const int number = term_signals_next();
	if (number != 0) {
		*ev = signal_event(number);
		return true;
	}
	if (!term_keys_next(ev))
		return false;
	if (ev->kind == EVENT_RESIZE)
		*ev = resize_event();
	return true;
}

/* The input is readable, yet there is no key: at its end there is nothing to read, on a terminal that is gone the question fails.
 */
static bool input_ended(short revents)
{
	int waiting = 0;
	if (revents & (POLLERR | POLLNVAL))
		return true;
	if (ioctl(fileno(term.in), FIONREAD, &waiting) != 0)
		return true;
	return waiting == 0;
}

/* Tells a test that what was shown is complete and that input is awaited; see tests/tui. */
static void announce_frame(void)
{
	if (term.fifo < 0 || !term.news)
		return;
	term.news = false;
	const ssize_t written = write(term.fifo, "f", 1);
	(void)written;
}

struct event term_read(int timeout_ms)
{
	struct event ev;
	while (!next_event(&ev)) {
		struct pollfd fds[2] = { { fileno(term.in), POLLIN, 0 }, { term_signals_fd(), POLLIN, 0 } };
		announce_frame();
		const int ready_fds = poll(fds, 2, timeout_ms);
		if (ready_fds < 0 && errno != EINTR)
			return (struct event){ .kind = EVENT_END };
		if (ready_fds == 0)
			return (struct event){ .kind = EVENT_TICK };
		if (fds[0].revents != 0 && input_ended(fds[0].revents))
			return next_event(&ev) ? ev : (struct event){ .kind = EVENT_END };
	}
	return ev;
}

bool term_waiting(void)
{
	struct pollfd fds[2] = { { fileno(term.in), POLLIN, 0 }, { term_signals_fd(), POLLIN, 0 } };
	return poll(fds, 2, 0) > 0;
}

/* A painter for the screen as it is. False when there is no memory: nothing is shown. */
static bool ready(void)
{
	struct painter *p = &term.painter;
	return (p->shown != NULL && p->w == term.w && p->h == term.h) || paint_start(p, &term.caps, term.w, term.h);
}

void term_present_parts(const struct canvas *c, const struct rect *parts, size_t n)
{
	if (!ready())
		return;
	for (size_t i = 0; i < n; i++)
		paint_rect(&term.painter, c, parts[i]);
	paint_flush(&term.painter);
}

void term_present(const struct canvas *c)
{
	if (!ready())
		return;
	paint_rect(&term.painter, c, (struct rect){ 0, 0, c->w, c->h });
	paint_finish(&term.painter, c);
	term.news = true;
}

void term_repaint(void)
{
	paint_forget(&term.painter);
}

void term_suspend(void)
{
	paint_leave(&term.painter);
	(void)def_prog_mode();
	(void)endwin();
	(void)fflush(term.out);
	term_signals_stop();
	take_over();
	(void)resize_event();
}
