/* Every rule of our own kernels in every way, of all instruction sets that are here,
 * against the host reference; tensors at the end of pages. `unit_targets_native N`
 * tries N random recurrent layers, N / 2 pixels and N / 2 depthwise convolutions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "targets/native/version.h"
#include "targets/native/winograd.h"
#include "targets/threads.h"
#include "targets/widened.h"
#include "tests/support/guard.h"
#include "tests/support/kind.h"
#include "tests/support/narrow.h"
#include "tests/support/quantized.h"
#include "tests/support/spell.h"

extern const struct target_kind target_native;
const struct target_kind *const tested = &target_native;

static const char *vectors[] = {"native",
#ifdef __aarch64__
    "native:vectors=neon",
#else
    "native:vectors=c",
#endif
    "native:vectors=wide", "native:vectors=avx2"};
#define NVECTORS (sizeof vectors / sizeof *vectors)

struct shape {
	int64_t n, channels, filters, height, width;
	int64_t pad[4];
	int64_t window, group;
};

/* One, primes, what fills tiles and vectors and what does not. */
static const struct shape shapes[] = {
    {1, 1, 1, 3, 3, {0, 0, 0, 0}, 3, 1},
    {1, 1, 1, 1, 1, {1, 1, 1, 1}, 3, 1},
    {2, 3, 5, 7, 11, {1, 1, 1, 1}, 3, 1},
    {1, 8, 16, 13, 13, {1, 1, 1, 1}, 3, 1},
    {1, 17, 19, 5, 23, {0, 1, 2, 0}, 3, 1},
    {3, 16, 8, 6, 6, {1, 1, 1, 1}, 3, 1},
    {1, 32, 32, 8, 14, {2, 0, 0, 2}, 3, 1},
    {1, 7, 31, 29, 3, {0, 0, 0, 0}, 3, 1},
    {1, 1, 1, 1, 2, {2, 2, 2, 2}, 5, 1},
    {2, 17, 19, 7, 11, {2, 2, 2, 2}, 5, 1},
    {1, 16, 33, 13, 6, {0, 1, 4, 2}, 5, 1},
    {1, 32, 96, 9, 7, {1, 1, 1, 1}, 3, 2},
    {2, 48, 48, 5, 14, {2, 2, 2, 2}, 5, 3},
};

static value_id
conv(value_id x, const struct shape *s)
{
	const int64_t window = s->window;
	const struct attr attr[] = {ATTR_OF_INT("group", s->group),
	    ATTR_OF_INTS("pads", s->pad[0], s->pad[1], s->pad[2], s->pad[3])};
	value_id w = make_constant(&m,
	    DIMS(s->filters, s->channels / s->group, window, window), -0.3f,
	    0.3f);

	return MAKE_WITH(
	    &m, CONV, attr, x, w, make_constant(&m, DIMS(s->filters), -1, 1));
}

static value_id
input(const struct shape *s)
{
	return make_input(&m, DIMS(s->n, s->channels, s->height, s->width));
}

static void
check_pages(const struct candidate *c, struct reference *r)
{
	struct err err = {.kind = ERR_NONE};

	if (!guard_run(m.graph, &mix, c, r, &arena, &err))
		fail_msg("%s", err.text);
}

/* Of windows of five there are no tiles of six. */
static uint32_t
ways_of(const struct candidate *c)
{
	const struct node *n = graph_node(m.graph, c->node[0]);

	return graph_value(m.graph, n->input[1])->type.dim[2] == 3
	    ? WINOGRAD_WAYS
	    : WINOGRAD_WAYS / 3 * 2;
}

/* The candidate with other tiles and blocks, offered or not. */
static void
check_ways(const struct candidate *c, struct reference *r)
{
	for (uint32_t i = 0; i < ways_of(c); i++) {
		struct candidate other = *c;

		other.implementation =
		    c->implementation % WINOGRAD_PLACES + i * WINOGRAD_PLACES;
		assert_true(runs(&other, r));
		if (i % 4 == 0)
			check_pages(&other, r);
	}
}

static bool
is_winograd(const struct candidate *c)
{
	return c->target == 0
	    && strncmp(tested->rule[c->rule].name, "native.conv", 11) == 0;
}

/* Candidates of the kind's rule over that many nodes, in every way. */
static uint32_t
check_convolutions(const char *target, uint32_t nnodes)
{
	struct reference r;
	uint32_t n = 0, last = UINT32_MAX;

	find(target);
	reference_init(&r, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		const uint32_t place = c->implementation % WINOGRAD_PLACES;

		if (c->nnodes != nnodes || !is_winograd(c))
			continue;
		n++;
		assert_true(runs(c, &r));
		if (last != c->node[0] * WINOGRAD_PLACES + place)
			check_ways(c, &r);
		last = c->node[0] * WINOGRAD_PLACES + place;
	}
	reference_release(&r);
	return n;
}

static void
again(void)
{
	arena_release(&arena);
	arena_init(&arena);
	make_begin(&m, &arena);
}

static void
make_shapes(size_t first)
{
	for (size_t i = first; i < sizeof shapes / sizeof *shapes; i++)
		make_output(&m, conv(input(&shapes[i]), &shapes[i]));
}

static void
test_shapes(void **state)
{
	(void)state;
	for (size_t v = 0; v < NVECTORS; v++) {
		again();
		make_shapes(0);
		assert_true(check_convolutions(vectors[v], 1) >= 13);
	}
}

/* More threads than blocks, and fewer. */
static void
test_threads(void **state)
{
	(void)state;
	for (uint32_t threads = 2; threads <= 5; threads += 3) {
		again();
		make_shapes(5);
		target_threads_set(threads);
		assert_true(check_convolutions("native", 1) >= 3);
	}
	target_threads_set(1);
}

/* Bytes that the kernels of all candidates keep. */
static size_t
bytes_kept(void)
{
	struct err err = {.kind = ERR_NONE};
	size_t bytes = 0;

	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		struct kernel kernel;
		struct arena a;

		if (c->target != 0)
			continue;
		arena_init(&a);
		assert_true(target_compile(
		    &mix.target[0], m.graph, c, &a, &kernel, &err));
		bytes += a.bytes;
		arena_release(&a);
	}
	return bytes;
}

/* Weights that kernels read packed are not kept beside that: those that are all one number
 * have to be written out for it. */
static void
test_packed_alone(void **state)
{
	static const int64_t form[][4] = {
	    {64, 64, 3, 3}, {64, 64, 1, 1}, {4, 64, 3, 3}};
	struct tensor fill[3];
	value_id w[3], x;
	size_t bytes;

	(void)state;
	again();
	x = make_input(&m, DIMS(1, 64, 11, 13));
	for (uint32_t i = 0; i < 3; i++) {
		const int64_t *f = form[i];

		w[i] = make_constant(
		    &m, DIMS(f[0], f[1], f[2], f[3]), -0.3f, 0.3f);
		make_output(&m, MAKE(&m, CONV, x, w[i]));
	}
	find("native");
	bytes = bytes_kept();
	assert_true(bytes > 0);
	for (uint32_t i = 0; i < 3; i++) {
		fill[i] = *graph_value(m.graph, w[i])->constant;
		fill[i].kind = TENSOR_FILL;
		memset(fill[i].fill, 0, sizeof fill[i].fill);
		graph_value(m.graph, w[i])->constant = &fill[i];
	}
	assert_int_equal(bytes_kept(), bytes);
}

/* Each of what may follow. */
static void
test_steps(void **state)
{
	static const struct shape s = {2, 19, 19, 9, 10, {1, 1, 1, 1}, 3, 1};
	const struct attr leaky[] = {ATTR_OF_FLOAT("alpha", 0.1f)};
	value_id x, r;

	(void)state;
	for (size_t v = 0; v < NVECTORS; v++) {
		again();
		x = input(&s);
		r = MAKE(&m, TANH, x);
		make_output(&m, MAKE(&m, RELU, conv(x, &s)));
		make_output(&m, MAKE_WITH(&m, LEAKYRELU, leaky, conv(x, &s)));
		make_output(&m, MAKE(&m, SIGMOID, conv(x, &s)));
		make_output(&m, MAKE(&m, TANH, conv(x, &s)));
		make_output(&m, MAKE(&m, HARDSWISH, conv(x, &s)));
		make_output(&m, MAKE(&m, ADD, conv(x, &s), r));
		make_output(&m,
		    MAKE(&m, CLIP, conv(x, &s), make_scalar(&m, -0.5f),
		        make_scalar(&m, 0.25f)));
		assert_true(check_convolutions(vectors[v], 2) >= 7);
	}
}

/* A block of a residual network, and a gate. */
static void
test_chains(void **state)
{
	static const struct shape s = {1, 16, 16, 14, 15, {1, 1, 1, 1}, 3, 1};
	value_id x = input(&s), y, r = MAKE(&m, RELU, x);

	(void)state;
	y = MAKE(&m, ADD, batch_norm(conv(r, &s), 16), r);
	make_output(&m, MAKE(&m, RELU, y));
	y = conv(x, &s);
	make_output(&m, MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)));
	check_all("native.conv", 4);
	for (uint32_t i = 0; i < found.n; i++)
		if (strcmp(tested->rule[found.candidate[i].rule].name,
		        "native.conv_gated")
		    == 0)
			return;
	fail_msg("no gate was taken");
}

static bool
is_refused_as(const char *condition)
{
	bool seen = false;

	for (uint32_t i = 0; i < found.nrefusals; i++)
		for (uint32_t k = 0; k < found.refusal[i].nreasons; k++) {
			const struct reason *r = &found.refusal[i].reason[k];

			seen |=
			    !r->holds && strcmp(r->condition, condition) == 0;
		}
	return seen;
}

/* What Winograd does not compute is refused. */
static void
test_refusals(void **state)
{
	const struct attr strided[] = {ATTR_OF_INTS("strides", 2, 1)};
	const struct attr dilated[] = {ATTR_OF_INTS("dilations", 1, 2)};
	const struct attr grouped[] = {ATTR_OF_INT("group", 2)};
	value_id x = make_input(&m, DIMS(1, 8, 9, 9));
	value_id w = make_constant(&m, DIMS(40, 8, 3, 3), -1, 1);
	value_id w5 = make_constant(&m, DIMS(40, 8, 5, 3), -1, 1);
	value_id w7 = make_constant(&m, DIMS(40, 8, 7, 7), -1, 1);
	value_id w4 = make_constant(&m, DIMS(40, 4, 3, 3), -1, 1);

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONV, strided, x, w));
	make_output(&m, MAKE_WITH(&m, CONV, dilated, x, w));
	make_output(&m, MAKE_WITH(&m, CONV, grouped, x, w4));
	make_output(&m, MAKE(&m, CONV, x, w5));
	make_output(&m, MAKE(&m, CONV, x, w7));
	find("native");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target != 0);
	assert_true(is_refused_as("window"));
	assert_true(is_refused_as("group"));
}

static uint32_t
count(const struct candidate_options *o, const char *target)
{
	struct err err = {.kind = ERR_NONE};
	uint32_t n = 0;

	if (!mix_open(&mix, &target, 1, &arena, &err)
	    || !candidates_find(&found, m.graph, &mix, o, &arena, &err))
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < found.n; i++)
		n += is_winograd(&found.candidate[i]);
	return n;
}

/* --exact-convolutions bars all, and says why; NaN is kept behind a guard. */
static void
test_options(void **state)
{
	const struct candidate_options exact = {
	    .exact = true, .keep_refusals = true};
	const struct candidate_options nan = {.keep_nan = true};

	(void)state;
	make_output(&m, conv(input(&shapes[3]), &shapes[3]));
	make_end(&m);
	assert_int_equal(count(&exact, "native"), 0);
	assert_true(is_refused_as("exact"));
	assert_true(count(&nan, "native") > 0);
	for (uint32_t i = 0; i < found.n; i++)
		if (is_winograd(&found.candidate[i])) {
			assert_false(found.candidate[i].loses_nan);
			assert_non_null(strstr(
			    found.candidate[i].implementation_name, "guarded"));
		}
}

/* As exporters spell it. */
static value_id
gelu_tanh(value_id x)
{
	value_id y = MAKE(&m, POW, x, make_scalar(&m, 3));

	y = MAKE(&m, ADD, x, MAKE(&m, MUL, y, make_scalar(&m, 0.044715f)));
	y = MAKE(&m, TANH, MAKE(&m, MUL, y, make_scalar(&m, 0.7978845608f)));
	y = MAKE(&m, ADD, y, make_scalar(&m, 1));
	return MAKE(&m, MUL, MAKE(&m, MUL, x, make_scalar(&m, 0.5f)), y);
}

/* One element, fewer than a vector, a block and one more, several threads'. */
static void
make_functions(const int64_t *dim)
{
	value_id x = make_input(&m, dim);

	x = MAKE(&m, MUL, x, make_scalar(&m, 9)); /* beyond what is near 0 */
	make_output(&m, gelu_tanh(x));
	make_output(&m, MAKE(&m, TANH, x));
}

static uint32_t
check_elements(const char *target)
{
	struct reference r;
	uint32_t n = 0;

	find(target);
	reference_init(&r, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++)
		if (found.candidate[i].target == 0
		    && !is_winograd(&found.candidate[i])) {
			assert_false(found.candidate[i].loses_nan);
			assert_true(runs(&found.candidate[i], &r));
			check_pages(&found.candidate[i], &r);
			n++;
		}
	reference_release(&r);
	return n;
}

static void
test_functions(void **state)
{
	const int64_t *dims[] = {DIMS(1), DIMS(7), DIMS(3, 11, 31),
	    DIMS(1, 513), DIMS(2, 19, 5, 7), DIMS(1, 16, 64, 67)};
	const size_t n = sizeof dims / sizeof *dims;

	(void)state;
	for (size_t v = 0; v < NVECTORS * n; v++) {
		again();
		make_functions(dims[v % n]);
		target_threads_set(v % n == 5 ? 3 : 1);
		assert_true(check_elements(vectors[v / n]) >= 3);
	}
	target_threads_set(1);
}

static uint32_t
count_rule(const char *name)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found.n; i++)
		n += found.candidate[i].target == 0
		    && strcmp(tested->rule[found.candidate[i].rule].name, name)
		        == 0;
	return n;
}

