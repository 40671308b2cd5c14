/* Stacked bars: the bar crosses the limit iff the number does, nobody vanishes, parts sum to the whole. And the plan document:
 * every key that is promised, exact integers, texts that keep to their width. */
#include "num.h"
#include "report.h"
#include "support.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* xorshift: the same numbers everywhere. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

START_TEST(bars_keep_their_promises)
{
	uint64_t state = 0x9E3779B97F4A7C15u + (uint64_t)_i;

	for (int trial = 0; trial < 2000; trial++) {
		int64_t bytes[MEMORY_CATEGORY_COUNT], cells[MEMORY_CATEGORY_COUNT], sum = 0, n, total = 0, nonzero = 0;
		int64_t cap = 1 + (int64_t)(next(&state) % 110), limit = 1 + (int64_t)(next(&state) % 100000000000u);

		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			bytes[i] = next(&state) % 4 == 0 ? 0 : (int64_t)(next(&state) % 40000000000u);
			sum += bytes[i];
			nonzero += bytes[i] > 0;
		}
		n = report_bar_cells(bytes, limit, cap, cells);
		for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
			total += cells[i];
			ck_assert((bytes[i] > 0) == (cells[i] > 0));
		}
		ck_assert_int_eq(total, n);
		if (nonzero <= cap)
			ck_assert((n > cap) == (sum > limit));
	}
}
END_TEST

START_TEST(a_full_card_fills_the_bar)
{
	int64_t bytes[MEMORY_CATEGORY_COUNT] = { 0 }, cells[MEMORY_CATEGORY_COUNT];

	bytes[MEMORY_WEIGHTS] = 30;
	bytes[MEMORY_ACTIVATIONS] = 70;
	ck_assert_int_eq(report_bar_cells(bytes, 100, 10, cells), 10);
	ck_assert_int_eq(cells[MEMORY_WEIGHTS], 3);
	ck_assert_int_eq(cells[MEMORY_ACTIVATIONS], 7);
	bytes[MEMORY_ACTIVATIONS] = 71;
	ck_assert_int_eq(report_bar_cells(bytes, 100, 10, cells), 11);
}
END_TEST

START_TEST(an_unknown_limit_fills_the_field)
{
	int64_t bytes[MEMORY_CATEGORY_COUNT] = { 0 }, cells[MEMORY_CATEGORY_COUNT];

	bytes[MEMORY_WEIGHTS] = 5;
	ck_assert_int_eq(report_bar_cells(bytes, 0, 20, cells), 20);
	bytes[MEMORY_WEIGHTS] = 0;
	ck_assert_int_eq(report_bar_cells(bytes, 0, 20, cells), 0);
}
END_TEST

START_TEST(the_drawing_order_is_a_permutation)
{
	enum memory_category order[MEMORY_CATEGORY_COUNT];
	bool seen[MEMORY_CATEGORY_COUNT] = { false };

	report_draw_order(order);
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		ck_assert(!seen[order[i]]);
		seen[order[i]] = true;
	}
	ck_assert_int_eq(order[0], MEMORY_WEIGHTS);
	ck_assert_int_eq(order[MEMORY_CATEGORY_COUNT - 1], MEMORY_ACTIVATIONS);
}
END_TEST

enum { DOCUMENT_CAP = 1 << 18 };

/* A scenario that has pipelines, and one that does not fit. */
static const char *const scenarios[] = {
	"model=llama3-70b;gpu=h100-sxm-80gb;gpus=64;framework=megatron;tp=8;pp=4;zero=1;global-batch=128",
	"params=70B;gpu=a100-sxm-80gb;gpus=8;framework=deepspeed;zero=3;global-batch=64",
	"model=deepseek-v3;gpu=h800-sxm-80gb;gpus=256;framework=megatron;pp=16;ep=16;zero=1;global-batch=256",
};

static char document[DOCUMENT_CAP];

