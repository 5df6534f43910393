/* Recurrent layers. x is [sequence, batch, input], w [directions, gates *
 * hidden, input], r [directions, gates * hidden, hidden]; with layout 1 the
 * batch comes first. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <string.h>

static bool
directions_of(struct site *s, int64_t *n)
{
	struct string_view v = attr_str_or(s->n, "direction", "forward");

	*n = 1;
	if (v.n == 13 && memcmp(v.s, "bidirectional", v.n) == 0)
		*n = 2;
	else if (!(v.n == 7
	             && (memcmp(v.s, "forward", v.n) == 0
	                 || memcmp(v.s, "reverse", v.n) == 0)))
		return fault(s, "direction '%.*s' is not known", (int)v.n, v.s);
	return true;
}

/* The hidden size: the attribute, or what r says; both must agree. */
static bool
hidden_of(struct site *s, int64_t gates, int64_t *out)
{
	const struct type *w = in_type(s, 1), *r = in_type(s, 2);
	const struct attr *a = node_attr(s->n, "hidden_size");
	struct num rows;

	*out = a && a->kind == ATTR_INT ? a->ints[0] : DIM_UNKNOWN;
	if (a && *out < 1)
		return fault(s, "hidden_size %" PRId64, *out);
	if (in_ranked(s, 2)
	    && !dim_meet(s, "hidden_size and r", *out, r->dim[2], out))
		return false;
	if (!site_mul(s, num_dim(*out), num_int(gates), &rows))
		return false;
	return !in_ranked(s, 1)
	    || dim_meet(s, "rows of w", w->dim[1], num_as_dim(rows), &rows.v);
}

static bool
check_inputs(struct site *s, int64_t directions)
{
	static const char *const name[] = {"x", "w", "r"};
	int64_t met;

	for (uint32_t i = 0; i < 3; i++) {
		if (!need_rank(s, i, 3, name[i]))
			return false;
		if (i > 0 && in_ranked(s, i)
		    && !dim_meet(s, "directions of weights",
		        in_type(s, i)->dim[0], directions, &met))
			return false;
	}
	return !in_ranked(s, 0) || !in_ranked(s, 1)
	    || dim_meet(s, "input size of x and w", in_type(s, 0)->dim[2],
	        in_type(s, 1)->dim[2], &met);
}

static void
put_outputs(struct site *s, int64_t directions, int64_t hidden)
{
	const struct type *x = in_type(s, 0);
	bool batch_first = attr_int_or(s->n, "layout", 0) != 0;
	bool known = in_ranked(s, 0);
	int64_t sequence = known ? x->dim[batch_first ? 1 : 0] : DIM_UNKNOWN;
	int64_t batch = known ? x->dim[batch_first ? 0 : 1] : DIM_UNKNOWN;
	int64_t *all = dims_new(s, 4), *last = dims_new(s, 3);

	all[0] = batch_first ? batch : sequence;
	all[1] = batch_first ? sequence : directions;
	all[2] = batch_first ? directions : batch;
	all[3] = hidden;
	last[0] = batch_first ? batch : directions;
	last[1] = batch_first ? directions : batch;
	last[2] = hidden;
	out_tensor(s, 0, in_dtype(s, 0), 4, all);
	out_tensor(s, 1, in_dtype(s, 0), 3, last);
	out_tensor(s, 2, in_dtype(s, 0), 3, last);
}

static bool
recurrent(struct site *s, int64_t gates)
{
	int64_t directions, hidden;

	if (!directions_of(s, &directions) || !check_inputs(s, directions)
	    || !hidden_of(s, gates, &hidden))
		return false;
	put_outputs(s, directions, hidden);
	return true;
}

bool
rule_rnn(struct site *s)
{
	return recurrent(s, 1);
}

bool
rule_gru(struct site *s)
{
	return recurrent(s, 3);
}

bool
rule_lstm(struct site *s)
{
	return recurrent(s, 4);
}

/* Weights lie the other way round: w [directions, input, 4 hidden], r
 * [directions, hidden, 4 hidden]. */
bool
rule_dynamicquantizelstm(struct site *s)
{
	const struct type *r = in_type(s, 2);
	int64_t directions;

	if (!directions_of(s, &directions) || !need_rank(s, 0, 3, "x")
	    || !need_rank(s, 1, 3, "w") || !need_rank(s, 2, 3, "r"))
		return false;
	put_outputs(s, directions, in_ranked(s, 2) ? r->dim[1] : DIM_UNKNOWN);
	return true;
}
