/* Ensembles of decision trees: what the forms of ai.onnx.ml are read into. */
#ifndef TARGETS_HOST_TREES_H
#define TARGETS_HOST_TREES_H

#include "targets/host/call.h"

enum mode { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF };

/* A node of a tree; children are indices into the ensemble's nodes. */
struct tree_node {
	enum mode mode;
	bool missing_is_true;
	uint32_t feature, yes, no;
	double value;
	uint32_t first, n; /* of a leaf: its entries of weight[]; of MEMBER: of
	                    * member[] */
};

struct tree_weight {
	int64_t tree, node;
	uint32_t target;
	double value;
};

struct ensemble {
	uint32_t nnodes, nroots, nweights, ntargets;
	struct tree_node *node;
	uint32_t *root;
	struct tree_weight *weight; /* by leaf */
	double *member;
};

/* The form of versions 1 to 3: lists with a row a node, leaves among them.
 * what: "class" or "target", whose weights the leaves hold. */
bool trees_read_lists(struct ensemble *e, struct call *c, const char *what,
    uint32_t ntargets, struct err *err);
/* The form of version 5: tensors, leaves apart. */
bool trees_read_tensors(
    struct ensemble *e, struct call *c, uint32_t ntargets, struct err *err);

#endif
