#include "targets/native/attention_read.h"

#include <math.h>

/* Where a result's place is told. */
#define PLACE_OF_RESULT 3

struct attention_node
attention_of(const struct match *m, const struct graph *g)
{
	const struct idiom_match *found = match_idiom(m, 0);
	struct attention_node n = {
	    match_as_node(m, g), match_graph(m, g), NULL};

	if (found && found->over) {
		n.node = found->over;
		n.place = found->place;
	}
	return n;
}

value_id
attention_input(const struct attention_node *n, uint32_t i)
{
	return n->place && i <= IN_VALUES ? n->place[i].value
	                                  : node_input(n->node, i);
}

value_id
attention_output(const struct attention_node *n, uint32_t i)
{
	if (n->place && i == OUT_RESULT)
		return n->place[PLACE_OF_RESULT].value;
	return i < n->node->noutputs ? n->node->output[i] : VALUE_NONE;
}

/* Of queries, keys, values and, behind those, the result. */
static bool
view_operand(struct view *v, const struct attention_node *n, uint32_t i)
{
	const value_id id =
	    i == PLACE_OF_RESULT ? n->node->output[0] : n->node->input[i];

	if (!n->place)
		return view_of(v, &graph_value(n->graph, id)->type);
	*v = n->place[i].view;
	return true;
}

/* How the heads of an operand lie; false: it is no such tensor. */
static bool
read_heads(const struct attention_node *n, uint32_t i, int64_t heads,
    struct attention_operand *o, int64_t dim[4])
{
	struct view v;
	bool flat;

	if (!view_operand(&v, n, i) || v.rank < 3 || v.rank > 4)
		return false;
	flat = v.rank == 3;
	heads = flat ? heads : v.dim[1];
	if (heads < 1 || (flat && v.dim[2] % heads != 0)
	    || (v.step[v.rank - 1] != 1 && v.dim[v.rank - 1] != 1))
		return false;
	dim[0] = v.dim[0];
	dim[1] = heads;
	dim[2] = v.dim[v.rank - 2];
	dim[3] = flat ? v.dim[2] / heads : v.dim[3];
	*o = (struct attention_operand){
	    .offset = (size_t)v.offset,
	    .batch = (size_t)v.step[0],
	    .head = (size_t)(flat ? dim[3] : v.step[1]),
	    .row = (size_t)v.step[v.rank - 2],
	};
	return true;
}

/* Keys or values of the past, [batch, heads, past, size]: how many, -1: they are not
 * as the new ones, whose dimensions are `now`. */
static int64_t
read_past(const struct attention_node *n, uint32_t i, const int64_t now[4],
    struct attention_operand *o)
{
	const value_id id = node_input(n->node, i);
	struct view v;

	if (id == VALUE_NONE)
		return 0;
	if (!view_of(&v, &graph_value(n->graph, id)->type) || v.rank != 4
	    || v.dim[0] != now[0] || v.dim[1] != now[1] || v.dim[3] != now[3])
		return -1;
	*o = (struct attention_operand){
	    .batch = (size_t)v.step[0],
	    .head = (size_t)v.step[1],
	    .row = (size_t)v.step[2],
	};
	return v.dim[2];
}

bool
attention_read(struct attention_form *a, const struct attention_node *of)
{
	const struct node *n = of->node;
	const int64_t hq = attr_int_or(n, "q_num_heads", 0);
	const int64_t hk = attr_int_or(n, "kv_num_heads", 0);
	int64_t q[4], k[4], v[4], past;

	*a = (struct attention_form){
	    .causal = attr_int_or(n, "is_causal", 0) != 0};
	if (!read_heads(of, IN_QUERIES, hq, &a->q, q)
	    || !read_heads(of, IN_KEYS, hk, &a->k, k)
	    || !read_heads(of, IN_VALUES, hk, &a->v, v) || q[0] != k[0]
	    || q[0] != v[0] || k[1] != v[1] || q[1] % k[1] || k[2] != v[2]
	    || q[3] != k[3] || k[2] < 1)
		return false;
	past = read_past(of, IN_PAST_KEYS, k, &a->past_k);
	if (past < 0 || past != read_past(of, IN_PAST_VALUES, v, &a->past_v))
		return false;
	a->batch = (size_t)q[0];
	a->heads = (size_t)q[1];
	a->sharing = (size_t)(q[1] / k[1]);
	a->queries = (size_t)q[2];
	a->past = (size_t)past;
	a->keys = (size_t)(past + k[2]);
	a->size = (size_t)q[3];
	a->value_size = (size_t)v[3];
	a->scale = node_attr(n, "scale") ? attr_float_or(n, "scale", 0)
	                                 : 1 / sqrtf((float)a->size);
	return read_heads(of, PLACE_OF_RESULT, (int64_t)a->heads, &a->y, v);
}
