#include "targets/pieces.h"

#include <assert.h>
#include <string.h>

struct piece {
	uint32_t in, out; /* inputs and outputs of the node */
	size_t at, bytes; /* where in the larger of the two */
};

struct pieces {
	uint32_t n;
	struct piece *piece; /* [n] */
	bool cuts; /* pieces of the input, not of the output */
};

static bool
is_reshaping(enum op op)
{
	return op == OP_RESHAPE || op == OP_FLATTEN || op == OP_SQUEEZE
	    || op == OP_UNSQUEEZE || op == OP_IDENTITY;
}

static bool
has_bytes(const struct value *v)
{
	return v != NULL && v->type.kind == TYPE_TENSOR
	    && type_is_static(&v->type) && dtype_bits(v->type.dtype) >= 8;
}

/* Is dimension `axis` the outermost one that is not 1, in memory? */
static bool
is_outermost(const struct type *t, int64_t axis, enum layout layout)
{
	axis += axis < 0 ? t->rank : 0;
	if (axis < 0 || axis >= t->rank
	    || (layout == LAYOUT_NHWC && t->rank == 4 && axis > 0))
		return false;
	for (int64_t i = 0; i < axis; i++)
		if (t->dim[i] != 1)
			return false;
	return true;
}

/* Blocks of channels must not be cut, nor filled up. */
static bool
fills_blocks(const struct type *t, enum layout layout)
{
	int64_t block = layout == LAYOUT_BLK16 ? 16 : 8;

	return t->rank != 4 || layout < LAYOUT_BLK8 || t->dim[1] % block == 0;
}

/* The larger tensor and its parts: outputs or inputs of the node. */
static bool
read_parts(struct pieces *p, const struct graph *g, const struct node *n,
    enum layout layout, struct arena *a)
{
	const uint32_t parts = p->cuts ? n->noutputs : n->ninputs;
	const struct format f = {SPACE_HOST, layout, DT_UNDEFINED};
	size_t at = 0;

	p->piece = arena_new(a, struct piece, parts);
	for (uint32_t i = 0; i < parts; i++) {
		const struct value *v =
		    p->cuts ? node_out(g, n, i) : node_in(g, n, i);
		size_t bytes;

		if (!has_bytes(v) || !fills_blocks(&v->type, layout))
			return false;
		bytes = format_bytes(f, &v->type);
		if (at % 64 != 0 || bytes == 0)
			return false;
		p->piece[p->n++] =
		    (struct piece){p->cuts ? 0 : i, p->cuts ? i : 0, at, bytes};
		at += bytes;
	}
	return true;
}

/* The number that a Slice's input has for a dimension; unchanged where it says none.
 * false: no constant says. */
static bool
slice_number(const struct graph *g, const struct node *n, uint32_t input,
    uint32_t axis, int64_t *number)
{
	const uint32_t rank = node_in(g, n, 0)->type.rank;
	const struct value *axes = node_in(g, n, 3), *v = node_in(g, n, input);

	if (v == NULL)
		return true;
	if (!v->constant || (axes && !axes->constant))
		return false;
	for (size_t i = 0; i < v->constant->count; i++) {
		int64_t at = axes ? tensor_int(axes->constant, i) : (int64_t)i;

		at += at < 0 ? rank : 0;
		if (at == axis)
			*number = tensor_int(v->constant, i);
	}
	return true;
}

/* A Slice of whole rows of the outermost dimension, one behind the other: where it
 * begins. */
