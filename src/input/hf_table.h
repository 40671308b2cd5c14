/* Shared between hf_*.c: which keys of a config.json mean what, architecture by architecture, and what follows from them. */
#ifndef MESHPLAN_HF_TABLE_H
#define MESHPLAN_HF_TABLE_H

#include "err.h"
#include "json.h"
#include "model.h"

#include <stddef.h>
#include <stdint.h>

/* A configuration while it is read: the model, and values that become part of it only together with others. A row of the table
 * starts from a template of this, so that an absent key means what the template says. */
struct hf_raw {
	struct model m;
	int64_t ffn_ratio;         /* ffn = ratio * hidden where ffn is not given */
	int64_t ffn_parts;         /* the width that is given is that of so many matrices together; 0: one */
	int64_t activation_params; /* parameters in the activation of each MLP */
	int64_t embed_width;       /* width of the token table where it is not hidden (OPT-350M) */
	int64_t query_groups;      /* kv heads under multi_query; 0: one */
	int64_t parallel_norms;    /* norms of a layer in the new Falcon architecture; 0: two */
	int64_t position_offset;   /* rows of the position table beside max_seq */
	int32_t attention_bias;    /* on: q, k, v and the output projection */
	int32_t all_bias;          /* on: every linear layer of the blocks */
	int32_t bias_in_norms;     /* norms have a bias when all_bias is on */
	int32_t qk_norm_off;       /* on: the qk-norm of the template is not there */
	int32_t parallel;          /* on: attention and MLP share one norm */
	int32_t shared_by_width;   /* shared_ffn 0: there is no shared expert */
	int32_t plain;             /* takes the one legal value of words that change nothing */
	int32_t multi_query, new_decoder, alibi, learned_positions, post_norm;
};

enum hf_type {
	HF_END,
	HF_INT,        /* int64_t; null is 0 */
	HF_FLAG,       /* int32_t; null is off */
	HF_NOT,        /* int32_t; the flag is on when the key is false */
	HF_WORD,       /* int32_t; one of words[] */
	HF_ZERO,       /* must be 0, false, null or empty: anything else cannot be expressed */
	HF_ONE,        /* must be 1 or true */
	HF_INSIDE,     /* an object with keys of its own */
	HF_MOE_LAYERS, /* layers with experts, in numbers, words or the last one: must agree with the other keys */
	HF_NOTHING,    /* changes no count in this architecture */
};

struct hf_word {
	const char *text;
	int32_t value;
};

struct hf_key {
	const char *key;
	enum hf_type type;
	size_t offset;               /* in struct hf_raw */
	int required;                /* 1: the shape cannot do without (another key of the same offset will do) */
	const struct hf_word *words; /* HF_WORD; ends with NULL */
	const struct hf_key *inside; /* HF_INSIDE */
};

struct hf_arch {
	const char *types[6];         /* values of model_type, NULL-terminated; none: what is not known by name */
	const struct hf_key *sets[3]; /* NULL-terminated list of key sets, each ends with HF_END */
	struct hf_raw base;
	const char *cite;
};

/* What no struct model can express, and why. */
struct hf_refused {
	const char *type, *why;
};

extern const struct hf_refused hf_refused[]; /* ends with NULL */
extern const struct hf_arch hf_archs[];
extern const size_t hf_archs_n;
/* Keys that the unknown must name all, to be read as a Llama. */
extern const char *const hf_explicit_keys[];
/* Completes raw->m from the values beside it, and checks the whole. `moe_layers`: what stands under moe_layers_key, or NULL.
 * Errors name p.
 */
enum err_code hf_finish(struct hf_raw *raw, const struct cJSON *moe_layers, const char *moe_layers_key,
	const struct json_place *p, struct err *e) NODISCARD;
/* Whether a key says nothing about parameter counts. */
int hf_key_is_ignored(const char *key);

#endif
