/* What a runner is given as files: the model of a candidate, tensors. */
#ifndef TARGETS_EXTERNAL_FILES_H
#define TARGETS_EXTERNAL_FILES_H

#include "targets/target.h"

/* A candidate in a folder of its own: model.onnx, with all its constants, and
 * where its tensors go. */
struct files {
	const char *folder;
	const char *model;
	const char **input, **output; /* paths of the ports' tensors */
	const struct graph *graph;
	const struct candidate *candidate;
};

/* Make the folder and the model. ERR_UNSUPPORTED for what cannot be cut out. */
bool files_open(struct files *f, const struct graph *g,
    const struct candidate *c, struct arena *a, struct err *err);
void files_close(struct files *f);

/* The inputs, in FORMAT_PLAIN. */
bool files_write_inputs(
    const struct files *f, const void *const *in, struct err *err);

/* The outputs; ERR_INPUT when one is missing or of another type or shape. */
bool files_read_outputs(
    const struct files *f, void *const *out, struct err *err);

#endif
