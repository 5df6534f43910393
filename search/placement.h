/* Device-placement files as abstract problems: one accelerator, one CPU, the
 * sum of all latencies and transfers. README.md says what is taken over. */
#ifndef SEARCH_PLACEMENT_H
#define SEARCH_PLACEMENT_H

#include "search/cover.h"
#include "search/problem.h"

struct placement;

struct placement_file {
	struct problem problem;
	struct placement *graph; /* as it was in the file */
};

/* Read and index n bytes of device-placement JSON; `name` is what messages call
 * it. Nodes are called by the file's ids, joined by + where colorClass made
 * them one. ERR_INPUT or ERR_UNSUPPORTED naming the node or edge. */
bool placement_parse(struct placement_file *out, const char *text, size_t n,
    const char *name, struct arena *a, struct err *err);
bool placement_read(struct placement_file *out, const char *path,
    struct arena *a, struct err *err);

/* How many the file has; one is used. */
int64_t placement_accelerators(const struct placement *graph);

/* What a cover of the problem costs by the files' own objective, the latency with
 * parallel CPUs and calls that take in and put out all they exchange; COST_NEVER:
 * nodes of a colour wait for each other, so there is none. */
cost_ns placement_makespan(const struct placement *graph,
    const struct problem *p, const struct cover *c, struct arena *a);

#endif
