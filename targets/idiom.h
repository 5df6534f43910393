/* Idioms: what exporters spell out in several nodes, recognised once for all
 * backends. The graph stays as it is; beside it stands the operator that an
 * idiom's nodes amount to. */
#ifndef TARGETS_IDIOM_H
#define TARGETS_IDIOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/bitset.h"
#include "ir/graph.h"
#include "targets/view.h"

enum idiom {
#define IDIOM(kind, name, op, opset) IDIOM_##kind,
#include "targets/idiom.def"
#undef IDIOM
	NIDIOMS
};

/* Where an operand lies in a value that is made outside, or the result in the one
 * that the idiom makes. */
struct idiom_place {
	value_id value;
	struct view view;
};

/* One place where an idiom is spelled out. */
struct idiom_match {
	enum idiom kind;
	node_id root;
	uint32_t nnodes;
	const node_id *node; /* [nnodes] ascending */
	value_id x; /* what is normalised, activated, moved; the queries */
	/* The operator it amounts to, over the same values and perhaps constants
	 * that the graph lacks; NULL: there is none. */
	const struct node *as;
	const struct graph *graph; /* the graph with those constants behind */
	bool loses_nan; /* `as` makes a number where the nodes make NaN, or the
			 * other way round */
	/* MOVED_ATTENTION: the operator over values that only the idiom's nodes
	 * make, and where queries, keys, values and result lie. Else NULL. */
	const struct node *over;
	const struct idiom_place *place; /* [4] */
};

struct idioms {
	struct graph graph; /* see idiom_match */
	const struct idiom_match *match; /* [n] by root, then kind */
	uint32_t n;
	const uint32_t *start; /* [nnodes + 1], of each root's in match[] */
};

const char *idiom_name(enum idiom kind);
/* NIDIOMS when there is none of that name. */
enum idiom idiom_named(const char *name, size_t n);
/* Add the operators that the last nodes of a kind's (NIDIOMS: of all) matches
 * are; ops has NOP bits. */
void idioms_roots(const struct idioms *all, enum idiom kind, struct bitset ops);

#endif
