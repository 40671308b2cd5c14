/* THE table of knobs. One row = command line flag = JSON key = slider = man page entry = help line. Law, tested for every row:
 * parse(format(x)) = x. */
#ifndef MESHPLAN_KNOBS_H
#define MESHPLAN_KNOBS_H

#include "catalog.h"
#include "err.h"
#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum knob_type {
	KNOB_INT,      /* int64_t */
	KNOB_BYTES,    /* int64_t, "80GB" */
	KNOB_CAPACITY, /* gpu-mem: bytes; what the card offers unless given */
	KNOB_REAL,     /* double */
	KNOB_FLAG,     /* int32_t: on, off */
	KNOB_ENUM,     /* int32_t: names */
	KNOB_PRESET,   /* a name from the catalog; fills many members */
	KNOB_PARAMS,   /* total parameters: reshapes the model along the ladder */
	KNOB_DP,       /* derived; given, it is checked */
	KNOB_STAGES,   /* struct stage_list */
	KNOB_BIAS,     /* all linear biases at once: on, off */
	KNOB_DROPOUT,  /* hidden and attention dropout at once */
};

enum knob_group {
	KNOB_GROUP_MODEL,
	KNOB_GROUP_CLUSTER,
	KNOB_GROUP_LAYOUT,
	KNOB_GROUP_TRAINING,
	KNOB_GROUP_COST,
	KNOB_GROUP_COUNT
};
extern const char *const knob_group_names[KNOB_GROUP_COUNT]; /* "model", ... N_() */

enum knob_preset {
	PRESET_NONE,
	PRESET_MODEL,
	PRESET_GPU,
	PRESET_NODE,
	PRESET_PROFILE,
	PRESET_FRAMEWORK,
	PRESET_COEFFICIENTS,
	PRESET_PRICE
};

enum knob_flag {
	KNOB_F_MAIN = 1,     /* on the first screen of the UI */
	KNOB_F_SHAPE = 2,    /* changes the model shape: the preset becomes "custom" */
	KNOB_F_AUTO = 4,     /* chosen automatically when it is not given */
	KNOB_F_DERIVED = 8,  /* read-only in the UI: dp */
	KNOB_F_ORDERED = 16, /* enum whose values are ordered (a slider, not a choice) */
	KNOB_F_LOG = 32,     /* natural stops are powers of two */
	KNOB_F_TOKENS = 64,  /* k = 1024 */
	KNOB_F_RANKS = 128,  /* a degree of parallelism: changing another layout knob never moves it */
};

struct knob {
	const char *key, *alias;  /* alias: another flag spelling, or NULL */
	const char *label, *unit; /* N_() */
	enum knob_group group;
	enum knob_type type;
	uint32_t flags;
	size_t offset; /* into struct scenario; type-checked where the row is written */
	double min, max;
	int64_t step;                          /* plain integers: distance of the slider's stops */
	enum knob_preset preset;               /* where KNOB_PRESET, framework and price take values from */
	const char *dflt;                      /* text as parsed; NULL: comes from a preset or a rule */
	const char *(*name_at)(int64_t value); /* enums: key of a value, NULL past the last */
	const char *(*help_at)(int64_t value); /* enums: meaning of a value */
	const char *help;                      /* one line, N_() */
	const char *cite;
};

/* Stable order: model (params first), cluster, layout, training. */
size_t knob_count(void);
const struct knob *knob_at(size_t i);
size_t knob_index(const struct knob *k);
/* By key or alias, case-insensitive; NULL if unknown. */
const struct knob *knob_find(const char *key);
/* Index of the row that edits the member of struct scenario at this offset: what rules and searches ask in inner loops. The
 * member must be one that a row edits by itself (not a preset). */
size_t knob_of_member(size_t offset);
#define KNOB_OF(member) knob_of_member(offsetof(struct scenario, member))
/* What somebody means who takes a value for a flag: "lora" is "--adapter lora", "zero3" "--zero 3". Returns buf, "" if nothing.
 */
char *knob_hint(const char *word, char *buf, size_t cap);
/* "did you mean" list for an unknown key. Returns buf. */
char *knob_nearest(const char *key, char *buf, size_t cap);

/* Reals are handled as integers of a millionth where a common type is needed (stops, get, set). */
#define KNOB_REAL_SCALE 1e6

/* The value as an integer: number, bytes, enum, flag, parameters; reals in millionths; presets: -1 (compare names instead). */
int64_t knob_get(const struct knob *k, const struct scenario *s);
/* Sets the value (presets: index into the catalog). ERR_* when the name, size or framework cannot be applied. A changed shape
 * makes the model "custom". Range is not checked here. */
