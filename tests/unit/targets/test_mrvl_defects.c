/* The defects of upstream's partitioner and code generator, by number (the table is
 * in targets/mrvl/README.md): what is done instead, and what
 * compat=legacy-v0.19 does. */
#include <stdlib.h>

#include "targets/mrvl/build.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/legacy.h"
#include "targets/mrvl/rules.h"
#include "tests/support/found.h"
#include "tests/support/written.h"

#define COMPAT "mrvl:compat=legacy-v0.19"

static struct legacy legacy;
static struct err err;

static int
setup_defect(void **state)
{
	err = (struct err){.kind = ERR_NONE};
	return setup(state);
}

/* Why a plan's files are not written with a composite of the rule in them. */
static const char *
refusal_in_files(enum mrvl_rule rule)
{
	struct layer l = {.refused = NULL};

	for (uint32_t i = 0; i < found.n && !l.refused; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target == 0 && c->rule == rule)
			mrvl_layer_of(&l, m.graph, rule, c->match, &arena);
	}
	return l.refused ? l.refused : "";
}

/* Upstream's region with a number. */
static const struct layers *
upstream(uint32_t number)
{
	make_end(&m);
	if (!mrvl_legacy(&legacy, m.graph, &arena, &err))
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < legacy.nregions; i++)
		if (legacy.region[i].number == number)
			return &legacy.region[i];
	fail_msg("no region %u of %u", number, legacy.nregions);
	return NULL;
}

static const struct layer *
layer_of(const struct layers *l, enum layer_kind kind)
{
	for (uint32_t i = 0; i < l->nlayers; i++)
		if (l->layer[i].kind == kind)
			return &l->layer[i];
	fail_msg("no layer of kind %d", (int)kind);
	return NULL;
}

static uint32_t
times(const char *word, const char *text)
{
	uint32_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static value_id
conv(value_id x, int64_t in, int64_t out)
{
	value_id w = make_constant(&m, DIMS(out, in, 1, 1), -1, 1);

	return MAKE(&m, CONV, x, w);
}

static value_id
image(void)
{
	return make_input(&m, DIMS(1, 4, 5, 5));
}

/* ---- by number ---- */

/* Region 1 has a layer 1: names that upstream gives and takes away at once. */
static void
test_defect_1_constants_are_renamed_without_collision(void **state)
{
	value_id x = make_input(&m, DIMS(1, 4));
	value_id w = make_constant(&m, DIMS(4, 4), -1, 1);
	value_id v = make_constant(&m, DIMS(4, 4), -1, 1);
	value_id u = make_constant(&m, DIMS(4, 4), -1, 1);
	value_id b = make_constant(&m, DIMS(4), -1, 1);
	value_id y = MAKE(&m, SIGMOID, MAKE(&m, GEMM, x, w));
	const char *consts;

	(void)state;
	make_output(&m, MAKE(&m, GEMM, MAKE(&m, GEMM, y, v), u, b));
	make_end(&m);
	assert_true(mrvl_legacy(&legacy, m.graph, &arena, &err));
	assert_int_equal(legacy.nregions, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct layers *l = &legacy.region[i];

		consts = layers_text(mrvl_write_consts, l, &arena);
		assert_int_equal(
		    times("data_base64", consts), l->nlayers == 2 ? 3 : 1);
		assert_int_equal(
		    times("\"tvmgen_mrvl_main_0_const_0\"", consts), 1);
		assert_int_equal(
		    times("\"tvmgen_mrvl_main_1_const_0\"", consts),
		    l->nlayers == 2);
		assert_int_equal(
		    times("\"tvmgen_mrvl_main_1_const_1\"", consts),
		    l->nlayers == 2);
	}
}

static void
test_defect_2_a_shared_constant_is_written_for_each_use(void **state)
{
	value_id w = make_constant(&m, DIMS(4, 4, 1, 1), -1, 1);
	const char *consts;

	(void)state;
	make_output(&m, MAKE(&m, CONV, MAKE(&m, CONV, image(), w), w));
	consts = layers_text(mrvl_write_consts, upstream(0), &arena);
	assert_int_equal(times("data_base64", consts), 2);
	assert_int_equal(times("\"tvmgen_mrvl_main_1_const_0\"", consts), 1);
	assert_int_equal(times("\"tvmgen_mrvl_main_2_const_0\"", consts), 1);
}

static void
test_defect_3_sum_with_a_constant(void **state)
{
	value_id c = make_constant(&m, DIMS(1, 4, 5, 5), -1, 1);
	value_id y = MAKE(&m, RELU, conv(image(), 4, 4));

	(void)state;
	make_output(&m, MAKE(&m, ADD, y, c));
	find("mrvl");
	assert_true(refused(RULE_SUM, "operands_not_constant"));
	assert_int_equal(most_nodes(RULE_SUM), 0);
	find(COMPAT);
	assert_int_equal(most_nodes(RULE_SUM), 1);
	assert_string_equal(
	    refusal_in_files(RULE_SUM), "sum with constant operand");
	assert_string_equal(
	    legacy_refusal(upstream(0)), "sum with constant operand");
}

static void
test_defect_4_a_constant_first_is_a_bias_too(void **state)
{
	value_id b = make_constant(&m, DIMS(4, 1, 1), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, ADD, b, conv(image(), 4, 4)));
	find("mrvl");
	assert_int_equal(most_nodes(RULE_CONV), 2);
	assert_false(try_to_find(COMPAT, &err));
	assert_int_equal(err.kind, ERR_UNSUPPORTED);
}

