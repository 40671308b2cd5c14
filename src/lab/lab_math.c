#include "lab_math.h"

#include <math.h>
#include <string.h>

uint64_t lab_hash(uint64_t seed, uint64_t stream, uint64_t index)
{
	uint64_t z = seed * 0xD1342543DE82EF95u + stream * 0xA0761D6478BD642Fu + index * 0x9E3779B97F4A7C15u;

	for (int i = 0; i < 2; i++) {
		z += 0x9E3779B97F4A7C15u;
		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
		z ^= z >> 31;
	}
	return z;
}

double lab_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
	return (double)(lab_hash(seed, stream, index) >> 11) * 0x1p-52 - 1;
}

double lab_whole(uint64_t seed, uint64_t stream, uint64_t index, int64_t most)
{
	uint64_t n = 2 * (uint64_t)most + 1;

	return (double)(int64_t)(lab_hash(seed, stream, index) % n) - (double)most;
}

void lab_fill(double *v, int64_t n, uint64_t seed, uint64_t stream, double scale)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = scale * lab_uniform(seed, stream, (uint64_t)i);
}

struct matrix matrix_columns(struct matrix m, int64_t from, int64_t to)
{
	return (struct matrix){ m.v + from * m.col, m.rows, to - from, m.row, m.col };
}

struct matrix matrix_rows(struct matrix m, int64_t from, int64_t to)
{
	return (struct matrix){ m.v + from * m.row, to - from, m.cols, m.row, m.col };
}

struct matrix matrix_transposed(struct matrix m)
{
	return (struct matrix){ m.v, m.cols, m.rows, m.col, m.row };
}

/* Row i of c += x times row k of b. */
static void add_scaled_row(struct matrix c, int64_t i, double x, struct matrix b, int64_t k)
{
	double *to = c.v + i * c.row;
	const double *from = b.v + k * b.row;

	if (c.col == 1 && b.col == 1) {
		for (int64_t j = 0; j < c.cols; j++)
			to[j] += x * from[j];
		return;
	}
	for (int64_t j = 0; j < c.cols; j++)
		to[j * c.col] += x * from[j * b.col];
}

void matrix_multiply_add(struct matrix c, struct matrix a, struct matrix b)
{
	for (int64_t i = 0; i < c.rows; i++)
		for (int64_t k = 0; k < a.cols; k++)
			add_scaled_row(c, i, *matrix_at(a, i, k), b, k);
}

void matrix_zero(struct matrix m)
{
	for (int64_t i = 0; i < m.rows; i++)
		for (int64_t j = 0; j < m.cols; j++)
			*matrix_at(m, i, j) = 0;
}

void matrix_copy(struct matrix to, struct matrix from)
{
	for (int64_t i = 0; i < to.rows; i++)
		for (int64_t j = 0; j < to.cols; j++)
			*matrix_at(to, i, j) = *matrix_at(from, i, j);
}

double lab_max(double a, double b)
{
	return a >= b || isnan(a) ? a : b;
}

/* Distance of two numbers; equal ones have none, nor have two NaNs (two runs that diverged alike). */
static double distance(double a, double b)
{
	return a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b);
}

double matrix_difference(struct matrix a, struct matrix b)
{
	double most = 0;

	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++)
			most = lab_max(most, distance(*matrix_at(a, i, j), *matrix_at(b, i, j)));
	return most;
}

double lab_difference(const double *a, const double *b, int64_t n)
{
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = lab_max(most, distance(a[i], b[i]));
	return most;
}

double lab_largest(const double *v, int64_t n)
{
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = lab_max(most, fabs(v[i]));
	return most;
}

/* Widths of a central difference: its own error is about width^2 and roundoff / width. */
#define SLOPE_WIDEST 1e-5
#define SLOPE_NARROWEST 1e-9

static double slope(const struct lab_slope *s, double width)
{
	static const int moves[] = { -1, 2, -1 };
	double value[3];

	for (int side = 0; side < 3; side++) {
		for (int64_t i = 0; i < s->n; i++)
			s->v[i] += moves[side] * width * lab_uniform(s->seed, s->stream, (uint64_t)i);
		value[side] = side < 2 ? s->value(s->ctx) : 0;
	}
	return (value[1] - value[0]) / (2 * width);
}

double lab_slope_error(const struct lab_slope *s)
{
	double said = 0, size = 0, error;

	for (int64_t i = 0; i < s->n; i++) {
		double term = s->gradient[i] * lab_uniform(s->seed, s->stream, (uint64_t)i);

		said += term;
		size += fabs(term);
	}
	error = size > 0 ? 1 : 0;
	for (double width = SLOPE_WIDEST; width > SLOPE_NARROWEST && error > s->enough; width /= 10)
		error = fabs(slope(s, width) - said) / size;
	return error;
}

int64_t mlp_rows(const struct mlp *net, int64_t layer)
{
	return layer == 0 ? net->inputs : net->width;
}

static int64_t mlp_cols(const struct mlp *net, int64_t layer)
{
	return layer == net->layers - 1 ? net->outputs : net->width;
}

int64_t mlp_layer_params(const struct mlp *net, int64_t layer)
{
	return (mlp_rows(net, layer) + 1) * mlp_cols(net, layer);
}

