/* The pattern language: what a composite looks like, as constant data.
 *
 *	NODE(CONV, ANY, CONSTANT)        an operator over argument patterns
 *	MAYBE(RELU, p)                   RELU over p, or just p
 *	EITHER(p, q)                     alternatives; all are enumerated
 *	AS("conv", p)                    names what p matched
 *	REST                             any further inputs
 *	EVERY(p)                         one or more further inputs, each as p
 *	OPERATOR                         one node of any operator
 *	NUMBER(0.5)                      a constant of one element near that
 *	SPELLED(GELU, p)                 an idiom over p (targets/idiom.h)
 *
 * What is named twice is one value both times: AS("x", ANY) in two places.
 * Every input of a node must be spoken for: by an argument, by REST or EVERY, or by
 * being left out (which ABSENT says, and which trailing inputs may be). A NODE
 * below the root matches through the producer's first output. Commutative
 * operators match their two inputs both ways. All matches rooted at a node are
 * enumerated, not the first.
 *
 * Text form, the inverse of parsing it:
 *	Relu?(Add?(Conv(*, const), const))      MAYBE, NODE, ANY, CONSTANT
 *	conv:Conv(var, const, (const | absent)) AS, VARIABLE, EITHER, ABSENT
 *	Concat(...)    op                       REST, OPERATOR
 *	Concat(each(Relu(*)))                   EVERY
 *	Mul(gelu(*), 0.5)                       SPELLED, NUMBER */
#ifndef TARGETS_PATTERN_H
#define TARGETS_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/bitset.h"
#include "ir/graph.h"
#include "targets/idiom.h"

enum pattern_kind {
	PATTERN_ANY, /* any value, even a constant */
	PATTERN_VARIABLE, /* any value that is not a constant */
	PATTERN_CONSTANT, /* a constant value */
	PATTERN_ABSENT, /* an optional input that is left out */
	PATTERN_REST, /* the remaining inputs, whatever they are */
	PATTERN_EVERY, /* the remaining inputs, all as arg[0] */
	PATTERN_NODE,
	PATTERN_MAYBE, /* node over arg[0] with further args, or arg[0] */
	PATTERN_EITHER,
	PATTERN_AS,
	PATTERN_OPERATOR, /* one node of any operator, whatever its inputs */
	PATTERN_NUMBER, /* a constant of one element near `number` */
	PATTERN_IDIOM, /* `idiom` (NIDIOMS: any) over arg[0] */
};

#define PATTERN_ARGS 6
#define PATTERN_NODES 32 /* NODE and MAYBE in one pattern */
#define PATTERN_DEPTH 16 /* nesting of a parsed pattern */

struct pattern {
	enum pattern_kind kind;
	enum op op; /* of NODE and MAYBE */
	enum idiom idiom;
	double number;
	const char *name; /* of AS */
	uint32_t nargs;
	const struct pattern *arg[PATTERN_ARGS];
};

/* Counted by place, not by sizeof: that would write the arguments down twice,
 * at every depth. */
#define PATTERN_COUNT(...) PATTERN_NTH(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define PATTERN_NTH(a, b, c, d, e, f, n, ...) n
#define NODE(o, ...) \
	(&(const struct pattern){.kind = PATTERN_NODE, \
	    .op = OP_##o, \
	    .nargs = PATTERN_COUNT(__VA_ARGS__), \
	    .arg = {__VA_ARGS__}})
#define MAYBE(o, ...) \
	(&(const struct pattern){.kind = PATTERN_MAYBE, \
	    .op = OP_##o, \
	    .nargs = PATTERN_COUNT(__VA_ARGS__), \
	    .arg = {__VA_ARGS__}})
#define EITHER(...) \
	(&(const struct pattern){.kind = PATTERN_EITHER, \
	    .nargs = PATTERN_COUNT(__VA_ARGS__), \
	    .arg = {__VA_ARGS__}})
