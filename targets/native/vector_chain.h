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

/* n of a row that is repeated, from its element `at` on. */
static inline void
chain_repeat(const float *row, size_t length, size_t at, size_t n, float *to)
{
	while (n > 0) {
		const size_t part = length - at < n ? length - at : n;

		memcpy(to, row + at, part * sizeof *to);
		to += part;
		n -= part;
		at = 0;
	}
}

/* n of numbers each of which stands for `inner` elements, from element `at` on. */
static inline void
chain_stretch(const struct chain_operand *o, const float *from, size_t at,
    size_t n, float *to)
{
	while (n > 0) {
		const size_t left = o->inner - at % o->inner;
		const size_t part = left < n ? left : n;
		const float x = from[at / o->inner % o->n];

		for (size_t i = 0; i < part; i++)
			to[i] = x;
		to += part;
		at += part;
		n -= part;
	}
}

/* Elements [from, from + n) of what the operand is broadcast to. */
static inline void
chain_operand_read(const struct chain_operand *o, size_t from, size_t n,
    size_t count, const void *const *in, vec *x)
{
	const float *data = o->port < 0 ? o->constant : in[o->port];
	const size_t vectors = (n + NATIVE_WIDTH - 1) / NATIVE_WIDTH;

	if (o->n == count)
		chain_read(data + from, n, x);
	else if (o->n == 1)
		for (size_t i = 0; i < vectors; i++)
			x[i] = vec_all(data[0]);
	else if (o->inner == 1)
		chain_repeat(data, o->n, from % o->n, n, (float *)x);
	else
		chain_stretch(o, data, from, n, (float *)x);
}

static inline void
chain_block(const struct element_chain *c, size_t from, size_t n,
    const void *const *in, float *out)
{
	const size_t vectors = (n + NATIVE_WIDTH - 1) / NATIVE_WIDTH;
	vec x[CHAIN_BLOCK], y[CHAIN_BLOCK];

	x[vectors - 1] = y[vectors - 1] = vec_all(1);
	chain_operand_read(&c->start, from, n, c->count, in, x);
	for (uint32_t i = 0; i < c->steps.n; i++) {
		const struct native_step *s = &c->steps.step[i];

		if (!step_is_binary(s->kind)) {
			step_function(s, x, vectors);
			continue;
		}
		chain_operand_read(&c->with[i], from, n, c->count, in, y);
		step_operation(s, x, y, vectors, 1);
	}
	chain_write(x, n, out + from);
}

/* ---- one of two ---- */

/* Elements [from, from + n) of what the condition is broadcast to. */
static inline void
choice_condition(const struct chain_operand *o, size_t from, size_t n,
    const void *const *in, uint8_t *to)
{
	const uint8_t *data = o->port < 0 ? o->constant : in[o->port];

	while (n > 0) {
		const size_t at = from / o->inner % o->n;
		const size_t left = o->inner > 1 ? o->inner - from % o->inner
		    : o->n > 1                   ? o->n - at
		                                 : n;
		const size_t part = left < n ? left : n;

		if (o->inner > 1 || o->n == 1)
			memset(to, data[at], part);
		else
			memcpy(to, data + at, part);
		to += part;
		from += part;
		n -= part;
	}
}

static inline void
choice_block(const struct element_choice *c, size_t from, size_t n,
    const void *const *in, float *out)
{
	vec x[2][CHAIN_BLOCK];
	const float *a = (const float *)x[0], *b = (const float *)x[1];
	uint8_t first[CHAIN_BLOCK * NATIVE_WIDTH];

	for (size_t i = 0; i < 2; i++)
		chain_operand_read(&c->with[i], from, n, c->count, in, x[i]);
	choice_condition(&c->condition, from, n, in, first);
	for (size_t i = 0; i < n; i++)
		out[from + i] = first[i] ? a[i] : b[i];
}

static void
choice_part(const struct element_choice *c, size_t from, size_t to,
    const void *const *in, float *out)
{
	const size_t block = (size_t)CHAIN_BLOCK * NATIVE_WIDTH;

	for (; from < to; from += block)
		choice_block(
		    c, from, to - from < block ? to - from : block, in, out);
}

/* ---- a chain ---- */

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
