/* A model read from an ONNX file: its graph and facts of the file; and what the
 * user may bind when it is read. */
#ifndef IR_MODEL_H
#define IR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/hash.h"
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
	uint32_t ngraph_meta; /* of the main graph */
	const struct onnx_meta *graph_meta;
	const char *producer; /* name and version, or "" */
	size_t file_bytes;
	bool
	    no_weights; /* read as if it lacked them: they stay with who has it */
	struct notes notes; /* warnings, in order */
	struct notes faults; /* with options->collect: all of them */
	struct mapping *mappings; /* the file and external data files */
	struct mapping *zeros; /* what made-up weights of less than a byte are,
	                        * the largest first */
};

/* A hash of the bytes of its file and of its external data, while it is open. */
struct hash128 model_hash(const struct model *m);

/* What the user may bind when reading. */
struct bind_dim {
	const char *name; /* a dim_param: --dim batch=1 */
	int64_t size;
};
struct bind_shape {
	const char *value; /* --shape x=1x3x224x224: an input, or what an
	                    * opaque node makes */
	uint32_t rank;
	const int64_t *dim;
	enum dtype dtype; /* ... :float16; DT_UNDEFINED: as stated */
	bool weak; /* only where nobody else says it */
};
struct onnx_options {
	uint32_t ndims;
	const struct bind_dim *dim;
	uint32_t nshapes;
	const struct bind_shape *shape;
	bool opaque; /* an operator no opset has is one nobody knows */
	bool no_weights; /* weights are read as if the model lacked them */
	bool collect; /* go on after a fault and put each into faults
		       * (`marq model check`); still fails */
};

#endif
