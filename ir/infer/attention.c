/* Attention. With four dimensions q is [batch, heads, sequence, size]; with
 * three [batch, sequence, heads * size], and attributes give the heads. */
#include "ir/infer/rules.h"

#include <inttypes.h>

struct attention_shape {
	int64_t batch, q_heads, kv_heads;
	int64_t q_sequence, kv_sequence;
	int64_t qk_size, v_size;
	bool flat; /* three dimensions */
};

static bool
exact_part(
    struct site *s, const char *what, int64_t dim, int64_t heads, int64_t *out)
{
	struct num n;

	if (heads < 1)
		return fault(s, "%s %" PRId64, what, heads);
	if (dim >= 0 && dim % heads != 0)
		return fault(s,
		    "size %" PRId64 " does not divide into %s %" PRId64, dim,
		    what, heads);
	num_div_floor(&s->pass->symbols, num_dim(dim), num_int(heads), &n);
	*out = num_as_dim(n);
	return true;
}

static bool
read_flat(struct site *s, struct attention_shape *h)
{
	const struct type *q = in_type(s, 0), *k = in_type(s, 1);
	const struct type *v = in_type(s, 2);

	h->flat = true;
	h->q_heads = attr_int_or(s->n, "q_num_heads", 0);
	h->kv_heads = attr_int_or(s->n, "kv_num_heads", 0);
	h->q_sequence = q->dim[1];
	h->kv_sequence = k->dim[1];
	return exact_part(s, "q_num_heads", q->dim[2], h->q_heads, &h->qk_size)
	    && exact_part(
	        s, "kv_num_heads", v->dim[2], h->kv_heads, &h->v_size);
}

static bool
read_heads(struct site *s, struct attention_shape *h)
{
	const struct type *q = in_type(s, 0), *k = in_type(s, 1);
	const struct type *v = in_type(s, 2);

	if (q->rank != 3 && q->rank != 4)
		return fault(
		    s, "q has rank %" PRIu32 ", 3 or 4 is needed", q->rank);
	if (!need_rank(s, 1, q->rank, "k") || !need_rank(s, 2, q->rank, "v")
	    || !dim_meet(s, "batches", q->dim[0], k->dim[0], &h->batch)
	    || !dim_meet(s, "batches", h->batch, v->dim[0], &h->batch))
		return false;
	if (q->rank == 3)
		return read_flat(s, h);
	h->q_heads = q->dim[1];
	h->q_sequence = q->dim[2];
	h->v_size = v->dim[3];
	return dim_meet(
	           s, "heads of k and v", k->dim[1], v->dim[1], &h->kv_heads)
	    && dim_meet(s, "sequences of k and v", k->dim[2], v->dim[2],
	        &h->kv_sequence)
	    && dim_meet(
	        s, "sizes of q and k", q->dim[3], k->dim[3], &h->qk_size);
}

static bool
put_y(struct site *s, const struct attention_shape *h)
{
	int64_t *dim = dims_new(s, h->flat ? 3 : 4);
	struct num hidden;

	dim[0] = h->batch;
	if (!h->flat) {
		dim[1] = h->q_heads;
		dim[2] = h->q_sequence;
		dim[3] = h->v_size;
	} else {
		dim[1] = h->q_sequence;
		if (!site_mul(
		        s, num_dim(h->q_heads), num_dim(h->v_size), &hidden))
			return false;
		dim[2] = num_as_dim(hidden);
	}
	out_tensor(s, 0, in_dtype(s, 0), h->flat ? 3 : 4, dim);
	return true;
}

/* Present key and value: past and new, [batch, heads, past + new, size]. */
static bool
put_present(struct site *s, const struct attention_shape *h, uint32_t out,
    int64_t *sequence)
{
	uint32_t past = out + 3;
	int64_t *dim = dims_new(s, 4);
	struct num total = num_dim(h->kv_sequence);

	if (!need_rank(s, past, 4, "past"))
		return false;
	if (in_type(s, past)
	    && !site_add(s, total,
	        in_ranked(s, past) ? num_dim(in_type(s, past)->dim[2])
	                           : NUM_UNKNOWN,
	        &total))
		return false;
	*sequence = num_as_dim(total);
	dim[0] = h->batch;
	dim[1] = h->kv_heads;
	dim[2] = *sequence;
	dim[3] = out == 1 ? h->qk_size : h->v_size;
	out_tensor(s, out, in_dtype(s, out), 4, dim);
	return true;
}

