/* Sharded states, checkpointed activations, offloaded optimizers: the same weights and gradients over many sizes, bytes and times
 * by formula. */
#include "lab_fixture.h"

#include "plan.h"

#include <math.h>

START_TEST(fsdp_of_many_sizes)
{
	static const int gpus[] = { 1, 2, 3, 5, 8, 13, 32 }, batches[] = { 1, 3, 16 };

	for (size_t n = 0; n < sizeof gpus / sizeof gpus[0]; n++)
		for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++)
			for (int layers = 1; layers < 5; layers++) {
				char settings[200];

				(void)snprintf(settings, sizeof settings,
					"gpus=%d;batch=%d;layers=%d;inputs=%d;width=%d;outputs=3;zero=%d;prefetch=%s;seed=%d",
					gpus[n], batches[b], layers, 1 + batches[b], 2 + gpus[n] % 7, layers % 4,
					layers % 2 == 0 ? "on" : "off", layers);
				lab_fixture_prove("fsdp", settings);
			}
}
END_TEST

/* 1088 parameters on 4 GPUs, all divisible: 16 bytes each, of which 12/4; 14/4; 16/4 stay. */
START_TEST(fsdp_states_follow_the_zero_paper)
{
	static const double bytes[] = { 16, 4 - 0.5 + 12.0 / 4 - 1, 2 + 14.0 / 4, 16.0 / 4 };

	for (int z = 0; z < 4; z++) {
		struct lab_fixture f;
		char settings[40];

		(void)snprintf(settings, sizeof settings, "zero=%d", z);
		lab_fixture_run(&f, "fsdp", settings);
		ck_assert(lab_fixture_fact(&f, "params") == 1088);
		ck_assert_msg(
			lab_fixture_fact(&f, "state") == bytes[z] * 1088, "zero %d: %g", z, lab_fixture_fact(&f, "state") / 1088);
		lab_fixture_free(&f);
	}
}
END_TEST

/* With prefetch one layer more is gathered; nothing else changes. */
START_TEST(fsdp_prefetch_holds_one_layer_more)
{
	struct lab_fixture off, on;
	double most[2] = { 0, 0 };
	struct lab_fixture *const runs[] = { &off, &on };

	lab_fixture_run(&off, "fsdp", "zero=3;prefetch=off");
	lab_fixture_run(&on, "fsdp", "zero=3;prefetch=on");
	for (int i = 0; i < 2; i++)
		for (int64_t k = 1; k < runs[i]->run.steps; k++) {
			struct lab_row row;

			lab_row(&runs[i]->run, k, 0, &row);
			most[i] = fmax(most[i], row.value[1]);
		}
	/* A layer: 272 parameters, 2 bytes, 3/4 of them from elsewhere. */
	ck_assert(most[0] == 272 * 2 * 0.75 && most[1] == 2 * most[0]);
	ck_assert(lab_fixture_fact(&on, "prefetch_s") <= lab_fixture_fact(&on, "serial_s"));
	lab_fixture_free(&off);
	lab_fixture_free(&on);
}
END_TEST

START_TEST(checkpoint_of_many_sizes)
{
	for (int layers = 1; layers < 14; layers++)
		for (int every = 0; every <= layers; every++) {
			char settings[200];

			(void)snprintf(settings, sizeof settings, "layers=%d;every=%d;width=%d;ffn=%d;batch=%d;seed=%d", layers,
				every, 1 + layers % 5, 1 + every, 1 + layers % 3, every);
			lab_fixture_prove("checkpoint", settings);
		}
}
END_TEST

/* 16 blocks of 8 + 16 numbers, 4 samples: all 16 x 24 x 4 x 8 bytes; K = 1: 16 inputs and one inside. */
START_TEST(checkpoint_counts_what_is_stored)
{
	struct lab_fixture f;

	lab_fixture_run(&f, "checkpoint", "every=1");
	ck_assert(lab_fixture_fact(&f, "all_bytes") == 16 * 24 * 4 * 8);
	ck_assert(lab_fixture_fact(&f, "peak_bytes") == (16 * 8 + 16) * 4 * 8);
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "extra"), 100.0 / 3, 1e-9);
	ck_assert(fabs(lab_fixture_fact(&f, "best") - lab_fixture_fact(&f, "root")) < 1);
	lab_fixture_free(&f);
}
END_TEST

/* The curve of the real model is what plan_evaluate says. */
START_TEST(checkpoint_asks_the_planner_about_the_real_model)
{
	struct lab_fixture f;
	struct scenario s;
	struct plan p;
	struct lab_row row;
	struct err e;

	lab_fixture_run(&f, "checkpoint", "");
	s = f.draft.s;
	s.training.recompute = RECOMPUTE_FULL;
	s.training.recompute_every = 1;
	ck_assert(plan_evaluate(&s, &p, &e) == ERR_OK);
	lab_row(&f.run, 1, 1, &row);
	ck_assert_str_eq(row.label, "K = 1");
	ck_assert(row.value[0] == (double)p.worst.category[MEMORY_ACTIVATIONS] && row.value[1] == (double)p.worst.need_bytes);
	lab_fixture_free(&f);
}
END_TEST

