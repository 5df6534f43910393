/* Graph: building, uses, sorting, cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/graph.h"

static value_id
add(struct graph *g, value_id a, value_id b)
{
	value_id *io = arena_new(g->arena, value_id, 3);
	struct node n = {
	    .op = OP_ADD,
	    .op_type = "Add",
	    .domain = "",
	    .name = "",
	    .ninputs = 2,
	    .noutputs = 1,
	    .input = io,
	    .output = io + 2,
	};

	io[0] = a;
	io[1] = b;
	io[2] = graph_add_value(g, "sum", NULL);
	graph_add_node(g, &n);
	return io[2];
}

static void
uses_count_a_consumer_once(void **state)
{
	struct arena a;
	struct graph *g;
	struct uses u;
	value_id x, y;

	(void)state;
	arena_init(&a);
	g = graph_new(&a, "g");
	x = graph_add_value(g, "x", NULL);
	y = add(g, x, x);
	add(g, y, x);
	u = graph_uses(g, &a);
	assert_int_equal(u.start[x + 1] - u.start[x], 2);
	assert_int_equal(u.user[u.start[x]], 0);
	assert_int_equal(u.user[u.start[x] + 1], 1);
	assert_int_equal(u.start[y + 1] - u.start[y], 1);
	graph_verify(g);
	arena_release(&a);
}

static void
sort_is_stable_and_renumbers(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct graph *g;
	value_id x, y, z;

	(void)state;
	arena_init(&a);
	g = graph_new(&a, "g");
	x = graph_add_value(g, "x", NULL);
	y = add(g, x, x);
	z = add(g, x, x);
	g->node[0].input[1] = z; /* node 0 now needs node 1 */
	assert_true(graph_sort(g, &err));
	graph_verify(g);
	assert_int_equal(graph_value(g, z)->producer, 0);
	assert_int_equal(graph_value(g, y)->producer, 1);
	arena_release(&a);
}

static void
a_cycle_is_refused_by_name(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct graph *g;
	value_id x, y;

	(void)state;
	arena_init(&a);
	g = graph_new(&a, "g");
	x = graph_add_value(g, "x", NULL);
	y = add(g, x, x);
	g->node[0].input[0] = y;
	assert_false(graph_sort(g, &err));
	assert_int_equal(err.kind, ERR_INPUT);
	assert_string_equal(err.text, "node 'Add_0' (#0) is on a cycle");
	arena_release(&a);
}

static void
operators_are_found_by_type(void **state)
{
	static const char *const domain[] = {
	    "", "ai.onnx.ml", "com.microsoft", "com.example"};

	(void)state;
	for (enum op op = OP_CUSTOM + 1; op < NOP; op++) {
		const char *type = op_get(op)->type;
		const uint32_t of = op < OP_SVMCLASSIFIER ? 0
		    : op < OP_DYNAMICQUANTIZELSTM         ? 1
		                                          : 2;

		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(
			    op_find_in(domain[i], type), i == of ? op : 0);
		if (of != 0)
			continue;
		assert_int_equal(op_find(type, strlen(type)), op);
		assert_int_equal(op_find(type, strlen(type) - 1) == op, 0);
	}
	assert_int_equal(op_find("Conv2", 5), OP_CUSTOM);
	assert_int_equal(op_find("", 0), OP_CUSTOM);
}

/* Both kinds of attributes that hold graphs, empty lists, and others between. */
static void
bodies_are_those_of_all_attributes(void **state)
{
	struct arena a;
	struct graph *body[3];
	const int64_t axis = 1;
	struct attr attr[] = {
	    {"axis", ATTR_INT, 1, {.ints = &axis}},
	    {"body", ATTR_GRAPH, 1, {.graphs = &body[0]}},
	    {"none", ATTR_GRAPHS, 0, {.graphs = NULL}},
	    {"cases", ATTR_GRAPHS, 2, {.graphs = &body[1]}},
	};
	struct node n = {.op = OP_IF, .nattrs = 4, .attr = attr};
	struct node inner = {
	    .op = OP_CUSTOM, .op_type = "Own", .domain = "own"};

	(void)state;
	arena_init(&a);
	for (uint32_t i = 0; i < 3; i++)
		body[i] = graph_new(&a, "body");
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(node_body(&n, i), body[i]);
	assert_null(node_body(&n, 3));
	n.nattrs = 1;
	assert_null(node_body(&n, 0));
	n.nattrs = 4;
	assert_false(node_is_opaque(&n));
	graph_add_node(body[2], &inner);
	assert_true(node_is_opaque(&n));
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bodies_are_those_of_all_attributes),
	    cmocka_unit_test(uses_count_a_consumer_once),
	    cmocka_unit_test(sort_is_stable_and_renumbers),
	    cmocka_unit_test(a_cycle_is_refused_by_name),
	    cmocka_unit_test(operators_are_found_by_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
