#include "costmodel/key.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/content.h"
#include "costmodel/form.h"
#include "costmodel/key_order.h"
#include "ir/base/hash.h"
#include "targets/widened.h"

/* What the records of a key begin with. */
enum tag {
	TAG_INSIDE = 1, /* an input made by a node of the set */
	TAG_OUTSIDE, /* an input from elsewhere, by number of first use */
	TAG_LEFT_OUT,
	TAG_CONSTANT,
	TAG_VALUE,
	TAG_DEFAULT_ATTR,
	TAG_ATTR,
	TAG_END,
	TAG_HASH, /* of content */
	TAG_PLACES, /* two bytes: cache lines, jumps */
	TAG_ZERO, /* one byte: all zero, or not */
	TAG_KNOWN =
	    0xff, /* a guard that looks at nothing; no set is so large */
};

struct body {
	const struct graph *graph;
	bool decides; /* see struct key_writer */
};

/* A node set being written: a candidate, or the whole of a nested graph. */
struct key_writer {
	struct buf *b;
	enum key_detail detail;
	struct arena *scratch;
	struct keys *keys; /* NULL: nothing is kept */
	const struct candidate *candidate; /* NULL: a nested graph */
	const struct mix *mix;
	const struct graph *graph;
	struct node_order order;
	value_id *outside; /* [noutside] by number of first use */
	uint32_t noutside, outside_cap;
	/* Every constant counts: we are in a body that a Loop runs, or that
	 * has one. */
	bool decides;
	struct body *nested; /* [nnested] graphs still to write */
	uint32_t nnested, nested_cap;
};

static void
put_bytes(struct buf *b, const void *s, size_t n)
{
	buf_u32(b, (uint32_t)n);
	buf_add(b, s, n);
}

static void
put_string(struct buf *b, const char *s)
{
	put_bytes(b, s, strlen(s));
}

static void
put_float(struct buf *b, float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	buf_u32(b, bits);
}

/* Static dims as they are; anything else as "unknown". Symbols that must agree
 * cannot be told from ones that need not: neither can be priced anyway. */
static void
put_dims(struct buf *b, const int64_t *dim, uint32_t rank)
{
	for (uint32_t i = 0; i < rank; i++)
		buf_u64(b, dim[i] < 0 ? UINT64_MAX : (uint64_t)dim[i]);
}

void
key_type(struct buf *b, const struct type *type, enum key_detail detail)
{
	for (; type->elem
	     && (type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL);
	     type = type->elem)
		buf_u8(b, (uint8_t)type->kind);
	buf_u8(b, (uint8_t)type->kind);
	if (type->kind != TYPE_TENSOR)
		return;
	buf_u8(b, (uint8_t)type->dtype);
	buf_u32(b, type->rank);
	if (detail == KEY_FULL && type->rank != RANK_UNKNOWN)
		put_dims(b, type->dim, type->rank);
}

/* Stable numbers for what the enums of a format happen to be. */
static void
put_format(struct buf *b, struct format f)
{
	static const uint8_t layout[] = {
	    [LAYOUT_PLAIN] = 'p',
	    [LAYOUT_NHWC] = 'n',
	    [LAYOUT_BLK8] = '8',
	    [LAYOUT_BLK16] = 'x',
	};

	buf_u8(b, (uint8_t)f.space->letter);
	buf_u8(b, layout[f.layout]);
	buf_u8(b, (uint8_t)f.dtype);
}

/* TUNING: parameters (axes, pads, shapes) are shorter than this; a hash of
 * anything longer is as exact and shorter. */
#define CONTENT_MAX 64

/* Bytes of strings, or of numbers. */
static void
put_all(struct key_writer *w, const struct tensor *t, struct buf *b)
{
	if (t->kind == TENSOR_STRINGS)
		for (size_t i = 0; i < t->count; i++)
			put_bytes(b, t->string[i].s, t->string[i].n);
	else if (tensor_is_numbers(t))
		buf_add(b, tensor_data(t, w->scratch), t->bytes);
}

