/* The presets browser: which presets and saved scenarios there are, and where each number comes from. */
#ifndef MESHPLAN_BROWSER_H
#define MESHPLAN_BROWSER_H

#include "catalog.h"

#include <stdbool.h>
#include <stddef.h>

enum browser_kind { BROWSER_MODELS, BROWSER_GPUS, BROWSER_NODES, BROWSER_FRAMEWORKS, BROWSER_SCENARIOS, BROWSER_KIND_COUNT };
extern const char *const browser_kind_names[BROWSER_KIND_COUNT]; /* N_() */

/* The file of a preset as it stands, *len bytes, and where it is from ("built in" or a path); NULL if unknown. The text lives as
 * long as the catalogue. */
struct preset_texts {
	void *ctx;
	const char *(*get)(void *ctx, enum browser_kind kind, const char *id, size_t *len, const char **from);
};

enum { BROWSER_MAX = 512, BROWSER_SCENARIOS_MAX = 64, BROWSER_NAME_CAP = 64 };

struct browser {
	enum browser_kind kind;
	size_t match[BROWSER_MAX], n; /* those that the filter lets through */
	size_t focus;                 /* index into match */
	char filter[32];
	char scenarios[BROWSER_SCENARIOS_MAX][BROWSER_NAME_CAP]; /* names of saved ones */
	size_t n_scenarios;
};

/* How many there are of a kind, before filtering. */
size_t browser_count(const struct browser *b, const struct catalog *c, enum browser_kind kind);
/* Id of the i-th, "" past the last. */
const char *browser_id(const struct browser *b, const struct catalog *c, enum browser_kind kind, size_t i);
/* What is in focus; "" when nothing is. */
const char *browser_focused(const struct browser *b, const struct catalog *c);
/* How many names of a kind the filter lets through. */
size_t browser_matches(const struct browser *b, const struct catalog *c, enum browser_kind kind);
/* Applies the filter again, keeping the focus where it can. */
void browser_filter(struct browser *b, const struct catalog *c);
/* Whether every word of the filter occurs in the text, in any order; letters count alike in both cases. */
bool browser_words_match(const char *text, const char *filter);

#endif