static bool
has_rule(const char *name)
{
	return count_rule(name) > 0;
}

/* ---- chains of functions ---- */

/* Each function of the table by itself or behind another, over what it is defined for
 * and beyond. */
static void
make_all_functions(const int64_t *dim)
{
	static const enum op ops[] = {OP_EXP, OP_LOG, OP_SQRT, OP_SOFTPLUS,
	    OP_ELU, OP_SIGMOID, OP_RELU, OP_LEAKYRELU, OP_ABS, OP_NEG,
	    OP_RECIPROCAL, OP_HARDSIGMOID, OP_HARDSWISH, OP_GELU};
	static const float powers[] = {-1, -2, 3, 4, 0.5f, -0.5f, 2};
	value_id x = make_input(&m, dim), y;

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		y = MAKE(&m, MUL, x, make_scalar(&m, 3));
		make_output(&m,
		    make_node(&m, ops[i], (const value_id[]){y, VALUE_LAST},
		        NULL, 0));
	}
	y = MAKE(&m, ADD, MAKE(&m, ABS, x), make_scalar(&m, 0.5f));
	for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
		make_output(&m, MAKE(&m, POW, y, make_scalar(&m, powers[i])));
	make_output(&m, MAKE(&m, MUL, x, x));
}

static void
test_all_functions(void **state)
{
	const int64_t *dims[] = {DIMS(1), DIMS(13, 3), DIMS(2, 5, 7, 3),
	    DIMS(1, 17, 9, 11), DIMS(5, 4099)};
	const size_t n = sizeof dims / sizeof *dims;

	(void)state;
	for (size_t v = 0; v < NVECTORS * n; v++) {
		again();
		m.opset = 20;
		make_all_functions(dims[v % n]);
		target_threads_set(v % n == 4 ? 3 : 1);
		assert_true(check_elements(vectors[v / n]) >= 22);
	}
	target_threads_set(1);
}

/* Operands of every form on either side, a chain that begins with one. */
static void
make_broadcasts(void)
{
	value_id x = make_input(&m, DIMS(3, 5, 7, 11));
	value_id other[] = {make_input(&m, DIMS(3, 5, 7, 11)),
	    make_input(&m, DIMS(1)), make_input(&m, DIMS(11)),
	    make_input(&m, DIMS(7, 11)), make_input(&m, DIMS(3, 1, 1, 1)),
	    make_input(&m, DIMS(1, 5, 1, 1)), make_input(&m, DIMS(5, 1, 1)),
	    make_input(&m, DIMS(3, 5, 7, 1)), make_input(&m, DIMS(5, 7, 1)),
	    make_constant(&m, DIMS(5, 1, 1), -1, 1),
	    make_constant(&m, DIMS(3, 5, 7, 11), -1, 1)};

	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		const value_id o = other[i];

		make_output(&m, MAKE(&m, TANH, MAKE(&m, SUB, x, o)));
		make_output(&m, MAKE(&m, TANH, MAKE(&m, SUB, o, x)));
		make_output(
		    &m, MAKE(&m, DIV, o, MAKE(&m, EXP, MAKE(&m, MUL, x, o))));
	}
}

static void
test_broadcasts(void **state)
{
	(void)state;
	for (size_t v = 0; v < NVECTORS; v++) {
		again();
		make_broadcasts();
		target_threads_set(1 + (uint32_t)v % 3);
		assert_true(check_elements(vectors[v]) >= 60);
	}
	target_threads_set(1);
	again();
	make_output(&m,
	    MAKE(&m, EXP,
	        MAKE(&m, ADD, make_input(&m, DIMS(3, 5, 7)),
	            make_input(&m, DIMS(3, 1, 7)))));
	find("native");
	assert_true(is_refused_as("operands"));
}

/* Condition and operands of every form. */
static void
test_choices(void **state)
{
	(void)state;
	for (size_t v = 0; v < 3 * NVECTORS; v++) {
		const int64_t n = v % 3 ? 37 : 4100;
		value_id x, y, one, seen;

		again();
		x = make_input(&m, DIMS(3, 5, n));
		y = make_input(&m, DIMS(5, 1));
		one = make_input(&m, DIMS(1));
		seen = of_type(MAKE(&m, LESS, x, y), DT_BOOL);
		make_output(&m, MAKE(&m, WHERE, seen, x, one));
		make_output(&m, MAKE(&m, WHERE, seen, make_scalar(&m, 0), x));
		seen = of_type(MAKE(&m, LESS, y, one), DT_BOOL);
		make_output(&m, MAKE(&m, WHERE, seen, y, x));
		seen = of_type(
		    MAKE(&m, LESS, make_input(&m, DIMS(n)), one), DT_BOOL);
		make_output(&m,
		    MAKE(&m, WHERE, seen, make_input(&m, DIMS(3, 1, 1)), x));
		target_threads_set(1 + (uint32_t)v % 3);
		assert_true(check_elements(vectors[v / 3]) >= 4);
		assert_true(has_rule("native.choice"));
	}
	target_threads_set(1);
}

/* ---- reductions ---- */

static value_id
reduced(enum op op, value_id x, int64_t from, int64_t n)
{
	int64_t axes[5] = {from, from + 1, from + 2, from + 3};
	const struct attr keep[] = {ATTR_OF_INT("keepdims", n % 2)};

	axes[n] = INTS_END;

	return make_node(&m, op,
	    (const value_id[]){x, make_ints(&m, axes), VALUE_LAST}, keep, 1);
}

static void
test_reductions(void **state)
{
	static const enum op ops[] = {OP_REDUCESUM, OP_REDUCEMEAN, OP_REDUCEMAX,
	    OP_REDUCEMIN, OP_REDUCEL1, OP_REDUCEL2, OP_REDUCESUMSQUARE};
	const int64_t *dims[] = {DIMS(1, 1, 1, 1), DIMS(3, 5, 7, 2),
	    DIMS(2, 19, 3, 67), DIMS(5, 3, 130, 1), DIMS(2, 3, 70, 71)};
	const size_t n = sizeof dims / sizeof *dims;

	(void)state;
	for (size_t v = 0; v < NVECTORS * n; v++) {
		value_id x;

		again();
		m.opset = 18;
		x = make_input(&m, dims[v % n]);
		for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
			for (int64_t from = 0; from < 4; from++)
				make_output(&m,
				    reduced(
				        ops[i], x, from, i % 2 ? 1 : 4 - from));
		for (size_t i = 0; i < 4; i++)
			make_output(
			    &m, reduced(ops[i], MAKE(&m, MUL, x, x), 2, 2));
		target_threads_set(v % n == 4 ? 3 : 1);
		assert_true(check_elements(vectors[v / n]) >= 32);
		assert_true(has_rule("native.reduce"));
	}
	target_threads_set(1);
}

/* ---- single pixels ---- */

/* One of all, tails of vectors, pairs and groups; slices of channels, blocks. */
static const struct point {
	int64_t n, channels, filters, height, width, stride[2];
} points[] = {
    {1, 1, 1, 1, 1, {1, 1}},
    {2, 3, 5, 7, 11, {1, 1}},
    {1, 17, 19, 5, 23, {1, 1}},
    {2, 31, 33, 9, 10, {2, 3}},
    {1, 32, 64, 7, 7, {1, 1}},
    {3, 16, 40, 1, 13, {1, 1}},
    {1, 300, 47, 5, 5, {1, 1}},
    {1, 1040, 16, 9, 15, {1, 1}},
    {1, 8, 24, 14, 14, {2, 2}},
    {1, 530, 129, 3, 2, {1, 1}},
    {1, 70, 17, 53, 53, {1, 1}},
    {1, 521, 509, 2, 3, {1, 1}},
};
#define NPOINTS (sizeof points / sizeof *points)

static value_id
point(value_id x, const struct point *p)
{
	const struct attr strides[] = {
	    ATTR_OF_INTS("strides", p->stride[0], p->stride[1])};

	return MAKE_WITH(&m, CONV, strides, x,
	    make_constant(&m, DIMS(p->filters, p->channels, 1, 1), -.3f, .3f),
	    make_constant(&m, DIMS(p->filters), -1, 1));
}

/* Behind a norm, a norm and Relu, a gate, or as they are where that is offered;
 * Relu, bounds, functions and a tensor added behind them. */
static void
make_points(const struct point *p)
{
	const int64_t c = p->channels;
	value_id x = make_input(&m, DIMS(p->n, c, p->height, p->width));
	value_id y = MAKE(&m, RELU, batch_norm(x, c));
	value_id gate = make_input(&m, DIMS(p->n, c, 1, 1)), r;

	r = MAKE(&m, RELU, point(y, p));
	make_output(&m, r);
	make_output(&m, MAKE(&m, SIGMOID, point(batch_norm(x, c), p)));
	make_output(&m, MAKE(&m, SIGMOID, point(MAKE(&m, MUL, x, gate), p)));
	y = batch_norm(point(batch_norm(x, c), p), p->filters);
	make_output(&m,
	    MAKE(&m, CLIP, MAKE(&m, ADD, y, r), make_scalar(&m, .1f),
	        make_scalar(&m, .5f)));
	make_output(&m, MAKE(&m, RELU, point(x, p)));
	y = point(x, p);
	make_output(&m, MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)));
}

static void
test_points(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVECTORS * NPOINTS; i++) {
		again();
		make_points(&points[i % NPOINTS]);
		target_threads_set(1 + (uint32_t)i % 3);
		assert_true(check_elements(vectors[i / NPOINTS]) >= 18);
		assert_true(has_rule("native.point_entered"));
		assert_true(has_rule("native.point"));
		assert_true(has_rule("native.point_gated"));
	}
	target_threads_set(1);
}

static bool
is_plain_offered(const struct point *p)
{
	value_id x;

	again();
	x = make_input(&m, DIMS(p->n, p->channels, p->height, p->width));
	make_output(&m, MAKE(&m, RELU, point(x, p)));
	find("native");
	return has_rule("native.point");
}

/* What oneDNN does as fast: near weights and image, no function made of exp. */
static void
test_near_points(void **state)
{
	static const struct point far[] = {
	    {1, 70, 17, 107, 107, {1, 1}},
	    {1, 1030, 1027, 2, 3, {1, 1}},
	};

	(void)state;
	for (size_t i = 0; i < NPOINTS; i++)
		assert_false(is_plain_offered(&points[i]));
	for (size_t i = 0; i < sizeof far / sizeof *far; i++)
		assert_true(is_plain_offered(&far[i]));
}

/* ---- products ---- */

/* One, primes, tails of vectors, groups and blocks of rows, parts of the columns for
 * threads. */
static const struct sides {
	int64_t batch, rows, inner, columns;
} sides[] = {
    {1, 1, 1, 1},
    {1, 3, 17, 31},
    {2, 7, 64, 32},
    {1, 13, 300, 47},
    {3, 67, 33, 129},
    {1, 5, 16, 256},
    {1, 1, 1031, 97},
    {1, 130, 258, 65},
};
#define NSIDES (sizeof sides / sizeof *sides)

static value_id
product(value_id x, const struct sides *s)
{
	return MAKE(&m, MATMUL, x,
	    make_constant(&m, DIMS(s->inner, s->columns), -.3f, .3f));
}

static value_id
row_of(const struct sides *s)
{
	return make_constant(&m, DIMS(s->columns), -1, 1);
}

/* With a row, a tensor and functions behind it; as Gemm has it, turned or scaled. */
static void
make_products(const struct sides *s)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1),
	    ATTR_OF_FLOAT("alpha", .5f), ATTR_OF_FLOAT("beta", 2)};
	value_id x = make_input(&m, DIMS(s->batch, s->rows, s->inner));
	value_id flat = make_input(&m, DIMS(s->rows, s->inner));
	value_id other = make_input(&m, DIMS(s->batch, s->rows, s->columns));
	value_id y = MAKE(&m, ADD, product(x, s), row_of(s));

	make_output(&m, product(x, s));
	make_output(&m, MAKE(&m, RELU, y));
	make_output(
	    &m, MAKE(&m, ADD, MAKE(&m, ADD, product(x, s), row_of(s)), other));
	y = MAKE(&m, ADD, product(x, s), row_of(s));
	make_output(&m, MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)));
	make_output(&m, gelu_tanh(MAKE(&m, ADD, product(x, s), row_of(s))));
	make_output(&m,
	    MAKE_WITH(&m, GEMM, turned, flat,
	        make_constant(&m, DIMS(s->columns, s->inner), -1, 1),
	        row_of(s)));
	make_output(&m,
	    MAKE(&m, SIGMOID,
	        MAKE(&m, GEMM, flat,
	            make_constant(&m, DIMS(s->inner, s->columns), -1, 1))));
}

/* Packed slice by slice: rows of it, or, turned, columns. */
static void
test_large_products(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1)};
	value_id x, w;

	(void)state;
	again();
	x = make_input(&m, DIMS(2, 2111));
	w = make_constant(&m, DIMS(2111, 2003), -.1f, .1f);
	make_output(&m, MAKE(&m, MATMUL, x, w));
	w = make_constant(&m, DIMS(2003, 2111), -.1f, .1f);
	make_output(&m, MAKE_WITH(&m, GEMM, turned, x, w));
	assert_true(check_elements("native") == 2);
}

static void
test_products(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVECTORS * NSIDES; i++) {
		again();
		make_products(&sides[i % NSIDES]);
		target_threads_set(1 + (uint32_t)i % 3);
		assert_true(check_elements(vectors[i / NSIDES]) >= 12);
		assert_true(has_rule("native.product"));
	}
	target_threads_set(1);
}

/* A left side of constants, one that is turned, a matrix for each of a batch, a bias that
 * is no row, a factor for each column. */