static void
put_content(struct key_writer *w, const struct tensor *t)
{
	struct buf all;

	buf_init(&all);
	put_all(w, t, &all);
	if (t->count <= CONTENT_MAX) {
		buf_u8(w->b, TAG_VALUE);
		put_bytes(w->b, all.data, all.n);
	} else {
		struct hash128 h = hash128(all.data, all.n);

		buf_u8(w->b, TAG_HASH);
		buf_add(w->b, h.byte, sizeof h.byte);
	}
	buf_release(&all);
}

/* Of constant t at an input of n, what decides how long n takes. */
static void
put_constant(struct key_writer *w, const struct node *n, uint32_t slot,
    const struct tensor *t)
{
	enum content what = w->decides ? CONTENT_READ : content_of(n, slot, t);
	struct places places;

	if (what == CONTENT_PLACES
	    && content_places(w->graph, n, t, &places, w->scratch)) {
		buf_u8(w->b, TAG_PLACES);
		buf_u8(w->b, places.lines);
		buf_u8(w->b, places.jumps);
	} else if (what == CONTENT_ZERO) {
		buf_u8(w->b, TAG_ZERO);
		buf_u8(w->b, content_is_zero(t));
	} else if (what == CONTENT_READ || what == CONTENT_PLACES
	    || (what == CONTENT_KEPT && !content_is_ordinary(t))) {
		put_content(w, t);
	}
}

static void
put_tensor(struct key_writer *w, const struct tensor *t)
{
	struct type type = {
	    .kind = TYPE_TENSOR,
	    .dtype = t->dtype,
	    .rank = t->rank,
	    .dim = t->dim,
	};

	key_type(w->b, &type, w->detail);
	put_content(w, t);
}

static void
put_nested(struct key_writer *w, const struct graph *g, bool decides)
{
	w->nested = arena_grow(w->scratch, w->nested, &w->nested_cap,
	    w->nnested + 1, sizeof *w->nested);
	w->nested[w->nnested++] = (struct body){g, decides};
}

static void
put_attr(struct key_writer *w, const struct node *n, const struct attr *a)
{
	buf_u8(w->b, TAG_ATTR);
	put_string(w->b, a->name);
	buf_u8(w->b, (uint8_t)a->kind);
	buf_u32(w->b, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		switch (a->kind) {
		case ATTR_FLOAT:
		case ATTR_FLOATS:
			put_float(w->b, a->floats[i]);
			break;
		case ATTR_INT:
		case ATTR_INTS:
			buf_u64(w->b, (uint64_t)a->ints[i]);
			break;
		case ATTR_STRING:
		case ATTR_STRINGS:
			put_bytes(w->b, a->strings[i].s, a->strings[i].n);
			break;
		case ATTR_GRAPH:
		case ATTR_GRAPHS:
			put_nested(w, a->graphs[i],
			    w->decides || content_decides_loop(n));
			break;
		case ATTR_TYPE:
		case ATTR_TYPES:
			key_type(w->b, &a->types[i], w->detail);
			break;
		case ATTR_TENSOR:
		case ATTR_TENSORS:
		case ATTR_SPARSE:
		case ATTR_SPARSES:
			put_tensor(w, &a->tensors[i]);
			break;
		case ATTR_NONE:
			break;
		}
}

static void
put_attrs(struct key_writer *w, const struct node *n, const struct form *form)
{
	for (uint32_t i = 0; i < form->nattrs; i++)
		put_attr(w, n, &form->attr[i]);
	buf_u8(w->b, TAG_END);
}

static uint32_t
outside_number(struct key_writer *w, value_id v)
{
	for (uint32_t i = 0; i < w->noutside; i++)
		if (w->outside[i] == v)
			return i;
	w->outside = arena_grow(w->scratch, w->outside, &w->outside_cap,
	    w->noutside + 1, sizeof *w->outside);
	w->outside[w->noutside] = v;
	return w->noutside++;
}

static uint32_t
output_slot(const struct node *n, value_id v)
{
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] == v)
			return i;
	assert(0 && "a value its producer does not make");
	return 0;
}

