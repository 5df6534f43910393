/* Weights that a result holds once: which bytes of the model's file lie where in
 * annotated.onnx, so that partitioned.onnx refers to them there. */
#ifndef EMIT_LENT_H
#define EMIT_LENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/model.h"

#define LENDER "annotated.onnx"

/* A piece of the model's file, and where it was written. */
struct lent_piece {
	uint64_t from, bytes, to;
};

struct lent {
	struct lent_piece *piece; /* ascending by `from` */
	uint32_t n, room;
};

/* Is the model so large that its weights are not written twice? */
bool lent_pays(const struct model *m);
/* Bytes from..from+bytes of the file are written at `to`; small ones are not
 * worth a reference. Pieces come in any order, and do not overlap. */
void lent_add(struct lent *l, uint64_t from, uint64_t bytes, uint64_t to,
    struct arena *a);
/* All pieces are there. */
void lent_done(struct lent *l);
/* Where the content of a constant lies, if all of it does. */
bool lent_find(const struct lent *l, const struct model *m,
    const struct tensor *t, uint64_t *to);

#endif
