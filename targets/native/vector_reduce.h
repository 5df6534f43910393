/* Reductions: along a vector where what is reduced are neighbours, of a vector of results
 * at once where results are. */
#ifndef TARGETS_NATIVE_VECTOR_REDUCE_H
#define TARGETS_NATIVE_VECTOR_REDUCE_H

#include "targets/native/reduce_form.h"
#include "targets/native/vector_functions.h"

ALWAYS vec
reduce_entry_of(const struct reduce_form *r, vec x)
{
	return r->entry == REDUCE_SQUARE   ? x * x
	    : r->entry == REDUCE_MAGNITUDE ? vec_abs(x)
	                                   : x;
}

/* What is NaN stays so. */
ALWAYS vec
reduce_two(const struct reduce_form *r, vec a, vec b)
{
	if (r->kind == REDUCE_SUM)
		return a + b;
	if (r->kind == REDUCE_MAX)
		return vec_choose((b > a) | (b != b), b, a);
	return vec_choose((b < a) | (b != b), b, a);
}

ALWAYS vec
reduce_end(const struct reduce_form *r, vec x)
{
	x *= vec_all(r->factor);
	return r->root ? vec_sqrt(x) : x;
}

/* What changes nothing. */
ALWAYS vec
reduce_none(const struct reduce_form *r)
{
	return vec_all(r->kind == REDUCE_SUM ? 0
	        : r->kind == REDUCE_MAX      ? -INFINITY
	                                     : INFINITY);
}

/* All lanes of x as one number, in each. */
ALWAYS vec
reduce_lanes(const struct reduce_form *r, vec x)
{
	float part[NATIVE_WIDTH];
	vec all = reduce_none(r);

	vec_store(part, x);
	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		all = reduce_two(r, all, vec_all(part[i]));
	return all;
}

/* One long row. */
static inline vec
reduce_row(const struct reduce_form *r, const float *x)
{
	vec all[4], rest;
	size_t i = 0;

	for (size_t k = 0; k < 4; k++)
		all[k] = reduce_none(r);
	for (; i + 4 * NATIVE_WIDTH <= r->n; i += 4 * NATIVE_WIDTH)
		for (size_t k = 0; k < 4; k++)
			all[k] = reduce_two(r, all[k],
			    reduce_entry_of(
			        r, vec_load(x + i + k * NATIVE_WIDTH)));
	for (; i + NATIVE_WIDTH <= r->n; i += NATIVE_WIDTH)
		all[0] =
		    reduce_two(r, all[0], reduce_entry_of(r, vec_load(x + i)));
	if (i < r->n) {
		rest = reduce_entry_of(r, vec_load_first(x + i, r->n - i));
		rest = vec_choose(first_lanes(r->n - i), rest, reduce_none(r));
		all[0] = reduce_two(r, all[0], rest);
	}
	all[0] = reduce_two(r, all[0], all[1]);
	return reduce_lanes(
	    r, reduce_two(r, all[0], reduce_two(r, all[2], all[3])));
}

static void
reduce_rows(const struct reduce_form *r, size_t from, size_t to,
    const float *in, float *out)
{
	for (size_t i = from; i < to; i++)
		out[i] = reduce_end(r, reduce_row(r, in + i * r->n))[0];
}

/* Of short rows as many at once as a vector has lanes: element j of each. */
static inline vec
reduce_gather(const float *x, size_t step, size_t n)
{
	float part[NATIVE_WIDTH] = {0};

	for (size_t i = 0; i < n; i++)
		part[i] = x[i * step];
	return vec_load(part);
}

static void
reduce_short(const struct reduce_form *r, size_t from, size_t to,
    const float *in, float *out)
{
	for (; from < to; from += NATIVE_WIDTH) {
		const size_t left = to - from;
		const size_t n = left < NATIVE_WIDTH ? left : NATIVE_WIDTH;
		vec all = reduce_none(r);

		for (size_t j = 0; j < r->n; j++)
			all = reduce_two(r, all,
			    reduce_entry_of(r,
			        reduce_gather(in + from * r->n + j, r->n, n)));
		vec_store_first(out + from, reduce_end(r, all), n);
	}
}

/* Results that are neighbours, n of them, at most four vectors. */
static inline void
reduce_columns(
    const struct reduce_form *r, size_t n, const float *in, float *out)
{
	vec all[4];

	for (size_t k = 0; k < 4; k++)
		all[k] = reduce_none(r);
	for (size_t j = 0; j < r->n; j++, in += r->inner)
		for (size_t k = 0; k * NATIVE_WIDTH < n; k++)
			all[k] = reduce_two(r, all[k],
			    reduce_entry_of(r,
			        vec_load_first(in + k * NATIVE_WIDTH,
			            n - k * NATIVE_WIDTH)));
	for (size_t k = 0; k * NATIVE_WIDTH < n; k++)
		vec_store_first(out + k * NATIVE_WIDTH, reduce_end(r, all[k]),
		    n - k * NATIVE_WIDTH);
}

static void
reduce_inner(const struct reduce_form *r, size_t from, size_t to,
    const float *in, float *out)
{
	const size_t most = (size_t)4 * NATIVE_WIDTH;

	while (from < to) {
		const size_t row = from / r->inner, at = from % r->inner;
		size_t n =
		    r->inner - at < to - from ? r->inner - at : to - from;

		n = n < most ? n : most;
		reduce_columns(
		    r, n, in + row * r->n * r->inner + at, out + from);
		from += n;
	}
}

static void
reduce_part(const struct reduce_form *r, size_t from, size_t to,
    const float *in, float *out)
{
	if (r->inner > 1)
		reduce_inner(r, from, to, in, out);
	else if (r->n < NATIVE_WIDTH)
		reduce_short(r, from, to, in, out);
	else
		reduce_rows(r, from, to, in, out);
}

#endif