static void
test_refused_products(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transA", 1)};
	value_id x, w;

	(void)state;
	again();
	x = make_input(&m, DIMS(2, 4, 8));
	w = make_constant(&m, DIMS(8, 3), -1, 1);
	make_output(
	    &m, MAKE(&m, MATMUL, make_constant(&m, DIMS(4, 8), -1, 1), w));
	make_output(
	    &m, MAKE(&m, MATMUL, x, make_constant(&m, DIMS(2, 8, 3), -1, 1)));
	x = make_input(&m, DIMS(8, 4));
	make_output(&m, MAKE_WITH(&m, GEMM, turned, x, w));
	x = make_input(&m, DIMS(4, 8));
	make_output(
	    &m, MAKE(&m, GEMM, x, w, make_constant(&m, DIMS(4, 1), -1, 1)));
	make_output(&m, MAKE(&m, MATMUL, x, make_input(&m, DIMS(8, 3))));
	find("native");
	assert_false(has_rule("native.product"));
}

/* ---- few filters ---- */

/* One of all, tails of vectors, rows between which there is padding, phases of strides
 * of which some are read, blocks of rows and of columns. */
static const struct few {
	int64_t n, channels, filters, height, width;
	int64_t kernel[2], stride[2], dilation[2], pads[4];
} fews[] = {
    {1, 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {2, 3, 7, 7, 11, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {1, 2, 31, 9, 13, {3, 5}, {2, 2}, {1, 1}, {1, 2, 1, 2}},
    {1, 5, 15, 17, 23, {7, 3}, {1, 3}, {1, 1}, {3, 0, 3, 2}},
    {2, 1, 1, 1, 1300, {1, 31}, {1, 2}, {1, 1}, {0, 7, 0, 11}},
    {1, 4, 3, 12, 12, {3, 3}, {1, 1}, {2, 3}, {2, 3, 2, 3}},
    {1, 3, 2, 19, 20, {3, 3}, {2, 2}, {2, 2}, {0, 1, 2, 1}},
    {1, 33, 9, 61, 88, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {3, 4, 4, 13, 13, {1, 1}, {3, 2}, {1, 1}, {0, 0, 0, 0}},
    {1, 6, 12, 5, 2100, {5, 1}, {1, 1}, {1, 1}, {4, 0, 4, 0}},
};
#define NFEW (sizeof fews / sizeof *fews)

static value_id
few_of(value_id x, const struct few *s)
{
	const int64_t *p = s->pads;
	const struct attr attr[] = {
	    ATTR_OF_INTS("strides", s->stride[0], s->stride[1]),
	    ATTR_OF_INTS("dilations", s->dilation[0], s->dilation[1]),
	    ATTR_OF_INTS("pads", p[0], p[1], p[2], p[3])};

	return MAKE_WITH(&m, CONV, attr, x,
	    make_constant(&m,
	        DIMS(s->filters, s->channels, s->kernel[0], s->kernel[1]), -.3f,
	        .3f),
	    make_constant(&m, DIMS(s->filters), -1, 1));
}

static void
make_few(const struct few *s)
{
	value_id x =
	    make_input(&m, DIMS(s->n, s->channels, s->height, s->width));
	value_id y = few_of(x, s), r = MAKE(&m, RELU, y);

	make_output(&m, r);
	y = batch_norm(few_of(x, s), s->filters);
	make_output(&m, MAKE(&m, SIGMOID, y));
	make_output(&m, MAKE(&m, RELU, MAKE(&m, ADD, few_of(x, s), r)));
	y = few_of(x, s);
	make_output(&m, MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)));
}

/* Of two dimensions, and of one. */
static void
test_few_filters(void **state)
{
	const struct attr line[] = {ATTR_OF_INTS("strides", 2),
	    ATTR_OF_INTS("dilations", 3), ATTR_OF_INTS("pads", 5, 4)};

	(void)state;
	for (size_t i = 0; i < NVECTORS * NFEW; i++) {
		again();
		make_few(&fews[i % NFEW]);
		target_threads_set(1 + (uint32_t)i % 3);
		assert_true(check_elements(vectors[i / NFEW]) >= 7);
		assert_true(has_rule("native.direct"));
		assert_true(has_rule("native.direct_gated"));
	}
	again();
	make_output(&m,
	    MAKE_WITH(&m, CONV, line, make_input(&m, DIMS(2, 3, 700)),
	        make_constant(&m, DIMS(5, 3, 7), -1, 1)));
	assert_true(check_elements("native") == 1);
	target_threads_set(1);
}

static void
test_refused_filters(void **state)
{
	const struct attr grouped[] = {ATTR_OF_INT("group", 2)};
	const struct attr far[] = {ATTR_OF_INTS("dilations", 1, 600),
	    ATTR_OF_INTS("pads", 0, 600, 0, 600)};
	value_id x = make_input(&m, DIMS(1, 4, 5, 9));

	(void)state;
	make_output(&m,
	    MAKE_WITH(&m, CONV, grouped, x,
	        make_constant(&m, DIMS(2, 2, 3, 3), -1, 1)));
	make_output(&m,
	    MAKE_WITH(
	        &m, CONV, far, x, make_constant(&m, DIMS(2, 4, 1, 3), -1, 1)));
	make_output(
	    &m, MAKE(&m, CONV, x, make_constant(&m, DIMS(33, 4, 2, 2), -1, 1)));
	find("native");
	assert_false(has_rule("native.direct"));
	assert_true(is_refused_as("group"));
	assert_true(is_refused_as("reach"));
	assert_true(is_refused_as("filters"));
}

/* ---- each channel by itself ---- */

/* One of all, channels that fill vectors and that do not, windows within, beyond and
 * wider than the image, rows of one and of several groups, copied and where they lie. */
static const struct channels {
	int64_t n, channels, height, width, kernel[2], stride[2], pad[4];
} channelwise[] = {
    {1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {1, 2, 1, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {2, 17, 7, 11, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {1, 32, 9, 41, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {2, 16, 13, 67, {3, 3}, {2, 2}, {1, 1, 1, 1}},
    {1, 24, 14, 14, {3, 3}, {2, 2}, {0, 0, 1, 1}},
    {1, 40, 7, 7, {5, 5}, {1, 1}, {2, 2, 2, 2}},
    {1, 31, 12, 59, {5, 5}, {1, 1}, {2, 2, 2, 2}},
    {2, 16, 30, 131, {5, 5}, {2, 2}, {2, 1, 1, 2}},
    {1, 72, 15, 15, {5, 5}, {2, 2}, {2, 2, 2, 2}},
    {1, 33, 10, 80, {7, 7}, {1, 1}, {3, 3, 3, 3}},
    {1, 16, 9, 64, {7, 7}, {2, 2}, {3, 3, 3, 3}},
    {1, 5, 2, 3, {7, 6}, {1, 2}, {6, 5, 4, 3}},
    {2, 35, 19, 97, {2, 4}, {2, 1}, {0, 3, 1, 0}},
    {1, 16, 3, 50, {3, 3}, {1, 2}, {5, 9, 5, 9}},
    {1, 130, 4, 4, {1, 3}, {1, 1}, {0, 1, 0, 1}},
    {1, 128, 3, 30, {3, 3}, {1, 1}, {1, 1, 1, 1}},
};
#define NCHANNELWISE (sizeof channelwise / sizeof *channelwise)

static value_id
depthwise(value_id x, const struct channels *s)
{
	const struct attr attr[] = {ATTR_OF_INT("group", s->channels),
	    ATTR_OF_INTS("strides", s->stride[0], s->stride[1]),
	    ATTR_OF_INTS("pads", s->pad[0], s->pad[1], s->pad[2], s->pad[3])};

	return MAKE_WITH(&m, CONV, attr, x,
	    make_constant(&m, DIMS(s->channels, 1, s->kernel[0], s->kernel[1]),
	        -.3f, .3f),
	    make_constant(&m, DIMS(s->channels), -1, 1));
}

/* With nothing behind it, functions, bounds that leave 0 out, tensors and channels'
 * constants. */
static void
make_channelwise(const struct channels *s)
{
	const int64_t c = s->channels;
	value_id x = make_input(&m, DIMS(s->n, c, s->height, s->width));
	value_id y = depthwise(x, s), r = MAKE(&m, RELU, depthwise(x, s));

	make_output(&m, y);
	make_output(&m, r);
	make_output(&m, MAKE(&m, HARDSWISH, batch_norm(depthwise(x, s), c)));
	make_output(&m,
	    MAKE(&m, CLIP, depthwise(x, s), make_scalar(&m, .1f),
	        make_scalar(&m, .5f)));
	make_output(&m, MAKE(&m, SIGMOID, MAKE(&m, ADD, depthwise(x, s), r)));
	y = depthwise(x, s);
	make_output(&m, MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)));
}

static void
check_channelwise(const struct channels *s, size_t version)
{
	again();
	make_channelwise(s);
	check_elements(vectors[version]);
	assert_true(has_rule("native.depthwise"));
	assert_true(has_rule("native.depthwise_gated"));
}

static void
test_channelwise(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVECTORS * NCHANNELWISE; i++) {
		target_threads_set(1 + (uint32_t)i % 3);
		check_channelwise(
		    &channelwise[i % NCHANNELWISE], i / NCHANNELWISE);
	}
	target_threads_set(1);
}

/* More than a filter a channel, windows with holes, far apart or too large. */
static void
test_refused_channelwise(void **state)
{
	static const struct channels large = {
	    1, 8, 9, 9, {8, 3}, {1, 1}, {0, 0, 0, 0}};
	static const struct channels far = {
	    1, 8, 9, 9, {3, 3}, {3, 1}, {0, 0, 0, 0}};
	const struct attr dilated[] = {
	    ATTR_OF_INT("group", 8), ATTR_OF_INTS("dilations", 1, 2)};
	const struct attr grouped[] = {ATTR_OF_INT("group", 8)};
	value_id x = make_input(&m, DIMS(1, 8, 9, 9));
	value_id w = make_constant(&m, DIMS(8, 1, 3, 3), -1, 1);
	value_id w16 = make_constant(&m, DIMS(16, 1, 3, 3), -1, 1);

	(void)state;
	make_output(&m, depthwise(x, &large));
	make_output(&m, depthwise(x, &far));
	make_output(&m, MAKE_WITH(&m, CONV, dilated, x, w));
	make_output(&m, MAKE_WITH(&m, CONV, grouped, x, w16));
	find("native");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target != 0);
	assert_true(is_refused_as("window"));
	assert_true(is_refused_as("strides"));
	assert_true(is_refused_as("dilation"));
	assert_true(is_refused_as("group"));
}

/* ---- single pixels, then each channel by itself ---- */

/* One of all, channels and filters that fill vectors, pairs of these and neither, rows
 * of one group and of several, windows within and beyond the image, several bands. */
static const struct expanded {
	int64_t channels;
	struct channels second; /* of what lies between */
} expanded[] = {
    {1, {1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
    {3, {1, 2, 1, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}}},
    {16, {2, 96, 13, 17, {3, 3}, {2, 2}, {1, 1, 1, 1}}},
    {17, {2, 33, 12, 26, {3, 3}, {1, 1}, {1, 1, 1, 1}}},
    {24, {1, 144, 14, 28, {5, 5}, {2, 2}, {2, 2, 2, 2}}},
    {40, {1, 40, 11, 13, {5, 5}, {1, 1}, {2, 2, 2, 2}}},
    {32, {1, 17, 40, 150, {3, 3}, {2, 2}, {0, 0, 1, 1}}},
    {300, {1, 200, 4, 3, {7, 7}, {1, 2}, {3, 3, 3, 3}}},
    {5, {2, 35, 19, 37, {2, 4}, {2, 1}, {0, 3, 1, 0}}},
    {8, {1, 130, 3, 50, {3, 3}, {1, 2}, {5, 9, 5, 9}}},
};
#define NEXPANDED (sizeof expanded / sizeof *expanded)

static value_id
pixels_of_first(value_id x, const struct expanded *s)
{
	const int64_t filters = s->second.channels;

	return MAKE(&m, CONV, x,
	    make_constant(&m, DIMS(filters, s->channels, 1, 1), -.3f, .3f),
	    make_constant(&m, DIMS(filters), -1, 1));
}

/* Nothing, bounds that leave 0 out, functions and norms between the two and behind. */
static void
make_expanded(const struct expanded *s)
{
	const struct channels *two = &s->second;
	const int64_t c = two->channels;
	value_id x =
	    make_input(&m, DIMS(two->n, s->channels, two->height, two->width));
	value_id y = depthwise(pixels_of_first(x, s), two);

	make_output(&m, y);
	y = MAKE(&m, CLIP, pixels_of_first(x, s), make_scalar(&m, .1f),
	    make_scalar(&m, .5f));
	make_output(&m, MAKE(&m, RELU, depthwise(y, two)));
	y = batch_norm(pixels_of_first(x, s), c);
	y = depthwise(MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)), two);
	y = batch_norm(y, c);
	make_output(&m, MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)));
	y = MAKE(&m, HARDSWISH, pixels_of_first(x, s));
	make_output(&m, MAKE(&m, HARDSWISH, depthwise(y, two)));
}

static void
check_expanded(const struct expanded *s, size_t version)
{
	again();
	make_expanded(s);
	check_elements(vectors[version]);
	assert_true(count_rule("native.point_depthwise") >= 8);
}

static void
test_expanded(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVECTORS * NEXPANDED; i++) {
		target_threads_set(1 + (uint32_t)i % 3);
		check_expanded(&expanded[i % NEXPANDED], i / NEXPANDED);
	}
	target_threads_set(1);
}

/* What is made inside a composite has no port, so nothing behind can add it. */
static void
test_refused_inside(void **state)
{
	const struct channels two = {1, 8, 9, 9, {3, 3}, {1, 1}, {1, 1, 1, 1}};
	value_id x = make_input(&m, DIMS(1, 8, 9, 9));
	value_id w = make_constant(&m, DIMS(8, 8, 1, 1), -1, 1);
	value_id y = MAKE(&m, CONV, x, w), n;

	(void)state;
	make_output(&m, MAKE(&m, ADD, depthwise(y, &two), y));
	n = MAKE(&m, BATCHNORMALIZATION, x,
	    make_constant(&m, DIMS(8), 0.5f, 1.5f),
	    make_constant(&m, DIMS(8), -1, 1),
	    make_constant(&m, DIMS(8), -1, 1),
	    make_constant(&m, DIMS(8), 0.5f, 1.5f));
	make_output(&m, MAKE(&m, ADD, MAKE(&m, CONV, n, w), n));
	find("native");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].nnodes < 3);
	assert_true(is_refused_as("operands"));
}

