/* What holds for the time of any plan: 10,000 scenarios drawn at random, all frameworks, schedules, precisions, GPUs with curves.
 */
#include "schedule_fixture.h"

#include "plan.h"

#include <math.h>

enum { DRAWS = 12000, LEGAL_AT_LEAST = 2000 };

static const char *pick(uint64_t *state, const char *const *from, int64_t n)
{
	return from[random_below(state, n)];
}
#define PICK(list) pick(state, list, (int64_t)(sizeof(list) / sizeof((list)[0])))

static int64_t power(uint64_t *state, int64_t most)
{
	return INT64_C(1) << random_below(state, most + 1);
}

/* A scenario as two spellings. */
static void draw(uint64_t *state, char *one, char *other, size_t cap)
{
	static const char *const models[] = { "llama3-8b", "llama3-70b", "llama3.1-405b", "gpt2-1.5b", "gpt3-175b", "gemma2-2b",
		"mixtral-8x7b", "deepseek-v2-lite", "deepseek-v3", "qwen3-30b-a3b", "llama4-maverick", "gpt-oss-20b" };
	static const char *const gpus[] = { "v100-sxm2-32gb", "a100-sxm-80gb", "h100-sxm-80gb", "h800-sxm-80gb", "b200-180gb",
		"gb300-288gb" };
	static const char *const profiles[] = { "megatron-lm", "megatron-core", "megatron-bridge", "nemo-2025", "hai-llm",
		"megatron-seaai-fp16", "torchtitan-2026", "fsdp-2023", "deepspeed", "deepspeed-zero3", "ddp", "maxtext",
		"composer-fsdp1" };
	static const char *const precisions[] = { "bf16", "bf16", "fp16", "fp8", "mxfp8", "fp32" };
	static const char *const recomputes[] = { "none", "none", "selective", "full" };
	static const char *const offloads[] = { "", "", "", "", "offload=cpu;", "offload=cpu;offload-params=cpu;",
		"offload-activations=on;" };
	const char *model = PICK(models), *gpu = PICK(gpus), *profile = PICK(profiles), *precision = PICK(precisions),
		   *recompute = PICK(recomputes), *offload = PICK(offloads);
	int64_t pp = random_below(state, 3) == 0 ? 1 : power(state, 4),
		schedule = pp == 1 || random_below(state, 2) == 0 ? SCHEDULE_1F1B : random_below(state, SCHEDULE_COUNT);
	const struct schedule_info *info = &schedule_table[schedule];
	int64_t v = info->v_max <= 2 ? info->v_max : info->v_min + random_below(state, 3), tp = power(state, 3);
	int64_t cp = random_below(state, 6) == 0 ? 2 : 1, dp = power(state, 5),
		ep = random_below(state, 2) == 0 ? 1 : power(state, 4);
	int64_t m = power(state, 5) * (random_below(state, 4) == 0 ? 3 : 1), b = power(state, 2), seq = 1024 * power(state, 3);
	long long zero = (long long)random_below(state, 4), group = random_below(state, 8) == 0 ? 8 : 0;
	char layout[300], training[300];

	(void)snprintf(layout, sizeof layout, "tp=%lld;pp=%lld;vpp=%lld;cp=%lld;ep=%lld;schedule=%s;zero=%lld;zero-group=%lld",
		(long long)tp, (long long)pp, (long long)v, (long long)cp, (long long)ep, info->key, zero, group);
	(void)snprintf(training, sizeof training, "precision=%s;recompute=%s;%smicro-batch=%lld;global-batch=%lld;seq=%lld",
		precision, recompute, offload, (long long)b, (long long)(b * m * dp), (long long)seq);
	(void)snprintf(one, cap, "model=%s;gpu=%s;gpus=%lld;profile=%s;%s;%s", model, gpu, (long long)(tp * pp * cp * dp),
		profile, layout, training);
	(void)snprintf(other, cap, "profile=%s;%s;gpus=%lld;%s;gpu=%s;model=%s", profile, training,
		(long long)(tp * pp * cp * dp), layout, gpu, model);
}

static bool evaluated(const char *knobs, struct draft *d, struct plan *p)
{
	struct err e;

	if (test_try_draft(d, knobs, &e) != ERR_OK)
		return false;
	draft_settle(d, test_catalog());
	return plan_evaluate(&d->s, p, &e) == ERR_OK && p->step.known;
}

static bool told(const struct plan *p, const char *id)
{
	for (int64_t i = 0; i < p->n_diagnostics; i++)
		if (strcmp(p->diagnostics[i].id, id) == 0)
			return true;
	return false;
}

