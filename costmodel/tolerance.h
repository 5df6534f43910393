/* How far a right result may be from the reference. */
#ifndef COSTMODEL_TOLERANCE_H
#define COSTMODEL_TOLERANCE_H

#include "targets/candidates.h"

struct comparison;

/* Of a candidate's outputs, as a part of their largest magnitude: by the
 * narrowest floating type among its ports and the longest sum it makes, or by how
 * often it rounds to steps. */
double tolerance_of(
    const struct graph *g, const struct mix *m, const struct candidate *c);

/* Are its outputs of a type steps that it rounded to? */
bool tolerance_is_in_steps(
    const struct graph *g, const struct candidate *c, enum dtype t);

/* How far output v is off, as compared: no more than is allowed where that is one
 * step of the last requantisation, however short the range. */
double tolerance_difference(const struct graph *g, const struct candidate *c,
    value_id v, const struct comparison *compared, double allowed);

/* Does a port of it hold half precision, by its format or its value? */
bool tolerance_is_half(
    const struct graph *g, const struct mix *m, const struct candidate *c);

#endif
