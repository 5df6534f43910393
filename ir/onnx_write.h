/* Writing ONNX: a streaming protobuf writer of our own, so that a model with
 * 500 MB of weights needs no 500 MB of memory, and models of our own making. */
#ifndef IR_ONNX_WRITE_H
#define IR_ONNX_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/err.h"
#include "ir/graph.h"
#include "ir/onnx_read.h"

/* A function: a named sub-graph called by nodes of another domain. */
struct onnx_function {
	const char *name, *domain;
	const struct graph *body;
};

struct onnx_out {
	const struct graph *graph;
	uint32_t ir_version;
	uint32_t nopsets;
	const struct onnx_opset *opset;
	uint32_t nfunctions;
	const struct onnx_function *function;
	uint32_t nmeta; /* model metadata_props */
	const struct onnx_meta *meta;
	uint32_t ngraph_meta; /* the main graph's */
	const struct onnx_meta *graph_meta;
	/* What is remarked of a node of the main graph or of a function's body: an
	 * entry of metadata_props, before IR 10 a line of doc_string. NULL: nothing
	 * of any; a remark without a key: nothing of this one. */
	struct onnx_meta (*remark)(
	    const void *context, const struct graph *g, node_id id);
	/* Write FILL constants of the main graph as ConstantOfShape nodes over
	 * small "<name>/shape" initialisers: the structure without the bytes. */
	bool light;
	/* ... or only those of so many bytes or more, when the model's opset
	 * has the operator; 0: none. */
	size_t light_bytes;
	/* Constants of the main graph of so many bytes or more are only named:
	 * onnx_write_beside() writes them into the file `beside` in the model's
	 * folder. NULL: all content is in the model. */
	const char *beside;
	size_t beside_bytes;
	/* ... or those whose content is in that file already, `at` so many
	 * bytes. NULL: it is written by onnx_write_beside(). */
	bool (*lies)(const void *context, const struct tensor *t, uint64_t *at);
	bool any_size; /* beyond what protobuf allows, too: we read it */
	/* Write the content of constant v of the main graph, tensor->bytes of
	 * it, and return true; or return false to have the tensor's own
	 * written. NULL: always the tensor's own. */
	bool (*content)(FILE *f, const void *context, value_id v);
	const void *context; /* of the functions */
};

/* Write a whole model. A constant whose tensor is FILL is expanded on the way
 * out. ERR_IO when the stream fails; ERR_UNSUPPORTED, and nothing is written,
 * when it would be larger than protobuf allows. */
bool onnx_write(FILE *f, const struct onnx_out *o, struct err *err);

/* Write the content of the constants that lie beside the model, each on a page
 * of its own. */
bool onnx_write_beside(FILE *f, const struct onnx_out *o, struct err *err);

/* Write one TensorProto (a test_data_set file). */
bool onnx_write_tensor(
    FILE *f, const char *name, const struct tensor *t, struct err *err);

#endif
