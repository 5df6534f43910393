/* The Marvell backend: attributes, predicates (each deviation from upstream by
 * name), prices, and both ways to a region's files. */
#include <stdlib.h>

#include "targets/mrvl/build.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/cost.h"
#include "targets/mrvl/legacy.h"
#include "targets/mrvl/memory.h"
#include "targets/mrvl/rules.h"
#include "targets/mrvl/space.h"
#include "tests/support/found.h"
#include "tests/support/written.h"

/* ---- attributes ---- */

static const struct mrvl *
opened(const char *text, struct err *err)
{
	if (!mix_open(&mix, &text, 1, &arena, err))
		return NULL;
	return mrvl_of(&mix.target[0]);
}

static void
test_attributes(void **state)
{
	struct err err = {.kind = ERR_NONE};
	const struct mrvl *t =
	    opened("mrvl:num_tiles=4,wb_pin_ocm=1,quantize=int8", &err);

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->num_tiles, 4);
	assert_true(t->pin && t->int8 && !t->hw && !t->legacy);
	assert_string_equal(mrvl_compiler_options(t, &arena),
	    "-arch=mlip -quantize=int8 -wb_pin_ocm=1 -num_tiles=4");
}

static void
test_mattr(void **state)
{
	struct err err = {.kind = ERR_NONE};
	const struct mrvl *t =
	    opened("mrvl:mattr=hw -quantize=fp16 -wb_pin_ocm=1", &err);

	(void)state;
	assert_non_null(t);
	assert_true(t->hw && t->pin);
	/* the blank that the mode leaves behind is upstream's */
	assert_string_equal(mrvl_compiler_options(t, &arena),
	    " -quantize=fp16 -wb_pin_ocm=1 -arch=mlip -num_tiles=8");
}

static void
test_attributes_refused_by_name(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"mrvl:tiles=4", "unknown option 'tiles'"},
	    {"mrvl:num_tiles=3", "num_tiles is '3'"},
	    {"mrvl:num_tiles=4,num_tiles=8", "given twice"},
	    {"mrvl:num_tiles", "not key=value"},
	    {"mrvl:mattr=sim hw", "contradict"},
	    {"mrvl:mattr=wb_pin_ocm=1", "'wb_pin_ocm=1'"},
	    {"mrvl:mattr=-quantize=fp16,quantize=int8", "'quantize'"},
	    {"mrvl:params=/no/such/file", "/no/such/file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = {.kind = ERR_NONE};

		assert_null(opened(bad[i].text, &err));
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s': %s", bad[i].text, err.text);
	}
}

/* ---- predicates ---- */

static value_id
conv(value_id x, int64_t in, int64_t out)
{
	value_id w = make_constant(&m, DIMS(out, in, 1, 1), -1, 1);

	return MAKE(&m, CONV, x, w);
}

static void
test_batch_9_is_refused(void **state)
{
	(void)state;
	make_output(&m, conv(make_input(&m, DIMS(9, 4, 5, 5)), 4, 4));
	find("mrvl");
	assert_true(refused(RULE_CONV, "batch_at_most_8"));
	assert_null(largest(RULE_CONV));
}

static void
test_every_reason_of_a_grouped_batch(void **state)
{
	const struct attr groups[] = {ATTR_OF_INT("group", 2)};
	value_id x = make_input(&m, DIMS(9, 4, 5, 5));
	value_id w = make_constant(&m, DIMS(4, 2, 1, 1), -1, 1);

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONV, groups, x, w));
	find("mrvl");
	assert_true(refused(RULE_CONV, "batch_at_most_8"));
	assert_true(refused(RULE_CONV, "groups_1_or_depthwise"));
}

static void
test_broadcast_of_sum(void **state)
{
	value_id x = make_input(&m, DIMS(1, 4, 5, 5));

	(void)state;
	make_output(&m, MAKE(&m, ADD, x, MAKE(&m, GLOBALAVERAGEPOOL, x)));
	find("mrvl");
	assert_true(refused(RULE_SUM, "operands_same_shape"));
}

static void
test_full_constant_is_no_bias(void **state)
{
	value_id b = make_constant(&m, DIMS(1, 4, 5, 5), -1, 1);
	value_id c = conv(make_input(&m, DIMS(1, 4, 5, 5)), 4, 4);

	(void)state;
	make_output(&m, MAKE(&m, ADD, c, b));
	find("mrvl");
	assert_true(refused(RULE_CONV, "bias_per_channel"));
	assert_int_equal(largest(RULE_CONV)->nnodes, 1);
}

static value_id
padded_conv(const int64_t *pads, float value, const struct attr *own)
{
	value_id x = make_input(&m, DIMS(1, 4, 5, 5));
	static const int64_t eight = 8;
	struct tensor t = tensor_view(DT_INT64, 1, &eight, pads);
	value_id p = graph_add_constant(m.graph, "pads",
	    (const struct tensor *)arena_copy(&arena, &t, sizeof t));
	value_id y = MAKE(&m, PAD, x, p, make_scalar(&m, value));
	value_id w = make_constant(&m, DIMS(4, 4, 3, 3), -1, 1);

	return make_node(&m, OP_CONV, (const value_id[]){y, w, VALUE_LAST}, own,
	    own ? 1 : 0);
}

