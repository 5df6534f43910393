/* What the files of the importer share; internal to ir/. */
#ifndef IR_ONNX_IMPORT_H
#define IR_ONNX_IMPORT_H

#include "ir/base/map.h"
#include "ir/external.h"
#include "ir/graph.h"
#include "ir/lenient.h"
#include "ir/model.h"
#include "ir/onnx.pb-c.h"

/* Versions of the domains a graph or function body imports. */
struct opsets {
	uint32_t n;
	const struct onnx_opset *opset;
};

struct functions; /* ir/functions.h */

/* One import. */
struct importer {
	struct model *model;
	const struct onnx_options *options;
	struct arena *a; /* the model's: all that stays lives there */
	struct arena *passing; /* the messages', and names': until it is read */
	const unsigned char *bytes; /* the file payloads refer into */
	size_t nbytes;
	struct external external;
	struct functions *functions;
	struct map words; /* names that were kept -> word[] */
	const char **word; /* [nwords] */
	uint32_t nwords, word_cap;
	struct map taken; /* then: names of all values of all graphs */
	struct map symbols; /* of graph symbols_of, name -> index */
	const struct graph *symbols_of;
	struct map noted; /* warnings given already */
	bool *dim_used, *shape_used; /* which bindings found their place */
	size_t dense_bytes; /* taken by sparse tensors so far */
	bool in_initializer; /* what is read may be a weight */
	bool lacks_weights; /* some weight has no content: others may not */
	uint32_t nfaults; /* put into the notes */
	struct err first_fault;
	uint32_t ncalls; /* of functions, inlined so far */
	struct early *early; /* types, where what is written out needs them */
	struct err *err;
};

/* Names visible while a list of nodes is read: of one graph, or of one
 * inlined function body (which sees no outer names). */
struct scope {
	struct scope *outer; /* of the enclosing graph; NULL: none is seen */
	struct graph *graph; /* nodes and values are added here */
	struct map names; /* name as written -> value_id */
	struct map absent; /* inputs of a function the call leaves out */
	struct map bound; /* outputs of a function -> the caller's value_id */
	struct map declared; /* name -> index into value_info */
	Onnx__ValueInfoProto **value_info;
	struct owner *owner; /* of a sub-graph: the node it belongs to */
	const struct function_call
	    *call; /* the function call being inlined, or NULL */
	const struct opsets *opsets;
	const char *path; /* of the ONNX graph, as in struct onnx_node */
	const char *prefix; /* of names inside a function body, or "" */
	uint32_t at; /* the node being read */
	uint32_t origins; /* of node 0 in the origin table, unless in a call */
	uint32_t parts; /* in a call: of node 0 among the parts */
	struct capture *capture; /* [ncaptures]; the graph's */
	uint32_t ncaptures, capture_cap;
};

/* The outer values that a node's sub-graphs capture: its implicit inputs. */
struct owner {
	struct map slot; /* &value_id -> slot */
	value_id *value; /* [n] */
	uint32_t n, cap;
};

/* A call of a model-local function. */
struct function_call {
	uint32_t onnx; /* the calling node in the origin table */
	uint32_t part; /* 1 + the calling part, in a function; or 0 */
	bool authored; /* the model's own function */
	const Onnx__FunctionProto *function;
	const Onnx__NodeProto *node; /* whose attributes bind references */
	const struct function_call
	    *outer; /* the call `node` stands in, or NULL */
};

/* Tensors. Content is left in place where the file's form allows. */
bool import_tensor(
    struct importer *imp, const Onnx__TensorProto *p, struct tensor *t);
bool import_sparse(
    struct importer *imp, const Onnx__SparseTensorProto *p, struct tensor *t);
/* Large enough for a weight, and without content? */
bool tensor_is_bare_weight(const Onnx__TensorProto *p);

/* Types. Symbols are added to g; what the user bound is put in. */
bool import_type(struct importer *imp, struct graph *g,
    const Onnx__TypeProto *p, struct type *t);
/* Put the shape given with --shape into the type of a graph input, or of a value
 * (`what`) that an opaque node makes. */
bool bind_type(
    struct importer *imp, const char *what, const char *name, struct type *t);

/* A name that stays when the messages are given back, each kept once; "" for
 * NULL. */
const char *import_word(struct importer *imp, const char *s);
/* The same of bytes. */
struct string_view import_bytes(
    struct importer *imp, const ProtobufCBinaryData *p);

/* metadata_props of a model or node. */
const struct onnx_meta *import_meta(
    struct importer *imp, size_t n, Onnx__StringStringEntryProto **p);

/* Attributes of a node in that scope; sub-graphs are built, references to
 * attributes of the call resolved. */
bool import_attrs(struct importer *imp, struct scope *s,
    const Onnx__NodeProto *p, struct owner *owner, struct node *n);

/* A sub-graph of a node in scope `outer`. */
bool import_subgraph(struct importer *imp, struct scope *outer,
    struct owner *owner, const char *path, const Onnx__GraphProto *p,
    struct graph **out);

/* The main graph, into the model's. */
bool import_graph(struct importer *imp, const Onnx__GraphProto *p,
    const struct opsets *opsets);

/* Nodes of a graph or function body whose inputs are in scope: first all their
 * outputs are declared, then the nodes are read. */
bool import_nodes(
    struct importer *imp, struct scope *s, size_t n, Onnx__NodeProto **node);

/* Scopes. */
void scope_init(struct scope *s, struct importer *imp, struct graph *g,
    struct scope *outer, const struct opsets *opsets);
/* Add a value under a name, which must be new there. */
bool scope_declare(struct importer *imp, struct scope *s, const char *name,
    const struct type *type, value_id *out);
/* The value of a name, captured from enclosing graphs where needed; VALUE_NONE
 * when there is none. */
value_id scope_find(struct importer *imp, struct scope *s, const char *name);
/* Where what belongs to the node being read stands: "Loop_2/body/If_3". */
const char *scope_path(const struct importer *imp, const struct scope *s,
    const Onnx__NodeProto *p);
/* What value_info states about a name; unknown when it says nothing. */
bool scope_type(
    struct importer *imp, struct scope *s, const char *name, struct type *out);

/* The tensor a Constant node stands for. */
bool import_constant(struct importer *imp, struct scope *s,
    const Onnx__NodeProto *p, const struct tensor **out);

/* Opset imports of a model or function. */
bool import_opsets(struct importer *imp, size_t n, Onnx__OperatorSetIdProto **p,
    struct opsets *out);
/* The version a domain is imported with; 0 when it is not. */
uint32_t opsets_version(const struct opsets *o, const char *domain);
/* "" for both spellings of the default domain. */
const char *domain_name(const char *domain);

/* A warning, unless it was given before. */
#ifdef __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
void
note_once(struct importer *imp, enum lenient rule, const char *fmt, ...);

/* Give the pending fault a node's name and place; when all faults are to be
 * found, note it and go on (true). */
bool fault_at_node(struct importer *imp, const struct scope *s, uint32_t index,
    const Onnx__NodeProto *p);
/* When all faults are to be found: note the pending one and go on (true). */
bool fault_noted(struct importer *imp);

#endif
