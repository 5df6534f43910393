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

/* Of the keys' head `kv`; the first of the heads that read it joins them. */
static inline struct past_rows
past_keys(const struct attention_form *a, const struct attention_data *d,
    size_t batch, size_t kv, bool first)
{
	const size_t all = (batch * (a->heads / a->sharing) + kv) * a->keys;

	return (struct past_rows){
	    .past = a->past
	        ? d->past_k + batch * a->past_k.batch + kv * a->past_k.head
	        : NULL,
	    .now = d->k + batch * a->k.batch + kv * a->k.head,
	    .past_row = a->past_k.row,
	    .row = a->k.row,
	    .npast = a->past,
	    .n = a->keys,
	    .size = a->size,
	    .joined =
	        first && d->present_k ? d->present_k + all * a->size : NULL,
	};
}

static inline struct past_rows
past_values(const struct attention_form *a, const struct attention_data *d,
    size_t batch, size_t kv, bool first)
{
	const size_t all = (batch * (a->heads / a->sharing) + kv) * a->keys;

	return (struct past_rows){
	    .past = a->past
	        ? d->past_v + batch * a->past_v.batch + kv * a->past_v.head
	        : NULL,
	    .now = d->v + batch * a->v.batch + kv * a->v.head,
	    .past_row = a->past_v.row,
	    .row = a->v.row,
	    .npast = a->past,
	    .n = a->keys,
	    .size = a->value_size,
	    .joined = first && d->present_v ? d->present_v + all * a->value_size
	                                    : NULL,
	};
}

#endif
