/* Style roles. A view asks for a role; a theme turns it into attributes. Colour never says anything alone. */
#ifndef MESHPLAN_THEME_H
#define MESHPLAN_THEME_H

#include <stdbool.h>
#include <stdint.h>

enum role {
	ROLE_TEXT,
	ROLE_DIM,
	ROLE_HEAD,
	ROLE_ACCENT,
	ROLE_FOCUS,
	ROLE_KEY,
	ROLE_GOOD,
	ROLE_WARN, /* the word TIGHT */
	ROLE_BAD,
	ROLE_ALERT, /* the text of a warning */
	ROLE_LIMIT,
	ROLE_WEIGHTS, /* segments of a memory bar */
	ROLE_MASTER,
	ROLE_GRADIENTS,
	ROLE_OPTIMIZER,
	ROLE_ACTIVATIONS,
	ROLE_LOGITS,
	ROLE_TRANSIENT,
	ROLE_RESERVED,
	ROLE_FORWARD, /* cells of the pipeline drawing */
	ROLE_BACKWARD,
	ROLE_INPUT,
	ROLE_WEIGHT,
	ROLE_IDLE,
	ROLE_PIN, /* differences to the pinned plan */
	ROLE_COUNT
};

/* A style is a role, and this bit for the letter of a segment. */
enum { STYLE_BOLD = 0x80 };

enum theme {
	THEME_MONO,
	THEME_DARK,          /* 8 colours on a dark background */
	THEME_LIGHT,         /* 8 colours on a light background */
	THEME_256,           /* any background */
	THEME_HIGH_CONTRAST, /* the terminal's own colours but for the verdict; what is wrong is reversed */
	THEME_COUNT
};

enum { LOOK_BOLD = 1, LOOK_REVERSE = 2, LOOK_UNDERLINE = 4 };

struct look {
	int16_t fg, bg;     /* palette index; -1: the terminal's own */
	uint8_t attributes; /* LOOK_ bits */
};

struct role_info {
	const char *name;
	char letter; /* in style maps */
	struct look look[THEME_COUNT];
};
extern const struct role_info role_table[ROLE_COUNT];
extern const char *const theme_names[THEME_COUNT + 1]; /* NULL-terminated */

/* The theme for a terminal with `colors` colours, 0 for none. wanted: a theme name or NULL; colorfgbg: value of COLORFGBG or
 * NULL. */
enum theme theme_choose(int colors, const char *wanted, const char *colorfgbg);
/* Whether it shows the letters of segments bold: themes that have no colours for them. */
bool theme_bolds_letters(enum theme theme);
/* Whether a terminal with so many colours can show it. */
bool theme_possible(enum theme theme, int colors);

#endif
