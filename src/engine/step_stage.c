/* What one micro-batch costs on every stage, and how long ranks wait for each other. */
#include "step_internal.h"

#include "memory.h"
#include "schedule.h"

#include <math.h>
#include <string.h>

/* Bytes per element of embedding (forward, backward) and of logits and loss together. */
#define EMBEDDING_FORWARD 6
#define EMBEDDING_BACKWARD 10
#define LOSS_BYTES 18
/* Broadcasts of the batch per end of the model, and bytes per token of each. */
#define BATCH_SENDS 2
#define BATCH_BYTES 8

/* A layer, or one of the ends, of one micro-batch. */
struct work {
	double forward_s, input_s, weight_s; /* input: recompute included */
};

static void add(struct stage_cost *stage, double n, struct work w)
{
	stage->forward_s += n * w.forward_s;
	stage->input_s += n * w.input_s;
	stage->weight_s += n * w.weight_s;
}

static double total(struct work w)
{
	return w.forward_s + w.input_s + w.weight_s;
}

/* What a stage with an end of the model gets of the batch before context parallelism cuts it: tokens and positions, or labels and
 * the mask of the loss. Src: Megatron-LM megatron/training/utils.py get_batch_on_this_tp_rank. */
static double batch_s(const struct step_model *m)
{
	double tokens = m->tokens * (double)m->s->layout.cp;

	return m->s->profile.tp_broadcasts_batch ? BATCH_SENDS * comm_broadcast_s(&m->links, m->tp, BATCH_BYTES * tokens, 1) : 0;
}

static struct work embedding(const struct step_model *m, double gathered)
{
	double elements = m->tokens * m->hidden;

	bool frozen = m->s->training.adapter != ADAPTER_NONE;

	return (struct work){ compute_bytes_s(&m->device, EMBEDDING_FORWARD * elements) + gathered + batch_s(m),
		frozen ? 0 : compute_bytes_s(&m->device, EMBEDDING_BACKWARD * elements), 0 };
}

/* Head and loss. Tensor parallelism gathers the input of the head, forward and for its gradient, and exchanges the statistics of
 * the softmax. */
static struct work head(const struct step_model *m, double gathered)
{
	double T = m->tokens, t = m->tp;
	struct gemm_times g = compute_linear(&m->device, GEMM_16, T, m->padded_vocab / t, m->hidden);
	double loss = compute_bytes_s(&m->device, LOSS_BYTES / 2.0 * T * m->padded_vocab / t);
	double statistics = comm_all_reduce_s(&m->links, t, 4 * T, 1) / m->s->coefficients.v[m->s->profile.tp_rate];
	bool sp = m->s->layout.sequence_parallel;

	return (struct work){ g.forward + loss + statistics + (sp ? gathered : 0) + batch_s(m), g.input + loss + gathered,
		m->s->training.adapter == ADAPTER_NONE ? g.weight : 0 };
}

static struct work layer(const struct layer_time *y)
{
	return (struct work){ y->forward_s, y->input_s + y->recompute_s, y->weight_s };
}

/* The layers of every stage, those that have experts apart: leading dense layers are where they are. */
static void place_layers(const struct scenario *s, struct stage_costs *c)
{
	struct stage_list list;
	int64_t first = 0;

	(void)memory_stage_layers(s, &list);
	c->n = list.n;
	for (int32_t i = 0; i < list.n; i++) {
		double moe = (double)model_moe_layers(&s->model, first, list.layers[i]);

		c->stage[i] = (struct stage_cost){ .dense = list.layers[i] - moe, .moe = moe };
		first += list.layers[i];
	}
	/* Layers for multi-token prediction sit behind the last stage. */
	*(model_layer_is_moe(&s->model, s->model.layers - 1) ? &c->stage[list.n - 1].moe : &c->stage[list.n - 1].dense) +=
		(double)s->model.mtp_layers;
}

struct stage_cost step_rank_cost(const struct pipeline *pl, const struct stage_costs *c, int64_t rank)
{
	struct stage_cost sum = { 0 };
	double share = pipeline_placement(pl) == PLACEMENT_BIDIRECTIONAL ? 0.5 : 1;

	for (int64_t k = 0; k < pipeline_chunks_held(pl); k++) {
		const struct stage_cost *x = &c->stage[pipeline_stage_of(pl, rank, k)];

		sum.dense += share * x->dense;
		sum.moe += share * x->moe;
		sum.forward_s += share * x->forward_s;
		sum.input_s += share * x->input_s;
		sum.weight_s += share * x->weight_s;
	}
	return sum;
}

void step_find_slowest(const struct pipeline *pl, const struct stage_costs *c, struct step_time *out)
{
	for (int64_t i = 0; i < pl->p; i++) {
		struct stage_cost rank = step_rank_cost(pl, c, i);
		double x = step_cost_total(&rank);

		if (x > out->stage_max_s) {
			out->stage_max_s = x;
			out->slowest_stage = i;
			out->dense_layers = rank.dense;
			out->moe_layers = rank.moe;
		}
		out->stage_sum_s += x;
	}
}

void step_stages(const struct step_model *m, const struct pipeline *pl, struct stage_costs *c, struct step_time *out)
{
	double gathered = step_tp_exchange_s(m);
	struct work first = embedding(m, gathered), last = head(m, gathered), dense = layer(&out->dense), moe = layer(&out->moe);

	out->embedding_s = total(first);
	out->head_s = total(last);
	place_layers(m->s, c);
	for (int32_t i = 0; i < c->n; i++) {
		add(&c->stage[i], c->stage[i].dense, dense);
		add(&c->stage[i], c->stage[i].moe, moe);
	}
	add(&c->stage[0], 1, first);
	add(&c->stage[c->n - 1], 1 + (double)m->s->model.mtp_layers, last);
	step_find_slowest(pl, c, out);
}
