/* Problems and solutions as JSON documents (schemas in README.md). */
#ifndef SEARCH_PROBLEM_JSON_H
#define SEARCH_PROBLEM_JSON_H

#include <stdio.h>

#include "search/solve.h"

struct json;

#define PROBLEM_SCHEMA "marq.problem/1"
#define SOLUTION_SCHEMA "marq.solution/1"

/* Read and index a "marq.problem/1" document of n bytes; `name` is what
 * messages call it. ERR_INPUT naming the place. */
bool problem_parse(struct problem *out, const char *text, size_t n,
    const char *name, struct arena *a, struct err *err);
bool problem_read(
    struct problem *out, const char *path, struct arena *a, struct err *err);

/* The document problem_parse() reads back as the same problem. */
void problem_write(const struct problem *p, struct json *j);

/* A result as a "marq.solution/1" document; makespan: of a device-placement file,
 * else COST_NEVER; infeasible: why there is no cover, or "". */
void solution_write(const struct search_result *r, const struct problem *p,
    cost_ns makespan, const char *infeasible, struct json *j);

#endif
