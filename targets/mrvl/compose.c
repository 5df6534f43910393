#include "targets/mrvl/compose.h"

#include <string.h>

/* SOURCE: mrvl.py of apache/tvm legacy-v0.19.post (patterns and predicates),
 * dataflow_matcher.cc of TVM (how groups are formed): candidates for a root are
 * tried from the outputs up; a group is dropped when one of its inner operators
 * is used outside or taken; nothing smaller is tried for the same root, and one
 * that its predicate refuses keeps its operators from this row's others. */

struct composer {
	const struct lowered *low;
	struct composites *out;
	struct arena *arena;
	struct err *err;
	uint32_t *users; /* [ops] uses by reachable operators and outputs */
	struct bitset grouped; /* in this row, accepted or not */
};

/* ---- predicates ---- */

static const struct low *
op_at(const struct composer *m, low_id id)
{
	return low_get(m->low, id);
}

static bool
batch_within(const struct dims *d, int64_t most)
{
	return d->rank > 0 && d->dim[0] >= 1 && d->dim[0] <= most;
}

static bool
is_image(const struct low *x, int64_t most)
{
	return x->dims.rank == 4 && x->dtype == DT_FLOAT
	    && batch_within(&x->dims, most);
}

static bool
is_nhwc(const struct low *op)
{
	return strcmp(op->layout, "NHWC") == 0;
}

static bool
conv_taken(const struct lowered *l, const struct low *conv)
{
	const struct low *x = low_get(l, conv->in[0]);
	const struct low *w = low_get(l, conv->in[1]);
	int64_t in, out;

	if (!is_nhwc(conv) || !is_image(x, 8) || w->dims.rank != 4
	    || w->dtype != DT_FLOAT)
		return false;
	in = x->dims.dim[3];
	out = w->dims.dim[0];
	return conv->groups == 1 || (in == conv->groups && out == in);
}

static bool
dense_taken(const struct lowered *l, const struct low *dense)
{
	const struct low *w = low_get(l, dense->in[1]);

	return low_get(l, dense->in[0])->dtype == DT_FLOAT && w->dims.rank == 2
	    && w->dtype == DT_FLOAT;
}

static bool
pool_taken(const struct lowered *l, const struct low *pool)
{
	const struct low *x = low_get(l, pool->in[0]);

	switch (pool->kind) {
	case LOW_MAXPOOL:
		return is_nhwc(pool) && is_image(x, 8);
	case LOW_GLOBALMAXPOOL:
		return is_nhwc(pool) && is_image(x, INT64_MAX);
	default:
		return is_nhwc(pool) && is_image(x, 1);
	}
}

/* args[1] is not looked at; a raw convolution or dense as args[0] is not
 * wanted. */
static bool
sum_taken(
    const struct lowered *l, const struct composites *c, const struct low *add)
{
	const struct low *x = low_get(l, add->in[0]);

	if ((x->kind == LOW_CONV || x->kind == LOW_DENSE)
	    && c->of[add->in[0]] == COMPOSITE_NONE)
		return false;
	return (x->dims.rank == 4 || x->dims.rank == 3)
	    && batch_within(&x->dims, 8) && x->dtype == DT_FLOAT;
}

static bool
concat_taken(const struct lowered *l, const struct low *concat)
{
	if (concat->axis != 3)
		return false;
	for (uint32_t i = 0; i < concat->nin; i++)
		if (!is_image(low_get(l, concat->in[i]), 1))
			return false;
	return true;
}

static bool
shape_taken(const struct lowered *l, const struct low *op)
{
	uint32_t in = low_get(l, op->in[0])->dims.rank, out = op->dims.rank;

	switch (op->kind) {
	case LOW_RESHAPE:
		return out == 2 || out == 4;
	case LOW_BATCH_FLATTEN:
		return out == 2 && (in == 2 || in == 4);
	default:
		return true;
	}
}

