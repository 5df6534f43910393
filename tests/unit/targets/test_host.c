/* The host's kernels on small nodes whose results were worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/graph.h"
#include "targets/candidates.h"
#include "targets/host/host.h"
#include "targets/host/walk.h"
#include "tests/support/build.h"

/* A graph of one node under construction. */
struct one {
	struct arena arena;
	struct graph *g;
	struct node node;
	value_id input[8], output[4];
	struct attr attr[8];
	const struct tensor *in[8];
	struct tensor out[4];
	struct err err;
};

static void
one_init(struct one *o, enum op op, uint32_t opset, uint32_t noutputs)
{
	static const struct type unknown = {.kind = TYPE_UNKNOWN};

	memset(o, 0, sizeof *o);
	arena_init(&o->arena);
	o->g = graph_new(&o->arena, "test");
	o->node = (struct node){.op = op,
	    .op_type = op_get(op)->type,
	    .domain = "",
	    .opset = opset,
	    .name = "n",
	    .noutputs = noutputs,
	    .input = o->input,
	    .output = o->output,
	    .attr = o->attr};
	for (uint32_t i = 0; i < noutputs; i++)
		o->output[i] = graph_add_value(o->g, "y", &unknown);
}

static void
feed(struct one *o, enum dtype dtype, uint32_t rank, const int64_t *dim,
    const void *data)
{
	struct tensor *t = arena_new(&o->arena, struct tensor, 1);
	struct type type = {
	    .kind = TYPE_TENSOR, .dtype = dtype, .rank = rank, .dim = dim};

	*t = tensor_view(dtype, rank, dim, data);
	o->input[o->node.ninputs] = graph_add_value(o->g, "x", &type);
	o->in[o->node.ninputs++] = t;
}

static void
give_ints(struct one *o, const char *name, uint32_t n, const int64_t *ints)
{
	o->attr[o->node.nattrs++] = (struct attr){
	    .name = name, .kind = ATTR_INTS, .n = n, .ints = ints};
}

static void
give_floats(struct one *o, const char *name, uint32_t n, const float *floats)
{
	o->attr[o->node.nattrs++] = (struct attr){
	    .name = name, .kind = ATTR_FLOATS, .n = n, .floats = floats};
}

static bool
evaluate(struct one *o)
{
	return host_eval(o->g, &o->node, o->in, o->out, &o->arena, &o->err);
}

#define INT64S(...) ((const int64_t[]){__VA_ARGS__})
#define FLOATS(...) ((const float[]){__VA_ARGS__})

static void
expect_floats(const struct one *o, size_t n, const float *want)
{
	assert_string_equal(o->err.text, "");
	assert_int_equal(o->out[0].dtype, DT_FLOAT);
	assert_int_equal(o->out[0].count, n);
	for (size_t i = 0; i < n; i++)
		assert_float_equal(
		    (float)tensor_real(&o->out[0], i), want[i], 1e-6f);
}

/* Functions take parameters in their order, those that have some. */
static void
lstm_takes_parameters(void **state)
{
	const struct string_view names[] = {
	    {"HardSigmoid", 11}, {"Tanh", 4}, {"LeakyRelu", 9}};
	struct one o;

	(void)state;
	one_init(&o, OP_LSTM, 14, 1);
	feed(&o, DT_FLOAT, 3, INT64S(1, 1, 1), FLOATS(1));
	feed(&o, DT_FLOAT, 3, INT64S(1, 4, 1), FLOATS(0.2f, 0.4f, 0.3f, -1));
	feed(&o, DT_FLOAT, 3, INT64S(1, 4, 1), FLOATS(0, 0, 0, 0));
	o.attr[o.node.nattrs++] = (struct attr){.name = "activations",
	    .kind = ATTR_STRINGS,
	    .n = 3,
	    .strings = names};
	give_floats(&o, "activation_alpha", 2, FLOATS(0.5f, 0.25f));
	give_floats(&o, "activation_beta", 1, FLOATS(0.1f));
	assert_true(evaluate(&o));
	/* (0.5 * 0.4 + 0.1) * 0.25 * (0.5 * 0.2 + 0.1) * tanh(-1) */
	expect_floats(&o, 1, FLOATS(-0.0114239f));
	arena_release(&o.arena);
}

