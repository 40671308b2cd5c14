/* plan_evaluate as a whole: splits, verdict, phases, host memory, and what must move which way. */
#include "support.h"

#include "hardware.h"
#include "memory.h"
#include "num.h"
#include "plan.h"
#include "profile.h"
#include "search.h"
#include "units.h"

#include <math.h>
#include <string.h>

/* Uniform where it divides; embedding and head as a layer each where that divides; else short stages first and last. */
static const struct split_case {
	const char *knobs;
	int32_t used;                /* enum pp_split */
	int64_t first, middle, last; /* layers of these chunks */
} splits[] = {
	{ "model=llama3-70b;gpus=8;pp=8", PP_SPLIT_UNIFORM, 10, 10, 10 },
	{ "model=llama3.1-405b;gpus=16;pp=16", PP_SPLIT_EMBED_HEAD, 7, 8, 7 }, /* 126 + 2 = 16 x 8 */
	{ "model=llama3.1-405b;gpus=16;pp=16;vpp=8;schedule=interleaved", PP_SPLIT_EMBED_HEAD, 0, 1, 0 },
	{ "model=bloom-176b;gpus=12;pp=12", PP_SPLIT_EMBED_HEAD, 5, 6, 5 }, /* 70 + 2 = 12 x 6 */
	{ "model=deepseek-v3;gpus=16;pp=16;mtp-layers=0", PP_SPLIT_AUTO, 3, 4,
		3 }, /* 61 = 16 x 4 - 3: two short stages in front, one behind */
	/* Src: Megatron-Bridge recipes/deepseek/deepseek_v3.py, pipeline layouts. */
	{ "model=deepseek-v3;gpus=16;pp=16", PP_SPLIT_AUTO, 4, 4, 1 },
	{ "model=deepseek-v3;gpus=8;pp=8", PP_SPLIT_AUTO, 8, 8, 5 },
	{ "model=deepseek-v3;gpus=4;pp=4", PP_SPLIT_AUTO, 16, 16, 13 },
	{ "model=llama3.1-405b;gpus=18;pp=18;pp-split=uniform", PP_SPLIT_UNIFORM, 7, 7, 7 },
	{ "model=llama3-8b;gpus=2;pp=2;pp-split=embed-head", PP_SPLIT_EMBED_HEAD, 16, 16, 16 },
	{ "model=llama3-8b;gpus=4;pp=4;stage-layers=5,9,9,9", PP_SPLIT_AUTO, 5, 9, 9 },
};

START_TEST(layers_are_split_by_the_stated_rules)
{
	const struct split_case *k = &splits[_i];
	char knobs[300];
	struct draft d;
	struct stage_list list;
	int64_t sum = 0;

	(void)snprintf(knobs, sizeof knobs, "gpu=H100;%s;framework=megatron;zero=0;global-batch=576", k->knobs);
	test_draft(&d, knobs);
	(void)test_plan(knobs);
	ck_assert_int_eq(memory_stage_layers(&d.s, &list), k->used);
	ck_assert_int_eq(list.n, d.s.layout.pp * d.s.layout.vpp);
	for (int32_t i = 0; i < list.n; i++)
		sum += list.layers[i];
	ck_assert_int_eq(sum, d.s.model.layers);
	ck_assert_int_eq(list.layers[0], k->first);
	ck_assert_int_eq(list.layers[list.n - 1], k->last);
	ck_assert_int_eq(list.layers[list.n / 2], k->middle);
}
END_TEST

#define BASE "model=llama3-8b;gpu=H100;seq=4096;"

/* need = (states + the largest instant + workspace + context) x 1.03, in GPU memory as CUDA hands it out. */
START_TEST(need_is_allocated_and_context_and_margin)
{
	struct plan p = test_plan(BASE "gpus=8;framework=megatron;tp=2;zero=1;micro-batch=1;global-batch=8");
	double expected = 1.03 * ((double)p.worst.allocated_bytes + p.worst.term[TERM_CONTEXT]);

	ck_assert_double_eq_tol((double)p.worst.need_bytes, expected, 16);
	ck_assert_int_eq(p.verdict.need_bytes, p.worst.need_bytes);
	ck_assert_int_eq(p.verdict.have_bytes, num_round(79.15 * UNITS_GIB));
	ck_assert_int_eq(p.verdict.headroom_bytes, p.verdict.have_bytes - p.verdict.need_bytes);
}
END_TEST

