/* Laws that hold for every row of the knob table, in several scenarios. */
#include "support.h"

#include "cli.h"
#include "plan.h"
#include "request.h"
#include "rules.h"
#include "search.h"
#include "sink.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scenarios that differ in all that knobs depend on; the first is the default one. */
static const char *const scenario_lines[] = {
	"",
	"model=deepseek-v3;gpu=H100;gpus=512;framework=megatron;tp=4;pp=8;ep=16;etp=1;zero=1;global-batch=512;recompute=full;"
	"stage-layers=7,8,8,8,8,8,7,7",
	"model=llama3-8b;gpu=H100;gpus=8;framework=fsdp;zero=3;global-batch=64;dropout=0.1;attention-dropout=0.05;recompute="
	"selective",
	"params=7B;gpu=V100;gpus=16;framework=deepspeed;zero=2;offload=cpu;seq=2048;global-batch=128",
	"params=70B;gpu=A100;gpus=8;framework=lesson;zero=3;offload=nvme;global-batch=64;gpu-mem=40GB;host-mem=768GB",
	"model=mixtral-8x7b;gpu=A100;gpus=64;framework=megatron;tp=2;pp=4;vpp=2;schedule=interleaved;ep=4;etp=2;zero=1;global-"
	"batch=64",
	"model=gpt2-1.5b;gpu=4090;gpus=1;framework=ddp;adapter=lora;lora-rank=8;optimizer=adam8bit;global-batch=8;grad-dtype="
	"bf16",
};
enum { N_SCENARIOS = sizeof scenario_lines / sizeof scenario_lines[0] };

static void start(struct draft *d, int which)
{
	struct err e;

	if (which == 0)
		ck_assert_msg(draft_init(d, test_catalog(), &e) == ERR_OK, "%s: %s", e.where, e.msg);
	else
		test_draft(d, scenario_lines[which]);
	ck_assert_msg(scenario_check(&d->s, &e) == ERR_OK, "%s: %s: %s", scenario_lines[which], e.where, e.msg);
}

/* The same value of every knob. */
static const char *first_difference(const struct scenario *a, const struct scenario *b)
{
	char mine[1200], theirs[1200];

	for (size_t i = 0; i < knob_count(); i++) {
		(void)knob_format(knob_at(i), a, mine, sizeof mine);
		(void)knob_format(knob_at(i), b, theirs, sizeof theirs);
		if (strcmp(mine, theirs) != 0)
			return knob_at(i)->key;
	}
	return NULL;
}

START_TEST(parse_of_format_changes_nothing)
{
	struct draft d;

	start(&d, _i);
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		struct scenario s = d.s;
		const char *changed;
		char text[1200];
		struct err e;

		(void)knob_format(k, &s, text, sizeof text);
		ck_assert_msg(knob_parse(k, test_catalog(), text, &s, &e) == ERR_OK, "--%s %s: %s", k->key, text, e.msg);
		changed = first_difference(&s, &d.s);
		ck_assert_msg(changed == NULL, "--%s %s changed %s", k->key, text, changed);
	}
}
END_TEST

/* A fixed sequence of 31-bit numbers (MINSTD). */
static int64_t next_random(int64_t *state)
{
	*state = *state * 48271 % 2147483647;
	return *state;
}

/* A value inside the row's range, spread over its orders of magnitude. */
static int64_t random_value(const struct knob *k, int64_t *state)
{
	double low = k->min, high = k->max, u = (double)next_random(state) / 2147483647.0, v;

	if (k->type == KNOB_REAL || k->type == KNOB_DROPOUT)
		return (int64_t)((low + (high - low) * u) * KNOB_REAL_SCALE);
	if (k->type == KNOB_BYTES || k->type == KNOB_CAPACITY)
		low = UNITS_LEAST_MEMORY_BYTES;
	v = low < 0 && next_random(state) % 2 ? -exp(u * log(-low))
					      : exp(log(fmax(low, 1)) + u * (log(high) - log(fmax(low, 1))));
	return (int64_t)v;
}

