/* Parsing the text form: values by their printed ids, nodes in any order. */
#include <string.h>

#include "ir/text.h"
#include "ir/text_read.h"

static bool parse_graph(struct reader *r, uint32_t nslots,
    struct onnx_nodes *origins, struct graph **out);

/* A graph being read. */
struct parse {
	struct reader *r;
	struct graph *g;
	struct symbols symbols;
};

/* "%3": values up to that id exist afterwards, without a name until they are
 * defined. */
static bool
parse_id(struct parse *x, value_id *out)
{
	if (!text_needs(x->r, "%") || !text_uint(x->r, out))
		return false;
	if (*out >= x->g->nvalues) {
		size_t more = (size_t)*out + 1 - x->g->nvalues;

		if (more > x->r->ids_left)
			return text_fault(x->r, "a smaller id");
		x->r->ids_left -= more;
		while (*out >= x->g->nvalues)
			graph_add_value(x->g, NULL, NULL);
	}
	return true;
}

/* %3 "name" float32[2] */
static bool
parse_definition(struct parse *x, value_id *out)
{
	const char *name;
	struct type type;

	if (!parse_id(x, out))
		return false;
	if (graph_value(x->g, *out)->name)
		return text_fault(x->r, "a value not defined before");
	if (!text_name(x->r, &name) || !text_type(x->r, &type))
		return false;
	graph_value(x->g, *out)->name = name;
	graph_value(x->g, *out)->type = type;
	return true;
}

/* Ids or "_", up to the closing token (taken); an empty list is one too. */
static bool
parse_ids(struct parse *x, bool optional, value_id **ids, uint32_t *n)
{
	uint32_t cap = 0;

	*ids = NULL;
	*n = 0;
	do {
		value_id v = VALUE_NONE;

		if (!(optional && text_takes(x->r, "_"))) {
			if (*n == 0 && !text_takes(x->r, "%"))
				return true;
			if (*n == 0)
				x->r->p--;
			if (!parse_id(x, &v))
				return false;
		}
		*ids = arena_grow(x->r->a, *ids, &cap, *n + 1, sizeof **ids);
		(*ids)[(*n)++] = v;
	} while (text_takes(x->r, ","));
	return true;
}

static bool
parse_constant(struct parse *x, value_id v)
{
	struct tensor *t = arena_new(x->r->a, struct tensor, 1);

	if (text_takes(x->r, "overridable"))
		graph_value(x->g, v)->flags |= VALUE_OVERRIDABLE;
	if (!text_takes(x->r, "="))
		return true;
	if (!text_tensor(x->r, t))
		return false;
	graph_value(x->g, v)->constant = t;
	graph_value(x->g, v)->type = tensor_type(t);
	return true;
}

/* The lines "value ..." and "capture SLOT ...". */
static bool
parse_free_values(struct parse *x, uint32_t nslots)
{
	struct capture *capture = NULL;
	uint32_t cap = 0;

	for (;;) {
		struct capture c = {0, VALUE_NONE};

		if (text_takes(x->r, "capture")) {
			if (!text_uint(x->r, &c.slot))
				return false;
			if (c.slot >= nslots)
				return text_fault(x->r, "a smaller slot");
		} else if (!text_takes(x->r, "value")) {
			break;
		} else {
			c.slot = UINT32_MAX;
		}
		if (!parse_definition(x, &c.inner)
		    || !parse_constant(x, c.inner))
			return false;
		if (c.slot == UINT32_MAX)
			continue;
		capture = arena_grow(x->r->a, capture, &cap,
		    x->g->ncaptures + 1, sizeof *capture);
		capture[x->g->ncaptures++] = c;
	}
	x->g->capture = capture;
	return true;
}

static bool
parse_kind(struct parse *x, enum attr_kind *out)
{
	for (unsigned k = ATTR_NONE; k <= ATTR_TYPES; k++)
		if (text_takes(x->r, text_kind[k])) {
			*out = (enum attr_kind)k;
			return true;
		}
	return text_fault(x->r, "a kind of attribute");
}

