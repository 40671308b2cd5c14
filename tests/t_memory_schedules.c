/* What a schedule does to memory: which rank holds which stages, embedding and head, and what waits between I and W. */
#include "support.h"

#include "memory.h"
#include "num.h"
#include "plan.h"
#include "rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODEL                                                                                                                    \
	"moe-stride=1;layers=32;hidden=4096;heads=32;attention-type=mha;kv-heads=32;head-dim=128;ffn=16384;vocab=64000;max-seq=" \
	"2048;gated-mlp=off;"                                                                                                    \
	"tied-embeddings=off;norm=layernorm;norm-bias=on;norms-per-layer=2;final-norm=on;bias=on;positions=2048;gpu=a100-sxm-"   \
	"80gb;gpus=8;"                                                                                                           \
	"profile=megatron-seaai-fp16;pp=8;zero=1;sequence-parallel=off;precision=fp16;seq=2048;micro-batch=1;global-batch=64;"   \
	"recompute=none;dropout=0;"

static void stages_of(const char *knobs, struct stage_memory *out, int64_t n)
{
	struct draft d;
	struct err e;

	test_draft(&d, knobs);
	ck_assert_msg(scenario_check(&d.s, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	for (int64_t i = 0; i < n; i++)
		ck_assert(memory_stage(&d.s, i, &out[i], &e) == ERR_OK);
}

/* 64000 x 4096 twice, 2048 positions, final norm of 2 x 4096. */
START_TEST(on_a_v_rank_0_has_embedding_and_head)
{
	struct stage_memory s[8];
	double ends = 2 * 64000.0 * 4096 + 2048.0 * 4096 + 2 * 4096;

	stages_of(MODEL "vpp=2;schedule=v-half", s, 8);
	for (int i = 1; i < 8; i++) {
		ck_assert_int_eq(s[i].layers, 4);
		ck_assert_double_eq_tol(s[i].dense_params, s[0].dense_params - ends, 1);
		ck_assert(s[i].term[TERM_LOGITS] <= 0);
		/* Half of 1F1B: (p + 2) / 2 micro-batches of both legs. */
		ck_assert_double_eq_tol(s[i].in_flight, 5, 1e-12);
	}
}
END_TEST

/* Rank r holds stages r and 7 - r, so parameters twice; both ends have embedding and head. */
START_TEST(dualpipe_holds_parameters_twice)
{
	struct stage_memory one[8], two[8];

	stages_of(MODEL "schedule=1f1b", one, 8);
	stages_of(MODEL "schedule=dualpipe", two, 8);
	for (int r = 0; r < 8; r++) {
		ck_assert_double_eq_tol(two[r].dense_params, one[r].dense_params + one[7 - r].dense_params, 1);
		ck_assert_int_eq(two[r].layers, 8);
		/* p + 1 = 9 micro-batches of one stage, of two stages 4.5. */
		ck_assert_double_eq_tol(two[r].in_flight, 4.5, 1e-12);
	}
}
END_TEST

/* zb-h1: p - r whole ones; r more wait for W with 32 bytes per hidden element and layer. */
START_TEST(split_backwards_keep_inputs_and_output_gradients)
{
	struct stage_memory one[8], split[8];
	double u = 2048.0 * 4096;

	stages_of(MODEL "schedule=1f1b", one, 8);
	stages_of(MODEL "schedule=zb-h1", split, 8);
	for (int r = 0; r < 8; r++) {
		ck_assert_double_eq_tol(split[r].term[TERM_SAVED], one[r].term[TERM_SAVED], 1);
		if (split[r].instant == INSTANT_FULL_IN_FLIGHT)
			ck_assert_double_eq_tol(split[r].term[TERM_PENDING], 32 * u * 4 * r, 1);
		ck_assert_double_eq_tol(split[r].in_flight, 8, 1e-12);
	}
	ck_assert_double_eq_tol(split[1].term[TERM_PENDING], 32 * u * 4, 1);
}
END_TEST

/* Replays a rank's list and keeps the most that memory_activations_of says. */
struct replay {
	const struct scenario *s;
	const struct memory_shared *sh;
	int64_t rank;
	struct chunk_peak held[4];
	double most;
};

static void replay_action(void *ctx, const struct action *a)
{
	struct replay *r = ctx;
	struct chunk_peak *h = &r->held[pipeline_chunk_at(&r->sh->pipeline, r->rank, a->stage)];

	h->whole += a->kind == ACTION_FORWARD;
	r->most = fmax(r->most, memory_activations_of(r->s, r->sh, r->rank, r->held, false));
	h->whole -= a->kind == ACTION_BACKWARD || a->kind == ACTION_INPUT;
	h->pending += (a->kind == ACTION_INPUT) - (a->kind == ACTION_WEIGHT);
	ck_assert(h->whole >= 0 && h->pending >= 0);
}

/* Over the whole order the bytes of what is held rise to the figure of the plan and end at none, however unequal the chunks of a
 * rank are, and also where what waits for W weighs more than what waits for I. */
START_TEST(what_is_held_at_an_instant_rises_to_the_peak_of_the_plan)
{
	static const char *const rows[] = {
		MODEL "recompute=none;schedule=1f1b;layers=37",
		MODEL "dropout=0.1;schedule=1f1b;layers=37",
		MODEL "recompute=full;schedule=1f1b;layers=37",
		MODEL "schedule=zb-h1",
		MODEL "vpp=2;schedule=interleaved",
		MODEL "vpp=2;schedule=interleaved;layers=37",
		MODEL "vpp=4;schedule=interleaved;stage-layers=2,2,2,2,2,2,2,2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0",
		MODEL "vpp=2;schedule=interleaved;dropout=0.1",
		MODEL "vpp=2;schedule=zb1p-interleaved;layers=37",
		MODEL "vpp=2;schedule=zb-v",
		MODEL "vpp=2;schedule=zb-v;recompute=full;layers=37",
		MODEL "vpp=2;schedule=zb-v;global-batch=6",
		MODEL "schedule=dualpipe;layers=37",
		MODEL "vpp=2;schedule=dualpipev;layers=37",
	};
	struct memory_shared sh;
	struct order o;
	struct draft d;
	struct err e;
	void *workspace;

	test_draft(&d, rows[_i]);
	ck_assert_msg(scenario_check(&d.s, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	memory_prepare(&d.s, &sh);
	workspace = malloc((size_t)order_workspace_bytes(&sh.pipeline) + 1);
	ck_assert(order_generate(&sh.pipeline, workspace, &o, &e) == ERR_OK);
	for (int64_t rank = 0; rank < sh.pipeline.p; rank++) {
		struct replay r = { .s = &d.s, .sh = &sh, .rank = rank };
		struct stage_memory m;
		double plan;

		memory_stage_of(&d.s, &sh, rank, &m);
		order_each(&o, rank, replay_action, &r);
		ck_assert(memory_activations_of(&d.s, &sh, rank, r.held, false) <= 0);
		plan = m.term[TERM_SAVED] + m.term[TERM_PENDING] + m.term[TERM_STAGE_HIDDEN] + m.term[TERM_EMBEDDING_MASK];
		if (m.instant == INSTANT_FULL_IN_FLIGHT || m.instant == INSTANT_LOSS || m.instant == INSTANT_HEAD_GRADIENT)
			ck_assert_msg(fabs(r.most / plan - 1) <= 1e-9, "rank %d: %g of %g", (int)rank, r.most, plan);
	}
	free(workspace);
}
END_TEST

/* The plan says which figures are stated, and has the bubble of each schedule. */
START_TEST(the_plan_knows_what_is_exact)
{
	static const struct {
		const char *knobs;
		double over_ideal;
		bool stated;
		const char *diagnostic;
	} rows[] = {
		{ MODEL "schedule=1f1b", 7.0 / 64, false, NULL },
		{ MODEL "schedule=zb-h1", 7.0 / 192, false, "schedule-stated" },
		{ MODEL "schedule=zb-2p", 7.0 / 192, true, "schedule-stated" },
		{ MODEL "vpp=2;schedule=zb-v", 7.0 / 384, false, NULL },
		{ MODEL "vpp=2;schedule=v-half", 17.0 / 384, true, "schedule-stated" },
	};
	struct draft d;
	struct plan p;
	struct err e;
	const char *found = NULL;

	test_draft(&d, rows[_i].knobs);
	ck_assert_msg(plan_evaluate(&d.s, &p, &e) == ERR_OK, "%s: %s", e.where, e.msg);
	ck_assert_double_eq_tol(p.bubble_over_ideal, rows[_i].over_ideal, 1e-12);
	ck_assert(p.bubble_is_stated == rows[_i].stated);
	for (int64_t i = 0; i < p.n_diagnostics; i++)
		if (strstr(p.diagnostics[i].id, "stated") != NULL)
			found = p.diagnostics[i].id;
	ck_assert_msg((found == NULL) == (rows[_i].diagnostic == NULL), "%s", found);
}
END_TEST

START_TEST(frameworks_have_their_schedules)
{
	static const struct {
		const char *knobs;
		int32_t schedule;
		bool has;
	} rows[] = {
		{ "framework=fsdp", SCHEDULE_ZB_V, true },
		{ "framework=fsdp", SCHEDULE_DUALPIPEV, true },
		{ "framework=fsdp", SCHEDULE_LOOPED_BFS, true },
		{ "framework=fsdp", SCHEDULE_ZB1P_INTERLEAVED, true },
		{ "framework=fsdp", SCHEDULE_V_MIN, false },
		{ "framework=fsdp", SCHEDULE_DUALPIPE, false },
		{ "framework=megatron", SCHEDULE_ZB_H1, false },
		{ "framework=megatron", SCHEDULE_INTERLEAVED, true },
		{ "profile=megatron-seaai-fp16", SCHEDULE_ZB_H1, true },
		{ "profile=megatron-seaai-fp16", SCHEDULE_DUALPIPE, true },
		{ "profile=megatron-seaai-fp16", SCHEDULE_NAIVE, false },
		{ "framework=deepspeed", SCHEDULE_INTERLEAVED, false },
		{ "framework=lesson", SCHEDULE_V_HALF, true },
		{ "framework=zero-paper", SCHEDULE_DUALPIPEV, true },
	};
	struct draft d;

	test_draft(&d, rows[_i].knobs);
	ck_assert(((rules_schedules(&d.s) >> rows[_i].schedule & 1) != 0) == rows[_i].has);
}
END_TEST

/* PyTorch makes the group from the micro-batches, Megatron-LM takes p and refuses what it does not divide. */
START_TEST(frameworks_have_their_groups)
{
	struct draft d;
	struct err e;

	test_draft(&d,
		"model=llama3-8b;gpu=H100;gpus=4;framework=fsdp;zero=3;pp=4;vpp=2;schedule=interleaved;micro-batch=1;global-"
		"batch=10;seq=2048");
	ck_assert_msg(scenario_check(&d.s, &e) == ERR_OK, "%s", e.msg);
	ck_assert_int_eq(scenario_pipeline(&d.s).group, 5);
	test_draft(&d,
		"model=llama3-8b;gpu=H100;gpus=4;framework=megatron;pp=4;vpp=2;schedule=interleaved;micro-batch=1;global-batch="
		"10;seq=2048");
	ck_assert(scenario_check(&d.s, &e) == ERR_ILLEGAL);
	ck_assert_str_eq(e.where, "micro-batch");
	test_draft(&d,
		"model=llama3-8b;gpu=H100;gpus=4;framework=megatron;pp=4;vpp=2;schedule=interleaved;micro-batch=1;global-batch=2;"
		"seq=2048");
	ck_assert(scenario_check(&d.s, &e) == ERR_ILLEGAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memory_schedules");
	TCase *t = tcase_create("schedules");

	tcase_add_test(t, on_a_v_rank_0_has_embedding_and_head);
	tcase_add_test(t, dualpipe_holds_parameters_twice);
	tcase_add_test(t, split_backwards_keep_inputs_and_output_gradients);
	tcase_add_loop_test(t, what_is_held_at_an_instant_rises_to_the_peak_of_the_plan, 0, 14);
	tcase_add_loop_test(t, the_plan_knows_what_is_exact, 0, 5);
	tcase_add_loop_test(t, frameworks_have_their_schedules, 0, 14);
	tcase_add_test(t, frameworks_have_their_groups);
	suite_add_tcase(s, t);
	return test_run(s);
}
