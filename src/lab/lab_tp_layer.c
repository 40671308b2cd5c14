#include "lab_tp_layer.h"

#include <math.h>

struct matrix matrix_fresh(double *v, int64_t rows, int64_t cols)
{
	struct matrix m = matrix_of(v, rows, cols);

	matrix_zero(m);
	return m;
}

void tp_column_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	struct matrix x = matrix_of(t->x, t->tokens, t->hidden), w = matrix_columns(matrix_of(t->w, t->hidden, t->ffn), from, to);
	struct matrix dy = matrix_columns(matrix_of(t->dy, t->tokens, t->ffn), from, to);

	matrix_multiply_add(matrix_columns(r->y, from, to), x, w);
	matrix_multiply_add(r->dx, dy, matrix_transposed(w));
	matrix_multiply_add(matrix_columns(matrix_of(r->dw, t->hidden, t->ffn), from, to), matrix_transposed(x), dy);
}

void tp_row_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	struct matrix a = matrix_columns(matrix_of(t->a, t->tokens, t->ffn), from, to),
		      w = matrix_rows(matrix_of(t->w, t->ffn, t->hidden), from, to);
	struct matrix dy = matrix_of(t->dy, t->tokens, t->hidden);

	matrix_multiply_add(r->y, a, w);
	matrix_multiply_add(matrix_columns(r->dx, from, to), dy, matrix_transposed(w));
	matrix_multiply_add(matrix_rows(matrix_of(r->dw, t->ffn, t->hidden), from, to), matrix_transposed(a), dy);
}

void tp_mlp_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	int64_t width = to - from;
	struct matrix x = matrix_of(t->x, t->tokens, t->hidden), dy = matrix_of(t->dy, t->tokens, t->hidden);
	struct matrix w1 = matrix_columns(matrix_of(t->w, t->hidden, t->ffn), from, to);
	struct matrix w2 = matrix_rows(matrix_of(t->w + t->hidden * t->ffn, t->ffn, t->hidden), from, to);
	struct matrix h = matrix_fresh(t->q, t->tokens, width), dh = matrix_fresh(t->dq, t->tokens, width);

	matrix_multiply_add(h, x, w1);
	for (int64_t i = 0; i < t->tokens * width; i++)
		h.v[i] = h.v[i] > 0 ? h.v[i] : 0;
	matrix_multiply_add(r->y, h, w2);
	matrix_multiply_add(dh, dy, matrix_transposed(w2));
	for (int64_t i = 0; i < t->tokens * width; i++)
		dh.v[i] = h.v[i] > 0 ? dh.v[i] : 0;
	matrix_multiply_add(r->dx, dh, matrix_transposed(w1));
	matrix_multiply_add(matrix_columns(matrix_of(r->dw, t->hidden, t->ffn), from, to), matrix_transposed(x), dh);
	matrix_multiply_add(
		matrix_rows(matrix_of(r->dw + t->hidden * t->ffn, t->ffn, t->hidden), from, to), matrix_transposed(h), dy);
}

/* Each row of scores becomes probabilities. */
static void softmax_rows(struct matrix s)
{
	for (int64_t i = 0; i < s.rows; i++) {
		double most = *matrix_at(s, i, 0), sum = 0;

		for (int64_t j = 1; j < s.cols; j++)
			most = fmax(most, *matrix_at(s, i, j));
		for (int64_t j = 0; j < s.cols; j++) {
			*matrix_at(s, i, j) = exp(*matrix_at(s, i, j) - most);
			sum += *matrix_at(s, i, j);
		}
		for (int64_t j = 0; j < s.cols; j++)
			*matrix_at(s, i, j) /= sum;
	}
}

/* ds: gradient of the probabilities p, becomes that of the scores. */
static void softmax_backward_rows(struct matrix p, struct matrix ds)
{
	for (int64_t i = 0; i < p.rows; i++) {
		double dot = 0;

		for (int64_t j = 0; j < p.cols; j++)
			dot += *matrix_at(p, i, j) * *matrix_at(ds, i, j);
		for (int64_t j = 0; j < p.cols; j++)
			*matrix_at(ds, i, j) = *matrix_at(p, i, j) * (*matrix_at(ds, i, j) - dot);
	}
}

static void scale(struct matrix m, double factor)
{
	for (int64_t i = 0; i < m.rows; i++)
		for (int64_t j = 0; j < m.cols; j++)
			*matrix_at(m, i, j) *= factor;
}

