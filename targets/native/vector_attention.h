/* One head of attention. Keys are packed as panels of two vectors of them,
 * [keys / pair][size][pair], values as [value_size / pair][keys][pair]; a group of
 * queries is multiplied by the former, its scores become weights in place, in the order
 * that the product by the latter reads. */
#ifndef TARGETS_NATIVE_VECTOR_ATTENTION_H
#define TARGETS_NATIVE_VECTOR_ATTENTION_H

#include "targets/native/attention_form.h"
#include "targets/native/vector_functions.h"
#include "targets/native/vector_product.h"

struct attention_scratch {
	size_t size, keys, values; /* padded: to a vector, a pair, a pair */
	float *k, *v, *q, *weight, *bias, *sum;
};

static inline size_t
padded_to(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static void
attention_sizes(struct attention_scratch *s, const struct attention_form *a)
{
	s->size = padded_to(a->size, NATIVE_WIDTH);
	s->keys = padded_to(a->keys, PAIR_OF_VECTORS);
	s->values = padded_to(a->value_size, PAIR_OF_VECTORS);
}

/* Each part is whole vectors. */
static size_t
attention_floats(const struct attention_form *a)
{
	struct attention_scratch s;

	attention_sizes(&s, a);
	return s.keys * s.size + s.values * s.keys
	    + NATIVE_GROUP * (s.size + s.keys + PAIR_OF_VECTORS) + s.keys;
}

static void
attention_place(struct attention_scratch *s, float *at)
{
	s->k = at;
	s->v = s->k + s->keys * s->size;
	s->q = s->v + s->values * s->keys;
	s->weight = s->q + NATIVE_GROUP * s->size;
	s->sum = s->weight + NATIVE_GROUP * s->keys;
	s->bias = s->sum + NATIVE_GROUP * PAIR_OF_VECTORS;
}

/* A row of `n` floats, and zeros up to `room`; both whole vectors but n. */
static inline void
copy_row(
    float *to, const float *from, size_t n, size_t room, vec scale, size_t step)
{
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH, to += step)
		vec_store(to, vec_load(from + i) * scale);
	for (; i < room; i += NATIVE_WIDTH, to += step)
		for (size_t x = 0; x < NATIVE_WIDTH; x++)
			to[x] = i + x < n ? from[i + x] * scale[0] : 0;
}

/* A vector of keys, n of them, elements from i on, turned: their elements i lie side by
 * side, then their elements i + 1. */
static inline void
turn_keys(const struct attention_form *a, const float *from, size_t n, size_t i,
    float *to)
{
	vec x[NATIVE_WIDTH];

	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		x[r] = r < n
		    ? vec_load_first(from + r * a->k.row + i, a->size - i)
		    : vec_all(0);
	vec_turn(x);
	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		vec_store(to + r * PAIR_OF_VECTORS, x[r]);
}

static void
pack_keys(const struct attention_form *a, const struct attention_scratch *s,
    const float *from)
{
	for (size_t j = 0; j < s->keys; j += NATIVE_WIDTH) {
		const size_t n = j < a->keys ? a->keys - j : 0;
		const float *key = from + (n ? j : 0) * a->k.row;
		float *to = s->k
		    + j / PAIR_OF_VECTORS * PAIR_OF_VECTORS * s->size
		    + j % PAIR_OF_VECTORS;

		for (size_t i = 0; i < s->size; i += NATIVE_WIDTH)
			turn_keys(a, key, n, i, to + i * PAIR_OF_VECTORS);
	}
}

static void
pack_values(const struct attention_form *a, const struct attention_scratch *s,
    const float *from)
{
	for (size_t i = 0; i < s->values; i += PAIR_OF_VECTORS) {
		const size_t left = a->value_size - i;
		const size_t n =
		    left < PAIR_OF_VECTORS ? left : PAIR_OF_VECTORS;
		float *to = s->v + i * s->keys;

		for (size_t j = 0; j < s->keys; j++, to += PAIR_OF_VECTORS)
			copy_row(to,
			    from + (j < a->keys ? j : 0) * a->v.row + i,
			    j < a->keys ? n : 0, PAIR_OF_VECTORS, vec_all(1),
			    NATIVE_WIDTH);
	}
}

