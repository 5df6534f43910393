/* Which larger parts of a model plug-ins are offered. */
#include "targets/plugin/regions.h"

#include "targets/candidates.h"
#include "tests/support/found.h"

static struct node_sets sets;

static void
offer_for(uint32_t compile_ms, struct bitset taken, struct bitset rare)
{
	struct uses u = graph_uses(m.graph, &arena);

	sets = (struct node_sets){.n = 0};
	regions_offer(&sets,
	    &(struct regions_of){m.graph, &u, taken, rare, compile_ms}, &arena);
	for (uint32_t i = 0; i < sets.n; i++) {
		const struct node_set *s = &sets.set[i];

		assert_true(s->n > 1 || m.graph->nnodes == 1);
		for (uint32_t k = 0; k < s->n; k++)
			assert_true(bitset_has(taken, s->node[k])
			    && (k == 0 || s->node[k] > s->node[k - 1]));
		for (uint32_t k = 0; k < i; k++)
			assert_false(sets.set[k].n == s->n
			    && memcmp(sets.set[k].node, s->node,
			           s->n * sizeof *s->node)
			        == 0);
	}
}

static void
offer(struct bitset taken, struct bitset rare)
{
	offer_for(0, taken, rare);
}

static bool
is_offered(uint32_t n, const node_id *node)
{
	for (uint32_t i = 0; i < sets.n; i++)
		if (sets.set[i].n == n
		    && memcmp(sets.set[i].node, node, n * sizeof *node) == 0)
			return true;
	return false;
}

static struct bitset
all_but(node_id except)
{
	struct bitset s = bitset_new(&arena, m.graph->nnodes);

	for (node_id id = 0; id < m.graph->nnodes; id++)
		if (id != except)
			bitset_add(s, id);
	return s;
}

static void
chain(uint32_t n)
{
	value_id x = make_input(&m, DIMS(1, 2, 4, 4));

	for (uint32_t i = 0; i < n; i++)
		x = MAKE(&m, RELU, x);
	make_output(&m, x);
	make_end(&m);
}

static void
test_whole_and_stretches(void **state)
{
	(void)state;
	chain(32);
	offer(all_but(NODE_NONE), bitset_new(&arena, 32));
	assert_int_equal(sets.n, 36); /* of 8 pieces: whole included */
	assert_int_equal(sets.set[0].n, 32);
}

/* A single node is for rules, but where it is the model. */
static void
test_whole_of_one(void **state)
{
	(void)state;
	chain(1);
	offer(all_but(NODE_NONE), bitset_new(&arena, 1));
	assert_int_equal(sets.n, 1);
	offer(all_but(0), bitset_new(&arena, 1));
	assert_int_equal(sets.n, 0);
}

/* Four pieces where each takes long to compile. */
static void
test_slow_compilers_are_asked_less(void **state)
{
	(void)state;
	chain(32);
	offer_for(300, all_but(NODE_NONE), bitset_new(&arena, 32));
	assert_int_equal(sets.n, 10);
	assert_int_equal(sets.set[0].n, 32);
}

/* So do weights of more than a hundred megabytes. */
static void
test_large_models_are_asked_less(void **state)
{
	static const float one = 1;
	static const int64_t many = 25600001, few = 1;
	const struct tensor large = tensor_fill(DT_FLOAT, 1, &many, &one);
	const struct tensor small = tensor_fill(DT_FLOAT, 1, &few, &one);

	(void)state;
	chain(32);
	graph_add_constant(m.graph, "small", &small);
	offer_for(1, all_but(NODE_NONE), bitset_new(&arena, 32));
	assert_int_equal(sets.n, 36);
	graph_add_constant(m.graph, "large", &large);
	offer_for(1, all_but(NODE_NONE), bitset_new(&arena, 32));
	assert_int_equal(sets.n, 10);
}

/* What it does not take cuts the rest in two. */
static void
test_maximal(void **state)
{
	(void)state;
	chain(5);
	offer(all_but(2), bitset_new(&arena, 5));
	assert_true(is_offered(2, (const node_id[]){0, 1}));
	assert_true(is_offered(2, (const node_id[]){3, 4}));
}

/* A way around a node that is not taken must not be closed to a cycle. */
static void
test_ways_around(void **state)
{
	value_id x, y, z;

	(void)state;
	x = MAKE(&m, RELU, make_input(&m, DIMS(1, 2, 4, 4))); /* 0 */
	y = MAKE(&m, SIGMOID, x); /* 1, not taken */
	z = MAKE(&m, RELU, x); /* 2 */
	make_output(&m, MAKE(&m, RELU, MAKE(&m, ADD, y, z))); /* 3, 4 */
	make_end(&m);
	offer(all_but(1), bitset_new(&arena, 5));
	assert_true(is_offered(2, (const node_id[]){0, 2}));
	assert_true(is_offered(2, (const node_id[]){3, 4}));
}

/* Where only the host has kernels. */
static void
test_gaps(void **state)
{
	struct bitset rare;

	(void)state;
	chain(9);
	rare = bitset_new(&arena, 9);
	bitset_add(rare, 0);
	bitset_add(rare, 4);
	bitset_add(rare, 5);
	offer(all_but(NODE_NONE), rare);
	assert_true(is_offered(2, (const node_id[]){4, 5}));
}

/* A gap at 8 bits reaches up to where values are floats again. */
static void
test_gaps_grow_to_floats(void **state)
{
	struct bitset rare;
	value_id x, scale;

	(void)state;
	x = MAKE(&m, RELU, make_input(&m, DIMS(1, 2, 4, 4))); /* 0 */
	scale = make_scalar(&m, 0.5f);
	x = MAKE(&m, QUANTIZELINEAR, x, scale); /* 1 */
	x = MAKE(&m, IDENTITY, x); /* 2 */
	x = MAKE(&m, DEQUANTIZELINEAR, x, scale); /* 3 */
	make_output(&m, MAKE(&m, RELU, x)); /* 4 */
	make_end(&m);
	rare = bitset_new(&arena, 5);
	bitset_add(rare, 2);
	offer(all_but(NODE_NONE), rare);
	assert_true(is_offered(3, (const node_id[]){1, 2, 3}));
	offer(all_but(1), rare);
	assert_true(is_offered(2, (const node_id[]){2, 3}));
	assert_false(is_offered(3, (const node_id[]){1, 2, 3}));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_whole_and_stretches),
	    TEST(test_whole_of_one),
	    TEST(test_slow_compilers_are_asked_less),
	    TEST(test_large_models_are_asked_less),
	    TEST(test_maximal),
	    TEST(test_ways_around),
	    TEST(test_gaps),
	    TEST(test_gaps_grow_to_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