bool
rule_attention(struct site *s)
{
	struct attention_shape h = {0};
	int64_t total, *scores = dims_new(s, 4);

	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0) || !in_ranked(s, 1) || !in_ranked(s, 2))
		return true;
	if (!read_heads(s, &h))
		return false;
	if (h.q_heads >= 0 && h.kv_heads > 0 && h.q_heads % h.kv_heads != 0)
		return fault(s,
		    "%" PRId64 " heads of q share %" PRId64 " of k and v",
		    h.q_heads, h.kv_heads);
	if (!put_y(s, &h) || !put_present(s, &h, 2, &total)
	    || !put_present(s, &h, 1, &total))
		return false;
	scores[0] = h.batch;
	scores[1] = h.q_heads;
	scores[2] = h.q_sequence;
	scores[3] = total;
	out_tensor(s, 3, in_dtype(s, 0), 4, scores);
	return true;
}

bool
rule_rotaryembedding(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t heads = attr_int_or(s->n, "num_heads", 0), size;

	out_type(s, 0, x);
	if (!in_ranked(s, 0))
		return true;
	if (x->rank != 3 && x->rank != 4)
		return fault(
		    s, "input has rank %" PRIu32 ", 3 or 4 is needed", x->rank);
	if (x->rank == 3)
		return exact_part(s, "num_heads", x->dim[2], heads, &size);
	return true;
}

/* q, k, v [batch, sequence, heads * size], past state [batch, heads, key
 * size, value size]. */
bool
rule_linearattention(struct site *s)
{
	const struct type *q = in_type(s, 0), *k = in_type(s, 1);
	const struct type *v = in_type(s, 2);
	int64_t q_heads = attr_int_or(s->n, "q_num_heads", 0);
	int64_t kv_heads = attr_int_or(s->n, "kv_num_heads", 0);
	int64_t *y = dims_new(s, 3), *state = dims_new(s, 4);
	struct num hidden;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0) || !in_ranked(s, 1) || !in_ranked(s, 2))
		return true;
	if (!need_rank(s, 0, 3, "query") || !need_rank(s, 1, 3, "key")
	    || !need_rank(s, 2, 3, "value")
	    || !exact_part(s, "kv_num_heads", k->dim[2], kv_heads, &state[2])
	    || !exact_part(s, "kv_num_heads", v->dim[2], kv_heads, &state[3])
	    || !site_mul(s, num_dim(state[3]), num_int(q_heads), &hidden))
		return false;
	y[0] = state[0] = q->dim[0];
	y[1] = q->dim[1];
	y[2] = num_as_dim(hidden);
	state[1] = kv_heads;
	out_tensor(s, 0, q->dtype, 3, y);
	out_tensor(s, 1, in_type(s, 3) ? in_dtype(s, 3) : q->dtype, 4, state);
	return true;
}

/* swish(a) * b; with one input its halves. */
bool
rule_swiglu(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct type t = {.kind = TYPE_TENSOR};
	int64_t *dim;

	if (in_type(s, 1)) {
		if (in_ranked(s, 0) && in_ranked(s, 1)
		    && !type_broadcast(s, x, in_type(s, 1), &t))
			return false;
		out_type(s, 0, x);
		return true;
	}
	out_unranked(s, 0, in_dtype(s, 0));
	if (!need_min_rank(s, 0, 1, "input") || !in_ranked(s, 0))
		return s->err->kind == ERR_NONE;
	dim = dims_copy(s, x->dim, x->rank);
	if (!exact_part(s, "halves", dim[x->rank - 1], 2, &dim[x->rank - 1]))
		return false;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}
