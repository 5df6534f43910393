/* What the tests of the order search's parts share. */
#ifndef TESTS_SUPPORT_ORDERS_H
#define TESTS_SUPPORT_ORDERS_H

#include "search/cover.h"
#include "search/forward_step.h"
#include "search/problem.h"

/* The worked example of search/README.md, x -> n0 -> y -> n1 -> z, not indexed:
 * targets TARGET_A and TARGET_B, one candidate of each for each node. */
enum { VALUE_X, VALUE_Y, VALUE_Z };
enum { TARGET_A, TARGET_B };
enum { PLAIN = 1, PACKED = 2 }; /* masks */
enum { N0_BY_A, N0_BY_B, N1_BY_A, N1_BY_B };
struct problem *problem_two_nodes(struct arena *a);

/* Take the first n steps of a cover, in the runs it has, from an empty state on.
 * False: one of them is not allowed. */
bool order_replay(struct stepper *s, struct forward_state *x,
    const struct cover *cover, uint32_t n, struct arena *a);

#endif