bool
low_op_is_taken(const struct lowered *l, const struct composites *c, low_id id)
{
	const struct low *op = low_get(l, id);

	switch (op->kind) {
	case LOW_CONV:
		return conv_taken(l, op);
	case LOW_DENSE:
		return dense_taken(l, op);
	case LOW_MAXPOOL:
	case LOW_AVGPOOL:
	case LOW_GLOBALAVGPOOL:
	case LOW_GLOBALMAXPOOL:
		return pool_taken(l, op);
	case LOW_ADD:
		return sum_taken(l, c, op);
	case LOW_CONCAT:
		return concat_taken(l, op);
	case LOW_RESHAPE:
	case LOW_BATCH_FLATTEN:
	case LOW_SQUEEZE:
		return shape_taken(l, op);
	case LOW_LAYOUT:
		return strcmp(op->layout, "NCHW") == 0
		    && strcmp(op->to, "NHWC") == 0 && op->dtype == DT_FLOAT;
	default:
		return false;
	}
}

/* ---- matching one root ---- */

static bool
is_raw(const struct composer *m, low_id id, enum low_kind kind)
{
	return op_at(m, id)->kind == kind && m->out->of[id] == COMPOSITE_NONE;
}

static void
push(struct composite *c, low_id id)
{
	c->op[c->nops++] = id;
}

static low_id
take_relu(struct composer *m, struct composite *c, low_id at)
{
	if (!is_raw(m, at, LOW_RELU))
		return at;
	push(c, at);
	return op_at(m, at)->in[0];
}

/* An add of a constant over what `kind` is; either order. */
static low_id
take_bias(
    struct composer *m, struct composite *c, low_id at, enum low_kind kind)
{
	if (!is_raw(m, at, LOW_ADD) && !is_raw(m, at, LOW_BIAS_ADD))
		return at;
	for (int i = 0; i < 2; i++) {
		const struct low *add = op_at(m, at);

		if (!low_is_const(m->low, add->in[1 - i])
		    || !is_raw(m, add->in[i], kind))
			continue;
		push(c, at);
		c->bias = at;
		return add->in[i];
	}
	return at;
}

static low_id
take_norm(struct composer *m, struct composite *c, low_id at)
{
	const struct low *field = op_at(m, at), *norm;

	if (field->kind != LOW_FIELD || field->axis != 0
	    || !is_raw(m, field->in[0], LOW_BATCH_NORM))
		return LOW_NONE;
	norm = op_at(m, field->in[0]);
	for (int i = 1; i < 5; i++)
		if (!low_is_const(m->low, norm->in[i]))
			return LOW_NONE;
	push(c, at);
	push(c, field->in[0]);
	c->norm = field->in[0];
	return norm->in[0];
}

static bool
match_conv(
    struct composer *m, low_id root, bool pad, bool norm, struct composite *c)
{
	low_id at = take_relu(m, c, root), x;

	if (norm)
		at = take_norm(m, c, at);
	if (at == LOW_NONE)
		return false;
	at = take_bias(m, c, at, LOW_CONV);
	if (!is_raw(m, at, LOW_CONV)
	    || !low_is_const(m->low, op_at(m, at)->in[1]))
		return false;
	push(c, at);
	c->anchor = at;
	x = op_at(m, at)->in[0];
	if (!pad)
		return true;
	if (!is_raw(m, x, LOW_PAD))
		return false;
	push(c, x);
	c->pad = x;
	return true;
}

static bool
match_any_conv(struct composer *m, low_id root, struct composite *c)
{
	struct composite blank = *c;

	for (int way = 0; way < 4; way++) {
		*c = blank;
		if (match_conv(m, root, way < 2, way & 1, c))
			return true;
	}
	return false;
}

