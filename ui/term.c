#include "config.h"

#include "term.h"

#include "paint.h"
#include "term_caps.h"
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
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { RESTORE_CAP = 256, ESCAPE_DELAY_MS = 25 };

/* The state of the one terminal. Signal handlers and ncurses are global by nature; nothing else in ui/ is. */
static struct {
	SCREEN *screen;
	FILE *out, *in;
	bool signals;
	bool news; /* something was shown since the last wait for input */
	struct painter painter;
	struct paint_caps caps;
	int pipe[2]; /* signal handlers write the signal number, term_read waits for it */
	int fifo;    /* test interface: one byte per frame */
	int stop_signal;
	int w, h, colors;
	enum theme theme;
} term = { .pipe = { -1, -1 }, .fifo = -1 };

/* What a fatal signal needs, prepared beforehand: only async-signal-safe calls are left to do. */
static struct termios saved_termios;
static int saved_fd = -1;
static char restore_text[RESTORE_CAP];
static size_t restore_len;

static const int stop_signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2 };
static const int fatal_signals[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };

static void on_signal(int number)
{
	const int saved = errno;
	const unsigned char byte = (unsigned char)number;
	const ssize_t written = write(term.pipe[1], &byte, 1);
	(void)written;
	errno = saved;
}

/* A crash: the terminal first, then the default action, which may dump core. The handler was installed with SA_RESETHAND. */
static void on_fatal(int number)
{
	if (saved_fd >= 0) {
		const ssize_t written = write(saved_fd, restore_text, restore_len);
		(void)written;
		(void)tcsetattr(saved_fd, TCSANOW, &saved_termios);
	}
	(void)raise(number);
}

static void catch_signal(int number, void (*handler)(int), int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

/* Signals that the caller ignores (nohup) stay ignored. */
static bool is_ignored(int number)
{
	struct sigaction action;
	return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

static void catch_signals(void)
{
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++) {
		if (!is_ignored(stop_signals[i]))
			catch_signal(stop_signals[i], on_signal, 0);
	}
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++)
		catch_signal(fatal_signals[i], on_fatal, (int)SA_RESETHAND);
	if (!is_ignored(SIGTSTP))
		catch_signal(SIGTSTP, on_signal, 0);
	catch_signal(SIGWINCH, on_signal, 0);
}

static void release_signals(void)
{
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++) {
		if (!is_ignored(stop_signals[i]))
			catch_signal(stop_signals[i], SIG_DFL, 0);
	}
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++)
		catch_signal(fatal_signals[i], SIG_DFL, 0);
	catch_signal(SIGTSTP, SIG_DFL, 0);
	catch_signal(SIGWINCH, SIG_DFL, 0);
}

/* What a crash has to send: plain attributes, the cursor, the keypad, the screen of the shell. */
static void prepare_restore(void)
{
	static const char *const names[] = { "sgr0", "cnorm", "rmkx", "rmcup" };
	restore_len = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		term_caps_append(names[i], restore_text, RESTORE_CAP, &restore_len);
}

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

static void open_hooks(bool signals)
{
	const char *fifo = getenv("MESHPLAN_FRAME_FIFO");
	if (fifo != NULL && fifo[0] != '\0')
		term.fifo = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (!signals)
		return;
	if (pipe(term.pipe) == 0) {
		for (int i = 0; i < 2; i++)
			(void)fcntl(term.pipe[i], F_SETFL, O_NONBLOCK);
		catch_signals();
	}
}

/* Sequences that terminals send although their terminfo entry names others. */
static const struct {
	const char *bytes;
	int code;
} other_keys[] = {
	{ "\033[A", KEY_UP },
	{ "\033[B", KEY_DOWN },
	{ "\033[C", KEY_RIGHT },
	{ "\033[D", KEY_LEFT },
	{ "\033OA", KEY_UP },
	{ "\033OB", KEY_DOWN },
	{ "\033OC", KEY_RIGHT },
	{ "\033OD", KEY_LEFT },
	{ "\033[H", KEY_HOME },
	{ "\033[F", KEY_END },
	{ "\033OH", KEY_HOME },
	{ "\033OF", KEY_END },
	{ "\033[1~", KEY_HOME },
	{ "\033[4~", KEY_END },
	{ "\033[7~", KEY_HOME },
	{ "\033[8~", KEY_END },
	{ "\033[3~", KEY_DC },
	{ "\033[5~", KEY_PPAGE },
	{ "\033[6~", KEY_NPAGE },
	{ "\033[Z", KEY_BTAB },
	{ "\033[1;2D", KEY_SLEFT },
	{ "\033[1;2C", KEY_SRIGHT },
	{ "\033[d", KEY_SLEFT },
	{ "\033[c", KEY_SRIGHT },
	{ "\033OP", KEY_F(1) },
	{ "\033[11~", KEY_F(1) },
	{ "\033[[A", KEY_F(1) },
	{ "\033[21~", KEY_F(10) },
};

static void define_other_keys(void)
{
	for (size_t i = 0; i < sizeof(other_keys) / sizeof(other_keys[0]); i++) {
		if (key_defined(other_keys[i].bytes) == 0)
			(void)define_key(other_keys[i].bytes, other_keys[i].code);
	}
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
	term.signals = o->signals;
	saved_fd = tcgetattr(fileno(term.in), &saved_termios) == 0 ? fileno(term.out) : -1;
	/* Our own handlers come first: ncurses leaves signals alone that are already caught. */
	open_hooks(o->signals);
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
	define_other_keys();
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_DELAY_MS);
	set_up_looks(o);
	prepare_restore();
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
	saved_fd = -1;
	if (term.signals)
		release_signals();
	for (int i = 0; i < 2; i++) {
		if (term.pipe[i] >= 0)
			(void)close(term.pipe[i]);
		term.pipe[i] = -1;
	}
	if (term.fifo >= 0)
		(void)close(term.fifo);
	term.fifo = -1;
	term.signals = false;
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

