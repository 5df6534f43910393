/* Building graphs by hand in a few lines, for tests. */
#ifndef TESTS_SUPPORT_BUILD_H
#define TESTS_SUPPORT_BUILD_H

#include <stdint.h>

#include "ir/graph.h"

#define DIMS(...) \
	(const int64_t[]){__VA_ARGS__}, \
	    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

/* A fed input; dims are copied. */
value_id build_input(struct graph *g, const char *name, enum dtype dtype,
    const int64_t *dim, uint32_t rank);
/* An int64 vector constant. */
value_id build_ints(struct graph *g, const int64_t *v, uint32_t n);
/* A constant of zeros, FILL. */
value_id build_zeros(
    struct graph *g, enum dtype dtype, const int64_t *dim, uint32_t rank);

/* A node of the default domain with one output of unknown type; inputs end at
 * `n`, attributes are copied. Its output. */
value_id build_node(struct graph *g, enum op op, uint32_t opset,
    const value_id *in, uint32_t n);
/* The last node gets one more attribute. */
void build_int(struct graph *g, const char *name, int64_t v);
void build_float(struct graph *g, const char *name, float v);
void build_string(struct graph *g, const char *name, const char *v);
void build_list(
    struct graph *g, const char *name, const int64_t *v, uint32_t n);
/* The last node gets one more output. */
value_id build_output(struct graph *g);

#endif
