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

struct layout_place {
	low_id id; /* the value now */
	struct lay was, is;
};

struct converter_state {
	struct lowered *low;
	const char *goal; /* "NHWC" */
	struct layout_place *place; /* [ops before]: of output 0 or a field */
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
	op.packed = NULL;
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
	op.packed = NULL;
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
as_it_was(struct converter_state *c, const struct layout_place *p)
{
	return transform(c, p->id, p->is, p->was);
}

/* ---- what operators want ---- */

/* What an operator is asked with: layouts as they were and as they are, all
 * known, or those before only (`is` NULL), where some may be unknown. */
struct layout_question {
	const struct lowered *low;
	const struct lay *was, *is;
};

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
want_all(const struct low *op, const struct lay *one, struct wish *w)
{
	w->out = *one;
	for (uint32_t i = 0; i < op->nin; i++)
		w->in[i] = *one;
	return one->known;
}

static bool
want_same(const struct low *op, const struct layout_question *q, struct wish *w)
{
	struct lay one = {0};

	if (q->is)
		return want_all(op, &q->is[0], w);
	return first_known(q->was, op->nin, &one) && want_all(op, &one, w);
}

static struct lay
tail_of(const struct lay *l, uint32_t rank)
{
	size_t n = strlen(l->s);

	return rank <= n ? lay(l->s + n - rank) : (struct lay){0};
}

/* Layouts of a broadcast as things were. */
static bool
broadcast_was(const struct layout_question *q, const uint32_t rank[2],
    struct lay in[2], struct lay *out)
{
	int known = q->was[0].known ? 0 : 1, other = 1 - known;

	in[0] = q->was[0];
	in[1] = q->was[1];
	if (!in[known].known)
		return false;
	if (in[other].known) {
		*out = in[rank[0] >= rank[1] ? 0 : 1];
		return true;
	}
	if (rank[known] < rank[other])
		return false;
	in[other] = tail_of(&in[known], rank[other]);
	*out = in[known];
	return true;
}

/* The letter for an axis that only the larger tensor has. */
static char
unused_letter(const char *taken, char preference)
{
	if (!strchr(taken, preference))
		return preference;
	for (char c = 'A'; c <= 'Z'; c++)
		if (!strchr(taken, c))
			return c;
	return preference;
}

/* What `old` becomes when it is changed as `from` was to `to`: the axes of both
 * are matched from the last. */
static struct lay
changed_like(
    const struct lay *old, const struct lay *from, const struct lay *to)
{
	char mine[LAYOUT_MAX] = "", taken[2 * LAYOUT_MAX];
	size_t n = strlen(from->s), skip = n - strlen(old->s);
	struct lay out = {.known = true};

	if (old->s[0] == '\0')
		return *old;
	strcpy(taken, old->s);
	for (size_t i = n; i-- > 0;) {
		size_t end = strlen(taken);

		mine[i] = i >= skip ? old->s[i - skip]
		                    : unused_letter(taken, from->s[i]);
		if (i < skip) {
			taken[end] = mine[i];
			taken[end + 1] = '\0';
		}
	}
	for (size_t i = 0; to->s[i]; i++) {
		int at = index_of(from, to->s[i]);

		if (at < 0)
			return (struct lay){0};
		out.s[i] = mine[at];
	}
	return out;
}

static bool
want_broadcast(
    const struct low *op, const struct layout_question *q, struct wish *w)
{
	uint32_t rank[2] = {low_get(q->low, op->in[0])->dims.rank,
	    low_get(q->low, op->in[1])->dims.rank};
	struct lay old[2];
	int large, small;

	if (!broadcast_was(q, rank, old, &w->out))
		return false;
	memcpy(w->in, old, sizeof old);
	if (!q->is)
		return true;
	w->out = q->is[rank[0] >= rank[1] ? 0 : 1];
	large = strlen(q->is[0].s) >= strlen(q->is[1].s) ? 0 : 1;
	small = 1 - large;
	if (strlen(old[large].s) < strlen(old[small].s))
		return false;
	w->in[large] = q->is[large];
	w->in[small] = changed_like(&old[small], &old[large], &q->is[large]);
	return w->in[small].known;
}

/* Vectors along one axis beside the data. */
static bool
want_norm(struct low *op, const struct layout_question *q, struct wish *w)
{
	const struct lay *data = q->is ? &q->is[0] : &q->was[0];
	int axis = (int)op->axis;

	if (!data->known)
		return false;
	if (q->is)
		axis = index_of(data, q->was[0].s[op->axis]);
	if (axis < 0)
		return false;
	op->axis = (uint32_t)axis;
	w->in[0] = w->out = *data;
	for (uint32_t i = 1; i < op->nin; i++)
		w->in[i] = lay("C");
	return true;
}

static bool
want_pad(struct low *op, const struct layout_question *q, struct wish *w)
{
	const struct lay *data = q->is ? &q->is[0] : &q->was[0];
	struct low old = *op;

	if (!data->known)
		return false;
	for (uint32_t i = 0; q->is && data->s[i]; i++) {
		int from = index_of(&q->was[0], data->s[i]);

		if (from < 0)
			return false;
		op->before[i] = old.before[from];
		op->after[i] = old.after[from];
	}
	w->in[0] = w->out = *data;
	w->in[1] = lay("");
	return true;
}

static bool
all_equal(const struct lay *l, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(l[i].s, l[0].s) != 0)
			return false;
	return true;
}

