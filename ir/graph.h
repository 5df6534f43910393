/* The graph: nodes and values with dense ids, attributes, origins. Open on
 * purpose: every reader looks at it and tests build it. Pass-private data
 * lives in side arrays indexed by id, never here. */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/notes.h"
#include "ir/op.h"
#include "ir/tensor.h"

typedef uint32_t node_id; /* after normalize(): the node's exprnode_id */
typedef uint32_t value_id;
#define NODE_NONE UINT32_MAX
#define VALUE_NONE UINT32_MAX /* an optional input or output left out */

enum attr_kind { /* numbered as AttributeProto.AttributeType */
	ATTR_NONE = 0,
	ATTR_FLOAT = 1,
	ATTR_INT = 2,
	ATTR_STRING = 3,
	ATTR_TENSOR = 4,
	ATTR_GRAPH = 5,
	ATTR_FLOATS = 6,
	ATTR_INTS = 7,
	ATTR_STRINGS = 8,
	ATTR_TENSORS = 9,
	ATTR_GRAPHS = 10,
	ATTR_SPARSE = 11, /* read into a dense tensor */
	ATTR_SPARSES = 12,
	ATTR_TYPE = 13,
	ATTR_TYPES = 14,
};

struct graph;

/* One attribute. Lists have n entries; single ones are in entry 0 of the
 * matching list too (n == 1), so a reader needs one form only. */
struct attr {
	const char *name;
	enum attr_kind kind;
	uint32_t n;
	union {
		const float *floats;
		const int64_t *ints;
		const struct string_view *strings;
		const struct tensor *tensors;
		struct graph *const *graphs;
		const struct type *types;
	};
};

/* What became of an ONNX node; each is accounted for exactly once. */
enum fate {
	FATE_COVERED, /* some node of the graph carries it as an origin */
	FATE_FOLDED, /* its outputs are constants now */
	FATE_DROPPED, /* an identity (or unreachable, or the branch not taken) */
};

/* An entry of metadata_props. */
struct onnx_meta {
	const char *key, *value;
};
#define MARK_PREFIX "marq." /* of keys that are meant for us */
#define MARK_PLACEMENT MARK_PREFIX "placement" /* for people; not read */
/* Of a model that is written with weights that have no content: so it is read
 * again, however small they are. */
#define MARK_WEIGHTS MARK_PREFIX "weights"
#define MARK_WEIGHTS_NONE "none"

/* A node as the model's author wrote it. */
struct onnx_node {
	const char *path; /* "" = main graph; else "If_3/then_branch", ... */
	const char *name; /* "" when the author gave none */
	const char *op_type, *domain;
	const char *const *outputs; /* [noutputs] */
	const struct onnx_meta *meta; /* [nmeta] */
	const char *why; /* of FOLDED and DROPPED, a few words; else NULL */
	uint32_t index; /* position in that graph's node list */
	uint32_t noutputs, nmeta;
	enum fate fate;
	uint32_t into; /* of FOLDED: the ONNX node of a node that reads what it
	                * became part of; NODE_NONE: an output of the graph */
	uint32_t into_part; /* 1 + which part of that node it is; 0: itself */
};

/* A node in the body of a function of the model's, where a call of it was
 * written out. Those of an inner call come after that call. */
struct onnx_part {
	struct onnx_node node; /* its path has the calls, too */
	uint32_t call; /* the outermost call, an ONNX node */
	uint32_t within; /* 1 + the part that is the inner call; 0: none */
};

/* How an IR node relates to an ONNX node. */
enum role {
	ROLE_KEPT, /* it is that node */
	ROLE_FUSED, /* that node and others became one */
	ROLE_SPLIT, /* one of several that node became (function bodies) */
	ROLE_SYNTHESIZED, /* made on its behalf */
};

struct origin {
	uint32_t onnx; /* index into graph->origin_table->node[] */
	enum role role;
	uint32_t part; /* 1 + index into part[] there; 0: not of a function */
};

/* An initialiser as the model's author wrote it. */
struct onnx_initialiser {
	const char *path, *name; /* as of a node */
	enum fate fate; /* COVERED: it is a value of the graph */
	uint32_t into, into_part; /* as of a node */
};

struct onnx_nodes {
	struct onnx_node *node; /* [n] */
	uint32_t n, cap;
	struct onnx_part *part; /* [nparts] */
	uint32_t nparts, part_cap;
	struct onnx_initialiser *initialiser; /* [ninitialisers] */
	uint32_t ninitialisers, initialiser_cap;
};

struct node {
	const char *op_type; /* as written; differs from op's for OP_CUSTOM */
	const char *domain; /* "" is the default domain */
	const char *name; /* as written, or "" */
	enum op op;
	uint32_t opset; /* version of that domain the model imports */
	uint32_t ninputs; /* explicit ones */
	uint32_t nimplicit; /* outer values its sub-graphs capture; these
			      * follow the explicit ones in input[] */
	uint32_t noutputs, nattrs, norigins;
	value_id *input; /* [ninputs + nimplicit] */
	value_id *output; /* [noutputs] */
	const struct attr *attr;
	const struct origin *origin;
};

enum value_flag {
	VALUE_INPUT = 1, /* fed by the caller */
	VALUE_OUTPUT = 2, /* asked for by the caller */
	VALUE_OVERRIDABLE = 4, /* initialiser that is an input too (IR 3) */
};

