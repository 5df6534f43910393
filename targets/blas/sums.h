/* What products and convolutions of 8-bit integers share: weights and their sums as
 * floats, taken in parts that are exact. Only files of this folder include it. */
#ifndef TARGETS_BLAS_SUMS_H
#define TARGETS_BLAS_SUMS_H

#include "targets/blas/multiply.h"
#include "targets/integer.h"
#include "targets/target.h"

/* TUNING: floats gathered at once: 1 MiB, a private second-level cache. */
#define SUMS_PIECE ((size_t)1 << 18)

/* Weights less their zeros as floats, and where sums have to be cut. */
struct sums {
	size_t outputs; /* filters or columns */
	size_t depth;
	const float
	    *weight; /* [outputs][depth], or by_depth [depth][outputs] */
	bool by_depth;
	uint32_t nparts;
	uint32_t *end; /* [nparts] of each part, along the depth */
};

/* Fill in all but sizes, which are there. */
void sums_of(struct sums *s, const struct tensor *w, const struct tensor *zero,
    struct arena *a);
/* Sums of a part, whole numbers, are added, or are the first. */
void add_whole(int32_t *to, const float *from, size_t n, bool first);
/* By one lane of several, or by all of them. */
void multiply_by(const struct multiplication *m, uint32_t lanes);

/* n sums of one output. */
void requantise_map(uint8_t *restrict to, const int32_t *restrict sum, size_t n,
    const struct requantising *q, size_t output);
/* A sum of each of n outputs. */
void requantise_row(uint8_t *restrict to, const int32_t *restrict sum, size_t n,
    const struct requantising *q);

/* The zero of the left operand: the model's, or what comes with each run. */
struct zero {
	int32_t port; /* < 0: a constant */
	float constant;
	bool is_unsigned;
};

struct zero zero_of(const struct graph *g, const struct candidate *c,
    const struct node *n, uint32_t input);
/* That of this run. */
float zero_now(const struct zero *z, const void *const *in);

/* Products of rows, and convolutions of maps; false: a number is out of range. */
bool compile_rows(const struct integer_places *at, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out);
bool compile_maps(const struct integer_places *at, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out);

#endif
