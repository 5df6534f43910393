/* The backend's own view: a region is a list of layers over NHWC tensors. Code
 * generation, the cost simulator and the functional simulator all read it, and
 * it does not matter whether it was made from candidates (build.h) or by
 * upstream's passes (legacy.h). */
#ifndef TARGETS_MRVL_LAYER_H
#define TARGETS_MRVL_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/graph.h"
#include "targets/mrvl/packed.h"

struct candidate;
struct formats;

enum layer_kind {
#define LAYER(name, layer_name, composite) LAYER_##name,
#include "targets/mrvl/layer.def"
#undef LAYER
	NLAYER
};

/* What a layer reads: the region's input k, or what layer k gives. */
struct layer_ref {
	bool is_input;
	uint32_t index;
};

enum layer_const {
	CONST_KERNEL, /* conv [O,H,W,I], FC [O,I] */
	CONST_BIAS, /* conv [1,1,1,O], FC [1,O] */
	CONST_GAMMA,
	CONST_BETA,
	CONST_MEAN,
	CONST_VAR, /* [C] each */
	NCONST
};

struct layer {
	enum layer_kind kind;
	uint32_t ninputs;
	const struct layer_ref *input; /* data inputs, in operand order */
	const value_id *operand; /* the values they are, or VALUE_NONE */
	const struct dims *in; /* [ninputs], as the layer reads them */
	struct dims out;
	value_id result; /* the graph's value it gives, up to layout */
	uint32_t nnodes; /* nodes it stands for, ascending */
	const node_id *node;
	/* convolution and pooling */
	int64_t kernel[2], stride[2], dilation[2], groups, channels;
	int64_t pad[4]; /* top, left, bottom, right */
	bool ceil_mode, count_include_pad;
	bool relu;
	/* FC: reads a rank-4 input; kernel columns are in C,H,W order */
	bool flattens;
	bool has_units; /* units (= rows of the kernel) are written down */
	bool out_float32; /* out_dtype is written down */
	float epsilon; /* of the batch norm */
	/* of kernels the model itself has in 8 bits: one, or one a channel */
	const float *own_scale;
	uint32_t nown_scales;
	const struct packed *constant[NCONST]; /* NULL: none */
	/* compat: constants read that no attribute of the layer names */
	uint32_t nloose;
	const struct packed *const *loose;
	const char *src_layout, *dst_layout; /* of layout_transform */
	const char *bare; /* BARE: the operator's name */
	/* compat: why upstream's code generator or compiler gives up here */
	const char *refused;
	bool unmade; /* refused: its conditions do not hold, they are assumed */
};

struct region_input {
	struct dims dims; /* as the region is given it */
	value_id value;
	uint32_t place; /* k of its name mrvl_<number>_i<k> */
};

struct region_output {
	struct layer_ref from;
	value_id value;
	bool channels_last; /* its bytes are, unlike the value's */
};

struct layers {
	const char *symbol; /* tvmgen_mrvl_main_<number> */
	uint32_t number;
	uint32_t ninputs, nlayers, noutputs;
	const struct region_input *input;
	const struct layer *layer;
	const struct region_output *output;
	const struct formats *held; /* what bytes of values mean, of a region
				     * that computes in 8 bits; else NULL */
};

struct layer_info {
	const char *layer_name; /* "Conv2D" */
	const char *composite; /* "mrvl.conv2d_nhwc2nhwc", or NULL */
};
const struct layer_info *layer_info(enum layer_kind kind);

/* Which element of a pixel's inputs meets weight e of a channel. Convolution:
 * [ky][kx][i]; FC behind a flatten: columns are C,H,W, the input is H,W,C. */
size_t layer_kernel_row(const struct layer *l, size_t e);
/* The candidate's input port of each operand. */
const uint32_t *layer_ports(
    const struct layer *l, const struct candidate *c, struct arena *a);
/* Global pools have no strides: 1, as windows want them. */
void layer_set_global(struct layer *l);

/* "tvmgen_mrvl_main_<number>"; the base of the files' names. */
const char *mrvl_symbol(uint32_t number, struct arena *a);

#endif
