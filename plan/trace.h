/* --trace=plan: a line for each step of the planner, to watch it and to compare
 * one version of it with another. */
#ifndef PLAN_TRACE_H
#define PLAN_TRACE_H

#include <stdio.h>

#include "plan/plan.h"
#include "search/solve.h"

/* All of them do nothing where `f` is NULL. */

/* "solve quick: cost 12, bound 10 (7 steps, 2 regions)". */
void trace_solve(FILE *f, const char *how, const struct search_result *r);

/* "ask probe: 3 7 9": candidates by number. */
void trace_ask(FILE *f, const char *what, const uint32_t *id, uint32_t n);

/* "learn ties: 2 (all: 3)". */
void trace_learn(FILE *f, const char *what, uint32_t now, uint32_t all);

/* "offer 12: fits". */
void trace_offer(FILE *f, const struct plan *p, bool fits);

/* "found 12, bound 10, by exact, ...": what a search ends with. */
void trace_plan(FILE *f, const struct plan *p);

#endif