/* Pixels left out, a window, groups, another tensor's elements added between. */
static void
test_refused_expanded(void **state)
{
	const struct channels two = {1, 8, 9, 9, {3, 3}, {1, 1}, {1, 1, 1, 1}};
	const struct attr far[] = {ATTR_OF_INTS("strides", 2, 2)};
	const struct attr grouped[] = {ATTR_OF_INT("group", 2)};
	value_id x = make_input(&m, DIMS(1, 8, 9, 9));
	value_id w = make_constant(&m, DIMS(8, 8, 1, 1), -1, 1);
	value_id w3 = make_constant(&m, DIMS(8, 8, 3, 3), -1, 1);
	value_id wg = make_constant(&m, DIMS(8, 4, 1, 1), -1, 1);
	value_id y;

	(void)state;
	make_output(&m, depthwise(MAKE_WITH(&m, CONV, far, x, w), &two));
	make_output(&m, depthwise(MAKE(&m, CONV, x, w3), &two));
	make_output(&m, depthwise(MAKE_WITH(&m, CONV, grouped, x, wg), &two));
	make_output(&m, MAKE(&m, CONV, MAKE(&m, CONV, x, w), w));
	y = MAKE(&m, CONV, x, w);
	make_output(&m, depthwise(y, &two));
	make_output(&m, y);
	find("native");
	assert_false(has_rule("native.point_depthwise"));
	assert_true(is_refused_as("strides"));
	assert_true(is_refused_as("window"));
	assert_true(is_refused_as("group"));
}

/* ---- attention ---- */

struct heads {
	int64_t batch, q, kv, queries, keys, size, value_size, past;
};

/* One of all, fewer than vectors and groups of rows and one more, shared keys; behind
 * a past, of which there may be more than stays in the first cache. */
static const struct heads heads[] = {
    {1, 1, 1, 1, 1, 1, 1, 0},
    {2, 3, 3, 5, 7, 3, 2, 0},
    {1, 4, 2, 13, 33, 17, 35, 0},
    {1, 2, 2, 24, 64, 32, 64, 0},
    {2, 6, 1, 2, 31, 16, 5, 0},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {2, 3, 3, 5, 5, 3, 2, 4},
    {1, 4, 2, 13, 7, 17, 35, 26},
    {1, 6, 2, 1, 1, 64, 64, 70},
    {2, 7, 1, 2, 2, 40, 65, 150},
    {1, 2, 2, 33, 33, 32, 16, 1},
};
#define NHEADS (sizeof heads / sizeof *heads)

static value_id
operand(const struct heads *h, int64_t n, int64_t rows, int64_t size, bool flat)
{
	return make_input(&m,
	    flat ? DIMS(h->batch, rows, n * size)
	         : DIMS(h->batch, n, rows, size));
}

static value_id
attention(const struct heads *h, bool flat, bool causal, value_id mask)
{
	const struct attr attr[] = {ATTR_OF_INT("is_causal", causal),
	    ATTR_OF_FLOAT("scale", 0.3f), ATTR_OF_INT("q_num_heads", h->q),
	    ATTR_OF_INT("kv_num_heads", h->kv)};
	value_id in[7] = {operand(h, h->q, h->queries, h->size, flat),
	    operand(h, h->kv, h->keys, h->size, flat),
	    operand(h, h->kv, h->keys, h->value_size, flat), mask, VALUE_LAST};

	if (h->past) {
		in[4] = operand(h, h->kv, h->past, h->size, false);
		in[5] = operand(h, h->kv, h->past, h->value_size, false);
		in[6] = VALUE_LAST;
	}
	return make_node(&m, OP_ATTENTION, in, attr, flat ? 4 : 2);
}

/* The same; keys and values of past and present, or the former alone, are read, too,
 * with a past and without. */
static value_id
attention_shown(const struct heads *h, bool flat, bool both)
{
	value_id y = attention(h, flat, true, VALUE_NONE);

	make_output(&m, make_more(&m));
	if (both)
		make_output(&m, make_more(&m));
	return y;
}

/* A mask of each form; the last hides all from one query of several. */
static void
make_attentions(const struct heads *h, bool flat)
{
	const int64_t keys = h->keys + h->past;
	value_id some = make_input(&m, DIMS(1, 1, h->queries, keys));
	value_id seen = MAKE(&m, LESSOREQUAL, some, make_scalar(&m, 0.25f));
	value_id rows = make_input(&m, DIMS(h->queries, 1)), hidden;

	hidden = MAKE(&m, WHERE,
	    of_type(MAKE(&m, LESSOREQUAL, rows, make_scalar(&m, 0)), DT_BOOL),
	    make_scalar(&m, -INFINITY), some);
	make_output(&m, attention(h, flat, false, VALUE_NONE));
	make_output(&m, attention(h, flat, true, VALUE_NONE));
	make_output(&m, attention(h, flat, true, of_type(seen, DT_BOOL)));
	make_output(&m,
	    attention(
	        h, flat, false, make_input(&m, DIMS(h->batch, 1, 1, keys))));
	make_output(&m,
	    attention(h, flat, false, make_constant(&m, DIMS(keys), -2, 2)));
	make_output(&m,
	    attention(h, flat, true,
	        make_constant(&m, DIMS(h->queries, keys), -2, 2)));
	make_output(&m, attention(h, flat, false, hidden));
	make_output(&m, attention_shown(h, flat, true));
	make_output(&m, attention_shown(h, flat, false));
}

static void
test_attention(void **state)
{
	(void)state;
	for (size_t v = 0; v < 2 * NVECTORS * NHEADS; v++) {
		const uint32_t ways =
		    heads[v / 2 % NHEADS].queries > 32 ? 1 : 2;

		again();
		m.opset = 24;
		make_attentions(&heads[v / 2 % NHEADS], v % 2);
		target_threads_set(v / 2 % NHEADS % 3 == 0 ? 3 : 1);
		assert_true(
		    check_elements(vectors[v / 2 / NHEADS]) >= ways * 9);
	}
	target_threads_set(1);
}

/* As exporters spell it: a query that sees nothing makes NaN there, or 0 where
 * weights are guarded, and so does NaN. */
static void
make_spelled(float hidden, bool guarded)
{
	const struct attr turn[] = {ATTR_OF_INTS("perm", 0, 1, 3, 2)};
	const struct attr last[] = {ATTR_OF_INT("axis", -1)};
	value_id k, v, s, rows, mask;

	s = make_input(&m, DIMS(2, 3, 29, 8));
	k = make_input(&m, DIMS(2, 3, 35, 8));
	v = make_input(&m, DIMS(2, 3, 35, 4));
	rows = make_input(&m, DIMS(2, 1, 29, 1));
	mask = make_input(&m, DIMS(2, 1, 29, 35));
	mask = MAKE(&m, WHERE,
	    of_type(MAKE(&m, LESSOREQUAL, rows, make_scalar(&m, 0)), DT_BOOL),
	    make_scalar(&m, hidden), mask);
	s = MAKE(&m, MATMUL, s, MAKE_WITH(&m, TRANSPOSE, turn, k));
	s = MAKE(&m, MUL, s, make_scalar(&m, 0.35f));
	s = MAKE_WITH(&m, SOFTMAX, last, MAKE(&m, ADD, s, mask));
	if (guarded)
		s = MAKE(&m, WHERE, of_type(MAKE(&m, ISNAN, s), DT_BOOL),
		    make_scalar(&m, 0), s);
	make_output(&m, MAKE(&m, MATMUL, s, v));
}

static void
test_spelled_attention(void **state)
{
	static const float hidden[] = {-1, -INFINITY, NAN};

	(void)state;
	for (size_t i = 0; i < 6 * NVECTORS; i++) {
		again();
		m.opset = 20;
		make_spelled(hidden[i % 3], i / 3 % 2);
		assert_true(check_elements(vectors[i / 6]) >= 1);
	}
}

/* All that is offered; one of all nodes is, where it must be. */
static void
check_spelled(const char *target, bool must)
{
	struct reference r;
	bool whole = false;

	find(target);
	reference_init(&r, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++)
		if (found.candidate[i].target == 0) {
			assert_true(runs(&found.candidate[i], &r));
			check_pages(&found.candidate[i], &r);
			whole = whole
			    || found.candidate[i].nnodes == m.graph->nnodes;
		}
	reference_release(&r);
	assert_true(whole || !must);
}

struct spelled {
	enum idiom kind;
	uint32_t opset;
	const char *text;
};
static const struct spelled spelled[] = {
#undef SPELLED /* the pattern */
#define SPELLED(exporter, opset, kind, text) {IDIOM_##kind, opset, text},
#define PARTLY(what, opset, kind, text)
#define UNLIKE(what, opset, kind, text)
#include "tests/unit/targets/idioms.def"
    /* odd sizes, tails, groups of rows; images with the same windows */
    {IDIOM_MOVED_ATTENTION, 20,
        "x[8,49,288]; a = Reshape(x, [8, 49, 3, 3, 32]); "
        "b = Transpose(a){perm=[2, 0, 3, 1, 4]}; "
        "c, d, e = Split(b){axis=0, num_outputs=3}; q = Squeeze(c, [0]); "
        "k = Squeeze(d, [0]); v = Squeeze(e, [0]); s = Mul(q, 0.2); "
        "t = Transpose(k){perm=[0, 1, 3, 2]}; p = MatMul(s, t); "
        "n = Add(p, #1x3x49x49); r = Reshape(n, [2, 4, 3, 49, 49]); "
        "f = Add(r, #1x4x1x49x49); h = Reshape(f, [8, 3, 49, 49]); "
        "w = Softmax(h){axis=-1}; o = MatMul(w, v); "
        "u = Transpose(o){perm=[0, 2, 1, 3]}; y = Reshape(u, [8, 49, 96])"},
    {IDIOM_MOVED_ATTENTION, 20,
        "x[2,37,102]; a = Reshape(x, [2, 37, 2, 51]); "
        "b = Transpose(a){perm=[0, 2, 1, 3]}; q = Slice(b, [0], [17], [3]); "
        "k = Slice(b, [17], [34], [3]); v = Slice(b, [34], [99], [3]); "
        "t = Transpose(k){perm=[0, 1, 3, 2]}; p = MatMul(q, t); "
        "n = Add(p, #1x2x37x37); w = Softmax(n){axis=-1}; o = MatMul(w, v); "
        "u = Transpose(o){perm=[2, 0, 1, 3]}; y = Reshape(u, [37, 2, 34])"},
    {IDIOM_MOVED_ATTENTION, 20,
        "x[3,70,66]; a = Reshape(x, [3, 70, 1, 66]); "
        "b = Slice(a, [0, 1], [33, 999], [3, 1], [1, 2]); "
        "q = Transpose(b){perm=[0, 2, 1, 3]}; "
        "c = Slice(a, [-33], [66], [-1]); "
        "k = Transpose(c){perm=[0, 2, 1, 3]}; "
        "t = Transpose(k){perm=[0, 1, 3, 2]}; p = MatMul(q, t); "
        "n = Mul(p, 0.2); m = Add(n, #1x1x35x70); w = Softmax(m){axis=-1}; "
        "z[3,1,70,5]; o = MatMul(w, z); y = Squeeze(o, [1])"},
};
#define NSPELLED (sizeof spelled / sizeof *spelled)

/* Every attention that is found, and where its operands lie. */
static void
test_moved_attention(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVECTORS * NSPELLED; i++) {
		const struct spelled *s = &spelled[i % NSPELLED];

		if (s->kind != IDIOM_ATTENTION
		    && s->kind != IDIOM_MOVED_ATTENTION)
			continue;
		again();
		m.opset = s->opset;
		make_output(&m, spell(&m, s->text));
		target_threads_set(1 + (uint32_t)i % 3);
		check_spelled(
		    vectors[i / NSPELLED], s->kind == IDIOM_MOVED_ATTENTION);
	}
	target_threads_set(1);
}

/* Keys and values of past and present, spelled out, are read by others, too: so is
 * the whole of it, as one. */
static void
test_shown_past(void **state)
{
	uint32_t tried = 0;

	(void)state;
	for (size_t i = 0; i < NVECTORS * NSPELLED; i++) {
		const struct spelled *s = &spelled[i % NSPELLED];

		if (!strstr(s->text, "Concat(i, k)"))
			continue;
		again();
		m.opset = s->opset;
		make_output(&m, spell(&m, s->text));
		for (node_id n = 0; n < m.graph->nnodes; n++)
			if (graph_node(m.graph, n)->op == OP_CONCAT)
				make_output(
				    &m, graph_node(m.graph, n)->output[0]);
		check_spelled(vectors[i / NSPELLED], true);
		tried++;
	}
	assert_true(tried >= 6 * NVECTORS);
}

static void
test_refused_attention(void **state)
{
	const struct heads *h = &heads[1];
	const struct attr capped[] = {ATTR_OF_FLOAT("softcap", 2)};
	value_id x = operand(h, h->q, h->queries, h->size, false);

	(void)state;
	m.opset = 24;
	make_output(&m, MAKE_WITH(&m, ATTENTION, capped, x, x, x));
	make_output(&m,
	    MAKE(&m, ATTENTION, x, x, x, VALUE_NONE, VALUE_NONE, VALUE_NONE,
	        make_ints(&m, INTS(3, 5))));
	make_output(&m, MAKE(&m, ATTENTION, x, x, x));
	make_more(&m);
	make_more(&m);
	make_output(&m, make_more(&m));
	find("native");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target != 0);
	assert_true(is_refused_as("softcap"));
	assert_true(is_refused_as("lengths"));
	assert_true(is_refused_as("scores"));
}

/* ---- LSTM and GRU ---- */

static const struct cell {
	enum op op;
	int64_t gates, linear;
} cells[] = {{OP_LSTM, 4, 0}, {OP_GRU, 3, 0}, {OP_GRU, 3, 1}};
#define NCELLS (sizeof cells / sizeof *cells)

struct layer {
	int64_t steps, batch, in, hidden;
	const char *direction;
	bool biased, started;
	bool infinite; /* its first unit is, before the first step */
};

