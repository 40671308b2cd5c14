/* What the tests of the user interface share: a small catalog that does not grow when presets are added, and an app on it. */
#ifndef MESHPLAN_UI_FIXTURE_H
#define MESHPLAN_UI_FIXTURE_H

#include "support.h"

#include "app.h"

#include <stdlib.h>
#include <string.h>

enum { FIXTURE_MAX = 64 };

/* Copies of the presets with these ids, in the order of the full catalog. */
struct fixture {
	struct model models[FIXTURE_MAX];
	struct gpu gpus[FIXTURE_MAX];
	struct node nodes[FIXTURE_MAX];
	struct profile profiles[FIXTURE_MAX];
	struct catalog catalog;
	struct draft draft;
	struct app app;
};

static inline bool fixture_wants(const char *const *ids, const char *id)
{
	for (; *ids != NULL; ids++) {
		if (strcmp(*ids, id) == 0)
			return true;
	}
	return false;
}

static inline void fixture_catalog(struct fixture *f, const struct catalog *all)
{
	static const char *const models[] = { "gpt2", "llama3-8b", "llama3-70b", "llama3.1-405b", "mixtral-8x7b", "deepseek-v3",
		NULL };
	static const char *const gpus[] = { "v100-sxm2-32gb", "a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb", "rtx4090-24gb",
		NULL };
	/* The default of each framework, and those that tests name. */
	static const char *const profiles[] = { "megatron-lm", "megatron-core", "megatron-seaai-fp16", "fsdp2",
		"torchtitan-2024-12", "deepspeed-bf16opt", "fsdp-sharded-accumulation", "deepspeed-zero3", "ddp", "lesson",
		"zero-paper", NULL };
	size_t n_models = 0, n_gpus = 0, n_nodes = 0, n_profiles = 0;
	for (size_t i = 0; i < all->n_models && n_models < FIXTURE_MAX; i++) {
		if (fixture_wants(models, all->models[i].id))
			f->models[n_models++] = all->models[i];
	}
	for (size_t i = 0; i < all->n_gpus && n_gpus < FIXTURE_MAX; i++) {
		if (fixture_wants(gpus, all->gpus[i].id))
			f->gpus[n_gpus++] = all->gpus[i];
	}
	for (size_t i = 0; i < all->n_nodes && n_nodes < FIXTURE_MAX; i++) {
		if (fixture_wants(gpus, all->nodes[i].gpu_id))
			f->nodes[n_nodes++] = all->nodes[i];
	}
	for (size_t i = 0; i < all->n_profiles && n_profiles < FIXTURE_MAX; i++) {
		if (fixture_wants(profiles, all->profiles[i].id))
			f->profiles[n_profiles++] = all->profiles[i];
	}
	f->catalog = (struct catalog){ .models = f->models,
		.n_models = n_models,
		.gpus = f->gpus,
		.n_gpus = n_gpus,
		.nodes = f->nodes,
		.n_nodes = n_nodes,
		.profiles = f->profiles,
		.n_profiles = n_profiles,
		.families = all->families,
		.n_families = all->n_families,
		.coefficients = all->coefficients,
		.n_coefficients = all->n_coefficients };
}

/* A new fixture with the default scenario at w x h; freed with free(). */
static inline struct fixture *fixture_new(int w, int h)
{
	struct err e = { 0 };
	struct fixture *f = calloc(1, sizeof(*f));
	ck_assert_ptr_nonnull(f);
	fixture_catalog(f, test_catalog());
	ck_assert_msg(draft_init(&f->draft, &f->catalog, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_msg(app_init(&f->app, &f->catalog, &f->draft, w, h, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	return f;
}

static inline unsigned fixture_key(struct fixture *f, uint32_t key)
{
	const struct event ev = { .kind = EVENT_KEY, .key = key };
	return app_update(&f->app, &ev);
}

static inline void fixture_text(struct fixture *f, const char *text)
{
	for (; *text != '\0'; text++)
		(void)fixture_key(f, (uint32_t)(unsigned char)*text);
}

static inline void fixture_resize(struct fixture *f, int w, int h)
{
	const struct event ev = { .kind = EVENT_RESIZE, .w = w, .h = h };
	(void)app_update(&f->app, &ev);
}

/* Puts the focus on a setting of the main screen. */
static inline void fixture_focus(struct fixture *f, const char *key)
{
	fixture_text(f, "/");
	fixture_text(f, key);
	(void)fixture_key(f, INPUT_ENTER);
	ck_assert_str_eq(app_knob(&f->app)->key, key);
}

#endif
