/* Constant indices as the caches see them: the lines of the data they lead to.
 * The same list of lines in another place of the data is the same class. */
#include "costmodel/content.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"

#define LINE_BYTES 64 /* SOURCE: of every machine we have a backend for */

struct index_walk {
	const struct type *data;
	const struct tensor *index;
	int64_t stride[RANK_MAX]; /* bytes, of the data's dimensions */
	uint32_t first; /* the first dimension an index addresses */
	uint32_t width; /* how many of them one access states */
	int64_t run; /* bytes at each access */
};

/* An index as the kernel will use it; one that is out of range ends the run
 * wherever it leads. */
static int64_t
wrapped(int64_t i, int64_t dim)
{
	if (i < 0 && i >= -dim)
		return i + dim;
	return i >= 0 && i < dim ? i : 0;
}

/* Gather and the ND forms: `width` coordinates an access, then a run. */
static uint64_t
offset_of(const struct index_walk *w, size_t access)
{
	int64_t at = 0;

	for (uint32_t k = 0; k < w->width; k++) {
		int64_t i = tensor_int(w->index, access * w->width + k);

		at += wrapped(i, w->data->dim[w->first + k])
		    * w->stride[w->first + k];
	}
	return (uint64_t)at;
}

/* The element forms: the index's own place, but for one coordinate. */
static uint64_t
element_offset_of(const struct index_walk *w, size_t access)
{
	const struct tensor *t = w->index;
	int64_t at = 0;
	size_t rest = access;

	for (uint32_t k = t->rank; k-- > 0;) {
		int64_t own = (int64_t)(rest % (size_t)t->dim[k]);

		rest /= (size_t)t->dim[k];
		if (k == w->first)
			own = wrapped(tensor_int(t, access), w->data->dim[k]);
		at += own * w->stride[k];
	}
	return (uint64_t)at;
}

static bool
set_strides(struct index_walk *w)
{
	const struct type *t = w->data;
	size_t n, bytes;

	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN || t->rank == 0
	    || t->rank > RANK_MAX || !type_is_static(t)
	    || !tensor_size(t->dtype, t->dim, t->rank, &n, &bytes) || bytes < n
	    || n == 0)
		return false;
	w->stride[t->rank - 1] = (int64_t)(bytes / n);
	for (uint32_t k = t->rank - 1; k-- > 0;)
		w->stride[k] = w->stride[k + 1] * t->dim[k + 1];
	return true;
}

/* Which dimensions the indices address, by operator. */
static bool
set_addressed(struct index_walk *w, const struct node *n, bool *by_element)
{
	uint32_t rank = w->data->rank;
	int64_t axis = attr_int_or(n, "axis", 0);
	int64_t batch = attr_int_or(n, "batch_dims", 0);

	*by_element = false;
	if (n->op == OP_GATHERND || n->op == OP_SCATTERND) {
		if (w->index->rank == 0 || batch < 0)
			return false;
		w->first = (uint32_t)batch;
		w->width = (uint32_t)w->index->dim[w->index->rank - 1];
		if (w->width == 0 || w->width > rank
		    || w->first > rank - w->width)
			return false;
	} else {
		w->first = (uint32_t)wrapped(axis, rank);
		w->width = 1;
		*by_element = n->op != OP_GATHER;
		if (*by_element && w->index->rank != rank)
			return false;
	}
	w->run = *by_element ? w->stride[rank - 1]
	                     : w->stride[w->first + w->width - 1];
	return true;
}

/* The least k with n < 2^k. */
static uint8_t
bits(uint64_t n)
{
	uint8_t k = 0;

	for (; n; n >>= 1)
		k++;
	return k;
}

static struct places
count_places(uint64_t *line, size_t n, uint64_t lines_each)
{
	uint64_t jumps = 0, distinct = 0;

	for (size_t i = 1; i < n; i++)
		jumps +=
		    line[i] > line[i - 1] + lines_each || line[i] < line[i - 1];
	qsort(line, n, sizeof *line, by_u64);
	for (size_t i = 0; i < n; i++)
		distinct += i == 0 || line[i] != line[i - 1];
	return (struct places){bits(distinct * lines_each), bits(jumps)};
}

bool
content_places(const struct graph *g, const struct node *n,
    const struct tensor *index, struct places *out, struct arena *scratch)
{
	const struct value *data = node_in(g, n, 0);
	struct index_walk w = {.index = index};
	bool by_element;
	uint64_t *line, each;
	size_t accesses;

	if (!data || (index->kind != TENSOR_VIEW && index->kind != TENSOR_FILL)
	    || (index->dtype != DT_INT64 && index->dtype != DT_INT32))
		return false;
	w.data = &data->type;
	if (!set_strides(&w) || !set_addressed(&w, n, &by_element))
		return false;
	assert(w.width > 0 && w.first + w.width <= w.data->rank);
	assert(w.run >= 0);
	accesses = index->count / w.width;
	each = (uint64_t)w.run / LINE_BYTES;
	each += each == 0;
	line = arena_new(scratch, uint64_t, accesses);
	for (size_t i = 0; i < accesses; i++)
		line[i] =
		    (by_element ? element_offset_of(&w, i) : offset_of(&w, i))
		    / LINE_BYTES;
	*out = count_places(line, accesses, each);
	return true;
}
