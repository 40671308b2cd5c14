/* Orders as text: what is written reads back, what is broken is named, nothing hostile gets through. */
#include "schedule_fixture.h"

#include "sink.h"

enum { TEXT_CAP = 1 << 18 };

struct parsed {
	struct order o;
	struct err e;
	enum err_code code;
	void *workspace;
};

static struct parsed parse(const char *text, size_t len)
{
	struct order_text t = { .name = "orders.csv", .text = text, .len = len };
	struct parsed p = { .workspace = malloc((size_t)order_parse_bytes(&t)) };

	ck_assert_ptr_nonnull(p.workspace);
	p.code = order_parse(&t, p.workspace, &p.o, &p.e);
	return p;
}

static size_t format(const struct order *o, char *buf)
{
	struct sink s;

	sink_init(&s, buf, TEXT_CAP, NULL, NULL);
	order_format(o, &s);
	ck_assert(!s.failed);
	return s.len;
}

/* The order that is read is the order that was written, on the same ranks, and runs in the same time. */
START_TEST(what_is_written_reads_back)
{
	static char text[TEXT_CAP], again[TEXT_CAP];
	struct schedule_times t = { .forward = 3, .input = 4, .weight = 2, .comm = 1 };
	uint64_t state = 5;

	for (int n = 0; n < 600; n++) {
		struct pipeline pl = random_pipeline(&state, 8);
		struct held_order h;
		struct schedule_result x, y;
		struct parsed p;
		size_t len;

		order_open(&h, &pl);
		len = format(&h.o, text);
		p = parse(text, len);
		ck_assert_msg(p.code == ERR_OK, "%s: %s: %s", shape_text(&pl), p.e.where, p.e.msg);
		ck_assert_int_eq(p.o.pl.p, pl.p);
		ck_assert_int_eq(p.o.pl.m, pl.m);
		ck_assert_int_eq(pipeline_stages(&p.o.pl), pipeline_stages(&pl));
		ck_assert_uint_eq(format(&p.o, again), len);
		ck_assert_int_eq(memcmp(text, again, len), 0);
		x = order_time(&h, &t, NULL, NULL, NULL);
		order_close(&h);
		h.o = p.o;
		h.run_workspace = malloc((size_t)order_run_bytes(&p.o));
		y = order_time(&h, &t, NULL, NULL, NULL);
		ck_assert_int_eq(x.makespan, y.makespan);
		ck_assert_int_eq(x.span_bubble, y.span_bubble);
		free(h.run_workspace);
		free(p.workspace);
	}
}
END_TEST

