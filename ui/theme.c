#include "theme.h"

#include <stddef.h>
#include <string.h>

#define B LOOK_BOLD
#define R LOOK_REVERSE
#define U LOOK_UNDERLINE
#define PLAIN                                                                                                                    \
	{                                                                                                                        \
		-1, -1, 0                                                                                                        \
	}

const char *const theme_names[THEME_COUNT + 1] = { "mono", "dark", "light", "256", "high-contrast", NULL };

/* clang-format off */
/* Two hues, one colour each: blue is what stays, orange is what a step adds. Within a hue letters and fills tell segments
 * apart, so that a bar is two runs of colour. No red against green, no black or
 * white on the terminal's own background, never the dim attribute. The cells of the pipeline take the first eight colours everywhere:
 * they alternate, and a change between two of these costs 10 bytes, not 22. */
const struct role_info role_table[ROLE_COUNT] = {
	/*                                  mono          8 on dark     8 on light    256 colours   high-contrast */
	[ROLE_TEXT] = {"text", '.',       {PLAIN,        PLAIN,        PLAIN,        PLAIN, PLAIN}},
	[ROLE_DIM] = {"dim", 'd',         {PLAIN,        PLAIN,        PLAIN,        {243, -1, 0}, PLAIN}},
	[ROLE_HEAD] = {"head", 'H',       {{-1, -1, B},  {-1, -1, B},  {-1, -1, B},  {-1, -1, B}, {-1, -1, B}}},
	[ROLE_ACCENT] = {"accent", 'a',   {{-1, -1, B},  {6, -1, B},   {4, -1, 0},   {32, -1, 0}, {-1, -1, B}}},
	[ROLE_FOCUS] = {"focus", 'f',     {{-1, -1, R},  {-1, -1, R},  {-1, -1, R},  {-1, -1, R}, {-1, -1, R}}},
	[ROLE_KEY] = {"key", 'k',         {{-1, -1, B},  {-1, -1, B},  {-1, -1, B},  {-1, -1, B}, {-1, -1, B}}},
	[ROLE_GOOD] = {"good", 'g',       {{-1, -1, R},  {0, 6, 0},    {7, 4, B},    {16, 79, 0}, {0, 6, 0}}},
	[ROLE_WARN] = {"warn", 'w',       {{-1, -1, B | R}, {0, 3, 0}, {0, 3, 0},    {16, 220, 0}, {0, 3, 0}}},
	[ROLE_BAD] = {"bad", 'b',         {{-1, -1, R | B}, {7, 1, B}, {7, 1, B},    {231, 160, 0}, {7, 1, B}}},
	[ROLE_ALERT] = {"alert", '!',     {{-1, -1, B},  {3, -1, 0},   {5, -1, 0},   {130, -1, 0}, {-1, -1, B}}},
	[ROLE_LIMIT] = {"limit", 'l',     {{-1, -1, B},  {-1, -1, B},  {-1, -1, B},  {-1, -1, B}, {-1, -1, B}}},
	[ROLE_WEIGHTS] = {"weights", 'W', {PLAIN,        {6, -1, 0},   {4, -1, 0},   {32, -1, 0}, PLAIN}},
	[ROLE_MASTER] = {"master", 'M',   {PLAIN,        {6, -1, 0},   {4, -1, 0},   {32, -1, 0}, PLAIN}},
	[ROLE_GRADIENTS] = {"gradients", 'G', {PLAIN,    {6, -1, 0},   {4, -1, 0},   {32, -1, 0}, PLAIN}},
	[ROLE_OPTIMIZER] = {"optimizer", 'O', {PLAIN,    {6, -1, 0},   {4, -1, 0},   {32, -1, 0}, PLAIN}},
	[ROLE_ACTIVATIONS] = {"activations", 'A', {PLAIN, {3, -1, 0},  {5, -1, 0},   {166, -1, 0}, PLAIN}},
	[ROLE_LOGITS] = {"logits", 'L',   {PLAIN,        {3, -1, 0},   {5, -1, 0},   {166, -1, 0}, PLAIN}},
	[ROLE_TRANSIENT] = {"transient", 'T', {PLAIN,    {3, -1, 0},   {5, -1, 0},   {166, -1, 0}, PLAIN}},
	[ROLE_RESERVED] = {"reserved", 'R', {PLAIN,      {6, -1, 0},   {4, -1, 0},   {32, -1, 0}, PLAIN}},
	[ROLE_FORWARD] = {"forward", 'F', {PLAIN,        {0, 6, 0},    {0, 6, 0},    {0, 6, 0}, PLAIN}},
	[ROLE_BACKWARD] = {"backward", 'B', {{-1, -1, R}, {0, 3, 0},   {0, 3, 0},    {0, 3, 0}, {-1, -1, R}}},
	[ROLE_INPUT] = {"input", 'I',     {{-1, -1, R},  {7, 4, 0},    {7, 4, 0},    {7, 4, 0}, {-1, -1, R}}},
	[ROLE_WEIGHT] = {"weight", 'V',   {{-1, -1, U},  {0, 2, 0},    {0, 2, 0},    {0, 2, 0}, {-1, -1, U}}},
	[ROLE_PIN] = {"pin", 'p',         {{-1, -1, U},  {6, -1, 0},   {4, -1, 0},   {243, -1, 0}, {-1, -1, U}}},
	[ROLE_IDLE] = {"idle", 'i',       {PLAIN,        PLAIN,        PLAIN,        PLAIN, PLAIN}},
};
/* clang-format on */

/* COLORFGBG ends in the background: 7 and 9 to 15 are light. */
static bool background_is_light(const char *colorfgbg)
{
	const char *last = colorfgbg == NULL ? NULL : strrchr(colorfgbg, ';');
	if (last == NULL)
		return false;
	return strcmp(last + 1, "7") == 0 || strcmp(last + 1, "9") == 0 || (last[1] == '1' && last[2] >= '0' && last[2] <= '5');
}

bool theme_bolds_letters(enum theme theme)
{
	return theme == THEME_MONO || theme == THEME_HIGH_CONTRAST;
}

bool theme_possible(enum theme theme, int colors)
{
	static const int needed[THEME_COUNT] = {
		[THEME_DARK] = 8,
		[THEME_LIGHT] = 8,
		[THEME_256] = 256,
		[THEME_HIGH_CONTRAST] = 8,
	};
	return colors >= needed[theme];
}

enum theme theme_choose(int colors, const char *wanted, const char *colorfgbg)
{
	for (int i = 0; wanted != NULL && theme_names[i] != NULL; i++) {
		if (strcmp(wanted, theme_names[i]) == 0 && theme_possible((enum theme)i, colors))
			return (enum theme)i;
	}
	if (colors < 8)
		return THEME_MONO;
	if (colors >= 256)
		return THEME_256;
	return background_is_light(colorfgbg) ? THEME_LIGHT : THEME_DARK;
}