/* Presets, framework, parameters and derived values have their own tests; lists are in the scenarios. */
static bool takes_any_value(const struct knob *k)
{
	return k->type == KNOB_INT || k->type == KNOB_BYTES || k->type == KNOB_CAPACITY || k->type == KNOB_REAL ||
		k->type == KNOB_DROPOUT ||
		((k->type == KNOB_ENUM || k->type == KNOB_FLAG || k->type == KNOB_BIAS) && k->preset == PRESET_NONE);
}

START_TEST(parse_of_format_returns_every_value)
{
	struct draft d;
	int64_t state = 1;

	start(&d, 0);
	for (size_t i = 0; i < knob_count(); i++)
		for (int n = 0; n < 200 && takes_any_value(knob_at(i)); n++) {
			const struct knob *k = knob_at(i);
			struct scenario s = d.s, t = d.s;
			int64_t value = k->name_at != NULL                     ? next_random(&state) % ((int64_t)k->max + 1)
				: k->type == KNOB_FLAG || k->type == KNOB_BIAS ? n % 2
									       : random_value(k, &state);
			char text[64];
			struct err e;

			ck_assert(knob_set(k, test_catalog(), value, &s, &e) == ERR_OK);
			(void)knob_format(k, &s, text, sizeof text);
			ck_assert_msg(knob_parse(k, test_catalog(), text, &t, &e) == ERR_OK, "--%s %s: %s", k->key, text, e.msg);
			ck_assert_msg(knob_get(k, &t) == value, "--%s %lld became %s became %lld", k->key, (long long)value, text,
				(long long)knob_get(k, &t));
		}
}
END_TEST

START_TEST(params_are_met_exactly)
{
	const struct knob *k = knob_find("params");
	struct draft d;
	int64_t state = 7;

	start(&d, 0);
	for (int n = 0; n < 500; n++) {
		struct scenario s = d.s;
		int64_t value = random_value(k, &state);
		char text[64];
		struct err e;

		(void)knob_format_value(k, value, false, text, sizeof text);
		ck_assert_msg(knob_parse(k, test_catalog(), text, &s, &e) == ERR_OK, "--params %s: %s", text, e.msg);
		ck_assert_int_eq(knob_get(k, &s), value);
	}
}
END_TEST

START_TEST(every_preset_is_read_back_by_its_name)
{
	struct draft d;

	start(&d, 0);
	for (size_t i = 0; i < knob_count(); i++)
		for (size_t n = 0; knob_preset_id(knob_at(i), test_catalog(), n) != NULL; n++) {
			const struct knob *k = knob_at(i);
			const char *id = knob_preset_id(k, test_catalog(), n);
			struct scenario s = d.s;
			char text[64];
			struct err e;

			ck_assert_msg(knob_parse(k, test_catalog(), id, &s, &e) == ERR_OK, "--%s %s: %s", k->key, id, e.msg);
			(void)knob_format(k, &s, text, sizeof text);
			ck_assert_str_eq(text, id);
		}
}
END_TEST

START_TEST(every_default_is_valid)
{
	struct draft d;

	start(&d, 0);
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		struct scenario s = d.s;
		struct err e;

		if (k->dflt != NULL)
			ck_assert_msg(
				knob_parse(k, test_catalog(), k->dflt, &s, &e) == ERR_OK, "--%s %s: %s", k->key, k->dflt, e.msg);
	}
}
END_TEST

START_TEST(every_row_says_what_it_is)
{
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);

		ck_assert_msg(k->help != NULL && k->help[0] != '\0' && strlen(k->help) <= 80, "--%s: help of %zu columns", k->key,
			strlen(k->help));
		ck_assert_msg(k->label[0] != '\0' && strlen(k->label) <= 16, "--%s: label", k->key);
		ck_assert_msg(k->min <= k->max && k->step >= 1, "--%s: range", k->key);
		ck_assert_msg(k->type != KNOB_ENUM || k->name_at != NULL, "--%s: no names", k->key);
		ck_assert(knob_find(k->key) == k);
		ck_assert(k->alias == NULL || knob_find(k->alias) == k);
		ck_assert_uint_eq(knob_index(k), i);
	}
}
END_TEST

