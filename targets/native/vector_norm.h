/* A line at a time, in the first cache: its mean, its variance about that, the result. */
#ifndef TARGETS_NATIVE_VECTOR_NORM_H
#define TARGETS_NATIVE_VECTOR_NORM_H

#include "targets/native/norm_form.h"
#include "targets/native/vector_functions.h"

/* Sums of so many vectors side by side: as long as an addition takes. */
#define NORM_SUMS 4

ALWAYS vec
norm_entry(vec x, vec mean, bool squared)
{
	x -= mean;
	return squared ? x * x : x;
}

ALWAYS float
norm_total(const vec *sum)
{
	return vec_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* The mean of x - mean, or of its square. */
ALWAYS float
norm_mean(const float *x, size_t n, float mean, bool squared)
{
	const vec m = vec_all(mean);
	vec sum[NORM_SUMS], rest;
	size_t i = 0;

	for (size_t k = 0; k < NORM_SUMS; k++)
		sum[k] = vec_all(0);
	for (; i + NORM_SUMS * NATIVE_WIDTH <= n; i += NORM_SUMS * NATIVE_WIDTH)
		for (size_t k = 0; k < NORM_SUMS; k++)
			sum[k] += norm_entry(
			    vec_load(x + i + k * NATIVE_WIDTH), m, squared);
	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		sum[0] += norm_entry(vec_load(x + i), m, squared);
	if (i < n) {
		rest = norm_entry(vec_load_first(x + i, n - i), m, squared);
		sum[0] += vec_only(first_lanes(n - i), rest);
	}
	return norm_total(sum) / (float)n;
}

ALWAYS vec
norm_end(vec x, vec mean, vec over, vec scale, vec shift)
{
	return (x - mean) * over * scale + shift;
}

/* What is left of a line from i on, less than a vector. */
ALWAYS void
norm_last(const struct norm_form *f, const float *x, float *y, size_t i,
    vec mean, vec over)
{
	const size_t n = f->n - i;
	const vec shift =
	    f->shift ? vec_load_first(f->shift + i, n) : vec_all(0);

	vec_store_first(y + i,
	    norm_end(vec_load_first(x + i, n), mean, over,
	        vec_load_first(f->scale + i, n), shift),
	    n);
}

ALWAYS void
norm_write(
    const struct norm_form *f, const float *x, float *y, float mean, float over)
{
	const vec m = vec_all(mean), o = vec_all(over);
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= f->n; i += NATIVE_WIDTH)
		vec_store(y + i,
		    norm_end(vec_load(x + i), m, o, vec_load(f->scale + i),
		        f->shift ? vec_load(f->shift + i) : vec_all(0)));
	if (i < f->n)
		norm_last(f, x, y, i, m, o);
}

ALWAYS void
norm_add(const float *x, const float *other, float *y, size_t n)
{
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		vec_store(y + i, vec_load(x + i) + vec_load(other + i));
	if (i < n)
		vec_store_first(y + i,
		    vec_load_first(x + i, n - i)
		        + vec_load_first(other + i, n - i),
		    n - i);
}

static void
norm_lines(const struct norm_form *f, const float *x, const float *other,
    float *y, size_t first, size_t last)
{
	for (size_t r = first; r < last; r++) {
		const float *from = x + r * f->n;
		float *to = y + r * f->n, mean = 0, variance;

		if (other) {
			norm_add(from, other + r * f->n, to, f->n);
			from = to;
		}
		if (f->centred)
			mean = norm_mean(from, f->n, 0, false);
		variance = norm_mean(from, f->n, mean, true);
		norm_write(f, from, to, mean, 1 / sqrtf(variance + f->epsilon));
	}
}

#endif
