/* Products with weights in few bits: as many columns as stay in the cache are
 * unpacked, and multiplied by what all rows have. */
#include <string.h>

#include "ir/halves.h"
#include "targets/blas/kernel.h"
#include "targets/lanes.h"
#include "targets/narrow.h"

/* TUNING: floats unpacked at once, half of a private second-level cache. */
#define PIECE ((size_t)1 << 16)
#define LEAST 16 /* columns, however deep they are */

struct narrow_product {
	struct narrow weights;
	size_t rows, piece; /* piece: columns unpacked at once */
	bool halves; /* what goes in and comes out */
	const float *bias; /* [columns], or NULL */
	uint32_t lanes; /* each with a panel and a result of its own */
	float *panel; /* [piece][depth] or [depth][piece] */
	float *left, *result; /* of halves: [rows][depth], [rows][piece] */
};

struct narrow_run {
	const struct narrow_product *product;
	const float *left;
	void *out;
};

struct column_piece {
	size_t from, n;
	float *panel;
};

/* Columns of the result, `stride` floats a row. */
static void
multiply_columns(const struct narrow_product *p, const float *left,
    const struct column_piece *c, float *to, size_t stride)
{
	const struct narrow *w = &p->weights;
	const struct multiplication m = {.turn_right = w->by_column,
	    .inner = w->depth,
	    .alpha = 1,
	    .beta = p->bias ? 1 : 0,
	    .left = left,
	    .left_stride = w->depth,
	    .right = c->panel,
	    .right_stride = w->by_column ? w->depth : c->n,
	    .to = to,
	    .to_stride = stride};

	for (size_t i = 0; p->bias && i < p->rows; i++)
		memcpy(to + i * stride, p->bias + c->from, c->n * sizeof *to);
	narrow_unpack(w, c->from, c->n, c->panel);
	multiply_block(&m, &(struct result_block){0, p->rows, 0, c->n});
}

static void
store_halves(const struct narrow_product *p, const struct column_piece *c,
    const float *result, uint16_t *to)
{
	for (size_t i = 0; i < p->rows; i++)
		for (size_t j = 0; j < c->n; j++)
			to[i * p->weights.columns + c->from + j] =
			    f32_to_f16(result[i * c->n + j]);
}

static void
run_piece(void *of, uint32_t lane, size_t i)
{
	const struct narrow_run *r = of;
	const struct narrow_product *p = r->product;
	const size_t columns = p->weights.columns;
	const size_t from = i * p->piece, left = columns - from;
	const struct column_piece c = {from, left < p->piece ? left : p->piece,
	    p->panel + lane * p->piece * p->weights.depth};
	float *result;

	if (!p->result) {
		multiply_columns(
		    p, r->left, &c, (float *)r->out + from, columns);
		return;
	}
	result = p->result + lane * p->rows * p->piece;
	multiply_columns(p, r->left, &c, result, c.n);
	store_halves(p, &c, result, r->out);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct narrow_product *p = k->state;
	const size_t columns = p->weights.columns;
	struct narrow_run r = {p, p->halves ? p->left : in[0], out[0]};

	if (p->halves)
		halves_widen(
		    DT_FLOAT16, in[0], p->rows * p->weights.depth, p->left);
	lanes_each(
	    (columns + p->piece - 1) / p->piece, p->lanes, run_piece, &r);
}

/* So many columns that each thread has some. */
static void
cut_columns(struct narrow_product *p)
{
	const struct narrow *w = &p->weights;
	const uint32_t lanes = cut_of(p->rows, w->depth, w->columns, 1).lanes;
	const size_t each = (w->columns + lanes - 1) / lanes;

	p->piece = PIECE / w->depth > LEAST ? PIECE / w->depth : LEAST;
	if (each > 0 && p->piece > each)
		p->piece = each;
	p->lanes = lanes;
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
	cut_columns(p);
	p->panel = arena_new(a, float, p->lanes * p->piece * w->depth);
	if (p->halves) {
		p->left = arena_new(a, float, p->rows * w->depth);
		p->result = arena_new(a, float, p->lanes * p->rows * p->piece);
	}
	out->run = run;
	out->state = p;
}
