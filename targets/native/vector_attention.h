/* One head of attention. Keys are packed as panels of two vectors of them,
 * [keys / pair][size][pair], values as [value_size / pair][keys][pair]; a group of
 * queries is multiplied by the former, its scores become weights in the order that
 * the product by the latter reads. */
#ifndef TARGETS_NATIVE_VECTOR_ATTENTION_H
#define TARGETS_NATIVE_VECTOR_ATTENTION_H

#include "targets/native/attention_form.h"
#include "targets/native/vector_functions.h"
#include "targets/native/vector_product.h"

struct attention_scratch {
	size_t size, keys, values; /* padded: to a vector, a pair, a pair */
	float *k, *v, *q, *score, *weight, *bias, *sum;
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
	    + NATIVE_GROUP * (s.size + 2 * s.keys + PAIR_OF_VECTORS) + s.keys;
}

static void
attention_place(struct attention_scratch *s, float *at)
{
	s->k = at;
	s->v = s->k + s->keys * s->size;
	s->q = s->v + s->values * s->keys;
	s->score = s->q + NATIVE_GROUP * s->size;
	s->weight = s->score + NATIVE_GROUP * s->keys;
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

/* Element i of the keys of a panel, side by side. */
static inline void
turn_keys(const struct attention_form *a, const float *from, size_t n,
    size_t size, float *to)
{
	for (size_t i = 0; i < size; i++, to += PAIR_OF_VECTORS) {
		const size_t there = i < a->size ? n : 0;

		for (size_t x = 0; x < there; x++)
			to[x] = from[x * a->k.row + i];
		for (size_t x = there; x < PAIR_OF_VECTORS; x++)
			to[x] = 0;
	}
}

static void
pack_keys(const struct attention_form *a, const struct attention_scratch *s,
    const float *from)
{
	size_t j = 0;

	for (; j + PAIR_OF_VECTORS <= a->keys; j += PAIR_OF_VECTORS)
		turn_keys(a, from + j * a->k.row, PAIR_OF_VECTORS, s->size,
		    s->k + j * s->size);
	if (j < a->keys)
		turn_keys(a, from + j * a->k.row, a->keys - j, s->size,
		    s->k + j * s->size);
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

/* Scores of row r with what is added to them, in place; the largest number. What
 * stands behind the last key is no score. */
static float
bias_row(
    const struct attention_form *a, const struct attention_scratch *s, size_t r)
{
	float *x = s->score + r * PAIR_OF_VECTORS;
	vec most = vec_all(-INFINITY);

	for (size_t j = a->keys; j < s->keys; j++)
		x[(s->keys / PAIR_OF_VECTORS - 1) * NATIVE_GROUP
		        * PAIR_OF_VECTORS
		    + j % PAIR_OF_VECTORS] = 0;
	for (size_t j = 0; j < s->keys; j += NATIVE_WIDTH) {
		const vec y = vec_load(x) + vec_load(s->bias + j);

		vec_store(x, y);
		most = vec_choose(y > most, y, most);
		x += j % PAIR_OF_VECTORS
		    ? (NATIVE_GROUP * PAIR_OF_VECTORS) - NATIVE_WIDTH
		    : NATIVE_WIDTH;
	}
	return vec_most(most);
}

/* e^(score - most) of row r in the order of weights; their sum. */
static float
weigh_row(const struct attention_scratch *s, size_t r, float most)
{
	const float *x = s->score + r * PAIR_OF_VECTORS;
	float *to = s->weight + r * NATIVE_WIDTH;
	vec sum = vec_all(0);

	for (size_t j = 0; j < s->keys; j += NATIVE_WIDTH) {
		const vec y = vec_load(x) - vec_all(most);
		const bits none = y < vec_all(-87.3f);
		const vec e = vec_choose(none, vec_all(0), vec_exp(y));

		vec_store(to, e);
		sum += e;
		to += (size_t)NATIVE_GROUP * NATIVE_WIDTH;
		x += j % PAIR_OF_VECTORS
		    ? (NATIVE_GROUP * PAIR_OF_VECTORS) - NATIVE_WIDTH
		    : NATIVE_WIDTH;
	}
	return vec_total(sum);
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
	bool sees = true;

	for (size_t j = 0; j < s->keys; j += PAIR_OF_VECTORS)
		product_rows(s->q, s->k + j * s->size, s->size,
		    s->score + j * NATIVE_GROUP, rows);
	for (size_t r = 0; r < rows; r++) {
		if (!same || r == 0)
			sees = fill_bias(a, s, m, mask_at, query + r);
		if (!sees && a->zero_blind) {
			clear_row(s, r);
			over[r] = 0;
			continue;
		}
		over[r] = 1 / weigh_row(s, r, bias_row(a, s, r));
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
	struct attention_scratch s;

	attention_sizes(&s, a);
	attention_place(&s, scratch);
	pack_keys(a, &s, d->k + batch * a->k.batch + kv * a->k.head);
	pack_values(a, &s, d->v + batch * a->v.batch + kv * a->v.head);
	for (size_t i = 0; i < a->queries; i += NATIVE_GROUP) {
		const size_t left = a->queries - i;
		const size_t rows = left < NATIVE_GROUP ? left : NATIVE_GROUP;

		pack_queries(a, &s, q + i * a->q.row, rows);
		attention_group(a, &s, &d->mask, at, i, rows, y + i * a->y.row);
	}
}

#endif
