/* Products of bytes quantised in each run: MatMulInteger, its sums made floats,
 * times the scales of both sides, plus a bias; weights may have any zero. The library
 * makes the sums in the result's own memory, where they become floats. */
#include <string.h>

#include "targets/bytes.h"
#include "targets/dnnl/accept.h"
#include "targets/dnnl/dynamic_sides.h"
#include "targets/dnnl/integer.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/need.h"

bool
accept_dynamic(const struct match_in *m, struct why *why)
{
	const struct dynamic_product d = dynamic_read(m->match, m->graph);

	return need_dynamic(m, why, &d) && need_wide_sums(why);
}

/* ---- sums to floats ---- */

struct dynamic_sums;
typedef void rows_run(
    uint32_t *at, const struct dynamic_sums *s, const struct left_side *l);

struct dynamic_sums {
	struct around around;
	struct dynamic_sides sides;
	size_t rows;
	rows_run *finish; /* for this processor */
};

/* One row, where it lies: sums of 32 bits in, floats out; left: sum(a - za). */
static inline __attribute__((always_inline)) void
floats_of_row(uint32_t *at, const struct dynamic_sides *s,
    const struct left_side *l, int32_t left)
{
	const int32_t *restrict weights = s->weights,
	                        *restrict zeros = s->zeros;
	const float *restrict right = s->scale, *restrict bias = s->bias;

	for (size_t i = 0; i < s->outputs; i++) {
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
	const struct dynamic_sides *of = &s->sides;
	const unsigned char *codes = l->codes;
	int32_t left = 0;

	for (size_t r = 0; r < s->rows; r++, at += of->outputs) {
		if (of->has_zeros)
			left = byte_total(codes + r * of->depth, of->depth,
			           of->is_unsigned)
			    - (int32_t)of->depth * l->zero;
		floats_of_row(at, of, l, left);
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

#endif

static rows_run *const finishes[] = {
    [VECTORS_NONE] = rows_plain,
#ifdef __x86_64__
    [VECTORS_AVX2] = rows_avx2,
    [VECTORS_AVX512] = rows_avx512,
#endif
};

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct dynamic_sums *s = k->state;
	const struct left_side l = dynamic_sides_left(&s->sides, in);

	s->around.inner.fault = k->fault;
	s->around.inner.run(&s->around.inner, in, out);
	s->finish(out[0], s, &l);
}

/* ---- a kernel ---- */

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
	struct dynamic_sums *s;
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
	s = arena_new(b->arena, struct dynamic_sums, 1);
	s->rows = (size_t)rows;
	s->sides =
	    dynamic_sides_read(&d, b->graph, b->candidate, steps, b->arena);
	s->finish = finishes[dynamic_vectors()];
	s->around.run = run;
	b->around = &s->around;
	return ok;
}
