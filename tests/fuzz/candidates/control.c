/* Nodes put into sub-graphs: branches, loops, scans. */
#include <string.h>

#include "tests/fuzz/candidates/generate.h"

static bool
same_dims(const struct type *x, const struct type *y)
{
	return x->rank == y->rank
	    && (x->rank == 0
	        || memcmp(x->dim, y->dim, x->rank * sizeof *x->dim) == 0);
}

/* A function of one tensor of floats, which gives one of its shape. */
static bool
is_function(const struct graph *m, const struct node *n)
{
	const struct value *x = node_in(m, n, 0);

	return n->ninputs == 1 && n->noutputs == 1 && !x->constant
	    && n->op != OP_CUSTOM && x->type.dtype == DT_FLOAT
	    && same_dims(&x->type, &node_out(m, n, 0)->type);
}

/* A node of a sub-graph: op over `in`, or f itself where it is its operator. */
static value_id
sub_node(struct generator *g, struct graph *sub, const struct node *f,
    enum op op, const value_id *in, uint32_t nin)
{
	value_id *ends = arena_copy(g->m.arena, in, (nin + 1) * sizeof *in);
	struct node n = {.op = op,
	    .op_type = op_get(op)->type,
	    .name = "",
	    .domain = f->domain,
	    .opset = f->opset,
	    .ninputs = nin,
	    .noutputs = 1,
	    .input = ends,
	    .output = ends + nin};

	if (op == f->op) {
		n.attr = f->attr;
		n.nattrs = f->nattrs;
	}
	ends[nin] = graph_add_value(sub,
	    arena_printf(g->m.arena, "s%u", (unsigned)sub->nvalues),
	    &sub->value[in[0]].type);
	graph_add_node(sub, &n);
	return ends[nin];
}

static value_id
sub_function(struct generator *g, struct graph *sub, const struct node *f,
    enum op op, value_id x)
{
	return sub_node(g, sub, f, op, (const value_id[]){x, 0}, 1);
}

/* f, and what comes up behind it. */
static value_id
sub_chain(
    struct generator *g, struct graph *sub, const struct node *f, value_id x)
{
	static const enum op more[] = {
	    OP_TANH, OP_ABS, OP_NEG, OP_RELU, OP_SIGMOID};

	x = sub_function(g, sub, f, f->op, x);
	for (uint32_t n = rng_below(&g->r, 3); n > 0; n--)
		x = sub_function(g, sub, f, more[rng_below(&g->r, 5)], x);
	return x;
}

static void
sub_ends(struct generator *g, struct graph *sub, const value_id *in,
    uint32_t nin, const value_id *out, uint32_t nout)
{
	sub->input = arena_copy(g->m.arena, in, nin * sizeof *in);
	sub->ninputs = nin;
	sub->output = arena_copy(g->m.arena, out, nout * sizeof *out);
	sub->noutputs = nout;
}

static struct attr
sub_attr(struct generator *g, const char *name, struct graph *sub)
{
	struct graph **of = arena_new(g->m.arena, struct graph *, 1);

	*of = sub;
	return (struct attr){
	    .name = name, .kind = ATTR_GRAPH, .n = 1, .graphs = of};
}

/* The node becomes another one, its last output what it was. */
static void
become(struct generator *g, struct node *n, enum op op, const value_id *in,
    uint32_t nin, const struct attr *attr, uint32_t nattrs)
{
	n->op = op;
	n->op_type = op_get(op)->type;
	n->input = arena_copy(g->m.arena, in, nin * sizeof *in);
	n->ninputs = nin;
	n->attr = arena_copy(g->m.arena, attr, nattrs * sizeof *attr);
	n->nattrs = nattrs;
}

/* A graph of one node from the outer value of that name. */
static struct graph *
branch_of(struct generator *g, const struct node *f, enum op op,
    const struct value *x)
{
	struct graph *b = graph_new(g->m.arena, "branch");
	value_id v = graph_add_value(b, x->name, &x->type);

	v = sub_function(g, b, f, op, v);
	sub_ends(g, b, NULL, 0, &v, 1);
	return b;
}