START_TEST(bubbles_comments_and_runtime_actions_are_left_out)
{
	static const char text[] =
		"# PyTorch\n0UNSHARD, 0F0 ,,0F1,0SEND_F0,0RECV_B0,,0B0,0B1,0REDUCE_GRAD\r\n\n,1F0,None,1I0,1F1,1I1,1W0,1W1";
	struct parsed p = parse(text, strlen(text));
	char buf[200];
	struct sink s;

	ck_assert_msg(p.code == ERR_OK, "%s: %s", p.e.where, p.e.msg);
	sink_init(&s, buf, sizeof buf, NULL, NULL);
	order_format(&p.o, &s);
	ck_assert_str_eq(buf, "0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
	free(p.workspace);
}
END_TEST

START_TEST(the_placement_follows_from_the_actions)
{
	static const struct {
		const char *text;
		int32_t placement;
	} rows[] = {
		{ "0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0\n", PLACEMENT_LOOP },
		{ "0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n", PLACEMENT_V },
		{ "0F0,1F1,1B1,0B0\n0F1,1F0,1B0,0B1\n", PLACEMENT_BIDIRECTIONAL },
		{ "0F0,0B0\n", PLACEMENT_LOOP },
	};
	struct parsed p = parse(rows[_i].text, strlen(rows[_i].text));

	ck_assert_msg(p.code == ERR_OK, "%s", p.e.msg);
	ck_assert_int_eq(pipeline_placement(&p.o.pl), rows[_i].placement);
	free(p.workspace);
}
END_TEST

/* Rank, position, action and what is legal there. */
START_TEST(broken_orders_are_named)
{
	static const struct {
		const char *text, *where, *what;
	} rows[] = {
		{ "", "orders.csv", "no actions" },
		{ "# nothing\n\n", "orders.csv", "no actions" },
		{ "0F0,0X0\n", "orders.csv:1", "rank 0, position 1: \"0X0\": wanted is stage, F, B, I or W" },
		{ "0F0,0B0\n1F0,B0\n", "orders.csv:2", "rank 1, position 1: \"B0\"" },
		{ "0F0,0B0x\n", "orders.csv:1", "\"0B0x\"" },
		{ "0F99999999,0B0\n", "orders.csv:1", "below 16777216" },
		{ "99999999999999999999F0\n", "orders.csv:1", "position 0" },
		{ "(0F0;0B0)\n", "orders.csv:1", "a block looks like" },
		{ "(0B0;0F0)OVERLAP_F_B\n", "orders.csv:1", "a block is an F and then a B or I" },
		{ "0F0,0F0,0B0,0B0\n", "orders.csv",
			"rank 0, position 1: 0F0, but its F has run; legal here for stage 0, micro-batch 0: B or I" },
		{ "0B0,0F0\n", "orders.csv", "rank 0, position 0: 0B0, but nothing of it has run" },
		{ "0F0,0W0,0I0\n", "orders.csv", "rank 0, position 1: 0W0, but its F has run" },
		{ "0F0,0B0,0W0\n", "orders.csv", "rank 0, position 2: 0W0, but all of it has run" },
		{ "0F0,0I0\n", "orders.csv", "rank 0 ends without 0W0: its F and I have run" },
		{ "0F0,0F1,0B0\n", "orders.csv", "rank 0 ends without 0B1" },
		{ "0F0,0B0,1F1,0F1,0B1,1B1\n1F0,1B0\n", "orders.csv",
			"rank 0, position 2: 1F1 belongs on rank 1 (placement loop)" },
		{ "0F0,0B0\n0F1,0B1\n", "orders.csv", "2 lines of actions but only 1 stages" },
		{ "0F0,0B0,2F0,2B0\n1F0,1B0\n", "orders.csv", "3 stages do not spread evenly over 2 ranks" },
		{ "0F0,0B0,60000F16000000\n", "orders.csv", "stage 60000 and micro-batch 16000000 are named" },
	};
	struct parsed p = parse(rows[_i].text, strlen(rows[_i].text));

	ck_assert_msg(p.code != ERR_OK, "%s was read", rows[_i].text);
	ck_assert_str_eq(p.e.where, rows[_i].where);
	ck_assert_msg(strstr(p.e.msg, rows[_i].what) != NULL, "%s", p.e.msg);
	free(p.workspace);
}
END_TEST

/* Complete, each on its rank, but rank 0 wants the gradient of 1 before it feeds it. */
START_TEST(a_deadlock_names_everybody)
{
	static const char text[] = "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n";
	struct schedule_times t = { .forward = 1, .backward = 2 };
	struct parsed p = parse(text, strlen(text));
	struct schedule_result x;
	void *workspace;

	ck_assert_msg(p.code == ERR_OK, "%s", p.e.msg);
	workspace = malloc((size_t)order_run_bytes(&p.o));
	ck_assert(order_run(&p.o, &t, workspace, NULL, NULL, NULL, &x, &p.e) == ERR_ILLEGAL);
	ck_assert_str_eq(p.e.msg, "deadlock: rank 0 at 0B0 waits for 1B0 of rank 1; rank 1 at 1F1 waits for 0F1 of rank 0");
	free(workspace);
	free(p.workspace);
}
END_TEST

/* Valid texts with bytes changed, cut out or doubled: refused, or an order that runs or is stuck; never worse. */
START_TEST(mutilated_orders_are_harmless)
{
	static const char letters[] = "0123456789FBIW,;()\n# \tOVERLAP_\xff";
	static char text[TEXT_CAP];
	struct schedule_times t = { .forward = 1, .backward = 2, .comm = 1 };
	uint64_t state = 77;
	int good = 0;

	for (int n = 0; n < 20000; n++) {
		struct pipeline pl = random_pipeline(&state, 4);
		struct held_order h;
		struct parsed p;
		size_t len;

		pl.m = num_min(pl.m, 8);
		if (pipeline_check(&pl, NULL) != ERR_OK)
			continue;
		order_open(&h, &pl);
		len = format(&h.o, text);
		order_close(&h);
		for (int64_t i = random_below(&state, 4); i >= 0; i--)
			text[random_below(&state, (int64_t)len)] = letters[random_below(&state, (int64_t)sizeof letters - 1)];
		p = parse(text, len);
		if (p.code == ERR_OK) {
			struct schedule_result x;
			void *workspace = malloc((size_t)order_run_bytes(&p.o));

			good += order_run(&p.o, &t, workspace, NULL, NULL, NULL, &x, &p.e) == ERR_OK;
			free(workspace);
		}
		free(p.workspace);
	}
	ck_assert_int_gt(good, 100);
}
END_TEST

/* 16 MB of one line, of commas, of line feeds, of digits. */
START_TEST(large_texts_are_read_or_refused_quickly)
{
	static const char *const pieces[] = { "0F0,", ",", "\n", "7", "0F0\n", "(0F0;0B0)OVERLAP_F_B," };
	size_t len = 2 << 20, n = strlen(pieces[_i]);
	char *text = malloc(len);
	struct parsed p;

	for (size_t i = 0; i < len; i++)
		text[i] = pieces[_i][i % n];
	p = parse(text, len);
	ck_assert(p.code != ERR_OK);
	ck_assert_str_ne(p.e.msg, "");
	free(p.workspace);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schedule_text");
	TCase *t = tcase_create("text");

	tcase_add_test(t, what_is_written_reads_back);
	tcase_add_test(t, bubbles_comments_and_runtime_actions_are_left_out);
	tcase_add_loop_test(t, the_placement_follows_from_the_actions, 0, 4);
	tcase_add_loop_test(t, broken_orders_are_named, 0, 19);
	tcase_add_test(t, a_deadlock_names_everybody);
	tcase_add_test(t, mutilated_orders_are_harmless);
	tcase_add_loop_test(t, large_texts_are_read_or_refused_quickly, 0, 6);
	suite_add_tcase(s, t);
	return test_run(s);
}
