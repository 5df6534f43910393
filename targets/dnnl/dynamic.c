/* Products of bytes quantised in each run: MatMulInteger, its sums made floats,
 * times the scales of both sides, plus a bias; weights may have any zero. The library
 * makes the sums in the result's own memory, where they become floats. */
#include <string.h>

#include "targets/dnnl/accept.h"
#include "targets/dnnl/integer.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/dynamic.h"
#include "targets/need.h"

bool
accept_dynamic(const struct match_in *m, struct why *why)
{
	const struct dynamic_product d = dynamic_read(m->match, m->graph);

	return need_dynamic(m, why, &d) && need_wide_sums(why);
}

/* ---- sums to floats ---- */

/* What a run tells of the left side. */
struct left_side {
	const void *codes; /* [rows][depth], 8 bits */
	int32_t zero;
	float scale;
};

typedef void rows_run(
    uint32_t *at, const struct dynamic_sums *s, const struct left_side *l);

/* Of codes a around za and steps s of weights around zs, the library makes sum(a s);
 * the product is sum((a - za) (s - zs)) = sum(a s) - za sum(s) - zs sum(a - za). */
struct dynamic_sums {
	struct kernel inner;
	size_t rows, depth, columns;
	const int32_t *weights; /* [columns] sum(s) */
	const int32_t *zeros; /* [columns] zs */
	const float *scale; /* [columns] of the right side */
	const float *bias; /* [columns], zeros without */
	rows_run *finish; /* for this processor */
	struct zero_of_run zero;
	int32_t by; /* the port of the left side's scale */
	int32_t left; /* its codes' */
	bool has_zeros, has_bias;
	bool is_unsigned; /* codes */
};

static inline __attribute__((always_inline)) int32_t
sum_of_codes(const void *codes, size_t n, bool is_unsigned)
{
	const uint8_t *u = codes;
	const int8_t *s = codes;
	int32_t sum = 0;

	if (is_unsigned)
		for (size_t i = 0; i < n; i++)
			sum += u[i];
	else
		for (size_t i = 0; i < n; i++)
			sum += s[i];
	return sum;
}

/* One row, where it lies: sums of 32 bits in, floats out; left: sum(a - za). */
static inline __attribute__((always_inline)) void
floats_of_row(uint32_t *at, const struct dynamic_sums *s,
    const struct left_side *l, int32_t left)
{
	const int32_t *restrict weights = s->weights,
	                        *restrict zeros = s->zeros;
	const float *restrict right = s->scale, *restrict bias = s->bias;

	for (size_t i = 0; i < s->columns; i++) {
		const int32_t sum =
		    (int32_t)at[i] - l->zero * weights[i] - left * zeros[i];
		float x = (float)sum * (l->scale * right[i]);

		x = s->has_bias ? x + bias[i] : x;
		memcpy(&at[i], &x, sizeof x);
	}
}

static inline __attribute__((always_inline)) void
floats_of_rows(
    uint32_t *at, const struct dynamic_sums *s, const struct left_side *l)
{
	const unsigned char *codes = l->codes;
	int32_t left = 0;

	for (size_t r = 0; r < s->rows; r++, at += s->columns) {
		if (s->has_zeros)
			left = sum_of_codes(codes + r * s->depth, s->depth,
			           s->is_unsigned)
			    - (int32_t)s->depth * l->zero;
		floats_of_row(at, s, l, left);
	}
}

static void
rows_plain(
    uint32_t *at, const struct dynamic_sums *s, const struct left_side *l)
{
	floats_of_rows(at, s, l);
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512vl,avx512dq"))) static void
rows_avx512(
    uint32_t *at, const struct dynamic_sums *s, const struct left_side *l)
{
	floats_of_rows(at, s, l);
}

__attribute__((target("avx2"))) static void
rows_avx2(uint32_t *at, const struct dynamic_sums *s, const struct left_side *l)
{
	floats_of_rows(at, s, l);
}

static rows_run *
rows_here(void)
{
	return __builtin_cpu_supports("avx512dq")
	        && __builtin_cpu_supports("avx512vl")
	    ? rows_avx512
	    : __builtin_cpu_supports("avx2") ? rows_avx2
	                                     : rows_plain;
}
#else
static rows_run *
rows_here(void)
{
	return rows_plain;
}
#endif

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct dynamic_sums *s = k->state;
	struct left_side l = {.codes = in[s->left]};

	s->inner.fault = k->fault;
	s->inner.run(&s->inner, in, out);
	memcpy(&l.scale, in[s->by], sizeof l.scale);
	l.zero = dynamic_zero(&s->zero, in);
	s->finish(out[0], s, &l);
}

