#include "settings.h"

#include "schedule.h"
#include "ui_text.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_moe(const struct scenario *s)
{
	return s->model.experts > 0;
}

static bool is_mla(const struct scenario *s)
{
	return s->model.attention_type == ATTENTION_MLA;
}

static bool has_adapter(const struct scenario *s)
{
	return s->training.adapter != ADAPTER_NONE;
}

static bool recomputes_all(const struct scenario *s)
{
	return s->training.recompute == RECOMPUTE_FULL;
}

static bool is_interleaved(const struct scenario *s)
{
	return schedule_table[s->layout.schedule].v_min > 1;
}

static bool has_stages(const struct scenario *s)
{
	return s->layout.pp > 1;
}

static bool offloads(const struct scenario *s)
{
	return s->training.offload != OFFLOAD_NONE;
}

/* clang-format off */
/* Knobs that only some scenarios have. A knob without a row is always shown. */
static const struct {
	const char *key;
	bool (*applies)(const struct scenario *s);
} conditions[] = {
	{"topk", is_moe}, {"expert-ffn", is_moe}, {"shared-experts", is_moe}, {"shared-ffn", is_moe}, {"dense-layers", is_moe},
	{"moe-stride", is_moe}, {"shared-gate", is_moe}, {"router-bias", is_moe}, {"expert-bias", is_moe},
	{"ep", is_moe}, {"etp", is_moe},
	{"q-lora-rank", is_mla}, {"kv-lora-rank", is_mla}, {"qk-nope-dim", is_mla}, {"qk-rope-dim", is_mla},
	{"v-head-dim", is_mla},
	{"lora-rank", has_adapter}, {"lora-targets", has_adapter}, {"recompute-every", recomputes_all}, {"group", is_interleaved},
	{"pp-split", has_stages}, {"stage-layers", has_stages}, {"offload-params", offloads},
};
/* clang-format on */

bool settings_apply(const struct scenario *s, const struct knob *k)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (strcmp(conditions[i].key, k->key) == 0)
			return conditions[i].applies(s);
	}
	return true;
}

/* One block: the heading of a group and its main (or its other) knobs. Nothing when it would be empty. */
static size_t add_group(const struct scenario *s, enum knob_group group, bool more, enum density density, size_t keep,
	struct setting_row *rows, size_t n)
{
	const size_t start = n;
	if (density == DENSITY_AIRY && n > 0)
		rows[n++] = (struct setting_row){ SETTING_BLANK, group, more, 0 };
	if (density != DENSITY_PLAIN)
		rows[n++] = (struct setting_row){ SETTING_HEADING, group, more, 0 };
	const size_t first = n;
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		const bool main = (k->flags & KNOB_F_MAIN) != 0;
		if (k->group == group && main != more && (i == keep || settings_apply(s, k)))
			rows[n++] = (struct setting_row){ SETTING_KNOB, group, more, i };
	}
	return n == first ? start : n;
}

size_t settings_rows(
	const struct scenario *s, bool all, enum density density, size_t keep, struct setting_row rows[SETTING_ROWS_MAX])
{
	size_t n = 0;
	for (int more = 0; more <= (all ? 1 : 0); more++) {
		for (int group = 0; group < KNOB_GROUP_COUNT; group++)
			n = add_group(s, (enum knob_group)group, more == 1, density, keep, rows, n);
	}
	return n;
}

size_t settings_row_of(const struct setting_row *rows, size_t n, size_t knob)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind == SETTING_KNOB && (found == 0 || rows[i].knob == knob))
			found = i;
		if (rows[i].kind == SETTING_KNOB && rows[i].knob == knob)
			break;
	}
	return found;
}

bool settings_has_stops(const struct knob *k)
{
	return k->type != KNOB_STAGES && !(k->flags & KNOB_F_DERIVED);
}

/* Index of the catalogue list that a preset knob chooses from. */
static const char *preset_id(const struct knob *k, const struct catalog *c, size_t i)
{
	if (strcmp(k->key, "model") == 0 && i < c->n_models)
		return c->models[i].id;
	if (strcmp(k->key, "gpu") == 0 && i < c->n_gpus)
		return c->gpus[i].id;
	if (strcmp(k->key, "node") == 0 && i < c->n_nodes)
		return c->nodes[i].id;
	if (strcmp(k->key, "profile") == 0 && i < c->n_profiles)
		return c->profiles[i].id;
	return NULL;
}

char *settings_stop_text(
	const struct knob *k, const struct catalog *c, const struct draft *d, int64_t value, char *buf, size_t cap)
{
	const char *name = NULL;
	if (k->type == KNOB_PRESET)
		name = value < 0 ? d->s.model.id : preset_id(k, c, (size_t)value);
	else if (k->type == KNOB_FLAG)
		name = value != 0 ? "on" : "off";
	else if (k->name_at != NULL)
		name = k->name_at(value);
	if (name != NULL) {
		(void)snprintf(buf, cap, "%s", name);
		return buf;
	}
	(void)knob_format_value(k, value, true, buf, cap);
	return buf;
}

char *settings_stop_help(const struct knob *k, const struct catalog *c, int64_t value, char *buf, size_t cap)
{
	char count[32];
	const size_t i = value < 0 ? SIZE_MAX : (size_t)value;
	buf[0] = '\0';
	if (k->help_at != NULL && k->help_at(value) != NULL)
		(void)snprintf(buf, cap, "%s", ui_text(k->help_at(value)));
	else if (strcmp(k->key, "model") == 0 && i < c->n_models)
		(void)snprintf(buf, cap, "%s, %s", units_format_count(model_params(&c->models[i]), count, sizeof(count)),
			c->models[i].label);
	else if (strcmp(k->key, "gpu") == 0 && i < c->n_gpus)
		(void)snprintf(
			buf, cap, "%s, %s", units_format_gib(c->gpus[i].mem_cuda_bytes, count, sizeof(count)), c->gpus[i].label);
	else if (strcmp(k->key, "node") == 0 && i < c->n_nodes)
		(void)snprintf(buf, cap, "%" PRId64 " x %s", c->nodes[i].gpus_per_node, c->nodes[i].gpu_id);
	else if (strcmp(k->key, "profile") == 0 && i < c->n_profiles)
		(void)snprintf(buf, cap, "%s", c->profiles[i].label);
	return buf;
}
