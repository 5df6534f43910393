/* Products of rows of 8-bit integers. */
#include "targets/blas/sums.h"
#include "targets/bytes.h"
#include "targets/lanes.h"

struct sums_product {
	struct sums sums;
	struct requantising q; /* multiplier NULL: sums as they are */
	size_t rows, piece; /* rows at once */
	uint32_t lanes; /* that share the pieces; 1: each product is shared */
	int32_t left;
	struct zero zero;
	bool left_unsigned;
	/* of each lane: [piece][depth], [piece][outputs] */
	float *row, *part;
	int32_t *sum; /* [piece][outputs], of what is requantised */
};

struct rows_run {
	const struct sums_product *product;
	struct byte_code code;
	const uint8_t *in;
	void *out;
};

static void
multiply_rows(const struct sums_product *p, size_t n, int32_t *sum)
{
	const struct sums *s = &p->sums;
	size_t from = 0;

	for (uint32_t i = 0; i < s->nparts; i++) {
		const struct multiplication m = {.rows = n,
		    .inner = s->end[i] - from,
		    .columns = s->outputs,
		    .alpha = 1,
		    .left = p->row + from,
		    .left_stride = s->depth,
		    .right = s->weight + from * s->outputs,
		    .right_stride = s->outputs,
		    .to = p->part,
		    .to_stride = s->outputs};

		multiply_by(&m, p->lanes);
		add_whole(sum, p->part, n * s->outputs, i == 0);
		from = s->end[i];
	}
}

/* One piece, in the buffers of `p`. */
static void
run_rows(const struct rows_run *r, const struct sums_product *p, size_t piece)
{
	const struct sums *s = &p->sums;
	const size_t at = piece * p->piece, left = p->rows - at;
	const size_t n = left < p->piece ? left : p->piece;
	int32_t *sum =
	    p->q.multiplier ? p->sum : (int32_t *)r->out + at * s->outputs;

	bytes_widen(p->row, r->in + at * s->depth, n * s->depth, 1, &r->code);
	multiply_rows(p, n, sum);
	for (size_t i = 0; p->q.multiplier && i < n; i++)
		requantise_row((uint8_t *)r->out + (at + i) * s->outputs,
		    sum + i * s->outputs, s->outputs, &p->q);
}

static void
run_lane_rows(void *of, uint32_t lane, size_t i)
{
	const struct rows_run *r = of;
	struct sums_product mine = *r->product;

	mine.row += lane * mine.piece * mine.sums.depth;
	mine.part += lane * mine.piece * mine.sums.outputs;
	if (mine.sum)
		mine.sum += lane * mine.piece * mine.sums.outputs;
	run_rows(r, &mine, i);
}

static void
run_product(struct kernel *k, const void *const *in, void *const *out)
{
	const struct sums_product *p = k->state;
	struct rows_run r;

	r.product = p;
	r.code =
	    (struct byte_code){1, zero_now(&p->zero, in), p->left_unsigned};
	r.in = in[p->left];
	r.out = out[0];
	lanes_each(
	    (p->rows + p->piece - 1) / p->piece, p->lanes, run_lane_rows, &r);
}

/* Pieces of rows for each thread, unless columns are rather what is shared. */
static void
cut_rows(struct sums_product *p)
{
	const struct sums *s = &p->sums;
	const size_t widest = s->depth > s->outputs ? s->depth : s->outputs;
	const struct cutting cut = cut_of(p->rows, s->depth, s->outputs, 1);
	const size_t each = cut.across > 1 ? p->rows : cut.block.rows;

	p->lanes = cut.across > 1 ? 1 : cut.lanes;
	p->piece = widest < SUMS_PIECE ? SUMS_PIECE / widest : 1;
	if (each > 0 && p->piece > each)
		p->piece = each;
}

bool
compile_rows(const struct integer_places *at, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out)
{
	const struct node *n = graph_node(g, c->node[0]);
	const struct type *x = &node_in(g, n, 0)->type;
	const struct tensor *w = integer_constant(g, n, at->w);
	struct sums_product *p = arena_new(a, struct sums_product, 1);
	size_t room;

	p->sums = (struct sums){.outputs = (size_t)w->dim[1],
	    .depth = (size_t)w->dim[0],
	    .by_depth = true};
	sums_of(&p->sums, w, integer_constant(g, n, at->w_zero), a);
	p->rows = 1;
	for (uint32_t i = 0; i + 1 < x->rank; i++)
		p->rows *= (size_t)x->dim[i];
	cut_rows(p);
	p->left = candidate_input(c, n->input[0]);
	p->left_unsigned = x->dtype == DT_UINT8;
	p->zero = zero_of(g, c, n, at->x_zero);
	room = p->lanes * p->piece;
	p->row = arena_new(a, float, room * p->sums.depth);
	p->part = arena_new(a, float, room * p->sums.outputs);
	if (at->requantises) {
		if (!requantising_of(&p->q, g, n, p->sums.outputs, a))
			return false;
		p->sum = arena_new(a, int32_t, room * p->sums.outputs);
	}
	out->run = run_product;
	out->state = p;
	return true;
}