/* Fits with less than 5 % of the card free: tight. */
START_TEST(tight_is_less_than_five_percent_free)
{
	struct plan p = test_plan(BASE "gpus=8;framework=megatron;tp=2;zero=1;micro-batch=1;global-batch=8");
	struct draft d;
	struct err e;

	test_draft(&d, BASE "gpus=8;framework=megatron;tp=2;zero=1;micro-batch=1;global-batch=8");
	d.s.cluster.gpu_mem_bytes = p.verdict.need_bytes; /* exactly full */
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK && p.verdict.fits && p.verdict.tight);
	d.s.cluster.gpu_mem_bytes = num_round((double)p.verdict.need_bytes / 0.951);
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK && p.verdict.fits && p.verdict.tight);
	d.s.cluster.gpu_mem_bytes = num_round((double)p.verdict.need_bytes / 0.949);
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK && p.verdict.fits && !p.verdict.tight);
	d.s.cluster.gpu_mem_bytes = p.verdict.need_bytes - 1;
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK && !p.verdict.fits && !p.verdict.tight);
	ck_assert_int_eq(p.verdict.limit, LIMIT_GPU_MEMORY);
	ck_assert_int_eq(p.verdict.headroom_bytes, -1);
}
END_TEST

START_TEST(an_unknown_card_gives_no_verdict)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d, "model=llama3-8b;gpus=8;framework=megatron;zero=0;seq=4096;micro-batch=1;global-batch=8");
	ck_assert(plan_evaluate(&d.s, &p, &e) == ERR_OK);
	ck_assert(!p.verdict.known);
	ck_assert_int_eq(p.verdict.limit, LIMIT_UNKNOWN);
	ck_assert_str_eq(verdict_word(&p.verdict), "UNKNOWN");
}
END_TEST

/* Of the figures of a job, which way each may move when one knob does. */
static const struct direction {
	const char *what, *less, *more; /* `more` needs at least as much */
} directions[] = {
	{ "tp", "gpus=8;framework=megatron;tp=8;zero=0;micro-batch=1;global-batch=8",
		"gpus=8;framework=megatron;tp=4;zero=0;micro-batch=1;global-batch=8" },
	{ "sequence-parallel", "gpus=8;framework=megatron;tp=8;zero=0;micro-batch=1;global-batch=8;sequence-parallel=on",
		"gpus=8;framework=megatron;tp=8;zero=0;micro-batch=1;global-batch=8;sequence-parallel=off" },
	{ "cp", "gpus=8;framework=megatron;cp=4;zero=1;micro-batch=1;global-batch=8",
		"gpus=8;framework=megatron;zero=1;micro-batch=1;global-batch=8" },
	{ "zero 0 1", "gpus=8;framework=deepspeed;zero=1;micro-batch=1;global-batch=8",
		"gpus=8;framework=deepspeed;zero=0;micro-batch=1;global-batch=8" },
	{ "zero 2 3", "gpus=8;framework=deepspeed;zero=3;micro-batch=1;global-batch=8",
		"gpus=8;framework=deepspeed;zero=2;micro-batch=1;global-batch=8" },
	{ "dp", "gpus=16;framework=fsdp;zero=3;micro-batch=1;global-batch=16",
		"gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8" },
	{ "micro-batch", "gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=32",
		"gpus=8;framework=fsdp;zero=3;micro-batch=4;global-batch=32" },
	{ "recompute full", "gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8;recompute=full",
		"gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8;recompute=selective" },
	{ "recompute selective", "gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8;recompute=selective",
		"gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8" },
	{ "offload", "gpus=8;framework=deepspeed;zero=2;micro-batch=1;global-batch=8;offload=cpu",
		"gpus=8;framework=deepspeed;zero=2;micro-batch=1;global-batch=8" },
	{ "offload-params", "gpus=8;framework=deepspeed;zero=3;micro-batch=1;global-batch=8;offload=cpu;offload-params=cpu",
		"gpus=8;framework=deepspeed;zero=3;micro-batch=1;global-batch=8;offload=cpu" },
	{ "offload-activations",
		"gpus=8;framework=fsdp;zero=3;micro-batch=4;global-batch=32;recompute=full;offload-activations=on",
		"gpus=8;framework=fsdp;zero=3;micro-batch=4;global-batch=32;recompute=full" },
	{ "flash", "gpus=8;framework=megatron;zero=1;micro-batch=1;global-batch=8",
		"gpus=8;framework=megatron;zero=1;micro-batch=1;global-batch=8;attention=unfused" },
	{ "dropout", "gpus=8;framework=megatron;zero=1;micro-batch=1;global-batch=8",
		"gpus=8;framework=megatron;zero=1;micro-batch=1;global-batch=8;dropout=0.1" },
	{ "lora", "gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8;adapter=lora",
		"gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8" },
	{ "qlora", "gpus=1;framework=fsdp;zero=3;micro-batch=1;global-batch=1;adapter=qlora",
		"gpus=1;framework=fsdp;zero=3;micro-batch=1;global-batch=1;adapter=lora" },
	{ "loss fused", "gpus=8;framework=ddp;zero=0;micro-batch=1;global-batch=8;loss=fused",
		"gpus=8;framework=ddp;zero=0;micro-batch=1;global-batch=8;loss=chunked" },
	{ "loss chunked", "gpus=8;framework=ddp;zero=0;micro-batch=1;global-batch=8;loss=chunked",
		"gpus=8;framework=ddp;zero=0;micro-batch=1;global-batch=8" },
	{ "vpp", "gpus=8;framework=megatron;pp=4;zero=0;micro-batch=1;global-batch=32",
		"gpus=8;framework=megatron;pp=4;vpp=4;schedule=interleaved;zero=0;"
		"micro-batch=1;global-batch=32" },
	{ "gradient accumulation", "gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8",
		"gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=16" },
};

