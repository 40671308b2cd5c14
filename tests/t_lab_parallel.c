/* Data, tensor and expert parallelism and the collectives under them: against naive sums, central differences and closed
 * formulas, over many sizes, seeds and numbers of GPUs. */
#include "lab_fixture.h"

#include "comm.h"
#include "lab_collective.h"
#include "lab_math.h"

#include <math.h>

enum { RANKS_MAX = 66, ELEMENTS_MAX = 200 };

START_TEST(random_numbers_are_spread_and_depend_on_everything)
{
	double sum = 0, least = 1, most = -1;

	for (uint64_t i = 0; i < 100000; i++) {
		double u = lab_uniform(3, 4, i);

		sum += u;
		least = fmin(least, u);
		most = fmax(most, u);
		ck_assert(lab_whole(3, 4, i, 9) >= -9 && lab_whole(3, 4, i, 9) <= 9);
	}
	ck_assert(fabs(sum / 100000) < 0.01 && least < -0.999 && most > 0.999 && least >= -1 && most < 1);
	ck_assert(lab_hash(1, 2, 3) != lab_hash(2, 1, 3) && lab_hash(1, 2, 3) != lab_hash(1, 3, 2));
}
END_TEST

START_TEST(matrix_products_equal_the_definition)
{
	for (int64_t n = 1; n < 7; n++)
		for (int64_t k = 1; k < 7; k++)
			for (int64_t m = 1; m < 7; m++) {
				double a[64], b[64], c[64], t[64];
				struct matrix x = matrix_of(a, n, k), y = matrix_of(b, k, m), z = matrix_of(c, n, m),
					      yt = matrix_of(t, m, k);

				lab_fill(a, n * k, 1, 1, 1);
				lab_fill(b, k * m, 1, 2, 1);
				matrix_zero(z);
				matrix_copy(yt, matrix_transposed(y));
				matrix_multiply_add(z, x, matrix_transposed(yt));
				for (int64_t i = 0; i < n; i++)
					for (int64_t j = 0; j < m; j++) {
						double sum = 0;

						for (int64_t l = 0; l < k; l++)
							sum += a[i * k + l] * b[l * m + j];
						ck_assert(c[i * m + j] == sum);
					}
			}
}
END_TEST

/* Each parameter moved a little: the loss changes as the gradient says. */
START_TEST(gradients_of_the_network_are_slopes)
{
	static const struct mlp nets[] = { { 1, 3, 1, 2 }, { 2, 3, 5, 2 }, { 4, 2, 4, 3 } };

	for (size_t n = 0; n < sizeof nets / sizeof nets[0]; n++) {
		const struct mlp *net = &nets[n];
		double w[200], g[200] = { 0 }, none[200], x[64], t[64], acts[400], grads[400], bound = 0;
		int64_t samples = 5, params = mlp_params(net);

		ck_assert_int_le(params, 200);
		mlp_init(net, w, 9);
		lab_fill(x, samples * net->inputs, 9, 1, 1);
		lab_fill(t, samples * net->outputs, 9, 2, 1);
		(void)mlp_gradient(net, w, x, t, samples, acts, grads, g, &bound);
		for (int64_t i = 0; i < params; i++) {
			double h = 1e-6, keep = w[i], up, down;

			w[i] = keep + h;
			up = mlp_gradient(net, w, x, t, samples, acts, grads, none, &bound);
			w[i] = keep - h;
			down = mlp_gradient(net, w, x, t, samples, acts, grads, none, &bound);
			w[i] = keep;
			ck_assert_double_eq_tol((up - down) / (2 * h), g[i], 1e-6);
		}
		ck_assert(bound > 0);
	}
}
END_TEST

static double number(int64_t rank, int64_t i)
{
	return lab_whole(5, (uint64_t)rank, (uint64_t)i, 1000);
}