/* Rows of queries as a product reads them, scaled. */
static void
pack_queries(const struct attention_form *a, const struct attention_scratch *s,
    const float *from, size_t rows)
{
	for (size_t r = 0; r < rows; r++)
		copy_row(s->q + r * NATIVE_WIDTH, from + r * a->q.row, a->size,
		    s->size, vec_all(a->scale),
		    (size_t)NATIVE_GROUP * NATIVE_WIDTH);
}

/* What is added to the scores of a query: false where it sees nothing. */
static bool
fill_bias(const struct attention_form *a, const struct attention_scratch *s,
    const struct attention_mask *m, size_t at, size_t query)
{
	const size_t row = at + query * m->stride[2];
	const size_t seen = a->causal && query < a->keys ? query + 1 : a->keys;
	const uint8_t *bytes = (const uint8_t *)m->data + row;
	uint32_t sees = m->data == NULL;

	if (!m->data)
		memset(s->bias, 0, seen * sizeof *s->bias);
	else if (!m->bytes)
		memcpy(s->bias, (const float *)m->data + row,
		    seen * sizeof *s->bias);
	else
		for (size_t j = 0; j < seen; j++)
			s->bias[j] = bytes[j] ? 0 : -INFINITY;
	for (size_t j = 0; m->data && j < seen; j++)
		sees |= s->bias[j] > -INFINITY;
	for (size_t j = seen; j < s->keys; j++)
		s->bias[j] = -INFINITY;
	return sees;
}

/* Of a vector's elements, four at a time. */
static inline float
vec_most(vec x)
{
	float part[NATIVE_WIDTH], most = -INFINITY;

	vec_store(part, x);
	for (size_t i = 4; i < NATIVE_WIDTH; i++)
		part[i % 4] = part[i] > part[i % 4] ? part[i] : part[i % 4];
	for (size_t i = 0; i < 4; i++)
		most = part[i] > most ? part[i] : most;
	return most;
}

static inline float
vec_total(vec x)
{
	float part[NATIVE_WIDTH];

	vec_store(part, x);
	for (size_t i = 4; i < NATIVE_WIDTH; i++)
		part[i % 4] += part[i];
	return part[0] + part[1] + (part[2] + part[3]);
}

/* The largest score of row r; what stands behind the last key is no score. */
static float
most_of_row(
    const struct attention_form *a, const struct attention_scratch *s, size_t r)
{
	const size_t step = (size_t)NATIVE_GROUP * NATIVE_WIDTH;
	float *x = s->weight + r * NATIVE_WIDTH;
	vec most = vec_all(-INFINITY), other = most;

	for (size_t j = a->keys; j < s->keys; j++)
		x[j / NATIVE_WIDTH * step + j % NATIVE_WIDTH] = -INFINITY;
	for (size_t j = 0; j < s->keys; j += PAIR_OF_VECTORS, x += 2 * step) {
		most = vec_most_of(vec_load(x), most);
		other = vec_most_of(vec_load(x + step), other);
	}
	return vec_most(vec_most_of(most, other));
}

/* What is added to the scores of row r is added. */
static void
bias_row(const struct attention_scratch *s, size_t r)
{
	float *x = s->weight + r * NATIVE_WIDTH;

	for (size_t j = 0; j < s->keys; j += NATIVE_WIDTH) {
		vec_store(x, vec_load(x) + vec_load(s->bias + j));
		x += (size_t)NATIVE_GROUP * NATIVE_WIDTH;
	}
}

/* e^(score - most) of row r in place of the scores; their sum. What the largest times
 * log2 e is rounded by is a factor of all of them. */
