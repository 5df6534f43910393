/* Large matrices packed slice by slice: of the model's numbers no more is in memory, and
 * written out where it holds one number for all, than of the slice that is packed. */
#include <string.h>

#include "targets/dnnl/layer.h"
#include "targets/matrix_rows.h"
#include "targets/weights.h"

/* TUNING: of what is read at once: it stays in the inner caches until it is packed. */
#define SLICE ((size_t)512 << 10)

/* No block of a layout has more rows. */
#define ROWS 64

struct matrix_slices {
	struct matrix_rows from;
	struct md is;
	const struct md *want;
	dnnl_memory_t to;
	int outer; /* the dimension with the larger stride */
	int64_t rows; /* of a slice */
};

/* Is it dense and one matrix of floats? */
static bool
is_sliced(struct matrix_slices *s, const struct tensor *t)
{
	if (!matrix_is_large(t) || s->is.ndims != 2
	    || md_type(&s->is) != dnnl_f32)
		return false;
	s->outer = s->is.strides[0] >= s->is.strides[1] ? 0 : 1;
	return s->is.strides[1 - s->outer] == 1
	    && s->is.strides[s->outer] == s->is.dims[1 - s->outer]
	    && (size_t)(s->is.dims[0] * s->is.dims[1]) == t->count;
}

static void
open_rows(struct matrix_slices *s, const struct tensor *t, float factor,
    struct arena *a)
{
	const size_t row = (size_t)s->is.strides[s->outer];
	const size_t fit = SLICE / sizeof(float) / row / ROWS * ROWS;

	s->rows = fit > 0 ? (int64_t)fit : ROWS;
	matrix_rows_open(&s->from, t, factor, row, (size_t)s->rows, a);
}

static bool
pack_part(struct build *b, const struct matrix_slices *s, const struct md *is,
    const struct md *part, const void *data)
{
	const dnnl_engine_t e = b->layer->engine;
	dnnl_memory_t from = NULL, to = NULL;
	void *whole = NULL;
	bool ok;
	union { /* as in bind_packed() */
		const void *in;
		void *out;
	} bytes = {.in = data};

	ok = check(b, dnnl_memory_get_data_handle(s->to, &whole), "memory")
	    && check(b, md_memory(&from, is, e, bytes.out), "constant")
	    && check(b, md_memory(&to, part, e, whole), "constant")
	    && reorder_memory(b, from, to, is, part);
	if (from)
		dnnl_memory_destroy(from);
	if (to)
		dnnl_memory_destroy(to);
	return ok;
}

static bool
pack_slice(struct build *b, struct matrix_slices *s, int64_t first)
{
	const int64_t left = s->is.dims[s->outer] - first;
	dnnl_dims_t at = {0};
	struct md is = s->is, part;
	size_t n;
	bool ok;

	is.dims[s->outer] = left < s->rows ? left : s->rows;
	at[s->outer] = first;
	n = (size_t)is.dims[s->outer];
	ok = check(b, md_part(&part, s->want, is.dims, at, b->scratch), "part")
	    && pack_part(
	        b, s, &is, &part, matrix_rows_read(&s->from, (size_t)first, n));
	matrix_rows_let_go(&s->from, (size_t)first, n);
	md_part_release(&part);
	return ok;
}

/* false: nothing is bound. */
static bool
bind_sliced(struct build *b, int arg, struct matrix_slices *s)
{
	bool ok = memory_new(b, &s->to, s->want);

	for (int64_t i = 0; ok && i < s->is.dims[s->outer]; i += s->rows)
		ok = pack_slice(b, s, i);
	if (ok)
		return bind_memory(b, arg, s->to);
	if (s->to)
		memory_release(s->to);
	return false;
}

bool
bind_matrix(struct build *b, int arg, value_id v, float factor,
    const struct md *is, const struct md *want)
{
	const struct tensor *t = graph_value(b->graph, v)->constant;
	struct matrix_slices s = {.is = *is, .want = want};
	const struct err before = *b->err;

	if (is_sliced(&s, t)) {
		open_rows(&s, t, factor, b->scratch);
		if (bind_sliced(b, arg, &s))
			return true;
		*b->err = before; /* a layout of another kind */
	}
	return bind_constant(
	    b, arg, scaled_floats(b->graph, v, factor, b->scratch), is, want);
}