static void
upsample_cubic(void **state)
{
	const struct string_view cubic = {"cubic", 5};
	struct one o;

	(void)state;
	one_init(&o, OP_UPSAMPLE, 9, 1);
	feed(&o, DT_FLOAT, 2, INT64S(1, 4), FLOATS(1, 2, 4, 8));
	feed(&o, DT_FLOAT, 1, INT64S(2), FLOATS(1, 2));
	o.attr[o.node.nattrs++] = (struct attr){
	    .name = "mode", .kind = ATTR_STRING, .n = 1, .strings = &cubic};
	assert_true(evaluate(&o));
	/* between two, the four around them: -3/32, 19/32, 19/32, -3/32 */
	expect_floats(
	    &o, 8, FLOATS(1, 1.3125f, 2, 2.71875f, 4, 6.1875f, 8, 8.375f));
	arena_release(&o.arena);
}

static void
conv_pads_and_strides(void **state)
{
	struct one o;

	(void)state;
	one_init(&o, OP_CONV, 11, 1);
	feed(&o, DT_FLOAT, 4, INT64S(1, 1, 3, 3),
	    FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9));
	feed(&o, DT_FLOAT, 4, INT64S(1, 1, 2, 2), FLOATS(1, 10, 100, 1000));
	feed(&o, DT_FLOAT, 1, INT64S(1), FLOATS(0.5f));
	give_ints(&o, "pads", 4, INT64S(1, 0, 0, 1));
	give_ints(&o, "strides", 2, INT64S(2, 2));
	assert_true(evaluate(&o));
	assert_int_equal(o.out[0].dim[2], 2);
	assert_int_equal(o.out[0].dim[3], 2);
	/* rows -1 and 1, columns 0 and 2 (3 is padding) */
	expect_floats(&o, 4,
	    FLOATS(100 * 1 + 1000 * 2 + 0.5f, 100 * 3 + 0.5f,
	        4 + 50 + 700 + 8000 + 0.5f, 6 + 900 + 0.5f));
	arena_release(&o.arena);
}

static void
broadcast_add_of_unaligned_views(void **state)
{
	struct one o;
	unsigned char odd[17];

	(void)state;
	memcpy(odd + 1, FLOATS(1, 2, 3, 4), 16);
	one_init(&o, OP_ADD, 13, 1);
	feed(&o, DT_FLOAT, 2, INT64S(2, 2), odd + 1);
	feed(&o, DT_FLOAT, 2, INT64S(2, 1), FLOATS(10, 20));
	assert_true(evaluate(&o));
	expect_floats(&o, 4, FLOATS(11, 12, 23, 24));
	arena_release(&o.arena);
}

static void
a_fill_stays_a_fill(void **state)
{
	struct one o;

	(void)state;
	one_init(&o, OP_CONSTANTOFSHAPE, 9, 1);
	feed(&o, DT_INT64, 1, INT64S(2), INT64S(1 << 20, 1 << 20));
	assert_true(evaluate(&o));
	assert_int_equal(o.out[0].kind, TENSOR_FILL);
	assert_int_equal(o.out[0].count, (size_t)1 << 40);
	arena_release(&o.arena);
}

static void
integer_division_is_defined(void **state)
{
	struct one o;

	(void)state;
	one_init(&o, OP_DIV, 13, 1);
	feed(&o, DT_INT64, 1, INT64S(3), INT64S(7, INT64_MIN, -7));
	feed(&o, DT_INT64, 1, INT64S(3), INT64S(0, -1, 2));
	assert_true(evaluate(&o));
	assert_int_equal(tensor_int(&o.out[0], 0), 0);
	assert_true(tensor_int(&o.out[0], 1) == INT64_MIN);
	assert_int_equal(tensor_int(&o.out[0], 2), -3);
	arena_release(&o.arena);
}

static void
refusal_names_operator_version_dtype(void **state)
{
	struct one o;

	(void)state;
	one_init(&o, OP_SIN, 7, 1);
	feed(&o, DT_INT32, 1, INT64S(1), INT64S(1));
	assert_false(evaluate(&o));
	assert_int_equal(o.err.kind, ERR_UNSUPPORTED);
	assert_non_null(strstr(o.err.text, "Sin (opset 7, int32)"));
	arena_release(&o.arena);
}

static void
softmax_flattens_before_opset_13(void **state)
{
	const float x[4] = {0, 0, 0, 0};
	struct one o;

	(void)state;
	one_init(&o, OP_SOFTMAX, 11, 1);
	feed(&o, DT_FLOAT, 3, INT64S(1, 2, 2), x);
	assert_true(evaluate(&o));
	expect_floats(&o, 4, FLOATS(0.25f, 0.25f, 0.25f, 0.25f));
	o.node.opset = 13;
	assert_true(evaluate(&o));
	expect_floats(&o, 4, FLOATS(0.5f, 0.5f, 0.5f, 0.5f));
	arena_release(&o.arena);
}