static bool
match_fc(struct composer *m, low_id root, struct composite *c)
{
	low_id at = take_relu(m, c, root), flat, back;

	at = take_bias(m, c, at, LOW_DENSE);
	if (!is_raw(m, at, LOW_DENSE)
	    || !low_is_const(m->low, op_at(m, at)->in[1]))
		return false;
	push(c, at);
	c->anchor = at;
	flat = op_at(m, at)->in[0];
	if (!is_raw(m, flat, LOW_RESHAPE)
	    && !is_raw(m, flat, LOW_BATCH_FLATTEN))
		return true;
	back = op_at(m, flat)->in[0];
	if (!is_raw(m, back, LOW_LAYOUT)
	    || strcmp(op_at(m, back)->layout, "NHWC") != 0
	    || strcmp(op_at(m, back)->to, "NCHW") != 0)
		return true;
	push(c, flat);
	push(c, back);
	return true;
}

static bool
match_pool(
    struct composer *m, low_id root, enum low_kind kind, struct composite *c)
{
	low_id x;

	if (!is_raw(m, root, kind))
		return false;
	push(c, root);
	c->anchor = root;
	x = op_at(m, root)->in[0];
	if ((kind == LOW_MAXPOOL || kind == LOW_AVGPOOL)
	    && is_raw(m, x, LOW_PAD)) {
		push(c, x);
		c->pad = x;
	}
	return true;
}

static bool
match_sum(struct composer *m, low_id root, struct composite *c)
{
	low_id at = take_relu(m, c, root);

	if (!is_raw(m, at, LOW_ADD))
		return false;
	push(c, at);
	c->anchor = at;
	return true;
}

static bool
match_rule(struct composer *m, low_id root, struct composite *c)
{
	static const enum low_kind anchor[NRULES] = {
	    [RULE_MAXPOOL] = LOW_MAXPOOL,
	    [RULE_AVGPOOL] = LOW_AVGPOOL,
	    [RULE_GLOBALAVGPOOL] = LOW_GLOBALAVGPOOL,
	    [RULE_GLOBALMAXPOOL] = LOW_GLOBALMAXPOOL,
	    [RULE_CONCAT] = LOW_CONCAT,
	    [RULE_RESHAPE] = LOW_RESHAPE,
	    [RULE_FLATTEN] = LOW_BATCH_FLATTEN,
	    [RULE_SQUEEZE] = LOW_SQUEEZE,
	};

	c->root = root;
	switch (c->rule) {
	case RULE_CONV:
		return match_any_conv(m, root, c);
	case RULE_FC:
		return match_fc(m, root, c);
	case RULE_SUM:
		return match_sum(m, root, c);
	case RULE_LAYOUT: /* asks for three arguments: never matches */
	case RULE_QCONV: /* of quantised models: matched in the graph */
	case RULE_QUANTIZE:
	case RULE_DEQUANTIZE:
		return false;
	default:
		return match_pool(m, root, anchor[c->rule], c);
	}
}

/* ---- groups ---- */

static bool
in_group(const struct composite *c, low_id id)
{
	for (uint32_t i = 0; i < c->nops; i++)
		if (c->op[i] == id)
			return true;
	return false;
}

/* Uses of an operator by the group itself. */
static uint32_t
uses_inside(const struct composer *m, const struct composite *c, low_id id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nops; i++) {
		const struct low *op = op_at(m, c->op[i]);

		for (uint32_t k = 0; k < op->nin; k++)
			n += op->in[k] == id;
	}
	return n;
}

static bool
group_is_valid(const struct composer *m, const struct composite *c)
{
	for (uint32_t i = 0; i < c->nops; i++) {
		low_id id = c->op[i];

		if (bitset_has(m->grouped, id))
			return false;
		if (id != c->root && m->users[id] != uses_inside(m, c, id))
			return false;
	}
	return true;
}

/* A value is an argument once. */
static bool
has_arg(const struct composite *c, const low_id *arg, low_id x)
{
	for (uint32_t i = 0; i < c->nargs; i++)
		if (arg[i] == x)
			return true;
	return false;
}

