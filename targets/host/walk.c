#include "targets/host/walk.h"

#include <assert.h>
#include <string.h>

void
walk_init(struct walk *w, uint32_t rank, const int64_t *dim)
{
	assert(rank <= RANK_MAX);
	w->rank = rank;
	w->noperands = 0;
	for (uint32_t i = 0; i < rank; i++)
		w->dim[i] = dim[i];
}

void
walk_operand(struct walk *w, const ptrdiff_t *stride)
{
	assert(w->noperands < WALK_OPERANDS);
	for (uint32_t i = 0; i < w->rank; i++)
		w->stride[w->noperands][i] = stride[i];
	w->noperands++;
}

/* Can dims d and e (e after d) be walked as one in every operand? */
static bool
mergeable(const struct walk *w, uint32_t d, uint32_t e)
{
	for (uint32_t k = 0; k < w->noperands; k++)
		if (w->stride[k][d] != w->stride[k][e] * w->dim[e])
			return false;
	return true;
}

/* Drop dims of 1 and merge neighbours. */
static void
collapse(struct walk *w)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < w->rank; d++) {
		bool merge;

		if (w->dim[d] == 1)
			continue;
		merge = n > 0 && mergeable(w, n - 1, d);
		if (merge)
			n--;
		w->dim[n] = merge ? w->dim[n] * w->dim[d] : w->dim[d];
		for (uint32_t k = 0; k < w->noperands; k++)
			w->stride[k][n] = w->stride[k][d];
		n++;
	}
	w->rank = n;
}

void
walk_start(struct walk *w)
{
	w->done = false;
	for (uint32_t d = 0; d < w->rank; d++)
		w->done |= w->dim[d] == 0;
	collapse(w);
	w->n = 1;
	for (uint32_t k = 0; k < w->noperands; k++)
		w->at[k] = w->step[k] = 0;
	if (w->rank > 0) {
		w->rank--;
		w->n = (size_t)w->dim[w->rank];
		for (uint32_t k = 0; k < w->noperands; k++)
			w->step[k] = w->stride[k][w->rank];
	}
	memset(w->index, 0, w->rank * sizeof *w->index);
}

void
walk_next(struct walk *w)
{
	for (uint32_t d = w->rank; d-- > 0;) {
		w->index[d]++;
		for (uint32_t k = 0; k < w->noperands; k++)
			w->at[k] += w->stride[k][d];
		if (w->index[d] < w->dim[d])
			return;
		for (uint32_t k = 0; k < w->noperands; k++)
			w->at[k] -= w->stride[k][d] * w->dim[d];
		w->index[d] = 0;
	}
	w->done = true;
}

void
strides_of(uint32_t rank, const int64_t *dim, ptrdiff_t *stride)
{
	ptrdiff_t n = 1;

	for (uint32_t d = rank; d-- > 0;) {
		stride[d] = n;
		n *= dim[d] ? dim[d] : 1;
	}
}

void
broadcast_strides(uint32_t rank, const int64_t *dim, uint32_t out_rank,
    const int64_t *out_dim, ptrdiff_t *stride)
{
	ptrdiff_t own[RANK_MAX];
	uint32_t lead = out_rank - rank;

	assert(out_rank >= rank);
	strides_of(rank, dim, own);
	for (uint32_t d = 0; d < out_rank; d++)
		stride[d] = d < lead || (dim[d - lead] == 1 && out_dim[d] != 1)
		    ? 0
		    : own[d - lead];
}

struct shape
shape_of(const struct tensor *t)
{
	struct shape s = {.rank = t->rank};

	assert(t->rank <= RANK_MAX);
	if (t->rank)
		memcpy(s.dim, t->dim, t->rank * sizeof *t->dim);
	return s;
}

bool
shape_broadcast(struct shape *s, uint32_t rank, const int64_t *dim)
{
	uint32_t lead;

	if (rank > s->rank) {
		lead = rank - s->rank;
		memmove(s->dim + lead, s->dim, s->rank * sizeof *s->dim);
		for (uint32_t d = 0; d < lead; d++)
			s->dim[d] = 1;
		s->rank = rank;
	}
	lead = s->rank - rank;
	for (uint32_t d = 0; d < rank; d++) {
		int64_t *have = &s->dim[lead + d];

		if (*have == 1)
			*have = dim[d];
		else if (dim[d] != 1 && dim[d] != *have)
			return false;
	}
	return true;
}

