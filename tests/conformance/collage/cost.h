/* What a set costs by the cost model of a case; infinite: it cannot be built. */
#ifndef TESTS_CONFORMANCE_COLLAGE_COST_H
#define TESTS_CONFORMANCE_COLLAGE_COST_H

#include "tests/conformance/collage/sets.h"

/* `op_cost` for the first operator, `factor` of the one before for the next. */
double cost_per_op(const struct dag *d, set s, double op_cost, double factor);

/* Does the model list what sets cost, whatever their depth? */
bool cost_is_tabled(const cJSON *model);

/* By the model: a table of rows, or so much an operator. */
double cost_on_backend(
    const struct dag *d, const cJSON *model, const char *backend, set s);

#endif
