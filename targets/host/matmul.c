#include "targets/host/matmul.h"

#include <string.h>

#include "targets/host/gemm.h"
#include "targets/host/kernels.h"

static void
load_b(const void *ctx, size_t k0, size_t kn, size_t n0, size_t nn, double *to)
{
	const struct matrix_product *p = ctx;
	const struct matrix *b = &p->b;

	for (size_t s = 0; s < kn; s++) {
		double *row = to + s * GEMM_COLUMNS;

		load_real(row, b->t,
		    b->at + (k0 + s) * (size_t)b->row + n0 * (size_t)b->col,
		    b->col, nn);
		for (size_t j = 0; p->b_zero && j < nn; j++)
			row[j] -= p->b_zero[n0 + j];
	}
}

static void
take(const void *ctx, size_t n0, size_t nn, double *c, size_t m)
{
	const struct matrix_product *p = ctx;

	for (size_t i = 0; i < m; i++)
		p->finish(p, i, n0, nn, c + i * GEMM_COLUMNS);
}

void
product_run(const struct matrix_product *p, struct arena *scratch)
{
	struct gemm g = {
	    .m = p->m,
	    .n = p->n,
	    .k = p->k,
	    .a = p->a.t,
	    .a_at = p->a.at,
	    .a_row = p->a.row,
	    .a_col = p->a.col,
	    .a_zero = p->a_zero,
	    .load_b = load_b,
	    .take = take,
	    .ctx = p,
	};

	gemm_run(&g, scratch);
}

void
product_store(const struct matrix_product *p, size_t row, size_t n0, size_t nn,
    double *sum)
{
	store_real(p->to, p->to_at + row * p->n + n0, 1, nn, sum);
}

/* Integers wider than a double's 53 bits: modulo 2^64, the obvious way. */
static void
product_ints(const struct matrix_product *p)
{
	for (size_t i = 0; i < p->m; i++) {
		for (size_t j = 0; j < p->n; j++) {
			uint64_t sum = 0;
			int64_t low;

			for (size_t s = 0; s < p->k; s++)
				sum += (uint64_t)load_one_int(p->a.t,
				           p->a.at + i * (size_t)p->a.row
				               + s * (size_t)p->a.col)
				    * (uint64_t)load_one_int(p->b.t,
				        p->b.at + s * (size_t)p->b.row
				            + j * (size_t)p->b.col);
			low = (int64_t)sum;
			store_int(p->to, p->to_at + i * p->n + j, 1, 1, &low);
		}
	}
}

/* --- MatMul -------------------------------------------------------------- */

/* One operand's strides over the batch dims of the output. */
static void
batch_operand(struct matmul *v, const struct shape *batch, const int64_t *dim,
    uint32_t nbatch, size_t matrix)
{
	ptrdiff_t stride[RANK_MAX];

	broadcast_strides(nbatch, dim, batch->rank, batch->dim, stride);
	for (uint32_t i = 0; i < batch->rank; i++)
		stride[i] *= (ptrdiff_t)matrix;
	walk_operand(&v->batches, stride);
}

static void
batch_walk(struct matmul *v, const struct shape *batch, const struct shape *a,
    const struct shape *b)
{
	walk_init(&v->batches, batch->rank, batch->dim);
	batch_operand(v, batch, batch->dim, batch->rank, v->m * v->n);
	batch_operand(v, batch, a->dim, a->rank - 2, v->m * v->k);
	batch_operand(v, batch, b->dim, b->rank - 2, v->k * v->n);
}

/* A vector becomes a row (first) or a column (second). */
static struct shape
as_matrix(const struct tensor *t, bool first)
{
	struct shape s = shape_of(t);

	if (s.rank == 1) {
		s.rank = 2;
		s.dim[first ? 1 : 0] = t->dim[0];
		s.dim[first ? 0 : 1] = 1;
	}
	return s;
}

bool
matmul_read(struct matmul *v, const struct tensor *ta, const struct tensor *tb,
    struct err *err)
{
	struct shape a, b, batch;

	if (ta->rank == 0 || tb->rank == 0)
		return err_set(err, ERR_INPUT, "a scalar operand");
	a = as_matrix(ta, true);
	b = as_matrix(tb, false);
	if (a.dim[a.rank - 1] != b.dim[b.rank - 2])
		return err_set(err, ERR_INPUT, "%lld columns times %lld rows",
		    (long long)a.dim[a.rank - 1], (long long)b.dim[b.rank - 2]);
	batch = a;
	batch.rank = a.rank - 2;
	if (!shape_broadcast(&batch, b.rank - 2, b.dim))
		return err_set(err, ERR_INPUT, "batches do not broadcast");
	v->m = (size_t)a.dim[a.rank - 2];
	v->k = (size_t)a.dim[a.rank - 1];
	v->n = (size_t)b.dim[b.rank - 1];
	v->a = (struct matrix){ta, 0, (ptrdiff_t)v->k, 1};
	v->b = (struct matrix){tb, 0, (ptrdiff_t)v->n, 1};
	batch_walk(v, &batch, &a, &b);
	v->y = batch;
	if (ta->rank > 1)
		v->y.dim[v->y.rank++] = (int64_t)v->m;
	if (tb->rank > 1)
		v->y.dim[v->y.rank++] = (int64_t)v->n;
	return true;
}