size_t
shape_count(const int64_t *dim, uint32_t from, uint32_t to)
{
	size_t n = 1;

	for (uint32_t d = from; d < to; d++)
		n *= (size_t)dim[d];
	return n;
}

/* Constant sizes let the compiler turn memcpy into one move. */
static inline void
copy_element(unsigned char *to, const unsigned char *from, size_t size)
{
	if (size == 4)
		memcpy(to, from, 4);
	else if (size == 8)
		memcpy(to, from, 8);
	else
		memcpy(to, from, size);
}

static void
copy_row(unsigned char *to, ptrdiff_t to_step, const unsigned char *from,
    ptrdiff_t from_step, const size_t nsize[2])
{
	size_t n = nsize[0], size = nsize[1];

	if (to_step == (ptrdiff_t)size && from_step == (ptrdiff_t)size) {
		memcpy(to, from, n * size);
		return;
	}
	for (size_t i = 0; i < n; i++)
		copy_element(to + (ptrdiff_t)i * to_step,
		    from + (ptrdiff_t)i * from_step, size);
}

/* A matrix of rows[0] rows of rows[1] elements of `size` bytes, between two places
 * where the next row and the next element are so many bytes on. */
struct turned {
	size_t rows[2], size;
	ptrdiff_t to[2], from[2];
};

/* TUNING: floats of a cache line. */
#define TILE 16u

static void
copy_tile(const struct turned *m, unsigned char *to, const unsigned char *from,
    size_t row, size_t column)
{
	const size_t rows = row + TILE < m->rows[0] ? row + TILE : m->rows[0],
	             end = column + TILE < m->rows[1] ? column + TILE
	                                              : m->rows[1];

	for (size_t i = row; i < rows; i++) {
		unsigned char *p = to + (ptrdiff_t)i * m->to[0];
		const unsigned char *q = from + (ptrdiff_t)i * m->from[0];

		for (size_t j = column; j < end; j++)
			copy_element(p + (ptrdiff_t)j * m->to[1],
			    q + (ptrdiff_t)j * m->from[1], m->size);
	}
}

/* Lines of either side are used whole before they are left. */
static void
copy_tiles(const struct turned *m, unsigned char *to, const unsigned char *from)
{
	for (size_t row = 0; row < m->rows[0]; row += TILE)
		for (size_t column = 0; column < m->rows[1]; column += TILE)
			copy_tile(m, to, from, row, column);
}

/* Are a row's elements far apart in the source, and neighbours those of rows that
 * follow each other? Then the walk is over such matrices. */
static bool
take_matrix(struct walk *w, struct turned *m, size_t size)
{
	const ptrdiff_t s = (ptrdiff_t)size;
	const uint32_t last = w->rank - 1;

	if (w->done || w->rank == 0 || w->n < TILE
	    || w->step[1] < (ptrdiff_t)TILE || w->stride[1][last] != 1
	    || w->dim[last] < (int64_t)TILE)
		return false;
	*m = (struct turned){
	    .rows = {(size_t)w->dim[last], w->n},
	    .size = size,
	    .to = {w->stride[0][last] * s, w->step[0] * s},
	    .from = {s, w->step[1] * s},
	};
	w->rank = last;
	return true;
}

void
copy_strided(struct walk *w, void *to, const void *from, size_t size)
{
	unsigned char *p = to;
	const unsigned char *q = from;
	ptrdiff_t s = (ptrdiff_t)size;
	struct turned m;

	walk_start(w);
	if (take_matrix(w, &m, size)) {
		for (; !w->done; walk_next(w))
			copy_tiles(&m, p + w->at[0] * s, q + w->at[1] * s);
		return;
	}
	for (; !w->done; walk_next(w))
		copy_row(p + w->at[0] * s, w->step[0] * s, q + w->at[1] * s,
		    w->step[1] * s, (size_t[]){w->n, size});
}
