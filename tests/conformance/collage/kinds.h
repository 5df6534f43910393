/* The kinds of cases; false: collage_complaint says why. */
#ifndef TESTS_CONFORMANCE_COLLAGE_KINDS_H
#define TESTS_CONFORMANCE_COLLAGE_KINDS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct dag;

bool run_enumeration(const struct dag *d, const cJSON *test);
bool run_subgraph(const struct dag *d, const cJSON *test);
bool run_costs(struct dag *d, const cJSON *test);
/* beat: of those that Collage gets wrong, with regions priced as wholes. */
bool run_partition(struct dag *d, const cJSON *test, bool beat);

#endif
