/* Attention: softmax(q k' * scale + mask) v, head by head, queries a group of rows at
 * a time, so that scores never leave the cache. */
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
	size_t queries, keys, size, value_size;
	struct attention_operand q, k, v, y;
	float scale;
	bool causal;
	bool zero_blind; /* a query that may see no key makes 0, not NaN */
	bool zero_nan; /* weights that would be NaN are 0 */
};

struct attention_data {
	const float *q, *k, *v;
	struct attention_mask mask;
	float *y;
};

/* Floats of scratch that one head takes. */
typedef size_t attention_room(const struct attention_form *a);
/* Head `head` of image `batch`; scratch begins on a cache line, its content is of no
 * matter as long as it is numbers. */
typedef void attention_run(const struct attention_form *a,
    const struct attention_data *d, size_t batch, size_t head, float *scratch);

#endif
