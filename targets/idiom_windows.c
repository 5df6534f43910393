/* Attention of windows: what is added to their scores. */
#include <string.h>

#include "targets/idiom_write.h"
#include "targets/view.h"

/* TUNING: a mask is made as large as the scores, up to this. */
#define MASK_MAX ((size_t)1 << 24)

/* Steps of the elements of a tensor over dimensions that it broadcasts to. */
static bool
spread(struct view *v, const struct view *over, const struct tensor *t)
{
	int64_t step = 1;

	*v = *over;
	if (t->rank > over->rank)
		return false;
	for (uint32_t i = 0; i < over->rank; i++)
		v->step[i] = 0;
	for (uint32_t i = 1; i <= t->rank; i++) {
		const int64_t dim = t->dim[t->rank - i];

		if (dim != 1 && dim != over->dim[over->rank - i])
			return false;
		if (dim != 1)
			v->step[over->rank - i] = step;
		step *= dim;
	}
	return true;
}

/* Floats that lie one behind the other, perhaps in a file: aligned to nothing. */
static void
add_floats(float *row, const void *from, size_t n)
{
	const unsigned char *p = from;
	float x;

	for (size_t i = 0; i < n; i++) {
		memcpy(&x, p + i * sizeof x, sizeof x);
		row[i] += x;
	}
}

/* Along the last dimension. */
static void
add_row(
    float *row, const struct view *from, const struct tensor *t, int64_t place)
{
	const int64_t step = from->step[from->rank - 1];

	if (t->kind == TENSOR_VIEW && step == 1) {
		add_floats(row,
		    (const unsigned char *)t->data
		        + (size_t)place * sizeof(float),
		    (size_t)from->dim[from->rank - 1]);
		return;
	}
	for (int64_t i = 0; i < from->dim[from->rank - 1]; i++)
		row[i] += (float)tensor_real(t, (size_t)(place + i * step));
}

/* Adds the constant, as it broadcasts to the dimensions, to all [n] elements. */
static bool
add_constant(
    float *all, size_t n, const struct type *over, const struct tensor *t)
{
	struct view to, from;

	if (!view_of(&to, over) || !spread(&from, &to, t) || to.rank == 0
	    || t->dtype != DT_FLOAT)
		return false;
	for (size_t at = 0; at < n; at += (size_t)to.dim[to.rank - 1]) {
		int64_t place = 0, left = (int64_t)at;

		for (uint32_t i = to.rank; i-- > 0;) {
			place += left % to.dim[i] * from.step[i];
			left /= to.dim[i];
		}
		add_row(all + at, &from, t, place);
	}
	return true;
}

/* A Reshape leaves the scores in order, so what is added behind it is, too. */
bool
write_windows(struct idiom_writer *w, const int64_t dim[4], value_id *mask)
{
	const struct tensor *windows = caught_constant(w, "windows");
	const struct tensor *bias = caught_constant(w, "bias");
	const struct node *softmax = caught_node(w, "softmax");
	const struct type *scores = &node_in(w->graph, softmax, 0)->type;
	const struct type *windowed = caught_type(w, "windowed");
	const struct type *sum = &node_in(w->graph,
	    graph_node(w->graph, node_in(w->graph, softmax, 0)->producer), 0)
	                              ->type;
	const size_t n = (size_t)(dim[0] * dim[1] * dim[2] * dim[3]);
	float *all;

	if (n > MASK_MAX || !windows || !dims_are(scores, 4, dim)
	    || !type_is_static(windowed)
	    || !dims_are(sum, windowed->rank, windowed->dim)
	    || (caught(w, "bias") != VALUE_NONE && !bias))
		return false;
	all = arena_new(w->arena, float, n);
	if (!add_constant(all, n, windowed, windows)
	    || (bias && !add_constant(all, n, scores, bias)))
		return false;
	*mask = write_constant(w,
	    tensor_view(DT_FLOAT, 4,
	        (const int64_t *)arena_copy(w->arena, dim, 4 * sizeof *dim),
	        all));
	return true;
}
