/* Reported cases, and the first impression: verdicts that people will ask for first. */
#include "support.h"

#include "memory.h"
#include "plan.h"
#include "search.h"
#include "ways.h"
#include "units.h"

#include <string.h>

static double figure_of(const char *name, const struct plan *p)
{
	if (strcmp(name, "need") == 0)
		return (double)p->worst.need_bytes / UNITS_GIB;
	if (strcmp(name, "allocated") == 0)
		return (double)p->worst.allocated_bytes / UNITS_GIB;
	if (strcmp(name, "reserved") == 0)
		return (double)p->worst.reserved_bytes / UNITS_GIB;
	if (strcmp(name, "states") == 0)
		return (double)p->worst.persistent_bytes / UNITS_GIB;
	if (strcmp(name, "logits") == 0)
		return (double)p->worst.category[MEMORY_LOGITS] / UNITS_GIB;
	if (strcmp(name, "host") == 0)
		return (double)p->host_bytes_per_node / UNITS_GIB;
	ck_assert_str_eq(name, "worst-stage");
	return (double)p->verdict.worst_stage;
}

static bool verdict_is(const struct verdict *v, const char *expect)
{
	if (strcmp(expect, "fits") == 0)
		return v->fits;
	if (strcmp(expect, "no") == 0)
		return !v->fits;
	ck_assert_str_eq(expect, "on-the-line");
	return !v->fits || v->tight;
}

static void check_case(const struct csv *c)
{
	const char *id = csv_text(c, "case"), *expect = csv_text(c, "expect"), *figure = csv_text(c, "figure");
	struct draft d;
	struct plan p;
	struct err e;
	char text[64];
	double ours;

	test_draft(&d, csv_text(c, "knobs"));
	ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "%s: %s: %s", id, e.where, e.msg);
	if (test_prints_table())
		printf("%s %-11s %-12s %s  %s\n", id, expect, verdict_word(&p.verdict),
			verdict_text(&p.verdict, text, sizeof text), csv_text(c, "why"));
	ck_assert_msg(verdict_is(&p.verdict, expect), "%s (line %d): expected %s, ours is %s, %s", id, c->line, expect,
		verdict_word(&p.verdict), verdict_text(&p.verdict, text, sizeof text));
	if (figure[0] == '\0')
		return;
	ours = figure_of(figure, &p);
	ck_assert_msg(ours >= csv_real(c, "low") && ours <= csv_real(c, "high"), "%s (line %d): %s %.2f is outside %s .. %s", id,
		c->line, figure, ours, csv_text(c, "low"), csv_text(c, "high"));
}

START_TEST(every_reported_case_is_answered_right_or_says_why_not)
{
	struct csv c;
	int decided = 0, open = 0;

	csv_open(&c, "cases.csv");
	while (csv_next(&c)) {
		ck_assert_str_ne(csv_text(&c, "why"), "");
		if (csv_text(&c, "knobs")[0] == '\0') {
			ck_assert(strcmp(csv_text(&c, "expect"), "undecided") == 0 ||
				strcmp(csv_text(&c, "expect"), "inexpressible") == 0);
			open++;
			continue;
		}
		check_case(&c);
		decided++;
	}
	ck_assert_int_eq(decided, 39);
	ck_assert_int_eq(open, 13);
}
END_TEST

/* What `meshplan fit` answers: the knobs that are given, the rest chosen. */
static struct plan choose(const char *knobs, struct draft *d)
{
	struct plan p;
	struct err e;

	test_draft(d, knobs);
	ck_assert_msg(search_choose(d, test_catalog(), &p, &e) == ERR_OK, "%s: %s: %s", knobs, e.where, e.msg);
	return p;
}

static double gib(int64_t bytes)
{
	return (double)bytes / UNITS_GIB;
}

/* 16 bytes x 70e9 / 8 = 130.4 GiB of states alone. */
START_TEST(seventy_b_on_8_a100_does_not_fit)
{
	struct draft d;
	struct plan p = choose("params=70B;gpu=A100;gpus=8", &d);

	ck_assert(!p.verdict.fits);
	ck_assert_int_eq(p.verdict.limit, LIMIT_GPU_MEMORY);
	ck_assert_double_gt(gib(p.verdict.need_bytes), 130.4);
	ck_assert_double_lt(gib(p.verdict.need_bytes), 160);
}
END_TEST