/* Flags and JSON keys are promises to users: none of these may vanish. */
/* Whatever is typed into a number that has a unit, the message names it. */
START_TEST(messages_about_numbers_name_the_unit)
{
	static const char *const bad[] = { "word", "-1e99", "1e99", "-5", "0.0000001" };
	struct draft d;

	test_draft(&d, "");
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		bool size = k->type == KNOB_BYTES || k->type == KNOB_CAPACITY,
		     number = k->type == KNOB_INT || k->type == KNOB_REAL;

		for (size_t b = 0; b < sizeof bad / sizeof bad[0] && (size || number); b++) {
			struct scenario s = d.s;
			struct err e = { .code = ERR_OK };

			if (knob_parse(k, test_catalog(), bad[b], &s, &e) == ERR_OK || (k->preset == PRESET_PRICE && b == 0))
				continue;
			ck_assert_msg(strstr(e.msg, size ? "bytes" : k->unit) != NULL, "--%s %s: %s", k->key, bad[b], e.msg);
			ck_assert_msg(k->min < 1 || strstr(e.msg, "nearest: 0") == NULL, "--%s %s: %s", k->key, bad[b], e.msg);
		}
	}
}
END_TEST

START_TEST(promised_keys_exist)
{
	static const char *const keys[] = { "model", "params", "layers", "hidden", "heads", "kv-heads", "head-dim", "ffn",
		"vocab", "experts", "topk", "expert-ffn", "shared-experts", "dense-layers", "moe-stride", "mtp-layers",
		"gated-mlp", "norm", "bias", "qkv-bias", "qk-norm", "tied-embeddings", "positions", "attention-type",
		"q-lora-rank", "kv-lora-rank", "qk-nope-dim", "qk-rope-dim", "v-head-dim", "max-seq", "gpu", "gpus",
		"gpus-per-node", "node", "gpu-mem", "host-mem", "nvme", "tp", "pp", "vpp", "cp", "ep", "etp", "dp", "zero",
		"zero-group", "sequence-parallel", "schedule", "pp-split", "stage-layers", "profile", "framework", "precision",
		"optimizer", "grad-dtype", "master-dtype", "seq", "micro-batch", "global-batch", "recompute", "recompute-every",
		"attention", "dropout", "loss", "offload", "offload-params", "offload-activations", "adapter", "lora-rank",
		"lora-targets" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		ck_assert_msg(knob_find(keys[i]) != NULL, "--%s is gone", keys[i]);
}
END_TEST

enum { STOPS = 200 };

START_TEST(stops_ascend_and_hold_the_current_value)
{
	struct draft d;

	start(&d, _i);
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		struct knob_stop stops[STOPS];
		size_t at, n = knob_stops(k, test_catalog(), &d, stops, STOPS, &at);
		char mine[64], id[64];

		if (k->type == KNOB_STAGES)
			continue;
		ck_assert_msg(n > 0 && at < n, "--%s: no stops", k->key);
		for (size_t j = 1; j < n; j++)
			ck_assert_msg(stops[j].value > stops[j - 1].value, "--%s: stop %zu", k->key, j);
		if (k->type != KNOB_PRESET) {
			ck_assert_msg(stops[at].value == knob_get(k, &d.s) && stops[at].legal,
				"--%s: the current value is no stop", k->key);
			continue;
		}
		(void)knob_format(k, &d.s, mine, sizeof mine);
		(void)snprintf(id, sizeof id, "%s", knob_preset_id(k, test_catalog(), (size_t)stops[at].value));
		/* A shape of no preset has no stop of its own. */
		ck_assert_msg(strcmp(mine, id) == 0 || strcmp(mine, "custom") == 0 || strcmp(mine, "none") == 0,
			"--%s: at %s, not %s", k->key, id, mine);
	}
}
END_TEST

