/* Where in the author's program each ONNX node comes from, as exporters say it: a
 * tree of modules, and lines of Python. From torch.onnx's metadata_props
 * (pkg.torch.onnx.name_scopes, .class_hierarchy, .stack_trace), else from names
 * ("/model/layers.0/attn/MatMul", "model/dense/MatMul"), else from the sub-graph
 * or function it is in. Every node has a scope; the root's path is "". */
#ifndef EMIT_SCOPES_H
#define EMIT_SCOPES_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/graph.h"

#define SCOPE_ROOT 0u
#define LINE_NONE UINT32_MAX

struct source_scope {
	uint32_t parent; /* of the root: itself */
	const char *name; /* below its parent: "layers.0" */
	const char *path; /* "model.layers.0" */
	const char *class; /* "" where it is not known */
};

/* A line of Python that calls a node, or calls what calls it. */
struct source_line {
	const char *file;
	uint32_t line;
	const char *function;
	const char *text; /* what stands there, or "" */
};

struct node_source {
	uint32_t scope;
	uint32_t nlines;
	const uint32_t *lines; /* outermost first */
	uint32_t line; /* the innermost of the author's own, or LINE_NONE */
};

struct scopes {
	uint32_t n, nlines;
	const struct source_scope *scope; /* parents first */
	const struct source_line *line;
	const struct node_source *of; /* [table->n] */
};

void scopes_init(
    struct scopes *s, const struct onnx_nodes *table, struct arena *a);

#endif
