/* The command line that says the same as a draft. */
#include "knobs.h"

#include "rules.h"
#include "sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool auto_is_moot(const struct knob *k, const struct scenario *s)
{
	if (strcmp(k->key, "profile") == 0)
		return s->profile.is_default;
	if (strcmp(k->key, "ep") == 0 || strcmp(k->key, "etp") == 0)
		return !model_is_moe(&s->model);
	if (strcmp(k->key, "vpp") == 0 || strcmp(k->key, "schedule") == 0)
		return s->layout.pp == 1;
	if (strcmp(k->key, "cp") == 0)
		return s->layout.cp == 1 && !(framework_rules_table[s->profile.framework].can & CAN_CP);
	if (strcmp(k->key, "sequence-parallel") == 0)
		return s->layout.tp == 1;
	return false;
}

/* Puts a text into single quotes if the shell would read it. */
static void shell_word(struct sink *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-,/+=:@%";

	if (text[0] != '\0' && strspn(text, plain) == strlen(text)) {
		sink_puts(out, text);
		return;
	}
	sink_puts(out, "'");
	for (; *text != '\0'; text++)
		if (*text == '\'')
			sink_puts(out, "'\\''");
		else
			sink_write(out, text, 1);
	sink_puts(out, "'");
}

static bool chooses_framework(const struct knob *k)
{
	return k->preset == PRESET_FRAMEWORK || k->preset == PRESET_PROFILE;
}

/* One option of the command line, unless *ref, what the line says so far, has that value already. */
static void write_option(
	const struct draft *d, const struct catalog *c, const struct knob *k, struct draft *ref, struct sink *out)
{
	char mine[1200], theirs[1200];

	if (k->type == KNOB_DP || k->preset == PRESET_MODEL || k->preset == PRESET_GPU || k->type == KNOB_PARAMS)
		return;
	(void)knob_format(k, &d->s, mine, sizeof mine);
	(void)knob_format(k, &ref->s, theirs, sizeof theirs);
	if (strcmp(mine, theirs) == 0 && (!(k->flags & KNOB_F_AUTO) || auto_is_moot(k, &d->s)))
		return;
	if ((strcmp(k->key, "profile") == 0 && d->s.profile.is_default) ||
		(k->type == KNOB_CAPACITY && d->s.cluster.gpu_mem_bytes == 0))
		return;
	sink_printf(out, " --%s ", k->key);
	shell_word(out, mine);
	if (draft_set(ref, c, k, mine, ORIGIN_FLAG, NULL) == ERR_OK)
		draft_settle(ref, c);
}

void draft_command_line(const struct draft *d, const struct catalog *c, const char *subcommand, struct sink *out)
{
	struct draft ref;
	bool custom = strcmp(d->s.model.id, "custom") == 0;

	draft_init_blank(&ref, c);
	sink_printf(out, "meshplan %s ", subcommand);
	if (custom) {
		char params[32];
		int64_t n = model_params(&d->s.model);

		(void)snprintf(params, sizeof params, "%" PRId64, n);
		/* A round size is a word of the scenario, "70B"; others are a flag. */
		if (n % 1000000 == 0)
			sink_printf(out, "%.12gB", (double)n / 1e9);
		else
			sink_printf(out, "--params %s", params);
		if (draft_set(&ref, c, knob_find("params"), params, ORIGIN_FLAG, NULL) != ERR_OK)
			ref.s.model = d->s.model;
	} else {
		shell_word(out, d->s.model.id);
		ref.s.model = d->s.model;
	}
	if (d->s.cluster.gpu.id[0] != '\0') {
		sink_printf(out, " %" PRId64 "x", d->s.cluster.gpus);
		shell_word(out, d->s.cluster.gpu.id);
		ref.s.cluster.gpu = d->s.cluster.gpu;
	}
	ref.s.cluster.gpus = d->s.cluster.gpus;
	draft_settle(&ref, c);
	/* The framework decides on the node where none is given: first, so that a node that differs is written. */
	for (size_t i = 0; i < knob_count(); i++)
		if (chooses_framework(knob_at(i)))
			write_option(d, c, knob_at(i), &ref, out);
	for (size_t i = 0; i < knob_count(); i++)
		if (!chooses_framework(knob_at(i)))
			write_option(d, c, knob_at(i), &ref, out);
}