/* Inputs that are laid out alike now are joined so, others as they were. */
static bool
want_concat(struct low *op, const struct layout_question *q, struct wish *w)
{
	struct lay one;
	int axis;

	if (q->is && all_equal(q->is, op->nin)) {
		if (op->axis >= strlen(q->was[0].s))
			return false;
		axis = index_of(&q->is[0], q->was[0].s[op->axis]);
		if (axis < 0)
			return false;
		op->axis = (uint32_t)axis;
		return want_all(op, &q->is[0], w);
	}
	return first_known(q->was, op->nin, &one) && op->axis < strlen(one.s)
	    && want_all(op, &one, w);
}

static bool
want_split(struct low *op, const struct layout_question *q, struct wish *w)
{
	const struct lay *data = q->is ? &q->is[0] : &q->was[0];
	int axis = (int)op->axis;

	if (data->known && q->is)
		axis = index_of(data, q->was[0].s[op->axis]);
	if (!data->known || axis < 0)
		return false;
	op->axis = (uint32_t)axis;
	return want_all(op, data, w);
}

static bool
want_slice(
    const struct low *op, const struct layout_question *q, struct wish *w)
{
	const struct lay *data = q->is ? &q->is[0] : &q->was[0];

	if (q->is && strlen(data->s) != strlen(q->was[0].s))
		return false;
	return want_all(op, data, w);
}

/* Image operators name the layout they work in; resizing follows its input,
 * upsampling only where height and width stay in place. */
static bool
want_image(struct low *op, const struct layout_question *q, struct wish *w)
{
	struct lay own = lay(op->layout);
	bool follows;

	if (q->is && op->kind == LOW_RESIZE)
		follows = strcmp(q->was[0].s, own.s) == 0
		    && strlen(q->is[0].s) == strlen(own.s);
	else
		follows = q->is
		    && index_of(&q->is[0], 'H') == index_of(&own, 'H')
		    && index_of(&q->is[0], 'W') == index_of(&own, 'W');
	if (follows)
		memcpy(op->layout, q->is[0].s, LAYOUT_MAX);
	own = lay(op->layout);
	return want_all(op, &own, w);
}

/* Squeezing and reducing: axes named by the old layout go (or shrink). */
static bool
want_fewer_axes(struct low *op, const struct layout_question *q, struct wish *w)
{
	const struct lay *data = q->is ? &q->is[0] : &q->was[0];
	bool gone[DIMS_MAX] = {false};
	char out[LAYOUT_MAX] = "";
	size_t n = 0;

	if (!data->known || !q->was[0].known)
		return false;
	for (uint32_t i = 0; data->s[i]; i++) {
		int from = index_of(&q->was[0], data->s[i]);

		gone[i] = from >= 0 && op->reduced[from];
		if (!gone[i] || (op->kind == LOW_REDUCE && op->keepdims))
			out[n++] = data->s[i];
	}
	if (q->is)
		memcpy(op->reduced, gone, sizeof gone);
	for (uint32_t i = 0; i < op->nin; i++)
		w->in[i] = *data;
	w->out = lay(out);
	return true;
}

