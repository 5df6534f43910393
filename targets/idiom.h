/* Activations that exporters write as several nodes. */
#ifndef TARGETS_IDIOM_H
#define TARGETS_IDIOM_H

#include "targets/pattern.h"
#include "targets/step.h"

/* Do the match's nodes from position k on compute one activation of x? The
 * number of nodes it takes (with *s filled), or 0. */
uint32_t idiom_read(struct step *s, const struct graph *g,
    const struct match *m, uint32_t k, value_id x);

#endif