/* Which value: the output of a node of the set, or one from elsewhere. */
static void
put_value(struct key_writer *w, value_id v)
{
	const struct value *value = graph_value(w->graph, v);
	uint32_t at = value->producer == NODE_NONE
	    ? NODE_NONE
	    : node_order_find(&w->order, value->producer);

	if (at == NODE_NONE) {
		buf_u8(w->b, TAG_OUTSIDE);
		buf_u32(w->b, outside_number(w, v));
		return;
	}
	buf_u8(w->b, TAG_INSIDE);
	buf_u32(w->b, w->order.position[at]);
	buf_u32(w->b, output_slot(graph_node(w->graph, value->producer), v));
}

static void
put_input(struct key_writer *w, const struct node *n, uint32_t slot)
{
	value_id v = n->input[slot];
	const struct value *value;

	if (v == VALUE_NONE) {
		buf_u8(w->b, TAG_LEFT_OUT);
		return;
	}
	value = graph_value(w->graph, v);
	put_value(w, v);
	if (value->constant && w->detail != KEY_FAMILY)
		put_constant(w, n, slot, value->constant);
}

static const struct port *
find_port(const struct port *port, uint32_t n, value_id v)
{
	for (uint32_t i = 0; i < n; i++)
		if (port[i].value == v)
			return &port[i];
	return NULL;
}

static void
put_port(struct key_writer *w, const struct port *port)
{
	if (!port) {
		buf_u8(w->b, 0);
		return;
	}
	buf_u8(w->b, 1);
	put_format(w->b, w->mix->formats.format[port->format]);
}

static void
put_outputs(struct key_writer *w, const struct node *n)
{
	const struct candidate *c = w->candidate;

	uint32_t count = n->noutputs;

	while (count && n->output[count - 1] == VALUE_NONE)
		count--;
	buf_u32(w->b, count);
	for (uint32_t i = 0; i < count; i++) {
		if (n->output[i] == VALUE_NONE) {
			buf_u8(w->b, TAG_LEFT_OUT);
			continue;
		}
		buf_u8(w->b, TAG_VALUE);
		if (w->detail != KEY_FAMILY)
			key_type(w->b,
			    &graph_value(w->graph, n->output[i])->type,
			    w->detail);
		if (c)
			put_port(
			    w, find_port(c->output, c->noutputs, n->output[i]));
	}
}

/* What a node is, without its edges and what it makes. */
static void
put_itself(struct key_writer *w, const struct node *n, const struct form *form)
{
	put_string(w->b, n->op_type);
	put_string(w->b, n->domain);
	if (w->detail == KEY_FAMILY)
		return;
	buf_u32(w->b, form->version);
	put_attrs(w, n, form);
}

/* The same, made once for each node of the model; the inputs that are
 * parameters. Bodies are numbered anew in each key, so nodes with bodies are not
 * kept. */
static uint32_t
put_itself_kept(struct key_writer *w, node_id id)
{
	const struct node *n = graph_node(w->graph, id);
	bool keeps = w->keys && w->candidate && w->detail == KEY_FULL
	    && !node_body(n, 0);
	size_t start = w->b->n;
	struct kept_node *kept = keeps ? &w->keys->node[id] : NULL;
	struct form form;

	if (kept && kept->bytes.s) {
		buf_add(w->b, kept->bytes.s, kept->bytes.n);
		return kept->dropped;
	}
	form = node_form(w->graph, n, w->scratch);
	put_itself(w, n, &form);
	if (kept) {
		assert(w->b->n > start); /* operator and version at least */
		kept->bytes.n = w->b->n - start;
		kept->bytes.s = arena_copy(
		    w->keys->arena, w->b->data + start, kept->bytes.n);
		kept->dropped = form.dropped;
	}
	return form.dropped;
}

static bool
is_dropped(uint32_t dropped, const struct node *n, uint32_t slot)
{
	return slot < n->ninputs && slot < FORM_SLOTS && dropped >> slot & 1;
}

/* Inputs up to the last that is there and no parameter. */
static uint32_t
count_inputs(const struct node *n, uint32_t dropped)
{
	uint32_t count = n->ninputs;

	if (n->nimplicit)
		return n->ninputs + n->nimplicit;
	while (count
	    && (n->input[count - 1] == VALUE_NONE
	        || is_dropped(dropped, n, count - 1)))
		count--;
	return count;
}