static bool
want_transpose(struct low *op, const struct layout_question *q, struct wish *w)
{
	const struct lay *data = q->is ? &q->is[0] : &q->was[0];
	char out[LAYOUT_MAX] = "";
	uint32_t perm[DIMS_MAX];
	size_t rank = strlen(data->s);

	if (!data->known || !q->was[0].known || rank != op->dims.rank)
		return false;
	for (uint32_t i = 0; i < rank; i++) {
		int at = q->is ? index_of(data, q->was[0].s[op->perm[i]])
		               : (int)op->perm[i];

		if (at < 0)
			return false;
		perm[i] = (uint32_t)at;
		out[i] = data->s[at];
	}
	memcpy(op->perm, perm, rank * sizeof *perm);
	w->in[0] = *data;
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

/* A pool follows its input unless it has been converted. */
static bool
want_pool(struct low *op, const struct layout_question *q, struct wish *w)
{
	struct lay own;

	if (q->is && !is_converted(op))
		memcpy(op->layout, q->is[0].s, LAYOUT_MAX);
	own = lay(op->layout);
	return want_all(op, &own, w);
}

static bool
want_fixed(const struct low *op, struct wish *w)
{
	w->in[0] = w->out = lay(op->layout);
	for (uint32_t i = 1; i < op->nin; i++)
		w->in[i] = lay(op->to);
	return true;
}

static bool
want_conv(const struct low *op, struct wish *w)
{
	w->in[0] = w->out = lay(op->layout);
	w->in[1] = lay(op->layout[1] == 'C' ? "OIHW" : "OHWI");
	return true;
}

/* Layouts wanted; in the second round the operator's attributes are adapted. */
static bool
infer(struct low *op, const struct layout_question *q, struct wish *w)
{
	switch (op->kind) {
	case LOW_CONV:
		return want_conv(op, w);
	case LOW_DENSE:
	case LOW_FIXED:
		return want_fixed(op, w);
	case LOW_MAXPOOL:
	case LOW_AVGPOOL:
	case LOW_GLOBALAVGPOOL:
	case LOW_GLOBALMAXPOOL:
		return want_pool(op, q, w);
	case LOW_ADD:
	case LOW_MULTIPLY:
	case LOW_BINARY:
		return want_broadcast(op, q, w);
	case LOW_RELU:
	case LOW_UNARY:
	case LOW_CLIP:
	case LOW_CAST:
		return want_same(op, q, w);
	case LOW_BATCH_NORM:
	case LOW_NORM:
		return want_norm(op, q, w);
	case LOW_PAD:
		return want_pad(op, q, w);
	case LOW_CONCAT:
		return want_concat(op, q, w);
	case LOW_SPLIT:
		return want_split(op, q, w);
	case LOW_SLICE:
		return want_slice(op, q, w);
	case LOW_RESIZE:
	case LOW_UPSAMPLE:
		return want_image(op, q, w);
	case LOW_SQUEEZE:
	case LOW_REDUCE:
		return want_fewer_axes(op, q, w);
	case LOW_TRANSPOSE:
		return want_transpose(op, q, w);
	default:
		return false;
	}
}

/* ---- the pass ---- */

static low_id
fall_back(struct converter_state *c, low_id old, const struct low *op,
    const struct layout_place *const *arg)
{
	low_id *in = arena_new(c->scratch, low_id, op->nin);

	for (uint32_t i = 0; i < op->nin; i++)
		in[i] = as_it_was(c, arg[i]);
	return low_with_inputs(c->low, old, in);
}

/* The value of an argument in the layout wanted. An operator may see other axes
 * in a tensor than the one that made it: then what was made is put back first.
 */
static low_id
bridged(struct converter_state *c, const struct layout_place *p,
    const struct lay *wanted, const struct lay *now)
{
	low_id x = p->id;

	if (p->was.known && strcmp(p->was.s, wanted->s) == 0)
		return transform(c, x, p->is, *now);
	if (p->was.known)
		x = transform(c, x, p->is, p->was);
	return transform(c, x, *wanted, *now);
}

static void
convert_dims(struct low *op, const struct wish *first, const struct wish *then,
    struct arena *a)
{
	struct dims *more = arena_new(a, struct dims, op->nmore);

	op->dims = moved(&op->dims, &first->out, &then->out);
	if (op->kind != LOW_SPLIT)
		return;
	for (uint32_t i = 0; i < op->nmore; i++)
		more[i] = moved(&op->more[i], &first->out, &then->out);
	op->more = more;
}

/* Layouts before and now, where unknown those first wished for. */
static void
fill_layouts(const struct layout_place *const *arg, uint32_t n,
    const struct wish *first, struct lay *was, struct lay *is)
{
	for (uint32_t i = 0; i < n; i++) {
		was[i] = arg[i]->was.known ? arg[i]->was : first->in[i];
		is[i] = arg[i]->is.known ? arg[i]->is : first->in[i];
	}
}

static bool
convert(struct converter_state *c, low_id old,
    const struct layout_place *const *arg, struct layout_place *out)
{
	struct low op = *low_get(c->low, old), fixed;
	struct lay *was = arena_new(c->scratch, struct lay, op.nin);
	struct lay *is = arena_new(c->scratch, struct lay, op.nin);
	struct wish *first = arena_new(c->scratch, struct wish, 1);
	struct wish *then = arena_new(c->scratch, struct wish, 1);
	low_id *in = arena_new(c->scratch, low_id, op.nin);
	struct layout_question q = {.low = c->low, .was = was};

	for (uint32_t i = 0; i < op.nin; i++)
		was[i] = arg[i]->was;
	if (op.nin > INPUTS_MAX || !infer(&op, &q, first))
		return false;
	fill_layouts(arg, op.nin, first, was, is);
	if (is_converted(&op))
		memcpy(op.layout, c->goal, strlen(c->goal) + 1);
	fixed = op;
	q.is = is;
	if (!infer(&fixed, &q, then))
		return false;
	for (uint32_t i = 0; i < op.nin; i++)
		in[i] = bridged(c, arg[i], &first->in[i], &then->in[i]);
	convert_dims(&fixed, first, then, c->low->arena);
	fixed.in = in;
	out->id = low_add(c->low, &fixed);
	out->was = first->out;
	out->is = then->out;
	return true;
}

/* The layout of one output of an operator that has several. */
static void
convert_field(struct converter_state *c, low_id old,
    const struct layout_place *whole, struct layout_place *out)
{
	struct low op = *low_get(c->low, old);
	enum low_kind kind = low_get(c->low, whole->id)->kind;

	*out = (struct layout_place){.id = LOW_NONE};
	if (op.axis == 0 || kind == LOW_SPLIT) {
		out->was = whole->was;
		out->is = whole->is;
		op.dims = moved(&op.dims, &out->was, &out->is);
	} else if (kind == LOW_BATCH_NORM) {
		out->was = out->is = lay("C");
	}
	op.in = &whole->id;
	out->id = low_add(c->low, &op);
}

static void
convert_op(struct converter_state *c, low_id old)
{
	const struct low *op = low_get(c->low, old);
	const struct layout_place **arg =
	    arena_new(c->scratch, const struct layout_place *, op->nin);
	struct layout_place *out = &c->place[old];

	for (uint32_t i = 0; i < op->nin; i++)
		arg[i] = &c->place[op->in[i]];
	*out = (struct layout_place){.id = old};
	if (op->nin == 0)
		return;
	if (op->kind == LOW_FIELD) {
		convert_field(c, old, arg[0], out);
		return;
	}
	if (!convert(c, old, arg, out)) {
		*out = (struct layout_place){.id = LOW_NONE};
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
	c.place = arena_new(&scratch, struct layout_place, l->n);
	for (uint32_t i = 0; i < n; i++)
		convert_op(&c, order[i]);
	for (uint32_t o = 0; o < l->noutputs; o++)
		l->output[o] = as_it_was(&c, &c.place[l->output[o]]);
	arena_release(&scratch);
}