static void evaluate(int i, struct draft *d, struct plan *p)
{
	struct err e = { .code = ERR_OK };

	test_draft(d, scenarios[i]);
	ck_assert_msg(plan_evaluate(&d->s, p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
}

static cJSON *parse_document(const struct draft *d, const struct plan *p)
{
	struct sink out;
	cJSON *root;

	sink_init(&out, document, sizeof document, NULL, NULL);
	report_plan_json(d, test_catalog(), p, "1.2.3", &out);
	ck_assert(!out.failed);
	root = cJSON_Parse(document);
	ck_assert_ptr_nonnull(root);
	return root;
}

static void ck_keys(const cJSON *object, const char *const *keys)
{
	ck_assert(cJSON_IsObject(object));
	for (; *keys != NULL; keys++)
		ck_assert_msg(cJSON_GetObjectItemCaseSensitive(object, *keys) != NULL, "no key %s", *keys);
}

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	ck_assert_msg(cJSON_IsNumber(item), "%s is no number", key);
	return item->valuedouble;
}

START_TEST(the_document_holds_every_promised_key)
{
	static const char *const top[] = { "meshplan", "schema", "scenario", "verdict", "memory", "pipeline", "diagnostics",
		NULL };
	static const char *const verdict[] = { "fits", "tight", "need_bytes", "have_bytes", "headroom_bytes", "worst_stage",
		"limit", "text", NULL };
	static const char *const memory[] = { "stages", "phases", "host_bytes_per_node", "nvme_bytes_per_node", "bytes_per_param",
		NULL };
	static const char *const stage[] = { "stage", "weights", "master_weights", "gradients", "optimizer", "activations",
		"logits", "transient", "reserved", "total", "in_flight", NULL };
	static const char *const pipeline[] = { "schedule", "p", "m", "v", "bubble_of_step", "bubble_over_ideal", "bubble_span",
		"in_flight", NULL };
	struct draft d;
	struct plan p;
	const cJSON *part, *item;
	cJSON *root;

	evaluate(_i, &d, &p);
	root = parse_document(&d, &p);
	ck_keys(root, top);
	ck_assert_int_eq((int)number(root, "schema"), MESHPLAN_SCHEMA);
	ck_keys(cJSON_GetObjectItemCaseSensitive(root, "verdict"), verdict);
	part = cJSON_GetObjectItemCaseSensitive(root, "memory");
	ck_keys(part, memory);
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(part, "stages"))
		ck_keys(item, stage);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(part, "stages")), (int)d.s.layout.pp);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(part, "phases")), PHASE_COUNT);
	part = cJSON_GetObjectItemCaseSensitive(root, "pipeline");
	ck_keys(part, pipeline);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(part, "in_flight")), (int)d.s.layout.pp);
	part = cJSON_GetObjectItemCaseSensitive(root, "scenario");
	for (size_t i = 0; i < knob_count(); i++)
		ck_assert_msg(cJSON_GetObjectItemCaseSensitive(part, knob_at(i)->key) != NULL, "no knob %s", knob_at(i)->key);
	cJSON_Delete(root);
}
END_TEST

START_TEST(stages_sum_to_their_total_and_the_largest_is_needed)
{
	struct draft d;
	struct plan p;
	const cJSON *memory, *item;
	cJSON *root;
	double most = 0;

	evaluate(_i, &d, &p);
	root = parse_document(&d, &p);
	memory = cJSON_GetObjectItemCaseSensitive(root, "memory");
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(memory, "stages")) {
		double sum = 0;

		for (int c = 0; c < MEMORY_CATEGORY_COUNT; c++)
			sum += number(item, memory_category_table[c].key);
		ck_assert(fabs(sum - number(item, "total")) < 0.5);
		most = fmax(most, sum);
	}
	ck_assert(fabs(most - number(cJSON_GetObjectItemCaseSensitive(root, "verdict"), "need_bytes")) < 0.5);
	cJSON_Delete(root);
}
END_TEST

START_TEST(texts_keep_to_eighty_columns)
{
	struct draft d;
	struct plan p;
	struct sink out;

	evaluate(_i, &d, &p);
	for (int kind = 0; kind < 2; kind++) {
		size_t col = 0;

		sink_init(&out, document, sizeof document, NULL, NULL);
		if (kind == 0)
			report_plan_text(&d, &p, NULL, true, &out);
		else
			report_fit(&d, &p, NULL, true, &out);
		ck_assert(!out.failed);
		for (const char *c = document; *c != '\0'; c++) {
			col = *c == '\n' ? 0 : col + 1;
			ck_assert_msg(col <= 80, "a long line before: %.60s", c);
			ck_assert(*c == '\n' || ((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7F));
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *bars = tcase_create("bars"), *documents = tcase_create("documents");
	int n = (int)(sizeof scenarios / sizeof scenarios[0]);

	tcase_add_loop_test(bars, bars_keep_their_promises, 0, 4);
	tcase_add_test(bars, a_full_card_fills_the_bar);
	tcase_add_test(bars, an_unknown_limit_fills_the_field);
	tcase_add_test(bars, the_drawing_order_is_a_permutation);
	suite_add_tcase(suite, bars);
	tcase_add_loop_test(documents, the_document_holds_every_promised_key, 0, n);
	tcase_add_loop_test(documents, stages_sum_to_their_total_and_the_largest_is_needed, 0, n);
	tcase_add_loop_test(documents, texts_keep_to_eighty_columns, 0, n);
	suite_add_tcase(suite, documents);
	return test_run(suite);
}
