#include "targets/native/attention_mask.h"

#include <math.h>
#include <string.h>

#include "ir/base/size.h"

bool
attention_mask_read(struct attention_mask *m, const struct type *t,
    const struct attention_form *a)
{
	const size_t want[4] = {a->batch, a->heads, a->queries, a->keys};
	size_t step = 1;

	*m = (struct attention_mask){.bytes = t->dtype == DT_BOOL};
	if (!type_is_static(t) || t->rank < 1 || t->rank > 4
	    || (t->dtype != DT_BOOL && t->dtype != DT_FLOAT))
		return false;
	for (uint32_t i = t->rank; i-- > 0;) {
		const size_t at = 4 - t->rank + i;
		const bool whole = (size_t)t->dim[i] == want[at];

		if (!whole && (t->dim[i] != 1 || at == 3))
			return false;
		if (at < 3)
			m->stride[at] = t->dim[i] == 1 ? 0 : step;
		step *= (size_t)t->dim[i];
	}
	return true;
}

/* What is added for key j of query r, whose row begins at `at`. */
static float
added(const struct attention_mask *m, const struct attention_form *a, size_t at,
    size_t r, size_t j)
{
	if (j >= a->keys || (a->causal && j > r + a->past))
		return -INFINITY;
	if (m->bytes)
		return ((const uint8_t *)m->data)[at + j] ? 0 : -INFINITY;
	return ((const float *)m->data)[at + j];
}

/* Rows of one head's mask; false: one sees nothing. */
static bool
read_rows(const struct attention_mask *m, const struct attention_form *a,
    size_t head, size_t step, float *to)
{
	bool all = true;

	for (size_t r = 0; r < a->queries; r++, to += step) {
		const size_t at = head / a->heads * m->stride[0]
		    + head % a->heads * m->stride[1] + r * m->stride[2];
		bool sees = false;

		for (size_t j = 0; j < step; j++) {
			to[j] = added(m, a, at, r, j);
			sees = sees || !(to[j] == -INFINITY);
		}
		all = all && sees;
	}
	return all;
}

/* Finds the block among the first n, or makes it the last of them. */
static uint32_t
find_block(float *ready, uint32_t n, size_t floats)
{
	const float *last = ready + (size_t)n * floats;
	uint32_t i = 0;

	while (i < n
	    && memcmp(ready + i * floats, last, floats * sizeof *ready) != 0)
		i++;
	return i;
}

/* TUNING: more floats are not made ready, but copied as they are read. */
#define READY_MOST ((size_t)1 << 22)

/* Most windows have the same mask: each is there once. */
void
attention_mask_ready(struct attention_mask *m, const struct attention_form *a,
    size_t panel, struct arena *arena)
{
	const size_t heads = a->batch * a->heads;
	const size_t step = size_round_up(a->keys, panel);
	const size_t floats = a->queries * step;
	uint32_t *block, n = 0;
	struct arena scratch;
	float *ready;
	bool sees = true;

	if (floats > READY_MOST / heads)
		return;
	arena_init(&scratch);
	block = arena_new(arena, uint32_t, heads);
	ready = arena_new(&scratch, float, heads *floats);
	for (size_t i = 0; i < heads; i++) {
		sees = read_rows(m, a, i, step, ready + n * floats) && sees;
		block[i] = find_block(ready, n, floats);
		n += block[i] == n;
	}
	if (sees || !a->zero_blind) {
		m->ready = (const float *)arena_copy(
		    arena, ready, n * floats * sizeof *ready);
		m->block = block;
	}
	arena_release(&scratch);
}
