/* Building models: a thin layer over the graph for architectures that are
 * written as code (cli/generators). Weights are hashes of (index, salt), so any
 * program can make the same ones. */
#ifndef CLI_GENERATORS_BUILD_H
#define CLI_GENERATORS_BUILD_H

#include "ir/graph.h"

/* What a weight's values are drawn from: u is uniform in [-1, 1). */
enum weight_role {
	WEIGHT_KERNEL, /* u * sqrt(6 / fan_in): keeps activations in range */
	WEIGHT_BIAS, /* 0.1 u */
	WEIGHT_SCALE, /* base + 0.25 u base: of a normalisation */
	WEIGHT_VARIANCE, /* 1 + 0.5 u */
};

struct model_builder {
	struct graph *g;
	struct arena *arena;
	uint32_t salt; /* of the next weight */
	uint32_t counter; /* of names */
	float scale_base; /* of WEIGHT_SCALE; 0.5 keeps deep residuals tame */
	enum dtype dtype; /* of weights and outputs */
	uint32_t opset; /* of nodes */
	bool constant; /* weights are FILL tensors (0.01): a light model */
};

/* An empty graph of float weights and opset 13. */
struct model_builder gen_begin(
    struct arena *a, const char *name, bool constant);
value_id gen_input(struct model_builder *b, const char *name, enum dtype dtype,
    uint32_t rank, const int64_t *dim);
void gen_output(struct model_builder *b, value_id v, const char *name);

/* A weight of this shape; name from the node about to be added. */
value_id gen_weight(struct model_builder *b, const char *name,
    enum weight_role role, uint32_t rank, const int64_t *dim);
/* A constant whose content is there already, or one repeated number. */
value_id gen_tensor(
    struct model_builder *b, const char *name, const struct tensor *t);
/* A small int64 vector constant. */
value_id gen_ints(struct model_builder *b, const char *name, uint32_t n,
    const int64_t *value);
value_id gen_scalar(struct model_builder *b, const char *name, float value);

/* What weights are drawn from: uniform in [-1, 1), a hash of (index, salt). */
float gen_uniform(uint32_t index, uint32_t salt);

/* A node with one output; its value. Name is "<op>_<counter>". */
value_id gen_node(struct model_builder *b, enum op op, uint32_t ninputs,
    const value_id *input, uint32_t nattrs, const struct attr *attr);
/* The name the next node of this kind will have, and of a weight of it:
 * "Conv_3_weight". */
const char *gen_weight_name(
    struct model_builder *b, enum op op, const char *what);

/* Attributes; memory in the builder's arena. */
struct attr gen_attr_int(
    struct model_builder *b, const char *name, int64_t value);
struct attr gen_attr_ints(struct model_builder *b, const char *name, uint32_t n,
    const int64_t *value);
struct attr gen_attr_float(
    struct model_builder *b, const char *name, float value);

/* Usual blocks. Shapes are NCHW; `in` counts input channels. */
struct conv_shape {
	int64_t in, out, kernel, stride, pad, groups;
};
value_id gen_conv(
    struct model_builder *b, value_id x, struct conv_shape s, bool bias);
value_id gen_batch_norm(struct model_builder *b, value_id x, int64_t channels);
value_id gen_relu(struct model_builder *b, value_id x);
value_id gen_add(struct model_builder *b, value_id x, value_id y);
value_id gen_max_pool(struct model_builder *b, value_id x, int64_t kernel,
    int64_t stride, int64_t pad);
/* x[., in] W[in, out] + bias */
value_id gen_linear(
    struct model_builder *b, value_id x, int64_t in, int64_t out);
value_id gen_reshape(
    struct model_builder *b, value_id x, uint32_t n, const int64_t *shape);

#endif
