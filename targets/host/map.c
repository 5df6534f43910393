#include "targets/host/map.h"

#include <assert.h>
#include <string.h>

struct map_job {
	const struct elementwise *f;
	const struct tensor *const *operand;
	uint32_t n;
	const struct sink *to;
};

/* One block of a row, from element `from` of it. */
static void
block_real(const struct map_job *j, const struct walk *w, size_t from, size_t n)
{
	double x[3][MAP_BLOCK], z[MAP_BLOCK];
	const double *p[3] = {x[0], x[1], x[2]};
	ptrdiff_t i = (ptrdiff_t)from;

	for (uint32_t k = 0; k < j->n; k++)
		load_real(x[k], j->operand[k],
		    (size_t)(w->at[k + 1] + i * w->step[k + 1]), w->step[k + 1],
		    n);
	j->f->real(z, p, n, j->f->p);
	store_real(
	    j->to, (size_t)(w->at[0] + i * w->step[0]), w->step[0], n, z);
}

static void
block_ints(const struct map_job *j, const struct walk *w, size_t from, size_t n)
{
	int64_t x[3][MAP_BLOCK], z[MAP_BLOCK];
	const int64_t *p[3] = {x[0], x[1], x[2]};
	ptrdiff_t i = (ptrdiff_t)from;

	for (uint32_t k = 0; k < j->n; k++)
		load_int(x[k], j->operand[k],
		    (size_t)(w->at[k + 1] + i * w->step[k + 1]), w->step[k + 1],
		    n);
	j->f->ints(z, p, n, j->f->p);
	store_int(j->to, (size_t)(w->at[0] + i * w->step[0]), w->step[0], n, z);
}

static void
run_rows(const struct map_job *j, struct walk *w, enum lane lane)
{
	for (walk_start(w); !w->done; walk_next(w)) {
		for (size_t from = 0; from < w->n; from += MAP_BLOCK) {
			size_t left = w->n - from;
			size_t n = left < MAP_BLOCK ? left : MAP_BLOCK;

			if (lane == LANE_REAL)
				block_real(j, w, from, n);
			else
				block_ints(j, w, from, n);
		}
	}
}

static bool
output_shape(const struct tensor *const *operand, uint32_t n, struct shape *s,
    struct err *err)
{
	*s = shape_of(operand[0]);
	for (uint32_t k = 1; k < n; k++)
		if (!shape_broadcast(s, operand[k]->rank, operand[k]->dim))
			return err_set(err, ERR_INPUT,
			    "operand %u does not broadcast with the others", k);
	return true;
}

/* All operands repeat one element: so does the result. */
static bool
map_fill(struct call *c, const struct map_job *j, const struct shape *s,
    enum lane lane, enum dtype out)
{
	struct walk w = {.n = 1};
	struct tensor *t = &c->out[0];
	unsigned char z[16] = {0};
	struct sink to = {z, out};
	struct map_job one = *j;
	const int64_t *dim;
	size_t count, bytes;

	for (uint32_t k = 0; k < j->n; k++)
		if (j->operand[k]->kind != TENSOR_FILL)
			return false;
	if (dtype_bits(out) < 8 || (c->preset && c->preset[0].data)
	    || !tensor_size(out, s->dim, s->rank, &count, &bytes))
		return false;
	one.to = &to;
	if (lane == LANE_REAL)
		block_real(&one, &w, 0, 1);
	else
		block_ints(&one, &w, 0, 1);
	dim = arena_copy(c->arena, s->dim, s->rank * sizeof *s->dim);
	*t = tensor_fill(out, s->rank, dim, z);
	return true;
}

bool
map_run(struct call *c, const struct elementwise *f,
    const struct tensor *const *operand, uint32_t n, enum lane lane,
    enum dtype out, struct err *err)
{
	struct sink to;
	struct map_job j = {f, operand, n, &to};
	struct shape s;
	struct walk w;
	ptrdiff_t stride[RANK_MAX];

	assert(n <= 3);
	if (lane == LANE_REAL ? !f->real : !f->ints)
		return refuse(
		    err, "no kernel for %s", dtype_name(operand[0]->dtype));
	if (!output_shape(operand, n, &s, err))
		return false;
	if (map_fill(c, &j, &s, lane, out))
		return true;
	if (!host_out(c, 0, out, &s, &to, err))
		return false;
	walk_init(&w, s.rank, s.dim);
	strides_of(s.rank, s.dim, stride);
	walk_operand(&w, stride);
	for (uint32_t k = 0; k < n; k++) {
		broadcast_strides(
		    operand[k]->rank, operand[k]->dim, s.rank, s.dim, stride);
		walk_operand(&w, stride);
	}
	run_rows(&j, &w, lane);
	return true;
}
