#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "targets/mrvl/low.h"

/* SOURCE: ConvertLayout of TVM 0.15 (transform_layout.h and the operators'
 * FInferCorrectLayout), with the conversions that mrvl.py installs.
 *
 * Every value has a layout it had and one it has now; either may be unknown.
 * An operator is asked twice: which layouts it wants of its inputs as things
 * were, and as they are; transforms bridge what differs. One that cannot say
 * gets its inputs back as they were. */

struct lay {
	bool known;
	char s[LAYOUT_MAX]; /* axes, first to last; "": of a scalar */
};

struct place {
	low_id id; /* the value now */
	struct lay was, is;
};

struct converter_state {
	struct lowered *low;
	const char *goal; /* "NHWC" */
	struct place *place; /* [ops before]: of output 0 or a field */
	struct map transforms; /* {id, from, to} -> id */
	struct arena *scratch;
};

#define INPUTS_MAX 256 /* TUNING: a concat of more is left as it was */

/* What an operator wants, and gives. */
struct wish {
	struct lay in[INPUTS_MAX], out;
};

/* ---- layouts ---- */

static struct lay
lay(const char *s)
{
	struct lay l = {.known = true};

	snprintf(l.s, sizeof l.s, "%s", s);
	return l;
}

static int
index_of(const struct lay *l, char axis)
{
	const char *at = strchr(l->s, axis);

	return at ? (int)(at - l->s) : -1;
}

/* Dimensions that had `was` and have `is` now. */
static struct dims
moved(const struct dims *d, const struct lay *was, const struct lay *is)
{
	struct dims out = *d;

	if (!was->known || !is->known || strlen(was->s) != d->rank
	    || strlen(is->s) != d->rank)
		return *d;
	for (uint32_t i = 0; i < d->rank; i++) {
		int from = index_of(was, is->s[i]);

		if (from >= 0)
			out.dim[i] = d->dim[from];
	}
	return out;
}

/* ---- transforms ---- */

struct transform_key {
	low_id id;
	char from[LAYOUT_MAX], to[LAYOUT_MAX];
};

static low_id
layout_op(struct converter_state *c, low_id x, const struct lay *from,
    const struct lay *to)
{
	struct low op = *low_get(c->low, x);

	op.kind = LOW_LAYOUT;
	op.name = "layout_transform";
	op.node = NODE_NONE;
	op.dims = moved(&op.dims, from, to);
	memcpy(op.layout, from->s, LAYOUT_MAX);
	memcpy(op.to, to->s, LAYOUT_MAX);
	op.konst = NULL;
	op.nmore = 0;
	op.nin = 1;
	op.in = &x;
	return low_add(c->low, &op);
}

/* Put the axes that only `to` has in front, of size 1. */
static low_id
expand_op(
    struct converter_state *c, low_id x, struct lay *from, const struct lay *to)
{
	struct low op = *low_get(c->low, x);
	char wide[LAYOUT_MAX] = "";
	size_t n = 0, extra;

	for (const char *p = to->s; *p; p++)
		if (index_of(from, *p) < 0)
			wide[n++] = *p;
	extra = n;
	strcpy(wide + n, from->s);
	op.kind = LOW_EXPAND;
	op.name = "expand_dims";
	op.node = NODE_NONE;
	op.konst = NULL;
	memmove(op.dims.dim + extra, op.dims.dim,
	    op.dims.rank * sizeof op.dims.dim[0]);
	for (size_t i = 0; i < extra; i++)
		op.dims.dim[i] = 1;
	op.dims.rank += (uint32_t)extra;
	op.nin = 1;
	op.in = &x;
	*from = lay(wide);
	return low_add(c->low, &op);
}

