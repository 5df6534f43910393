/* Products of strided matrices inside tensors: Gemm, MatMul and whatever is
 * made of them. */
#ifndef TARGETS_HOST_MATMUL_H
#define TARGETS_HOST_MATMUL_H

#include "targets/host/call.h"

/* A matrix inside a tensor: element (i, j) at `at` + i * row + j * col. */
struct matrix {
	const struct tensor *t;
	size_t at;
	ptrdiff_t row, col;
};

struct matrix_product {
	struct matrix a, b; /* [m][k], [k][n] */
	size_t m, n, k;
	const double *a_zero; /* [m], subtracted from rows of A; or NULL */
	const double *b_zero; /* [n], subtracted from columns of B; or NULL */
	/* Take nn sums of a row from column n0. */
	void (*finish)(const struct matrix_product *p, size_t row, size_t n0,
	    size_t nn, double *sum);
	const struct sink *to; /* for finish */
	size_t to_at; /* C order [m][n] from here */
	const void *ctx;
};

void product_run(const struct matrix_product *p, struct arena *scratch);
/* finish: store the sums as they are. */
void product_store(const struct matrix_product *p, size_t row, size_t n0,
    size_t nn, double *sum);

/* The shapes of a MatMul: batches broadcast, 1-d operands padded. */
struct matmul {
	struct shape y; /* of the output */
	struct walk batches; /* operands: output, a, b, in elements */
	size_t m, n, k;
	struct matrix a, b; /* of batch 0 */
};
bool matmul_read(struct matmul *v, const struct tensor *a,
    const struct tensor *b, struct err *err);
/* p->a, b, m, n, k, to_at are set for each batch; the rest is the caller's. */
void matmul_apply(
    struct matmul *v, struct matrix_product *p, struct arena *scratch);

#endif
