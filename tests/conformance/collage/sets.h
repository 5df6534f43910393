/* What a set of nodes is in its graph: boundary, depth, kind, validity. */
#ifndef TESTS_CONFORMANCE_COLLAGE_SETS_H
#define TESTS_CONFORMANCE_COLLAGE_SETS_H

#include "tests/conformance/collage/dag.h"

#define SETS_MAX 4096u

struct sets {
	uint32_t n;
	set of[SETS_MAX];
};

struct limits {
	uint32_t max_depth, max_exits; /* 0: any */
	bool taps;
};

/* Nodes outside that read the set. */
set set_outputs(const struct dag *d, set s);
/* Nodes that read from outside, or nothing. */
set set_entries(const struct dag *d, set s);
/* Nodes that are read outside or asked for. */
set set_exits(const struct dag *d, set s);
bool set_is_convex(const struct dag *d, set s);
/* Longest path inside, in operators. */
uint32_t set_depth(const struct dag *d, set s);
/* The greatest of its nodes. */
enum kind set_kind(const struct dag *d, set s);
bool set_is_valid(const struct dag *d, set s, const struct limits *l);

/* Disjoint, `up` feeds `down`, and no path between them leaves both. */
bool sets_are_touching(const struct dag *d, set up, set down);
/* Unless it is there. */
void sets_add(struct sets *s, set x);
/* Keep the valid ones. */
void sets_filter(const struct dag *d, struct sets *s, const struct limits *l);

#endif