static const int64_t image_pads[] = {0, 0, 1, 1, 0, 0, 1, 1};

static void
test_pad_is_fused(void **state)
{
	(void)state;
	make_output(&m, padded_conv(image_pads, 0, NULL));
	find("mrvl");
	assert_int_equal(largest(RULE_CONV)->nnodes, 2);
}

static void
test_single_concat_and_other_axis(void **state)
{
	const struct attr height[] = {ATTR_OF_INT("axis", 2)};
	value_id x = make_input(&m, DIMS(1, 4, 5, 5));

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONCAT, height, x));
	find("mrvl");
	assert_true(refused(RULE_CONCAT, "at_least_2_operands"));
	assert_true(refused(RULE_CONCAT, "concat_axis_channels"));
}

/* Behind a convolution the order of bytes is not the shape's. */
static void
test_flatten_alone_inside(void **state)
{
	value_id c = conv(make_input(&m, DIMS(1, 4, 5, 5)), 4, 4);

	(void)state;
	make_output(&m, MAKE(&m, FLATTEN, c));
	find("mrvl");
	assert_true(refused(RULE_FLATTEN, "channels_last_order"));
}

/* ---- both ways to the files ---- */

static void
small_network(void)
{
	const struct attr window[] = {
	    ATTR_OF_INTS("kernel_shape", 2, 2), ATTR_OF_INTS("strides", 2, 2)};
	value_id x = make_input(&m, DIMS(1, 3, 8, 8));
	value_id w = make_constant(&m, DIMS(4, 3, 3, 3), -1, 1);
	value_id b = make_constant(&m, DIMS(4), -1, 1);
	value_id r = MAKE(&m, RELU, MAKE(&m, CONV, x, w, b));
	value_id s = MAKE(&m, ADD, conv(r, 4, 4), r);
	value_id f = MAKE(&m, FLATTEN, MAKE_WITH(&m, MAXPOOL, window, s));
	value_id k = make_constant(&m, DIMS(36, 5), -1, 1);

	make_output(&m, MAKE(&m, GEMM, f, k));
}

/* The candidates with the given nodes, one for each layer of upstream's. */
static const struct candidate *
candidate_for(const struct layer *l)
{
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		bool same = c->target == 0 && c->nnodes == l->nnodes;

		for (uint32_t k = 0; same && k < l->nnodes; k++)
			same = match_has(c->match, l->node[k]);
		if (same)
			return c;
	}
	return NULL;
}

static void
test_plan_and_upstream_write_the_same(void **state)
{
	const struct candidate *chosen[16];
	struct region r = {.candidate = chosen};
	struct err err = {.kind = ERR_NONE};
	struct layers mine;
	struct legacy legacy;
	struct port in = {0}, out = {0};

	(void)state;
	small_network();
	find("mrvl");
	assert_true(mrvl_legacy(&legacy, m.graph, &arena, &err));
	assert_int_equal(legacy.nregions, 1);
	assert_int_equal(legacy.region[0].nlayers, 6);
	for (uint32_t i = 1; i < legacy.region[0].nlayers; i++) {
		chosen[r.ncandidates] =
		    candidate_for(&legacy.region[0].layer[i]);
		assert_non_null(chosen[r.ncandidates++]);
	}
	in.value = m.graph->input[0];
	out.value = m.graph->output[0];
	r.target = &mix.target[0];
	r.graph = m.graph;
	r.ninputs = r.noutputs = 1;
	r.input = &in;
	r.output = &out;
	assert_true(mrvl_layers(&mine, &r, &arena, &err));
	assert_string_equal(layers_text(mrvl_write_nodes, &mine, &arena),
	    layers_text(mrvl_write_nodes, &legacy.region[0], &arena));
	assert_string_equal(layers_text(mrvl_write_consts, &mine, &arena),
	    layers_text(mrvl_write_consts, &legacy.region[0], &arena));
	assert_string_equal(mrvl_command(r.target, &mine, &arena),
	    "mrvl-tmlc -mn tvmgen_mrvl_main_0 -f1 "
	    "tvmgen_mrvl_main_0-nodes.json -f2 tvmgen_mrvl_main_0-consts.json "
	    "-arch=mlip -quantize=fp16 -wb_pin_ocm=0 -num_tiles=8 -b 1");
}

static void
test_compat_offers_upstreams_composites_only(void **state)
{
	uint32_t n = 0;

	(void)state;
	small_network();
	find("mrvl:compat=legacy-v0.19");
	for (uint32_t i = 0; i < found.n; i++)
		n += found.candidate[i].target == 0;
	assert_int_equal(n, 5);
	assert_true(refused(RULE_CONV, "upstream_takes_it"));
}