static bool
read_slice(const struct graph *g, const struct node *n, size_t *at)
{
	const struct type *x = &node_in(g, n, 0)->type;
	const struct type *y = &node_out(g, n, 0)->type;
	int64_t start = 0;
	uint32_t outer = 0;

	if (n->opset < 10)
		return false;
	while (outer < x->rank && x->dim[outer] == 1)
		outer++;
	for (uint32_t i = 0; i < x->rank; i++) {
		int64_t step = 1;

		if ((i != outer && x->dim[i] != y->dim[i])
		    || !slice_number(g, n, 4, i, &step)
		    || (step != 1 && y->dim[i] > 1))
			return false;
	}
	if (outer == x->rank)
		return true;
	if (!slice_number(g, n, 1, outer, &start))
		return false;
	start += start < 0 ? x->dim[outer] : 0;
	start = start < 0 ? 0 : start;
	if (start > x->dim[outer] - y->dim[outer]) /* backwards, of one */
		start = x->dim[outer] - y->dim[outer];
	*at = (size_t)start
	    * (format_bytes(
	           (struct format){SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED}, x)
	        / (size_t)x->dim[outer]);
	return true;
}

/* A Pad of nothing. */
static bool
pads_nothing(const struct graph *g, const struct node *n)
{
	const struct value *pads = n->opset < 11 ? NULL : node_in(g, n, 1);

	if (!pads || !pads->constant)
		return false;
	for (size_t i = 0; i < pads->constant->count; i++)
		if (tensor_int(pads->constant, i) != 0)
			return false;
	return true;
}

/* A Transpose that leaves the order of all dimensions that are not 1. */
static bool
turns_nothing(const struct graph *g, const struct node *n)
{
	const struct type *x = &node_in(g, n, 0)->type;
	int64_t last = -1;
	uint32_t count;
	const int64_t *perm = attr_ints(n, "perm", &count);

	for (uint32_t i = 0; perm && i < count; i++) {
		if (x->dim[perm[i]] == 1)
			continue;
		if (perm[i] < last)
			return false;
		last = perm[i];
	}
	return perm != NULL;
}

/* Its bytes are some of the input's, as they lie there. */
static bool
read_view(struct pieces *p, const struct graph *g, const struct node *n,
    enum layout layout, struct arena *a)
{
	const struct type *y = &node_out(g, n, 0)->type;
	size_t at = 0;
	bool ok = layout == LAYOUT_PLAIN
	    && ((n->op == OP_SLICE && read_slice(g, n, &at))
	        || (n->op == OP_PAD && pads_nothing(g, n))
	        || (n->op == OP_TRANSPOSE && turns_nothing(g, n)));
	const size_t bytes = format_bytes(
	    (struct format){SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED}, y);

	if (!ok || at % 64 != 0 || bytes == 0)
		return false;
	p->cuts = true;
	p->n = 1;
	p->piece = arena_new(a, struct piece, 1);
	p->piece[0] = (struct piece){0, 0, at, bytes};
	return true;
}

static bool
read_pieces(struct pieces *p, const struct graph *g, const struct node *n,
    enum layout layout, struct arena *a)
{
	const struct value *x = node_in(g, n, 0), *y = node_out(g, n, 0);

	*p = (struct pieces){.cuts = n->op == OP_SPLIT};
	if (!has_bytes(x) || !has_bytes(y) || x->constant
	    || (layout != LAYOUT_PLAIN
	        && (x->type.rank != 4 || y->type.rank != 4)))
		return false;
	if (is_reshaping(n->op)) {
		p->n = 1;
		p->piece = arena_new(a, struct piece, 1);
		p->piece[0].bytes = format_bytes(
		    (struct format){SPACE_HOST, layout, DT_UNDEFINED},
		    &x->type);
		return layout == LAYOUT_PLAIN || n->op == OP_IDENTITY;
	}
	if (read_view(p, g, n, layout, a))
		return true;
	if (n->op == OP_CONCAT)
		return is_outermost(&y->type,
		           attr_int_or(n, "axis", n->opset < 4 ? 1 : 0), layout)
		    && read_parts(p, g, n, layout, a);
	return n->op == OP_SPLIT
	    && is_outermost(&x->type, attr_int_or(n, "axis", 0), layout)
	    && read_parts(p, g, n, layout, a);
}

/* Does a node join, among others, what an earlier one joins, in the same order
 * around this input? Then that lies within it. */