static void
release(struct kernel *k)
{
	struct dynamic_sums *s = k->state;

	s->inner.release(&s->inner);
}

/* ---- a kernel ---- */

void
sums_kernel(struct kernel *k, struct dynamic_sums *s)
{
	s->inner = *k;
	*k = (struct kernel){.kind = s->inner.kind,
	    .candidate = s->inner.candidate,
	    .run = run,
	    .release = release,
	    .state = s};
}

/* Constants of the columns. */
static void
read_columns(struct dynamic_sums *s, const struct dynamic_product *d,
    const int8_t *steps, const int32_t *zeros, struct arena *a)
{
	int32_t *sum = arena_new(a, int32_t, s->columns);

	for (size_t k = 0; k < s->depth; k++)
		for (size_t i = 0; i < s->columns; i++)
			sum[i] += steps[k * s->columns + i];
	s->scale = integer_entries(d->scales, s->columns, a);
	s->bias = integer_entries(d->bias, s->columns, a);
	s->has_bias = d->bias != NULL;
	s->weights = sum;
	s->zeros = zeros;
	for (size_t i = 0; i < s->columns; i++)
		s->has_zeros = s->has_zeros || zeros[i] != 0;
}

static bool
bind(struct build *b, const struct dynamic_product *d,
    const struct operation *op, const struct md *weights, const int8_t *steps,
    const_dnnl_primitive_desc_t pd)
{
	return need_kernel(b, pd, &node_out(b->graph, d->product, 0)->type,
	           &node_in(b->graph, d->product, 1)->type)
	    && bind_value(
	        b, DNNL_ARG_SRC, d->product->input[0], &op->md[ROLE_SRC])
	    && bind_constant(b, DNNL_ARG_WEIGHTS, steps, weights,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && bind_value(b, DNNL_ARG_DST, d->end, &op->md[ROLE_DST]);
}

bool
build_dynamic(struct build *b)
{
	const struct dynamic_product d =
	    dynamic_read(b->candidate->match, b->graph);
	const struct tensor *w = integer_constant(b->graph, d.product, 1);
	const struct type *x = &node_in(b->graph, d.product, 0)->type;
	const int64_t depth = w->dim[0], columns = w->dim[1];
	const int64_t rows = (int64_t)type_elements(x, 0) / depth;
	const int8_t *steps = integer_steps(w, b->scratch);
	struct operation op = {.kind = dnnl_matmul};
	struct md weights;
	dnnl_primitive_desc_t pd;
	bool ok;

	desc_plain(&op.md[ROLE_SRC], 2, (int64_t[]){rows, depth});
	desc_plain(&weights, 2, (int64_t[]){depth, columns});
	desc_plain(&op.md[ROLE_DST], 2, (int64_t[]){rows, columns});
	op.md[ROLE_SRC].type = x->dtype == DT_UINT8 ? dnnl_u8 : dnnl_s8;
	weights.type = dnnl_s8;
	op.md[ROLE_DST].type = dnnl_s32;
	op.md[ROLE_WEIGHTS] = md_any(&weights);
	if (!make_exact(
	        b, &op, way_nth(way_get(b->candidate->implementation)), &pd))
		return false;
	ok = bind(b, &d, &op, &weights, steps, pd);
	dnnl_primitive_desc_destroy(pd);
	b->sums = arena_new(b->arena, struct dynamic_sums, 1);
	*b->sums = (struct dynamic_sums){
	    .rows = (size_t)rows,
	    .depth = (size_t)depth,
	    .columns = (size_t)columns,
	    .finish = rows_here(),
	    .zero = dynamic_read_zero(&d, b->graph, b->candidate),
	    .by = candidate_input(b->candidate, d.scale),
	    .left = candidate_input(b->candidate, d.product->input[0]),
	    .is_unsigned = x->dtype == DT_UINT8,
	};
	read_columns(b->sums, &d, steps,
	    integer_zeros(b->graph, d.product, (size_t)columns, b->arena),
	    b->arena);
	return ok;
}