static low_id
transform(struct converter_state *c, low_id x, struct lay from, struct lay to)
{
	struct transform_key *key;
	uint32_t have;
	low_id out = x;

	if (!from.known || !to.known || strcmp(from.s, to.s) == 0
	    || low_get(c->low, x)->dims.rank == 0
	    || strlen(from.s) != low_get(c->low, x)->dims.rank)
		return x;
	key = arena_new(c->scratch, struct transform_key, 1);
	key->id = x;
	memcpy(key->from, from.s, strlen(from.s));
	memcpy(key->to, to.s, strlen(to.s));
	have = map_find(&c->transforms, key, sizeof *key);
	if (have != MAP_NONE)
		return have;
	if (strlen(from.s) < strlen(to.s))
		out = expand_op(c, out, &from, &to);
	if (strcmp(from.s, to.s) != 0)
		out = layout_op(c, out, &from, &to);
	map_add(&c->transforms, key, sizeof *key, out);
	return out;
}

static low_id
as_it_was(struct converter_state *c, const struct place *p)
{
	return transform(c, p->id, p->is, p->was);
}

/* ---- what operators want ---- */

/* The first layout that is known. */
static bool
first_known(const struct lay *in, uint32_t n, struct lay *out)
{
	for (uint32_t i = 0; i < n; i++)
		if (in[i].known) {
			*out = in[i];
			return true;
		}
	return false;
}

static bool
want_same(const struct low *op, const struct lay *in, struct wish *w)
{
	if (!first_known(in, op->nin, &w->out))
		return false;
	for (uint32_t i = 0; i < op->nin; i++)
		w->in[i] = w->out;
	return true;
}

static struct lay
tail_of(const struct lay *l, uint32_t rank)
{
	size_t n = strlen(l->s);

	return rank <= n ? lay(l->s + n - rank) : (struct lay){0};
}

static bool
want_broadcast(const struct lowered *l, const struct low *op,
    const struct lay *in, struct wish *w)
{
	int known, large;
	uint32_t rank[2];

	for (int i = 0; i < 2; i++) {
		rank[i] = low_get(l, op->in[i])->dims.rank;
		w->in[i] = in[i];
	}
	if (!in[0].known && !in[1].known)
		return false;
	if (!in[0].known || !in[1].known) {
		known = in[0].known ? 0 : 1;
		if (rank[known] < rank[1 - known])
			return false;
		w->in[1 - known] = tail_of(&in[known], rank[1 - known]);
		w->out = in[known];
		return w->in[1 - known].known;
	}
	if (in[0].s[0] == '\0' || in[1].s[0] == '\0') {
		w->out = in[in[0].s[0] == '\0'];
		return true;
	}
	large = strlen(in[0].s) >= strlen(in[1].s) ? 0 : 1;
	w->out = w->in[1 - large] = in[large];
	return true;
}

static bool
want_batch_norm(struct low *op, const struct lay *was, const struct lay *in,
    struct wish *w, bool second)
{
	if (!in[0].known)
		return false;
	if (second)
		op->axis = (uint32_t)index_of(&in[0], was[0].s[op->axis]);
	w->in[0] = w->out = in[0];
	for (int i = 1; i < 5; i++)
		w->in[i] = lay("C");
	return true;
}

static bool
want_pad(struct low *op, const struct lay *was, const struct lay *in,
    struct wish *w, bool second)
{
	struct low old = *op;

	if (!in[0].known)
		return false;
	for (uint32_t i = 0; second && in[0].s[i]; i++) {
		int from = index_of(&was[0], in[0].s[i]);

		if (from < 0)
			return false;
		op->before[i] = old.before[from];
		op->after[i] = old.after[from];
	}
	w->in[0] = w->out = in[0];
	w->in[1] = lay("");
	return true;
}

static bool
want_concat(struct low *op, const struct lay *was, const struct lay *in,
    struct wish *w, bool second)
{
	struct lay old;

	if (!want_same(op, in, w))
		return false;
	if (second && first_known(was, op->nin, &old)
	    && op->axis < strlen(old.s)) {
		int axis = index_of(&w->out, old.s[op->axis]);

		if (axis >= 0)
			op->axis = (uint32_t)axis;
	}
	return true;
}