static const size_t entry_size[ATTR_TYPES + 1] = {
    [ATTR_NONE] = 1,
    [ATTR_FLOAT] = sizeof(float),
    [ATTR_FLOATS] = sizeof(float),
    [ATTR_INT] = sizeof(int64_t),
    [ATTR_INTS] = sizeof(int64_t),
    [ATTR_STRING] = sizeof(struct string_view),
    [ATTR_STRINGS] = sizeof(struct string_view),
    [ATTR_TENSOR] = sizeof(struct tensor),
    [ATTR_TENSORS] = sizeof(struct tensor),
    [ATTR_GRAPH] = sizeof(struct graph *),
    [ATTR_GRAPHS] = sizeof(struct graph *),
    [ATTR_SPARSE] = sizeof(struct tensor),
    [ATTR_SPARSES] = sizeof(struct tensor),
    [ATTR_TYPE] = sizeof(struct type),
    [ATTR_TYPES] = sizeof(struct type),
};

static bool
parse_entry(struct parse *x, enum attr_kind kind, uint32_t nslots, void *out)
{
	switch (kind) {
	case ATTR_FLOAT:
	case ATTR_FLOATS:
		return text_float(x->r, out);
	case ATTR_INT:
	case ATTR_INTS:
		return text_int(x->r, out);
	case ATTR_STRING:
	case ATTR_STRINGS:
		return text_string(x->r, out);
	case ATTR_GRAPH:
	case ATTR_GRAPHS:
		return parse_graph(x->r, nslots, x->g->origin_table, out);
	case ATTR_TYPE:
	case ATTR_TYPES:
		return text_type(x->r, out);
	case ATTR_NONE:
		return text_fault(x->r, "an attribute of some kind");
	default:
		return text_tensor(x->r, out);
	}
}

static bool
parse_list(struct parse *x, struct attr *a, uint32_t nslots)
{
	size_t size = entry_size[a->kind];
	char *entries = NULL;
	uint32_t cap = 0;

	if (!text_needs(x->r, "["))
		return false;
	while (!text_takes(x->r, "]")) {
		if (a->n && !text_needs(x->r, ","))
			return false;
		entries = arena_grow(x->r->a, entries, &cap, a->n + 1, size);
		if (!parse_entry(x, a->kind, nslots, entries + a->n * size))
			return false;
		a->n++;
	}
	a->ints = (const void *)entries;
	return true;
}

/* "name":kind=entry or "name":kind=[entry,...] */
static bool
parse_attr(struct parse *x, struct attr *a, uint32_t nslots)
{
	bool list;
	void *entry;

	*a = (struct attr){0};
	if (!text_name(x->r, &a->name) || !text_needs(x->r, ":")
	    || !parse_kind(x, &a->kind) || !text_needs(x->r, "="))
		return false;
	list = a->kind > ATTR_GRAPH && a->kind != ATTR_SPARSE
	    && a->kind != ATTR_TYPE;
	if (list)
		return parse_list(x, a, nslots);
	if (a->kind == ATTR_NONE)
		return true;
	entry = arena_alloc(x->r->a, entry_size[a->kind]);
	a->n = 1;
	a->ints = entry;
	return parse_entry(x, a->kind, nslots, entry);
}

static bool
parse_attrs(struct parse *x, struct node *n)
{
	struct attr *attr = NULL;
	uint32_t cap = 0;

	while (text_takes(x->r, "\"")) {
		x->r->p--;
		attr = arena_grow(
		    x->r->a, attr, &cap, n->nattrs + 1, sizeof *attr);
		if (!parse_attr(x, &attr[n->nattrs], n->nimplicit))
			return false;
		n->nattrs++;
	}
	n->attr = attr;
	return true;
}

static bool
parse_outputs(struct parse *x, struct node *n)
{
	uint32_t cap = 0;

	while (!text_takes(x->r, "=")) {
		value_id v = VALUE_NONE;

		if (n->noutputs && !text_needs(x->r, ","))
			return false;
		if (!text_takes(x->r, "_") && !parse_definition(x, &v))
			return false;
		n->output = arena_grow(x->r->a, n->output, &cap,
		    n->noutputs + 1, sizeof *n->output);
		n->output[n->noutputs++] = v;
	}
	return true;
}

