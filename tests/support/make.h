/* Building small graphs in tests, with shapes worked out by inference. */
#ifndef TESTS_SUPPORT_MAKE_H
#define TESTS_SUPPORT_MAKE_H

#include "ir/graph.h"

struct maker {
	struct arena *arena;
	struct graph *graph;
	value_id *input, *output;
	uint64_t seed;
	uint32_t opset; /* of nodes; 0: 17 */
};

void make_begin(struct maker *m, struct arena *a);
/* Dimensions end with 0. */
value_id make_input(struct maker *m, const int64_t *dim);
/* Uniform in [low, high), different for each constant. */
value_id make_constant(
    struct maker *m, const int64_t *dim, float low, float high);
value_id make_scalar(struct maker *m, float x);
/* [..., queries, keys], where each query sees the keys up to its own: 0 and the
 * lowest float, to be added, or whether they are seen, or hidden. */
enum triangle { TRIANGLE_ADDED, TRIANGLE_SEEN, TRIANGLE_HIDDEN };
value_id make_triangle(struct maker *m, const int64_t *dim, enum triangle what);
/* A list of int64 numbers that ends with INTS_END: a shape, axes. */
#define INTS_END INT64_MIN
value_id make_ints(struct maker *m, const int64_t *x);
#define INTS(...) ((const int64_t[]){__VA_ARGS__, INTS_END})
/* Any int8 or uint8, different for each constant. */
value_id make_int8(struct maker *m, const int64_t *dim);
value_id make_uint8(struct maker *m, const int64_t *dim);
/* Another output of the node made last. */
value_id make_more(struct maker *m);
/* A one-output node over up to 6 inputs (a list ended by VALUE_LAST; VALUE_NONE
 * leaves one out) and attributes; the output. */
#define VALUE_LAST (UINT32_MAX - 1)
value_id make_node(struct maker *m, enum op op, const value_id *in,
    const struct attr *attr, uint32_t nattrs);
#define MAKE(m, op, ...) \
	make_node( \
	    m, OP_##op, (const value_id[]){__VA_ARGS__, VALUE_LAST}, NULL, 0)
#define MAKE_WITH(m, op, attrs, ...) \
	make_node(m, OP_##op, (const value_id[]){__VA_ARGS__, VALUE_LAST}, \
	    attrs, (uint32_t)(sizeof attrs / sizeof *attrs))
#define DIMS(...) ((const int64_t[]){__VA_ARGS__, 0})

/* Attributes. */
#define ATTR_OF_INTS(text, ...) \
	{ \
		.name = text, .kind = ATTR_INTS, \
		.n = sizeof((const int64_t[]){__VA_ARGS__}) / 8, \
		.ints = (const int64_t[]) \
		{ \
			__VA_ARGS__ \
		} \
	}
#define ATTR_OF_INT(text, x) \
	{ \
		.name = text, .kind = ATTR_INT, .n = 1, \
		.ints = (const int64_t[]) \
		{ \
			x \
		} \
	}
#define ATTR_OF_FLOAT(text, x) \
	{ \
		.name = text, .kind = ATTR_FLOAT, .n = 1, \
		.floats = (const float[]) \
		{ \
			x \
		} \
	}
#define ATTR_OF_STRING(text, x) \
	{ \
		.name = text, .kind = ATTR_STRING, .n = 1, \
		.strings = (const struct string_view[]) \
		{ \
			{ \
				x, sizeof(x) - 1 \
			} \
		} \
	}

/* All floats of what is made so far become float16, constants rounded. */
void make_halves(struct maker *m);
/* Ask for a value; then infer shapes. Ends the test process on a fault. */
void make_output(struct maker *m, value_id v);
void make_end(struct maker *m);

#endif
