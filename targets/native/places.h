/* Where elements that are only moved come from: numbers of places go through the host's
 * kernels in their stead. */
#ifndef TARGETS_NATIVE_PLACES_H
#define TARGETS_NATIVE_PLACES_H

#include "targets/target.h"

/* Places are whole numbers in float32. */
#define PLACES_MAX ((size_t)1 << 24)

bool is_quantiser(const struct node *n);

/* A predicate: constants say how the node moves its inputs. */
bool need_moves(
    const struct match_in *m, struct why *why, const struct node *n);

/* Where element i of a tensor lies, an image channels last or in order. */
size_t place_in(const struct type *t, bool last, size_t i);

/* order[i]: the place that what lies at i of the first output comes from, both in the
 * ports' layouts. Places are counted through the candidate's inputs, from 1 on; 0 is
 * what a Pad puts around them. */
bool places_find(uint32_t *order, const struct formats *f,
    const struct graph *g, const struct candidate *c, struct arena *a,
    struct err *err);

#endif
