/* Values that are multiples of a scale: errors behind a requantisation come in
 * steps, not in proportions. */
#ifndef COSTMODEL_REQUANTISED_H
#define COSTMODEL_REQUANTISED_H

#include <stdbool.h>

#include "ir/graph.h"

/* Does the node round to the steps of a scale? Of any domain. */
bool node_requantises(const struct node *n);

/* The scale of the last requantisation before a value: its elements are multiples
 * of it. 0 when it does not come from one. */
double requantised_step(const struct graph *g, value_id v);

#endif
