/* Shapes, operator by operator: each case is one node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/infer.h"
#include "tests/support/build.h"

struct fixture {
	struct arena a;
	struct graph *g;
	struct err err;
	struct notes notes;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	f->g = graph_new(&f->a, "t");
	notes_init(&f->notes, &f->a);
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

static bool
run(struct fixture *f)
{
	struct infer_options o = {.notes = &f->notes};

	return infer(f->g, &o, &f->err);
}

static void
expect(struct fixture *f, value_id v, const char *type)
{
	if (f->err.kind != ERR_NONE)
		fail_msg("%s", f->err.text);
	assert_string_equal(
	    type_text(&graph_value(f->g, v)->type, f->g->symbol, &f->a), type);
}

/* Inference fails with a message that contains `words`. */
static void
expect_fault(struct fixture *f, const char *words)
{
	assert_false(run(f));
	assert_int_equal(f->err.kind, ERR_INPUT);
	if (!strstr(f->err.text, words))
		fail_msg("'%s' not in '%s'", words, f->err.text);
}

static value_id
conv(struct fixture *f, const int64_t *x, uint32_t nx, const int64_t *w,
    uint32_t nw)
{
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, x, nx),
	    build_zeros(f->g, DT_FLOAT, w, nw)};

	return build_node(f->g, OP_CONV, 9, in, 2);
}

static void
conv_explicit_pads(void **state)
{
	struct fixture *f = *state;
	value_id y = conv(f, DIMS(1, 3, 224, 224), DIMS(64, 3, 7, 7));

	build_list(f->g, "strides", DIMS(2, 2));
	build_list(f->g, "pads", DIMS(3, 3, 3, 3));
	run(f);
	expect(f, y, "float32[1,64,112,112]");
}

static void
conv_same_and_dilated(void **state)
{
	struct fixture *f = *state;
	value_id y = conv(f, DIMS(2, 4, 15, 16), DIMS(8, 2, 3, 3)), z;

	build_string(f->g, "auto_pad", "SAME_UPPER");
	build_list(f->g, "strides", DIMS(2, 2));
	build_int(f->g, "group", 2);
	z = conv(f, DIMS(2, 4, 15, 16), DIMS(8, 4, 3, 3));
	build_list(f->g, "dilations", DIMS(2, 3));
	run(f);
	expect(f, y, "float32[2,8,8,8]");
	expect(f, z, "float32[2,8,11,10]");
}

static void
conv_faults(void **state)
{
	struct fixture *f = *state;

	conv(f, DIMS(1, 1, 8, 8), DIMS(1, 1, 3, 3));
	build_list(f->g, "strides", DIMS(0, 0));
	expect_fault(f, "strides[0] is 0");
}

static void
conv_kernel_too_large(void **state)
{
	struct fixture *f = *state;

	conv(f, DIMS(1, 1, 2, 2), DIMS(1, 1, 3, 3));
	expect_fault(f, "node 'n0' (#0, Conv): kernel covers 3");
}

static void
conv_rank_mismatch(void **state)
{
	struct fixture *f = *state;

	conv(f, DIMS(1, 1, 8, 8), DIMS(1, 1, 3, 3, 3));
	expect_fault(f, "w has rank 5 but x has 4");
}

static void
pool_ceil(void **state)
{
	struct fixture *f = *state;
	value_id x = build_input(f->g, "x", DT_FLOAT, DIMS(1, 1, 112, 112));
	value_id y = build_node(f->g, OP_MAXPOOL, 12, &x, 1), z;

	build_list(f->g, "kernel_shape", DIMS(3, 3));
	build_list(f->g, "strides", DIMS(2, 2));
	build_int(f->g, "ceil_mode", 1);
	x = build_input(f->g, "x2", DT_FLOAT, DIMS(1, 1, 2, 2));
	z = build_node(f->g, OP_MAXPOOL, 12, &x, 1);
	build_list(f->g, "kernel_shape", DIMS(1, 1));
	build_list(f->g, "strides", DIMS(2, 2));
	build_int(f->g, "ceil_mode", 1);
	run(f);
	expect(f, y, "float32[1,1,56,56]");
	expect(f, z, "float32[1,1,1,1]");
}