START_TEST(every_legal_stop_leaves_a_legal_scenario)
{
	struct draft d;

	start(&d, _i);
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		struct knob_stop stops[STOPS];
		size_t at, n = knob_stops(k, test_catalog(), &d, stops, STOPS, &at);

		for (size_t j = 0; j < n; j++) {
			struct draft next = d;
			struct knob_moves moves;
			struct err e;
			enum err_code code = draft_put(&next, test_catalog(), k, stops[j].value, &moves, &e);

			if (stops[j].legal) {
				ck_assert_msg(code == ERR_OK, "--%s stop %lld: %s: %s", k->key, (long long)stops[j].value,
					e.where, e.msg);
				ck_assert_msg(scenario_check(&next.s, &e) == ERR_OK, "--%s stop %lld: %s", k->key,
					(long long)stops[j].value, e.msg);
				ck_assert_msg(k->type == KNOB_PRESET || knob_get(k, &next.s) == stops[j].value,
					"--%s stop %lld did not stay", k->key, (long long)stops[j].value);
			} else {
				ck_assert_msg(code != ERR_OK && e.msg[0] != '\0', "--%s stop %lld is legal after all", k->key,
					(long long)stops[j].value);
				ck_assert_msg(first_difference(&next.s, &d.s) == NULL, "--%s stop %lld changed something", k->key,
					(long long)stops[j].value);
			}
		}
	}
}
END_TEST

START_TEST(steps_move_over_legal_values_and_end_with_a_reason)
{
	struct draft d;

	start(&d, _i);
	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);
		struct draft next = d;
		struct err e;
		int steps = 0;

		while (draft_step(&next, test_catalog(), k, 1, NULL, &e) == ERR_OK && steps < STOPS) {
			steps++;
			ck_assert_msg(scenario_check(&next.s, &e) == ERR_OK, "--%s step %d: %s", k->key, steps, e.msg);
		}
		/* Knobs without an end (a plain count) go on; the others stop, and say why. */
		ck_assert(steps == STOPS || e.msg[0] != '\0');
	}
}
END_TEST

/* Splits a shell line in place: words, and 'quoted' words without quotes inside. Returns how many. */
static int split_line(char *line, char **argv, int cap)
{
	int n = 0;
	char *p = line;

	while (*p != '\0' && n < cap) {
		bool quoted = *p == '\'';

		p += quoted;
		argv[n++] = p;
		p += strcspn(p, quoted ? "'" : " ");
		if (quoted && *p != '\0')
			*p++ = '\0';
		if (*p != '\0')
			*p++ = '\0';
	}
	return n;
}