/* What an algorithm sends in all, in elements. */
static int64_t sent_by_formula(enum collective_algorithm a, int64_t n, int64_t elements, int64_t per_node)
{
	int64_t p = 1;

	while (2 * p <= n)
		p *= 2;
	if (a == ALGORITHM_HALVING)
		return 2 * (p - 1) * elements + 2 * (n - p) * elements;
	if (a == ALGORITHM_HIERARCHICAL)
		return 2 * (per_node - 1) * elements * (n / per_node) + 2 * (n / per_node - 1) * elements;
	return 2 * (n - 1) * elements;
}

static void check_collective(enum collective_algorithm a, const struct collective_group *g)
{
	static double v[RANKS_MAX * ELEMENTS_MAX];
	int64_t sent[RANKS_MAX], sum_sent = 0;
	struct collective_state state = { .v = v, .held = g->elements };
	struct collective_counts c;

	for (int64_t r = 0; r < g->n; r++)
		for (int64_t i = 0; i < g->elements; i++)
			v[r * g->elements + i] = number(r, i);
	c = collective_run(a, g, &state, sent, NULL, 4, NULL, NULL);
	for (int64_t i = 0; i < g->elements; i++) {
		double sum = 0;

		for (int64_t r = 0; r < g->n; r++)
			sum += number(r, i);
		for (int64_t r = 0; r < g->n; r++)
			CHECK_MSG(v[r * g->elements + i] == sum, "%s, %lld ranks, %lld elements, rank %lld, element %lld",
				collective_algorithms[a].key, (long long)g->n, (long long)g->elements, (long long)r,
				(long long)i);
	}
	for (int64_t r = 0; r < g->n; r++)
		sum_sent += sent[r];
	ck_assert_int_eq(sum_sent, c.sent_elements);
	ck_assert_int_eq(c.sent_elements, sent_by_formula(a, g->n, g->elements, g->per_node));
	ck_assert_int_eq(c.steps, collective_algorithms[a].steps(g));
}

START_TEST(every_algorithm_gives_every_rank_the_sum)
{
	static const int64_t sizes[] = { 1, 64, 101 };

	for (int a = 0; a < ALGORITHM_COUNT; a++)
		for (int64_t n = 1; n <= RANKS_MAX; n++)
			for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
				for (int64_t w = 1; w <= n; w++) {
					struct collective_group g = { .n = n, .per_node = w, .elements = sizes[i] };

					if ((a != ALGORITHM_HIERARCHICAL && w > 1) ||
						!collective_possible((enum collective_algorithm)a, &g))
						continue;
					check_collective((enum collective_algorithm)a, &g);
				}
}
END_TEST

/* Steps by the textbook; the busiest rank where n divides everything. */
START_TEST(steps_and_bytes_per_rank_are_the_textbook_ones)
{
	static double v[64 * 64];
	int64_t sent[64];

	for (int64_t n = 2; n <= 64; n *= 2) {
		struct collective_group g = { .n = n, .per_node = 2, .elements = 64 };
		struct collective_state state = { .v = v, .held = 64 };
		int64_t k = 0;

		while ((1 << k) < n)
			k++;
		ck_assert_int_eq(collective_algorithms[ALGORITHM_RING].steps(&g), 2 * (n - 1));
		ck_assert_int_eq(collective_algorithms[ALGORITHM_TREE].steps(&g), 2 * k);
		ck_assert_int_eq(collective_algorithms[ALGORITHM_HALVING].steps(&g), 2 * k);
		ck_assert_int_eq(collective_algorithms[ALGORITHM_HIERARCHICAL].steps(&g), 2 + 2 * (n / 2 - 1));
		ck_assert_int_eq(collective_run(ALGORITHM_RING, &g, &state, sent, NULL, 4, NULL, NULL).most_sent_elements,
			2 * (n - 1) * 64 / n);
		ck_assert_int_eq(collective_run(ALGORITHM_HALVING, &g, &state, sent, NULL, 4, NULL, NULL).most_sent_elements,
			2 * (n - 1) * 64 / n);
		ck_assert_int_eq(
			collective_run(ALGORITHM_TREE, &g, &state, sent, NULL, 4, NULL, NULL).most_sent_elements, k * 64);
	}
}
END_TEST

