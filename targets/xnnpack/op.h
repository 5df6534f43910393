/* One XNNPACK operator with its shapes: what every rule of this backend
 * compiles to. Only files of this folder include it. */
#ifndef TARGETS_XNNPACK_OP_H
#define TARGETS_XNNPACK_OP_H

#include <stdbool.h>

#include "targets/dynamic.h"
#include "targets/fused.h"
#include "targets/target.h"
#include "targets/weights.h"
#include "targets/xnnpack/library.h"

/* An operand: an input port, or a constant. */
struct operand {
	int32_t port; /* < 0: constant */
	const void *constant;
};

#define ROWS_BEYOND 16 /* read beyond the last, and not used */

/* Columns of a product beside the first, an operator of their own. */
struct xnn_columns {
	struct operator what;
	struct instance instance;
	size_t at; /* bytes of a row that lie before theirs */
};

struct xnn_layer {
	struct operator what;
	struct instance instance;
	struct xnn_columns *more; /* [nmore] */
	uint32_t nmore;
	struct operand left, right; /* right: of two-operand operators */
	const void *bound[3]; /* left, right, out of the last setup */
	/* Of uint8 that runs as int8: the input so, and bytes of both sides. */
	uint8_t *turned;
	size_t turned_in, turned_out;
	struct row_code *rows; /* of a dynamic product: told in each run */
	struct zero_of_run zero;
	int32_t by; /* the port of their scale */
};

struct xnn_build {
	const struct target *target;
	const struct graph *graph;
	const struct candidate *candidate;
	struct fused fused;
	struct xnn_layer *layer;
	struct arena *arena;
	struct arena *scratch; /* what the library packs from: it goes */
	struct err *err;
};

/* The clamp that steps first.. amount to; false when one is none. */
bool clamp_of(const struct fused *f, uint32_t first, float *low, float *high);

/* Value v as an operand in the candidate's layout, its shape filled up with
 * leading ones to `rank`. Constants are re-laid-out. */
struct extents operand_of(
    struct xnn_build *b, value_id v, uint32_t rank, struct operand *out);
/* The first operand is an image, channels last: its sizes and its channels. */
void read_image(struct xnn_build *b, value_id v);
/* A window as the library takes it. */
struct window;
struct sides sides_of(const struct window *w);
/* Make an operator, which takes a copy of its constants. */
bool create_operator(struct xnn_build *b, struct operator* o,
    struct instance *i, const char *what);
/* Make the one that the layer describes. */
bool create(struct xnn_build *b, const char *what);
/* Is a product's matrix so large that its columns should be several operators'? */
bool columns_wanted(const struct tensor *matrix);
/* Likewise of such a product, some columns at a time. */
bool create_columns(struct xnn_build *b, const struct tensor *matrix,
    const struct product *p, const char *what);
/* Does the candidate work on channels-last tensors? */
bool is_channels_last(const struct xnn_build *b);

/* The library's operators go. */
void layer_release(struct xnn_layer *l);

/* What is per process. */
bool library_ready(struct err *err);

bool build_convolution(struct xnn_build *b);
bool build_dense(struct xnn_build *b);
bool build_pooling(struct xnn_build *b);
bool build_unary(struct xnn_build *b);
bool build_pair(struct xnn_build *b);
bool build_distribution(struct xnn_build *b);
bool build_padding(struct xnn_build *b);
bool build_resizing(struct xnn_build *b);
bool build_slopes(struct xnn_build *b);
bool build_deconvolution(struct xnn_build *b);
bool build_product(struct xnn_build *b);
bool build_bytes(struct xnn_build *b);
bool build_transposition(struct xnn_build *b);
bool build_narrow(struct xnn_build *b);
bool build_dynamic_product(struct xnn_build *b);

/* All steps from the first on are clamps. */
bool need_clamps(struct why *w, const struct fused *f, uint32_t first);

bool takes_convolution(const struct match_in *m, struct why *why);
bool takes_dense(const struct match_in *m, struct why *why);
bool takes_pooling(const struct match_in *m, struct why *why);
bool takes_unary(const struct match_in *m, struct why *why);
bool takes_pair(const struct match_in *m, struct why *why);
bool takes_distribution(const struct match_in *m, struct why *why);
bool takes_padding(const struct match_in *m, struct why *why);
bool takes_resizing(const struct match_in *m, struct why *why);
bool takes_slopes(const struct match_in *m, struct why *why);
bool takes_deconvolution(const struct match_in *m, struct why *why);
bool takes_product(const struct match_in *m, struct why *why);
bool takes_bytes(const struct match_in *m, struct why *why);
bool takes_narrow(const struct match_in *m, struct why *why);
bool takes_dynamic(const struct match_in *m, struct why *why);
bool takes_transposition(const struct match_in *m, struct why *why);

#endif
