/* Where everything stands on a screen of a given size. Pure arithmetic: the same size always gives the same places, every area
 * lies inside the screen and no two overlap. */
#ifndef MESHPLAN_LAYOUT_H
#define MESHPLAN_LAYOUT_H

#include "canvas.h"

enum { LAYOUT_MIN_W = 60, LAYOUT_MIN_H = 16 };

/* Blocks of the main screen. One that has no room is 0 x 0. */
enum area {
	AREA_HEADER,
	AREA_MESSAGE,
	AREA_SETTINGS,
	AREA_MEMORY,   /* heading, one bar per stage */
	AREA_PARTS,    /* categories of one stage, in two rows, or three with differences */
	AREA_TABLE,    /* or: categories of every stage, with a heading */
	AREA_HOST,     /* one row, used when something is offloaded */
	AREA_PIPELINE, /* heading, one row per rank, axis, bubble */
	AREA_SPEED,    /* step and cost: up to four rows */
	AREA_LAYOUTS,  /* the best layouts, with two headings */
	AREA_PHASES,
	AREA_NOTES,
	AREA_HELP,   /* side pane: what the setting means */
	AREA_STEP,   /* side pane: one step left or right */
	AREA_LEDGER, /* side pane: bytes per parameter */
	AREA_PREVIEW,
	AREA_FOOTER,
	AREA_COUNT
};

/* How the groups of settings are told apart. */
enum density { DENSITY_PLAIN, DENSITY_HEADED, DENSITY_AIRY }; /* not at all, by a heading, by a blank row as well */

struct screen_layout {
	bool too_small;
	bool narrow;          /* one column: below 80 columns */
	enum density density; /* of the settings */
	int split_x;          /* column where the verdict and the main pane begin */
	int label_w, track_w; /* of a setting */
	int stages;           /* rows of bars, and of ranks */
	int bar_w;            /* columns of a bar without its label */
	int value_w;          /* columns behind a bar: the value, and the difference to the pin */
	struct rect area[AREA_COUNT];
};

/* The layout of a w x h screen for a plan with `pp` stages (>= 1). pinned: with room for differences beside the figures. */
void layout_compute(int w, int h, int pp, bool pinned, struct screen_layout *out);

/* A bar of `width` columns: capacity, then one limit cell, then the field beyond it. */
struct bar_grid {
	int capacity, beyond;
};
struct bar_grid layout_bar(int width);

#endif