/* Held elements: pieces partition them, whatever the sizes. */
START_TEST(a_sample_of_the_elements_is_cut_like_the_elements)
{
	for (int64_t elements = 1; elements < 300; elements += 13)
		for (int64_t held = 1; held <= elements; held += 5)
			for (int64_t parts = 1; parts < 40; parts += 3) {
				struct collective_group g = { .n = parts, .per_node = 1, .elements = elements };
				int64_t at = 0;

				for (int64_t c = 0; c < parts; c++) {
					int64_t q = elements / parts, rest = elements % parts,
						from = c * q + (c < rest ? c : rest);
					int64_t to = (c + 1) * q + (c + 1 < rest ? c + 1 : rest), first;
					int64_t end = collective_held(&g, held, from, to - from, &first);

					if (from == to)
						continue;
					CHECK(first == at && end >= first);
					at = end;
				}
				ck_assert_int_eq(at, held);
			}
}
END_TEST

START_TEST(allreduce_of_many_sizes)
{
	static const int sizes[] = { 1, 2, 3, 5, 8, 13, 16, 31, 64 };

	for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
		for (int elements = 1; elements < 100; elements += 33)
			for (int a = 0; a < 3; a++) {
				char settings[200];

				(void)snprintf(settings, sizeof settings, "gpus=%d;elements=%d;algorithm=%s;values=%s;seed=%d",
					sizes[n], elements, collective_algorithms[a].key, elements % 2 == 0 ? "whole" : "real",
					elements);
				lab_fixture_prove("allreduce", settings);
			}
}
END_TEST

START_TEST(allreduce_with_1024_ranks_and_ten_million_elements)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "allreduce", "gpus=1024;elements=10000000;gpus-per-node=8;algorithm=hierarchical");
	lab_fixture_proven(&f, "large");
	ck_assert_int_lt(f.size.bytes, INT64_C(256) << 20);
	/* 2 (N - 1)/N S, S = 40 MB, pieces of 9765 or 9766 elements. */
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "sent_bytes"), 2 * 1023.0 / 1024 * 40e6, 1e4);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(allreduce_takes_the_time_of_the_planner)
{
	struct lab_fixture f;
	struct links k;

	lab_fixture_run(&f, "allreduce", "gpus=16;elements=1000000;gpus-per-node=8");
	k = comm_links(&f.draft.s);
	k.domain = 8;
	ck_assert(lab_fixture_fact(&f, "comm_s") == comm_collective_s(&k, COLLECTIVE_ALL_REDUCE, 16, 4e6, 1));
	lab_fixture_free(&f);
}
END_TEST

START_TEST(dp_of_many_sizes)
{
	static const int gpus[] = { 1, 2, 3, 4, 5, 7, 8, 13, 16, 31 }, batches[] = { 1, 2, 5, 16, 33 };

	for (size_t n = 0; n < sizeof gpus / sizeof gpus[0]; n++)
		for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++)
			for (int layers = 1; layers < 4; layers++) {
				char settings[200];

				(void)snprintf(settings, sizeof settings,
					"gpus=%d;batch=%d;layers=%d;inputs=%d;width=%d;outputs=%d;seed=%d", gpus[n], batches[b],
					layers, 1 + layers, 3 + gpus[n] % 5, 1 + batches[b] % 3, batches[b]);
				lab_fixture_prove("dp", settings);
			}
}
END_TEST