static void
put_node(struct key_writer *w, node_id id)
{
	const struct node *n = graph_node(w->graph, id);
	uint32_t dropped = put_itself_kept(w, id);
	uint32_t count = count_inputs(n, dropped);

	buf_u32(w->b, count);
	for (uint32_t i = 0; i < count; i++)
		if (is_dropped(dropped, n, i))
			buf_u8(w->b, TAG_LEFT_OUT);
		else
			put_input(w, n, i);
	put_outputs(w, n);
}

/* A node without its edges, for the order: what it is, what it reads, what it
 * makes. Bodies it has are left out. */
static uint64_t
label_node(void *context, node_id id)
{
	struct key_writer w = *(const struct key_writer *)context;
	const struct node *n = graph_node(w.graph, id);
	struct form form;
	struct buf b;
	uint64_t h;

	buf_init(&b);
	w.b = &b;
	w.nested = NULL;
	w.nnested = w.nested_cap = 0;
	form = node_form(w.graph, n, w.scratch);
	put_itself(&w, n, &form);
	for (uint32_t i = 0; i < n->ninputs; i++) {
		const struct value *v = node_in(w.graph, n, i);

		if (v && v->constant && w.detail != KEY_FAMILY
		    && !is_dropped(form.dropped, n, i))
			put_constant(&w, n, i, v->constant);
	}
	put_outputs(&w, n);
	h = hash64(b.data, b.n, 0);
	buf_release(&b);
	return h;
}

static uint32_t
told_by_form(void *context, node_id id)
{
	const struct key_writer *w = context;

	return node_form(w->graph, graph_node(w->graph, id), w->scratch)
	    .dropped;
}

static void
put_outside_value(struct key_writer *w, value_id v)
{
	const struct candidate *c = w->candidate;
	const struct value *value = graph_value(w->graph, v);

	buf_u8(w->b, value->constant ? TAG_CONSTANT : TAG_VALUE);
	if (w->detail != KEY_FAMILY)
		key_type(w->b, &value->type, w->detail);
	if (c && !value->constant)
		put_port(w, find_port(c->input, c->ninputs, v));
}

static uint64_t
label_outside(void *context, value_id v)
{
	struct key_writer w = *(const struct key_writer *)context;
	struct buf b;
	uint64_t h;

	buf_init(&b);
	w.b = &b;
	put_outside_value(&w, v);
	h = hash64(b.data, b.n, 0);
	buf_release(&b);
	return h;
}

static void
put_outside(struct key_writer *w)
{
	buf_u32(w->b, w->noutside);
	for (uint32_t i = 0; i < w->noutside; i++)
		put_outside_value(w, w->outside[i]);
}

static void
put_set(struct key_writer *w, const node_id *node, uint32_t n)
{
	struct order_labels labels = {
	    label_node, label_outside, told_by_form, w};

	w->order = node_order_new(w->graph, node, n, &labels, w->scratch);
	assert(w->order.n == n);
	buf_u32(w->b, n);
	for (uint32_t i = 0; i < n; i++)
		put_node(w, w->order.sequence[i]);
	put_outside(w);
}

/* What a body gives back: made inside, passed through, or a constant, which may
 * be what ends a loop. */
static void
put_given(struct key_writer *w, value_id id)
{
	const struct value *v = graph_value(w->graph, id);

	put_value(w, id);
	if (w->detail == KEY_FAMILY)
		return;
	key_type(w->b, &v->type, w->detail);
	if (v->constant)
		put_content(w, v->constant);
}

/* A body of If, Loop or Scan: its formal inputs in order, captures by slot,
 * its nodes, which of its values it gives back. */
static void
put_graph(struct key_writer *w, const struct body *body)
{
	const struct graph *g = body->graph;
	node_id *all = arena_new(w->scratch, node_id, g->nnodes);

	w->graph = g;
	w->decides = body->decides;
	w->candidate = NULL;
	w->outside = NULL;
	w->noutside = w->outside_cap = 0;
	for (node_id i = 0; i < g->nnodes; i++)
		all[i] = i;
	for (uint32_t i = 0; i < g->ninputs; i++)
		outside_number(w, g->input[i]);
	for (uint32_t i = 0; i < g->ncaptures; i++) {
		buf_u32(w->b, g->capture[i].slot);
		outside_number(w, g->capture[i].inner);
	}
	put_set(w, all, g->nnodes);
	for (uint32_t i = 0; i < g->noutputs; i++)
		put_given(w, g->output[i]);
}

