/* Chains: a block of vectors is read, each operation done to it in turn while it is
 * in the first cache, and written. */
#ifndef TARGETS_NATIVE_VECTOR_CHAIN_H
#define TARGETS_NATIVE_VECTOR_CHAIN_H

#include "targets/native/chain.h"
#include "targets/native/vector_steps.h"

/* TUNING: 64 vectors and as many of a second tensor lie in the first cache. */
#define CHAIN_BLOCK 64

/* Fewer than a vector at the end are read and written as such. */
static inline void
chain_read(const float *from, size_t n, vec *x)
{
	size_t i = 0;
	vec rest = {0};

	for (; (i + 1) * NATIVE_WIDTH <= n; i++)
		x[i] = vec_load(from + i * NATIVE_WIDTH);
	if (i * NATIVE_WIDTH == n)
		return;
	memcpy(&rest, from + i * NATIVE_WIDTH,
	    (n - i * NATIVE_WIDTH) * sizeof *from);
	x[i] = rest;
}

static inline void
chain_write(const vec *x, size_t n, float *to)
{
	size_t i = 0;

	for (; (i + 1) * NATIVE_WIDTH <= n; i++)
		vec_store(to + i * NATIVE_WIDTH, x[i]);
	if (i * NATIVE_WIDTH < n)
		memcpy(to + i * NATIVE_WIDTH, &x[i],
		    (n - i * NATIVE_WIDTH) * sizeof *to);
}

static inline void
chain_block(const struct element_chain *c, size_t from, size_t n,
    const void *const *in, float *out)
{
	const size_t vectors = (n + NATIVE_WIDTH - 1) / NATIVE_WIDTH;
	vec x[CHAIN_BLOCK], y[CHAIN_BLOCK];

	chain_read((const float *)in[c->port] + from, n, x);
	for (uint32_t i = 0; i < c->steps.n; i++) {
		const struct native_step *s = &c->steps.step[i];

		if (s->port < 0) {
			step_function(s, x, vectors);
			continue;
		}
		chain_read((const float *)in[s->port] + from, n, y);
		step_operation(s, x, y, vectors, 1);
	}
	chain_write(x, n, out + from);
}

static void
chain_part(const struct element_chain *c, size_t from, size_t to,
    const void *const *in, float *out)
{
	const size_t block = (size_t)CHAIN_BLOCK * NATIVE_WIDTH;

	for (; from < to; from += block)
		chain_block(
		    c, from, to - from < block ? to - from : block, in, out);
}

#endif