static void ck_adds_up(const char *knobs, const struct plan *p)
{
	const struct step_time *t = &p->step;
	double sum = 0;

	ck_assert_msg(isfinite(t->step_s) && t->step_s > 0, "%s: %g s", knobs, t->step_s);
	for (int i = 0; i < STEP_PART_COUNT; i++) {
		ck_assert_msg(isfinite(t->part_s[i]) && t->part_s[i] >= 0, "%s: %s is %g s", knobs, step_part_table[i].key,
			t->part_s[i]);
		sum += t->part_s[i];
	}
	ck_assert_msg(fabs(sum / t->step_s - 1) < 1e-12, "%s: parts %g s, step %g s", knobs, sum, t->step_s);
	for (int i = 0; i < TRAFFIC_COUNT; i++) {
		const struct traffic_time *x = &t->traffic[i];

		ck_assert_msg(isfinite(x->seconds) && x->exposed_s >= 0 && x->exposed_s <= x->seconds,
			"%s: %s %g s, exposed %g s", knobs, traffic_names[i], x->seconds, x->exposed_s);
		ck_assert_msg((x->calls > 0) == (x->bytes_per_gpu > 0) && (x->calls > 0 || x->seconds <= 0), "%s: %s", knobs,
			traffic_names[i]);
	}
	ck_assert_msg(t->stage_max_s * (double)p->micro_batches <= t->step_s && t->stage_max_s <= t->stage_sum_s * (1 + 1e-12) &&
			t->window_forward_s + t->window_backward_s <= t->stage_max_s * (1 + 1e-12) && t->norm_s <= t->optimizer_s,
		"%s", knobs);
	ck_assert_msg(isfinite(p->throughput.hfu) && p->throughput.hfu >= p->throughput.mfu &&
			(p->throughput.hfu <= 1 || told(p, "mfu-above-one")),
		"%s: HFU %g", knobs, p->throughput.hfu);
}

/* A larger multiply fills more multiprocessors: for tiny ones the wave correction on top of the measured curve can win so much.
 */
#define TILES 0.05
enum { LONGER_SEQUENCE = 1, WIDER_MLP = 4, SLOWER_PART = 6, CHANGES = 14 };

/* More work, or a slower part. */
static const char *change(int which, struct scenario *s)
{
	static const char *const what[] = { "twice the batch", "twice the sequence", "twice the layers", "twice the vocabulary",
		"twice the MLP", "a prediction layer more", "half the network", "half the memory bandwidth", "half the link",
		"half the peak", "half the peak in 8 bit", "twice the latency across nodes", "full recomputation",
		"offloaded activations" };

	switch (which) {
	case 0:
		s->training.global_batch *= 2;
		break;
	case 1:
		s->training.seq *= 2;
		break;
	case 2:
		s->model.layers *= 2;
		break;
	case 3:
		s->model.vocab *= 2;
		break;
	case 4:
		s->model.ffn *= 2;
		s->model.expert_ffn *= 2;
		break;
	case 5:
		s->model.mtp_layers += s->layout.pp == 1;
		break;
	case 6:
		s->cluster.nic_gbs = comm_links(s).nic_bps / s->coefficients.v[COEF_NIC] / 2e9;
		break;
	case 7:
		s->cluster.gpu.mem_bw_bps /= 2;
		break;
	case 8:
		s->cluster.gpu.link_bps /= 2;
		break;
	case 9:
		s->cluster.gpu.fp16_flops /= 2;
		s->cluster.gpu.fp32_flops /= 2;
		break;
	case 10:
		s->cluster.gpu.fp8_flops /= 2;
		break;
	case 11:
		s->coefficients.v[COEF_LATENCY_NODE] *= 2;
		break;
	case 12:
		if (!s->training.offload_activations) /* it leaves less to move */
			s->training.recompute = RECOMPUTE_FULL;
		break;
	case 13:
		s->training.offload_activations = 1;
		break;
	default:
		ck_abort();
	}
	return what[which];
}

/* Where the host bounds an expert layer, or copies of activations bound any, its time hardly grows, so what weight gradients get
 * more, input gradients get less: an order that splits them may gain. */
static bool excused(int which, const struct scenario *s)
{
	return which >= SLOWER_PART && (model_is_moe(&s->model) || s->training.offload_activations) &&
		schedule_table[s->layout.schedule].splits;
}

START_TEST(random_scenarios_obey_the_laws)
{
	uint64_t state = 4711;
	int64_t legal = 0;

	for (int64_t n = 0; n < test_rounds(DRAWS); n++) {
		char knobs[700], other[700];
		struct draft d, e;
		struct plan p, q;
		const char *what;

		draw(&state, knobs, other, sizeof knobs);
		if (!evaluated(knobs, &d, &p))
			continue;
		legal++;
		ck_adds_up(knobs, &p);
		ck_assert_msg(evaluated(other, &e, &q) && memcmp(&p.step, &q.step, sizeof p.step) == 0 &&
				memcmp(&p.throughput, &q.throughput, sizeof p.throughput) == 0,
			"%s: not the same bits as %s", knobs, other);
		for (int i = 0; i < CHANGES; i++) {
			struct scenario s = d.s;
			struct err err;

			what = change(i, &s);
			if (plan_evaluate(&s, &q, &err) == ERR_OK && !excused(i, &s))
				ck_assert_msg(q.step.step_s >=
						p.step.step_s * (1 - (i == LONGER_SEQUENCE || i == WIDER_MLP ? TILES : 1e-9)),
					"%s: %s makes the step %g instead of %g s", knobs, what, q.step.step_s, p.step.step_s);
		}
	}
	ck_assert_int_ge(legal, test_rounds(LEGAL_AT_LEAST));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("time laws");
	TCase *t = tcase_create("laws");

	tcase_add_test(t, random_scenarios_obey_the_laws);
	suite_add_tcase(s, t);
	return test_run(s);
}
