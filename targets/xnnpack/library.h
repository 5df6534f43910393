/* What differs between versions of XNNPACK, and nothing else: how an operator is
 * made, and told where its tensors are. Each library*.c knows one interface;
 * CMake takes the newest that compiles with the header that is there. */
#ifndef TARGETS_XNNPACK_LIBRARY_H
#define TARGETS_XNNPACK_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#include "targets/step.h"

enum operator_kind {
	OPERATOR_CONVOLUTION,
	OPERATOR_DECONVOLUTION,
	OPERATOR_DENSE,
	OPERATOR_MAXIMA,
	OPERATOR_AVERAGES,
	OPERATOR_AVERAGE, /* of the whole map */
	OPERATOR_UNARY, /* step: which function */
	OPERATOR_PAIR, /* step: of two operands */
	OPERATOR_SOFTMAX,
	OPERATOR_PADDING,
	OPERATOR_RESIZING,
	OPERATOR_SLOPES,
	OPERATOR_PRODUCT, /* of two computed stacks of matrices */
	OPERATOR_TRANSPOSITION,
	OPERATOR_BYTES, /* a convolution of 8 bits */
	OPERATOR_NARROW, /* rows of floats, weights of 8 or 4 bits */
	OPERATOR_DYNAMIC, /* rows of int8, scaled in each run, to floats */
	NOPERATORS
};

/* Sizes of both sides of an image: height, width. */
struct sides {
	uint32_t before[2], after[2], kernel[2], stride[2], dilation[2];
};

/* Convolution of bytes: of int8 with filters of int8, each with a scale of its own
 * and zero in the middle; or (unsigned) of uint8 with one scale and one zero. */
struct byte_filters {
	bool is_unsigned;
	bool is_four; /* of a product: 4 bits, else 8 around zero */
	const void *codes; /* [K, kh, kw, C] */
	const int32_t *bias; /* or NULL */
	const float *scale; /* [K]; unsigned: one */
	float in_scale, out_scale;
	int32_t zero, in_zero, out_zero;
};

/* Of a row of int8 that goes in: real = scale * (byte - zero). */
struct row_code {
	int32_t zero;
	float scale;
};

struct extents {
	uint32_t rank;
	size_t size[XNN_MAX_TENSOR_DIMS];
};

/* An operator; what its kind has no use for is zero. Borrows its weights. */
struct operator
{
	enum operator_kind kind;
	enum step_kind step;
	struct sides window;
	uint32_t groups, flags;
	bool halves; /* float16 goes in and comes out; weights are floats */
	size_t in, out; /* channels of a group read and made; or of a row */
	size_t row; /* of a product: numbers from a row made to the next */
	const float *weights, *bias; /* packed; bias: or NULL */
	struct byte_filters bytes; /* of a product: [K, C] */
	const struct row_code *rows; /* [batch] and some, read in each run */
	float low, high; /* a clamp behind, or the function itself */
	float alpha; /* of a function; what padding is filled with */
	size_t batch, height, width; /* of what is read; batch: rows */
	size_t size[2]; /* of the map that is made, or added to it */
	struct extents left, right; /* shapes of the operands */
	size_t before[XNN_MAX_TENSOR_DIMS], after[XNN_MAX_TENSOR_DIMS];
	size_t
	    order[XNN_MAX_TENSOR_DIMS]; /* of dimensions, of a transposition */
};

/* The library's operator; all zero before it is made. */
struct instance {
	xnn_operator_t op;
	void *workspace;
};

/* Can a clamp go with an operation of two tensors? */
extern const bool library_clamps_pairs;
/* Can pools leave out what lies between two windows? */
extern const struct library_skips {
	bool maxima, means;
} library_skips;
/* Has it operators of this kind, and has it this function of one tensor? */
bool library_has(enum operator_kind kind);
bool library_computes(enum step_kind function);

/* Has it operators of this kind for float16? */
bool library_has_halves(enum operator_kind kind);

/* One of two functions that differ in the type of numbers. */
#define OF_TYPE(o, name, ...) \
	((o)->halves ? name##_f16(__VA_ARGS__) : name##_f32(__VA_ARGS__))

/* Make the operator; released by instance_release, also when this failed. */
enum xnn_status instance_create(struct instance *i, const struct operator* o);
/* Say where its tensors are (right: of two operands); it may then run there,
 * with this pool, any number of times. */
enum xnn_status instance_setup(struct instance *i, const struct operator* o,
    const float *const operand[2], float *out, pthreadpool_t pool);
void instance_release(struct instance *i);

#endif
