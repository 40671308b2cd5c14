/* One row of a table of published runs, as key and value, and the little language that the rules about such rows are written in.
 */
#ifndef MESHPLAN_RUNS_ROW_H
#define MESHPLAN_RUNS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUNS_KEYS = 160, RUNS_POOL = 16384, RUNS_ASSUMED = 900 };

struct runs_row {
	size_t n;
	const char *key[RUNS_KEYS], *value[RUNS_KEYS];
	char pool[RUNS_POOL]; /* values that rules computed */
	size_t used;
	char assumed[RUNS_ASSUMED]; /* one a line */
	size_t assumed_len;
	bool full; /* a rule had no room: the row cannot be used */
};

/* A rule: where `when` holds, `set` is carried out.
 *   when: clauses "key=a|b*", "key!=a", "key~words|more" (contains), "key!~a", "key<=8", "key>=8", joined by "; ". A blank value
 * is "key=". a* matches a prefix. A numeric comparison fails on a blank. set:  "key=value" or "key?=value" (only where the key is
 * blank), joined by "; ". Values: text, or @key, @key*N, @key/N, or
 *         @layers      layers of a GPT of params_b billion parameters: (P - V h) / 12 h h
 *         @divisor:N   largest of 1..N that divides layers / pp
 *         @per-rank:N  the smaller of N and global_batch / dp
 *         @local-batch global_batch / dp / pp
 *         @batch       the multiple of dp x micro_batch nearest to global_batch; one of them where that is blank
 *         @layout      dp x tp x pp x cp
 *         @first-heavy layers over pp, what is left to the first stages
 *         @units       layers + 2 units over pp likewise, embedding and head one each
 *         @balanced    fewer layers on the last stage so that its head fits in, the others even
 *         An expression whose inputs are blank leaves the key as it is.
 *   why:  NULL: the value only translates the row; else an assumption, noted as "key value: why" where it changed something. */
struct runs_rule {
	const char *when, *set, *why;
};

/* The rules, in order of application. */
extern const struct runs_rule runs_rules[];
extern const size_t runs_rules_n;

/* The value of a key; "" where blank or unknown. */
const char *runs_get(const struct runs_row *r, const char *key);
/* Its number, or `otherwise` where it is none. */
double runs_number(const struct runs_row *r, const char *key, double otherwise);
/* Sets a key; the text is copied. */
void runs_set(struct runs_row *r, const char *key, const char *value);
/* Applies one rule if it matches. */
void runs_apply(struct runs_row *r, const struct runs_rule *rule);
/* Whether a rule is written in the language: for the tests. */
bool runs_rule_is_valid(const struct runs_rule *rule);

#endif