static void
one_batch(struct matrix_product *p, const struct matmul *v, const ptrdiff_t *at,
    struct arena *scratch)
{
	p->a = v->a;
	p->b = v->b;
	p->to_at = (size_t)at[0];
	p->a.at = (size_t)at[1];
	p->b.at = (size_t)at[2];
	if (p->finish)
		product_run(p, scratch);
	else
		product_ints(p);
}

void
matmul_apply(struct matmul *v, struct matrix_product *p, struct arena *scratch)
{
	struct walk *w = &v->batches;

	p->m = v->m;
	p->n = v->n;
	p->k = v->k;
	for (walk_start(w); !w->done; walk_next(w)) {
		ptrdiff_t at[3] = {w->at[0], w->at[1], w->at[2]};

		for (size_t i = 0; i < w->n; i++) {
			one_batch(p, v, at, scratch);
			for (int k = 0; k < 3; k++)
				at[k] += w->step[k];
		}
	}
}

bool
matmul_run(struct call *c, struct err *err)
{
	const struct tensor *a = c->in[0], *b = c->in[1];
	struct sink to;
	struct matmul v;
	struct matrix_product p = {.to = &to};

	if (!matmul_read(&v, a, b, err)
	    || !host_out(c, 0, a->dtype, &v.y, &to, err))
		return false;
	p.finish = lane_of(a->dtype) == LANE_REAL ? product_store : NULL;
	matmul_apply(&v, &p, c->scratch);
	return true;
}

/* --- Gemm ---------------------------------------------------------------- */

struct gemm_epilogue {
	double alpha, beta;
	const struct tensor *c;
	ptrdiff_t row, col; /* strides of C broadcast to [m][n] */
};

static void
gemm_finish(const struct matrix_product *p, size_t row, size_t n0, size_t nn,
    double *sum)
{
	const struct gemm_epilogue *e = p->ctx;
	double add[GEMM_COLUMNS] = {0};

	if (e->c)
		load_real(add, e->c, row * (size_t)e->row + n0 * (size_t)e->col,
		    e->col, nn);
	for (size_t j = 0; j < nn; j++)
		sum[j] = e->alpha * sum[j] + (e->c ? e->beta * add[j] : 0);
	product_store(p, row, n0, nn, sum);
}

static bool
gemm_shapes(struct matrix_product *p, const struct call *c, struct err *err)
{
	const struct tensor *a = c->in[0], *b = c->in[1];
	bool ta = attr_int_or(c->node, "transA", 0) != 0;
	bool tb = attr_int_or(c->node, "transB", 0) != 0;

	if (a->rank != 2 || b->rank != 2)
		return err_set(err, ERR_INPUT, "operands of rank %u and %u",
		    a->rank, b->rank);
	if (a->dim[ta ? 0 : 1] != b->dim[tb ? 1 : 0])
		return err_set(err, ERR_INPUT, "%lld columns times %lld rows",
		    (long long)a->dim[ta ? 0 : 1],
		    (long long)b->dim[tb ? 1 : 0]);
	p->m = (size_t)a->dim[ta ? 1 : 0];
	p->k = (size_t)a->dim[ta ? 0 : 1];
	p->n = (size_t)b->dim[tb ? 0 : 1];
	p->a = ta ? (struct matrix){a, 0, 1, (ptrdiff_t)p->m}
	          : (struct matrix){a, 0, (ptrdiff_t)p->k, 1};
	p->b = tb ? (struct matrix){b, 0, 1, (ptrdiff_t)p->k}
	          : (struct matrix){b, 0, (ptrdiff_t)p->n, 1};
	return true;
}

bool
gemm_op_run(struct call *c, struct err *err)
{
	struct gemm_epilogue e = {
	    .alpha = (double)attr_float_or(c->node, "alpha", 1),
	    .beta = (double)attr_float_or(c->node, "beta", 1),
	    .c = call_in(c, 2),
	};
	struct sink to;
	struct matrix_product p = {.finish = gemm_finish, .to = &to, .ctx = &e};
	struct shape y = {.rank = 2}, bias;
	ptrdiff_t stride[RANK_MAX];

	if (!gemm_shapes(&p, c, err))
		return false;
	bias = y;
	y.dim[0] = bias.dim[0] = (int64_t)p.m;
	y.dim[1] = bias.dim[1] = (int64_t)p.n;
	if (e.c) {
		if (!shape_broadcast(&bias, e.c->rank, e.c->dim)
		    || bias.rank != 2 || bias.dim[0] != y.dim[0]
		    || bias.dim[1] != y.dim[1])
			return err_set(err, ERR_INPUT,
			    "C does not broadcast to %zu x %zu", p.m, p.n);
		broadcast_strides(e.c->rank, e.c->dim, 2, y.dim, stride);
		e.row = stride[0];
		e.col = stride[1];
	}
	if (!host_out(c, 0, c->in[0]->dtype, &y, &to, err))
		return false;
	product_run(&p, c->scratch);
	return true;
}
