/* Attention and rotary embedding that were spelled out. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "targets/idiom_write.h"

/* [batch, heads, queries, keys], the sizes of a head, and of keys' heads. */
struct attention_sizes {
	int64_t b, h, s, t, d, dv, kv;
	uint32_t rank; /* 3: the heads are part of the batch */
	bool whole; /* from and to tensors that have the heads side by side */
};

static bool
transposes(const struct node *n, uint32_t rank, const int64_t *want)
{
	uint32_t count;
	const int64_t *perm = n ? attr_ints(n, "perm", &count) : NULL;

	return perm && count == rank
	    && memcmp(perm, want, rank * sizeof *want) == 0;
}

static bool
transposed_as(const struct idiom_writer *w, const char *name, const char *perm)
{
	const uint32_t rank = (uint32_t)strlen(perm);
	int64_t want[6];

	for (uint32_t i = 0; i < rank; i++)
		want[i] = perm[i] - '0';
	return transposes(caught_node(w, name), rank, want);
}

static bool
has_dims(const struct idiom_writer *w, const char *name, uint32_t rank,
    const int64_t *dim)
{
	const struct type *t = caught_type(w, name);

	return t && dims_are(t, rank, dim);
}
#define DIMS(...) \
	(uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
	    (const int64_t[]) \
	{ \
		__VA_ARGS__ \
	}

/* ---- shapes ---- */

static bool
read_heads(struct attention_sizes *h, const struct idiom_writer *w)
{
	const struct node *product = caught_node(w, "product");
	const struct type *q = &node_in(w->graph, product, 0)->type;
	const struct type *k = &node_in(w->graph, product, 1)->type;

	if (!type_is_static(q) || !type_is_static(k) || q->rank != k->rank
	    || q->rank < 3 || q->rank > 4 || !dtype_is_float(q->dtype))
		return false;
	*h = (struct attention_sizes){.rank = q->rank, .b = q->dim[0], .h = 1};
	if (q->rank == 4)
		h->h = q->dim[1];
	h->s = q->dim[q->rank - 2];
	h->d = q->dim[q->rank - 1];
	h->t = k->dim[k->rank - 1];
	h->whole = caught(w, "x_heads") != VALUE_NONE;
	return h->b > 0 && h->h > 0 && h->s > 0 && h->d > 0 && h->t > 0;
}

/* Keys with their last two dimensions exchanged, one way or another. */
static bool
keys_turn(const struct attention_sizes *h, const struct idiom_writer *w)
{
	if (h->whole && caught(w, "k_turned") != VALUE_NONE)
		return transposed_as(w, "k_turned", "0231");
	if (h->whole && !transposed_as(w, "k_apart", "0213"))
		return false;
	if (caught(w, "turned_back") == VALUE_NONE)
		return transposed_as(
		    w, "turned", h->rank == 4 ? "0132" : "021");
	return h->rank == 4 && transposed_as(w, "turned", "021")
	    && has_dims(w, "flat", DIMS(h->b * h->h, h->t, h->d))
	    && has_dims(w, "turned_back", DIMS(h->b, h->h, h->d, h->t));
}

struct side {
	const char *name, *past, *joined, *apart, *copied, *repeated;
};
static const struct side keys = {
    "k", "k_past", "k_joined", "k_apart", "k_copied", "k_repeated"};
static const struct side values = {
    "v", "v_past", "v_joined", "v_apart", "v_copied", "v_repeated"};

/* Keys (or values) of a head of the given size: as they are, behind the past,
 * each head for several of the queries. */
static bool
side_fits(const struct idiom_writer *w, const struct side *side,
    struct attention_sizes *h, int64_t size)
{
	const bool joined = caught(w, side->joined) != VALUE_NONE;
	const bool repeated = caught(w, side->repeated) != VALUE_NONE;
	const struct type *x = caught_type(w, side->name);
	const struct type *all =
	    joined ? caught_type(w, side->joined) : caught_type(w, side->name);

	if (h->rank == 3)
		return !joined && !repeated
		    && dims_are(all, DIMS(h->b, h->t, size));
	if (all->rank != 4 || x->rank != 4)
		return false;
	h->kv = all->dim[1];
	if (joined
	    && (attr_int_or(caught_node(w, side->joined), "axis", 0) + 4) % 4
	        != 2)
		return false;
	if (!repeated)
		return dims_are(all, DIMS(h->b, h->h, h->t, size));
	return h->kv > 0 && h->h % h->kv == 0
	    && dims_are(all, DIMS(h->b, h->kv, h->t, size))
	    && has_dims(w, side->apart, DIMS(h->b, h->kv, 1, h->t, size))
	    && has_dims(
	        w, side->copied, DIMS(h->b, h->kv, h->h / h->kv, h->t, size))
	    && has_dims(w, side->repeated, DIMS(h->b, h->h, h->t, size));
}

static bool
sides_agree(const struct idiom_writer *w)
{
	return (caught(w, "k_joined") == VALUE_NONE)
	    == (caught(w, "v_joined") == VALUE_NONE)
	    && (caught(w, "k_repeated") == VALUE_NONE)
	    == (caught(w, "v_repeated") == VALUE_NONE);
}

/* Each head by itself, [batch, heads, length, size]. */
static bool
parts_fit(struct attention_sizes *h, const struct idiom_writer *w)
{
	const struct type *v = caught_type(w, "v");
	const struct type *x = &graph_value(w->graph, w->x)->type;

	if (!v || !type_is_static(v) || v->rank != h->rank || !sides_agree(w))
		return false;
	h->dv = v->dim[v->rank - 1];
	if (h->rank == 4 ? !dims_are(x, DIMS(h->b, h->h, h->s, h->d))
	                 : !dims_are(x, DIMS(h->b, h->s, h->d)))
		return false;
	return side_fits(w, &keys, h, h->d) && side_fits(w, &values, h, h->dv);
}

/* The heads side by side, [batch, length, heads * size]; the operator takes no
 * others, though Reshape may make heads of any. */
static bool
is_side_by_side(const struct attention_sizes *h, const struct idiom_writer *w)
{
	const struct type *y = &graph_value(w->graph, w->output[0])->type;

	return has_dims(w, "x", DIMS(h->b, h->s, h->h * h->d))
	    && has_dims(w, "k", DIMS(h->b, h->t, h->h * h->d))
	    && has_dims(w, "v", DIMS(h->b, h->t, h->h * h->dv))
	    && dims_are(y, DIMS(h->b, h->s, h->h * h->dv));
}

static bool
whole_fits(struct attention_sizes *h, struct idiom_writer *w)
{
	const struct type *v = caught_type(w, "v_heads");

	if (h->rank != 4 || !v || !type_is_static(v) || v->rank != 4)
		return false;
	h->kv = h->h;
	h->dv = v->dim[3];
	w->no_operator = !is_side_by_side(h, w);
	return has_dims(w, "x_heads", DIMS(h->b, h->s, h->h, h->d))
	    && has_dims(w, "k_heads", DIMS(h->b, h->t, h->h, h->d))
	    && has_dims(w, "v_heads", DIMS(h->b, h->t, h->h, h->dv))
	    && transposed_as(w, "q_apart", "0213")
	    && transposed_as(w, "v_apart", "0213")
	    && transposed_as(w, "together", "0213");
}

/* ---- scale ---- */

static bool
take_scale(struct idiom_writer *w)
{
	static const char *const factor[] = {"s_by", "q_by", "k_by"};
	static const char *const divisor[] = {"s_over", "q_over", "k_over"};
	double scale = 1, x;

	for (size_t i = 0; i < 3; i++) {
		if (caught(w, factor[i]) != VALUE_NONE) {
			if (!caught_number(w, factor[i], &x))
				return false;
			scale *= x;
		}
		if (caught(w, divisor[i]) != VALUE_NONE) {
			if (!caught_number(w, divisor[i], &x) || x == 0)
				return false;
			scale /= x;
		}
	}
	/* the operator takes 0 for "by the size of a head" */
	write_float(w, "scale", scale);
	return scale != 0 && isfinite(scale);
}

/* ---- masks ---- */

/* So low that nothing else counts beside it. */
static bool
is_hiding(enum dtype t, double x)
{
	const double lowest = t == DT_FLOAT16 ? 65504.
	    : t == DT_DOUBLE                  ? DBL_MAX
	                                      : (double)FLT_MAX;

	return x <= -0.99 * lowest;
}

/* Does each row of a constant mask leave something to be seen? */
static bool
rows_see(const struct tensor *t)
{
	const size_t n = t->rank > 0 && t->dim[t->rank - 1] > 0
	    ? (size_t)t->dim[t->rank - 1]
	    : 1;

	for (size_t row = 0; row < t->count; row += n) {
		bool sees = false;

		for (size_t i = row; i < row + n; i++)
			sees = sees
			    || (t->dtype == DT_BOOL
			            ? tensor_int(t, i) != 0
			            : !isinf(tensor_real(t, i)));
		if (!sees)
			return false;
	}
	return true;
}

/* A constant that shows query i the keys up to its own, and hides the others. */
static bool
is_causal(const struct attention_sizes *h, const struct tensor *t, int64_t past)
{
	const uint32_t r = t->rank;

	if (r < 2 || t->dim[r - 2] != h->s || t->dim[r - 1] != h->t
	    || t->count != (size_t)(h->s * h->t) || h->s + past != h->t)
		return false;
	for (int64_t i = 0; i < h->s; i++)
		for (int64_t j = 0; j < h->t; j++) {
			const size_t at = (size_t)(i * h->t + j);
			const bool seen = j <= i + past;

			if (t->dtype == DT_BOOL
			        ? (tensor_int(t, at) != 0) != seen
			        : seen ? tensor_real(t, at) != 0
			               : !is_hiding(
			                   tensor_held(t), tensor_real(t, at)))
				return false;
		}
	return true;
}

/* Does the mask broadcast to the scores, with all keys in it? */
static bool
mask_fits(const struct attention_sizes *h, const struct type *m)
{
	const int64_t dim[4] = {h->b, h->h, h->s, h->t};

	if (m->kind != TYPE_TENSOR || m->rank < 1 || m->rank > h->rank
	    || !type_is_static(m) || m->dim[m->rank - 1] != h->t)
		return false;
	if (h->rank == 3) /* [heads and batch, s, t] would count as heads */
		return m->rank < 3
		    && (m->rank < 2 || m->dim[0] == 1 || m->dim[0] == h->s);
	for (uint32_t i = 0; i < m->rank; i++)
		if (m->dim[i] != 1 && m->dim[i] != dim[4 - m->rank + i])
			return false;
	return true;
}

static bool
give_mask(
    struct idiom_writer *w, const struct attention_sizes *h, const char *name)
{
	const struct tensor *t = caught_constant(w, name);
	const struct type *past = caught_type(w, "k_past");

	if (!mask_fits(h, caught_type(w, name)))
		return false;
	if (t && is_causal(h, t, past ? past->dim[2] : 0)) {
		write_int(w, "is_causal", 1);
		return true;
	}
	/* the operator makes zeros of rows that are wholly masked */
	w->loses_nan = w->loses_nan || !t || !rows_see(t);
	write_input(w, 3, caught(w, name));
	return true;
}

/* The masks of windows, and a bias, as one. */
static bool
give_windows(struct idiom_writer *w, const struct attention_sizes *h)
{
	const int64_t dim[4] = {h->b, h->h, h->s, h->t};
	value_id mask;

	if (h->rank != 4 || !write_windows(w, dim, &mask))
		return false;
	w->loses_nan = w->loses_nan
	    || !rows_see(w->made[mask - w->graph->nvalues].constant);
	write_input(w, 3, mask);
	return true;
}

/* What a Where hides may be hidden for good where it is minus infinity, or where
 * each row is known to have more to see. */
static bool
take_mask(struct idiom_writer *w, const struct attention_sizes *h)
{
	const struct tensor *seen = caught_constant(w, "seen");
	double x;

	if (caught(w, "mask") != VALUE_NONE)
		return give_mask(w, h, "mask");
	if (caught(w, "windowed") != VALUE_NONE)
		return give_windows(w, h);
	if (caught(w, "unseen") != VALUE_NONE) {
		w->no_operator = true;
		return mask_fits(h, caught_type(w, "unseen"))
		    && caught_constant(w, "hidden") != NULL;
	}
	if (caught(w, "seen") == VALUE_NONE)
		return true;
	if (!caught_constant(w, "hidden")
	    || caught_constant(w, "hidden")->count != 1)
		return false;
	x = tensor_real(caught_constant(w, "hidden"), 0);
	if (!is_hiding(tensor_held(caught_constant(w, "hidden")), x))
		return false;
	w->no_operator = !isinf(x) && !(seen && rows_see(seen));
	return give_mask(w, h, "seen");
}

/* ---- all of it ---- */

static bool
softmax_is_last(const struct idiom_writer *w, uint32_t rank)
{
	const struct node *n = caught_node(w, "softmax");
	const int64_t axis = attr_int_or(n, "axis", n->opset < 13 ? 1 : -1);

	return axis == -1 || axis == (int64_t)rank - 1;
}

static void
give_operands(struct idiom_writer *w, const struct attention_sizes *h)
{
	write_input(w, 0, w->x);
	write_input(w, 1, caught(w, "k"));
	write_input(w, 2, caught(w, "v"));
	if (caught(w, "k_joined") != VALUE_NONE) {
		write_input(w, 4, caught(w, "k_past"));
		write_input(w, 5, caught(w, "v_past"));
		w->noutputs = 3;
		w->output[1] = caught(w, "k_joined");
		w->output[2] = caught(w, "v_joined");
	}
	if (h->whole || h->rank == 3) {
		write_int(w, "q_num_heads", h->h);
		write_int(w, "kv_num_heads", h->h);
	}
}

bool
write_heads(struct idiom_writer *w)
{
	struct attention_sizes h;

	if (!read_heads(&h, w) || !softmax_is_last(w, h.rank)
	    || !keys_turn(&h, w)
	    || !(h.whole ? whole_fits(&h, w) : parts_fit(&h, w)))
		return false;
	if (caught(w, "guarded") != VALUE_NONE)
		w->loses_nan = true;
	give_operands(w, &h);
	return take_scale(w) && take_mask(w, &h);
}

/* ---- rotary embedding ---- */

/* Start of a Slice of the last dimension by single steps; -1: it is none. */
static int64_t
slice_start(const struct idiom_writer *w, const struct node *n, uint32_t rank)
{
	int64_t part[4] = {0, 0, -1, 1}; /* starts, ends, axes, steps */
	static const char *const name[] = {"starts", "ends", "axes"};

	for (uint32_t i = 0; i < 4; i++) {
		const struct value *v =
		    i + 1 < n->ninputs ? node_in(w->graph, n, i + 1) : NULL;
		uint32_t count = 0;
		const int64_t *list = n->opset < 10 && i < 3
		    ? attr_ints(n, name[i], &count)
		    : NULL;

		if (list && count == 1)
			part[i] = *list;
		else if (v && v->constant && v->constant->count == 1)
			part[i] = tensor_int(v->constant, 0);
		else if (v || list || (i == 2 && rank != 1))
			return -1;
	}
	if ((part[2] != -1 && part[2] != (int64_t)rank - 1) || part[3] != 1)
		return -1;
	return part[0];
}

/* Are `low` and `high` x's halves? */
static bool
are_halves(const struct idiom_writer *w, const struct type *x)
{
	const struct node *low = caught_node(w, "low");
	const struct node *high = caught_node(w, "high");
	const struct type *a = caught_type(w, "low"),
	                  *b = caught_type(w, "high");
	const int64_t half = x->dim[x->rank - 1] / 2;

	if (!low || !high || half * 2 != x->dim[x->rank - 1]
	    || a->rank != x->rank || b->rank != x->rank
	    || a->dim[x->rank - 1] != half || b->dim[x->rank - 1] != half)
		return false;
	if (low->op == OP_SPLIT)
		return low == high && low->noutputs == 2
		    && low->output[1] == caught(w, "high")
		    && (attr_int_or(low, "axis", 0) + x->rank) % x->rank
		    == x->rank - 1;
	return high->op == OP_SLICE && low->input[0] == high->input[0]
	    && slice_start(w, low, x->rank) == 0
	    && slice_start(w, high, x->rank) == half;
}

/* Where element (b, s, i) of a table lies that broadcasts to
 * [batch, heads, s, size]; false: it varies with heads, or does not fit. */
static bool
table_strides(
    const struct tensor *t, const struct type *x, int64_t size, size_t by[3])
{
	const int64_t want[4] = {x->dim[0], 1, x->dim[2], size};
	size_t stride = 1, at[4] = {0};

	if (t->rank > 4 || t->rank < 1 || t->dim[t->rank - 1] != size)
		return false;
	for (uint32_t i = t->rank; i-- > 0;) {
		const uint32_t d = 4 - t->rank + i;

		if (t->dim[i] != 1 && t->dim[i] != want[d])
			return false;
		at[d] = t->dim[i] == 1 ? 0 : stride;
		stride *= (size_t)t->dim[i];
	}
	by[0] = at[0];
	by[1] = at[2];
	by[2] = at[3];
	return true;
}

/* TUNING: a table is made as large as the operator wants it, up to this. */
#define TABLE_MAX (1u << 22)

/* The half table [batch, s, half] of a table of both halves, or of one; false
 * when the halves differ. */
static bool
make_table(struct idiom_writer *w, const char *name, const struct type *x,
    bool both, uint32_t slot)
{
	const struct tensor *t = caught_constant(w, name);
	const int64_t half = x->dim[3] / 2;
	const int64_t dim[3] = {x->dim[0], x->dim[2], half};
	const size_t n = (size_t)(dim[0] * dim[1] * dim[2]);
	size_t by[3], at = 0;
	float *out;

	if (!t || t->dtype != DT_FLOAT || t->dtype != x->dtype
	    || n > TABLE_MAX) {
		w->no_operator = true;
		return true;
	}
	if (!table_strides(t, x, both ? 2 * half : half, by))
		return false;
	out = arena_new(w->arena, float, n);
	for (int64_t b = 0; b < dim[0]; b++)
		for (int64_t s = 0; s < dim[1]; s++)
			for (int64_t i = 0; i < half; i++) {
				const size_t from = (size_t)b * by[0]
				    + (size_t)s * by[1] + (size_t)i * by[2];

				out[at++] = (float)tensor_real(t, from);
				if (both
				    && tensor_real(t, from)
				        != tensor_real(
				            t, from + (size_t)half * by[2]))
					return false;
			}
	write_input(w, slot,
	    write_constant(w,
	        tensor_view(DT_FLOAT, 3,
	            (const int64_t *)arena_copy(w->arena, dim, sizeof dim),
	            out)));
	return true;
}

bool
write_rotation(struct idiom_writer *w)
{
	const bool both = caught(w, "rotated") != VALUE_NONE;
	const struct node *joined = caught_node(w, both ? "rotated" : "halves");
	const struct type *x = &graph_value(w->graph, w->x)->type;
	const struct type *y = &graph_value(w->graph, w->output[0])->type;
	int64_t axis;

	if (!type_is_static(x) || x->rank < 2 || !dims_are(y, x->rank, x->dim))
		return false;
	axis = attr_int_or(joined, "axis", 0);
	if ((axis != -1 && axis != (int64_t)x->rank - 1) || !are_halves(w, x))
		return false;
	write_input(w, 0, w->x);
	w->no_operator = x->rank != 4;
	return w->no_operator
	    || (make_table(w, "cos", x, both, 1)
	        && make_table(w, "sin", x, both, 2));
}
