/* The graph as upstream's partitioner sees it: TVM operators over tensors whose
 * layout has been converted, each remembering the node it came from. Only
 * compat=legacy-v0.19 and the eager baseline use it; nothing in the model is
 * changed by it.
 *
 * Operators are immutable and refer to earlier ones; a pass makes new ones and
 * leaves the old. What cannot be reached from the outputs does not exist. */
#ifndef TARGETS_MRVL_LOW_H
#define TARGETS_MRVL_LOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/bitset.h"
#include "ir/base/err.h"
#include "ir/base/map.h"
#include "ir/graph.h"
#include "targets/mrvl/packed.h"

typedef uint32_t low_id;
#define LOW_NONE UINT32_MAX

enum low_kind {
	LOW_VAR, /* fed by the caller */
	LOW_CONST,
	LOW_CONV,
	LOW_DENSE,
	LOW_MAXPOOL,
	LOW_AVGPOOL,
	LOW_GLOBALAVGPOOL,
	LOW_GLOBALMAXPOOL,
	LOW_BIAS_ADD,
	LOW_ADD,
	LOW_MULTIPLY,
	LOW_BINARY, /* another broadcasting one */
	LOW_RELU,
	LOW_UNARY, /* element-wise, or otherwise indifferent to layout */
	LOW_CLIP,
	LOW_CAST,
	LOW_BATCH_NORM,
	LOW_NORM, /* one output; vectors along `axis` */
	LOW_FIELD, /* one output of an operator that has several */
	LOW_PAD,
	LOW_CONCAT,
	LOW_SPLIT, /* read through fields */
	LOW_SLICE,
	LOW_RESIZE,
	LOW_UPSAMPLE,
	LOW_RESHAPE,
	LOW_BATCH_FLATTEN,
	LOW_SQUEEZE,
	LOW_REDUCE,
	LOW_TRANSPOSE,
	LOW_LAYOUT, /* layout_transform */
	LOW_EXPAND, /* dimensions of 1 put in */
	LOW_FIXED, /* wants its data in `layout`, its kernel in `to` */
	LOW_OPAQUE, /* anything else: wants its inputs as they were */
};

#define LAYOUT_MAX 9 /* letters and a NUL */

struct low {
	enum low_kind kind;
	const char *name; /* TVM's: "nn.conv2d" */
	node_id node; /* NODE_NONE: made on the way */
	uint32_t nin;
	const low_id *in;
	enum dtype dtype;
	struct dims dims; /* of output 0 */
	uint32_t nmore; /* further outputs */
	const struct dims *more;
	value_id value; /* the graph's value this is, up to layout */
	/* attributes, by kind */
	char layout[LAYOUT_MAX]; /* of the data; LAYOUT: source */
	char to[LAYOUT_MAX]; /* LAYOUT: destination */
	int64_t kernel[2], stride[2], dilation[2], pad[4], groups;
	int64_t before[DIMS_MAX], after[DIMS_MAX]; /* PAD */
	uint32_t axis; /* CONCAT, SPLIT, norms; FIELD: which output */
	uint32_t perm[DIMS_MAX]; /* TRANSPOSE */
	bool reduced[DIMS_MAX]; /* REDUCE, SQUEEZE: these axes */
	bool keepdims;
	bool ceil_mode, count_include_pad, has_units, out_float32;
	const char *pad_mode; /* PAD: "constant", "edge", "reflect" */
	float epsilon, min, max; /* CLIP: min, max */
	const struct packed *packed; /* CONST */
};

struct lowered {
	const struct graph *graph;
	struct arena *arena;
	struct low *op; /* [n] */
	uint32_t n, cap;
	uint32_t noutputs;
	low_id *output;
};

/* Import a graph as TVM's ONNX front end does. ERR_UNSUPPORTED when a value has
 * no static shape. */
bool low_import(
    struct lowered *l, const struct graph *g, struct arena *a, struct err *err);

/* Constant folding and upstream's expression rewrites, to a fixed point. */
void low_simplify(struct lowered *l);

/* bias_add becomes add of an expanded constant. */
void low_canonicalize(struct lowered *l);

/* Convert convolutions and pools to `layout` ("NHWC" or "NCHW"), everything
 * that can follow following, transforms in between. */
void low_convert_layout(struct lowered *l, const char *layout);

/* ---- building ---- */

low_id low_add(struct lowered *l, const struct low *op);
const struct low *low_get(const struct lowered *l, low_id id);
low_id low_const(struct lowered *l, const struct packed *k);
/* The same operator over other inputs; the old id when they are the same. */
low_id low_with_inputs(struct lowered *l, low_id id, const low_id *in);
bool low_is_const(const struct lowered *l, low_id id);

/* Rebuild everything reachable, inputs first: `step` gives the new id of an
 * operator whose inputs have their new ids already. */
void low_rewrite(struct lowered *l,
    low_id (*step)(
        struct lowered *l, low_id old, const low_id *in, void *context),
    void *context);

/* Reachable operators, inputs first, arguments from left to right. */
const low_id *low_order(const struct lowered *l, uint32_t *n, struct arena *a);

#endif
