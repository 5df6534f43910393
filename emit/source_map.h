/* The source map as arrays: ONNX node <-> graph node, both ways, and the
 * backend layers of each node. Conservation is checked while it is made. */
#ifndef EMIT_SOURCE_MAP_H
#define EMIT_SOURCE_MAP_H

#include "emit/scopes.h"
#include "emit/work.h"
#include "targets/toolchain.h"

/* A graph node (of the main graph) that carries an ONNX node. */
struct map_link {
	uint32_t onnx; /* or the part */
	node_id node;
	enum role role;
	bool inside; /* in a body (If, Loop, Scan) of that node */
};

struct map_links {
	uint32_t n;
	const struct map_link *link; /* by onnx, then node */
	const uint32_t *start; /* [nonnx + 1] into link */
};

/* A graph node that reads an initialiser; or a constant of a layer it is in. */
struct map_reader {
	uint32_t initialiser;
	node_id node; /* of the main graph; NODE_NONE: a constant */
	bool inside; /* in a body of that node */
	uint32_t layer, constant; /* without a node */
};

struct map_layer {
	uint32_t region, index; /* index: its toolchain's number of it */
	const char *index_name;
	struct toolchain_layer layer;
};

struct source_map {
	struct map_links nodes, parts;
	uint32_t nlayers;
	struct map_layer *layer; /* by region, then index */
	uint32_t count[3]; /* ONNX nodes by fate */
	uint32_t nreaders;
	struct map_reader *reader; /* by initialiser; nodes first */
	const bool *is_output; /* [ninitialisers] the graph gives it as it is */
	struct scopes scopes;
};

/* ERR_INTERNAL naming the ONNX node that is not accounted for exactly once. */
bool source_map_init(
    struct source_map *m, const struct emit_work *w, struct err *err);

const char *role_text(enum role r);
const char *fate_text(enum fate f);

#endif
