/* Running a graph or a sub-graph. */
#ifndef TARGETS_HOST_RUN_H
#define TARGETS_HOST_RUN_H

#include "targets/host/call.h"

#define RUN_DEPTH 32u /* TUNING: nested If, Loop, Scan bodies */

/* in[ninputs] -> out[noutputs], content copied into `a`. captured[slot] are the
 * owning node's implicit inputs (NULL for a main graph). */
bool graph_run(const struct graph *g, const struct tensor *in,
    const struct tensor *const *captured, uint32_t depth, struct tensor *out,
    struct arena *a, struct err *err);

#endif
