/* Both sides of a product of bytes that is quantised in each run: what is constant of
 * them, and where a run tells the rest. Of codes a around za and steps s of weights
 * around zs the library makes sum(a s); the product is
 * sum((a - za) (s - zs)) = sum(a s) - za sum(s) - zs sum(a - za). */
#ifndef TARGETS_DNNL_DYNAMIC_SIDES_H
#define TARGETS_DNNL_DYNAMIC_SIDES_H

#include "targets/dynamic.h"

struct dynamic_sides {
	size_t outputs, depth; /* products in a sum */
	const int32_t *weights; /* [outputs] sum(s) */
	const int32_t *zeros; /* [outputs] zs */
	const float *scale; /* [outputs] of the right side */
	const float *bias; /* [outputs], zeros without */
	struct zero_of_run zero; /* za */
	int32_t codes, by; /* the ports of the left side's codes and scale */
	bool is_unsigned; /* codes */
	bool has_zeros, has_bias;
};

/* steps: the weights as int8, as they lie. */
struct dynamic_sides dynamic_sides_read(const struct dynamic_product *d,
    const struct graph *g, const struct candidate *c, const int8_t *steps,
    struct arena *a);

/* For which of the processor's vectors sums are made floats: each has its own code. */
enum dynamic_vectors { VECTORS_NONE, VECTORS_AVX2, VECTORS_AVX512 };
enum dynamic_vectors dynamic_vectors(void);

/* What a run tells of the left side. */
struct left_side {
	const void *codes;
	int32_t zero;
	float scale;
};
struct left_side dynamic_sides_left(
    const struct dynamic_sides *s, const void *const *in);

#endif
