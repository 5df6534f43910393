/* Large matrices packed slice by slice: of the model's numbers no more is in memory, and
 * written out where it holds one number for all, than of the slice that is packed. */
#include <string.h>

#include "ir/base/file_guard.h"
#include "targets/dnnl/layer.h"
#include "targets/weights.h"

/* TUNING: smaller ones are packed as a whole: they take little memory beside a model's. */
#define SLICED ((size_t)16 << 20)
#define SLICE ((size_t)4 << 20)

/* No block of a layout has more rows. */
#define ROWS 64

struct matrix_slices {
	const struct tensor *t;
	float factor;
	struct md is;
	const struct md *want;
	dnnl_memory_t to;
	int outer; /* the dimension with the larger stride */
	int64_t rows; /* of a slice */
	float *floats; /* room for one, or NULL: they are read in place */
};

/* Is it dense and one matrix of floats? */
static bool
is_sliced(struct matrix_slices *s, const struct tensor *t)
{
	const size_t bytes = t ? t->count * sizeof(float) : 0;

	if (bytes < SLICED || t->dtype != DT_FLOAT || s->is.ndims != 2
	    || md_type(&s->is) != dnnl_f32
	    || (t->kind != TENSOR_VIEW && t->kind != TENSOR_FILL))
		return false;
	s->t = t;
	s->outer = s->is.strides[0] >= s->is.strides[1] ? 0 : 1;
	return s->is.strides[1 - s->outer] == 1
	    && s->is.strides[s->outer] == s->is.dims[1 - s->outer]
	    && (size_t)(s->is.dims[0] * s->is.dims[1]) == t->count;
}

static size_t
row_of(const struct matrix_slices *s)
{
	return (size_t)s->is.strides[s->outer];
}

static void
set_slices(struct matrix_slices *s, struct arena *a)
{
	const size_t fit = SLICE / sizeof(float) / row_of(s) / ROWS * ROWS;
	size_t n;
	float x;

	s->rows = fit > 0 ? (int64_t)fit : ROWS;
	n = (size_t)s->rows * row_of(s);
	if (s->t->kind == TENSOR_VIEW && s->factor == 1
	    && (uintptr_t)s->t->data % 64 == 0)
		return;
	s->floats = arena_new(a, float, n + 16); /* as tensor_data() */
	if (s->t->kind == TENSOR_VIEW)
		return;
	memcpy(&x, s->t->fill, sizeof x);
	for (size_t i = 0; i < n; i++)
		s->floats[i] = x * s->factor;
}

static const void *
read_slice(const struct matrix_slices *s, int64_t first, int64_t rows)
{
	const size_t n = (size_t)rows * row_of(s);
	const char *from = s->t->data;

	if (s->t->kind == TENSOR_FILL)
		return s->floats;
	from += (size_t)first * row_of(s) * sizeof(float);
	if (!s->floats)
		return from;
	memcpy(s->floats, from, n * sizeof(float));
	for (size_t i = 0; s->factor != 1 && i < n; i++)
		s->floats[i] *= s->factor;
	return s->floats;
}

/* It is packed; nobody needs it in memory for now. */
static void
let_go(const struct matrix_slices *s, int64_t first, int64_t rows)
{
	const size_t row = row_of(s) * sizeof(float);

	if (s->t->kind == TENSOR_VIEW)
		file_guard_let_go(
		    (const char *)s->t->data + (size_t)first * row,
		    (size_t)rows * row);
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
pack_slice(struct build *b, const struct matrix_slices *s, int64_t first)
{
	const int64_t left = s->is.dims[s->outer] - first;
	dnnl_dims_t at = {0};
	struct md is = s->is, part;
	bool ok;

	is.dims[s->outer] = left < s->rows ? left : s->rows;
	at[s->outer] = first;
	ok = check(b, md_part(&part, s->want, is.dims, at, b->scratch), "part")
	    && pack_part(
	        b, s, &is, &part, read_slice(s, first, is.dims[s->outer]));
	let_go(s, first, is.dims[s->outer]);
	md_part_release(&part);
	return ok;
}

/* false: nothing is bound. */
static bool
bind_sliced(struct build *b, int arg, struct matrix_slices *s)
{
	bool ok = memory_new(b, &s->to, s->want);

	set_slices(s, b->scratch);
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
	struct matrix_slices s = {.factor = factor, .is = *is, .want = want};
	const struct err before = *b->err;

	if (is_sliced(&s, graph_value(b->graph, v)->constant)) {
		if (bind_sliced(b, arg, &s))
			return true;
		*b->err = before; /* a layout of another kind */
	}
	return bind_constant(
	    b, arg, scaled_floats(b->graph, v, factor, b->scratch), is, want);
}