/* ncurses codes to ours. */
static const struct {
	int code;
	uint32_t key;
} special_keys[] = {
	{ KEY_UP, INPUT_UP },
	{ KEY_DOWN, INPUT_DOWN },
	{ KEY_LEFT, INPUT_LEFT },
	{ KEY_RIGHT, INPUT_RIGHT },
	{ KEY_SLEFT, INPUT_SHIFT_LEFT },
	{ KEY_SRIGHT, INPUT_SHIFT_RIGHT },
	{ KEY_HOME, INPUT_HOME },
	{ KEY_END, INPUT_END },
	{ KEY_PPAGE, INPUT_PAGE_UP },
	{ KEY_NPAGE, INPUT_PAGE_DOWN },
	{ KEY_BTAB, INPUT_SHIFT_TAB },
	{ KEY_DC, INPUT_DELETE },
	{ KEY_BACKSPACE, INPUT_BACKSPACE },
	{ KEY_ENTER, INPUT_ENTER },
	{ KEY_F(1), INPUT_F1 },
	{ KEY_F(10), INPUT_F10 },
};

static struct event key_event(uint32_t key)
{
	return (struct event){ .kind = EVENT_KEY, .key = key };
}

static struct event resize_event(void)
{
	struct winsize size;
	if (ioctl(fileno(term.out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
		(void)resize_term(size.ws_row, size.ws_col);
	getmaxyx(stdscr, term.h, term.w);
	return (struct event){ .kind = EVENT_RESIZE, .w = term.w, .h = term.h };
}

static struct event decode(int status, wint_t code)
{
	if (status == KEY_CODE_YES) {
		if (code == KEY_RESIZE) {
			getmaxyx(stdscr, term.h, term.w);
			return (struct event){ .kind = EVENT_RESIZE, .w = term.w, .h = term.h };
		}
		for (size_t i = 0; i < sizeof(special_keys) / sizeof(special_keys[0]); i++) {
			if ((wint_t)special_keys[i].code == code)
				return key_event(special_keys[i].key);
		}
		return (struct event){ .kind = EVENT_NONE };
	}
	if (code == '\r')
		return key_event(INPUT_ENTER);
	if (code == 0x7f)
		return key_event(INPUT_BACKSPACE);
	return key_event((uint32_t)code);
}

/* Behind an escape that was not the start of a known key: a sequence that nobody knows ("ESC [ ... final") is no keys either.
 * True when there was one. */
static bool skip_sequence(void)
{
	wint_t code = 0;
	int status = wget_wch(stdscr, &code);
	if (status != OK || (code != '[' && code != 'O')) {
		if (status == OK)
			(void)unget_wch((wchar_t)code);
		else if (status == KEY_CODE_YES)
			(void)ungetch((int)code);
		return false;
	}
	do
		status = wget_wch(stdscr, &code);
	while (status == OK && code >= 0x20 && code < 0x40);
	return true;
}

/* One pending key, if there is one. */
static bool next_key(struct event *ev)
{
	wint_t code = 0;
	const int status = wget_wch(stdscr, &code);
	if (status == ERR)
		return false;
	if (status == OK && code == INPUT_ESCAPE && skip_sequence())
		*ev = (struct event){ .kind = EVENT_NONE };
	else
		*ev = decode(status, code);
	return true;
}

/* The same, leaving out what is no key. */
static bool some_key(struct event *ev)
{
	while (next_key(ev)) {
		if (ev->kind != EVENT_NONE)
			return true;
	}
	return false;
}

/* A signal that a handler passed on. Returns whether it makes an event. */
static bool next_signal(struct event *ev)
{
	unsigned char number = 0;
	if (term.pipe[0] < 0 || read(term.pipe[0], &number, 1) != 1)
		return false;
	if (number == SIGWINCH) {
		*ev = resize_event();
		return true;
	}
	if (number == SIGTSTP) {
		term_suspend();
		*ev = resize_event();
		return true;
	}
	term.stop_signal = number;
	*ev = (struct event){ .kind = EVENT_END };
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
	struct event ev = { .kind = EVENT_NONE };
	for (;;) {
		struct pollfd fds[2] = { { fileno(term.in), POLLIN, 0 }, { term.pipe[0], POLLIN, 0 } };
		if (next_signal(&ev) || some_key(&ev))
			return ev;
		announce_frame();
		const int ready_fds = poll(fds, 2, timeout_ms);
		if (ready_fds < 0 && errno != EINTR)
			return (struct event){ .kind = EVENT_END };
		if (ready_fds == 0)
			return (struct event){ .kind = EVENT_TICK };
		if (fds[0].revents != 0 && input_ended(fds[0].revents) && !some_key(&ev))
			return (struct event){ .kind = EVENT_END };
		if (ev.kind != EVENT_NONE)
			return ev;
	}
}

bool term_waiting(void)
{
	struct pollfd fds[2] = { { fileno(term.in), POLLIN, 0 }, { term.pipe[0], POLLIN, 0 } };
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
	catch_signal(SIGTSTP, SIG_DFL, 0);
	(void)raise(SIGTSTP);
	/* Continued. */
	if (term.signals)
		catch_signal(SIGTSTP, on_signal, 0);
	(void)reset_prog_mode();
	(void)refresh();
	(void)resize_event();
	term_repaint();
}
