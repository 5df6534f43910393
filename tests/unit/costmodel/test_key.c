/* Known answers of keys: what is stored for years must not depend on the
 * machine, the compiler or the day. A change here needs a new KEY_VERSION. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/key.h"
#include "ir/base/hash.h"

static const struct rule rules[] = {{.name = "fake.conv"}};
static const struct target_kind kind = {
    .name = "fake", .rule = rules, .nrules = 1};
static const struct target target = {.kind = &kind, .text = "fake"};

struct fixture {
	struct arena a;
	struct graph *g;
	struct mix mix;
	struct candidate c;
	node_id node[2];
	struct port port[2];
	value_id at[8];
};

static value_id
value(struct fixture *f, uint32_t rank, const int64_t *dim)
{
	struct type type = {
	    .kind = TYPE_TENSOR,
	    .dtype = DT_FLOAT,
	    .rank = rank,
	    .dim = dim,
	};

	return graph_add_value(f->g, "v", &type);
}

static void
node(struct fixture *f, enum op op, const char *type, uint32_t opset,
    value_id *ports, uint32_t ninputs)
{
	graph_add_node(f->g,
	    &(struct node){
	        .op = op,
	        .op_type = type,
	        .domain = "",
	        .name = "",
	        .opset = opset,
	        .ninputs = ninputs,
	        .noutputs = 1,
	        .input = ports,
	        .output = ports + ninputs,
	    });
}

/* Conv 3x3 of 4 to 8 channels, then Relu. */
static int
setup(void **state)
{
	static const int64_t in[] = {1, 4, 9, 9}, out[] = {1, 8, 7, 7};
	static const int64_t w[] = {8, 4, 3, 3};
	static const float zero;
	struct fixture *f = calloc(1, sizeof *f);
	struct tensor *t;

	arena_init(&f->a);
	f->g = graph_new(&f->a, "g");
	t = arena_new(&f->a, struct tensor, 1);
	*t = tensor_fill(DT_FLOAT, 4, w, &zero);
	f->at[0] = value(f, 4, in);
	f->at[1] = graph_add_constant(f->g, "w", t);
	f->at[2] = value(f, 4, out);
	f->at[3] = f->at[2];
	f->at[4] = value(f, 4, out);
	node(f, OP_CONV, "Conv", 11, f->at, 2);
	node(f, OP_RELU, "Relu", 11, f->at + 3, 1);
	f->mix = (struct mix){.target = &target, .n = 1};
	formats_init(&f->mix.formats);
	f->node[1] = 1;
	f->port[0] = (struct port){f->at[0], FORMAT_PLAIN};
	f->port[1] = (struct port){f->at[4], FORMAT_PLAIN};
	f->c = (struct candidate){
	    .implementation_name = "direct",
	    .nnodes = 2,
	    .node = f->node,
	    .ninputs = 1,
	    .noutputs = 1,
	    .input = &f->port[0],
	    .output = &f->port[1],
	};
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->a);
	free(f);
	return 0;
}

static const char *
hash_of(struct fixture *f, enum key_detail detail)
{
	static char text[33];
	struct keys keys;
	struct buf b;

	buf_init(&b);
	keys_init(&keys, f->g, &f->mix, &f->a);
	key_candidate(&keys, &b, &f->c, detail, &f->a);
	hash128_print(hash128(b.data, b.n), text);
	buf_release(&b);
	return text;
}

static void
candidates_have_known_keys(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(
	    hash_of(f, KEY_FULL), "d1b17a3e9f491506a37be1273354244f");
	assert_string_equal(
	    hash_of(f, KEY_SKELETON), "12c517c4b5e345b5149f30c6371c2f87");
	assert_string_equal(
	    hash_of(f, KEY_FAMILY), "2ad8d86ff675d782b74fa6cb448fe5f7");
}

static void
conversions_have_known_bytes(void **state)
{
	static const unsigned char known[] = {1, 0x80, /* version, conversion */
	    'h', 'p', 0, /* from host/plain in the value's own dtype */
	    'h', 'x', 0, /* to host/nChw16c */
	    1, 1, 4, 0, 0, 0, /* tensor, float32, rank 4 */
	    1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, /* dims */
	    9, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};
	struct fixture *f = *state;
	struct format plain = {SPACE_HOST, LAYOUT_PLAIN, DT_UNDEFINED};
	struct format blocked = {SPACE_HOST, LAYOUT_BLK16, DT_UNDEFINED};
	struct buf b;

	buf_init(&b);
	key_conversion(
	    &b, &graph_value(f->g, f->at[0])->type, plain, blocked, KEY_FULL);
	assert_int_equal(b.n, sizeof known);
	assert_memory_equal(b.data, known, sizeof known);
	buf_release(&b);
}

static void
summaries_are_for_people(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(key_summary(f->g, &f->mix, &f->c, &f->a),
	    "fake.conv direct Conv+Relu float32[1,4,9,9]->float32[1,8,7,7]");
}

/* Softmax flattened before opset 13 and does not since; Relu never changed. */
static void
opsets_count_where_the_meaning_changed(void **state)
{
	struct fixture *f = *state;
	char before[33], after[33];

	f->c.nnodes = 1;
	f->c.node = &f->node[1];
	f->port[0].value = f->at[3];
	strcpy(before, hash_of(f, KEY_FULL));
	f->g->node[1].opset = 22;
	assert_string_equal(before, hash_of(f, KEY_FULL));
	f->g->node[1].op = OP_SOFTMAX;
	f->g->node[1].op_type = "Softmax";
	f->g->node[1].opset = 12;
	strcpy(before, hash_of(f, KEY_FULL));
	f->g->node[1].opset = 13;
	strcpy(after, hash_of(f, KEY_FULL));
	assert_string_not_equal(before, after);
	f->g->node[1].opset = 20;
	assert_string_equal(after, hash_of(f, KEY_FULL));
	/* Nobody vouches for an operator of another domain. */
	f->g->node[1].op = OP_CUSTOM;
	f->g->node[1].op_type = "Special";
	f->g->node[1].domain = "com.example";
	strcpy(before, hash_of(f, KEY_FULL));
	f->g->node[1].opset = 21;
	assert_string_not_equal(before, hash_of(f, KEY_FULL));
}

static void
shapes_are_no_part_of_a_skeleton(void **state)
{
	static const int64_t wider[] = {1, 8, 7, 9};
	struct fixture *f = *state;
	char full[33], skeleton[33];

	strcpy(full, hash_of(f, KEY_FULL));
	strcpy(skeleton, hash_of(f, KEY_SKELETON));
	f->g->value[f->at[4]].type.dim = wider;
	assert_string_not_equal(full, hash_of(f, KEY_FULL));
	assert_string_equal(skeleton, hash_of(f, KEY_SKELETON));
}

int
main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(candidates_have_known_keys),
	    T(conversions_have_known_bytes),
	    T(summaries_are_for_people),
	    T(opsets_count_where_the_meaning_changed),
	    T(shapes_are_no_part_of_a_skeleton),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
