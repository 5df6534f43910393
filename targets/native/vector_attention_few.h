/* Attention of a few queries: keys and values are read where they lie, each once, and
 * nothing is packed. Rows are the queries of all heads that share keys: their scores
 * with as many keys as stay in the first cache, then with the next, become weights and
 * are multiplied with the values likewise. */
#ifndef TARGETS_NATIVE_VECTOR_ATTENTION_FEW_H
#define TARGETS_NATIVE_VECTOR_ATTENTION_FEW_H

#include "targets/native/vector_past.h"
#include "targets/native/vector_scores.h"

struct few_scratch {
	size_t rows, size, values, keys; /* padded: the last to a pair */
	float *q, *weight, *bias, *sum, *over;
};

static void
few_sizes(struct few_scratch *s, const struct attention_form *a)
{
	s->rows = a->queries * a->sharing;
	s->size = size_round_up(a->size, NATIVE_WIDTH);
	s->values = size_round_up(a->value_size, NATIVE_WIDTH);
	s->keys = size_round_up(a->keys, PAIR_OF_VECTORS);
}

static size_t
few_floats(const struct attention_form *a)
{
	struct few_scratch s;

	few_sizes(&s, a);
	return s.rows * (s.size + s.values + s.keys + 1) + s.keys;
}

static void
few_place(struct few_scratch *s, float *at)
{
	s->q = at;
	s->sum = s->q + s->rows * s->size;
	s->weight = s->sum + s->rows * s->values;
	s->bias = s->weight + s->rows * s->keys;
	s->over = s->bias + s->keys;
}

/* ---- scores ---- */

/* Rows of queries by keys that lie `step` apart, to[row][key]. */
struct few_scores {
	const float *q, *key;
	size_t q_step, step;
	size_t size;
	float *to;
	size_t to_step;
};

#if NATIVE_WIDTH == 4
#define EACH_KEY(M) ROWS_4(M)
#define HALF_THE_KEYS(M) ROWS_2(M)
#elif NATIVE_WIDTH == 8
#define EACH_KEY(M) ROWS_8(M)
#define HALF_THE_KEYS(M) ROWS_4(M)
#else
#define EACH_KEY(M) ROWS_16(M)
#define HALF_THE_KEYS(M) ROWS_8(M)
#endif
#define HALF_WIDTH (NATIVE_WIDTH / 2)

/* What lies behind a key's last element may be anything. */
#define FEW_PART(k) vec_load(key + k * s->step)
#define FEW_LAST(k) vec_only(lanes, FEW_PART(k))
#define FEW_START(k) vec x##k = vec_all(0);
#define FEW_STEP(k) x##k += q0 * FEW_PART(k);
#define FEW_STEP_LAST(k) x##k += q0 * FEW_LAST(k);
#define FEW_KEEP(k) all[k] = x##k;

/* Of one query with a vector of keys. */
static __attribute__((noinline)) void
few_scores_of_one(const struct few_scores *s)
{
	const float *q = s->q, *key = s->key;
	const bits lanes = first_lanes(s->size % NATIVE_WIDTH);
	size_t i = 0;
	vec all[NATIVE_WIDTH];

	EACH_KEY(FEW_START)
	for (; i + NATIVE_WIDTH <= s->size; i += NATIVE_WIDTH) {
		const vec q0 = vec_load(q);

		EACH_KEY(FEW_STEP)
		q += NATIVE_WIDTH;
		key += NATIVE_WIDTH;
	}
	if (i < s->size) {
		const vec q0 = vec_load(q);

		EACH_KEY(FEW_STEP_LAST)
	}
	EACH_KEY(FEW_KEEP)
	vec_store(s->to, vec_total_of_each(all));
}

#define FEW_START_BOTH(k) vec x##k = vec_all(0), y##k = vec_all(0);
#define FEW_STEP_OF(k, part) \
	{ \
		const vec one = vec_kept(part); \
\
		x##k += q0 * one; \
		y##k += q1 * one; \
	}
#define FEW_STEP_BOTH(k) FEW_STEP_OF(k, FEW_PART(k))
#define FEW_STEP_BOTH_LAST(k) FEW_STEP_OF(k, FEW_LAST(k))
#define FEW_KEEP_BOTH(k) \
	all[k] = x##k; \
	all[k + HALF_WIDTH] = y##k;

/* Of two queries with half as many keys. */
static __attribute__((noinline)) void
few_scores_of_two(const struct few_scores *s)
{
	const float *q = s->q, *key = s->key;
	const bits lanes = first_lanes(s->size % NATIVE_WIDTH);
	float both[NATIVE_WIDTH];
	size_t i = 0;
	vec all[NATIVE_WIDTH];

	HALF_THE_KEYS(FEW_START_BOTH)
	for (; i + NATIVE_WIDTH <= s->size; i += NATIVE_WIDTH) {
		const vec q0 = vec_load(q), q1 = vec_load(q + s->q_step);

		HALF_THE_KEYS(FEW_STEP_BOTH)
		q += NATIVE_WIDTH;
		key += NATIVE_WIDTH;
	}
	if (i < s->size) {
		const vec q0 = vec_load(q), q1 = vec_load(q + s->q_step);

		HALF_THE_KEYS(FEW_STEP_BOTH_LAST)
	}
	HALF_THE_KEYS(FEW_KEEP_BOTH)
	vec_store(both, vec_total_of_each(all));
	memcpy(s->to, both, sizeof both / 2);
	memcpy(s->to + s->to_step, both + HALF_WIDTH, sizeof both / 2);
}

