/* Elements that are moved: pieces of what is written, each of a few strided loops. */
#ifndef TARGETS_NATIVE_STRIDES_H
#define TARGETS_NATIVE_STRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct stride_loop {
	uint32_t n;
	int32_t from, to; /* elements between one and the next */
};

#define STRIDE_LOOPS 6

/* What the two inner loops are: runs as they lie; of one element; a matrix that is
 * transposed; anything else. */
enum stride_kind { STRIDE_COPY, STRIDE_FILL, STRIDE_TURN, STRIDE_EVERY };

struct stride_shape {
	enum stride_kind kind;
	uint32_t nloops; /* those behind them are once */
	struct stride_loop loop[STRIDE_LOOPS]; /* the innermost first */
};

struct stride_piece {
	uint32_t from, to; /* where its first element lies */
	uint16_t source, shape;
};

struct strides {
	uint32_t size; /* bytes of an element: 2, 4 or 8 */
	uint32_t npieces, nparts;
	const struct stride_piece
	    *piece; /* [npieces] by where they are written */
	const struct stride_shape *shape;
	const uint32_t
	    *part; /* [nparts + 1] pieces that a thread takes at once */
};

/* Pieces [first, last) are read from their sources and written. */
typedef void strides_run(const struct strides *s, const void *const *source,
    void *out, uint32_t first, uint32_t last);

/* order[i]: the place that element i comes from; those of source k are base[k] to
 * base[k + 1]. false: no loops in it that are worth it. n: at least 1. */
bool strides_find(struct strides *s, const uint32_t *order, size_t n,
    const uint32_t *base, uint32_t nsources, struct arena *a);

#endif
