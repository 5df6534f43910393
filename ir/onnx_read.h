/* Reading ONNX models. Tensor payloads stay in the mapped file. */
#ifndef IR_ONNX_READ_H
#define IR_ONNX_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/notes.h"
#include "ir/graph.h"

/* Facts of the file that outlive the graph. */
struct onnx_opset {
	const char *domain;
	uint32_t version;
};

/* A model: the graph and what keeps its payloads mapped. */
struct model {
	const char *path; /* as given; for messages */
	struct graph *graph;
	uint32_t ir_version;
	uint32_t nopsets;
	const struct onnx_opset *opset;
	uint32_t nmeta;
	const struct onnx_meta *meta;
	const char *producer; /* name and version, or "" */
	size_t file_bytes;
	struct notes notes; /* warnings, in order */
	struct notes faults; /* with options->collect: all of them */
	struct mapping *mappings; /* the file and external data files */
};

/* What the user may bind when reading. */
struct bind_dim {
	const char *name; /* a dim_param: --dim batch=1 */
	int64_t size;
};
struct bind_shape {
	const char *input; /* --shape x=1x3x224x224 */
	uint32_t rank;
	const int64_t *dim;
};
struct onnx_options {
	uint32_t ndims;
	const struct bind_dim *dim;
	uint32_t nshapes;
	const struct bind_shape *shape;
	bool collect; /* go on after a fault and put each into faults
		       * (`marq model check`); still fails */
};

/* Read, check and build. Functions are inlined, sub-graphs built, nodes sorted.
 * ERR_INPUT for a malformed model, ERR_UNSUPPORTED for a valid one this build
 * cannot take, ERR_IO for a file that cannot be read. */
bool onnx_read(struct model *m, const char *path, const struct onnx_options *o,
    struct arena *a, struct err *err);
/* The same from bytes that outlive the model; external data is refused. */
bool onnx_read_bytes(struct model *m, const void *bytes, size_t n,
    const struct onnx_options *o, struct arena *a, struct err *err);
/* Unmap. The graph must not be used afterwards. */
void model_close(struct model *m);

/* A TensorProto / SequenceProto / OptionalProto file of a test_data_set. */
bool onnx_read_tensor(
    struct tensor *t, const char *path, struct arena *a, struct err *err);
bool onnx_read_value(struct tensor *t, const struct type *type,
    const char *path, struct arena *a, struct err *err);

#endif
