/* Constants of the lowered graph: what is computed from them alone is one. */
#ifndef TARGETS_MRVL_LOW_FOLD_H
#define TARGETS_MRVL_LOW_FOLD_H

#include "targets/mrvl/low.h"

/* Fold every operator whose inputs are all constant. */
void low_fold(struct lowered *l);

/* x + y or x * y of two constants; LOW_NONE when their content is not known or
 * does not broadcast. */
low_id low_fold_binary(
    struct lowered *l, enum low_kind kind, low_id x, low_id y);

/* Axis k of the result is axis perm[k]: of transposes and layout transforms;
 * false for other operators. */
bool low_permutation(const struct low *op, uint32_t *perm);

#endif
