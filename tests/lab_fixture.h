/* What the tests of the laboratory share: a lab run from one line of settings, its facts and claims by key. */
#ifndef MESHPLAN_LAB_FIXTURE_H
#define MESHPLAN_LAB_FIXTURE_H

#include "support.h"

#include "lab.h"
#include "lab_report.h"

#include <stdlib.h>
#include <string.h>

struct lab_fixture {
	struct draft draft;
	struct lab_input input;
	struct lab_size size;
	struct lab_run run;
	void *workspace;
};

/* Puts one "key=value" in. */
static inline enum err_code lab_fixture_set(struct lab_fixture *f, const char *setting, size_t len, struct err *e)
{
	char text[100], *value;
	const struct lab_param *p;

	(void)snprintf(text, sizeof text, "%.*s", (int)len, setting);
	value = strchr(text, '=');
	ck_assert_ptr_nonnull(value);
	*value++ = '\0';
	p = lab_param_find(f->input.lab, text);
	ck_assert_msg(p != NULL, "lab %s has no %s", f->input.lab->id, text);
	return lab_input_set(&f->input, p, value, e);
}

/* The default scenario, and the lab with "gpus=4;batch=32" put in. The first error is returned. */
static inline enum err_code lab_fixture_input(struct lab_fixture *f, const char *id, const char *settings, struct err *e)
{
	enum err_code code = draft_init(&f->draft, test_catalog(), e);

	f->workspace = NULL;
	ck_assert_msg(code == ERR_OK, "%s", e->msg);
	ck_assert_ptr_nonnull(lab_find(id));
	lab_input_init(&f->input, lab_find(id), &f->draft.s);
	while (*settings != '\0' && code == ERR_OK) {
		size_t len = strcspn(settings, ";");

		code = lab_fixture_set(f, settings, len, e);
		settings += len + (settings[len] == ';');
	}
	return code;
}

/* Runs its input in a workspace of exactly the size that was asked for, filled with rubbish. */
static inline void lab_fixture_go(struct lab_fixture *f, const char *settings)
{
	struct err e = { .code = ERR_OK };
	enum err_code code = lab_workspace_size(&f->input, &f->size, &e);
	const char *id = f->input.lab->id;

	ck_assert_msg(code == ERR_OK, "lab %s %s: %s: %s", id, settings, e.where, e.msg);
	f->workspace = malloc((size_t)f->size.bytes);
	ck_assert_ptr_nonnull(f->workspace);
	memset(f->workspace, 0xA5, (size_t)f->size.bytes);
	code = lab_run(&f->input, f->workspace, f->size.bytes, &f->run, &e);
	ck_assert_msg(code == ERR_OK, "lab %s %s: %s: %s", id, settings, e.where, e.msg);
}

static inline void lab_fixture_run(struct lab_fixture *f, const char *id, const char *settings)
{
	struct err e = { .code = ERR_OK };
	enum err_code code = lab_fixture_input(f, id, settings, &e);

	ck_assert_msg(code == ERR_OK, "lab %s %s: %s: %s", id, settings, e.where, e.msg);
	lab_fixture_go(f, settings);
}

static inline void lab_fixture_free(struct lab_fixture *f)
{
	free(f->workspace);
}

static inline double lab_fixture_fact(const struct lab_fixture *f, const char *key)
{
	for (int32_t i = 0; i < f->run.n_facts; i++)
		if (strcmp(f->run.facts[i].key, key) == 0)
			return f->run.facts[i].value;
	ck_abort_msg("lab %s states no %s", f->input.lab->id, key);
	return 0;
}

/* Every claim must hold. */
static inline void lab_fixture_proven(const struct lab_fixture *f, const char *settings)
{
	for (int32_t i = 0; i < f->run.n_claims; i++) {
		const struct lab_claim *c = &f->run.claims[i];

		ck_assert_msg(c->holds, "lab %s %s: %s: %.17g and %.17g, difference %g, tolerance %g", f->input.lab->id, settings,
			c->key, c->got, c->want, c->difference, c->tolerance);
	}
	ck_assert_int_gt(f->run.n_claims, 0);
}

/* Runs and proves in one go. */
static inline void lab_fixture_prove(const char *id, const char *settings)
{
	struct lab_fixture f;

	lab_fixture_run(&f, id, settings);
	lab_fixture_proven(&f, settings);
	lab_fixture_free(&f);
}

#endif
