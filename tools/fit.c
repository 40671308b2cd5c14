/* fit SET third|all [SIGMA]: refits a set of step-time coefficients on the shipped runs and prints them as the members of a
 * preset file. third: on the rows marked "calibration: time" (md5 of the id modulo 3 is 0), for error figures; all: on every row,
 * for planning. Minimises, over the logarithms x of the coefficients, sum_i h(ln(predicted_i / measured_i) / sigma) + sum_j ((x_j
 * - ln start_j) / sd_j)^2 with h the pseudo-Huber loss (errors count linearly beyond sigma), start the values of SET, sd the
 * deviations of coefficient_table (0: fixed), by Gauss-Newton with reweighting. Rows that carry a flag have no weight. */
#include "presets.h"
#include "runs_csv.h"
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 25 };
#define STEP 1e-4
/* Repeats of one configuration differ by 2 to 5 per cent. */
#define DEFAULT_SIGMA 0.02

struct fit {
	size_t rows, n; /* cases; free coefficients */
	struct validate_case *cases;
	int free[COEF_COUNT];
	double start[COEF_COUNT], sigma;
};

/* ln(predicted / measured) of every row. */
static void residuals(struct fit *f, const double *v, double *r)
{
	for (size_t i = 0; i < f->rows; i++) {
		struct validate_row out;

		memcpy(f->cases[i].scenario.coefficients.v, v, sizeof f->cases[i].scenario.coefficients.v);
		validate_run(&f->cases[i], &out);
		r[i] = log(out.predicted_step_s / out.measured_step_s);
	}
}

/* Solves A x = b for symmetric positive A of n x n in place (Cholesky); x in b. */
static void solve(double *a, double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = a[i * n + j];

			for (size_t k = 0; k < j; k++)
				sum -= a[i * n + k] * a[j * n + k];
			a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
		}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i] -= a[i * n + k] * b[k];
		b[i] /= a[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= a[k * n + i] * b[k];
		b[i] /= a[i * n + i];
	}
}

/* What is exposed or hidden is a share of the whole, unless the set starts above it. */
static int is_share(const struct fit *f, int coefficient)
{
	const char *key = coefficient_table[coefficient].key;

	return f->start[coefficient] <= 1 && (strstr(key, "exposed") != NULL || strstr(key, "hidden") != NULL);
}

/* One Gauss-Newton step; returns its largest move. jacobian: rows x n, work: n x n. */
static double improve(struct fit *f, double *v, double *jacobian, double *work, double *r, double *moved)
{
	double change[COEF_COUNT] = { 0 }, largest = 0;

	residuals(f, v, r);
	for (size_t j = 0; j < f->n; j++) {
		double old = v[f->free[j]];

		v[f->free[j]] = old * exp(STEP);
		residuals(f, v, moved);
		v[f->free[j]] = old;
		for (size_t i = 0; i < f->rows; i++)
			jacobian[i * f->n + j] = (moved[i] - r[i]) / STEP;
	}
	memset(work, 0, f->n * f->n * sizeof *work);
	for (size_t j = 0; j < f->n; j++) {
		const struct coefficient_info *c = &coefficient_table[f->free[j]];
		double weight = 1 / (c->prior_sd * c->prior_sd);

		work[j * f->n + j] += weight;
		change[j] = weight * (log(f->start[f->free[j]]) - log(v[f->free[j]]));
	}
	for (size_t i = 0; i < f->rows; i++) {
		double z = r[i] / f->sigma, weight = 1 / (f->sigma * f->sigma * sqrt(1 + z * z));
		const double *row = &jacobian[i * f->n];

		for (size_t j = 0; j < f->n; j++) {
			if (row[j] == 0)
				continue;
			change[j] -= weight * row[j] * r[i];
			for (size_t k = 0; k <= j; k++)
				work[j * f->n + k] += weight * row[j] * row[k];
		}
	}
	solve(work, change, f->n);
	for (size_t j = 0; j < f->n; j++) {
		double move = fmax(-0.2, fmin(0.2, change[j]));

		v[f->free[j]] *= exp(move);
		if (is_share(f, f->free[j]))
			v[f->free[j]] = fmin(v[f->free[j]], 1);
		largest = fmax(largest, fabs(move));
	}
	return largest;
}

/* Rows with a time that count: calibration rows alone, or all; without flags. */
static void choose_rows(struct fit *f, const struct runs *runs, int third)
{
	for (size_t i = 0; i < runs->n; i++) {
		struct validate_case *c = &runs->cases[i];
		struct validate_row out;

		c->fit = FIT_UNKNOWN;
		c->measured_bytes = 0;
		validate_run(c, &out);
		if (out.predicted_step_s > 0 && out.measured_step_s > 0 && c->flag[0] == '\0' && (!third || c->calibration_time))
			f->cases[f->rows++] = *c;
	}
}

static void run(struct fit *f, double *v)
{
	double *jacobian = calloc(f->rows * f->n, sizeof *jacobian), *work = calloc(f->n * f->n, sizeof *work);
	double *r = calloc(f->rows, sizeof *r), *moved = calloc(f->rows, sizeof *moved);
	double move = 1;

	if (jacobian == NULL || work == NULL || r == NULL || moved == NULL)
		exit(3);
	for (int i = 0; i < ROUNDS && move > 1e-5; i++)
		move = improve(f, v, jacobian, work, r, moved);
	free(jacobian);
	free(work);
	free(r);
	free(moved);
}

int main(int argc, char **argv)
{
	struct preset_store *store;
	struct runs runs;
	struct err e;
	struct fit f = { .sigma = argc > 3 ? strtod(argv[3], NULL) : DEFAULT_SIGMA };
	const struct coefficients *set;
	double v[COEF_COUNT];

	if (argc < 3 || preset_store_new(&store, &e) != ERR_OK)
		return 2;
	set = catalog_coefficients(preset_store_catalog(store), argv[1]);
	if (set == NULL || runs_shipped(preset_store_catalog(store), set, &runs, &e) != ERR_OK)
		return 2;
	f.cases = calloc(runs.n, sizeof *f.cases);
	if (f.cases == NULL)
		return 3;
	choose_rows(&f, &runs, strcmp(argv[2], "third") == 0);
	memcpy(v, set->v, sizeof v);
	memcpy(f.start, v, sizeof v);
	for (int i = 0; i < COEF_COUNT; i++)
		if (coefficient_table[i].prior_sd > 0)
			f.free[f.n++] = i;
	run(&f, v);
	fprintf(stderr, "%zu rows, %zu coefficients\n", f.rows, f.n);
	for (int i = 1; i < COEF_COUNT; i++)
		printf("  \"%s\": %.4g%s\n", coefficient_table[i].key, v[i], i + 1 < COEF_COUNT ? "," : "");
	free(f.cases);
	runs_free(&runs);
	preset_store_free(store);
	return 0;
}
