/* What a view is and does: one struct per row of VIEW_TABLE, at the end of the view's file. The half that draws sees a const
 * state, the half that answers keys changes it. */
#ifndef MESHPLAN_VIEW_KIND_H
#define MESHPLAN_VIEW_KIND_H

#include "app.h"

struct view;

/* How / finds something in a view while it is typed. */
struct view_search {
	void (*begin)(struct app *a);                  /* a->find_from: where from; NULL: it does not matter */
	void (*read)(struct app *a, struct prompt *p); /* p->text so far: into p->good and p->note */
	void (*cancel)(struct app *a);
	void (*again)(struct app *a, int direction); /* n and N for a->found; NULL: not here */
};

/* What plays step by step. */
struct view_clock {
	bool (*playing)(const struct app *a);
	void (*play)(struct app *a);           /* or stops */
	void (*go)(struct app *a, int64_t by); /* stops; as far as there are steps */
	void (*tick)(struct app *a);           /* one step while it plays */
};

enum { VIEW_FOOTER_MAX = 18 };
struct view_kind {
	const char *second;     /* N_(): title of its second pane, where that has keys of its own */
	char digit;             /* opens it where digits are not typed; 0: none */
	const char *open_label; /* N_(): what Enter does, in the last line; NULL: as the action says */
	/* The last line, for each pane. First what changes the figure under the cursor, then where one can go; `? help`, and
	 * `q quit` or `Esc back`, are added around it. */
	enum ui_action footer[2][VIEW_FOOTER_MAX];

	void (*draw)(const struct view *v);
	size_t (*scroll_max)(const struct view *v); /* last useful first row; NULL: it does not scroll */
	bool (*in_second)(const struct app *a);     /* whether the second pane has the focus; NULL: it has none */
	void (*opened)(struct app *a);              /* NULL: nothing to prepare */
	void (*explains)(const struct app *a, char path[FIGURE_PATH_CAP]); /* what e explains, "" before; NULL: nothing */
	void (*move)(struct app *a, int64_t by);                           /* j and k; NULL: scrolls */
	void (*page)(struct app *a, int by);                               /* NULL: moves by about a screen */
	void (*sideways)(struct app *a, int by);       /* h and l outside settings; NULL: to the next figure */
	void (*next_pane)(struct app *a, int by);      /* Tab; NULL: nothing */
	void (*open)(struct app *a);                   /* Enter; NULL: explains */
	void (*step)(struct app *a, int by);           /* h and l on a value; NULL: steps the setting in focus */
	void (*reset)(struct app *a);                  /* r; NULL: that setting */
	void (*type)(struct app *a, const char *text); /* = and digits; NULL: that setting */
	const struct view_search *search;              /* NULL: nothing to find */
	const struct view_clock *clock;                /* NULL: nothing plays */
};
extern const struct view_kind *const view_kinds[VIEW_COUNT];

#define VIEW_KIND(id, name, ...) extern const struct view_kind view_##name;
VIEW_TABLE(VIEW_KIND, VIEW_KIND)
#undef VIEW_KIND

#endif