/* One of all, more steps than are made ahead, tails of vectors and of panels. */
static const struct layer layers[] = {
    {1, 1, 1, 1, "forward", false, false, false},
    {7, 2, 3, 5, "bidirectional", true, true, false},
    {51, 1, 17, 16, "reverse", true, false, false},
    {25, 3, 33, 35, "bidirectional", true, false, false},
    {2, 1, 16, 64, "forward", false, true, false},
    {3, 2, 67, 113, "reverse", true, true, false},
    {19, 1, 9, 160, "reverse", true, true, false},
};
#define NLAYERS (sizeof layers / sizeof *layers)

/* With weights that are positive, gates are 1 where one unit is infinite. */
static value_id
infinite_state(const int64_t *dim)
{
	static const float one[] = {INFINITY, 0.5f, -1, 0, 0.25f};
	const struct tensor t = tensor_view(DT_FLOAT, 3, dim, one);

	return graph_add_constant(
	    m.graph, "infinite", arena_copy(&arena, &t, sizeof t));
}

static void
make_states(
    value_id *in, const struct layer *l, const struct cell *cell, int64_t dirs)
{
	const int64_t *dim = DIMS(dirs, l->batch, l->hidden);

	if (!l->started && !l->infinite)
		return;
	in[5] = l->infinite ? infinite_state(dim) : make_input(&m, dim);
	in[6] =
	    cell->op == OP_LSTM ? make_constant(&m, dim, -1, 1) : VALUE_LAST;
	in[7] = VALUE_LAST;
}

static void
make_layer(const struct layer *l, const struct cell *cell)
{
	const int64_t dirs = strcmp(l->direction, "bidirectional") == 0 ? 2 : 1;
	const struct string_view direction = {
	    l->direction, strlen(l->direction)};
	const struct attr attr[] = {ATTR_OF_INT("hidden_size", l->hidden),
	    {.name = "direction",
	        .kind = ATTR_STRING,
	        .n = 1,
	        .strings = arena_copy(&arena, &direction, sizeof direction)},
	    ATTR_OF_INT("linear_before_reset", cell->linear)};
	const int64_t gates = cell->gates * l->hidden;
	const bool lstm = cell->op == OP_LSTM;
	value_id in[8] = {make_input(&m, DIMS(l->steps, l->batch, l->in)),
	    make_constant(&m, DIMS(dirs, gates, l->in), -0.5f, 0.5f),
	    make_constant(&m, DIMS(dirs, gates, l->hidden),
	        l->infinite ? 0.1f : -0.5f, 0.5f),
	    l->biased ? make_constant(&m, DIMS(dirs, 2 * gates), -1, 1)
	              : VALUE_NONE,
	    VALUE_NONE, VALUE_LAST};

	make_states(in, l, cell, dirs);
	make_output(&m, make_node(&m, cell->op, in, attr, lstm ? 2 : 3));
	make_output(&m, make_more(&m));
	if (l->started && lstm)
		make_output(&m, make_more(&m));
}

static void
check_layer(const struct layer *l, const struct cell *cell, size_t version)
{
	again();
	make_layer(l, cell);
	assert_true(check_elements(vectors[version]) == 1);
}

/* Sequences shared out among threads, and each among several. */
static void
test_recurrent(void **state)
{
	static const uint32_t threads[] = {1, 2, 3, 5};
	const size_t n = sizeof threads / sizeof *threads;

	(void)state;
	for (size_t v = 0; v < n * NVECTORS * NLAYERS * NCELLS; v++) {
		const size_t of = v / n;

		target_threads_set(threads[v % n]);
		check_layer(&layers[of / NCELLS % NLAYERS], &cells[of % NCELLS],
		    of / NCELLS / NLAYERS);
	}
	target_threads_set(1);
}

/* What is no unit shall not make NaN of an infinity. */
static void
test_infinite_state(void **state)
{
	const struct layer l = {9, 1, 3, 5, "forward", .infinite = true};

	(void)state;
	for (size_t v = 0; v < NVECTORS * NCELLS; v++)
		check_layer(&l, &cells[v % NCELLS], v / NCELLS);
}

/* ---- recurrent layers of bytes ---- */

/* A scale and a zero for each direction, or for each of its columns. */
struct byte_kind {
	bool is_unsigned, by_column;
};

static value_id
byte_scale(const int64_t *dim)
{
	return make_constant(&m, dim, 0.002f, 0.008f);
}

/* in[8] to in[11]. */
static void
make_scales(
    value_id *in, const struct byte_kind *k, int64_t dirs, int64_t columns)
{
	const int64_t *dim = k->by_column ? DIMS(dirs, columns) : DIMS(dirs);

	for (uint32_t i = 8; i < 12; i += 2) {
		in[i] = byte_scale(dim);
		in[i + 1] = byte_codes(dim, k->is_unsigned);
	}
	in[12] = VALUE_LAST;
}

static void
make_byte_layer(const struct layer *l, const struct byte_kind *k)
{
	const int64_t dirs = strcmp(l->direction, "bidirectional") == 0 ? 2 : 1;
	const struct string_view direction = {
	    l->direction, strlen(l->direction)};
	const struct attr attr[] = {{.name = "direction",
	    .kind = ATTR_STRING,
	    .n = 1,
	    .strings = arena_copy(&arena, &direction, sizeof direction)}};
	const int64_t columns = 4 * l->hidden;
	const int64_t *state = DIMS(dirs, l->batch, l->hidden);
	value_id in[13] = {make_input(&m, DIMS(l->steps, l->batch, l->in)),
	    byte_codes(DIMS(dirs, l->in, columns), k->is_unsigned),
	    byte_codes(DIMS(dirs, l->hidden, columns), k->is_unsigned),
	    l->biased ? make_constant(&m, DIMS(dirs, 2 * columns), -1, 1)
	              : VALUE_NONE,
	    VALUE_NONE, l->started ? make_input(&m, state) : VALUE_NONE,
	    l->started ? make_constant(&m, state, -1, 1) : VALUE_NONE,
	    VALUE_NONE};

	make_scales(in, k, dirs, columns);
	make_output(&m, make_node(&m, OP_DYNAMICQUANTIZELSTM, in, attr, 1));
	make_output(&m, make_more(&m));
	if (l->started)
		make_output(&m, make_more(&m));
}

static void
test_byte_layers(void **state)
{
	(void)state;
	for (size_t v = 0; v < NVECTORS * NLAYERS * 4; v++) {
		const size_t layer = v / 4 % NLAYERS;
		const struct byte_kind k = {v % 2, v / 2 % 2};

		again();
		make_byte_layer(&layers[layer], &k);
		target_threads_set(layer == 3 ? 4 : 1);
		assert_true(check_elements(vectors[v / 4 / NLAYERS]) == 1);
	}
	target_threads_set(1);
}

static void
test_refused_byte_layers(void **state)
{
	const struct layer l = {2, 1, 3, 5, "forward", .biased = true};
	struct node *n;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		again();
		make_byte_layer(&l, &(const struct byte_kind){false, false});
		n = &m.graph->node[m.graph->nnodes - 1];
		if (i == 0) /* scales that are computed */
			((value_id *)n->input)[8] = make_input(&m, DIMS(1));
		else if (i == 1) /* lengths */
			((value_id *)n->input)[4] = make_input(&m, DIMS(1));
		else /* peepholes */
			((value_id *)n->input)[7] =
			    make_constant(&m, DIMS(1, 15), -1, 1);
		find("native");
		assert_false(has_rule("native.lstm_bytes"));
	}
}

static uint32_t shapes_tried = 60; /* or as many as the command line says */

static void
test_random_layers(void **state)
{
	static const char *const direction[] = {
	    "forward", "reverse", "bidirectional"};
	struct rng r = rng_seeded(21);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const struct layer l = {.steps = 1 + rng_below(&r, 60),
		    .batch = 1 + rng_below(&r, 3),
		    .in = 1 + rng_below(&r, 70),
		    .hidden = 1 + rng_below(&r, 70),
		    .direction = direction[rng_below(&r, 3)],
		    .biased = rng_below(&r, 4) > 0,
		    .started = rng_below(&r, 2)};

		target_threads_set(1 + rng_below(&r, 3));
		check_layer(&l, &cells[i % NCELLS], i / NCELLS % NVECTORS);
		again();
		make_byte_layer(
		    &l, &(const struct byte_kind){i % 2, i / 2 % 2});
		assert_true(check_elements(vectors[i / 4 % NVECTORS]) == 1);
	}
	target_threads_set(1);
}

/* ---- products of bytes ---- */

static void
make_integer_convs(void)
{
	const struct qconv form[] = {
	    {DIMS(1, 1, 1, 1), DIMS(1, 1, 1, 1), 1, true, .plain = true},
	    {DIMS(2, 3, 23, 17), DIMS(40, 3, 3, 3), 1, true, true,
	        .plain = false},
	    {DIMS(1, 33, 9, 14), DIMS(19, 33, 1, 1), 1, true, true,
	        .any_zero = true, .plain = true},
	    {DIMS(1, 64, 13, 13), DIMS(96, 64, 1, 1), 1, false, true,
	        .plain = true},
	    {DIMS(1, 17, 11, 40), DIMS(5, 17, 5, 2), 1, false, false,
	        .any_zero = true},
	    {DIMS(1, 130, 8, 7), DIMS(33, 130, 3, 3), 1, true, true,
	        .unsigned_weights = true},
	};

	for (size_t i = 0; i < sizeof form / sizeof *form; i++)
		make_qlinearconv(&form[i]);
}

static void
test_integer_convs(void **state)
{
	(void)state;
	for (size_t v = 0; v < NVECTORS * 2; v++) {
		again();
		make_integer_convs();
		target_threads_set(v % 2 ? 3 : 1);
		check_elements(vectors[v / 2]);
		assert_true(count_rule("native.integer_conv") >= 6);
	}
	target_threads_set(1);
}

static void
test_no_copies(void **state)
{
	(void)state;
	make_integer_convs();
	make_shapes(5);
	check_no_copies("native");
}

/* Winograd's, of bytes. */
static void
test_near_integer_convs(void **state)
{
	const struct qconv form[] = {
	    {DIMS(2, 16, 13, 17), DIMS(32, 16, 3, 3), 1, true, true,
	        .plain = true},
	    {DIMS(1, 48, 8, 30), DIMS(16, 48, 3, 3), 1, false, false,
	        .any_zero = true, .plain = true},
	    {DIMS(1, 16, 9, 9), DIMS(16, 16, 5, 5), 1, true, false,
	        .unsigned_weights = true, .plain = true},
	    {DIMS(1, 32, 11, 7), DIMS(64, 16, 3, 3), 2, true, true,
	        .plain = true},
	};

	(void)state;
	for (size_t v = 0; v < NVECTORS * 2; v++) {
		again();
		for (size_t i = 0; i < sizeof form / sizeof *form; i++)
			make_qlinearconv(&form[i]);
		target_threads_set(v % 2 ? 3 : 1);
		check_elements(vectors[v / 2]);
		assert_true(count_rule("native.integer_winograd") >= 4);
		assert_true(count_rule("native.integer_conv") >= 3);
	}
	target_threads_set(1);
}

static uint32_t
count_tiled(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found.n; i++)
		n += found.candidate[i].implementation > 0
		    && strcmp(found.candidate[i].implementation_name,
		           "winograd2/nhwc")
		        == 0;
	return n;
}

/* Winograd's in whole numbers: one tile and a part of one, more than a slice of the
 * depth, blocks, borders, several images. */
static void
test_byte_tiles(void **state)
{
	const struct qconv form[] = {
	    {DIMS(1, 32, 3, 3), DIMS(32, 32, 3, 3), 1, true, .plain = true},
	    {DIMS(1, 32, 1, 2), DIMS(32, 32, 3, 3), 1, false, true,
	        .padded = true},
	    {DIMS(3, 64, 9, 12), DIMS(96, 64, 3, 3), 1, true, true,
	        .padded = true},
	    {DIMS(1, 96, 11, 8), DIMS(32, 96, 3, 3), 1, false, true,
	        .any_zero = true, .padded = true},
	    {DIMS(1, 576, 6, 5), DIMS(32, 576, 3, 3), 1, true, true,
	        .unsigned_weights = true, .plain = true},
	    {DIMS(1, 64, 30, 31), DIMS(64, 64, 3, 3), 1, true, false,
	        .any_zero = true, .padded = true},
	};

	(void)state;
	for (size_t v = 0; v < NVECTORS * 2; v++) {
		again();
		for (size_t i = 0; i < sizeof form / sizeof *form; i++)
			make_qlinearconv(&form[i]);
		target_threads_set(v % 2 ? 3 : 1);
		check_elements(vectors[v / 2]);
		assert_int_equal(count_tiled(), 6);
	}
	target_threads_set(1);
}

/* Channels that are no whole vectors, too many for sums of 32 bits; other windows. */
static void
test_untiled_bytes(void **state)
{
	const struct qconv form[] = {
	    {DIMS(1, 33, 5, 5), DIMS(32, 33, 3, 3), 1, true, .plain = true},
	    {DIMS(1, 32, 5, 5), DIMS(31, 32, 3, 3), 1, true, .plain = true},
	    {DIMS(1, 928, 3, 3), DIMS(32, 928, 3, 3), 1, true, .plain = true},
	    {DIMS(1, 32, 5, 5), DIMS(32, 32, 3, 1), 1, true, .plain = true},
	    {DIMS(1, 32, 9, 9), DIMS(32, 32, 3, 3), 1, true, .plain = false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof form / sizeof *form; i++)
		make_qlinearconv(&form[i]);
	find("native");
	assert_int_equal(count_rule("native.integer_conv"), 5);
	assert_int_equal(count_tiled(), 0);
}

static void
test_random_byte_tiles(void **state)
{
	struct rng r = rng_seeded(25);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const int64_t k = 32 * (1 + rng_below(&r, 4)),
		              c = 32 * (1 + rng_below(&r, 3));
		const bool padded = rng_below(&r, 2);
		const struct qconv conv = {
		    DIMS(1 + rng_below(&r, 2), c, 3 + rng_below(&r, 20),
		        3 + rng_below(&r, 20)),
		    DIMS(k, c, 3, 3), 1, rng_below(&r, 2), rng_below(&r, 2),
		    .any_zero = rng_below(&r, 2), .plain = !padded,
		    .padded = padded};

		again();
		make_qlinearconv(&conv);
		target_threads_set(1 + rng_below(&r, 3));
		check_elements(vectors[i % NVECTORS]);
		assert_int_equal(count_tiled(), 1);
	}
	target_threads_set(1);
}