START_TEST(offload_of_many_sizes)
{
	static const int pieces[] = { 1, 2, 3, 16, 101, 1024 };

	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
		for (int gpus = 1; gpus < 70; gpus += 23)
			for (int target = 0; target < 2; target++) {
				char settings[200];

				(void)snprintf(settings, sizeof settings,
					"pieces=%d;gpus=%d;gpus-per-node=8;target=%s;tokens=%d;seed=%d", pieces[i], gpus,
					target == 0 ? "cpu" : "nvme", 1 + gpus * 1000, gpus);
				lab_fixture_prove("offload", settings);
			}
}
END_TEST

/* The lesson's exercise 5: 70B. Without offload 840 GB need 11 cards of 80 GB, two nodes, with it 280 GB need 4; 560 GB do not
 * fit into 512.
 */
START_TEST(offload_lets_70b_train_on_four_gpus)
{
	struct lab_fixture f;
	struct lab_row row;

	lab_fixture_run(&f, "offload", "");
	ck_assert(lab_fixture_fact(&f, "gpus") == 11 && lab_fixture_fact(&f, "whole_gpus") == 16 &&
		lab_fixture_fact(&f, "offload_gpus") == 4);
	lab_row(&f.run, 0, 0, &row);
	ck_assert(row.value[0] == 70e9);
	lab_row(&f.run, 0, 1, &row);
	ck_assert(row.value[0] == 560e9);
	ck_assert_str_eq(row.text, "over by 48.0 GB");
	/* 6 x 70e9 x 4096 / (40 % of 989.4e12). */
	ck_assert_double_eq_tol(lab_fixture_fact(&f, "compute_s"), 4.34683, 1e-4);
	lab_fixture_free(&f);
}
END_TEST

static void find_rate(const struct lab_fixture *f, const char *key, struct lab_row *row)
{
	struct lab_step s;

	lab_step(&f->run, 1, &s);
	for (int64_t r = 0; r < s.rows; r++) {
		lab_row(&f->run, 1, r, row);
		if (strcmp(row->label, key) == 0)
			return;
	}
	ck_abort_msg("no rate %s", key);
}

/* Presets of the scenario, a given value above them, an assumption where neither says anything. */
START_TEST(offload_rates_follow_the_hardware_and_say_so)
{
	static const struct {
		const char *key;
		double value;
		const char *text;
	} cases[] = {
		{ "pcie-gbs", 12.6, "V100" }, /* 0.8 x 15.75 */
		{ "hbm-gbs", 900, "V100" }, { "nvme-read-gbs", 3, "given" }, { "nvme-write-gbs", 5, "mine" },
		{ "host-gb", 512, "exercise 5" }, { "cpu-adam", 3.9, "table 4" },
		{ "gpu-tflops", 125, "40 %" }, /* no bf16: as assumed */
	};
	struct lab_fixture f;
	struct lab_row row;
	struct err e;

	ck_assert(lab_fixture_input(&f, "offload", "nvme-read-gbs=3", &e) == ERR_OK);
	(void)snprintf(f.draft.s.cluster.gpu.label, sizeof f.draft.s.cluster.gpu.label, "V100");
	(void)snprintf(f.draft.s.cluster.node.label, sizeof f.draft.s.cluster.node.label, "mine");
	f.draft.s.cluster.gpu.pcie_gen = 3;
	f.draft.s.cluster.gpu.mem_bw_bps = 900e9;
	f.draft.s.cluster.gpu.bf16_flops = 0;
	f.draft.s.cluster.node.nvme_read_bps = 7e9;
	f.draft.s.cluster.node.nvme_write_bps = 5e9;
	lab_input_follow(&f.input, &f.draft.s);
	lab_fixture_go(&f, "");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		find_rate(&f, cases[i].key, &row);
		ck_assert_msg(fabs(row.value[0] - cases[i].value) < 1e-9, "%s: %g", cases[i].key, row.value[0]);
		ck_assert_msg(strstr(row.text, cases[i].text) != NULL, "%s: %s", cases[i].key, row.text);
	}
	lab_fixture_free(&f);
}
END_TEST

/* At the number of tokens that is stated, the share is 5 %. */
START_TEST(offload_says_when_it_stops_mattering)
{
	struct lab_fixture f;
	struct lab_row row;
	char settings[60];

	lab_fixture_run(&f, "offload", "");
	(void)snprintf(settings, sizeof settings, "tokens=%.0f", lab_fixture_fact(&f, "tokens"));
	lab_fixture_free(&f);
	lab_fixture_run(&f, "offload", settings);
	lab_row(&f.run, 2, 2, &row);
	ck_assert_double_eq_tol(row.value[1] / lab_fixture_fact(&f, "compute_s"), 0.05, 1e-4);
	lab_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lab_memory");
	TCase *t = tcase_create("lab_memory");

	tcase_add_test(t, fsdp_of_many_sizes);
	tcase_add_test(t, fsdp_states_follow_the_zero_paper);
	tcase_add_test(t, fsdp_prefetch_holds_one_layer_more);
	tcase_add_test(t, checkpoint_of_many_sizes);
	tcase_add_test(t, checkpoint_counts_what_is_stored);
	tcase_add_test(t, checkpoint_asks_the_planner_about_the_real_model);
	tcase_add_test(t, offload_of_many_sizes);
	tcase_add_test(t, offload_lets_70b_train_on_four_gpus);
	tcase_add_test(t, offload_rates_follow_the_hardware_and_say_so);
	tcase_add_test(t, offload_says_when_it_stops_mattering);
	suite_add_tcase(s, t);
	return test_run(s);
}
