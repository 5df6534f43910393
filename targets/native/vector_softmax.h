/* Softmax of a vector's lines at a time: short ones across its lanes, long ones along
 * them, whose largest numbers and sums are found for all lines at once. NaN among a
 * line, +infinity, or nothing but -infinity makes NaN of all of it. */
#ifndef TARGETS_NATIVE_VECTOR_SOFTMAX_H
#define TARGETS_NATIVE_VECTOR_SOFTMAX_H

#include "targets/native/softmax_form.h"
#include "targets/native/vector_functions.h"

/* e^(x - most) of what is no more than `most`. */
ALWAYS vec
vec_weight(vec x, vec most)
{
	return vec_exp2((x - most) * vec_all(LOG2_E));
}

/* ---- lines across the lanes ---- */

/* A line in each lane, in place. */
ALWAYS void
lanes_softmax(vec *x, size_t n, bool log)
{
	vec most = x[0], sum = vec_all(0);

	for (size_t k = 1; k < n; k++)
		most = vec_most_of(x[k], most);
	if (log) {
		for (size_t k = 0; k < n; k++)
			sum += vec_weight(x[k], most);
		sum = vec_log(sum);
		for (size_t k = 0; k < n; k++)
			x[k] = x[k] - most - sum;
		return;
	}
	for (size_t k = 0; k < n; k++) {
		x[k] = vec_weight(x[k], most);
		sum += x[k];
	}
	sum = vec_all(1) / sum;
	for (size_t k = 0; k < n; k++)
		x[k] *= sum;
}

/* Lines of fewer numbers than a vector has, turned. */
static void
short_lines(const float *x, float *y, size_t lines, size_t n, bool log)
{
	vec v[NATIVE_WIDTH];

	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		v[r] = r < lines ? vec_load_first(x + r * n, n) : vec_all(0);
	vec_turn(v);
	lanes_softmax(v, n, log);
	vec_turn(v);
	for (size_t r = 0; r < lines; r++)
		vec_store_first(y + r * n, v[r], n);
}

/* Pairs, as many as there are lanes. */
static void
pair_lines(const float *x, float *y, bool log)
{
	const vec a = vec_load(x), b = vec_load(x + NATIVE_WIDTH);
	vec v[2] = {VEC_EVEN(a, b), VEC_ODD(a, b)};

	lanes_softmax(v, 2, log);
	vec_store(y, VEC_TURN_LOWER(v[0], v[1]));
	vec_store(y + NATIVE_WIDTH, VEC_TURN_UPPER(v[0], v[1]));
}

/* Lines that lie `inner` apart, side by side. */
static void
column_lines(
    const struct softmax_form *s, const float *x, float *y, size_t lanes)
{
	vec most = vec_load_first(x, lanes), sum = vec_all(0);

	for (size_t k = 1; k < s->n; k++)
		most =
		    vec_most_of(vec_load_first(x + k * s->inner, lanes), most);
	for (size_t k = 0; k < s->n; k++) {
		const vec e =
		    vec_weight(vec_load_first(x + k * s->inner, lanes), most);

		sum += e;
		if (!s->log)
			vec_store_first(y + k * s->inner, e, lanes);
	}
	sum = s->log ? vec_log(sum) : vec_all(1) / sum;
	for (size_t k = 0; k < s->n; k++) {
		float *at = y + k * s->inner;

		vec_store_first(at,
		    s->log
		        ? vec_load_first(x + k * s->inner, lanes) - most - sum
		        : vec_load_first(at, lanes) * sum,
		    lanes);
	}
}

/* ---- lines along the lanes ---- */

/* In each lane the largest number of some, at least a vector of them; NaN is none. */
ALWAYS vec
line_most(const float *x, size_t n)
{
	vec most = vec_all(-INFINITY);
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		most = vec_most_of(vec_load(x + i), most);
	/* some of them again */
	return vec_most_of(vec_load(x + n - NATIVE_WIDTH), most);
}

/* Weights are written, but for logarithms; in each lane the sum of some. */
ALWAYS vec
line_weights(const float *x, float *y, size_t n, float top, bool log)
{
	const vec most = vec_all(top);
	vec sum = vec_all(0), e;
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH) {
		e = vec_weight(vec_load(x + i), most);
		if (!log)
			vec_store(y + i, e);
		sum += e;
	}
	if (i == n)
		return sum;
	e = vec_weight(vec_load_first(x + i, n - i), most);
	if (!log)
		vec_store_first(y + i, e, n - i);
	return sum + vec_only(first_lanes(n - i), e);
}

/* y = y * over */
ALWAYS void
line_scale(float *y, size_t n, float over)
{
	const vec o = vec_all(over);
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		vec_store(y + i, vec_load(y + i) * o);
	if (i < n)
		vec_store_first(y + i, vec_load_first(y + i, n - i) * o, n - i);
}

/* y = x - most - log */
ALWAYS void
line_logs(const float *x, float *y, size_t n, float most, float log)
{
	const vec m = vec_all(most), l = vec_all(log);
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		vec_store(y + i, vec_load(x + i) - m - l);
	if (i < n)
		vec_store_first(
		    y + i, vec_load_first(x + i, n - i) - m - l, n - i);
}

static void
long_lines(const float *x, float *y, size_t lines, size_t n, bool log)
{
	vec v[NATIVE_WIDTH];
	float most[NATIVE_WIDTH], end[NATIVE_WIDTH];

	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		v[r] = r < lines ? line_most(x + r * n, n) : vec_all(0);
	vec_store(most, vec_most_of_each(v));
	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		v[r] = r < lines
		    ? line_weights(x + r * n, y + r * n, n, most[r], log)
		    : vec_all(1);
	vec_store(end, vec_total_of_each(v));
	for (size_t r = 0; r < lines; r++)
		if (log)
			line_logs(
			    x + r * n, y + r * n, n, most[r], logf(end[r]));
		else
			line_scale(y + r * n, n, 1 / end[r]);
}

/* ---- units ---- */

static size_t
softmax_units(const struct softmax_form *s)
{
	const size_t lanes = NATIVE_WIDTH - 1;

	if (s->inner == 1)
		return (s->outer + lanes) / NATIVE_WIDTH;
	return s->outer * ((s->inner + lanes) / NATIVE_WIDTH);
}

static void
softmax_of_lines(
    const struct softmax_form *s, const float *x, float *y, size_t i)
{
	const size_t first = i * NATIVE_WIDTH, left = s->outer - first;
	const size_t lines = left < NATIVE_WIDTH ? left : NATIVE_WIDTH;

	x += first * s->n;
	y += first * s->n;
	if (s->n == 2 && lines == NATIVE_WIDTH)
		pair_lines(x, y, s->log);
	else if (s->n < NATIVE_WIDTH)
		short_lines(x, y, lines, s->n, s->log);
	else
		long_lines(x, y, lines, s->n, s->log);
}

static void
softmax_of_columns(
    const struct softmax_form *s, const float *x, float *y, size_t i)
{
	const size_t columns = (s->inner + NATIVE_WIDTH - 1) / NATIVE_WIDTH;
	const size_t first = i % columns * NATIVE_WIDTH;
	const size_t at = i / columns * s->n * s->inner + first;
	const size_t left = s->inner - first;

	column_lines(
	    s, x + at, y + at, left < NATIVE_WIDTH ? left : NATIVE_WIDTH);
}

static void
softmax_part(const struct softmax_form *s, const float *x, float *y,
    size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		if (s->inner == 1)
			softmax_of_lines(s, x, y, i);
		else
			softmax_of_columns(s, x, y, i);
}

#endif
