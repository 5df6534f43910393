/* Layer normalisation, as one operator or spelled out by an exporter: PyTorch's
 * (x - mean) / sqrt(variance + e) * scale + shift, or TensorFlow's, which
 * multiplies by scale / sqrt(variance + e) and adds the rest. */
#ifndef TARGETS_LAYER_NORM_H
#define TARGETS_LAYER_NORM_H

#include <stdbool.h>

#include "ir/graph.h"
#include "targets/pattern.h"

struct layer_norm {
	value_id x, y;
	value_id scale, shift; /* or VALUE_NONE */
	uint32_t axis; /* the first normalised dimension */
	float epsilon;
};

/* Read a match of LAYER_NORM; false with a few words in *fault when its nodes
 * compute something else. */
bool layer_norm_read(struct layer_norm *l, const struct graph *g,
    const struct match *m, const char **fault);

#define MEAN_OF(p) NODE(REDUCEMEAN, p, REST)
#define FROM_MEAN NODE(SUB, ANY, MEAN_OF(ANY))
#define DEVIATION(square) NODE(SQRT, NODE(ADD, MEAN_OF(square), CONSTANT))
#define TIMES_SCALE(square) \
	NODE(MUL, NODE(RECIPROCAL, DEVIATION(square)), CONSTANT)
#define LAYER_NORM_TORCH \
	MAYBE(ADD, \
	    MAYBE(MUL, \
	        NODE(DIV, FROM_MEAN, \
	            DEVIATION(EITHER(NODE(POW, FROM_MEAN, CONSTANT), \
	                NODE(MUL, FROM_MEAN, FROM_MEAN)))), \
	        CONSTANT), \
	    CONSTANT)
#define LAYER_NORM_TF \
	NODE(ADD, \
	    NODE(MUL, ANY, TIMES_SCALE(NODE(MUL, FROM_MEAN, FROM_MEAN))), \
	    NODE(SUB, CONSTANT, \
	        NODE(MUL, MEAN_OF(ANY), \
	            TIMES_SCALE(NODE(MUL, FROM_MEAN, FROM_MEAN)))))
#define LAYER_NORM \
	EITHER(NODE(LAYERNORMALIZATION, ANY, CONSTANT, REST), \
	    LAYER_NORM_TORCH, LAYER_NORM_TF)

#endif
