#include "targets/magnitude.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16u
/* Floats of which sums stay this near in single precision. */
#define BLOCK 1024u
#define ROUNDING 1.001

/* ---- the largest ---- */

static double
most_of_floats(const unsigned char *data, size_t n)
{
	int32_t most[LANES] = {0}, x[LANES];
	float f;

	for (size_t i = 0; i < n; i += LANES) {
		const size_t part = n - i < LANES ? n - i : LANES;

		if (part < LANES)
			memset(x, 0, sizeof x);
		memcpy(x, data + i * sizeof *x, part * sizeof *x);
		for (uint32_t k = 0; k < LANES; k++) {
			const int32_t size = x[k] & INT32_MAX;

			most[k] = size > most[k] ? size : most[k];
		}
	}
	for (uint32_t k = 1; k < LANES; k++)
		most[0] = most[k] > most[0] ? most[k] : most[0];
	memcpy(&f, &most[0], sizeof f);
	return isfinite(f) ? (double)f : (double)INFINITY;
}

/* Halves of either kind are ordered as their bits are. */
static double
most_of_halves(const struct tensor *t)
{
	const unsigned char *data = t->data;
	uint16_t most = 0, x;
	size_t at = 0;
	double found;

	for (size_t i = 0; i < t->count; i++) {
		memcpy(&x, data + i * sizeof x, sizeof x);
		x &= INT16_MAX;
		if (x > most) {
			most = x;
			at = i;
		}
	}
	found = t->count ? fabs(tensor_real(t, at)) : 0;
	return isfinite(found) ? found : (double)INFINITY;
}

static double
find_most(const struct tensor *t)
{
	const bool is_float = t->dtype == DT_FLOAT;
	double first;

	if (!is_float && t->dtype != DT_FLOAT16 && t->dtype != DT_BFLOAT16)
		return 0x1p31;
	switch (t->kind) {
	case TENSOR_FILL:
		first = t->count ? fabs(tensor_real(t, 0)) : 0;
		return isfinite(first) ? first : (double)INFINITY;
	case TENSOR_VIEW:
		return is_float ? most_of_floats(t->data, t->count)
		                : most_of_halves(t);
	case TENSOR_HALVES:
		return most_of_halves(t);
	default:
		return (double)INFINITY;
	}
}

/* ---- sums ---- */

static double
sum_of_block(const unsigned char *data, size_t n)
{
	float sum[LANES] = {0}, x[LANES], all = 0;

	for (size_t i = 0; i < n; i += LANES) {
		const size_t part = n - i < LANES ? n - i : LANES;

		if (part < LANES)
			memset(x, 0, sizeof x);
		memcpy(x, data + i * sizeof *x, part * sizeof *x);
		for (uint32_t k = 0; k < LANES; k++)
			sum[k] += fabsf(x[k]);
	}
	for (uint32_t k = 0; k < LANES; k++)
		all += sum[k];
	return (double)all;
}

static double
sum_of_row(const unsigned char *data, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += BLOCK)
		sum += sum_of_block(
		    data + i * sizeof(float), n - i < BLOCK ? n - i : BLOCK);
	return sum;
}

/* The largest number is found by the way (*most): weights are read once. What is not finite
 * makes none of the sums. */
static double
largest_row(const unsigned char *data, size_t rows, size_t n, double *most)
{
	double sum = 0;

	for (size_t i = 0; i < rows; i++) {
		const unsigned char *row = data + i * n * sizeof(float);

		*most = fmax(*most, most_of_floats(row, n));
		if (isfinite(*most))
			sum = fmax(sum, sum_of_row(row, n));
	}
	return isfinite(*most) && isfinite(sum) ? sum * ROUNDING
	                                        : (double)INFINITY;
}

static void
add_row(double *sum, const unsigned char *data, size_t n)
{
	float x;

	for (size_t i = 0; i < n; i++) {
		memcpy(&x, data + i * sizeof x, sizeof x);
		sum[i] += (double)fabsf(x);
	}
}

static double
largest_column(const unsigned char *data, size_t rows, size_t n, double *most)
{
	double *sum = calloc(n, sizeof *sum), largest = 0;

	for (size_t i = 0; i < rows; i++) {
		const unsigned char *row = data + i * n * sizeof(float);

		*most = fmax(*most, most_of_floats(row, n));
		if (sum)
			add_row(sum, row, n);
	}
	for (size_t i = 0; sum && i < n; i++)
		largest = fmax(largest, sum[i]);
	if (!sum || !isfinite(*most))
		largest = (double)INFINITY;
	free(sum);
	return largest * ROUNDING;
}

/* Of constants that are no floats in memory: as if all were as large as the largest. */
static double
at_most(struct value *v, size_t terms)
{
	return magnitude_most(v) * (double)terms * ROUNDING;
}

static bool
are_floats(const struct tensor *t)
{
	return t->kind == TENSOR_VIEW && t->dtype == DT_FLOAT;
}

/* ---- once ---- */

/* Zero would say that nobody has asked. */
static double
kept(float *place, double found)
{
	const float up = nextafterf((float)found, INFINITY);

	*place =
	    fmaxf((double)(float)found < found ? up : (float)found, FLT_MIN);
	return (double)*place;
}

static double
find_rows(struct value *v)
{
	const struct tensor *t = v->constant;
	const size_t rows = t->rank ? (size_t)t->dim[0] : 0;
	double most = 0, sum;

	if (rows == 0)
		return (double)INFINITY;
	if (!are_floats(t))
		return at_most(v, t->count / rows);
	sum = largest_row(t->data, rows, t->count / rows, &most);
	kept(&v->magnitude.most, most);
	return sum;
}

static double
find_columns(struct value *v)
{
	const struct tensor *t = v->constant;
	const size_t n = t->rank ? (size_t)t->dim[t->rank - 1] : 0;
	double most = 0, sum;

	if (n == 0)
		return (double)INFINITY;
	if (!are_floats(t))
		return at_most(v, t->count / n);
	sum = largest_column(t->data, t->count / n, n, &most);
	kept(&v->magnitude.most, most);
	return sum;
}

double
magnitude_most(struct value *v)
{
	float *place = &v->magnitude.most;

	return *place > 0 ? (double)*place
	                  : kept(place, find_most(v->constant));
}

double
magnitude_rows(struct value *v)
{
	float *place = &v->magnitude.rows;

	return *place > 0 ? (double)*place : kept(place, find_rows(v));
}

double
magnitude_columns(struct value *v)
{
	float *place = &v->magnitude.columns;

	return *place > 0 ? (double)*place : kept(place, find_columns(v));
}

static double
not_nan(double x)
{
	return isnan(x) ? -(double)INFINITY : x;
}

double
magnitude_least(struct value *v)
{
	float *place = &v->magnitude.least;
	const struct tensor *t = v->constant;
	double least = (double)INFINITY;

	if (*place < 0 || *place > 0)
		return (double)*place;
	for (size_t i = 0; i < t->count; i++)
		least = fmin(least, not_nan(tensor_real(t, i)));
	*place = nextafterf((float)least, 0);
	if (!(*place > 0))
		*place = -INFINITY;
	return (double)*place;
}