static void
test_channelwise_bytes(void **state)
{
	const struct qconv form[] = {
	    {DIMS(2, 32, 23, 17), DIMS(32, 1, 3, 3), 32, true, true,
	        .plain = false},
	    {DIMS(1, 45, 9, 14), DIMS(45, 1, 5, 5), 45, false, true,
	        .any_zero = true, .plain = true},
	    {DIMS(1, 96, 8, 8), DIMS(96, 1, 1, 2), 96, true, false,
	        .unsigned_weights = true, .plain = true},
	    {DIMS(1, 33, 10, 30), DIMS(33, 1, 7, 7), 33, false, false,
	        .plain = false},
	};

	(void)state;
	for (size_t v = 0; v < NVECTORS * 2; v++) {
		again();
		for (size_t i = 0; i < sizeof form / sizeof *form; i++)
			make_qlinearconv(&form[i]);
		target_threads_set(v % 2 ? 3 : 1);
		check_elements(vectors[v / 2]);
		assert_int_equal(count_rule("native.integer_depthwise"), 4);
	}
	target_threads_set(1);
}

static void
test_integer_products(void **state)
{
	(void)state;
	for (size_t v = 0; v < NVECTORS * 2; v++) {
		again();
		make_byte_products();
		make_byte_product(DIMS(300, 1100), 2, 70, true, true);
		make_dynamic_products();
		make_dynamic_products_around();
		target_threads_set(v % 2 ? 3 : 1);
		check_elements(vectors[v / 2]);
		assert_true(count_rule("native.integer_product") >= 8);
		assert_true(count_rule("native.dynamic_product") >= 16);
	}
	target_threads_set(1);
}

/* Of two tensors that come in, between quantisers or as one operator. */
static void
make_byte_matrices(const int64_t *left, const int64_t *right, bool u)
{
	const value_id a = quantized(left, u), b = quantized(right, !u);
	value_id in[] = {a, make_scalar(&m, 0.02f), byte_codes(DIMS(1), u), b,
	    make_scalar(&m, 0.004f), byte_codes(DIMS(1), !u),
	    make_scalar(&m, 0.3f), byte_codes(DIMS(1), u), VALUE_LAST};
	value_id y =
	    MAKE(&m, MATMUL, MAKE(&m, DEQUANTIZELINEAR, a, in[1], in[2]),
	        MAKE(&m, DEQUANTIZELINEAR, b, in[4], in[5]));

	y = MAKE(&m, QUANTIZELINEAR, y, in[6], in[7]);
	make_output(&m, of_type(y, byte_type(u)));
	y = make_node(&m, OP_QLINEARMATMUL, in, NULL, 0);
	make_output(&m, of_type(y, byte_type(u)));
}

static void
test_byte_matrices(void **state)
{
	struct rng r = rng_seeded(27);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const int64_t rows = 1 + rng_below(&r, 70),
		              depth = 1 + rng_below(&r, 90),
		              columns = 1 + rng_below(&r, 70),
		              n = 1 + rng_below(&r, 3);

		again();
		if (i % 3)
			make_byte_matrices(DIMS(n, 5, rows, depth),
			    DIMS(n, 5, depth, columns), i % 2);
		else /* one for all */
			make_byte_matrices(
			    DIMS(n, rows, depth), DIMS(depth, columns), i % 2);
		target_threads_set(1 + rng_below(&r, 3));
		check_elements(vectors[i % NVECTORS]);
		assert_int_equal(count_rule("native.integer_matrices"), 2);
	}
	target_threads_set(1);
}

static void
test_random_channelwise_bytes(void **state)
{
	struct rng r = rng_seeded(26);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const int64_t c = 32 + rng_below(&r, 70);
		const struct qconv conv = {
		    DIMS(1 + rng_below(&r, 2), c, 7 + rng_below(&r, 30),
		        13 + rng_below(&r, 30)),
		    DIMS(c, 1, 1 + rng_below(&r, 7), 1 + rng_below(&r, 7)), c,
		    rng_below(&r, 2), rng_below(&r, 2),
		    .any_zero = rng_below(&r, 2),
		    .plain = rng_below(&r, 3) == 0, .padded = rng_below(&r, 2)};

		again();
		make_qlinearconv(&conv);
		target_threads_set(1 + rng_below(&r, 3));
		check_elements(vectors[i % NVECTORS]);
		assert_int_equal(count_rule("native.integer_depthwise"), 1);
	}
	target_threads_set(1);
}

/* Windows so far apart that lines would take more memory than anything else. */
static void
test_refused_channelwise_bytes(void **state)
{
	const struct attr attr[] = {ATTR_OF_INT("group", 32),
	    ATTR_OF_INTS("dilations", 100000, 100000),
	    ATTR_OF_INTS("pads", 100000, 100000, 100000, 100000)};
	const value_id zero = byte_codes(DIMS(1), true);
	const value_id in[] = {quantized(DIMS(1, 32, 9, 9), true),
	    make_scalar(&m, 0.02f), zero, byte_codes(DIMS(32, 1, 3, 3), false),
	    make_scalar(&m, 0.004f), byte_of(0, false), make_scalar(&m, 0.3f),
	    zero, VALUE_LAST};

	(void)state;
	make_output(&m,
	    of_type(
	        make_node(&m, OP_QLINEARCONV, in, attr, 3), byte_type(true)));
	find("native");
	assert_false(has_rule("native.integer_depthwise"));
	assert_true(is_refused_as("lines"));
}

static void
test_random_integers(void **state)
{
	struct rng r = rng_seeded(24);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const int64_t k = 1 + rng_below(&r, 70),
		              c = 1 + rng_below(&r, 70);
		const struct qconv conv = {
		    DIMS(1 + rng_below(&r, 2), c, 4 + rng_below(&r, 20),
		        6 + rng_below(&r, 20)),
		    DIMS(k, c, 1 + rng_below(&r, 3), 1 + rng_below(&r, 3)), 1,
		    rng_below(&r, 2), rng_below(&r, 2),
		    .any_zero = rng_below(&r, 2), .plain = rng_below(&r, 2)};

		again();
		make_qlinearconv(&conv);
		make_byte_product(
		    DIMS(1 + rng_below(&r, 40), c), 2, k, i % 2, i / 2 % 2);
		target_threads_set(1 + rng_below(&r, 3));
		assert_true(check_elements(vectors[i % NVECTORS]) >= 2);
	}
	target_threads_set(1);
}

static void
test_refused_integers(void **state)
{
	(void)state;
	make_qlinearconv(&(struct qconv){
	    DIMS(1, 6, 11, 13), DIMS(4, 3, 3, 2), 2, true, .by_filter = true});
	find("native");
	assert_false(has_rule("native.integer_conv"));
	assert_true(is_refused_as("group"));
}

/* Makes signed weights small, as trained ones are, but for a few neighbours. */
static void
shrink_weights(void)
{
	for (value_id v = 0; v < m.graph->nvalues; v++) {
		const struct tensor *t = graph_value(m.graph, v)->constant;
		struct tensor *made;
		int8_t *to;

		if (!t || t->dtype != DT_INT8 || t->rank < 2)
			continue;
		to = arena_copy(&arena, t->data, t->bytes);
		for (size_t i = 0; i < t->count; i++) {
			const size_t at = i % 5000;

			to[i] = (int8_t)(to[i] / 4);
			if (at > 500 && at < 505)
				to[i] = (int8_t)(at % 4 ? 127 : -128);
		}
		made = arena_new(&arena, struct tensor, 1);
		*made = tensor_view(t->dtype, t->rank, t->dim, to);
		graph_value(m.graph, v)->constant = made;
	}
}

static uint32_t
count_quads(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found.n; i++)
		n += strncmp(found.candidate[i].implementation_name, "quads", 5)
		    == 0;
	return n;
}

/* Four pairs of bytes at a time, a few of them twice. */
static void
test_byte_quads(void **state)
{
	(void)state;
	for (size_t v = 0; v < NVECTORS * 2; v++) {
		again();
		make_integer_convs();
		make_byte_products();
		make_byte_product(DIMS(30, 1100), 2, 70, true, true);
		make_byte_product(DIMS(7, 2200), 2, 33, false, false);
		make_dynamic_products();
		shrink_weights();
		target_threads_set(v % 2 ? 3 : 1);
		check_elements(vectors[v / 2]);
		assert_int_equal(count_quads(), 3 + 7 + 3);
	}
	target_threads_set(1);
}

/* Weights of full range, as they are made up, have too much to do twice. */
static void
test_no_byte_quads(void **state)
{
	const struct qconv conv = {DIMS(1, 64, 13, 13), DIMS(96, 64, 1, 1), 1,
	    true, true, .plain = true};

	(void)state;
	make_qlinearconv(&conv);
	make_byte_product(DIMS(30, 1100), 2, 70, true, true);
	make_dynamic_product(DIMS(64, 128), 96, true, false, 0);
	find("native");
	assert_true(has_rule("native.integer_conv"));
	assert_int_equal(count_quads(), 0);
}

static void
test_random_byte_quads(void **state)
{
	struct rng r = rng_seeded(26);
	uint32_t all = 0;

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const int64_t k = 1 + rng_below(&r, 70),
		              c = 1 + rng_below(&r, 90);
		const struct qconv conv = {
		    DIMS(1 + rng_below(&r, 2), c, 4 + rng_below(&r, 20),
		        6 + rng_below(&r, 20)),
		    DIMS(k, c, 1 + rng_below(&r, 3), 1 + rng_below(&r, 3)), 1,
		    rng_below(&r, 2), rng_below(&r, 2),
		    .plain = rng_below(&r, 2)};

		again();
		make_qlinearconv(&conv);
		make_byte_product(
		    DIMS(1 + rng_below(&r, 40), c), 2, k, i % 2, i / 2 % 2);
		shrink_weights();
		target_threads_set(1 + rng_below(&r, 3));
		check_elements(vectors[i % NVECTORS]);
		all += count_quads();
	}
	assert_true(all > shapes_tried);
	target_threads_set(1);
}

static void
test_random_points(void **state)
{
	struct rng r = rng_seeded(22);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried / 2; i++) {
		const struct point p = {1 + rng_below(&r, 2),
		    1 + rng_below(&r, i % 8 ? 70 : 600), 1 + rng_below(&r, 80),
		    1 + rng_below(&r, 12), 1 + rng_below(&r, 12),
		    {1 + rng_below(&r, 4) / 3, 1 + rng_below(&r, 4) / 3}};

		again();
		make_points(&p);
		target_threads_set(1 + rng_below(&r, 3));
		check_elements(vectors[i % NVECTORS]);
	}
	target_threads_set(1);
}

static void
test_random_channelwise(void **state)
{
	struct rng r = rng_seeded(23);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried / 2; i++) {
		struct channels s = {1 + rng_below(&r, 2),
		    2 + rng_below(&r, 70), 1 + rng_below(&r, 20),
		    1 + rng_below(&r, 90),
		    {1 + rng_below(&r, 7), 1 + rng_below(&r, 7)},
		    {1 + rng_below(&r, 2), 1 + rng_below(&r, 2)}, {0}};

		for (uint32_t k = 0; k < 4; k++)
			s.pad[k] = rng_below(&r, (uint32_t)s.kernel[k % 2]);
		for (uint32_t k = 0; k < 2; k++)
			if (s.pad[k] + s.pad[2 + k] + (k ? s.width : s.height)
			    < s.kernel[k])
				s.pad[k] = s.kernel[k];
		target_threads_set(1 + rng_below(&r, 3));
		check_channelwise(&s, i % NVECTORS);
		check_expanded(
		    &(struct expanded){1 + rng_below(&r, 70), s}, i % NVECTORS);
	}
	target_threads_set(1);
}

/* ---- bytes ---- */

static value_id
real(value_id bytes, float scale, bool u)
{
	return MAKE(&m, DEQUANTIZELINEAR, bytes, make_scalar(&m, scale),
	    byte_codes(DIMS(1), u));
}

static value_id
bytes(value_id x, float scale, bool u)
{
	return of_type(MAKE(&m, QUANTIZELINEAR, x, make_scalar(&m, scale),
	                   byte_codes(DIMS(1), u)),
	    byte_type(u));
}

/* As exporters spell it, quantised behind each operator. */
static value_id
byte_gelu(value_id x, bool u)
{
	value_id y = MAKE(&m, DIV, real(x, 0.03f, u), make_scalar(&m, 1.4142f));

	y = bytes(MAKE(&m, ERF, y), 1 / 127.f, u);
	y = bytes(MAKE(&m, ADD, real(y, 1 / 127.f, u), make_scalar(&m, 1)),
	    1 / 100.f, u);
	y = bytes(
	    MAKE(&m, MUL, real(x, 0.03f, u), real(y, 1 / 100.f, u)), 0.04f, u);
	return bytes(
	    MAKE(&m, MUL, real(y, 0.04f, u), make_scalar(&m, 0.5f)), 0.02f, u);
}

static void
make_byte_functions(const int64_t *dim, bool u)
{
	value_id x = quantized(dim, u), gate;

	make_output(
	    &m, bytes(MAKE(&m, SIGMOID, real(x, 0.03f, u)), 1 / 255.f, u));
	make_output(&m, bytes(real(x, 0.03f, u), 0.05f, !u));
	gate = bytes(MAKE(&m, HARDSIGMOID, real(x, 0.03f, u)), 1 / 255.f, u);
	make_output(&m,
	    bytes(MAKE(&m, MUL, real(x, 0.03f, u), real(gate, 0.004f, u)),
	        0.02f, u));
	make_output(&m, byte_gelu(x, u));
}

