/* Patterns that the kernel libraries share: what targets/fused.h reads. */
#ifndef TARGETS_CORES_H
#define TARGETS_CORES_H

#include "targets/pattern.h"

/* Weights kept as integers; see targets/dequantized.h. */
#define DEQUANTIZED NODE(DEQUANTIZELINEAR, CONSTANT, CONSTANT, REST)
#define CONV_NORM \
	MAYBE(BATCHNORMALIZATION, \
	    EITHER(NODE(CONV, ANY, CONSTANT, REST), \
	        NODE(CONV, ANY, DEQUANTIZED, EITHER(CONSTANT, DEQUANTIZED)), \
	        NODE(CONV, ANY, DEQUANTIZED)), \
	    CONSTANT, CONSTANT, CONSTANT, CONSTANT)
/* p, alone or with a tensor added. */
#define PLUS(p) EITHER(p, NODE(ADD, p, ANY), NODE(SUM, p, ANY))
/* p, and bounds on it. */
#define CLAMPED(p) MAYBE(RELU, MAYBE(CLIP, p, REST))
/* Activations over p; each may be there or not. */
#define ACT(p) MAYBE(RELU, MAYBE(CLIP, ACT_SMOOTH(p), REST))
#define ACT_SMOOTH(p) \
	MAYBE(LEAKYRELU, \
	    MAYBE(SIGMOID, MAYBE(TANH, MAYBE(HARDSWISH, ACT_REST(p)))))
#define ACT_REST(p) MAYBE(GELU, MAYBE(ELU, MAYBE(HARDSIGMOID, p)))
#define GATED(p) EITHER(SPELLED(SWISH, p), SPELLED(HARD_SWISH, p))
/* One operation of two tensors. */
#define PAIR \
	EITHER(EITHER(NODE(ADD, ANY, ANY), NODE(SUM, ANY, ANY)), \
	    NODE(SUB, ANY, ANY), NODE(MUL, ANY, ANY), NODE(DIV, ANY, ANY), \
	    NODE(MAX, ANY, ANY), NODE(MIN, ANY, ANY))

#endif
