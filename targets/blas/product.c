/* Gemm and MatMul. */
#include <string.h>

#include "targets/blas/kernel.h"
#include "targets/blas/library.h"

struct product_kernel {
	struct product product;
	struct finish finish;
	int32_t left, right; /* ports; right < 0: constant */
	const float *constant, *bias; /* bias: a row, or NULL */
	size_t rows, inner, columns, batch;
	size_t left_step, right_step; /* floats from one matrix to the next */
};

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct product_kernel *p = k->state;
	const float *left = in[p->left];
	const float *right = p->right < 0 ? p->constant : in[p->right];
	const size_t one = p->rows * p->columns;
	const int left_stride =
	    (int)(p->product.transpose_left ? p->rows : p->inner);
	const int right_stride =
	    (int)(p->product.transpose_right ? p->inner : p->columns);
	float *to = out[0];

	for (size_t n = 0; n < p->batch; n++, to += one) {
		for (size_t i = 0; p->bias && i < p->rows; i++)
			memcpy(to + i * p->columns, p->bias,
			    p->columns * sizeof *to);
		openblas.sgemm(CblasRowMajor,
		    p->product.transpose_left ? CblasTrans : CblasNoTrans,
		    p->product.transpose_right ? CblasTrans : CblasNoTrans,
		    (int)p->rows, (int)p->columns, (int)p->inner,
		    p->product.alpha, left + n * p->left_step, left_stride,
		    right + n * p->right_step, right_stride, p->bias ? 1 : 0,
		    to, (int)p->columns);
	}
	finish_run(&p->finish, in, out[0], 0, p->batch * one);
}

/* One matrix on the right of many on the left is one tall product; else the
 * predicate has seen that both sides have as many. */
static void
set_sizes(
    struct product_kernel *k, const struct type *left, const struct type *right)
{
	const struct product *p = &k->product;
	uint32_t l = left->rank - 2, r = right->rank - 2;

	k->rows = (size_t)left->dim[l + (p->transpose_left ? 1 : 0)];
	k->inner = (size_t)left->dim[l + (p->transpose_left ? 0 : 1)];
	k->columns = (size_t)right->dim[r + (p->transpose_right ? 0 : 1)];
	k->batch = type_leading(left, 2);
	k->left_step = k->rows * k->inner;
	if (type_leading(right, 2) == 1) {
		k->rows *= k->batch;
		k->batch = 1;
	} else {
		k->right_step = k->inner * k->columns;
	}
}

bool
compile_product(const struct graph *g, const struct candidate *c,
    struct fused *f, struct arena *a, struct kernel *out)
{
	struct product_kernel *k = arena_new(a, struct product_kernel, 1);

	fused_product(&k->product, f, g);
	set_sizes(k, &graph_value(g, k->product.left)->type,
	    &graph_value(g, k->product.right)->type);
	k->left = candidate_input(c, k->product.left);
	k->right = candidate_input(c, k->product.right);
	if (k->right < 0)
		k->constant = scaled_floats(g, k->product.right, 1, a);
	if (k->product.bias != VALUE_NONE)
		k->bias = scaled_floats(g, k->product.bias, k->product.beta, a);
	out->run = run;
	out->state = k;
	return finish_of(&k->finish, f, g, c);
}