static void
make_byte_pairs(const int64_t *dim, bool u)
{
	value_id x = quantized(dim, u), y = quantized(dim, u);
	value_id c = quantized(DIMS(dim[0], dim[1], 1, 1), u);

	make_output(&m,
	    bytes(
	        MAKE(&m, ADD, real(x, 0.03f, u), real(y, 0.02f, u)), 0.05f, u));
	make_output(&m,
	    bytes(
	        MAKE(&m, SUB, real(x, 0.03f, u), real(c, 0.02f, u)), 0.05f, u));
	make_output(&m,
	    bytes(
	        MAKE(&m, MUL, real(c, 0.01f, u), real(x, 0.03f, u)), 0.02f, u));
}

static void
make_byte_images(const int64_t *dim, bool u)
{
	const struct attr axes[] = {ATTR_OF_INTS("axes", 2, 3)};
	const struct attr one[] = {ATTR_OF_INT("axis", 1)};
	const struct attr end[] = {ATTR_OF_INT("axis", -1)};
	value_id x = quantized(dim, u);
	value_id y = quantized(DIMS(dim[0], 5, dim[2], dim[3]), u);

	make_output(&m,
	    bytes(MAKE(&m, GLOBALAVERAGEPOOL, real(x, 0.03f, u)), 0.02f, u));
	make_output(&m,
	    bytes(
	        MAKE_WITH(&m, REDUCEMEAN, axes, real(x, 0.03f, u)), 0.02f, !u));
	make_output(&m,
	    bytes(MAKE_WITH(
	              &m, CONCAT, one, real(x, 0.03f, u), real(y, 0.04f, u)),
	        0.035f, u));
	make_output(&m,
	    bytes(MAKE_WITH(&m, CONCAT, end, real(x, 0.03f, u),
	              real(x, 0.02f, u), real(x, 0.05f, u)),
	        0.035f, u));
}

/* The largest of a window, codes as they are or between quantisers; lines of weights. */
static void
make_byte_lines(const int64_t *dim, bool u)
{
	const struct attr window[] = {ATTR_OF_INTS("kernel_shape", 3, 2),
	    ATTR_OF_INTS("strides", 2, 1), ATTR_OF_INTS("pads", 1, 0, 1, 1),
	    ATTR_OF_INT("ceil_mode", 1)};
	const struct attr end[] = {ATTR_OF_INT("axis", -1)};
	const value_id x = quantized(dim, u);

	make_output(
	    &m, of_type(MAKE_WITH(&m, MAXPOOL, window, x), byte_type(u)));
	make_output(&m,
	    bytes(MAKE_WITH(&m, SOFTMAX, end, real(x, 0.03f, u)), 0.004f, !u));
	make_output(&m,
	    bytes(MAKE_WITH(&m, LOGSOFTMAX, end, real(x, 0.03f, u)), 0.05f, u));
}

/* As in DenseNet: many parts, one of them twice, one with the result's codes. */
static value_id
many_joined(const int64_t *dim, bool u)
{
	const struct attr one[] = {ATTR_OF_INT("axis", 1)};
	value_id x = quantized(dim, u);
	value_id y = quantized(DIMS(dim[0], 70, dim[2], dim[3]), u);
	value_id z = quantized(DIMS(dim[0], 3, dim[2], dim[3]), u);

	return bytes(
	    MAKE_WITH(&m, CONCAT, one, real(x, 0.03f, u), real(z, 0.035f, u),
	        real(y, 0.04f, u), real(z, 0.02f, u), real(x, 0.03f, u)),
	    0.035f, u);
}

static void
make_byte_norms(const int64_t *dim, bool u)
{
	value_id x = real(quantized(dim, u), 0.03f, u);

	make_output(&m, many_joined(dim, u));
	make_output(&m, bytes(batch_norm(x, dim[1]), 0.05f, u));
	make_output(
	    &m, bytes(MAKE(&m, RELU, batch_norm(x, dim[1])), 0.02f, !u));
	x = real(quantized(DIMS(dim[0] * 5, dim[1]), u), 0.03f, u);
	make_output(&m, bytes(batch_norm(x, dim[1]), 0.05f, u));
}

/* With one code for all. */
static value_id
moved_real(value_id x, bool u)
{
	return MAKE(
	    &m, DEQUANTIZELINEAR, x, make_scalar(&m, 0.03f), byte_of(100, u));
}

static value_id
moved_bytes(value_id x, bool u)
{
	return of_type(MAKE(&m, QUANTIZELINEAR, x, make_scalar(&m, 0.03f),
	                   byte_of(100, u)),
	    byte_type(u));
}

/* Between one pair of quantisers and the next. */
static value_id
again_bytes(value_id x, bool u)
{
	return moved_real(moved_bytes(x, u), u);
}

/* A shuffle of channels in groups, quantised behind each of its moves, or not. */
static value_id
shuffle(value_id x, const int64_t *dim, bool pairs, bool u)
{
	const struct attr swap[] = {ATTR_OF_INTS("perm", 0, 2, 1, 3, 4)};
	const int64_t group = dim[1] % 3 ? dim[1] : 3;
	const int64_t *cut =
	    INTS(dim[0], group, dim[1] / group, dim[2], dim[3]);
	const int64_t *whole = INTS(dim[0], dim[1], dim[2], dim[3]);

	x = MAKE(&m, RESHAPE, x, make_ints(&m, cut));
	x = MAKE_WITH(&m, TRANSPOSE, swap, pairs ? again_bytes(x, u) : x);
	return MAKE(
	    &m, RESHAPE, pairs ? again_bytes(x, u) : x, make_ints(&m, whole));
}

static void
make_byte_moves(const int64_t *dim, bool u)
{
	const struct attr turn[] = {ATTR_OF_INTS("perm", 0, 3, 1, 2)};
	value_id x = quantized(dim, u), y;

	make_output(
	    &m, moved_bytes(shuffle(moved_real(x, u), dim, true, u), u));
	make_output(
	    &m, moved_bytes(shuffle(moved_real(x, u), dim, false, u), u));
	make_output(&m, of_type(shuffle(x, dim, false, u), byte_type(u)));
	y = MAKE(&m, SLICE, moved_real(x, u), make_ints(&m, INTS(0)),
	    make_ints(&m, INTS(dim[1] / 2 + 1)), make_ints(&m, INTS(1)));
	make_output(&m, moved_bytes(y, u));
	y = MAKE_WITH(&m, TRANSPOSE, turn, moved_real(x, u));
	make_output(&m, moved_bytes(y, u));
	y = MAKE(&m, RESHAPE, moved_real(x, u), make_ints(&m, INTS(0, -1)));
	make_output(&m, moved_bytes(y, u));
}

/* Codes that differ are no move, nor is what interpolates. */
static void
test_refused_moves(void **state)
{
	const struct attr turn[] = {ATTR_OF_INTS("perm", 0, 3, 1, 2)};
	const struct attr linear[] = {ATTR_OF_STRING("mode", "linear")};
	const value_id x = quantized(DIMS(1, 2, 4, 4), true);

	(void)state;
	make_output(&m,
	    bytes(MAKE_WITH(&m, TRANSPOSE, turn, moved_real(x, true)), 0.04f,
	        true));
	make_output(&m,
	    moved_bytes(
	        MAKE_WITH(&m, RESIZE, linear, moved_real(x, true), VALUE_NONE,
	            VALUE_NONE, make_ints(&m, INTS(1, 2, 8, 8))),
	        true));
	find("native");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target > 0
		    || found.candidate[i].match->nnodes == 1);
}

static value_id
make_number(value_id x)
{
	return MAKE(&m, WHERE, of_type(MAKE(&m, ISNAN, x), DT_BOOL),
	    make_scalar(&m, 0.5f), x);
}

/* NaN among what goes in is the fuzzer's. */
static void
make_quantized(const int64_t *dim)
{
	value_id zero;

	make_output(&m, quantized_now(dim, &zero));
	make_output(&m, zero);
	make_output(&m, make_number(make_input(&m, dim)));
}

/* No rule over bytes is left out. */
static void
check_byte_rules(void)
{
	for (uint32_t r = 0; r < target_native.nrules; r++) {
		const char *name = target_native.rule[r].name;
		bool seen = strncmp(name, "native.byte", 11) != 0;

		for (uint32_t i = 0; !seen && i < found.n; i++)
			seen = found.candidate[i].target == 0
			    && found.candidate[i].rule == r;
		if (!seen)
			fail_msg("%s takes nothing", name);
	}
}

/* Is one of so many nodes? */
static bool
has_byte_function_of(uint32_t nodes)
{
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target == 0 && c->match->nnodes == nodes
		    && strcmp(target_native.rule[c->rule].name,
		           "native.byte_function")
		        == 0)
			return true;
	}
	return false;
}

static void
test_bytes(void **state)
{
	const int64_t *dims[] = {DIMS(1, 1, 1, 1), DIMS(2, 7, 5, 3),
	    DIMS(1, 67, 13, 11), DIMS(3, 16, 8, 8)};
	const size_t n = sizeof dims / sizeof *dims;

	(void)state;
	for (size_t v = 0; v < NVECTORS * n * 2; v++) {
		const int64_t *dim = dims[v / 2 % n];

		again();
		make_byte_functions(dim, v % 2);
		make_byte_pairs(dim, v % 2);
		make_byte_images(dim, v % 2);
		make_byte_lines(dim, v % 2);
		make_byte_norms(dim, v % 2);
		make_byte_moves(dim, v % 2);
		make_quantized(dim);
		assert_true(check_elements(vectors[v / 2 / n]) >= 22);
		check_byte_rules();
		assert_true(has_byte_function_of(14));
	}
}

/* Windows that reach beyond an image on each side, or apart; channels of a vector and
 * more, or fewer. */
static void
test_byte_pools(void **state)
{
	struct rng r = rng_seeded(28);

	(void)state;
	for (uint32_t i = 0; i < shapes_tried; i++) {
		const int64_t y = 1 + rng_below(&r, 7),
		              x = 1 + rng_below(&r, 7);
		const struct attr window[] = {
		    ATTR_OF_INTS("kernel_shape", y, x),
		    ATTR_OF_INTS(
		        "strides", 1 + rng_below(&r, 3), 1 + rng_below(&r, 3)),
		    ATTR_OF_INTS("pads", rng_below(&r, (uint32_t)y),
		        rng_below(&r, (uint32_t)x), rng_below(&r, (uint32_t)y),
		        rng_below(&r, (uint32_t)x))};
		const bool u = rng_below(&r, 2);
		const int64_t *dim =
		    DIMS(1 + rng_below(&r, 2), 1 + rng_below(&r, 100),
		        y + rng_below(&r, 20), x + rng_below(&r, 20));

		again();
		make_output(&m,
		    of_type(MAKE_WITH(&m, MAXPOOL, window, quantized(dim, u)),
		        byte_type(u)));
		target_threads_set(1 + rng_below(&r, 3));
		check_elements(vectors[i % NVECTORS]);
		assert_int_equal(count_rule("native.byte_pool"), 1);
	}
	target_threads_set(1);
}

/* ---- elements that are moved ---- */

static value_id
turned(value_id x, int64_t a, int64_t b, int64_t c, int64_t d)
{
	const struct attr perm[] = {ATTR_OF_INTS("perm", a, b, c, d)};

	return MAKE_WITH(&m, TRANSPOSE, perm, x);
}

static value_id
cut(value_id x, int64_t axis, int64_t start, int64_t end, int64_t step)
{
	return MAKE(&m, SLICE, x, make_ints(&m, INTS(start)),
	    make_ints(&m, INTS(end)), make_ints(&m, INTS(axis)),
	    make_ints(&m, INTS(step)));
}

static value_id
rolled(value_id x, int64_t axis, int64_t by)
{
	const struct attr at[] = {ATTR_OF_INT("axis", axis)};

	return MAKE_WITH(&m, CONCAT, at, cut(x, axis, by, INT64_MAX, 1),
	    cut(x, axis, 0, by, 1));
}

/* The pixels of each square of four, side by side. */
static value_id
focus(value_id x, int64_t axis)
{
	const struct attr at[] = {ATTR_OF_INT("axis", axis)};
	value_id part[4];

	for (int64_t i = 0; i < 4; i++)
		part[i] =
		    cut(cut(x, 2, i % 2, INT64_MAX, 2), 3, i / 2, INT64_MAX, 2);
	return MAKE_WITH(&m, CONCAT, at, part[0], part[1], part[2], part[3]);
}

static value_id
joined(value_id x, value_id y, int64_t axis)
{
	const struct attr at[] = {ATTR_OF_INT("axis", axis)};

	return MAKE_WITH(&m, CONCAT, at, x, y, MAKE(&m, NEG, x));
}

static void
make_turns(value_id x, const int64_t *dim)
{
	(void)dim;
	make_output(&m, turned(x, 0, 2, 3, 1));
	make_output(&m, turned(x, 0, 3, 1, 2));
	make_output(&m, turned(x, 3, 2, 1, 0));
	make_output(&m, turned(x, 0, 2, 1, 3));
	make_output(&m, turned(x, 1, 0, 3, 2));
	make_output(&m, cut(turned(x, 0, 2, 3, 1), 1, 0, INT64_MAX, 2));
	make_output(&m, cut(x, 3, 0, INT64_MAX, 2));
	make_output(&m, cut(x, 3, 1, INT64_MAX, 3));
	make_output(&m, cut(x, 3, -1, INT64_MIN + 1, -1));
	make_output(&m, cut(x, 3, -1, INT64_MIN + 1, -2));
	make_output(&m, cut(cut(x, 2, 0, INT64_MAX, 2), 3, 1, INT64_MAX, 1));
}

/* Images of even sizes. */
static void
make_parts(value_id x, const int64_t *dim)
{
	(void)dim;
	make_output(&m, rolled(x, 2, 1));
	make_output(&m, rolled(rolled(x, 2, 3), 3, 1));
	make_output(&m, focus(x, 1));
	make_output(&m, focus(x, 3));
}

static void
make_repeats(value_id x, const int64_t *dim)
{
	const struct attr one[] = {ATTR_OF_INT("axis", 1)};
	value_id y = make_input(&m, DIMS(dim[0], dim[1], 1, 1));

	make_output(&m,
	    MAKE(&m, EXPAND, y,
	        make_ints(&m, INTS(dim[0], dim[1], dim[2], dim[3]))));
	make_output(&m, MAKE(&m, TILE, x, make_ints(&m, INTS(1, 2, 1, 3))));
	make_output(&m,
	    MAKE_WITH(&m, GATHER, one, x,
	        make_ints(&m, INTS(dim[1] - 1, 0, dim[1] / 2))));
	for (int64_t axis = 0; axis < 4; axis++)
		make_output(&m, joined(x, turned(x, 0, 1, 2, 3), axis));
}