void
keys_init(
    struct keys *k, const struct graph *g, const struct mix *m, struct arena *a)
{
	*k = (struct keys){
	    .graph = g,
	    .mix = m,
	    .arena = a,
	    .node = arena_new(a, struct kept_node, g->nnodes),
	};
}

/* Keys of the graph that a candidate's kind sees: what it does there costs what it
 * costs in a model of floats. */
static struct keys *
keys_seen(struct keys *k, const struct graph *seen)
{
	if (seen == k->graph)
		return k;
	if (!k->widened) {
		k->widened = arena_new(k->arena, struct keys, 1);
		keys_init(k->widened, seen, k->mix, k->arena);
	}
	assert(k->widened->graph == seen);
	return k->widened;
}

void
key_candidate(struct keys *keys, struct buf *b, const struct candidate *of,
    enum key_detail detail, struct arena *scratch)
{
	const struct graph *g = keys->graph;
	const struct candidate *c = candidate_seen(of, &g);
	struct keys *k = keys_seen(keys, g);
	const struct target_kind *kind = k->mix->target[c->target].kind;
	struct arena_mark mark = arena_mark(scratch);
	struct key_writer w = {
	    .b = b,
	    .detail = detail,
	    .scratch = scratch,
	    .keys = k,
	    .candidate = c,
	    .mix = k->mix,
	    .graph = k->graph,
	};

	assert(c->nnodes > 0 && c->target < k->mix->n);
	buf_u8(b, KEY_VERSION);
	buf_u8(b, (uint8_t)detail);
	put_string(b, kind->name);
	put_string(b, c->rule < kind->nrules ? kind->rule[c->rule].name : "");
	put_string(b, c->implementation_name);
	if (c->known)
		buf_u8(b, TAG_KNOWN);
	put_set(&w, c->node, c->nnodes);
	/* Bodies nest, so the list grows while it is walked. */
	for (uint32_t i = 0; i < w.nnested; i++)
		put_graph(&w, &w.nested[i]);
	arena_back(scratch, mark);
}

void
key_graph(struct buf *b, const struct graph *g, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct key_writer w = {.b = b, .detail = KEY_FULL, .scratch = scratch};

	buf_u8(b, KEY_VERSION);
	put_nested(&w, g, false);
	for (uint32_t i = 0; i < w.nnested; i++)
		put_graph(&w, &w.nested[i]);
	arena_back(scratch, mark);
}

void
key_conversion(struct buf *b, const struct type *type, struct format from,
    struct format to, enum key_detail detail)
{
	buf_u8(b, KEY_CONVERSION_VERSION);
	buf_u8(b, (uint8_t)(detail | 0x80));
	put_format(b, from);
	put_format(b, to);
	key_type(b, type, detail);
}

const char *
key_summary(const struct graph *g, const struct mix *m,
    const struct candidate *of, struct arena *a)
{
	const struct candidate *c = candidate_seen(of, &g);
	const struct target_kind *kind = m->target[c->target].kind;
	struct buf b;
	const char *text;

	buf_init(&b);
	buf_printf(&b, "%s %s",
	    c->rule < kind->nrules ? kind->rule[c->rule].name : kind->name,
	    c->implementation_name ? c->implementation_name : "");
	for (uint32_t i = 0; i < c->nnodes && i < 8; i++)
		buf_printf(&b, "%s%s", i ? "+" : " ",
		    graph_node(g, c->node[i])->op_type);
	if (c->nnodes > 8)
		buf_printf(&b, "+(%u more)", c->nnodes - 8);
	for (uint32_t i = 0; i < c->ninputs && i < 2; i++)
		buf_printf(&b, "%s%s", i ? "," : " ",
		    type_text(
		        &graph_value(g, c->input[i].value)->type, NULL, a));
	for (uint32_t i = 0; i < c->noutputs && i < 1; i++)
		buf_printf(&b, "->%s",
		    type_text(
		        &graph_value(g, c->output[i].value)->type, NULL, a));
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}