START_TEST(memory_moves_the_right_way)
{
	char less[300], more[300];
	struct plan a, b;

	(void)snprintf(less, sizeof less, BASE "%s", directions[_i].less);
	(void)snprintf(more, sizeof more, BASE "%s", directions[_i].more);
	a = test_plan(less);
	b = test_plan(more);
	ck_assert_msg(a.worst.need_bytes < b.worst.need_bytes, "%s: %lld is not below %lld", directions[_i].what,
		(long long)a.worst.need_bytes, (long long)b.worst.need_bytes);
}
END_TEST

/* Keeping the input of every 4th layer keeps a quarter of them, and rebuilds 4 layers at once. */
START_TEST(recompute_every_trades_inputs_for_a_larger_block)
{
	struct draft d;
	struct stage_memory m1, m4;
	struct err e;

	/* A small vocabulary, so that the layers decide and not the loss. */
	test_draft(&d, BASE "vocab=1024;gpus=8;framework=megatron;zero=1;micro-batch=1;global-batch=8;recompute=full");
	ck_assert(memory_stage(&d.s, 0, &m1, &e) == ERR_OK);
	d.s.training.recompute_every = 4;
	ck_assert(memory_stage(&d.s, 0, &m4, &e) == ERR_OK);
	ck_assert_double_eq_tol(m4.term[TERM_SAVED], m1.term[TERM_SAVED] / 4, 1);
	ck_assert_double_eq_tol(m4.term[TERM_RECOMPUTED_LAYER], 4 * m1.term[TERM_RECOMPUTED_LAYER], 1);
}
END_TEST

/* Phases that alternate are never added; the largest is what the card needs. */
START_TEST(the_largest_phase_is_the_need)
{
	static const char *const lines[] = {
		"gpus=8;framework=megatron;tp=2;pp=2;zero=1;micro-batch=1;global-batch=8",
		"gpus=8;framework=fsdp;zero=3;micro-batch=1;global-batch=8",
		"gpus=8;framework=deepspeed;zero=2;micro-batch=1;global-batch=8;recompute=full",
		"gpus=8;framework=ddp;zero=0;micro-batch=1;global-batch=8",
	};
	char knobs[300];
	struct plan p;
	int64_t most = 0;

	(void)snprintf(knobs, sizeof knobs, BASE "%s", lines[_i]);
	p = test_plan(knobs);
	for (int i = 0; i < PHASE_COUNT; i++) {
		ck_assert_int_gt(p.phase_peak[i], 0);
		most = num_max(most, p.phase_peak[i]);
	}
	ck_assert_double_eq_tol((double)most, (double)p.verdict.need_bytes, 1e-6 * (double)most);
	ck_assert_int_lt(p.phase_peak[PHASE_LOAD], most);
	ck_assert_int_lt(p.phase_peak[PHASE_INIT], most);
}
END_TEST

/* Ranks fill nodes tp, cp, dp innermost: 4 GPUs per node hold whole stages, the fullest node counts. */
START_TEST(host_memory_is_of_the_fullest_node)
{
	struct plan p = test_plan("model=llama3-70b;gpu=A100;gpus=16;gpus-per-node=4;framework=megatron;tp=4;pp=4;zero=1;offload="
				  "cpu;seq=4096;micro-batch=1;"
				  "global-batch=16");
	struct draft d;
	struct stage_memory m;
	struct err e;
	int64_t most = 0;

	test_draft(&d,
		"model=llama3-70b;gpu=A100;gpus=16;gpus-per-node=4;framework=megatron;tp=4;pp=4;zero=1;offload=cpu;seq=4096;"
		"micro-batch=1;global-batch=16");
	for (int64_t i = 0; i < 4; i++) {
		ck_assert(memory_stage(&d.s, i, &m, &e) == ERR_OK);
		most = num_max(most, 4 * m.host_bytes);
	}
	ck_assert_int_eq(p.nodes, 4);
	ck_assert_int_eq(p.host_bytes_per_node, most);
}
END_TEST

