/* Attention of heads that share keys. Keys are packed as panels of two vectors of them,
 * [keys / pair][size][pair], values as [value_size / pair][keys][pair]; a group of
 * queries is multiplied by the former, its scores become weights in place, in the order
 * that the product by the latter reads. */
#ifndef TARGETS_NATIVE_VECTOR_ATTENTION_H
#define TARGETS_NATIVE_VECTOR_ATTENTION_H

#include "targets/native/vector_past.h"
#include "targets/native/vector_scores.h"

struct attention_scratch {
	size_t size, keys, values; /* padded: to a vector, a pair, a pair */
	float *k, *v, *q, *weight, *bias, *sum;
};

static void
attention_sizes(struct attention_scratch *s, const struct attention_form *a)
{
	s->size = size_round_up(a->size, NATIVE_WIDTH);
	s->keys = size_round_up(a->keys, PAIR_OF_VECTORS);
	s->values = size_round_up(a->value_size, PAIR_OF_VECTORS);
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

/* A vector of keys, their elements from i on, turned: elements i lie side by side, then
 * elements i + 1. NULL: there is no such key. */
static inline void
turn_keys(
    const float *const key[NATIVE_WIDTH], size_t size, size_t i, float *to)
{
	vec x[NATIVE_WIDTH];

	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		x[r] =
		    key[r] ? vec_load_first(key[r] + i, size - i) : vec_all(0);
	vec_turn(x);
	for (size_t r = 0; r < NATIVE_WIDTH; r++)
		vec_store(to + r * PAIR_OF_VECTORS, x[r]);
}

static void
pack_keys(const struct attention_scratch *s, const struct past_rows *k)
{
	for (size_t j = 0; j < s->keys; j += NATIVE_WIDTH) {
		const float *key[NATIVE_WIDTH];
		float *to = s->k
		    + j / PAIR_OF_VECTORS * PAIR_OF_VECTORS * s->size
		    + j % PAIR_OF_VECTORS;

		for (size_t r = 0; r < NATIVE_WIDTH; r++)
			key[r] = j + r < k->n ? past_row_at(k, j + r) : NULL;
		for (size_t i = 0; i < s->size; i += NATIVE_WIDTH)
			turn_keys(key, k->size, i, to + i * PAIR_OF_VECTORS);
	}
}

static void
pack_values(const struct attention_scratch *s, const struct past_rows *v)
{
	for (size_t i = 0; i < s->values; i += PAIR_OF_VECTORS) {
		const size_t left = v->size - i;
		const size_t n =
		    left < PAIR_OF_VECTORS ? left : PAIR_OF_VECTORS;
		float *to = s->v + i * s->keys;

		for (size_t j = 0; j < s->keys; j++, to += PAIR_OF_VECTORS)
			copy_row(to, past_row_at(v, j < v->n ? j : 0) + i,
			    j < v->n ? n : 0, PAIR_OF_VECTORS, vec_all(1),
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

/* Of row r. */
static inline struct score_row
scores_of(const struct attention_scratch *s, size_t r)
{
	return (struct score_row){s->weight + r * NATIVE_WIDTH,
	    (size_t)NATIVE_GROUP * NATIVE_WIDTH, s->keys};
}

/* The largest score of each row. */
static void
bias_rows(const struct attention_form *a, const struct attention_scratch *s,
    const struct attention_place *p, size_t query, size_t rows, float *most,
    bool *blind)
{
	const size_t from =
	    p->same ? a->keys / PAIR_OF_VECTORS * PAIR_OF_VECTORS : 0;
	vec part[GROUP_ROOM];

	for (size_t r = 0; r < rows; r++) {
		const struct score_row row = scores_of(s, r);

		part[r] = most_of_row(&row,
		    bias_of(a, p, query + r, s->bias, s->keys, &blind[r]),
		    from);
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

	for (size_t r = 0; r < rows; r++) {
		const struct score_row row = scores_of(s, r);

		part[r] = weigh_row(&row, most[r]);
	}
	for (size_t r = rows; r < GROUP_ROOM; r++)
		part[r] = vec_all(0);
	for (size_t r = 0; r < GROUP_ROOM; r += NATIVE_WIDTH)
		vec_store(over + r, vec_all(1) / vec_total_of_each(part + r));
	for (size_t r = 0; r < rows; r++) {
		const struct score_row row = scores_of(s, r);

		if (!is_cleared(a, blind[r], over[r]))
			continue;
		clear_row(&row);
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

static void
attention_head(const struct attention_form *a, const struct attention_data *d,
    const struct attention_scratch *s, size_t batch, size_t head)
{
	const float *q = d->q + batch * a->q.batch + head * a->q.head;
	float *y = d->y + batch * a->y.batch + head * a->y.head;
	const struct attention_place p = attention_place_of(a, d, batch, head);
	const size_t groups = groups_of(a->queries);

	if (p.same)
		fill_bias(a, &p, 0, s->bias, s->keys);
	for (size_t i = 0; i < groups; i++) {
		const size_t row = group_at(a->queries, groups, i);
		const size_t rows = group_at(a->queries, groups, i + 1) - row;

		pack_queries(a, s, q + row * a->q.row, rows);
		attention_group(a, s, &p, row, rows, y + row * a->y.row);
	}
}

static void
attention_heads(const struct attention_form *a, const struct attention_data *d,
    const struct attention_heads *h, float *scratch)
{
	const struct past_rows k = past_keys(a, d, h);
	const struct past_rows v = past_values(a, d, h);
	struct attention_scratch s;

	attention_sizes(&s, a);
	attention_place(&s, scratch);
	pack_keys(&s, &k);
	past_join_all(&k);
	pack_values(&s, &v);
	past_join_all(&v);
	for (size_t i = 0; i < h->n; i++)
		attention_head(a, d, &s, h->batch, h->first + i);
}

#endif