static void
reshape_copies_and_infers(void **state)
{
	struct fixture *f = *state;
	int64_t n = DIM_SYMBOL(graph_symbol(f->g, "N"));
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(n, 12, 4, 4)),
	    build_ints(f->g, DIMS(0, 3, -1))};
	value_id y = build_node(f->g, OP_RESHAPE, 13, in, 2), z;

	in[1] = build_ints(f->g, DIMS(-1, 192));
	z = build_node(f->g, OP_RESHAPE, 13, in, 2);
	run(f);
	expect(f, y, "float32[N,3,64]");
	expect(f, z, "float32[N,192]");
}

static void
reshape_faults(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(4)),
	    build_ints(f->g, DIMS(3, -1))};

	build_node(f->g, OP_RESHAPE, 13, in, 2);
	expect_fault(f, "4 elements are not a multiple of 3");
}

/* A shape chain: x.shape[0] beside a constant, through three operators. */
static void
shape_chain(void **state)
{
	struct fixture *f = *state;
	int64_t n = DIM_SYMBOL(graph_symbol(f->g, "N"));
	value_id x = build_input(f->g, "x", DT_FLOAT, DIMS(n, 6, 5));
	value_id shape = build_node(f->g, OP_SHAPE, 13, &x, 1);
	value_id at[2] = {shape, build_ints(f->g, DIMS(0))};
	value_id first = build_node(f->g, OP_GATHER, 13, at, 2);
	value_id join[2] = {first, build_ints(f->g, DIMS(-1))};
	value_id target, y, in[2];

	target = build_node(f->g, OP_CONCAT, 13, join, 2);
	build_int(f->g, "axis", 0);
	in[0] = x;
	in[1] = target;
	y = build_node(f->g, OP_RESHAPE, 13, in, 2);
	run(f);
	expect(f, y, "float32[N,30]");
}

/* ConstantOfShape of a terabyte of constants costs nothing... */
static void
fill_is_virtual(void **state)
{
	struct fixture *f = *state;
	value_id dims = build_ints(f->g, DIMS(1 << 15, 1 << 15));
	value_id y = build_node(f->g, OP_CONSTANTOFSHAPE, 9, &dims, 1);

	run(f);
	expect(f, y, "float32[32768,32768]");
	assert_non_null(graph_value(f->g, y)->constant);
	assert_int_equal(graph_value(f->g, y)->constant->kind, TENSOR_FILL);
}

/* ... and one that cannot exist is refused. */
static void
bomb_is_refused(void **state)
{
	struct fixture *f = *state;
	value_id dims = build_ints(f->g, DIMS(1 << 20, 1 << 20));

	build_node(f->g, OP_CONSTANTOFSHAPE, 9, &dims, 1);
	expect_fault(f, "too large");
}

static void
broadcast_keeps_symbols(void **state)
{
	struct fixture *f = *state;
	int64_t n = DIM_SYMBOL(graph_symbol(f->g, "N"));
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(n, 1, 5)),
	    build_input(f->g, "y", DT_FLOAT, DIMS(n, 3, 1))};
	value_id y = build_node(f->g, OP_ADD, 13, in, 2);

	run(f);
	expect(f, y, "float32[N,3,5]");
}

static void
keep_going_reports_all(void **state)
{
	struct fixture *f = *state;
	struct infer_options o = {.notes = &f->notes, .keep_going = true};

	conv(f, DIMS(1, 1, 2, 2), DIMS(1, 1, 3, 3));
	conv(f, DIMS(1, 1, 8, 8), DIMS(1, 1, 3, 3, 3));
	assert_false(infer(f->g, &o, &f->err));
	assert_int_equal(f->notes.n, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    T(conv_explicit_pads),
	    T(conv_same_and_dilated),
	    T(conv_faults),
	    T(conv_kernel_too_large),
	    T(conv_rank_mismatch),
	    T(pool_ceil),
	    T(reshape_copies_and_infers),
	    T(reshape_faults),
	    T(shape_chain),
	    T(fill_is_virtual),
	    T(bomb_is_refused),
	    T(broadcast_keeps_symbols),
	    T(keep_going_reports_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
