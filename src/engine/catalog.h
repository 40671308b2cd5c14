/* The presets that are loaded: plain arrays owned by whoever read them (the input layer), handed to the engine by pointer. Names
 * are resolved here, purely: exact id first, then word prefixes, then an error with the nearest ids. */
#ifndef MESHPLAN_CATALOG_H
#define MESHPLAN_CATALOG_H

#include "coefficients.h"
#include "err.h"
#include "hardware.h"
#include "model.h"
#include "profile.h"

#include <stddef.h>

struct catalog {
	const struct model *models;
	size_t n_models;
	const struct gpu *gpus;
	size_t n_gpus;
	const struct gpu_price *prices; /* those of one GPU behind each other, its default first */
	size_t n_prices;
	const struct node *nodes;
	size_t n_nodes;
	const struct profile *profiles; /* in order of preference; the first of a framework is its default */
	size_t n_profiles;
	const struct gpu_family *families;
	size_t n_families;
	const struct coefficients *coefficients; /* the first is the default */
	size_t n_coefficients;
};

/* Find by name: exact id (any case, any separators); else the words of `name`, split at '-', '_', ' ', must be prefixes of words
 * of the id, in order ("a100-40", "h100sxm", "4090" for rtx4090). Whole words win over prefixes. Of several GPUs of one family
 * the usual part wins (H100 = h100-sxm-80gb), then SXM/OAM, then the newest, then the most memory; of several profiles of one
 * framework the first. Still equal: ERR_USAGE that lists them; none: ERR_UNKNOWN with the nearest. *out points into the catalog.
 * Published names are understood: of a model the owner and the words on its weights say nothing ("Qwen/Qwen2.5-72B-Instruct"),
 * and its preset may list names that no rule reaches; of a GPU the maker's words do not ("NVIDIA H100 80GB HBM3"), nor the order.
 */
enum err_code catalog_model(const struct catalog *c, const char *name, const struct model **out, struct err *e) NODISCARD;
enum err_code catalog_gpu(const struct catalog *c, const char *name, const struct gpu **out, struct err *e) NODISCARD;
enum err_code catalog_node(const struct catalog *c, const char *name, const struct node **out, struct err *e) NODISCARD;
enum err_code catalog_profile(const struct catalog *c, const char *name, const struct profile **out, struct err *e) NODISCARD;

/* The prices of a GPU by exact id, *n of them; NULL and 0 if none. */
const struct gpu_price *catalog_prices(const struct catalog *c, const char *gpu_id, size_t *n);
/* One of them by provider and kind ("Nebius", "verda spot"); of several of one provider, on-demand before reserved before spot,
 * then the first. Errors as above; ERR_UNKNOWN also where the GPU has no price. */
enum err_code catalog_price(
	const struct catalog *c, const char *gpu_id, const char *name, const struct gpu_price **out, struct err *e) NODISCARD;

/* The node type a GPU comes in by default: its dgx-* row, else hgx-*, else the smallest that holds `gpus` of it, else the
 * largest; NULL if none. */
const struct node *catalog_default_node(const struct catalog *c, const char *gpu_id, int64_t gpus);
/* The default profile of a framework (enum framework), or NULL. */
const struct profile *catalog_default_profile(const struct catalog *c, int32_t framework);

/* The architecture a GPU preset names, or NULL. */
const struct gpu_family *catalog_family(const struct catalog *c, const char *id);
enum err_code catalog_find_coefficients(
	const struct catalog *c, const char *name, const struct coefficients **out, struct err *e) NODISCARD;
/* A set of coefficients by exact id, or NULL. */
const struct coefficients *catalog_coefficients(const struct catalog *c, const char *id);

/* Edit distance with transpositions (optimal string alignment), case-insensitive, capped at 99: for "did you mean" lists. */
int catalog_distance(const char *a, const char *b);
/* Writes the up to 3 nearest of n names (get(ctx, i)) to buf as "a, b, c". Returns buf. */
char *catalog_nearest(
	const char *name, size_t n, const char *(*get)(const void *ctx, size_t i), const void *ctx, char *buf, size_t cap);

#endif