/* One head, columns c .. c + head of q, k, v: output, then the gradients, from dout. */
static void one_head(struct tp_layer *t, int64_t c)
{
	int64_t n = t->tokens, h = t->hidden, d = c + t->head;
	struct matrix q = matrix_columns(matrix_of(t->q, n, h), c, d), k = matrix_columns(matrix_of(t->k, n, h), c, d);
	struct matrix v = matrix_columns(matrix_of(t->v, n, h), c, d), out = matrix_columns(matrix_of(t->o, n, h), c, d);
	struct matrix dout = matrix_columns(matrix_of(t->dout, n, h), c, d), s = matrix_fresh(t->score, n, n),
		      ds = matrix_fresh(t->dscore, n, n);
	double factor = t->whole ? 1 : 1 / sqrt((double)t->head);

	matrix_multiply_add(s, q, matrix_transposed(k));
	scale(s, factor);
	if (!t->whole)
		softmax_rows(s);
	matrix_multiply_add(out, s, v);
	matrix_multiply_add(ds, dout, matrix_transposed(v));
	if (!t->whole)
		softmax_backward_rows(s, ds);
	scale(ds, factor);
	matrix_multiply_add(matrix_columns(matrix_of(t->dv, n, h), c, d), matrix_transposed(s), dout);
	matrix_multiply_add(matrix_columns(matrix_of(t->dq, n, h), c, d), ds, k);
	matrix_multiply_add(matrix_columns(matrix_of(t->dk, n, h), c, d), matrix_transposed(ds), q);
}

void tp_attention_shard(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	int64_t n = t->tokens, h = t->hidden, c = from * t->head, d = to * t->head, square = h * h;
	double *const in[] = { t->q, t->k, t->v }, *const back[] = { t->dq, t->dk, t->dv };
	struct matrix x = matrix_of(t->x, n, h), dy = matrix_of(t->dy, n, h), out = matrix_fresh(t->o, n, h);
	struct matrix wo = matrix_rows(matrix_of(t->w + 3 * square, h, h), c, d);

	for (int i = 0; i < 3; i++) {
		struct matrix m = matrix_fresh(in[i], n, h);

		(void)matrix_fresh(back[i], n, h);
		matrix_multiply_add(matrix_columns(m, c, d), x, matrix_columns(matrix_of(t->w + i * square, h, h), c, d));
	}
	matrix_multiply_add(matrix_columns(matrix_fresh(t->dout, n, h), c, d), dy, matrix_transposed(wo));
	for (int64_t head = from; head < to; head++)
		one_head(t, head * t->head);
	matrix_multiply_add(r->y, matrix_columns(out, c, d), wo);
	matrix_multiply_add(
		matrix_rows(matrix_of(r->dw + 3 * square, h, h), c, d), matrix_transposed(matrix_columns(out, c, d)), dy);
	for (int i = 0; i < 3; i++) {
		struct matrix dm = matrix_columns(matrix_of(back[i], n, h), c, d);

		matrix_multiply_add(r->dx, dm, matrix_transposed(matrix_columns(matrix_of(t->w + i * square, h, h), c, d)));
		matrix_multiply_add(matrix_columns(matrix_of(r->dw + i * square, h, h), c, d), matrix_transposed(x), dm);
	}
}

void tp_vocab_logits(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	struct matrix x = matrix_of(t->x, t->tokens, t->hidden), w = matrix_of(t->w, t->hidden, t->vocab);

	matrix_multiply_add(matrix_columns(r->y, from, to), x, matrix_columns(w, from, to));
	for (int64_t i = 0; i < t->tokens; i++)
		for (int64_t j = from; j < to; j++)
			t->most[i] = fmax(t->most[i], *matrix_at(r->y, i, j));
}

void tp_vocab_sums(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	for (int64_t i = 0; i < t->tokens; i++) {
		double mine = 0;

		for (int64_t j = from; j < to; j++)
			mine += exp(*matrix_at(r->y, i, j) - t->most[i]);
		t->sum[i] += mine;
	}
}

void tp_vocab_backward(struct tp_layer *t, int64_t from, int64_t to, struct tp_result *r)
{
	struct matrix x = matrix_of(t->x, t->tokens, t->hidden),
		      w = matrix_columns(matrix_of(t->w, t->hidden, t->vocab), from, to);
	struct matrix d = matrix_fresh(t->q, t->tokens, to - from);

	for (int64_t i = 0; i < t->tokens; i++) {
		for (int64_t j = from; j < to; j++)
			*matrix_at(d, i, j - from) = exp(*matrix_at(r->y, i, j) - t->most[i]) / t->sum[i];
		if (t->target[i] >= from && t->target[i] < to) {
			*matrix_at(d, i, t->target[i] - from) -= 1;
			r->loss += log(t->sum[i]) + t->most[i] - *matrix_at(r->y, i, t->target[i]);
		}
	}
	matrix_multiply_add(r->dx, d, matrix_transposed(w));
	matrix_multiply_add(matrix_columns(matrix_of(r->dw, t->hidden, t->vocab), from, to), matrix_transposed(x), d);
}