/* What search_choose reports is what plan_evaluate says of the draft that it leaves. */
START_TEST(search_and_evaluation_agree)
{
	static const char *const lines[] = {
		"params=70B;gpu=A100;gpus=8",
		"model=llama3-8b;gpu=H100;gpus=8;seq=8192",
		"model=llama3-70b;gpu=H100;gpus=64;framework=megatron",
		"model=mixtral-8x7b;gpu=A100;gpus=16",
		"model=deepseek-v3;gpu=H100;gpus=512",
		"params=7B;gpu=V100;gpus=8;framework=deepspeed",
	};
	struct draft d;
	struct plan chosen, again;
	struct err e;

	test_draft(&d, lines[_i]);
	ck_assert_msg(search_choose(&d, test_catalog(), &chosen, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_msg(plan_evaluate(&d.s, &again, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_int_eq(chosen.verdict.need_bytes, again.verdict.need_bytes);
	ck_assert_int_eq(chosen.verdict.headroom_bytes, again.verdict.headroom_bytes);
	ck_assert_int_eq(chosen.worst.instant, again.worst.instant);
	ck_assert_int_eq(chosen.micro_batches, again.micro_batches);
}
END_TEST

/* What was given stays as it was. */
START_TEST(search_keeps_what_is_given)
{
	struct draft d;
	struct plan p;
	struct err e;

	test_draft(&d,
		"params=70B;gpu=A100;gpus=64;framework=megatron;tp=4;micro-batch=2;seq=2048;global-batch=256;recompute=none;"
		"optimizer=lion");
	ck_assert_msg(search_choose(&d, test_catalog(), &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_int_eq(d.s.layout.tp, 4);
	ck_assert_int_eq(d.s.training.micro_batch, 2);
	ck_assert_int_eq(d.s.training.seq, 2048);
	ck_assert_int_eq(d.s.training.global_batch, 256);
	ck_assert_int_eq(d.s.training.recompute, RECOMPUTE_NONE);
	ck_assert_int_eq(d.s.training.optimizer, OPTIMIZER_LION);
	ck_assert_int_eq(d.s.profile.framework, FRAMEWORK_MEGATRON);
}
END_TEST

static bool says_trained_with(const struct plan *p)
{
	for (int64_t i = 0; i < p->n_diagnostics; i++)
		if (strcmp(p->diagnostics[i].id, "trained-with") == 0)
			return true;
	return false;
}

/* "--tp 4 --pp 12" onto a draft. */
static void set_flags(struct draft *d, const char *flags)
{
	char key[32], value[48];
	int n;
	struct err e;

	for (; sscanf(flags, " --%31s %47s%n", key, value, &n) == 2; flags += n) {
		ck_assert_msg(knob_find(key) != NULL, "%s", key);
		ck_assert_msg(draft_set(d, test_catalog(), knob_find(key), value, ORIGIN_FLAG, &e) == ERR_OK, "%s", e.msg);
	}
	ck_assert_str_eq(flags, "");
}

/* What a note about a model recommends can be typed, gives a plan, and is not recommended again. */
START_TEST(settings_of_the_makers_of_a_model_are_settings)
{
	static const char *const sizes[] = { "96", "384", "992", "2048", "2240" };
	const struct catalog *c = test_catalog();
	size_t known = 0;

	for (size_t i = 0; i < c->n_models; i++) {
		enum err_code code = ERR_ILLEGAL;
		char knobs[128];
		struct draft d;
		struct plan p;
		struct err e = { 0 };

		if (c->models[i].trained_with[0] == '\0')
			continue;
		known++;
		for (size_t n = 0; n < sizeof sizes / sizeof sizes[0] && code != ERR_OK; n++) {
			(void)snprintf(knobs, sizeof knobs, "model=%s;gpu=H100;gpus=%s", c->models[i].id, sizes[n]);
			test_draft(&d, knobs);
			set_flags(&d, c->models[i].trained_with);
			draft_settle(&d, c);
			code = search_choose(&d, c, &p, &e);
		}
		ck_assert_msg(code == ERR_OK, "%s: %s", c->models[i].id, e.msg);
		ck_assert_msg(!says_trained_with(&p), "%s", c->models[i].id);
		(void)snprintf(knobs, sizeof knobs, "model=%s;gpu=H100;gpus=2048;framework=fsdp;profile=torchtitan-2026",
			c->models[i].id);
		p = test_plan(knobs);
		ck_assert_msg(says_trained_with(&p), "%s", c->models[i].id);
	}
	ck_assert_uint_ge(known, 5);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

/* What a preset may say of its machine: the members of these tables. */
static const struct preset_part {
	const struct field_table *fields;
	size_t offset;
} preset_parts[] = {
	{ &gpu_fields, offsetof(struct scenario, cluster.gpu) },
	{ &node_fields, offsetof(struct scenario, cluster.node) },
	{ &gpu_family_fields, offsetof(struct scenario, cluster.family) },
	{ &coefficients_fields, offsetof(struct scenario, coefficients) },
	{ &profile_fields, offsetof(struct scenario, profile) },
};

static const char *const machines[] = {
	"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4",
	"model=mixtral-8x7b;gpu=H100;gpus=64;framework=megatron;precision=fp8;tp=2;ep=8",
	"model=gpt2-1.5b;gpu=A100;gpus=16;framework=fsdp;zero=3",
};

static void set_member(const struct field *f, double value, char *in)
{
	const double real = value * field_unit_scale(f->unit);
	const int64_t whole = (int64_t)value;

	if (f->type == FIELD_REAL)
		memcpy(in + f->offset, &real, sizeof real);
	else
		memcpy(in + f->offset, &whole, sizeof whole);
}

/* Slow or fast without sense, but a time. */
static void check_times(const struct scenario *s, const char *what, const char *key, double value)
{
	struct plan p;

	if (plan_evaluate(s, &p, NULL) != ERR_OK || !p.step.known)
		return;
	ck_assert_msg(isfinite(p.step.step_s) && p.step.step_s > 0, "%s %s %g: %g s", what, key, value, p.step.step_s);
	for (int i = 0; i < STEP_PART_COUNT; i++)
		ck_assert_msg(isfinite(p.step.part_s[i]) && p.step.part_s[i] >= 0, "%s %s %g: %s %g s", what, key, value,
			step_part_table[i].key, p.step.part_s[i]);
}

START_TEST(every_machine_that_a_preset_may_describe_has_a_step_that_takes_time)
{
	struct draft d;

	test_draft(&d, machines[_i]);
	for (size_t t = 0; t < sizeof preset_parts / sizeof preset_parts[0]; t++)
		for (size_t i = 0; i < preset_parts[t].fields->n; i++) {
			const struct field *f = &preset_parts[t].fields->rows[i];
			const double ends[] = { f->min, f->max, f->required ? f->min : 0,
				f->type == FIELD_REAL && f->min <= 0 ? 1e-12 : f->min };

			for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
				struct scenario s = d.s;

				if (f->type != FIELD_REAL && f->type != FIELD_INT)
					continue;
				set_member(f, ends[k], (char *)&s + preset_parts[t].offset);
				check_times(&s, preset_parts[t].fields->what, f->key, ends[k]);
			}
		}
	memset(d.s.cluster.family.fp8_curve, 0, sizeof d.s.cluster.family.fp8_curve);
	check_times(&d.s, "gpu_family", "fp8 curve", 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");
	TCase *t = tcase_create("plan");

	tcase_add_loop_test(t, layers_are_split_by_the_stated_rules, 0, COUNT(splits));
	tcase_add_test(t, need_is_allocated_and_context_and_margin);
	tcase_add_test(t, tight_is_less_than_five_percent_free);
	tcase_add_test(t, an_unknown_card_gives_no_verdict);
	tcase_add_loop_test(t, memory_moves_the_right_way, 0, COUNT(directions));
	tcase_add_test(t, recompute_every_trades_inputs_for_a_larger_block);
	tcase_add_loop_test(t, the_largest_phase_is_the_need, 0, 4);
	tcase_add_test(t, host_memory_is_of_the_fullest_node);
	tcase_add_loop_test(t, search_and_evaluation_agree, 0, 6);
	tcase_add_test(t, search_keeps_what_is_given);
	tcase_add_loop_test(t, every_machine_that_a_preset_may_describe_has_a_step_that_takes_time, 0,
		(int)(sizeof machines / sizeof machines[0]));
	tcase_add_test(t, settings_of_the_makers_of_a_model_are_settings);
	suite_add_tcase(s, t);
	return test_run(s);
}
