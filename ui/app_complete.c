/* Tab in a prompt: the word at the cursor becomes what all settings or values that begin with it have in common. */
#include "app_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct completion {
	const char *typed;
	size_t len, n;
	char common[64];
	char names[ERR_MSG_CAP]; /* all of them, as far as they fit */
};

static void offer(struct completion *c, const char *name)
{
	const size_t at = strlen(c->names), len = strlen(name);
	if (strncasecmp(name, c->typed, c->len) != 0)
		return;
	if (c->n++ == 0)
		(void)snprintf(c->common, sizeof(c->common), "%s", name);
	size_t same = 0;
	while (c->common[same] != '\0' && c->common[same] == name[same])
		same++;
	c->common[same] = '\0';
	if (at + len + 2 < sizeof(c->names))
		(void)snprintf(c->names + at, sizeof(c->names) - at, "%s%s", at > 0 ? " " : "", name);
}

static void offer_values(struct completion *c, const struct knob *k, const struct catalog *catalog)
{
	const char *name;
	for (size_t i = 0; (name = knob_preset_id(k, catalog, i)) != NULL; i++)
		offer(c, name);
	for (int64_t i = 0; k->name_at != NULL && (name = k->name_at(i)) != NULL; i++)
		offer(c, name);
	if (k->type == KNOB_FLAG || k->type == KNOB_BIAS) {
		offer(c, "on");
		offer(c, "off");
	}
}

static void offer_settings(struct completion *c)
{
	for (size_t i = 0; i < knob_count(); i++)
		offer(c, knob_at(i)->key);
}

/* The setting whose value stands at the end of flags cut before their last word; NULL: a setting is named there. */
static const struct knob *setting_before(const char *text, size_t end)
{
	const struct knob *k = NULL;
	char word[64];
	size_t at = 0;
	while (at < end) {
		at += strspn(text + at, " =");
		const size_t len = strcspn(text + at, " =");
		if (at >= end)
			break;
		(void)snprintf(word, sizeof(word), "%.*s", (int)len, text + at);
		k = k == NULL ? knob_find(word + strspn(word, "-")) : NULL;
		at += len;
	}
	return k;
}

void prompt_complete(struct app *a)
{
	struct prompt *p = &a->prompt;
	const bool flags = p->kind == PROMPT_FLAGS;
	if ((!flags && p->kind != PROMPT_VALUE) || p->cursor != p->len)
		return;
	size_t start = p->len;
	while (flags && start > 0 && strchr(" =", p->text[start - 1]) == NULL)
		start--;
	start = flags ? start + strspn(p->text + start, "-") : 0;
	struct completion c = { .typed = p->text + start, .len = p->len - start };
	const struct knob *k = flags ? setting_before(p->text, start) : app_knob(a);
	if (k != NULL)
		offer_values(&c, k, a->catalog);
	else
		offer_settings(&c);
	if (c.n == 0)
		return;
	(void)snprintf(p->text + start, sizeof(p->text) - start, "%s%s", c.common, flags && c.n == 1 ? " " : "");
	p->len = p->cursor = strlen(p->text);
	prompt_read(a);
	if (c.n > 1)
		(void)snprintf(p->note, sizeof(p->note), "%s", c.names);
}
