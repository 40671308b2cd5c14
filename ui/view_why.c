/* Why a stage needs what it needs, in words: what it has more (or less) of than the stage at the other end. */
#include "view_internal.h"

#include "num.h"
#include "ui_text.h"
#include "units.h"

#include <stdio.h>

/* A stage beside another: the category that differs most in the direction of the whole. */
struct contrast {
	const struct stage_memory *here, *there;
	size_t other;
	enum memory_category category;
	int64_t bytes; /* of that category, more or less than there */
};

static size_t lightest_stage(const struct app *a)
{
	size_t at = 0;
	for (size_t i = 1; i < a->n_stages; i++)
		at = a->stages[i].need_bytes < a->stages[at].need_bytes ? i : at;
	return at;
}

/* The worst stage stands beside the lightest, any other beside the worst. */
static struct contrast contrast_of(const struct app *a, size_t stage)
{
	const size_t other = stage == app_worst_stage(a) ? lightest_stage(a) : app_worst_stage(a);
	struct contrast c = { &a->stages[stage], &a->stages[other], other, MEMORY_WEIGHTS, 0 };
	const int64_t sign = c.here->need_bytes >= c.there->need_bytes ? 1 : -1;
	for (int k = 0; k < MEMORY_CATEGORY_COUNT; k++) {
		const int64_t more = c.here->category[k] - c.there->category[k];
		if (more * sign > c.bytes * sign) {
			c.bytes = more;
			c.category = (enum memory_category)k;
		}
	}
	return c;
}

/* What there is more of: a name, and how many here and there. False where the bytes alone can be named. */
static bool quantity(const struct contrast *c, const char **name, char here[32], char there[32])
{
	const bool held = c->category == MEMORY_ACTIVATIONS && c->here->in_flight != c->there->in_flight;
	const bool states = c->category == MEMORY_WEIGHTS || c->category == MEMORY_MASTER_WEIGHTS ||
		c->category == MEMORY_GRADIENTS || c->category == MEMORY_OPTIMIZER;
	const double x = held ? c->here->in_flight : c->here->dense_params + c->here->expert_params;
	const double y = held ? c->there->in_flight : c->there->dense_params + c->there->expert_params;
	if (!held && !(states && num_round(x) != num_round(y)))
		return false;
	*name = held ? _("micro-batches in flight") : _("parameters");
	if (held) {
		(void)snprintf(here, 32, "%.3g", x);
		(void)snprintf(there, 32, "%.3g", y);
	} else {
		(void)units_format_count(num_round(x), here, 32);
		(void)units_format_count(num_round(y), there, 32);
	}
	return true;
}

/* "it holds 4 micro-batches in flight, stage 3 holds 1"; where the other stage was named before "4 micro-batches in flight, not
 * 1". */
static void write_cause(const struct contrast *c, bool named, char *buf, size_t cap)
{
	const char *name = "";
	char here[32], there[32];
	if (quantity(c, &name, here, there) && named)
		(void)snprintf(buf, cap, _("%s %s, not %s"), here, name, there);
	else if (quantity(c, &name, here, there))
		(void)snprintf(buf, cap, _("it holds %s %s, stage %zu holds %s"), here, name, c->other, there);
	else if (c->category == MEMORY_LOGITS && c->bytes > 0)
		(void)snprintf(buf, cap, _("it holds the logits, %s"), units_format_gib(c->bytes, here, sizeof(here)));
	else
		(void)snprintf(buf, cap, _("%s %s GiB against stage %zu"), ui_text(memory_category_table[c->category].label),
			view_change(c->bytes, here, sizeof(here)), c->other);
}

/* The part that takes most, for plans without stages to compare. */
static enum memory_category largest_part(const struct stage_memory *s)
{
	int at = 0;
	for (int k = 1; k < MEMORY_CATEGORY_COUNT; k++)
		at = s->category[k] > s->category[at] ? k : at;
	return (enum memory_category)at;
}

char *view_why(const struct app *a, size_t stage, char *buf, size_t cap)
{
	const struct contrast c = contrast_of(a, stage);
	const enum memory_category most = largest_part(c.here);
	char cause[160], part[32], all[32];
	if (c.bytes == 0) {
		(void)snprintf(buf, cap,
			a->n_stages > 1 ? _("All stages need the same; most of it is %s, %s of %s.")
					: _("Every GPU needs the same; most of it is %s, %s of %s."),
			ui_text(memory_category_table[most].label), view_gib3(c.here->category[most], part, sizeof(part)),
			units_format_gib(c.here->need_bytes, all, sizeof(all)));
		return buf;
	}
	write_cause(&c, stage != app_worst_stage(a), cause, sizeof(cause));
	if (stage == app_worst_stage(a))
		(void)snprintf(buf, cap, _("Stage %zu needs most: %s."), stage, cause);
	else
		(void)snprintf(buf, cap, _("Stage %zu needs %s less than stage %zu: %s."), stage,
			units_format_gib(c.there->need_bytes - c.here->need_bytes, part, sizeof(part)), c.other, cause);
	return buf;
}

char *view_why_brief(const struct app *a, size_t stage, int w, char *buf, size_t cap)
{
	const struct contrast c = contrast_of(a, stage);
	const char *name = "";
	char here[32], there[32];
	if (c.bytes == 0) {
		buf[0] = '\0';
	} else if (quantity(&c, &name, here, there)) {
		(void)snprintf(buf, cap, _("why: %s %s, s%zu has %s"), here, name, c.other, there);
		if (canvas_text_width(buf) > w)
			(void)snprintf(buf, cap, _("why: %s in flight, s%zu has %s"), here, c.other, there);
	} else {
		(void)snprintf(buf, cap, _("why: %s %s GiB against s%zu"), ui_text(memory_category_table[c.category].label),
			view_change(c.bytes, here, sizeof(here)), c.other);
	}
	return buf;
}
