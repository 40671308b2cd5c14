#include "config.h"

#include "term_caps.h"

#include <curses.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* How this terminal moves its cursor and names a colour; NULL: not at all. Strings of terminfo, which outlive the terminal. */
static struct {
	const char *cup, *hpa, *vpa, *cuf, *cub, *setaf, *setab;
} strings;

/* A string capability, NULL if there is none. tigetstr takes no constant in older versions. */
static char *capability(const char *name)
{
	char copy[16];
	(void)snprintf(copy, sizeof(copy), "%s", name);
	char *text = tigetstr(copy);
	return text == NULL || (intptr_t)text == -1 ? NULL : text;
}

static bool has_flag(const char *name)
{
	char copy[16];
	(void)snprintf(copy, sizeof(copy), "%s", name);
	return tigetflag(copy) > 0;
}

/* Copies a string without its padding ("$<5>"): no terminal of today needs it. A string that is too long counts as none. */
static void copy_plain(const char *text, char *buf, size_t cap)
{
	size_t len = 0;
	while (text != NULL && *text != '\0' && len + 1 < cap) {
		if (text[0] == '$' && text[1] == '<') {
			text += strcspn(text, ">");
			text += *text == '>' ? 1 : 0;
		} else {
			buf[len++] = *text++;
		}
	}
	buf[text == NULL || *text == '\0' ? len : 0] = '\0';
}

void term_caps_append(const char *name, char *buf, size_t cap, size_t *len)
{
	char text[128];
	copy_plain(capability(name), text, sizeof(text));
	const size_t n = strlen(text);
	if (*len + n > cap)
		return;
	memcpy(buf + *len, text, n);
	*len += n;
}

int term_caps_colors(void)
{
	char name[] = "colors";
	const int colors = tigetnum(name);
	return colors < 0 || capability("setaf") == NULL || capability("setab") == NULL ? 0 : colors;
}

/* The reset without the switch back from the line drawing set, which is never in use. */
static void short_reset(char *reset)
{
	static const char *const ends[] = { "\033[m", "\033[0m" };
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (strstr(reset, ends[i]) != NULL)
			(void)snprintf(reset, PAINT_CAP_MAX, "%s", ends[i]);
	}
}

/* Moves; of those the shortest is taken. */
static size_t shorter(const char *text, char *buf, size_t cap, size_t best)
{
	char candidate[PAINT_CAP_MAX];
	copy_plain(text, candidate, sizeof(candidate));
	const size_t n = strlen(candidate);
	if (n == 0 || n >= best || n > cap)
		return best;
	memcpy(buf, candidate, n);
	return n;
}

static size_t move_cursor(char *buf, size_t cap, int from_x, int from_y, int x, int y)
{
	size_t best = shorter(tiparm(strings.cup, y, x), buf, cap, cap + 1);
	if (from_x >= 0 && from_y == y) {
		if (strings.hpa != NULL)
			best = shorter(tiparm(strings.hpa, x), buf, cap, best);
		if (x > from_x && strings.cuf != NULL)
			best = shorter(tiparm(strings.cuf, x - from_x), buf, cap, best);
		if (x < from_x && strings.cub != NULL)
			best = shorter(tiparm(strings.cub, from_x - x), buf, cap, best);
		if (x == 0)
			best = shorter("\r", buf, cap, best);
	} else if (from_x == x && strings.vpa != NULL) {
		best = shorter(tiparm(strings.vpa, y), buf, cap, best);
	}
	return best > cap ? 0 : best;
}

static void read_parametrised(void)
{
	strings.cup = capability("cup");
	strings.hpa = capability("hpa");
	strings.vpa = capability("vpa");
	strings.cuf = capability("cuf");
	strings.cub = capability("cub");
	strings.setaf = capability("setaf");
	strings.setab = capability("setab");
}

void term_caps_read(struct paint_caps *caps)
{
	const struct {
		const char *name;
		char *to;
	} rows[] = {
		{ "sgr0", caps->reset },
		{ "bold", caps->bold },
		{ "rev", caps->reverse },
		{ "smul", caps->underline },
		{ "clear", caps->clear },
		{ "el", caps->clear_line },
		{ "civis", caps->hide_cursor },
		{ "cnorm", caps->show_cursor },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		copy_plain(capability(rows[i].name), rows[i].to, PAINT_CAP_MAX);
	read_parametrised();
	short_reset(caps->reset);
	(void)snprintf(caps->foreground_off, PAINT_CAP_MAX, "%s", has_flag("AX") ? "\033[39m" : "");
	(void)snprintf(caps->background_off, PAINT_CAP_MAX, "%s", has_flag("AX") ? "\033[49m" : "");
	caps->last_cell = !has_flag("am") || has_flag("xenl");
	caps->move = move_cursor;
}

void term_caps_theme(struct paint_caps *caps, enum theme theme)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct look *look = &role_table[i].look[theme];
		caps->look[i] = *look;
		caps->foreground[i][0] = caps->background[i][0] = '\0';
		if (look->fg >= 0)
			copy_plain(tiparm(strings.setaf, (int)look->fg), caps->foreground[i], PAINT_CAP_MAX);
		if (look->bg >= 0)
			copy_plain(tiparm(strings.setab, (int)look->bg), caps->background[i], PAINT_CAP_MAX);
	}
	caps->letters_bold = theme_bolds_letters(theme);
}