/* Squeezing and reducing: axes named by the old layout go (or shrink). */
static bool
want_fewer_axes(struct low *op, const struct lay *was, const struct lay *in,
    struct wish *w, bool second)
{
	bool gone[DIMS_MAX] = {false};
	char out[LAYOUT_MAX] = "";
	size_t n = 0;

	if (!in[0].known || !was[0].known)
		return false;
	for (uint32_t i = 0; in[0].s[i]; i++) {
		int from = index_of(&was[0], in[0].s[i]);

		gone[i] = from >= 0 && op->reduced[from];
		if (!gone[i] || (op->kind == LOW_REDUCE && op->keepdims))
			out[n++] = in[0].s[i];
	}
	if (second)
		memcpy(op->reduced, gone, sizeof gone);
	w->in[0] = in[0];
	w->out = lay(out);
	return true;
}

static bool
want_transpose(struct low *op, const struct lay *was, const struct lay *in,
    struct wish *w, bool second)
{
	char out[LAYOUT_MAX] = "";
	uint32_t perm[DIMS_MAX];
	size_t rank = strlen(in[0].s);

	if (!in[0].known || !was[0].known || rank != op->dims.rank)
		return false;
	for (uint32_t i = 0; i < rank; i++) {
		int at = second ? index_of(&in[0], was[0].s[op->perm[i]])
		                : (int)op->perm[i];

		if (at < 0)
			return false;
		perm[i] = (uint32_t)at;
		out[i] = in[0].s[at];
	}
	memcpy(op->perm, perm, rank * sizeof *perm);
	w->in[0] = in[0];
	w->out = lay(out);
	return true;
}

/* mrvl.py: convolutions and max pools of up to 8 images, average pools of one.
 * There is no entry for global max pools. */
static bool
is_converted(const struct low *op)
{
	int64_t n = op->dims.rank ? op->dims.dim[0] : 0;

	switch (op->kind) {
	case LOW_CONV:
	case LOW_MAXPOOL:
		return n >= 1 && n <= 8;
	case LOW_AVGPOOL:
	case LOW_GLOBALAVGPOOL:
		return n == 1;
	default:
		return false;
	}
}

/* Layouts wanted given `in`; `was` are those before. In the second round
 * (second) the operator's attributes are adapted. */
static bool
infer(const struct lowered *l, struct low *op, const struct lay *was,
    const struct lay *in, struct wish *w, bool second)
{
	switch (op->kind) {
	case LOW_CONV:
		w->in[0] = w->out = lay(op->layout);
		w->in[1] = lay(op->layout[1] == 'C' ? "OIHW" : "OHWI");
		return true;
	case LOW_MAXPOOL:
	case LOW_AVGPOOL:
	case LOW_GLOBALAVGPOOL:
	case LOW_GLOBALMAXPOOL:
		/* a converted one does not follow its input any more */
		if (second && in[0].known && !is_converted(op))
			memcpy(op->layout, in[0].s, LAYOUT_MAX);
		w->in[0] = w->out = lay(op->layout);
		return true;
	case LOW_ADD:
	case LOW_MULTIPLY:
	case LOW_BINARY:
		return want_broadcast(l, op, in, w);
	case LOW_RELU:
	case LOW_UNARY:
		return want_same(op, in, w);
	case LOW_BATCH_NORM:
		return want_batch_norm(op, was, in, w, second);
	case LOW_PAD:
		return want_pad(op, was, in, w, second);
	case LOW_CONCAT:
		return want_concat(op, was, in, w, second);
	case LOW_SQUEEZE:
	case LOW_REDUCE:
		return want_fewer_axes(op, was, in, w, second);
	case LOW_TRANSPOSE:
		return want_transpose(op, was, in, w, second);
	default:
		return false;
	}
}

