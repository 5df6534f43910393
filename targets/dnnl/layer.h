/* One oneDNN primitive with its arguments: what every rule of this backend
 * compiles to. Only files of this folder include it. */
#ifndef TARGETS_DNNL_LAYER_H
#define TARGETS_DNNL_LAYER_H

#include <stdbool.h>

#include "targets/bounded.h"
#include "targets/dnnl/library.h"
#include "targets/fused.h"
#include "targets/target.h"

/* An argument that is set before each run, or (port < 0) fixed. */
struct argument {
	int32_t port; /* index of the candidate's input or output */
	bool is_output;
	const void *bound; /* the buffer the memory object knows */
};

struct dnnl_layer {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	uint32_t nargs, cap;
	dnnl_exec_arg_t *arg; /* [cap] */
	struct argument *how; /* [cap] */
	int32_t residual; /* input copied to output 0 first (sum), or -1 */
	size_t residual_bytes;
};

/* The state of a kernel around the layer's, which it runs inside: it begins with this. */
struct around {
	struct kernel inner;
	void (*run)(struct kernel *k, const void *const *in, void *const *out);
};

/* A layer under construction. */
struct build {
	const struct target *target;
	const struct graph *graph;
	const struct candidate *candidate;
	struct fused fused; /* of rules that fuse */
	struct bounding end; /* put behind it all */
	struct around *around; /* the builder's; NULL: none */
	struct dnnl_layer *layer;
	dnnl_primitive_attr_t attr;
	struct arena *arena;
	struct arena *scratch; /* constants until the library has its copies */
	struct err *err;
};

/* Turn a status into ERR_UNSUPPORTED ("oneDNN: <what>: unimplemented"). */
bool check(struct build *b, dnnl_status_t s, const char *what);

/* Describe a tensor: of a type in C order, of a value in its port's format,
 * and as an operand that broadcasts to `rank`. */
void desc_plain(struct md *md, uint32_t rank, const int64_t *dim);
/* Filters in C order, with a dimension for more than one group. */
void desc_filters(struct md *md, const struct type *weight, int64_t group);
bool desc_layout(struct md *md, enum layout layout, const struct type *t);
bool desc_value(struct build *b, value_id v, struct md *md);
bool desc_operand(struct build *b, value_id v, uint32_t rank, struct md *md);

/* Add an argument that is one of the candidate's ports. */
bool bind_value(struct build *b, int arg, value_id v, const struct md *md);
/* Likewise an output that nobody may read, or (VALUE_NONE) that there is none
 * of: it then goes to memory of its own. */
bool bind_wanted(struct build *b, int arg, value_id v, const struct md *md);
/* Add a constant argument described by `as`, re-laid-out as `want`; halves are
 * given as floats. */
bool bind_constant(struct build *b, int arg, const void *data,
    const struct md *as, const struct md *want);
/* Likewise, given as what `is` says. */
bool bind_packed(struct build *b, int arg, const void *data,
    const struct md *is, const struct md *want);
/* Memory of the layer's own, in huge pages where such are given (ir/base/huge_blocks.h);
 * the end of any argument's. */
bool memory_new(struct build *b, dnnl_memory_t *m, const struct md *md);
void memory_release(dnnl_memory_t m);
/* What these consist of: one memory re-laid-out into another, and an argument with memory
 * that is the layer's from then on. */
bool reorder_memory(struct build *b, dnnl_memory_t from, dnnl_memory_t to,
    const struct md *is, const struct md *want);
bool bind_memory(struct build *b, int arg, dnnl_memory_t memory);
/* A matrix times a factor; a large one is packed slice by slice (slices.c). */
bool bind_matrix(struct build *b, int arg, value_id v, float factor,
    const struct md *is, const struct md *want);
/* Either, according to what v is. */
bool bind_operand(struct build *b, int arg, value_id v, const struct md *md);

/* Choose the nth implementation of an operation (0: the library's choice), make
 * the primitive; *pd is the caller's to destroy. */
bool make_primitive(struct build *b, const struct operation *op, uint32_t nth,
    dnnl_primitive_desc_t *pd);
/* The same for primitives that have no operation descriptor. */
bool make_from(struct build *b, dnnl_primitive_desc_t pd);
/* "jit:avx512_core", "ref:any", ... of a primitive descriptor. */
const char *implementation_info(const_dnnl_primitive_desc_t pd);
/* The layout an implementation wants argument `what` in. */
const struct md *wanted(struct build *b, const_dnnl_primitive_desc_t pd,
    dnnl_query_t what, int index);

/* Bytes of host memory of a constant value as floats, aligned; in scratch. */
const float *constant_floats(struct build *b, value_id v);

/* "oneDNN: only a reference loop", of more than a few products. */
bool need_kernel(struct build *b, const_dnnl_primitive_desc_t pd,
    const struct type *out, const struct type *weight);
/* The same of a product. Behind the library's choice there may be nothing else: 302 million
 * took 9.5 s instead of 7 ms, and to look at it is to run it. */
bool need_product(struct build *b, const_dnnl_primitive_desc_t pd,
    const struct md *src, const struct md *dst);

/* Whether and how the fused steps become post-operations. */
enum residual { RESIDUAL_NONE, RESIDUAL_SUM, RESIDUAL_BINARY };
bool post_operations(struct build *b, enum residual how, uint32_t rank);
/* A depthwise 3x3 convolution and its steps behind a fused 1x1 one. */
bool post_operations_depthwise(
    struct build *b, const struct fused *second, int64_t stride);
/* Bind the second operands of binary post-operations. */
bool bind_post_operands(struct build *b, enum residual how, uint32_t rank);
/* The algorithm of a unary step; false when oneDNN has none. */
bool step_algorithm(const struct step *s, dnnl_alg_kind_t *alg);
dnnl_alg_kind_t binary_algorithm(enum step_kind kind);

/* A window as the library takes it; its holes are dilation - 1. */
struct window;
void layer_dims(struct dnnl_window *d, const struct window *w);

/* Of a ConvTranspose's window: ERR_UNSUPPORTED where its node has none. */
bool deconv_window(
    struct build *b, struct dnnl_window *d, const struct node *n);

/* ONNX has [C, K / group, ...]; the library numbers [group,] K, C, ... */
struct md deconv_weights(const struct graph *g, const struct node *n);

/* Builders, one per family of rules. */
bool build_conv(struct build *b);
bool build_integer_conv(struct build *b);
bool build_integer_product(struct build *b);
bool build_dynamic(struct build *b);
bool build_dynamic_conv(struct build *b);
bool build_deconv(struct build *b);
bool build_byte_deconv(struct build *b);
bool build_prelu(struct build *b);
bool build_depthwise(struct build *b);
bool build_matmul(struct build *b);
bool build_pool(struct build *b);
bool build_eltwise(struct build *b);
bool build_binary(struct build *b);
bool build_softmax(struct build *b);
bool build_layer_norm(struct build *b);
bool build_group_norm(struct build *b);
bool build_batch_norm(struct build *b);
bool build_recurrent(struct build *b);
bool build_reduction(struct build *b);
bool build_concat(struct build *b);
bool build_lrn(struct build *b);
bool build_resize(struct build *b);
bool build_transpose(struct build *b);

#endif
