/* The free-form SCENARIO: "70B on 8xA100", "llama3 70b 16 x h100-sxm", "config.json on 64 H100". Says which words mean the model,
 * the GPU, the node type and the count of GPUs ("2 nodes of 8xH100", "2x8xH100", "4 x dgx-h100" too); it resolves names only as
 * far as needed to tell them apart. */
#ifndef MESHPLAN_WORDS_H
#define MESHPLAN_WORDS_H

#include "catalog.h"
#include "err.h"

enum { WORDS_TEXT_CAP = 256 };

struct words {
	char model[WORDS_TEXT_CAP]; /* a preset name or a path; "": none */
	char params[32];            /* "70B"; "": none */
	char gpu[WORDS_TEXT_CAP];   /* "": none */
	char gpus[32];              /* "8"; "": none */
	char per_node[32];          /* GPUs in one node, where it was said; "": not said */
	char node[WORDS_TEXT_CAP];  /* "dgx-h100"; "": none */
};

/* Reads n words. ERR_USAGE when they are too long or say something twice. */
enum err_code words_read(const char *const *words, size_t n, const struct catalog *c, struct words *w, struct err *e) NODISCARD;

#endif
