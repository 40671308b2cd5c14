#include "config.h"

#include "term_keys.h"

#include <curses.h>

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

void term_keys_define(void)
{
	for (size_t i = 0; i < sizeof(other_keys) / sizeof(other_keys[0]); i++) {
		if (key_defined(other_keys[i].bytes) == 0)
			(void)define_key(other_keys[i].bytes, other_keys[i].code);
	}
}

/* Codes of curses to ours. */
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

static struct event decode(int status, wint_t code)
{
	if (status == KEY_CODE_YES) {
		if (code == KEY_RESIZE)
			return (struct event){ .kind = EVENT_RESIZE };
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

/* One pending key, EVENT_NONE for what is none. */
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

bool term_keys_next(struct event *ev)
{
	while (next_key(ev)) {
		if (ev->kind != EVENT_NONE)
			return true;
	}
	return false;
}
