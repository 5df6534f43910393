#include "targets/byte_product.h"

#include <string.h>

#include "targets/integer.h"
#include "targets/need.h"
#include "targets/quantiser.h"

#define NEED why_need

static const struct node *
caught_node_of(const struct match *m, const struct graph *g, const char *name)
{
	const node_id id = match_node(m, name);

	return id == NODE_NONE ? NULL : graph_node(g, id);
}

static bool
is_plain_gemm(const struct node *n)
{
	return n->op == OP_MATMUL
	    || (attr_float_or(n, "alpha", 1) == 1
	        && attr_float_or(n, "beta", 1) == 1
	        && attr_int_or(n, "transA", 0) == 0);
}

static void
set_code(value_id *input, const struct quantiser *q)
{
	input[0] = q->scale;
	input[1] = q->zero;
}

static bool
read_weights(struct byte_product *p, const struct graph *g,
    const struct node *right, const struct node *product)
{
	const struct type *t = &graph_value(g, right->input[0])->type;
	struct quantiser w;

	p->by_output = attr_int_or(product, "transB", 0) != 0;
	p->input[3] = right->input[0];
	if (!quantiser_read(&w, g, right) || t->rank != 2
	    || !quantiser_is_of_axis(&w, right, t, p->by_output ? 0 : 1))
		return false;
	set_code(p->input + 4, &w);
	return true;
}

static bool
read_bias(struct byte_product *p, const struct graph *g,
    const struct node *bias, const struct quantiser *x,
    const struct node *right)
{
	const struct type *w = &graph_value(g, p->input[3])->type;
	struct quantiser q;

	if (!bias)
		return true;
	p->input[8] = bias->input[0];
	return quantiser_read(&q, g, right)
	    && quantiser_is_of_sums(g, bias, x, &q)
	    && type_elements(&graph_value(g, bias->input[0])->type, 0)
	    == (size_t)w->dim[p->by_output ? 0 : 1];
}

/* A bias of one row, a scale for each side's codes. */
static bool
read_between(
    struct byte_product *p, const struct match *m, const struct graph *g)
{
	const struct node *to = graph_node(g, m->root);
	const struct node *product = caught_node_of(m, g, "product");
	const struct node *left = caught_node_of(m, g, "left");
	const struct node *right = caught_node_of(m, g, "right");
	const bool is_rectified = to->input[0] != product->output[0];
	struct quantiser x, y;

	if (!is_plain_gemm(product) || !quantiser_read(&x, g, left)
	    || !quantiser_read(&y, g, to) || !quantiser_is_plain(&x)
	    || !quantiser_is_plain(&y)
	    || (is_rectified && !quantiser_bounds_below(&y)))
		return false;
	p->input[0] = left->input[0];
	set_code(p->input + 1, &x);
	set_code(p->input + 6, &y);
	p->node = (struct node){.op = OP_QLINEARMATMUL,
	    .op_type = "QLinearMatMul",
	    .domain = "",
	    .name = product->name,
	    .noutputs = 1,
	    .output = to->output};
	return read_weights(p, g, right, product)
	    && read_bias(p, g, caught_node_of(m, g, "bias"), &x, right);
}

bool
byte_product_read(
    struct byte_product *p, const struct match *m, const struct graph *g)
{
	const struct node *n = graph_node(g, m->root);
	bool ok = true;

	*p = (struct byte_product){.by_output = false};
	for (uint32_t i = 0; i < BYTE_PRODUCT_INPUTS; i++)
		p->input[i] = VALUE_NONE;
	if (n->op == OP_QLINEARMATMUL) {
		p->node = *n;
		memcpy(p->input, n->input,
		    (n->ninputs < 8 ? n->ninputs : 8) * sizeof *p->input);
	} else {
		ok = read_between(p, m, g);
	}
	p->node.input = p->input;
	p->node.ninputs = BYTE_PRODUCT_INPUTS;
	return ok;
}

bool
accept_byte_product(const struct match_in *m, struct why *why)
{
	struct byte_product p;
	const bool ok = byte_product_read(&p, m->match, m->graph);

	return NEED(why, ok, "product",
	           "one scale for either side, a bias of the sums' own, no "
	           "factors",
	           "%s", ok ? "that" : "another")
	    && need_integer_of(m, why, &p.node, p.by_output);
}
