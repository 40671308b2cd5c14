/* One layer of a transformer, cut: each function computes the shard of one GPU, forward and backward; the whole layer is the
 * shard that holds everything. A shard is what lies from `from` to `to` - 1 along the cut. */
#ifndef MESHPLAN_LAB_TP_LAYER_H
#define MESHPLAN_LAB_TP_LAYER_H

#include "lab_math.h"

/* Sizes, inputs and scratch of a layer. Owns nothing. */
struct tp_layer {
	int64_t tokens, hidden, ffn, heads, head, vocab;
	bool whole; /* whole numbers: attention then has no softmax */
	double *x, *a, *dy,
		*w;      /* inputs [tokens][widest]: of most parts, of the row part; upstream gradient; weights of one part */
	int64_t *target; /* [tokens]: words */
	double *q, *k, *v, *o, *dq, *dk, *dv, *dout, *score, *dscore; /* attention; h and dh of the MLP */
	double *most, *sum;                                           /* vocabulary: per token */
};

/* What one way of computing a part leaves behind. */
struct tp_result {
	struct matrix y, dx; /* output, gradient of the input */
	double *dw;          /* gradients of the weights of the part, one matrix after the other */
	double loss;
};

/* A matrix of zeros in v. */
struct matrix matrix_fresh(double *v, int64_t rows, int64_t cols);

/* Columns from .. to of X W, and what flows back. Y and dW land in their columns; dX is this shard's part of the sum. */
void tp_column_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);
/* Rows from .. to of W against the same columns of the input A. Y is a part of the sum; dX and dW land in their places. */
void tp_row_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);
/* Columns from .. to of W1, ReLU, the same rows of W2. Both Y and dX are parts of sums. */
void tp_mlp_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);
/* Heads from .. to. */
void tp_attention_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);
/* Logits of the words from .. to, and their share of maximum and sum. The passes stand for the all-reduces between them. */
void tp_vocab_logits(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);
void tp_vocab_sums(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);
/* Loss of the targets that this shard owns, and gradients; the logits' gradient stays local. */
void tp_vocab_backward(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r);

#endif
