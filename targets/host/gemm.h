/* Matrix product in double, for everything that is one: Gemm, MatMul, all
 * convolutions, the quantised ones (their integers are exact in double), RNNs.
 * Blocked so that it runs at a few 10^9 multiply-adds a second in plain C. */
#ifndef TARGETS_HOST_GEMM_H
#define TARGETS_HOST_GEMM_H

#include <stddef.h>

#include "ir/base/arena.h"
#include "targets/host/access.h"

#define GEMM_COLUMNS 128 /* of B and C at a time */
#define GEMM_DEPTH 256 /* of k at a time: B's block is 256 KiB, in L2 */

struct gemm {
	size_t m, n, k;
	/* A[m][k]: element (i, j) is at a_at + i * a_row + j * a_col. */
	const struct tensor *a;
	size_t a_at;
	ptrdiff_t a_row, a_col;
	const double *a_zero; /* subtracted from row i of A; NULL: nothing */
	/* Fill to[kn][GEMM_COLUMNS] with B's rows k0.. and nn columns n0..;
	 * columns beyond nn are ignored. */
	void (*load_b)(const void *ctx, size_t k0, size_t kn, size_t n0,
	    size_t nn, double *to);
	/* Take C's columns n0..n0+nn: c[m][GEMM_COLUMNS]. */
	void (*take)(
	    const void *ctx, size_t n0, size_t nn, double *c, size_t m);
	const void *ctx;
};

/* Every C(i, j) is the sum over k in ascending order, whatever the blocking. */
void gemm_run(const struct gemm *g, struct arena *scratch);

#endif
