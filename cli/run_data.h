/* Inputs to run a model with, and what is expected of it. */
#ifndef CLI_RUN_DATA_H
#define CLI_RUN_DATA_H

#include "ir/graph.h"
#include "ir/onnx_read.h"

/* One set of inputs, with the outputs somebody expects, if any. */
struct run_data {
	const char *name; /* "seeded", or its folder */
	struct tensor *in; /* [ninputs] */
	struct tensor *want; /* [noutputs], or NULL */
};

struct run_sets {
	struct run_data *set; /* [n] */
	uint32_t n, cap;
};

/* Reproducible inputs of the model's own. */
bool run_data_seeded(struct run_sets *s, const struct graph *g, struct arena *a,
    struct err *err);
/* input_<i>.pb and output_<i>.pb of a folder, or of its test_data_set_<k>. */
bool run_data_read(struct run_sets *s, const struct graph *g, const char *path,
    struct arena *a, struct err *err);

/* Bind each input whose shape the model leaves open to what a set has; true
 * when there was one. */
bool run_data_shapes(struct onnx_options *o, const struct run_data *d,
    const struct graph *g, struct arena *a);

#endif