START_TEST(seventy_b_on_16_a100_is_on_the_line)
{
	struct draft d;
	struct plan p = choose("params=70B;gpu=A100;gpus=16", &d);

	ck_assert(p.verdict.fits ? p.verdict.tight : gib(-p.verdict.headroom_bytes) < 1);
}
END_TEST

START_TEST(seventy_b_on_24_a100_fits_with_room)
{
	struct draft d;
	struct plan p = choose("params=70B;gpu=A100;gpus=24", &d);

	ck_assert(p.verdict.fits && !p.verdict.tight);
}
END_TEST

START_TEST(fewest_gpus_for_seventy_b_are_16_or_24)
{
	static struct draft best;
	struct draft d;
	struct plan p;
	int64_t n;

	test_draft(&d, "params=70B;gpu=A100;gpus=8");
	n = ways_fewest_gpus(&d, test_catalog(), 4096, &best, &p);
	ck_assert(n == 24 || (n == 16 && p.verdict.tight));
	ck_assert_int_eq(best.s.cluster.gpus, n);
	ck_assert(p.verdict.fits);
}
END_TEST

static const struct way_out *find_way(const struct way_out *ways, size_t n, const char *part)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(ways[i].change, part) != NULL)
			return &ways[i];
	ck_abort_msg("no way out with %s", part);
	return NULL;
}

/* Pure bf16 with 8-bit Adam: 6 bytes, 48.9 GiB of states. CPU offload: 12 bytes x 70e9 = 782 GiB on the host, 1,173 with the
 * factor 1.5. */
START_TEST(ways_out_for_seventy_b_on_8_a100)
{
	static struct way_out ways[WAY_MAX];
	static const char *const wanted[] = { "--offload cpu", "--adapter lora", "--adapter qlora" };
	struct draft d;
	size_t n;

	test_draft(&d, "params=70B;gpu=A100;gpus=8");
	n = ways_all(&d, test_catalog(), ways, WAY_MAX);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		ck_assert_msg(find_way(ways, n, wanted[i])->fits, "%s does not fit", wanted[i]);
	ck_assert(strstr(find_way(ways, n, "adam8bit")->change, "pure-bf16") != NULL);
	ck_assert(find_way(ways, n, "adam8bit")->fits);
	ck_assert_double_gt(gib(find_way(ways, n, "adam8bit")->need_bytes), 48.9);
	ck_assert_double_ge(gib(find_way(ways, n, "--offload cpu")->host_bytes_per_node), 782);
	ck_assert_double_le(gib(find_way(ways, n, "--offload cpu")->host_bytes_per_node), 1180);
	for (size_t i = 1; i < n; i++)
		ck_assert_msg(ways[i - 1].fits >= ways[i].fits, "what fits comes first: %s", ways[i].change);
}
END_TEST

/* ZeRO-3 with the smallest micro-batch: (2 + 2) x 70e9 / 8 = 32.6 GiB of states; 1.5 x 12 x 70e9 = 1,173.5 GiB on the host. */
START_TEST(cpu_offload_of_70b_needs_some_50_gib_and_1173_on_the_host)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d,
		"params=70B;gpu=A100;gpus=8;framework=deepspeed;zero=3;offload=cpu;seq=4096;micro-batch=1;global-batch=1024;"
		"recompute=full");
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	ck_assert(p.verdict.fits);
	ck_assert_double_eq_tol(gib(p.worst.persistent_bytes), 32.6, 0.01);
	ck_assert_double_eq_tol(gib(p.verdict.need_bytes), 50, 1);
	ck_assert_double_eq_tol(gib(p.host_bytes_per_node), 1173.5, 0.1);
}
END_TEST

START_TEST(eight_b_on_8_h100_fits)
{
	struct draft d;
	struct plan p = choose("params=8B;gpu=H100;gpus=8;seq=8192", &d);

	ck_assert(p.verdict.fits && !p.verdict.tight);
}
END_TEST

