/* A row of scores becomes weights: what a mask adds, the largest, e^(x - largest) and
 * their sum. The vectors of a row lie `step` floats apart, two for each of its pairs. */
#ifndef TARGETS_NATIVE_VECTOR_SCORES_H
#define TARGETS_NATIVE_VECTOR_SCORES_H

#include "ir/base/size.h"
#include "targets/native/attention_form.h"
#include "targets/native/vector_functions.h"
#include "targets/native/vector_product.h"

/* Which head of which image. */
struct attention_place {
	size_t mask; /* in data, or the block of what is ready */
	const struct attention_mask *m;
	bool same; /* nothing is added but behind the last key */
};

static inline struct attention_place
attention_place_of(const struct attention_form *a,
    const struct attention_data *d, size_t batch, size_t head)
{
	const struct attention_mask *m = &d->mask;
	const bool sees_all = !a->causal || a->past + 1 >= a->keys;

	return (struct attention_place){.mask = m->ready
	        ? m->block[batch * a->heads + head]
	        : batch * m->stride[0] + head * m->stride[1],
	    .m = m,
	    .same = !m->data && !m->ready && sees_all};
}

/* What is added to the scores of a query, [keys]: false where it sees nothing. */
static inline bool
fill_bias(const struct attention_form *a, const struct attention_place *p,
    size_t query, float *bias, size_t keys)
{
	const struct attention_mask *m = p->m;
	const size_t row = p->mask + query * m->stride[2];
	const size_t last = a->past + query + 1;
	const size_t seen = a->causal && last < a->keys ? last : a->keys;
	const uint8_t *bytes = (const uint8_t *)m->data + row;
	uint32_t sees = m->data == NULL;

	if (!m->data)
		memset(bias, 0, seen * sizeof *bias);
	else if (!m->bytes)
		memcpy(bias, (const float *)m->data + row, seen * sizeof *bias);
	else
		for (size_t j = 0; j < seen; j++)
			bias[j] = bytes[j] ? 0 : -INFINITY;
	for (size_t j = 0; m->data && j < seen; j++)
		sees |= bias[j] != -INFINITY;
	for (size_t j = seen; j < keys; j++)
		bias[j] = -INFINITY;
	return sees;
}

/* The same, or the row that is ready; `bias` is room, and holds what is the same for
 * all queries. *blind: it sees nothing, and is not ready. */
static inline const float *
bias_of(const struct attention_form *a, const struct attention_place *p,
    size_t query, float *bias, size_t keys, bool *blind)
{
	*blind = false;
	if (p->m->ready)
		return p->m->ready + (p->mask * a->queries + query) * keys;
	if (!p->same)
		*blind = !fill_bias(a, p, query, bias, keys);
	return bias;
}

struct score_row {
	float *x;
	size_t step, keys; /* padded to a pair */
};

/* The largest, one of each of a vector's lanes; the bias is added from key `from` on,
 * before which it is 0. */
static inline vec
most_of_row(const struct score_row *r, const float *bias, size_t from)
{
	const size_t step = r->step;
	float *x = r->x;
	vec most = vec_all(-INFINITY), other = most;
	size_t j = 0;

	for (; j < from; j += PAIR_OF_VECTORS, x += 2 * step) {
		most = vec_most_of(vec_load(x), most);
		other = vec_most_of(vec_load(x + step), other);
	}
	for (; j < r->keys; j += PAIR_OF_VECTORS, x += 2 * step) {
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

/* e^(score - most) in place of the scores, and their sums. What the largest times
 * log2 e is rounded by is a factor of all of them. */
static inline vec
weigh_row(const struct score_row *r, float most)
{
	const vec scale = vec_all(LOG2_E), shift = vec_all(-most * LOG2_E);
	const size_t step = r->step;
	float *x = r->x;
	vec sum = vec_all(0), other = sum;

	for (size_t j = 0; j < r->keys; j += PAIR_OF_VECTORS, x += 2 * step) {
		const vec a = vec_exp2(vec_load(x) * scale + shift);
		const vec b = vec_exp2(vec_load(x + step) * scale + shift);

		vec_store(x, a);
		vec_store(x + step, b);
		sum += a;
		other += b;
	}
	return sum + other;
}

static inline void
clear_row(const struct score_row *r)
{
	for (size_t j = 0; j < r->keys; j += NATIVE_WIDTH)
		vec_store(r->x + j / NATIVE_WIDTH * r->step, vec_all(0));
}

/* Where weights are 0 instead of what a query makes that sees nothing, or makes NaN. */
static inline bool
is_cleared(const struct attention_form *a, bool blind, float over)
{
	return (blind && a->zero_blind) || (a->zero_nan && over != over);
}

#endif
