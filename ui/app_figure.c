/* The focus among the figures. Every figure that a view draws carries the path of the plan document that it shows; so the focus
 * is a path, and it moves to the nearest figure in a direction, whatever the view. */
#include "app_internal.h"

#include "num.h"
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_WEIGHT = 1000 };

void figure_focus(struct app *a, const char *path)
{
	static const char *const stage_paths[] = { "memory.stages[", "pipeline.in_flight[" };
	(void)snprintf(a->figure, sizeof(a->figure), "%s", path);
	for (size_t i = 0; i < sizeof(stage_paths) / sizeof(stage_paths[0]); i++) {
		const size_t n = strlen(stage_paths[i]);
		if (strncmp(path, stage_paths[i], n) == 0)
			a->figure_stage = (size_t)strtoul(path + n, NULL, 10);
	}
	if (a->figure_stage >= a->n_stages)
		a->figure_stage = a->n_stages - 1;
	if (figure_is_setting(a))
		app_set_focus(a, knob_index(knob_find(a->figure + strlen("scenario."))));
}

bool figure_is_setting(const struct app *a)
{
	return a->view == VIEW_COST && strncmp(a->figure, "scenario.", strlen("scenario.")) == 0;
}

void figure_worst(struct app *a)
{
	char path[FIGURE_PATH_CAP];
	(void)snprintf(path, sizeof(path), "memory.stages[%zu].total", app_worst_stage(a));
	figure_focus(a, path);
}

void figure_check(struct app *a)
{
	if (a->figure_stage >= a->n_stages)
		figure_worst(a);
}

static size_t place_of(const struct figure *f, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(f[i].path, path) == 0)
			return i;
	}
	return n;
}

/* The nearest figure in a direction: the next row (or place in the row) that has one, there the nearest. n if there is none. */
static size_t nearest(const struct figure *f, size_t n, size_t from, int dx, int dy)
{
	const struct rect at = f[from].at;
	size_t best = n;
	int best_cost = 0;
	for (size_t i = 0; i < n; i++) {
		const int x = f[i].at.x + f[i].at.w - at.x - at.w, y = f[i].at.y - at.y;
		const int forward = dx != 0 ? x * dx : y * dy, aside = dx != 0 ? abs(y) : abs(x);
		if (forward <= 0 || (dx != 0 && y != 0))
			continue;
		const int cost = forward * ROW_WEIGHT + aside;
		if (best == n || cost < best_cost) {
			best = i;
			best_cost = cost;
		}
	}
	return best;
}

/* A figure that stands on the screen twice has one focus. */
static size_t drop_twins(struct figure *f, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (place_of(f, kept, f[i].path) == kept)
			f[kept++] = f[i];
	}
	return kept;
}

/* The figures of the view and the place of the focus among them, at the first one when it is not on the screen. Freed by the
 * caller; NULL when there are none. */
static struct figure *collect(const struct app *a, size_t *n, size_t *at)
{
	struct figure *f = malloc(FIGURES_MAX * sizeof(*f));
	if (f == NULL)
		return NULL;
	*n = drop_twins(f, view_figures(a, f, FIGURES_MAX));
	*at = place_of(f, *n, a->figure);
	if (*n > 0)
		return f;
	free(f);
	return NULL;
}

bool figure_move(struct app *a, int dx, int64_t dy)
{
	size_t n = 0, at = 0;
	struct figure *f = collect(a, &n, &at);
	bool any = false;
	if (f == NULL)
		return false;
	if (at == n) {
		figure_focus(a, f[0].path);
		any = true;
	}
	for (int64_t left = dx != 0 ? 1 : num_max(dy, -dy); left > 0 && at < n; left--) {
		const size_t next = nearest(f, n, at, dx, dy > 0 ? 1 : dy < 0 ? -1 : 0);
		if (next == n)
			break;
		at = next;
		any = true;
		figure_focus(a, f[at].path);
	}
	free(f);
	return any;
}

void figure_move_lines(struct app *a, int64_t by)
{
	(void)figure_move(a, 0, by);
}

void figure_explains(const struct app *a, char path[FIGURE_PATH_CAP])
{
	(void)snprintf(path, FIGURE_PATH_CAP, "%s", a->figure);
}

void figure_next(struct app *a, int by)
{
	size_t n = 0, at = 0;
	struct figure *f = collect(a, &n, &at);
	if (f == NULL)
		return;
	if (at == n)
		at = by > 0 ? n - 1 : 0;
	figure_focus(a, f[by > 0 ? (at + 1) % n : (at + n - 1) % n].path);
	free(f);
}