static void
set_args(struct composer *m, struct composite *c)
{
	low_id *arg;
	uint32_t most = 0;

	for (uint32_t i = 0; i < c->nops; i++)
		most += op_at(m, c->op[i])->nin;
	arg = arena_new(m->arena, low_id, most);
	for (uint32_t i = c->nops; i-- > 0;) {
		const struct low *op = op_at(m, c->op[i]);
		/* constants that the pattern asks for are embedded */
		uint32_t n = op->kind == LOW_CONV || op->kind == LOW_DENSE
		        || op->kind == LOW_BATCH_NORM || c->op[i] == c->bias
		    ? 1
		    : op->nin;

		for (uint32_t k = 0; k < n; k++) {
			low_id x = op->in[k];

			if (c->op[i] == c->bias && low_is_const(m->low, x))
				x = op->in[1];
			if (!in_group(c, x) && !has_arg(c, arg, x))
				arg[c->nargs++] = x;
		}
	}
	c->arg = arg;
}

/* From the data to the root. */
static void
reverse_ops(struct composite *c)
{
	for (uint32_t i = 0; i < c->nops / 2; i++) {
		low_id swap = c->op[i];

		c->op[i] = c->op[c->nops - 1 - i];
		c->op[c->nops - 1 - i] = swap;
	}
}

static bool
accept(struct composer *m, struct composite *c)
{
	for (uint32_t i = 0; i < c->nops; i++)
		bitset_add(m->grouped, c->op[i]);
	if (c->bias != LOW_NONE
	    && low_is_const(m->low, op_at(m, c->bias)->in[0]))
		return err_set(m->err, ERR_UNSUPPORTED,
		    "upstream's partitioner throws on a constant as the first "
		    "operand of an add behind a convolution");
	if (c->rule == RULE_CONCAT && op_at(m, c->anchor)->nin < 2)
		return err_set(m->err, ERR_UNSUPPORTED,
		    "upstream's partitioner throws on a concat of one tensor");
	if (!low_op_is_taken(m->low, m->out, c->anchor))
		return true;
	set_args(m, c);
	reverse_ops(c);
	for (uint32_t i = 0; i < c->nops; i++)
		m->out->of[c->op[i]] = m->out->n;
	m->out->composite = (struct composite *)arena_grow(m->arena,
	    m->out->composite, &m->out->cap, m->out->n + 1, sizeof *c);
	m->out->composite[m->out->n++] = *c;
	return true;
}

static void
count_users(struct composer *m, const low_id *order, uint32_t n)
{
	m->users = arena_new(m->arena, uint32_t, m->low->n);
	for (uint32_t i = 0; i < n; i++) {
		const struct low *op = op_at(m, order[i]);

		for (uint32_t k = 0; k < op->nin; k++)
			m->users[op->in[k]]++;
	}
	for (uint32_t o = 0; o < m->low->noutputs; o++)
		m->users[m->low->output[o]]++;
}

static bool
run_row(
    struct composer *m, enum mrvl_rule rule, const low_id *order, uint32_t n)
{
	bitset_clear(m->grouped);
	for (uint32_t i = n; i-- > 0;) {
		struct composite c = {.rule = rule,
		    .anchor = LOW_NONE,
		    .pad = LOW_NONE,
		    .bias = LOW_NONE,
		    .norm = LOW_NONE};

		if (bitset_has(m->grouped, order[i])
		    || !match_rule(m, order[i], &c) || !group_is_valid(m, &c))
			continue;
		if (!accept(m, &c))
			return false;
	}
	return true;
}

bool
low_compose(struct composites *out, const struct lowered *l, struct arena *a,
    struct err *err)
{
	struct composer m = {.low = l, .out = out, .arena = a, .err = err};
	const low_id *order;
	uint32_t n;

	*out = (struct composites){0};
	out->of = arena_new(a, uint32_t, l->n);
	for (uint32_t i = 0; i < l->n; i++)
		out->of[i] = COMPOSITE_NONE;
	m.grouped = bitset_new(a, l->n);
	order = low_order(l, &n, a);
	count_users(&m, order, n);
	for (uint32_t rule = 0; rule < NRULES; rule++)
		if (!run_row(&m, (enum mrvl_rule)rule, order, n))
			return false;
	return true;
}
