/* Gemm and MatMul. */
#include <string.h>

#include "targets/blas/kernel.h"
#include "targets/lanes.h"

struct product_kernel {
	struct product product;
	struct finish finish;
	int32_t left, right; /* ports; right < 0: constant */
	const float *constant, *bias; /* bias: a row, or NULL */
	size_t rows, inner, columns, batch;
	size_t left_step, right_step; /* floats from one matrix to the next */
	struct cutting cut; /* of each matrix */
};

struct product_run {
	const struct product_kernel *kernel;
	const void *const *in;
	float *out;
};

/* A block of the result, with what goes before and behind its product. */
static void
run_block(
    const struct product_run *r, size_t matrix, const struct result_block *b)
{
	const struct product_kernel *p = r->kernel;
	const float *right = p->right < 0 ? p->constant : r->in[p->right];
	const float *left = r->in[p->left];
	const struct multiplication m = {
	    .turn_left = p->product.transpose_left,
	    .turn_right = p->product.transpose_right,
	    .inner = p->inner,
	    .alpha = p->product.alpha,
	    .beta = p->bias ? 1 : 0,
	    .left = left + matrix * p->left_step,
	    .right = right + matrix * p->right_step,
	    .left_stride = p->product.transpose_left ? p->rows : p->inner,
	    .right_stride = p->product.transpose_right ? p->inner : p->columns,
	    .to = r->out + matrix * p->rows * p->columns,
	    .to_stride = p->columns,
	};
	const struct stretches s = {
	    (matrix * p->rows + b->row) * p->columns + b->column, b->rows,
	    b->columns, p->columns};

	for (size_t i = 0; p->bias && i < b->rows; i++)
		memcpy(r->out + s.from + i * p->columns, p->bias + b->column,
		    b->columns * sizeof *p->bias);
	multiply_block(&m, b);
	finish_run(&p->finish, r->in, r->out, &s);
}

static void
run_item(void *of, uint32_t lane, size_t i)
{
	const struct product_run *r = of;
	const struct cutting *cut = &r->kernel->cut;
	const size_t blocks = cut->down * cut->across;
	const struct result_block b = cut_block(cut, i % blocks);

	(void)lane;
	run_block(r, i / blocks, &b);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct product_kernel *p = k->state;
	struct product_run r = {p, in, out[0]};

	lanes_each(
	    p->batch * p->cut.down * p->cut.across, p->cut.lanes, run_item, &r);
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
	k->cut = cut_of(k->rows, k->inner, k->columns, k->batch);
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