/* D = 484 doubles; 4 GPUs send 2 x 3/4 D each; memory does not depend on N. */
START_TEST(dp_counts_bytes_and_saves_no_memory)
{
	struct lab_fixture one, four;

	lab_fixture_run(&one, "dp", "gpus=1");
	lab_fixture_run(&four, "dp", "gpus=4");
	ck_assert(lab_fixture_fact(&four, "sent_bytes") == 2 * 3.0 / 4 * 484 * 8);
	ck_assert(lab_fixture_fact(&one, "sent_bytes") == 0);
	ck_assert(lab_fixture_fact(&one, "state_bytes") == lab_fixture_fact(&four, "state_bytes"));
	lab_fixture_free(&one);
	lab_fixture_free(&four);
}
END_TEST

/* Shards of one size: the mean of means is the mean but for rounding; else it is not. */
START_TEST(dp_shows_what_unequal_shards_do_to_means)
{
	struct lab_fixture even, uneven;

	lab_fixture_run(&even, "dp", "gpus=4;batch=32");
	lab_fixture_run(&uneven, "dp", "gpus=4;batch=33");
	ck_assert(lab_fixture_fact(&even, "means_difference") < 1e-14);
	ck_assert(lab_fixture_fact(&uneven, "means_difference") > 1e-4);
	lab_fixture_free(&even);
	lab_fixture_free(&uneven);
}
END_TEST

START_TEST(tp_of_many_sizes)
{
	static const int gpus[] = { 1, 2, 3, 4, 5, 7, 8, 16, 37 };

	for (size_t n = 0; n < sizeof gpus / sizeof gpus[0]; n++)
		for (int heads = 1; heads <= 4; heads++)
			for (int values = 0; values < 2; values++) {
				char settings[200];

				(void)snprintf(settings, sizeof settings,
					"gpus=%d;tokens=%d;hidden=%d;heads=%d;ffn=%d;vocab=%d;values=%s;seed=%d", gpus[n],
					1 + heads * 2, heads * 6, heads, 5 + gpus[n], 2 + 7 * heads,
					values == 0 ? "whole" : "real", heads);
				lab_fixture_prove("tp", settings);
			}
}
END_TEST

START_TEST(tp_is_exact_to_the_bit_on_whole_numbers)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "tp", "gpus=8;tokens=32;hidden=64;heads=8;ffn=128;vocab=100");
	for (int32_t i = 0; i < 4; i++)
		ck_assert(f.run.claims[i].difference == 0 && f.run.claims[i].tolerance == 0);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(accum_of_many_sizes)
{
	static const int gpus[] = { 1, 2, 3, 5, 8 }, steps[] = { 1, 2, 3, 7, 16 };

	for (size_t n = 0; n < sizeof gpus / sizeof gpus[0]; n++)
		for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
			for (int size = 1; size < 6; size += 2) {
				char settings[200];

				(void)snprintf(settings, sizeof settings, "gpus=%d;accumulate=%d;micro-batch=%d;seed=%d", gpus[n],
					steps[k], size, size);
				lab_fixture_prove("accum", settings);
			}
}
END_TEST

START_TEST(accum_sends_k_times_less_and_batch_norm_breaks_it)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "accum", "gpus=4;accumulate=5");
	ck_assert(lab_fixture_fact(&f, "each_bytes") == 5 * lab_fixture_fact(&f, "once_bytes"));
	ck_assert(lab_fixture_fact(&f, "once_bytes") == 2 * 3.0 / 4 * 484 * 8);
	ck_assert(lab_fixture_fact(&f, "batch_norm") > 1e-3);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(moe_of_many_sizes)
{
	static const struct {
		int experts, ep, etp;
	} shapes[] = { { 1, 1, 1 }, { 2, 1, 2 }, { 6, 3, 1 }, { 8, 8, 1 }, { 8, 4, 4 }, { 13, 13, 2 }, { 64, 8, 1 } };

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (int topk = 1; topk <= 8 && topk <= shapes[i].experts; topk++)
			for (int tokens = 1; tokens < 80; tokens += 26) {
				char settings[200];

				(void)snprintf(settings, sizeof settings,
					"tokens=%d;experts=%d;topk=%d;ep=%d;etp=%d;capacity=%s;skew=%d;seed=%d", tokens,
					shapes[i].experts, topk, shapes[i].ep, shapes[i].etp, tokens % 2 == 0 ? "1.25" : "0",
					topk, tokens);
				lab_fixture_prove("moe", settings);
			}
}
END_TEST

