#include "config.h"

#include "term.h"

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
	bool signals, ascii;
	enum theme theme;
	short pair[ROLE_COUNT]; /* colour pair of each role, 0: the terminal's own colours */
	int pipe[2];            /* signal handlers write the signal number, term_read waits for it */
	int fifo;               /* test interface: one byte per frame */
	int stop_signal;
	int w, h;
} term = { .pipe = { -1, -1 }, .fifo = -1 };

/* What a fatal signal needs, prepared beforehand: only async-signal-safe calls are left to do. */
static struct termios saved_termios;
static int saved_fd = -1;
static char restore_text[RESTORE_CAP];
static size_t restore_len;

static const int stop_signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
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

/* Appends a terminfo string without its padding ("$<5>"). */
static void collect(const char *text)
{
	while (*text != '\0' && restore_len < RESTORE_CAP) {
		if (text[0] == '$' && text[1] == '<') {
			text += strcspn(text, ">");
			text += *text == '>' ? 1 : 0;
		} else {
			restore_text[restore_len++] = *text++;
		}
	}
}

/* What a crash has to send: plain attributes, the cursor, the keypad, the screen of the shell. */
static void prepare_restore(void)
{
	static const char *const names[] = { "sgr0", "cnorm", "rmkx", "rmcup" };
	restore_len = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[8];
		(void)snprintf(name, sizeof(name), "%s", names[i]);
		const char *text = tigetstr(name);
		if (text != NULL && (intptr_t)text != -1)
			collect(text);
	}
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

/* One pair for each combination of colours: a change between roles that look alike then costs nothing. */
static void set_up_pairs(void)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct look *look = &role_table[i].look[term.theme];
		int first = 0;
		while (role_table[first].look[term.theme].fg != look->fg || role_table[first].look[term.theme].bg != look->bg)
			first++;
		term.pair[i] = look->fg < 0 && look->bg < 0 ? 0 : (short)(first + 1);
		if (term.pair[i] > 0)
			(void)init_pair(term.pair[i], look->fg, look->bg);
	}
}

static void set_up_colors(const struct term_options *o)
{
	const char *no_color = getenv("NO_COLOR");
	const bool colors = has_colors() && start_color() == OK && use_default_colors() == OK;
	term.theme = theme_choose(
		colors ? COLORS : 0, o->no_color || (no_color != NULL && no_color[0] != '\0'), o->theme, getenv("COLORFGBG"));
	memset(term.pair, 0, sizeof(term.pair));
	if (term.theme != THEME_MONO)
		set_up_pairs();
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
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_DELAY_MS);
	(void)curs_set(0);
	term.ascii = o->ascii >= 0 ? o->ascii > 0 : !locale_shows_glyphs();
	set_up_colors(o);
	prepare_restore();
	getmaxyx(stdscr, term.h, term.w);
	return ERR_OK;
}

void term_close(void)
{
	if (term.screen != NULL) {
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
	return term.ascii;
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

/* One pending key, if there is one. */
static bool next_key(struct event *ev)
{
	wint_t code = 0;
	const int status = wget_wch(stdscr, &code);
	if (status == ERR)
		return false;
	*ev = decode(status, code);
	return true;
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

struct event term_read(void)
{
	struct event ev = { .kind = EVENT_NONE };
	for (;;) {
		struct pollfd fds[2] = { { fileno(term.in), POLLIN, 0 }, { term.pipe[0], POLLIN, 0 } };
		if (next_signal(&ev) || next_key(&ev))
			return ev;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return (struct event){ .kind = EVENT_END };
		if (fds[0].revents != 0 && input_ended(fds[0].revents) && !next_key(&ev))
			return (struct event){ .kind = EVENT_END };
		if (ev.kind != EVENT_NONE)
			return ev;
	}
}

static attr_t attributes_of(uint8_t style, short *pair)
{
	const struct look *look = &role_table[style & ~STYLE_BOLD].look[term.theme];
	attr_t attributes = (style & STYLE_BOLD) != 0 ? A_BOLD : A_NORMAL;
	attributes |= (look->attributes & LOOK_BOLD) != 0 ? A_BOLD : A_NORMAL;
	attributes |= (look->attributes & LOOK_REVERSE) != 0 ? A_REVERSE : A_NORMAL;
	attributes |= (look->attributes & LOOK_UNDERLINE) != 0 ? A_UNDERLINE : A_NORMAL;
	*pair = term.pair[style & ~STYLE_BOLD];
	return attributes;
}

static void present_cell(int x, int y, const struct cell *cell)
{
	wchar_t text[2] = { (wchar_t)cell->code, L'\0' };
	cchar_t glyph;
	short pair = 0;
	const attr_t attributes = attributes_of(cell->style, &pair);
	if (term.ascii && cell->code > 0x7e)
		text[0] = L'?';
	if (setcchar(&glyph, text, attributes, pair, NULL) == OK)
		(void)mvadd_wch(y, x, &glyph);
	if (term.ascii && cell->width == 2 && cell->code > 0x7e)
		(void)mvaddch(y, x + 1, ' ');
}

/* Tells a test that a frame is complete; see tests/tui. */
static void announce_frame(void)
{
	struct pollfd fd = { fileno(term.in), POLLIN, 0 };
	if (term.fifo < 0 || poll(&fd, 1, 0) > 0)
		return;
	const ssize_t written = write(term.fifo, "f", 1);
	(void)written;
}

void term_present(const struct canvas *c)
{
	for (int y = 0; y < c->h && y < term.h; y++) {
		for (int x = 0; x < c->w && x < term.w; x++) {
			const struct cell *cell = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
			if (cell->width > 0)
				present_cell(x, y, cell);
		}
	}
	(void)curs_set(c->cursor_shown ? 1 : 0);
	(void)move(c->cursor_y < term.h ? c->cursor_y : term.h - 1, c->cursor_x < term.w ? c->cursor_x : term.w - 1);
	(void)refresh();
	announce_frame();
}

void term_repaint(void)
{
	(void)clearok(stdscr, TRUE);
}

void term_suspend(void)
{
	(void)def_prog_mode();
	(void)endwin();
	(void)fflush(term.out);
	catch_signal(SIGTSTP, SIG_DFL, 0);
	(void)raise(SIGTSTP);
	/* Continued. */
	if (term.signals)
		catch_signal(SIGTSTP, on_signal, 0);
	(void)reset_prog_mode();
	(void)resize_event();
	term_repaint();
	(void)refresh();
}
