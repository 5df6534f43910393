/* Products of bytes quantised in each run: MatMulInteger, its sums made floats,
 * times the scales of both sides, plus a bias. The library makes the sums in the
 * result's own memory, where they become floats. */
#include <string.h>

#include "targets/dnnl/accept.h"
#include "targets/dnnl/integer.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/need.h"

#define NEED why_need

/* What was caught of Add(Mul(Cast(MatMulInteger), Mul(scale, w_scale)), bias). */
struct dynamic {
	const struct node *product;
	value_id scale; /* of the left side, in each run */
	const struct tensor *scales; /* of the right, one or one a column */
	const struct tensor *bias; /* one a column, or NULL */
	value_id end;
};

static const struct tensor *
caught_constant(const struct match *m, const struct graph *g, const char *name)
{
	const value_id v = match_value(m, name);

	return v == VALUE_NONE ? NULL : graph_value(g, v)->constant;
}

static struct dynamic
read_match(const struct match *m, const struct graph *g)
{
	return (struct dynamic){
	    .product = graph_node(g, match_node(m, "product")),
	    .scale = match_value(m, "scale"),
	    .scales = caught_constant(m, g, "w_scale"),
	    .bias = caught_constant(m, g, "bias"),
	    .end = graph_node(g, m->root)->output[0],
	};
}

static bool
is_row(const struct tensor *t, size_t columns)
{
	return t->dtype == DT_FLOAT && t->count == columns
	    && (t->rank == 0 || (size_t)t->dim[t->rank - 1] == columns
	        || columns == 1);
}

bool
accept_dynamic(const struct match_in *m, struct why *why)
{
	const struct dynamic d = read_match(m->match, m->graph);
	const struct type *y, *scale = matched_type(m, d.scale);
	const struct tensor *w;
	size_t columns;
	bool ok;

	if (!need_integer(m, why, d.product)
	    || !need_exact_bytes(m, why, d.product))
		return false;
	y = matched_type(m, d.product->output[0]);
	w = integer_constant(m->graph, d.product, 1);
	columns = (size_t)w->dim[1];
	ok = scale->kind == TYPE_TENSOR && scale->dtype == DT_FLOAT
	    && type_is_static(scale) && type_elements(scale, 0) == 1 && d.scales
	    && d.scales->dtype == DT_FLOAT
	    && (d.scales->count == 1 || is_row(d.scales, columns))
	    && (!d.bias || is_row(d.bias, columns));
	return NEED(why, ok, "scales", "of floats, one or one a column", "%s",
	           ok ? "that" : "others")
	    && NEED(why, same_shape(y, matched_type(m, d.end)), "shape",
	        "of the product", "another");
}

/* ---- sums to floats ---- */

typedef void rows_run(
    uint32_t *at, const struct dynamic_sums *s, int32_t zero, float scale);

struct dynamic_sums {
	struct kernel inner;
	size_t rows, columns;
	const int32_t *weights; /* [columns] their sums */
	const float *scale; /* [columns] of the right side */
	const float *bias; /* [columns], zeros without */
	rows_run *finish; /* for this processor */
	int32_t zero, by; /* ports; zero < 0: the constant */
	int32_t zero_constant;
	bool zero_is_unsigned, has_bias;
};

/* One row, where it lies: sums of 32 bits in, floats out. */
static inline __attribute__((always_inline)) void
floats_of_row(
    uint32_t *at, const struct dynamic_sums *s, int32_t zero, float scale)
{
	const int32_t *restrict weights = s->weights;
	const float *restrict right = s->scale, *restrict bias = s->bias;

	for (size_t i = 0; i < s->columns; i++) {
		const int32_t sum = (int32_t)at[i] - zero * weights[i];
		float x = (float)sum * (scale * right[i]);

		x = s->has_bias ? x + bias[i] : x;
		memcpy(&at[i], &x, sizeof x);
	}
}

static void
rows_plain(
    uint32_t *at, const struct dynamic_sums *s, int32_t zero, float scale)
{
	for (size_t r = 0; r < s->rows; r++, at += s->columns)
		floats_of_row(at, s, zero, scale);
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512vl,avx512dq"))) static void
rows_avx512(
    uint32_t *at, const struct dynamic_sums *s, int32_t zero, float scale)
{
	for (size_t r = 0; r < s->rows; r++, at += s->columns)
		floats_of_row(at, s, zero, scale);
}

__attribute__((target("avx2"))) static void
rows_avx2(uint32_t *at, const struct dynamic_sums *s, int32_t zero, float scale)
{
	for (size_t r = 0; r < s->rows; r++, at += s->columns)
		floats_of_row(at, s, zero, scale);
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
	int32_t zero = s->zero_constant;
	float scale;

	s->inner.fault = k->fault;
	s->inner.run(&s->inner, in, out);
	memcpy(&scale, in[s->by], sizeof scale);
	if (s->zero >= 0) {
		const uint8_t *byte = in[s->zero];

		zero = s->zero_is_unsigned ? *byte : (int8_t)*byte;
	}
	s->finish(out[0], s, zero, scale);
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
read_columns(struct dynamic_sums *s, const struct dynamic *d,
    const int8_t *steps, size_t depth, struct arena *a)
{
	int32_t *sum = arena_new(a, int32_t, s->columns);
	float *scale = arena_new(a, float, s->columns);
	float *bias = arena_new(a, float, s->columns);

	for (size_t i = 0; i < s->columns; i++) {
		scale[i] = integer_entry(d->scales, i);
		bias[i] = integer_entry(d->bias, i);
	}
	for (size_t k = 0; k < depth; k++)
		for (size_t i = 0; i < s->columns; i++)
			sum[i] += steps[k * s->columns + i];
	s->scale = scale;
	s->bias = bias;
	s->has_bias = d->bias != NULL;
	s->weights = sum;
}

static void
read_zero(
    struct dynamic_sums *s, const struct build *b, const struct dynamic *d)
{
	const struct value *zero = node_in(b->graph, d->product, 2);

	s->zero = -1;
	s->by = candidate_input(b->candidate, d->scale);
	if (!zero)
		return;
	s->zero_is_unsigned = zero->type.dtype == DT_UINT8;
	if (zero->constant)
		s->zero_constant = (int32_t)integer_entry(zero->constant, 0);
	else
		s->zero = candidate_input(b->candidate, d->product->input[2]);
}

static bool
bind(struct build *b, const struct dynamic *d, const struct operation *op,
    const struct md *weights, const int8_t *steps,
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
	const struct dynamic d = read_match(b->candidate->match, b->graph);
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
	b->sums->rows = (size_t)rows;
	b->sums->columns = (size_t)columns;
	b->sums->finish = rows_here();
	read_columns(b->sums, &d, steps, (size_t)depth, b->arena);
	read_zero(b->sums, b, &d);
	return ok;
}
