/* Parameters: parts that sum, shapes from a size, which layers have experts. */
#include "support.h"

#include "model.h"

#include <math.h>
#include <string.h>

static struct model model_of(const char *id)
{
	const struct model *m;
	struct err e;

	ck_assert_msg(catalog_model(test_catalog(), id, &m, &e) == ERR_OK, "%s", e.msg);
	return *m;
}

/* Embedding, layers, final norm, head: what the stages hold is what the model has. */
START_TEST(parts_sum_to_the_total)
{
	const struct catalog *c = test_catalog();

	for (size_t i = 0; i < c->n_models; i++) {
		const struct model *m = &c->models[i];
		struct layer_params dense = model_layer_params(m, false), moe = model_layer_params(m, true);
		int64_t experts = model_moe_layers(m, 0, m->layers);
		int64_t sum = model_embedding_params(m) + model_head_params(m) + model_final_norm_params(m) +
			m->mlp_extra_params + (m->layers - experts) * layer_params_total(&dense) +
			experts * layer_params_total(&moe);

		ck_assert_msg(sum == model_params(m), "%s: parts are %lld, total %lld", m->id, (long long)sum,
			(long long)model_params(m));
		ck_assert_int_le(model_active_params(m), model_params(m));
		ck_assert(model_is_moe(m) || model_active_params(m) == model_params(m));
	}
}
END_TEST

/* Llama 3 8B by hand: 128256 x 4096 twice; per layer 4096 x (4096 + 2 x 1024) + 4096 x 4096 + 3 x 4096 x 14336 + 2 x 4096; 4096
 * at the end. */
START_TEST(llama3_8b_by_hand)
{
	struct model m = model_of("llama3-8b");
	int64_t layer = 4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 14336 + 2 * 4096;

	ck_assert_int_eq(model_params(&m), 2LL * 128256 * 4096 + 32 * layer + 4096);
	ck_assert_int_eq(model_params(&m), 8030261248);
}
END_TEST

/* Mixtral 8x7B: 8 experts of 3 x 4096 x 14336, of which 2 are active: 46.7 B and 12.9 B. */
START_TEST(mixtral_by_hand)
{
	struct model m = model_of("mixtral-8x7b");
	int64_t expert = 3LL * 4096 * 14336, rest = 4096 * (4096 + 2 * 1024) + 4096 * 4096 + 8 * 4096 + 2 * 4096;

	ck_assert_int_eq(model_params(&m), 2LL * 32000 * 4096 + 32 * (rest + 8 * expert) + 4096);
	ck_assert_int_eq(model_params(&m) - model_active_params(&m), 32 * 6 * expert);
}
END_TEST

/* DeepSeek-V3's attention: down 7168 x 1536 and 7168 x (512 + 64), their norms, up 1536 x 128 x 192 and 512 x 128 x 256, out 128
 * x 128 x 7168. */
START_TEST(mla_by_hand)
{
	struct model m = model_of("deepseek-v3");
	struct layer_params p = model_layer_params(&m, false);

	ck_assert_int_eq(p.attention_whole, 7168 * 1536 + 7168 * (512 + 64) + 1536 + 512);
	ck_assert_int_eq(p.attention_split, 1536 * 128 * 192 + 512 * 128 * 256 + 128 * 128 * 7168);
	ck_assert_int_eq(model_params(&m), 671026419200);
	ck_assert_int_gt(model_mtp_params(&m), 11000000000); /* counted apart */
}
END_TEST

START_TEST(leading_layers_and_strides_are_dense)
{
	struct model deepseek = model_of("deepseek-v3"), maverick = model_of("llama4-maverick"), dense = model_of("llama3-8b");

	ck_assert(!model_layer_is_moe(&deepseek, 2) && model_layer_is_moe(&deepseek, 3));
	ck_assert_int_eq(model_moe_layers(&deepseek, 0, 61), 58);
	ck_assert_int_eq(model_moe_layers(&maverick, 0, 48), 24); /* every second layer */
	ck_assert(!model_layer_is_moe(&maverick, 0) && model_layer_is_moe(&maverick, 1));
	ck_assert_int_eq(model_moe_layers(&dense, 0, 32), 0);
}
END_TEST

/* The ladder of Llama-like shapes: exactly the size asked for, and sane. */
START_TEST(a_size_becomes_a_shape_of_exactly_that_size)
{
	double size = 1e7;

	for (int i = 0; i <= 700; i++, size = 1e7 * pow(10, i / 100.0)) {
		int64_t params = (int64_t)size;
		struct model m;
		struct err e;

		ck_assert_msg(model_from_params(params, &m, &e) == ERR_OK, "%lld: %s", (long long)params, e.msg);
		ck_assert_msg(model_params(&m) == params, "%lld became %lld", (long long)params, (long long)model_params(&m));
		ck_assert_msg(model_check(&m, &e) == ERR_OK, "%lld: %s: %s", (long long)params, e.where, e.msg);
		ck_assert_int_eq(m.hidden, m.heads * m.head_dim);
		ck_assert_int_eq(m.hidden % 128, 0);
		ck_assert_int_eq(m.heads % m.kv_heads, 0);
	}
}
END_TEST

/* At the rungs of the ladder the shape is that of the family. */
START_TEST(rungs_have_the_familys_width_and_depth)
{
	static const struct {
		int64_t params, layers, hidden;
	} rungs[] = { { 8000000000, 32, 4096 }, { 70000000000, 80, 8192 }, { 405000000000, 126, 16384 } };
	struct model m;
	struct err e;

	ck_assert(model_from_params(rungs[_i].params, &m, &e) == ERR_OK);
	ck_assert_int_eq(m.layers, rungs[_i].layers);
	ck_assert_int_eq(m.hidden, rungs[_i].hidden);
	ck_assert_int_eq(m.vocab, 128256);
}
END_TEST

START_TEST(sizes_outside_the_ladder_are_refused)
{
	static const int64_t sizes[] = { 0, -7000000000, 9999999, 100000000000001, INT64_MAX, INT64_MIN };
	struct model m;
	struct err e = { .code = ERR_OK };

	ck_assert(model_from_params(sizes[_i], &m, &e) == ERR_RANGE);
	ck_assert_str_eq(e.where, "params");
}
END_TEST

/* The difference to the size asked for is spread over the layers in whole parameters. */
START_TEST(extra_parameters_are_spread_evenly)
{
	struct model m = { .layers = 7, .mlp_extra_params = 1000 };

	ck_assert_int_eq(model_extra_before(&m, 0), 0);
	ck_assert_int_eq(model_extra_before(&m, 7), 1000);
	for (int64_t i = 0; i < 7; i++) {
		int64_t share = model_extra_before(&m, i + 1) - model_extra_before(&m, i);

		ck_assert(share == 142 || share == 143);
	}
	m.mlp_extra_params = -1000;
	ck_assert_int_eq(model_extra_before(&m, 7), -1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model");
	TCase *t = tcase_create("model");

	tcase_add_test(t, parts_sum_to_the_total);
	tcase_add_test(t, llama3_8b_by_hand);
	tcase_add_test(t, mixtral_by_hand);
	tcase_add_test(t, mla_by_hand);
	tcase_add_test(t, leading_layers_and_strides_are_dense);
	tcase_add_test(t, a_size_becomes_a_shape_of_exactly_that_size);
	tcase_add_loop_test(t, rungs_have_the_familys_width_and_depth, 0, 3);
	tcase_add_loop_test(t, sizes_outside_the_ladder_are_refused, 0, 6);
	tcase_add_test(t, extra_parameters_are_spread_evenly);
	suite_add_tcase(s, t);
	return test_run(s);
}