enum err_code knob_set(const struct knob *k, const struct catalog *c, int64_t value, struct scenario *s, struct err *e) NODISCARD;
/* Id of the i-th preset that knob k can take, or NULL past the last (and for knobs that take none). */
const char *knob_preset_id(const struct knob *k, const struct catalog *c, size_t i);
/* Text to integer value and back, for every type but presets and stage lists. */
enum err_code knob_parse_value(const struct knob *k, const char *text, int64_t *value, struct err *e) NODISCARD;
size_t knob_format_value(const struct knob *k, int64_t value, bool pretty, char *buf, size_t cap);

/* Sets one knob of *s from text. Presets resolve through the catalog. Range and type are checked here, harmony with the other
 * knobs in scenario_check (rules.h). On error *s is unchanged and e->where is the key. */
enum err_code knob_parse(
	const struct knob *k, const struct catalog *c, const char *text, struct scenario *s, struct err *e) NODISCARD;
/* Text that knob_parse reads back to the same value. Returns the length, cut to cap. */
size_t knob_format(const struct knob *k, const struct scenario *s, char *buf, size_t cap);
/* Text for people: "8,192", "70.6B", "79.2 GiB". */
size_t knob_format_pretty(const struct knob *k, const struct scenario *s, char *buf, size_t cap);
/* Writes the JSON value ("bf16", 8, true, [11,10], 0.1). */
struct sink;
void knob_json(const struct knob *k, const struct scenario *s, struct sink *out);

/* Where a value came from: shown beside it, and whether a rule may still move it. */
enum knob_origin { ORIGIN_DEFAULT, ORIGIN_PRESET, ORIGIN_AUTO, ORIGIN_FILE, ORIGIN_FLAG, ORIGIN_COUNT };
extern const char *const knob_origin_names[ORIGIN_COUNT];

enum { KNOB_MAX = 128 };
/* A scenario with the origin of each knob, indexed like knob_at(). What the CLI and the UI edit. */
struct draft {
	struct scenario s;
	uint8_t origin[KNOB_MAX]; /* enum knob_origin */
	int64_t dp_given;         /* --dp: checked once the layout is known; 0: not given */
};

/* The default scenario of a bare `meshplan`: see meshplan(1). ERR_INTERNAL when the catalog lacks its presets. */
enum err_code draft_init(struct draft *d, const struct catalog *c, struct err *e) NODISCARD;
/* An empty one for the command line: default training values, no model, no gpu (ids ""), one GPU. */
void draft_init_blank(struct draft *d, const struct catalog *c);
/* Whether the user set a knob (by its index): in a file or with a flag. */
bool draft_given(const struct draft *d, size_t knob);
/* knob_parse on d->s and origin. Setting model/gpu/node/framework marks what they fill as ORIGIN_PRESET. */
enum err_code draft_set(struct draft *d, const struct catalog *c, const struct knob *k, const char *text, enum knob_origin origin,
	struct err *e) NODISCARD;
/* Fills what is neither given nor chosen yet by the stated rules: node, gpus-per-node, seq, global-batch, sequence-parallel, etp,
 * precision where the GPU lacks bf16. Idempotent. */
void draft_settle(struct draft *d, const struct catalog *c);

/* One stop of a slider. */
struct knob_stop {
	int64_t value; /* int, bytes, enum, flag value; preset: index in the catalog; params: parameters */
	bool legal; /* in this scenario (after moving others where that is allowed); presets are not tried: draft_put may refuse
		     */
};
/* The stops of a knob here, ascending (presets: catalog order): natural values joined with the legal ones. `*at` becomes the
 * index of the current value (which is always among them). Returns how many, at most cap. */
size_t knob_stops(
	const struct knob *k, const struct catalog *c, const struct draft *d, struct knob_stop *stops, size_t cap, size_t *at);

enum { KNOB_MOVED_MAX = 8 };
/* What draft_step or draft_put also had to move. */
struct knob_moves {
	size_t n;
	struct {
		size_t knob;
		char from[32], to[32];
	} moved[KNOB_MOVED_MAX];
};
/* Sets knob k to a stop value, repairs other knobs where k's row allows that, and settles. On error (nothing nearby is legal) *d
 * is unchanged and the error says why and what is legal. */
enum err_code draft_put(struct draft *d, const struct catalog *c, const struct knob *k, int64_t value, struct knob_moves *moves,
	struct err *e) NODISCARD;
/* Moves k by `steps` legal stops (negative: down; beyond the last: the last). ERR_ILLEGAL with the reason when there is none that
 * way. */
enum err_code draft_step(struct draft *d, const struct catalog *c, const struct knob *k, int steps, struct knob_moves *moves,
	struct err *e) NODISCARD;
/* The same from typed text. */
enum err_code draft_type(struct draft *d, const struct catalog *c, const struct knob *k, const char *text,
	struct knob_moves *moves, struct err *e) NODISCARD;

/* The command line that rebuilds d: "meshplan fit llama3-70b 64xh100-sxm-80gb --tp 8 ...", only what differs from the defaults.
 */
void draft_command_line(const struct draft *d, const struct catalog *c, const char *subcommand, struct sink *out);

#endif
