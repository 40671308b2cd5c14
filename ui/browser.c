#include "browser.h"

#include "ui_text.h"

#include <ctype.h>
#include <string.h>

const char *const browser_kind_names[BROWSER_KIND_COUNT] = {
	[BROWSER_MODELS] = N_("models"),
	[BROWSER_GPUS] = N_("gpus"),
	[BROWSER_NODES] = N_("nodes"),
	[BROWSER_FRAMEWORKS] = N_("frameworks"),
	[BROWSER_SCENARIOS] = N_("scenarios"),
};

size_t browser_count(const struct browser *b, const struct catalog *c, enum browser_kind kind)
{
	const size_t counts[BROWSER_KIND_COUNT] = {
		[BROWSER_MODELS] = c->n_models,
		[BROWSER_GPUS] = c->n_gpus,
		[BROWSER_NODES] = c->n_nodes,
		[BROWSER_FRAMEWORKS] = c->n_profiles,
		[BROWSER_SCENARIOS] = b->n_scenarios,
	};
	return counts[kind] < BROWSER_MAX ? counts[kind] : BROWSER_MAX;
}

const char *browser_id(const struct browser *b, const struct catalog *c, enum browser_kind kind, size_t i)
{
	if (i >= browser_count(b, c, kind))
		return "";
	switch (kind) {
	case BROWSER_MODELS:
		return c->models[i].id;
	case BROWSER_GPUS:
		return c->gpus[i].id;
	case BROWSER_NODES:
		return c->nodes[i].id;
	case BROWSER_FRAMEWORKS:
		return c->profiles[i].id;
	case BROWSER_SCENARIOS:
		return b->scenarios[i];
	case BROWSER_KIND_COUNT:
		break;
	}
	return "";
}

const char *browser_focused(const struct browser *b, const struct catalog *c)
{
	return b->focus < b->n ? browser_id(b, c, b->kind, b->match[b->focus]) : "";
}

bool browser_words_match(const char *text, const char *filter)
{
	while (*filter != '\0') {
		const size_t len = strcspn(filter, " ");
		bool found = len == 0;
		for (const char *at = text; *at != '\0' && !found; at++) {
			size_t i = 0;
			while (i < len && at[i] != '\0' && tolower((unsigned char)at[i]) == tolower((unsigned char)filter[i]))
				i++;
			found = i == len;
		}
		if (!found)
			return false;
		filter += len;
		filter += strspn(filter, " ");
	}
	return true;
}

size_t browser_matches(const struct browser *b, const struct catalog *c, enum browser_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < browser_count(b, c, kind); i++)
		n += browser_words_match(browser_id(b, c, kind, i), b->filter);
	return n;
}

void browser_filter(struct browser *b, const struct catalog *c)
{
	const size_t all = browser_count(b, c, b->kind), before = b->focus < b->n ? b->match[b->focus] : 0;
	b->n = 0;
	b->focus = 0;
	for (size_t i = 0; i < all; i++) {
		if (!browser_words_match(browser_id(b, c, b->kind, i), b->filter))
			continue;
		if (i <= before)
			b->focus = b->n;
		b->match[b->n++] = i;
	}
}