static void
gemm_beyond_one_block(void **state)
{
	enum { M = 5, N = 300, K = 700 };
	static float a[M * K], b[K * N], want[M * N];
	struct one o;

	(void)state;
	for (size_t i = 0; i < M * K; i++)
		a[i] = (float)(i % 7) - 3;
	for (size_t i = 0; i < K * N; i++)
		b[i] = (float)(i % 5) - 2;
	for (size_t i = 0; i < M; i++)
		for (size_t j = 0; j < N; j++)
			for (size_t k = 0; k < K; k++)
				want[i * N + j] += a[i * K + k] * b[k * N + j];
	one_init(&o, OP_MATMUL, 13, 1);
	feed(&o, DT_FLOAT, 2, INT64S(M, K), a);
	feed(&o, DT_FLOAT, 2, INT64S(K, N), b);
	assert_true(evaluate(&o));
	expect_floats(&o, M * N, want);
	arena_release(&o.arena);
}

/* What a node of that operator draws 10,000 of, as its output is called. */
static struct tensor
drawn(struct one *o, enum op op, const char *name)
{
	static const int64_t shape[] = {100, 100};

	one_init(o, op, 1, 1);
	graph_value(o->g, o->output[0])->name = name;
	give_ints(o, "shape", 2, shape);
	assert_true(evaluate(o));
	return o->out[0];
}

static void
random_numbers_are_spread_and_the_same_again(void **state)
{
	static const struct {
		enum op op;
		double mean, square;
	} spread[] = {
	    {OP_RANDOMUNIFORM, 0.5, 1.0 / 3}, {OP_RANDOMNORMAL, 0, 1}};
	struct one o, again, other;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct tensor t = drawn(&o, spread[k].op, "a");
		struct tensor u = drawn(&again, spread[k].op, "a");
		struct tensor v = drawn(&other, spread[k].op, "b");
		double mean = 0, square = 0;

		for (size_t i = 0; i < t.count; i++) {
			mean += tensor_real(&t, i) / (double)t.count;
			square += tensor_real(&t, i) * tensor_real(&t, i)
			    / (double)t.count;
		}
		assert_float_equal(mean, spread[k].mean, 0.03f);
		assert_float_equal(square, spread[k].square, 0.05f);
		assert_true(tensor_equal(&t, &u));
		assert_false(tensor_equal(&t, &v));
		arena_release(&o.arena);
		arena_release(&again.arena);
		arena_release(&other.arena);
	}
}

static void
classes_are_drawn_by_their_weight(void **state)
{
	struct one o;
	double ones = 0;

	(void)state;
	one_init(&o, OP_MULTINOMIAL, 7, 1);
	feed(&o, DT_FLOAT, 2, INT64S(1, 3), FLOATS(-1e9f, 0, 1.0986123f));
	o.attr[o.node.nattrs++] = (struct attr){.name = "sample_size",
	    .kind = ATTR_INT,
	    .n = 1,
	    .ints = INT64S(4000)};
	assert_true(evaluate(&o));
	assert_int_equal(o.out[0].count, 4000);
	for (size_t i = 0; i < 4000; i++) {
		assert_in_range(tensor_real(&o.out[0], i), 1, 2);
		ones += tensor_real(&o.out[0], i) == 1;
	}
	assert_float_equal(ones / 4000, 0.25, 0.03f);
	arena_release(&o.arena);
}

/* --- The target kind ------------------------------------------------------ */

/* x[4], i[2] -> Gather(Relu(x), i), normalised by hand. */
static struct graph *
relu_gather(struct arena *a)
{
	struct graph *g = graph_new(a, "relu_gather");
	const int64_t four = 4, two = 2;
	value_id x = build_input(g, "x", DT_FLOAT, &four, 1);
	value_id i = build_input(g, "i", DT_INT64, &two, 1);
	value_id relu = build_node(g, OP_RELU, 14, &x, 1);
	value_id y = build_node(g, OP_GATHER, 13, (value_id[]){relu, i}, 2);
	value_id *in = arena_new(a, value_id, 2), *out;

	in[0] = x;
	in[1] = i;
	out = arena_new(a, value_id, 1);
	out[0] = y;
	g->input = in;
	g->ninputs = 2;
	g->output = out;
	g->noutputs = 1;
	graph_value(g, relu)->type = graph_value(g, x)->type;
	graph_value(g, y)->type = graph_value(g, x)->type;
	graph_value(g, y)->type.dim = graph_value(g, i)->type.dim;
	graph_value(g, y)->flags |= VALUE_OUTPUT;
	return g;
}

