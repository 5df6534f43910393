#include "targets/blas/multiply.h"

#include "targets/blas/library.h"
#include "targets/lanes.h"
#include "targets/team.h"

/* Whole rows of a library's tiles; columns: whole cache lines, too. */
#define ROW_GRAIN 4
#define COLUMN_GRAIN 16

/* ---- how ---- */

static size_t
parts_of(size_t n, size_t part)
{
	return (n + part - 1) / part;
}

static size_t
part_of(size_t n, size_t parts, size_t grain)
{
	const size_t part = parts_of(parts_of(n, parts), grain) * grain;

	return part < n ? part : n;
}

static struct cutting
cut_into(size_t rows, size_t columns, size_t down, size_t across)
{
	struct cutting c = {.rows = rows, .columns = columns};

	cut_smaller(&c, part_of(rows, down, ROW_GRAIN),
	    part_of(columns, across, COLUMN_GRAIN));
	return c;
}

/* The largest block is what all wait for; of equal ones those have to be packed least
 * whose sides are the shortest. */
static bool
is_better(const struct cutting *a, const struct cutting *b)
{
	const size_t work = a->block.rows * a->block.columns;
	const size_t other = b->block.rows * b->block.columns;

	return work < other
	    || (work == other
	        && a->block.rows + a->block.columns
	            < b->block.rows + b->block.columns);
}

static size_t
common(size_t a, size_t b)
{
	return b == 0 ? a : common(b, a % b);
}

struct cutting
cut_of(size_t rows, size_t inner, size_t columns, size_t times)
{
	const double work =
	    (double)rows * (double)inner * (double)columns * (double)times;
	const double worth = work / TEAM_MULTIPLICATIONS;
	const uint32_t most = worth < LANES_MOST ? (uint32_t)worth : LANES_MOST;
	const uint32_t lanes = lanes_for(SIZE_MAX, most > 1 ? most : 1);
	const size_t parts = lanes / common(lanes, times);
	struct cutting best = cut_into(rows, columns, 1, 1);

	for (size_t down = 1; down <= parts; down++) {
		struct cutting c = cut_into(rows, columns, down, parts / down);

		if (is_better(&c, &best))
			best = c;
	}
	best.lanes = lanes;
	return best;
}

void
cut_smaller(struct cutting *c, size_t rows, size_t columns)
{
	c->block.rows = rows;
	c->block.columns = columns;
	c->down = rows ? parts_of(c->rows, rows) : 0;
	c->across = columns ? parts_of(c->columns, columns) : 0;
}

struct result_block
cut_block(const struct cutting *c, size_t i)
{
	struct result_block b = c->block;

	b.row = i / c->across * b.rows;
	b.column = i % c->across * b.columns;
	b.rows = c->rows - b.row < b.rows ? c->rows - b.row : b.rows;
	b.columns = c->columns - b.column < b.columns ? c->columns - b.column
	                                              : b.columns;
	return b;
}

/* ---- running ---- */

void
multiply_block(const struct multiplication *m, const struct result_block *b)
{
	const float *left =
	    m->left + b->row * (m->turn_left ? 1 : m->left_stride);
	const float *right =
	    m->right + b->column * (m->turn_right ? m->right_stride : 1);

	openblas.sgemm(CblasRowMajor, m->turn_left ? CblasTrans : CblasNoTrans,
	    m->turn_right ? CblasTrans : CblasNoTrans, (int)b->rows,
	    (int)b->columns, (int)m->inner, m->alpha, left, (int)m->left_stride,
	    right, (int)m->right_stride, m->beta,
	    m->to + b->row * m->to_stride + b->column, (int)m->to_stride);
}

struct shared {
	const struct multiplication *product;
	struct cutting cut;
};

static void
run_block(void *of, uint32_t lane, size_t i)
{
	const struct shared *s = of;
	const struct result_block b = cut_block(&s->cut, i);

	(void)lane;
	multiply_block(s->product, &b);
}

void
multiply(const struct multiplication *m)
{
	struct shared s = {m, cut_of(m->rows, m->inner, m->columns, 1)};

	lanes_each(s.cut.down * s.cut.across, s.cut.lanes, run_block, &s);
}
