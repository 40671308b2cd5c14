#include "config.h"

#include "term_signals.h"

#include "term_caps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { RESTORE_CAP = 256 };

static int channel[2] = { -1, -1 }; /* handlers write the number of the signal */

/* What a fatal signal needs, prepared beforehand: only async-signal-safe calls are left to do. */
static struct termios saved_modes;
static int saved_fd = -1;
static char restore_text[RESTORE_CAP];
static size_t restore_len;

static void on_signal(int number)
{
	const int saved = errno;
	const unsigned char byte = (unsigned char)number;
	const ssize_t written = write(channel[1], &byte, 1);
	(void)written;
	errno = saved;
}

/* A crash: the terminal first, then the default action, which may dump core. The handler was installed with SA_RESETHAND. */
static void on_fatal(int number)
{
	if (saved_fd >= 0) {
		const ssize_t written = write(saved_fd, restore_text, restore_len);
		(void)written;
		(void)tcsetattr(saved_fd, TCSANOW, &saved_modes);
	}
	(void)raise(number);
}

static const struct {
	int number, flags;
	void (*handler)(int);
} caught[] = {
	{ SIGTERM, 0, on_signal },
	{ SIGHUP, 0, on_signal },
	{ SIGINT, 0, on_signal },
	{ SIGQUIT, 0, on_signal },
	{ SIGPIPE, 0, on_signal },
	{ SIGALRM, 0, on_signal },
	{ SIGUSR1, 0, on_signal },
	{ SIGUSR2, 0, on_signal },
	{ SIGTSTP, 0, on_signal },
	{ SIGCONT, 0, on_signal },
	{ SIGWINCH, 0, on_signal },
	{ SIGSEGV, (int)SA_RESETHAND, on_fatal },
	{ SIGABRT, (int)SA_RESETHAND, on_fatal },
	{ SIGBUS, (int)SA_RESETHAND, on_fatal },
	{ SIGFPE, (int)SA_RESETHAND, on_fatal },
	{ SIGILL, (int)SA_RESETHAND, on_fatal },
};

/* Signals that the caller ignores (nohup) stay ignored. */
static bool is_ignored(int number)
{
	struct sigaction action;
	return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

static void set_action(int number, void (*handler)(int), int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	(void)sigemptyset(&action.sa_mask);
	if (!is_ignored(number))
		(void)sigaction(number, &action, NULL);
}

static void catch_all(void)
{
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		set_action(caught[i].number, caught[i].handler, caught[i].flags);
}

void term_signals_open(int in, int out)
{
	saved_fd = tcgetattr(in, &saved_modes) == 0 ? out : -1;
	if (pipe(channel) != 0)
		return;
	for (int i = 0; i < 2; i++)
		(void)fcntl(channel[i], F_SETFL, O_NONBLOCK);
	catch_all();
}

/* Plain attributes, the cursor, the keypad, the screen of the shell. */
void term_signals_prepare(void)
{
	static const char *const names[] = { "sgr0", "cnorm", "rmkx", "rmcup" };
	restore_len = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		term_caps_append(names[i], restore_text, RESTORE_CAP, &restore_len);
}

void term_signals_close(void)
{
	saved_fd = -1;
	if (channel[0] < 0)
		return;
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		set_action(caught[i].number, SIG_DFL, 0);
	for (int i = 0; i < 2; i++) {
		(void)close(channel[i]);
		channel[i] = -1;
	}
}

int term_signals_fd(void)
{
	return channel[0];
}

int term_signals_next(void)
{
	unsigned char number = 0;
	return channel[0] >= 0 && read(channel[0], &number, 1) == 1 ? number : 0;
}

void term_signals_stop(void)
{
	set_action(SIGTSTP, SIG_DFL, 0);
	set_action(SIGCONT, SIG_DFL, 0);
	(void)raise(SIGTSTP);
	if (channel[0] >= 0)
		catch_all();
}