static float
weigh_row(const struct attention_scratch *s, size_t r, float most)
{
	const size_t step = (size_t)NATIVE_GROUP * NATIVE_WIDTH;
	const vec scale = vec_all(LOG2_E), shift = vec_all(-most * LOG2_E);
	float *x = s->weight + r * NATIVE_WIDTH;
	vec sum = vec_all(0), other = sum;

	for (size_t j = 0; j < s->keys; j += PAIR_OF_VECTORS, x += 2 * step) {
		const vec a = vec_exp2(vec_load(x) * scale + shift);
		const vec b = vec_exp2(vec_load(x + step) * scale + shift);

		vec_store(x, a);
		vec_store(x + step, b);
		sum += a;
		other += b;
	}
	return vec_total(sum + other);
}

static void
clear_row(const struct attention_scratch *s, size_t r)
{
	for (size_t j = 0; j < s->keys; j++)
		s->weight[(j / NATIVE_WIDTH * NATIVE_GROUP + r) * NATIVE_WIDTH
		    + j % NATIVE_WIDTH] = 0;
}

static inline void
give_row(float *y, const float *sum, size_t n, float over)
{
	if (n == PAIR_OF_VECTORS) {
		vec_store(y, vec_load(sum) * vec_all(over));
		vec_store(y + NATIVE_WIDTH,
		    vec_load(sum + NATIVE_WIDTH) * vec_all(over));
		return;
	}
	for (size_t i = 0; i < n; i++)
		y[i] = sum[i] * over;
}

/* Rows of the result: sums of values, over the weights' sum. */
static void
give_rows(const struct attention_form *a, const struct attention_scratch *s,
    const float *over, float *y, size_t rows)
{
	for (size_t i = 0; i < s->values; i += PAIR_OF_VECTORS) {
		const size_t left = a->value_size - i;
		const size_t n =
		    left < PAIR_OF_VECTORS ? left : PAIR_OF_VECTORS;

		product_rows(
		    s->weight, s->v + i * s->keys, s->keys, s->sum, rows);
		for (size_t r = 0; r < rows; r++)
			give_row(y + r * a->y.row + i,
			    s->sum + r * PAIR_OF_VECTORS, n, over[r]);
	}
}

static void
attention_group(const struct attention_form *a,
    const struct attention_scratch *s, const struct attention_mask *m,
    size_t mask_at, size_t query, size_t rows, float *y)
{
	const bool same = !m->data && !a->causal; /* for all queries */
	float over[NATIVE_GROUP];

	for (size_t j = 0; j < s->keys; j += PAIR_OF_VECTORS)
		product_apart(s->q, s->k + j * s->size, s->size,
		    s->weight + j * NATIVE_GROUP, rows);
	for (size_t r = 0; r < rows; r++) {
		if (!same && !fill_bias(a, s, m, mask_at, query + r)
		    && a->zero_blind) {
			clear_row(s, r);
			over[r] = 0;
			continue;
		}
		if (!same)
			bias_row(s, r);
		over[r] = 1 / weigh_row(s, r, most_of_row(a, s, r));
	}
	give_rows(a, s, over, y, rows);
}

static void
attention_head(const struct attention_form *a, const struct attention_data *d,
    size_t batch, size_t head, float *scratch)
{
	const size_t kv = head / a->sharing;
	const float *q = d->q + batch * a->q.batch + head * a->q.head;
	float *y = d->y + batch * a->y.batch + head * a->y.head;
	const size_t at = batch * d->mask.stride[0] + head * d->mask.stride[1];
	const size_t groups = groups_of(a->queries);
	struct attention_scratch s;

	attention_sizes(&s, a);
	attention_place(&s, scratch);
	pack_keys(a, &s, d->k + batch * a->k.batch + kv * a->k.head);
	pack_values(a, &s, d->v + batch * a->v.batch + kv * a->v.head);
	for (size_t i = 0; i < groups; i++) {
		const size_t row = group_at(a->queries, groups, i);
		const size_t rows = group_at(a->queries, groups, i + 1) - row;

		pack_queries(a, &s, q + row * a->q.row, rows);
		attention_group(
		    a, &s, &d->mask, at, row, rows, y + row * a->y.row);
	}
}

#endif