START_TEST(llama3_70b_on_16_h100_is_never_a_comfortable_yes)
{
	struct draft d;
	struct plan p = choose("model=llama3-70b;gpu=H100;gpus=16;seq=8192", &d);

	ck_assert(!p.verdict.fits || p.verdict.tight);
	/* Nothing but the smallest margins: within 4 GiB of the card. */
	ck_assert_double_lt(gib(p.verdict.headroom_bytes < 0 ? -p.verdict.headroom_bytes : p.verdict.headroom_bytes), 4);
}
END_TEST

/* NF4 with double quantisation: 4.127 bits per linear weight; embedding and head in 16 bit: 36.8 GiB. Rank 16 on all linear
 * layers: 207 M. */
START_TEST(llama3_70b_qlora_fits_one_a100)
{
	struct draft d;
	struct plan p = choose("model=llama3-70b;gpu=A100;gpus=1;adapter=qlora", &d);
	double states;

	ck_assert(p.verdict.fits);
	ck_assert_double_eq_tol(p.worst.trainable_params / 1e6, 207, 0.5);
	states = gib(p.worst.category[MEMORY_GRADIENTS] + p.worst.category[MEMORY_OPTIMIZER] +
		p.worst.category[MEMORY_MASTER_WEIGHTS]);
	ck_assert_double_ge(states, 2.0);
	ck_assert_double_le(states, 3.1);
	ck_assert_double_eq_tol(gib(p.worst.category[MEMORY_WEIGHTS]), 36.8, 0.9); /* with the adapters' own copy */
	ck_assert_int_eq(d.s.training.recompute, RECOMPUTE_FULL);
}
END_TEST

/* The scenario of a bare `meshplan`: the vocabulary padded to 128 tp = 1024, 2.27e9 parameters on stage 0 at 6 + 12/2 = 12 bytes.
 */
START_TEST(the_default_scenario_fits)
{
	struct draft d;
	struct plan p;
	struct stage_memory m;
	struct err e;

	ck_assert(draft_init(&d, test_catalog(), &e) == ERR_OK);
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	ck_assert(memory_stage(&d.s, 0, &m, &e) == ERR_OK);
	ck_assert_int_eq(p.padded_vocab, 129024);
	ck_assert_double_eq_tol(m.dense_params / 1e9, 2.27, 0.01);
	ck_assert_double_eq_tol(gib(m.persistent_bytes), 25.4, 0.1);
	ck_assert_double_eq_tol(gib(p.verdict.need_bytes), 52, 1);
	ck_assert(p.verdict.fits && !p.verdict.tight);
	ck_assert_int_eq(p.dp, 2);
}
END_TEST

/* The engine says what a layout wastes: ZeRO shards over data parallelism only. */
START_TEST(zero_with_one_data_parallel_rank_is_warned_about)
{
	struct draft d;
	struct plan p;
	struct err e;
	bool warned = false;

	test_draft(&d,
		"params=40B;gpu=V100;gpus=8;framework=deepspeed;tp=8;zero=2;seq=1024;micro-batch=1;global-batch=8;recompute="
		"full");
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	for (int64_t i = 0; i < p.n_diagnostics; i++)
		warned = warned || strcmp(p.diagnostics[i].id, "zero-dp1") == 0;
	ck_assert(warned);
	ck_assert_int_eq(p.ledger.shards, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cases");
	TCase *t = tcase_create("cases");

	tcase_add_test(t, every_reported_case_is_answered_right_or_says_why_not);
	tcase_add_test(t, seventy_b_on_8_a100_does_not_fit);
	tcase_add_test(t, seventy_b_on_16_a100_is_on_the_line);
	tcase_add_test(t, seventy_b_on_24_a100_fits_with_room);
	tcase_add_test(t, fewest_gpus_for_seventy_b_are_16_or_24);
	tcase_add_test(t, ways_out_for_seventy_b_on_8_a100);
	tcase_add_test(t, cpu_offload_of_70b_needs_some_50_gib_and_1173_on_the_host);
	tcase_add_test(t, eight_b_on_8_h100_fits);
	tcase_add_test(t, llama3_70b_on_16_h100_is_never_a_comfortable_yes);
	tcase_add_test(t, llama3_70b_qlora_fits_one_a100);
	tcase_add_test(t, the_default_scenario_fits);
	tcase_add_test(t, zero_with_one_data_parallel_rank_is_warned_about);
	suite_add_tcase(s, t);
	return test_run(s);
}
