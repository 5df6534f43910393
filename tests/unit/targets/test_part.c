/* One model for nodes of several opsets: of the oldest in which all say the same. */
#include "targets/part.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/onnx_read.h"
#include "targets/host/host.h"
#include "tests/support/found.h"

/* Write the graph at hand; the opset that was imported, 0 where there is none. */
static uint32_t
written_opset_of(const struct graph *g)
{
	struct err err = {.kind = ERR_NONE};
	char path[] = "/tmp/part.XXXXXX";
	const struct onnx_options options = {0};
	struct model model;
	uint32_t version = 0;
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	assert_non_null(f);
	if (part_write(f, g, &err)) {
		fclose(f);
		assert_true(onnx_read(&model, path, &options, &arena, &err));
		version = model.opset[0].version;
		model_close(&model);
	} else {
		fclose(f);
		assert_int_equal(err.kind, ERR_UNSUPPORTED);
	}
	remove(path);
	return version;
}

static uint32_t
written_opset(void)
{
	return written_opset_of(m.graph);
}

static void
two_nodes(enum op a, uint32_t opset_a, enum op b, uint32_t opset_b)
{
	value_id x = make_input(&m, DIMS(1, 2, 4, 4));

	m.opset = opset_a;
	x = make_node(&m, a, (const value_id[]){x, VALUE_LAST}, NULL, 0);
	m.opset = opset_b;
	x = make_node(&m, b, (const value_id[]){x, VALUE_LAST}, NULL, 0);
	make_output(&m, x);
	make_end(&m);
}

/* What was written out in a newer opset than the model's. */
static void
test_the_oldest_that_holds(void **state)
{
	(void)state;
	two_nodes(OP_RELU, 17, OP_IDENTITY, 24);
	assert_int_equal(written_opset(), 17);
}

static void
test_one_is_as_it_was(void **state)
{
	(void)state;
	two_nodes(OP_RELU, 22, OP_SIGMOID, 22);
	assert_int_equal(written_opset(), 22);
}

/* Softmax was of all dimensions behind its axis until 13. */
static void
test_other_meanings_do_not_fit(void **state)
{
	(void)state;
	two_nodes(OP_SOFTMAX, 11, OP_SOFTMAX, 13);
	assert_int_equal(written_opset(), 0);
}

/* Axes are an attribute until 17, and an input from 18 on: what was written out in a
 * newer opset fits beside what the model has. */
static void
test_reductions_of_two_kinds(void **state)
{
	const struct attr axes[] = {ATTR_OF_INTS("axes", 1)};
	const struct node *n;
	struct candidate c = {.nnodes = 2, .ninputs = 1, .noutputs = 1};
	struct graph *part;
	value_id x, last;

	(void)state;
	x = make_input(&m, DIMS(1, 2, 4, 4));
	m.opset = 17;
	last = MAKE_WITH(&m, REDUCEPROD, axes, x);
	m.opset = 24;
	last = MAKE(&m, REDUCEL1, last, make_ints(&m, INTS(-1, 2)));
	make_output(&m, last);
	make_end(&m);
	assert_int_equal(written_opset(), 0);
	c.node = (const node_id[]){0, 1};
	c.input = &(struct port){.value = x};
	c.output = &(struct port){.value = last};
	part = part_of(m.graph, &c, &arena);
	assert_int_equal(written_opset_of(part), 17);
	n = graph_node(part, 1);
	assert_int_equal(n->ninputs, 1);
	assert_int_equal(node_attr(n, "axes")->n, 2);
	assert_int_equal(node_attr(n, "axes")->ints[0], -1);
	assert_int_equal(node_attr(n, "axes")->ints[1], 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_the_oldest_that_holds),
	    TEST(test_one_is_as_it_was),
	    TEST(test_other_meanings_do_not_fit),
	    TEST(test_reductions_of_two_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