/* No limit: nothing is dropped. One expert: everything goes there. A capacity below the mean must drop. */
START_TEST(moe_drops_what_is_above_the_capacity)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "moe", "capacity=0;skew=3");
	ck_assert(lab_fixture_fact(&f, "dropped") == 0);
	lab_fixture_free(&f);
	lab_fixture_run(&f, "moe", "tokens=64;experts=8;topk=2;capacity=0.5");
	/* Capacity 8 of a mean of 16: at most 64 of 128 choices stay. */
	ck_assert(lab_fixture_fact(&f, "capacity") == 8 && lab_fixture_fact(&f, "dropped") >= 50);
	lab_fixture_free(&f);
	lab_fixture_run(&f, "moe", "experts=1;topk=1;ep=1;capacity=1");
	ck_assert(lab_fixture_fact(&f, "dropped") == 0 && lab_fixture_fact(&f, "imbalance") == 1 &&
		lab_fixture_fact(&f, "dispatch_bytes") == 0);
	lab_fixture_free(&f);
}
END_TEST

/* 671B of which 58 x 256 experts of 3 x 7168 x 2048; 8 of 256 active: 37B (DeepSeek-V3, abstract). */
START_TEST(moe_knows_total_and_active_parameters)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "moe", "");
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "active") / 1e9, 37, 1);
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "routed") / 1e9, 654, 1);
	lab_fixture_free(&f);
}
END_TEST

/* A row of a step by its label. */
static void find_row(const struct lab_fixture *f, int64_t k, const char *label, struct lab_row *row)
{
	struct lab_step s;

	lab_step(&f->run, k, &s);
	for (int64_t r = 0; r < s.rows; r++) {
		lab_row(&f->run, k, r, row);
		if (strcmp(row->label, label) == 0)
			return;
	}
	ck_abort_msg("no row %s", label);
}

/* Llama 3 70B on H100: inside the node the exchange is the smaller part, over two nodes it is half. */
START_TEST(tp_leaves_the_node_badly)
{
	struct lab_fixture f;
	struct lab_row two, eight, sixteen;

	lab_fixture_run(&f, "tp", "");
	ck_assert(lab_fixture_fact(&f, "link_bps") == 450e9 && lab_fixture_fact(&f, "network_bps") == 50e9);
	find_row(&f, 1, "tp 2", &two);
	find_row(&f, 1, "tp 8", &eight);
	find_row(&f, 1, "tp 16", &sixteen);
	ck_assert(two.value[2] < eight.value[2] && eight.value[2] < sixteen.value[2]);
	ck_assert_str_eq(eight.text, "");
	ck_assert_str_eq(sixteen.text, "over 2 nodes");
	/* Twice the GPUs over the network take longer for the same sum, and compute half. */
	ck_assert(sixteen.value[0] > 1.4 * eight.value[0]);
	ck_assert_double_eq_tol(sixteen.value[1], eight.value[1] / 2, 0.03 * eight.value[1]);
	lab_fixture_free(&f);
}
END_TEST

/* 8 GPUs in 2 nodes of 4, S = 32 bytes: the ring crosses in 14 steps at 2 places with 4 bytes, the hierarchical one 2 (2 - 1) S.
 */
START_TEST(allreduce_counts_what_leaves_the_nodes)
{
	struct lab_fixture f;
	struct lab_row row;

	lab_fixture_run(&f, "allreduce", "gpus=8;gpus-per-node=4;elements=8;element-bytes=4");
	find_row(&f, 0, "ring", &row);
	ck_assert(row.value[3] == 14 * 2 * 4);
	find_row(&f, 0, "hierarchical", &row);
	ck_assert(row.value[3] == 2 * 32);
	find_row(&f, 0, "tree", &row);
	ck_assert(row.value[3] == 2 * 32);
	lab_fixture_proven(&f, "two nodes");
	lab_fixture_free(&f);
}
END_TEST