static bool
is_run_of(const struct node *earlier, const struct node *n, uint32_t input)
{
	uint32_t at = 0;

	while (earlier->input[at] != n->input[input])
		at++;
	if (at > input || earlier->ninputs - at > n->ninputs - input)
		return false;
	for (uint32_t i = 0; i < earlier->ninputs; i++)
		if (earlier->input[i] != n->input[input - at + i])
			return false;
	return true;
}

/* TUNING: a dense block has up to 64 layers, and each joins all before it. */
#define JOINS_MOST 128

bool
pieces_of_one(const struct graph *g, const struct node *n)
{
	struct arena scratch;
	struct pieces p;
	bool ok;

	arena_init(&scratch);
	ok = n->op != OP_CONCAT && n->op != OP_SPLIT
	    && read_pieces(&p, g, n, LAYOUT_PLAIN, &scratch);
	arena_release(&scratch);
	return ok;
}

/* What may lie within its input. */
static bool
is_part(enum op op)
{
	return op == OP_SPLIT || op == OP_SLICE;
}

/* A value can lie in one place only: in the first Concat that reads it, and in
 * those that go on with that one; not there twice or as a piece of something else. */
static bool
belongs_to(const struct match_in *m, const struct node *n, uint32_t input)
{
	const value_id v = n->input[input];
	const struct value *value = graph_value(m->graph, v);
	uint32_t joins = 0;

	if (value->constant)
		return false;
	if (value->producer != NODE_NONE
	    && is_part(graph_node(m->graph, value->producer)->op))
		return false;
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (i != input && n->input[i] == v)
			return false;
	for (uint32_t i = m->uses->start[v]; i < m->uses->start[v + 1]; i++) {
		const node_id user = m->uses->user[i];
		const struct node *other = graph_node(m->graph, user);

		if (user < m->match->root && other->op == OP_CONCAT
		    && (++joins > JOINS_MOST || !is_run_of(other, n, input)))
			return false;
	}
	return true;
}

bool
pieces_fit(const struct match_in *m, enum layout layout)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	struct arena scratch;
	struct pieces p;
	bool ok;

	arena_init(&scratch);
	ok = m->match->nnodes == 1
	    && read_pieces(&p, m->graph, n, layout, &scratch);
	for (uint32_t i = 0; ok && n->op == OP_CONCAT && i < n->ninputs; i++)
		ok = belongs_to(m, n, i);
	arena_release(&scratch);
	return ok;
}

/* ---- the kernel ---- */

struct state {
	uint32_t n;
	const struct overlay *overlay;
	const size_t *bytes; /* [n] */
};

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct state *s = k->state;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct overlay *o = &s->overlay[i];
		const unsigned char *from = in[o->in];
		unsigned char *to = out[o->out];

		if (o->offset < 0)
			from -= o->offset;
		else
			to += o->offset;
		if (from != to)
			memcpy(to, from, s->bytes[i]);
	}
}

void
pieces_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out)
{
	const struct node *n = graph_node(g, c->node[0]);
	struct state *s = arena_new(a, struct state, 1);
	const struct port *port = &c->output[0];
	struct overlay *overlay;
	struct pieces p;
	size_t *bytes;
	bool ok =
	    read_pieces(&p, g, n, t->formats->format[port->format].layout, a);

	assert(ok);
	(void)ok;
	overlay = arena_new(a, struct overlay, p.n);
	bytes = arena_new(a, size_t, p.n);
	for (uint32_t i = 0; i < p.n; i++) {
		const struct piece *x = &p.piece[i];
		ptrdiff_t at = (ptrdiff_t)x->at;
		uint32_t from, to;

		from = ports_find(c->input, c->ninputs, n->input[x->in]);
		to = ports_find(c->output, c->noutputs, n->output[x->out]);
		if (to == UINT32_MAX) /* nobody reads this part */
			continue;
		bytes[s->n] = x->bytes;
		overlay[s->n++] = (struct overlay){from, to, p.cuts ? -at : at};
	}
	s->overlay = overlay;
	s->bytes = bytes;
	*out = (struct kernel){.kind = t->kind,
	    .candidate = c,
	    .run = run,
	    .overlay = overlay,
	    .noverlays = s->n,
	    .state = s};
}
