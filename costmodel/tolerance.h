/* How far a right result may be from the reference. */
#ifndef COSTMODEL_TOLERANCE_H
#define COSTMODEL_TOLERANCE_H

#include "targets/candidates.h"

/* Of a candidate's outputs, as a part of their largest magnitude: by the
 * narrowest floating type among its ports and the longest sum it makes. */
double tolerance_of(
    const struct graph *g, const struct mix *m, const struct candidate *c);

/* Does a port of it hold half precision, by its format or its value? */
bool tolerance_is_half(
    const struct graph *g, const struct mix *m, const struct candidate *c);

#endif