/* The split that was run is a row of the table, and says what the facts say. */
START_TEST(moe_splits_count_what_was_run)
{
	static const char *const settings[] = { "ep=4;etp=1", "ep=2;etp=2", "ep=1;etp=4", "ep=4;etp=4;capacity=0" };
	static const char *const labels[] = { "ep 4, etp 1", "ep 2, etp 2", "ep 1, etp 4", "ep 4, etp 4" };

	for (size_t i = 0; i < 4; i++) {
		struct lab_fixture f;
		struct lab_row row;

		lab_fixture_run(&f, "moe", settings[i]);
		find_row(&f, 3, labels[i], &row);
		ck_assert(row.value[0] == 2 * lab_fixture_fact(&f, "dispatch_bytes"));
		ck_assert(row.value[1] == lab_fixture_fact(&f, "etp_bytes"));
		lab_fixture_free(&f);
	}
}
END_TEST

/* Halved once for every step that was skipped; each change is the scale of the next one. */
START_TEST(dynamic_scale_changes_are_those_of_the_run)
{
	struct lab_fixture f;
	struct lab_row row, next;
	struct lab_step s;
	int64_t skipped = 0;

	lab_fixture_run(&f, "precision", "");
	lab_step(&f.run, 3, &s);
	ck_assert_int_gt(s.rows, 2);
	for (int64_t r = 0; r < s.rows; r++) {
		lab_row(&f.run, 3, r, &row);
		const bool halved = strstr(row.text, "halved") != NULL;

		skipped += halved;
		if (r + 1 < s.rows) {
			lab_row(&f.run, 3, r + 1, &next);
			ck_assert(next.value[1] == row.value[1] * (halved ? 0.5 : 2));
		}
	}
	ck_assert_double_eq((double)skipped, lab_fixture_fact(&f, "skipped"));
	lab_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lab_parallel");
	TCase *t = tcase_create("lab_parallel");

	tcase_add_test(t, random_numbers_are_spread_and_depend_on_everything);
	tcase_add_test(t, matrix_products_equal_the_definition);
	tcase_add_test(t, gradients_of_the_network_are_slopes);
	tcase_add_test(t, every_algorithm_gives_every_rank_the_sum);
	tcase_add_test(t, steps_and_bytes_per_rank_are_the_textbook_ones);
	tcase_add_test(t, a_sample_of_the_elements_is_cut_like_the_elements);
	tcase_add_test(t, allreduce_of_many_sizes);
	tcase_add_test(t, allreduce_with_1024_ranks_and_ten_million_elements);
	tcase_add_test(t, allreduce_takes_the_time_of_the_planner);
	tcase_add_test(t, dp_of_many_sizes);
	tcase_add_test(t, dp_counts_bytes_and_saves_no_memory);
	tcase_add_test(t, dp_shows_what_unequal_shards_do_to_means);
	tcase_add_test(t, tp_of_many_sizes);
	tcase_add_test(t, tp_is_exact_to_the_bit_on_whole_numbers);
	tcase_add_test(t, accum_of_many_sizes);
	tcase_add_test(t, accum_sends_k_times_less_and_batch_norm_breaks_it);
	tcase_add_test(t, moe_of_many_sizes);
	tcase_add_test(t, moe_drops_what_is_above_the_capacity);
	tcase_add_test(t, moe_knows_total_and_active_parameters);
	tcase_add_test(t, tp_leaves_the_node_badly);
	tcase_add_test(t, allreduce_counts_what_leaves_the_nodes);
	tcase_add_test(t, moe_splits_count_what_was_run);
	tcase_add_test(t, dynamic_scale_changes_are_those_of_the_run);
	suite_add_tcase(s, t);
	return test_run(s);
}
