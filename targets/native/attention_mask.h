/* What a mask adds to scores: where it lies, and rows made ready of a constant one. */
#ifndef TARGETS_NATIVE_ATTENTION_MASK_H
#define TARGETS_NATIVE_ATTENTION_MASK_H

#include "ir/base/arena.h"
#include "ir/graph.h"
#include "targets/native/attention_form.h"

/* Strides over [batch, heads, queries] of a mask of that type; keys are neighbours.
 * False: it has not one number for each key. */
bool attention_mask_read(struct attention_mask *m, const struct type *t,
    const struct attention_form *a);

/* Lays a constant mask (m->data) out, once for all heads that have the same, each row
 * filled up with -infinity to whole panels of so many keys; where that takes too much
 * memory, or rows that see nothing have to be told from others, it stays as it is. */
void attention_mask_ready(struct attention_mask *m,
    const struct attention_form *a, size_t panel, struct arena *arena);

#endif
