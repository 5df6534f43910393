/* Keys, or values, of one head: those of the past, and behind them the new ones. */
#ifndef TARGETS_NATIVE_VECTOR_PAST_H
#define TARGETS_NATIVE_VECTOR_PAST_H

#include <string.h>

#include "targets/native/attention_form.h"

struct past_rows {
	const float *past, *now;
	size_t past_row, row; /* from one to the next */
	size_t npast, n; /* n: all of them */
	size_t size;
	float *joined; /* [n][size], where they are wanted as one; or NULL */
};

static inline const float *
past_row_at(const struct past_rows *r, size_t j)
{
	return j < r->npast ? r->past + j * r->past_row
	                    : r->now + (j - r->npast) * r->row;
}

static inline size_t
past_step_at(const struct past_rows *r, size_t j)
{
	return j < r->npast ? r->past_row : r->row;
}

/* How many rows from `at` on have one step, no more than `most`. */
static inline size_t
past_together(const struct past_rows *r, size_t at, size_t most)
{
	const size_t n = (at < r->npast ? r->npast : r->n) - at;

	return n < most ? n : most;
}

/* n rows of one step, from `at` on, to where all are wanted. */
static inline void
past_join(const struct past_rows *r, size_t at, size_t n)
{
	const float *from = past_row_at(r, at);
	const size_t step = past_step_at(r, at);
	float *to = r->joined + at * r->size;

	if (!r->joined)
		return;
	if (step == r->size)
		memcpy(to, from, n * r->size * sizeof *to);
	else
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * r->size, from + i * step,
			    r->size * sizeof *to);
}

static inline void
past_join_all(const struct past_rows *r)
{
	if (r->npast)
		past_join(r, 0, r->npast);
	past_join(r, r->npast, r->n - r->npast);
}

/* Where past, new and joined keys lie, or values. */
struct past_side {
	const float *past, *now;
	float *joined;
	const struct attention_operand *at_past, *at_now;
	size_t size;
};

/* Those that the heads h read; the first of all that read them joins them. */
static inline struct past_rows
past_rows_of(const struct attention_form *a, const struct past_side *s,
    const struct attention_heads *h)
{
	const size_t kv = h->first / a->sharing;
	const size_t all = (h->batch * (a->heads / a->sharing) + kv) * a->keys;
	struct past_rows r = {
	    .now = s->now + h->batch * s->at_now->batch + kv * s->at_now->head,
	    .past_row = s->at_past->row,
	    .row = s->at_now->row,
	    .npast = a->past,
	    .n = a->keys,
	    .size = s->size,
	};

	if (a->past)
		r.past = s->past + h->batch * s->at_past->batch
		    + kv * s->at_past->head;
	if (s->joined && h->first % a->sharing == 0)
		r.joined = s->joined + all * s->size;
	return r;
}

static inline struct past_rows
past_keys(const struct attention_form *a, const struct attention_data *d,
    const struct attention_heads *h)
{
	const struct past_side s = {
	    d->past_k, d->k, d->present_k, &a->past_k, &a->k, a->size};

	return past_rows_of(a, &s, h);
}

static inline struct past_rows
past_values(const struct attention_form *a, const struct attention_data *d,
    const struct attention_heads *h)
{
	const struct past_side s = {
	    d->past_v, d->v, d->present_v, &a->past_v, &a->v, a->value_size};

	return past_rows_of(a, &s, h);
}

#endif