#define AS(n, p) \
	(&(const struct pattern){ \
	    .kind = PATTERN_AS, .name = (n), .nargs = 1, .arg = {p}})
#define ANY (&(const struct pattern){.kind = PATTERN_ANY})
#define VARIABLE (&(const struct pattern){.kind = PATTERN_VARIABLE})
#define CONSTANT (&(const struct pattern){.kind = PATTERN_CONSTANT})
#define ABSENT (&(const struct pattern){.kind = PATTERN_ABSENT})
#define REST (&(const struct pattern){.kind = PATTERN_REST})
#define EVERY(p) \
	(&(const struct pattern){.kind = PATTERN_EVERY, .nargs = 1, .arg = {p}})
#define OPERATOR (&(const struct pattern){.kind = PATTERN_OPERATOR})
#define NUMBER(x) \
	(&(const struct pattern){.kind = PATTERN_NUMBER, .number = (x)})
#define SPELLED(i, p) \
	(&(const struct pattern){.kind = PATTERN_IDIOM, \
	    .idiom = IDIOM_##i, \
	    .nargs = 1, \
	    .arg = {p}})
#define ANY_IDIOM \
	(&(const struct pattern){.kind = PATTERN_IDIOM, \
	    .idiom = NIDIOMS, \
	    .nargs = 1, \
	    .arg = {ANY}})

/* What AS() caught: a node, or (over ANY, CONSTANT, ...) a value. */
struct capture_of {
	const char *name;
	node_id node; /* or NODE_NONE */
	value_id value; /* the node's output 0, or the value itself */
	const struct idiom_match *idiom; /* of SPELLED; else NULL */
};

#define MATCH_CAPTURES 24

/* One way a pattern fits at a node. */
struct match {
	node_id root;
	uint32_t nnodes;
	const node_id *node; /* [nnodes] ascending; root included */
	uint32_t ncaptures;
	const struct capture_of *capture; /* [ncaptures] */
};

/* A copy with all that it points to in `a`. */
const struct match *match_keep(const struct match *m, struct arena *a);

/* The node or value caught under a name; NONE when that branch was not taken. */
node_id match_node(const struct match *m, const char *name);
value_id match_value(const struct match *m, const char *name);
/* The i-th idiom of the match, in the order they were found; NULL: there are no
 * more. */
const struct idiom_match *match_idiom(const struct match *m, uint32_t i);
/* The node that the match amounts to: its root, or the operator of the idiom
 * that it is. NULL: an idiom without one. */
const struct node *match_as_node(const struct match *m, const struct graph *g);
/* The graph with the values of that node. */
const struct graph *match_graph(const struct match *m, const struct graph *g);
/* Is node n part of the match? */
bool match_has(const struct match *m, node_id n);

/* Does swapping the operator's two inputs leave its result alone? */
bool op_is_commutative(enum op op);

/* Add the operators a match of p can be rooted at, in a graph with these idioms;
 * ops has NOP bits. */
void pattern_roots(
    const struct pattern *p, const struct idioms *idioms, struct bitset ops);

/* Where matches go; what those that are found point to is in `arena`. */
struct matches {
	struct match *item; /* [max] */
	uint32_t max;
	struct arena *arena, *scratch; /* `scratch` is given back */
	const struct idioms
	    *idioms; /* of the graph; NULL: SPELLED finds none */
};

/* All matches of p rooted at `root`, without duplicates (same nodes and same
 * captures), in a fixed order. At most `max`, and partial matches beyond a
 * fixed number are dropped (a hostile pattern); the number found. */
uint32_t pattern_match(const struct pattern *p, const struct graph *g,
    node_id root, const struct matches *out);

/* Text form and back. ERR_INPUT with column. What several parts of a pattern point to is
 * written once, behind "where", and called by a number, "[1]": text to be read by people
 * only, for what was parsed has no such parts. */
const char *pattern_print(const struct pattern *p, struct arena *a);
const struct pattern *pattern_parse(
    const char *text, struct arena *a, struct err *err);

#endif