/* Behind another convolution: a model's input is padded before its layout is
 * changed, and not fused. */
static value_id
padded_conv(float value, const struct attr *own)
{
	value_id p = make_ints(&m, INTS(0, 0, 1, 1, 0, 0, 1, 1));
	value_id c = conv(image(), 4, 4);
	value_id y = MAKE(&m, PAD, c, p, make_scalar(&m, value));
	value_id w = make_constant(&m, DIMS(4, 4, 3, 3), -1, 1);

	return make_node(&m, OP_CONV, (const value_id[]){y, w, VALUE_LAST}, own,
	    own ? 1 : 0);
}

static void
test_defect_5_the_value_of_a_pad_is_kept(void **state)
{
	const struct layers *l;

	(void)state;
	make_output(&m, padded_conv(5, NULL));
	find("mrvl");
	assert_true(refused(RULE_CONV, "pad_value"));
	assert_int_equal(most_nodes(RULE_CONV), 1);
	find(COMPAT); /* drops it */
	assert_int_equal(most_nodes(RULE_CONV), 2);
	l = upstream(0);
	assert_int_equal(l->layer[l->nlayers - 1].pad[0], 1);
	assert_null(
	    strstr(layers_text(mrvl_write_nodes, l, &arena), "pad_value"));
}

static void
test_defect_5_two_paddings_add_up(void **state)
{
	const struct attr own[] = {ATTR_OF_INTS("pads", 2, 2, 2, 2)};
	const struct layers *l;

	(void)state;
	make_output(&m, padded_conv(0, own));
	find("mrvl");
	assert_true(refused(RULE_CONV, "one_padding"));
	assert_int_equal(most_nodes(RULE_CONV), 1);
	find(COMPAT); /* 1 instead of 1 + 2 */
	assert_int_equal(most_nodes(RULE_CONV), 2);
	l = upstream(0);
	assert_int_equal(l->layer[l->nlayers - 1].pad[0], 1);
}

static void
test_defect_6_computed_weights_stay_outside(void **state)
{
	value_id w = make_input(&m, DIMS(8, 4, 3, 3));
	const struct layers *l;
	const char *nodes;

	(void)state;
	make_output(&m, MAKE(&m, CONV, image(), w));
	find("mrvl");
	assert_int_equal(most_nodes(RULE_CONV), 0);
	/* a bare layer, and the batch is that of the weights */
	l = upstream(0);
	assert_string_equal(layer_of(l, LAYER_BARE)->bare, "nn.conv2d");
	nodes = layers_text(mrvl_write_nodes, l, &arena);
	assert_non_null(strstr(nodes, "\"batch_size\": \"8\""));
	find(COMPAT); /* no composite: nothing to choose */
	assert_int_equal(most_nodes(RULE_CONV), 0);
}

