/* What the explain view shows, and the way from one figure to those it is made of. */
#include "app_internal.h"

#include "explain.h"
#include "ui_text.h"

#include <stdio.h>
#include <string.h>

void explain_open(struct app *a, const char *path)
{
	a->n_trail = a->term = 0;
	(void)snprintf(a->path, sizeof(a->path), "%s", path);
	app_push_view(a, VIEW_EXPLAIN);
}

void explain_focus(struct app *a)
{
	char path[FIGURE_PATH_CAP] = "";
	if (view_kinds[a->view]->explains != NULL)
		view_kinds[a->view]->explains(a, path);
	if (path[0] != '\0')
		explain_open(a, path);
	else
		app_say(a, "%s", _("Nothing in focus here has a formula."));
}

/* The setting that a text names as "--tp (flag)". */
static const struct knob *named_setting(const char *from)
{
	char key[32];
	const char *at = strstr(from, "--");
	if (at == NULL)
		return NULL;
	(void)snprintf(key, sizeof(key), "%.*s", (int)(strcspn(at + 2, " ,;)") % sizeof(key)), at + 2);
	return knob_find(key);
}

/* "saved = ..." in the sum of a stage: the category that the term belongs to. */
static bool term_category(const char *path, const char *from, char out[FIGURE_PATH_CAP])
{
	const char *member = strstr(path, "].total");
	if (member == NULL)
		return false;
	for (int i = 0; i < TERM_COUNT; i++) {
		const size_t n = strlen(memory_term_table[i].key);
		if (strncmp(from, memory_term_table[i].key, n) == 0 && strncmp(from + n, " = ", 3) == 0) {
			(void)snprintf(out, FIGURE_PATH_CAP, "%.*s.%s", (int)(member - path) + 1, path,
				memory_category_table[memory_term_table[i].category].key);
			return true;
		}
	}
	return false;
}

bool explain_target(const struct app *a, const struct explain_value *x, char out[FIGURE_PATH_CAP])
{
	static const char *const documents[] = { "verdict.", "memory.", "pipeline.", "model.", "time.", "throughput.", "cost.",
		"communication[" };
	const struct knob *k = named_setting(x->from);
	if (k != NULL) {
		(void)snprintf(out, FIGURE_PATH_CAP, "scenario.%s", k->key);
		return strcmp(out, a->path) != 0;
	}
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		if (strncmp(x->from, documents[i], strlen(documents[i])) == 0) {
			(void)snprintf(out, FIGURE_PATH_CAP, "%.*s", (int)(strcspn(x->from, " ,:") % FIGURE_PATH_CAP), x->from);
			return true;
		}
	}
	return term_category(a->path, x->from, out);
}

/* The targets of all terms that lead somewhere. */
static size_t collect(const struct app *a, char out[EXPLAIN_VALUES_MAX][FIGURE_PATH_CAP])
{
	struct explanation x;
	struct err e;
	size_t n = 0;
	if (explain_quantity(&a->draft, &a->plan, a->path, &x, &e) != ERR_OK)
		return 0;
	for (size_t i = 0; i < x.n_values; i++)
		n += explain_target(a, &x.values[i], out[n]);
	return n;
}

void explain_next_term(struct app *a, int by)
{
	char targets[EXPLAIN_VALUES_MAX][FIGURE_PATH_CAP];
	const size_t n = collect(a, targets);
	if (n > 0)
		a->term = (a->term + (by > 0 ? 1 : n - 1)) % n;
	else
		app_say(a, "%s", _("No term of this formula is explained further."));
}

void explain_follow(struct app *a)
{
	char targets[EXPLAIN_VALUES_MAX][FIGURE_PATH_CAP];
	const size_t n = collect(a, targets);
	if (n == 0 || a->n_trail == APP_TRAIL_MAX) {
		app_say(a, "%s", _("No term of this formula is explained further."));
		return;
	}
	(void)snprintf(a->trail[a->n_trail++], FIGURE_PATH_CAP, "%s", a->path);
	memcpy(a->path, targets[a->term < n ? a->term : 0], sizeof(a->path));
	a->term = 0;
	a->scroll[VIEW_EXPLAIN] = 0;
}

bool explain_back(struct app *a)
{
	if (a->n_trail == 0)
		return false;
	(void)snprintf(a->path, sizeof(a->path), "%s", a->trail[--a->n_trail]);
	a->term = 0;
	a->scroll[VIEW_EXPLAIN] = 0;
	return true;
}
