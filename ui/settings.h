/* The settings pane as a list: which knobs are shown, in which order, under which heading; and the text of a stop. */
#ifndef MESHPLAN_SETTINGS_H
#define MESHPLAN_SETTINGS_H

#include "knobs.h"
#include "layout.h"

#include <stdbool.h>

enum setting_kind { SETTING_HEADING, SETTING_BLANK, SETTING_KNOB };

struct setting_row {
	enum setting_kind kind;
	enum knob_group group;
	bool more;   /* below the first screen: the rarer settings */
	size_t knob; /* SETTING_KNOB: index in the knob table */
};

enum { SETTING_ROWS_MAX = KNOB_MAX + 4 * KNOB_GROUP_COUNT };

/* Whether a knob means anything for this scenario (the ranks of MLA do not, for a model without MLA). */
bool settings_apply(const struct scenario *s, const struct knob *k);
/* The rows: the main settings under their headings, then, if `all`, the others. `keep` is a knob
 * that is shown in any case (the one with the focus). Returns how many. */
size_t settings_rows(
	const struct scenario *s, bool all, enum density density, size_t keep, struct setting_row rows[SETTING_ROWS_MAX]);
/* Index of the row of a knob; of the nearest one before it when it has none. */
size_t settings_row_of(const struct setting_row *rows, size_t n, size_t knob);

/* Whether a knob can be stepped and listed; the others are typed (a list of layers) or derived. */
bool settings_has_stops(const struct knob *k);
/* Text of a stop for people: "8,192", "h100-sxm-80gb". Returns buf. */
char *settings_stop_text(
	const struct knob *k, const struct catalog *c, const struct draft *d, int64_t value, char *buf, size_t cap);
/* What a stop means, one line; "" if there is nothing to say. Returns buf. */
char *settings_stop_help(const struct knob *k, const struct catalog *c, int64_t value, char *buf, size_t cap);

#endif