/* Of one query with one key. */
static float
few_score(const float *q, const float *key, size_t size)
{
	vec sum = vec_all(0);
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= size; i += NATIVE_WIDTH)
		sum += vec_load(q + i) * vec_load(key + i);
	if (i < size)
		sum += vec_load(q + i)
		    * vec_only(first_lanes(size - i), vec_load(key + i));
	return vec_sum(sum);
}

/* Of one or two queries with n keys: the last of them a second time rather than one
 * by one. */
static void
few_scores_of(struct few_scores s, size_t rows, size_t n)
{
	const size_t block = rows == 1 ? NATIVE_WIDTH : HALF_WIDTH;
	const float *key = s.key;
	float *to = s.to;

	for (size_t i = 0; n < block && i < rows * n; i++)
		to[i / n * s.to_step + i % n] = few_score(
		    s.q + i / n * s.q_step, key + i % n * s.step, s.size);
	for (size_t j = 0; n >= block && j < n; j += block) {
		const size_t at = j + block > n ? n - block : j;

		s.key = key + at * s.step;
		s.to = to + at;
		if (rows == 1)
			few_scores_of_one(&s);
		else
			few_scores_of_two(&s);
	}
}

/* TUNING: bytes of keys or values that all rows are multiplied with in turn: half of
 * a first cache. */
#define FEW_BYTES 16384

static size_t
few_together(const struct past_rows *k, size_t at)
{
	const size_t n = FEW_BYTES / (k->size * sizeof *k->now);

	return past_together(k, at, size_round_up(n ? n : 1, NATIVE_WIDTH));
}

static void
few_score_all(const struct few_scratch *s, const struct past_rows *k)
{
	for (size_t at = 0, n; at < k->n; at += n) {
		struct few_scores part = {.key = past_row_at(k, at),
		    .q_step = s->size,
		    .step = past_step_at(k, at),
		    .size = k->size,
		    .to_step = s->keys};

		n = few_together(k, at);
		past_join(k, at, n);
		for (size_t r = 0; r < s->rows; r += 2) {
			part.q = s->q + r * s->size;
			part.to = s->weight + r * s->keys + at;
			few_scores_of(part, s->rows - r < 2 ? 1 : 2, n);
		}
	}
}

/* ---- sums of values ---- */

/* to[row] += weight[row] times n rows of values. */
struct few_sums {
	const float *weight, *value;
	size_t weight_step, step, n;
	float *to;
	size_t to_step;
};

#define FEW_SUM_START(c) \
	vec a##c = vec_load(s->to + c * NATIVE_WIDTH), \
	    b##c = vec_load(other + c * NATIVE_WIDTH);
#define FEW_SUM_STEP(c) \
	{ \
		const vec x = vec_kept(vec_load(v + c * NATIVE_WIDTH)); \
\
		a##c += w0 * x; \
		b##c += w1 * x; \
	}
#define FEW_SUM_STORE(c) \
	vec_store(s->to + c * NATIVE_WIDTH, a##c); \
	vec_store(other + c * NATIVE_WIDTH, b##c);

/* Of two rows. */
#define SUMS_OF_TWO(count) \
	static __attribute__((noinline)) void few_sums_of_two_##count( \
	    const struct few_sums *s) \
	{ \
		const float *v = s->value; \
		float *other = s->to + s->to_step; \
\
		ROWS_##count(FEW_SUM_START) for (size_t j = 0; j < s->n; \
		                                 j++, v += s->step) \
		{ \
			const vec w0 = vec_all(s->weight[j]); \
			const vec w1 = vec_all(s->weight[s->weight_step + j]); \
\
			ROWS_##count(FEW_SUM_STEP) \
		} \
		ROWS_##count(FEW_SUM_STORE) \
	}
SUMS_OF_TWO(4)
SUMS_OF_TWO(1)

#define FEW_PAIR_START(c) \
	vec a##c = vec_load(s->to + c * NATIVE_WIDTH), b##c = vec_all(0);
#define FEW_PAIR_STEP(c) \
	a##c += w0 * vec_load(v + c * NATIVE_WIDTH); \
	b##c += w1 * vec_load(v + s->step + c * NATIVE_WIDTH);
#define FEW_PAIR_LAST(c) a##c += w0 * vec_load(v + c * NATIVE_WIDTH);
#define FEW_PAIR_STORE(c) vec_store(s->to + c * NATIVE_WIDTH, a##c + b##c);

