/* Device-placement files as abstract problems: one accelerator, one CPU, the
 * sum of all latencies and transfers. README.md says what is taken over. */
#ifndef SEARCH_PLACEMENT_H
#define SEARCH_PLACEMENT_H

#include "search/problem.h"

/* Read and index n bytes of device-placement JSON; `name` is what messages call
 * it. Nodes are called by the file's ids, joined by + where colorClass made
 * them one. ERR_INPUT or ERR_UNSUPPORTED naming the node or edge. */
bool placement_parse(struct problem *out, const char *text, size_t n,
    const char *name, struct arena *a, struct err *err);
bool placement_read(
    struct problem *out, const char *path, struct arena *a, struct err *err);

#endif