/* ---- the pass ---- */

static low_id
fall_back(struct converter_state *c, low_id old, const struct low *op,
    const struct place *const *arg)
{
	low_id *in = arena_new(c->scratch, low_id, op->nin);

	for (uint32_t i = 0; i < op->nin; i++)
		in[i] = as_it_was(c, arg[i]);
	return low_with_inputs(c->low, old, in);
}

static bool
convert(struct converter_state *c, low_id old, const struct place *const *arg,
    struct place *out)
{
	struct low op = *low_get(c->low, old);
	struct lay *was = arena_new(c->scratch, struct lay, op.nin);
	struct lay *is = arena_new(c->scratch, struct lay, op.nin);
	struct wish *first = arena_new(c->scratch, struct wish, 1);
	struct wish *then = arena_new(c->scratch, struct wish, 1);
	low_id *in = arena_new(c->scratch, low_id, op.nin);

	for (uint32_t i = 0; i < op.nin; i++)
		was[i] = arg[i]->was;
	if (op.nin > INPUTS_MAX || !infer(c->low, &op, was, was, first, false))
		return false;
	for (uint32_t i = 0; i < op.nin; i++)
		is[i] = arg[i]->is.known ? arg[i]->is : first->in[i];
	if (is_converted(&op))
		memcpy(op.layout, c->goal, strlen(c->goal) + 1);
	struct low fixed = op;
	if (!infer(c->low, &fixed, first->in, is, then, true))
		return false;
	for (uint32_t i = 0; i < op.nin; i++)
		in[i] = transform(c, arg[i]->id, is[i], then->in[i]);
	fixed.dims = moved(&fixed.dims, &first->out, &then->out);
	fixed.in = in;
	op = *low_get(c->low, old);
	op.in = in;
	out->id = memcmp(&fixed, &op, sizeof op) == 0
	    ? low_with_inputs(c->low, old, in)
	    : low_add(c->low, &fixed);
	out->was = first->out;
	out->is = then->out;
	return true;
}

/* A field of an operator whose first output may have a layout. */
static void
convert_field(struct converter_state *c, low_id old, const struct place *whole,
    struct place *out)
{
	struct low op = *low_get(c->low, old);

	*out = (struct place){.id = LOW_NONE};
	if (op.axis == 0) {
		out->was = whole->was;
		out->is = whole->is;
		op.dims = moved(&op.dims, &out->was, &out->is);
	}
	op.in = &whole->id;
	out->id = low_add(c->low, &op);
}

static void
convert_op(struct converter_state *c, low_id old)
{
	const struct low *op = low_get(c->low, old);
	const struct place **arg =
	    arena_new(c->scratch, const struct place *, op->nin);
	struct place *out = &c->place[old];

	for (uint32_t i = 0; i < op->nin; i++)
		arg[i] = &c->place[op->in[i]];
	*out = (struct place){.id = old};
	if (op->nin == 0)
		return;
	if (op->kind == LOW_FIELD) {
		convert_field(c, old, arg[0], out);
		return;
	}
	if (!convert(c, old, arg, out)) {
		*out = (struct place){.id = LOW_NONE};
		op = low_get(c->low, old);
		out->id = fall_back(c, old, op, arg);
	}
}

void
low_convert_layout(struct lowered *l, const char *layout)
{
	struct arena scratch;
	struct converter_state c = {
	    .low = l, .goal = layout, .scratch = &scratch};
	const low_id *order;
	uint32_t n;

	arena_init(&scratch);
	map_init(&c.transforms, &scratch);
	order = low_order(l, &n, &scratch);
	c.place = arena_new(&scratch, struct place, l->n);
	for (uint32_t i = 0; i < n; i++)
		convert_op(&c, order[i]);
	for (uint32_t o = 0; o < l->noutputs; o++)
		l->output[o] = as_it_was(&c, &c.place[l->output[o]]);
	arena_release(&scratch);
}
