/* Attention: softmax(q k' * scale + mask) v, head by head, so that scores never leave
 * the cache. Keys and values may be those of a past and new ones. */
#ifndef TARGETS_NATIVE_ATTENTION_FORM_H
#define TARGETS_NATIVE_ATTENTION_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where heads lie in a tensor, in elements: [batch, heads, rows, size], the heads
 * side by side in [batch, rows, heads * size], or within something larger. */
struct attention_operand {
	size_t offset, batch, head, row;
};

struct attention_mask {
	const void *data; /* NULL: all is seen */
	size_t stride[3]; /* of batch, head and query; keys are neighbours */
	bool bytes; /* which are seen; else floats, which are added */
	/* Or rows that are filled up with -infinity to panels of keys, [..][queries],
	 * and which block of them is whose, [batch][heads]. */
	const float *ready;
	const uint32_t *block;
};

struct attention_form {
	size_t batch, heads,
	    sharing; /* sharing: heads that read the same keys */
	size_t queries, past, keys; /* keys: of the past and new */
	size_t size, value_size;
	struct attention_operand q, k, v, y, past_k, past_v;
	float scale;
	bool causal; /* query i sees the past and new keys up to its own */
	bool zero_blind; /* a query that may see no key makes 0, not NaN */
	bool zero_nan; /* weights that would be NaN are 0 */
};

struct attention_data {
	const float *q, *k, *v, *past_k, *past_v;
	struct attention_mask mask;
	float *y;
	/* Past and new as one, [batch, heads of keys, keys, size]; or NULL. */
	float *present_k, *present_v;
};

/* Floats of scratch that heads which share keys take. */
typedef size_t attention_room(const struct attention_form *a);
/* Heads of one image that read the same keys. */
struct attention_heads {
	size_t batch, first, n;
};
/* Scratch begins on a cache line, its content is of no matter as long as it is
 * numbers. The first of the heads that share keys joins those of past and present. */
typedef void attention_run(const struct attention_form *a,
    const struct attention_data *d, const struct attention_heads *h,
    float *scratch);

#endif