/* Whatever the layout outside, channels are the kernel's first axis. */
static void
test_defect_7_channels_last_model(void **state)
{
	const struct attr perm[] = {ATTR_OF_INTS("perm", 0, 3, 1, 2)};
	value_id x = make_input(&m, DIMS(1, 5, 5, 4));
	const struct layer *l;

	(void)state;
	make_output(&m, conv(MAKE_WITH(&m, TRANSPOSE, perm, x), 4, 6));
	find("mrvl");
	assert_int_equal(most_nodes(RULE_CONV), 1);
	l = layer_of(upstream(0), LAYER_CONV);
	assert_int_equal(l->channels, 6);
	assert_int_equal(l->in[0].dim[3], 4);
	assert_int_equal(l->out.dim[3], 6);
}

static void
test_defect_8_reshape_of_rank_3(void **state)
{
	value_id x = make_input(&m, DIMS(1, 2, 4));
	value_id y = MAKE(&m, RESHAPE, x, make_ints(&m, INTS(1, 8)));
	value_id w = make_constant(&m, DIMS(8, 3), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, GEMM, y, w));
	find("mrvl");
	assert_true(refused(RULE_RESHAPE, "input_rank_2_or_4"));
	assert_int_equal(most_nodes(RULE_RESHAPE), 0);
	assert_string_equal(legacy_refusal(upstream(0)),
	    "reshape of an input of rank other than 2 or 4");
	find(COMPAT);
	assert_int_equal(most_nodes(RULE_RESHAPE), 0); /* in plans */
}

static void
test_defect_8_sum_of_rank_3(void **state)
{
	value_id x = make_input(&m, DIMS(1, 2, 4));
	value_id y = make_input(&m, DIMS(1, 2, 4));
	value_id w = make_constant(&m, DIMS(4, 3), -1, 1);
	value_id sum = MAKE(&m, ADD, x, y);
	const char *nodes;

	(void)state;
	make_output(&m,
	    MAKE(&m, GEMM, MAKE(&m, SQUEEZE, sum, make_ints(&m, INTS(0))), w));
	find("mrvl");
	assert_true(refused(RULE_SUM, "data_rank_4"));
	assert_int_equal(most_nodes(RULE_SUM), 0);
	/* [1,2,4,1], called NHWC */
	nodes = layers_text(mrvl_write_nodes, upstream(0), &arena);
	assert_non_null(strstr(nodes, "n0_Sum2D"));
	assert_non_null(strstr(
	    nodes, "\"data_layout_shape_1\": [\"1\", \"2\", \"4\", \"1\"]"));
	find(COMPAT);
	assert_int_equal(most_nodes(RULE_SUM), 0); /* in plans */
}

static void
test_defect_9_dense_of_batch_9(void **state)
{
	value_id w = make_constant(&m, DIMS(4, 3), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, GEMM, make_input(&m, DIMS(9, 4)), w));
	find("mrvl");
	assert_true(refused(RULE_FC, "batch_at_most_8"));
	assert_int_equal(most_nodes(RULE_FC), 0);
	find(COMPAT);
	assert_int_equal(most_nodes(RULE_FC), 1);
	assert_string_equal(refusal_in_files(RULE_FC),
	    "the compiler takes batches of at most 8");
	assert_string_equal(legacy_refusal(upstream(0)),
	    "the compiler takes batches of at most 8");
}

static void
test_defect_10_concat_of_one_tensor(void **state)
{
	const struct attr channels[] = {ATTR_OF_INT("axis", 1)};

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONCAT, channels, conv(image(), 4, 4)));
	find("mrvl");
	assert_true(refused(RULE_CONCAT, "at_least_2_operands"));
	assert_int_equal(most_nodes(RULE_CONCAT), 0);
	assert_int_equal(most_nodes(RULE_CONV), 1);
	assert_false(try_to_find(COMPAT, &err));
	assert_int_equal(err.kind, ERR_UNSUPPORTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_defect, teardown)
	    TEST(test_defect_1_constants_are_renamed_without_collision),
	    TEST(test_defect_2_a_shared_constant_is_written_for_each_use),
	    TEST(test_defect_3_sum_with_a_constant),
	    TEST(test_defect_4_a_constant_first_is_a_bias_too),
	    TEST(test_defect_5_the_value_of_a_pad_is_kept),
	    TEST(test_defect_5_two_paddings_add_up),
	    TEST(test_defect_6_computed_weights_stay_outside),
	    TEST(test_defect_7_channels_last_model),
	    TEST(test_defect_8_reshape_of_rank_3),
	    TEST(test_defect_8_sum_of_rank_3),
	    TEST(test_defect_9_dense_of_batch_9),
	    TEST(test_defect_10_concat_of_one_tensor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
