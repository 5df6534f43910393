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
		sees |= s->bias[j] != -INFINITY;
	for (size_t j = seen; j < s->keys; j++)
		s->bias[j] = -INFINITY;
	return sees;
}

/* The largest scores of row r, one of each of a vector's lanes; the bias is added from
 * key `from` on, before which it is 0. */
static inline vec
most_of_row(
    const struct attention_scratch *s, size_t r, const float *bias, size_t from)
{
	const size_t step = (size_t)NATIVE_GROUP * NATIVE_WIDTH;
	float *x = s->weight + r * NATIVE_WIDTH;
	vec most = vec_all(-INFINITY), other = most;
	size_t j = 0;

	for (; j < from; j += PAIR_OF_VECTORS, x += 2 * step) {
		most = vec_most_of(vec_load(x), most);
		other = vec_most_of(vec_load(x + step), other);
	}
	for (; j < s->keys; j += PAIR_OF_VECTORS, x += 2 * step) {
		const vec a = vec_load(x) + vec_load(bias + j);
		const vec b =
		    vec_load(x + step) + vec_load(bias + j + NATIVE_WIDTH);

		vec_store(x, a);
		vec_store(x + step, b);
		most = vec_most_of(a, most);
		other = vec_most_of(b, other);
	}
	return vec_most_of(most, other);
}

/* e^(score - most) of row r in place of the scores, and their sums. What the largest
 * times log2 e is rounded by is a factor of all of them. */
static inline vec
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
	return sum + other;
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
		    s->weight, s->v + i * s->keys, a->keys, s->sum, rows);
		for (size_t r = 0; r < rows; r++)
			give_row(y + r * a->y.row + i,
			    s->sum + r * PAIR_OF_VECTORS, n, over[r]);
	}
}

/* Where a group's rows stand; rows beyond the last of a vector count for nothing. */
#define GROUP_ROOM \
	((NATIVE_GROUP + NATIVE_WIDTH - 1) / NATIVE_WIDTH * NATIVE_WIDTH)

/* Which head of which image. */
struct attention_place {
	size_t mask; /* in data, or the block of what is ready */
	const struct attention_mask *m;
	bool same; /* nothing is added but behind the last key */
};

/* The largest score of each row. */
static void
bias_rows(const struct attention_form *a, const struct attention_scratch *s,
    const struct attention_place *p, size_t query, size_t rows, float *most,
    bool *blind)
{
	const struct attention_mask *m = p->m;
	vec part[GROUP_ROOM];

	for (size_t r = 0; r < rows; r++) {
		const float *bias = s->bias;

		blind[r] = false;
		if (m->ready)
			bias = m->ready
			    + (p->mask * a->queries + query + r) * s->keys;
		else if (!p->same)
			blind[r] = !fill_bias(a, s, m, p->mask, query + r);
		part[r] = most_of_row(s, r, bias,
		    p->same ? a->keys / PAIR_OF_VECTORS * PAIR_OF_VECTORS : 0);
	}
	for (size_t r = rows; r < GROUP_ROOM; r++)
		part[r] = vec_all(0);
	for (size_t r = 0; r < GROUP_ROOM; r += NATIVE_WIDTH)
		vec_store(most + r, vec_most_of_each(part + r));
}

/* Scores become weights; what their sums are divided into. */
static void
weigh_rows(const struct attention_form *a, const struct attention_scratch *s,
    const float *most, const bool *blind, size_t rows, float *over)
{
	vec part[GROUP_ROOM];

	for (size_t r = 0; r < rows; r++)
		part[r] = weigh_row(s, r, most[r]);
	for (size_t r = rows; r < GROUP_ROOM; r++)
		part[r] = vec_all(0);
	for (size_t r = 0; r < GROUP_ROOM; r += NATIVE_WIDTH)
		vec_store(over + r, vec_all(1) / vec_total_of_each(part + r));
	for (size_t r = 0; r < rows; r++)
		if ((blind[r] && a->zero_blind)
		    || (a->zero_nan && over[r] != over[r])) {
			clear_row(s, r);
			over[r] = 0;
		}
}

static void
attention_group(const struct attention_form *a,
    const struct attention_scratch *s, const struct attention_place *p,
    size_t query, size_t rows, float *y)
{
	float most[GROUP_ROOM], over[GROUP_ROOM];
	bool blind[NATIVE_GROUP];

	for (size_t j = 0; j < s->keys; j += PAIR_OF_VECTORS)
		product_apart(s->q, s->k + j * s->size, a->size,
		    s->weight + j * NATIVE_GROUP, rows);
	bias_rows(a, s, p, query, rows, most, blind);
	weigh_rows(a, s, most, blind, rows, over);
	give_rows(a, s, over, y, rows);
}

static struct attention_place
attention_place_of(const struct attention_form *a,
    const struct attention_data *d, size_t batch, size_t head)
{
	const struct attention_mask *m = &d->mask;

	return (struct attention_place){.mask = m->ready
	        ? m->block[batch * a->heads + head]
	        : batch * m->stride[0] + head * m->stride[1],
	    .m = m,
	    .same = !m->data && !m->ready && !a->causal};
}

static void
attention_head(const struct attention_form *a, const struct attention_data *d,
    size_t batch, size_t head, float *scratch)
{
	const size_t kv = head / a->sharing;
	const float *q = d->q + batch * a->q.batch + head * a->q.head;
	float *y = d->y + batch * a->y.batch + head * a->y.head;
	const struct attention_place p = attention_place_of(a, d, batch, head);
	const size_t groups = groups_of(a->queries);
	struct attention_scratch s;

	attention_sizes(&s, a);
	attention_place(&s, scratch);
	pack_keys(a, &s, d->k + batch * a->k.batch + kv * a->k.head);
	pack_values(a, &s, d->v + batch * a->v.batch + kv * a->v.head);
	if (p.same)
		fill_bias(a, &s, p.m, 0, 0);
	for (size_t i = 0; i < groups; i++) {
		const size_t row = group_at(a->queries, groups, i);
		const size_t rows = group_at(a->queries, groups, i + 1) - row;

		pack_queries(a, &s, q + row * a->q.row, rows);
		attention_group(a, &s, &p, row, rows, y + row * a->y.row);
	}
}

#endif