int64_t mlp_offset(const struct mlp *net, int64_t layer)
{
	int64_t sum = 0;

	for (int64_t l = 0; l < layer; l++)
		sum += mlp_layer_params(net, l);
	return sum;
}

int64_t mlp_params(const struct mlp *net)
{
	return mlp_offset(net, net->layers);
}

int64_t mlp_activations(const struct mlp *net)
{
	return net->inputs + (net->layers - 1) * net->width + net->outputs;
}

int64_t mlp_activation_offset(const struct mlp *net, int64_t layer, int64_t samples)
{
	return layer == 0 ? 0 : samples * (net->inputs + (layer - 1) * net->width);
}

int64_t mlp_work(const struct mlp *net)
{
	return 3 * mlp_params(net);
}

void mlp_init(const struct mlp *net, double *w, uint64_t seed)
{
	for (int64_t l = 0; l < net->layers; l++) {
		int64_t weights = mlp_rows(net, l) * mlp_cols(net, l);
		double *layer = w + mlp_offset(net, l);

		/* Variance 2 / inputs: a uniform one on [-s, s) has s^2 / 3. Src: He 2015. */
		lab_fill(layer, weights, seed, 1000 + (uint64_t)l, sqrt(6.0 / (double)mlp_rows(net, l)));
		memset(layer + weights, 0, (size_t)mlp_cols(net, l) * sizeof(double));
	}
}

void mlp_layer_forward(const struct mlp *net, int64_t layer, const double *w, const double *in, double *out, int64_t samples)
{
	int64_t rows = mlp_rows(net, layer), cols = mlp_cols(net, layer);
	const double *bias = w + rows * cols;

	for (int64_t s = 0; s < samples; s++) {
		double *y = out + s * cols;

		memcpy(y, bias, (size_t)cols * sizeof(double));
		for (int64_t k = 0; k < rows; k++)
			for (int64_t j = 0; j < cols; j++)
				y[j] += in[s * rows + k] * w[k * cols + j];
		for (int64_t j = 0; j < cols && layer < net->layers - 1; j++)
			y[j] = y[j] > 0 ? y[j] : 0;
	}
}

/* g += in' dout, summed over the samples in order. */
static void add_weight_gradient(int64_t rows, int64_t cols, const double *in, const double *dout, double *g, int64_t samples)
{
	for (int64_t s = 0; s < samples; s++) {
		for (int64_t k = 0; k < rows; k++)
			for (int64_t j = 0; j < cols; j++)
				g[k * cols + j] += in[s * rows + k] * dout[s * cols + j];
		for (int64_t j = 0; j < cols; j++)
			g[rows * cols + j] += dout[s * cols + j];
	}
}

void mlp_layer_backward(const struct mlp *net, int64_t layer, const double *w, const double *in, const double *out, double *dout,
	double *din, double *g, int64_t samples)
{
	int64_t rows = mlp_rows(net, layer), cols = mlp_cols(net, layer);

	for (int64_t i = 0; i < samples * cols && layer < net->layers - 1; i++)
		dout[i] = out[i] > 0 ? dout[i] : 0;
	if (g != NULL)
		add_weight_gradient(rows, cols, in, dout, g, samples);
	for (int64_t s = 0; s < samples && din != NULL; s++)
		for (int64_t k = 0; k < rows; k++) {
			double sum = 0;

			for (int64_t j = 0; j < cols; j++)
				sum += dout[s * cols + j] * w[k * cols + j];
			din[s * rows + k] = sum;
		}
}

double mlp_loss(const double *y, const double *target, double *dout, int64_t n)
{
	double loss = 0;

	for (int64_t i = 0; i < n; i++) {
		dout[i] = y[i] - target[i];
		loss += 0.5 * dout[i] * dout[i];
	}
	return loss;
}

double mlp_gradient(const struct mlp *net, const double *w, const double *x, const double *t, int64_t samples, double *acts,
	double *grads, double *g, double *bound)
{
	double *out = acts + mlp_activation_offset(net, net->layers, samples), loss;

	memcpy(acts, x, (size_t)(samples * net->inputs) * sizeof(double));
	for (int64_t l = 0; l < net->layers; l++)
		mlp_layer_forward(net, l, w + mlp_offset(net, l), acts + mlp_activation_offset(net, l, samples),
			acts + mlp_activation_offset(net, l + 1, samples), samples);
	loss = mlp_loss(out, t, grads + (out - acts), samples * net->outputs);
	for (int64_t l = net->layers - 1; l >= 0; l--) {
		int64_t in = mlp_activation_offset(net, l, samples), next = mlp_activation_offset(net, l + 1, samples);

		mlp_layer_backward(net, l, w + mlp_offset(net, l), acts + in, acts + next, grads + next,
			l > 0 ? grads + in : NULL, g + mlp_offset(net, l), samples);
		/* The bias multiplies by 1. */
		*bound = lab_max(*bound,
			lab_max(1, lab_largest(acts + in, samples * mlp_rows(net, l))) *
				lab_largest(grads + next, samples * mlp_cols(net, l)));
	}
	return loss;
}