/* In every mode; a part of what is padded. */
static void
make_pads(value_id x, const int64_t *dim)
{
	const struct attr mode[] = {ATTR_OF_STRING("mode", "constant"),
	    ATTR_OF_STRING("mode", "edge"), ATTR_OF_STRING("mode", "reflect"),
	    ATTR_OF_STRING("mode", "wrap")};
	const int64_t h = dim[2] > 2, w = dim[3] > 2;

	for (size_t i = 0; i < sizeof mode / sizeof *mode; i++) {
		const value_id pads =
		    make_ints(&m, INTS(0, 0, 2 * h, w, 0, 0, h, 2 * w));
		const value_id in[] = {x, pads,
		    i == 0 ? make_scalar(&m, 0.25f) : VALUE_LAST, VALUE_LAST};

		make_output(&m, make_node(&m, OP_PAD, in, &mode[i], 1));
	}
	make_output(&m,
	    MAKE(&m, PAD, cut(x, 1, 0, 1, 1),
	        make_ints(&m, INTS(1, 2, 0, 1, 0, 0, 3, 0))));
	make_output(
	    &m, MAKE(&m, PAD, x, make_ints(&m, INTS(0, 0, 0, 0, 0, 0, 0, 0))));
}

/* Of other sizes of elements. */
static void
make_other_elements(value_id x, const int64_t *dim)
{
	static const enum dtype type[] = {DT_INT64, DT_FLOAT16, DT_INT32};

	(void)dim;
	for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
		const struct attr to[] = {ATTR_OF_INT("to", type[i])};
		value_id y = MAKE(&m, MUL, x, make_scalar(&m, 100));

		y = of_type(MAKE_WITH(&m, CAST, to, y), type[i]);
		make_output(&m, of_type(turned(y, 0, 2, 3, 1), type[i]));
		make_output(&m, of_type(cut(y, 3, 0, INT64_MAX, 2), type[i]));
	}
}

/* One, primes, squares of vectors and what is left of them, several threads'. */
static void
test_reorders(void **state)
{
	static const struct {
		void (*make)(value_id x, const int64_t *dim);
		const char *rule;
		uint32_t least;
	} kind[] = {
	    {make_turns, "native.reorder", 27},
	    {make_parts, "native.join_parts", 96},
	    {make_repeats, "native.join", 29},
	    {make_pads, "native.pad", 15},
	    {make_other_elements, "native.reorder", 4},
	};
	const int64_t *dims[] = {DIMS(1, 1, 2, 2), DIMS(2, 3, 14, 22),
	    DIMS(1, 17, 6, 38), DIMS(2, 48, 16, 32), DIMS(1, 37, 2, 1100)};
	const size_t n = sizeof dims / sizeof *dims;
	const size_t kinds = sizeof kind / sizeof *kind;

	(void)state;
	for (size_t i = 0; i < NVECTORS * n * kinds; i++) {
		const int64_t *dim = dims[i / kinds % n];

		again();
		m.opset = 19;
		kind[i % kinds].make(MAKE(&m, RELU, make_input(&m, dim)), dim);
		target_threads_set(1 + (uint32_t)(i % 3));
		assert_true(check_elements(vectors[i / kinds / n])
		    >= kind[i % kinds].least);
		assert_true(has_rule(kind[i % kinds].rule));
	}
	target_threads_set(1);
}

/* Moves whose places no constants tell, what moves nothing, and what is added. */
static void
test_refused_reorders(void **state)
{
	const struct attr linear[] = {ATTR_OF_STRING("mode", "linear")};
	value_id x = make_input(&m, DIMS(1, 2, 4, 4));

	(void)state;
	make_output(&m, MAKE(&m, RESHAPE, x, make_ints(&m, INTS(2, -1))));
	make_output(&m,
	    MAKE_WITH(&m, RESIZE, linear, x, VALUE_NONE, VALUE_NONE,
	        make_ints(&m, INTS(1, 2, 8, 8))));
	make_output(
	    &m, joined(x, make_constant(&m, DIMS(1, 3, 4, 4), -1, 1), 1));
	find("native");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target != 0);
	assert_true(is_refused_as("move"));
	assert_true(is_refused_as("work"));
	assert_true(is_refused_as("operands"));
}

/* ---- softmax ---- */

/* As it is, with a line of -infinity and lines with some, +infinity and NaN. */
static void
make_softmaxes(const int64_t *dim, enum op op)
{
	value_id x = MAKE(&m, MUL, make_input(&m, dim), make_scalar(&m, 9));
	value_id some =
	    of_type(MAKE(&m, LESSOREQUAL, x, make_scalar(&m, 0)), DT_BOOL);
	value_id hidden[4] = {x,
	    MAKE(&m, WHERE, some, make_scalar(&m, -INFINITY), x),
	    MAKE(&m, WHERE, some, make_scalar(&m, NAN), x),
	    MAKE(&m, WHERE, some, make_scalar(&m, INFINITY), x)};

	for (size_t i = 0; i < 4; i++)
		for (int64_t axis = -1; axis < 3; axis++) {
			const struct attr at[] = {ATTR_OF_INT("axis", axis)};

			make_output(&m,
			    make_node(&m, op,
			        (const value_id[]){hidden[i], VALUE_LAST}, at,
			        1));
		}
}

static void
test_softmax(void **state)
{
	const int64_t *dims[] = {DIMS(1, 1, 1, 1), DIMS(3, 37, 2, 2),
	    DIMS(2, 5, 3, 7), DIMS(1, 67, 13, 16), DIMS(2, 16, 9, 49),
	    DIMS(1, 2, 3, 1000)};
	const size_t n = sizeof dims / sizeof *dims;

	(void)state;
	for (size_t v = 0; v < 2 * NVECTORS * n; v++) {
		again();
		m.opset = v % 5 ? 13 : 11;
		make_softmaxes(
		    dims[v / 2 % n], v % 2 ? OP_SOFTMAX : OP_LOGSOFTMAX);
		target_threads_set(1 + (uint32_t)(v / 2 % 3));
		assert_true(check_elements(vectors[v / 2 / n]) >= 16);
	}
	target_threads_set(1);
}

/* ---- lines normalised ---- */

/* Weights of the dimensions from `axis` on. */
static value_id
line_constant(const int64_t *dim, uint32_t axis, float value)
{
	int64_t of[5];
	uint32_t n = 0;

	for (uint32_t i = axis; i < 4; i++)
		of[n++] = dim[i];
	of[n] = 0;
	return make_constant(&m, of, value - 1, value + 1);
}

/* The operators of x and of sums, with weights from `axis` on. */
static void
make_norms(const int64_t *dim, int64_t axis)
{
	const uint32_t from = (uint32_t)(axis < 0 ? axis + 4 : axis);
	const struct attr at[] = {
	    ATTR_OF_INT("axis", axis), ATTR_OF_FLOAT("epsilon", 1e-3f)};
	value_id x = make_input(&m, dim), y = make_input(&m, dim);
	value_id scale = line_constant(dim, from, 1),
	         shift = line_constant(dim, from, 0);

	for (size_t i = 0; i < 3; i++) {
		value_id of[] = {x, MAKE(&m, ADD, x, y), MAKE(&m, ADD, x, x)};

		make_output(&m,
		    make_node(&m, OP_LAYERNORMALIZATION,
		        (const value_id[]){of[i], scale, shift, VALUE_LAST}, at,
		        2));
	}
	make_output(&m,
	    make_node(&m, OP_LAYERNORMALIZATION,
	        (const value_id[]){x, scale, VALUE_LAST}, at, 2));
	make_output(&m,
	    make_node(&m, OP_RMSNORMALIZATION,
	        (const value_id[]){MAKE(&m, ADD, y, x), scale, VALUE_LAST}, at,
	        2));
}

/* As exporters spell them, of the last dimension. */
static void
make_spelled_norms(const int64_t *dim)
{
	const struct attr last[] = {ATTR_OF_INTS("axes", -1)};
	value_id x = make_input(&m, dim), scale = line_constant(dim, 3, 1),
	         shift = line_constant(dim, 3, 0);
	value_id off = MAKE(&m, SUB, x, MAKE_WITH(&m, REDUCEMEAN, last, x));
	value_id wide = MAKE(&m, SQRT,
	    MAKE(&m, ADD,
	        MAKE_WITH(&m, REDUCEMEAN, last, MAKE(&m, MUL, off, off)),
	        make_scalar(&m, 1e-3f)));
	value_id far = MAKE(&m, SQRT,
	    MAKE(&m, ADD, MAKE_WITH(&m, REDUCEMEAN, last, MAKE(&m, MUL, x, x)),
	        make_scalar(&m, 1e-3f)));

	make_output(&m,
	    MAKE(&m, ADD, MAKE(&m, MUL, MAKE(&m, DIV, off, wide), scale),
	        shift));
	make_output(&m, MAKE(&m, MUL, MAKE(&m, DIV, x, far), scale));
}

static void
test_norms(void **state)
{
	const int64_t *dims[] = {DIMS(1, 1, 1, 1), DIMS(3, 37, 2, 2),
	    DIMS(2, 5, 3, 7), DIMS(1, 3, 13, 16), DIMS(2, 6, 9, 49),
	    DIMS(1, 2, 3, 1000), DIMS(1, 1, 31, 67)};
	const size_t n = sizeof dims / sizeof *dims;

	(void)state;
	for (size_t v = 0; v < 2 * NVECTORS * n; v++) {
		again();
		m.opset = 23;
		make_norms(dims[v / 2 % n], v % 2 ? -1 : 2);
		target_threads_set(1 + (uint32_t)(v / 2 % 3));
		check_elements(vectors[v / 2 / n]);
		assert_int_equal(count_rule("native.norm"), 8);
		again();
		make_spelled_norms(dims[v / 2 % n]);
		check_elements(vectors[v / 2 / n]);
		assert_true(count_rule("native.norm") >= 2);
	}
	target_threads_set(1);
}

/* Weights that are no constants, terms that are repeated. */
static void
test_refused_norms(void **state)
{
	value_id x = make_input(&m, DIMS(2, 3, 8)),
	         scale = make_constant(&m, DIMS(8), 0, 2);

	(void)state;
	make_output(&m,
	    MAKE(&m, LAYERNORMALIZATION, x, make_input(&m, DIMS(8)), scale));
	make_output(&m,
	    MAKE(&m, LAYERNORMALIZATION,
	        MAKE(&m, ADD, x, make_input(&m, DIMS(1, 1, 8))), scale));
	find("native");
	assert_true(is_refused_as("terms"));
	assert_int_equal(count_rule("native.norm"), 1);
}

/* Rows beyond what is multiplied at once, depths beyond what stays in the cache, and
 * what is left of a vector, of a block and of a pair of columns. */
static void
test_blocks(void **state)
{
	static const int64_t rows[] = {1, 2, 3, 8, 13};
	static const int64_t depths[] = {1, 17, 64, 129, 300, 1100};
	static const int64_t columns[] = {1, 2, 7, 33};

	(void)state;
	for (size_t i = 0; i < 30 * NVECTORS; i++) {
		const struct block_product p = {i / 2 % 2 ? 8 : 4, 16 << i % 7,
		    rows[i % 5], depths[i % 6], columns[i / 3 % 4], i % 4 == 1,
		    (int)(i / 5 % 3)};

		again();
		make_blocks(&p);
		target_threads_set((uint32_t)(i % 3) + 1);
		assert_int_equal(check_elements(vectors[i / 30]), 1);
	}
	target_threads_set(1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_shapes),
	    TEST(test_threads),
	    TEST(test_packed_alone),
	    TEST(test_steps),
	    TEST(test_chains),
	    TEST(test_refusals),
	    TEST(test_options),
	    TEST(test_functions),
	    TEST(test_all_functions),
	    TEST(test_broadcasts),
	    TEST(test_choices),
	    TEST(test_reductions),
	    TEST(test_points),
	    TEST(test_near_points),
	    TEST(test_products),
	    TEST(test_large_products),
	    TEST(test_refused_products),
	    TEST(test_few_filters),
	    TEST(test_refused_filters),
	    TEST(test_channelwise),
	    TEST(test_refused_channelwise),
	    TEST(test_expanded),
	    TEST(test_refused_expanded),
	    TEST(test_refused_inside),
	    TEST(test_attention),
	    TEST(test_spelled_attention),
	    TEST(test_moved_attention),
	    TEST(test_shown_past),
	    TEST(test_refused_attention),
	    TEST(test_recurrent),
	    TEST(test_infinite_state),
	    TEST(test_byte_layers),
	    TEST(test_refused_byte_layers),
	    TEST(test_integer_convs),
	    TEST(test_no_copies),
	    TEST(test_near_integer_convs),
	    TEST(test_byte_tiles),
	    TEST(test_untiled_bytes),
	    TEST(test_random_byte_tiles),
	    TEST(test_byte_quads),
	    TEST(test_no_byte_quads),
	    TEST(test_random_byte_quads),
	    TEST(test_channelwise_bytes),
	    TEST(test_integer_products),
	    TEST(test_byte_matrices),
	    TEST(test_random_channelwise_bytes),
	    TEST(test_refused_channelwise_bytes),
	    TEST(test_byte_pools),
	    TEST(test_random_integers),
	    TEST(test_refused_integers),
	    TEST(test_random_layers),
	    TEST(test_random_points),
	    TEST(test_random_channelwise),
	    TEST(test_bytes),
	    TEST(test_refused_moves),
	    TEST(test_reorders),
	    TEST(test_refused_reorders),
	    TEST(test_softmax),
	    TEST(test_norms),
	    TEST(test_refused_norms),
	    TEST(test_blocks),
	};

	if (!native_version_find("avx2"))
		vectors[NVECTORS - 1] = "native";
	if (argc > 1)
		shapes_tried = (uint32_t)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