/* ---- prices ---- */

static struct estimate
price(const struct candidate *const *c, uint32_t n)
{
	const struct region r = region_of(&mix.target[0], m.graph, c, n);
	struct estimate e;

	assert_true(mrvl_simulate(&r, &e));
	return e;
}

/* What regions may keep beside the least scratch. */
static uint64_t
room(void)
{
	const struct region none = region_of(&mix.target[0], m.graph, NULL, 0);
	struct memory memory;

	mrvl_memory(&none, &memory);
	return memory.limit - memory.scratch;
}

static void
test_price_lies_in_its_range(void **state)
{
	const struct candidate *c;
	const struct estimate *launch;
	struct estimate e;

	(void)state;
	small_network();
	find("mrvl");
	c = largest(RULE_CONV);
	e = price(&c, 1);
	assert_true(e.low < e.ns && e.ns < e.high);
	assert_non_null(e.assumed);
	launch = &mix.target[0].launch;
	assert_int_equal(launch->ns, 10000);
	assert_string_equal(launch->assumed, "job_ns");
	assert_true(launch->low == 2000 && launch->high == 50000);
}

static void
test_region_costs_no_less_than_its_layers(void **state)
{
	const struct candidate *c[] = {NULL, NULL};
	uint64_t sum;

	(void)state;
	small_network();
	find("mrvl:num_tiles=1");
	c[0] = largest(RULE_CONV);
	c[1] = largest(RULE_MAXPOOL);
	sum = price(&c[0], 1).ns + price(&c[1], 1).ns;
	assert_true(price(c, 2).ns + 2 >= sum);
}

static void
test_pinned_weights(void **state)
{
	value_id x = make_input(&m, DIMS(1, 2048));
	value_id w = make_constant(&m, DIMS(2048, 1000), -1, 1);
	const struct candidate *c;
	uint64_t streamed;

	(void)state;
	make_output(&m, MAKE(&m, GEMM, x, w));
	find("mrvl");
	c = largest(RULE_FC);
	assert_int_equal(c->resident, 0);
	streamed = price(&c, 1).ns;
	find("mrvl:wb_pin_ocm=1");
	c = largest(RULE_FC);
	/* float16 over 8 tiles */
	assert_int_equal(c->resident, 2048 * 1000 * 2 / 8);
	assert_true(room() >= c->resident);
	assert_true(price(&c, 1).ns < streamed / 2);
}

static void
test_fewer_tiles_cost_more(void **state)
{
	const struct candidate *c;
	value_id x = make_input(&m, DIMS(1, 64, 56, 56));
	uint64_t eight;

	(void)state;
	make_output(&m, conv(x, 64, 64));
	find("mrvl");
	c = largest(RULE_CONV);
	eight = price(&c, 1).ns;
	find("mrvl:num_tiles=1");
	c = largest(RULE_CONV);
	assert_true(price(&c, 1).ns > 4 * eight);
}

static void
test_transfers(void **state)
{
	static const int64_t dim[] = {1, 3, 100, 100};
	struct type t = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = dim};
	struct format host = {SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED};
	struct format nhwc = {SPACE_MRVL, LAYOUT_NHWC, DT_FLOAT16};
	struct format plain = {SPACE_MRVL, LAYOUT_PLAIN, DT_FLOAT16};
	struct err err = {.kind = ERR_NONE};
	struct estimate in, out;

	(void)state;
	assert_non_null(opened("mrvl", &err));
	assert_true(mrvl_transfer(&mix.target[0], &host, &nhwc, &t, &in));
	assert_true(mrvl_transfer(&mix.target[0], &nhwc, &host, &t, &out));
	/* 30000 elements: 6 bytes each at 6 GB/s, 2 bytes at 20 GB/s */
	assert_int_equal(in.ns, 30000 + 3000);
	assert_int_equal(in.ns, out.ns);
	assert_false(mrvl_transfer(&mix.target[0], &nhwc, &plain, &t, &in));
	t.dtype = DT_INT64;
	assert_false(mrvl_transfer(&mix.target[0], &host, &nhwc, &t, &in));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_attributes),
	    TEST(test_mattr),
	    TEST(test_attributes_refused_by_name),
	    TEST(test_batch_9_is_refused),
	    TEST(test_every_reason_of_a_grouped_batch),
	    TEST(test_broadcast_of_sum),
	    TEST(test_full_constant_is_no_bias),
	    TEST(test_pad_is_fused),
	    TEST(test_single_concat_and_other_axis),
	    TEST(test_flatten_alone_inside),
	    TEST(test_plan_and_upstream_write_the_same),
	    TEST(test_compat_offers_upstreams_composites_only),
	    TEST(test_price_lies_in_its_range),
	    TEST(test_region_costs_no_less_than_its_layers),
	    TEST(test_pinned_weights),
	    TEST(test_fewer_tiles_cost_more),
	    TEST(test_transfers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
