/* The keys of everything a model in the text form (ir/text.h) has to price. */
#ifndef TESTS_SUPPORT_KEYED_H
#define TESTS_SUPPORT_KEYED_H

#include <stdbool.h>

#include "ir/base/err.h"
#include "ir/base/hash.h"
#include "ir/graph.h"

/* One hash over the sorted keys of the host's candidates, after normalising;
 * false with *err where the model is wrong or something cannot run. */
bool keyed_text(const char *text, struct hash128 *keys, struct err *err);

/* The same of a graph that was normalised. */
bool keyed_graph(const struct graph *g, struct hash128 *keys, struct err *err);

#endif