/* "(%0, _; %3)" */
static bool
parse_inputs(struct parse *x, struct node *n)
{
	value_id *explicit, *implicit;

	if (!text_needs(x->r, "(")
	    || !parse_ids(x, true, &explicit, &n->ninputs)
	    || !text_needs(x->r, ";")
	    || !parse_ids(x, true, &implicit, &n->nimplicit)
	    || !text_needs(x->r, ")"))
		return false;
	n->input =
	    arena_new(x->r->a, value_id, (size_t)n->ninputs + n->nimplicit);
	if (n->ninputs)
		memcpy(n->input, explicit, n->ninputs * sizeof *explicit);
	if (n->nimplicit)
		memcpy(n->input + n->ninputs, implicit,
		    n->nimplicit * sizeof *implicit);
	return true;
}

static bool
parse_node(struct parse *x)
{
	struct node n = {.op = OP_CUSTOM};

	if (!parse_outputs(x, &n) || !text_name(x->r, &n.op_type)
	    || !text_uint(x->r, &n.opset) || !text_name(x->r, &n.domain)
	    || !text_name(x->r, &n.name) || !parse_inputs(x, &n)
	    || !parse_attrs(x, &n))
		return false;
	n.op = op_find_in(n.domain, n.op_type);
	graph_add_node(x->g, &n);
	return true;
}

static bool
parse_ends(struct parse *x, const char *word, uint32_t flag,
    const value_id **ids, uint32_t *n)
{
	value_id *list;

	if (!text_needs(x->r, word) || !parse_ids(x, false, &list, n))
		return false;
	*ids = list;
	for (uint32_t i = 0; i < *n; i++)
		graph_value(x->g, list[i])->flags |= flag;
	return true;
}

static bool
check_defined(struct parse *x)
{
	for (value_id v = 0; v < x->g->nvalues; v++)
		if (!x->g->value[v].name)
			return err_set(x->r->err, ERR_INPUT,
			    "%s: value %%%u of graph '%s' is never defined",
			    x->r->name, v, x->g->name);
	return graph_sort(x->g, x->r->err);
}

static bool
parse_body(struct parse *x, uint32_t nslots)
{
	if (!text_needs(x->r, "{") || !parse_free_values(x, nslots)
	    || !parse_ends(x, "in", VALUE_INPUT, &x->g->input, &x->g->ninputs))
		return false;
	while (text_takes(x->r, "node"))
		if (!parse_node(x))
			return false;
	return parse_ends(
	           x, "out", VALUE_OUTPUT, &x->g->output, &x->g->noutputs)
	    && text_needs(x->r, "}") && check_defined(x);
}

/* Recursion is as deep as bodies nest, TEXT_DEPTH at most. */
static bool
parse_graph(struct reader *r, uint32_t nslots, struct onnx_nodes *origins,
    struct graph **out)
{
	struct symbols *outer = r->symbols;
	struct parse x = {.r = r};
	const char *name;
	bool ok;

	if (r->depth == TEXT_DEPTH)
		return text_fault(r, "less nesting");
	if (!text_needs(r, "graph") || !text_name(r, &name))
		return false;
	*out = x.g = graph_new(r->a, name);
	if (origins)
		x.g->origin_table = origins;
	symbols_init(&x.symbols, x.g, r->a);
	r->symbols = &x.symbols;
	r->depth++;
	ok = parse_body(&x, nslots);
	r->depth--;
	r->symbols = outer;
	return ok;
}

bool
graph_parse(struct graph **g, const char *text, size_t n, const char *name,
    struct arena *a, struct err *err)
{
	struct reader r = {
	    .start = text,
	    .p = text,
	    .end = text + n,
	    .name = name,
	    .a = a,
	    .err = err,
	    .ids_left = n,
	};

	if (!parse_graph(&r, 0, NULL, g))
		return false;
	return text_ends(&r) || text_fault(&r, "the end");
}
