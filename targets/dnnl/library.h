/* What differs between oneDNN 2 and 3, and nothing else: how a tensor and an
 * operation are described. library2.c and library3.c each know one of them; CMake
 * asks the header which of the two is compiled. Both records are plain values
 * that own nothing. */
#ifndef TARGETS_DNNL_LIBRARY_H
#define TARGETS_DNNL_LIBRARY_H

#include <dnnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/* A dense tensor, by strides or by a tag; or as the library itself described it
 * (borrowed from a primitive descriptor). */
struct md {
	int ndims; /* 0: there is none */
	dnnl_dims_t dims, strides;
	dnnl_format_tag_t tag; /* undef: by strides */
	dnnl_data_type_t type; /* undef: floats */
	const void *native; /* or NULL */
};

enum md_role {
	ROLE_SRC,
	ROLE_SRC_1,
	ROLE_WEIGHTS,
	ROLE_BIAS,
	ROLE_DST,
	ROLE_SRC_ITER,
	ROLE_SRC_ITER_C,
	ROLE_WEIGHTS_ITER,
	ROLE_DST_ITER,
	ROLE_DST_ITER_C,
	NROLES
};

/* A window as the library takes it; its holes are dilation - 1. */
struct dnnl_window {
	dnnl_dims_t kernel, stride, holes, before, after;
};

/* An operation; what its kind has no use for is zero. */
struct operation {
	dnnl_primitive_kind_t kind;
	dnnl_alg_kind_t alg;
	dnnl_rnn_direction_t direction;
	struct md md[NROLES];
	struct dnnl_window window;
	float a, b, c; /* alpha, beta, k; epsilon; p of a norm */
	int64_t n; /* axis, size of a window of channels, or groups of them */
	unsigned flags; /* of normalisations */
};

/* Its word for normalising groups of channels; undefined: it has none. */
extern const dnnl_primitive_kind_t library_groups;

/* It has Winograd convolutions. SOURCE: 2.6.3 has them for AVX-512; 3.7.2 for x86
 * refuses each of 360 shapes, though the word is in its header. */
extern const bool library_winograd;

/* The instructions that it computes halves with; 0: it does not. */
extern const unsigned library_halves;

/* Describe a tensor: by strides, by a tag, like another one in any layout. */
struct md md_by_strides(
    int ndims, const dnnl_dims_t dims, const dnnl_dims_t strides);
struct md md_by_tag(int ndims, const int64_t *dims, dnnl_format_tag_t tag);
struct md md_any(const struct md *like);

/* Of its elements. */
dnnl_data_type_t md_type(const struct md *md);
/* Bytes of a tensor in its layout, padding included; 0 when it has none. */
size_t md_size(const struct md *md);
/* *m is the caller's to destroy. */
dnnl_status_t md_memory(
    dnnl_memory_t *m, const struct md *md, dnnl_engine_t e, void *data);
/* The layout that the primitive wants; valid as long as pd. */
struct md md_wanted(const_dnnl_primitive_desc_t pd, dnnl_query_t q, int index);

/* The part of a tensor that has so many elements in each dimension, from `at` on, in the
 * layout and the memory of the whole; refused where that cuts one of its blocks. It is the
 * caller's to release. */
dnnl_status_t md_part(struct md *part, const struct md *whole,
    const dnnl_dims_t dims, const dnnl_dims_t at, struct arena *a);
void md_part_release(struct md *part);

/* Primitive descriptors, the caller's to destroy; nth: of the implementations
 * there are, 0 is the library's choice. */
dnnl_status_t md_reorder(dnnl_primitive_desc_t *pd, const struct md *from,
    const struct md *to, dnnl_engine_t e);
struct md_list {
	int n;
	const struct md *md; /* [n] */
};
dnnl_status_t md_concat(dnnl_primitive_desc_t *pd, const struct md *dst,
    struct md_list part, int axis, dnnl_engine_t e, struct arena *scratch);
dnnl_status_t operation_describe(dnnl_primitive_desc_t *pd,
    const struct operation *op, dnnl_engine_t e,
    const_dnnl_primitive_attr_t attr, uint32_t nth);

/* What sums of integers are multiplied by, one or one for each of n outputs
 * (grouped: of weights that have a dimension for groups), and the code of zero of
 * an argument. Where `library_scales` is not 0 it is the argument that also
 * takes the scales when the primitive runs, the same is then true of codes
 * (DNNL_ARG_ATTR_ZERO_POINTS), and a bias is added behind the multiplication. */
extern const int library_scales;
dnnl_status_t attr_scales(
    dnnl_primitive_attr_t attr, int n, const float *scale, bool grouped);
dnnl_status_t attr_zero(dnnl_primitive_attr_t attr, int arg, int32_t zero);

/* Post-operations; stride: of a 3x3 depthwise convolution behind. */
dnnl_status_t post_append_sum(dnnl_post_ops_t p);
dnnl_status_t post_append_eltwise(
    dnnl_post_ops_t p, dnnl_alg_kind_t alg, float a, float b);
dnnl_status_t post_append_binary(
    dnnl_post_ops_t p, dnnl_alg_kind_t alg, const struct md *md);
dnnl_status_t post_append_dw(dnnl_post_ops_t p, int64_t stride);

#endif