/* y = f(x) becomes y = If(c > 0) { f(x) } else { -x }. */
static void
branch(struct generator *g, node_id id)
{
	struct graph *m = g->m.graph;
	const struct node f = *graph_node(m, id);
	const struct value *x = node_in(m, &f, 0);
	const struct type bit = {.kind = TYPE_TENSOR, .dtype = DT_BOOL};
	const struct attr attr[] = {
	    sub_attr(g, "then_branch", branch_of(g, &f, f.op, x)),
	    sub_attr(g, "else_branch", branch_of(g, &f, OP_NEG, x))};
	value_id c = make_node(&g->m, OP_GREATER,
	    (const value_id[]){make_input(&g->m, (const int64_t[]){0}),
	        make_scalar(&g->m, 0), VALUE_LAST},
	    NULL, 0);

	g->has[FORM_IF] = true;
	graph_value(m, c)->type = bit;
	become(g, graph_node(m, id), OP_IF, &c, 1, attr, 2);
}

/* y = f(x) becomes y = f(f(x)), or more often, by a Loop. */
static void
repeat(struct generator *g, node_id id)
{
	struct graph *m = g->m.graph, *sub = graph_new(g->m.arena, "body");
	const struct node f = *graph_node(m, id);
	const struct type bit = {.kind = TYPE_TENSOR, .dtype = DT_BOOL};
	const struct type index = {.kind = TYPE_TENSOR, .dtype = DT_INT64};
	const value_id in[] = {graph_add_value(sub, "i", &index),
	    graph_add_value(sub, "go", &bit),
	    graph_add_value(sub, "x", &node_in(m, &f, 0)->type)};
	const value_id out[] = {sub_function(g, sub, &f, OP_IDENTITY, in[1]),
	    sub_chain(g, sub, &f, in[2])};
	const value_id of[] = {
	    make_ints(&g->m, INTS(upto(g, 3))), VALUE_NONE, f.input[0]};
	struct attr attr;

	g->has[FORM_LOOP] = true;
	sub_ends(g, sub, in, 3, out, 2);
	attr = sub_attr(g, "body", sub);
	become(g, graph_node(m, id), OP_LOOP, of, 3, &attr, 1);
}

/* y = f(x) becomes a Scan over the first axis: y[i] = f(x[i]). */
static void
scan(struct generator *g, node_id id)
{
	struct graph *m = g->m.graph, *sub = graph_new(g->m.arena, "body");
	const struct node f = *graph_node(m, id);
	struct type line = node_in(m, &f, 0)->type;
	static const int64_t one = 1;
	struct attr attr[] = {{.name = "body"},
	    {.name = "num_scan_inputs", .kind = ATTR_INT, .n = 1, .ints = &one},
	    {.name = "scan_input_directions",
	        .kind = ATTR_INTS,
	        .n = 1,
	        .ints = &one},
	    {.name = "scan_output_directions",
	        .kind = ATTR_INTS,
	        .n = 1,
	        .ints = &one}};
	value_id x, y;

	line.rank--;
	line.dim++;
	x = graph_add_value(sub, "x", &line);
	y = sub_chain(g, sub, &f, x);
	g->has[FORM_SCAN] = true;
	sub_ends(g, sub, &x, 1, &y, 1);
	attr[0] = sub_attr(g, "body", sub);
	x = f.input[0];
	become(
	    g, graph_node(m, id), OP_SCAN, &x, 1, attr, one_in(g, 2) ? 4 : 2);
}

void
put_in_graph(struct generator *g, node_id id)
{
	const struct graph *m = g->m.graph;
	const struct node *n = graph_node(m, id);

	if (!is_function(m, n) || g->m.opset < 11)
		return;
	if (op_get(n->op)->fusion == FUSE_ELEMWISE
	    && node_in(m, n, 0)->type.rank > 1 && one_in(g, 3))
		scan(g, id);
	else if (one_in(g, 2))
		repeat(g, id);
	else
		branch(g, id);
}