/* How large a constant's numbers are (targets/magnitude.h); 0: nobody has asked. */
struct magnitude {
	float most, rows, columns, least;
};

struct value {
	const char *name;
	struct type type;
	const struct tensor *constant; /* content known at import, or NULL */
	const struct origin *stated_by; /* the Constant node it is, or NULL */
	node_id producer; /* NODE_NONE: input, capture, constant */
	uint32_t flags;
	uint32_t given_by; /* 1 + the initialiser it is, there; 0: none */
	struct magnitude magnitude; /* of the constant */
	float
	    below; /* its numbers are below 2 to this power (0: not known) in a
	              * run where what is looked at is small */
	bool looked_at; /* see targets/known.h */
};

/* An operator of another domain that was written out in others (ir/expand.h), as
 * its author has it: for who has a kernel for it. Its nodes have its origin. */
struct written_call {
	struct node node; /* its values are the graph's; VALUE_NONE: left out,
			   * or gone */
	/* [ninputs + noutputs] a value that went: a constant that was folded, an
	 * output that nobody reads; else NULL. Calls share what they read. */
	const struct value **gone;
	bool lost; /* an input that was computed went */
};

/* A value of an enclosing graph seen inside a sub-graph. */
struct capture {
	uint32_t slot; /* of the owning node's implicit inputs */
	value_id inner; /* what it is called inside */
};

struct graph {
	const char *name;
	struct arena *arena; /* everything below lives there */
	struct node *node;
	uint32_t nnodes, node_cap;
	struct value *value;
	uint32_t nvalues, value_cap;
	const value_id *input; /* fed inputs, in the model's order */
	uint32_t ninputs;
	const value_id *output;
	uint32_t noutputs;
	const struct capture *capture; /* of a sub-graph */
	uint32_t ncaptures;
	bool as_read; /* a branch that cannot be taken: nothing was inferred */
	const char **symbol; /* names of symbolic dimensions */
	uint32_t nsymbols, symbol_cap;
	struct onnx_nodes *origin_table; /* shared with sub-graphs */
	struct written_call *call; /* [ncalls] of a main graph */
	uint32_t ncalls, call_cap;
};

/* What the author wrote that an origin speaks of: a part, else the node. */
struct onnx_node *origin_node(
    const struct onnx_nodes *table, const struct origin *o);

struct graph *graph_new(struct arena *a, const char *name);

/* Add a value (name borrowed, type copied shallowly); its id. */
value_id graph_add_value(
    struct graph *g, const char *name, const struct type *type);
/* Add a constant value. */
value_id graph_add_constant(
    struct graph *g, const char *name, const struct tensor *t);
/* Add a node (copied shallowly) and set its outputs' producer; its id. */
node_id graph_add_node(struct graph *g, const struct node *n);
/* The symbol of that name, added when new. */
uint32_t graph_symbol(struct graph *g, const char *name);

struct node *graph_node(const struct graph *g, node_id id);
struct value *graph_value(const struct graph *g, value_id id);

/* A name for messages and reports that is never empty: the author's, or
 * "<op_type>_<onnx index>". Lives in `a`. */
const char *node_label(const struct graph *g, node_id id, struct arena *a);

/* Consumers of each value, ascending, a consumer once per value:
 * user[start[v]] .. user[start[v + 1] - 1]. Implicit inputs count. */
struct uses {
	const uint32_t *start; /* [nvalues + 1] */
	const node_id *user;
};
struct uses graph_uses(const struct graph *g, struct arena *a);

/* Attributes by name; `_or` gives a default, *n is untouched when absent. */
const struct attr *node_attr(const struct node *n, const char *name);
int64_t attr_int_or(const struct node *n, const char *name, int64_t otherwise);
float attr_float_or(const struct node *n, const char *name, float otherwise);
struct string_view attr_str_or(
    const struct node *n, const char *name, const char *otherwise);
/* Is a text attribute, or what it is when absent, `want`? */
bool attr_is(const struct node *n, const char *name, const char *otherwise,
    const char *want);
/* The ints of a list attribute, or NULL (and *count = 0) when absent. */
const int64_t *attr_ints(
    const struct node *n, const char *name, uint32_t *count);

/* The node that makes a value which one makes. */
const struct node *graph_producer(const struct graph *g, value_id v);
/* Input/output i; VALUE_NONE when it is left out. */
value_id node_input(const struct node *n, uint32_t i);
value_id node_output(const struct node *n, uint32_t i);
/* The same as a value; NULL when it is left out. */
const struct value *node_in(
    const struct graph *g, const struct node *n, uint32_t i);
const struct value *node_out(
    const struct graph *g, const struct node *n, uint32_t i);

/* The k-th graph among its attributes, in their order; NULL: it has no more. */
struct graph *node_body(const struct node *n, uint32_t k);
/* Is a node, or one that stands in a body of it, like that? */
bool node_any(const struct node *n, bool (*is)(const struct node *n));
/* Is it an operator nobody here knows, or does one stand in a body of it? */
bool node_is_opaque(const struct node *n);

/* Order nodes so that producers come first, stably (Kahn, smallest id first),
 * and renumber. ERR_INPUT naming a node on a cycle. */
bool graph_sort(struct graph *g, struct err *err);

/* States every invariant in code: ids in range, producers right, topological
 * order, names set. Asserts. */
void graph_verify(const struct graph *g);

#endif