/* Of one row, two values at a time: their sums do not wait for each other. */
#define SUMS_OF_ONE(count) \
	static __attribute__((noinline)) void few_sums_of_one_##count( \
	    const struct few_sums *s) \
	{ \
		const float *v = s->value, *w = s->weight; \
		size_t j = 0; \
\
		ROWS_##count(FEW_PAIR_START) for (; j + 2 <= s->n; \
		                                  j += 2, v += 2 * s->step) \
		{ \
			const vec w0 = vec_all(w[j]), w1 = vec_all(w[j + 1]); \
\
			ROWS_##count(FEW_PAIR_STEP) \
		} \
		if (j < s->n) { \
			const vec w0 = vec_all(w[j]); \
\
			ROWS_##count(FEW_PAIR_LAST) \
		} \
		ROWS_##count(FEW_PAIR_STORE) \
	}
SUMS_OF_ONE(4)
SUMS_OF_ONE(1)

/* What is read behind the last element of a row of values goes to sums that nobody
 * reads. */
static void
few_sums_of(struct few_sums s, size_t rows, size_t size)
{
	for (size_t i = 0; i < size;) {
		const bool four = size - i > 3 * NATIVE_WIDTH;
		const size_t n = four ? 4 * NATIVE_WIDTH : NATIVE_WIDTH;

		if (rows == 1)
			(four ? few_sums_of_one_4 : few_sums_of_one_1)(&s);
		else
			(four ? few_sums_of_two_4 : few_sums_of_two_1)(&s);
		s.value += n;
		s.to += n;
		i += n;
	}
}

static void
few_sum_all(const struct few_scratch *s, const struct past_rows *v)
{
	memset(s->sum, 0, s->rows * s->values * sizeof *s->sum);
	for (size_t at = 0, n; at < v->n; at += n) {
		struct few_sums part = {.value = past_row_at(v, at),
		    .weight_step = s->keys,
		    .step = past_step_at(v, at),
		    .to_step = s->values};

		n = part.n = few_together(v, at);
		past_join(v, at, n);
		for (size_t r = 0; r < s->rows; r += 2) {
			part.weight = s->weight + r * s->keys + at;
			part.to = s->sum + r * s->values;
			few_sums_of(part, s->rows - r < 2 ? 1 : 2, v->size);
		}
	}
}

/* ---- all of it ---- */

/* Where row r is of the heads h. */
static inline size_t
few_at(const struct attention_form *a, const struct attention_operand *o,
    const struct attention_heads *h, size_t r)
{
	return h->batch * o->batch + (h->first + r / a->queries) * o->head
	    + r % a->queries * o->row;
}

/* Scaled, and zeros behind the last element. */
static void
few_query(const struct attention_form *a, const struct few_scratch *s,
    const float *from, size_t r)
{
	float *to = s->q + r * s->size;

	for (size_t i = 0; i < s->size; i++)
		to[i] = i < a->size ? from[i] * a->scale : 0;
}

/* A row's scores become weights; what their sum is divided into. */
static float
few_weigh(const struct attention_form *a, const struct few_scratch *s,
    const struct attention_place *p, size_t query, float *x)
{
	const struct score_row row = {x, NATIVE_WIDTH, s->keys};
	float most = -INFINITY, over;
	const float *bias;
	vec lanes;
	bool blind;

	for (size_t j = a->keys; j < s->keys; j++)
		x[j] = -INFINITY;
	bias = bias_of(a, p, query, s->bias, s->keys, &blind);
	lanes = most_of_row(&row, bias, p->same ? s->keys : 0);
	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		most = lanes[i] > most ? lanes[i] : most;
	over = 1 / vec_sum(weigh_row(&row, most));
	if (!is_cleared(a, blind, over))
		return over;
	clear_row(&row);
	return 0;
}

static void
few_weigh_all(const struct attention_form *a, const struct attention_data *d,
    const struct few_scratch *s, const struct attention_heads *h)
{
	for (size_t r = 0; r < s->rows; r++) {
		const struct attention_place p = attention_place_of(
		    a, d, h->batch, h->first + r / a->queries);

		s->over[r] = few_weigh(
		    a, s, &p, r % a->queries, s->weight + r * s->keys);
	}
}

static void
few_give(const struct attention_form *a, const struct few_scratch *s, float *y,
    size_t r)
{
	const float *sum = s->sum + r * s->values;

	for (size_t i = 0; i < a->value_size; i += NATIVE_WIDTH)
		vec_store_first(y + i, vec_load(sum + i) * vec_all(s->over[r]),
		    a->value_size - i);
}

static void
attention_few(const struct attention_form *a, const struct attention_data *d,
    const struct attention_heads *h, float *scratch)
{
	const struct past_rows k = past_keys(a, d, h);
	const struct past_rows v = past_values(a, d, h);
	struct few_scratch s;

	few_sizes(&s, a);
	few_place(&s, scratch);
	s.rows = h->n * a->queries;
	for (size_t r = 0; r < s.rows; r++)
		few_query(a, &s, d->q + few_at(a, &a->q, h, r), r);
	few_score_all(&s, &k);
	few_weigh_all(a, d, &s, h);
	few_sum_all(&s, &v);
	for (size_t r = 0; r < s.rows; r++)
		few_give(a, &s, d->y + few_at(a, &a->y, h, r), r);
}

#endif
