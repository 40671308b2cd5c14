/* The numeric kernel of the labs: hashed random numbers, matrices as views with two strides, a small multilayer perceptron. One
 * summation order everywhere (the inner dimension ascending), so that equal work gives equal bits. */
#ifndef MESHPLAN_LAB_MATH_H
#define MESHPLAN_LAB_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unit roundoff of a double: 2^-53. */
#define LAB_ROUNDOFF 1.1102230246251565e-16

/* 64 well mixed bits of (seed, stream, index). Src: splitmix64, Steele 2014. */
uint64_t lab_hash(uint64_t seed, uint64_t stream, uint64_t index);
/* Uniform in [-1, 1), multiples of 2^-52. */
double lab_uniform(uint64_t seed, uint64_t stream, uint64_t index);
/* A whole number from -most to most. */
double lab_whole(uint64_t seed, uint64_t stream, uint64_t index, int64_t most);
/* Fills v[n] with scale * uniform. */
void lab_fill(double *v, int64_t n, uint64_t seed, uint64_t stream, double scale);

/* A view of rows x cols numbers: element (i, j) is v[i * row + j * col]. Owns nothing. */
struct matrix {
	double *v;
	int64_t rows, cols, row, col;
};

/* A dense one. */
static inline struct matrix matrix_of(double *v, int64_t rows, int64_t cols)
{
	return (struct matrix){ v, rows, cols, cols, 1 };
}

static inline double *matrix_at(struct matrix m, int64_t i, int64_t j)
{
	return &m.v[i * m.row + j * m.col];
}

/* Columns from .. to - 1, rows from .. to - 1, the transpose: views of the same numbers. */
struct matrix matrix_columns(struct matrix m, int64_t from, int64_t to);
struct matrix matrix_rows(struct matrix m, int64_t from, int64_t to);
struct matrix matrix_transposed(struct matrix m);

/* c += a b. Each element sums over the inner dimension in ascending order, starting from what c holds. */
void matrix_multiply_add(struct matrix c, struct matrix a, struct matrix b);
void matrix_zero(struct matrix m);
void matrix_copy(struct matrix to, struct matrix from);
/* Largest |a - b|, 0 where both are NaN and NaN where one is; the largest of |a|, NaN when any element is. 0 of nothing. */
double matrix_difference(struct matrix a, struct matrix b);
double lab_difference(const double *a, const double *b, int64_t n);
double lab_largest(const double *v, int64_t n);
/* max(a, b) that keeps a NaN. */
double lab_max(double a, double b);

/* A function of n numbers v, and what somebody says its gradient is. */
struct lab_slope {
	double *v;
	const double *gradient;
	int64_t n;
	uint64_t seed, stream;      /* of the direction */
	double (*value)(void *ctx); /* with v as it is */
	void *ctx;
	double enough; /* an error that is small enough */
};

/* How far the gradient is from the slope along a random direction by central differences, over the sum of the absolute terms.
 * Starts with a wide difference and takes narrower ones until the error is small enough: a ReLU that switches inside of one
 * spoils it. v comes back but for rounding. 0 where the gradient is. */
double lab_slope_error(const struct lab_slope *s);

/* A multilayer perceptron: `layers` linear layers with bias, ReLU between them; inputs -> width -> ... -> width -> outputs. The
 * loss of a sample is half the squared distance to its target; sums over samples, never means, so that shards add up. */
struct mlp {
	int64_t layers, inputs, width, outputs;
};

int64_t mlp_rows(const struct mlp *net, int64_t layer); /* inputs of a layer */
int64_t mlp_layer_params(const struct mlp *net, int64_t layer);
/* Position of a layer's weights; of `layers`: all parameters. */
int64_t mlp_offset(const struct mlp *net, int64_t layer);
int64_t mlp_params(const struct mlp *net);
/* Numbers that one sample leaves behind: input and every layer's output. */
int64_t mlp_activations(const struct mlp *net);
/* Position of a layer's input among them, for `samples` samples; of `layers`: the output. */
int64_t mlp_activation_offset(const struct mlp *net, int64_t layer, int64_t samples);
/* Multiply-adds of forward and backward of one sample: 3 per weight. */
int64_t mlp_work(const struct mlp *net);
/* He initialisation, uniform; biases 0. */
void mlp_init(const struct mlp *net, double *w, uint64_t seed);

/* One layer: out = act(in w + bias). */
void mlp_layer_forward(const struct mlp *net, int64_t layer, const double *w, const double *in, double *out, int64_t samples);
/* Its backward. dout: gradient of out, which is overwritten by that before the ReLU. din: gradient of in, or NULL. g += gradient
 * of the layer's parameters, or NULL. w and g are those of the layer. */
void mlp_layer_backward(const struct mlp *net, int64_t layer, const double *w, const double *in, const double *out, double *dout,
	double *din, double *g, int64_t samples);
/* dout = y - target; returns the summed loss. */
double mlp_loss(const double *y, const double *target, double *dout, int64_t n);
/* Forward and backward of `samples` samples; g += summed gradients. acts: mlp_activations per sample; grads: as many. The
 * returned loss is summed. *bound grows to the largest |x| |delta| of any product in g: what rounding errors of a sum are
 * measured in. */
double mlp_gradient(const struct mlp *net, const double *w, const double *x, const double *t, int64_t samples, double *acts,
	double *grads, double *g, double *bound);

#endif