static void
a_compiled_gather_runs_and_reports(void **state)
{
	_Alignas(64) float x[32] = {-1, 2, 3, 4}, y[32];
	_Alignas(64) int64_t i[16] = {3, -4};
	const void *in[2] = {i, x}; /* ports go by value id */
	void *out[1] = {y};
	const char *text[] = {"host"};
	struct arena a;
	struct err err = {.kind = ERR_NONE}, fault = err;
	struct candidates c;
	struct mix m;
	struct kernel k;
	struct graph *g;

	(void)state;
	arena_init(&a);
	g = relu_gather(&a);
	assert_true(mix_open(&m, text, 1, &a, &err));
	assert_true(candidates_find(&c, g, &m, NULL, &a, &err));
	assert_int_equal(c.n, 2);
	assert_true(m.target[0].kind->compile(
	    &m.target[0], g, &c.candidate[1], &a, &k, &err));
	k.fault = &fault;
	for (int run = 0; run < 3; run++) {
		memset(y, 0, sizeof y);
		k.run(&k, in, out);
		assert_int_equal(fault.kind, ERR_NONE);
		assert_float_equal(y[0], 4, 0);
		assert_float_equal(y[1], -1, 0);
	}
	i[0] = 4;
	k.run(&k, in, out);
	assert_int_equal(fault.kind, ERR_INPUT);
	assert_non_null(strstr(fault.text, "index 4 outside -4..3"));
	k.release(&k);
	arena_release(&a);
}

/* Rows that are copied by tiles, their tails, and what lies around them: each element
 * of a permuted tensor is the one of the source. */
static void
permuted_is(const int64_t *dim, const uint32_t *perm, size_t size)
{
	unsigned char from[20 * 33 * 37 * 8], to[sizeof from];
	int64_t moved[3] = {dim[perm[0]], dim[perm[1]], dim[perm[2]]};
	ptrdiff_t own[3], stride[3], out[3];
	struct walk w;
	size_t at = 0;

	assert_true(shape_count(dim, 0, 3) * size <= sizeof from);
	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)(i * 2654435761u >> 11);
	strides_of(3, dim, own);
	for (uint32_t d = 0; d < 3; d++)
		stride[d] = own[perm[d]];
	strides_of(3, moved, out);
	walk_init(&w, 3, moved);
	walk_operand(&w, out);
	walk_operand(&w, stride);
	copy_strided(&w, to, from, size);
	for (int64_t i = 0; i < moved[0]; i++)
		for (int64_t j = 0; j < moved[1]; j++)
			for (int64_t k = 0; k < moved[2]; k++)
				assert_memory_equal(to + size * at++,
				    from
				        + (ptrdiff_t)size
				            * (i * stride[0] + j * stride[1]
				                + k * stride[2]),
				    size);
}

static void
elements_are_permuted(void **state)
{
	static const uint32_t perm[][3] = {
	    {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 1, 2}};
	static const int64_t dim[][3] = {{3, 16, 16}, {2, 17, 31}, {20, 33, 37},
	    {1, 15, 40}, {1, 40, 15}, {16, 1, 32}, {2, 0, 16}, {19, 16, 48}};
	static const size_t size[] = {1, 2, 4, 8};

	(void)state;
	for (size_t p = 0; p < 6; p++)
		for (size_t d = 0; d < 8; d++)
			for (size_t s = 0; s < 4; s++)
				permuted_is(dim[d], perm[p], size[s]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lstm_takes_parameters),
	    cmocka_unit_test(upsample_cubic),
	    cmocka_unit_test(conv_pads_and_strides),
	    cmocka_unit_test(broadcast_add_of_unaligned_views),
	    cmocka_unit_test(a_fill_stays_a_fill),
	    cmocka_unit_test(integer_division_is_defined),
	    cmocka_unit_test(refusal_names_operator_version_dtype),
	    cmocka_unit_test(softmax_flattens_before_opset_13),
	    cmocka_unit_test(gemm_beyond_one_block),
	    cmocka_unit_test(random_numbers_are_spread_and_the_same_again),
	    cmocka_unit_test(classes_are_drawn_by_their_weight),
	    cmocka_unit_test(a_compiled_gather_runs_and_reports),
	    cmocka_unit_test(elements_are_permuted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
