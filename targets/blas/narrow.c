/* Products with weights in few bits: as many columns as stay in the cache are
 * unpacked, and multiplied by what all rows have. */
#include <string.h>

#include "ir/halves.h"
#include "targets/blas/kernel.h"
#include "targets/blas/library.h"
#include "targets/narrow.h"

/* TUNING: floats unpacked at once, half of a private second-level cache. */
#define PIECE ((size_t)1 << 16)
#define LEAST 16 /* columns, however deep they are */

struct narrow_product {
	struct narrow weights;
	size_t rows, piece; /* piece: columns unpacked at once */
	bool halves; /* what goes in and comes out */
	const float *bias; /* [columns], or NULL */
	float *panel; /* [piece][depth] or [depth][piece] */
	float *left, *result; /* of halves: [rows][depth], [rows][piece] */
};

/* `n` columns of the result, `stride` floats a row. */
static void
multiply(const struct narrow_product *p, const float *left, size_t from,
    size_t n, float *to, size_t stride)
{
	const struct narrow *w = &p->weights;
	const int depth = (int)w->depth;

	for (size_t i = 0; p->bias && i < p->rows; i++)
		memcpy(to + i * stride, p->bias + from, n * sizeof *to);
	narrow_unpack(w, from, n, p->panel);
	openblas.sgemm(CblasRowMajor, CblasNoTrans,
	    w->by_column ? CblasTrans : CblasNoTrans, (int)p->rows, (int)n,
	    depth, 1, left, depth, p->panel, w->by_column ? depth : (int)n,
	    p->bias ? 1 : 0, to, (int)stride);
}

static void
store_halves(
    const struct narrow_product *p, size_t from, size_t n, uint16_t *to)
{
	for (size_t i = 0; i < p->rows; i++)
		for (size_t j = 0; j < n; j++)
			to[i * p->weights.columns + from + j] =
			    f32_to_f16(p->result[i * n + j]);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct narrow_product *p = k->state;
	const size_t columns = p->weights.columns;
	const float *left = in[0];

	if (p->halves) {
		halves_widen(
		    DT_FLOAT16, in[0], p->rows * p->weights.depth, p->left);
		left = p->left;
	}
	for (size_t from = 0; from < columns; from += p->piece) {
		const size_t n =
		    columns - from < p->piece ? columns - from : p->piece;

		if (p->halves) {
			multiply(p, left, from, n, p->result, n);
			store_halves(p, from, n, out[0]);
		} else {
			multiply(
			    p, left, from, n, (float *)out[0] + from, columns);
		}
	}
}

void
compile_narrow(const struct graph *g, const struct candidate *c,
    struct arena *a, struct kernel *out)
{
	const struct node *n = graph_node(g, c->node[0]);
	const struct type *x = &node_in(g, n, 0)->type;
	struct narrow_product *p = arena_new(a, struct narrow_product, 1);
	const struct narrow *w = &p->weights;

	narrow_open(&p->weights, g, n, a);
	p->bias = narrow_bias(g, n, a);
	p->rows = type_elements(x, 0) / w->depth;
	p->halves = x->dtype == DT_FLOAT16;
	p->piece = PIECE / w->depth > LEAST ? PIECE / w->depth : LEAST;
	p->piece = p->piece < w->columns ? p->piece : w->columns;
	p->panel = arena_new(a, float, p->piece * w->depth);
	if (p->halves) {
		p->left = arena_new(a, float, p->rows * w->depth);
		p->result = arena_new(a, float, p->rows * p->piece);
	}
	out->run = run;
	out->state = p;
}