/* What `meshplan fit ...` would plan from this line. */
static void read_line(char *line, struct draft *d)
{
	static struct cli cli;
	char *argv[256];
	int n = split_line(line, argv, 256);
	struct plan p;
	struct err e;

	memset(&cli, 0, sizeof cli);
	cli.catalog = test_catalog();
	cli.command = command_find("fit");
	ck_assert_msg(args_scan(cli.command, n - 2, argv + 2, &cli.args, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_msg(request_plan(&cli, 0, false, d, &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
}

static void check_command_line(const struct draft *d)
{
	char line[8192], copy[8192];
	struct sink out;
	struct draft back;
	const char *changed;

	sink_init(&out, line, sizeof line, NULL, NULL);
	draft_command_line(d, test_catalog(), "fit", &out);
	ck_assert(sink_finish(&out));
	memcpy(copy, line, sizeof copy);
	read_line(copy, &back);
	changed = first_difference(&back.s, &d->s);
	ck_assert_msg(changed == NULL, "%s changed %s", line, changed);
}

/* The stops of a real are the same wherever one stands. */
START_TEST(a_real_steps_up_and_down_to_where_it_was)
{
	static const char *const keys[] = { "pue", "mtbf", "goodput", "price", "nic-bw", "attention-dropout" };
	static const char *const starts[] = { "1.2", "50000", "0.85", "3.5", "50", "0.1" };
	const struct catalog *c = test_catalog();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct knob *k = knob_find(keys[i]);
		struct draft d;
		struct knob_moves moves;
		struct err e = { 0 };
		ck_assert(draft_init(&d, c, &e) == ERR_OK);
		ck_assert(draft_type(&d, c, k, starts[i], &moves, &e) == ERR_OK);
		const int64_t start = knob_get(k, &d.s);
		for (int way = -1; way <= 1; way += 2) {
			ck_assert(draft_step(&d, c, k, way, &moves, &e) == ERR_OK);
			ck_assert_msg(knob_get(k, &d.s) != start, "%s", keys[i]);
			ck_assert(draft_step(&d, c, k, -way, &moves, &e) == ERR_OK);
			ck_assert_msg(knob_get(k, &d.s) == start, "%s", keys[i]);
		}
	}
}
END_TEST

START_TEST(the_command_line_rebuilds_the_scenario)
{
	struct draft d;

	start(&d, _i);
	check_command_line(&d);
}
END_TEST

/* One step of each knob away from the scenario, one at a time. */
START_TEST(the_command_line_rebuilds_what_one_step_changes)
{
	struct draft d;

	start(&d, _i);
	for (size_t i = 0; i < knob_count(); i++) {
		struct draft next = d;
		struct err e;

		if (draft_step(&next, test_catalog(), knob_at(i), 1, NULL, &e) == ERR_OK ||
			draft_step(&next, test_catalog(), knob_at(i), -1, NULL, &e) == ERR_OK)
			check_command_line(&next);
	}
}
END_TEST

/* A long walk over random legal stops: every scenario on the way plans, its figures add up, and its command line rebuilds it. */
START_TEST(random_walks_keep_every_law)
{
	struct draft d;
	int64_t state = 12345 + _i;

	start(&d, _i);
	for (int n = 0; n < 200; n++) {
		const struct knob *k = knob_at((size_t)(next_random(&state) % (int64_t)knob_count()));
		struct knob_stop stops[STOPS];
		size_t at, count = knob_stops(k, test_catalog(), &d, stops, STOPS, &at), j;
		struct plan p;
		struct err e;
		int64_t sum = 0;

		if (count == 0)
			continue;
		j = (size_t)(next_random(&state) % (int64_t)count);
		if (!stops[j].legal)
			continue;
		if (draft_put(&d, test_catalog(), k, stops[j].value, NULL, &e) != ERR_OK) {
			ck_assert_msg(k->type == KNOB_PRESET, "--%s: %s", k->key, e.msg);
			continue;
		}
		ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "--%s: %s", k->key, e.msg);
		for (int c = 0; c < MEMORY_CATEGORY_COUNT; c++) {
			ck_assert_msg(p.worst.category[c] >= 0, "--%s: %s is negative", k->key, memory_category_table[c].key);
			sum += p.worst.category[c];
		}
		ck_assert_int_eq(sum, p.worst.need_bytes);
		ck_assert_int_ge(p.worst.allocated_bytes, p.worst.persistent_bytes);
		if (n % 8 == 0)
			check_command_line(&d);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("knobs");
	TCase *t = tcase_create("laws");

	tcase_add_loop_test(t, parse_of_format_changes_nothing, 0, N_SCENARIOS);
	tcase_add_test(t, parse_of_format_returns_every_value);
	tcase_add_test(t, params_are_met_exactly);
	tcase_add_test(t, every_preset_is_read_back_by_its_name);
	tcase_add_test(t, every_default_is_valid);
	tcase_add_test(t, every_row_says_what_it_is);
	tcase_add_test(t, messages_about_numbers_name_the_unit);
	tcase_add_test(t, promised_keys_exist);
	tcase_add_loop_test(t, stops_ascend_and_hold_the_current_value, 0, N_SCENARIOS);
	tcase_add_loop_test(t, every_legal_stop_leaves_a_legal_scenario, 0, N_SCENARIOS);
	tcase_add_loop_test(t, steps_move_over_legal_values_and_end_with_a_reason, 0, N_SCENARIOS);
	tcase_add_test(t, a_real_steps_up_and_down_to_where_it_was);
	tcase_add_loop_test(t, the_command_line_rebuilds_the_scenario, 0, N_SCENARIOS);
	tcase_add_loop_test(t, the_command_line_rebuilds_what_one_step_changes, 0, N_SCENARIOS);
	tcase_add_loop_test(t, random_walks_keep_every_law, 0, N_SCENARIOS);
	suite_add_tcase(s, t);
	return test_run(s);
}
